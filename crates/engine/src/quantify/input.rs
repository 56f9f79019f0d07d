//! What of a function is an input: its parameters that are integers or floats, and such globals that it or what it
//! calls in its unit reads.

use super::text::Byte;
use crate::count::{Decimal, Interval, Range};
use crate::ir::{CType, Callee, Expr, Function, Instr, Leaf, Object, Sort, TermId, TermPool, Unit};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Between the values of a float of which no domain is given: all sums and most products of them are exact.
const STEP: &str = "0.5";

/// Something that may be an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub name: Arc<str>,
    /// The leaf that stands for it in conditions.
    pub term: TermId,
    /// Of a global: its symbol and size in bytes.
    pub global: Option<(Arc<str>, u64)>,
    /// Of a string: which byte.
    pub byte: Option<Byte>,
    /// Every value of its type; nothing of a float's.
    pub whole: Range,
    pub is_truth_value: bool,
    /// Of a float: its sort.
    pub float: Option<Sort>,
}

impl Candidate {
    /// The domain where none is given: small, and stated in the output.
    pub fn usual(&self) -> Interval {
        if self.float.is_some() {
            return Interval { step: Decimal::parse(STEP), ..Interval::from((-10, 9)) };
        }
        if self.byte.is_some() {
            return self.whole.into();
        }
        match (self.is_truth_value, self.whole.0 < 0) {
            (true, _) => (0, 1).into(),
            (false, true) => (-10, 9).into(),
            (false, false) => (0, 19).into(),
        }
    }
}

/// The function and what it calls, directly or not, that its unit defines.
pub fn followed<'a>(f: &'a Function, unit: &'a Unit) -> Vec<&'a Function> {
    let mut found = vec![f];
    let mut next = 0;
    while let Some(g) = found.get(next).copied() {
        next += 1;
        for node in &g.nodes {
            if let Instr::Call { callee: Callee::Direct(name), .. } = &node.instr
                && let Some(h) = unit.callee(name)
                && found.iter().all(|known| known.name != h.name)
            {
                found.push(h);
            }
        }
    }
    found
}

/// The candidates of a function, parameters first. The globals of a program's `main` begin as written.
pub fn candidates(f: &Function, unit: &Unit, pool: &mut TermPool) -> Vec<Candidate> {
    let mut found = Vec::new();
    for p in &f.params {
        let var = f.var(*p);
        if let (Some(sort), Some(kind)) = (var.sort, kind(&var.ty, var.sort)) {
            let term = pool.leaf(Leaf::Param { name: var.name.clone(), sort });
            found.push(kind.candidate(var.name.clone(), term, None));
        }
    }
    if &*f.name == "main" {
        return found;
    }
    let mut seen: BTreeSet<Arc<str>> = BTreeSet::new();
    for node in followed(f, unit).into_iter().flat_map(|g| &g.nodes) {
        let Instr::Load { addr: Expr::Addr(Object::Global(symbol)), access, .. } = &node.instr else {
            continue;
        };
        let Some(global) = unit.global(symbol) else { continue };
        let Some(kind) = kind(&global.ty, Some(access.sort)) else { continue };
        let is_all = access.bytes == global.size && !access.volatile;
        if global.is_known_constant() || !is_all || !seen.insert(symbol.clone()) {
            continue;
        }
        // No parameter's name has a dot in front.
        let leaf = Leaf::Param { name: format!(".{symbol}").into(), sort: access.sort };
        let (term, global) = (pool.leaf(leaf), Some((symbol.clone(), global.size)));
        found.push(kind.candidate(symbol.clone(), term, global));
    }
    found
}

/// What kind of input a type makes.
enum Kind {
    /// Of these values.
    Integer(Range),
    Truth,
    Float(Sort),
}

impl Kind {
    fn candidate(self, name: Arc<str>, term: TermId, global: Option<(Arc<str>, u64)>) -> Candidate {
        let (whole, is_truth_value, float) = match self {
            Kind::Integer(whole) => (whole, false, None),
            Kind::Truth => ((0, 1), true, None),
            Kind::Float(sort) => ((0, 0), false, Some(sort)),
        };
        Candidate { name, term, global, byte: None, whole, is_truth_value, float }
    }
}

fn kind(ty: &CType, sort: Option<Sort>) -> Option<Kind> {
    match (ty, sort?) {
        (CType::Bool, Sort::Bv(..=64)) => Some(Kind::Truth),
        (CType::Int { signed: true, .. }, Sort::Bv(width @ ..=64)) => {
            Some(Kind::Integer((-(1 << (width - 1)), (1 << (width - 1)) - 1)))
        }
        (CType::Int { signed: false, .. }, Sort::Bv(width @ ..=64)) => {
            Some(Kind::Integer((0, (1 << width) - 1)))
        }
        (CType::Float(_), sort @ (Sort::F32 | Sort::F64)) => Some(Kind::Float(sort)),
        _ => None,
    }
}
