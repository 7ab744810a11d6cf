//! Figures as SVG and PNG: curves with axes, ticks and a legend, and maps of two parameters. The same data gives the same
//! bytes.
//!
//! It knows numbers and labels; it must not know what they mean.

mod heat;
mod png;
pub mod text;

pub use heat::Heat;

use crate::report::{decimate, escape};
use std::fmt::Write;

/// A figure.
///
/// ```
/// use carom::plot::{Axis, Curve, Plot};
///
/// let line = Curve::new("a line", vec![[0.0, 0.0], [1.0, 2.0]]);
/// let plot = Plot { title: "T".into(), x: Axis::linear("time"), y: Axis::linear("force"), curves: vec![line] };
/// assert!(plot.svg().starts_with("<svg "));
/// ```
#[derive(Clone, Debug)]
pub struct Plot {
    /// Heading.
    pub title: String,
    /// Horizontal axis.
    pub x: Axis,
    /// Vertical axis.
    pub y: Axis,
    /// Curves, drawn in this order.
    pub curves: Vec<Curve>,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// Logarithmic; values that are not positive are left out.
    pub log: bool,
    /// Where it ends although curves go on beyond: they are drawn at the edge.
    pub most: Option<f64>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: &str) -> Axis {
        Axis { label: label.into(), log: false, most: None }
    }

    /// A logarithmic axis.
    pub fn log(label: &str) -> Axis {
        Axis { label: label.into(), log: true, most: None }
    }
}

/// A curve.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name in the legend.
    pub label: String,
    /// Its points; one that is not finite breaks the line.
    pub points: Vec<[f64; 2]>,
    /// Number of its colour; `None` for the colour of text, which references get.
    pub color: Option<usize>,
    /// Broken line.
    pub dashed: bool,
    /// A mark on every point.
    pub marks: bool,
}

impl Curve {
    /// A solid line in the first colour.
    pub fn new(label: &str, points: Vec<[f64; 2]>) -> Curve {
        Curve { label: label.into(), points, color: Some(0), dashed: false, marks: false }
    }
}

/// Colours that can be told apart, also by most colour-blind readers.
const COLORS: [&str; 13] = [
    "#1f5fd0", "#d4500c", "#2b7a3d", "#9c36b5", "#a67c00", "#0b7285", "#c2255c", "#5c6370", "#7b4b24", "#82a912",
    "#e07fb8", "#3bb0c9", "#f08c00",
];
const INK: &str = "#1b2430";

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
/// Space left of, right of, above and below the frame of the axes; the legend comes below that.
const MARGIN: [f64; 4] = [84.0, 20.0, 40.0, 50.0];
/// Width of a letter of the legend; fonts differ, so on the safe side.
const LETTER: f64 = 7.0;

/// Buckets of the horizontal axis in which a long curve keeps its smallest and largest point.
const BUCKETS: usize = 1000;

impl Plot {
    /// The figure as a stand-alone SVG text.
    pub fn svg(&self) -> String {
        let (x, y) = (Scale::new(self, 0), Scale::new(self, 1));
        let (across, rows, column) = self.legend_grid();
        let height = MARGIN[2] + HEIGHT + MARGIN[3] + 20.0 * rows as f64 + 8.0;
        let mut text = String::new();
        let mut put = |piece: std::fmt::Arguments| text.write_fmt(piece).expect("writing to a string cannot fail");
        put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
             height=\"{height}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"13\" fill=\"{INK}\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
             <text x=\"{:.1}\" y=\"24\" font-size=\"15\" font-weight=\"600\">{}</text>\n",
            MARGIN[0],
            escape(&self.title)
        ));
        let (left, right, top, bottom) = (x.pixels[0], x.pixels[1], y.pixels[1], y.pixels[0]);
        for &(value, ref label) in &x.ticks {
            let at = x.place(value);
            put(format_args!(
                "<path d=\"M{at:.2} {top:.2}V{bottom:.2}\" stroke=\"#e3e8ef\"/>\n\
                 <text x=\"{at:.2}\" y=\"{:.2}\" text-anchor=\"middle\">{label}</text>\n",
                bottom + 18.0
            ));
        }
        for &(value, ref label) in &y.ticks {
            let at = y.place(value);
            put(format_args!(
                "<path d=\"M{left:.2} {at:.2}H{right:.2}\" stroke=\"#e3e8ef\"/>\n\
                 <text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"end\">{label}</text>\n",
                left - 8.0,
                at + 4.5
            ));
        }
        put(format_args!(
            "<rect x=\"{left:.2}\" y=\"{top:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill=\"none\" stroke=\"#8a95a5\"/>\n\
             <text x=\"{:.2}\" y=\"{:.2}\" text-anchor=\"middle\">{}</text>\n\
             <text transform=\"translate(18 {:.2}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
            right - left,
            bottom - top,
            0.5 * (left + right),
            bottom + 40.0,
            escape(&self.x.label),
            0.5 * (top + bottom),
            escape(&self.y.label)
        ));
        for curve in &self.curves {
            put(format_args!("{}", drawn(curve, &x, &y)));
        }
        for (k, curve) in self.curves.iter().enumerate() {
            let at = [left + column * (k % across) as f64, bottom + 62.0 + 20.0 * (k / across) as f64];
            let key = Curve { points: vec![], ..curve.clone() };
            put(format_args!(
                "<path d=\"M{:.2} {:.2}h28\" {}/>\n<text x=\"{:.2}\" y=\"{:.2}\">{}</text>\n",
                at[0],
                at[1] - 4.5,
                stroke(&key),
                at[0] + 36.0,
                at[1],
                escape(&curve.label)
            ));
        }
        text + "</svg>\n"
    }

    /// Entries per row of the legend, its rows, and the width of an entry.
    fn legend_grid(&self) -> (usize, usize, f64) {
        let longest = self.curves.iter().map(|curve| curve.label.chars().count()).max().unwrap_or(0);
        let column = 52.0 + LETTER * longest as f64;
        let across = (((WIDTH - MARGIN[0] - MARGIN[1]) / column) as usize).clamp(1, 4);
        (across, self.curves.len().div_ceil(across), column)
    }
}

/// From values to pixels along an axis.
struct Scale {
    log: bool,
    range: [f64; 2],
    pixels: [f64; 2],
    ticks: Vec<(f64, String)>,
}

impl Scale {
    fn new(plot: &Plot, axis: usize) -> Scale {
        let Axis { log, most, .. } = *[&plot.x, &plot.y][axis];
        let most = most.unwrap_or(f64::INFINITY);
        let pixels = [[MARGIN[0], WIDTH - MARGIN[1]], [MARGIN[2] + HEIGHT, MARGIN[2]]][axis];
        let values = plot.curves.iter().flat_map(|curve| &curve.points).map(|point| point[axis]);
        let shown = values.filter(|value| value.is_finite() && (!log || *value > 0.0));
        let [mut low, mut high] = shown.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| {
            let v = v.min(most);
            [a.min(v), b.max(v)]
        });
        if low > high {
            [low, high] = if log { [0.1, 1.0] } else { [0.0, 1.0] };
        }
        if log {
            let (range, ticks) = decades(low, high);
            return Scale { log, range, pixels, ticks };
        }
        // Round-off on a constant is not worth a picture.
        let slack = 1e-9 * low.abs().max(high.abs());
        if high - low <= slack {
            let half = if high == 0.0 { 1.0 } else { 0.05 * high.abs() };
            (low, high) = (low - half, high + half);
        }
        if axis == 1 {
            let air = 0.05 * (high - low);
            (low, high) = (low - air, high + air);
        }
        Scale { log, range: [low, high], pixels, ticks: round_ticks(low, high) }
    }

    fn place(&self, value: f64) -> f64 {
        let [low, high] = self.range;
        let share = if self.log { (value / low).ln() / (high / low).ln() } else { (value - low) / (high - low) };
        // Beyond the end only where the axis was told to end.
        self.pixels[0] + share.min(1.0) * (self.pixels[1] - self.pixels[0])
    }
}

/// About six ticks at multiples of 1, 2 or 5 times a power of ten.
fn round_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / 6.0;
    let exponent = rough.log10().floor() as i32;
    let power = 10f64.powi(exponent);
    let (digit, carry) = match rough / power {
        r if r <= 1.0 => (1.0, 0),
        r if r <= 2.0 => (2.0, 0),
        r if r <= 5.0 => (5.0, 0),
        _ => (1.0, 1),
    };
    let exponent = exponent + carry;
    let step = digit * 10f64.powi(exponent);
    // The slack keeps a tick at the very end of the range in spite of rounding.
    let first = (low / step - 1e-9).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    let size = low.abs().max(high.abs());
    let label = |k: i64| {
        let value = k as f64 * step;
        if k == 0 {
            "0".into()
        } else if !(1e-3..1e6).contains(&size) {
            let digits = (size.log10().floor() as i32 - exponent).clamp(0, 12) as usize;
            format!("{value:.digits$e}")
        } else {
            format!("{value:.*}", (-exponent).clamp(0, 12) as usize)
        }
    };
    (first..=last).map(|k| (k as f64 * step, label(k).replace('-', "\u{2212}"))).collect()
}

/// A range of 1, 2 or 5 times powers of ten around the values, with ticks at the powers, or at all three if the range is
/// short.
fn decades(low: f64, high: f64) -> ([f64; 2], Vec<(f64, String)>) {
    let value = |k: i64| [1.0, 2.0, 5.0][k.rem_euclid(3) as usize] * 10f64.powi(k.div_euclid(3) as i32);
    let mut first = 3 * low.log10().floor() as i64;
    while value(first + 1) <= low {
        first += 1;
    }
    let mut last = first + 1;
    while value(last) < high {
        last += 1;
    }
    let range = [value(first), value(last)];
    let span = last - first;
    let every = if span <= 7 { 1 } else { 3 * (1 + span / 27) };
    let ticks = (first..=last).filter(|k| k % every == 0).map(|k| {
        let digit = [1, 2, 5][k.rem_euclid(3) as usize];
        let tenth = k.div_euclid(3);
        let label = if (-2..4).contains(&tenth) { format!("{}", value(k)) } else { format!("{digit}e{tenth}") };
        (value(k), label.replace('-', "\u{2212}"))
    });
    (range, ticks.collect())
}

fn stroke(curve: &Curve) -> String {
    let color = curve.color.map_or(INK, |k| COLORS[k % COLORS.len()]);
    let dash = if curve.dashed { " stroke-dasharray=\"6 4\"" } else { "" };
    format!("fill=\"none\" stroke=\"{color}\" stroke-width=\"1.6\" stroke-linejoin=\"round\"{dash}")
}

fn drawn(curve: &Curve, x: &Scale, y: &Scale) -> String {
    let shown = |[a, b]: [f64; 2]| {
        let fits = |value: f64, scale: &Scale| value.is_finite() && (!scale.log || value > 0.0);
        fits(a, x) && fits(b, y)
    };
    let mut path = String::new();
    let mut marks = String::new();
    let mut pen_down = false;
    for point in thinned(&curve.points) {
        if !shown(point) {
            pen_down = false;
            continue;
        }
        let at = [x.place(point[0]), y.place(point[1])];
        let verb = if pen_down { 'L' } else { 'M' };
        write!(path, "{verb}{:.2} {:.2}", at[0], at[1]).expect("writing to a string cannot fail");
        pen_down = true;
        if curve.marks {
            let color = curve.color.map_or(INK, |k| COLORS[k % COLORS.len()]);
            let fill = if curve.dashed { "#ffffff" } else { color };
            write!(
                marks,
                "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"3.5\" fill=\"{fill}\" stroke=\"{color}\"/>",
                at[0], at[1]
            )
            .expect("writing to a string cannot fail");
        }
    }
    format!("<path d=\"{path}\" {}/>\n{marks}", stroke(curve))
}

/// Few enough points for a file that is looked at, with all peaks.
fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let values: Vec<f64> = points.iter().map(|point| point[1]).collect();
    decimate::rows(&values, BUCKETS).into_iter().map(|row| points[row]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<(f64, String)>) -> String {
        ticks.into_iter().map(|tick| tick.1).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(round_ticks(0.0, 3.0)), "0.0 0.5 1.0 1.5 2.0 2.5 3.0".replacen("0.0", "0", 1));
        assert_eq!(labels(round_ticks(-17.0, 320.0)), "0 100 200 300");
        assert_eq!(labels(round_ticks(494.4, 500.0)), "495 496 497 498 499 500");
        assert_eq!(labels(round_ticks(-1.2e-5, 1.1e-5)), "−1.0e−5 −5.0e−6 0 5.0e−6 1.0e−5");
        assert_eq!(labels(decades(3e-6, 2e-1).1), "1e−5 1e−4 1e−3 0.01 0.1");
        assert_eq!(labels(decades(1e-3, 8e-3).1), "1e−3 2e−3 5e−3 0.01");
        assert_eq!(decades(1e-3, 8e-3).0, [1e-3, 1e-2]);
        assert_eq!(decades(1.0, 1.0).0, [1.0, 2.0]);
    }

    #[test]
    fn a_figure_survives_strange_data_and_escapes_its_words() {
        let odd = Curve::new("a<b>&\"", vec![[0.0, f64::NAN], [1.0, -1.0], [f64::INFINITY, 2.0]]);
        let axes = |x, y| Plot { title: "<t>".into(), x, y, curves: vec![odd.clone()] };
        for plot in [axes(Axis::linear("x"), Axis::linear("y")), axes(Axis::log("x"), Axis::log("y"))] {
            let svg = plot.svg();
            assert!(svg.contains("a&lt;b&gt;&amp;&quot;") && svg.contains("&lt;t&gt;"));
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
        let empty = Plot { title: String::new(), x: Axis::log(""), y: Axis::linear(""), curves: vec![] };
        assert!(!empty.svg().contains("NaN"));
    }

    #[test]
    fn places_follow_the_scale() {
        let curve = Curve::new("c", vec![[1.0, 0.0], [100.0, 1.0]]);
        let plot = Plot { title: String::new(), x: Axis::log(""), y: Axis::linear(""), curves: vec![curve] };
        let x = Scale::new(&plot, 0);
        let middle = 0.5 * (x.pixels[0] + x.pixels[1]);
        assert_eq!((x.place(1.0), x.place(100.0)), (MARGIN[0], WIDTH - MARGIN[1]));
        assert!((x.place(10.0) - middle).abs() < 1e-9);
    }
}
