//! The language of facts: C expressions with ACSL's `\old(e)`, `\at(e, L)`, `\result`, `\forall` and `==>`, and
//! what runs do (`calls f(x)`, `output == ...`, `f is closed`).
//!
//! - [`syntax`]: the tree of an expression.
//! - [`parser`]: texts of people, and those that the engine writes, as trees; nothing else takes a text apart.
//! - [`print`]: trees as texts.
//! - [`formula`]: a fact with its tree, its conclusion, and questions about both.
//! - [`implication`]: what follows from what, by rules on trees.
//! - [`term`], [`words`]: trees as terms, in a state of an analysis or over free symbols.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

use invdiff_interp as interp;
use invdiff_ir as ir;

pub mod formula;
pub mod implication;
mod lexer;
pub mod parser;
pub mod print;
mod standing;
pub mod syntax;
pub mod term;
pub mod words;

pub use formula::{Claim, Formula, Postcondition, ResourceState, Undefined, Within};
pub use parser::{MAX_DEPTH, MAX_LEN, MAX_OPERATORS, ParseError, parse, parse_postcondition, parse_template};
pub use standing::{Method, Standing};
pub use syntax::{Binary, Expression, Integer, Kind, TypeName, Unary};
