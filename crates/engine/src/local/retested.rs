//! One test in the place of another: `if (!old_parse(s, &n))` becomes `if (new_parse(&n, s) != OK)`.
//!
//! Where two versions ask different calls for the same decision, their paths differ four ways: both answers lead to the
//! one thing, both to the other, or each to another one. What a reader wants to know is that the test is another: where
//! the differences of a region are these and nothing else, one difference takes their place, which says what either
//! version tests for the same.

use super::effect::{Effect, EffectKind, Verb, Words};
use super::machine::{Event, Literal};
use super::words::{Said, Speaker};
use crate::ir::{TermId, TermPool};
use crate::mvicfg::ClassId;

/// A pair of differences whose versions decide the other way round, and the ways in which they agree.
struct Replaced {
    /// By version: the literal under which it does the same.
    tests: [Literal; 2],
    common: Vec<Literal>,
    /// By version: what it does either way.
    always: [Vec<Effect>; 2],
    rows: Vec<usize>,
}

impl Speaker<'_> {
    /// Puts one difference in the place of those that a replaced test makes.
    pub(super) fn tell_replaced_tests(&mut self, said: &mut Vec<Said>, events: &[[Vec<Event>; 2]]) {
        let pairs = (0..said.len()).flat_map(|i| (i + 1..said.len()).map(move |j| (i, j)));
        // Beside other differences it says too little.
        let found = pairs.into_iter().find_map(|(i, j)| {
            replaced(self.pool, said, i, j).filter(|found| found.rows.len() == said.len())
        });
        let Some(found) = found else { return };
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
}

/// What two differences say together if they are those of a replaced test.
fn replaced(pool: &mut TermPool, said: &[Said], i: usize, j: usize) -> Option<Replaced> {
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
    let mut other = |l: &Literal| {
        let negation = pool.not(l.term);
        of_b.iter().find(|o| o.class == l.class && o.node == l.node && o.term == negation).copied()
    };
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
    let same = |p: &[Effect], q: &[Effect]| p.iter().map(|e| &e.words).eq(q.iter().map(|e| &e.words));
    if !same(&rest(&b.before, &always[0]), &y) || !same(&rest(&b.now, &always[1]), &x) {
        return None;
    }
    let shared: Vec<Literal> =
        a.literals.iter().filter(|l| b.literals.iter().any(|o| o.term == l.term)).copied().collect();
    let tests: Vec<TermId> = [old, new, &not_old, &not_new].iter().map(|l| l.term).collect();
    let mut rows = Vec::new();
    for (k, s) in said.iter().enumerate() {
        let is_of_it = |l: &Literal| shared.iter().any(|c| c.term == l.term) || tests.contains(&l.term);
        let is_within = s.literals.iter().all(is_of_it)
            && shared.iter().all(|c| s.literals.iter().any(|l| l.term == c.term));
        if k == i || k == j {
            rows.push(k);
        } else if is_within {
            // Where both decide alike they make their calls and nothing else.
            let is_plain =
                s.before.iter().all(|e| has(&always[0], e)) && s.now.iter().all(|e| has(&always[1], e));
            is_plain.then(|| rows.push(k))?;
        }
    }
    // Told of what comes first: an end before a write.
    let importance = |list: &[Effect]| list.iter().map(|e| e.kind.importance()).min().unwrap_or(usize::MAX);
    let tests = match importance(&x) <= importance(&y) {
        true => [*old, not_new],
        false => [not_old, *new],
    };
    Some(Replaced { tests, common: shared, always, rows })
}

/// What two lists of effects have in common, by their words.
fn common(a: &[Effect], b: &[Effect]) -> Vec<Effect> {
    a.iter().filter(|e| has(b, e)).cloned().collect()
}

fn has(list: &[Effect], effect: &Effect) -> bool {
    list.iter().any(|e| e.words == effect.words)
}
