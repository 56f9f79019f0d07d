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

/// Callees are a page long at most.
const LIMITS: InlineLimits = InlineLimits { depth: 1, callee_nodes: 200, total_nodes: 3_000 };

/// Calls within calls that are written out: of one small function of a header by another.
const DEPTH: usize = 4;

/// Both bodies, the calls of either that the other never makes inlined; `None` where there are none.
pub(super) fn inlined(old: Version, new: Version) -> Option<[Arc<Function>; 2]> {
    let mut bodies = [old.body.clone(), new.body.clone()];
    let mut is_other = false;
    for _ in 0..DEPTH {
        let called = [&bodies[0], &bodies[1]].map(|body| called(body));
        let older = written_out(&bodies[0], old, called[0].difference(&called[1]));
        let newer = written_out(&bodies[1], new, called[1].difference(&called[0]));
        if older.is_none() && newer.is_none() {
            break;
        }
        is_other = true;
        for (body, inlined) in bodies.iter_mut().zip([older, newer]) {
            *body = inlined.unwrap_or_else(|| body.clone());
        }
    }
    is_other.then_some(bodies)
}

/// A body with its calls of some functions inlined: of those of its own file, and of those that are its unit's alone,
/// as `static inline` ones of a header are.
fn written_out<'n>(
    body: &Function,
    version: Version,
    names: impl Iterator<Item = &'n Arc<str>>,
) -> Option<Arc<Function>> {
    let is_here = |name: &&Arc<str>| {
        let callee = version.unit.function(name);
        callee.is_some_and(|f| f.is_static || f.span.file == version.body.span.file)
    };
    let names: BTreeSet<Arc<str>> = names.filter(is_here).cloned().collect();
    if names.is_empty() {
        return None;
    }
    inline_calls_of(body, version.unit, &names, &LIMITS).map(Arc::new)
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
