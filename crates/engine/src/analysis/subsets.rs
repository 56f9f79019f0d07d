//! Facts of some versions, and not of all that have the function: which of them are told, and what is known of
//! the other versions.
//!
//! Invariant Diffs asks for the version invariants of any subset of versions. The analysis of a function finds
//! each fact with the classes of versions in which it is proved; here those are taken that some class lacks. Nothing
//! more is proved, and the solver is not asked: what other facts say already is found by rules.

use super::implied;
use super::selection::{self, Selected};
use crate::fact::{Formula, implication};
use crate::invariant::{self, Fact, PointDiff};
use crate::mvicfg::{ClassId, ClassSet};
use crate::report::NotHeld;
use std::collections::{BTreeMap, BTreeSet};

/// Facts that some class lacks or does not come to, by what they say.
pub(super) struct Subsets {
    /// Proved in all classes after all, in several ways; a known run of each comes to the point.
    pub(super) whole: Vec<Fact>,
    /// The others, of the classes of which a known run comes to the point.
    pub(super) some: Vec<Fact>,
    /// Where they are proved, by text: the classes included to which no known run comes.
    proved: BTreeMap<String, ClassSet>,
}

/// Takes the facts of a point that not all of the `classes` share.
pub(super) fn of(diff: &PointDiff, classes: &ClassSet) -> Subsets {
    let (shared, others): (Vec<&Fact>, Vec<&Fact>) =
        diff.invariants.iter().partition(|f| classes.is_subset(&f.classes));
    let told: BTreeSet<&str> = shared.iter().map(|f| f.text()).collect();
    let others = others.into_iter().filter(|f| !told.contains(f.text()));
    let mut found = Subsets { whole: Vec::new(), some: Vec::new(), proved: BTreeMap::new() };
    for fact in Fact::merged(others.map(|f| f.of_classes(|c| classes.contains(c))).collect()) {
        found.proved.insert(fact.text().to_owned(), fact.classes.clone());
        let held = fact.of_classes(|c| invariant::speaks_of(&diff.reached, &fact, c));
        if classes.is_subset(&held.classes) {
            found.whole.push(held);
        } else if !held.classes.is_empty() {
            found.some.push(held);
        }
    }
    found
}

impl Subsets {
    /// What is known of a fact in a class that is not among those that it is held in.
    pub(super) fn not_held(&self, diff: &PointDiff, fact: &Fact, class: ClassId) -> NotHeld {
        let has = |sets: &BTreeMap<String, ClassSet>| {
            sets.get(fact.text()).is_some_and(|classes| classes.contains(class))
        };
        if !diff.point.nodes.contains_key(&class) {
            NotHeld::NoPoint
        } else if has(&diff.refuted) {
            NotHeld::Refuted
        } else if has(&self.proved) || !invariant::speaks_of(&diff.reached, fact, class) {
            NotHeld::NotReached
        } else {
            NotHeld::Open
        }
    }
}

/// Selects what is shown, each set of classes by itself, those of the most classes first. `shared`: what is shown of
/// all classes. The second number counts what is left out.
pub(super) fn select<'f>(facts: Vec<&'f Fact>, shared: &[&'f Fact]) -> (Vec<&'f Fact>, usize) {
    let mut sets: BTreeMap<ClassSet, Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        sets.entry(fact.classes.clone()).or_default().push(fact);
    }
    let mut sets: Vec<(ClassSet, Vec<&Fact>)> = sets.into_iter().collect();
    sets.sort_by_key(|(classes, _)| std::cmp::Reverse(classes.len()));
    let mut known = shared.to_vec();
    let (mut shown, mut left_out) = (Vec::new(), 0);
    for (_, facts) in sets {
        let selected: Selected = selection::select(facts, |facts| (said_by_rules(facts, &known), 0));
        known.extend(&selected.shown);
        shown.extend(selected.shown);
        left_out += selected.left_out;
    }
    (shown, left_out)
}

/// Says of each fact whether rules derive it from `known` ones and from the others that stay.
fn said_by_rules(facts: &[&Fact], known: &[&Fact]) -> Vec<bool> {
    let mut said = vec![false; facts.len()];
    for (i, fact) in facts.iter().enumerate().rev().filter(|(_, f)| implied::is_shadow(f)) {
        let others = facts.iter().enumerate().filter(|(j, _)| *j != i && !said[*j]).map(|(_, f)| f);
        let premises = known.iter().chain(others).filter(|p| implied::may_say(p, fact));
        let premises: Vec<&Formula> = premises.map(|p| &p.formula).collect();
        said[i] = implication::follows(&premises, &fact.formula);
    }
    said
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::invariant::Template;
    use crate::invariant::{Point, ReachedByClass};
    use crate::mvicfg::Mvicfg;

    /// A fact of these classes.
    pub(in crate::analysis) fn fact(text: &str, classes: &[usize]) -> Fact {
        Fact {
            template: Template::Range,
            variables: vec!["\\result".into()],
            formula: Formula::read(text),
            c: None,
            classes: classes.iter().copied().map(ClassId::new).collect(),
            assumptions: Vec::new(),
            lines: BTreeMap::new(),
            bounds: BTreeMap::new(),
        }
    }

    fn texts<'f>(facts: impl IntoIterator<Item = &'f Fact>) -> Vec<String> {
        let classes = |f: &Fact| f.classes.iter().map(|c| c.to_string()).collect::<Vec<_>>().join(",");
        facts.into_iter().map(|f| format!("{} of {}", f.text(), classes(f))).collect()
    }

    /// A point of three classes; no known run of class 2 comes there.
    fn point(facts: Vec<Fact>) -> PointDiff {
        let reached = |c: ClassId| (c, ReachedByClass::default().remove(&c).unwrap_or_default());
        let mut reached: ReachedByClass = ClassId::first(3).map(reached).collect();
        reached.iter_mut().for_each(|(c, r)| r.here = c.index() != 2);
        let nodes = ClassId::first(3).map(|c| (c, Mvicfg::ENTRY)).collect();
        PointDiff {
            point: Point { nodes, ..Point::default() },
            invariants: facts,
            reached,
            refuted: BTreeMap::from([("\\result >= 4".to_owned(), ClassSet::single(ClassId::NEW))]),
            ..PointDiff::default()
        }
    }

    #[test]
    fn facts_are_of_the_classes_that_come_to_the_point() {
        let facts = vec![
            fact("\\result >= 1", &[0, 1, 2]),
            fact("\\result >= 2", &[0, 2]),
            fact("\\result >= 3", &[2]),
            fact("\\result >= 4", &[0]),
        ];
        let diff = point(facts);
        let found = of(&diff, &ClassSet::all(3));
        assert_eq!(texts(&found.some), ["\\result >= 2 of 0", "\\result >= 4 of 0"]);
        assert!(found.whole.is_empty());
        let known = |k: usize, class: usize| found.not_held(&diff, &found.some[k], ClassId::new(class));
        assert_eq!([known(0, 1), known(0, 2)], [NotHeld::Open, NotHeld::NotReached]);
        assert_eq!([known(1, 1), known(1, 2)], [NotHeld::Refuted, NotHeld::NotReached]);
        assert_eq!(known(1, 7), NotHeld::NoPoint);
    }

    /// One way may prove a fact in some classes, and another way in the others.
    #[test]
    fn facts_of_one_text_are_one() {
        let diff = point(vec![fact("\\result >= 1", &[0]), fact("\\result >= 1", &[1])]);
        assert_eq!(texts(&of(&diff, &ClassSet::all(3)).some), ["\\result >= 1 of 0,1"]);
        let both = of(&diff, &ClassSet::all(2));
        assert_eq!((texts(&both.whole), both.some.len()), (vec!["\\result >= 1 of 0,1".to_owned()], 0));
    }

    #[test]
    fn what_wider_subsets_say_is_left_out() {
        let facts =
            [fact("\\result >= 1", &[0]), fact("\\result >= 5", &[0, 1]), fact("\\result <= 9", &[0])];
        let shared = [fact("\\result <= 7", &[0, 1, 2])];
        let (shown, left_out) = select(facts.iter().collect(), &shared.iter().collect::<Vec<_>>());
        assert_eq!((texts(shown), left_out), (vec!["\\result >= 5 of 0,1".to_owned()], 2));
    }
}
