//! Folders for tests that make thousands of them: in memory where the machine has room and runs programs there. A disk
//! takes as long to give up their files as the tests take to run, and ext4 looks at each file that went in the last
//! minutes before it makes a new one.

use rustix::fs::{Access, access, statvfs};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// Bytes that have to be free.
const ROOM: u64 = 1 << 30;

/// A new folder, gone with its value.
///
/// # Panics
/// Where there can be none.
pub fn scratch() -> TempDir {
    tempfile::tempdir_in(place()).expect("a temporary folder")
}

/// Where temporary files are best made.
pub(crate) fn place() -> &'static Path {
    static PLACE: OnceLock<PathBuf> = OnceLock::new();
    PLACE.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        if is_fit(memory) { memory.to_path_buf() } else { std::env::temp_dir() }
    })
}

/// Whether there is room, and programs run there.
fn is_fit(place: &Path) -> bool {
    let has_room = || statvfs(place).is_ok_and(|s| s.f_bavail.saturating_mul(s.f_frsize) >= ROOM);
    access(place, Access::WRITE_OK).is_ok() && has_room() && runs_in(place).unwrap_or(false)
}

fn runs_in(place: &Path) -> std::io::Result<bool> {
    let folder = tempfile::tempdir_in(place)?;
    let program = folder.path().join("program");
    std::fs::write(&program, "#!/bin/sh\nexit 0\n")?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    Ok(Command::new(&program).status()?.success())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn programs_run_in_a_folder() {
        let folder = super::scratch();
        assert!(super::runs_in(folder.path()).is_ok_and(|runs| runs));
        assert!(!super::is_fit(Path::new("/nonexistent")));
    }
}
