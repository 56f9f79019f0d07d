#ifndef __INVDIFF_SYS_UN_H
#define __INVDIFF_SYS_UN_H
#include <sys/socket.h>
struct sockaddr_un { sa_family_t sun_family; char sun_path[108]; };
#define SUN_LEN(p) (__builtin_offsetof(struct sockaddr_un, sun_path) + __builtin_strlen((p)->sun_path))
#endif
