//! Calls through pointers that can only lead to a few functions, as calls of these
//! (`docs/design/symbolic-evaluation.md`).
//!
//! A pointer's values are looked up where they are written: functions by name, variables by all their
//! assignments, constant tables by their initialisers, and objects of the unit that nobody else can
//! change (`static`, their address nowhere but in accesses) by their initialisers and all that is
//! stored there. The call becomes a choice between direct calls. What else a pointer may hold is null,
//! or no value at all, and to call that is undefined.

use super::frames;
use super::place::base_object;
use crate::ir::{
    Callee, Expr, Function, InitPiece, Instr, Linkage, Node, NodeId, Object, Op, Unit, VarId, VarKind,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Functions that one call may lead to.
const MAX_TARGETS: usize = 4;
/// Assignments that are followed.
const MAX_DEPTH: u32 = 6;

type Targets = BTreeSet<Arc<str>>;

/// Returns the function with its calls through pointers resolved, or `None` when none is.
pub fn resolve(f: &Function, unit: &Unit) -> Option<Function> {
    let looked_up = |n: &Node| match &n.instr {
        Instr::Call { callee: Callee::Indirect(e), .. } => {
            let found = Lookup { f, unit }.expr(e, 0)?;
            let known =
                |t: &Arc<str>| unit.function(t).is_some() || unit.prototypes.iter().any(|p| p.name == *t);
            let usable = (1..=MAX_TARGETS).contains(&found.len()) && found.iter().all(known);
            usable.then(|| (e.clone(), found))
        }
        _ => None,
    };
    let found: Vec<Option<(Expr, Targets)>> = f.nodes.iter().map(looked_up).collect();
    if found.iter().all(Option::is_none) {
        return None;
    }
    let mut out = f.clone();
    for (i, resolved) in found.into_iter().enumerate() {
        if let Some((pointer, targets)) = resolved {
            choose(&mut out, i, &pointer, targets.into_iter().collect());
        }
    }
    Some(out)
}

/// Whether a function calls through a pointer of which not all values are known.
pub fn calls_unknown(f: &Function, unit: &Unit) -> bool {
    let is_unknown = |n: &Node| match &n.instr {
        Instr::Call { callee: Callee::Indirect(e), .. } => Lookup { f, unit }.expr(e, 0).is_none(),
        _ => false,
    };
    f.nodes.iter().any(is_unknown)
}

/// Replaces the call at a node by a choice between direct calls.
fn choose(out: &mut Function, at: usize, pointer: &Expr, targets: Vec<Arc<str>>) {
    let call = out.nodes[at].clone();
    let direct = |target: &Arc<str>| {
        let mut node = call.clone();
        if let Instr::Call { callee, .. } = &mut node.instr {
            *callee = Callee::Direct(target.clone());
        }
        node
    };
    let Some((last, others)) = targets.split_last() else { return };
    let mut place = at;
    for target in others {
        let then = out.nodes.len() as u32;
        let is = Expr::Op {
            op: Op::Eq,
            args: vec![pointer.clone(), Expr::Addr(Object::Function(target.clone()))],
            signed_arith: false,
        };
        out.nodes.push(direct(target));
        // The next choice; its place is filled below.
        out.nodes.push(call.clone());
        let succs = vec![NodeId(then), NodeId(then + 1)];
        out.nodes[place] = Node { instr: Instr::Branch { cond: is }, succs, ..call.clone() };
        place = then as usize + 1;
    }
    out.nodes[place] = direct(last);
}

struct Lookup<'a> {
    f: &'a Function,
    unit: &'a Unit,
}

impl Lookup<'_> {
    /// All functions that a value may be the address of; `None`: it may be others.
    fn expr(&self, e: &Expr, depth: u32) -> Option<Targets> {
        match e {
            _ if depth > MAX_DEPTH => None,
            Expr::Addr(Object::Function(name)) => Some(Targets::from([name.clone()])),
            Expr::Const(c) if c.to_bits() == 0 => Some(Targets::new()),
            Expr::Var(v) => self.variable(*v, depth),
            Expr::Op { op: Op::Ite, args, .. } => {
                let [_, a, b] = args.as_slice() else { return None };
                let mut found = self.expr(a, depth + 1)?;
                found.extend(self.expr(b, depth + 1)?);
                Some(found)
            }
            _ => None,
        }
    }

    fn variable(&self, v: VarId, depth: u32) -> Option<Targets> {
        let var = self.f.var(v);
        if var.in_memory || var.kind == VarKind::Param {
            return None;
        }
        let mut found = Targets::new();
        for node in &self.f.nodes {
            match &node.instr {
                Instr::Assign { dst, value } if *dst == v => found.extend(self.expr(value, depth + 1)?),
                Instr::Load { dst, addr, access } if *dst == v => {
                    if access.volatile {
                        return None;
                    }
                    found.extend(self.object(addr, depth + 1)?);
                }
                Instr::Call { dst: Some(dst), .. } if *dst == v => return None,
                Instr::Unknown { writes, anything, .. } if *anything || writes.contains(&v) => return None,
                _ => {}
            }
        }
        Some(found)
    }

    /// All functions that an object may hold the address of.
    fn object(&self, addr: &Expr, depth: u32) -> Option<Targets> {
        let (symbol, offset) = place_of(self.f, addr)?;
        let g =
            self.unit.global(&symbol).filter(|g| !matches!(g.linkage, Linkage::Import | Linkage::Weak))?;
        let mut found = Targets::new();
        for piece in &g.init {
            match piece {
                InitPiece::Address { offset: at, symbol, plus: 0 } => {
                    let here = offset.is_none_or(|o| o == i128::from(*at));
                    // A table may hold names beside functions.
                    let is_function = self.unit.global(symbol).is_none();
                    found.extend((here && is_function).then(|| symbol.clone()));
                }
                InitPiece::Address { .. } | InitPiece::Unknown { .. } => return None,
                InitPiece::Bytes { .. } => {}
            }
        }
        if !g.is_known_constant() {
            let settled =
                g.linkage == Linkage::Internal && is_all_seen(self.unit) && !self.is_exposed(&symbol);
            if !settled {
                return None;
            }
            for f in &self.unit.functions {
                found.extend(Lookup { f, unit: self.unit }.stored_in(&symbol, depth)?);
            }
        }
        Some(found)
    }

    fn is_exposed(&self, symbol: &Arc<str>) -> bool {
        frames::exposed(self.unit).iter().any(|(s, _)| s == symbol)
    }

    /// What this function stores in an object, by name.
    fn stored_in(&self, symbol: &Arc<str>, depth: u32) -> Option<Targets> {
        let names = |e: &Expr| {
            let mut found = false;
            e.for_each(&mut |x| found |= matches!(x, Expr::Addr(Object::Global(s)) if s == symbol));
            found
        };
        let mut found = Targets::new();
        for node in &self.f.nodes {
            match &node.instr {
                Instr::Store { addr, value, .. } if names(addr) => {
                    place_of(self.f, addr)?;
                    found.extend(self.expr(value, depth + 1)?);
                }
                Instr::Copy { dst: e, .. } | Instr::Zero { dst: e, .. } if names(e) => return None,
                Instr::Call { args, result_to, .. } if args.iter().chain(result_to).any(names) => {
                    return None;
                }
                _ => {}
            }
        }
        Some(found)
    }
}

/// Whether all that a unit's functions do to its objects was read.
fn is_all_seen(unit: &Unit) -> bool {
    unit.is_whole && unit.functions.iter().all(|f| f.unknowns.is_empty())
}

/// The object that an address is in, and the byte where that is known.
fn place_of(f: &Function, addr: &Expr) -> Option<(Arc<str>, Option<i128>)> {
    if base_object(addr).is_some() {
        return None;
    }
    match addr {
        Expr::Addr(Object::Global(s)) => Some((s.clone(), Some(0))),
        Expr::Op { op: Op::Add, args, .. } => {
            let (mut base, mut sum) = (None, Some(0));
            for a in args {
                match a {
                    Expr::Const(c) => sum = sum.zip(c.signed()).map(|(x, y)| x + y),
                    _ => match place_of(f, a) {
                        Some((s, at)) if base.is_none() => {
                            base = Some(s);
                            sum = sum.zip(at).map(|(x, y)| x + y);
                        }
                        Some(_) => return None,
                        None if has_pointer(f, a) => return None,
                        None => sum = None,
                    },
                }
            }
            base.map(|s| (s, sum))
        }
        _ => None,
    }
}

/// Whether a pointer takes part in an expression: it may lead anywhere.
fn has_pointer(f: &Function, e: &Expr) -> bool {
    let mut found = false;
    e.for_each(&mut |x| {
        found |= match x {
            Expr::Var(v) => f.var(*v).ty.is_pointer(),
            Expr::Addr(_) => true,
            _ => false,
        }
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{assign, call, global, int, load, named, pointer, store, straight, unit, v};
    use crate::ir::{CType, Const};

    fn code(name: &str) -> Expr {
        Expr::Addr(Object::Function(name.into()))
    }

    fn table(symbol: &str) -> Expr {
        Expr::Addr(Object::Global(symbol.into()))
    }

    fn address(offset: u64, symbol: &str) -> InitPiece {
        InitPiece::Address { offset, symbol: symbol.into(), plus: 0 }
    }

    fn indirect() -> Instr {
        call(Some(1), Callee::Indirect(v(2)), vec![v(0)])
    }

    fn body(instrs: &[Instr]) -> Function {
        let code = pointer(CType::Function("int (int)".into()));
        straight("f", &[("n", int()), (".r", int()), (".q", code)], instrs)
    }

    /// A unit of `g`, `h` and a function, with a table `t` of these functions.
    fn unit_with(f: Function, pieces: Vec<InitPiece>, is_const: bool) -> Unit {
        let functions = ["g", "h", "k"].map(|name| straight(name, &[("n", int())], &[]));
        let mut t = global("t", int(), 16, pieces);
        t.is_const = is_const;
        unit(Vec::new(), vec![t], functions.into_iter().chain([f]).collect())
    }

    /// The functions that the call through `q` may lead to, in order, or nothing.
    #[track_caller]
    fn check(instrs: &[Instr], unit_of: &dyn Fn(Function) -> Unit, expected: Option<&[&str]>) {
        let f = body(instrs);
        let unit = unit_of(f.clone());
        let called = resolve(&f, &unit).map(|f| {
            let direct = |n: &Node| match &n.instr {
                Instr::Call { callee: Callee::Direct(name), .. } => Some(name.to_string()),
                _ => None,
            };
            f.nodes.iter().filter_map(direct).collect::<Vec<_>>()
        });
        let mut sorted = called.clone().unwrap_or_default();
        sorted.sort();
        assert_eq!(called.map(|_| sorted), expected.map(|e| e.iter().map(|s| (*s).to_owned()).collect()));
    }

    fn plain(f: Function) -> Unit {
        unit_with(f, Vec::new(), true)
    }

    #[test]
    fn a_pointer_leads_to_what_is_assigned_to_it() {
        check(&[assign(2, code("g")), indirect()], &plain, Some(&["g"]));
        check(&[assign(2, code("g")), assign(2, code("h")), indirect()], &plain, Some(&["g", "h"]));
        let null = Expr::Const(Const::bv(64, 0));
        let either = Expr::op(Op::Ite, vec![Expr::Const(Const::TRUE), code("g"), null]);
        check(&[assign(2, either), indirect()], &plain, Some(&["g"]));
    }

    #[test]
    fn what_may_be_something_else_stays_a_pointer() {
        check(&[assign(2, code("g")), load(2, v(0), &int()), indirect()], &plain, None);
        check(&[call(Some(2), named("find"), vec![]), indirect()], &plain, None);
        check(&[assign(2, code("nowhere")), indirect()], &plain, None);
        check(&[indirect()], &plain, None);
        let own = |k: u32| call(Some(1), Callee::Indirect(v(k)), vec![]);
        check(&[own(0)], &plain, None);
    }

    #[test]
    fn a_choice_is_made_by_comparing_the_pointer() {
        let f = body(&[assign(2, code("g")), assign(2, code("h")), indirect()]);
        let resolved = resolve(&f, &plain(f.clone())).expect("two functions");
        let Node { instr: Instr::Branch { cond }, succs, .. } = &resolved.nodes[4] else {
            panic!("no branch")
        };
        assert_eq!(*cond, Expr::op(Op::Eq, vec![v(2), code("g")]));
        let [yes, no] = succs.as_slice() else { panic!("{succs:?}") };
        let callee = |n: &NodeId| match &resolved.node(*n).instr {
            Instr::Call { callee: Callee::Direct(name), dst, .. } => (name.to_string(), *dst),
            _ => panic!("no call"),
        };
        assert_eq!(callee(yes), ("g".to_owned(), Some(VarId(1))));
        assert_eq!(callee(no), ("h".to_owned(), Some(VarId(1))));
        assert!([yes, no].iter().all(|n| resolved.node(**n).succs == f.nodes[4].succs));
    }

    #[test]
    fn a_constant_table_holds_what_its_initialiser_says() {
        let code = pointer(CType::Void);
        let of = |f| unit_with(f, vec![address(0, "g"), address(8, "h")], true);
        let second = Expr::op(Op::Add, vec![table("t"), Expr::bv(64, 8)]);
        check(&[load(2, second, &code), indirect()], &of, Some(&["h"]));
        let some = Expr::op(Op::Add, vec![table("t"), Expr::op(Op::Sext(64), vec![v(0)])]);
        check(&[load(2, some, &code), indirect()], &of, Some(&["g", "h"]));
        let inside =
            |f| unit_with(f, vec![InitPiece::Address { offset: 0, symbol: "g".into(), plus: 4 }], true);
        check(&[load(2, table("t"), &code), indirect()], &inside, None);
    }

    #[test]
    fn an_object_of_the_unit_holds_what_is_stored_in_it_too() {
        let code_type = pointer(CType::Void);
        let of = |f| unit_with(f, vec![address(0, "g")], false);
        let loads = load(2, table("t"), &code_type);
        check(&[store(table("t"), code("k"), &code_type), loads.clone(), indirect()], &of, Some(&["g", "k"]));
        let exposed = store(v(0), table("t"), &code_type);
        check(&[exposed, loads.clone(), indirect()], &of, None);
        let gaps = |f| Unit { is_whole: false, ..of(f) };
        check(&[loads, indirect()], &gaps, None);
    }

    #[test]
    fn more_functions_than_a_few_are_not_told_apart() {
        let names: Vec<String> = (0..=MAX_TARGETS).map(|k| format!("f{k}")).collect();
        let mut instrs: Vec<Instr> = names.iter().map(|n| assign(2, code(n))).collect();
        instrs.push(indirect());
        let f = body(&instrs);
        let functions = names.iter().map(|n| straight(n, &[], &[])).collect();
        let unit = unit(Vec::new(), Vec::new(), functions);
        assert!(resolve(&f, &unit).is_none() && !calls_unknown(&f, &unit));
    }

    #[test]
    fn a_call_is_unknown_where_a_value_is() {
        let unknown = |instrs: &[Instr]| {
            let f = body(instrs);
            calls_unknown(&f, &plain(f.clone()))
        };
        assert!(!unknown(&[assign(2, code("g")), indirect()]));
        assert!(unknown(&[load(2, v(0), &int()), indirect()]));
        assert!(!unknown(&[call(None, named("g"), vec![])]));
    }
}
