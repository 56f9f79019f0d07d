//! The library's table as a unit's calls mean it.

use super::output;
use crate::ir::library::control::{Calls, names_that_call};
use crate::ir::{Expr, Linkage, Object, Unit};

pub use crate::ir::library::*;

/// Functions by which a stream comes to write an object of the program at a later call.
const LENDERS: [&str; 7] =
    ["setvbuf", "setbuf", "setbuffer", "fmemopen", "open_memstream", "open_wmemstream", "fopencookie"];

/// Returns the row of a call, where that says all that the call does: the function is not the unit's own,
/// the call counts nothing (`%n`), no stream writes an object of the unit, and no handler of the unit runs.
///
/// A format that is no constant is taken to count only where the unit has constants that do.
pub fn row_of_call(unit: &Unit, name: &str, args: &[Expr]) -> Option<&'static Row> {
    let row = row(name).filter(|_| unit.function(name).is_none())?;
    let writes_behind = row.format_arg().is_some_and(|k| is_counting(unit, args.get(k)))
        || row.touches_streams() && LENDERS.iter().any(|l| unit.names_function(l))
        || row.waits() && names_that_call(Calls::OnSignal).any(|h| unit.names_function(h));
    (!writes_behind).then_some(row)
}

/// Whether a format may have conversions that store what was counted, or that print the error's number.
fn is_counting(unit: &Unit, format: Option<&Expr>) -> bool {
    let constant = |e: &Expr| {
        let Expr::Addr(Object::Global(symbol)) = e else { return None };
        let g = unit.global(symbol).filter(|g| g.is_const || g.linkage == Linkage::Literal)?;
        output::constant_string(g, 0)
    };
    match format.and_then(constant) {
        Some(text) => output::is_counting(&text),
        None => unit.has_counting_formats(output::is_counting),
    }
}
