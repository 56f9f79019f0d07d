#ifndef __INVDIFF_UTMPX_H
#define __INVDIFF_UTMPX_H
#include <utmp.h>
#define utmpx utmp
#define getutxent getutent
#define getutxid getutid
#define getutxline getutline
#define pututxline pututline
#define setutxent setutent
#define endutxent endutent
#endif
