//! Makes a function's executable form: looks up every symbol once, on first call.

use super::code::{Call, Code, CodeNode, NO_NODE, Param, Step, Target, Unknown, Value};
use super::demanded_bits::{self, Demand};
use super::ids::DefinitionId;
use super::library;
use super::magnitude;
use super::program::Program;
use crate::ir::{CType, Callee, Const, Expr, Function, Instr, Object, Unit, VarId};

/// Returns the code of a program's function.
pub(crate) fn code_of(program: &Program, definition: DefinitionId) -> Option<&Code> {
    program.code_or(definition, |unit_index, unit, f| resolved(program, unit_index, unit, f))
}

fn resolved(program: &Program, unit_index: usize, unit: &Unit, f: &Function) -> Code {
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
        library::find(name).is_some() && definition().is_some_and(|d| d.unit != self.unit)
    }

    fn target(&self, callee: &Callee) -> Target {
        match callee {
            Callee::Indirect(e) => Target::Indirect(self.value(e)),
            Callee::Direct(name) => match self.program.definition_from(self.unit, name) {
                Some(id) => Target::Definition(id),
                None => match library::find(name) {
                    Some(row) => Target::Library(row),
                    None => Target::Unknown(Unknown::named(name)),
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
