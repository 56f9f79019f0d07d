//! Functions that compute a value of their parameters by calling themselves, with calls that are not made in step:
//! `f(n - 1)` in one version, `f(n - 2)` in the other.
//!
//! Calls of both are one unknown function of the arguments. Of a call that is made this much more is known: it returns
//! what its own version's body gives for these arguments. By induction over the depth of calls the two return the same,
//! where both return. That both do is shown apart: each version counts a parameter one way with each call, or calls
//! itself with what the other does, but for calls in which no further one is made.

use super::alike::Alike;
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::observable;
use crate::ir::{App, Callee, Const, Function, Instr, Op, Rebuilt, Sort, Term, TermId, Uf};
use crate::mvicfg::{ClassId, ClassSet, MvId, Mvicfg};
use crate::semantics::{Part, Place, Val};
use crate::smt;
use rustc_hash::FxHashMap;

/// Calls that are looked into, in turn.
const UNFOLDED: [usize; 3] = [0, 1, 2];

/// A call of the function itself, where it is made.
#[derive(Clone)]
struct Site {
    reach: TermId,
    arguments: Vec<TermId>,
    value: TermId,
}

/// What one version computes.
struct RecursiveBody {
    parameters: Vec<TermId>,
    result: TermId,
    sites: Vec<Site>,
}

fn only(part: Part<Val>) -> Option<TermId> {
    part.into_iter().next().map(|(_, v)| v.term)
}

/// Whether the classes 0 and 1 are two such versions of one function.
pub(super) fn are_alike(engine: &mut FunctionAnalysis) -> bool {
    let bodies = engine.task.graph.bodies.clone();
    if !bodies.iter().all(|b| is_of_values(b)) {
        return false;
    }
    let (Some(old), Some(new)) = (side(engine, ClassId::OLD), side(engine, ClassId::NEW)) else {
        return false;
    };
    // Renamed parameters are called as in the newer version.
    old.parameters == new.parameters && end_alike(engine, &old, &new) && return_alike(engine, &old, &new)
}

/// Whether a body only computes, and calls nothing but itself.
fn is_of_values(f: &Function) -> bool {
    let mut calls = false;
    let computes = f.nodes.iter().all(|n| match &n.instr {
        Instr::Nop | Instr::Branch { .. } | Instr::Assign { .. } | Instr::Declare(_) => true,
        Instr::Return { .. } => true,
        Instr::Call { callee: Callee::Direct(name), result_to: None, dst: Some(_), .. } => {
            calls = true;
            *name == f.name
        }
        _ => false,
    });
    computes && calls && f.vars.iter().all(|v| !v.in_memory) && !f.variadic
}

fn side(engine: &mut FunctionAnalysis, class: ClassId) -> Option<RecursiveBody> {
    let flow = &engine.e.flow.classes[class];
    if !flow.loops.is_empty() || !observable::abnormal_ends(&engine.e, class).is_empty() {
        return None;
    }
    let (rpo, graph) = (flow.rpo.clone(), engine.task.graph);
    let single = ClassSet::single(class);
    let body = graph.bodies[class].clone();
    let mut parameters = Vec::new();
    for p in &body.params {
        let place = engine.e.places.of_var(graph.var_map[class][p.0 as usize]);
        parameters.push(only(engine.e.before(place, Mvicfg::ENTRY, &single))?);
    }
    let result = only(engine.e.before(Place::Result, Mvicfg::EXIT, &single))?;
    let mut known = FxHashMap::default();
    let result = as_values(engine, result, &mut known);
    let mut sites = Vec::new();
    for node in rpo {
        let Instr::Call { dst: Some(dst), args, .. } = &graph.node(node).instr else { continue };
        if args.len() != parameters.len() {
            return None;
        }
        sites.push(site(engine, (node, class), (*dst, args), &mut known)?);
    }
    let is_closed = |t: TermId| {
        let parts = engine.e.pool.reachable(&[t]);
        !engine.e.rests_on_havoc(t)
            && parts.iter().all(|p| matches!(engine.e.pool.sort(*p), Sort::Bool | Sort::Bv(_)))
    };
    let closed = sites.iter().flat_map(|s| s.arguments.iter().chain([&s.reach])).chain([&result]);
    let is_closed = closed.copied().all(is_closed);
    is_closed.then_some(RecursiveBody { parameters, result, sites })
}

fn site(
    engine: &mut FunctionAnalysis,
    (node, class): (MvId, ClassId),
    (dst, args): (crate::ir::VarId, &[crate::ir::Expr]),
    known: &mut FxHashMap<TermId, TermId>,
) -> Option<Site> {
    let single = ClassSet::single(class);
    let reach = only(engine.e.reach_from_entry(node, &single))?;
    let reach = as_values(engine, reach, known);
    let mut arguments = Vec::new();
    for a in args {
        let t = only(engine.e.expr(a, node, &single))?;
        arguments.push(as_values(engine, t, known));
    }
    let value = only(engine.e.after(Place::Var(dst), node, &single))?;
    let value = as_values(engine, value, known);
    let is_call =
        matches!(engine.e.pool.get(value), Term::App(App::Uf(Uf::Call { .. }), given) if *given == arguments);
    is_call.then_some(Site { reach, arguments, value })
}

/// The term with calls as functions of their arguments alone; what they leave in memory is what was there before.
fn as_values(engine: &mut FunctionAnalysis, root: TermId, known: &mut FxHashMap<TermId, TermId>) -> TermId {
    let count = engine.task.graph.bodies[1].params.len();
    engine.e.pool.rebuilt_among(root, known, |pool, t, known| {
        let Term::App(App::Uf(Uf::Call { callee, part }), args) = pool.get(t).clone() else {
            return Rebuilt::Kept;
        };
        let becomes = |t: &TermId| known.get(t).copied().unwrap_or(*t);
        // What a call reads stands behind its arguments.
        let before = |k: usize| args.get(count + k).map_or(Rebuilt::Kept, |t| Rebuilt::By(becomes(t)));
        match part {
            Sort::Mem => before(0),
            Sort::World => before(1),
            Sort::Stdin => before(2),
            Sort::Out => before(3),
            _ if args.len() > count => {
                let arguments: Vec<TermId> = args.iter().take(count).map(becomes).collect();
                let callee = format!("{callee}:value").into();
                Rebuilt::By(pool.app(App::Uf(Uf::Call { callee, part }), &arguments))
            }
            _ => Rebuilt::Kept,
        }
    })
}

/// A term of a version for other arguments.
fn at(engine: &mut FunctionAnalysis, t: TermId, parameters: &[TermId], arguments: &[TermId]) -> TermId {
    engine.e.pool.rebuilt(t, &|_, t| match parameters.iter().position(|p| *p == t) {
        Some(k) => arguments.get(k).map_or(Rebuilt::Kept, |a| Rebuilt::By(*a)),
        None => Rebuilt::Kept,
    })
}

/// Whether both return the same where they return.
fn return_alike(engine: &mut FunctionAnalysis, old: &RecursiveBody, new: &RecursiveBody) -> bool {
    UNFOLDED.into_iter().any(|calls| return_alike_by(engine, (old, new), calls))
}

/// The same where so many calls of each are looked into.
fn return_alike_by(
    engine: &mut FunctionAnalysis,
    (old, new): (&RecursiveBody, &RecursiveBody),
    calls: usize,
) -> bool {
    let mut given = engine.e.pool.bool(true);
    for side in [old, new] {
        let mut open: std::collections::VecDeque<Site> = side.sites.iter().cloned().collect();
        for _ in 0..calls {
            let Some(call) = open.pop_front() else { break };
            let result = at(engine, side.result, &side.parameters, &call.arguments);
            let returns = engine.e.pool.eq(call.value, result);
            let not_made = engine.e.pool.not(call.reach);
            let fact = engine.e.pool.or(not_made, returns);
            given = engine.e.pool.and(given, fact);
            for inner in &side.sites {
                let mut of = |t: TermId| at(engine, t, &side.parameters, &call.arguments);
                let (reach, value) = (of(inner.reach), of(inner.value));
                let arguments = inner.arguments.iter().map(|a| of(*a)).collect();
                let reach = engine.e.pool.and(call.reach, reach);
                open.push_back(Site { reach, arguments, value });
            }
        }
    }
    // In one of them what the calls return may stand in their stead: then the sums are equal as they stand.
    let [of_old, of_new] = [old, new].map(|side| unfolded(engine, side));
    [(old.result, new.result), (of_old, new.result), (old.result, of_new)].into_iter().any(|pair| {
        let FunctionAnalysis { e, deciders, .. } = &mut *engine;
        Alike::default().are(&mut e.pool, &mut deciders.points, pair, given)
    })
}

/// The result of a version with what its calls return in their stead.
fn unfolded(engine: &mut FunctionAnalysis, side: &RecursiveBody) -> TermId {
    let mut returned = FxHashMap::default();
    for call in &side.sites {
        returned.insert(call.value, at(engine, side.result, &side.parameters, &call.arguments));
    }
    engine.e.pool.rebuilt(side.result, &|_, t| returned.get(&t).map_or(Rebuilt::Kept, |r| Rebuilt::By(*r)))
}

fn holds(engine: &mut FunctionAnalysis, condition: TermId, goal: TermId) -> bool {
    matches!(engine.deciders.points.holds(&mut engine.e.pool, condition, goal), smt::Truth::Holds)
}

/// Whether both return on the same arguments.
fn end_alike(engine: &mut FunctionAnalysis, old: &RecursiveBody, new: &RecursiveBody) -> bool {
    counts(engine, old) && counts(engine, new) || calls_less(engine, old, new) && calls_less(engine, new, old)
}

/// Whether a parameter goes one way with each call, of which there are only so many numbers.
fn counts(engine: &mut FunctionAnalysis, side: &RecursiveBody) -> bool {
    (0..side.parameters.len()).any(|k| {
        [false, true].into_iter().any(|up| {
            side.sites.iter().all(|s| {
                let (Some(&now), Some(&then)) = (side.parameters.get(k), s.arguments.get(k)) else {
                    return false;
                };
                if !matches!(engine.e.pool.sort(now), Sort::Bv(_)) {
                    return false;
                }
                let (low, high) = if up { (now, then) } else { (then, now) };
                let goal = engine.e.pool.op(Op::Slt, &[low, high]);
                holds(engine, s.reach, goal)
            })
        })
    })
}

/// Whether every call that one version makes is one that the other makes, too, or makes no further one.
fn calls_less(engine: &mut FunctionAnalysis, one: &RecursiveBody, other: &RecursiveBody) -> bool {
    one.sites.iter().all(|call| {
        let mut met = engine.e.pool.bool(false);
        for theirs in &other.sites {
            let mut same = theirs.reach;
            for (a, b) in call.arguments.iter().zip(&theirs.arguments) {
                let equal = engine.e.pool.eq(*a, *b);
                same = engine.e.pool.and(same, equal);
            }
            met = engine.e.pool.or(met, same);
        }
        let mut further = engine.e.pool.bool(false);
        for inner in &one.sites {
            let reach = at(engine, inner.reach, &one.parameters, &call.arguments);
            further = engine.e.pool.or(further, reach);
        }
        let none = engine.e.pool.not(further);
        let goal = engine.e.pool.or(met, none);
        engine.e.pool.as_const(goal) == Some(Const::TRUE) || holds(engine, call.reach, goal)
    })
}
