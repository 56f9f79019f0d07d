//! What is no automaton, and where that is said.

use super::*;

fn read(text: &str) -> Checked<Vec<Protocol>> {
    own(serde_yaml::from_str(text).expect("YAML of the form"))
}

/// Checks a mistake, and that it is told at the last place where some words stand.
#[track_caller]
fn check(text: &str, words: &str, message: &str) {
    let before = &text[..text.rfind(words).expect(words)];
    let line = before.matches('\n').count() as u64 + 1;
    let place = (line, (before.len() - before.rfind('\n').map_or(0, |n| n + 1)) as u64 + 1);
    let mistake = read(text).expect_err(text);
    assert!(mistake.message.contains(message), "{mistake}");
    assert_eq!((mistake.line, mistake.column), place, "{mistake}");
    assert!(!mistake.hint.is_empty());
}

const LOCK: &str = "- name: lock\n  start: locked\n  final: unlocked\n";

#[test]
fn what_is_no_automaton_is_refused_at_its_place() {
    let step = "  steps: [{call: up, argument: 0, from: [locked], to: unlocked}]\n";
    let lock = |rest: &str| format!("{LOCK}{rest}");
    check("- {name: lock, final: a, steps: []}", "lock,", "it has no start");
    check("- {name: lock, start: a, steps: []}", "lock,", "it has no final state");
    check("- {name: lock, start: a, final: a}", "a}", "the same state");
    check(&lock(""), "lock\n", "it is empty: it has no steps");
    check(&lock("  steps: []\n"), "lock\n", "it is empty");
    check(
        &lock("  steps: [{call: up, from: [lokked], to: unlocked}]\n"),
        "lokked",
        "the unknown state 'lokked'",
    );
    check(
        &lock("  steps: [{call: up, from: [locked], to: open}]\n"),
        "open",
        "leads to the unknown state 'open'",
    );
    check(&lock("  steps: [{call: up, from: [], to: unlocked}]\n"), "up", "can never be taken");
    check(&lock("  steps: [{call: up, from: [unlocked], to: locked}]\n"), "lock\n", "no step leads to");
    let two = "  steps:\n    - {call: up, from: [locked], to: unlocked}\n    - {call: up, from: [unlocked], to: locked}\n";
    check(&lock(two), "up, from: [unlocked]", "two transitions for one event: 'up'");
    check(
        &lock(&format!("{step}  uses: [{{call: up, argument: 0}}]\n")),
        "up, argument: 0, from",
        "'up' is a use, too",
    );
    check(&lock(&format!("{step}  words: {{open: is open}}\n")), "is open", "the unknown state 'open'");
    check(&lock(&format!("{step}  words: {{locked: \"a\\e[31m\"}}\n")), "\"a\\e", "cannot be part of a fact");
    check(
        &lock("  steps: [{call: \"up(\", from: [locked], to: unlocked}]\n"),
        "\"up(",
        "no name of a function",
    );
    check("- {name: heap, start: a, final: b}", "heap", "comes with git-invdiff");
    check("- {name: \"a b\", start: a, final: b}", "\"a b\"", "this is no name");
    check(&format!("{}{step}{}{step}", LOCK, LOCK), "lock\n", "stands above");
}

#[test]
fn all_of_a_protocol_speaks_of_one_resource() {
    let mixed = "  steps:\n    - {call: down, argument: 0, from: [unlocked], to: locked}\n    - {call: up, from: [locked], to: unlocked}\n";
    check(&format!("{LOCK}{mixed}"), "up, from", "step 'up' names no argument");
    let single = "  steps: [{call: up, from: [locked], to: unlocked}]\n";
    check(
        &format!("{LOCK}{single}  create: [{{call: make, unless: zero}}]\n"),
        "{call: make",
        "no step takes",
    );
    check(
        &format!("{LOCK}{single}  uses: [{{call: work, argument: 1}}]\n"),
        "{call: work",
        "not of one resource",
    );
    check(&format!("{LOCK}{single}  dereferenced: true\n"), "lock\n", "one resource");
    let far = "  steps: [{call: up, argument: 500, from: [locked], to: unlocked}]\n";
    check(&format!("{LOCK}{far}"), "500", "no call has an argument 500");
    let read = read(&format!("{LOCK}{single}  uses: [{{call: work}}]\n")).expect("a protocol");
    assert!(read[0].is_single() && read[0].is_own && read[0].is_use("work"));
    assert_eq!(read[0].word("locked"), "is locked");
    assert_eq!(read[0].calls().into_iter().collect::<Vec<_>>(), ["up", "work"]);
}
