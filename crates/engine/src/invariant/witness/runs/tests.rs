//! How runs that are made up compare, and which of them is shown.

use super::*;
use crate::by_hand::{
    array, global, input, int, integer, leads, number, object, outcome, place, pointer, returned, straight,
    undefined, unit,
};
use crate::interp::{
    Assumed, AssumedCall, Ending, FinalState, Identity, ObjectId, Output, StandardInput, Target,
};
use crate::ir::RecordId;
use std::sync::Arc;

fn run(old: Outcome, new: Outcome) -> Run {
    Run::made(Input::default(), old, new)
}

fn difference(run: &Run, subject: &Observable) -> Option<Difference> {
    let f = straight("f", &[("n", int())], &[]);
    differs(run, subject, &f, &f)
}

fn assumed(callee: &str, arguments: &[Value]) -> AssumedCall {
    let (arguments, given, is_determined) = (arguments.to_vec(), false, false);
    AssumedCall { callee: callee.into(), nth: 1, arguments, line: 3, given, is_determined }
}

fn prints(text: &str) -> Outcome {
    Outcome { output: Output { stdout: text.as_bytes().to_vec(), ..Output::default() }, ..returned(0) }
}

#[test]
fn results_differ_by_their_numbers() {
    assert_eq!(difference(&run(returned(1), returned(2)), &Observable::Result), Some(Difference::Defined));
    assert_eq!(difference(&run(returned(1), returned(1)), &Observable::Result), None);
    let wide = Outcome { returned: Some(Const::bv(64, -1)), ..returned(0) };
    let (f, mut g) = (straight("f", &[], &[]), straight("f", &[], &[]));
    g.ret = integer(64, true);
    assert_eq!(differs(&run(returned(-1), wide.clone()), &Observable::Result, &f, &g), None);
    g.ret = integer(64, false);
    assert_eq!(differs(&run(returned(-1), wide), &Observable::Result, &f, &g), Some(Difference::Defined));
}

#[test]
fn pointers_differ_by_what_they_lead_to() {
    let to = |id, at: i128| Outcome {
        returned: Some(Const::bv(64, at)),
        returned_target: Some(Target::Object { identity: Identity::Input(ObjectId(id)), offset: 0 }),
        ..outcome(End::Return)
    };
    assert_eq!(difference(&run(to(1, 4096), to(1, 8192)), &Observable::Result), None);
    assert_eq!(difference(&run(to(1, 4096), to(2, 4096)), &Observable::Result), Some(Difference::Defined));
}

#[test]
fn ends_differ_without_their_places() {
    let fails = |text: &str, line| outcome(End::AssertFailed { text: text.into(), place: place(line) });
    let ends = |a: Outcome, b: Outcome| difference(&run(a, b), &Observable::Ends).is_some();
    assert!(!ends(fails("x > 0", 3), fails("x > 0", 9)));
    assert!(ends(fails("x > 0", 3), fails("x > 1", 3)));
    assert!(ends(returned(0), outcome(End::Exit(0))) && ends(outcome(End::Exit(1)), outcome(End::Exit(2))));
    assert!(!ends(returned(0), returned(5)), "both return");
}

#[test]
fn what_only_one_side_leaves_undefined_is_a_difference_of_another_kind() {
    let traps = || outcome(undefined(UndefinedKind::DivisionByZero));
    let both = run(traps(), returned(0));
    assert_eq!(difference(&both, &Observable::Result), Some(Difference::Undefined));
    let variable = Observable::Variable { name: "n".into(), ordinal: 0 };
    assert_eq!(difference(&both, &variable), None, "nobody sees a variable");
    assert_eq!(difference(&run(traps(), traps()), &Observable::Result), None);
    assert_eq!(difference(&run(traps(), outcome(End::Fuel)), &Observable::Result), None);
    let other_meaning = Run { same_meaning: false, ..both };
    assert_eq!(difference(&other_meaning, &Observable::Result), None);
}

#[test]
fn variables_differ_by_value_and_pointers_by_being_null() {
    let f = straight("f", &[("n", int()), (".p", pointer(int()))], &[]);
    let ends = |n, p| Outcome {
        left: FinalState {
            locals: vec![Some(Const::bv(32, n)), Some(Const::bv(64, p))],
            ..FinalState::default()
        },
        ..returned(0)
    };
    let shown = |a, b, name: &str| {
        differs(&run(a, b), &Observable::Variable { name: name.into(), ordinal: 0 }, &f, &f).is_some()
    };
    assert!(shown(ends(1, 8), ends(2, 8), "n") && !shown(ends(1, 8), ends(1, 8), "n"));
    assert!(!shown(ends(1, 8), ends(1, 16), "p") && shown(ends(1, 8), ends(1, 0), "p"));
    assert!(!shown(ends(1, 8), ends(2, 8), "m"), "what is not there does not differ");
}

#[test]
fn runs_that_rest_on_the_machine_are_not_compared() {
    let plain = run(prints("a"), prints("b"));
    assert!(is_comparable(&plain) && is_defined_difference(&plain));
    let changed = |change: &dyn Fn(&mut Outcome)| {
        let mut r = plain.clone();
        change(&mut r.new);
        is_comparable(&r)
    };
    assert!(!changed(&|o| o.portability.open_sign = true));
    assert!(!changed(&|o| o.portability.platform_dependent = true));
    assert!(!changed(&|o| o.end = End::Fuel));
    assert!(changed(&|o| o.assumed.calls.push(assumed("nobody_knows", &[]))));
    let made_up = AssumedCall { is_determined: true, ..assumed("strerror", &[]) };
    assert!(!changed(&|o| o.assumed.calls.push(made_up.clone())));
}

#[test]
fn a_read_of_what_unknown_functions_would_have_written_is_made_up() {
    let met = |calls: &[AssumedCall], kind| {
        is_made_up(&Outcome {
            assumed: Assumed { calls: calls.to_vec(), ..Assumed::default() },
            ..outcome(undefined(kind))
        })
    };
    let (uninitialised, other) = (UndefinedKind::Uninitialised, UndefinedKind::DivisionByZero);
    assert!(met(&[assumed("fill", &[leads(1, 0)])], uninitialised));
    assert!(!met(&[assumed("fill", &[leads(1, 0)])], other));
    assert!(!met(&[assumed("fill", &[number(1)])], uninitialised));
    assert!(!met(&[], uninitialised));
    let refusal = AssumedCall { given: true, ..assumed("malloc", &[leads(1, 0)]) };
    assert!(!met(&[refusal], uninitialised));
}

#[test]
fn structures_of_the_input_may_be_larger_than_we_made_them() {
    let leaves = |ty: CType, kind| {
        let event = Outcome {
            ending: Ending { on: Some((ObjectId(1), 8)), ..Ending::default() },
            ..outcome(undefined(kind))
        };
        let given = input(&[leads(1, 0)], &[object(1, ty, &[0; 4], &[])]);
        leaves_record(&Run::made(given, returned(0), event.clone()), &event)
    };
    let s = || CType::Record(RecordId(0));
    let bounds = UndefinedKind::OutOfBounds;
    assert!(leaves(s(), bounds) && leaves(array(s(), 2), bounds) && leaves(CType::Void, bounds));
    assert!(!leaves(int(), bounds) && !leaves(array(int(), 2), bounds));
    assert!(!leaves(s(), UndefinedKind::NullDereference));
}

#[test]
fn a_text_has_an_end_where_nobody_says_how_long_it_is() {
    let shown = |bytes: &[u8], arguments: [Value; 2], kind| {
        let ending = Ending { on: Some((ObjectId(1), 2)), ..Ending::default() };
        let event = Outcome { ending, ..outcome(undefined(kind)) };
        let f = straight("f", &[("p", pointer(integer(8, true))), ("n", int())], &[]);
        let text = object(1, array(integer(8, true), bytes.len() as u64), bytes, &[]);
        let given = input(&arguments, &[text]);
        differs(&Run::made(given, returned(0), event.clone()), &Observable::Result, &f, &f).is_some()
    };
    let bounds = UndefinedKind::OutOfBounds;
    assert!(!shown(b"ab", [leads(1, 0), number(7)], bounds));
    assert!(shown(b"a\0", [leads(1, 0), number(7)], bounds), "it has an end");
    assert!(shown(b"ab", [leads(1, 0), number(2)], bounds), "the caller says where it ends");
    assert!(shown(b"ab", [leads(1, 0), number(7)], UndefinedKind::DivisionByZero));
}

#[test]
fn what_has_no_type_may_be_larger_than_we_made_it() {
    let event = Outcome {
        ending: Ending { on: Some((ObjectId(1), 8)), ..Ending::default() },
        ..outcome(undefined(UndefinedKind::OutOfBounds))
    };
    let text = array(integer(8, true), 1);
    let shown = |params: [CType; 2], arguments: [Value; 2]| {
        let [a, b] = params;
        let f = straight("f", &[("p", a), ("q", b)], &[]);
        let given = input(&arguments, &[object(1, text.clone(), &[0], &[])]);
        differs(&Run::made(given, returned(0), event.clone()), &Observable::Result, &f, &f).is_some()
    };
    let (bytes, untyped) = (pointer(integer(8, true)), pointer(CType::Void));
    assert!(!shown([untyped.clone(), int()], [leads(1, 0), number(3)]));
    assert!(shown([bytes.clone(), int()], [leads(1, 0), number(3)]));
    assert!(shown([untyped.clone(), bytes], [leads(1, 0), leads(1, 0)]), "the other says what is there");
    assert!(shown([int(), untyped], [number(3), number(0)]), "nothing leads there");
}

#[test]
fn bytes_that_are_taken_for_an_address_show_nothing() {
    let bytes = object(1, array(integer(8, true), 2), b"aa", &[]);
    let to = |nowhere| {
        let ending = Ending { nowhere: Some(nowhere), ..Ending::default() };
        Outcome { ending, ..outcome(undefined(UndefinedKind::BadPointer)) }
    };
    let shows = |nowhere| {
        let input = input(&[leads(1, 0)], std::slice::from_ref(&bytes));
        difference(&Run::made(input, returned(0), to(nowhere)), &Observable::Ends).is_some()
    };
    assert!(!shows(0x6161) && !shows(0x6161 + 24), "a member of what is there");
    assert!(shows(0x6161_6161) && shows(1 << 40), "no bytes of the input");
}

#[test]
fn the_sign_of_a_zero_is_hard_to_see() {
    let float = |v: f64| Outcome { returned: Some(Const::f64(v)), ..outcome(End::Return) };
    assert!(is_sign_of_zero(&run(float(0.0), float(-0.0))));
    assert!(!is_sign_of_zero(&run(float(0.0), float(1.0))));
    assert!(!is_sign_of_zero(&run(float(0.0), float(0.0))), "nothing differs");
    assert!(is_sign_of_zero(&run(prints("x -0.0"), prints("x 0.0"))));
    assert!(!is_sign_of_zero(&run(prints("x -0.0"), prints("y 0.0"))));
    assert!(!is_sign_of_zero(&run(prints("0 0"), prints("0"))));
}

#[test]
fn a_nan_is_the_same_as_any_other() {
    let nan = Some(Const::f64(f64::NAN));
    assert!(same(nan, nan) && same(Some(Const::f32(f32::NAN)), nan));
    assert!(!same(nan, Some(Const::f64(0.0))) && !same(nan, None) && same(None, None));
}

/// Which of some runs is shown, by its first argument; `d` says how a run differs.
fn shown(runs: &[Run], d: &dyn Fn(&Run) -> Option<Difference>) -> Option<(i128, Difference)> {
    let (run, d) = witness(runs, d)?;
    let Value::Const(c) = run.input.arguments[0] else { return None };
    Some((c.signed()?, d))
}

#[test]
fn the_plainest_run_is_shown() {
    let with = |n, new: Outcome| Run::made(input(&[number(n)], &[]), returned(0), new);
    let always = |_: &Run| Some(Difference::Defined);
    let simple = [with(500, returned(1)), with(3, returned(1)), with(40, returned(1))];
    assert_eq!(shown(&simple, &always), Some((3, Difference::Defined)));
    let overflows = Outcome { overflow: Some(place(3)), ..returned(1) };
    assert_eq!(shown(&[with(3, overflows), with(500, returned(1))], &always).map(|s| s.0), Some(500));
    let assumes =
        Outcome { assumed: Assumed { calls: vec![assumed("f", &[])], ..Assumed::default() }, ..returned(1) };
    assert_eq!(shown(&[with(3, assumes), with(500, returned(1))], &always).map(|s| s.0), Some(500));
    assert_eq!(shown(&simple, &|_| None), None);
}

#[test]
fn a_defined_difference_is_shown_before_an_undefined_one() {
    let with = |n| Run::made(input(&[number(n)], &[]), returned(0), returned(1));
    let d = |r: &Run| {
        let small = r.input.arguments == [number(1)];
        Some(if small { Difference::Undefined } else { Difference::Defined })
    };
    assert_eq!(shown(&[with(1), with(900)], &d), Some((900, Difference::Defined)));
    // However many come before it.
    let mut runs = vec![with(1); 60];
    runs.push(with(900));
    assert_eq!(shown(&runs, &d), Some((900, Difference::Defined)));
}

#[test]
fn the_older_version_gets_what_is_its_own() {
    let given = input(&[number(1)], &[object(1, int(), &[1, 0, 0, 0], &[])]);
    let mut run = Run::made(given.clone(), returned(0), returned(0));
    assert_eq!(*run.input_of(true), given);
    run.theirs = Some(Theirs { arguments: vec![number(2)], objects: None });
    assert_eq!(run.input_of(true).arguments, [number(2)]);
    assert_eq!(run.input_of(true).objects, given.objects);
    assert_eq!(*run.input_of(false), given);
    assert!(!run.is_relaid());
    run.theirs = Some(Theirs { arguments: vec![number(2)], objects: Some(Vec::new()) });
    assert!(run.input_of(true).objects.is_empty() && run.is_relaid());
}

#[test]
fn runs_are_alike_that_end_and_differ_in_the_same_way() {
    let alike = |a: &Run, b: &Run| likeness(a) == likeness(b);
    let plain = run(returned(0), returned(1));
    assert!(alike(&plain, &run(returned(0), returned(7))));
    assert!(!alike(&plain, &run(returned(0), outcome(End::Exit(1)))));
    let reads =
        Outcome { read: StandardInput { values: vec![None], ..StandardInput::default() }, ..returned(1) };
    assert!(!alike(&plain, &run(returned(0), reads)));
    let overflows = Outcome { overflow: Some(place(3)), ..returned(1) };
    assert!(!alike(&plain, &run(returned(0), overflows)));
}

#[test]
fn one_function_of_one_program_is_alone() {
    let program = |symbol: &str| {
        let unit =
            unit(Vec::new(), vec![global(symbol, int(), 4, Vec::new())], vec![straight("f", &[], &[])]);
        Program::new(vec![Arc::new(unit)])
    };
    let (a, b) = (program("g"), program("h"));
    assert!(is_alone(&a, &a, ("f", "f")) && !is_alone(&a, &b, ("f", "f")) && !is_alone(&a, &a, ("f", "g")));
}
