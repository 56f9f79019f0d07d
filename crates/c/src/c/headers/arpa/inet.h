#ifndef __INVDIFF_ARPA_INET_H
#define __INVDIFF_ARPA_INET_H
#include <netinet/in.h>
in_addr_t inet_addr(const char *);
int inet_aton(const char *, struct in_addr *);
char *inet_ntoa(struct in_addr);
const char *inet_ntop(int, const void *restrict, char *restrict, socklen_t);
int inet_pton(int, const char *restrict, void *restrict);
in_addr_t inet_network(const char *);
in_addr_t inet_netof(struct in_addr);
in_addr_t inet_lnaof(struct in_addr);
#endif
