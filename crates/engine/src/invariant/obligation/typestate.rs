//! In which states a function leaves its resources: `f is closed`, `n < 0 ==> p is not freed`.
//!
//! A resource is a term: the result of a call that creates one, or an argument of a step that was
//! there before. The calls outside loops that may concern it are events, in order of control, each under
//! the condition of getting there with that very resource. Run along them, the automaton of the
//! protocol (module `protocol`) gives each state as a condition over the inputs. *Claims of the
//! final state* need no more: a step that may concern something else only adds to what is to be
//! proved. That a resource is *not* in the final state is claimed where it went nowhere else: it was
//! neither stored, nor returned, nor handed to a function that may do anything with it.

use crate::fact::Formula;
use crate::invariant::fact::{Fact, Template};
use crate::invariant::findings::{Churn, Claim, ClassFacts, Undecided};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::obligation::protocol::{self, Protocol, Values};
use crate::invariant::observable::Observable;
use crate::invariant::proof::abstraction;
use crate::invariant::text;
use crate::ir::{
    App, CType, Callee, Expr, Instr, Leaf, Op, Sort, Term, TermId, TermPool, Uf, VarId, VarKind,
};
use crate::mvicfg::{ClassId, ClassSet, MvId, Mvicfg};
use crate::semantics::c_text::Named;
use crate::semantics::{Lines, library};
use crate::smt::Truth;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Resources of one class that are told of.
const MAX_RESOURCES: usize = 8;
/// Bytes of the longest text of a condition, and of a resource's name.
const MAX_CONDITION: usize = 100;
const MAX_NAME: usize = 40;
/// Places inside each other of which a text names the innermost.
const MAX_DEPTH: usize = 8;

/// Names of the resources that a function makes.
type Names = BTreeMap<TermId, Named>;

/// A resource of one class.
pub(super) struct Resource<'t> {
    pub protocol: &'t Protocol,
    /// The value that stands for it.
    pub term: TermId,
    pub name: Named,
    /// Made by this function, and not known before.
    pub created: bool,
}

/// Something that concerns a resource.
struct Event {
    node: MvId,
    condition: TermId,
    what: What,
}

enum What {
    /// The resource goes to the state `start` (true) or to the final one.
    Step {
        starts: bool,
        from_start: bool,
        from_end: bool,
        noop: TermId,
    },
    Use,
}

/// The states along the events, as conditions.
struct States {
    /// The function took the resource out of its final state, or made it.
    begun: TermId,
    any_begun: bool,
    start: TermId,
    end: TermId,
    twice: TermId,
    late: TermId,
}

/// A fact of one class about one resource.
#[derive(Clone)]
struct Held<'t> {
    protocol: &'t str,
    name: String,
    formula: Formula,
    condition: TermId,
    assumptions: BTreeSet<String>,
    causes: Rc<Lines>,
    guards: Rc<Lines>,
}

impl<'t> FunctionAnalysis<'t> {
    /// Adds the states of resources that classes share, and tells where two classes differ in them.
    pub(in crate::invariant) fn typestates(&mut self) {
        let classes = self.task.graph.all_classes();
        let held: BTreeMap<ClassId, Vec<Held<'t>>> = classes.iter().map(|c| (c, self.held_in(c))).collect();
        for &(from, to) in &self.task.pairs.clone() {
            if let (Some(a), Some(b)) = (held.get(&from), held.get(&to)) {
                self.compare_states((from, a), (to, b));
            }
        }
        let mut merged: Vec<(TermId, Fact)> = Vec::new();
        for (&class, all) in &held {
            for h in all {
                let fact = self.held_fact(h, class);
                match merged.iter_mut().find(|(c, f)| *c == h.condition && f.formula == fact.formula) {
                    Some((_, f)) => {
                        f.classes.insert(class);
                        f.lines.extend(fact.lines);
                        f.assumptions.extend(fact.assumptions);
                        f.assumptions.sort();
                        f.assumptions.dedup();
                    }
                    None => merged.push((h.condition, fact)),
                }
            }
        }
        self.diff.invariants.extend(merged.into_iter().map(|(_, f)| f));
    }

    fn held_fact(&self, held: &Held, class: ClassId) -> Fact {
        Fact {
            template: Template::Typestate,
            variables: vec![held.name.clone()],
            formula: held.formula.clone(),
            c: None,
            classes: ClassSet::single(class),
            assumptions: held.assumptions.iter().cloned().collect(),
            lines: BTreeMap::from([(class, self.lines(&held.causes, class))]),
            bounds: BTreeMap::new(),
        }
    }

    /// Tells of resources that both classes have, and whose states only one class keeps.
    fn compare_states(&mut self, (from, old): (ClassId, &[Held<'t>]), (to, new): (ClassId, &[Held<'t>])) {
        let names: BTreeSet<(&str, &String)> = old.iter().map(|h| (h.protocol, &h.name)).collect();
        for (protocol, name) in names {
            let of = |all: &[Held<'t>]| -> Vec<Held<'t>> {
                all.iter().filter(|h| h.protocol == protocol && h.name == *name).cloned().collect()
            };
            let (a, b) = (of(old), of(new));
            let not_in = |x: &[Held<'t>], y: &[Held<'t>]| -> Vec<Held<'t>> {
                let same = |h: &Held, o: &Held| o.formula == h.formula;
                x.iter().filter(|h| !y.iter().any(|o| same(h, o))).cloned().collect()
            };
            let (removed, added) = (not_in(&a, &b), not_in(&b, &a));
            if b.is_empty() || removed.is_empty() {
                continue;
            }
            // The same state under conditions that differ in form may be the same state.
            let kept = |h: &Held| added.iter().any(|o| o.formula.claim() == h.formula.claim());
            if removed.iter().all(kept) && removed.iter().all(|h| h.formula.is_conditional()) {
                let reason = "the conditions of its states differ in form";
                self.diff.undecided.push(Undecided::fact(name, reason));
                continue;
            }
            let side = |all: &[Held]| {
                let union = |f: &dyn Fn(&Held) -> Rc<Lines>| {
                    Rc::new(all.iter().fold(Lines::default(), |l, h| l.union(&f(h))))
                };
                ClassFacts {
                    causes: union(&|h| h.causes.clone()),
                    guards: union(&|h| h.guards.clone()),
                    ..ClassFacts::default()
                }
            };
            let causes = self.causes_of_change((from, to), (&side(&a), &side(&b)), None);
            let facts = |all: &[Held], class| all.iter().map(|h| self.held_fact(h, class)).collect();
            let churn = Churn {
                from,
                to,
                subject: Observable::Relation { variables: vec![name.clone()], observable: true },
                removed: facts(&removed, from),
                added: facts(&added, to),
                claim: Claim::NoLongerProvable,
                causes,
                witness: None,
                cell: None,
                objects: None,
            };
            self.diff.churns.push(churn);
        }
    }

    /// The facts of one class.
    fn held_in(&mut self, class: ClassId) -> Vec<Held<'t>> {
        let graph = self.task.graph;
        let flow = &self.e.flow.classes[class];
        let nodes = flow.rpo.clone();
        // Behind a second return nothing is known of what was called in between.
        if nodes.iter().any(|&n| graph.node(n).instr.is_second_return()) {
            return Vec::new();
        }
        let resources = self.resources(class, &nodes);
        // Of several resources of one name nobody could tell which is meant.
        let is_alone = |r: &&Resource| resources.iter().filter(|o| o.name.text == r.name.text).count() == 1;
        let alone: Vec<&Resource> = resources.iter().filter(is_alone).collect();
        let made = alone.iter().filter(|r| r.created);
        let names: Names = made.map(|r| (r.term, r.name.clone())).collect();
        let mut found: Vec<Held<'t>> = Vec::new();
        for resource in alone {
            if self.e.is_exhausted() {
                return Vec::new();
            }
            found.extend(self.held_of(class, &nodes, resource, &names));
        }
        found
    }

    /// The library function that a node calls, with its arguments.
    fn library_call(&self, class: ClassId, node: MvId) -> Option<(&str, &[Expr])> {
        match &self.task.graph.node(node).instr {
            Instr::Call { callee: Callee::Direct(name), args, .. }
                if self.task.callees.identity(class, name).is_none() =>
            {
                Some((name.strip_prefix("__builtin_").unwrap_or(name), args))
            }
            _ => None,
        }
    }

    /// A call that may be an event of a protocol, with its arguments: one of the library, or one that a project's
    /// own protocol names, whoever defines it.
    fn event_call(&self, protocol: &Protocol, class: ClassId, node: MvId) -> Option<(&str, &[Expr])> {
        match &self.task.graph.node(node).instr {
            Instr::Call { callee: Callee::Direct(name), args, .. }
                if protocol.is_own && protocol.calls().contains(&**name) =>
            {
                Some((name, args))
            }
            _ => self.library_call(class, node),
        }
    }

    /// The protocols in force: those of the program, then the project's.
    fn protocols(&self) -> impl Iterator<Item = &'t Protocol> + use<'t> {
        protocol::stock().iter().chain(self.task.specification.protocols)
    }

    /// Whether some step of a project's protocol is taken without the argument that it is about: then nobody
    /// knows of which resource.
    fn lacks_argument(&self, protocol: &Protocol, class: ClassId, nodes: &[MvId]) -> bool {
        let lacks = |&node: &MvId| {
            let Some((call, args)) = self.event_call(protocol, class, node) else { return false };
            protocol.step(call).and_then(|s| s.argument).is_some_and(|at| at >= args.len())
        };
        protocol.is_own && nodes.iter().any(lacks)
    }

    fn is_outside_loops(&self, class: ClassId, node: MvId) -> bool {
        self.e.flow.classes[class].innermost[node.0 as usize].is_none()
    }

    fn value(&mut self, class: ClassId, node: MvId, e: &Expr) -> Option<TermId> {
        let part = self.e.expr(e, node, &ClassSet::single(class));
        part.into_iter().next().map(|(_, v)| v.term)
    }

    pub(super) fn result(&mut self, class: ClassId, node: MvId) -> Option<(VarId, TermId)> {
        let Instr::Call { dst: Some(dst), .. } = &self.task.graph.node(node).instr else { return None };
        let (dst, place) = (*dst, self.e.places.of_var(*dst));
        let part = self.e.after(place, node, &ClassSet::single(class));
        part.into_iter().next().map(|(_, v)| (dst, v.term))
    }

    fn resources(&mut self, class: ClassId, nodes: &[MvId]) -> Vec<Resource<'t>> {
        let mut found: Vec<Resource<'t>> = Vec::new();
        for protocol in self.protocols() {
            if self.lacks_argument(protocol, class, nodes) {
                continue;
            }
            if protocol.is_single() {
                found.extend(self.only_resource(protocol, class, nodes));
                continue;
            }
            for created in [true, false] {
                for &node in nodes {
                    let like = found.iter().filter(|r| r.protocol.is_own == protocol.is_own).count();
                    let known = self.is_outside_loops(class, node) && like < MAX_RESOURCES;
                    let Some((call, args)) = self.event_call(protocol, class, node).filter(|_| known) else {
                        continue;
                    };
                    let term = if created {
                        protocol.creation(call).and_then(|_| self.result(class, node)).map(|(_, t)| t)
                    } else {
                        let argument = protocol.step(call).and_then(|s| args.get(s.argument?).cloned());
                        argument.and_then(|a| self.value(class, node, &a))
                    };
                    let Some(term) = term else { continue };
                    let same = |r: &Resource| r.term == term && r.protocol.name == protocol.name;
                    if found.iter().any(same) {
                        continue;
                    }
                    let name = match created {
                        true => self.name_of_created(class, nodes, term),
                        false => self.name_of_given(protocol, class, node, term),
                    };
                    if let Some(name) = name {
                        found.push(Resource { protocol, term, name, created });
                    }
                }
            }
        }
        found
    }

    /// The program's one resource of a protocol, if the function takes a step of it.
    fn only_resource(
        &mut self,
        protocol: &'t Protocol,
        class: ClassId,
        nodes: &[MvId],
    ) -> Option<Resource<'t>> {
        let is_step = |&&node: &&MvId| {
            let call = self.event_call(protocol, class, node).map(|(call, _)| call);
            call.is_some_and(|call| protocol.step(call).is_some())
        };
        nodes.iter().find(is_step)?;
        let term = self.only_term(protocol);
        let name = Named { text: protocol.name.clone(), ty: CType::Void };
        Some(Resource { protocol, term, name, created: false })
    }

    /// What stands for the program's one resource of a protocol.
    pub(super) fn only_term(&mut self, protocol: &Protocol) -> TermId {
        let symbol = format!("protocol:{}", protocol.name).into();
        self.e.pool.leaf(Leaf::SymbolAddr { symbol, bits: self.task.pointer_bits })
    }

    /// The condition under which a resource is in its final state, or in the other one, at the exit, and the one
    /// under which that is asked: always, or where the function began it. `None`: it is not known, or rests on
    /// an assumption.
    pub(super) fn left_in(
        &mut self,
        class: ClassId,
        r: &Resource,
        (is_final, is_begun): (bool, bool),
    ) -> Option<(TermId, TermId)> {
        let nodes = self.e.flow.classes[class].rpo.clone();
        let returns_twice = nodes.iter().any(|&n| self.task.graph.node(n).instr.is_second_return());
        if returns_twice || self.lacks_argument(r.protocol, class, &nodes) {
            return None;
        }
        let (mut causes, mut guards) = (Lines::default(), Lines::default());
        let (events, steady) = self.events_of(class, &nodes, r, &mut causes, &mut guards)?;
        let absorbing = r.protocol.is_absorbing();
        let is_kept = match is_final {
            true => absorbing || steady,
            false => steady && (!absorbing || r.created && !self.escapes(class, &nodes, r)),
        };
        let is_assumed = !absorbing && self.calls_unseen(r.protocol, class, &nodes)
            || !self.success_assumed(r.protocol, class, &events, !is_final).is_empty();
        if !is_kept || is_assumed {
            return None;
        }
        let states = self.states(&events);
        let always = self.e.pool.bool(true);
        let premise = if is_begun { states.begun } else { always };
        let left = if is_final { states.end } else { states.start };
        let is_known = [premise, left].iter().all(|&t| !self.e.rests_on_havoc(t));
        is_known.then_some((premise, left))
    }

    /// The first variable that gets a value.
    fn name_of_created(&mut self, class: ClassId, nodes: &[MvId], term: TermId) -> Option<Named> {
        let graph = self.task.graph;
        for &node in nodes {
            let (dst, value) = match &graph.node(node).instr {
                Instr::Assign { dst, value } => (*dst, self.value(class, node, value)),
                Instr::Call { dst: Some(dst), .. } => (*dst, self.result(class, node).map(|(_, t)| t)),
                _ => continue,
            };
            let var = &graph.vars[dst.0 as usize];
            if value == Some(term) && var.kind != VarKind::Temp && !var.name.contains("::") {
                return Some(Named { text: var.name.to_string(), ty: var.ty.clone() });
            }
        }
        None
    }

    /// The name of something that was there when the function began.
    fn name_of_given(&self, protocol: &Protocol, class: ClassId, node: MvId, term: TermId) -> Option<Named> {
        let pool = &self.e.pool;
        let made = |t: &TermId| match pool.get(*t) {
            Term::App(App::Uf(_) | App::Op(Op::Ite), _) => true,
            Term::Leaf(leaf) => matches!(leaf, Leaf::Havoc { .. } | Leaf::Indeterminate { .. }),
            _ => false,
        };
        if pool.as_const(term).is_some() || pool.reachable(&[term]).iter().any(made) {
            return None;
        }
        let written = text::term(pool, term, &self.namings[class], None);
        let plain = match written.strip_prefix('&') {
            // An address is written with the innermost place that starts there.
            Some(place) => place.strip_suffix(&*self.innermost(protocol, class, node)).unwrap_or(place),
            None => &written,
        };
        let simple = plain.chars().all(|c| c.is_alphanumeric() || "_->.[]\\()".contains(c));
        let named = simple && plain.len() <= MAX_NAME && self.is_readable(&Formula::read(written.as_str()));
        named.then(|| Named { text: plain.to_owned(), ty: CType::Void })
    }

    /// How the innermost place at the beginning of what a step's argument leads to is written.
    fn innermost(&self, protocol: &Protocol, class: ClassId, node: MvId) -> String {
        let mut written = String::new();
        let Instr::Call { arg_types, .. } = &self.task.graph.node(node).instr else { return written };
        let step = self.event_call(protocol, class, node).and_then(|(call, _)| protocol.step(call));
        let mut ty = step.and_then(|s| arg_types.get(s.argument?)).and_then(|t| t.target());
        for _ in 0..MAX_DEPTH {
            match ty {
                Some(CType::Record(id)) => {
                    let record = self.task.units[class].records.get(id.0 as usize);
                    let Some(first) = record.and_then(|r| r.fields.first()) else { break };
                    written.push('.');
                    written.push_str(&first.name);
                    ty = Some(&first.ty);
                }
                Some(CType::Array(element, _)) => {
                    written.push_str("[0]");
                    ty = Some(element);
                }
                _ => break,
            }
        }
        written
    }

    fn held_of(&mut self, class: ClassId, nodes: &[MvId], r: &Resource<'t>, names: &Names) -> Vec<Held<'t>> {
        let single = ClassSet::single(class);
        let (mut causes, mut guards) = (Lines::default(), Lines::default());
        let Some((events, steady)) = self.events_of(class, nodes, r, &mut causes, &mut guards) else {
            return Vec::new();
        };
        let mut exit = self.e.pool.bool(true);
        for (_, reach) in self.e.reach_from_entry(Mvicfg::EXIT, &single) {
            exit = reach.term;
            guards = guards.union(&reach.causes);
        }
        let states = self.states(&events);
        let all = [exit, states.begun, states.start, states.end, states.twice, states.late];
        if all.iter().any(|&t| self.e.rests_on_havoc(t)) {
            return Vec::new();
        }
        let absorbing = r.protocol.is_absorbing();
        let mut assumptions = BTreeSet::new();
        if !absorbing && self.calls_unseen(r.protocol, class, nodes) {
            assumptions.insert(format!("unseen-calls-keep({})", r.name.text));
        }
        let mut assumed_at_end = assumptions.clone();
        assumed_at_end.extend(self.success_assumed(r.protocol, class, &events, false));
        let held = |text: String, condition: TermId, assumptions: BTreeSet<String>| Held {
            protocol: &r.protocol.name,
            name: r.name.text.clone(),
            formula: Formula::read(text),
            condition,
            assumptions,
            causes: Rc::new(causes.clone()),
            guards: Rc::new(guards.clone()),
        };
        let mut found = Vec::new();
        let always = self.e.pool.bool(true);
        let premise = if states.any_begun { states.begun } else { always };
        let end = r.protocol.word(&r.protocol.end);
        let begun = self.e.pool.and(exit, premise);
        let ends = self.is_sure(begun, states.end);
        if ends && (absorbing || steady) {
            if self.is_possible(begun) {
                found.push(held(format!("{} {end}", r.name.text), always, assumed_at_end));
            }
        } else if absorbing || steady {
            let kept = self.within(exit, premise, states.end);
            found.extend(
                self.conditional((class, names), r, exit, kept, end).map(|(t, c)| held(t, c, assumed_at_end)),
            );
        }
        let kept_here = steady && (!absorbing || r.created && !self.escapes(class, nodes, r));
        if kept_here && !ends && states.any_begun {
            let mut assumptions = assumptions.clone();
            assumptions.extend(self.success_assumed(r.protocol, class, &events, true));
            let left = self.within(exit, premise, states.start);
            let start = r.protocol.word(&r.protocol.start);
            if self.is_sure(begun, left) {
                if self.is_possible(begun) {
                    found.push(held(format!("{} {start}", r.name.text), always, assumptions));
                }
            } else {
                let fact = self.conditional((class, names), r, exit, left, start);
                found.extend(fact.map(|(t, c)| held(t, c, assumptions)));
            }
        }
        for (condition, word) in [(states.twice, &r.protocol.twice), (states.late, &r.protocol.late)] {
            let Some(word) = word.as_ref().filter(|_| absorbing) else { continue };
            let fact = self.conditional((class, names), r, always, condition, word);
            found.extend(fact.map(|(t, c)| held(t, c, BTreeSet::new())));
        }
        found
    }

    /// Both a premise and the condition of a state, as shortly as it can be said.
    fn within(&mut self, exit: TermId, premise: TermId, state: TermId) -> TermId {
        let state = abstraction::under(&mut self.e.pool, state, premise);
        let reached = self.e.pool.and(exit, state);
        match self.is_sure(reached, premise) {
            true => state,
            false => self.e.pool.and(premise, state),
        }
    }

    /// Whether a goal is proved under a condition.
    fn is_sure(&mut self, under: TermId, goal: TermId) -> bool {
        matches!(self.deciders.lemmas.holds(&mut self.e.pool, under, goal), Truth::Holds)
    }

    /// Whether some input satisfies a condition.
    fn is_possible(&mut self, condition: TermId) -> bool {
        matches!(self.deciders.lemmas.satisfiable(&mut self.e.pool, condition), Ok(Some(_)))
    }

    /// The text of a fact under a condition that some execution meets, with that condition.
    fn conditional(
        &mut self,
        (class, names): (ClassId, &Names),
        r: &Resource,
        exit: TermId,
        condition: TermId,
        word: &str,
    ) -> Option<(String, TermId)> {
        let met = self.e.pool.and(exit, condition);
        if self.e.rests_on_indeterminate(condition) || !self.is_possible(met) {
            return None;
        }
        if self.e.pool.as_const(condition).is_some() {
            return Some((format!("{} {word}", r.name.text), condition));
        }
        let mut naming = self.namings[class].clone();
        naming.names_mut().extend(names.clone());
        let when = text::term(&self.e.pool, condition, &naming, None);
        let shown = when.len() <= MAX_CONDITION && self.is_readable(&Formula::read(when.as_str()));
        shown.then(|| (format!("{when} ==> {} {word}", r.name.text), condition))
    }

    /// Runs the automaton along the events.
    fn states(&mut self, events: &[Event]) -> States {
        let pool = &mut self.e.pool;
        let never = pool.bool(false);
        let mut s =
            States { begun: never, any_begun: false, start: never, end: never, twice: never, late: never };
        for event in events {
            let c = event.condition;
            match event.what {
                What::Use => {
                    let late = pool.and(c, s.end);
                    s.late = pool.or(s.late, late);
                }
                What::Step { starts, from_start, from_end, noop } => {
                    for (state, may) in [(s.start, from_start), (s.end, from_end)] {
                        if !may {
                            let effective = pool.not(noop);
                            let wrong = pool.and(c, state);
                            let wrong = pool.and(wrong, effective);
                            s.twice = pool.or(s.twice, wrong);
                        }
                    }
                    let not = pool.not(c);
                    let (start, end) = (pool.and(s.start, not), pool.and(s.end, not));
                    if starts {
                        (s.start, s.end) = (pool.or(start, c), end);
                        s.begun = pool.or(s.begun, c);
                        s.any_begun = true;
                    } else {
                        (s.start, s.end) = (start, pool.or(end, c));
                    }
                }
            }
        }
        s
    }

    /// The events of a resource in order, and whether all that may concern it is among them; nothing where
    /// something in a loop may take it to any state.
    fn events_of(
        &mut self,
        class: ClassId,
        nodes: &[MvId],
        r: &Resource,
        causes: &mut Lines,
        guards: &mut Lines,
    ) -> Option<(Vec<Event>, bool)> {
        let single = ClassSet::single(class);
        let (mut events, mut steady) = (Vec::new(), true);
        for &node in nodes {
            let Some((concerns, what)) = self.concern(class, node, r) else { continue };
            if self.e.pool.as_const(concerns).and_then(|c| c.as_bool()) == Some(false) {
                continue;
            }
            if !self.is_outside_loops(class, node) {
                match what {
                    What::Use => continue,
                    What::Step { starts: false, .. } if r.protocol.is_absorbing() => steady = false,
                    What::Step { .. } => return None,
                }
                continue;
            }
            let (_, reach) = self.e.reach_from_entry(node, &single).into_iter().next()?;
            let condition = self.e.pool.and(reach.term, concerns);
            if !matches!(what, What::Use) {
                causes.insert(node);
                *guards = guards.union(&reach.causes).union(&reach.guards);
            }
            events.push(Event { node, condition, what });
        }
        Some((events, steady))
    }

    /// Whether, and under which condition, a node does something to a resource when control gets there.
    fn concern(&mut self, class: ClassId, node: MvId, r: &Resource) -> Option<(TermId, What)> {
        let never = self.e.pool.bool(false);
        if let Instr::Load { addr, .. } | Instr::Store { addr, .. } = &self.task.graph.node(node).instr {
            if !r.protocol.dereferenced || !self.is_outside_loops(class, node) {
                return None;
            }
            let address = self.value(class, node, addr)?;
            return self.base_is(address, r.term).then(|| (self.e.pool.bool(true), What::Use));
        }
        let (call, args) = self.event_call(r.protocol, class, node)?;
        let args = args.to_vec();
        let is_single = r.protocol.is_single();
        if r.created && r.protocol.creation(call).is_some() {
            let unless = r.protocol.creation(call)?.unless;
            let (_, result) = self.result(class, node)?;
            if result != r.term {
                return None;
            }
            let failed = among(&mut self.e.pool, result, unless)?;
            let made = self.e.pool.not(failed);
            return Some((made, What::Step { starts: true, from_start: true, from_end: true, noop: never }));
        }
        if let Some(step) = r.protocol.step(call) {
            let value = match step.argument {
                Some(at) => self.value(class, node, args.get(at)?)?,
                None => r.term,
            };
            let mut concerns = if is_single { self.e.pool.bool(true) } else { self.is_same(r, value)? };
            if let Some(unless) = step.unless
                && let Some((_, result)) = self.result(class, node)
            {
                let failed = among(&mut self.e.pool, result, unless)?;
                let not = self.e.pool.not(failed);
                concerns = self.e.pool.and(concerns, not);
            }
            let noop = match step.ignores {
                Some(values) => among(&mut self.e.pool, value, values)?,
                None => never,
            };
            let may = |state: &String| step.from.contains(state);
            let (from_start, from_end) = (may(&r.protocol.start), may(&r.protocol.end));
            let starts = step.to == r.protocol.start;
            return Some((concerns, What::Step { starts, from_start, from_end, noop }));
        }
        if is_single {
            return r.protocol.is_use(call).then(|| (self.e.pool.bool(true), What::Use));
        }
        let used = r.protocol.uses.iter().filter(|u| u.call == call);
        let arguments: Vec<Expr> = used.filter_map(|u| args.get(u.argument?).cloned()).collect();
        let mut any = never;
        for a in arguments {
            if let Some(value) = self.value(class, node, &a)
                && let Some(same) = self.is_same(r, value)
            {
                any = self.e.pool.or(any, same);
            }
        }
        Some((any, What::Use))
    }

    /// Condition under which a value is the resource. That two resources of different origin are the same
    /// matters only for protocols in which the final state can be left again: elsewhere what is not known
    /// to be the resource is not counted.
    fn is_same(&mut self, r: &Resource, value: TermId) -> Option<TermId> {
        let comparable = self.e.pool.sort(value) == self.e.pool.sort(r.term);
        let other = |callee: &str| {
            callee.strip_suffix(":result").is_some_and(|call| r.protocol.creation(call).is_some())
        };
        let is_new = match self.e.pool.get(value) {
            Term::App(App::Uf(Uf::Call { callee, .. }), _) => value != r.term && other(callee),
            _ => false,
        };
        let counted = !r.protocol.is_absorbing() || !is_new && self.carries(value, r.term);
        (comparable && counted).then(|| self.e.pool.eq(value, r.term))
    }

    /// Whether an address is one inside the resource's object.
    fn base_is(&self, address: TermId, resource: TermId) -> bool {
        address == resource
            || self.e.pool.as_op(address, Op::Add).is_some_and(|args| args.contains(&resource))
    }

    /// Whether a value may be the resource, or lead to it.
    fn carries(&self, value: TermId, resource: TermId) -> bool {
        let pool = &self.e.pool;
        if value == resource {
            return true;
        }
        match pool.get(value) {
            _ if pool.sort(value) == Sort::Bool => false,
            Term::App(App::Op(Op::Ite), args) => args.iter().skip(1).any(|&a| self.carries(a, resource)),
            Term::App(App::Op(_), args) => args.iter().any(|&a| self.carries(a, resource)),
            Term::App(App::Load { .. }, _) => false,
            Term::App(App::Uf(Uf::Loop { .. }), args) => pool.reachable(args).contains(&resource),
            Term::App(App::Uf(_), args) => {
                let direct = |a: &&TermId| !matches!(pool.sort(**a), Sort::Mem | Sort::World);
                args.iter().filter(direct).any(|&a| self.carries(a, resource))
            }
            _ => false,
        }
    }

    /// Whether the resource may be reached by others when the function ends, or by functions that it calls.
    fn escapes(&mut self, class: ClassId, nodes: &[MvId], r: &Resource) -> bool {
        let graph = self.task.graph;
        let unknown = |n: &MvId| matches!(graph.node(*n).instr, Instr::Unknown { .. });
        nodes.iter().any(unknown)
            || nodes.iter().any(|&node| {
                let given: Vec<Expr> = match &graph.node(node).instr {
                    Instr::Store { value, .. } => vec![value.clone()],
                    Instr::Return { value } => value.iter().cloned().collect(),
                    Instr::Call { args, callee, .. } => {
                        let harmless = match self.event_call(r.protocol, class, node) {
                            Some((call, _)) => {
                                let takes = r.protocol.takes.iter().any(|t| t == call);
                                let used = r.protocol.is_use(call);
                                let known = library::row(call).is_some() || r.protocol.step(call).is_some();
                                !takes && (used || known)
                            }
                            None => false,
                        };
                        let mut given = if harmless { Vec::new() } else { args.clone() };
                        if let Callee::Indirect(e) = callee {
                            given.push(e.clone());
                        }
                        given
                    }
                    _ => Vec::new(),
                };
                given.iter().any(|e| match self.value(class, node, e) {
                    Some(value) => self.carries(value, r.term),
                    None => true,
                })
            })
    }

    /// Whether functions are called, and come back, of which nothing is known.
    fn calls_unseen(&self, protocol: &Protocol, class: ClassId, nodes: &[MvId]) -> bool {
        let stock = protocol::stock();
        nodes.iter().any(|&node| {
            let instr = &self.task.graph.node(node).instr;
            let call = matches!(instr, Instr::Call { noreturn: false, .. } | Instr::Unknown { .. });
            let known = |(call, _): (&str, &[Expr])| {
                library::row(call).is_some() || stock.iter().any(|p| p.step(call).is_some())
            };
            let own = |(call, _): (&str, &[Expr])| {
                protocol.is_own && (protocol.step(call).is_some() || protocol.is_use(call))
            };
            let event = self.event_call(protocol, class, node);
            call && !event.is_some_and(own) && !self.library_call(class, node).is_some_and(known)
        })
    }

    /// That steps succeed whose results nobody looks at: those to the start, or those to the final state.
    fn success_assumed(
        &self,
        protocol: &Protocol,
        class: ClassId,
        events: &[Event],
        to_start: bool,
    ) -> BTreeSet<String> {
        let is_asked = |e: &&Event| matches!(e.what, What::Step { starts, .. } if starts == to_start);
        let starts = events.iter().filter(is_asked);
        let unseen = |e: &Event| matches!(self.task.graph.node(e.node).instr, Instr::Call { dst: None, .. });
        let names = starts.filter(|e| unseen(e)).filter_map(|e| self.event_call(protocol, class, e.node));
        // A step that cannot fail needs no luck.
        let may_fail = |call: &str| protocol.step(call).is_none_or(|s| s.unless.is_some());
        names.filter(|(call, _)| may_fail(call)).map(|(call, _)| format!("succeeds({call})")).collect()
    }
}

/// That a value is one of a set; nothing is said of what is no word.
pub(super) fn among(pool: &mut TermPool, value: TermId, values: Values) -> Option<TermId> {
    let Sort::Bv(width) = pool.sort(value) else { return None };
    let zero = pool.bv(width, 0);
    Some(match values {
        Values::Zero => pool.eq(value, zero),
        Values::Nonzero => {
            let is_zero = pool.eq(value, zero);
            pool.not(is_zero)
        }
        Values::Negative => pool.op(Op::Slt, &[value, zero]),
    })
}
