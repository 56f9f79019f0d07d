//! Structures that are laid out otherwise: members keep their names, and what sees bytes is not the same.

use super::*;

/// Two versions of one function under two versions of what stands before it, what is told.
#[track_caller]
pub(super) fn check_relaid(heads: [&str; 2], function: &str, bodies: [&str; 2], expected: &[&str]) {
    let text = |k: usize| format!("{BEFORE}{}\n{function}\n{{\n{}\n}}\n", heads[k], bodies[k]);
    assert_eq!(told(&text(0), &text(1)), expected, "\n{}\n-->\n{}", text(0), text(1));
}

const RELAID: [&str; 2] = [
    "struct t { int a; char name[8]; long gone; struct t *next; struct { int x, y; } at; };",
    "struct t { int more; int a; char name[16]; struct t *next; char *added; struct { int y, x; } at; };",
];

#[test]
fn members_keep_their_names() {
    let same = "p->at.x = p->a; p->name[2] = 1; p = p->next; p->at.y = n; return p->a;";
    check_relaid(RELAID, "int f(struct t *p, int n)", [same, same], &[]);
    let same = "for (int i = 0; i < n; i++) p[i].at.x = p[i].name[i]; return p - &p[n] + 1 == n;";
    check_relaid(RELAID, "int f(struct t *p, int n)", [same, same], &[]);
    check_relaid(
        RELAID,
        "int f(struct t *p, int n)",
        ["p->a = n; return p->at.x;", "p->a = n; return p->at.y;"],
        &[" | returns p->at.x | returns p->at.y"],
    );
    check_relaid(
        RELAID,
        "int f(struct t *p, int n)",
        ["p->gone = n; return p->a;", "p->more = n; return p->a;"],
        &[" | sets p->gone to n | sets p->more to n"],
    );
    // Where one lay, the other lies: no name is taken for another.
    check_relaid(
        RELAID,
        "int f(struct t *p, int n)",
        ["return p->a;", "return p->more;"],
        &[" | returns p->a | returns p->more"],
    );
}

#[test]
fn what_has_the_size_of_a_structure_keeps_it() {
    let same = "struct t *p = malloc(n * sizeof *p), q = {0}, r = q; memset(p, 0, sizeof(struct t));\n\
                memcpy(&q, p, sizeof q); foreign(q.at.y); r = *p; foreign(r.a); free(p); return 0;";
    check_relaid(RELAID, "int f(int n)", [same, same], &[]);
    let sized =
        ["memset(p->name, 0, sizeof p->name); return 24;", "memset(p->name, 0, sizeof p->name); return 24;"];
    check_relaid(RELAID, "int f(struct t *p)", sized, &[]);
    let sized = ["foreign(40);", "foreign(sizeof *p);"];
    check_relaid(RELAID, "void f(struct t *p)", sized, &[" | calls foreign(40) | calls foreign(sizeof *p)"]);
}

#[test]
fn bytes_that_are_seen_are_not_compared() {
    let read = |body: &str| {
        let text = |k: usize| format!("{BEFORE}{}\nint f(struct t *p, int n)\n{{\n{body}\n}}\n", RELAID[k]);
        let units = [unit(&text(0)), unit(&text(1))];
        let bodies = [0, 1].map(|k: usize| Arc::new(units[k].functions.last().unwrap().clone()));
        let version = |k: usize| Version { body: &bodies[k], unit: &units[k] };
        !is_compared(&compare(version(0), version(1), &|_, _| None, Share::of(1)))
    };
    assert!(read("char *c = (char *)p; return c[4];"));
    assert!(read("char *c = p->name; return ((struct t *)c)->a;"));
    assert!(!read("char *c = (char *)(p + 1); p->next = (struct t *)0; return c == p->name;"));
    assert!(read("union { struct t t; int k[4]; } u; u.t = *p; return u.k[1];"));
    assert!(!read("void *v = p; return ((struct t *)v)->a;"));
    // The bytes of one member lie together.
    assert!(!read("struct { short s; } *h = (void *)p->name; return h->s;"));
    assert!(!read("int *w = (int *)(p->name + 4); *w = n; return p->a;"));
}

const FLAGS: [&str; 2] = [
    "struct t { int a; unsigned loud : 1, quiet : 2; int level : 5; unsigned gone : 1; long b; };",
    "struct t { int a; unsigned loud : 1, more : 3, quiet : 2; int level : 5; long more_yet; long b; };",
];

#[test]
fn flags_that_others_come_between_are_the_same() {
    let same = "if (p->loud && p->level < n) p->quiet = n; p->loud = 1; p->level -= 2; p->quiet |= 1; p->loud = 0;\n\
                return p->quiet + p->level + p->b;";
    check_relaid(FLAGS, "int f(struct t *p, int n)", [same, same], &[]);
    let same =
        "struct t t = {0}, *q = &p[n]; q->level = 3; t.quiet = q->loud; return t.quiet ? q->level : 0;";
    check_relaid(FLAGS, "int f(struct t *p, int n)", [same, same], &[]);
    check_relaid(
        FLAGS,
        "int f(struct t *p, int n)",
        ["p->loud = 0; return p->level;", "p->quiet = 0; return p->level;"],
        &[" | sets p->loud to 0 | sets p->quiet to 0"],
    );
    check_relaid(
        FLAGS,
        "int f(struct t *p, int n)",
        ["return p->quiet;", "return p->more;"],
        &[" | returns p->quiet | returns p->more"],
    );
    check_relaid(
        FLAGS,
        "int f(struct t *p, int n)",
        ["p->gone = 1; return p->level;", "return p->level;"],
        &[" | sets p->gone to 1 | "],
    );
    // Several fields of one unit, read at once.
    let raw = "unsigned w; memcpy(&w, (char *)p + 4, 4); return w;";
    let text = |k: usize| format!("{BEFORE}{}\nint f(struct t *p, int n)\n{{\n{raw}\n}}\n", FLAGS[k]);
    let units = [unit(&text(0)), unit(&text(1))];
    let bodies = [0, 1].map(|k: usize| Arc::new(units[k].functions.last().unwrap().clone()));
    let version = |k: usize| Version { body: &bodies[k], unit: &units[k] };
    assert!(!is_compared(&compare(version(0), version(1), &|_, _| None, Share::of(1))));
}

#[test]
fn bytes_of_one_member_may_be_anything() {
    let same = "struct { short s, t; } *h = (void *)p->name; h->t = n; return p->a + h->s;";
    check_relaid(RELAID, "int f(struct t *p, int n)", [same, same], &[]);
    let other = "struct { short s, t; } *h = (void *)p->name; h->t = n + 1; return p->a + h->s;";
    check_relaid(
        RELAID,
        "int f(struct t *p, int n)",
        [same, other],
        &[" | sets h->t to (short)n | sets h->t to (short)(n + 1)"],
    );
}

#[test]
fn records_around_members() {
    let heads = [
        "struct link { struct link *next; }; struct t { int a; struct link list; int b; };\n\
         #define OF(p) ((struct t *)((char *)(p) - __builtin_offsetof(struct t, list)))",
        "struct link { struct link *next; }; struct t { int a; long added; struct link list; int b; };\n\
         #define OF(p) ((struct t *)((char *)(p) - __builtin_offsetof(struct t, list)))",
    ];
    let same = "int n = 0; for (struct link *l = head; l; l = l->next) n += OF(l)->b; return n;";
    check_relaid(heads, "int f(struct link *head)", [same, same], &[]);
    check_relaid(
        heads,
        "int f(struct link *head)",
        ["return OF(head)->b;", "return OF(head)->a;"],
        &[" | returns OF(head)->b | returns OF(head)->a"],
    );
}

#[test]
fn initial_values_keep_their_members() {
    let heads = [
        "static const struct { int a; const char *name; int b; } table[] = {{1, \"x\", 2}, {3, \"y\", 4}};",
        "static const struct { const char *name; int a; long c; int b; } table[] = {{\"x\", 1, 0, 2}, {\"y\", 3, 9, 4}};",
    ];
    let same = "foreign(table[1].b); return table[k].a;";
    check_relaid(heads, "int f(int k)", [same, same], &[]);
}

#[test]
fn what_lies_before_a_member_is_no_member_of_another_object() {
    let heads = ["struct it { int *stack[8], **top, *right; };", "struct it { int *stack[8], **top; };"];
    let text =
        |k: usize| format!("{BEFORE}{}\nvoid f(struct it *p)\n{{\np->top = p->stack - 1;\n}}\n", heads[k]);
    let changes = changes(&text(0), &text(1));
    assert!(changes.iter().all(|c| c.deltas.is_empty()), "{:?}", told(&text(0), &text(1)));
}
