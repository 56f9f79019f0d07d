#ifndef __INVDIFF_ASM_UNISTD_H
#define __INVDIFF_ASM_UNISTD_H
#include <syscall.h>
#endif
