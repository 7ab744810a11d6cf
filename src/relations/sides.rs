//! On which side of what it may touch a node is: decided once and kept in the state, because a position behind a surface alone
//! does not tell whether the node was pushed through it or came around its end, (T136).

use crate::obstacles::{Obstacle, Region, Surface};
use crate::plane::minus;
use crate::state::StoredSide;

/// The stored sides of one node and one contact, in the order of chains.
pub(super) fn stored_for(sides: &[StoredSide], group: u32, node: usize) -> &[StoredSide] {
    let at = (group, node as u32);
    let first = sides.partition_point(|stored| (stored.key.group, stored.key.node) < at);
    let count = sides[first..].iter().take_while(|stored| (stored.key.group, stored.key.node) == at).count();
    &sides[first..first + count]
}

/// Positions of a point in one step, as a rigid obstacle sees them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// At the start of the step.
    pub start: [f64; 2],
    /// At its middle, where gradients are taken, by the velocity at its start.
    pub middle: [f64; 2],
    /// At its end, by that velocity.
    pub end: [f64; 2],
}

impl Path {
    /// Of a point at these positions, the obstacle displaced by `shifts` at the same instants.
    pub fn new(positions: [[f64; 2]; 3], shifts: [[f64; 2]; 3]) -> Path {
        let [start, middle, end] = [0, 1, 2].map(|k| minus(positions[k], shifts[k]));
        Path { start, middle, end }
    }
}

/// The surface that a point faces, of an obstacle that has one for every position, and the side of the point.
pub(super) fn surface_at_obstacle(
    obstacle: &dyn Obstacle,
    path: &Path,
    stored: Option<&StoredSide>,
    first: bool,
) -> (Surface, i8) {
    let mut found = Surface::corner(path.middle);
    let region = obstacle.surfaces(path.middle, f64::INFINITY, &mut |_, surface| found = surface);
    let side = side_at_obstacle(obstacle, path, region, f64::INFINITY, stored, first);
    if let (Region::Behind(nearest), 1) = (region, side) {
        obstacle.surfaces_behind(path.middle, nearest, &mut |_, surface| found = surface);
    }
    (found, side)
}

/// The side of a point at a rigid obstacle in one step: 1 in front, or held behind; −1 behind without being held; 0 beyond a free
/// end, or far. `region` is that of the middle of the step, `stored` the side in the last step, `first` says that there was
/// none.
pub(super) fn side_at_obstacle(
    obstacle: &dyn Obstacle,
    path: &Path,
    region: Region,
    limit: f64,
    stored: Option<&StoredSide>,
    first: bool,
) -> i8 {
    let sign = |is_held: bool| if is_held { 1 } else { -1 };
    match region {
        Region::Far => 0,
        Region::Front => 1,
        Region::Behind(_) => sign(match obstacle.surfaces(path.start, limit, &mut |_, _| ()) {
            Region::Front => true,
            Region::Behind(_) => stored.map_or(first, |stored| stored.side > 0),
            Region::Beyond | Region::Far => obstacle.entry(path.start, path.middle).is_some(),
        }),
        Region::Beyond => match obstacle.surfaces(path.end, limit, &mut |_, _| ()) {
            Region::Front => 1,
            Region::Behind(_) => sign(obstacle.entry(path.start, path.end).is_some()),
            Region::Beyond | Region::Far => 0,
        },
    }
}
