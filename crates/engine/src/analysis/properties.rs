//! Properties of functions as the report's assertions: classes become versions.

use super::classes::Analysed;
use super::lineage::Lineage;
use super::portfolio::{Docket, Engine, Means};
use super::request::{Pin, Request};
use super::witness;
use super::{compiled_out, weakened};
use crate::fact::{Method, Standing};
use crate::invariant::{Break, Harm, Property, PropertyKind};
use crate::ir::UndefinedKind;
use crate::mvicfg::VersionId;
use crate::report::{
    Assertion, AssertionKind, AssertionMatch, AssertionOutcome, DecidedBy, RepoPath, Report, SettledBy,
    Unchecked, Violation,
};
use std::collections::BTreeMap;

/// What difference verification, runs and proofs say of the properties as the program stands, found while the function
/// was looked at.
pub(super) struct AsItStands;

impl Engine for AsItStands {
    fn judge(&self, docket: &mut Docket, _: &Means) {
        for property in docket.analysed.diff.iter().flat_map(|d| &d.properties) {
            let found = assertion(docket.lineage, docket.analysed, property);
            // What a callee no longer asserts is told there.
            let is_own = !matches!(property.kind, PropertyKind::Assertion { callee: Some(_), .. });
            if is_own || found.matched != AssertionMatch::Removed {
                docket.obligations.push(found);
            }
        }
    }
}

/// Adds what must hold of every analysed function and how it stands, by file and function.
pub(super) fn fill(report: &mut Report, dockets: Vec<Docket>, request: &Request) {
    for Docket { lineage, analysed: a, obligations: mut list, .. } in dockets {
        let Some((newest, member)) = lineage.newest() else { continue };
        for property in a.diff.iter().flat_map(|d| &d.properties) {
            if let Some(problem) = &property.problem {
                let place = format!("{}:{}", RepoPath::from(&member.file), member.function.name);
                let text = &property.text;
                report.notices.push(format!("{place}: pinned fact '{text}' was not checked: {problem}"));
            }
        }
        let of_contract =
            |p: &&Pin| lineage.members.iter().flatten().any(|m| p.is_about(&m.file, &m.function.name));
        weakened::drop_pins(
            &mut list,
            &request.analysis.specification.pins.iter().filter(of_contract).collect::<Vec<_>>(),
        );
        if compiled_out::gone(&mut list, lineage, request) || a.diff.is_some() {
            compiled_out::mark(&mut list, lineage, request);
        }
        report.assertions.extend(list);
        let gone = newest.next().index() < a.class_of.len();
        let pins = &request.analysis.specification.pins;
        for pin in pins.iter().filter(|p| gone && p.is_about(&member.file, &member.function.name)) {
            report.notices.push(format!(
                "{}:{}: pinned fact '{}' was not checked: the function is gone",
                RepoPath::from(&member.file),
                member.function.name,
                pin.fact.text
            ));
        }
    }
    report.assertions.sort_by(|a, b| {
        (&a.file, &a.function, a.kind, &a.lines, &a.text).cmp(&(
            &b.file,
            &b.function,
            b.kind,
            &b.lines,
            &b.text,
        ))
    });
    name_all(&mut report.assertions);
}

/// Gives every assertion its id; those that differ in nothing else are counted, in the order of the report.
fn name_all(assertions: &mut [Assertion]) {
    let mut met: BTreeMap<(String, AssertionKind, String), u32> = BTreeMap::new();
    for a in assertions {
        let ordinal = met.entry((a.function.clone(), a.kind, a.text.clone())).or_default();
        let words = ["assertion", &a.function, a.kind.words(), &a.text, &ordinal.to_string()];
        a.id = super::convert::stable_id(&words);
        *ordinal += 1;
    }
}

pub(super) fn assertion(lineage: &Lineage, a: &Analysed, p: &Property) -> Assertion {
    let Some((_, newest)) = lineage.newest() else { return Assertion::default() };
    let mut lines = BTreeMap::new();
    let (mut outcome, mut settled_by) = (BTreeMap::new(), BTreeMap::new());
    for (v, class) in VersionId::each(&a.class_of) {
        let Some((class, member)) = class.zip(lineage.members[v].as_ref()) else {
            continue;
        };
        let Some(standing) = p.standing.get(&class) else { continue };
        outcome.insert(
            v.number(),
            match standing {
                Standing::Holds => AssertionOutcome::NotFail,
                Standing::Fails => AssertionOutcome::Fail,
                Standing::Open => AssertionOutcome::Unknown,
            },
        );
        settled_by.extend(p.settled_by.get(&class).map(|by| (v.number(), means(*by))));
        let line = match p.kind {
            PropertyKind::Pinned => Some(super::convert::exit_line(member)),
            PropertyKind::Assertion { callee: Some(_), .. } | PropertyKind::Safety { own: false, .. } => {
                p.lines.get(&class).copied()
            }
            PropertyKind::Assertion { callee: None, .. } | PropertyKind::Safety { own: true, .. } => p
                .lines
                .get(&class)
                .and_then(|l| super::convert::shifted(lineage, a, v, &[*l]).first().copied()),
        };
        lines.extend(line.map(|l| (v.number(), l)));
    }
    let shown = |breaks: &[Break]| {
        a.class_of.windows(2).enumerate().rev().find_map(|(v, w)| {
            let b = breaks.iter().find(|b| w == [Some(b.from), Some(b.to)])?;
            let (old, new) = (lineage.members.get(v)?.as_ref()?, lineage.members.get(v + 1)?.as_ref()?);
            Some(witness::convert(None, &b.run, old, new, &*new.function.name == "main"))
        })
    };
    let broken = shown(&p.breaks);
    let first = outcome.values().next().copied();
    let last = outcome.values().next_back().copied();
    // An input on which it held is one that a program must serve, and that callers of a function may.
    let wider = shown(&p.wider).filter(|_| broken.is_none());
    let is_program = &*newest.function.name == "main";
    let violation = match (&broken, first, last) {
        (Some(_), ..) if p.is_certain() => Some(Violation::Regression),
        _ if wider.is_some() => is_program.then_some(Violation::Regression),
        (_, Some(AssertionOutcome::Fail), Some(AssertionOutcome::Fail)) if outcome.len() > 1 => {
            Some(Violation::Preexisting)
        }
        _ => None,
    };
    let everywhere = a.class_of.iter().flatten().count() == outcome.len();
    let in_newest = a.class_of.iter().rev().flatten().next().is_some_and(|c| p.standing.contains_key(c));
    let decided_by = match p.kind {
        PropertyKind::Safety { .. } => DecidedBy::Runs,
        _ if last == Some(AssertionOutcome::Unknown) && is_covered(a, p) => DecidedBy::DifferenceGraph,
        _ => DecidedBy::Full,
    };
    let covered = outcome.last_key_value().filter(|_| decided_by == DecidedBy::DifferenceGraph);
    settled_by.extend(covered.map(|(v, _)| (*v, SettledBy::DifferenceVerification)));
    Assertion {
        id: String::new(),
        file: RepoPath::from(newest.file.as_path()),
        function: newest.function.name.to_string(),
        text: p.text.clone(),
        matched: match (everywhere, in_newest) {
            (true, _) => AssertionMatch::Unchanged,
            (_, true) => AssertionMatch::New,
            _ => AssertionMatch::Removed,
        },
        lines,
        kind: match p.kind {
            PropertyKind::Pinned => AssertionKind::Pinned,
            PropertyKind::Assertion { .. } => AssertionKind::Assertion,
            PropertyKind::Safety { event, .. } => kind_of(event),
        },
        outcome,
        decided_by,
        settled_by,
        violation,
        counterexample: broken.or(wider).or_else(|| shown(&p.starts)),
        unchecked: Unchecked::default(),
        guarded: shown(&p.ends),
        weakened: None,
        age: None,
    }
}

fn means(method: Method) -> SettledBy {
    match method {
        Method::Runs => SettledBy::Runs,
        Method::Proof => SettledBy::Proof,
        Method::Unrolling => SettledBy::Unrolling,
        Method::KInduction => SettledBy::KInduction,
    }
}

/// Whether difference verification has said of a property that it fails on no input on which nothing failed before.
fn is_covered(a: &Analysed, p: &Property) -> bool {
    let is_own = matches!(p.kind, PropertyKind::Assertion { callee: None, .. });
    let newest = p.lines.last_key_value().map_or(0, |(_, line)| *line);
    a.covered.all || is_own && p.standing.len() > 1 && a.covered.has(newest, &p.text)
}

/// The kind of property that something harmful violates.
fn kind_of(harm: Harm) -> AssertionKind {
    let event = match harm {
        Harm::Undefined(event) => event,
        Harm::Abort => return AssertionKind::Abort,
        Harm::Leak => return AssertionKind::Leak,
    };
    match event {
        UndefinedKind::DivisionByZero | UndefinedKind::DivisionOverflow => AssertionKind::Division,
        UndefinedKind::ShiftCount | UndefinedKind::FloatToInt | UndefinedKind::SignedOverflow => {
            AssertionKind::Overflow
        }
        UndefinedKind::OutOfBounds | UndefinedKind::ReadOnly | UndefinedKind::ArrayLength => {
            AssertionKind::Bounds
        }
        UndefinedKind::NullDereference | UndefinedKind::UseAfterFree | UndefinedKind::BadPointer => {
            AssertionKind::Null
        }
        UndefinedKind::Uninitialised | UndefinedKind::MissingReturn => AssertionKind::Uninitialised,
        UndefinedKind::Unreachable
        | UndefinedKind::DeadJump
        | UndefinedKind::FormatMismatch
        | UndefinedKind::BadCall => AssertionKind::Unreachable,
    }
}
