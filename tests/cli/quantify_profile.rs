//! `git invdiff quantify`: profiles of several inputs, from data, suites of tests, and what the project's file says.
//! Expected numbers are computed from all inputs.

use crate::quantify::{check, output};
use crate::support::TempRepo;
use serde_json::Value;

/// What both versions return.
fn old(x: i128, y: i128) -> i128 {
    if x > 2 && y > 3 {
        1
    } else if x + y == 4 {
        2
    } else {
        0
    }
}

fn new(x: i128, y: i128) -> i128 {
    if x > 2 && y > 4 {
        1
    } else if x + y == 4 {
        2
    } else {
        0
    }
}

fn repository() -> TempRepo {
    let text = |k: u32| {
        format!(
            "int f(int x, int y)\n{{\n    if (x > 2 && y > {k})\n        return 1;\n    if (x + y == 4)\n        return 2;\n    return 0;\n}}\n"
        )
    };
    TempRepo::new().file("a.c", text(3)).commit("one").file("a.c", text(4)).commit("two")
}

fn write(repo: &TempRepo, name: &str, text: &str) {
    std::fs::write(repo.path().join(name), text).unwrap();
}

fn json(repo: &TempRepo, words: &str) -> Value {
    let text = output(repo, &format!("quantify --format json {words} HEAD~1..HEAD -- a.c:f"), 0);
    serde_json::from_str(&text).unwrap()
}

/// A count of a report is this part of all inputs.
#[track_caller]
fn is_share(report: &Value, count: &Value, part: i128, all: i128) {
    let number = |v: &Value| v.as_str().unwrap().parse::<i128>().unwrap();
    let (n, size) = (number(count), number(&report["targets"][0]["domain_size"]));
    assert_eq!(n * all, part * size, "{n} of {size} is not {part} of {all}");
}

/// How often each input counts, as rows of an input and its weight.
type Weights = Vec<((i128, i128), i128)>;

/// The shares of returns and differences are those of all inputs by their weights.
#[track_caller]
fn agrees(repo: &TempRepo, words: &str, weights: &Weights) {
    let all: i128 = weights.iter().map(|(_, w)| w).sum();
    let sum = |is_it: &dyn Fn(i128, i128) -> bool| -> i128 {
        weights.iter().filter(|((x, y), _)| is_it(*x, *y)).map(|(_, w)| w).sum()
    };
    for value in 0..3 {
        let report = json(repo, &format!("--target return={value} {words}"));
        let target = &report["targets"][0];
        is_share(&report, &target["versions"][0]["target_count"], sum(&|x, y| old(x, y) == value), all);
        is_share(&report, &target["versions"][1]["target_count"], sum(&|x, y| new(x, y) == value), all);
        let differing = &target["steps"][0]["differing"]["count"];
        is_share(&report, differing, sum(&|x, y| old(x, y) != new(x, y)), all);
        assert_eq!(
            (&target["steps"][0]["open"]["count"], target["weighted"].as_bool()),
            (&"0".into(), Some(true))
        );
    }
}

#[test]
fn joint_profiles_bring_inputs_together() {
    let repo = repository();
    write(&repo, "p.csv", "x,0,3,y,3,5,1/2\nx,4,9,y,4,4,0.3\nx,-5,-5,y,9,9,20%\n");
    let mut weights = Weights::new();
    // Over 120: 1/2 of 12 inputs, 3/10 of 6, 1/5 of one.
    (0..=3).for_each(|x| (3..=5).for_each(|y| weights.push(((x, y), 5))));
    (4..=9).for_each(|x| weights.push(((x, 4), 6)));
    weights.push(((-5, 9), 24));
    agrees(&repo, "--profile p.csv", &weights);
}

#[test]
fn conditional_profiles_follow_another_input() {
    let repo = repository();
    // x is mostly small; y is large where x is, and otherwise anything from 0 to 9.
    let rows = "x,0,4,3/4\nx,5,9,1/4\ny,4,5,1/2,if x,5,9\ny,9,9,1/2,if x,5,9\ny,0,9,1,if x,0,4\n";
    write(&repo, "p.csv", rows);
    let mut weights = Weights::new();
    // Over 400: x small 60 each, of which y takes tenths; x large 20 each: 5 and 5, or 10.
    (0..=4).for_each(|x| (0..=9).for_each(|y| weights.push(((x, y), 6))));
    for x in 5..=9 {
        weights.extend([((x, 4), 5), ((x, 5), 5), ((x, 9), 10)]);
    }
    agrees(&repo, "--profile p.csv", &weights);
    // Without a line of its own, x is uniform on its domain.
    write(&repo, "q.csv", "y,4,5,1,if x,3,9\ny,0,9,1,if x,-2,2\n");
    let mut weights = Weights::new();
    (-2..=2).for_each(|x| (0..=9).for_each(|y| weights.push(((x, y), 1))));
    (3..=9).for_each(|x| (4..=5).for_each(|y| weights.push(((x, y), 5))));
    agrees(&repo, "--profile q.csv --domain x=-2..9", &weights);
}

#[test]
fn samples_are_profiles() {
    let repo = repository();
    let samples = [(3, 4), (3, 4), (0, 4), (7, 9), (-1, 0), (3, 4), (2, 2)];
    let rows: String = samples.iter().map(|(x, y)| format!("{y},{x}\n")).collect();
    write(&repo, "p.csv", &format!("y,x\n{rows}"));
    let weights: Weights = samples.iter().map(|s| (*s, 1)).collect();
    agrees(&repo, "--profile p.csv", &weights);
    let point = |name: &str| {
        let variable = |name: &str| {
            format!(
                "variable {name}\n  var-kind variable\n  dec-type int\n  rep-type int\n  comparability 1\n"
            )
        };
        format!("\nppt a.c.{name}():::ENTER\nppt-type enter\n{}{}", variable("x"), variable("y"))
    };
    let mut trace = format!("decl-version 2.0\n{}{}", point("f"), point("g"));
    for (x, y) in samples {
        trace += &format!("\na.c.f():::ENTER\nthis_invocation_nonce\n1\nx\n{x}\n1\ny\n{y}\n1\n");
    }
    trace += "\na.c.g():::ENTER\nthis_invocation_nonce\n1\nx\n1\n1\ny\n1\n1\n";
    write(&repo, "p.dtrace", &trace);
    agrees(&repo, "--profile p.dtrace", &weights);
    write(&repo, "g.dtrace", &trace.replace("a.c.f()", "a.c.h()"));
    let words = |file: &str| format!("quantify --profile {file} HEAD~1..HEAD -- a.c:f");
    check(&repo, &words("g.dtrace"), 129, &["profile g.dtrace: it has no call of f() with its inputs"]);
    write(&repo, "bad.dtrace", &trace.replacen("x\n3\n1", "x\nzz\n1", 1));
    check(&repo, &words("bad.dtrace"), 129, &["profile bad.dtrace: line "]);
}

#[test]
fn what_is_wrong_with_a_profile_has_its_place() {
    let repo = repository();
    let wrong = |file: &str, text: &str, code: i32, parts: &[&str]| {
        write(&repo, file, text);
        check(&repo, &format!("quantify --profile {file} HEAD~1..HEAD -- a.c:f"), code, parts);
    };
    wrong(
        "p.csv",
        "x,0,9,1/2\nx,5,12,1/2\n",
        129,
        &["profile p.csv:2: this range of 'x' overlaps one before it, in line 1"],
    );
    wrong(
        "p.csv",
        "x,0,9,y,0,9,1/2\n",
        129,
        &["profile p.csv:1: the probabilities of 'x' and 'y' sum to 1/2, not to 1"],
    );
    wrong(
        "p.csv",
        "# a\nx,0,9,1\nspeed,0,9,1\n",
        129,
        &["profile p.csv:3: 'speed' is no input", "inputs: x, y"],
    );
    wrong(
        "p.csv",
        "x,0,3000000000,1\n",
        129,
        &["profile p.csv:1: the domain of 'x' leaves its type, which has -2147483648..2147483647"],
    );
    let parts = ["profile p.csv:2: how 'y' is distributed where 'x' is 5 is not said", "if x,LOW,HIGH"];
    wrong("p.csv", "x,0,9,1\ny,0,3,1,if x,0,4\n", 129, &parts);
    wrong(
        "p.csv",
        "x,0,9,1,if y,0,9\ny,0,9,1,if x,0,9\n",
        129,
        &["profile p.csv:1: 'x' depends on what depends on it"],
    );
    wrong("p.csv", "x,0,9,1,if k,0,9\n", 129, &["'k' is no input"]);
    wrong("s.csv", "x,y\n1,2\n1\n", 129, &["profile s.csv, line 3, column 2: 1 values for 2 names"]);
    wrong("s.csv", "x,y\n1,2\n9,99999999999\n", 129, &["profile s.csv:3: the domain of 'y' leaves its type"]);
    wrong("s.csv", "x,z\n1,2\n", 129, &["profile s.csv:2: 'z' is no input"]);
    write(&repo, "j.csv", "x,0,9,y,0,9,1\n");
    check(
        &repo,
        "quantify --profile j.csv --domain x=0..3 HEAD~1..HEAD",
        129,
        &["'x' has a domain and a profile"],
    );
}

#[test]
fn a_suite_covers_the_paths_of_its_tests() {
    let repo = repository();
    write(&repo, "s.csv", "x,y\n3,4\n0,0\n3,4\n99,0\n1,3\n");
    let domain = "--domain x=-10..9 --domain y=-10..9";
    let report = json(&repo, &format!("--suite s.csv {domain}"));
    let suite = &report["targets"][0]["suite"];
    assert_eq!((&suite["tests"], &suite["outside"]), (&5.into(), &1.into()));
    let all: Vec<(i128, i128)> = (-10..10).flat_map(|x| (-10..10).map(move |y| (x, y))).collect();
    // A path by the decisions that are made: of `&&` the second only if the first is true.
    let path = |k: i128, (x, y): (i128, i128)| (x > 2, x > 2 && y > k, !(x > 2 && y > k) && x + y == 4);
    let tests = [(3, 4), (0, 0), (1, 3)];
    let covered = |k: i128, input: (i128, i128)| tests.iter().any(|t| path(k, *t) == path(k, input));
    let count = |is_it: &dyn Fn(&(i128, i128)) -> bool| all.iter().filter(|i| is_it(i)).count() as i128;
    for (version, k) in [(0, 3), (1, 4)] {
        let found = &suite["versions"][version];
        is_share(&report, &found["inputs"]["count"], count(&|i| covered(k, *i)), 400);
        assert_eq!((&found["paths"], &found["of_paths"]), (&3.into(), &5.into()));
    }
    // Only 3,4 comes to the whole of the changed line, and it differs.
    let differs = |i: &(i128, i128)| old(i.0, i.1) != new(i.0, i.1);
    let pair =
        |i: &(i128, i128)| tests.iter().any(|t| path(3, *t) == path(3, *i) && path(4, *t) == path(4, *i));
    let step = &suite["steps"][0];
    is_share(&report, &step["differing"]["count"], count(&|i| differs(i) && pair(i)), 400);
    is_share(&report, &step["reaching"]["count"], count(&pair), 400);
    let missed = |version: usize| {
        let sides = suite["versions"][version]["missed"].as_array().unwrap();
        let side = |s: &Value| {
            (
                s["line"].as_u64().unwrap(),
                s["side"].as_bool().unwrap(),
                s["inputs"]["count"].as_str().unwrap().to_owned(),
            )
        };
        sides.iter().map(side).collect::<Vec<_>>()
    };
    let second = |k: i128, way: bool| count(&|(x, y)| *x > 2 && (*y > k) == way).to_string();
    assert_eq!(missed(0), [(3, false, second(3, false))]);
    assert_eq!(missed(1), [(3, true, second(4, true))]);
    let parts = [
        "suite  5 tests, 1 outside of the domain",
        "version 1: no test has line 3 false: 98 of 400 (24.5 %)",
    ];
    check(&repo, &format!("quantify --suite s.csv {domain} HEAD~1..HEAD"), 0, &parts);
    let page = output(&repo, &format!("quantify --suite s.csv --format html {domain} HEAD~1..HEAD"), 0);
    assert!(page.contains("Suite: 5 tests, 1 outside of the domain"));
    // What it does not name is 0, as for discover.
    write(&repo, "s.csv", "x\n4\n");
    let parts = ["suite  1 test; 0 where the suite does not name it: y"];
    check(&repo, &format!("quantify --suite s.csv {domain} HEAD~1..HEAD"), 0, &parts);
    write(&repo, "s.csv", "x,speed\n4,1\n");
    check(&repo, "quantify --suite s.csv HEAD~1..HEAD", 129, &["'speed' is no input", "inputs: x, y"]);
    write(&repo, "s.csv", "x\nfour\n");
    check(
        &repo,
        "quantify --suite s.csv HEAD~1..HEAD",
        129,
        &["suite s.csv, line 2, column 1: 'four' is no number"],
    );
    check(&repo, "quantify --suite none.csv HEAD~1..HEAD", 128, &["cannot read the suite 'none.csv'"]);
    // By a profile, a suite covers the share of the usage.
    write(&repo, "p.csv", "x,y\n1,3\n1,3\n1,3\n9,9\n");
    write(&repo, "s.csv", "x,y\n1,3\n5,5\n");
    let report = json(&repo, "--suite s.csv --profile p.csv");
    let suite = &report["targets"][0]["suite"];
    is_share(&report, &suite["versions"][0]["inputs"]["count"], 3, 4);
    assert_eq!(suite["outside"], 1);
}

#[test]
fn a_refactoring_is_proved_harmless_and_has_the_exit_status_of_it() {
    let text = |body: &str| format!("int f(int x)\n{{\n    {body}\n}}\n");
    let repo = TempRepo::new()
        .file("a.c", text("return x > 3 ? 1 : 0;"))
        .commit("one")
        .file("a.c", text("return !(x <= 3);"))
        .commit("two")
        .file("a.c", text("if (x == 5) return *(int *)0; return x > 3;"))
        .commit("three")
        .file("a.c", text("if (x == 5) return *(int *)0; return x > 4;"))
        .commit("four");
    let step = |words: &str, code: i32, parts: &[&str]| {
        check(&repo, &format!("quantify --exit-code {words}"), code, parts);
    };
    step("HEAD~3..HEAD~2", 0, &["a.c:f()  proved harmless on the domain\n"]);
    step("--strict HEAD~3..HEAD~2", 0, &[]);
    // Not known is no difference, but no proof either.
    let unknown = "behave differently  at least 0 of 20 (0 %)";
    step("HEAD~2..HEAD~1", 0, &[unknown]);
    step("--strict HEAD~2..HEAD~1", 3, &[unknown]);
    step("HEAD~1..HEAD", 1, &["behave differently  at least 1 of 20 (5 %)"]);
    assert!(!output(&repo, "quantify HEAD~2..HEAD~1", 0).contains("harmless"));
    check(&repo, "quantify HEAD~1..HEAD", 0, &[]);
}

#[test]
fn the_projects_file_says_domains_and_a_profile() {
    let named =
        "profiles:\n  normal: {x: {uniform: [0, 4]}, y: {histogram: {\"0..3\": 0.7, \"4..9\": \"3/10\"}}}\n";
    let with = |section: &str| {
        repository()
            .file(".invdiff.yaml", format!("quantify: {section}\n{named}"))
            .file("p.csv", "x,3,3,1\n")
            .commit("configured")
    };
    let words = "quantify HEAD~2..HEAD -- a.c:f";
    let repo = with("{domain: {x: \"-5..5\", y: \"0..7\", elsewhere: \"0..1\"}}");
    check(&repo, words, 0, &["domain   88 inputs: x=-5..5, y=0..7\n"]);
    check(
        &repo,
        "quantify --domain x=0..1 HEAD~2..HEAD -- a.c:f",
        0,
        &["domain   16 inputs: x=0..1, y=0..7\n"],
    );
    check(&repo, "rank HEAD~2 HEAD~1 -- a.c:f", 0, &["domain   400 inputs"]);
    check(&repo, "rank HEAD~1 HEAD -- a.c:f", 0, &["domain   88 inputs: x=-5..5, y=0..7\n"]);
    let repo = with("{profile: normal}");
    check(&repo, words, 0, &["domain   by profile: x=0..4, y=0..9\n"]);
    // y is 4 with 3/60, and x is 3 or 4 with 2/5.
    check(&repo, words, 0, &["behave differently  1/50 (2 %)"]);
    check(&repo, "quantify --domain x=0..3 HEAD~2..HEAD -- a.c:f", 0, &["by profile: x=0..3, y=0..9"]);
    let repo = with("{profile: p.csv, domain: {x: \"0..9\"}}");
    check(&repo, words, 0, &["by profile: x=3..3, y=-10..9 (default)"]);
    check(&repo, "quantify --profile normal HEAD~2..HEAD -- a.c:f", 0, &["by profile: x=0..4, y=0..9"]);
    // A function that the project's samples say nothing of is counted evenly.
    let repo = with("{profile: joint.csv}").file("joint.csv", "k,m\n1,2\n").commit("samples");
    check(
        &repo,
        "quantify HEAD~3..HEAD -- a.c:f",
        0,
        &["400 inputs: x=-10..9 (default), y=-10..9 (default)"],
    );
    // Nothing outside of the tree is read.
    check(
        &with("{profile: /etc/passwd}"),
        words,
        128,
        &["quantify.profile '/etc/passwd' of .invdiff.yaml is not there"],
    );
    check(&with("{profile: nromal}"), words, 128, &["did you mean 'normal'?"]);
    check(&with("{domain: {x: 9..3}}"), words, 128, &[".invdiff.yaml:1:", "the range '9..3' is empty"]);
}

/// Samples of many inputs, on many paths: what a condition leaves out of the samples is known on all of them.
#[test]
fn many_samples_are_counted_on_many_paths() {
    let text = |k: u32| {
        let inputs: Vec<String> = (0..12).map(|i| format!("int x{i}")).collect();
        let tests: String =
            (0..12).map(|i| format!("    if (x{i} > {k})\n        s += {};\n", 1 << i)).collect();
        format!("int f({})\n{{\n    int s = 0;\n{tests}    return s;\n}}\n", inputs.join(", "))
    };
    let repo = TempRepo::new().file("a.c", text(3)).commit("one").file("a.c", text(4)).commit("two");
    let value = |row: usize, i: usize| (row * 7919 + i * 104_729 + row * i * 31) % 9;
    let names: Vec<String> = (0..12).map(|i| format!("x{i}")).collect();
    let rows: Vec<Vec<usize>> = (0..400).map(|row| (0..12).map(|i| value(row, i)).collect()).collect();
    let line = |row: &Vec<usize>| row.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let lines: Vec<String> = rows.iter().map(line).collect();
    write(&repo, "p.csv", &format!("{}\n{}\n", names.join(","), lines.join("\n")));
    let report = json(&repo, "--profile p.csv");
    let target = &report["targets"][0];
    assert_eq!(
        (&target["versions"][0]["grey"], &target["steps"][0]["open"]["count"]),
        (&"0".into(), &"0".into())
    );
    let differ = rows.iter().filter(|row| row.contains(&4)).count();
    is_share(&report, &target["steps"][0]["differing"]["count"], differ as i128, 400);
}
