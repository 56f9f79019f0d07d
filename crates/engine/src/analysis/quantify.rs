//! Counts of a range: each function that it changes, version by version and step by step.

use super::lineage::{Lineage, Member};
use super::loaded::Loaded;
use super::request::{FileChange, Hunk, Request};
use super::{classes, workers};
use crate::count::{Counter, Domain, Input, Interval, NoFloats, Questions, Range, Values};
use crate::ir::{Instr, TermId, TermPool};
use crate::mvicfg::VersionId;
use crate::mvicfg::key::exact_body_hash;
use crate::quantify::tree::Tree;
use crate::quantify::{
    Aim, Candidate, Comparer, Comparison, Explored, Keeper, Limits, Lines, Nowhere, TOO_LARGE, Target,
    Totals, bytes, candidates, encoded, followed, pointers, totals,
};
use crate::report::RepoPath;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

mod exploring;
mod suites;
mod trees;
mod usage;
mod words;

use exploring::Explorations;
use suites::Subject;
pub use suites::{Suite, Tested};
pub use usage::{Factor, Row};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Choice {
    /// Ranges by input.
    pub domains: BTreeMap<String, Interval>,
    /// How often each value of an input counts, by ranges; inputs that are not named count each value once.
    pub weights: BTreeMap<String, Vec<(Range, i128)>>,
    /// Distributions of several inputs at once.
    pub factors: Vec<Factor>,
    /// Lengths of the strings that parameters point to, by parameter.
    pub lengths: BTreeMap<String, Range>,
    /// Names that have to be inputs; others need not be.
    pub asked: BTreeSet<String>,
    /// The profile is the project's: a function that it says nothing of is counted evenly, and no error.
    pub is_projects: bool,
    pub target: TargetChoice,
    /// Nothing but the target is counted, and paths are followed as long as they may meet it.
    pub is_target_only: bool,
    pub limits: Limits,
    /// Each version is also compared with the first.
    pub with_first: bool,
    /// Most nodes of each version's tree; none: no trees are made.
    pub tree: Option<usize>,
    pub suite: Option<Suite>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TargetChoice {
    Assertion,
    Return(i128),
    /// A line of the newest version that is reached.
    Line(PathBuf, u32),
    /// A condition on a line of the newest version that is true.
    Branch(PathBuf, u32),
    /// A changed line is reached.
    Churn,
}

/// The counts of one function.
#[derive(Debug)]
pub struct Quantified {
    pub file: PathBuf,
    pub name: Arc<str>,
    pub inputs: Vec<InputRange>,
    /// Inputs in the domain, by their weights.
    pub size: i128,
    /// Some input's values do not all count once.
    pub is_weighted: bool,
    /// Nothing but the target is counted, and no step is compared.
    pub is_target_only: bool,
    /// By version; `None` where it does not exist.
    pub versions: Vec<Option<Counted>>,
    /// From each version to the next: what was compared, or why nothing was.
    pub steps: Vec<Result<Comparison, &'static str>>,
    /// The condition on which they differ, where it takes few words.
    pub differ_when: Vec<Option<String>>,
    /// The same from the first version to each later one, where that was asked for.
    pub with_first: Vec<Result<Comparison, &'static str>>,
    /// How lines correspond, by step.
    pub lines: Vec<Lines>,
    /// What the suite covers, where one was given.
    pub tested: Option<Tested>,
}

/// An input with its range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRange {
    pub name: String,
    pub range: Interval,
    /// None was given.
    pub is_usual: bool,
    /// Each float of the range is a value.
    pub is_every_float: bool,
}

#[derive(Debug)]
pub struct Counted {
    pub totals: Totals,
    pub states: u64,
    /// States that no older version had.
    pub explored: u64,
    pub paths: usize,
    /// Counts that were made, and those that an earlier version had.
    pub questions: Questions,
    pub tree: Option<Tree>,
}

/// Why a function has no counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No function has this input; all names that there are.
    NoInput {
        name: String,
        known: Vec<String>,
    },
    /// The range leaves the input's type.
    OutOfType {
        name: String,
        whole: Range,
    },
    /// The range of an integer is not one of whole numbers.
    NotWhole {
        name: String,
    },
    /// The range of a float has no values that can be counted.
    NoFloats {
        name: String,
        why: NoFloats,
    },
    /// A profile says how likely values of a float are.
    FloatProfile {
        name: String,
    },
    /// The domain of this function has more than `2^120` inputs.
    TooLarge {
        function: String,
    },
    /// No sample of a profile is one of this function.
    NoSample {
        function: String,
    },
    /// Two inputs are distributed each by the other.
    Circle {
        name: String,
    },
    /// How an input is distributed is not said for a value of the one that it depends on.
    NotCovered {
        name: String,
        given: String,
        value: i128,
    },
    /// A function has one of two inputs, and not the one that it depends on.
    NoGiven {
        name: String,
        given: String,
        function: String,
    },
    /// Rows of a profile, all together, are too many, or their weights have too many digits.
    ManyRows {
        most: usize,
    },
    ManyDigits,
    /// The line has no code in the function, or no branch.
    NoCode {
        line: u32,
        function: String,
        is_branch: bool,
        nearest: Option<u32>,
    },
}

/// Which functions are counted.
pub struct Wanted<'a> {
    /// Asked for by file and name.
    pub is_it: &'a (dyn Fn(&RepoPath, &str) -> bool + Sync),
    /// They are counted whether or not they differ.
    pub is_named: bool,
}

/// Counts functions of a range: those that differ, or that are named. Cost: parsing and lowering, paths,
/// counts within the limits; no solver.
pub fn quantify(
    request: &Request,
    choice: &Choice,
    wanted: &Wanted,
    keeper: &dyn Keeper,
) -> Result<Vec<Quantified>, Problem> {
    workers::in_pool(request, || {
        let loaded = Loaded::of(request);
        let at = match &choice.target {
            TargetChoice::Line(file, line) | TargetChoice::Branch(file, line) => Some((file, *line)),
            _ => None,
        };
        let is_wanted = |l: &&Lineage| {
            let Some((_, m)) = l.newest() else { return false };
            let is_around = |line: u32| m.function.span.line <= line && line <= m.function.span.end_line;
            let has_target = at.is_none_or(|(file, line)| m.file == *file && is_around(line));
            let is_asked = (wanted.is_it)(&RepoPath::from(&m.file), &m.function.name);
            has_target && is_asked && (wanted.is_named || at.is_some() || differs(l))
        };
        let mut lineages: Vec<&Lineage> = loaded.lineages.iter().filter(is_wanted).collect();
        let place = |l: &&Lineage| l.newest().map(|(_, m)| (m.file.clone(), m.function.span.line));
        lineages.sort_by_key(place);
        check_names(&lineages, choice)?;
        lineages.into_iter().map(|l| of_lineage(l, request, choice, keeper)).collect()
    })
}

/// Whether versions of a function, or of what is followed from it, differ.
fn differs(l: &Lineage) -> bool {
    let bodies = |m: &Member| -> Vec<(Arc<str>, String)> {
        let followed = followed(&m.function, &m.unit);
        followed.into_iter().map(|f| (f.name.clone(), exact_body_hash(f))).collect()
    };
    let mut of = l.members.iter().map(|m| m.as_ref().map(bodies));
    let first = of.next();
    classes::is_changed(l) || of.any(|other| Some(other) != first)
}

/// What was asked for by name is some function's input.
fn check_names(lineages: &[&Lineage], choice: &Choice) -> Result<(), Problem> {
    let mut known: BTreeSet<String> = BTreeSet::new();
    for m in lineages.iter().flat_map(|l| l.members.iter().flatten()) {
        let mut pool = TermPool::new();
        known.extend(own_candidates(m, choice, &mut pool).iter().map(|c| c.name.to_string()));
        known.extend(pointers(&m.function).iter().map(|p| length_of(p)));
    }
    let of_suite = choice.suite.iter().flat_map(|s| &s.names);
    match choice.asked.iter().chain(of_suite).find(|name| !known.contains(*name)) {
        Some(name) => Err(Problem::NoInput { name: name.clone(), known: known.into_iter().collect() }),
        None => Ok(()),
    }
}

/// A function's inputs in all versions.
struct Inputs {
    by_version: Vec<Option<Vec<Candidate>>>,
    all: Vec<Candidate>,
    /// The numbers of the values of each, and what they stand for.
    numbers: BTreeMap<TermId, (Range, Values)>,
}

impl Inputs {
    fn of(l: &Lineage, choice: &Choice, pool: &mut TermPool) -> Result<Inputs, Problem> {
        let by_version: Vec<Option<Vec<Candidate>>> =
            l.members.iter().map(|m| m.as_ref().map(|m| own_candidates(m, choice, pool))).collect();
        let mut all: Vec<Candidate> = Vec::new();
        for c in by_version.iter().flatten().flatten() {
            if all.iter().all(|known| known.term != c.term) {
                all.push(c.clone());
            }
        }
        let numbers =
            all.iter().map(|c| Ok((c.term, numbers(c, choice)?))).collect::<Result<_, Problem>>()?;
        Ok(Inputs { by_version, all, numbers })
    }

    fn domain(&self, choice: &Choice) -> Domain {
        let input = |c: &Candidate| {
            let weights = choice.weights.get(&*c.name).cloned().unwrap_or_default();
            let (range, values) = self.numbers.get(&c.term).cloned().unwrap_or(((0, 0), Values::Own));
            Input { term: c.term, range, values, weights }
        };
        Domain { inputs: self.all.iter().map(input).collect() }
    }

    /// The domain in words.
    fn spelled(&self, choice: &Choice) -> String {
        let weights = |c: &Candidate| choice.weights.get(&*c.name);
        let inputs = self.all.iter().map(|c| format!("{}: {:?} {:?}\n", c.name, choice.range(c), weights(c)));
        inputs.chain(choice.factors.iter().map(|f| format!("{f:?}\n"))).collect()
    }

    /// The counter of the domain, with what a profile says of it.
    fn counter(&self, choice: &Choice) -> Result<Counter, Problem> {
        let domain = self.domain(choice);
        let boxes = usage::boxes(choice, self, &domain)?;
        Ok(Counter::weighted(domain, boxes))
    }

    /// Leaves out globals that no version reads before it writes them, and that nothing else depends on.
    fn retain_used(&mut self, explored: &[Option<Explored>], factors: &[Factor]) {
        let by_version = &self.by_version;
        let is_used = |c: &Candidate| {
            explored.iter().zip(by_version).any(|pair| match pair {
                (Some(e), Some(own)) => {
                    own.iter().position(|o| o.term == c.term).is_some_and(|i| e.used.contains(&i))
                }
                _ => false,
            })
        };
        let used: BTreeSet<Arc<str>> =
            self.all.iter().filter(|c| is_used(c)).map(|c| c.name.clone()).collect();
        let given = factors.iter().filter_map(|f| f.given.and_then(|k| f.names.get(k)));
        let given: BTreeSet<&str> = given.map(String::as_str).collect();
        self.all.retain(|c| used.contains(&c.name) || given.contains(&*c.name));
    }
}

impl Choice {
    fn range(&self, c: &Candidate) -> Interval {
        self.domains.get(&*c.name).copied().unwrap_or_else(|| c.usual())
    }

    /// Whether a profile says how likely an input's values are.
    pub fn is_weighted(&self, name: &str) -> bool {
        self.weights.contains_key(name)
            || self.factors.iter().any(|f| !f.is_even && f.names.iter().any(|n| n == name))
    }
}

/// The numbers of an input's values.
fn numbers(c: &Candidate, choice: &Choice) -> Result<(Range, Values), Problem> {
    let (name, range) = (c.name.to_string(), choice.range(c));
    let Some(sort) = c.float else {
        let Some((low, high)) = range.as_whole() else { return Err(Problem::NotWhole { name }) };
        return match low < c.whole.0 || high > c.whole.1 {
            true => Err(Problem::OutOfType { name, whole: c.whole }),
            false => Ok(((low, high), Values::Own)),
        };
    };
    let is_own = |f: &Factor| f.names.contains(&name);
    if choice.weights.contains_key(&name) || choice.factors.iter().any(is_own) {
        return Err(Problem::FloatProfile { name });
    }
    range.numbers(sort).map_err(|why| Problem::NoFloats { name, why })
}

/// The candidates of a version, with the bytes of its strings.
fn own_candidates(m: &Member, choice: &Choice, pool: &mut TermPool) -> Vec<Candidate> {
    let mut all = candidates(&m.function, &m.unit, pool);
    all.extend(bytes(&m.function, &choice.lengths, pool));
    all
}

/// How the length of a string is named.
fn length_of(parameter: &str) -> String {
    format!("len({parameter})")
}

/// What a choice says of one function.
fn own_choice(l: &Lineage, choice: &Choice, name: &str, pool: &mut TermPool) -> Result<Choice, Problem> {
    let mut choice = choice.clone();
    let texts: BTreeSet<Arc<str>> = l.members.iter().flatten().flat_map(|m| pointers(&m.function)).collect();
    let lengths = choice.lengths.iter().filter(|(of, _)| texts.contains(of.as_str()));
    choice.factors.extend(lengths.map(|(of, range)| Factor::of_string(of, *range)));
    let choice = &choice;
    if choice.factors.is_empty() {
        return Ok(choice.clone());
    }
    let members = l.members.iter().flatten();
    let known: BTreeSet<Arc<str>> =
        members.flat_map(|m| own_candidates(m, choice, pool)).map(|c| c.name).collect();
    let known: Vec<&str> = known.iter().map(|n| &**n).collect();
    usage::of_function(choice, name, &known)
}

/// Counts a function. Where the steps of counting are used up, what is found would depend on what was kept: nothing
/// that was kept counts then.
fn of_lineage(
    l: &Lineage,
    request: &Request,
    choice: &Choice,
    keeper: &dyn Keeper,
) -> Result<Quantified, Problem> {
    let (found, is_known) = one(l, request, choice, keeper)?;
    let is_spent = |c: &Counted| c.totals.reasons.contains_key(TOO_LARGE);
    match is_known && found.versions.iter().flatten().any(is_spent) {
        true => Ok(one(l, request, choice, &Nowhere)?.0),
        false => Ok(found),
    }
}

/// The counts, and whether trees that were kept are part of them.
fn one(
    l: &Lineage,
    request: &Request,
    choice: &Choice,
    keeper: &dyn Keeper,
) -> Result<(Quantified, bool), Problem> {
    let Some((_, newest)) = l.newest() else { return Err(Problem::TooLarge { function: String::new() }) };
    let too_large = || Problem::TooLarge { function: newest.function.name.to_string() };
    let mut pool = TermPool::new();
    let choice = &own_choice(l, choice, &newest.function.name, &mut pool)?;
    let mut inputs = Inputs::of(l, choice, &mut pool)?;
    let lines: Vec<Lines> =
        (0..l.members.len().saturating_sub(1)).map(|step| lines_of(l, request, step)).collect();
    let of_version =
        |(v, m): (VersionId, &Option<Member>)| m.as_ref().map(|m| target(choice, v, m, &lines)).transpose();
    let targets: Vec<Option<Target>> =
        VersionId::each(&l.members).map(of_version).collect::<Result<_, _>>()?;
    let aim = |(m, t): (&Option<Member>, &Option<Target>)| {
        let (m, t) = (m.as_ref()?, t.as_ref().filter(|_| choice.is_target_only)?);
        Some(Aim::at(t.clone(), &m.function, &m.unit))
    };
    let aims: Vec<Option<Aim>> = l.members.iter().zip(&targets).map(aim).collect();
    let Explorations { mut explored, asked, kept_under, is_known } =
        exploring::all(l, choice, &inputs, &aims, &mut pool, keeper);
    inputs.retain_used(&explored, &choice.factors);
    let mut counter = inputs.counter(choice)?;
    let counted_over = inputs.spelled(choice);
    for e in explored.iter_mut().flatten().filter(|e| e.counted_over != counted_over) {
        e.counted_over.clone_from(&counted_over);
        e.paths.iter_mut().for_each(|path| path.count = None);
    }
    let mut versions = Vec::new();
    for (v, e) in VersionId::first(explored.len()).zip(&mut explored) {
        let (Some(e), Some(target)) = (e, &targets[v]) else {
            versions.push(None);
            continue;
        };
        let before = counter.questions();
        let totals = totals(e, &mut pool, &mut counter, target, choice.limits.work).ok_or_else(too_large)?;
        if let Some(own) = kept_under[v].as_ref().filter(|_| !totals.reasons.contains_key(TOO_LARGE)) {
            e.tree.keep_counts(&e.paths);
            if let Some(bytes) = encoded(e) {
                keeper.put(own, &bytes);
            }
        }
        let counts = since(before, counter.questions());
        let looks = asked[v];
        let questions = Questions { asked: counts.asked + looks.asked, known: counts.known + looks.known };
        let (states, explored, paths) = (e.states, e.explored, e.paths.len());
        versions.push(Some(Counted { totals, states, explored, paths, questions, tree: None }));
    }
    let mut compared = |[from, to]: [VersionId; 2], lines: &Lines| {
        let (Some(old), Some(new)) = (&explored[from], &explored[to]) else {
            return Err("one version does not have it");
        };
        if parameters(l, from) != parameters(l, to) {
            return Err("its parameters differ");
        }
        let candidates = &inputs.all;
        let (pool, counter) = (&mut pool, &mut counter);
        let mut comparer = Comparer { pool, counter, candidates, lines, limits: choice.limits };
        comparer.compare_all(old, new).ok_or("there are more pairs of paths than the bound")
    };
    let is_compared = |_: &(usize, &Lines)| !choice.is_target_only;
    let of_step = |(step, lines): (usize, &Lines)| compared(VersionId::of_step(step), lines);
    let steps: Vec<Result<Comparison, &'static str>> =
        lines.iter().enumerate().filter(is_compared).map(of_step).collect();
    let with_first = match choice.with_first {
        true => VersionId::first(l.members.len())
            .skip(1)
            .map(|v| compared([VersionId::OLD, v], &lines_from_first(l, request, v)))
            .collect(),
        false => Vec::new(),
    };
    let when = |(found, m): (&Result<Comparison, _>, &Option<Member>)| {
        words::differ_when(found.as_ref().ok()?, m.as_ref()?, &inputs, &mut pool, &mut counter)
    };
    let differ_when = steps.iter().zip(l.members.iter().skip(1)).map(when).collect();
    if let Some(limit) = choice.tree {
        trees::add(&mut versions, &explored, l, &lines, limit, &mut pool, &mut counter);
    }
    let subject = Subject { inputs: &inputs, explored: &explored, l, lines: &lines, limits: choice.limits };
    let tested = choice.suite.as_ref().map(|s| suites::tested(s, &subject, &mut pool, &mut counter));
    let input = |c: &Candidate| InputRange {
        name: c.name.to_string(),
        range: choice.range(c),
        is_usual: !choice.domains.contains_key(&*c.name),
        is_every_float: c.float.is_some() && choice.range(c).step.is_none(),
    };
    let numbers = inputs.all.iter().filter(|c| c.byte.is_none()).map(input);
    let of = |of: &Arc<str>| inputs.all.iter().any(|c| c.byte.as_ref().is_some_and(|b| b.of == *of));
    let texts = pointers(&newest.function).into_iter().filter(of);
    let text = |p: Arc<str>| InputRange {
        name: length_of(&p),
        range: choice.lengths.get(&*p).copied().unwrap_or_default().into(),
        is_usual: false,
        is_every_float: false,
    };
    let shown = numbers.chain(texts.map(text)).collect();
    let found = Quantified {
        file: newest.file.clone(),
        name: newest.function.name.clone(),
        inputs: shown,
        size: counter.size().ok_or_else(too_large)?,
        is_weighted: inputs.all.iter().any(|c| choice.is_weighted(&c.name)),
        is_target_only: choice.is_target_only,
        versions,
        steps,
        differ_when,
        with_first,
        lines,
        tested,
    };
    Ok((found, is_known))
}

fn since(before: Questions, now: Questions) -> Questions {
    Questions { asked: now.asked - before.asked, known: now.known - before.known }
}

/// How lines of the first version correspond to those of version `v`, by their texts.
fn lines_from_first(l: &Lineage, request: &Request, v: VersionId) -> Lines {
    let text = |w: VersionId| -> Option<String> {
        let (member, version) = (l.members[w].as_ref()?, &request.versions[w]);
        Some(String::from_utf8_lossy(&version.tree.read(&member.file)?).into_owned())
    };
    let (Some(old), Some(new)) = (text(VersionId::OLD), text(v)) else { return Lines::default() };
    let last = u32::try_from(old.lines().count()).unwrap_or(u32::MAX);
    lines_by(&super::memory::hunks(&old, &new), last)
}

/// Names and sorts of the parameters in a version.
fn parameters(l: &Lineage, v: VersionId) -> Vec<(Arc<str>, Option<crate::ir::Sort>)> {
    let Some(m) = &l.members[v] else { return Vec::new() };
    m.function.params.iter().map(|p| (m.function.var(*p).name.clone(), m.function.var(*p).sort)).collect()
}

/// What the target is in a version. `lines`: of each step.
fn target(choice: &Choice, v: VersionId, m: &Member, lines: &[Lines]) -> Result<Target, Problem> {
    Ok(match &choice.target {
        TargetChoice::Assertion => Target::Assertion,
        TargetChoice::Return(value) => Target::Return(*value),
        TargetChoice::Churn => {
            let mut changed: BTreeSet<u32> = lines.get(v.index()).map(|l| l.old.clone()).unwrap_or_default();
            changed.extend(v.previous().and_then(|v| lines.get(v.index())).into_iter().flat_map(|l| &l.new));
            Target::Lines(changed)
        }
        TargetChoice::Line(_, line) | TargetChoice::Branch(_, line) => {
            let is_branch = matches!(choice.target, TargetChoice::Branch(..));
            let mut at = Some(*line);
            for step in lines.iter().skip(v.index()).rev() {
                at = at.and_then(|new| step.same.iter().find(|(_, n)| **n == new).map(|(old, _)| *old));
            }
            let is_it = |n: &&crate::ir::Node| match is_branch {
                true => matches!(n.instr, Instr::Branch { .. }),
                false => !matches!(n.instr, Instr::Nop),
            };
            let has_it: BTreeSet<u32> = m.function.nodes.iter().filter(is_it).map(|n| n.span.line).collect();
            if v.index() >= lines.len() && !has_it.contains(line) {
                let function = m.function.name.to_string();
                let nearest = has_it.into_iter().filter(|l| *l > 0).min_by_key(|l| l.abs_diff(*line));
                return Err(Problem::NoCode { line: *line, function, is_branch, nearest });
            }
            let lines = at.into_iter().collect();
            if is_branch { Target::Branch(lines) } else { Target::Lines(lines) }
        }
    })
}

/// The changed lines of a step, and how the others correspond.
fn lines_of(l: &Lineage, request: &Request, step: usize) -> Lines {
    let (Some(Some(old)), Some(Some(new))) = (l.members.get(step), l.members.get(step + 1)) else {
        return Lines::default();
    };
    let is_it =
        |c: &&FileChange| c.old_path.as_ref() == Some(&old.file) && c.new_path.as_ref() == Some(&new.file);
    let change = request.changes.get(step).and_then(|all| all.iter().find(is_it));
    // What is followed may stand behind the function.
    let last = old.unit.functions.iter().map(|f| f.span.end_line).max().unwrap_or(0);
    lines_by(change.map(|c| c.hunks.as_slice()).unwrap_or_default(), last)
}

/// The lines that hunks change, and how the others, up to the last of the old ones, correspond.
fn lines_by(hunks: &[Hunk], last: u32) -> Lines {
    let mut lines = Lines::default();
    let (mut at, mut to) = (1u32, 1u32);
    for h in hunks {
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
    while at <= last {
        lines.same.insert(at, to);
        (at, to) = (at.saturating_add(1), to.saturating_add(1));
    }
    lines
}
