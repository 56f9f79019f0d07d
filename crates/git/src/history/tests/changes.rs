//! Changed files and hunks, compared with `git diff -U0 -M` on the same pairs.

use super::*;
use std::process::Command;

/// What both sides are brought to: one line a file, then one a hunk.
fn ours(changes: &Changes) -> Vec<String> {
    let mut lines: Vec<String> = changes.files.iter().map(status_of).collect();
    lines.sort();
    let mut hunks: Vec<String> = changes
        .hunks
        .iter()
        .map(|h| {
            let paths = format!("{} {}", h.old_path.display(), h.new_path.display());
            format!("{paths} -{},{} +{},{}", h.old_start, h.old_lines, h.new_start, h.new_lines)
        })
        .collect();
    hunks.sort();
    lines.extend(hunks);
    lines
}

fn status_of(file: &FileChange) -> String {
    let (old, new) = (file.old_path().display(), file.path().display());
    match file.kind {
        ChangeKind::Added => format!("A {new}"),
        ChangeKind::Deleted => format!("D {new}"),
        ChangeKind::Modified | ChangeKind::Mode => format!("M {new}"),
        ChangeKind::Type => format!("T {new}"),
        ChangeKind::Renamed(s) => format!("R{s:03} {old} {new}"),
        ChangeKind::Copied(s) => format!("C{s:03} {old} {new}"),
    }
}

/// Asks git for the same. `git` is a command in the repository; `pair` names what is compared.
fn gits(git: &dyn Fn() -> Command, pair: &[&str]) -> Vec<String> {
    let run = |options: &[&str]| {
        let fixed =
            ["-c", "core.quotePath=false", "-c", "diff.renames=true", "diff", "--no-ext-diff", "--no-color"];
        let output = git().args(fixed).args(options).args(pair).output().expect("git runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let names = run(&["--name-status", "-z"]);
    let mut fields = names.split('\0').filter(|f| !f.is_empty());
    let mut lines = Vec::new();
    while let Some(status) = fields.next() {
        let count = if status.starts_with(['R', 'C']) { 2 } else { 1 };
        let paths: Vec<&str> = fields.by_ref().take(count).collect();
        lines.push(format!("{status} {}", paths.join(" ")));
    }
    lines.sort();
    let patch = run(&["-U0", "--src-prefix=", "--dst-prefix="]);
    let mut hunks = Vec::new();
    let (mut old, mut new, mut skip) = (String::new(), String::new(), 0);
    for line in patch.lines() {
        if skip > 0 && !line.starts_with('\\') {
            skip -= 1;
        } else if let Some(name) = line.strip_prefix("--- ") {
            old = name.trim_end_matches('\t').to_owned();
        } else if let Some(name) = line.strip_prefix("+++ ") {
            new = name.trim_end_matches('\t').to_owned();
        } else if let Some(head) = line.strip_prefix("@@ -") {
            let (ranges, _) = head.split_once(" @@").expect("a hunk");
            let (before, after) = ranges.split_once(" +").expect("two sides");
            let full = |r: &str| if r.contains(',') { r.to_owned() } else { format!("{r},1") };
            let (before, after) = (full(before), full(after));
            let count = |r: &str| r.split_once(',').map_or(0, |(_, n)| n.parse::<usize>().expect("a number"));
            skip = count(&before) + count(&after);
            let name = |name: &str, other: &str| {
                if name == "/dev/null" { other.to_owned() } else { name.to_owned() }
            };
            hunks.push(format!("{} {} -{before} +{after}", name(&old, &new), name(&new, &old)));
        }
    }
    hunks.sort();
    lines.extend(hunks);
    lines
}

/// Checks that a request's first step is what git says, and returns it.
#[track_caller]
fn check_step(repo: &TempRepo, words: &str, pair: &[&str], expected: &str) -> Changes {
    let opened = open(repo);
    let range = opened.range(&request(words)).expect("a range");
    let changes = opened.changes(&range, &ChangeOptions::default()).expect("changes").remove(0);
    let files: Vec<String> = changes.files.iter().map(status_of).collect();
    assert_eq!(files.join(", "), expected);
    if !pair.is_empty() {
        assert_eq!(ours(&changes), gits(&|| repo.command_of("git"), pair));
    }
    changes
}

fn numbered(lines: std::ops::Range<u32>) -> String {
    lines.map(|n| format!("line number {n}\n")).collect()
}

#[test]
fn files_are_added_deleted_changed_and_renamed() {
    let repo =
        TempRepo::new().file("a.c", numbered(0..20)).file("d/b.c", numbered(50..90)).file("gone.c", "x\n");
    let repo = repo.file("same/deep/c.c", "s\n").commit("one");
    let repo =
        repo.remove("gone.c").file("new.c", "n\n").file("a.c", numbered(0..22).replace(" 7\n", " seven\n"));
    let repo = repo.rename("d/b.c", "e/b2.c").file("e/b2.c", numbered(52..90)).commit("two");
    let expected = "M a.c, R095 d/b.c e/b2.c, D gone.c, A new.c";
    let changes = check_step(&repo, "HEAD~1..HEAD", &["HEAD~1", "HEAD"], expected);
    assert_eq!(changes.hunks.len(), 5);
}

#[test]
fn index_and_working_tree_are_compared_too() {
    let repo = TempRepo::new().file("a.c", numbered(0..9)).commit("one").file("a.c", numbered(1..9)).stage();
    let repo = repo.file("a.c", numbered(1..10)).file("b.c", "untracked\n");
    check_step(&repo, "--staged", &["--cached"], "M a.c");
    let changes = check_step(&repo, "", &[], "M a.c, A b.c");
    assert_eq!(ours(&changes)[2..], ["a.c a.c -1,1 +0,0", "a.c a.c -9,0 +9,1", "b.c b.c -0,0 +1,1"]);
}

#[cfg(unix)]
#[test]
fn modes_types_binaries_and_submodules_are_told_apart() {
    let library = TempRepo::new().file("l.c", "l\n").commit("one");
    let repo = TempRepo::new().file("run.sh", "echo\n").file("data.bin", b"\0one").file("t.c", "t\n");
    let repo = repo.link("l.c", "t.c").submodule(&library, "lib").commit("one");
    let repo = repo.run(["update-index", "--chmod=+x", "run.sh"]).remove("t.c").link("t.c", "run.sh");
    let repo = repo.remove("l.c").link("l.c", "data.bin").file("data.bin", b"\0two");
    repo.git(["-C", "lib", "commit", "-q", "--allow-empty", "-m", "two"]);
    let repo =
        repo.run(["add", "-A"]).run(["update-index", "--chmod=+x", "run.sh"]).run(["commit", "-qm", "two"]);
    let changes = check_step(&repo, "HEAD~1..HEAD", &[], "M data.bin, M l.c, M lib, M run.sh, T t.c");
    let contents: Vec<Content> = changes.files.iter().map(|f| f.content).collect();
    use Content::{Binary, Link, Submodule, Text};
    assert_eq!(contents, [Binary, Link, Submodule, Text, Text]);
    assert_eq!(changes.files[3].kind, ChangeKind::Mode);
    assert_eq!(ours(&changes)[5..], ["t.c t.c -1,1 +0,0"]);
}

#[test]
fn attributes_and_paths_leave_files_out() {
    let repo =
        TempRepo::new().file("a.c", "1\n").file("gen.c", "1\n").file("off.c", "1\n").file("v/x.c", "1\n");
    let repo = repo.file("bin.c", "1\n").commit("one");
    let repo = repo.file(".gitattributes", "gen.c linguist-generated\noff.c -invdiff\nbin.c -diff\n");
    let repo = repo.file("a.c", "2\n").file("gen.c", "2\n").file("off.c", "2\n").file("v/x.c", "2\n");
    let repo = repo.file("bin.c", "2\n").commit("two");
    let opened = open(&repo);
    let range = opened.range(&request("HEAD~1..HEAD")).expect("a range");
    let spec = |patterns: &[&str]| Pathspec::new(patterns, Path::new("")).expect("patterns");
    let options = ChangeOptions {
        pathspec: spec(&["*.c"]),
        configured: spec(&[":(exclude)v"]),
        ..ChangeOptions::default()
    };
    let changes = opened.changes(&range, &options).expect("changes").remove(0);
    let marks: Vec<_> =
        changes.files.iter().map(|f| (f.path().to_str().expect("text"), f.exclusion, f.content)).collect();
    let expected = [
        ("a.c", None, Content::Text),
        ("bin.c", None, Content::Binary),
        ("gen.c", Some(Exclusion::Generated), Content::Text),
        ("off.c", Some(Exclusion::Attribute), Content::Text),
        ("v/x.c", Some(Exclusion::Configured), Content::Text),
    ];
    assert_eq!(marks, expected);
}

#[test]
fn root_commits_and_folders_that_become_files_are_compared() {
    let repo = TempRepo::new().file("x/a.c", "1\n").file("x/b.c", "2\n").commit("one");
    check_step(&repo, "HEAD^!", &["4b825dc642cb6eb9a060e54bf8d69288fbee4904", "HEAD"], "A x/a.c, A x/b.c");
    std::fs::remove_dir_all(repo.path().join("x")).expect("removed");
    let repo = repo.file("x", "1\n").commit("two");
    check_step(&repo, "HEAD~1..HEAD", &["HEAD~1", "HEAD"], "R100 x/a.c x, D x/b.c");
}

#[test]
fn copies_are_found_when_asked_for() {
    let repo = TempRepo::new().file("a.c", numbered(0..30)).commit("one");
    let repo = repo.file("b.c", numbered(0..30)).file("a.c", numbered(0..31)).commit("two");
    let opened = open(&repo);
    let range = opened.range(&request("HEAD~1..HEAD")).expect("a range");
    let options = ChangeOptions { renames: Renames::Copies, ..ChangeOptions::default() };
    let changes = opened.changes(&range, &options).expect("changes").remove(0);
    let files: Vec<String> = changes.files.iter().map(status_of).collect();
    assert_eq!(files, ["M a.c", "C100 a.c b.c"]);
    let options = ChangeOptions { renames: Renames::Off, ..options };
    assert_eq!(status_of(&opened.changes(&range, &options).expect("changes")[0].files[1]), "A b.c");
}

/// Compares the last first-parent commits of every history under `INVDIFF_HISTORIES` with git.
#[test]
fn real_histories_agree_with_git() {
    let Some(folder) = std::env::var_os("INVDIFF_HISTORIES") else {
        crate::testing::tier::skipped("histories", "INVDIFF_HISTORIES not set");
        return;
    };
    let limit: usize = std::env::var("INVDIFF_HISTORY_LIMIT").ok().and_then(|n| n.parse().ok()).unwrap_or(60);
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let Ok(repository) = Repository::discover(entry.path()) else { continue };
        let git = || {
            let mut command = Command::new("git");
            command.arg("-C").arg(entry.path());
            command
        };
        let list = git().args(["rev-list", "--first-parent", "HEAD"]).output().expect("git runs");
        let commits: Vec<String> = String::from_utf8_lossy(&list.stdout).lines().map(str::to_owned).collect();
        let (mut steps, mut differ) = (0, 0);
        let mut spent = std::time::Duration::ZERO;
        for pair in commits.windows(2).take(limit) {
            let start = std::time::Instant::now();
            let range = repository.range(&request(&format!("{}..{}", pair[1], pair[0]))).expect("a range");
            let changes = repository.changes(&range, &ChangeOptions::default()).expect("changes").remove(0);
            spent += start.elapsed();
            let (ours, gits) = (ours(&changes), gits(&git, &[&pair[1], &pair[0]]));
            steps += 1;
            if ours != gits {
                differ += 1;
                let only = |a: &[String], b: &[String]| -> Vec<String> {
                    a.iter().filter(|l| !b.contains(l)).take(4).cloned().collect()
                };
                println!("{}: ours {:?} git's {:?}", pair[0], only(&ours, &gits), only(&gits, &ours));
            }
        }
        println!("{}: {steps} steps, {differ} differ, {spent:?}", entry.path().display());
        assert_eq!(differ, 0, "{}", entry.path().display());
    }
}
