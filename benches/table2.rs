//! Table II of the Invariant Diffs paper: churns and invariants of the students' pairs, and of how many the
//! formulas before and after the change are told.
//!
//! Usage: `cargo bench --bench table2 [-- --facts]`; the subjects are looked for in `../shared` or
//! where `INVDIFF_SHARED` says.

#[path = "support/table2.rs"]
mod printed;
#[path = "support/subjects.rs"]
mod subjects;
#[path = "../tests/support/table2.rs"]
mod table2;

fn main() {
    let Some(shared) = subjects::folder() else { return };
    printed::print(&shared, std::env::args().any(|a| a == "--facts"));
}
