//! What is written for people to compile: witness tests and copies with assertions, of the pairs of
//! `fixtures/written`, compiled under sanitizers and run.
//!
//! A test says `old` (status 0) of the old version and `new` (1) of the new one, also where what one of them
//! does is undefined; a copy does on every input what its original does. Fixtures are written as those of the
//! generator (`generator/template.rs`), but all places of one change together. Without
//! `INVDIFF_WRITTEN` one of six is tried; with it, those whose name contains its value (empty: all).

use crate::generator::oracle::{self, Ended};
use crate::generator::template::{Files, Template};
use crate::kit::Pair;
use crate::support::tier;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Fixtures of which no test can be made, and why.
const WITHOUT: [(&str, &str); 4] = [
    ("collisions", "its names begin as those of tests"),
    ("collisions_result", "its names begin as those of tests"),
    ("outside_calls", "what another file defines runs"),
    ("overlapped", "open"),
];

/// What became of a fixture.
#[derive(Default)]
struct Found {
    tests: usize,
    refused: Vec<String>,
    asserted: usize,
    wrong: Vec<String>,
}

fn versions(path: &Path) -> [Files; 2] {
    let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let text = std::fs::read_to_string(path).expect("a fixture is a text");
    let template = Template::parse(&name, &text).unwrap_or_else(|why| panic!("{name}: {why}"));
    template.all_places()
}

fn judge(path: &Path) -> Found {
    let mut found = Found::default();
    let files = versions(path);
    let borrow =
        |k: usize| -> Vec<(&str, &str)> { files[k].iter().map(|(p, t)| (p.as_str(), t.as_str())).collect() };
    let pair = Pair::of(&borrow(0), &borrow(1));
    let folder = invdiff_testing::scratch();
    let built = [0, 1].map(|k| folder.path().join(["old", "new"][k]));
    for (files, at) in files.iter().zip(&built) {
        if let Err(why) = oracle::sanitized(files, at) {
            found.wrong.push(format!("the fixture: {why}"));
            return found;
        }
    }
    witnesses(&pair, folder.path(), &built, &mut found);
    for k in 0..2 {
        copies(&pair, &files[k], k, folder.path(), &built[k], &mut found);
    }
    found
}

/// Each test says of each version which one it is.
fn witnesses(pair: &Pair, folder: &Path, built: &[PathBuf; 2], found: &mut Found) {
    let into = folder.join("witnesses").to_string_lossy().into_owned();
    let (status, _, err) = pair.run_words(&["witness", "HEAD~1..HEAD", "--output-dir", &into]);
    assert_eq!(status, Some(0), "{err}");
    found.refused.extend(err.lines().map(str::to_owned));
    let Ok(entries) = std::fs::read_dir(&into) else { return };
    let mut tests: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    tests.sort();
    for test in tests {
        found.tests += 1;
        let text = std::fs::read_to_string(&test).expect("a test is a text");
        for ((side, version), expected) in ["old", "new"].iter().zip(built).zip([0, 1]) {
            // No sanitizer of these sees that nothing was written.
            let unseen = format!("\n * {side}  does something undefined");
            let line = text.lines().find(|l| format!("\n{l}").starts_with(&unseen));
            if line.is_some_and(|l| l.contains("uninitialised")) {
                continue;
            }
            let program = match oracle::built(std::slice::from_ref(&test), version, "witness", &["-I."]) {
                Ok(program) => program,
                Err(why) => {
                    found.wrong.push(format!("{}: {why}", test.display()));
                    continue;
                }
            };
            let ran = oracle::run(&program, "");
            if ran.ended != Ended::Status(expected) {
                found.wrong.push(format!("of version {expected}: {ran:?}\n{text}"));
            }
        }
    }
}

/// The copy of a version does what the version does.
fn copies(pair: &Pair, files: &Files, k: usize, folder: &Path, built: &Path, found: &mut Found) {
    let at = folder.join(["asserted-old", "asserted-new"][k]);
    let into = at.to_string_lossy().into_owned();
    let revision = ["HEAD~1", "HEAD"][k];
    let (status, _, err) = pair.run_words(&["assert", revision, "--output-dir", &into]);
    assert_eq!(status, Some(0), "{err}");
    let read = |(p, t): &(String, String)| {
        (p.clone(), std::fs::read_to_string(at.join(p)).unwrap_or_else(|_| t.clone()))
    };
    let copied: Files = files.iter().map(read).collect();
    let facts = err.split(" fact").next().and_then(|t| t.rsplit([' ', '\n']).next()?.parse::<usize>().ok());
    found.asserted += facts.unwrap_or(0);
    if copied == *files {
        return;
    }
    let program = match oracle::sanitized(&copied, &at.join("build")) {
        Ok(program) => program,
        Err(why) => return found.wrong.push(format!("a copy: {why}\n{copied:#?}")),
    };
    for input in oracle::inputs() {
        let (plain, ran) = (oracle::run(&built.join("program"), &input), oracle::run(&program, &input));
        if plain != ran && plain.is_defined() {
            let text: String = copied.iter().map(|(p, t)| format!("-- {p}\n{t}")).collect();
            found.wrong.push(format!("a copy on {input:?}: {ran:?}, not {plain:?}\n{text}"));
            return;
        }
    }
}

/// Whether there is a compiler with sanitizers.
fn has_compiler() -> bool {
    let folder = invdiff_testing::scratch();
    let empty = vec![("a.c".to_owned(), "int main(void) { return 0; }\n".to_owned())];
    let there = oracle::sanitized(&empty, folder.path()).is_ok();
    if !there {
        tier::skipped("cc", "no C compiler with sanitizers");
    }
    there
}

#[test]
fn what_is_written_does_what_it_says() {
    if !has_compiler() {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/written");
    let only = std::env::var("INVDIFF_WRITTEN").ok();
    let entries = std::fs::read_dir(folder).expect("the fixtures are there").flatten().map(|e| e.path());
    let mut paths: Vec<PathBuf> = entries.collect();
    paths.sort();
    match &only {
        Some(only) => paths.retain(|p| p.to_string_lossy().contains(only.as_str())),
        None => paths = paths.into_iter().step_by(tier::rounds("INVDIFF_WRITTEN_STEP", 14, 6)).collect(),
    }
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    let work = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            let found = judge(path);
            let name = path.file_stem().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
            println!("{name:24} {:2} tests, {:3} facts {:?}", found.tests, found.asserted, found.refused);
            let mut all = found.wrong;
            let expected = !WITHOUT.iter().any(|(n, _)| *n == name);
            if expected != (found.tests > 0) {
                all.push(format!("{} tests, {:?}", found.tests, found.refused));
            }
            all.iter().for_each(|w| println!("==== {name}: {w}"));
            if let Ok(mut wrong) = wrong.lock() {
                wrong.extend(all.into_iter().map(|w| format!("{name}: {w}")));
            }
        }
    };
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| (0..workers).for_each(|_| drop(scope.spawn(work))));
    let wrong = wrong.into_inner().expect("no worker died");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
