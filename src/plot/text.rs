//! Curves over time in plain characters, for a terminal. Its memory does not grow with the run.

use crate::summary::figure;
use std::fmt::Write;

/// Characters across and down, without the labels.
const COLUMNS: usize = 64;
const ROWS: usize = 16;

/// Curves that are collected instant by instant and drawn at the end.
///
/// ```
/// use carom::plot::text::Sketch;
///
/// let mut sketch = Sketch::new(1.0, &[("*", "total")]);
/// for k in 0..=100 {
///     sketch.add(0.01 * k as f64, &[k as f64]);
/// }
/// assert!(sketch.text("energy").lines().nth(1).unwrap().ends_with("*|"), "the largest value is at the end");
/// ```
pub struct Sketch {
    end: f64,
    curves: Vec<Stroke>,
}

struct Stroke {
    mark: &'static str,
    name: &'static str,
    /// Smallest and largest value in each column.
    ranges: Vec<[f64; 2]>,
    /// The value before, which the next column begins with: curves have no gaps.
    last: f64,
}

const EMPTY: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

impl Sketch {
    /// Curves until time `end`, each with a mark of one character and a name; where they meet, the last one is seen.
    pub fn new(end: f64, curves: &[(&'static str, &'static str)]) -> Sketch {
        let stroke = |&(mark, name): &(&'static str, &'static str)| Stroke {
            mark,
            name,
            ranges: vec![EMPTY; COLUMNS],
            last: f64::NAN,
        };
        Sketch { end, curves: curves.iter().map(stroke).collect() }
    }

    /// Takes the values of all curves at an instant; instants ascend.
    pub fn add(&mut self, time: f64, values: &[f64]) {
        let column = ((time / self.end * COLUMNS as f64) as usize).min(COLUMNS - 1);
        for (curve, &value) in self.curves.iter_mut().zip(values) {
            let [low, high] = &mut curve.ranges[column];
            if *low > *high && curve.last.is_finite() {
                (*low, *high) = (curve.last, curve.last);
            }
            (*low, *high) = (low.min(value), high.max(value));
            curve.last = value;
        }
    }

    /// The drawing; curves that are zero throughout are left out.
    pub fn text(&self, title: &str) -> String {
        let zero = |curve: &Stroke| curve.ranges.iter().all(|range| *range == [0.0; 2] || *range == EMPTY);
        let shown: Vec<&Stroke> = self.curves.iter().filter(|curve| !zero(curve)).collect();
        let all = shown.iter().flat_map(|curve| &curve.ranges).filter(|[low, high]| low <= high);
        let [mut low, mut high] = all.fold(EMPTY, |[a, b], [low, high]| [a.min(*low), b.max(*high)]);
        if low > high {
            (low, high) = (0.0, 0.0);
        }
        // Round-off on a constant is not worth a picture.
        if high - low <= 1e-9 * high.abs().max(low.abs()) {
            let half = if high == 0.0 { 1.0 } else { 0.05 * high.abs() };
            (low, high) = (low - half, high + half);
        }
        let row = |value: f64| ((high - value) / (high - low) * (ROWS - 1) as f64).round() as usize;
        let mut canvas = vec![[" "; COLUMNS]; ROWS];
        for curve in &shown {
            for (column, [bottom, top]) in curve.ranges.iter().enumerate().filter(|(_, [low, high])| low <= high) {
                for line in &mut canvas[row(*top)..=row(*bottom)] {
                    line[column] = curve.mark;
                }
            }
        }
        let legend: Vec<String> = shown.iter().rev().map(|curve| format!("{} {}", curve.mark, curve.name)).collect();
        let mut text = format!("{:>12}  {title}: {}\n", "", legend.join(", "));
        let mut line = |label: &str, body: &str| {
            writeln!(text, "{}", format!("{label:>12} {body}").trim_end()).expect("writing to a string cannot fail");
        };
        for (k, cells) in canvas.iter().enumerate() {
            let value = high - (high - low) * k as f64 / (ROWS - 1) as f64;
            let label = if k % 5 == 0 { figure(value) } else { String::new() };
            line(&label, &format!("|{}|", cells.concat()));
        }
        line("", &format!("+{}+", "-".repeat(COLUMNS)));
        let end = format!("time {}", figure(self.end));
        line("", &format!(" 0{end:>width$}", width = COLUMNS - 1));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_leaves_no_gap_and_a_peak_is_seen() {
        let mut sketch = Sketch::new(1.0, &[("*", "total")]);
        for k in 0..=6400 {
            let t = k as f64 / 6400.0;
            sketch.add(t, &[if k == 3205 { 10.0 } else { f64::from(t > 0.75) }]);
        }
        let text = sketch.text("energy");
        let rows: Vec<&str> = text.lines().skip(1).take(ROWS).map(|line| &line[14..14 + COLUMNS]).collect();
        assert_eq!(rows[0].find('*'), Some(32), "{text}");
        assert!((0..COLUMNS).all(|k| rows.iter().any(|row| row.as_bytes()[k] == b'*')), "{text}");
        assert_eq!(text.lines().count(), ROWS + 3);
        assert!(text.lines().all(|line| line.len() <= 14 + COLUMNS + 1 && line.is_ascii()), "{text}");
    }

    #[test]
    fn nothing_and_constants_can_be_drawn() {
        let mut sketch = Sketch::new(1.0, &[("k", "kinetic"), ("*", "total")]);
        assert!(sketch.text("energy").contains("energy: \n") || !sketch.text("energy").contains('*'));
        sketch.add(0.0, &[0.0, 500.0]);
        sketch.add(1.0, &[0.0, 500.0]);
        let text = sketch.text("energy");
        assert!(text.contains("energy: * total") && !text.contains("kinetic"), "{text}");
    }
}
