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
//! assembles equations from [`elements`] and [`contact`], [`step`] (or [`statics`]) is a [`methods::Method`] that makes steps with the numbers of
//! [`schemes`] and the linear algebra of [`la`], [`ledger`] says where the energy went, [`march`] walks through time,
//! [`sinks`] keep what is wanted. [`run`] is that line from end to end, [`sweep`] many of them; [`cli`] is a thin shell
//! around it.
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
pub mod case;
pub mod cases;
pub mod checkpoint;
pub mod cli;
pub mod contact;
pub mod directory;
pub mod elements;
pub mod error;
pub mod exact;
pub mod expect;
pub mod expression;
pub mod files;
pub mod growth;
pub mod la;
pub mod ledger;
pub mod march;
pub mod memory;
pub mod mesh;
pub mod methods;
pub mod model;
pub mod modes;
pub mod nearest;
pub mod norms;
pub mod plot;
pub mod report;
pub mod run;
pub mod schemes;
pub mod shell;
pub mod sinks;
pub mod state;
pub mod statics;
pub mod step;
pub mod studies;
pub mod summary;
pub mod sweep;
pub mod system;
pub mod table;

pub use error::{Error, Result};
