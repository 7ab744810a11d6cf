//! Drawing into pixels, and PNG files of them.

use super::{Anchor, Canvas, Cap, Color, Letters, Pen, Run, Shape, WHITE, font};
use tiny_skia::{
    FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, StrokeDash, Transform,
};

/// Places farther than this from the canvas, in pixels, are taken for this far: beyond, pixels would be lost to rounding.
const FAR: f64 = 1e5;

/// A canvas of pixels, white at first.
#[derive(Clone, Debug)]
pub struct Raster {
    pixels: Pixmap,
    /// Pixels per unit of length.
    scale: f32,
    clip: Option<Mask>,
}

impl Raster {
    /// A canvas of some width and height, with so many pixels for one unit of length.
    ///
    /// # Panics
    /// If there are no pixels, or more than fit into memory.
    pub fn new(size: [f64; 2], scale: f64) -> Raster {
        let [width, height] = size.map(|length| (length * scale).round() as u32);
        let mut pixels = Pixmap::new(width, height).expect("a figure has pixels, and not too many");
        pixels.fill(paint_color(WHITE));
        Raster { pixels, scale: scale as f32, clip: None }
    }

    /// White again.
    pub fn clear(&mut self) {
        self.pixels.fill(paint_color(WHITE));
        self.clip = None;
    }

    /// Pixels in a row, and rows.
    pub fn size(&self) -> [u32; 2] {
        [self.pixels.width(), self.pixels.height()]
    }

    /// Red, green and blue of a pixel.
    ///
    /// # Panics
    /// Outside of the canvas.
    pub fn pixel(&self, x: u32, y: u32) -> [u8; 3] {
        let pixel = self.pixels.pixel(x, y).expect("a pixel of the canvas");
        [pixel.red(), pixel.green(), pixel.blue()]
    }

    /// Red, green and blue of all pixels, row by row from the top.
    pub fn colors(&self) -> impl Iterator<Item = [u8; 3]> {
        // White lies under everything, so that no pixel is transparent.
        self.pixels.pixels().iter().map(|pixel| [pixel.red(), pixel.green(), pixel.blue()])
    }

    /// The picture as a PNG file.
    pub fn png(&self) -> Vec<u8> {
        self.pixels.encode_png().expect("writing to memory cannot fail")
    }

    fn transform(&self) -> Transform {
        Transform::from_scale(self.scale, self.scale)
    }

    fn place(&self, [x, y]: [f64; 2]) -> [f32; 2] {
        let far = FAR / f64::from(self.scale);
        [x, y].map(|value| value.clamp(-far, far) as f32)
    }

    /// The path of a shape; none if it has no extent or is not finite.
    fn path(&self, shape: &Shape) -> Option<Path> {
        let mut path = PathBuilder::new();
        match *shape {
            Shape::Line(points) | Shape::Polygon(points) => {
                for (k, &point) in points.iter().enumerate() {
                    let [x, y] = self.place(point);
                    if k == 0 { path.move_to(x, y) } else { path.line_to(x, y) }
                }
                if matches!(shape, Shape::Polygon(_)) && !points.is_empty() {
                    path.close();
                }
            }
            Shape::Rectangle { corner, size } => {
                let [left, top] = self.place(corner);
                let [right, bottom] = self.place([corner[0] + size[0], corner[1] + size[1]]);
                path.push_rect(Rect::from_ltrb(left, top, right, bottom)?);
            }
            Shape::Circle { centre, radius } => {
                let [x, y] = self.place(centre);
                path.push_circle(x, y, radius.clamp(0.0, FAR) as f32);
            }
        }
        path.finish()
    }
}

impl Canvas for Raster {
    fn stroke(&mut self, shape: &Shape, pen: &Pen) {
        let Some(path) = self.path(shape) else { return };
        let stroke = Stroke {
            width: pen.width as f32,
            line_cap: if pen.cap == Cap::Round { LineCap::Round } else { LineCap::Butt },
            line_join: LineJoin::Round,
            dash: pen.dash.and_then(|lengths| StrokeDash::new(lengths.map(|length| length as f32).to_vec(), 0.0)),
            ..Stroke::default()
        };
        self.pixels.stroke_path(&path, &paint(pen.color), &stroke, self.transform(), self.clip.as_ref());
    }

    fn fill(&mut self, shape: &Shape, color: Color) {
        let Some(path) = self.path(shape) else { return };
        let paint = Paint { anti_alias: !matches!(shape, Shape::Rectangle { .. }), ..paint(color) };
        self.pixels.fill_path(&path, &paint, FillRule::Winding, self.transform(), self.clip.as_ref());
    }

    fn text(&mut self, words: &str, at: [f64; 2], letters: &Letters) {
        let mut path = PathBuilder::new();
        font::outline(words, letters.size, letters.weight, &mut path);
        let Some(path) = path.finish() else { return };
        let before = match letters.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5,
            Anchor::End => 1.0,
        };
        let back = before * font::width(words, letters.size, letters.weight);
        let [x, y] = self.place(at);
        let transform = match letters.run {
            Run::Across => self.transform().pre_translate(x - back as f32, y),
            // Upwards: to the right becomes up.
            Run::Up => self.transform().pre_concat(Transform::from_row(0.0, -1.0, 1.0, 0.0, x, y + back as f32)),
        };
        self.pixels.fill_path(&path, &paint(letters.color), FillRule::Winding, transform, self.clip.as_ref());
    }

    fn clip(&mut self, area: Option<[[f64; 2]; 2]>) {
        self.clip = area.map(|[corner, size]| {
            let [width, height] = self.size();
            let mut mask = Mask::new(width, height).expect("as large as the canvas, which was made");
            if let Some(path) = self.path(&Shape::Rectangle { corner, size }) {
                mask.fill_path(&path, FillRule::Winding, false, self.transform());
            }
            mask
        });
    }
}

fn paint_color(color: Color) -> tiny_skia::Color {
    let [r, g, b] = color.rgb;
    tiny_skia::Color::from_rgba8(r, g, b, (color.opacity.clamp(0.0, 1.0) * 255.0).round() as u8)
}

fn paint(color: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(paint_color(color));
    paint
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Color = Color::hex(0xff0000);

    #[test]
    fn shapes_cover_the_pixels_that_they_should() {
        let mut canvas = Raster::new([20.0, 10.0], 2.0);
        assert_eq!(canvas.size(), [40, 20]);
        canvas.fill(&Shape::Rectangle { corner: [1.0, 1.0], size: [2.0, 2.0] }, RED);
        canvas.stroke(&Shape::Line(&[[10.0, 5.0], [18.0, 5.0]]), &Pen::new(RED, 2.0));
        let red = canvas.colors().filter(|&pixel| pixel == [255, 0, 0]).count();
        assert_eq!(red, 4 * 4 + 16 * 4);
        assert_eq!((canvas.pixel(2, 2), canvas.pixel(6, 2)), ([255, 0, 0], [255; 3]));
    }

    #[test]
    fn a_clip_holds_until_the_next() {
        let mut canvas = Raster::new([10.0, 10.0], 1.0);
        let all = Shape::Polygon(&[[-5.0, -5.0], [15.0, -5.0], [15.0, 15.0], [-5.0, 15.0]]);
        canvas.clip(Some([[0.0, 0.0], [3.0, 10.0]]));
        canvas.fill(&all, RED);
        assert_eq!(canvas.colors().filter(|&pixel| pixel == [255, 0, 0]).count(), 30);
        canvas.clip(None);
        canvas.fill(&all, RED.faded(0.5));
        assert_eq!((canvas.pixel(1, 1), canvas.pixel(8, 1)), ([255, 0, 0], [255, 127, 127]));
    }

    #[test]
    fn words_are_anchored_and_turned() {
        // Columns and rows between which there is ink.
        let extent = |anchor, run| {
            let mut canvas = Raster::new([100.0, 100.0], 1.0);
            canvas.text("Hello", [50.0, 50.0], &Letters { run, ..Letters::PLAIN.anchored(anchor) });
            let inked = canvas.colors().enumerate().filter(|(_, pixel)| *pixel != [255; 3]);
            let inked: Vec<[usize; 2]> = inked.map(|(k, _)| [k % 100, k / 100]).collect();
            [0, 1].map(|axis| {
                let along = inked.iter().map(|place| place[axis]);
                [along.clone().min().unwrap(), along.max().unwrap()]
            })
        };
        let wide = font::width("Hello", 13.0, super::super::Weight::Plain) as usize;
        let [x, y] = extent(Anchor::Start, Run::Across);
        assert!(x[0] >= 50 && x[1] <= 50 + wide && y[0] >= 38 && y[1] <= 50, "{x:?} {y:?}");
        let [x, _] = extent(Anchor::End, Run::Across);
        assert!(x[0] >= 49 - wide && x[1] <= 50, "{x:?}");
        let [x, y] = extent(Anchor::Middle, Run::Up);
        assert!(x[0] >= 38 && x[1] <= 50 && y[0] >= 49 - wide / 2 && y[1] <= 51 + wide / 2, "{x:?} {y:?}");
        assert!(y[0] < 45 && y[1] > 55, "{y:?}");
    }

    #[test]
    fn what_is_not_finite_or_far_away_does_no_harm() {
        let mut canvas = Raster::new([10.0, 10.0], 1.0);
        for far in [f64::NAN, f64::INFINITY, -f64::MAX, 1e300] {
            let points = [[0.0, 0.0], [far, 1.0], [3.0, far]];
            for shape in [
                Shape::Line(&points),
                Shape::Polygon(&points),
                Shape::Circle { centre: [far, 0.0], radius: 1.0 },
                Shape::Circle { centre: [0.0, 0.0], radius: far },
                Shape::Rectangle { corner: [far, 0.0], size: [1.0, far] },
            ] {
                canvas.stroke(&shape, &Pen::new(RED, 1.0).dashed(100.0, 100.0));
                canvas.fill(&shape, RED);
            }
            canvas.text("far", [far, far], &Letters::PLAIN);
            canvas.clip(Some([[far, 0.0], [1.0, 1.0]]));
        }
    }
}
