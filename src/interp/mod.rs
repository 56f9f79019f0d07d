//! Concrete interpreter of the IR: witnesses, traces, the oracle of tests.

pub mod format;
