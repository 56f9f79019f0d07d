//! A property, and how it stands in every class.

use crate::fact::{Method, Postcondition, Standing};
use crate::invariant::witness::run::Run;
use crate::ir::UndefinedKind;
use crate::mvicfg::ClassId;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is to hold at the function's exit, or, as a condition, at its entry.
#[derive(Clone, Debug)]
pub struct PinnedFact<F = Postcondition> {
    pub text: String,
    pub fact: F,
}

/// What a property is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PropertyKind {
    /// An `assert`: the function that it stands in (none: the one under analysis), and which of those
    /// with this text.
    Assertion {
        callee: Option<Arc<str>>,
        ordinal: usize,
    },
    Pinned,
    /// No harm of this kind. `own`: it stands in the function itself; `certain`: the input
    /// that shows it is one that the older version was made for, as far as it tells (`safety.rs`).
    Safety {
        event: Harm,
        own: bool,
        certain: bool,
    },
}

/// A property that fails in `to` and was not refuted in `from`.
pub struct Break {
    pub from: ClassId,
    pub to: ClassId,
    pub run: Run,
}

pub struct Property {
    pub kind: PropertyKind,
    pub text: String,
    /// By class, where the class has it.
    pub standing: BTreeMap<ClassId, Standing>,
    /// How that was found, by class where it is not open.
    pub settled_by: BTreeMap<ClassId, Method>,
    /// Lines of an assertion, by class.
    pub lines: BTreeMap<ClassId, u32>,
    pub breaks: Vec<Break>,
    /// Examples of a property that `from` does not have and that fails in `to`.
    pub starts: Vec<Break>,
    /// Examples of a property that fails in both, on which it held in `from`.
    pub wider: Vec<Break>,
    /// Examples of a property that fails in `from`, where what it stopped goes on in `to`: that does not have
    /// it, or does something undefined before it comes there.
    pub ends: Vec<Break>,
    /// By class that breaks it: a run that does, as far as one is at hand.
    pub refuting: BTreeMap<ClassId, Run>,
    /// Why a pinned fact could not be looked at in any class.
    pub problem: Option<String>,
}

/// What must not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Harm {
    Undefined(UndefinedKind),
    /// `abort()` is called.
    Abort,
    /// Memory that was allocated is alive when the function returns, and nothing leads to it.
    Leak,
}

impl Property {
    /// Whether a break is one for any caller.
    pub fn is_certain(&self) -> bool {
        !matches!(self.kind, PropertyKind::Safety { certain: false, .. })
    }

    pub(in crate::invariant) fn new(kind: PropertyKind, text: &str) -> Property {
        Property {
            kind,
            text: text.to_owned(),
            standing: BTreeMap::new(),
            settled_by: BTreeMap::new(),
            lines: BTreeMap::new(),
            breaks: Vec::new(),
            starts: Vec::new(),
            wider: Vec::new(),
            ends: Vec::new(),
            refuting: BTreeMap::new(),
            problem: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_events_of_doubtful_inputs_are_uncertain() {
        let is_certain = |certain| {
            let event = Harm::Undefined(UndefinedKind::OutOfBounds);
            Property::new(PropertyKind::Safety { event, own: true, certain }, "x").is_certain()
        };
        assert!(is_certain(true) && !is_certain(false));
        assert!(Property::new(PropertyKind::Pinned, "x").is_certain());
    }
}
