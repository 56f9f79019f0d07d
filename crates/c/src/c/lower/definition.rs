//! One definition from its declarator to the finished graph: parameters, the body, what control does at its
//! end, and what of the graph is kept.

use super::function::{BUILTIN_SETJMP, Edge, FnCx, OPEN, VFORK};
use super::linkage;
use super::spelling::Part;
use super::types::{Scalar, Shape};
use super::unit::UnitCx;
use crate::ir::{Expr, Function, Instr, NodeId, RETURNS_TWICE, StmtId, Var, VarId, VarKind};
use rucc_sema::{DeclFlags, DeclId};
use rucc_types::{TypeId, TypeKind};
use std::collections::BTreeSet;

/// Lowers a definition. What cannot be expressed becomes [`Instr::Unknown`]; no part is lost.
pub(super) fn lower_function(unit: &mut UnitCx<'_>, id: DeclId) -> Function {
    let tast = unit.tast;
    let decl = &tast[id];
    let (name, mut binding) = (unit.function_symbol(id), unit.binding(id));
    let mut span = unit.spans.span(tast.definition_span(id));
    if let Some(body) = decl.body {
        // The definition's own span ends with the declarator.
        let end = unit.spans.span(tast.stmt_span(body));
        if end.file == span.file {
            span.end_line = span.end_line.max(end.end_line);
        }
    }
    let (ret, incoming, variadic) = match unit.types.kind(unit.types.canonical(decl.ty)) {
        TypeKind::Function(f) => {
            let s = unit.types.signature(f);
            (s.ret, s.params.clone(), s.variadic)
        }
        _ => (decl.ty, Vec::new(), false),
    };
    unit.begin_labels(&name);
    let mut cx = FnCx::new(unit, name.clone(), ret, span.clone());
    let (start, end) = (tast.definition_span(id), decl.body.map(|b| tast.stmt_span(b)));
    cx.extent = (start.lo, end.map_or(start.hi, |b| b.hi));
    let mut params = cx.parameters(&tast[decl.params], &incoming);
    if let Some(body) = decl.body {
        if decl.flags.contains(DeclFlags::NAKED) {
            cx.unknown("function without prologue".into(), Part::Tokens, Vec::new(), true);
        }
        cx.find_scopes(body);
        cx.body(body);
        cx.answer_for_outer_errors(tast.stmt_span(body), id);
    }
    binding.odd_exits = cx.blocks.odd_exits;
    if let Some(reason) = cx.found.beyond.take() {
        let extent = cx.extent;
        cx = FnCx::new(cx.unit, name.clone(), ret, span.clone());
        cx.extent = extent;
        params = cx.parameters(&tast[decl.params], &incoming);
        cx.unmodelled_body(reason);
        // The text is at hand where the tokens are.
        binding.unmodelled = Some("".into());
    }
    cx.fall_off_end(&name);
    cx.settle_sizes();
    cx.prune();
    cx.havoc_second_returns();
    binding.promise = binding.promise.filter(|p| !linkage::keeps(*p, &cx.graph.nodes));
    let ret = cx.unit.ctype(ret);
    Function {
        name,
        is_static: decl.linkage == rucc_sema::Linkage::Internal,
        binding,
        variadic,
        params,
        ret,
        vars: cx.variables.all,
        nodes: cx.graph.nodes,
        stmts: cx.statements.all,
        span,
        unknowns: cx.found.unknowns,
        settled: cx.found.settled,
        invented: Vec::new(),
        records: cx.found.records,
    }
}

impl FnCx<'_, '_> {
    /// Makes the parameters. One of an old-style definition arrives in its promoted type: it is
    /// then a parameter of that type and a local of the declared one, converted at entry.
    fn parameters(&mut self, decls: &[DeclId], incoming: &[TypeId]) -> Vec<VarId> {
        let mut narrowed = Vec::new();
        let mut params = Vec::new();
        for (i, &id) in decls.iter().enumerate() {
            let declared = self.unit.tast[id].ty;
            let arrives = incoming.get(i).copied().unwrap_or(declared);
            let (from, to) = (self.unit.shape(arrives), self.unit.shape(declared));
            match (from, to) {
                (Shape::Scalar(from), Shape::Scalar(to)) if from != to && from != Scalar::Pointer => {
                    let name = self.unit.name_of(&self.unit.tast[id]);
                    let var =
                        self.new_var(name, VarKind::Param, arrives, false, self.statements.span.clone());
                    params.push(var);
                    narrowed.push((id, var, from, to));
                }
                _ => params.push(self.declare(id, VarKind::Param)),
            }
        }
        for (id, param, from, to) in narrowed {
            let local = self.declare(id, VarKind::Local);
            let value = self.convert(Expr::Var(param), from, to);
            self.initialise_scalar(local, value);
        }
        decls.iter().for_each(|d| self.measure_parameter(*d));
        params
    }

    /// Returns from the end of the body: without a value, but for `main`.
    fn fall_off_end(&mut self, name: &str) {
        if !self.graph.frontier.is_empty() {
            self.enter(StmtId(1));
            let value = match (name, self.unit.shape(self.ret)) {
                ("main", Shape::Scalar(Scalar::Int { bits, .. })) => Some(Expr::bv(bits, 0)),
                _ => None,
            };
            self.emit_return(value);
        }
        self.land_computed_jumps();
        // A jump to a label that is defined nowhere cannot be modelled.
        let lost: Vec<Edge> = self.graph.labels.values_mut().flat_map(|l| l.pending.drain(..)).collect();
        if !lost.is_empty() {
            self.graph.frontier = lost;
            self.unknown("jump to an undefined label".into(), Part::Tokens, Vec::new(), true);
            self.emit_return(None);
        }
        self.close();
    }

    /// Lets what leads nowhere go on in a way that is not known: cases of a `switch` in source with errors.
    fn close(&mut self) {
        let reached = self.reached();
        let nodes = self.graph.nodes.iter().enumerate().filter(|(i, _)| reached[*i]);
        let edges = nodes.flat_map(|(i, n)| {
            let slots = n.succs.iter().enumerate().filter(|(_, s)| **s == OPEN);
            slots.map(move |(slot, _)| Edge { node: NodeId(i as u32), slot })
        });
        let edges: Vec<Edge> = edges.collect();
        if !edges.is_empty() {
            self.graph.frontier = edges;
            self.unknown("jump to a place that is not known".into(), Part::Tokens, Vec::new(), true);
            self.emit_return(None);
        }
    }

    /// By node: whether it can be reached; the exit always.
    fn reached(&self) -> Vec<bool> {
        let mut reached = vec![false; self.graph.nodes.len()];
        reached[Function::EXIT.0 as usize] = true;
        let mut work = vec![Function::ENTRY];
        while let Some(id) = work.pop() {
            let Some(node) = self.graph.nodes.get(id.0 as usize) else { continue };
            if !std::mem::replace(&mut reached[id.0 as usize], true) {
                work.extend(&node.succs);
            }
        }
        reached
    }

    /// Lets what returns twice write all that may have changed in between: registers that outlive a
    /// statement, and the temporaries of its own.
    fn havoc_second_returns(&mut self) {
        let vars = &self.variables.all;
        for node in &mut self.graph.nodes {
            let Instr::Unknown { reason, writes, anything, .. } = &mut node.instr else { continue };
            if !matches!(&**reason, RETURNS_TWICE | BUILTIN_SETJMP | VFORK) {
                continue;
            }
            let lives_on = |v: &Var| v.kind != VarKind::Temp || v.ordinal == node.stmt.0;
            let changes = |v: &VarId| vars.get(v.0 as usize).is_some_and(|v| !v.in_memory && lives_on(v));
            let mut all: BTreeSet<VarId> = std::mem::take(writes).into_iter().collect();
            all.extend((0..vars.len() as u32).map(VarId).filter(changes));
            *writes = all.into_iter().collect();
            *anything = true;
        }
    }

    /// Drops the nodes that cannot be reached, keeping the order of the others.
    fn prune(&mut self) {
        let reached = self.reached();
        for node in
            reached.iter().zip(&self.graph.nodes).filter(|(reached, _)| !**reached).map(|(_, node)| node)
        {
            self.found.settled.extend(self.unit.failing(node));
        }
        let mut renumbered = vec![Function::EXIT; self.graph.nodes.len()];
        let mut next = 0;
        for (i, reached) in reached.iter().enumerate() {
            renumbered[i] = NodeId(next);
            next += u32::from(*reached);
        }
        let mut index = 0;
        self.graph.nodes.retain(|_| {
            index += 1;
            reached[index - 1]
        });
        for node in &mut self.graph.nodes {
            for s in &mut node.succs {
                *s = renumbered.get(s.0 as usize).copied().unwrap_or(Function::EXIT);
            }
        }
    }
}
