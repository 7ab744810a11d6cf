//! Random expressions, printed with as few parentheses as the grammar allows and evaluated by another way: the tree itself
//! with the functions of the standard library, and its derivatives by differences.

use super::tests::{differences, parsed};

/// Xorshift: the same trees on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

enum Tree {
    Leaf(String, Box<dyn Fn([f64; 3]) -> f64>),
    Negative(Box<Tree>),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Call(&'static str, Vec<Tree>),
}

/// Operators with their strength, the strength that each side needs at least, and what they do.
type Operator = (&'static str, u8, u8, u8, fn(f64, f64) -> f64);
const OPERATORS: &[Operator] = &[
    ("<", 1, 2, 2, |a, b| f64::from(u8::from(a < b))),
    (">=", 1, 2, 2, |a, b| f64::from(u8::from(a >= b))),
    ("+", 2, 2, 3, |a, b| a + b),
    ("-", 2, 2, 3, |a, b| a - b),
    ("*", 3, 3, 4, |a, b| a * b),
    ("/", 3, 3, 4, |a, b| a / b),
    ("^", 5, 6, 4, f64::powf),
];
type Called = (&'static str, usize, fn(&[f64]) -> f64);
const CALLS: &[Called] = &[
    ("sin", 1, |a| a[0].sin()),
    ("cos", 1, |a| a[0].cos()),
    ("tan", 1, |a| a[0].tan()),
    ("asin", 1, |a| a[0].asin()),
    ("acos", 1, |a| a[0].acos()),
    ("atan", 1, |a| a[0].atan()),
    ("sinh", 1, |a| a[0].sinh()),
    ("cosh", 1, |a| a[0].cosh()),
    ("tanh", 1, |a| a[0].tanh()),
    ("exp", 1, |a| a[0].exp()),
    ("log", 1, |a| a[0].ln()),
    ("log10", 1, |a| a[0].log10()),
    ("sqrt", 1, |a| a[0].sqrt()),
    ("abs", 1, |a| a[0].abs()),
    ("floor", 1, |a| a[0].floor()),
    ("step", 1, |a| f64::from(u8::from(a[0] >= 0.0))),
    ("atan2", 2, |a| a[0].atan2(a[1])),
    ("min", 2, |a| a[0].min(a[1])),
    ("max", 2, |a| a[0].max(a[1])),
    ("mod", 2, |a| a[0] - a[1] * (a[0] / a[1]).floor()),
    ("if", 3, |a| if a[0] != 0.0 { a[1] } else { a[2] }),
    ("pulse", 3, |a| f64::from(u8::from((a[0] / a[1] - (a[0] / a[1]).floor()) < a[2]))),
];

impl Tree {
    fn random(random: &mut Random, depth: usize) -> Tree {
        let mut inner = || Box::new(Tree::random(random, depth - 1));
        if depth == 0 {
            let number = 0.1 + random.below(30) as f64 / 8.0;
            return match random.below(5) {
                0 => Tree::Leaf("x".into(), Box::new(|v| v[0])),
                1 => Tree::Leaf("y".into(), Box::new(|v| v[1])),
                2 => Tree::Leaf("t".into(), Box::new(|v| v[2])),
                3 => Tree::Leaf("pi".into(), Box::new(|_| std::f64::consts::PI)),
                _ => Tree::Leaf(format!("{number:?}"), Box::new(move |_| number)),
            };
        }
        match (inner(), inner()) {
            (a, _) if random.below(8) == 0 => Tree::Negative(a),
            (a, b) if random.below(3) > 0 => Tree::Binary(OPERATORS[random.below(OPERATORS.len())].0, a, b),
            (a, b) => {
                let (name, arguments, _) = CALLS[random.below(CALLS.len())];
                let mut given = vec![*a, *b];
                given.truncate(arguments);
                while given.len() < arguments {
                    given.push(Tree::random(random, depth - 1));
                }
                Tree::Call(name, given)
            }
        }
    }

    /// The text, in parentheses if it binds less strongly than `least`.
    fn text(&self, least: u8) -> String {
        let (text, strength) = match self {
            Tree::Leaf(text, _) => (text.clone(), 6),
            Tree::Negative(inner) => (format!("-{}", inner.text(4)), 4),
            Tree::Binary(sign, a, b) => {
                let (_, strength, left, right, _) = OPERATORS.iter().find(|operator| operator.0 == *sign).unwrap();
                (format!("{}{sign}{}", a.text(*left), b.text(*right)), *strength)
            }
            Tree::Call(name, given) => {
                let given: Vec<String> = given.iter().map(|tree| tree.text(0)).collect();
                (format!("{name}({})", given.join(", ")), 6)
            }
        };
        if strength < least { format!("({text})") } else { text }
    }

    fn value(&self, values: [f64; 3]) -> f64 {
        match self {
            Tree::Leaf(_, value) => value(values),
            Tree::Negative(inner) => -inner.value(values),
            Tree::Binary(sign, a, b) => {
                let operator = OPERATORS.iter().find(|operator| operator.0 == *sign).unwrap();
                operator.4(a.value(values), b.value(values))
            }
            Tree::Call(name, given) => {
                let given: Vec<f64> = given.iter().map(|tree| tree.value(values)).collect();
                CALLS.iter().find(|call| call.0 == *name).unwrap().2(&given)
            }
        }
    }
}

#[test]
fn random_expressions_have_the_value_and_the_derivatives_of_their_tree() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let (mut values, mut slopes) = (0, 0);
    for round in 0..6000 {
        let tree = Tree::random(&mut random, 1 + round % 4);
        let text = tree.text(0);
        let expression = parsed(&text).unwrap_or_else(|fault| panic!("{fault}"));
        let at = [0.37, 1.21, 0.74].map(|x| x + random.below(1000) as f64 / 2500.0);
        let (expected, value) = (tree.value(at), expression.value(&at));
        // The standard library's min and max swallow what is no number, and comparisons call it false; ours do not.
        if !expected.is_finite() || value.is_nan() {
            continue;
        }
        // Squares and remainders round differently in their last digit, which steep functions magnify.
        let nudged = at.map(|x| x * (1.0 + 1e-15));
        let slack = 1e-12 * expected.abs() + 1e3 * (tree.value(nudged) - expected).abs() + 1e-13;
        assert!((value - expected).abs() <= slack, "{text} at {at:?}: {value} instead of {expected}");
        values += 1;
        let mut gradient = [0.0; 3];
        assert_eq!(expression.gradient(&at, &mut gradient), value, "{text}");
        for k in 0..3 {
            let along = |x: f64| {
                let mut moved = at;
                moved[k] = x;
                tree.value(moved)
            };
            let [fine, coarse] = [2e-3, 4e-3].map(|d| differences(along, at[k], d));
            let [jet_value, first, second] = expression.jet(&at, k);
            assert_eq!(jet_value, value, "{text}");
            let scale = 1.0 + expected.abs() + second.abs() + first.abs();
            // Where two differences disagree there is a kink, a jump or a pole between their points.
            let smooth = (0..2).all(|order| (fine[order] - coarse[order]).abs() < [1e-9, 1e-6][order] * scale);
            if !smooth || !scale.is_finite() || scale > 1e6 {
                continue;
            }
            assert!((first - fine[0]).abs() < 1e-8 * scale, "{text} at {at:?} in {k}: {first} {fine:?}");
            assert!((gradient[k] - fine[0]).abs() < 1e-8 * scale, "{text} at {at:?} in {k}: {gradient:?} {fine:?}");
            assert!((second - fine[1]).abs() < 1e-5 * scale, "{text} at {at:?} in {k}: {second} {fine:?}");
            slopes += 1;
        }
    }
    assert!(values > 4000 && slopes > 8000, "only {values} values and {slopes} derivatives were compared");
}
