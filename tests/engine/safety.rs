//! Built-in safety properties between two versions of a function: what a change makes undefined.

use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::Judgement;

/// Compares two versions of a file; expects `judgement kind line` of every safety property.
#[track_caller]
fn check(old: &str, new: &str, expected: &[&str]) {
    let versions = [vec![("a.c", old)], vec![("a.c", new)]];
    let analysis = Options { jobs: 1, ..Options::default() };
    let report = diff(&memory::request(&versions, c::Options::default(), analysis));
    let safety = report.assertions.iter().filter(|a| a.kind.is_safety());
    let found: Vec<String> = safety
        .map(|a| {
            let judgement = match a.judgement(2) {
                Judgement::Regression => "introduced",
                Judgement::Possible => "possible",
                Judgement::Preexisting => "preexisting",
                other => panic!("{other:?}"),
            };
            let w = a.counterexample.as_ref();
            assert_eq!(w.is_some(), judgement != "preexisting");
            if let Some(w) = w {
                assert_eq!(w.old.end, git_invdiff::report::End::Return, "the older version is fine");
            }
            format!("{judgement} {} {}", a.kind.words(), a.lines.get(&2).copied().unwrap_or(0))
        })
        .collect();
    assert_eq!(found, expected, "\n{new}");
}

/// As [`check`], of one text with `$` for what changes.
#[track_caller]
fn check_in(text: &str, old: &str, new: &str, expected: &[&str]) {
    check(&text.replace('$', old), &text.replace('$', new), expected);
}

#[test]
fn a_lost_check_of_a_divisor() {
    let mean = "int mean(int sum, int n)\n{\n    if ($)\n        return 0;\n    return sum / n;\n}\n";
    check_in(mean, "n <= 0", "n < 0", &["introduced division 5"]);
    check_in(mean, "n == 0", "sum == 0", &["introduced division 5", "preexisting division 5"]);
    check_in(mean, "n < -5", "n < -7", &["preexisting division 5"]);
    check_in(mean, "n <= 0", "n <= 1", &[]);
}

#[test]
fn shifts_and_conversions() {
    let bit = "unsigned bit(unsigned x, unsigned n)\n{\n    return n < $ ? x >> n : 0;\n}\n";
    check_in(bit, "32", "64", &["introduced overflow 3"]);
    check_in(bit, "16", "32", &[]);
    let to =
        "int cut(double x)\n{\n    if (!(x > -9e8 && x < $))\n        return 0;\n    return (int)x;\n}\n";
    check_in(to, "1e9", "1e19", &["introduced overflow 5"]);
}

#[test]
fn bounds_of_what_has_bounds() {
    let day = "static const int days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};\nint length(int m)\n{\n    if (m < 0 || m $ 12)\n        return 0;\n    return days[m];\n}\n";
    check_in(day, ">=", ">", &["introduced bounds 6"]);
    let local = "int f(int k)\n{\n    int a[4] = {1, 2, 3, 4};\n    return k >= 0 && k < $ ? a[k] : 0;\n}\n";
    check_in(local, "4", "5", &["introduced bounds 4"]);
    check_in(local, "2", "4", &[]);
}

#[test]
fn bounds_of_what_we_made_up_do_not_count() {
    // Nobody says how long `a` is.
    let last = "int last(const int *a, int n)\n{\n    return n > 0 ? a[$] : 0;\n}\n";
    check_in(last, "0", "n - 1", &["possible bounds 3"]);
    let more = "struct s { int a, b; };\nint sum(const struct s *p)\n{\n    if (!p)\n        return 0;\n    return p->a + p[$].b;\n}\n";
    check_in(more, "0", "100", &["possible bounds 6"]);
    let text = "int f(const char *s)\n{\n    return s && s[0] == 'a' ? s[$] : 0;\n}\n";
    check_in(text, "1", "90", &["possible bounds 3"]);
}

#[test]
fn null_pointers_that_the_older_version_knew() {
    let get = "struct s { int a; };\nint get(const struct s *p)\n{\n    if ($)\n        return -1;\n    return p->a;\n}\n";
    check_in(get, "!p", "0", &["introduced null 6"]);
    // It was never allowed.
    check_in(get, "0", "p->a < 0", &[]);
    let list = "struct node { struct node *next; int v; };\nint second(const struct node *n)\n{\n    if (!n $)\n        return -1;\n    return n->next->v;\n}\n";
    check_in(list, "|| !n->next", "", &["introduced null 6"]);
}

#[test]
fn null_pointers_that_it_did_not_look_at() {
    let get =
        "struct s { unsigned a; };\nunsigned get(const struct s *p, unsigned k)\n{\n    return k + $;\n}\n";
    check_in(get, "1", "p->a", &["possible null 4"]);
    let list = "struct node { struct node *next; int v; };\nint get(const struct node *n)\n{\n    if (!n)\n        return -1;\n    return $;\n}\n";
    check_in(list, "n->v", "n->v | n->next->v", &["possible null 6"]);
}

/// Two that are used are no better than one: exchanged one at a time, each hides behind the other.
#[test]
fn null_pointers_that_hide_each_other() {
    let text = "int same(const char *a, const char *b, int n)\n{\n    if (n $)\n        return 0;\n    return a[0] == b[0];\n}\n";
    check_in(text, "< 99999 || n > 0", "< 0 || n > 9", &["possible null 5"]);
}

/// A number that the older version was never given need not be one that callers pass.
#[test]
fn numbers_that_it_did_not_get() {
    let old = "int f(int n) { return 100 / (n | 1); }";
    check(old, "int f(int n, int d) { return 100 / d; }", &["possible division 1"]);
    check(old, "int f(int n, int d) { return (d & 7) | 100 / n; }", &["introduced division 1"]);
    let length = "int f($ n) { if (n < 0) return 0; return 100 / (int)(n >> 31 >> 1 ? 0 : 1); }";
    check_in(length, "int", "long", &["possible division 1"]);
}

#[test]
fn null_pointers_that_were_compared_with_others_only() {
    let detach = "struct item { struct item *next, *child; };\nint detach(struct item *parent, struct item *i)\n{\n    if (!parent || !i)\n        return 0;\n    if (i == parent->child)\n        parent->child = i->next;\n    $\n    i->next = 0;\n    return 1;\n}\n";
    check_in(detach, "", "else if (!i->next) parent->child->next = i;", &["possible null 8"]);
    let global = "struct list { int n; } *all, *other;\nvoid set(struct list *l) { all = l; other = l; }\nint count(int k)\n{\n    if (all == other)\n        return $;\n    return 0;\n}\n";
    check_in(global, "k & 1", "all->n & 1", &["possible null 6"]);
}

#[test]
fn what_only_the_newer_version_reads_of_memory() {
    let ratio = "struct r { int num, den; };\nint ratio(const struct r *r)\n{\n    if (!r || r->num < 0)\n        return 0;\n    return $;\n}\n";
    check_in(ratio, "r->num", "r->num / r->den", &["possible division 6"]);
    let known = "struct r { int num, den; };\nint ratio(const struct r *r)\n{\n    if (!r || r->den $)\n        return 0;\n    return r->num / r->den;\n}\n";
    check_in(known, "== 0", "== -7", &["introduced division 6"]);
    let global = "int unit;\nvoid set(int u) { unit = u; }\nint scaled(int x)\n{\n    return $;\n}\n";
    check_in(global, "x", "x / unit", &["possible division 5"]);
    let guarded = "int unit;\nvoid set(int u) { unit = u; }\nint scaled(int x)\n{\n    if ($)\n        return 0;\n    return x / unit;\n}\n";
    check_in(guarded, "unit == 0", "unit == 1", &["introduced division 7"]);
}

#[test]
fn values_that_were_never_set() {
    let f = "int f(int x)\n{\n    int r;\n    if (x > 0)\n        r = 1;\n    $\n    return r;\n}\n";
    check_in(f, "else r = 2;", "else if (x < 0) r = 2;", &["introduced uninitialised 7"]);
    check_in(f, "else r = 2;", "else r = 3;", &[]);
    // Somebody may set it: what is called is not known.
    let call =
        "int read_into(int *);\nint f(int x)\n{\n    int r$;\n    read_into(&r);\n    return r + x;\n}\n";
    check_in(call, " = 0", "", &["possible uninitialised 6"]);
}

#[test]
fn overflow_counts_where_a_program_meets_it() {
    let f = "int next(int x)\n{\n    return $;\n}\n";
    check_in(f, "x / 4", "x * 4", &["possible overflow 3"]);
    let program = "#include <stdio.h>\nint main(void)\n{\n    int x;\n    if (scanf(\"%d\", &x) != 1)\n        return 1;\n    printf(\"%ld\\n\", $);\n    return 0;\n}\n";
    check_in(program, "(long)x * 1000000", "(long)(x * 1000000)", &["introduced overflow 7"]);
}

#[test]
fn callers_tell_of_static_functions() {
    let part = "static int part(int a, int b)\n{\n    return a / b;\n}\nint half(int a, int n)\n{\n    return $;\n}\n";
    check_in(part, "part(a, 2)", "n ? part(a, n) : 0", &[]);
    check_in(part, "part(a, 2)", "part(a, n)", &["introduced division 3"]);
    let alone = "static int part(int a, int b)\n{\n    if ($)\n        return 0;\n    return a / b;\n}\nint half(int a)\n{\n    return part(a, 2);\n}\n";
    check_in(alone, "b == 0", "b == 1", &["possible division 5"]);
}

#[test]
fn code_that_must_not_be_reached() {
    let f = "int f(int x)\n{\n    switch (x & 3) {\n    case 0: return 1;\n    case 1: return 2;\n    $\n    case 3: return 4;\n    }\n    __builtin_unreachable();\n}\n";
    check_in(f, "case 2: return 3;", "", &["introduced unreachable 9"]);
}

#[test]
fn refused_memory_counts_where_it_was_refused_before() {
    let head = "#include <stdlib.h>\n";
    let f = "int *one(int v)\n{\n    int *p = malloc(sizeof *p);\n    if ($)\n        return NULL;\n    *p = v;\n    return p;\n}\n";
    check_in(&format!("{head}{f}"), "!p", "0", &["introduced null 7"]);
}

#[test]
fn memory_that_nobody_can_reach_any_more() {
    let copy = "#include <stdlib.h>\nvoid keep(char *);\nstatic char *kept, **table[2];\nchar *copy(int c)\n{\n    char *p = malloc(2);\n    if (!p)\n        return 0;\n    p[0] = (char)c;\n    p[1] = 0;\n    if (c == 'x') {\n        $\n        return 0;\n    }\n    return p;\n}\nchar *last(void) { return table[1] ? *table[1] : kept; }\n";
    check_in(copy, "free(p);", "", &["introduced leak 6"]);
    check_in(copy, "free(p);", "kept = p;", &[]);
    check_in(copy, "free(p);", "table[1] = malloc(8); if (table[1]) *table[1] = p; else free(p);", &[]);
    // What is called may keep it.
    check_in(copy, "free(p);", "keep(p);", &[]);
    check_in(copy, "", "p[0] = 0;", &["preexisting leak 6"]);
    let program = "#include <stdlib.h>\nint main(void)\n{\n    char *p = malloc(2);\n    if (!p)\n        return 1;\n    p[0] = 1;\n    $\n    return p ? p[0] : 0;\n}\n";
    // The end of a program gives back what it could still reach.
    check_in(program, "free(p); return 1;", "", &[]);
    check_in(program, "", "p = 0;", &["introduced leak 4"]);
}

#[test]
fn memory_that_was_given_back() {
    let twice = "#include <stdlib.h>\nint f(int n)\n{\n    int *p = malloc(sizeof *p), r = 0;\n    if (!p)\n        return -1;\n    *p = n;\n    if (n > 3) {\n        $\n    }\n    r = *p;\n    free(p);\n    return r;\n}\n";
    check_in(twice, "r = 1;", "free(p);", &["introduced null 11"]);
    check_in(twice, "r = 1;", "free(p); return 0;", &[]);
    let again = "#include <stdlib.h>\nvoid f(int n)\n{\n    char *p = malloc(4);\n    if (n > 3)\n        free(p);\n    $\n}\n";
    check_in(again, "else free(p);", "free(p);", &["introduced null 7"]);
    check_in(again, "else free(p);", "if (n <= 3) free(p);", &[]);
}

#[test]
fn ways_to_abort() {
    let get = "#include <stdlib.h>\nint get(int k)\n{\n    if (k < 0)\n        $;\n    return k;\n}\n";
    check_in(get, "return -1", "abort()", &["introduced abort 5"]);
    check_in(get, "abort()", "exit(1)", &[]);
    check_in(get, "abort()", "k = 2, abort()", &["preexisting abort 5"]);
}
