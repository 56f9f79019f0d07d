#ifndef __INVDIFF_SCHED_H
#define __INVDIFF_SCHED_H
#include <sys/types.h>
#include <sys/_time.h>
#define SCHED_OTHER 0
#define SCHED_NORMAL 0
#define SCHED_FIFO 1
#define SCHED_RR 2
#define SCHED_BATCH 3
#define SCHED_IDLE 5
#define SCHED_DEADLINE 6
#define CLONE_VM 0x100
#define CLONE_FS 0x200
#define CLONE_FILES 0x400
#define CLONE_SIGHAND 0x800
#define CLONE_VFORK 0x4000
#define CLONE_PARENT 0x8000
#define CLONE_THREAD 0x10000
#define CLONE_NEWNS 0x20000
#define CLONE_SYSVSEM 0x40000
#define CLONE_SETTLS 0x80000
#define CLONE_PARENT_SETTID 0x100000
#define CLONE_CHILD_CLEARTID 0x200000
#define CLONE_CHILD_SETTID 0x1000000
#define CLONE_NEWCGROUP 0x2000000
#define CLONE_NEWUTS 0x4000000
#define CLONE_NEWIPC 0x8000000
#define CLONE_NEWUSER 0x10000000
#define CLONE_NEWPID 0x20000000
#define CLONE_NEWNET 0x40000000
#define CPU_SETSIZE 1024
struct sched_param { int sched_priority; };
typedef struct { unsigned long __bits[1024 / (8 * sizeof(long))]; } cpu_set_t;
#define __CPU_WORD (8 * sizeof(unsigned long))
#define CPU_ZERO(s) ((void)__builtin_memset((s), 0, sizeof(cpu_set_t)))
#define CPU_SET(c, s) ((void)((s)->__bits[(c) / __CPU_WORD] |= 1UL << ((c) % __CPU_WORD)))
#define CPU_CLR(c, s) ((void)((s)->__bits[(c) / __CPU_WORD] &= ~(1UL << ((c) % __CPU_WORD))))
#define CPU_ISSET(c, s) (((s)->__bits[(c) / __CPU_WORD] & (1UL << ((c) % __CPU_WORD))) != 0)
int __sched_cpucount(size_t, const cpu_set_t *);
#define CPU_COUNT(s) __sched_cpucount(sizeof(cpu_set_t), (s))
int sched_yield(void);
int sched_get_priority_max(int);
int sched_get_priority_min(int);
int sched_getparam(pid_t, struct sched_param *);
int sched_setparam(pid_t, const struct sched_param *);
int sched_getscheduler(pid_t);
int sched_setscheduler(pid_t, int, const struct sched_param *);
int sched_rr_get_interval(pid_t, struct timespec *);
int sched_getcpu(void);
int sched_setaffinity(pid_t, size_t, const cpu_set_t *);
int sched_getaffinity(pid_t, size_t, cpu_set_t *);
int clone(int (*)(void *), void *, int, void *, ...);
int unshare(int);
int setns(int, int);
#endif
