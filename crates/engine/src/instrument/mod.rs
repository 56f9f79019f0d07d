//! Copies of sources with facts in them, or that record calls, and tests that include a source.
//!
//! A *copy* is the text of a file at a version with `assert`s of facts at the points where they hold;
//! everything else stays byte for byte. An assertion is put in only where it is sure to compile and to
//! mean the fact; a fact that finds no such place is *left out*, with the reason. `condition` makes C of a
//! fact at a place, `asserts` puts conditions into a source, `copies` does so for the files of a report,
//! `patch` writes copies as a patch.
//!
//! Of a comparison of two versions (`analysis::difference`), `residual` makes the copy in which what need not
//! be verified is cut off, and `automaton` the condition that other verifiers read.
//!
//! `record` makes the copy whose functions record their calls, for `discover --run`.
//!
//! A *witness test* is a C file that includes a version's source, sets up the input of a churn's witness
//! and shows which version it was. `test_file` writes it, from the `image` of the input's memory, the
//! `externals` that the source lacks, and a `check` of each value that can be seen.

mod asserts;
mod automaton;
mod check;
mod condition;
mod constant;
mod copies;
mod edits;
mod externals;
mod image;
mod patch;
mod record;
mod residual;
mod states;
mod test_file;

pub use asserts::{Asserted, FunctionFacts, LeftOut, PlacedFact, ProgramPoint, Source, insert};
pub use automaton::automaton;
pub use copies::{Choice, CopiedFile, copies};
pub use patch::patch;
pub use record::{MOST_BYTES, MOST_CALLS, Recorded, Recording, ToRecord, Trace, record};
pub use residual::{Residual, residual};
pub use test_file::{WitnessTest, witness_tests};
