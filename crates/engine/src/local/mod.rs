//! Local differencing: what a change does where it is (`docs/design/local-differences.md`).
//!
//! Two versions of a function are compared between matched points around each change, from *any* state there that the
//! tests on the way let through, whether or not the function gets there in it: regression verification with cut points (Godlin and Strichman,
//! DAC 2009), the deltas of differential symbolic execution (Person, Dwyer, Elbaum and Păsăreanu, FSE 2008) and
//! conditional equivalence (Kawaguchi, Lahiri and Rebêlo, 2010) in one.
//!
//! - [`region`]: where the versions go apart, and until where; the paths between.
//! - [`moved`]: assignments that stand elsewhere.
//! - [`tested`]: the tests on the way that still hold where the versions go apart; [`assigned`]: what variables were
//!   assigned there.
//! - [`side`]: one version in the graph of both; [`machine`], [`sites`]: what instructions and calls do to any state.
//! - [`rounds`]: what a loop leaves behind that lies in a region whole.
//! - [`pure`]: functions whose calls are values.
//! - [`retyped`]: pointers to anything by typed names.
//! - [`macros`]: constants as the source names them.
//! - [`namesakes`]: local variables of one name; [`other_names`]: variables that got another name.
//! - [`widened`]: variables of another width; [`volatility`]: objects that are volatile in one version.
//! - [`fitting`]: members of another width.
//! - [`renumbered`]: enumerators of other numbers.
//! - [`extracted`]: calls that one version alone makes, written out.
//! - [`follow`]: how common code goes on after a path; [`forks`]: where that is not decided.
//! - [`answers`]: which calls answer alike; [`copied`]: structures that they are given.
//! - [`compare`]: the three-way verdict: same, different under a condition, open; [`judgement`]: of two paths;
//!   [`hazards`]: of what is undefined on the way; [`memory`]: of memory; [`difference`]: what it finds.
//! - [`comparison`]: the regions of a function, one after the other.
//! - [`narrow`]: the one value for which values differ.
//! - [`bindings`]: when a function runs that nobody calls.
//! - [`alternatives`]: conditions of which either will do; [`factored`]: each effect under its own.
//! - [`words`], [`conditions`], [`calls`], [`source_tests`], [`stores`], [`guards`]: `where`, `when`, `before`, `now`, which
//!   is a [`change`]; [`texts`]: what may be shown; [`distinction`]: what tells apart that is written alike;
//!   [`expanded`]: what macros do.
//! - [`own_names`]: what variables are called.
//! - [`mistake`]: what the oracle puts in, to see that it is caught.

mod alternatives;
mod answers;
mod assigned;
mod bindings;
mod calls;
mod change;
mod compare;
mod comparison;
mod conditions;
mod copied;
mod difference;
mod distinction;
mod effect;
mod expanded;
mod extracted;
mod factored;
mod fitting;
mod follow;
mod forks;
mod given;
mod guards;
mod hazards;
mod judgement;
mod machine;
mod macros;
mod memory;
mod mistake;
mod namesakes;

mod moved;
mod narrow;
#[cfg(test)]
mod oracle;
mod other_names;
mod own_names;
mod placed;
mod pure;
mod region;
mod renumbered;
mod retested;
mod retyped;
mod rounds;
mod side;
mod sites;
mod source_tests;
mod stores;
mod tested;
#[cfg(test)]
mod tests;
mod text_tests;
mod texts;
mod volatility;
mod widened;
mod words;

pub use bindings::run_otherwise;
pub use change::{Change, Delta, Verdict};
pub use effect::{Effect, EffectKind};
use effect::{Verb, Words};
pub use side::Version;

pub(crate) use calls::excerpt;

use crate::ir::{CType, Expr, Function, Object, Op, Sort, TermPool, Unit, Var, VarId, VarKind, literal};
use crate::mvicfg::members::{self, Relaid, Seen};
use crate::mvicfg::{ClassId, Flow, Mvicfg, positions};
use crate::semantics::escapes::Escapes;
use crate::smt;
use compare::Comparer;
use comparison::Comparison;
use side::Side;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use widened::Widened;

/// Z3's units for one question about a region.
const RLIMIT: u64 = 600_000;
/// Terms of a question about memory that Z3 is asked. Of 1,075 questions of 40 commits (cJSON, tmux, unbound, nginx) 327
/// were larger: it answered two of them, and spent 28 % of its time on all; of the others it answered 441 of 748.
const MEMORY_TERMS: usize = 60;
/// The same for all questions about one function.
const UNITS: u64 = 6_000_000;
/// Which part of that a function is given that is compared once more, with calls written out.
const AGAIN: u64 = 8;
/// So many functions may take [`UNITS`] each and [`compare::MAX_WORK`]; more share what these may.
const FULL: usize = 24;
/// A function gets at least one part of so many.
const LEAST: usize = 16;

/// What a function may cost, as one part of so many of what one alone may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share(usize);

impl Share {
    /// The share of each of so many functions.
    pub fn of(functions: usize) -> Share {
        Share(functions.div_ceil(FULL).clamp(1, LEAST))
    }

    fn units(self) -> u64 {
        UNITS / self.0 as u64
    }
}

/// Compares two bodies region by region; `None` where structures that they use are laid out otherwise, so that
/// equal instructions need not mean the same members. `source` gives a line of a version's file.
pub fn compare(
    old: Version,
    new: Version,
    source: &dyn Fn(ClassId, u32) -> Option<String>,
    share: Share,
) -> Option<(Vec<Change>, usize)> {
    let _room = crate::cost::enter(crate::cost::Room::Local);
    let (changes, queries) = compare_bodies(old, new, source, (share, share.units()))?;
    if changes.iter().all(|c| c.verdict == Verdict::Neutral) {
        return Some((changes, queries));
    }
    let Some([older, newer]) = extracted::inlined(old, new) else { return Some((changes, queries)) };
    let (old, new) = (Version { body: &older, ..old }, Version { body: &newer, ..new });
    match compare_bodies(old, new, source, (share, share.units() / AGAIN)) {
        Some((others, more)) if extracted::is_less(&others, &changes) => Some((others, queries + more)),
        Some((_, more)) => Some((changes, queries + more)),
        None => Some((changes, queries)),
    }
}

/// `units`: of Z3, for all questions.
fn compare_bodies(
    old: Version,
    new: Version,
    source: &dyn Fn(ClassId, u32) -> Option<String>,
    (share, units): (Share, u64),
) -> Option<(Vec<Change>, usize)> {
    let renumbered = renumbered::Renumbering::of(old.unit, new.unit)
        .and_then(|r| Some((Arc::new(r.body(old.body, old.unit)?), r.unit(old.unit, new.unit))));
    let old = match &renumbered {
        Some((body, unit)) => Version { body, unit },
        None => old,
    };
    let older = other_names::renamed((old.body, old.unit), (new.body, new.unit));
    let [older, newer] = volatility::settled([older, new.body.clone()]);
    let newer = namesakes::numbered(&older, &newer);
    let [older, newer] = placed::placed(older, newer);
    let (old, new) = (Version { body: &older, ..old }, Version { body: &newer, ..new });
    let sides = ((&**old.body, old.unit), (&**new.body, new.unit));
    let Some(relaid) = relaid(sides.0, sides.1) else {
        return Some((vec![Change::of_all(LAYOUT_SEEN)], 0));
    };
    let source_body = old.body;
    let of_class = |class: ClassId, body| relaid[class].as_ref().map_or(body, |r| &r.body);
    let widened =
        Widened::of(unplaced(of_class(ClassId::OLD, old.body)), unplaced(of_class(ClassId::NEW, new.body)));
    let [first, second] = &widened.bodies;
    let (old, new) = (Version { body: first, ..old }, Version { body: second, ..new });
    let graph = Mvicfg::build(vec![old.body.clone(), new.body.clone()]);
    let flow = Flow::new(&graph);
    let liveness = crate::semantics::liveness::Liveness::new(&graph, &flow);
    let [of_old, of_new] = sites::tags(&graph);
    let pure = pure::called(old, new);
    let layouts = [(old, &relaid[0]), (new, &relaid[1])];
    let layouts = layouts.map(|(version, relaid)| relaid.as_ref().map_or(version.unit, |r| &r.layout));
    let side = |class: ClassId, version, tags| Side {
        class,
        version,
        layout: layouts[class],
        beside: layouts[class.other()],
        flow: &flow.classes[class],
        tags,
        pure: &pure,
        displaced: displaced(&graph, class),
        escapes: Escapes::of(&graph, class),
        fits: relaid[class].as_ref().map(|r| r.fits.clone()).unwrap_or_default(),
    };
    let sides = [side(ClassId::OLD, old, of_old), side(ClassId::NEW, new, of_new)];
    let limits = smt::Limits { rlimit: RLIMIT, pointer_bits: new.unit.data_model.pointer_bits() };
    let allowance = smt::Allowance::new(&Rc::new(smt::Budget::default()), units);
    let mut pool = TermPool::new();
    let relations = widened.relations(&graph, &mut pool);
    let mut comparer = Comparer {
        graph: &graph,
        sides: [&sides[0], &sides[1]],
        common: Vec::new(),
        liveness: &liveness,
        frontier: Mvicfg::ENTRY,
        cut: None,
        work: compare::Work { done: 0, most: compare::MAX_WORK / share.0 },
        is_fork: false,
        forks: 0,
        valid: false,
        relations,
        given: [Vec::new(), Vec::new()],
        premises: Default::default(),
        replaceable: BTreeSet::new(),
        pool,
        decider: smt::Decider::new(limits, 4).leaving_memory_beyond(MEMORY_TERMS).sharing(allowance),
    };
    let by_members = renumbered.is_some() || relaid.iter().any(Option::is_some);
    let comparison = Comparison { graph: &graph, flow: &flow, widened: &widened, source, by_members };
    let mut changes = comparison.changes(&mut comparer, region::Cuts::Tied);
    // Where too much lies between points that both versions come to in the same state, they are held against each
    // other also where only one of them knows a variable.
    if changes.iter().any(is_too_large) {
        comparer.work.done = 0;
        let others = comparison.changes(&mut comparer, region::Cuts::All);
        let open =
            |all: &[Change]| all.iter().filter(|c| c.rest.is_some()).map(|c| c.lines[1].len()).sum::<usize>();
        if open(&others) < open(&changes) {
            changes = others;
        }
    }
    tell_moves(&mut changes);
    if let Some(relaid) = &relaid[0] {
        let lengths =
            relaid.resized.iter().filter_map(|(v, w)| resized(source_body.var(*v), new.body.var(*w)));
        changes.extend(lengths);
    }
    changes.extend(bindings::change(old.body, new.body));
    let queries = comparer.decider.solver().statistics().queries as usize;
    Some((changes, queries))
}

/// The bodies of both versions for one layout, where structures are laid out otherwise: the older one is written for the
/// newer layout, or, where members got narrower, the newer one for the older layout. `None`: nothing can be compared.
fn relaid(old: (&Function, &Unit), new: (&Function, &Unit)) -> Option<[Option<Relaid>; 2]> {
    match members::relaid(old, new) {
        Ok(older) => Some([older, None]),
        // Where bytes are seen, members that were only added behind change none of them.
        Err(Seen) if members::places_agree(old, new) => Some([None, None]),
        Err(Seen) => {
            let newer = members::relaid(new, old).ok()??;
            (newer.resized.is_empty() && !newer.fits.is_empty()).then_some([None, Some(newer)])
        }
    }
}

/// Why nothing is known of a function that looks at the bytes of a structure that is laid out otherwise.
const LAYOUT_SEEN: &str = "a structure that is laid out otherwise, by its bytes";

/// Whether a region was not looked at to its end because there is too much of it.
fn is_too_large(change: &Change) -> bool {
    let large = ["too many paths", "too many differences", "a loop of its own"];
    change.rest.as_ref().is_some_and(|why| large.contains(&why.as_str()))
}

/// The variables of a class whose namesake in the other version is in memory while they are not, or the reverse:
/// what one version says of a value, the other says of what lies at an address.
fn displaced(graph: &Mvicfg, class: ClassId) -> BTreeSet<VarId> {
    let [own, other] = [class, class.other()].map(|c| &graph.bodies[c]);
    let namesakes = placed::Namesakes::of(other);
    let is_displaced =
        |v: &Var| v.kind != VarKind::Temp && namesakes.get(v).is_some_and(|o| o.in_memory != v.in_memory);
    let all = own.vars.iter().zip(&graph.var_map[class]);
    all.filter(|(v, _)| is_displaced(v)).map(|(_, merged)| *merged).collect()
}

/// That a local array has another length.
fn resized(old: &Var, new: &Var) -> Option<Change> {
    let (CType::Array(_, Some(before)), CType::Array(_, Some(now))) = (&old.ty, &new.ty) else { return None };
    let effect = |n: u64, var: &Var| Effect {
        kind: EffectKind::Value,
        words: Words::says(format!("{} has {n} elements", var.name)),
        line: (var.span.line > 0).then_some(var.span.line),
    };
    let at = [old, new].map(|v| (v.span.line > 0).then_some(v.span.line));
    let delta = Delta {
        when: String::new(),
        short: None,
        no_caller: false,
        before: vec![effect(*before, old)],
        now: vec![effect(*now, new)],
    };
    Some(Change::of_declaration(at, delta))
}

/// A call that one region lost and another got was moved: it is told once, where it is now.
fn tell_moves(changes: &mut Vec<Change>) {
    let only_call = |c: &Change| -> Option<(bool, Effect)> {
        let [delta] = c.deltas.as_slice() else { return None };
        let is_idle = |of: &[Effect]| of.iter().all(|e| e.words.verb == Verb::Leaves);
        match (delta.when.is_empty(), call_alone(&delta.before), call_alone(&delta.now)) {
            (true, Some(lost), None) if is_idle(&delta.now) => Some((false, lost.clone())),
            (true, None, Some(got)) if is_idle(&delta.before) => Some((true, got.clone())),
            _ => None,
        }
    };
    let mut k = 0;
    while k < changes.len() {
        let Some((true, got)) = only_call(&changes[k]) else {
            k += 1;
            continue;
        };
        let is_lost = |c: &Change| only_call(c).is_some_and(|(is_got, e)| !is_got && e.words == got.words);
        let Some(j) = changes.iter().position(is_lost) else {
            k += 1;
            continue;
        };
        let lost = changes[j].clone();
        let here = &mut changes[k];
        here.rest = here.rest.take().or(lost.rest);
        for class in ClassId::PAIR {
            here.lines[class].extend(&lost.lines[class]);
        }
        let calls = lost.deltas.iter().flat_map(|d| &d.before).filter(|e| e.kind == EffectKind::Call);
        let from = calls.filter_map(|e| e.line).next();
        if let (Some(delta), Some(line)) = (here.deltas.first_mut(), from) {
            let remark = format!(" here, and not where line {line} was");
            let words = Words { remark, ..got.words };
            (delta.before, delta.now) = (Vec::new(), vec![Effect { words, ..got }]);
        }
        changes.remove(j);
        k = 0;
    }
}

/// The call of a list of effects that has no other one, and nothing but what keeps its result.
fn call_alone(effects: &[Effect]) -> Option<&Effect> {
    let (calls, others): (Vec<&Effect>, Vec<&Effect>) =
        effects.iter().partition(|e| e.kind == EffectKind::Call);
    let [call] = calls.as_slice() else { return None };
    let kept = format!(" to {}", call.call()?);
    others.iter().all(|e| e.sets() && e.words.to == kept).then_some(*call)
}

/// A body in which the numbers that `__LINE__` gives have a name instead, in literals too: where the text stands is no change,
/// unless something is compared with it.
fn unplaced(body: &Arc<Function>) -> Arc<Function> {
    let is_placed = |body: &Function| {
        body.nodes.iter().any(|n| {
            let mut found = false;
            let is_literal =
                |e: &Expr| matches!(e, Expr::Addr(Object::Global(s)) if literal::placed(s).is_some());
            n.instr.for_each_expr(&mut |e| found |= e.is_line_number() || is_literal(e));
            found
        })
    };
    if !is_placed(body) || positions::are_compared(body) {
        return body.clone();
    }
    let mut body = Function::clone(body);
    for node in &mut body.nodes {
        node.instr.for_each_operand_mut(&mut name_line_numbers);
    }
    Arc::new(body)
}

fn name_line_numbers(e: &mut Expr) {
    if e.is_line_number() {
        let address = Expr::Addr(Object::Global("__LINE__".into()));
        match e.sort(64, &|_| Sort::Bv(64)) {
            Sort::Bv(width @ ..64) => *e = Expr::op(Op::Trunc(width), vec![address]),
            Sort::Bv(64) => *e = address,
            _ => {}
        }
        return;
    }
    match e {
        Expr::Op { args, .. } => args.iter_mut().for_each(name_line_numbers),
        Expr::Addr(Object::Global(symbol)) => {
            if let Some((_, unplaced)) = literal::placed(symbol) {
                *symbol = unplaced;
            }
        }
        _ => {}
    }
}
