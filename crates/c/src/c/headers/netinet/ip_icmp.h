#ifndef __INVDIFF_NETINET_IP_ICMP_H
#define __INVDIFF_NETINET_IP_ICMP_H
#include <netinet/in.h>
#include <netinet/ip.h>
#define ICMP_ECHOREPLY 0
#define ICMP_DEST_UNREACH 3
#define ICMP_UNREACH 3
#define ICMP_ECHO 8
#define ICMP_TIME_EXCEEDED 11
struct icmphdr {
    uint8_t type, code;
    uint16_t checksum;
    union { struct { uint16_t id, sequence; } echo; uint32_t gateway; struct { uint16_t __reserved, mtu; } frag; } un;
};
#endif
