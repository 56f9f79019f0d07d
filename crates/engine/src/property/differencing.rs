//! Which clauses of an assertion are left to check (Fig. 2 of the paper).

use crate::fact::Standing;
use crate::invariant::ordering;
use crate::ir::{Op, TermId, TermPool};
use crate::symex::{Counts, Known, Questions, clauses};

/// The clauses that one assertion does not say of another, and whether it is known what became of it.
pub(super) struct Difference {
    pub outcome: Standing,
    pub left: Vec<TermId>,
    /// The older assertion, where it is known to hold: what is left is asked under it.
    pub holds: Option<TermId>,
}

/// `AssertDiff`: what is known of the newer assertion by that of the older one, if nothing else
/// changed.
///
/// An older one that fails tells only of one that says the same: what follows from it may hold. (The
/// paper's line 14 is right by its Lemma 3.7, which needs the other direction.)
///
/// The solver is not asked whether one assertion implies the other: the question about the paths that follows
/// takes the older one for granted, so that both are one ([`Difference::holds`]).
pub(super) fn assert_difference(
    pool: &mut TermPool,
    new: TermId,
    matched: Option<(TermId, Standing)>,
) -> Difference {
    let all = || Difference { outcome: Standing::Open, left: clauses(pool, new), holds: None };
    let Some((old, outcome)) = matched else { return all() };
    match outcome {
        Standing::Open => all(),
        _ if old == new => Difference { outcome, left: Vec::new(), holds: None },
        Standing::Fails => all(),
        Standing::Holds => {
            let left: Vec<TermId> = not_seen(pool, new, old).into_iter().map(|(clause, _)| clause).collect();
            let outcome = if left.is_empty() { Standing::Holds } else { Standing::Open };
            Difference { outcome, left, holds: Some(old) }
        }
    }
}

/// The clauses of `new` of which it is not seen at once that `old` implies them, with what would refute each.
fn not_seen(pool: &mut TermPool, new: TermId, old: TermId) -> Vec<(TermId, TermId)> {
    let known = clauses(pool, old);
    let mut left = Vec::new();
    for clause in clauses(pool, new) {
        if known.contains(&clause) {
            continue;
        }
        let not = pool.not(clause);
        let old = Known::of(pool, &[not]).simplified(pool, old);
        let refuted = pool.op(Op::And, &[old, not]);
        if let Some(refuted) = ordering::simplified(pool, refuted) {
            left.push((clause, refuted));
        }
    }
    left
}

/// `LogicalDifference`: the clauses of `new` that `old` does not imply, as far as the solver knows. One question a
/// clause of which it is not seen at once.
pub(super) fn logical_difference(
    pool: &mut TermPool,
    questions: &mut Questions,
    counts: &mut Counts,
    new: TermId,
    old: TermId,
) -> Vec<TermId> {
    let mut left = not_seen(pool, new, old);
    left.retain(|(_, refuted)| {
        let asked = questions.ask(pool, &[*refuted]);
        counts.queries += u64::from(asked.was_put);
        !asked.answer.is_infeasible()
    });
    left.into_iter().map(|(clause, _)| clause).collect()
}

/// Whether an assertion does not say all that an older one says, as far as the solver knows.
pub(super) fn is_weaker(
    pool: &mut TermPool,
    questions: &mut Questions,
    counts: &mut Counts,
    (old, new): (Option<TermId>, Option<TermId>),
) -> bool {
    match (old, new) {
        (Some(old), Some(new)) => !logical_difference(pool, questions, counts, old, new).is_empty(),
        _ => true,
    }
}

/// The texts of the clauses of an assertion, if its text shows as many.
pub(super) fn clause_texts(text: &str, count: usize) -> Option<Vec<String>> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    let mut quote = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', Some(_)) => {
                parts.last_mut()?.push(c);
                if let Some(next) = chars.next() {
                    parts.last_mut()?.push(next);
                }
                continue;
            }
            (c, Some(q)) if c == q => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(c),
            ('(' | '[', None) => depth += 1,
            (')' | ']', None) => depth -= 1,
            // Alternatives bind less: what stands between is no clause.
            ('?', None) if depth == 0 => return None,
            ('|', None) if depth == 0 && chars.peek() == Some(&'|') => return None,
            ('&', None) if depth == 0 && chars.peek() == Some(&'&') => {
                chars.next();
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut()?.push(c);
    }
    let parts: Vec<String> = parts.into_iter().map(|p| p.trim().to_owned()).collect();
    (parts.len() == count).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Leaf, Sort};
    use crate::smt;
    use crate::symex::Answers;

    #[test]
    fn clauses_of_a_text() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(
                clause_texts(text, expected.len()),
                Some(expected.iter().map(|s| s.to_string()).collect())
            );
        };
        check("a > 0", &["a > 0"]);
        check("a > 0 && (b && c) && f(\"&&\")", &["a > 0", "(b && c)", "f(\"&&\")"]);
        assert_eq!(clause_texts("a && b ? c : d", 2), None);
        assert_eq!(clause_texts("a && b || c", 2), None);
        assert_eq!(clause_texts("a && b", 3), None);
    }

    #[test]
    fn what_is_left_to_check() {
        let mut pool = TermPool::new();
        let x = pool.leaf(Leaf::Param { name: "x".into(), sort: Sort::Bv(32) });
        let at_least = |pool: &mut TermPool, k: i128| {
            let k = pool.bv(32, k);
            pool.op(Op::Sle, &[k, x])
        };
        let (zero, one) = (at_least(&mut pool, 0), at_least(&mut pool, 1));
        let mut check = |new, old, outcome, expected: (Standing, usize, Option<TermId>)| {
            let d = assert_difference(&mut pool, new, Some((old, outcome)));
            assert_eq!((d.outcome, d.left.len(), d.holds), expected);
        };
        use Standing::*;
        // Comparisons chain without the solver.
        check(zero, one, Holds, (Holds, 0, Some(one)));
        check(one, zero, Holds, (Open, 1, Some(zero)));
        check(one, one, Holds, (Holds, 0, None));
        check(one, one, Fails, (Fails, 0, None));
        // What follows from something that fails may hold.
        check(zero, one, Fails, (Open, 1, None));
        check(one, one, Open, (Open, 1, None));
    }

    #[test]
    fn the_solver_sees_what_rules_do_not() {
        let mut pool = TermPool::new();
        let x = pool.leaf(Leaf::Param { name: "x".into(), sort: Sort::Bv(32) });
        let [zero, three] = [0, 3].map(|k| pool.bv(32, k));
        let masked = pool.op(Op::BitAnd, &[x, three]);
        let tripled = pool.op(Op::Mul, &[x, three]);
        // A number is a multiple of four where three times it is.
        let threefold = pool.op(Op::BitAnd, &[tripled, three]);
        let (old, new) = (pool.op(Op::Eq, &[masked, zero]), pool.op(Op::Eq, &[threefold, zero]));
        let mut known = Answers::new();
        let mut questions = Questions::new(&mut known, smt::Limits::default());
        let mut counts = Counts::default();
        assert_eq!(assert_difference(&mut pool, new, Some((old, Standing::Holds))).left, [new]);
        assert!(logical_difference(&mut pool, &mut questions, &mut counts, new, old).is_empty());
        assert_eq!(counts.queries, 1);
    }

    #[test]
    fn quotes_and_brackets_hide_what_separates_clauses() {
        let of = |text: &str, n| clause_texts(text, n).map(|c| c.join(" | "));
        assert_eq!(of("a[i && j] && c == '&'", 2).as_deref(), Some("a[i && j] | c == '&'"));
        assert_eq!(of(r#"s == "\" && " && t"#, 2).as_deref(), Some(r#"s == "\" && " | t"#));
        assert_eq!(of("(a ? b : c) && (d || e)", 2).as_deref(), Some("(a ? b : c) | (d || e)"));
        assert_eq!(of("a & b", 1).as_deref(), Some("a & b"));
    }
}
