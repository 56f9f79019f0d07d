#ifndef __INVDIFF_STDIO_EXT_H
#define __INVDIFF_STDIO_EXT_H
#include <stdio.h>
size_t __fbufsize(FILE *);
int __freading(FILE *);
int __fwriting(FILE *);
int __freadable(FILE *);
int __fwritable(FILE *);
int __flbf(FILE *);
void __fpurge(FILE *);
size_t __fpending(FILE *);
int __fsetlocking(FILE *, int);
#define FSETLOCKING_INTERNAL 1
#define FSETLOCKING_BYCALLER 2
#endif
