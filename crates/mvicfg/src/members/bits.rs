//! Bit-fields that lie elsewhere in what they share with others: what reads one or writes one, and the same by the
//! newer layout.
//!
//! The front end reads the *unit* that has the bits of a field into a variable of its own, and takes the field out of
//! it (`unit >> low`, cut to its width), or puts it in (`unit & keep | field << low`). Where each use of such a
//! variable is one of these, the fields are known that are meant, and they have other places in the newer layout. A
//! flag that is added between others moves those behind it.

use crate::ir::{Const, Expr, Function, Instr, Op, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// A field in its unit: the first bit, and how many there are.
pub(super) type Bits = (u32, u32);

/// A unit whose fields lie elsewhere.
pub(super) struct Unit {
    /// Where it is now.
    pub addr: Expr,
    /// Bits that it has.
    pub width: u16,
    /// Where fields begin now.
    pub fields: BTreeMap<Bits, u32>,
}

/// By the variables that they are read into.
pub(super) type Moved = BTreeMap<VarId, Unit>;

/// The unit and the field that an expression reads.
fn read(e: &Expr) -> Option<(VarId, Bits)> {
    let Expr::Op { op: Op::Trunc(width), args, .. } = e else { return None };
    let width = u32::from(*width);
    match args.as_slice() {
        [Expr::Var(unit)] => Some((*unit, (0, width))),
        [Expr::Op { op: Op::LShr, args, .. }] => match args.as_slice() {
            [Expr::Var(unit), Expr::Const(low)] => {
                Some((*unit, (u32::try_from(low.unsigned()?).ok()?, width)))
            }
            _ => None,
        },
        _ => None,
    }
}

/// The unit and the field that a stored value changes, and what it is given, with that in its place.
fn written(e: &Expr) -> Option<(VarId, Bits, &Expr)> {
    let Expr::Op { op: Op::BitOr, args, .. } = e else { return None };
    let [Expr::Op { op: Op::BitAnd, args: kept, .. }, word] = args.as_slice() else { return None };
    let [Expr::Var(unit), Expr::Const(keep)] = kept.as_slice() else { return None };
    let Const::Bv { width, bits } = keep else { return None };
    let field = !bits & Const::mask(*width);
    let (low, count) = (field.trailing_zeros(), field.count_ones());
    // One run of bits.
    let is_run = count > 0 && low < 128 && (field >> low).count_ones() == (field >> low).trailing_ones();
    is_run.then_some((*unit, (low, count), word))
}

/// Variables that are read from memory once, and of which nothing but fields is used.
pub(super) fn units(body: &Function) -> BTreeMap<VarId, BTreeSet<Bits>> {
    let (mut found, mut others): (BTreeMap<VarId, BTreeSet<Bits>>, BTreeSet<VarId>) = Default::default();
    let mut loaded = BTreeSet::new();
    for node in &body.nodes {
        match &node.instr {
            Instr::Load { dst, .. } if !loaded.insert(*dst) => _ = others.insert(*dst),
            Instr::Assign { dst, .. } => _ = others.insert(*dst),
            Instr::Call { dst: Some(dst), .. } => _ = others.insert(*dst),
            _ => {}
        }
        let mut used = |e: &Expr| used_in(e, &mut found, &mut others);
        if let Instr::Store { addr, value, .. } = &node.instr
            && let Some((unit, bits, word)) = written(value)
        {
            [addr, word].into_iter().for_each(&mut used);
            found.entry(unit).or_default().insert(bits);
        } else {
            node.instr.for_each_operand(&mut used);
        }
    }
    found.retain(|v, _| loaded.contains(v) && !others.contains(v));
    found
}

/// Adds the fields of an expression, and the variables that are used otherwise.
fn used_in(e: &Expr, found: &mut BTreeMap<VarId, BTreeSet<Bits>>, others: &mut BTreeSet<VarId>) {
    if let Some((unit, bits)) = read(e) {
        found.entry(unit).or_default().insert(bits);
        return;
    }
    match e {
        Expr::Var(v) => _ = others.insert(*v),
        Expr::Op { args, .. } => args.iter().for_each(|a| used_in(a, found, others)),
        Expr::Const(_) | Expr::Addr(_) => {}
    }
}

/// An instruction with its fields where they are now; of a store, the unit that it changes.
pub(super) fn rewritten(instr: &Instr, moved: &Moved) -> (Instr, Option<VarId>) {
    let mut instr = instr.clone();
    let mut of = None;
    if let Instr::Store { value, .. } = &mut instr
        && let Some((unit, bits, word)) = written(value)
        && let Some(to) = moved.get(&unit).and_then(|of| of.fields.get(&bits))
        && let Some(made) = put(value, unit, (bits, *to), word)
    {
        *value = made;
        of = Some(unit);
    }
    instr.for_each_operand_mut(&mut |e| take(e, moved));
    (instr, of)
}

/// What a store puts in its unit by the newer layout.
fn put(value: &Expr, unit: VarId, ((low, width), to): (Bits, u32), word: &Expr) -> Option<Expr> {
    let Expr::Op { op, args, signed_arith } = value else { return None };
    let Some(Expr::Op { op: Op::BitAnd, args: kept, signed_arith: signed }) = args.first() else {
        return None;
    };
    let Some(Expr::Const(Const::Bv { width: bits, .. })) = kept.get(1) else { return None };
    let number = |n: u32| Expr::bv(*bits, i128::from(n));
    let word = match word {
        Expr::Const(c) => Expr::bv(*bits, i128::try_from(c.unsigned()? >> low << to).ok()?),
        Expr::Op { op: Op::Shl, args, .. } if args.get(1) == Some(&number(low)) => match to {
            0 => args.first()?.clone(),
            to => Expr::op(Op::Shl, vec![args.first()?.clone(), number(to)]),
        },
        word if low == 0 && to > 0 => Expr::op(Op::Shl, vec![word.clone(), number(to)]),
        word if low == 0 => word.clone(),
        _ => return None,
    };
    let keep = Expr::bv(*bits, !(Const::mask(u16::try_from(width).ok()?) << to) as i128);
    let rest = Expr::Op { op: Op::BitAnd, args: vec![Expr::Var(unit), keep], signed_arith: *signed };
    Some(Expr::Op { op: *op, args: vec![rest, word], signed_arith: *signed_arith })
}

/// Takes fields out of their units where they are now.
fn take(e: &mut Expr, moved: &Moved) {
    let to = read(e).and_then(|(unit, bits)| {
        let of = moved.get(&unit)?;
        Some((unit, of.width, *of.fields.get(&bits)?))
    });
    let Expr::Op { args, .. } = e else { return };
    match to {
        None => args.iter_mut().for_each(|a| take(a, moved)),
        Some((unit, _, 0)) => *args = vec![Expr::Var(unit)],
        Some((unit, width, to)) => {
            let by = Expr::bv(width, i128::from(to));
            *args = vec![Expr::op(Op::LShr, vec![Expr::Var(unit), by])];
        }
    }
}
