//! What differs only where a signed sum of the newer version overflows is no news: C says nothing of it. That one no
//! longer does is.

use super::{changes, check, told};

#[test]
fn a_bound_that_moves_by_one_is_told_once() {
    check(
        "int f(int x, int n)",
        "if (x < n) return 1; return 0;",
        "if (x < n - 1) return 1; return 0;",
        &["x < n && n - 1 <= x | returns 1 | returns 0"],
    );
    check(
        "int f(int x, int n)",
        "while (x < n) x = other(x, n); return x;",
        "while (x + 1 < n) x = other(x, n); return x;",
        &["x < n && n <= x + 1 | calls other(x, n); goes another round | leaves the loop"],
    );
}

#[test]
fn the_same_but_for_overflows_is_the_same() {
    check("int f(int x, int n)", "return x < n;", "return x <= n - 1;", &[]);
    // Of unsigned numbers all is said.
    let [old, new] = ["if (x < n) return 1; return 0;", "if (x <= n - 1) return 1; return 0;"]
        .map(|body| format!("int f(unsigned x, unsigned n)\n{{\n{body}\n}}\n"));
    assert!(changes(&old, &new).iter().any(|c| !c.deltas.is_empty() && !c.unwrapped));
    let [old, new] = ["if (x < n) return 1; return 0;", "if (x <= n - 1) return 1; return 0;"]
        .map(|body| format!("int f(int x, int n)\n{{\n{body}\n}}\n"));
    assert!(changes(&old, &new).iter().all(|c| c.deltas.is_empty()));
    assert!(changes(&old, &new).iter().any(|c| c.unwrapped));
}

#[test]
fn a_sum_that_no_longer_overflows_is_news() {
    let told = |old: &str, new: &str| {
        let [old, new] = [old, new].map(|body| format!("int f(int a, int b)\n{{\n{body}\n}}\n"));
        let found = changes(&old, &new);
        (found.iter().any(|c| !c.deltas.is_empty()), found.iter().any(|c| c.unwrapped))
    };
    let [narrow, wide] =
        ["if (a + b > 100) return 1; return 0;", "if ((long)a + b > 100) return 1; return 0;"];
    assert_eq!(told(narrow, wide), (true, false));
    assert_eq!(told("return a + b > 100;", "return (long)a + b > 100;"), (true, false));
    let sum = "return a > 0 && b > 0 ? a + b : 0;";
    assert!(told(sum, &format!("if (a > 2147483647 - b && b > 0) return -1; {sum}")).0);
    assert!(told(sum, &format!("if (a > 0 && b > 0 && a + b < 0) return -1; {sum}")).0);
    // The reverse brings one, of which nothing is said, unless it always does.
    assert_eq!(told(wide, narrow), (false, true));
    let digit = |zero: u8| {
        format!(
            "if (b < 48 || b > 57) return 0;\nif (a > (2147483647 - (b - {zero})) / 10) return 0;\nreturn a * 10 + (b - 48);"
        )
    };
    assert!(told(&digit(48), &digit(63)).0);
}

#[test]
fn a_sign_that_is_gone_is_the_condition_of_what_goes_by_it() {
    let [old, new] = ["int", "unsigned"].map(|ty| {
        format!("void use(long);\nvoid f(long *data, {ty} i)\n{{\nuse(data[1]);\ndata[0] = data[i];\n}}\n")
    });
    let expected = ["(int)i < 0 | sets *data to data[i] | sets *data to data[i], of another value"];
    assert_eq!(told(&old, &new), expected);
    assert!(told(&new, &old)[0].starts_with("i < 0 | "), "{:?}", told(&new, &old));
    // In what is made of an element, and in a call's argument.
    let check = |body: &str, expected: &str| {
        let text = |ty: &str| {
            format!("void use(int, long *);\nvoid f(long **data, int *to, {ty} i)\n{{\n{body}\n}}\n")
        };
        assert_eq!(told(&text("int"), &text("unsigned")), [expected], "{body}");
    };
    check(
        "*to = (int)(long)data[i];",
        "(int)i < 0 | sets *to to data[i] | sets *to to data[i], of another value",
    );
    check(
        "use(7, data[i]);",
        "(int)i < 0 | calls use(7, data[i]) | calls use(7, data[i]) with another data[i]",
    );
    // In a sum that is handed over, and where what the call gives goes somewhere.
    let sum = |ty: &str| {
        let head = "void *take(unsigned long);\n";
        format!("{head}void f(void **to, {ty} i)\n{{\n*to = take(i + 1);\n}}\n")
    };
    assert_eq!(
        told(&sum("int"), &sum("unsigned")),
        ["(int)(i + 1) < 0 | calls take(i + 1) | calls take(i + 1) with another i + 1"]
    );
    // What else differs is no matter of the sign.
    let both = ["int", "unsigned"].map(|ty| {
        let (k, unit) = if ty == "int" { (7, ty) } else { (8, ty) };
        format!("void use(int, long *);\nvoid f(long **data, {unit} i)\n{{\nuse({k}, data[i]);\n}}\n")
    });
    assert!(
        told(&both[0], &both[1])[0].starts_with(" | calls use(7, data[i])"),
        "{:?}",
        told(&both[0], &both[1])
    );
}
