//! Pictures as an animated GIF: one palette for all of them, and of every picture only what changed.

use crate::canvas::Raster;
use gif::{DisposalMethod, Encoder, Frame, Repeat};
use std::borrow::Cow;

/// Colours of the palette; one entry more means "as before".
const COLORS: usize = 255;
const SAME: u8 = 255;
/// Levels of red, green and blue between which pictures tell when they choose a palette.
const BITS: u32 = 5;
const BINS: usize = 1 << (3 * BITS);

/// How often colours occur in pictures.
pub struct Histogram(Vec<Count>);

/// A palette, and the entry of every colour.
pub struct Palette {
    colors: Vec<[u8; 3]>,
    entries: Vec<u8>,
}

/// How often a colour occurs: number of pixels, and the sum of their red, green and blue.
#[derive(Clone, Copy, Default)]
struct Count {
    pixels: u64,
    sum: [u64; 3],
}

impl Count {
    fn color(&self) -> [f64; 3] {
        self.sum.map(|sum| sum as f64 / self.pixels.max(1) as f64)
    }
}

fn bin(color: [u8; 3]) -> usize {
    color.iter().fold(0, |bin, &part| bin << BITS | usize::from(part >> (8 - BITS)))
}

impl Histogram {
    /// No picture yet.
    pub fn new() -> Histogram {
        Histogram(vec![Count::default(); BINS])
    }

    /// Counts the pixels of a picture.
    pub fn add(&mut self, picture: &Raster) {
        for color in picture.colors() {
            let count = &mut self.0[bin(color)];
            count.pixels += 1;
            (0..3).for_each(|k| count.sum[k] += u64::from(color[k]));
        }
    }
}

impl Palette {
    /// The palette of pictures like those that were counted: boxes of colours are cut in two, the widest first, until
    /// there are enough.
    pub fn new(Histogram(mut counts): Histogram) -> Palette {
        counts.retain(|count| count.pixels > 0);
        let mut boxes = vec![counts];
        while boxes.len() < COLORS {
            // Of equals the first, so that the order is always the same.
            let mut widest = (0, 0, 0.0);
            for (k, counts) in boxes.iter().enumerate() {
                let (axis, wide) = span(counts);
                widest = if wide > widest.2 { (k, axis, wide) } else { widest };
            }
            let (k, axis, wide) = widest;
            if wide == 0.0 {
                break;
            }
            let (low, high) = cut(std::mem::take(&mut boxes[k]), axis);
            boxes[k] = low;
            boxes.push(high);
        }
        let mean = |counts: &Vec<Count>| {
            let mut all = Count::default();
            for count in counts {
                all.pixels += count.pixels;
                (0..3).for_each(|k| all.sum[k] += count.sum[k]);
            }
            all.color().map(|part| part.round() as u8)
        };
        let colors: Vec<[u8; 3]> = boxes.iter().map(mean).collect();
        let entries = (0..BINS).map(|bin| nearest(&colors, bin)).collect();
        Palette { colors, entries }
    }

    fn entries(&self, picture: &Raster) -> Vec<u8> {
        picture.colors().map(|color| self.entries[bin(color)]).collect()
    }
}

/// The axis along which a box is widest, and how wide; many pixels make it a little wider.
fn span(counts: &[Count]) -> (usize, f64) {
    let pixels: u64 = counts.iter().map(|count| count.pixels).sum();
    let along = |axis: usize| {
        let parts = counts.iter().map(|count| count.color()[axis]);
        parts.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), part| (low.min(part), high.max(part)))
    };
    let wide = [0, 1, 2].map(along).map(|(low, high)| (high - low).max(0.0));
    let axis = (0..3).fold(0, |best, axis| if wide[axis] > wide[best] { axis } else { best });
    (axis, if counts.len() > 1 { wide[axis] * (pixels as f64).powf(0.25) } else { 0.0 })
}

/// Cuts a box half-way between its ends along an axis.
fn cut(counts: Vec<Count>, axis: usize) -> (Vec<Count>, Vec<Count>) {
    let parts = counts.iter().map(|count| count.color()[axis]);
    let (low, high) =
        parts.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), part| (low.min(part), high.max(part)));
    counts.into_iter().partition(|count| count.color()[axis] <= 0.5 * (low + high))
}

fn nearest(colors: &[[u8; 3]], bin: usize) -> u8 {
    let half = 1 << (7 - BITS);
    let center = [2, 1, 0].map(|k| ((bin >> (k * BITS as usize)) & ((1 << BITS) - 1)) << (8 - BITS) | half);
    let distance = |color: &[u8; 3]| (0..3).map(|k| (i64::from(color[k]) - center[k] as i64).pow(2)).sum::<i64>();
    let best = colors.iter().enumerate().min_by_key(|(_, color)| distance(color));
    best.map_or(0, |(k, _)| k as u8)
}

/// A film that grows picture by picture.
pub struct Film {
    encoder: Encoder<Vec<u8>>,
    palette: Palette,
    size: [u16; 2],
    last: Vec<u8>,
}

impl Film {
    /// A film without pictures, of a size in pixels; it begins again at its end.
    pub fn new(palette: Palette, size: [u16; 2]) -> Film {
        let mut colors: Vec<u8> = palette.colors.concat();
        colors.resize(3 * (COLORS + 1), 0);
        let mut encoder = Encoder::new(Vec::new(), size[0], size[1], &colors).expect(IN_MEMORY);
        encoder.set_repeat(Repeat::Infinite).expect(IN_MEMORY);
        Film { encoder, palette, size, last: Vec::new() }
    }

    /// Adds a picture that is shown for so many hundredths of a second.
    pub fn add(&mut self, picture: &Raster, hundredths: u16) {
        let next = self.palette.entries(picture);
        let [left, top, width, height] = self.changed(&next);
        let row = usize::from(self.size[0]);
        let mut buffer = Vec::with_capacity(usize::from(width) * usize::from(height));
        for y in usize::from(top)..usize::from(top) + usize::from(height) {
            let along = row * y + usize::from(left)..row * y + usize::from(left) + usize::from(width);
            // Long runs of one entry make a short file.
            let entry = |k: usize| if self.last.get(k) == Some(&next[k]) { SAME } else { next[k] };
            buffer.extend(along.map(entry));
        }
        let frame = Frame {
            delay: hundredths,
            dispose: DisposalMethod::Keep,
            transparent: Some(SAME),
            left,
            top,
            width,
            height,
            buffer: Cow::Owned(buffer),
            ..Frame::default()
        };
        self.encoder.write_frame(&frame).expect(IN_MEMORY);
        self.last = next;
    }

    /// Corner and size of a box around all that changed; one pixel if nothing did.
    fn changed(&self, next: &[u8]) -> [u16; 4] {
        let [width, height] = self.size;
        if self.last.is_empty() {
            return [0, 0, width, height];
        }
        let row = usize::from(width);
        let different = (0..next.len()).filter(|&k| next[k] != self.last[k]).map(|k| [k % row, k / row]);
        let around = different.fold(None, |around: Option<[usize; 4]>, [x, y]| {
            let [left, top, right, bottom] = around.unwrap_or([x, y, x, y]);
            Some([left.min(x), top.min(y), right.max(x), bottom.max(y)])
        });
        let [left, top, right, bottom] = around.unwrap_or([0; 4]).map(|k| k as u16);
        [left, top, right - left + 1, bottom - top + 1]
    }

    /// The whole file.
    pub fn finish(self) -> Vec<u8> {
        self.encoder.into_inner().expect(IN_MEMORY)
    }
}

const IN_MEMORY: &str = "writing to memory cannot fail, and sizes are right";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::{Canvas, Color, Shape};

    fn palette(pictures: &[Raster]) -> Palette {
        let mut histogram = Histogram::new();
        pictures.iter().for_each(|picture| histogram.add(picture));
        Palette::new(histogram)
    }

    fn picture(x: f64) -> Raster {
        let mut canvas = Raster::new([40.0, 20.0], 1.0);
        canvas.fill(&Shape::Rectangle { corner: [x, 5.0], size: [6.0, 6.0] }, Color::hex(0xd4500c));
        canvas.fill(&Shape::Rectangle { corner: [0.0, 18.0], size: [40.0, 2.0] }, Color::hex(0x1f5fd0));
        canvas
    }

    #[test]
    fn pictures_come_back_as_they_were() {
        let pictures = [0.0, 3.0, 3.0, 30.0].map(picture);
        let mut film = Film::new(palette(&pictures), [40, 20]);
        pictures.iter().for_each(|picture| film.add(picture, 7));
        let bytes = film.finish();
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(&bytes[..]).unwrap();
        assert_eq!((decoder.width(), decoder.height(), decoder.repeat()), (40, 20, Repeat::Infinite));
        let mut screen = vec![[0; 3]; 40 * 20];
        for picture in &pictures {
            let frame = decoder.read_next_frame().unwrap().unwrap();
            assert_eq!(frame.delay, 7);
            for (k, pixel) in frame.buffer.as_chunks::<4>().0.iter().enumerate().filter(|(_, pixel)| pixel[3] > 0) {
                let wide = usize::from(frame.width);
                screen[40 * (usize::from(frame.top) + k / wide) + usize::from(frame.left) + k % wide] =
                    [pixel[0], pixel[1], pixel[2]];
            }
            // Three colours, so that the palette has them as they are.
            assert!(screen.iter().copied().eq(picture.colors()));
        }
        assert!(decoder.read_next_frame().unwrap().is_none());
    }

    #[test]
    fn a_picture_in_which_nothing_changed_is_one_pixel() {
        let still = picture(4.0);
        let mut film = Film::new(palette(std::slice::from_ref(&still)), [40, 20]);
        film.add(&still, 5);
        assert_eq!(film.changed(&film.palette.entries(&still)), [0, 0, 1, 1]);
        assert_eq!(film.changed(&film.palette.entries(&picture(5.0))), [4, 5, 7, 6]);
    }

    #[test]
    fn many_colours_are_near_one_of_the_palette() {
        let mut canvas = Raster::new([64.0, 64.0], 1.0);
        for (k, corner) in (0..4096).map(|k| (k, [f64::from(k % 64), f64::from(k / 64)])) {
            let color = Color::hex(((k as u32 % 64) << 18) | ((k as u32 / 64) << 10) | 0x40);
            canvas.fill(&Shape::Rectangle { corner, size: [1.0, 1.0] }, color);
        }
        let palette = palette(std::slice::from_ref(&canvas));
        assert_eq!(palette.colors.len(), COLORS);
        let far = canvas.colors().map(|color| {
            let shown = palette.colors[usize::from(palette.entries[bin(color)])];
            (0..3).map(|k| color[k].abs_diff(shown[k])).max().unwrap()
        });
        assert!(far.max().unwrap() <= 24);
    }
}
