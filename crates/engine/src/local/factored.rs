//! Differences told effect by effect: three tests that do not depend on each other are three rows, not eight.
//!
//! Two paths that may be taken from one state are one *row*: all that differs there, under the conditions of both. Where
//! a change makes several decisions that have nothing to do with each other, rows multiply, and each says most of what
//! the others say. Every effect has a condition of its own instead: that of the rows that it stands in, as few
//! conjunctions as cover them (Quine 1952, McCluskey 1956, over the tests of the paths). Effects of the same rows stay
//! together. A row then tells a part of what differs under its condition; where none of the conditions holds, nothing
//! does, as before.
//!
//! It is done where it is shorter, and where no row is about an order.

use super::calls::decayed;
use super::conditions::joined;
use super::effect::{Effect, EffectKind, Verb, Words};
use super::machine::{Event, Literal};
use super::texts::is_plain;
use super::words::{Said, Speaker};
use crate::ir::{TermId, TermPool};
use crate::mvicfg::{ClassId, MvId};
use crate::semantics::c_text::render;
use std::collections::{BTreeMap, BTreeSet};

/// Fewer rows are read as they are.
const FEWEST: usize = 3;
/// More rows, or conjunctions on the way, are not looked at.
const MOST_ROWS: usize = 48;
const MOST_CONJUNCTIONS: usize = 160;
/// What a test of a condition costs a reader, in characters of an effect.
const OF_TEST: usize = 24;

/// An effect: its words in the version that has it (in both: how they end), and which of those that are worded alike in a
/// row.
type Key = ([Option<Words>; 2], usize);

/// What stands in the same rows, by version.
type Group = [Vec<Effect>; 2];

impl Speaker<'_> {
    /// Has fewer and shorter rows say the same.
    pub(super) fn join_rows(&mut self, said: &mut Vec<Said>, events: &[[Vec<Event>; 2]]) {
        let rows = said.clone();
        self.join_alternatives(said, events);
        self.tell_replaced_tests(said, events);
        if said.len() < FEWEST || rows.len() > MOST_ROWS {
            return;
        }
        let rows = self.by_place(rows, events);
        if let Some(factored) = self.factored(&rows, said) {
            *said = factored;
            self.join_alternatives(said, events);
        }
    }

    /// Rows in which a test that has no words but its place in the source is one test, whatever a path did before it.
    fn by_place(&mut self, mut rows: Vec<Said>, events: &[[Vec<Event>; 2]]) -> Vec<Said> {
        let all = ClassId::PAIR
            .map(|class| events.iter().flat_map(|e| e[class].iter().cloned()).collect::<Vec<_>>());
        let namings = ClassId::PAIR.map(|class| self.as_now(class, &all[class]));
        let place = |l: &Literal| (l.class, l.node);
        let has_words =
            |s: &Self, l: &Literal| is_plain(&decayed(&render(s.pool, l.term, &namings[l.class])));
        // One that a path takes more than once has no one place.
        let is_repeated = |l: &Literal| {
            rows.iter().any(|row| row.literals.iter().filter(|o| place(o) == place(l)).count() > 1)
        };
        let placed: BTreeSet<(ClassId, MvId)> = rows
            .iter()
            .flat_map(|row| &row.literals)
            .filter(|l| !is_repeated(l) && !has_words(self, l))
            .map(place)
            .collect();
        let mut known: BTreeMap<(ClassId, MvId), TermId> = BTreeMap::new();
        for literal in rows.iter_mut().flat_map(|row| &mut row.literals) {
            let at = place(literal);
            if !placed.contains(&at) || has_words(self, literal) {
                continue;
            }
            let own = if literal.holds { literal.term } else { self.pool.not(literal.term) };
            let one = *known.entry(at).or_insert(own);
            literal.term = if literal.holds { one } else { self.pool.not(one) };
        }
        rows
    }

    /// The rows effect by effect, where these are shorter than `told`, which says the same.
    fn factored(&mut self, rows: &[Said], told: &[Said]) -> Option<Vec<Said>> {
        let rows: Vec<Said> = rows.iter().map(without_common).collect::<Option<_>>()?;
        let ways = [Ends::Together, Ends::Alone].map(|ends| self.by_effect(&rows, ends));
        let out = ways.into_iter().flatten().min_by_key(|out| cost(out))?;
        // Each row is told of by a condition that holds there.
        let is_told = |row: &Said| out.iter().any(|s| implies(&row.literals, &s.literals));
        let is_shorter = out.len() * 2 <= told.len() * 3 && cost(&out) * 5 <= cost(told) * 4;
        let mut all = rows.iter().chain(&out).map(|row| self.calls.rule_out(self.pool, &row.literals));
        let first = all.next()?;
        let is_one_kind = all.all(|ruled_out| ruled_out == first);
        (is_shorter && is_one_kind && rows.iter().all(is_told)).then_some(out)
    }

    fn by_effect(&mut self, rows: &[Said], ends: Ends) -> Option<Vec<Said>> {
        let mut out = Vec::new();
        for (at, [before, now]) in grouped(rows, ends) {
            if before.is_empty() && now.is_empty() {
                continue;
            }
            let order = before.iter().chain(&now).map(|e| e.kind.importance()).min().unwrap_or(usize::MAX);
            let conditions: Vec<&[Literal]> = at.iter().map(|k| &*rows[*k].literals).collect();
            for literals in covered(self.pool, &conditions)? {
                let row = Said { literals, before: before.clone(), now: now.clone(), order };
                match out.iter_mut().find(|known: &&mut Said| is_same(&known.literals, &row.literals)) {
                    Some(known) => {
                        known.before.extend(row.before);
                        known.now.extend(row.now);
                        known.order = known.order.min(order);
                    }
                    None => out.push(row),
                }
            }
        }
        Some(out)
    }
}

/// How the ends of both versions are told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// As one thing: `returns 0` became `returns -1`.
    Together,
    /// Each under its own condition: what decided for one may have nothing to do with the other.
    Alone,
}

/// Effects by the rows that they stand in. What says only that nothing else comes of it is told beside what does.
fn grouped(rows: &[Said], ends: Ends) -> Vec<(BTreeSet<usize>, Group)> {
    let mut places: BTreeMap<Key, BTreeSet<usize>> = BTreeMap::new();
    let mut order: Vec<(Key, [Option<&Effect>; 2])> = Vec::new();
    for (k, row) in rows.iter().enumerate() {
        for (key, effects) in keyed(row, ends) {
            let at = places.entry(key.clone()).or_default();
            if at.is_empty() {
                order.push((key, effects));
            }
            at.insert(k);
        }
    }
    let mut groups: Vec<(BTreeSet<usize>, Group)> = Vec::new();
    for (key, effects) in order {
        let at = &places[&key];
        let known = groups.iter().position(|(rows, _)| rows == at).unwrap_or_else(|| {
            groups.push((at.clone(), Group::default()));
            groups.len() - 1
        });
        for (list, effect) in groups[known].1.iter_mut().zip(effects) {
            list.extend(effect.cloned());
        }
    }
    for (_, group) in &mut groups {
        for class in ClassId::PAIR {
            if !group[class.other()].iter().any(is_set) {
                group[class].retain(|e| e.words.verb != Verb::Leaves);
            }
        }
    }
    groups
}

/// The effects of a row, in its order. That a version just goes on is said where the other one does so elsewhere.
fn keyed(row: &Said, together: Ends) -> Vec<(Key, [Option<&Effect>; 2])> {
    let ends = |of: &&Effect| (EffectKind::Return..=EffectKind::End).contains(&of.kind);
    let goes_on = |e: &Effect| e.words.verb == Verb::GoesOn;
    let [old, new] = [&row.before, &row.now].map(|of| of.iter().find(ends));
    let both = old.zip(new).filter(|(a, b)| goes_on(a) == goes_on(b));
    let both = both.filter(|(a, _)| together == Ends::Together || goes_on(a));
    let mut out = Vec::new();
    for (version, effects) in [&row.before, &row.now].into_iter().enumerate() {
        let mut seen: BTreeMap<&Words, usize> = BTreeMap::new();
        let is_alone =
            |e: &&Effect| !ends(e) || both.is_none() && !(old.is_some() && new.is_some() && goes_on(e));
        for effect in effects.iter().filter(is_alone) {
            let nth = seen.entry(&effect.words).or_default();
            let mut told = [None; 2];
            told[version] = Some(effect);
            out.push(((told.map(|e| e.map(|e| e.words.clone())), *nth), told));
            *nth += 1;
        }
    }
    out.extend(both.map(|(a, b)| (([a, b].map(|e| Some(e.words.clone())), 0), [Some(a), Some(b)])));
    out
}

fn is_set(effect: &Effect) -> bool {
    matches!(effect.kind, EffectKind::Value | EffectKind::Write)
}

/// A row without what both versions do in the same words; `None` where they do it in another order, or nothing is left.
fn without_common(row: &Said) -> Option<Said> {
    let [mut before, mut now] = [row.before.clone(), row.now.clone()];
    let mut last = 0;
    let mut k = 0;
    while k < before.len() {
        match now.iter().position(|e| e.words == before[k].words) {
            Some(at) if at < last => return None,
            Some(at) => {
                last = at;
                before.remove(k);
                now.remove(at);
            }
            None => k += 1,
        }
    }
    (!before.is_empty() || !now.is_empty()).then(|| Said { before, now, ..row.clone() })
}

fn implies(all: &[Literal], some: &[Literal]) -> bool {
    some.iter().all(|l| all.iter().any(|o| o.term == l.term))
}

fn is_same(a: &[Literal], b: &[Literal]) -> bool {
    implies(a, b) && implies(b, a)
}

/// What it takes to read rows.
fn cost(rows: &[Said]) -> usize {
    let words = |e: &Effect| e.words.to_string().chars().count();
    let of = |row: &Said| {
        row.literals.len() * OF_TEST + row.before.iter().chain(&row.now).map(words).sum::<usize>() + OF_TEST
    };
    rows.iter().map(of).sum()
}

/// Few conjunctions that hold where one of some holds, and nowhere else; `None` if there are too many.
fn covered(pool: &mut TermPool, rows: &[&[Literal]]) -> Option<Vec<Vec<Literal>>> {
    let terms = |of: &[Literal]| of.iter().map(|l| l.term).collect::<BTreeSet<TermId>>();
    let mut known: BTreeSet<BTreeSet<TermId>> = BTreeSet::new();
    let mut all: Vec<Vec<Literal>> = Vec::new();
    for row in rows {
        if known.insert(terms(row)) {
            all.push(row.to_vec());
        }
    }
    let mut k = 0;
    while k < all.len() {
        for j in 0..k {
            if let Some(one) = joined(pool, &all[j], &all[k]).filter(|one| known.insert(terms(one))) {
                all.push(one);
            }
        }
        if all.len() > MOST_CONJUNCTIONS {
            return None;
        }
        k += 1;
    }
    let mut left: Vec<&&[Literal]> = rows.iter().collect();
    let mut out = Vec::new();
    while !left.is_empty() {
        let covers = |one: &&Vec<Literal>| left.iter().filter(|row| implies(row, one)).count();
        let best = all.iter().max_by_key(|one| (covers(one), std::cmp::Reverse(one.len())))?;
        if covers(&best) == 0 {
            return None;
        }
        left.retain(|row| !implies(row, best));
        out.push(best.clone());
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(before: &[&str], now: &[&str]) -> Said {
        let effects = |of: &[&str]| {
            let effect = |t: &&str| Effect { kind: EffectKind::Call, words: Words::says(*t), line: None };
            of.iter().map(effect).collect::<Vec<_>>()
        };
        Said { literals: Vec::new(), before: effects(before), now: effects(now), order: 0 }
    }

    #[test]
    fn what_both_do_is_left_out_where_its_order_is_one() {
        let told = |before: &[&str], now: &[&str]| {
            let texts = |of: &[Effect]| of.iter().map(|e| e.words.to_string()).collect::<Vec<_>>().join(" ");
            without_common(&row(before, now)).map(|s| (texts(&s.before), texts(&s.now)))
        };
        let some = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(told(&["a", "x", "b"], &["x", "c"]), some("a b", "c"));
        assert_eq!(told(&["x", "x"], &["x"]), some("x", ""));
        assert_eq!(told(&["a", "b", "c"], &["a", "d", "c"]), some("b", "d"));
        // Another order, and nothing else.
        assert_eq!(told(&["a", "x"], &["x", "a"]), None);
        assert_eq!(told(&["a"], &["a"]), None);
    }
}
