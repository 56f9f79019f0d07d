//! Whether two bodies do the same where structures are laid out differently: by their members.
//!
//! Instructions have offsets. Where a layout changed, equal offsets may be those of other members, and other
//! offsets those of the same ones. Two bodies are walked side by side: addresses that lead into a structure
//! whose layout changed are read as paths of members, each by its own layout, everything else must be equal.
//! That is right as long as nobody sees the layout: no pointer to such a structure becomes a pointer to
//! something else, none is in a union, none is given to code that is not at hand, and no size gets away.

mod bits;
mod layout;
mod numbers;
mod place;
mod records;
mod relaid;

pub use layout::image;
pub use numbers::{Fit, Fits, NEGATIVE};
pub use relaid::{OTHER, Relaid, Seen, relaid};

use crate::ir::{CType, Callee, Expr, Function, Instr, Object, Unit, VarId};
use layout::{BodyInUnit, Layouts, by_members};
use std::collections::{BTreeMap, BTreeSet};

/// How two bodies compare by the members that they name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByMembers {
    /// Neither has to do with a structure whose layout differs.
    Untouched,
    Same,
    /// What each of them does to its bytes tells: equal bodies mean the same members.
    SameIfEqual,
    Other,
}

/// Compares two bodies with the units that they are from. Cost: where the layouts of the units are equal, none.
pub fn compare((f, old): (&Function, &Unit), (g, new): (&Function, &Unit)) -> ByMembers {
    let Some(layouts) = Layouts::of(old, new) else { return ByMembers::Untouched };
    let sides = (BodyInUnit::new(f, old), BodyInUnit::new(g, new));
    if !layouts.touches(&sides.0) && !layouts.touches(&sides.1) {
        return ByMembers::Untouched;
    }
    let seen = layouts.is_seen(&sides.0) || layouts.is_seen(&sides.1);
    let mut walk =
        Walk { layouts: &layouts, old: &sides.0, new: &sides.1, to: BTreeMap::new(), back: BTreeMap::new() };
    if !seen && walk.bodies() && walk.objects() {
        return ByMembers::Same;
    }
    let extends = layouts.extends_only(&sides.0) && layouts.extends_only(&sides.1);
    match extends && layouts.members(&sides.0) == layouts.members(&sides.1) {
        true => ByMembers::SameIfEqual,
        false => ByMembers::Other,
    }
}

/// Whether equal places in the structures of two bodies are equal members: nothing that they have to do with is
/// laid out otherwise, members were only added behind (and no next structure is looked at), or those that they name
/// stay where they are.
pub fn places_agree((f, old): (&Function, &Unit), (g, new): (&Function, &Unit)) -> bool {
    let Some(layouts) = Layouts::of(old, new) else { return true };
    let sides = (BodyInUnit::new(f, old), BodyInUnit::new(g, new));
    let appends = |side: &BodyInUnit| layouts.appends_only(side) && !layouts.steps_over(side);
    appends(&sides.0) && appends(&sides.1) || layouts.named_stay(&sides.0, &sides.1)
}

/// Whether one of two bodies has to do with a structure of this name whose layout differs.
pub fn touches((f, old): (&Function, &Unit), (g, new): (&Function, &Unit), name: &str) -> bool {
    let layouts = Layouts::of(old, new).and_then(|all| all.of_name(name));
    layouts.is_some_and(|one| one.touches(&BodyInUnit::new(f, old)) || one.touches(&BodyInUnit::new(g, new)))
}

/// Whether one of two bodies gets such structures from others, or others see its own.
pub fn is_given((f, old): (&Function, &Unit), (g, new): (&Function, &Unit)) -> bool {
    let Some(layouts) = Layouts::of(old, new) else { return false };
    layouts.is_given(&BodyInUnit::new(f, old)) || layouts.is_given(&BodyInUnit::new(g, new))
}

struct Walk<'a> {
    layouts: &'a Layouts<'a>,
    old: &'a BodyInUnit<'a>,
    new: &'a BodyInUnit<'a>,
    to: BTreeMap<VarId, VarId>,
    back: BTreeMap<VarId, VarId>,
}

/// What an expression is wanted for: a type in each version.
type Wanted<'t> = Option<(&'t CType, &'t CType)>;

impl Walk<'_> {
    fn bodies(&mut self) -> bool {
        let (f, g) = (self.old.body, self.new.body);
        let alike = f.nodes.len() == g.nodes.len()
            && f.params.len() == g.params.len()
            && (f.variadic, &f.binding) == (g.variadic, &g.binding)
            && self.layouts.is_same_type(&f.ret, &g.ret);
        alike
            && f.params.iter().zip(&g.params).all(|(a, b)| self.var(*a, *b))
            && f.nodes.iter().zip(&g.nodes).all(|(a, b)| a.succs == b.succs && self.instr(&a.instr, &b.instr))
    }

    fn var(&mut self, a: VarId, b: VarId) -> bool {
        if *self.to.entry(a).or_insert(b) != b || *self.back.entry(b).or_insert(a) != a {
            return false;
        }
        let (x, y) = (self.old.body.var(a), self.new.body.var(b));
        (x.sort, x.in_memory) == (y.sort, y.in_memory) && self.layouts.is_same_type(&x.ty, &y.ty)
    }

    fn vars(&mut self, a: &Option<VarId>, b: &Option<VarId>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => self.var(*a, *b),
            (a, b) => a == b,
        }
    }

    fn instr(&mut self, a: &Instr, b: &Instr) -> bool {
        match (a, b) {
            (Instr::Nop, Instr::Nop) | (Instr::Unreachable, Instr::Unreachable) => true,
            (Instr::Declare(x), Instr::Declare(y)) => self.var(*x, *y),
            (Instr::Assign { dst, value }, Instr::Assign { dst: d, value: v }) => {
                let (x, y) = (self.old.body.var(*dst).ty.clone(), self.new.body.var(*d).ty.clone());
                self.var(*dst, *d) && self.flows(value, v, (&x, &y))
            }
            (Instr::Load { dst, addr, access }, Instr::Load { dst: d, addr: at, access: how }) => {
                self.var(*dst, *d)
                    && (access.sort, access.bytes, access.volatile) == (how.sort, how.bytes, how.volatile)
                    && self.accessed(addr, at, access.bytes)
            }
            (Instr::Store { addr, value, access }, Instr::Store { addr: at, value: v, access: how }) => {
                (access.sort, access.bytes, access.volatile) == (how.sort, how.bytes, how.volatile)
                    && self.accessed(addr, at, access.bytes)
                    && self.flows(value, v, (&access.ty, &how.ty))
            }
            (Instr::Copy { dst, src, bytes }, Instr::Copy { dst: d, src: s, bytes: n }) => {
                self.whole(dst, d, *bytes, *n) && self.whole(src, s, *bytes, *n)
            }
            (Instr::Zero { dst, bytes }, Instr::Zero { dst: d, bytes: n }) => self.whole(dst, d, *bytes, *n),
            (Instr::Branch { cond }, Instr::Branch { cond: c }) => self.expr(cond, c),
            (Instr::Return { value: None }, Instr::Return { value: None }) => true,
            (Instr::Return { value: Some(x) }, Instr::Return { value: Some(y) }) => {
                let (from, to) = (&self.old.body.ret, &self.new.body.ret);
                self.flows(x, y, (from, to))
            }
            (Instr::Measure { var, lengths, element }, Instr::Measure { var: v, lengths: n, element: e }) => {
                self.vars(var, v)
                    && element == e
                    && lengths.len() == n.len()
                    && lengths.iter().zip(n).all(|(x, y)| self.expr(x, y))
            }
            (Instr::Call { .. }, Instr::Call { .. }) => self.call(a, b),
            (
                Instr::Unknown { reason, text, reads, writes, anything, skips: _ },
                Instr::Unknown { reason: r, text: t, reads: from, writes: to, anything: any, skips: _ },
            ) => {
                (reason, text, anything) == (r, t, any)
                    && (reads.len(), writes.len()) == (from.len(), to.len())
                    && writes.iter().zip(to).all(|(x, y)| self.var(*x, *y))
                    && reads.iter().zip(from).all(|(x, y)| self.expr(x, y))
            }
            _ => false,
        }
    }

    fn call(&mut self, a: &Instr, b: &Instr) -> bool {
        let (
            Instr::Call { dst, callee, args, arg_types, ret, result_to, noreturn },
            Instr::Call {
                dst: d,
                callee: called,
                args: given,
                arg_types: types,
                ret: r,
                result_to: to,
                noreturn: never,
            },
        ) = (a, b)
        else {
            return false;
        };
        let alike = noreturn == never
            && args.len() == given.len()
            && arg_types.len() == types.len()
            && self.vars(dst, d)
            && self.layouts.is_same_type(ret, r)
            && arg_types.iter().zip(types).all(|(x, y)| self.layouts.is_same_type(x, y));
        let result = match (result_to, to) {
            (Some(x), Some(y)) => self.flows(x, y, (&pointer_to(ret), &pointer_to(r))),
            (None, None) => true,
            _ => false,
        };
        let named = match (callee, called) {
            (Callee::Direct(x), Callee::Direct(y)) => {
                // A function that got another name calls itself as before.
                x == y || *x == self.old.body.name && *y == self.new.body.name
            }
            (Callee::Indirect(x), Callee::Indirect(y)) => self.expr(x, y),
            _ => false,
        };
        if !(alike && result && named) {
            return false;
        }
        if let Callee::Direct(name) = callee
            && self.old.unit.function(name).is_none()
        {
            return self.foreign(name, (args, *dst), (given, *d));
        }
        args.iter().zip(given).zip(arg_types.iter().zip(types)).all(|((x, y), (t, u))| {
            let (t, u) = match t {
                CType::Record(_) => (pointer_to(t), pointer_to(u)),
                _ => (t.clone(), u.clone()),
            };
            self.flows(x, y, (&t, &u))
        })
    }

    /// A call of a function that is not at hand: it gets no structure of another layout, but for those of the
    /// library that take an object as a whole.
    fn foreign(
        &mut self,
        name: &str,
        (args, dst): (&[Expr], Option<VarId>),
        (given, to): (&[Expr], Option<VarId>),
    ) -> bool {
        let strange =
            |w: &Self, x: &Expr, y: &Expr| w.old.leads_in(w.layouts, x) || w.new.leads_in(w.layouts, y);
        let some = args.iter().zip(given).any(|(x, y)| strange(self, x, y));
        match name {
            "free" => args.iter().zip(given).all(|(x, y)| self.expr(x, y)),
            "malloc" | "calloc" if !some => self.allocated((args, dst), (given, to)),
            "memset" | "memcpy" | "memmove" if some => {
                let ([p, q, n], [r, s, m]) = (args, given) else { return false };
                let (Some(n), Some(m)) = (size_of_const(n), size_of_const(m)) else { return false };
                let filled = name == "memset";
                // Of what is copied into other things, bytes are seen.
                let both = |w: &Self| strange(w, p, r) && strange(w, q, s);
                (filled || both(self))
                    && self.whole(p, r, n, m)
                    && if filled { size_of_const(q) == Some(0) && q == s } else { self.whole(q, s, n, m) }
            }
            _ => !some && args.iter().zip(given).all(|(x, y)| self.expr(x, y)),
        }
    }

    /// Memory for as many objects of the type that it is used for.
    fn allocated(
        &mut self,
        (args, dst): (&[Expr], Option<VarId>),
        (given, to): (&[Expr], Option<VarId>),
    ) -> bool {
        let equal = args.iter().zip(given).all(|(x, y)| self.expr(x, y));
        let (Some(x), Some(y)) = (self.old.made_for(dst), self.new.made_for(to)) else { return equal };
        if !(self.layouts.is_relaid(self.old, &x) || self.layouts.is_relaid(self.new, &y)) {
            return equal;
        }
        let (Some(a), Some(b)) = (self.old.unit.size_of(&x), self.new.unit.size_of(&y)) else { return false };
        self.layouts.is_same_type(&x, &y)
            && args.iter().zip(given).all(|(n, m)| match (size_of_const(n), size_of_const(m)) {
                (Some(n), Some(m)) if n % a == 0 && m % b == 0 && n / a == m / b => true,
                _ => self.scaled((n, a), (m, b)) || self.expr(n, m),
            })
            && args.iter().zip(given).any(|(n, m)| self.scaled((n, a), (m, b)))
    }

    /// Whether two numbers are as many times two sizes.
    fn scaled(&mut self, (n, a): (&Expr, u64), (m, b): (&Expr, u64)) -> bool {
        match (n, m) {
            (Expr::Const(x), Expr::Const(y)) => {
                let (x, y) = (x.to_bits() as u64, y.to_bits() as u64);
                x >= a && x % a == 0 && y % b == 0 && x / a == y / b
            }
            (
                Expr::Op { op: crate::ir::Op::Mul, args: x, .. },
                Expr::Op { op: crate::ir::Op::Mul, args: y, .. },
            ) => {
                let ([x0, x1], [y0, y1]) = (x.as_slice(), y.as_slice()) else { return false };
                let is = |e: &Expr, n: u64| size_of_const(e) == Some(n);
                is(x1, a) && is(y1, b) && self.expr(x0, y0) || is(x0, a) && is(y0, b) && self.expr(x1, y1)
            }
            _ => false,
        }
    }

    /// The objects whose initial values take part begin with the same in their members.
    fn objects(&self) -> bool {
        let named = |side: &BodyInUnit| -> BTreeSet<_> { side.objects().map(|g| g.symbol.clone()).collect() };
        named(self.old).union(&named(self.new)).all(|symbol| {
            match (self.old.unit.global(symbol), self.new.unit.global(symbol)) {
                (Some(a), Some(b)) => {
                    // Where an address leads by members is not asked.
                    if self.layouts.points_in(self.old, a) || self.layouts.points_in(self.new, b) {
                        return false;
                    }
                    let relaid = self.layouts.is_relaid(self.old, &a.ty);
                    let image = |unit, g| by_members(unit, g).filter(|_| !is_elsewhere(g));
                    !relaid
                        || image(self.old.unit, a).is_some()
                            && image(self.old.unit, a) == image(self.new.unit, b)
                }
                _ => false,
            }
        })
    }
}

fn is_elsewhere(g: &crate::ir::Global) -> bool {
    matches!(g.linkage, crate::ir::Linkage::Import | crate::ir::Linkage::Weak)
}

fn pointer_to(ty: &CType) -> CType {
    CType::Pointer(std::sync::Arc::new(ty.clone()))
}

fn size_of_const(e: &Expr) -> Option<u64> {
    match e {
        Expr::Const(c) => u64::try_from(c.to_bits()).ok(),
        _ => None,
    }
}

/// Whether an expression is the address of an object or a variable, without any way into it.
fn is_plain(e: &Expr) -> bool {
    matches!(e, Expr::Var(_) | Expr::Addr(Object::Local(_) | Object::Global(_)))
}
