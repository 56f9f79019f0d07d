#ifndef __INVDIFF_SYS_ACCT_H
#define __INVDIFF_SYS_ACCT_H
#include <sys/types.h>
#endif
