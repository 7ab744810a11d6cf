//! Operations in the order in which they are done, and doing them.
//!
//! Values wait on a stack of fixed height, so that evaluation allocates nothing. Every function stands here once, with
//! its value and its derivatives; conventions at kinks are in the head of the module.

use super::scalar::{Scalar, times};

/// Most values that may wait at a time.
pub(super) const HEIGHT: usize = 64;
/// Height of the stack for the usual short expression; filling a tall one costs more than evaluating.
const LOW: usize = 8;

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    /// A number.
    Number(f64),
    /// The variable of that place among the values.
    Variable(usize),
    /// A function of one value.
    One(One),
    /// A function of two values.
    Two(Two),
    /// One of two values, chosen by a third.
    If,
    /// A train of rectangles: time, period, duty.
    Pulse,
}

/// A function of one value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "their names in expressions say what they are")]
pub(super) enum One {
    Negative,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Log10,
    Sqrt,
    Abs,
    Sign,
    Floor,
    Step,
}

/// A function of two values.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs, reason = "their names in expressions say what they are")]
pub(super) enum Two {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    AtMost,
    More,
    AtLeast,
    Atan2,
    Min,
    Max,
    Mod,
}

/// The functions that an expression may call.
pub(super) static FUNCTIONS: &[(&str, Op)] = &[
    ("sin", Op::One(One::Sin)),
    ("cos", Op::One(One::Cos)),
    ("tan", Op::One(One::Tan)),
    ("asin", Op::One(One::Asin)),
    ("acos", Op::One(One::Acos)),
    ("atan", Op::One(One::Atan)),
    ("atan2", Op::Two(Two::Atan2)),
    ("sinh", Op::One(One::Sinh)),
    ("cosh", Op::One(One::Cosh)),
    ("tanh", Op::One(One::Tanh)),
    ("exp", Op::One(One::Exp)),
    ("log", Op::One(One::Log)),
    ("log10", Op::One(One::Log10)),
    ("sqrt", Op::One(One::Sqrt)),
    ("abs", Op::One(One::Abs)),
    ("sign", Op::One(One::Sign)),
    ("min", Op::Two(Two::Min)),
    ("max", Op::Two(Two::Max)),
    ("floor", Op::One(One::Floor)),
    ("mod", Op::Two(Two::Mod)),
    ("step", Op::One(One::Step)),
    ("if", Op::If),
    ("pulse", Op::Pulse),
];

impl Op {
    /// How many values it takes from the stack; it always leaves one.
    pub fn arguments(self) -> usize {
        match self {
            Op::Number(_) | Op::Variable(_) => 0,
            Op::One(_) => 1,
            Op::Two(_) => 2,
            Op::If | Op::Pulse => 3,
        }
    }
}

/// What the tape makes of its variables; `height` is how many values wait at most.
pub(super) fn evaluate<S: Scalar>(tape: &[Op], height: usize, variable: impl Fn(usize) -> S) -> S {
    if height <= LOW { on_stack::<S, LOW>(tape, variable) } else { on_stack::<S, HEIGHT>(tape, variable) }
}

fn on_stack<S: Scalar, const N: usize>(tape: &[Op], variable: impl Fn(usize) -> S) -> S {
    let mut stack = [S::constant(0.0); N];
    let mut top = 0;
    for op in tape {
        let (taken, result) = match *op {
            Op::Number(value) => (0, S::constant(value)),
            Op::Variable(place) => (0, variable(place)),
            Op::One(function) => (1, one(function, stack[top - 1])),
            Op::Two(function) => (2, two(function, stack[top - 2], stack[top - 1])),
            Op::If => (3, choose(stack[top - 3], stack[top - 2], stack[top - 1])),
            Op::Pulse => (3, pulse(stack[top - 3], stack[top - 2], stack[top - 1])),
        };
        top -= taken;
        stack[top] = result;
        top += 1;
    }
    stack[0]
}

fn one<S: Scalar>(function: One, a: S) -> S {
    let x = a.value();
    match function {
        One::Negative => a.through(-x, || [-1.0, 0.0]),
        One::Sin => a.through(x.sin(), || [x.cos(), -x.sin()]),
        One::Cos => a.through(x.cos(), || [-x.sin(), -x.cos()]),
        One::Tan => {
            let f = x.tan();
            a.through(f, || [1.0 + f * f, 2.0 * f * (1.0 + f * f)])
        }
        One::Asin => a.through(x.asin(), || arc(x)),
        One::Acos => a.through(x.acos(), || arc(x).map(|slope| -slope)),
        One::Atan => {
            let slope = 1.0 / (1.0 + x * x);
            a.through(x.atan(), || [slope, -2.0 * x * slope * slope])
        }
        One::Sinh => a.through(x.sinh(), || [x.cosh(), x.sinh()]),
        One::Cosh => a.through(x.cosh(), || [x.sinh(), x.cosh()]),
        One::Tanh => {
            let f = x.tanh();
            // 1 − f² loses all digits where f nears one.
            let slope = || x.cosh().powi(-2);
            a.through(f, || [slope(), -2.0 * f * slope()])
        }
        One::Exp => {
            let f = x.exp();
            a.through(f, || [f, f])
        }
        One::Log => a.through(x.ln(), || logarithm(x)),
        One::Log10 => a.through(x.log10(), || logarithm(x).map(|slope| slope / std::f64::consts::LN_10)),
        One::Sqrt => {
            let f = x.sqrt();
            a.through(f, || [0.5 / f, -0.25 / (f * x)])
        }
        One::Abs if a.ahead() < 0.0 => one(One::Negative, a),
        One::Abs => a.through(x.abs(), || [1.0, 0.0]),
        One::Sign => S::constant(if x == 0.0 { 0.0 } else { x.signum() }),
        One::Floor => S::constant(x.floor()),
        One::Step => S::constant(truth(x >= 0.0, x)),
    }
}

/// Derivatives of asin.
fn arc(x: f64) -> [f64; 2] {
    let square = (1.0 - x) * (1.0 + x);
    [1.0 / square.sqrt(), x / (square * square.sqrt())]
}

/// Derivatives of log, which has none where it has no value.
fn logarithm(x: f64) -> [f64; 2] {
    if x < 0.0 { [f64::NAN; 2] } else { [1.0 / x, -1.0 / (x * x)] }
}

/// One or zero; not a number where what was compared is none.
fn truth(holds: bool, compared: f64) -> f64 {
    match holds {
        _ if compared.is_nan() => f64::NAN,
        true => 1.0,
        false => 0.0,
    }
}

fn two<S: Scalar>(function: Two, a: S, b: S) -> S {
    let (x, y) = (a.value(), b.value());
    // NaN if one of them is: infinities would make one of a difference.
    let both = if x.is_nan() { x } else { y };
    match function {
        Two::Add => a.through_two(b, x + y, || [1.0, 1.0, 0.0, 0.0, 0.0]),
        Two::Subtract => subtract(a, b),
        Two::Multiply => a.through_two(b, x * y, || [y, x, 0.0, 1.0, 0.0]),
        Two::Divide => {
            let f = x / y;
            a.through_two(b, f, || [1.0 / y, -f / y, 0.0, -1.0 / (y * y), 2.0 * f / (y * y)])
        }
        Two::Power => a.through_two(b, power(x, y), || power_slopes(x, y)),
        Two::Less => S::constant(truth(x < y, both)),
        Two::AtMost => S::constant(truth(x <= y, both)),
        Two::More => S::constant(truth(x > y, both)),
        Two::AtLeast => S::constant(truth(x >= y, both)),
        Two::Atan2 => {
            let square = x * x + y * y;
            let (first, second) = (1.0 / square, 1.0 / (square * square));
            let bent = 2.0 * x * y * second;
            a.through_two(b, x.atan2(y), || [y * first, -x * first, -bent, (x * x - y * y) * second, bent])
        }
        Two::Min | Two::Max if both.is_nan() => S::constant(both),
        Two::Min => {
            if subtract(b, a).ahead() < 0.0 {
                b
            } else {
                a
            }
        }
        Two::Max => {
            if subtract(b, a).ahead() > 0.0 {
                b
            } else {
                a
            }
        }
        Two::Mod => {
            let f = modulo(x, y);
            a.through_two(b, f, || [1.0, -((x - f) / y).round(), 0.0, 0.0, 0.0])
        }
    }
}

fn subtract<S: Scalar>(a: S, b: S) -> S {
    a.through_two(b, a.value() - b.value(), || [1.0, -1.0, 0.0, 0.0, 0.0])
}

/// Squares are rounded once, as the product is; small exponents are common, also as those of derivatives.
fn power(x: f64, y: f64) -> f64 {
    match y {
        0.0 => 1.0,
        1.0 => x,
        2.0 => x * x,
        _ => x.powf(y),
    }
}

fn power_slopes(x: f64, y: f64) -> [f64; 5] {
    let (f, below) = (power(x, y), power(x, y - 1.0));
    let log = x.ln();
    [
        times(below, y),
        times(log, f),
        times(power(x, y - 2.0), y * (y - 1.0)),
        below + times(log, times(below, y)),
        times(log * log, f),
    ]
}

/// x − y⌊x/y⌋: the remainder with the sign of the divisor.
fn modulo(x: f64, y: f64) -> f64 {
    let rest = x % y;
    if rest != 0.0 && (rest < 0.0) != (y < 0.0) { rest + y } else { rest }
}

fn choose<S: Scalar>(condition: S, a: S, b: S) -> S {
    match condition.value() {
        x if x.is_nan() => S::constant(x),
        0.0 => b,
        _ => a,
    }
}

/// One for the first `duty` of every period, zero for the rest.
fn pulse<S: Scalar>(t: S, period: S, duty: S) -> S {
    let phase = modulo(t.value(), period.value()) / period.value();
    S::constant(truth(phase < duty.value(), phase + duty.value()))
}
