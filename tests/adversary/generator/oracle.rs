//! What the versions of a pair really do: compiled under sanitizers and run on a list of inputs.

use super::template::Files;
use invdiff_testing::scratch;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Semantics that the analysis assumes, and a status of its own for what is undefined.
const SANITIZED: [&str; 9] = [
    "-O0",
    "-fwrapv",
    "-ffp-contract=off",
    "-w",
    "-fsanitize=undefined,float-cast-overflow,address",
    "-fno-sanitize=signed-integer-overflow,leak",
    "-fno-sanitize-recover=all",
    "-g0",
    "-lm",
];

/// As [`SANITIZED`], in half of the time: what is undefined in memory is not seen.
const TRAPPED: [&str; 8] = [
    "-O0",
    "-fwrapv",
    "-ffp-contract=off",
    "-w",
    "-fsanitize=undefined,float-cast-overflow",
    "-fno-sanitize=signed-integer-overflow",
    "-fsanitize-undefined-trap-on-error",
    "-lm",
];

/// How closely runs are watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Care {
    /// Under all sanitizers.
    Sanitized,
    /// What is undefined in memory may count as defined: what such runs refute is refuted under sanitizers first.
    Trapped,
}

/// Status of a run that a sanitizer ended.
const UNDEFINED: i32 = 77;

/// SIGILL, which `__builtin_trap` ends in.
const TRAP: i32 = 4;

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Status(i32),
    Signal,
    Undefined,
    /// Not within the time that every honest run needs.
    Late,
}

#[derive(Clone, Debug)]
pub struct Ran {
    pub stdout: String,
    pub ended: Ended,
    /// The condition of the assertion that failed; lines and names of programs are not compared.
    pub failed: Option<String>,
}

impl PartialEq for Ran {
    fn eq(&self, other: &Ran) -> bool {
        (&self.stdout, &self.ended) == (&other.stdout, &other.ended)
    }
}

impl Ran {
    pub fn is_defined(&self) -> bool {
        matches!(self.ended, Ended::Status(_) | Ended::Signal)
    }

    /// An assertion failed, or the program was ended otherwise.
    pub fn is_failure(&self) -> bool {
        self.ended == Ended::Signal
    }
}

/// Standard inputs: pairs of numbers at the edges and between.
pub fn inputs() -> Vec<String> {
    const NUMBERS: [(i64, i64); 14] = [
        (0, 0),
        (1, 2),
        (-1, 3),
        (5, -4),
        (7, 7),
        (12, 9),
        (6, 1),
        (255, 8),
        (-128, 6),
        (1000, 5),
        (32768, 11),
        (65535, 2),
        (2147483647, 15),
        (-2147483648, 10),
    ];
    NUMBERS.iter().map(|(a, b)| format!("{a} {b}\n")).collect()
}

/// Standard inputs of a dozen numbers.
pub fn long_inputs() -> Vec<String> {
    let all: Vec<String> = inputs().iter().map(|i| i.trim().to_owned()).collect();
    let rotated = |k: usize| (0..8).map(|i| all[(k * 5 + i * 3) % all.len()].as_str()).collect::<Vec<_>>();
    (0..12).map(|k| rotated(k).join(" ") + "\n").collect()
}

/// Writes the files of a version and compiles all of its C; the error is the compiler's.
pub fn compile(files: &Files, folder: &Path, flags: &[&str]) -> Result<PathBuf, String> {
    std::fs::create_dir_all(folder).map_err(|e| e.to_string())?;
    for (path, text) in files {
        let path = folder.join(path);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent)
            .and_then(|()| std::fs::write(&path, text))
            .map_err(|e| e.to_string())?;
    }
    // What another file includes is no unit of its own.
    let included = |path: &str| files.iter().any(|(_, text)| text.contains(&format!("#include \"{path}\"")));
    let units = files.iter().map(|(p, _)| p).filter(|p| p.ends_with(".c") && !included(p));
    let units: Vec<PathBuf> = units.map(PathBuf::from).collect();
    linked(&units, folder, "program", flags)
}

/// Compiles units that stand in a folder to a program there; the error is the compiler's.
fn linked(units: &[PathBuf], folder: &Path, name: &str, flags: &[&str]) -> Result<PathBuf, String> {
    let mut command = invdiff_testing::compiler();
    command.current_dir(folder).env("TMPDIR", folder).args(units).args(["-o", name]).args(flags);
    let out = command.output().map_err(|e| e.to_string())?;
    match out.status.success() {
        true => Ok(folder.join(name)),
        false => Err(String::from_utf8_lossy(&out.stderr).into_owned()),
    }
}

/// Compiles units under the sanitizers, in a folder whose files are there.
pub fn built(units: &[PathBuf], folder: &Path, name: &str, flags: &[&str]) -> Result<PathBuf, String> {
    linked(units, folder, name, &[&SANITIZED[..], flags].concat())
}

/// What serves runs, compiled once for all programs.
fn server() -> Result<PathBuf, String> {
    static MADE: OnceLock<Result<(tempfile::TempDir, PathBuf), String>> = OnceLock::new();
    let make = || {
        let folder = invdiff_testing::scratch();
        std::fs::write(folder.path().join("runs.c"), include_str!("runs.c")).map_err(|e| e.to_string())?;
        let object = linked(&["runs.c".into()], folder.path(), "runs.o", &["-c", "-O1", "-D_GNU_SOURCE"])?;
        Ok((folder, object))
    };
    MADE.get_or_init(make).as_ref().map(|(_, object)| object.clone()).map_err(Clone::clone)
}

/// Compiles a version under the sanitizers.
pub fn sanitized(files: &Files, folder: &Path) -> Result<PathBuf, String> {
    compile(files, folder, &SANITIZED)
}

/// A version as compiled, and how it ran on each input.
pub struct Built {
    pub folder: tempfile::TempDir,
    pub runs: Vec<Ran>,
}

impl Built {
    /// Compiles a version and runs it; the error is the compiler's.
    pub fn of(files: &Files, inputs: &[String], care: Care) -> Result<Built, String> {
        let folder = scratch();
        let server = server()?;
        let watched = if care == Care::Trapped { &TRAPPED[..] } else { &SANITIZED[..] };
        let flags = [&[server.to_str().ok_or("a folder that is no text")?], watched].concat();
        let program = compile(files, folder.path(), &flags)?;
        let runs = served(&program, inputs).ok_or("the server of runs broke off")?;
        Ok(Built { folder, runs })
    }

    /// Runs it on another input.
    pub fn run(&self, input: &str) -> Ran {
        run(&self.folder.path().join("program"), input)
    }
}

/// Runs a program that the server is linked into on each input; `None`: not all came back.
fn served(program: &Path, inputs: &[String]) -> Option<Vec<Ran>> {
    use std::io::Write;
    let asked: String = inputs.iter().map(|input| format!("{}\n{input}", input.len())).collect();
    let mut command = sanitizing(program);
    let mut child = command.env("INVDIFF_RUNS", "1").stderr(Stdio::null()).spawn().ok()?;
    child.stdin.take()?.write_all(asked.as_bytes()).ok()?;
    let told = child.wait_with_output().ok()?.stdout;
    let mut rest = told.as_slice();
    let mut take = |n: usize| {
        let (part, behind) = rest.split_at_checked(n)?;
        rest = behind;
        Some(String::from_utf8_lossy(part).into_owned())
    };
    let mut one = || {
        let mut head = String::new();
        while !head.ends_with('\n') {
            head += &take(1)?;
        }
        let numbers: Vec<i64> = head.split_whitespace().map_while(|n| n.parse().ok()).collect();
        let &[status, printed, complained] = numbers.as_slice() else { return None };
        let stdout = take(usize::try_from(printed).ok()?)?;
        let failed = failed(&take(usize::try_from(complained).ok()?)?);
        let ended = match i32::try_from(status).ok()? {
            -1 => Ended::Late,
            status => ended(std::process::ExitStatus::from_raw(status)),
        };
        Some(Ran { stdout, ended, failed })
    };
    inputs.iter().map(|_| one()).collect()
}

/// Starts a program in its folder, with pipes.
fn sanitizing(program: &Path) -> Command {
    let status = format!("exitcode={UNDEFINED}:detect_leaks=0:detect_stack_use_after_return=0");
    let mut command = Command::new(program);
    command
        .current_dir(program.parent().unwrap_or(Path::new(".")))
        .env("ASAN_OPTIONS", &status)
        .env("UBSAN_OPTIONS", &status)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    command
}

/// The condition of the assertion that a run complains of.
fn failed(complaint: &str) -> Option<String> {
    let (_, rest) = complaint.split_once("Assertion `")?;
    rest.split_once("' failed").map(|(condition, _)| condition.to_owned())
}

/// Runs a program on a standard input.
pub fn run(program: &Path, stdin: &str) -> Ran {
    use std::io::{Read, Seek, Write};
    let mut errors = tempfile::tempfile().expect("a file for what it complains of");
    let mut child = sanitizing(program)
        .stderr(errors.try_clone().expect("the file is open"))
        .spawn()
        .expect("the program starts");
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read closes the pipe early.
        let _ = pipe.write_all(stdin.as_bytes());
    }
    let mut pipe = child.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = &mut pipe {
            let _ = pipe.take(1 << 20).read_to_end(&mut bytes);
        }
        bytes
    });
    let begun = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(status)) => break ended(status),
            Ok(None) if begun.elapsed() < Duration::from_secs(10) => {
                std::thread::sleep(Duration::from_millis(1));
            }
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                break Ended::Late;
            }
        }
    };
    let stdout = String::from_utf8_lossy(&reader.join().unwrap_or_default()).into_owned();
    let mut complaint = String::new();
    let _ = errors.rewind().and_then(|()| errors.take(1 << 16).read_to_string(&mut complaint));
    Ran { stdout, ended, failed: failed(&complaint) }
}

fn ended(status: std::process::ExitStatus) -> Ended {
    match status.code() {
        None if status.signal() == Some(TRAP) => Ended::Undefined,
        Some(UNDEFINED) => Ended::Undefined,
        Some(code) => Ended::Status(code),
        None => Ended::Signal,
    }
}
