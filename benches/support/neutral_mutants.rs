//! Mutants that compiled runs tell from their originals, before the local view.

use super::compiled::{Outcome, load, outcomes};
use super::edits::{self, Edit};
use super::verdict::{Scratch, Told};
use super::{is_asked, measure, shows, stops};
use git_invdiff::ir::Unit;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Inputs of a function.
const RUNS: usize = 200;
/// Mutants of a function in the mutation test.
const OF_FUNCTION: usize = 4;
/// Folders of fixtures behind those of the mutation test.
const OTHERS: [&str; 4] = ["written", "loops", "difference", "adversary"];

struct Original {
    file: String,
    text: String,
    name: String,
    unit: Unit,
}

/// What became of some mutants.
#[derive(Default)]
struct Counts {
    /// They compile and run.
    run: usize,
    equal: usize,
    /// Some run, defined in both, leaves something else.
    differ: [usize; 3],
    /// All that differs is that the mutant does something undefined, or takes too long.
    wild: [usize; 3],
    wrong: Vec<String>,
    wild_neutral: Vec<String>,
}

impl Counts {
    fn joined(mut self, other: Counts) -> Counts {
        self.run += other.run;
        self.equal += other.equal;
        for k in 0..3 {
            self.differ[k] += other.differ[k];
            self.wild[k] += other.wild[k];
        }
        self.wrong.extend(other.wrong);
        self.wild_neutral.extend(other.wild_neutral);
        self
    }

    fn print(&self, name: &str) {
        let row = |what: &str, [differs, open, neutral]: [usize; 3]| {
            let all = differs + open + neutral;
            println!("{name}: {what}: {all}, of which differs {differs}, open {open}, NEUTRAL {neutral}");
        };
        println!("{name}: {} mutants run, {} of them are equal in all runs", self.run, self.equal);
        row("differ in a defined run", self.differ);
        row("differ only in undefined or endless runs", self.wild);
        self.wrong.iter().for_each(|w| println!("FALSE NEUTRAL {w}"));
        self.wild_neutral.iter().for_each(|w| println!("FALSE NEUTRAL, undefined in the mutant alone: {w}"));
    }
}

/// Measures both groups; the mutants that are called neutral and are not.
pub fn measure(options: &[String], others: usize) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut files = measure::files(&root.join("textbook"));
    if let Some(shared) = std::env::var_os("INVDIFF_SHARED").map(PathBuf::from) {
        for folder in ["median", "trityp"] {
            files.extend(measure::files(&shared.join("subjects/seed").join(folder)));
        }
    }
    files.retain(|(name, _)| is_asked("INVDIFF_FILES", name));
    let first = of_the_test(&files);
    let known: BTreeSet<&str> = first.iter().map(|(_, e)| e.text.as_str()).collect();
    for folder in OTHERS {
        files.extend(measure::files(&root.join(folder)));
    }
    files.retain(|(name, _)| is_asked("INVDIFF_FILES", name));
    let rest = rest(&files, &known, others);
    let mut wrong = Vec::new();
    for (name, group, most) in [("the mutation test", &first, usize::MAX), ("others", &rest, others)] {
        let counts = told(group, options, most);
        counts.print(name);
        wrong.extend(counts.wrong);
        wrong.extend(counts.wild_neutral);
    }
    wrong
}

type Work = Vec<((String, String, String), Edit)>;

/// The mutants of the mutation test.
fn of_the_test(files: &[(String, String)]) -> Work {
    let found: Vec<stops::Original> =
        files.par_iter().flat_map_iter(|(name, text)| stops::originals(name, text)).collect();
    let key = |o: &stops::Original| (o.file.clone(), o.text.clone(), o.name.clone());
    let spread = |all: Vec<Edit>| {
        let step = all.len().div_ceil(OF_FUNCTION).max(1);
        all.into_iter().step_by(step)
    };
    found.iter().flat_map(|o| spread(o.mutants()).map(|e| (key(o), e)).collect::<Vec<_>>()).collect()
}

/// Other mutants of all functions, evenly spread; more than are wanted, for not all of them run.
fn rest(files: &[(String, String)], known: &BTreeSet<&str>, wanted: usize) -> Work {
    let mut all: Work = Vec::new();
    for (name, text) in files {
        let Some(unit) = load(text) else { continue };
        for f in unit.functions.iter().filter(|f| f.span.file.0 == 0 && &*f.name != "main") {
            let range: Range<usize> = edits::lines(text, f.span.line, f.span.end_line);
            let mut of = edits::mutants(text, &range);
            of.extend(edits::name_mutants(text, &range));
            of.extend(edits::literal_mutants(text, &range));
            of.retain(|e| !known.contains(e.text.as_str()));
            all.extend(of.into_iter().map(|e| ((name.clone(), text.clone(), f.name.to_string()), e)));
        }
    }
    let step = (all.len() / (5 * wanted.max(1))).max(1);
    all.into_iter().step_by(step).collect()
}

/// Asks of mutants until so many of them have run, in an order that is spread over them.
fn told(work: &Work, options: &[String], most: usize) -> Counts {
    let mut originals: BTreeMap<&(String, String, String), (Original, Vec<Outcome>)> = BTreeMap::new();
    let keys: BTreeSet<&(String, String, String)> = work.iter().map(|(key, _)| key).collect();
    let ready: Vec<_> = keys
        .into_par_iter()
        .filter_map(|key| {
            let (file, text, name) = key.clone();
            let unit = load(&text)?;
            let (before, _) = outcomes(&unit, &text, &text, &name, (RUNS, None)).ok()?;
            Some((key, (Original { file, text, name, unit }, before)))
        })
        .collect();
    originals.extend(ready);
    let mut counts = Counts::default();
    let order: Vec<usize> = (0..3).flat_map(|first| (first..work.len()).step_by(3)).collect();
    for part in order.chunks(60) {
        let one = |&k: &usize| {
            let (key, edit) = &work[k];
            originals.get(key).map_or_else(Counts::default, |(o, before)| mutant(o, before, edit, options))
        };
        counts = counts.joined(part.par_iter().map(one).reduce(Counts::default, Counts::joined));
        if counts.run >= most {
            break;
        }
    }
    counts
}

fn mutant(o: &Original, before: &[Outcome], edit: &Edit, options: &[String]) -> Counts {
    let mut counts = Counts::default();
    let run = |text: &str, shown| outcomes(&o.unit, &o.text, text, &o.name, (RUNS, shown));
    let Ok((after, _)) = run(&edit.text, None) else { return counts };
    counts.run = 1;
    let pairs = || before.iter().zip(&after).enumerate();
    let is_defined = |b: &Outcome| matches!(b, Outcome::Back(_) | Outcome::Ended);
    let apart = pairs().find(|(_, (b, a))| is_defined(b) && is_defined(a) && a != b);
    let wild = pairs().find(|(_, (b, a))| is_defined(b) && !is_defined(a));
    let Some((at, (b, a))) = apart.or(wild) else {
        counts.equal = 1;
        return counts;
    };
    let told = Scratch::of("a.c", &o.text).told("a.c", &edit.text, options);
    let which = match told {
        Told::Differs(_) => 0,
        Told::Open(_) => 1,
        Told::Neutral => 2,
    };
    let row = if apart.is_some() { &mut counts.differ } else { &mut counts.wild };
    row[which] = 1;
    let place = format!("{} {}: {}", o.file, o.name, edit.what);
    if shows() {
        println!("{place}: {told:?}");
    }
    if told == Told::Neutral {
        let input = run(&edit.text, Some(at)).map_or_else(|e| e, |(_, input)| input);
        let said = format!("{place}\n    on {input} (run {at}): {b:?}, mutant {a:?}");
        if apart.is_some() { counts.wrong.push(said) } else { counts.wild_neutral.push(said) }
    }
    counts
}
