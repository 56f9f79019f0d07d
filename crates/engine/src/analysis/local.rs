//! What changes where the text does: local differencing of every function whose own text a step changes, for the
//! report and for the account of hunks.

use super::handed_over::{self, HandedOver};
use super::lineage::{Lineage, Member, undeclared};
use super::new_names::{self, NewNames};
use super::objects::Renaming;
use super::request::{FileChange, Hunk, Request};
use super::watch::Watch;
use crate::fault;
use crate::frontend::c::lines::code;
use crate::ir::Instr;
use crate::local::{self, Change, Share, Verdict, Version};
use crate::mvicfg::{ClassId, VersionId};
use crate::report::{
    self, ChangePlace, ChangeVerdict, Delta, Effect, HunkRef, OpenKind, Otherwise, RepoPath, Report, When,
};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The changes of functions, by lineage and the older version of a step.
#[derive(Default)]
pub(super) struct Locals {
    changes: BTreeMap<(usize, usize), Vec<Change>>,
    /// The lines of both versions that only say where control goes, of functions that were compared.
    structure: BTreeMap<(usize, usize), [BTreeSet<u32>; 2]>,
    /// See [`handed_over`].
    handed_over: HandedOver,
    pub queries: u64,
    /// Functions that were left out because the work was over.
    pub not_begun: usize,
}

/// The texts of files, each read once however many functions of it are compared.
#[derive(Default)]
struct Sources(Mutex<BTreeMap<(VersionId, PathBuf), Arc<Source>>>);

struct Source {
    bytes: Arc<[u8]>,
    lines: Vec<String>,
    code: OnceLock<BTreeMap<u32, String>>,
}

impl Sources {
    /// The file of a function in a version.
    fn of(&self, request: &Request, version: VersionId, m: &Member) -> Arc<Source> {
        let key = (version, m.file.clone());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let bytes = request.versions[version].tree.read(&m.file).unwrap_or_default();
            let lines = String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect();
            Arc::new(Source { bytes, lines, code: OnceLock::new() })
        };
        known.entry(key).or_insert_with(read).clone()
    }
}

impl Source {
    /// Its lines without comments.
    fn code(&self) -> &BTreeMap<u32, String> {
        self.code.get_or_init(|| code(&self.bytes))
    }
}

/// What local differencing says of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    Differs,
    Neutral,
    Open,
}

impl Locals {
    /// Compares the functions that a request changes, but for those of a step that are known to be the same at
    /// their exits: what only they themselves see is no change. `has_fault` takes down what went wrong with us.
    pub fn of(
        request: &Request,
        (lineages, renamed): (&[Lineage], Vec<Renaming>),
        is_same_at_exit: &(dyn Fn(usize, usize) -> bool + Sync),
        watch: &dyn Watch,
        has_fault: &(dyn Fn(&Lineage, &str) + Sync),
    ) -> Locals {
        let steps = request.versions.len().saturating_sub(1);
        let pairs: Vec<(usize, usize)> =
            (0..lineages.len()).flat_map(|l| (0..steps).map(move |v| (l, v))).collect();
        let handed_over = handed_over::found(lineages, steps);
        let member = |l: usize, v: usize| lineages.get(l)?.members.get(v)?.as_ref();
        let members = |(l, v): (usize, usize)| -> Option<(&Lineage, &Member, &Member)> {
            let from = handed_over.get(&(l, v)).copied().unwrap_or(l);
            Some((lineages.get(l)?, member(from, v)?, member(l, v + 1)?))
        };
        let is_changed = |at: &(usize, usize)| {
            members(*at).is_some_and(|(_, old, new)| {
                local::run_otherwise(&old.function, &new.function)
                    || !old.is_written_as(new) && !is_same_at_exit(at.0, at.1)
            })
        };
        let pairs: Vec<(usize, usize)> = pairs.into_par_iter().filter(is_changed).collect();
        let share = Share::of(pairs.len());
        let sources = Sources::default();
        let names = NewNames::of(lineages, steps, renamed);
        let left: Mutex<BTreeSet<usize>> = Mutex::default();
        let one = |(l, v): (usize, usize)| {
            let (lineage, old, new) = members((l, v))?;
            if watch.is_over() {
                left.lock().unwrap_or_else(PoisonError::into_inner).insert(l);
                return None;
            }
            watch.begins(&format!("{}: {}()", RepoPath::from(&new.file), new.function.name));
            let taker = handed_over.iter().find(|((_, step), from)| (**from, *step) == (l, v));
            if let Some(taker) = taker.and_then(|((taker, _), _)| member(*taker, v + 1)) {
                let lines = [old, new].map(|m| (m.function.span.line..=m.function.span.end_line).collect());
                let change = Change::handed_over(&taker.function.name, lines);
                return Some(((l, v), vec![change], Default::default(), 0));
            }
            let [from, to] = VersionId::of_step(v);
            let (before, now) = (sources.of(request, from, old), sources.of(request, to, new));
            let renamed = names.older(v, old, new);
            let old = renamed.as_ref().map_or(old, |(old, _)| old);
            let compared = fault::caught(|| compare([(old, &before), (new, &now)], share));
            let (mut changes, queries) = compared.unwrap_or_else(|reason| {
                has_fault(lineage, &reason);
                None
            })?;
            if let Some((_, names)) = &renamed {
                new_names::call_by_old_names(&mut changes, names);
            }
            give_lines(&mut changes, &hunks_of(request, v, old, new));
            let structure = [structure(old, &before), structure(new, &now)];
            Some(((l, v), changes, structure, queries as u64))
        };
        let found: Vec<_> = pairs.into_par_iter().filter_map(one).collect();
        let not_begun = left.lock().unwrap_or_else(PoisonError::into_inner).len();
        let queries = found.iter().map(|(.., q)| q).sum();
        let mut locals = Locals { handed_over, queries, not_begun, ..Locals::default() };
        for (at, changes, structure, _) in found {
            locals.changes.insert(at, changes);
            locals.structure.insert(at, structure);
        }
        locals
    }

    /// Takes out the functions of which it turned out that they are the same at their exits.
    pub fn leave_out(&mut self, lineages: &[Lineage], is_same_at_exit: &dyn Fn(usize, usize) -> bool) {
        let is_left_out = |(l, step): (usize, usize)| {
            let members = lineages.get(l).map(|l| l.members.as_slice()).unwrap_or_default();
            let [Some(old), Some(new)] = members.get(step..step + 2).unwrap_or_default() else {
                return false;
            };
            is_same_at_exit(l, step) && !local::run_otherwise(&old.function, &new.function)
        };
        self.changes.retain(|at, _| !is_left_out(*at));
        self.structure.retain(|at, _| self.changes.contains_key(at));
    }

    /// Whether something of a function is open, or it was not compared at a step.
    pub fn is_open(&self, lineage: usize, mut steps: impl Iterator<Item = usize>) -> bool {
        steps.any(|step| !self.is_told(lineage, step))
    }

    /// What became of a line of the older (0) or the newer (1) version of a step, which lies in a function. `alone`:
    /// nothing else of its hunk is told; `moved`: a statement there that both versions have stands somewhere else in
    /// the other one.
    pub fn line(
        &self,
        (lineage, step): (usize, usize),
        (side, line): (usize, u32),
        (alone, moved): (bool, bool),
    ) -> Option<Told> {
        let changes = self.changes.get(&(lineage, step))?;
        let here = changes.iter().filter(|c| c.lines[side].contains(&line));
        let told = |c: &Change| match c.verdict {
            Verdict::Neutral => Told::Neutral,
            Verdict::Differs if c.rest.is_none() => Told::Differs,
            Verdict::Differs | Verdict::Open(_) => Told::Open,
        };
        let mut all: Vec<Told> = here.map(told).collect();
        let is_structure =
            || self.structure.get(&(lineage, step)).is_some_and(|both| both[side].contains(&line));
        // A brace, `else` or a label on a line of its own says which statements are reached, and no region has it:
        // what is told of the function may come from there, unless its hunk tells something itself.
        if all.is_empty() && alone && (moved || is_structure()) {
            all.extend(changes.iter().map(told));
        }
        Some(match () {
            () if all.contains(&Told::Open) => Told::Open,
            () if all.contains(&Told::Differs) => Told::Differs,
            // A line of no region is one of a statement that both versions have, or of none.
            () => Told::Neutral,
        })
    }

    /// Whether something is told of a function, and nothing of it is open.
    pub fn differs(&self, lineage: usize, step: usize) -> bool {
        let changes = self.changes.get(&(lineage, step));
        self.is_told(lineage, step)
            && changes.is_some_and(|all| all.iter().any(|c| c.verdict == Verdict::Differs))
    }

    /// Whether a line is one of a region.
    pub fn has_region(&self, lineage: usize, step: usize, side: usize, line: u32) -> bool {
        let changes = self.changes.get(&(lineage, step));
        changes.is_some_and(|all| all.iter().any(|c| c.lines[side].contains(&line)))
    }

    /// What keeps a line open.
    pub fn why_open(&self, lineage: usize, step: usize, side: usize, line: u32) -> Option<String> {
        let changes = self.changes.get(&(lineage, step))?;
        let why = |c: &&Change| match &c.verdict {
            Verdict::Open(reason) => Some(reason.clone()),
            _ => c.rest.clone(),
        };
        let here = || changes.iter().filter(|c| c.lines[side].contains(&line));
        match here().next() {
            Some(_) => here().find_map(|c| why(&c)),
            None => changes.iter().find_map(|c| why(&c)),
        }
    }

    /// Whether all of a function's regions were told.
    pub fn is_told(&self, lineage: usize, step: usize) -> bool {
        let settled = |c: &Change| !matches!(c.verdict, Verdict::Open(_)) && c.rest.is_none();
        self.changes.get(&(lineage, step)).is_some_and(|changes| changes.iter().all(settled))
    }

    /// Adds the changes to the report's functions.
    pub fn tell(&self, report: &mut Report, request: &Request, lineages: &[Lineage]) {
        report.cost.solver_queries += self.queries;
        for ((l, step), changes) in &self.changes {
            let Some(lineage) = lineages.get(*l) else { continue };
            let Some((_, newest)) = lineage.newest() else { continue };
            let file = RepoPath::from(newest.file.as_path());
            let is_it = |f: &&mut report::FunctionReport| f.file == file && *f.name == *newest.function.name;
            let Some(function) = report.functions.iter_mut().find(is_it) else { continue };
            if let Some(from) = self.handed_over.get(&(*l, *step)).and_then(|from| lineages.get(*from)) {
                let from = from.members.get(*step).and_then(Option::as_ref);
                function.identity.kind = report::IdentityKind::Split;
                function.identity.from =
                    from.map(|m| format!("{}:{}", RepoPath::from(&m.file), m.function.name));
            }
            let own = request.changes.get(*step).map(Vec::as_slice).unwrap_or_default();
            let path = lineage.members.get(step + 1).and_then(Option::as_ref).map(|m| &m.file);
            let of_file = own.iter().find(|c| c.new_path.as_ref() == path);
            for change in changes {
                let mut told = converted(change, *step, of_file);
                let members = lineage.members.iter().skip(*step).take(2).flatten();
                let invented: BTreeSet<String> = members
                    .flat_map(|m| &m.function.invented)
                    .map(|name| format!("invented-type({name})"))
                    .collect();
                told.assumptions.extend(invented);
                if let (Some(Some(old)), Some(Some(new))) =
                    (lineage.members.get(*step), lineage.members.get(step + 1))
                {
                    let names = undeclared(old, new, own).into_iter().map(|u| {
                        let when = if u.now { "now" } else { "before" };
                        format!("undeclared-{when}({})", u.name)
                    });
                    told.assumptions.extend(names);
                }
                let said = said(&told);
                let ordinal = function.changes.iter().filter(|c| self::said(c) == said).count();
                let id = blake3::hash(format!("change {} {said} {ordinal}", function.name).as_bytes());
                id.to_hex()[..16].clone_into(&mut told.id);
                function.changes.push(told);
            }
        }
    }

    /// What a first look left out is no question where the change itself is told: here, or where what it uses changed.
    /// After the objects.
    pub fn settle_left_out(&self, report: &mut Report, request: &Request, lineages: &[Lineage]) {
        if !request.analysis.limits.budget.is_first_look() {
            return;
        }
        let changes = report.functions.iter().flat_map(|f| &f.changes).map(|c| c.verdict);
        let mut told = changes.chain(report.objects.iter().map(|o| o.verdict));
        let is_something_told = told.any(|verdict| verdict == ChangeVerdict::Differs);
        let mut callers = 0;
        for (l, lineage) in lineages.iter().enumerate() {
            let Some((_, newest)) = lineage.newest() else { continue };
            let file = RepoPath::from(newest.file.as_path());
            let is_it = |f: &&mut report::FunctionReport| f.file == file && *f.name == *newest.function.name;
            let Some(function) = report.functions.iter_mut().find(is_it) else { continue };
            let is_open = function.points.iter().any(|p| !p.undecided.is_empty());
            let mut steps = self.changes.keys().filter(|(k, _)| *k == l).peekable();
            let is_told = steps.peek().is_some() && steps.all(|(_, step)| self.is_told(l, *step));
            if is_open && !lineage.is_edited() && is_something_told {
                callers += usize::from(!request.analysis.is_local());
                function.points.iter_mut().for_each(|p| p.undecided.clear());
                continue;
            }
            for point in &mut function.points {
                let is_left_out = |u: &report::Undecided| u.kind == OpenKind::LeftOut;
                point.undecided.retain(|u| !is_told || !is_left_out(u));
                for open in point.undecided.iter_mut().filter(|u| is_left_out(u)) {
                    open.raise = Some("--effort deep".to_owned());
                }
            }
            let is_decided = function.points.iter().all(|p| p.undecided.is_empty());
            function.complete |= is_told && is_decided && function.unknowns.is_empty();
        }
        if callers > 0 {
            let them = if callers == 1 { "1 function that uses" } else { "functions that use" };
            let number = if callers == 1 { String::new() } else { format!("{callers} ") };
            report.notices.push(format!(
                "note: of {number}{them} what changed only few runs were compared; --effort deep asks more"
            ));
        }
    }
}

/// The hunks of a step that lie in a function, as ranges of lines of both versions.
fn hunks_of(request: &Request, step: usize, old: &Member, new: &Member) -> Vec<[Range<u32>; 2]> {
    let own = request.changes.get(step).map(Vec::as_slice).unwrap_or_default();
    let of_file = own
        .iter()
        .filter(|c| c.old_path.as_deref() == Some(&*old.file) && c.new_path.as_deref() == Some(&*new.file));
    let meets = |m: &Member, start: u32, lines: u32| {
        start <= m.function.span.end_line && start.saturating_add(lines) > m.function.span.line
    };
    let of_function = of_file
        .flat_map(|c| &c.hunks)
        .filter(|h| meets(old, h.old_start, h.old_lines) || meets(new, h.new_start, h.new_lines));
    let ranges = |h: &Hunk| {
        [
            h.old_start..h.old_start.saturating_add(h.old_lines),
            h.new_start..h.new_start.saturating_add(h.new_lines),
        ]
    };
    of_function.map(ranges).collect()
}

/// A change of where control goes may have no statement of its own: braces, `else`, labels. It is told of the hunks
/// that nothing else is told of, or else of all; where it is open and all are told of, of the one that is nearest.
fn give_lines(changes: &mut [Change], hunks: &[[Range<u32>; 2]]) {
    let is_met = |c: &Change, h: &[Range<u32>; 2]| {
        c.lines.iter().zip(h).any(|(lines, h)| lines.range(h.clone()).next().is_some())
    };
    let counts = |c: &Change| c.verdict != Verdict::Neutral || c.rest.is_some();
    let free: Vec<&[Range<u32>; 2]> =
        hunks.iter().filter(|h| !changes.iter().any(|c| counts(c) && is_met(c, h))).collect();
    let all: Vec<&[Range<u32>; 2]> = hunks.iter().collect();
    for change in changes.iter_mut().filter(|c| counts(c)) {
        if hunks.iter().any(|h| is_met(change, h)) {
            continue;
        }
        let distance = |h: &&&[Range<u32>; 2]| {
            let far = |side: usize| change.at[side].map_or(u32::MAX, |at| at.abs_diff(h[side].start));
            far(1).min(far(0))
        };
        let nearest: Vec<_> = all.iter().min_by_key(distance).copied().into_iter().collect();
        let given = match (free.is_empty(), change.rest.is_some()) {
            (false, _) => &free,
            (true, true) => &nearest,
            (true, false) => &all,
        };
        for h in given {
            change.lines.iter_mut().zip(h.iter()).for_each(|(lines, h)| lines.extend(h.clone()));
        }
    }
}

/// The lines of a function that say where control goes and hold no statement that does something.
fn structure(m: &Member, source: &Source) -> BTreeSet<u32> {
    let body = &m.function;
    let own = body.nodes.iter().filter(|n| !matches!(n.instr, Instr::Nop) && n.span.file == body.span.file);
    let statements: BTreeSet<u32> = own
        .flat_map(|n| n.span.line..=n.span.end_line.clamp(n.span.line, n.span.line.saturating_add(20)))
        .collect();
    let inside = source.code().range(body.span.line..=body.span.end_line.max(body.span.line));
    let found = inside.filter(|(line, text)| !statements.contains(line) && is_structure(text));
    found.map(|(line, _)| *line).collect()
}

/// Whether the code of a line has braces, a label, an empty statement, or a word that leads somewhere.
fn is_structure(text: &str) -> bool {
    const WORDS: [&str; 7] = ["else", "do", "break", "continue", "goto", "case", "default"];
    let text = text.trim();
    let mut words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    text.contains(['{', '}']) || text.ends_with(':') || text == ";" || words.any(|w| WORDS.contains(&w))
}

fn compare(
    [(old, before), (new, now)]: [(&Member, &Source); 2],
    share: Share,
) -> Option<(Vec<Change>, usize)> {
    let texts = [&before.lines, &now.lines];
    let source = |class: ClassId, line: u32| {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        texts.get(class.index())?.get(index).cloned()
    };
    local::compare(
        Version { body: &old.function, unit: &old.unit },
        Version { body: &new.function, unit: &new.unit },
        &source,
        share,
    )
}

/// The loop around a change, and where control comes from.
fn context(change: &Change) -> Option<String> {
    let around = change.in_loop.map(|line| format!("in the loop of line {line}"));
    let from = change.from_line.map(|line| format!("coming from line {line}"));
    let parts: Vec<String> = around.into_iter().chain(from).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn converted(change: &Change, step: usize, file: Option<&FileChange>) -> report::Change {
    let (from, to) = (step as u32 + 1, step as u32 + 2);
    let is_met = |h: &&Hunk| {
        change.lines[0].range(h.old_start..h.old_start.saturating_add(h.old_lines)).next().is_some()
            || change.lines[1].range(h.new_start..h.new_start.saturating_add(h.new_lines)).next().is_some()
    };
    let path = file.and_then(|f| f.new_path.as_deref()).map(RepoPath::from).unwrap_or_default();
    let hunk = |h: &Hunk| HunkRef {
        file: path.clone(),
        old_start: h.old_start,
        old_lines: h.old_lines,
        new_start: h.new_start,
        new_lines: h.new_lines,
    };
    let effect = |e: &local::Effect| Effect {
        kind: e.kind.name().to_owned(),
        text: e.words.to_string(),
        c: None,
        line: e.line,
    };
    let delta = |d: &local::Delta| Delta {
        when: When { text: d.when.clone(), short: d.short.clone(), c: None },
        before: d.before.iter().map(effect).collect(),
        now: d.now.iter().map(effect).collect(),
        evidence: "satisfiable".to_owned(),
        no_caller: d.no_caller,
    };
    let mut deltas: Vec<Delta> = change.deltas.iter().map(delta).collect();
    deltas.sort_by_key(|d| d.no_caller);
    let (verdict, reason) = match &change.verdict {
        Verdict::Neutral => (ChangeVerdict::Neutral, None),
        Verdict::Differs => (ChangeVerdict::Differs, change.rest.clone()),
        Verdict::Open(reason) => (ChangeVerdict::Open, Some(reason.clone())),
    };
    let numbered = change.at.iter().zip([from, to]).filter_map(|(line, v)| Some((v, (*line)?)));
    report::Change {
        id: String::new(),
        from,
        to,
        hunks: file.map(|f| f.hunks.iter().filter(is_met).map(hunk).collect()).unwrap_or_default(),
        under: None,
        at: ChangePlace { lines: numbered.collect(), context: context(change), tests: change.tests.clone() },
        verdict,
        reason,
        deltas,
        otherwise: if change.rest.is_none() { Otherwise::Same } else { Otherwise::Open },
        age: None,
        assumptions: [
            (change.apart, "calls-apart"),
            (change.valid, "valid-accesses"),
            (change.unwrapped, "no-overflow"),
            (change.by_members, "by-members"),
        ]
        .into_iter()
        .filter(|(is_made, _)| *is_made)
        .map(|(_, name)| name.to_owned())
        .chain(change.fits.iter().map(ToString::to_string))
        .collect(),
    }
}

/// What a change says, without the lines that it names: what its id is made of.
fn said(change: &report::Change) -> String {
    let placeless = |text: &str| {
        let mut words = Vec::new();
        let mut after_line = false;
        for word in text.split(' ') {
            let number = word.trim_end_matches([':', ',']);
            let is_number = after_line && !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
            words.push(if is_number { "_" } else { word });
            after_line = word == "line";
        }
        words.join(" ")
    };
    let effects = |all: &[Effect]| all.iter().map(|e| placeless(&e.text)).collect::<Vec<_>>().join("; ");
    let one =
        |d: &Delta| format!("{} | {} | {}", placeless(&d.when.text), effects(&d.before), effects(&d.now));
    let deltas = change.deltas.iter().map(one).collect::<Vec<_>>().join("\n");
    format!("{:?} {:?}\n{deltas}", change.verdict, change.reason)
}
