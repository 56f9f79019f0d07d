//! Manners of a git command: colour, stability for scripts, short ids, signals.

use super::state::{Run, program_in, three, three_and_edits};
use super::watched::{Stop, WatchedGit, When, Whom};
use super::*;
use crate::support::tier::rounds;
use std::process::Stdio;

const ESCAPE: char = '\u{1b}';

#[test]
fn colour_is_asked_for_as_in_git() {
    let repo = three(TempRepo::new());
    let coloured = |words: &[&str], config: &[(&str, &str)], env: &[(&str, &str)]| {
        let mut command = program_in(&repo, repo.path(), words);
        command.env("GIT_CONFIG_COUNT", config.len().to_string()).envs(env.iter().copied());
        for (n, (key, value)) in config.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{n}"), key).env(format!("GIT_CONFIG_VALUE_{n}"), value);
        }
        let run = Run::of(command.arg("HEAD~1..HEAD"));
        assert_eq!(run.code, Some(0), "{}", run.err);
        run.out.contains(ESCAPE)
    };
    let pager = [("GIT_PAGER_IN_USE", "true"), ("TERM", "xterm")];
    assert!(!coloured(&[], &[], &[]), "no terminal");
    assert!(coloured(&["--color"], &[], &[]) && coloured(&["--color=always"], &[], &[]));
    assert!(
        !coloured(&["--color", "--no-color"], &[], &[]) && coloured(&["--no-color", "--color"], &[], &[])
    );
    assert!(coloured(&[], &[("color.ui", "always")], &[]));
    assert!(!coloured(&[], &[("color.ui", "always"), ("color.invdiff", "never")], &[]));
    assert!(coloured(&[], &[("color.ui", "never"), ("color.invdiff", "always")], &[]));
    assert!(!coloured(&["--color=never"], &[("color.invdiff", "always")], &[]));
    assert!(coloured(&[], &[], &pager), "git has started the pager");
    assert!(!coloured(&[], &[("color.ui", "false")], &pager));
    assert!(!coloured(&[], &[], &[pager[0], pager[1], ("NO_COLOR", "1")]));
    assert!(!coloured(&[], &[], &[pager[0], ("TERM", "dumb")]));
    assert!(coloured(&["--color"], &[], &[("NO_COLOR", "1"), ("TERM", "dumb")]));
    for words in [&["--json"][..], &["--porcelain"]] {
        assert!(!coloured(&[words, &["--color"]].concat(), &[("color.ui", "always")], &pager), "{words:?}");
    }
}

#[test]
fn output_for_scripts_depends_on_no_setting() {
    let repo = three_and_edits(TempRepo::new())
        .file("\u{fc}.c", "int u(void)\n{\n    return 1;\n}\n")
        .run(["add", "-A"]);
    let settings = [
        ("color.ui", "always"),
        ("core.quotePath", "false"),
        ("core.abbrev", "5"),
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("diff.algorithm", "patience"),
        ("diff.external", "false"),
        ("log.date", "relative"),
        ("i18n.logOutputEncoding", "latin1"),
        ("core.pager", "false"),
        ("status.showUntrackedFiles", "no"),
        ("diff.ignoreSubmodules", "all"),
    ];
    for words in [&["--porcelain", "HEAD~2..HEAD"][..], &["--porcelain", "--staged"], &["--porcelain", "-z"]]
    {
        let plain = program_in(&repo, repo.path(), words).output().unwrap();
        assert_eq!(plain.status.code(), Some(0));
        let mut command = program_in(&repo, &repo.path().join("src"), words);
        command
            .env("LC_ALL", "de_DE.UTF-8")
            .env("TZ", "Asia/Tokyo")
            .env("COLUMNS", "20")
            .env("GIT_EXTERNAL_DIFF", "false");
        command.env("GIT_CONFIG_COUNT", settings.len().to_string());
        for (n, (key, value)) in settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{n}"), key).env(format!("GIT_CONFIG_VALUE_{n}"), value);
        }
        let other = command.arg("-j1").output().unwrap();
        assert_eq!(stdout(&plain), stdout(&other), "{words:?} {}", stderr(&other));
        assert!(stderr(&other).is_empty(), "{}", stderr(&other));
    }
}

#[test]
fn ids_are_short_for_people_and_whole_for_programs() {
    let repo = three(TempRepo::new());
    for abbrev in ["4", "12", "40"] {
        let repo = &repo;
        repo.git(["config", "core.abbrev", abbrev]);
        let short = repo.git(["rev-parse", "--short", "HEAD"]);
        let text = stdout(&invdiff(repo, &["HEAD~1..HEAD"]));
        assert!(text.contains(&format!("commit {short} three\n")), "{abbrev} {text}");
        assert!(stdout(&invdiff(repo, &["--porcelain", "HEAD~1..HEAD"])).contains(&repo.id("HEAD")));
        assert!(stdout(&invdiff(repo, &["--json", "HEAD~1..HEAD"])).contains(&repo.id("HEAD")));
    }
}

#[test]
fn an_interrupted_run_says_what_it_has_written() {
    let repo = three(TempRepo::new());
    let commits = rounds("INVDIFF_INTERRUPTED", 200, 1000);
    let range = format!("main~{commits}..main");
    let mut stream = String::new();
    for n in 0..commits {
        let from = if n == 0 { "from refs/heads/main^0\n" } else { "" };
        stream += &format!("commit refs/heads/main\ncommitter A <a@b> {n} +0000\ndata 1\nx{from}\n");
    }
    repo.write(".git/stream", stream);
    let file = std::fs::File::open(repo.path().join(".git/stream")).unwrap();
    assert!(repo.command_of("git").args(["fast-import", "--quiet"]).stdin(file).status().unwrap().success());
    let mut interrupted = Vec::new();
    let notes = || stdout(&repo.git_output(["notes", "--ref", "invdiff", "list"])).lines().count();
    // What runs in the background of a shell ignores the interrupt, and so do its children.
    let is_ignored = || -> Option<bool> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let mask = status.lines().find_map(|l| l.strip_prefix("SigIgn:"))?;
        Some(u64::from_str_radix(mask.trim(), 16).ok()? & 2 != 0)
    };
    let (signal, number) = match is_ignored() {
        Some(true) => (rustix::process::Signal::TERM, 15),
        _ => (rustix::process::Signal::INT, 2),
    };
    let watched = WatchedGit::beside(&repo);
    let run = |stop: Option<Stop>| {
        let mut command = program_in(&repo, repo.path(), &["notes", "add", &range, "-o", "result"]);
        watched.watch(&mut command, stop);
        let output = command.stdout(Stdio::null()).output().unwrap();
        let left = (notes(), repo.path().join("result").exists());
        let _ = std::fs::remove_file(repo.path().join("result"));
        repo.git(["update-ref", "-d", "refs/notes/invdiff"]);
        assert_eq!(repo.git(["status", "--porcelain"]), "");
        (output, left)
    };
    let (whole, (all, has_result)) = run(None);
    assert!(whole.status.success() && has_result, "{}", stderr(&whole));
    let calls = watched.called().len();
    let few = rounds("INVDIFF_KILLS", 3, 40);
    for call in (1..=calls).rev().step_by(calls.div_ceil(few)) {
        let when = if call % 2 == 0 { When::Before } else { When::After };
        let (output, left) = run(Some(Stop { call, when, whom: Whom::Caller, signal }));
        let (status, said) = (output.status, stderr(&output));
        // The signal may come when all is written and the process is about to end.
        if status.success() {
            continue;
        }
        use std::os::unix::process::ExitStatusExt;
        // Before the run listens for signals it ends by them.
        let is_early = status.signal() == Some(number) && left.0 == 0;
        let number_of = |n: usize| if n == 1000 { "1,000".to_owned() } else { n.to_string() };
        let line = format!("stopped: {} of {} commits have a note", number_of(left.0), number_of(commits));
        let is_told = status.code() == Some(128 + number) && said.contains(&line);
        assert!(is_early || is_told, "{status:?} {left:?} {said}");
        interrupted.push(left);
    }
    // A file of results is there as a whole or not at all.
    let is_whole = |(notes, has_result): &(usize, bool)| *notes == all || !has_result;
    assert!(interrupted.iter().all(is_whole), "{interrupted:?} of {all}");
    assert!(!interrupted.is_empty(), "never interrupted in time");
}

/// Runs a shell line on a terminal; `None` where `script` is not there to make one.
fn on_a_terminal(repo: &TempRepo, line: &str, env: &[(&str, &str)]) -> Option<String> {
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_git-invdiff")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    let mut command = repo.command_of("script");
    command.env("PATH", path).env_remove("GIT_PAGER").env("TERM", "xterm").envs(env.iter().copied());
    let output = command.args(["-qec", line, "/dev/null"]).output();
    match output {
        Ok(output) if output.status.success() => Some(stdout(&output)),
        _ => {
            println!("skipped: no 'script' that makes a terminal");
            None
        }
    }
}

#[test]
fn the_pager_is_the_one_of_git() {
    let repo = three(TempRepo::new()).config("core.pager", "sed s/^/PAGED/");
    let paged = |line: &str, env: &[(&str, &str)]| {
        on_a_terminal(&repo, line, env).map(|text| (text.contains("PAGED"), text.contains(ESCAPE)))
    };
    let Some(plain) = paged("git invdiff HEAD~1..HEAD", &[]) else { return };
    assert_eq!(plain, (true, true), "a terminal has a pager and colours");
    assert_eq!(paged("git --no-pager invdiff HEAD~1..HEAD", &[]), Some((false, true)));
    assert_eq!(paged("git invdiff --no-pager HEAD~1..HEAD", &[]), Some((false, true)));
    assert_eq!(paged("git -c pager.invdiff=false invdiff HEAD~1..HEAD", &[]), Some((false, true)));
    assert_eq!(paged("git invdiff HEAD~1..HEAD", &[("GIT_PAGER", "cat")]), Some((false, true)));
    assert_eq!(paged("git invdiff HEAD~1..HEAD", &[("NO_COLOR", "1")]), Some((true, false)));
    // Git starts the pager itself then, and ours would be a second one.
    let text =
        on_a_terminal(&repo, "git -c pager.invdiff=true invdiff HEAD~1..HEAD", &[]).unwrap_or_default();
    assert!(text.contains("PAGED") && !text.contains("PAGEDPAGED"), "{text}");
    assert_eq!(paged("git invdiff notes add", &[]), Some((false, false)));
    let progress = on_a_terminal(&repo, "git invdiff -q --no-cache HEAD~1..HEAD", &[]).unwrap_or_default();
    assert!(!progress.contains("comparing versions"), "{progress}");
}

#[test]
fn git_shows_the_manual_page() {
    let repo = three(TempRepo::new());
    let pages = repo.root().join("man/man1");
    std::fs::create_dir_all(&pages).unwrap();
    let made = invdiff(&repo, &["man", &pages.display().to_string()]);
    assert_eq!(made.status.code(), Some(0), "{}", stderr(&made));
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_git-invdiff")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap_or_default());
    for words in [&["invdiff", "--help"][..], &["help", "invdiff"], &["help", "git-invdiff-check"]] {
        let mut command = repo.command_of("git");
        command.env("PATH", &path).env("MANPATH", repo.root().join("man")).env("MANPAGER", "cat").args(words);
        let output = command.output().unwrap();
        if stdout(&output).contains("minimized") || stderr(&output).contains("failed to exec 'man'") {
            println!("skipped: this machine has no manual pages");
            return;
        }
        assert!(stdout(&output).to_uppercase().contains("GIT-INVDIFF"), "{words:?} {}", stderr(&output));
    }
}
