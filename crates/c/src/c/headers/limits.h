#ifndef __INVDIFF_LIMITS_H
#define __INVDIFF_LIMITS_H
/* What POSIX and Linux add to the compiler's own limits.h, which comes next in the search. */
#include_next <limits.h>
#undef MB_LEN_MAX
#define MB_LEN_MAX 16
#define ARG_MAX 131072
#define CHILD_MAX 999
#define HOST_NAME_MAX 64
#define LOGIN_NAME_MAX 256
#define NAME_MAX 255
#define NGROUPS_MAX 65536
#define OPEN_MAX 1024
#define PATH_MAX 4096
#define PIPE_BUF 4096
#define LINK_MAX 127
#define MAX_CANON 255
#define MAX_INPUT 255
#define LINE_MAX 2048
#define IOV_MAX 1024
#define TTY_NAME_MAX 32
#define RE_DUP_MAX 32767
#define BC_BASE_MAX 99
#define COLL_WEIGHTS_MAX 255
#define PTHREAD_KEYS_MAX 1024
#define PTHREAD_STACK_MIN 16384
#define PTHREAD_DESTRUCTOR_ITERATIONS 4
#define SEM_VALUE_MAX 2147483647
#define XATTR_NAME_MAX 255
#define XATTR_SIZE_MAX 65536
#define NZERO 20
#define WORD_BIT 32
#ifdef __LP64__
#define SSIZE_MAX 9223372036854775807L
#define LONG_BIT 64
#else
#define SSIZE_MAX 2147483647
#define LONG_BIT 32
#endif
#define _POSIX_ARG_MAX 4096
#define _POSIX_CHILD_MAX 25
#define _POSIX_HOST_NAME_MAX 255
#define _POSIX_LINK_MAX 8
#define _POSIX_LOGIN_NAME_MAX 9
#define _POSIX_NAME_MAX 14
#define _POSIX_NGROUPS_MAX 8
#define _POSIX_OPEN_MAX 20
#define _POSIX_PATH_MAX 256
#define _POSIX_PIPE_BUF 512
#define _POSIX_SSIZE_MAX 32767
#define _POSIX_SYMLOOP_MAX 8
#define _POSIX_THREAD_KEYS_MAX 128
#define _POSIX2_LINE_MAX 2048
#define _XOPEN_PATH_MAX 1024
#define _XOPEN_IOV_MAX 16
#endif
