//! The formats for machines: against their schemas, within the limits of those who read them, and with
//! fingerprints that stay when lines, files and places do not.

use crate::support::TempRepo;
use crate::support::schema::{errors, errors_closed};
use serde_json::Value;
use std::collections::BTreeSet;

/// Runs the command and returns standard output; the exit code is the caller's matter.
fn invdiff(repo: &TempRepo, words: &str) -> String {
    let output =
        repo.command_of(env!("CARGO_BIN_EXE_git-invdiff")).args(words.split_whitespace()).output().unwrap();
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 1)), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn schema(path: &str) -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    json(&std::fs::read_to_string(path).expect("a schema"))
}

const OLD: &str = "#include <assert.h>\nstruct buf { int len; char *text; };\nint clamp(int x)\n{\n    if (x < 0)\n        x = 0;\n    assert(x >= 0);\n    return x;\n}\nint first(struct buf *b)\n{\n    if (b == 0)\n        return -1;\n    return b->len;\n}\nint mean(int sum, int n)\n{\n    if (n <= 0)\n        return 0;\n    return sum / n;\n}\n";

/// What [`OLD`] becomes.
fn new() -> String {
    OLD.replace("x = 0;", "x = x + 1;").replace("b->len;", "b->len + 1;").replace("n <= 0", "n < 0")
}

fn repository(file: &str) -> TempRepo {
    let repo = TempRepo::new().file(file, OLD).commit("first");
    repo.write(file, new());
    repo
}

/// The results of a SARIF document.
fn results(document: &Value) -> &Vec<Value> {
    document["runs"][0]["results"].as_array().expect("results")
}

#[test]
fn reports_fit_the_published_schema() {
    let schema = schema("docs/invdiff-1.schema.json");
    let repo = repository("a.c");
    repo.write("c.c", "int (*p)(void); int f(void) { return p(); }\n");
    for words in ["check --json", "--json", "--json --all --points all", "check --json --compare-full"] {
        let report = json(&invdiff(&repo, words));
        assert_eq!(errors_closed(&schema, &report), [""; 0], "{words}");
    }
    // A schema that lets everything pass would be none.
    let mut report = json(&invdiff(&repo, "check --json"));
    report["assertions"][0]["kind"] = "nonsense".into();
    report["versions"][0]["commit"] = "123".into();
    assert_eq!(errors(&schema, &report).len(), 2);
}

#[test]
fn sarif_fits_the_official_schema() {
    let schema = schema("fixtures/schemas/sarif-2.1.0.json");
    for file in ["a.c", "odd name/ü#%:x.c"] {
        let repo = repository(file);
        for words in ["check --format sarif", "--format sarif", "check --format sarif HEAD"] {
            let document = json(&invdiff(&repo, words));
            assert_eq!(errors(&schema, &document), [""; 0], "{words}");
            assert!(!results(&document).is_empty(), "{words}");
            for result in results(&document) {
                let place = &result["locations"][0]["physicalLocation"];
                let uri = place["artifactLocation"]["uri"].as_str().expect("a URI");
                assert_eq!(uri == "a.c", file == "a.c");
                assert!(uri.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._~/%".contains(&b)), "{uri}");
                let rules = &document["runs"][0]["tool"]["driver"]["rules"];
                assert_eq!(
                    rules[result["ruleIndex"].as_u64().expect("an index") as usize]["id"],
                    result["ruleId"]
                );
            }
        }
    }
    let mut document = json(&invdiff(&repository("a.c"), "check --format sarif"));
    document["runs"][0]["results"][0]["level"] = "nonsense".into();
    document["runs"][0]["results"][0]["nonsense"] = 1.into();
    assert_eq!(errors(&schema, &document).len(), 2);
}

/// All fingerprints of a document, without those of lines.
fn fingerprints(repo: &TempRepo, words: &str) -> BTreeSet<String> {
    let document = json(&invdiff(repo, words));
    let of = |r: &Value| r["partialFingerprints"].to_string();
    let all: BTreeSet<String> = results(&document).iter().map(of).collect();
    assert_eq!(all.len(), results(&document).len(), "fingerprints are unique");
    all
}

#[test]
fn fingerprints_survive_shifts_renames_and_moves() {
    for words in ["check --format sarif", "--format sarif"] {
        let plain = fingerprints(&repository("a.c"), words);
        assert!(plain.len() >= 2, "{plain:?}");
        // Lines.
        let repo = repository("a.c");
        repo.write("a.c", "/* a\n   comment */\n\n".to_owned() + &new());
        assert_eq!(fingerprints(&repo, words), plain, "{words}");
        // Another name of the file, from the start and by the change.
        assert_eq!(fingerprints(&repository("src/b.c"), words), plain, "{words}");
        let repo = repository("a.c");
        repo.git(["mv", "a.c", "b.c"]);
        assert_eq!(fingerprints(&repo, words), plain, "{words}");
        // Functions in another order and file.
        let repo = repository("a.c");
        let all = new();
        let (rest, mean) = all.split_at(all.find("int mean").expect("mean"));
        repo.write("b.c", mean);
        repo.write("a.c", rest);
        repo.git(["add", "-N", "b.c"]);
        assert_eq!(fingerprints(&repo, words), plain, "{words}");
        // Another fault has another one.
        let repo = repository("a.c");
        repo.write("a.c", OLD.replace("x = 0;", "x = x - 7;").replace("assert(x >= 0)", "assert(x != -9)"));
        assert_ne!(fingerprints(&repo, words), plain, "{words}");
    }
}

#[test]
fn what_is_suppressed_is_marked_in_sarif_and_left_out_elsewhere() {
    let id = json(&invdiff(&repository("a.c"), "check --json"))["assertions"]
        .as_array()
        .and_then(|all| all.iter().find(|a| a["function"] == "clamp"))
        .map(|a| a["id"].as_str().expect("an id").to_owned())
        .expect("the assertion");
    let repo = TempRepo::new()
        .file("a.c", OLD)
        .file(".invdiff.yaml", format!("suppress: [{{id: {id}, reason: known}}]\n"))
        .commit("first");
    repo.write("a.c", new());
    let document = json(&invdiff(&repo, "check --format sarif"));
    let marked: Vec<&Value> = results(&document).iter().filter(|r| !r["suppressions"].is_null()).collect();
    assert_eq!(marked.len(), 1);
    assert_eq!(marked[0]["suppressions"][0]["justification"], "known");
    assert!(!invdiff(&repo, "check --format gitlab").contains(&id));
    assert!(!invdiff(&repo, "check --format github").contains("clamp"));
}

#[test]
fn gitlab_gets_a_code_quality_document() {
    let repo = repository("a.c");
    let issues = json(&invdiff(&repo, "check --format gitlab"));
    let issues = issues.as_array().expect("an array");
    assert!(issues.len() >= 2);
    let mut met = BTreeSet::new();
    for issue in issues {
        let severity = issue["severity"].as_str().expect("a severity");
        assert!(["info", "minor", "major", "critical", "blocker"].contains(&severity));
        assert!(issue["description"].is_string() && issue["check_name"].is_string());
        assert_eq!(issue["location"]["path"], "a.c");
        assert!(issue["location"]["lines"]["begin"].as_u64().is_some_and(|l| l > 0));
        assert!(met.insert(issue["fingerprint"].as_str().expect("a fingerprint").to_owned()));
    }
    repo.git(["checkout", "-q", "a.c"]);
    assert_eq!(invdiff(&repo, "check --format gitlab"), "[]\n");
    repo.write("a.c", OLD.replace("b->len;", "b->len + 1;"));
    let text = invdiff(&repo, "--format gitlab");
    assert!(text.contains("\"first(): \\\\result"), "{text}");
    assert!(!text.contains("result: \\\\result"), "{text}");
}

#[test]
fn github_gets_annotations_and_a_summary() {
    let repo = repository("a.c");
    let text = invdiff(&repo, "check --format github");
    assert!(text.contains("::error file=a.c,line=7,title=An assertion fails in clamp()::x >= 0"), "{text}");
    let file = repo.root().join("summary.md");
    std::fs::write(&file, "before\n").expect("written");
    let run = || {
        let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
        command
            .args(["check", "--format", "github"])
            .env("GITHUB_STEP_SUMMARY", &file)
            .output()
            .expect("runs")
    };
    assert_eq!(run().status.code(), Some(1));
    let summary = std::fs::read_to_string(&file).expect("a summary");
    assert!(summary.starts_with("before\n## git invdiff of `HEAD` to `WORKTREE`\n"), "{summary}");
    assert!(
        summary.contains("- **error** `a.c:7` `clamp()` An assertion fails: `x >= 0 no longer holds"),
        "{summary}"
    );
}
