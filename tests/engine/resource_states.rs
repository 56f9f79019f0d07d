//! Pinned states of resources: what is proved of two versions, what a run breaks, and of what nothing is known.

use git_invdiff::analysis::{Options, Pin, diff, memory};
use git_invdiff::fact::parse_postcondition;
use git_invdiff::frontend::c;
use git_invdiff::invariant::{PinnedFact, protocol_file};
use git_invdiff::report::{Assertion, AssertionOutcome};

const HEADERS: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <fcntl.h>\n\
                       #include <unistd.h>\n#include <pthread.h>\n\
                       struct m { int n; pthread_mutex_t lock; FILE *out; char *text; };\n\
                       char *kept; void unknown(void *); int ready(void);\n";

/// How a pinned fact of `f` stands in two versions of it.
pub(super) fn judged(pin: &str, versions: [&str; 2], protocols: &str) -> Assertion {
    let texts = versions.map(|v| format!("{HEADERS}{v}\n"));
    let files: Vec<Vec<(&str, &str)>> = texts.iter().map(|v| vec![("a.c", v.as_str())]).collect();
    let mut options = Options { jobs: 1, properties_only: true, ..Options::default() };
    let fact = parse_postcondition(pin).expect("a fact that can be pinned");
    let fact = PinnedFact { text: pin.to_owned(), fact };
    options.specification.pins.push(Pin { function: "f".into(), fact, is_dropped: false });
    let written = serde_yaml::from_str(protocols).expect("a list");
    options.specification.protocols = protocol_file::own(written).expect("automata");
    let report = diff(&memory::request(&files, c::Options::default(), options));
    let mut found = report.assertions.into_iter().filter(|a| a.text == pin);
    found.next().unwrap_or_else(|| panic!("{pin} was not looked at\n{}", versions[1]))
}

/// Checks how a pin stands in the older and the newer version: `kept`, `broken`, `open`.
#[track_caller]
fn check_by(pin: &str, old: &str, new: &str, expected: &str, protocols: &str) {
    let found = judged(pin, [old, new], protocols);
    let word = |v: u32| match found.outcome.get(&v) {
        Some(AssertionOutcome::NotFail) => "kept",
        Some(AssertionOutcome::Fail) => "broken",
        _ => "open",
    };
    assert_eq!(format!("{} {}", word(1), word(2)), expected, "{pin}\n{old}\n{new}");
}

#[track_caller]
fn check(pin: &str, old: &str, new: &str, expected: &str) {
    check_by(pin, old, new, expected, "[]");
}

#[test]
fn streams_that_a_function_opens() {
    let f = |middle: &str| {
        format!(
            "int f(char *n, int k) {{ FILE *s = fopen(n, \"r\"); if (!s) return -1; {middle} fclose(s); return k; }}"
        )
    };
    let pin = "s is closed";
    check(pin, &f(""), &f("k++;"), "kept kept");
    check(pin, &f(""), &f("if (k < 0) return -2;"), "kept broken");
    check(pin, &f("if (k < 0) return -2;"), &f("if (k < 0) { fclose(s); return -2; }"), "broken kept");
    check("k < 0 ==> s is closed", &f(""), &f("if (k > 7) return 1;"), "kept kept");
    check("k < 0 ==> s is closed", &f(""), &f("if (k < -7) return 1;"), "kept broken");
    check("k < 0 ==> s stays open", &f("if (k < 0) return -2;"), &f("if (k < 4) return 1;"), "kept kept");
    check("s stays open", &f("if (k < 0) return -2;"), &f("if (k < 4) return 1;"), "broken broken");
    // By another name, and by way of a helper.
    check(pin, &f(""), &f("FILE *t = s; if (k == 5) { fclose(t); return 0; }"), "kept kept");
    let helped = |end: &str| {
        format!(
            "static FILE *make(char *n) {{ FILE *q = fopen(n, \"r\"); if (!q) abort(); return q; }}\n\
             static void end(FILE *q, int k) {{ {end} fclose(q); }}\n\
             int f(char *n, int k) {{ FILE *s = make(n); end(s, k); return k; }}"
        )
    };
    check(pin, &helped(""), &helped("k++;"), "kept kept");
    check(pin, &helped(""), &helped("if (k == 3) return;"), "kept broken");
}

#[test]
fn several_calls_for_one_name() {
    let f = |first: &str, last: &str| {
        format!(
            "int f(char *n, int k) {{ FILE *s; if (k > 0) s = fopen(n, \"r\"); else {{ {first} s = fopen(n, \"w\"); }} \
             {last} return 0; }}"
        )
    };
    let closing = "if (s) fclose(s);";
    check("s is closed", &f("", closing), &f("k = 1;", closing), "kept kept");
    check("s is closed", &f("", closing), &f("", "if (s && k != 3) fclose(s);"), "kept broken");
    // What is opened over another one is lost.
    let g = |middle: &str| format!("int f(int n) {{ char *p = malloc(n); {middle} free(p); return n; }}");
    check("p is freed", &g(""), &g("p = malloc(4);"), "kept broken");
    check("p is freed", &g(""), &g("free(p); p = malloc(4);"), "kept kept");
    check(
        "q is freed",
        &g("char *q = malloc(2); free(q);"),
        &g("char *q = malloc(3); free(q);"),
        "kept kept",
    );
}

#[test]
fn what_was_there_before() {
    let f = |end: &str| format!("int f(FILE *s, int k) {{ if (k > 3) fputs(\"x\", s); {end} return k; }}");
    check("s is closed", &f("fclose(s);"), &f("if (k == 8) return 1; fclose(s);"), "kept broken");
    check("s is closed", &f("fclose(s);"), &f("k++; fclose(s);"), "kept kept");
    check("s is closed", &f("fclose(s);"), &f(""), "kept broken");
    check("\\old(s) is closed", &f("fclose(s);"), &f("fclose(s); s = NULL;"), "kept kept");
    check("s is closed", &f("fclose(s);"), &f("fclose(s); s = stdout;"), "kept kept");
    check("s is closed", &f("fclose(s);"), &f("s = stdout; fclose(s);"), "kept broken");
    // Handed on, it may be closed there.
    check("s is closed", &f("fclose(s);"), &f("unknown(s);"), "kept open");
    check("s stays open", &f("k++;"), &f("if (k == 5) fclose(s);"), "open broken");
    let g = |end: &str| format!("void f(struct m *m) {{ {end} }}");
    check("m->out is closed", &g("fclose(m->out);"), &g("fclose(m->out); m->out = NULL;"), "kept kept");
    check("m->out is closed", &g("fclose(m->out);"), &g("if (m->n) fclose(m->out);"), "kept broken");
    // Nothing is to be freed of a null pointer.
    let p = |end: &str| format!("int f(char *p, int n) {{ {end} return n; }}");
    check("p is freed", &p("free(p);"), &p("if (p) free(p);"), "kept kept");
    check("p is freed", &p("free(p);"), &p("if (n) free(p);"), "kept broken");
    check("p is freed", &p("free(p);"), &p("while (n-- > 0) free(p);"), "kept broken");
    check("p is freed", &p("free(p);"), &p("p = realloc(p, n);"), "kept open");
}

#[test]
fn locks() {
    let f = |middle: &str| {
        format!(
            "int f(struct m *m, int k) {{ if (k < 0) return -1; pthread_mutex_lock(&m->lock); {middle} \
             pthread_mutex_unlock(&m->lock); return k; }}"
        )
    };
    let pin = "m->lock is unlocked";
    check(pin, &f(""), &f("m->n += k;"), "kept kept");
    check(pin, &f(""), &f("if (k == 7) return 7;"), "kept broken");
    // What nobody knows might lock it again.
    check(pin, &f(""), &f("unknown(m);"), "kept open");
    // What is not locked here is left as it was.
    check(pin, &f(""), "int f(struct m *m, int k) { return m->n + k; }", "kept kept");
    let only = |end: &str| format!("void f(pthread_mutex_t *l, int k) {{ {end} }}");
    let unlock = "pthread_mutex_unlock(l);";
    check("l is unlocked", &only(unlock), &only("if (k) pthread_mutex_unlock(l);"), "kept broken");
    let lock = "if (pthread_mutex_lock(l)) abort();";
    check("l stays locked", &only(lock), &only(&format!("if (k == 3) return; {lock}")), "kept kept");
    let either = &only(&format!("{lock} if (k == 3) {unlock}"));
    check("l stays locked", &only(lock), either, "kept broken");
    // Whether it was locked, nobody looks at.
    check(
        "l stays locked",
        &only("pthread_mutex_lock(l);"),
        &only("k++; pthread_mutex_lock(l);"),
        "open open",
    );
}

#[test]
fn protocols_of_a_project() {
    let protocols = "
- {name: transaction, start: begun, final: committed, words: {begun: is begun, committed: is committed}, steps: [
    {call: begin, from: [committed], to: begun}, {call: commit, from: [begun], to: committed, unless: negative}]}
- {name: latch, start: shut, final: open, words: {shut: stays shut, open: is open}, steps: [
    {call: shut, argument: 0, from: [open], to: shut}, {call: release, argument: 0, from: [shut], to: open}]}
";
    let head = "struct l { int held; }; void begin(void); int commit(void); int depth;\n\
                static void shut(struct l *l) { l->held = 1; depth++; }\n\
                static void release(struct l *l) { l->held = 0; depth--; }\n";
    let check = |pin: &str, old: &str, new: &str, expected: &str| {
        check_by(pin, &format!("{head}{old}"), &format!("{head}{new}"), expected, protocols);
    };
    let f = |middle: &str| format!("int f(int n) {{ begin(); {middle} return n; }}");
    let sure = "if (commit() < 0) abort();";
    check("transaction is committed", &f(sure), &f(&format!("n++; {sure}")), "kept kept");
    check("transaction is committed", &f(sure), &f(&format!("if (n == 3) return 1; {sure}")), "kept broken");
    // That it succeeds is not known.
    check("transaction is committed", &f("commit();"), &f("n++; commit();"), "open open");
    let g = |middle: &str| format!("int f(struct l *l, int n) {{ shut(l); {middle} release(l); return n; }}");
    check("l is open", &g(""), &g("n++;"), "kept kept");
    check("l is open", &g(""), &g("if (n < 2) return 0;"), "kept broken");
}

#[test]
fn what_cannot_be_looked_at_is_open() {
    let f = |end: &str| format!("int f(int n) {{ {end} return n; }}");
    check(
        "s is closed",
        &f("FILE *s = stdin; n = fgetc(s);"),
        &f("FILE *s = stdin; fclose(s);"),
        "open open",
    );
    check("s is shut", &f("n++;"), &f("n--;"), "open open");
    let looped = |end: &str| {
        format!(
            "int f(char *n, int k) {{ for (int i = 0; i < k; i++) {{ FILE *s = fopen(n, \"r\"); if (!s) continue; \
             {end} }} return 0; }}"
        )
    };
    check("s is closed", &looped("fclose(s);"), &looped("if (i != 1) fclose(s);"), "open broken");
}
