#ifndef __INVDIFF_SETJMP_H
#define __INVDIFF_SETJMP_H
#include <sys/types.h>
#include <sys/_time.h>
typedef struct { long __registers[8]; int __mask_was_saved; sigset_t __saved_mask; } jmp_buf[1];
typedef jmp_buf sigjmp_buf;
int setjmp(jmp_buf) __attribute__((__returns_twice__));
int _setjmp(jmp_buf) __attribute__((__returns_twice__));
int sigsetjmp(sigjmp_buf, int) __attribute__((__returns_twice__));
_Noreturn void longjmp(jmp_buf, int);
_Noreturn void _longjmp(jmp_buf, int);
_Noreturn void siglongjmp(sigjmp_buf, int);
#define setjmp(e) setjmp(e)
#define sigsetjmp(e, s) sigsetjmp(e, s)
#endif
