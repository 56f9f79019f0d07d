//! The commits of a clone that benchmarks look at, asked of git.

use std::path::Path;
use std::process::Command;

/// The commits that touch C sources among the last first-parent commits, newest first.
pub fn commits(repository: &Path, number: usize) -> Vec<String> {
    let number = number.min(i32::MAX as usize).to_string();
    let list = git(repository, &["rev-list", "--first-parent", "-n", &number, "HEAD"]);
    let touching = git(
        repository,
        &[
            "log",
            "--first-parent",
            "-m",
            "--no-renames",
            "--format=%H %P",
            "-n",
            &number,
            "HEAD",
            "--",
            "*.c",
            "*.h",
        ],
    );
    // A root has no parent to be compared with.
    let touching: std::collections::HashSet<&str> = touching
        .lines()
        .filter_map(|line| line.split_once(' ').filter(|(_, p)| !p.is_empty()))
        .map(|(c, _)| c)
        .collect();
    list.lines().filter(|commit| touching.contains(commit)).map(str::to_owned).collect()
}

/// What git prints; nothing when it fails.
fn git(repository: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(repository).args(args).output();
    output.map_or(String::new(), |o| String::from_utf8_lossy(&o.stdout).into_owned())
}
