//! A surface to draw on, in two kinds: [`Svg`] writes what is drawn as text, [`Raster`] fills pixels. Whatever draws on one
//! can draw on the other, and the same drawing gives the same bytes on every machine.
//!
//! It knows shapes, colours and words; it must not know what they mean. The origin is at the top left, y points down.

mod font;
mod raster;
mod svg;

pub use font::width;
pub use raster::Raster;
pub use svg::{Svg, escape};

/// A surface to draw on; what comes later covers what was there.
///
/// ```
/// use carom::canvas::{Canvas, Color, Raster, Shape, Svg};
/// fn dot(canvas: &mut dyn Canvas) {
///     canvas.fill(&Shape::Circle { centre: [4.0, 4.0], radius: 3.0 }, Color::hex(0xd4500c));
/// }
/// let (mut text, mut pixels) = (Svg::new([8.0, 8.0]), Raster::new([8.0, 8.0], 1.0));
/// dot(&mut text);
/// dot(&mut pixels);
/// assert!(text.finish().contains("<circle "));
/// assert_eq!(pixels.pixel(4, 4), [0xd4, 0x50, 0x0c]);
/// ```
pub trait Canvas {
    /// Draws along the edge of a shape.
    fn stroke(&mut self, shape: &Shape, pen: &Pen);
    /// Fills a shape; a rectangle without smooth edges, so that neighbours have no seam.
    fn fill(&mut self, shape: &Shape, color: Color);
    /// Writes words in one line, at the foot of its letters.
    fn text(&mut self, words: &str, at: [f64; 2], letters: &Letters);
    /// Leaves all that is drawn from now on within a rectangle, given by its corner and its size; everywhere with `None`.
    fn clip(&mut self, area: Option<[[f64; 2]; 2]>);
}

/// What can be drawn.
#[derive(Clone, Copy, Debug)]
pub enum Shape<'a> {
    /// Pieces from point to point.
    Line(&'a [[f64; 2]]),
    /// An area with corners.
    Polygon(&'a [[f64; 2]]),
    /// A rectangle along the axes.
    Rectangle {
        /// Its corner at the top left.
        corner: [f64; 2],
        /// Its width and height.
        size: [f64; 2],
    },
    /// A circle.
    Circle {
        /// Its centre.
        centre: [f64; 2],
        /// Its radius.
        radius: f64,
    },
}

/// A colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Color {
    /// Red, green and blue.
    pub rgb: [u8; 3],
    /// One covers what is behind, zero shows it.
    pub opacity: f64,
}

impl Color {
    /// An opaque colour, as `0xrrggbb`.
    pub const fn hex(code: u32) -> Color {
        Color { rgb: [(code >> 16) as u8, (code >> 8) as u8, code as u8], opacity: 1.0 }
    }

    /// With another opacity.
    pub const fn faded(self, opacity: f64) -> Color {
        Color { opacity, ..self }
    }
}

/// Paper.
pub const WHITE: Color = Color::hex(0xffffff);
/// Colour of words.
pub const INK: Color = Color::hex(0x1b2430);

/// Red, green and blue in `stops` at equal distances, mixed at a share between the first (0) and the last (1).
pub fn mix(stops: &[Color], share: f64) -> Color {
    let place = share.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
    let k = (place as usize).min(stops.len() - 2);
    let part = |c: usize| {
        let [from, to] = [stops[k], stops[k + 1]].map(|stop| f64::from(stop.rgb[c]));
        (from + (place - k as f64) * (to - from)).round() as u8
    };
    Color { rgb: [part(0), part(1), part(2)], opacity: 1.0 }
}

/// How a line is drawn; its corners are round.
#[derive(Clone, Copy, Debug)]
pub struct Pen {
    /// Its colour.
    pub color: Color,
    /// Its width.
    pub width: f64,
    /// How it ends.
    pub cap: Cap,
    /// Lengths of dashes and of the gaps between them, if it is broken.
    pub dash: Option<[f64; 2]>,
}

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cap {
    /// At its last point.
    Flat,
    /// With a half circle around it.
    Round,
}

impl Pen {
    /// A solid line with flat ends.
    pub const fn new(color: Color, width: f64) -> Pen {
        Pen { color, width, cap: Cap::Flat, dash: None }
    }

    /// This pen with round ends of its lines.
    pub const fn round(self) -> Pen {
        Pen { cap: Cap::Round, ..self }
    }

    /// This pen with lines broken into dashes.
    pub const fn dashed(self, dash: f64, gap: f64) -> Pen {
        Pen { dash: Some([dash, gap]), ..self }
    }
}

/// How words look.
#[derive(Clone, Copy, Debug)]
pub struct Letters {
    /// Height of a line.
    pub size: f64,
    /// Their weight.
    pub weight: Weight,
    /// Their colour.
    pub color: Color,
    /// Which part of them is at the given place.
    pub anchor: Anchor,
    /// Which way they run.
    pub run: Run,
}

/// Weight of letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// For reading.
    Plain,
    /// For headings.
    Bold,
}

/// The part of some words that is at a given place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Their beginning.
    Start,
    /// Their middle.
    Middle,
    /// Their end.
    End,
}

/// Which way words run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Run {
    /// To the right.
    Across,
    /// Upwards.
    Up,
}

/// Size of letters unless another is asked for.
pub const LETTERS: f64 = 13.0;

impl Letters {
    /// Plain letters of the usual size, from left to right, beginning at the place.
    pub const PLAIN: Letters =
        Letters { size: LETTERS, weight: Weight::Plain, color: INK, anchor: Anchor::Start, run: Run::Across };

    /// These letters with another part of the text at its place.
    pub const fn anchored(self, anchor: Anchor) -> Letters {
        Letters { anchor, ..self }
    }

    /// These letters in bold and of another size.
    pub const fn heading(self, size: f64) -> Letters {
        Letters { size, weight: Weight::Bold, ..self }
    }
}
