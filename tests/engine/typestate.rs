//! States of resources: what is said of streams, memory, descriptors and locks at the exit, and what not.

use crate::resource_states::judged;
use git_invdiff::analysis::{Options, diff, memory};
use git_invdiff::frontend::c;
use git_invdiff::report::{AssertionOutcome, Claim, Fact, Report, Status};

const HEADERS: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <fcntl.h>\n\
                       #include <unistd.h>\n#include <pthread.h>\n\
                       struct m { int n; pthread_mutex_t lock; FILE *out; char *text; };\n\
                       char *kept; void unknown(void *); int ready(void);\n";

fn analyse(versions: &[String]) -> Report {
    let files: Vec<Vec<(&str, &str)>> = versions.iter().map(|v| vec![("a.c", v.as_str())]).collect();
    let options = Options { whole: versions.len() == 1, all: true, ..Options::default() };
    diff(&memory::request(&files, c::Options::default(), options))
}

fn texts<'f>(facts: impl Iterator<Item = &'f Fact>) -> Vec<String> {
    let mut all: Vec<String> = facts.filter(|f| f.template == "typestate").map(|f| f.text.clone()).collect();
    all.sort();
    all
}

fn of_f(report: &Report) -> impl Iterator<Item = &git_invdiff::report::Point> {
    report.functions.iter().filter(|f| f.name == "f").flat_map(|f| &f.points)
}

/// Pins a fact that was found: no run breaks it, and what rests on nothing is proved anew.
#[track_caller]
fn check_in_runs(function: &str, fact: &Fact) {
    // Mistakes are no states.
    let is_state = ["closed", "open", "freed", "unlocked", "locked"].iter().any(|w| fact.text.ends_with(w));
    if !is_state || fact.text.contains(" after ") {
        return;
    }
    let edited = match function.find(" f(").and_then(|at| Some(at + function[at..].find('{')? + 1)) {
        Some(at) => format!("{} kept = NULL; {}", &function[..at], &function[at..]),
        None => return,
    };
    let found = judged(&fact.text, [function, &edited], "[]");
    for version in [1, 2] {
        assert_ne!(found.outcome.get(&version), Some(&AssertionOutcome::Fail), "{}\n{edited}", fact.text);
    }
    // Conditions may speak of locals that are not set wherever the function returns.
    if fact.assumptions.is_empty() && !fact.text.contains("==>") {
        assert_eq!(found.outcome.get(&1), Some(&AssertionOutcome::NotFail), "{}\n{edited}", fact.text);
    }
}

/// Checks all that is said of the states of resources in a function `f`.
#[track_caller]
fn check(function: &str, expected: &[&str]) {
    let report = analyse(&[format!("{HEADERS}{function}")]);
    let found: Vec<&Fact> = of_f(&report).flat_map(|p| &p.version_invariants).collect();
    assert_eq!(texts(found.iter().copied()), expected, "{function}");
    for fact in found.iter().filter(|f| f.template == "typestate") {
        assert!(fact.status.values().all(|s| *s == Status::Proved), "{fact:?}");
        assert_eq!(fact.variables.len(), 1, "{fact:?}");
        check_in_runs(function, fact);
    }
}

#[test]
fn streams_are_closed() {
    check(
        "int f(char *n) { FILE *s = fopen(n, \"r\"); if (!s) return -1; fclose(s); return 0; }",
        &["s is closed"],
    );
    check(
        "int f(char *n) { FILE *s = fopen(n, \"r\"); if (s == NULL) return -1; int c = fgetc(s); \
         if (c == EOF) { fclose(s); return 1; } fclose(s); return c; }",
        &["s is closed"],
    );
    check(
        "int f(char *n, int k) { FILE *s = NULL; if (k > 0) s = fopen(n, \"r\"); if (s) fclose(s); return k; }",
        &["s is closed"],
    );
    check(
        "int f(char *n) { FILE *s = fopen(n, \"r\"); int r = -1; if (!s) goto out; r = fgetc(s); fclose(s); \
         out: return r; }",
        &["s is closed"],
    );
    // One of two.
    check(
        "int f(char *n) { FILE *a = fopen(n, \"r\"); if (!a) return 1; FILE *b = fopen(n, \"w\"); \
         if (!b) { fclose(a); return 1; } fclose(b); fclose(a); return 0; }",
        &["a is closed", "b is closed"],
    );
}

#[test]
fn streams_stay_open_on_some_paths() {
    check(
        "int f(char *n, int k) { FILE *s = fopen(n, \"r\"); if (!s) return -1; if (k < 0) return -2; \
         fclose(s); return 0; }",
        &["k < 0 && s != NULL ==> s stays open", "s != NULL && k >= 0 ==> s is closed"],
    );
    check("int f(char *n) { FILE *s = fopen(n, \"r\"); return s != NULL; }", &["s stays open"]);
    check(
        "int f(char *n) { FILE *a = fopen(n, \"r\"); if (!a) return 1; FILE *b = fopen(n, \"w\"); \
         if (!b) return 1; fclose(b); fclose(a); return 0; }",
        &["a != NULL && b != NULL ==> a is closed", "a != NULL && b == NULL ==> a stays open", "b is closed"],
    );
}

#[test]
fn given_streams_are_closed() {
    check("void f(FILE *s) { fputs(\"x\", s); fclose(s); }", &["s is closed"]);
    check("void f(FILE *s, int n) { if (n > 0) fclose(s); }", &["n > 0 ==> s is closed"]);
    check("void f(FILE *s, int n) { if (n > 0) fclose(s); else fclose(s); }", &["s is closed"]);
    check("void f(struct m *m) { fclose(m->out); m->out = NULL; }", &["\\old(m->out) is closed"]);
    check("void f(FILE *s) { fputs(\"x\", s); }", &[]);
    check("void f(FILE *s, FILE *t) { fclose(t); }", &["t is closed"]);
}

#[test]
fn memory_is_freed() {
    check("void f(int n) { char *p = malloc(n); free(p); }", &["p is freed"]);
    check("void f(char *p) { free(p); }", &["p is freed"]);
    check(
        "int f(int n) { char *p = malloc(n); if (!p) return -1; memset(p, 0, n); free(p); return 0; }",
        &["p is freed"],
    );
    check(
        "static void *make(int n) { void *q = malloc(n); if (!q) abort(); return q; }\n\
         int f(int n) { char *p = make(n); free(p); return 0; }",
        &["p is freed"],
    );
    check(
        "int f(int n) { char *p = malloc(4); if (n) { free(p); return 1; } return 0; }",
        &["n != 0 && p != NULL ==> p is freed", "n == 0 && p != NULL ==> p is not freed"],
    );
    check(
        "int f(const char *t) { char *p = strdup(t); int n = strlen(p); free(p); return n; }",
        &["p is freed"],
    );
}

/// What gets away may be freed by others.
#[test]
fn nothing_is_said_of_what_gets_away() {
    check("char *f(int n) { char *p = malloc(n); return p; }", &[]);
    check("char *f(int n) { char *p = malloc(n); return p ? p + 1 : p; }", &[]);
    check("void f(int n) { char *p = malloc(n); kept = p; }", &[]);
    check("void f(struct m *m) { char *p = malloc(4); m->text = p; }", &[]);
    check("void f(int n) { char *p = malloc(n); unknown(p); }", &[]);
    check("void f(int n) { char *p = malloc(n); char **q = &p; unknown(q); }", &[]);
    check("void f(int n, void (*g)(char *)) { char *p = malloc(n); g(p); }", &[]);
    check("char *f(int n) { char *p = malloc(n); return strchr(p, 'x'); }", &[]);
    check("void f(int n) { char *p = malloc(n); char *q = realloc(p, 2 * n); free(q); }", &["q is freed"]);
    check("void f(char *p, int n) { while (n--) { free(p); p = kept; } }", &[]);
    // Where it is freed in the end, that it was elsewhere in between is no matter.
    check("void f(int n) { char *p = malloc(n); unknown(p); free(p); }", &["p is freed"]);
}

#[test]
fn loops_are_passed_but_not_entered() {
    check(
        "int f(char *n) { FILE *s = fopen(n, \"r\"); if (!s) return -1; int k = 0; \
         while (fgetc(s) != EOF) k++; fclose(s); return k; }",
        &["s is closed"],
    );
    check(
        "void f(int n) { char *p = malloc(n); for (int i = 0; i < n; i++) { if (ready()) { free(p); break; } } }",
        &[],
    );
    check(
        "void f(int n) { char *p = malloc(n); for (int i = 0; i < n; i++) { char *q = malloc(i); free(q); } free(p); }",
        &["p is freed"],
    );
    check(
        "void f(struct m *m, int n) { pthread_mutex_lock(&m->lock); while (n-- > 0) { \
         pthread_mutex_unlock(&m->lock); pthread_mutex_lock(&m->lock); } pthread_mutex_unlock(&m->lock); }",
        &[],
    );
}

#[test]
fn descriptors_are_closed() {
    check(
        "int f(char *n) { int d = open(n, O_RDONLY); if (d < 0) return -1; close(d); return 0; }",
        &["d is closed"],
    );
    check(
        "int f(char *n) { int d = open(n, O_RDONLY); if (d == -1) return -1; close(d); return 0; }",
        &["d is closed"],
    );
    check("void f(int d) { close(d); }", &["d is closed"]);
    check("int f(char *n) { int d = open(n, O_RDONLY); return d; }", &[]);
    // Zero is a descriptor, too.
    check(
        "int f(char *n) { int d = open(n, O_RDONLY); if (d > 0) close(d); return 0; }",
        &["0 <= d && d <= 0 ==> d stays open", "d > 0 ==> d is closed"],
    );
}

#[test]
fn locks_are_unlocked() {
    check(
        "void f(struct m *m) { pthread_mutex_lock(&m->lock); m->n++; pthread_mutex_unlock(&m->lock); }",
        &["m->lock is unlocked"],
    );
    check("void f(struct m *m) { pthread_mutex_unlock(&m->lock); }", &["m->lock is unlocked"]);
    check("void f(struct m *m) { pthread_mutex_lock(&m->lock); }", &["m->lock stays locked"]);
    check(
        "void f(struct m *m) { pthread_mutex_lock(&m->lock); pthread_mutex_unlock(&m->lock); \
         pthread_mutex_lock(&m->lock); }",
        &["m->lock stays locked"],
    );
    check(
        "void f(struct m *m, int k) { pthread_mutex_lock(&m->lock); if (k > 3) return; \
         pthread_mutex_unlock(&m->lock); }",
        &["k <= 3 ==> m->lock is unlocked", "k > 3 ==> m->lock stays locked"],
    );
    check(
        "int f(struct m *m) { if (pthread_mutex_trylock(&m->lock)) return 0; pthread_mutex_unlock(&m->lock); return 1; }",
        &["m->lock is unlocked"],
    );
    // Two locks may be one.
    check(
        "void f(struct m *a, struct m *b) { pthread_mutex_lock(&a->lock); pthread_mutex_lock(&b->lock); \
         pthread_mutex_unlock(&b->lock); pthread_mutex_unlock(&a->lock); }",
        &["a->lock is unlocked", "b->lock is unlocked"],
    );
}

#[test]
fn errors_are_told() {
    check("void f(char *p) { free(p); free(p); }", &["p != NULL ==> p is freed twice", "p is freed"]);
    check(
        "void f(int n) { char *p = malloc(n); free(p); if (n > 3) free(p); }",
        &["n > 3 && p != NULL ==> p is freed twice", "p is freed"],
    );
    check(
        "void f(FILE *s, int n) { fclose(s); if (n) fputs(\"x\", s); }",
        &["n != 0 ==> s is used after it is closed", "s is closed"],
    );
    check("int f(int *p) { free(p); return *p; }", &["p is freed", "p is used after it is freed"]);
    check("void f(char *p, char *q) { free(p); free(q); }", &["p is freed", "q is freed"]);
    check("void f(int n) { char *p = malloc(n); free(p); p = malloc(n); free(p); }", &[]);
}

/// Effects that are not modelled may do anything with a resource, but do not take calls back.
#[test]
fn unknown_effects_are_no_proof() {
    check("void f(int n) { char *p = malloc(n); __asm__(\"nop\" : : \"r\"(p)); }", &[]);
    check(
        "#include <setjmp.h>\njmp_buf b;\nvoid f(int n) { char *p = malloc(n); if (setjmp(b)) return; free(p); }",
        &[],
    );
}

/// What the program defines itself is none of the library's.
#[test]
fn names_of_the_library_may_mean_something_else() {
    let report = analyse(&[
        "void unknown(void *); void free(void *p) { unknown(p); unknown(p); } void f(char *p) { free(p); }"
            .to_owned(),
    ]);
    assert_eq!(texts(of_f(&report).flat_map(|p| &p.version_invariants)), [""; 0]);
}

/// Checks the churns of states between two bodies of `f`: `-` and `+`, and the claim.
#[track_caller]
fn check_churn(old: &str, new: &str, expected: &[&str], claim: Option<Claim>) {
    let report = analyse(&[format!("{HEADERS}{old}"), format!("{HEADERS}{new}")]);
    let churns: Vec<_> = of_f(&report).flat_map(|p| &p.churns).collect();
    let of_states = churns.iter().filter(|c| c.removed.iter().any(|f| f.template == "typestate"));
    let mut found = Vec::new();
    for c in of_states.clone() {
        found.extend(texts(c.removed.iter()).iter().map(|t| format!("- {t}")));
        found.extend(texts(c.added.iter()).iter().map(|t| format!("+ {t}")));
        assert!(!c.hunks.is_empty(), "{c:?}");
        let shown = matches!(c.claim, Claim::NoLongerHolds | Claim::NowHolds | Claim::Changed);
        assert_eq!(shown, c.witness.is_some(), "{c:?}");
    }
    assert_eq!(found, expected, "{new}");
    assert_eq!(of_states.map(|c| c.claim).next(), claim, "{new}");
}

#[test]
fn a_return_that_forgets_to_close_is_a_churn() {
    let function = |early: &str| {
        format!(
            "int f(const char *n, int k) {{\n    FILE *s = fopen(n, \"r\");\n    if (!s)\n        return -1;\n    \
             {early}\n    int c = fgetc(s);\n    fclose(s);\n    return c > 0;\n}}\n"
        )
    };
    check_churn(
        &function(""),
        &function("if (k < 0) return -2;"),
        &["- s is closed", "+ s != NULL && k < 0 ==> s stays open", "+ s != NULL && k >= 0 ==> s is closed"],
        Some(Claim::NoLongerProvable),
    );
    check_churn(&function(""), &function("k++;"), &[], None);
    check_churn(&function(""), &function("if (k < 0) { fclose(s); return -2; }"), &[], None);
}
