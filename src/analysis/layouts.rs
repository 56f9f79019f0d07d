//! Whether the structures that a function uses are laid out in the same way in two versions.
//!
//! Where nothing else changed, what differs between the versions is where members lie: no difference
//! of what the function does, but one that bytes cannot be compared across.

use super::lineage::Member;
use crate::invariant;

/// Whether some structure that a function's variables are of, or lead to, has other members, or the same
/// ones elsewhere.
pub(super) fn differ(old: &Member, new: &Member) -> bool {
    invariant::layouts_differ((&old.inlined, &old.unit), (&new.inlined, &new.unit))
}
