#ifndef __INVDIFF_WAIT_H
#define __INVDIFF_WAIT_H
#include <sys/wait.h>
#endif
