//! Keys of instructions and statements: equal keys mean interchangeable instructions.
//!
//! A key spells an instruction with its variables by name, so that two versions of a function can be
//! compared although their variable numbers differ. Source positions, macro names and display types
//! take no part: layout and comments change no key.

use super::positions;
use crate::ir::{
    Binding, CType, Callee, Expr, Function, Instr, NodeId, Object, StmtId, VarId, VarKind, literal,
};
use std::fmt::Write;
use std::sync::Arc;

/// Spells variables.
pub trait Names {
    fn var(&self, out: &mut String, var: VarId);

    /// Spells a function that is called by name.
    fn callee(&self, out: &mut String, name: &Arc<str>) {
        out.push_str(name);
    }

    /// Whether what `__LINE__` gives takes part.
    fn line_numbers(&self) -> bool {
        true
    }
}

/// Spells variables by source name, occurrence, sort and storage.
pub struct SourceNames<'a>(pub &'a Function);

impl Names for SourceNames<'_> {
    fn var(&self, out: &mut String, var: VarId) {
        let v = self.0.var(var);
        out.push_str(&v.name);
        if v.kind != VarKind::Temp {
            // Temporaries are told apart by their statement, which numbers them afresh.
            let _ = write!(out, "#{}", v.ordinal);
        }
        let _ = write!(out, ":{:?}{}", v.sort, if v.in_memory { "m" } else { "" });
        if v.in_memory {
            let _ = write!(out, "{}", v.size);
        }
    }
}

/// The same without what `__LINE__` gives.
pub struct Unplaced<'a>(pub &'a Function);

impl Names for Unplaced<'_> {
    fn var(&self, out: &mut String, var: VarId) {
        SourceNames(self.0).var(out, var);
    }

    fn line_numbers(&self) -> bool {
        false
    }
}

/// Writes the key of an expression.
pub fn expr(out: &mut String, e: &Expr, names: &impl Names) {
    match e {
        Expr::Const(c) => {
            let _ = write!(out, "{c:?}");
        }
        Expr::Var(v) => names.var(out, *v),
        Expr::Addr(Object::Local(v)) => {
            out.push('&');
            names.var(out, *v);
        }
        Expr::Addr(Object::Global(s)) => {
            let unplaced = literal::placed(s).filter(|_| !names.line_numbers());
            let _ = write!(out, "&{}", unplaced.as_ref().map_or(s, |(_, other)| other));
        }
        Expr::Addr(Object::Function(s)) => {
            let _ = write!(out, "&{s}()");
        }
        line if !names.line_numbers() && line.is_line_number() => out.push_str("__LINE__"),
        Expr::Op { op, args, signed_arith } => {
            let _ = write!(out, "({op:?}{}", if *signed_arith { "s" } else { "" });
            for a in args {
                out.push(' ');
                expr(out, a, names);
            }
            out.push(')');
        }
    }
}

/// Writes the key of an instruction, without its successors.
pub fn instr(out: &mut String, i: &Instr, names: &impl Names) {
    let put = |out: &mut String, tag: &str, es: &[&Expr]| {
        out.push_str(tag);
        for e in es {
            out.push(' ');
            expr(out, e, names);
        }
    };
    match i {
        Instr::Nop => out.push_str("nop"),
        Instr::Declare(v) => {
            out.push_str("declare ");
            names.var(out, *v);
        }
        Instr::Measure { var, lengths, element } => {
            put(out, "measure", &lengths.iter().collect::<Vec<_>>());
            let _ = write!(out, " {element}");
            if let Some(v) = var {
                out.push_str(" -> ");
                names.var(out, *v);
            }
        }
        Instr::Assign { dst, value } => {
            put(out, "set", &[value]);
            out.push_str(" -> ");
            names.var(out, *dst);
        }
        Instr::Load { dst, addr, access } => {
            put(out, "load", &[addr]);
            let _ = write!(
                out,
                " {:?}{}{} -> ",
                access.sort,
                access.bytes,
                if access.volatile { "v" } else { "" }
            );
            names.var(out, *dst);
        }
        Instr::Store { addr, value, access } => {
            put(out, "store", &[addr, value]);
            let _ =
                write!(out, " {:?}{}{}", access.sort, access.bytes, if access.volatile { "v" } else { "" });
        }
        Instr::Copy { dst, src, bytes } => {
            put(out, "copy", &[dst, src]);
            let _ = write!(out, " {bytes}");
        }
        Instr::Zero { dst, bytes } => {
            put(out, "zero", &[dst]);
            let _ = write!(out, " {bytes}");
        }
        Instr::Call { dst, callee, args, result_to, noreturn, .. } => {
            out.push_str("call ");
            match callee {
                Callee::Direct(name) => names.callee(out, name),
                Callee::Indirect(e) => expr(out, e, names),
            }
            put(out, "", &args.iter().chain(result_to).collect::<Vec<_>>());
            let _ = write!(out, "{}", if *noreturn { " noreturn" } else { "" });
            if let Some(dst) = dst {
                out.push_str(" -> ");
                names.var(out, *dst);
            }
        }
        Instr::Branch { cond } => put(out, "branch", &[cond]),
        Instr::Return { value } => put(out, "return", &value.iter().collect::<Vec<_>>()),
        Instr::Unreachable => out.push_str("unreachable"),
        // What the parser skipped is in the text.
        Instr::Unknown { reason, text, reads, writes, anything, skips: _ } => {
            let _ = write!(out, "unknown {reason} {anything} {text}");
            put(out, " of", &reads.iter().collect::<Vec<_>>());
            out.push_str(" ->");
            for w in writes {
                out.push(' ');
                names.var(out, *w);
            }
        }
    }
}

/// Returns the nodes of every statement, in node order.
pub fn nodes_by_stmt(f: &Function) -> Vec<Vec<NodeId>> {
    let mut nodes = vec![Vec::new(); f.stmts.len()];
    for (i, node) in f.nodes.iter().enumerate() {
        if let Some(list) = nodes.get_mut(node.stmt.0 as usize) {
            list.push(NodeId(i as u32));
        }
    }
    nodes
}

/// Returns the key of a statement: its instructions and the edges that stay within it.
pub fn stmt(f: &Function, id: StmtId, nodes: &[NodeId], names: &impl Names) -> String {
    let mut out = String::from(f.stmts.get(id.0 as usize).map_or("", |s| s.kind));
    for &n in nodes {
        out.push('\n');
        instr(&mut out, &f.node(n).instr, names);
        out.push_str(" =>");
        for s in &f.node(n).succs {
            match nodes.iter().position(|m| m == s) {
                Some(k) => {
                    let _ = write!(out, " {k}");
                }
                None => out.push_str(" out"),
            }
        }
    }
    out
}

/// Spells variables by the order of their first occurrence.
struct Numbered<'a> {
    function: &'a Function,
    numbers: std::cell::RefCell<std::collections::HashMap<VarId, usize>>,
    line_numbers: bool,
    /// Functions called so far, where they are spelled by number, too.
    callees: Option<std::cell::RefCell<Vec<Arc<str>>>>,
}

impl Names for Numbered<'_> {
    fn var(&self, out: &mut String, var: VarId) {
        let mut numbers = self.numbers.borrow_mut();
        let next = numbers.len();
        let k = *numbers.entry(var).or_insert(next);
        let v = self.function.var(var);
        let _ = write!(out, "v{k}:{:?}{}", v.sort, if v.in_memory { v.size } else { 0 });
    }

    fn callee(&self, out: &mut String, name: &Arc<str>) {
        let Some(callees) = &self.callees else {
            // A function that only got another name calls itself as before.
            out.push_str(if *name == self.function.name { "\\self" } else { name });
            return;
        };
        let mut callees = callees.borrow_mut();
        let known = callees.iter().position(|c| c == name);
        let _ = write!(out, "@{}", known.unwrap_or(callees.len()));
        if known.is_none() {
            callees.push(name.clone());
        }
    }

    fn line_numbers(&self) -> bool {
        self.line_numbers
    }
}

/// Returns a hash of the whole body that does not depend on layout, comments or names of locals.
/// Two functions with equal hashes behave the same when their callees and globals do, but for the
/// numbers that `__LINE__` gives, where nothing is compared with them.
pub fn body_hash(f: &Function) -> String {
    hash(f, positions::are_compared(f))
}

/// The same with the numbers that `__LINE__` gives.
pub fn exact_body_hash(f: &Function) -> String {
    hash(f, true)
}

/// As [`body_hash`], with callees by number and not by name, and their names.
/// `line_numbers`: and with those that `__LINE__` gives.
pub fn body_and_callees(f: &Function, line_numbers: bool) -> (String, Vec<Arc<str>>) {
    let callees = Some(Default::default());
    let names = Numbered { function: f, numbers: Default::default(), line_numbers, callees };
    let hash = spelled(f, &names);
    (hash, names.callees.map(std::cell::RefCell::into_inner).unwrap_or_default())
}

fn hash(f: &Function, line_numbers: bool) -> String {
    spelled(f, &Numbered { function: f, numbers: Default::default(), line_numbers, callees: None })
}

/// Spells a type. The number of a record is its unit's own, and what it has there shows where it is used.
fn ty(out: &mut String, t: &CType) {
    match t {
        CType::Pointer(to) => {
            out.push('*');
            ty(out, to);
        }
        CType::Array(element, n) => {
            let _ = write!(out, "{n:?}");
            ty(out, element);
        }
        CType::Record(_) => out.push_str("record"),
        other => _ = write!(out, "{other:?}"),
    }
}

fn spelled(f: &Function, names: &Numbered) -> String {
    let mut out = format!("{} ", f.variadic);
    ty(&mut out, &f.ret);
    for &p in &f.params {
        names.var(&mut out, p);
        out.push(' ');
        ty(&mut out, &f.var(p).ty);
    }
    if f.binding != Binding::default() {
        let _ = write!(out, " {:?}", f.binding);
    }
    for node in &f.nodes {
        out.push('\n');
        instr(&mut out, &node.instr, names);
        for s in &node.succs {
            let _ = write!(out, " {}", s.0);
        }
    }
    blake3::hash(out.as_bytes()).to_hex()[..32].to_string()
}

/// Rewrites an instruction's variables through a map.
pub fn rename(i: &Instr, vars: &[VarId]) -> Instr {
    let v = |id: VarId| vars[id.0 as usize];
    let e = |x: &Expr| rename_expr(x, vars);
    match i {
        Instr::Nop | Instr::Unreachable => i.clone(),
        Instr::Declare(x) => Instr::Declare(v(*x)),
        Instr::Measure { var, lengths, element } => {
            Instr::Measure { var: var.map(v), lengths: lengths.iter().map(e).collect(), element: *element }
        }
        Instr::Assign { dst, value } => Instr::Assign { dst: v(*dst), value: e(value) },
        Instr::Load { dst, addr, access } => {
            Instr::Load { dst: v(*dst), addr: e(addr), access: access.clone() }
        }
        Instr::Store { addr, value, access } => {
            Instr::Store { addr: e(addr), value: e(value), access: access.clone() }
        }
        Instr::Copy { dst, src, bytes } => Instr::Copy { dst: e(dst), src: e(src), bytes: *bytes },
        Instr::Zero { dst, bytes } => Instr::Zero { dst: e(dst), bytes: *bytes },
        Instr::Call { dst, callee, args, arg_types, ret, result_to, noreturn } => Instr::Call {
            dst: dst.map(v),
            callee: match callee {
                Callee::Direct(n) => Callee::Direct(n.clone()),
                Callee::Indirect(x) => Callee::Indirect(e(x)),
            },
            args: args.iter().map(e).collect(),
            arg_types: arg_types.clone(),
            ret: ret.clone(),
            result_to: result_to.as_ref().map(e),
            noreturn: *noreturn,
        },
        Instr::Branch { cond } => Instr::Branch { cond: e(cond) },
        Instr::Return { value } => Instr::Return { value: value.as_ref().map(e) },
        Instr::Unknown { reason, text, reads, writes, anything, skips } => Instr::Unknown {
            reason: reason.clone(),
            text: text.clone(),
            reads: reads.iter().map(e).collect(),
            writes: writes.iter().map(|w| v(*w)).collect(),
            anything: *anything,
            skips: *skips,
        },
    }
}

fn rename_expr(x: &Expr, vars: &[VarId]) -> Expr {
    match x {
        Expr::Const(_) => x.clone(),
        Expr::Var(v) => Expr::Var(vars[v.0 as usize]),
        Expr::Addr(Object::Local(v)) => Expr::Addr(Object::Local(vars[v.0 as usize])),
        Expr::Addr(_) => x.clone(),
        Expr::Op { op, args, signed_arith } => Expr::Op {
            op: *op,
            args: args.iter().map(|a| rename_expr(a, vars)).collect(),
            signed_arith: *signed_arith,
        },
    }
}
