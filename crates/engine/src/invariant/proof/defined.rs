//! Undefined events that the terms show, and what they exclude.
//!
//! What a program does after an undefined event means nothing, so a fact speaks of the executions
//! that get to its point without one. Three kinds are looked for, since they decide what is known of
//! variables at the exit: reading a variable that was never set, handing `scanf` something that
//! is no pointer, and arrays whose length is not positive. Where they happen on every way to the exit, the class says nothing at all: a fact
//! of the others holds in it for want of executions (assumption `no-undefined-behaviour`).

use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::point::Kind;
use crate::ir::{Callee, Expr, Instr, Leaf, Op, Sort, Term, TermId, VarId, VarKind};
use crate::mvicfg::{ClassId, ClassSet, MvId, Mvicfg};
use crate::semantics::Place;
use std::collections::{BTreeMap, BTreeSet};

/// Name of the assumption that an execution does nothing undefined.
pub(in crate::invariant) const ASSUMPTION: &str = "no-undefined-behaviour";

/// What may be undefined at a node.
enum Suspect {
    /// The variable may not be set where it is read.
    Read(VarId),
    /// `scanf` gets no pointer.
    NoPointer,
    /// The length of an array may not be positive.
    Length(Expr),
}

impl FunctionAnalysis<'_> {
    /// Returns the condition under which an execution of a class meets no undefined event of these
    /// kinds, for well-formed input. Events inside loops are not looked at.
    pub(in crate::invariant) fn defined(&mut self, class: ClassId) -> TermId {
        if let Some(known) = self.classes.defined.get(&class) {
            return *known;
        }
        let single = ClassSet::single(class);
        let mut defined = self.e.pool.bool(true);
        for (node, suspect) in self.suspects(class) {
            let met = match suspect {
                Suspect::NoPointer => self.e.pool.bool(true),
                Suspect::Read(v) => {
                    let value = self.e.before(Place::Var(v), node, &single).into_iter().next();
                    let Some((_, value)) = value else { continue };
                    self.never_set(value.term)
                }
                Suspect::Length(e) => {
                    let Some((_, length)) = self.e.expr(&e, node, &single).into_iter().next() else {
                        continue;
                    };
                    let zero = self.e.pool.bv(self.task.pointer_bits, 0);
                    self.e.pool.op(Op::Sle, &[length.term, zero])
                }
            };
            for (_, reach) in self.e.reach_from_entry(node, &single) {
                let event = self.e.pool.and(reach.term, met);
                let not = self.e.pool.not(event);
                defined = self.e.pool.and(defined, not);
            }
        }
        let defined = self.shown(class, defined);
        self.classes.defined.insert(class, defined);
        defined
    }

    /// The classes all of whose executions meet an undefined event before the exit.
    pub(in crate::invariant) fn undefined_classes(&mut self) -> ClassSet {
        let mut found = ClassSet::new();
        if self.diff.point.kind != Kind::Exit {
            return found;
        }
        for c in self.task.graph.all_classes().iter() {
            let defined = self.defined(c);
            if self.e.pool.as_const(defined).and_then(|d| d.as_bool()) == Some(false) {
                found.insert(c);
            }
        }
        found
    }

    /// Condition under which a value is that of a variable that was never set.
    fn never_set(&mut self, term: TermId) -> TermId {
        if let Some(&[c, a, b]) = self.e.pool.as_op(term, Op::Ite) {
            let (a, b) = (self.never_set(a), self.never_set(b));
            return self.e.pool.ite(c, a, b);
        }
        let never = matches!(self.e.pool.get(term), Term::Leaf(Leaf::Indeterminate { .. }));
        self.e.pool.bool(never)
    }

    /// Nodes outside loops that an event may be met at.
    fn suspects(&self, class: ClassId) -> Vec<(MvId, Suspect)> {
        let flow = &self.e.flow.classes[class];
        let unset = self.maybe_unset(class);
        let mut found = Vec::new();
        for &n in flow.rpo.iter().filter(|&&n| flow.innermost[n.0 as usize].is_none()) {
            let Some(unset) = unset.get(&n) else { continue };
            let read = self.variables_read(n);
            found.extend(unset.intersection(&read).map(|v| (n, Suspect::Read(*v))));
            if self.scans_into_no_pointer(n) {
                found.push((n, Suspect::NoPointer));
            }
            if let Instr::Measure { lengths, .. } = &self.task.graph.node(n).instr {
                found.extend(lengths.iter().map(|e| (n, Suspect::Length(e.clone()))));
            }
        }
        found
    }

    /// By node: the variables that some way to it leaves unset. Empty when no variable is ever
    /// declared without a value.
    fn maybe_unset(&self, class: ClassId) -> BTreeMap<MvId, BTreeSet<VarId>> {
        let flow = &self.e.flow.classes[class];
        let graph = self.task.graph;
        let mut before: BTreeMap<MvId, BTreeSet<VarId>> = BTreeMap::new();
        let tracked = |v: VarId| {
            graph.vars[v.0 as usize].kind == VarKind::Local && self.e.places.of_var(v) == Place::Var(v)
        };
        loop {
            let mut changed = false;
            for &n in &flow.rpo {
                let mut set: BTreeSet<VarId> = BTreeSet::new();
                for (p, _) in &flow.preds[n.0 as usize] {
                    set.extend(self.unset_after(*p, before.get(p)));
                }
                set.retain(|v| tracked(*v));
                if before.get(&n) != Some(&set) {
                    before.insert(n, set);
                    changed = true;
                }
            }
            if !changed {
                return before;
            }
        }
    }

    fn unset_after(&self, node: MvId, before: Option<&BTreeSet<VarId>>) -> BTreeSet<VarId> {
        let mut set = before.cloned().unwrap_or_default();
        match &self.task.graph.node(node).instr {
            Instr::Declare(v) => _ = set.insert(*v),
            Instr::Assign { dst, .. } | Instr::Load { dst, .. } => _ = set.remove(dst),
            Instr::Store { addr: Expr::Addr(crate::ir::Object::Local(v)), .. } => _ = set.remove(v),
            Instr::Call { dst: Some(v), .. } => _ = set.remove(v),
            _ => {}
        }
        set
    }

    /// Variables whose values an instruction reads.
    fn variables_read(&self, node: MvId) -> BTreeSet<VarId> {
        let mut read = BTreeSet::new();
        let mut in_expr = |e: &Expr| {
            e.for_each_var(&mut |v| {
                read.insert(v);
            });
        };
        match &self.task.graph.node(node).instr {
            Instr::Assign { value: e, .. } | Instr::Branch { cond: e } => in_expr(e),
            Instr::Load { addr, .. } => {
                in_expr(addr);
                if let Expr::Addr(crate::ir::Object::Local(v)) = addr {
                    read.insert(*v);
                }
            }
            Instr::Store { addr, value, .. } => {
                in_expr(addr);
                in_expr(value);
            }
            Instr::Call { args, .. } => args.iter().for_each(in_expr),
            Instr::Measure { lengths, .. } => lengths.iter().for_each(in_expr),
            Instr::Return { value: Some(e) } => in_expr(e),
            _ => {}
        }
        read
    }

    /// Whether a call of `scanf` whose result nobody looks at gives a conversion no pointer.
    fn scans_into_no_pointer(&self, node: MvId) -> bool {
        let Instr::Call { dst: None, callee: Callee::Direct(name), args, .. } =
            &self.task.graph.node(node).instr
        else {
            return false;
        };
        let bits = self.task.pointer_bits;
        let variable = |v: VarId| self.task.graph.vars[v.0 as usize].sort.unwrap_or(Sort::Mem);
        let is_pointer = |e: &Expr| e.sort(bits, &variable) == Sort::Bv(bits);
        &**name == "scanf" && node != Mvicfg::EXIT && args.iter().skip(1).any(|a| !is_pointer(a))
    }
}
