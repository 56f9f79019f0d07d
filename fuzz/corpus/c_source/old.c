f(a, p) int a; char *p; { goto out; while (*p++) a <<= 1; out: return a; }
union u { float f; unsigned long long l; };
_Bool g(union u *u, ...) { do { u->l ^= 0xffULL; } while (u->f > 1e-3f); return !u; }
int h(int n) { int v[n]; return ({ int t = n; t * sizeof v; }); }
