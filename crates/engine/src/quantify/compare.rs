//! Two versions on the same inputs.
//!
//! The paths of each version part the domain, so the inputs of a pair of paths are counted by both path
//! conditions together. Where both versions have a path with the same conditions, those two are the one
//! pair that has inputs.

use super::paths::{End, Explored, Limits, Path};
use crate::count::{Count, Domain, count};
use crate::ir::{TermId, TermPool};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Changed lines of both versions, and how lines that both have correspond.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    pub old: BTreeSet<u32>,
    pub new: BTreeSet<u32>,
    /// Old to new.
    pub same: BTreeMap<u32, u32>,
}

/// What a change does to how many inputs. The rest, `open`, is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// One of the versions comes to a changed line.
    pub reaching: i128,
    /// Something that a caller or a user sees differs.
    pub differing: i128,
    /// One version fails where the other does not.
    pub failing_differs: i128,
    /// All of it is the same.
    pub same: i128,
    pub open: i128,
    /// Lines of the new version whose branches are reached or decided otherwise for some input.
    pub dependent: BTreeSet<u32>,
}

/// Compares two versions. `None`: there are more pairs than the limit.
pub fn compare(
    old: &Explored,
    new: &Explored,
    pool: &mut TermPool,
    domain: &Domain,
    lines: &Lines,
    limits: &Limits,
) -> Option<Comparison> {
    let key = |p: &Path| {
        let mut key = p.conditions.clone();
        key.sort_unstable();
        key
    };
    let mut twins: FxHashMap<Vec<TermId>, &Path> = FxHashMap::default();
    old.paths.iter().filter(|p| p.count.is_some()).for_each(|p| {
        twins.insert(key(p), p);
    });
    let mut work = limits.work;
    let mut found = Comparison::default();
    let mut rest: Vec<&Path> = Vec::new();
    for q in new.paths.iter().filter(|q| q.count.is_some()) {
        match twins.remove(&key(q)) {
            Some(p) => pair(p, q, pool, domain, lines, &mut work, &mut found),
            None => rest.push(q),
        }
    }
    let mut others: Vec<&Path> = twins.into_values().collect();
    others.sort_by(|a, b| a.conditions.cmp(&b.conditions));
    if rest.len().saturating_mul(others.len()) > limits.pairs {
        return None;
    }
    for p in others {
        for q in &rest {
            pair(p, q, pool, domain, lines, &mut work, &mut found);
        }
    }
    found.open = domain.size()? - found.same - found.differing;
    Some(found)
}

fn pair(
    p: &Path,
    q: &Path,
    pool: &mut TermPool,
    domain: &Domain,
    lines: &Lines,
    work: &mut u64,
    found: &mut Comparison,
) {
    let mut both = p.conditions.clone();
    both.extend(q.conditions.iter().filter(|c| !p.conditions.contains(c)));
    let Count::Exact(n) = count(pool, domain, &both, work) else { return };
    if n == 0 {
        return;
    }
    if !p.lines.is_disjoint(&lines.old) || !q.lines.is_disjoint(&lines.new) {
        found.reaching += n;
    }
    if matches!(p.end, End::Failure(_)) != matches!(q.end, End::Failure(_)) {
        found.failing_differs += n;
    }
    dependent(p, q, lines, &mut found.dependent);
    let Some(differ) = difference(p, q, pool, lines) else { return };
    both.push(differ);
    if let Count::Exact(differing) = count(pool, domain, &both, work) {
        found.differing += differing;
        found.same += n - differing;
    }
}

/// The branches at lines that both versions have, and that do not go the same ways on two paths.
fn dependent(p: &Path, q: &Path, lines: &Lines, found: &mut BTreeSet<u32>) {
    let mut ways: BTreeMap<u32, (Vec<bool>, Vec<bool>)> = BTreeMap::new();
    for turn in &p.turns {
        if let Some(line) = lines.same.get(&turn.line) {
            ways.entry(*line).or_default().0.push(turn.taken);
        }
    }
    for turn in &q.turns {
        ways.entry(turn.line).or_default().1.push(turn.taken);
    }
    found.extend(ways.into_iter().filter(|(_, (a, b))| a != b).map(|(line, _)| line));
}

/// When what two paths let others see differs; `None`: that is not known.
fn difference(p: &Path, q: &Path, pool: &mut TermPool, lines: &Lines) -> Option<TermId> {
    let mut differ = pool.bool(false);
    let mut pairs: Vec<(TermId, TermId)> = Vec::new();
    let yes = pool.bool(true);
    match (&p.end, &q.end) {
        (End::Return(Some(a)), End::Return(Some(b))) => pairs.push((*a, *b)),
        (End::Return(None), End::Return(None)) | (End::Exit, End::Exit) => {}
        (End::Failure(a), End::Failure(b)) if lines.same.get(a) == Some(b) => {}
        (End::Grey(_), _) | (_, End::Grey(_)) => return None,
        _ => return Some(yes),
    }
    let fails = matches!(p.end, End::Failure(_));
    let seen = |path: &Path| path.events.len() - usize::from(fails);
    if seen(p) != seen(q) {
        return Some(yes);
    }
    for (a, b) in p.events.iter().zip(&q.events).take(seen(p)) {
        if a.callee != b.callee || a.texts != b.texts || a.args.len() != b.args.len() {
            return Some(yes);
        }
        let plain = a.args.iter().zip(&b.args).zip(&a.texts).filter(|(_, text)| text.is_none());
        pairs.extend(plain.map(|((a, b), _)| (*a, *b)));
    }
    // What is written after a failure or an exit is not looked at.
    if matches!(p.end, End::Return(_)) {
        if p.writes_elsewhere || q.writes_elsewhere {
            return None;
        }
        if p.written.keys().ne(q.written.keys()) {
            return None;
        }
        pairs.extend(p.written.values().zip(q.written.values()).map(|(a, b)| (*a, *b)));
    }
    for (a, b) in pairs {
        if pool.sort(a) != pool.sort(b) {
            return Some(yes);
        }
        let same = pool.eq(a, b);
        let other = pool.not(same);
        differ = pool.or(differ, other);
    }
    Some(differ)
}
