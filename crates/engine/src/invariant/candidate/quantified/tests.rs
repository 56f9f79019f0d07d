//! Facts about elements: how they read, which says more, and their terms over memory made by hand.

use super::*;
use crate::by_hand::integer;
use crate::invariant::proof::abstraction;

/// Elements of `text`, from address 4096 on.
fn element(pool: &mut TermPool, text: &str, bits: u16, signed: bool) -> Element {
    let (bytes, sort) = (u64::from(bits / 8), Sort::Bv(bits));
    Element { start: pool.bv(64, 4096), bytes, sort, signed, text: text.into(), is_char: text == "s[k]" }
}

fn all(element: Element, comparison: Comparison, other: Other) -> ForAll {
    let (from, to) = (Edge::constant(0), Edge::value("i", 0));
    ForAll { given: None, bound: "i".into(), down: false, from, to, element, comparison, other }
}

#[track_caller]
fn reads(f: &ForAll, expected: &str) {
    assert_eq!(f.text(), format!("\\forall integer k; {expected}"));
}

#[test]
fn a_fact_about_elements_reads_from_left_to_right() {
    let mut pool = TermPool::new();
    let a = element(&mut pool, "a[k]", 32, true);
    let b = element(&mut pool, "b[k]", 32, true);
    let fact = |other| all(a.clone(), Comparison::AtMost, other);
    reads(&fact(Other::Constant(-1)), "0 <= k && k < i ==> a[k] <= -1");
    reads(&fact(Other::Value("m".into())), "0 <= k && k < i ==> a[k] <= m");
    reads(&fact(Other::Element(b)), "0 <= k && k < i ==> a[k] <= b[k]");
    reads(&fact(Other::At("best".into())), "0 <= k && k < i ==> a[k] <= a[best]");
    reads(&fact(Other::Value("*a".into())), "0 <= k && k < i ==> a[k] <= a[0]");
    reads(&fact(Other::Previous), "0 <= k && k < i ==> a[k - 1] >= a[k]");
    let least = all(a.clone(), Comparison::AtLeast, Other::At("best".into()));
    reads(&least, "0 <= k && k < i ==> a[best] <= a[k]");
}

#[test]
fn the_ends_of_a_range_read_without_sums_where_a_comparison_says_it() {
    let mut pool = TermPool::new();
    let a = element(&mut pool, "a[k]", 32, true);
    let fact = all(a, Comparison::Equal, Other::Constant(0));
    let ranged = |from, to| ForAll { from, to, ..fact.clone() };
    reads(&ranged(Edge::value("i", 1), Edge::value("n", 1)), "i < k && k <= n ==> a[k] == 0");
    reads(&ranged(Edge::value("i", -1), Edge::value("n", 2)), "i - 1 <= k && k < n + 2 ==> a[k] == 0");
    reads(&ranged(Edge::constant(1), Edge::constant(9)), "1 <= k && k < 9 ==> a[k] == 0");
    let given = ForAll { given: Some(-1), ..fact };
    assert_eq!(given.text(), "\\result == -1 ==> (\\forall integer k; 0 <= k && k < i ==> a[k] == 0)");
}

#[test]
fn characters_read_as_such_where_they_can_be_seen() {
    let mut pool = TermPool::new();
    let (s, a) = (element(&mut pool, "s[k]", 8, true), element(&mut pool, "a[k]", 8, true));
    for (k, text) in [(0, "'\\0'"), (97, "'a'"), (32, "' '"), (39, "39"), (92, "92"), (10, "10"), (-1, "-1")]
    {
        assert_eq!(s.constant_text(k), text);
        assert_eq!(a.constant_text(k), k.to_string());
    }
}

#[test]
fn a_fact_names_what_it_speaks_of() {
    let mut pool = TermPool::new();
    let (a, b) = (element(&mut pool, "a[k]", 32, true), element(&mut pool, "b[k]", 32, true));
    let fact = all(a, Comparison::Less, Other::Element(b));
    assert_eq!(fact.variables(), ["a[k]", "i", "b[k]"]);
    let given = ForAll { given: Some(1), other: Other::Value("m".into()), ..fact };
    assert_eq!(given.variables(), ["a[k]", "i", "m", "\\result"]);
    assert_eq!(given.numbers(), ["i", "m"]);
}

#[test]
fn of_two_facts_about_elements_one_may_say_more() {
    let mut pool = TermPool::new();
    let a = element(&mut pool, "a[k]", 32, true);
    let fact = |comparison| all(a.clone(), comparison, Other::Constant(5));
    let from = |k| ForAll { from: Edge::constant(k), ..fact(Comparison::Less) };
    let given = |c| ForAll { given: c, ..fact(Comparison::Less) };
    assert!(fact(Comparison::Less).is_tighter_than(&fact(Comparison::AtMost)));
    assert!(fact(Comparison::Equal).is_tighter_than(&fact(Comparison::AtLeast)));
    assert!(from(0).is_tighter_than(&from(1)) && !from(1).is_tighter_than(&from(0)));
    assert!(given(None).is_tighter_than(&given(Some(1))) && !given(Some(1)).is_tighter_than(&given(None)));
    assert!(!fact(Comparison::AtMost).is_tighter_than(&fact(Comparison::Less)));
    assert!(!fact(Comparison::Less).is_tighter_than(&fact(Comparison::Less)));
}

/// A comparison of two numbers.
type Compares = fn(i128, i128) -> bool;

const HOLDS: [(Comparison, Compares); 6] = [
    (Comparison::Equal, |x, y| x == y),
    (Comparison::Different, |x, y| x != y),
    (Comparison::AtMost, |x, y| x <= y),
    (Comparison::AtLeast, |x, y| x >= y),
    (Comparison::Less, |x, y| x < y),
    (Comparison::Greater, |x, y| x > y),
];

#[test]
fn what_says_more_holds_of_fewer_numbers() {
    for ((more, holds), (less, also)) in HOLDS.iter().flat_map(|a| HOLDS.iter().map(move |b| (a, b))) {
        let implied =
            (-2..3).flat_map(|x| (-2..3).map(move |y| (x, y))).all(|(x, y)| !holds(x, y) || also(x, y));
        assert_eq!(more.implies(*less) || more == less, implied, "{more:?} {less:?}");
    }
}

#[test]
fn a_comparison_turned_round_says_the_same() {
    for (comparison, holds) in HOLDS {
        let (_, turned) = HOLDS.iter().find(|(c, _)| *c == comparison.turned()).expect("one of them");
        for (x, y) in (-2..3).flat_map(|x| (-2..3).map(move |y| (x, y))) {
            assert_eq!(holds(x, y), turned(y, x), "{comparison:?}");
        }
    }
}

#[test]
fn what_every_number_of_a_type_does_says_nothing() {
    let mut pool = TermPool::new();
    for signed in [true, false] {
        let a = element(&mut pool, "a[k]", 8, signed);
        let numbers = if signed { -128..128 } else { 0..256 };
        for k in -300..300 {
            for (comparison, holds) in HOLDS {
                let always = numbers.clone().all(|x| holds(x, k));
                assert_eq!(a.always_compares(comparison, &Other::Constant(k)), always, "{comparison:?} {k}");
            }
        }
        assert!(!a.always_compares(Comparison::AtMost, &Other::Value("m".into())));
    }
}

#[test]
fn a_promoted_constant_is_one_that_the_element_has() {
    let mut pool = TermPool::new();
    let (byte, word) = (element(&mut pool, "a[k]", 8, false), element(&mut pool, "w[k]", 32, true));
    assert_eq!(byte.number_of(Const::bv(8, 200)), Some(200));
    assert_eq!(byte.number_of(Const::bv(32, 200)), Some(200));
    assert_eq!(byte.number_of(Const::bv(32, 256)), None);
    assert_eq!(byte.number_of(Const::bv(64, 5)), None);
    assert_eq!(word.number_of(Const::bv(32, -7)), Some(-7));
    assert_eq!(word.number_of(Const::bv(8, 1)), None);
}

/// Two numbers of these widths and signs compared as C does it.
#[track_caller]
fn compares(a: (u16, bool, i128), b: (u16, bool, i128), less: bool) {
    let mut pool = TermPool::new();
    let [x, y] = [a, b].map(|(bits, signed, n)| Number { term: pool.bv(bits, n), signed });
    let t = compared(&mut pool, Comparison::Less, x, y).expect("numbers");
    assert_eq!(pool.as_const(t).and_then(Const::as_bool), Some(less), "{a:?} < {b:?}");
}

#[test]
fn numbers_are_converted_as_c_converts_them() {
    compares((8, true, -1), (8, false, 255), true);
    compares((16, false, 65_535), (8, true, -1), false);
    compares((32, true, -1), (32, false, 1), false);
    compares((8, true, -1), (32, false, 1), false);
    compares((32, true, -1), (64, true, 0), true);
    compares((32, false, 4_294_967_295), (64, true, 0), false);
    compares((32, true, -1), (64, false, 5), false);
}

/// What a fact about `a[k]` says of one index, in memory where `a[1] = 7` and `a[2] = 3`.
#[track_caller]
fn says_of(f: &ForAll, pool: &mut TermPool, index: i128, expected: bool) {
    let mut memory = pool.leaf(Leaf::Memory);
    for (k, n) in [(0, 4), (1, 7), (2, 3)] {
        let (at, value) = (pool.bv(64, 4096 + 4 * k), pool.bv(32, n));
        memory = pool.app(App::Store { bytes: 4 }, &[memory, at, value]);
    }
    let [i, m, result] = [2, 7, -1].map(|k| pool.bv(32, k));
    let value = |x: &str| {
        let t = match x {
            MEMORY => memory,
            "i" => i,
            "m" => m,
            "\\result" => result,
            _ => return None,
        };
        Some((t, integer(32, true)))
    };
    let t = f.term(pool, &value).expect("a term");
    let (k, at) = (unknown_index(pool, Sort::Bv(32)), pool.bv(32, index));
    let said = abstraction::replaced(pool, t, k, at);
    assert_eq!(pool.as_const(said).and_then(Const::as_bool), Some(expected), "{} at {index}", f.text());
}

#[test]
fn a_fact_is_about_the_elements_of_its_range() {
    let mut pool = TermPool::new();
    let a = element(&mut pool, "a[k]", 32, true);
    let least = all(a.clone(), Comparison::AtLeast, Other::Constant(5));
    says_of(&least, &mut pool, 0, false);
    says_of(&least, &mut pool, 1, true);
    says_of(&least, &mut pool, 2, true);
    says_of(&ForAll { to: Edge::value("i", 1), ..least.clone() }, &mut pool, 2, false);
    says_of(&ForAll { from: Edge::constant(1), ..least.clone() }, &mut pool, 0, true);
    says_of(&ForAll { given: Some(0), ..least.clone() }, &mut pool, 0, true);
    says_of(&ForAll { given: Some(-1), ..least }, &mut pool, 0, false);
}

#[test]
fn elements_compare_with_neighbours_values_and_places() {
    let mut pool = TermPool::new();
    let a = element(&mut pool, "a[k]", 32, true);
    let to = Edge::value("i", 1);
    let fact = |comparison, other| ForAll { to: to.clone(), ..all(a.clone(), comparison, other) };
    says_of(&fact(Comparison::AtLeast, Other::Previous), &mut pool, 1, true);
    says_of(&fact(Comparison::AtLeast, Other::Previous), &mut pool, 2, false);
    says_of(&fact(Comparison::Equal, Other::Value("m".into())), &mut pool, 1, true);
    says_of(&fact(Comparison::Equal, Other::Value("m".into())), &mut pool, 0, false);
    says_of(&fact(Comparison::Greater, Other::At("i".into())), &mut pool, 0, true);
    says_of(&fact(Comparison::Greater, Other::At("i".into())), &mut pool, 2, false);
}
