#ifndef __INVDIFF_SYS_MOUNT_H
#define __INVDIFF_SYS_MOUNT_H
#include <sys/types.h>
#define MS_RDONLY 1
#define MS_NOSUID 2
#define MS_NODEV 4
#define MS_NOEXEC 8
#define MS_REMOUNT 32
#define MS_BIND 4096
#define MS_MOVE 8192
#define MS_REC 16384
#define MS_PRIVATE (1 << 18)
#define MS_SLAVE (1 << 19)
#define MNT_FORCE 1
#define MNT_DETACH 2
int mount(const char *, const char *, const char *, unsigned long, const void *);
int umount(const char *);
int umount2(const char *, int);
#endif
