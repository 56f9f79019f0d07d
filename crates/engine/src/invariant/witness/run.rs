//! One input with what both versions did on it.

use crate::interp::{Identity, Input, ObjectInit, Outcome, Value};
use crate::ir::Unit;
use std::borrow::Cow;
use std::sync::Arc;

/// One input with what both versions did on it.
#[derive(Clone)]
pub struct Run {
    pub input: Input,
    /// The unit that the types of the input are of.
    pub unit: Option<Arc<Unit>>,
    pub old: Outcome,
    pub new: Outcome,
    /// First object that the two leave in different states, where both return.
    pub memory: Option<Identity>,
    /// The input means the same in both versions; otherwise nothing is compared.
    pub same_meaning: bool,
    /// Both versions were given the same numbers; otherwise the older one was called as a call of it
    /// converts them, or with zero for what only it takes.
    pub same_numbers: bool,
    /// What the older version got of the input, where it is not the same: its arguments, and its objects where
    /// types are laid out otherwise.
    pub(super) theirs: Option<Theirs>,
    /// What is undefined in one of the versions rests on a pointer whose type was guessed.
    pub(super) rests_on_guess: bool,
}

/// Arguments and objects of the older version.
#[derive(Clone)]
pub(super) struct Theirs {
    pub arguments: Vec<Value>,
    pub objects: Option<Vec<ObjectInit>>,
}

impl Theirs {
    pub fn put_into(&self, input: &Input) -> Input {
        let objects = self.objects.clone().unwrap_or_else(|| input.objects.clone());
        Input { arguments: self.arguments.clone(), objects, ..input.clone() }
    }
}

impl Run {
    /// The input as one side got it.
    pub fn input_of(&self, old: bool) -> Cow<'_, Input> {
        match &self.theirs {
            Some(theirs) if old => Cow::Owned(theirs.put_into(&self.input)),
            _ => Cow::Borrowed(&self.input),
        }
    }

    /// A run that a test made up.
    #[cfg(test)]
    pub(crate) fn made(input: Input, old: Outcome, new: Outcome) -> Run {
        let (same_meaning, same_numbers) = (true, true);
        let (memory, theirs, rests_on_guess) = (None, None, false);
        Run { input, unit: None, old, new, memory, same_meaning, same_numbers, theirs, rests_on_guess }
    }

    /// Whether the objects of the input are laid out otherwise in the older version, so that offsets and bytes
    /// of the two are not to be compared.
    pub fn is_relaid(&self) -> bool {
        self.theirs.as_ref().is_some_and(|theirs| theirs.objects.is_some())
    }
}

/// How a difference on a subject looks in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// Both runs are defined and differ.
    Defined,
    /// Exactly one of them does something undefined.
    Undefined,
}
