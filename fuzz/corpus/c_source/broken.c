int f(int a { return a; }
#if X
#else
size_t g(uint8_t b) { return b +; }
#endif
unknown_t h(unknown_t *p) { return p->x ? *p : g(1)
