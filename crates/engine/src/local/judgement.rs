//! What two paths do that may be taken from one state: the same, something else, or it is not known.
//!
//! First what they leave where they end; then, where that differs or is no place of both, what becomes of it in the
//! common code behind, as far as that is decided. A path from which calls were taken out goes on as if they had done
//! nothing: that it does the same then is told so, and what it does otherwise only as far as it is so whatever they do.

use super::compare::{Comparer, Verdict, is_whole};
use super::difference::Item;
use super::follow::{Known, is_in_loop, onwards, onwards_to};
use super::hazards::undefined;
use super::machine::{End, Hazard, Path};
use crate::ir::{TermId, VarKind};
use crate::mvicfg::{ClassId, MvId};
use std::collections::BTreeSet;

impl Comparer<'_> {
    pub(super) fn judge(&mut self, paths: [&Path; 2], joint: TermId, known: &Known) -> Verdict {
        let [old, new] = paths;
        // Two loops may do the same in other words.
        if paths.iter().all(|p| p.events.iter().any(|e| e.rounds)) {
            return Verdict::Open("a loop of its own".to_owned());
        }
        // What is undefined for sure ends a path.
        let undefined = [undefined(&mut self.pool, old, known), undefined(&mut self.pool, new, known)];
        if let [Some(_), _] | [_, Some(_)] = undefined {
            return self.undefined_items(paths, undefined, (joint, known));
        }
        if old.end == new.end && self.is_same_here(old, new) {
            return Verdict::Same(BTreeSet::new());
        }
        let here = (old.end == new.end).then(|| self.items(paths, joint));
        match here {
            Some(Verdict::Same(nodes)) => return Verdict::Same(nodes),
            // What differs there is calls alone: the state is the same but for what they do.
            Some(Verdict::Differ(items)) if items.iter().flatten().all(|i| matches!(i, Item::Call(_))) => {
                return Verdict::Differ(items);
            }
            // What comes behind a cut is no common code.
            Some(known) if self.cut.is_some_and(|c| old.end == End::At(c.there)) => return known,
            _ => {}
        }
        // What a statement is in the middle of has no name; what becomes of it has.
        let here = here.filter(|found| !self.is_nameless(found));
        let further = self.further(paths, known);
        let joint = self.granted(joint, [&further[0], &further[1]]);
        if old.end != new.end
            && let Some([old, new]) = self.meeting(paths, &further[0], known)
            && self.is_same_here(&old, &new)
        {
            let common = |n: &&MvId| self.common[n.0 as usize] && new.visited.contains(n);
            return Verdict::Same(old.visited.iter().filter(common).copied().collect());
        }
        if old.end != new.end {
            let late = ClassId::PAIR.map(|c| self.late_undefined(c, paths[c], &further[c], known));
            if late.iter().any(Option::is_some) && !late.iter().all(Option::is_some) {
                let mut items = self.ends(paths, [&further[0], &further[1]], joint);
                for (items, hazard) in items.iter_mut().zip(late) {
                    if let Some(hazard) = hazard {
                        *items = vec![Item::Undefined(hazard)];
                    }
                }
                return Verdict::Differ(items);
            }
        }
        if further[0].end == further[1].end && self.is_same_here(&further[0], &further[1]) {
            let common = |n: &&MvId| self.common[n.0 as usize] && further[1].visited.contains(n);
            return Verdict::Same(further[0].visited.iter().filter(common).copied().collect());
        }
        let ends = [&further[0], &further[1]].map(|p| is_whole(&p.end));
        if ends == [true, true] {
            let whole = self.whole_items([&further[0], &further[1]], joint);
            let is_result = |i: &Item| matches!(i, Item::Return(..));
            // Of a change of state that only the result shows, the result is told.
            match (&whole, &here) {
                (_, None) | (Verdict::Same(_), _) => return whole,
                (Verdict::Differ(items), _) if items.iter().flatten().all(is_result) => return whole,
                _ => {}
            }
        }
        if let Some(here) = here {
            return here;
        }
        let further = ClassId::PAIR.map(|c| self.for_sure(c, paths[c], &further[c], known));
        if further[0].end == further[1].end {
            return self.items([&further[0], &further[1]], joint);
        }
        let items = self.ends(paths, [&further[0], &further[1]], joint);
        if self.come_to_own_loops(&items) {
            return Verdict::Open("a loop of its own".to_owned());
        }
        Verdict::Differ(items)
    }

    /// Whether all that differs is which loop each version comes to, and the other version has not both of these: they may do
    /// the same in other words.
    fn come_to_own_loops(&self, items: &[Vec<Item>; 2]) -> bool {
        let heads = ClassId::PAIR.map(|class| {
            let [Item::At(node)] = items[class].as_slice() else { return None };
            let side = self.sides[class];
            let l = side.flow.innermost.get(node.0 as usize).copied().flatten()?;
            (!is_in_loop(side, self.frontier, l)).then(|| side.flow.loops[l].head)
        });
        let is_own = |head: MvId| self.graph.node(head).classes.len() < 2;
        matches!(heads, [Some(old), Some(new)] if old != new && (is_own(old) || is_own(new)))
    }

    /// Whether all that differs are variables of ours.
    fn is_nameless(&self, found: &Verdict) -> bool {
        let is_temporary = |i: &Item| match i {
            Item::Variable(v, _) => self.graph.vars[v.0 as usize].kind == VarKind::Temp,
            _ => false,
        };
        matches!(found, Verdict::Differ(items) if items.iter().flatten().all(is_temporary))
    }

    /// Both paths as far as common code goes on for sure.
    pub(super) fn further(&mut self, paths: [&Path; 2], known: &Known) -> [Path; 2] {
        let [old, new] = ClassId::PAIR.map(|c| {
            let side = self.sides[c];
            let units = self.sides.map(|side| side.version.unit);
            onwards(self.graph, &mut self.pool, (side, units), paths[c], known)
        });
        let new = self.aligned(&old, &new);
        // What only the newer version comes by there must be defined, too.
        let is_new = |h: &Hazard| !old.hazards.iter().any(|o| o.condition == h.condition);
        self.valid |= !new.accesses.is_subset(&old.accesses) || new.hazards.iter().any(is_new);
        [old, new]
    }

    /// Both paths at the first node that common code leads both of them to for sure. `further`: the older one as far as
    /// that goes.
    fn meeting(&mut self, [old, new]: [&Path; 2], further: &Path, known: &Known) -> Option<[Path; 2]> {
        let end = if let End::At(node) = further.end { Some(node) } else { None };
        let passed = further.visited.difference(&old.visited).copied().chain(end);
        let goals: BTreeSet<MvId> = passed.filter(|n| self.common[n.0 as usize]).collect();
        let units = self.sides.map(|side| side.version.unit);
        let [first, second] = self.sides;
        let new = onwards_to(self.graph, &mut self.pool, (second, units), new, (known, &goals));
        let End::At(met) = new.end else { return None };
        let old =
            onwards_to(self.graph, &mut self.pool, (first, units), old, (known, &BTreeSet::from([met])));
        (old.end == new.end).then(|| {
            let new = self.aligned(&old, &new);
            [old, new]
        })
    }

    /// A path that goes on no further than it does whatever the calls do that were left out of it.
    fn for_sure(&mut self, class: ClassId, path: &Path, further: &Path, known: &Known) -> Path {
        let Some(whole) = path.whole.as_deref() else { return further.clone() };
        let whole = self.whole_onwards(class, whole);
        let End::At(node) = whole.end else { return further.clone() };
        let units = self.sides.map(|side| side.version.unit);
        let goals = BTreeSet::from([node]);
        onwards_to(self.graph, &mut self.pool, (self.sides[class], units), path, (known, &goals))
    }

    /// Where a path comes to for sure with all that calls do.
    pub(super) fn whole_onwards(&mut self, class: ClassId, whole: &Path) -> Path {
        let literals = whole.literals.iter().map(|l| l.term);
        let conditions: Vec<TermId> = self.premises.conditions.iter().copied().chain(literals).collect();
        let known = Known::of(&mut self.pool, &conditions);
        let units = self.sides.map(|side| side.version.unit);
        onwards(self.graph, &mut self.pool, (self.sides[class], units), whole, &known)
    }
}
