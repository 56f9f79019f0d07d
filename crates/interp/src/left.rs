//! What a program left behind in the library and in the system, which decides what later calls find.

use super::rand::Random;
use std::collections::{BTreeMap, BTreeSet};

/// What the program left behind in the library and in the system.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// Variables of the environment that the program set, with the address of the value, or unset.
    pub(super) environment: BTreeMap<Vec<u8>, Option<u64>>,
    /// `clearenv` was called: there are no other variables.
    pub(super) cleared: bool,
    /// Handlers by signal, as `signal` was given them.
    pub(super) handlers: BTreeMap<i32, u64>,
    /// Signals whose handler runs.
    pub(super) handling: BTreeSet<i32>,
    /// Signals may be blocked or handled in a way that is not followed.
    pub(super) signals_open: bool,
    /// Names of files that were made, changed or taken away.
    pub(super) files: BTreeSet<Vec<u8>>,
    /// Names of files mean others, or descriptors do.
    pub(super) files_open: bool,
    /// A stream may write to an object of the program.
    pub(super) streams_open: bool,
    /// Buffers were lent to streams: what is indeterminate may be what a stream put there.
    pub buffers_lent: bool,
    /// Functions that give an object of their own that the next call changes.
    pub(super) reused: BTreeSet<&'static str>,
    pub random: Random,
    /// Where `strtok` goes on.
    pub strtok_rest: u64,
    /// What runs at the end, in the order of registration.
    pub at_exit: Vec<Handler>,
    pub at_quick_exit: Vec<Handler>,
}

/// A function that was registered to run at the end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handler {
    pub function: u64,
    /// What `on_exit` was given; the function gets the status, too.
    pub argument: Option<u64>,
}
