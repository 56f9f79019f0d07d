//! Members that the newer version has by a wider number type (`crates/mvicfg/src/members/numbers.rs`).
//!
//! Both versions read one memory, in which such a member has its newer type. Of what neither version has written there,
//! it is taken for granted that it is a number of both types ([`Path::fits`]): other states of the newer version are
//! none of the older one. What the older version writes is extended. A negative number that the newer type lacks is
//! kept with high bits that are not known ([`NEGATIVE`]): whatever the newer version writes there, it is another number.

use super::compare::Comparer;
use super::machine::{Machine, Path};
use crate::ir::{App, CType, Leaf, Op, Sort, Term, TermId, TermPool};
use crate::mvicfg::members::{Fit, NEGATIVE};
use crate::semantics::type_text::spelled;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Machine<'_> {
    /// Such a member where the path's node reads or writes one in this version.
    fn fit(&self, path: &Path) -> Option<&Fit> {
        let node = self.graph.origin(path.node, self.side.class)?;
        self.side.fits.get(&node)
    }

    /// What this version reads of a member, and what is taken for granted of it.
    pub(super) fn read_member(&mut self, path: &mut Path, value: TermId) -> TermId {
        let Some(fit) = self.fit(path).cloned() else { return value };
        let Term::App(App::Load { sort, bytes }, args) = self.pool.get(value) else {
            return untagged(self.pool, value);
        };
        let (load, &[memory, address]) = (App::Load { sort: *sort, bytes: *bytes }, args.as_slice()) else {
            return value;
        };
        // What was there before the version wrote anything.
        let memory = unwritten(self.pool, memory);
        let there = self.pool.app(load, &[memory, address]);
        let granted = fits(self.pool, there, &fit);
        if self.pool.as_const(granted).is_none() {
            path.fits.insert((granted, words(&fit)));
        }
        value
    }

    /// The operator that gives the same of numbers that are not negative, without a sign.
    pub(super) fn unsigned(&self, path: &Path, op: Op, args: &[TermId]) -> Op {
        let unsigned = match op {
            Op::SDiv => Op::UDiv,
            Op::SRem => Op::URem,
            Op::Slt => Op::Ult,
            Op::Sle => Op::Ule,
            _ => return op,
        };
        let all = !path.fits.is_empty() && args.iter().all(|a| self.is_natural(path, *a));
        if all { unsigned } else { op }
    }

    /// Whether a number is not negative because of what is taken for granted.
    fn is_natural(&self, path: &Path, number: TermId) -> bool {
        if let Some(c) = self.pool.as_const(number) {
            return c.signed().is_some_and(|n| n >= 0);
        }
        let is_granted = |condition: &TermId| matches!(self.pool.as_op(*condition, Op::Ule), Some(&[member, _]) if member == number);
        match self.pool.get(number) {
            Term::App(App::Op(Op::UDiv | Op::URem | Op::LShr), args) => {
                args.iter().all(|a| self.is_natural(path, *a))
            }
            _ => path.fits.iter().any(|(condition, _)| is_granted(condition)),
        }
    }
}

impl Comparer<'_> {
    /// Conditions with what paths take for granted.
    pub(super) fn granted(&mut self, conditions: TermId, paths: [&Path; 2]) -> TermId {
        let fits = paths.into_iter().flat_map(|p| &p.fits).map(|(term, _)| *term);
        fits.fold(conditions, |all, fit| self.pool.and(all, fit))
    }
}

/// What is taken for granted of a member.
fn words(fit: &Fit) -> Arc<str> {
    let [before, now] = fit.types.each_ref().map(|ty| spelled(ty).unwrap_or_else(|| "an enumeration".into()));
    format!("{} fits {before} and {now}", fit.member).into()
}

/// What paths take for granted of members.
pub(super) fn members(paths: [&Path; 2]) -> BTreeSet<Arc<str>> {
    paths.into_iter().flat_map(|p| &p.fits).map(|(_, name)| name.clone()).collect()
}

/// That a member is a number of both its types.
fn fits(pool: &mut TermPool, member: TermId, fit: &Fit) -> TermId {
    let most = match &fit.types[0] {
        CType::Bool => Some(1),
        _ if fit.loses_sign() => Some((1 << (fit.bits - 1)) - 1),
        _ => None,
    };
    match most {
        Some(most) => {
            let most = pool.bv(fit.wide, most);
            pool.op(Op::Ule, &[member, most])
        }
        None => {
            let cut = pool.op(Op::Trunc(fit.bits), &[member]);
            let extended = pool.op(fit.extension(), &[cut]);
            pool.eq(member, extended)
        }
    }
}

/// Memory without what was written to it.
fn unwritten(pool: &TermPool, mut memory: TermId) -> TermId {
    while let Term::App(App::Store { .. } | App::ZeroBytes { .. } | App::CopyBytes { .. }, args) =
        pool.get(memory)
        && let Some(below) = args.first()
    {
        memory = *below;
    }
    memory
}

/// What has high bits that are not known, where a number is kept so.
fn low_bits(pool: &TermPool, kept: TermId) -> Option<TermId> {
    let &[high, low] = pool.as_op(kept, Op::Concat)? else { return None };
    let Term::App(App::Op(Op::Trunc(_)), args) = pool.get(high) else { return None };
    let is_it = matches!(pool.get(*args.first()?), Term::Leaf(Leaf::SymbolAddr { symbol, .. }) if **symbol == *NEGATIVE);
    is_it.then_some(low)
}

/// A negative constant that is kept so, as C writes it.
pub(super) fn negative(pool: &TermPool, kept: TermId) -> Option<String> {
    Some(pool.as_const(low_bits(pool, kept)?)?.signed()?.to_string())
}

/// The number that is kept so, extended.
pub(super) fn untagged(pool: &mut TermPool, value: TermId) -> TermId {
    if let Some(&[_, kept, extended]) = pool.as_op(value, Op::Ite)
        && low_bits(pool, kept).is_some()
    {
        return extended;
    }
    match (low_bits(pool, value), pool.sort(value)) {
        (Some(low), Sort::Bv(width)) => pool.op(Op::Sext(width), &[low]),
        _ => value,
    }
}
