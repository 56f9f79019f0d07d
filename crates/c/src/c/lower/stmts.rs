//! Statements: control flow, labels, declarations and their initialisers.

use super::errors::ERRORS;
use super::function::{Breakable, Edge, FnCx, Lowered, Unmodelled};
use super::places::Lvalue;
use super::sequencing::Jumps;
use super::spelling::Part;
use super::types::{Scalar, Shape};
use crate::ir::{Access, Expr, Instr, NodeId, Object, Op, Unknown, VarId, VarKind};
use rucc_sema::{CaseId, DeclId, DeclKind, ExprId, ExprKind, LabelId, Stmt, StmtId};
use std::collections::BTreeMap;

impl FnCx<'_, '_> {
    /// Lowers a function's body.
    pub fn body(&mut self, body: StmtId) {
        self.statement(body);
    }

    /// Lowers a statement, and answers for the errors in its text.
    pub fn statement(&mut self, id: StmtId) {
        let (known, was_dead) = (self.found.unknowns.len(), self.graph.frontier.is_empty());
        self.statement_as_it_is(id);
        self.answer_for_errors(id, known, was_dead);
    }

    fn statement_as_it_is(&mut self, id: StmtId) {
        let span = self.unit.tast.stmt_span(id);
        match self.unit.tast[id] {
            Stmt::Empty => {}
            Stmt::Error => {
                if let Some(edges) = self.graph.around.iter_mut().rev().find_map(|b| b.errors.remove(&id)) {
                    self.label_here(span, edges);
                }
                self.start("expr", span);
                let registers = self.all_registers();
                self.unknown(ERRORS.into(), Part::Stmt(id), registers, true);
            }
            Stmt::Block(list) => {
                let list = self.unit.tast[list].to_vec();
                self.statements.depth += 1;
                self.blocks.arrays.push(Vec::new());
                let cleanups = self.blocks.cleanups.len();
                self.statements_of(span, &list);
                self.end_scope(cleanups);
                self.leave_block();
                self.statements.depth -= 1;
            }
            Stmt::Expr(e) => {
                self.start("expr", span);
                self.full_effect(e);
            }
            Stmt::Decls(list) => {
                let list = self.unit.tast[list].to_vec();
                list.into_iter().for_each(|d| self.declaration(d));
            }
            Stmt::If { cond, then, otherwise } => self.if_statement(span, cond, then, otherwise),
            Stmt::While { cond, body } => self.loop_statement("while", span, None, Some(cond), None, body),
            Stmt::For { init, cond, step, body } => {
                let cleanups = self.blocks.cleanups.len();
                self.loop_statement("for", span, init, cond, step, body);
                self.end_scope(cleanups);
            }
            Stmt::DoWhile { body, cond } => self.do_statement(span, body, cond),
            Stmt::Switch { cond, body, cases, default } => {
                let cases: Vec<CaseId> = cases.iter().collect();
                self.switch_statement(span, cond, body, &cases, default.is_some());
            }
            Stmt::Case { case, body } => {
                if let Some(b) = self.graph.around.iter_mut().rev().find(|b| b.cases.contains_key(&case)) {
                    let edges = b.cases.insert(case, Vec::new()).unwrap_or_default();
                    self.label_here(span, edges);
                }
                self.statement(body);
            }
            Stmt::Default { body } => {
                if let Some(b) = self.graph.around.iter_mut().rev().find(|b| b.continues.is_none()) {
                    let edges = std::mem::take(&mut b.default);
                    self.label_here(span, edges);
                }
                self.statement(body);
            }
            Stmt::Label { label, body } => {
                let pending = self
                    .graph
                    .labels
                    .get_mut(&label)
                    .map(|l| std::mem::take(&mut l.pending))
                    .unwrap_or_default();
                let node = self.label_here(span, pending);
                let live = self.live_arrays();
                let entry = self.graph.labels.entry(label).or_default();
                (entry.node, entry.live) = (Some(node), live);
                self.statement(body);
            }
            Stmt::Goto(label) => self.goto(span, label),
            Stmt::IndirectGoto(target) => {
                self.start("goto", span);
                self.computed_jump(id, target);
            }
            Stmt::Asm(asm) => {
                self.start("expr", span);
                if self.asm_without_code(asm) {
                    return;
                }
                let registers = self.all_registers();
                let labels = self.unit.tast[self.unit.tast[asm].labels].to_vec();
                let ways = Jumps { labels, ..Jumps::default() };
                self.unknown_with_jumps("inline assembly".into(), Part::Stmt(id), registers, true, ways);
            }
            Stmt::Break => {
                self.start("break", span);
                self.jump_out();
            }
            Stmt::Continue => {
                self.start("continue", span);
                self.jump_on();
            }
            Stmt::Return(value) => self.return_statement(span, value),
        }
    }

    /// Whether assembly has no code: it keeps a compiler from moving things, and what it says that it writes
    /// stays as it was. Operands that change something make it as unknown as any.
    fn asm_without_code(&self, asm: rucc_sema::AsmId) -> bool {
        let tast = self.unit.tast;
        let asm = tast[asm];
        let bytes = |s: rucc_sema::StrId| tast[s].bytes(self.unit.target);
        let no_code = bytes(asm.template).iter().all(|b| b.is_ascii_whitespace() || *b == 0);
        let kept = tast[asm.outputs].iter().all(|o| bytes(o.constraint).starts_with(b"+"));
        let mut operands = tast[asm.outputs].iter().chain(&tast[asm.inputs]);
        no_code
            && kept
            && tast[asm.labels].is_empty()
            && !operands.any(|o| super::sequencing::has_effects(tast, o.value))
    }

    /// The edges of a jump: a node of its own, so that the jump has a line.
    fn jump_edges(&mut self) -> Vec<Edge> {
        if self.graph.frontier.is_empty() {
            return Vec::new();
        }
        self.emit(Instr::Nop);
        self.take_frontier()
    }

    /// Starts a labelled place that these edges, beside the frontier, lead to.
    fn label_here(&mut self, span: rucc_diag::Span, edges: Vec<Edge>) -> NodeId {
        self.start("label", span);
        self.arrive(edges);
        self.emit(Instr::Nop)
    }

    /// Leaves the loop or `switch` around.
    pub fn jump_out(&mut self) {
        self.leave_scopes(self.graph.around.last().map_or(0, |b| b.cleanups));
        self.end_arrays(self.graph.around.last().map_or(0, |b| b.blocks));
        let edges = self.jump_edges();
        if let Some(b) = self.graph.around.last_mut() {
            b.breaks.extend(edges);
        }
    }

    /// Goes on with the next round of the loop around.
    pub fn jump_on(&mut self) {
        let target = self.graph.around.iter().rev().find(|b| b.continues.is_some());
        let (cleanups, blocks) = target.map_or((0, 0), |b| (b.cleanups, b.blocks));
        self.leave_scopes(cleanups);
        self.end_arrays(blocks);
        let edges = self.jump_edges();
        if let Some(c) = self.graph.around.iter_mut().rev().find_map(|b| b.continues.as_mut()) {
            c.extend(edges);
        }
    }

    fn goto(&mut self, span: rucc_diag::Span, label: LabelId) {
        self.start("goto", span);
        self.leave_scopes(self.shared_with(label));
        if let Some(live) = self.graph.labels.get(&label).filter(|l| l.node.is_some()).map(|l| l.live.clone())
        {
            self.end_arrays_but(&live);
        }
        self.jump_to(label);
    }

    pub fn jump_to(&mut self, label: LabelId) {
        let edges = self.jump_edges();
        edges.iter().for_each(|e| self.note_jump(e.node));
        let entry = self.graph.labels.entry(label).or_default();
        match entry.node {
            Some(node) => edges.into_iter().for_each(|e| self.connect(e, node)),
            None => entry.pending.extend(edges),
        }
    }

    fn return_statement(&mut self, span: rucc_diag::Span, value: Option<ExprId>) {
        self.start("return", span);
        if self.nested_return(value).is_some() {
            return;
        }
        let Some(e) = value else {
            self.leave_scopes(0);
            self.emit_return(None);
            return;
        };
        match self.unit.shape(self.unit.tast[e].ty) {
            Shape::Scalar(scalar) => {
                // Some value is returned even of what is not modelled: without one, callers would see a
                // missing return.
                let value = self.full_value(e);
                // What is in error has no type to be converted from.
                let made = match self.unit.shape(self.ret) {
                    Shape::Scalar(s) if self.sort_of(&value) != s.sort(self.unit.pointer) => {
                        Some(self.temp(s, self.ret))
                    }
                    Shape::Aggregate => Some(self.temp_pointer(self.ret)),
                    _ => None,
                };
                let value = match made {
                    Some(made) => {
                        self.unknown(ERRORS.into(), Part::Expr(e), vec![made], false);
                        Expr::Var(made)
                    }
                    None => self.kept_value(value, scalar, self.unit.tast[e].ty),
                };
                self.leave_scopes(0);
                self.emit_return(Some(value));
            }
            Shape::Void => {
                self.full_effect(e);
                self.leave_scopes(0);
                self.emit_return(None);
            }
            _ => {
                // The caller's object is written through the returned address.
                let ty = self.unit.tast[e].ty;
                let keep = |cx: &mut Self| {
                    let found = cx.aggregate(e)?;
                    cx.kept_aggregate(found, ty)
                };
                let addr = self.guarded(e, keep, |_| Vec::new());
                self.leave_scopes(0);
                self.emit_return(addr);
            }
        }
    }

    /// Branches on a condition; where it is not modelled, either way is possible.
    fn condition(&mut self, cond: ExprId) -> (Vec<Edge>, Vec<Edge>) {
        let mut any = None;
        let edges = self.guarded(
            cond,
            |cx| cx.branch_on(cond),
            |cx| {
                let made = cx.truth();
                any = Some(made);
                vec![made]
            },
        );
        match (edges, any) {
            (Some(edges), _) => edges,
            (None, any) => {
                let (yes, no) = self.emit_branch(any.map_or(Expr::Const(crate::ir::Const::TRUE), Expr::Var));
                (vec![yes], vec![no])
            }
        }
    }

    fn if_statement(&mut self, span: rucc_diag::Span, cond: ExprId, then: StmtId, otherwise: Option<StmtId>) {
        let header = self.header_span(span, cond);
        self.start("if", header);
        let (yes, no) = self.condition(cond);
        self.statements.depth += 1;
        self.graph.frontier = yes;
        self.statement(then);
        let mut done = self.take_frontier();
        self.graph.frontier = no;
        if let Some(s) = otherwise {
            self.statement(s);
        }
        self.statements.depth -= 1;
        self.graph.frontier.append(&mut done);
    }

    /// The span of a compound statement's header: from its start to the condition's end.
    fn header_span(&self, span: rucc_diag::Span, cond: ExprId) -> rucc_diag::Span {
        let c = self.unit.tast.expr_span(cond);
        let mut header = span;
        if c.hi > header.lo && c.hi < header.hi {
            header.hi = c.hi;
        }
        header
    }

    fn loop_statement(
        &mut self,
        kind: &'static str,
        span: rucc_diag::Span,
        init: Option<StmtId>,
        cond: Option<ExprId>,
        step: Option<ExprId>,
        body: StmtId,
    ) {
        if let Some(init) = init {
            self.statement(init);
        }
        let header = match cond {
            Some(c) if kind == "while" => self.header_span(span, c),
            Some(c) => self.unit.tast.expr_span(c),
            None => rucc_diag::Span { hi: span.lo + 1, ..span },
        };
        self.start(kind, header);
        let head = self.emit(Instr::Nop);
        let (yes, no) = match cond {
            Some(c) => self.condition(c),
            None => (self.take_frontier(), Vec::new()),
        };
        self.graph.around.push(Breakable {
            continues: Some(Vec::new()),
            blocks: self.blocks.arrays.len(),
            cleanups: self.blocks.cleanups.len(),
            ..Breakable::default()
        });
        self.statements.depth += 1;
        self.graph.frontier = yes;
        self.statement(body);
        self.statements.depth -= 1;
        let around = self.graph.around.pop().unwrap_or_default();
        self.graph.frontier.extend(around.continues.unwrap_or_default());
        if let Some(e) = step {
            let at = self.unit.tast.expr_span(e);
            self.start("for-step", at);
            self.full_effect(e);
        }
        for edge in self.take_frontier() {
            self.connect(edge, head);
        }
        self.graph.frontier = no;
        self.graph.frontier.extend(around.breaks);
    }

    fn do_statement(&mut self, span: rucc_diag::Span, body: StmtId, cond: ExprId) {
        self.start("do", rucc_diag::Span { hi: span.lo + 2, ..span });
        let head = self.emit(Instr::Nop);
        self.graph.around.push(Breakable {
            continues: Some(Vec::new()),
            blocks: self.blocks.arrays.len(),
            cleanups: self.blocks.cleanups.len(),
            ..Breakable::default()
        });
        self.statements.depth += 1;
        self.statement(body);
        self.statements.depth -= 1;
        let around = self.graph.around.pop().unwrap_or_default();
        self.graph.frontier.extend(around.continues.unwrap_or_default());
        let at = self.unit.tast.expr_span(cond);
        self.start("while", at);
        let (yes, no) = self.condition(cond);
        yes.into_iter().for_each(|e| self.connect(e, head));
        self.graph.frontier = no;
        self.graph.frontier.extend(around.breaks);
    }

    fn switch_statement(
        &mut self,
        span: rucc_diag::Span,
        cond: ExprId,
        body: StmtId,
        cases: &[CaseId],
        has_default: bool,
    ) {
        let header = self.header_span(span, cond);
        self.start("switch", header);
        let value = self.full_value(cond);
        let scalar = self.scalar_of(cond).unwrap_or(Scalar::Int { bits: 32, signed: true });
        let width = scalar.sort(self.unit.pointer).bits().unwrap_or(32);
        // The chain compares a value that no case changes.
        let value = match value {
            v @ Expr::Const(_) => v,
            v => {
                let kept = self.temp(scalar, self.unit.tast[cond].ty);
                self.assign(kept, v);
                Expr::Var(kept)
            }
        };
        let mut targets: BTreeMap<CaseId, Vec<Edge>> = BTreeMap::new();
        // Labels whose values are not known come last, by name: none has the value of another, so that the order
        // that they are written in means nothing.
        let mut cases = cases.to_vec();
        cases.sort_by_key(|id| self.unit.label(self.unit.tast[*id].low).map(|(name, _)| name));
        for id in cases {
            let case = self.unit.tast[id];
            let low = Expr::bv(width, case.low);
            let label = self.unit.label(case.low).filter(|_| !self.graph.frontier.is_empty());
            let test = if let Some(Ok(test)) = label.map(|(_, object)| self.is_label(&value, scalar, object))
            {
                test
            } else if case.low == case.high {
                super::arith::apply(Op::Eq, vec![value.clone(), low], false)
            } else {
                let le = if scalar.is_signed() { Op::Sle } else { Op::Ule };
                let above = super::arith::apply(le, vec![low, value.clone()], false);
                let below = super::arith::apply(le, vec![value.clone(), Expr::bv(width, case.high)], false);
                super::arith::apply(Op::And, vec![above, below], false)
            };
            match test {
                Expr::Const(crate::ir::Const::Bool(true)) => {
                    let here = self.take_frontier();
                    targets.insert(id, here);
                }
                Expr::Const(_) => {
                    targets.insert(id, Vec::new());
                }
                test => {
                    if self.graph.frontier.is_empty() {
                        targets.insert(id, Vec::new());
                        continue;
                    }
                    let (yes, no) = self.emit_branch(test);
                    targets.insert(id, vec![yes]);
                    self.graph.frontier = vec![no];
                }
            }
        }
        let errors = self.ways_to_errors(&value, body);
        let rest = self.take_frontier();
        let (default, mut after) = if has_default { (rest, Vec::new()) } else { (Vec::new(), rest) };
        self.graph.around.push(Breakable {
            cases: targets,
            default,
            errors,
            blocks: self.blocks.arrays.len(),
            cleanups: self.blocks.cleanups.len(),
            ..Breakable::default()
        });
        self.statements.depth += 1;
        self.statement(body);
        self.statements.depth -= 1;
        let around = self.graph.around.pop().unwrap_or_default();
        self.graph.frontier.extend(around.breaks);
        self.graph.frontier.append(&mut after);
    }

    /// Whether the value of a `switch` is that of a label which nobody declared: what the object holds that was
    /// taken for it (`retry::tokens`).
    fn is_label(&mut self, value: &Expr, scalar: Scalar, object: DeclId) -> Lowered<Expr> {
        let ty = self.unit.tast[object].ty;
        let place = self.object(object)?;
        let held = self.load(&place, ty, None)?;
        let held = self.convert(held, self.scalar_type(ty)?, scalar);
        Ok(super::arith::apply(Op::Eq, vec![value.clone(), held], false))
    }

    /// What stands behind a label that is no constant (`case UNKNOWN_MACRO(x + 1):`) is a statement in error, and no
    /// case. The `switch` may lead to it all the same: for which values is not known, but it depends on the
    /// value and on what is written there.
    fn ways_to_errors(&mut self, value: &Expr, body: StmtId) -> BTreeMap<StmtId, Vec<Edge>> {
        let mut found = Vec::new();
        self.errors_in(body, &mut found);
        let mut ways = BTreeMap::new();
        for id in found {
            if self.graph.frontier.is_empty() {
                break;
            }
            self.start("switch", self.unit.tast.stmt_span(id));
            let way = self.truth();
            let reason: Unmodelled = ERRORS.into();
            self.found.unknowns.push(Unknown { line: self.statements.span.line, reason: reason.clone() });
            let text = self.spelled(Part::Tokens).text;
            let (reads, writes) = (vec![value.clone()], vec![way]);
            self.emit(Instr::Unknown { reason, text, reads, writes, anything: false, skips: true });
            let (yes, no) = self.emit_branch(Expr::Var(way));
            ways.insert(id, vec![yes]);
            self.graph.frontier = vec![no];
        }
        ways
    }

    /// The statements in error of a `switch`, but for those of one inside of it.
    fn errors_in(&self, id: StmtId, found: &mut Vec<StmtId>) {
        match self.unit.tast[id] {
            Stmt::Error => found.push(id),
            Stmt::Block(list) => self.unit.tast[list].iter().for_each(|s| self.errors_in(*s, found)),
            Stmt::If { then, otherwise, .. } => {
                self.errors_in(then, found);
                otherwise.into_iter().for_each(|s| self.errors_in(s, found));
            }
            Stmt::While { body, .. }
            | Stmt::For { body, .. }
            | Stmt::DoWhile { body, .. }
            | Stmt::Case { body, .. }
            | Stmt::Default { body }
            | Stmt::Label { body, .. } => self.errors_in(body, found),
            _ => {}
        }
    }

    fn declaration(&mut self, d: DeclId) {
        let decl = &self.unit.tast[d];
        self.blocks.has_nested |= decl.kind == DeclKind::Function && decl.body.is_some();
        self.blocks.odd_exits |= self.blocks.has_nested;
        if self.unit.nested_taken.contains(&d) {
            self.found.beyond = Some("address of a nested function".into());
        }
        if decl.kind == DeclKind::Function || decl.linkage != rucc_sema::Linkage::None {
            return;
        }
        if self.unit.is_static(d) {
            self.unit.symbol(d, Some(&self.name.clone()));
            return;
        }
        let (init, cleanup, ty, kind) = (decl.init, decl.cleanup, decl.ty, decl.kind);
        let mut span = self.unit.tast.decl_span(d);
        // The declaration's own span ends with the declarator.
        let ends = init
            .iter()
            .flat_map(|l| &self.unit.tast[*l])
            .map(|entry| self.unit.tast.expr_span(entry.value).hi);
        span.hi = ends.fold(span.hi, u32::max);
        self.start("decl", span);
        if self.unit.is_variably_modified(ty)
            && let Err(reason) = self.attempt(|cx| cx.measure_type(ty))
        {
            self.unknown(reason, Part::Decl(d), self.all_registers(), true);
        }
        if kind == DeclKind::Type {
            return self.check_lengths(ty);
        }
        let result = match init.map(|l| self.unit.tast[l].to_vec()).as_deref() {
            // One scalar value: a full expression of its own.
            Some([entry]) if matches!(self.unit.shape(self.unit.tast[d].ty), Shape::Scalar(_)) => {
                let value = entry.value;
                let var = self.declare(d, VarKind::Local);
                self.guarded(value, |cx| cx.initialise_from(var, value), |_| vec![var]);
                Ok(())
            }
            _ => self.attempt(|cx| cx.local_declaration(d)),
        };
        if let Err(reason) = result {
            // The initialiser's parts may have been meant to change registers.
            let registers = if init.is_some() { self.all_registers() } else { Vec::new() };
            self.unknown(reason, Part::Decl(d), registers, true);
        }
        self.blocks.odd_exits |= cleanup.is_some();
        self.blocks.cleanups.extend(cleanup.map(|_| d));
    }

    fn initialise_from(&mut self, var: VarId, value: ExprId) -> Lowered<()> {
        // A call's result goes straight into the register.
        if let ExprKind::Call { callee, args } = self.unit.tast[value].kind
            && !self.variables.all[var.0 as usize].in_memory
            && self.variables.all[var.0 as usize].sort == Some(self.scalar_of(value)?.sort(self.unit.pointer))
        {
            return self.call(value, callee, args, Some(var), None);
        }
        let value = self.value(value)?;
        self.initialise_scalar(var, value);
        Ok(())
    }

    /// Makes a local (or the object of a compound literal) and initialises it.
    pub fn local_declaration(&mut self, d: DeclId) -> Lowered<()> {
        let decl = &self.unit.tast[d];
        let (ty, init) = (decl.ty, decl.init);
        if self.unit.is_variable_length(ty) {
            return self.declare_array(d);
        }
        let var = match self.variables.of.get(&d) {
            Some(v) => *v,
            None => self.declare(d, VarKind::Local),
        };
        let Some(init) = init else {
            self.emit(Instr::Declare(var));
            return Ok(());
        };
        let entries = self.unit.tast[init].to_vec();
        match self.unit.shape(ty) {
            Shape::Scalar(_) => match entries.first() {
                Some(entry) => self.initialise_from(var, entry.value),
                None => {
                    let zero = self.variables.all[var.0 as usize].sort.and_then(crate::ir::Const::zero);
                    let zero = zero.ok_or("initialiser of no scalar")?;
                    self.initialise_scalar(var, Expr::Const(zero));
                    Ok(())
                }
            },
            Shape::Opaque if self.unit.several(ty).is_some() => self.declare_parts(var, ty, &entries),
            Shape::Opaque => Err(format!("value of type {}", self.unit.spell(ty)).into()),
            _ => self.initialise_aggregate(var, ty, &entries),
        }
    }

    fn initialise_aggregate(
        &mut self,
        var: VarId,
        ty: rucc_types::TypeId,
        entries: &[rucc_sema::InitEntry],
    ) -> Lowered<()> {
        let base = self.addr_of(var);
        let bytes = self.unit.size_of(ty).ok_or("object of unknown size")?;
        if let [entry] = entries
            && entry.offset == 0
            && self.unit.shape(self.unit.tast[entry.value].ty) == Shape::Aggregate
            && !matches!(self.unit.tast[entry.value].kind, ExprKind::Str(_))
            && self.unit.size_of(self.unit.tast[entry.value].ty) == Some(bytes)
        {
            let source = self.aggregate(entry.value)?;
            return self.copy(base, source, ty);
        }
        self.emit(Instr::Zero { dst: base.clone(), bytes });
        self.initialise_each(base, bytes, entries)
    }

    /// Writes the values of an initialiser's entries into an object.
    pub fn initialise_each(
        &mut self,
        base: Expr,
        bytes: u64,
        entries: &[rucc_sema::InitEntry],
    ) -> Lowered<()> {
        let p = self.unit.pointer;
        for entry in entries {
            if entry.reverse {
                return Err("reversed byte order".into());
            }
            let addr = super::arith::offset(base.clone(), i128::from(entry.offset), p);
            let value_ty = self.unit.tast[entry.value].ty;
            match (self.unit.shape(value_ty), self.unit.tast[entry.value].kind) {
                (Shape::Aggregate, ExprKind::Str(s)) => {
                    let room = bytes.saturating_sub(entry.offset);
                    let length = self.unit.size_of(value_ty).unwrap_or(room).min(room);
                    let symbol = self.unit.string(s, Some(self.unit.tast.expr_span(entry.value)));
                    let src = Expr::Addr(Object::Global(symbol));
                    if length > 0 {
                        self.emit(Instr::Copy { dst: addr, src, bytes: length });
                    }
                }
                (Shape::Aggregate, _) => {
                    let source = self.aggregate(entry.value)?;
                    self.copy(addr, source, value_ty)?;
                }
                _ if self.unit.several(value_ty).is_some() => self.initialise_parts(addr, entry.value)?,
                _ if entry.bit_width != 0 => {
                    let first = u64::from(entry.bit_offset);
                    let width = u64::from(entry.bit_width);
                    let unit_bytes = (first + width).div_ceil(8).max(1);
                    let value = self.value(entry.value)?;
                    let place =
                        Lvalue::Bits { addr, bytes: unit_bytes, low: first as u16, width: width as u16 };
                    self.store(&place, value_ty, value)?;
                }
                _ => {
                    let value = self.value(entry.value)?;
                    self.store(&Lvalue::Memory { addr }, value_ty, value)?;
                }
            }
        }
        Ok(())
    }

    /// Gives a scalar local its first value.
    pub fn initialise_scalar(&mut self, var: VarId, value: Expr) {
        let v = &self.variables.all[var.0 as usize];
        match (v.in_memory, v.sort) {
            (true, Some(sort)) => {
                let access = Access { sort, bytes: v.value_bytes(), volatile: false, ty: v.ty.clone() };
                let addr = self.addr_of(var);
                self.emit(Instr::Store { addr, value, access });
            }
            _ => self.assign(var, value),
        }
    }

    /// The statements of a statement expression, and the value of the last one.
    pub fn statement_value(&mut self, body: StmtId, wanted: bool) -> Lowered<Option<Expr>> {
        let Stmt::Block(list) = self.unit.tast[body] else {
            self.statement(body);
            return Ok(None);
        };
        let list = self.unit.tast[list].to_vec();
        let Some((&last, rest)) = list.split_last() else { return Ok(None) };
        let cleanups = self.blocks.cleanups.len();
        rest.iter().for_each(|&s| self.statement(s));
        let value = self.last_value(last, wanted);
        self.end_scope(cleanups);
        value
    }

    /// The value of a statement expression's last statement.
    fn last_value(&mut self, last: StmtId, wanted: bool) -> Lowered<Option<Expr>> {
        match self.unit.tast[last] {
            Stmt::Expr(e) if wanted => match self.unit.shape(self.unit.tast[e].ty) {
                Shape::Aggregate => Ok(Some(self.aggregate(e)?)),
                Shape::Opaque if self.several_of(e).is_some() => Ok(Some(self.object_of_parts(e)?)),
                Shape::Scalar(_) => {
                    let value = self.value(e)?;
                    // Later effects of the expression around it must not reach into the value.
                    let scalar = self.scalar_of(e)?;
                    let kept = self.temp(scalar, self.unit.tast[e].ty);
                    self.assign(kept, value);
                    Ok(Some(Expr::Var(kept)))
                }
                _ => {
                    self.effect(e)?;
                    Ok(None)
                }
            },
            _ => {
                self.statement(last);
                Ok(None)
            }
        }
    }
}
