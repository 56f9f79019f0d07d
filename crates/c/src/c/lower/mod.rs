//! Lowering of one checked unit to the IR (`docs/design/c-front-end.md`).
//!
//! - [`top_level`]: the unit in order; [`unit`]: what functions share; symbols, globals, literals, prototypes;
//!   [`linkage`]: what symbols stand for; [`line_strings`]: literals that say where the text stands.
//! - [`types`]: layouts and scalar types; [`globals`]: static initialisers, and [`initial`] as they are written; [`spans`]: positions; [`constants`]: how
//!   the text spells numbers; [`compared`]: beside what it has enumerators.
//! - [`definition`]: a function in order; [`function`]: the graph under construction; [`stmts`], [`exprs`], [`places`], [`arith`]: what
//!   statements, expressions, lvalues and operators become; [`arrays`]: arrays of variable length;
//!   [`sequencing`]: unsequenced effects.
//! - [`parts`]: values of several scalars, which are [`complex`] numbers and [`vectors`].
//! - [`builtins`], [`atomics`]: what compilers know by name.
//! - [`label_addresses`]: labels as values, which [`labels`] lists; [`records`]: what bytes do not tell of records;
//!   [`sizes`]: what `sizeof` was asked of, which [`sizeof`] reads in the text.
//! - [`nested`]: functions in functions; [`cleanup`]: variables with a cleanup.
//! - [`unknown`]: what none of these expresses; [`spelling`]: its text, by which it is compared.

mod arith;
mod arrays;
mod atomics;
mod builtins;
mod cleanup;
mod compared;
mod complex;
mod constants;
mod definition;
mod errors;
mod exprs;
mod function;
mod globals;
mod initial;
mod label_addresses;
mod labels;
mod line_strings;
mod linkage;
mod nested;
mod parts;
mod places;
mod records;
mod sequencing;
mod sizeof;
mod sizes;
mod spans;
mod spelling;
mod stmts;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_arrays;
#[cfg(test)]
mod tests_errors;
#[cfg(test)]
mod tests_parts;
#[cfg(test)]
mod tests_subjects;
mod top_level;
mod types;
mod unit;
mod unknown;
mod vectors;

use super::parse::Parsed;
use crate::ir::{DataModel, Unit};

/// Lowers a parsed unit. Nothing is lost: what the IR cannot express is an explicit unknown.
pub fn lower(parsed: &Parsed, data_model: DataModel) -> Unit {
    top_level::lower_unit(parsed, data_model)
}
