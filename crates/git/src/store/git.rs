//! Runs the `git` command line, for what only git itself does in every repository.
//!
//! Reading sources goes through libgit2 (`history`). Writing refs, merging and pushing notes goes
//! through git: it knows reftables, SHA-256 repositories, partial clones, the user's credentials and
//! the user's own hooks, and it is there whenever `git invdiff` is typed.

use std::ffi::{OsStr, OsString};
use std::io::{Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, OnceLock};

/// Why a git command gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program `git` could not be started, or its input could not be handed over.
    #[error("cannot run git: {0}")]
    Start(#[from] std::io::Error),
    #[error("cannot make a temporary file in '{folder}': {0}", folder = std::env::temp_dir().display())]
    Temporary(std::io::Error),
    /// Git said no; the message is git's own.
    #[error("git {command}: {message}")]
    Failed { command: String, status: Option<i32>, message: String },
    /// Git said something that no known version of git says.
    #[error("git {command}: unexpected answer {answer:?}")]
    Answer { command: String, answer: String },
}

/// A repository as the git command line sees it: a directory to start in, and perhaps a `--git-dir`.
///
/// The environment is inherited, so `GIT_DIR` and `GIT_INDEX_FILE` mean here what they mean to git.
#[derive(Clone, Debug, Default)]
pub struct Git {
    dir: Option<PathBuf>,
    git_dir: Option<PathBuf>,
    env: Vec<(OsString, OsString)>,
    /// Asked once.
    folders: Arc<OnceLock<Folders>>,
}

/// The git directories of a repository, absolute or relative to the current directory of this process.
#[derive(Debug)]
struct Folders {
    /// That of this worktree.
    own: PathBuf,
    /// The one that all worktrees share.
    common: PathBuf,
}

impl Git {
    /// Git in the current directory.
    pub fn here() -> Git {
        Git::default()
    }

    /// Git started in `dir`, as `git -C dir` would be.
    pub fn at(dir: impl Into<PathBuf>) -> Git {
        Git { dir: Some(dir.into()), ..Git::default() }
    }

    /// Uses the repository `git_dir`, as `git --git-dir` does; `None` discovers it.
    pub fn with_git_dir(mut self, git_dir: Option<PathBuf>) -> Git {
        self.git_dir = git_dir;
        self.folders = Arc::default();
        self
    }

    /// Sets an environment variable for every command.
    pub fn with_env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Git {
        self.env.push((name.into(), value.into()));
        self.folders = Arc::default();
        self
    }

    /// Fetches nothing that a partial clone lacks. Git before 2.45 does not know the first variable; without a
    /// protocol it cannot fetch either.
    pub fn without_fetching(mut self) -> Git {
        let variables = [("GIT_NO_LAZY_FETCH", "1"), ("GIT_ALLOW_PROTOCOL", "none")];
        self.env.extend(variables.map(|(name, value)| (name.into(), value.into())));
        self
    }

    /// The directory that commands start in; `None` is the current one.
    pub fn dir(&self) -> Option<&Path> {
        self.dir.as_deref()
    }

    /// Returns a command for this repository, with no arguments yet.
    pub fn command(&self) -> Command {
        let mut command = Command::new("git");
        if let Some(dir) = &self.dir {
            command.current_dir(dir);
        }
        if let Some(git_dir) = &self.git_dir {
            let mut option = OsString::from("--git-dir=");
            option.push(git_dir);
            command.arg(option);
        }
        command.envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command with `input` on its standard input, whatever its exit status.
    ///
    /// The input goes through an unnamed temporary file: a pipe could fill up while git fills ours,
    /// and writing to a git that has given up would raise SIGPIPE in this process.
    pub fn output<S: AsRef<OsStr>>(&self, args: &[S], input: &[u8]) -> Result<Output, GitError> {
        let mut command = self.command();
        command.args(args);
        if input.is_empty() {
            command.stdin(Stdio::null());
        } else {
            let mut file = tempfile::tempfile().map_err(GitError::Temporary)?;
            file.write_all(input)?;
            file.rewind()?;
            command.stdin(file);
        }
        Ok(command.output()?)
    }

    /// Runs a command and returns its standard output; any other exit status than 0 is an error.
    pub fn run<S: AsRef<OsStr>>(&self, args: &[S], input: &[u8]) -> Result<Vec<u8>, GitError> {
        let output = self.output(args, input)?;
        if output.status.success() { Ok(output.stdout) } else { Err(failure(args, &output)) }
    }

    /// Runs a command and returns its output without the line end; bytes that are not UTF-8 are
    /// replaced.
    pub fn line<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<String, GitError> {
        let bytes = self.run(args, b"")?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_string())
    }

    /// Runs a question that answers with a line, or with exit status 1 and nothing for "there is none".
    pub fn find<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Option<String>, GitError> {
        let output = self.output(args, b"")?;
        match output.status.code() {
            Some(0) => {
                Ok(Some(String::from_utf8_lossy(&output.stdout).trim_end_matches(['\n', '\r']).to_string()))
            }
            Some(1) => Ok(None),
            _ => Err(failure(args, &output)),
        }
    }

    /// Returns the object that a revision names; `None` when there is no such object.
    pub fn object(&self, revision: &str) -> Result<Option<String>, GitError> {
        self.find(&["rev-parse", "--verify", "--quiet", "--end-of-options", revision])
    }

    /// Returns the git directory that all worktrees share, absolute or relative to the current directory of this
    /// process. Fails where there is no repository.
    pub fn common_dir(&self) -> Result<&Path, GitError> {
        Ok(&self.folders()?.common)
    }

    /// Returns the git directory of this worktree, absolute or relative to the current directory of this process.
    pub fn own_dir(&self) -> Result<&Path, GitError> {
        Ok(&self.folders()?.own)
    }

    /// Returns where grafts stand, if there are any.
    pub fn graft_file(&self) -> Result<PathBuf, GitError> {
        let is_named = |name: &OsStr| name == "GIT_GRAFT_FILE";
        if std::env::var_os("GIT_GRAFT_FILE").is_none() && !self.env.iter().any(|(name, _)| is_named(name)) {
            return Ok(self.common_dir()?.join("info/grafts"));
        }
        Ok(self.joined_here(self.line(&["rev-parse", "--git-path", "info/grafts"])?))
    }

    fn folders(&self) -> Result<&Folders, GitError> {
        if let Some(known) = self.folders.get() {
            return Ok(known);
        }
        let both = self.line(&["rev-parse", "--git-dir", "--git-common-dir"])?;
        let found = match both.split('\n').collect::<Vec<_>>()[..] {
            [own, common] => Folders { own: self.joined_here(own), common: self.joined_here(common) },
            // A folder's name has a line end in it.
            _ => Folders {
                own: self.joined_here(self.line(&["rev-parse", "--git-dir"])?),
                common: self.joined_here(self.line(&["rev-parse", "--git-common-dir"])?),
            },
        };
        Ok(self.folders.get_or_init(|| found))
    }

    /// Makes a path that git has printed one of this process.
    fn joined_here(&self, printed: impl AsRef<Path>) -> PathBuf {
        self.dir.as_ref().map_or_else(|| printed.as_ref().to_path_buf(), |dir| dir.join(&printed))
    }

    /// Returns the last value of a configuration key.
    pub fn config(&self, key: &str) -> Result<Option<String>, GitError> {
        self.find(&["config", "--get", key])
    }

    /// Returns the last value of a key that holds a number, read as git reads it (`64k`).
    pub fn config_number(&self, key: &str) -> Result<Option<i64>, GitError> {
        let value = self.find(&["config", "--type=int", "--get", key])?;
        Ok(value.and_then(|value| value.parse().ok()))
    }
}

/// Turns an unsuccessful run into an error that carries git's own words.
fn failure<S: AsRef<OsStr>>(args: &[S], output: &Output) -> GitError {
    let command = args.first().map(|a| a.as_ref().to_string_lossy().into_owned()).unwrap_or_default();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let message = stderr.trim().trim_start_matches("fatal: ").to_string();
    let message = match (message.is_empty(), output.status.code()) {
        (false, _) => message,
        (true, Some(code)) => format!("exit status {code}"),
        (true, None) => "killed by a signal".to_string(),
    };
    GitError::Failed { command, status: output.status.code(), message }
}
