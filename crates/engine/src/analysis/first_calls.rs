//! First calls: what `check` says of a function whose text stays, where an object that it reads begins with
//! another value.
//!
//! A function is looked at from whatever state it is called in, and there an object that something writes may
//! have any value. Both versions then fail on the same states, and all the same a program may begin in a state in
//! which only the newer one does. Where the program's start is known, runs of `main` tell. Elsewhere the versions
//! are told apart, so that they are run, too, each from what its own objects begin with and with any arguments:
//! an assertion that only the newer one fails there is possible, since something may be called before that sets
//! the objects. What this does not decide is said.

use super::beyond::listed;
use super::classes;
use super::difference;
use super::initial::Changed;
use super::lineage::{Lineage, Member};
use super::world::World;
use crate::interp::{self, Input, Limits};
use crate::invariant::Budget;
use crate::ir::library::{
    self,
    control::{Ends, ends},
};
use crate::mvicfg::VersionId;
use crate::report::{
    Assertion, AssertionOutcome, DecidedBy, Judgement, RepoPath, Report, SettledBy, Violation,
};
use std::collections::{BTreeMap, BTreeSet};

/// Functions that are looked at for what they do first.
const MOST: usize = 32;

/// Which functions are looked at for what they do first, by their place in the list of all.
pub(super) struct FirstCalls(BTreeSet<usize>);

fn is_main(l: &Lineage) -> bool {
    l.newest().is_some_and(|(_, m)| &*m.function.name == "main")
}

fn place(l: &Lineage) -> Option<String> {
    l.newest().map(|(_, m)| format!("{}: {}()", RepoPath::from(&m.file), m.function.name))
}

/// The functions that an object reaches whose first calls nothing else tells of.
fn reached<'l>(object: &Changed, lineages: &'l [Lineage]) -> Vec<(usize, &'l Lineage, bool)> {
    let all = lineages.iter().enumerate();
    let all: Vec<_> = all.filter_map(|(k, l)| Some((k, l, object.reaches(l)?))).collect();
    if all.iter().any(|(_, l, _)| is_main(l)) { Vec::new() } else { all }
}

/// Tells versions of functions apart by what the objects begin with that they read. Cost: comparisons.
pub(super) fn tell_apart(lineages: &mut [Lineage], begun: &[Changed], world: &World) -> FirstCalls {
    let mut chosen: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for object in begun {
        for (k, l, is_direct) in reached(object, lineages) {
            let is_new = chosen.len() < MOST || chosen.contains_key(&k);
            let counts = || is_direct || !difference::is_harmless(l, world, false, Budget::default());
            if is_new && !classes::is_changed(l) && !begins_elsewhere(l, world) && counts() {
                chosen.entry(k).or_default().insert(object.step());
            }
        }
    }
    for (k, steps) in &chosen {
        let Some(l) = lineages.get_mut(*k) else { continue };
        for (v, member) in l.members.iter_mut().enumerate() {
            let before = steps.iter().filter(|step| **step < v).count();
            if let Some(m) = member {
                m.values = format!("{} begun {before}", m.values).into();
            }
        }
    }
    FirstCalls(chosen.into_keys().collect())
}

/// Whether the first call may find something else than what objects begin with: constructors run before it.
fn begins_elsewhere(l: &Lineage, world: &World) -> bool {
    let mut members = VersionId::each(&l.members).filter_map(|(v, m)| Some((v, m.as_ref()?)));
    members.any(|(v, m)| {
        let program = world.program(v, &m.unit);
        program.is_opaque() || !program.constructors().0.is_empty()
    })
}

impl FirstCalls {
    /// Keeps of what was found at these functions what is about their first calls, and says what was not decided.
    pub fn settle(&self, report: &mut Report, begun: &[Changed], lineages: &[Lineage], world: &World) {
        let newest = report.versions.last().map_or(0, |v| v.index);
        let of =
            |l: &Lineage| l.newest().map(|(_, m)| (RepoPath::from(&m.file), m.function.name.to_string()));
        let own: BTreeMap<_, usize> =
            self.0.iter().filter_map(|k| Some((of(lineages.get(*k)?)?, *k))).collect();
        let (mut found, mut open) = (BTreeSet::new(), BTreeSet::new());
        report.assertions.retain_mut(|a| {
            let Some(k) = own.get(&(a.file.clone(), a.function.clone())) else { return true };
            let judged = a.judgement(newest);
            let is_shown =
                matches!(judged, Judgement::Regression | Judgement::Possible) && a.counterexample.is_some();
            if is_shown {
                found.insert(*k);
                possible(a, newest);
            } else if !matches!(judged, Judgement::Kept | Judgement::Fixed) {
                open.insert(*k);
            }
            is_shown
        });
        for object in begun {
            let is_open = |k: usize, l: &Lineage| match self.0.contains(&k) {
                true => !found.contains(&k) && open.contains(&k) && !is_closed(l, world),
                false => !difference::is_harmless(l, world, false, Budget::default()),
            };
            let reached = reached(object, lineages).into_iter();
            let named: Vec<String> =
                reached.filter(|(k, l, _)| is_open(*k, l)).filter_map(|(_, l, _)| place(l)).collect();
            if !named.is_empty() {
                report.notices.push(format!(
                    "note: {} begins with another value; what that does to the first call of {} was not decided",
                    object.name,
                    listed(&named)
                ));
            }
        }
    }
}

/// An assertion that a first call fails; callers may see to it that this is none.
fn possible(a: &mut Assertion, newest: u32) {
    if a.violation == Some(Violation::Regression) {
        a.violation = None;
        a.settle(newest, AssertionOutcome::Unknown, SettledBy::Runs);
    }
    a.decided_by = DecidedBy::FirstCall;
}

/// Whether a function of the library does the same in every program: it asks nothing but its arguments.
fn is_alike(name: &str) -> bool {
    let asks_nothing = |r: &library::Row| !(r.world || r.stdin || r.memory || r.asks_streams);
    matches!(ends(name), Some(Ends::Failed | Ends::Aborted)) || library::row(name).is_some_and(asks_nothing)
}

/// Whether a first call of the newest version is but one run, which was looked at: it gets nothing, and asks for
/// nothing that is not known.
fn is_closed(l: &Lineage, world: &World) -> bool {
    let is_one = |(v, m): (VersionId, &Member)| {
        let (file, name) = (&m.file, &m.function.name);
        let missing =
            world.reaches.get(v.index()).map(|r| (r.missing(file, name), r.calls_unknown(file, name)));
        let is_known = missing.is_some_and(|(names, calls_pointers)| {
            !calls_pointers && names.iter().all(|(is_function, name)| *is_function && is_alike(name))
        });
        let run = || {
            let program = world.program(v, &m.unit);
            interp::run(&program, name, &Input::default(), &Limits::default())
        };
        let is_settled = |o: interp::Outcome| {
            o.end.is_definite()
                && !(o.portability.platform_dependent || o.portability.open_sign)
                && o.assumed.calls.is_empty()
                && o.assumed.globals.is_empty()
        };
        m.function.params.is_empty() && is_known && is_settled(run())
    };
    l.newest().is_some_and(is_one)
}
