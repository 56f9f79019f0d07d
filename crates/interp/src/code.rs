//! A function's body with its symbols resolved: what the machine executes.
//!
//! Resolving removes every lookup by name from the run: addresses of globals and functions become
//! constants, callees become indices or library models. It happens once a function, on first call.

use super::demanded_bits::{self, Demand};
use super::library::{self, Model};
use super::magnitude;
use super::program::Program;
use crate::ir::{CType, Callee, Const, Expr, Function, Instr, Object, Op, Sort, Unit, VarId};
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

/// What a call reaches.
#[derive(Debug)]
pub(crate) enum Target {
    Definition(usize),
    Model(&'static Model),
    /// Neither defined nor modelled.
    Unknown(Arc<str>),
    Indirect(Value),
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

impl Code {
    pub fn new(program: &Program, unit_index: usize, unit: &Unit, f: &Function) -> Code {
        let resolver = Resolver { program, unit: unit_index, function: f, demand: Demand::new(f) };
        let nodes = f.nodes.iter().map(|n| {
            let succ = |i: usize| n.succs.get(i).map_or(NO_NODE, |s| s.0);
            CodeNode { step: resolver.step(&n.instr), succs: [succ(0), succ(1)] }
        });
        let vars = f.vars.iter().enumerate();
        let memory_vars = vars.filter(|(_, v)| (v.in_memory || v.sort.is_none()) && !v.is_variable_length());
        let memory_vars = memory_vars.map(|(i, v)| (i as u32, v.size));
        let params = f.params.iter().filter_map(|p| {
            let v = f.vars.get(p.0 as usize)?;
            let in_memory = v.in_memory || v.sort.is_none();
            Some(Param { var: p.0, sort: v.sort, in_memory, size: v.size })
        });
        let is_aggregate = f.ret != CType::Void && f.ret.sort(program.pointer_bits()).is_none();
        Code {
            nodes: nodes.collect(),
            vars: f.vars.len(),
            sorts: f.vars.iter().map(|v| v.sort).collect(),
            memory_vars: memory_vars.collect(),
            params: params.collect(),
            variadic: f.variadic,
            aggregate_result: if is_aggregate { unit.size_of(&f.ret) } else { None },
        }
    }
}

struct Resolver<'a> {
    program: &'a Program,
    unit: usize,
    function: &'a Function,
    demand: Demand,
}

impl Resolver<'_> {
    fn step(&self, instr: &Instr) -> Step {
        if self.program.is_beyond(self.unit, instr) {
            return Step::Unknown("initial value that does not fold".into());
        }
        match instr {
            Instr::Nop => Step::Nop,
            Instr::Declare(v) => match self.function.vars.get(v.0 as usize) {
                Some(var) if var.is_variable_length() => Step::End(v.0),
                Some(var) if var.in_memory || var.sort.is_none() => {
                    Step::ForgetMemory { var: v.0, size: var.size }
                }
                _ => Step::Forget(v.0),
            },
            Instr::Measure { var, lengths, element } => Step::Measure {
                var: var.map(|VarId(v)| v),
                lengths: lengths.iter().map(|e| self.value(e)).collect(),
                element: *element,
            },
            Instr::Assign { dst, value } => Step::Assign { dst: dst.0, value: self.value(value) },
            Instr::Load { dst, addr, access } => Step::Load {
                dst: dst.0,
                addr: self.value(addr),
                bytes: access.bytes,
                sort: access.sort,
                relevant: self.demand.of(*dst),
            },
            Instr::Store { addr, value, access } => {
                let written = demanded_bits::written_bits(self.function, addr, value, access.sort);
                let (addr, value, bytes) = (self.value(addr), self.value(value), access.bytes);
                match written {
                    Some(written) => Step::StoreBits { addr, value, bytes, written },
                    None => Step::Store { addr, value, bytes },
                }
            }
            Instr::Copy { dst, src, bytes } => {
                Step::Copy { dst: self.value(dst), src: self.value(src), bytes: *bytes }
            }
            Instr::Zero { dst, bytes } => Step::Zero { dst: self.value(dst), bytes: *bytes },
            Instr::Call { callee: Callee::Direct(name), .. } if self.is_taken_over(name) => Step::Unknown(
                format!("{name}() of another file, which compilers take for the library's").into(),
            ),
            Instr::Call { dst, callee, args, arg_types, ret, result_to, noreturn } => {
                Step::Call(Box::new(Call {
                    dst: dst.map(|VarId(v)| v),
                    target: self.target(callee),
                    args: args.iter().map(|a| self.value(a)).collect(),
                    arg_types: arg_types.clone().into_boxed_slice(),
                    ret: ret.clone(),
                    result_to: result_to.as_ref().map(|r| self.value(r)),
                    noreturn: *noreturn,
                    is_sized: magnitude::is_sized(self.function, callee, *dst),
                }))
            }
            Instr::Branch { cond } => Step::Branch { cond: self.value(cond) },
            Instr::Return { value } => Step::Return { value: value.as_ref().map(|v| self.value(v)) },
            Instr::Unreachable => Step::Unreachable,
            // The jump itself does it.
            i if i.is_second_return() => Step::Nop,
            Instr::Unknown { reason, .. } => Step::Unknown(reason.clone()),
        }
    }

    /// Whether a call of a library function leads to another file of the program: what it does is up to the
    /// compiler, which knows these by name.
    fn is_taken_over(&self, name: &str) -> bool {
        let definition = || self.program.definition(self.program.definition_from(self.unit, name)?);
        library::model(name).is_some() && definition().is_some_and(|d| d.unit != self.unit)
    }

    fn target(&self, callee: &Callee) -> Target {
        match callee {
            Callee::Indirect(e) => Target::Indirect(self.value(e)),
            Callee::Direct(name) => match self.program.definition_from(self.unit, name) {
                Some(id) => Target::Definition(id),
                None => match library::model(name) {
                    Some(model) => Target::Model(model),
                    None => Target::Unknown(name.clone()),
                },
            },
        }
    }

    fn value(&self, e: &Expr) -> Value {
        match e {
            Expr::Const(c) => Value::Const(*c),
            Expr::Var(v) => Value::Var(v.0),
            Expr::Addr(Object::Local(v)) => Value::Local(v.0),
            Expr::Addr(Object::Global(symbol)) => {
                let slot = self.program.slot_from(self.unit, symbol);
                self.address(slot.and_then(|s| self.program.slots().get(s)).map(|s| s.base))
            }
            Expr::Addr(Object::Function(name)) => self.address(self.program.code_address(self.unit, name)),
            Expr::Op { op, args, signed_arith } => match args.as_slice() {
                [a] => Value::Unary { op: *op, signed: *signed_arith, a: Box::new(self.value(a)) },
                [a, b] => Value::Binary {
                    op: *op,
                    signed: *signed_arith,
                    ab: Box::new([self.value(a), self.value(b)]),
                },
                _ => Value::Many { op: *op, args: args.iter().map(|a| self.value(a)).collect() },
            },
        }
    }

    fn address(&self, base: Option<u64>) -> Value {
        base.map_or(Value::Unresolved, |b| Value::Const(Const::bv(self.program.pointer_bits(), b as i128)))
    }
}
