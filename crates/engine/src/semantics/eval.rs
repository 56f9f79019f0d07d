//! Demand-driven evaluation of places over the multiversion graph
//! (`docs/design/symbolic-evaluation.md`; Invariant Diffs, section III, with terms in place of
//! path-wise queries).
//!
//! A query asks the value of a place before a node for a set of classes. It walks backwards along
//! edges that the classes have, is split where their edges differ, substituted at definitions, and
//! joined by gated `ite` terms where paths meet. Answers are memoised by place and node and only
//! computed for classes not yet answered, so a shared node is evaluated once for all of them. Each
//! value keeps the nodes that define it (causes) apart from those that only guard it.
//!
//! Loops are cut at their heads (module `loops`, `docs/design/symbolic-evaluation.md`).

use super::library;
use super::lines::Lines;
use super::loops::LoopInfo;
use super::place::{Place, Places, exact_object};
use crate::ir::{App, Expr, Global, Instr, Leaf, Object, Op, Sort, Term, TermId, TermPool, VarId, VarKind};
use crate::mvicfg::{ClassId, ClassSet, Flow, MvId, Mvicfg};
use rustc_hash::FxHashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A partition of a set of classes, with one value for each cell. Cells are not empty and do not
/// overlap.
pub type Part<T> = Vec<(ClassSet, T)>;

/// Value of a place.
#[derive(Clone, Debug)]
pub struct Val {
    pub term: TermId,
    /// Nodes whose instructions compute the value.
    pub causes: Rc<Lines>,
    /// Branches that decide between definitions.
    pub guards: Rc<Lines>,
}

impl Val {
    fn same(&self, other: &Val) -> bool {
        self.term == other.term && self.causes == other.causes && self.guards == other.guards
    }
}

/// What the evaluator must know of the world around the function.
pub trait Callees {
    /// Returns an identity of the named function's behaviour in a class (name and content of its
    /// body and of all that it calls), or `None` when the program does not define it.
    fn identity(&self, class: ClassId, name: &str) -> Option<Arc<str>>;

    /// Returns a global of the class's unit by symbol.
    fn global(&self, class: ClassId, symbol: &str) -> Option<&Global>;

    /// Returns what a call of a library function does in the class's unit, if a row says all of it.
    fn row(&self, class: ClassId, name: &str, args: &[Expr]) -> Option<&'static library::Row>;
}

/// The row of a call of a library function, where all classes of a graph agree that it is one.
pub(super) fn row_in_all(
    callees: &dyn Callees,
    graph: &Mvicfg,
    name: &str,
    args: &[Expr],
) -> Option<&'static library::Row> {
    let is_own = |c: ClassId| callees.identity(c, name).is_some() || callees.row(c, name, args).is_none();
    library::row(name).filter(|_| !graph.classes().any(is_own))
}

/// Expressions and places evaluated together: the expressions' terms, the places' values, and the
/// causes and guards of the expressions.
pub(super) type Evaluated = (Vec<TermId>, Vec<Val>, Rc<Lines>, Rc<Lines>);

/// Distinct terms of one function's analysis.
const MAX_TERMS: usize = 300_000;

/// Exact measures of the work done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// Nodes that queries stepped over, each time one did.
    pub nodes_visited: u64,
}

/// Evaluates places of one function's graph.
pub struct Evaluator<'a> {
    pub graph: &'a Mvicfg,
    pub flow: &'a Flow,
    pub places: Places,
    pub pool: TermPool,
    pub statistics: Statistics,
    pub(super) callees: &'a dyn Callees,
    pub(super) pointer_bits: u16,
    pub(super) loops: Vec<Vec<Rc<LoopInfo>>>,
    pub(super) none: Rc<Lines>,
    memo: FxHashMap<(Place, MvId), Part<Val>>,
    pub(super) reach_memo: FxHashMap<MvId, Part<Val>>,
    /// By node, dominator and classes.
    pub(super) reach_from_memo: FxHashMap<(MvId, MvId, ClassSet), Part<Val>>,
    /// Successes of conversions from standard input that a program does not look at, with the
    /// classes that do not.
    pub unchecked: FxHashMap<TermId, ClassSet>,
}

impl<'a> Evaluator<'a> {
    /// Prepares a graph for queries; the work happens on demand.
    pub fn new(
        graph: &'a Mvicfg,
        flow: &'a Flow,
        callees: &'a dyn Callees,
        pointer_bits: u16,
    ) -> Evaluator<'a> {
        let places = Places::new(graph, &|name, args| row_in_all(callees, graph, name, args));
        let mut e = Evaluator {
            graph,
            flow,
            places,
            pool: TermPool::new(),
            statistics: Statistics::default(),
            callees,
            pointer_bits,
            loops: Vec::new(),
            none: Rc::new(Lines::default()),
            memo: FxHashMap::default(),
            reach_memo: FxHashMap::default(),
            reach_from_memo: FxHashMap::default(),
            unchecked: FxHashMap::default(),
        };
        e.loops = graph.classes().map(|c| e.describe_loops(c)).collect();
        e
    }

    /// Returns the value of a place before a node is executed, for each of the classes.
    pub fn before(&mut self, place: Place, node: MvId, classes: &ClassSet) -> Part<Val> {
        if self.is_exhausted() {
            return self.havoc(node, place, classes);
        }
        let mut result = Vec::new();
        let mut missing = classes.clone();
        if let Some(known) = self.memo.get(&(place, node)) {
            for (set, val) in known {
                let hit = set.intersection(&missing);
                if !hit.is_empty() {
                    missing = missing.difference(&hit);
                    result.push((hit, val.clone()));
                }
            }
        }
        if !missing.is_empty() {
            let fresh = merge(self.compute_before(place, node, &missing));
            self.memo.entry((place, node)).or_default().extend(fresh.iter().cloned());
            result.extend(fresh);
        }
        merge(result)
    }

    /// Returns the value of a place after a node was executed.
    pub fn after(&mut self, place: Place, node: MvId, classes: &ClassSet) -> Part<Val> {
        self.statistics.nodes_visited += 1;
        if self.places.defines(node, place) {
            self.transfer(place, node, classes)
        } else {
            self.before(place, node, classes)
        }
    }

    /// Whether values grew beyond the limit; what is asked from then on is unknown.
    pub fn is_exhausted(&self) -> bool {
        self.pool.len() > MAX_TERMS
    }

    fn compute_before(&mut self, place: Place, node: MvId, classes: &ClassSet) -> Part<Val> {
        if node == Mvicfg::ENTRY {
            return vec![(classes.clone(), self.initial(place))];
        }
        let mut result = Vec::new();
        for (group, site) in self.group_sites(node, classes) {
            match site.in_loop {
                Some(l) if self.loops[group.first().unwrap_or(ClassId::OLD)][l].writes.contains(&place) => {
                    result.extend(self.at_loop_head(place, node, &group, &site.edges));
                }
                _ => result.extend(self.join(place, node, &group, &site.edges)),
            }
        }
        result
    }

    /// Splits classes by how control arrives at a node: the forward edges, the immediate dominator,
    /// and the loop that starts there.
    pub(super) fn group_sites(&self, node: MvId, classes: &ClassSet) -> Vec<(ClassSet, Site)> {
        let mut groups: Vec<(ClassSet, Site)> = Vec::new();
        for c in classes.iter() {
            let flow = &self.flow.classes[c];
            let edges: Vec<(MvId, u8)> = flow.preds[node.0 as usize]
                .iter()
                .copied()
                .filter(|&(p, _)| !flow.is_back_edge(p, node))
                .collect();
            let in_loop = flow.loop_at[node.0 as usize];
            let identity = in_loop.map(|l| self.loops[c][l].hash.clone());
            let site = Site { edges, idom: flow.idom[node.0 as usize], in_loop, loop_hash: identity };
            match groups.iter_mut().find(|(_, s)| s.same(&site)) {
                Some((set, _)) => set.insert(c),
                None => groups.push((ClassSet::single(c), site)),
            }
        }
        groups
    }

    /// Joins the values that arrive over the given edges.
    pub(super) fn join(
        &mut self,
        place: Place,
        node: MvId,
        classes: &ClassSet,
        edges: &[(MvId, u8)],
    ) -> Part<Val> {
        let Some((&(last, _), rest)) = edges.split_last() else {
            // Unreachable in these classes: any value will do.
            let val = self.initial(place);
            return vec![(classes.clone(), val)];
        };
        let mut acc = self.after(place, last, classes);
        for &(pred, label) in rest.iter().rev() {
            let mut next = Vec::new();
            let here = self.after(place, pred, classes);
            for (set, (a, b)) in product(&here, &acc) {
                if a.term == b.term {
                    let val = Val {
                        term: a.term,
                        causes: union(&a.causes, &b.causes),
                        guards: union(&a.guards, &b.guards),
                    };
                    next.push((set, val));
                    continue;
                }
                for (set, gate) in self.reach_edge(pred, label, node, &set) {
                    let term = self.pool.ite(gate.term, a.term, b.term);
                    let causes = union(&a.causes, &b.causes);
                    let guards = union(&union(&a.guards, &b.guards), &union(&gate.causes, &gate.guards));
                    next.push((set, Val { term, causes, guards }));
                }
            }
            acc = next;
        }
        acc
    }

    /// Returns the value of a place when the function starts.
    pub(super) fn initial(&mut self, place: Place) -> Val {
        let leaf = match place {
            Place::Var(v) => {
                let var = &self.graph.vars[v.0 as usize];
                let sort = var.sort.unwrap_or(Sort::Bv(8));
                match var.kind {
                    VarKind::Param => Leaf::Param { name: self.param_name(v), sort },
                    _ => Leaf::Indeterminate { key: self.var_key(v), sort },
                }
            }
            Place::Object(v) => {
                let var = &self.graph.vars[v.0 as usize];
                match var.kind {
                    VarKind::Param => Leaf::Param { name: var.name.clone(), sort: Sort::Mem },
                    _ => Leaf::Indeterminate { key: self.var_key(v), sort: Sort::Mem },
                }
            }
            Place::Memory => return self.initial_memory(),
            Place::Stdin => Leaf::Stdin,
            Place::Out => Leaf::NoOutput,
            Place::World => Leaf::World,
            Place::Result => Leaf::Indeterminate { key: "result".into(), sort: self.sort_of(Place::Result) },
        };
        let term = self.pool.leaf(leaf);
        self.plain(term)
    }

    /// Memory at entry: parameters whose address is known elsewhere have their values there.
    fn initial_memory(&mut self) -> Val {
        let mut memory = self.pool.leaf(Leaf::Memory);
        for (i, var) in self.graph.vars.iter().enumerate() {
            let v = VarId(i as u32);
            if var.kind != VarKind::Param || self.places.of_var(v) != Place::Memory {
                continue;
            }
            if let Some(sort) = var.sort {
                let value = self.pool.leaf(Leaf::Param { name: var.name.clone(), sort });
                let addr = self.local_address(v);
                memory = self.pool.app(App::Store { bytes: var.value_bytes() }, &[memory, addr, value]);
            }
        }
        self.plain(memory)
    }

    /// Name that identifies a parameter in all classes: that of the newest one at its position, when
    /// it was only renamed.
    fn param_name(&self, v: VarId) -> Arc<str> {
        let graph = self.graph;
        let own = &graph.vars[v.0 as usize].name;
        let Some(newest) = graph.bodies.last() else { return own.clone() };
        let names: Vec<&Arc<str>> = newest.params.iter().map(|p| &newest.var(*p).name).collect();
        if names.contains(&own) {
            return own.clone();
        }
        for (body, map) in graph.bodies.iter().zip(&graph.var_map) {
            let position = body.params.iter().position(|p| map.get(p.0 as usize) == Some(&v));
            let renamed = position.and_then(|i| newest.params.get(i)).map(|p| newest.var(*p));
            let Some(other) = renamed.filter(|_| body.params.len() == newest.params.len()) else { continue };
            let taken = body.params.iter().any(|p| body.var(*p).name == other.name);
            if !taken && other.sort == graph.vars[v.0 as usize].sort {
                return other.name.clone();
            }
        }
        own.clone()
    }

    pub(super) fn plain(&self, term: TermId) -> Val {
        Val { term, causes: self.none.clone(), guards: self.none.clone() }
    }

    fn var_key(&self, v: VarId) -> Arc<str> {
        let var = &self.graph.vars[v.0 as usize];
        format!("{}#{}", var.name, var.ordinal).into()
    }

    pub(super) fn local_address(&mut self, v: VarId) -> TermId {
        let key = self.var_key(v);
        self.pool.leaf(Leaf::LocalAddr { key, bits: self.pointer_bits })
    }

    /// Evaluates several places before a node together, on their common refinement.
    pub(super) fn several(&mut self, places: &[Place], node: MvId, classes: &ClassSet) -> Part<Vec<Val>> {
        let mut acc: Part<Vec<Val>> = vec![(classes.clone(), Vec::new())];
        for &p in places {
            let one = self.before(p, node, classes);
            acc = product(&acc, &one)
                .into_iter()
                .map(|(set, (mut list, v))| {
                    list.push(v);
                    (set, list)
                })
                .collect();
        }
        acc
    }

    /// Evaluates expressions before a node, together with further places.
    pub(super) fn exprs(
        &mut self,
        exprs: &[&Expr],
        places: &[Place],
        node: MvId,
        classes: &ClassSet,
    ) -> Part<Evaluated> {
        let mut vars: Vec<Place> = Vec::new();
        for e in exprs {
            e.for_each_var(&mut |v| {
                if !vars.contains(&Place::Var(v)) {
                    vars.push(Place::Var(v));
                }
            });
        }
        let count = vars.len();
        vars.extend_from_slice(places);
        let mut result = Vec::new();
        for (set, vals) in self.several(&vars, node, classes) {
            let (var_vals, place_vals) = vals.split_at(count);
            let lookup: FxHashMap<Place, TermId> =
                vars.iter().copied().zip(var_vals.iter().map(|v| v.term)).collect();
            let terms = exprs.iter().map(|e| self.build(e, &lookup)).collect();
            let (mut causes, mut guards) = (self.none.clone(), self.none.clone());
            for v in var_vals {
                causes = union(&causes, &v.causes);
                guards = union(&guards, &v.guards);
            }
            result.push((set, (terms, place_vals.to_vec(), causes, guards)));
        }
        result
    }

    fn build(&mut self, e: &Expr, vars: &FxHashMap<Place, TermId>) -> TermId {
        match e {
            Expr::Const(c) => self.pool.constant(*c),
            Expr::Var(v) => match vars.get(&Place::Var(*v)) {
                Some(t) => *t,
                None => self.initial(Place::Var(*v)).term,
            },
            Expr::Addr(Object::Local(v)) => self.local_address(*v),
            Expr::Addr(Object::Global(s)) => self.symbol(s),
            Expr::Addr(Object::Function(s)) => self.symbol(s),
            Expr::Op { op, args, .. } => {
                let args: Vec<TermId> = args.iter().map(|a| self.build(a, vars)).collect();
                self.pool.op(*op, &args)
            }
        }
    }

    fn symbol(&mut self, symbol: &Arc<str>) -> TermId {
        self.pool.leaf(Leaf::SymbolAddr { symbol: symbol.clone(), bits: self.pointer_bits })
    }

    /// Evaluates one expression before a node.
    pub fn expr(&mut self, e: &Expr, node: MvId, classes: &ClassSet) -> Part<Val> {
        self.exprs(&[e], &[], node, classes)
            .into_iter()
            .map(|(set, (terms, _, causes, guards))| (set, Val { term: terms[0], causes, guards }))
            .collect()
    }

    /// Returns a place's value after the node that defines it.
    fn transfer(&mut self, place: Place, node: MvId, classes: &ClassSet) -> Part<Val> {
        let graph = self.graph;
        match &graph.node(node).instr {
            Instr::Assign { value, .. } => self.caused(node, self_expr(value), place, classes),
            Instr::Return { value: Some(v) } => self.caused(node, self_expr(v), place, classes),
            Instr::Return { value: None } => {
                let zero = self.pool.bv(32, 0);
                let term =
                    if &*graph.bodies[0].name == "main" { zero } else { self.initial(Place::Result).term };
                vec![(classes.clone(), self.made_by(node, term))]
            }
            Instr::Declare(v) | Instr::Measure { var: Some(v), .. } => {
                let sort = match place {
                    Place::Object(_) => Sort::Mem,
                    _ => graph.vars[v.0 as usize].sort.unwrap_or(Sort::Mem),
                };
                let key = self.var_key(*v);
                let term = self.pool.leaf(Leaf::Indeterminate { key, sort });
                // That a variable is declared explains no value.
                vec![(classes.clone(), self.plain(term))]
            }
            Instr::Load { addr, access, .. } => {
                let region = self.places.region(addr);
                let (sort, bytes, volatile) = (access.sort, access.bytes, access.volatile);
                self.load(node, addr, region, sort, bytes, volatile, classes)
            }
            Instr::Store { addr, value, access } => {
                let bytes = access.bytes;
                if let (Some(v), Place::Var(p)) = (exact_object(addr), place)
                    && v == p
                {
                    return self.caused(node, self_expr(value), place, classes);
                }
                self.update(node, &[addr, value], place, classes, &|pool, memory, t| {
                    pool.app(App::Store { bytes }, &[memory, t[0], t[1]])
                })
            }
            Instr::Zero { dst, bytes } => {
                let bytes = *bytes;
                self.update(node, &[dst], place, classes, &|pool, memory, t| {
                    pool.app(App::ZeroBytes { bytes }, &[memory, t[0]])
                })
            }
            Instr::Copy { dst, src, bytes } => self.copy(node, dst, src, *bytes, place, classes),
            Instr::Call { .. } => self.call(node, place, classes),
            Instr::Unknown { .. } => self.havoc(node, place, classes),
            Instr::Nop | Instr::Branch { .. } | Instr::Measure { var: None, .. } | Instr::Unreachable => {
                self.before(place, node, classes)
            }
        }
    }

    /// Value of an expression, with the node as one of its causes.
    pub(super) fn caused(&mut self, node: MvId, e: &Expr, _place: Place, classes: &ClassSet) -> Part<Val> {
        self.expr(e, node, classes)
            .into_iter()
            .map(|(set, v)| (set, Val { causes: self.with(&v.causes, node), ..v }))
            .collect()
    }

    /// A term that only this node causes.
    pub(super) fn made_by(&self, node: MvId, term: TermId) -> Val {
        Val { term, causes: Rc::new(Lines::single(node)), guards: self.none.clone() }
    }

    pub(super) fn with(&self, set: &Rc<Lines>, node: MvId) -> Rc<Lines> {
        if set.contains(node) {
            return set.clone();
        }
        let mut s = (**set).clone();
        s.insert(node);
        Rc::new(s)
    }

    /// Rewrites a region of memory from its former state and evaluated expressions.
    pub(super) fn update(
        &mut self,
        node: MvId,
        exprs: &[&Expr],
        region: Place,
        classes: &ClassSet,
        f: &dyn Fn(&mut TermPool, TermId, &[TermId]) -> TermId,
    ) -> Part<Val> {
        let parts = self.exprs(exprs, &[region], node, classes);
        let mut result = Vec::new();
        for (set, (terms, olds, causes, guards)) in parts {
            let term = f(&mut self.pool, olds[0].term, &terms);
            let causes = self.with(&union(&causes, &olds[0].causes), node);
            result.push((set, Val { term, causes, guards: union(&guards, &olds[0].guards) }));
        }
        result
    }

    #[expect(clippy::too_many_arguments, reason = "an access is these seven facts")]
    fn load(
        &mut self,
        node: MvId,
        addr: &Expr,
        region: Place,
        sort: Sort,
        bytes: u64,
        volatile: bool,
        classes: &ClassSet,
    ) -> Part<Val> {
        if volatile {
            let key = format!("volatile@{node}").into();
            let term = self.pool.leaf(Leaf::Havoc { key, sort });
            return vec![(classes.clone(), self.made_by(node, term))];
        }
        if let Place::Var(v) = region {
            return self.caused(node, &Expr::Var(v), region, classes);
        }
        let parts = self.exprs(&[addr], &[region], node, classes);
        let mut result = Vec::new();
        for (set, (terms, olds, causes, guards)) in parts {
            for (set, term) in self.load_term(olds[0].term, terms[0], sort, bytes, &set) {
                let causes = self.with(&union(&causes, &olds[0].causes), node);
                result.push((set, Val { term, causes, guards: union(&guards, &olds[0].guards) }));
            }
        }
        result
    }

    /// Reads memory; bytes of constant objects are read from their initialisers.
    pub(super) fn load_term(
        &mut self,
        memory: TermId,
        addr: TermId,
        sort: Sort,
        bytes: u64,
        classes: &ClassSet,
    ) -> Part<TermId> {
        let read = self.pool.app(App::Load { sort, bytes }, &[memory, addr]);
        let Some((symbol, offset)) = self.symbol_offset(addr) else { return vec![(classes.clone(), read)] };
        let mut result: Part<TermId> = Vec::new();
        for c in classes.iter() {
            let constant = self
                .callees
                .global(c, &symbol)
                .filter(|g| g.is_known_constant())
                .and_then(|g| g.constant_bytes(offset, bytes))
                .and_then(|b| {
                    let bits = b.iter().rev().fold(0u128, |acc, &x| acc << 8 | x as u128);
                    crate::ir::Const::from_bits(sort, bits)
                });
            let term = match constant {
                Some(k) => self.pool.constant(k),
                None => read,
            };
            match result.iter_mut().find(|(_, t)| *t == term) {
                Some((set, _)) => set.insert(c),
                None => result.push((ClassSet::single(c), term)),
            }
        }
        result
    }

    /// Returns symbol and constant offset of an address, if it is that simple.
    pub(super) fn symbol_offset(&self, addr: TermId) -> Option<(Arc<str>, u64)> {
        match self.pool.get(addr) {
            Term::Leaf(Leaf::SymbolAddr { symbol, .. }) => Some((symbol.clone(), 0)),
            Term::App(App::Op(Op::Add), args) => {
                let [a, b] = args.as_slice() else { return None };
                let (base, k) = match (self.pool.as_const(*a), self.pool.as_const(*b)) {
                    (Some(k), None) => (*b, k),
                    (None, Some(k)) => (*a, k),
                    _ => return None,
                };
                let Term::Leaf(Leaf::SymbolAddr { symbol, .. }) = self.pool.get(base) else { return None };
                Some((symbol.clone(), u64::try_from(k.signed()?).ok()?))
            }
            _ => None,
        }
    }

    pub(super) fn copy(
        &mut self,
        node: MvId,
        dst: &Expr,
        src: &Expr,
        bytes: u64,
        region: Place,
        classes: &ClassSet,
    ) -> Part<Val> {
        let source = self.places.region(src);
        if source == region && !matches!(region, Place::Var(_)) {
            return self.update(node, &[dst, src], region, classes, &|pool, memory, t| {
                pool.app(App::CopyBytes { bytes }, &[memory, t[0], t[1]])
            });
        }
        if matches!(source, Place::Var(_)) || matches!(region, Place::Var(_)) || bytes > 256 {
            return self.havoc(node, region, classes);
        }
        let parts = self.exprs(&[dst, src], &[region, source], node, classes);
        let mut result = Vec::new();
        for (set, (t, olds, causes, guards)) in parts {
            // Between two regions: word by word; the value of an aggregate is its bytes.
            let mut memory = olds[0].term;
            let mut at = 0;
            while at < bytes {
                let width = [8, 4, 2, 1].into_iter().find(|w| at + w <= bytes).unwrap_or(1);
                let sort = Sort::Bv(width as u16 * 8);
                let k = self.pool.bv(self.pointer_bits, at as i128);
                let (from, to) = (self.pool.op(Op::Add, &[t[1], k]), self.pool.op(Op::Add, &[t[0], k]));
                let word = self.pool.app(App::Load { sort, bytes: width }, &[olds[1].term, from]);
                memory = self.pool.app(App::Store { bytes: width }, &[memory, to, word]);
                at += width;
            }
            let causes = self.with(&union(&causes, &union(&olds[0].causes, &olds[1].causes)), node);
            let guards = union(&guards, &union(&olds[0].guards, &olds[1].guards));
            result.push((set, Val { term: memory, causes, guards }));
        }
        result
    }

    /// An unknown value for a place. Never equal between classes: what is not modelled may depend
    /// on anything, and is certainly not known to be the same.
    pub(super) fn havoc(&mut self, node: MvId, place: Place, classes: &ClassSet) -> Part<Val> {
        let mut result = Vec::new();
        for c in classes.iter() {
            let sort = self.sort_of(place);
            let key = format!("{node}.{place:?}.class{c}").into();
            let term = self.pool.leaf(Leaf::Havoc { key, sort });
            result.push((ClassSet::single(c), self.made_by(node, term)));
        }
        result
    }

    pub(super) fn sort_of(&self, place: Place) -> Sort {
        match place {
            Place::Var(v) => self.graph.vars[v.0 as usize].sort.unwrap_or(Sort::Mem),
            Place::Object(_) | Place::Memory => Sort::Mem,
            Place::Stdin => Sort::Stdin,
            Place::Out => Sort::Out,
            Place::World => Sort::World,
            Place::Result => self.graph.bodies[0].ret.sort(self.pointer_bits).unwrap_or(Sort::Bv(32)),
        }
    }
}

fn self_expr(e: &Expr) -> &Expr {
    e
}

/// How control arrives at a node in one or more classes.
pub(super) struct Site {
    pub edges: Vec<(MvId, u8)>,
    pub idom: Option<MvId>,
    pub in_loop: Option<usize>,
    loop_hash: Option<Arc<str>>,
}

impl Site {
    fn same(&self, other: &Site) -> bool {
        self.edges == other.edges && self.idom == other.idom && self.loop_hash == other.loop_hash
    }
}

/// Returns the union of two node sets, sharing when it can.
pub(super) fn union(a: &Rc<Lines>, b: &Rc<Lines>) -> Rc<Lines> {
    if Rc::ptr_eq(a, b) || b.is_subset(a) {
        a.clone()
    } else if a.is_subset(b) {
        b.clone()
    } else {
        Rc::new(a.union(b))
    }
}

/// Returns the common refinement of two partitions.
pub(super) fn product<A: Clone, B: Clone>(a: &Part<A>, b: &Part<B>) -> Part<(A, B)> {
    let mut cells = Vec::new();
    for (s, x) in a {
        for (t, y) in b {
            let both = s.intersection(t);
            if !both.is_empty() {
                cells.push((both, (x.clone(), y.clone())));
            }
        }
    }
    cells
}

/// Merges cells with equal terms that rest on the same nodes. Equal terms of different origin stay
/// apart: their causes differ by class.
pub(super) fn merge(part: Part<Val>) -> Part<Val> {
    let mut result: Part<Val> = Vec::with_capacity(part.len());
    for (set, val) in part {
        match result.iter_mut().find(|(_, v)| v.same(&val)) {
            Some((s, _)) => *s = s.union(&set),
            None => result.push((set, val)),
        }
    }
    result
}
