//! Trailers: the few lines of a report that go into the commit message (contract section 4).
//!
//! `Invariant-Churn` names a changed fact, or where no fact says it what the code does otherwise,
//! `Invariant-Kept` counts the facts that both versions share, `Invariant-Regression` names a property that a
//! replayed input refutes now. Most important first: regressions are never crowded out, then churns that callers
//! can see, then the others by rank. Every value is one line without control characters, whatever the analysed
//! sources are called.

use std::cmp::Ordering;

use super::change::{in_one_line, told};
use super::escape::{c_quoted, shortened, visible};
use super::object::{is_told_at_object, told_objects};
use super::text::input_text;
use super::unmarked;
use super::{
    Assertion, AssertionMatch, Change, Churn, Claim, Fact, FunctionReport, LineRef, ObjectReport, Point,
    PointKind, RepoPath, Report, Version, Violation,
};
use crate::store::trailers::Trailer;

pub const CHURN: &str = "Invariant-Churn";
pub const KEPT: &str = "Invariant-Kept";
pub const REGRESSION: &str = "Invariant-Regression";
/// All keys that this program writes, and hence replaces.
pub const KEYS: [&str; 3] = [CHURN, KEPT, REGRESSION];
/// Trailers a message gets unless `invdiff.maxTrailers` says otherwise.
pub const DEFAULT_MAX: usize = 5;

/// Characters of one fact.
const FACT_WIDTH: usize = 60;
/// Cause lines of either side.
const CAUSES: usize = 3;

/// Returns at most `max` trailers for a report on two versions; none for one that found nothing.
pub fn compose(report: &Report, max: usize) -> Vec<Trailer> {
    let regressions = regressions(report);
    let churns = churn_lines(report);
    let kept =
        report.functions.iter().flat_map(|f| &f.points).map(|p| p.version_invariants.len()).sum::<usize>();
    let shown_regressions = regressions.len().min(max);
    let mut room = max - shown_regressions;
    let shows_kept = kept > 0 && (room > 1 || churns.is_empty() && room > 0);
    room -= usize::from(shows_kept);

    let mut trailers = Vec::new();
    let mut add = |key, value| trailers.push(Trailer { key, value });
    let count = churns.len();
    if count <= room {
        churns.into_iter().for_each(|line| add(CHURN, line));
    } else if let Some(last) = room.checked_sub(1) {
        churns.into_iter().take(last.max(1)).for_each(|line| add(CHURN, line));
        if last > 0 {
            add(CHURN, format!("{} more", count - last));
        }
    }
    if shows_kept {
        add(KEPT, kept.to_string());
    }
    for assertion in regressions.iter().take(shown_regressions) {
        add(REGRESSION, regression_line(assertion, report.versions.last().map_or(0, |v| v.index)));
    }
    trailers
}

/// Returns the properties that the newer version breaks, each with a replayed counterexample; those first that had
/// been kept longest.
pub fn regressions(report: &Report) -> Vec<&Assertion> {
    let broken = |a: &&Assertion| a.violation == Some(Violation::Regression) && a.is_certain();
    let mut regressions: Vec<&Assertion> = report.assertions.iter().filter(broken).collect();
    super::longest_kept_first(&mut regressions);
    regressions
}

/// Returns all churns, the most important first, in a stable order.
pub fn ranked(report: &Report) -> Vec<(&FunctionReport, &Point, &Churn)> {
    let mut all: Vec<(&FunctionReport, &Point, &Churn)> = Vec::new();
    for function in &report.functions {
        for point in &function.points {
            // What callers see of a callee's change is told there, and so is what readers see of an object's.
            let is_own = |churn: &&Churn| churn.through.is_empty() && !is_told_at_object(report, churn);
            let own = point.churns.iter().filter(is_own);
            all.extend(own.map(|churn| (function, point, churn)));
        }
    }
    let order = |a: &Churn, b: &Churn| b.rank.partial_cmp(&a.rank).unwrap_or(Ordering::Equal);
    all.sort_by(|a, b| b.2.observable.cmp(&a.2.observable).then(order(a.2, b.2)));
    all
}

/// What a report found of functions.
#[derive(Clone, Copy)]
pub enum Finding<'r> {
    Churn(&'r FunctionReport, &'r Point, &'r Churn),
    Change(&'r FunctionReport, &'r Change),
}

impl Finding<'_> {
    pub fn id(&self) -> &str {
        match self {
            Finding::Churn(.., churn) => &churn.id,
            Finding::Change(_, change) => &change.id,
        }
    }

    pub fn line(&self) -> String {
        match self {
            Finding::Churn(function, point, churn) => churn_line(function, point, churn),
            Finding::Change(function, change) => change_line(function, change),
        }
    }
}

/// Returns what a report found of functions, the most important first. Changes of functions that no fact
/// describes come behind the churns that a fact does. A churn without a fact says only that something differs:
/// where the change itself is told it is left out.
pub fn findings(report: &Report) -> Vec<Finding<'_>> {
    let has_facts = |churn: &Churn| !churn.removed.is_empty() || !churn.added.is_empty();
    let is_described = |f: &FunctionReport| {
        f.points.iter().flat_map(|p| &p.churns).any(|c| c.through.is_empty() && has_facts(c))
    };
    let mut churns = ranked(report);
    churns.retain(|(f, _, churn)| has_facts(churn) || is_described(f) || told(f).next().is_none());
    let described = churns.iter().rposition(|(.., churn)| has_facts(churn)).map_or(0, |last| last + 1);
    let mut found: Vec<Finding<'_>> = churns.into_iter().map(|(f, p, c)| Finding::Churn(f, p, c)).collect();
    let functions = report.functions.iter().filter(|f| !is_described(f));
    let changes: Vec<Finding<'_>> =
        functions.flat_map(|f| told(f).map(move |c| Finding::Change(f, c))).collect();
    found.splice(described..described, changes);
    found
}

/// Says what a report found in a line each, the most important first.
pub(super) fn churn_lines(report: &Report) -> Vec<String> {
    let functions = findings(report);
    functions.iter().map(Finding::line).chain(told_objects(report).map(object_line)).collect()
}

/// Says a change in one line: `src/jv_file.c:jv_load_file: when data is not valid: next round -> leaves the loop
/// (+60)`.
fn change_line(function: &FunctionReport, change: &Change) -> String {
    let whose = place(&function.file, &function.name);
    let mut line = format!("{whose}: {}", in_one_line(change, FACT_WIDTH));
    let begin = |file: &RepoPath, line, lines: u32| {
        (lines > 0).then(|| LineRef { file: file.clone(), line, text: None })
    };
    let removed: Vec<LineRef> =
        change.hunks.iter().filter_map(|h| begin(&h.file, h.old_start, h.old_lines)).collect();
    let added: Vec<LineRef> =
        change.hunks.iter().filter_map(|h| begin(&h.file, h.new_start, h.new_lines)).collect();
    line.push_str(&causes(&removed, &added, &function.file));
    line
}

/// Says what became of an object in one line: `src/options.c:options: now also has "x" after "y" (+56)`.
fn object_line(object: &ObjectReport) -> String {
    let whose = place(&object.file, &object.called());
    let begin = |file: &RepoPath, line, lines: u32| {
        (lines > 0).then(|| LineRef { file: file.clone(), line, text: None })
    };
    let (removed, added): (Vec<_>, Vec<_>) = object
        .hunks
        .iter()
        .map(|h| (begin(&h.file, h.old_start, h.old_lines), begin(&h.file, h.new_start, h.new_lines)))
        .unzip();
    let removed: Vec<LineRef> = removed.into_iter().flatten().collect();
    let added: Vec<LineRef> = added.into_iter().flatten().collect();
    format!("{whose}: {}{}", object.in_one_line(FACT_WIDTH), causes(&removed, &added, &object.file))
}

/// Says a churn in one line: `src/area.c:area: \result: a * b -> fabs(a * b) (-12 +12)`.
pub fn churn_line(function: &FunctionReport, point: &Point, churn: &Churn) -> String {
    let mut line = format!("{}: {}", place(&function.file, &function.name), change(churn));
    if let (true, Some(at)) = (point.kind != PointKind::Exit, point.lines.get(&churn.to)) {
        line.push_str(&format!(" at {at}"));
    }
    line.push_str(&causes(&churn.causes.removed, &churn.causes.added, &function.file));
    line
}

/// ` (-12 +12)`, or nothing.
fn causes(removed: &[LineRef], added: &[LineRef], own: &RepoPath) -> String {
    let causes = [cause_lines("-", removed, own), cause_lines("+", added, own)].concat();
    if causes.is_empty() { String::new() } else { format!(" ({})", causes.join(" ")) }
}

/// Says a regression in one line: `src/buf.c:push: i < cap no longer holds at 41 (i = 8)`.
pub fn regression_line(assertion: &Assertion, newest: Version) -> String {
    let whose = match assertion.function.is_empty() {
        true => assertion.file.to_string(),
        false => place(&assertion.file, &assertion.function),
    };
    let mut line = format!("{whose}: {}", statement(assertion, newest));
    if let Some(at) = assertion.lines.get(&newest).or(assertion.lines.values().last()) {
        line.push_str(&format!(" at {at}"));
    }
    let input = assertion
        .example(newest)
        .map(|w| shortened(&input_text(w, &assertion.function), FACT_WIDTH))
        .unwrap_or_default();
    if !input.is_empty() {
        line.push_str(&format!(" ({input})"));
    }
    line
}

/// Says what became of a property: `i < cap no longer holds`, `now division by zero`.
pub(super) fn statement(assertion: &Assertion, newest: Version) -> String {
    if let Some(was) = assertion.weakened.as_ref().filter(|_| assertion.is_weakened(newest)) {
        let (was, is) = (fact(&was.text), fact(&assertion.text));
        return match assertion.matched {
            AssertionMatch::Removed => format!("{was} was dropped, and the new code breaks it"),
            _ => format!("{was} was weakened to {is}, and the new code needs that"),
        };
    }
    match assertion.text.strip_prefix("no ").filter(|_| assertion.kind.is_safety()) {
        Some(event) => format!("now {}", fact(event)),
        None if assertion.unchecked.compiled_out => format!("{} is compiled out", fact(&assertion.text)),
        None if assertion.guarded.is_some() && assertion.matched == AssertionMatch::Removed => {
            format!("{} is removed", fact(&assertion.text))
        }
        None if assertion.guarded.is_some() && !assertion.is_certain() => {
            format!("{} comes too late", fact(&assertion.text))
        }
        None if matches!(
            assertion.violation,
            Some(Violation::NonconformingFeature | Violation::BadPropertyUpdate)
        ) =>
        {
            format!("{} does not hold", fact(&assertion.text))
        }
        None => format!("{} no longer holds", fact(&assertion.text)),
    }
}

fn place(file: &RepoPath, function: &str) -> String {
    format!("{}:{}", c_quoted(file.as_bytes()), visible(function))
}

fn fact(text: &str) -> String {
    shortened(&visible(text), FACT_WIDTH)
}

/// Says what became of the facts of a churn. `x == e` replaced by `x == f` is `x: e -> f`.
pub(super) fn change(churn: &Churn) -> String {
    let shown = |f: &Fact| unmarked::beside(f, churn).into_owned();
    match (churn.removed.first().map(shown), churn.added.first().map(shown)) {
        (Some(old), Some(new)) => match (equation(&old), equation(&new)) {
            (Some((name, old)), Some((other, new))) if name == other => {
                format!("{}: {} -> {}", visible(name), fact(old), fact(new))
            }
            _ => format!("{} -> {}", fact(&old), fact(&new)),
        },
        (Some(old), None) if churn.claim == Claim::NoLongerProvable => {
            format!("{} no longer provable", fact(&old))
        }
        (Some(old), None) => format!("{} no longer holds", fact(&old)),
        (None, Some(new)) => format!("{} now holds", fact(&new)),
        (None, None) if churn.claim == Claim::DiffersUnderUb => {
            "differs where behaviour is undefined".to_string()
        }
        (None, None) => "behaviour differs".to_string(),
    }
}

/// Splits `x == e` where `x` is the fact's variable.
fn equation(fact: &str) -> Option<(&str, &str)> {
    let (left, right) = fact.split_once(" == ")?;
    let simple = !left.contains([' ', '<', '>', '=']) && !right.contains("&&") && !right.contains("||");
    simple.then_some((left, right))
}

fn cause_lines(sign: &str, lines: &[LineRef], own: &RepoPath) -> Vec<String> {
    let show = |line: &LineRef| match line.file == *own || line.file.as_bytes().is_empty() {
        true => format!("{sign}{}", line.line),
        false => format!("{sign}{}:{}", c_quoted(line.file.as_bytes()), line.line),
    };
    let mut shown: Vec<String> = lines.iter().take(CAUSES).map(show).collect();
    if lines.len() > CAUSES {
        shown.push(format!("{sign}..."));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::samples;
    use crate::{Argument, Causes, HunkRef, Witness};

    fn facts(texts: &str) -> Vec<Fact> {
        let fact = |text: &str| Fact { text: text.trim().to_string(), ..Fact::default() };
        texts.split(';').filter(|t| !t.trim().is_empty()).map(fact).collect()
    }

    /// One churn a line: `removed | added`, observable if it ends in `!`.
    fn report(churns: &str, kept: usize, broken: usize) -> Report {
        let line = |line| vec![LineRef { file: "src/a.c".into(), line, text: None }];
        let churn = |text: &str| {
            let (removed, added) = text.trim_end_matches('!').split_once('|').unwrap();
            Churn {
                removed: facts(removed),
                added: facts(added),
                observable: text.ends_with('!'),
                claim: Claim::Changed,
                causes: Causes { removed: line(12), added: line(13), shared: vec![] },
                ..Churn::default()
            }
        };
        let churns = churns.lines().map(churn).collect();
        let point = Point { churns, version_invariants: vec![Fact::default(); kept], ..Point::default() };
        let function = FunctionReport {
            file: "src/a.c".into(),
            name: "f".into(),
            points: vec![point],
            ..Default::default()
        };
        let argument = Argument { name: "i".into(), ty: "int".into(), value: "8".into() };
        let assertion = Assertion {
            file: "src/b.c".into(),
            function: "push".into(),
            text: "i < cap".into(),
            lines: [(1, 40), (2, 41)].into(),
            violation: Some(Violation::Regression),
            counterexample: Some(Witness { arguments: vec![argument], ..Witness::default() }),
            ..Assertion::default()
        };
        Report { functions: vec![function], assertions: vec![assertion; broken], ..Report::default() }
    }

    fn check(report: &Report, max: usize, expected: &[&str]) {
        let lines: Vec<String> =
            compose(report, max).iter().map(|t| format!("{}: {}", t.key, t.value)).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn shows_what_changed_and_counts_what_stayed() {
        check(
            &report("\\result == a * b | \\result == fabs(a * b)!", 14, 1),
            5,
            &[
                "Invariant-Churn: src/a.c:f: \\result: a * b -> fabs(a * b) (-12 +13)",
                "Invariant-Kept: 14",
                "Invariant-Regression: src/b.c:push: i < cap no longer holds at 41 (i = 8)",
            ],
        );
        check(&report("", 0, 0), 5, &[]);
        check(&report("", 3, 0), 5, &["Invariant-Kept: 3"]);
        check(&report("x > 1 |", 0, 0), 5, &["Invariant-Churn: src/a.c:f: x > 1 no longer holds (-12 +13)"]);
        check(&report("| x > 1", 0, 0), 5, &["Invariant-Churn: src/a.c:f: x > 1 now holds (-12 +13)"]);
    }

    #[test]
    fn room_goes_to_what_matters_most() {
        let many = report("a > 0 |\nb > 0 |!\nc > 0 |", 2, 1);
        check(&many, 0, &[]);
        check(&many, 1, &["Invariant-Regression: src/b.c:push: i < cap no longer holds at 41 (i = 8)"]);
        let keys = |max| compose(&many, max).iter().map(|t| t.value[..5].to_string()).collect::<Vec<_>>();
        assert_eq!(keys(2), ["src/a", "src/b"]);
        assert_eq!(compose(&many, 4)[1].value, "2 more");
        assert!(compose(&many, 4)[0].value.contains("b > 0"));
        for max in 0..9 {
            assert!(compose(&many, max).len() <= max);
        }
    }

    #[test]
    fn hostile_names_stay_on_their_line() {
        let mut hostile = report("x == 1 | x == 2", 1, 0);
        hostile.functions[0].points[0].churns[0].added[0].text = "x == \n\u{1b}[31m2".into();
        hostile.functions.extend(report("", 0, 0).functions);
        hostile.functions[1].changes = vec![samples::change(&["x\n\u{202e} | a\r2 | b\u{1b}[31m"])];
        hostile.functions[0].file = (&b"a\nSigned-off-by: x\xff.c"[..]).into();
        for trailer in compose(&hostile, 5) {
            let is_odd = |c: char| c.is_control() || c == '\u{202e}';
            assert!(!trailer.value.chars().any(is_odd), "{trailer:?}");
        }
    }

    #[test]
    fn changes_stand_for_functions_that_no_fact_describes() {
        let deltas = &["data is not valid | next round | leaves the loop", "x | y | z"][..];
        let with_changes = |churns: &str| {
            let mut report = report(churns, 0, 0);
            report.functions[0].changes = vec![samples::change(deltas), samples::change(&["| f(x) | f(y)"])];
            report.functions[0].changes[1].hunks =
                vec![HunkRef { file: "b.c".into(), old_start: 7, old_lines: 2, new_start: 9, new_lines: 1 }];
            report.functions[0].file = "a.c".into();
            report
        };
        let lines = [
            "Invariant-Churn: a.c:f: when data is not valid: next round -> leaves the loop; and 1 more (+13)",
            "Invariant-Churn: a.c:f: f(x) -> f(y) (-b.c:7 +b.c:9)",
        ];
        check(&with_changes(""), 5, &lines);
        check(&with_changes("|!"), 5, &lines);
        check(&with_changes(""), 1, &lines[..1]);
        check(&report("|!", 0, 0), 5, &["Invariant-Churn: src/a.c:f: behaviour differs (-12 +13)"]);
        let one = &["Invariant-Churn: a.c:f: x > 1 now holds (-src/a.c:12 +src/a.c:13)"];
        check(&with_changes("| x > 1"), 5, one);
        // Facts come first, of whichever function.
        let mut both = with_changes("");
        both.functions.extend(with_changes("| x > 1").functions);
        both.functions.extend(report("|", 0, 0).functions);
        let differs = "Invariant-Churn: src/a.c:f: behaviour differs (-12 +13)";
        check(&both, 5, &[one[0], lines[0], lines[1], differs]);
        check(&both, 3, &[one[0], lines[0], "Invariant-Churn: 2 more"]);
        both.functions[0].changes[0].verdict = crate::ChangeVerdict::Open;
        check(&both, 5, &[one[0], lines[1], differs]);
    }
}
