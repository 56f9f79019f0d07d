//! The states of a condition in a residual program: where several ways lead to a statement and only some of them are
//! covered, a variable of the copy says which one an execution took.
//!
//! The variable is moved on at *steps*: statements of one evaluation (expressions, declarations, returns) that are
//! written in the file and begin with one node. A state is the node of the difference graph at which the last step
//! began; 1 is the beginning, and 0 says that nothing is known, which no step leaves. From a state to the next step
//! the graph is followed; where ways from one state lead to one step with different nodes, the state is 0 from there
//! on. What is behind an accepting node is followed in the program itself, and ends.
//!
//! The graph has to be the program's own, step by step: one edge that is not an edge of the functions (past nodes
//! that do nothing), and no states are kept at all. A second call of the entry function starts with 0.

use super::asserts::Source;
use crate::analysis::difference::Compared;
use crate::difference::{Edge, GraphNode, Role, calls_nothing};
use crate::frontend::c::outline::{FunctionOutline, StatementSite};
use crate::ir::{Callee, Function, Instr, NodeId, StmtId, Unit};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::Arc;

/// Name of the variable.
pub(super) const STATE: &str = "invdiff_state";
/// Beyond that the copy becomes harder to read, and to verify, than what is cut off is worth.
const MOST_STATES: usize = 120;

/// The steps of one function, and the one that each node belongs to.
struct Steps<'o> {
    all: Vec<&'o StatementSite>,
    of: BTreeMap<NodeId, usize>,
}

/// A step by function and number.
type StepId = (Arc<str>, usize);

/// Where a state goes at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    State(GraphNode),
    /// Covered.
    Cut,
    Unknown,
}

/// `None` is the beginning.
type From = Option<GraphNode>;

/// What is put before statements.
pub(super) struct Moves<'o> {
    /// Statement, and the code before it.
    pub code: Vec<(&'o StatementSite, String)>,
    /// Statements at which some executions end and others do not.
    pub cuts: usize,
}

/// The variable, at the top of the copy.
pub(super) fn declaration() -> String {
    format!("static int {STATE} = 1;\n")
}

/// What stands first in the entry function: a call of it that is not the first one begins with nothing known.
pub(super) fn at_entry() -> String {
    format!(" if ({STATE} != 1) {STATE} = 0;")
}

/// Follows the states of a comparison through the functions of its file. `is_cut`: whether a statement is cut off
/// already. `None` where states say no more than places do, or cannot be followed.
pub(super) fn moves<'o>(
    compared: &Compared,
    source: &'o Source,
    is_cut: &dyn Fn(&StatementSite) -> bool,
) -> Option<Moves<'o>> {
    let walk = Walk::new(compared, source)?;
    let table = walk.table();
    let shown = |id: &StepId| walk.steps.get(&id.0).and_then(|s| s.all.get(id.1)).copied();
    let open: BTreeMap<&StepId, &BTreeMap<From, To>> =
        table.iter().filter(|(id, _)| shown(id).is_some_and(|s| !is_cut(s))).collect();
    let useful = useful(&open);
    let numbers: BTreeMap<From, usize> = useful.iter().enumerate().map(|(k, s)| (*s, k + 1)).collect();
    if numbers.is_empty() || numbers.len() > MOST_STATES {
        return None;
    }
    let mut moves = Moves { code: Vec::new(), cuts: 0 };
    for (id, entries) in open {
        let known: Vec<(usize, To)> =
            entries.iter().filter_map(|(from, to)| Some((*numbers.get(from)?, *to))).collect();
        if let (Some(site), false) = (shown(id), known.is_empty()) {
            moves.cuts += usize::from(known.iter().any(|(_, to)| *to == To::Cut));
            moves.code.push((site, code(&known, &numbers)));
        }
    }
    (moves.cuts > 0).then_some(moves)
}

/// The states from which some way leads to where only it is covered, the beginning first.
fn useful(table: &BTreeMap<&StepId, &BTreeMap<From, To>>) -> BTreeSet<From> {
    let mut found: BTreeSet<From> = BTreeSet::new();
    loop {
        let before = found.len();
        for (from, to) in table.values().flat_map(|entries| entries.iter()) {
            let leads = match to {
                To::Cut => true,
                To::State(next) => found.contains(&Some(*next)),
                To::Unknown => false,
            };
            if leads {
                found.insert(*from);
            }
        }
        if found.len() == before {
            break;
        }
    }
    // The variable begins with it.
    if !found.contains(&None) { BTreeSet::new() } else { found }
}

/// The code of a step.
fn code(known: &[(usize, To)], numbers: &BTreeMap<From, usize>) -> String {
    let mut out = String::new();
    let covered: Vec<String> =
        known.iter().filter(|(_, to)| *to == To::Cut).map(|(from, _)| format!("{STATE} == {from}")).collect();
    if !covered.is_empty() {
        let _ = write!(out, "if ({}) exit(0); ", covered.join(" || "));
    }
    let _ = write!(out, "{STATE} = ");
    for (from, to) in known {
        if let To::State(next) = to
            && let Some(number) = numbers.get(&Some(*next))
        {
            let _ = write!(out, "{STATE} == {from} ? {number} : ");
        }
    }
    out.push_str("0; ");
    out
}

/// The first node from one on that does something.
fn awake(f: &Function, from: NodeId) -> Option<NodeId> {
    let mut now = from;
    for _ in 0..f.nodes.len() {
        let node = f.nodes.get(now.0 as usize)?;
        if !matches!(node.instr, Instr::Nop) || node.succs.is_empty() {
            return Some(now);
        }
        now = *node.succs.first()?;
    }
    None
}

fn next(f: &Function, from: NodeId, label: usize) -> Option<NodeId> {
    awake(f, *f.nodes.get(from.0 as usize)?.succs.get(label)?)
}

struct Walk<'c, 'o> {
    compared: &'c Compared,
    functions: BTreeMap<Arc<str>, Arc<Function>>,
    steps: BTreeMap<Arc<str>, Steps<'o>>,
    open: BTreeSet<GraphNode>,
    edges: BTreeMap<GraphNode, Vec<Edge>>,
}

impl<'c, 'o> Walk<'c, 'o> {
    fn new(compared: &'c Compared, source: &'o Source) -> Option<Walk<'c, 'o>> {
        let lines = super::residual::line_starts(&source.bytes);
        let mut functions = BTreeMap::new();
        let mut steps = BTreeMap::new();
        for ((place, _), spot) in compared.graph.nodes.iter().zip(&compared.spots) {
            let own = place.unit == 0 && !functions.contains_key(&place.function);
            let outline = source.outline.functions.iter().find(|o| *o.name == *place.function);
            if let Some(outline) = outline.filter(|_| own) {
                steps.insert(place.function.clone(), steps_of(&spot.function, outline, &lines));
            }
            // Functions of other files may have the same name.
            let f = functions.entry(place.function.clone()).or_insert_with(|| spot.function.clone());
            if !Arc::ptr_eq(f, &spot.function) && **f != *spot.function {
                return None;
            }
        }
        let mut edges: BTreeMap<GraphNode, Vec<Edge>> = BTreeMap::new();
        compared.graph.edges.iter().for_each(|e| edges.entry(e.from).or_default().push(*e));
        let open = compared.graph.condition().open;
        let walk = Walk { compared, functions, steps, open, edges };
        let is_clear = || walk.open.iter().all(|n| walk.comes_back(*n, &source.unit));
        (compared.graph.edges.iter().all(|e| walk.is_of_program(e)) && is_clear()).then_some(walk)
    }

    /// Whether what a node calls runs no step that the graph does not show; behind a violation that may be new too.
    fn comes_back(&self, at: GraphNode, unit: &Unit) -> bool {
        let (place, role) = &self.compared.graph.nodes[at];
        let calls_nothing = |f: &Function, n: NodeId| match f.nodes.get(n.0 as usize).map(|n| &n.instr) {
            Some(Instr::Call { callee: Callee::Direct(name), .. }) => {
                unit.function(name).is_none() && calls_nothing(name)
            }
            Some(Instr::Call { .. }) => false,
            _ => true,
        };
        let Some(f) = self.functions.get(&place.function) else { return false };
        let deeper = |e: &Edge| self.compared.graph.nodes[e.to].0.calls.len() > place.calls.len();
        if *role == Role::Bug {
            // Until the next step what runs is not known to be behind it.
            let mut found = Vec::new();
            return self.behind(at, To::Unknown, &mut found).iter().all(|(f, n)| calls_nothing(f, *n));
        }
        self.edges.get(&at).is_some_and(|edges| edges.iter().any(deeper)) || calls_nothing(f, place.node)
    }

    /// Whether an edge of the graph is one step of the program.
    fn is_of_program(&self, e: &Edge) -> bool {
        let (from, to) = (&self.compared.graph.nodes[e.from].0, &self.compared.graph.nodes[e.to].0);
        let function = |name: &Arc<str>| self.functions.get(name);
        let goes = if from.calls == to.calls {
            from.function == to.function
                && function(&from.function).and_then(|f| next(f, from.node, e.label)) == Some(to.node)
        } else if let [outer @ .., (caller, node)] = to.calls.as_slice()
            && outer == from.calls
        {
            let starts = function(&to.function).and_then(|f| awake(f, Function::ENTRY));
            (caller, node) == (&from.function, &from.node) && starts == Some(to.node)
        } else if let [outer @ .., (caller, node)] = from.calls.as_slice()
            && outer == to.calls
        {
            *caller == to.function && function(caller).and_then(|f| next(f, *node, 0)) == Some(to.node)
        } else {
            false
        };
        goes && (from.unit == to.unit || from.calls != to.calls)
    }

    fn step(&self, function: &Arc<str>, node: NodeId) -> Option<usize> {
        self.steps.get(function)?.of.get(&node).copied()
    }

    /// The step that begins when control comes to a node of the graph from another one.
    fn begins(&self, from: Option<GraphNode>, to: GraphNode) -> Option<StepId> {
        let nodes = &self.compared.graph.nodes;
        let place = &nodes[to].0;
        let step = self.step(&place.function, place.node)?;
        let within = from.map(|from| &nodes[from].0).and_then(|from| {
            let (function, node) = match from.calls.len().cmp(&place.calls.len()) {
                std::cmp::Ordering::Less => return None,
                std::cmp::Ordering::Equal => (&from.function, from.node),
                std::cmp::Ordering::Greater => from.calls.last().map(|(f, n)| (f, *n))?,
            };
            (*function == place.function).then(|| self.step(function, node))?
        });
        (within != Some(step)).then(|| (place.function.clone(), step))
    }

    /// By step and the state before: where it goes.
    fn table(&self) -> BTreeMap<StepId, BTreeMap<From, To>> {
        let mut table: BTreeMap<StepId, BTreeMap<From, To>> = BTreeMap::new();
        let mut waiting: Vec<From> = vec![None];
        let mut seen: BTreeSet<From> = BTreeSet::from([None]);
        while let Some(state) = waiting.pop() {
            for (step, to) in self.onward(state) {
                let entry = table.entry(step).or_default().entry(state).or_insert(to);
                if *entry != to {
                    *entry = To::Unknown;
                }
                if let To::State(next) = to
                    && seen.insert(Some(next))
                {
                    waiting.push(Some(next));
                }
            }
        }
        table
    }

    /// The steps that come next.
    fn onward(&self, state: From) -> Vec<(StepId, To)> {
        let mut found = Vec::new();
        let mut seen: BTreeSet<(Option<GraphNode>, GraphNode)> = BTreeSet::new();
        let mut work: Vec<(Option<GraphNode>, GraphNode)> = match state {
            None => vec![(None, 0)],
            Some(at) => self.after(at),
        };
        while let Some((from, at)) = work.pop() {
            if !seen.insert((from, at)) {
                continue;
            }
            let is_bug = self.compared.graph.nodes[at].1 == Role::Bug;
            match (self.begins(from, at), self.open.contains(&at)) {
                (Some(step), false) => found.push((step, To::Cut)),
                (Some(step), true) if is_bug => found.push((step, To::Unknown)),
                (Some(step), true) => found.push((step, To::State(at))),
                (None, true) if is_bug => _ = self.behind(at, To::Unknown, &mut found),
                (None, true) => work.extend(self.after(at)),
                (None, false) => _ = self.behind(at, To::Cut, &mut found),
            }
        }
        found
    }

    fn after(&self, at: GraphNode) -> Vec<(Option<GraphNode>, GraphNode)> {
        self.edges.get(&at).into_iter().flatten().map(|e| (Some(at), e.to)).collect()
    }

    /// The steps behind a node at which the graph ends, in its function and in those that called it. Returns the nodes
    /// that come before these.
    fn behind(&self, at: GraphNode, goes: To, found: &mut Vec<(StepId, To)>) -> Vec<(Arc<Function>, NodeId)> {
        let place = &self.compared.graph.nodes[at].0;
        let mut calls = place.calls.clone();
        let (mut function, mut start) = (place.function.clone(), place.node);
        let mut passed = vec![];
        let mut is_call = false;
        loop {
            let Some(f) = self.functions.get(&function) else { return passed };
            let mut leaves = false;
            let mut seen = BTreeSet::new();
            let mut work = vec![start];
            while let Some(node) = work.pop() {
                if !seen.insert(node) {
                    continue;
                }
                // The call that is returned from is over.
                if !(is_call && node == start) {
                    passed.push((f.clone(), node));
                }
                leaves |= node == Function::EXIT;
                let labels = 0..f.nodes.get(node.0 as usize).map_or(0, |n| n.succs.len());
                for to in labels.filter_map(|label| next(f, node, label)) {
                    match self.step(&function, to) {
                        Some(step) if self.step(&function, node) != Some(step) => {
                            found.push(((function.clone(), step), goes));
                        }
                        _ => work.push(to),
                    }
                }
            }
            let Some((caller, node)) = calls.pop().filter(|_| leaves) else { return passed };
            (function, start, is_call) = (caller, node, true);
        }
    }
}

/// Finds the steps of a function.
fn steps_of<'o>(f: &Function, outline: &'o FunctionOutline, lines: &[usize]) -> Steps<'o> {
    let offset = |n: NodeId| {
        let span = &f.nodes[n.0 as usize].span;
        let own = span.file.0 == 0 && span.line > 0 && span.col > 0;
        own.then(|| lines.get(span.line as usize - 1).map(|at| at + span.col as usize - 1)).flatten()
    };
    let ids = || (0..f.nodes.len() as u32).map(NodeId);
    let does = |n: &NodeId| !matches!(f.nodes[n.0 as usize].instr, Instr::Nop);
    // The innermost statement is the shortest one around.
    let around = |n: NodeId| {
        let at = offset(n)?;
        let around = outline.statements.iter().enumerate().filter(|(_, s)| s.range.contains(&at));
        around.min_by_key(|(_, s)| s.range.len()).map(|(k, _)| k)
    };
    let site: BTreeMap<NodeId, usize> = ids().filter(does).filter_map(|n| Some((n, around(n)?))).collect();
    let mut firsts: BTreeMap<usize, BTreeSet<NodeId>> = BTreeMap::new();
    let mut inner: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    let entry = awake(f, Function::ENTRY);
    firsts.extend(entry.and_then(|n| Some((*site.get(&n)?, BTreeSet::from([n])))));
    for from in ids().filter(does) {
        let labels = 0..f.nodes[from.0 as usize].succs.len();
        for to in labels.filter_map(|label| next(f, from, label)) {
            match (site.get(&from), site.get(&to)) {
                (Some(a), Some(b)) if a == b => inner.entry(from).or_default().push(to),
                (_, Some(b)) => _ = firsts.entry(*b).or_default().insert(to),
                _ => {}
            }
        }
    }
    let statements: BTreeMap<usize, BTreeSet<StmtId>> =
        site.iter().fold(BTreeMap::new(), |mut all, (n, k)| {
            all.entry(*k).or_default().insert(f.nodes[n.0 as usize].stmt);
            all
        });
    let mut steps = Steps { all: Vec::new(), of: BTreeMap::new() };
    for (k, of) in &statements {
        let range = &outline.statements[*k].range;
        let is_alone = !outline
            .statements
            .iter()
            .enumerate()
            .any(|(other, s)| other != *k && range.start <= s.range.start && s.range.end <= range.end);
        let kind = of.first().and_then(|s| f.stmts.get(s.0 as usize)).map(|s| s.kind);
        let is_one = of.len() == 1 && matches!(kind, Some("expr" | "return" | "decl"));
        let Some(first) = firsts.get(k).filter(|f| f.len() == 1).and_then(|f| f.first()) else { continue };
        if is_alone && is_one && !is_cyclic(*first, &inner) {
            let number = steps.all.len();
            steps.all.push(&outline.statements[*k]);
            steps.of.extend(site.iter().filter(|(_, of)| *of == k).map(|(n, _)| (*n, number)));
        }
    }
    steps
}

/// Whether control can come to a node again within a statement, or go around in it.
fn is_cyclic(first: NodeId, inner: &BTreeMap<NodeId, Vec<NodeId>>) -> bool {
    let mut done: BTreeSet<NodeId> = BTreeSet::new();
    let mut path: Vec<(NodeId, usize)> = vec![(first, 0)];
    let mut active: BTreeSet<NodeId> = BTreeSet::from([first]);
    while let Some((node, at)) = path.pop() {
        match inner.get(&node).and_then(|to| to.get(at)) {
            Some(to) => {
                path.push((node, at + 1));
                if active.contains(to) {
                    return true;
                }
                if !done.contains(to) {
                    active.insert(*to);
                    path.push((*to, 0));
                }
            }
            None => {
                active.remove(&node);
                done.insert(node);
            }
        }
    }
    false
}
