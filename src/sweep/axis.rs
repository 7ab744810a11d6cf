//! What a sweep varies: `PATH=a,b,c` or `PATH=from:to:n`.

use crate::{Error, Result};
use serde_json::Value;

/// Beyond this many runs an argument is a slip.
const MOST_RUNS: usize = 10_000_000;

/// A path into the case and the values that it takes.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Dotted path, as `--set` takes it.
    pub path: String,
    /// Texts of TOML values.
    pub texts: Vec<String>,
    /// What the texts mean, as data.
    pub values: Vec<Value>,
}

impl Axis {
    /// Reads an argument of `--vary`.
    ///
    /// ```
    /// use carom::sweep::Axis;
    /// assert_eq!(Axis::parse("time.step=1e-3, 2e-3")?.texts, ["1e-3", "2e-3"]);
    /// assert_eq!(Axis::parse("body.bar.line.elements=100:400:4")?.texts, ["100", "200", "300", "400"]);
    /// assert_eq!(Axis::parse("scheme.theta=0.5:1:3")?.texts, ["0.5", "0.75", "1.0"]);
    /// # Ok::<(), carom::Error>(())
    /// ```
    pub fn parse(argument: &str) -> Result<Axis> {
        let wrong = |what: String| {
            Error::Usage(format!(
                "--vary {argument}: {what}\n  allowed: PATH=a,b,c with TOML values, or PATH=from:to:n with two numbers \
                 and a count, as in --vary time.step=1e-3,2e-3 or --vary contact.wall.restitution=0:1:11"
            ))
        };
        let (path, values) = argument.split_once('=').ok_or_else(|| wrong("there is no `=`".into()))?;
        let path = path.trim();
        if path.is_empty() {
            return Err(wrong("there is no path before the `=`".into()));
        }
        let texts = match range(values) {
            Some(texts) => texts.map_err(wrong)?,
            None => split(values),
        };
        let data = texts.iter().map(|text| value(text).map_err(wrong)).collect::<Result<Vec<_>>>()?;
        if let Some(twice) = (1..data.len()).find(|&k| data[..k].contains(&data[k])) {
            return Err(wrong(format!("the value {} comes twice", texts[twice])));
        }
        Ok(Axis { path: path.into(), texts, values: data })
    }

    /// Whether all values are numbers, as a curve needs them.
    pub fn numbers(&self) -> Option<Vec<f64>> {
        self.values.iter().map(Value::as_f64).collect()
    }
}

/// Every argument, and how many runs they make together.
pub(super) fn axes(arguments: &[String]) -> Result<(Vec<Axis>, usize)> {
    let axes: Vec<Axis> = arguments.iter().map(|argument| Axis::parse(argument)).collect::<Result<_>>()?;
    for (k, axis) in axes.iter().enumerate() {
        if axes[..k].iter().any(|other| other.path == axis.path) {
            return Err(Error::Usage(format!("--vary {}: given twice; write all its values into one", axis.path)));
        }
    }
    let runs = axes.iter().try_fold(1usize, |runs, axis| runs.checked_mul(axis.texts.len()));
    match runs.filter(|&runs| runs <= MOST_RUNS) {
        Some(runs) => Ok((axes, runs)),
        None => Err(Error::Usage(format!("--vary: more than {MOST_RUNS} runs"))),
    }
}

/// Values of a range, if it is one.
fn range(text: &str) -> Option<std::result::Result<Vec<String>, String>> {
    let parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let [from, to, count] = parts[..] else { return None };
    let (low, high) = (from.parse::<f64>().ok()?, to.parse::<f64>().ok()?);
    if !low.is_finite() || !high.is_finite() {
        return Some(Err("the ends of a range must be finite".into()));
    }
    let Some(count) = count.parse::<usize>().ok().filter(|&count| (2..=MOST_RUNS).contains(&count)) else {
        return Some(Err(format!("`{count}` is no count of values; a range has at least 2")));
    };
    let whole = [from, to].iter().all(|end| end.parse::<i64>().is_ok());
    let text = |k: usize| {
        let share = k as f64 / (count - 1) as f64;
        // Fifteen digits, so that a tenth of the way from 0 to 1 reads 0.1 wherever it falls.
        let value = format!("{:.14e}", low + (high - low) * share).parse::<f64>().expect("a number that was printed");
        if whole && value.fract() == 0.0 && value.abs() < 1e15 { format!("{value}") } else { format!("{value:?}") }
    };
    Some(Ok((0..count).map(text).collect()))
}

/// Splits at commas that are not inside brackets, braces or quotes.
fn split(text: &str) -> Vec<String> {
    let (mut depth, mut quote, mut escaped) = (0i32, None, false);
    let mut parts = vec![String::new()];
    for c in text.chars() {
        match (quote, c) {
            (None, ',') if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth -= 1,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if c == open && !escaped => quote = None,
            _ => {}
        }
        escaped = quote == Some('"') && c == '\\' && !escaped;
        parts.last_mut().expect("never empty").push(c);
    }
    parts.iter().map(|part| part.trim().to_string()).collect()
}

fn value(text: &str) -> std::result::Result<Value, String> {
    if text.is_empty() {
        return Err("a value is missing".into());
    }
    let table = toml::from_str::<toml::Table>(&format!("x = {text}"));
    let data = table.ok().filter(|table| table.len() == 1).and_then(|mut table| table.remove("x"));
    data.and_then(|data| serde_json::to_value(data).ok()).ok_or_else(|| {
        let quoted = !text.contains(['"', '\'', '[', '{', '=']);
        let hint = if quoted { format!("; a text needs quotes: \"{text}\"") } else { String::new() };
        format!("`{text}` is not a TOML value{hint}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_may_be_tables_and_texts() {
        let axis = Axis::parse(r#"scheme={ name = "hht", alpha = 0.1 },{ name = "newmark" }"#).unwrap();
        assert_eq!(axis.texts, [r#"{ name = "hht", alpha = 0.1 }"#, r#"{ name = "newmark" }"#]);
        assert_eq!(axis.numbers(), None);
        assert_eq!(Axis::parse(r#"x="a,b",'c"d',[1, 2]"#).unwrap().texts, [r#""a,b""#, r#"'c"d'"#, "[1, 2]"]);
        assert_eq!(Axis::parse(r#"x="a\",b""#).unwrap().texts, [r#""a\",b""#]);
    }

    #[test]
    fn ranges_end_where_they_say_and_look_like_what_was_meant() {
        assert_eq!(Axis::parse("e=0.0:1.0:11").unwrap().texts.join(" "), "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0");
        assert_eq!(Axis::parse("e=1e-3:3e-3:3").unwrap().texts, ["0.001", "0.002", "0.003"]);
        assert_eq!(Axis::parse("v=-1:1:2").unwrap().texts, ["-1", "1"]);
        assert_eq!(Axis::parse("n=1:2:3").unwrap().texts, ["1", "1.5", "2"]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (argument, what) in [
            ("time.step", "there is no `=`"),
            ("=1,2", "no path"),
            ("a=1,,2", "a value is missing"),
            ("a=", "a value is missing"),
            ("a=x,y", "`x` is not a TOML value; a text needs quotes: \"x\""),
            ("a=1,1.0e0,1", "the value 1 comes twice"),
            ("a=0:1:1", "a range has at least 2"),
            ("a=0:1:x", "`x` is no count"),
            ("a=0:inf:3", "must be finite"),
            ("a=[1,2", "`[1,2` is not a TOML value"),
            ("a=1\nb=2", "is not a TOML value"),
        ] {
            let error = Axis::parse(argument).unwrap_err();
            assert!(error.exit_code() == 2 && error.to_string().contains(what), "{argument}: {error}");
        }
        let twice = axes(&["a=1,2".into(), "a=3".into()]).unwrap_err();
        assert!(twice.to_string().contains("given twice"), "{twice}");
        let many = axes(&["a=0:1:10000".into(), "b=0:1:10000".into()]).unwrap_err();
        assert!(many.to_string().contains("more than 10000000 runs"), "{many}");
    }
}
