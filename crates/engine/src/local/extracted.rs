//! Functions that one version alone calls, and whose bodies the other one may have in their place: code that was
//! extracted into a function, or a call that was written out.
//!
//! Such calls are inlined, and the versions compared once more; where less is left to tell then, that is told. A
//! call that does something new has as much to tell written out, and stays a call.

use super::change::Change;
use super::side::Version;
use crate::ir::{Callee, Function, Instr};
use crate::semantics::inline::{InlineLimits, inline_calls_of};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Callees are a page long at most, and not followed further.
const LIMITS: InlineLimits = InlineLimits { depth: 1, callee_nodes: 200, total_nodes: 3_000 };

/// Both bodies, the calls of either that the other never makes inlined; `None` where there are none.
pub(super) fn inlined(old: Version, new: Version) -> Option<[Arc<Function>; 2]> {
    let called = [old, new].map(|version| called(version.body));
    let body = |version: Version, own: &BTreeSet<Arc<str>>, other: &BTreeSet<Arc<str>>| {
        let is_here = |name: &&Arc<str>| {
            let callee = version.unit.function(name);
            callee.is_some_and(|f| f.span.file == version.body.span.file)
        };
        let names: BTreeSet<Arc<str>> = own.difference(other).filter(is_here).cloned().collect();
        if names.is_empty() {
            return None;
        }
        inline_calls_of(version.body, version.unit, &names, &LIMITS).map(Arc::new)
    };
    let bodies = [body(old, &called[0], &called[1]), body(new, &called[1], &called[0])];
    if bodies.iter().all(Option::is_none) {
        return None;
    }
    let [older, newer] = bodies;
    Some([older.unwrap_or_else(|| old.body.clone()), newer.unwrap_or_else(|| new.body.clone())])
}

/// Whether there is less to tell of some changes than of others: open ones first, then deltas.
pub(super) fn is_less(changes: &[Change], than: &[Change]) -> bool {
    let left = |all: &[Change]| {
        let open = all.iter().filter(|c| c.rest.is_some()).count();
        let effects = |c: &Change| -> usize { c.deltas.iter().map(|d| d.before.len() + d.now.len()).sum() };
        (open, all.iter().map(|c| c.deltas.len()).sum::<usize>(), all.iter().map(effects).sum::<usize>())
    };
    let ((open, deltas, effects), (more_open, more_deltas, more_effects)) = (left(changes), left(than));
    open <= more_open && deltas <= more_deltas && effects <= more_effects && left(changes) != left(than)
}

fn called(body: &Function) -> BTreeSet<Arc<str>> {
    let name = |instr: &Instr| match instr {
        Instr::Call { callee: Callee::Direct(name), .. } => Some(name.clone()),
        _ => None,
    };
    body.nodes.iter().filter_map(|n| name(&n.instr)).collect()
}
