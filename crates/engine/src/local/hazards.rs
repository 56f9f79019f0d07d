//! What is undefined on the way of two paths: divisions by zero, shifts that are too wide, null pointers.
//!
//! Where a path meets a hazard for sure nothing is known of what comes behind it (C11, 3.4.3): the path ends there, and
//! the tests that it makes later say nothing of the states that it is taken from. Where one version alone does something
//! undefined, that is the change.

use super::compare::{Comparer, Verdict, difference, joined};
use super::difference::{Item, Outcome};
use super::follow::Known;
use super::machine::{Hazard, Literal, Path};
use crate::ir::{TermId, TermPool, UndefinedKind};
use crate::mvicfg::ClassId;
use std::borrow::Cow;
use std::collections::BTreeSet;

impl Comparer<'_> {
    /// A path with the tests that it makes before something that is undefined for sure where it meets another one.
    pub(super) fn until_undefined<'p>(&mut self, path: &'p Path, other: &Path) -> Cow<'p, Path> {
        if path.hazards.is_empty() || path.literals.is_empty() {
            return Cow::Borrowed(path);
        }
        let known = |comparer: &mut Self, path: &Path| {
            let literals = path.literals.iter().chain(&other.literals).map(|l| l.term);
            let conditions: Vec<TermId> =
                comparer.premises.conditions.iter().copied().chain(literals).collect();
            Known::of(&mut comparer.pool, &conditions)
        };
        let all = known(self, path);
        let Some(k) = undefined(&mut self.pool, path, &all) else { return Cow::Borrowed(path) };
        let shorter = path.undecided_behind(k);
        // That it is undefined must not follow from what comes behind.
        let before = known(self, &shorter);
        match undefined(&mut self.pool, &shorter, &before) == Some(k) {
            true => Cow::Owned(shorter),
            false => Cow::Borrowed(path),
        }
    }

    /// Divisions and shifts that only the newer path does, where they may be undefined and the older one is not.
    pub(super) fn new_hazards(
        &mut self,
        (a, b): (&Path, &Path),
        (old, new): (&Path, &Path),
        (joint, known): (TermId, &Known),
        outcome: &mut Outcome,
    ) {
        if undefined(&mut self.pool, a, known).is_some() || undefined(&mut self.pool, b, known).is_some() {
            return;
        }
        let is_access = |h: &Hazard| h.kind == UndefinedKind::NullDereference;
        // Where the older version does something undefined, too, that of the newer one is no news.
        let already: Vec<TermId> = a.hazards.iter().filter(|h| !is_access(h)).map(|h| h.condition).collect();
        let defined = already.into_iter().fold(joint, |all, condition| {
            let otherwise = self.pool.not(condition);
            self.pool.and(all, otherwise)
        });
        for hazard in &b.hazards {
            if is_access(hazard) || a.hazards.iter().any(|h| h.condition == hazard.condition) {
                continue;
            }
            let both = self.pool.and(defined, hazard.condition);
            if self.satisfiable(both) != Some(true) {
                continue;
            }
            let (term, node) = (hazard.condition, hazard.node);
            let mut literals = joined(&old.literals, &new.literals);
            literals.push(Literal { term, class: ClassId::NEW, node, holds: true });
            let mut items = self.ends([a, b], [a, b], joint);
            items[1] = vec![Item::Undefined(hazard.clone())];
            outcome.differences.push(difference(literals, items, old, new));
        }
    }

    /// What is undefined for sure in the common code that a path comes to.
    pub(super) fn late_undefined(
        &mut self,
        class: ClassId,
        path: &Path,
        further: &Path,
        known: &Known,
    ) -> Option<Hazard> {
        let whole = path.whole.clone().map(|whole| (self.whole_onwards(class, &whole), whole));
        let (path, further) = whole.as_ref().map_or((path, further), |(further, whole)| (whole, further));
        let before = path.hazards.len();
        let k = undefined(&mut self.pool, further, known)?;
        (k >= before && further.hazards[k].after == path.events.len()).then(|| further.hazards[k].clone())
    }

    pub(super) fn undefined_items(
        &mut self,
        paths: [&Path; 2],
        at: [Option<usize>; 2],
        (joint, known): (TermId, &Known),
    ) -> Verdict {
        if let [Some(a), Some(b)] = at {
            let (a, b) = (&paths[0].hazards[a], &paths[1].hazards[b]);
            if (a.kind, a.subject, a.after) == (b.kind, b.subject, b.after) {
                return Verdict::Same(BTreeSet::new());
            }
        }
        // Where both are undefined nothing is said of either.
        if at[0].is_some() && at[1].is_some() {
            return Verdict::Same(BTreeSet::new());
        }
        let further = self.further(paths, known);
        let mut items = self.ends(paths, [&further[0], &further[1]], joint);
        for class in ClassId::PAIR {
            if let Some(k) = at[class] {
                items[class] = vec![Item::Undefined(paths[class].hazards[k].clone())];
            }
        }
        Verdict::Differ(items)
    }
}

/// The first thing on a path that is undefined for sure under what is known, by its place among the hazards.
pub(super) fn undefined(pool: &mut TermPool, path: &Path, known: &Known) -> Option<usize> {
    let conditions: Vec<TermId> = path.hazards.iter().map(|h| h.condition).collect();
    conditions.into_iter().position(|c| known.is_true(pool, c))
}
