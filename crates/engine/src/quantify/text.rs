//! Strings as inputs: a parameter that points to a string of a bounded length.
//!
//! The string's bytes are inputs of their own, `s[0]`, `s[1]`, ...; behind the end of a shorter one all are 0, so each
//! string is one input of the domain. The object ends with the string's terminator: an access behind it is out of
//! bounds, whatever the longest string has there.

use super::input::Candidate;
use crate::count::Range;
use crate::ir::{CType, Function, Leaf, Sort, TermPool};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of the longest string: a domain has less than `2^120` inputs.
pub const LONGEST: i128 = 14;

/// A byte of a string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Byte {
    /// The parameter that points to it.
    pub of: Arc<str>,
    pub at: u64,
}

/// The name under which what a path leaves in a string is told apart from globals.
pub(super) fn symbol(parameter: &str) -> Arc<str> {
    format!("*{parameter}").into()
}

/// Parameters that point to bytes.
pub fn pointers(f: &Function) -> Vec<Arc<str>> {
    let is_text = |ty: &CType| match ty {
        CType::Pointer(to) => matches!(**to, CType::Int { bits: 8, .. }),
        _ => false,
    };
    let of = f.params.iter().map(|p| f.var(*p)).filter(|v| is_text(&v.ty) && !v.in_memory);
    of.map(|v| v.name.clone()).collect()
}

/// The bytes of the strings that have a range of lengths.
pub fn bytes(f: &Function, lengths: &BTreeMap<String, Range>, pool: &mut TermPool) -> Vec<Candidate> {
    let mut found = Vec::new();
    for of in pointers(f) {
        let Some((_, high)) = lengths.get(&*of) else { continue };
        for at in 0..u64::try_from((*high).max(1)).unwrap_or(1) {
            let name: Arc<str> = format!("{of}[{at}]").into();
            let term = pool.leaf(Leaf::Param { name: name.clone(), sort: Sort::Bv(8) });
            let byte = Some(Byte { of: of.clone(), at });
            let whole = (0, 255);
            found.push(Candidate {
                name,
                term,
                global: None,
                byte,
                whole,
                is_truth_value: false,
                float: None,
            });
        }
    }
    found
}

/// The ranges of the bytes of all strings of a range of lengths, a row for each length.
pub fn rows((low, high): Range) -> Vec<Vec<Range>> {
    let last = high.max(1);
    let row = |length: i128| (0..last).map(|at| if at < length { (1, 255) } else { (0, 0) }).collect();
    (low..=high).map(row).collect()
}
