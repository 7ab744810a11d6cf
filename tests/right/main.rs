//! Mistakes that carom once made, each with a test whose name says it in plain words: wrong works, nonsense that passed in
//! silence, good runs that were stopped, words that misled.

#[path = "../common/mod.rs"]
mod common;

mod books;
mod equal_books;
mod model;
mod outputs;
mod words;
