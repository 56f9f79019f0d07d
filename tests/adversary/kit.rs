//! Two versions of a program in a repository of two commits, asked by the command as a user would, and
//! compiled and run.

use crate::support::TempRepo;
use serde_json::Value;
use std::ffi::OsString;
use std::process::{Command, Stdio};

/// Files of one version.
pub use invdiff_testing::Files;

/// A commit `one` and a commit `two`; the second is `HEAD`.
pub struct Pair {
    repo: TempRepo,
    old: Vec<(String, String)>,
    new: Vec<(String, String)>,
}

/// How a compiled version ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    pub stdout: String,
    /// Exit status; `None`: a signal.
    pub status: Option<i32>,
}

/// What every command says of a change that nobody may call none.
const DENIALS: [(&str, &[&str]); 3] = [
    ("diff HEAD~1..HEAD", &["no semantic change"]),
    ("check HEAD~1..HEAD", &["no function changed"]),
    ("condition HEAD~1..HEAD", &["no function differs"]),
];

/// The command; `INVDIFF_BINARY` names another build, to compare what both say.
fn program() -> OsString {
    std::env::var_os("INVDIFF_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_git-invdiff").into())
}

impl Pair {
    /// Two versions of `a.c`.
    pub fn new(old: &str, new: &str) -> Pair {
        Pair::of(&[("a.c", old)], &[("a.c", new)])
    }

    /// Two versions of several files; what the second does not name is deleted by it.
    pub fn of(old: Files, new: Files) -> Pair {
        let repo = TempRepo::of_versions(&[("one", old), ("two", new)]);
        let own = |files: Files| files.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect();
        Pair { repo, old: own(old), new: own(new) }
    }

    /// Runs `git invdiff` with these words (split at blanks); exit code, output, and what went to stderr.
    pub fn run(&self, words: &str) -> (Option<i32>, String, String) {
        self.run_words(&words.split_whitespace().collect::<Vec<_>>())
    }

    /// As [`Pair::run`], of words that hold blanks.
    pub fn run_words(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let mut command = self.repo.command_of(program());
        // A fault of ours ends the process, even one that would have been caught.
        let output = command.env("INVDIFF_ABORT_ON_INTERNAL_ERROR", "1").args(words).output().unwrap();
        assert_ne!(output.status.code(), Some(101), "{words:?}\n{}", String::from_utf8_lossy(&output.stderr));
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    }

    /// Checks exit code, parts that are in the output and parts that are not; returns the output.
    #[track_caller]
    pub fn says(&self, words: &str, code: i32, said: &[&str], unsaid: &[&str]) -> String {
        let (status, out, err) = self.run(words);
        assert_eq!(status, Some(code), "{words}\n{out}\n{err}");
        said.iter().for_each(|part| assert!(out.contains(part), "{words}: not said: {part}\n{out}\n{err}"));
        unsaid.iter().for_each(|part| assert!(!out.contains(part), "{words}: said: {part}\n{out}\n{err}"));
        out
    }

    /// The JSON that a command prints.
    #[track_caller]
    pub fn json(&self, words: &str) -> Value {
        let (_, out, err) = self.run(&format!("{words} --json"));
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{words}: {e}\n{out}\n{err}"))
    }

    /// No command says that `FILE:FUNCTION` did not change: `diff`, `check` and `condition` do not deny
    /// it, `condition --exit-code` is not content, and `blame` names the second commit.
    #[track_caller]
    pub fn is_a_change_of(&self, function: &str) {
        self.is_denied_nowhere();
        let (status, out, err) = self.run("condition --exit-code HEAD~1..HEAD");
        assert_ne!(status, Some(0), "condition --exit-code\n{out}\n{err}");
        let (_, out, err) = self.run(&format!("blame {function}"));
        assert!(out.contains("two"), "blame {function}\n{out}\n{err}");
    }

    /// Nobody says that nothing changed.
    #[track_caller]
    pub fn is_denied_nowhere(&self) {
        for (words, denials) in DENIALS {
            let (_, out, err) = self.run(words);
            for denial in denials {
                assert!(!out.contains(denial), "{words}: {denial}\n{out}\n{err}");
            }
        }
    }

    /// As data and in words, nothing of the program changed.
    #[track_caller]
    pub fn is_no_change(&self) {
        self.says("diff HEAD~1..HEAD", 0, &["no semantic change"], &[]);
        self.says("check HEAD~1..HEAD", 0, &["no regression"], &[]);
        let (status, out, err) = self.run("condition --exit-code HEAD~1..HEAD");
        assert_eq!(status, Some(0), "condition --exit-code\n{out}\n{err}");
    }

    /// The files of the newer version, by path and text.
    pub fn newest(&self) -> &[(String, String)] {
        &self.new
    }

    /// Compiles both versions (all `.c` files of each) with the machine semantics of the analysis and these
    /// further flags, and runs them on a standard input.
    #[track_caller]
    pub fn runs(&self, flags: &[&str], stdin: &str) -> (Ran, Ran) {
        (compile_and_run(&self.old, flags, stdin), compile_and_run(&self.new, flags, stdin))
    }
}

/// Compiles the `.c` files of a version and runs the program.
#[track_caller]
pub fn compile_and_run(files: &[(String, String)], flags: &[&str], stdin: &str) -> Ran {
    use std::io::Write;
    let folder = invdiff_testing::scratch();
    let mut sources = Vec::new();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        if path.extension().is_some_and(|e| e == "c") {
            sources.push(path);
        }
    }
    let program = folder.path().join("program");
    let mut cc = invdiff_testing::compiler();
    cc.args(["-O0", "-fwrapv", "-ffp-contract=off", "-w"]).args(flags).args(&sources);
    let made = cc.arg("-o").arg(&program).arg("-lm").output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut child = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read closes the pipe early.
        let _ = pipe.write_all(stdin.as_bytes());
    }
    let output = child.wait_with_output().unwrap();
    Ran { stdout: String::from_utf8_lossy(&output.stdout).into_owned(), status: output.status.code() }
}
