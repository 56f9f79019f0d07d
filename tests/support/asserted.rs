//! Copies with assertions, compiled and run beside the originals.

use git_invdiff::analysis::{self, Options, PointChoice, VersionInput, diff, memory};
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::instrument::{Choice, CopiedFile, copies};
use git_invdiff::interp::{Input, Limits, Program, run};
use git_invdiff::report::{PointKind, Report, Status};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

pub use crate::support::tier::has_compiler;

/// Analyses one version of some files: all of it comes after nothing.
pub fn analyse(files: &[(&str, &str)]) -> (Report, VersionInput) {
    let points = PointChoice { kinds: Some(vec![PointKind::Exit, PointKind::Loop]), lines: Vec::new() };
    // Hard questions may stay open here.
    let limits = analysis::Limits { rlimit: 300_000, ..analysis::Limits::default() };
    let options = Options { all: true, whole: true, points, limits, ..Options::default() };
    let request = memory::request(&[vec![], files.to_vec()], c::Options::default(), options);
    let newest = request.versions.last().expect("two versions").clone();
    (diff(&request), newest)
}

pub fn choice() -> Choice {
    Choice { version: 2, statuses: vec![Status::Proved], shared: false, assumed: Vec::new() }
}

/// The copy of one file, with its proved facts; `None` if none is known. `assumed`: the assumptions that
/// they may rest on.
pub fn copy_of(source: &str, assumed: &[&str]) -> Option<CopiedFile> {
    let choice = Choice { assumed: assumed.iter().map(|a| (*a).to_owned()).collect(), ..choice() };
    let (report, newest) = analyse(&[("a.c", source)]);
    let (mut files, errors) = copies(&report, &newest, &c::Options::default(), &choice);
    assert_eq!(errors, Vec::<String>::new());
    files.pop()
}

/// Compiles a text with the machine semantics that the analysis assumes; the error is the compiler's.
pub fn compile(text: &[u8], folder: &Path, name: &str) -> Result<std::path::PathBuf, String> {
    let source = folder.join(format!("{name}.c"));
    std::fs::write(&source, text).map_err(|e| e.to_string())?;
    let program = folder.join(name);
    let out = invdiff_testing::compiler()
        .args(["-O1", "-fwrapv", "-ffp-contract=off", "-w"])
        .args([&source, Path::new("-o"), &program])
        .arg("-lm")
        .output()
        .map_err(|e| e.to_string())?;
    if out.status.success() { Ok(program) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
}

pub fn run_program(program: &Path, stdin: &[u8]) -> Output {
    use std::io::Write;
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    if let Some(mut pipe) = child.stdin.take() {
        // A program that does not read closes the pipe early.
        let _ = pipe.write_all(stdin);
    }
    child.wait_with_output().expect("the program ends")
}

/// The inputs on which the program does nothing undefined and ends.
pub fn defined<'i>(source: &str, inputs: &'i [String]) -> Vec<&'i String> {
    let tree = MemoryTree::new([("a.c", source)]);
    let loaded = frontend::load_unit(&tree, Path::new("a.c"), &c::Options::default());
    let Ok(loaded) = loaded else { return Vec::new() };
    let program = Arc::new(Program::new(vec![Arc::new(loaded.unit)]));
    let ends = |stdin: &&String| {
        let input = Input { stdin: stdin.as_bytes().to_vec(), ..Input::default() };
        run(&program, "main", &input, &Limits::default()).end.is_definite()
    };
    inputs.iter().filter(ends).collect()
}

/// Checks that the copy behaves as the original on these inputs; returns how many facts it asserts.
pub fn check(source: &str, inputs: &[String], assumed: &[&str]) -> Result<usize, String> {
    let Some(copy) = copy_of(source, assumed) else { return Ok(0) };
    let folder = invdiff_testing::scratch();
    let original = compile(source.as_bytes(), folder.path(), "original")?;
    let shown = String::from_utf8_lossy(&copy.copy.text).into_owned();
    let asserted =
        compile(&copy.copy.text, folder.path(), "asserted").map_err(|e| format!("{e}\n{shown}"))?;
    for stdin in defined(source, inputs) {
        let (a, b) = (run_program(&original, stdin.as_bytes()), run_program(&asserted, stdin.as_bytes()));
        if (a.status, &a.stdout) != (b.status, &b.stdout) {
            let said = String::from_utf8_lossy(&b.stderr).into_owned();
            return Err(format!("on {stdin:?}: {:?} instead of {:?}: {said}\n{shown}", b.status, a.status));
        }
    }
    Ok(copy.copy.facts)
}
