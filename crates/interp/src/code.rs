//! A function's body with its symbols resolved: what the machine executes.
//!
//! Resolving removes every lookup by name from the run: addresses of globals and functions become
//! constants, callees become indices or rows of the library's tables. It happens once a function, on first call
//! ([`super::resolve`]).

use super::ids::DefinitionId;
use crate::ir::{CType, Const, Op, Sort};
use std::sync::Arc;

/// Expression with resolved addresses.
#[derive(Debug)]
pub(crate) enum Value {
    Const(Const),
    Var(u32),
    /// Address of a local that lives in memory; the frame holds it in the variable's place.
    Local(u32),
    /// Address of something that nobody declares.
    Unresolved,
    Unary {
        op: Op,
        signed: bool,
        a: Box<Value>,
    },
    Binary {
        op: Op,
        signed: bool,
        ab: Box<[Value; 2]>,
    },
    Many {
        op: Op,
        args: Box<[Value]>,
    },
}

impl Value {
    /// Returns whether a predicate holds for a variable that the expression reads.
    pub fn any_var(&self, holds: &impl Fn(u32) -> bool) -> bool {
        match self {
            Value::Var(v) => holds(*v),
            Value::Unary { a, .. } => a.any_var(holds),
            Value::Binary { ab, .. } => ab.iter().any(|a| a.any_var(holds)),
            Value::Many { args, .. } => args.iter().any(|a| a.any_var(holds)),
            Value::Const(_) | Value::Local(_) | Value::Unresolved => false,
        }
    }
}

/// A function that is neither defined nor modelled.
#[derive(Clone, Debug)]
pub(crate) struct Unknown {
    pub name: Arc<str>,
    /// What it gives follows from its arguments ([`super::library::is_determined`]).
    pub is_determined: bool,
}

impl Unknown {
    pub fn named(name: &Arc<str>) -> Unknown {
        Unknown { name: name.clone(), is_determined: super::library::is_determined(name) }
    }
}

/// What a call reaches.
#[derive(Debug)]
pub(crate) enum Target {
    Definition(DefinitionId),
    Library(LibraryRow),
    /// Neither defined nor modelled.
    Unknown(Unknown),
    Indirect(Value),
}

/// Where the model of a library function stands: the table of its header, the row in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LibraryRow {
    pub table: u8,
    pub row: u8,
}

/// A resolved call.
#[derive(Debug)]
pub(crate) struct Call {
    pub dst: Option<u32>,
    pub target: Target,
    pub args: Box<[Value]>,
    pub arg_types: Box<[CType]>,
    pub ret: CType,
    pub result_to: Option<Value>,
    pub noreturn: bool,
    /// More than the sign of the result may be looked at.
    pub is_sized: bool,
}

#[derive(Debug)]
pub(crate) enum Step {
    Nop,
    /// A register becomes indeterminate.
    Forget(u32),
    /// A local in memory becomes indeterminate.
    ForgetMemory {
        var: u32,
        size: u64,
    },
    /// An array of variable length gets another object, or only its lengths are looked at.
    Measure {
        var: Option<u32>,
        lengths: Box<[Value]>,
        element: u64,
    },
    /// The life of an array of variable length ends.
    End(u32),
    Assign {
        dst: u32,
        value: Value,
    },
    Load {
        dst: u32,
        addr: Value,
        bytes: u64,
        sort: Sort,
        /// Bits of the value that anything depends on.
        relevant: u128,
    },
    /// Writes a bit-field's storage unit: only the `written` bits come from elsewhere than the unit.
    StoreBits {
        addr: Value,
        value: Value,
        bytes: u64,
        written: u128,
    },
    Store {
        addr: Value,
        value: Value,
        bytes: u64,
    },
    Copy {
        dst: Value,
        src: Value,
        bytes: u64,
    },
    Zero {
        dst: Value,
        bytes: u64,
    },
    Call(Box<Call>),
    Branch {
        cond: Value,
    },
    Return {
        value: Option<Value>,
    },
    Unreachable,
    Unknown(Arc<str>),
}

/// A node: its step and successors.
#[derive(Debug)]
pub(crate) struct CodeNode {
    pub step: Step,
    /// First and second successor; `u32::MAX` for none.
    pub succs: [u32; 2],
}

pub(crate) const NO_NODE: u32 = u32::MAX;

/// Executable form of a function.
#[derive(Debug)]
pub(crate) struct Code {
    pub nodes: Vec<CodeNode>,
    pub vars: usize,
    /// By variable; `None` for aggregates.
    pub sorts: Vec<Option<Sort>>,
    /// Variables that live in memory from the call on, with their sizes: none of variable length.
    pub memory_vars: Vec<(u32, u64)>,
    pub params: Vec<Param>,
    pub variadic: bool,
    /// Bytes of an aggregate result.
    pub aggregate_result: Option<u64>,
}

/// How a parameter receives its argument.
#[derive(Debug)]
pub(crate) struct Param {
    pub var: u32,
    pub sort: Option<Sort>,
    pub in_memory: bool,
    pub size: u64,
}
