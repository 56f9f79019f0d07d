//! Summaries of callees that are not inlined: found when a caller's facts ask for them, once for
//! equal bodies.
//!
//! Only definitions of the caller's own unit are looked into, as for inlining: which of several
//! definitions of one name elsewhere is linked is not known. A callee's own callees are looked into
//! down to a fixed depth, so that one question never analyses a whole program; what a summary says
//! does not depend on who asked first, since the depth is part of its name.

use super::world::{Context, World};
use crate::invariant::{self, Budget, Summaries, Summary, Task};
use crate::ir::{Expr, Function, Object, Unit};
use crate::mvicfg::{ClassId, Mvicfg, VersionId, key};
use crate::semantics::inline::{self, InlineLimits};
use crate::semantics::unroll::{self, UnrollLimits};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Callees below a function whose summaries its facts may rest on.
const MAX_DEPTH: u32 = 1;
/// Nodes of the largest callee that is looked into.
const MAX_NODES: usize = 300;
/// Functions below one that are shown to do the same in two versions, each for the one above it.
const MAX_SAME: u32 = 4;
/// Part of a query's limit that one about a callee or a caller gets.
const SHARE: u64 = 4;
/// Runs of a callee.
const BUDGET: Budget =
    Budget { inputs: 160, steps: 200_000, guided: 0, patience: 0, functions: 1, nodes: usize::MAX };

impl Summaries for Context<'_> {
    fn summary(&self, class: ClassId, name: &str) -> Option<Arc<Summary>> {
        let (version, unit) = self.classes.get(class.index())?;
        let name = self.world.name_in(*version, unit, name);
        let f = unit.callee(name).filter(|f| is_fit(f) && self.depth < MAX_DEPTH)?;
        let content = (self.depth, self.world.content(*version, unit, f)?);
        let slot = self.world.summaries.lock().ok()?.entry(content).or_default().clone();
        slot.get_or_init(|| self.summarise(*version, unit, f)).clone()
    }

    fn is_same_callee(&self, classes: [ClassId; 2], name: &str) -> bool {
        if self.depth >= MAX_SAME || self.options.limits.budget.is_first_look() {
            return false;
        }
        let side = |class: ClassId| {
            let (version, unit) = self.classes.get(class.index())?;
            let name = self.world.name_in(*version, unit, name);
            let f = unit.callee(name).filter(|f| f.invented.is_empty() && f.nodes.len() <= MAX_NODES)?;
            Some((*version, unit.clone(), f.clone(), self.world.objects(*version, unit, f)))
        };
        let [Some(old), Some(new)] = classes.map(side) else { return false };
        old.3 == new.3 && self.do_the_same([(old.0, old.1, old.2), (new.0, new.1, new.2)])
    }
}

/// Whether a function is one whose results facts can be about, by its arguments.
fn is_fit(f: &Function) -> bool {
    let scalar = |p: &crate::ir::VarId| f.var(*p).sort.is_some();
    !f.variadic && f.nodes.len() <= MAX_NODES && f.invented.is_empty() && f.params.iter().all(scalar)
}

impl Context<'_> {
    /// Whether a function does the same in two versions.
    fn do_the_same(&self, sides: [(VersionId, Arc<Unit>, Function); 2]) -> bool {
        let limits = InlineLimits { depth: self.options.limits.inline_depth, ..InlineLimits::default() };
        let mut bodies = Vec::new();
        let mut classes = Vec::new();
        for (version, unit, f) in sides {
            let body = inline::inline(&Arc::new(f), &unit, &limits);
            if !body.invented.is_empty() {
                return false;
            }
            bodies.push(unroll::unroll(&body, &UnrollLimits::default()));
            classes.push((version, unit));
        }
        let graph = Mvicfg::build(bodies);
        let context = Context { classes, depth: self.depth + 1, ..*self };
        let kept = invariant::RunCache::default();
        let programs = context.classes.iter().map(|(v, unit)| self.world.program(*v, unit)).collect();
        let task = context.task_alone(&graph, &kept, BUDGET).map(|alone| Task {
            pairs: vec![(ClassId::OLD, ClassId::NEW)],
            own: vec![true],
            begins: vec![false],
            programs,
            units: context.classes.iter().map(|(_, unit)| unit.clone()).collect(),
            ..alone
        });
        task.is_some_and(|task| invariant::do_the_same(&task))
    }

    fn summarise(&self, version: VersionId, unit: &Arc<Unit>, f: &Function) -> Option<Arc<Summary>> {
        let limits = InlineLimits { depth: self.options.limits.inline_depth, ..InlineLimits::default() };
        let body = inline::inline(&Arc::new(f.clone()), unit, &limits);
        if !body.invented.is_empty() {
            return None;
        }
        let graph = Mvicfg::build(vec![unroll::unroll(&body, &UnrollLimits::default())]);
        let classes = vec![(version, unit.clone())];
        let context = Context { classes, depth: self.depth + 1, ..*self };
        let kept = invariant::RunCache::default();
        invariant::summarise(&context.task_alone(&graph, &kept, BUDGET)?)
    }

    /// The task of a function looked at by itself, at a share of the cost: that of the one class of
    /// this context.
    pub(super) fn task_alone<'t>(
        &'t self,
        graph: &'t Mvicfg,
        kept: &'t invariant::RunCache,
        budget: Budget,
    ) -> Option<Task<'t>> {
        let (version, unit) = self.classes.first()?;
        Some(Task {
            graph,
            pairs: Vec::new(),
            own: Vec::new(),
            begins: Vec::new(),
            programs: vec![self.world.program(*version, unit)],
            kept,
            units: vec![unit.clone()],
            specification: invariant::Specification::default(),
            callees: self,
            summaries: self,
            given: Vec::new(),
            pointer_bits: unit.data_model.pointer_bits(),
            points: invariant::Points::default(),
            options: invariant::Options {
                rlimit: self.options.limits.rlimit / SHARE,
                unroll: 0,
                all: false,
                subsets: false,
                aliases: self.options.aliases,
                budget,
            },
        })
    }
}

impl World<'_> {
    /// All that a function's behaviour is made of, as a hash: its body, those of all that it calls,
    /// and what the objects that they name hold at first.
    fn content(&self, version: VersionId, unit: &Unit, f: &Function) -> Option<String> {
        let identity = self.identity(version, unit, &f.name)?;
        let (bodies, objects) = self.hashes(version, unit, f);
        Some(format!("{identity} {} {bodies} {objects}", unit.data_model.pointer_bits()))
    }

    /// What the objects hold at first that a function, and all that it calls, names.
    fn objects(&self, version: VersionId, unit: &Unit, f: &Function) -> String {
        self.hashes(version, unit, f).1
    }

    fn hashes(&self, version: VersionId, unit: &Unit, f: &Function) -> (String, String) {
        let mut hasher = blake3::Hasher::new();
        let mut seen: BTreeSet<Arc<str>> = BTreeSet::from([f.name.clone()]);
        let mut symbols: BTreeSet<Arc<str>> = BTreeSet::new();
        let mut work = vec![f];
        while let Some(f) = work.pop() {
            hasher.update(key::exact_body_hash(f).as_bytes());
            for node in &f.nodes {
                node.instr.for_each_expr(&mut |e| {
                    if let Expr::Addr(Object::Global(s)) = e {
                        symbols.insert(s.clone());
                    }
                });
                for name in node.instr.named_callees() {
                    if seen.insert(name.clone()) {
                        work.extend(self.resolve(version, unit, name));
                    }
                }
            }
        }
        let mut objects = blake3::Hasher::new();
        for g in symbols.iter().filter_map(|s| unit.global(s)) {
            objects.update(format!("{} {} {} {:?}", g.symbol, g.is_const, g.size, g.init).as_bytes());
        }
        (hasher.finalize().to_hex().to_string(), objects.finalize().to_hex().to_string())
    }
}
