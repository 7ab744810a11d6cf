//! Outlines of letters from the font that is part of the program: DejaVu Sans, plain and bold, cut down to Latin, Greek
//! and a few signs. No font of the system is needed.
//!
//! The reader knows as much of TrueType as these two files need (character map of format 4, short offsets, outlines of
//! quadratic curves, composed letters that are shifted and not turned); a test walks through every letter of both.

use super::Weight;
use tiny_skia::PathBuilder;

/// A font file.
#[derive(Clone, Copy)]
struct Font(&'static [u8]);

static PLAIN: Font = Font(include_bytes!("font/DejaVuSans.ttf"));
static BOLD: Font = Font(include_bytes!("font/DejaVuSans-Bold.ttf"));

/// The font of a weight.
fn font(weight: Weight) -> Font {
    match weight {
        Weight::Plain => PLAIN,
        Weight::Bold => BOLD,
    }
}

/// Flags of a point of an outline.
const ON_CURVE: u8 = 1;
const REPEATED: u8 = 8;
/// Flags of a coordinate, by axis: one byte long; and then positive, or else the same as before.
const SHORT: [u8; 2] = [2, 4];
const SAME: [u8; 2] = [16, 32];
/// Flags of a part of a composed letter.
const WORDS: u16 = 1;
const MORE: u16 = 32;

/// Width of some words in letters of a size.
pub fn width(words: &str, size: f64, weight: Weight) -> f64 {
    let font = font(weight);
    words.chars().map(|letter| font.advance(font.glyph(letter))).sum::<f64>() * size / font.units()
}

/// Adds the outlines of some words to a path, from the origin to the right, y down.
pub(super) fn outline(words: &str, size: f64, weight: Weight, path: &mut PathBuilder) {
    let font = font(weight);
    let scale = size / font.units();
    let mut at = 0.0;
    for letter in words.chars() {
        let glyph = font.glyph(letter);
        font.trace(glyph, [at, 0.0], &mut |place| place.map(|x| (x * scale) as f32), path);
        at += font.advance(glyph);
    }
}

impl Font {
    fn u16(self, at: usize) -> u16 {
        u16::from_be_bytes([self.0[at], self.0[at + 1]])
    }

    fn i16(self, at: usize) -> i16 {
        self.u16(at) as i16
    }

    fn u32(self, at: usize) -> usize {
        usize::from(self.u16(at)) << 16 | usize::from(self.u16(at + 2))
    }

    /// Where a table begins.
    fn table(self, tag: &[u8; 4]) -> usize {
        let entries = (0..usize::from(self.u16(4))).map(|k| 12 + 16 * k);
        let mut entries = entries.filter(|&at| self.0[at..at + 4] == *tag);
        self.u32(entries.next().expect("our fonts have all tables") + 8)
    }

    /// Units per height of a line.
    fn units(self) -> f64 {
        f64::from(self.u16(self.table(b"head") + 18))
    }

    /// Number of a letter; of an empty place if there is none.
    fn glyph(self, letter: char) -> usize {
        let Ok(letter) = u16::try_from(u32::from(letter)) else { return 0 };
        let cmap = self.table(b"cmap");
        let maps = (0..usize::from(self.u16(cmap + 2))).map(|k| cmap + self.u32(cmap + 8 + 8 * k));
        let map = maps.into_iter().find(|&at| self.u16(at) == 4).expect("our fonts have a map of format 4");
        let twice = usize::from(self.u16(map + 6));
        let [ends, starts, deltas, offsets] = [14, 16 + twice, 16 + 2 * twice, 16 + 3 * twice].map(|at| map + at);
        let range =
            (0..twice).step_by(2).find(|k| self.u16(ends + k) >= letter).filter(|k| self.u16(starts + k) <= letter);
        let Some(k) = range else { return 0 };
        let delta = self.u16(deltas + k);
        match usize::from(self.u16(offsets + k)) {
            0 => usize::from(letter.wrapping_add(delta)),
            offset => match self.u16(offsets + k + offset + 2 * usize::from(letter - self.u16(starts + k))) {
                0 => 0,
                glyph => usize::from(glyph.wrapping_add(delta)),
            },
        }
    }

    /// How far the next letter is.
    fn advance(self, glyph: usize) -> f64 {
        let kept = usize::from(self.u16(self.table(b"hhea") + 34));
        f64::from(self.u16(self.table(b"hmtx") + 4 * glyph.min(kept - 1)))
    }

    /// Adds the outline of a letter, shifted, to a path; `place` turns units with y up into places of the path.
    fn trace(self, glyph: usize, shift: [f64; 2], place: &mut dyn FnMut([f64; 2]) -> [f32; 2], path: &mut PathBuilder) {
        let offset = |k: usize| 2 * usize::from(self.u16(self.table(b"loca") + 2 * k));
        if offset(glyph) == offset(glyph + 1) {
            return;
        }
        let at = self.table(b"glyf") + offset(glyph);
        match usize::try_from(self.i16(at)) {
            Ok(contours) => self.trace_simple(at + 10, contours, shift, place, path),
            Err(_) => self.trace_parts(at + 10, shift, place, path),
        }
    }

    fn trace_parts(
        self,
        mut at: usize,
        shift: [f64; 2],
        place: &mut dyn FnMut([f64; 2]) -> [f32; 2],
        path: &mut PathBuilder,
    ) {
        loop {
            let (flags, glyph) = (self.u16(at), usize::from(self.u16(at + 2)));
            let by = match flags & WORDS {
                0 => [4, 5].map(|k| f64::from(self.0[at + k] as i8)),
                _ => [4, 6].map(|k| f64::from(self.i16(at + k))),
            };
            self.trace(glyph, [shift[0] + by[0], shift[1] + by[1]], place, path);
            if flags & MORE == 0 {
                return;
            }
            at += if flags & WORDS == 0 { 6 } else { 8 };
        }
    }

    fn trace_simple(
        self,
        at: usize,
        contours: usize,
        shift: [f64; 2],
        place: &mut dyn FnMut([f64; 2]) -> [f32; 2],
        path: &mut PathBuilder,
    ) {
        let ends: Vec<usize> = (0..contours).map(|k| usize::from(self.u16(at + 2 * k)) + 1).collect();
        let count = ends.last().copied().unwrap_or(0);
        let mut at = at + 2 * contours;
        at += 2 + usize::from(self.u16(at));
        let mut flags = Vec::with_capacity(count);
        while flags.len() < count {
            let flag = self.0[at];
            let times = if flag & REPEATED == 0 { 1 } else { 1 + usize::from(self.0[at + 1]) };
            at += if flag & REPEATED == 0 { 1 } else { 2 };
            flags.extend(std::iter::repeat_n(flag, times));
        }
        let mut places = vec![[0.0; 2]; count];
        for axis in 0..2 {
            let mut value = 0;
            for (flag, place) in flags.iter().zip(&mut places) {
                match (flag & SHORT[axis] != 0, flag & SAME[axis] != 0) {
                    (true, positive) => {
                        value += i32::from(self.0[at]) * if positive { 1 } else { -1 };
                        at += 1;
                    }
                    (false, true) => {}
                    (false, false) => {
                        value += i32::from(self.i16(at));
                        at += 2;
                    }
                }
                place[axis] = f64::from(value) + shift[axis];
            }
        }
        let mut first = 0;
        for end in ends {
            contour(&flags[first..end], &places[first..end], place, path);
            first = end;
        }
    }
}

/// Adds a closed curve. Between two points off the curve there is one on it, half-way.
fn contour(flags: &[u8], places: &[[f64; 2]], place: &mut dyn FnMut([f64; 2]) -> [f32; 2], path: &mut PathBuilder) {
    let half = |a: [f64; 2], b: [f64; 2]| [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])];
    let mut down = |[x, y]: [f64; 2]| place([x, -y]);
    let Some(start) = flags.iter().position(|flag| flag & ON_CURVE != 0) else { return };
    let [x, y] = down(places[start]);
    path.move_to(x, y);
    let mut control: Option<[f64; 2]> = None;
    for k in (start + 1..places.len()).chain(0..=start) {
        let (on, here) = (flags[k] & ON_CURVE != 0, places[k]);
        match (control, on) {
            (None, true) => {
                let [x, y] = down(here);
                path.line_to(x, y);
            }
            (None, false) => control = Some(here),
            (Some(by), _) => {
                let ([a, b], [x, y]) = (down(by), down(if on { here } else { half(by, here) }));
                path.quad_to(a, b, x, y);
                control = (!on).then_some(here);
            }
        }
    }
    path.close();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // Advance widths of DejaVu Sans 2.37 in units of 1/2048: A 1401, space 651, minus sign U+2212 1716; bold A 1585.
        assert_eq!(width("A", 2048.0, Weight::Plain), 1401.0);
        assert_eq!(width("A \u{2212}", 2048.0, Weight::Plain), 1401.0 + 651.0 + 1716.0);
        assert_eq!(width("A", 2048.0, Weight::Bold), 1585.0);
    }

    #[test]
    fn every_letter_has_an_outline_within_its_line() {
        for weight in [Weight::Plain, Weight::Bold] {
            let mut drawn = 0;
            for letter in (1..=0xffff).filter_map(char::from_u32).filter(|&letter| font(weight).glyph(letter) != 0) {
                let mut path = PathBuilder::new();
                outline(&letter.to_string(), 100.0, weight, &mut path);
                let Some(path) = path.finish() else { continue };
                let bounds = path.bounds();
                assert!(bounds.left() > -60.0 && bounds.right() < 160.0, "{letter:?}: {bounds:?}");
                assert!(bounds.top() > -125.0 && bounds.bottom() < 45.0, "{letter:?}: {bounds:?}");
                drawn += 1;
            }
            assert!(drawn > 200, "{drawn}");
        }
    }

    #[test]
    fn letters_are_where_they_belong() {
        // The letter l is a bar from the foot to 1556 of 2048 units; a letter with an accent is composed of two.
        let bounds = |words: &str| {
            let mut path = PathBuilder::new();
            outline(words, 2048.0, Weight::Plain, &mut path);
            path.finish().unwrap().bounds()
        };
        assert_eq!((bounds("l").top(), bounds("l").bottom()), (-1556.0, 0.0));
        assert!(bounds("é").top() < bounds("e").top() - 200.0);
        assert_eq!(bounds("é").bottom(), bounds("e").bottom());
        assert!(bounds("al").right() > bounds("a").right() + 300.0);
    }

    #[test]
    fn what_the_font_does_not_have_leaves_a_gap() {
        for letter in ["\u{6c34}", "\u{1f600}"] {
            let mut path = PathBuilder::new();
            outline(letter, 10.0, Weight::Plain, &mut path);
            assert!(path.finish().is_none() && width(letter, 10.0, Weight::Plain) > 5.0);
        }
    }
}
