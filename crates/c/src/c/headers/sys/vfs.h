#ifndef __INVDIFF_SYS_VFS_H
#define __INVDIFF_SYS_VFS_H
#include <sys/statfs.h>
#endif
