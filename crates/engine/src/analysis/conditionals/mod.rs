//! Conditional groups (`#if` to `#endif`) of a text, and which of their directives are a hunk's own.
//!
//! A group that lies in a hunk with all of its lines chooses between lines of the hunk; so does a branch (`#elif`,
//! `#else`) that lies in it with all of its lines. Which of them is taken is a matter of the configuration, and
//! what each does is told of its lines, under the macros that take it. What others do to lines outside of the hunk is
//! the matter of [`presence`].

pub(super) mod condition;
pub(super) mod presence;

use std::collections::BTreeMap;
use std::ops::Range;

/// What a directive of a condition is to a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// Its whole group is the hunk's.
    Group,
    /// Its branch is, which has this line.
    Branch(u32),
}

/// A directive of a condition, the numbers of its lines, and whether it begins, divides or ends a group.
struct Directive {
    lines: Range<u32>,
    word: String,
}

/// The directives of conditions in a range of lines that choose between lines of the range alone.
pub(super) fn own(text: &str, inside: Range<u32>) -> BTreeMap<u32, Own> {
    let mut found = BTreeMap::new();
    for group in groups(text) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let is_in = |lines: &Range<u32>| inside.contains(&lines.start) && lines.end <= inside.end;
        if is_in(&(first.lines.start..last.lines.end)) {
            found.extend(group.iter().flat_map(|d| d.lines.clone()).map(|line| (line, Own::Group)));
            continue;
        }
        for pair in group.windows(2) {
            let [branch, next] = pair else { continue };
            let body = branch.lines.end..next.lines.start;
            let divides = matches!(&*branch.word, "elif" | "else");
            if divides && !body.is_empty() && is_in(&(branch.lines.start..body.end)) {
                found.extend(branch.lines.clone().map(|line| (line, Own::Branch(body.start))));
            }
        }
    }
    found
}

/// The groups of a text: from `#if` to `#endif`, each with the directives between that are its own.
fn groups(text: &str) -> Vec<Vec<Directive>> {
    let (mut open, mut done): (Vec<Vec<Directive>>, Vec<Vec<Directive>>) = (Vec::new(), Vec::new());
    let mut from = None;
    let all: Vec<&str> = text.lines().collect();
    for (k, line) in all.iter().enumerate() {
        let number = k as u32 + 1;
        let start = *from.get_or_insert(number);
        if line.ends_with('\\') {
            continue;
        }
        from = None;
        let first = all.get(start as usize - 1).copied().unwrap_or_default();
        let Some(directive) = first.trim_start().strip_prefix('#') else { continue };
        let word: String = directive.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
        let directive = Directive { lines: start..number + 1, word };
        match &*directive.word {
            "if" | "ifdef" | "ifndef" => open.push(vec![directive]),
            "elif" | "else" | "elifdef" | "elifndef" => {
                if let Some(group) = open.last_mut() {
                    group.push(directive);
                }
            }
            "endif" => {
                if let Some(mut group) = open.pop() {
                    group.push(directive);
                    done.push(group);
                }
            }
            _ => {}
        }
    }
    done
}

#[cfg(test)]
mod tests {
    use super::{Own, own};
    use std::ops::Range;

    const TEXT: &str = "a\n#if A\nb\n#  if B && \\\n  C\nc\n#  endif\n#elif D\nd\n#else\ne\n#endif\nf\n";

    #[track_caller]
    fn check(inside: Range<u32>, expected: &[(u32, Own)]) {
        assert_eq!(own(TEXT, inside).into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_lies_in_a_hunk_is_its_own() {
        check(1..4, &[]);
        check(4..8, &[(4, Own::Group), (5, Own::Group), (7, Own::Group)]);
        check(5..8, &[]);
        check(8..10, &[(8, Own::Branch(9))]);
        check(10..12, &[(10, Own::Branch(11))]);
        check(8..9, &[]);
        let all = [2, 4, 5, 7, 8, 10, 12].map(|line| (line, Own::Group));
        check(1..14, &all);
    }
}
