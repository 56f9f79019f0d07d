//! What an instruction does to a symbolic state: memory, floats, calls, library models, loops.
//!
//! [`Evaluator`] answers demand-driven queries over the multiversion graph
//! (`docs/design/symbolic-evaluation.md`): the value of a [`Place`] at a node, for a set of classes, as
//! hash-consed terms over the function's inputs.

pub mod address;
mod blocks;
pub mod c_text;
pub mod calls;
pub mod escapes;
mod eval;
pub mod fixed;
pub mod frames;
pub mod inline;
pub mod library;
mod lines;
pub mod liveness;
mod loops;
pub mod mod_ref;
pub mod output;
mod place;
pub mod pointers;
mod reach;
mod stdin;
pub mod type_text;
pub mod unroll;

pub use eval::{Callees, Evaluator, Part, Statistics, Val};
pub use lines::Lines;
pub use output::constant_string;
pub use place::{Place, Places, Storage, base_object, exact_object};
