//! Copies of a program with its proved facts as `assert`s, at exits and loop heads, about locals too; and what
//! their runs say.

use super::facts::{Demand, Setting, demand};
use git_invdiff::frontend::c;
use git_invdiff::history::MemoryTree;
use git_invdiff::instrument::{FunctionFacts, PlacedFact, ProgramPoint, Source, insert};
use git_invdiff::report::{Fact, FunctionReport, PointKind, Report, Status};
use std::path::Path;

/// A copy of a program with assertions.
pub struct Copy {
    pub text: String,
    pub facts: usize,
    /// Only of runs with distinct objects, or with well-formed input.
    pub is_tame: bool,
}

/// The copies of a program with the facts that need nothing, and with those that need tame runs.
pub fn copies(source: &str, report: &Report, setting: Setting) -> Vec<Copy> {
    let tree = MemoryTree::new([("a.c", source.as_bytes())]);
    let Ok(read) = Source::load(&tree, Path::new("a.c"), &c::Options::default()) else { return Vec::new() };
    let with = |demanded: Demand| {
        let of = |f| facts_of(f, demanded, setting);
        let facts: Vec<FunctionFacts> = report.functions.iter().map(of).collect();
        let asserted = insert(&read, &facts);
        let text = String::from_utf8_lossy(&asserted.text).into_owned();
        Copy { text, facts: asserted.facts, is_tame: demanded == Demand::Tame }
    };
    [Demand::Nothing, Demand::Tame].map(with).into_iter().filter(|c| c.facts > 0).collect()
}

fn facts_of(f: &FunctionReport, demanded: Demand, setting: Setting) -> FunctionFacts<'_> {
    let wanted = |fact: &&Fact| {
        fact.status.values().all(|s| *s == Status::Proved) && demand(&fact.assumptions, setting) == demanded
    };
    let mut facts = Vec::new();
    for p in &f.points {
        let place = match p.kind {
            PointKind::Exit => ProgramPoint::Exit,
            PointKind::Entry => ProgramPoint::Entry,
            PointKind::Loop => match p.lines.values().next() {
                Some(line) => ProgramPoint::Loop(*line),
                None => continue,
            },
            PointKind::Line => continue,
        };
        facts.extend(p.version_invariants.iter().filter(wanted).map(|fact| PlacedFact { place, fact }));
    }
    FunctionFacts { name: &f.name, facts }
}
