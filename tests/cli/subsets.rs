//! Facts of some versions, as a person and a script see them.

use crate::support::TempRepo;
use crate::support::schema::errors_closed;
use serde_json::Value;
use std::path::Path;

/// One commit for each body of `int f(int x)`.
fn history(bodies: &[&str]) -> TempRepo {
    bodies.iter().enumerate().fold(TempRepo::new(), |repo, (k, body)| {
        repo.file("a.c", format!("int f(int x)\n{{\n    {body}\n}}\n")).commit(&format!("version {}", k + 1))
    })
}

/// The fourth version mends what the second broke; the fifth breaks what held since the fourth.
fn mended() -> TempRepo {
    history(&[
        "return x < 0 ? 0 : x & 1023;",
        "return x / 2;",
        "return x / 4;",
        "return x < 0 ? 0 : x & 255;",
        "return x < 0 ? 0 : x & 511;",
    ])
}

fn run(repo: &TempRepo, words: &str) -> (Option<i32>, String, String) {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.args(words.split_whitespace()).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[track_caller]
fn printed(repo: &TempRepo, words: &str) -> String {
    let (code, out, err) = run(repo, words);
    assert_eq!(code, Some(0), "{words}: {err}");
    out
}

/// The heading under which a fact stands, with ids as `ID`; nothing if it is not told.
fn heading_of(text: &str, fact: &str) -> Option<String> {
    let mut heading = String::new();
    for line in text.lines() {
        if line.starts_with("held") || line.starts_with("broken") {
            heading = line.to_owned();
        } else if line.starts_with("  ") && line.contains(&format!("  {fact}  ")) && !heading.is_empty() {
            let mut pieces = heading.split('(');
            let first = pieces.next().unwrap_or_default().to_owned();
            let rest =
                pieces.map(|p| p.split_once(')').map_or(String::new(), |(_, rest)| format!("(ID){rest}")));
            return Some(first + &rest.collect::<String>());
        } else if line.is_empty() {
            heading.clear();
        }
    }
    None
}

#[test]
fn what_was_broken_and_mended_is_told_by_default() {
    let text = printed(&mended(), "HEAD~4..");
    let told = heading_of(&text, "\\result >= 0");
    assert_eq!(told.as_deref(), Some("broken in version 2 (ID), mended in 4 (ID)"), "{text}");
    // A fact that a churn makes or breaks is not told a second time.
    assert_eq!(heading_of(&text, "\\result == x / 2"), None, "{text}");
}

#[test]
fn what_holds_until_or_since_a_version_is_told() {
    let repo = history(&["return x & 15;", "return (x & 15) + 1;", "return x;"]);
    let text = printed(&repo, "HEAD~2..");
    let told = heading_of(&text, "\\result >= 0");
    assert_eq!(told.as_deref(), Some("held by versions 1 2, lost in 3 (ID)"), "{text}");
    let repo = history(&["return x;", "return x & 15;", "return (x & 15) + 1;"]);
    let text = printed(&repo, "HEAD~2..");
    assert_eq!(heading_of(&text, "\\result >= 0").as_deref(), Some("held since version 2 (ID)"), "{text}");
}

/// Two versions leave nothing to say that a churn does not say.
#[test]
fn of_two_versions_nothing_more_is_said() {
    let repo = mended();
    for words in ["HEAD~4 HEAD~3", "--all HEAD~4 HEAD~3", "--json HEAD~4 HEAD~3", "--porcelain HEAD~4 HEAD~3"]
    {
        let text = printed(&repo, words);
        for word in ["subset", "of some versions", "not_held", "lost in", "held since"] {
            assert!(!text.contains(word), "{words}: {text}");
        }
    }
}

#[test]
fn the_example_of_the_paper_lists_b() {
    let Some(folder) = crate::support::oracle::shared("subjects/seed/h2_fig1") else { return };
    let version =
        |k: u32| std::fs::read_to_string(folder.join(format!("v{k}.c"))).expect("the version is there");
    let repo = (1..=3).fold(TempRepo::new(), |repo, k| repo.file("a.c", version(k)).commit(&format!("v{k}")));
    let text = printed(&repo, "--all HEAD~2..");
    assert_eq!(
        heading_of(&text, "b == 3").as_deref(),
        Some("held by versions 1 2, lost in 3 (ID)"),
        "{text}"
    );
    assert_eq!(heading_of(&text, "c == 2").as_deref(), Some("held by all 3 versions"), "{text}");
    let text = printed(&repo, "--all --held-by 1-2 HEAD~2..");
    assert!(heading_of(&text, "b == 3").is_some() && heading_of(&text, "c == 2").is_some(), "{text}");
    assert!(heading_of(&text, "b == 4").is_none() && !text.contains("because of"), "{text}");
}

#[test]
fn filters_choose_by_versions() {
    let repo = mended();
    let bounds = |words: &str| -> Vec<String> {
        let text = printed(&repo, words);
        assert!(!text.contains("because of") && !text.contains("before  "), "{words}: {text}");
        let lines = text.lines().filter(|l| l.contains("at exit") && l.contains("\\result "));
        lines
            .map(|l| l.split("  ").find(|w| w.starts_with("\\result")).unwrap_or_default().to_owned())
            .collect()
    };
    let has = |words: &str, fact: &str| bounds(words).iter().any(|b| b == fact);
    assert!(has("--held-by 1,4-5 HEAD~4..", "\\result >= 0"));
    assert!(!has("--held-by 1-3 HEAD~4..", "\\result >= 0"));
    assert!(has("--held-by 2 HEAD~4..", "\\result == x / 2"));
    assert!(has("--since HEAD~1 HEAD~4..", "\\result >= 0"));
    assert!(!has("--since HEAD~2 HEAD~4..", "\\result >= 0"));
    assert!(!has("--since HEAD HEAD~4..", "\\result >= 0"));
    assert!(has("--lost HEAD~4..", "\\result == x / 2"));
    assert!(!has("--lost HEAD~4..", "\\result >= 0"));
    // Of two versions, too: who asks by versions is not asking for churns.
    assert!(has("--lost HEAD~4 HEAD~3", "\\result == (x < 0 ? 0 : x & 0x3ff)"));
    assert!(!has("--since HEAD~3 HEAD~4 HEAD~3", "\\result >= 0"));
    assert!(has("--since HEAD~1 HEAD~2 HEAD~1", "\\result == (x < 0 ? 0 : (unsigned char)x)"));
}

#[test]
fn scripts_get_versions_and_what_is_known_of_the_others() {
    let repo = mended();
    let json: Value = serde_json::from_str(&printed(&repo, "--json HEAD~4..")).expect("JSON");
    let points = json["functions"][0]["points"].as_array().expect("points");
    let facts = points.iter().flat_map(|p| p["subset_invariants"].as_array().cloned().unwrap_or_default());
    let fact = facts.into_iter().find(|f| f["text"] == "\\result >= 0").expect("the bound");
    assert_eq!(fact["versions"], serde_json::json!([1, 4, 5]));
    assert_eq!(fact["not_held"], serde_json::json!({"2": "refuted", "3": "refuted"}));
    assert_eq!(fact["status"], serde_json::json!({"1": "proved", "4": "proved", "5": "proved"}));
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/invdiff-1.schema.json");
    let schema: Value =
        serde_json::from_str(&std::fs::read_to_string(schema).expect("a schema")).expect("JSON");
    assert_eq!(errors_closed(&schema, &json), [""; 0]);
    let mut wrong = json.clone();
    wrong["functions"][0]["points"][0]["subset_invariants"][0]["not_held"]["2"] = "lost".into();
    assert_eq!(errors_closed(&schema, &wrong).len(), 1);
    let porcelain = printed(&repo, "--porcelain HEAD~4..");
    let record =
        porcelain.lines().find(|l| l.starts_with("subset\t") && l.contains(">= 0")).expect("a record");
    let fields: Vec<&str> = record.split('\t').collect();
    assert_eq!(fields[1..9], ["1", "exit", "exit", "4", "1,4,5", "2,3", "range", "proved"]);
    let html = printed(&repo, "--format html HEAD~4..");
    let bar = ["held", "broken", "broken", "held", "held"].map(|class| format!("<i class=\"{class}\""));
    let row = html.split("<tr ").find(|r| r.contains("mended in 4")).expect("a row");
    let cells: Vec<String> =
        row.split("<i ").skip(1).map(|c| format!("<i {}", &c[..c.find(" title").unwrap()])).collect();
    assert_eq!(cells, bar);
}

/// A filter takes from the report that is kept; it makes no other one.
#[test]
fn filters_take_from_what_is_kept() {
    let repo = mended();
    let json = |words: &str| -> Value { serde_json::from_str(&printed(&repo, words)).expect("JSON") };
    let fresh = json("--json --status proved HEAD~4..");
    let kept = json("--json --since HEAD~1 HEAD~4..");
    // Of a report that is kept no function is looked at again.
    assert!(fresh["cost"]["nodes_visited"].as_u64().is_some_and(|nodes| nodes > 0), "{:#}", fresh["cost"]);
    assert_eq!(kept["cost"]["nodes_visited"], 0);
    assert_eq!(kept["functions"][0]["points"][0]["churns"], serde_json::json!([]));
    assert_ne!(fresh["functions"][0]["points"][0]["churns"], serde_json::json!([]));
}

#[test]
fn what_names_no_version_is_refused() {
    let repo = mended();
    let check = |words: &str, code: i32, parts: &[&str]| {
        let (got, out, err) = run(&repo, words);
        assert_eq!((got, out.as_str()), (Some(code), ""), "{words}: {err}");
        parts.iter().for_each(|part| assert!(err.contains(part), "{words}: {part}\n{err}"));
    };
    let three = "HEAD~2..";
    check(
        &format!("--held-by 5-9 {three}"),
        128,
        &["fatal: --held-by 5-9: the range has 3 versions, 1-3", "hint: name a longer range"],
    );
    check(
        &format!("--held-by x {three}"),
        129,
        &["error: --held-by takes numbers of versions such as 2, 1-3 or 1,4-6, not 'x'", "hint: "],
    );
    check(
        &format!("--since nope {three}"),
        128,
        &["fatal: --since: unknown revision 'nope'", "hint: --since takes a revision of the range"],
    );
    check(
        &format!("--since HEAD~4 {three}"),
        128,
        &["fatal: --since HEAD~4: it is none of the versions of the range", "hint: these are "],
    );
    check(&format!("--held-by 0 {three}"), 128, &["fatal: --held-by 0: the range has 3 versions"]);
    check(&format!("--held-by \u{1b}[31m {three}"), 129, &["not '\\x1b[31m'"]);
}
