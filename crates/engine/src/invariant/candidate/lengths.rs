//! Facts about the lengths of strings: `\result == strlen(s)`.
//!
//! The length of a string is the first index at which it holds a null character. That all characters
//! before the result are others, and that there is one at the result, are facts that loops give; together
//! they say what a reader knows by name, and the first alone that the string is no shorter.

use crate::fact::{Binary, Expression, Formula, Kind as FactKind};
use crate::invariant::fact::{Fact, Template};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::point::Kind;

impl FunctionAnalysis<'_> {
    /// Adds what facts about characters say of lengths, in place of them unless all facts are asked for.
    pub(in crate::invariant) fn lengths(&mut self) {
        if self.diff.point.kind != Kind::Exit {
            return;
        }
        let mut at = 0;
        while let Some(first) = self.diff.invariants.get(at) {
            at += 1;
            let Some(string) = string_of(&first.formula) else { continue };
            let end = Formula::read(format!("{string}[\\result] == '\\0'"));
            let first = first.clone();
            let is_end =
                |f: &Fact| f.formula == end && f.classes == first.classes && f.bounds == first.bounds;
            let last = self.diff.invariants.iter().position(is_end);
            let relation = if last.is_some() { "==" } else { "<=" };
            let mut fact = first.clone();
            fact.template = Template::Comparison;
            fact.formula = Formula::read(format!("\\result {relation} strlen({string})"));
            fact.c = None;
            if let Some(other) = last.and_then(|l| self.diff.invariants.get(l)).cloned() {
                fact = fact.assuming(&other.assumptions.into_iter().collect());
            }
            if !self.task.options.all {
                let told = |f: &Fact| f.formula == first.formula || last.is_some() && f.formula == end;
                self.diff.invariants.retain(|f| !told(f));
                at = 0;
            }
            self.diff.invariants.push(fact);
        }
    }
}

/// The string none of whose characters before the result is null, if a fact says so:
/// `\forall integer k; 0 <= k && k < \result ==> s[k] != '\0'`.
fn string_of(fact: &Formula) -> Option<&Expression> {
    let FactKind::ForAll(index, body) = &fact.always()?.kind else { return None };
    let FactKind::Binary(Binary::Implies, range, claim) = &body.kind else { return None };
    let is_index = |e: &Expression| matches!(&e.kind, FactKind::Name(n) if n == index);
    let [first, last] = range.chain(Binary::And)[..] else { return None };
    let from_start =
        matches!(first.comparison(), Some((Binary::Le, zero, k)) if zero.number() == Some(0) && is_index(k));
    let to_result = matches!(last.comparison(), Some((Binary::Lt, k, end)) if is_index(k) && end.kind == FactKind::Result);
    let (Binary::Ne, element, null) = claim.comparison()? else { return None };
    let FactKind::Index(string, k) = &element.kind else { return None };
    let is_place = |e: &Expression| matches!(e.kind, FactKind::Name(_) | FactKind::Member { .. });
    let plain = !string.any(&|e| !is_place(e));
    let whole = from_start && to_result && is_index(k) && null.kind == FactKind::Character(0);
    (whole && plain).then_some(string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_prefix_is_a_length() {
        for (text, expected) in [
            ("\\forall integer k; 0 <= k && k < \\result ==> s[k] != '\\0'", Some("s")),
            ("\\forall integer k; 0 <= k && k < \\result ==> p->s[k] != '\\0'", Some("p->s")),
            ("\\forall integer k; 1 <= k && k < \\result ==> s[k] != '\\0'", None),
            ("\\forall integer k; 0 <= k && k < n ==> s[k] != '\\0'", None),
            ("\\forall integer k; 0 <= k && k < \\result ==> s[k] != 'x'", None),
            ("\\result == 1 ==> (\\forall integer k; 0 <= k && k < n ==> s[k] != '\\0')", None),
        ] {
            let found = string_of(&Formula::read(text)).map(ToString::to_string);
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
