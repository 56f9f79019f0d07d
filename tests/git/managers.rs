//! Other managers of hooks: the documented samples, run as the managers do, and by the managers themselves
//! where they are installed.

use super::hook_matrix::{BUG, clamp, commit, fixture, real};
use super::state::Run;
use super::*;
use std::path::Path;

/// The lines of a documented sample: those of the code block after a line that contains `title`.
fn sample(title: &str) -> String {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/git.md")).unwrap();
    let rest = text.split_once(title).unwrap_or_else(|| panic!("no '{title}'")).1;
    let lines = rest.lines().skip_while(|line| !line.starts_with("    "));
    let block = lines.take_while(|line| line.starts_with("    ") || line.is_empty());
    block.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line))).collect()
}

#[test]
fn samples_for_other_managers_of_hooks_work() {
    let repo = fixture(TempRepo::new()).file("a.c", clamp(BUG)).stage();
    repo.write("msg", "title\n");
    let run_line = |line: &str| Run::of(real(&repo, repo.path(), "sh").args(["-ec", line, "hook", "msg"]));
    // lefthook replaces {1} by the first argument of git.
    let lefthook = sample("### lefthook");
    let lines: Vec<&str> = lefthook.lines().filter_map(|line| line.trim().strip_prefix("- run: ")).collect();
    assert_eq!(lines.len(), 5, "{lefthook}");
    let codes: Vec<_> =
        lines.iter().map(|line| run_line(&line.replace("{1}", "msg").replace("{0}", "")).code).collect();
    assert_eq!(codes, [Some(1), Some(0), Some(0), Some(0), Some(0)], "{lines:?}");
    assert!(std::fs::read_to_string(repo.path().join("msg")).unwrap().contains("Invariant-Churn: a.c:clamp"));
    // husky runs its files with `sh -e`, and git's arguments.
    let husky = sample("### husky");
    let files: Vec<&str> = husky.lines().filter(|line| line.contains("git invdiff")).collect();
    assert_eq!(files.len(), 5, "{husky}");
    repo.write("msg", "title\n");
    for line in files {
        let (line, name) = line.split_once("  # .husky/").unwrap_or_else(|| panic!("{line}"));
        let expected = if name == "pre-commit" { 1 } else { 0 };
        assert_eq!(run_line(line).code, Some(expected), "{line}");
    }
    assert!(std::fs::read_to_string(repo.path().join("msg")).unwrap().contains("Invariant-Churn: a.c:clamp"));
    // Where husky keeps its own scripts, ours are not written.
    let repo = repo.config("core.hooksPath", ".husky/_");
    let refused = invdiff(&repo, &["hook", "install"]);
    assert_eq!(refused.status.code(), Some(128));
    assert!(stderr(&refused).contains("git invdiff hook run"), "{}", stderr(&refused));
}

/// Runs an entry of `.pre-commit-hooks.yaml` as the framework does, for a stage.
fn run_entry(repo: &TempRepo, entry: &str, stage: &str) -> Run {
    let line = if stage == "[commit-msg]" { format!("{entry} msg") } else { entry.to_owned() };
    let mut command = real(repo, repo.path(), "sh");
    if stage == "[pre-push]" {
        let tree = repo.git(["write-tree"]);
        let tip = repo.git(["commit-tree", "-p", "HEAD", "-m", "next", &tree]);
        command.env("PRE_COMMIT_LOCAL_BRANCH", "refs/heads/main").env("PRE_COMMIT_TO_REF", tip);
        command.env("PRE_COMMIT_REMOTE_BRANCH", "refs/heads/main");
        command.env("PRE_COMMIT_FROM_REF", repo.id("HEAD"));
        command.env("PRE_COMMIT_REMOTE_NAME", "origin").env("PRE_COMMIT_REMOTE_URL", "elsewhere");
    }
    Run::of(command.args(["-ec", &line]))
}

#[test]
fn hooks_of_the_pre_commit_framework_are_named_well() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml"))
        .unwrap();
    let repo = fixture(TempRepo::new()).file("a.c", clamp(BUG)).stage();
    let field = |block: &str, key: &str| {
        let line = block.lines().find_map(|line| line.trim().strip_prefix(&format!("{key}: ")));
        line.unwrap_or_default().to_owned()
    };
    let mut stages = Vec::new();
    for block in text.split("\n- id: ").skip(1) {
        let (entry, stage) = (field(block, "entry"), field(block, "stages"));
        repo.write("msg", "title\n");
        assert_eq!(field(block, "require_serial"), "true", "{block}");
        // Only a message is a file that the hook is to look at.
        let message = stage == "[commit-msg]";
        assert_eq!(field(block, "pass_filenames") == "false", !message, "{block}");
        assert_eq!(field(block, "always_run") == "true", !message, "{block}");
        let stops = stage == "[pre-commit]" || stage == "[pre-push]";
        assert_eq!(field(block, "verbose") == "true", stops, "{block}");
        let run = run_entry(&repo, &entry, &stage);
        assert_eq!(run.code, Some(i32::from(stops)), "{entry} {}", run.err);
        stages.push(stage);
    }
    let expected = ["pre-commit", "pre-commit", "commit-msg", "post-commit", "post-rewrite", "pre-push"];
    assert_eq!(stages, expected.map(|stage| format!("[{stage}]")));
    let sample = sample("### pre-commit");
    for id in sample.lines().filter_map(|line| line.trim().strip_prefix("- id: ")) {
        assert!(text.contains(&format!("\n- id: {id}\n")), "{id}");
    }
}

/// As `pre-commit install` and `lefthook install` do with a hook that is there.
#[test]
fn a_script_that_was_renamed_runs_what_was_there_before() {
    let repo = fixture(TempRepo::new());
    let folder = repo.path().join(".git/hooks");
    let write = |text: &str| {
        std::fs::write(folder.join("pre-commit"), text).unwrap();
        make_executable(&folder.join("pre-commit"));
    };
    write("#!/bin/sh\necho first of all >&2\n");
    assert!(invdiff(&repo, &["hook", "install", "pre-commit"]).status.success());
    std::fs::rename(folder.join("pre-commit"), folder.join("pre-commit.legacy")).unwrap();
    write("#!/bin/sh\nexec \"$0.legacy\" \"$@\"\n");
    repo.write("a.c", clamp(BUG));
    let run = commit(&repo, repo.path(), &["-a"]);
    assert!(run.code == Some(1) && run.err.contains("first of all"), "{}", run.err);
}

/// What a manager must get right once it is set up: what breaks something is refused, whatever is on disk,
/// and what does not gets its trailers.
#[track_caller]
fn check_managed(repo: &TempRepo) {
    repo.write("a.c", clamp(BUG));
    repo.git(["add", "a.c"]);
    repo.write("a.c", clamp("3"));
    let run = commit(repo, repo.path(), &[]);
    assert!(run.code == Some(1), "{} {}", run.out, run.err);
    assert!(
        format!("{}{}", run.out, run.err).contains("this commit breaks what held"),
        "{} {}",
        run.out,
        run.err
    );
    assert_eq!(std::fs::read_to_string(repo.path().join("a.c")).unwrap(), clamp("3"));
    repo.write("a.c", clamp("2"));
    repo.git(["add", "a.c"]);
    repo.write("a.c", clamp(BUG));
    let run = commit(repo, repo.path(), &[]);
    assert_eq!(run.code, Some(0), "{} {}", run.out, run.err);
    assert_eq!(std::fs::read_to_string(repo.path().join("a.c")).unwrap(), clamp(BUG));
    assert!(repo.git(["log", "-1", "--format=%B"]).contains("Invariant-Churn: a.c:clamp"));
    assert!(repo.git(["notes", "--ref=invdiff", "list", "HEAD"]).len() >= 40);
    let run = Run::of(
        real(repo, repo.path(), "git").env("INVDIFF_SKIP", "1").args(["commit", "-q", "-a", "-m", "skipped"]),
    );
    assert_eq!(run.code, Some(0), "{} {}", run.out, run.err);
}

/// What is rewritten keeps its notes, whatever the manager hands on.
#[track_caller]
fn check_rewrites(repo: &TempRepo) {
    let before = repo.id("HEAD");
    let rewrites: [&[&str]; 3] = [
        &["commit", "-q", "--amend", "-m", "reworded"],
        &["rebase", "-q", "--force-rebase", "HEAD~1"],
        &["rebase", "-q", "--apply", "--force-rebase", "HEAD~1"],
    ];
    repo.git(["checkout", "-q", "-f", "HEAD"]);
    for (clock, words) in rewrites.iter().enumerate() {
        let mut command = real(repo, repo.path(), "git");
        let output =
            command.env("GIT_COMMITTER_DATE", format!("{} +0000", 1_800_000_000 + clock)).args(*words);
        let output = output.output().unwrap();
        assert!(output.status.success(), "{words:?} {}{}", stdout(&output), stderr(&output));
        assert_ne!(repo.id("HEAD"), before);
        let list = stdout(&invdiff(repo, &["notes", "list"]));
        assert!(
            list.contains(&format!("{} current", repo.id("HEAD"))),
            "{words:?} {list} {}",
            stderr(&output)
        );
    }
}

/// Runs a manager; `false` if it is not there.
fn manager(repo: &TempRepo, words: &[&str]) -> bool {
    let (name, words) = words.split_first().unwrap();
    let Ok(output) = real(repo, repo.path(), name).args(words).output() else {
        eprintln!("skipped: no {name}");
        return false;
    };
    assert!(output.status.success(), "{name}: {}{}", stdout(&output), stderr(&output));
    true
}

#[test]
fn pre_commit_itself_runs_the_documented_hooks() {
    let hooks = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml")).unwrap();
    let tool = TempRepo::new().file(".pre-commit-hooks.yaml", hooks).commit("hooks");
    let config = sample("### pre-commit")
        .replace("<the repository of git-invdiff>", tool.path().to_str().unwrap())
        .replace("<a tag>", &tool.id("HEAD"));
    let repo = fixture(TempRepo::new()).file(".pre-commit-config.yaml", config).commit("hooks");
    if manager(&repo, &["pre-commit", "install"]) {
        check_managed(&repo);
        check_rewrites(&repo);
    }
}

#[test]
fn lefthook_itself_runs_the_documented_hooks() {
    let repo = fixture(TempRepo::new()).file("lefthook.yml", sample("### lefthook")).commit("hooks");
    if manager(&repo, &["lefthook", "install"]) {
        check_managed(&repo);
        check_rewrites(&repo);
    }
}

#[test]
fn husky_itself_runs_the_documented_hooks() {
    let repo = fixture(TempRepo::new()).file("package.json", "{\"name\": \"x\"}\n").commit("package");
    if manager(&repo, &["husky"]) {
        for line in sample("### husky").lines().filter(|line| line.contains("git invdiff")) {
            let (line, name) = line.split_once("  # .husky/").unwrap_or_else(|| panic!("{line}"));
            repo.write(format!(".husky/{name}"), format!("{line}\n"));
        }
        let repo = repo.stage().run(["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "hooks"]);
        check_managed(&repo);
        check_rewrites(&repo);
    }
}
