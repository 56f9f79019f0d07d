//! What a report objects to, one entry a place: what code hosts show beside a change.
//!
//! Findings are in a stable order, the gravest first, so that a limit cuts the least telling. Their ids and
//! fingerprints hold no lines, commits or paths.

use super::change::{in_one_line, sides, told};
use super::escape::visible;
use super::object::{is_told_at_object, told_objects};
use super::text::{ends_of, input_of, property_ends};
use super::trailer::{change, statement};
use super::{
    Assertion, AssertionKind, AssertionOutcome, Change, Churn, Claim, Effect, FunctionReport, HunkReport,
    Judgement, LeftAlone, ObjectReport, Point, RepoPath, Report, Version,
};
use std::collections::BTreeMap;

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Stops a commit.
    Error,
    Warning,
    Note,
}

/// A kind of finding; `git invdiff explain` says more of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Stable.
    pub id: &'static str,
    pub title: &'static str,
    /// A sentence or two.
    pub text: &'static str,
    /// A few lines of C, before and after.
    pub example: &'static str,
}

/// A place that helps to understand a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub file: RepoPath,
    pub line: u32,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub rule: &'static Rule,
    pub level: Level,
    pub message: String,
    pub file: RepoPath,
    /// In the newest version, from 1.
    pub line: u32,
    /// Or object.
    pub function: String,
    /// Of the churn, change, object or assertion; with the function's name, so a rename of the function gives another one.
    pub id: String,
    /// The same without names of functions.
    pub text_id: String,
    pub related: Vec<Related>,
    /// Why it is left alone, where a suppression says so.
    pub suppressed: Option<String>,
}

impl Finding {
    /// What it is about: `push()`, and of an object its name, as it is.
    pub fn whose(&self) -> String {
        if self.is_of_object() { self.function.clone() } else { format!("{}()", self.function) }
    }

    /// Whether it is about an object and not about a function.
    pub fn is_of_object(&self) -> bool {
        self.rule.id == OBJECT
    }
}

/// Columns of an input and of what a run does.
const ROOM: usize = 200;

/// Rule of what changes where the text does.
const CHANGE: &str = "change/local";
/// Rule of objects that begin with something else, or are declared otherwise.
const OBJECT: &str = "change/object";
/// Rule of assertions that the change weakens because the new code needs it.
const WEAKENED: &str = "property/weakened";

/// The rules, in the order of their ids.
pub const RULES: [Rule; 18] = [
    Rule {
        id: CHANGE,
        title: "The code does something else here",
        text: "From the states at this place that meet the condition, the old version does one thing and the new one another. Whether the function gets there in such a state is not said.",
        example: "+    if (p == NULL) return -1;\n     return p->len;\n\nwhen p == NULL: undefined: p is NULL -> returns -1",
    },
    Rule {
        id: OBJECT,
        title: "An object begins with something else",
        text: "The definition of an object with static storage differs: what it begins with, its type, its linkage or its name. Who reads it may do something else; whether anyone has written it by then is not said.",
        example: "     { \"menu_valign\", \"bottom\" },\n+    { \"menu_gradient_pos\", \"none\" },\n\nnow     has { \"menu_gradient_pos\", \"none\" } after { \"menu_valign\", \"bottom\" }",
    },
    Rule {
        id: "churn/changed",
        title: "A fact took the place of another",
        text: "What callers see differs between the versions: an input was replayed in both.",
        example: "-    return x + 1;\n+    return x + 2;\n\n- \\result == x + 1\n+ \\result == x + 2",
    },
    Rule {
        id: "churn/differs-under-ub",
        title: "One version does something undefined",
        text: "On the input that is shown one of the versions does what C leaves undefined, and the other does not.",
        example: "-    if (n < 0) return 0;\n+    if (n <= 0) return 0;\n     return sum / n;\n\n- n == 0 ==> undefined: division by zero",
    },
    Rule {
        id: "churn/no-longer-holds",
        title: "A fact no longer holds",
        text: "A condition held in every execution of the old version; a replayed input refutes it in the new one.",
        example: "-    if (x < 0) x = 0;\n     return x;\n\n- \\result >= 0",
    },
    Rule {
        id: "churn/no-longer-provable",
        title: "A fact is no longer provable",
        text: "A condition was proved in the old version; in the new one it is neither proved nor refuted.",
        example: "-    return 1;\n+    return mystery(x);\n\n- \\result == 1",
    },
    Rule {
        id: "churn/now-holds",
        title: "A fact now holds",
        text: "A condition holds in the new version that an input refutes in the old one.",
        example: "+    if (x < 0) x = 0;\n     return x;\n\n+ \\result >= 0",
    },
    Rule {
        id: "property/abort",
        title: "The program aborts",
        text: "A replayed input comes to a call of abort(), which it did not before.",
        example: "-    if (n < 0) return 0;\n+    if (n < 0) abort();\n     return n;",
    },
    Rule {
        id: "property/assertion",
        title: "An assertion fails",
        text: "A replayed input makes an assert fail that it did not make fail before.",
        example: "-    if (n < 8) n++;\n+    if (n <= 8) n++;\n     assert(n <= 8);",
    },
    Rule {
        id: "property/bounds",
        title: "An access out of bounds",
        text: "A replayed input reads or writes outside of an object, which it did not before.",
        example: "-    for (i = 0; i < 8; i++)\n+    for (i = 0; i <= 8; i++)\n         a[i] = 0;       /* int a[8] */",
    },
    Rule {
        id: "property/division",
        title: "A division by zero, or one that overflows",
        text: "A replayed input divides by zero or INT_MIN by -1, which it did not before.",
        example: "-    if (n <= 0) return 0;\n+    if (n < 0) return 0;\n     return sum / n;",
    },
    Rule {
        id: "property/leak",
        title: "Memory is lost",
        text: "On a replayed input nobody can reach any more what was allocated, which was not so before.",
        example: "     char *p = malloc(8);\n-    free(p);\n     return 0;",
    },
    Rule {
        id: "property/null",
        title: "An access through a null or dead pointer",
        text: "A replayed input reads or writes through a null pointer or to freed memory, which it did not before.",
        example: "-    if (p == NULL) return 0;\n     return p->len;",
    },
    Rule {
        id: "property/overflow",
        title: "A shift, conversion or sum out of range",
        text: "A replayed input shifts by too much, converts what does not fit, or overflows, which it did not before.",
        example: "-    return n < 32 ? 1u << n : 0;\n+    return 1u << n;",
    },
    Rule {
        id: "property/pinned",
        title: "A pinned fact no longer holds",
        text: "A replayed input refutes a condition that .invdiff.yaml pins and that it kept before.",
        example: "pinned: [{function: area, holds: \"\\\\result >= 0\"}]\n\n-    return fabs(a * b);\n+    return a * b;",
    },
    Rule {
        id: "property/uninitialised",
        title: "A read of what was never set",
        text: "A replayed input reads memory that nothing has written, which it did not before.",
        example: "     int r;\n-    r = 0;\n     if (x > 0) r = x;\n     return r;",
    },
    Rule {
        id: "property/unreachable",
        title: "Code that must not be reached is reached",
        text: "A replayed input reaches __builtin_unreachable or the like, which it did not before.",
        example: "     switch (k) { case 0: return 1;\n-    case 1: return 2;\n     default: __builtin_unreachable(); }",
    },
    Rule {
        id: WEAKENED,
        title: "An assertion was weakened, and the new code needs that",
        text: "The change replaces or drops a condition that was asserted or pinned. Put back into the new code, the old condition fails on a replayed input that kept it in the old code.",
        example: "-    r = 2;\n-    assert(r > 0);\n+    r = 0;\n+    assert(r >= 0);",
    },
];

/// Returns the rule of an id.
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}

fn rule_of_kind(kind: AssertionKind) -> &'static Rule {
    let id = match kind {
        AssertionKind::Abort => "property/abort",
        AssertionKind::Assertion => "property/assertion",
        AssertionKind::Leak => "property/leak",
        AssertionKind::Pinned => "property/pinned",
        AssertionKind::Division => "property/division",
        AssertionKind::Overflow => "property/overflow",
        AssertionKind::Bounds => "property/bounds",
        AssertionKind::Null => "property/null",
        AssertionKind::Uninitialised => "property/uninitialised",
        AssertionKind::Unreachable => "property/unreachable",
    };
    rule(id).unwrap_or(&RULES[0])
}

fn rule_of_claim(claim: Claim) -> &'static Rule {
    let id = match claim {
        Claim::Changed => "churn/changed",
        Claim::DiffersUnderUb => "churn/differs-under-ub",
        Claim::NoLongerHolds => "churn/no-longer-holds",
        Claim::NoLongerProvable => "churn/no-longer-provable",
        Claim::NowHolds => "churn/now-holds",
    };
    rule(id).unwrap_or(&RULES[0])
}

/// Returns what a report objects to. `left_alone`: by id, what blocks nothing, and why. `churns`: changes of
/// facts, and of what the code does where its text differs, too.
pub fn findings(report: &Report, left_alone: &BTreeMap<String, LeftAlone>, churns: bool) -> Vec<Finding> {
    let newest = report.versions.last().map_or(0, |v| v.index);
    let mut found: Vec<Finding> =
        report.assertions.iter().filter_map(|a| of_assertion(a, newest, left_alone)).collect();
    if churns {
        let hunks = hunks_by_step(report);
        for function in &report.functions {
            for point in &function.points {
                // What callers see of a callee's change is told there, and what readers see of an object's.
                let is_own = |c: &&Churn| c.through.is_empty() && !is_told_at_object(report, c);
                let own = point.churns.iter().filter(is_own);
                found.extend(own.map(|churn| of_churn(function, point, churn, newest, left_alone)));
            }
            found.extend(told(function).map(|c| of_change(function, c, newest, &hunks, left_alone)));
        }
        found.extend(told_objects(report).map(|o| of_object(o, newest, &hunks, left_alone)));
    }
    // What a fact says of the whole function comes before what is said of a place in it.
    let is_local = |f: &Finding| matches!(f.rule.id, CHANGE | OBJECT);
    found.sort_by(|a, b| {
        let key = |f: &Finding| (f.level, is_local(f));
        key(a).cmp(&key(b)).then_with(|| (&a.file, a.line, &a.id).cmp(&(&b.file, b.line, &b.id)))
    });
    number(&mut found);
    found
}

/// Tells findings of equal ids apart.
fn number(found: &mut [Finding]) {
    let mut met: BTreeMap<String, u32> = BTreeMap::new();
    for finding in found {
        for id in [&mut finding.id, &mut finding.text_id] {
            let ordinal = met.entry(id.clone()).or_default();
            *ordinal += 1;
            if *ordinal > 1 {
                id.push_str(&format!("-{ordinal}"));
            }
        }
    }
}

/// A fact's text without the numbers of lines: facts about events name them (`at line 12`).
fn without_lines(text: &str) -> String {
    let mut parts = text.split("line ");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str("line ");
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    out
}

/// Hash of words.
fn hash(words: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for word in words {
        hasher.update(word.as_bytes());
        hasher.update(&[0]);
    }
    hasher.finalize().to_hex().chars().take(16).collect()
}

fn of_assertion(a: &Assertion, newest: Version, left_alone: &BTreeMap<String, LeftAlone>) -> Option<Finding> {
    let judgement = a.judgement(newest);
    let free = left_alone.get(&a.id);
    let held = a.outcome.iter().any(|(v, o)| *v < newest && *o == AssertionOutcome::NotFail);
    let level = match judgement {
        Judgement::Regression if free.is_none() => Level::Error,
        _ if a.is_weakened(newest) && free.is_none() => Level::Error,
        Judgement::Regression | Judgement::BrokenFromTheStart | Judgement::Weakened => Level::Warning,
        Judgement::Removed if a.is_weakened(newest) => Level::Warning,
        Judgement::Removed | Judgement::CompiledOut | Judgement::Overtaken if a.guarded.is_some() => {
            Level::Warning
        }
        Judgement::Undecided if held => Level::Note,
        _ => return None,
    };
    let mut message = match judgement {
        Judgement::Undecided => match a.weakened.as_ref().filter(|_| a.is_open_before(newest)) {
            Some(was) => format!(
                "{} was {}; whether the new code breaks that is not known",
                visible(&a.text),
                visible(&was.text)
            ),
            None => format!("{} is no longer provable", visible(&a.text)),
        },
        _ => statement(a, newest),
    };
    if let Some(witness) = a.example(newest) {
        let (before, after) = match a.is_weakened(newest) {
            true => property_ends(a, witness, newest, ROOM),
            false => ends_of(witness, ROOM),
        };
        let input = input_of(witness, &a.function);
        message.push_str(&format!(". For example {input}: before {before}; after {after}"));
    }
    let weakened = rule(WEAKENED).filter(|_| a.is_weakened(newest));
    let rule = weakened.unwrap_or_else(|| rule_of_kind(a.kind));
    Some(Finding {
        rule,
        level,
        message,
        file: a.file.clone(),
        line: a.lines.get(&newest).or(a.lines.values().next_back()).copied().unwrap_or(1).max(1),
        function: a.function.clone(),
        id: a.id.clone(),
        text_id: hash(&[rule.id, &a.text]),
        related: Vec::new(),
        suppressed: free.and_then(LeftAlone::reason).map(str::to_owned),
    })
}

fn of_churn(
    function: &FunctionReport,
    point: &Point,
    churn: &Churn,
    newest: Version,
    left_alone: &BTreeMap<String, LeftAlone>,
) -> Finding {
    // Facts name what they are about.
    let is_named = churn.subject.is_empty() || !churn.removed.is_empty() || !churn.added.is_empty();
    let mut message = match is_named {
        true => change(churn),
        false => format!("{}: {}", visible(&churn.subject), change(churn)),
    };
    if let Some(witness) = &churn.witness {
        let (before, after) = ends_of(witness, ROOM);
        let input = input_of(witness, &function.name);
        message.push_str(&format!(". For example {input}: before {before}; after {after}"));
    }
    let rule = rule_of_claim(churn.claim);
    let cause = churn.causes.added.first().or(churn.causes.shared.first());
    let cause = cause.filter(|line| churn.to == newest && !line.file.as_bytes().is_empty());
    let (file, line) = match cause {
        Some(line) => (line.file.clone(), line.line),
        None => {
            let line = point.lines.get(&newest).or(point.lines.values().next_back());
            (function.file.clone(), line.copied().unwrap_or(1))
        }
    };
    let text = |l: &super::LineRef| l.text.clone().unwrap_or_default();
    let related = churn.causes.added.iter().chain(&churn.causes.shared).skip(1);
    let facts = churn.removed.iter().chain(&churn.added).map(|f| without_lines(&f.text));
    let facts: Vec<String> = facts.collect();
    Finding {
        rule,
        level: if churn.observable { Level::Warning } else { Level::Note },
        message,
        file,
        line: line.max(1),
        function: function.name.clone(),
        id: churn.id.clone(),
        text_id: hash(&[rule.id, &point.id, &churn.subject, &facts.join("\n")]),
        related: related
            .filter(|l| churn.to == newest && l.line > 0)
            .map(|l| Related { file: l.file.clone(), line: l.line, text: text(l) })
            .collect(),
        suppressed: left_alone.get(&churn.id).and_then(LeftAlone::reason).map(str::to_owned),
    }
}

/// Hunks by the older version of their step and by file.
type Hunks<'a> = BTreeMap<(Version, &'a RepoPath), Vec<&'a HunkReport>>;

fn hunks_by_step(report: &Report) -> Hunks<'_> {
    let mut hunks = Hunks::new();
    for hunk in &report.hunks {
        hunks.entry((hunk.from, &hunk.file)).or_default().push(hunk);
    }
    hunks
}

/// Where a line of version `from` is in version `to`: moved along by the hunks between them, and where one of
/// them takes its place, at that hunk's begin.
fn carried(function: &FunctionReport, line: u32, (from, to): (Version, Version), hunks: &Hunks) -> u32 {
    let mut line = line;
    for version in from..to {
        let file = function.identity.versions.get(&(version + 1)).map_or(&function.file, |p| &p.file);
        let all = hunks.get(&(version, file)).map(Vec::as_slice).unwrap_or_default();
        let within = |h: &&&HunkReport| line >= h.old_start && line - h.old_start < h.old_lines;
        if let Some(hunk) = all.iter().find(within) {
            line = hunk.new_start;
            continue;
        }
        let above = all.iter().filter(|h| h.old_start < line);
        let (gone, come) = above
            .fold((0u32, 0u32), |(o, n), h| (o.saturating_add(h.old_lines), n.saturating_add(h.new_lines)));
        line = line.saturating_sub(gone).saturating_add(come);
    }
    line
}

fn of_object(
    object: &ObjectReport,
    newest: Version,
    hunks: &Hunks,
    left_alone: &BTreeMap<String, LeftAlone>,
) -> Finding {
    let rule = rule(OBJECT).unwrap_or(&RULES[0]);
    // What is gone has a line in the older version only.
    let begin = if object.lines.contains_key(&object.to) { object.to } else { object.from };
    let function = FunctionReport { file: object.file.clone(), ..FunctionReport::default() };
    let line = object.line().map_or(1, |line| carried(&function, line, (begin, newest), hunks));
    let effects = |all: &[Effect]| all.iter().map(|e| e.text.as_str()).collect::<Vec<_>>().join("\n");
    let coming = if object.was.is_some() { String::new() } else { object.coming() };
    Finding {
        rule,
        level: Level::Note,
        message: object.in_one_line(ROOM),
        file: object.file.clone(),
        line: line.max(1),
        function: object.called(),
        id: object.id.clone(),
        text_id: hash(&[
            rule.id,
            &coming,
            &effects(&object.definitions.before),
            &effects(&object.definitions.now),
        ]),
        related: Vec::new(),
        suppressed: left_alone.get(&object.id).and_then(LeftAlone::reason).map(str::to_owned),
    }
}

fn of_change(
    function: &FunctionReport,
    change: &Change,
    newest: Version,
    hunks: &Hunks,
    left_alone: &BTreeMap<String, LeftAlone>,
) -> Finding {
    let rule = rule(CHANGE).unwrap_or(&RULES[0]);
    let line = change.at.lines.get(&change.to).map_or(1, |line| {
        let steps = (change.to, newest);
        carried(function, *line, steps, hunks)
    });
    let said = |d: &super::Delta| {
        let (before, now) = sides(d);
        [&d.when.text, &before, &now].map(|text| without_lines(text)).join("\n")
    };
    let said: Vec<String> = change.deltas.iter().map(said).collect();
    Finding {
        rule,
        level: Level::Note,
        message: in_one_line(change, ROOM),
        file: function.file.clone(),
        line: line.max(1),
        function: function.name.clone(),
        id: change.id.clone(),
        text_id: hash(&[rule.id, change.under.as_deref().unwrap_or_default(), &said.join("\n\n")]),
        related: Vec::new(),
        suppressed: left_alone.get(&change.id).and_then(LeftAlone::reason).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::samples;

    #[test]
    fn lines_are_left_out() {
        for (text, expected) in [
            ("x == 12", "x == 12"),
            ("undefined: division by zero at line 12", "undefined: division by zero at line "),
            ("at line 1, then line 2 of 3", "at line , then line  of 3"),
            ("baseline 7", "baseline "),
        ] {
            assert_eq!(without_lines(text), expected);
        }
    }

    #[test]
    fn equal_ids_are_numbered_and_the_gravest_comes_first() {
        let a = |line: u32, judged: bool| Assertion {
            id: "1".into(),
            text: "x".into(),
            lines: [(2, line)].into(),
            outcome: [(1, AssertionOutcome::NotFail), (2, AssertionOutcome::Unknown)].into(),
            violation: judged.then_some(super::super::Violation::Regression),
            counterexample: judged.then(Default::default),
            ..Assertion::default()
        };
        let version = super::super::VersionInfo { index: 2, ..Default::default() };
        let report = Report {
            assertions: vec![a(3, false), a(9, true)],
            versions: vec![version],
            ..Report::default()
        };
        let found = findings(&report, &BTreeMap::new(), true);
        let seen: Vec<(Level, u32, &str)> = found.iter().map(|f| (f.level, f.line, f.id.as_str())).collect();
        assert_eq!(seen, [(Level::Error, 9, "1"), (Level::Note, 3, "1-2")]);
        let left = BTreeMap::from([("1".to_owned(), LeftAlone::Tolerated)]);
        assert_eq!(findings(&report, &left, true)[0].level, Level::Warning);
    }

    /// A function with a churn that callers do not see, and with changes.
    fn changed(changes: Vec<Change>) -> Report {
        let version = |index| super::super::VersionInfo { index, ..Default::default() };
        let point = Point { churns: vec![Churn { id: "z".into(), ..Churn::default() }], ..Point::default() };
        let function = FunctionReport {
            file: "a.c".into(),
            name: "f".into(),
            changes,
            points: vec![Point { lines: [(2, 99)].into(), ..point }],
            ..FunctionReport::default()
        };
        Report { functions: vec![function], versions: vec![version(1), version(2)], ..Report::default() }
    }

    #[test]
    fn changes_are_notes_behind_the_churns() {
        let first = samples::change(&["p == NULL | undefined at line 13: p is NULL | returns -1"]);
        let second = Change { id: "d2".into(), ..samples::change(&["\u{1b}[31m | a | b", "|x|y", "||z"]) };
        let open = Change { verdict: super::super::ChangeVerdict::Open, ..first.clone() };
        let report = changed(vec![second, first, open]);
        let found = findings(&report, &BTreeMap::new(), true);
        let seen: Vec<String> =
            found.iter().map(|f| format!("{} {} {} {}", f.rule.id, f.id, f.line, f.message)).collect();
        assert_eq!(
            seen,
            [
                "churn/no-longer-provable z 99 behaviour differs",
                "change/local d1 13 when p == NULL: undefined at line 13: p is NULL -> returns -1",
                "change/local d2 13 when \\x1b[31m: a -> b; and 2 more",
            ]
        );
        assert!(found.iter().all(|f| f.level == Level::Note && f.related.is_empty()));
        assert!(findings(&report, &BTreeMap::new(), false).is_empty());
        let left = BTreeMap::from([("d1".to_owned(), LeftAlone::Suppressed("known".into()))]);
        assert_eq!(findings(&report, &left, true)[1].suppressed.as_deref(), Some("known"));
    }

    #[test]
    fn fingerprints_of_changes_hold_no_lines() {
        let text_id = |text: &str| {
            let found = findings(&changed(vec![samples::change(&[text])]), &BTreeMap::new(), true);
            found[1].text_id.clone()
        };
        assert_eq!(text_id("x | undefined at line 13 | a"), text_id("x | undefined at line 7 | a"));
        assert_ne!(text_id("x | a | b"), text_id("x | b | a"));
    }

    #[test]
    fn a_change_of_an_older_step_moves_with_its_line() {
        let hunk = |old: (u32, u32), new: (u32, u32)| HunkReport {
            from: 2,
            to: 3,
            file: "a.c".into(),
            old_start: old.0,
            old_lines: old.1,
            new_start: new.0,
            new_lines: new.1,
            ..HunkReport::default()
        };
        for (hunks, expected) in [
            (vec![], 13),
            (vec![hunk((12, 0), (13, 2))], 15),
            (vec![hunk((13, 0), (14, 2))], 13),
            (vec![hunk((3, 2), (2, 0)), hunk((9, 1), (7, 3))], 13),
            (vec![hunk((12, 2), (12, 5))], 12),
            (vec![hunk((13, 1), (0, 0))], 1),
        ] {
            let mut report = changed(vec![samples::change(&["x | a | b"])]);
            report.versions.push(super::super::VersionInfo { index: 3, ..Default::default() });
            report.hunks = hunks;
            assert_eq!(findings(&report, &BTreeMap::new(), true)[1].line, expected, "{:?}", report.hunks);
        }
    }
}
