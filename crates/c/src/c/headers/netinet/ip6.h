#ifndef __INVDIFF_NETINET_IP6_H
#define __INVDIFF_NETINET_IP6_H
#include <netinet/in.h>
struct ip6_hdr {
    union {
        struct { uint32_t ip6_un1_flow; uint16_t ip6_un1_plen; uint8_t ip6_un1_nxt, ip6_un1_hlim; } ip6_un1;
        uint8_t ip6_un2_vfc;
    } ip6_ctlun;
    struct in6_addr ip6_src, ip6_dst;
};
#endif
