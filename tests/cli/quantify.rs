//! `git invdiff quantify` and `rank` from outside: the figures of the paper, and bad input.

use crate::support::TempRepo;
use std::path::Path;

/// A repository with the versions of a shared subject as commits, if the shared data is there.
fn subject(name: &str, versions: &[&str]) -> Option<TempRepo> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/subjects/seed").join(name);
    let mut repo = TempRepo::new();
    for version in versions {
        let Ok(text) = std::fs::read(folder.join(version)) else {
            invdiff_testing::skipped("shared", "shared data absent");
            return None;
        };
        repo = repo.file("a.c", text).commit(version);
    }
    Some(repo)
}

#[track_caller]
fn check(repo: &TempRepo, words: &str, code: i32, parts: &[&str]) {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.current_dir(repo.path()).args(words.split_whitespace()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{words}\n{out}\n{err}");
    for part in parts {
        assert!(out.contains(part) || err.contains(part), "{part}\n{out}\n{err}");
    }
}

#[test]
fn figure_1_has_its_shares() {
    let domain = "--domain x=-10..9 --domain y=-10..9";
    if let Some(repo) = subject("quant_fig1", &["v1.c", "v2.c"]) {
        let parts = [
            "400 inputs",
            "failure  1 of 400",
            "failure  0 of 400",
            "reach the change    200 of 400 (50 %)",
            "behave differently  10 of 400 (2.5 %)",
        ];
        check(&repo, &format!("quantify {domain} HEAD~1..HEAD"), 0, &parts);
    }
    if let Some(repo) = subject("quant_fig1", &["v1_lt.c", "v2_lt.c"]) {
        let parts = ["failure  110 of 400 (27.5 %)", "failure  100 of 400 (25 %)"];
        check(&repo, &format!("quantify {domain} HEAD~1..HEAD"), 0, &parts);
    }
}

#[test]
fn bad_domains_are_refused_with_the_place() {
    let text = |k: u32| format!("int f(int speed) {{ return speed > {k}; }}\n");
    let repo = TempRepo::new().file("a.c", text(1)).commit("one").file("a.c", text(2)).commit("two");
    let bad = |domain: &str, parts: &[&str]| {
        check(&repo, &format!("quantify --domain {domain} HEAD~1..HEAD"), 129, parts);
    };
    bad("speed=9..1", &["column 10: the range is empty"]);
    bad("speed", &["column 6: expected '='"]);
    bad("speed=1..x", &["column 10: expected a number"]);
    bad("sped=1..2", &["did you mean 'speed'?"]);
    bad("speed=0..3000000000", &["leaves its type"]);
    check(&repo, "quantify --target return=1 HEAD~1..HEAD", 0, &["differently  1 of 20 (5 %)"]);
    check(&repo, "quantify --target line:a.c:9 HEAD~1..HEAD", 0, &["no changed function has this line"]);
}
