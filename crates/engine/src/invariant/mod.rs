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
pub use change::cell_value::{CellChange, CellValue};
pub use consolidate::diff_function;
pub use fact::{Fact, Template};
pub use findings::{
    CauseLines, Churn, Claim, FunctionDiff, OpenKind, PointDiff, ReachedByClass, Undecided, speaks_of,
};
pub use obligation::gate::{Checked, Covered, check_function};
pub use obligation::properties::check_pins;
pub use obligation::property::{Break, Harm, PinnedFact, Property, PropertyKind};
pub use obligation::protocol::{Protocol, events, written as protocol_file};
pub use obligation::resource_state::state_words;
pub use observable::Observable;
pub use point::{Kind, Point};
pub use proof::callers::keep_at_calls;
pub use proof::coupled::do_the_same;
pub use proof::interface::{Summaries, Summary};
pub(crate) use proof::ordering;
pub use proof::precondition::Precondition;
pub use proof::summary::summarise;
pub use task::{Loops, Options, Points, Specification, Task};
pub use witness::budget::Budget;
pub use witness::inputs::from_model as input_of_model;
pub use witness::relaying::layouts_differ;
pub use witness::run::Run;
pub use witness::runs::replay;
pub use witness::search::RunCache;
