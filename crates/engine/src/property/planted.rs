//! Old assertions put back: a newer version in which an assertion of the older one is checked where it was.
//!
//! What the assertion does is a *region* of the older function ([`Sites`]); a copy of it goes in front of the
//! place in the newer one: before the assertion that took its place, or, where there is none, before what comes
//! next in both versions. Variables and types are those of the same names. Where one of them is another one
//! now, the old condition has no meaning there, and nothing is planted.
//!
//! Both versions call the assertion by a text that no other one has, so it can be told in what is found of them.

use crate::invariant::layouts_differ;
use crate::ir::{
    CType, Callee, Expr, Function, Global, InitPiece, Instr, Linkage, NodeId, Object, Stmt, StmtId, TermPool,
    Unit, Var, VarId, VarKind, retyped,
};
use crate::mvicfg::{ClassId, Mvicfg};
use crate::symex::{Region, Site, Sites, without};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The symbol of the text by which the assertion is called; no C name.
const SYMBOL: &str = ".str:old assertion";

/// One version of a function.
#[derive(Clone, Copy)]
pub struct Written<'a> {
    pub function: &'a Arc<Function>,
    pub unit: &'a Arc<Unit>,
}

/// Two versions that check the same old assertion.
pub struct Planted {
    /// What both call it.
    pub text: String,
    pub units: [Unit; 2],
    /// The line of the newer version in front of which it stands; none where another one took its place.
    pub before: Option<u32>,
}

/// Puts an assertion of the older version back. `now`: the one that took its place, if any; `alone`: that one is
/// taken out. Cost: an alignment, and copies of both units.
pub fn plant(old: Written, new: Written, was: &Site, now: Option<&Site>, alone: bool) -> Option<Planted> {
    if layouts_differ((old.function, old.unit), (new.function, new.unit)) {
        return None;
    }
    let mut pool = TermPool::new();
    let before = Sites::of(old.function, old.unit, &mut pool);
    let after = Sites::of(new.function, new.unit, &mut pool);
    let site = before.sites.iter().position(|s| s == was)?;
    let region = before.regions.iter().find(|r| r.site == site)?;
    let graph = Mvicfg::build(vec![old.function.clone(), new.function.clone()]);
    let taken = now.and_then(|now| after.sites.iter().position(|s| s == now));
    let mut spots: Vec<Spot> = taken.iter().flat_map(|k| spots_of(new.function, &after, *k)).collect();
    let mut line = None;
    if spots.is_empty() {
        let spot = next_in_both(&graph, &before, region)?;
        line = Some(new.function.node(spot.to).span.line);
        spots.push(spot);
    }
    let body = match (alone, taken) {
        (true, Some(taken)) => without(new.function, &after, |s| s == taken),
        _ => (**new.function).clone(),
    };
    let text = format!("was: {}", was.text);
    let literal = literal(&text);
    let mut planter =
        Planter { old, graph: &graph, region, unit: with_global((**new.unit).clone(), &literal), body };
    for spot in &spots {
        planter.plant(spot)?;
    }
    let Planter { mut unit, body, .. } = planter;
    replace(&mut unit, body)?;
    let mut older = with_global((**old.unit).clone(), &literal);
    let mut body = (**old.function).clone();
    for r in before.regions.iter().filter(|r| r.site == site) {
        call_it(&mut body.nodes[r.fail.0 as usize].instr);
    }
    replace(&mut older, body)?;
    Some(Planted { text, units: [older, unit], before: line })
}

/// Edges that lead to a node.
struct Spot {
    edges: Vec<(NodeId, usize)>,
    to: NodeId,
}

impl Spot {
    /// The edges to a node from others than those that are left out.
    fn before(f: &Function, to: NodeId, left_out: impl Fn(NodeId) -> bool) -> Spot {
        let nodes = (0..f.nodes.len() as u32).map(NodeId).filter(|n| !left_out(*n));
        let all = nodes.flat_map(|n| f.node(n).succs.iter().enumerate().map(move |(k, s)| (n, k, *s)));
        Spot { edges: all.filter(|(.., s)| *s == to).map(|(n, k, _)| (n, k)).collect(), to }
    }
}

/// Where an assertion of the newer version stands.
fn spots_of(f: &Function, sites: &Sites, site: usize) -> Vec<Spot> {
    let of = |r: &Region| Spot::before(f, r.entry, |n| r.nodes.contains(&n));
    sites.regions.iter().filter(|r| r.site == site).map(of).collect()
}

/// The place in the newer version of an assertion that has no successor there: in front of what comes behind it in
/// both, if that is clear.
fn next_in_both(graph: &Mvicfg, before: &Sites, region: &Region) -> Option<Spot> {
    let [old, new] = graph.bodies.as_slice() else { return None };
    let there = |n: NodeId| graph.origin(graph.node_map[0][n.0 as usize], ClassId::NEW);
    let first = whole(old, region);
    let (mut nodes, mut exit) = first.clone();
    // Behind it may be assertions that are gone, too.
    let mut passes = true;
    let to = loop {
        let edges = Spot::before(old, exit, |_| false).edges;
        passes &= edges.iter().all(|(n, _)| nodes.contains(n));
        match there(exit) {
            Some(to) => break to,
            None => (nodes, exit) = whole(old, before.at(exit)?),
        }
    };
    if passes {
        return Some(Spot::before(new, to, |_| false));
    }
    // Other ways lead there: only the edge that it stood on counts.
    let edges = Spot::before(old, region.entry, |n| first.0.contains(&n)).edges;
    let same = |(n, k): (NodeId, usize)| {
        let n = there(n)?;
        (new.node(n).succs.get(k) == Some(&to)).then_some((n, k))
    };
    let edges: Option<Vec<_>> = edges.into_iter().map(same).collect();
    edges.filter(|e| !e.is_empty()).map(|edges| Spot { edges, to })
}

/// The nodes of an assertion with what its statement does when it holds, which is nothing, and what comes next.
fn whole(f: &Function, region: &Region) -> (BTreeSet<NodeId>, NodeId) {
    let stmt = f.node(region.fail).stmt;
    let (mut nodes, mut exit) = (region.nodes.clone(), region.exit);
    while let (Instr::Nop, &[next]) = (&f.node(exit).instr, f.node(exit).succs.as_slice())
        && f.node(exit).stmt == stmt
        && nodes.insert(exit)
    {
        exit = next;
    }
    (nodes, exit)
}

/// The text by which the assertion is called, as an object.
fn literal(text: &str) -> Global {
    let bytes: Vec<u8> = text.bytes().chain([0]).collect();
    let size = bytes.len() as u64;
    let char = CType::Int { bits: 8, signed: true, name: "char".into() };
    Global {
        symbol: SYMBOL.into(),
        name: SYMBOL.into(),
        ty: CType::Array(Arc::new(char), Some(size)),
        size,
        linkage: Linkage::Literal,
        is_const: true,
        is_fixed: true,
        init: vec![InitPiece::Bytes { offset: 0, bytes }],
        span: Default::default(),
    }
}

fn with_global(mut unit: Unit, global: &Global) -> Unit {
    unit.globals.push(global.clone());
    unit
}

/// Puts a body in the place of that of the same name.
fn replace(unit: &mut Unit, body: Function) -> Option<()> {
    let place = unit.functions.iter_mut().find(|f| f.name == body.name)?;
    *place = Arc::new(body);
    Some(())
}

/// Makes a failure one of the assertion that is put back.
fn call_it(instr: &mut Instr) {
    if let Instr::Call { args, .. } = instr
        && let Some(text) = args.first_mut()
    {
        *text = Expr::Addr(Object::Global(SYMBOL.into()));
    }
}

struct Planter<'a> {
    old: Written<'a>,
    graph: &'a Mvicfg,
    region: &'a Region,
    /// The newer one.
    unit: Unit,
    body: Function,
}

impl Planter<'_> {
    /// Copies the region to a place, as a statement of its own.
    fn plant(&mut self, spot: &Spot) -> Option<()> {
        let at = self.body.node(spot.to).clone();
        let was = self.old.function.node(self.region.fail).stmt;
        let kind = self.old.function.stmts.get(was.0 as usize)?.kind;
        let depth = self.body.stmts.get(at.stmt.0 as usize)?.depth;
        let first = self.body.nodes.len() as u32;
        let ids: BTreeMap<NodeId, NodeId> =
            self.region.nodes.iter().enumerate().map(|(k, n)| (*n, NodeId(first + k as u32))).collect();
        let mut temps = BTreeMap::new();
        let mut copies = Vec::new();
        for n in &self.region.nodes {
            let mut node = self.old.function.node(*n).clone();
            self.instr(&mut node.instr, &mut temps)?;
            if *n == self.region.fail {
                call_it(&mut node.instr);
            }
            for s in &mut node.succs {
                *s = if *s == self.region.exit { spot.to } else { *ids.get(s)? };
            }
            (node.stmt, node.span) = (at.stmt, at.span.clone());
            copies.push(node);
        }
        let behind = |s: StmtId| StmtId(s.0 + u32::from(s.0 >= at.stmt.0));
        self.body.nodes.iter_mut().for_each(|n| n.stmt = behind(n.stmt));
        self.body.stmts.insert(at.stmt.0 as usize, Stmt { span: at.span, depth, kind });
        self.body.nodes.extend(copies);
        let entry = *ids.get(&self.region.entry)?;
        for (n, k) in &spot.edges {
            self.body.nodes[n.0 as usize].succs[*k] = entry;
        }
        Some(())
    }

    /// Makes an instruction of the older version one of the newer.
    fn instr(&mut self, instr: &mut Instr, temps: &mut BTreeMap<VarId, VarId>) -> Option<()> {
        let (from, to) = (self.old.unit, &self.unit);
        let retype = |ty: &mut CType| *ty = retyped(ty, from, to);
        match instr {
            Instr::Nop | Instr::Branch { .. } => {}
            Instr::Assign { dst, .. } => *dst = self.temp(*dst, temps)?,
            Instr::Load { dst, access, .. } => {
                retype(&mut access.ty);
                *dst = self.temp(*dst, temps)?;
            }
            Instr::Call { dst, callee: Callee::Direct(name), arg_types, ret, .. } => {
                if from.function(name).is_some() && to.function(name).is_none() {
                    return None;
                }
                arg_types.iter_mut().chain([ret]).for_each(retype);
                if let Some(dst) = dst {
                    *dst = self.temp(*dst, temps)?;
                }
            }
            _ => return None,
        }
        let mut is_whole = true;
        instr.for_each_operand_mut(&mut |e| is_whole &= self.expr(e, temps).is_some());
        is_whole.then_some(())
    }

    fn expr(&mut self, e: &mut Expr, temps: &mut BTreeMap<VarId, VarId>) -> Option<()> {
        match e {
            Expr::Const(_) => {}
            Expr::Var(v) | Expr::Addr(Object::Local(v)) => *v = self.var(*v, temps)?,
            Expr::Addr(Object::Global(symbol)) => self.global(symbol)?,
            Expr::Addr(Object::Function(_)) => return None,
            Expr::Op { args, .. } => {
                for a in args {
                    self.expr(a, temps)?;
                }
            }
        }
        Some(())
    }

    /// A variable that the region gives a value: one of lowering, for it has no other effect.
    fn temp(&mut self, v: VarId, temps: &mut BTreeMap<VarId, VarId>) -> Option<VarId> {
        let var = self.old.function.var(v);
        (var.kind == VarKind::Temp).then(|| self.var(v, temps))?
    }

    /// The variable of the newer version that a variable of the region is.
    fn var(&mut self, v: VarId, temps: &mut BTreeMap<VarId, VarId>) -> Option<VarId> {
        let var = self.old.function.var(v);
        let ty = retyped(&var.ty, self.old.unit, &self.unit);
        if var.kind == VarKind::Temp {
            return Some(*temps.entry(v).or_insert_with(|| {
                self.body.vars.push(Var { ty, ..var.clone() });
                VarId(self.body.vars.len() as u32 - 1)
            }));
        }
        let merged = self.graph.var_map.first()?.get(v.0 as usize)?;
        let there = self.graph.var_map.get(1)?.iter().position(|m| m == merged)?;
        let found = VarId(there as u32);
        (self.body.var(found).ty == ty).then_some(found)
    }

    /// Sees to it that an object of the older version is one of the newer, too.
    fn global(&mut self, symbol: &Arc<str>) -> Option<()> {
        let was = self.old.unit.global(symbol)?;
        match self.unit.global(symbol) {
            Some(now) => {
                let is_same = now.size == was.size && now.ty == retyped(&was.ty, self.old.unit, &self.unit);
                is_same.then_some(())
            }
            None if was.linkage == Linkage::Literal => {
                self.unit.globals.push(was.clone());
                Some(())
            }
            None => None,
        }
    }
}
