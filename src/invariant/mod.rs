//! Templates, candidates, queries, proof and refutation, consolidation, ranking.

mod agreement;
mod assume;
mod bounded;
mod calls;
mod cases;
mod cell;
mod consolidate;
mod defined;
mod event;
mod events;
mod fact;
mod given;
mod inductive;
mod inputs;
mod naming;
mod peeled;
mod point;
mod polynomial;
mod properties;
mod protocol;
mod quantified;
mod quantity;
mod refusals;
mod relations;
mod rows;
mod runs;
mod scope;
mod separation;
mod shrink;
mod subject;
mod templates;
mod text;
mod transfer;
mod typestate;

pub use cell::{CellChange, CellValue};
pub use consolidate::{
    Churn, Claim, FunctionDiff, Loops, Options, PointDiff, Points, Task, Undecided, diff_function,
};
pub use fact::{Fact, Template};
pub use point::{Kind, Point};
pub use properties::{Break, PinnedFact, Property, PropertyKind, Standing};
pub use runs::{Budget, Kept, Run};
pub use subject::Subject;
