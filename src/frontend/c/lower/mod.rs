//! Lowering of one checked unit to the IR (design D2).
//!
//! - [`unit`]: what functions share; symbols, globals, literals, prototypes.
//! - [`types`]: layouts and scalar types; [`globals`]: static initialisers; [`spans`]: positions.
//! - [`function`]: the graph under construction; [`stmts`], [`exprs`], [`places`], [`arith`]: what
//!   statements, expressions, lvalues and operators become; [`arrays`]: arrays of variable length;
//!   [`sequencing`]: unsequenced effects.
//! - [`builtins`], [`atomics`]: what compilers know by name.
//! - [`unknown`]: what none of these expresses; [`spelling`]: its text, by which it is compared.

mod arith;
mod arrays;
mod atomics;
mod builtins;
mod cleanup;
mod exprs;
mod function;
mod globals;
mod linkage;
mod nested;
mod places;
mod sequencing;
mod spans;
mod spelling;
mod stmts;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_arrays;
#[cfg(test)]
mod tests_subjects;
mod types;
mod unit;
mod unknown;

use super::parse::Parsed;
use crate::ir::{DataModel, Unit};

/// Lowers a parsed unit. Nothing is lost: what the IR cannot express is an explicit unknown.
pub fn lower(parsed: &Parsed, data_model: DataModel) -> Unit {
    let session = &parsed.session;
    let spans = spans::Spans::new(&session.sources, &session.interner, &parsed.tokens, &parsed.path);
    unit::lower_unit(
        &parsed.checked.tast,
        &parsed.checked.types,
        &parsed.session.target,
        &parsed.session.interner,
        spans,
        &parsed.path,
        data_model,
    )
}
