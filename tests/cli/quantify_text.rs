//! Strings as inputs of `quantify`, and the numbers of the default report.

use crate::quantify::{check, json};
use crate::support::TempRepo;

/// Strings of up to `n` bytes.
fn strings(n: u32) -> u128 {
    (0..=n).map(|k| 255u128.pow(k)).sum()
}

fn count(report: &serde_json::Value, v: usize, what: &str) -> u128 {
    report["targets"][0]["versions"][v][what].as_str().unwrap().parse().unwrap()
}

#[test]
fn strings_of_bounded_length_are_counted() {
    let length = "int f(const char *s) { int n = 0; while (s[n]) n++; return n; }";
    let repo = TempRepo::new().file("a.c", length).commit("one");
    let report =
        json(&repo, "quantify --format json --domain len(s)=0..4 --target return=3 HEAD..HEAD -- a.c:f");
    let target = &report["targets"][0];
    assert_eq!(target["domain_size"], strings(4).to_string());
    assert_eq!(target["domain"]["len(s)"], serde_json::json!([0, 4]));
    assert_eq!(count(&report, 0, "target_count"), 255 * 255 * 255);
    assert_eq!((count(&report, 0, "success"), count(&report, 0, "grey")), (strings(4), 0));
    // From two bytes on.
    let report = json(&repo, "quantify --format json --domain len(s)=2..3 HEAD..HEAD -- a.c:f");
    assert_eq!(report["targets"][0]["domain_size"], (strings(3) - strings(1)).to_string());
    check(&repo, "quantify --domain len(s)=0..4 HEAD..HEAD -- a.c:f", 0, &["len(s)=0..4"]);
}

#[test]
fn what_lies_behind_the_end_is_out_of_bounds() {
    let text = "int f(const char *s) { return s[2] == 'x'; }";
    let repo = TempRepo::new().file("a.c", text).commit("one");
    let report =
        json(&repo, "quantify --format json --domain len(s)=0..3 --target return=1 HEAD..HEAD -- a.c:f");
    // One and no byte: the third one is not there.
    assert_eq!(count(&report, 0, "grey"), strings(1));
    // The third byte is an x, and a fourth is not there.
    assert_eq!(count(&report, 0, "target_count"), 255 * 255);
}

#[test]
fn lengths_of_the_library_and_writes_are_followed() {
    let old = "#include <string.h>\nint f(char *s) { if (strlen(s) > 1) s[0] = 'A'; return 0; }";
    let new = "#include <string.h>\nint f(char *s) { if (strlen(s) > 1) s[0] = 'B'; return 0; }";
    let repo = TempRepo::new().file("a.c", old).commit("one").file("a.c", new).commit("two");
    let report = json(&repo, "quantify --format json --domain len(s)=0..3 HEAD~1..HEAD");
    let step = &report["targets"][0]["steps"][0];
    assert_eq!(step["differing"]["count"], (strings(3) - strings(1)).to_string());
    assert_eq!(step["open"]["count"], "0");
    // Where only one version writes, what the other leaves is what was there.
    let repo = repo.file("a.c", old.replace("s[0] = 'A'", "0")).commit("three");
    let report = json(&repo, "quantify --format json --domain len(s)=0..3 HEAD~1..HEAD");
    let step = &report["targets"][0]["steps"][0];
    let same = (strings(3) - strings(1)) / 255;
    assert_eq!(step["differing"]["count"], (strings(3) - strings(1) - same).to_string());
}

#[test]
fn bad_lengths_are_refused() {
    let repo = TempRepo::new().file("a.c", "int f(const char *s, int n) { return s[0] + n; }").commit("one");
    let refused = |domain: &str, parts: &[&str]| {
        check(&repo, &format!("quantify --domain {domain} HEAD..HEAD -- a.c:f"), 129, parts);
    };
    refused("len(s)=0..99", &["column 8", "a string has 0..14 bytes here"]);
    refused("len(s)=-1..3", &["a string has 0..14 bytes here"]);
    refused("len(n)=0..3", &["'len(n)' is no input", "len(s)"]);
    refused("len()=0..3", &["expected the name of an input"]);
}

/// A project's file with a domain gives the default report a number, which notes carry.
#[test]
fn the_default_report_says_how_many_inputs_are_affected() {
    let text = |n: u32| format!("int f(int x, int y) {{\n  if (x >= {n})\n    return 1;\n  return y;\n}}\n");
    let repo = TempRepo::new()
        .file(".invdiff.yaml", "quantify:\n  domain: {x: \"0..9\", y: \"0..9\"}\n")
        .file("a.c", text(3))
        .commit("one")
        .file("a.c", text(4))
        .commit("two");
    // x == 3, and y is not 1.
    let line = "affects 9 % of inputs (9 of 100; x, y in 0..9)";
    check(&repo, "HEAD~1..HEAD", 0, &[line]);
    check(&repo, "--effort deep HEAD~1..HEAD", 0, &[line]);
    check(&repo, "--format html HEAD~1..HEAD", 0, &[line]);
    let report = json(&repo, "--json HEAD~1..HEAD");
    assert_eq!(report["functions"][0]["affects"][0]["differing"], "9");
    let quick = json(&repo, "--json --effort quick HEAD~1..HEAD");
    assert!(quick["functions"][0].get("affects").is_none(), "{quick}");
    check(&repo, "notes add HEAD", 0, &[]);
    check(&repo, "notes show HEAD", 0, &[line]);
    // A function that has none of the inputs has no number.
    let other = |n: u32| format!("int g(int a) {{\n  return a > {n};\n}}\n");
    let repo = repo.file("b.c", other(1)).commit("three").file("b.c", other(2)).commit("four");
    let report = json(&repo, "--json HEAD~1..HEAD");
    assert!(report["functions"][0].get("affects").is_none());
}
