//! `git invdiff quantify` and `rank` from outside: the figures of the paper, and bad input.

use crate::support::TempRepo;
use serde_json::Value;
use std::path::Path;

/// A repository with the versions of a shared subject as commits, if the shared data is there.
pub fn subject(name: &str, versions: &[&str]) -> Option<TempRepo> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/subjects/seed").join(name);
    let mut repo = TempRepo::new();
    for version in versions {
        let Ok(text) = std::fs::read(folder.join(version)) else {
            crate::support::tier::skipped("shared", "shared data absent");
            return None;
        };
        repo = repo.file("a.c", text).commit(version);
    }
    Some(repo)
}

#[track_caller]
pub fn check(repo: &TempRepo, words: &str, code: i32, parts: &[&str]) {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.current_dir(repo.path()).args(words.split_whitespace()).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "{words}\n{out}\n{err}");
    for part in parts {
        assert!(out.contains(part) || err.contains(part), "{part}\n{out}\n{err}");
    }
}

/// What a command prints that ends with a code.
#[track_caller]
pub fn output(repo: &TempRepo, words: &str, code: i32) -> String {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.current_dir(repo.path()).args(words.split_whitespace()).output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{words}\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs a command that succeeds, and reads what it prints as JSON.
#[track_caller]
pub fn json(repo: &TempRepo, words: &str) -> Value {
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.current_dir(repo.path()).args(words.split_whitespace()).output().unwrap();
    assert!(output.status.success(), "{words}\n{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn figure_1_has_its_shares() {
    let domain = "--domain x=-10..9 --domain y=-10..9";
    if let Some(repo) = subject("quant_fig1", &["v1.c", "v2.c"]) {
        let parts = [
            "400 inputs",
            "failure  1 of 400",
            "failure  0 of 400",
            "reach the change    200 of 400 (50 %)",
            "behave differently  10 of 400 (2.5 %)",
            "line 7  true on 45 % before, 50 % after\n",
            "line 14  true on 45 % before and after, does not depend on it",
            "branches that depend on it: line 7\n",
        ];
        check(&repo, &format!("quantify {domain} HEAD~1..HEAD"), 0, &parts);
        let reached = ["line:a.c:11  110 of 400 (27.5 %)", "line:a.c:11  100 of 400 (25 %)"];
        check(&repo, &format!("quantify {domain} --target line:a.c:11 HEAD~1..HEAD"), 0, &reached);
        let taken = ["branch:a.c:7  90 of 400 (22.5 %)", "branch:a.c:7  100 of 400 (25 %)"];
        check(&repo, &format!("quantify {domain} --target branch:a.c:7 HEAD~1..HEAD"), 0, &taken);
    }
    if let Some(repo) = subject("quant_fig1", &["v1_lt.c", "v2_lt.c"]) {
        let parts = ["failure  110 of 400 (27.5 %)", "failure  100 of 400 (25 %)"];
        check(&repo, &format!("quantify {domain} HEAD~1..HEAD"), 0, &parts);
    }
}

const FIGURE_4: &str =
    "--domain inhibit=-10000..9000 --domain up_sep=-10000..9000 --domain down_sep=-10000..9000";

fn counts(report: &Value, what: &str) -> Vec<String> {
    let versions = report["targets"][0]["versions"].as_array().unwrap();
    versions.iter().map(|v| v[what].as_str().unwrap().to_owned()).collect()
}

#[test]
fn figure_4_has_its_counts_and_its_order() {
    let models = ["model_v0.c", "model_v1.c", "model_v2.c", "model_v3.c"];
    if let Some(repo) = subject("quant_fig4", &models) {
        let report = json(&repo, &format!("quantify --format json {FIGURE_4} HEAD~3..HEAD"));
        let expected = ["3452737779691", "3452916424041", "3452918299191", "3452920184341"];
        assert_eq!(counts(&report, "success"), expected);
        assert_eq!(report["targets"][0]["domain_size"], "6860083057001");
        let order = json(&repo, &format!("rank --format json {FIGURE_4} HEAD~3..HEAD"));
        let names: Vec<&str> =
            order["ranking"].as_array().unwrap().iter().map(|r| r["revision"].as_str().unwrap()).collect();
        assert_eq!(names, ["HEAD", "HEAD~1", "HEAD~2", "HEAD~3"]);
    }
    if let Some(repo) = subject("quant_fig4", &["v0.c", "v1.c", "v2.c", "v3.c"]) {
        let report = json(&repo, &format!("quantify --format json {FIGURE_4} HEAD~3..HEAD"));
        let expected = ["5218441207001", "5184598507001", "5201474857001", "6860083057001"];
        assert_eq!(counts(&report, "success"), expected);
        assert_eq!(counts(&report, "grey"), ["0"; 4]);
    }
}

#[test]
fn figure_5_has_its_probabilities() {
    let Some(repo) = subject("quant_fig5", &["v1.c", "v2.c"]) else { return };
    let domains: Vec<String> = (1..=10).map(|i| format!("--domain Bernoulli{i}=1..100")).collect();
    let report = json(&repo, &format!("quantify --format json {} HEAD~1..HEAD", domains.join(" ")));
    // Of 100^10.
    assert_eq!(counts(&report, "success"), ["37197435000000000000", "44503405000000000000"]);
    let step = &report["targets"][0]["steps"][0];
    assert_eq!(step["failing_differs"]["count"], "7305970000000000000");
    assert_eq!(step["differing"]["count"], "12383000000000000000");
    assert_eq!(step["open"]["count"], "0");
    let versions = report["targets"][0]["versions"].as_array().unwrap();
    for (version, new) in versions.iter().zip([39, 13]) {
        assert!(version["nodes"].as_u64().unwrap() <= 39, "{version}");
        assert!(version["explored"].as_u64().unwrap() <= new, "{version}");
    }
}

#[test]
fn calls_are_followed_through_three_steps_of_the_brake() {
    let Some(repo) = subject("wbs", &["wbs.c"]) else { return };
    let text = std::fs::read_to_string(repo.path().join("a.c")).unwrap();
    let last = "    update(pedal3, auto3, skid3);\n";
    let asserted = format!("{last}    assert(nor_pressure < 5 || auto3);\n");
    let changed = format!("#include <assert.h>\n{}", text.replace(last, &asserted));
    let repo = repo.file("a.c", changed).commit("asserted");
    let pedals = "--domain pedal1=-1..5 --domain pedal2=-1..5 --domain pedal3=-1..5";
    let report = json(&repo, &format!("quantify --format json {pedals} HEAD~1..HEAD -- a.c:launch"));
    assert_eq!(report["targets"][0]["domain_size"], "21952");
    assert_eq!(counts(&report, "grey"), ["0", "0"]);
    // A pedal at 4 without auto brake and skid gives the whole pressure: one of 28 third steps.
    assert_eq!(counts(&report, "failure"), ["0", "784"]);
    let plain = &report["targets"][0]["versions"][0];
    assert!(plain["paths"].as_u64() == Some(13_824) && plain["nodes"].as_u64() == Some(27_647), "{plain}");
}

/// Separation test of TCAS: the numbers are those of a C program that calls `advise` on all 10,036,224 inputs.
#[test]
fn advisories_of_tcas_are_those_of_all_inputs() {
    let Some(repo) = subject("tcas", &["tcas.c"]) else { return };
    let text = std::fs::read_to_string(repo.path().join("a.c")).unwrap();
    let repo = repo.file("a.c", format!("#define PROPERTY_1 1\n{text}")).commit("property");
    let domains = "--domain a1=590..605 --domain a2=0..1 --domain a3=0..1 --domain a4=0..2 --domain a5=599..601 \
        --domain a6=0..2 --domain a7=0..3 --domain a8=395..405 --domain a9=395..405 --domain a10=0..2 \
        --domain a11=1..2 --domain a12=0..1";
    for (advisory, truth) in [(0, "9603456"), (1, "418656"), (2, "14112")] {
        let words =
            format!("quantify --format json {domains} --target return={advisory} HEAD~1..HEAD -- a.c:advise");
        let report = json(&repo, &words);
        assert_eq!(counts(&report, "target_count")[0], truth);
        assert_eq!(counts(&report, "failure"), ["0", "10080"]);
        assert_eq!(counts(&report, "grey"), ["0", "0"]);
    }
}

/// Of five candidate fixes of PROPERTY_1 the one that changes nothing but what fails comes first; on a domain of
/// 10^29 inputs, too, all are counted.
#[test]
fn the_right_fix_of_tcas_comes_first() {
    let Some(repo) = subject("tcas", &["tcas.c"]) else { return };
    let text = std::fs::read_to_string(repo.path().join("a.c")).unwrap();
    let text = format!("#define PROPERTY_1 1\n{text}");
    let mut repo = repo.file("a.c", &text).commit("broken").run(["tag", "broken"]);
    let last = "    return up_separation >= altitude_limit() && own_above();\n}\n\nstatic int assign";
    assert!(text.contains(last));
    let fixes = [
        ("strict", "up_separation > altitude_limit() && own_above()"),
        ("never", "up_separation >= altitude_limit() && own_below()"),
        ("right", "up_separation == altitude_limit() && own_above()"),
        ("far", "up_separation >= altitude_limit() + 3 && own_above()"),
        ("wide", "up_separation >= altitude_limit() - 3 && own_above()"),
    ];
    for (name, fix) in fixes {
        let fixed = text.replace(last, &format!("    return {fix};\n}}\n\nstatic int assign"));
        repo = repo.run(["checkout", "-q", "broken"]).file("a.c", fixed).commit(name).run(["tag", name]);
    }
    let small = "--domain a1=590..605 --domain a2=0..1 --domain a3=0..1 --domain a4=0..2 --domain a5=599..601 \
        --domain a6=0..2 --domain a7=0..3 --domain a8=395..405 --domain a9=395..405 --domain a10=0..2 \
        --domain a11=1..2 --domain a12=0..1";
    let large = "--domain a1=0..1000 --domain a2=0..1 --domain a3=0..1 --domain a4=0..40000 --domain a5=0..1000 \
        --domain a6=0..40000 --domain a7=0..3 --domain a8=0..1000 --domain a9=0..1000 --domain a10=0..2 \
        --domain a11=1..2 --domain a12=0..1";
    for domain in [small, large] {
        let words =
            format!("rank --format json {domain} --function advise broken strict never right far wide");
        let ranking = json(&repo, &words)["ranking"].as_array().unwrap().clone();
        let place = |name: &str| {
            let entry = ranking.iter().find(|r| r["revision"] == name).unwrap();
            (entry["place"].as_u64().unwrap(), entry["failure"]["count"].as_str().unwrap().to_owned())
        };
        assert_eq!((place("right"), place("never")), ((1, "0".into()), (2, "0".into())), "{domain}");
        assert!(ranking.iter().skip(2).all(|r| r["failure"]["count"] != "0"));
        assert!(ranking.iter().all(|r| r["grey"]["count"] == "0"), "{ranking:?}");
        let changed = ranking.iter().find(|r| r["revision"] == "right").unwrap();
        assert_eq!(changed["changed_else"]["count"], "0");
    }
    // All advisories together are all inputs.
    let sum: u128 = (0..3)
        .map(|advisory| {
            let words = format!(
                "quantify --format json {large} --target return={advisory} right..right -- a.c:advise"
            );
            counts(&json(&repo, &words), "target_count")[0].parse::<u128>().unwrap()
        })
        .sum();
    let words = format!("quantify --format json {large} right..right -- a.c:advise");
    let report = json(&repo, &words);
    assert_eq!(report["targets"][0]["domain_size"], sum.to_string());
    assert_eq!((counts(&report, "success")[0].as_str(), sum > 1 << 70), (sum.to_string().as_str(), true));
}

/// A whole program's globals begin as they are initialised, and are what was written to them since.
#[test]
fn a_program_reads_what_it_wrote() {
    let text = |n: u32| {
        format!(
            "int g, h;\nstatic int pick(void) {{ return g + h; }}\nint main(int c, char **v) {{ (void)v; g = {n}; if (c > 3) h = 1; return pick(); }}\n"
        )
    };
    let repo = TempRepo::new().file("a.c", text(5)).commit("one").file("a.c", text(6)).commit("two");
    let report =
        json(&repo, "quantify --format json --domain c=0..9 --target return=6 HEAD~1..HEAD -- a.c:main");
    assert_eq!(counts(&report, "target_count"), ["6", "4"]);
}

#[test]
fn profiles_say_how_likely_inputs_are() {
    let text = |k: u32| format!("int f(int x, int y) {{ return x > {k} && y > 3; }}\n");
    let repo = TempRepo::new().file("a.c", text(4)).commit("one").file("a.c", text(5)).commit("two");
    let with = |rows: &str, code: i32, parts: &[&str]| {
        std::fs::write(repo.path().join("p.csv"), rows).unwrap();
        check(&repo, "quantify --profile p.csv --target return=1 HEAD~1..HEAD -- a.c", code, parts);
    };
    // x is 5 with probability 1/4 * 1/10, and y is above 3 on 6 of 20.
    let rows = "input,low,high,probability\nx,0,9,1/4\nx,10,19,0.75\n";
    with(
        rows,
        0,
        &["behave differently  3/400 (0.75 %)", "return=1  21/80 (26.25 %)", "return=1  51/200 (25.5 %)"],
    );
    with("x,0,9,0.9\n", 129, &["profile p.csv:1: the probabilities of 'x' sum to 9/10, not to 1"]);
    with("x,0,9,much\n", 129, &["profile p.csv:1: expected a probability"]);
    with("z,0,9,1\n", 129, &["'z' is no input"]);
    let both = "quantify --profile p.csv --domain z=0..3 HEAD~1..HEAD";
    check(&repo, both, 129, &["'z' has a domain and a profile"]);
    check(&repo, "quantify --profile none.csv HEAD~1..HEAD", 128, &["cannot read the profile 'none.csv'"]);
}

#[test]
fn candidates_are_ordered_by_failures_and_then_by_what_they_change_else() {
    let text = |test: &str, other: &str| {
        format!(
            "#include <assert.h>\n\nint f(int x)\n{{\n    int y = 2;\n    if ({test})\n        y = {other};\n    assert(y + x != 12);\n    return y;\n}}\n"
        )
    };
    // x = 10 is wrong at first; one fix is right there alone, one changes more, one does nothing.
    let repo = TempRepo::new().file("a.c", text("x > 90", "3")).commit("broken");
    let candidates = [("small", "x == 10", "3"), ("large", "x > 5", "30"), ("none", "x > 91", "3")];
    let base = std::fs::read_to_string(repo.path().join("a.c")).unwrap();
    let mut patches = String::new();
    for (name, test, other) in candidates {
        let fixed = text(test, other);
        let diff =
            similar::TextDiff::from_lines(&base, &fixed).unified_diff().header("a/a.c", "b/a.c").to_string();
        std::fs::write(repo.path().join(name), diff).unwrap();
        patches += &format!("--patch {name} ");
    }
    let report = json(&repo, &format!("rank --format json --domain x=0..50 {patches} HEAD"));
    let ranking = report["ranking"].as_array().unwrap();
    let shown: Vec<(u64, &str, bool)> = ranking
        .iter()
        .map(|r| {
            (r["place"].as_u64().unwrap(), r["revision"].as_str().unwrap(), r["tied"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(shown, [(1, "small", false), (2, "large", false), (3, "HEAD", true), (3, "none", true)]);
    assert_eq!(ranking[0]["changed_else"]["count"], "0");
    assert_eq!(ranking[1]["changed_else"]["count"], "44");
    check(
        &repo,
        "rank --domain x=0..50 --patch small --patch none HEAD",
        0,
        &["2  HEAD  fails on", "  tied"],
    );
    std::fs::write(repo.path().join("bad"), "--- a/a.c\n+++ b/a.c\n@@ -1 +1 @@\n-nothing\n+x\n").unwrap();
    check(&repo, "rank --patch bad HEAD", 128, &["patch bad:3: the hunk does not apply"]);
    check(&repo, "rank --patch none.diff HEAD", 128, &["cannot read the patch 'none.diff'"]);
    let clean = repo.command_of("git").current_dir(repo.path()).args(["diff", "--quiet", "HEAD"]).status();
    assert!(clean.unwrap().success());
}

#[test]
fn what_is_undefined_is_grey_and_named() {
    let body = |k: u32| {
        format!(
            "int t[4];\nint f(int x, int *p)\n{{\n    int a[3] = {{1, 2, 3}}, u;\n    if (x < 0)\n        return 10 / (x + 2);\n    if (x == 0)\n        return *p;\n    if (x == 9)\n        return u;\n    if (x > 5)\n        return x * 400000000;\n    return a[x - 1] + {k};\n}}\n"
        )
    };
    let repo = TempRepo::new().file("a.c", body(0)).commit("one").file("a.c", body(1)).commit("two");
    let parts = [
        "success  12 of 20",
        "failure  0 of 20",
        "grey     8 of 20",
        "a division by zero, or one that overflows: 1 of 20 (5 %), 1 path",
        "a null pointer, or an address that is not followed: 1 of 20 (5 %), 1 path",
        "a value that was never given: 1 of 20 (5 %), 1 path",
        "a signed overflow: 3 of 20 (15 %), 1 path",
        "an access out of bounds: 2 of 20 (10 %), 1 path",
        "behave differently  at least 3 of 20 (15 %)",
        "not known           8 of 20 (40 %)",
    ];
    check(&repo, "quantify HEAD~1..HEAD", 0, &parts);
}

/// Where nothing can be followed there is one line, and not a table of zeros.
#[test]
fn functions_of_which_nothing_is_known_take_one_line() {
    let body =
        |k: u32| format!("struct s {{ int n; }};\nint f(struct s *p, int x) {{ return p->n + x + {k}; }}\n");
    let repo = TempRepo::new().file("a.c", body(0)).commit("one").file("a.c", body(1)).commit("two");
    let line = "  all inputs are grey, in all versions: a null pointer, or an address that is not followed\n";
    check(&repo, "quantify HEAD~1..HEAD", 0, &[line]);
    let report = json(&repo, "quantify --format json HEAD~1..HEAD");
    assert_eq!(counts(&report, "grey"), ["20", "20"]);
}

#[test]
fn bad_input_is_refused_with_the_place() {
    let text = |k: u32| format!("int f(int speed) {{ return speed > {k}; }}\n");
    let repo = TempRepo::new().file("a.c", text(1)).commit("one").file("a.c", text(2)).commit("two");
    let bad = |domain: &str, parts: &[&str]| {
        check(&repo, &format!("quantify --domain {domain} HEAD~1..HEAD"), 129, parts);
    };
    bad("speed=9..1", &["column 10: the range is empty"]);
    bad("speed", &["column 6: expected '='"]);
    bad("speed=1", &["column 7: expected LOW..HIGH"]);
    bad("speed=1..x", &["column 10: expected a number"]);
    bad("=1..2", &["column 1: expected the name"]);
    bad("speed=", &["column 7: expected LOW..HIGH"]);
    bad("sped=1..2", &["did you mean 'speed'?"]);
    bad("speed=0..3000000000", &["leaves its type, which has -2147483648..2147483647"]);
    bad("speed=0..1 --domain speed=0..2", &["'speed' has two domains"]);
    let target = |target: &str, code: i32, part: &str| {
        check(&repo, &format!("quantify --target {target} HEAD~1..HEAD"), code, &[part]);
    };
    target("return=1", 0, "differently  1 of 20 (5 %)");
    target("branch:a.c:1", 129, "line 1 has no branch of f()");
    target("line:a.c:9", 0, "no function that is asked for has this line");
    target("returns=1", 129, "targets: assertion");
    target("line:a.c", 129, "unknown target");
    check(&repo, "quantify HEAD~1..HEAD -- a.c:g", 0, &["no function has this name"]);
    check(&repo, "quantify HEAD~1..HEAD -- a.c:f", 0, &["a.c:f()"]);
    let long = |k: u32| {
        let parameters: Vec<String> = (0..4).map(|i| format!("long x{i}")).collect();
        format!("int f({})\n{{\n    return x0 > {k};\n}}\n", parameters.join(", "))
    };
    let repo = TempRepo::new().file("a.c", long(1)).commit("one").file("a.c", long(2)).commit("two");
    let wide = |n: u32| {
        let domains: Vec<String> =
            (0..n).map(|i| format!("--domain x{i}=-9223372036854775808..9223372036854775807")).collect();
        format!("quantify {} HEAD~1..HEAD", domains.join(" "))
    };
    check(&repo, &wide(4), 129, &["the domain of f() is too large to count"]);
    check(&repo, "quantify --target line:a.c:2 HEAD~1..HEAD", 129, &["line 2 has no code of f()", "nearest"]);
    let branch = |k: u32| {
        format!("int f(int x)\n{{\n    int y = {k};\n    if (x > y)\n        return 1;\n    return 0;\n}}\n")
    };
    let repo = TempRepo::new().file("a.c", branch(1)).commit("one").file("a.c", branch(2)).commit("two");
    let parts = ["line 3 has no branch of f()", "the nearest line with one is 4"];
    check(&repo, "quantify --target branch:a.c:3 HEAD~1..HEAD", 129, &parts);
}

#[test]
fn what_is_too_large_to_count_is_estimated() {
    let body = |limit: &str| {
        let head = "#include <assert.h>\nint f(long x, long y)\n{\n    if (x < 10)\n        return 2;\n";
        format!("{head}    assert(x * y * 4 <= {limit});\n    return 1;\n}}\n")
    };
    let (old, new) = (body("1000000000000"), body("2000000000000"));
    let repo = TempRepo::new().file("a.c", old).commit("one").file("a.c", new).commit("two");
    let words = "--domain x=0..999999 --domain y=0..1000000 --target return=1 HEAD~1..HEAD";
    let report = json(&repo, &format!("quantify --format json {words}"));
    assert_eq!(report["targets"][0]["method"], "estimated");
    // What is exact stays exact: x is below 10.
    assert_eq!(counts(&report, "success"), ["10000010"; 2]);
    for (v, share) in [(0, 0.25f64), (1, 0.5)] {
        let version = &report["targets"][0]["versions"][v];
        // The area under a hyperbola.
        let truth = share * (1.0 - share.ln());
        for interval in [&version["interval"], &version["estimate"]["success"]["interval"]] {
            let [low, high] = [0, 1].map(|i| interval[i].as_f64().unwrap());
            assert!(low < truth && truth < high && high - low < 0.04, "{truth}: {version}");
        }
    }
    let parts = ["success  at least 10000010 of 1000001000000", "estimated by a sample of 10000 inputs"];
    check(&repo, &format!("quantify {words}"), 0, &parts);
}

#[test]
fn what_explodes_ends_and_says_how_much_is_grey() {
    let body = |k: u32| {
        let tests: String =
            (0..20).map(|i| format!("    if (x >> {i} & 1)\n        s += {};\n", i + k)).collect();
        format!("int f(int x)\n{{\n    int s = 0;\n{tests}    return s;\n}}\n")
    };
    let repo = TempRepo::new().file("a.c", body(1)).commit("one").file("a.c", body(2)).commit("two");
    let words = "quantify --effort quick --format json --domain x=0..1000000 HEAD~1..HEAD";
    let report = json(&repo, words);
    let version = &report["targets"][0]["versions"][0];
    let number = |what: &str| version[what].as_str().unwrap().parse::<u64>().unwrap();
    assert_eq!(number("success") + number("failure") + number("grey"), 1_000_001);
    assert!(
        number("grey") > 0 && version["grey_reasons"]["more paths than the bound"].is_object(),
        "{version}"
    );
    let grey = format!("    grey     {} of 1000001 (", number("grey"));
    check(
        &repo,
        "quantify --effort quick --domain x=0..1000000 HEAD~1..HEAD",
        0,
        &[&grey, "more paths than the bound: "],
    );
}

/// No input takes a side of which it is too much work to see that; 2^15 paths would be followed.
#[test]
fn of_few_inputs_just_the_paths_are_followed_that_they_take() {
    let text = "int f(int x, int y)\n{\n    int n = 0;\n    for (int i = 0; i < 15; i++)\n        \
        if ((x ^ y ^ i) * (x ^ y ^ i) % 8 == 3)\n            n++;\n    return n;\n}\n";
    let repo = TempRepo::new().file("a.c", text).commit("squares");
    let of = |high: u32| {
        format!("quantify --effort quick --domain x=0..{high} --domain y=0..{high} HEAD -- a.c:f")
    };
    check(&repo, &of(199), 0, &["success  40000 of 40000 (100 %)", "line 5  true on 0 of 600000 (0 %)"]);
    check(&repo, &of(3999), 0, &["more paths than the bound"]);
    // The second run has the tree from the cache.
    let [fresh, kept] = [(); 2].map(|()| json(&repo, &of(149).replace("--effort", "--format json --effort")));
    let [fresh, kept] = [&fresh, &kept].map(|report| &report["targets"][0]["versions"][0]);
    assert!(fresh["explored"].as_u64() > Some(0) && kept["explored"] == 0, "{fresh}\n{kept}");
    assert!(fresh["success"] == kept["success"] && fresh["branches"] == kept["branches"], "{kept}");
}

/// Where nothing but the target is asked, nothing is followed behind it.
#[test]
fn nothing_but_the_target_is_counted_on_request() {
    let text = |last: u32| {
        format!(
            "#include <assert.h>\nint f(int x, int y)\n{{\n    int n = 0;\n    if (x > 3)\n        assert(y != 9);\n    \
             for (int i = 0; i < 8; i++)\n        if ((x * y >> i & 1) == 1)\n            n++;\n    return n / {last};\n}}\n"
        )
    };
    let repo = TempRepo::new().file("a.c", text(1)).commit("one").file("a.c", text(2)).commit("two");
    check(
        &repo,
        "quantify --target-only HEAD~1..HEAD",
        0,
        &[
            "  version 1  HEAD~1\n    assertion  6 of 400 (1.5 %)\n  version 2  HEAD\n    assertion  6 of 400 (1.5 %)\n",
        ],
    );
    let of = |options: &str| {
        let report = json(&repo, &format!("quantify --no-cache --format json {options} HEAD~1..HEAD"));
        report["targets"][0].clone()
    };
    let (all, own) = (of(""), of("--target-only"));
    let number = |of: &Value, v: usize, what: &str| of["versions"][v][what].as_u64().unwrap();
    for v in 0..2 {
        assert_eq!(all["versions"][v]["target_count"], own["versions"][v]["target_count"]);
        assert_eq!(own["versions"][v]["success"], Value::Null);
        assert_eq!(number(&own, v, "nodes"), 5);
        assert!(number(&all, v, "nodes") > 50, "{all}");
    }
    // What changed is behind all that is followed.
    assert_eq!((number(&own, 1, "explored"), own["steps"].as_array().unwrap().len()), (0, 0));
    check(&repo, "quantify --target-only --target return=7 HEAD~1..HEAD", 0, &["return=7  "]);
    check(&repo, "quantify --target-only --format svg HEAD~1..HEAD", 129, &["formats: text, json"]);
    check(&repo, "quantify --target-only --exit-code HEAD~1..HEAD", 129, &["cannot be used with"]);
}

/// Of the change of one path the tree of the older version is taken over; from the cache nothing is asked at all.
#[test]
fn only_what_a_change_affects_is_explored_again() {
    let Some(repo) = subject("wbs", &["wbs.c"]) else { return };
    let text = std::fs::read_to_string(repo.path().join("a.c")).unwrap();
    let last = "    update(pedal3, auto3, skid3);\n";
    let condition =
        "pedal1 == 3 && auto1 && !skid1 && pedal2 == 2 && auto2 && !skid2 && pedal3 == 1 && auto3 && !skid3";
    let version =
        |n: u32| text.replace(last, &format!("{last}    if ({condition})\n        nor_pressure += {n};\n"));
    let first = text.replace(
        "    wbs_init();\n    update(pedal1",
        "    wbs_init();\n    nor_pressure = 1;\n    update(pedal1",
    );
    assert!(first != text);
    let repo = repo.file("a.c", version(1)).commit("one").file("a.c", version(2)).commit("two");
    let repo = repo.file("a.c", first).commit("in front");
    let pedals = "--domain pedal1=-1..5 --domain pedal2=-1..5 --domain pedal3=-1..5 --domain skid1=0..0";
    let of = |options: &str, range: &str| {
        json(&repo, &format!("quantify --format json {options} {pedals} {range} -- a.c:launch"))
    };
    let range = "HEAD~2..HEAD~1";
    let fresh = of("--no-cache", range);
    let (before, after) = (&fresh["targets"][0]["versions"][0], &fresh["targets"][0]["versions"][1]);
    let number = |v: &Value, what: &str| v[what].as_u64().unwrap();
    assert_eq!(number(before, "explored"), number(before, "nodes"));
    assert!(number(after, "explored") * 100 <= number(after, "nodes"), "{after}");
    assert_eq!(number(after, "queries"), 0);
    assert_eq!(fresh["targets"][0]["steps"][0]["differing"]["count"], "1");
    // Each alone is counted as both are together.
    let counted = |report: &Value, v: usize| {
        let mut version = report["targets"][0]["versions"][v].clone();
        for cost in ["explored", "queries", "queries_reused", "index"] {
            version.as_object_mut().unwrap().remove(cost);
        }
        version
    };
    let alone = of("--no-cache", "HEAD~1..HEAD~1");
    assert_eq!(counted(&alone, 0), counted(&fresh, 1));
    // In front of the first branch all is new.
    let all = of("--no-cache", "HEAD~1..HEAD");
    let newest = &all["targets"][0]["versions"][1];
    assert!(number(newest, "explored") <= number(newest, "nodes"));
    assert_eq!(counted(&all, 1), counted(&of("--no-cache", "HEAD..HEAD"), 0));
    // From the cache.
    of("", range);
    let kept = of("", range);
    for v in 0..2 {
        let version = &kept["targets"][0]["versions"][v];
        assert_eq!((number(version, "explored"), number(version, "queries")), (0, 0));
        assert_eq!(counted(&kept, v), counted(&fresh, v));
    }
    let step = |report: &Value| report["targets"][0]["steps"].clone();
    assert_eq!(step(&kept), step(&fresh));
    let next = of("", "HEAD~1..HEAD");
    assert_eq!(number(&next["targets"][0]["versions"][0], "explored"), 0);
    assert_eq!((counted(&next, 1), step(&next)), (counted(&all, 1), step(&all)));
}

#[test]
fn the_condition_on_which_versions_differ_is_said() {
    let repo = TempRepo::new()
        .file(
            "a.c",
            "int f(int x, int y) { if (x >= 0) { if (y > 0) return 1; return 2; } return y > 0 ? 3 : 4; }",
        )
        .commit("one")
        .file(
            "a.c",
            "int f(int x, int y) { if (x >= 0) { if (y >= 0) return 1; return 2; } return y > 0 ? 3 : 4; }",
        )
        .commit("two")
        .file(
            "a.c",
            "int f(int x, int y) { if (x >= 0) { if (y >= 0) return 1; return 2; } return y != x ? 3 : 4; }",
        )
        .commit("three");
    let parts = [
        "behave differently  10 of 400 (2.5 %), when x >= 0 && y == 0\n",
        "behave alike        390 of 400 (97.5 %)\n",
    ];
    check(&repo, "quantify HEAD~2..HEAD~1", 0, &parts);
    let report = json(&repo, "quantify --format json HEAD~2..HEAD");
    let steps = &report["targets"][0]["steps"];
    assert_eq!(
        (&steps[0]["differing_when"], &steps[0]["agreeing"]["count"]),
        (&"x >= 0 && y == 0".into(), &"390".into())
    );
    // Said or not, the inputs on which it holds are those that are counted.
    let when = steps[1]["differing_when"].as_str().unwrap_or_default();
    let (mut differ, mut said) = (0, 0);
    for (x, y) in (-10..10).flat_map(|x| (-10..10).map(move |y| (x, y))) {
        let was = if x < 0 { if y > 0 { 3 } else { 4 } } else { 0 };
        let is = if x < 0 { if y != x { 3 } else { 4 } } else { 0 };
        differ += i32::from(was != is);
        said += i32::from(x < 0 && y <= 0 && y != x);
    }
    assert_eq!(steps[1]["differing"]["count"], differ.to_string());
    assert_eq!(said, differ);
    assert!(when.is_empty() || when.contains('y'), "{when}");
}
