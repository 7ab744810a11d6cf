//! What of the world is seen: the whole motion of the structure, at rest while the structure moves, and not stretched to
//! follow something that has flown away.

use super::motion::Motion;
use crate::plane::{inner, minus};
use crate::sinks::animation::Drawn;

/// From places of the world to places of a picture.
pub struct View {
    /// Corner and size of the part of the picture that shows the world.
    pub area: [[f64; 2]; 2],
    /// Lengths in the picture for a unit of length.
    pub scale: f64,
    origin: [f64; 2],
}

/// Space that stays free around the motion, for arrows; those of a one-dimensional model lie along it. Not more than a
/// share of the picture.
const ROOM: f64 = 56.0;
const ROOM_ALONG: f64 = 76.0;
const MOST_ROOM: f64 = 0.15;
/// Height of a bar of a one-dimensional model above the lower end of the area.
const FOOT: f64 = 58.0;
/// Share of the places that is left out at either end when it is asked where the structure mostly is.
const ODD: f64 = 0.05;

impl View {
    /// The view of a whole motion with magnified displacements.
    pub fn new(motion: &Motion, magnified: f64, area: [[f64; 2]; 2], lifted: bool) -> View {
        let scene = &motion.scene;
        let mut seen = Box2::of_motion(motion, magnified);
        // Outlines of a one-dimensional model stand across its line.
        let across = if scene.dimension == 1 { 0.0 } else { 1.0 };
        seen.take_obstacles(&scene.obstacles, [scene.length, across]);
        let [width, height] = [seen.high[0] - seen.low[0], seen.high[1] - seen.low[1]];
        let along = if scene.dimension == 1 { ROOM_ALONG } else { ROOM };
        let free = |side: f64, room: f64| side - 2.0 * room.min(MOST_ROOM * side);
        let [wide, tall] = [free(area[1][0], along), free(area[1][1], ROOM)];
        let across = if width > 0.0 { wide / width } else { f64::INFINITY };
        let up = if height > 0.0 && scene.dimension == 2 { tall / height } else { f64::INFINITY };
        // A single mass at rest has no extent of its own.
        let scale = Some(across.min(up)).filter(|scale| scale.is_finite()).unwrap_or(wide / scene.length.max(1e-300));
        let scale = if scale.is_finite() && scale > 0.0 { scale } else { 1.0 };
        let middle = [0, 1].map(|k| 0.5 * (seen.low[k] + seen.high[k]));
        let centre = [0, 1].map(|k| area[0][k] + 0.5 * area[1][k]);
        let line = if lifted { area[0][1] + area[1][1] - FOOT } else { centre[1] };
        let y = if scene.dimension == 1 { line } else { centre[1] + scale * middle[1] };
        View { area, scale, origin: [centre[0] - scale * middle[0], y] }
    }

    /// Where a place of the world is in the picture.
    pub fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.origin[0] + self.scale * x, self.origin[1] - self.scale * y]
    }

    /// Part of a line within the area and some space around it, as distances from the first point to its start and end. None if
    /// no part is visible, if the line has no finite length, or if its ends are so far away that rounding hides the part.
    pub fn visible(&self, from: [f64; 2], to: [f64; 2]) -> Option<[f64; 2]> {
        let way = [to[0] - from[0], to[1] - from[1]];
        let length = way[0].hypot(way[1]);
        let (mut start, mut end) = (0.0f64, length);
        for k in 0..2 {
            let direction = way[k] / length;
            let [low, high] = [self.area[0][k] - ROOM, self.area[0][k] + self.area[1][k] + ROOM];
            let [mut a, mut b] = [(low - from[k]) / direction, (high - from[k]) / direction];
            if a > b {
                (a, b) = (b, a);
            }
            // Along the other axis: all of it, or nothing.
            if direction == 0.0 {
                (a, b) = if (low..=high).contains(&from[k]) { (start, end) } else { return None };
            }
            (start, end) = (start.max(a), end.min(b));
        }
        let longest = (self.area[1][0] + 2.0 * ROOM).hypot(self.area[1][1] + 2.0 * ROOM);
        (start < end && end - start <= 2.0 * longest).then_some([start, end])
    }
}

/// A box around places.
#[derive(Clone, Copy)]
struct Box2 {
    low: [f64; 2],
    high: [f64; 2],
}

impl Box2 {
    const EMPTY: Box2 = Box2 { low: [f64::INFINITY; 2], high: [f64::NEG_INFINITY; 2] };

    fn take(&mut self, place: [f64; 2]) {
        for k in 0..2 {
            (self.low[k], self.high[k]) = (self.low[k].min(place[k]), self.high[k].max(place[k]));
        }
    }

    fn holds(&self, place: [f64; 2], around: f64) -> bool {
        (0..2).all(|k| (self.low[k] - around..=self.high[k] + around).contains(&place[k]))
    }

    fn diagonal(&self) -> f64 {
        (self.high[0] - self.low[0]).hypot(self.high[1] - self.low[1])
    }

    /// Around where everything begins, and where it comes within reach of the places at which the structure mostly is.
    /// The structure is what has elements; where nothing has, it is everything.
    fn of_motion(motion: &Motion, magnified: f64) -> Box2 {
        let scene = &motion.scene;
        let mut structure = vec![false; scene.places.len()];
        scene.segments.as_flattened().iter().for_each(|&node| structure[node] = true);
        if !structure.contains(&true) {
            structure.fill(true);
        }
        let all: Vec<Vec<[f64; 2]>> = motion.instants().map(|instant| motion.places(instant, magnified)).collect();
        let mut usual = Box2::EMPTY;
        for k in 0..2 {
            let places = all.iter().flat_map(|places| places.iter().zip(&structure).filter(|(_, own)| **own));
            let mut along: Vec<f64> = places.map(|(place, _)| place[k]).collect();
            along.sort_by(f64::total_cmp);
            if !along.is_empty() {
                let odd = (ODD * along.len() as f64) as usize;
                (usual.low[k], usual.high[k]) = (along[odd], along[along.len() - 1 - odd]);
            }
        }
        let reach = usual.diagonal().max(scene.length);
        let mut seen = Box2::EMPTY;
        all.first().into_iter().flatten().for_each(|&place| seen.take(place));
        all.iter().flatten().filter(|place| usual.holds(**place, reach)).for_each(|&place| seen.take(place));
        if seen.low[0] > seen.high[0] { Box2 { low: [0.0; 2], high: [0.0; 2] } } else { seen }
    }

    /// Obstacles too, as far as they are near: their corners, and where lines without end are nearest to the structure.
    fn take_obstacles(&mut self, obstacles: &[Drawn], [length, flat]: [f64; 2]) {
        let centre = [0, 1].map(|k| 0.5 * (self.low[k] + self.high[k]));
        let near = |[x, y]: [f64; 2]| (x - centre[0]).hypot(y - centre[1]) < 2.0 * length;
        for line in obstacles.iter().flat_map(|obstacle| &obstacle.lines) {
            let between = line.windows(2).map(|ends| nearest([ends[0], ends[1]], centre));
            for [x, y] in line.iter().copied().chain(between).filter(|&point| near(point)) {
                self.take([x, flat * y]);
            }
        }
    }
}

/// The point of a segment that is nearest to a place.
fn nearest([from, to]: [[f64; 2]; 2], place: [f64; 2]) -> [f64; 2] {
    let way = minus(to, from);
    let share = (inner(minus(place, from), way) / inner(way, way)).clamp(0.0, 1.0);
    if share.is_nan() { from } else { [from[0] + share * way[0], from[1] + share * way[1]] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_visible_part_of_a_line_is_no_longer_than_the_area() {
        let view = View { area: [[0.0, 40.0], [800.0, 370.0]], scale: 1.0, origin: [0.0; 2] };
        let close = |[a, b]: [f64; 2], [c, d]: [f64; 2]| (a - c).abs() < 1e-9 && (b - d).abs() < 1e-9;
        let across = view.visible([-1000.0, 100.0], [1000.0, 100.0]).unwrap();
        assert!(close(across, [1000.0 - ROOM, 1800.0 + ROOM]), "{across:?}");
        let within = view.visible([10.0, 100.0], [40.0, 140.0]).unwrap();
        assert!(close(within, [0.0, 50.0]), "{within:?}");
        assert!(view.visible([0.0, -1000.0], [800.0, -1000.0]).is_none());
        assert!(view.visible([5.0, 50.0], [5.0, 50.0]).is_none());
        // Far ends: rounding may hide the line, but must not make its visible part long, and hatching endless.
        for far in [1e9, 1e17, 1e30, 1e200, f64::MAX, f64::INFINITY, f64::NAN] {
            for (from, to) in [([-far, 50.0], [far, 60.0]), ([-far, -far], [far, far]), ([0.0, 50.0], [far, 50.0])] {
                let length = view.visible(from, to).map_or(0.0, |[start, end]| end - start);
                assert!(length <= 2000.0, "{from:?} to {to:?}: {length}");
            }
        }
    }
}
