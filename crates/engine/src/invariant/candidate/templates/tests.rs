//! Candidates on rows made by hand: which are suggested, and what they say.

use super::*;
use crate::by_hand::{int, integer, pointer};
use crate::ir::{Leaf, Sort};

fn column(name: &str, ty: &CType, values: &[i128]) -> Observed {
    let bits = ty.sort(64).and_then(Sort::bits).expect("a number");
    let values = values.iter().map(|v| Some(Const::bv(bits, *v))).collect();
    Observed { name: name.into(), ty: ty.clone(), values }
}

#[track_caller]
fn suggests(vars: &[Observed], expected: &[&str]) {
    let found: Vec<String> = suggest(vars).iter().map(Candidate::text).collect();
    assert_eq!(found, expected);
}

#[track_caller]
fn check(rows: &[(&str, &[i128])], expected: &[&str]) {
    let vars: Vec<Observed> = rows.iter().map(|(name, values)| column(name, &int(), values)).collect();
    suggests(&vars, expected);
}

/// One candidate of each shape over `x` and `y`, with its text.
fn shapes() -> Vec<(Candidate, &'static str)> {
    let (x, y) = (|| "x".to_owned(), || "y".to_owned());
    let positive = || Guard { x: y(), test: crate::invariant::candidate::guard::Test::AtLeast(1) };
    vec![
        (Candidate::AtLeast(x(), -3), "x >= -3"),
        (Candidate::AtMost(x(), 5), "x <= 5"),
        (Candidate::OneOf(x(), vec![-1, 2]), "x == -1 || x == 2"),
        (Candidate::Less(x(), y()), "x < y"),
        (Candidate::LessEq(x(), y()), "x <= y"),
        (Candidate::Same(x(), y()), "x == y"),
        (Candidate::Different(x(), y()), "x != y"),
        (Candidate::Linear { y: y(), x: x(), a: 3, b: -2 }, "y == 3 * x - 2"),
        (Candidate::Linear { y: y(), x: x(), a: -1, b: 4 }, "y == -x + 4"),
        (Candidate::Linear { y: y(), x: x(), a: 1, b: 0 }, "y == x"),
        (Candidate::Congruent { x: x(), m: 3, r: 1 }, "x % 3 == 1"),
        (Candidate::NonNull(x()), "x != NULL"),
        (Candidate::Null(x()), "x == NULL"),
        (Candidate::Given(positive(), Box::new(Candidate::AtMost(x(), 2))), "y > 0 ==> x <= 2"),
    ]
}

#[test]
fn of_two_bounds_one_may_say_more() {
    let (at_most, at_least) =
        (|x: &str, k| Candidate::AtMost(x.into(), k), |x: &str, k| Candidate::AtLeast(x.into(), k));
    assert!(at_most("x", 5).is_tighter_than(&at_most("x", 774)));
    assert!(at_least("x", 5).is_tighter_than(&at_least("x", -1)));
    for other in [at_most("x", 5), at_most("x", 4), at_most("y", 9), at_least("x", 1)] {
        assert!(!at_most("x", 5).is_tighter_than(&other), "{}", other.text());
    }
}

#[test]
fn what_always_holds_is_tighter_than_what_holds_where_a_guard_does() {
    let guard = |k| Guard { x: "n".into(), test: crate::invariant::candidate::guard::Test::AtLeast(k) };
    let bound = |k| Candidate::AtMost("x".into(), k);
    let given = |g, k| Candidate::Given(guard(g), Box::new(bound(k)));
    assert!(bound(5).is_tighter_than(&given(0, 5)) && bound(4).is_tighter_than(&given(0, 5)));
    assert!(given(0, 4).is_tighter_than(&given(0, 5)));
    assert!(!given(1, 4).is_tighter_than(&given(0, 5)), "of other guards nothing is known");
    assert!(!given(0, 4).is_tighter_than(&bound(5)));
}

#[test]
fn a_set_is_tighter_than_bounds_that_hold_all_of_it() {
    let set = Candidate::OneOf("x".into(), vec![2, 7]);
    assert!(set.is_tighter_than(&Candidate::AtLeast("x".into(), 2)));
    assert!(set.is_tighter_than(&Candidate::AtMost("x".into(), 7)));
    assert!(!set.is_tighter_than(&Candidate::AtLeast("x".into(), 3)));
    assert!(!set.is_tighter_than(&Candidate::AtMost("y".into(), 7)));
}

#[test]
fn shapes_are_read_off_data() {
    check(&[("x", &[0, 3, 5, 9, 1000, 77, 4, 100_000])], &["x >= 0"]);
    check(&[("x", &[1, 2, 1, 2, 1, 1, 1, 2])], &["x >= 1", "x == 1 || x == 2"]);
    let a: &[i128] = &[-7000, 5, 90_000, 3, 1, 44, 10_000, -5];
    check(
        &[("x", a), ("y", &a.iter().map(|v| 2 * v + 1).collect::<Vec<_>>())],
        &["y == 2 * x + 1", "y % 2 == 1"][..1],
    );
}

#[test]
fn few_rows_suggest_nothing() {
    check(&[("x", &[1, 2, 1, 2, 1, 1, 1])], &[]);
    let mut gaps = column("x", &int(), &[1, 2, 1, 2, 1, 1, 1]);
    gaps.values.extend([None; 8]);
    suggests(&[gaps], &[]);
}

#[test]
fn values_are_read_as_their_types_read_them() {
    let high = [-1, -2, -3, -4, -5, -6, -7, -56];
    suggests(&[column("x", &integer(8, true), &high)], &["x >= -56", "x <= -1"]);
    suggests(&[column("x", &integer(8, false), &high)], &["x >= 200", "x <= 255"]);
}

#[test]
fn a_pointer_is_null_or_not_or_nothing_is_said() {
    let p = |values: &[i128]| column("p", &pointer(int()), values);
    suggests(&[p(&[8; 8])], &["p != NULL"]);
    suggests(&[p(&[0; 8])], &["p == NULL"]);
    suggests(&[p(&[0, 8, 8, 8, 8, 8, 8, 8])], &[]);
}

#[test]
fn the_largest_modulus_is_told_alone() {
    check(&[("x", &[-70_000, 30, 90_000, 10, 20, 50, 4_000, -10])], &["x % 10 == 0"]);
    check(&[("x", &[-70_001, 31, 90_001, 15, 20_003, 57, 4_009, -19])], &[]);
}

#[test]
fn two_variables_compare_in_one_way() {
    let x: &[i128] = &[-90_000, 5, 90_000, 3, 1, 44, 10_000, -5];
    let plus = |k: &[i128]| x.iter().zip(k).map(|(x, k)| x + k).collect::<Vec<i128>>();
    check(&[("x", x), ("y", x)], &["x == y"]);
    check(&[("x", x), ("y", &plus(&[1, 2, 3, 4, 5, 6, 7, 8]))], &["x < y"]);
    check(&[("x", x), ("y", &plus(&[0, 2, 3, 4, 5, 6, 7, 8]))], &["x <= y"]);
    check(&[("x", x), ("y", &plus(&[-1, 2, 3, 4, 5, 6, 7, 8]))], &["x != y"]);
    check(&[("x", x), ("y", &plus(&[0, 2, 3, -4, 5, 6, 7, 8]))], &[]);
    check(&[("x", x), ("y", &plus(&[-9, -2, -3, -4, -5, -6, -7, 0]))], &["y <= x"]);
}

#[test]
fn lines_are_of_numbers_that_are_not_promoted() {
    let twice = |ty: &CType| {
        let values = [-60, 5, 50, 3, 1, 44, 12, -5];
        let doubled: Vec<i128> = values.iter().map(|v| v - 1).collect();
        let found = suggest_from(&[column("x", ty, &values), column("y", ty, &doubled)], SUPPORT);
        found.iter().filter(|c| c.variables().len() == 2).map(Candidate::text).collect::<Vec<_>>()
    };
    assert_eq!(twice(&int()), ["y == x - 1"]);
    assert_eq!(twice(&integer(16, true)), ["y < x"]);
}

#[test]
fn numbers_of_types_that_compare_otherwise_are_not_compared() {
    let values = [-60, 5, 50, 3, 1, 44, 12, -5];
    let of_both = |a: &CType, b: &CType| {
        let found = suggest_from(&[column("x", a, &values), column("y", b, &values)], SUPPORT);
        found.iter().any(|c| c.variables().len() == 2)
    };
    assert!(of_both(&int(), &integer(32, true)), "names of types do not matter");
    assert!(!of_both(&int(), &integer(32, false)));
    assert!(!of_both(&int(), &integer(64, true)));
    assert!(!of_both(&pointer(int()), &pointer(int())));
}

#[test]
fn a_candidate_reads_as_it_is_written() {
    for (candidate, text) in shapes() {
        assert_eq!(candidate.text(), text);
    }
}

#[test]
fn a_candidate_with_a_guard_is_an_alternative_in_c() {
    let c = |k: usize| shapes()[k].0.c_text();
    assert_eq!(c(13).as_deref(), Some("!(y > 0) || (x <= 2)"));
    assert_eq!(c(2).as_deref(), Some("x == -1 || x == 2"));
    assert_eq!(Candidate::AtLeast("\\old(n)".into(), 1).c_text(), None);
}

/// Of all numbers of four bits, read as signed or not.
#[test]
fn the_term_of_a_candidate_says_what_it_is_on_rows() {
    for (signed, range) in [(true, -8..8), (false, 0..16)] {
        let ty = integer(4, signed);
        for (x, y) in range.clone().flat_map(|x| range.clone().map(move |y| (x, y))) {
            let mut pool = TermPool::new();
            let [tx, ty_] = [x, y].map(|k| pool.bv(4, k));
            let term = |name: &str| Some((if name == "x" { tx } else { ty_ }, ty.clone()));
            let value = |name: &str| Some((Const::bv(4, if name == "x" { x } else { y }), ty.clone()));
            for (candidate, text) in shapes() {
                // Constants that the type does not have are nothing that its numbers suggest.
                if !signed && (text.contains("-1 ||") || text.contains("-3")) {
                    continue;
                }
                let t = candidate.term(&mut pool, &term).expect(text);
                let said = pool.as_const(t).and_then(Const::as_bool);
                assert_eq!(said, candidate.holds(&value), "{text} of {x} and {y}, signed: {signed}");
            }
        }
    }
}

#[test]
fn nothing_is_said_of_a_row_without_a_value() {
    for (candidate, text) in shapes() {
        assert_eq!(candidate.holds(&|_| None), None, "{text}");
        let none = candidate.term(&mut TermPool::new(), &|_| None);
        assert_eq!(none, None, "{text}");
    }
}

#[test]
fn another_name_changes_nothing_else() {
    let other = |x: &str| Some(if x == "x" { "a".to_owned() } else { "b".to_owned() });
    for (candidate, text) in shapes() {
        let renamed = candidate.renamed(&other).expect(text);
        assert_eq!(renamed.text(), text.replace('x', "a").replace('y', "b"));
        assert_eq!(renamed.template(), candidate.template());
        assert_eq!(candidate.renamed(&|_| None), None, "{text}");
    }
}

#[test]
fn variables_are_told_once_and_in_order() {
    let guard = Guard { x: "a".into(), test: crate::invariant::candidate::guard::Test::Is(0) };
    let line = Candidate::Linear { y: "b".into(), x: "a".into(), a: 1, b: 1 };
    assert_eq!(Candidate::Given(guard, Box::new(line)).variables(), ["a", "b"]);
    assert_eq!(Candidate::Less("y".into(), "x".into()).variables(), ["x", "y"]);
}

#[test]
fn a_bound_is_evident_where_operators_give_no_more() {
    let mut pool = TermPool::new();
    let x = pool.leaf(Leaf::Param { name: "x".into(), sort: Sort::Bv(32) });
    let ten = pool.bv(32, 10);
    let digit = pool.op(Op::URem, &[x, ten]);
    let ty = integer(32, false);
    let value = |name: &str| {
        let t = match name {
            "digit" => digit,
            "ten" => ten,
            "x" => x,
            _ => return None,
        };
        Some((t, ty.clone()))
    };
    let evident = |c: Candidate| c.is_evident(&pool, &value);
    assert!(evident(Candidate::AtMost("digit".into(), 9)) && !evident(Candidate::AtMost("digit".into(), 8)));
    assert!(
        evident(Candidate::AtLeast("digit".into(), 0)) && !evident(Candidate::AtLeast("digit".into(), 1))
    );
    assert!(evident(Candidate::Less("digit".into(), "ten".into())));
    assert!(!evident(Candidate::Less("x".into(), "ten".into())));
    assert!(!evident(Candidate::LessEq("digit".into(), "lost".into())));
}
