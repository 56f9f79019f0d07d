#ifndef __INVDIFF_VALUES_H
#define __INVDIFF_VALUES_H
#include <limits.h>
#include <float.h>
#define MAXINT 2147483647
#define MAXSHORT 32767
#define MAXLONG LONG_MAX
#define MAXDOUBLE DBL_MAX
#define MINDOUBLE DBL_MIN
#endif
