//! Exact unrolling of loops whose trip count is small and proved (`docs/design/symbolic-evaluation.md`).
//!
//! The trip count is found by running the loop's counter alone: a register that is set to a constant
//! before the loop, changed at one place of the body that every iteration passes, by an expression
//! of itself, and that alone decides the loop's own condition. Other exits only leave earlier. The
//! last copy's condition is then constant, so the unrolled graph has exactly the loop's executions.

use crate::ir::{Const, Expr, Function, Instr, Node, NodeId, Op, Stmt, StmtId, VarId};
use crate::mvicfg::{Flow, MvId, Mvicfg};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// Bounds of unrolling.
#[derive(Clone, Copy, Debug)]
pub struct UnrollLimits {
    /// Iterations of one loop.
    pub trips: usize,
    /// Nodes of the result.
    pub total_nodes: usize,
}

impl Default for UnrollLimits {
    fn default() -> UnrollLimits {
        UnrollLimits { trips: 32, total_nodes: 1500 }
    }
}

/// Returns the function with every countable loop unrolled, innermost first, or the function itself.
pub fn unroll(f: &Arc<Function>, limits: &UnrollLimits) -> Arc<Function> {
    let mut result = f.clone();
    // Every round removes one loop; the bound only guards against a defect.
    for _ in 0..16 {
        match unroll_one(&result, limits) {
            Some(next) => result = Arc::new(next),
            None => break,
        }
    }
    result
}

/// A function without loops, and the instructions at which it ends where it would need more
/// iterations than were laid out.
pub struct Bounded {
    pub function: Arc<Function>,
    pub ends: Vec<NodeId>,
}

/// Returns the function with every loop laid out for `trips` iterations, beyond which it ends; `None`
/// when it would have more than `total_nodes` nodes.
pub fn bounded(f: &Arc<Function>, trips: usize, total_nodes: usize) -> Option<Bounded> {
    let is_end = |n: &Node| matches!(n.instr, Instr::Unreachable);
    let mut result = f.clone();
    loop {
        let graph = Mvicfg::build(vec![result.clone()]);
        let flow = Flow::new(&graph);
        let class = flow.classes.first()?;
        if class.irreducible {
            return None;
        }
        let Some(l) = class.loops.iter().min_by_key(|l| (l.body.len(), l.head)) else {
            // Copies keep what they are copies of, but for the ends.
            let written = |i: usize| f.nodes.get(i).is_some_and(is_end);
            let ends = result.nodes.iter().enumerate().filter(|(i, n)| is_end(n) && !written(*i));
            let ends = ends.map(|(i, _)| NodeId(i as u32)).collect();
            return Some(Bounded { function: result, ends });
        };
        if result.nodes.len() + l.body.len() * trips > total_nodes {
            return None;
        }
        result = Arc::new(expand(&result, &Counted::new(l, trips, true)));
    }
}

/// Whether a loop of the function divides or shifts a variable that a branch looks at: such loops end
/// soon, whatever they start with.
pub fn shrinks(f: &Function) -> bool {
    let mut looked_at = BTreeSet::new();
    for n in &f.nodes {
        if let Instr::Branch { cond } = &n.instr {
            cond.for_each_var(&mut |v| _ = looked_at.insert(v));
        }
    }
    f.nodes.iter().any(|n| match &n.instr {
        Instr::Assign {
            dst,
            value: Expr::Op { op: Op::UDiv | Op::SDiv | Op::LShr | Op::AShr, args, .. },
        } => {
            let of_itself = matches!(args.first(), Some(Expr::Var(v)) if v == dst);
            of_itself && matches!(args.get(1), Some(Expr::Const(_))) && looked_at.contains(dst)
        }
        _ => false,
    })
}

/// Returns the function with `trips` iterations of every loop that no other contains laid out before
/// the loop, which goes on from there; `None` when it would have more than `total_nodes` nodes, or has
/// no loop.
pub fn peeled(f: &Arc<Function>, trips: usize, total_nodes: usize) -> Option<Arc<Function>> {
    peeled_each(f, &|_| trips, total_nodes)
}

/// The same with as many iterations of each of these loops as are wanted of its head.
pub fn peeled_each(
    f: &Arc<Function>,
    trips: &dyn Fn(NodeId) -> usize,
    total_nodes: usize,
) -> Option<Arc<Function>> {
    let graph = Mvicfg::build(vec![f.clone()]);
    let flow = Flow::new(&graph);
    let class = flow.classes.first()?;
    let inner =
        |l: &crate::mvicfg::Loop| class.loops.iter().any(|o| o.head != l.head && o.body.contains(&l.head));
    let outermost: Vec<&crate::mvicfg::Loop> = class.loops.iter().filter(|l| !inner(l)).collect();
    if class.irreducible || outermost.is_empty() {
        return None;
    }
    let mut result = f.clone();
    // Copies are new nodes: those of the other loops keep their numbers.
    for l in outermost {
        let trips = trips(l.head.in_only());
        if result.nodes.len() + l.body.len() * trips > total_nodes {
            return None;
        }
        if trips > 0 {
            result = Arc::new(expand(&result, &Counted::new(l, trips, false)));
        }
    }
    Some(result)
}

/// A function one of whose loops goes round several iterations at a time, behind some first ones.
pub struct Grouped {
    pub function: Arc<Function>,
    /// The ends that were asked for, in the first iterations.
    pub first: Vec<NodeId>,
    /// Those in the last one of the iterations that make one.
    pub last: Vec<NodeId>,
}

/// Returns the function with the innermost loop whose iterations lead to all of `ends`, where control does
/// not come back, laid out as `first` iterations, and then as one that does `together` of them. It does
/// what the function does. `None` when there is no such loop, or more than `total_nodes` nodes.
pub fn grouped(
    f: &Arc<Function>,
    ends: &[NodeId],
    first: usize,
    together: usize,
    total_nodes: usize,
) -> Option<Grouped> {
    let graph = Mvicfg::build(vec![f.clone()]);
    let flow = Flow::new(&graph);
    let class = flow.classes.first().filter(|c| !c.irreducible)?;
    // What leads nowhere but to an end belongs to the iteration that it leaves.
    let leading = |l: &crate::mvicfg::Loop| -> Option<BTreeSet<NodeId>> {
        let mut found = BTreeSet::new();
        let mut open: Vec<NodeId> = ends.to_vec();
        while let Some(n) = open.pop() {
            if l.body.contains(&MvId::of_only(n)) || !found.insert(n) {
                continue;
            }
            if !class.dominates(l.head, MvId::of_only(n)) {
                return None;
            }
            open.extend(class.preds[n.0 as usize].iter().map(|(p, _)| p.in_only()));
        }
        Some(found)
    };
    let mut loops: Vec<&crate::mvicfg::Loop> = class.loops.iter().collect();
    loops.sort_by_key(|l| (l.body.len(), l.head));
    let (l, leading) = loops.into_iter().find_map(|l| Some((l, leading(l)?)))?;
    let size = l.body.len() + leading.len();
    if f.nodes.len() + size * (first + together) > total_nodes {
        return None;
    }
    let mut counted = Counted::new(l, first + together - 1, false);
    counted.back_to = first;
    counted.home = first;
    counted.body.extend(leading);
    let copies = Copies::of(f, &counted);
    let of_copies = |range: Range<usize>| -> Vec<NodeId> {
        range
            .flat_map(|copy| ends.iter().map(move |&n| (copy, n)))
            .map(|(copy, n)| copies.id(copy, n))
            .collect()
    };
    let last = first + together - 1;
    let (first, last) = (of_copies(0..first), of_copies(last..last + 1));
    Some(Grouped { function: Arc::new(expand(f, &counted)), first, last })
}

/// One loop with the number of iterations that are laid out.
struct Counted {
    head: NodeId,
    body: BTreeSet<NodeId>,
    latches: BTreeSet<NodeId>,
    trips: usize,
    /// There are no more.
    ends: bool,
    /// Otherwise the copy to which the last one goes back.
    back_to: usize,
    /// The copy that keeps the numbers of the nodes.
    home: usize,
}

impl Counted {
    fn new(l: &crate::mvicfg::Loop, trips: usize, ends: bool) -> Counted {
        Counted {
            head: l.head.in_only(),
            body: l.body.iter().map(|n| n.in_only()).collect(),
            latches: l.latches.iter().map(|n| n.in_only()).collect(),
            trips,
            ends,
            back_to: trips,
            home: 0,
        }
    }
}

fn unroll_one(f: &Arc<Function>, limits: &UnrollLimits) -> Option<Function> {
    let graph = Mvicfg::build(vec![f.clone()]);
    let flow = Flow::new(&graph);
    let class = flow.classes.first()?;
    if class.irreducible {
        return None;
    }
    let mut loops: Vec<&crate::mvicfg::Loop> = class.loops.iter().collect();
    loops.sort_by_key(|l| (l.body.len(), l.head));
    let counted = loops.into_iter().find_map(|l| {
        let trips = trip_count(f, &graph, class, l, limits)?;
        let size = f.nodes.len() + l.body.len() * trips;
        (size <= limits.total_nodes).then(|| Counted::new(l, trips, true))
    })?;
    Some(expand(f, &counted))
}

/// Number of times that the body is run if no other exit is taken.
fn trip_count(
    f: &Function,
    graph: &Mvicfg,
    class: &crate::mvicfg::ClassFlow,
    l: &crate::mvicfg::Loop,
    limits: &UnrollLimits,
) -> Option<usize> {
    let inside = |n: NodeId| l.body.contains(&MvId::of_only(n));
    // The loop's own condition: the first branch from the head, over nodes without effect.
    let mut at = l.head.in_only();
    let cond = loop {
        match &f.node(at).instr {
            Instr::Branch { cond } => break cond,
            Instr::Nop if f.node(at).succs.len() == 1 => at = *f.node(at).succs.first()?,
            _ => return None,
        }
        if !inside(at) || at == l.head.in_only() {
            return None;
        }
    };
    let [yes, no] = f.node(at).succs.as_slice() else { return None };
    let stays_on = match (inside(*yes), inside(*no)) {
        (true, false) => true,
        (false, true) => false,
        _ => return None,
    };
    let counter = only_variable(cond)?;
    if f.var(counter).in_memory {
        return None;
    }
    let step = step(f, graph, class, l, counter)?;
    let first = entry_value(f, class, l, counter);
    let mut value = first.or_else(|| constants_before(f, class, l).get(&counter).copied())?;
    for trips in 0..=limits.trips {
        if evaluate(cond, counter, value)?.as_bool()? != stays_on {
            return Some(trips);
        }
        value = evaluate(step, counter, value)?;
    }
    None
}

/// Returns the variable that an expression reads, if it reads just one.
fn only_variable(e: &Expr) -> Option<VarId> {
    let mut vars = BTreeSet::new();
    e.for_each_var(&mut |v| {
        vars.insert(v);
    });
    (vars.len() == 1).then(|| vars.into_iter().next())?
}

fn evaluate(e: &Expr, var: VarId, value: Const) -> Option<Const> {
    match e {
        Expr::Const(c) => Some(*c),
        Expr::Var(v) if *v == var => Some(value),
        Expr::Op { op, args, .. } => {
            let args: Option<Vec<Const>> = args.iter().map(|a| evaluate(a, var, value)).collect();
            op.folded(&args?)
        }
        _ => None,
    }
}

/// Constant that the counter has on entry: the last definition on the straight way to the head.
fn entry_value(
    f: &Function,
    class: &crate::mvicfg::ClassFlow,
    l: &crate::mvicfg::Loop,
    counter: VarId,
) -> Option<Const> {
    let mut at = l.head;
    for _ in 0..f.nodes.len() {
        let mut from =
            class.preds[at.0 as usize].iter().filter(|(p, _)| !(at == l.head && l.body.contains(p)));
        let (pred, _) = *from.next()?;
        if from.next().is_some() {
            return None;
        }
        match &f.node(pred.in_only()).instr {
            Instr::Assign { dst, value } if *dst == counter => {
                return if let Expr::Const(c) = value { Some(*c) } else { None };
            }
            i if writes(i, counter) => return None,
            _ => at = pred,
        }
    }
    None
}

/// Variables that are constants whenever control first comes to a loop, whatever the way: what
/// assignments make of constants, along the branches that these leave open.
fn constants_before(
    f: &Function,
    class: &crate::mvicfg::ClassFlow,
    l: &crate::mvicfg::Loop,
) -> BTreeMap<VarId, Const> {
    /// Visits of nodes.
    const MOST: usize = 8000;
    let mut before: BTreeMap<MvId, BTreeMap<VarId, Const>> =
        BTreeMap::from([(Mvicfg::ENTRY, BTreeMap::new())]);
    let mut work: BTreeSet<(Option<u32>, MvId)> =
        BTreeSet::from([(class.order.first().copied().flatten(), Mvicfg::ENTRY)]);
    for _ in 0..MOST {
        let Some((_, at)) = work.pop_first() else { return before.remove(&l.head).unwrap_or_default() };
        let mut known = before.get(&at).cloned().unwrap_or_default();
        let node = f.node(at.in_only());
        let mut succs = node.succs.clone();
        match &node.instr {
            Instr::Assign { dst, value } => {
                match computed(value, &known).filter(|_| !f.var(*dst).in_memory) {
                    Some(c) => _ = known.insert(*dst, c),
                    None => _ = known.remove(dst),
                }
            }
            Instr::Branch { cond } => {
                if let Some(taken) = computed(cond, &known).and_then(Const::as_bool)
                    && let &[yes, no] = node.succs.as_slice()
                {
                    succs = vec![if taken { yes } else { no }];
                }
            }
            other => known.retain(|v, _| !writes(other, *v)),
        }
        for s in succs.into_iter().map(MvId::of_only) {
            if s == l.head && l.body.contains(&at) {
                continue;
            }
            let joined = match before.get(&s) {
                Some(there) => {
                    there.iter().filter(|(v, c)| known.get(v) == Some(c)).map(|(v, c)| (*v, *c)).collect()
                }
                None => known.clone(),
            };
            if before.get(&s) != Some(&joined) {
                before.insert(s, joined);
                work.insert((class.order.get(s.0 as usize).copied().flatten(), s));
            }
        }
    }
    BTreeMap::new()
}

/// What an expression is where some variables are constants.
fn computed(e: &Expr, known: &BTreeMap<VarId, Const>) -> Option<Const> {
    match e {
        Expr::Const(c) => Some(*c),
        Expr::Var(v) => known.get(v).copied(),
        Expr::Op { op, args, .. } => {
            let args: Option<Vec<Const>> = args.iter().map(|a| computed(a, known)).collect();
            op.folded(&args?)
        }
        Expr::Addr(_) => None,
    }
}

/// The one expression that changes the counter, once in every iteration.
fn step<'a>(
    f: &'a Function,
    graph: &Mvicfg,
    class: &crate::mvicfg::ClassFlow,
    l: &crate::mvicfg::Loop,
    counter: VarId,
) -> Option<&'a Expr> {
    let _ = graph;
    let mut writers = l.body.iter().filter(|&&n| writes(&f.node(n.in_only()).instr, counter));
    let writer = *writers.next()?;
    if writers.next().is_some() || !l.latches.iter().all(|&x| class.dominates(writer, x)) {
        return None;
    }
    // In an inner loop it would run any number of times.
    if class.innermost[writer.0 as usize] != class.innermost[l.head.0 as usize] {
        return None;
    }
    match &f.node(writer.in_only()).instr {
        Instr::Assign { value, .. } if only_variable(value) == Some(counter) => Some(value),
        _ => None,
    }
}

fn writes(i: &Instr, var: VarId) -> bool {
    match i {
        Instr::Declare(v) => *v == var,
        Instr::Assign { dst, .. } | Instr::Load { dst, .. } => *dst == var,
        Instr::Call { dst, .. } => *dst == Some(var),
        Instr::Unknown { writes, .. } => writes.contains(&var),
        _ => false,
    }
}

/// The numbers of the nodes of copies.
struct Copies {
    /// Nodes of the function.
    base: usize,
    position: BTreeMap<NodeId, usize>,
    home: usize,
}

impl Copies {
    fn of(f: &Function, l: &Counted) -> Copies {
        let position = l.body.iter().enumerate().map(|(i, &n)| (n, i)).collect();
        Copies { base: f.nodes.len(), position, home: l.home }
    }

    fn id(&self, copy: usize, n: NodeId) -> NodeId {
        match self.position.get(&n) {
            Some(p) if copy != self.home => {
                let earlier = if copy < self.home { copy } else { copy - 1 };
                NodeId((self.base + earlier * self.position.len() + p) as u32)
            }
            _ => n,
        }
    }
}

/// Lays out `trips` copies of the body and a last copy of the way to the condition.
fn expand(f: &Function, l: &Counted) -> Function {
    let mut out = f.clone();
    // Copy 0 is the loop where it stands; copies 1..=trips follow it.
    let members: Vec<NodeId> = l.body.iter().copied().collect();
    let stmts: BTreeSet<StmtId> = members.iter().map(|&n| f.node(n).stmt).collect();
    let last = stmts.iter().next_back().copied().unwrap_or(StmtId(0));
    let (mut order, mut moved) = (Vec::<Stmt>::new(), BTreeMap::<(usize, StmtId), StmtId>::new());
    for (s, stmt) in f.stmts.iter().enumerate() {
        let id = StmtId(s as u32);
        moved.insert((0, id), StmtId(order.len() as u32));
        order.push(stmt.clone());
        if id == last {
            for copy in 1..=l.trips {
                for &t in &stmts {
                    moved.insert((copy, t), StmtId(order.len() as u32));
                    order.push(f.stmts[t.0 as usize].clone());
                }
            }
        }
    }
    out.stmts = order;
    let stmt = |copy: usize, s: StmtId| moved.get(&(copy, s)).copied().unwrap_or(StmtId(0));
    let copies = Copies::of(f, l);
    for n in &mut out.nodes {
        n.stmt = stmt(0, n.stmt);
        // What comes to the loop comes to its first copy.
        n.succs.iter_mut().filter(|s| **s == l.head).for_each(|s| *s = copies.id(0, l.head));
    }
    let after = |copy: usize| if copy == l.trips { l.back_to } else { copy + 1 };
    for copy in 0..=l.trips {
        for &n in &members {
            let node = f.node(n);
            let goes_back = l.latches.contains(&n);
            let succs: Vec<NodeId> = node
                .succs
                .iter()
                .map(|&s| copies.id(if goes_back && s == l.head { after(copy) } else { copy }, s))
                .collect();
            // The last copy is never run beyond its condition: what would go back ends there.
            let ends = l.ends && copy == l.trips && goes_back && node.succs.contains(&l.head);
            let (instr, succs) =
                if ends { (Instr::Unreachable, Vec::new()) } else { (node.instr.clone(), succs) };
            let new = Node { instr, succs, stmt: stmt(copy, node.stmt), span: node.span.clone() };
            match copy == l.home {
                true => out.nodes[n.0 as usize] = new,
                false => out.nodes.push(new),
            }
        }
    }
    out
}
