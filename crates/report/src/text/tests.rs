//! Hand-made reports and the text expected of them.

use super::*;
use crate::{
    Argument, Causes, Churn, Claim, Cost, FunctionReport, LineRef, NotHeld, Run, Undecided, UnknownEntry,
    Witness,
};
use std::collections::BTreeMap;

fn version(index: Version, commit: &str, name: &str, summary: &str) -> VersionInfo {
    let commit = (!commit.is_empty()).then(|| format!("{commit:0<40}"));
    VersionInfo { index, commit, name: name.into(), summary: summary.into(), time: None }
}

fn fact(text: &str, versions: &[Version], status: Status) -> Fact {
    Fact {
        text: text.into(),
        versions: versions.to_vec(),
        status: versions.iter().map(|v| (*v, status)).collect(),
        bound: (status == Status::Bounded).then_some(8),
        ..Fact::default()
    }
}

fn line(number: u32, text: &str) -> LineRef {
    LineRef { file: "src/area.c".into(), line: number, text: (!text.is_empty()).then(|| text.into()) }
}

fn hunk(to: Version, line: u32, verdict: HunkVerdict, why: Option<&str>) -> HunkReport {
    HunkReport {
        from: to - 1,
        to,
        file: "src/area.c".into(),
        old_start: line,
        old_lines: 1,
        new_start: line,
        new_lines: 1,
        verdict,
        why: why.map(Into::into),
        ..HunkReport::default()
    }
}

fn fabs_churn() -> Churn {
    let run = |value: &str| Run { returned: Some(value.into()), ..Run::default() };
    let argument =
        |name: &str, value: &str| Argument { name: name.into(), ty: "float".into(), value: value.into() };
    Churn {
        from: 1,
        to: 2,
        removed: vec![fact("\\result == 0.5f * a * b", &[1], Status::Proved)],
        added: vec![fact("\\result == fabsf(0.5f * a * b)", &[2], Status::Proved)],
        observable: true,
        claim: Claim::Changed,
        causes: Causes {
            removed: vec![line(12, "\tfloat r = 0.5f * a * b;")],
            added: vec![line(12, "\tfloat r = fabsf(0.5f * a * b);")],
            shared: vec![line(9, ""), line(10, "")],
        },
        hunks: vec![hunk(2, 12, HunkVerdict::Explained, None).place()],
        witness: Some(Witness {
            entry: "area".into(),
            arguments: vec![argument("a", "-1"), argument("b", "1")],
            old: run("-0.5"),
            new: run("0.5"),
            ..Witness::default()
        }),
        rank: 0.9,
        ..Churn::default()
    }
}

/// The example of the interface's description.
fn area_report() -> Report {
    let function = |file: &str, name: &str, points: Vec<Point>| FunctionReport {
        file: file.into(),
        name: name.into(),
        outcome: FunctionStatus::Analysed,
        complete: true,
        points,
        ..FunctionReport::default()
    };
    let exit = Point {
        kind: PointKind::Exit,
        lines: BTreeMap::from([(1, 15), (2, 15), (3, 15)]),
        version_invariants: vec![fact("fabsf(\\result) == 0.5f * fabsf(a * b)", &[1, 2, 3], Status::Proved)],
        churns: vec![fabs_churn()],
        ..Point::default()
    };
    let inside = Point {
        kind: PointKind::Line,
        lines: BTreeMap::from([(3, 22)]),
        version_invariants: vec![fact("1 <= n && n <= argc", &[1, 2, 3], Status::Bounded)],
        ..Point::default()
    };
    Report {
        versions: vec![
            version(1, "9f3c2e1", "HEAD~2", "read the sides"),
            version(2, "41ab77d", "HEAD~1", "use fabs"),
            version(3, "c0ffee0", "HEAD", "refuse empty input"),
        ],
        hunks: vec![hunk(2, 12, HunkVerdict::Explained, None), hunk(3, 2, HunkVerdict::Neutral, None)],
        functions: vec![
            function("src/area.c", "area", vec![exit]),
            function("src/main.c", "main", vec![inside]),
        ],
        ..Report::default()
    }
}

#[track_caller]
fn check(report: &Report, options: &TextOptions, expected: &str) {
    let mut out = Vec::new();
    render(report, options, &mut out).unwrap();
    let got = String::from_utf8(out).unwrap();
    assert!(got == expected, "got:\n{got}\nexpected:\n{expected}");
}

fn wide() -> TextOptions {
    TextOptions { width: 110, ..TextOptions::default() }
}

#[test]
fn the_whole_shape() {
    check(
        &area_report(),
        &wide(),
        r#"versions  1 9f3c2e1 read the sides   2 41ab77d use fabs   3 c0ffee0 (HEAD) refuse empty input

commit 41ab77d use fabs
  src/area.c  area()                   @@ -12 +12 @@
    at exit, line 15
    - \result == 0.5f * a * b          proved
    + \result == fabsf(0.5f * a * b)   proved
      because of  -12  float r = 0.5f * a * b;
                  +12  float r = fabsf(0.5f * a * b);
      kept by     9 10
      for example a = -1, b = 1    -0.5 -> 0.5  replayed

held by all 3 versions
  src/area.c  area()  at exit, line 15  fabsf(\result) == 0.5f * fabsf(a * b)   proved
  src/main.c  main()  at line 22        1 <= n && n <= argc                     bounded(8)

1 churn in 1 of 2 changed functions, seen by callers; 2 version invariants; nothing undecided; 2 of 2 hunks explained or neutral
"#,
    );
}

/// A report of four versions, with facts of some of them at one exit.
fn report_of_some(facts: Vec<Fact>) -> Report {
    let commits = ["9f3c2e1", "41ab77d", "c0ffee0", "d00d1e5"];
    let point = Point {
        lines: BTreeMap::from([(4, 15)]),
        version_invariants: vec![fact("\\result <= 9", &[1, 2, 3, 4], Status::Proved)],
        subset_invariants: facts,
        ..Point::default()
    };
    let function = FunctionReport {
        file: "a.c".into(),
        name: "f".into(),
        outcome: FunctionStatus::Analysed,
        complete: true,
        points: vec![point],
        ..FunctionReport::default()
    };
    Report {
        versions: (1..).zip(commits).map(|(k, id)| version(k, id, "", &format!("number {k}"))).collect(),
        functions: vec![function],
        ..Report::default()
    }
}

fn of_some(text: &str, held: &[Version], others: &[(Version, NotHeld)]) -> Fact {
    Fact { not_held: others.iter().copied().collect(), ..fact(text, held, Status::Proved) }
}

#[test]
fn facts_of_some_versions_stand_behind_those_of_all() {
    use NotHeld::{NotReached, Open, Refuted};
    let report = report_of_some(vec![
        of_some("\\result >= 0", &[1, 4], &[(2, Refuted), (3, Refuted)]),
        of_some("\\result >= 1", &[2, 3, 4], &[(1, Refuted)]),
        of_some("\\result >= 2", &[1, 2, 3], &[(4, Open)]),
        of_some("\\result >= 3", &[1, 2], &[(3, Refuted), (4, Refuted)]),
        of_some("\\result >= 4", &[2, 3], &[(1, Refuted), (4, NotReached)]),
    ]);
    let versions =
        "versions  1 9f3c2e1 number 1   2 41ab77d number 2   3 c0ffee0 number 3   4 d00d1e5 number 4";
    let last = "no semantic change; 1 version invariant; 5 facts of some versions; nothing undecided";
    let row = |text: &str| format!("  a.c  f()  at exit, line 15  \\result {text}   proved");
    let list = |heading: &str, text: &str| format!("\n{heading}\n{}", row(text));
    let all = list("held by all 4 versions", "<= 9");
    let since = list("held since version 2 (41ab77d)", ">= 1");
    let until = list("held by versions 1 2, lost in 3 (c0ffee0)", ">= 3");
    let mended = list("broken in version 2 (41ab77d), mended in 4 (d00d1e5)", ">= 0");
    let told =
        [versions, &all, &since, &until, &mended, "  … and 2 more with --all", "", last, ""].join("\n");
    check(&report, &wide(), &told);
    let open = list("held by versions 1-3, not known in 4 (d00d1e5)", ">= 2");
    let between = list("held by versions 2 3, not reached in 4 (d00d1e5)", ">= 4");
    let every = [versions, &all, &open, &since, &until, &mended, &between, "", last, ""].join("\n");
    check(&report, &TextOptions { held_limit: usize::MAX, ..wide() }, &every);
}

/// The widest four sets are told; what repositories say is escaped.
#[test]
fn many_sets_of_versions_are_folded() {
    let held: [&[Version]; 6] = [&[1, 2, 3], &[2, 3, 4], &[1, 2], &[3, 4], &[1, 4], &[1, 2, 4]];
    let others = |held: &[Version]| -> Vec<(Version, NotHeld)> {
        (1..=4).filter(|v| !held.contains(v)).map(|v| (v, NotHeld::Refuted)).collect()
    };
    let facts = held.iter().map(|h| of_some("\u{1b}[31m", h, &others(h))).collect();
    let mut out = Vec::new();
    render(&report_of_some(facts), &wide(), &mut out).expect("written");
    let got = String::from_utf8(out).expect("UTF-8");
    let headings = got.lines().filter(|l| l.starts_with("held") || l.starts_with("broken"));
    let headings: Vec<&str> = headings.skip(1).map(|l| l.split(" (").next().unwrap_or_default()).collect();
    let expected = [
        "held by versions 1-3, lost in 4",
        "broken in version 3",
        "held since version 2",
        "held by versions 1 2, lost in 3",
    ];
    assert_eq!(headings, expected, "{got}");
    assert!(got.contains("  … and 2 more with --all\n") && !got.contains('\u{1b}'), "{got}");
}

#[test]
fn nothing_changed_is_one_line_and_needs_everything_seen() {
    let mut report = Report {
        versions: vec![version(1, "a", "HEAD~1", ""), version(2, "b", "HEAD", "")],
        hunks: vec![hunk(2, 3, HunkVerdict::Neutral, None)],
        ..Report::default()
    };
    check(&report, &wide(), "no semantic change; nothing undecided; 1 of 1 hunk explained or neutral\n");
    report.complete = false;
    check(
        &report,
        &wide(),
        "no churn found in what was analysed; nothing undecided; 1 of 1 hunk explained or neutral\n",
    );
    report.complete = true;
    check(
        &report,
        &TextOptions { filtered: true, ..wide() },
        "no churn that the filters let through; nothing undecided; 1 of 1 hunk explained or neutral\n",
    );
    report.hunks.push(hunk(2, 40, HunkVerdict::NotAnalysed, Some("inactive-branch")));
    check(
        &report,
        &wide(),
        "versions  1 a000000   2 b000000 (HEAD)

not analysed
  src/area.c  @@ -40 +40 @@  inactive preprocessor branch

no churn found in what was analysed; nothing undecided; 1 of 2 hunks explained or neutral; not looked at: 1 hunk (inactive preprocessor branch)
",
    );
}

#[test]
fn source_that_is_not_understood_is_for_the_doctor() {
    let mut report = Report {
        versions: vec![version(1, "a", "HEAD~1", ""), version(2, "b", "HEAD", "")],
        ..Report::default()
    };
    report.hunks.push(hunk(2, 40, HunkVerdict::NotAnalysed, Some("lost")));
    let text = |last: &str| {
        format!(
            "versions  1 a000000   2 b000000 (HEAD)\n\nnot analysed\n  src/area.c  @@ -40 +40 @@  function that the \
             parser lost\n  'git invdiff doctor {last}' says which headers and macros are missing, and what helps\n\nno \
             churn found in what was analysed; nothing undecided; 0 of 1 hunk explained or neutral; not looked at: 1 hunk \
             (function that the parser lost)\n"
        )
    };
    check(&report, &wide(), &text("b000000"));
}

#[test]
fn files_that_are_too_many_are_counted() {
    let mut report = Report {
        versions: vec![version(1, "a", "HEAD~1", ""), version(2, "b", "HEAD", "")],
        ..Report::default()
    };
    for (file, line) in [("a.c", 1), ("b.c", 2), ("b.c", 9)] {
        let hunk = hunk(2, line, HunkVerdict::NotAnalysed, Some("limit:effort"));
        report.hunks.push(HunkReport { file: file.into(), ..hunk });
    }
    check(
        &report,
        &wide(),
        "versions  1 a000000   2 b000000 (HEAD)

not analysed
  3 hunks of 2 files  more files than are read; --effort deep reads them; -v lists them

no churn found in what was analysed; nothing undecided; 0 of 3 hunks explained or neutral; not looked at: 3 hunks (more files than are read; --effort deep reads them)
",
    );
}

#[test]
fn files_that_are_not_c_are_named_in_one_line() {
    let mut report = Report {
        versions: vec![version(1, "a", "HEAD~1", ""), version(2, "b", "HEAD", "")],
        ..Report::default()
    };
    for (file, line) in [("README", 1), ("Makefile", 2), ("Makefile", 9)] {
        let hunk = hunk(2, line, HunkVerdict::NotAnalysed, Some("not-c"));
        report.hunks.push(HunkReport { file: file.into(), ..hunk });
    }
    check(
        &report,
        &wide(),
        "versions  1 a000000   2 b000000 (HEAD)

not analysed
  not C: Makefile README

no churn found in what was analysed; nothing undecided
",
    );
}

#[test]
fn verbose_adds_assumptions_unknowns_and_cost() {
    let mut churn = fabs_churn();
    churn.claim = Claim::NoLongerProvable;
    churn.added.clear();
    churn.witness = None;
    churn.age = Some(14);
    churn.causes = Causes::default();
    churn.removed[0].assumptions = vec!["stdin-well-formed".into(), "-fwrapv".into()];
    let undecided = Undecided {
        text: "a < b".into(),
        reason: "rlimit met".into(),
        raise: Some("--rlimit 9".into()),
        ..Undecided::default()
    };
    let point = Point { churns: vec![churn], undecided: vec![undecided], ..Point::default() };
    let function = FunctionReport {
        file: "src/area.c".into(),
        name: "area".into(),
        outcome: FunctionStatus::PartlyAnalysed,
        unknowns: vec![UnknownEntry { version: 2, line: 12, reason: "inline assembly".into() }],
        points: vec![point],
        ..FunctionReport::default()
    };
    let report = Report {
        versions: vec![version(1, "a", "", ""), version(2, "", "WORKTREE", "")],
        functions: vec![function],
        cost: Cost { wall_ms: 12, solver_queries: 3, peak_rss_kib: 4096, ..Cost::default() },
        complete: false,
        ..Report::default()
    };
    check(
        &report,
        &TextOptions { verbose: true, ..wide() },
        r#"versions  1 a000000   2 working tree

working tree
  src/area.c  area()             @@ -12 +12 @@
    at exit
    - \result == 0.5f * a * b    proved, held 14 versions
      assuming stdin-well-formed, -fwrapv
      no longer provable; not refuted either

undecided
  src/area.c  area()  a < b  rlimit met; --rlimit 9 may settle it

not understood
  src/area.c:12  area()  inline assembly  version 2

1 churn in 1 of 1 changed function, seen by callers; 1 function not fully analysed; 1 open question in 1 function
12 ms, 3 solver queries (0 more from the cache), 0 of 0 nodes visited, 4 MiB
"#,
    );
}

#[test]
fn nothing_from_the_repository_reaches_the_terminal_raw() {
    let mut report = area_report();
    for text in ["\x1b[2J", "\u{202e}", "\r", "\u{7}"] {
        report.versions[1].summary = text.into();
        report.functions[0].name = text.into();
        report.functions[0].file = text.into();
        let churn = &mut report.functions[0].points[0].churns[0];
        churn.removed[0].text = text.into();
        churn.causes.removed[0] = LineRef { file: text.into(), line: 1, text: Some(format!("x{text}y")) };
        churn.witness.as_mut().unwrap().stdin = Some(text.into());
        churn.witness.as_mut().unwrap().arguments[0].name = text.into();
        report.hunks[0].why = Some(text.into());
        report.notices = vec![text.into()];
        let mut out = Vec::new();
        render(&report, &TextOptions { verbose: true, ..wide() }, &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        assert!(!out.contains(text), "{out:?}");
    }
}

#[test]
fn colours_change_no_column() {
    let (mut plain, mut coloured) = (Vec::new(), Vec::new());
    render(&area_report(), &wide(), &mut plain).unwrap();
    let options = TextOptions { palette: Palette::coloured(), ..wide() };
    render(&area_report(), &options, &mut coloured).unwrap();
    let coloured = String::from_utf8(coloured).unwrap();
    assert!(coloured.contains("\x1b[31m- \\result == 0.5f * a * b\x1b[0m"));
    assert!(coloured.contains("\x1b[36m@@ -12 +12 @@\x1b[0m"));
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once("\x1b[") {
        stripped.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    stripped.push_str(rest);
    assert_eq!(stripped, String::from_utf8(plain).unwrap());
}

#[test]
fn the_most_important_comes_first() {
    let churn = |text: &str, observable, rank| Churn {
        from: 1,
        to: 2,
        removed: vec![fact(text, &[1], Status::Proved)],
        observable,
        rank,
        ..fabs_churn()
    };
    let point = |churns| Point { churns, ..Point::default() };
    let mut report = area_report();
    report.functions[0].points = vec![
        point(vec![churn("local", false, 0.9)]),
        point(vec![churn("low", true, 0.1), churn("high", true, 0.8)]),
    ];
    report.functions[1].points = vec![point(vec![churn("top", true, 0.95)])];
    let mut out = Vec::new();
    render(&report, &wide(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    let order: Vec<_> = out.lines().filter_map(|l| l.strip_prefix("    - ")).collect();
    let order: Vec<_> = order.iter().filter_map(|l| l.split_whitespace().next()).collect();
    assert_eq!(order, ["top", "high", "low", "local"]);
}

#[test]
fn many_versions_are_listed_one_a_line_without_the_middle() {
    let mut report = area_report();
    report.versions = (1..=30).map(|i| version(i, &format!("{i:03}"), "", "a summary")).collect();
    let mut out = Vec::new();
    render(&report, &TextOptions::default(), &mut out).unwrap();
    let out = String::from_utf8(out).unwrap();
    assert!(out.starts_with("versions   1 0010000 a summary\n           2 0020000"), "{out}");
    assert!(out.contains("… 20 more\n          26 0260000 a summary\n"), "{out}");
}

#[test]
fn numbers_are_joined_to_ranges() {
    assert_eq!(ranges([9, 10, 12, 13, 14, 3, 9]), "3 9 10 12-14");
    assert_eq!(ranges([]), "");
    assert_eq!(ranges([u32::MAX, u32::MAX - 1]), "4294967294 4294967295");
}

/// A function that comes alone is named, and so is one of which nothing but another name is told.
#[test]
fn what_comes_goes_or_gets_another_name_is_named() {
    let function = |name: &str, outcome: FunctionStatus, versions: &[(Version, &str)]| {
        let place = |name: &str| crate::FunctionRef { file: "src/area.c".into(), name: name.into() };
        let mut f = FunctionReport {
            file: "src/area.c".into(),
            name: name.into(),
            versions: versions.iter().map(|(v, _)| *v).collect(),
            outcome,
            complete: true,
            ..FunctionReport::default()
        };
        f.identity.versions = versions.iter().map(|(v, name)| (*v, place(name))).collect();
        f
    };
    let mut report = Report {
        versions: vec![version(1, "a", "HEAD~1", ""), version(2, "b", "HEAD", "tidy")],
        hunks: vec![hunk(2, 3, HunkVerdict::Neutral, None)],
        functions: vec![function("width", FunctionStatus::Analysed, &[(1, "w"), (2, "width")])],
        ..Report::default()
    };
    let head = "versions  1 a000000   2 b000000 (HEAD) tidy\n\ncommit b000000 tidy\n";
    let tail = "nothing undecided; 1 of 1 hunk explained or neutral\n";
    check(
        &report,
        &wide(),
        &format!(
            "{head}  src/area.c  renamed: width() from w()\n\nno semantic change; 1 function renamed; {tail}"
        ),
    );
    report.functions.push(function("height", FunctionStatus::Added, &[(2, "height")]));
    report.functions.push(function("old", FunctionStatus::Removed, &[(1, "old")]));
    check(
        &report,
        &wide(),
        &format!(
            "{head}  src/area.c  gone: old()\n  src/area.c  new: height()\n  src/area.c  renamed: width() from w()\n\nno churn; 1 function added, 1 function removed; {tail}"
        ),
    );
}

/// What comes with its file is named there, unless everything is asked for.
#[test]
fn objects_of_new_files_are_named_in_one_line() {
    let object = |name: &str, hunk: (u32, u32)| crate::ObjectReport {
        name: name.into(),
        outcome: crate::object::ObjectOutcome::Added,
        hunks: vec![HunkRef {
            file: "a.c".into(),
            old_start: hunk.0,
            old_lines: 0,
            new_start: hunk.1,
            new_lines: 40,
        }],
        ..crate::object::samples::object(crate::object::ObjectOutcome::Added, "", "starts as 0")
    };
    let mut report = Report {
        versions: vec![version(1, "a", "HEAD~1", ""), version(2, "b", "HEAD", "tidy")],
        objects: vec![object("first", (0, 1)), object("second", (0, 1))],
        ..Report::default()
    };
    let text = |report: &Report| {
        let mut out = Vec::new();
        render(report, &wide(), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    assert!(text(&report).contains("\n  a.c  new: first second\n"), "{}", text(&report));
    // In a file that was there each has its rows.
    report.objects.push(object("third", (7, 8)));
    let told = text(&report);
    assert!(told.contains("new: first second\n") && told.contains("  a.c  third  new"), "{told}");
}

/// What comes or goes alike is one list, unless everything is asked for.
#[test]
fn objects_that_go_alike_are_one_line() {
    use crate::object::ObjectOutcome::Removed;
    let object = |function: &str, value: &str| crate::ObjectReport {
        name: format!("depth_{function}"),
        function: Some(function.into()),
        under: Some("DEBUG".into()),
        ..crate::object::samples::object(Removed, &format!("starts as {value}"), "")
    };
    let mut report = Report {
        versions: vec![version(1, "a", "HEAD~1", ""), version(2, "b", "HEAD", "tidy")],
        objects: ["f", "g", "h"].iter().map(|name| object(name, "0")).collect(),
        ..Report::default()
    };
    report.objects.push(object("other", "1"));
    let text = |report: &Report, options: &TextOptions| {
        let mut out = Vec::new();
        render(report, options, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    let told = text(&report, &wide());
    let line = "\n  a.c  gone in functions (int, starts as 0, under DEBUG): depth_f depth_g depth_h\n";
    assert!(told.contains(line) && told.contains("  a.c  depth_other of other()  gone"), "{told}");
    assert!(text(&report, &TextOptions { verbose: true, ..wide() }).contains("  a.c  depth_g of g()  gone"));
    // Two are told each.
    report.objects.remove(0);
    assert!(text(&report, &wide()).contains("  a.c  depth_g of g()  gone"));
}
