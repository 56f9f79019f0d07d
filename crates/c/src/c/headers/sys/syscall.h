#ifndef __INVDIFF_SYS_SYSCALL_H
#define __INVDIFF_SYS_SYSCALL_H
#include <syscall.h>
#endif
