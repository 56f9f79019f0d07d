//! Table I of the Invariant Diffs paper: version invariants of the student tasks, and how time grows
//! from 2 to 6 versions, ours beside the paper's.
//!
//! Usage: `cargo bench --bench table1 [-- --facts]`; the subjects are looked for in `../shared` or
//! where `INVDIFF_SHARED` says.

#[path = "support/table1.rs"]
mod printed;
#[path = "support/subjects.rs"]
mod subjects;
#[path = "../tests/support/table1.rs"]
mod table1;

fn main() {
    let Some(shared) = subjects::folder() else { return };
    printed::print(&shared, std::env::args().any(|a| a == "--facts"));
}
