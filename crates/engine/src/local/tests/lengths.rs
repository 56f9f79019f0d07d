//! Arrays of variable length: that one begins its life with so many elements is told, and compared.

use super::check;

#[test]
fn what_stands_behind_an_array_of_variable_length_is_compared() {
    check(
        "int f(int n)",
        "char b[n];\nmemset(b, 0, n);\nif (n > 3) foreign(1);\nreturn b[0];",
        "char b[n];\nmemset(b, 0, n);\nif (n > 4) foreign(1);\nreturn b[0];",
        &["n == 4 | calls foreign(1) | "],
    );
}

#[test]
fn how_many_elements_it_has_is_told() {
    let body = |n: &str| format!("char b[{n}];\nforeign(2);\nmemset(b, 0, 4);\nreturn b[0];");
    check("int f(int n)", &body("n"), &body("n + 1"), &[" | declares b[n] | declares b[n + 1]"]);
    check("int f(int n)", &body("n + 1"), &body("1 + n"), &[]);
    let table = |n: &str| format!("int t[n][{n}];\nt[0][0] = 1;\nreturn foreign(t[0][0]);");
    check("int f(int n)", &table("n"), &table("2"), &[" | declares t[n][n] | declares t[n]"]);
}

#[test]
fn an_array_that_comes_is_told() {
    check(
        "int f(int n)",
        "foreign(n);\nreturn n;",
        "char b[n];\nmemset(b, 1, n);\nforeign(b[0]);\nreturn n;",
        &[" | calls foreign(n) | declares b[n]; calls memset(b, 1, n); calls foreign(b[0])"],
    );
}

#[test]
fn arrays_in_rounds_are_any() {
    check(
        "int f(int n)",
        "foreign(n);\nreturn n;",
        "for (int i = 1; i < n; i++) { char b[i]; b[0] = i; foreign(b[0]); }\nforeign(n);\nreturn n;",
        &["n > 1 |  | runs the loop of line 12, which calls foreign()"],
    );
}
