//! The counts of one version.

use super::paths::{End, Explored, Path};
use crate::count::{Count, Domain, count};
use crate::ir::{NodeId, Sort, TermId, TermPool};
use std::collections::{BTreeMap, BTreeSet};

/// What is counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An assertion fails.
    Assertion,
    /// The function returns this number.
    Return(i128),
    /// One of these lines of the function's file is reached.
    Lines(BTreeSet<u32>),
}

/// How often a branch is taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchCount {
    pub node: NodeId,
    pub line: u32,
    pub taken: i128,
    pub not_taken: i128,
}

/// Success, failure and grey add up to the size of the domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totals {
    pub size: i128,
    pub target: i128,
    pub success: i128,
    pub failure: i128,
    pub grey: i128,
    /// By the reason, how many paths are grey.
    pub reasons: BTreeMap<&'static str, usize>,
    pub branches: Vec<BranchCount>,
}

/// Counts the paths, each into its `count`, and adds them up. `None`: the domain is too large.
pub fn totals(
    explored: &mut Explored,
    pool: &mut TermPool,
    domain: &Domain,
    target: &Target,
    work: &mut u64,
) -> Option<Totals> {
    let size = domain.size()?;
    let mut totals = Totals {
        size,
        target: 0,
        success: 0,
        failure: 0,
        grey: 0,
        reasons: BTreeMap::new(),
        branches: Vec::new(),
    };
    let mut branches: BTreeMap<NodeId, BranchCount> = BTreeMap::new();
    for path in &mut explored.paths {
        let counted = count(pool, domain, &path.conditions, work);
        let reason = match (&path.end, counted) {
            (End::Grey(_), Count::Exact(0)) => continue,
            (End::Grey(why), _) => Some(*why),
            (_, Count::Exact(n)) => {
                path.count = Some(n);
                None
            }
            (_, Count::TooLarge) => Some("too large to count exactly"),
            (_, Count::Unknown) => Some("an unknown value or undefined behaviour"),
        };
        if let Some(why) = reason {
            *totals.reasons.entry(why).or_default() += 1;
        }
        let Some(n) = path.count else { continue };
        match path.end {
            End::Failure(_) => totals.failure += n,
            _ => totals.success += n,
        }
        totals.target += hits(pool, domain, path, n, target, work);
        let turns: BTreeSet<_> = path.turns.iter().collect();
        for turn in turns {
            let new = BranchCount { node: turn.node, line: turn.line, taken: 0, not_taken: 0 };
            let b = branches.entry(turn.node).or_insert(new);
            *(if turn.taken { &mut b.taken } else { &mut b.not_taken }) += n;
        }
    }
    totals.grey = size - totals.success - totals.failure;
    if explored.is_cut {
        *totals.reasons.entry("more paths than the bound").or_default() += 1;
    }
    totals.branches = branches.into_values().collect();
    totals.branches.sort_by_key(|b| (b.line, b.node));
    Some(totals)
}

/// How many of the `n` inputs of a path meet the target.
fn hits(pool: &mut TermPool, domain: &Domain, path: &Path, n: i128, target: &Target, work: &mut u64) -> i128 {
    match (target, &path.end) {
        (Target::Assertion, End::Failure(_)) => n,
        (Target::Lines(lines), _) if !path.lines.is_disjoint(lines) => n,
        (Target::Return(value), End::Return(Some(result))) => {
            let Some(is_it) = equals(pool, *result, *value) else { return 0 };
            let mut all = path.conditions.clone();
            all.push(is_it);
            match count(pool, domain, &all, work) {
                Count::Exact(n) => n,
                _ => 0,
            }
        }
        _ => 0,
    }
}

fn equals(pool: &mut TermPool, result: TermId, value: i128) -> Option<TermId> {
    let Sort::Bv(width) = pool.sort(result) else { return None };
    let value = pool.bv(width, value);
    Some(pool.eq(result, value))
}
