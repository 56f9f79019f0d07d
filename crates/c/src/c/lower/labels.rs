//! The labels of a unit as values: what is known of them while its functions are lowered
//! ([`super::label_addresses`]).

use rucc_sema::{DeclId, LabelId};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Labels {
    /// Those whose address is taken.
    pub taken: BTreeSet<LabelId>,
    pub symbols: BTreeMap<LabelId, Arc<str>>,
    /// Their addresses are only stored, compared and jumped to.
    pub are_plain: bool,
    /// The function whose body is being lowered.
    pub function: Arc<str>,
    /// The objects that are read for labels behind `case` which nobody declared, by the label's number and with
    /// its place by name.
    pub unknown: BTreeMap<i128, (usize, DeclId)>,
}
