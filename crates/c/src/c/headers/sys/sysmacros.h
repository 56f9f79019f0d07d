#ifndef __INVDIFF_SYS_SYSMACROS_H
#define __INVDIFF_SYS_SYSMACROS_H
#include <sys/types.h>
unsigned gnu_dev_major(dev_t);
unsigned gnu_dev_minor(dev_t);
dev_t gnu_dev_makedev(unsigned, unsigned);
#define major(d) gnu_dev_major(d)
#define minor(d) gnu_dev_minor(d)
#define makedev(a, b) gnu_dev_makedev(a, b)
#endif
