//! Commits of real histories: the output depends on the commits alone, not on the run and not on the
//! number of workers. Says so and does nothing without `INVDIFF_HISTORIES`.

use crate::support::tier;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// How many of the last commits that touch C are tried.
const COMMITS: usize = 4;

fn git(repository: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(repository).args(args).output().expect("git starts");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The report of one commit, without its cost.
fn report(repository: &Path, commit: &str, workers: &str) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_git-invdiff"))
        .args(["-q", "--no-cache", "--json", "-j", workers, "-C"])
        .arg(repository)
        .arg(format!("{commit}^..{commit}"))
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{commit}: {}", String::from_utf8_lossy(&output.stderr));
    let mut report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    report["cost"].take();
    report
}

#[test]
fn runs_and_workers_make_no_difference() {
    let Some(folder) = std::env::var_os("INVDIFF_HISTORIES") else {
        tier::skipped("histories", "INVDIFF_HISTORIES not set");
        return;
    };
    for name in ["kilo", "zlib", "cJSON"] {
        let repository = Path::new(&folder).join(name);
        let number = format!("-n{COMMITS}");
        let list = git(&repository, &["rev-list", "--no-merges", &number, "HEAD", "--", "*.c", "*.h"]);
        for commit in list.lines() {
            let first = report(&repository, commit, "1");
            assert_eq!(first, report(&repository, commit, "2"), "{name} {commit}");
            assert_eq!(first, report(&repository, commit, "2"), "{name} {commit}");
        }
    }
}
