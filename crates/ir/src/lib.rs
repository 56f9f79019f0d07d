//! The intermediate representation that every front end lowers to, and that every analysis reads.
//!
//! What lowering removes: scopes, nested side effects, short circuits, `?:`, `switch` and loops as
//! syntax, implicit conversions, lvalues. What is left is one control-flow graph a function, whose
//! nodes each hold one [`Instr`] over pure [`Expr`]essions with explicit widths
//! (`docs/design/c-front-end.md` and `docs/design/machine-semantics.md`).
//!
//! - [`Sort`] and [`Const`]: the values that machine words can take.
//! - [`Op`]: the pure operators, with one concrete meaning ([`Op::eval`]) that the interpreter, the
//!   constant folder and the tests of the SMT encoding all share.
//! - [`Expr`]: a tree of operators over a function's variables.
//! - [`Term`]: a hash-consed, normalised dag of operators over a function's *inputs*.
//! - [`CType`]: the source language's types, kept for layouts and for what a person reads.
//! - [`interval`]: the interval domain of bit-vectors, and [`bounds`] of terms by it.
//! - [`library`]: the functions of the C library: what they read, write, give, and do to control.
//! - [`literal`]: the symbols of string literals.
//! - [`verify`]: the rules that all of this follows.

#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::print_stdout, clippy::unwrap_used))]

mod binding;
mod ctype;
mod expr;
mod extended;
mod function;
pub mod interval;
pub mod library;
pub mod literal;
mod op;
mod sort;
mod span;
mod spelled;
mod term;
mod unit;
mod verify;

pub use binding::{Alias, Binding, Order, Promise};
pub use ctype::{CType, Field, FloatKind, Record, RecordId};
pub use expr::{Expr, Object};
pub use extended::{Decimal, Extended};
pub use function::{
    Access, Callee, Function, Instr, Measured, Node, NodeId, RETURNS_TWICE, RecordUses, Settled, SizeOf,
    Stmt, StmtId, Unknown, Var, VarId, VarKind,
};
pub use op::{Op, Rounding, UndefinedKind};
pub use sort::{Const, Sort};
pub use span::{FileId, MacroUse, Span};
pub use spelled::{Compared, Initial, InitialValue, Literal, Spelled};
pub use term::{
    ARRAY_LENGTH, App, LOOP_VALUE, Leaf, Rebuilt, Separation, Term, TermId, TermPool, Uf, bounds, eval,
};
pub use unit::{
    Answers, DataModel, Gaps, Global, Hooks, InitPiece, Linkage, Prototype, StaticAssertion, Unit, Written,
    retyped,
};
pub use verify::verify;
