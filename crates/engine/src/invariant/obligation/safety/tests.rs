//! Which events of runs count, and what is changed of an input to learn whether they do.

use super::*;
use crate::by_hand::{input, int, leads, number, object, outcome, place, returned, undefined};
use crate::interp::{Assumed, AssumedCall, Ending, Portability};

fn name_of(o: &Outcome) -> Option<&'static str> {
    Event::of(o).map(|e| name(e.kind))
}

fn assumed(callee: &str, nth: u32, given: bool) -> AssumedCall {
    AssumedCall { callee: callee.into(), nth, arguments: Vec::new(), line: 3, given, is_determined: false }
}

#[test]
fn what_is_undefined_is_an_event_but_for_what_we_made_up() {
    let of = |kind| Event::of(&outcome(undefined(kind)));
    let event = of(UndefinedKind::DivisionByZero).expect("an event");
    assert_eq!(
        (event.kind, &*event.function, event.line),
        (Harm::Undefined(UndefinedKind::DivisionByZero), "f", 7)
    );
    for kind in [UndefinedKind::BadPointer, UndefinedKind::FormatMismatch, UndefinedKind::BadCall] {
        assert!(of(kind).is_none(), "{kind:?}");
    }
    assert_eq!(name_of(&returned(0)), None);
}

#[test]
fn overflow_counts_where_nothing_worse_happened() {
    let overflows = |end| Outcome { overflow: Some(place(3)), ..outcome(end) };
    assert_eq!(Event::of(&overflows(End::Return)).map(|e| e.kind), Some(OVERFLOW));
    let worse = Event::of(&overflows(undefined(UndefinedKind::NullDereference)));
    assert_eq!(worse.map(|e| e.kind), Some(Harm::Undefined(UndefinedKind::NullDereference)));
}

#[test]
fn aborts_and_error_functions_are_events() {
    let aborted =
        Outcome { ending: Ending { aborted: Some(place(3)), ..Ending::default() }, ..outcome(End::Abort) };
    assert_eq!(name_of(&aborted), Some("call of abort()"));
    let ends = |callee: &str| outcome(End::NoReturn { callee: callee.into(), place: place(3) });
    assert_eq!(
        Event::of(&ends("reach_error")).map(|e| e.kind),
        Some(Harm::Undefined(UndefinedKind::Unreachable))
    );
    assert_eq!(name_of(&ends("die")), None);
}

#[test]
fn memory_is_lost_where_nobody_unknown_may_keep_it() {
    let mut o = returned(0);
    o.left.lost = Some(place(3));
    o.heap.counts.insert("malloc", 1);
    assert_eq!(name_of(&o), Some("lost memory"));
    o.assumed.calls.push(assumed("malloc", 1, true));
    assert_eq!(name_of(&o), Some("lost memory"), "a request keeps nothing");
    o.assumed.calls.push(assumed("keep", 1, true));
    assert_eq!(name_of(&o), None);
}

#[test]
fn a_run_is_fine_that_ends_without_overflow() {
    assert!(is_fine(&returned(0)) && is_fine(&outcome(End::Exit(1))));
    assert!(!is_fine(&outcome(End::Abort)) && !is_fine(&outcome(End::Fuel)));
    assert!(!is_fine(&Outcome { overflow: Some(place(3)), ..returned(0) }));
}

#[test]
fn an_event_is_introduced_where_the_older_version_was_fine() {
    let traps = || outcome(undefined(UndefinedKind::DivisionByZero));
    let event = Event::of(&traps()).expect("an event");
    let by = |old: Outcome, new: Outcome| introduces(&Run::made(Input::default(), old, new), &event);
    assert!(by(returned(0), traps()));
    assert!(!by(traps(), traps()) && !by(outcome(End::Fuel), traps()));
    let only = |portability| by(Outcome { portability, ..returned(0) }, traps());
    assert!(!only(Portability { open_sign: true, ..Portability::default() }));
    assert!(!only(Portability { platform_dependent: true, ..Portability::default() }));
}

#[test]
fn an_overflow_is_introduced_only_where_it_changes_something() {
    let overflows = |n| Outcome { overflow: Some(place(3)), ..returned(n) };
    let event = Event::of(&overflows(0)).expect("an event");
    let by = |old, n| introduces(&Run::made(Input::default(), returned(old), overflows(n)), &event);
    assert!(by(0, 1) && !by(1, 1));
}

#[test]
fn what_unknown_functions_do_must_be_the_same_in_both() {
    let knows = |old: &[AssumedCall], new: &[AssumedCall]| {
        let of = |calls: &[AssumedCall]| Outcome {
            assumed: Assumed { calls: calls.to_vec(), ..Assumed::default() },
            ..returned(0)
        };
        knows_all_calls(&Run::made(Input::default(), of(old), of(new)))
    };
    let (given, made_up) = (assumed("g", 1, true), assumed("g", 1, false));
    assert!(knows(&[], &[]) && knows(std::slice::from_ref(&given), std::slice::from_ref(&given)));
    assert!(!knows(&[made_up], std::slice::from_ref(&given)));
    assert!(!knows(&[], std::slice::from_ref(&given)), "the older one did not ask");
    assert!(!knows(&[assumed("g", 2, true)], &[given]));
}

#[test]
fn two_pointers_to_one_object_are_aliases() {
    assert!(has_aliases(&input(&[leads(1, 0), leads(1, 4)], &[])));
    assert!(!has_aliases(&input(&[leads(1, 0), leads(2, 0), number(1), number(1)], &[])));
    let inside = object(1, int(), &[0; 8], &[(0, leads(1, 0))]);
    assert!(has_aliases(&input(&[leads(1, 0)], &[inside])));
}

#[test]
fn a_null_pointer_is_exchanged_for_a_new_object() {
    let given = input(&[number(0), number(7)], &[object(4, int(), &[0; 4], &[])]);
    let used = with_objects(&given, &[0], true);
    assert_eq!(used.arguments, [leads(5, 0), number(7)]);
    assert_eq!((used.objects.len(), used.objects[1].bytes.len()), (2, FRESH));
    let unused = with_objects(&given, &[0], false);
    assert_eq!((unused.arguments, unused.objects), (given.arguments, used.objects));
    assert_eq!(unused_id(&Input::default()), ObjectId(0));
}

#[test]
fn forgotten_bytes_take_pointers_with_them() {
    let mut o = object(1, int(), &[7; 24], &[(0, leads(2, 0)), (8, leads(3, 0)), (16, leads(4, 0))]);
    forget(&mut o, 12..16);
    assert_eq!(o.pointers, [(0, leads(2, 0)), (16, leads(4, 0))]);
    let forgotten: Vec<usize> = (0..24).filter(|i| o.undefined[*i]).collect();
    assert_eq!(forgotten, [12, 13, 14, 15]);
}

#[test]
fn what_was_not_read_is_filled_with_other_words() {
    let given = input(&[], &[object(1, int(), &[9; 8], &[])]);
    let mut unread = given.clone();
    forget(&mut unread.objects[0], 2..6);
    let other = filled(&given, &unread, 0x0403_0201);
    assert_eq!(other.objects[0].bytes, [9, 9, 3, 4, 1, 2, 9, 9]);
    assert!(other.objects[0].undefined.is_empty());
}
