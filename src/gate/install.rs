//! Installs the hook scripts of `hooks/`, and takes them out again.
//!
//! The folder is what `git rev-parse --git-path hooks` says (`core.hooksPath`, shared by linked
//! worktrees). A hook that somebody else put there is renamed to `<name>.before-invdiff`, whatever it is
//! (a script in any language, a binary, a link), and our script runs it first. Renaming keeps it byte for
//! byte; lines appended to it would not run after an `exit` or `exec`. The script finds it by that name even
//! where another manager of hooks has renamed the script itself. Ours stand between two marker lines
//! that carry a version; whatever others write around them stays.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::hooks::NAMES;
use crate::store::{Git, GitError};

/// Suffix of the hook that was there before.
const CHAINED: &str = ".before-invdiff";
const BEGIN: &str = "# >>> git invdiff hook ";
const END: &str = "# <<< git invdiff hook <<<";

/// The scripts, by hook.
const SCRIPTS: [(&str, &str); 6] = [
    ("pre-commit", include_str!("../../hooks/pre-commit")),
    ("prepare-commit-msg", include_str!("../../hooks/prepare-commit-msg")),
    ("commit-msg", include_str!("../../hooks/commit-msg")),
    ("post-commit", include_str!("../../hooks/post-commit")),
    ("post-rewrite", include_str!("../../hooks/post-rewrite")),
    ("pre-push", include_str!("../../hooks/pre-push")),
];

/// Why hooks could not be installed or removed.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("cannot change '{}'", path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("there is no hook '{0}'; known are {known}", known = NAMES.join(", "))]
    Unknown(String),
    #[error("'{}' belongs to husky, which would overwrite it; add this line to the hooks of husky: git invdiff hook run <name> \"$@\"", .0.display())]
    Managed(PathBuf),
    #[error("core.hooksPath turns all hooks off: '{}' is no folder", .0.display())]
    TurnedOff(PathBuf),
    #[error("both '{}' and '{}' are there, and neither is ours; move one away", .0.display(), .1.display())]
    Occupied(PathBuf, PathBuf),
    #[error("'{}' is a link to '{}', which would become another script; add this line to that one: git invdiff hook run <name> \"$@\"", .0.display(), .1.display())]
    Linked(PathBuf, PathBuf),
}

/// How a hook is installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Missing,
    /// Somebody else's.
    Foreign,
    /// Ours.
    Current,
    /// Ours, from another version of this program.
    Outdated,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            State::Missing => "not installed",
            State::Foreign => "not installed (another hook is there)",
            State::Current => "installed",
            State::Outdated => "installed, but by another version",
        })
    }
}

/// One hook and what it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookStatus {
    pub name: &'static str,
    pub path: PathBuf,
    pub state: State,
    /// A hook that was there before runs first.
    pub chained: bool,
}

/// The hooks of a repository.
pub struct Hooks {
    folder: PathBuf,
}

impl Hooks {
    /// Finds the folder that git takes hooks from.
    pub fn of(git: &Git) -> Result<Hooks, InstallError> {
        let folder = git.line(&["rev-parse", "--path-format=absolute", "--git-path", "hooks"])?;
        Ok(Hooks { folder: PathBuf::from(folder) })
    }

    /// Says how each hook is installed.
    pub fn status(&self) -> Result<Vec<HookStatus>, InstallError> {
        SCRIPTS.iter().map(|(name, script)| self.status_of(name, script)).collect()
    }

    /// Installs the hooks `names` (none: all) and returns what they are then. Twice is once.
    pub fn install(&self, names: &[String]) -> Result<Vec<HookStatus>, InstallError> {
        let chosen = choose(names)?;
        if self.folder.ends_with(".husky/_") {
            return Err(InstallError::Managed(self.folder.clone()));
        }
        if exists(&self.folder) && !self.folder.is_dir() {
            return Err(InstallError::TurnedOff(self.folder.clone()));
        }
        // Nothing is written before all is known to go.
        for (name, script) in &chosen {
            self.check(&self.status_of(name, script)?)?;
        }
        std::fs::create_dir_all(&self.folder).map_err(at(&self.folder))?;
        for (name, script) in &chosen {
            let status = self.status_of(name, script)?;
            let chained = chained(&status.path);
            match status.state {
                State::Current => {}
                State::Missing => write_script(&status.path, script)?,
                State::Outdated => {
                    let text = std::fs::read_to_string(&status.path).map_err(at(&status.path))?;
                    let (before, _, after) = take_apart(&text).unwrap_or((script, "", ""));
                    let block = take_apart(script).map_or("", |(_, block, _)| block);
                    write_script(&status.path, &format!("{before}{block}{after}"))?;
                }
                State::Foreign => {
                    std::fs::rename(&status.path, &chained).map_err(at(&status.path))?;
                    write_script(&status.path, script)?;
                }
            }
        }
        chosen.iter().map(|(name, script)| self.status_of(name, script)).collect()
    }

    /// Removes the hooks `names` (none: all), restores what was there before, and returns the names of
    /// those that were ours.
    pub fn uninstall(&self, names: &[String]) -> Result<Vec<&'static str>, InstallError> {
        let mut removed = Vec::new();
        for (name, script) in choose(names)? {
            let status = self.status_of(name, script)?;
            if !matches!(status.state, State::Current | State::Outdated) {
                continue;
            }
            let text = std::fs::read_to_string(&status.path).map_err(at(&status.path))?;
            let (before, _, after) = take_apart(&text).unwrap_or(("", "", ""));
            let rest = format!("{before}{after}");
            if rest.lines().all(|line| line.starts_with("#!") || line.trim().is_empty()) {
                std::fs::remove_file(&status.path).map_err(at(&status.path))?;
                if status.chained {
                    std::fs::rename(chained(&status.path), &status.path).map_err(at(&status.path))?;
                }
            } else {
                // Somebody has written around our lines since; both hooks stay for them to sort out.
                write_script(&status.path, &rest)?;
            }
            removed.push(name);
        }
        Ok(removed)
    }

    /// Refuses a hook that cannot be chained.
    fn check(&self, status: &HookStatus) -> Result<(), InstallError> {
        if status.state != State::Foreign {
            return Ok(());
        }
        if status.chained {
            return Err(InstallError::Occupied(status.path.clone(), chained(&status.path)));
        }
        // A link to another hook would lead to our script in the place of that one.
        let folder = self.folder.canonicalize().ok();
        let target = status.path.canonicalize().ok().filter(|target| {
            let is_hook = NAMES.iter().any(|name| target.ends_with(name));
            is_link(&status.path) && is_hook && target.parent() == folder.as_deref()
        });
        target.map_or(Ok(()), |target| Err(InstallError::Linked(status.path.clone(), target)))
    }

    fn status_of(&self, name: &'static str, script: &str) -> Result<HookStatus, InstallError> {
        let path = self.folder.join(name);
        let state = match std::fs::read(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && !exists(&path) => State::Missing,
            Err(error) if error.kind() == io::ErrorKind::NotFound => State::Foreign,
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => State::Missing,
            Err(source) => return Err(InstallError::File { path, source }),
            // We write no links; what one leads to is not ours to change.
            Ok(_) if is_link(&path) => State::Foreign,
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes);
                let block = |text: &str| take_apart(text).map(|(_, block, _)| block.to_string());
                match block(&text) {
                    None => State::Foreign,
                    ours if ours == block(script) => State::Current,
                    Some(_) => State::Outdated,
                }
            }
        };
        let chained = exists(&chained(&path));
        Ok(HookStatus { name, path, state, chained })
    }
}

/// Picks the scripts of the named hooks.
fn choose(names: &[String]) -> Result<Vec<(&'static str, &'static str)>, InstallError> {
    if names.is_empty() {
        return Ok(SCRIPTS.to_vec());
    }
    let find = |name: &String| SCRIPTS.iter().find(|(known, _)| known == name).copied();
    names.iter().map(|name| find(name).ok_or_else(|| InstallError::Unknown(name.clone()))).collect()
}

/// Splits a hook into what is before our lines, our lines, and what is after them.
fn take_apart(text: &str) -> Option<(&str, &str, &str)> {
    let line_start = |at: usize| at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
    let begin = text.find(BEGIN).filter(|&at| line_start(at))?;
    let end = begin + text.get(begin..)?.find(END)? + END.len();
    let end = end + usize::from(text.get(end..)?.starts_with('\n'));
    Some((text.get(..begin)?, text.get(begin..end)?, text.get(end..)?))
}

fn chained(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_os_string();
    name.push(CHAINED);
    PathBuf::from(name)
}

/// Tells whether there is anything of that name, even a link to nothing.
fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink())
}

/// Puts an executable script in place, whole or not at all.
fn write_script(path: &Path, text: &str) -> Result<(), InstallError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The umask takes its share.
        builder.permissions(std::fs::Permissions::from_mode(0o777));
    }
    let file = builder.prefix(".invdiff-").tempfile_in(folder).map_err(at(path))?;
    std::fs::write(file.path(), text).map_err(at(path))?;
    file.persist(path).map_err(|error| at(path)(error.error))?;
    Ok(())
}

fn at(path: &Path) -> impl Fn(io::Error) -> InstallError {
    let path = path.to_path_buf();
    move |source| InstallError::File { path: path.clone(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_marked_and_name_their_hook() {
        assert_eq!(SCRIPTS.map(|(name, _)| name), NAMES);
        for (name, script) in SCRIPTS {
            let (before, block, after) = take_apart(script).unwrap();
            assert_eq!((before, after), ("#!/bin/sh\n", ""), "{name}");
            assert!(block.contains(&format!("git invdiff hook run {name} \"$@\"")), "{name}");
        }
    }

    fn check(before: Option<&str>) {
        let folder = tempfile::tempdir().unwrap();
        let hooks = Hooks { folder: folder.path().join("hooks") };
        let path = hooks.folder.join("pre-commit");
        if let Some(text) = before {
            std::fs::create_dir_all(&hooks.folder).unwrap();
            write_script(&path, text).unwrap();
        }
        let first = hooks.install(&[]).unwrap();
        assert!(first.iter().all(|h| h.state == State::Current));
        assert_eq!(hooks.install(&[]).unwrap(), first);
        assert_eq!(first[0].chained, before.is_some());
        assert_eq!(hooks.uninstall(&[]).unwrap(), NAMES);
        assert_eq!(std::fs::read_to_string(&path).ok().as_deref(), before);
        assert_eq!(std::fs::read_dir(&hooks.folder).unwrap().count(), usize::from(before.is_some()));
        assert_eq!(hooks.uninstall(&[]).unwrap(), [""; 0]);
    }

    #[test]
    fn install_and_uninstall_leave_things_as_they_were() {
        check(None);
        check(Some("#!/usr/bin/python3\nimport sys\n"));
        check(Some(""));
    }

    #[test]
    fn lines_of_others_around_ours_stay() {
        let folder = tempfile::tempdir().unwrap();
        let hooks = Hooks { folder: folder.path().to_path_buf() };
        let path = folder.path().join("pre-push");
        hooks.install(&["pre-push".into()]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let older = text.replace("hook 2 >>>", "hook 1 >>>") + "echo theirs\n";
        std::fs::write(&path, older).unwrap();
        assert_eq!(hooks.status().unwrap()[5].state, State::Outdated);
        hooks.install(&["pre-push".into()]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text + "echo theirs\n");
        hooks.uninstall(&[]).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "#!/bin/sh\necho theirs\n");
    }

    #[test]
    fn only_known_hooks() {
        let hooks = Hooks { folder: PathBuf::from("/nonexistent") };
        assert!(matches!(hooks.install(&["update".into()]), Err(InstallError::Unknown(_))));
    }
}
