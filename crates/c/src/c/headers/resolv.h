#ifndef __INVDIFF_RESOLV_H
#define __INVDIFF_RESOLV_H
#include <netinet/in.h>
#include <arpa/nameser.h>
struct __res_state { int retrans, retry; unsigned long options; int nscount; struct sockaddr_in nsaddr_list[3]; char __opaque[512]; };
typedef struct __res_state *res_state;
struct __res_state *__res_state(void);
#define _res (*__res_state())
int res_init(void);
int res_query(const char *, int, int, unsigned char *, int);
int res_search(const char *, int, int, unsigned char *, int);
int dn_expand(const unsigned char *, const unsigned char *, const unsigned char *, char *, int);
#endif
