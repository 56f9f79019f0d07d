#ifndef __INVDIFF_SYS_UNISTD_H
#define __INVDIFF_SYS_UNISTD_H
#include <unistd.h>
#endif
