//! Addresses as paths of members, and expressions side by side.

use super::bits::Bits;
use super::layout::{BodyInUnit, Layouts, record};
use super::{Walk, Wanted, is_plain};
use crate::ir::{CType, Expr, Object, Op, RecordId};
use std::cell::Cell;

/// How far an address goes into an object.
pub(super) enum Step<'e> {
    Bytes(i128),
    /// That many elements of so many bytes; backwards if negative.
    Elements {
        count: &'e Expr,
        stride: i128,
    },
}

/// Where a path of members is to end.
#[derive(Clone, Copy)]
pub(super) enum Until<'t> {
    /// At a scalar of at least so many bytes.
    Scalar(u64),
    /// At an object of so many bytes.
    Object(u64),
    /// At elements of so many bytes.
    Elements(u64),
    /// At this type.
    Type(&'t CType),
    /// At a bit-field: its first bit and how many it has. It gets where the field begins now.
    Bits(Bits, &'t Cell<Option<u32>>),
    /// At a member that got another number type. It gets which one that is.
    Number(&'t Cell<Option<(RecordId, usize)>>),
    /// As soon as possible.
    Any,
}

impl BodyInUnit<'_> {
    /// The type that the address at the bottom of an expression leads to.
    pub(super) fn leads_to(&self, e: &Expr) -> Option<CType> {
        match e {
            Expr::Var(v) => {
                self.body.var(*v).ty.target().filter(|_| self.body.var(*v).ty.is_pointer()).cloned()
            }
            Expr::Addr(Object::Local(v)) => Some(self.body.var(*v).ty.clone()),
            Expr::Addr(Object::Global(symbol)) => self.unit.global(symbol).map(|g| g.ty.clone()),
            _ => None,
        }
    }

    /// Whether an expression has an address into a structure that is laid out differently.
    pub fn leads_in(&self, layouts: &Layouts, e: &Expr) -> bool {
        let mut found = false;
        e.for_each(&mut |part| {
            found |= self.leads_to(part).is_some_and(|ty| layouts.is_relaid(self, &ty));
        });
        found
    }

    /// An address as a base and steps, bytes and elements in turn, bytes at both ends.
    pub(super) fn steps<'e>(&self, e: &'e Expr) -> (&'e Expr, Vec<Step<'e>>) {
        let Expr::Op { op: op @ (Op::Add | Op::Sub), args, signed_arith: false } = e else {
            return (e, vec![Step::Bytes(0)]);
        };
        let [base, by] = args.as_slice() else { return (e, vec![Step::Bytes(0)]) };
        let (base, mut steps) = self.steps(base);
        let sign = if *op == Op::Sub { -1 } else { 1 };
        let number = |e: &Expr| match e {
            Expr::Const(c) => c.signed(),
            _ => None,
        };
        match (number(by), by) {
            (Some(k), _) => {
                if let Some(Step::Bytes(n)) = steps.last_mut() {
                    *n += sign * k;
                }
            }
            (None, Expr::Op { op: Op::Mul, args, .. }) if args.get(1).and_then(number).is_some() => {
                let stride = sign * args.get(1).and_then(number).unwrap_or(1);
                steps.push(Step::Elements { count: &args[0], stride });
                steps.push(Step::Bytes(0));
            }
            (None, count) => {
                steps.push(Step::Elements { count, stride: sign });
                steps.push(Step::Bytes(0));
            }
        }
        (base, steps)
    }

    /// Goes `k` bytes into a type: the path of members, and the type that is there.
    fn descend(&self, layouts: &Layouts, ty: &CType, mut k: i128, until: &Until) -> Option<(String, CType)> {
        let mut path = String::new();
        let mut ty = ty.clone();
        if let Some(size) = self.unit.size_of(&ty).map(i128::from)
            && !(0..size).contains(&k)
        {
            path += &format!("[{}]", k.div_euclid(size));
            k = k.rem_euclid(size);
        }
        loop {
            let size = self.unit.size_of(&ty);
            let scalar = !matches!(ty, CType::Array(..) | CType::Record(_));
            let there = k == 0
                && match until {
                    Until::Scalar(_) => scalar,
                    Until::Object(n) => size == Some(*n),
                    Until::Elements(n) => match &ty {
                        CType::Array(element, _) => self.unit.size_of(element) == Some(*n),
                        _ => size == Some(*n),
                    },
                    Until::Type(CType::Void) => scalar,
                    Until::Type(t) => layouts.is_same_type(&ty, t) && self.is_same_name(layouts, &ty, t),
                    Until::Bits(..) | Until::Number(_) => false,
                    Until::Any => true,
                };
            if there {
                let fits = match until {
                    Until::Scalar(n) => size.is_some_and(|size| *n <= size),
                    _ => true,
                };
                return fits.then_some((path, ty));
            }
            match &ty {
                CType::Array(element, _) => {
                    let each = i128::from(self.unit.size_of(element)?);
                    path += &format!("[{}]", k.div_euclid(each));
                    k = k.rem_euclid(each);
                    ty = (**element).clone();
                }
                CType::Record(id) => {
                    let r = record(self.unit, *id)?;
                    if r.is_union {
                        path += &format!("@{k}");
                        return Some((path, ty));
                    }
                    let within = |f: &&crate::ir::Field| match self.unit.size_of(&f.ty) {
                        Some(n) => (i128::from(f.offset)..i128::from(f.offset + n)).contains(&k),
                        None => i128::from(f.offset) <= k && matches!(f.ty, CType::Array(..)),
                    };
                    if r.fields.iter().any(|f| f.bits.is_some()) && layouts.is_relaid_record(r) {
                        // Several members share what is read; its place counts.
                        return None;
                    }
                    let f = r.fields.iter().rfind(within)?;
                    path += &format!(".{}", layouts.member(r, &f.name, f.offset * 8));
                    k -= i128::from(f.offset);
                    ty = f.ty.clone();
                }
                _ => {
                    let size = i128::from(size?);
                    let n = match until {
                        Until::Scalar(n) => i128::from(*n),
                        _ => 0,
                    };
                    path += &format!("+{k}");
                    return (k > 0 && k + n <= size).then_some((path, ty));
                }
            }
        }
    }

    fn is_same_name(&self, layouts: &Layouts, a: &CType, b: &CType) -> bool {
        match (a, b) {
            (CType::Record(x), CType::Record(y)) => {
                x == y
                    || layouts.is_relaid(self, a)
                        && record(self.unit, *x).map(|r| &r.name) == record(self.unit, *y).map(|r| &r.name)
            }
            (CType::Array(x, _), CType::Array(y, _)) => self.is_same_name(layouts, x, y),
            _ => true,
        }
    }
}

impl Walk<'_> {
    /// A value that becomes one of a type.
    pub(super) fn flows(&mut self, a: &Expr, b: &Expr, (old, new): (&CType, &CType)) -> bool {
        self.wanted(a, b, Some((old, new)))
    }

    pub(super) fn expr(&mut self, a: &Expr, b: &Expr) -> bool {
        self.wanted(a, b, None)
    }

    /// The addresses of what is read or written.
    pub(super) fn accessed(&mut self, a: &Expr, b: &Expr, bytes: u64) -> bool {
        match self.is_place(a, b) {
            true => self.places(a, b, (&Until::Scalar(bytes), &Until::Scalar(bytes))).is_some(),
            false => self.expr(a, b),
        }
    }

    /// The addresses of objects of which all bytes are meant.
    pub(super) fn whole(&mut self, a: &Expr, b: &Expr, old: u64, new: u64) -> bool {
        match self.is_place(a, b) {
            true => self.places(a, b, (&Until::Object(old), &Until::Object(new))).is_some_and(|(x, y)| {
                let whole = |size: Option<u64>, n: u64| size.is_some_and(|s| s == n);
                whole(self.old.unit.size_of(&x), old) && whole(self.new.unit.size_of(&y), new)
            }),
            false => old == new && self.expr(a, b),
        }
    }

    fn is_place(&self, a: &Expr, b: &Expr) -> bool {
        let into = |side: &BodyInUnit, e: &Expr| {
            let (base, _) = side.steps(e);
            side.leads_to(base).is_some_and(|ty| self.layouts.is_relaid(side, &ty) && !ty.is_pointer())
        };
        into(self.old, a) || into(self.new, b)
    }

    /// Whether two addresses are those of the same members; the types that are there.
    fn places(&mut self, a: &Expr, b: &Expr, (old, new): (&Until, &Until)) -> Option<(CType, CType)> {
        let ((p, xs), (q, ys)) = (self.old.steps(a), self.new.steps(b));
        if !is_plain(p) || !is_plain(q) || xs.len() != ys.len() || !self.plain(p, q) {
            return None;
        }
        let (mut x, mut y) = (self.old.leads_to(p)?, self.new.leads_to(q)?);
        for at in (0..xs.len()).step_by(2) {
            let (Some(Step::Bytes(k)), Some(Step::Bytes(l))) = (xs.get(at), ys.get(at)) else { return None };
            let (until, upto) = match (xs.get(at + 1), ys.get(at + 1)) {
                (Some(Step::Elements { stride: s, .. }), Some(Step::Elements { stride: t, .. })) => {
                    let size = |n: &i128| u64::try_from(n.unsigned_abs()).unwrap_or(u64::MAX);
                    (&Until::Elements(size(s)), &Until::Elements(size(t)))
                }
                _ => (old, new),
            };
            let (path, ty) = self.old.descend(self.layouts, &x, *k, until)?;
            let (other, there) = self.new.descend(self.layouts, &y, *l, upto)?;
            if path != other || !self.layouts.is_same_type(&ty, &there) {
                return None;
            }
            (x, y) = (ty, there);
            if let (Some(Step::Elements { count, stride }), Some(Step::Elements { count: c, stride: t })) =
                (xs.get(at + 1), ys.get(at + 1))
            {
                if stride.signum() != t.signum() || !self.expr(count, c) {
                    return None;
                }
                let element = |side: &BodyInUnit, ty: CType, n: &i128| match &ty {
                    CType::Array(e, _) if side.unit.size_of(e).map(i128::from) == Some(n.abs()) => {
                        (**e).clone()
                    }
                    _ => ty,
                };
                (x, y) = (element(self.old, x, stride), element(self.new, y, t));
            }
        }
        Some((x, y))
    }

    /// The same variable or object.
    fn plain(&mut self, a: &Expr, b: &Expr) -> bool {
        match (a, b) {
            (Expr::Var(x), Expr::Var(y)) | (Expr::Addr(Object::Local(x)), Expr::Addr(Object::Local(y))) => {
                self.var(*x, *y)
            }
            _ => a == b,
        }
    }

    fn wanted(&mut self, a: &Expr, b: &Expr, wanted: Wanted) -> bool {
        if self.is_place(a, b) {
            return match wanted {
                Some((CType::Pointer(x), CType::Pointer(y))) => {
                    self.places(a, b, (&Until::Type(x), &Until::Type(y))).is_some()
                }
                _ => self.places(a, b, (&Until::Any, &Until::Any)).is_some(),
            };
        }
        match (a, b) {
            (
                Expr::Op { op, args, signed_arith },
                Expr::Op { op: other, args: given, signed_arith: signed },
            ) => {
                if (op, signed_arith, args.len()) != (other, signed, given.len()) {
                    return self.elements_between(a, b);
                }
                // How far apart members are, and which comes first, is what the layout says.
                let sees =
                    matches!(op, Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::Sub | Op::Mul | Op::Trunc(_));
                let inside = |w: &Self, x: &Expr, y: &Expr| w.is_place(x, y) && !(is_plain(x) && is_plain(y));
                if sees && args.iter().zip(given).any(|(x, y)| inside(self, x, y)) {
                    return false;
                }
                if *op == Op::Sub && args.iter().zip(given).any(|(x, y)| self.is_place(x, y)) {
                    return false;
                }
                self.elements_between(a, b) || args.iter().zip(given).all(|(x, y)| self.wanted(x, y, wanted))
            }
            _ => self.plain(a, b),
        }
    }

    /// How many elements lie between two pointers.
    fn elements_between(&mut self, a: &Expr, b: &Expr) -> bool {
        let parts = |e: &Expr| -> Option<(Expr, Expr, u64)> {
            let Expr::Op { op: Op::SDiv, args, .. } = e else { return None };
            let [Expr::Op { op: Op::Sub, args: ends, .. }, Expr::Const(size)] = args.as_slice() else {
                return None;
            };
            let [p, q] = ends.as_slice() else { return None };
            Some((p.clone(), q.clone(), u64::try_from(size.to_bits()).ok()?))
        };
        let (Some((p, q, n)), Some((r, s, m))) = (parts(a), parts(b)) else { return false };
        let ends = [(&p, &r), (&q, &s)];
        ends.iter().all(|(x, y)| self.is_place(x, y))
            && ends.iter().all(|(x, y)| self.places(x, y, (&Until::Object(n), &Until::Object(m))).is_some())
    }
}
