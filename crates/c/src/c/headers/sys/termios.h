#ifndef __INVDIFF_SYS_TERMIOS_H
#define __INVDIFF_SYS_TERMIOS_H
#include <termios.h>
#endif
