//! Subjects: what facts at a point are about.
//!
//! Observables come first (`docs/design/facts.md`): the return value, the output, how the run ends,
//! memory. Then the function's own variables, matched between classes by name and occurrence.

use crate::invariant::point::{Kind, Point};
use crate::ir::{App, CType, Function, Instr, Sort, TermId, VarId, VarKind};
use crate::mvicfg::{ClassId, ClassSet, MvId, Mvicfg};
use crate::semantics::{Evaluator, Part, Place, Val};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Name of the subject of facts about calls.
pub(super) const CALLS: &str = "calls";

/// What a query asks about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Observable {
    Output,
    Result,
    /// Ends other than by `return`.
    Ends,
    Memory,
    /// Calls of what is defined nowhere, whose effect nobody knows.
    Calls,
    /// The bytes at an address that means the same in all classes, by the name of the place.
    Cell {
        name: Arc<str>,
        address: TermId,
        sort: Sort,
        bytes: u64,
    },
    /// Named variable or parameter; of several of one name, the occurrence tells them apart.
    Variable {
        name: Arc<str>,
        ordinal: u32,
    },
    /// A condition over several; `observable` when a caller sees all of them.
    Relation {
        variables: Vec<String>,
        observable: bool,
    },
}

impl Observable {
    pub fn is_observable(&self) -> bool {
        match self {
            Observable::Variable { .. } => false,
            Observable::Relation { observable, .. } => *observable,
            _ => true,
        }
    }

    /// What facts are looked up by: the name, and with it the occurrence of a further variable of that name.
    pub fn key(&self) -> String {
        match self {
            Observable::Variable { name, ordinal } if *ordinal > 0 => format!("{name}{OCCURRENCE}{ordinal}"),
            _ => self.name(),
        }
    }

    /// Returns the name that reports use.
    pub fn name(&self) -> String {
        match self {
            Observable::Output => "output".into(),
            Observable::Result => "\\result".into(),
            Observable::Ends => "end".into(),
            Observable::Memory => "memory".into(),
            Observable::Calls => CALLS.into(),
            Observable::Variable { name, .. } | Observable::Cell { name, .. } => name.to_string(),
            Observable::Relation { variables, .. } => variables.join(", "),
        }
    }
}

/// Returns the subjects of a function at a kind of point: at the exit observables first; then
/// variables by the order of declaration in the newest class that has them.
pub fn at(g: &Mvicfg, kind: Kind) -> Vec<Observable> {
    let mut subjects = match kind {
        Kind::Exit => vec![Observable::Output, Observable::Result, Observable::Ends, Observable::Memory],
        _ => Vec::new(),
    };
    let mut seen = std::collections::BTreeSet::new();
    for body in g.bodies.iter().rev() {
        for v in &body.vars {
            // Locals of inlined callees are not the function's own.
            let own = !v.name.contains("::");
            if own && v.kind != VarKind::Temp && v.sort.is_some() && seen.insert((v.name.clone(), v.ordinal))
            {
                subjects.push(Observable::Variable { name: v.name.clone(), ordinal: v.ordinal });
            }
        }
    }
    subjects
}

/// Stands before the occurrence in keys of variables ([`Observable::key`]); no text of C holds it.
const OCCURRENCE: char = '\u{1f}';

/// A text about keys as it is shown, without occurrences.
pub fn shown(text: &str) -> String {
    let mut parts = text.split(OCCURRENCE);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| shown + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// Returns the variable of a body by its key.
pub fn find_key(f: &Function, key: &str) -> Option<VarId> {
    match key.split_once(OCCURRENCE) {
        Some((name, ordinal)) => find_var(f, name, ordinal.parse().ok()?),
        None => find_var(f, key, 0),
    }
}

/// Returns the variable of a body by name and occurrence.
pub fn find_var(f: &Function, name: &str, ordinal: u32) -> Option<VarId> {
    let found =
        f.vars.iter().position(|v| &*v.name == name && v.ordinal == ordinal && v.kind != VarKind::Temp)?;
    Some(VarId(found as u32))
}

/// Returns the declared type of a subject in a class.
pub fn type_of(g: &Mvicfg, subject: &Observable, class: ClassId) -> Option<CType> {
    match subject {
        Observable::Result => Some(g.bodies[class].ret.clone()),
        Observable::Variable { name, ordinal } => {
            let v = find_var(&g.bodies[class], name, *ordinal)?;
            Some(g.bodies[class].var(v).ty.clone())
        }
        _ => None,
    }
}

/// Whether a subject is the given merged variable in a class.
pub fn is_variable(g: &Mvicfg, subject: &Observable, class: ClassId, v: VarId) -> bool {
    let Observable::Variable { name, ordinal } = subject else { return false };
    find_var(&g.bodies[class], name, *ordinal).is_some_and(|local| g.var_map[class][local.0 as usize] == v)
}

/// Evaluates a subject that has one value at a point, for the classes that have it and that get
/// there.
pub fn values_at(e: &mut Evaluator, subject: &Observable, point: &Point, classes: &ClassSet) -> Part<Val> {
    let mut by_place: BTreeMap<(Place, MvId), ClassSet> = BTreeMap::new();
    for c in classes.iter() {
        let Some(&node) = point.nodes.get(&c) else { continue };
        if node != Mvicfg::ENTRY && e.flow.classes[c].preds[node.0 as usize].is_empty() {
            continue;
        }
        let place = match subject {
            Observable::Output => Some(Place::Out),
            Observable::Memory | Observable::Cell { .. } => Some(Place::Memory),
            Observable::Result => (!matches!(e.graph.bodies[c].ret, CType::Void)).then_some(Place::Result),
            Observable::Ends | Observable::Calls | Observable::Relation { .. } => None,
            Observable::Variable { name, ordinal } => find_var(&e.graph.bodies[c], name, *ordinal)
                .map(|v| e.places.of_var(e.graph.var_map[c][v.0 as usize]))
                .filter(|p| matches!(p, Place::Var(_))),
        };
        if let Some(p) = place {
            by_place.entry((p, node)).or_default().insert(c);
        }
    }
    let mut values: Part<Val> =
        by_place.into_iter().flat_map(|((p, node), set)| e.before(p, node, &set)).collect();
    if let Observable::Cell { address, sort, bytes, .. } = subject {
        for (_, v) in &mut values {
            v.term = e.pool.app(App::Load { sort: *sort, bytes: *bytes }, &[v.term, *address]);
        }
    }
    values
}

/// Returns the nodes where a run of a class ends otherwise than by return, in node order.
pub fn abnormal_ends(e: &Evaluator, class: ClassId) -> Vec<MvId> {
    let flow = &e.flow.classes[class];
    let mut ends: Vec<MvId> = flow
        .rpo
        .iter()
        .copied()
        .filter(|&n| n != Mvicfg::EXIT)
        .filter(|&n| matches!(&e.graph.node(n).instr, Instr::Call { noreturn: true, .. }))
        .collect();
    ends.sort_unstable();
    ends
}
