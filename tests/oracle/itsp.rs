//! The student pairs of the Invariant Diffs paper, Table II: every pair has an observable churn whose
//! witness, fed to the compiled programs, gives exactly the outputs that the report predicts.

use crate::support::oracle::{compile, run, shared};
use crate::support::tier::rounds;
use crate::table1;
use crate::table2::{self, Side};
use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{Churn, Claim, End, Fact, Report};
use std::path::Path;

/// Pairs whose versions are both well defined; the old versions of the others read uninitialised
/// data or pass a bad pointer to `scanf`.
const WELL_DEFINED: [&str; 11] = [
    "270025", "270048", "270053", "270057", "270150", "270201", "270220", "270330", "270391", "270466",
    "271154",
];

fn analyse(old: &str, new: &str) -> Report {
    let versions = [vec![("a.c", old)], vec![("a.c", new)]];
    diff(&memory::request(&versions, c::Options::default(), Options::default()))
}

fn observable_churns(report: &Report) -> Vec<&Churn> {
    let points = report.functions.iter().flat_map(|f| &f.points);
    points.flat_map(|p| &p.churns).filter(|c| c.observable).collect()
}

/// Checks one pair; the error says what is wrong.
fn check_pair(folder: &Path, pair: &str) -> Result<(), String> {
    let read = |v: &str| std::fs::read_to_string(folder.join(v)).map_err(|e| e.to_string());
    let (old, new) = (read("v1.c")?, read("v2.c")?);
    let report = analyse(&old, &new);
    let churns = observable_churns(&report);
    let compiled = (compile(&folder.join("v1.c"))?, compile(&folder.join("v2.c"))?);
    if WELL_DEFINED.contains(&pair) {
        let defined = |c: &&&Churn| c.claim != Claim::DiffersUnderUb && c.witness.is_some();
        let churn = churns.iter().find(defined).ok_or("no churn with a witness")?;
        let w = churn.witness.as_ref().ok_or("no witness")?;
        let stdin = w.stdin.clone().ok_or("no stdin")?;
        let (a, b) = (run(&compiled.0, stdin.as_bytes())?, run(&compiled.1, stdin.as_bytes())?);
        let predicted = (w.old.stdout.clone().unwrap_or_default(), w.new.stdout.clone().unwrap_or_default());
        if (a.as_slice(), b.as_slice()) != (predicted.0.as_bytes(), predicted.1.as_bytes()) {
            return Err(format!("on {stdin:?} predicted {predicted:?}, ran {a:?} {b:?}"));
        }
        if a == b {
            return Err(format!("the outputs on {stdin:?} do not differ"));
        }
        return Ok(());
    }
    let undefined = |c: &&&Churn| c.claim == Claim::DiffersUnderUb;
    let churn = churns.iter().find(undefined).ok_or("no churn names an undefined event")?;
    let w = churn.witness.as_ref().ok_or("no witness")?;
    if w.old.end != End::Undefined || w.old.undefined.as_ref().is_none_or(|u| u.line == 0) {
        return Err("the witness does not name the undefined event and its line".into());
    }
    let stdin = w.stdin.clone().unwrap_or_default();
    let ran = run(&compiled.1, stdin.as_bytes())?;
    let predicted = w.new.stdout.clone().unwrap_or_default();
    if ran != predicted.as_bytes() {
        return Err(format!("on {stdin:?} predicted {predicted:?}, ran {:?}", String::from_utf8_lossy(&ran)));
    }
    Ok(())
}

#[test]
fn every_pair_of_table_2_is_seen() {
    let Some(itsp) = shared("subjects/itsp") else { return };
    let table = std::fs::read_to_string(itsp.join("table2.csv")).expect("table2.csv is there");
    let mut failures = Vec::new();
    let mut pairs = 0;
    for row in table.lines().skip(1) {
        let mut cells = row.split(',');
        let (Some(pair), Some(task)) = (cells.next(), cells.next()) else { continue };
        pairs += 1;
        if let Err(why) = check_pair(&itsp.join(task).join(pair), pair) {
            failures.push(format!("{pair}: {why}"));
        }
    }
    assert!(failures.is_empty(), "{} of {pairs} fail:\n{}", failures.len(), failures.join("\n"));
}

/// The formulas of both sides are told where both have runs, and else the undefined event and the formula after it.
#[test]
fn formulas_stand_before_and_after() {
    let Some(pairs) = shared("subjects/itsp").and_then(|root| table2::pairs(&root)) else { return };
    let mut defined = 0;
    for pair in &pairs {
        let report = table2::analyse(pair, false);
        let before = if table2::is_defined(&report) { Side::Formula } else { Side::Undefined };
        defined += usize::from(before == Side::Formula);
        assert_eq!(table2::sides(&report), (before, Side::Formula), "{}", pair.name);
    }
    assert_eq!((defined, pairs.len()), (WELL_DEFINED.len(), 23));
}

/// The showcase of the paper, 270150: which formulas each variable gets, on the branch that gives it one.
#[test]
fn formulas_are_told_by_branches() {
    let Some(pairs) = shared("subjects/itsp").and_then(|root| table2::pairs(&root)) else { return };
    let pair = pairs.iter().find(|p| p.name == "270150").expect("the showcase");
    let report = table2::analyse(pair, true);
    let said = |variable: &str| -> Vec<Vec<String>> {
        let about = table2::churns(&report).into_iter().filter(|c| c.subject == variable);
        let texts = |facts: &[Fact]| facts.iter().map(|f| f.text.clone()).collect::<Vec<_>>();
        about.flat_map(|c| [texts(&c.removed), texts(&c.added)]).collect()
    };
    let when = "a1 * b2 - b1 * a2 != 0.0f ==> ";
    let [x, y] = [
        ["X == (b1 - b2) / (b1 * a2 - a1 * b2)", "X == (b2 - b1) / (a1 * b2 - b1 * a2)"],
        ["Y == (a2 - a1) / (b1 * a2 - a1 * b2)", "Y == (a1 - a2) / (a1 * b2 - b1 * a2)"],
    ]
    .map(|sides| sides.map(|text| vec![format!("{when}{text}")]).to_vec());
    assert_eq!((said("X"), said("Y")), (x, y));
}

/// Equal versions, and versions that differ in layout and comments only, give nothing.
#[test]
fn layout_changes_nothing() {
    let Some(itsp) = shared("subjects/itsp") else { return };
    let table =
        std::fs::read_to_string(itsp.join("table1_selection.csv")).expect("table1_selection.csv is there");
    for row in table.lines().skip(1) {
        let Some(file) = row.split(',').nth(4) else { continue };
        let source = std::fs::read_to_string(itsp.join(file)).expect("the subject is there");
        let spread = format!("/* a comment */\n\n{}\n", source.replace(';', " ;\n"));
        for other in [&source, &spread] {
            let report = analyse(&source, other);
            assert_eq!(report.summary.churns, 0, "{file}");
            assert!(report.functions.is_empty(), "{file}");
        }
    }
}

/// By task, for 2, 3, ... versions: the facts of all versions that some defined run comes to in each. Where
/// there are fewer than the paper counts, some version is undefined on every run: what holds of all versions
/// holds in that one for want of executions.
const HELD: [(&str, &[usize]); 10] = [
    ("2810", &[3, 3, 3, 3, 3]),
    ("2811", &[6, 0, 0, 0, 0]),
    ("2812", &[1, 1, 1, 1, 1]),
    ("2813", &[0, 0, 0, 0, 0]),
    ("2824", &[1, 1, 1, 1, 1]),
    ("2825", &[6, 0, 0, 0, 0]),
    ("2827", &[9, 9, 9, 0, 0]),
    ("2828", &[1, 1, 1, 0, 0]),
    ("2830", &[8, 7, 8]),
    ("2832", &[0, 0, 0, 0, 0]),
];

/// Table I: for every task and number of versions at least as many version invariants as the paper, with those
/// that hold in some version for want of executions; and how many are left without them. By default of every third.
#[test]
fn no_fewer_version_invariants_than_the_paper() {
    let Some(tasks) = shared("subjects/itsp").and_then(|root| table1::tasks(&root)) else {
        return;
    };
    let step = rounds("INVDIFF_TABLE_1_STEP", 5, 1).max(1);
    let (mut as_many, mut compared) = (0, 0);
    for task in &tasks {
        for (k, (wanted, _)) in (2..=task.versions.len()).zip(&task.paper) {
            let Some(wanted) = *wanted else { continue };
            compared += 1;
            if compared % step != 0 {
                continue;
            }
            let report = table1::analyse(&task.versions[..k]);
            let (held, vacuous) = table1::counted(&report);
            let counts = (held.len(), vacuous.len());
            println!("task {}, {k} versions: the paper's {wanted}, held and vacuous: {counts:?}", task.name);
            assert!(counts.0 + counts.1 >= wanted, "{}, {k} versions: {held:#?} {vacuous:#?}", task.name);
            let expected = HELD.iter().find(|(name, _)| *name == task.name).map(|(_, held)| held[k - 2]);
            assert_eq!(Some(counts.0), expected, "{}, {k} versions: {held:#?}", task.name);
            as_many += usize::from(counts.0 >= wanted);
        }
    }
    assert_eq!(compared, 48);
    assert!(step > 1 || as_many == 26, "{as_many}");
}
