//! Preconditions of static functions: what all their callers see to.
//!
//! All calls of a function stand in its unit when it is static and its name stands nowhere but in
//! calls; then each function that calls it is looked at by itself, as it is written.

use super::world::Context;
use crate::invariant::keep_at_calls;
use crate::invariant::{self, Budget, Precondition};
use crate::ir::{Callee, Expr, Function, Instr, Unit};
use crate::mvicfg::{ClassId, Mvicfg, VersionId};
use std::sync::Arc;

/// Callers of one function, their calls, and the nodes of the largest.
const MAX_CALLERS: usize = 6;
const MAX_CALLS: usize = 16;
const MAX_NODES: usize = 400;
/// Runs of a caller.
const BUDGET: Budget =
    Budget { inputs: 120, steps: 150_000, guided: 0, patience: 0, functions: 1, nodes: usize::MAX };

impl Context<'_> {
    /// Returns what holds of a function's arguments at all calls of it; nothing, where they are not
    /// all known.
    pub(super) fn precondition(&self, class: ClassId, f: &Function) -> Precondition {
        let nothing = Precondition::default();
        let Some((version, unit)) = self.classes.get(class.index()) else { return nothing };
        let calls: Vec<(&Function, &[Expr])> = unit
            .functions
            .iter()
            .flat_map(|g| g.nodes.iter().filter_map(move |n| Some((&**g, arguments(&n.instr, &f.name)?))))
            .collect();
        let mut callers: Vec<&Function> = Vec::new();
        for (g, _) in &calls {
            if !callers.iter().any(|c| c.name == g.name) {
                callers.push(g);
            }
        }
        // The function itself comes last: it may assume what the others leave.
        callers.sort_by_key(|g| g.name == f.name);
        let called = callers.first().is_some_and(|g| g.name != f.name);
        let few = callers.len() <= MAX_CALLERS && calls.len() <= MAX_CALLS;
        let small = callers.iter().all(|g| g.nodes.len() <= MAX_NODES && g.invented.is_empty());
        let simple = !f.variadic && f.invented.is_empty() && !f.params.is_empty();
        if !called || !few || !small || !simple || !unit.is_only_called(f) {
            return nothing;
        }
        let arguments: Vec<&[Expr]> = calls.iter().map(|(_, args)| *args).collect();
        let mut found = Precondition::possible(f, &arguments);
        for g in callers {
            if found.is_empty() {
                break;
            }
            self.keep(&mut found, *version, unit, g, &f.name);
        }
        found.settled()
    }

    /// Keeps what holds at the calls in one caller.
    fn keep(
        &self,
        found: &mut Precondition,
        version: VersionId,
        unit: &Arc<Unit>,
        g: &Function,
        callee: &str,
    ) {
        let graph = Mvicfg::build(vec![Arc::new(g.clone())]);
        let classes = vec![(version, unit.clone())];
        let context = Context { classes, depth: self.depth + 1, ..*self };
        let kept = invariant::RunCache::default();
        let Some(task) = context.task_alone(&graph, &kept, BUDGET) else {
            *found = Precondition::default();
            return;
        };
        keep_at_calls(found, &task, callee);
    }
}

/// The arguments of a call of a function.
fn arguments<'a>(instr: &'a Instr, name: &str) -> Option<&'a [Expr]> {
    match instr {
        Instr::Call { callee: Callee::Direct(called), args, .. } if **called == *name => Some(args),
        _ => None,
    }
}
