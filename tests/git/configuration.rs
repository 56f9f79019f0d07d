//! Settings: which layer wins, how values are read, what is refused. The oracle for values is `git config`.

use super::state::{Run, divide, program_in};
use super::*;

fn two() -> TempRepo {
    TempRepo::new().file("a.c", divide("f", 2)).commit("one").file("a.c", divide("f", 4)).commit("two")
}

/// The solver's limit that a run reports.
fn rlimit(repo: &TempRepo, before: &[&str], env: &[(&str, &str)]) -> String {
    let mut command = program_in(repo, repo.path(), &[&["--json", "HEAD~1..HEAD"], before].concat());
    command.envs(env.iter().copied());
    let run = Run::of(&mut command);
    match serde_json::from_str::<serde_json::Value>(&run.out) {
        Ok(value) => value["settings"]["rlimit"].to_string(),
        Err(_) => run.err,
    }
}

#[test]
fn nearer_layers_win() {
    let repo = two();
    assert_eq!(rlimit(&repo, &[], &[]), "250000");
    let repo = repo.file(".invdiff.yaml", "analysis: {rlimit: 1001}\n").commit("file");
    assert_eq!(rlimit(&repo, &[], &[]), "1001");
    std::fs::write(repo.root().join("other.yaml"), "analysis: {rlimit: 1002}\n").unwrap();
    let other = repo.root().join("other.yaml").display().to_string();
    assert_eq!(rlimit(&repo, &["--config", &other], &[]), "1002");
    assert_eq!(rlimit(&repo, &[], &[("INVDIFF_CONFIG", &other)]), "1002");
    repo.git(["config", "--global", "invdiff.rlimit", "1003"]);
    assert_eq!(rlimit(&repo, &["--config", &other], &[]), "1003");
    repo.git(["config", "invdiff.RLimit", "1004"]);
    assert_eq!(rlimit(&repo, &[], &[]), "1004");
    let count =
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "invdiff.rlimit"), ("GIT_CONFIG_VALUE_0", "1k")];
    assert_eq!(rlimit(&repo, &[], &count), "1024");
    let parameters = [("GIT_CONFIG_PARAMETERS", "'invdiff.rlimit'='1006'")];
    assert_eq!(rlimit(&repo, &[], &parameters), "1006");
    assert_eq!(rlimit(&repo, &[], &[("INVDIFF_RLIMIT", "1007"), parameters[0]]), "1007");
    assert_eq!(rlimit(&repo, &["--rlimit", "1008"], &[("INVDIFF_RLIMIT", "1007")]), "1008");
}

#[test]
fn included_files_and_worktrees_count_as_in_git() {
    let repo = two();
    std::fs::write(repo.root().join("more"), "[invdiff]\n\trlimit = 2k\n").unwrap();
    let condition = format!("includeIf.gitdir:{}/.path", repo.path().display());
    repo.git(["config", "--global", &condition, &repo.root().join("more").display().to_string()]);
    assert_eq!(rlimit(&repo, &[], &[]), "2048");
    let linked = repo.linked_worktree("linked", "HEAD");
    repo.git(["config", "extensions.worktreeConfig", "true"]);
    let set = repo
        .command_of("git")
        .current_dir(&linked)
        .args(["config", "--worktree", "invdiff.rlimit", "77"])
        .status();
    assert!(set.unwrap().success());
    let run = Run::of(&mut program_in(&repo, &linked, &["--json", "HEAD~1..HEAD"]));
    assert!(run.out.contains("\"rlimit\": 77"), "{}", run.err);
    assert_eq!(rlimit(&repo, &[], &[]), "2048");
}

/// Writes lines into the repository's configuration as they are.
fn raw(repo: &TempRepo, lines: &str) {
    let path = repo.path().join(".git/config");
    let text = std::fs::read_to_string(&path).unwrap();
    let kept = text.split("[invdiff]").next().unwrap().to_owned();
    std::fs::write(path, format!("{kept}[invdiff]\n{lines}\n")).unwrap();
}

#[test]
fn values_are_typed_as_git_types_them() {
    let repo = two();
    for value in [
        "1",
        "10k",
        "2M",
        "1g",
        "0x10",
        "010",
        " 7 ",
        "1 k",
        "k",
        "",
        "-1",
        "1.5",
        "9999999999999999999",
        "+5",
    ] {
        raw(&repo, &format!("\trlimit = \"{value}\""));
        let git = repo.git_output(["config", "--type=int", "invdiff.rlimit"]);
        let ours = rlimit(&repo, &[], &[]);
        let expected = stdout(&git).trim().to_owned();
        if git.status.success() && !expected.starts_with('-') {
            assert_eq!(ours, expected, "{value:?}");
        } else {
            assert!(ours.starts_with("fatal: ") && ours.contains("invdiff.rlimit"), "{value:?} {ours}");
            assert!(ours.contains(".git/config"), "{value:?} {ours}");
        }
    }
    for line in [
        "", "= true", "= yes", "= ON", "= 1", "= -1", "= 2k", "= false", "= no", "= Off", "= 0", "=",
        "= maybe", "= t",
    ] {
        raw(&repo, &format!("\tstrict {line}"));
        let git = repo.git_output(["config", "--type=bool", "invdiff.strict"]);
        let run = Run::of(&mut program_in(&repo, repo.path(), &["HEAD~1..HEAD"]));
        let code = if git.status.success() { 0 } else { 128 };
        assert_eq!(run.code, Some(code), "{line:?} {}", run.err);
        assert_eq!(run.err.contains("invdiff.strict"), code == 128, "{line:?} {}", run.err);
    }
    // A path may begin with the home folder, and what else is there stays.
    raw(&repo, "\tcacheDir = ~/our-cache");
    assert_eq!(invdiff(&repo, &["HEAD~1..HEAD"]).status.code(), Some(0));
    assert!(repo.home().join("our-cache/v1").is_dir() && !repo.path().join("~").exists());
    std::fs::write(repo.home().join("our-cache/theirs"), "").unwrap();
    let info = Run::of(&mut program_in(&repo, repo.path(), &["cache", "info"]));
    assert!(
        info.out.contains(&repo.home().join("our-cache").display().to_string()),
        "{}{}",
        info.out,
        info.err
    );
    assert_eq!(invdiff(&repo, &["cache", "clear"]).status.code(), Some(0));
    assert!(repo.home().join("our-cache/theirs").exists() && !repo.home().join("our-cache/v1").exists());
}

#[test]
fn what_is_wrong_is_named_with_its_place_and_the_nearest_key() {
    let repo = two();
    let refused = |lines: &str, parts: &[&str]| {
        raw(&repo, lines);
        for words in [&["HEAD~1..HEAD"][..], &["check"], &["hook", "status"], &["notes", "list"]] {
            let run = Run::of(&mut program_in(&repo, repo.path(), words));
            assert_eq!(run.code, Some(128), "{lines} {words:?} {}", run.err);
            for part in parts {
                assert!(run.err.contains(part), "{lines} {words:?} {}", run.err);
            }
        }
    };
    refused(
        "\trlimitt = 3",
        &["fatal: ", ".git/config", "unknown key 'invdiff.rlimitt'", "did you mean 'rlimit'?"],
    );
    // What is there to find out what is wrong works, and says so.
    let doctor = stdout(&invdiff(&repo, &["doctor"]));
    assert!(doctor.contains("unknown key 'invdiff.rlimitt'"), "{doctor}");
    assert_eq!(invdiff(&repo, &["cache", "info"]).status.code(), Some(0));
    refused("\tmaxTrailers = many", &["invdiff.maxTrailers", "many", ".git/config"]);
    refused("\tblock = assertions", &["assertions"]);
    raw(&repo, "");
    let file = |text: &str, parts: &[&str]| {
        std::fs::write(repo.root().join("c.yaml"), text).unwrap();
        let path = repo.root().join("c.yaml").display().to_string();
        let run = Run::of(&mut program_in(&repo, repo.path(), &["--config", &path, "HEAD~1..HEAD"]));
        assert_eq!(run.code, Some(128), "{text} {}", run.err);
        for part in parts {
            assert!(run.err.contains(part), "{text} {}", run.err);
        }
    };
    file("analysis: {rlimits: 3}\n", &["c.yaml", "rlimits", "rlimit"]);
    file("gate: {blok: []}\n", &["c.yaml", "blok", "block"]);
    file("analysis: {rlimit: many}\n", &["c.yaml", "rlimit"]);
    file("a: [\n", &["c.yaml"]);
    let run = Run::of(program_in(&repo, repo.path(), &["HEAD~1..HEAD"]).env("INVDIFF_RLIMIT", "many"));
    assert_eq!(run.code, Some(128));
    assert!(run.err.contains("INVDIFF_RLIMIT") && run.err.contains("many"), "{}", run.err);
    let run = Run::of(&mut program_in(&repo, repo.path(), &["--rlimit", "many", "HEAD~1..HEAD"]));
    assert_eq!(run.code, Some(129));
    let run = Run::of(&mut program_in(&repo, repo.path(), &["--rlimits", "3"]));
    assert_eq!(run.code, Some(129));
    assert!(run.err.contains("--rlimit"), "{}", run.err);
}

#[test]
fn lists_add_up_and_an_empty_value_starts_anew() {
    let repo = two()
        .file("x/b.c", divide("g", 2))
        .commit("b")
        .file("x/b.c", divide("g", 4))
        .file("a.c", divide("f", 8));
    let repo = repo.commit("both");
    let names = |repo: &TempRepo| {
        let out = stdout(&invdiff(repo, &["--porcelain", "HEAD~1..HEAD"]));
        out.lines()
            .filter(|l| l.starts_with("function\t"))
            .map(|l| l.rsplit('\t').next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&repo), ["a.c", "x/b.c"]);
    repo.git(["config", "--global", "invdiff.exclude", "x"]);
    assert_eq!(names(&repo), ["a.c"]);
    repo.git(["config", "--add", "invdiff.exclude", "a.c"]);
    assert_eq!(names(&repo), [""; 0]);
    raw(&repo, "\texclude =\n\texclude = a.c");
    assert_eq!(names(&repo), ["x/b.c"]);
}

/// What the services of a shared cache do is in `tests/remote`, which is built with them.
#[test]
fn a_shared_cache_that_this_program_cannot_ask_is_told_once() {
    let repo = two().config("invdiff.cache.remote", "redis://me:hunter2@127.0.0.1:1/0");
    let repo = repo.config("invdiff.cache.key", "hunter3, the key of the whole team");
    let alone = Run::of(&mut program_in(&repo, repo.path(), &["cache", "info"]));
    let run = Run::of(&mut program_in(&repo, repo.path(), &["HEAD~1..HEAD"]));
    assert_eq!(run.code, Some(0), "{}", run.err);
    if !git_invdiff::remote::HAS_SERVICES {
        let told = "invdiff.cache.remote is set, but this program was built without shared caches; in its sources: \
                    cargo install --locked --path . --features remote-cache";
        assert_eq!(run.err, format!("warning: {told}\n"));
        assert!(alone.out.ends_with(&format!("\nshared: {told}\n")), "{}", alone.out);
    }
    // A hook would say so at every commit.
    let hook = Run::of(&mut program_in(&repo, repo.path(), &["hook", "run", "pre-commit"]));
    assert!(hook.code == Some(0) && !hook.err.contains("built without"), "{}", hook.err);
    for words in [&["bugreport"][..], &["doctor"], &["cache", "info"], &["-vv", "HEAD~1..HEAD"]] {
        let run = Run::of(&mut program_in(&repo, repo.path(), words));
        assert!(
            !run.out.contains("hunter") && !run.err.contains("hunter"),
            "{words:?} {} {}",
            run.out,
            run.err
        );
    }
    // Nothing is set, nothing is said.
    let repo = repo.config("invdiff.cache.remote", "");
    let run = Run::of(&mut program_in(&repo, repo.path(), &["HEAD~1..HEAD"]));
    assert!(!run.err.contains("cache"), "{}", run.err);
}

#[test]
fn the_projects_file_cannot_name_a_shared_cache() {
    for text in ["cache: {remote: 'file:///x'}", "cache.trust: true", "invdiff.cache.key: x"] {
        let repo = two().file(".invdiff.yaml", format!("{text}\n")).commit("three");
        let run = Run::of(&mut program_in(&repo, repo.path(), &["HEAD~1..HEAD"]));
        assert_eq!(run.code, Some(128), "{text}");
        assert!(
            run.err.contains("unknown key") && run.err.contains("git config invdiff.cache.remote"),
            "{}",
            run.err
        );
    }
}
