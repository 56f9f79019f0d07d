//! The pre-commit hook on a change of one function: how long it takes from cold, asked the same again, and after one
//! more edit of the same line.
//!
//! `cargo bench --bench precommit [-- <clone>... [<edits>]]` clones each of the folders, or the history `zlib` of the
//! folder that `INVDIFF_HISTORIES` names, into a temporary folder. In `<edits>` of its C files, 8 without a number,
//! evenly spread, the middle one of the lines that begin with `if` or `return` and have a number gets a number that is
//! one larger. Times are of this machine as it is.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Targets for the median.
const COLD: Duration = Duration::from_millis(500);
const WARM: Duration = Duration::from_millis(150);
const EDITS: usize = 8;

fn main() {
    // cargo adds options of its own, such as --bench.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let edits = words.iter().find_map(|word| word.parse().ok()).unwrap_or(EDITS);
    let mut folders: Vec<PathBuf> =
        words.iter().filter(|word| word.parse::<usize>().is_err()).map(PathBuf::from).collect();
    if folders.is_empty() {
        let Some(folder) = std::env::var_os("INVDIFF_HISTORIES") else {
            println!("skipped: INVDIFF_HISTORIES not set");
            return;
        };
        folders.push(Path::new(&folder).join("zlib"));
    }
    for folder in folders {
        match folder.is_dir() {
            true => history(&folder, edits),
            false => println!("skipped: {} is absent", folder.display()),
        }
    }
}

/// Measures edits of one history.
fn history(folder: &Path, edits: usize) {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let clone = temporary.path().join("clone");
    let status = Command::new("git").args(["clone", "-q", "--shared"]).arg(folder).arg(&clone).status();
    assert!(status.is_ok_and(|s| s.success()), "git clone");
    let listed = String::from_utf8(git(&clone, &["ls-files", "*.c"]).stdout).expect("names of files");
    let files: Vec<&str> = listed.lines().filter(|file| edited(&clone.join(file), 1).is_some()).collect();
    println!("{}: {} files of {}", folder.display(), edits.min(files.len()), files.len());
    let (mut cold, mut again, mut further) = (Vec::new(), Vec::new(), Vec::new());
    for file in files.iter().step_by((files.len() / edits.max(1)).max(1)).take(edits) {
        let path = clone.join(file);
        let texts = [1, 2].map(|more| edited(&path, more).expect("a line to edit"));
        stage(&clone, &path, &texts[0]);
        let (first, said) = hook(&clone, temporary.path());
        let (second, _) = hook(&clone, temporary.path());
        stage(&clone, &path, &texts[1]);
        let (third, _) = hook(&clone, temporary.path());
        println!("{:>6} {:>6} {:>6} ms  {file}: {said}", ms(first), ms(second), ms(third));
        for (times, time) in [(&mut cold, first), (&mut again, second), (&mut further, third)] {
            times.push(time);
        }
        git(&clone, &["reset", "-q", "--hard"]);
        let _ = std::fs::remove_dir_all(temporary.path().join("cache"));
    }
    for (what, mut times, target) in
        [("cold", cold, COLD), ("again", again, WARM), ("one more edit", further, COLD)]
    {
        times.sort();
        let (Some(median), Some(most)) = (times.get(times.len() / 2), times.last()) else { continue };
        println!("{what}: median {} ms, at most {} ms; wanted {} ms", ms(*median), ms(*most), ms(target));
    }
}

/// The text of a file with one number made larger by `more`.
fn edited(path: &Path, more: u64) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let lines: Vec<&str> = text.lines().collect();
    let begins =
        |line: &str| ["if ", "if(", "return "].iter().any(|word| line.trim_start().starts_with(word));
    let fits: Vec<usize> =
        (0..lines.len()).filter(|k| begins(lines[*k]) && number(lines[*k]).is_some()).collect();
    let chosen = *fits.get(fits.len() / 2)?;
    let (start, end) = number(lines[chosen])?;
    let (before, rest) = lines[chosen].split_at(start);
    let (digits, after) = rest.split_at(end - start);
    let line = format!("{before}{}{after}", digits.parse::<u64>().ok()? + more);
    let lines: Vec<&str> =
        lines.iter().enumerate().map(|(k, l)| if k == chosen { &*line } else { *l }).collect();
    Some(lines.join("\n") + "\n")
}

/// Where the first decimal number of a line is that is no part of a word.
fn number(line: &str) -> Option<(usize, usize)> {
    let bytes = line.as_bytes();
    let is_part =
        |k: usize| bytes.get(k).is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_' || *b == b'.');
    let is_start = |k: &usize| bytes[*k].is_ascii_digit() && (*k == 0 || !is_part(*k - 1));
    (0..bytes.len()).filter(is_start).find_map(|start| {
        let end = (start..).find(|k| !bytes.get(*k).is_some_and(u8::is_ascii_digit))?;
        (!is_part(end)).then_some((start, end))
    })
}

fn stage(clone: &Path, path: &Path, text: &str) {
    std::fs::write(path, text).expect("a file that can be written");
    git(clone, &["add", "-u"]);
}

fn git(clone: &Path, words: &[&str]) -> Output {
    let output = Command::new("git").arg("-C").arg(clone).args(words).output().expect("git runs");
    assert!(output.status.success(), "git {words:?}");
    output
}

/// Runs the hook of the built program; returns the first line that it says.
fn hook(clone: &Path, temporary: &Path) -> (Duration, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_git-invdiff"));
    command.current_dir(clone).args(["hook", "run", "pre-commit"]).stdin(Stdio::null());
    command.env("INVDIFF_CACHE_DIR", temporary.join("cache")).env("HOME", temporary);
    let begin = Instant::now();
    let output = command.output().expect("the program runs");
    let took = begin.elapsed();
    let said = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or("nothing").to_owned();
    (took, said)
}

fn ms(time: Duration) -> u128 {
    time.as_millis()
}
