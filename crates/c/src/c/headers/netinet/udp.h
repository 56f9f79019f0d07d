#ifndef __INVDIFF_NETINET_UDP_H
#define __INVDIFF_NETINET_UDP_H
#include <stdint.h>
#include <sys/types.h>
struct udphdr {
    union {
        struct { uint16_t uh_sport, uh_dport, uh_ulen, uh_sum; };
        struct { uint16_t source, dest, len, check; };
    };
};
#endif
