//! What of a function is an input: its integer parameters and the integer globals that it reads.

use crate::count::Range;
use crate::ir::{App, CType, Expr, Function, Instr, Leaf, Object, Sort, TermId, TermPool, Unit};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Something that may be an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub name: Arc<str>,
    /// The leaf that stands for it in conditions.
    pub term: TermId,
    /// Of a global: what reads it from the memory at entry.
    pub load: Option<TermId>,
    /// Every value of its type.
    pub whole: Range,
    pub is_truth_value: bool,
}

impl Candidate {
    /// The domain where none is given: small, and stated in the output.
    pub fn usual(&self) -> Range {
        match (self.is_truth_value, self.whole.0 < 0) {
            (true, _) => (0, 1),
            (false, true) => (-10, 9),
            (false, false) => (0, 19),
        }
    }
}

/// The candidates of a function, parameters first.
pub fn candidates(f: &Function, unit: &Unit, pool: &mut TermPool) -> Vec<Candidate> {
    let mut found = Vec::new();
    for p in &f.params {
        let var = f.var(*p);
        if let (Some(sort), Some((whole, is_truth_value))) = (var.sort, whole(&var.ty, var.sort)) {
            let term = pool.leaf(Leaf::Param { name: var.name.clone(), sort });
            found.push(Candidate { name: var.name.clone(), term, load: None, whole, is_truth_value });
        }
    }
    let mut seen: BTreeSet<Arc<str>> = BTreeSet::new();
    for node in &f.nodes {
        let Instr::Load { addr: Expr::Addr(Object::Global(symbol)), access, .. } = &node.instr else {
            continue;
        };
        let is_constant = unit.global(symbol).is_some_and(|g| g.is_known_constant());
        let Some((whole, is_truth_value)) = whole(&access.ty, Some(access.sort)) else { continue };
        if is_constant || access.volatile || !seen.insert(symbol.clone()) {
            continue;
        }
        let bits = unit.data_model.pointer_bits();
        let (memory, address) =
            (pool.leaf(Leaf::Memory), pool.leaf(Leaf::SymbolAddr { symbol: symbol.clone(), bits }));
        let load = pool.app(App::Load { sort: access.sort, bytes: access.bytes }, &[memory, address]);
        // No parameter's name has a dot in front.
        let leaf = Leaf::Param { name: format!(".{symbol}").into(), sort: access.sort };
        let term = pool.leaf(leaf);
        found.push(Candidate { name: symbol.clone(), term, load: Some(load), whole, is_truth_value });
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
