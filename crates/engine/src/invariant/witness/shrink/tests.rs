//! Inputs made simpler with a difference that is made up: what is left is what the difference needs.

use super::*;
use crate::by_hand::{array, input, int, integer, leads, number, object, pointer, record, returned, unit};
use crate::interp::CallResult;
use std::cell::Cell;

/// Shrinks an input as long as `keeps` holds of it.
fn shrunk(of: Input, unit: &Unit, keeps: &dyn Fn(&Input) -> bool) -> Input {
    let replay = |input: Input| Run::made(input, returned(0), returned(1));
    let shrinker = Shrinker { unit, replay: &replay, keeps: &|r| keeps(&r.input) };
    shrinker.shrink(replay(of)).input
}

#[test]
fn numbers_go_down_to_what_the_difference_needs() {
    let keeps = |i: &Input| matches!(&i.arguments[0], Value::Const(c) if c.signed() >= Some(3));
    let least = shrunk(input(&[number(81_234), number(-77)], &[]), &Unit::default(), &keeps);
    assert_eq!(least.arguments, [number(3), number(0)]);
}

#[test]
fn an_input_without_need_for_anything_is_empty_of_objects() {
    let node = array(int(), 2);
    let given = input(&[leads(7, 0)], &[object(7, node, &[1, 0, 0, 0, 2, 0, 0, 0], &[])]);
    let least = shrunk(given, &Unit::default(), &|_| true);
    assert_eq!(least.arguments, [Value::Const(Const::bv(64, 0))]);
    assert_eq!(least.objects, []);
}

#[test]
fn a_difference_that_needs_everything_keeps_it() {
    let given = input(&[number(81_234)], &[]);
    let same = given.clone();
    assert_eq!(shrunk(given, &Unit::default(), &|i| *i == same), same);
}

#[test]
fn objects_are_numbered_as_they_are_met() {
    let next = |id| [(0, leads(id, 0))];
    let node = || pointer(CType::Void);
    let objects = [object(9, node(), &[0; 8], &next(4)), object(4, node(), &[0; 8], &next(9))];
    let keeps = |i: &Input| i.objects.len() == 2 && i.objects.iter().all(|o| !o.pointers.is_empty());
    let least = shrunk(input(&[leads(9, 0)], &objects), &Unit::default(), &keeps);
    assert_eq!(least.arguments, [leads(1, 0)]);
    let ids: Vec<u32> = least.objects.iter().map(|o| o.id.0).collect();
    assert_eq!(ids, [1, 2]);
    assert_eq!(least.objects[0].pointers, [(0, leads(2, 0))]);
    assert_eq!(least.objects[1].pointers, [(0, leads(1, 0))]);
}

#[test]
fn members_that_do_not_matter_are_zero() {
    let pair = record("pair", &[("a", 0, int()), ("b", 4, int())], 8);
    let unit = unit(vec![pair], Vec::new(), Vec::new());
    let ty = CType::Record(crate::ir::RecordId(0));
    let given = input(&[leads(1, 0)], &[object(1, ty, &[200, 1, 0, 0, 44, 1, 0, 0], &[])]);
    let keeps = |i: &Input| i.objects.first().is_some_and(|o| o.bytes.get(4..8).is_some_and(|b| b != [0; 4]));
    let least = shrunk(given, &unit, &keeps);
    assert_eq!(least.objects[0].bytes, [0, 0, 0, 0, 1, 0, 0, 0]);
}

#[test]
fn arrays_and_texts_get_shorter() {
    let text = array(integer(8, true), 16);
    let given = input(&[leads(1, 0)], &[object(1, text, b"Hello, world!!\0\x07", &[])]);
    let has_w = |i: &Input| i.objects.first().is_some_and(|o| o.bytes.contains(&b'w'));
    let least = shrunk(given, &Unit::default(), &has_w);
    assert_eq!(least.objects[0].bytes, b"w\0\0\0", "a few bytes more are not harder to read");
    let numbers = array(int(), 4);
    let given = input(&[leads(1, 0)], &[object(1, numbers, &[1; 16], &[])]);
    let least = shrunk(given, &Unit::default(), &|i| i.objects.first().is_some_and(|o| o.bytes.len() >= 8));
    assert_eq!(least.objects[0].ty, array(int(), 2));
    assert_eq!(least.objects[0].bytes, [0; 8]);
}

#[test]
fn words_of_standard_input_get_plainer_and_keep_their_number() {
    let given = Input { stdin: b"17  4711\n23".to_vec(), ..Input::default() };
    let words = |i: &Input| i.stdin.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).count();
    let least = shrunk(given, &Unit::default(), &|i| words(i) == 3);
    assert_eq!(least.stdin, b"0 0 0\n");
}

#[test]
fn results_of_calls_go_where_they_do_not_matter() {
    let call = |callee: &str, n| CallResult {
        callee: callee.into(),
        nth: 1,
        result: number(n),
        errno: None,
        writes: Vec::new(),
    };
    let given = Input { calls: vec![call("f", 70), call("g", 99)], ..Input::default() };
    let keeps = |i: &Input| i.calls.iter().any(|c| *c.callee == *"g" && c.result != number(0));
    let least = shrunk(given, &Unit::default(), &keeps);
    assert_eq!(least.calls, [call("g", 1)]);
}

#[test]
fn replays_are_bounded() {
    let bytes: Vec<u8> = (0..=255).collect();
    let given = input(&[leads(1, 0)], &[object(1, array(integer(8, true), 256), &bytes, &[])]);
    let replays = Cell::new(0);
    let replay = |input: Input| {
        replays.set(replays.get() + 1);
        Run::made(input, returned(0), returned(1))
    };
    let odd = |r: &Run| r.input.objects.first().is_some_and(|o| o.bytes.contains(&255));
    let shrinker = Shrinker { unit: &Unit::default(), replay: &replay, keeps: &odd };
    shrinker.shrink(Run::made(given, returned(0), returned(1)));
    // One more numbers the objects.
    assert!(replays.get() <= MAX_REPLAYS + 1, "{}", replays.get());
}

#[test]
fn the_scalars_of_a_type_lie_where_its_layout_says() {
    let pair = record("pair", &[("c", 0, integer(8, true)), ("b", 4, int())], 8);
    let unit = unit(vec![pair], Vec::new(), Vec::new());
    let ty = array(CType::Record(crate::ir::RecordId(0)), 2);
    let of = |end| {
        let mut found = Vec::new();
        scalars_of(&ty, 0, end, &unit, &mut found);
        found.into_iter().map(|(at, size, _)| (at, size)).collect::<Vec<_>>()
    };
    assert_eq!(of(16), [(0, 1), (4, 4), (8, 1), (12, 4)]);
    assert_eq!(of(14), [(0, 1), (4, 4), (8, 1)], "what is cut off is none");
}

#[test]
fn a_byte_is_cut_out_of_a_text_that_keeps_its_size() {
    let mut bytes = b"abc\0".to_vec();
    cut(&mut bytes, 1);
    assert_eq!(bytes, b"ac\0\0");
    cut(&mut bytes, 9);
    assert_eq!(bytes, b"ac\0\0");
}
