//! The language, a few lines a case: what lowered C computes when it is interpreted. Expectations
//! are what compilers for x86-64 Linux make of it (plain `char` signed, `-fwrapv`).

use crate as frontend;
use crate::history::MemoryTree;
use crate::interp::{End, Input, Limits, Outcome, Program, run};
use crate::ir::{Measured, UndefinedKind};
use std::path::Path;
use std::sync::Arc;

fn outcome(source: &str) -> Outcome {
    let tree = MemoryTree::new([("t.c", source.as_bytes())]);
    let loaded = frontend::load_unit(&tree, Path::new("t.c"), &Default::default()).expect("it parses");
    run(&Program::new(vec![Arc::new(loaded.unit)]), "f", &Input::default(), &Limits::default())
}

/// Checks what `long f(void)` returns.
pub(super) fn check(source: &str, expected: i128) {
    let o = outcome(source);
    let got = o.returned.and_then(|c| c.signed());
    assert_eq!((&o.end, got), (&End::Return, Some(expected)), "{source}");
}

/// Checks that `f` ends in an undefined event.
pub(super) fn undefined(source: &str, expected: UndefinedKind) {
    let end = outcome(source).end;
    assert!(matches!(end, End::Undefined { kind, .. } if kind == expected), "{end:?} {source}");
}

/// Checks that `f` meets something that is not modelled, and that the run says so.
pub(super) fn unmodelled(source: &str) {
    let end = outcome(source).end;
    assert!(matches!(end, End::Unsupported { .. }), "{end:?} {source}");
}

/// What `f` is lowered to.
pub(super) fn lowered(source: &str) -> String {
    let tree = MemoryTree::new([("t.c", source.as_bytes())]);
    let loaded = frontend::load_unit(&tree, Path::new("t.c"), &Default::default()).expect("it parses");
    let Some(f) = loaded.unit.function("f") else { return "lost".to_owned() };
    format!("{:?}", f.nodes.iter().map(|n| &n.instr).collect::<Vec<_>>())
}

#[test]
fn what_stands_behind_unknown_labels_counts() {
    let f = |on: &str, label: &str, body: &str, rest: &str| {
        lowered(&format!(
            "int g(int); int f(int x, char y) {{ int r = 0; switch ({on}) {{ case {label}: {body} break; {rest} }} return r; }}"
        ))
    };
    let known = "case 13: r = 2; break;";
    let base = f("x", "KEY", "r = g(1);", known);
    assert_eq!(base, f("x", "KEY", "r = g(1);", known));
    // The statement, the label and the value that is asked for.
    assert_ne!(base, f("x", "KEY", "r = g(2);", known));
    assert_ne!(base, f("x", "CLICK", "r = g(1);", known));
    assert_ne!(base, f("y", "KEY", "r = g(1);", known));
    // As the only label, behind others, beside a default, as a call, in an expression and as a range: the last is
    // not understood.
    let places: [(&str, &str, bool); 7] = [
        ("KEY", "", true),
        ("KEY", "default: r = 1;", true),
        ("1: case KEY", "", true),
        ("KEY(3)", known, true),
        ("KEY | 1", known, true),
        ("((KEY << 5) | OTHER)", known, true),
        ("KEY ... 9", known, false),
    ];
    for (label, rest, is_known) in places {
        let made = f("x", label, "r = g(1);", rest);
        assert_ne!(made, f("x", label, "r = g(2);", rest), "{label} {rest}");
        assert_eq!(made.contains("source with errors"), !is_known, "{label} {rest}");
    }
    // The label is an object of another file, and never a number: of no type is it known not to hold it.
    for label in ["KEY", "KEY(3)"] {
        assert!(f("y", label, "r = g(1);", known).contains(&format!("Global({label:?})")), "{label}");
    }
    let first = |k: u32| f("x", "A", &format!("r = g({k}); break; case B: r = 7;"), known);
    assert_ne!(first(1), first(2));
    // Labels inside of what is in error lead somewhere.
    assert!(f("x", "KEY ... 9: case 4", "r = 1;", known).contains("source with errors"));
    let nested = "case 14: switch (y) { case B: r = 1; }";
    assert_ne!(
        f("x", "KEY", "r = 1;", nested),
        f("x", "KEY", "r = 1;", "case 14: switch (y) { case B: r = 2; }")
    );
}

#[test]
fn switch() {
    check(
        "long f(void) { long r = 0; for (int i = -1; i < 7; i++) { r *= 3; switch (i) { case 1: r += 1; case 2: r += 2; break; default: r += 5; case 4: r += 7; break; case 5 ... 6: r += 11; } } return r; }",
        36314,
    );
    check(
        "long f(void) { int r = 0; signed char c = -1; switch (c) { case 255: r = 1; break; case -1: r = 2; } return r; }",
        2,
    );
    check(
        "long f(void) { unsigned char c = 255; switch (c) { case -1: return 1; case 255: return 2; } return 3; }",
        2,
    );
    check(
        "long f(void) { unsigned u = 4294967295u; switch (u) { case -1: return 7; default: return 8; } }",
        7,
    );
    check(
        "long f(void) { long v = 1L << 32; switch (v) { case 0: return 1; case 1L << 32: return 2; } return 3; }",
        2,
    );
    check("long f(void) { int n = 0; switch (3) { int k; case 3: k = 4; n = k; } return n; }", 4);
    check(
        "long f(void) { int i = 0, n = 0; switch (7 % 4) { do { case 0: n += 1; case 3: n += 10; case 2: n += 100; } while (++i < 3); } return n; }",
        332,
    );
    check(
        "long f(void) { int n = 0; for (int i = 0; i < 5; i++) { switch (i) { case 1: continue; case 3: break; default: n += i; } n += 100; } return n; }",
        406,
    );
    check(
        "long f(void) { int n = 0; switch (2) { case 2: switch (9) { case 2: n = 1; default: n += 2; } n += 4; break; default: n = 99; } return n; }",
        6,
    );
    check("long f(void) { switch (5) { case 1: return 1; } return 2; }", 2);
    check(
        "enum e { A, B = 5, C }; long f(void) { enum e x = C; switch (x) { case A: return 1; case B: return 2; case C: return 3; } return 4; }",
        3,
    );
}

#[test]
fn jumps() {
    check(
        "long f(void) { int n = 0, i = 0; goto in; for (; i < 4; i++) { n += 10; in: n += 1; } return n; }",
        34,
    );
    check(
        "long f(void) { int n = 0; for (int i = 0; ; i++) for (int j = 0; ; j++) { n += j; if (i * j > 6) goto out; if (j > i) break; } out: return n; }",
        16,
    );
    check("long f(void) { int i = 0, n = 0; again: n += i; if (++i < 5) goto again; return n; }", 10);
    check(
        "long f(void) { int n = 0, i = 0; do { if (i % 2) continue; n += i; } while (++i < 7); return n; }",
        12,
    );
    check(
        "long f(void) { int n = 0, i = 0; while (i < 9) { i++; if (i == 3) continue; if (i == 7) break; n += i; } return n; }",
        18,
    );
    check(
        "long f(void) { int n = 0; for (int i = 0; i < 4; i++) { for (int j = 0; j < 4; j++) { if (j == 2) break; if (i == 1) continue; n += 10 * i + j; } } return n; }",
        103,
    );
    check("long f(void) { int n = 0; do n++; while (0); return n; }", 1);
    check("long f(void) { int i; for (i = 3; i--; ) ; return i; }", -1);
    check("long f(void) { int n = 0; { goto l; n = 5; l: n++; } return n; }", 1);
    check("long f(void) { int n = 0; if (0) { l: n += 5; } else n += 1; if (n < 10) goto l; return n; }", 11);
}

#[test]
fn values() {
    check("long f(void) { int a = 1, b = 2; int c = a > b ? a++ : b++; return a * 100 + b * 10 + c; }", 132);
    check(
        "long f(void) { int a = 0, b = 0; int c = a++ && b++; int d = a-- || b++; return a * 1000 + b * 100 + c * 10 + d; }",
        1,
    );
    check("long f(void) { int a = 5; int b = !a + !!a + (a && 7) + (0 || a); return b; }", 3);
    check("long f(void) { int a = 1, b; b = (a += 2, a * 2); return a * 10 + b; }", 36);
    check("long f(void) { double d = 0.5; return (d ? 1 : 2) + (d && 1) + !d; }", 2);
    check("long f(void) { float x = 0; return x ? 1 : x == 0 ? 2 : 3; }", 2);
    check("long f(void) { int a = 3; return (a ?: 9) + (0 ?: 7); }", 10);
    check(
        "long f(void) { int x = 0; int *p = &x; return (p && *p ? 1 : 2) + (p ? 4 : 8) + (!p ? 16 : 32); }",
        38,
    );
    check("long f(void) { return (1 ? -1 : 0u) > 0 ? 1 : 2; }", 1);
    check("long f(void) { int a = 2; int b = ({ int t = a * 3; a++; t + a; }); return a * 100 + b; }", 309);
    check(
        "long f(void) { int n = 0; for (int i = 0; i < 3; i++) n += ({ if (i == 1) continue; i + 1; }); return n; }",
        4,
    );
    check("long f(void) { int x = 1, y = 2, z; z = x = y; return x + 10 * y + 100 * z; }", 222);
    check("long f(void) { char c; int i = c = 300; return i; }", 44);
    check("long f(void) { unsigned char c; int i = (c = -1); return i + c; }", 510);
    check("long f(void) { _Bool b; int i = (b = 6); return i; }", 1);
    check("long f(void) { int a = 1; a = a == 1 ? a == 2 ? 3 : 4 : 5; return a; }", 4);
    check("long f(void) { int a[3] = {1, 2, 3}; return *(1 ? a + 1 : a); }", 2);
    check("long f(void) { int i = 5; return i-- - 1 ? i : -i; }", 4);
}

#[test]
fn compound() {
    check("long f(void) { char c = 120; c += 10; return c; }", -126);
    check("long f(void) { unsigned short s = 0x8001; s <<= 1; return s; }", 2);
    check("long f(void) { signed char c = -128; c >>= 1; c -= 100; return c; }", 92);
    check("long f(void) { int a[5] = {1, 2, 3, 4, 5}; int *p = a; p += 3; p -= 1; return *p; }", 3);
    check("long f(void) { int i = 7; i *= 1.5; return i; }", 10);
    check("long f(void) { unsigned char c = 200; c *= 2; c /= 3; c %= 7; return c; }", 6);
    check("long f(void) { int i = -7; i /= 2u; return i; }", 2147483644);
    check("long f(void) { int i = -7; i %= 3; return i; }", -1);
    check("long f(void) { float x = 1; x += 0.1; return x == 1.1 ? 1 : x == 1.1f ? 2 : 3; }", 2);
    check("long f(void) { _Bool b = 1; b += 1; b -= 1; return b; }", 0);
    check("long f(void) { _Bool b = 0; b |= 4; b ^= 2; return b; }", 1);
    check(
        "long f(void) { int a[3] = {5, 6, 7}, i = 0; a[i++] += 10; return a[0] * 100 + a[1] * 10 + i; }",
        1561,
    );
    check("long f(void) { long l = 1; l <<= 40; l |= 1; l >>= 3L; return l; }", 137438953472);
    check("long f(void) { int x = 6; x &= 3; x ^= 5; x |= 8; return x; }", 15);
    check("long f(void) { unsigned u = 1; u -= 2; return u == 4294967295u; }", 1);
    check(
        "long f(void) { short s = -1; s >>= 3; unsigned short u = s; u >>= 3; return s * 100000L + u; }",
        -91809,
    );
    check("long f(void) { int i = 2147483647; long l = 1; l += i; i += l; return i; }", -1);
    check("long f(void) { double d = 7; d /= 2; d -= 1; d *= 3; return d * 10; }", 75);
    check("long f(void) { unsigned char c = 1; c <<= 9; return c; }", 0);
}

#[test]
fn steps() {
    check(
        "long f(void) { int i = 3; int a = i++, b = ++i, c = i--, d = --i; return ((a * 10 + b) * 10 + c) * 10 + d + i; }",
        3556,
    );
    check("long f(void) { char c = 127; c++; unsigned char u = 0; u--; return c * 1000 + u; }", -127745);
    check("long f(void) { _Bool b = 0; b++; b++; int r = b; b--; b--; return r * 10 + b; }", 11);
    check("long f(void) { float x = 1.5f; double y = x++; return (--x + y) * 10; }", 30);
    check(
        "long f(void) { int a[3] = {1, 5, 9}, *p = a; int x = *p++, y = *++p; return x * 100 + y * 10 + (p - a); }",
        192,
    );
    check(
        "long f(void) { int a[3] = {1, 5, 9}, *p = a; int x = (*p)++, y = ++*p; return x * 100 + y * 10 + a[0]; }",
        133,
    );
    check(
        "struct s { int a; struct s *n; unsigned b : 3; int c : 3; }; long f(void) { struct s x = {1, 0, 7, 3}, *p = &x; p->n = p; int r = p->a++; r = r * 10 + ++p->n->a; r = r * 10 + x.b++; r = r * 10 + x.b; r = r * 10 + x.c++; return r * 10 + x.c; }",
        137026,
    );
    check("static int g; long f(void) { g++; int a = g++; return a * 10 + ++g; }", 13);
    check(
        r#"long f(void) { char s[] = "abc", *p = s, t[4], *q = t; while ((*q++ = *p++)) ; return t[2] + (q - t); }"#,
        103,
    );
    check("long f(void) { short s = 32767; int r = s++; return r + s; }", -1);
    check(
        "long f(void) { int i = 0, a[4] = {0}; a[++i] = 4; a[i++] = 7; a[i] = i; return a[0] + 10 * a[1] + 100 * a[2]; }",
        270,
    );
    check(
        "struct b { unsigned u : 4; signed s : 4; }; long f(void) { struct b x = {15, 7}; int p = ++x.u, q = ++x.s; return p * 100 + q; }",
        -8,
    );
}

#[test]
fn records() {
    check(
        "struct s { unsigned a : 3; signed b : 3; unsigned c : 10; }; long f(void) { struct s x; x.a = 9; x.b = 5; x.c = -1; return x.a * 100000L + x.c * 10 + x.b; }",
        110227,
    );
    check(
        "struct s { int b : 3; unsigned u : 3; }; long f(void) { struct s x = {0}; int r = (x.b = 5), q = (x.u = 13); return r * 10 + q; }",
        -25,
    );
    check("struct s { unsigned a : 3; }; long f(void) { struct s x = {5}; return x.a - 6 < 0; }", 1);
    check(
        "struct s { unsigned long a : 40; unsigned b : 20; char c; }; long f(void) { struct s x = {0}; x.a = ~0ul; x.b = 5; x.c = 7; unsigned long v = x.a; return (v >> 36) * 100 + x.b * 10 + x.c; }",
        1557,
    );
    check(
        "struct s { _Bool b : 1; unsigned c : 1; }; long f(void) { struct s x = {0}; x.b = 2; x.c = 2; return x.b * 10 + x.c; }",
        10,
    );
    check(
        "struct s { int a : 5; int : 0; int b : 7; }; long f(void) { struct s x = {-3, 60}; x.b += 3; return x.a * 100 + x.b + 1000 * sizeof x; }",
        7763,
    );
    check(
        "union u { int i; float f; unsigned char b[4]; }; long f(void) { union u x; x.f = 1.0f; return x.i + x.b[3]; }",
        1065353279,
    );
    check("union u { int i; char c; }; long f(void) { union u x = {0x1234}; x.c = 1; return x.i; }", 4609);
    check(
        "struct s { int a, b; }; static struct s swap(struct s x) { int t = x.a; x.a = x.b; x.b = t; return x; } long f(void) { struct s p = {1, 2}, q = swap(p), r; r = q; r.a += 5; return p.a * 1000 + q.a * 100 + r.a * 10 + swap(r).a; }",
        1271,
    );
    check(
        "struct s { int a[3]; }; static struct s make(int k) { struct s r = {{k, k + 1, k + 2}}; return r; } long f(void) { return make(3).a[1] + make(5).a[2]; }",
        11,
    );
    check(
        r#"struct in { int x, y; }; struct s { struct in i[2]; int z; char n[4]; }; long f(void) { struct s v = { .i[1] = { .y = 4 }, .n = "ab", .z = 2, .i[0].x = 7 }; return v.i[0].x * 1000 + v.i[0].y + v.i[1].x + v.i[1].y * 100 + v.z * 10 + v.n[1] + v.n[2]; }"#,
        7518,
    );
    check(
        r#"struct in { int x, y; }; static struct { struct in i[2]; int z; const char *n; } v = { { 1, 2, { .y = 4 } }, .n = "xy" }; long f(void) { return v.i[0].x * 1000 + v.i[0].y * 100 + v.i[1].x * 10 + v.i[1].y + v.z + v.n[1]; }"#,
        1325,
    );
    check(
        "struct s { int a; struct { int b; union { int c; char d; }; }; }; long f(void) { struct s v = {1, {2, {0x102}}}; return v.a + v.b * 10 + v.d * 100; }",
        221,
    );
    check(
        "struct s { int a, b; }; long f(void) { struct s *p = &(struct s){3, 4}; struct s q = (struct s){ .b = 5 }; return p->a * 100 + p->b * 10 + q.a + q.b; }",
        345,
    );
    check(
        "struct s { int a, b; }; long f(void) { struct s x = {1, 2}, y = {3, 4}; struct s z = x.a > 1 ? x : y; x = y = z; return x.a * 10 + y.b; }",
        34,
    );
    check(
        "struct s { int a, b; }; long f(void) { struct s x = {1, 2}; x = (struct s){x.b, x.a}; return x.a * 10 + x.b; }",
        21,
    );
    check(
        "struct s { char c; struct s *n; }; static int len(struct s *p) { return p ? 1 + len(p->n) : 0; } long f(void) { struct s a = {'a', 0}, b = {'b', &a}, c = {'c', &b}; return len(&c) * 1000 + c.n->n->c; }",
        3097,
    );
    check(
        "struct e { }; struct s { short a; char b; double c; char d; }; long f(void) { return sizeof(struct s) * 100 + __builtin_offsetof(struct s, c); }",
        2408,
    );
    check("struct f { int n; char d[]; }; long f(void) { return sizeof(struct f); }", 4);
    check(
        "struct __attribute__((packed)) p { char a; int b; short c; }; long f(void) { struct p x = {1, 70000, 3}; x.b++; return sizeof x * 100000 + x.b + x.a + x.c; }",
        770005,
    );
}

#[test]
fn arrays() {
    check(
        "long f(void) { int a[3][4] = {{1, 2}, {3, 4, 5}, {[3] = 9}}; int n = 0; for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) n = n * 2 + a[i][j]; return n; }",
        4905,
    );
    check(
        "long f(void) { int a[2][3] = {1, 2, 3, 4, 5}; int (*p)[3] = a + 1; return (*p)[1] * 10 + p[0][2] + *(*a + 2); }",
        53,
    );
    check(
        "long f(void) { int a[] = {[4] = 1, 2, [1] = 7, 8}; return sizeof a / sizeof *a * 1000 + a[1] * 100 + a[2] * 10 + a[5]; }",
        6782,
    );
    check(
        r#"long f(void) { char s[] = "hello"; char t[3] = "abc"; char u[8] = "x"; return sizeof s * 1000 + t[2] + u[7] + s[4]; }"#,
        6210,
    );
    check(
        r#"long f(void) { const char *s = "a\0b\x41\101"; return sizeof "a\0b" * 1000 + s[2] + s[3] + s[4]; }"#,
        4228,
    );
    check(
        "long f(void) { int a[10]; int *p = &a[2], *q = &a[9]; return (q - p) * 10 + (p - q) + (p < q) + (p == a + 2); }",
        65,
    );
    check("long f(void) { int a[3] = {1, 2, 3}; return 1[a] + *(a + 2) + (&a[2])[-1]; }", 7);
    check(
        "static int sum(int a[][2], int n) { int r = 0; while (n--) r += a[n][0] * 10 + a[n][1]; return r; } long f(void) { int a[2][2] = {{1, 2}, {3, 4}}; return sum(a, 2); }",
        46,
    );
    check(
        "static int x[4] = {1, 2}; static int *p = &x[1], *const q[2] = {x, x + 3}; long f(void) { *q[1] = 5; return *p * 10 + x[3] + sizeof x; }",
        41,
    );
    check(r#"long f(void) { char a[2][4] = {"ab", "cde"}; return a[0][1] + a[1][2] + a[0][3]; }"#, 199);
    check(r#"long f(void) { char *p[] = {"one", "two"}; char **q = p; return **++q + p[0][2]; }"#, 217);
    check(
        "long f(void) { double d[2] = {1, 2.5f}; float e[2] = {0.1, 3}; return d[1] * 10 + e[1] + (e[0] == 0.1); }",
        28,
    );
    check(
        "long f(void) { long n = 0; for (int i = 0; i < 3; i++) { int a[3] = {i}; a[1] += i; a[2]++; n = n * 10 + a[0] + a[1] + a[2]; } return n; }",
        135,
    );
    check(r#"long f(void) { return L"ab"[1] + sizeof L"ab"; }"#, 110);
}

#[test]
fn functions() {
    check(
        "static int next(void) { static int n = 3; return n++; } long f(void) { int a = next(); a = a * 10 + next(); return a * 10 + next(); }",
        345,
    );
    check(
        "static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); } long f(void) { return fib(12); }",
        144,
    );
    check(
        "static int even(int n); static int odd(int n) { return n && even(n - 1); } static int even(int n) { return !n || odd(n - 1); } long f(void) { return even(10) * 10 + odd(4); }",
        10,
    );
    check(
        "static int add(int a, int b) { return a + b; } static int sub(int a, int b) { return a - b; } long f(void) { int (*p)(int, int) = add, (*t[])(int, int) = {sub, &add}; int r = p(1, 2) * 100 + (*t[0])(9, 4) * 10 + (**p)(1, 1); p = t[0]; return r + (p == sub); }",
        353,
    );
    check(
        "static int apply(int (*g)(int), int x) { return g(x); } static int twice(int x) { return 2 * x; } static int (*pick(int k))(int) { return k ? twice : 0; } long f(void) { return apply(twice, 4) + pick(1)(3) + (pick(0) == 0); }",
        15,
    );
    check(
        "int k(c, s, x) char c; float x; short s; { return c + s * 10 + (int)(x * 100); } long f(void) { return k(257, 65538, 0.5); }",
        71,
    );
    check(
        "static char narrow(int x) { return x; } static unsigned char un(int x) { return x; } static _Bool yes(int x) { return x; } long f(void) { return narrow(200) * 1000 + un(-1) + yes(8); }",
        -55744,
    );
    check(
        "static float half(double x) { return x / 2; } long f(void) { return half(3) * 10 + (half(0.2) == 0.1); }",
        15,
    );
    check(
        "static long g(long x) { return x; } long f(void) { return g(-1) + g(1u << 31) + g((char)200); }",
        2147483591,
    );
    check(
        "static void set(int *p, int v) { *p = v; } long f(void) { int x = 1, *p = &x; set(p, 5); set(&x, x + 2); return x; }",
        7,
    );
    check(
        r#"int printf(const char *, ...); long f(void) { char c = 'A'; float x = 1.5f; short s = -2; return printf("%d %c %.2f %hd %s %5d|%-4u|%ld %%\n", c, c, x, s, "str", 42, 7u, 1L << 40); }"#,
        44,
    );
    check(
        "static int count; static int tick(int r) { count++; return r; } long f(void) { int r = (tick(0) && tick(1)) + (tick(1) || tick(1)) + (tick(1), tick(2)); return r * 10 + count; }",
        34,
    );
    check(
        "static int last(int a) { if (a) return 3; return 4; } long f(void) { return last(0) * 10 + last(-1); }",
        43,
    );
    check(
        "static int g = 4; static int shadow(int g) { { int g = 9; g++; } return g; } long f(void) { int r = g; { extern int h; int g = 2; r += g; } return r * 10 + shadow(1); }",
        61,
    );
}

#[test]
fn integers() {
    check("long f(void) { unsigned char a = 200, b = 100; return a + b; }", 300);
    check("long f(void) { return -1 < 1u; }", 0);
    check("long f(void) { return -1L < 1u; }", 1);
    check("long f(void) { unsigned short a = 65535; return a * 2 > 0 && (a << 1) > a; }", 1);
    check(
        "long f(void) { char c = 200; unsigned char u = 200; signed char s = 200; return (c < 0) * 100 + (u < 0) * 10 + (s < 0); }",
        101,
    );
    check("long f(void) { return -7 / 2 * 1000 + -7 % 2 * 100 + 7 / -2 * 10 + 7 % -2; }", -3129);
    check("long f(void) { unsigned u = -7; return u / 2 + u % 10; }", 2147483653);
    check("long f(void) { int x = -8; unsigned y = x; return (x >> 1) * 10 + (y >> 28); }", 4294967271);
    check("long f(void) { return (1 << 31) < 0; }", 1);
    check("long f(void) { int x = 2147483647; x = x + 1; return x; }", -2147483648);
    check("long f(void) { int a = 50000, b = 50000; return a * b; }", -1794967296);
    check("long f(void) { return ~0u / 3 + ~5 + -(-2147483647 - 1); }", 3579139407);
    check(
        "long f(void) { unsigned long long a = 1ull << 63; return (a >> 60) + (long)(a / 3 % 1000); }",
        610,
    );
    check(r#"long f(void) { return 'a' + '\377' + '\n' + sizeof 'a'; }"#, 110);
    check("long f(void) { enum { A = -2, B, C = 10, D }; return A * 1000 + B * 100 + C + D; }", -2079);
    check(
        "long f(void) { return sizeof(char) + 10 * sizeof(short) + 100 * sizeof(int *) + 1000 * sizeof(1 + 1L) + 10000 * sizeof(float); }",
        48821,
    );
    check("long f(void) { int i = 0; return sizeof(i++) + i; }", 4);
    check(
        "long f(void) { _Bool b = 0.5, c = 256, d = (char *)0, e = -1; return b * 8 + c * 4 + d * 2 + e; }",
        13,
    );
    check("long f(void) { _Bool b = 3; return b + b + ~b; }", 0);
    check(
        "long f(void) { return (unsigned char)300 + (signed char)200 + (short)70000 + (int)5000000000; }",
        705037156,
    );
    check("long f(void) { unsigned x = 5; return x - 6 > 0; }", 1);
    check("long f(void) { long l = -1; unsigned u = l; return u == 0xffffffff; }", 1);
    check("long f(void) { return 0x7fffffff + 0u + 010 + 0b101; }", 2147483660);
    check("long f(void) { int a = 3; return a << 2 >> 1 & 7 | 8 ^ 1; }", 15);
    check("long f(void) { signed char a = -1; unsigned char b = a; return a == b; }", 0);
    check("long f(void) { unsigned a = 1; long b = -1; return a > b; }", 1);
    check("long f(void) { int x = -2147483647 - 1; return x == -x; }", 1);
    check("long f(void) { __int128 x = (__int128)1 << 100; return (long)(x >> 90); }", 1024);
    check("long f(void) { return 5 & 3 == 3; }", 1);
}

#[test]
fn floats() {
    check(
        "long f(void) { float f = 0.1f; double d = 0.1; return (f == d) * 10 + (f < d) + ((float)d == f); }",
        1,
    );
    check("long f(void) { float a = 16777216; return a + 1 == a; }", 1);
    check(
        "long f(void) { float a = 1.0f / 3; double b = 1.0 / 3; return (a == b) + 2 * (a * 3 == 1) + 4 * (b * 3 == 1); }",
        6,
    );
    check("long f(void) { return (int)2.9 * 100 + (int)-2.9 * 10 + (unsigned char)200.7; }", 380);
    check("long f(void) { return 7 / 2 * 2.0 + 7 / 2.0; }", 9);
    check(
        "long f(void) { double z = 0; double i = 1 / z, n = z / z; return (i > 1e308) + 2 * (n == n) + 4 * (n != n) + 8 * (n < 1) + 16 * !(n >= 1); }",
        21,
    );
    check(
        "long f(void) { unsigned long u = 18446744073709551615ul; float f = u; double d = u; return (f == 18446744073709551616.0) + 2 * (d == f); }",
        3,
    );
    check("long f(void) { long l = 9007199254740993; double d = l; return (long)d - l; }", -1);
    check("long f(void) { int i = 16777217; float f = i; return (int)f; }", 16777216);
    check("long f(void) { double d = 3000000000.0; unsigned u = d; return u; }", 3000000000);
    check("long f(void) { double d = -0.0; return (d == 0) + 2 * (1 / d < 0) + 4 * !d; }", 7);
    check(
        "long f(void) { float a = 0.1f, b = 0.2f; return (a + b == 0.3f) + 2 * (a + b == 0.3) + 4 * ((double)a + b == (float)(a + b)); }",
        1,
    );
    check("long f(void) { double d = 1e-3; return -d < 0 && +d > 0; }", 1);
    check("long f(void) { char c = 65.9; return c + 0.5; }", 65);
}

#[test]
fn statements_and_objects_at_once() {
    check(
        "long f(void) { int n = 0, i = 0; do { switch (i) { case 2: continue; case 4: goto out; } n += i; } while (++i < 9); out: return n * 10 + i; }",
        44,
    );
    check(
        "long f(void) { long r = 0; int i = 1; switch (1) { for (i = 0; i < 3; i++) { default: r = r * 2 + 1; if (r > 20) break; } } return r; }",
        3,
    );
    check(
        "long f(void) { volatile int v = 3; v += v; v++; volatile char c = 200; return v * 1000 + c; }",
        6944,
    );
    check(
        r#"struct op { int (*run)(int, int); const char *n; }; static int add(int a, int b) { return a + b; } static int sub(int a, int b) { return a - b; } static const struct op ops[] = {{add, "+"}, {.n = "-", .run = sub}}; long f(void) { long r = 0; for (unsigned i = 0; i < sizeof ops / sizeof *ops; i++) { const struct op *o = &ops[i]; r = r * 1000 + o->run(7, 3) * 100 + *o->n; } return r; }"#,
        1043445,
    );
    check(
        "long f(void) { signed char c; int i; unsigned char u; i = c = u = 0x1ff; return i * 1000 + u; }",
        -745,
    );
    check(
        r#"static int g[2][3] = {{1, [2] = 3}, {[0] = 4}}; static struct { char a[3]; short b[2]; } t[] = {[1] = {"xy", {1, 2}}, [0].b[1] = 9}; long f(void) { return g[0][2] * 1000 + g[1][0] * 100 + t[0].b[1] * 10 + t[1].b[1] + t[1].a[1] + sizeof t; }"#,
        3629,
    );
    check(
        "long f(void) { int x = 5; int *p = &x, **q = &p; **q += 2; int y = 9; *q = &y; (*p)--; return x * 10 + y; }",
        78,
    );
    check(
        "long f(void) { int r = 0; for (int i = 0, j = 10; i < j; i += 2, j--) r += i * j; return r; }",
        92,
    );
    check(
        r#"long f(void) { const char *s = "ab" "cd"; long n = 0; while (*s) n = n * 10 + (*s++ - 'a'); return n; }"#,
        123,
    );
    check(
        "struct v { int n; int a[4]; }; static struct v push(struct v v, int x) { v.a[v.n++] = x; return v; } long f(void) { struct v v = {0}; for (int i = 0; i < 4; i++) v = push(v, i * i); struct v w = v; w.a[3]++; return v.a[3] * 100 + w.a[3] * 10 + v.n; }",
        1004,
    );
    check(
        "union u { struct { short a, b; } s; int i; double d; }; static union u mk(int i) { union u r; r.i = i; return r; } long f(void) { union u x = mk(0x20001), y; y = x; y.s.b++; return y.i; }",
        196609,
    );
    check(
        "long f(void) { unsigned char b[8] = {1, 2, 3, 4, 5, 6, 7, 8}; unsigned x = *(unsigned short *)(b + 2); return x; }",
        1027,
    );
    check(
        "long f(void) { int a[4] = {4, 3, 2, 1}; int *p = a + 3; long r = 0; while (p >= a) r = r * 10 + *p--; return r + (p - a); }",
        1233,
    );
    check(
        "long f(void) { double d = 1; int i = 2; float g = 3; return (d + i) / g == 1.0 && i / 4 == 0 && i / 4.0f == 0.5; }",
        1,
    );
    check(
        "long f(void) { long r = 0; for (int i = 0; i < 3; i++) { static int s = 5; int t = s++; int *p = &t; *p += i; r = r * 100 + t; } return r; }",
        50709,
    );
}

#[test]
fn conversions_and_scopes_at_once() {
    check("long f(void) { unsigned char c = 0xf0; return (c << 4) + (c >> 4) + ~c + -c + !c; }", 3374);
    check("long f(void) { unsigned short a = 60000, b = 60000; return (unsigned)(a * b) > 0x7fffffff; }", 1);
    check(
        "long f(void) { long long m = -9223372036854775807LL - 1; return m / 10 % 7 + (m < 0) + (int)(m >> 62); }",
        -1,
    );
    check(
        "long f(void) { int i = 3, r; r = i > 2 ? i < 5 ? 1 : 2 : 3; r = r * 10 + (i & 1 ? i | 4 : i ^ 1); return r; }",
        17,
    );
    check(
        "static int depth(int n) { int local = n; int *p = &local; if (n) depth(n - 1); return *p; } long f(void) { return depth(5); }",
        5,
    );
    check(
        "static void fill(char *s, int n) { while (n-- > 0) s[n] = 'a' + n; } long f(void) { char b[6] = {0}; fill(b + 1, 4); return b[0] + b[1] * 2 + b[4] * 3 + b[5]; }",
        494,
    );
    check("long f(void) { int x = 0; if (x++ == 0 && x-- == 1 || x++) x += 10; return x; }", 10);
    check(
        "long f(void) { enum { N = 4 }; int a[N] = {1, 1}; for (int i = 2; i < N; i++) a[i] = a[i - 1] + a[i - 2]; return a[N - 1] << N; }",
        48,
    );
    check(
        "struct n { int v; struct n *l, *r; }; static int sum(const struct n *t) { return t ? t->v + sum(t->l) + sum(t->r) : 0; } long f(void) { struct n a = {1}, b = {2, &a}, c = {3, &b, &(struct n){4}}; return sum(&c); }",
        10,
    );
    check(
        "struct b { unsigned x : 3, y : 5; int z : 6; }; long f(void) { struct b a[2] = {{1, 2, -3}, {.z = 31}}; a[1] = a[0]; a[1].y |= 16; a[0].z *= 5; return a[1].y * 1000 + a[1].z * 10 + a[0].z; }",
        17955,
    );
    check(
        r#"long f(void) { char *p = "x"; return (p == 0) + 2 * (p != 0) + 4 * !p + 8 * (p && *p) + 16 * (p[1] || 0); }"#,
        10,
    );
    check("long f(void) { int a = 1, b = 2; a ^= b; b ^= a; a ^= b; return a * 10 + b; }", 21);
    check("long f(void) { float s = 0; for (float x = 0; x < 1; x += 0.1f) s++; return s; }", 10);
    check(
        "long f(void) { unsigned u = 3; int i = -1; long l = u + i; unsigned long m = u * (long)i; return l * 10 + (m > 100); }",
        21,
    );
    check("long f(void) { short s = 1; s = s << 15; int i = 1; i <<= 31; return s + (i < 0); }", -32767);
    check("long f(void) { int x = ({ int y = ({ int z = 2; z * 3; }); y + 1; }); return x; }", 7);
    check(
        "static int id(int x) { return x; } long f(void) { int a[3] = {id(1), id(2) + id(3), -id(4)}; return a[0] * 100 + a[1] * 10 - a[2]; }",
        154,
    );
    check(
        "extern int e; int e = 7; static int t; static int t = 4; long f(void) { extern int e; return e * 10 + t; }",
        74,
    );
    check(
        r#"static char *pick(int k) { return k ? "yes" : "no"; } long f(void) { return pick(0)[1] * 1000 + *pick(5) + sizeof(char[3]); }"#,
        111124,
    );
    check(
        "long f(void) { unsigned long a = -1; unsigned b = a; int c = b; short d = 40000; return a / 2 % 1000 + b % 1000 + c + d; }",
        -24435,
    );
    check(
        "int puts(const char *); struct s { int x; } g = {3}; static struct s *get(void) { g.x++; return &g; } long f(void) { get()->x += 5; return g.x; }",
        9,
    );
    check("long f(void) { int n = 2; return sizeof(int[n]); }", 8);
}

#[test]
fn undefined_behaviour_ends_the_run() {
    use UndefinedKind::*;
    undefined("long f(void) { int x; return x; }", Uninitialised);
    undefined("long f(void) { int x, *p = &x; return *p; }", Uninitialised);
    undefined(
        "long f(void) { int r = 0; for (int i = 0; i < 2; i++) { int x; if (!i) x = 1; r += x; } return r; }",
        Uninitialised,
    );
    undefined("long f(void) { struct { int a, b; } s; s.a = 1; return s.a + s.b; }", Uninitialised);
    undefined(
        "long f(void) { long r = 0; switch (1) { for (int i = 0; i < 3; i++) { default: r++; } } return r; }",
        Uninitialised,
    );
    undefined("static int g(int x) { if (x) return 1; } long f(void) { return g(0); }", MissingReturn);
    undefined("long f(void) { char *s = \"ab\"; s[0] = 1; return 0; }", ReadOnly);
    undefined("long f(void) { int z = 0; return 1 / z; }", DivisionByZero);
    undefined("long f(void) { int z = 0; return 1 % z; }", DivisionByZero);
    undefined("long f(void) { int n = 32; return 1 << n; }", ShiftCount);
    undefined("long f(void) { long n = 1L << 32; return 1 << n; }", ShiftCount);
    undefined("long f(void) { signed char n = -1; return 1L >> n; }", ShiftCount);
    undefined("long f(void) { double d = 1e10; return (int)d; }", FloatToInt);
    undefined("long f(void) { int a[3] = {0}; int i = 3; return a[i]; }", OutOfBounds);
    undefined("long f(void) { int *p = 0; return *p; }", NullDereference);
}

#[test]
fn variable_arguments() {
    let start = "#include <stdarg.h>\n#include <stdio.h>\n#include <string.h>\n";
    let check = |source: &str, expected| check(&format!("{start}{source}"), expected);
    check(
        "static long s(int n, ...) { va_list l; va_start(l, n); long r = 0; while (n--) r = r * 10 + va_arg(l, int); va_end(l); return r; } long f(void) { return s(3, 1, 2, 3); }",
        123,
    );
    check(
        "static long s(int n, ...) { va_list l, m; va_start(l, n); n = va_arg(l, int); va_copy(m, l); double d = va_arg(l, double); double e = va_arg(m, double); va_end(m); va_end(l); return n * 100 + d * 10 + e; } long f(void) { return s(0, 4, 2.0); }",
        422,
    );
    check(
        "static long g(va_list l) { return *va_arg(l, char *); } static long s(int n, ...) { va_list l; va_start(l, n); long r = g(l); va_end(l); return r; } long f(void) { return s(0, \"A\"); }",
        65,
    );
    check(
        "static int p(char *b, const char *t, ...) { va_list l; va_start(l, t); int n = vsnprintf(b, 9, t, l); va_end(l); return n; } long f(void) { char b[9]; int n = p(b, \"%d-%s\", 12, \"xy\"); return n * 10 + (strcmp(b, \"12-xy\") == 0); }",
        51,
    );
}

#[test]
fn arguments_that_nobody_gave_are_not_known() {
    let start = "#include <stdarg.h>\n#include <stdio.h>\n";
    for body in [
        "(int n, ...) { va_list l; va_start(l, n); return va_arg(l, int); }",
        "(int n, ...) { va_list l; char b[9]; va_start(l, n); return vsnprintf(b, 9, \"%d\", l); }",
        "(int n, ...) { va_list l; int x; va_start(l, n); return vsscanf(\"1\", \"%d\", l); }",
    ] {
        unmodelled(&format!("{start}int f{body}"));
    }
    // Where all that is given is known, the one that is missing is.
    let inner = "static int s(int n, ...) { va_list l; va_start(l, n); return va_arg(l, int); } int f(void) { return s(1); }";
    undefined(&format!("{start}{inner}"), UndefinedKind::BadCall);
}

#[test]
fn long_doubles_have_64_bits() {
    check("long f(void) { long double d = 1; d /= 3; return d * 3; }", 1);
    check("long f(void) { double x = 2; double *p = &x; *p = 3.0L * x; return x; }", 6);
    check("long f(void) { double x = 2; long double y = x; return y > 1; }", 1);
    check("long f(void) { long double x = 9007199254740993; return x++ - 9007199254740990.0L; }", 3);
    check("long f(void) { return 0.1L == 0.1; }", 0);
    check("long f(void) { long double a[2] = {1, 2}, *p = a; *++p *= 4; return a[1] + sizeof a; }", 40);
    check(
        "struct s { char c; long double d; }; struct s g = {1, 2.5}; long f(void) { struct s x = g; x.d += 0.5L; return x.d * 2 + sizeof x; }",
        38,
    );
    check("static long double half(long double x) { return x / 2; } long f(void) { return half(7) * 2; }", 7);
    check(
        "union u { long double d; unsigned long b[2]; }; long f(void) { union u x; x.d = 1; return x.b[0] >> 63; }",
        1,
    );
    check("long f(void) { long double z = 0, n = z / z; return (n == n) + 2 * (n != n) + 4 * !(n < 1); }", 6);
    check(
        "long f(void) { unsigned long x = -1ul; long double d = x; return (unsigned long)d == x && d == 18446744073709551615.0L; }",
        1,
    );
    undefined("long f(void) { long double d = 1e30L; return (long)d; }", UndefinedKind::FloatToInt);
}

#[test]
fn what_is_not_modelled_is_said() {
    unmodelled("long f(void) { int i = 1; i = i++ + i++; return i; }");
    unmodelled("long f(void) { int i = 1, a[3] = {0}; a[i] = i++; return a[1]; }");
    unmodelled(
        "struct s { unsigned long a : 40; }; long f(void) { struct s x = {1}; x.a <<= 36; return x.a >> 4; }",
    );
    unmodelled("long f(void) { int r = 1; __asm__(\"\" : \"=r\"(r)); return r; }");
}

/// What `sizeof` was asked of in the body of `f`, in order.
#[track_caller]
fn check_sizes(body: &str, expected: &[&str]) {
    let source = format!(
        "struct a {{ int x; char name[16]; }}; typedef struct {{ long k, l; }} t; typedef int n;\n\
         #define LEN(a) (sizeof(a) / sizeof((a)[0]))\n#define NEW(t) make(sizeof(t))\n#define OF(t, f) sizeof(((t *)0)->f)\n\
         #define KEEP(p, v) (p)->x = (v), make(sizeof(int))\n\
         void make(unsigned long), use(unsigned long, ...);\n\
         void f(struct a *p, t *q)\n{{\nchar first[16];\nint second[4];\n{body}\n}}\n"
    );
    let tree = MemoryTree::new([("t.c", source.as_bytes())]);
    let loaded = frontend::load_unit(&tree, Path::new("t.c"), &Default::default()).expect("it parses");
    let f = loaded.unit.function("f").expect("a function");
    let records = &loaded.unit.records;
    let name = |id: &crate::ir::RecordId| records.get(id.0 as usize).map_or("", |r| &r.name).to_string();
    let found = f.records.sizes.iter().map(|s| {
        let of = match &s.of {
            Measured::Record(id) => name(id),
            Measured::Variable(variable, _) => variable.to_string(),
            Measured::Member(id, member, _) => format!("{}.{member}", name(id)),
            Measured::Other => "?".to_owned(),
        };
        format!("{of} {}", s.value)
    });
    assert_eq!(found.collect::<Vec<_>>(), expected, "{body}");
}

#[test]
fn sizes_are_of_what_was_asked() {
    check_sizes("make(sizeof first);\nmake(sizeof(second));", &["first 16", "second 16"]);
    check_sizes("make(sizeof(struct a));\nmake(sizeof *p);\nmake(sizeof(p[1]));", &["a 20", "a 20", "a 20"]);
    check_sizes("make(sizeof(t));\nmake(sizeof(*q));\nmake(sizeof(const t));", &["t 16", "t 16", "t 16"]);
    check_sizes("make(sizeof p->name);\nmake(sizeof(p->name[0]));", &["a.name 16", "? 1"]);
    check_sizes("make(sizeof(int));\nmake(sizeof(n));\nmake(sizeof(struct a *));", &["? 4", "? 4", "? 8"]);
    check_sizes("make(sizeof(char[16]));\nmake(sizeof(struct a[2]));", &["? 16", "? 40"]);
    check_sizes(
        "NEW(struct a);\nNEW(t);\nNEW(first);\nNEW(p->name);",
        &["a 20", "t 16", "first 16", "a.name 16"],
    );
    check_sizes("make(OF(struct a, name));\nmake(OF(struct a, x));", &["a.name 16", "a.x 4"]);
    check_sizes("KEEP(p, 3);", &["? 4"]);
    // A name of an object hides that of a type.
    check_sizes("char t[16];\nmake(sizeof(t));", &["t 16"]);
    // Numbers that are equal, or were computed with.
    check_sizes("use(sizeof first, 16);", &["? 16"]);
    check_sizes("use(sizeof first, sizeof second);", &["first 16", "second 16"]);
    check_sizes("make(sizeof first - 1);\nmake(LEN(second));", &["? 16", "? 4", "? 16"]);
    check_sizes("use(1, p->name, sizeof p->name, &first[16]);", &["a.name 16"]);
    check_sizes("make(__builtin_offsetof(struct a, name));", &[]);
}
