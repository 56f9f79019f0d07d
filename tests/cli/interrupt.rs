//! Ctrl-C while a range is being looked at: what was found is shown, and it is said that it is not all.
#![cfg(unix)]

use crate::support::TempRepo;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Functions in which something changes that takes a while to tell.
fn text(added: u32) -> String {
    let one = |k: u32| {
        format!(
            "double f{k}(double x, int n)\n{{\n    double s = {k};\n    for (int i = 0; i < n; i++)\n        \
             s += x * s + (i + {added}) % (n + {k});\n    return s / (x + {added});\n}}\n"
        )
    };
    (0..400).map(one).collect()
}

/// Starts a look at all of them, interrupts it as soon as it looks its answer up, and returns what it wrote and the
/// signal that ended it.
fn interrupted(repo: &TempRepo, words: &[&str]) -> (String, Option<i32>) {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    command.args(["HEAD~1..HEAD", "--effort", "deep", "-j", "1"]).args(words);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let cache = repo.path().join(".git/invdiff/cache");
    let begun = Instant::now();
    while !cache.exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    (String::from_utf8(output.stdout).expect("UTF-8"), output.status.signal())
}

fn repository() -> TempRepo {
    TempRepo::new().file("a.c", text(1)).commit("one").file("a.c", text(2)).commit("two")
}

#[test]
fn what_was_found_is_shown_and_not_kept() {
    let repo = repository();
    let (text, signal) = interrupted(&repo, &[]);
    assert_eq!(signal, Some(2), "{text}");
    assert!(text.contains("interrupted, and this is not all"), "{text}");
    assert!(!text.contains("no semantic change"), "{text}");
    let kept = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff")).args(["cache", "info"]).output().unwrap();
    assert!(String::from_utf8_lossy(&kept.stdout).contains("0 entries"), "{kept:?}");
}

#[test]
fn no_file_is_left_half_done() {
    let repo = repository();
    let (text, signal) = interrupted(&repo, &["--json", "-o", "out.json"]);
    assert_eq!((text.as_str(), signal), ("", Some(2)));
    assert!(!repo.path().join("out.json").exists());
}
