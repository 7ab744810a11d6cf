//! Figures as SVG and PNG: curves with axes, ticks and a legend, and maps of two parameters. The same data gives the same
//! bytes.
//!
//! It knows numbers and labels; it must not know what they mean.

mod heat;
pub mod text;

pub use heat::Heat;

use crate::canvas::{Anchor, Canvas, Color, INK, Letters, Pen, Raster, Run, Shape, Svg, WHITE};
use crate::report::decimate;

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
const COLORS: [Color; 13] = [
    Color::hex(0x1f5fd0),
    Color::hex(0xd4500c),
    Color::hex(0x2b7a3d),
    Color::hex(0x9c36b5),
    Color::hex(0xa67c00),
    Color::hex(0x0b7285),
    Color::hex(0xc2255c),
    Color::hex(0x5c6370),
    Color::hex(0x7b4b24),
    Color::hex(0x82a912),
    Color::hex(0xe07fb8),
    Color::hex(0x3bb0c9),
    Color::hex(0xf08c00),
];
/// The grid, and the frame of the axes.
const GRID: Pen = Pen::new(Color::hex(0xe3e8ef), 1.0);
const FRAME: Pen = Pen::new(Color::hex(0x8a95a5), 1.0);
/// Words at an axis: below a tick, beside a tick, along the axis that goes up.
const BELOW: Letters = Letters::PLAIN.anchored(Anchor::Middle);
const BESIDE: Letters = Letters::PLAIN.anchored(Anchor::End);
const ALONG: Letters = Letters { run: Run::Up, ..BELOW };
const HEADING: Letters = Letters::PLAIN.heading(15.0);

/// Pixels per unit of length in a PNG; sharp on screens and in print.
const SHARPNESS: f64 = 2.0;

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
        let mut canvas = Svg::new(self.size());
        self.draw(&mut canvas);
        canvas.finish()
    }

    /// The figure as a PNG file.
    pub fn png(&self) -> Vec<u8> {
        let mut canvas = Raster::new(self.size(), SHARPNESS);
        self.draw(&mut canvas);
        canvas.png()
    }

    fn size(&self) -> [f64; 2] {
        let (_, rows, _) = self.legend_grid();
        [WIDTH, MARGIN[2] + HEIGHT + MARGIN[3] + 20.0 * rows as f64 + 8.0]
    }

    fn draw(&self, canvas: &mut dyn Canvas) {
        let (x, y) = (Scale::new(self, 0), Scale::new(self, 1));
        let (left, right, top, bottom) = (x.pixels[0], x.pixels[1], y.pixels[1], y.pixels[0]);
        canvas.text(&self.title, [left, 24.0], &HEADING);
        for (value, label) in &x.ticks {
            let at = x.place(*value);
            canvas.stroke(&Shape::Line(&[[at, top], [at, bottom]]), &GRID);
            canvas.text(label, [at, bottom + 18.0], &BELOW);
        }
        for (value, label) in &y.ticks {
            let at = y.place(*value);
            canvas.stroke(&Shape::Line(&[[left, at], [right, at]]), &GRID);
            canvas.text(label, [left - 8.0, at + 4.5], &BESIDE);
        }
        let frame = [[left, top], [right, top], [right, bottom], [left, bottom]];
        canvas.stroke(&Shape::Polygon(&frame), &FRAME);
        canvas.text(&self.x.label, [0.5 * (left + right), bottom + 40.0], &BELOW);
        canvas.text(&self.y.label, [18.0, 0.5 * (top + bottom)], &ALONG);
        for curve in &self.curves {
            draw_curve(canvas, curve, &x, &y);
        }
        let (across, _, column) = self.legend_grid();
        for (k, curve) in self.curves.iter().enumerate() {
            let at = [left + column * (k % across) as f64, bottom + 62.0 + 20.0 * (k / across) as f64];
            let key = [[at[0], at[1] - 4.5], [at[0] + 28.0, at[1] - 4.5]];
            canvas.stroke(&Shape::Line(&key), &pen(curve));
            canvas.text(&curve.label, [at[0] + 36.0, at[1]], &Letters::PLAIN);
        }
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

fn color(curve: &Curve) -> Color {
    curve.color.map_or(INK, |k| COLORS[k % COLORS.len()])
}

fn pen(curve: &Curve) -> Pen {
    let pen = Pen::new(color(curve), 1.6);
    if curve.dashed { pen.dashed(6.0, 4.0) } else { pen }
}

fn draw_curve(canvas: &mut dyn Canvas, curve: &Curve, x: &Scale, y: &Scale) {
    let fits = |value: f64, scale: &Scale| value.is_finite() && (!scale.log || value > 0.0);
    let points = thinned(&curve.points);
    // What cannot be shown breaks the line.
    for piece in points.split(|&[a, b]| !fits(a, x) || !fits(b, y)).filter(|piece| !piece.is_empty()) {
        let places: Vec<[f64; 2]> = piece.iter().map(|&[a, b]| [x.place(a), y.place(b)]).collect();
        canvas.stroke(&Shape::Line(&places), &pen(curve));
        for &centre in places.iter().filter(|_| curve.marks) {
            let mark = Shape::Circle { centre, radius: 3.5 };
            canvas.fill(&mark, if curve.dashed { WHITE } else { color(curve) });
            canvas.stroke(&mark, &Pen::new(color(curve), 1.0));
        }
    }
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
