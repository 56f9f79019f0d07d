//! What the built program says of a commit, as benchmarks ask for it.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long an answer is waited for.
pub const PATIENCE: Duration = Duration::from_secs(100);

/// The report of a commit; none where it does not come in time.
pub fn report(clone: &Path, commit: &str, options: &[String]) -> Option<Value> {
    let out = tempfile::NamedTempFile::new().expect("a temporary file");
    let mut child = Command::new(env!("CARGO_BIN_EXE_git-invdiff"))
        .current_dir(clone)
        .args(["--format", "json", "--no-cache"])
        .args(options)
        .arg(format!("{commit}~1..{commit}"))
        .stdout(out.reopen().expect("a temporary file"))
        .stderr(Stdio::null())
        .spawn()
        .expect("the built program");
    let begun = Instant::now();
    while child.try_wait().expect("a child").is_none() {
        if begun.elapsed() > PATIENCE {
            child.kill().expect("a child");
            child.wait().expect("a child");
            return None;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    serde_json::from_slice(&std::fs::read(out.path()).expect("what it printed")).ok()
}
