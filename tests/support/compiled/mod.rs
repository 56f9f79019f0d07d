//! Oracle of facts: a program compiled with facts checked around calls of its functions.
//!
//! A build with sanitizers comes first: it says which runs do something undefined, about which facts
//! say nothing, and writes down the states of the others. Then builds without and with optimisation run on
//! the same inputs. Signed overflow wraps everywhere, as the facts mean it.

mod asserted;
mod driver;
mod facts;
mod interface;
mod stdin;

pub use facts::{Fact, proved_at_exit};
pub use interface::{Column, Interface, Place};

use driver::Driver;
use facts::Setting;
use git_invdiff::analysis::{Options, PointChoice, diff, memory};
use git_invdiff::frontend::{self, c};
use git_invdiff::history::MemoryTree;
use git_invdiff::ir::Unit;
use git_invdiff::report::{PointKind, Report};
use git_invdiff::semantics::fixed;
use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

const COMMON: [&str; 4] = ["-w", "-std=gnu17", "-fwrapv", "-ffp-contract=off"];
const LINKED: [&str; 4] = [
    "-Wl,--wrap=exit,--wrap=abort,--wrap=__assert_fail",
    "-Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc",
    "-lm",
    "-o",
];
const SANITIZED: [&str; 5] = [
    "-O0",
    "-fsanitize=undefined,float-cast-overflow,address",
    "-fno-sanitize=signed-integer-overflow",
    "-fsanitize-undefined-trap-on-error",
    "-fsanitize-recover=address",
];
/// For facts that mean what C leaves defined, behind the flags of all: signed numbers that overflow end a run, too.
const AS_C: [&str; 2] = ["-fno-wrapv", "-fsanitize=signed-integer-overflow"];
/// The build of the program as it is, under the sanitizers.
const PLAIN: &str = "sanitizers";
/// What a program ends with in which a sanitizer finds an error while it reports one.
const NESTED: i32 = 127;
/// Builds whose runs must agree with the facts, by name.
const BUILDS: [(&str, &[&str]); 2] = [("-O0", &["-O0"]), ("-O2", &["-O2"])];

/// Loads a program as the analysis does; `None` where it cannot be read.
pub fn load(source: &str) -> Option<Unit> {
    let tree = MemoryTree::new([("a.c", source.as_bytes())]);
    let mut unit = frontend::load_unit(&tree, Path::new("a.c"), &Default::default()).ok()?.unit;
    fixed::settle(&mut unit);
    Some(unit)
}

/// All that is said of the functions of a program by itself, at exits and loop heads.
pub fn analyse_alone(source: &str) -> Report {
    let points = PointChoice { kinds: Some(vec![PointKind::Exit, PointKind::Loop]), lines: Vec::new() };
    let options = Options { all: true, whole: true, points, jobs: 1, ..Options::default() };
    diff(&memory::request(&[vec![("a.c", source)]], c::Options::default(), options))
}

/// What became of the facts of a program.
#[derive(Default)]
pub struct Answer {
    /// By fact, in the build that saw fewest: runs in which it held.
    pub held: BTreeMap<usize, u64>,
    /// By fact: runs in which looking at it was undefined.
    pub unjudged: BTreeMap<usize, u64>,
    /// Fact, build, and the number of the first run in which it fails.
    pub failed: Vec<(usize, &'static str, u64)>,
    /// Facts that were asserted, and what is said of assertions that fail.
    pub asserted: usize,
    pub broken: Vec<String>,
    /// Assertions of the program's own that fail in it as it is.
    own: BTreeSet<String>,
    /// Runs, defined in the program itself, in which looking at a fact was not.
    pub reckless: Vec<String>,
    /// Defined runs by function.
    pub defined: BTreeMap<String, u64>,
    /// States of defined runs, by function.
    pub states: BTreeMap<String, States>,
}

/// States of one function at the end of runs.
pub struct States {
    pub columns: Vec<Column>,
    /// A bit for each known value, and the values.
    pub rows: Vec<(u64, Vec<i64>)>,
}

/// How often functions are called.
#[derive(Clone, Copy)]
pub struct Runs {
    /// In the sanitized build, which writes down what states they leave.
    pub all: usize,
    /// In each other build.
    pub others: usize,
}

/// Runs the functions of a program, and copies of it with assertions. The error says why nothing was learnt.
pub fn check(
    unit: &Unit,
    source: &str,
    report: &Report,
    facts: &[Fact],
    runs: Runs,
) -> Result<Answer, String> {
    check_defined(unit, source, (report, facts), runs, &[])
}

/// The same of facts that speak of no run in which a signed number overflows.
pub fn check_as_c(unit: &Unit, source: &str, facts: &[Fact], runs: Runs) -> Result<Answer, String> {
    check_defined(unit, source, (&Report::default(), facts), runs, &AS_C)
}

fn check_defined(
    unit: &Unit,
    source: &str,
    (report, facts): (&Report, &[Fact]),
    runs: Runs,
    flags: &[&str],
) -> Result<Answer, String> {
    let folder = invdiff_testing::scratch();
    let dir = folder.path();
    let driver = compilable(unit, source, facts, dir)?;
    let mut answer = Answer::default();
    answer.sanitized(dir, runs.all, flags)?;
    answer.read_runs(dir, &driver, runs.all)?;
    answer.read_rows(dir, &driver)?;
    for (name, flags) in BUILDS {
        compile(dir, flags, "plain")?;
        execute(dir, &["./plain", &runs.all.to_string(), &runs.others.to_string(), "runs", "report"])?;
        answer.read_report(dir, name)?;
    }
    // The same functions are called, static ones too: runs are known by their functions' numbers.
    let none_said = (0..facts.len()).collect();
    for copy in asserted::copies(source, report, Setting::Functions) {
        let made = driver::driver(unit, source, &copy.text, facts, &none_said);
        std::fs::write(dir.join("driver.c"), &made.text).map_err(|e| e.to_string())?;
        answer.assertions(dir, &copy, runs)?;
    }
    answer.is_about(facts.len())?;
    Ok(answer)
}

/// Runs a program on inputs, and copies of it with assertions.
pub fn check_program(unit: &Unit, source: &str, report: &Report, runs: usize) -> Result<Answer, String> {
    let folder = invdiff_testing::scratch();
    let dir = folder.path();
    let inputs = stdin::inputs(unit, source, runs);
    let runs = Runs { all: inputs.len(), others: inputs.len() };
    let write = |text: &str| {
        let made = driver::program(unit, text, &inputs);
        std::fs::write(dir.join("driver.c"), made).map_err(|e| e.to_string())
    };
    let mut answer = Answer::default();
    write(source)?;
    answer.sanitized(dir, runs.all, &[])?;
    answer.defined.insert("main".into(), defined(dir)?.iter().filter(|d| **d).count() as u64);
    for copy in asserted::copies(source, report, Setting::Program) {
        write(&copy.text)?;
        answer.assertions(dir, &copy, runs)?;
    }
    Ok(answer)
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It came back, and left this.
    Back(u64),
    Undefined,
    Slow,
    /// The program ended in it.
    Ended,
}

/// What the runs of a function in a `text`, a version of `source`, come to under the sanitizers, a signed sum that
/// leaves its word being undefined; and the arguments of the run that is asked for.
pub fn outcomes(
    unit: &Unit,
    source: &str,
    text: &str,
    function: &str,
    (runs, shown): (usize, Option<usize>),
) -> Result<(Vec<Outcome>, String), String> {
    let folder = invdiff_testing::scratch();
    let dir = folder.path();
    let made = driver::outcomes(unit, source, text, function).ok_or("no arguments can be made")?;
    std::fs::write(dir.join("driver.c"), made).map_err(|e| e.to_string())?;
    compile(dir, &[&SANITIZED[..], &AS_C].concat(), "sanitized")?;
    let asked = format!("IVD_RUN={}", shown.map_or(-1, |n| n as i64));
    let runs = runs.to_string();
    execute(dir, &["env", &asked, "./sanitized", &runs, &runs, "runs", "report"])?;
    let bytes = std::fs::read(dir.join("runs")).map_err(|e| e.to_string())?;
    let read = |run: &[u64]| match run {
        [0, left] => Outcome::Back(*left),
        [2, _] => Outcome::Slow,
        [3, _] => Outcome::Ended,
        _ => Outcome::Undefined,
    };
    let found = words(&bytes).chunks(2).map(read).collect();
    Ok((found, std::fs::read_to_string(dir.join("input")).unwrap_or_default()))
}

/// Which runs were defined.
fn defined(dir: &Path) -> Result<Vec<bool>, String> {
    let bytes = std::fs::read(dir.join("runs")).map_err(|e| e.to_string())?;
    Ok(words(&bytes).into_iter().step_by(2).map(|status| status == 0).collect())
}

/// Makes a driver that compiles: facts that C cannot say are left out.
fn compilable(unit: &Unit, source: &str, facts: &[Fact], dir: &Path) -> Result<Driver, String> {
    let mut left_out = BTreeSet::new();
    loop {
        let made = driver::driver(unit, source, source, facts, &left_out);
        std::fs::write(dir.join("driver.c"), &made.text).map_err(|e| e.to_string())?;
        let mut arguments = COMMON.to_vec();
        arguments.extend(["-fsyntax-only", "-fmax-errors=0", "driver.c"]);
        let out = invdiff_testing::compiler()
            .args(&arguments)
            .current_dir(dir)
            .output()
            .map_err(|e| e.to_string())?;
        if out.status.success() {
            return Ok(made);
        }
        let errors = String::from_utf8_lossy(&out.stderr).into_owned();
        let number = |line: &str| line.strip_prefix("facts:")?.split(':').next()?.parse::<usize>().ok();
        let wrong: BTreeSet<usize> =
            errors.lines().filter(|l| l.contains("error:")).filter_map(|l| Some(number(l)? - 1)).collect();
        if wrong.is_subset(&left_out) {
            return Err(errors);
        }
        left_out.extend(wrong);
    }
}

fn compile(dir: &Path, flags: &[&str], output: &str) -> Result<(), String> {
    let mut arguments = COMMON.to_vec();
    arguments.extend(flags);
    arguments.push("driver.c");
    arguments.extend(LINKED);
    arguments.push(output);
    let out =
        invdiff_testing::compiler().args(&arguments).current_dir(dir).output().map_err(|e| e.to_string())?;
    if out.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&out.stderr).into_owned()) }
}

/// Runs a driver to its end. A wild write that no sanitizer sees can end it: the run in question, which does
/// something undefined, is left out from then on; of a function with many such runs, all.
fn execute(dir: &Path, arguments: &[&str]) -> Result<(), String> {
    const MOST_OF_FUNCTION: usize = 32;
    loop {
        let out = Command::new("timeout").arg("600").args(arguments).current_dir(dir).output();
        let status = out.map_err(|e| e.to_string())?.status;
        if status.success() {
            return Ok(());
        }
        let progress = std::fs::read(dir.join("progress")).map_err(|e| e.to_string())?;
        let &[function, run] = words(&progress).as_slice() else {
            return Err(format!("{arguments:?}: {status}"));
        };
        let known = std::fs::read_to_string(dir.join("skipped")).unwrap_or_default();
        let of_function =
            known.lines().filter(|l| l.split(' ').next() == Some(&function.to_string())).count();
        let is_known = known.lines().any(|l| *l == format!("{function} {run}"));
        let is_undefined = status.signal().is_some() || status.code() == Some(NESTED);
        if !is_undefined || is_known || of_function > MOST_OF_FUNCTION {
            return Err(format!("{arguments:?}: {status}, in run {run} of function {function}"));
        }
        let which = if of_function < MOST_OF_FUNCTION { run.to_string() } else { "-1".to_owned() };
        std::fs::write(dir.join("skipped"), format!("{known}{function} {which}\n"))
            .map_err(|e| e.to_string())?;
    }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap_or_default())).collect()
}

impl Answer {
    /// Refuses counts of facts that are none: a wild write that no sanitizer sees can damage them.
    fn is_about(&self, facts: usize) -> Result<(), String> {
        let counted = self.held.keys().chain(self.unjudged.keys()).copied();
        match counted.chain(self.failed.iter().map(|(k, ..)| *k)).find(|k| *k >= facts) {
            Some(k) => Err(format!("a run damaged the driver: fact {k} of {facts}")),
            None => Ok(()),
        }
    }

    fn sanitized(&mut self, dir: &Path, runs: usize, flags: &[&str]) -> Result<(), String> {
        let runs = runs.to_string();
        compile(dir, &[&SANITIZED, flags].concat(), "sanitized")?;
        execute(dir, &["./sanitized", &runs, &runs, "runs", "report", "rows"])?;
        self.read_report(dir, PLAIN)
    }

    /// Runs a copy with assertions where the program itself does nothing undefined.
    fn assertions(&mut self, dir: &Path, copy: &asserted::Copy, runs: Runs) -> Result<(), String> {
        let made = format!("{}{}", if copy.is_tame { "t" } else { "" }, runs.others);
        for (name, flags) in BUILDS {
            compile(dir, flags, "plain")?;
            execute(dir, &["./plain", &runs.all.to_string(), &made, "runs", "report"])?;
            self.read_report(dir, name)?;
        }
        self.asserted += copy.facts;
        Ok(())
    }

    fn read_report(&mut self, dir: &Path, build: &'static str) -> Result<(), String> {
        let text = std::fs::read_to_string(dir.join("report")).map_err(|e| e.to_string())?;
        for line in text.lines() {
            if let Some(what) = line.strip_prefix("asserts ") {
                let assertion = what.split_once(' ').map_or(what, |(_, assertion)| assertion);
                if build == PLAIN {
                    self.own.insert(assertion.to_owned());
                } else if !self.own.contains(assertion) {
                    self.broken.push(format!("{build}, run {what}"));
                }
                continue;
            }
            if let Some(what) = line.strip_prefix("undefined ") {
                self.reckless.push(format!("{build}, {what}"));
                continue;
            }
            let mut words = line.split(' ');
            let kind = words.next();
            let numbers: Vec<u64> = words.filter_map(|w| w.parse().ok()).collect();
            match (kind, numbers.as_slice()) {
                (Some("fails"), [fact, run]) => self.failed.push((*fact as usize, build, *run)),
                (Some("judged"), [fact, held, _, unjudged]) => {
                    let least = self.held.entry(*fact as usize).or_insert(*held);
                    *least = (*least).min(*held);
                    let most = self.unjudged.entry(*fact as usize).or_default();
                    *most = (*most).max(*unjudged);
                }
                _ => return Err(format!("what is '{line}'?")),
            }
        }
        Ok(())
    }

    fn read_runs(&mut self, dir: &Path, driver: &Driver, runs: usize) -> Result<(), String> {
        let defined = defined(dir)?;
        for (name, runs) in driver.functions.iter().zip(defined.chunks(runs)) {
            self.defined.insert(name.clone(), runs.iter().filter(|d| **d).count() as u64);
        }
        Ok(())
    }

    fn read_rows(&mut self, dir: &Path, driver: &Driver) -> Result<(), String> {
        let bytes = std::fs::read(dir.join("rows")).map_err(|e| e.to_string())?;
        for (name, columns) in driver.functions.iter().zip(&driver.columns) {
            self.states.insert(name.clone(), States { columns: columns.clone(), rows: Vec::new() });
        }
        let mut rest = words(&bytes).into_iter();
        while let (Some(f), Some(known), Some(n)) = (rest.next(), rest.next(), rest.next()) {
            let values = rest.by_ref().take(n as usize).map(|w| w as i64).collect();
            let name = driver.functions.get(f as usize).ok_or("no such function")?;
            if let Some(states) = self.states.get_mut(name) {
                states.rows.push((known, values));
            }
        }
        Ok(())
    }
}
