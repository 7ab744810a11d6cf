//! One picture of a film: obstacles, bodies with their colours, supports, contact forces, time. It draws like the report's
//! `stage.js`, for eyes that cannot turn knobs.

use super::motion::{Instant, Motion, Quantity, force};
use super::view::View;
use crate::canvas::{Anchor, Canvas, Color, Letters, Pen, Shape, WHITE, Weight, mix, width};
use crate::sinks::animation::{Actor, Drawn};

const ACCENT: Color = Color::hex(0x1f5fd0);
const SOLID: Color = Color::hex(0x8a95a5);
const MUTED: Color = Color::hex(0x5b6675);
const FORCE: Color = Color::hex(0x9c36b5);
const GRID: Color = Color::hex(0xd8dee7);
/// Masses where colours show what only bodies with elements have.
const PLAIN: Color = Color::hex(0xaab4c2);
const MIDDLE: Color = Color::hex(0xc5ccd6);
const HOT: Color = Color::hex(0xb3151f);
/// Colours of values on either side of zero, and of sizes.
const SIGNED: [Color; 3] = [Color::hex(0x1450b8), MIDDLE, HOT];
const SIZES: [Color; 3] = [MIDDLE, Color::hex(0xe07b1a), HOT];

/// Heights of the lines above and below the stage.
const HEAD: f64 = 40.0;
const FOOT: f64 = 32.0;
/// Distance of the lines from the edge of the picture.
const EDGE: f64 = 16.0;
/// Height of a bar of a one-dimensional model.
const BAND: f64 = 30.0;
/// Size of letters other than title and time.
const SMALL: f64 = 12.0;
/// Contact forces in a frame up to which arrows have numbers.
const FEW: usize = 4;
/// Arrows by the number of contact forces up to which they are so: size of the head, length of the shortest and what the
/// longest has more, width. Many are small, or they would bury the picture.
const ARROWS: [(usize, f64, [f64; 2], f64); 3] =
    [(8, 1.0, [12.0, 34.0], 3.0), (60, 0.6, [7.0, 18.0], 1.5), (usize::MAX, 0.45, [5.0, 9.0], 1.0)];
/// Displacements that are less than this share of the model are magnified, to about the other share, where nothing can be
/// touched: magnified bodies would go through what they touch.
const UNSEEN: f64 = 0.01;
const SEEN: f64 = 0.04;

/// Draws a motion at any of its instants.
pub struct Stage {
    motion: Motion,
    title: String,
    size: [f64; 2],
    view: View,
    magnified: f64,
    quantity: Option<Quantity>,
    /// Whether a curve of the quantity stands above a one-dimensional model.
    lifted: bool,
    strong_force: f64,
    most_contacts: usize,
    /// Number of segments that meet at the place of every node.
    degrees: Vec<usize>,
}

impl Stage {
    /// A stage of some width and height for a motion.
    pub fn new(motion: Motion, title: &str, size: [f64; 2]) -> Stage {
        let scene = &motion.scene;
        let quantity = motion.quantity();
        let solid = |body: &Actor| !body.link && body.segments[1] > 0;
        let lifted = scene.dimension == 1 && quantity.is_some() && scene.bodies.iter().any(solid);
        let magnified = if scene.bodies.iter().any(solid) { magnification(&motion) } else { 1.0 };
        let view = View::new(&motion, magnified, [[0.0, HEAD], [size[0], size[1] - HEAD - FOOT]], lifted);
        // Bodies that are welded have nodes of their own at one place.
        let mut places: Vec<[u64; 2]> =
            scene.segments.as_flattened().iter().map(|&node| scene.places[node].map(f64::to_bits)).collect();
        places.sort_unstable();
        let meeting = |place: &[f64; 2]| {
            let place = place.map(f64::to_bits);
            places.partition_point(|other| *other <= place) - places.partition_point(|other| *other < place)
        };
        Stage {
            degrees: scene.places.iter().map(meeting).collect(),
            title: title.into(),
            strong_force: motion.strong_force(),
            most_contacts: motion.most_contacts(),
            size,
            view,
            magnified,
            quantity,
            lifted,
            motion,
        }
    }

    /// Time of the last picture.
    pub fn end(&self) -> f64 {
        self.motion.end()
    }

    /// Draws the picture at a time on an empty canvas.
    pub fn draw(&self, canvas: &mut dyn Canvas, time: f64) {
        let now = self.motion.at(time);
        let world = self.motion.places(now, self.magnified);
        let places: Vec<[f64; 2]> = world.iter().map(|&place| self.view.place(place)).collect();
        let scene = &self.motion.scene;
        canvas.clip(Some(self.view.area));
        for (k, obstacle) in scene.obstacles.iter().enumerate() {
            let shift = self.motion.shift(now, k).map(|u| self.magnified * u);
            self.draw_obstacle(canvas, obstacle, shift);
        }
        if self.lifted
            && let Some(quantity) = &self.quantity
        {
            self.draw_profile(canvas, quantity, now, &places);
        }
        for body in &scene.bodies {
            self.draw_body(canvas, body, now, &places);
        }
        scene.supports.iter().for_each(|&node| self.draw_support(canvas, places[node]));
        scene.probes.iter().for_each(|probe| {
            let dot = Shape::Circle { centre: places[probe.node], radius: 3.0 };
            canvas.fill(&dot, WHITE);
            canvas.stroke(&dot, &Pen::new(Letters::PLAIN.color, 1.5));
        });
        self.draw_forces(canvas, now, &places);
        canvas.clip(None);
        self.draw_words(canvas, time);
    }

    fn flat(&self) -> bool {
        self.motion.scene.dimension == 1
    }

    fn color(&self, share: f64, quantity: &Quantity) -> Color {
        if quantity.signed { mix(&SIGNED, 0.5 + 0.5 * share) } else { mix(&SIZES, share) }
    }

    /// Colour of a segment.
    fn segment_color(&self, now: Instant, segment: usize) -> Color {
        let Some(quantity) = &self.quantity else { return ACCENT };
        let value = |entry: usize| self.motion.value(now, quantity, entry);
        let [i, j] = self.motion.scene.segments[segment];
        let value = if quantity.on_segments { value(segment) } else { 0.5 * (value(i) + value(j)) };
        self.color(value / quantity.most, quantity)
    }

    fn draw_body(&self, canvas: &mut dyn Canvas, body: &Actor, now: Instant, places: &[[f64; 2]]) {
        let [first, count] = body.segments;
        let scene = &self.motion.scene;
        let thick = (2.0 * body.half_height * self.view.scale).clamp(if self.flat() { BAND } else { 4.0 }, 44.0);
        if count == 0 && body.nodes[1] > 0 {
            return self.draw_mass(canvas, body, now, places);
        }
        let ends = |k: usize| scene.segments[k].map(|node| places[node]);
        if body.link {
            (first..first + count).for_each(|k| draw_spring(canvas, ends(k), self.segment_color(now, k)));
        } else if self.flat() {
            for k in first..first + count {
                let [[a, y], [b, _]] = ends(k);
                // A little more on either side closes the seams that smooth edges would leave.
                let [left, right] = [a.min(b) - 0.5, a.max(b) + 0.5];
                let [top, bottom] = [y - 0.5 * thick, y + 0.5 * thick];
                let piece = [[left, top], [right, top], [right, bottom], [left, bottom]];
                canvas.fill(&Shape::Polygon(&piece), self.segment_color(now, k));
            }
            let along = (first..first + count).flat_map(ends);
            let (low, high) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), [x, _]| (a.min(x), b.max(x)));
            let y = ends(first)[0][1];
            let frame =
                [[low, y - 0.5 * thick], [high, y - 0.5 * thick], [high, y + 0.5 * thick], [low, y + 0.5 * thick]];
            canvas.stroke(&Shape::Polygon(&frame), &Pen::new(SOLID, 1.0));
        } else {
            // Discs close the gaps between straight pieces; the pieces then cover what of the discs is not a gap.
            for k in first..first + count {
                for node in scene.segments[k].into_iter().filter(|&node| self.degrees[node] > 1) {
                    let disc = Shape::Circle { centre: places[node], radius: 0.5 * thick };
                    canvas.fill(&disc, self.segment_color(now, k));
                }
            }
            for k in first..first + count {
                canvas.stroke(&Shape::Line(&ends(k)), &Pen::new(self.segment_color(now, k), thick));
            }
        }
    }

    fn draw_mass(&self, canvas: &mut dyn Canvas, body: &Actor, now: Instant, places: &[[f64; 2]]) {
        let node = body.nodes[0];
        let radius = match self.view.scale * body.half_height {
            radius if radius > 0.0 => radius.max(2.0),
            _ if self.flat() => 0.5 * BAND,
            _ => 8.0,
        };
        let color = match &self.quantity {
            Some(quantity) if !quantity.on_segments => {
                self.color(self.motion.value(now, quantity, node) / quantity.most, quantity)
            }
            Some(_) => PLAIN,
            None => ACCENT,
        };
        let disc = Shape::Circle { centre: places[node], radius };
        canvas.fill(&disc, color);
        canvas.stroke(&disc, &Pen::new(MUTED, 1.0));
    }

    fn draw_support(&self, canvas: &mut dyn Canvas, [x, y]: [f64; 2]) {
        let top = if self.flat() { y + 0.5 * BAND } else { y };
        let triangle = [[x, top], [x - 7.0, top + 12.0], [x + 7.0, top + 12.0]];
        canvas.fill(&Shape::Polygon(&triangle), WHITE);
        canvas.stroke(&Shape::Polygon(&triangle), &Pen::new(MUTED, 1.5));
        let ground = [[x - 10.0, top + 15.0], [x + 10.0, top + 15.0]];
        canvas.stroke(&Shape::Line(&ground), &Pen::new(MUTED, 1.5));
    }

    fn draw_obstacle(&self, canvas: &mut dyn Canvas, obstacle: &Drawn, shift: [f64; 2]) {
        for line in &obstacle.lines {
            let points: Vec<[f64; 2]> = line.iter().map(|&[x, y]| self.edge([x + shift[0], y + shift[1]])).collect();
            // Closed round the solid, which is on the right; the picture's second axis points down.
            let twice: f64 = points.windows(2).map(|pair| pair[0][0] * pair[1][1] - pair[1][0] * pair[0][1]).sum();
            if line.len() > 3 && line.first() == line.last() && twice > 0.0 {
                canvas.fill(&Shape::Polygon(&points), SOLID.faded(0.3));
                canvas.stroke(&Shape::Polygon(&points), &Pen::new(SOLID, 2.5));
            } else {
                self.draw_solid(canvas, &points);
            }
        }
    }

    /// Where a point of an outline is in the picture; walls of a one-dimensional model are as high as a bar and a half.
    fn edge(&self, place: [f64; 2]) -> [f64; 2] {
        if !self.flat() {
            return self.view.place(place);
        }
        let [x, foot] = self.view.place([place[0], 0.0]);
        [x, foot - (self.view.scale * place[1]).clamp(-1.5 * BAND, 1.5 * BAND)]
    }

    /// A rigid line, hatched on its right: the structure is on its left.
    fn draw_solid(&self, canvas: &mut dyn Canvas, points: &[[f64; 2]]) {
        const STEP: f64 = 9.0;
        for pair in points.windows(2) {
            let [from, to] = [pair[0], pair[1]];
            let Some([start, end]) = self.view.visible(from, to) else { continue };
            let length = (to[0] - from[0]).hypot(to[1] - from[1]);
            let way = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
            let at = |s: f64, deep: f64| [from[0] + s * way[0] - deep * way[1], from[1] + s * way[1] + deep * way[0]];
            // Counted from the first point, so that the hatching moves with the line.
            for k in (start / STEP).ceil() as i64..=(end / STEP).floor() as i64 {
                let s = STEP * k as f64;
                canvas.stroke(&Shape::Line(&[at(s, 1.0), at(s - STEP, 10.0)]), &Pen::new(SOLID.faded(0.7), 1.0));
            }
            canvas.stroke(&Shape::Line(&[at(start, 0.0), at(end, 0.0)]), &Pen::new(SOLID, 2.5).round());
        }
    }

    /// Arrows end where they push.
    fn draw_forces(&self, canvas: &mut dyn Canvas, now: Instant, places: &[[f64; 2]]) {
        let contacts = self.motion.contacts(now);
        let (_, size, [least, more], wide) =
            ARROWS.into_iter().find(|arrow| self.most_contacts <= arrow.0).expect("the last one is for any number");
        let pen = Pen::new(FORCE, wide).round();
        for contact in contacts {
            let force = force(contact);
            let &(node, fx, fy) = contact;
            let [dx, dy] = [f64::from(fx) / force, -f64::from(fy) / force];
            if !(dx.is_finite() && dy.is_finite()) {
                continue;
            }
            let [x, y] = places[node];
            let back = |s: f64, side: f64| [x - s * dx - side * dy, y - s * dy + side * dx];
            let length = least + more * (force / self.strong_force).min(1.0);
            canvas.stroke(&Shape::Line(&[back(length, 0.0), back(5.0 * size, 0.0)]), &pen);
            let head = [[x, y], back(10.0 * size, 5.0 * size), back(10.0 * size, -5.0 * size)];
            canvas.fill(&Shape::Polygon(&head), FORCE);
            if contacts.len() <= FEW {
                let words = number(force);
                // Beyond the tail; on a line below it, because there may be no room along it.
                let half = 0.5 * width(&words, SMALL, Weight::Plain);
                let beyond = length + 6.0 + dx.abs() * half + 6.0 * dy.abs();
                let [tx, ty] = if self.flat() { back(length, 0.0) } else { back(beyond, 0.0) };
                self.write(canvas, &words, [tx, ty + if self.flat() { 31.0 } else { 4.0 }], FORCE);
            }
        }
    }

    /// Small words that stay in the picture.
    fn write(&self, canvas: &mut dyn Canvas, words: &str, [x, y]: [f64; 2], color: Color) {
        let half = 0.5 * width(words, SMALL, Weight::Plain) + 4.0;
        let [[left, top], [wide, tall]] = self.view.area;
        let at = [x.max(left + half).min(left + wide - half), y.max(top + 12.0).min(top + tall - 4.0)];
        canvas.text(words, at, &Letters { size: SMALL, color, anchor: Anchor::Middle, ..Letters::PLAIN });
    }

    /// The coloured quantity as a curve above the line.
    fn draw_profile(&self, canvas: &mut dyn Canvas, quantity: &Quantity, now: Instant, places: &[[f64; 2]]) {
        let scene = &self.motion.scene;
        let foot = self.view.place([0.0, 0.0])[1];
        let [top, bottom] = [self.view.area[0][1] + 8.0, foot - 0.5 * BAND - 40.0];
        let zero = if quantity.signed { 0.5 * (top + bottom) } else { bottom };
        // Beyond the scale of colours there is a little room, and then an end.
        let height = |value: f64| zero - (value / quantity.most).clamp(-1.2, 1.2) * (zero - top) / 1.2;
        let ends = [[EDGE, zero], [self.size[0] - EDGE, zero]];
        canvas.stroke(&Shape::Line(&ends), &Pen::new(GRID, 1.0).dashed(2.0, 4.0));
        for body in scene.bodies.iter().filter(|body| !body.link) {
            let value = |entry: usize| height(self.motion.value(now, quantity, entry));
            let mut points = Vec::new();
            for k in body.segments[0]..body.segments[0] + body.segments[1] {
                let [i, j] = scene.segments[k];
                match quantity.on_segments {
                    true => points.push([0.5 * (places[i][0] + places[j][0]), value(k)]),
                    false => points.extend([i, j].map(|node| [places[node][0], value(node)])),
                }
            }
            canvas.stroke(&Shape::Line(&points), &Pen::new(Letters::PLAIN.color, 1.8).round());
        }
    }

    /// Title, time, and what the colours mean.
    fn draw_words(&self, canvas: &mut dyn Canvas, time: f64) {
        let [wide, tall] = self.size;
        let clock = format!("t = {}", instant(time, self.end()));
        let room = wide - 3.0 * EDGE - width(&format!("t = {}", instant(self.end(), self.end())), 14.0, Weight::Plain);
        let clock_letters = Letters { size: 14.0, ..Letters::PLAIN.anchored(Anchor::End) };
        canvas.text(&shortened(&self.title, room), [EDGE, 26.0], &Letters::PLAIN.heading(15.0));
        canvas.text(&clock, [wide - EDGE, 26.0], &clock_letters);
        let small = Letters { size: SMALL, color: MUTED, ..Letters::PLAIN };
        let line = tall - 13.0;
        if self.magnified != 1.0 {
            let words = format!("displacements × {}", self.magnified);
            canvas.text(&words, [wide - EDGE, line], &small.anchored(Anchor::End));
        }
        let Some(quantity) = &self.quantity else { return };
        let beyond = |sign: &str| if quantity.exceeded { format!("{sign} ") } else { String::new() };
        let low = if quantity.signed { format!("{}{}", beyond("≤"), number(-quantity.most)) } else { "0".into() };
        let mut x = EDGE;
        for words in [&quantity.name, &low] {
            canvas.text(words, [x, line], &small);
            x += width(words, SMALL, Weight::Plain) + 12.0;
        }
        const SLICES: usize = 48;
        for k in 0..SLICES {
            let share = (k as f64 + 0.5) / SLICES as f64;
            let color = self.color(if quantity.signed { 2.0 * share - 1.0 } else { share }, quantity);
            canvas.fill(&Shape::Rectangle { corner: [x + 3.0 * k as f64, line - 9.0], size: [3.0, 10.0] }, color);
        }
        let high = format!("{}{}", beyond("≥"), number(quantity.most));
        canvas.text(&high, [x + 3.0 * SLICES as f64 + 12.0, line], &small);
    }
}

fn draw_spring(canvas: &mut dyn Canvas, [from, to]: [[f64; 2]; 2], color: Color) {
    const TURNS: usize = 8;
    let way = [to[0] - from[0], to[1] - from[1]];
    let length = way[0].hypot(way[1]).max(1e-9);
    let across = [-7.0 * way[1] / length, 7.0 * way[0] / length];
    let turn = |k: usize| {
        let share = 0.15 + 0.7 * k as f64 / (2 * TURNS) as f64;
        let side = if k == 0 || k == 2 * TURNS {
            0.0
        } else if k % 2 == 1 {
            1.0
        } else {
            -1.0
        };
        [0, 1].map(|axis| from[axis] + share * way[axis] + side * across[axis])
    };
    let points: Vec<[f64; 2]> = std::iter::once(from).chain((0..=2 * TURNS).map(turn)).chain([to]).collect();
    canvas.stroke(&Shape::Line(&points), &Pen::new(color, 2.0).round());
}

/// How much displacements are magnified: not at all if they can be seen, else by 1, 2 or 5 times a power of ten.
fn magnification(motion: &Motion) -> f64 {
    if !motion.scene.obstacles.is_empty() || motion.most_contacts() > 0 {
        return 1.0;
    }
    let share = motion.longest_way() / motion.scene.length;
    if !(share > 0.0 && share < UNSEEN && (SEEN / share).is_finite()) {
        return 1.0;
    }
    let wanted = SEEN / share;
    let power = 10f64.powi(wanted.log10().floor() as i32);
    [5.0, 2.0].into_iter().find(|digit| digit * power <= wanted).unwrap_or(1.0) * power
}

/// A time with as many digits as tell frames apart, the same number in all of them.
fn instant(time: f64, end: f64) -> String {
    let size = if end > 0.0 { end.log10().floor() as i32 } else { 0 };
    if (-4..6).contains(&size) { format!("{time:.*}", (3 - size).clamp(0, 6) as usize) } else { format!("{time:.3e}") }
}

/// A number of four digits.
fn number(value: f64) -> String {
    let size = value.abs();
    let text = match size {
        0.0 => "0".into(),
        1e-3..1e6 => format!("{value:.*}", (3 - size.log10().floor() as i32).max(0) as usize),
        _ => format!("{value:.3e}"),
    };
    let (digits, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    format!("{digits}{exponent}").replace('-', "\u{2212}")
}

/// A heading that is not wider than there is room.
fn shortened(words: &str, room: f64) -> String {
    let fits = |words: &str| width(words, 15.0, Weight::Bold) <= room;
    if fits(words) {
        return words.into();
    }
    let mut kept: Vec<char> = words.chars().collect();
    while kept.pop().is_some() {
        let shorter = format!("{}…", kept.iter().collect::<String>().trim_end());
        if fits(&shorter) {
            return shorter;
        }
    }
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_short() {
        let figures =
            [(0.0, "0"), (1234.56, "1235"), (-0.5, "\u{2212}0.5"), (2.0, "2"), (1.5e9, "1.5e9"), (3e-7, "3e\u{2212}7")];
        for (value, text) in figures {
            assert_eq!(number(value), text);
        }
        assert_eq!(
            (instant(0.5, 3.0), instant(3.0, 3.0), instant(12.0, 250.0)),
            ("0.500".into(), "3.000".into(), "12.0".into())
        );
        assert_eq!((instant(0.0, 0.0), instant(1e-7, 2e-7)), ("0.000".into(), "1.000e-7".into()));
    }

    #[test]
    fn a_heading_ends_where_the_room_does() {
        assert_eq!(shortened("short", 400.0), "short");
        let cut = shortened("a title that is far too long for the picture", 120.0);
        assert!(cut.starts_with("a title") && cut.ends_with('…') && width(&cut, 15.0, Weight::Bold) <= 120.0, "{cut}");
        assert_eq!(shortened("nothing", 1.0), "");
    }
}
