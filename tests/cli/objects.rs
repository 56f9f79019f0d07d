//! Objects whose definitions change, in every format.

use crate::support::TempRepo;
use crate::support::schema::errors_closed;
use serde_json::Value;

fn invdiff(repo: &TempRepo, words: &str) -> String {
    let output =
        repo.command_of(env!("CARGO_BIN_EXE_git-invdiff")).args(words.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

const OLD: &str = "static const char *names[] = {\n    \"one\",\n    \"three\",\n    0\n};\nstatic int limit = 10;\nint used(int n)\n{\n    return n < limit && names[0];\n}\n";

fn repository() -> TempRepo {
    let repo = TempRepo::new().file("a.c", OLD).commit("first");
    repo.write(
        "a.c",
        OLD.replace("    \"three\"", "    \"two\\33<b>\",\n    \"three\"").replace("= 10", "= 12"),
    );
    repo
}

#[test]
fn people_read_what_begins_otherwise() {
    let text = invdiff(&repository(), "--effort quick --no-cache");
    let told: Vec<&str> = text.lines().skip_while(|l| !l.starts_with("  a.c")).collect();
    let told: Vec<String> = told.iter().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(
        told,
        [
            "a.c names @@ -2,0 +3 @@",
            "now has \"two\\033<b>\" after \"one\" at line 3",
            "read by used()",
            "a.c limit @@ -6 +7 @@",
            "before starts as 10 at line 7",
            "now starts as 12",
            "read by used()",
            "",
            "2 objects told; nothing undecided; 2 of 2 hunks explained or neutral",
        ],
        "{text}"
    );
}

#[test]
fn programs_read_it_too() {
    let repo = repository();
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/invdiff-1.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for words in ["--json --effort quick", "--json"] {
        let report: Value = serde_json::from_str(&invdiff(&repo, words)).unwrap();
        assert_eq!(errors_closed(&schema, &report), [""; 0], "{words}");
        let of = |name: &str| {
            let all = report["objects"].as_array().expect("objects");
            all.iter().find(|o| o["name"] == name).cloned().expect("an object")
        };
        let limit = of("limit");
        assert_eq!((&limit["type"], &limit["outcome"]), (&"int".into(), &"changed".into()));
        assert_eq!(limit["before"][0]["text"], "starts as 10");
        assert_eq!(
            limit["now"][0],
            serde_json::json!({"kind": "value", "text": "starts as 12", "c": null, "line": 7})
        );
        assert_eq!((&limit["readers"][0], &limit["verdict"]), (&"used".into(), &"differs".into()));
        assert_eq!(of("names")["before"], serde_json::json!([]));
    }
    let porcelain = invdiff(&repo, "--porcelain --effort quick");
    let records: Vec<&str> =
        porcelain.lines().filter(|l| l.starts_with("object") || l.starts_with("value")).collect();
    assert_eq!(records.len(), 5, "{porcelain}");
    assert!(records[0].starts_with("object\t1\t2\tchanged\t1\t-\t"), "{}", records[0]);
    assert!(records[4].ends_with("\tnow\tstarts as 12"), "{}", records[4]);
    for format in ["sarif", "gitlab", "github", "yaml", "html"] {
        let text = invdiff(&repo, &format!("--effort quick --format {format}"));
        assert!(text.contains("starts as 12"), "{format}: {text}");
        // What the repository says is never markup and never acts on a terminal.
        assert!(
            !text.contains("33<b>\"") && !text.contains('\u{1b}') || format != "html",
            "{format}: {text}"
        );
    }
}

#[test]
fn what_begins_as_before_is_no_change() {
    let repo = TempRepo::new().file("a.c", OLD).commit("first");
    repo.write(
        "a.c",
        OLD.replace("    \"one\",\n", "    \"o\" \"ne\" ,  /* the first */\n").replace("10", "0xa"),
    );
    let text = invdiff(&repo, "--effort quick");
    assert_eq!(text.trim_end(), "no semantic change; nothing undecided; 2 of 2 hunks explained or neutral");
}

#[test]
fn types_that_no_function_tells_of_are_told_by_their_members() {
    let text = |head: &str| format!("enum mode {{ OFF, ON }};\n{head}\nint f(struct p *q);\n");
    let old = "struct p {\n    int x;\n    char name[10];\n    unsigned on : 1;\n    enum mode mode;\n};";
    let repo = TempRepo::new().file("s.h", text(old)).file("a.c", "#include \"s.h\"\n").commit("first");
    let told = |new: String, parts: &[&str]| {
        repo.write("s.h", new);
        let text = invdiff(&repo, "--effort quick");
        for part in parts {
            assert!(text.contains(part), "{part}\n{text}");
        }
    };
    let new = old.replace("int x", "long x").replace("on : 1;", "on : 2;\n    int more;");
    let parts = [
        "type p ",
        "before  x is int; on is unsigned int : 1",
        "now     x is long; on is unsigned int : 2; more is int",
    ];
    told(text(&new), &parts);
    let aligned = old.replace("name[10];", "name[10] __attribute__((aligned(8)));");
    told(
        text(&aligned),
        &["before  name at byte 4; 20 bytes, aligned to 4", "now     name at byte 8; 24 bytes, aligned to 8"],
    );
    told(
        text(old).replace("OFF, ON", "OFF, ON = 4, AUTO"),
        &["enum mode", "before  ON is 1", "now     ON is 4; AUTO is 5"],
    );
}

#[test]
fn a_parameter_that_nothing_reads_changes_nothing() {
    let text = |more: &str, ty: &str| {
        format!(
            "int g(void *, int);\nstatic int put(void *b,\n    int n{more})\n{{\n    return g(b, n);\n}}\nint (*table[])(void *, int{ty}) = {{ put }};\n"
        )
    };
    let repo = TempRepo::new().file("a.c", text("", "")).commit("first");
    repo.write("a.c", text(",\n    unsigned long unused", ", unsigned long"));
    let told = invdiff(&repo, "--effort quick --no-cache");
    assert!(told.contains("2 of 2 hunks explained or neutral"), "{told}");
}
