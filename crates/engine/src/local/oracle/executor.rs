//! An executor with values, not terms. It runs the bodies as they are, with their own variables: the graph of both
//! versions says where to begin, and nothing else.
//!
//! Calls of functions that are only declared answer alike in both versions and write nothing, as the comparison takes
//! for granted; those of functions of the unit are run.

use crate::ir::{Callee, Const, Expr, Function, Instr, NodeId, Object, Op, Sort, Unit, Var, VarId};
use crate::mvicfg::{ClassId, MvId, Mvicfg};
use crate::testing::Random;
use std::cell::Cell;
use std::collections::BTreeMap;

/// Instructions of one run.
const MOST_STEPS: usize = 400;
/// Calls within calls.
const DEEPEST: usize = 4;
/// Where locals lie that live in memory; nobody sees them when the function ends.
const LOCALS: u64 = 0x7000_0000;

/// A state at a point. The variables are those of the graph.
#[derive(Clone)]
pub struct State {
    pub vars: BTreeMap<VarId, Const>,
    /// What memory holds where nothing was written follows from this.
    pub seed: u64,
    pub memory: BTreeMap<u64, u8>,
    /// When variables of a body were written: of temporaries that are one in the graph the last one counts.
    pub written: BTreeMap<VarId, usize>,
}

impl State {
    fn byte(&self, address: u64) -> u8 {
        let small = [0, 0, 0, 1, 2, 3, 255];
        let drawn = Random(self.seed ^ address.wrapping_mul(0x9e37)).draw();
        self.memory.get(&address).copied().unwrap_or(if address.is_multiple_of(4) {
            small[drawn as usize % 7]
        } else {
            0
        })
    }
}

/// What a run does.
#[derive(Debug, PartialEq)]
pub struct Done {
    pub result: Option<Const>,
    pub calls: Vec<(String, Vec<Const>)>,
    pub memory: BTreeMap<u64, u8>,
}

fn address(vars: &[Var], object: &Object) -> Option<u64> {
    match object {
        Object::Local(v) => {
            let var = vars.get(v.0 as usize)?;
            let hash: u64 = var.name.bytes().fold(0, |h, b| (h * 31 + u64::from(b)) % 997);
            Some(LOCALS + hash * 64)
        }
        _ => None,
    }
}

/// A value; `None`: undefined, or nothing that the executor knows.
pub fn value(vars: &[Var], state: &State, e: &Expr) -> Option<Const> {
    match e {
        Expr::Const(c) => Some(*c),
        Expr::Var(v) => state.vars.get(v).copied(),
        Expr::Addr(object) => Some(Const::bv(64, i128::from(address(vars, object)?))),
        Expr::Op { op, args, signed_arith } => {
            let args: Option<Vec<Const>> = args.iter().map(|a| value(vars, state, a)).collect();
            let args = args?;
            let found = op.eval(&args).ok()?;
            if *signed_arith && is_wrapped(*op, &args, found) {
                WRAPPED.set(true);
            }
            Some(found)
        }
    }
}

thread_local! {
    static WRAPPED: Cell<bool> = const { Cell::new(false) };
}

/// Whether some signed sum overflowed since this was asked last.
pub fn has_wrapped() -> bool {
    WRAPPED.replace(false)
}

fn is_wrapped(op: Op, args: &[Const], found: Const) -> bool {
    let [Some(a), Some(b)] = [args.first(), args.get(1)].map(|c| c.and_then(|c| c.signed())) else {
        return false;
    };
    let exact = match op {
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        _ => return false,
    };
    exact != found.signed()
}

pub fn read(state: &State, at: u64, sort: Sort, bytes: u64) -> Option<Const> {
    let bits = (0..bytes).rev().fold(0u128, |all, k| all << 8 | u128::from(state.byte(at.wrapping_add(k))));
    Const::from_bits(sort, bits)
}

/// An address that may be read and written: not null.
pub fn place(vars: &[Var], state: &State, e: &Expr) -> Option<u64> {
    let at = value(vars, state, e)?.unsigned()? as u64;
    (at >= 4096).then_some(at)
}

/// Runs one version from a node to its end; `None`: it does something undefined, or takes too long, or comes to
/// one of the points (again), of which what is told says nothing.
pub fn run(
    (graph, unit): (&Mvicfg, &Unit),
    class: ClassId,
    from: MvId,
    again: (&[MvId], &mut bool),
    state: State,
) -> Option<Done> {
    let mut comes = |node: MvId, _: &dyn Fn() -> State| {
        *again.1 |= again.0.contains(&node);
        !*again.1
    };
    run_past((graph, unit), class, from, &mut comes, state)
}

/// The same, until `comes` says that it is enough; it can ask for the state.
pub fn run_past(
    (graph, unit): (&Mvicfg, &Unit),
    class: ClassId,
    from: MvId,
    comes: &mut dyn FnMut(MvId, &dyn Fn() -> State) -> bool,
    state: State,
) -> Option<Done> {
    let body = &*graph.bodies[class];
    let merged = &graph.var_map[class];
    let own = |v: usize| Some((VarId(v as u32), *state.vars.get(&merged[v])?));
    let vars = (0..body.vars.len()).filter_map(own).collect();
    let mut machine =
        Executor { unit, state: State { vars, ..state.clone() }, calls: Vec::new(), steps: 0, depth: 0 };
    let from = graph.origin(from, class)?;
    let mut passes = |node: NodeId, now: &State| {
        let whole = || {
            let mut own: Vec<(&VarId, &Const)> = now.vars.iter().collect();
            own.sort_by_key(|(v, _)| now.written.get(v).copied());
            let vars = own.into_iter().map(|(v, value)| (merged[v.0 as usize], *value)).collect();
            State { vars, ..now.clone() }
        };
        comes(graph.node_map[class][node.0 as usize], &whole)
    };
    let result = machine.body(body, from, &mut passes)?;
    let Executor { mut state, calls, .. } = machine;
    state.memory.retain(|at, _| *at < LOCALS);
    let untouched =
        State { vars: BTreeMap::new(), memory: BTreeMap::new(), written: BTreeMap::new(), seed: state.seed };
    // Writing what is there is no write.
    state.memory.retain(|at, byte| untouched.byte(*at) != *byte);
    Some(Done { result, calls, memory: state.memory })
}

struct Executor<'u> {
    unit: &'u Unit,
    state: State,
    calls: Vec<(String, Vec<Const>)>,
    steps: usize,
    depth: usize,
}

impl Executor<'_> {
    /// Runs a body from a node to its end, and gives what it returns.
    fn body(
        &mut self,
        body: &Function,
        from: NodeId,
        passes: &mut dyn FnMut(NodeId, &State) -> bool,
    ) -> Option<Option<Const>> {
        let (mut node, vars) = (from, &body.vars);
        loop {
            self.steps += 1;
            if self.steps > MOST_STEPS || !passes(node, &self.state) {
                return None;
            }
            let mut label = 0;
            match &body.node(node).instr {
                Instr::Nop => {}
                Instr::Declare(v) => _ = self.state.vars.remove(v),
                Instr::Assign { dst, value: e } => {
                    let value = value(vars, &self.state, e)?;
                    self.write(*dst, value);
                }
                Instr::Load { dst, addr, access } => {
                    let at = place(vars, &self.state, addr)?;
                    let value = read(&self.state, at, access.sort, access.bytes)?;
                    self.write(*dst, value);
                }
                Instr::Store { addr, value: e, access } => {
                    let (at, value) = (place(vars, &self.state, addr)?, value(vars, &self.state, e)?);
                    (0..access.bytes).for_each(|k| {
                        self.state.memory.insert(at + k, (value.to_bits() >> (8 * k)) as u8);
                    });
                }
                Instr::Call { dst, callee: Callee::Direct(name), args, .. } => {
                    let args: Option<Vec<Const>> = args.iter().map(|a| value(vars, &self.state, a)).collect();
                    let sort = dst.and_then(|v| body.var(v).sort);
                    let result = self.call(name, args?, sort)?;
                    if let Some(dst) = dst {
                        self.write(*dst, result?);
                    }
                }
                Instr::Branch { cond } => label = usize::from(!value(vars, &self.state, cond)?.as_bool()?),
                Instr::Return { value: Some(e) } => return Some(Some(value(vars, &self.state, e)?)),
                Instr::Return { value: None } => return Some(None),
                _ => return None,
            }
            if node == Function::EXIT {
                return Some(None);
            }
            node = *body.node(node).succs.get(label)?;
        }
    }

    fn write(&mut self, v: VarId, value: Const) {
        self.state.vars.insert(v, value);
        self.state.written.insert(v, self.steps);
    }

    /// What a call gives.
    fn call(&mut self, name: &str, args: Vec<Const>, sort: Option<Sort>) -> Option<Option<Const>> {
        let unit = self.unit;
        let Some(callee) = unit.function(name) else {
            let result = sort.and_then(|sort| answer(self.state.seed, name, &args, sort));
            self.calls.push((name.to_owned(), args));
            return Some(result);
        };
        if self.depth == DEEPEST {
            return None;
        }
        self.depth += 1;
        let bound = callee.params.iter().copied().zip(args).collect();
        let held = std::mem::replace(&mut self.state.vars, bound);
        let written = std::mem::take(&mut self.state.written);
        let result = self.body(callee, Function::ENTRY, &mut |_, _| true)?;
        (self.state.vars, self.state.written) = (held, written);
        self.depth -= 1;
        Some(result)
    }
}

/// What a function answers: another one, or with other arguments, something else.
fn answer(seed: u64, name: &str, args: &[Const], sort: Sort) -> Option<Const> {
    let asked = name.bytes().map(u128::from).chain(args.iter().map(|a| a.to_bits()));
    let asked = asked.fold(seed ^ 0xca11, |all, b| all.wrapping_mul(0x0100_0000_01b3) ^ b as u64);
    Const::from_bits(sort, [0u128, 1, 5, 0xffff_ffff][Random(asked).below(4) as usize])
}
