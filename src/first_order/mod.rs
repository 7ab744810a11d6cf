//! First-order systems with laws and constraints: circuits with diodes, relays, sweeping processes, and their kin.
//!
//! ```text
//! case ── System ── Rule (θ, ω) ── Stepper (Newton, complementarity) ── Bookkeeper ── columns ── files
//!         equations  weights        one step                             where energy went
//! ```
//!
//! These systems have no bodies, so that they march by themselves; files, checkpoints and directories are those of every
//! run. The equations (F1)–(F8) are in `docs/first-order.md`.

mod boundary;
mod chain;
mod constraints;
mod dense;
pub mod files;
mod grid;
mod ledger;
mod lemke;
mod linear;
pub mod march;
mod mcp;
pub mod record;
pub mod review;
mod solvability;
mod step;
pub mod system;
mod weights;
