//! Which assertion of the newer version was which of the older one: by text first, then by position,
//! similarity and variables.

use crate::symex::Site;
use std::collections::BTreeSet;

/// How an assertion got into the newer version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    Unchanged,
    Modified,
    New,
    Removed,
}

/// How alike two texts must be to be two versions of one assertion.
const LEAST_ALIKE: f64 = 0.5;

/// How alike two are that have a conjunct in common.
const SHARED: f64 = 0.8;

/// Returns pairs of indices, in the order of the newer version, removed ones last. `same` says whether
/// two assertions say the same.
pub(super) fn pair(
    old: &[Site],
    new: &[Site],
    same: &dyn Fn(usize, usize) -> bool,
) -> Vec<(Match, Option<usize>, Option<usize>)> {
    let mut partner: Vec<Option<usize>> = vec![None; new.len()];
    let mut taken = BTreeSet::new();
    for (j, n) in new.iter().enumerate() {
        let by_text = |i: &usize| old[*i].text == n.text && old[*i].ordinal == n.ordinal;
        let by_meaning = |i: &usize| same(*i, j);
        let free = |i: &usize| !taken.contains(i);
        let found = (0..old.len()).filter(free).find(by_text);
        if let Some(i) = found.or_else(|| (0..old.len()).filter(free).find(by_meaning)) {
            partner[j] = Some(i);
            taken.insert(i);
        }
    }
    let unchanged = partner.clone();
    for (i, j) in alike(old, new, &taken, &unchanged) {
        partner[j] = Some(i);
        taken.insert(i);
    }
    let mut pairs: Vec<_> = (0..new.len())
        .map(|j| match (unchanged[j], partner[j]) {
            (Some(i), _) => (Match::Unchanged, Some(i), Some(j)),
            (None, Some(i)) => (Match::Modified, Some(i), Some(j)),
            (None, None) => (Match::New, None, Some(j)),
        })
        .collect();
    pairs.extend((0..old.len()).filter(|i| !taken.contains(i)).map(|i| (Match::Removed, Some(i), None)));
    pairs
}

/// The pairs of what is left that are most alike altogether, in the same order in both versions.
fn alike(old: &[Site], new: &[Site], taken: &BTreeSet<usize>, done: &[Option<usize>]) -> Vec<(usize, usize)> {
    let left: Vec<usize> = (0..old.len()).filter(|i| !taken.contains(i)).collect();
    let right: Vec<usize> = (0..new.len()).filter(|j| done[*j].is_none()).collect();
    // best[a][b]: the most that the pairs from left[a..] and right[b..] can be alike.
    let mut best = vec![vec![0.0f64; right.len() + 1]; left.len() + 1];
    let worth = |a: usize, b: usize| {
        let (o, n) = (&old[left[a]], &new[right[b]]);
        let alike = strsim::normalized_levenshtein(&o.text, &n.text);
        let alike =
            if conjuncts(&o.text).is_disjoint(&conjuncts(&n.text)) { alike } else { alike.max(SHARED) };
        let alike = if names(&o.text) == names(&n.text) { alike.max(LEAST_ALIKE) } else { alike };
        (alike >= LEAST_ALIKE && !names(&o.text).is_disjoint(&names(&n.text))).then_some(alike)
    };
    for a in (0..left.len()).rev() {
        for b in (0..right.len()).rev() {
            let paired = worth(a, b).map_or(0.0, |w| w + best[a + 1][b + 1]);
            best[a][b] = paired.max(best[a + 1][b]).max(best[a][b + 1]);
        }
    }
    let (mut a, mut b, mut pairs) = (0, 0, Vec::new());
    while a < left.len() && b < right.len() {
        match worth(a, b) {
            Some(w) if w + best[a + 1][b + 1] >= best[a][b] => {
                pairs.push((left[a], right[b]));
                (a, b) = (a + 1, b + 1);
            }
            _ if best[a + 1][b] >= best[a][b] => a += 1,
            _ => b += 1,
        }
    }
    pairs
}

/// What stands between `&&`, whatever else there is.
fn conjuncts(text: &str) -> BTreeSet<&str> {
    text.split("&&").map(str::trim).collect()
}

/// The identifiers of a text.
fn names(text: &str) -> BTreeSet<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|w| w.starts_with(|c: char| c.is_alphabetic() || c == '_')).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expects one letter for each pair: `=`, `~`, `+`, `-` with the old index, if any.
    #[track_caller]
    fn check(old: &[&str], new: &[&str], expected: &str) {
        let site = |text: &&str| Site { text: (*text).to_owned(), line: 0, ordinal: 0 };
        let (old, new): (Vec<Site>, Vec<Site>) =
            (old.iter().map(site).collect(), new.iter().map(site).collect());
        let pairs = pair(&old, &new, &|_, _| false);
        let text = pairs.iter().map(|(m, i, _)| {
            let mark = match m {
                Match::Unchanged => "=",
                Match::Modified => "~",
                Match::New => "+",
                Match::Removed => "-",
            };
            format!("{mark}{}", i.map(|i| i.to_string()).unwrap_or_default())
        });
        assert_eq!(text.collect::<Vec<_>>().join(" "), expected);
    }

    #[test]
    fn assertions_are_matched() {
        check(&["a > 0", "b > 0"], &["b > 0", "a > 0"], "=1 =0");
        check(&["a <= b ? m == a : 1"], &["a < b ? m == a : 1", "b < a ? m == b : 1"], "~0 +");
        check(&["x > 0 && y > 0", "z"], &["x >= 0 && y > 0"], "~0 -1");
        check(&["p->len < 10"], &["total == sum(q)"], "+ -0");
        check(&["x > 0"], &["x > 0 && total != 9 && total < limit"], "~0");
        // In the same order, not the most alike pair first.
        check(&["A + B >= C", "A + C >= B"], &["A + B <= C", "A + C <= B"], "~0 ~1");
    }

    #[test]
    fn one_that_says_the_same_is_unchanged_whatever_its_text() {
        let site = |text: &str| Site { text: text.to_owned(), line: 0, ordinal: 0 };
        let (old, new) = ([site("a > 0"), site("q")], [site("0 < a"), site("r")]);
        let pairs = pair(&old, &new, &|i, j| (i, j) == (0, 0));
        assert_eq!(pairs[0], (Match::Unchanged, Some(0), Some(0)));
    }

    #[test]
    fn of_equal_texts_the_occurrence_tells_which_is_which() {
        let site = |ordinal| Site { text: "a > 0".to_owned(), line: 0, ordinal };
        let pairs = pair(&[site(0), site(1)], &[site(1), site(0)], &|_, _| false);
        assert_eq!(pairs, [(Match::Unchanged, Some(1), Some(0)), (Match::Unchanged, Some(0), Some(1))]);
    }

    #[test]
    fn what_has_no_name_in_common_is_no_version_of_it() {
        check(&["aa > 0"], &["bb > 0"], "+ -0");
        check(&["1 > 0"], &["2 > 0"], "+ -0");
        check(&[], &["x"], "+");
        check(&["x"], &[], "-0");
    }

    #[test]
    fn identifiers_are_what_begins_with_a_letter() {
        assert_eq!(names("p->len < 10 && _x1 == 3u"), BTreeSet::from(["p", "len", "_x1"]));
        assert_eq!(conjuncts("a > 0 &&b"), BTreeSet::from(["a > 0", "b"]));
    }
}
