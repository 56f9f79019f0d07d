//! Facts of some executions only: `n >= 0 ==> i <= n`, `\result == -1 ==> x == 0`.
//!
//! A *guard* compares one value with a number: a value that the function was given with numbers of
//! its own branches, a result with those that it takes. What the executions in which a guard is true
//! suggest, and all of them do not, is a candidate under this guard (iDiscovery's way to candidates
//! with a condition; Houdini and the solver judge it like any other).

use crate::invariant::candidate::guard::Guard;
use crate::invariant::candidate::guard::Test;
use crate::invariant::candidate::observed::{Observed, number};
use crate::invariant::candidate::templates::{self, Candidate};
use crate::invariant::function_analysis::FunctionAnalysis;
use crate::ir::{CType, Instr, Op, Term, TermId, TermPool};
use crate::mvicfg::{ClassId, ClassSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Guards of one point, candidates of one guard and of all, and numbers that one value is compared
/// with, for equality and for order.
const MAX_GUARDS: usize = 16;
/// Of no more numbers than this each that a result takes is a guard.
const FEW_RESULTS: usize = 4;
const MAX_EACH: usize = 14;
const MAX_ALL: usize = 140;
const MAX_NUMBERS: usize = 6;
const MAX_ORDERS: usize = 4;
/// Fewest executions that a guard has to pick: it and the solver leave less to chance.
const SUPPORT: usize = 3;
/// Branches of one class whose comparisons are looked at.
const MAX_BRANCHES: usize = 200;

impl FunctionAnalysis<'_> {
    /// Returns all parts of the conditions of a class's branches, once.
    pub(in crate::invariant) fn branch_terms(&mut self, class: ClassId) -> Rc<Vec<TermId>> {
        if let Some(known) = self.classes.branch_terms.get(&class) {
            return known.clone();
        }
        let graph = self.task.graph;
        let single = ClassSet::single(class);
        let mut roots = Vec::new();
        for node in self.e.flow.classes[class].rpo.clone() {
            let Instr::Branch { cond } = &graph.node(node).instr else { continue };
            if roots.len() >= MAX_BRANCHES || self.e.is_exhausted() {
                break;
            }
            for (_, v) in self.e.expr(cond, node, &single) {
                let (clear, _) = self.separated(class, v.term);
                roots.extend([v.term, clear]);
            }
        }
        let terms = Rc::new(self.e.pool.reachable(&roots));
        self.classes.branch_terms.insert(class, terms.clone());
        terms
    }
}

/// The bound that a loop leaves whose condition is the test, when it goes on by one.
pub fn left_by(test: Test, x: &str) -> Candidate {
    match test {
        Test::AtMost(k) => Candidate::AtMost(x.to_owned(), k + 1),
        Test::AtLeast(k) => Candidate::AtLeast(x.to_owned(), k - 1),
        Test::Is(k) | Test::IsNot(k) => Candidate::AtMost(x.to_owned(), k),
        Test::Null | Test::NonNull => Candidate::NonNull(x.to_owned()),
    }
}

/// The tests by which some terms compare others with a number, as the types of these read it.
pub fn tests_of(
    pool: &TermPool,
    branches: &[TermId],
    terms: &BTreeMap<TermId, CType>,
) -> BTreeMap<TermId, BTreeSet<Test>> {
    let mut found: BTreeMap<TermId, BTreeSet<Test>> = BTreeMap::new();
    for &id in branches {
        let Term::App(crate::ir::App::Op(op), args) = pool.get(id) else { continue };
        let &[a, b] = args.as_slice() else { continue };
        let (x, k, left) = match (pool.as_const(a), pool.as_const(b)) {
            (None, Some(k)) => (a, k, true),
            (Some(k), None) => (b, k, false),
            _ => continue,
        };
        let Some(ty) = terms.get(&x) else { continue };
        let Some(k) = number(k, ty) else { continue };
        let signed = ty.is_signed();
        let test = match (op, left) {
            (Op::Eq, _) if ty.is_pointer() => Test::Null,
            (Op::Eq, _) => Test::Is(k),
            (Op::Slt, true) if signed => Test::AtMost(k - 1),
            (Op::Ult, true) if !signed => Test::AtMost(k - 1),
            (Op::Slt, false) if signed => Test::AtLeast(k + 1),
            (Op::Ult, false) if !signed => Test::AtLeast(k + 1),
            (Op::Sle, true) if signed => Test::AtMost(k),
            (Op::Ule, true) if !signed => Test::AtMost(k),
            (Op::Sle, false) if signed => Test::AtLeast(k),
            (Op::Ule, false) if !signed => Test::AtLeast(k),
            _ => continue,
        };
        let tests = found.entry(x).or_default();
        let is_order = |t: &Test| matches!(t, Test::AtLeast(_) | Test::AtMost(_));
        let most = if is_order(&test) { 2 * MAX_ORDERS } else { 2 * MAX_NUMBERS };
        if tests.iter().filter(|t| is_order(t) == is_order(&test)).count() < most {
            tests.extend([test, test.opposite()]);
        }
    }
    found
}

/// The guards of a point: values that are given (`given`), with what branches compare them with, and
/// the result, with the few numbers that it takes.
pub fn guards(
    vars: &[Observed],
    given: &dyn Fn(&str) -> bool,
    tests: &dyn Fn(&str) -> BTreeSet<Test>,
) -> Vec<Guard> {
    let mut found = Vec::new();
    for v in vars {
        let mut of_value: Vec<Test> = Vec::new();
        if v.name == "\\result" {
            of_value.extend(result_tests(v));
        } else {
            let plain: &[Test] = match &v.ty {
                _ if !given(&v.name) => &[],
                t if t.is_pointer() => &[Test::NonNull, Test::Null],
                CType::Int { signed: true, .. } => &[Test::AtLeast(0), Test::AtLeast(1)],
                CType::Int { .. } => &[Test::IsNot(0)],
                _ => &[],
            };
            of_value.extend(plain);
            of_value.extend(tests(&v.name));
        }
        let mut seen = BTreeSet::new();
        of_value.retain(|t| seen.insert(*t));
        found.extend(of_value.into_iter().map(|test| Guard { x: v.name.clone(), test }));
    }
    found.truncate(MAX_GUARDS);
    found
}

/// The numbers that a result takes, where they are few, and its sign.
fn result_tests(v: &Observed) -> Vec<Test> {
    if v.ty.is_pointer() {
        return vec![Test::NonNull, Test::Null];
    }
    let mut times: BTreeMap<i128, usize> = BTreeMap::new();
    for n in v.values.iter().flatten().filter_map(|c| number(*c, &v.ty)) {
        *times.entry(n).or_default() += 1;
    }
    let mut tests = Vec::new();
    if times.first_key_value().is_some_and(|(n, _)| *n < 0) {
        tests.push(Test::AtLeast(0));
    }
    // Of many numbers the usual ones are still words of their own.
    let few = times.len() <= FEW_RESULTS;
    let is_word = |n: i128| few || n == 0 || n == -1;
    tests.extend(times.keys().filter(|n| is_word(**n)).map(|n| Test::Is(*n)));
    if !few && times.contains_key(&0) {
        tests.push(Test::IsNot(0));
    }
    tests
}

/// Returns the candidates that only those executions suggest in which a guard holds. `given`: which of
/// the values the function was given.
pub fn suggest(vars: &[Observed], guards: &[Guard], given: &dyn Fn(&str) -> bool) -> BTreeSet<Candidate> {
    let always = templates::suggest(vars);
    let mut found = BTreeSet::new();
    // A weaker guard says more: it comes first, and what it suggests is not suggested again.
    let mut of_value: BTreeMap<&str, BTreeSet<Candidate>> = BTreeMap::new();
    for guard in guards {
        let Some(v) = vars.iter().find(|v| v.name == guard.x) else { continue };
        let part: Vec<bool> =
            v.values.iter().map(|c| c.is_some_and(|c| guard.test.holds(c, &v.ty) == Some(true))).collect();
        if part.iter().all(|p| *p) {
            continue;
        }
        let only = |o: &Observed| Observed {
            values: o.values.iter().zip(&part).filter(|(_, p)| **p).map(|(v, _)| *v).collect(),
            ..o.clone()
        };
        let within: Vec<Observed> = vars.iter().map(only).collect();
        let about_result = guard.x == "\\result";
        // That a number is not negative is what most code takes for granted: what few executions
        // suggest of all may hold of these only.
        let usual = given(&guard.x) && matches!(guard.test, Test::AtLeast(0 | 1));
        let seen =
            of_value.entry(&guard.x).or_insert_with(|| if usual { BTreeSet::new() } else { always.clone() });
        // Facts of the guard's own value say nothing, and those of what was given are the caller's.
        let says_more = |c: &Candidate| {
            let variables = c.variables();
            // Of a number that is known every relation is a bound.
            let number = matches!(guard.test, Test::Is(_) | Test::Null) && variables.contains(&&*guard.x);
            variables.iter().any(|x| *x != guard.x && (about_result || !given(x)))
                && !number
                && !matches!(c, Candidate::Congruent { .. })
        };
        let mut fresh: Vec<Candidate> = templates::suggest_from(&within, SUPPORT)
            .into_iter()
            .filter(|c| says_more(c) && !seen.contains(c))
            .collect();
        let names_result = |c: &Candidate| c.variables().contains(&"\\result");
        fresh.sort_by_key(|c| !names_result(c));
        fresh.truncate(if usual { 2 * MAX_EACH } else { MAX_EACH });
        for then in fresh {
            seen.insert(then.clone());
            if found.len() < MAX_ALL {
                found.insert(Candidate::Given(guard.clone(), Box::new(then)));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_hand::{int, integer, pointer};
    use crate::ir::{Const, Leaf, Sort};

    fn column(name: &str, ty: &CType, values: &[i128]) -> Observed {
        let bits = ty.sort(64).and_then(Sort::bits).expect("a number");
        let values = values.iter().map(|v| Some(Const::bv(bits, *v))).collect();
        Observed { name: name.into(), ty: ty.clone(), values }
    }

    #[test]
    fn a_loop_leaves_the_bound_of_its_condition_behind_by_one() {
        let left = |test: Test| left_by(test, "i").text();
        assert_eq!(left(Test::AtMost(9)), "i <= 10");
        assert_eq!(left(Test::AtLeast(1)), "i >= 0");
        assert_eq!(left(Test::IsNot(8)), "i <= 8");
        assert_eq!(left(Test::NonNull), "i != NULL");
    }

    /// The tests of `x` by one comparison of it with five, which stands first or second.
    #[track_caller]
    fn check_branch(ty: &CType, op: Op, first: bool, expected: &[Test]) {
        let mut pool = TermPool::new();
        let bits = ty.sort(64).and_then(Sort::bits).expect("a number");
        let x = pool.leaf(Leaf::Param { name: "x".into(), sort: Sort::Bv(bits) });
        let k = pool.bv(bits, if ty.is_pointer() { 0 } else { 5 });
        let t = pool.op(op, &if first { [x, k] } else { [k, x] });
        let branches = pool.reachable(&[t]);
        let found = tests_of(&pool, &branches, &BTreeMap::from([(x, ty.clone())]));
        let found: Vec<Test> = found.into_values().flatten().collect();
        assert_eq!(found, expected, "{op:?} of {ty:?}");
    }

    #[test]
    fn branches_tell_what_a_value_is_compared_with() {
        let unsigned = integer(32, false);
        check_branch(&int(), Op::Slt, true, &[Test::AtLeast(5), Test::AtMost(4)]);
        check_branch(&int(), Op::Sle, true, &[Test::AtLeast(6), Test::AtMost(5)]);
        check_branch(&int(), Op::Slt, false, &[Test::AtLeast(6), Test::AtMost(5)]);
        check_branch(&unsigned, Op::Ule, false, &[Test::AtLeast(5), Test::AtMost(4)]);
        check_branch(&int(), Op::Eq, true, &[Test::Is(5), Test::IsNot(5)]);
        check_branch(&pointer(int()), Op::Eq, true, &[Test::Null, Test::NonNull]);
    }

    #[test]
    fn a_comparison_that_reads_a_value_otherwise_is_no_test() {
        check_branch(&int(), Op::Ult, true, &[]);
        check_branch(&integer(32, false), Op::Slt, true, &[]);
        check_branch(&int(), Op::Add, true, &[]);
    }

    fn guards_of(vars: &[Observed]) -> Vec<String> {
        let found = guards(vars, &|x| x == "n" || x == "p" || x == "u", &|_| BTreeSet::new());
        found.iter().map(Guard::text).collect()
    }

    #[test]
    fn what_was_given_is_compared_with_zero() {
        assert_eq!(guards_of(&[column("n", &int(), &[1])]), ["n >= 0", "n > 0"]);
        assert_eq!(guards_of(&[column("u", &integer(32, false), &[1])]), ["u != 0"]);
        assert_eq!(guards_of(&[column("p", &pointer(int()), &[1])]), ["p != NULL", "p == NULL"]);
        assert_eq!(guards_of(&[column("i", &int(), &[1])]), Vec::<String>::new());
    }

    #[test]
    fn a_result_is_compared_with_the_few_numbers_that_it_takes() {
        let of = |values: &[i128]| guards_of(&[column("\\result", &int(), values)]);
        assert_eq!(of(&[1, 1, 0]), ["\\result == 0", "\\result == 1"]);
        assert_eq!(of(&[-1, 7]), ["\\result >= 0", "\\result == -1", "\\result == 7"]);
        assert_eq!(of(&[0, 3, 4, 5, 6]), ["\\result == 0", "\\result != 0"]);
        assert_eq!(of(&[2, 3, 4, 5, 6]), Vec::<String>::new());
    }

    #[test]
    fn rows_in_which_a_guard_holds_suggest_what_all_do_not() {
        let x = column("x", &int(), &[5, 5, 5, 70_000, -90_000, 31, 8, 4_200, 6, 9]);
        let failed = Guard { x: "\\result".into(), test: Test::Is(-1) };
        let texts = |results: &[i128]| {
            let vars = [x.clone(), column("\\result", &int(), results)];
            let found = suggest(&vars, std::slice::from_ref(&failed), &|_| false);
            found.iter().map(Candidate::text).collect::<Vec<_>>()
        };
        let found = texts(&[-1, -1, -1, 1, 2, 3, 4, 5, 6, 7]);
        assert!(found.contains(&"\\result == -1 ==> x == 5".to_owned()), "{found:?}");
        assert_eq!(texts(&[-1, -1, 0, 1, 2, 3, 4, 5, 6, 7]), Vec::<String>::new(), "two rows are chance");
        assert_eq!(texts(&[-1; 10]), Vec::<String>::new(), "a guard that always holds is none");
    }
}
