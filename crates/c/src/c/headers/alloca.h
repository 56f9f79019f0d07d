#ifndef __INVDIFF_ALLOCA_H
#define __INVDIFF_ALLOCA_H
#include <stddef.h>
#undef alloca
#define alloca(n) __builtin_alloca(n)
#endif
