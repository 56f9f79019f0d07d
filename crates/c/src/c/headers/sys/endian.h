#ifndef __INVDIFF_SYS_ENDIAN_H
#define __INVDIFF_SYS_ENDIAN_H
#include <endian.h>
#endif
