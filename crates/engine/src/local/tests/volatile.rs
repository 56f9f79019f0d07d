//! Accesses to volatile objects: each is an event, and what is read there is any value.

use super::check;

const HEAD: &str = "struct reg { volatile unsigned status, data; unsigned plain; };\nvoid note(unsigned);\nint f(struct reg *r, int n)";

#[test]
fn what_is_written_to_a_volatile_object_is_told_once() {
    check(
        HEAD,
        "while (!(r->status & 1)) ;\nr->data = n;\nr->plain = 3;\nreturn n;",
        "while (!(r->status & 1)) ;\nr->data = n + 1;\nr->plain = 3;\nreturn n;",
        &[" | sets r->data to n | sets r->data to n + 1"],
    );
    check(
        HEAD,
        "if (n > 3) r->data = 1;\nnote(r->status);\nreturn n;",
        "if (n > 5) r->data = 1;\nnote(r->status);\nreturn n;",
        &["n > 3 && n <= 5 | sets r->data to 1 | "],
    );
}

#[test]
fn equal_reads_give_equal_values() {
    check(
        HEAD,
        "n = r->status;\nif (n == 2) return 1;\nreturn 0;",
        "n = r->status;\nif (2 == n) return 1;\nreturn 0;",
        &[],
    );
    check(
        HEAD,
        "if (r->status == 2) return 1;\nreturn 0;",
        "if (r->status == 4) return 1;\nreturn 0;",
        &["r->status == 2 | returns 1 | returns 0", "r->status == 4 | returns 0 | returns 1"],
    );
}

/// No compiler may read once what is to be read twice, and two reads may give two values.
#[test]
fn a_read_more_is_a_change() {
    check(HEAD, "r->status;\nreturn n;", "return n;", &[" | reads r->status | "]);
    check(
        HEAD,
        "return r->status + r->status;",
        "unsigned x = r->status;\nreturn x + x;",
        &[" | returns r->status + r->status | returns 2 * r->status"],
    );
    // Members that are not volatile are read as often as one likes.
    check(HEAD, "return r->plain + r->plain;", "unsigned x = r->plain;\nreturn x + x;", &[]);
}

#[test]
fn the_order_of_accesses_counts() {
    check(
        HEAD,
        "r->data = 1;\nr->status = 2;\nreturn n;",
        "r->status = 2;\nr->data = 1;\nreturn n;",
        &[" |  | sets r->status to 2", " | sets r->status to 2 | "],
    );
    // What is not volatile may be written before or behind.
    check(HEAD, "r->plain = 1;\nr->status = 2;\nreturn n;", "r->status = 2;\nr->plain = 1;\nreturn n;", &[]);
}

#[test]
fn a_volatile_object_keeps_nothing_else_from_being_compared() {
    check(
        "struct reg { volatile unsigned status; };\nint f(volatile struct reg *r, int n)",
        "if (n < 3) return r->status;\nreturn n;",
        "if (n < 4) return r->status;\nreturn n;",
        &["n == 3 | returns n | returns r->status (line 13)"],
    );
}

/// That an object is declared otherwise is told of the object.
#[test]
fn what_is_volatile_in_one_version_alone_is_an_object_like_others() {
    let told = |old: &str, new: &str| -> Vec<String> {
        let changes = super::changes(old, new);
        changes.iter().flat_map(|c| &c.deltas).map(|d| super::effects(&d.now)).collect()
    };
    let global =
        "static int empty = 1;\nint get(int);\nvoid f(int n)\n{\nif (empty) n++;\nempty = 0;\nget(n);\n}\n";
    let volatile = global.replace("static int", "static volatile int");
    assert_eq!(told(global, &volatile), [""; 0]);
    assert_eq!(told(&volatile, global), [""; 0]);
    assert_eq!(told(global, &volatile.replace("empty = 0", "empty = 2")), ["sets empty to 2"]);
    let local = "int get(int);\nint f(int a)\n{\nint n = get(a);\nif (a > 3) n++;\nget(n);\nreturn n;\n}\n";
    let volatile = local.replace("int n", "volatile int n");
    assert_eq!(told(local, &volatile), [""; 0]);
    assert_eq!(told(&volatile, local), [""; 0]);
    // Somebody else writes to it.
    let seen = "void start(volatile int *);\nint f(void)\n{\nvolatile int n = 0;\nstart(&n);\nif (n) return n;\nreturn 2;\n}\n";
    let plain = seen.replace("volatile int n", "int n");
    assert!(super::changes(seen, &plain).iter().any(|c| c.verdict != super::Verdict::Neutral));
}
