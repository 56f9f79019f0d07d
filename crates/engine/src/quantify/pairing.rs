//! Which nodes of an older version of a function do in a newer one what they did.
//!
//! Both flow graphs are walked in step from their entries, and from those of what they call: two nodes
//! are *twins* if they have the same instruction on corresponding variables, and what the instruction
//! names (functions that are called, globals) is the same in both units. Where the walk comes to a node by
//! two ways that do not agree, it has no twin, and where nothing but a target is asked, it has none that stands to the
//! target in another way ([`Aim`]). A path that visits only nodes with twins does the same, step
//! by step, in the newer version.

use super::aim::Aim;
use super::input::{Candidate, followed};
use super::paths::fails;
use crate::ir::{Callee, Expr, Function, Instr, NodeId, Object, Unit, VarId, VarKind};
use crate::mvicfg::key::{self, Names};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::fmt::Write;
use std::sync::Arc;

/// A version of a function.
#[derive(Clone, Copy)]
pub struct Code<'a> {
    pub function: &'a Function,
    pub unit: &'a Unit,
    pub candidates: &'a [Candidate],
    /// Nothing but this is asked.
    pub aim: Option<&'a Aim>,
}

/// Twins by function and node.
#[derive(Debug, Default)]
pub struct Pairing {
    twins: FxHashMap<Arc<str>, FxHashMap<NodeId, NodeId>>,
}

impl Pairing {
    /// Pairs two versions of a function, and what is followed from them.
    pub fn of(old: Code, new: Code) -> Pairing {
        let mut pairing = Pairing::default();
        if old.unit.data_model != new.unit.data_model || old.function.name != new.function.name {
            return pairing;
        }
        let of_new = followed(new.function, new.unit);
        for f in followed(old.function, old.unit) {
            if let Some(g) = of_new.iter().find(|g| g.name == f.name) {
                let twins =
                    Walk { old, new, f, g, vars: FxHashMap::default(), back: FxHashMap::default() }.twins();
                pairing.twins.insert(f.name.clone(), twins);
            }
        }
        pairing
    }

    /// The newer version's node that does the same.
    pub fn twin(&self, function: &str, node: NodeId) -> Option<NodeId> {
        self.twins.get(function)?.get(&node).copied()
    }

    pub fn is_same(&self, function: &str, node: NodeId) -> bool {
        self.twin(function, node).is_some()
    }
}

/// Two versions of one function.
struct Walk<'a> {
    old: Code<'a>,
    new: Code<'a>,
    f: &'a Function,
    g: &'a Function,
    /// Variables of the new version by those of the old one.
    vars: FxHashMap<VarId, VarId>,
    /// The other way: no two are one.
    back: FxHashMap<VarId, VarId>,
}

impl Walk<'_> {
    fn twins(mut self) -> FxHashMap<NodeId, NodeId> {
        if !self.begins_alike() {
            return FxHashMap::default();
        }
        // `None`: it has no twin.
        let mut met: FxHashMap<NodeId, Option<NodeId>> = FxHashMap::default();
        let mut work = vec![(Function::ENTRY, Function::ENTRY)];
        while let Some((a, b)) = work.pop() {
            match met.get(&a) {
                Some(Some(known)) if *known == b => continue,
                Some(None) => continue,
                Some(Some(_)) => {
                    // It is reached by two ways that do not agree.
                    met.insert(a, None);
                    continue;
                }
                None => {}
            }
            let is_twin = self.is_twin(a, b);
            met.insert(a, is_twin.then_some(b));
            if is_twin {
                let (from, to) = (&self.f.node(a).succs, &self.g.node(b).succs);
                work.extend(from.iter().copied().zip(to.iter().copied()));
            }
        }
        met.into_iter().filter_map(|(a, b)| Some((a, b?))).collect()
    }

    /// Whether calls of both versions begin in the same way.
    fn begins_alike(&self) -> bool {
        let (f, g) = (self.f, self.g);
        let spelled = |f: &Function| -> Vec<String> {
            let names = Spelled { f, variables: RefCell::default() };
            let one = |v: &VarId| {
                let mut out = String::new();
                names.var(&mut out, *v);
                out
            };
            f.params.iter().map(one).collect()
        };
        f.variadic == g.variadic
            && (f.ret == crate::ir::CType::Void) == (g.ret == crate::ir::CType::Void)
            && f.unknowns.is_empty() == g.unknowns.is_empty()
            && spelled(f) == spelled(g)
    }

    fn is_twin(&mut self, a: NodeId, b: NodeId) -> bool {
        let (f, g) = (self.f, self.g);
        let is_end = |n: NodeId| n == Function::EXIT;
        let (old, new) = (f.node(a), g.node(b));
        let reach = |code: Code, of: &Function, n| {
            code.aim.map(|aim| (aim.reach(&of.name, n), aim.is_met_by_branch(of, n)))
        };
        if is_end(a) != is_end(b)
            || old.succs.len() != new.succs.len()
            || reach(self.old, f, a) != reach(self.new, g, b)
        {
            return false;
        }
        let spell = |f, instr: &Instr| {
            let names = Spelled { f, variables: RefCell::default() };
            let mut out = String::new();
            key::instr(&mut out, instr, &names);
            (out, names.variables.into_inner())
        };
        let ((one, mine), (other, theirs)) = (spell(f, &old.instr), spell(g, &new.instr));
        if one != other || mine.len() != theirs.len() {
            return false;
        }
        for (v, w) in mine.into_iter().zip(theirs) {
            if *self.vars.entry(v).or_insert(w) != w || *self.back.entry(w).or_insert(v) != v {
                return false;
            }
        }
        let fail = |f: &Function, succs: &[NodeId]| succs.iter().map(|s| fails(f, *s)).collect::<Vec<_>>();
        fail(f, &old.succs) == fail(g, &new.succs) && self.means_the_same(&old.instr)
    }

    /// Whether the functions and globals that an instruction names are the same.
    fn means_the_same(&self, instr: &Instr) -> bool {
        if let Instr::Call { callee: Callee::Direct(name), .. } = instr {
            let known = |unit: &Unit| (unit.callee(name).is_some(), unit.meant(name).is_some());
            if known(self.old.unit) != known(self.new.unit) {
                return false;
            }
        }
        let mut is_same = true;
        instr.for_each_operand(&mut |e| is_same &= self.is_same_expression(e));
        is_same
    }

    fn is_same_expression(&self, e: &Expr) -> bool {
        match e {
            Expr::Addr(Object::Global(symbol)) => self.is_same_global(symbol),
            Expr::Op { args, .. } => args.iter().all(|a| self.is_same_expression(a)),
            _ => true,
        }
    }

    fn is_same_global(&self, symbol: &Arc<str>) -> bool {
        let content = |side: Code| {
            let global = side.unit.global(symbol)?;
            let as_input =
                side.candidates.iter().find(|c| c.global.as_ref().is_some_and(|(s, _)| s == symbol));
            let aliases: Vec<_> = side
                .unit
                .aliases
                .iter()
                .filter(|a| a.name == *symbol || a.target == *symbol)
                .cloned()
                .collect();
            let kind = (global.size, global.linkage, global.is_known_constant());
            Some((kind, global.init.clone(), as_input.cloned(), aliases))
        };
        content(self.old) == content(self.new)
    }
}

/// Spells temporaries by their kind alone, and gathers all variables in the order in which they stand.
struct Spelled<'a> {
    f: &'a Function,
    variables: RefCell<Vec<VarId>>,
}

impl Names for Spelled<'_> {
    fn var(&self, out: &mut String, var: VarId) {
        let v = self.f.var(var);
        // An object's address has its name and number in it.
        if v.kind != VarKind::Temp || v.in_memory {
            let _ = write!(out, "{}#{}", v.name, v.ordinal);
        }
        let _ = write!(out, ":{:?}{}", v.sort, if v.in_memory { "m" } else { "" });
        if v.in_memory {
            let _ = write!(out, "{} {}", v.size, v.value_bytes());
        }
        self.variables.borrow_mut().push(var);
    }
}
