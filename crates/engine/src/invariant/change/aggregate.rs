//! Facts about the members of structures that functions return: `\result.re == a.re + b.re`.
//!
//! A structure is returned by the address of the local that it was built in; what its members hold at the
//! exit is read from there. Where the address depends on the way, nothing is said.

use crate::fact::Formula;
use crate::invariant::fact::{Fact, Template};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable::{self, Observable};
use crate::invariant::point::Kind;
use crate::ir::{App, CType, Leaf, Op, Term, TermId, VarId};
use crate::mvicfg::{ClassId, ClassSet, Mvicfg};
use crate::semantics::{Val, c_text};
use std::collections::BTreeMap;

/// Members of one structure.
const MAX_MEMBERS: usize = 12;

impl FunctionAnalysis<'_> {
    /// Adds what the members of a returned structure are in all classes, and in some where facts of these are told.
    pub(in crate::invariant) fn members_of_results(&mut self) {
        if self.diff.point.kind != Kind::Exit || !self.undefined_classes().is_empty() {
            return;
        }
        let all = self.task.graph.all_classes();
        let facts = all.iter().flat_map(|class| self.members_returned(class)).collect();
        let of_some = self.task.options.subsets;
        let shared = Fact::merged(facts).into_iter().filter(|f| of_some || f.classes == all);
        self.diff.invariants.extend(shared);
    }

    fn members_returned(&mut self, class: ClassId) -> Vec<Fact> {
        let body = self.task.graph.bodies[class].clone();
        let CType::Record(id) = &body.ret else { return Vec::new() };
        let unit = self.task.units[class].clone();
        let Some(record) = unit.records.get(id.0 as usize).filter(|r| !r.is_union) else { return Vec::new() };
        let Some((address, memory)) = self.returned_object(class) else { return Vec::new() };
        let bits = self.task.pointer_bits;
        let mut found = Vec::new();
        for field in record.fields.iter().filter(|f| f.bits.is_none()).take(MAX_MEMBERS) {
            let (Some(sort), Some(bytes)) = (field.ty.sort(bits), unit.value_bytes(&field.ty)) else {
                continue;
            };
            let offset = self.e.pool.bv(bits, i128::from(field.offset));
            let at = self.e.pool.op(Op::Add, &[address, offset]);
            let value = self.e.pool.app(App::Load { sort, bytes }, &[memory.term, at]);
            let name = format!("\\result.{}", field.name);
            found.extend(self.member_fact(class, &name, value, &memory, &field.ty));
        }
        found
    }

    fn member_fact(
        &mut self,
        class: ClassId,
        name: &str,
        value: TermId,
        memory: &Val,
        ty: &CType,
    ) -> Option<Fact> {
        let formed = self.shown(class, value);
        let defined = self.defined_value(class, value);
        let (shown, used) = self.separated(class, defined);
        if self.e.rests_on_havoc(shown) || self.e.rests_on_indeterminate(shown) {
            return None;
        }
        let naming = self.namings.get(class.index())?.clone();
        let text = c_text::render_equation(&self.e.pool, name, shown, &naming, Some(ty));
        let formula = Formula::read(text);
        self.is_readable(&formula).then(|| Fact {
            template: Template::Functional,
            variables: vec![name.to_owned()],
            formula,
            c: None,
            classes: ClassSet::single(class),
            assumptions: self.assumptions(value, formed).into_iter().chain(used).collect(),
            lines: BTreeMap::from([(class, self.lines(&memory.causes, class))]),
            bounds: BTreeMap::new(),
        })
    }

    /// Where a class builds the structure that it returns, and the memory there at the exit.
    fn returned_object(&mut self, class: ClassId) -> Option<(TermId, Val)> {
        let (point, single) = (self.diff.point.clone(), ClassSet::single(class));
        let (_, result) = observable::values_at(&mut self.e, &Observable::Result, &point, &single).pop()?;
        let Term::Leaf(Leaf::LocalAddr { key, .. }) = self.e.pool.get(result.term) else { return None };
        let is_it = |v: &crate::ir::Var| format!("{}#{}", v.name, v.ordinal) == **key;
        let v = self.task.graph.vars.iter().position(is_it)?;
        let place = self.e.places.of_var(VarId(u32::try_from(v).ok()?));
        let (_, memory) = self.e.before(place, Mvicfg::EXIT, &single).into_iter().next()?;
        Some((result.term, memory))
    }
}
