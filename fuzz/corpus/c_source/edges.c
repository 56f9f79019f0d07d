int f(int x) { return x / 0 + (1 << 99) + sizeof(struct s) + u8"\xff"[0]; }
#include "a.c"
_Static_assert(1, "");