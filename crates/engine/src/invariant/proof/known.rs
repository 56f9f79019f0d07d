//! What is known at a point: a value of one class, how a candidate stands in one, and the facts at loop heads.

use crate::invariant::candidate::quantified::ForAll;
use crate::invariant::candidate::templates::Candidate;
use crate::invariant::point::Point;
use crate::invariant::witness::run::Run;
use crate::ir::{CType, TermId};
use crate::mvicfg::ClassId;
use crate::semantics::{Lines, Val};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A variable of one class: its value at a point.
pub(in crate::invariant) struct Known {
    pub(in crate::invariant) ty: CType,
    pub(in crate::invariant) val: Val,
    /// What candidates are about: the value with loops cut, under well-formed input.
    pub(super) cut: TermId,
    /// What was taken for granted of it.
    pub(in crate::invariant) assumed: BTreeSet<String>,
}

/// What is known of a candidate in one class.
pub(in crate::invariant) enum Standing {
    /// In all executions, or in those of at most `bound` iterations of each loop.
    Proved {
        causes: Rc<Lines>,
        guards: Rc<Lines>,
        assumptions: Vec<String>,
        bound: Option<u32>,
    },
    Refuted(Box<Run>),
    Open,
}

impl Standing {
    /// Whether both hold, fail, or are open.
    pub(super) fn is_like(&self, other: &Standing) -> bool {
        let bound = |s: &Standing| if let Standing::Proved { bound, .. } = s { *bound } else { None };
        std::mem::discriminant(self) == std::mem::discriminant(other) && bound(self) == bound(other)
    }
}

impl Known {
    /// What candidates are about, with its type.
    pub(in crate::invariant) fn as_term(&self) -> (TermId, CType) {
        (self.cut, self.ty.clone())
    }
}

impl Standing {
    /// A proved candidate over known variables.
    /// `assumed`: what the proof took for granted beside what is assumed of them.
    pub(in crate::invariant) fn proved(
        candidate: &Candidate,
        known: &BTreeMap<String, Known>,
        assumed: &BTreeSet<String>,
    ) -> Standing {
        let (mut causes, mut guards) = (Lines::default(), Lines::default());
        let mut assumed = assumed.clone();
        for k in candidate.variables().iter().filter_map(|x| known.get(*x)) {
            causes = causes.union(&k.val.causes);
            guards = guards.union(&k.val.guards);
            assumed.extend(k.assumed.iter().cloned());
        }
        let assumptions = assumed.into_iter().collect();
        Standing::Proved { causes: Rc::new(causes), guards: Rc::new(guards), assumptions, bound: None }
    }
}

/// What is known of each candidate, in each class.
pub(super) type Standings = BTreeMap<Candidate, BTreeMap<ClassId, Standing>>;

/// Facts at the loop heads of a function.
#[derive(Default)]
pub(in crate::invariant) struct Inductive {
    /// Each head with what is known of each candidate in each class.
    pub(in crate::invariant) heads: Vec<(Point, Standings)>,
    /// By class: the conjunction of what was proved, each where its head is reached.
    pub(super) facts: BTreeMap<ClassId, TermId>,
    /// By class: facts of all elements of arrays, each of one unknown element.
    pub(super) elements: BTreeMap<ClassId, Vec<(ForAll, TermId)>>,
    /// By class: what the induction took for granted.
    pub(super) assumed: BTreeMap<ClassId, BTreeSet<String>>,
}
