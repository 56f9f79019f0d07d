#ifndef __INVDIFF_SYS_TYPES_H
#define __INVDIFF_SYS_TYPES_H
#include <stddef.h>
#include <stdint.h>

typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef long long quad_t;
typedef unsigned long long u_quad_t;
typedef uint8_t u_int8_t;
typedef uint16_t u_int16_t;
typedef uint32_t u_int32_t;
typedef uint64_t u_int64_t;
typedef unsigned char __u_char;
typedef int8_t __int8_t;
typedef uint8_t __uint8_t;
typedef int16_t __int16_t;
typedef uint16_t __uint16_t;
typedef int32_t __int32_t;
typedef uint32_t __uint32_t;
typedef int64_t __int64_t;
typedef uint64_t __uint64_t;

#ifdef __LP64__
typedef long ssize_t;
typedef long off_t;
typedef long register_t;
typedef unsigned long dev_t;
typedef unsigned long ino_t;
typedef unsigned long nlink_t;
typedef long blksize_t;
typedef long blkcnt_t;
typedef unsigned long fsblkcnt_t;
typedef unsigned long fsfilcnt_t;
typedef long off64_t;
typedef unsigned long ino64_t;
typedef long loff_t;
#else
typedef int ssize_t;
#if defined(_FILE_OFFSET_BITS) && _FILE_OFFSET_BITS == 64
typedef long long off_t;
typedef unsigned long long ino_t;
typedef long long blkcnt_t;
typedef unsigned long long fsblkcnt_t;
typedef unsigned long long fsfilcnt_t;
#else
typedef long off_t;
typedef unsigned long ino_t;
typedef long blkcnt_t;
typedef unsigned long fsblkcnt_t;
typedef unsigned long fsfilcnt_t;
#endif
typedef int register_t;
typedef unsigned long long dev_t;
typedef unsigned int nlink_t;
typedef long blksize_t;
typedef long long off64_t;
typedef unsigned long long ino64_t;
typedef long long loff_t;
#endif
typedef off_t __off_t;
typedef off64_t __off64_t;
typedef ssize_t __ssize_t;
typedef unsigned int mode_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef unsigned int id_t;
typedef int pid_t;
typedef pid_t __pid_t;
typedef uid_t __uid_t;
typedef mode_t __mode_t;
typedef long time_t;
typedef time_t __time_t;
typedef long clock_t;
typedef int clockid_t;
typedef void *timer_t;
typedef unsigned int useconds_t;
typedef long suseconds_t;
typedef int key_t;
typedef char *caddr_t;
typedef char *__caddr_t;
typedef int daddr_t;
typedef unsigned int socklen_t;
typedef unsigned short sa_family_t;

typedef struct { int __val[2]; } fsid_t;
typedef unsigned long pthread_t;
typedef union { char __size[4]; int __align; } pthread_mutexattr_t;
typedef union { char __size[4]; int __align; } pthread_condattr_t;
typedef union { char __size[8]; long __align; } pthread_rwlockattr_t;
typedef union { char __size[4]; int __align; } pthread_barrierattr_t;
typedef unsigned int pthread_key_t;
typedef int pthread_once_t;
typedef volatile int pthread_spinlock_t;
#ifdef __LP64__
typedef union { char __size[56]; long __align; } pthread_attr_t;
typedef union { int __kind_at[5]; char __size[40]; long __align; } pthread_mutex_t;
typedef union { char __size[48]; long long __align; } pthread_cond_t;
typedef union { char __size[56]; long __align; } pthread_rwlock_t;
typedef union { char __size[32]; long __align; } pthread_barrier_t;
#else
typedef union { char __size[36]; long __align; } pthread_attr_t;
typedef union { int __kind_at[4]; char __size[24]; long __align; } pthread_mutex_t;
typedef union { char __size[48]; long long __align; } pthread_cond_t;
typedef union { char __size[32]; long __align; } pthread_rwlock_t;
typedef union { char __size[20]; long __align; } pthread_barrier_t;
#endif

#include <sys/select.h>
#endif
