//! Facts about the lengths of strings: `\result == strlen(s)`.
//!
//! The length of a string is the first index at which it holds a null character. That all characters
//! before the result are others, and that there is one at the result, are facts that loops give; together
//! they say what a reader knows by name, and the first alone that the string is no shorter.

use super::consolidate::Engine;
use super::fact::{Fact, Template};
use super::point::Kind;

/// What comes before the array in the fact that none of its first characters is null, and behind it.
const NONE_BEFORE: &str = "\\forall integer k; 0 <= k && k < \\result ==> ";
const NOT_NULL: &str = "[k] != '\\0'";

impl Engine<'_> {
    /// Adds what facts about characters say of lengths, in place of them unless all facts are asked for.
    pub(super) fn lengths(&mut self) {
        if self.diff.point.kind != Kind::Exit {
            return;
        }
        let mut at = 0;
        while let Some(first) = self.diff.invariants.get(at) {
            at += 1;
            let Some(string) = string_of(&first.text).map(str::to_owned) else { continue };
            let end = format!("{string}[\\result] == '\\0'");
            let Some(first) = self.diff.invariants.get(at - 1).cloned() else { continue };
            let is_end = |f: &Fact| f.text == end && f.classes == first.classes && f.bounds == first.bounds;
            let last = self.diff.invariants.iter().position(is_end);
            let relation = if last.is_some() { "==" } else { "<=" };
            let mut fact = first.clone();
            fact.template = Template::Comparison;
            fact.text = format!("\\result {relation} strlen({string})");
            fact.c = None;
            if let Some(other) = last.and_then(|l| self.diff.invariants.get(l)).cloned() {
                fact = fact.assuming(&other.assumptions.into_iter().collect());
            }
            if !self.task.options.all {
                let told = [Some(&first.text), last.map(|_| &end)];
                self.diff.invariants.retain(|f| !told.contains(&Some(&f.text)));
                at = 0;
            }
            self.diff.invariants.push(fact);
        }
    }
}

/// The string none of whose characters before the result is null, if a fact says so.
fn string_of(text: &str) -> Option<&str> {
    let string = text.strip_prefix(NONE_BEFORE)?.strip_suffix(NOT_NULL)?;
    (!string.contains(['[', '(', ' '])).then_some(string)
}

#[cfg(test)]
mod tests {
    use super::string_of;

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
            assert_eq!(string_of(text), expected, "{text}");
        }
    }
}
