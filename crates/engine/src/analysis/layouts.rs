//! Whether the structures that a function uses are laid out in the same way in two versions.
//!
//! Where nothing else changed, what differs between the versions is where members lie: no difference
//! of what the function does, but one that bytes cannot be compared across.

use super::lineage::Member;
use super::reach::Reach;
use crate::invariant::{self, FunctionDiff, OpenKind, Undecided};
use crate::ir::Unit;
use crate::mvicfg::key::exact_body_hash;
use crate::mvicfg::members::{self, ByMembers};
use crate::mvicfg::{ClassId, VersionId};
use std::sync::Arc;

/// Whether two versions of a function do the same. `is_equal`: to the bytes that they get.
pub(super) fn is_same(old: &Member, new: &Member, is_equal: bool) -> bool {
    match members::compare((&old.inlined, &old.unit), (&new.inlined, &new.unit)) {
        ByMembers::Untouched | ByMembers::SameIfEqual => is_equal,
        ByMembers::Same => true,
        ByMembers::Other => false,
    }
}

/// Whether some structure that a function's variables are of, or lead to, has other members, or the same
/// ones elsewhere.
pub(super) fn differ(old: &Member, new: &Member) -> bool {
    invariant::layouts_differ((&old.inlined, &old.unit), (&new.inlined, &new.unit))
}

/// Whether a function gets structures of another layout from others, or others see its own.
pub(super) fn are_given(old: &Member, new: &Member) -> bool {
    members::is_given((&old.inlined, &old.unit), (&new.inlined, &new.unit))
}

/// Whether a function finds other members of structures in another version, or may.
pub(super) fn are_others(old: &Member, new: &Member) -> bool {
    members::compare((&old.function, &old.unit), (&new.function, &new.unit)) == ByMembers::Other
}

/// Whether a function has to do with a structure of this name that is laid out differently.
pub(super) fn is_touched(old: &Member, new: &Member, name: &str) -> bool {
    members::touches((&old.inlined, &old.unit), (&new.inlined, &new.unit), name)
}

/// Whether the objects of units begin with the same in their members.
pub(super) fn begin_alike(old: &[Arc<Unit>], new: &[Arc<Unit>]) -> bool {
    old.len() == new.len()
        && old.iter().zip(new).all(|(a, b)| {
            a.globals.iter().all(|g| {
                let image = |unit: &Unit, g| members::image(unit, g);
                g.init.is_empty() || image(a, g).is_none() || {
                    let there = b.global(&g.symbol);
                    there.is_some_and(|h| image(a, g) == image(b, h))
                }
            })
        })
}

/// How two versions of a function compare by members with all that they call. Same: nothing else differs.
pub(super) fn of_closure(
    (old, before): (&Member, Option<&Reach>),
    (new, after): (&Member, Option<&Reach>),
) -> ByMembers {
    let (Some(before), Some(after)) = (before, after) else { return ByMembers::Untouched };
    if before.layouts() == after.layouts() {
        return ByMembers::Untouched;
    }
    let called = |m: &Member, reach: &Reach| {
        let mut all = reach.callees(&m.file, &m.function.name, true);
        all.insert((m.file.clone(), m.function.name.clone()));
        all
    };
    let (was, is) = (called(old, before), called(new, after));
    let mut all = ByMembers::Untouched;
    let mut is_equal = was == is && old.values == new.values;
    for (file, name) in was.intersection(&is) {
        let (Some((f, a)), Some((g, b))) = (before.defined(file, name), after.defined(file, name)) else {
            is_equal = false;
            continue;
        };
        match members::compare((f, a), (g, b)) {
            ByMembers::Other => return ByMembers::Other,
            ByMembers::Same => all = ByMembers::Same,
            _ => is_equal &= exact_body_hash(f) == exact_body_hash(g),
        }
    }
    if is_equal { all } else { ByMembers::Untouched }
}

/// Adds an open question for each pair of classes of which the bytes tell nothing and the members do.
pub(super) fn tell(members: &[(VersionId, &Member)], pairs: &[(ClassId, ClassId)], diff: &mut FunctionDiff) {
    for &(from, to) in pairs {
        let (old, new) = (members[from].1, members[to].1);
        let sides = ((&*old.inlined, &*old.unit), (&*new.inlined, &*new.unit));
        let is_other = members::compare(sides.0, sides.1) == ByMembers::Other;
        if !is_other || !are_given(old, new) {
            continue;
        }
        let Some(point) = diff.points.first_mut() else { continue };
        let told = point.churns.iter().any(|c| (c.from, c.to) == (from, to) && c.subject.is_observable());
        if !told && point.undecided.is_empty() {
            let reason = "a type has another layout in the two versions";
            point.undecided.push(Undecided::all_runs(OpenKind::AllRuns, reason));
        }
    }
}
