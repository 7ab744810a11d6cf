//! From text to tape: one operator-precedence loop.
//!
//! ```text
//! expression = value { operator expression }        by the table of powers below
//! value      = number | name | name "(" expression { "," expression } ")" | "(" expression ")" | ("-" | "+") value
//! ```
//!
//! The recursion is as deep as the nesting, which has a limit.

use super::fault::Fault;
use super::tape::{self, FUNCTIONS, HEIGHT, One, Op, Two};
use super::{MOST_BYTES, MOST_LEVELS, Vocabulary};
use crate::nearest::{listing, nearest};
use std::ops::Range;

/// Operators and how strongly they bind; longer ones first, so that `<=` is not read as `<`.
const OPERATORS: &[(&str, Two, u8)] = &[
    ("<=", Two::AtMost, COMPARISON),
    (">=", Two::AtLeast, COMPARISON),
    ("<", Two::Less, COMPARISON),
    (">", Two::More, COMPARISON),
    ("+", Two::Add, 2),
    ("-", Two::Subtract, 2),
    ("*", Two::Multiply, 3),
    ("/", Two::Divide, 3),
    ("^", Two::Power, POWER),
];
/// Power of comparisons, which cannot be chained.
const COMPARISON: u8 = 1;
/// Power of a sign: less than that of `^`, so that −x^2 is −(x²).
const SIGN: u8 = 4;
/// Power of `^`, the only operator that groups to the right.
const POWER: u8 = 5;

/// Ways to write things that other languages have, and ours.
const FOREIGN: &[(&str, &str)] = &[
    ("**", "powers are written `^`"),
    ("==", "there is no test for equality: compare with `<`, `<=`, `>`, `>=`"),
    ("!=", "there is no test for equality: compare with `<`, `<=`, `>`, `>=`"),
    ("&&", "multiply conditions to have both"),
    ("||", "`max` of conditions has either"),
    ("%", "the remainder is `mod(x, y)`"),
    ("\u{2212}", "a minus sign is written `-`"),
    ("\u{b7}", "products are written `*`"),
    ("\u{d7}", "products are written `*`"),
    ("\u{3c0}", "write `pi`"),
];
/// Names that other languages have for our functions.
const ALIASES: &[(&str, &str)] = &[
    ("ln", "log"),
    ("arcsin", "asin"),
    ("arccos", "acos"),
    ("arctan", "atan"),
    ("fmod", "mod"),
    ("heaviside", "step"),
];

/// What a parser leaves.
pub(super) struct Parsed {
    pub tape: Vec<Op>,
    /// Bytes of the text that each operation comes from.
    pub places: Vec<Range<usize>>,
    /// How many values wait at most.
    pub height: usize,
}

pub(super) fn parse(text: &str, vocabulary: &Vocabulary) -> Result<Parsed, Fault> {
    let parsed = Parsed { tape: Vec::new(), places: Vec::new(), height: 0 };
    let mut parser = Parser { text, vocabulary, at: 0, waiting: 0, parsed };
    if text.len() > MOST_BYTES {
        let mut end = MOST_BYTES;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let label = format!("{} bytes", text.len());
        return Err(parser
            .fault(end..end, "this expression is too long", label)
            .help(format!("at most {MOST_BYTES} bytes")));
    }
    parser.skip(0);
    parser.expression(0, 0)?;
    if parser.at < text.len() {
        return Err(parser.unexpected("an operator must stand here"));
    }
    Ok(parser.parsed)
}

struct Parser<'a> {
    text: &'a str,
    vocabulary: &'a Vocabulary<'a>,
    /// The next byte; never one of a space.
    at: usize,
    /// Values on the stack when the tape so far is done.
    waiting: usize,
    parsed: Parsed,
}

impl Parser<'_> {
    /// Operators that bind more strongly than `least`, and what they join.
    fn expression(&mut self, least: u8, level: usize) -> Result<(), Fault> {
        self.value(level)?;
        let mut compared = false;
        loop {
            let rest = &self.text[self.at..];
            let foreign = FOREIGN.iter().any(|(sign, _)| rest.starts_with(sign));
            let found = OPERATORS.iter().find(|(sign, ..)| rest.starts_with(sign)).filter(|_| !foreign);
            let Some(&(sign, function, power)) = found.filter(|(.., power)| *power > least) else { return Ok(()) };
            let place = self.at..self.at + sign.len();
            if power == COMPARISON && compared {
                let fault = self.fault(place, "comparisons cannot be chained", "a second comparison");
                return Err(fault.help("put one of them into parentheses; `(a < b)*(b < c)` is 1 if both hold"));
            }
            compared |= power == COMPARISON;
            self.skip(sign.len());
            // To the right: operators of the same power belong to the second operand.
            let (least, level) = if power == POWER { (power - 1, level + 1) } else { (power, level) };
            self.expression(least, level)?;
            self.emit(Op::Two(function), place)?;
        }
    }

    fn value(&mut self, level: usize) -> Result<(), Fault> {
        if level > MOST_LEVELS {
            return Err(self.too_deep(self.at..self.at));
        }
        let start = self.at;
        match self.text[start..].bytes().next() {
            Some(b'-') => {
                self.skip(1);
                self.expression(SIGN, level + 1)?;
                self.emit(Op::One(One::Negative), start..start + 1)
            }
            Some(b'+') => {
                self.skip(1);
                self.expression(SIGN, level + 1)
            }
            Some(b'(') => {
                self.skip(1);
                self.expression(0, level + 1)?;
                self.close(start)
            }
            Some(b'0'..=b'9' | b'.') => self.number(),
            Some(b'A'..=b'Z' | b'a'..=b'z') => self.name(level),
            _ => Err(self.unexpected("a number, a name or `(` must stand here")),
        }
    }

    /// The closing parenthesis of the one at `open`.
    fn close(&mut self, open: usize) -> Result<(), Fault> {
        match self.text[self.at..].bytes().next() {
            Some(b')') => {
                self.skip(1);
                Ok(())
            }
            None => Err(self.fault(open..open + 1, "this parenthesis is not closed", "`)` is missing")),
            Some(_) => Err(self.unexpected("an operator or `)` must stand here")),
        }
    }

    /// A number as in TOML: digits on both sides of a point, single underscores between digits, 0x, 0o and 0b.
    fn number(&mut self) -> Result<(), Fault> {
        let rest = &self.text.as_bytes()[self.at..];
        let radix = match rest {
            [b'0', b'x', ..] => 16,
            [b'0', b'o', ..] => 8,
            [b'0', b'b', ..] => 2,
            _ => 10,
        };
        let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'.';
        let mut end = rest.iter().position(|&byte| !word(byte)).unwrap_or(rest.len());
        // The sign of an exponent belongs to the number.
        if radix == 10
            && let Some(mark) = rest[..end].iter().position(|byte| !matches!(byte, b'0'..=b'9' | b'_' | b'.'))
        {
            end = match (rest[mark], rest.get(mark + 1)) {
                (b'e' | b'E', Some(b'+' | b'-')) if mark + 1 == end => {
                    let digits = rest[mark + 2..].iter().position(|&byte| !(byte.is_ascii_digit() || byte == b'_'));
                    mark + 2 + digits.unwrap_or(rest.len() - mark - 2)
                }
                (b'e' | b'E', Some(b'0'..=b'9')) => {
                    let digits = rest[mark + 1..end].iter().position(|byte| !(byte.is_ascii_digit() || *byte == b'_'));
                    digits.map_or(end, |digits| mark + 1 + digits)
                }
                (b'e' | b'E', _) if mark + 1 == end => end,
                _ => mark,
            };
        }
        let place = self.at..self.at + end;
        let digits = &self.text[place.clone()];
        let value = if radix == 10 { decimal(digits) } else { whole(&digits[2..], radix) };
        let Some(value) = value else {
            let fault = self.fault(place, format!("`{digits}` is not a number"), "not as TOML writes numbers");
            return Err(fault.help("for example 2, 0.5, 1e-3, 1_000 or 0xff; digits stand on both sides of a point"));
        };
        self.skip(end);
        self.emit(Op::Number(value), place)
    }

    fn name(&mut self, level: usize) -> Result<(), Fault> {
        let rest = &self.text[self.at..];
        let end = rest.bytes().position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'_')).unwrap_or(rest.len());
        let (place, name) = (self.at..self.at + end, &rest[..end]);
        self.skip(end);
        let called = self.text[self.at..].starts_with('(');
        if let Some(&(_, op)) = FUNCTIONS.iter().find(|(known, _)| *known == name) {
            if called {
                return self.call(name, op, place, level);
            }
            let fault = self.fault(place, format!("`{name}` is a function"), "`(` must follow");
            return Err(fault.help(usage(name, op)));
        }
        let words = self.vocabulary;
        let variable = words.variables.iter().position(|known| *known == name);
        let constant = words.constants.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        let constant = constant.or((name == "pi").then_some(std::f64::consts::PI));
        let op = match (variable, constant) {
            (Some(_), Some(_)) => {
                let message = format!("`{name}` means two things here");
                return Err(self.fault(place, message, "a constant and a variable").help("rename the constant"));
            }
            (Some(index), None) => Op::Variable(index),
            (None, Some(value)) => Op::Number(value),
            (None, None) => return Err(self.unknown(name, place, called)),
        };
        if called {
            return Err(self.fault(place, format!("`{name}` is not a function"), "no `(` may follow"));
        }
        self.emit(op, place)
    }

    /// The arguments of a function; its `(` is next.
    fn call(&mut self, name: &str, op: Op, place: Range<usize>, level: usize) -> Result<(), Fault> {
        let open = self.at;
        self.skip(1);
        let mut given = 0;
        if !self.text[self.at..].starts_with(')') {
            self.expression(0, level + 1)?;
            given = 1;
            while self.text[self.at..].starts_with(',') {
                self.skip(1);
                self.expression(0, level + 1)?;
                given += 1;
            }
        }
        self.close(open)?;
        if given != op.arguments() {
            let message = format!("`{name}` takes {}, not {given}", numbered(op.arguments()));
            return Err(self.fault(place, message, "with a wrong number of arguments").help(usage(name, op)));
        }
        self.emit(op, place)
    }

    /// Appends an operation; one on numbers alone is done at once.
    fn emit(&mut self, op: Op, place: Range<usize>) -> Result<(), Fault> {
        let Parsed { tape, places, height } = &mut self.parsed;
        tape.push(op);
        places.push(place.clone());
        self.waiting = self.waiting + 1 - op.arguments();
        let first = tape.len() - 1 - op.arguments();
        if op.arguments() > 0 && tape[first..tape.len() - 1].iter().all(|op| matches!(op, Op::Number(_))) {
            let value = tape::evaluate(&tape[first..], HEIGHT, |_| f64::NAN);
            tape.truncate(first);
            places.truncate(first);
            tape.push(Op::Number(value));
            places.push(place.clone());
        }
        *height = self.waiting.max(*height);
        if *height > HEIGHT { Err(self.too_deep(place)) } else { Ok(()) }
    }

    /// Goes on behind so many bytes and the spaces after them.
    fn skip(&mut self, bytes: usize) {
        let rest = &self.text[self.at + bytes..];
        self.at = self.text.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn fault(&self, at: Range<usize>, message: impl Into<String>, label: impl Into<String>) -> Fault {
        Fault { text: self.text.to_string(), at, message: message.into(), label: label.into(), help: None }
    }

    fn too_deep(&self, place: Range<usize>) -> Fault {
        self.fault(place, "this expression is nested too deeply", format!("more than {MOST_LEVELS} levels"))
    }

    /// The next character, which cannot stand here.
    fn unexpected(&self, label: &str) -> Fault {
        let rest = &self.text[self.at..];
        if let Some((sign, help)) = FOREIGN.iter().find(|(sign, _)| rest.starts_with(sign)) {
            let place = self.at..self.at + sign.len();
            return self.fault(place, format!("`{sign}` is not an operator or a name"), "unknown").help(*help);
        }
        match rest.chars().next() {
            None if self.text.trim().is_empty() => self.fault(self.at..self.at, "this expression is empty", label),
            None => self.fault(self.at..self.at, "this expression ends too early", label),
            Some(')') => self.fault(self.at..self.at + 1, "this `)` has no `(`, or nothing in front of it", label),
            Some(c) => {
                self.fault(self.at..self.at + c.len_utf8(), format!("`{}` cannot stand here", c.escape_debug()), label)
            }
        }
    }

    fn unknown(&self, name: &str, place: Range<usize>, called: bool) -> Fault {
        let words = self.vocabulary;
        if let Some((_, why)) = words.refused.iter().find(|(known, _)| *known == name) {
            return self.fault(place, format!("`{name}` has no meaning here"), "not here").help(*why);
        }
        let functions = || FUNCTIONS.iter().map(|(known, _)| *known);
        let constants = words.constants.iter().map(|(known, _)| known.as_str());
        let values = || words.variables.iter().copied().chain(constants.clone()).chain(["pi"]);
        let alias = ALIASES.iter().find(|(foreign, _)| *foreign == name.to_ascii_lowercase()).map(|(_, ours)| *ours);
        let near = match called {
            true => alias.or(nearest(name, functions())),
            false => nearest(name, values()).or(nearest(name, functions())).or(alias),
        };
        let label = near.map_or("no such name".into(), |near| format!("did you mean `{near}`?"));
        let kind = if called { "function" } else { "constant or variable" };
        let help = if called { listing(functions()) } else { listing(values()) };
        self.fault(place, format!("there is no {kind} `{name}` here"), label).help(format!("known: {help}"))
    }
}

fn numbered(arguments: usize) -> String {
    format!("{arguments} argument{}", if arguments == 1 { "" } else { "s" })
}

/// How a function is called.
fn usage(name: &str, op: Op) -> String {
    let arguments = match (op, op.arguments()) {
        (Op::If, _) => "condition, value if it holds, value if not",
        (Op::Pulse, _) => "t, period, duty",
        (Op::Two(Two::Atan2), _) => "y, x",
        (_, 1) => "x",
        _ => "x, y",
    };
    format!("write `{name}({arguments})`")
}

/// A decimal number if TOML would take it.
fn decimal(digits: &str) -> Option<f64> {
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (digits, None),
    };
    let (before, after) = match mantissa.split_once('.') {
        Some((before, after)) => (before, Some(after)),
        None => (mantissa, None),
    };
    let all = [Some(before), after, exponent];
    let padded = before.len() > 1 && before.starts_with('0');
    (all.iter().flatten().all(|run| separated(run, 10)) && !padded).then(|| digits.replace('_', "").parse().ok())?
}

/// A whole number of another radix.
fn whole(digits: &str, radix: u32) -> Option<f64> {
    separated(digits, radix).then(|| i64::from_str_radix(&digits.replace('_', ""), radix).ok().map(|n| n as f64))?
}

/// Digits, with underscores only between them.
fn separated(run: &str, radix: u32) -> bool {
    run.split('_').all(|part| !part.is_empty() && part.chars().all(|c| c.is_digit(radix)))
}
