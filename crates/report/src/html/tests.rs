//! The page of hand-made reports.

use super::drawing::FIT;
use super::*;
use crate::mvicfg::picture::{Block, BlockKind, Edge, Row};
use crate::{
    Causes, Change, ChangePlace, ChangeVerdict, Churn, Delta, Effect, Fact, FunctionStatus, HunkRef,
    HunkReport, LineRef, Otherwise, Point, Run, Status, Undecided, When, Witness,
};
use proptest::prelude::*;

/// Versions of one file.
struct Files(Vec<&'static str>);

impl Sources for Files {
    fn lines(&self, version: Version, _: &RepoPath) -> Arc<Vec<String>> {
        let text = self.0.get(version as usize - 1).copied().unwrap_or_default();
        Arc::new(text.lines().map(str::to_owned).collect())
    }
}

const OLD: &str = "int f(int a)\n{\n    int r = a;\n    return r;\n}\n";
const NEW: &str = "int f(int a)\n{\n    int r = a + 1;\n    return r;\n}\n";

fn fact(text: &str, versions: &[Version]) -> Fact {
    Fact {
        text: text.into(),
        versions: versions.to_vec(),
        status: versions.iter().map(|v| (*v, Status::Proved)).collect(),
        assumptions: vec!["terminates".into()],
        ..Fact::default()
    }
}

/// A change of the function with two conditions that differ in nothing but their text, one that is always, and two
/// more; `text` stands wherever a repository could put it.
fn change(text: &str) -> Change {
    let effect = |text: &str| Effect { kind: "return".into(), text: text.into(), ..Effect::default() };
    let delta = |when: &str, before: &[&str], now: &[&str]| Delta {
        when: When { text: when.into(), ..When::default() },
        before: before.iter().map(|t| effect(t)).collect(),
        now: now.iter().map(|t| effect(t)).collect(),
        evidence: "satisfiable".into(),
        no_caller: false,
    };
    Change {
        id: text.into(),
        from: 1,
        to: 2,
        hunks: vec![HunkRef { file: "a.c".into(), old_start: 3, old_lines: 1, new_start: 3, new_lines: 1 }],
        under: Some(text.into()),
        at: ChangePlace {
            lines: [(1, 3), (2, 3)].into(),
            context: Some(text.into()),
            ..ChangePlace::default()
        },
        verdict: ChangeVerdict::Differs,
        reason: Some(text.into()),
        deltas: vec![
            delta("a == 0", &["returns 0"], &["calls g(a)", text]),
            delta(text, &[text], &[]),
            delta("", &[], &[text]),
            delta("a == 4", &[text], &[text]),
            delta(text, &[text], &[text]),
        ],
        otherwise: Otherwise::Same,
        assumptions: vec![text.into(), "calls-apart".into()],
        age: None,
    }
}

/// One function with one change, one fact that stayed, and one open question; `text` stands wherever a
/// repository could put it.
fn report(text: &str) -> Report {
    let line = |text: &str| LineRef { file: "a.c".into(), line: 3, text: Some(text.into()) };
    let hunk = HunkReport {
        from: 1,
        to: 2,
        file: "a.c".into(),
        old_start: 3,
        old_lines: 1,
        new_start: 3,
        new_lines: 1,
        verdict: HunkVerdict::Explained,
        why: None,
        ..HunkReport::default()
    };
    let other = HunkReport {
        old_start: 1,
        new_start: 1,
        verdict: HunkVerdict::NotAnalysed,
        why: Some(text.into()),
        ..hunk.clone()
    };
    let run = |value: &str| Run { returned: Some(value.into()), stdout: Some(text.into()), ..Run::default() };
    let churn = Churn {
        from: 1,
        to: 2,
        subject: "\\result".into(),
        removed: vec![fact("\\result == a", &[1])],
        added: vec![fact(text, &[2])],
        observable: true,
        causes: Causes { removed: vec![line(text)], added: vec![line(text)], shared: vec![] },
        hunks: vec![HunkRef { file: "a.c".into(), old_start: 3, old_lines: 1, new_start: 3, new_lines: 1 }],
        witness: Some(Witness {
            entry: text.into(),
            stdin: Some(text.into()),
            old: run("0"),
            new: run(text),
            ..Witness::default()
        }),
        rank: 0.5,
        ..Churn::default()
    };
    let point = Point {
        id: "exit".into(),
        lines: [(1, 4), (2, 4)].into(),
        version_invariants: vec![fact("kept == 1", &[1, 2]), fact(text, &[1, 2])],
        undecided: vec![Undecided { text: text.into(), reason: text.into(), ..Undecided::default() }],
        churns: vec![churn],
        ..Point::default()
    };
    let changes = vec![
        change(text),
        Change { otherwise: Otherwise::Open, ..change(text) },
        Change { verdict: ChangeVerdict::Open, ..change("never told") },
    ];
    let function = |name: &str, points| FunctionReport {
        changes: if name == "f" { changes.clone() } else { vec![] },
        file: RepoPath::from(if name == "f" { "a.c" } else { text }),
        name: name.into(),
        versions: vec![1, 2],
        outcome: FunctionStatus::Analysed,
        points,
        ..FunctionReport::default()
    };
    let version = |index: Version| VersionInfo {
        index,
        commit: Some(format!("{index}").repeat(40)),
        name: text.into(),
        summary: text.into(),
        time: None,
    };
    let mut report = Report {
        versions: vec![version(1), version(2)],
        hunks: vec![other, hunk],
        functions: vec![function("f", vec![point]), function(text, vec![])],
        notices: vec![text.to_owned()],
        ..Report::default()
    };
    report.summary = Summary::of(&report);
    report
}

fn picture(text: &str) -> Picture {
    let block = |kind, versions: &[u32]| Block {
        kind,
        rows: vec![Row { line: 3, text: text.into() }],
        versions: versions.to_vec(),
    };
    let edge = |from, to, versions: &[u32]| Edge { from, to, branch: None, versions: versions.to_vec() };
    Picture {
        blocks: vec![
            block(BlockKind::Entry, &[1, 2]),
            block(BlockKind::Exit, &[1, 2]),
            block(BlockKind::Code, &[1]),
            block(BlockKind::Code, &[2]),
        ],
        edges: vec![edge(0, 2, &[1]), edge(0, 3, &[2]), edge(2, 1, &[1]), edge(3, 1, &[2])],
    }
}

fn page_of(report: &Report, text: &str, room: usize) -> String {
    let extent = Extent { file: "a.c".into(), first: 1, last: 5 };
    let illustration = Illustration {
        file: "a.c".into(),
        function: "f".into(),
        extents: [(1, extent.clone()), (2, extent)].into(),
        picture: Some(picture(text)),
    };
    let signature = Signature { author: text.into(), date: text.into() };
    let surroundings = Surroundings {
        properties: false,
        sources: &Files(vec![OLD, NEW]),
        illustrations: &[illustration],
        short_ids: BTreeMap::new(),
        signatures: [("2".repeat(40), signature)].into(),
        filtered: false,
        left_alone: BTreeMap::new(),
    };
    let mut out = Vec::new();
    write_page(report, &surroundings, room, &mut out).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

fn page(text: &str) -> String {
    page_of(&report(text), text, MAX_BYTES)
}

/// The tags of a page, in order: a reader of HTML that knows enough to see what would be an element.
fn tags(page: &str) -> Vec<String> {
    let from_tag = page.split('<').skip(1);
    from_tag
        .map(|rest| rest.chars().take_while(|c| c.is_alphanumeric() || "/!".contains(*c)).collect())
        .collect()
}

#[test]
fn the_page_tells_everything() {
    let page = page("some text");
    for part in [
        "<title>1111111..2222222 · git invdiff</title>",
        "<code class=\"id\">2222222</code> <span class=\"subject\">some text</span>",
        "<tr class=\"old\" id=\"s0f0o0-3\">",
        "    int r = a<mark> + 1</mark>;",
        "data-lines=\"s0f0o0-3 s0f0n0-3\"",
        "<a class=\"old\" href=\"#s0f0o0-3\">−3</a>",
        "at line 3, some text<span class=\"tag\">under some text</span>",
        "<dl class=\"delta\"><dt>when</dt><dd><code>a == 0</code></dd>\
         <dt>before</dt><dd class=\"old\"><ul><li><code>returns 0</code></li></ul></dd>\
         <dt>now</dt><dd class=\"new\"><ul><li><code>calls g(a)</code></li><li><code>some text</code></li></ul></dd></dl>",
        "<dl class=\"delta\"><dt>now</dt><dd class=\"new\">",
        "<summary>2 more</summary><dl class=\"delta\">",
        "<dt>else</dt><dd>as before, but for what the calls do</dd>",
        "<dt>else</dt><dd>not known: some text</dd>",
        "<dt>because of</dt><dd class=\"causes\"><a class=\"old\" href=\"#s0f0o0-3\">−3</a> <a class=\"new\" href=\"#s0f0n0-3\">+3</a> </dd></dl><span class=\"assuming\">assuming some text, calls-apart</span></div>",
        "<b>2</b> <span>places where the code does something else</span>",
        "<li class=\"old\"><code>\\result == a</code><span class=\"status\">proved</span><span class=\"assuming\">assuming terminates</span></li>",
        "stdin &quot;some text&quot;",
        "<td class=\"fact\"><code>kept == 1</code>",
        "both versions",
        "class=\"block only-old\"",
        "class=\"way only-new\"",
        "<span class=\"tag open\">not analysed</span>",
        "<section id=\"open\"",
    ] {
        assert!(page.contains(part), "{part}:\n{page}");
    }
}

/// Facts of some versions have a bar of these; their texts are no markup, and of two versions there is no bar.
#[test]
fn facts_of_some_versions_have_bars() {
    let mut report = report("x");
    assert!(!page_of(&report, "x", MAX_BYTES).contains("<span class=\"bar-of\""));
    let third = VersionInfo { index: 3, commit: Some("3".repeat(40)), ..report.versions[1].clone() };
    report.versions.push(third);
    let not_held = [(2, crate::NotHeld::Refuted), (3, crate::NotHeld::Open)];
    let of_some = |text: &str| Fact { not_held: not_held.into(), ..fact(text, &[1]) };
    let hostile = "</script><b onclick='x'>";
    report.functions[0].points[0].subset_invariants = vec![of_some(hostile), of_some("n >= 0")];
    let page = page_of(&report, "x", MAX_BYTES);
    let row = page.split("<tr ").find(|r| r.contains("n &gt;= 0")).expect("a row");
    for part in [
        "held by version 1, lost in 2 (2222222)",
        "<i class=\"held\" title=\"version 1 (1111111): held\">",
        "<i class=\"broken\" title=\"version 2 (2222222): broken\">",
        "<i class=\"unknown\" title=\"version 3 (3333333): not known\">",
    ] {
        assert!(row.contains(part), "{part}: {row}");
    }
    assert!(page.contains("<summary>2 facts of some versions</summary>") && !page.contains("<b onclick"));
}

/// Every link leads somewhere, and no id is given twice.
#[test]
fn links_lead_somewhere() {
    let page = page("text");
    let values = |name: &str| -> Vec<String> {
        page.split(&format!(" {name}=\""))
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
            .map(str::to_owned)
            .collect()
    };
    let ids = values("id");
    let mut unique = ids.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(ids.len(), unique.len());
    let links = values("href");
    assert!(links.len() > 8, "{links:?}");
    for link in links {
        let target = link.strip_prefix('#').expect("a link inside the page").to_owned();
        assert!(ids.contains(&target), "{target}");
    }
}

#[test]
fn only_what_is_given_the_nonce_runs() {
    let (one, other) = (page("a"), page("b"));
    let nonce = |page: &str| {
        page.split("script-src 'nonce-").nth(1).and_then(|r| r.split('\'').next()).map(str::to_owned)
    };
    assert_ne!(nonce(&one), nonce(&other));
    let nonce = nonce(&one).expect("a nonce");
    assert_eq!(one.matches(&format!("nonce=\"{nonce}\"")).count(), 2);
    assert!(one.contains("default-src 'none'"));
    assert!(!one.contains("style=\"") && !one.contains("http://") && !one.contains("https://"));
    assert!(!SCRIPT.contains("</") && !STYLE.contains("</") && !STYLE.contains("url("));
}

#[test]
fn the_same_report_is_the_same_page() {
    assert_eq!(page("x"), page("x"));
    let mut other = report("x");
    other.cost.wall_ms = 7;
    other.cost.peak_rss_kib = 9;
    assert_eq!(page_of(&other, "x", MAX_BYTES), page("x"));
}

#[test]
fn no_change_is_said() {
    let empty = page_of(&Report::default(), "", MAX_BYTES);
    assert!(empty.contains("Nothing to show") && empty.contains("No change;"), "{empty}");
}

#[test]
fn what_has_no_room_is_counted() {
    let piece = |bytes: usize| {
        let mut html = Html::default();
        html.text(&"x".repeat(bytes));
        html
    };
    let section = |pieces| Section { id: "s", title: "", count: 0, intro: "", pieces };
    let left = |room| {
        let mut sections = [section(vec![piece(10), piece(20), piece(5)]), section(vec![piece(5)])];
        let left_out = fit(&mut sections, room);
        (sections.map(|s| s.pieces.len()), left_out)
    };
    assert_eq!(left(100), ([3, 1], 0));
    assert_eq!(left(40), ([3, 1], 0));
    assert_eq!(left(16), ([1, 1], 2));
    assert_eq!(left(3), ([0, 0], 4));
    assert!(!page("text").contains("This page is cut"));
    assert!(page_of(&report("text"), "text", 0).contains("This page is cut: "));
}

#[test]
fn hostile_text_is_inert() {
    let plain = tags(&page("x"));
    for text in [
        "</script><script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "' onmouseover='alert(1)",
        "<!-- --><![CDATA[",
        "</code></svg></table><form action=x>",
        "&lt;b&gt; &#60;",
        "\u{202e}\u{0}\u{1b}[31m",
        "javascript:alert(1)",
    ] {
        let page = page(text);
        assert_eq!(tags(&page), plain, "{text}");
        assert!(!page.contains(['\u{202e}', '\u{0}', '\u{1b}']));
        assert!(!page.contains("href=\"javascript"));
    }
}

#[test]
fn a_change_stands_before_the_facts_and_without_any() {
    let mut report = report("text");
    let page = page_of(&report, "text", MAX_BYTES);
    assert!(!page.contains("never told"));
    let (change, fact) = (page.find("class=\"card local"), page.find("<ul class=\"facts\">"));
    assert!(change.is_some() && change < fact);
    report.functions[0].points.clear();
    let page = page_of(&report, "text", MAX_BYTES);
    assert_eq!(page.matches("class=\"card local").count(), 2);
    assert!(page.contains("<tr class=\"old\" id=\"s0f0o0-3\">") && !page.contains("<ul class=\"facts\">"));
}

#[test]
fn else_is_left_out_only_where_there_is_none() {
    let other = |change: Change| {
        let mut report = report("text");
        report.functions[0].changes = vec![change];
        let page = page_of(&report, "text", MAX_BYTES);
        let rest = page.split("<dt>else</dt>").nth(1)?;
        rest.split("</dd>").next().map(str::to_owned)
    };
    let always =
        Change { deltas: vec![change("text").deltas.remove(2)], assumptions: vec![], ..change("text") };
    let proved = "<dd>as before<span class=\"status\">proved</span>".to_owned();
    assert_eq!(other(Change { assumptions: vec![], ..change("text") }), Some(proved));
    assert_eq!(other(always.clone()), None);
    let open = Change { otherwise: Otherwise::Open, reason: None, ..always };
    assert_eq!(other(open), Some("<dd>not known".to_owned()));
}

#[test]
fn hunks_elsewhere_are_shown() {
    let mut report = report("text");
    let hunk = HunkReport { file: "a.h".into(), ..report.hunks[1].clone() };
    assert!(!page_of(&report, "text", MAX_BYTES).contains("Changed elsewhere"));
    report.hunks.push(hunk);
    assert!(page_of(&report, "text", MAX_BYTES).contains("Changed elsewhere"));
}

#[test]
fn nothing_but_controls_needs_the_script() {
    let page = page("text");
    let hidden = page.split('<').filter(|tag| tag.split('>').next().is_some_and(|t| t.ends_with(" hidden")));
    let tags: Vec<&str> = hidden.filter_map(|tag| tag.split(' ').next()).collect();
    assert_eq!(tags, ["button", "form"]);
}

#[test]
fn many_functions_are_told_in_several_parts() {
    let mut many = report("text");
    let one = many.functions[0].clone();
    many.functions = (0..300).map(|k| FunctionReport { name: format!("f{k}"), ..one.clone() }).collect();
    let page = page_of(&many, "text", MAX_BYTES);
    assert_eq!(page.matches("<article id=\"s0f").count(), 300);
    assert_eq!(page.matches(", continued").count(), 14);
    let cut = page_of(&many, "text", 200_000);
    assert!(cut.contains("This page is cut: ") && cut.len() < 300_000, "{}", cut.len());
    assert!(cut.matches("<article id=\"s0f").count() >= 20);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever stands in a repository, the elements of the page are the same; only a wide drawing is offered
    /// as a whole. Four characters and more: a text that is a name of the fixture (`f`) would make one function
    /// of two.
    #[test]
    fn no_text_changes_the_elements(text in "[ -~\u{80}-\u{2fff}<>&\"'/!\n\t]{4,60}") {
        let page = |text: &str| page(text).replace(FIT, "");
        prop_assert_eq!(tags(&page(&text)), tags(&page("x")));
    }
}
