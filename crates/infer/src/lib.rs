//! Invariants that samples of runs suggest: dynamic inference.
//!
//! A [`Table`] has the values of a program point's variables, a row for each time that control came there.
//! [`infer`] reads off it every invariant of a family ([`Shape`]) that no row refutes and that the number of rows
//! justifies. Nothing here is proved: what comes out are candidates.
//!
//! - [`table`]: variables and their values.
//! - [`shape`]: the families; whether a row satisfies one; its text in C.
//! - [`families`]: which instances of a family hold of all rows. `pass`: what one look at all rows shows.
//! - [`daikon`]: traces of runs, in Daikon's formats. [`csv`]: inputs that a function is to run on.
//! - [`confidence`]: how unlikely it is that all rows satisfy an invariant by chance.
//!
//! Source: Ernst, Perkins, Guo, McCamant, Pacheco, Tschantz and Xiao, "The Daikon system for dynamic detection of
//! likely invariants", Science of Computer Programming 69, 2007: the families and their justification.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

pub mod confidence;
pub mod csv;
pub mod daikon;
mod families;
mod pass;
mod shape;
mod table;

pub use families::{Settings, conditional, infer};
pub use shape::{Operator, Relation, Shape, Word};
pub use table::{Kind, Table, Variable};
