//! What `diff` asks at normal effort of what is large: runs, and no facts.

use crate::support::TempRepo;

/// A function of some hundred instructions and one that calls it.
fn text(added: &str) -> String {
    let cases: String = (0..90).map(|k| format!("    if (x == {k}) y += {};\n", k * 7 + 1)).collect();
    format!(
        "int big(int x, int y)\n{{\n{cases}{added}    return y;\n}}\nint small(int x)\n{{\n    return big(x, 1) + 1;\n}}\n"
    )
}

fn repository() -> TempRepo {
    let (old, new) = (text(""), text("    if (x > 1000) return -1;\n"));
    TempRepo::new().file("a.c", &old).commit("one").file("a.c", &new).commit("two")
}

fn said(words: &str) -> String {
    let repo = repository();
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output =
        command.args(["HEAD~1..HEAD", "--no-cache"]).args(words.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn what_is_told_where_it_is_leaves_no_question() {
    let text = said("");
    assert!(text.contains("when    x > 1000") && text.contains("now     returns -1"), "{text}");
    assert!(text.contains("nothing undecided"), "{text}");
    // It is not asked what else may be said, and where to ask is.
    assert!(!text.contains("at exit,"), "{text}");
    assert!(text.contains("--effort deep asks at exits, too"), "{text}");
}

#[test]
fn who_asks_for_more_gets_it() {
    for words in ["--effort deep", "--function big"] {
        let text = said(words);
        assert!(text.contains("+ ") && text.contains("\\result"), "{words}: {text}");
    }
}
