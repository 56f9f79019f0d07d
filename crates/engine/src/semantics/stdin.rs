//! What calls of the `scanf` family read, as steps of a format (`docs/design/facts.md`, *input*).
//!
//! A conversion on standard input in state `s` succeeds under `InputOk(s)`, yields `Input(s)` and
//! leaves `InputRest(s)`. White space in a format before a conversion that skips white space itself
//! changes nothing and is dropped, so that `"%f%f"` equals `"%f %f"`.

use crate::interp::format::{ArgType, ScanDirective, parse_scanf};
use crate::ir::{DataModel, Sort};
use std::sync::Arc;

/// One directive of a format that consumes input.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Normalised directive (`%d`, `%5s`, `ws`, `lit:,`), which names the input functions.
    pub conversion: Arc<str>,
    /// Sort that is stored through the next argument, if one is.
    pub stores: Option<Sort>,
    /// White space: never fails.
    pub always: bool,
}

/// Returns the steps of a format, `None` when it has a conversion that is not modelled.
pub fn steps(format: &[u8], model: DataModel) -> Option<Vec<Step>> {
    let directives = parse_scanf(format).ok()?;
    let mut steps = Vec::new();
    for (i, d) in directives.iter().enumerate() {
        match d {
            ScanDirective::Whitespace => {
                let skipped = matches!(directives.get(i + 1), Some(ScanDirective::Conversion(c)) if c.skips_whitespace());
                if !skipped {
                    steps.push(Step { conversion: "ws".into(), stores: None, always: true });
                }
            }
            ScanDirective::Literal(bytes) => {
                let conversion = format!("lit:{}", String::from_utf8_lossy(bytes)).into();
                steps.push(Step { conversion, stores: None, always: false });
            }
            ScanDirective::Conversion(c) => {
                let stores = match c.target() {
                    None => None,
                    Some(ArgType::String) => return None,
                    // A single character is a byte; more are an array.
                    Some(ArgType::Chars) if c.width.unwrap_or(1) == 1 => Some(Sort::Bv(8)),
                    Some(t) => Some(t.object_sort(model)?),
                };
                if c.specifier == 'n' {
                    return None;
                }
                steps.push(Step { conversion: c.canonical().into(), stores, always: false });
            }
        }
    }
    Some(steps)
}
