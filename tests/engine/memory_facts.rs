//! Facts about memory that loops have seen and that results lead to; and near misses.

use git_invdiff::analysis::{Options, PointChoice, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{PointKind, Status};

/// Analyses the one function `f` of a program: all of `expected` are proved, and nothing that contains one
/// of `never`.
fn check(code: &str, expected: &[&str], never: &[&str]) {
    let points = PointChoice { kinds: Some(vec![PointKind::Exit, PointKind::Loop]), lines: Vec::new() };
    let function = Some("f".to_owned());
    let options = Options { all: true, whole: true, points, function, ..Options::default() };
    let report = diff(&memory::request(&[vec![("a.c", code)]], c::Options::default(), options));
    let points = report.functions.iter().filter(|f| f.name == "f").flat_map(|f| &f.points);
    let proved: Vec<String> = points
        .flat_map(|p| &p.version_invariants)
        .filter(|f| f.status.get(&1) == Some(&Status::Proved))
        .map(|f| f.text.clone())
        .collect();
    for fact in expected {
        assert!(proved.iter().any(|p| p == fact), "{fact} is missing in {proved:#?}");
    }
    for part in never {
        assert!(!proved.iter().any(|p| p.contains(part)), "{part} is in {proved:#?}");
    }
}

#[test]
fn a_new_object_is_named_by_what_leads_to_it() {
    const NODE: &str = "#include <stdlib.h>\nstruct node { int value; struct node *next; };\n";
    let push = |then: &str| {
        format!(
            "{NODE}int f(struct node **head, int value) {{ struct node *n = malloc(sizeof *n); if (!n) return 0; \
             n->value = value; n->next = *head; {then} return 1; }}"
        )
    };
    check(
        &push("*head = n;"),
        &[
            "\\result == 1 ==> (*head)->value == value",
            "\\result == 1 ==> (*head)->next == \\old(*head)",
            "\\result == 0 ==> *head == \\old(*head)",
        ],
        &["\\result == 0 ==> (*head)"],
    );
    // The object is changed once more, through its new name, or not linked at all.
    check(
        &push("*head = n; (*head)->value = 0;"),
        &["\\result == 1 ==> (*head)->value == 0"],
        &["->value == value"],
    );
    check(&push("free(n);"), &[], &["(*head)->value"]);
}

#[test]
fn a_result_that_is_an_object_leads_to_its_members() {
    check(
        "#include <stdlib.h>\nstruct o { int a, b; };\nstruct o *f(int a) { struct o *o = malloc(sizeof *o); \
         if (!o) return NULL; o->a = a; o->b = o->a + 1; return o; }",
        &["\\result != NULL ==> \\result->a == a", "\\result != NULL ==> \\result->b == a + 1"],
        &["\\result == NULL ==>"],
    );
}

/// Where the member has another value for some inputs it is not said to have this one.
#[test]
fn a_member_of_several_values_is_not_told_as_one() {
    check(
        "#include <stdlib.h>\nstruct o { int a; };\nstruct o *f(int a) { struct o *o = malloc(sizeof *o); \
         if (!o) return NULL; o->a = a; if (a < 0) o->a = 0; return o; }",
        &[],
        &["\\result->a == a", "\\result->a == 0"],
    );
}

#[test]
fn outcomes_say_what_is_left_in_memory() {
    let take = |then: &str| {
        format!(
            "int g(void);\nint f(int *out, int n) {{ if (n < 0) {{ {then} return -1; }} if (n > 9) return -2; \
             *out = n; return 0; }}"
        )
    };
    check(
        &take(""),
        &["\\result == 0 ==> *out == n", "\\result == -1 ==> *out == \\old(*out)"],
        &["\\result == -2 ==> *out == n"],
    );
    check(&take("*out = 7;"), &["\\result == -1 ==> *out == 7"], &["\\result == -1 ==> *out == \\old(*out)"]);
}

#[test]
fn what_stopped_a_loop_holds_of_the_result() {
    check(
        "unsigned long f(const char *s) { unsigned long n = 0; while (s[n]) n++; return n; }",
        &["s[\\result] == '\\0'"],
        &[],
    );
    check(
        "int f(const int *a, int n, int key) { for (int i = 0; i < n; i++) if (a[i] == key) return i; return -1; }",
        &["\\result != -1 ==> a[\\result] == key"],
        &["\\result == -1 ==> a["],
    );
    // One further is another place.
    check(
        "int f(const int *a, int n, int key) { for (int i = 0; i < n; i++) if (a[i] == key) return i + 1; return -1; }",
        &[],
        &["a[\\result] == key"],
    );
    check(
        "struct l { int v; struct l *next; };\n\
         struct l *f(struct l *l, int v) { while (l && l->v != v) l = l->next; return l; }",
        &["\\result != NULL ==> \\result->v == v"],
        &["\\result == NULL ==>"],
    );
    // What was read is written afterwards.
    check(
        "struct l { int v; struct l *next; };\n\
         struct l *f(struct l *l, int v) { while (l && l->v != v) l = l->next; if (l) l->v = 0; return l; }",
        &["\\result != NULL ==> \\result->v == 0"],
        &["\\result->v == v"],
    );
}

#[test]
fn indices_that_differ_are_other_elements() {
    check(
        "struct b { char s[8]; unsigned n; };\n\
         int f(struct b *b, char c) { if (b->n > 6) return 0; b->s[b->n++] = c; b->s[b->n] = 0; return 1; }",
        &["\\result == 1 ==> b->s[\\old(b->n)] == c"],
        &[],
    );
    // Nobody knows where `m` is.
    check(
        "struct b { char s[8]; unsigned n, m; };\n\
         int f(struct b *b, char c) { if (b->n > 6) return 0; b->s[b->n] = c; b->s[b->m] = 0; return 1; }",
        &[],
        &["\\result == 1 ==> b->s[b->n] == c", "\\result == 1 ==> b->s[\\old(b->n)] == c"],
    );
}

#[test]
fn bytes_that_a_loop_writes_are_known() {
    let fill = |value: &str| {
        format!(
            "void f(unsigned char *p, unsigned char c, unsigned long n) {{ for (unsigned long i = 0; i < n; i++) p[i] = {value}; }}"
        )
    };
    check(&fill("c"), &["\\forall integer k; 0 <= k && k < n ==> p[k] == c"], &[]);
    check(&fill("c + 1"), &[], &["p[k] == c"]);
    let copy = |from: &str| {
        format!(
            "void f(char *d, const char *s, unsigned long n) {{ for (unsigned long i = 0; i < n; i++) d[i] = s[{from}]; }}"
        )
    };
    check(&copy("i"), &["\\forall integer k; 0 <= k && k < n ==> d[k] == s[k]"], &[]);
    check(&copy("0"), &[], &["d[k] == s[k]", "s[k] == d[k]"]);
}

#[test]
fn characters_look_like_characters() {
    let length = |stop: &str| {
        format!(
            "unsigned long f(const char *s) {{ unsigned long n = 0; while (s[n] != {stop}) n++; return n; }}"
        )
    };
    check(&length("0"), &["\\forall integer k; 0 <= k && k < \\result ==> s[k] != '\\0'"], &[]);
    check(
        &length("'x'"),
        &["\\forall integer k; 0 <= k && k < \\result ==> s[k] != 'x'"],
        &["s[k] != '\\0'"],
    );
}

#[test]
fn what_holds_of_all_elements_may_depend_on_the_result() {
    let search = |step: &str| {
        format!(
            "int f(const int *a, int n, int key) {{ for (int i = 0; i < n; i += {step}) if (a[i] == key) return i; return -1; }}"
        )
    };
    const NOWHERE: &str = "\\result == -1 ==> (\\forall integer k; 0 <= k && k < n ==> a[k] != key)";
    check(&search("1"), &[NOWHERE], &["ie: \\forall integer k; 0 <= k && k < n ==> a[k] != key"]);
    check(&search("2"), &[], &["a[k] != key"]);
}

#[test]
fn neighbours_and_kept_elements_compare() {
    let sorted = |order: &str| {
        format!(
            "int f(const int *a, int n) {{ for (int i = 1; i < n; i++) if (a[i - 1] {order} a[i]) return 0; return 1; }}"
        )
    };
    const ASCENDING: &str = "\\result == 1 ==> (\\forall integer k; 1 <= k && k < n ==> a[k - 1] <= a[k])";
    check(&sorted(">"), &[ASCENDING], &["a[k - 1] < a[k]"]);
    check(&sorted("=="), &[], &["a[k - 1] <= a[k]", "a[k - 1] < a[k]"]);
    let least = |order: &str| {
        format!(
            "int f(const int *a, int n) {{ int b = 0; for (int i = 1; i < n; i++) if (a[i] {order} a[b]) b = i; return b; }}"
        )
    };
    check(
        &least("<"),
        &["\\forall integer k; 0 <= k && k < n ==> a[\\result] <= a[k]"],
        &["a[\\result] < a[k]"],
    );
    check(&least("!="), &[], &["a[\\result] <= a[k]", "a[b] <= a[k]"]);
}

#[test]
fn loops_that_go_down_pass_what_is_above() {
    let shift = |order: &str| {
        format!(
            "void f(int *a, int n, int key) {{ int i = n; while (i > 0 && a[i - 1] {order} key) {{ a[i] = a[i - 1]; i--; }} a[i] = key; }}"
        )
    };
    check(
        &shift(">"),
        &["\\forall integer k; i < k && k <= n ==> a[k] > key"],
        &["i <= k && k <= n ==> a[k] > key"],
    );
    check(&shift("!="), &[], &["a[k] > key", "a[k] >= key"]);
}

#[test]
fn lengths_of_strings_are_known_by_name() {
    let length = |first: &str| {
        format!(
            "unsigned long f(const char *s) {{ unsigned long n = {first}; while (s[n] != 0) n++; return n; }}"
        )
    };
    check(&length("0"), &["\\result == strlen(s)"], &[]);
    check(&length("1"), &["s[\\result] == '\\0'"], &["strlen"]);
    // Written afterwards, the string is shorter.
    check(
        "unsigned long f(char *s) { unsigned long n = 0; while (s[n] != 0) n++; if (n) s[0] = 0; return n; }",
        &[],
        &["strlen"],
    );
}

#[test]
fn what_ends_a_copy_leaves_what_was_copied() {
    let copy = |end: &str| {
        format!(
            "unsigned long f(char *d, const char *s) {{ unsigned long i = 0; while (s[i] != 0) {{ d[i] = s[i]; i++; }} \
             d[{end}] = 0; return i; }}"
        )
    };
    const COPIED: &str = "\\forall integer k; 0 <= k && k < \\result ==> d[k] == s[k]";
    check(&copy("i"), &[COPIED, "d[\\result] == '\\0'"], &[]);
    check(&copy("0"), &[], &["k < \\result ==> d[k] == s[k]"]);
}

#[test]
fn members_of_a_returned_structure_are_known() {
    let swap = |order: &str| {
        format!(
            "struct p {{ int a, b; }};\nstruct p f(struct p x) {{ struct p r; r.a = x.b; r.b = x.a; {order} return r; }}"
        )
    };
    check(&swap(""), &["\\result.a == x.b", "\\result.b == x.a"], &["\\result == &"]);
    check(&swap("if (r.a > r.b) r = x;"), &[], &["\\result == &"]);
}

#[test]
fn small_nests_of_loops_are_laid_out() {
    let transpose = |from: &str| {
        format!(
            "void f(int m[3][3]) {{ for (int i = 0; i < 3; i++) for (int j = {from}; j < 3; j++) \
             {{ int t = m[i][j]; m[i][j] = m[j][i]; m[j][i] = t; }} }}"
        )
    };
    check(&transpose("i + 1"), &["m[0][1] == \\old(m[1][0])", "m[2][0] == \\old(m[0][2])"], &[]);
    // Exchanged twice.
    check(&transpose("0"), &[], &["m[0][1] == \\old(m[1][0])"]);
    check(
        "struct s { unsigned w[4]; };\nvoid f(struct s *s) { for (int i = 0; i < 4; i++) s->w[i] = 7; }",
        &["\\forall integer k; 0 <= k && k < 4 ==> s->w[k] == 7"],
        &[],
    );
    check(
        "struct s { unsigned w[4]; };\nvoid f(struct s *s) { for (int i = 0; i < 4; i++) s->w[i] = i; }",
        &["s->w[3] == 3"],
        &["forall integer k; 0 <= k && k < 4"],
    );
}

#[test]
fn equations_of_places_do_not_fail_for_overlaps() {
    let divide = |step: &str| {
        format!(
            "void f(unsigned a, unsigned b, unsigned *q, unsigned *r) {{ unsigned x = 0, y = a; \
             while (y >= b) {{ y -= b; {step} }} *q = x; *r = y; }}"
        )
    };
    check(&divide("x++;"), &["*q == x", "*r == y", "*q * b + *r == a"], &[]);
    check(&divide("x += 2;"), &["*q == x"], &["*q * b + *r == a"]);
}

/// An element that is still there is told by where it is now.
#[test]
fn values_that_are_left_in_memory_are_read_there() {
    let pop = |then: &str| {
        format!(
            "struct s {{ int items[8]; int top; }};\n\
             int f(struct s *s, int *item) {{ if (s->top <= 0) return -1; *item = s->items[--s->top]; {then} return 0; }}"
        )
    };
    check(&pop(""), &["\\result == 0 ==> *item == s->items[s->top]"], &[]);
    check(&pop("s->items[s->top] = 0;"), &[], &["*item == s->items[s->top]"]);
}

#[test]
fn library_calls_write_what_they_are_given() {
    let check = |body: &str, expected: &[&str], never: &[&str]| {
        let start = "#include <sys/ioctl.h>\n#include <sys/time.h>\n#include <signal.h>\n#include <time.h>\n#include \
             <stdio.h>\nstruct { int x, rows; } e; time_t t; int n; struct timeval v;\n";
        self::check(&format!("{start}{body}"), expected, never);
    };
    // The request is no pointer.
    check(
        "int f(void) { struct winsize w; e.x = 3; if (ioctl(1, TIOCGWINSZ, &w) == -1) return -1; e.rows = w.ws_row; \
         return 0; }",
        &["e.x == 3"],
        &[],
    );
    // The null pointer leads to nothing.
    check("int f(void) { t = 3; time(NULL); return 0; }", &["t == 3"], &[]);
    check("int f(void) { t = 3; time(&t); return 0; }", &[], &["t == 3"]);
    check("int f(void) { e.x = 3; gettimeofday(&v, NULL); return 0; }", &["e.x == 3"], &[]);
    check(
        "static void h(int s) { e.x = s; } int f(void) { e.x = 3; signal(2, h); return 0; }",
        &["e.x == 3"],
        &[],
    );
    // What is beyond the format is written, the format is not.
    check(
        "int f(const char *s) { n = 3; e.rows = 4; sscanf(s, \"%d\", &n); return 0; }",
        &["e.rows == 4"],
        &["n == 3"],
    );
}

#[test]
fn variable_arguments_are_what_the_list_says() {
    let start = "#include <stdarg.h>\nint g;\n";
    self::check(
        &format!(
            "{start}int f(int n, ...) {{ va_list l; va_start(l, n); g = 3; int a = n > 0 ? va_arg(l, int) : -1; va_end(l); return a; }}"
        ),
        &["g == 3", "n <= 0 ==> \\result == -1"],
        &["undefined"],
    );
    // Each fetch moves on.
    self::check(
        &format!(
            "{start}int f(int n, ...) {{ va_list l; va_start(l, n); int a = va_arg(l, int); return a - va_arg(l, int); }}"
        ),
        &[],
        &["\\result == 0"],
    );
}

#[test]
fn how_far_a_list_moves_on_depends_on_what_is_fetched() {
    // Whether nothing is open about two versions that differ in the type that the first fetch names.
    let is_settled = |old: &str, new: &str| {
        let body = |ty: &str| {
            format!(
                "#include <stdarg.h>\nint f(int n, ...) {{ va_list l; va_start(l, n); (void)va_arg(l, {ty}); \
                 int r = va_arg(l, int); va_end(l); return r; }}\n"
            )
        };
        let (old, new) = (body(old), body(new));
        let versions = [vec![("a.c", &*old)], vec![("a.c", &*new)]];
        let report = diff(&memory::request(&versions, c::Options::default(), Options::default()));
        let mut points = report.functions.iter().flat_map(|f| &f.points);
        points.all(|p| p.undecided.is_empty() && p.churns.is_empty())
    };
    assert!(is_settled("int", "unsigned"));
    assert!(!is_settled("int", "double"));
    assert!(!is_settled("int", "long"));
}
