//! What calls of the `scanf` family read, as steps of a format (design section 2, *input*).
//!
//! A conversion on standard input in state `s` succeeds under `InputOk(s)`, yields `Input(s)` and
//! leaves `InputRest(s)`. White space in a format before a conversion that skips white space itself
//! changes nothing and is dropped, so that `"%f%f"` equals `"%f %f"`.

use crate::ir::Sort;
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
pub fn steps(_format: &[u8]) -> Option<Vec<Step>> {
    None
}
