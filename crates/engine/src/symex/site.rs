//! Assertions as places in a control-flow graph, and their conditions as formulas.
//!
//! `assert(e)` is a region of nodes of one statement, entered at one node, that leads to a call which
//! reports the failure, or out of the region at one other node. The condition is a formula over the
//! variables and the memory that the region finds; substituting what a state holds for them gives the
//! condition in that state.

use crate::ir::{
    App, Callee, Expr, Function, Instr, Leaf, NodeId, Object, Op, Settled, Sort, Term, TermId, TermPool, Uf,
    Unit, VarId,
};
use crate::semantics::constant_string;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Nodes that the formula of one region may take; conditions that people write take a few dozen.
const MAX_STEPS: usize = 600;
/// What the names of stand-ins for the values at a region's entry begin with; no C name does.
const HERE: &str = "\\here:";

/// An assertion as it stands in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub text: String,
    pub line: u32,
    /// Which of those with this text.
    pub ordinal: usize,
}

/// One place in the graph where a site is checked. Unrolled loops have several of one site.
#[derive(Clone, Debug)]
pub struct Region {
    pub site: usize,
    pub entry: NodeId,
    pub exit: NodeId,
    pub fail: NodeId,
    pub nodes: BTreeSet<NodeId>,
}

/// The assertions of a function that are regions of their own.
pub struct Sites {
    pub sites: Vec<Site>,
    pub regions: Vec<Region>,
    /// By site: the condition over stand-ins, where it has no effect and is not too large.
    formulas: Vec<Option<TermId>>,
    entries: BTreeMap<NodeId, usize>,
}

/// Whether a callee reports a failed assertion.
pub fn is_failure(callee: &Callee) -> bool {
    matches!(callee, Callee::Direct(name) if &**name == "__invdiff_assert_fail")
}

/// The text of the assertion that fails at a node.
fn failing(f: &Function, unit: &Unit, node: NodeId) -> Option<String> {
    let Instr::Call { callee, args, .. } = &f.node(node).instr else { return None };
    let (true, Some(Expr::Addr(Object::Global(symbol)))) = (is_failure(callee), args.first()) else {
        return None;
    };
    let literal = unit.global(symbol).and_then(|g| constant_string(g, 0));
    Some(literal.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default())
}

/// The nodes at which assertions of a function fail, each with its line and the assertion's text.
pub fn failing_nodes(f: &Function, unit: &Unit) -> Vec<(NodeId, u32, String)> {
    let nodes = (0..f.nodes.len() as u32).map(NodeId);
    nodes.filter_map(|n| Some((n, f.node(n).span.line, failing(f, unit, n)?))).collect()
}

/// The assertions that stand in a function: line, text, and which of those with this text.
pub fn assertions_of(f: &Function, unit: &Unit) -> Vec<(u32, String, usize)> {
    let checked = failing_nodes(f, unit).into_iter().map(|(_, line, text)| (line, text));
    let settled = f.settled.iter().filter(|s| !s.compiled_out).map(|s| (s.line, s.text.to_string()));
    let sites: BTreeSet<(u32, String)> = checked.chain(settled).collect();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut numbered = Vec::new();
    for (line, text) in sites {
        let next = seen.entry(text.clone()).or_default();
        numbered.push((line, text, *next));
        *next += 1;
    }
    numbered
}

impl Sites {
    /// Finds the assertions of a function. Cost: linear in the function, plus the formulas.
    pub fn of(f: &Function, unit: &Unit, pool: &mut TermPool) -> Sites {
        let all = assertions_of(f, unit);
        let sites: Vec<Site> =
            all.into_iter().map(|(line, text, ordinal)| Site { text, line, ordinal }).collect();
        let preds = f.preds();
        let mut regions = Vec::new();
        for fail in (0..f.nodes.len() as u32).map(NodeId) {
            let Some(text) = failing(f, unit, fail) else { continue };
            let line = f.node(fail).span.line;
            let Some(site) = sites.iter().position(|s| s.line == line && s.text == text) else { continue };
            regions.extend(region(f, &preds, site, fail));
        }
        let mut formulas = vec![None; sites.len()];
        for r in &regions {
            if formulas[r.site].is_none() {
                let bits = unit.data_model.pointer_bits();
                formulas[r.site] = Formula { f, region: r, pool, bits, steps: 0 }.build();
            }
        }
        // What cannot fail has no region.
        for (formula, site) in formulas.iter_mut().zip(&sites) {
            let is_it = |s: &Settled| !s.compiled_out && s.line == site.line && *s.text == *site.text;
            if formula.is_none() && f.settled.iter().any(is_it) {
                *formula = Some(pool.bool(true));
            }
        }
        // Of a condition that is no formula the region is ordinary code.
        regions.retain(|r| formulas[r.site].is_some());
        let entries = regions.iter().enumerate().map(|(i, r)| (r.entry, i)).collect();
        Sites { sites, regions, formulas, entries }
    }

    /// The region that begins at a node.
    pub fn at(&self, node: NodeId) -> Option<&Region> {
        self.entries.get(&node).map(|i| &self.regions[*i])
    }

    /// The condition of a site over stand-ins for the values at its entry.
    pub fn formula(&self, site: usize) -> Option<TermId> {
        self.formulas.get(site).copied().flatten()
    }
}

/// The region around a failure: what leads to it within its statement.
fn region(f: &Function, preds: &[Vec<NodeId>], site: usize, fail: NodeId) -> Option<Region> {
    let stmt = f.node(fail).stmt;
    let mut nodes = BTreeSet::from([fail]);
    let mut work = vec![fail];
    while let Some(n) = work.pop() {
        for &p in &preds[n.0 as usize] {
            if f.node(p).stmt == stmt && nodes.insert(p) {
                work.push(p);
            }
        }
    }
    let outside = |n: &&NodeId| preds[n.0 as usize].iter().any(|p| !nodes.contains(p));
    let entries: Vec<NodeId> = nodes.iter().filter(outside).copied().collect();
    let exits: BTreeSet<NodeId> =
        nodes.iter().flat_map(|n| &f.node(*n).succs).filter(|s| !nodes.contains(s)).copied().collect();
    match (entries.as_slice(), exits.iter().collect::<Vec<_>>().as_slice()) {
        (&[entry], &[exit]) => Some(Region { site, entry, exit: *exit, fail, nodes }),
        _ => None,
    }
}

/// Returns the function with the assertions taken out for which `gone` says so.
pub fn without(f: &Function, sites: &Sites, gone: impl Fn(usize) -> bool) -> Function {
    let mut f = f.clone();
    for r in sites.regions.iter().filter(|r| gone(r.site)) {
        let node = &mut f.nodes[r.fail.0 as usize];
        node.instr = Instr::Nop;
        node.succs = vec![r.exit];
    }
    f
}

/// The stand-in for a variable's value at a region's entry.
fn stand_in(f: &Function, v: VarId) -> Option<Leaf> {
    let var = f.var(v);
    Some(Leaf::Param { name: format!("{HERE}{}#{}", var.name, var.ordinal).into(), sort: var.sort? })
}

/// The stand-in for the memory at a region's entry.
fn memory_stand_in() -> Leaf {
    Leaf::Havoc { key: format!("{HERE}memory").into(), sort: Sort::Mem }
}

/// What a formula's stand-ins are for.
pub(super) fn stand_ins(f: &Function, pool: &TermPool) -> (Vec<(TermId, VarId)>, Option<TermId>) {
    let vars = (0..f.vars.len() as u32).map(VarId);
    let known = vars.filter_map(|v| Some((pool.known_leaf(&stand_in(f, v)?)?, v))).collect();
    (known, pool.known_leaf(&memory_stand_in()))
}

/// Replaces parts of a term, also those that come up by it. Cost: linear in the term.
pub(super) fn substituted(pool: &mut TermPool, root: TermId, by: &FxHashMap<TermId, TermId>) -> TermId {
    let mut changed: FxHashMap<TermId, TermId> = FxHashMap::default();
    for t in pool.reachable(&[root]) {
        let new = match by.get(&t) {
            Some(new) => *new,
            None if !pool.args(t).iter().any(|a| changed.contains_key(a)) => continue,
            None => {
                let Term::App(app, args) = pool.get(t).clone() else { continue };
                let args: Vec<TermId> = args.iter().map(|a| changed.get(a).copied().unwrap_or(*a)).collect();
                let new = pool.app(app, &args);
                by.get(&new).copied().unwrap_or(new)
            }
        };
        changed.insert(t, new);
    }
    changed.get(&root).copied().unwrap_or(root)
}

/// Builds the condition of a region.
struct Formula<'a> {
    f: &'a Function,
    region: &'a Region,
    pool: &'a mut TermPool,
    bits: u16,
    steps: usize,
}

type Env = BTreeMap<VarId, TermId>;

impl Formula<'_> {
    fn build(&mut self) -> Option<TermId> {
        self.holds(self.region.entry, Env::new())
    }

    /// Under which condition control leaves the region well from here.
    fn holds(&mut self, node: NodeId, mut env: Env) -> Option<TermId> {
        self.steps += 1;
        if node == self.region.exit || node == self.region.fail {
            return Some(self.pool.bool(node == self.region.exit));
        }
        if self.steps > MAX_STEPS || !self.region.nodes.contains(&node) {
            return None;
        }
        let n = self.f.node(node);
        match &n.instr {
            Instr::Branch { cond } => {
                let c = self.term(cond, &env)?;
                let &[yes, no] = n.succs.as_slice() else { return None };
                if let Some(known) = self.pool.as_const(c).and_then(|c| c.as_bool()) {
                    return self.holds(if known { yes } else { no }, env);
                }
                let (yes, no) = (self.holds(yes, env.clone())?, self.holds(no, env)?);
                let not = self.pool.not(c);
                let (a, b) = (self.pool.or(not, yes), self.pool.or(c, no));
                return Some(self.pool.and(a, b));
            }
            Instr::Nop => {}
            Instr::Declare(v) => _ = env.remove(v),
            Instr::Assign { dst, value } => {
                let value = self.term(value, &env)?;
                env.insert(*dst, value);
            }
            Instr::Load { dst, addr, access } if !access.volatile => {
                let addr = self.term(addr, &env)?;
                let memory = self.pool.leaf(memory_stand_in());
                let load = App::Load { sort: access.sort, bytes: access.bytes };
                let value = self.pool.app(load, &[memory, addr]);
                env.insert(*dst, value);
            }
            // An assertion has no effect: what it calls gives the same for the same arguments.
            Instr::Call {
                dst, callee: Callee::Direct(name), args, noreturn: false, result_to: None, ..
            } => {
                let mut given: Vec<TermId> = vec![self.pool.leaf(memory_stand_in())];
                for a in args {
                    given.push(self.term(a, &env)?);
                }
                if let Some(dst) = dst {
                    let part = self.f.var(*dst).sort?;
                    let call = App::Uf(Uf::Call { callee: name.clone(), part });
                    let value = self.pool.app(call, &given);
                    env.insert(*dst, value);
                }
            }
            _ => return None,
        }
        let &[next] = n.succs.as_slice() else { return None };
        self.holds(next, env)
    }

    fn term(&mut self, e: &Expr, env: &Env) -> Option<TermId> {
        Some(match e {
            Expr::Const(c) => self.pool.constant(*c),
            Expr::Var(v) => match env.get(v) {
                Some(t) => *t,
                None => self.pool.leaf(stand_in(self.f, *v)?),
            },
            Expr::Addr(object) => {
                let leaf = super::machine::address(self.f, object, self.bits);
                self.pool.leaf(leaf)
            }
            Expr::Op { op, args, .. } => {
                let args: Option<Vec<TermId>> = args.iter().map(|a| self.term(a, env)).collect();
                self.pool.op(*op, &args?)
            }
        })
    }
}

/// The clauses of a condition: what it says one by one.
pub fn clauses(pool: &TermPool, condition: TermId) -> Vec<TermId> {
    match pool.as_op(condition, Op::And) {
        Some(parts) => parts.to_vec(),
        None => vec![condition],
    }
}
