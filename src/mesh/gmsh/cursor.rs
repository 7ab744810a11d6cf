//! Bytes of an MSH file as a stream of numbers, in text or in binary of either byte order.
//!
//! Knows how numbers are written and where it stands, not what they mean. No declared count is
//! believed before the bytes that are left can hold it.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;

use crate::{Error, Result};

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Encoding {
    /// Decimal, between white space.
    Text,
    /// Binary, least significant byte first.
    Little,
    /// Binary, most significant byte first.
    Big,
}

/// A place in the bytes of a file, read from front to back.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    name: &'a str,
    at: usize,
    encoding: Encoding,
}

impl<'a> Cursor<'a> {
    /// At the front of `bytes`, which are text for the time being; `name` is what messages call the file.
    pub(super) fn new(bytes: &'a [u8], name: &'a str) -> Self {
        Cursor { bytes, name, at: 0, encoding: Encoding::Text }
    }

    /// Passes the rest of the line and the number one that begins binary data, by which it finds the byte order.
    pub(super) fn enter_binary(&mut self) -> Result<()> {
        self.end_line();
        let start = self.at;
        self.encoding = match self.array("the number one that tells the byte order")? {
            [1, 0, 0, 0] => Encoding::Little,
            [0, 0, 0, 1] => Encoding::Big,
            other => {
                let text =
                    format!("the bytes {other:?} are not the number one in either byte order; is this file binary?");
                return Err(self.error(start, text));
            }
        };
        Ok(())
    }

    /// Offset of what comes next, to be given back to [`Cursor::error`].
    pub(super) fn at(&mut self) -> usize {
        if self.encoding == Encoding::Text {
            self.more();
        }
        self.at
    }

    /// An error at offset `at`: with the line in text files, the byte in binary ones.
    pub(super) fn error(&self, at: usize, text: impl Display) -> Error {
        let name = self.name;
        if self.encoding == Encoding::Text {
            let line = 1 + self.bytes[..at].iter().filter(|&&byte| byte == b'\n').count();
            Error::Input(format!("{name}, line {line}: {text}"))
        } else {
            Error::Input(format!("{name}, byte {at}: {text}"))
        }
    }

    /// An error about the file as a whole.
    pub(super) fn file_error(&self, text: impl Display) -> Error {
        Error::Input(format!("{}: {text}", self.name))
    }

    /// Passes `prefix` if it comes next.
    pub(super) fn pass(&mut self, prefix: &[u8]) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.at += prefix.len();
        }
        found
    }

    /// Passes everything up to and including `mark`; false if there is none.
    pub(super) fn pass_until(&mut self, mark: &str) -> bool {
        let found = self.rest().windows(mark.len()).position(|window| window == mark.as_bytes());
        if let Some(start) = found {
            self.at += start + mark.len();
        }
        found.is_some()
    }

    /// Goes to the data of a section, which in binary starts right after the line with its name.
    pub(super) fn enter_section(&mut self) {
        if self.encoding != Encoding::Text {
            self.end_line();
        }
    }

    /// Passes white space; true if anything follows.
    pub(super) fn more(&mut self) -> bool {
        self.at += self.rest().iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        self.at < self.bytes.len()
    }

    /// The next run of bytes without white space; bytes that are not text come out replaced.
    pub(super) fn word(&mut self, what: &str) -> Result<Cow<'a, str>> {
        if !self.more() {
            return Err(self.ended(what));
        }
        let rest = self.rest();
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.at += end;
        Ok(String::from_utf8_lossy(&rest[..end]))
    }

    /// A text in double quotes.
    pub(super) fn quoted(&mut self, what: &str) -> Result<&'a str> {
        self.more();
        let inside = self.rest().strip_prefix(b"\"").and_then(|open| {
            let end = open.iter().position(|byte| matches!(byte, b'"' | b'\n'))?;
            (open[end] == b'"').then_some(&open[..end])
        });
        match inside.map(str::from_utf8) {
            Some(Ok(text)) => {
                self.at += text.len() + 2;
                Ok(text)
            }
            Some(Err(_)) => Err(self.error(self.at, format!("{what} is not valid UTF-8"))),
            None => Err(self.error(self.at, format!("expected {what} in double quotes"))),
        }
    }

    /// A number in decimal, whatever the encoding of the file.
    pub(super) fn decimal<T: FromStr>(&mut self, what: &str, allowed: &str) -> Result<T> {
        self.more();
        let start = self.at;
        let word = self.word(what)?;
        word.parse().map_err(|_| self.error(start, format!("{what} is `{}`, expected {allowed}", shorten(&word))))
    }

    /// A 32-bit integer.
    pub(super) fn int(&mut self, what: &str) -> Result<i32> {
        match self.encoding {
            Encoding::Text => self.decimal(what, "an integer"),
            Encoding::Little => self.array(what).map(i32::from_le_bytes),
            Encoding::Big => self.array(what).map(i32::from_be_bytes),
        }
    }

    /// A 64-bit count or tag.
    pub(super) fn size(&mut self, what: &str) -> Result<u64> {
        match self.encoding {
            Encoding::Text => self.decimal(what, "an integer, zero or more"),
            Encoding::Little => self.array(what).map(u64::from_le_bytes),
            Encoding::Big => self.array(what).map(u64::from_be_bytes),
        }
    }

    /// A double, of any value.
    pub(super) fn any_real(&mut self, what: &str) -> Result<f64> {
        match self.encoding {
            Encoding::Text => self.decimal(what, "a finite number"),
            Encoding::Little => self.array(what).map(f64::from_le_bytes),
            Encoding::Big => self.array(what).map(f64::from_be_bytes),
        }
    }

    /// A finite double.
    pub(super) fn real(&mut self, what: &str) -> Result<f64> {
        let start = self.at();
        let value = self.any_real(what)?;
        if value.is_finite() {
            Ok(value)
        } else {
            Err(self.error(start, format!("{what} is {value}, expected a finite number")))
        }
    }

    /// A count of things that take at least `ints` integers and `wides` sizes or doubles each.
    pub(super) fn count(&mut self, what: &str, ints: usize, wides: usize) -> Result<usize> {
        let start = self.at();
        let count = self.size(what)?;
        let each = match self.encoding {
            Encoding::Text => 2 * (ints + wides),
            Encoding::Little | Encoding::Big => 4 * ints + 8 * wides,
        };
        let left = self.rest().len();
        match usize::try_from(count) {
            Ok(count) if count <= left / each => Ok(count),
            _ => Err(self.error(start, format!("{what} is {count}, more than the remaining {left} bytes can hold"))),
        }
    }

    fn end_line(&mut self) {
        let rest = self.rest();
        self.at += rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| end + 1);
    }

    fn array<const N: usize>(&mut self, what: &str) -> Result<[u8; N]> {
        let chunk = *self.rest().first_chunk().ok_or_else(|| self.ended(what))?;
        self.at += N;
        Ok(chunk)
    }

    fn ended(&self, what: &str) -> Error {
        self.error(self.at, format!("the file ends where {what} should stand; is it truncated?"))
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }
}

/// The beginning of a word from the file, fit for a terminal.
pub(super) fn shorten(word: &str) -> String {
    let mut chars = word.chars();
    let mut text: String = chars.by_ref().take(40).flat_map(char::escape_debug).collect();
    if chars.next().is_some() {
        text.push('…');
    }
    text
}
