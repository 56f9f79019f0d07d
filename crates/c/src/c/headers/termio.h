#ifndef __INVDIFF_TERMIO_H
#define __INVDIFF_TERMIO_H
#include <termios.h>
#include <sys/ioctl.h>
#endif
