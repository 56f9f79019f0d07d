# 1 "b.c"
# 1 "<built-in>" 1
# 1 "b.h" 1
extern int printf(const char *, ...) __attribute__((format(printf, 1, 2)));
# 3 "b.c" 2
static inline __attribute__((noinline)) int twice(int x) { __asm__("nop"); return x * 2; }
long double q(long double x) { return x / 3.0L; }
