//! What is compared, and how, where structures lie otherwise in another class: addresses of two classes are not, and
//! facts by what they say.

use crate::fact::Expression;
use crate::invariant::fact::Fact;
use crate::invariant::findings::{ClassFacts, FactKey};
use crate::invariant::function_analysis::FunctionAnalysis;

/// Why a subject stays open.
pub(in crate::invariant) const REASON: &str =
    "a type has another layout in the two versions, and no input shows a difference";

impl FunctionAnalysis<'_> {
    /// Whether the values of a subject are not evidently the same in two classes.
    pub(in crate::invariant) fn say_other(&self, a: &ClassFacts, b: &ClassFacts) -> bool {
        let texts = |s: &ClassFacts| s.facts.iter().map(|(_, f)| f.formula.clone()).collect::<Vec<_>>();
        match self.relaid && !(a.facts.is_empty() && b.facts.is_empty()) {
            true => texts(a) != texts(b),
            false => a.key != b.key,
        }
    }

    /// Whether two facts are the same: by their terms, or by what they say.
    pub(in crate::invariant) fn is_same_fact(
        &self,
        (k, f): &(FactKey, Fact),
        (l, g): (&FactKey, &Fact),
    ) -> bool {
        f.variables == g.variables && if self.relaid { f.formula == g.formula } else { k == l }
    }

    /// Takes out facts of memory that were not compared by what they say, where addresses of classes are not
    /// those of the same places.
    pub(in crate::invariant) fn keep_comparable(&mut self) {
        let speaks_of_memory = |f: &Fact| f.formula.any(&Expression::reads_memory);
        if self.relaid {
            let said = &self.said;
            let several = |f: &Fact| f.classes.iter().count() > 1;
            self.diff.invariants.retain(|f| !several(f) || !speaks_of_memory(f) || said.contains(f.text()));
        }
    }
}
