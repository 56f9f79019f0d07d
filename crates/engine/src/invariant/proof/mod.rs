//! What holds: candidates and equations judged by intervals, rewriting, induction over loops (Houdini,
//! k-induction), bounds on iterations, and the solver, from summaries of callees and preconditions of callers.

pub(super) mod abstraction;
pub(super) mod bounded;
pub(super) mod callees;
pub(super) mod callers;
pub(super) mod conditional_equivalence;
pub(super) mod coupled;
pub(super) mod defined;
pub(super) mod inductive;
pub(super) mod interface;
pub(super) mod k_induction;
pub(super) mod known;
pub(crate) mod ordering;
pub(super) mod peeled;
pub(super) mod precondition;
pub(super) mod regions;
pub(super) mod relations;
pub(super) mod relevance;
pub(super) mod separation;
pub(super) mod summary;
pub(super) mod written;
