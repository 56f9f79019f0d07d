//! Discovery of the invariants of functions of one version.

use super::classes::World;
use super::holds;
use super::lineage::{Lineage, Member};
use super::{Request, Unwatched};
use crate::discovery::{self, Discovered, Harness, Problem, Proof, Settings, Subject};
use crate::fact;
use crate::fault;
use crate::invariant::{PinnedFact, Standing};
use crate::ir::TermPool;
use crate::report::RepoPath;
use std::path::PathBuf;
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
    pub discovered: Result<Discovered, Refused>,
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

/// Looks at the functions of the newest version that are asked for. `turned`: is told of each turn of the loop.
/// Cost: parsing and lowering; runs and questions within the settings' bounds for each function.
pub fn discover(
    request: &Request,
    choice: &Choice,
    turned: &mut (dyn FnMut(&str, &discovery::Iteration) + Send),
) -> Vec<Found> {
    super::in_pool(request, || {
        let super::Loaded { by_version, reaches, lineages, .. } = super::Loaded::of(request);
        let world = World::new(&by_version, reaches, &lineages, &Unwatched);
        let is_wanted = |l: &&Lineage| {
            l.newest().is_some_and(|(_, m)| (choice.is_it)(&RepoPath::from(&m.file), &m.function.name))
        };
        let mut wanted: Vec<&Lineage> = lineages.iter().filter(is_wanted).collect();
        wanted.sort_by_key(|l| l.newest().map(|(_, m)| (m.file.clone(), m.function.span.line)));
        let mut found = Vec::new();
        for (version, m) in wanted.into_iter().filter_map(Lineage::newest) {
            let discovered = fault::caught(|| one(request, &world, (version, m), choice, turned))
                .unwrap_or_else(|reason| Err(Refused::Fault(reason)));
            found.push(Found { file: m.file.clone(), name: m.function.name.clone(), discovered });
        }
        found
    })
}

fn one(
    request: &Request,
    world: &World,
    (version, m): (usize, &Member),
    choice: &Choice,
    turned: &mut dyn FnMut(&str, &discovery::Iteration),
) -> Result<Discovered, Refused> {
    let mut pool = TermPool::new();
    let program = world.program(version, &m.unit);
    let (harness, settings) = (choice.harness.as_ref(), &choice.settings);
    let subject = Subject::new(&m.function, &m.unit, &program, harness, settings.over, &mut pool)?;
    let first = first(&subject, choice)?;
    let mut prove = |texts: &[String]| -> Vec<Proof> {
        // A proof is of any state, and one of the state that a harness leaves is another.
        if !choice.proofs || harness.is_some() {
            return Vec::new();
        }
        let pins = texts
            .iter()
            .filter_map(|text| Some(PinnedFact { text: text.clone(), fact: fact::parse(text).ok()? }));
        let pins: Vec<PinnedFact> = pins.collect();
        if pins.len() != texts.len() {
            return Vec::new();
        }
        let lineage = Lineage { members: vec![Some(m.clone())], salt: Vec::new() };
        let mut options = request.analysis.clone();
        // What rests on arguments that do not meet is no proof here.
        options.aliases = true;
        let properties = holds::properties(&lineage, std::slice::from_ref(m), world, pins, &options);
        let proof = |p: &crate::invariant::Property| match p.standing.get(&0) {
            Some(Standing::Holds) => Proof::Proved,
            Some(Standing::Fails) => {
                p.refuting.get(&0).map_or(Proof::Unknown, |run| Proof::Refuted(Box::new(run.input.clone())))
            }
            Some(Standing::Open) | None => Proof::Unknown,
        };
        properties.iter().map(proof).collect()
    };
    let name = m.function.name.clone();
    let mut turned = |i: &discovery::Iteration| turned(&name, i);
    Ok(discovery::discover(&subject, &mut pool, &first, settings, &mut turned, &mut prove))
}

/// The first runs: inputs that are not given are zero, or the least that they can be.
fn first(subject: &Subject, choice: &Choice) -> Result<Vec<Vec<i128>>, Refused> {
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
            if !(free.low..=free.high).contains(value) {
                return Err(Refused::OutOfType { name: name.clone(), value: *value });
            }
        }
        let value = |f: &discovery::Free| {
            let given = run.values.iter().find(|(name, _)| **name == *f.name).map(|(_, value)| *value);
            given.unwrap_or_else(|| 0.clamp(f.low, f.high))
        };
        Ok(subject.free.iter().map(value).collect())
    };
    let is_own = |run: &&FirstRun| run.function.as_ref().is_none_or(|name| **name == *subject.function.name);
    choice.first.iter().filter(is_own).map(row).collect()
}
