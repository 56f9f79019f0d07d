//! Notes, trailers and hooks on real temporary repositories, with the git of the machine as the oracle.
//!
//! The analysis is played by [`stand_in`]: what it "finds" is the text of `a.c`, so a test sees which
//! version of which file a hook has looked at. Hooks are run by git itself; the `git-invdiff` on their PATH
//! is this test binary again ([`stand_in_binary`]).

#[path = "../support/mod.rs"]
mod support;

mod bad_input;
mod checklist;
mod configuration;
mod contents;
mod hook_matrix;
mod hooks;
mod long_ranges;
mod managers;
mod manners;
mod notes;
mod notes_matrix;
mod push;
mod random;
mod ranges;
mod readonly;
mod repositories;
mod rewrites;
mod state;
mod trailer_property;
mod trailers;
mod watched;

use std::ffi::OsString;
use std::process::{Command, Output};
use std::sync::Arc;

use git_invdiff::gate::hooks::{Hook, HookOutcome, HookSettings};
use git_invdiff::gate::policy::Policy;
use git_invdiff::gate::{Analyse, ComparedTree, Failure, PolicyOf};
use git_invdiff::report::*;
use git_invdiff::store::Git;
use git_invdiff::store::notes::NotesRef;
use support::TempRepo;

/// Git in a temporary repository, away from the machine's configuration.
fn git_of(repo: &TempRepo) -> Git {
    repo.environment().into_iter().fold(Git::at(repo.path()), |git, (name, value)| git.with_env(name, value))
}

/// The analysis of properties alone: as [`stand_in`], never slow, and not counted.
fn check_stand_in(git: Git) -> Analyse {
    answer(git, "INVDIFF_TEST_GATE_LOG", false)
}

/// An analysis whose only function is `f` in `a.c`, whose only fact is the text of that file. The text
/// `BUG` is a refuted assertion, `SLOW` takes longer than anybody waits if facts are asked
/// for, `STUCK` in any case, `CRASH` panics.
fn stand_in(git: Git) -> Analyse {
    answer(git, "INVDIFF_TEST_NOTE_LOG", true)
}

/// A first look: as [`stand_in`].
fn glance_stand_in(git: Git) -> Analyse {
    answer(git, "INVDIFF_TEST_LOG", true)
}

/// `log`: the variable that names the file in which each analysis is noted.
fn answer(git: Git, log: &'static str, facts: bool) -> Analyse {
    Arc::new(move |old, new| {
        let read = |side: &ComparedTree| -> Result<String, Failure> {
            let name = match side {
                ComparedTree::Nothing => return Ok(String::new()),
                ComparedTree::Commit(id) => format!("{id}:a.c"),
                ComparedTree::Index => ":a.c".to_string(),
            };
            let output = git.output(&["show", &name], b"").map_err(|e| Failure(e.to_string()))?;
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
        };
        let (old, new) = (read(old)?, read(new)?);
        if let Some(log) = std::env::var_os(log) {
            let mut file = std::fs::File::options().create(true).append(true).open(log).unwrap();
            std::io::Write::write_all(&mut file, format!("{old} -> {new}\n").as_bytes()).unwrap();
        }
        match new.as_str() {
            "SLOW" if facts => never(),
            "STUCK" => never(),
            "CRASH" => panic!("the stand-in was told to"),
            "FAIL" => return Err(Failure("told to fail".into())),
            _ => {}
        }
        let fact = |text: &str| Fact { text: format!("text == {text}"), ..Fact::default() };
        let churn = Churn {
            from: 1,
            to: 2,
            removed: vec![fact(&old)],
            added: vec![fact(&new)],
            observable: true,
            ..Churn::default()
        };
        let point = Point { churns: vec![churn], version_invariants: vec![fact("kept")], ..Point::default() };
        let function = FunctionReport {
            file: "a.c".into(),
            name: "f".into(),
            points: vec![point],
            ..Default::default()
        };
        let broken = Assertion {
            file: "a.c".into(),
            function: "f".into(),
            text: "no bug".into(),
            lines: [(2, 1)].into(),
            violation: Some(Violation::Regression),
            counterexample: Some(Witness::default()),
            ..Assertion::default()
        };
        let version = |index| VersionInfo { index, ..VersionInfo::default() };
        Ok(Report {
            versions: vec![version(1), version(2)],
            functions: if old == new { vec![] } else { vec![function] },
            assertions: if new == "BUG" && old != "BUG" { vec![broken] } else { vec![] },
            ..Report::default()
        })
    })
}

/// Does not come to an end.
fn never() -> ! {
    loop {
        std::thread::park();
    }
}

/// The time limit is that of the repository, or 5 s. What never ends is waited for as long.
fn settings(git: &Git) -> HookSettings {
    let limit = git.output(&["config", "invdiff.timeoutSeconds"], b"").unwrap().stdout;
    let limit = String::from_utf8_lossy(&limit).trim().parse().unwrap_or(5);
    HookSettings {
        policy: Policy::default(),
        policy_changes: Vec::new(),
        off: Default::default(),
        timeout: Some(std::time::Duration::from_secs(limit)),
        max_trailers: 5,
        note_limit: 1 << 20,
        notes_ref: NotesRef::default(),
    }
}

/// Not a test of its own: run by the `git-invdiff` of [`with_hooks`], it is `git invdiff hook run ...` with
/// the stand-in as its analysis.
#[test]
fn stand_in_binary() {
    let Ok(words) = std::env::var("INVDIFF_TEST_WORDS") else { return };
    let words: Vec<OsString> = words.lines().map(OsString::from).collect();
    assert_eq!(words[..2], ["hook", "run"]);
    let mut stdin = Vec::new();
    if matches!(words[2].to_str(), Some("post-rewrite" | "pre-push")) {
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut stdin).unwrap();
    }
    let git = Git::here();
    let (settings, mut stderr) = (settings(&git), std::io::stderr());
    let (analyse, check) = (stand_in(git.clone()), check_stand_in(git.clone()));
    let policy: PolicyOf = Arc::new(|_, _| Ok(Policy::default()));
    let (glance, gate) = (glance_stand_in(git.clone()), check.clone());
    let mut hook =
        Hook { git: &git, settings: &settings, glance, gate, analyse, check, policy, stderr: &mut stderr };
    let name = words[2].to_str().unwrap();
    let outcome = git_invdiff::gate::hooks::run(name, &words[3..], &stdin, &mut hook);
    std::process::exit(if outcome == HookOutcome::Stop { 1 } else { 0 });
}

/// Installs all hooks with the real binary, and a `git-invdiff` that is [`stand_in_binary`].
fn with_hooks(repo: TempRepo) -> TempRepo {
    let folder = repo.root().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let script = format!(
        "#!/bin/sh\nINVDIFF_TEST_WORDS=$(printf '%s\\n' \"$@\")\nexport INVDIFF_TEST_WORDS\n\
         exec '{}' --exact stand_in_binary --nocapture -q\n",
        std::env::current_exe().unwrap().display()
    );
    let path = folder.join("git-invdiff");
    std::fs::write(&path, script).unwrap();
    make_executable(&path);
    assert!(invdiff(&repo, &["hook", "install"]).status.success());
    repo
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// A command in the repository that finds the stand-in as `git invdiff`.
fn command(repo: &TempRepo, program: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = repo.command_of(program);
    command.env("PATH", format!("{}:{path}", repo.root().join("bin").display()));
    command
}

/// Runs git, with hooks, whatever comes of it.
fn git(repo: &TempRepo, args: &[&str]) -> Output {
    command(repo, "git").args(args).output().unwrap()
}

/// Runs the real binary in the repository.
fn invdiff(repo: &TempRepo, args: &[&str]) -> Output {
    repo.command_of(env!("CARGO_BIN_EXE_git-invdiff")).args(args).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}
