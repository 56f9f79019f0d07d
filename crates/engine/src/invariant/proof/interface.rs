//! What a function is to those that call it: parameters, result, what is known of it, and its calls.

use crate::invariant::candidate::templates::Candidate;
use crate::ir::{CType, Sort, TermId};
use crate::mvicfg::ClassId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of what a function returns.
pub(in crate::invariant) const RESULT: &str = "\\result";

/// Facts about a function's result, over the values of its parameters at the call.
#[derive(Debug)]
pub struct Summary {
    pub(in crate::invariant) params: Vec<Parameter>,
    pub(in crate::invariant) ret: CType,
    pub(in crate::invariant) facts: Vec<Candidate>,
}

/// A parameter of a summary.
#[derive(Clone, Debug)]
pub(in crate::invariant) struct Parameter {
    pub(in crate::invariant) name: String,
    pub(in crate::invariant) ty: CType,
    pub(in crate::invariant) sort: Sort,
}

impl Summary {
    /// Returns the facts as text, for tests and for people.
    pub fn texts(&self) -> Vec<String> {
        self.facts.iter().map(Candidate::text).collect()
    }
}

/// Summaries of the functions that a function calls, computed when they are asked for.
pub trait Summaries {
    /// Returns what is known of a function of the class's unit; `None`: nothing.
    fn summary(&self, class: ClassId, name: &str) -> Option<Arc<Summary>>;

    /// Whether what two classes call by a name is shown to do the same in both.
    fn is_same_callee(&self, _classes: [ClassId; 2], _name: &str) -> bool {
        false
    }
}

/// Terms and types of the parameters and the result.
pub(in crate::invariant) type Values = BTreeMap<String, (TermId, CType)>;

/// A call whose result is used.
pub(in crate::invariant) struct Site {
    /// Its place in the order of control.
    pub(super) order: u32,
    /// Condition of getting there.
    pub(super) reach: TermId,
    /// What the callee guarantees; `None`: it is the function itself.
    pub(super) summary: Option<Arc<Summary>>,
    /// The arguments by the callee's names, and the result.
    pub(super) values: Values,
}

impl Site {
    pub(in crate::invariant) fn is_own(&self) -> bool {
        self.summary.is_none()
    }
}
