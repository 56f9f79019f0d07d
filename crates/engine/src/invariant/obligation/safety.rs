//! Built-in safety properties: what a change makes undefined that was defined before, where it comes to
//! `abort()`, and what memory it leaves that nobody can reach any more.
//!
//! Only runs speak. A violation is *introduced* if an input runs in the older version to an end,
//! without failing and without anything undefined, and meets the event in the newer one;
//! *preexisting* if the older version meets an event of the same kind on it. Silence proves nothing.
//!
//! Whether an introduced violation is *certain* depends on the input, which we made up. Nobody need
//! pass it, and then the older version, which did not look at it, says nothing either:
//! - memory that stands for a pointer argument is as long as we made it, so leaving it is no certain
//!   violation;
//! - what the older version never read of it (and of globals) may hold things that callers never put
//!   there: the event has to be met, too, where all of that is something else;
//! - a null pointer that the older version did not tell from another one may be one that callers do
//!   not pass, wherever it stands;
//! - a number that the older version does not take may be one that callers will not pass: the event
//!   has to be met with others, too; one that it gets cut to another width says nothing;
//! - of a function that only its own file calls, its callers' runs tell;
//! - signed overflow wraps, and large numbers are what we like best: it counts where a whole program
//!   meets it, on its real input, and does something else because of it.
//!
//! What is not certain is told apart, and never blocks. Memory is lost where a function returns, and
//! the older version loses none, only if nothing unknown was called, which might have kept it.

use crate::fact::{Method, Standing};
use crate::interp::{CallResult, End, Input, ObjectId, ObjectInit, Outcome, Storage, Value};
use crate::invariant::change::events::event_name;
use crate::invariant::obligation::property::Harm;
use crate::invariant::obligation::property::{Break, Property, PropertyKind};
use crate::invariant::task::Task;
use crate::invariant::witness::run::Run;
use crate::invariant::witness::runs;
use crate::invariant::witness::shrink::Shrinker;
use crate::ir::{CType, Const, Linkage, Sort, UndefinedKind};
use crate::mvicfg::ClassId;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

/// Inputs that are looked at closely for one kind of event and pair of classes.
const MAX_CANDIDATES: usize = 6;
/// Replays that it may cost to find out what the older version reads of an input.
const MAX_REPLAYS: usize = 160;
/// Globals whose content at entry may matter.
const MAX_GLOBALS: usize = 256;
/// What stands in place of words that the older version does not read.
const OTHER_WORDS: [u32; 2] = [1, 3];
/// Words in memory that may be null pointers.
const MAX_CELLS: usize = 160;
const OVERFLOW: Harm = Harm::Undefined(UndefinedKind::SignedOverflow);
/// Bytes of the object that a null pointer is exchanged for.
const FRESH: usize = 256;

/// Looks for safety violations in all pairs of classes.
pub(in crate::invariant) fn check(task: &Task) -> Vec<Property> {
    let mut found = Vec::new();
    for &(from, to) in &task.pairs {
        let runs = task.runs(from, to);
        let pair = Pair { task, from, to };
        let mut by_kind: BTreeMap<&'static str, Vec<(&Run, Event)>> = BTreeMap::new();
        for run in runs.iter().filter(|r| r.same_meaning && task.admits(r, false, to)) {
            if let Some(event) = Event::of(&run.new) {
                by_kind.entry(name(event.kind)).or_default().push((run, event));
            }
        }
        for events in by_kind.into_values() {
            found.extend(pair.judge(&events));
        }
    }
    found
}

/// What the harm is called.
fn name(harm: Harm) -> &'static str {
    match harm {
        Harm::Undefined(kind) => event_name(kind),
        Harm::Abort => "call of abort()",
        Harm::Leak => "lost memory",
    }
}

/// Something of this kind that a run met.
#[derive(Clone, PartialEq, Eq)]
struct Event {
    kind: Harm,
    function: Arc<str>,
    line: u32,
}

impl Event {
    fn of(o: &Outcome) -> Option<Event> {
        let undefined = |kind, place| Some((Harm::Undefined(kind), place));
        let lost = || o.left.lost.as_ref().filter(|_| keeps_nothing(o)).map(|place| (Harm::Leak, place));
        let (kind, place) = match (&o.end, &o.overflow) {
            (End::Undefined { kind, place }, _) => undefined(*kind, place),
            (End::NoReturn { callee, place }, _) if is_error_function(callee) => {
                undefined(UndefinedKind::Unreachable, place)
            }
            (End::Abort, _) => o.ending.aborted.as_ref().map(|place| (Harm::Abort, place)),
            (_, Some(place)) => undefined(UndefinedKind::SignedOverflow, place),
            _ => lost(),
        }?;
        let is_safety = !matches!(
            kind,
            // Addresses that we made up; texts that the compiler checks.
            Harm::Undefined(
                UndefinedKind::BadPointer | UndefinedKind::FormatMismatch | UndefinedKind::BadCall
            )
        );
        is_safety.then(|| Event { kind, function: place.function.clone(), line: place.line })
    }
}

/// Whether a run that the older class stops, as `before` says, does something undefined in the newer one, on an
/// input that the older one shows to be meant.
pub(in crate::invariant) fn overtakes(
    task: &Task,
    (from, to): (ClassId, ClassId),
    run: &Run,
    before: &dyn Fn(&Run) -> bool,
) -> bool {
    let is_there = run.same_meaning && before(run) && matches!(run.new.end, End::Undefined { .. });
    let event = Event::of(&run.new).filter(|_| is_there && !runs::is_made_up(&run.new));
    event.is_some_and(|event| Pair { task, from, to }.is_certain_if(before, run, &event))
}

/// Whether nothing unknown was called, which might keep what it was given.
fn keeps_nothing(o: &Outcome) -> bool {
    let is_request = |callee: &str| o.heap.counts.keys().any(|known| *known == callee);
    o.assumed.calls.iter().all(|c| is_request(&c.callee))
}

/// Whether the verification tasks' function for "must not be reached" is called.
fn is_error_function(name: &str) -> bool {
    matches!(name, "reach_error" | "__VERIFIER_error")
}

/// Whether a run came to an end that a user would call good.
fn is_fine(o: &Outcome) -> bool {
    matches!(o.end, End::Return | End::Exit(_)) && o.overflow.is_none()
}

struct Pair<'a, 't> {
    task: &'a Task<'t>,
    from: ClassId,
    to: ClassId,
}

impl Pair<'_, '_> {
    fn name(&self, class: ClassId) -> &str {
        &self.task.graph.bodies[class].name
    }

    fn is_program(&self) -> bool {
        self.name(self.to) == "main"
    }

    fn replay(&self, input: Input) -> Run {
        let programs = &self.task.programs;
        let entry = (self.name(self.from), self.name(self.to));
        runs::replay(&programs[self.from], &programs[self.to], entry, input)
    }

    /// Judges the runs that meet events of one name.
    fn judge(&self, events: &[(&Run, Event)]) -> Option<Property> {
        let introduced: Vec<&(&Run, Event)> = events.iter().filter(|(r, e)| introduces(r, e)).collect();
        let mut possible = None;
        for (run, event) in introduced.into_iter().take(MAX_CANDIDATES) {
            let small = self.shrunk(run, event);
            for candidate in [&small, *run] {
                if self.is_certain(candidate, event) {
                    return Some(self.property(event, Standing::Fails, true, Some(candidate.clone())));
                }
            }
            possible.get_or_insert((small, event));
        }
        if let Some((run, event)) = possible {
            return Some(self.property(event, Standing::Open, false, Some(run)));
        }
        let aborts = |r: &Run| r.old.end == End::Abort;
        let overtaken = |(run, _): &&(&Run, Event)| overtakes(self.task, (self.from, self.to), run, &aborts);
        let aborting = events.iter().filter(|(run, _)| aborts(run)).take(MAX_CANDIDATES);
        if let Some((run, event)) = aborting.into_iter().find(overtaken) {
            let mut property = self.property(event, Standing::Open, true, None);
            property.ends.push(Break { from: self.from, to: self.to, run: (*run).clone() });
            return Some(property);
        }
        // What unknown functions would have written was in neither version read without being written.
        let made_up = |o: &&Outcome| runs::is_made_up(o) || runs::makes_up_library(o);
        let met = events.iter().filter(|(run, _)| ![&run.old, &run.new].iter().any(made_up));
        let (_, event) = met.into_iter().find(|(run, event)| {
            let same = Event::of(&run.old).is_some_and(|e| name(e.kind) == name(event.kind));
            same && (self.is_program() || self.is_plain(&run.input) && event.kind != OVERFLOW)
        })?;
        let mut property = self.property(event, Standing::Fails, true, None);
        property.standing.insert(self.from, Standing::Fails);
        property.settled_by.insert(self.from, Method::Runs);
        Some(property)
    }

    fn property(&self, event: &Event, now: Standing, certain: bool, run: Option<Run>) -> Property {
        let own = *event.function == *self.name(self.to);
        let kind = PropertyKind::Safety { event: event.kind, own, certain };
        let mut property = Property::new(kind, &format!("no {}", name(event.kind)));
        property.standing = BTreeMap::from([(self.from, Standing::Open), (self.to, now)]);
        property.settled_by.extend((now == Standing::Fails).then_some((self.to, Method::Runs)));
        property.lines.insert(self.to, event.line);
        property.breaks.extend(run.map(|run| Break { from: self.from, to: self.to, run }));
        property
    }

    fn shrunk(&self, run: &Run, event: &Event) -> Run {
        let shrinker = Shrinker {
            unit: &self.task.units[self.to],
            replay: &|input| self.replay(input),
            keeps: &|r: &Run| {
                r.same_meaning
                    && self.task.admits(r, false, self.to)
                    && introduces(r, event)
                    && Event::of(&r.new).as_ref() == Some(event)
            },
        };
        shrinker.shrink(run.clone())
    }

    /// Whether an input that introduces an event is one that the older version shows to be meant: see
    /// the head of this file.
    fn is_certain(&self, run: &Run, event: &Event) -> bool {
        self.is_certain_if(&|r| is_fine(&r.old), run, event)
    }

    /// The same of runs that the older version ends otherwise.
    fn is_certain_if(&self, before: &dyn Fn(&Run) -> bool, run: &Run, event: &Event) -> bool {
        let still = |r: &Run| before(r) && Event::of(&r.new).as_ref() == Some(event);
        if !run.same_numbers || !knows_all_calls(run) || has_aliases(&run.input) {
            return false;
        }
        if self.is_program() {
            return event.kind != OVERFLOW || runs::is_defined_difference(run);
        }
        let body = self.task.units[self.to].function(self.name(self.to));
        if body.is_none_or(|f| f.is_static) || event.kind == OVERFLOW || run.new.ending.on_input {
            return false;
        }
        let null = event.kind == Harm::Undefined(UndefinedKind::NullDereference);
        self.null_is_told_apart(run, &still)
            && self.new_numbers_do_not_matter(&run.input, &still)
            && (!null || self.null_cells_are_told_apart(&run.input, &still))
            && self.without_globals(&run.input).is_some_and(|input| self.without_unread(input, &still))
    }

    /// Whether every null pointer among the arguments is one that the older version tells from another
    /// pointer, or that the event has nothing to do with.
    fn null_is_told_apart(&self, run: &Run, still: &dyn Fn(&Run) -> bool) -> bool {
        let body = &self.task.graph.bodies[self.to];
        let nulls = body.params.iter().enumerate().filter(|(k, p)| {
            let given = run.input.arguments.get(*k);
            let null = given.is_none_or(|v| matches!(v, Value::Const(c) if c.to_bits() == 0));
            body.var(**p).ty.is_pointer() && null
        });
        let nulls: Vec<usize> = nulls.map(|(k, _)| k).collect();
        let told_apart = |chosen: &[usize]| {
            let other = self.replay(with_objects(&run.input, chosen, true));
            // Making objects costs steps, too.
            let same = self.replay(with_objects(&run.input, chosen, false));
            still(&other) || other.old.steps != same.old.steps
        };
        // Of two that are used one may hide that the other is.
        nulls.chunks(1).all(told_apart) && (nulls.len() < 2 || told_apart(&nulls))
    }

    /// Whether the event is met with other numbers, too, for parameters that the older version does not have.
    fn new_numbers_do_not_matter(&self, input: &Input, still: &dyn Fn(&Run) -> bool) -> bool {
        let bodies = &self.task.graph.bodies;
        let (old, new) = (&bodies[self.from], &bodies[self.to]);
        // Parameters that were only renamed keep their places.
        let has = |name: &str| old.params.iter().any(|p| *old.var(*p).name == *name);
        let is_new = |name: &str| old.params.len() != new.params.len() && !has(name);
        new.params.iter().enumerate().all(|(k, p)| {
            let var = new.var(*p);
            let Some(Sort::Bv(bits)) = var.sort.filter(|_| !var.ty.is_pointer()) else { return true };
            !is_new(&var.name)
                || OTHER_WORDS.into_iter().all(|word| {
                    let mut other = input.clone();
                    if let Some(argument) = other.arguments.get_mut(k) {
                        *argument = Value::Const(Const::bv(bits, i128::from(word)));
                    }
                    still(&self.replay(other))
                })
        })
    }

    /// The same of null pointers in memory. Every word that is zero may be one; one that the event does
    /// not rest on does not matter.
    fn null_cells_are_told_apart(&self, input: &Input, still: &dyn Fn(&Run) -> bool) -> bool {
        let mut input = input.clone();
        let unit = &self.task.units[self.to];
        let given: BTreeSet<Arc<str>> = globals_of(&input).cloned().collect();
        let zero = unit.globals.iter().filter(|g| {
            let own = matches!(g.linkage, Linkage::External | Linkage::Internal);
            own && !g.is_known_constant() && g.init.is_empty() && (1..=MAX_CELLS as u64 * 8).contains(&g.size)
        });
        let first = unused_id(&input).0;
        for (id, g) in (first..).zip(zero.filter(|g| !given.contains(&g.symbol))) {
            input.objects.push(ObjectInit {
                id: ObjectId(id),
                ty: g.ty.clone(),
                storage: Storage::Global(g.symbol.clone()),
                bytes: vec![0; g.size as usize],
                undefined: Vec::new(),
                pointers: Vec::new(),
            });
        }
        let width = usize::from(unit.data_model.pointer_bits() / 8);
        let mut cells = Vec::new();
        for (k, object) in input.objects.iter().enumerate() {
            for (i, word) in object.bytes.chunks_exact(width).enumerate() {
                let at = (i * width) as u64;
                if word.iter().all(|b| *b == 0) && object.pointers.iter().all(|(p, _)| *p != at) {
                    cells.push((k, at));
                }
            }
        }
        if cells.len() > MAX_CELLS {
            return false;
        }
        let fresh = with_objects(&input, &[usize::MAX], false);
        let Some(id) = fresh.objects.last().map(|o| o.id) else { return false };
        let before = self.replay(fresh.clone()).old.steps;
        cells.into_iter().all(|(k, at)| {
            let mut other = fresh.clone();
            other.objects[k].pointers.push((at, Value::Pointer { object: id, offset: 0 }));
            let other = self.replay(other);
            still(&other) || other.old.steps != before
        })
    }

    /// Makes the content at entry of all globals indeterminate that the older version does not read;
    /// `None` if it would take too long to find out.
    fn without_globals(&self, input: &Input) -> Option<Input> {
        let given: BTreeSet<&Arc<str>> = globals_of(input).collect();
        let unit = &self.task.units[self.to];
        let globals = unit.globals.iter().filter(|g| {
            let own = matches!(g.linkage, Linkage::External | Linkage::Internal);
            own && !g.is_known_constant() && g.size > 0 && !given.contains(&g.symbol)
        });
        let mut extra = Vec::new();
        for (id, g) in (unused_id(input).0..).zip(globals) {
            extra.push(ObjectInit {
                id: ObjectId(id),
                ty: g.ty.clone(),
                storage: Storage::Global(g.symbol.clone()),
                bytes: vec![0; usize::try_from(g.size).ok()?],
                undefined: vec![true; usize::try_from(g.size).ok()?],
                pointers: Vec::new(),
            });
        }
        if extra.len() > MAX_GLOBALS {
            return None;
        }
        let with = |objects: &[ObjectInit]| {
            let mut input = input.clone();
            input.objects.extend(objects.iter().cloned());
            input
        };
        if !is_fine(&self.replay(with(&extra)).old) {
            extra.retain(|g| is_fine(&self.replay(with(std::slice::from_ref(g))).old));
        }
        Some(with(&extra))
    }

    /// Whether the event is met where everything in memory that the older version does not read is
    /// something else. What is indeterminate in `input` is known not to be read.
    fn without_unread(&self, mut input: Input, still: &dyn Fn(&Run) -> bool) -> bool {
        let given = input.clone();
        let mut replays = 0;
        for k in 0..input.objects.len() {
            let mut work = vec![(0, input.objects[k].bytes.len())];
            while let Some((start, end)) = work.pop() {
                let range = start..end;
                if range.is_empty() || replays >= MAX_REPLAYS {
                    continue;
                }
                let mut without = input.clone();
                forget(&mut without.objects[k], range.clone());
                replays += 1;
                if is_fine(&self.replay(without.clone()).old) {
                    input = without;
                } else if range.len() > 1 {
                    let half = range.start + (range.len() / 2).next_power_of_two().min(range.len() - 1);
                    work.extend([(half, end), (start, half)]);
                }
            }
        }
        let others = OTHER_WORDS.iter().map(|word| filled(&given, &input, *word));
        replays < MAX_REPLAYS && others.into_iter().all(|other| still(&self.replay(other)))
    }

    /// Whether an input is numbers alone.
    fn is_plain(&self, input: &Input) -> bool {
        let body = &self.task.graph.bodies[self.to];
        input.objects.is_empty()
            && input.calls.is_empty()
            && !body.params.iter().any(|p| body.var(*p).ty.is_pointer() || body.var(*p).sort.is_none())
    }
}

/// Whether only the newer version meets the event.
fn introduces(run: &Run, event: &Event) -> bool {
    let other_end = match event.kind {
        OVERFLOW => runs::is_defined_difference(run),
        // To say that it loses nothing takes as much knowledge of what it calls.
        Harm::Leak => run.old.left.lost.is_none() && keeps_nothing(&run.old),
        _ => true,
    };
    let made_up = [&run.old, &run.new].into_iter().any(runs::makes_up_library);
    !made_up
        && run.same_meaning
        && is_fine(&run.old)
        && !run.old.portability.open_sign
        && !run.old.portability.platform_dependent
        && other_end
}

/// Whether nothing had to be assumed of functions that nobody defines: what they return may be some number,
/// but what an object of theirs is like nobody knows. That memory is refused counts where the older version
/// asked for it, too.
fn knows_all_calls(run: &Run) -> bool {
    let is_object = |c: &&CallResult| matches!(c.result, Value::Pointer { .. } | Value::Global { .. });
    if run.input.calls.iter().filter(is_object).any(|c| is_made(run, c)) {
        return false;
    }
    let (old, new) = (&run.old.assumed.calls, &run.new.assumed.calls);
    let both = |c: &crate::interp::AssumedCall| old.iter().any(|o| (&o.callee, o.nth) == (&c.callee, c.nth));
    old.iter().all(|c| c.given)
        && new.iter().all(|c| c.given && both(c))
        && run.new.assumed.globals.iter().all(|g| run.old.assumed.globals.contains(g))
}

/// Whether one of the runs makes a call that the input says something of.
fn is_made(run: &Run, call: &CallResult) -> bool {
    let mut calls = run.old.assumed.calls.iter().chain(&run.new.assumed.calls);
    calls.any(|c| (&c.callee, c.nth) == (&call.callee, call.nth))
}

/// Whether two pointers of an input lead to the same object.
fn has_aliases(input: &Input) -> bool {
    let mut seen = BTreeSet::new();
    let cells = input.objects.iter().flat_map(|o| o.pointers.iter().map(|(_, v)| v));
    input.arguments.iter().chain(cells).any(|v| match v {
        Value::Pointer { object, .. } => !seen.insert(*object),
        _ => false,
    })
}

/// The globals that an input gives content to.
fn globals_of(input: &Input) -> impl Iterator<Item = &Arc<str>> {
    input.objects.iter().filter_map(|o| if let Storage::Global(s) = &o.storage { Some(s) } else { None })
}

fn unused_id(input: &Input) -> ObjectId {
    ObjectId(input.objects.iter().map(|o| o.id.0 + 1).max().unwrap_or(0))
}

/// The same input with one more object for each of the chosen arguments, which lead there if they are `used`.
fn with_objects(input: &Input, chosen: &[usize], used: bool) -> Input {
    let mut input = input.clone();
    for &k in chosen {
        let id = unused_id(&input);
        input.objects.push(ObjectInit {
            id,
            ty: CType::Void,
            storage: Storage::Heap,
            bytes: vec![0; FRESH],
            undefined: Vec::new(),
            pointers: Vec::new(),
        });
        if let Some(argument) = input.arguments.get_mut(k).filter(|_| used) {
            *argument = Value::Pointer { object: id, offset: 0 };
        }
    }
    input
}

/// An input with other words where `unread` is indeterminate. Pointers stay.
fn filled(given: &Input, unread: &Input, word: u32) -> Input {
    let mut input = given.clone();
    for (object, unread) in input.objects.iter_mut().zip(&unread.objects) {
        let pattern = word.to_le_bytes();
        for (i, byte) in object.bytes.iter_mut().enumerate() {
            if unread.undefined.get(i) == Some(&true) {
                *byte = pattern[i % pattern.len()];
            }
        }
        object.undefined.clear();
    }
    input
}

/// Makes a part of an object indeterminate.
fn forget(object: &mut ObjectInit, range: Range<usize>) {
    object.undefined.resize(object.bytes.len(), false);
    object.undefined[range.clone()].fill(true);
    // A pointer of which a part is forgotten is none.
    let width = 8;
    object.pointers.retain(|(at, _)| {
        let at = usize::try_from(*at).unwrap_or(usize::MAX);
        at.saturating_add(width) <= range.start || at >= range.end
    });
}

#[cfg(test)]
mod tests;
