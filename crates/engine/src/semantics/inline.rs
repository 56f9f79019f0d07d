//! Inlining of small callees into a copy of their caller (`docs/design/symbolic-evaluation.md`), calls
//! through pointers that lead to few functions among them.
//!
//! The copy is what is analysed: a change in a callee then shows in the facts of its callers, with
//! the callee's lines as causes. Only definitions of the same unit are inlined, since a line of
//! another unit's file would need that unit's file table. Functions that call themselves, and variadic ones stay
//! calls. One that calls its caller back is inlined: the caller then calls itself, of which summaries speak.
//! A structure that is passed is copied to the parameter, one that is returned to where the call wants it.

use super::pointers;
use crate::ir::{
    CType, Callee, Expr, Function, Instr, Node, NodeId, Object, Stmt, StmtId, Unit, Var, VarId, VarKind,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Bounds of inlining.
#[derive(Clone, Copy, Debug)]
pub struct InlineLimits {
    /// Calls within calls.
    pub depth: u32,
    /// Nodes of one callee.
    pub callee_nodes: usize,
    /// Nodes of the result.
    pub total_nodes: usize,
}

impl Default for InlineLimits {
    fn default() -> InlineLimits {
        InlineLimits { depth: 2, callee_nodes: 60, total_nodes: 1500 }
    }
}

/// Returns the function with small callees of its unit inlined, or the function itself when there is
/// nothing to inline.
pub fn inline(f: &Arc<Function>, unit: &Unit, limits: &InlineLimits) -> Arc<Function> {
    inline_but(f, unit, limits, &BTreeSet::new())
}

/// The same, but for calls of some functions, which stay calls.
pub fn inline_but(
    f: &Arc<Function>,
    unit: &Unit,
    limits: &InlineLimits,
    kept: &BTreeSet<Arc<str>>,
) -> Arc<Function> {
    let callee = |name: &str| if kept.contains(name) { None } else { inlinable(unit, name, &f.name, limits) };
    let mut result = f.clone();
    for _ in 0..limits.depth {
        // What an argument leads to, an inlined callee may call.
        result = resolved(result, unit);
        match inline_once(&result, unit, &callee, (limits, Names::Qualified)) {
            Some(next) => result = Arc::new(next),
            None => return result,
        }
    }
    resolved(result, unit)
}

fn resolved(f: Arc<Function>, unit: &Unit) -> Arc<Function> {
    pointers::resolve(&f, unit).map_or(f, Arc::new)
}

fn inlinable<'a>(unit: &'a Unit, name: &str, caller: &str, limits: &InlineLimits) -> Option<&'a Function> {
    let f = unit.callee(name)?;
    let calls_itself = f
        .nodes
        .iter()
        .any(|n| matches!(&n.instr, Instr::Call { callee: Callee::Direct(c), .. } if **c == *name));
    let fits = name != caller && !f.variadic && !calls_itself && f.nodes.len() <= limits.callee_nodes;
    (fits && f.unknowns.is_empty()).then_some(f)
}

/// Whether a call passes what the function takes, and takes what it returns.
fn is_passed(unit: &Unit, callee: &Function, call: &Instr) -> bool {
    let Instr::Call { args, arg_types, ret, result_to, .. } = call else { return false };
    let takes = |(&p, ty): (&VarId, &CType)| match callee.var(p).sort {
        Some(_) => unit.value_bytes(ty).is_some(),
        None => unit.value_bytes(ty).is_none() && unit.size_of(ty) == Some(callee.var(p).size),
    };
    let returns_nothing = |n: &Node| matches!(n.instr, Instr::Return { value: None });
    let is_taken = result_to.is_none()
        || ret == &callee.ret && unit.size_of(ret).is_some() && !callee.nodes.iter().any(returns_nothing);
    callee.params.len() == args.len()
        && arg_types.len() == args.len()
        && callee.params.iter().zip(arg_types).all(takes)
        && is_taken
}

/// A function with its calls of some functions of its unit inlined, once; `None` where there are none.
pub fn inline_calls_of(
    f: &Function,
    unit: &Unit,
    names: &BTreeSet<Arc<str>>,
    limits: &InlineLimits,
) -> Option<Function> {
    let wanted = |name: &str| names.contains(name).then(|| inlinable(unit, name, &f.name, limits)).flatten();
    inline_once(f, unit, &|name| wanted(name), (limits, Names::Own))
}

fn inline_once<'u>(
    f: &Function,
    unit: &Unit,
    wanted: &dyn Fn(&str) -> Option<&'u Function>,
    (limits, names): (&InlineLimits, Names),
) -> Option<Function> {
    let mut out = Function { nodes: Vec::new(), stmts: Vec::new(), ..f.clone() };
    // Nodes keep their statement order: a callee's statements stand right behind the call's.
    let mut sites: Vec<Option<&Function>> = Vec::new();
    let mut size = f.nodes.len();
    for node in &f.nodes {
        let target = match &node.instr {
            call @ Instr::Call { callee: Callee::Direct(name), .. } => {
                wanted(name).filter(|c| is_passed(unit, c, call))
            }
            _ => None,
        };
        let target = target.filter(|c| size + c.nodes.len() <= limits.total_nodes);
        size += target.map_or(0, |c| c.nodes.len());
        sites.push(target);
    }
    if sites.iter().all(Option::is_none) {
        return None;
    }
    for callee in sites.iter().flatten() {
        // What a callee was guessed to be, its caller rests on too.
        out.invented.extend(callee.invented.iter().cloned());
        out.records.extend(&callee.records);
    }
    out.invented.sort();
    out.invented.dedup();
    let mut inliner = Inliner { out: &mut out, unit, names, ordinals: BTreeMap::new() };
    inliner.count_names();
    inliner.set_temporaries_apart(f, &sites);
    inliner.copy(f, &sites);
    Some(out)
}

/// How the variables of an inlined function are called.
#[derive(Clone, Copy)]
enum Names {
    /// Qualified by the function, so that they never pass for the caller's own.
    Qualified,
    /// As they are, with an ordinal that none of the name has: they may be what the caller had before. What another
    /// file defines stands where it is called, as what a macro stands for does.
    Own,
}

struct Inliner<'a> {
    out: &'a mut Function,
    unit: &'a Unit,
    names: Names,
    ordinals: BTreeMap<Arc<str>, u32>,
}

impl Inliner<'_> {
    fn count_names(&mut self) {
        for v in &self.out.vars {
            let next = self.ordinals.entry(v.name.clone()).or_insert(0);
            *next = (*next).max(v.ordinal + 1);
        }
    }

    /// Temporaries are numbered afresh in each statement, and what a statement holds of its own while a callee runs
    /// must not pass for one of the callee's. Here the caller's get other names, so that the callee's statements
    /// stay equal to those that the caller had before.
    fn set_temporaries_apart(&mut self, f: &Function, sites: &[Option<&Function>]) {
        if matches!(self.names, Names::Qualified) {
            return;
        }
        let calling: BTreeSet<StmtId> =
            f.nodes.iter().zip(sites).filter(|(_, site)| site.is_some()).map(|(n, _)| n.stmt).collect();
        let mut held = BTreeSet::new();
        for node in f.nodes.iter().filter(|n| calling.contains(&n.stmt)) {
            held.extend(mentioned(&node.instr));
        }
        for v in held {
            let var = &mut self.out.vars[v.0 as usize];
            if var.kind == VarKind::Temp {
                var.name = format!("{}_", var.name).into();
            }
        }
    }

    /// Lays out all nodes, callers' first at their old ids, and all statements in source order.
    fn copy(&mut self, f: &Function, sites: &[Option<&Function>]) {
        self.out.nodes = f.nodes.clone();
        let mut order: Vec<(Stmt, Option<usize>)> = Vec::new();
        let mut stmt_of: Vec<StmtId> = Vec::new();
        let mut after: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (i, site) in sites.iter().enumerate() {
            if site.is_some() {
                after.entry(f.nodes[i].stmt.0).or_default().push(i);
            }
        }
        let mut callee_base: BTreeMap<usize, u32> = BTreeMap::new();
        for (s, stmt) in f.stmts.iter().enumerate() {
            stmt_of.push(StmtId(order.len() as u32));
            order.push((stmt.clone(), None));
            for &site in after.get(&(s as u32)).into_iter().flatten() {
                callee_base.insert(site, order.len() as u32);
                if let Some(callee) = sites[site] {
                    // One statement for binding the arguments, then the callee's own.
                    let bind = Stmt { kind: "bind", ..stmt.clone() };
                    order.push((bind, Some(site)));
                    order.extend(callee.stmts.iter().map(|t| (t.clone(), Some(site))));
                }
            }
        }
        self.out.stmts = order.into_iter().map(|(s, _)| s).collect();
        for node in &mut self.out.nodes {
            node.stmt = stmt_of.get(node.stmt.0 as usize).copied().unwrap_or(StmtId(0));
        }
        for (i, site) in sites.iter().enumerate() {
            if let Some(callee) = site {
                let base = callee_base.get(&i).copied().unwrap_or(0);
                self.expand(i, callee, base);
            }
        }
    }

    /// Replaces the call at a node by the callee's body.
    fn expand(&mut self, site: usize, callee: &Function, stmt_base: u32) {
        let call = self.out.nodes[site].clone();
        let Instr::Call { dst, args, ret, result_to, .. } = &call.instr else { return };
        let mut vars = self.add_vars(callee);
        let passed_on = self.passed_on(callee, args);
        // By the copy of a parameter: what stands for it.
        let mut values: BTreeMap<VarId, Expr> = BTreeMap::new();
        for (&p, arg) in callee.params.iter().zip(&passed_on) {
            match arg {
                Some(Expr::Var(v)) => vars[p.0 as usize] = *v,
                Some(value) => _ = values.insert(vars[p.0 as usize], value.clone()),
                None => {}
            }
        }
        let bind_stmt = StmtId(stmt_base);
        let first = self.out.nodes.len() as u32;
        let bodies = first + args.len() as u32;
        let node_id = |n: NodeId| NodeId(bodies + n.0);
        for (k, (arg, &p)) in args.iter().zip(&callee.params).enumerate() {
            let v = vars[p.0 as usize];
            let is_passed_on = passed_on.get(k).is_some_and(Option::is_some);
            let instr = if is_passed_on { Instr::Nop } else { self.bind(v, arg.clone()) };
            let next =
                if k + 1 < args.len() { NodeId(first + k as u32 + 1) } else { node_id(Function::ENTRY) };
            self.out.nodes.push(Node { instr, succs: vec![next], stmt: bind_stmt, span: call.span.clone() });
        }
        let is_elsewhere = matches!(self.names, Names::Own) && callee.span.file != self.out.span.file;
        for (i, node) in callee.nodes.iter().enumerate() {
            let mut copy = Node {
                instr: rename(&node.instr, &vars),
                succs: node.succs.iter().map(|&s| node_id(s)).collect(),
                stmt: StmtId(stmt_base + 1 + node.stmt.0),
                span: if is_elsewhere { call.span.clone() } else { node.span.clone() },
            };
            copy.instr.for_each_operand_mut(&mut |e| replace(e, &values));
            if NodeId(i as u32) == Function::EXIT {
                copy.succs = call.succs.clone();
            } else if let Instr::Return { value } = &copy.instr {
                copy.instr = match (dst, result_to, value) {
                    (Some(d), _, Some(v)) => Instr::Assign { dst: *d, value: v.clone() },
                    (Some(d), _, None) => Instr::Declare(*d),
                    (None, Some(to), Some(from)) => self.copied(to, from, self.unit.size_of(ret)),
                    (None, ..) => Instr::Nop,
                };
            }
            self.out.nodes.push(copy);
        }
        let start = if args.is_empty() { node_id(Function::ENTRY) } else { NodeId(first) };
        self.out.nodes[site] =
            Node { instr: Instr::Nop, succs: vec![start], stmt: call.stmt, span: call.span.clone() };
    }

    /// By parameter: what stands for it, where what is passed is a constant, an address, or a variable that nothing can
    /// change while the callee runs, and the callee gives the parameter no other value. What was written out is then
    /// called what the caller called it.
    fn passed_on(&self, callee: &Function, args: &[Expr]) -> Vec<Option<Expr>> {
        if matches!(self.names, Names::Qualified) {
            return vec![None; args.len()];
        }
        let stays = |p: VarId| {
            callee.nodes.iter().all(|n| {
                let is_unknown = matches!(n.instr, Instr::Unknown { .. });
                n.instr.written() != Some(p) && !(is_unknown && mentioned(&n.instr).contains(&p))
            })
        };
        let own = |(&p, arg): (&VarId, &Expr)| {
            let parameter = callee.var(p);
            let is_fixed = match arg {
                Expr::Const(_) | Expr::Addr(_) => true,
                Expr::Var(v) => {
                    let var = self.out.var(*v);
                    var.sort == parameter.sort && !var.in_memory && var.kind != VarKind::Temp
                }
                Expr::Op { .. } => false,
            };
            let is_value = parameter.sort.is_some() && !parameter.in_memory;
            (is_fixed && is_value && stays(p)).then(|| arg.clone())
        };
        callee.params.iter().zip(args).map(own).collect()
    }

    /// An argument's value as the parameter's: stored when the parameter lives in memory.
    fn bind(&self, v: VarId, value: Expr) -> Instr {
        let var = &self.out.vars[v.0 as usize];
        match (var.in_memory, var.sort) {
            (true, Some(sort)) => Instr::Store {
                addr: Expr::Addr(Object::Local(v)),
                value,
                access: crate::ir::Access {
                    sort,
                    bytes: var.value_bytes(),
                    volatile: false,
                    ty: var.ty.clone(),
                },
            },
            // What is passed is where a copy of the caller's is.
            (_, None) => self.copied(&Expr::Addr(Object::Local(v)), &value, Some(var.size)),
            _ => Instr::Assign { dst: v, value },
        }
    }

    fn copied(&self, to: &Expr, from: &Expr, bytes: Option<u64>) -> Instr {
        match bytes {
            Some(bytes) => Instr::Copy { dst: to.clone(), src: from.clone(), bytes },
            None => Instr::Nop,
        }
    }

    fn add_vars(&mut self, callee: &Function) -> Vec<VarId> {
        let mut map = Vec::new();
        for v in &callee.vars {
            let name: Arc<str> = match self.names {
                Names::Qualified => format!("{}::{}", callee.name, v.name).into(),
                Names::Own => v.name.clone(),
            };
            let ordinal = self.ordinals.entry(name.clone()).or_insert(0);
            let kind = if v.kind == VarKind::Temp { VarKind::Temp } else { VarKind::Local };
            self.out.vars.push(Var { name, ordinal: *ordinal, kind, ..v.clone() });
            *ordinal += 1;
            map.push(VarId(self.out.vars.len() as u32 - 1));
        }
        map
    }
}

/// Puts values in the place of variables.
fn replace(e: &mut Expr, values: &BTreeMap<VarId, Expr>) {
    match e {
        Expr::Var(v) => {
            if let Some(value) = values.get(v) {
                *e = value.clone();
            }
        }
        Expr::Op { args, .. } => args.iter_mut().for_each(|arg| replace(arg, values)),
        Expr::Const(_) | Expr::Addr(_) => {}
    }
}

/// The variables that an instruction reads, writes or takes the address of.
fn mentioned(i: &Instr) -> BTreeSet<VarId> {
    let mut found: BTreeSet<VarId> = i.written().into_iter().collect();
    i.for_each_operand(&mut |e| {
        e.for_each(&mut |e| match e {
            Expr::Var(v) | Expr::Addr(Object::Local(v)) => _ = found.insert(*v),
            _ => {}
        })
    });
    if let Instr::Unknown { writes, .. } = i {
        found.extend(writes);
    }
    found
}

fn rename(i: &Instr, vars: &[VarId]) -> Instr {
    crate::mvicfg::key::rename(i, vars)
}
