//! The command line from outside: exit codes, help, messages.

use clap::CommandFactory;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `git-invdiff <words>` in `folder` with nothing of the user's configuration.
fn invdiff(folder: &Path, words: &str) -> Output {
    command(folder, words).output().expect("the binary runs")
}

fn command(folder: &Path, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_git-invdiff"));
    let inherited: Vec<_> = std::env::vars_os().map(|(name, _)| name).collect();
    for name in inherited.iter().filter(|n| n.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    command
        .current_dir(folder)
        .env("HOME", folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CEILING_DIRECTORIES", folder)
        .args(words.split_whitespace());
    command
}

/// Checks exit code and a part of standard output and of standard error, outside a repository.
#[track_caller]
fn check(words: &str, code: i32, stdout: &str, stderr: &str) {
    let folder = invdiff_testing::scratch();
    let output = invdiff(folder.path(), words);
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{words}\n{out}\n{err}");
    assert!(out.contains(stdout) && (out.is_empty() || !stdout.is_empty()), "{words}: stdout\n{out}");
    assert!(err.contains(stderr) && (err.is_empty() || !stderr.is_empty()), "{words}: stderr\n{err}");
}

#[test]
fn help_works_outside_a_repository() {
    check("-h", 0, "Usage: git invdiff [<options>] [<range> | <rev>...]", "");
    check("diff -h", 0, "--exit-code", "");
    check("notes add -h", 0, "--force", "");
    check("check --help", 0, "git invdiff check origin/main...HEAD", "");
    check("condition --help", 0, "git invdiff condition --format residual-c", "");
    check("rank -h", 0, "Candidate fixes", "");
    check("--version", 0, concat!("git-invdiff ", env!("CARGO_PKG_VERSION")), "");
}

#[test]
fn usage_errors_exit_129() {
    check("--no-such-option", 129, "", "error: unexpected argument '--no-such-option'");
    check("diff --points nowhere", 129, "", "invalid value 'nowhere'");
    check("--format json --json HEAD", 129, "", "cannot be used with");
    check("-C", 129, "", "a value is required");
    check("hook", 129, "", "Usage");
    check("discover HEAD", 129, "", "error: no function is named");
}

#[test]
fn fatal_errors_exit_128() {
    check("-C no-such-folder HEAD", 128, "", "fatal: cannot change to 'no-such-folder'");
    check("-o no/such/folder/file HEAD", 128, "", "fatal: cannot write 'no/such/folder/file'");
}

#[test]
fn commands_that_need_a_repository_say_so() {
    check("cache info", 128, "", "fatal: not a git repository");
    check("HEAD~1..HEAD", 128, "", "hint: change into a repository");
    check("frobnicate", 128, "", "fatal: not a git repository");
    check("doctor", 1, "bad   repository  none here", "");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = invdiff_testing::scratch();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = command(folder.path(), "completions bash").stdout(writer).stderr(Stdio::piped()).output();
    let output = output.expect("the binary runs");
    assert_eq!(output.status.code(), Some(141));
    assert!(output.stderr.is_empty());
}

#[test]
fn results_go_to_a_file_only_if_the_command_succeeds() {
    let folder = invdiff_testing::scratch();
    for (words, written) in [("-o out diff", false), ("-o out completions zsh", true)] {
        let output = invdiff(folder.path(), words);
        assert_eq!(output.status.success(), written, "{words}");
        assert!(output.stdout.is_empty());
        assert_eq!(folder.path().join("out").exists(), written, "{words}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn names_are_explained() {
    check("explain", 0, "  congruence ", "");
    check("explain division", 0, "property/division\nA replayed input divides by zero", "");
    check("explain churn/changed", 0, "    +    return x + 2;", "");
    check("explain congruense", 129, "", "hint: did you mean 'congruence'?");
    check("explain nonsense-of-mine", 129, "", "hint: 'git invdiff explain' lists the names");
}

#[test]
fn a_bug_report_tells_versions_and_no_paths() {
    let (folder, repo) = demonstration();
    let set = Command::new("git")
        .args(["config", "invdiff.notesRef", "refs/notes/secret"])
        .current_dir(&repo)
        .status();
    assert!(set.expect("git runs").success());
    let text = String::from_utf8(invdiff(&repo, "bugreport").stdout).expect("UTF-8");
    for said in [
        "What did you expect?",
        concat!("git-invdiff ", env!("CARGO_PKG_VERSION")),
        "objects     sha1",
        "keys set    notesRef",
    ] {
        assert!(text.contains(said), "{said}\n{text}");
    }
    assert!(!text.contains("secret") && !text.contains(&folder.path().display().to_string()), "{text}");
    check("bugreport", 0, "repository  none (", "");
}

/// Each layer by itself, the nearest last; all of them are there at once.
#[test]
fn nearer_settings_win() {
    let (_folder, repo) = demonstration();
    let limit = |environment: &str, words: &str| -> serde_json::Value {
        let mut command = command(&repo, &format!("{words} HEAD~1..HEAD --json --no-cache"));
        if !environment.is_empty() {
            command.env("INVDIFF_RLIMIT", environment);
        }
        let output = command.output().expect("the binary runs");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&text);
        report["settings"]["rlimit"].clone()
    };
    assert_eq!(limit("", "diff"), 250_000);
    // Who names a function or a limit gets all of it.
    assert_eq!(limit("", "diff --function area"), 2_000_000);
    assert_eq!(limit("", "diff --rlimit 2000000"), 2_000_000);
    std::fs::write(repo.join("policy.yaml"), "analysis: {rlimit: 1111}\n").expect("written");
    let file = "diff --config policy.yaml";
    assert_eq!(limit("", file), 1111);
    let set = Command::new("git").args(["config", "invdiff.rlimit", "2222"]).current_dir(&repo).status();
    assert!(set.expect("git runs").success());
    assert_eq!(limit("", file), 2222);
    assert_eq!(limit("3333", file), 3333);
    assert_eq!(limit("3333", &format!("{file} --rlimit 4444")), 4444);
    let output = invdiff(&repo, "diff HEAD --rlimt 3");
    assert_eq!(output.status.code(), Some(129));
    std::fs::write(repo.join("policy.yaml"), "analysis: {rlimt: 1111}\n").expect("written");
    let output = invdiff(&repo, "diff HEAD --config policy.yaml");
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("unknown key 'rlimt'\nhint: did you mean 'rlimit'?"), "{text}");
}

#[test]
fn manual_pages_are_written() {
    let folder = invdiff_testing::scratch();
    let output = invdiff(folder.path(), "-q man pages");
    assert!(output.status.success() && output.stdout.is_empty());
    let commands = git_invdiff::cli::Cli::command();
    let pages = commands.get_subcommands().map(|command| format!("git-invdiff-{}.1", command.get_name()));
    for page in pages.chain(["git-invdiff.1".to_owned()]) {
        let text = std::fs::read_to_string(folder.path().join("pages").join(&page)).expect(&page);
        assert!(text.contains(".SH SYNOPSIS"), "{page}");
    }
}

/// Runs a script in a shell; `None`, and a word about it, without that shell.
fn in_shell(shell: &str, words: &[&str], script: &str) -> Option<String> {
    let Ok(output) = Command::new(shell).args(words).arg(script).output() else {
        eprintln!("skipped: no {shell}");
        return None;
    };
    assert!(output.status.success(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty(), "{shell}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).expect("UTF-8"))
}

/// What the shells make of the scripts: `git-invdiff` by itself, and as git's own completion asks for it.
#[test]
fn shells_complete_commands_and_options() {
    let folder = invdiff_testing::scratch();
    let script = |shell: &str| {
        let path = folder.path().join(shell);
        std::fs::write(&path, invdiff(folder.path(), &format!("completions {shell}")).stdout)
            .expect("written");
        path.display().to_string()
    };
    let bash = format!(
        "source '{}'
        words() {{ COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); }}
        own() {{ words \"$@\"; $(complete -p git-invdiff | sed 's/.*-F \\([^ ]*\\).*/\\1/') git-invdiff \"${{*: -1}}\"; }}
        own git-invdiff no; echo \"${{COMPREPLY[*]}}\"
        for idx in '' 1; do
            __git_cmd_idx=$idx
            words git invdiff no; _git_invdiff; echo \"${{COMPREPLY[*]}}\"
            words git invdiff notes s; _git_invdiff; echo \"${{COMPREPLY[*]}}\"
        done
        __git_cmd_idx=3
        words git -C x invdiff check --stag; _git_invdiff; echo \"${{COMPREPLY[*]}} ${{#COMP_WORDS[@]}}\"
        words git -C x iv explain; _git_invdiff; echo \"${{COMPREPLY[*]}}\"",
        script("bash")
    );
    let notes = "notes\nsetup show sync\n";
    let expected = format!("notes\n{notes}{notes}--staged 6\nexplain\n");
    assert_eq!(in_shell("bash", &["-c"], &bash), Some(expected));
    in_shell("zsh", &["-n"], &script("zsh"));
    let fish = format!("source '{}'; complete -C 'git-invdiff notes s'", script("fish"));
    if let Some(said) = in_shell("fish", &["--no-config", "-c"], &fish) {
        let names: Vec<&str> = said.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(names, ["setup", "show", "sync"]);
    }
}

/// A folder with the demonstration's history in `repo`.
fn demonstration() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = invdiff_testing::scratch();
    let output = invdiff(folder.path(), "demo --keep repo -o shown");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let repository = folder.path().join("repo");
    (folder, repository)
}

#[track_caller]
fn stdout(folder: &Path, words: &str, code: i32) -> String {
    let output = invdiff(folder, words);
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words}\n{err}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn the_demonstration_shows_the_main_job() {
    let (folder, repository) = demonstration();
    let shown = std::fs::read_to_string(folder.path().join("shown")).expect("the output");
    for part in [
        "$ git invdiff HEAD~2..HEAD",
        "commit 7de4286 areas are never negative",
        "@@ -7 +7 @@",
        "for example",
        "replayed",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    let again = invdiff(folder.path(), "demo --keep repo");
    assert_eq!(again.status.code(), Some(128), "a folder that is in use is left alone");
    assert!(repository.join("area.c").exists());
}

#[test]
fn a_range_in_every_format() {
    let (_folder, repository) = demonstration();
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&repository, "--json HEAD~2..HEAD", 0)).expect("JSON");
    assert_eq!(json["schema"], "invdiff/1");
    assert_eq!(json["versions"].as_array().map(Vec::len), Some(3));
    assert_eq!(json["complete"], true);
    let yaml: serde_json::Value =
        serde_yaml::from_str(&stdout(&repository, "--format yaml HEAD~2..HEAD", 0)).expect("YAML");
    assert_eq!(yaml["functions"], json["functions"]);
    let porcelain = stdout(&repository, "--porcelain HEAD~2..HEAD", 0);
    assert!(porcelain.starts_with("invdiff\tv1\n"), "{porcelain}");
    assert!(porcelain.lines().last().is_some_and(|l| l.starts_with("end\t")), "{porcelain}");
    let dot = stdout(&repository, "graph HEAD~2..HEAD --function area", 0);
    assert!(dot.starts_with("digraph invdiff {\n") && dot.contains("label=\"area.c: area()\";"), "{dot}");
    let usage = invdiff(&repository, "--format nosuch HEAD");
    assert_eq!(usage.status.code(), Some(129));
}

#[test]
fn graphviz_draws_what_it_is_given() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let (folder, repository) = demonstration();
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    let path = std::env::var_os("PATH").expect("a PATH");
    for tool in ["git", "cat", "sh"] {
        let found = std::env::split_paths(&path).map(|p| p.join(tool)).find(|p| p.exists()).expect(tool);
        symlink(found, bin.join(tool)).expect("a link");
    }
    let draw = |dot: &str, code: i32| {
        if !dot.is_empty() {
            std::fs::write(bin.join("dot"), dot).expect("a file");
            std::fs::set_permissions(bin.join("dot"), PermissionsExt::from_mode(0o755)).expect("executable");
        }
        let mut command = command(&repository, "graph HEAD~2..HEAD --format svg");
        let output = command.env("PATH", &bin).output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let absent = draw("", 128);
    assert!(
        absent.starts_with("fatal: cannot run 'dot'") && absent.contains("hint: install Graphviz"),
        "{absent}"
    );
    let graph = stdout(&repository, "graph HEAD~2..HEAD", 0);
    assert_eq!(draw("#!/bin/sh\necho \"<$*>\"; cat\n", 0), format!("<-Tsvg>\n{graph}"));
    assert_eq!(draw("#!/bin/sh\necho out of ink >&2; exit 1\n", 128), "fatal: dot failed: out of ink\n");
}

#[test]
fn ranges_filters_and_exit_codes() {
    let (_folder, repository) = demonstration();
    stdout(&repository, "HEAD~2..HEAD --exit-code", 1);
    assert!(stdout(&repository, "HEAD --exit-code", 0).starts_with("no change"));
    assert!(stdout(&repository, "--staged", 0).starts_with("no change"));
    assert!(!stdout(&repository, "HEAD~2..HEAD --only invariants", 0).contains("commit "));
    assert!(!stdout(&repository, "HEAD~2..HEAD --function area", 0).contains("main()"));
    assert!(stdout(&repository, "HEAD~2..HEAD -- nothing.c", 0).starts_with("no change"));
    assert!(stdout(&repository, "HEAD~2..HEAD --color=always", 0).contains("\x1b[31m- "));
    // A local is left out where the result tells the same, unless it is asked for.
    let local = "+ r == fabsf(0.5f * b * h)";
    assert!(!stdout(&repository, "HEAD~2..HEAD", 0).contains(local));
    assert!(stdout(&repository, "HEAD~2..HEAD --var r", 0).contains(local));
    assert!(stdout(&repository, "HEAD~2..HEAD --at area.c:9", 0).contains(local));
    let nowhere = invdiff(&repository, "HEAD~2..HEAD --at area.c:8");
    let said = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert!(said.starts_with("warning: no statement of a changed file begins at area.c:8"), "{said}");
    for (words, message) in [
        ("nope", "fatal: "),
        ("HEAD~7..HEAD", "fatal: "),
        ("HEAD --at area.c", "error: --at takes FILE:LINE"),
        ("HEAD --templates nope", "nope"),
    ] {
        let output = invdiff(&repository, words);
        assert!(matches!(output.status.code(), Some(128 | 129)), "{words}");
        assert!(String::from_utf8_lossy(&output.stderr).contains(message), "{words}");
    }
}

#[test]
fn output_depends_on_nothing_but_the_commits() {
    let (_folder, repository) = demonstration();
    let before = std::fs::read(repository.join(".git/index")).expect("the index");
    let plain = stdout(&repository, "HEAD~2..HEAD -j1 --no-cache", 0);
    assert_eq!(plain, stdout(&repository, "HEAD~2..HEAD -j2 --no-cache", 0));
    let below = repository.join("below");
    std::fs::create_dir(&below).expect("a folder");
    assert_eq!(plain, stdout(&below, "HEAD~2..HEAD", 0));
    assert_eq!(plain, stdout(&below, "-C .. HEAD~2..HEAD", 0));
    assert_eq!(plain, stdout(&below, "--git-dir ../.git HEAD~2..HEAD", 0));
    assert_eq!(before, std::fs::read(repository.join(".git/index")).expect("the index"));
}

/// What depends on the run and not on what was analysed.
fn without_cost(json: &str) -> serde_json::Value {
    let mut report: serde_json::Value = serde_json::from_str(json).expect("JSON");
    report["cost"].take();
    report
}

#[test]
fn the_cache_changes_nothing_but_the_cost() {
    let (_folder, repository) = demonstration();
    let cached = |json: &str| {
        let report: serde_json::Value = serde_json::from_str(json).expect("JSON");
        report["cost"]["nodes_visited"] == 0
    };
    stdout(&repository, "cache clear", 0);
    let fresh = stdout(&repository, "HEAD~2..HEAD --json --no-cache", 0);
    let first = stdout(&repository, "HEAD~2..HEAD --json", 0);
    let second = stdout(&repository, "HEAD~2..HEAD --json -j1", 0);
    assert_eq!([&fresh, &first, &second].map(|json| cached(json)), [false, false, true]);
    assert_eq!(without_cost(&fresh), without_cost(&first));
    assert_eq!(without_cost(&fresh), without_cost(&second));
    let text = stdout(&repository, "HEAD~2..HEAD --no-cache", 0);
    assert_eq!(text, stdout(&repository, "HEAD~2..HEAD", 0));
    assert_eq!(text, stdout(&repository, "HEAD~2..HEAD", 0));
    // Other settings are another report.
    assert!(!cached(&stdout(&repository, "HEAD~2..HEAD --json --all", 0)));
    // A damaged entry is no entry; a cache that cannot be is none.
    let folder = repository.join(".git/invdiff/cache");
    damage(&folder);
    let third = stdout(&repository, "HEAD~2..HEAD --json", 0);
    assert!(!cached(&third));
    assert_eq!(without_cost(&fresh), without_cost(&third));
    std::fs::remove_dir_all(&folder).expect("the cache goes");
    std::fs::write(&folder, "in the way").expect("a file");
    assert_eq!(without_cost(&fresh), without_cost(&stdout(&repository, "HEAD~2..HEAD --json", 0)));
}

/// Overwrites every file below a folder.
fn damage(folder: &Path) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        if entry.path().is_dir() {
            damage(&entry.path());
        } else {
            std::fs::write(entry.path(), "damaged").expect("a file");
        }
    }
}
