//! What expressions promise: precedence, every function against the standard library, derivatives, errors that point at
//! the character, limits.

use super::*;

/// The expression in x, y and t with the constant `R` = 2.
pub(super) fn parsed(text: &str) -> std::result::Result<Expression, Fault> {
    let constants = [("R".to_string(), 2.0), ("speed".to_string(), 3.0)];
    let refused = [("s", "`s` is known in [[initial]]")];
    Expression::parse(text, &Vocabulary { variables: &["x", "y", "t"], constants: &constants, refused: &refused })
}

/// Its value at x, y, t.
fn value(text: &str, values: [f64; 3]) -> f64 {
    parsed(text).unwrap_or_else(|fault| panic!("{fault}")).value(&values)
}

#[test]
fn precedence_is_that_of_the_contract() {
    let (x, y, t) = (1.7, 0.6, 2.3);
    let same: &[(&str, f64)] = &[
        ("x + y*t", x + y * t),
        ("(x + y)*t", (x + y) * t),
        ("x - y - t", (x - y) - t),
        ("x/y/t", (x / y) / t),
        ("x/y*t", (x / y) * t),
        ("x*y^t", x * y.powf(t)),
        ("x^y^t", x.powf(y.powf(t))),
        ("2^3^2", 512.0),
        ("(2^3)^2", 64.0),
        ("-x^2", -(x * x)),
        ("(-x)^2", x * x),
        ("-2^2", -4.0),
        ("2^-1", 0.5),
        ("2^-1^2", 0.5),
        ("2^-2*8", 2.0),
        ("2*-x", 2.0 * -x),
        ("x - -y", x + y),
        ("--x", x),
        ("+x - +y", x - y),
        ("-x + y", y - x),
        ("-x*y", -(x * y)),
        ("1/3", 1.0 / 3.0),
        ("x < y", 0.0),
        ("y < x", 1.0),
        ("y + 1 < x + 1", 1.0),
        ("1 <= 1", 1.0),
        ("1 < 1", 0.0),
        ("1 >= 1", 1.0),
        ("1 > 1", 0.0),
        ("(0 < y)*(y < 1)", 1.0),
        ("-1 < 0", 1.0),
        ("pi", std::f64::consts::PI),
        ("R*speed", 6.0),
        ("  ( x )\n+\ty ", x + y),
    ];
    for (text, expected) in same {
        assert_eq!(value(text, [x, y, t]), *expected, "{text}");
    }
}

#[test]
fn numbers_are_those_of_toml() {
    let numbers = [("1_000", 1e3), ("1.5e-3", 1.5e-3), ("1E+2", 100.0), ("2e3", 2e3), ("0xff", 255.0), ("0b11", 3.0)];
    for (text, expected) in numbers.into_iter().chain([("0o17", 15.0), ("0", 0.0), ("0.5e1_0", 5e9)]) {
        assert_eq!(value(text, [0.0; 3]), expected, "{text}");
    }
    assert_eq!(value("1.5e-3*x", [2.0, 0.0, 0.0]), 3e-3);
    assert_eq!(value("2-1", [0.0; 3]), 1.0);
    assert_eq!(value("1e-3-1", [0.0; 3]), 1e-3 - 1.0);
    for text in ["1.", ".5", "1e", "1e+", "1__0", "_1", "1_", "007", "0x", "0xg", "1.e3", "1.2.3", "1_.5", "0b2"] {
        assert!(parsed(text).is_err(), "{text}");
    }
}

/// A function of one variable and what it must be.
type Known = (&'static str, fn(f64) -> f64);

const SMOOTH: &[Known] = &[
    ("sin(x)", f64::sin),
    ("cos(x)", f64::cos),
    ("tan(x)", f64::tan),
    ("asin(x)", f64::asin),
    ("acos(x)", f64::acos),
    ("atan(x)", f64::atan),
    ("sinh(x)", f64::sinh),
    ("cosh(x)", f64::cosh),
    ("tanh(x)", f64::tanh),
    ("exp(x)", f64::exp),
    ("log(x)", f64::ln),
    ("log10(x)", f64::log10),
    ("sqrt(x)", f64::sqrt),
    ("abs(x)", f64::abs),
    ("floor(3*x)", |x| (3.0 * x).floor()),
    ("sign(x)", f64::signum),
    ("step(x)", |x| if x < 0.0 { 0.0 } else { 1.0 }),
    ("mod(x, 0.11)", |x| x.rem_euclid(0.11)),
    ("mod(0.8, x)", |x| 0.8f64.rem_euclid(x)),
    ("min(x, 0.3)", |x| x.min(0.3)),
    ("max(x, 0.3)", |x| x.max(0.3)),
    ("atan2(x, 0.2)", |x| x.atan2(0.2)),
    ("atan2(0.2, x)", |x| 0.2f64.atan2(x)),
    ("x^3", |x| x.powf(3.0)),
    ("x^2.5", |x| x.powf(2.5)),
    ("x^-1", |x| x.powf(-1.0)),
    ("1.3^x", |x| 1.3f64.powf(x)),
    ("x^x", |x| x.powf(x)),
    ("1/x", |x| 1.0 / x),
    ("(x + 1)/(x - 2)", |x| (x + 1.0) / (x - 2.0)),
    ("if(x < 0.3, x^2, sin(x))", |x| if x < 0.3 { x * x } else { x.sin() }),
    ("pulse(x, 0.2, 0.4)", |x| if (x % 0.2) / 0.2 < 0.4 { 1.0 } else { 0.0 }),
];

#[test]
fn every_function_is_that_of_the_standard_library() {
    for (text, expected) in SMOOTH {
        for x in [0.07, 0.21, 0.37, 0.55, 0.83, 0.97] {
            assert_eq!(value(text, [x, 0.0, 0.0]), expected(x), "{text} at {x}");
        }
    }
    let called: Vec<&str> = functions().filter(|name| SMOOTH.iter().all(|(text, _)| !text.contains(name))).collect();
    assert!(called.is_empty(), "not compared: {called:?}");
}

#[test]
fn values_where_conventions_differ() {
    for (text, expected) in [
        ("sign(0)", 0.0),
        ("sign(-0.1)", -1.0),
        ("step(0)", 1.0),
        ("step(-1e-300)", 0.0),
        ("mod(-1, 3)", 2.0),
        ("mod(1, -3)", -2.0),
        ("mod(-1, -3)", -1.0),
        ("mod(6, 3)", 0.0),
        ("floor(-0.5)", -1.0),
        ("0^0", 1.0),
        ("(-2)^3", -8.0),
        ("(-2)^-2", 0.25),
        ("pulse(0, 2, 0.5)", 1.0),
        ("pulse(0.99, 2, 0.5)", 1.0),
        ("pulse(1, 2, 0.5)", 0.0),
        ("pulse(2, 2, 0.5)", 1.0),
        ("pulse(-0.5, 2, 0.5)", 0.0),
        ("if(-3, 1, 2)", 1.0),
        ("if(0, log(-1), 2)", 2.0),
        ("atan(1/0)", std::f64::consts::FRAC_PI_2),
    ] {
        assert_eq!(value(text, [0.0; 3]), expected, "{text}");
    }
}

#[test]
fn what_is_no_number_is_not_swallowed() {
    for text in ["log(-1)", "sqrt(-1)", "(-2)^0.5", "0/0", "asin(2)", "mod(1, 0)", "pulse(1, 0, 0.5)"] {
        for around in ["@", "@ < 1", "1 >= @", "min(@, 1)", "max(1, @)", "step(@)", "sign(@)", "if(@, 1, 2)", "abs(@)"]
        {
            let text = around.replace('@', &format!("({text} + 0*x)"));
            assert!(value(&text, [1.0; 3]).is_nan(), "{text}");
            assert!(parsed(&text).unwrap().jet(&[1.0; 3], 0)[0].is_nan(), "{text}");
        }
    }
    let error = parsed("1/(t - R)").unwrap();
    let message = error.judge(&[0.0, 0.0, 2.0], error.value(&[0.0, 0.0, 2.0])).unwrap_err().to_string();
    assert_eq!(message, "`1/(t - R)`, its value or a derivative, is infinite at t = 2.0");
    assert_eq!(parsed("t").unwrap().judge(&[0.0, 0.0, 2.0], 2.0).unwrap(), 2.0);
}

/// First and second derivative by differences of order eight; rounding and truncation are both near 1e-11.
pub(super) fn differences(f: impl Fn(f64) -> f64, x: f64, d: f64) -> [f64; 2] {
    let first = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
    let second = [8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0];
    let mut sums = [0.0, -205.0 / 72.0 * f(x)];
    for k in 0..4 {
        let (before, after) = (f(x - (k + 1) as f64 * d), f(x + (k + 1) as f64 * d));
        sums[0] += first[k] * (after - before);
        sums[1] += second[k] * (after + before);
    }
    [sums[0] / d, sums[1] / (d * d)]
}

#[test]
fn every_function_has_its_derivatives() {
    for (text, _) in SMOOTH {
        let expression = parsed(text).unwrap();
        // Away from the kinks and jumps of all of them.
        for x in [0.254, 0.453, 0.617, 0.905] {
            let [value, first, second] = expression.jet(&[x, 0.0, 0.0], 0);
            let expected = differences(|x| expression.value(&[x, 0.0, 0.0]), x, 2e-3);
            assert_eq!(value, expression.value(&[x, 0.0, 0.0]), "{text} at {x}");
            let scale = 1.0 + value.abs() + second.abs();
            assert!((first - expected[0]).abs() < 1e-9 * scale, "{text} at {x}: {first} {expected:?}");
            assert!((second - expected[1]).abs() < 1e-7 * scale, "{text} at {x}: {second} {expected:?}");
            let mut gradient = [f64::NAN; 3];
            assert_eq!(expression.gradient(&[x, 0.0, 0.0], &mut gradient), value, "{text}");
            assert_eq!(gradient, [first, 0.0, 0.0], "{text} at {x}");
        }
    }
}

#[test]
fn gradients_of_many_variables_come_in_chunks() {
    let names: Vec<String> = (0..11).map(|k| format!("v{k}")).collect();
    let variables: Vec<&str> = names.iter().map(String::as_str).collect();
    let sum: Vec<String> = (0..11).map(|k| format!("{}*v{k}*v{}", k + 1, (k + 1) % 11)).collect();
    let text = sum.join(" + ");
    let expression = Expression::parse(&text, &Vocabulary { variables: &variables, ..Default::default() }).unwrap();
    let values: [f64; 11] = std::array::from_fn(|k| 0.5 + k as f64);
    let mut gradient = [0.0; 11];
    expression.gradient(&values, &mut gradient);
    for k in 0..11 {
        let (before, after) = ((k + 10) % 11, (k + 1) % 11);
        assert_eq!(gradient[k], (k + 1) as f64 * values[after] + (before + 1) as f64 * values[before], "{k}");
    }
}

#[test]
fn derivatives_at_kinks_are_those_to_the_right() {
    for (text, expected) in [
        ("abs(t)", [0.0, 1.0, 0.0]),
        ("abs(-t)", [0.0, 1.0, 0.0]),
        ("abs(t^2)", [0.0, 0.0, 2.0]),
        ("min(t, 0)", [0.0, 0.0, 0.0]),
        ("min(0, t)", [0.0, 0.0, 0.0]),
        ("max(t, -t)", [0.0, 1.0, 0.0]),
        ("max(-t, t)", [0.0, 1.0, 0.0]),
        ("min(t^2, 3*t^2)", [0.0, 0.0, 2.0]),
        ("if(t < 0, 5, 2*t)", [0.0, 2.0, 0.0]),
        ("step(t)*t", [0.0, 1.0, 0.0]),
        ("mod(t, 1)", [0.0, 1.0, 0.0]),
        ("floor(t)", [0.0, 0.0, 0.0]),
        ("sign(t)", [0.0, 0.0, 0.0]),
        ("pulse(t, 1, 0.5)", [1.0, 0.0, 0.0]),
        ("t^0", [1.0, 0.0, 0.0]),
        ("t^1", [0.0, 1.0, 0.0]),
        ("t^2", [0.0, 0.0, 2.0]),
        ("(t - 2)^3", [-8.0, 12.0, -12.0]),
        ("sqrt(0*t)", [0.0, 0.0, 0.0]),
        ("sqrt(t)", [0.0, f64::INFINITY, f64::NEG_INFINITY]),
    ] {
        assert_eq!(parsed(text).unwrap().jet(&[0.0; 3], 2), expected, "{text}");
    }
    let mut gradient = [f64::NAN; 3];
    parsed("(x - 3)^2 + y").unwrap().gradient(&[0.0; 3], &mut gradient);
    assert_eq!(gradient, [-6.0, 1.0, 0.0]);
    parsed("max(x, y) + abs(t)").unwrap().gradient(&[0.0; 3], &mut gradient);
    assert_eq!(gradient, [1.0, 0.0, 1.0]);
}

#[test]
fn errors_point_at_the_character() {
    for (text, column, words) in [
        ("", 1, "empty"),
        ("  ", 3, "empty"),
        ("1 +", 4, "ends too early"),
        ("1 + * 2", 5, "`*` cannot stand here"),
        ("(1 + 2", 1, "not closed"),
        ("2*(1 + 2))", 10, "no `(`"),
        ("2x", 2, "`x` cannot stand here"),
        ("2 x", 3, "an operator must stand here"),
        ("x y", 3, "an operator must stand here"),
        ("1 + zeed", 5, "no constant or variable `zeed`"),
        ("2*sped", 3, "did you mean `speed`?"),
        ("sni(x)", 1, "did you mean `sin`?"),
        ("ln(x)", 1, "did you mean `log`?"),
        ("r", 1, "no constant or variable `r`"),
        ("x + s", 5, "`s` is known in [[initial]]"),
        ("x < y < t", 7, "comparisons cannot be chained"),
        ("x ** 2", 3, "powers are written `^`"),
        ("x == 2", 3, "no test for equality"),
        ("5 % 3", 3, "mod(x, y)"),
        ("1 \u{2212} x", 3, "a minus sign is written `-`"),
        ("x = 1", 3, "`=` cannot stand here"),
        ("sin x", 1, "`(` must follow"),
        ("sin(x, y)", 1, "takes 1 argument, not 2"),
        ("sin()", 1, "takes 1 argument, not 0"),
        ("3 + if(x, y)", 5, "takes 3 arguments, not 2"),
        ("max(x,)", 7, "must stand here"),
        ("sin(x", 4, "not closed"),
        ("sin(x; y)", 6, "`;` cannot stand here"),
        ("pi(x)", 1, "`pi` is not a function"),
        ("x(2)", 1, "`x` is not a function"),
        ("1.", 1, "`1.` is not a number"),
        ("x + .5", 5, "digits stand on both sides"),
        ("1e+", 1, "`1e+` is not a number"),
        ("\u{e4} + 1", 1, "`\u{e4}` cannot stand here"),
        ("x + \"", 5, "cannot stand here"),
        ("x, y", 2, "`,` cannot stand here"),
        ("()", 2, "must stand here"),
        ("inf", 1, "no constant or variable `inf`"),
    ] {
        let fault = parsed(text).expect_err(text);
        assert_eq!(fault.column(), column, "{text}: {fault}");
        assert!(fault.to_string().contains(words), "{text}: {fault}");
    }
}

#[test]
fn an_error_shows_the_text_with_a_caret() {
    let fault = parsed("2*sped + 1").unwrap_err().to_string();
    let known = "known: `x`, `y`, `t`, `R`, `speed`, `pi`";
    let message = "there is no constant or variable `sped` here (column 3)";
    assert_eq!(fault, format!("{message}\n    2*sped + 1\n      ^^^^ did you mean `speed`?\n  help: {known}"));
    // Of a long text, the part around the place; the caret stays under the character.
    let long = format!("{}?{}", "x + ".repeat(100), " + x".repeat(100));
    let fault = parsed(&long).unwrap_err().to_string();
    let lines: Vec<Vec<char>> = fault.lines().map(|line| line.chars().collect()).collect();
    assert!(lines[1].len() < 80, "{fault}");
    assert_eq!(lines[1][lines[2].iter().position(|c| *c == '^').unwrap()], '?', "{fault}");
    let input = crate::Error::from(parsed("(").unwrap_err());
    assert_eq!(input.exit_code(), 3);
}

#[test]
fn hostile_depth_and_length_are_refused_with_their_limits() {
    for (open, close) in [("(", ")"), ("-", ""), ("sin(", ")"), ("2^", ""), ("1-(", ")"), ("max(x, ", ")"), ("+", "")] {
        let nested = |n: usize| format!("{}x{}", open.repeat(n), close.repeat(n));
        assert!(parsed(&nested(40)).is_ok(), "{open}");
        let fault = parsed(&nested(1000)).expect_err(open);
        assert!(fault.to_string().contains("more than 64 levels"), "{fault}");
        let fault = parsed(&nested(1_000_000)).expect_err(open).to_string();
        assert!(fault.contains("at most 16384 bytes") && fault.len() < 500, "{fault}");
    }
    // Values that wait need room too, however few levels there are.
    let waiting = |n: usize| format!("{}1{}", "x + y*t^(".repeat(n), ")".repeat(n));
    assert!(parsed(&waiting(15)).is_ok());
    assert!(parsed(&waiting(31)).unwrap_err().to_string().contains("nested too deeply"));
    let long = "x + ".repeat(4000) + "x";
    assert_eq!(value(&long, [1.0, 0.0, 0.0]), 4001.0);
    let fault = parsed(&"ä".repeat(10_000)).unwrap_err().to_string();
    assert!(fault.contains("at most 16384 bytes"), "{fault}");
}

#[test]
fn what_is_constant_is_one_number() {
    assert_eq!(parsed("2*R^2 + sqrt(speed + 1)").unwrap().constant(), Some(10.0));
    assert_eq!(parsed("if(1 < 2, R, 1/0)").unwrap().constant(), Some(2.0));
    assert_eq!(parsed("x").unwrap().constant(), None);
    assert_eq!(parsed("2*pi*R*t").unwrap().tape.len(), 3);
    assert!(parsed("x + t").unwrap().uses(2) && !parsed("x + t").unwrap().uses(1));
}

#[test]
fn affine_is_told_and_its_coefficients_are_exact() {
    let affine = "R*x*t^2 - (y - 3*x)/t + if(t < 1, 0, x) + sin(t)";
    let expression = parsed(affine).unwrap();
    assert_eq!(expression.check_affine(&[0, 1]), Ok(()));
    let (t, mut gradient) = (1.5, [0.0; 3]);
    let rest = expression.gradient(&[0.0, 0.0, t], &mut gradient);
    assert_eq!((rest, gradient[0], gradient[1]), (t.sin(), 2.0 * t * t + 3.0 / t + 1.0, -1.0 / t));
    for (text, column) in [
        ("1 + x*y", 6),
        ("t + x^2", 6),
        ("t/(1 + x)", 2),
        ("sin(x) + y", 1),
        ("if(x < 1, y, 0)", 6),
        ("y - abs(x)", 5),
        ("max(x, y)", 1),
    ] {
        let fault = parsed(text).unwrap().check_affine(&[0, 1]).expect_err(text);
        assert_eq!(fault.column(), column, "{text}: {fault}");
        assert!(fault.to_string().contains("linear in `x`, `y`"), "{fault}");
    }
    assert_eq!(parsed("sin(t)*x").unwrap().check_affine(&[0, 1]), Ok(()));
    assert!(parsed("sin(t)*x").unwrap().check_affine(&[2]).is_err());
}

#[test]
fn names_that_mean_something_cannot_be_taken() {
    assert_eq!(check_name("R_2", &["t"]), Ok(()));
    for name in ["", "2R", "_R", "a-b", "ä", "sin", "if", "pi", "t", "a b"] {
        assert!(check_name(name, &["t"]).is_err(), "{name}");
    }
    let both = [("x".to_string(), 1.0)];
    let names = Vocabulary { variables: &["x"], constants: &both, refused: &[] };
    assert!(Expression::parse("2*x", &names).unwrap_err().to_string().contains("means two things"));
}
