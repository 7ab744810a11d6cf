//! carom: the impact of flexible structures.
//!
//! Data flows one way, and nothing points back:
//!
//! ```text
//! case file → Case → Model → System → Method::attempt → Attempt → march → Ledger + Sinks → files
//!             text    meaning equations    one step        result    time     what is kept
//! ```
//!
//! [`case`] reads and checks, [`model`] gives it mechanical meaning with the help of [`mesh`] and [`table`], [`system`]
//! assembles equations from [`elements`] and [`relations`] (what may touch: rigid [`obstacles`] and other bodies) and answers
//! for them as a [`system::operator::Operator`], [`methods`] make steps with the numbers of [`schemes`] and the [`laws`] of
//! contact, [`ledger`] says where the energy went, [`march`] walks through time, [`sinks`] keep what is wanted. [`run`] is
//! that line from end to end, [`sweep`] many of them; [`cli`] is a thin shell
//! around it.
//!
//! Modules stand in one line, lowest first: each uses only those before it. A test reads this list.
//!
//! ```order
//! error nearest plane shell canvas keys schemes la
//! expression files nodes contour obstacles state
//! elements mesh table case model
//! relations laws system ledger methods
//! growth memory checkpoint directory sinks march modes
//! advice summary film first_order report expect plot run
//! cases exact norms studies sweep
//! cli
//! ```
//!
//! ```
//! use carom::case::{Format, parse};
//! use carom::{model::Model, system::System};
//!
//! let text = include_str!("../cases/impacting-bar.toml");
//! let case = parse(text, "impacting-bar.toml", Format::Toml, &["body.bar.line.elements=50".into()]).unwrap();
//! let model = Model::new(&case, &|name| name.into())?;
//! let system = System::assemble(&model)?;
//! assert_eq!((system.nodes.free, system.contacts.len()), (51, 1));
//! # Ok::<(), carom::Error>(())
//! ```

pub mod advice;
pub mod canvas;
pub mod case;
pub mod cases;
pub mod checkpoint;
pub mod cli;
pub mod contour;
pub mod directory;
pub mod elements;
pub mod error;
pub mod exact;
pub mod expect;
pub mod expression;
pub mod files;
pub mod film;
pub mod first_order;
pub mod growth;
pub mod keys;
pub mod la;
pub mod laws;
pub mod ledger;
pub mod march;
pub mod memory;
pub mod mesh;
pub mod methods;
pub mod model;
pub mod modes;
pub mod nearest;
pub mod nodes;
pub mod norms;
pub mod obstacles;
pub mod plane;
pub mod plot;
pub mod relations;
pub mod report;
pub mod run;
pub mod schemes;
pub mod shell;
pub mod sinks;
pub mod state;
pub mod studies;
pub mod summary;
pub mod sweep;
pub mod system;
pub mod table;

pub use error::{Error, Result};
