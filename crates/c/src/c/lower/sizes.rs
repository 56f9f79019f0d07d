//! What each `sizeof` of a body was asked of.
//!
//! The checker leaves a number behind, and instructions have nothing else. Where a structure or an array got
//! another size, only the numbers that were asked of that very one follow it. So the place in the text is joined
//! with the tree again: the operand, if it is an expression, is what the checker made right before the number, and
//! a type is named by the tokens ([`super::sizeof`]). Where there is any doubt, it is [`Measured::Other`].

use super::function::FnCx;
use super::sizeof::{Asked, Written};
use super::types::{Scalar, Shape};
use super::unit::UnitCx;
use crate::ir::{self, Const, FileId, Measured, SizeOf, VarId};
use rucc_base::{Idx, Symbol};
use rucc_sema::{ExprId, ExprKind};
use rucc_types::{TypeId, TypeKind};
use std::collections::BTreeMap;

impl UnitCx<'_> {
    /// Joins the numbers of the tree with what stands behind `sizeof` at their places.
    pub fn find_sizes(&mut self) {
        let tast = self.tast;
        let mut numbers: BTreeMap<u32, Vec<ExprId>> = BTreeMap::new();
        for i in 0..tast.counts().exprs {
            let id = Idx::<rucc_sema::Expr>::from_usize(i);
            let at = tast.expr_span(id).lo;
            if matches!(tast[id].kind, ExprKind::Const(_)) && self.spans.sizes.contains_key(&at) {
                numbers.entry(at).or_default().push(id);
            }
        }
        for (at, ids) in numbers {
            let written = self.spans.sizes.get(&at).cloned().unwrap_or_default();
            let sizes: Vec<ExprId> = ids.iter().copied().filter(|id| self.is_size(*id)).collect();
            // In a macro call other numbers stand at the same place: they are told apart where they are as many.
            let fits = sizes.len() == written.len();
            for (k, id) in sizes.into_iter().enumerate() {
                let what = written.get(k).copied().filter(|_| fits);
                let asked = what.map_or(Asked::Other, |what| self.asked(id, what));
                self.sizes.insert(id, asked);
            }
        }
    }

    /// Whether a number is of the type that `sizeof` gives.
    fn is_size(&self, id: ExprId) -> bool {
        let wanted = Scalar::Int { bits: self.pointer, signed: false };
        matches!(self.shape(self.tast[id].ty), Shape::Scalar(shape) if shape == wanted)
    }

    fn asked(&self, id: ExprId, what: Written) -> Asked {
        let found = match what {
            Written::Tag(tag) => self.tagged(tag).map(Asked::Record),
            Written::Name(name) => {
                let is_it = |e: &ExprId| match self.tast[*e].kind {
                    ExprKind::Decl(d) => self.tast[d].name == Some(name),
                    _ => false,
                };
                let object = self.operand(id).filter(is_it).map(Asked::Expression);
                object.or_else(|| self.record_called(name).map(Asked::Record))
            }
            Written::Other(first, last) => {
                let is_sure = |e: &ExprId| self.is_within(id, *e) || self.is_written(*e, first, last);
                self.operand(id).filter(is_sure).map(Asked::Expression)
            }
        };
        let size = |asked: &Asked| match asked {
            Asked::Expression(e) => self.size_of(self.tast[*e].ty),
            Asked::Record(r) => self.types.record_info(*r).layout.map(|l| l.size),
            Asked::Other => None,
        };
        found.filter(|asked| size(asked).is_some() && size(asked) == self.number(id)).unwrap_or(Asked::Other)
    }

    fn number(&self, id: ExprId) -> Option<u64> {
        let ExprKind::Const(c) = self.tast[id].kind else { return None };
        match self.tast[c] {
            rucc_sema::Const::Int(n) => u64::try_from(n).ok(),
            _ => None,
        }
    }

    /// The place that was checked right before a number, if it stands in its text.
    fn operand(&self, id: ExprId) -> Option<ExprId> {
        let before = Idx::<rucc_sema::Expr>::from_usize(id.index().checked_sub(1)?);
        let is_place = matches!(
            self.tast[before].kind,
            ExprKind::Decl(_) | ExprKind::Member { .. } | ExprKind::Subscript { .. } | ExprKind::Unary { .. }
        );
        let at = self.tast.expr_span(id).lo;
        // In a macro call all places are the same.
        let in_one_call = self.spans.is_macro_call(at) && self.tast.expr_span(before).lo == at;
        (is_place && (in_one_call || self.is_within(id, before))).then_some(before)
    }

    fn is_within(&self, outer: ExprId, inner: ExprId) -> bool {
        let (outer, inner) = (self.tast.expr_span(outer), self.tast.expr_span(inner));
        outer.lo < inner.lo && inner.hi <= outer.hi
    }

    /// Whether an expression begins with a name, or is a member of that name.
    fn is_written(&self, e: ExprId, first: Option<Symbol>, last: Option<Symbol>) -> bool {
        if let ExprKind::Member { base, field } = self.tast[e].kind
            && let Some(record) = self.record_of(self.tast[base].ty)
            && let Some(field) = self.types.record_info(record).fields.get(field as usize)
        {
            return last.is_some() && field.name == last;
        }
        let mut e = e;
        loop {
            e = match self.tast[e].kind {
                ExprKind::Decl(d) => return first.is_some() && self.tast[d].name == first,
                ExprKind::Member { base, .. } | ExprKind::Subscript { base, .. } => base,
                ExprKind::Unary { operand, .. }
                | ExprKind::Convert { operand, .. }
                | ExprKind::Cast(operand) => operand,
                _ => return false,
            }
        }
    }

    /// The only record of a tag that has a size.
    fn tagged(&self, tag: Symbol) -> Option<rucc_types::RecordId> {
        let named = |(_, info): &(_, &rucc_types::RecordInfo)| info.tag == Some(tag) && info.layout.is_some();
        let mut all = self.types.records().filter(named).map(|(id, _)| id);
        all.next().filter(|_| all.next().is_none())
    }

    /// The only record of which a name is a type's.
    fn record_called(&self, name: Symbol) -> Option<rucc_types::RecordId> {
        let mut all = self.types.aliases().iter().filter(|alias| alias.name == name);
        let one = all.next().filter(|_| all.next().is_none())?;
        self.record_of(one.of)
    }

    fn record_of(&self, ty: TypeId) -> Option<rucc_types::RecordId> {
        match self.types.kind(self.types.canonical(ty)) {
            TypeKind::Record(id) => Some(id),
            _ => None,
        }
    }
}

impl FnCx<'_, '_> {
    /// Notes a number that `sizeof` gave.
    pub fn note_size(&mut self, e: ExprId, value: u64) {
        let Some(asked) = self.unit.sizes.get(&e).copied() else { return };
        let of = match asked {
            Asked::Expression(operand) => self.measured(operand),
            Asked::Record(id) => self.unit.ir_types.record_ids.get(&id).copied().map(Measured::Record),
            Asked::Other => None,
        };
        self.found.sizes.push(SizeOf {
            at: place(&self.statements.span),
            value,
            of: of.unwrap_or(Measured::Other),
        });
    }

    fn measured(&mut self, operand: ExprId) -> Option<Measured> {
        let tast = self.unit.tast;
        if let Some(id) = self.unit.record_of(tast[operand].ty) {
            return self.unit.ir_types.record_ids.get(&id).copied().map(Measured::Record);
        }
        match tast[operand].kind {
            ExprKind::Decl(d) => {
                let var = self.variables.of.get(&d).and_then(|v| self.variables.all.get(v.0 as usize))?;
                Some(Measured::Variable(var.name.clone(), place(&var.span)))
            }
            ExprKind::Member { base, field } => {
                let record = self.unit.record_of(tast[base].ty)?;
                let field = self.unit.types.record_info(record).fields.get(field as usize)?;
                let name = self.unit.names.resolve(field.name?).into();
                let id = self.unit.ir_types.record_ids.get(&record).copied()?;
                field.bits.is_none().then_some(Measured::Member(id, name, field.offset))
            }
            _ => None,
        }
    }

    /// Keeps what is certain: an instruction has only numbers, and where an equal one stands beside what
    /// `sizeof` gave, or that was computed with, they are not told apart.
    pub fn settle_sizes(&mut self) {
        let mut asked: BTreeMap<((FileId, u32, u32), u64), usize> = BTreeMap::new();
        for size in &self.found.sizes {
            *asked.entry((size.at, size.value)).or_default() += 1;
        }
        if asked.is_empty() {
            return;
        }
        let mut there: BTreeMap<((FileId, u32, u32), u64), usize> = BTreeMap::new();
        for node in &self.graph.nodes {
            let at = place(&node.span);
            let is_pointer =
                |v: VarId| self.variables.all.get(v.0 as usize).is_some_and(|v| v.ty.is_pointer());
            node.instr.for_each_operand(&mut |e| {
                e.for_each_number(&is_pointer, &mut |c| {
                    if let Const::Bv { bits, .. } = c
                        && let Ok(n) = u64::try_from(*bits)
                        && asked.contains_key(&(at, n))
                    {
                        *there.entry((at, n)).or_default() += 1;
                    }
                });
            });
        }
        for mut size in std::mem::take(&mut self.found.sizes) {
            let key = (size.at, size.value);
            if asked.get(&key) != there.get(&key) {
                size.of = Measured::Other;
            }
            self.found.records.sizes.insert(size);
        }
    }
}

fn place(span: &ir::Span) -> (FileId, u32, u32) {
    (span.file, span.line, span.col)
}
