//! What the text of an expression tells without values: where its slopes are constant, and what makes it jump.

use super::Expression;
use super::tape::{One, Op, Two};

impl Expression {
    /// Whether the derivatives in the given variables are numbers, the same wherever all variables are. Told from the
    /// text, so that `x*t - x*t` has none.
    pub fn has_constant_slopes(&self, variables: &[usize]) -> bool {
        // Of every value that waits: whether it uses the given variables, and whether it uses any other.
        let mut uses: Vec<[bool; 2]> = Vec::new();
        for op in &self.tape {
            let arguments = uses.split_off(uses.len() - op.arguments());
            let any = |k: usize| arguments.iter().any(|argument| argument[k]);
            let varies = |argument: &[bool; 2]| argument[0] || argument[1];
            let sound = match (op, &arguments[..]) {
                (Op::One(One::Negative) | Op::Two(Two::Add | Two::Subtract), _) => true,
                (Op::Two(Two::Multiply), [a, b]) => !(a[0] && varies(b) || b[0] && varies(a)),
                (Op::Two(Two::Divide), [a, b]) => !(b[0] || a[0] && varies(b)),
                _ => !any(0),
            };
            if !sound {
                return false;
            }
            let own = match op {
                Op::Variable(index) => [variables.contains(index), !variables.contains(index)],
                _ => [any(0), any(1)],
            };
            uses.push(own);
        }
        true
    }

    /// Expressions of one variable that are constant but for jumps, and that jump where this one may do so because that
    /// variable grows: comparisons, steps and their like that use nothing but it.
    pub fn switches(&self, variable: usize) -> Vec<Expression> {
        // Of every value that waits: where its operations begin, and whether it uses anything else.
        let mut waiting: Vec<(usize, bool)> = Vec::new();
        let mut found = Vec::new();
        for (k, op) in self.tape.iter().enumerate() {
            let arguments = waiting.split_off(waiting.len() - op.arguments());
            let start = arguments.first().map_or(k, |first| first.0);
            let other = arguments.iter().any(|argument| argument.1);
            let jumps = matches!(
                op,
                Op::One(One::Sign | One::Floor | One::Step)
                    | Op::Two(Two::Less | Two::AtMost | Two::More | Two::AtLeast | Two::Mod)
                    | Op::Pulse
            );
            if jumps && !other {
                let mut tape = self.tape[start..=k].to_vec();
                if *op == Op::Two(Two::Mod) {
                    // The remainder jumps where the quotient does.
                    tape.pop();
                    tape.extend([Op::Two(Two::Divide), Op::One(One::Floor)]);
                }
                let places = vec![0..0; tape.len()];
                let (text, variables) = (self.text.clone(), self.variables.clone());
                found.push(Expression { text, variables, tape, places, height: self.height });
            }
            waiting.push((start, other || matches!(op, Op::Variable(index) if *index != variable)));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use crate::expression::{Expression, Vocabulary};

    fn read(text: &str) -> Expression {
        let names = Vocabulary { variables: &["t", "x", "u"], ..Default::default() };
        Expression::parse(text, &names).unwrap()
    }

    #[test]
    fn constant_slopes_are_told_from_the_text() {
        for text in ["2*x - u/3 + sin(t)", "-(x + t)*4", "if(t > 1, 2, 3) + x", "7", "(t*t + x)/2"] {
            assert!(read(text).has_constant_slopes(&[1, 2]), "{text}");
        }
        for text in ["x*u", "t*x", "x/t", "1/x", "sin(x)", "if(t > 1, x, u)", "x^2", "abs(u)", "(t + x)*t"] {
            assert!(!read(text).has_constant_slopes(&[1, 2]), "{text}");
        }
    }

    #[test]
    fn what_jumps_in_time_is_found() {
        let expression = read("x*pulse(t, 2, 0.25) + if(t < 3, 1, 2) + mod(t, 5) + sign(x) + abs(t)");
        let switches = expression.switches(0);
        assert_eq!(switches.len(), 3, "the sign of a state is no jump of the data");
        let at = |t: f64| switches.iter().map(|s| s.value(&[t, 0.3, 0.0])).collect::<Vec<_>>();
        assert_eq!(at(0.1), [1.0, 1.0, 0.0]);
        assert_eq!(at(2.9), [0.0, 1.0, 0.0]);
        assert_eq!(at(6.1), [1.0, 0.0, 1.0]);
        assert!(read("x*sin(t)").switches(0).is_empty());
    }
}
