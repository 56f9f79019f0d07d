//! Members whose number type got wider.

use super::{changes, effects, is_compared, told, unit};
use crate::local::{Share, Verdict, Version, compare};
use std::sync::Arc;

const HEAD: &str = "#include <string.h>\nstruct s { char c; TYPE n; int after; };\nint foreign(long);\n";

fn of_types(before: &str, now: &str, body: &str, other: &str) -> [String; 2] {
    [(before, body), (now, other)].map(|(ty, body)| format!("{}{body}\n", HEAD.replace("TYPE", ty)))
}

#[track_caller]
fn check(types: [&str; 2], body: &str, other: &str, expected: &[&str]) {
    let [old, new] = of_types(types[0], types[1], body, other);
    assert_eq!(told(&old, &new), expected, "\n{old}\n-->\n{new}");
}

/// What is taken for granted.
fn granted(types: [&str; 2], body: &str) -> Vec<String> {
    let [old, new] = of_types(types[0], types[1], body, body);
    let all: std::collections::BTreeSet<_> = changes(&old, &new).into_iter().flat_map(|c| c.fits).collect();
    all.iter().map(ToString::to_string).collect()
}

const SIGNED: [&str; 2] = ["int", "long"];
const NATURAL: [&str; 2] = ["unsigned int", "unsigned long"];
const SIGN_LOST: [&str; 2] = ["int", "unsigned long"];

#[test]
fn numbers_that_fit_both_types_are_the_same() {
    let same = [
        "int f(struct s *p) { return p->n / 8 % 1000 + p->after; }",
        "int f(struct s *p) { if (p->n > 3 && p->n != 7) return foreign(2); return 0; }",
        "void f(struct s *p, struct s *q) { *p = *q; p->n = q->n; p->after = p->n == 3; }",
        "void f(struct s *p) { memset(p, 0, sizeof *p); p->n = 5; foreign(p->n); }",
    ];
    for types in [SIGNED, NATURAL, SIGN_LOST] {
        for body in same {
            check(types, body, body, &[]);
        }
        assert_eq!(granted(types, same[0]), [format!("n fits {} and {}", types[0], types[1])]);
    }
    check(SIGN_LOST, same[0], "int f(struct s *p) { return (int)(p->n / 8 % 1000) + p->after; }", &[]);
    assert!(granted(SIGNED, "void f(struct s *p, int x) { p->n = x; foreign(p->n); }").is_empty());
}

/// What a version writes need not fit.
#[test]
fn numbers_that_the_newer_type_lacks_are_others() {
    let set = "void f(struct s *p, int x) { p->n = x; }";
    check(SIGNED, set, set, &[]);
    check(NATURAL, "void f(struct s *p) { p->n = 7; }", "void f(struct s *p) { p->n = 7; }", &[]);
    let minus = "void f(struct s *p) { p->n = -1; }";
    check(SIGNED, minus, minus, &[]);
    check(SIGN_LOST, minus, minus, &[" | sets p->n to -1 | sets p->n to 18446744073709551615u"]);
    let tested = "void f(struct s *p, int x) { p->n = x; if (p->n < 0) foreign(1); p->n = 0; }";
    let [old, new] = of_types("int", "unsigned long", tested, tested);
    let found = changes(&old, &new);
    let calls = found.iter().flat_map(|c| &c.deltas).any(|d| effects(&d.before).contains("calls foreign(1)"));
    assert!(calls, "{found:?}");
}

#[test]
fn what_the_older_type_has_no_room_for_is_told() {
    check(
        SIGNED,
        "void f(struct s *p, long x) { p->n = x; }",
        "void f(struct s *p, long x) { p->n = x; }",
        &[" | sets p->n to (int)x | sets p->n to x"],
    );
    let text = "unsigned long f(struct s *p) { p->n += 1; return 0; }";
    check(NATURAL, text, text, &[" | sets p->n to (unsigned)(p->n + 1) | sets p->n to p->n + 1"]);
}

#[test]
fn members_that_got_narrower_are_compared_alike() {
    let text = "int f(struct s *p) { if (p->n) foreign(1); p->n = 1; return p->after; }";
    for types in
        [["int", "_Bool"], ["unsigned long", "unsigned int"], ["long", "int"], ["unsigned long", "int"]]
    {
        check(types, text, text, &[]);
    }
    check(
        ["long", "int"],
        "void f(struct s *p, long x) { p->n = x; }",
        "void f(struct s *p, long x) { p->n = x; }",
        &[" | sets p->n to x | sets p->n to (int)x"],
    );
    let count = "void f(struct s *p) { p->n++; }";
    let [old, new] = of_types("int", "_Bool", count, count);
    assert!(!told(&old, &new).is_empty());
}

/// Bytes of such a member are those of another number.
#[test]
fn where_its_bytes_are_seen_nothing_is_compared() {
    let seen = [
        "void f(struct s *p) { memset(p, 255, sizeof *p); }",
        "void f(struct s *p, char *from) { memcpy(p, from, sizeof *p); }",
        "int get(void *); int f(struct s *p) { return get(&p->n); }",
        "int f(struct s *p) { return *(char *)&p->n; }",
    ];
    for body in seen {
        let [old, new] = of_types("int", "long", body, body);
        let units = [unit(&old), unit(&new)];
        let bodies = units.each_ref().map(|u| Arc::new(u.functions.last().unwrap().clone()));
        let version = |k: usize| Version { body: &bodies[k], unit: &units[k] };
        let found = compare(version(0), version(1), &|_, _| None, Share::of(1));
        let is_same = |(changes, _): &(Vec<super::Change>, usize)| {
            changes.iter().all(|c| c.verdict == Verdict::Neutral)
        };
        assert!(found.as_ref().is_none_or(|f| !is_same(f)), "{body}: {found:?}");
        let found = compare(version(1), version(0), &|_, _| None, Share::of(1));
        assert!(found.as_ref().is_none_or(|f| !is_same(f)), "{body}, narrower: {found:?}");
    }
}

/// Found in libxcrypt 22c2a51: where bytes of a structure are seen, places were compared, and the next structure lies
/// somewhere else.
#[test]
fn the_next_structure_lies_elsewhere_where_one_has_grown() {
    let compared = |size: &str, body: &str| {
        let text = |n: &str| {
            format!(
                "#include <string.h>\nstruct t {{ const char *input; char result[{n}]; }};\nvoid fail(const char *);\n{body}\n"
            )
        };
        let units = [unit(&text("16")), unit(&text(size))];
        let [old, new] = units.each_ref().map(|u| Version { body: u.functions.last().unwrap(), unit: u });
        is_compared(&compare(old, new, &|_, _| None, Share::of(1)))
    };
    let table = "static const struct t tests[] = { { \"a\", \"b\" }, { \"c\", \"d\" } };\nvoid f(int n, char *sum)\n{\nif (memcmp(tests[n].result, sum, 16)) fail(tests[n].input);\n}";
    let moved = "void f(struct t *p, char *sum)\n{\nif (memcmp(p[1].result, sum, 16)) fail(p->input);\nfor (int i = 0; i < 3; i++) if (p[i].input) fail(p[i].input);\n}";
    let one = "void f(struct t *p, char *sum)\n{\nif (memcmp(p->result, sum, 16)) fail(p->input);\n}";
    for (body, expected) in [(table, false), (moved, false), (one, true)] {
        assert_eq!(compared("17", body), expected, "{body}");
    }
    assert!(compared("16", table));
}

/// Found in brotli 037b70e2a: a union that is laid out otherwise lies among members that have nothing to do with it.
#[test]
fn a_union_counts_where_its_members_are_named() {
    let pair = |before: &str, now: &str, lines: [&str; 2]| {
        [(before, lines[0]), (now, lines[1])].map(|(ty, line)| {
            let ty = format!(
                "#include <string.h>\nstruct a {{ int x; {ty} int y; }};\nunion u {{ long l; struct a a; }};\n"
            );
            format!("{ty}struct s {{ int n; union u u; int after; }};\nvoid see(union u *);\nvoid f(struct s *p, struct s *q, int n)\n{{\n{line}\n}}\n")
        })
    };
    let told_of = |lines: [&str; 2]| {
        let [old, new] = pair("", "int more[4];", lines);
        told(&old, &new)
    };
    assert_eq!(
        told_of(["p->after = n;", "p->after = n + 1;"]),
        [" | sets p->after to n | sets p->after to n + 1"]
    );
    assert!(told_of(["if (p->after) p->n = 1;", "if (p->after) p->n = 1;"]).is_empty());
    assert!(told_of(["*p = *q; see(&p->u); p->after = 1;"; 2]).is_empty());
    let named = [
        ["p->u.a.y = n;", "p->u.a.y = n;"],
        ["p->u.a.y = n;", "p->u.a.more[0] = n;"],
        ["p->u.l = n;", "p->u.a.y = n;"],
        ["p->n = ((int *)&p->u)[1];", "p->n = ((int *)&p->u)[1];"],
        ["union u v; memset(&v, 0, sizeof v); see(&v); p->n = v.a.y;"; 2],
    ];
    for lines in named {
        let [old, new] = pair("", "int more[4];", lines);
        let units = [unit(&old), unit(&new)];
        let [old, new] = units.each_ref().map(|u| Version { body: u.functions.last().unwrap(), unit: u });
        let found = compare(old, new, &|_, _| None, Share::of(1));
        let is_same = |changes: &[super::Change]| changes.iter().all(|c| c.verdict == Verdict::Neutral);
        assert!(found.as_ref().is_none_or(|(changes, _)| !is_same(changes)), "{lines:?}: {found:?}");
    }
}

/// An array of pointers has the same layout whatever they lead to.
#[test]
fn arrays_of_pointers_are_laid_out_alike() {
    let text = |member: &str, n: u8| {
        format!(
            "struct sw {{ int a; {member} int b; }};\nextern struct sw one, *list[];\nint f(int n)\n{{\n    struct sw *s = list[n];\n    if (n > {n})\n        return 1;\n    return s->b;\n}}\n"
        )
    };
    assert_eq!(told(&text("", 3), &text("int new;", 4)), ["n == 4 | returns 1 | returns s->b"]);
}
