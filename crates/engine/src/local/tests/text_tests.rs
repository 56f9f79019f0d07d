//! Tests of texts that have to do with each other.

use super::told;

const HEAD: &str = "#include <string.h>\n#include <strings.h>\n";

fn function(body: &str) -> String {
    let name = "int f(const char *s, const char *t, unsigned long n)";
    format!("{HEAD}{name}\n{{\n    {body}\n    return 0;\n}}\n")
}

fn check(old: &str, new: &str, expected: &[&str]) {
    assert_eq!(told(&function(old), &function(new)), expected, "{old}\n{new}");
}

/// One change is told, from 1 to 0.
fn differs(old: &str, new: &str) {
    let found = told(&function(old), &function(new));
    assert!(found.len() == 1 && found[0].contains(" | returns 1 | returns 0"), "{old}\n{new}\n{found:?}");
}

/// The change makes no difference, but on states in which tests contradict each other.
fn same(old: &str, new: &str) {
    check(old, new, &[]);
}

#[test]
fn a_text_is_not_two_texts() {
    for (one, other) in [
        (r#"strcmp(s, "on")"#, r#"strcmp(s, "off")"#),
        (r#"strcmp(s, "on")"#, r#"strcmp("off", s)"#),
        (r#"strcasecmp(s, "on")"#, r#"strcasecmp(s, "off")"#),
        (r#"strcasecmp(s, "on")"#, r#"strcmp(s, "of")"#),
        (r#"strncmp(s, "one", 3)"#, r#"strcmp(s, "on")"#),
        (r#"strncmp(s, "one", 3)"#, r#"memcmp(s, "off", 3)"#),
        (r#"memcmp(s, "on", 3)"#, r#"strcmp(s, "one")"#),
        (r#"strcmp(s, "")"#, r#"strncmp(s, "o", 1)"#),
    ] {
        same(&format!("if ({one} == 0) return 1;"), &format!("if ({one} == 0 && {other} != 0) return 1;"));
        same(&format!("if ({one} == 0 && {other} == 0) return 1;"), "");
    }
}

#[test]
fn what_may_be_both_is_told() {
    for (one, other) in [
        (r#"strcasecmp(s, "on")"#, r#"strcmp(s, "On")"#),
        (r#"strcasecmp(s, "\303\244")"#, r#"strcasecmp(s, "\303\204")"#),
        (r#"strncmp(s, "one", 2)"#, r#"strcmp(s, "on")"#),
        (r#"strncmp(s, "on", 2)"#, r#"strncmp(s, "one", 3)"#),
        (r#"memcmp(s, "on", 2)"#, r#"strcmp(s, "one")"#),
        (r#"strcmp(s, "on")"#, r#"strcmp(t, "off")"#),
        (r#"strncmp(s, "on", n)"#, r#"strncmp(s, "off", n)"#),
    ] {
        differs(&format!("if ({one} == 0 && {other} == 0) return 1;"), "");
    }
}

#[test]
fn one_test_implies_another() {
    for (one, other) in [
        ("strcmp(s, t)", "strncmp(s, t, 3)"),
        ("strcmp(s, t)", "strncmp(t, s, n)"),
        ("strcmp(s, t)", "strcasecmp(s, t)"),
        ("strcmp(s, t)", "memcmp(s, t, strlen(s))"),
        ("memcmp(s, t, n)", "strncmp(s, t, n)"),
        ("memcmp(s, t, 4)", "strncasecmp(s, t, 3)"),
        ("memcmp(s, t, 4)", "memcmp(s, t, 3)"),
        ("strncmp(s, t, strlen(t))", "memcmp(s, t, strlen(t))"),
        ("memcmp(s, t, strlen(t))", "strncmp(s, t, strlen(t))"),
        (r#"strcmp(s, "one")"#, r#"strncmp(s, "on", 2)"#),
        (r#"strcmp(s, "One")"#, r#"strncasecmp(s, "onE", 4)"#),
        (r#"strncmp(s, "one", 3)"#, r#"memcmp(s, "on", 2)"#),
    ] {
        same(&format!("if ({one} == 0) return 1;"), &format!("if ({one} == 0 && {other} == 0) return 1;"));
    }
}

#[test]
fn what_does_not_follow_is_told() {
    for (one, other) in [
        ("strncmp(s, t, 3)", "strcmp(s, t)"),
        ("strcasecmp(s, t)", "strcmp(s, t)"),
        ("strncmp(s, t, n)", "memcmp(s, t, n)"),
        ("strncmp(s, t, 3)", "strncmp(s, t, 4)"),
        ("memcmp(s, t, n)", "strcmp(s, t)"),
        ("strncasecmp(s, t, 3)", "memcmp(s, t, 3)"),
        ("strncasecmp(s, t, strlen(t))", "memcmp(s, t, strlen(t))"),
        (r#"strncmp(s, "on", 2)"#, r#"strcmp(s, "on")"#),
        (r#"strcasecmp(s, "on")"#, r#"strncmp(s, "on", 2)"#),
    ] {
        let new = format!("if ({one} == 0 && {other} == 0) return 1;");
        differs(&format!("if ({one} == 0) return 1;"), &new);
    }
}

/// What is written between may make another text of it.
#[test]
fn memory_between_tests_counts() {
    let text = |then: &str| {
        format!(
            "{HEAD}int f(char *s)\n{{\n    int a = strcmp(s, \"on\");\n    s[1] = 'f';\n    \
             int b = strcmp(s, \"of\");\n    if (a == 0 && b == 0)\n        return {then};\n    return 0;\n}}\n"
        )
    };
    let found = told(&text("1"), &text("2"));
    assert!(found.len() == 1 && found[0].ends_with(" | returns 1 | returns 2"), "{found:?}");
}

/// Of tests one of which implies the others, that one is told.
#[test]
fn what_a_test_implies_is_not_told() {
    check(
        r#"if (strcmp(s, "on") != 0 && strcmp(s, "yes") != 0) return 1;"#,
        r#"if (strcmp(s, "on") != 0 && strcmp(s, "yes") != 0 && strcmp(s, "off") != 0) return 1;"#,
        &[r#"strcmp(s, "off") == 0 | returns 1 | returns 0"#],
    );
}

#[test]
fn no_text_is_as_long_as_all_addresses() {
    same("if (n == strlen(s) + 1) return 1;", "if (n == strlen(s) + 1 && n > strlen(s)) return 1;");
    differs("if (n == strlen(s) + 1) return 1;", "if (n == strlen(s) + 1 && n > strlen(t)) return 1;");
}

#[test]
fn a_literal_is_as_long_as_it_is_written() {
    super::check("unsigned long f(void)", "return 6;", "return strlen(\"Usage:\");", &[]);
    super::check(
        "unsigned long f(void)",
        "return 7;",
        "return strlen(\"Usage:\");",
        &[" | returns 7 | returns 6"],
    );
    // As far as the first zero.
    super::check("unsigned long f(void)", "return 2;", "return strlen(\"ab\\0c\");", &[]);
}

#[test]
fn one_kind_of_characters_is_part_of_another() {
    let text = |kind: &str| {
        let test = format!("if ({kind}(c)) foreign(c);");
        format!("#include <ctype.h>\nint foreign(int);\nint f(int c)\n{{\n{test}\nreturn 1;\n}}\n")
    };
    let expected = ["isblank(c) == 0 && isspace(c) != 0 |  | calls foreign(c)"];
    assert_eq!(told(&text("isblank"), &text("isspace")), expected);
}
