//! Classes of versions with equal bodies, and what was found of a function over them.

use super::layouts;
use super::lineage::{Lineage, Member};
use crate::invariant::{Covered, FunctionDiff, OpenKind};
use crate::mvicfg::{ClassId, VersionId};
use std::sync::Arc;

/// A function's classes and what was found.
#[derive(Default)]
pub struct Analysed {
    /// By version: the class, where the function exists.
    pub class_of: Vec<Option<ClassId>>,
    /// By class: its first version.
    pub representative: Vec<VersionId>,
    /// `None`: nothing to analyse.
    pub diff: Option<FunctionDiff>,
    /// Where only properties are asked for: what need not be verified, by difference verification.
    pub covered: Arc<Covered>,
    /// There, a run shows callers a difference.
    pub is_shown: bool,
}

impl Analysed {
    /// Which versions differ, and nothing that was found.
    pub(super) fn classes_alone(lineage: &Lineage) -> Analysed {
        let (class_of, representative) = classify(lineage);
        Analysed { class_of, representative, ..Analysed::default() }
    }

    /// What is left where nothing could be said.
    pub(super) fn open(
        class_of: Vec<Option<ClassId>>,
        representative: Vec<VersionId>,
        (kind, reason): (OpenKind, &str),
    ) -> Analysed {
        let diff = Some(FunctionDiff::open(kind, reason.to_owned()));
        Analysed { class_of, representative, diff, ..Analysed::default() }
    }
}

/// Groups the versions of a lineage by body and by the constants that the body reads. Where nothing
/// changes but the numbers that `__LINE__` gives, nothing does.
pub(super) fn classify(lineage: &Lineage) -> (Vec<Option<ClassId>>, Vec<VersionId>) {
    let loose = grouped(lineage, &|m| m.body.to_string());
    // A class stands for all of its versions: facts name constants.
    if loose.1.len() > 1 { classify_exactly(lineage) } else { loose }
}

pub(super) fn classify_exactly(lineage: &Lineage) -> (Vec<Option<ClassId>>, Vec<VersionId>) {
    grouped(lineage, &|m| crate::mvicfg::key::exact_body_hash(&m.inlined))
}

/// Whether a function is the same in all versions but for what it calls.
pub(super) fn is_changed_by_callees_alone(lineage: &Lineage) -> bool {
    is_changed(lineage)
        && grouped(lineage, &|m| crate::mvicfg::key::exact_body_hash(&m.function)).1.len() == 1
}

fn grouped(lineage: &Lineage, body: &dyn Fn(&Member) -> String) -> (Vec<Option<ClassId>>, Vec<VersionId>) {
    let mut keys: Vec<[String; 2]> = Vec::new();
    let mut representative: Vec<VersionId> = Vec::new();
    let class_of = VersionId::each(&lineage.members)
        .map(|(v, member)| {
            let m = member.as_ref()?;
            let around = format!("{} {} {:?}", m.values, m.surroundings, lineage.salt.get(v.index()));
            let key = [body(m), around];
            let is_same = |k: &[String; 2], first: VersionId| {
                k[1] == key[1]
                    && lineage.members[first].as_ref().is_some_and(|n| layouts::is_same(n, m, *k == key))
            };
            Some(match keys.iter().zip(&representative).position(|(k, first)| is_same(k, *first)) {
                Some(c) => ClassId::new(c),
                None => {
                    keys.push(key);
                    representative.push(v);
                    ClassId::new(keys.len() - 1)
                }
            })
        })
        .collect();
    (class_of, representative)
}

/// Whether a function's versions are of more than one class.
pub fn is_changed(lineage: &Lineage) -> bool {
    classify(lineage).1.len() > 1
}

/// The pairs of versions that are compared: neighbours, or all, by the later one.
pub(super) fn version_pairs(versions: usize, all: bool) -> Vec<(VersionId, VersionId)> {
    let before = |w: VersionId| VersionId::first(w.index()).rev().take(if all { versions } else { 1 });
    VersionId::first(versions).flat_map(|w| before(w).map(move |v| (v, w))).collect()
}
