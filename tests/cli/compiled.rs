//! Conditions of the preprocessor that change, in every format.

use crate::support::TempRepo;
use crate::support::schema::errors_closed;
use serde_json::Value;

fn invdiff(repo: &TempRepo, words: &str) -> String {
    let output =
        repo.command_of(env!("CARGO_BIN_EXE_git-invdiff")).args(words.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Runs an edit of one text in this source and returns what is told, a line each.
fn told(edit: &str, words: &str) -> Vec<String> {
    let source = "int f(int x)\n{\n#ifdef A\n    x = x + 1;\n#endif\n    return x;\n}\n";
    let repo = TempRepo::new().file("a.c", source).commit("first");
    repo.write("a.c", source.replace("#ifdef A", edit));
    let text = invdiff(&repo, &format!("--effort quick --no-cache {words}"));
    let told = text.lines().skip_while(|l| !l.starts_with("  a.c") && words.is_empty());
    told.map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn people_read_which_lines_are_compiled() {
    assert_eq!(
        told("#if defined(A) || defined(B)", ""),
        [
            "a.c line 4 @@ -3 +3 @@",
            "when B && !A",
            "before left out",
            "now compiled",
            "",
            "1 condition of the preprocessor told; nothing undecided; 1 of 1 hunk explained or neutral",
        ]
    );
    let quiet = told("# if (defined A)  // the same", "--all");
    assert_eq!(quiet, ["no semantic change; nothing undecided; 1 of 1 hunk explained or neutral"]);
    // What the edit does here is told as well.
    let here = told("#if 1", "").join("\n");
    assert!(here.contains("now returns x + 1") || here.contains("now sets x to x + 1"), "{here}");
    assert!(here.contains("when !A\nbefore left out\nnow compiled"), "{here}");
    let open = told("#if A & 1", "").join("\n");
    assert!(!open.contains("no semantic change"), "{open}");
}

#[test]
fn programs_read_it_too() {
    let source = "int f(int x)\n{\n#if \u{1b}(A) < 3\n    x = x + 1;\n#endif\n    return x;\n}\n";
    let repo = TempRepo::new().file("a.c", source).commit("first");
    repo.write("a.c", source.replace("< 3", "<script>"));
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/invdiff-1.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let all =
        ["", "--json", "--porcelain", "--format html", "--format github", "--format sarif", "--format yaml"];
    let [text, json, porcelain, html, ..] =
        all.map(|format| invdiff(&repo, &format!("--effort quick {format}")));
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(errors_closed(&schema, &report), [""; 0]);
    assert!(
        !text.contains('\u{1b}') && !porcelain.contains('\u{1b}') && !html.contains("<script>\n    x"),
        "{text}"
    );

    let repo = TempRepo::new().file("a.c", "#ifdef A\nint a;\n#endif\n").commit("first");
    repo.write("a.c", "#if A > 1\nint a;\n#endif\n");
    let report: Value = serde_json::from_str(&invdiff(&repo, "--json --effort quick")).unwrap();
    assert_eq!(errors_closed(&schema, &report), [""; 0]);
    assert_eq!(
        report["hunks"][0]["compiled"],
        serde_json::json!([{"when": "defined(A) && A <= 1", "now": false, "old": [2, 2], "new": [2, 2]}])
    );
    let porcelain = invdiff(&repo, "--porcelain --effort quick");
    let records: Vec<&str> = porcelain.lines().filter(|l| l.starts_with("compiled")).collect();
    assert_eq!(records, ["compiled\tbefore\t2,2\t2,2\tdefined(A) && A <= 1\ta.c"]);
    let html = invdiff(&repo, "--format html --effort quick");
    assert!(html.contains("other lines are compiled") && html.contains("defined(A) &amp;&amp; A &lt;= 1"));
    // Nothing of functions or variables was asked of it.
    assert!(!invdiff(&repo, "--effort quick --function nobody").contains("A <= 1"));
    assert!(invdiff(&repo, "--effort quick --hunk a.c:1").contains("A <= 1"));
}
