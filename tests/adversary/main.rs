//! Pairs of programs that were written against the tool: constructs at the edges of C, each with an edit, and
//! what every command may say of it. One module a kind of construct; `kit` makes the repositories and asks.
//!
//! The rule of all of them: where compiled runs of the two versions differ, no command may say that nothing
//! changed; what is claimed of a version holds in its compiled runs; "open" is said where it is open.

mod kit;
#[path = "../support/mod.rs"]
mod support;

mod assertions;
mod generator;
mod initial_values;
mod layouts;
mod library_state;
mod linkage;
mod local_view;
mod long_double;
mod many_cases;
mod reached;
mod silence;
mod unknowns;
mod vla;
mod written;
