//! Conditions of counted inputs in C, with the source's names.

use super::{Inputs, Member};
use crate::count::Counter;
use crate::ir::{TermId, TermPool};
use crate::quantify::{Agreement, Comparison, candidates};
use crate::semantics::c_text::{Named, Naming, render};

/// Longest text of a condition, in bytes.
const LONGEST: usize = 72;
/// Work of the counts that widen conditions.
const WORK: u64 = 300_000;

/// The names of a version's inputs.
pub(super) fn naming<'a>(m: &'a Member, pool: &mut TermPool) -> Naming<'a> {
    let mut naming = Naming { max_len: LONGEST, ..Naming::of_function(&m.unit, &m.function) };
    for c in candidates(&m.function, &m.unit, pool).into_iter().filter(|c| c.global.is_some()) {
        let ty = m.unit.global(&c.name).map(|g| g.ty.clone());
        naming.names_mut().extend(ty.map(|ty| (c.term, Named { text: c.name.to_string(), ty })));
    }
    naming
}

/// When two versions differ; none where they do not, and where it takes too many words.
pub(super) fn differ_when(
    found: &Comparison,
    m: &Member,
    inputs: &Inputs,
    pool: &mut TermPool,
    counter: &mut Counter,
) -> Option<String> {
    if found.differing == 0 {
        return None;
    }
    let mut work = WORK;
    let mut agreement = Agreement { pool, counter, candidates: &inputs.all, work: &mut work };
    let alternatives = agreement.widened(&found.pieces)?;
    let naming = naming(m, pool);
    let several = alternatives.len() > 1;
    let conjunction = |terms: &Vec<TermId>| {
        let texts: Vec<String> = terms.iter().map(|t| render(pool, *t, &naming)).collect();
        match (texts.len(), several) {
            (0, _) => "always".to_owned(),
            (1, _) | (_, false) => texts.join(" && "),
            _ => format!("({})", texts.join(" && ")),
        }
    };
    Some(alternatives.iter().map(conjunction).collect::<Vec<_>>().join(" || "))
}
