//! A version's files in a folder of their own, outside of every repository.
//!
//! Files are what git stores: no filter runs, and line ends are those of the objects. All get the same time, so that
//! nothing that is committed counts as older than what it was made from. Links come last: nothing is written through
//! one. A path that leads out of the folder, or to a git directory in it, is left out.

use super::error::{Error, Result};
use super::names::bytes_of_utf8_path;
use super::object::{Mode, path_of_bytes};
use super::tree::SourceTree;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checkout {
    pub files: usize,
    /// Their folders are empty.
    pub submodules: Vec<PathBuf>,
    /// What could not be read, or has no place in the folder.
    pub left_out: Vec<PathBuf>,
}

/// Writes the files of a tree into a folder that is there and empty. Cost: linear in their bytes.
pub fn check_out(tree: &dyn SourceTree, folder: &Path) -> Result<Checkout> {
    let mut done = Checkout::default();
    let now = SystemTime::now();
    let (links, others): (Vec<_>, Vec<_>) =
        tree.modes().into_iter().partition(|(_, mode)| *mode == Mode::Link);
    for (path, mode) in others.into_iter().chain(links) {
        let Some(target) = place(folder, &path) else {
            done.left_out.push(path);
            continue;
        };
        let io = |source| Error::Io { path: target.clone(), source };
        match mode {
            Mode::File | Mode::Executable => match tree.read(&path) {
                Some(bytes) => {
                    write(&target, &bytes, mode == Mode::Executable, now).map_err(io)?;
                    done.files += 1;
                }
                None => done.left_out.push(path),
            },
            Mode::Link => match tree.link(&path) {
                Some(to) => link(&to, &target).map_err(io)?,
                None => done.left_out.push(path),
            },
            Mode::Submodule => {
                fs::create_dir_all(&target).map_err(io)?;
                done.submodules.push(path);
            }
            Mode::Tree => {}
        }
    }
    Ok(done)
}

/// Where a path of a tree stands in a checkout in a folder; `None` where it has no place there.
pub fn place(folder: &Path, path: &Path) -> Option<PathBuf> {
    let path = path_of_bytes(&bytes_of_utf8_path(path));
    let is_plain = |part: Component| match part {
        Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
        _ => false,
    };
    (path.components().next().is_some() && path.components().all(is_plain)).then(|| folder.join(path))
}

fn write(target: &Path, bytes: &[u8], is_executable: bool, time: SystemTime) -> io::Result<()> {
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    let mut file = File::create_new(target)?;
    file.write_all(bytes)?;
    if is_executable {
        make_executable(&file)?;
    }
    file.set_modified(time)
}

#[cfg(unix)]
fn make_executable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = file.metadata()?.permissions().mode();
    // Who may read it may run it.
    file.set_permissions(fs::Permissions::from_mode(mode | (mode & 0o444) >> 2))
}

#[cfg(not(unix))]
fn make_executable(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn link(to: &[u8], target: &Path) -> io::Result<()> {
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    std::os::unix::fs::symlink(path_of_bytes(to), target)
}

/// As git does it where there are no links.
#[cfg(not(unix))]
fn link(to: &[u8], target: &Path) -> io::Result<()> {
    write(target, to, false, SystemTime::now())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::MemoryTree;

    #[test]
    fn nothing_is_written_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = ["a/b.c", "../c", "/d", ".git/config", "e/.GIT/hooks", "f..g"];
        let tree = MemoryTree::new(names.map(|name| (name, "text")));
        let inner = folder.path().join("inner");
        fs::create_dir(&inner).expect("a folder");
        let done = check_out(&tree, &inner).expect("files");
        let mut left_out: Vec<_> = done.left_out.iter().map(|p| p.display().to_string()).collect();
        left_out.sort();
        assert_eq!(
            (done.files, left_out),
            (2, [names[1], names[3], names[2], names[4]].map(str::to_owned).into())
        );
        assert_eq!(fs::read(inner.join("a/b.c")).expect("a file"), b"text");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn all_files_have_one_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = MemoryTree::new([("b.c", ""), ("a.y", "1")]);
        check_out(&tree, folder.path()).expect("files");
        let time = |name| fs::metadata(folder.path().join(name)).and_then(|m| m.modified()).expect("a time");
        assert_eq!(time("a.y"), time("b.c"));
    }
}
