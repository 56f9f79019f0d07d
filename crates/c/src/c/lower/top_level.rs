//! A unit from its top level down: what is found in the whole tree, then objects and functions in order.

use super::super::parse::Parsed;
use super::super::retry;
use super::unit::UnitCx;
use super::{compared, constants, definition};
use crate::ir::{DataModel, Function, Unit};
use rucc_ast::UnaryOp;
use rucc_base::Idx;
use rucc_sema::{Decl, DeclId, DeclKind, Definition, ExprKind};
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn lower_unit(parsed: &Parsed, data_model: DataModel) -> Unit {
    let mut cx = UnitCx::new(parsed, data_model.pointer_bits());
    cx.find_unknown_labels(&parsed.labels);
    cx.find_line_numbers();
    cx.find_sizes();
    cx.find_addresses();
    cx.find_labels();
    cx.find_nested();
    cx.lower_records();
    cx.ir_types.enum_names = cx.enumeration_names();
    let functions = cx.lower_top_level().into_iter().map(Arc::new).collect();
    let globals = std::mem::take(&mut cx.symbols.globals);
    let mut unit = Unit { path: parsed.path.clone(), data_model, globals, functions, ..Unit::default() };
    cx.add_linkage(&mut unit);
    unit.written.typedefs = cx.typedefs();
    unit.written.enumerators = cx.enumerators();
    unit.written.initial = std::mem::take(&mut cx.symbols.initial);
    unit.options = cx.spans.options();
    unit.files = cx.spans.files;
    unit.records = cx.ir_types.records;
    let types =
        constants::Types { typedefs: &unit.written.typedefs, pointer_bits: data_model.pointer_bits() };
    let spelled = constants::spelled(parsed, &cx.ir_types.enumerations, &types);
    let compared = compared::compared(parsed, &unit.written.enumerators, &types);
    (unit.written.spelled, unit.written.compared) = (spelled, compared);
    unit.enumerations = cx.ir_types.enumerations;
    unit.prototypes = cx.symbols.prototypes.into_values().collect();
    unit
}

impl UnitCx<'_> {
    /// Finds every object whose address is taken, over the whole unit at once: an object is named
    /// in one function only, so nothing is lost. Unevaluated operands count too, which is safe.
    fn find_addresses(&mut self) {
        for i in 0..self.tast.counts().exprs {
            let expr = &self.tast[Idx::<rucc_sema::Expr>::from_usize(i)];
            if let ExprKind::Unary { op: UnaryOp::AddrOf, operand } = expr.kind
                && let ExprKind::Decl(decl) = self.tast[operand].kind
            {
                self.address_taken.insert(decl);
            }
        }
        let decls = (0..self.tast.counts().decls).map(Idx::<Decl>::from_usize);
        self.address_taken.extend(decls.filter(|d| self.tast[*d].cleanup.is_some()));
    }

    fn find_unknown_labels(&mut self, labels: &[Arc<str>]) {
        if labels.is_empty() {
            return;
        }
        for &id in self.tast.top_level() {
            let name = self.name_of(&self.tast[id]);
            if let Ok(at) = labels.binary_search(&name) {
                let number = retry::tokens::number_of(&name);
                self.labels.unknown.insert(i128::from(number), (at, id));
            }
        }
    }

    fn find_line_numbers(&mut self) {
        let tast = self.tast;
        let constants = (0..tast.counts().exprs).filter_map(|i| {
            let id = Idx::<rucc_sema::Expr>::from_usize(i);
            match tast[id].kind {
                ExprKind::Const(c) => match tast[c] {
                    rucc_sema::Const::Int(n) => Some((id, tast.expr_span(id), n)),
                    _ => None,
                },
                _ => None,
            }
        });
        self.line_numbers = self.spans.line_numbers_beside(constants).into_iter().collect();
    }

    fn lower_top_level(&mut self) -> Vec<Function> {
        let tast = self.tast;
        // Objects first, so that their order in the unit does not depend on uses.
        let mut bodies = Vec::new();
        for &id in tast.top_level() {
            let decl = &tast[id];
            match decl.kind {
                DeclKind::Object if decl.state != Definition::Declared => {
                    self.symbol(id, None);
                }
                DeclKind::Function if decl.body.is_some() => {
                    bodies.push(id);
                    if !self.is_for_users(id) {
                        self.function_symbol(id);
                    }
                }
                DeclKind::Function if self.is_own(id) && !self.is_for_users(id) => {
                    self.function_symbol(id);
                }
                _ => {}
            }
        }
        self.lower_bodies(&bodies)
    }

    /// Lowers definitions, those of headers that are there for users as far as something names them: `static inline`
    /// functions of which a unit uses few.
    fn lower_bodies(&mut self, bodies: &[DeclId]) -> Vec<Function> {
        let mut made: Vec<Option<Function>> = vec![None; bodies.len()];
        let mut waiting: Vec<usize> = Vec::new();
        for (k, &id) in bodies.iter().enumerate() {
            match self.is_for_users(id) {
                true => waiting.push(k),
                false => made[k] = Some(definition::lower_function(self, id)),
            }
        }
        let aliased = self.aliased();
        loop {
            let is_named = |cx: &Self, k: &usize| {
                let name = cx.name_of(&cx.tast[bodies[*k]]);
                aliased.contains(&name) || cx.symbols.prototypes.contains_key(&name)
            };
            let (named, others): (Vec<usize>, Vec<usize>) = waiting.iter().partition(|k| is_named(self, k));
            if named.is_empty() {
                break;
            }
            waiting = others;
            named.into_iter().for_each(|k| made[k] = Some(definition::lower_function(self, bodies[k])));
        }
        made.into_iter().flatten().collect()
    }

    /// Whether a definition is there for those that name it alone: it is known in this unit only, not its own text, and
    /// runs when it is called.
    fn is_for_users(&mut self, id: DeclId) -> bool {
        let decl = &self.tast[id];
        decl.linkage == rucc_sema::Linkage::Internal
            && decl.startup.before.is_none()
            && decl.startup.after.is_none()
            && self.tast.file_asms().is_empty()
            && self.spans.span(self.tast.definition_span(id)).file.0 != 0
    }

    /// The symbols for which the unit has other names.
    fn aliased(&self) -> BTreeSet<Arc<str>> {
        let targets = self.tast.top_level().iter().filter_map(|&d| self.tast[d].alias);
        targets.map(|target| self.text_of(target)).collect()
    }

    /// Returns whether a declaration is written in the tree and not in an embedded header.
    fn is_own(&mut self, id: DeclId) -> bool {
        let span = self.spans.span(self.tast.decl_span(id));
        let file = self.spans.files.get(span.file.0 as usize);
        span.line > 0 && file.is_some_and(|f| !f.to_string_lossy().starts_with('<'))
    }
}
