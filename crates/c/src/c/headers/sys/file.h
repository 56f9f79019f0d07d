#ifndef __INVDIFF_SYS_FILE_H
#define __INVDIFF_SYS_FILE_H
#include <fcntl.h>
int flock(int, int);
#endif
