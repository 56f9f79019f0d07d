//! What a place of memory holds: at the entry, as an input says, and in an object that a run leaves.

use crate::interp::{self, Identity, Input, Program, Storage, Target, Value};
use crate::ir::{App, CType, Const, Function, Leaf, Op, Sort, Term, TermId, TermPool};
use std::sync::Arc;

/// What a place holds at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellValue {
    Const(Const),
    Target(Target),
}

/// The values of a cell in the two runs of a witness.
#[derive(Clone, Debug, PartialEq)]
pub struct CellChange {
    pub ty: CType,
    pub old: CellValue,
    pub new: CellValue,
}

/// What a run starts from.
pub(in crate::invariant) struct Entry<'a> {
    pub(in crate::invariant) pool: &'a TermPool,
    pub(in crate::invariant) input: &'a Input,
    pub(in crate::invariant) program: &'a Program,
    /// Bodies whose parameters the input is for; names of the first go first.
    pub(in crate::invariant) bodies: [&'a Arc<Function>; 2],
}

/// A value at entry: a number, or a place in an object.
pub(in crate::invariant) enum Known {
    Number(Const),
    Place(Identity, i64),
}

impl Entry<'_> {
    /// Where an address leads in the run.
    pub(in crate::invariant) fn place(&self, address: TermId) -> Option<(Identity, i64)> {
        match self.value(address, 0)? {
            Known::Place(identity, offset) => Some((identity, offset)),
            Known::Number(_) => None,
        }
    }

    fn value(&self, t: TermId, depth: usize) -> Option<Known> {
        if depth > 60 {
            return None;
        }
        match self.pool.get(t) {
            Term::Const(c) => Some(Known::Number(*c)),
            Term::Leaf(Leaf::SymbolAddr { symbol, .. }) => {
                Some(Known::Place(Identity::Global(symbol.clone()), 0))
            }
            Term::Leaf(Leaf::Param { name, .. }) => {
                let position = |f: &Arc<Function>| f.params.iter().position(|p| f.var(*p).name == *name);
                let [new, old] = self.bodies;
                // A name that only the older one has is a parameter that was renamed.
                let renamed = || position(old).filter(|_| old.params.len() == new.params.len());
                let i = position(new).or_else(renamed)?;
                self.given(self.input.arguments.get(i)?)
            }
            Term::App(App::Load { sort, bytes }, args) => {
                let &[memory, address] = args.as_slice() else { return None };
                if !matches!(self.pool.get(memory), Term::Leaf(Leaf::Memory)) {
                    return None;
                }
                let Known::Place(identity, offset) = self.value(address, depth + 1)? else { return None };
                self.at_entry(&identity, offset, *sort, *bytes)
            }
            Term::App(App::Op(op), args) => {
                let values: Option<Vec<Known>> = args.iter().map(|a| self.value(*a, depth + 1)).collect();
                applied(*op, &values?)
            }
            _ => None,
        }
    }

    fn given(&self, v: &Value) -> Option<Known> {
        match v {
            Value::Const(c) => Some(Known::Number(*c)),
            Value::Global { symbol, offset } => Some(Known::Place(Identity::Global(symbol.clone()), *offset)),
            Value::Pointer { object, offset } => {
                let o = self.input.objects.iter().find(|o| o.id == *object)?;
                let identity = match &o.storage {
                    Storage::Global(symbol) => Identity::Global(symbol.clone()),
                    _ => Identity::Input(*object),
                };
                Some(Known::Place(identity, *offset))
            }
            Value::Function(_) => None,
        }
    }

    pub(in crate::invariant) fn at_entry(
        &self,
        identity: &Identity,
        offset: i64,
        sort: Sort,
        bytes: u64,
    ) -> Option<Known> {
        let found = self.input.objects.iter().find(|o| match (&o.storage, identity) {
            (Storage::Global(symbol), Identity::Global(s)) => symbol == s,
            (_, Identity::Input(id)) => o.id == *id,
            _ => false,
        });
        let Some(o) = found else {
            let Identity::Global(symbol) = identity else { return None };
            return match held(&interp::initial_global(self.program, symbol)?, offset, sort, bytes)? {
                CellValue::Const(c) => Some(Known::Number(c)),
                CellValue::Target(Target::Object { identity, offset }) => {
                    Some(Known::Place(identity, offset))
                }
                CellValue::Target(_) => None,
            };
        };
        if let Some((_, v)) = o.pointers.iter().find(|(at, _)| i64::try_from(*at) == Ok(offset)) {
            return self.given(v);
        }
        scalar(&o.bytes, &o.undefined, offset, sort, bytes).map(Known::Number)
    }
}

fn applied(op: Op, args: &[Known]) -> Option<Known> {
    let step = |offset: i64, c: &Const, sign: i128| {
        let moved = i128::from(offset) + sign * c.signed()?;
        i64::try_from(moved).ok()
    };
    match (op, args) {
        (Op::Add, [Known::Place(id, at), Known::Number(c)] | [Known::Number(c), Known::Place(id, at)]) => {
            Some(Known::Place(id.clone(), step(*at, c, 1)?))
        }
        (Op::Sub, [Known::Place(id, at), Known::Number(c)]) => {
            Some(Known::Place(id.clone(), step(*at, c, -1)?))
        }
        _ => {
            let number = |k: &Known| if let Known::Number(c) = k { Some(*c) } else { None };
            let numbers: Option<Vec<Const>> = args.iter().map(number).collect();
            op.eval(&numbers?).ok().map(Known::Number)
        }
    }
}

/// Reads a final object.
pub(in crate::invariant) fn held(
    o: &interp::FinalObject,
    offset: i64,
    sort: Sort,
    bytes: u64,
) -> Option<CellValue> {
    if !o.live {
        return None;
    }
    if let Some(p) = o.pointers.iter().find(|p| i64::try_from(p.offset) == Ok(offset)) {
        return (p.target != Target::Dangling).then(|| CellValue::Target(p.target.clone()));
    }
    scalar(&o.bytes, &o.undefined, offset, sort, bytes).map(CellValue::Const)
}

fn scalar(bytes: &[u8], undefined: &[bool], offset: i64, sort: Sort, count: u64) -> Option<Const> {
    let start = usize::try_from(offset).ok()?;
    let range = start..start.checked_add(usize::try_from(count).ok()?)?;
    if undefined.get(range.clone()).is_some_and(|u| u.contains(&true)) || count > 16 {
        return None;
    }
    let bits = bytes.get(range)?.iter().rev().fold(0u128, |bits, b| bits << 8 | u128::from(*b));
    Const::from_bits(sort, bits)
}
