#ifndef __INVDIFF_UTIME_H
#define __INVDIFF_UTIME_H
#include <sys/types.h>
struct utimbuf { time_t actime, modtime; };
int utime(const char *, const struct utimbuf *);
#endif
