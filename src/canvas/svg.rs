//! Drawing as SVG text.

use super::{Anchor, Canvas, Cap, Color, INK, LETTERS, Letters, Pen, Run, Shape, WHITE, Weight};
use std::fmt::{Arguments, Write};

/// A canvas that writes a stand-alone SVG, on white.
#[derive(Clone, Debug)]
pub struct Svg {
    text: String,
    /// Whether a part of the drawing is kept within a rectangle.
    clipped: bool,
}

impl Svg {
    /// An empty canvas of some width and height.
    pub fn new([width, height]: [f64; 2]) -> Svg {
        let mut canvas = Svg { text: String::new(), clipped: false };
        canvas.put(format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" font-size=\"{LETTERS}\" \
             fill=\"{}\">\n<rect width=\"100%\" height=\"100%\" fill=\"{}\"/>\n",
            code(INK),
            code(WHITE)
        ));
        canvas
    }

    /// The whole text.
    pub fn finish(mut self) -> String {
        self.clip(None);
        self.text + "</svg>\n"
    }

    fn put(&mut self, piece: Arguments) {
        self.text.write_fmt(piece).expect("writing to a string cannot fail");
    }

    /// A shape up to what says how it is drawn.
    fn begin(&mut self, shape: &Shape) {
        match *shape {
            Shape::Line(points) => self.path(points, ""),
            Shape::Polygon(points) => self.path(points, "Z"),
            Shape::Rectangle { corner: [x, y], size: [width, height] } => self.put(format_args!(
                "<rect x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" shape-rendering=\"crispEdges\""
            )),
            Shape::Circle { centre: [x, y], radius } => {
                self.put(format_args!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{radius:.2}\""));
            }
        }
    }

    fn path(&mut self, points: &[[f64; 2]], end: &str) {
        self.put(format_args!("<path d=\""));
        for (k, [x, y]) in points.iter().enumerate() {
            self.put(format_args!("{}{x:.2} {y:.2}", if k == 0 { 'M' } else { 'L' }));
        }
        self.put(format_args!("{end}\""));
    }
}

impl Canvas for Svg {
    fn stroke(&mut self, shape: &Shape, pen: &Pen) {
        self.begin(shape);
        self.put(format_args!(" fill=\"none\" stroke=\"{}\"", code(pen.color)));
        if pen.color.opacity < 1.0 {
            self.put(format_args!(" stroke-opacity=\"{}\"", pen.color.opacity));
        }
        if pen.width != 1.0 {
            self.put(format_args!(" stroke-width=\"{}\" stroke-linejoin=\"round\"", pen.width));
        }
        if pen.cap == Cap::Round {
            self.put(format_args!(" stroke-linecap=\"round\""));
        }
        if let Some([dash, gap]) = pen.dash {
            self.put(format_args!(" stroke-dasharray=\"{dash} {gap}\""));
        }
        self.put(format_args!("/>\n"));
    }

    fn fill(&mut self, shape: &Shape, color: Color) {
        self.begin(shape);
        self.put(format_args!(" fill=\"{}\"", code(color)));
        if color.opacity < 1.0 {
            self.put(format_args!(" fill-opacity=\"{}\"", color.opacity));
        }
        self.put(format_args!("/>\n"));
    }

    fn text(&mut self, words: &str, [x, y]: [f64; 2], letters: &Letters) {
        match letters.run {
            Run::Across => self.put(format_args!("<text x=\"{x:.2}\" y=\"{y:.2}\"")),
            Run::Up => self.put(format_args!("<text transform=\"translate({x:.2} {y:.2}) rotate(-90)\"")),
        }
        if letters.size != LETTERS {
            self.put(format_args!(" font-size=\"{}\"", letters.size));
        }
        if letters.weight == Weight::Bold {
            self.put(format_args!(" font-weight=\"600\""));
        }
        match letters.anchor {
            Anchor::Start => {}
            Anchor::Middle => self.put(format_args!(" text-anchor=\"middle\"")),
            Anchor::End => self.put(format_args!(" text-anchor=\"end\"")),
        }
        if letters.color != INK {
            self.put(format_args!(" fill=\"{}\"", code(letters.color)));
        }
        self.put(format_args!(">{}</text>\n", escape(words)));
    }

    fn clip(&mut self, area: Option<[[f64; 2]; 2]>) {
        if std::mem::replace(&mut self.clipped, area.is_some()) {
            self.put(format_args!("</svg>\n"));
        }
        // An inner drawing with coordinates of its own, which are those around it, shows nothing outside.
        if let Some([[x, y], [width, height]]) = area {
            self.put(format_args!(
                "<svg x=\"{x:.2}\" y=\"{y:.2}\" width=\"{width:.2}\" height=\"{height:.2}\" \
                 viewBox=\"{x:.2} {y:.2} {width:.2} {height:.2}\">\n"
            ));
        }
    }
}

fn code(color: Color) -> String {
    let [r, g, b] = color.rgb;
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Text that stands for itself in XML and HTML.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        assert_eq!(escape("<a href=\"x\">&"), "&lt;a href=&quot;x&quot;&gt;&amp;");
    }

    #[test]
    fn a_clip_ends_where_the_next_begins_or_the_drawing_ends() {
        let mut canvas = Svg::new([10.0, 10.0]);
        canvas.clip(Some([[1.0, 1.0], [4.0, 4.0]]));
        canvas.clip(Some([[2.0, 2.0], [4.0, 4.0]]));
        canvas.text("<", [0.0, 0.0], &Letters::PLAIN);
        let text = canvas.finish();
        let tree = roxmltree::Document::parse(&text).unwrap();
        let inner: Vec<_> = tree.root_element().children().filter(|child| child.has_tag_name("svg")).collect();
        assert_eq!(inner.len(), 2, "{text}");
        assert_eq!(inner[0].children().filter(|child| child.is_element()).count(), 0, "{text}");
        assert_eq!(inner[1].attribute("viewBox"), Some("2.00 2.00 4.00 4.00"), "{text}");
        assert_eq!(inner[1].children().find(|child| child.is_element()).and_then(|child| child.text()), Some("<"));
    }
}
