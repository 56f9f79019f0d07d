#ifndef __INVDIFF_MALLOC_H
#define __INVDIFF_MALLOC_H
#include <stdlib.h>
struct mallinfo { int arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost; };
struct mallinfo2 { size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost; };
#define M_MMAP_THRESHOLD (-3)
#define M_TRIM_THRESHOLD (-1)
#define M_ARENA_MAX (-8)
struct mallinfo mallinfo(void);
struct mallinfo2 mallinfo2(void);
int mallopt(int, int);
int malloc_trim(size_t);
size_t malloc_usable_size(void *);
void malloc_stats(void);
void *pvalloc(size_t);
void cfree(void *);
#endif
