//! Plots of a first-order system: states, multipliers with their duals, constraints, storage, phase plots.

use super::{Kind, Plan};

/// States and laws that get plots of their own; a system made by a program may have thousands.
const MOST: usize = 12;

impl Plan<'_> {
    /// Adds the plots of a first-order system; nothing in the table of a structure.
    pub(super) fn add_first_order(&mut self) {
        let states = self.columns.names.iter().filter_map(|name| name.strip_prefix("state.")).map(String::from);
        let states: Vec<String> = states.take(MOST).collect();
        if states.is_empty() {
            return;
        }
        for name in &states {
            self.add(&format!("state-{name}"), &format!("State {name}"), &[(&format!("state.{name}"), name)]);
        }
        self.add_phases(&states);
        for (kind, parts) in
            [("law", [("u", "multiplier"), ("w", "dual")]), ("constraint", [("gap", "gap"), ("impulse", "impulse")])]
        {
            let mut names: Vec<String> = self.columns.named(kind).into_iter().map(|(name, _)| name).collect();
            names.dedup();
            for name in names.iter().take(MOST) {
                for (part, what) in parts {
                    let (id, title) = (format!("{kind}-{name}-{part}"), format!("{kind} {name}: {what}"));
                    self.add(&id, &title, &[(&format!("{kind}.{name}.{part}"), what)]);
                }
            }
        }
        self.add("storage", "Stored energy", &[("storage", "storage")]);
        let works = [
            ("work_smooth", "smooth part"),
            ("work_source", "sources"),
            ("work_law", "laws"),
            ("work_jump", "constraints"),
            ("work_scheme", "scheme"),
            ("work_curvature", "curvature"),
        ];
        self.add("works", "Where the energy came from and went", &works);
    }

    /// Every state over every earlier one, of the first few.
    fn add_phases(&mut self, states: &[String]) {
        let (mut pairs, mut labels) = (Vec::new(), Vec::new());
        for (k, one) in states.iter().take(4).enumerate() {
            for other in &states[k + 1..states.len().min(4)] {
                let column = |name: &str| self.columns.find(&format!("state.{name}"));
                let (Some(x), Some(y)) = (column(one), column(other)) else { continue };
                pairs.extend(self.together(vec![(x, one.clone()), (y, other.clone())]));
                labels.push(format!("{other} over {one}"));
            }
        }
        self.plot("phase", "Phase plot", Kind::Phase, pairs);
        if let Some(phase) = self.plots.last_mut().filter(|plot| plot.kind == Kind::Phase) {
            phase.labels = labels;
        }
    }
}
