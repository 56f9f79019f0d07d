//! Copies of sources with facts in them.
//!
//! A *copy* is the text of a file at a version with `assert`s of facts at the points where they hold;
//! everything else stays byte for byte. An assertion is put in only where it is sure to compile and to
//! mean the fact; a fact that finds no such place is *left out*, with the reason.
//!
//! `condition` makes C of a fact at a place, `asserts` puts conditions into a source, `copies` does so for the
//! files of a report.

mod asserts;
mod condition;
mod copies;
mod edits;
mod patch;

pub use asserts::{Asserted, FunctionFacts, LeftOut, Place, PlacedFact, Source, insert};
pub use copies::{Choice, CopiedFile, copies};
pub use patch::patch;
