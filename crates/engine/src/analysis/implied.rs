//! Which facts of a point others say already: they follow from them by rules, or, read as formulas over free
//! symbols, whatever the function does.

use crate::fact::words::Words;
use crate::fact::{Formula, implication};
use crate::invariant::{Fact, Template};
use crate::ir::{Function, TermId, Unit};
use crate::smt::{Decider, Limits, Truth};
use std::collections::BTreeSet;

/// What all questions of one point may cost, in Z3's resource units, and how many are asked.
const RLIMIT: u64 = 20_000;
const MAX_QUESTIONS: usize = 12;
/// Longest text of a fact that is looked at.
const LONGEST: usize = 120;

/// Returns for each fact, the most wanted first, whether the others that stay say it, and how often the
/// solver was asked. `by_rules`: it is not asked.
pub(super) fn implied(unit: &Unit, body: &Function, facts: &[&Fact], by_rules: bool) -> (Vec<bool>, u64) {
    let mut found = vec![false; facts.len()];
    let mut words = Words::new(unit, body);
    let read: Vec<Option<TermId>> = facts
        .iter()
        .map(|f| (f.text().len() <= LONGEST).then(|| words.reported(f.text())).flatten())
        .collect();
    let mut decider = Decider::new(
        Limits { rlimit: if by_rules { 0 } else { RLIMIT }, pointer_bits: unit.data_model.pointer_bits() },
        0,
    );
    let mut asked = 0;
    for i in (0..facts.len()).rev() {
        let Some(goal) = read[i].filter(|_| is_shadow(facts[i]) && asked < MAX_QUESTIONS) else { continue };
        let premises: Vec<usize> =
            (0..facts.len()).filter(|&j| j != i && !found[j] && may_say(facts[j], facts[i])).collect();
        let said: Vec<&Formula> = premises.iter().filter_map(|&j| facts.get(j)).map(|f| &f.formula).collect();
        if implication::follows(&said, &facts[i].formula) {
            found[i] = true;
            continue;
        }
        let mut all = words.pool.bool(true);
        for premise in premises.iter().filter_map(|&j| read[j]) {
            all = words.pool.and(all, premise);
        }
        if words.pool.as_const(all).is_some() {
            continue;
        }
        asked += 1;
        found[i] = matches!(decider.holds(&mut words.pool, all, goal), Truth::Holds);
    }
    (found, decider.solver().statistics().queries)
}

/// Whether a fact is of a kind that mostly restates others: equations and events say what is their own.
pub(super) fn is_shadow(f: &Fact) -> bool {
    let is_value = matches!(f.template, Template::Constant | Template::Functional);
    let of_run = matches!(f.template, Template::Event | Template::Typestate);
    !of_run && (!is_value || f.formula.is_conditional())
}

/// Whether what one fact says may be part of why another one need not be told: it takes nothing more
/// for granted, holds of as many iterations and versions, and speaks of some of the same things.
pub(super) fn may_say(premise: &Fact, of: &Fact) -> bool {
    let assumed: BTreeSet<&String> = of.assumptions.iter().collect();
    let as_far = premise.bounds.iter().all(|(class, k)| of.bounds.get(class).is_some_and(|own| k >= own));
    as_far
        && premise.assumptions.iter().all(|a| assumed.contains(a))
        && of.classes.iter().all(|c| premise.classes.contains(c))
        && premise.variables.iter().any(|v| of.variables.contains(v))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{self, c};
    use crate::history::MemoryTree;
    use crate::mvicfg::{ClassId, ClassSet};
    use std::collections::BTreeMap;

    #[track_caller]
    fn check(facts: &[(Template, &str)], expected: &[bool]) {
        let tree = MemoryTree::new([("a.c", "int f(int n, int m, char *p) { return p ? n : m; }")]);
        let path = std::path::Path::new("a.c");
        let unit = frontend::load_unit(&tree, path, &c::Options::default()).unwrap().unit;
        let body = unit.function("f").unwrap();
        let fact = |(template, text): &(Template, &str)| Fact {
            template: *template,
            variables: vec!["\\result".into()],
            formula: Formula::read(*text),
            c: None,
            classes: ClassSet::single(ClassId::ONLY),
            assumptions: Vec::new(),
            lines: BTreeMap::new(),
            bounds: BTreeMap::new(),
        };
        let facts: Vec<Fact> = facts.iter().map(fact).collect();
        let (found, _) = implied(&unit, body, &facts.iter().collect::<Vec<_>>(), false);
        assert_eq!(found, expected);
    }

    #[test]
    fn what_others_say_is_found() {
        use Template::{Functional, Range, Set};
        check(
            &[
                (Functional, "p == NULL ==> \\result == -1"),
                (Functional, "n < 0 ==> \\result == -1"),
                (Functional, "p == NULL || n < 0 ==> \\result == -1"),
            ],
            &[false, false, true],
        );
        check(&[(Range, "\\result >= -1"), (Set, "\\result == -1 || \\result == 3")], &[true, false]);
        check(&[(Range, "\\result >= -1"), (Set, "\\result == -2 || \\result == 3")], &[false, false]);
        check(&[(Functional, "\\result == n"), (Functional, "\\result == m")], &[false, false]);
    }

    /// A bound says how a result compares with what is beyond it.
    #[test]
    fn bounds_say_comparisons() {
        use Template::{Comparison, Range};
        check(
            &[
                (Range, "\\result <= 0"),
                (Comparison, "\\old(n) > 0 ==> \\result < n"),
                (Comparison, "\\old(*p) > 0 ==> \\result < \\old(*p)"),
                (Comparison, "\\old(*p) >= 0 ==> \\result < \\old(*p)"),
            ],
            &[false, true, true, false],
        );
    }

    /// Of two that say the same, one stays.
    #[test]
    fn equal_facts_do_not_drop_each_other() {
        use Template::Range;
        check(&[(Range, "\\result >= 0"), (Range, "\\result > -1")], &[false, true]);
    }
}
