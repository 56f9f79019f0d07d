//! The counts of one version.

use super::paths::{End, Explored, Path};
use super::sampled::{Exact, Meets, Open, Sampled, sampled};
use super::swept::swept;
use super::target::Target;
use super::turns::Turn;
use crate::count::{Count, Counter};
use crate::ir::{NodeId, Op, Sort, TermId, TermPool};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often a branch is taken: decisions, which are more than inputs in a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BranchCount {
    pub function: Arc<str>,
    pub node: NodeId,
    pub line: u32,
    /// Decisions of inputs that are not grey.
    pub taken: i128,
    pub not_taken: i128,
}

/// Paths that are grey for one reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grey {
    pub paths: usize,
    /// Inputs, as far as they were counted.
    pub inputs: i128,
}

/// Success, failure and grey add up to the size of the domain: what is not counted exactly is grey.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    pub size: i128,
    /// At least so many meet the target; at most `uncertain` more.
    pub target: i128,
    /// Inputs of which it is not known whether they meet the target.
    pub uncertain: i128,
    pub success: i128,
    pub failure: i128,
    pub grey: i128,
    pub reasons: BTreeMap<&'static str, Grey>,
    pub branches: Vec<BranchCount>,
    /// Where some count is too large: shares of the domain, what was counted with estimates of the rest.
    pub sampled: Option<Sampled>,
}

/// Why inputs are grey that may be sampled.
pub const TOO_LARGE: &str = "too large to count exactly";

/// Counts the paths, each into its `count`, and adds them up. `None`: numbers are too large.
pub fn totals(
    explored: &mut Explored,
    pool: &mut TermPool,
    counter: &mut Counter,
    target: &Target,
    work: u64,
) -> Option<Totals> {
    let by_input = if counter.is_small() { work / 2 } else { 0 };
    totals_within(explored, pool, counter, target, Work { by_path: work - by_input, by_input })
}

/// What may be spent on counting path by path, and then input by input on those that are too large.
pub(super) struct Work {
    pub by_path: u64,
    pub by_input: u64,
}

/// As [`totals`].
pub(super) fn totals_within(
    explored: &mut Explored,
    pool: &mut TermPool,
    counter: &mut Counter,
    target: &Target,
    work: Work,
) -> Option<Totals> {
    let size = counter.size()?;
    let mut totals = Totals {
        size,
        target: 0,
        uncertain: 0,
        success: 0,
        failure: 0,
        grey: 0,
        reasons: BTreeMap::new(),
        branches: Vec::new(),
        sampled: None,
    };
    let mut branches: BTreeMap<(Arc<str>, NodeId), BranchCount> = BTreeMap::new();
    let mut met_by_grey = 0i128;
    // By position, and whether its inputs are counted.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let counts = path_counts(&explored.paths, pool, counter, target, work);
    for (i, (path, counts)) in explored.paths.iter_mut().zip(counts).enumerate() {
        if counts.inputs == Count::TooLarge {
            open.push((i, false));
        }
        let (n, reason) = match (&path.end, counts.inputs) {
            (_, Count::Exact(0)) => {
                path.count = Some(0);
                continue;
            }
            (End::Grey(why), Count::Exact(n)) => (n, Some(*why)),
            (End::Grey(why), _) => (0, Some(*why)),
            (_, Count::Exact(n)) => (n, None),
            (_, Count::TooLarge) => (0, Some(TOO_LARGE)),
            (_, Count::Unknown) => (0, Some("an unknown value")),
        };
        if let Some(why) = reason {
            let grey = totals.reasons.entry(why).or_default();
            grey.paths += 1;
            grey.inputs = grey.inputs.checked_add(n)?;
            // What was reached before the end was reached.
            if is_met_on_the_way(path, target) {
                met_by_grey = met_by_grey.checked_add(n)?;
            }
            continue;
        }
        path.count = Some(n);
        match path.end {
            End::Failure(_) => totals.failure = totals.failure.checked_add(n)?,
            _ => totals.success = totals.success.checked_add(n)?,
        }
        match counts.met {
            Count::Exact(met) => totals.target = totals.target.checked_add(met)?,
            _ => {
                open.push((i, true));
                totals.uncertain = totals.uncertain.checked_add(n)?;
            }
        }
        for turn in path.turns.iter() {
            let of_branch =
                branches.entry((turn.function.clone(), turn.node)).or_insert_with(|| new_branch(turn));
            let side = if turn.taken { &mut of_branch.taken } else { &mut of_branch.not_taken };
            *side = side.checked_add(n)?;
        }
    }
    totals.grey = size.checked_sub(totals.success)?.checked_sub(totals.failure)?;
    totals.target = totals.target.checked_add(met_by_grey)?;
    totals.uncertain = totals.uncertain.checked_add(totals.grey)?.checked_sub(met_by_grey)?;
    if explored.is_cut {
        totals.reasons.entry("more paths than the bound").or_default().paths += 1;
    }
    branches.values().try_for_each(|b| b.taken.checked_add(b.not_taken).map(drop))?;
    totals.branches = branches.into_values().filter(|b| b.line > 0).collect();
    totals.branches.sort_by_key(|b| (b.line, b.node));
    totals.sampled = estimated(explored, &open, pool, counter, target, &totals);
    Some(totals)
}

/// How many inputs take a path, and how many of them meet the target.
struct PathCounts {
    inputs: Count,
    met: Count,
}

/// Counts paths one by one; where some are too large and the domain has few inputs, input by input.
fn path_counts(
    paths: &[Path],
    pool: &mut TermPool,
    counter: &mut Counter,
    target: &Target,
    mut work: Work,
) -> Vec<PathCounts> {
    let mut counts: Vec<PathCounts> =
        paths.iter().map(|p| path_count(p, pool, counter, target, &mut work.by_path)).collect();
    let is_open = |c: &PathCounts| c.inputs == Count::TooLarge || c.met == Count::TooLarge;
    let open: Vec<usize> = (0..paths.len()).filter(|k| counts.get(*k).is_some_and(is_open)).collect();
    if open.is_empty() {
        return counts;
    }
    let mut left = work.by_path + work.by_input;
    let meets: Vec<Meets> = open.iter().filter_map(|k| Some(meets(pool, paths.get(*k)?, target))).collect();
    let of_path = |(k, m): (&usize, &Meets)| {
        let condition = if let Meets::If(t) = m { Some(*t) } else { None };
        Some((paths.get(*k)?, condition))
    };
    let open_paths: Vec<(&Path, Option<TermId>)> = open.iter().zip(&meets).filter_map(of_path).collect();
    let Some(found) = swept(pool, counter, &open_paths, &mut left) else { return counts };
    for ((k, meets), (n, of_them)) in open.into_iter().zip(meets).zip(found) {
        let met = match meets {
            Meets::All => Count::Exact(n),
            Meets::None => Count::Exact(0),
            Meets::If(_) => Count::Exact(of_them),
            Meets::Unknown => Count::Unknown,
        };
        if let Some(counts) = counts.get_mut(k) {
            *counts = PathCounts { inputs: Count::Exact(n), met };
        }
    }
    counts
}

fn path_count(
    path: &Path,
    pool: &mut TermPool,
    counter: &mut Counter,
    target: &Target,
    work: &mut u64,
) -> PathCounts {
    let inputs = match path.count {
        Some(known) => Count::Exact(known),
        None => within_half(pool, counter, &path.conditions, work),
    };
    let met = match meets(pool, path, target) {
        _ if inputs == Count::Exact(0) => Count::Exact(0),
        Meets::None => Count::Exact(0),
        Meets::All => inputs,
        Meets::Unknown => Count::Unknown,
        Meets::If(t) => match inputs {
            Count::Exact(_) => {
                let mut all = path.conditions.clone();
                all.push(t);
                counter.count(pool, &all, work)
            }
            open => open,
        },
    };
    PathCounts { inputs, met }
}

/// Counts with half of the work that is left: a path that is too large leaves some to those behind it.
fn within_half(pool: &TermPool, counter: &mut Counter, conditions: &[TermId], work: &mut u64) -> Count {
    let granted = *work - *work / 2;
    let mut left = granted;
    let found = counter.count(pool, conditions, &mut left);
    *work -= granted - left;
    found
}

/// Estimates what the paths come to of which something is open: their positions, and whether they are counted.
fn estimated(
    explored: &Explored,
    open: &[(usize, bool)],
    pool: &mut TermPool,
    counter: &Counter,
    target: &Target,
    totals: &Totals,
) -> Option<Sampled> {
    let mut paths = Vec::new();
    for (i, is_counted) in open {
        let path = explored.paths.get(*i)?;
        paths.push(Open { path, is_counted: *is_counted, meets: meets(pool, path, target) });
    }
    let share = |n: i128| n as f64 / totals.size as f64;
    let exact = Exact {
        success: share(totals.success),
        failure: share(totals.failure),
        target: share(totals.target),
        off_target: share(totals.size.checked_sub(totals.target)?.checked_sub(totals.uncertain)?),
    };
    if paths.is_empty() { None } else { sampled(pool, counter, &paths, &exact) }
}

/// Which inputs of a path meet the target.
fn meets(pool: &mut TermPool, path: &Path, target: &Target) -> Meets {
    match (target, &path.end) {
        _ if is_met_on_the_way(path, target) => Meets::All,
        (_, End::Grey(_)) => Meets::Unknown,
        (Target::Assertion, End::Failure(_)) => Meets::All,
        (Target::Return(value), End::Return(Some(result))) => match equals(pool, *result, *value) {
            Some(t) => Meets::If(t),
            None => Meets::Unknown,
        },
        _ => Meets::None,
    }
}

fn new_branch(turn: &Turn) -> BranchCount {
    BranchCount { function: turn.function.clone(), node: turn.node, line: turn.line, taken: 0, not_taken: 0 }
}

fn is_met_on_the_way(path: &Path, target: &Target) -> bool {
    match target {
        Target::Lines(lines) => !path.lines.is_disjoint(lines),
        Target::Branch(lines) => path.turns.iter().any(|t| t.taken && lines.contains(&t.line)),
        Target::Assertion | Target::Return(_) => false,
    }
}

/// That a result is a number: one that its word holds, as a signed or as an unsigned one.
fn equals(pool: &mut TermPool, result: TermId, value: i128) -> Option<TermId> {
    let Sort::Bv(width) = pool.sort(result) else { return None };
    let wide = (width + 8).max(72);
    if wide > 120 {
        return None;
    }
    let number = pool.bv(wide, value);
    let value_in_word = pool.bv(width, value);
    // A number that the word does not hold is not returned.
    let back = pool.op(Op::Sext(wide), &[value_in_word]);
    let unsigned = pool.op(Op::Zext(wide), &[value_in_word]);
    match pool.as_const(back) == pool.as_const(number) || pool.as_const(unsigned) == pool.as_const(number) {
        true => Some(pool.eq(result, value_in_word)),
        false => Some(pool.bool(false)),
    }
}
