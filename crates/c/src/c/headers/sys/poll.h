#ifndef __INVDIFF_SYS_POLL_H
#define __INVDIFF_SYS_POLL_H
#include <poll.h>
#endif
