//! Grafts: parents that `info/grafts` gives to commits in place of their own (gitrepository-layout).
//!
//! Git applies them when it walks history, not when it prints an object, so whoever reads commits as
//! objects has to ask here. Replace references need nothing: git reads the other object itself.

use std::collections::BTreeMap;

/// Parents by commit, as hexadecimal object ids.
pub type Grafts = BTreeMap<String, Vec<String>>;

/// Reads lines `commit parent...`; passes over comments and what is no list of object ids, as git does.
pub fn parse(text: &str) -> Grafts {
    let is_id = |word: &&str| matches!(word.len(), 40 | 64) && word.bytes().all(|b| b.is_ascii_hexdigit());
    let graft = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ids = words.iter().all(is_id).then_some(words)?;
        let (commit, parents) = ids.split_first()?;
        let lower = |id: &&str| id.to_ascii_lowercase();
        Some((lower(commit), parents.iter().map(lower).collect()))
    };
    text.lines().filter(|line| !line.starts_with('#')).filter_map(graft).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_commits_with_their_parents() {
        let id = |c: &str| c.repeat(40);
        let (a, b, c) = (id("a"), id("B"), id("c"));
        let grafts = parse(&format!("# note\n{a} {b} {c}\n{c}\nnonsense {a}\n\n{b} short\n"));
        assert_eq!(grafts.len(), 2);
        assert_eq!(grafts[&a], [b.to_lowercase(), c.clone()]);
        assert!(grafts[&c].is_empty());
    }
}
