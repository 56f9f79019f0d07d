#ifndef __INVDIFF_LINUX_IF_ETHER_H
#define __INVDIFF_LINUX_IF_ETHER_H
#include <net/ethernet.h>
#include <linux/types.h>
#define ETH_TLEN 2
#ifndef ETH_HLEN
#define ETH_HLEN 14
#define ETH_ZLEN 60
#define ETH_DATA_LEN 1500
#define ETH_FRAME_LEN 1514
#define ETH_FCS_LEN 4
#endif
#ifndef ETH_P_IP
#define ETH_P_LOOP 0x0060
#define ETH_P_IP 0x0800
#define ETH_P_ARP 0x0806
#define ETH_P_RARP 0x8035
#define ETH_P_8021Q 0x8100
#define ETH_P_IPV6 0x86DD
#define ETH_P_PAE 0x888E
#define ETH_P_LLDP 0x88CC
#define ETH_P_802_3 0x0001
#define ETH_P_ALL 0x0003
#endif
struct ethhdr { unsigned char h_dest[6]; unsigned char h_source[6]; __be16 h_proto; } __attribute__((packed));
#endif
