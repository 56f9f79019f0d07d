//! What changes where the text does: local differencing of every function whose own text a step changes, for the
//! report and for the account of hunks.

use super::lineage::{Lineage, Member};
use super::{FileChange, Hunk, Request, Watch};
use crate::fault;
use crate::local::{self, Change, Verdict, Version};
use crate::mvicfg::key;
use crate::report::{
    self, ChangePlace, ChangeVerdict, Delta, Effect, HunkRef, Otherwise, RepoPath, Report, When,
};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The changes of functions, by lineage and the older version of a step.
#[derive(Default)]
pub(super) struct Locals {
    changes: BTreeMap<(usize, usize), Vec<Change>>,
    pub queries: u64,
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
        lineages: &[Lineage],
        is_same_at_exit: &(dyn Fn(usize, usize) -> bool + Sync),
        watch: &dyn Watch,
        has_fault: &(dyn Fn(&Lineage, &str) + Sync),
    ) -> Locals {
        let steps = request.versions.len().saturating_sub(1);
        let pairs: Vec<(usize, usize)> =
            (0..lineages.len()).flat_map(|l| (0..steps).map(move |v| (l, v))).collect();
        let one = |(l, v): (usize, usize)| {
            let lineage = lineages.get(l)?;
            let (old, new) = (lineage.members.get(v)?.as_ref()?, lineage.members.get(v + 1)?.as_ref()?);
            let is_same = || key::body_hash(&old.function) == key::body_hash(&new.function);
            if watch.is_over() || is_same() || is_same_at_exit(l, v) {
                return None;
            }
            let compared = fault::caught(|| compare(request, v, old, new));
            let (changes, queries) = compared.unwrap_or_else(|reason| {
                has_fault(lineage, &reason);
                None
            })?;
            Some(((l, v), changes, queries as u64))
        };
        let found: Vec<_> = pairs.into_par_iter().filter_map(one).collect();
        let queries = found.iter().map(|(.., q)| q).sum();
        Locals { changes: found.into_iter().map(|(at, changes, _)| (at, changes)).collect(), queries }
    }

    /// What became of a line of the older (0) or the newer (1) version of a step, which lies in a function.
    pub fn line(&self, lineage: usize, step: usize, side: usize, line: u32) -> Option<Told> {
        let changes = self.changes.get(&(lineage, step))?;
        let here = changes.iter().filter(|c| c.lines[side].contains(&line));
        let told = |c: &Change| match c.verdict {
            Verdict::Neutral => Told::Neutral,
            Verdict::Differs if c.rest.is_none() => Told::Differs,
            Verdict::Differs | Verdict::Open(_) => Told::Open,
        };
        let all: Vec<Told> = here.map(told).collect();
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
    pub fn why_open(&self, lineage: usize, step: usize, side: usize, line: u32) -> Option<&str> {
        let here = self.changes.get(&(lineage, step))?.iter().filter(|c| c.lines[side].contains(&line));
        here.into_iter().find_map(|c| match &c.verdict {
            Verdict::Open(reason) => Some(reason.as_str()),
            _ => c.rest.as_deref(),
        })
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
                let said = said(&told);
                let ordinal = function.changes.iter().filter(|c| self::said(c) == said).count();
                let id = blake3::hash(format!("change {} {said} {ordinal}", function.name).as_bytes());
                id.to_hex()[..16].clone_into(&mut told.id);
                function.changes.push(told);
            }
        }
    }
}

fn compare(request: &Request, step: usize, old: &Member, new: &Member) -> Option<(Vec<Change>, usize)> {
    let lines = |version: usize, m: &Member| -> Vec<String> {
        let bytes = request.versions.get(version).and_then(|v| v.tree.read(&m.file)).unwrap_or_default();
        String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()
    };
    let texts = [lines(step, old), lines(step + 1, new)];
    let source = |class: usize, line: u32| {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        texts.get(class)?.get(index).cloned()
    };
    local::compare(
        Version { body: &old.function, unit: &old.unit },
        Version { body: &new.function, unit: &new.unit },
        &source,
    )
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
        text: e.text.clone(),
        c: None,
        line: e.line,
    };
    let delta = |d: &local::Delta| Delta {
        when: When { text: d.when.clone(), c: None },
        before: d.before.iter().map(effect).collect(),
        now: d.now.iter().map(effect).collect(),
        evidence: "satisfiable".to_owned(),
    };
    let deltas: Vec<Delta> = change.deltas.iter().map(delta).collect();
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
        at: ChangePlace {
            lines: numbered.collect(),
            context: change.in_loop.map(|line| format!("in the loop of line {line}")),
        },
        verdict,
        reason,
        deltas,
        otherwise: if change.rest.is_none() { Otherwise::Same } else { Otherwise::Open },
        assumptions: [
            (change.apart, "calls-apart"),
            (change.valid, "valid-accesses"),
            (change.by_members, "by-members"),
        ]
        .into_iter()
        .filter(|(is_made, _)| *is_made)
        .map(|(_, name)| name.to_owned())
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
