//! Values of type `long double` (x87, 80 bits).

use super::kit::Pair;

const SCALE: &str = r#"#include <stdio.h>
long double scale(long double l) {
    l *= 0.5L;
    return l;
}
int main(void) {
    long double v;
    if (scanf("%Lf", &v) != 1) return 1;
    printf("%.3Lf\n", scale(v));
    return 0;
}
"#;

/// Checks that a change of `from` into `to` is told as a change of a function, with a replayed witness, and
/// that the compiled versions differ on an input.
fn changes(program: &str, from: &str, to: &str, function: &str, stdin: &str) {
    let new = program.replace(from, to);
    let pair = Pair::new(program, &new);
    let (a, b) = pair.runs(&[], stdin);
    assert_ne!(a, b, "{from} -> {to}");
    pair.says("diff HEAD~1..HEAD", 0, &["replayed"], &["no semantic change"]);
    pair.says("check HEAD~1..HEAD", 0, &[], &["no function changed"]);
    pair.says("condition HEAD~1..HEAD", 0, &[&format!("{function}()")], &["no function differs"]);
    pair.says(&format!("blame a.c:{function}"), 0, &["two"], &[]);
}

/// Checks that the same change is no change of anything.
fn changes_nothing(program: &str, from: &str, to: &str, stdin: &str) {
    let new = program.replace(from, to);
    assert_ne!(program, new);
    let pair = Pair::new(program, &new);
    let (a, b) = pair.runs(&[], stdin);
    assert_eq!(a, b, "{from} -> {to}");
    pair.is_no_change();
}

#[test]
fn a_factor_is_told() {
    changes(SCALE, "*= 0.5L", "*= 2.5L", "scale", "3\n");
}

#[test]
fn a_constant_of_equal_value_is_no_change() {
    changes_nothing(SCALE, "*= 0.5L", "*= 0x.8p0L", "3\n");
    changes_nothing(SCALE, "*= 0.5L", "/= 2", "3\n");
}

#[test]
fn a_constant_that_double_has_not_is_another() {
    let program = SCALE.replace("0.5L", "0.1L").replace("%.3Lf", "%.21Lg");
    changes(&program, "*= 0.1L", "*= 0.1", "scale", "3\n");
}

#[test]
fn precision_of_the_sum_is_told() {
    let program = r#"#include <stdio.h>
int same(double a, double b) {
    long double s = (long double)a + b;
    return s - b == a;
}
int main(void) { double a, b; if (scanf("%lf %lf", &a, &b) != 2) return 1; printf("%d\n", same(a, b)); return 0; }
"#;
    changes(program, "long double s = (long double)a + b", "double s = a + b", "same", "0.1 1\n");
}

#[test]
fn members_arrays_and_steps_are_values() {
    let program = r#"#include <stdio.h>
struct acc { int n; long double sum; };
static long double w[3] = {0.25L, 1.0L, 4.0L};
void add(struct acc *a, int k) {
    if (k < 0 || k > 2) return;
    a->sum += w[k];
    a->n++;
}
int main(void) {
    struct acc a = {0, 0};
    int k;
    while (scanf("%d", &k) == 1) add(&a, k);
    a.sum++;
    printf("%d %Lg\n", a.n, a.sum);
    return 0;
}
"#;
    changes(program, "a->sum += w[k]", "a->sum -= w[k]", "add", "0 2\n");
    changes(program, "a.sum++", "a.sum--", "main", "0 2\n");
    changes_nothing(program, "a->sum += w[k]", "a->sum = a->sum + w[k]", "0 2\n");
}

#[test]
fn comparisons_and_conversions_are_values() {
    let program = r#"#include <stdio.h>
#include <math.h>
int class(long double x) {
    if (isnan(x)) return 3;
    if (fabsl(x) < 0.5L) return 0;
    return x < 1000000 ? (int)floorl(x) : -1;
}
int main(void) { long double x; if (scanf("%Lf", &x) != 1) return 1; printf("%d\n", class(x)); return 0; }
"#;
    changes(program, "floorl(x)", "ceill(x)", "class", "2.5\n");
    changes(program, "return 3", "return 4", "class", "nan\n");
    changes(program, "0.5L)", "1.75L)", "class", "1.5\n");
    changes_nothing(program, "fabsl(x) < 0.5L", "0.5L > fabsl(x)", "0.6\n");
}

/// Facts are asserted in copies of the program, and hold there.
#[test]
fn facts_hold_in_compiled_programs() {
    let pair = Pair::new(SCALE, &SCALE.replace("*= 0.5L", "*= 2.5L"));
    let (code, copies, _) = pair.run("assert HEAD -- a.c");
    assert_eq!(code, Some(0));
    assert!(copies.contains("2.5L * "), "{copies}");
    let asked = "a.c:scale: \\old(l) >= 1 && \\old(l) <= 8 ==> \\result <= 4.0L";
    let (code, said, err) = pair.run_words(&["bisect", asked, "HEAD~1..HEAD"]);
    assert!(code == Some(0) && said.contains("two"), "{said}{err}");
}

/// A computed jump leads to code that is compared and run as well.
#[test]
fn code_behind_a_computed_goto_is_compared() {
    let program = r#"#include <stdio.h>
int run(const char *p) {
    static void *t[] = {&&stop, &&inc, &&dbl};
    int a = 0;
    goto *t[*p++ % 3];
inc: a++; goto *t[*p++ % 3];
dbl: a *= 2; goto *t[*p++ % 3];
stop: return a;
}
int main(void) {
    char b[4] = {1, 2, 0, 0};
    printf("%d\n", run(b));
    return 0;
}
"#;
    let pair = Pair::new(program, &program.replace("a *= 2", "a *= 3"));
    let (a, b) = pair.runs(&[], "");
    assert_ne!(a, b);
    pair.says("HEAD~1..HEAD", 0, &["run()", "replayed"], &["no semantic change"]);
    pair.says("check HEAD~1..HEAD", 0, &["no regression"], &["no function changed"]);
    pair.says("blame a.c:run", 0, &["two"], &[]);
}
