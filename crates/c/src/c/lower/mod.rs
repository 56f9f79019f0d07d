//! Lowering of one checked unit to the IR (`docs/design/c-front-end.md`).
//!
//! - [`unit`]: what functions share; symbols, globals, literals, prototypes.
//! - [`types`]: layouts and scalar types; [`globals`]: static initialisers; [`spans`]: positions.
//! - [`function`]: the graph under construction; [`stmts`], [`exprs`], [`places`], [`arith`]: what
//!   statements, expressions, lvalues and operators become; [`arrays`]: arrays of variable length;
//!   [`sequencing`]: unsequenced effects.
//! - [`parts`]: values of several scalars, which are [`complex`] numbers and [`vectors`].
//! - [`builtins`], [`atomics`]: what compilers know by name.
//! - [`labels`]: labels as values; [`records`]: what bytes do not tell of records; [`sizes`]: what `sizeof` was
//!   asked of.
//! - [`unknown`]: what none of these expresses; [`spelling`]: its text, by which it is compared.

mod arith;
mod arrays;
mod atomics;
mod builtins;
mod cleanup;
mod complex;
mod constants;
mod exprs;
mod function;
mod globals;
mod labels;
mod linkage;
mod nested;
mod parts;
mod places;
mod records;
mod sequencing;
mod sizes;
mod spans;
mod spelling;
mod stmts;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_arrays;
#[cfg(test)]
mod tests_parts;
#[cfg(test)]
mod tests_subjects;
mod types;
mod unit;
mod unknown;
mod vectors;

use super::parse::Parsed;
use crate::ir::{DataModel, Unit};

/// Lowers a parsed unit. Nothing is lost: what the IR cannot express is an explicit unknown.
pub fn lower(parsed: &Parsed, data_model: DataModel) -> Unit {
    let session = &parsed.session;
    let spans =
        spans::Spans::new(&session.sources, &session.interner, &parsed.tokens, (&parsed.path, &parsed.reads));
    unit::lower_unit(
        &parsed.checked.tast,
        &parsed.checked.types,
        &parsed.session.target,
        &parsed.session.interner,
        spans,
        parsed,
        data_model,
    )
}
