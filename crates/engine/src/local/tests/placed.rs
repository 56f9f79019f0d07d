//! Variables that are in memory in one version.

use super::{changes, check};

const HEAD: &str = "int f(int n, int m)";
/// What takes the address is told apart from what does the same.
const MEASURE: &str = "static void measure(int *n, int k) { *n = k > 3 ? 3 : k; }\n";

fn with(body: &str) -> String {
    format!("{MEASURE}int use(int);\n{HEAD}\n{{\n{body}\n}}\n")
}

#[test]
fn a_value_that_is_made_through_its_address_is_compared() {
    let old = with("int k = m > 3 ? 3 : m;\nif (use(k) < 0)\n    return -1;\nreturn use(k + n);");
    let new = |to: &str| {
        with(&format!("int k;\nmeasure(&k, {to});\nif (use(k) < 0)\n    return -1;\nreturn use(k + n);"))
    };
    let rest = |new: &str| {
        let changes = changes(&old, new);
        let open: Vec<_> = changes.iter().filter_map(|c| c.rest.clone()).collect();
        (open, changes.iter().map(|c| c.deltas.len()).sum::<usize>())
    };
    assert_eq!(rest(&new("m")), (Vec::new(), 0));
    let (open, deltas) = rest(&new("m + 1"));
    assert!(open.is_empty() && deltas > 0, "{open:?} {deltas}");
    // The other way round.
    let open: Vec<_> = changes(&new("m"), &old).into_iter().filter_map(|c| c.rest).collect();
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn parameters_and_calls_that_write_are_compared() {
    check(
        HEAD,
        "n = foreign(n);\nif (n > 2) n++;\nreturn n;",
        "n = foreign(n);\nif (n > 2) n += 2;\nint *p = &n;\nreturn *p;",
        &[" | returns n + 1; sets n to n + 1 | returns n + 2; sets n to n + 2"],
    );
}
