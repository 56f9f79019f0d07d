//! Counts of a range: each function that it changes, version by version and step by step.

use super::lineage::{Lineage, Member};
use super::{FileChange, Request};
use crate::count::{Domain, Input, Range};
use crate::ir::{Function, Instr, TermPool};
use crate::quantify::{
    Candidate, Comparison, Explored, Explorer, Limits, Lines, Target, Totals, candidates, compare, totals,
};
use crate::report::RepoPath;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Ranges by input.
    pub domains: BTreeMap<String, Range>,
    pub target: TargetChoice,
    pub limits: Limits,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetChoice {
    Assertion,
    Return(i128),
    /// A line of the newest version that is reached.
    Line(PathBuf, u32),
    /// A changed line is reached.
    Churn,
}

/// The counts of one function.
#[derive(Debug)]
pub struct Quantified {
    pub file: PathBuf,
    pub name: Arc<str>,
    /// Inputs with their ranges, and whether the range is the usual one.
    pub inputs: Vec<(String, Range, bool)>,
    /// By version; `None` where it does not exist.
    pub versions: Vec<Option<Counted>>,
    /// From each version to the next: what was compared, or why nothing was.
    pub steps: Vec<Result<Comparison, &'static str>>,
}

#[derive(Debug)]
pub struct Counted {
    pub totals: Totals,
    pub states: u64,
}

/// Why a function has no counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No function has this input; all names that there are.
    NoInput { name: String, known: Vec<String> },
    /// The range leaves the input's type.
    OutOfType { name: String, whole: Range },
    /// The domain of this function has more than `2^120` inputs.
    TooLarge { function: String },
    /// The line has no code in the function.
    NoCode { line: u32, function: String },
}

/// Counts the functions of a range that are `wanted`. Cost: parsing and lowering, paths, counts within
/// the limits; no solver.
pub fn quantify(
    request: &Request,
    choice: &Choice,
    wanted: impl Fn(&RepoPath, &str) -> bool + Sync,
) -> Result<Vec<Quantified>, Problem> {
    super::in_pool(request, || {
        let loaded = super::Loaded::of(request);
        let is_wanted = |l: &&Lineage| {
            let Some((_, m)) = l.newest() else { return false };
            let of_line = match &choice.target {
                TargetChoice::Line(file, _) => m.file == *file,
                _ => true,
            };
            of_line && super::classes::is_changed(l) && wanted(&RepoPath::from(&m.file), &m.function.name)
        };
        let mut lineages: Vec<&Lineage> = loaded.lineages.iter().filter(is_wanted).collect();
        let place = |l: &&Lineage| l.newest().map(|(_, m)| (m.file.clone(), m.function.span.line));
        lineages.sort_by_key(place);
        if let TargetChoice::Line(_, line) = choice.target {
            let around = |l: &&Lineage| {
                l.newest()
                    .is_some_and(|(_, m)| m.function.span.line <= line && line <= m.function.span.end_line)
            };
            lineages.retain(|l| around(l));
        }
        check_names(&lineages, choice)?;
        lineages.into_iter().map(|l| one(l, request, choice)).collect()
    })
}

/// Every range is one of some function's input.
fn check_names(lineages: &[&Lineage], choice: &Choice) -> Result<(), Problem> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for m in lineages.iter().flat_map(|l| l.members.iter().flatten()) {
        let mut pool = TermPool::new();
        known.extend(candidates(&m.inlined, &m.unit, &mut pool).iter().map(|c| c.name.to_string()));
    }
    match choice.domains.keys().find(|name| !known.contains(*name)) {
        Some(name) => Err(Problem::NoInput { name: name.clone(), known: known.into_iter().collect() }),
        None => Ok(()),
    }
}

fn one(l: &Lineage, request: &Request, choice: &Choice) -> Result<Quantified, Problem> {
    let mut pool = TermPool::new();
    let of = |m: &Member, pool: &mut TermPool| candidates(&m.inlined, &m.unit, pool);
    let by_version: Vec<Option<Vec<Candidate>>> =
        l.members.iter().map(|m| m.as_ref().map(|m| of(m, &mut pool))).collect();
    let mut all: Vec<Candidate> = Vec::new();
    for c in by_version.iter().flatten().flatten() {
        if all.iter().all(|known| known.term != c.term) {
            all.push(c.clone());
        }
    }
    let range = |c: &Candidate| choice.domains.get(&*c.name).copied().unwrap_or_else(|| c.usual());
    for c in &all {
        let (low, high) = range(c);
        if low < c.whole.0 || high > c.whole.1 {
            return Err(Problem::OutOfType { name: c.name.to_string(), whole: c.whole });
        }
    }
    let full = Domain { inputs: all.iter().map(|c| Input { term: c.term, range: range(c) }).collect() };
    let mut explored: Vec<Option<Explored>> = Vec::new();
    for (m, own) in l.members.iter().zip(&by_version) {
        let (Some(m), Some(own)) = (m, own) else {
            explored.push(None);
            continue;
        };
        let (f, unit): (&Function, _) = (&m.inlined, &m.unit);
        let mut explorer =
            Explorer { f, unit, pool: &mut pool, candidates: own, domain: &full, limits: choice.limits };
        explored.push(Some(explorer.explore()));
    }
    // A global that no version reads before it writes it is no input.
    let used = |c: &Candidate| {
        let of = explored.iter().zip(&by_version).filter_map(|(e, own)| Some((e.as_ref()?, own.as_ref()?)));
        of.into_iter()
            .any(|(e, own)| own.iter().position(|o| o.term == c.term).is_some_and(|i| e.used.contains(&i)))
    };
    all.retain(|c| used(c));
    let domain = Domain { inputs: all.iter().map(|c| Input { term: c.term, range: range(c) }).collect() };
    let lines: Vec<Lines> = (1..l.members.len()).map(|v| lines_of(l, request, v)).collect();
    let mut versions = Vec::new();
    for (v, e) in explored.iter_mut().enumerate() {
        let (Some(e), Some(Some(m))) = (e, l.members.get(v)) else {
            versions.push(None);
            continue;
        };
        let target = target(choice, v, m, &lines)?;
        let mut work = choice.limits.work;
        let Some(totals) = totals(e, &mut pool, &domain, &target, &mut work) else {
            return Err(Problem::TooLarge { function: m.function.name.to_string() });
        };
        versions.push(Some(Counted { totals, states: e.states }));
    }
    let mut steps = Vec::new();
    for (v, lines) in (1..).zip(&lines) {
        let pair = (explored.get(v - 1).and_then(Option::as_ref), explored.get(v).and_then(Option::as_ref));
        steps.push(match pair {
            (Some(_), Some(_)) if parameters(l, v - 1) != parameters(l, v) => Err("its parameters differ"),
            (Some(old), Some(new)) => compare(old, new, &mut pool, &domain, lines, &choice.limits)
                .ok_or("there are more pairs of paths than the bound"),
            _ => Err("one version does not have it"),
        });
    }
    let (_, newest) = l.newest().ok_or(Problem::TooLarge { function: String::new() })?;
    let input = |c: &Candidate| (c.name.to_string(), range(c), !choice.domains.contains_key(&*c.name));
    Ok(Quantified {
        file: newest.file.clone(),
        name: newest.function.name.clone(),
        inputs: all.iter().map(input).collect(),
        versions,
        steps,
    })
}

/// Names and sorts of the parameters in a version.
fn parameters(l: &Lineage, v: usize) -> Vec<(Arc<str>, Option<crate::ir::Sort>)> {
    let Some(Some(m)) = l.members.get(v) else { return Vec::new() };
    m.function.params.iter().map(|p| (m.function.var(*p).name.clone(), m.function.var(*p).sort)).collect()
}

/// What the target is in a version. `lines`: of each step.
fn target(choice: &Choice, v: usize, m: &Member, lines: &[Lines]) -> Result<Target, Problem> {
    Ok(match &choice.target {
        TargetChoice::Assertion => Target::Assertion,
        TargetChoice::Return(value) => Target::Return(*value),
        TargetChoice::Churn => {
            let mut changed: BTreeSet<u32> = lines.get(v).map(|l| l.old.clone()).unwrap_or_default();
            changed.extend(v.checked_sub(1).and_then(|v| lines.get(v)).into_iter().flat_map(|l| &l.new));
            Target::Lines(changed)
        }
        TargetChoice::Line(_, line) => {
            let mut at = Some(*line);
            for step in lines.iter().skip(v).rev() {
                at = at.and_then(|new| step.same.iter().find(|(_, n)| **n == new).map(|(old, _)| *old));
            }
            let has_code = |line: u32| {
                let node = |n: &crate::ir::Node| n.span.line == line && !matches!(n.instr, Instr::Nop);
                m.function.nodes.iter().any(node)
            };
            if v >= lines.len() && !has_code(*line) {
                return Err(Problem::NoCode { line: *line, function: m.function.name.to_string() });
            }
            Target::Lines(at.into_iter().collect())
        }
    })
}

/// The changed lines of the step to version `v`, and how the others correspond.
fn lines_of(l: &Lineage, request: &Request, v: usize) -> Lines {
    let mut lines = Lines::default();
    let (Some(Some(old)), Some(Some(new))) = (l.members.get(v - 1), l.members.get(v)) else { return lines };
    let is_it =
        |c: &&FileChange| c.old_path.as_ref() == Some(&old.file) && c.new_path.as_ref() == Some(&new.file);
    let change = request.changes.get(v - 1).and_then(|all| all.iter().find(is_it));
    let (mut at, mut to) = (1u32, 1u32);
    for h in change.map(|c| c.hunks.as_slice()).unwrap_or_default() {
        // The empty side of a hunk is named by the line before it.
        let begin = |start: u32, n: u32| if n == 0 { start.saturating_add(1) } else { start };
        while at < begin(h.old_start, h.old_lines) {
            lines.same.insert(at, to);
            (at, to) = (at + 1, to + 1);
        }
        lines.old.extend(at..at.saturating_add(h.old_lines));
        lines.new.extend(to..to.saturating_add(h.new_lines));
        if h.old_lines == h.new_lines {
            lines.same.extend((at..at.saturating_add(h.old_lines)).zip(to..));
        }
        at = begin(h.old_start, h.old_lines).saturating_add(h.old_lines);
        to = begin(h.new_start, h.new_lines).saturating_add(h.new_lines);
    }
    while at <= old.function.span.end_line {
        lines.same.insert(at, to);
        (at, to) = (at.saturating_add(1), to.saturating_add(1));
    }
    lines
}
