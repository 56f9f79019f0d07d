/* The compiler's own, but for the type of flags: a structure, as with other compilers, of which no
   expression but the operations on flags may be made. */
#define atomic_flag __invdiff_flag
#include_next <stdatomic.h>
#undef atomic_flag
#ifndef __INVDIFF_FLAG
#define __INVDIFF_FLAG
typedef struct { unsigned char __byte; } atomic_flag;
#endif
