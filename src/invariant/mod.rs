//! Templates, candidates, queries, proof and refutation, consolidation, ranking.

mod assume;
mod consolidate;
mod event;
mod fact;
mod inputs;
mod relations;
mod runs;
mod subject;
mod templates;
mod text;

pub use consolidate::{Churn, Claim, FunctionDiff, Options, Task, Undecided, diff_function};
pub use fact::{Fact, Template};
pub use runs::{Budget, Run};
pub use subject::Subject;
