//! Concrete runs of two versions on shared inputs (`docs/design/solver.md`: witness first).
//!
//! Every input is run in the old version, which may extend standard input while it runs, and then in the new one
//! on the same bytes. Where inputs come from: `search.rs`.

use crate::interp::{
    self, CallResult, CoverageMap, End, Input, Limits, Observation, Outcome, Program, Value,
};
use crate::invariant::candidate::observed::number;
use crate::invariant::observable::{Observable, find_var};
use crate::invariant::witness::complexity::complexity;
use crate::invariant::witness::guessed;
use crate::invariant::witness::input_adaptation;
use crate::invariant::witness::relaying::Relaying;
use crate::invariant::witness::run::{Difference, Run, Theirs};
use crate::ir::{CType, Const, Function, NodeId, UndefinedKind};
use std::ops::ControlFlow;

/// Whether both runs came to an end that other machines reach too.
pub(in crate::invariant) fn is_comparable(run: &Run) -> bool {
    let is_plain =
        |o: &&Outcome| o.end.is_definite() && !o.portability.open_sign && !o.portability.platform_dependent;
    run.same_meaning && [&run.old, &run.new].iter().all(|o| is_plain(o) && !makes_up_library(o))
}

/// Whether both runs are defined and differ in what a user sees.
pub(in crate::invariant) fn is_defined_difference(run: &Run) -> bool {
    let (a, b) = (&run.old, &run.new);
    is_comparable(run)
        && (a.output.stdout != b.output.stdout
            || !interp::same_result(a, b)
            || end_key(&a.end) != end_key(&b.end)
            || run.memory.is_some())
}

/// Fuel of one run, in instructions.
pub(in crate::invariant) const FUEL: u64 = 200_000;

/// Repeats a run and calls `observe` at every arrival at a node of the entry function, until it breaks
/// off.
pub fn watch(
    program: &Program,
    entry: &str,
    input: &Input,
    node: NodeId,
    observe: &mut dyn FnMut(&mut Observation) -> ControlFlow<()>,
) {
    let limits = Limits { fuel: FUEL, ..Limits::default() };
    interp::run_traced(program, entry, input, &limits, &[node], &mut |_, state| observe(state));
}

/// Whether both sides are one function of one program.
pub(super) fn is_alone(old: &Program, new: &Program, entry: (&str, &str)) -> bool {
    std::ptr::eq(old, new) && entry.0 == entry.1
}

/// Runs both programs on one input.
pub fn replay(old: &Program, new: &Program, entry: (&str, &str), input: Input) -> Run {
    replay_within(old, new, entry, input, FUEL)
}

pub(super) fn replay_within(
    old: &Program,
    new: &Program,
    entry: (&str, &str),
    input: Input,
    fuel: u64,
) -> Run {
    replay_with_coverage(old, new, entry, input, fuel, None)
}

/// The same, on the coverage of the old and the new version.
pub(super) fn replay_with_coverage(
    old: &Program,
    new: &Program,
    entry: (&str, &str),
    mut input: Input,
    fuel: u64,
    coverage: Option<&mut [CoverageMap; 2]>,
) -> Run {
    let limits = Limits { fuel, ..Limits::default() };
    if is_alone(old, new, entry) {
        let once = interp::run(old, entry.0, &input, &limits);
        input.stdin = once.read.stdin.clone();
        input.stdin_plan = None;
        return Run {
            input,
            unit: new.unit_of(entry.1).cloned(),
            new: once.clone(),
            old: once,
            memory: None,
            same_meaning: true,
            same_numbers: true,
            theirs: None,
            rests_on_guess: false,
        };
    }
    let before = old.function(entry.0).zip(old.unit_of(entry.0).map(|u| &**u));
    let now = new.function(entry.1).zip(new.unit_of(entry.1).map(|u| &**u));
    // A `main` gets its arguments from the input's `argv`, whatever parameters it has.
    let given = before.zip(now).filter(|_| entry != ("main", "main"));
    let theirs = given.map(|(f, g)| input_adaptation::arguments(f, g, &input.arguments));
    let same_arguments = !matches!(theirs, Some(None));
    let theirs = theirs.flatten();
    let same_numbers = theirs.as_ref().is_none_or(|passed| passed.exact);
    let laid_out_alike = input_adaptation::same_meaning(old, new, entry, &input);
    let relaid = match old.unit_of(entry.0).zip(new.unit_of(entry.1)) {
        Some((to, from)) if !laid_out_alike => input_adaptation::relaid(from, to, &input),
        _ => None,
    };
    let moved = |v: &Value| match (&relaid, old.unit_of(entry.0).zip(new.unit_of(entry.1))) {
        (Some(_), Some((to, from))) => Relaying { from, to }.value(v, &input),
        _ => Some(v.clone()),
    };
    let old_arguments = theirs.map_or_else(|| input.arguments.clone(), |passed| passed.arguments);
    let old_arguments: Option<Vec<Value>> = old_arguments.iter().map(moved).collect();
    let relaid = relaid.filter(|_| old_arguments.is_some());
    let same_meaning = same_arguments && (laid_out_alike || relaid.is_some());
    let theirs = old_arguments
        .filter(|a| *a != input.arguments || relaid.is_some())
        .map(|arguments| Theirs { arguments, objects: relaid });
    let (mut before, mut now) = coverage.map_or((None, None), |[before, now]| (Some(before), Some(now)));
    let run_one = |program: &Program, name: &str, input: &Input, coverage: &mut Option<&mut CoverageMap>| {
        match coverage {
            Some(coverage) => interp::run_with_coverage(program, name, input, &limits, coverage),
            None => interp::run(program, name, input, &limits),
        }
    };
    let mut run_old = |input: &Input| match &theirs {
        None => run_one(old, entry.0, input, &mut before),
        Some(theirs) => run_one(old, entry.0, &theirs.put_into(input), &mut before),
    };
    // Each run may ask for more input than the other; the longer one decides the bytes.
    let mut first = run_old(&input);
    input.stdin = first.read.stdin.clone();
    let second = run_one(new, entry.1, &input, &mut now);
    if second.read.stdin != first.read.stdin {
        input.stdin = second.read.stdin.clone();
        input.stdin_plan = None;
        first = run_old(&input);
    }
    input.stdin_plan = None;
    // Bytes of objects that are laid out otherwise are not compared.
    let returned = same_meaning && laid_out_alike && first.end == End::Return && second.end == End::Return;
    let memory = returned.then(|| interp::memory_difference((old, &first), (new, &second))).flatten();
    let unit = new.unit_of(entry.1).cloned();
    let rests_on_guess = guessed::rests_on_guess(old, &first) || guessed::rests_on_guess(new, &second);
    let (old, new) = (first, second);
    Run { input, unit, old, new, memory, same_meaning, same_numbers, theirs, rests_on_guess }
}

/// Returns how a run shows a difference on a subject, if it does.
pub fn differs(run: &Run, subject: &Observable, old: &Function, new: &Function) -> Option<Difference> {
    let (a, b) = (&run.old, &run.new);
    let undefined = |o: &Outcome| matches!(o.end, End::Undefined { .. });
    if run.same_meaning && undefined(a) != undefined(b) {
        let (event, other) = if undefined(a) { (a, b) } else { (b, a) };
        let shown = other.end.is_definite()
            && subject.is_observable()
            && !run.rests_on_guess
            && !is_made_up(event)
            && ![event, other].into_iter().any(makes_up_library)
            && !leaves_record(run, event)
            && !leaves_untyped(run, event, [old, new])
            && !leaves_answer(run, event)
            && !has_no_end(run, event)
            && !follows_bytes(run, event);
        return shown.then_some(Difference::Undefined);
    }
    if !is_comparable(run) {
        return None;
    }
    let differ = match subject {
        Observable::Output => {
            a.output.stdout != b.output.stdout
                || a.output.stdout_lost != b.output.stdout_lost
                || !interp::same_errors(a, b)
        }
        Observable::Result => {
            // Of pointers counts what they lead to: where that lies depends on all that was allocated.
            let leads = a.returned_target.is_some() || b.returned_target.is_some();
            let same = || same_number((a.returned, &old.ret), (b.returned, &new.ret));
            let moved = leads && run.is_relaid();
            both_return(run) && !moved && (a.returned_target != b.returned_target || !leads && !same())
        }
        Observable::Ends => {
            end_key(&a.end) != end_key(&b.end)
                || a.ending.exit_code != b.ending.exit_code && !both_return(run)
        }
        // A relation is judged by its terms, a cell by its address, a call by its line.
        Observable::Relation { .. } | Observable::Cell { .. } | Observable::Calls => false,
        Observable::Memory => run.memory.is_some(),
        Observable::Variable { name, ordinal } => {
            let value = |o: &Outcome, f: &Function| {
                let v = find_var(f, name, *ordinal)?;
                Some((o.local(v)?, f.var(v).ty.clone()))
            };
            both_return(run)
                && match (value(a, old), value(b, new)) {
                    // Where objects of a version lie is no value.
                    (Some((x, s)), Some((y, t))) if s.is_pointer() || t.is_pointer() => {
                        (x.to_bits() == 0) != (y.to_bits() == 0)
                    }
                    (Some((x, s)), Some((y, t))) => !same_number((Some(x), &s), (Some(y), &t)),
                    _ => false,
                }
        }
    };
    differ.then_some(Difference::Defined)
}

/// Whether a run only met something undefined because functions that are not known did nothing: they
/// would have written what is read without ever being written.
pub(in crate::invariant) fn is_made_up(o: &Outcome) -> bool {
    let End::Undefined { kind: UndefinedKind::Uninitialised, .. } = o.end else { return false };
    // Locals and what was allocated have no name that versions share.
    let writable = |v: &Value| match v {
        Value::Pointer { .. } => true,
        Value::Global { symbol, .. } => &**symbol == "?",
        Value::Const(_) | Value::Function(_) => false,
    };
    let takes_pointer = |c: &interp::AssumedCall| c.arguments.iter().any(writable);
    // That a request for memory is refused is all that it does.
    let is_refusal = |c: &interp::AssumedCall| c.given && interp::is_library(&c.callee);
    o.assumed.calls.iter().any(|c| !is_refusal(c) && takes_pointer(c))
}

/// Whether a run rests on results of the library that follow from what it got, and were made up.
pub(in crate::invariant) fn makes_up_library(o: &Outcome) -> bool {
    o.assumed.calls.iter().any(|c| c.is_determined)
}

/// Whether a run only met something undefined because it left structures of the input: how large those
/// are, and how many, was made up from their declared type, and the code may take them for others.
fn leaves_record(run: &Run, o: &Outcome) -> bool {
    let End::Undefined { kind: UndefinedKind::OutOfBounds, .. } = o.end else { return false };
    let object = o.ending.on.and_then(|(id, _)| run.input.objects.iter().find(|x| x.id == id));
    object.is_some_and(|x| match &x.ty {
        CType::Array(element, _) => matches!(**element, CType::Record(_)),
        // Of what a model of the solver gives only the bytes that matter are there.
        ty => matches!(ty, CType::Record(_) | CType::Void),
    })
}

/// Whether a run only met something undefined because it took bytes of the input for an address: what an object holds
/// of which the text says that it has characters or numbers was made up, and the code knows better.
fn follows_bytes(run: &Run, o: &Outcome) -> bool {
    let Some(to) = o.ending.nowhere else { return false };
    let size = run.unit.as_ref().map_or(8, |unit| usize::from(unit.data_model.pointer_bits() / 8));
    let address = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |word, byte| word << 8 | u64::from(*byte));
    // A member of what is there may be asked for.
    let leads_there = |from: u64| from != 0 && to.checked_sub(from).is_some_and(|offset| offset < PAGE);
    run.input.objects.iter().any(|object| {
        // Bytes behind the end of what is known are zero.
        let padded: Vec<u8> = object.bytes.iter().copied().chain(std::iter::repeat_n(0, size)).collect();
        padded.windows(size).take(object.bytes.len()).any(|bytes| leads_there(address(bytes)))
    })
}

/// How far behind an address a member may lie.
const PAGE: u64 = 4096;

/// Whether a run only met something undefined because it left what a parameter leads to that is a pointer to `void`
/// in all versions: what is there has the type that the code takes it for, and what was made up has none.
fn leaves_untyped(run: &Run, o: &Outcome, versions: [&Function; 2]) -> bool {
    let End::Undefined { kind: UndefinedKind::OutOfBounds, .. } = o.end else { return false };
    let Some((left, _)) = o.ending.on else { return false };
    let is_untyped = |f: &Function, k: usize| {
        let ty = f.params.get(k).and_then(|p| f.vars.get(p.0 as usize)).map(|var| &var.ty);
        matches!(ty, Some(CType::Pointer(to)) if **to == CType::Void)
    };
    let leads_there = |v: &Value| matches!(v, Value::Pointer { object, .. } if *object == left);
    let given = run.input.arguments.iter().enumerate().filter(|(_, v)| leads_there(v));
    let mut places = given.map(|(k, _)| k).peekable();
    places.peek().is_some() && places.all(|k| versions.iter().all(|f| is_untyped(f, k)))
}

/// Whether a run only met something undefined because it left what a function gave of which nothing is known: how large
/// that is was made up, and the function knows what it was asked for.
fn leaves_answer(run: &Run, o: &Outcome) -> bool {
    let End::Undefined { kind: UndefinedKind::OutOfBounds, .. } = o.end else { return false };
    let Some((left, _)) = o.ending.on else { return false };
    let gives_it = |c: &CallResult| matches!(c.result, Value::Pointer { object, .. } if object == left);
    run.input.calls.iter().any(|c| gives_it(c) && !interp::is_library(&c.callee))
}

/// Whether a run only met something undefined because it left a text of the input that has no end: nobody was told how
/// long it is, so a caller gives one with a zero at its end.
fn has_no_end(run: &Run, o: &Outcome) -> bool {
    let End::Undefined { kind: UndefinedKind::OutOfBounds, .. } = o.end else { return false };
    let left = o.ending.on.and_then(|(id, _)| run.input.objects.iter().find(|x| x.id == id));
    left.is_some_and(|text| {
        let is_text = matches!(&text.ty, CType::Array(of, _) if matches!(**of, CType::Int { bits: 8, .. }));
        let tells_length =
            |v: &Value| matches!(v, Value::Const(c) if c.to_bits() == text.bytes.len() as u128);
        is_text && !text.bytes.contains(&0) && !run.input.arguments.iter().any(tells_length)
    })
}

pub(in crate::invariant) fn both_return(run: &Run) -> bool {
    run.old.end == End::Return && run.new.end == End::Return
}

/// Identity of values; a NaN equals any other.
pub(in crate::invariant) fn same(a: Option<Const>, b: Option<Const>) -> bool {
    a == b || a.is_some_and(Const::is_nan) && b.is_some_and(Const::is_nan)
}

/// Identity of values as their types read them: an `int` and a `long` of the same number are the same.
fn same_number(a: (Option<Const>, &CType), b: (Option<Const>, &CType)) -> bool {
    let integer = |(c, ty): (Option<Const>, &CType)| {
        c.filter(|_| matches!(ty, CType::Int { .. } | CType::Bool)).and_then(|c| number(c, ty))
    };
    match (integer(a), integer(b)) {
        (Some(x), Some(y)) => x == y,
        _ => same(a.0, b.0),
    }
}

/// An end without its place: a failed assertion is the same wherever it stands.
fn end_key(e: &End) -> String {
    match e {
        End::AssertFailed { text, .. } => format!("assertion {text}"),
        End::NoReturn { callee, .. } => format!("noreturn {callee}"),
        End::Exit(k) => format!("exit {k}"),
        other => other.name().into(),
    }
}

/// What two runs must have in common for one to stand for the other as an example: how they end,
/// whether they overflow or access memory out of step, how many conversions of standard input succeed, and how plain the
/// difference is.
pub(in crate::invariant) fn likeness(run: &Run) -> impl PartialEq + use<> {
    let ends = [&run.old, &run.new].map(|o| {
        (o.end.clone(), end_key(&o.end), o.overflowed(), o.portability.misaligned, o.read.values.len())
    });
    (ends, is_sign_of_zero(run))
}

/// Whether results and texts differ in nothing but the sign of zeros: true, and hard to see.
fn is_sign_of_zero(run: &Run) -> bool {
    let (a, b) = (&run.old, &run.new);
    let float = |o: &Outcome| o.returned.and_then(Const::float);
    let same_result = a.returned == b.returned || float(a).is_some_and(|x| float(b) == Some(x));
    let words = |o: &Outcome| -> Vec<String> {
        let text = String::from_utf8_lossy(&o.output.stdout).into_owned();
        text.split_whitespace().map(str::to_owned).collect()
    };
    let same_word = |(x, y): (&String, &String)| {
        let zero = |w: &String| w.parse::<f64>().is_ok_and(|v| v == 0.0);
        x == y || zero(x) && zero(y)
    };
    let same_text = || {
        let (x, y) = (words(a), words(b));
        a.output.stdout == b.output.stdout || x.len() == y.len() && x.iter().zip(&y).all(same_word)
    };
    (a.returned != b.returned || a.output.stdout != b.output.stdout) && same_result && same_text()
}

/// Whether both runs end at an assertion that fails: what differs is the message.
fn both_fail(run: &Run) -> bool {
    [&run.old, &run.new].iter().all(|o| matches!(o.end, End::AssertFailed { .. }))
}

/// Returns the best run that shows a difference: a defined one before an undefined one, then one
/// without overflow, then the simplest.
pub fn witness<'r>(
    runs: &'r [Run],
    differs: &dyn Fn(&Run) -> Option<Difference>,
) -> Option<(&'r Run, Difference)> {
    /// Runs that are compared; the inputs that come first are simple ones.
    const EXAMINED: usize = 48;
    let shown = runs.iter().filter_map(|r| differs(r).map(|d| (r, d)));
    let overflows = |r: &Run| r.old.overflowed() || r.new.overflowed();
    let assumes = |r: &Run| !r.old.assumed.calls.is_empty() || !r.new.assumed.calls.is_empty();
    let misaligned = |r: &Run| r.old.portability.misaligned || r.new.portability.misaligned;
    /// What is better first: defined, plain to see, aligned, without overflow, without unknown calls, simple.
    type Rank = (Difference, bool, bool, bool, bool, u64);
    let mut best: Option<(Rank, &Run)> = None;
    let mut examined = 0;
    for (r, d) in shown {
        // Of defined differences there may be few.
        examined += 1;
        if examined > EXAMINED && best.as_ref().is_some_and(|((least, ..), _)| *least <= d) {
            continue;
        }
        let is_plain = !(is_sign_of_zero(r) || both_fail(r));
        let key = (d, !is_plain, misaligned(r), overflows(r), assumes(r), complexity(&r.input));
        if best.as_ref().is_none_or(|(least, _)| key < *least) {
            best = Some((key, r));
        }
    }
    best.map(|((d, ..), r)| (r, d))
}

#[cfg(test)]
mod tests;
