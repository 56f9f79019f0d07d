//! Conditions that no caller here meets.
//!
//! All calls of a static function whose name stands nowhere but in calls are in its unit. What a parameter holds that
//! it never writes is then what they pass: where every call passes a number or an object that a condition rules out,
//! no caller comes to what is told under it. Only what the text of a call says is used: cost, one walk over the unit.

use super::machine::{Literal, variable_leaf};
use super::side::Side;
use crate::ir::{Callee, Const, Expr, Instr, Linkage, Object, Rebuilt, Sort, TermId, TermPool, Unit, VarId};
use crate::mvicfg::Mvicfg;
use std::collections::BTreeMap;

/// What a call passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Given {
    Number(Const),
    Object,
}

/// What the calls of both versions pass, by call and parameter.
#[derive(Default)]
pub(super) struct Calls {
    of: [Vec<BTreeMap<TermId, Given>>; 2],
}

impl Calls {
    /// Reads the calls of two versions of a function.
    pub fn of(graph: &Mvicfg, sides: [&Side; 2], pool: &mut TermPool) -> Calls {
        Calls { of: sides.map(|side| calls(graph, side, pool)) }
    }

    /// Whether in neither version a call leads to where a condition holds.
    pub fn rule_out(&self, pool: &mut TermPool, literals: &[Literal]) -> bool {
        let none = |calls: &Vec<BTreeMap<TermId, Given>>, pool: &mut TermPool| {
            let is_met = |call, pool: &mut TermPool| !literals.iter().any(|l| rules_out(pool, call, l.term));
            !calls.is_empty() && !calls.iter().any(|call| is_met(call, pool))
        };
        self.of.iter().all(|calls| none(calls, pool))
    }
}

/// Whether a condition does not hold for what a call passes.
fn rules_out(pool: &mut TermPool, call: &BTreeMap<TermId, Given>, condition: TermId) -> bool {
    let null = call.iter().filter(|(_, given)| **given == Given::Object).any(|(parameter, _)| {
        let Sort::Bv(width) = pool.sort(*parameter) else { return false };
        let zero = pool.bv(width, 0);
        pool.eq(*parameter, zero) == condition
    });
    let passed = pool.rebuilt(condition, &|pool, t| match call.get(&t) {
        Some(Given::Number(c)) => Rebuilt::By(pool.constant(*c)),
        _ => Rebuilt::Kept,
    });
    null || pool.as_const(passed) == Some(Const::Bool(false))
}

/// What each call of a version passes for parameters that the function never writes; none: not all calls are known.
fn calls(graph: &Mvicfg, side: &Side, pool: &mut TermPool) -> Vec<BTreeMap<TermId, Given>> {
    let (body, unit) = (side.version.body, side.version.unit);
    if !unit.is_only_called(body) {
        return Vec::new();
    }
    let is_written = |v: &VarId| body.nodes.iter().any(|n| n.instr.written() == Some(*v));
    let kept = |v: &VarId| (!body.var(*v).in_memory && !is_written(v)).then_some(*v);
    let merged = |v: VarId| graph.var_map[side.class].get(v.0 as usize).copied();
    let parameters: Vec<Option<TermId>> =
        body.params.iter().map(|v| Some(pool.leaf(variable_leaf(graph, merged(kept(v)?)?)))).collect();
    // What it passes on to itself others gave.
    let callers = unit.functions.iter().filter(|g| g.name != body.name);
    let calls = callers.flat_map(|g| &g.nodes).filter_map(|n| match &n.instr {
        Instr::Call { callee: Callee::Direct(name), args, .. } if *name == body.name => Some(args),
        _ => None,
    });
    let is_recursive = body.nodes.iter().any(|n| n.instr.named_callees().contains(&&body.name));
    match is_recursive {
        true => Vec::new(),
        false => calls.map(|args| passed(pool, unit, &parameters, args)).collect(),
    }
}

fn passed(
    pool: &TermPool,
    unit: &Unit,
    parameters: &[Option<TermId>],
    args: &[Expr],
) -> BTreeMap<TermId, Given> {
    let of = |(parameter, arg): (&Option<TermId>, &Expr)| {
        let parameter = (*parameter)?;
        let given = match arg {
            Expr::Const(c) if c.sort() == pool.sort(parameter) => Given::Number(*c),
            Expr::Addr(object) if is_there(unit, object) => Given::Object,
            _ => return None,
        };
        Some((parameter, given))
    };
    parameters.iter().zip(args).filter_map(of).collect()
}

/// Whether the address of an object is not null.
fn is_there(unit: &Unit, object: &Object) -> bool {
    match object {
        Object::Global(symbol) => {
            let known = unit.global(symbol);
            known.is_some_and(|g| !matches!(g.linkage, Linkage::Weak | Linkage::Import))
        }
        Object::Function(_) => false,
        _ => true,
    }
}
