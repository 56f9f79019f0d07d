//! Compiled programs as the oracle of predictions, and the shared subjects.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Returns a place in the shared data, or says that the test is skipped.
pub fn shared(place: &str) -> Option<PathBuf> {
    let root = match std::env::var_os("INVDIFF_SHARED") {
        Some(root) => PathBuf::from(root),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
    };
    let path = root.join(place);
    if path.exists() {
        return Some(path);
    }
    super::tier::skipped("shared", &format!("shared data absent ({place})"));
    None
}

/// A compiled program; the file goes with it.
pub struct Compiled {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Compiles one C file with the machine semantics that the analysis assumes
/// (`docs/design/machine-semantics.md`).
pub fn compile(source: &Path) -> Result<Compiled, String> {
    let folder = invdiff_testing::scratch();
    let path = folder.path().join(format!("p{}", NEXT.fetch_add(1, Ordering::Relaxed)));
    let out = invdiff_testing::compiler()
        .args(["-O0", "-fwrapv", "-ffp-contract=off", "-w"])
        .arg(source)
        .arg("-o")
        .arg(&path)
        .arg("-lm")
        .output()
        .map_err(|e| e.to_string())?;
    if !out.status.success() {
        return Err(String::from_utf8_lossy(&out.stderr).into_owned());
    }
    Ok(Compiled { path, _folder: folder })
}

/// Runs a program on this standard input and returns its standard output.
pub fn run(program: &Compiled, stdin: &[u8]) -> Result<Vec<u8>, String> {
    use std::io::Write;
    let mut child = Command::new(&program.path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| e.to_string())?;
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read closes the pipe early.
        let _ = pipe.write_all(stdin);
    }
    Ok(child.wait_with_output().map_err(|e| e.to_string())?.stdout)
}
