//! `git invdiff discover --run`: programs that are built and run in a copy, and what goes wrong there.

use crate::support::TempRepo;
use crate::support::tier::{has_compiler, skipped};
use std::path::Path;

const CLAMP: &str = "\
static int calls;
int clamp(int x, int lo, int hi);
void reset(void);
static int least(int a, int b)
{
    return a < b ? a : b;
}
int clamp(int x, int lo, int hi)
{
    calls++;
    if (x < lo)
        return lo;
    return least(x, hi);
}
void reset(void) { calls = 3; }
";

const TEST: &str = "\
int clamp(int x, int lo, int hi);
int main(void)
{
    int x;
    for (x = 0; x < 6; x++)
        if (clamp(x, 0, 5) != x)
            return 1;
    return 0;
}
";

/// A command that builds the test and runs it.
const BUILD: &str = "cc -o t clamp.c test.c && ./t";

fn repository() -> TempRepo {
    TempRepo::new().file("clamp.c", CLAMP).file("test.c", TEST).commit("one")
}

fn run(repo: &TempRepo, words: &[&str]) -> (i32, String, String) {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.current_dir(repo.path()).arg("discover").args(words).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[track_caller]
fn check(repo: &TempRepo, words: &[&str], code: i32, parts: &[&str]) -> String {
    let (status, out, err) = run(repo, words);
    assert_eq!(status, code, "{words:?}\n{out}\n{err}");
    for part in parts {
        assert!(out.contains(part) || err.contains(part), "{part}\n{out}\n{err}");
    }
    assert!(!err.contains("panicked"), "{err}");
    err
}

#[test]
fn a_project_with_a_makefile_gives_first_runs() {
    if !has_compiler() {
        return;
    }
    if std::process::Command::new("make").arg("--version").output().is_err() {
        return skipped("cc", "no make");
    }
    let makefile = "CFLAGS = -std=c89 -pedantic -Wall -Wextra -Werror\ncheck: t\n\t@./t && echo passed\nt: clamp.o test.o\n\
        \t@$(CC) -o $@ clamp.o test.o\n.c.o:\n\t@$(CC) $(CFLAGS) -c $<\n.PHONY: check\n";
    let repo = repository().file("Makefile", makefile).commit("two");
    let parts = [
        "runs in a copy of HEAD, ",
        ":\n  make check\n",
        "passed\n",
        "clamp(): 6 calls recorded, 6 different\n",
        // What they suggest is refuted by symbolic execution.
        "\\result == x at exit",
        "by x = ",
    ];
    check(&repo, &["-v", "--run", "make check", "HEAD", "--", "clamp.c:clamp"], 0, &parts);
    // Of the working tree what stands there, and nothing is left behind.
    repo.write("test.c", TEST.replace("x < 6", "x < 7").replace("0, 5)", "0, 6)"));
    let words = ["-q", "--run", "make check", "--", "clamp.c:clamp"];
    let err = check(&repo, &words, 0, &["runs in a copy of WORKTREE, "]);
    assert!(!err.contains("passed") && !err.contains("recorded"), "{err}");
    assert_eq!(repo.git(["status", "--porcelain"]), " M test.c");
}

#[test]
fn a_script_is_run_as_the_tree_has_it() {
    if !has_compiler() {
        return;
    }
    let repo = repository().file("tests/all.sh", format!("#!/bin/sh\n{BUILD}\n"));
    std::process::Command::new("chmod").arg("+x").arg(repo.path().join("tests/all.sh")).status().unwrap();
    let repo = repo.link("all", "tests/all.sh").commit("two");
    check(&repo, &["--run", "./all", "HEAD", "--", "clamp.c:clamp"], 0, &["6 calls recorded, 6 different"]);
    let words = ["--run", "tests/all.sh", "--run-dtrace", "kept.dtrace", "--", "clamp.c:least"];
    // A static function, of the working tree.
    check(&repo, &words, 0, &["least(): 6 calls recorded, 6 different"]);
    let kept = std::fs::read_to_string(repo.path().join("kept.dtrace")).unwrap();
    assert!(kept.contains("\nclamp.c.least():::ENTER\na\n3\n1\nb\n5\n1\n\n"), "{kept}");
    check(&repo, &["--inputs", "kept.dtrace", "--", "clamp.c:least"], 0, &["at exit"]);
    // Of versions it is the newest one.
    let repo = repo.file("clamp.c", CLAMP.replace("x < lo", "x <= lo")).commit("three");
    let words = ["--run", "./all", "HEAD~1..HEAD", "--", "clamp.c:clamp"];
    check(&repo, &words, 0, &["in a copy of HEAD, ", "6 calls recorded", "held by all versions"]);
}

#[test]
fn several_processes_write_one_trace() {
    if !has_compiler() {
        return;
    }
    let repo = repository();
    let command = "cc -o t clamp.c test.c; for i in 1 2 3 4 5 6 7; do ./t & done; wait";
    let words = ["--run", command, "--", "clamp.c:clamp"];
    check(&repo, &words, 0, &["clamp(): 42 calls recorded, 6 different"]);
}

#[test]
fn a_harness_takes_what_its_call_leaves_open() {
    if !has_compiler() {
        return;
    }
    let repo = repository();
    let words = ["--harness", "reset(); clamp(?, 0, 5..9)", "--run", BUILD, "--", "clamp.c"];
    check(&repo, &words, 0, &["clamp(): 6 calls recorded", "calls == 4 ", "\\result >= 0 "]);
}

#[test]
fn a_command_that_fails_is_said() {
    let repo = repository();
    let none = "no call of clamp() was recorded";
    check(
        &repo,
        &["--run", "exit 3", "--", "clamp.c:clamp"],
        128,
        &["(exit status: 3), and ", none, "hint: "],
    );
    check(&repo, &["--run", "true", "--", "clamp.c:clamp"], 128, &[none, "has to build the file"]);
    check(&repo, &["--run", "true", "--", "clamp.c:clmp"], 0, &["no function has this name"]);
    if has_compiler() {
        let command = format!("{BUILD}; exit 4");
        let parts = ["the command failed (exit status: 4); the calls that it made are taken", "6 calls"];
        check(&repo, &["--run", &command, "--", "clamp.c:clamp"], 0, &parts);
        let parts = ["no call of reset() was recorded; it begins with runs on values of ours"];
        check(&repo, &["--run", BUILD, "--", "clamp.c"], 0, &parts);
    }
}

#[test]
fn a_command_that_hangs_is_stopped_with_all_that_it_started() {
    let repo = repository();
    let id = repo.root().join("id");
    // What it starts says who it is, and waits for ever.
    let inner = "echo $$ > \"$0.new\"; mv \"$0.new\" \"$0\"; exec tail -f /dev/null";
    let command = format!("sh -c '{inner}' '{}' & wait", id.display());
    let words = ["--run", &command, "--run-timeout", "1", "--", "clamp.c:clamp"];
    check(&repo, &words, 128, &["did not end within 1 second and was stopped, and no call", "--run-timeout"]);
    let Ok(id) = std::fs::read_to_string(id) else {
        return skipped("cc", "a machine too slow to start a shell");
    };
    let state = || std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    // Nobody may have asked yet how it ended.
    let is_over = || !state().contains("(tail)") || state().contains(") Z ") || state().contains(") X ");
    let start = std::time::Instant::now();
    while !is_over() && start.elapsed().as_secs() < 20 {
        std::thread::yield_now();
    }
    assert!(is_over(), "{}", state());
}

#[test]
fn a_command_that_writes_is_said() {
    let repo = repository();
    let command = format!("echo > '{}/new.c'; echo 'int x;' > clamp.c", repo.path().display());
    let parts =
        ["the command changed files of the working tree", "wrote 'clamp.c' anew", "no call of clamp()"];
    check(&repo, &["--run", &command, "HEAD", "--", "clamp.c:clamp"], 128, &parts);
    assert_eq!(std::fs::read_to_string(repo.path().join("clamp.c")).unwrap(), CLAMP);
    // The copy is in no repository, whatever the environment says.
    let words = ["--run", "git rev-parse --git-dir || echo in none", "HEAD", "--", "clamp.c:clamp"];
    check(&repo, &words, 128, &["in none\n"]);
}

#[test]
fn more_calls_than_are_recorded_are_said() {
    if !has_compiler() {
        return;
    }
    let main = "int f(int x) { return x & 3; }\nint main(void) { long i; for (i = 0; i < 100007; i++) f((int)i); return 0; }\n";
    let repo = TempRepo::new().file("a.c", main).commit("one");
    let parts = [
        "f(): 100000 calls recorded, 2000 different",
        "f(): of its different calls the first 2000 are taken",
        "f(): a process made more than 100000 calls",
    ];
    check(&repo, &["--run", "cc a.c && ./a.out", "--runs", "5", "--", "a.c:f"], 0, &parts);
}

/// Prints what a recorder might change: errno, the number of the next file, lines, the stack of a recursion.
const WATCHFUL: &str = "\
#define static
#include <errno.h>
#include <stdio.h>
#include <fcntl.h>
#include <unistd.h>
#include <assert.h>
#define count 1
#define invert(x) (!(x))
unsigned char depth;
const char *last = 0;
int watch(int n, unsigned long wide, signed char small, const char *text, int (*then)(int));
int watch(int n, unsigned long wide, signed char small, const char *text, int (*then)(int))
{
    int deep = n;
    assert(n < 4);
    depth++;
    last = text;
    if (n > 0)
        return watch(n - count, wide, small, text, then) + 1;
    printf(\"%d %d %lu %d %s %d\\n\", errno, __LINE__, wide, small, text ? text : \"none\", invert(deep));
    return then ? then(n) : open(\"/dev/null\", O_RDONLY);
}
int main(void)
{
    int first;
    close(0);
    errno = 77;
    first = watch(3, ~0UL, -5, \"a\", 0);
    printf(\"%d\\n\", first);
    errno = 0;
    return watch(0, 1, 1, last, 0) == 1 ? 0 : 0;
}
";

#[test]
fn what_records_changes_nothing_else() {
    if !has_compiler() {
        return;
    }
    let repo = TempRepo::new()
        .file("w.c", WATCHFUL)
        .file("expected", "77 20 18446744073709551615 -5 a 1\n3\n0 20 1 1 a 1\n");
    let repo = repo.commit("one");
    let flags = "-std=c89 -pedantic -Wall -Wextra -Werror -Wshadow -Wconversion -Wmissing-prototypes";
    for optimised in ["-O0", "-O2"] {
        let command = format!("cc {optimised} {flags} w.c -o w && ./w > out; cmp out expected");
        let words = ["--points", "entry", "--run", &command, "--run-dtrace", "w.dtrace", "--", "w.c:watch"];
        check(&repo, &words, 0, &["watch(): 5 calls recorded, 5 different"]);
        let kept = std::fs::read_to_string(repo.path().join("w.dtrace")).unwrap();
        let part = "\nn\n3\n1\nwide\n18446744073709551615\n1\nsmall\n-5\n1\ntext\n1\n1\nthen\n0\n1\n";
        assert!(kept.contains(part), "{kept}");
    }
}

#[test]
fn nothing_of_a_strangers_is_printed_raw() {
    let repo = TempRepo::new().file("we\x1b[31m \"ir\\d?(1).c", CLAMP).file("test.c", TEST).commit("one");
    let command = "printf '\\033[31mred\\t\\n'; cat ./*.c | cc -o t -x c - && ./t";
    let words = ["--run", command, "--function", "clamp"];
    let code = if has_compiler() { 0 } else { 128 };
    let err = check(&repo, &words, code, &["\\x1b[31mred", "  printf '"]);
    assert!(!err.contains('\x1b'), "{err}");
    if code == 0 {
        check(&repo, &words, 0, &["clamp(): 6 calls recorded, 6 different"]);
    }
}

#[test]
fn only_the_command_line_runs_something() {
    let repo = repository();
    let there = repo.root().join("there");
    let command = format!("touch {}", there.display());
    let is_there = || Path::new(&there).exists();
    let repo = repo.config("invdiff.run", &command).config("invdiff.discover.run", &command);
    run(&repo, &["--", "clamp.c:clamp"]);
    assert!(!is_there());
    let repo =
        repo.file(".invdiff.yaml", format!("version: 1\nrun: {command}\ndiscover:\n  run: {command}\n"));
    run(&repo, &["--", "clamp.c:clamp"]);
    assert!(!is_there());
    let both = ["--run", "true", "--inputs", "a.csv", "--", "clamp.c:clamp"];
    check(&repo, &both, 129, &["cannot be used with"]);
    check(&repo, &["--run-timeout", "5", "--", "clamp.c:clamp"], 129, &["--run"]);
}
