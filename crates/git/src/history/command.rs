//! The git command line as a source of objects, for repositories that libgit2 cannot read: reftable,
//! sparse and split indexes, partial clones, replace references, unknown extensions.
//!
//! Nothing here writes to the repository, takes optional locks, asks for passwords or fetches.

use super::error::{Error, Result};
use super::object::{IndexEntry, Kind, Mode, Object, ObjectSource, path_of_bytes};
use git2::{ObjectFormat, Oid};
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

/// Variables that tie a process to one repository (`git rev-parse --local-env-vars`) and that a
/// [`GitCommand`] therefore sets itself.
const LOCAL_VARIABLES: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_PREFIX",
    "GIT_GRAFT_FILE",
    "GIT_SHALLOW_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INTERNAL_SUPER_PREFIX",
];

/// How to start `git` for one repository.
#[derive(Clone, Debug)]
pub struct GitCommand {
    directory: PathBuf,
    variables: Vec<(OsString, OsString)>,
    lazy_fetch: bool,
}

impl GitCommand {
    /// Runs in `directory` with the given variables on top of the process's own.
    pub(super) fn new(
        directory: PathBuf,
        variables: Vec<(OsString, OsString)>,
        lazy_fetch: bool,
    ) -> GitCommand {
        GitCommand { directory, variables, lazy_fetch }
    }

    pub(super) fn with(mut self, name: &str, value: impl Into<OsString>) -> GitCommand {
        self.variables.push((name.into(), value.into()));
        self
    }

    pub(super) fn with_lazy_fetch(mut self) -> GitCommand {
        self.lazy_fetch = true;
        self
    }

    pub(super) fn within(mut self, directory: PathBuf) -> GitCommand {
        self.directory = directory;
        self
    }

    /// Returns a command without arguments whose standard streams are not the terminal's.
    pub fn command(&self) -> Command {
        let mut command = Command::new("git");
        for name in LOCAL_VARIABLES {
            command.env_remove(name);
        }
        command
            .env("LC_ALL", "C")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .envs(self.variables.iter().map(|(k, v)| (k, v)))
            .current_dir(&self.directory)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if !self.lazy_fetch {
            // Git before 2.45 does not know the first one; without a protocol it cannot fetch either.
            command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
        }
        command
    }

    /// Runs git and returns what it printed, whatever its exit code.
    pub fn output<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Output> {
        self.command().args(arguments).output().map_err(|e| self.failure(arguments, &e.to_string()))
    }

    /// Runs git and returns its standard output; an error when it fails.
    pub fn read<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Vec<u8>> {
        let output = self.output(arguments)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(self.failure(arguments, &String::from_utf8_lossy(&output.stderr)))
    }

    /// As [`GitCommand::read`], with `input` on standard input.
    pub fn filter<S: AsRef<OsStr>>(&self, arguments: &[S], input: Vec<u8>) -> Result<Vec<u8>> {
        let fail = |e: std::io::Error| self.failure(arguments, &e.to_string());
        let mut child = self.command().args(arguments).stdin(Stdio::piped()).spawn().map_err(fail)?;
        let stdin = child.stdin.take();
        // A thread of its own: git may fill its output pipe before it has read all of its input. That
        // git stops reading early shows in its exit code.
        let writer = std::thread::spawn(move || stdin.map(|mut pipe| pipe.write_all(&input)));
        let output = child.wait_with_output().map_err(fail)?;
        drop(writer.join());
        if output.status.success() {
            return Ok(output.stdout);
        }
        Err(self.failure(arguments, &String::from_utf8_lossy(&output.stderr)))
    }

    fn failure<S: AsRef<OsStr>>(&self, arguments: &[S], said: &str) -> Error {
        let command =
            arguments.first().map(|a| a.as_ref().to_string_lossy().into_owned()).unwrap_or_default();
        let line = said.lines().find(|l| !l.trim().is_empty()).unwrap_or("it said nothing");
        let message = line.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned();
        Error::Git { command, message }
    }
}

/// Objects through `git cat-file --batch`, one process for the life of the source.
pub(super) struct CommandSource {
    git: GitCommand,
    format: ObjectFormat,
    partial: bool,
    batch: Mutex<Option<Batch>>,
}

struct Batch {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Drop for Batch {
    fn drop(&mut self) {
        // Already gone is as good as killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl CommandSource {
    pub(super) fn new(git: GitCommand, format: ObjectFormat, partial: bool) -> CommandSource {
        CommandSource { git, format, partial, batch: Mutex::new(None) }
    }

    fn start(&self) -> std::io::Result<Batch> {
        let mut child = self
            .git
            .command()
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(input), Some(output)) => Ok(Batch { child, input, output: BufReader::new(output) }),
            _ => Err(std::io::Error::other("git cat-file has no pipes")),
        }
    }

    /// Asks for one object; `None` when git does not have it.
    fn ask(batch: &mut Batch, id: Oid) -> std::io::Result<Option<Object>> {
        let bad = |what: &str| std::io::Error::other(what.to_owned());
        writeln!(batch.input, "{id}")?;
        batch.input.flush()?;
        let mut head = String::new();
        batch.output.read_line(&mut head)?;
        let mut words = head.split_whitespace().skip(1);
        let kind = match words.next() {
            Some("missing") => return Ok(None),
            Some(word) => Kind::of_name(word).ok_or_else(|| bad("unknown type of object"))?,
            None => {
                return Err(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "git cat-file stopped"));
            }
        };
        let size = words.next().and_then(|w| w.parse::<usize>().ok()).ok_or_else(|| bad("no size"))?;
        let mut bytes = vec![0; size];
        batch.output.read_exact(&mut bytes)?;
        batch.output.read_exact(&mut [0])?;
        Ok(Some(Object { kind, bytes: bytes.into() }))
    }
}

impl ObjectSource for CommandSource {
    fn object(&self, id: Oid) -> Result<Object> {
        let corrupt = |e: std::io::Error| Error::Corrupt { id, reason: e.to_string() };
        let mut guard = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        // Taken out while in use: after a failure in the middle of an answer the stream is of no use.
        let mut batch = match guard.take() {
            Some(batch) => batch,
            None => self.start().map_err(corrupt)?,
        };
        // Git before 2.45 ends where it would have to fetch and cannot.
        let ended = |e: &std::io::Error| self.partial && e.kind() == std::io::ErrorKind::UnexpectedEof;
        let failed = |e| if ended(&e) { Error::NotFetched(id) } else { corrupt(e) };
        let answer = Self::ask(&mut batch, id).map_err(failed)?;
        *guard = Some(batch);
        answer.ok_or(if self.partial { Error::NotFetched(id) } else { Error::MissingObject(id) })
    }

    fn resolve(&self, expression: &str) -> Result<Option<Oid>> {
        let output =
            self.git.output(&["rev-parse", "--verify", "--quiet", "--end-of-options", expression])?;
        if output.status.success() {
            let text = String::from_utf8_lossy(&output.stdout);
            return Ok(Oid::from_str_ext(text.trim(), self.format).ok());
        }
        if String::from_utf8_lossy(&output.stderr).contains("is ambiguous") {
            return Err(Error::AmbiguousId(expression.to_owned()));
        }
        Ok(None)
    }

    fn merge_base(&self, one: Oid, two: Oid) -> Result<Option<Oid>> {
        let arguments = ["merge-base".to_owned(), one.to_string(), two.to_string()];
        let output = self.git.output(&arguments)?;
        match output.status.code() {
            Some(0) => {
                let text = String::from_utf8_lossy(&output.stdout);
                Ok(Oid::from_str_ext(text.trim(), self.format).ok())
            }
            Some(1) => Ok(None),
            _ => Err(self.git.failure(&arguments, &String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// Lists the index as its difference from the empty tree, which, unlike `ls-files --stage`,
    /// leaves intent-to-add entries out and expands sparse directories.
    fn index(&self) -> Result<Vec<IndexEntry>> {
        let empty = super::object::empty_tree(self.format)?.to_string();
        let list = self.git.read(&[
            "diff-index",
            "--cached",
            "--raw",
            "-z",
            "--no-renames",
            "--no-abbrev",
            "--no-ext-diff",
            "--ignore-submodules=none",
            "--ita-invisible-in-index",
            &empty,
        ])?;
        let mut fields = list.split(|&b| b == 0);
        let mut entries = Vec::new();
        while let (Some(head), Some(path)) = (fields.next().filter(|f| !f.is_empty()), fields.next()) {
            let head = String::from_utf8_lossy(head);
            let words: Vec<&str> = head.split(' ').collect();
            let path = path_of_bytes(path);
            let [_, mode, _, id, status] = words.as_slice() else { continue };
            if *status == "U" {
                return Err(Error::Unmerged(path));
            }
            let id = Oid::from_str_ext(id, self.format)?;
            if let Some(mode) = Mode::of_octal(mode.as_bytes()) {
                entries.push(IndexEntry { path, mode, id });
            }
        }
        Ok(entries)
    }
}
