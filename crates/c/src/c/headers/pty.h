#ifndef __INVDIFF_PTY_H
#define __INVDIFF_PTY_H
#include <termios.h>
#include <sys/ioctl.h>
int openpty(int *, int *, char *, const struct termios *, const struct winsize *);
pid_t forkpty(int *, char *, const struct termios *, const struct winsize *);
int login_tty(int);
#endif
