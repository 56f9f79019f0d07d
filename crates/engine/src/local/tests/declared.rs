//! What no statement says: when a function runs that nobody calls, and assertions that are lost.

use super::{Verdict, changes, check, told};

#[test]
fn a_function_that_begins_to_run_before_main_is_told_as_that() {
    let text = |attributes: &str| format!("static int n;\n{attributes}void f(void)\n{{\nn = 4;\n}}\n");
    let constructor = text("__attribute__((constructor)) ");
    assert_eq!(told(&text(""), &constructor), [" | runs only when it is called | runs before main()"]);
    assert_eq!(told(&constructor, &text("")), [" | runs before main() | runs only when it is called"]);
    let numbered = text("__attribute__((constructor(101))) ");
    assert_eq!(told(&constructor, &numbered), [" | runs before main() | runs before main() (priority 101)"]);
    let both = text("__attribute__((constructor, destructor)) ");
    assert_eq!(
        told(&constructor, &both),
        [" | runs before main() | runs before main(); runs after main() and in exit()"]
    );
    assert!(changes(&constructor, &constructor).iter().all(|c| c.verdict == Verdict::Neutral));
}

/// It is named as its author wrote it, and nothing comes after it that it could leave behind.
#[test]
fn an_assertion_that_is_lost_is_told_once() {
    let head = "#include <assert.h>\nint f(int x)\n{\n";
    let found = changes(&format!("{head}assert(x > 0);\nreturn x;\n}}\n"), &format!("{head}return x;\n}}\n"));
    let [change] = found.as_slice() else { panic!("{found:?}") };
    let [delta] = change.deltas.as_slice() else { panic!("{change:?}") };
    assert_eq!(delta.when, "x <= 0");
    let texts: Vec<String> = delta.before.iter().map(|e| e.words.to_string()).collect();
    assert_eq!(texts, ["fails assert(x > 0)"]);
    assert!(!change.apart && change.rest.is_none(), "{change:?}");
}

/// Of a function that does not come back, nothing is asked what it leaves.
#[test]
fn a_call_that_does_not_return_leaves_nothing_to_ask() {
    let head = "_Noreturn void die(const char *);\nint f(int n)";
    check(
        head,
        "if (n < 0) die(\"a\");\nreturn n;",
        "return n;",
        &["n < 0 | ends in die(\"a\") | returns n"],
    );
}
