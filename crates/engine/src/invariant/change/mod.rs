//! What changed: values of observables by cases, places in memory, calls and output, compared between classes.

pub(super) mod aggregate;
pub(super) mod call_churns;
pub(super) mod calls;
pub(super) mod cases;
pub(super) mod cell;
pub(super) mod cell_value;
pub(super) mod event;
pub(super) mod events;
pub(super) mod outcomes;
