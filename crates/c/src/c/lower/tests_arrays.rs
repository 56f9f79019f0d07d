//! Arrays of variable length and `alloca`, a few lines a case. Expectations are what compilers make of it.

use super::tests::{check, undefined, unmodelled};
use crate::ir::UndefinedKind::{ArrayLength, OutOfBounds, Uninitialised, UseAfterFree};

#[test]
fn arrays_have_the_size_of_their_declaration() {
    check("long f(void) { int n = 3; int a[n]; n = 9; a[0] = 1; return sizeof a * 10 + a[0]; }", 121);
    check(
        "long f(void) { int n = 3, m = 2; int a[n][m]; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) a[i][j] = 10 * i + j; return a[2][1] * 100 + sizeof a + sizeof a[0] + (&a[2][0] - &a[0][0]); }",
        2136,
    );
    check(
        "long f(void) { int n = 2; char s[n + 1][4][n]; s[2][3][1] = 7; return sizeof s * 1000 + sizeof s[0] * 10 + (&s[2] - &s[0]) + ((char *)s)[23]; }",
        24089,
    );
    check(
        "long f(void) { int n = 2; typedef short T[n++]; n++; T a, b[3]; return sizeof a + 10000 * n; }",
        40004,
    );
    check(
        "long f(void) { int n = 3; int a[4][n]; int (*p)[n] = a; for (int i = 0; i < 12; i++) a[i / 3][i % 3] = i; n = 1; p++; p += 2; return (*p)[1] + 100 * (p - a) + 1000 * sizeof *p + 100000L * p[-1][2]; }",
        812310,
    );
    check(
        "static int g(int n, int m, int a[n][m]) { n = m = 0; return a[1][2] + 100 * (int)sizeof a[0]; } long f(void) { int b[2][5] = {{1, 2, 3}, {4, 5, 6}}; return g(2, 5, b); }",
        2006,
    );
    check(
        "static int g(int n, int a[n++], int b[++n]) { return n + a[0] + b[0]; } long f(void) { int a[3] = {5}; return g(3, a, a); }",
        15,
    );
    check(
        "static int g(int n) { int a[n]; a[n - 1] = n; return n > 1 ? g(n - 1) * 3 + a[n - 1] : a[0]; } long f(void) { return g(6); }",
        543,
    );
    check(
        "long f(void) { long s = 0; for (int i = 1; i < 6; i++) { int a[i]; for (int k = 0; k < i; k++) a[k] = k; if (i == 2) continue; if (i == 5) break; s = s * 10 + a[i - 1] + sizeof a; } return s; }",
        559,
    );
    check(
        "long f(void) { int i = 0; long s = 0; again: i++; { int a[i + 1]; a[i] = i; s += a[i] * 10; if (i < 4) goto again; if (i > 3) goto out; s = -1; } out: return s; }",
        100,
    );
    check(
        "long f(void) { int i = 0; long s = 0; again: ; int a[i + 1]; a[i] = 3; s += a[i] + sizeof a; if (++i < 4) goto again; return s; }",
        52,
    );
    check(
        "long f(void) { int x[6] = {1, 2, 3, 4, 5, 6}; int m = 3; int *p = x; return ((int (*)[m])p)[1][2] * 10 + sizeof(int[m]) + sizeof(*(int (*)[m])p); }",
        84,
    );
    check(
        "long f(void) { int n = 4; int a[n]; __typeof__(a) b; b[3] = 2; a[3] = 1; return sizeof b * 10 + b[3] + a[3]; }",
        163,
    );
    check(
        "long f(void) { int n = 3; struct p { int x, y; } a[n]; a[2].y = 5; struct p *q = &a[1]; q[1].x = 4; return a[2].x * 10 + a[2].y + sizeof a; }",
        69,
    );
    check(
        "long f(void) { int n = 3; return ({ int a[n]; a[0] = 2; a[1] = 3; a[0] * a[1] + (int)sizeof a; }); }",
        18,
    );
    check(
        "long f(void) { unsigned char n = 200; char a[n + 100]; a[299] = 1; return sizeof a + a[299]; }",
        301,
    );
    check(
        "#include <alloca.h>\nlong f(void) { int s = 0, *all[3]; for (int i = 0; i < 3; i++) { int *p = alloca(4 * (i + 1)); p[i] = i + 1; all[i] = p; } for (int i = 0; i < 3; i++) s = s * 10 + all[i][i]; return s; }",
        123,
    );
    check(
        "#include <string.h>\nlong f(void) { const char *w = \"hello\"; int n = strlen(w); char t[n + 1]; for (int i = 0; i < n; i++) t[i] = w[n - 1 - i]; t[n] = 0; return strcmp(t, \"olleh\") + sizeof t; }",
        6,
    );
    check(
        "long f(void) { int n = 2, i = 0; int a[n][3]; sizeof a[i++]; return i * 100 + (int)sizeof(int[i + 5]) + (a + 1 == &a[1]); }",
        21,
    );
    check(
        "long f(void) { int n = 3; int a[n], *p = a, *q = &a[n]; while (p < q) *p++ = 7; return a[0] + a[1] + a[2] + (q - a); }",
        24,
    );
    check(
        "long f(void) { int n = 3; switch (n) { case 3: { int a[n]; a[1] = 4; n = a[1]; break; } default: n = 0; } do { char b[n]; b[0] = n; n -= b[0] / 2; } while (n > 1); return n; }",
        1,
    );
}

#[test]
fn what_is_no_array_or_outside_of_one_is_an_event() {
    undefined("long f(void) { int n = 0; int a[n]; return sizeof a; }", ArrayLength);
    undefined("long f(void) { int n = -3; int a[n]; return 1; }", ArrayLength);
    undefined("long f(void) { unsigned long n = -1; int a[n]; return 1; }", ArrayLength);
    undefined("long f(void) { long n = 1L << 40; int a[n][n]; return 1; }", ArrayLength);
    undefined("long f(void) { int n = 0; typedef int T[n]; return sizeof(T); }", ArrayLength);
    undefined(
        "static int g(int m, int a[2][m]) { return 1; } long f(void) { int b[2]; return g(0, b); }",
        ArrayLength,
    );
    undefined("long f(void) { int n = 3; int a[n]; return a[0]; }", Uninitialised);
    undefined("long f(void) { int n = 3; int a[n]; a[3] = 1; return 1; }", OutOfBounds);
    undefined("long f(void) { int n = 3; int a[n]; a[-1] = 1; return 1; }", OutOfBounds);
    undefined(
        "long f(void) { int n = 3, s = 0; for (int i = 0; i < 2; i++) { int a[n]; if (i) s += a[1]; a[1] = 1; } return s; }",
        Uninitialised,
    );
    undefined("long f(void) { int n = 3, *p; { int a[n]; a[0] = 1; p = a; } return *p; }", UseAfterFree);
    undefined(
        "long f(void) { int n = 3, *p = 0; for (int i = 0; i < 2; i++) { int a[n]; a[0] = 1; if (p) return *p; p = a; } return 0; }",
        UseAfterFree,
    );
    undefined(
        "long f(void) { int n = 3, *p = 0; while (1) { int a[n]; a[0] = 1; p = a; break; } return *p; }",
        UseAfterFree,
    );
    undefined(
        "long f(void) { int n = 3, *p = 0; { int a[n]; a[0] = 1; p = a; goto out; } out: return *p; }",
        UseAfterFree,
    );
    undefined(
        "static int *g(int n) { int a[n]; a[0] = 1; return a; } long f(void) { return *g(3); }",
        UseAfterFree,
    );
    undefined(
        "#include <alloca.h>\nstatic int *g(int n) { int *a = alloca(n); a[0] = 1; return a; } long f(void) { return *g(8); }",
        UseAfterFree,
    );
    undefined(
        "#include <alloca.h>\nlong f(void) { int n = 4, *p; { int a[n]; p = alloca(8); *p = 3; } return *p; }",
        UseAfterFree,
    );
    undefined("#include <alloca.h>\nlong f(void) { char *p = alloca(3); p[3] = 1; return 1; }", OutOfBounds);
}

#[test]
fn what_no_compiler_could_hold_is_left_open() {
    unmodelled("long f(void) { int n = 1 << 30; char a[n]; a[0] = 1; return a[0]; }");
}
