//! Edits that change nothing, and mutants that change something, before the local view (what `git invdiff diff` tells
//! where a text changed).
//!
//! `cargo bench --bench neutral -- [FOLDER...] [OPTION...]` takes the C files at the head of clones (or of those in
//! `INVDIFF_HISTORIES`: zlib and cJSON), makes edits of their functions that change nothing, evenly spread, each a commit in
//! a scratch clone, and counts by kind what the built program with the options says: *neutral*, *open* or that something
//! *differs*. What a compiler refuses is no edit.
//! Then mutants of one token of `fixtures/`: those of the mutation test (`mutants.rs`), and others. Both versions are run
//! with sanitizers on 200 inputs; a mutant that these tell from its original, where that is defined, is never to be neutral.
//!
//! `INVDIFF_PART`: `edits` or `mutants` alone; `INVDIFF_EDITS`: the most edits of a kind and history; `INVDIFF_MUTANTS`: the
//! most other mutants; `INVDIFF_FILES`: a part of files' names; `INVDIFF_KIND`: a part of kinds' names; `INVDIFF_SHOW=1`
//! prints each that is not neutral, and each mutant.

#[allow(dead_code, unused_imports, reason = "tests use the rest")]
#[path = "../tests/support/compiled/mod.rs"]
mod compiled;
#[allow(dead_code, reason = "another benchmark uses the rest")]
#[path = "../tests/support/edits.rs"]
mod edits;
#[path = "../tests/support/functions.rs"]
mod functions;
#[allow(dead_code, reason = "another benchmark uses the rest")]
#[path = "../tests/support/measure.rs"]
mod measure;
#[path = "support/neutral_mutants.rs"]
mod neutral_mutants;
#[path = "../tests/support/refactorings.rs"]
mod refactorings;
#[path = "support/reports.rs"]
mod reports;
#[allow(dead_code, reason = "another benchmark uses the rest")]
#[path = "../tests/support/stops.rs"]
mod stops;
#[path = "support/verdict.rs"]
mod verdict;

use functions::{Function, Project};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use verdict::{Scratch, Told};

/// Edits of a kind and history.
const EDITS: usize = 12;
/// Of a kind and function.
const OF_FUNCTION: usize = 3;
const HISTORIES: [&str; 2] = ["zlib", "cJSON"];

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// Whether a name is one of those that a variable asks for.
fn is_asked(variable: &str, name: &str) -> bool {
    std::env::var(variable).map_or(true, |part| name.contains(&part))
}

fn shows() -> bool {
    std::env::var_os("INVDIFF_SHOW").is_some()
}

/// What became of the edits of a kind.
#[derive(Clone, Copy, Default)]
struct Counts {
    neutral: usize,
    open: usize,
    differs: usize,
}

impl Counts {
    fn add(&mut self, told: &Told) {
        match told {
            Told::Neutral => self.neutral += 1,
            Told::Open(_) => self.open += 1,
            Told::Differs(_) => self.differs += 1,
        }
    }

    fn join(&mut self, other: Counts) {
        self.neutral += other.neutral;
        self.open += other.open;
        self.differs += other.differs;
    }

    fn row(self, name: &str) -> String {
        let all = self.neutral + self.open + self.differs;
        let share = 100.0 * self.neutral as f64 / all.max(1) as f64;
        format!("{name:<28} {all:>5} {:>8} {:>5} {:>8} {share:>7.1} %", self.neutral, self.open, self.differs)
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let at = words.iter().position(|w| w.starts_with('-')).unwrap_or(words.len());
    let (folders, options) = words.split_at(at);
    if is_asked("INVDIFF_PART", "edits") {
        edited(&clones(folders), options);
    }
    if is_asked("INVDIFF_PART", "mutants") {
        let wrong = neutral_mutants::measure(options, number("INVDIFF_MUTANTS", 500));
        assert!(wrong.is_empty(), "a mutant that changes something is called neutral");
    }
}

fn clones(folders: &[String]) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = folders.iter().map(PathBuf::from).collect();
    if let Some(all) = std::env::var_os("INVDIFF_HISTORIES").filter(|_| found.is_empty()) {
        found.extend(HISTORIES.iter().map(|h| Path::new(&all).join(h)));
    }
    found.retain(|f| f.join(".git").exists());
    if found.is_empty() {
        println!("skipped: no clone is named");
    }
    found
}

fn edited(clones: &[PathBuf], options: &[String]) {
    let mut sum = Counts::default();
    for clone in clones {
        let counts = History::of(clone).measure(options);
        println!("\n{}", clone.file_name().unwrap_or_default().to_string_lossy());
        println!(
            "{:<28} {:>5} {:>8} {:>5} {:>8} {:>9}",
            "edit", "all", "neutral", "open", "differs", "neutral"
        );
        let mut all = Counts::default();
        for (kind, of_kind) in counts {
            println!("{}", of_kind.row(kind));
            all.join(of_kind);
        }
        println!("{}", all.row("all"));
        sum.join(all);
    }
    println!("\n{}", sum.row("all histories"));
}

/// The sources at a clone's head.
struct History {
    scratch: Scratch,
    project: Project,
    /// Files that a compiler takes as they are, with their functions.
    files: Vec<(String, String, Vec<Function>)>,
}

type Kinds = Vec<(&'static str, Vec<edits::Edit>)>;

impl History {
    fn of(clone: &Path) -> History {
        let scratch = Scratch::clone_of(clone);
        let mut names = Vec::new();
        walk(scratch.path(), Path::new(""), &mut names);
        names.sort();
        let read = |name: &String| {
            let bytes = std::fs::read(scratch.path().join(name)).ok()?;
            Some((name.clone(), String::from_utf8(bytes).ok().filter(|t| t.is_ascii())?))
        };
        let texts: Vec<(String, String)> = names.iter().filter_map(read).collect();
        let project = Project::of(texts.iter().map(|(_, text)| text.as_str()));
        let mut files = Vec::new();
        for (name, text) in texts.into_iter().filter(|(name, _)| name.ends_with(".c")) {
            if is_asked("INVDIFF_FILES", &name) && compiles(scratch.path(), &name, false) {
                let found = functions::functions(&text);
                files.push((name, text, found));
            }
        }
        History { scratch, project, files }
    }

    /// The edits of a function.
    fn edits(&self, text: &str, f: &Function) -> Kinds {
        let free = |name: &&String| !self.project.expanded.contains(*name) && !self.project.is_macro(name);
        let locals: Vec<String> = f.locals.keys().filter(free).cloned().collect();
        let mut all: Kinds = edits::preserving_by_kind(text, &f.range, &f.name, &locals).into();
        all.extend(refactorings::refactorings(text, f, &self.project));
        all.retain(|(kind, _)| is_asked("INVDIFF_KIND", kind));
        // An assertion that fails prints its text.
        let asserts: Vec<usize> =
            text.lines().enumerate().filter(|(_, l)| l.contains("assert")).map(|(n, _)| n + 1).collect();
        for (kind, edits) in all.iter_mut().filter(|_| !asserts.is_empty()) {
            let stays = |e: &edits::Edit| match e.what.strip_prefix("line ").and_then(|w| w.split_once(':')) {
                Some((line, _)) => !line.parse().is_ok_and(|n: usize| asserts.contains(&n)),
                None => *kind != "local renamed" || !text[f.range.clone()].contains("assert"),
            };
            edits.retain(stays);
        }
        all
    }

    fn measure(&self, options: &[String]) -> BTreeMap<&'static str, Counts> {
        // Texts are made again when they are wanted.
        let mut places: BTreeMap<&'static str, Vec<(usize, usize, usize)>> = BTreeMap::new();
        for (i, (_, text, functions)) in self.files.iter().enumerate() {
            for (k, f) in functions.iter().enumerate() {
                for (kind, edits) in self.edits(text, f) {
                    let step = edits.len().div_ceil(OF_FUNCTION).max(1);
                    places.entry(kind).or_default().extend((0..edits.len()).step_by(step).map(|n| (i, k, n)));
                }
            }
        }
        let wanted = number("INVDIFF_EDITS", EDITS);
        let mut counts = BTreeMap::new();
        for (kind, places) in places {
            let step = places.len().div_ceil(wanted).max(1);
            let order = (0..step).flat_map(|first| (first..places.len()).step_by(step));
            let told =
                order.take(3 * wanted).filter_map(|at| self.told(kind, places[at], options)).take(wanted);
            let of_kind: &mut Counts = counts.entry(kind).or_default();
            told.for_each(|t| of_kind.add(&t));
        }
        counts
    }

    /// What is told of one edit; none if it does not compile.
    fn told(&self, kind: &str, (i, k, n): (usize, usize, usize), options: &[String]) -> Option<Told> {
        let (name, text, functions) = &self.files[i];
        let f = &functions[k];
        let mut kinds = self.edits(text, f);
        let edit = kinds.iter_mut().find(|(of, _)| *of == kind)?.1.swap_remove(n);
        std::fs::write(self.scratch.path().join(name), &edit.text).expect("a file");
        let is_c = compiles(self.scratch.path(), name, kind.starts_with('%'));
        // What is no C is taken in a branch that is left out.
        let broken = format!("{}}}{}", &text[..f.range.start], &text[f.range.start..]);
        std::fs::write(self.scratch.path().join(name), broken).expect("a file");
        let is_active = is_c && !compiles(self.scratch.path(), name, false);
        std::fs::write(self.scratch.path().join(name), text).expect("a file");
        if !is_active {
            return None;
        }
        let told = self.scratch.told(name, &edit.text, options);
        if shows() && told != Told::Neutral {
            println!("{name}:{} [{kind}] {}\n    -> {told:?}", f.name, edit.what);
        }
        Some(told)
    }
}

/// The C files and headers below a folder.
fn walk(root: &Path, below: &Path, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(root.join(below)).into_iter().flatten().flatten() {
        let path = below.join(entry.file_name());
        let kind = entry.file_type().expect("a file's type");
        if kind.is_dir() && entry.file_name() != ".git" {
            walk(root, &path, names);
        } else if kind.is_file() && path.extension().is_some_and(|e| e == "c" || e == "h") {
            names.extend(path.to_str().map(str::to_owned));
        }
    }
}

fn compiles(root: &Path, name: &str, formats: bool) -> bool {
    let mut gcc = Command::new("gcc");
    gcc.current_dir(root).args([
        "-fsyntax-only",
        "-std=gnu17",
        "-I.",
        "-Werror=implicit-function-declaration",
    ]);
    gcc.args([
        "-Werror=incompatible-pointer-types",
        "-Werror=int-conversion",
        "-Werror=discarded-qualifiers",
    ]);
    if formats {
        gcc.arg("-Werror=format");
    }
    gcc.arg(name).output().is_ok_and(|o| o.status.success())
}
