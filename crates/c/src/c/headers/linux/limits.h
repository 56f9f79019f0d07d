#ifndef __INVDIFF_LINUX_LIMITS_H
#define __INVDIFF_LINUX_LIMITS_H
#include <limits.h>
#endif
