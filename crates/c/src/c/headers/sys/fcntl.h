#ifndef __INVDIFF_SYS_FCNTL_H
#define __INVDIFF_SYS_FCNTL_H
#include <fcntl.h>
#endif
