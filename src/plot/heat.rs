//! A map of a quantity over two parameters: one coloured cell for each pair of values.

use super::{ALONG, BELOW, BESIDE, HEADING, HEIGHT, MARGIN, SHARPNESS, WIDTH, round_ticks};
use crate::canvas::{Canvas, Color, Letters, Raster, Shape, Svg, mix};

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
const RAMP: [Color; 6] = [
    Color::hex(0x440154),
    Color::hex(0x414487),
    Color::hex(0x2a788e),
    Color::hex(0x22a884),
    Color::hex(0x7ad151),
    Color::hex(0xfde725),
];
/// For cells without a value.
const NOTHING: Color = Color::hex(0xd5dae1);
const SIZE: [f64; 2] = [WIDTH, MARGIN[2] + HEIGHT + MARGIN[3] + 8.0];
/// Width of the bar that explains the colours, with its labels.
const BAR: f64 = 110.0;
/// Slices of that bar.
const SLICES: usize = 64;
/// Labels of an axis, at most.
const LABELS: usize = 10;

impl Heat {
    /// The map as a stand-alone SVG text.
    pub fn svg(&self) -> String {
        let mut canvas = Svg::new(SIZE);
        self.draw(&mut canvas);
        canvas.finish()
    }

    /// The map as a PNG file.
    pub fn png(&self) -> Vec<u8> {
        let mut canvas = Raster::new(SIZE, SHARPNESS);
        self.draw(&mut canvas);
        canvas.png()
    }

    fn draw(&self, canvas: &mut dyn Canvas) {
        let [low, high] = self.range();
        let (left, right, top, bottom) = (MARGIN[0], WIDTH - BAR - MARGIN[1], MARGIN[2], MARGIN[2] + HEIGHT);
        let (across, up) = (self.x.1.len().max(1) as f64, self.y.1.len().max(1) as f64);
        let [wide, tall] = [(right - left) / across, (bottom - top) / up];
        canvas.text(&self.title, [left, 24.0], &HEADING);
        canvas.text(&self.quantity, [WIDTH - MARGIN[1], 24.0], &BESIDE);
        for (row, values) in self.values.iter().enumerate() {
            for (column, &value) in values.iter().enumerate() {
                let corner = [left + wide * column as f64, bottom - tall * (row + 1) as f64];
                let fill = if value.is_finite() { mix(&RAMP, (value - low) / (high - low)) } else { NOTHING };
                canvas.fill(&Shape::Rectangle { corner, size: [wide, tall] }, fill);
            }
        }
        for (k, label) in thinned(&self.x.1) {
            canvas.text(label, [left + wide * (k as f64 + 0.5), bottom + 18.0], &BELOW);
        }
        for (k, label) in thinned(&self.y.1) {
            canvas.text(label, [left - 8.0, bottom - tall * (k as f64 + 0.5) + 4.5], &BESIDE);
        }
        canvas.text(&self.x.0, [0.5 * (left + right), bottom + 40.0], &BELOW);
        canvas.text(&self.y.0, [18.0, 0.5 * (top + bottom)], &ALONG);
        let bar = right + 24.0;
        let slice = (bottom - top) / SLICES as f64;
        for k in 0..SLICES {
            let corner = [bar, bottom - slice * (k + 1) as f64];
            let color = mix(&RAMP, (k as f64 + 0.5) / SLICES as f64);
            canvas.fill(&Shape::Rectangle { corner, size: [16.0, slice] }, color);
        }
        for (value, label) in round_ticks(low, high) {
            let at = bottom - (value - low) / (high - low) * (bottom - top);
            canvas.text(&label, [bar + 22.0, at + 4.5], &Letters::PLAIN);
        }
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
        assert_eq!([mix(&RAMP, 0.0), mix(&RAMP, 1.0)], [RAMP[0], RAMP[5]]);
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
        assert_eq!((svg.matches("#d5dae1").count(), svg.matches("NaN").count()), (1, 0));
        for values in [f64::NAN, 5.0, 0.0] {
            map.values = vec![vec![values; 30]];
            assert!(!map.svg().contains("NaN"));
        }
    }
}
