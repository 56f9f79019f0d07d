//! Whether some defined execution of a class comes to a point.
//!
//! Of a point that none comes to every condition holds, which says nothing of the program: such facts are
//! told as what would hold if it were reached, and are no side of a churn. An execution counts that the
//! interpreter carries out: one of the runs that are there, else one of a few more, else one on the solver's
//! model. Where there is none, the point may still be reached; nobody knows.

use crate::invariant::fact::Fact;
use crate::invariant::findings::Reached;
use crate::invariant::findings::speaks_of;
use crate::invariant::findings::{Claim, Undecided};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::point::Kind;
use crate::invariant::witness::inputs;
use crate::invariant::witness::run::Run;
use crate::invariant::witness::runs::{self, FUEL};

use crate::interp::{self, End, Generator, Input, Limits, Outcome, Value};
use crate::ir::{Callee, Function, Instr, NodeId, UndefinedKind};
use crate::mvicfg::{ClassId, ClassSet};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Inputs that are tried where there are no runs yet, or none of these comes to the point.
const TRIED: usize = 64;
/// Inputs whose objects are tried with the numbers of a model.
const FILLED: usize = 16;

impl FunctionAnalysis<'_> {
    /// Finds out which classes come to the point, and takes facts of the others out of churns.
    pub(in crate::invariant) fn tell_what_is_reached(&mut self) {
        // What only we know by a name says nothing to people.
        self.diff.invariants.retain(|f| !f.formula.names_temporary());
        for churn in &mut self.diff.churns {
            churn.removed.retain(|f| !f.formula.names_temporary());
            churn.added.retain(|f| !f.formula.names_temporary());
        }
        let facts = self.diff.invariants.iter();
        let changed = self.diff.churns.iter().flat_map(|c| c.removed.iter().chain(&c.added));
        let classes: BTreeSet<ClassId> = facts.chain(changed).flat_map(|f| f.classes.iter()).collect();
        self.diff.reached = classes.into_iter().map(|c| (c, self.reached(c))).collect();
        let reached = &self.diff.reached;
        let mut unreached = Vec::new();
        let mut open = Vec::new();
        self.diff.churns.retain_mut(|churn| {
            // An undefined event was met by a run.
            let is_event = |f: &Fact| churn.claim == Claim::DiffersUnderUb && f.formula.is_undefined();
            let mut keep = |facts: &mut Vec<Fact>, class: ClassId| {
                let (kept, gone) = std::mem::take(facts)
                    .into_iter()
                    .partition(|f| is_event(f) || speaks_of(reached, f, class));
                *facts = kept;
                let gone: Vec<Fact> = gone;
                let any = !gone.is_empty();
                unreached.extend(gone);
                any
            };
            let mut taken = keep(&mut churn.removed, churn.from);
            taken |= keep(&mut churn.added, churn.to);
            let is_bare = churn.removed.is_empty() && churn.added.is_empty();
            let is_open = taken && is_bare && churn.witness.is_none();
            if is_open {
                let reason = "no defined run that comes there is known";
                open.push(Undecided::fact(churn.subject.name(), reason));
            }
            !is_open
        });
        self.diff.undecided.extend(open);
        self.diff.unreached.extend(Fact::merged(unreached));
    }

    fn reached(&mut self, class: ClassId) -> Reached {
        if self.diff.point.kind == Kind::Entry {
            return Reached { here: true, ends: true };
        }
        let found = self.reached_by_runs(class);
        if found.here {
            return found;
        }
        let more = self.reached_by_more(class);
        let found = Reached { here: more.here, ends: found.ends || more.ends };
        if found.here {
            return found;
        }
        match self.reached_by_model(class) {
            true => Reached { here: true, ends: true },
            false => found,
        }
    }

    /// By the runs that were made to compare classes.
    fn reached_by_runs(&self, class: ClassId) -> Reached {
        let mut found = Reached::default();
        for &(from, to) in self.task.pairs.iter().filter(|(from, to)| *from == class || *to == class) {
            let runs = self.task.runs(from, to);
            let old = from == class;
            if self.diff.point.kind == Kind::Exit {
                for run in runs.iter() {
                    found.add(if old { &run.old } else { &run.new });
                }
            } else if let Some(node) = self.watchable(class, &self.diff.point) {
                let defined = runs.iter().filter(|r| !matches!(side(r, old).end, End::Undefined { .. }));
                found.here |= defined.take(TRIED).any(|r| self.comes_to(class, node, &r.input_of(old)));
            }
            if found.here {
                break;
            }
        }
        found
    }

    /// By a few runs more, on inputs made for this class alone.
    fn reached_by_more(&self, class: ClassId) -> Reached {
        let (program, name) = (&self.task.programs[class], &*self.task.graph.bodies[class].name);
        let mut generator = Generator::new(program, name, 0);
        let node = self.watchable(class, &self.diff.point);
        let mut found = Reached::default();
        let mut known = Known::default();
        for _ in 0..TRIED {
            let input = generator.next();
            match (self.diff.point.kind, node) {
                (Kind::Exit, _) if known.has(&input) => {}
                (Kind::Exit, _) => {
                    let outcome = run(program, name, &input);
                    found.add(&outcome);
                    known.learn(input, &outcome);
                }
                (_, Some(node)) => found.here |= self.comes_to(class, node, &input),
                // Copies that inlining or unrolling made cannot be watched.
                (_, None) => break,
            }
            if found.here {
                break;
            }
        }
        found
    }

    /// By a run on an input that the solver takes for one.
    fn reached_by_model(&mut self, class: ClassId) -> bool {
        let Some(&node) = self.diff.point.nodes.get(&class) else { return false };
        if self.e.flow.classes.get(class.index()).is_none_or(|c| c.irreducible) {
            return false;
        }
        let at_exit = self.diff.point.kind == Kind::Exit;
        let mut under = if at_exit { self.defined(class) } else { self.e.pool.bool(true) };
        for (_, reach) in self.e.reach_from_entry(node, &ClassSet::single(class)) {
            under = self.e.pool.and(under, reach.term);
        }
        let Ok(Some(model)) = self.deciders.lemmas.satisfiable(&mut self.e.pool, under) else { return false };
        let (body, program) = (&self.task.graph.bodies[class], &self.task.programs[class]);
        let proposed = inputs::from_model(&self.e.pool, &model, &[under], body);
        let node = self.watchable(class, &self.diff.point);
        let mut known = Known::default();
        let mut comes = |input: Input| {
            // Before, none came there.
            if known.has(&input) {
                return false;
            }
            let outcome = run(program, &body.name, &input);
            // What cannot be carried out is no reason to doubt the model.
            let comes = is_beyond_us(body, &outcome)
                || match node {
                    _ if at_exit => outcome.end == End::Return,
                    Some(node) => self.comes_to(class, node, &input),
                    None => outcome.end.is_definite(),
                };
            known.learn(input, &outcome);
            comes
        };
        // The model says nothing of memory: the objects of other inputs go with its numbers.
        let mut generator = Generator::new(program, &body.name, 0);
        let with_objects = |mut other: Input| {
            for (argument, number) in other.arguments.iter_mut().zip(&proposed.arguments) {
                if let (Value::Const(_), Value::Const(_)) = (&*argument, number) {
                    *argument = number.clone();
                }
            }
            other.stdin.clone_from(&proposed.stdin);
            other
        };
        comes(proposed.clone()) || (0..FILLED).any(|_| comes(with_objects(generator.next())))
    }

    fn comes_to(&self, class: ClassId, node: NodeId, input: &Input) -> bool {
        let mut came = false;
        let name = &self.task.graph.bodies[class].name;
        runs::watch(&self.task.programs[class], name, input, node, &mut |_| {
            came = true;
            ControlFlow::Break(())
        });
        came
    }
}

/// Inputs of runs that rest on nothing else: of a `main` without arguments each one is the same.
#[derive(Default)]
struct Known {
    inputs: Vec<Input>,
}

impl Known {
    /// Whether the run on an input is known by that on another one.
    fn has(&self, input: &Input) -> bool {
        self.inputs.iter().any(|known| known.is_same_but_for_plan(input))
    }

    fn learn(&mut self, input: Input, outcome: &Outcome) {
        if !outcome.read.is_planned {
            self.inputs.push(input);
        }
    }
}

/// Whether a run ended where the interpreter does not know what happens: at an effect that it cannot carry out,
/// at what a function would have written that is not known, or at a call through a pointer that leads to none.
fn is_beyond_us(body: &Function, outcome: &Outcome) -> bool {
    let calls_through = |line: u32| {
        let here = body.nodes.iter().filter(|n| n.span.line == line);
        here.into_iter().any(|n| matches!(n.instr, Instr::Call { callee: Callee::Indirect(_), .. }))
    };
    match &outcome.end {
        End::Unsupported { .. } => true,
        End::Undefined { kind: UndefinedKind::NullDereference | UndefinedKind::BadPointer, place } => {
            calls_through(place.line) || runs::is_made_up(outcome)
        }
        _ => runs::is_made_up(outcome),
    }
}

fn side(run: &Run, old: bool) -> &Outcome {
    if old { &run.old } else { &run.new }
}

fn run(program: &interp::Program, name: &str, input: &Input) -> Outcome {
    interp::run(program, name, input, &Limits { fuel: FUEL, ..Limits::default() })
}
