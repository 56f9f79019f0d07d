#ifndef __INVDIFF_SYS_UCONTEXT_H
#define __INVDIFF_SYS_UCONTEXT_H
#include <ucontext.h>
#endif
