#ifndef __INVDIFF_NETINET_ETHER_H
#define __INVDIFF_NETINET_ETHER_H
#include <net/ethernet.h>
char *ether_ntoa(const struct ether_addr *);
struct ether_addr *ether_aton(const char *);
#endif
