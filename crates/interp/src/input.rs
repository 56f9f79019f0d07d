//! What a run depends on: arguments, memory at entry, standard input, results of unknown calls.
//!
//! Addresses never appear here: pointers are an object and an offset, so that one input means the
//! same for two versions, and so that it can be printed as a witness.

use crate::ir::{CType, Const};
use std::sync::Arc;

/// Names an object of [`Input::objects`]; unique within one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId(pub u32);

/// A scalar, or a pointer without an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    Const(Const),
    /// Into an object of the input. A null pointer is the constant zero of the pointer's width.
    Pointer {
        object: ObjectId,
        offset: i64,
    },
    /// Of a function, by symbol.
    Function(Arc<str>),
    /// Into a global that the input does not override, by symbol.
    Global {
        symbol: Arc<str>,
        offset: i64,
    },
}

/// Who owns an object of the input.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Storage {
    /// May be freed and reallocated by the program.
    Heap,
    /// A global's content at entry, by symbol, instead of its initialiser.
    Global(Arc<str>),
    /// Belongs to the caller.
    Argument,
}

/// Object that exists at entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ObjectInit {
    pub id: ObjectId,
    /// Type of the whole object (an array type for several elements).
    pub ty: CType,
    pub storage: Storage,
    /// Its length is the object's size.
    pub bytes: Vec<u8>,
    /// One flag a byte; empty when every byte is initialised.
    pub undefined: Vec<bool>,
    /// Pointers at these byte offsets, over what `bytes` has there.
    pub pointers: Vec<(u64, Value)>,
}

/// Memory that an unknown call writes, through one of its pointer arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallWrite {
    pub argument: usize,
    pub offset: i64,
    pub bytes: Vec<u8>,
}

/// Result of the `nth` call (from 1) of a function that is neither defined nor modelled. For one of
/// the `malloc` family: that this request is refused.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallResult {
    pub callee: Arc<str>,
    pub nth: u32,
    pub result: Value,
    pub errno: Option<i32>,
    pub writes: Vec<CallWrite>,
}

/// Input of one run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// One for each parameter; an aggregate is a pointer to an object that holds it. Missing ones
    /// are zero. Not used for a `main` (see `argv`).
    pub arguments: Vec<Value>,
    pub objects: Vec<ObjectInit>,
    pub stdin: Vec<u8>,
    /// Program arguments from `argv[0]` on; empty means just a program name.
    pub argv: Vec<Vec<u8>>,
    pub calls: Vec<CallResult>,
    /// When set, standard input that runs short is extended while the program runs (see
    /// [`super::StdinPlan`]); [`super::StandardInput::stdin`] then holds all of it.
    pub stdin_plan: Option<super::StdinPlan>,
    /// Runs on it may take [`LONG_FUEL`], whatever the limits say.
    pub is_long: bool,
}

impl Input {
    /// Returns whether another input is this one but for the plan of standard input: a run that did not ask its plan
    /// is that on the other one, too.
    pub fn is_same_but_for_plan(&self, other: &Input) -> bool {
        (self.stdin_plan.is_some(), self.is_long) == (other.stdin_plan.is_some(), other.is_long)
            && self.arguments == other.arguments
            && self.stdin == other.stdin
            && self.argv == other.argv
            && self.calls == other.calls
            && self.objects == other.objects
    }
}

/// Instructions of a run that is worth waiting for: a loop of a million rounds.
pub const LONG_FUEL: u64 = 6_500_000;

/// Bounds of one run. Running into one is an honest end of the run, never a result.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Instructions (nodes) that may be executed.
    pub fuel: u64,
    /// Calls that may be active at once.
    pub depth: usize,
    /// Bytes of memory that may be live at once.
    pub memory: u64,
    /// Bytes that may be written to stdout and stderr.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { fuel: 1_000_000, depth: 20_000, memory: 64 << 20, output: 1 << 20 }
    }
}
