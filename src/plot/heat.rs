//! A map of a quantity over two parameters: one coloured cell for each pair of values.

use super::{HEIGHT, INK, MARGIN, WIDTH, round_ticks};
use crate::report::escape;
use std::fmt::Write;

/// A map; values of both parameters stand at equal distances, whatever they are.
///
/// ```
/// use carom::plot::Heat;
/// let ticks = |words: [&str; 2]| words.map(String::from).to_vec();
/// let map = Heat {
///     title: "T".into(),
///     quantity: "energy".into(),
///     x: ("step".into(), ticks(["1e-3", "2e-3"])),
///     y: ("e".into(), ticks(["0", "1"])),
///     values: vec![vec![1.0, 2.0], vec![3.0, f64::NAN]],
/// };
/// assert!(map.svg().starts_with("<svg "));
/// ```
#[derive(Clone, Debug)]
pub struct Heat {
    /// Heading.
    pub title: String,
    /// What the colours show.
    pub quantity: String,
    /// Horizontal parameter: its name and its values.
    pub x: (String, Vec<String>),
    /// Vertical parameter, upwards.
    pub y: (String, Vec<String>),
    /// One row for each vertical value; NaN where there is none.
    pub values: Vec<Vec<f64>>,
}

/// Colours of even steps in lightness that also colour-blind readers can order.
const RAMP: [[f64; 3]; 6] = [
    [68.0, 1.0, 84.0],
    [65.0, 68.0, 135.0],
    [42.0, 120.0, 142.0],
    [34.0, 168.0, 132.0],
    [122.0, 209.0, 81.0],
    [253.0, 231.0, 37.0],
];
/// For cells without a value.
const NOTHING: &str = "#d5dae1";
/// Width of the bar that explains the colours, with its labels.
const BAR: f64 = 110.0;
/// Slices of that bar.
const SLICES: usize = 64;
/// Labels of an axis, at most.
const LABELS: usize = 10;

fn color(share: f64) -> String {
    let place = share.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let k = (place as usize).min(RAMP.len() - 2);
    let mix = |c: usize| (RAMP[k][c] + (place - k as f64) * (RAMP[k + 1][c] - RAMP[k][c])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

impl Heat {
    /// The map as a stand-alone SVG text.
    pub fn svg(&self) -> String {
        let [low, high] = self.range();
        let (left, right, top, bottom) = (MARGIN[0], WIDTH - BAR - MARGIN[1], MARGIN[2], MARGIN[2] + HEIGHT);
        let (across, up) = (self.x.1.len().max(1) as f64, self.y.1.len().max(1) as f64);
        let [wide, tall] = [(right - left) / across, (bottom - top) / up];
        let height = bottom + MARGIN[3] + 8.0;
        let mut text = String::new();
        let mut put = |piece: std::fmt::Arguments| text.write_fmt(piece).expect("writing to a string cannot fail");
        put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"13\" fill=\"{INK}\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text x=\"{left:.1}\" y=\"24\" font-size=\"15\" font-weight=\"600\">{}</text>\n\
             <text x=\"{:.2}\" y=\"24\" text-anchor=\"end\">{}</text>\n",
            escape(&self.title),
            WIDTH - MARGIN[1],
            escape(&self.quantity)
        ));
        // Neighbours without seams.
        put(format_args!("<g shape-rendering=\"crispEdges\">\n"));
        for (row, values) in self.values.iter().enumerate() {
            for (column, &value) in values.iter().enumerate() {
                let fill = if value.is_finite() { color((value - low) / (high - low)) } else { NOTHING.into() };
                put(format_args!(
                    "<rect x=\"{:.2}\" y=\"{:.2}\" width=\"{wide:.2}\" height=\"{tall:.2}\" fill=\"{fill}\"/>\n",
                    left + wide * column as f64,
                    bottom - tall * (row + 1) as f64
                ));
            }
        }
        put(format_args!("</g>\n"));
        for (k, label) in thinned(&self.x.1) {
            put(format_args!(
                "<text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"middle\">{}</text>\n",
                left + wide * (k as f64 + 0.5),
                bottom + 18.0,
                escape(label)
            ));
        }
        for (k, label) in thinned(&self.y.1) {
            put(format_args!(
                "<text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"end\">{}</text>\n",
                left - 8.0,
                bottom - tall * (k as f64 + 0.5) + 4.5,
                escape(label)
            ));
        }
        put(format_args!(
            "<text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(18 {:.2}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
            0.5 * (left + right),
            bottom + 40.0,
            escape(&self.x.0),
            0.5 * (top + bottom),
            escape(&self.y.0)
        ));
        let bar = right + 24.0;
        let slice = (bottom - top) / SLICES as f64;
        for k in 0..SLICES {
            put(format_args!(
                "<rect x=\"{bar:.2}\" y=\"{:.2}\" width=\"16\" height=\"{:.2}\" fill=\"{}\"/>\n",
                bottom - slice * (k + 1) as f64,
                slice + 0.5,
                color((k as f64 + 0.5) / SLICES as f64)
            ));
        }
        for (value, label) in round_ticks(low, high) {
            let at = bottom - (value - low) / (high - low) * (bottom - top);
            put(format_args!("<text x=\"{:.2}\" y=\"{:.2}\">{label}</text>\n", bar + 22.0, at + 4.5));
        }
        text + "</svg>\n"
    }

    /// Least and largest value; apart, so that colours can be told.
    fn range(&self) -> [f64; 2] {
        let shown = self.values.iter().flatten().filter(|value| value.is_finite());
        let [low, high] = shown.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(*v), b.max(*v)]);
        if low > high {
            return [0.0, 1.0];
        }
        // Round-off on a constant is not worth a picture.
        if high - low <= 1e-9 * low.abs().max(high.abs()) {
            let half = if high == 0.0 { 1.0 } else { 0.05 * high.abs() };
            return [low - half, high + half];
        }
        [low, high]
    }
}

/// A few labels, evenly, the first among them.
fn thinned(labels: &[String]) -> impl Iterator<Item = (usize, &String)> {
    labels.iter().enumerate().step_by(labels.len().div_ceil(LABELS).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go_from_dark_to_light_and_gaps_are_grey() {
        assert_eq!((color(0.0), color(1.0)), ("#440154".into(), "#fde725".into()));
        let ticks = |n: usize| (0..n).map(|k| format!("<{k}>")).collect::<Vec<_>>();
        let mut map = Heat {
            title: "a&b".into(),
            quantity: "q".into(),
            x: ("x".into(), ticks(30)),
            y: ("y".into(), ticks(1)),
            values: vec![(0..30).map(|k| if k == 3 { f64::NAN } else { k as f64 }).collect()],
        };
        let svg = map.svg();
        assert!(svg.contains("a&amp;b") && svg.contains("&lt;27&gt;") && !svg.contains("&lt;1&gt;"), "{svg}");
        assert_eq!((svg.matches(NOTHING).count(), svg.matches("NaN").count()), (1, 0));
        for values in [f64::NAN, 5.0, 0.0] {
            map.values = vec![vec![values; 30]];
            assert!(!map.svg().contains("NaN"));
        }
    }
}
