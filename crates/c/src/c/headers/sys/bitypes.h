#ifndef __INVDIFF_SYS_BITYPES_H
#define __INVDIFF_SYS_BITYPES_H
#include <sys/types.h>
#endif
