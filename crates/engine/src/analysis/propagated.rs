//! Propagated changes: which churns of a function come from below. Its own text is the same, or gives no cause, and a
//! function that it calls was changed. They are told once, where the change is.

use super::lineage::Lineage;
use crate::fact::Formula;
use crate::ir::Function;
use crate::mvicfg::{ClassId, VersionId};
use crate::report::{Churn, Claim, FunctionReport, RepoPath};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The functions that each step of the range changes.
pub(super) struct Changes<'a> {
    lineages: &'a [Lineage],
    by_name: BTreeMap<Arc<str>, Vec<usize>>,
    /// By step: lineages whose text differs.
    changed: Vec<BTreeSet<usize>>,
}

impl<'a> Changes<'a> {
    /// `differ`: lineages with more than one class; the others cannot have changed. Cost: a hash of
    /// each of their bodies.
    pub fn new(lineages: &'a [Lineage], differ: &dyn Fn(usize) -> bool, versions: usize) -> Changes<'a> {
        let mut by_name: BTreeMap<Arc<str>, Vec<usize>> = BTreeMap::new();
        let mut changed = vec![BTreeSet::new(); versions.saturating_sub(1)];
        for (i, l) in lineages.iter().enumerate() {
            let names: BTreeSet<&Arc<str>> = l.members.iter().flatten().map(|m| &m.function.name).collect();
            for name in names {
                by_name.entry(name.clone()).or_default().push(i);
            }
            if !differ(i) {
                continue;
            }
            let hash = |f: &Function| crate::mvicfg::key::body_hash(f);
            let bodies: Vec<Option<String>> =
                l.members.iter().map(|m| m.as_ref().map(|m| hash(&m.function))).collect();
            for (step, pair) in bodies.windows(2).enumerate() {
                if pair[0] != pair[1] {
                    changed[step].insert(i);
                }
            }
        }
        Changes { lineages, by_name, changed }
    }

    /// Whether in some step the function itself changes (or what it reads of constants), and not
    /// only what it calls.
    pub fn touches(&self, lineage: usize, class_of: &[Option<ClassId>]) -> bool {
        let steps = self.changed.iter().zip(class_of.windows(2)).enumerate();
        steps.filter(|(_, (_, classes))| classes[0] != classes[1]).any(|(step, (changed, _))| {
            changed.contains(&lineage) || !self.below(lineage, step).iter().any(|l| changed.contains(l))
        })
    }

    /// Names the changed functions that a churn comes through, the nearest first; none if it is the
    /// function's own.
    pub fn of(&self, lineage: usize, churn: &Churn) -> Vec<String> {
        let step = churn.from as usize - 1;
        let Some(changed) = self.changed.get(step) else { return Vec::new() };
        if changed.contains(&lineage) && !self.all_causes_elsewhere(lineage, churn) {
            return Vec::new();
        }
        let below = self.below(lineage, step);
        below.into_iter().filter(|l| changed.contains(l)).filter_map(|l| self.name(l)).collect()
    }

    /// Whether a churn has causes, and none of them in the function itself.
    fn all_causes_elsewhere(&self, lineage: usize, churn: &Churn) -> bool {
        let outside = |version: u32, line: u32| {
            let member =
                VersionId::of_number(version).and_then(|v| self.lineages[lineage].members[v].as_ref());
            let span = member.map(|m| &m.function.span);
            span.is_some_and(|s| line < s.line || line > s.end_line)
        };
        let removed = churn.causes.removed.iter().map(|l| (churn.from, l.line));
        let mut causes = removed.chain(churn.causes.added.iter().map(|l| (churn.to, l.line))).peekable();
        causes.peek().is_some() && causes.all(|(v, l)| outside(v, l))
    }

    /// What a function calls, directly or not, in either version of a step; breadth first.
    fn below(&self, lineage: usize, step: usize) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = BTreeSet::from([lineage]);
        let mut next = vec![lineage];
        while !next.is_empty() {
            let mut found = Vec::new();
            for l in next {
                let members = self.lineages[l].members.iter().skip(step).take(2).flatten();
                for node in members.flat_map(|m| &m.function.nodes) {
                    let callees = node.instr.named_callees().into_iter();
                    for &c in callees.filter_map(|name| self.by_name.get(name)).flatten() {
                        if seen.insert(c) {
                            order.push(c);
                            found.push(c);
                        }
                    }
                }
            }
            next = found;
        }
        order
    }

    fn name(&self, lineage: usize) -> Option<String> {
        let (_, m) = self.lineages[lineage].newest()?;
        Some(format!("{}:{}", RepoPath::from(&m.file), m.function.name))
    }
}

/// Where nothing is told at the function that a churn comes through, its first caller tells it: that
/// churn counts as the caller's own, and others come through the caller.
pub(super) fn settle(functions: &mut [FunctionReport]) {
    let name = |f: &FunctionReport| format!("{}:{}", f.file, f.name);
    let mut told: BTreeSet<(u32, String)> = BTreeSet::new();
    for f in functions.iter() {
        let churns = f.points.iter().flat_map(|p| &p.churns);
        told.extend(churns.filter(|c| c.through.is_empty()).map(|c| (c.from, name(f))));
    }
    let mut instead: BTreeMap<(u32, String), String> = BTreeMap::new();
    for f in functions.iter_mut() {
        let own = name(f);
        for churn in f.points.iter_mut().flat_map(|p| &mut p.churns) {
            if churn.through.is_empty()
                || churn.through.iter().any(|t| told.contains(&(churn.from, t.clone())))
            {
                continue;
            }
            let keys: Vec<(u32, String)> = churn.through.iter().map(|t| (churn.from, t.clone())).collect();
            match keys.iter().find_map(|k| instead.get(k)).filter(|n| **n != own) {
                Some(teller) => churn.through = vec![teller.clone()],
                None => {
                    churn.through.clear();
                    instead.extend(keys.into_iter().map(|k| (k, own.clone())));
                }
            }
        }
    }
}

/// An undefined event inside a callee that tells of it, too, comes through that callee, whatever else
/// of the caller changed.
pub(super) fn settle_events(functions: &mut [FunctionReport]) {
    let events = |churn: &Churn| -> Vec<String> {
        let facts = churn.removed.iter().map(|f| ("-", f)).chain(churn.added.iter().map(|f| ("+", f)));
        let facts = facts.filter(|(_, f)| Formula::read(f.text.as_str()).is_undefined());
        facts.map(|(side, f)| format!("{} {side} {}", churn.from, f.text)).collect()
    };
    let mut told: BTreeMap<String, String> = BTreeMap::new();
    for f in functions.iter() {
        let churns = f.points.iter().flat_map(|p| &p.churns);
        for churn in churns.filter(|c| c.claim == Claim::DiffersUnderUb && c.through.is_empty()) {
            for event in events(churn) {
                told.insert(format!("{event} in {}()", f.name), format!("{}:{}", f.file, f.name));
            }
        }
    }
    for churn in functions.iter_mut().flat_map(|f| &mut f.points).flat_map(|p| &mut p.churns) {
        if churn.claim == Claim::DiffersUnderUb
            && let [event] = events(churn).as_slice()
            && let Some(callee) = told.get(event)
        {
            churn.through = vec![callee.clone()];
        }
    }
}
