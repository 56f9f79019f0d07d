//! Functions of very many branches of which one changes: it is told, with an input that gets there.

use super::kit::Pair;

/// Both versions of a text of 1,500 lines between a head and a tail; the line 777 has `5`, then `6`.
fn pair(head: &str, line: &dyn Fn(usize, usize) -> String, tail: &str) -> Pair {
    let version = |changed: usize| {
        let lines: String =
            (0..1500).map(|i| line(i, if i == 777 { changed } else { i * 7919 % 1000 })).collect();
        format!("{head}{lines}{tail}")
    };
    Pair::new(&version(5), &version(6))
}

#[test]
fn one_case_of_many_is_told() {
    let cases = pair(
        "int f(int x)\n{\n    switch (x) {\n",
        &|i, k| format!("    case {i}: return {k};\n"),
        "    }\n    return -1;\n}\n",
    );
    cases.says("diff --effort deep HEAD~1..HEAD", 0, &["x = 777", "5 -> 6"], &[]);
    let tests = pair(
        "int f(int x)\n{\n",
        &|i, k| format!("    if (x == {}) return {k};\n", i * 11),
        "    return -1;\n}\n",
    );
    tests.says("diff --effort deep HEAD~1..HEAD", 0, &["x = 8547", "5 -> 6"], &[]);
}

#[test]
fn one_case_of_a_program_or_of_memory_is_told() {
    let program = pair(
        "#include <stdio.h>\nint main(void)\n{\n    int x;\n    if (scanf(\"%d\", &x) != 1)\n        return 1;\n    switch (x) {\n",
        &|i, k| format!("    case {}: printf(\"%d\\n\", {k}); break;\n", i * 3),
        "    default: puts(\"none\");\n    }\n    return 0;\n}\n",
    );
    program.says("diff --effort deep HEAD~1..HEAD", 0, &["2331", "replayed"], &[]);
    let events = pair(
        "struct s { int n; };\nvoid f(struct s *p, int event)\n{\n    switch (event) {\n",
        &|i, k| format!("    case {i}: p->n += {k}; break;\n"),
        "    }\n}\n",
    );
    events.says("diff --effort deep HEAD~1..HEAD", 0, &["event = 777", "replayed"], &[]);
}
