//! From a report to the copies of one version's files.

use super::asserts::{Asserted, FunctionFacts, LeftOut, PlacedFact, ProgramPoint, Source, insert};
use crate::analysis::VersionInput;
use crate::frontend::c;
use crate::report::{Fact, FunctionReport, PointKind, RepoPath, Report, Status, Version};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which facts are asserted.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The version that is copied.
    pub version: Version,
    /// Facts that are established so well.
    pub statuses: Vec<Status>,
    /// Only facts of all versions that have the function.
    pub shared: bool,
    /// Names of assumptions that facts may rest on, beside those that no run can break without undefined
    /// behaviour.
    pub assumed: Vec<String>,
}

/// Assumptions that an execution without undefined behaviour keeps, or without which it does not reach the
/// point.
const KEPT: [&str; 4] = ["no-undefined-behaviour", "-fwrapv", "terminates", "in-bounds"];

impl Choice {
    fn has(&self, f: &FunctionReport, fact: &Fact) -> bool {
        let status = fact.status.get(&self.version);
        let shared = !self.shared || f.versions.iter().all(|v| fact.versions.contains(v));
        shared && status.is_some_and(|s| self.statuses.contains(s))
    }

    /// The first assumption that is not taken for granted.
    fn open_assumption<'f>(&self, fact: &'f Fact) -> Option<&'f String> {
        fact.assumptions.iter().find(|a| !KEPT.contains(&kind_of(a)) && !self.assumes(a))
    }

    fn assumes(&self, assumption: &str) -> bool {
        self.assumed.iter().any(|b| b == assumption || b == "all" || b == kind_of(assumption))
    }
}

/// The name of an assumption without what it is about: `separated` of `\separated(p, q)`.
fn kind_of(assumption: &str) -> &str {
    let name = assumption.split('(').next().unwrap_or(assumption);
    name.strip_prefix('\\').unwrap_or(name)
}

/// A file with assertions.
#[derive(Clone, Debug)]
pub struct CopiedFile {
    pub path: RepoPath,
    pub original: Arc<[u8]>,
    pub copy: Asserted,
}

/// Makes a copy of every file that the report has chosen facts of. Files without an assertion are among
/// them: what was left out of them is worth a word. Errors are texts that name files that cannot be read.
pub fn copies(
    report: &Report,
    version: &VersionInput,
    options: &c::Options,
    choice: &Choice,
) -> (Vec<CopiedFile>, Vec<String>) {
    let mut files: BTreeMap<&RepoPath, Vec<Chosen<'_>>> = BTreeMap::new();
    for f in &report.functions {
        let Some(place) = f.identity.versions.get(&choice.version) else { continue };
        let chosen = Chosen::of(f, &place.name, choice);
        if !chosen.facts.facts.is_empty() || !chosen.left_out.is_empty() {
            files.entry(&place.file).or_default().push(chosen);
        }
    }
    let (mut done, mut errors) = (Vec::new(), Vec::new());
    for (path, functions) in files {
        match Source::load(&*version.tree, &path.to_utf8_path(), options) {
            Ok(source) => {
                let facts: Vec<FunctionFacts<'_>> = functions.iter().map(|c| c.facts.clone()).collect();
                let mut copy = insert(&source, &facts);
                copy.left_out.extend(functions.into_iter().flat_map(|c| c.left_out));
                copy.left_out.sort();
                done.push(CopiedFile { path: path.clone(), original: source.bytes, copy });
            }
            Err(why) => errors.push(format!("{path}: {why}")),
        }
    }
    (done, errors)
}

/// What is wanted of one function.
struct Chosen<'r> {
    facts: FunctionFacts<'r>,
    left_out: Vec<LeftOut>,
}

impl<'r> Chosen<'r> {
    fn of(f: &'r FunctionReport, name: &'r str, choice: &Choice) -> Chosen<'r> {
        let mut chosen = Chosen { facts: FunctionFacts { name, facts: Vec::new() }, left_out: Vec::new() };
        for point in &f.points {
            let place = match point.kind {
                PointKind::Exit => ProgramPoint::Exit,
                PointKind::Entry => ProgramPoint::Entry,
                PointKind::Loop => match point.lines.get(&choice.version) {
                    Some(&line) => ProgramPoint::Loop(line),
                    None => continue,
                },
                PointKind::Line => continue,
            };
            for fact in point.version_invariants.iter().filter(|fact| choice.has(f, fact)) {
                match choice.open_assumption(fact) {
                    None => chosen.facts.facts.push(PlacedFact { place, fact }),
                    Some(assumption) => chosen.left_out.push(LeftOut {
                        function: name.to_owned(),
                        fact: fact.text.clone(),
                        why: format!("it assumes {assumption}"),
                        partly: false,
                    }),
                }
            }
        }
        chosen
    }
}
