//! Protocols of a project's own functions: states that a change alters are told as of streams, and what is no
//! automaton is refused with its place.

use crate::support::TempRepo;

const POLICY: &str = "protocols:
  - name: kernel_lock
    start: locked
    final: unlocked
    words: {locked: stays locked, unlocked: is unlocked}
    steps:
      - {call: lock_kernel, argument: 0, from: [unlocked], to: locked}
      - {call: unlock_kernel, argument: 0, from: [locked], to: unlocked}
  - name: transaction
    start: begun
    final: committed
    steps:
      - {call: begin, from: [committed], to: begun}
      - {call: commit, from: [begun], to: committed}
  - name: handle
    start: open
    final: shut
    words: {open: stays open, shut: is shut}
    create: [{call: make, unless: zero}]
    steps: [{call: drop, argument: 0, from: [open], to: shut}]
    uses: [{call: poke, argument: 0}]
    twice: is shut twice
    late: is used after it is shut
";

/// Declared, not defined.
const DECLARED: &str = "struct lock { int held; };
void lock_kernel(struct lock *); void unlock_kernel(struct lock *);
void begin(void); void commit(void); void other(void);
void *make(int); void drop(void *); int poke(void *);
";

/// Defined, small, and with effects of their own.
const DEFINED: &str = "struct lock { int held; }; static int depth;
static void lock_kernel(struct lock *l) { l->held = 1; }
static void unlock_kernel(struct lock *l) { l->held = 0; }
static void begin(void) { depth++; }
static void commit(void) { depth--; }
void other(void); void *make(int); void drop(void *); int poke(void *);
";

/// What `diff` says of two versions of a function behind one header.
fn told(policy: &str, header: &str, old: &str, new: &str) -> String {
    let repo =
        TempRepo::new().file(".invdiff.yaml", policy).file("a.c", format!("{header}{old}\n")).commit("one");
    let repo = repo.file("a.c", format!("{header}{new}\n")).commit("two");
    let mut command = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff"));
    let output = command.args(["--all", "--effort", "deep", "-v", "HEAD~1..HEAD"]).output().expect("a run");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{text}");
    text
}

#[track_caller]
fn check(header: &str, old: &str, new: &str, said: &[&str], unsaid: &[&str]) {
    let text = told(POLICY, header, old, new);
    said.iter().for_each(|part| assert!(text.contains(part), "{part}\n{text}"));
    unsaid.iter().for_each(|part| assert!(!text.contains(part), "{part}\n{text}"));
    let plain = told("", header, old, new);
    for word in ["locked", "committed", "begun", "is shut", "stays open"] {
        assert!(!plain.contains(word), "{word}\n{plain}");
    }
}

#[test]
fn a_lock_that_is_kept_is_told() {
    for header in [DECLARED, DEFINED] {
        check(
            header,
            "int f(struct lock *l, int n) { lock_kernel(l); if (n < 0) { unlock_kernel(l); return -1; } unlock_kernel(l); return n; }",
            "int f(struct lock *l, int n) { lock_kernel(l); if (n < 0) return -1; unlock_kernel(l); return n; }",
            &["- l is unlocked", "+ n < 0 ==> l stays locked", "+ n >= 0 ==> l is unlocked"],
            &["unseen-calls-keep"],
        );
    }
}

#[test]
fn the_one_resource_of_a_program_is_called_as_its_protocol() {
    for header in [DECLARED, DEFINED] {
        check(
            header,
            "int f(int n) { begin(); if (n < 0) { commit(); return -1; } commit(); return n; }",
            "int f(int n) { begin(); if (n < 0) return -1; commit(); return n; }",
            &["- transaction is committed", "+ n < 0 ==> transaction is begun"],
            &["unseen-calls-keep"],
        );
    }
    // What is called in between might commit, too: that it does not is assumed, and said.
    let (old, new) = (
        "int f(int n) { begin(); other(); commit(); return n; }",
        "int f(int n) { begin(); other(); return n; }",
    );
    check(DECLARED, old, new, &["+ transaction is begun", "unseen-calls-keep(transaction)"], &[]);
}

#[test]
fn resources_that_functions_make_are_followed() {
    let f = |end: &str| {
        format!(
            "int f(int n) {{ void *h = make(n); if (!h) return -1; int r = poke(h); {end} if (r) return 1; return 0; }}"
        )
    };
    check(DECLARED, &f("drop(h);"), &f(""), &["- h is shut", "+ h stays open"], &[]);
    // What is done wrong in both versions is a fact of both; of one, where facts of some versions are asked for.
    check(
        DECLARED,
        &f("drop(h); drop(h);"),
        &f("drop(h); drop(h); other();"),
        &["is shut twice"],
        &["stays open"],
    );
    let late = f("drop(h); r += poke(h);");
    check(DECLARED, &late, &f("drop(h); r += poke(h); other();"), &["is used after it is shut"], &[]);
    // Handed to a function that nobody knows, it may be shut there.
    let g = |end: &str| format!("void keep(void *); {}", f(end));
    check(DECLARED, &g("drop(h);"), &g("keep(h);"), &[], &["stays open"]);
}

#[test]
fn loops_and_missing_arguments_tell_nothing_wrong() {
    let f = |end: &str| {
        format!(
            "int f(struct lock *l, int n) {{ lock_kernel(l); for (int i = 0; i < n; i++) {end} return n; }}"
        )
    };
    check(DECLARED, &f("unlock_kernel(l);"), &f("lock_kernel(l);"), &[], &["locked  "]);
    let bare = "struct lock { int held; }; void lock_kernel(struct lock *); void unlock_kernel();\n";
    let f = |end: &str| {
        format!("int f(struct lock *l, int n) {{ lock_kernel(l); unlock_kernel(); return {end}; }}")
    };
    check(bare, &f("n"), &f("n + 1"), &[], &["stays locked", "is unlocked"]);
}

#[test]
fn what_is_no_automaton_is_refused_with_its_place() {
    let head = "protocols:\n- name: lock\n  start: locked\n  final: open\n";
    let step = "{call: up, from: [locked], to: open}";
    for (policy, place, said, hint) in [
        (
            format!("{head}  steps: [{{call: up, from: [loked], to: open}}]\n"),
            "5:29",
            "unknown state 'loked'",
            "the states are",
        ),
        (
            "protocols: [{name: lock, final: open}]\n".to_owned(),
            "1:20",
            "it has no start",
            "add 'start: STATE'",
        ),
        (
            format!("{head}  steps: [{step}, {step}]\n"),
            "5:56",
            "two transitions for one event: 'up'",
            "one step for a call",
        ),
        (head.to_owned(), "2:9", "it is empty: it has no steps", "add a step"),
        (
            "protocols: [{name: \"a\\e[31m\", start: b}]\n".to_owned(),
            "1:20",
            "'a\\x1b[31m': this is no name",
            "letters",
        ),
        ("protocols: [{name: a, run: rm}]\n".to_owned(), "1:23", "unknown key 'run'", "known names"),
    ] {
        let repo = TempRepo::new().file("a.c", "int f(int x) { return x; }\n").commit("one");
        repo.write(".invdiff.yaml", &policy);
        for words in [&["diff"][..], &["check"]] {
            let output =
                repo.command_of(env!("CARGO_BIN_EXE_git-invdiff")).args(words).output().expect("a run");
            let text = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(128), "{policy}\n{text}");
            assert!(text.contains(&format!("fatal: .invdiff.yaml:{place}: ")), "{policy}\n{text}");
            assert!(
                text.contains(said) && text.contains("hint: ") && text.contains(hint),
                "{policy}\n{text}"
            );
        }
    }
}

/// A protocol keeps calls from being looked into; a change cannot bring one that hides what it breaks.
#[test]
fn a_change_cannot_hide_behind_its_own_protocol() {
    let source = |fix: &str| {
        format!(
            "#include <assert.h>\nstatic int fix(int x) {{ return {fix}; }}\nint f(int x) {{ int y = fix(x); assert(y != 7); return y; }}\n"
        )
    };
    let repo = TempRepo::new().file("a.c", source("x == 7 ? 0 : x")).commit("one");
    repo.write("a.c", source("x"));
    let policy =
        "protocols: [{name: p, start: a, final: b, steps: [{call: fix, argument: 0, from: [a], to: b}]}]\n";
    for policy in ["", policy] {
        repo.write(".invdiff.yaml", policy);
        let output = repo.command_of(env!("CARGO_BIN_EXE_git-invdiff")).arg("check").output().expect("a run");
        assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
