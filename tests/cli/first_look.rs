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
    said_of(&repository(), words)
}

fn said_of(repo: &TempRepo, words: &str) -> String {
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

/// That what is followed now may be null is a line beside what is told; that it no longer is, is news.
#[test]
fn a_pointer_that_is_followed_now_may_be_null() {
    let text = |set: &str| {
        format!(
            "struct t {{ int sort; }};\nstruct h {{ struct t *t, *u; }};\nvoid use(struct t *, int);\n\
             int f(struct h *h)\n{{\n{set}    use(h->u, 47);\n    return 77;\n}}\n"
        )
    };
    let (without, with) = (text(""), text("    h->t->sort = 1;\n"));
    let of = |old: &str, new: &str, words: &str| {
        let repo = TempRepo::new().file("a.c", old).commit("one").file("a.c", new).commit("two");
        said_of(&repo, words)
    };
    let short = of(&without, &with, "");
    let null = "undefined: access through a null pointer at line 6";
    let also = format!("    also    {null}; -v shows when\n");
    assert!(short.contains(&also) && !short.contains("+ undefined") && short.contains("0 -> 1"), "{short}");
    let long = of(&without, &with, "-v");
    assert!(long.contains(&format!("+ {null}")) && !long.contains("also  "), "{long}");
    let gone = of(&with, &without, "");
    assert!(gone.contains(&format!("- {null}")) && !gone.contains("also  "), "{gone}");
}

#[test]
fn who_asks_for_more_gets_it() {
    for words in ["--effort deep", "--function big"] {
        let text = said(words);
        assert!(text.contains("+ ") && text.contains("\\result"), "{words}: {text}");
    }
}

/// A macro of one header makes functions in another one, which does not change. They are told where they stand, once,
/// and not again at those that call them.
#[test]
fn functions_that_a_macro_of_a_header_makes_are_told() {
    let makes =
        |body: &str| format!("#define READ(N, T) static inline T N##_read(const T *p) {{ {body} }}\n");
    let user = "#include \"made.h\"\nint f(const short *p, int n)\n{\n    int s = 0;\n    while (s < n && s16_read(p))\n        s += s16_read(p + 1);\n    return s;\n}\n";
    let told = |old: &str, new: &str| {
        let repo = TempRepo::new()
            .file("made.h", "#include \"macros.h\"\nREAD(s16, short)\n")
            .file("a.c", user)
            .file("macros.h", makes(old))
            .commit("one")
            .file("macros.h", makes(new))
            .commit("two");
        said_of(&repo, "")
    };
    let text = told("return *p;", "return *p + 1;");
    assert!(text.contains("made.h  s16_read()\n    before  returns *p"), "{text}");
    assert!(text.contains("now     returns (short)(*p + 1)") && !text.contains("f()"), "{text}");
    let text = told("return *p + 1;", "T x = *p; return x + 1;");
    assert!(text.starts_with("no semantic change; nothing undecided; 1 of 1 hunk"), "{text}");
}
