//! Facts of one function at its matched points: what may hold ([`candidate`]), what does ([`proof`]), what changed
//! between classes ([`change`]), what shows it ([`witness`]), and what must hold ([`obligation`]).
//!
//! [`consolidate`] asks them in this order, point by point.

mod candidate;
mod change;
mod consolidate;
mod fact;
mod findings;
mod function_analysis;
mod name_resolution;
mod naming;
mod obligation;
mod observable;
mod point;
mod proof;
mod task;
mod text;
mod witness;

pub use candidate::written::{MOST as MOST_TEMPLATES, WrittenTemplate};
pub use change::cell::{CellChange, CellValue};
pub use consolidate::{LEFT_OUT, diff_function};
pub use fact::{Fact, Template};
pub use findings::{Churn, Claim, FunctionDiff, PointDiff, Undecided};
pub use obligation::gate::{Checked, check_function};
pub use obligation::properties::{Break, PinnedFact, Property, PropertyKind, Standing};
pub use obligation::protocol::{Protocol, events, written as protocol_file};
pub use obligation::safety::Harm;
pub use observable::Observable;
pub use point::{Kind, Point};
pub use proof::precondition::Precondition;
pub use proof::summary::{Summaries, Summary, summarise};
pub use task::{Loops, Options, Points, Task};
pub use witness::attribution::CauseLines;
pub use witness::inputs::from_model as input_of_model;
pub use witness::reached::{ByClass as ReachedByClass, speaks_of};
pub use witness::relaid::layouts_differ;
pub use witness::runs::{Budget, Run, RunCache, replay};
