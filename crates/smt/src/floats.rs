//! Floating-point constructors of Z3 that the z3 crate has no safe function for.

use crate::ir::Sort as TermSort;
use z3::ast::{Ast, BV, Float, RoundingMode};
use z3::{Context, Sort};
use z3_sys::{Z3_ast, Z3_mk_fpa_to_fp_bv, Z3_mk_fpa_to_fp_signed, Z3_mk_fpa_to_fp_unsigned};

/// Returns Z3's sort of a float.
pub(super) fn float_sort(sort: TermSort) -> Option<Sort> {
    match sort {
        TermSort::F32 => Some(Sort::float32()),
        TermSort::F64 => Some(Sort::double()),
        TermSort::F80 => Some(extended()),
        _ => None,
    }
}

/// The values of the x87's 80 bits; its leading bit of the significand is no bit of Z3's.
pub(super) fn extended() -> Sort {
    Sort::float(15, 64)
}

/// Returns the 80 bits of the x87 for the 79 of an interchange format: with the significand's leading
/// bit, which is set where the exponent is not zero.
pub(super) fn with_leading_bit(ieee: &BV) -> BV {
    let exponent = ieee.extract(77, 63);
    let is_small = Ast::eq(&exponent, BV::from_u64(0, 15));
    let leading = is_small.ite(&BV::from_u64(0, 1), &BV::from_u64(1, 1));
    ieee.extract(78, 63).concat(&leading).concat(ieee.extract(62, 0))
}

fn wrap(context: &Context, ast: Option<Z3_ast>) -> Option<Float> {
    // SAFETY: the callers pass an `ast` that a constructor of floats just made in this context.
    ast.map(|a| unsafe { Float::wrap(context, a) })
}

/// Returns the float with these bits; `bits` must be as wide as the sort.
pub(super) fn from_bits(bits: &BV, sort: TermSort) -> Option<Float> {
    let to = float_sort(sort).filter(|_| Some(bits.get_size()) == sort.bits().map(u32::from))?;
    let bits = &match sort {
        TermSort::F80 => bits.extract(79, 64).concat(bits.extract(62, 0)),
        _ => bits.clone(),
    };
    let context = bits.get_ctx();
    // SAFETY: context, term and sort are alive and of one context: the current one, in which the
    // caller made `bits` and in which `float_sort` makes the sort. The term is a bit-vector.
    let ast = unsafe { Z3_mk_fpa_to_fp_bv(context.get_z3_context(), bits.get_z3_ast(), to.get_z3_sort()) };
    wrap(context, ast)
}

/// Returns the nearest float (ties to even) of an integer.
pub(super) fn from_integer(value: &BV, signed: bool, sort: TermSort) -> Option<Float> {
    let to = float_sort(sort)?;
    let nearest = RoundingMode::round_nearest_ties_to_even();
    let context = value.get_ctx();
    let make = if signed { Z3_mk_fpa_to_fp_signed } else { Z3_mk_fpa_to_fp_unsigned };
    // SAFETY: as in `from_bits`; the first term is a rounding mode, the second a bit-vector.
    let ast =
        unsafe { make(context.get_z3_context(), nearest.get_z3_ast(), value.get_z3_ast(), to.get_z3_sort()) };
    wrap(context, ast)
}
