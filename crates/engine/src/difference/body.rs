//! One function as a control-flow automaton: what every node does, reads and writes.
//!
//! An access through a pointer may meet every object whose address is used for anything but
//! accesses. Library functions read and write what their rows say, and return.

use super::assume::{self, Atom};
use super::linear::Reader;
use super::names;
use super::part::{ALL, ANY, EVERYTHING, FrameId, INPUT, ObjectId, Objects, Part, STDIN, WORLD, Write};
use super::{Concerns, undefined};
use crate::interp;
use crate::ir::library::control::{Calls, Ends, calls, ends};
use crate::ir::{
    Access, CType, Callee, Const, Expr, Function, Instr, Linkage, NodeId, Object, Sort, Unit, VarId,
};
use crate::mvicfg::key;
use crate::semantics::{address, library};
use std::collections::HashMap;
use std::sync::Arc;

/// Interned texts: equal numbers, equal texts.
#[derive(Default)]
pub(super) struct Texts(HashMap<String, u32>);

impl Texts {
    pub fn id(&mut self, text: String) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(text).or_insert(next)
    }
}

/// What a node does.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Nothing.
    Skip,
    /// Reads, then writes, and goes on.
    Plain,
    Branch(Atom),
    Call(Call),
    /// The exit of the function.
    Leave,
    /// The property is violated.
    Fail,
    /// The program ends, without a violation.
    Halt,
}

/// A call of a function that is no library function.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Index of the body of its definition, if that is at hand.
    pub target: Option<usize>,
    /// It can be stepped into.
    pub enterable: bool,
    /// Its name, if it has one.
    pub callee: Option<Arc<str>>,
    /// It does not return.
    pub noreturn: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Step {
    pub kind: Kind,
    /// Equal for operations that do the same on equal values.
    pub text: u32,
    pub reads: Vec<Part>,
    pub writes: Vec<Write>,
    /// What is assigned to which variable, for constants.
    pub assigns: Option<(ObjectId, Expr)>,
    /// May be undefined, depending on the values read.
    pub traps: bool,
}

/// A function of one version.
pub(super) struct Body {
    pub frame: FrameId,
    pub function: Arc<Function>,
    pub steps: Vec<Step>,
    /// By variable.
    pub objects: Vec<ObjectId>,
    /// Stands for the value that is returned.
    pub result: ObjectId,
    /// By node: the next node that every way to the exit passes.
    pub after: Vec<Option<NodeId>>,
}

/// Whether the call of a function is a violation.
pub(crate) fn is_failure(name: &str, concerns: &Concerns) -> bool {
    match ends(name) {
        Some(Ends::Failed) => true,
        Some(Ends::Aborted) => concerns.aborts,
        _ => false,
    }
}

/// Whether a function yields an arbitrary value and does nothing else.
pub(super) fn is_input(name: &str) -> bool {
    name.starts_with("__VERIFIER_nondet_")
}

/// Whether a function that is not defined in the program calls back none of its functions.
pub(crate) fn calls_nothing(name: &str) -> bool {
    let calls_back = calls(name) == Some(Calls::Now);
    let known = library::row(name).is_some() || interp::is_library(name);
    is_input(name) || ends(name) == Some(Ends::Failed) || known && !calls_back
}

/// Whether calls of a function have control come from elsewhere: handlers, threads.
pub(super) fn is_beyond(name: &str) -> bool {
    calls(name).is_some_and(|when| when != Calls::Now)
}

/// Makes the bodies of one version.
pub(super) struct Maker<'m> {
    pub objects: &'m mut Objects,
    pub texts: &'m mut Texts,
    pub unit: &'m Unit,
    /// Tells static objects of different files apart.
    pub tag: &'m str,
    pub concerns: &'m Concerns,
    /// Looks up a definition that a call of this name reaches.
    pub resolve: &'m dyn Fn(&str) -> Option<usize>,
    /// Whether a definition can be stepped into with so many arguments.
    pub enterable: &'m dyn Fn(usize, usize) -> bool,
}

/// A body under construction.
struct Frame<'f> {
    f: &'f Function,
    id: FrameId,
    names: Vec<String>,
    objects: Vec<ObjectId>,
    result: ObjectId,
}

impl key::Names for Frame<'_> {
    fn var(&self, out: &mut String, var: VarId) {
        out.push_str(self.names.get(var.0 as usize).map_or("?", String::as_str));
    }
}

impl Maker<'_> {
    pub fn body(&mut self, f: Arc<Function>, id: FrameId, old: Option<&Function>) -> Body {
        let names = names::names(&f, old);
        let objects: Vec<ObjectId> = names.iter().map(|n| self.objects.variable(id, n)).collect();
        let result = self.objects.variable(id, "\\result");
        let frame = Frame { f: &f, id, names, objects, result };
        f.nodes.iter().for_each(|n| self.find_exposed(&frame, &n.instr));
        let mut steps: Vec<Step> = (0..f.nodes.len()).map(|n| self.step(&frame, NodeId(n as u32))).collect();
        if self.concerns.undefined {
            undefined::mark(&f, self.unit, &mut steps);
        }
        let (objects, after) = (frame.objects, after(&f));
        Body { frame: id, steps, objects, result, after, function: f }
    }

    fn object(&mut self, frame: &Frame, object: &Object) -> Option<(ObjectId, u64)> {
        match object {
            Object::Local(v) => {
                let size = frame.f.vars.get(v.0 as usize).map_or(0, |v| v.size);
                Some((*frame.objects.get(v.0 as usize)?, size))
            }
            Object::Global(symbol) => {
                let global = self.unit.global(symbol);
                let id = global_object(self.objects, self.unit, self.tag, symbol);
                Some((id, global.map_or(0, |g| g.size)))
            }
            Object::Function(_) => None,
        }
    }

    /// The bytes of an access; all of the object when it is not known how many.
    fn target(&mut self, frame: &Frame, address: &Expr, bytes: Option<u64>) -> Write {
        let found = address::object(address).and_then(|(o, at)| Some((self.object(frame, o)?, at)));
        let Some(((object, size), offset)) = found else {
            return Write { part: Part::whole(ANY), strong: false };
        };
        let exact = offset.zip(bytes).and_then(|(at, n)| {
            let from = u64::try_from(at).ok()?;
            Some(Part { object, from, to: from.checked_add(n)? }).filter(|p| p.to <= size)
        });
        match exact {
            Some(part) => Write { part, strong: true },
            None => Write { part: Part::whole(object), strong: false },
        }
    }

    /// Marks the objects that pointers made here may lead to.
    fn find_exposed(&mut self, frame: &Frame, instr: &Instr) {
        let access = |e: &Expr| address::object(e).is_some();
        let mut used: Vec<&Expr> = Vec::new();
        match instr {
            Instr::Assign { value, .. } | Instr::Return { value: Some(value) } => used.push(value),
            Instr::Load { addr, .. } if !access(addr) => used.push(addr),
            Instr::Store { addr, value, .. } => {
                used.push(value);
                used.extend((!access(addr)).then_some(addr));
            }
            Instr::Copy { dst, src, .. } => used.extend([dst, src].into_iter().filter(|e| !access(e))),
            Instr::Zero { dst, .. } if !access(dst) => used.push(dst),
            Instr::Call { callee, args, arg_types, dst, result_to, .. } => {
                let row = match callee {
                    Callee::Direct(name) if (self.resolve)(name).is_none() => {
                        library::row_of_call(self.unit, name, args)
                    }
                    _ => None,
                };
                // What a library function borrows it may return, or store (the end of a number).
                let returns_pointer = dst.is_some_and(|d| frame.f.var(d).ty.is_pointer())
                    || row.is_some_and(|r| r.name.starts_with("strto"));
                for (k, arg) in args.iter().enumerate() {
                    let lent = row.is_some_and(|r| r.borrows(k) && !returns_pointer) && access(arg);
                    let copied = row.is_none() && access(arg) && arg_types.get(k).is_some_and(is_aggregate);
                    used.extend((!lent && !copied).then_some(arg));
                }
                used.extend(result_to.iter().filter(|e| !access(e)));
                if let Callee::Indirect(e) = callee {
                    used.push(e);
                }
            }
            _ => {}
        }
        let mut found = Vec::new();
        used.iter().for_each(|e| {
            e.for_each(&mut |x| {
                if let Expr::Addr(object) = x {
                    found.push(object.clone());
                }
            });
        });
        for object in found {
            if let Some((id, _)) = self.object(frame, &object) {
                self.objects.expose(id);
            }
        }
    }

    fn step(&mut self, frame: &Frame, id: NodeId) -> Step {
        let node = frame.f.node(id);
        let mut text = format!("{}|", frame.id);
        key::instr(&mut text, &node.instr, frame);
        let mut step = Step {
            kind: Kind::Plain,
            text: self.texts.id(text),
            reads: Vec::new(),
            writes: Vec::new(),
            assigns: None,
            traps: false,
        };
        let variable = |v: &VarId| {
            let object = frame.objects.get(v.0 as usize).copied().unwrap_or(EVERYTHING);
            Write { part: Part::whole(object), strong: true }
        };
        match &node.instr {
            _ if id == Function::EXIT => step.kind = Kind::Leave,
            Instr::Nop => step.kind = Kind::Skip,
            Instr::Declare(v) => step.writes.push(variable(v)),
            Instr::Measure { var, lengths, .. } => {
                lengths.iter().for_each(|e| reads(frame, e, &mut step.reads));
                step.writes.extend(var.as_ref().map(variable));
            }
            Instr::Assign { dst, value } => {
                reads(frame, value, &mut step.reads);
                step.writes.push(variable(dst));
                step.assigns = Some((variable(dst).part.object, value.clone()));
            }
            Instr::Load { dst, addr, access } => {
                reads(frame, addr, &mut step.reads);
                step.reads.push(self.target(frame, addr, Some(access.bytes)).part);
                step.writes.push(variable(dst));
                self.add_volatile(access, &mut step);
            }
            Instr::Store { addr, value, access } => {
                reads(frame, addr, &mut step.reads);
                reads(frame, value, &mut step.reads);
                step.writes.push(self.target(frame, addr, Some(access.bytes)));
                self.add_volatile(access, &mut step);
            }
            Instr::Copy { dst, src, bytes } => {
                reads(frame, dst, &mut step.reads);
                reads(frame, src, &mut step.reads);
                step.reads.push(self.target(frame, src, Some(*bytes)).part);
                step.writes.push(self.target(frame, dst, Some(*bytes)));
            }
            Instr::Zero { dst, bytes } => {
                reads(frame, dst, &mut step.reads);
                step.writes.push(self.target(frame, dst, Some(*bytes)));
            }
            Instr::Branch { cond } => {
                reads(frame, cond, &mut step.reads);
                step.kind = Kind::Branch(self.atom(frame, cond));
            }
            Instr::Return { value } => {
                step.writes.push(Write { part: Part::whole(frame.result), strong: true });
                if let Some(value) = value {
                    reads(frame, value, &mut step.reads);
                    match frame.f.ret {
                        CType::Record(_) => step.reads.push(self.target(frame, value, None).part),
                        _ => step.assigns = Some((frame.result, value.clone())),
                    }
                }
            }
            Instr::Unreachable => step.kind = Kind::Fail,
            Instr::Unknown { writes, .. } => {
                step.reads.push(Part::whole(EVERYTHING));
                step.writes.extend(writes.iter().map(variable));
                // Whether it ends, or fails, is as unknown as what it does.
                step.kind =
                    Kind::Call(Call { target: None, enterable: false, callee: None, noreturn: false });
            }
            Instr::Call { .. } => self.call(frame, &node.instr, &mut step),
        }
        step
    }

    /// What is volatile may change from outside.
    fn add_volatile(&mut self, access: &Access, step: &mut Step) {
        if access.volatile {
            step.reads.push(Part::whole(WORLD));
            step.writes.push(Write { part: Part::whole(WORLD), strong: true });
        }
    }

    fn atom(&mut self, frame: &Frame, cond: &Expr) -> Atom {
        let (core, negated) = assume::core(cond);
        let mut id = |e: &Expr| {
            let mut text = format!("{}|", frame.id);
            key::expr(&mut text, e, frame);
            self.texts.id(text)
        };
        let text = id(core);
        let compared = assume::compared(core).map(&mut id).collect();
        let reads = |e: &Expr| {
            let mut objects = Vec::new();
            e.for_each_var(&mut |v| objects.extend(frame.objects.get(v.0 as usize)));
            objects
        };
        let pointer = self.unit.data_model.pointer_bits();
        // A variable without a sort is in memory, and in no expression.
        let of = |v: VarId| frame.f.vars.get(v.0 as usize).and_then(|v| v.sort).unwrap_or(Sort::Bool);
        let width = |e: &Expr| match e.sort(pointer, &of) {
            Sort::Bv(width) => Some(width),
            _ => None,
        };
        let readings = Reader { id: &mut id, reads: &reads, width: &width }.readings(core);
        Atom { negated, text, readings, compared }
    }

    fn call(&mut self, frame: &Frame, instr: &Instr, step: &mut Step) {
        let Instr::Call { dst, callee, args, arg_types, result_to, noreturn, .. } = instr else { return };
        if let Callee::Direct(name) = callee
            && is_failure(name, self.concerns)
        {
            step.kind = Kind::Fail;
            return;
        }
        args.iter().chain(result_to).for_each(|a| reads(frame, a, &mut step.reads));
        let object = |v: &VarId| frame.objects.get(v.0 as usize).copied().unwrap_or(EVERYTHING);
        step.writes.extend(dst.iter().map(|v| Write { part: Part::whole(object(v)), strong: true }));
        if let Some(to) = result_to {
            let written = self.target(frame, to, None);
            step.writes.push(written);
        }
        let name = match callee {
            Callee::Direct(name) => name,
            Callee::Indirect(e) => {
                reads(frame, e, &mut step.reads);
                step.kind =
                    Kind::Call(Call { target: None, enterable: false, callee: None, noreturn: *noreturn });
                step.reads.push(Part::whole(ALL));
                return;
            }
        };
        let definition = (self.resolve)(name);
        let known = if definition.is_none() { library::row_of_call(self.unit, name, args) } else { None };
        match known {
            _ if definition.is_none() && is_input(name) => {
                step.reads.push(Part::whole(INPUT));
                step.writes.push(Write { part: Part::whole(INPUT), strong: true });
            }
            _ if definition.is_none() && *noreturn && interp::is_library(name) => step.kind = Kind::Halt,
            Some(row) => self.library_call(frame, row, args, step),
            None => {
                for (arg, ty) in args.iter().zip(arg_types) {
                    if is_aggregate(ty) {
                        step.reads.push(self.target(frame, arg, None).part);
                    }
                }
                let enterable = definition.is_some_and(|d| (self.enterable)(d, args.len()));
                if !enterable {
                    step.reads.push(Part::whole(ALL));
                }
                let (target, callee) = (definition, Some(name.clone()));
                step.kind = Kind::Call(Call { target, enterable, callee, noreturn: *noreturn });
            }
        }
    }

    fn library_call(&mut self, frame: &Frame, row: &library::Row, args: &[Expr], step: &mut Step) {
        for (k, arg) in args.iter().enumerate() {
            let target = self.target(frame, arg, None);
            if row.reads_arg(k) {
                step.reads.push(target.part);
            }
            if row.writes_arg(k) {
                step.writes.push(Write { strong: false, ..target });
            }
        }
        if row.asks_streams {
            step.reads.push(Part::whole(STDIN));
        }
        let outside = [(row.stdin, STDIN), (row.world, WORLD), (row.memory, ANY)];
        for (_, object) in outside.into_iter().filter(|(touched, _)| *touched) {
            step.reads.push(Part::whole(object));
            step.writes.push(Write { part: Part::whole(object), strong: object != ANY });
        }
        if row.errno {
            let errno = self.objects.global(library::ERRNO, "");
            step.writes.push(Write { part: Part::whole(errno), strong: true });
        }
        if row.name == "__errno_location" {
            // From here on a pointer leads to it.
            let errno = self.objects.global(library::ERRNO, "");
            self.objects.expose(errno);
        }
    }
}

fn is_aggregate(ty: &CType) -> bool {
    matches!(ty, CType::Record(_) | CType::Array(..) | CType::Opaque { .. })
}

fn reads(frame: &Frame, e: &Expr, out: &mut Vec<Part>) {
    e.for_each_var(&mut |v| out.extend(frame.objects.get(v.0 as usize).map(|o| Part::whole(*o))));
}

/// Returns the object of a symbol as a unit means it.
pub(super) fn global_object(objects: &mut Objects, unit: &Unit, tag: &str, symbol: &str) -> ObjectId {
    let linkage = unit.global(symbol).map(|g| g.linkage);
    let private = linkage == Some(Linkage::Internal);
    let id = objects.global(symbol, if private { tag } else { "" });
    // Others may have the address of what others may name.
    if matches!(linkage, None | Some(Linkage::External | Linkage::Weak | Linkage::Import)) {
        objects.expose(id);
    }
    id
}

/// The node behind each node on every way to the exit (its immediate post-dominator); ways that end
/// elsewhere do not count.
fn after(f: &Function) -> Vec<Option<NodeId>> {
    let n = f.nodes.len();
    let mut back = petgraph::graph::DiGraph::<(), ()>::with_capacity(n, n);
    let ids: Vec<_> = (0..n).map(|_| back.add_node(())).collect();
    for (i, node) in f.nodes.iter().enumerate() {
        for s in &node.succs {
            back.add_edge(ids[s.0 as usize], ids[i], ());
        }
    }
    let exit = ids[Function::EXIT.0 as usize];
    let dominators = petgraph::algo::dominators::simple_fast(&back, exit);
    ids.iter().map(|i| dominators.immediate_dominator(*i).map(|d| NodeId(d.index() as u32))).collect()
}

/// Evaluates an expression where all variables in it are known.
pub(super) fn fold(e: &Expr, value: &impl Fn(VarId) -> Option<Const>) -> Option<Const> {
    match e {
        Expr::Const(c) => Some(*c),
        Expr::Var(v) => value(*v),
        Expr::Addr(_) => None,
        Expr::Op { op, args, .. } => {
            let args: Option<Vec<Const>> = args.iter().map(|a| fold(a, value)).collect();
            op.folded(&args?)
        }
    }
}
