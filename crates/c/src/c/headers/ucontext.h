#ifndef __INVDIFF_UCONTEXT_H
#define __INVDIFF_UCONTEXT_H
#include <sys/types.h>
#include <sys/_time.h>
#include <signal.h>
typedef long long greg_t;
#define NGREG 23
typedef greg_t gregset_t[23];
enum {
    REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RDI, REG_RSI, REG_RBP, REG_RBX,
    REG_RDX, REG_RAX, REG_RCX, REG_RSP, REG_RIP, REG_EFL, REG_CSGSFS, REG_ERR, REG_TRAPNO, REG_OLDMASK, REG_CR2
};
typedef struct { gregset_t gregs; void *fpregs; unsigned long long __reserved1[8]; } mcontext_t;
typedef struct ucontext_t {
    unsigned long uc_flags;
    struct ucontext_t *uc_link;
    stack_t uc_stack;
    mcontext_t uc_mcontext;
    sigset_t uc_sigmask;
    unsigned long __fpregs_mem[64], __ssp[4];
} ucontext_t;
int getcontext(ucontext_t *);
int setcontext(const ucontext_t *);
int swapcontext(ucontext_t *restrict, const ucontext_t *restrict);
void makecontext(ucontext_t *, void (*)(void), int, ...);
#endif
