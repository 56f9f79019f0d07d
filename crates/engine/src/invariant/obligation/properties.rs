//! Properties: what the program asserts, and what the project pins, in every class.
//!
//! A property fails in a class when a replayed run refutes it there; it holds when the solver proves
//! it; otherwise it is open. Runs of both versions on shared inputs come first; only what they do not
//! refute is asked of the solver, whose models are replayed before they count.
//!
//! Between two classes a property *breaks* when it fails in the newer one and nothing refuted it in
//! the older one. The run that shows it is one on which the older version keeps the property,
//! wherever there is such a run.

use crate::fact::{Expression, Kind, Method, Postcondition, Standing, term};
use crate::interp::{End, Input, Outcome};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::name_resolution::{self, RunSide};
use crate::invariant::obligation::gate::Covered;
use crate::invariant::obligation::property::Break;
use crate::invariant::obligation::property::PinnedFact;
use crate::invariant::obligation::property::Property;
use crate::invariant::obligation::property::PropertyKind;
use crate::invariant::obligation::provers::{self, Asked};
use crate::invariant::obligation::resource_state::PinnedState;
use crate::invariant::obligation::safety;
use crate::invariant::task::Task;
use crate::invariant::witness::budget::MAX_NODES;
use crate::invariant::witness::inputs;
use crate::invariant::witness::run::Run;
use crate::invariant::witness::runs;
use crate::invariant::witness::shrink::Shrinker;
use crate::ir::{Instr, TermId, TermPool};
use crate::mvicfg::{ClassId, Flow};
use crate::symex::{assertions_of, is_failure};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Looks at every property of a function. `engine`: where the function could be analysed at all;
/// otherwise only runs speak.
pub(in crate::invariant) fn check(task: &Task, engine: Option<&mut FunctionAnalysis>) -> Vec<Property> {
    check_until(task, engine, (&Covered::default(), &|| false))
}

/// As [`check`]; of what is `covered`, and once it `is_over`, only runs speak.
pub(in crate::invariant) fn check_until(
    task: &Task,
    engine: Option<&mut FunctionAnalysis>,
    (covered, is_over): (&Covered, &dyn Fn() -> bool),
) -> Vec<Property> {
    let mut checker = Checker { task, engine, covered, is_over };
    let mut found: Vec<Property> = task.specification.pins.iter().map(|pin| checker.pinned(pin)).collect();
    found.extend(checker.assertions());
    found.extend(safety::check(task));
    found
}

/// Looks at the pinned facts of a function and nothing else. Cost: runs, and a question for each fact
/// and class that no run refutes.
pub fn check_pins(task: &Task) -> Vec<Property> {
    let flow = Flow::new(task.graph);
    let fits = task.graph.nodes.len() <= MAX_NODES && flow.classes.iter().all(|c| !c.irreducible);
    let mut engine = fits.then(|| FunctionAnalysis::new(task, &flow));
    let covered = &Covered::default();
    let mut checker = Checker { task, engine: engine.as_mut(), covered, is_over: &|| false };
    task.specification.pins.iter().map(|pin| checker.pinned(pin)).collect()
}

/// Runs of which it is asked whether something undefined comes before a property in them.
const MAX_OVERTAKEN: usize = 6;

struct Checker<'c, 'e, 't> {
    task: &'c Task<'t>,
    engine: Option<&'c mut FunctionAnalysis<'e>>,
    covered: &'c Covered,
    is_over: &'c dyn Fn() -> bool,
}

/// A condition as one about the values at the entry.
pub(super) fn at_entry(fact: &Expression) -> Expression {
    Expression { kind: Kind::Old(Box::new(fact.clone())), span: fact.span.clone() }
}

impl Task<'_> {
    /// Whether a function that a class calls has an assertion.
    fn asserts(&self, class: ClassId, callee: &str, text: &str, ordinal: usize) -> bool {
        let program = &self.programs[class];
        let found = program.function(callee).zip(program.unit_of(callee));
        found.is_some_and(|(f, unit)| {
            assertions_of(f, unit).iter().any(|(_, t, o)| t == text && *o == ordinal)
        })
    }

    /// Whether an input is one that callers pass, as the project says. What cannot be told is admitted.
    pub(in crate::invariant) fn admits(&self, run: &Run, old: bool, class: ClassId) -> bool {
        self.specification.requires.iter().all(|required| {
            let (unit, body) = (&*self.units[class], &*self.graph.bodies[class]);
            let program = &*self.programs[class];
            let mut side = RunSide { unit, body, program, run, old, pool: TermPool::new() };
            let term = term::condition(&at_entry(&required.fact), &mut side).ok();
            term.and_then(|t| side.pool.as_const(t)).and_then(|c| c.as_bool()) != Some(false)
        })
    }
}

/// Returns whether one side of a run keeps the property; `None`: it does not say.
type Keeps<'k> = dyn Fn(&Run, bool, ClassId) -> Option<bool> + 'k;

impl<'c> Checker<'c, '_, '_> {
    /// Simplifies the input of a run, as long as `keeps` holds.
    fn shrunk(&self, run: Run, (from, to): (ClassId, ClassId), keeps: &dyn Fn(&Run) -> bool) -> Run {
        let shrinker =
            Shrinker { unit: &self.task.units[to], replay: &|input| self.replay(from, to, input), keeps };
        shrinker.shrink(run)
    }

    fn replay(&self, from: ClassId, to: ClassId, input: Input) -> Run {
        let (graph, programs) = (self.task.graph, &self.task.programs);
        let entry = (&*graph.bodies[from].name, &*graph.bodies[to].name);
        runs::replay(&programs[from], &programs[to], entry, input)
    }

    /// A run in which a class breaks the property, and whether it was the old side of it.
    fn refutation(&mut self, class: ClassId, keeps: &Keeps) -> Option<Run> {
        for (from, to) in self.task.run_pairs() {
            for (side, old) in [(from, true), (to, false)] {
                if side != class {
                    continue;
                }
                if let Some(run) =
                    self.task.runs(from, to).iter().find(|r| keeps(r, old, class) == Some(false))
                {
                    return Some(run.clone());
                }
            }
        }
        None
    }

    /// Judges the classes that have the property: by runs, then, where none refutes it and `asked` says what to
    /// prove, by each prover in turn. Returns the runs that refute it.
    fn judge(
        &mut self,
        property: &mut Property,
        classes: &[ClassId],
        keeps: &Keeps,
        asked: &dyn Fn(ClassId) -> Option<Asked<'c>>,
    ) -> BTreeMap<ClassId, Run> {
        let mut refuting: BTreeMap<ClassId, Run> = BTreeMap::new();
        for &class in classes {
            let (mut standing, mut by) = (Standing::Open, None);
            if let Some(run) = self.refutation(class, keeps) {
                (standing, by) = (Standing::Fails, Some(Method::Runs));
                refuting.insert(class, run);
            } else if let Some(asked) = asked(class).filter(|_| !(self.is_over)())
                && let Some(engine) = &mut self.engine
            {
                for prover in provers::ORDER {
                    let shown = match prover.judge(engine, &asked, class) {
                        Ok(shown) => shown,
                        Err(problem) => {
                            property.problem.get_or_insert(problem);
                            continue;
                        }
                    };
                    let model = shown.model.map(|(model, of)| engine.model_run(class, &model, &of));
                    if let Some(run) = model.filter(|r| keeps(r, false, class) == Some(false)) {
                        (standing, by) = (Standing::Fails, Some(prover.method()));
                        refuting.insert(class, run);
                    } else if shown.holds {
                        (standing, by) = (Standing::Holds, Some(prover.method()));
                    }
                    if by.is_some() {
                        break;
                    }
                }
            }
            property.standing.insert(class, standing);
            property.settled_by.extend(by.map(|by| (class, by)));
        }
        refuting
    }

    /// Settles the classes that have the property, then the pairs.
    fn settle(
        &mut self,
        property: &mut Property,
        classes: &[ClassId],
        keeps: &Keeps,
        asked: &dyn Fn(ClassId) -> Option<Asked<'c>>,
    ) {
        let refuting = self.judge(property, classes, keeps, asked);
        for (from, to) in self.task.pairs.clone() {
            let [was, is] = [from, to].map(|class| property.standing.get(&class).copied());
            if was == Some(Standing::Fails) && is.is_none() {
                let example = refuting.get(&from).map(|r| r.input.clone());
                property.ends.extend(self.end((from, to), keeps, example));
            }
            if was == Some(Standing::Fails) && is.is_some() {
                let example = refuting.get(&from).map(|r| r.input.clone());
                property.ends.extend(self.overtaken((from, to), keeps, example));
            }
            if was == Some(Standing::Fails) && is == Some(Standing::Fails) {
                property.wider.extend(self.wider((from, to), keeps));
            }
            if was == Some(Standing::Fails) || is != Some(Standing::Fails) {
                continue;
            }
            if was.is_none() {
                property.starts.extend(self.start((from, to), keeps));
                continue;
            }
            let kept = |r: &&Run| keeps(r, false, to) == Some(false) && keeps(r, true, from) == Some(true);
            let found = self.task.runs(from, to).iter().find(kept).cloned();
            let replayed = || refuting.get(&to).map(|r| self.replay(from, to, r.input.clone()));
            let Some(run) = found.or_else(replayed).filter(|r| keeps(r, false, to) == Some(false)) else {
                continue;
            };
            if keeps(&run, true, from) == Some(false) {
                property.standing.insert(from, Standing::Fails);
                property.settled_by.insert(from, Method::Runs);
                continue;
            }
            // Nothing was broken that did not work.
            if !run.old.end.is_definite() {
                continue;
            }
            let before = keeps(&run, true, from);
            let still = |r: &Run| {
                r.same_meaning && keeps(r, false, to) == Some(false) && keeps(r, true, from) == before
            };
            let run = if run.same_meaning { self.shrunk(run, (from, to), &still) } else { run };
            property.breaks.push(Break { from, to, run });
        }
        property.refuting = refuting;
    }

    /// The plainest run that breaks only the newer class, of a property that other inputs break in both.
    fn wider(&self, (from, to): (ClassId, ClassId), keeps: &Keeps) -> Option<Break> {
        let breaks = |r: &Run| {
            r.same_meaning && keeps(r, false, to) == Some(false) && keeps(r, true, from) == Some(true)
        };
        let run = self.task.runs(from, to).iter().find(|r| breaks(r)).cloned()?;
        Some(Break { from, to, run: self.shrunk(run, (from, to), &breaks) })
    }

    /// The plainest run that breaks a property which only the newer class has.
    fn start(&self, (from, to): (ClassId, ClassId), keeps: &Keeps) -> Option<Break> {
        let breaks =
            |r: &Run| r.same_meaning && r.old.end.is_definite() && keeps(r, false, to) == Some(false);
        let run = self.task.runs(from, to).iter().find(|r| breaks(r)).cloned()?;
        Some(Break { from, to, run: self.shrunk(run, (from, to), &breaks) })
    }

    /// The plainest run that a property stops which only the older class has.
    fn end(&self, (from, to): (ClassId, ClassId), keeps: &Keeps, example: Option<Input>) -> Option<Break> {
        let goes_on = |r: &Run| {
            let ends = !matches!(r.new.end, End::AssertFailed { .. }) && r.new.end.is_definite();
            r.same_meaning && keeps(r, true, from) == Some(false) && ends
        };
        let found = self.task.runs(from, to).iter().find(|r| goes_on(r)).cloned();
        let run = found.or_else(|| Some(self.replay(from, to, example?)).filter(|r| goes_on(r)))?;
        Some(Break { from, to, run: self.shrunk(run, (from, to), &goes_on) })
    }

    /// The plainest run that the older class stops at the property, and the newer one does something
    /// undefined on: what is asserted comes too late there.
    fn overtaken(
        &self,
        (from, to): (ClassId, ClassId),
        keeps: &Keeps,
        example: Option<Input>,
    ) -> Option<Break> {
        let stops = |r: &Run| keeps(r, true, from) == Some(false);
        let overtakes = |r: &Run| safety::overtakes(self.task, (from, to), r, &stops);
        let all = self.task.runs(from, to);
        let candidates = all.iter().filter(|r| stops(r) && matches!(r.new.end, End::Undefined { .. }));
        let found = candidates.take(MAX_OVERTAKEN).find(|r| overtakes(r)).cloned();
        let run = found.or_else(|| Some(self.replay(from, to, example?)).filter(|r| overtakes(r)))?;
        Some(Break { from, to, run: self.shrunk(run, (from, to), &overtakes) })
    }

    fn pinned(&mut self, pin: &'c PinnedFact) -> Property {
        let task = self.task;
        let mut property = Property::new(PropertyKind::Pinned, &pin.text);
        match &pin.fact {
            Postcondition::Holds(fact) => {
                let keeps = |run: &Run, old: bool, class: ClassId| {
                    name_resolution::holds_at_end(task, (run, old), class, fact).ok().flatten()
                };
                self.settle_pin(&mut property, &keeps, &|_| Some(Asked::Condition(fact)));
            }
            Postcondition::State(state) => match PinnedState::new(task, state) {
                Ok(pinned) => {
                    let pinned = Rc::new(pinned);
                    let keeps = |run: &Run, old: bool, class: ClassId| pinned.keeps(run, old, class);
                    self.settle_pin(&mut property, &keeps, &|_| Some(Asked::State(pinned.clone())));
                }
                Err(problem) => {
                    property.problem = Some(problem);
                    self.settle_pin(&mut property, &|_, _, _| None, &|_| None);
                }
            },
        }
        property
    }

    /// Settles a pinned fact. `keeps`: what runs say of it.
    fn settle_pin(
        &mut self,
        property: &mut Property,
        keeps: &Keeps,
        asked: &dyn Fn(ClassId) -> Option<Asked<'c>>,
    ) {
        let task = self.task;
        let classes: Vec<ClassId> = task.graph.all_classes().iter().collect();
        self.settle(property, &classes, keeps, asked);
        // Of a fact that some run could speak about, no more is to be said.
        let mut spoken = false;
        for (from, to) in task.run_pairs() {
            let runs = self.task.runs(from, to);
            spoken |= runs.iter().any(|r| keeps(r, true, from).is_some() || keeps(r, false, to).is_some());
        }
        let undecided = property.standing.values().all(|s| *s == Standing::Open);
        property.problem = property.problem.take().filter(|_| undecided && !spoken);
    }

    fn assertions(&mut self) -> Vec<Property> {
        let task = self.task;
        let mut all: BTreeMap<(PropertyKind, String), Property> = BTreeMap::new();
        for class in task.graph.all_classes().iter() {
            let Some(f) = task.units[class].function(&task.graph.bodies[class].name) else { continue };
            for (line, text, ordinal) in assertions_of(f, &task.units[class]) {
                let kind = PropertyKind::Assertion { callee: None, ordinal };
                let property =
                    all.entry((kind.clone(), text.clone())).or_insert_with(|| Property::new(kind, &text));
                property.lines.insert(class, line);
            }
        }
        // Those of callees count when a run of this function breaks them.
        for (from, to) in task.run_pairs() {
            for run in self.task.runs(from, to).iter() {
                for (o, class) in [(&run.old, from), (&run.new, to)] {
                    let Some((kind, text)) = failed(task, class, o) else { continue };
                    if !task.admits(run, std::ptr::eq(o, &run.old), class) {
                        continue;
                    }
                    if matches!(kind, PropertyKind::Assertion { callee: Some(_), .. }) {
                        let property = all
                            .entry((kind.clone(), text.clone()))
                            .or_insert_with(|| Property::new(kind, &text));
                        if let End::AssertFailed { place, .. } = &o.end {
                            property.lines.insert(class, place.line);
                        }
                    }
                }
            }
        }
        let keys: Vec<(PropertyKind, String)> = all.keys().cloned().collect();
        for key in keys {
            let Some(mut property) = all.remove(&key) else { continue };
            let own = matches!(key.0, PropertyKind::Assertion { callee: None, .. });
            let classes: Vec<ClassId> = match &key.0 {
                PropertyKind::Assertion { callee: Some(callee), ordinal } => {
                    let all = task.graph.all_classes();
                    all.iter().filter(|&c| task.asserts(c, callee, &key.1, *ordinal)).collect()
                }
                _ => property.lines.keys().copied().collect(),
            };
            let keeps = |run: &Run, old: bool, class: ClassId| {
                let o = if old { &run.old } else { &run.new };
                match failed(task, class, o) {
                    _ if !task.admits(run, old, class) => None,
                    // What the library never gives refutes nothing.
                    Some(_) if runs::makes_up_library(o) => None,
                    Some(found) if found == key => Some(false),
                    // What another one stops does not come to it.
                    Some(_) => None,
                    _ => o.end.is_definite().then_some(true),
                }
            };
            let lines = property.lines.clone();
            let newest = lines.last_key_value().map_or(0, |(_, line)| *line);
            let is_asked = own && !(lines.len() > 1 && self.covered.has(newest, &key.1));
            let asked = |class| lines.get(&class).filter(|_| is_asked).map(|&line| Asked::Assertion { line });
            self.settle(&mut property, &classes, &keeps, &asked);
            // A new assertion of a helper that fails only where the older version went wrong is the helper's.
            let fails = property.standing.values().any(|s| *s == Standing::Fails);
            let is_new = task.pairs.iter().any(|(from, _)| !property.standing.contains_key(from));
            if own || !fails || !is_new || !property.starts.is_empty() {
                all.insert(key, property);
            }
        }
        all.into_values().collect()
    }
}

/// Whether an instruction is where an assertion fails.
pub(in crate::invariant) fn fails(instr: &Instr) -> bool {
    matches!(instr, Instr::Call { callee, .. } if is_failure(callee))
}

impl FunctionAnalysis<'_> {
    /// Runs a class, as both sides, on what a model proposes.
    fn model_run(&self, class: ClassId, model: &crate::ir::eval::Assignment, roots: &[TermId]) -> Run {
        let graph = self.task.graph;
        let input = inputs::from_model(&self.e.pool, model, roots, &graph.bodies[class]);
        let (program, name) = (&self.task.programs[class], &*graph.bodies[class].name);
        runs::replay(program, program, (name, name), input)
    }
}

/// The assertion that a run failed, named so that it can be found in other classes.
fn failed(task: &Task, class: ClassId, o: &Outcome) -> Option<(PropertyKind, String)> {
    let End::AssertFailed { text, place } = &o.end else { return None };
    let own = place.function == task.graph.bodies[class].name;
    let program = &task.programs[class];
    let (f, unit) = match own {
        true => (task.units[class].function(&place.function)?, &task.units[class]),
        false => (program.function(&place.function)?, program.unit_of(&place.function)?),
    };
    let ordinal = assertions_of(f, unit).iter().find(|(l, t, _)| *l == place.line && t == text).map(|s| s.2);
    let callee = (!own).then(|| place.function.clone());
    Some((PropertyKind::Assertion { callee, ordinal: ordinal.unwrap_or(0) }, text.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{assign, call, named, v};
    use crate::fact::Formula;

    #[test]
    fn a_failing_assertion_is_a_call_of_what_reports_it() {
        assert!(fails(&call(None, named("__invdiff_assert_fail"), vec![])));
        assert!(!fails(&call(None, named("abort"), vec![])) && !fails(&assign(0, v(1))));
    }

    #[test]
    fn a_required_condition_is_about_the_entry() {
        let formula = Formula::read("n > 0");
        let fact = formula.always().expect("a condition");
        let Expression { kind: Kind::Old(inner), span } = at_entry(fact) else { panic!("not of the entry") };
        assert_eq!((&*inner, &span), (fact, &fact.span));
    }
}
