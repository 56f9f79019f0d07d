#ifndef __INVDIFF_MONETARY_H
#define __INVDIFF_MONETARY_H
#include <sys/types.h>
ssize_t strfmon(char *restrict, size_t, const char *restrict, ...);
#endif
