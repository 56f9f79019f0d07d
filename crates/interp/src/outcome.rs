//! All that can be observed of one run.

use super::input::{ObjectId, Value};
use crate::ir::{Const, Function, UndefinedKind, VarId};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A line of a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceLocation {
    pub file: PathBuf,
    pub line: u32,
    pub function: Arc<str>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Return,
    /// `exit` and `_Exit` with this status (already modulo 256).
    Exit(i32),
    Abort,
    /// The text is the assertion's expression.
    AssertFailed {
        text: String,
        place: SourceLocation,
    },
    /// An unknown function that is declared not to return was called.
    NoReturn {
        callee: Arc<str>,
        place: SourceLocation,
    },
    Undefined {
        kind: UndefinedKind,
        place: SourceLocation,
    },
    /// A limit was reached; undecided, never equal to anything.
    Fuel,
    /// Something that the interpreter does not do.
    Unsupported {
        reason: String,
        place: SourceLocation,
    },
}

impl End {
    /// Returns the word of the JSON contract.
    pub fn name(&self) -> &'static str {
        match self {
            End::Return => "return",
            End::Exit(_) | End::NoReturn { .. } => "exit",
            End::Abort | End::AssertFailed { .. } => "abort",
            End::Undefined { .. } => "undefined",
            End::Fuel | End::Unsupported { .. } => "fuel",
        }
    }

    /// Returns whether the run was carried to an end that a compiled program would reach too.
    pub fn is_definite(&self) -> bool {
        !matches!(self, End::Undefined { .. } | End::Fuel | End::Unsupported { .. })
    }
}

/// What an object is, independent of addresses and thus of versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Identity {
    Global(Arc<str>),
    Input(ObjectId),
    /// Allocated during the run; numbered in the order in which the final state reaches them.
    Allocated(u32),
    /// The entry function's aggregate result.
    Result,
}

/// Where a pointer in the final state leads.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    Object {
        identity: Identity,
        offset: i64,
    },
    Function(Arc<str>),
    /// Into an object whose lifetime has ended.
    Dangling,
}

/// A pointer that is stored in an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FinalPointer {
    pub offset: u64,
    pub target: Target,
}

/// An object as the run left it. Bytes under `pointers` and undefined bytes are zero.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FinalObject {
    pub identity: Identity,
    pub live: bool,
    pub bytes: Vec<u8>,
    /// Empty when every byte is initialised.
    pub undefined: Vec<bool>,
    pub pointers: Vec<FinalPointer>,
}

/// Call of a function that is neither defined nor modelled; what it did was taken from the input,
/// or assumed (result zero, no effect). Or a request for memory that the input refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssumedCall {
    pub callee: Arc<str>,
    /// From 1, among the calls of this callee.
    pub nth: u32,
    /// Arguments; pointers as object and offset where they lead to one.
    pub arguments: Vec<Value>,
    pub line: u32,
    /// Whether [`super::Input::calls`] said what it does.
    pub given: bool,
    /// What the function gives follows from its arguments, so that what it gave here was made up.
    pub is_determined: bool,
}

/// Result of one run.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub end: End,
    pub ending: Ending,
    /// Value that the entry function returned.
    pub returned: Option<Const>,
    /// The same, when it is a pointer to something.
    pub returned_target: Option<Target>,
    pub left: FinalState,
    pub output: Output,
    pub read: StandardInput,
    /// First signed overflow; it wrapped.
    pub overflow: Option<SourceLocation>,
    pub assumed: Assumed,
    pub heap: HeapRequests,
    /// The files, but for the entry function's, whose functions ran or whose objects were used as they begin.
    pub elsewhere: Vec<PathBuf>,
    pub portability: Portability,
    /// Nodes that were executed.
    pub steps: u64,
}

/// How a run ended, beside its kind.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    /// Exit status as the shell's parent sees it, for a `main` and for `exit`; 134 for an abort.
    pub exit_code: Option<i32>,
    /// Where `abort` was called, when that ended the run.
    pub aborted: Option<SourceLocation>,
    /// It was an access to an object of the input, or out of one, that ended the run as undefined.
    pub on_input: bool,
    /// That object, where it is one of the objects that the input lists, and how many bytes of it the
    /// access needed (0: it went before the object's start).
    pub on: Option<(ObjectId, u64)>,
    /// Where an access went that ended the run, if no object ever was there.
    pub nowhere: Option<u64>,
}

/// What a run leaves in variables and in memory.
#[derive(Clone, Debug, Default)]
pub struct FinalState {
    /// Final values of the entry function's variables by [`VarId`], when it returned normally;
    /// `None` for aggregates and indeterminate ones.
    pub locals: Vec<Option<Const>>,
    /// Globals that were written, objects of the input, and what they reach; sorted by identity.
    pub memory: Vec<FinalObject>,
    /// Where memory was allocated that is alive and that nothing leads to any more, when the run returned.
    pub lost: Option<SourceLocation>,
}

/// What a run wrote to streams.
#[derive(Clone, Debug, Default)]
pub struct Output {
    /// Bytes that reached the stream's reader (see `stdout_lost`).
    pub stdout: Vec<u8>,
    /// Bytes that were still buffered when the run ended abnormally. The buffering is that of a
    /// pipe or file under glibc (4096 bytes).
    pub stdout_lost: Vec<u8>,
    pub stderr: Vec<u8>,
    /// What was written to streams that are none of the standard ones; that they could be written
    /// is assumed.
    pub files: Vec<(Value, Vec<u8>)>,
}

/// What a run found on standard input.
#[derive(Clone, Debug, Default)]
pub struct StandardInput {
    /// All of it, with what a plan added.
    pub stdin: Vec<u8>,
    /// The plan ended it: it must not be extended.
    pub is_closed: bool,
    /// A plan was asked for more: without that the run is the same whatever the plan is.
    pub is_planned: bool,
    /// Values of the successful conversions from it, in order; `None` for strings.
    pub values: Vec<Option<Const>>,
}

/// What a run took for granted of code that it does not have.
#[derive(Clone, Debug, Default)]
pub struct Assumed {
    pub calls: Vec<AssumedCall>,
    /// Globals that are only declared and that the input does not give, as far as they were used;
    /// they were taken to be zero.
    pub globals: Vec<Arc<str>>,
}

/// How the `malloc` family was asked for memory.
#[derive(Clone, Debug, Default)]
pub struct HeapRequests {
    /// How often, by function.
    pub counts: BTreeMap<&'static str, u32>,
    /// The first of these requests in order, with their sizes.
    pub first: Vec<(&'static str, Vec<u128>)>,
}

/// Why an outcome may be another one elsewhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct Portability {
    /// A sign that C leaves open was printed or tested ([`Op::asks_open_sign`](crate::ir::Op)); no fact may rest
    /// on it.
    pub open_sign: bool,
    /// An address was printed, or the C library's releases differ on something that was read: the
    /// output may be another one elsewhere.
    pub platform_dependent: bool,
    /// Of what was returned only the sign is the same on other machines (`magnitude.rs`).
    pub is_sign_only: bool,
    /// Memory was accessed at an address that no object of the accessed type has, unless it is packed.
    pub misaligned: bool,
}

impl Outcome {
    /// Returns the final value of a variable of the entry function.
    pub fn local(&self, var: VarId) -> Option<Const> {
        self.left.locals.get(var.0 as usize).copied().flatten()
    }

    /// Returns the final values of the entry function's named variables. Of several of one name,
    /// the ordinal tells them apart.
    pub fn locals_by_name(&self, function: &Function) -> BTreeMap<(Arc<str>, u32), Const> {
        let vars = function.vars.iter().zip(&self.left.locals);
        vars.filter(|(v, _)| v.kind != crate::ir::VarKind::Temp)
            .filter_map(|(v, c)| Some(((v.name.clone(), v.ordinal), (*c)?)))
            .collect()
    }

    /// Returns whether a signed overflow happened.
    pub fn overflowed(&self) -> bool {
        self.overflow.is_some()
    }
}
