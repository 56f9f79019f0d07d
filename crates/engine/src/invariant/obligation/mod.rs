//! What must hold: assertions, pinned facts, built-in safety and the states of resources, judged in each version.

pub(super) mod gate;
pub(super) mod properties;
pub(super) mod property;
pub(super) mod protocol;
mod provers;
pub(super) mod resource_state;
pub(super) mod safety;
pub(super) mod typestate;
pub(super) mod watched;
