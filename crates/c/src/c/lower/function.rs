//! The control-flow graph of one function under construction.
//!
//! Terms: the *frontier* is the set of edges that still lead nowhere; the next node that is emitted
//! receives them. A frontier without edges means that what follows cannot be reached: it is lowered
//! all the same, so that it can hold labels, and what stays unreachable is dropped at the end.

use super::linkage;
use super::spelling::Part;
use super::types::{Scalar, Shape};
use super::unit::UnitCx;
use crate::ir::{
    CType, Callee, Expr, Function, Instr, Node, NodeId, Object, RETURNS_TWICE, RecordUses, Settled, SizeOf,
    Span, Stmt, StmtId, Unknown, Var, VarId, VarKind,
};
use rucc_sema::{CaseId, DeclFlags, DeclId, ExprId, LabelId};
use rucc_types::{TypeId, TypeKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

/// Reason for which a construct is not modelled.
pub(super) type Unmodelled = Arc<str>;
pub(super) type Lowered<T> = Result<T, Unmodelled>;

/// Reasons of what returns twice but is not lowered otherwise.
pub(super) const BUILTIN_SETJMP: &str = "__builtin_setjmp";
pub(super) const VFORK: &str = "vfork";

/// Successor slot of a node that is to be filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edge {
    pub node: NodeId,
    pub slot: usize,
}

/// Successor that is not known yet.
const OPEN: NodeId = NodeId(u32::MAX);

/// A jump to a computed place.
pub(super) struct ComputedJump {
    /// From where.
    pub edges: Vec<Edge>,
    /// Its statement and place.
    pub stmt: StmtId,
    pub span: Span,
    pub source: rucc_sema::StmtId,
    /// Where to, once that was evaluated.
    pub target: Option<VarId>,
}

/// A label of the source: its node once it was met, and the jumps before that.
#[derive(Clone, Debug, Default)]
pub(super) struct Label {
    pub node: Option<NodeId>,
    pub pending: Vec<Edge>,
    /// Arrays of variable length that are alive there.
    pub live: Vec<VarId>,
}

/// A loop or `switch` around the current place.
#[derive(Clone, Debug, Default)]
pub(super) struct Breakable {
    pub breaks: Vec<Edge>,
    /// `None` for a `switch`: `continue` belongs to the loop around it.
    pub continues: Option<Vec<Edge>>,
    /// Blocks around the statement.
    pub blocks: usize,
    /// Edges from the chain of comparisons of a `switch` to its labels.
    pub cases: BTreeMap<CaseId, Vec<Edge>>,
    pub default: Vec<Edge>,
    /// Edges to what stands behind labels of a `switch` that are in error.
    pub errors: BTreeMap<rucc_sema::StmtId, Vec<Edge>>,
    /// Variables with a cleanup that are in scope around it.
    pub cleanups: usize,
}

pub(super) struct FnCx<'u, 'a> {
    pub unit: &'u mut UnitCx<'a>,
    pub name: Arc<str>,
    pub ret: TypeId,
    pub vars: Vec<Var>,
    pub var_of: BTreeMap<DeclId, VarId>,
    names: BTreeMap<Arc<str>, u32>,
    pub nodes: Vec<Node>,
    pub frontier: Vec<Edge>,
    pub stmts: Vec<Stmt>,
    pub stmt: StmtId,
    /// Temporaries made so far, by statement.
    temps: Vec<u32>,
    pub depth: u32,
    pub span: Span,
    pub labels: BTreeMap<LabelId, Label>,
    pub around: Vec<Breakable>,
    pub computed: Vec<ComputedJump>,
    /// Inside how many statement expressions: their statements belong to the enclosing one.
    pub inner: u32,
    pub unknowns: Vec<Unknown>,
    /// Lengths of arrays that were evaluated where they are declared, by the expression.
    pub lengths: HashMap<ExprId, Expr>,
    /// Arrays of variable length of the blocks around the current place.
    pub scopes: Vec<Vec<VarId>>,
    /// Variables with a cleanup in whose scope the current place is, the last declared last.
    pub cleanups: Vec<DeclId>,
    /// There was one, or a nested function.
    pub odd_exits: bool,
    pub label_scopes: super::cleanup::Scopes,
    /// It has nested functions, which may write what is around them.
    pub has_nested: bool,
    /// Calls of nested functions that the current place is laid out in.
    pub calls: Vec<super::nested::Inner>,
    /// Why nothing of the body is modelled.
    pub beyond: Option<Unmodelled>,
    /// Those that are alive where a jump forwards leaves.
    pub live_at_jumps: BTreeMap<NodeId, Vec<VarId>>,
    pub settled: Vec<Settled>,
    pub records: RecordUses,
    /// What `sizeof` gave, as often as it was lowered.
    pub sizes: Vec<SizeOf>,
    /// Values of expressions that stand at two places of the tree and are evaluated once.
    pub shared: BTreeMap<ExprId, VarId>,
    /// First position of the definition, and the one behind it.
    pub extent: (u32, u32),
}

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
    }
    binding.odd_exits = cx.odd_exits;
    if let Some(reason) = cx.beyond.take() {
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
    binding.promise = binding.promise.filter(|p| !linkage::keeps(*p, &cx.nodes));
    let ret = cx.unit.ctype(ret);
    Function {
        name,
        is_static: decl.linkage == rucc_sema::Linkage::Internal,
        binding,
        variadic,
        params,
        ret,
        vars: cx.vars,
        nodes: cx.nodes,
        stmts: cx.stmts,
        span,
        unknowns: cx.unknowns,
        settled: cx.settled,
        invented: Vec::new(),
        records: cx.records,
    }
}

impl<'u, 'a> FnCx<'u, 'a> {
    /// What spells an expression outside of functions.
    pub fn at_file_scope(unit: &'u mut UnitCx<'a>, ty: TypeId, e: ExprId) -> Self {
        let at = unit.tast.expr_span(e);
        let mut cx = FnCx::new(unit, "".into(), ty, Span::default());
        cx.extent = (at.lo, at.hi);
        cx
    }

    fn new(unit: &'u mut UnitCx<'a>, name: Arc<str>, ret: TypeId, span: Span) -> Self {
        let start = Span { end_line: span.line, ..span.clone() };
        let end = Span { line: span.end_line, col: 1, ..span.clone() };
        let stmt = |kind, span: &Span| Stmt { span: span.clone(), depth: 0, kind };
        let node = |stmt, span: &Span, succs| Node {
            instr: Instr::Nop,
            succs,
            stmt: StmtId(stmt),
            span: span.clone(),
        };
        FnCx {
            unit,
            name,
            ret,
            vars: Vec::new(),
            var_of: BTreeMap::new(),
            names: BTreeMap::new(),
            nodes: vec![node(0, &start, vec![OPEN]), node(1, &end, Vec::new())],
            frontier: vec![Edge { node: Function::ENTRY, slot: 0 }],
            stmts: vec![stmt("entry", &start), stmt("exit", &end)],
            stmt: StmtId(0),
            temps: vec![0, 0],
            depth: 0,
            span: start,
            labels: BTreeMap::new(),
            around: Vec::new(),
            computed: Vec::new(),
            inner: 0,
            unknowns: Vec::new(),
            lengths: HashMap::new(),
            scopes: Vec::new(),
            cleanups: Vec::new(),
            odd_exits: false,
            label_scopes: Default::default(),
            has_nested: false,
            calls: Vec::new(),
            beyond: None,
            live_at_jumps: BTreeMap::new(),
            settled: Vec::new(),
            records: RecordUses::default(),
            sizes: Vec::new(),
            shared: BTreeMap::new(),
            extent: (0, 0),
        }
    }

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
                    let var = self.new_var(name, VarKind::Param, arrives, false, self.span.clone());
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

    /// Makes the variable of a local declaration or parameter.
    pub fn declare(&mut self, id: DeclId, kind: VarKind) -> VarId {
        let decl = &self.unit.tast[id];
        let name = self.unit.name_of(decl);
        let name = if name.is_empty() { "<literal>".into() } else { name };
        let span = self.unit.spans.span(self.unit.tast.decl_span(id));
        let taken = self.unit.address_taken.contains(&id);
        let var = self.new_var(name, kind, decl.ty, taken, span);
        self.var_of.insert(id, var);
        var
    }

    pub fn new_var(
        &mut self,
        name: Arc<str>,
        kind: VarKind,
        ty: TypeId,
        address_taken: bool,
        span: Span,
    ) -> VarId {
        let sort = match self.unit.shape(ty) {
            Shape::Scalar(s) => Some(s.sort(self.unit.pointer)),
            _ => None,
        };
        let in_memory = sort.is_none() || address_taken || self.unit.is_volatile(ty);
        let size = self.unit.size_of(ty).unwrap_or(0);
        let ty = self.unit.ctype(ty);
        self.push_var(Var { name, ordinal: 0, kind, ty, sort, in_memory, size, span })
    }

    fn push_var(&mut self, mut var: Var) -> VarId {
        if var.kind != VarKind::Temp {
            let count = self.names.entry(var.name.clone()).or_insert(0);
            var.ordinal = *count;
            *count += 1;
        }
        self.vars.push(var);
        VarId(self.vars.len() as u32 - 1)
    }

    /// Makes a temporary of the current statement that holds a scalar.
    pub fn temp(&mut self, scalar: Scalar, ty: TypeId) -> VarId {
        let sort = scalar.sort(self.unit.pointer);
        let ty = self.unit.ctype(ty);
        let size = u64::from(sort.bits().unwrap_or(0)).div_ceil(8);
        self.push_temp(Some(sort), ty, false, size)
    }

    /// Makes a temporary object in memory, for a struct that a call returns or takes.
    pub fn temp_object(&mut self, ty: TypeId) -> VarId {
        let size = self.unit.size_of(ty).unwrap_or(0);
        let ty = self.unit.ctype(ty);
        self.push_temp(None, ty, true, size)
    }

    fn push_temp(&mut self, sort: Option<crate::ir::Sort>, ty: CType, in_memory: bool, size: u64) -> VarId {
        let count = &mut self.temps[self.stmt.0 as usize];
        let name = format!("%{count}").into();
        *count += 1;
        let span = self.span.clone();
        let (ordinal, kind) = (self.stmt.0, VarKind::Temp);
        self.push_var(Var { name, ordinal, kind, ty, sort, in_memory, size, span })
    }

    pub fn addr_of(&self, var: VarId) -> Expr {
        Expr::Addr(Object::Local(var))
    }

    /// Makes a statement without entering it.
    pub fn new_stmt(&mut self, kind: &'static str, span: rucc_diag::Span) -> StmtId {
        if self.inner > 0 {
            return self.stmt;
        }
        let span = self.unit.spans.span(span);
        self.stmts.push(Stmt { span, depth: self.depth, kind });
        self.temps.push(0);
        StmtId(self.stmts.len() as u32 - 1)
    }

    pub fn enter(&mut self, stmt: StmtId) {
        self.stmt = stmt;
        self.span = self.stmts[stmt.0 as usize].span.clone();
    }

    pub fn start(&mut self, kind: &'static str, span: rucc_diag::Span) -> StmtId {
        let stmt = self.new_stmt(kind, span);
        self.enter(stmt);
        stmt
    }

    /// Emits a node at the frontier, with `slots` open successors.
    fn push(&mut self, instr: Instr, slots: usize) -> NodeId {
        let node = NodeId(self.nodes.len() as u32);
        for edge in std::mem::take(&mut self.frontier) {
            self.connect(edge, node);
        }
        let succs = vec![OPEN; slots];
        self.nodes.push(Node { instr, succs, stmt: self.stmt, span: self.span.clone() });
        node
    }

    pub fn connect(&mut self, edge: Edge, to: NodeId) {
        self.nodes[edge.node.0 as usize].succs[edge.slot] = to;
    }

    /// Emits an instruction with one successor.
    pub fn emit(&mut self, instr: Instr) -> NodeId {
        let node = self.push(instr, 1);
        self.frontier.push(Edge { node, slot: 0 });
        node
    }

    /// Emits an instruction that control never leaves.
    pub fn emit_last(&mut self, instr: Instr) {
        self.push(instr, 0);
    }

    pub fn emit_return(&mut self, value: Option<Expr>) {
        let node = self.push(Instr::Return { value }, 1);
        self.connect(Edge { node, slot: 0 }, Function::EXIT);
    }

    /// Emits a branch and returns its true and its false edge; the frontier is empty after it.
    pub fn emit_branch(&mut self, cond: Expr) -> (Edge, Edge) {
        let node = self.push(Instr::Branch { cond }, 2);
        (Edge { node, slot: 0 }, Edge { node, slot: 1 })
    }

    pub fn assign(&mut self, dst: VarId, value: Expr) {
        self.emit(Instr::Assign { dst, value });
    }

    pub fn take_frontier(&mut self) -> Vec<Edge> {
        std::mem::take(&mut self.frontier)
    }

    /// Runs `work`; when it meets something that is not modelled, undoes all that it emitted.
    pub fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        let (nodes, vars) = (self.nodes.len(), self.vars.len());
        let (frontier, stmt, span) = (self.frontier.clone(), self.stmt, self.span.clone());
        let (around, inner, depth) = (self.around.len(), self.inner, self.depth);
        let (unknowns, settled, names) = (self.unknowns.len(), self.settled.len(), self.names.clone());
        let sizes = self.sizes.len();
        let (temps, scopes) = (self.temps[stmt.0 as usize], self.scopes.len());
        let cleanups = self.cleanups.len();
        let result = work(self);
        if result.is_err() {
            self.nodes.truncate(nodes);
            self.vars.truncate(vars);
            self.var_of.retain(|_, v| (v.0 as usize) < vars);
            self.lengths.retain(|_, e| !matches!(e, Expr::Var(v) if v.0 as usize >= vars));
            self.scopes.truncate(scopes);
            self.cleanups.truncate(cleanups);
            self.scopes.iter_mut().for_each(|s| s.retain(|v| (v.0 as usize) < vars));
            self.shared.retain(|_, v| (v.0 as usize) < vars);
            self.unknowns.truncate(unknowns);
            self.settled.truncate(settled);
            self.sizes.truncate(sizes);
            self.names = names;
            self.around.truncate(around);
            let kept = |e: &Edge| (e.node.0 as usize) < nodes;
            for b in &mut self.around {
                b.breaks.retain(kept);
                b.default.retain(kept);
                b.continues.iter_mut().for_each(|c| c.retain(kept));
                b.cases.values_mut().for_each(|c| c.retain(kept));
            }
            for label in self.labels.values_mut() {
                label.node = label.node.filter(|n| (n.0 as usize) < nodes);
                label.pending.retain(kept);
            }
            self.computed.iter_mut().for_each(|jump| jump.edges.retain(kept));
            for edge in &frontier {
                self.connect(*edge, OPEN);
            }
            // Jumps from before that went to a label inside: they meet what follows instead.
            let mut frontier = frontier;
            for (n, node) in self.nodes.iter_mut().enumerate() {
                for (slot, s) in node.succs.iter_mut().enumerate() {
                    if *s != OPEN && s.0 as usize >= nodes {
                        *s = OPEN;
                        frontier.push(Edge { node: NodeId(n as u32), slot });
                    }
                }
            }
            (self.frontier, self.stmt, self.span) = (frontier, stmt, span);
            (self.inner, self.depth) = (inner, depth);
            self.temps[stmt.0 as usize] = temps;
        }
        result
    }

    /// Returns from the end of the body: without a value, but for `main`.
    fn fall_off_end(&mut self, name: &str) {
        if !self.frontier.is_empty() {
            self.enter(StmtId(1));
            let value = match (name, self.unit.shape(self.ret)) {
                ("main", Shape::Scalar(Scalar::Int { bits, .. })) => Some(Expr::bv(bits, 0)),
                _ => None,
            };
            self.emit_return(value);
        }
        self.land_computed_jumps();
        // A jump to a label that is defined nowhere cannot be modelled.
        let lost: Vec<Edge> = self.labels.values_mut().flat_map(|l| l.pending.drain(..)).collect();
        if !lost.is_empty() {
            self.frontier = lost;
            self.unknown("jump to an undefined label".into(), Part::Tokens, Vec::new(), true);
            self.emit_return(None);
        }
        self.close();
    }

    /// Lets what leads nowhere go on in a way that is not known: cases of a `switch` in source with errors.
    fn close(&mut self) {
        let reached = self.reached();
        let nodes = self.nodes.iter().enumerate().filter(|(i, _)| reached[*i]);
        let edges = nodes.flat_map(|(i, n)| {
            let slots = n.succs.iter().enumerate().filter(|(_, s)| **s == OPEN);
            slots.map(move |(slot, _)| Edge { node: NodeId(i as u32), slot })
        });
        let edges: Vec<Edge> = edges.collect();
        if !edges.is_empty() {
            self.frontier = edges;
            self.unknown("jump to a place that is not known".into(), Part::Tokens, Vec::new(), true);
            self.emit_return(None);
        }
    }

    /// By node: whether it can be reached; the exit always.
    fn reached(&self) -> Vec<bool> {
        let mut reached = vec![false; self.nodes.len()];
        reached[Function::EXIT.0 as usize] = true;
        let mut work = vec![Function::ENTRY];
        while let Some(id) = work.pop() {
            let Some(node) = self.nodes.get(id.0 as usize) else { continue };
            if !std::mem::replace(&mut reached[id.0 as usize], true) {
                work.extend(&node.succs);
            }
        }
        reached
    }

    /// Lets what returns twice write all that may have changed in between: registers that outlive a
    /// statement, and the temporaries of its own.
    fn havoc_second_returns(&mut self) {
        let vars = &self.vars;
        for node in &mut self.nodes {
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
        for node in reached.iter().zip(&self.nodes).filter(|(reached, _)| !**reached).map(|(_, node)| node) {
            self.settled.extend(self.unit.failing(node));
        }
        let mut renumbered = vec![Function::EXIT; self.nodes.len()];
        let mut next = 0;
        for (i, reached) in reached.iter().enumerate() {
            renumbered[i] = NodeId(next);
            next += u32::from(*reached);
        }
        let mut index = 0;
        self.nodes.retain(|_| {
            index += 1;
            reached[index - 1]
        });
        for node in &mut self.nodes {
            for s in &mut node.succs {
                *s = renumbered.get(s.0 as usize).copied().unwrap_or(Function::EXIT);
            }
        }
    }

    /// Returns the callee of a direct call.
    pub fn direct(&mut self, id: DeclId) -> (Callee, bool) {
        let name = self.unit.function_symbol(id);
        let noreturn = self.unit.never_returns(id, &name);
        (Callee::Direct(name), noreturn)
    }
}
