//! Two versions on the same inputs.
//!
//! The paths of each version part the domain, so the inputs of a pair of paths are counted by both path
//! conditions together. Where both versions have a path with the same conditions, those two are the one
//! pair that has inputs.

use super::agreement::MOST_PIECES;
use super::change_sample::ChangeSample;
use super::input::Candidate;
use super::output::{self, Difference};
use super::paths::{End, Explored, Limits, Path};
use crate::count::{Count, Counter};
use crate::ir::{Op, Sort, TermId, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Changed lines of both versions, and how lines that both have correspond.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    pub old: BTreeSet<u32>,
    pub new: BTreeSet<u32>,
    /// Old to new.
    pub same: BTreeMap<u32, u32>,
}

/// What a change does to how many inputs. The rest, `open`, is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// One of the versions comes to a changed line, or they differ.
    pub reaching: i128,
    /// Something that a caller or a user sees differs.
    pub differing: i128,
    /// Conditions of each pair of paths that differ there.
    pub pieces: Vec<Vec<TermId>>,
    /// Of these, the old version does not fail.
    pub disturbed: i128,
    /// One version fails where the other does not.
    pub failing_differs: i128,
    /// All of it is the same.
    pub same: i128,
    pub open: i128,
    /// Some of what is open is too large to count.
    pub is_large: bool,
    /// Where that is so: shares of the domain.
    pub sampled: Option<ChangeSample>,
    /// Lines of the new version whose branches are reached or decided otherwise for some input.
    pub dependent: BTreeSet<u32>,
}

/// The inputs that take a path of each version.
pub(super) struct Shared<'a> {
    pub p: &'a Path,
    pub q: &'a Path,
    pub by: Difference,
    pub n: i128,
    /// Of these, those on which the versions differ, and those of which that is not known.
    pub differing: i128,
    pub open: i128,
}

/// What a comparison works with.
pub struct Comparer<'p> {
    pub pool: &'p mut TermPool,
    pub counter: &'p mut Counter,
    pub candidates: &'p [Candidate],
    pub lines: &'p Lines,
    pub limits: Limits,
}

impl Comparer<'_> {
    /// Compares two versions. `None`: there are more pairs than the limit, or numbers are too large.
    pub fn compare(&mut self, old: &Explored, new: &Explored) -> Option<Comparison> {
        let key = |p: &Path| {
            let mut key = p.conditions.clone();
            key.sort_unstable();
            key
        };
        let counted = |p: &&Path| p.count.is_some_and(|n| n > 0);
        let mut twins: FxHashMap<Vec<TermId>, (usize, &Path)> = FxHashMap::default();
        for (k, p) in old.paths.iter().filter(counted).enumerate() {
            twins.insert(key(p), (k, p));
        }
        let mut work = self.limits.work;
        let mut found = Comparison::default();
        let is_program = old.is_program && new.is_program;
        let mut rest: Vec<&Path> = Vec::new();
        for q in new.paths.iter().filter(counted) {
            match twins.remove(&key(q)) {
                Some((_, p)) => self.pair(p, q, is_program, &mut work, &mut found)?,
                None => rest.push(q),
            }
        }
        // As they stand in the tree: the numbers of terms depend on what was kept of it.
        let mut others: Vec<(usize, &Path)> = twins.into_values().collect();
        others.sort_by_key(|(k, _)| *k);
        if rest.len().saturating_mul(others.len()) > self.limits.pairs {
            return None;
        }
        for (_, p) in others {
            for q in &rest {
                self.pair(p, q, is_program, &mut work, &mut found)?;
            }
        }
        self.completed(found, old, new)
    }

    /// Says how much of the domain is open; `None`: numbers are too large.
    pub(super) fn completed(
        &self,
        mut found: Comparison,
        old: &Explored,
        new: &Explored,
    ) -> Option<Comparison> {
        let known = found.same.checked_add(found.differing)?;
        found.open = self.counter.size()?.checked_sub(known)?;
        let is_uncounted = |p: &Path| p.count.is_none() && !matches!(p.end, End::Grey(_));
        found.is_large |= old.paths.iter().chain(&new.paths).any(is_uncounted);
        Some(found)
    }

    /// Compares two versions, by pairs of paths or input by input, and estimates what is too large to count.
    pub fn compare_all(&mut self, old: &Explored, new: &Explored) -> Option<Comparison> {
        let found = self.compare(old, new);
        if found.as_ref().is_some_and(|found| !found.is_large) {
            return found;
        }
        let mut found = self.swept(old, new).or(found)?;
        if found.is_large && found.open > 0 {
            found.sampled = self.sampled(old, new, &found);
        }
        Some(found)
    }

    /// Adds the inputs that take two paths; `None`: numbers are too large.
    fn pair(
        &mut self,
        p: &Path,
        q: &Path,
        is_program: bool,
        work: &mut u64,
        found: &mut Comparison,
    ) -> Option<()> {
        let cost = (p.conditions.len() + q.conditions.len()) as u64;
        let Some(left) = work.checked_sub(cost) else {
            found.is_large = true;
            return Some(());
        };
        *work = left;
        let mut both = p.conditions.clone();
        let known: FxHashSet<TermId> = both.iter().copied().collect();
        both.extend(q.conditions.iter().filter(|c| !known.contains(c)));
        let n = match p.count.filter(|_| both.len() == p.conditions.len()) {
            Some(n) => n,
            None => match self.counter.count(self.pool, &both, work) {
                Count::Exact(n) => n,
                _ => {
                    found.is_large = true;
                    return Some(());
                }
            },
        };
        if n == 0 {
            return Some(());
        }
        let by = self.difference(p, q, is_program);
        let Some(differing) = self.also(&both, &[by.differ], n, work) else {
            found.is_large = true;
            return self.add(Shared { p, q, by, n, differing: 0, open: n }, found);
        };
        let equal = self.pool.not(by.differ);
        let open = self.also(&both, &[equal, by.unknown], n, work);
        found.is_large |= open.is_none();
        let open = open.unwrap_or(n.checked_sub(differing)?);
        self.add(Shared { p, q, by, n, differing, open }, found)
    }

    /// Adds what is known of the inputs that take two paths.
    pub(super) fn add(&self, shared: Shared, found: &mut Comparison) -> Option<()> {
        let Shared { p, q, by: Difference { differ, .. }, n, differing, open } = shared;
        // A macro or a declaration reaches where no line of code changes.
        let reaching = if self.reaches(p, q) { n } else { differing };
        found.reaching = found.reaching.checked_add(reaching)?;
        let fails = |p: &Path| matches!(p.end, End::Failure(_));
        if fails(p) != fails(q) {
            found.failing_differs = found.failing_differs.checked_add(n)?;
        }
        self.dependent(p, q, &mut found.dependent);
        found.differing = found.differing.checked_add(differing)?;
        if differing > 0 && found.pieces.len() <= MOST_PIECES {
            let is_all = self.pool.as_const(differ).is_some();
            let both = p.conditions.iter().chain(q.conditions.iter().filter(|c| !p.conditions.contains(c)));
            found.pieces.push(both.copied().chain((!is_all).then_some(differ)).collect());
        }
        if !fails(p) {
            found.disturbed = found.disturbed.checked_add(differing)?;
        }
        found.same = found.same.checked_add(n.checked_sub(differing)?.checked_sub(open)?)?;
        Some(())
    }

    /// Whether one of two paths comes to a changed line.
    pub(super) fn reaches(&self, p: &Path, q: &Path) -> bool {
        !p.lines.is_disjoint(&self.lines.old) || !q.lines.is_disjoint(&self.lines.new)
    }

    /// Counts the inputs that meet more conditions, of `n` that meet some.
    fn also(&mut self, conditions: &[TermId], more: &[TermId], n: i128, work: &mut u64) -> Option<i128> {
        let mut all = conditions.to_vec();
        for m in more {
            match self.pool.as_const(*m).and_then(|c| c.as_bool()) {
                Some(true) => {}
                Some(false) => return Some(0),
                None => all.push(*m),
            }
        }
        if all.len() == conditions.len() {
            return Some(n);
        }
        match self.counter.count(self.pool, &all, work) {
            Count::Exact(n) => Some(n),
            _ => None,
        }
    }

    /// The branches at lines that both versions have, and that do not go the same ways on two paths.
    fn dependent(&self, p: &Path, q: &Path, found: &mut BTreeSet<u32>) {
        let mut ways: BTreeMap<u32, (Vec<bool>, Vec<bool>)> = BTreeMap::new();
        for turn in p.turns.iter() {
            if let Some(line) = self.lines.same.get(&turn.line) {
                ways.entry(*line).or_default().0.push(turn.taken);
            }
        }
        for turn in q.turns.iter().filter(|t| t.line > 0) {
            ways.entry(turn.line).or_default().1.push(turn.taken);
        }
        found.extend(ways.into_iter().filter(|(_, (a, b))| a != b).map(|(line, _)| line));
    }

    /// When what two paths let others see differs.
    pub(super) fn difference(&mut self, p: &Path, q: &Path, is_program: bool) -> Difference {
        let (pool, lines) = (&mut *self.pool, self.lines);
        let mut found = Difference::none(pool);
        match (&p.end, &q.end) {
            (End::Return(Some(a)), End::Return(Some(b))) | (End::Exit(Some(a)), End::Exit(Some(b))) => {
                let (mut a, mut b) = (*a, *b);
                if matches!(p.end, End::Exit(_)) || is_program {
                    (a, b) = (low_byte(pool, a), low_byte(pool, b));
                }
                found.values(pool, a, b);
            }
            (End::Return(None), End::Return(None)) => {}
            (End::Failure(a), End::Failure(b)) => {
                match (lines.same.get(a), lines.same.values().any(|v| v == b)) {
                    (Some(c), _) if c == b => {}
                    (Some(_), _) | (None, true) => found.certain(pool),
                    (None, false) => found.lost(pool),
                }
            }
            (End::Grey(_), _) | (_, End::Grey(_)) => found.lost(pool),
            (End::Return(_), End::Exit(_)) | (End::Exit(_), End::Return(_)) if is_program => found.lost(pool),
            (End::Return(_), End::Return(_)) | (End::Exit(_), End::Exit(_)) => found.lost(pool),
            _ => {
                found.certain(pool);
                return found;
            }
        }
        let mut printed = output::difference(pool, &p.stdout, &q.stdout);
        if matches!(p.end, End::Failure(_)) {
            // What was still in the buffer is lost.
            printed =
                Difference { differ: pool.bool(false), unknown: pool.or(printed.differ, printed.unknown) };
        }
        found.and(pool, printed);
        let errors = output::difference(pool, &p.stderr, &q.stderr);
        found.and(pool, errors);
        // What is in memory after a failure or an exit, nobody sees.
        if matches!(p.end, End::Return(_)) && !is_program {
            self.memory(p, q, &mut found);
        }
        found
    }

    /// When globals differ at the end.
    fn memory(&mut self, p: &Path, q: &Path, found: &mut Difference) {
        let symbols: BTreeSet<&Arc<str>> = p.written.keys().chain(q.written.keys()).collect();
        for symbol in symbols {
            let (a, b) = (self.left(p, symbol), self.left(q, symbol));
            let (Some(a), Some(b)) = (a, b) else {
                found.lost(self.pool);
                continue;
            };
            if !a.iter().map(|(o, (n, _))| (o, n)).eq(b.iter().map(|(o, (n, _))| (o, n))) {
                found.lost(self.pool);
                continue;
            }
            for ((_, x), (_, y)) in a.values().zip(b.values()) {
                found.values(self.pool, *x, *y);
            }
        }
    }

    /// What a global holds at the end; `None`: that is not known.
    fn left(&mut self, p: &Path, symbol: &Arc<str>) -> Option<BTreeMap<u64, (u64, TermId)>> {
        if let Some(cells) = p.written.get(symbol) {
            return Some(cells.clone());
        }
        let of_string = |c: &Candidate| {
            let byte = c.byte.as_ref().filter(|b| **symbol == *super::text::symbol(&b.of))?;
            Some((byte.at, (1, c.term)))
        };
        let mut bytes: BTreeMap<u64, (u64, TermId)> = self.candidates.iter().filter_map(of_string).collect();
        if !bytes.is_empty() {
            let terminator = self.pool.bv(8, 0);
            bytes.insert(bytes.len() as u64, (1, terminator));
            return Some(bytes);
        }
        let entry = self.candidates.iter().find_map(|c| match &c.global {
            Some((s, bytes)) if s == symbol => Some((*bytes, c.term)),
            _ => None,
        });
        entry.map(|cell| BTreeMap::from([(0, cell)]))
    }
}

/// What of a status its parent sees.
fn low_byte(pool: &mut TermPool, t: TermId) -> TermId {
    match pool.sort(t) {
        Sort::Bv(width) if width > 8 => pool.op(Op::Trunc(8), &[t]),
        _ => t,
    }
}
