//! Floats as inputs of `quantify`: in steps, or every float of a range.

use crate::quantify::{check, output};
use crate::support::TempRepo;
use serde_json::Value;

fn grade(limit: &str) -> String {
    format!(
        "int grade(double celsius)\n{{\n    double f = celsius * 1.8 + 32;\n    if (f > {limit})\n        return 2;\n    \
         return f >= 0;\n}}\n"
    )
}

fn graded() -> TempRepo {
    TempRepo::new().file("a.c", grade("40")).commit("one").file("a.c", grade("41")).commit("two")
}

#[test]
fn floats_are_counted_in_steps_unless_a_range_is_given() {
    let repo = graded();
    let parts = [
        "domain   39 inputs: celsius=-10..9:0.5 (default)",
        "behave differently  2 of 39",
        "when 1.8 * celsius + 32.0 > 40.0 && !(1.8 * celsius + 32.0 > 41.0)",
    ];
    check(&repo, "quantify HEAD~1..HEAD", 0, &parts);
    check(
        &repo,
        "quantify --domain celsius=4..5:0.125 HEAD~1..HEAD",
        0,
        &["9 inputs", "differently  5 of 9"],
    );
}

#[test]
fn every_float_of_a_range_is_counted_exactly() {
    let repo = graded();
    // Floats in order have their bits as numbers.
    let is_over = |bits: &u64, limit: f64| f64::from_bits(*bits) * 1.8 + 32.0 > limit;
    let around = |value: f64| value.to_bits() - 9..value.to_bits() + 9;
    let first = around(8.0 / 1.8).find(|bits| is_over(bits, 40.0)).unwrap();
    let end = around(5.0).find(|bits| is_over(bits, 41.0)).unwrap();
    let count = end - first;
    let parts = [
        "celsius=-inf..inf (every float)".to_owned(),
        format!("behave differently  {count} of {} ", 2 * (0x7ffu64 << 52) as u128 + 2),
    ];
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    check(&repo, "quantify --domain celsius=-inf..inf HEAD~1..HEAD", 0, &parts);
    let text = output(&repo, "quantify --format json --domain celsius=-1.5..inf HEAD~1..HEAD", 0);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["targets"][0]["domain"]["celsius"], serde_json::json!([-1.5, "inf"]));
    assert_eq!(report["targets"][0]["method"], "exact");
}

#[test]
fn a_conversion_that_does_not_fit_is_grey() {
    let text = |k: u32| format!("int f(float x)\n{{\n    return (int)x > {k};\n}}\n");
    let repo = TempRepo::new().file("a.c", text(1)).commit("one").file("a.c", text(2)).commit("two");
    let parts = [
        "a conversion of a float that does not fit: 1627389953 of 4278190082",
        // The floats from 2 to 3.
        "behave differently  at least 4194304 of 4278190082",
    ];
    check(&repo, "quantify --domain x=-inf..inf HEAD~1..HEAD", 0, &parts);
}

#[test]
fn what_is_too_large_is_estimated_for_both_versions_together() {
    let text = |k: u32| {
        let test = format!("    if (a - b < {k}.0f)\n        abort();\n");
        format!("void abort(void);\nint f(float a, float b)\n{{\n{test}    return 0;\n}}\n")
    };
    let repo = TempRepo::new().file("a.c", text(1)).commit("one").file("a.c", text(9)).commit("two");
    let words = "quantify --domain a=4..16 --domain b=4..16 HEAD~1..HEAD";
    let text = output(&repo, words, 0);
    let line = text.lines().find(|l| l.contains("behave differently")).unwrap();
    let number =
        |text: &str| text.trim().trim_end_matches(|c: char| !c.is_ascii_digit()).parse::<f64>().unwrap();
    let estimate = line.split("estimated").nth(1).unwrap();
    let (share, interval) = estimate.split_once('(').unwrap();
    let (low, high) = interval.split_once("to").unwrap();
    // Half of the floats are below 8, so two independent ones are there and above with a quarter each.
    assert!(number(low) < number(share) && number(share) < number(high) && number(high) < 50.0, "{line}");
    assert!(number(low) > 20.0, "{line}");
    check(
        &repo,
        "rank --domain a=4..16 --domain b=4..16 HEAD~1 HEAD",
        0,
        &["1  HEAD~1  fails on estimated", "2  HEAD  fails on estimated"],
    );
}

#[test]
fn a_suite_names_floats_as_they_are() {
    let repo = graded();
    repo.write("s.csv", "celsius\n4.5\n-10\n4.25\n");
    check(&repo, "quantify --suite s.csv HEAD~1..HEAD", 0, &["3 tests, 1 outside of the domain"]);
}

#[test]
fn ranges_that_have_no_floats_are_refused() {
    let repo = graded();
    repo.write("p.csv", "celsius,0,9,1\n");
    let bad = |domain: &str, parts: &[&str]| {
        check(&repo, &format!("quantify --domain {domain} HEAD~1..HEAD"), 129, parts);
    };
    bad("celsius=1.5..1.25", &["column 14: the range is empty"]);
    bad("celsius=1.5..nan", &["column 14: expected a number"]);
    bad("celsius=1..2:x", &["column 14: expected a number"]);
    bad("celsius=1..2:0", &["has a step that is not above 0", "celsius=-10..9:0.5"]);
    bad("celsius=1..inf:1", &["an end that is infinite"]);
    bad("celsius=1..2:1e-17", &["steps that are smaller than its type can tell apart"]);
    check(&repo, "quantify --profile p.csv HEAD~1..HEAD", 129, &["p.csv:1: 'celsius' is a float"]);
    let text = |k: u32| format!("int f(int n) {{ return n > {k}; }}\n");
    let repo = TempRepo::new().file("a.c", text(1)).commit("one").file("a.c", text(2)).commit("two");
    check(&repo, "quantify --domain n=0..2.5 HEAD~1..HEAD", 129, &["'n' is an integer"]);
    let text = |k: u32| format!("int f(double a, double b) {{ return a > {k} && b > 0; }}\n");
    let repo = TempRepo::new().file("a.c", text(1)).commit("one").file("a.c", text(2)).commit("two");
    let words = "quantify --domain a=-10..9 --domain b=-10..9 HEAD~1..HEAD";
    check(&repo, words, 129, &["more than 2^120 inputs", "floats in steps"]);
}

#[test]
fn the_projects_file_has_floats_in_steps() {
    let repo = TempRepo::new()
        .file(".invdiff.yaml", "quantify: {domain: {celsius: \"0..9:0.25\"}}\n")
        .file("a.c", grade("40"))
        .commit("one")
        .file("a.c", grade("41"))
        .commit("two");
    let text = output(&repo, "quantify HEAD~1..HEAD", 0);
    assert!(text.contains("37 inputs: celsius=0..9:0.25\n"), "{text}");
    let text = output(&repo, "--no-cache HEAD~1..HEAD", 0);
    assert!(text.contains("of 37; celsius in 0..9:0.25)"), "{text}");
}
