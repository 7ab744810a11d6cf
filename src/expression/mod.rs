//! Expressions: texts such as `0.1*sin(2*pi*t)` as functions with exact derivatives.
//!
//! ```text
//! text ── parse ── tape of operations ── evaluate with ── f64    value
//!                                                         Dual   value and first derivatives
//!                                                         Jet    value, first and second derivative in one variable
//! ```
//!
//! It knows names that it is given, numbers and functions; it must not know what a case or a model is.
//!
//! # Grammar
//!
//! From weak to strong: `< <= > >=` (1 or 0; cannot be chained), `+ -`, `* /`, the sign, `^`. All group to the left but
//! `^`, which groups to the right; −x^2 is −(x²) and 2^-1 is ½. Numbers are as in TOML. Names are a letter, then letters,
//! digits and `_`; `pi` is known everywhere. A condition holds if it is not zero. At most [`MOST_BYTES`] and
//! [`MOST_LEVELS`] levels of nesting.
//!
//! # Values
//!
//! | | |
//! |---|---|
//! | `log` | natural logarithm |
//! | `atan2(y, x)` | angle of the point (x, y), in (−π, π] |
//! | `sign(0)` | 0 |
//! | `step(x)` | 0 for x < 0, else 1 |
//! | `mod(x, y)` | x − y⌊x/y⌋: it has the sign of y |
//! | `pulse(t, period, duty)` | 1 while mod(t, period) < duty·period, else 0 |
//! | `if(c, a, b)` | a if c is not zero, else b; the other one does not matter, even if it has no value |
//! | `x^y` | 0^0 = 1; a negative x needs a whole y |
//!
//! Where there is no value (`log(-1)`, `0/0`, `mod(1, 0)`) the result is not a number, and everything that is computed
//! from it as well, comparisons included. Overflow and 1/0 are infinite, which may be a step on the way to a finite
//! result. [`Expression::judge`] makes an error of a result that is not finite.
//!
//! # Derivatives
//!
//! Exact where the function has one. Where it has a kink or jumps:
//!
//! * `step`, `sign`, `floor`, `pulse` and comparisons have the derivative 0 everywhere, `mod` in its first argument 1.
//! * `if` has that of the value which it takes.
//! * `abs`, `min` and `max` in one variable ([`Expression::jet`]): the derivative to the right, which is that of the piece
//!   that begins. In several variables ([`Expression::gradient`]) there is no right: `abs` at 0 has 1, `min` and `max` of
//!   equal values that of the first.
//! * `sqrt` at 0 has an infinite one, and `x^y` with a negative x none in y.
//! * What does not change has the derivative 0 whatever it goes through, also where that is infinite: `sqrt(0*t)`, and in y
//!   `x^2` of a negative x.

mod fault;
mod parse;
mod scalar;
mod structure;
mod tape;

#[cfg(test)]
mod random;
#[cfg(test)]
mod tests;

pub use fault::Fault;

use crate::error::{Error, Result};
use scalar::{Dual, Jet, LANES};
use std::ops::Range;
use tape::{FUNCTIONS, Op, Two, evaluate};

/// Longest text of an expression.
pub const MOST_BYTES: usize = 16_384;
/// Most levels of parentheses, signs and powers inside one another.
pub const MOST_LEVELS: usize = 64;

/// The names that an expression may use, besides `pi` and the functions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Vocabulary<'a> {
    /// Variables, in the order of the values that are given later.
    pub variables: &'a [&'a str],
    /// Names that stand for a number.
    pub constants: &'a [(String, f64)],
    /// Names that have a meaning elsewhere, and where: a hint for those who use them here.
    pub refused: &'a [(&'a str, &'a str)],
}

/// A function of some variables that was written as a text.
///
/// ```
/// use carom::expression::{Expression, Vocabulary};
///
/// let names = Vocabulary { variables: &["t"], constants: &[("a".into(), 3.0)], ..Default::default() };
/// let expression = Expression::parse("a*t^2", &names)?;
/// assert_eq!(expression.value(&[2.0]), 12.0);
/// assert_eq!(expression.jet(&[2.0], 0), [12.0, 12.0, 6.0]);
///
/// let fault = Expression::parse("a*u^2", &names).unwrap_err();
/// assert_eq!(fault.column(), 3);
/// # Ok::<(), carom::expression::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    variables: Vec<String>,
    tape: Vec<Op>,
    places: Vec<Range<usize>>,
    height: usize,
}

impl Expression {
    /// Reads a text; the error points at the character that is wrong.
    pub fn parse(text: &str, names: &Vocabulary) -> std::result::Result<Expression, Fault> {
        let parse::Parsed { tape, places, height } = parse::parse(text, names)?;
        let variables = names.variables.iter().map(|name| name.to_string()).collect();
        Ok(Expression { text: text.to_string(), variables, tape, places, height })
    }

    /// The text as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number that this is if it uses no variable.
    pub fn constant(&self) -> Option<f64> {
        match self.tape[..] {
            [Op::Number(value)] => Some(value),
            _ => None,
        }
    }

    /// Whether the value depends on that variable, as far as the text tells.
    pub fn uses(&self, variable: usize) -> bool {
        self.tape.contains(&Op::Variable(variable))
    }

    /// Its value; one value per variable must be given.
    pub fn value(&self, values: &[f64]) -> f64 {
        evaluate(&self.tape, self.height, |place| values[place])
    }

    /// Whether it uses one of these variables.
    pub fn uses_any(&self, mut variables: std::ops::Range<usize>) -> bool {
        variables.any(|variable| self.uses(variable))
    }

    /// Its value where the first variable is `t` and the others are zero.
    pub fn value_at_time(&self, t: f64) -> f64 {
        evaluate(&self.tape, self.height, |place| if place == 0 { t } else { 0.0 })
    }

    /// Its value where the first variable is `t` and the others are `x`.
    pub fn value_of(&self, t: f64, x: &[f64]) -> f64 {
        evaluate(&self.tape, self.height, |place| if place == 0 { t } else { x[place - 1] })
    }

    /// Its derivatives in the variables behind the first, where that is `t` and the others are `x`.
    pub fn gradient_of(&self, t: f64, x: &[f64], gradient: &mut [f64]) {
        for (chunk, slopes) in gradient.chunks_mut(LANES).enumerate() {
            let first = 1 + chunk * LANES;
            let dual = evaluate(&self.tape, self.height, |place| {
                let one = |lane: usize| if place == first + lane { 1.0 } else { 0.0 };
                Dual { value: if place == 0 { t } else { x[place - 1] }, slopes: std::array::from_fn(one) }
            });
            slopes.copy_from_slice(&dual.slopes[..slopes.len()]);
        }
    }

    /// Its value; its first derivatives in all variables go into `gradient`, which has one place for each.
    pub fn gradient(&self, values: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = f64::NAN;
        if gradient.is_empty() {
            value = self.value(values);
        }
        for (chunk, slopes) in gradient.chunks_mut(LANES).enumerate() {
            let first = chunk * LANES;
            let dual = evaluate(&self.tape, self.height, |place| {
                let one = |lane: usize| if place == first + lane { 1.0 } else { 0.0 };
                Dual { value: values[place], slopes: std::array::from_fn(one) }
            });
            value = dual.value;
            slopes.copy_from_slice(&dual.slopes[..slopes.len()]);
        }
        value
    }

    /// Its value and its first and second derivative in one variable.
    pub fn jet(&self, values: &[f64], variable: usize) -> [f64; 3] {
        let jet = evaluate(&self.tape, self.height, |place| Jet {
            value: values[place],
            first: if place == variable { 1.0 } else { 0.0 },
            second: 0.0,
        });
        [jet.value, jet.first, jet.second]
    }

    /// `result` if it is finite, else an error that shows the expression and the values of its variables.
    pub fn judge(&self, values: &[f64], result: f64) -> Result<f64> {
        if result.is_finite() {
            return Ok(result);
        }
        let used = (0..self.variables.len()).filter(|&place| self.uses(place));
        let at: Vec<String> = used.map(|place| format!("{} = {:?}", self.variables[place], values[place])).collect();
        let at = if at.is_empty() { String::new() } else { format!(" at {}", at.join(", ")) };
        let what = if result.is_nan() { "not a number" } else { "infinite" };
        Err(Error::Input(format!("`{}`, its value or a derivative, is {what}{at}", self.text)))
    }

    /// Whether this is a sum of multiples of the given variables and of something without them; if not, the error points
    /// at the operation that makes it something else. Told from the text: `x*x - x*x` is not taken for zero. The
    /// coefficients are then those of [`Expression::gradient`], which are the same wherever these variables are, and
    /// the rest is the value where all of them are zero: both without a rounding of differences.
    pub fn check_affine(&self, variables: &[usize]) -> std::result::Result<(), Fault> {
        let mut degrees: Vec<u32> = Vec::new();
        for (op, place) in self.tape.iter().zip(&self.places) {
            let arguments = degrees.split_off(degrees.len() - op.arguments());
            let most = arguments.iter().copied().max().unwrap_or(0);
            let degree = match (op, &arguments[..]) {
                (Op::Variable(index), _) => u32::from(variables.contains(index)),
                (Op::One(tape::One::Negative) | Op::Two(Two::Add | Two::Subtract), _) => most,
                (Op::Two(Two::Multiply), [a, b]) => a + b,
                (Op::Two(Two::Divide), [a, 0]) | (Op::If, [0, a, 0]) | (Op::If, [0, 0, a]) => *a,
                (Op::If, [0, a, b]) => *a.max(b),
                _ => 2 * most,
            };
            if degree > 1 {
                let names: Vec<&str> = variables.iter().map(|&k| self.variables[k].as_str()).collect();
                return Err(Fault {
                    text: self.text.clone(),
                    at: place.clone(),
                    message: format!("this must be linear in {}", crate::nearest::listing(names)),
                    label: "not linear".into(),
                    help: Some("a sum of multiples of them, the factors without any of them".into()),
                });
            }
            degrees.push(degree);
        }
        Ok(())
    }
}

/// Whether a name may be given to a constant or a variable; if not, why.
pub fn check_name(name: &str, taken: &[&str]) -> std::result::Result<(), String> {
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(letters) {
        return Err("a name is a letter, then letters, digits and `_`".into());
    }
    if FUNCTIONS.iter().any(|(known, _)| *known == name) {
        return Err(format!("`{name}` is a function"));
    }
    if name == "pi" || taken.contains(&name) {
        return Err(format!("`{name}` has a meaning of its own"));
    }
    Ok(())
}

/// The names of all functions.
pub fn functions() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name)
}
