//! Hooks of the real program, run by git: which index they read, in which place, and what turns them off.

use super::state::{Run, differing, divide, program_in, state};
use super::*;
use std::path::Path;

/// A function whose assertion holds, or not.
pub fn clamp(fix: &str) -> String {
    format!(
        "void abort(void);\nint clamp(int x)\n{{\n    if (x < 0)\n        x = {fix};\n    if (x < 0)\n        abort();\n    return x;\n}}\n"
    )
}

pub const BUG: &str = "x + 1";

/// A command that finds the real program as `git invdiff`.
pub fn real(repo: &TempRepo, folder: &Path, program: &str) -> Command {
    let programs = Path::new(env!("CARGO_BIN_EXE_git-invdiff")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = repo.command_of(program);
    command.env("PATH", format!("{}:{path}", programs.display())).current_dir(folder);
    command
}

pub fn commit(repo: &TempRepo, folder: &Path, words: &[&str]) -> Run {
    Run::of(real(repo, folder, "git").args(["commit", "-q", "-m", "next"]).args(words))
}

pub fn fixture(repo: TempRepo) -> TempRepo {
    let repo = repo.file("a.c", clamp("0")).file("b.c", divide("g", 3)).file("sub/x", "").commit("first");
    // A debug build on a busy machine is not what the limit is about.
    repo.config("invdiff.timeoutSeconds", "0").config("advice.statusHints", "false")
}

fn installed(repo: TempRepo) -> TempRepo {
    let repo = fixture(repo);
    assert_eq!(invdiff(&repo, &["hook", "install"]).status.code(), Some(0));
    repo
}

/// What git itself sees, and the bytes of the index.
fn seen(repo: &TempRepo, folder: &Path) -> (String, Vec<u8>, String) {
    let git = |words: &[&str]| Run::of(repo.command_of("git").current_dir(folder).args(words)).out;
    let index = git(&["rev-parse", "--path-format=absolute", "--git-path", "index"]);
    (
        git(&["status", "--porcelain", "-z"]),
        std::fs::read(index.trim()).unwrap_or_default(),
        git(&["rev-parse", "HEAD"]),
    )
}

/// Commits in every way that leaves something out, in one place.
#[track_caller]
fn check_staging(repo: &TempRepo, top: &Path, from: &Path) {
    let write = |fix: &str| std::fs::write(top.join("a.c"), clamp(fix)).unwrap();
    let stage =
        || assert!(repo.command_of("git").current_dir(top).args(["add", "a.c"]).status().unwrap().success());
    let path = if from == top { "b.c" } else { "../b.c" };
    // Staged in part: what is on disk does not count, and stays.
    write("1");
    stage();
    write(BUG);
    let run = commit(repo, from, &[]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert_eq!(std::fs::read_to_string(top.join("a.c")).unwrap(), clamp(BUG));
    let message = Run::of(repo.command_of("git").current_dir(top).args(["log", "-1", "--format=%B"])).out;
    assert!(message.contains("Invariant-Churn: a.c:clamp: "), "{message}");
    // All: it does, and nothing has changed then.
    let before = seen(repo, top);
    let run = commit(repo, from, &["-a"]);
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("error: this commit breaks what held before"), "{}", run.err);
    assert_eq!(seen(repo, top), before);
    // Another path alone.
    stage();
    std::fs::write(top.join("b.c"), divide("g", 5)).unwrap();
    let run = commit(repo, from, &[path]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    // That path, and what is staged.
    std::fs::write(top.join("b.c"), divide("g", 7)).unwrap();
    let before = seen(repo, top);
    assert_eq!(commit(repo, from, &["-i", path]).code, Some(1));
    assert_eq!(commit(repo, from, &[]).code, Some(1));
    assert_eq!(commit(repo, from, &[if from == top { "a.c" } else { "../a.c" }]).code, Some(1));
    assert_eq!(seen(repo, top), before);
    assert_eq!(commit(repo, from, &["-i", path, "--no-verify"]).code, Some(0));
}

#[test]
fn what_is_committed_is_what_is_judged() {
    let repo = installed(TempRepo::new());
    check_staging(&repo, repo.path(), repo.path());
    let repo = installed(TempRepo::new());
    check_staging(&repo, repo.path(), &repo.path().join("sub"));
}

#[test]
fn that_holds_in_linked_worktrees_and_submodules() {
    let repo = installed(TempRepo::new());
    let linked = repo.linked_worktree("linked", "HEAD");
    check_staging(&repo, &linked, &linked.join("sub"));
    let inner = fixture(TempRepo::new());
    let outer = TempRepo::new().file("x", "").commit("outer").submodule(&inner, "deps");
    let deps = outer.path().join("deps");
    let git = |words: &[&str]| {
        assert!(outer.command_of("git").current_dir(&deps).args(words).status().unwrap().success())
    };
    git(&["config", "invdiff.timeoutSeconds", "0"]);
    assert!(program_in(&outer, &deps, &["hook", "install"]).output().unwrap().status.success());
    assert!(outer.path().join(".git/modules/deps/hooks/pre-commit").exists());
    check_staging(&outer, &deps, &deps.join("sub"));
}

#[test]
fn that_holds_for_indexes_and_refs_of_other_formats() {
    let split = installed(TempRepo::new()).run(["update-index", "--split-index"]);
    check_staging(&split, split.path(), split.path());
    let sparse = installed(TempRepo::new()).file("far/away.c", divide("far", 2)).commit("far");
    let sparse = sparse.run(["sparse-checkout", "set", "--sparse-index", "sub"]);
    check_staging(&sparse, sparse.path(), sparse.path());
    match TempRepo::reftable() {
        Some(repo) => {
            let repo = installed(repo);
            check_staging(&repo, repo.path(), repo.path());
        }
        None => println!("skipped: this git knows no reftables"),
    }
    let sha256 = installed(TempRepo::sha256());
    check_staging(&sha256, sha256.path(), &sha256.path().join("sub"));
}

#[test]
fn named_repositories_have_hooks_too() {
    let repo = installed(TempRepo::new());
    repo.write("a.c", clamp(BUG));
    for words in [
        &["--git-dir=repo/.git", "--work-tree=repo", "commit", "-qam", "x"][..],
        &["-C", "repo", "commit", "-qam", "x"],
    ] {
        let run = Run::of(real(&repo, &repo.root(), "git").args(words));
        assert_eq!(run.code, Some(1), "{words:?} {}", run.err);
        assert!(run.err.contains("a.c:clamp"), "{}", run.err);
    }
    let mut command = real(&repo, &repo.root(), "git");
    command.env("GIT_DIR", "repo/.git").env("GIT_WORK_TREE", "repo").args(["commit", "-qam", "x"]);
    assert_eq!(Run::of(&mut command).code, Some(1));
}

#[test]
fn the_first_commit_and_intended_files_are_judged() {
    let repo = TempRepo::new().config("invdiff.timeoutSeconds", "0");
    assert!(invdiff(&repo, &["hook", "install"]).status.success());
    let repo = repo.file("a.c", clamp(BUG)).stage();
    let run = commit(&repo, repo.path(), &[]);
    assert_eq!((run.code, repo.git(["log", "-1", "--format=%B"]).as_str()), (Some(0), "next"), "{}", run.err);
    let repo = repo.file("new.c", divide("f", 2)).run(["add", "-N", "new.c"]);
    let run = commit(&repo, repo.path(), &["--allow-empty"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
}

#[test]
fn unmerged_indexes_are_refused() {
    let repo = installed(TempRepo::new()).run(["checkout", "-q", "-b", "side"]).file("a.c", clamp("2"));
    let repo = repo.commit("side").run(["checkout", "-q", "main"]).file("a.c", clamp("3")).commit("main");
    assert!(!repo.git_output(["merge", "side"]).status.success());
    let run = Run::of(&mut program_in(&repo, repo.path(), &["hook", "run", "pre-commit"]));
    assert_eq!(run.code, Some(128), "{}", run.err);
    assert!(run.err.contains("a.c"), "{}", run.err);
}

#[test]
fn each_hook_can_be_switched_off() {
    let repo = installed(TempRepo::new()).file("a.c", clamp(BUG)).stage();
    let runs = |variable: Option<&str>| {
        let mut said = String::new();
        for words in [
            &["pre-commit"][..],
            &["prepare-commit-msg", "msg"],
            &["commit-msg", "msg"],
            &["post-commit"],
            &["post-rewrite", "amend"],
            &["pre-push", "origin", "nowhere"],
        ] {
            repo.write("msg", "title\n\n# comment\n");
            let before = state(&repo.root());
            let mut command = program_in(&repo, repo.path(), &[&["hook", "run"], words].concat());
            command.envs(variable.map(|value| ("INVDIFF_SKIP", value)));
            let run = Run::of(&mut command);
            let changed = differing(&before, &state(&repo.root()));
            if (run.code, run.err.as_str(), changed.is_empty()) != (Some(0), "", true) {
                said.push_str(words[0]);
                said.push(' ');
            }
        }
        said
    };
    assert_eq!(runs(None), "pre-commit prepare-commit-msg commit-msg post-commit ");
    repo.git(["update-ref", "-d", "refs/notes/invdiff"]);
    assert_eq!(runs(Some("1")), "");
    assert_eq!(runs(Some("0")), "pre-commit prepare-commit-msg commit-msg post-commit ");
    repo.git(["update-ref", "-d", "refs/notes/invdiff"]);
    repo.git(["config", "invdiff.hooks", "false"]);
    assert_eq!(runs(None), "");
    repo.git(["config", "--unset", "invdiff.hooks"]);
    for name in ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"] {
        assert!(runs(None).contains(&format!("{name} ")));
        repo.git(["update-ref", "-d", "refs/notes/invdiff"]);
        repo.git(["config", &format!("invdiff.hooks.{name}"), "off"]);
        assert!(!format!(" {}", runs(None)).contains(&format!(" {name} ")));
        repo.git(["update-ref", "-d", "refs/notes/invdiff"]);
    }
    assert_eq!(commit(&repo, repo.path(), &[]).code, Some(0));
}

#[test]
fn a_script_of_another_version_is_renewed_on_request() {
    let repo = installed(TempRepo::new());
    let path = repo.path().join(".git/hooks/pre-commit");
    let text = std::fs::read_to_string(&path).unwrap();
    let old = format!("{}\n# a line of somebody\n", text.replace("hook 2 >>>", "hook 1 >>>").trim_end());
    std::fs::write(&path, &old).unwrap();
    repo.write("a.c", clamp("1"));
    let run = commit(&repo, repo.path(), &["-a"]);
    assert_eq!(run.code, Some(0), "{}", run.err);
    assert!(run.err.contains("renew it: git invdiff hook install"), "{}", run.err);
    assert!(stdout(&invdiff(&repo, &["hook", "status"])).contains("installed, but by another version"));
    assert!(invdiff(&repo, &["hook", "install"]).status.success());
    let renewed = std::fs::read_to_string(&path).unwrap();
    assert_eq!(renewed, format!("{}\n# a line of somebody\n", text.trim_end()));
    repo.write("a.c", clamp("2"));
    assert!(!commit(&repo, repo.path(), &["-a"]).err.contains("renew"));
}

#[test]
fn uninstalling_restores_every_byte_wherever_hooks_live() {
    for path in [None, Some("own"), Some("~/hooks"), Some("/ABSOLUTE")] {
        let repo = fixture(TempRepo::new());
        let folder = match path {
            None => repo.path().join(".git/hooks"),
            Some("own") => repo.path().join("own"),
            Some("~/hooks") => repo.home().join("hooks"),
            Some(_) => repo.root().join("absolute"),
        };
        if let Some(path) = path {
            let value = if path.starts_with('/') { folder.display().to_string() } else { path.to_owned() };
            repo.git(["config", "core.hooksPath", &value]);
        }
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(
            folder.join("pre-commit"),
            b"#!/usr/bin/env python3\nprint('\xff')  # no newline at the end",
        )
        .unwrap();
        std::fs::write(folder.join("commit-msg"), "#!/bin/sh\nexit 0\n").unwrap();
        make_executable(&folder.join("commit-msg"));
        std::fs::write(folder.join("dispatcher"), "#!/bin/sh\nexit 0\n").unwrap();
        make_executable(&folder.join("dispatcher"));
        std::os::unix::fs::symlink("dispatcher", folder.join("post-commit")).unwrap();
        std::os::unix::fs::symlink("/nowhere", folder.join("post-rewrite")).unwrap();
        let before = state(&folder);
        for _ in 0..2 {
            let run = Run::of(&mut program_in(&repo, &repo.path().join("sub"), &["hook", "install"]));
            assert_eq!(run.code, Some(0), "{}", run.err);
        }
        assert!(state(&folder).len() > before.len());
        repo.write("a.c", clamp(BUG));
        assert_eq!(commit(&repo, repo.path(), &["-a"]).code, Some(1), "{path:?}");
        let run = Run::of(&mut program_in(&repo, &repo.path().join("sub"), &["hook", "uninstall"]));
        assert_eq!(run.code, Some(0), "{}", run.err);
        let changed = differing(&before, &state(&folder));
        assert!(changed.is_empty(), "{path:?} {changed:?}");
    }
}

/// A folder of hooks that is not this repository's own is everybody's who uses it.
#[test]
fn a_folder_of_hooks_that_others_share_is_named() {
    let repo = fixture(TempRepo::new());
    let shared = repo.home().join("hooks");
    let install = |how: &[&str]| {
        repo.git([&["config"], how, &["core.hooksPath", "~/hooks"]].concat());
        let run = Run::of(&mut program_in(&repo, repo.path(), &["hook", "install"]));
        repo.git([&["config"], how, &["--unset", "core.hooksPath"]].concat());
        assert_eq!(run.code, Some(0), "{}", run.err);
        run.err
    };
    let said = install(&["--global"]);
    assert!(said.contains(&shared.display().to_string()) && said.contains("other repositories"), "{said}");
    assert_eq!(install(&["--local"]), "");
    // Files of the work tree are what others get with the next commit.
    let repo = fixture(TempRepo::new()).config("core.hooksPath", "own");
    let run = Run::of(&mut program_in(&repo, &repo.path().join("sub"), &["hook", "install"]));
    assert!(run.err.contains("part of the work tree"), "{}", run.err);
}

/// Where another manager runs a hook, its exit status is what git gets.
#[test]
fn hooks_that_only_tell_never_fail() {
    let repo = installed(TempRepo::new()).config("invdiff.nosuchkey", "1").file("a.c", clamp("1")).stage();
    repo.write("msg", "title\n");
    for words in [
        &["prepare-commit-msg", "msg"][..],
        &["commit-msg", "msg"],
        &["commit-msg", "nowhere/msg"],
        &["post-commit"],
        &["post-rewrite", "amend"],
    ] {
        let run = Run::of(&mut program_in(&repo, repo.path(), &[&["hook", "run"], words].concat()));
        assert_eq!(run.code, Some(0), "{words:?} {}", run.err);
        assert_eq!(run.err.lines().count(), 1, "{words:?} {}", run.err);
        assert!(run.err.starts_with("warning: ") && run.err.contains("going on without it"), "{}", run.err);
    }
    let run = Run::of(&mut program_in(&repo, repo.path(), &["hook", "run", "pre-commit"]));
    assert!(run.code == Some(128) && run.err.contains("nosuchkey"), "{}", run.err);
    assert_eq!(commit(&repo, repo.path(), &[]).code, Some(0));
}

#[test]
fn hooks_that_are_turned_off_stay_so() {
    let repo = fixture(TempRepo::new()).config("core.hooksPath", "/dev/null");
    let install = Run::of(&mut program_in(&repo, repo.path(), &["hook", "install"]));
    assert_eq!(install.code, Some(128));
    assert!(install.err.contains("core.hooksPath turns all hooks off"), "{}", install.err);
    for words in [&["hook", "status"][..], &["hook", "uninstall"], &["doctor"]] {
        let run = Run::of(&mut program_in(&repo, repo.path(), words));
        assert_eq!((run.code, run.err.as_str()), (Some(0), ""), "{words:?}");
        assert!(!run.out.contains("installed\n") || run.out.contains("not installed"), "{}", run.out);
    }
}

#[test]
fn doctor_knows_which_hooks_there_are() {
    let repo = installed(TempRepo::new());
    let doctor = || Run::of(&mut program_in(&repo, repo.path(), &["doctor"])).out;
    assert!(doctor().contains("post-rewrite, pre-push"), "{}", doctor());
    assert!(!doctor().contains("do not follow"), "{}", doctor());
    assert!(invdiff(&repo, &["hook", "uninstall", "post-rewrite"]).status.success());
    assert!(doctor().contains("do not follow amend and rebase"), "{}", doctor());
    repo.write("lefthook.yml", "pre-commit:\n  jobs:\n    - run: git invdiff hook run pre-commit\n");
    assert!(doctor().contains("do not follow amend and rebase"), "{}", doctor());
    repo.write("lefthook.yml", "post-rewrite:\n  jobs:\n    - run: git invdiff hook run post-rewrite {1}\n");
    assert!(!doctor().contains("do not follow"), "{}", doctor());
    repo.git(["config", "invdiff.hooks.pre-push", "off"]);
    assert!(!doctor().contains("pre-push"), "{}", doctor());
}

#[test]
fn what_cannot_be_chained_is_refused_as_a_whole() {
    let repo = fixture(TempRepo::new());
    let folder = repo.path().join(".git/hooks");
    let write = |name: &str| std::fs::write(folder.join(name), "#!/bin/sh\nexit 0\n").unwrap();
    let refused = |part: &str| {
        let before = state(&folder);
        let run = Run::of(&mut program_in(&repo, repo.path(), &["hook", "install"]));
        assert_eq!(run.code, Some(128));
        assert!(run.err.contains(part), "{}", run.err);
        assert!(differing(&before, &state(&folder)).is_empty());
    };
    // A link to another hook would run ours in the place of that one.
    write("commit-msg");
    std::os::unix::fs::symlink("commit-msg", folder.join("post-commit")).unwrap();
    refused("git invdiff hook run <name> \"$@\"");
    std::fs::remove_file(folder.join("post-commit")).unwrap();
    write("pre-push");
    write("pre-push.before-invdiff");
    refused("neither is ours");
}
