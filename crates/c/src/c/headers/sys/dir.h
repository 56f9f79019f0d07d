#ifndef __INVDIFF_SYS_DIR_H
#define __INVDIFF_SYS_DIR_H
#include <dirent.h>
#define direct dirent
#endif
