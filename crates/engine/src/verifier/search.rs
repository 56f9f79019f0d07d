//! All paths of a program, with sets of inputs that are divided where a set is too coarse.
//!
//! A *task* is a state and limits of the inputs that it has not asked for yet. Its paths are followed
//! breadth first; where a decision stays open both ways are followed. A state that is within one that
//! was at the head of the same loop before is left: so the states of a loop that is closed under all
//! inputs are a proof that holds however often it is run through. A path that seems to fail is confirmed
//! by runs of inputs from its sets, or the task is divided at the input that the open decisions on the
//! path depend on.

use super::machine::{Machine, Next};
use super::state::{Given, Inputs, State};
use super::value::{Float, Stop, Value, at_ordinal, ordinal};
use super::{Effort, Limits};
use crate::ir::interval::Bits;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;

/// Steps of one task after which it is divided, if it can be.
const TASK_STEPS: u64 = 20_000;
/// States of one task that wait.
const MAX_WAITING: usize = 2_000;
/// A set of no more values is taken apart at once.
const FEW: i128 = 16;
/// Inputs of one path.
const MAX_GIVEN: usize = 128;
/// States at a loop that may hold another one, of those that are looked at.
const MAX_COMPARED: usize = 64;

/// What a run of an input that seems to fail showed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// What was looked for; the search ends.
    Wanted,
    /// A failure that does not count.
    Other,
    Nothing,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// No failure but those that do not count.
    Exhausted,
    Wanted,
    Open(&'static str),
}

struct Task {
    /// None: the entry.
    start: Option<Rc<State>>,
    first: usize,
    limits: Vec<Option<Value>>,
}

/// Where a state is, and which single values it has.
type Key = (Vec<(usize, u32)>, u64);

/// Paths that are looked at again, with the values of an input divided.
struct Division {
    /// The state that asks for the input; none: the entry.
    origin: Option<Rc<State>>,
    number: usize,
    tasks: Vec<Task>,
}

/// What became of the paths of a task.
struct Paths {
    divisions: Vec<Division>,
    ended: Option<Ended>,
}

/// Follows all paths. `confirm` runs inputs of a path that seems to fail.
pub(super) fn search(
    machine: &mut Machine,
    limits: &Limits,
    effort: &mut Effort,
    confirm: &mut dyn FnMut(&[Given], &mut Effort) -> Shown,
) -> Ended {
    let mut tasks = vec![Task { start: None, first: 0, limits: Vec::new() }];
    while let Some(task) = tasks.pop() {
        effort.tasks += 1;
        machine.first = task.first;
        machine.limits = task.limits.clone();
        let paths = follow(machine, &task, limits, effort, confirm);
        if let Some(ended) = paths.ended {
            return ended;
        }
        tasks.extend(paths.divisions.into_iter().flat_map(|d| d.tasks));
    }
    Ended::Exhausted
}

/// Parts of a set: what a path has not kept of it is cut off first, then the rest is halved, or taken
/// apart where there are few. `None` for single values.
fn divide(whole: &Value, kept: &Value) -> Option<Vec<Value>> {
    match (whole, kept) {
        (Value::Bits(b), Value::Bits(k)) => {
            let part = |(from, to): (i128, i128)| Bits::new(b.width, (from, to), b.u()).map(Value::Bits);
            // Bounds that are kept as unsigned ones may leave some of them empty.
            Some(ranges(b.s(), k.s())?.into_iter().filter_map(part).collect())
        }
        (Value::Float(f), Value::Float(k)) if f.has_numbers() => {
            if f.nan {
                let nan = Float { low: 1.0, high: -1.0, ..*f };
                return Some(vec![Value::Float(nan), Value::Float(Float { nan: false, ..*f })]);
            }
            let order = |f: &Float| (i128::from(ordinal(f.low, f.sort)), i128::from(ordinal(f.high, f.sort)));
            let kept = if k.has_numbers() { order(k) } else { order(f) };
            let at = |n: i128| at_ordinal(n as i64, f.sort);
            let part = |(from, to): (i128, i128)| Value::Float(Float { low: at(from), high: at(to), ..*f });
            Some(ranges(order(f), kept)?.into_iter().map(part).collect())
        }
        _ => None,
    }
}

/// Parts of an interval of which only `kept` matters; `None` for a single number.
fn ranges(whole: (i128, i128), kept: (i128, i128)) -> Option<Vec<(i128, i128)>> {
    let (low, high) = whole;
    let (from, to) = (kept.0.max(low), kept.1.min(high));
    if low >= high {
        return None;
    }
    let mut parts = Vec::new();
    if low < from {
        parts.push((low, from - 1));
    }
    if to < high {
        parts.push((to + 1, high));
    }
    match to - from {
        0..FEW => parts.extend((from..=to).map(|n| (n, n))),
        _ if !parts.is_empty() => parts.push((from, to)),
        _ => {
            let middle = (from + to) >> 1;
            parts.extend([(from, middle), (middle + 1, to)]);
        }
    }
    Some(parts)
}

/// How many values a set has, as a power of two.
fn size(value: &Value) -> u32 {
    let log = |n: i128| 128 - n.leading_zeros();
    match value {
        Value::Bits(b) => log((b.s().1 - b.s().0).min(b.u().1 - b.u().0)),
        Value::Float(f) if f.has_numbers() => {
            log(i128::from(ordinal(f.high, f.sort)) - i128::from(ordinal(f.low, f.sort)))
                .max(u32::from(f.nan))
        }
        _ => 0,
    }
}

/// The input to divide: of those that matter the one with the most values.
fn widest(state: &State, among: Inputs) -> Option<usize> {
    let matters = |n: &usize| among & (1u64 << (*n).min(63)) != 0;
    let can = |n: &usize| {
        let g = &state.given[*n];
        g.before.is_some() && divide(&g.asked, &g.item.value).is_some()
    };
    let values =
        |n: &usize| (size(&state.given[*n].item.value), size(&state.given[*n].asked), usize::MAX - n);
    (0..state.given.len()).filter(|n| matters(n) && can(n)).max_by_key(values)
}

fn follow(
    machine: &Machine,
    task: &Task,
    limits: &Limits,
    effort: &mut Effort,
    confirm: &mut dyn FnMut(&[Given], &mut Effort) -> Shown,
) -> Paths {
    let mut paths = Paths { divisions: Vec::new(), ended: None };
    let start = match &task.start {
        Some(start) => Ok((**start).clone()),
        None => machine.start(),
    };
    let mut waiting: VecDeque<State> = match start {
        Ok(start) => VecDeque::from([start]),
        Err(Stop::Undefined) => VecDeque::new(),
        Err(Stop::Unsupported(why)) => {
            paths.ended = Some(Ended::Open(why));
            return paths;
        }
    };
    let mut seen: Seen = HashMap::new();
    let mut steps = 0;
    while let Some(mut state) = waiting.pop_front() {
        if is_divided(&state, &paths) {
            continue;
        }
        let end = loop {
            steps += 1;
            effort.steps += 1;
            if effort.steps > limits.steps {
                paths.ended = Some(Ended::Open("the limit of steps"));
                return paths;
            }
            if steps > TASK_STEPS || waiting.len() > MAX_WAITING {
                if divide_at(&state, state.unsure, task, &mut paths) {
                    break Ok(Next::End);
                }
                if waiting.len() > 4 * MAX_WAITING {
                    break Err(Stop::Unsupported("the limit of states"));
                }
            }
            if state.given.len() > MAX_GIVEN && machine.exact.is_none() {
                break Err(Stop::Unsupported("the limit of inputs"));
            }
            if was_seen(machine, &mut state, &mut seen) {
                break Ok(Next::End);
            }
            match machine.step(&mut state) {
                Ok(Next::On) => {}
                end => break end,
            }
        };
        match end {
            Ok(Next::End) | Err(Stop::Undefined) => effort.paths += 1,
            Ok(Next::On) => {}
            Ok(Next::Fork(states)) => {
                effort.states += states.len() as u64;
                waiting.extend(states);
            }
            Ok(Next::Failure) => {
                effort.paths += 1;
                let shown = confirm(&state.given, effort);
                if shown == Shown::Wanted {
                    paths.ended = Some(Ended::Wanted);
                    return paths;
                }
                let all = state.unsure != 0;
                let divided = all && divide_at(&state, state.unsure, task, &mut paths)
                    || divide_at(&state, Inputs::MAX, task, &mut paths);
                if !divided && shown == Shown::Nothing {
                    paths.ended = Some(Ended::Open("a failure that no run shows"));
                    return paths;
                }
            }
            Err(Stop::Unsupported(why)) => {
                // Of single values more is known.
                if !divide_at(&state, state.unsure, task, &mut paths) {
                    paths.ended = Some(Ended::Open(why));
                    return paths;
                }
            }
        }
    }
    paths
}

/// Whether a state is behind one that is going to be looked at again.
fn is_divided(state: &State, paths: &Paths) -> bool {
    paths.divisions.iter().any(|d| match (&d.origin, state.given.get(d.number)) {
        (None, _) => true,
        (Some(origin), Some(given)) => given.before.as_ref().is_some_and(|b| Rc::ptr_eq(b, origin)),
        _ => false,
    })
}

/// Has an input of a state divided, if there is one among those given that can be.
fn divide_at(state: &State, among: Inputs, task: &Task, paths: &mut Paths) -> bool {
    if is_divided(state, paths) {
        return true;
    }
    let Some(number) = widest(state, among) else { return false };
    let given = &state.given[number];
    let Some(parts) = divide(&given.asked, &given.item.value) else { return false };
    // Parameters are there before anything can be done.
    let origin = given.before.clone().filter(|_| given.callee.is_some());
    let first = origin.as_ref().map_or(0, |before| before.given.len());
    // Inputs behind it keep the limits that this task has for them.
    let later = |n: usize| task.limits.get(n.checked_sub(task.first)?).copied().flatten();
    let most = state.given.len().max(task.first + task.limits.len());
    let limits: Vec<Option<Value>> =
        (first..most).map(|n| state.given.get(n).map(|g| g.asked).or_else(|| later(n))).collect();
    let at = number - first;
    let one = |value: Value| {
        let mut limits = limits.clone();
        limits[at] = Some(value);
        Task { start: origin.clone(), first, limits }
    };
    let tasks = parts.into_iter().rev().map(one).collect();
    paths.divisions.push(Division { origin, number, tasks });
    true
}

/// States at the heads of loops, without their inputs.
type Seen = HashMap<Key, Vec<State>>;

/// Whether a state is within one that was here before; at the heads of loops.
fn was_seen(machine: &Machine, state: &mut State, seen: &mut Seen) -> bool {
    let Some(frame) = state.frames.last() else { return false };
    let body = &machine.code.bodies[frame.body];
    if !body.heads[frame.node as usize] || !state.assumed.is_empty() {
        return false;
    }
    machine.forget(state);
    let places = state.frames.iter().map(|f| (f.body, f.node)).collect();
    let known = seen.entry((places, state.singles())).or_default();
    if known.iter().rev().take(MAX_COMPARED).any(|k| k.contains(state)) {
        return true;
    }
    known.push(state.without_inputs());
    false
}
