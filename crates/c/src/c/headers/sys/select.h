#ifndef __INVDIFF_SYS_SELECT_H
#define __INVDIFF_SYS_SELECT_H
#include <sys/types.h>
#include <sys/_time.h>
#define FD_SETSIZE 1024
#define NFDBITS (8 * (int)sizeof(long))
#define __NFDBITS NFDBITS
typedef long fd_mask;
typedef long __fd_mask;
typedef struct { long fds_bits[1024 / (8 * sizeof(long))]; } fd_set;
#define FD_SET(d, s) ((void)((s)->fds_bits[(d) / NFDBITS] |= (long)(1UL << ((d) % NFDBITS))))
#define FD_CLR(d, s) ((void)((s)->fds_bits[(d) / NFDBITS] &= ~(long)(1UL << ((d) % NFDBITS))))
#define FD_ISSET(d, s) (((s)->fds_bits[(d) / NFDBITS] & (long)(1UL << ((d) % NFDBITS))) != 0)
#define FD_ZERO(s) ((void)__builtin_memset((s), 0, sizeof(fd_set)))
int select(int, fd_set *restrict, fd_set *restrict, fd_set *restrict, struct timeval *restrict);
int pselect(int, fd_set *restrict, fd_set *restrict, fd_set *restrict, const struct timespec *restrict,
            const sigset_t *restrict);
#endif
