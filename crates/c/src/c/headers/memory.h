#ifndef __INVDIFF_MEMORY_H
#define __INVDIFF_MEMORY_H
#include <string.h>
#endif
