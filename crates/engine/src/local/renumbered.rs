//! Enumerations whose enumerators got other numbers: the older body with the newer ones.
//!
//! One more enumerator in the middle of an enumeration gives all behind it other numbers, and `case` after `case` of
//! every `switch` would be told as a change. What a value of such a type means is the name of its enumerator: as
//! members of structures that lie elsewhere are compared by their names, so are these. The relation of the states is
//! the map of the older numbers to those of the same names; the older body is written for the newer numbers.
//!
//! That is right as long as the body knows the type by its names: values are copied, given away and compared, with
//! each other and with enumerators, and no number becomes one, nor the reverse ([`Renumbering::body`] is `None`
//! otherwise). What is not at hand is taken to do the same (the assumption `by-members`).

use crate::ir::{CType, Callee, Expr, Function, Instr, Object, Op, Sort, Unit, VarId, VarKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// An enumeration's older numbers with the newer ones.
#[derive(Debug)]
struct Numbers {
    to: BTreeMap<i128, i128>,
    newer: BTreeSet<i128>,
    /// Whether what was less than another is so now.
    keeps_order: bool,
}

/// Enumerations whose enumerators got other numbers, by the names that types have for them.
#[derive(Debug)]
pub(super) struct Renumbering(BTreeMap<Arc<str>, Numbers>);

impl Renumbering {
    /// `None`: there are none. Cost: a walk over the enumerations of both units.
    pub fn of(old: &Unit, new: &Unit) -> Option<Renumbering> {
        let both = old.enumerations.iter().filter_map(|(name, was)| {
            let is = new.enumerations.get(name).filter(|is| *is != was)?;
            Some((name.clone(), numbers(was, is)?))
        });
        let found: BTreeMap<_, _> = both.collect();
        (!found.is_empty()).then_some(Renumbering(found))
    }

    /// The older body with the newer numbers; `None` where it has to do with none of them, and where it takes one for
    /// a number.
    pub fn body(&self, body: &Function, unit: &Unit) -> Option<Function> {
        let known = self.variables(body)?;
        let mut rewriter = Rewriter { renumbering: self, body, unit, known, changes: false };
        let mut made = body.clone();
        for node in &mut made.nodes {
            rewriter.instr(&mut node.instr)?;
        }
        rewriter.changes.then_some(made)
    }

    /// The older unit with the names for the newer numbers.
    pub fn unit(&self, old: &Unit, new: &Unit) -> Unit {
        let mut unit = old.clone();
        for name in self.0.keys() {
            let Some(all) = new.enumerations.get(name) else { continue };
            for (enumerator, value) in all {
                if let Some(known) = unit.written.enumerators.get_mut(enumerator) {
                    *known = Some(*value);
                }
                let of_name = unit.written.compared.iter_mut().filter(|c| c.name == *enumerator);
                of_name.for_each(|c| c.value = *value);
            }
            unit.enumerations.insert(name.clone(), all.clone());
        }
        unit
    }

    fn of_type(&self, ty: &CType) -> Option<&Arc<str>> {
        let CType::Int { name, .. } = ty else { return None };
        self.0.get_key_value(name).map(|(name, _)| name)
    }

    /// The variables that hold such values: those of the type, and temporaries that such values come into or go from.
    /// `None`: one holds values of two types.
    fn variables(&self, body: &Function) -> Option<BTreeMap<VarId, Arc<str>>> {
        let mut known: BTreeMap<VarId, Arc<str>> = BTreeMap::new();
        for (k, var) in body.vars.iter().enumerate() {
            known.extend(self.of_type(&var.ty).map(|name| (VarId(k as u32), name.clone())));
        }
        loop {
            let mut more: Vec<(VarId, Arc<str>)> = Vec::new();
            let mut flows = |value: Option<&Expr>, ty: Option<&Arc<str>>| {
                if let (Some(Expr::Var(v)), Some(name)) = (value, ty) {
                    more.push((*v, name.clone()));
                }
            };
            for node in &body.nodes {
                match &node.instr {
                    Instr::Assign { dst, value } => {
                        flows(Some(value), known.get(dst));
                        let from = if let Expr::Var(v) = value { known.get(v) } else { None };
                        flows(Some(&Expr::Var(*dst)), from);
                    }
                    Instr::Load { dst, access, .. } => {
                        flows(Some(&Expr::Var(*dst)), self.of_type(&access.ty))
                    }
                    Instr::Store { value, access, .. } => flows(Some(value), self.of_type(&access.ty)),
                    Instr::Return { value } => flows(value.as_ref(), self.of_type(&body.ret)),
                    Instr::Call { dst, args, arg_types, ret, .. } => {
                        let result = dst.map(Expr::Var);
                        flows(result.as_ref(), self.of_type(ret));
                        args.iter().zip(arg_types).for_each(|(a, ty)| flows(Some(a), self.of_type(ty)));
                    }
                    _ => {}
                }
            }
            more.retain(|(v, _)| body.var(*v).kind == VarKind::Temp);
            if more.iter().any(|(v, name)| known.get(v).is_some_and(|k| k != name)) {
                return None;
            }
            let before = known.len();
            known.extend(more);
            if known.len() == before {
                return Some(known);
            }
        }
    }
}

/// The map of two lists of enumerators; `None` where no number is another, or it is no map both ways.
fn numbers(was: &[(Arc<str>, i128)], is: &[(Arc<str>, i128)]) -> Option<Numbers> {
    let (counted_before, counted_now) = (counted(was), counted(is));
    let now: BTreeMap<&str, i128> = is.iter().map(|(name, value)| (&**name, *value)).collect();
    let mut to = BTreeMap::new();
    for (name, old) in was {
        let Some(new) = now.get(&**name) else { continue };
        let is_counted = counted_before.contains(&**name) && counted_now.contains(&**name);
        if old != new && !is_counted || to.insert(*old, *new).is_some_and(|known| known != *new) {
            return None;
        }
    }
    // A number that is written otherwise is another number: names come, go or change places.
    let names =
        |list: &[(Arc<str>, i128)]| list.iter().map(|(name, _)| name.clone()).collect::<BTreeSet<_>>();
    let values = |list: &[(Arc<str>, i128)]| list.iter().map(|(_, value)| *value).collect::<BTreeSet<_>>();
    if names(was) == names(is) && values(was) != values(is) {
        return None;
    }
    let images: Vec<i128> = to.values().copied().collect();
    let is_both_ways = images.iter().collect::<BTreeSet<_>>().len() == images.len();
    // What is set to zero byte by byte keeps its name.
    let keeps_zero = to.get(&0).is_none_or(|zero| *zero == 0);
    let differs = to.iter().any(|(old, new)| old != new);
    (differs && is_both_ways && keeps_zero).then(|| Numbers {
        keeps_order: images.is_sorted(),
        newer: values(is),
        to,
    })
}

/// The enumerators that may have got their numbers from those before them.
fn counted(list: &[(Arc<str>, i128)]) -> BTreeSet<&str> {
    let (mut found, mut next) = (BTreeSet::new(), 0);
    for (name, value) in list {
        if *value == next {
            found.insert(&**name);
        }
        next = value.saturating_add(1);
    }
    found
}

/// Writes one body for the newer numbers.
struct Rewriter<'r> {
    renumbering: &'r Renumbering,
    body: &'r Function,
    unit: &'r Unit,
    known: BTreeMap<VarId, Arc<str>>,
    changes: bool,
}

impl Rewriter<'_> {
    fn instr(&mut self, instr: &mut Instr) -> Option<()> {
        let of_type = |ty: &CType| self.renumbering.of_type(ty).cloned();
        match instr {
            Instr::Nop | Instr::Declare(_) | Instr::Unreachable | Instr::Return { value: None } => Some(()),
            Instr::Assign { dst, value } => {
                let wanted = self.known.get(dst).cloned();
                self.value(value, wanted.as_ref())
            }
            Instr::Load { dst, addr, access } => {
                let ty = of_type(&access.ty);
                let is_table = |e: &Expr| match e {
                    Expr::Addr(Object::Global(symbol)) => self.unit.global(symbol).is_none_or(|g| g.is_const),
                    _ => false,
                };
                let mut from_table = false;
                addr.for_each(&mut |e| from_table |= is_table(e));
                // What a table begins with has the older numbers.
                (self.known.get(dst) == ty.as_ref() && !(ty.is_some() && from_table)).then_some(())?;
                self.value(addr, None)
            }
            Instr::Store { addr, value, access } => {
                let ty = of_type(&access.ty);
                self.value(addr, None)?;
                self.value(value, ty.as_ref())
            }
            Instr::Return { value: Some(value) } => {
                let ty = of_type(&self.body.ret);
                self.value(value, ty.as_ref())
            }
            Instr::Call { dst, callee, args, arg_types, ret, result_to, .. } => {
                let (ret, types) = (of_type(ret), arg_types.iter().map(of_type).collect::<Vec<_>>());
                dst.is_none_or(|dst| self.known.get(&dst) == ret.as_ref()).then_some(())?;
                if let Callee::Indirect(e) = callee {
                    self.value(e, None)?;
                }
                for (k, arg) in args.iter_mut().enumerate() {
                    self.value(arg, types.get(k).and_then(Option::as_ref))?;
                }
                result_to.as_mut().map_or(Some(()), |to| self.value(to, None))
            }
            Instr::Branch { cond } => self.value(cond, None),
            Instr::Copy { .. } | Instr::Zero { .. } | Instr::Measure { .. } | Instr::Unknown { .. } => {
                let mut is_number = true;
                instr.for_each_operand(&mut |e| {
                    e.for_each_var(&mut |v| is_number &= !self.known.contains_key(&v))
                });
                is_number.then_some(())
            }
        }
    }

    /// Rewrites a value that becomes one of such a type (`wanted`), or of another.
    fn value(&mut self, e: &mut Expr, wanted: Option<&Arc<str>>) -> Option<()> {
        match e {
            Expr::Const(c) => {
                let Some(numbers) = wanted.and_then(|name| self.renumbering.0.get(name)) else {
                    return Some(());
                };
                let (number, Sort::Bv(width)) = (c.signed()?, c.sort()) else { return None };
                match numbers.to.get(&number) {
                    Some(new) => {
                        self.changes |= *new != number;
                        *e = Expr::bv(width, *new);
                        Some(())
                    }
                    // A number that no name has, before or now.
                    None => (!numbers.newer.contains(&number)).then_some(()),
                }
            }
            Expr::Var(v) => (self.known.get(v) == wanted).then_some(()),
            Expr::Addr(_) => wanted.is_none().then_some(()),
            Expr::Op { op, args, .. } => {
                let of = |e: &Expr| if let Expr::Var(v) = e { self.known.get(v).cloned() } else { None };
                let compared = args.iter().find_map(of);
                let orders = matches!(op, Op::Slt | Op::Sle | Op::Ult | Op::Ule);
                let ty = compared.filter(|_| *op == Op::Eq || orders);
                let is_kept = |name: &Arc<str>| self.renumbering.0.get(name).is_some_and(|n| n.keeps_order);
                if wanted.is_some() || orders && !ty.as_ref().is_none_or(is_kept) {
                    return None;
                }
                args.iter_mut().try_for_each(|arg| self.value(arg, ty.as_ref()))
            }
        }
    }
}
