//! Templates, candidates, queries, proof and refutation, consolidation, ranking.

mod aggregate;
mod agreement;
mod assume;
mod bounded;
mod callees;
mod calls;
mod cases;
mod cell;
mod consolidate;
mod defined;
mod elements;
mod event;
mod events;
mod fact;
mod given;
mod inductive;
mod inputs;
mod lengths;
mod naming;
mod outcomes;
mod peeled;
mod point;
mod polynomial;
mod precondition;
mod properties;
mod protocol;
mod quantified;
mod quantity;
mod refusals;
mod relations;
mod relevance;
mod rows;
mod runs;
mod safety;
mod scope;
mod separation;
mod series;
mod shrink;
mod subject;
mod summary;
mod templates;
mod text;
mod transfer;
mod typestate;

pub use cell::{CellChange, CellValue};
pub use consolidate::{
    Churn, Claim, FunctionDiff, Loops, Options, PointDiff, Points, Task, Undecided, diff_function,
};
pub use fact::{Fact, Template};
pub use inputs::from_model as input_of_model;
pub use point::{Kind, Point};
pub use precondition::Precondition;
pub use properties::{Break, PinnedFact, Property, PropertyKind, Standing};
pub use runs::{Budget, Kept, Run, replay};
pub use subject::Subject;
pub use summary::{Summaries, Summary, summarise};
