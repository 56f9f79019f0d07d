//! Discovery of the invariants of functions: of one version, or of several on the same runs.

use super::holds;
use super::lineage::{Lineage, Member};
use super::loaded::Loaded;
use super::request::{Options, PointChoice, Request, VersionInput};
use super::watch::Unwatched;
use super::workers;
use super::world::World;
use crate::discovery::{
    self, Discovered, Harness, HeadPlace, Over, Point, Problem, Proof, Settings, Story, Subject, Told,
};
use crate::fact;
use crate::fact::{Postcondition, Standing};
use crate::fault;
use crate::infer::daikon::Traced;
use crate::invariant::PinnedFact;
use crate::ir::TermPool;
use crate::mvicfg::{ClassId, VersionId};
use crate::report::Status::Proved;
use crate::report::{PointKind, RepoPath, VersionInfo};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What is asked for.
pub struct Choice<'a> {
    /// Asked for by file and name.
    pub is_it: &'a (dyn Fn(&RepoPath, &str) -> bool + Sync),
    pub harness: Option<Harness>,
    pub first: Vec<FirstRun>,
    /// The engine is asked to prove what is left.
    pub proofs: bool,
    pub settings: Settings,
}

/// A run to begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstRun {
    /// Of a function of this file alone, by its newest name.
    pub file: Option<PathBuf>,
    /// Of this function alone, as a trace has it, and with more than its inputs.
    pub function: Option<String>,
    /// By the names of inputs.
    pub values: Vec<(String, i128)>,
}

/// One function.
#[derive(Debug)]
pub struct Found {
    pub file: PathBuf,
    pub name: Arc<str>,
    /// By version; `None` where it does not exist.
    pub versions: Vec<Option<Result<Discovered, Refused>>>,
    /// What became of invariants, where there are several versions.
    pub story: Story,
}

/// Why a function was not looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error(transparent)]
    Problem(#[from] Problem),
    #[error("'{name}' is no input of {function}()")]
    NoInput { name: String, function: String, known: Vec<String> },
    #[error("{name} = {value} is no value of its type")]
    OutOfType { name: String, value: i128 },
    #[error("internal error: {0}")]
    Fault(String),
}

/// A function of the newest version, and what its runs begin with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub file: PathBuf,
    pub name: Arc<str>,
    pub inputs: Vec<Traced>,
}

/// Runs of other versions that one is given, at most.
const SHARED: usize = 600;

/// The functions of the newest version that are asked for, and what the runs of each begin with. Cost: parsing and
/// lowering.
pub fn wanted(request: &Request, choice: &Choice) -> Vec<Wanted> {
    workers::in_pool(request, || {
        let Loaded { by_version, reaches, lineages, .. } = Loaded::of(request);
        let world = World::new(&by_version, reaches, &lineages, &Unwatched);
        let last = VersionId::new(request.versions.len().saturating_sub(1));
        let newest = asked_for(&lineages, choice).into_iter().filter_map(Lineage::newest);
        let one = |(version, m): (VersionId, &Member)| {
            let mut pool = TermPool::new();
            let program = world.program(version, &m.unit);
            let (harness, over) = (choice.harness.as_ref(), choice.settings.over);
            // Why a function cannot be looked at is said where that is tried.
            let subject = Subject::new(&m.function, &m.unit, &program, harness, over, &mut pool).ok()?;
            let input = |f: &discovery::Free| Traced {
                variable: subject.looked(f).variable,
                is_global: f.is_global(),
            };
            let inputs = subject.free.iter().map(input).collect();
            Some(Wanted { file: m.file.clone(), name: m.function.name.clone(), inputs })
        };
        let caught = |member| fault::caught(|| one(member)).ok().flatten();
        newest.filter(|(version, _)| *version == last).filter_map(caught).collect()
    })
}

/// What is asked for, in the order of the text.
fn asked_for<'l>(lineages: &'l [Lineage], choice: &Choice) -> Vec<&'l Lineage> {
    let is_wanted = |l: &&Lineage| {
        l.newest().is_some_and(|(_, m)| (choice.is_it)(&RepoPath::from(&m.file), &m.function.name))
    };
    let mut wanted: Vec<&Lineage> = lineages.iter().filter(is_wanted).collect();
    wanted.sort_by_key(|l| l.newest().map(|(_, m)| (m.file.clone(), m.function.span.line)));
    wanted
}

/// Looks at the functions that are asked for, by their newest names. `turned`: is told of each turn of the loop. Cost:
/// parsing and lowering; runs and questions within the settings' bounds for each function, twice for each version where
/// there are several.
pub fn discover(
    request: &Request,
    choice: &Choice,
    turned: &mut (dyn FnMut(&str, &discovery::Iteration) + Send),
) -> Vec<Found> {
    workers::in_pool(request, || {
        let Loaded { by_version, reaches, lineages, .. } = Loaded::of(request);
        let world = World::new(&by_version, reaches, &lineages, &Unwatched);
        let mut found = Vec::new();
        for l in asked_for(&lineages, choice) {
            let Some((_, newest)) = l.newest() else { continue };
            let (file, name) = (newest.file.clone(), newest.function.name.clone());
            let versions = all_versions(request, &world, l, choice, turned);
            let of = |v: &Option<Result<Discovered, Refused>>| match v {
                Some(Ok(d)) => Some(d.clone()),
                _ => None,
            };
            let there: Vec<Option<Discovered>> = versions.iter().map(of).collect();
            let story = match versions.len() {
                1 => Story::default(),
                _ => discovery::story(&there.iter().map(Option::as_ref).collect::<Vec<_>>()),
            };
            found.push(Found { file, name, versions, story });
        }
        found
    })
}

/// Each version, and where there are several each once more on the runs of all.
fn all_versions(
    request: &Request,
    world: &World,
    l: &Lineage,
    choice: &Choice,
    turned: &mut dyn FnMut(&str, &discovery::Iteration),
) -> Vec<Option<Result<Discovered, Refused>>> {
    let Some((_, newest)) = l.newest() else { return Vec::new() };
    let (file, name) = (&newest.file, newest.function.name.clone());
    let mut once = |choice: &Choice| -> Vec<Option<Result<Discovered, Refused>>> {
        let one = |(version, m): (VersionId, &Option<Member>)| {
            let m = m.as_ref()?;
            let found = fault::caught(|| one(request, world, (version, m), (choice, file, &name), turned));
            Some(found.unwrap_or_else(|reason| Err(Refused::Fault(reason))))
        };
        VersionId::each(&l.members).map(one).collect()
    };
    let alone = once(choice);
    if alone.len() < 2 {
        return alone;
    }
    let mut runs: Vec<FirstRun> = Vec::new();
    for d in alone.iter().flatten().flatten() {
        for test in &d.tests {
            let values: Vec<(String, i128)> = d.inputs.iter().cloned().zip(test.iter().copied()).collect();
            let run = FirstRun { file: Some(file.clone()), function: Some(name.to_string()), values };
            if runs.len() < SHARED * l.members.len() && !runs.contains(&run) {
                runs.push(run);
            }
        }
    }
    let first = choice.first.iter().cloned().chain(runs).collect();
    let settings = Settings { is_adding_runs: choice.first.is_empty(), ..choice.settings.clone() };
    once(&Choice { first, settings, harness: choice.harness.clone(), ..*choice })
}

fn one(
    request: &Request,
    world: &World,
    (version, m): (VersionId, &Member),
    (choice, file, newest): (&Choice, &Path, &str),
    turned: &mut dyn FnMut(&str, &discovery::Iteration),
) -> Result<Discovered, Refused> {
    let mut pool = TermPool::new();
    let program = world.program(version, &m.unit);
    let (harness, settings) = (choice.harness.as_ref(), &choice.settings);
    let mut subject = Subject::new(&m.function, &m.unit, &program, harness, settings.over, &mut pool)?;
    if settings.points.heads {
        subject.look_at_heads(settings.over);
    }
    let first = first(&subject, (file, newest), choice)?;
    let mut prove = |texts: &[String]| -> Vec<Proof> {
        // A proof is of any state, and one of the state that a harness leaves is another.
        if !choice.proofs || harness.is_some() {
            return Vec::new();
        }
        let pins = texts
            .iter()
            .filter_map(|text| Some((text, Postcondition::Holds(fact::parse(text).ok()?))))
            .map(|(text, fact)| PinnedFact { text: text.clone(), fact });
        let pins: Vec<PinnedFact> = pins.collect();
        let lineage = Lineage { members: vec![Some(m.clone())], salt: Vec::new() };
        let mut options = request.analysis.clone();
        // What rests on arguments that do not meet is no proof here.
        options.aliases = true;
        let properties = holds::properties(&lineage, std::slice::from_ref(m), world, pins.clone(), &options);
        let proof = |p: &crate::invariant::Property| match p.standing.get(&ClassId::ONLY) {
            Some(Standing::Holds) => Proof::Proved,
            Some(Standing::Fails) => p
                .refuting
                .get(&ClassId::ONLY)
                .map_or(Proof::Unknown, |run| Proof::Refuted(Box::new(run.input.clone()))),
            Some(Standing::Open) | None => Proof::Unknown,
        };
        // What a pinned fact cannot say is not asked.
        let known = |text: &String| pins.iter().zip(&properties).find(|(p, _)| p.text == *text);
        texts.iter().map(|text| known(text).map_or(Proof::Unknown, |(_, p)| proof(p))).collect()
    };
    let name = m.function.name.clone();
    let mut turned = |i: &discovery::Iteration| turned(&name, i);
    let mut found = discovery::discover(&subject, &mut pool, &first, settings, &mut turned, &mut prove);
    if choice.proofs && harness.is_none() && settings.over == Over::All {
        found.join(told(request, version, m, &found.heads));
    }
    Ok(found)
}

/// What every proof takes for granted here: what is undefined shows nothing, and a run that does not end has no exit.
const GRANTED: [&str; 3] = ["no-undefined-behaviour", "-fwrapv", "terminates"];

/// What the engine proves of a function by itself. Cost: an analysis of the function.
fn told(request: &Request, version: VersionId, m: &Member, heads: &[HeadPlace]) -> Vec<Told> {
    let input = &request.versions[version];
    let info = VersionInfo { index: 1, ..input.info.clone() };
    let kinds = [vec![PointKind::Exit], if heads.is_empty() { vec![] } else { vec![PointKind::Loop] }];
    let alone = Request {
        versions: vec![VersionInput { info, tree: input.tree.clone() }],
        changes: Vec::new(),
        options: request.options.clone(),
        analysis: Options {
            whole: true,
            all: true,
            function: Some(m.function.name.to_string()),
            points: PointChoice { kinds: Some(kinds.concat()), lines: Vec::new() },
            differencing: None,
            ..request.analysis.clone()
        },
    };
    let report = super::diff_in_pool(
        &alone,
        super::Around { watch: &Unwatched, keeper: &super::Nowhere, taken: &super::Taken::default() },
    );
    let file = RepoPath::from(&m.file);
    let own = report.functions.iter().filter(|f| f.file == file && f.name == *m.function.name);
    let mut found = Vec::new();
    for p in own.flat_map(|f| &f.points) {
        let place = match p.kind {
            PointKind::Exit => Some(Point::Exit),
            // Of loops that begin in one line it is not known which is meant.
            PointKind::Loop => {
                let line = p.lines.get(&1);
                heads.iter().position(|h| h.of_line == 0 && Some(&h.line) == line).map(Point::Head)
            }
            _ => None,
        };
        let Some(point) = place else { continue };
        let proved = p.version_invariants.iter().filter(|f| f.status.get(&1) == Some(&Proved));
        // What callers see to is no proof of any state.
        let told = proved.filter(|f| !f.assumptions.iter().any(|a| a.starts_with("callers("))).map(|f| {
            let beyond = f.assumptions.iter().filter(|a| !GRANTED.contains(&a.as_str()));
            let assumptions = beyond.cloned().collect();
            Told { point, text: f.text.clone(), template: f.template.clone(), assumptions }
        });
        found.extend(told);
    }
    found
}

/// The first runs: inputs that are not given are zero, or the least that they can be.
fn first(
    subject: &Subject,
    (file, newest): (&Path, &str),
    choice: &Choice,
) -> Result<Vec<Vec<i128>>, Refused> {
    let known = || subject.free.iter().map(|f| f.name.to_string()).collect();
    let row = |run: &FirstRun| {
        for (name, value) in &run.values {
            let Some(free) = subject.free.iter().find(|f| *f.name == **name) else {
                if run.function.is_some() {
                    continue;
                }
                let function = subject.function.name.to_string();
                return Err(Refused::NoInput { name: name.clone(), function, known: known() });
            };
            // Another version may have had it.
            if !(free.low..=free.high).contains(value) && run.function.is_none() {
                return Err(Refused::OutOfType { name: name.clone(), value: *value });
            }
        }
        let value = |f: &discovery::Free| {
            let given = run.values.iter().find(|(name, _)| **name == *f.name).map(|(_, value)| *value);
            given.unwrap_or(0).clamp(f.low, f.high)
        };
        Ok(subject.free.iter().map(value).collect())
    };
    // A run of a function that has another name in this version is one of it all the same.
    let is_own = |run: &&FirstRun| {
        let is_there = run.file.as_ref().is_none_or(|f| f == file);
        is_there && run.function.as_ref().is_none_or(|name| **name == *newest)
    };
    choice.first.iter().filter(is_own).map(row).collect()
}
