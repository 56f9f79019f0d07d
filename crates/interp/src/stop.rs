//! Why a run stops, as everything that a run is made of says it.

use crate::ir::UndefinedKind;
use std::sync::Arc;

/// Why a run stops before its entry function returns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stop {
    Undefined(UndefinedKind),
    Exit {
        status: i32,
        leaving: Leaving,
    },
    Abort,
    AssertFailed(String),
    NoReturn(Arc<str>),
    Fuel,
    Unsupported(String),
    /// On the way to the frame that a `longjmp` goes to; ends no run.
    Jump {
        buffer: u64,
        value: i32,
    },
}

impl From<UndefinedKind> for Stop {
    fn from(kind: UndefinedKind) -> Stop {
        Stop::Undefined(kind)
    }
}

pub(crate) type Run<T> = Result<T, Stop>;

/// How a program is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    /// `exit`, or the end of `main`.
    Exit,
    /// `quick_exit`: only what `at_quick_exit` registered runs, and nothing is flushed.
    Quick,
    /// `_exit`.
    AtOnce,
}
