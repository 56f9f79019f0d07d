#ifndef __INVDIFF_NETINET_TCP_H
#define __INVDIFF_NETINET_TCP_H
#include <stdint.h>
#include <sys/types.h>
#define TCP_NODELAY 1
#define TCP_MAXSEG 2
#define TCP_CORK 3
#define TCP_KEEPIDLE 4
#define TCP_KEEPINTVL 5
#define TCP_KEEPCNT 6
#define TCP_SYNCNT 7
#define TCP_LINGER2 8
#define TCP_DEFER_ACCEPT 9
#define TCP_WINDOW_CLAMP 10
#define TCP_INFO 11
#define TCP_QUICKACK 12
#define TCP_CONGESTION 13
#define TCP_USER_TIMEOUT 18
#define TCP_FASTOPEN 23
#define TCP_FASTOPEN_CONNECT 30
#define SOL_TCP 6
#define TCP_ESTABLISHED 1
struct tcphdr {
    union {
        struct {
            uint16_t th_sport, th_dport;
            uint32_t th_seq, th_ack;
            uint8_t th_x2 : 4, th_off : 4;
            uint8_t th_flags;
            uint16_t th_win, th_sum, th_urp;
        };
        struct {
            uint16_t source, dest;
            uint32_t seq, ack_seq;
            uint16_t res1 : 4, doff : 4, fin : 1, syn : 1, rst : 1, psh : 1, ack : 1, urg : 1, res2 : 2;
            uint16_t window, check, urg_ptr;
        };
    };
};
#define TH_FIN 1
#define TH_SYN 2
#define TH_RST 4
#define TH_PUSH 8
#define TH_ACK 16
#define TH_URG 32
struct tcp_info {
    uint8_t tcpi_state, tcpi_ca_state, tcpi_retransmits, tcpi_probes, tcpi_backoff, tcpi_options;
    uint8_t tcpi_snd_wscale : 4, tcpi_rcv_wscale : 4;
    uint32_t tcpi_rto, tcpi_ato, tcpi_snd_mss, tcpi_rcv_mss, tcpi_unacked, tcpi_sacked, tcpi_lost, tcpi_retrans;
    uint32_t tcpi_fackets, tcpi_last_data_sent, tcpi_last_ack_sent, tcpi_last_data_recv, tcpi_last_ack_recv;
    uint32_t tcpi_pmtu, tcpi_rcv_ssthresh, tcpi_rtt, tcpi_rttvar, tcpi_snd_ssthresh, tcpi_snd_cwnd, tcpi_advmss;
    uint32_t tcpi_reordering, tcpi_rcv_rtt, tcpi_rcv_space, tcpi_total_retrans;
};
#endif
