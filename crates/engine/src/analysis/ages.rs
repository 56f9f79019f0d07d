//! For how many versions of the range a fact had held that a change takes away.
//!
//! Only what was proved counts: a version holds a fact if its class is among those that the fact was proved of, in
//! whatever churn or invariant it stands there in the same words. So an age is what is known at least. What the
//! versions before the range held is a matter of notes (`src/gate/age.rs`).

use crate::invariant::{self, Churn, Fact, PointDiff};
use crate::mvicfg::{ClassId, ClassSet, VersionId};

/// Versions up to `from` that hold what is removed between it and the next: of several facts those of the oldest.
/// `None` where no version before is known to.
pub(super) fn in_range(
    diff: &PointDiff,
    class_of: &[Option<ClassId>],
    churn: &Churn,
    from: VersionId,
) -> Option<u32> {
    let said_still = |f: &Fact| churn.added.iter().any(|o| o.formula == f.formula);
    // An undefined event was met by one run: that is nothing that holds.
    let lost = churn.removed.iter().filter(|f| !f.formula.is_undefined() && !said_still(f));
    let age = |fact: &Fact| {
        let classes = proved_of(diff, fact);
        let own = class_of[from];
        let holds = |c: &Option<ClassId>| c.is_some() && *c == own || c.is_some_and(|c| classes.contains(c));
        class_of.get(..=from.index()).into_iter().flatten().rev().take_while(|c| holds(c)).count()
    };
    let oldest = lost.map(age).max()?;
    u32::try_from(oldest).ok().filter(|age| *age > 1)
}

/// The classes of which a fact is proved and in which it is said of some execution.
fn proved_of(diff: &PointDiff, fact: &Fact) -> ClassSet {
    let of_churns = diff.churns.iter().flat_map(|c| c.removed.iter().chain(&c.added));
    let same = of_churns.chain(&diff.invariants).filter(|f| f.formula == fact.formula);
    let classes =
        same.flat_map(|f| f.classes.iter()).filter(|c| invariant::speaks_of(&diff.reached, fact, *c));
    classes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::subsets::tests::fact;
    use crate::invariant::{CauseLines, Claim, Observable};

    fn churn(from: usize, to: usize, removed: Vec<Fact>, added: Vec<Fact>) -> Churn {
        Churn {
            from: ClassId::new(from),
            to: ClassId::new(to),
            subject: Observable::Result,
            removed,
            added,
            claim: Claim::Changed,
            causes: CauseLines::default(),
            witness: None,
            cell: None,
            objects: None,
        }
    }

    /// The age of what the last churn takes away after version `from`, where the versions have these classes.
    #[track_caller]
    fn check(classes: &[Option<usize>], from: usize, facts: &[&str], expected: Option<u32>) {
        let lost = |class| facts.iter().map(|f| fact(f, &[class])).collect::<Vec<_>>();
        let diff = PointDiff {
            invariants: vec![fact("\\result >= 0", &[0, 1, 3])],
            churns: vec![
                churn(1, 2, lost(1), vec![fact("\\result >= 7", &[2])]),
                churn(3, 2, vec![fact("\\result >= 5", &[3])], Vec::new()),
            ],
            ..PointDiff::default()
        };
        let class_of: Vec<_> = classes.iter().map(|c| c.map(ClassId::new)).collect();
        assert_eq!(in_range(&diff, &class_of, &diff.churns[0], VersionId::new(from)), expected);
    }

    #[test]
    fn versions_in_a_row_count_as_far_as_they_are_known_to_hold_it() {
        let all = [Some(0), Some(0), Some(3), Some(1), Some(1), Some(2)];
        check(&all, 4, &["\\result >= 0"], Some(5));
        // Versions of one body hold the same.
        check(&all, 4, &["\\result >= 3"], Some(2));
        check(&all, 3, &["\\result >= 3"], None);
        // The oldest counts, and what the newer version says, too, is not lost.
        check(&all, 4, &["\\result >= 3", "\\result >= 0"], Some(5));
        check(&all, 4, &["\\result >= 7"], None);
        // A version without the function, or of which it is not known, ends it.
        check(&[Some(0), None, Some(1), Some(2)], 2, &["\\result >= 0"], None);
        check(&[Some(0), Some(2), Some(0), Some(1), Some(2)], 3, &["\\result >= 0"], Some(2));
        check(&[Some(3), Some(1), Some(2)], 1, &["\\result >= 5"], Some(2));
    }

    #[test]
    fn where_no_run_comes_nothing_is_held() {
        let diff = PointDiff {
            invariants: vec![fact("\\result >= 0", &[0, 1])],
            churns: vec![churn(1, 2, vec![fact("\\result >= 0", &[1])], Vec::new())],
            reached: [(ClassId::OLD, Default::default())].into(),
            ..PointDiff::default()
        };
        let class_of: Vec<_> = ClassId::first(3).map(Some).collect();
        assert_eq!(in_range(&diff, &class_of, &diff.churns[0], VersionId::new(1)), None);
    }
}
