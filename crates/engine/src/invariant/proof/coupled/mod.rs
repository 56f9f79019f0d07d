//! Whether two classes do the same, shown by coupling their loops: the k-th arrival at a head of the one is the k-th at
//! a head of the other, in states that are related (product programs: Barthe, Crespo and Kunz, FM 2011; calls of the
//! function itself are one unknown function of both: Godlin and Strichman, DAC 2009).
//!
//! What is claimed: from every state at entry both classes arrive at their heads in step, leave their loops in step, and
//! what callers see of them is the same: result, memory, output, input that was read, the outside world, and how they
//! end. So the one ends where the other does. Calls of the function itself are made in step, too, since what each does
//! to the outside world is a term of its own, and these terms are equal: what holds of the outer call then follows by
//! induction over the depth of calls.
//!
//! Where calls are not made in step, functions that only compute are looked at by themselves (`recursion.rs`).
//!
//! Loops are paired by their order and nesting. Where they do not go in step as they are written, the first rounds of
//! one version are laid out, or several of its rounds make one (`variants.rs`): both leave the function as it is. The
//! relation of two heads says what each place of the newer class is in terms of places of the older one. What it may
//! be is guessed from names, first values and runs (`guess.rs`), and kept if it holds on every first arrival and from
//! each to the next (`relation.rs`). Terms are compared part by part (`alike.rs`).

mod alike;
mod guess;
mod recursion;
mod relation;
mod variants;

use crate::invariant::function_analysis::FunctionAnalysis;
use crate::invariant::proof::interface::{Summaries, Summary};
use crate::invariant::task::{Specification, Task};
use crate::ir::{CType, Expr, Function, Global, Instr, Node, Var};
use crate::mvicfg::key::{self, SourceNames};
use crate::mvicfg::{ClassId, Flow, Mvicfg};
use crate::semantics::{Callees, inline, library};
use guess::States;
use relation::Coupling;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use variants::Variant;

/// Nodes of the two functions together, and loops of one.
const MAX_NODES: usize = 3000;
const MAX_LOOPS: usize = 10;
/// Part of a query's limit that a question gets.
const SHARE: u64 = 2;

/// The callees of two classes of a task, as those of the classes 0 and 1; a call of the function itself is the same in
/// both.
struct TwoClasses<'a> {
    callees: &'a dyn Callees,
    summaries: &'a dyn Summaries,
    classes: [ClassId; 2],
    name: Arc<str>,
    /// By name: whether other functions that they call, and that changed, do the same.
    same: RefCell<BTreeMap<String, bool>>,
}

impl TwoClasses<'_> {
    fn is_same(&self, name: &str) -> bool {
        if let Some(known) = self.same.borrow().get(name) {
            return *known;
        }
        let found = self.summaries.is_same_callee(self.classes, name);
        self.same.borrow_mut().insert(name.to_owned(), found);
        found
    }
}

impl Callees for TwoClasses<'_> {
    fn identity(&self, class: ClassId, name: &str) -> Option<Arc<str>> {
        let known = self.callees.identity(self.classes[class], name)?;
        if *name == *self.name {
            return Some(format!("{name}#itself").into());
        }
        let [old, new] = self.classes.map(|c| self.callees.identity(c, name));
        Some(if old != new && self.is_same(name) { format!("{name}#same").into() } else { known })
    }

    fn global(&self, class: ClassId, symbol: &str) -> Option<&Global> {
        self.callees.global(self.classes[class], symbol)
    }

    fn row(&self, class: ClassId, name: &str, args: &[Expr]) -> Option<&'static library::Row> {
        self.callees.row(self.classes[class], name, args)
    }
}

impl Summaries for TwoClasses<'_> {
    fn summary(&self, class: ClassId, name: &str) -> Option<Arc<Summary>> {
        self.summaries.summary(self.classes[class], name)
    }
}

impl<'a> Task<'a> {
    /// The task of two classes, as classes 0 and 1, with their bodies laid out otherwise.
    fn of_pair(&self, classes: [ClassId; 2], graph: &'a Mvicfg, callees: &'a TwoClasses) -> Task<'a> {
        Task {
            graph,
            pairs: vec![(ClassId::OLD, ClassId::NEW)],
            own: vec![true],
            begins: vec![false],
            units: classes.map(|c| self.units[c].clone()).to_vec(),
            programs: classes.map(|c| self.programs[c].clone()).to_vec(),
            kept: self.kept,
            specification: Specification::default(),
            callees,
            summaries: callees,
            given: Vec::new(),
            pointer_bits: self.pointer_bits,
            points: self.points.clone(),
            options: crate::invariant::Options { rlimit: self.options.rlimit / SHARE, ..self.options },
        }
    }
}

impl FunctionAnalysis<'_> {
    /// Whether two classes are shown to do the same by coupling their loops. Asked once of a pair.
    pub(in crate::invariant) fn are_coupled(&mut self, from: ClassId, to: ClassId) -> bool {
        if let Some(known) = self.coupled.get(&(from, to)) {
            return *known;
        }
        let found = self.couple(from, to);
        self.coupled.insert((from, to), found);
        found
    }

    fn couple(&mut self, from: ClassId, to: ClassId) -> bool {
        let bodies = [from, to].map(|c| self.task.graph.bodies[c].clone());
        let is_open = self.relaid || self.begins(from, to) || self.is_hooked(from, to);
        // Loops that are laid out end where nothing comes; what is written so is another matter.
        let is_known = |c: ClassId| {
            let written = self.task.units[c].function(&self.task.graph.bodies[c].name);
            written.is_some_and(|f| !is_unknown(f))
        };
        if is_open || !have_one_interface(&bodies) || !is_known(from) || !is_known(to) {
            return false;
        }
        if self.couple_as_written([from, to]) {
            return true;
        }
        let is_unmodelled =
            |b: &Arc<Function>| b.nodes.iter().any(|n| matches!(n.instr, Instr::Unknown { .. }));
        if bodies.iter().any(is_unmodelled) || bodies.iter().map(|b| b.nodes.len()).sum::<usize>() > MAX_NODES
        {
            return false;
        }
        let states = self.states_at_heads([from, to]);
        variants::of(&bodies, &states).iter().any(|variant| self.couple_as(variant, [from, to], &states))
    }

    /// The same of the functions as they are written, which is less to look at: where what both call does the same, and
    /// rounds go in step, nothing is missing. Functions that one version alone has are inlined.
    fn couple_as_written(&mut self, classes: [ClassId; 2]) -> bool {
        let units = classes.map(|c| self.task.units[c].clone());
        let names = |k: usize| units[k].functions.iter().map(|f| f.name.clone()).collect::<BTreeSet<_>>();
        let both: BTreeSet<Arc<str>> = names(0).intersection(&names(1)).cloned().collect();
        let written = [0, 1].map(|k| {
            let body = &self.task.graph.bodies[classes[k]];
            let f = Arc::new(units[k].function(&body.name)?.clone());
            let f = inline::inline_but(&f, &units[k], &inline::InlineLimits::default(), &both);
            Some((f.nodes.len() < body.nodes.len(), f))
        });
        let [Some((less, old)), Some((fewer, new))] = written else { return false };
        let variant = Variant { bodies: [old, new], first: Vec::new(), together: [1, 1] };
        (less || fewer)
            && variant.bodies.iter().all(|b| !is_unknown(b))
            && self.couple_as(&variant, classes, &States::default())
    }

    fn couple_as(&mut self, variant: &Variant, classes: [ClassId; 2], states: &States) -> bool {
        let name = variant.bodies[1].name.clone();
        let graph = Mvicfg::build(variant.bodies.to_vec());
        let flow = Flow::new(&graph);
        let is_too_much = |f: &crate::mvicfg::ClassFlow| f.irreducible || f.loops.len() > MAX_LOOPS;
        if graph.nodes.len() > MAX_NODES || flow.classes.iter().any(is_too_much) {
            return false;
        }
        let same = RefCell::default();
        let callees =
            TwoClasses { callees: self.task.callees, summaries: self.task.summaries, classes, name, same };
        let task = self.task.of_pair(classes, &graph, &callees);
        let mut engine = FunctionAnalysis::new(&task, &flow);
        let found = Coupling::of(&mut engine).is_some_and(|c| c.holds(states, variant))
            || recursion::are_alike(&mut engine);
        self.further.nodes_visited += engine.e.statistics.nodes_visited;
        self.further.solver_queries += engine.deciders.lemmas.solver().statistics().queries;
        found
    }
}

/// Whether the two classes of a task are shown to do the same.
pub fn do_the_same(task: &Task) -> bool {
    let flow = Flow::new(task.graph);
    task.graph.bodies.len() == 2
        && !flow.classes.iter().any(|c| c.irreducible)
        && FunctionAnalysis::new(task, &flow).are_coupled(ClassId::OLD, ClassId::NEW)
}

/// Whether two bodies take and return the same.
fn have_one_interface([old, new]: &[Arc<Function>; 2]) -> bool {
    let params = |f: &Function| f.params.iter().map(|p| f.var(*p).ty.clone()).collect::<Vec<CType>>();
    let lengths = |f: &Function| -> Vec<String> {
        let is_measure = |n: &&Node| matches!(n.instr, Instr::Measure { .. });
        let text = |n: &Node| {
            let mut out = String::new();
            key::instr(&mut out, &n.instr, &SourceNames(f));
            out
        };
        f.nodes.iter().filter(is_measure).map(text).collect()
    };
    // What an index may be is not looked at: arrays stay as long as they were.
    let has_its_size = |v: &Var| {
        let mut others = new.vars.iter().filter(|o| o.name == v.name && o.ordinal == v.ordinal);
        v.sort.is_some() || others.all(|o| o.size == v.size && o.sort == v.sort)
    };
    old.ret == new.ret
        && old.variadic == new.variadic
        && params(old) == params(new)
        && lengths(old) == lengths(new)
        && old.vars.iter().all(has_its_size)
}

/// Whether a body has instructions of which nobody knows what they do, or where they lead.
fn is_unknown(f: &Function) -> bool {
    f.nodes.iter().any(|n| matches!(n.instr, Instr::Unknown { .. } | Instr::Unreachable))
}
