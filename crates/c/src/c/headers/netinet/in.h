#ifndef __INVDIFF_NETINET_IN_H
#define __INVDIFF_NETINET_IN_H
#include <stdint.h>
#include <sys/socket.h>
typedef uint16_t in_port_t;
typedef uint32_t in_addr_t;
struct in_addr { in_addr_t s_addr; };
struct sockaddr_in { sa_family_t sin_family; in_port_t sin_port; struct in_addr sin_addr; unsigned char sin_zero[8]; };
struct in6_addr {
    union { uint8_t __u6_addr8[16]; uint16_t __u6_addr16[8]; uint32_t __u6_addr32[4]; } __in6_u;
};
#define s6_addr __in6_u.__u6_addr8
#define s6_addr16 __in6_u.__u6_addr16
#define s6_addr32 __in6_u.__u6_addr32
struct sockaddr_in6 {
    sa_family_t sin6_family;
    in_port_t sin6_port;
    uint32_t sin6_flowinfo;
    struct in6_addr sin6_addr;
    uint32_t sin6_scope_id;
};
struct ip_mreq { struct in_addr imr_multiaddr, imr_interface; };
struct ip_mreqn { struct in_addr imr_multiaddr, imr_address; int imr_ifindex; };
struct ip_mreq_source { struct in_addr imr_multiaddr, imr_interface, imr_sourceaddr; };
struct ipv6_mreq { struct in6_addr ipv6mr_multiaddr; unsigned ipv6mr_interface; };
struct in_pktinfo { int ipi_ifindex; struct in_addr ipi_spec_dst, ipi_addr; };
struct in6_pktinfo { struct in6_addr ipi6_addr; unsigned ipi6_ifindex; };
extern const struct in6_addr in6addr_any, in6addr_loopback;
#define IN6ADDR_ANY_INIT {{{0}}}
#define IN6ADDR_LOOPBACK_INIT {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}}
#define IPPROTO_IP 0
#define IPPROTO_ICMP 1
#define IPPROTO_IGMP 2
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define IPPROTO_IPV6 41
#define IPPROTO_ICMPV6 58
#define IPPROTO_SCTP 132
#define IPPROTO_RAW 255
#define IPPORT_RESERVED 1024
#define INADDR_ANY ((in_addr_t)0x00000000)
#define INADDR_BROADCAST ((in_addr_t)0xffffffff)
#define INADDR_NONE ((in_addr_t)0xffffffff)
#define INADDR_LOOPBACK ((in_addr_t)0x7f000001)
#define INADDR_UNSPEC_GROUP ((in_addr_t)0xe0000000)
#define INADDR_ALLHOSTS_GROUP ((in_addr_t)0xe0000001)
#define IN_LOOPBACKNET 127
#define INET_ADDRSTRLEN 16
#define INET6_ADDRSTRLEN 46
#define IN_CLASSA(a) ((((in_addr_t)(a)) & 0x80000000) == 0)
#define IN_CLASSB(a) ((((in_addr_t)(a)) & 0xc0000000) == 0x80000000)
#define IN_CLASSC(a) ((((in_addr_t)(a)) & 0xe0000000) == 0xc0000000)
#define IN_CLASSD(a) ((((in_addr_t)(a)) & 0xf0000000) == 0xe0000000)
#define IN_MULTICAST(a) IN_CLASSD(a)
#define IP_TOS 1
#define IP_TTL 2
#define IP_HDRINCL 3
#define IP_OPTIONS 4
#define IP_RECVOPTS 6
#define IP_PKTINFO 8
#define IP_MTU_DISCOVER 10
#define IP_RECVERR 11
#define IP_RECVTTL 12
#define IP_RECVTOS 13
#define IP_MTU 14
#define IP_FREEBIND 15
#define IP_TRANSPARENT 19
#define IP_BIND_ADDRESS_NO_PORT 24
#define IP_MULTICAST_IF 32
#define IP_MULTICAST_TTL 33
#define IP_MULTICAST_LOOP 34
#define IP_ADD_MEMBERSHIP 35
#define IP_DROP_MEMBERSHIP 36
#define IP_PMTUDISC_DONT 0
#define IP_PMTUDISC_WANT 1
#define IP_PMTUDISC_DO 2
#define IPV6_UNICAST_HOPS 16
#define IPV6_MULTICAST_IF 17
#define IPV6_MULTICAST_HOPS 18
#define IPV6_MULTICAST_LOOP 19
#define IPV6_JOIN_GROUP 20
#define IPV6_ADD_MEMBERSHIP 20
#define IPV6_LEAVE_GROUP 21
#define IPV6_V6ONLY 26
#define IPV6_RECVPKTINFO 49
#define IPV6_PKTINFO 50
#define IPV6_RECVHOPLIMIT 51
#define IPV6_HOPLIMIT 52
#define IPV6_TCLASS 67
#define SOL_IP 0
#define SOL_IPV6 41
#define __in6(a) ((const struct in6_addr *)(a))
#define __in6_zeros(a) (__in6(a)->s6_addr32[0] == 0 && __in6(a)->s6_addr32[1] == 0)
#define IN6_IS_ADDR_UNSPECIFIED(a) (__in6_zeros(a) && __in6(a)->s6_addr32[2] == 0 && __in6(a)->s6_addr32[3] == 0)
#define IN6_IS_ADDR_LOOPBACK(a) \
    (__in6_zeros(a) && __in6(a)->s6_addr32[2] == 0 && __in6(a)->s6_addr32[3] == 0x01000000)
#define IN6_IS_ADDR_MULTICAST(a) (__in6(a)->s6_addr[0] == 0xff)
#define IN6_IS_ADDR_LINKLOCAL(a) (__in6(a)->s6_addr[0] == 0xfe && (__in6(a)->s6_addr[1] & 0xc0) == 0x80)
#define IN6_IS_ADDR_SITELOCAL(a) (__in6(a)->s6_addr[0] == 0xfe && (__in6(a)->s6_addr[1] & 0xc0) == 0xc0)
#define IN6_IS_ADDR_V4MAPPED(a) (__in6_zeros(a) && __in6(a)->s6_addr32[2] == 0xffff0000)
#define IN6_IS_ADDR_V4COMPAT(a) \
    (__in6_zeros(a) && __in6(a)->s6_addr32[2] == 0 && __builtin_bswap32(__in6(a)->s6_addr32[3]) > 1)
#define __in6_scope(a) (IN6_IS_ADDR_MULTICAST(a) ? __in6(a)->s6_addr[1] & 0xf : 0)
#define IN6_IS_ADDR_MC_NODELOCAL(a) (__in6_scope(a) == 1)
#define IN6_IS_ADDR_MC_LINKLOCAL(a) (__in6_scope(a) == 2)
#define IN6_IS_ADDR_MC_SITELOCAL(a) (__in6_scope(a) == 5)
#define IN6_IS_ADDR_MC_ORGLOCAL(a) (__in6_scope(a) == 8)
#define IN6_IS_ADDR_MC_GLOBAL(a) (__in6_scope(a) == 14)
#define IN6_ARE_ADDR_EQUAL(a, b) (__builtin_memcmp((a), (b), 16) == 0)
uint32_t htonl(uint32_t);
uint16_t htons(uint16_t);
uint32_t ntohl(uint32_t);
uint16_t ntohs(uint16_t);
int bindresvport(int, struct sockaddr_in *);
#endif
