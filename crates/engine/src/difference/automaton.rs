//! One version as a control-flow automaton: locations, and how control gets from one to the next.
//!
//! Functions are not copied into their callers; a location knows the calls that led to it instead, and
//! a call of a function whose definition is at hand goes on in there, unless it is one of those calls
//! already. A call that is not stepped into is one operation.

use super::Concerns;
use super::body::{Body, Call, Kind, Step, calls_nothing};
use super::part::{Part, Write};
use crate::ir::{Function, NodeId};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Calls within calls that are stepped into.
const MAX_DEPTH: usize = 24;

/// A place in an execution: the calls that are active, and the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Loc {
    pub context: u32,
    pub node: NodeId,
}

/// The active calls.
#[derive(Clone, Debug)]
pub(super) struct Context {
    /// Where the call of the innermost function is.
    pub caller: Option<Loc>,
    /// Index of the innermost function's body.
    pub body: usize,
    depth: usize,
}

/// What is to be known of a function that is not stepped into.
#[derive(Clone, Copy, Debug, Default)]
struct Traits {
    /// A violation may happen inside.
    can_fail: bool,
}

/// The control-flow automaton of one version.
pub(super) struct Automaton {
    pub bodies: Vec<Body>,
    traits: Vec<Traits>,
    /// By body and node: some way from there meets a violation before the function is left.
    fails_before_exit: Vec<Vec<bool>>,
    /// By body and node: the exit can be reached.
    reaches_exit: Vec<Vec<bool>>,
    /// By body: what it writes, if it surely ends, or violates the property, and does
    /// nothing else. By branch: the same up to
    /// where its ways meet.
    effects: RefCell<HashMap<(usize, NodeId), Effect>>,
    contexts: RefCell<Contexts>,
    concerns: Concerns,
}

/// What is written, if no more is done.
type Effect = Option<Arc<[Write]>>;

#[derive(Default)]
struct Contexts {
    list: Vec<Context>,
    ids: HashMap<(Option<Loc>, usize), u32>,
}

impl Automaton {
    /// `bodies[0]` is the entry function.
    pub fn new(bodies: Vec<Body>, concerns: Concerns) -> Automaton {
        let mut side = Automaton {
            traits: vec![Traits::default(); bodies.len()],
            fails_before_exit: Vec::new(),
            reaches_exit: Vec::new(),
            bodies,
            effects: RefCell::default(),
            contexts: RefCell::default(),
            concerns,
        };
        side.find_failing();
        side
    }

    pub fn start(&self) -> Loc {
        self.normal(Loc { context: self.context(None, 0), node: Function::ENTRY })
    }

    fn context(&self, caller: Option<Loc>, body: usize) -> u32 {
        let mut contexts = self.contexts.borrow_mut();
        if let Some(id) = contexts.ids.get(&(caller, body)) {
            return *id;
        }
        let depth = caller.map_or(0, |l| contexts.list[l.context as usize].depth + 1);
        contexts.list.push(Context { caller, body, depth });
        let id = contexts.list.len() as u32 - 1;
        contexts.ids.insert((caller, body), id);
        id
    }

    pub fn context_of(&self, at: Loc) -> Context {
        self.contexts.borrow().list[at.context as usize].clone()
    }

    pub fn body(&self, at: Loc) -> &Body {
        &self.bodies[self.context_of(at).body]
    }

    pub fn step(&self, at: Loc) -> &Step {
        &self.body(at).steps[at.node.0 as usize]
    }

    pub fn succs(&self, at: Loc) -> &[NodeId] {
        &self.body(at).function.node(at.node).succs
    }

    /// Returns the location at a successor of a node, past what does nothing.
    pub fn succ(&self, at: Loc, label: usize) -> Option<Loc> {
        let node = *self.succs(at).get(label)?;
        Some(self.normal(Loc { node, ..at }))
    }

    /// Passes over what does nothing. A loop of nothing stays where it is.
    pub fn normal(&self, at: Loc) -> Loc {
        let mut now = at;
        let mut seen = BTreeSet::new();
        while matches!(self.step(now).kind, Kind::Skip) && seen.insert(now.node) {
            match self.succs(now).first() {
                Some(next) => now.node = *next,
                None => break,
            }
        }
        now
    }

    /// Returns the body that a call at a location steps into.
    pub fn entered(&self, at: Loc) -> Option<usize> {
        let Kind::Call(Call { target: Some(body), enterable: true, .. }) = &self.step(at).kind else {
            return None;
        };
        let contexts = self.contexts.borrow();
        let mut context = contexts.list.get(at.context as usize)?;
        let mut active = context.depth >= MAX_DEPTH || context.body == *body;
        while let Some(caller) = context.caller {
            context = &contexts.list[caller.context as usize];
            active |= context.body == *body;
        }
        (!active).then_some(*body)
    }

    /// Steps into the call at a location.
    pub fn enter(&self, at: Loc, body: usize) -> Loc {
        self.normal(Loc { context: self.context(Some(at), body), node: Function::ENTRY })
    }

    /// Returns where the call is whose function is left at this location, and where control goes.
    pub fn leave(&self, at: Loc) -> Option<(Loc, Option<Loc>)> {
        let caller = self.context_of(at).caller?;
        Some((caller, self.succ(caller, 0)))
    }

    /// Whether a violation may happen at or behind a location.
    pub fn can_fail_from(&self, at: Loc) -> bool {
        let mut now = at;
        loop {
            let body = self.context_of(now).body;
            if self.fails_before_exit[body][now.node.0 as usize] {
                return true;
            }
            let returned = self.leave(Loc { node: Function::EXIT, ..now }).and_then(|(_, next)| next);
            match returned.filter(|_| self.reaches_exit[body][now.node.0 as usize]) {
                Some(next) => now = next,
                None => return false,
            }
        }
    }

    /// Whether a violation may happen within the call at a location, if that is one operation.
    pub fn call_can_fail(&self, step: &Step) -> bool {
        let Kind::Call(call) = &step.kind else { return false };
        match (&call.target, &call.callee) {
            (Some(body), _) => self.traits.get(*body).is_none_or(|t| t.can_fail),
            // It may be of another file of the same project, with assertions of its own.
            (None, Some(name)) => self.concerns.undefined || !calls_nothing(name),
            (None, None) => true,
        }
    }

    fn find_failing(&mut self) {
        loop {
            let before: Vec<Vec<bool>> = (0..self.bodies.len()).map(|b| self.failing_nodes(b)).collect();
            let mut changed = false;
            for (t, nodes) in self.traits.iter_mut().zip(&before) {
                let can_fail = nodes.first().copied().unwrap_or(true);
                changed |= can_fail != t.can_fail;
                t.can_fail = can_fail;
            }
            if !changed {
                self.fails_before_exit = before;
                break;
            }
        }
        self.reaches_exit =
            self.bodies.iter().map(|b| reaching(&b.function, |n| n == Function::EXIT)).collect();
    }

    fn failing_nodes(&self, body: usize) -> Vec<bool> {
        let body = &self.bodies[body];
        reaching(&body.function, |n| {
            let step = &body.steps[n.0 as usize];
            matches!(step.kind, Kind::Fail) || step.traps || self.call_can_fail(step)
        })
    }

    /// Returns the edge of a branch on which no violation comes at once, if one does on the other.
    pub fn passes(&self, at: Loc) -> Option<bool> {
        if !matches!(self.step(at).kind, Kind::Branch(_)) {
            return None;
        }
        let fails = |label| self.succ(at, label).is_some_and(|to| matches!(self.step(to).kind, Kind::Fail));
        match (fails(0), fails(1)) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        }
    }

    /// Returns where control goes on behind a branch that only asserts: whatever comes there has passed.
    pub fn past_assertion(&self, at: Loc) -> Option<Loc> {
        match self.passes(at) {
            Some(label) => self.succ(at, usize::from(!label)),
            None => self.region(at).filter(|(_, writes)| writes.is_empty()).map(|(next, _)| next),
        }
    }

    /// Returns where a branch's ways meet and what they write, if all that lies between surely ends.
    pub fn region(&self, at: Loc) -> Option<(Loc, Arc<[Write]>)> {
        let body = self.context_of(at).body;
        let after = self.bodies[body].after[at.node.0 as usize]?;
        let writes = self.effect(body, at.node, after, &mut Vec::new())?;
        Some((self.normal(Loc { node: after, ..at }), writes))
    }

    /// Where a branch's ways meet.
    pub fn meet(&self, at: Loc) -> Option<Loc> {
        let node = self.body(at).after[at.node.0 as usize]?;
        Some(self.normal(Loc { node, ..at }))
    }

    /// What lies between a node and one behind it writes; `None`: it may not end, or do more.
    fn effect(&self, body: usize, from: NodeId, to: NodeId, active: &mut Vec<usize>) -> Effect {
        if let Some(known) = self.effects.borrow().get(&(body, from)) {
            return known.clone();
        }
        // What a caller that is active leads to here is a recursion, which may not end; what is found
        // meanwhile rests on the callers, and is not kept.
        let found = self.find_effect(body, from, to, active).map(Arc::from);
        if active.is_empty() || found.is_some() {
            self.effects.borrow_mut().insert((body, from), found.clone());
        }
        found
    }

    fn find_effect(
        &self,
        body: usize,
        from: NodeId,
        to: NodeId,
        active: &mut Vec<usize>,
    ) -> Option<Vec<Write>> {
        let b = &self.bodies[body];
        let mut writes = Vec::new();
        // Depth first; a node that is met again while it is open closes a loop.
        let mut state: HashMap<NodeId, bool> = HashMap::new();
        let mut stack = vec![(from, 0usize)];
        state.insert(from, true);
        while let Some((node, next)) = stack.last_mut() {
            let succs = &b.function.node(*node).succs;
            let Some(&succ) = succs.get(*next) else {
                state.insert(*node, false);
                stack.pop();
                continue;
            };
            *next += 1;
            if succ == to {
                continue;
            }
            match state.get(&succ) {
                Some(true) => return None,
                Some(false) => continue,
                None => {}
            }
            self.add_effect(body, succ, active, &mut writes)?;
            state.insert(succ, true);
            stack.push((succ, 0));
        }
        Some(writes)
    }

    fn add_effect(
        &self,
        body: usize,
        node: NodeId,
        active: &mut Vec<usize>,
        writes: &mut Vec<Write>,
    ) -> Option<()> {
        let step = &self.bodies[body].steps[node.0 as usize];
        match &step.kind {
            // What comes of a violation is not new.
            Kind::Fail => {}
            Kind::Skip | Kind::Plain | Kind::Branch(_) => writes.extend(&step.writes),
            Kind::Call(Call { target: Some(callee), enterable: true, noreturn: false, .. }) => {
                if active.contains(callee) || *callee == body || active.len() >= MAX_DEPTH {
                    return None;
                }
                active.push(body);
                let inner = self.effect(*callee, Function::ENTRY, Function::EXIT, active);
                active.pop();
                writes.extend(inner?.iter());
                writes.extend(self.variables(*callee).map(|part| Write { part, strong: false }));
                writes.extend(&step.writes);
            }
            _ => return None,
        }
        Some(())
    }

    /// The variables of a body.
    pub fn variables(&self, body: usize) -> impl Iterator<Item = Part> {
        let b = &self.bodies[body];
        b.objects.iter().chain([&b.result]).map(|o| Part::whole(*o))
    }
}

/// Returns the nodes from which a chosen one is reached.
fn reaching(f: &Function, chosen: impl Fn(NodeId) -> bool) -> Vec<bool> {
    let preds = f.preds();
    let mut work: Vec<NodeId> = (0..f.nodes.len() as u32).map(NodeId).filter(|n| chosen(*n)).collect();
    let mut found = vec![false; f.nodes.len()];
    work.iter().for_each(|n| found[n.0 as usize] = true);
    while let Some(n) = work.pop() {
        for p in &preds[n.0 as usize] {
            if !std::mem::replace(&mut found[p.0 as usize], true) {
                work.push(*p);
            }
        }
    }
    found
}
