//! Pinned states of resources, `n < 0 ==> in is closed`: proved along the automaton, and judged in runs.
//!
//! A pinned state speaks of executions that return, meet its conditions, and began the resource, where some
//! version begins it: opened, allocated or locked it. Of those it holds where the resource is in the state that the
//! words say. What a name stands for: a local variable, all resources that calls make for it; the name of a
//! protocol without arguments, the program's one resource; anything else, what was there at the entry, as a value
//! or, where calls take its address, as a place.
//!
//! *Proof*: the state's condition, which [`super::typestate`] computes for each class. What would rest on an
//! assumption (a call of which nothing is known keeps a lock) is open.
//! *Runs*: the calls of a run ([`interp::run_watching`]) take the automaton from state to state. Where a resource is
//! handed to a function that may do anything with it, the run says nothing.

use super::protocol::{self, Protocol, Step, Values};
use super::provers::Shown;
use super::typestate::{Resource, among};
use crate::fact::{Kind, ResourceState, term};
use crate::interp::{self, CallSite, Limits, WatchedCall};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::name_resolution::{self, Exit, RunSide};
use crate::invariant::task::Task;
use crate::invariant::witness::run::Run;
use crate::invariant::witness::runs::FUEL;
use crate::ir::{CType, Callee, Const, Expr, Function, Instr, TermId, TermPool, VarId, VarKind};
use crate::mvicfg::ClassId;
use crate::semantics::c_text::Named;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The words that pinned states may end in: of states, not of mistakes.
pub fn state_words(own: &[Protocol]) -> BTreeSet<&str> {
    let of = |p: &'static Protocol| [p.word(&p.start), p.word(&p.end)];
    let of_own = own.iter().flat_map(|p| [p.word(&p.start), p.word(&p.end)]);
    protocol::stock().iter().flat_map(of).chain(of_own).filter(|w| !w.is_empty()).collect()
}

/// A pinned state with what the versions of a function do about it.
pub(super) struct PinnedState<'t> {
    task: &'t Task<'t>,
    state: &'t ResourceState,
    /// Whose words they are, as far as a call of the function tells; several only where none does.
    protocols: Vec<&'t Protocol>,
    /// It is to be in the final state.
    is_final: bool,
    /// Some version begins it.
    is_begun: bool,
    /// How calls take it.
    taken_as: Option<CType>,
}

/// What the resource of a pin is in one version.
enum Subject {
    /// Of a protocol without arguments.
    Only,
    /// What calls at these nodes of the body make.
    Made(Vec<usize>),
    /// What was there at the entry.
    Given,
}

/// Where a resource is in a run.
#[derive(Clone, Copy, PartialEq)]
enum State {
    /// As it was when the function began.
    Untouched,
    Start,
    Final,
    /// Somebody else has it.
    Gone,
}

/// A resource of one run.
struct Followed {
    word: Option<Const>,
    state: State,
    is_begun: bool,
}

impl<'t> PinnedState<'t> {
    /// Errors: why nothing can be said of it in any version.
    pub fn new(task: &'t Task<'t>, state: &'t ResourceState) -> Result<PinnedState<'t>, String> {
        let all = protocol::stock().iter().chain(task.specification.protocols);
        let says = |p: &&'t Protocol| [&p.start, &p.end].iter().any(|s| p.word(s) == state.words);
        let speaking: Vec<&Protocol> = all.filter(says).collect();
        if speaking.is_empty() {
            let known: Vec<&str> = state_words(task.specification.protocols).into_iter().collect();
            let of = known.join(", ");
            return Err(format!("no protocol says that a resource '{}'; they say: {of}", state.words));
        }
        let is_final = speaking.first().is_some_and(|p| p.word(&p.end) == state.words);
        let mut pinned =
            PinnedState { task, state, protocols: Vec::new(), is_final, is_begun: false, taken_as: None };
        let classes = || task.graph.all_classes();
        let concerns = |p: &&Protocol| classes().iter().any(|c| pinned.concerns(p, c));
        let concerned: Vec<&Protocol> = speaking.iter().copied().filter(concerns).collect();
        match concerned.as_slice() {
            [protocol] => {
                pinned.taken_as = classes().iter().find_map(|c| pinned.argument_type(protocol, c));
                let begins = |c: ClassId| {
                    pinned
                        .calls(protocol, c)
                        .any(|(_, call, _)| protocol.step(call).is_some_and(|s| s.to == protocol.start))
                };
                let is_made =
                    classes().iter().any(|c| matches!(pinned.subject(protocol, c), Subject::Made(_)));
                pinned.is_begun = is_made || classes().iter().any(begins);
                pinned.protocols = vec![protocol];
            }
            // Nothing here takes any step: what is never left again is where it was.
            [] if speaking.iter().any(|p| p.is_absorbing()) && !pinned.is_local() => {
                pinned.protocols = speaking.into_iter().filter(|p| p.is_absorbing()).collect();
            }
            [] => {
                return Err(format!("no call here makes '{}', or takes it to another state", state.resource));
            }
            [..] => return Err(format!("'{}' may be said of several resources here", state.words)),
        }
        Ok(pinned)
    }

    /// Whether the resource goes by the name of a local variable of some version.
    fn is_local(&self) -> bool {
        let Kind::Name(name) = &self.state.resource.kind else { return false };
        let local = |f: &Function| f.vars.iter().any(|v| *v.name == **name && v.kind == VarKind::Local);
        self.task.graph.bodies.iter().any(|f| local(f))
    }

    /// Whether calls of a class may concern the resource, by what they are of a protocol.
    fn concerns(&self, protocol: &Protocol, class: ClassId) -> bool {
        match self.subject(protocol, class) {
            Subject::Only => true,
            Subject::Made(nodes) => !nodes.is_empty(),
            Subject::Given => !protocol.is_single() && self.argument_type(protocol, class).is_some(),
        }
    }

    /// The calls of a class that are events of a protocol, with their nodes in the body.
    fn calls(
        &self,
        protocol: &'t Protocol,
        class: ClassId,
    ) -> impl Iterator<Item = (usize, &'t str, &'t Instr)> + use<'t> {
        let (task, names) = (self.task, protocol.calls());
        task.graph.bodies[class].nodes.iter().enumerate().filter_map(move |(at, n)| {
            let Instr::Call { callee: Callee::Direct(name), .. } = &n.instr else { return None };
            let plain = name.strip_prefix("__builtin_").unwrap_or(name);
            let is_event = protocol.is_own || task.callees.identity(class, name).is_none();
            (is_event && names.contains(plain)).then_some((at, plain, &n.instr))
        })
    }

    /// The type of the argument that a step of a protocol takes, in a class.
    fn argument_type(&self, protocol: &Protocol, class: ClassId) -> Option<CType> {
        let protocol = self.known(protocol)?;
        self.calls(protocol, class).find_map(|(_, call, instr)| {
            let Instr::Call { arg_types, .. } = instr else { return None };
            arg_types.get(protocol.step(call)?.argument?).cloned()
        })
    }

    fn known(&self, protocol: &Protocol) -> Option<&'t Protocol> {
        let all = protocol::stock().iter().chain(self.task.specification.protocols);
        all.into_iter().find(|p| p.name == protocol.name)
    }

    fn subject(&self, protocol: &Protocol, class: ClassId) -> Subject {
        let Kind::Name(name) = &self.state.resource.kind else { return Subject::Given };
        if protocol.is_single() {
            return if *name == protocol.name { Subject::Only } else { Subject::Given };
        }
        let body = &self.task.graph.bodies[class];
        let named: Vec<VarId> = (0..body.vars.len() as u32)
            .map(VarId)
            .filter(|&v| *body.var(v).name == **name && body.var(v).kind != VarKind::Temp)
            .collect();
        match named.iter().any(|&v| body.var(v).kind == VarKind::Local) {
            false => Subject::Given,
            true => Subject::Made(self.makers(protocol, class, &named)),
        }
    }

    /// The calls that make a resource whose value variables get, straight or by way of a helper that was inlined.
    fn makers(&self, protocol: &Protocol, class: ClassId, named: &[VarId]) -> Vec<usize> {
        let Some(protocol) = self.known(protocol) else { return Vec::new() };
        let body = &self.task.graph.bodies[class];
        let on_the_way = |v: VarId| body.var(v).kind == VarKind::Temp || body.var(v).name.contains("::");
        let copies: Vec<(VarId, VarId)> = (body.nodes.iter())
            .filter_map(|n| match &n.instr {
                Instr::Assign { dst, value: Expr::Var(from) } => Some((*from, *dst)),
                _ => None,
            })
            .collect();
        let gets = |first: VarId| {
            let (mut reached, mut work) = (BTreeSet::from([first]), vec![first]);
            while let Some(v) = work.pop() {
                if named.contains(&v) {
                    return true;
                }
                let next = copies.iter().filter(|(from, _)| *from == v && on_the_way(v)).map(|(_, to)| *to);
                work.extend(next.filter(|to| reached.insert(*to)));
            }
            false
        };
        let made = self.calls(protocol, class).filter(|(_, call, instr)| {
            let Instr::Call { dst: Some(dst), .. } = instr else { return false };
            protocol.creation(call).is_some() && gets(*dst)
        });
        made.map(|(at, ..)| at).collect()
    }

    /// Where a node of a class's body is written.
    fn site(&self, class: ClassId, node: usize) -> Option<CallSite> {
        let (body, unit) = (&self.task.graph.bodies[class], &self.task.units[class]);
        let n = body.nodes.get(node)?;
        let statement = body.stmts.get(n.stmt.0 as usize).map(|s| &s.span).filter(|s| s.line != 0);
        let span = if n.span.line != 0 { &n.span } else { statement.unwrap_or(&body.span) };
        let file = unit.files.get(span.file.0 as usize).unwrap_or(&unit.path).clone();
        Some(CallSite { file, line: span.line, column: span.col })
    }

    /// Whether one side of a run keeps it; `None`: the run does not say.
    pub fn keeps(&self, run: &Run, old: bool, class: ClassId) -> Option<bool> {
        for condition in &self.state.conditions {
            if !name_resolution::holds_at_end(self.task, (run, old), class, condition).ok()?? {
                return Some(true);
            }
        }
        let outcome = if old { &run.old } else { &run.new };
        if outcome.end != interp::End::Return || !self.task.admits(run, old, class) {
            return None;
        }
        let (body, program) = (&*self.task.graph.bodies[class], &self.task.programs[class]);
        let names: BTreeSet<Arc<str>> =
            self.protocols.iter().flat_map(|p| p.calls()).map(Arc::from).collect();
        let limits = Limits { fuel: FUEL, ..Limits::default() };
        let (again, calls) = interp::run_watching(program, &body.name, &run.input_of(old), &limits, &names);
        let calls = calls.filter(|_| again.end == outcome.end)?;
        let mut left = true;
        for r in self.followed((run, old), class, &calls)? {
            if self.is_begun && !r.is_begun {
                continue;
            }
            let may_be_left = self.protocols.iter().any(|p| !p.is_absorbing());
            left &= match r.state {
                State::Gone => return None,
                State::Untouched if !self.is_final && may_be_left => return None,
                state => (state == State::Final) == self.is_final,
            };
        }
        Some(left)
    }

    /// The resources that are meant, as a run left them.
    fn followed(
        &self,
        (run, old): (&Run, bool),
        class: ClassId,
        calls: &[WatchedCall],
    ) -> Option<Vec<Followed>> {
        let mut all: Vec<Followed> = Vec::new();
        let mut sites = Vec::new();
        let mut given: Option<(RunSide, TermId)> = None;
        let fresh = |word| Followed { word, state: State::Untouched, is_begun: false };
        match self.subject(self.protocols.first()?, class) {
            Subject::Only => all.push(fresh(None)),
            Subject::Made(nodes) => sites = nodes.iter().filter_map(|&n| self.site(class, n)).collect(),
            Subject::Given => {
                let (unit, body) = (&*self.task.units[class], &*self.task.graph.bodies[class]);
                let program = &*self.task.programs[class];
                let mut side = RunSide { unit, body, program, run, old, pool: TermPool::new() };
                let taken_as = self.taken_as.as_ref();
                let value = term::referent(&self.state.resource, taken_as, &mut side).ok()?;
                if side.pool.as_const(value).is_some_and(|c| self.is_none(c)) {
                    return Some(Vec::new());
                }
                given = Some((side, value));
                all.push(fresh(None));
            }
        }
        for call in calls {
            if let Some(unless) = self.creation(call) {
                let (made, word) = (call.site.as_ref().is_some_and(|s| sites.contains(s)), call.result?);
                let is_some = !has(unless, word);
                // What is in use is not made again.
                let is_in_use = |r: &Followed| r.word == Some(word) && r.state != State::Final;
                if is_some && all.iter().any(is_in_use) {
                    return None;
                }
                if made && is_some {
                    all.push(Followed { word: Some(word), state: State::Start, is_begun: true });
                    continue;
                }
            }
            let step = self.step(call);
            let is_it = |at: usize, r: &Followed, given: &mut Option<(RunSide, TermId)>| {
                let Some(argument) = call.arguments.get(at) else { return false };
                match given {
                    Some((side, value)) => {
                        argument.named.as_ref().is_some_and(|v| side.entry_value(v) == *value)
                    }
                    None => r.word.is_some_and(|w| w == argument.word),
                }
            };
            let meant = |all: &[Followed], at: Option<usize>, given: &mut Option<(RunSide, TermId)>| match at
            {
                Some(at) => all.iter().rposition(|r| is_it(at, r, given)),
                None => (sites.is_empty() && given.is_none()).then_some(0),
            };
            if let Some((protocol, step)) = step {
                let Some(r) = meant(&all, step.argument, &mut given).and_then(|k| all.get_mut(k)) else {
                    continue;
                };
                match step.unless {
                    Some(unless) if has(unless, call.result?) => continue,
                    _ => {}
                }
                let starts = step.to == protocol.start;
                r.state = if starts { State::Start } else { State::Final };
                r.is_begun |= starts;
                continue;
            }
            let is_taken = self.protocols.iter().any(|p| p.takes.iter().any(|t| **t == *call.callee));
            if is_taken || !call.is_named {
                for at in 0..call.arguments.len() {
                    if let Some(k) = meant(&all, Some(at), &mut given)
                        && let Some(r) = all.get_mut(k)
                    {
                        r.state = State::Gone;
                    }
                }
            }
        }
        Some(all)
    }

    /// Which results of a call make no resource, if it is one that makes them.
    fn creation(&self, call: &WatchedCall) -> Option<Values> {
        let events = self.protocols.iter().filter(|p| self.is_event(p, call));
        events.filter_map(|p| p.creation(&call.callee)).map(|c| c.unless).next()
    }

    fn step(&self, call: &WatchedCall) -> Option<(&'t Protocol, &'t Step)> {
        let mut events = self.protocols.iter().filter(|p| self.is_event(p, call));
        events.find_map(|p| Some((*p, p.step(&call.callee)?)))
    }

    /// A program's own function of the name is none of the library.
    fn is_event(&self, protocol: &Protocol, call: &WatchedCall) -> bool {
        call.is_named && (protocol.is_own || !call.is_defined)
    }

    /// Values that are no resource: those that no call that makes one gives, and of which steps do nothing.
    fn none_among(&self) -> Vec<Values> {
        let of = |p: &&'t Protocol| -> Vec<Values> {
            let made = p.create.iter().map(|c| c.unless);
            made.chain(p.steps.iter().filter_map(|s| s.ignores)).collect()
        };
        self.protocols.iter().flat_map(of).collect()
    }

    fn is_none(&self, value: Const) -> bool {
        self.none_among().into_iter().any(|values| has(values, value))
    }

    /// What is shown of a class.
    ///
    /// Errors: why nothing can be said of the class.
    pub fn prove(&self, engine: &mut FunctionAnalysis, class: ClassId) -> Result<Shown, String> {
        let &[protocol] = self.protocols.as_slice() else { return Ok(Shown::default()) };
        let mut given = engine.e.pool.bool(true);
        for condition in &self.state.conditions {
            let c = term::condition(condition, &mut Exit { engine, class }).map_err(|e| e.to_string())?;
            given = engine.e.pool.and(given, c);
        }
        let mut holds = true;
        for (r, is_one) in self.resources(engine, class, protocol)? {
            let Some((premise, left)) = engine.left_in(class, &r, (self.is_final, self.is_begun)) else {
                holds = false;
                continue;
            };
            let under = engine.e.pool.and(given, is_one);
            let under = engine.e.pool.and(under, premise);
            let shown = engine.implied_at_exit(class, under, left);
            if shown.model.is_some() {
                return Ok(shown);
            }
            holds &= shown.holds;
        }
        Ok(Shown::whether(holds))
    }

    /// The resources that are meant in a class, each with the condition that it is one.
    fn resources(
        &self,
        engine: &mut FunctionAnalysis,
        class: ClassId,
        protocol: &'t Protocol,
    ) -> Result<Vec<(Resource<'t>, TermId)>, String> {
        let always = engine.e.pool.bool(true);
        let name = Named { text: self.state.resource.to_string(), ty: CType::Void };
        let made = |term, created| Resource { protocol, term, name: name.clone(), created };
        match self.subject(protocol, class) {
            Subject::Only => Ok(vec![(made(engine.only_term(protocol), false), always)]),
            Subject::Given => {
                let mut exit = Exit { engine, class };
                let term = term::referent(&self.state.resource, self.taken_as.as_ref(), &mut exit)
                    .map_err(|e| e.to_string())?;
                let pool = &mut engine.e.pool;
                let mut is_one = always;
                for values in self.none_among() {
                    let none = among(pool, term, values);
                    let some = none.map_or(always, |none| pool.not(none));
                    is_one = pool.and(is_one, some);
                }
                Ok(vec![(made(term, false), is_one)])
            }
            Subject::Made(nodes) if nodes.is_empty() => {
                Err(format!("no call here makes '{}'", self.state.resource))
            }
            Subject::Made(nodes) => {
                let node = |&n: &usize| self.task.graph.node_map[class.index()].get(n).copied();
                let terms = nodes.iter().map(|n| engine.result(class, node(n)?).map(|(_, t)| t));
                let terms: Option<Vec<TermId>> = terms.collect();
                let terms = terms.ok_or("what a call makes is not followed")?;
                Ok(terms.into_iter().map(|t| (made(t, true), always)).collect())
            }
        }
    }
}

/// Whether a value is one of a set.
fn has(values: Values, value: Const) -> bool {
    match values {
        Values::Zero => value.to_bits() == 0,
        Values::Nonzero => value.to_bits() != 0,
        Values::Negative => value.signed().is_some_and(|v| v < 0),
    }
}
