//! What `discover` finds of textbook functions, and how much of what it calls likely is true.
//!
//! - *Share*: of the facts that textbooks state (`fixtures/textbook`, module `textbook`) those that what is found
//!   implies, whether it is called proved or likely. What a compiled run refutes is no part of that.
//! - *Survival*: all that is said at exits is written down in C (module `compiled`) and looked at in compiled runs on
//!   random and boundary values; what a signed overflow leaves shows nothing. Nothing that is called proved may fail, and of what is called likely 95 % have to hold.
//!
//! `INVDIFF_DISCOVERED_RUNS=100000` runs each function so often, `INVDIFF_SHOW=f` prints what is found of a function (`all`: of each).
//! `INVDIFF_DISCOVERED=arrays` looks at the files alone whose name contains that, an empty one at all of them, which takes
//! more than 25 minutes on two processors; by default one is looked at.

use crate::compiled;
use crate::compiled::{Fact, Runs};
use crate::stated::{self, Stated};
use crate::support::tier::{has_compiler, rounds};
use crate::textbook::{Place, found, sources};
use git_invdiff::analysis::discover::{Choice, discover};
use git_invdiff::analysis::{Options, memory};
use git_invdiff::discovery::{Discovered, Iteration, Point, Points, Settings, Status};
use git_invdiff::frontend::c;
use git_invdiff::report::RepoPath;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Of a thousand stated facts, and of a hundred that are called likely.
const LEAST_FOUND: usize = 806;
const LEAST_SURVIVE: usize = 95;

/// What is found of a function by itself, from any state.
fn discovered(file: &str, text: &str, function: &str) -> Discovered {
    let options = Options { jobs: 1, whole: true, ..Options::default() };
    let request = memory::request(&[vec![(file, text)]], c::Options::default(), options);
    let is_it = |_: &RepoPath, name: &str| name == function;
    let points = Points { entry: true, exit: true, heads: true };
    let settings = Settings { points, ..Settings::default() };
    let choice = Choice { is_it: &is_it, harness: None, first: Vec::new(), proofs: true, settings };
    let mut all = discover(&request, &choice, &mut |_: &str, _: &Iteration| {});
    let version = all.pop().and_then(|mut f| f.versions.pop()).flatten();
    version.unwrap_or_else(|| panic!("{file}: no {function}")).unwrap_or_else(|e| panic!("{function}: {e}"))
}

/// A statement of a function, as it is told.
#[derive(Clone, Debug)]
struct Said {
    point: Point,
    text: String,
    is_proved: bool,
    /// No run suggested it.
    is_beside: bool,
    assumptions: Vec<String>,
}

fn all_said(d: &Discovered) -> Vec<Said> {
    let own = d.invariants.iter().map(|i| Said {
        point: i.point,
        text: i.text.clone(),
        is_proved: i.status == Status::Proved,
        is_beside: false,
        assumptions: Vec::new(),
    });
    let told = d.told.iter().map(|t| Said {
        point: t.point,
        text: t.text.clone(),
        is_proved: true,
        is_beside: true,
        assumptions: t.assumptions.clone(),
    });
    own.chain(told).collect()
}

/// That some element is so, as the words know it.
fn universal(text: &str) -> String {
    let Some((before, rest)) = text.split_once("\\exists integer ") else { return text.to_owned() };
    let Some((index, body)) = rest.split_once("; ") else { return text.to_owned() };
    let Some((within, is)) = body.rsplit_once(" && ") else { return text.to_owned() };
    format!("{before}!(\\forall integer {index}; {within} ==> !({is}))")
}

/// A function with what is found of it.
struct Looked<'a> {
    file: &'a str,
    text: &'a str,
    stated: Stated,
    found: Discovered,
    said: Vec<Said>,
}

/// What compiled runs make of what is said at exits, by function and text.
#[derive(Default)]
struct Survival {
    /// Statements that some run looked at.
    judged: [usize; 2],
    failed: [Vec<String>; 2],
    refuted: BTreeSet<(String, String)>,
    /// Functions of which most runs show nothing: something in them is undefined, or they take too long.
    scarce: Vec<String>,
    /// Files whose driver is none, and why.
    not_run: Vec<String>,
}

/// Of all files, those of which the driver may make none: it hands over no structures by value.
const MOST_NOT_RUN: usize = 1;

fn survival(looked: &[Looked], runs: usize) -> Survival {
    let mut by_file: BTreeMap<&str, Vec<&Looked>> = BTreeMap::new();
    looked.iter().for_each(|l| by_file.entry(l.file).or_default().push(l));
    let one = |(file, functions): (&str, Vec<&Looked>)| {
        let mut facts = Vec::new();
        let mut proved = Vec::new();
        for l in &functions {
            for s in l.said.iter().filter(|s| s.point == Point::Exit && !s.is_beside) {
                let (function, template) = (l.stated.name.clone(), "range".to_owned());
                facts.push(Fact {
                    function,
                    text: universal(&s.text),
                    template,
                    assumptions: s.assumptions.clone(),
                });
                proved.push((s.is_proved, s.text.clone()));
            }
        }
        let text = functions[0].text;
        let unit = compiled::load(text).unwrap_or_else(|| panic!("{file} is not read"));
        let runs = Runs { all: runs, others: runs.min(2_000) };
        let answer = compiled::check_as_c(&unit, text, &facts, runs);
        (file.to_owned(), facts, proved, answer)
    };
    let all: Vec<_> = by_file.into_par_iter().map(one).collect();
    let mut survival = Survival::default();
    for (file, facts, proved, answer) in all {
        let answer = match answer {
            Ok(answer) => answer,
            Err(why) => {
                survival
                    .not_run
                    .push(format!("{file}: {}", why.lines().take(3).collect::<Vec<_>>().join(" ")));
                continue;
            }
        };
        let scarce = answer.defined.iter().filter(|(_, defined)| **defined * 2 < runs as u64);
        survival.scarce.extend(scarce.map(|(name, defined)| format!("{name} {defined}")));
        let failed: BTreeMap<usize, u64> = answer.failed.iter().map(|(k, _, run)| (*k, *run)).collect();
        for (k, (is_proved, text)) in proved.iter().enumerate() {
            let is_judged = answer.held.get(&k).is_some_and(|n| *n > 0) || failed.contains_key(&k);
            survival.judged[usize::from(*is_proved)] += usize::from(is_judged);
            if let Some(run) = failed.get(&k) {
                let function = facts[k].function.clone();
                survival.failed[usize::from(*is_proved)].push(format!("{file} {function} run {run}: {text}"));
                survival.refuted.insert((function, text.clone()));
            }
        }
    }
    survival
}

/// How many of the stated facts follow from some statements, and which do not.
fn share(
    looked: &[Looked],
    refuted: &BTreeSet<(String, String)>,
    is_used: &(dyn Fn(&Said) -> bool + Sync),
) -> (usize, Vec<String>) {
    let one = |l: &Looked| {
        let loaded = compiled::load(l.text).unwrap_or_else(|| panic!("{} is not read", l.file));
        let body = loaded.function(&l.stated.name).unwrap_or_else(|| panic!("no {}", l.stated.name));
        let told = |point: Point| -> Vec<String> {
            let name = &l.stated.name;
            let here = l.said.iter().filter(|s| s.point == point && is_used(s));
            here.filter(|s| !refuted.contains(&(name.clone(), s.text.clone())))
                .map(|s| s.text.clone())
                .collect()
        };
        let exit = Place { name: "exit".into(), proved: told(Point::Exit), stated: &l.stated.ensures };
        let mut places = vec![exit];
        for of in &l.stated.loops {
            let head = l.found.heads.iter().position(|h| h.line == of.line);
            let proved = head.map_or(Vec::new(), |k| told(Point::Head(k)));
            places.push(Place { name: format!("loop {}", of.line), proved, stated: &of.invariants });
        }
        let mut rows = Vec::new();
        for place in &places {
            let is_found = found(&loaded, body, &l.stated.requires, place);
            rows.extend(place.stated.iter().zip(is_found).map(|(fact, is)| {
                (is, format!("{:<14} {:<22} {:<8} {fact}", l.file, l.stated.name, place.name))
            }));
        }
        rows
    };
    let rows: Vec<(bool, String)> = looked.par_iter().flat_map_iter(one).collect();
    let found = rows.iter().filter(|(is, _)| *is).count();
    (found, rows.into_iter().filter(|(is, _)| !is).map(|(_, text)| text).collect())
}

#[test]
fn facts_of_textbooks_are_discovered_and_what_is_likely_survives() {
    if !has_compiler() {
        return;
    }
    let runs = rounds("INVDIFF_DISCOVERED_RUNS", 1_000, 2_000);
    let wanted = std::env::var("INVDIFF_DISCOVERED").unwrap_or_else(|_| "basics".to_owned());
    let sources: Vec<(String, String)> = sources().into_iter().filter(|(f, _)| f.contains(&wanted)).collect();
    let work: Vec<(&str, &str, Stated)> = sources
        .iter()
        .flat_map(|(file, text)| stated::functions(text).into_iter().map(move |s| (&**file, &**text, s)))
        .collect();
    let looked: Vec<Looked> = work
        .into_par_iter()
        .map(|(file, text, stated)| {
            let found = discovered(file, text, &stated.name);
            let said = all_said(&found);
            Looked { file, text, stated, found, said }
        })
        .collect();
    let show = std::env::var("INVDIFF_SHOW").unwrap_or_default();
    for l in looked.iter().filter(|l| show == "all" || show == l.stated.name) {
        for s in &l.said {
            let known = if s.is_beside {
                "told"
            } else if s.is_proved {
                "proved"
            } else {
                "likely"
            };
            println!(
                "{:<20} {:<8} {known:<6} {} {:?}",
                l.stated.name,
                format!("{:?}", s.point),
                s.text,
                s.assumptions
            );
        }
    }
    let survival = survival(&looked, runs);
    let [likely, proved] = survival.judged;
    let [wrong, false_proofs] = &survival.failed;
    wrong.iter().for_each(|w| println!("refuted  {w}"));
    let surviving = likely - wrong.len();
    println!("{} functions, {runs} compiled runs each", looked.len());
    println!("not run: {:?}", survival.not_run);
    println!("fewer than half of the runs show something: {:?}", survival.scarce);
    println!("called proved and looked at: {proved}, refuted {}", false_proofs.len());
    println!(
        "called likely and looked at: {likely}, refuted {}: {:.1} % survive",
        wrong.len(),
        100.0 * surviving as f64 / likely.max(1) as f64
    );
    let (own, missing) = share(&looked, &survival.refuted, &|s| !s.is_beside);
    let all = own + missing.len();
    let percent = |n: usize| 100.0 * n as f64 / all.max(1) as f64;
    println!("{own} of {all} stated facts follow from what runs suggest: {:.1} %", percent(own));
    let (engine, _) = share(&looked, &survival.refuted, &|s| s.is_proved);
    println!("{engine} follow from what is proved: {:.1} %", percent(engine));
    let (with, missing) = share(&looked, &survival.refuted, &|_| true);
    missing.iter().for_each(|m| println!("missing  {m}"));
    println!("{with} of {all} are found: {:.1} %", percent(with));
    let most_not_run = if wanted.is_empty() { MOST_NOT_RUN } else { 0 };
    assert!(survival.not_run.len() <= most_not_run, "{:?}", survival.not_run);
    assert!(false_proofs.is_empty(), "{false_proofs:#?}");
    assert!(with * 1000 >= all * LEAST_FOUND, "{with} of {all}");
    assert!(likely > 0 && proved > 0, "{likely} {proved}");
    assert!(surviving * 100 >= likely * LEAST_SURVIVE, "{surviving} of {likely}");
}
