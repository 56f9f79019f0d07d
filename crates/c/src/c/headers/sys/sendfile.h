#ifndef __INVDIFF_SYS_SENDFILE_H
#define __INVDIFF_SYS_SENDFILE_H
#include <sys/types.h>
ssize_t sendfile(int, int, off_t *, size_t);
ssize_t sendfile64(int, int, off64_t *, size_t);
#endif
