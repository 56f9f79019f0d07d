//! Whether a condition holds where a function ends: asked of one version, or of two that are compared.
//!
//! The answer is that of a pinned fact: a replayed run refutes it, the solver proves it, or it stays open.
//! Nothing else of the function is looked for.

use super::ground::Grounds;
use super::lineage::{Lineage, Member, VersionFiles};
use super::request::{Options, VersionInput};
use super::text_lineage::FunctionLocation;
use super::units::Units;
use super::watch::Unwatched;
use super::witness;
use super::workers::on_large_stack;
use super::world::{Context, World};
use crate::fact::Standing;
use crate::fault;
use crate::frontend::c;
use crate::invariant::{self, PinnedFact, Property, Task};
use crate::mvicfg::{ClassId, Mvicfg, VersionId};
use crate::report::Witness;
use crate::semantics::unroll;

/// A function in a version.
#[derive(Clone, Copy)]
pub struct Located<'a> {
    pub version: &'a VersionInput,
    pub place: &'a FunctionLocation,
}

/// What is known of the condition in one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionVerdict {
    Proved,
    Refuted,
    Unknown,
}

/// The answer for one version, or for the newer one of two.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    pub verdict: ConditionVerdict,
    /// Of two versions: what is known in the older one.
    pub before: Option<ConditionVerdict>,
    /// An input that breaks it. Of two versions: one that does not in the older one.
    pub witness: Option<Witness>,
    /// Why it is not known.
    pub reason: Option<String>,
    /// The condition names what is not there.
    pub is_unreadable: bool,
}

impl Answer {
    fn unknown(reason: impl Into<String>) -> Answer {
        Answer {
            verdict: ConditionVerdict::Unknown,
            before: None,
            witness: None,
            reason: Some(reason.into()),
            is_unreadable: false,
        }
    }
}

/// Asks whether a condition holds at the end of a function, in the last of one or two versions of it.
/// Cost: parsing one file a version, runs, and a question to the solver a version.
pub fn holds(versions: &[Located], fact: &PinnedFact, front_end: &c::Options, options: &Options) -> Answer {
    let work = || fault::caught(|| ask(versions, fact, front_end, options)).unwrap_or_else(Answer::unknown);
    on_large_stack(work)
}

fn ask(versions: &[Located], fact: &PinnedFact, front_end: &c::Options, options: &Options) -> Answer {
    let mut units = Units::new(front_end.clone(), options.limits.inline_depth);
    units.keep(invariant::events(&options.specification.protocols));
    let mut files: Vec<VersionFiles> = Vec::new();
    let mut members: Vec<Member> = Vec::new();
    let (mut reaches, mut grounds) = (Vec::new(), Grounds::default());
    for Located { version, place } in versions {
        if let Err(reason) = units.load(&*version.tree, &place.file) {
            return Answer::unknown(format!("{} is not read: {reason}", place.file.display()));
        }
        // What it calls elsewhere is no unknown.
        let ground = grounds.of(&*version.tree, place, &units);
        let Some(loaded) = ground.own().cloned() else { return Answer::unknown("it is not read") };
        let found = loaded.functions.iter().find(|f| *f.function.name == *place.name);
        let Some(f) = found else {
            return Answer::unknown(format!(
                "{}() is not among the functions that the preprocessor leaves",
                place.name
            ));
        };
        members.push(Member::new(&loaded, f, &place.file, &ground.reach));
        files.push(ground.files);
        reaches.push(ground.reach);
    }
    let world = World::new(&files, reaches, &[], &Unwatched);
    let lineage = Lineage { members: members.iter().cloned().map(Some).collect(), salt: Vec::new() };
    judge(&lineage, &members, &world, fact, options)
}

fn judge(
    lineage: &Lineage,
    members: &[Member],
    world: &World,
    fact: &PinnedFact,
    options: &Options,
) -> Answer {
    let Some((member, before)) = members.split_last() else { return Answer::unknown("no version") };
    let properties = properties(lineage, members, world, vec![fact.clone()], options);
    let Some(property) = properties.into_iter().next() else {
        return Answer::unknown("it was not looked at");
    };
    let program = &*member.function.name == "main";
    let old = before.last().unwrap_or(member);
    let newest = ClassId::new(before.len());
    let run = match before {
        [] => property.refuting.get(&newest),
        _ => property.breaks.first().map(|b| &b.run),
    };
    let verdict_of = |class: ClassId| match property.standing.get(&class) {
        Some(Standing::Holds) => ConditionVerdict::Proved,
        Some(Standing::Fails) => ConditionVerdict::Refuted,
        Some(Standing::Open) | None => ConditionVerdict::Unknown,
    };
    let verdict = verdict_of(newest);
    let open = || "neither proved nor refuted".to_owned();
    Answer {
        verdict,
        before: ClassId::first(before.len()).next_back().map(verdict_of),
        witness: run
            .filter(|_| verdict == ConditionVerdict::Refuted)
            .map(|run| witness::convert(None, run, old, member, program)),
        is_unreadable: property.problem.is_some(),
        reason: (verdict == ConditionVerdict::Unknown).then(|| property.problem.unwrap_or_else(open)),
    }
}

/// What is known of conditions where a function ends, in each of its versions. Cost: runs, and a question to the
/// solver for each condition and version.
pub(super) fn properties(
    lineage: &Lineage,
    members: &[Member],
    world: &World,
    pins: Vec<PinnedFact>,
    options: &Options,
) -> Vec<Property> {
    let Some((newest, member)) = members.len().checked_sub(1).zip(members.last()) else { return Vec::new() };
    let classes = VersionId::each(members).map(|(v, m)| (v, m.unit.clone())).collect();
    let context = Context { world, classes, options, depth: 0 };
    let graph = Mvicfg::build(
        members.iter().map(|m| unroll::unroll(&m.inlined, &unroll::UnrollLimits::default())).collect(),
    );
    invariant::check_pins(&Task {
        graph: &graph,
        pairs: graph.classes().zip(graph.classes().skip(1)).collect(),
        own: vec![true; newest],
        begins: members.windows(2).map(|pair| pair[0].values != pair[1].values).collect(),
        programs: VersionId::each(members).map(|(v, m)| world.program(v, &m.unit)).collect(),
        kept: &invariant::RunCache::default(),
        units: members.iter().map(|m| m.unit.clone()).collect(),
        specification: invariant::Specification {
            pins,
            requires: super::function::pins_of(lineage, &options.specification.requires),
            protocols: &options.specification.protocols,
            ..Default::default()
        },
        callees: &context,
        summaries: &context,
        given: graph.classes().zip(members).map(|(c, m)| context.precondition(c, &m.function)).collect(),
        pointer_bits: member.unit.data_model.pointer_bits(),
        points: invariant::Points { exit: true, ..Default::default() },
        options: invariant::Options {
            rlimit: options.limits.rlimit,
            unroll: options.limits.unroll,
            all: false,
            subsets: false,
            aliases: options.aliases,
            budget: options.limits.budget,
        },
    })
}
