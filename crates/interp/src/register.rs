//! What expressions read, and what they do besides yielding a value.

use crate::ir::Const;

/// What expressions did besides yielding a value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Events {
    /// A signed operation overflowed since this was last cleared.
    pub overflow: bool,
    /// The sign of a NaN was looked at.
    pub open_sign: bool,
}

/// A register: `None` while its value is indeterminate.
pub(crate) type Register = Option<Const>;
