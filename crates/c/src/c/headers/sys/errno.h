#ifndef __INVDIFF_SYS_ERRNO_H
#define __INVDIFF_SYS_ERRNO_H
#include <errno.h>
#endif
