//! Algorithm 2 of the diffDP paper: the modified program is explored step by step, and for each of its
//! paths a witness path of the original program is sought that is executable whenever the first one
//! is and that violates the property no later.
//!
//! A pair of locations is aligned under a set of change-affected variables. Equal operations are done
//! together; a new one is done alone, while the original program waits. The original program goes on
//! alone over what it executes in any case (`Aligner::skip`): assignments, calls that are followed,
//! branches whose ways meet again without doing anything but to assign, branches whose conditions are
//! constants, and assertions: where one fails, the original program violates the property, and nothing
//! that comes of it is new. Refinements of the listing:
//!
//! - straight-line code is aligned by a diff, so that a removed assignment is skipped where it stood,
//!   and assignments to the same variables that differ are done together (the paper's footnote 4);
//! - a new violation is none where the original program runs into one by itself (footnote 6);
//! - a new condition matches an old one that it implies (`assume::implied`);
//! - where a condition is affected, or is another one, but both programs' ways meet again and the
//!   original one only assigns between, the modified one goes its ways alone and both meet behind;
//! - paths from which the modified program meets no violation at all end at once;
//! - constants are followed on both sides, and ways that bring different ones are kept apart.
//!
//! What may differ only grows while pairs are explored, so the exploration is a fix-point; the graph is
//! read off afterwards, from the final states alone, which makes it deterministic.

use super::automaton::{Automaton, Loc};
use super::body::Kind;
use super::graph::{Builder, Edge, Graph, Role};
use super::known::Known;
use super::model::Model;
use super::part::Part;
use super::state::State;
use crate::ir::{Expr, Instr, Object, VarId};
use crate::mvicfg::alignment::{Algorithm, DiffOp, aligned};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

/// Pairs, and visits of pairs, beyond which everything is to be verified.
const MAX_PAIRS: usize = 6_000;
const MAX_VISITS: usize = 20_000;
/// Sets of constants with which one pair is explored, each for itself.
const MAX_CASES: usize = 4;
/// Operations that are looked ahead.
pub(super) const LOOKAHEAD: usize = 40;
/// Branches that are looked ahead.
pub(super) const BRANCHES: usize = 4;

/// Aligned locations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Pair {
    pub old: Loc,
    pub new: Loc,
    /// The modified program goes alone until it gets there.
    pub until: Option<Loc>,
    /// Which of the constants that ways bring here; `MAX_CASES` is for all others.
    case: usize,
}

/// Where an operation of the modified program leads.
pub(super) enum To {
    Pair(Pair, State),
    Bug(Loc),
    Covered(Loc),
}

pub(super) struct Out {
    pub label: usize,
    pub to: To,
}

/// What to do with the next operation of straight-line code.
enum Plan {
    Alone,
    /// After so many operations of the original program, together; `equal`: they are the same.
    Together {
        skip: usize,
        equal: bool,
    },
}

pub(super) struct Aligner<'m> {
    pub model: &'m Model<'m>,
    cases: RefCell<HashMap<Meeting, Vec<(Known, Known)>>>,
}

/// A pair without its case.
type Meeting = (Loc, Loc, Option<Loc>);

/// Runs the algorithm.
pub(super) fn graph(model: &Model) -> Graph {
    let aligner = Aligner { model, cases: RefCell::default() };
    let builder = Builder::new(&model.new, &model.new_functions);
    let start = model.new.start();
    aligner.explore(&builder).unwrap_or_else(|| Graph::everything(builder.place(start)))
}

impl Aligner<'_> {
    /// Returns `None` when there is too much of it, or no alignment at all.
    fn explore(&self, builder: &Builder) -> Option<Graph> {
        let (old, new) = (self.model.old.start(), self.model.new.start());
        let state = State { affected: self.model.start.clone(), ..State::default() };
        let (first, state) = match self.arrive(old, new, None, state) {
            To::Pair(pair, state) => (pair, state),
            To::Bug(_) => return None,
            To::Covered(at) => {
                return Some(Graph { nodes: vec![(builder.place(at), Role::Covered)], edges: Vec::new() });
            }
        };
        let mut known: HashMap<Pair, State> = HashMap::from([(first, state)]);
        let mut work: VecDeque<Pair> = VecDeque::from([first]);
        let mut waiting: HashSet<Pair> = HashSet::from([first]);
        let mut visits = 0;
        while let Some(pair) = work.pop_front() {
            waiting.remove(&pair);
            visits += 1;
            if visits > MAX_VISITS || known.len() > MAX_PAIRS {
                return None;
            }
            let Some(state) = known.get(&pair).cloned() else { continue };
            for out in self.outs(&pair, &state) {
                let To::Pair(next, reached) = out.to else { continue };
                let grown = match known.get_mut(&next) {
                    Some(state) => state.join(&reached),
                    None => {
                        known.insert(next, reached);
                        true
                    }
                };
                if grown && waiting.insert(next) {
                    work.push_back(next);
                }
            }
        }
        Some(self.read_off(first, &known, builder))
    }

    fn read_off(&self, first: Pair, known: &HashMap<Pair, State>, builder: &Builder) -> Graph {
        let mut graph = Graph { nodes: vec![(builder.place(first.new), Role::Aligned)], edges: Vec::new() };
        let mut pairs: BTreeMap<Pair, usize> = BTreeMap::from([(first, 0)]);
        let mut ends: BTreeMap<(Loc, bool), usize> = BTreeMap::new();
        let mut work = VecDeque::from([first]);
        while let Some(pair) = work.pop_front() {
            let from = pairs[&pair];
            let Some(state) = known.get(&pair) else { continue };
            for out in self.outs(&pair, state) {
                let next = graph.nodes.len();
                let (to, at, role) = match out.to {
                    To::Pair(p, _) => (*pairs.entry(p).or_insert(next), p.new, Role::Aligned),
                    To::Bug(at) => (*ends.entry((at, true)).or_insert(next), at, Role::Bug),
                    To::Covered(at) => (*ends.entry((at, false)).or_insert(next), at, Role::Covered),
                };
                if to == next {
                    graph.nodes.push((builder.place(at), role));
                    if let To::Pair(p, _) = out.to {
                        work.push_back(p);
                    }
                }
                graph.edges.push(Edge { from, label: out.label, to });
            }
        }
        graph.edges.sort();
        graph.edges.dedup();
        graph
    }

    pub(super) fn before(&self) -> &Automaton {
        &self.model.old
    }

    pub(super) fn after(&self) -> &Automaton {
        &self.model.new
    }

    pub(super) fn bug(&self, at: Loc) -> To {
        if self.after().can_fail_from(at) { To::Bug(at) } else { To::Covered(at) }
    }

    /// The procedure `process` of the listing.
    pub(super) fn arrive(&self, old: Loc, new: Loc, until: Option<Loc>, state: State) -> To {
        let until = until.filter(|u| *u != new);
        if !self.after().can_fail_from(new) || self.old_fails(old, &state) {
            return To::Covered(new);
        }
        match self.after().step(new).kind {
            Kind::Fail => To::Bug(new),
            _ => {
                let case = self.case((old, new, until), &state);
                To::Pair(Pair { old, new, until, case }, state)
            }
        }
    }

    /// Ways that bring different constants are followed apart, as long as these are few.
    fn case(&self, meeting: Meeting, state: &State) -> usize {
        let mut cases = self.cases.borrow_mut();
        let list = cases.entry(meeting).or_default();
        let same = |c: &(Known, Known)| c.0.has_values_of(&state.old) && c.1.has_values_of(&state.new);
        let known = list.iter().position(same);
        known.unwrap_or_else(|| {
            if list.len() < MAX_CASES {
                list.push((state.old.clone(), state.new.clone()));
                return list.len() - 1;
            }
            MAX_CASES
        })
    }

    /// Takes the original program over branches whose conditions are constants.
    fn past_constants(&self, from: Loc, state: &State) -> Loc {
        let mut at = from;
        for _ in 0..LOOKAHEAD {
            let Some(label) = folded(self.before(), at, &state.old) else { break };
            let Some(next) = self.before().succ(at, usize::from(!label)) else { break };
            at = next;
        }
        at
    }

    /// Whether the original program violates the property whatever else it reads.
    fn old_fails(&self, from: Loc, state: &State) -> bool {
        let (mut at, mut state) = (from, state.clone());
        for _ in 0..LOOKAHEAD {
            if matches!(self.before().step(at).kind, Kind::Fail) {
                return true;
            }
            match self.skip(at, &mut state, true) {
                Some(next) => at = next,
                None => return false,
            }
        }
        false
    }

    /// Lets the original program go on alone over what it executes in any case. `across`: also over
    /// branches whose ways meet again.
    pub(super) fn skip(&self, at: Loc, state: &mut State, across: bool) -> Option<Loc> {
        let side = self.before();
        let step = side.step(at);
        match &step.kind {
            Kind::Plain => {
                let value = step.assigns.as_ref().and_then(|(_, e)| state.old.value(side, at, e));
                for w in &step.writes {
                    state.affected.add(w.part);
                    state.old.set(w.part.object, None);
                }
                if let Some((object, _)) = &step.assigns {
                    state.old.assign(side, at, *object, value);
                    self.settle(state, *object);
                }
                side.succ(at, 0)
            }
            Kind::Call(_) => {
                let body = side.entered(at)?;
                self.bind(side, at, body, state, true);
                Some(side.enter(at, body))
            }
            Kind::Leave => {
                let (caller, next) = side.leave(at)?;
                self.give_back(side, at, caller, state, true);
                next
            }
            Kind::Branch(_) => {
                if let Some(label) = folded(side, at, &state.old) {
                    return side.succ(at, usize::from(!label));
                }
                if let Some(label) = side.passes(at) {
                    self.learn_old(at, label, state);
                    return side.succ(at, usize::from(!label));
                }
                let (next, writes) = side.region(at).filter(|(_, w)| across || w.is_empty())?;
                for w in writes.iter() {
                    state.affected.add(w.part);
                    state.old.set(w.part.object, None);
                }
                Some(next)
            }
            Kind::Skip | Kind::Fail | Kind::Halt => None,
        }
    }

    /// Equal constants are equal values, and so are variables that equal one that does not differ.
    fn settle(&self, state: &mut State, object: u32) {
        let constant = state.old.get(object).is_some_and(|c| state.new.get(object) == Some(c));
        let is_same = |o: &u32| !state.affected.touches(&self.model.objects, Part::whole(*o));
        let mut equals = state.old.equals(object).filter(|o| state.new.are_equal(object, *o));
        if constant || equals.any(|o| is_same(&o)) {
            drop(equals);
            state.affected.remove(Part::whole(object));
        }
    }

    /// Parameters get their values, other variables are new. `is_old`: in the original program.
    fn bind(&self, side: &Automaton, at: Loc, body: usize, state: &mut State, is_old: bool) {
        let callee = &side.bodies[body];
        let arguments = arguments(side, at);
        let constants = if is_old { &state.old } else { &state.new };
        let caller = side.body(at);
        let copied = |a: &Expr| match a {
            Expr::Var(v) => Some((*caller.objects.get(v.0 as usize)?, caller.function.var(*v).sort?)),
            _ => None,
        };
        let values: Vec<_> = arguments.iter().map(|a| (constants.value(side, at, a), copied(a))).collect();
        let mut objects = Vec::new();
        for part in side.variables(body) {
            state.affected.add(part);
            objects.push(part.object);
        }
        let constants = if is_old { &mut state.old } else { &mut state.new };
        objects.iter().for_each(|o| constants.set(*o, None));
        for (p, (value, copied)) in callee.function.params.iter().zip(values) {
            let (var, object) = (callee.function.var(*p), callee.objects[p.0 as usize]);
            if !var.in_memory {
                constants.set(object, value);
                let copied = copied.filter(|(_, sort)| var.sort == Some(*sort));
                copied.into_iter().for_each(|(from, _)| constants.equate(object, from));
            }
        }
        for p in &callee.function.params {
            self.settle(state, callee.objects[p.0 as usize]);
        }
    }

    /// The result of a function that is left goes to the variable of the caller.
    fn give_back(&self, side: &Automaton, at: Loc, caller: Loc, state: &mut State, is_old: bool) {
        let result = side.body(at).result;
        let writes = side.step(caller).writes.clone();
        let constants = if is_old { &mut state.old } else { &mut state.new };
        let value = constants.get(result);
        for w in &writes {
            constants.set(w.part.object, None);
            state.affected.add(w.part);
        }
        if let [only] = writes.as_slice()
            && only.strong
            && only.part == Part::whole(only.part.object)
        {
            let constants = if is_old { &mut state.old } else { &mut state.new };
            constants.set(only.part.object, value);
            constants.equate(only.part.object, result);
            self.settle(state, only.part.object);
        }
    }

    /// Where the operations at a location of the modified program lead.
    fn outs(&self, pair: &Pair, state: &State) -> Vec<Out> {
        let step = self.after().step(pair.new);
        match &step.kind {
            Kind::Branch(_) => self.branch(pair, state),
            Kind::Skip | Kind::Fail | Kind::Halt => Vec::new(),
            Kind::Leave if self.after().leave(pair.new).is_none() => Vec::new(),
            Kind::Plain | Kind::Call(_) | Kind::Leave => {
                let plan = if pair.until.is_some() { Plan::Alone } else { self.plan(pair, state) };
                let out = match plan {
                    Plan::Together { skip, equal } => self.together(pair, state.clone(), skip, equal),
                    Plan::Alone => None,
                };
                let out = out.or_else(|| self.alone(pair, state.clone()));
                out.map(|to| Out { label: 0, to }).into_iter().collect()
            }
        }
    }

    /// The modified program does its operation; the original one waits. `None`: it ends there.
    fn alone(&self, pair: &Pair, mut state: State) -> Option<To> {
        let side = self.after();
        let step = side.step(pair.new);
        let entered = side.entered(pair.new);
        if step.traps || entered.is_none() && side.call_can_fail(step) {
            return Some(To::Bug(pair.new));
        }
        let next = match (&step.kind, entered) {
            (Kind::Call(_), Some(body)) => {
                self.bind(side, pair.new, body, &mut state, false);
                side.enter(pair.new, body)
            }
            (Kind::Leave, _) => {
                let (caller, next) = side.leave(pair.new)?;
                self.give_back(side, pair.new, caller, &mut state, false);
                next?
            }
            (kind, _) => {
                if matches!(kind, Kind::Call(_)) {
                    state.affected.add(Part::whole(super::part::ALL));
                }
                self.assign_new(pair.new, &mut state, |affected, w| affected.add(w.part));
                side.succ(pair.new, 0)?
            }
        };
        Some(self.arrive(pair.old, next, pair.until, state))
    }

    /// Does the writes of the modified program's operation.
    fn assign_new(
        &self,
        at: Loc,
        state: &mut State,
        write: impl Fn(&mut super::part::Affected, &super::part::Write),
    ) {
        let step = self.after().step(at);
        let value = step.assigns.as_ref().and_then(|(_, e)| state.new.value(self.after(), at, e));
        for w in &step.writes {
            write(&mut state.affected, w);
            state.new.set(w.part.object, None);
        }
        if let Some((object, _)) = &step.assigns {
            state.new.assign(self.after(), at, *object, value);
            self.settle(state, *object);
        }
    }

    /// What straight-line operations are to be matched by: calls that are followed by whom they call,
    /// others by all that they say. `None`: not an operation of straight-line code.
    fn identity(&self, side: &Automaton, at: Loc) -> Option<(u8, u32)> {
        let step = side.step(at);
        match &step.kind {
            Kind::Plain => Some((0, step.text)),
            Kind::Call(_) => match side.entered(at) {
                Some(body) => Some((1, side.bodies[body].frame)),
                None => Some((2, step.text)),
            },
            Kind::Leave => side.leave(at).map(|_| (3, side.body(at).frame)),
            Kind::Branch(atom) => side.past_assertion(at).map(|_| (4, atom.text)),
            _ => None,
        }
    }

    fn plan(&self, pair: &Pair, state: &State) -> Plan {
        let (old, new) = (self.before(), self.after());
        let first = self.identity(new, pair.new);
        let (mut at, mut scratch) = (self.past_constants(pair.old, state), state.clone());
        if first.is_some() && first == self.identity(old, at) {
            return Plan::Together { skip: 0, equal: true };
        }
        let mut before = Vec::new();
        let mut places = Vec::new();
        while let Some(id) = self.identity(old, at).filter(|_| before.len() < LOOKAHEAD) {
            before.push(id);
            places.push(at);
            match self.skip(at, &mut scratch, false) {
                Some(next) => at = self.past_constants(next, &scratch),
                None => break,
            }
        }
        let after = self.ahead(pair.new);
        for op in aligned(Algorithm::Myers, &before, &after) {
            let skip = op.old_range().start;
            if op.new_range().start != 0 || op.new_range().is_empty() {
                continue;
            }
            return match op {
                DiffOp::Equal { .. } => Plan::Together { skip, equal: true },
                DiffOp::Replace { .. } if self.writes_alike(places[skip], pair.new) => {
                    Plan::Together { skip, equal: false }
                }
                _ => Plan::Alone,
            };
        }
        Plan::Alone
    }

    /// The operations of straight-line code that the modified program executes next.
    fn ahead(&self, from: Loc) -> Vec<(u8, u32)> {
        let side = self.after();
        let mut found = Vec::new();
        let mut at = from;
        while let Some(id) = self.identity(side, at).filter(|_| found.len() < LOOKAHEAD) {
            found.push(id);
            let next = match side.entered(at) {
                Some(body) => Some(side.enter(at, body)),
                None if matches!(side.step(at).kind, Kind::Leave) => side.leave(at).and_then(|(_, n)| n),
                None if matches!(side.step(at).kind, Kind::Call(_)) => None,
                None => side.past_assertion(at).or_else(|| side.succ(at, 0)),
            };
            match next {
                Some(next) => at = next,
                None => break,
            }
        }
        found
    }

    /// Whether two assignments are to the same variables.
    fn writes_alike(&self, old: Loc, new: Loc) -> bool {
        let (a, b) = (self.before().step(old), self.after().step(new));
        let plain = matches!((&a.kind, &b.kind), (Kind::Plain, Kind::Plain));
        plain && !a.writes.is_empty() && a.writes == b.writes
    }

    /// Both programs do an operation, the original one after some others. `None`: they must not.
    fn together(&self, pair: &Pair, mut state: State, skip: usize, equal: bool) -> Option<To> {
        let (old, new) = (self.before(), self.after());
        let mut at = self.past_constants(pair.old, &state);
        for _ in 0..skip {
            at = self.skip(at, &mut state, false)?;
            at = self.past_constants(at, &state);
        }
        let (was, is) = (old.step(at), new.step(pair.new));
        let objects = &self.model.objects;
        match (&was.kind, &is.kind) {
            (Kind::Plain, Kind::Plain) => {
                let differs = !equal || state.touches_any(objects, &is.reads);
                if differs && is.traps {
                    return Some(To::Bug(pair.new));
                }
                let value = was.assigns.as_ref().and_then(|(_, e)| state.old.value(old, at, e));
                was.writes.iter().for_each(|w| state.old.set(w.part.object, None));
                if let Some((object, _)) = &was.assigns {
                    state.old.assign(old, at, *object, value);
                }
                self.assign_new(pair.new, &mut state, |affected, w| match (differs, w.strong) {
                    (true, _) => affected.add(w.part),
                    (false, true) => affected.remove(w.part),
                    (false, false) => {}
                });
                Some(self.arrive(old.succ(at, 0)?, new.succ(pair.new, 0)?, None, state))
            }
            (Kind::Call(_), Kind::Call(_)) => match (old.entered(at), new.entered(pair.new)) {
                (Some(a), Some(b)) => {
                    self.enter_together((at, a), (pair.new, b), &mut state);
                    Some(self.arrive(old.enter(at, a), new.enter(pair.new, b), None, state))
                }
                (None, None) => self.call_together(at, pair.new, state),
                _ => None,
            },
            (Kind::Leave, Kind::Leave) => {
                let ((a, next_old), (b, next_new)) = (old.leave(at)?, new.leave(pair.new)?);
                let (was, is) = (old.step(a), new.step(b));
                let result = Part::whole(new.body(pair.new).result);
                let alike = was.writes == is.writes && old.body(a).frame == new.body(b).frame;
                // Of an aggregate, the place it goes to counts as well; it is among what the call reads.
                let place = is.writes.len() > 1 || is.writes.iter().any(|w| !w.strong);
                let differs = !alike
                    || place && (was.text != is.text || state.touches_any(objects, &is.reads))
                    || state.affected.touches(objects, result);
                let before = state.affected.clone();
                self.give_back(old, at, a, &mut state, true);
                self.give_back(new, pair.new, b, &mut state, false);
                if !differs {
                    state.affected = before;
                    is.writes.iter().filter(|w| w.strong).for_each(|w| state.affected.remove(w.part));
                }
                state.forget(objects, new.body(pair.new).frame);
                // Where the original program does not come back, it does not fail either.
                match (next_old, next_new) {
                    (_, None) => None,
                    (Some(o), Some(n)) => Some(self.arrive(o, n, None, state)),
                    (None, Some(n)) => Some(self.bug(n)),
                }
            }
            _ => None,
        }
    }

    /// Both programs call the same function by name.
    fn enter_together(&self, (at, a): (Loc, usize), (now, b): (Loc, usize), state: &mut State) {
        let (old, new) = (self.before(), self.after());
        let (was, is) = (old.step(at), new.step(now));
        let objects = &self.model.objects;
        let same_call = was.text == is.text;
        // Arguments are compared one by one where the calls are not the same as a whole.
        let (theirs, mine) = (arguments(old, at), arguments(new, now));
        let alike = |k: usize| -> bool {
            let (Some(x), Some(y)) = (theirs.get(k), mine.get(k)) else { return false };
            let reads = self.argument_reads(now, y);
            same_text(old, at, x, new, now, y) && !state.touches_any(objects, &reads)
        };
        let callee = &new.bodies[b];
        let equal: Vec<bool> = (0..callee.function.params.len())
            .map(|k| {
                let aggregate = callee.function.var(callee.function.params[k]).sort.is_none();
                match aggregate {
                    true => same_call && !state.touches_any(objects, &is.reads),
                    false => alike(k),
                }
            })
            .collect();
        self.bind(old, at, a, state, true);
        self.bind(new, now, b, state, false);
        // All other variables are as new in both.
        let constants: Vec<u32> =
            callee.function.params.iter().map(|p| callee.objects[p.0 as usize]).collect();
        let before = state.affected.clone();
        state.affected.forget(objects, callee.frame);
        for (k, object) in constants.iter().enumerate() {
            let settled = !before.touches(objects, Part::whole(*object));
            let place = old.bodies[a].function.params.get(k).map(|p| old.bodies[a].objects[p.0 as usize]);
            if place != Some(*object) || !(equal[k] || settled) {
                state.affected.add(Part::whole(*object));
                place.into_iter().for_each(|p| state.affected.add(Part::whole(p)));
            }
        }
    }

    /// The variables that an argument reads.
    fn argument_reads(&self, at: Loc, argument: &Expr) -> Vec<Part> {
        let objects = &self.after().body(at).objects;
        let mut reads = Vec::new();
        argument.for_each_var(&mut |v| reads.extend(objects.get(v.0 as usize).map(|o| Part::whole(*o))));
        reads
    }

    /// Both programs do a call that is one operation.
    fn call_together(&self, at: Loc, now: Loc, mut state: State) -> Option<To> {
        let (old, new) = (self.before(), self.after());
        let (was, is) = (old.step(at), new.step(now));
        let Kind::Call(call) = &is.kind else { return None };
        let mut reads = is.reads.clone();
        reads.push(Part::whole(super::part::ALL));
        let known = self.model.is_same_call(was, call);
        if was.text != is.text || !known || state.touches_any(&self.model.objects, &reads) {
            return None;
        }
        let (next_old, next_new) = (old.succ(at, 0), new.succ(now, 0));
        is.writes.iter().chain(&was.writes).for_each(|w| {
            state.old.set(w.part.object, None);
            state.new.set(w.part.object, None);
        });
        is.writes.iter().filter(|w| w.strong).for_each(|w| state.affected.remove(w.part));
        Some(self.arrive(next_old?, next_new?, None, state))
    }
}

pub(super) fn folded(side: &Automaton, at: Loc, constants: &Known) -> Option<bool> {
    match &side.body(at).function.node(at.node).instr {
        Instr::Branch { cond } => constants.value(side, at, cond)?.as_bool(),
        _ => None,
    }
}

fn arguments(side: &Automaton, at: Loc) -> Vec<Expr> {
    match &side.body(at).function.node(at.node).instr {
        Instr::Call { args, .. } => args.clone(),
        _ => Vec::new(),
    }
}

/// Whether two expressions say the same of variables of the same name.
fn same_text(old: &Automaton, at: Loc, x: &Expr, new: &Automaton, now: Loc, y: &Expr) -> bool {
    let variable = |side: &Automaton, at: Loc, v: VarId| side.body(at).objects.get(v.0 as usize).copied();
    match (x, y) {
        (Expr::Const(a), Expr::Const(b)) => a == b,
        (Expr::Var(a), Expr::Var(b)) => variable(old, at, *a) == variable(new, now, *b),
        (Expr::Addr(Object::Local(a)), Expr::Addr(Object::Local(b))) => {
            variable(old, at, *a) == variable(new, now, *b)
        }
        (Expr::Addr(a), Expr::Addr(b)) => a == b && old.body(at).frame == new.body(now).frame,
        (Expr::Op { op: a, args: xs, .. }, Expr::Op { op: b, args: ys, .. }) => {
            a == b
                && xs.len() == ys.len()
                && xs.iter().zip(ys).all(|(x, y)| same_text(old, at, x, new, now, y))
        }
        _ => false,
    }
}
