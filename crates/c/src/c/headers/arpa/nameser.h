#ifndef __INVDIFF_ARPA_NAMESER_H
#define __INVDIFF_ARPA_NAMESER_H
#include <stdint.h>
#include <sys/types.h>
#define NS_PACKETSZ 512
#define NS_MAXDNAME 1025
#define NS_INADDRSZ 4
#define NS_IN6ADDRSZ 16
#define NS_INT16SZ 2
#define PACKETSZ 512
#define MAXDNAME 1025
#define T_A 1
#define T_MX 15
#define T_TXT 16
#define T_SRV 33
#define C_IN 1
#endif
