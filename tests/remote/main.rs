//! The cache that machines share, with the real program on clones of one repository: what one clone has found, another
//! reads, from every service; what is not proved is turned away; and nothing that goes wrong makes a run fail.
//!
//! It is built with `--features remote-cache` alone: `cargo test --locked --features remote-cache --test remote`.

#[path = "../support/mod.rs"]
mod support;

mod services;
mod trust;

use serde_json::Value;
use std::path::Path;
use std::process::Command;
use support::TempRepo;

const KEY: &str = "the key of the whole team";

/// A run of the program.
struct Run {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Two versions, in which the solver has something to do.
fn two() -> TempRepo {
    let text = |bound: u32| {
        format!(
            "int f(int a, int b)\n{{\n    if (a < 0 || a > {bound} || b < a)\n        return 0;\n    int s = 0;\n    \
             for (int i = 0; i < a; i++)\n        s += b - a;\n    return s;\n}}\n"
        )
    };
    TempRepo::new().file("a.c", text(10)).commit("one").file("a.c", text(11)).commit("two")
}

/// A clone that has nothing but the commits, and the shared cache in its configuration.
fn clone(repo: &TempRepo, address: &str) -> TempRepo {
    repo.clone_with(&[]).config("invdiff.cache.remote", address).config("invdiff.cache.key", KEY)
}

fn invdiff(repo: &TempRepo, words: &[&str]) -> Run {
    run(repo, words, &[])
}

fn run(repo: &TempRepo, words: &[&str], variables: &[(&str, &str)]) -> Run {
    let mut command: Command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.args(words).envs(variables.iter().copied()).output().expect("the program runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Run { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// The report on the last commit, `cost` apart.
#[track_caller]
fn report(repo: &TempRepo, variables: &[(&str, &str)]) -> (String, Value, String) {
    let run = run(repo, &["--json", "HEAD~1..HEAD"], variables);
    assert_eq!(run.code, Some(0), "{}", run.err);
    let mut report: Value = serde_json::from_str(&run.out).expect("JSON");
    let cost = report.as_object_mut().and_then(|r| r.remove("cost")).expect("cost");
    (report.to_string(), cost, run.err)
}

fn asked(cost: &Value) -> (u64, u64) {
    let number = |name: &str| cost[name].as_u64().expect(name);
    (number("solver_queries"), number("solver_cached"))
}

/// The entries of a folder that is a shared cache.
fn entries(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut entries: Vec<_> = entries.filter(|path| path.is_file()).collect();
    entries.sort();
    entries
}
