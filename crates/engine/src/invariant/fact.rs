//! Facts of one function, by class.

use crate::fact::Formula;
use crate::mvicfg::{ClassId, ClassSet};
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
    pub classes: ClassSet,
    /// Sorted names.
    pub assumptions: Vec<String>,
    /// Source lines that define it, by class.
    pub lines: BTreeMap<ClassId, Vec<u32>>,
    /// Iterations of each loop up to which it was proved, by class; without an entry: any number.
    pub bounds: BTreeMap<ClassId, u32>,
}

impl Fact {
    /// How it is written.
    pub fn text(&self) -> &str {
        self.formula.text()
    }

    /// Facts of single classes with those of one text as one.
    pub fn merged(facts: Vec<Fact>) -> Vec<Fact> {
        let mut merged: Vec<Fact> = Vec::new();
        for fact in facts {
            match merged.iter_mut().find(|f| f.formula == fact.formula) {
                Some(f) => f.absorb(fact),
                None => merged.push(fact),
            }
        }
        merged
    }

    /// Adds the classes of a fact that says the same. Of a class that both have, what holds of more iterations
    /// counts.
    fn absorb(&mut self, other: Fact) {
        for class in other.classes.iter() {
            let is_whole = |f: &Fact| f.classes.contains(class) && !f.bounds.contains_key(&class);
            if is_whole(self) || is_whole(&other) {
                self.bounds.remove(&class);
            } else if let Some(&theirs) = other.bounds.get(&class) {
                let own = self.bounds.entry(class).or_insert(theirs);
                *own = theirs.max(*own);
            }
        }
        self.classes = self.classes.union(&other.classes);
        self.lines.extend(other.lines);
        self.assumptions.extend(other.assumptions);
        self.assumptions.sort();
        self.assumptions.dedup();
    }

    /// The fact of some of its classes.
    pub fn of_classes(&self, is_one: impl Fn(ClassId) -> bool) -> Fact {
        let mut fact = self.clone();
        fact.classes = self.classes.iter().filter(|&c| is_one(c)).collect();
        fact.lines.retain(|&c, _| is_one(c));
        fact.bounds.retain(|c, _| is_one(*c));
        fact
    }

    /// The fact under further assumptions.
    pub(super) fn assuming(mut self, more: &BTreeSet<String>) -> Fact {
        self.assumptions.extend(more.iter().cloned());
        self.assumptions.sort();
        self.assumptions.dedup();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(text: &str, class: usize, line: u32, assumptions: &[&str]) -> Fact {
        let class = ClassId::new(class);
        Fact {
            template: Template::Range,
            variables: vec!["x".into()],
            formula: Formula::read(text),
            c: None,
            classes: ClassSet::single(class),
            assumptions: assumptions.iter().map(|a| (*a).to_owned()).collect(),
            lines: BTreeMap::from([(class, vec![line])]),
            bounds: BTreeMap::new(),
        }
    }

    #[test]
    fn facts_of_one_text_are_one_fact_of_all_their_classes() {
        let all =
            vec![fact("x >= 0", 0, 3, &["b"]), fact("x >= 1", 0, 4, &[]), fact("x >= 0", 2, 5, &["a", "b"])];
        let merged = Fact::merged(all);
        let texts: Vec<&str> = merged.iter().map(Fact::text).collect();
        assert_eq!(texts, ["x >= 0", "x >= 1"]);
        assert_eq!(merged[0].classes, [0, 2].map(ClassId::new).into_iter().collect());
        assert_eq!(
            merged[0].lines,
            [(0, vec![3]), (2, vec![5])].map(|(c, lines)| (ClassId::new(c), lines)).into()
        );
        assert_eq!(merged[0].assumptions, ["a", "b"]);
        assert_eq!(merged[1].classes, ClassSet::single(ClassId::new(0)));
    }

    /// What is proved of any number of iterations in one class is still bounded in another.
    #[test]
    fn bounds_stay_with_their_classes() {
        let bounded = |class: usize, k: u32| Fact {
            bounds: BTreeMap::from([(ClassId::new(class), k)]),
            ..fact("x >= 0", class, 3, &[])
        };
        let all = vec![fact("x >= 0", 0, 3, &[]), bounded(1, 8), bounded(0, 2), bounded(1, 5), bounded(2, 4)];
        let merged = Fact::merged(all);
        let [one, two] = [1, 2].map(ClassId::new);
        assert_eq!(merged[0].bounds, BTreeMap::from([(one, 8), (two, 4)]));
        let some = merged[0].of_classes(|c| c > one);
        assert_eq!((some.classes, some.bounds), (ClassSet::single(two), BTreeMap::from([(two, 4)])));
        let merged = Fact::merged(vec![bounded(1, 8), fact("x >= 0", 1, 3, &[])]);
        assert_eq!(merged[0].bounds, BTreeMap::new());
    }

    #[test]
    fn further_assumptions_are_listed_once_and_in_order() {
        let more = BTreeSet::from(["a".to_owned(), "c".to_owned()]);
        assert_eq!(fact("x >= 0", 0, 3, &["b", "c"]).assuming(&more).assumptions, ["a", "b", "c"]);
    }

    #[test]
    fn every_shape_has_a_word_of_its_own() {
        use Template::*;
        let all =
            [Constant, Range, Set, Comparison, Linear, Congruence, NonNull, Functional, Event, Typestate];
        let words: BTreeSet<&str> = all.iter().map(|t| t.name()).collect();
        assert_eq!(words.len(), all.len());
    }
}
