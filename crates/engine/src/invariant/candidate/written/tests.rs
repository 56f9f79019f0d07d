//! What a template may say, and what becomes of its places.

use super::*;
use crate::by_hand::int;

#[track_caller]
fn check_error(text: &str, column: usize, message: &str) {
    let error = WrittenTemplate::parse(text).expect_err(text);
    assert_eq!(error.offset + 1, column, "{text}: {error}");
    assert!(error.message.contains(message), "{text}: {error}");
}

#[test]
fn mistakes_are_told_with_their_column() {
    check_error("x + y", 1, "is a comparison");
    check_error("x <= ", 6, "Expected an expression");
    check_error("x <= f(y)", 6, "calls no function");
    check_error("x = y", 3, "write `==`");
    check_error("x % y == 0", 5, "may be 0");
    check_error("x / 0 == 1", 5, "may be 0");
    check_error("x << y == 0", 6, "from 0 to 31");
    check_error("x < 0.5", 5, "whole");
    check_error("x / ? == 2", 5, "may be 0");
    check_error("?a * ?b == x", 1, "a factor of an equation");
    check_error("1 <= 2", 1, "names no variable");
    check_error("&x == y", 1, "takes no address");
    check_error("\\at(x, L) == 1", 1, "speaks of variables");
    check_error("x == \\old(\\old(y))", 6, "at the entry");
    check_error("a <= b <= c", 8, "do not chain");
    check_error("(struct s)x == 1", 1, "numbers only");
    check_error(&format!("x == {}1", "1 + ".repeat(100)), 201, "longer");
}

#[test]
fn places_are_what_has_a_value() {
    let places = |text: &str| {
        let found = WrittenTemplate::parse(text).expect(text).places();
        found.into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(places("p->len <= p->cap"), "p->cap p->len");
    assert_eq!(places("\\result <= w * h && w != NULL"), "\\result h w");
    assert_eq!(places("p->n == \\old(p->n + k)"), "\\old(k) \\old(p->n) p->n");
    assert_eq!(places("*p < a[1] || g.x == INT_MAX"), "*p a[1] g.x");
}

#[track_caller]
fn check_holds(text: &str, values: &[(&str, i128)], expected: Option<bool>) {
    let relation = WrittenTemplate::parse(text).expect(text).relations(DataModel::Lp64, &[]).remove(0);
    let value = |x: &str| {
        let found = values.iter().find(|(name, _)| *name == x)?;
        Some((Const::bv(32, found.1), int()))
    };
    assert_eq!(relation.holds(&value), expected, "{text}");
}

#[test]
fn a_relation_is_evaluated_as_c_does() {
    check_holds("p->len <= p->cap", &[("p->len", 3), ("p->cap", 3)], Some(true));
    check_holds("p->len < p->cap", &[("p->len", 3), ("p->cap", 3)], Some(false));
    check_holds("area <= w * h", &[("area", 12), ("w", 3), ("h", 4)], Some(true));
    check_holds("x == \\old(x) + 1", &[("x", -1), ("\\old(x)", -2)], Some(true));
    check_holds("x < y", &[("x", 1)], None);
    check_holds("x % 4 == -1", &[("x", -5)], Some(true));
    check_holds("x > 0 ==> y > 0", &[("x", 0), ("y", -1)], Some(true));
}

#[test]
fn an_order_of_what_may_wrap_around_assumes_that_it_does_not() {
    let assumed = |text: &str, signed: bool| {
        let ty = CType::Int { bits: 32, signed, name: "".into() };
        WrittenTemplate::parse(text).expect(text).relations(DataModel::Lp64, &[])[0]
            .assumed(&|_| Some(ty.clone()))
    };
    assert_eq!(assumed("a <= w * h", true).as_deref(), Some("no-overflow(w * h)"));
    assert_eq!(assumed("a <= w * h", false), None);
    assert_eq!(assumed("a == w * h", true), None);
    assert_eq!(assumed("a <= b", true), None);
}
