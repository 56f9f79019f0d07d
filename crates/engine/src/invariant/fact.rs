//! Facts of one function, by class.

use crate::fact::Formula;
use crate::mvicfg::VersionSet;
use std::collections::{BTreeMap, BTreeSet};

/// Shape of a fact (contract, `template`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Template {
    Constant,
    Range,
    Set,
    Comparison,
    Linear,
    Congruence,
    NonNull,
    Functional,
    Event,
    Typestate,
}

impl Template {
    pub fn name(self) -> &'static str {
        match self {
            Template::Constant => "constant",
            Template::Range => "range",
            Template::Set => "set",
            Template::Comparison => "comparison",
            Template::Linear => "linear",
            Template::Congruence => "congruence",
            Template::NonNull => "non-null",
            Template::Functional => "functional",
            Template::Event => "event",
            Template::Typestate => "typestate",
        }
    }
}

/// A condition at a point, with the classes in which it was proved.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    pub template: Template,
    /// Sorted names of the subjects.
    pub variables: Vec<String>,
    /// What it says.
    pub formula: Formula,
    /// Plain C, where C can say it.
    pub c: Option<String>,
    pub classes: VersionSet,
    /// Sorted names.
    pub assumptions: Vec<String>,
    /// Source lines that define it, by class.
    pub lines: BTreeMap<usize, Vec<u32>>,
    /// Iterations of each loop up to which it was proved, by class; without an entry: any number.
    pub bounds: BTreeMap<usize, u32>,
}

impl Fact {
    /// How it is written.
    pub fn text(&self) -> &str {
        self.formula.text()
    }

    /// Facts of single classes with those of one text as one.
    pub(super) fn merged(facts: Vec<Fact>) -> Vec<Fact> {
        let mut merged: Vec<Fact> = Vec::new();
        for fact in facts {
            match merged.iter_mut().find(|f| f.formula == fact.formula) {
                Some(f) => {
                    f.classes = f.classes.union(&fact.classes);
                    f.lines.extend(fact.lines);
                    f.assumptions.extend(fact.assumptions);
                    f.assumptions.sort();
                    f.assumptions.dedup();
                }
                None => merged.push(fact),
            }
        }
        merged
    }

    /// The fact under further assumptions.
    pub(super) fn assuming(mut self, more: &BTreeSet<String>) -> Fact {
        self.assumptions.extend(more.iter().cloned());
        self.assumptions.sort();
        self.assumptions.dedup();
        self
    }
}
