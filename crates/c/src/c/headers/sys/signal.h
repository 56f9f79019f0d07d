#ifndef __INVDIFF_SYS_SIGNAL_H
#define __INVDIFF_SYS_SIGNAL_H
#include <signal.h>
#endif
