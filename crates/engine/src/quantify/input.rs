//! What of a function is an input: its integer parameters, and the integer globals that it or what it calls
//! in its unit reads.

use super::text::Byte;
use crate::count::Range;
use crate::ir::{CType, Callee, Expr, Function, Instr, Leaf, Object, Sort, TermId, TermPool, Unit};
use std::collections::BTreeSet;
use std::sync::Arc;

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
    /// Every value of its type.
    pub whole: Range,
    pub is_truth_value: bool,
}

impl Candidate {
    /// The domain where none is given: small, and stated in the output.
    pub fn usual(&self) -> Range {
        if self.byte.is_some() {
            return self.whole;
        }
        match (self.is_truth_value, self.whole.0 < 0) {
            (true, _) => (0, 1),
            (false, true) => (-10, 9),
            (false, false) => (0, 19),
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
        if let (Some(sort), Some((whole, is_truth_value))) = (var.sort, whole(&var.ty, var.sort)) {
            let term = pool.leaf(Leaf::Param { name: var.name.clone(), sort });
            let name = var.name.clone();
            found.push(Candidate { name, term, global: None, byte: None, whole, is_truth_value });
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
        let Some((whole, is_truth_value)) = whole(&global.ty, Some(access.sort)) else { continue };
        let is_all = access.bytes == global.size && !access.volatile;
        if global.is_known_constant() || !is_all || !seen.insert(symbol.clone()) {
            continue;
        }
        // No parameter's name has a dot in front.
        let leaf = Leaf::Param { name: format!(".{symbol}").into(), sort: access.sort };
        let (term, global) = (pool.leaf(leaf), Some((symbol.clone(), global.size)));
        let name = symbol.clone();
        found.push(Candidate { name, term, global, byte: None, whole, is_truth_value });
    }
    found
}

/// All values of an integer type, and whether they are truth values.
fn whole(ty: &CType, sort: Option<Sort>) -> Option<(Range, bool)> {
    let Some(Sort::Bv(width)) = sort.filter(|s| s.bits().is_some_and(|w| w <= 64)) else { return None };
    match ty {
        CType::Bool => Some(((0, 1), true)),
        CType::Int { signed: true, .. } => Some(((-(1 << (width - 1)), (1 << (width - 1)) - 1), false)),
        CType::Int { signed: false, .. } => Some(((0, (1 << width) - 1), false)),
        _ => None,
    }
}
