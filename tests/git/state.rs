//! The whole state of a repository, for what must not change, and the small history that tests look at.

use super::*;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Everything below a folder: folders, links with their targets, files with permissions and bytes. Left out
/// is what is ours and may go at any time (the cache, the last hook's answer).
pub fn state(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        let in_git_dir = folder.join("HEAD").exists();
        if in_git_dir && entry.file_name().to_string_lossy().starts_with("invdiff") {
            continue;
        }
        let content = match metadata.file_type() {
            kind if kind.is_dir() => {
                found.extend(state(&path));
                Vec::new()
            }
            kind if kind.is_symlink() => {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            }
            _ => std::fs::read(&path).unwrap_or_default(),
        };
        found.insert(path, (metadata.permissions().mode(), content));
    }
    found
}

/// Says which paths differ between two states.
pub fn differing(
    before: &BTreeMap<PathBuf, (u32, Vec<u8>)>,
    after: &BTreeMap<PathBuf, (u32, Vec<u8>)>,
) -> Vec<PathBuf> {
    let all: std::collections::BTreeSet<_> = before.keys().chain(after.keys()).collect();
    all.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

/// A C file whose only function divides by `divisor`.
pub fn divide(name: &str, divisor: u32) -> String {
    format!("int {name}(int a)\n{{\n    return a / {divisor};\n}}\n")
}

/// Three commits: `src/a.c` divides by 2, 4, 8; `lib/b.c` stays.
pub fn three(repo: TempRepo) -> TempRepo {
    let repo = repo.file("lib/b.c", divide("g", 3)).file("src/a.c", divide("f", 2)).commit("one");
    repo.file("src/a.c", divide("f", 4)).commit("two").file("src/a.c", divide("f", 8)).commit("three")
}

/// The history of [`three`], with another divisor staged and another one on disk.
pub fn three_and_edits(repo: TempRepo) -> TempRepo {
    edits(three(repo))
}

/// Stages one edit and leaves another one on disk.
pub fn edits(repo: TempRepo) -> TempRepo {
    let repo = repo.file("src/a.c", divide("f", 16)).run(["add", "src/a.c"]);
    repo.file("src/a.c", divide("f", 32)).file("src/new.c", divide("h", 5))
}

/// A run of the real program, somewhere.
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn of(command: &mut Command) -> Run {
        let output = command.output().unwrap();
        Run { code: output.status.code(), out: stdout(&output), err: stderr(&output) }
    }

    /// The porcelain output without the ids of commits.
    pub fn facts(&self) -> String {
        let keep = |line: &str| match line.split('\t').collect::<Vec<_>>().as_slice() {
            ["version", index, _, name] => format!("version {index} {name}\n"),
            _ => format!("{line}\n"),
        };
        self.out.lines().map(keep).collect()
    }
}

/// The real program in a folder.
pub fn program_in(repo: &TempRepo, folder: &Path, words: &[&str]) -> Command {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    command.current_dir(folder).args(words);
    command
}

/// The members of the result as JSON; panics with what was said if there is none.
pub fn json(repo: &TempRepo, words: &[&str]) -> serde_json::Value {
    let output = invdiff(repo, &[&["--json"], words].concat());
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{words:?}: {}", stderr(&output)))
}
