#ifndef __INVDIFF_SYSCALL_H
#define __INVDIFF_SYSCALL_H
#define SYS_read 0
#define SYS_write 1
#define SYS_open 2
#define SYS_close 3
#define SYS_mmap 9
#define SYS_munmap 11
#define SYS_ioctl 16
#define SYS_getpid 39
#define SYS_clone 56
#define SYS_exit 60
#define SYS_fcntl 72
#define SYS_gettid 186
#define SYS_futex 202
#define SYS_clock_gettime 228
#define SYS_exit_group 231
#define SYS_tgkill 234
#define SYS_openat 257
#define SYS_getcpu 309
#define SYS_renameat2 316
#define SYS_getrandom 318
#define SYS_memfd_create 319
#define SYS_pidfd_send_signal 424
#define SYS_pidfd_open 434
#define __NR_read SYS_read
#define __NR_write SYS_write
#define __NR_gettid SYS_gettid
#define __NR_futex SYS_futex
#define __NR_getrandom SYS_getrandom
#define __NR_memfd_create SYS_memfd_create
#define __NR_renameat2 SYS_renameat2
#endif
