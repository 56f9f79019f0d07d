//! One test in the place of another: `if (!old_parse(s, &n))` becomes `if (new_parse(&n, s) != OK)`.
//!
//! Where two versions ask different calls for the same decision, their paths differ four ways: both answers lead to the
//! one thing, both to the other, or each to another one. What a reader wants to know is that the test is another: where
//! the differences of a region are these and nothing else, one difference takes their place, which says what either
//! version tests for the same.

use super::effect::{Effect, EffectKind, Verb, Words};
use super::machine::{Event, Literal};
use super::words::{Said, Speaker};
use crate::mvicfg::ClassId;
use std::collections::BTreeSet;

/// A pair of differences whose versions decide the other way round, and the ways in which they agree.
struct Replaced {
    /// By version: the literal under which it does the same.
    tests: [Literal; 2],
    common: Vec<Literal>,
    /// By version: what it does either way.
    always: [Vec<Effect>; 2],
    rows: Vec<usize>,
    /// By version: the test as rows ask for it. Which call it is that is tested may have another number in each.
    asked: [Vec<Literal>; 2],
}

impl Speaker<'_> {
    /// Puts one difference in the place of those that a replaced test makes.
    pub(super) fn tell_replaced_tests(&mut self, said: &mut Vec<Said>, events: &[[Vec<Event>; 2]]) {
        let pairs = (0..said.len()).flat_map(|i| (i + 1..said.len()).map(move |j| (i, j)));
        // Beside other differences it says too little.
        let found = pairs
            .into_iter()
            .find_map(|(i, j)| replaced(said, i, j).filter(|found| found.rows.len() == said.len()));
        let Some(found) = found else { return };
        for class in ClassId::PAIR {
            let of = found.tests[class].holds;
            let asked = found.asked[class].iter().map(|l| self.turned(l, of)).collect::<Vec<Literal>>();
            let texts: BTreeSet<String> = asked.iter().map(|l| self.condition(&[*l], events).0).collect();
            if texts.len() > 1 {
                return;
            }
        }
        let texts = ClassId::PAIR.map(|class| self.condition(&[found.tests[class]], events));
        let is_told = |(text, short): &(String, Option<String>)| !text.is_empty() && short.is_none();
        if !texts.iter().all(is_told) || texts[0] == texts[1] {
            return;
        }
        let order = found.rows.iter().map(|k| said[*k].order).min().unwrap_or(usize::MAX);
        let [before, now] = ClassId::PAIR.map(|class| {
            let test = &texts[class].0;
            // The calls that are tested are in the test's words.
            let is_named = |e: &Effect| e.words.verb == Verb::Calls && test.contains(&e.words.of);
            let mut effects: Vec<Effect> =
                found.always[class].iter().filter(|e| !is_named(e)).cloned().collect();
            let line = Some(self.line(class, found.tests[class].node)).filter(|line| *line > 0);
            effects.push(Effect {
                kind: EffectKind::Value,
                words: Words::says(format!("tests {test}")),
                line,
            });
            effects
        });
        for k in found.rows.iter().rev() {
            said.remove(*k);
        }
        said.push(Said { literals: found.common, before, now, order });
    }

    /// A test as it is where it comes out in a way.
    fn turned(&mut self, literal: &Literal, holds: bool) -> Literal {
        let term = if literal.holds == holds { literal.term } else { self.pool.not(literal.term) };
        Literal { term, holds, ..*literal }
    }
}

/// What two differences say together if they are those of a replaced test.
fn replaced(said: &[Said], i: usize, j: usize) -> Option<Replaced> {
    let (a, b) = (&said[i], &said[j]);
    let own = |of: &Said, other: &Said| -> Vec<Literal> {
        let is_own = |l: &&Literal| !other.literals.iter().any(|o| o.term == l.term);
        of.literals.iter().filter(is_own).copied().collect()
    };
    let (mut of_a, of_b) = (own(a, b), own(b, a));
    of_a.sort_by_key(|l| l.class);
    let [old, new] = of_a.as_slice() else { return None };
    if (old.class, new.class) != (ClassId::OLD, ClassId::NEW) || of_b.len() != 2 {
        return None;
    }
    // The other outcome of the same test.
    let other = |l: &Literal| of_b.iter().find(|o| is_of_one_test(l, o) && o.holds != l.holds).copied();
    let (not_old, not_new) = (other(old)?, other(new)?);
    let always = [common(&a.before, &b.before), common(&a.now, &b.now)];
    let is_call = |e: &Effect| e.kind == EffectKind::Call;
    if always.iter().all(Vec::is_empty) || !always.iter().flatten().all(is_call) {
        return None;
    }
    let rest = |effects: &[Effect], always: &[Effect]| -> Vec<Effect> {
        effects.iter().filter(|e| !has(always, e)).cloned().collect()
    };
    let (x, y) = (rest(&a.before, &always[0]), rest(&a.now, &always[1]));
    // Where the versions go on at other lines they still do so in common: as both decide alike nothing else differs.
    let goes_on = |e: &Effect| e.words.verb == Verb::GoesOn;
    let same = |p: &[Effect], q: &[Effect]| {
        let pairs = || p.iter().zip(q);
        p.len() == q.len() && pairs().all(|(a, b)| a.words == b.words || goes_on(a) && goes_on(b))
    };
    if !same(&rest(&b.before, &always[0]), &y) || !same(&rest(&b.now, &always[1]), &x) {
        return None;
    }
    let shared: Vec<Literal> =
        a.literals.iter().filter(|l| b.literals.iter().any(|o| o.term == l.term)).copied().collect();
    let mut asked = [vec![*old, not_old], vec![*new, not_new]];
    let mut rows = Vec::new();
    for (k, s) in said.iter().enumerate() {
        let is_of_it = |l: &Literal| {
            shared.iter().any(|c| c.term == l.term) || is_of_one_test(old, l) || is_of_one_test(new, l)
        };
        let is_within = s.literals.iter().all(is_of_it)
            && shared.iter().all(|c| s.literals.iter().any(|l| l.term == c.term));
        if k == i || k == j {
            rows.push(k);
        } else if is_within {
            // Where both decide alike they make their calls and nothing else.
            let is_plain =
                s.before.iter().all(|e| has(&always[0], e)) && s.now.iter().all(|e| has(&always[1], e));
            is_plain.then(|| rows.push(k))?;
            for literal in s.literals.iter().filter(|l| !shared.iter().any(|c| c.term == l.term)) {
                asked[literal.class].push(*literal);
            }
        }
    }
    // Told of what comes first: an end before a write.
    let importance = |list: &[Effect]| list.iter().map(|e| e.kind.importance()).min().unwrap_or(usize::MAX);
    let tests = match importance(&x) <= importance(&y) {
        true => [*old, not_new],
        false => [not_old, *new],
    };
    Some(Replaced { tests, common: shared, always, rows, asked })
}

/// Whether two literals are outcomes of one test: no path of a region comes to a test twice.
fn is_of_one_test(a: &Literal, b: &Literal) -> bool {
    (a.class, a.node) == (b.class, b.node)
}

/// What two lists of effects have in common, by their words.
fn common(a: &[Effect], b: &[Effect]) -> Vec<Effect> {
    a.iter().filter(|e| has(b, e)).cloned().collect()
}

fn has(list: &[Effect], effect: &Effect) -> bool {
    list.iter().any(|e| e.words == effect.words)
}
