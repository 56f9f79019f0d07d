//! What the gate says of an edited function whose proved facts are pinned, beside what compiled runs say.

use super::compiled::{Fact, Runs, check, load, proved_at_exit};
use super::edits::{self, Edit};
use git_invdiff::analysis::{Differencing, Limits, Options, Pin, PointChoice, Specification, diff, memory};
use git_invdiff::fact;
use git_invdiff::frontend::c;
use git_invdiff::invariant::PinnedFact;
use git_invdiff::ir::VarKind;
use git_invdiff::report::{Assertion, AssertionKind, Judgement, PointKind, Report};
use std::ops::Range;

/// Facts of a function that are pinned: the first ones say most.
const MOST_PINS: usize = 10;

/// A function, what is proved of it, and where it stands.
pub struct Original {
    pub file: String,
    pub name: String,
    pub text: String,
    pub range: Range<usize>,
    pub locals: Vec<String>,
    facts: Vec<Fact>,
    pins: Vec<Pin>,
}

/// What the gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// A pinned fact or something else is broken; replayed.
    Stopped,
    Undecided,
    Kept,
}

fn limits() -> Options {
    let limits = Limits { rlimit: 500_000, ..Limits::default() };
    Options { jobs: 1, limits, ..Options::default() }
}

/// The functions of a file of which facts are proved at the exit.
pub fn originals(file: &str, text: &str) -> Vec<Original> {
    let Some(unit) = load(text) else { return Vec::new() };
    let mut found = Vec::new();
    for f in &unit.functions {
        if f.span.file.0 != 0 || &*f.name == "main" {
            continue;
        }
        let points = PointChoice { kinds: Some(vec![PointKind::Exit]), lines: Vec::new() };
        let function = Some(f.name.to_string());
        let options = Options { all: true, whole: true, points, function, ..limits() };
        let report = diff(&memory::request(&[vec![("a.c", text)]], c::Options::default(), options));
        let facts: Vec<Fact> = proved_at_exit(&report)
            .into_iter()
            .filter(|fact| fact.function == *f.name && fact.assumptions.is_empty())
            .take(MOST_PINS)
            .collect();
        let pin = |fact: &Fact| {
            let parsed = fact::parse_postcondition(&fact.text).ok()?;
            Some(Pin {
                is_dropped: false,
                function: f.name.to_string(),
                fact: PinnedFact { text: fact.text.clone(), fact: parsed },
            })
        };
        let pins: Vec<Pin> = facts.iter().filter_map(pin).collect();
        let known: Vec<Fact> =
            facts.into_iter().filter(|fact| pins.iter().any(|p| p.fact.text == fact.text)).collect();
        if known.is_empty() {
            continue;
        }
        let vars = f.vars.iter().filter(|v| v.kind != VarKind::Temp);
        let mut locals: Vec<String> = vars.map(|v| v.name.to_string()).collect();
        locals.sort();
        locals.dedup();
        found.push(Original {
            file: file.to_owned(),
            name: f.name.to_string(),
            text: text.to_owned(),
            range: edits::lines(text, f.span.line, f.span.end_line),
            locals,
            facts: known,
            pins,
        });
    }
    found
}

impl Original {
    pub fn mutants(&self) -> Vec<Edit> {
        let mut all = edits::mutants(&self.text, &self.range);
        all.extend(edits::name_mutants(&self.text, &self.range));
        all
    }

    pub fn preserving(&self) -> Vec<Edit> {
        edits::preserving(&self.text, &self.range, &self.name, &self.locals)
    }

    /// The pinned facts that compiled runs of an edited version break; the error says why it does not run.
    pub fn broken_in_runs(&self, edit: &Edit) -> Result<Vec<String>, String> {
        let unit = load(&edit.text).ok_or("it cannot be read")?;
        if unit.function(&self.name).is_none() {
            return Err("it cannot be read".into());
        }
        let runs = Runs { all: 200, others: 0 };
        let answer = check(&unit, &edit.text, &Report::default(), &self.facts, runs)?;
        let mut broken: Vec<String> =
            answer.failed.iter().map(|(k, ..)| self.facts[*k].text.clone()).collect();
        broken.sort();
        broken.dedup();
        Ok(broken)
    }

    /// What the gate says of an edited version, and of what.
    pub fn gate(&self, edit: &Edit) -> (Gate, Vec<Assertion>) {
        // A pinned fact speaks of parameters by their names in the newer version.
        let options = Options {
            specification: Specification { pins: self.pins.clone(), ..Specification::default() },
            differencing: Some(Differencing::default()),
            function: Some(self.name.clone()),
            ..limits()
        };
        let versions = [vec![("a.c", self.text.as_str())], vec![("a.c", edit.text.as_str())]];
        let report = diff(&memory::request(&versions, c::Options::default(), options));
        let of = |wanted: &[Judgement]| -> Vec<Assertion> {
            let all = report.assertions.iter();
            all.filter(|a| wanted.contains(&a.judgement(2))).cloned().collect()
        };
        let stopped = of(&[Judgement::Regression]);
        if !stopped.is_empty() {
            return (Gate::Stopped, stopped);
        }
        let open = of(&[Judgement::Undecided, Judgement::Possible]);
        let silent =
            report.assertions.iter().filter(|a| a.kind == AssertionKind::Pinned).count() < self.pins.len();
        match open.is_empty() && (!silent || report.functions.is_empty()) {
            true => (Gate::Kept, Vec::new()),
            false => (Gate::Undecided, open),
        }
    }
}
