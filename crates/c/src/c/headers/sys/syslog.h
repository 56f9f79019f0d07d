#ifndef __INVDIFF_SYS_SYSLOG_H
#define __INVDIFF_SYS_SYSLOG_H
#include <syslog.h>
#endif
