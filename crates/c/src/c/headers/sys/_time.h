/* Types that several headers share. */
#ifndef __INVDIFF_SYS__TIME_H
#define __INVDIFF_SYS__TIME_H
struct timespec { time_t tv_sec; long tv_nsec; };
struct timeval { time_t tv_sec; suseconds_t tv_usec; };
typedef struct { unsigned long __val[1024 / (8 * sizeof(long))]; } sigset_t;
typedef sigset_t __sigset_t;
#endif
