//! Facts as people read them: without the mark of a function of which not everything is known.
//!
//! `fopen*` in a fact is a function with the name of one of the library's that is not taken for it, say because
//! another version has a function of its own under that name. Ids and formats for programs keep the mark. People read
//! `fopen(path, "r") == 0`, and `unknown fopen(path, "r") == 0` only beside a function of that name without the mark.

use super::model::{Churn, Fact};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// What stands for the mark where the name alone would mean two functions.
const UNKNOWN: &str = "unknown ";

/// A fact that stands alone.
pub(super) fn alone(fact: &Fact) -> Cow<'_, str> {
    text(&fact.text)
}

/// A fact of a churn, whose facts are read beside each other.
pub(super) fn beside<'f>(fact: &'f Fact, churn: &Churn) -> Cow<'f, str> {
    let texts: Vec<&str> = churn.removed.iter().chain(&churn.added).map(|f| f.text.as_str()).collect();
    unmarked(&fact.text, &texts)
}

/// The text of a fact that stands alone.
pub fn text(text: &str) -> Cow<'_, str> {
    unmarked(text, &[text])
}

fn unmarked<'t>(text: &'t str, beside: &[&str]) -> Cow<'t, str> {
    let own = names(text);
    if !own.iter().any(|n| n.is_marked) {
        return Cow::Borrowed(text);
    }
    let all = beside.iter().flat_map(|t| names(t));
    let known: BTreeSet<&str> = all.filter(|n| !n.is_marked).map(|n| n.word).collect();
    let mut out = String::new();
    let mut copied = 0;
    for name in own.iter().filter(|n| n.is_marked) {
        out.push_str(&text[copied..name.at]);
        if known.contains(name.word) {
            out.push_str(UNKNOWN);
        }
        out.push_str(name.word);
        copied = name.at + name.word.len() + 1;
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// The name of a function that is called.
struct Name<'t> {
    word: &'t str,
    at: usize,
    is_marked: bool,
}

/// The names before `(`, with or without the mark, outside of quotes. Between a product's factors there are blanks.
fn names(text: &str) -> Vec<Name<'_>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (mut found, mut quote, mut escaped, mut start) = (Vec::new(), None, false, None);
    for (at, c) in text.char_indices() {
        match quote {
            Some(_) if escaped => escaped = false,
            Some(_) if c == '\\' => escaped = true,
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if is_word(c) => _ = start.get_or_insert(at),
            None => {
                let word = start.take().and_then(|start: usize| Some((start, text.get(start..at)?)));
                let is_marked = text[at..].starts_with("*(");
                if let Some((at, word)) = word.filter(|_| is_marked || c == '(') {
                    found.push(Name { word, at, is_marked });
                }
                quote = matches!(c, '"' | '\'').then_some(c);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{alone, beside};
    use crate::model::{Churn, Fact};

    fn fact(text: &str) -> Fact {
        Fact { text: text.to_owned(), ..Fact::default() }
    }

    #[test]
    fn a_mark_is_not_shown() {
        for (text, expected) in [
            ("\\result == (fopen*(path, \"r\") == 0)", "\\result == (fopen(path, \"r\") == 0)"),
            ("f(open*(g*(x), 2))", "f(open(g(x), 2))"),
            ("x * (a + b) == *p", "x * (a + b) == *p"),
            ("s == f(\"a*(b) \\\" c*(d)\", '\"', h*(1))", "s == f(\"a*(b) \\\" c*(d)\", '\"', h(1))"),
            ("p == (char *)(q)", "p == (char *)(q)"),
            ("", ""),
        ] {
            assert_eq!(alone(&fact(text)), expected);
        }
    }

    #[test]
    fn two_functions_of_one_name_are_told_apart() {
        let both = fact("fopen*(p) == fopen(p) + get*(p)");
        assert_eq!(alone(&both), "unknown fopen(p) == fopen(p) + get(p)");
        let (old, new) = (fact("\\result == fopen*(p)"), fact("\\result == fopen(p)"));
        let churn = Churn { removed: vec![old.clone()], added: vec![new.clone()], ..Churn::default() };
        assert_eq!(beside(&old, &churn), "\\result == unknown fopen(p)");
        assert_eq!(beside(&new, &churn), "\\result == fopen(p)");
        let churn = Churn { removed: vec![old.clone()], ..Churn::default() };
        assert_eq!(beside(&old, &churn), "\\result == fopen(p)");
    }
}
