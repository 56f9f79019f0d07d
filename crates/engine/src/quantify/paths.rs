//! The paths of a function over a bounded domain.
//!
//! Depth first, in one order. A branch that no input takes is left ([`Inputs`]). Calls of functions that the unit defines are followed into. An access at an offset that
//! depends on inputs is followed once for each offset. Inputs on which an operation is undefined leave the
//! path there, and are grey.

use super::aim::Aim;
use super::guard::UNREACHABLE;
use super::input::Candidate;
use super::inputs::Inputs;
use super::memory::SymbolicObject;
use super::output::Output;
use super::state::{Frame, Reason, State, World};
use super::stretches::{Arrival, Growing, Leaf as Left, Memo, Stretches, Written};
use super::turns::Turns;
use crate::ir::{CType, Callee, Function, Instr, Leaf, NodeId, TermId, TermPool, Unit, VarId};
use crate::symex::is_failure;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

mod effects;

use effects::goto;
pub(super) use effects::{fails, is_harmless_call};

/// Bounds of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub paths: usize,
    /// Instructions of one path.
    pub steps: u64,
    /// Instructions of all paths.
    pub all_steps: u64,
    /// Of all counts of a version.
    pub work: u64,
    /// Pairs of paths that are compared.
    pub pairs: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { paths: 20_000, steps: 20_000, all_steps: 20_000_000, work: 20_000_000, pairs: 200_000 }
    }
}

/// How a path ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    Return(Option<TermId>),
    /// An assertion of this line fails, or the program aborts there; 0 for a line of another file.
    Failure(u32),
    /// The program exits with this status.
    Exit(Option<TermId>),
    /// It has met the one target that was asked for, or cannot meet it any more, and is not followed further.
    Settled,
    /// It is not known how it goes on: the reason.
    Grey(&'static str),
}

/// One way through a function.
#[derive(Clone, Debug)]
pub struct Path {
    /// Where it ends in the tree.
    pub stretch: u32,
    pub conditions: Vec<TermId>,
    pub end: End,
    /// Lines of the function's own file.
    pub lines: BTreeSet<u32>,
    pub turns: Turns,
    pub stdout: Output,
    pub stderr: Output,
    pub written: Written,
    /// Inputs of the domain; none where that is not known.
    pub count: Option<i128>,
}

/// What an exploration found.
pub struct Explored {
    pub paths: Vec<Path>,
    pub tree: Stretches,
    /// States of the tree: the root, and one behind each side of a decision.
    pub states: u64,
    /// States that no older version had.
    pub explored: u64,
    /// The inputs over which paths with a count were counted; empty for none.
    pub counted_over: String,
    /// A limit cut it.
    pub is_cut: bool,
    /// It followed just the paths that inputs take ([`super::Ways`]): others do not take it over, since they may have
    /// found that of more paths.
    pub is_by_input: bool,
    /// Which candidates are read before they are written, by position.
    pub used: BTreeSet<usize>,
    /// Nodes that are watched and to which paths came more often than was taken down.
    pub unseen: BTreeSet<NodeId>,
    /// It is a whole program, not a function that somebody calls.
    pub is_program: bool,
}

/// Follows the paths of one version.
pub struct Explorer<'a, 'p> {
    world: World<'a, 'p>,
    f: &'a Function,
    limits: Limits,
    /// Nothing but this is asked.
    aim: Option<&'p Aim>,
    /// Where paths are taken down as they come there, and how often that is left to be done.
    watched: BTreeMap<NodeId, usize>,
    unseen: BTreeSet<NodeId>,
    growing: Growing<'p>,
    /// What inputs meet at the entry.
    conditions: &'p [TermId],
    /// Which candidates are read before they are written, by position.
    used: BTreeSet<usize>,
    is_cut: bool,
}

/// The state that an exploration begins in.
#[derive(Clone, Copy, Debug)]
pub struct Start<'p> {
    /// What may be an input.
    pub candidates: &'p [Candidate],
    /// What globals hold at entry that neither are inputs nor begin as they are initialised.
    pub contents: &'p BTreeMap<Arc<str>, Vec<u8>>,
    /// Globals that are no inputs begin as they are initialised.
    pub is_initial: bool,
    /// What inputs meet.
    pub conditions: &'p [TermId],
}

struct Open<'a> {
    state: State<'a>,
    conditions: Vec<TermId>,
    /// What it is to follow.
    stretch: u32,
    /// A branch was taken that is the target.
    is_met: bool,
}

/// What comes after an instruction.
enum Next {
    On,
    /// By a condition to the first node, else to the second.
    Branch(TermId, NodeId, NodeId),
    /// The instruction is done again where a term has each of these values.
    Again(Vec<(TermId, TermId, TermId)>),
    End(End),
}

impl<'a, 'p> Explorer<'a, 'p> {
    /// Prepares the exploration of a function of a unit.
    pub fn new(
        f: &'a Function,
        unit: &'a Unit,
        pool: &'p mut TermPool,
        start: Start<'p>,
        inputs: &'p mut dyn Inputs,
        limits: Limits,
    ) -> Explorer<'a, 'p> {
        let Start { candidates, contents, is_initial, conditions } = start;
        let parameters = candidates.iter().enumerate().filter(|(_, c)| c.global.is_none()).map(|(i, _)| i);
        let (objects, is_program) = (FxHashMap::default(), &*f.name == "main" || is_initial);
        let used = parameters.collect();
        let world = World { unit, pool, inputs, candidates, objects, is_program, contents };
        let growing = Growing::new(None);
        let (watched, unseen) = (BTreeMap::new(), BTreeSet::new());
        Explorer { world, f, limits, aim: None, watched, unseen, growing, conditions, used, is_cut: false }
    }

    /// Takes over what an older version's tree has of this one.
    pub fn with(mut self, memo: &'p Memo<'p>) -> Explorer<'a, 'p> {
        self.growing = Growing::new(Some(memo));
        self
    }

    /// Leaves paths as soon as it is settled whether they meet a target.
    pub fn toward(mut self, aim: Option<&'p Aim>) -> Explorer<'a, 'p> {
        self.aim = aim;
        self
    }

    /// Takes down what paths are like whenever they come to one of these nodes of the function, in its outermost
    /// call ([`Stretches::arrivals`]): `most` times at each.
    pub fn watching(mut self, nodes: impl IntoIterator<Item = NodeId>, most: usize) -> Explorer<'a, 'p> {
        self.watched = nodes.into_iter().map(|n| (n, most)).collect();
        self
    }

    /// Follows all paths.
    pub fn explore(mut self) -> Explored {
        let mut work = vec![self.entry()];
        while let Some(open) = work.pop() {
            let is_over = self.growing.steps > self.limits.all_steps || self.world.inputs.is_spent();
            if self.growing.paths >= self.limits.paths || is_over {
                self.is_cut = true;
                break;
            }
            self.growing.begin(open.stretch);
            self.follow(open, &mut work);
        }
        let (f, unit) = (self.f, self.world.unit);
        let line = |function: &str, node: NodeId| {
            let of = if *function == *f.name { Some(f) } else { unit.callee(function) };
            of.map_or(0, |of| line_of(of, node))
        };
        let (tree, explored) = self.growing.done();
        let read = tree.stretches.iter().flat_map(|s| &s.used).map(|k| *k as usize);
        self.used.extend(read);
        Explored {
            paths: tree.paths(self.conditions, &line),
            states: tree.states(),
            explored,
            counted_over: String::new(),
            tree,
            is_cut: self.is_cut,
            is_by_input: false,
            used: self.used,
            unseen: self.unseen,
            is_program: &*f.name == "main",
        }
    }

    fn entry(&mut self) -> Open<'a> {
        let mut state = State {
            frames: vec![Frame::new(self.f, 0)],
            memory: Default::default(),
            calls: 1,
            known: BTreeMap::new(),
            written: BTreeSet::new(),
            entered: BTreeSet::new(),
            stdout: Output::default(),
            stderr: Output::default(),
            steps: 0,
            unknowns: 0,
        };
        for p in &self.f.params {
            let var = self.f.var(*p);
            let Some(sort) = var.sort else { continue };
            let value = match self.world.text(&mut state, &var.name) {
                Some(address) => address,
                None => self.world.pool.leaf(Leaf::Param { name: var.name.clone(), sort }),
            };
            self.give(&mut state, *p, value);
        }
        Open { state, conditions: self.conditions.to_vec(), stretch: 0, is_met: false }
    }

    /// Gives a variable of the innermost call a value.
    fn give(&mut self, state: &mut State, v: VarId, value: TermId) {
        let Some(frame) = state.frames.last_mut() else { return };
        let var = frame.f.var(v);
        if var.in_memory {
            let place = frame.place(v);
            state.memory.forget(&place);
            // The object has nothing else in it.
            let _ = state.memory.write(self.world.pool, &place, 0, var.value_bytes(), value);
        } else if let Some(at) = frame.vars.get_mut(v.0 as usize) {
            *at = Some(value);
        }
    }

    /// Follows a path to its next decision or its end.
    fn follow(&mut self, mut open: Open<'a>, work: &mut Vec<Open<'a>>) {
        loop {
            open.state.steps += 1;
            let Some(frame) = open.state.frames.last() else { return };
            self.growing.visit(&frame.f.name, frame.node);
            if open.state.steps > self.limits.steps || self.growing.steps > self.limits.all_steps {
                return self.ended(open, End::Grey("a path longer than the bound"));
            }
            if self.is_settled(&open) {
                return self.ended(open, End::Settled);
            }
            let node = frame.f.node(frame.node);
            if open.state.frames.len() == 1
                && let Some(left) = self.watched.get_mut(&frame.node)
            {
                if *left > 0 {
                    let (node, vars, written) = (frame.node, frame.vars.clone(), written(&open.state));
                    self.growing.arrived(Arrival { node, vars, written });
                    *left -= 1;
                } else {
                    self.unseen.insert(frame.node);
                }
            }
            if frame.node == Function::EXIT {
                match self.returned(&mut open) {
                    Some(end) => return self.ended(open, end),
                    None => continue,
                }
            }
            let mut bad = Vec::new();
            match self.step(&mut open, &node.instr, &node.succs, &mut bad) {
                Err(reason) => return self.ended(open, End::Grey(reason)),
                Ok(None) => return,
                Ok(Some(Next::On)) => {}
                Ok(Some(Next::End(end))) => return self.ended(open, end),
                Ok(Some(Next::Again(values))) => return self.again(open, values, work),
                Ok(Some(Next::Branch(condition, yes, no))) => {
                    match self.world.pool.as_const(condition).and_then(|c| c.as_bool()) {
                        Some(taken) => self.turn(&mut open, taken, (yes, no), false),
                        None => return self.branch(open, condition, yes, no, work),
                    }
                }
            }
        }
    }

    /// Whether a path has met the target, or cannot any more.
    fn is_settled(&self, open: &Open) -> bool {
        let (Some(aim), Some((inner, outer))) = (self.aim, open.state.frames.split_last()) else {
            return false;
        };
        let here = aim.reach(&inner.f.name, inner.node);
        let is_behind = |frame: &Frame| aim.reach(&frame.f.name, frame.node).behind;
        open.is_met || here.is_met || !here.from && !outer.iter().any(is_behind)
    }

    fn branch(
        &mut self,
        open: Open<'a>,
        condition: TermId,
        yes: NodeId,
        no: NodeId,
        work: &mut Vec<Open<'a>>,
    ) {
        let not = self.world.pool.not(condition);
        let (can, can_not) =
            (self.is_possible(&open.conditions, condition), self.is_possible(&open.conditions, not));
        self.growing.end();
        let is_fork = can && can_not;
        let mut sides = Vec::new();
        // Out of a loop before another round.
        for (literal, taken, can) in [(not, false, can_not), (condition, true, can)] {
            let more: Vec<TermId> = is_fork.then_some(literal).into_iter().collect();
            if can && let Some(mut side) = self.side(&open, more, u64::from(is_fork)) {
                self.turn(&mut side, taken, (yes, no), is_fork);
                sides.push(side);
            }
        }
        work.extend(sides.into_iter().rev());
    }

    /// Goes on once for each value that a term can have here, from the last one on.
    fn again(&mut self, open: Open<'a>, values: Vec<(TermId, TermId, TermId)>, work: &mut Vec<Open<'a>>) {
        let can: Vec<_> =
            values.into_iter().filter(|(c, ..)| self.is_possible(&open.conditions, *c)).collect();
        self.growing.end();
        let mut sides = Vec::new();
        for (condition, term, value) in can.into_iter().rev() {
            if let Some(mut side) = self.side(&open, vec![condition], 1) {
                side.state.known.insert(term, value);
                sides.push(side);
            }
        }
        work.extend(sides.into_iter().rev());
    }

    /// A way on from a decision; `None`: all behind it was taken over from an older version.
    fn side(&mut self, open: &Open<'a>, more: Vec<TermId>, states: u64) -> Option<Open<'a>> {
        let mut conditions = open.conditions.clone();
        conditions.extend(&more);
        let stretch = self.growing.child(more, states)?;
        Some(Open { state: open.state.clone(), conditions, stretch, is_met: open.is_met })
    }

    fn is_possible(&mut self, conditions: &[TermId], literal: TermId) -> bool {
        if let Some(known) = self.world.pool.as_const(literal).and_then(|c| c.as_bool()) {
            return known;
        }
        if conditions.contains(&literal) {
            return true;
        }
        let known = self.growing.known_answer();
        let World { pool, inputs, .. } = &mut self.world;
        let answer = known.unwrap_or_else(|| inputs.may_meet(pool, conditions, literal));
        self.growing.answered(answer);
        answer
    }

    /// Ends the path that is followed.
    fn ended(&mut self, open: Open<'a>, end: End) {
        self.growing.end();
        let at = open.state.frames.last().map(|frame| (&frame.f.name, frame.node));
        let leaf = left(&open.state, end);
        self.growing.leaf_here(leaf, at);
    }

    /// Ends the innermost call; the end of the path where that is the function itself.
    fn returned(&mut self, open: &mut Open<'a>) -> Option<End> {
        let frame = open.state.frames.pop()?;
        let Some(caller) = open.state.frames.last() else {
            if !frame.is_returning && frame.f.ret != CType::Void {
                return Some(End::Grey("a result that is missing"));
            }
            return Some(End::Return(frame.result));
        };
        open.state.memory.end_call(frame.number);
        let node = caller.f.node(caller.node);
        let Instr::Call { dst, .. } = &node.instr else {
            return Some(End::Grey("control that is not followed"));
        };
        if let Some(dst) = *dst {
            match frame.result {
                Some(value) => self.give(&mut open.state, dst, value),
                None => self.forget(&mut open.state, dst),
            }
        }
        match node.succs.as_slice() {
            &[next] => goto(&mut open.state, next),
            _ => return Some(End::Grey("control that is not followed")),
        }
        None
    }

    /// Makes a variable of the innermost call indeterminate.
    fn forget(&mut self, state: &mut State, v: VarId) {
        let Some(frame) = state.frames.last_mut() else { return };
        if frame.f.var(v).in_memory {
            let place = frame.place(v);
            state.memory.forget(&place);
        } else if let Some(at) = frame.vars.get_mut(v.0 as usize) {
            *at = None;
        }
    }

    /// Parts off the inputs on which something is undefined; whether others are left.
    fn part_off(&mut self, open: &mut Open<'a>, bad: &[(TermId, Reason)]) -> bool {
        for (condition, reason) in bad {
            if !self.is_possible(&open.conditions, *condition) {
                continue;
            }
            let good = self.world.pool.not(*condition);
            let is_left = self.is_possible(&open.conditions, good);
            self.growing.end();
            if let Some(side) = self.growing.child(vec![*condition], u64::from(is_left)) {
                self.growing.leaf(side, left(&open.state, End::Grey(reason)));
            }
            if !is_left {
                return false;
            }
            let Some(on) = self.growing.child(vec![good], 1) else { return false };
            self.growing.begin(on);
            open.stretch = on;
            open.conditions.push(good);
        }
        true
    }

    /// Executes an instruction; `None`: no input is left.
    fn step(
        &mut self,
        open: &mut Open<'a>,
        instr: &'a Instr,
        succs: &[NodeId],
        bad: &mut Vec<(TermId, Reason)>,
    ) -> Result<Option<Next>, Reason> {
        let mut values = Vec::new();
        let mut failed = None;
        instr.for_each_operand(&mut |e| match self.world.value(&open.state, e, bad) {
            Ok(value) => values.push(value),
            Err(reason) => failed = failed.or(Some(reason)),
        });
        if let Some(reason) = failed {
            return Err(reason);
        }
        if !self.part_off(open, bad) {
            return Ok(None);
        }
        let next = self.effect(open, instr, &values)?;
        let next = match next {
            Effect::Done => match succs {
                &[next] => {
                    goto(&mut open.state, next);
                    Next::On
                }
                _ => return Err("control that is not followed"),
            },
            Effect::Inside => Next::On,
            Effect::Decision(condition) => match succs {
                &[yes, no] => Next::Branch(condition, yes, no),
                _ => return Err("control that is not followed"),
            },
            Effect::Again(values) => Next::Again(values),
            Effect::End(end) => Next::End(end),
            Effect::Nothing => return Ok(None),
        };
        Ok(Some(next))
    }

    fn effect(&mut self, open: &mut Open<'a>, instr: &'a Instr, values: &[TermId]) -> Result<Effect, Reason> {
        match (instr, values) {
            (Instr::Nop, _) => {}
            (Instr::Declare(v), _) => self.forget(&mut open.state, *v),
            (Instr::Assign { dst, .. }, &[value]) => self.give(&mut open.state, *dst, value),
            (Instr::Load { access, .. }, _) if access.volatile => return Err("a volatile object"),
            (Instr::Store { access, .. }, _) if access.volatile => return Err("a volatile object"),
            (Instr::Load { dst, access, .. }, &[address]) => {
                let (behind, offset) = match self.place(open, address, access.bytes)? {
                    Ok(at) => at,
                    Err(effect) => return Ok(effect),
                };
                let value = self.read(&mut open.state, &behind, offset, access.bytes, access.sort)?;
                self.give(&mut open.state, *dst, value);
            }
            (Instr::Store { access, .. }, &[address, value]) => {
                let (behind, offset) = match self.place(open, address, access.bytes)? {
                    Ok(at) => at,
                    Err(effect) => return Ok(effect),
                };
                self.write(&mut open.state, &behind, offset, access.bytes, value)?;
            }
            (Instr::Zero { bytes, .. }, &[address]) => {
                let (behind, offset) = match self.place(open, address, *bytes)? {
                    Ok(at) => at,
                    Err(effect) => return Ok(effect),
                };
                self.zero(&mut open.state, &behind, offset, *bytes)?;
            }
            (Instr::Copy { bytes, .. }, &[dst, src]) => {
                let (to, into) = match self.place(open, dst, *bytes)? {
                    Ok(at) => at,
                    Err(effect) => return Ok(effect),
                };
                let (from, start) = match self.place(open, src, *bytes)? {
                    Ok(at) => at,
                    Err(effect) => return Ok(effect),
                };
                self.copy(&mut open.state, (&to, into), (&from, start), *bytes)?;
            }
            (Instr::Call { callee, dst, result_to, noreturn, .. }, _) => {
                if result_to.is_some() {
                    return Err("a call that is not known");
                }
                let Callee::Direct(name) = callee else { return Err("a call through a pointer") };
                return self.call(open, name, *dst, *noreturn, values);
            }
            (Instr::Branch { .. }, &[condition]) => return Ok(Effect::Decision(condition)),
            (Instr::Return { .. }, values) => {
                let Some(frame) = open.state.frames.last_mut() else { return Ok(Effect::Nothing) };
                frame.result = values.first().copied();
                frame.is_returning = true;
            }
            (Instr::Unreachable, _) => return Err(UNREACHABLE),
            _ => return Err("code that is not understood"),
        }
        Ok(Effect::Done)
    }
}

/// What an instruction did.
enum Effect {
    Done,
    /// A call is entered.
    Inside,
    Decision(TermId),
    Again(Vec<(TermId, TermId, TermId)>),
    End(End),
    /// No input is left.
    Nothing,
}

/// What globals and strings of the caller hold that were written.
fn written(state: &State) -> Written {
    let cells = |place: &SymbolicObject| {
        let symbol = match place {
            SymbolicObject::Global(symbol) => symbol.clone(),
            SymbolicObject::Text(of) => super::text::symbol(of),
            SymbolicObject::Local(..) => return None,
        };
        Some((symbol, state.memory.of(place).map(|(o, n, v)| (o, (n, v))).collect()))
    };
    state.written.iter().filter_map(cells).collect()
}

/// What a path leaves where it ends.
fn left(state: &State, end: End) -> Left {
    let written = written(state);
    Left { end, at: None, stdout: state.stdout.clone(), stderr: state.stderr.clone(), written, count: None }
}

/// The line of a node; 0 in another file, and where nothing is done.
pub(super) fn line_of(f: &Function, node: NodeId) -> u32 {
    let node = f.node(node);
    if node.span.file.0 == 0 && !matches!(node.instr, Instr::Nop) { node.span.line } else { 0 }
}
