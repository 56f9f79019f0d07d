//! What is proved holds in compiled programs, and much of what holds is proved.
//!
//! Functions of generated programs are called thousands of times, with any arguments and memory, under
//! sanitizers, without and with optimisation. *No proved fact may fail* in a run that does nothing
//! undefined and satisfies the fact's assumptions. And the oracle is not won by *silence*: of the exit facts
//! that could be stated (instances of the templates that survive all runs, module `survivors`) the share
//! that the report's proved facts imply is counted, and may not fall.
//!
//! `INVDIFF_ORACLE=500 INVDIFF_ORACLE_RUNS=100000 cargo test --release --test oracle facts -- --nocapture` is
//! the whole measure: programs, and runs of each function. `INVDIFF_ORACLE_FROM` is the first seed;
//! `INVDIFF_SUBJECTS=1` takes every shared subject, and not each 40th.

use crate::compiled;
use crate::compiled::{Answer, Fact, Interface, Place, Runs, States};
use crate::generate_c;
use crate::generate_c::Program;
use crate::implied::Implications;
use crate::support::oracle::shared;
use crate::support::tier::{has_compiler, rounds};
use crate::survivors;
use crate::survivors::Survivor;
use git_invdiff::ir::Unit;
use git_invdiff::report::Report;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

/// Least share of the survivors that is proved, in percent: what was reached.
const LEAST_SHARE: f64 = 60.0;

/// Of so many programs one may be lost: a wild write that the sanitizer does not see breaks the driver.
const MOST_NOT_RUN: usize = 6;

/// Survivors of a kind, and those of them that are proved.
#[derive(Clone, Copy, Default)]
struct Count {
    survive: usize,
    proved: usize,
}

impl Count {
    fn share(self) -> f64 {
        100.0 * self.proved as f64 / self.survive.max(1) as f64
    }
}

/// What was learnt of some programs.
#[derive(Default)]
struct Examined {
    functions: usize,
    facts: usize,
    /// Facts that held in some run, and facts that were asserted.
    judged: usize,
    asserted: usize,
    /// Facts that fail.
    wrong: Vec<String>,
    /// Programs whose driver did not come to its end, and why.
    not_run: Vec<String>,
    /// By group (class, template, place) and member of it.
    counts: BTreeMap<(&'static str, String), Count>,
}

impl Examined {
    fn joined(mut self, other: Examined) -> Examined {
        self.functions += other.functions;
        self.facts += other.facts;
        self.judged += other.judged;
        self.asserted += other.asserted;
        self.wrong.extend(other.wrong);
        self.not_run.extend(other.not_run);
        for (key, count) in other.counts {
            let sum = self.counts.entry(key).or_default();
            sum.survive += count.survive;
            sum.proved += count.proved;
        }
        self
    }

    fn count(&mut self, program: &Program, s: &Survivor, is_proved: bool) {
        let place = if s.place == Place::Cell { "memory" } else { "result, globals" };
        let of_group = |key: &str| format!("{place:16} {key}");
        let keys = [
            ("all", of_group("")),
            ("class", of_group(program.class.name())),
            ("template", of_group(s.template)),
            ("place", of_group(&format!("{:?}", s.place))),
        ];
        for key in keys {
            let count = self.counts.entry(key).or_default();
            count.survive += 1;
            count.proved += usize::from(is_proved);
        }
    }

    fn broken(&mut self, what: &str, answer: &Answer) {
        self.asserted += answer.asserted;
        // Told, not yet refused: facts speak of places that are not there in each run.
        answer.reckless.iter().for_each(|r| println!("{what}: an assertion is undefined in {r}"));
        self.wrong.extend(answer.broken.iter().map(|b| format!("{what}, assertion, {b}")));
    }

    fn wrong_facts(&mut self, seed: u64, source: &str, facts: &[Fact], answer: &Answer) {
        for (k, build, run) in &answer.failed {
            let Fact { function, text, assumptions, .. } = &facts[*k];
            self.wrong.push(format!(
                "seed {seed}, {build}, run {run} of {function}: {text} {assumptions:?}\n{}",
                text_of(source, function)
            ));
        }
    }
}

/// Text of a function.
fn text_of(source: &str, function: &str) -> String {
    let head = format!(" {function}(");
    let lines = source.lines().skip_while(|l| !l.contains(&head) || l.ends_with(';'));
    lines
        .scan(false, |done, l| (!std::mem::replace(done, l == "}")).then_some(l))
        .collect::<Vec<_>>()
        .join("\n")
}

/// The survivors of a function that neither types nor stronger survivors imply, each with whether the
/// report proves it.
fn judged(unit: &Unit, name: &str, states: &States, facts: &[Fact]) -> Vec<(Survivor, bool)> {
    let Some(function) = unit.function(name) else { return Vec::new() };
    let interface = Interface::of(unit, function);
    let kept = interface.parameters.iter().filter(|(_, _, kept)| *kept).map(|(n, ..)| n.clone()).collect();
    let mut implications = Implications::new(unit, function, kept);
    let of_function = facts.iter().filter(|f| f.function == name);
    let known: Vec<_> = of_function.filter_map(|f| implications.read(&f.text)).collect();
    let (mut before, mut judged) = (Vec::new(), Vec::new());
    for s in survivors::survivors(states) {
        let Some(goal) = implications.read(&s.text) else { continue };
        if implications.follows(&before, &goal, &s.subjects) {
            continue;
        }
        let is_proved = implications.follows(&known, &goal, &s.subjects);
        before.push(goal);
        judged.push((s, is_proved));
    }
    judged
}

/// What is missing of a function, for those who look for causes.
fn missing(name: &str, source: &str, judged: &[(Survivor, bool)], facts: &[Fact], report: &Report) -> String {
    let mut text = String::new();
    if judged.iter().all(|(_, is_proved)| *is_proved) {
        return text;
    }
    let _ = writeln!(text, "{}", text_of(source, name));
    for (s, is_proved) in judged {
        let _ = writeln!(
            text,
            "  {} {} [{}]",
            if *is_proved { "proved " } else { "missing" },
            s.text,
            s.template
        );
    }
    for f in facts.iter().filter(|f| f.function == *name) {
        let _ = writeln!(text, "  said    {}", f.text);
    }
    for u in report.functions.iter().filter(|f| f.name == *name).flat_map(|f| &f.unknowns) {
        let _ = writeln!(text, "  unknown line {}: {}", u.line, u.reason);
    }
    text
}

fn examine(seed: u64, runs: Runs) -> Examined {
    let mut found = Examined::default();
    let program = generate_c::program(seed);
    let unit = compiled::load(&program.source).expect("it parses");
    let report = compiled::analyse_alone(&program.source);
    let facts = compiled::proved_at_exit(&report);
    found.facts = facts.len();
    let answer = match compiled::check(&unit, &program.source, &report, &facts, runs) {
        Ok(answer) => answer,
        Err(why) => {
            found.not_run.push(format!("seed {seed}: {why}"));
            return found;
        }
    };
    found.judged = answer.held.values().filter(|n| **n > 0).count();
    found.wrong_facts(seed, &program.source, &facts, &answer);
    found.broken(&format!("seed {seed}"), &answer);
    match compiled::check_program(&unit, &program.source, &report, runs.others) {
        Ok(answer) => found.broken(&format!("seed {seed}, main"), &answer),
        Err(why) => found.not_run.push(format!("seed {seed}, main: {why}")),
    }
    let mut told = String::new();
    for (name, states) in answer.states.iter().filter(|(n, _)| unit.function(n).is_some_and(|f| !f.is_static))
    {
        found.functions += 1;
        let judged = judged(&unit, name, states, &facts);
        judged.iter().for_each(|(s, is_proved)| found.count(&program, s, *is_proved));
        told.push_str(&missing(name, &program.source, &judged, &facts, &report));
    }
    for (k, n) in answer.unjudged.iter().filter(|(_, n)| **n > 0) {
        let _ = writeln!(told, "undefined in {n} runs of {}: {}", facts[*k].function, facts[*k].text);
    }
    println!("---- seed {seed} ({})\n{told}", program.class.name());
    found.wrong.iter().for_each(|w| println!("WRONG {w}"));
    found
}

/// Examines programs, a few at a time. (A pool would begin all: an analysis waits in a pool of its own.)
fn examine_all(seeds: Range<u64>, runs: Runs) -> Examined {
    let next = AtomicU64::new(seeds.start);
    let work = || {
        let mine = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        mine.take_while(|seed| seeds.contains(seed)).map(|seed| examine(seed, runs)).collect::<Vec<_>>()
    };
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get());
    let found = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|w| w.join().expect("a worker ends")).collect::<Vec<_>>()
    });
    found.into_iter().fold(Examined::default(), Examined::joined)
}

/// C files of the shared subjects that have a `main`.
fn subjects() -> Vec<PathBuf> {
    let Some(root) = shared("subjects") else { return Vec::new() };
    let mut found = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.extension().and_then(|e| e.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("c") => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    found
}

/// The shared subjects: facts of `main`, of locals and of loop heads, on inputs.
#[test]
fn proved_facts_of_subjects_hold() {
    let all = subjects();
    // Some of each folder, or all.
    let every = rounds("INVDIFF_SUBJECTS", 120, 40);
    let mut sum = Examined::default();
    for path in all.iter().step_by(every.max(1)) {
        let source = std::fs::read_to_string(path).unwrap_or_default();
        let Some(unit) = compiled::load(&source) else { continue };
        if unit.function("main").is_none() {
            continue;
        }
        let report = compiled::analyse_alone(&source);
        match compiled::check_program(&unit, &source, &report, 2000) {
            Ok(answer) => sum.broken(&path.display().to_string(), &answer),
            Err(why) => sum.not_run.push(format!("{}: {why}", path.display())),
        }
        sum.functions += 1;
    }
    println!("{} subjects, {} facts asserted", sum.functions, sum.asserted);
    println!("not run: {:?}", sum.not_run);
    assert!(sum.not_run.len() * MOST_NOT_RUN <= sum.functions, "not run: {:?}", sum.not_run);
    assert!(sum.wrong.is_empty(), "{} wrong:\n{}", sum.wrong.len(), sum.wrong.join("\n"));
}

#[test]
fn proved_facts_hold_and_many_facts_are_proved() {
    if !has_compiler() {
        return;
    }
    let (programs, from) =
        (rounds("INVDIFF_ORACLE", 2, 6) as u64, rounds("INVDIFF_ORACLE_FROM", 0, 0) as u64);
    let runs = Runs { all: rounds("INVDIFF_ORACLE_RUNS", 2000, 5000), others: 2000 };
    let all = examine_all(from..from + programs, runs);
    println!(
        "{programs} programs, {} functions, {} exit facts, {} of them seen to hold, {} facts asserted",
        all.functions, all.facts, all.judged, all.asserted
    );
    for ((group, key), count) in &all.counts {
        println!(
            "{group:9} {key:40} {:5} of {:5} proved, {:5.1} %",
            count.proved,
            count.survive,
            count.share()
        );
    }
    println!("not run: {:?}", all.not_run);
    assert!(all.not_run.len() as u64 * MOST_NOT_RUN as u64 <= programs.max(6), "not run: {:?}", all.not_run);
    assert!(all.wrong.is_empty(), "{} wrong:\n{}", all.wrong.len(), all.wrong.join("\n"));
    assert!(all.judged as u64 > programs, "{} of {} facts were seen to hold", all.judged, all.facts);
    let share =
        all.counts.get(&("all", format!("{:16} ", "result, globals"))).copied().unwrap_or_default().share();
    assert!(share >= LEAST_SHARE, "only {share:.1} % of what could be stated is proved");
}
