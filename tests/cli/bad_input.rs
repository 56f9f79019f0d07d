//! Repositories and sources that nobody would write on purpose: a clear answer, the other functions
//! still reported, nothing changed.

use crate::support::TempRepo;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Every file below a folder with its bytes, but for our own cache.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && entry.file_name() == "invdiff" => {}
            kind if kind.is_dir() => found.extend(files(&entry.path())),
            _ => drop(found.insert(entry.path(), std::fs::read(entry.path()).unwrap_or_default())),
        }
    }
    found
}

/// Runs the program, and checks its exit code, and parts of what it prints: `fatal: ` and `hint: ` are
/// looked for on standard error, all else on standard output.
#[track_caller]
fn check(repo: &TempRepo, words: &str, code: i32, parts: &[&str]) {
    let before = files(repo.path());
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.args(words.split_whitespace()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{words}\n{out}\n{err}");
    for part in parts {
        let on = if part.starts_with("fatal: ") || part.starts_with("hint: ") { &err } else { &out };
        assert!(on.contains(part), "{words}: {part}\n{out}\n{err}");
    }
    let raw = |text: &str| text.chars().any(|c| c.is_control() && c != '\n');
    assert!(!raw(&out) && !raw(&err), "{words}\n{out}\n{err}");
    assert!(files(repo.path()) == before, "{words} changed something");
}

/// Two versions of a file beside a good one that changes too; the good one's churn is always shown.
#[track_caller]
fn check_source(old: impl AsRef<[u8]>, new: impl AsRef<[u8]>, parts: &[&str]) {
    let repo =
        TempRepo::new().file("good.c", "int good(int x) { return x; }\n").file("a.c", old).commit("one");
    let repo = repo.file("good.c", "int good(int x) { return x + 1; }\n").file("a.c", new).commit("two");
    check(&repo, "HEAD~1..HEAD", 0, &[&["good.c  good()"], parts].concat());
}

fn two_commits() -> TempRepo {
    let repo = TempRepo::new().file("a.c", "int f(int x) { return x; }\n").file("b.c", "").commit("one");
    repo.file("a.c", "int f(int x) { return x + 1; }\n").commit("two")
}

#[test]
fn repositories_without_what_is_asked_for() {
    let empty = TempRepo::new();
    let unborn = "fatal: your current branch 'main' does not have any commits yet";
    for words in ["", "HEAD", "HEAD~3..HEAD"] {
        check(&empty, words, 128, &[unborn, "hint: "]);
    }
    check(&empty, "--staged", 0, &["no change"]);
    check(&empty.file("a.c", "int f(void) { return 1; }\n").stage(), "--staged", 0, &["1 function added"]);
    let repo = two_commits();
    check(&repo, "nope..HEAD", 128, &["fatal: unknown revision 'nope'", "hint: use '--'"]);
    check(&repo, "HEAD~9..HEAD", 128, &["fatal: unknown revision 'HEAD~9'"]);
    check(&repo, "HEAD..HEAD", 0, &["no change"]);
    let no_c = repo.file("README", "x\n").commit("three");
    check(&no_c, "HEAD~1..HEAD", 0, &["not C: README", "no churn found in what was analysed"]);
}

#[test]
fn repositories_of_other_kinds() {
    let repo = two_commits();
    let shown = ["\\result == x + 1", "1 of 1 hunk explained or neutral"];
    check(&repo.bare(), "HEAD~1..HEAD", 0, &shown);
    check(
        &repo.bare(),
        "",
        128,
        &["fatal: this operation must be run in a work tree", "hint: name revisions"],
    );
    let lacks = format!("fatal: this shallow clone lacks commit {}", repo.id("HEAD~1"));
    check(
        &repo.shallow(1),
        "HEAD~1..HEAD",
        128,
        &[&lacks, "hint: get the missing history: git fetch --deepen=1"],
    );
    let sha = TempRepo::sha256().file("a.c", "int f(int x) { return x; }\n").commit("one");
    check(&sha.file("a.c", "int f(int x) { return x + 1; }\n").commit("two"), "HEAD~1..HEAD", 0, &shown);
    let origin = two_commits().config("uploadpack.allowFilter", "true");
    let partial = origin.clone_with(&["--no-checkout", "--filter=blob:none"]);
    check(
        &partial,
        "HEAD~1..HEAD",
        0,
        &["is missing from this partial clone", "invdiff.lazyFetch=true", "content that cannot be read"],
    );
    let sparse = repo.file("d/x", "").file("e/y", "").commit("three");
    sparse.git(["sparse-checkout", "init", "--cone", "--sparse-index"]);
    sparse.git(["sparse-checkout", "set", "d"]);
    check(
        &sparse.file("a.c", "int f(int x) { return x + 2; }\n").stage(),
        "--staged",
        0,
        &["\\result == x + 2"],
    );
}

#[test]
fn objects_that_are_gone() {
    let remove = |repo: &TempRepo, revision: &str| {
        let id = repo.id(revision);
        std::fs::remove_file(repo.path().join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
        format!("object {id} is missing")
    };
    let repo = two_commits().file("b.c", "int g(int x) { return x; }\n").commit("three");
    let gone = remove(&repo, "HEAD~2:a.c");
    check(&repo, "HEAD~2..HEAD", 0, &[&gone, "a.c", "content that cannot be read", "b.c  new: g()"]);
    let gone = remove(&repo, "HEAD~1^{tree}");
    check(&repo, "HEAD~2..HEAD", 128, &[&format!("fatal: {gone}"), "hint: look at what git fsck says"]);
    let gone = remove(&repo, "HEAD~1");
    check(&repo, "HEAD~2..HEAD", 128, &[&format!("fatal: {gone}")]);
    let blob = repo.id("HEAD:b.c");
    repo.git(["update-ref", "refs/notes/invdiff", &blob]);
    check(&repo, "notes add HEAD", 128, &["fatal: 'refs/notes/invdiff' does not name a commit"]);
}

#[test]
fn sources_that_are_none() {
    let noise = |seed: u32| {
        (0..50_000u32).map(|i| (i.wrapping_mul(2_654_435_761 + seed) >> 13) as u8).collect::<Vec<u8>>()
    };
    check_source(noise(0), noise(2), &["a.c  whole file  binary content"]);
    let truncated = |k: u32| format!("int f(int x)\n{{\n    if (x > {k}) {{ return 2;");
    check_source(truncated(1), truncated(3), &["source with errors", "1 of 2 hunks explained or neutral"]);
    let nested =
        |e: &str| format!("int f(int x) {{ return {}{e}{}; }}\n", "(".repeat(100_000), ")".repeat(100_000));
    check_source(nested("x"), nested("x + 1"), &["nested-brackets"]);
    let cycle = |e: &str| format!("#include \"a.c\"\nint f(int x) {{ return {e}; }}\n");
    check_source(cycle("x"), cycle("x + 2"), &["\\result == x + 2"]);
    let bytes = |e: &[u8]| {
        [b"char s[] = \"\xc3\x28\"; /* \xff\xfe\x1b[31m */\nint f(int x) { return x + ", e, b"; }\n"].concat()
    };
    check_source(bytes(b"1"), bytes(b"2"), &["\\result == x + 2"]);
}

#[test]
fn objects_that_no_memory_holds() {
    let object =
        "struct s { char bytes[1UL << 40]; int n; } big, *p = &big;\nconst char text[1UL << 40] = \"x\";\n";
    let source = |k: u32| {
        let uses = format!("int f(int i) {{ big.bytes[i] = {k}; return p->bytes[3]; }}\n");
        let prints = format!("#include <stdio.h>\nint g(int i) {{ puts(text); return i + {k}; }}\n");
        let passes = format!("int h(struct s by_value) {{ return by_value.n + {k}; }}\n");
        let local = format!("int l(int i) {{ char own[1UL << 40]; own[i] = {k}; return own[i]; }}\n");
        format!("{object}{uses}{prints}{passes}{local}")
    };
    check_source(source(1), source(2), &["a.c  f()", "a.c  g()", "a.c  h()", "a.c  l()"]);
}

#[test]
fn names_and_messages_of_any_bytes() {
    let check_name = |name: &[u8], parts: &[&str]| {
        let name = OsStr::from_bytes(name);
        let repo = TempRepo::new().file(name, "int f(int x) { return x; }\n").commit("one \u{1b}[31m\u{7}");
        let repo = repo.file(name, "int f(int x) { return x + 1; }\n").commit("two \u{9b}2J\n\n\u{1b}[2J");
        check(&repo, "HEAD~1..HEAD", 0, &[parts, &["one \\x1b[31m"]].concat());
        for words in ["HEAD~1..HEAD --json", "HEAD~1..HEAD --format yaml", "trailers HEAD"] {
            check(&repo, words, 0, &[]);
        }
    };
    check_name(b"evil\x1b]0;x\x07\n.c", &["\"evil\\033]0;x\\a\\n.c\"  f()"]);
    check_name(b"caf\xe9.c", &["\"caf\\351.c\"  f()", "\\result == x + 1", "1 of 1 hunk explained"]);
    // Found by their names all the same: what it includes, who calls it, and what it was called before.
    let name = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    let source = |e: &str| format!("#include \"k.h\"\nint f(int x) {{ return {e} + K; }}\n");
    let caller = "int f(int); int g(void) { return f(1); }\n";
    let repo = TempRepo::new().file(name(b"d\xff/k.h"), "#define K 2\n").file(name(b"\xfe.c"), caller);
    let repo = repo.file(name(b"d\xff/a\xc3.c"), source("x")).commit("one");
    let repo =
        repo.remove(name(b"d\xff/a\xc3.c")).file(name(b"d\xff/b\xe9.c"), source("x + 1")).commit("two");
    let parts = ["\"d\\377/b\\351.c\"  f()", "\\result == x + 3", "for example x = 0"];
    check(&repo, "HEAD~1..HEAD", 0, &parts);
    check(&repo, "graph HEAD~1..HEAD", 0, &["label=\"\\\"d\\\\377/b\\\\351.c\\\": f()\";"]);
    check(&repo, "doctor --coverage", 0, &["functions found         2"]);
}

#[test]
fn five_megabytes_of_functions() {
    let function = |i: usize, k: usize| {
        format!(
            "static int insert_{i}(struct node **head, struct node *n, int limit)\n{{\n    int count = 0;\n    for (struct node *p = *head; p != 0; p = p->next) {{\n        if (p->key == n->key)\n            return -{};\n        if (++count > limit + {})\n            break;\n    }}\n    n->next = *head;\n    *head = n;\n    return count;\n}}\n\n",
            i % 7 + 1,
            if i == 3 { k } else { 0 }
        )
    };
    let source = |k: usize| {
        let head = "struct node { int key; struct node *next; };\n".to_owned();
        (0..18_000).fold(head, |text, i| text + &function(i, k))
    };
    assert!(source(0).len() > 5 << 20);
    check_source(source(0), source(1), &["a.c  insert_3()", "2 of 2 hunks explained or neutral"]);
}
