//! Hermetic temporary git repositories.
//!
//! A repository of this kit owns a scratch folder that also holds its `HOME`, reads no
//! configuration of the machine, has a fixed author and dates that advance by one minute a commit,
//! so object ids are the same everywhere. It drives the real `git`, whose answers are what the
//! library is compared with. Integration tests include this file by path (`tests/support`).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Once;

/// A temporary repository; removed when dropped. Builder methods panic when git fails, which is
/// what a test wants.
pub struct TempRepo {
    scratch: tempfile::TempDir,
    top: PathBuf,
    /// Seconds since 1970 of the next commit.
    clock: u64,
}

/// 2024-01-01T00:00:00Z.
const EPOCH: u64 = 1_704_067_200;

/// Paths and texts.
pub type Files<'a> = &'a [(&'a str, &'a str)];

/// The entry of a file that is none yet.
fn regular(path: &str) -> git2::IndexEntry {
    let never = git2::IndexTime::new(0, 0);
    git2::IndexEntry {
        ctime: never,
        mtime: never,
        dev: 0,
        ino: 0,
        mode: 0o100_644,
        uid: 0,
        gid: 0,
        file_size: 0,
        id: git2::Oid::ZERO_SHA1,
        flags: 0,
        flags_extended: 0,
        path: path.as_bytes().to_vec(),
    }
}

impl Default for TempRepo {
    fn default() -> TempRepo {
        TempRepo::new()
    }
}

impl TempRepo {
    /// Creates an empty SHA-1 repository with a work tree, on the unborn branch `main`.
    pub fn new() -> TempRepo {
        TempRepo::init(&[])
    }

    /// Creates a repository with a commit for each version: its message, and its files, whole. As `git init`,
    /// `file` and `commit` do it, without a process.
    ///
    /// # Panics
    /// Where a path cannot be one.
    pub fn of_versions(versions: &[(&str, Files)]) -> TempRepo {
        let mut repo = TempRepo::empty_in(crate::scratch());
        let made = repo.commit_versions(versions);
        made.unwrap_or_else(|e| panic!("{}: {e}", repo.top.display()));
        repo
    }

    fn commit_versions(&mut self, versions: &[(&str, Files)]) -> Result<(), git2::Error> {
        let mut options = git2::RepositoryInitOptions::new();
        let made = git2::Repository::init_opts(&self.top, options.initial_head("main"))?;
        let mut index = made.index()?;
        for (message, files) in versions {
            index.clear()?;
            for (path, text) in *files {
                index.add_frombuffer(&regular(path), text.as_bytes())?;
            }
            let tree = made.find_tree(index.write_tree()?)?;
            let parent = made.head().and_then(|head| head.peel_to_commit()).ok();
            let time = git2::Time::new(self.clock as i64, 0);
            let who = git2::Signature::new("A U Thor", "author@example.com", &time)?;
            let message = format!("{message}\n");
            made.commit(Some("HEAD"), &who, &who, &message, &tree, &parent.iter().collect::<Vec<_>>())?;
            self.clock += 60;
        }
        index.write()?;
        made.checkout_head(Some(git2::build::CheckoutBuilder::new().force()))
    }

    /// Creates an empty repository that hashes with SHA-256.
    pub fn sha256() -> TempRepo {
        TempRepo::init(&["--object-format=sha256"])
    }

    /// Creates an empty repository whose references are kept as reftable, which libgit2 cannot
    /// read; `None` when this git is too old.
    pub fn reftable() -> Option<TempRepo> {
        let repo = TempRepo::empty_scratch();
        let made = repo.command().args(["init", "-q", "--ref-format=reftable"]).arg(&repo.top).output();
        made.ok().filter(|o| o.status.success()).map(|_| repo)
    }

    /// Creates an empty repository with further arguments to `git init`.
    pub fn init(arguments: &[&str]) -> TempRepo {
        let repo = TempRepo::empty_scratch();
        let mut args = vec!["init", "-q"];
        args.extend(arguments);
        run(repo.command().args(args).arg(&repo.top));
        repo
    }

    fn empty_scratch() -> TempRepo {
        TempRepo::empty_in(crate::scratch())
    }

    fn empty_in(scratch: tempfile::TempDir) -> TempRepo {
        isolate_libgit2();
        let root = scratch.path().canonicalize().expect("a canonical path");
        let top = root.join("repo");
        std::fs::create_dir_all(root.join("home")).expect("a home");
        std::fs::create_dir_all(root.join("tmp")).expect("a folder for temporary files");
        std::fs::create_dir_all(&top).expect("a top folder");
        std::fs::write(
            root.join("home/.gitconfig"),
            "[init]\n\tdefaultBranch = main\n[user]\n\tname = A U Thor\n\temail = author@example.com\n\
             [protocol \"file\"]\n\tallow = always\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n\
             [core]\n\tautocrlf = false\n\tfsync = none\n",
        )
        .expect("a configuration");
        TempRepo { scratch, top, clock: EPOCH }
    }

    /// Returns the top of the work tree (or the git directory of a bare repository).
    pub fn path(&self) -> &Path {
        &self.top
    }

    /// Returns the scratch `HOME`.
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// Returns the folder that everything of this repository lives in.
    pub fn root(&self) -> PathBuf {
        self.scratch.path().canonicalize().expect("a canonical path")
    }

    /// Returns the variables that keep a process away from the machine's configuration.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        let pair = |k: &str, v: &OsStr| (OsString::from(k), v.to_os_string());
        let date = format!("{} +0000", self.clock);
        vec![
            pair("HOME", self.home().as_os_str()),
            pair("TMPDIR", self.root().join("tmp").as_os_str()),
            pair("XDG_CONFIG_HOME", self.home().join(".config").as_os_str()),
            pair("XDG_CACHE_HOME", self.home().join(".cache").as_os_str()),
            pair("GIT_CONFIG_NOSYSTEM", "1".as_ref()),
            pair("GIT_CEILING_DIRECTORIES", self.root().as_os_str()),
            pair("GIT_TERMINAL_PROMPT", "0".as_ref()),
            pair("GIT_AUTHOR_DATE", date.as_ref()),
            pair("GIT_COMMITTER_DATE", date.as_ref()),
            pair("GIT_EDITOR", "true".as_ref()),
            pair("GIT_PAGER", "cat".as_ref()),
            pair("TZ", "UTC".as_ref()),
            pair("LC_ALL", "C".as_ref()),
        ]
    }

    /// Returns a command with a clean environment, in the top folder.
    pub fn command_of(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("GIT_") || text.starts_with("INVDIFF_") || text.starts_with("XDG_") {
                command.env_remove(&name);
            }
        }
        command.envs(self.environment()).stdin(Stdio::null()).current_dir(&self.top);
        command
    }

    fn command(&self) -> Command {
        self.command_of("git")
    }

    /// Runs git in the top folder and returns its standard output without the last newline.
    pub fn git<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> String {
        String::from_utf8_lossy(&self.git_bytes(arguments)).trim_end_matches('\n').to_owned()
    }

    /// Runs git in the top folder and returns its standard output.
    pub fn git_bytes<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Vec<u8> {
        run(self.command().args(arguments)).stdout
    }

    /// Runs git in the top folder and returns whatever comes out, also on failure.
    pub fn git_output<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Output {
        self.command().args(arguments).output().expect("git runs")
    }

    /// Writes a file of the work tree, folders included.
    pub fn file(self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> TempRepo {
        self.write(path, content);
        self
    }

    /// As [`TempRepo::file`], without moving the repository.
    pub fn write(&self, path: impl AsRef<Path>, content: impl AsRef<[u8]>) {
        let path = self.top.join(path);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        std::fs::write(&path, content).expect("a writable file");
    }

    /// Deletes a file of the work tree.
    pub fn remove(self, path: impl AsRef<Path>) -> TempRepo {
        std::fs::remove_file(self.top.join(path)).expect("a file to remove");
        self
    }

    /// Renames a file in the work tree and in the index.
    pub fn rename(self, from: &str, to: &str) -> TempRepo {
        if let Some(folder) = self.top.join(to).parent() {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        self.git(["mv", from, to]);
        self
    }

    /// Makes a symbolic link in the work tree.
    #[cfg(unix)]
    pub fn link(self, path: &str, target: &str) -> TempRepo {
        std::os::unix::fs::symlink(target, self.top.join(path)).expect("a link");
        self
    }

    /// Sets one key in the repository's own configuration.
    pub fn config(self, key: &str, value: &str) -> TempRepo {
        self.git(["config", key, value]);
        self
    }

    /// Stages everything that is in the work tree.
    pub fn stage(self) -> TempRepo {
        self.git(["add", "-A"]);
        self
    }

    /// Stages everything and commits it, even when nothing changed. The next commit is a minute later.
    pub fn commit(self, message: &str) -> TempRepo {
        let mut repo = self.stage();
        repo.git(["commit", "-q", "--allow-empty", "--allow-empty-message", "-m", message]);
        repo.clock += 60;
        repo
    }

    /// Runs one git command and returns the repository, for chains.
    pub fn run<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> TempRepo {
        self.git(arguments);
        self.clock += 60;
        self
    }

    /// Merges branches into the current one with a merge commit (several: an octopus).
    pub fn merge(self, branches: &[&str], message: &str) -> TempRepo {
        let mut args = vec!["merge", "-q", "--no-ff", "-m", message];
        args.extend(branches);
        self.run(args)
    }

    /// Returns the full object id that a revision names.
    pub fn id(&self, revision: &str) -> String {
        self.git(["rev-parse", "--verify", revision])
    }

    /// Makes a sibling repository with `git clone` and the given arguments (`--bare`, `--depth=1`).
    /// It has a scratch folder of its own, and its remote `origin` is this repository.
    pub fn clone_with(&self, arguments: &[&str]) -> TempRepo {
        let copy = TempRepo { clock: self.clock, ..TempRepo::empty_scratch() };
        let url = format!("file://{}", self.top.display());
        let mut args = vec!["clone", "-q"];
        args.extend(arguments);
        let mut command = copy.command();
        run(command.args(args).arg(url).arg(&copy.top));
        copy
    }

    /// Makes a bare copy.
    pub fn bare(&self) -> TempRepo {
        self.clone_with(&["--bare"])
    }

    /// Makes a copy with the last `depth` commits only.
    pub fn shallow(&self, depth: u32) -> TempRepo {
        self.clone_with(&[&format!("--depth={depth}")])
    }

    /// Adds a linked worktree, detached at `revision`, beside the top folder and returns its path.
    pub fn linked_worktree(&self, name: &str, revision: &str) -> PathBuf {
        let path = self.root().join(name);
        self.git([
            OsStr::new("worktree"),
            "add".as_ref(),
            "-q".as_ref(),
            "--detach".as_ref(),
            path.as_os_str(),
            revision.as_ref(),
        ]);
        path
    }

    /// Adds `other` as a submodule at `path`, staged.
    pub fn submodule(self, other: &TempRepo, path: &str) -> TempRepo {
        let url = other.top.display().to_string();
        self.git(["submodule", "add", "-q", &url, path]);
        self
    }
}

fn run(command: &mut Command) -> Output {
    let output = command.output().expect("git runs");
    assert!(
        output.status.success(),
        "{command:?} failed\n{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    output
}

/// Points libgit2's search for configuration at nothing, once a process.
fn isolate_libgit2() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        use git2::ConfigLevel::{Global, ProgramData, System, XDG};
        for level in [Global, ProgramData, System, XDG] {
            // SAFETY: libgit2 keeps the path in a process-wide string that is only written here. Tests
            // open repositories after this call returns, because they make them with this kit.
            unsafe { git2::opts::set_search_path(level, "/nonexistent") }.expect("a search path");
        }
    });
}

#[cfg(test)]
mod tests {
    use super::TempRepo;

    #[test]
    fn object_ids_do_not_depend_on_the_machine() {
        let repo =
            TempRepo::new().file("a.c", "int a;\n").commit("one").file("a.c", "int b;\n").commit("two");
        assert_eq!(repo.git(["log", "--format=%s %ct"]), "two 1704067260\none 1704067200");
        let again =
            TempRepo::new().file("a.c", "int a;\n").commit("one").file("a.c", "int b;\n").commit("two");
        assert_eq!(repo.id("HEAD"), again.id("HEAD"));
    }

    #[test]
    fn versions_are_what_git_makes_of_them() {
        let versions: [(&str, super::Files); 2] =
            [("one", &[("a.c", "int a;\n"), ("d/b.h", "int b;\n")]), ("two", &[("d/b.h", "int c;\n")])];
        let repo = TempRepo::of_versions(&versions);
        let by_git = TempRepo::new()
            .file("a.c", "int a;\n")
            .file("d/b.h", "int b;\n")
            .commit("one")
            .remove("a.c")
            .file("d/b.h", "int c;\n")
            .commit("two");
        assert_eq!(repo.id("HEAD"), by_git.id("HEAD"));
        assert_eq!(repo.git(["status", "--porcelain", "--branch"]), "## main");
    }
}
