//! The functions of a program as the verifier follows them: calls through known pointers resolved,
//! where loops begin, which variables are still read.

use crate::difference::{Concerns, Remainder, is_failure};
use crate::interp::{DefinitionId, Program};
use crate::ir::library::control::ends_program;
use crate::ir::{Callee, Function, Instr, NodeId};
use crate::semantics::pointers;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// A function.
pub(super) struct Body {
    pub unit: usize,
    pub function: Arc<Function>,
    /// By node: one that a loop comes back to.
    pub heads: Vec<bool>,
    /// By node: variables that are read from here on before they are written.
    pub live: Vec<Vec<bool>>,
    /// By node: covered by the condition, nothing is to be verified from here on.
    pub covered: Vec<bool>,
}

/// What a call leads to.
#[derive(Clone, Debug)]
pub(super) enum Target {
    Body(usize),
    /// It is a violation.
    Failure,
    /// The execution ends well, or does not count.
    End,
    /// An arbitrary value.
    Input(Arc<str>),
    Unknown,
}

/// All functions that an entry leads to by name.
pub(super) struct Code {
    /// The entry first.
    pub bodies: Vec<Body>,
    calls: HashMap<(usize, NodeId), Target>,
}

/// Functions beyond which a program is not looked at.
const MAX_FUNCTIONS: usize = 400;
/// Nodes times variables of a function, for liveness.
const MAX_LIVENESS: usize = 4_000_000;
impl Code {
    /// Returns `None` for programs that are too large, or have no such function.
    pub fn new(
        program: &Program,
        entry: &str,
        concerns: &Concerns,
        remainder: Option<&Remainder>,
    ) -> Option<Code> {
        // What runs around `main` is not followed.
        if entry == "main" && program.has_hooks() {
            return None;
        }
        let mut index: BTreeMap<DefinitionId, usize> = BTreeMap::new();
        let mut work = vec![program.definition_by_name(entry)?];
        let mut code = Code { bodies: Vec::new(), calls: HashMap::new() };
        index.insert(work[0], 0);
        let mut at = 0;
        while let Some(&definition) = work.get(at) {
            at += 1;
            if work.len() > MAX_FUNCTIONS {
                return None;
            }
            let unit = program.definition(definition)?.unit;
            let f = program.function_of(definition)?;
            let function = Arc::new(pointers::resolve(f, program.unit(unit)?).unwrap_or_else(|| f.clone()));
            let body = code.bodies.len();
            for (i, node) in function.nodes.iter().enumerate() {
                let Instr::Call { callee, .. } = &node.instr else { continue };
                let target = match callee {
                    Callee::Indirect(_) => Target::Unknown,
                    Callee::Direct(name) if is_failure(name, concerns) => Target::Failure,
                    Callee::Direct(name) => match program.definition_from(unit, name) {
                        Some(_) if program.is_replaceable(unit, name) => Target::Unknown,
                        Some(d) => {
                            let next = work.len();
                            let found = *index.entry(d).or_insert(next);
                            if found == next {
                                work.push(d);
                            }
                            Target::Body(found)
                        }
                        None if ends_program(name) => Target::End,
                        None if name.starts_with("__VERIFIER_nondet_") => Target::Input(name.clone()),
                        None => Target::Unknown,
                    },
                };
                code.calls.insert((body, NodeId(i as u32)), target);
            }
            code.bodies.push(Body::new(unit, function, remainder)?);
        }
        Some(code)
    }

    pub fn target(&self, body: usize, node: NodeId) -> Target {
        self.calls.get(&(body, node)).cloned().unwrap_or(Target::Unknown)
    }
}

impl Body {
    fn new(unit: usize, function: Arc<Function>, remainder: Option<&Remainder>) -> Option<Body> {
        if function.nodes.len() * function.vars.len() > MAX_LIVENESS {
            return None;
        }
        let nodes = (0..function.nodes.len() as u32).map(NodeId);
        let looked_at = remainder.filter(|r| r.functions.contains(&(unit, function.name.clone())));
        let covered = nodes
            .map(|n| {
                let left = looked_at.is_none_or(|r| r.has(unit, &function.name, n));
                !left && !matches!(function.node(n).instr, Instr::Nop)
            })
            .collect();
        Some(Body { unit, heads: heads(&function), live: live(&function), covered, function })
    }
}

/// Nodes that some way comes back to while it is on them.
fn heads(f: &Function) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; f.nodes.len()];
    let mut heads = vec![false; f.nodes.len()];
    let mut stack: Vec<(NodeId, usize)> = vec![(Function::ENTRY, 0)];
    marks[0] = Mark::Open;
    while let Some((n, next)) = stack.pop() {
        match f.node(n).succs.get(next) {
            Some(s) => {
                stack.push((n, next + 1));
                match marks[s.0 as usize] {
                    Mark::New => {
                        marks[s.0 as usize] = Mark::Open;
                        stack.push((*s, 0));
                    }
                    Mark::Open => heads[s.0 as usize] = true,
                    Mark::Done => {}
                }
            }
            None => marks[n.0 as usize] = Mark::Done,
        }
    }
    heads
}

/// Variables that are live before each node. Those in memory are what holds their address.
fn live(f: &Function) -> Vec<Vec<bool>> {
    let mut always = vec![false; f.vars.len()];
    for (v, var) in f.vars.iter().enumerate() {
        always[v] = var.in_memory || var.sort.is_none();
    }
    let mut live = vec![always; f.nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for n in (0..f.nodes.len()).rev() {
            let node = &f.nodes[n];
            let mut now = live[n].clone();
            let written = written(&node.instr);
            for s in &node.succs {
                for (v, is) in live[s.0 as usize].iter().enumerate() {
                    now[v] |= *is && written != Some(v);
                }
            }
            node.instr.for_each_operand(&mut |e| e.for_each_var(&mut |v| now[v.0 as usize] = true));
            if now != live[n] {
                live[n] = now;
                changed = true;
            }
        }
    }
    live
}

/// The variable that an instruction gives another value.
pub(super) fn written(instr: &Instr) -> Option<usize> {
    match instr {
        Instr::Assign { dst, .. } | Instr::Load { dst, .. } | Instr::Declare(dst) => Some(dst.0 as usize),
        Instr::Call { dst, .. } => dst.map(|d| d.0 as usize),
        _ => None,
    }
}
