//! The control-flow graph of one function under construction.
//!
//! Terms: the *frontier* is the set of edges that still lead nowhere; the next node that is emitted
//! receives them. A frontier without edges means that what follows cannot be reached: it is lowered
//! all the same, so that it can hold labels, and what stays unreachable is dropped at the end.

use super::types::{Scalar, Shape};
use super::unit::UnitCx;
use crate::ir::{
    CType, Callee, Expr, Function, Instr, Node, NodeId, Object, RecordUses, Settled, SizeOf, Span, Stmt,
    StmtId, Unknown, Var, VarId, VarKind,
};
use rucc_sema::{CaseId, DeclId, ExprId, LabelId};
use rucc_types::TypeId;
use std::collections::{BTreeMap, HashMap};
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
pub(super) const OPEN: NodeId = NodeId(u32::MAX);

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

/// A call of a nested function that is being laid out.
#[derive(Clone, Debug)]
pub(super) struct Inner {
    pub function: DeclId,
    /// What takes the result.
    pub result: Option<VarId>,
    pub returns: Vec<Edge>,
    /// Variables with a cleanup that were in scope at the call.
    pub cleanups: usize,
}

/// By label: the variables with a cleanup in whose scope it stands, the outermost first.
pub(super) type Scopes = BTreeMap<LabelId, Vec<DeclId>>;

/// One function under construction.
pub(super) struct FnCx<'u, 'a> {
    pub unit: &'u mut UnitCx<'a>,
    pub name: Arc<str>,
    pub ret: TypeId,
    /// First position of the definition, and the one behind it.
    pub extent: (u32, u32),
    pub variables: Variables,
    pub statements: Statements,
    pub graph: Graph,
    pub blocks: Blocks,
    pub found: Found,
}

/// The variables so far, and what they stand for.
#[derive(Default)]
pub(super) struct Variables {
    pub all: Vec<Var>,
    pub of: BTreeMap<DeclId, VarId>,
    /// How many have each name.
    names: BTreeMap<Arc<str>, u32>,
    /// Lengths of arrays that were evaluated where they are declared, by the expression.
    pub lengths: HashMap<ExprId, Expr>,
    /// Values of expressions that stand at two places of the tree and are evaluated once.
    pub shared: BTreeMap<ExprId, VarId>,
}

/// The statements so far, and the one that is being lowered.
pub(super) struct Statements {
    pub all: Vec<Stmt>,
    /// Temporaries made so far, by statement.
    temps: Vec<u32>,
    pub current: StmtId,
    pub span: Span,
    pub depth: u32,
    /// Where the text of the statement of the innermost block begins that is being lowered, and where it ends, with
    /// what the parser skipped behind it.
    pub from: u32,
    pub until: u32,
    /// Inside how many statement expressions: their statements belong to the enclosing one.
    pub inner: u32,
}

/// The nodes so far, and the edges that lead nowhere yet.
pub(super) struct Graph {
    pub nodes: Vec<Node>,
    /// Those that lead to the next node.
    pub frontier: Vec<Edge>,
    pub labels: BTreeMap<LabelId, Label>,
    /// Loops and `switch`es around the current place.
    pub around: Vec<Breakable>,
    pub computed: Vec<ComputedJump>,
    /// Arrays of variable length that are alive where a jump forwards leaves.
    pub live_at_jumps: BTreeMap<NodeId, Vec<VarId>>,
}

/// What is alive in the blocks around the current place.
#[derive(Default)]
pub(super) struct Blocks {
    /// Arrays of variable length, by block.
    pub arrays: Vec<Vec<VarId>>,
    /// Variables with a cleanup in whose scope the current place is, the last declared last.
    pub cleanups: Vec<DeclId>,
    /// There was one, or a nested function.
    pub odd_exits: bool,
    pub label_scopes: Scopes,
    /// The function has nested functions, which may write what is around them.
    pub has_nested: bool,
    /// Calls of nested functions that the current place is laid out in.
    pub calls: Vec<Inner>,
}

/// What was found on the way, beside the graph.
#[derive(Default)]
pub(super) struct Found {
    pub unknowns: Vec<Unknown>,
    /// Why nothing of the body is modelled.
    pub beyond: Option<Unmodelled>,
    pub settled: Vec<Settled>,
    pub records: RecordUses,
    /// What `sizeof` gave, as often as it was lowered.
    pub sizes: Vec<SizeOf>,
}

impl<'u, 'a> FnCx<'u, 'a> {
    /// What spells an expression outside of functions.
    pub fn at_file_scope(unit: &'u mut UnitCx<'a>, ty: TypeId, e: ExprId) -> Self {
        let at = unit.tast.expr_span(e);
        let mut cx = FnCx::new(unit, "".into(), ty, Span::default());
        cx.extent = (at.lo, at.hi);
        cx
    }

    pub fn new(unit: &'u mut UnitCx<'a>, name: Arc<str>, ret: TypeId, span: Span) -> Self {
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
            extent: (0, 0),
            variables: Variables::default(),
            statements: Statements {
                all: vec![stmt("entry", &start), stmt("exit", &end)],
                temps: vec![0, 0],
                current: StmtId(0),
                span: start.clone(),
                depth: 0,
                from: 0,
                until: 0,
                inner: 0,
            },
            graph: Graph {
                nodes: vec![node(0, &start, vec![OPEN]), node(1, &end, Vec::new())],
                frontier: vec![Edge { node: Function::ENTRY, slot: 0 }],
                labels: BTreeMap::new(),
                around: Vec::new(),
                computed: Vec::new(),
                live_at_jumps: BTreeMap::new(),
            },
            blocks: Blocks::default(),
            found: Found::default(),
        }
    }

    /// Makes the variable of a local declaration or parameter.
    pub fn declare(&mut self, id: DeclId, kind: VarKind) -> VarId {
        let decl = &self.unit.tast[id];
        let name = self.unit.name_of(decl);
        let name = if name.is_empty() { "<literal>".into() } else { name };
        let span = self.unit.spans.span(self.unit.tast.decl_span(id));
        let taken = self.unit.address_taken.contains(&id);
        let var = self.new_var(name, kind, decl.ty, taken, span);
        self.variables.of.insert(id, var);
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
            let count = self.variables.names.entry(var.name.clone()).or_insert(0);
            var.ordinal = *count;
            *count += 1;
        }
        self.variables.all.push(var);
        VarId(self.variables.all.len() as u32 - 1)
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
        let count = &mut self.statements.temps[self.statements.current.0 as usize];
        let name = format!("%{count}").into();
        *count += 1;
        let span = self.statements.span.clone();
        let (ordinal, kind) = (self.statements.current.0, VarKind::Temp);
        self.push_var(Var { name, ordinal, kind, ty, sort, in_memory, size, span })
    }

    pub fn addr_of(&self, var: VarId) -> Expr {
        Expr::Addr(Object::Local(var))
    }

    /// Makes a statement without entering it.
    pub fn new_stmt(&mut self, kind: &'static str, span: rucc_diag::Span) -> StmtId {
        if self.statements.inner > 0 {
            return self.statements.current;
        }
        let span = self.unit.spans.span(span);
        self.statements.all.push(Stmt { span, depth: self.statements.depth, kind });
        self.statements.temps.push(0);
        StmtId(self.statements.all.len() as u32 - 1)
    }

    pub fn enter(&mut self, stmt: StmtId) {
        self.statements.current = stmt;
        self.statements.span = self.statements.all[stmt.0 as usize].span.clone();
    }

    pub fn start(&mut self, kind: &'static str, span: rucc_diag::Span) -> StmtId {
        let stmt = self.new_stmt(kind, span);
        self.enter(stmt);
        stmt
    }

    /// Emits a node at the frontier, with `slots` open successors.
    fn push(&mut self, instr: Instr, slots: usize) -> NodeId {
        let node = NodeId(self.graph.nodes.len() as u32);
        for edge in std::mem::take(&mut self.graph.frontier) {
            self.connect(edge, node);
        }
        let succs = vec![OPEN; slots];
        self.graph.nodes.push(Node {
            instr,
            succs,
            stmt: self.statements.current,
            span: self.statements.span.clone(),
        });
        node
    }

    pub fn connect(&mut self, edge: Edge, to: NodeId) {
        self.graph.nodes[edge.node.0 as usize].succs[edge.slot] = to;
    }

    /// Emits an instruction with one successor.
    pub fn emit(&mut self, instr: Instr) -> NodeId {
        let node = self.push(instr, 1);
        self.graph.frontier.push(Edge { node, slot: 0 });
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
        std::mem::take(&mut self.graph.frontier)
    }

    /// Runs `work`; when it meets something that is not modelled, undoes all that it emitted.
    pub fn attempt<T>(&mut self, work: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        let (nodes, vars) = (self.graph.nodes.len(), self.variables.all.len());
        let (frontier, stmt, span) =
            (self.graph.frontier.clone(), self.statements.current, self.statements.span.clone());
        let (around, inner, depth) = (self.graph.around.len(), self.statements.inner, self.statements.depth);
        let (unknowns, settled, names) =
            (self.found.unknowns.len(), self.found.settled.len(), self.variables.names.clone());
        let sizes = self.found.sizes.len();
        let (temps, scopes) = (self.statements.temps[stmt.0 as usize], self.blocks.arrays.len());
        let cleanups = self.blocks.cleanups.len();
        let result = work(self);
        if result.is_err() {
            self.graph.nodes.truncate(nodes);
            self.variables.all.truncate(vars);
            self.variables.of.retain(|_, v| (v.0 as usize) < vars);
            self.variables.lengths.retain(|_, e| !matches!(e, Expr::Var(v) if v.0 as usize >= vars));
            self.blocks.arrays.truncate(scopes);
            self.blocks.cleanups.truncate(cleanups);
            self.blocks.arrays.iter_mut().for_each(|s| s.retain(|v| (v.0 as usize) < vars));
            self.variables.shared.retain(|_, v| (v.0 as usize) < vars);
            self.found.unknowns.truncate(unknowns);
            self.found.settled.truncate(settled);
            self.found.sizes.truncate(sizes);
            self.variables.names = names;
            self.graph.around.truncate(around);
            let kept = |e: &Edge| (e.node.0 as usize) < nodes;
            for b in &mut self.graph.around {
                b.breaks.retain(kept);
                b.default.retain(kept);
                b.continues.iter_mut().for_each(|c| c.retain(kept));
                b.cases.values_mut().for_each(|c| c.retain(kept));
            }
            for label in self.graph.labels.values_mut() {
                label.node = label.node.filter(|n| (n.0 as usize) < nodes);
                label.pending.retain(kept);
            }
            self.graph.computed.iter_mut().for_each(|jump| jump.edges.retain(kept));
            for edge in &frontier {
                self.connect(*edge, OPEN);
            }
            // Jumps from before that went to a label inside: they meet what follows instead.
            let mut frontier = frontier;
            for (n, node) in self.graph.nodes.iter_mut().enumerate() {
                for (slot, s) in node.succs.iter_mut().enumerate() {
                    if *s != OPEN && s.0 as usize >= nodes {
                        *s = OPEN;
                        frontier.push(Edge { node: NodeId(n as u32), slot });
                    }
                }
            }
            (self.graph.frontier, self.statements.current, self.statements.span) = (frontier, stmt, span);
            (self.statements.inner, self.statements.depth) = (inner, depth);
            self.statements.temps[stmt.0 as usize] = temps;
        }
        result
    }

    /// Returns the callee of a direct call.
    pub fn direct(&mut self, id: DeclId) -> (Callee, bool) {
        let name = self.unit.function_symbol(id);
        let noreturn = self.unit.never_returns(id, &name);
        (Callee::Direct(name), noreturn)
    }
}
