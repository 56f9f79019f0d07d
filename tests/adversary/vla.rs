//! Arrays of variable length and `alloca`.

use super::kit::Pair;

/// A program that reads `n` numbers into an array of that length, and does this with them.
fn student(body: &str) -> String {
    format!(
        "#include <stdio.h>\nint main(void)\n{{\n    int n, s = 0;\n    scanf(\"%d\", &n);\n    int a[n];\n    \
         for (int i = 0; i < n; i++) scanf(\"%d\", &a[i]);\n{body}\n    printf(\"%d\\n\", s);\n    return 0;\n}}\n"
    )
}

/// Checks that the pair is told with an input that was replayed, on which the compiled programs differ.
#[track_caller]
fn told(old: &str, new: &str) {
    let pair = Pair::new(old, new);
    pair.says("check HEAD~1..HEAD", 0, &["no regression"], &["no function changed"]);
    pair.says("blame a.c:main", 0, &["two"], &[]);
    let report = pair.json("diff --effort deep HEAD~1..HEAD");
    let functions = report["functions"].as_array().cloned().unwrap_or_default();
    let points = functions
        .iter()
        .filter(|f| f["name"] == "main")
        .flat_map(|f| f["points"].as_array().cloned().unwrap_or_default());
    let churns = points.flat_map(|p| p["churns"].as_array().cloned().unwrap_or_default());
    let shown: Vec<_> = churns.filter(|c| c["witness"].is_object()).collect();
    let defined = shown.iter().find(|c| {
        ["old", "new"].iter().all(|v| c["witness"][v]["end"].as_str().is_some_and(|end| end != "undefined"))
    });
    let Some(churn) = defined else { panic!("no replayed difference: {shown:#?}") };
    let stdin = churn["witness"]["stdin"].as_str().unwrap_or_default();
    let (a, b) = pair.runs(&["-fsanitize=address,undefined", "-fno-sanitize-recover=all"], stdin);
    assert_ne!(a, b, "on {stdin:?}");
    for (ran, version) in [(a, "old"), (b, "new")] {
        assert_eq!(Some(&*ran.stdout), churn["witness"][version]["stdout"].as_str(), "on {stdin:?}");
    }
}

#[test]
fn arrays_of_student_programs_are_compared() {
    let max = "    s = a[0];\n    for (int i = 1; i < n; i++) if (a[i] > s) s = a[i];";
    told(&student(max), &student(&max.replace('>', "<")));
    // Small numbers: a sum without the first one overflows where that of all does not.
    let sum = "    for (int i = 0; i < n; i++) s += a[i] & 255;";
    told(&student(sum), &student(&sum.replace("i = 0", "i = 1")));
    let rows = "    int b[n][n + 1];\n    for (int i = 0; i < n; i++) for (int j = 0; j <= n; j++) b[i][j] = a[i] * j;\n    \
                s = b[n - 1][n] + sizeof b[0];";
    told(&student(rows), &student(&rows.replace("n + 1]", "n + 2]")));
    let inner = "    for (int i = 1; i <= n; i++) { char t[i + 1]; t[i] = i; s += t[i] + (int)sizeof t; }";
    told(&student(inner), &student(&inner.replace("[i + 1]", "[i + 2]")));
}

#[test]
fn arrays_that_are_passed_on_are_compared() {
    let program = |first: &str| {
        format!(
            "static int f(int n, int m, int a[n][m]) {{ int s = {first}; for (int i = 0; i < n; i++) s += a[i][m - 1]; \
             return s; }}\n{}",
            student(
                "    int b[n][2];\n    for (int i = 0; i < n; i++) { b[i][0] = i; b[i][1] = a[i]; }\n    s = f(n, 2, b);"
            )
        )
    };
    told(&program("0"), &program("1"));
}

#[test]
fn memory_of_alloca_is_compared() {
    let body = "    int *p = __builtin_alloca(2 * sizeof *p); p[0] = n; p[1] = 7; s = p[0] + p[1];";
    told(&student(body), &student(&body.replace("= 7", "= 8")));
}

#[test]
fn equal_programs_with_arrays_are_no_change() {
    let sum = "    for (int i = 0; i < n; i++) s += a[i];";
    Pair::new(&student(sum), &format!("/* sum */\n{}", student(sum))).is_no_change();
    let renamed = student("    int k = n; int b[k]; b[0] = a[0]; s = b[0];");
    Pair::new(&renamed, &renamed.replace('k', "length")).is_no_change();
}

/// What the size of an array is, is seen where it is asked for.
#[test]
fn a_size_is_evaluated_where_the_array_is_declared() {
    let old =
        "int f(int n) { if (n < 1 || n > 9) return 0; int a[n]; n++; return sizeof a / sizeof a[0]; }\n";
    let new = old.replace("int a[n]; n++;", "n++; int a[n];");
    let pair = Pair::new(old, &new);
    pair.says("blame a.c:f", 0, &["two"], &[]);
    pair.says("HEAD~1..HEAD", 0, &["replayed", "\\old(n) + 1"], &[]);
    Pair::new(old, &old.replace("n++", "n += 1")).is_no_change();
}

/// An array without elements is undefined, which is no fact about what comes after it.
#[test]
fn lengths_that_are_not_positive_are_events() {
    let old = "int f(int n) { if (n > 9) return 0; int a[n]; a[0] = 1; return a[0]; }\n";
    let new = old.replace("n > 9", "n < 1 || n > 9");
    let pair = Pair::new(old, &new);
    pair.says("HEAD~1..HEAD", 0, &["array-length"], &[]);
    pair.says("check HEAD~1..HEAD", 0, &["no regression"], &[]);
    let pair = Pair::new(&new, old);
    pair.says("check --strict HEAD~1..HEAD", 1, &["not positive"], &[]);
}

/// What bounds several loops is no fact that these prove of each other.
#[test]
fn loops_that_come_later_prove_nothing() {
    let old = "#include <stdio.h>\nint main(void)\n{\n    int n, m;\n    scanf(\"%d%d\", &n, &m);\n    int a[n][m], v[m];\n    \
               for (int i = 0; i < n; i++)\n        for (int j = 0; j < m; j++)\n            scanf(\"%d\", &a[i][j]);\n    \
               for (int j = 0; j < m; j++)\n        scanf(\"%d\", &v[j]);\n    return 0;\n}\n";
    let pair = Pair::new(old, &old.replace("return 0", "return 7"));
    pair.says(
        "HEAD~1..HEAD --all --points exit --points loop",
        0,
        &["m == \\input(2)"],
        &["m == 1 ", "m == 2", "m <= 2", "n == 1 ", "n <= "],
    );
}

/// An array that is too short for what is done is a regression, and no "no semantic change".
#[test]
fn arrays_that_became_too_short_are_regressions() {
    let old = "int f(int n)\n{\n    if (n < 1 || n > 50) return 0;\n    int a[n + 1];\n    \
               for (int i = 0; i <= n; i++) a[i] = i;\n    return a[n];\n}\n";
    let pair = Pair::new(old, &old.replace("[n + 1]", "[n]"));
    pair.says("HEAD~1..HEAD", 0, &["no longer kept", "access out of bounds"], &["no semantic change"]);
    pair.says("check HEAD~1..HEAD", 1, &["1 regression", "bounds"], &[]);
}
