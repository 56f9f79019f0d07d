#ifndef __INVDIFF_SYS_IOCTL_H
#define __INVDIFF_SYS_IOCTL_H
#include <sys/types.h>
#include <sys/ttydefaults.h>
#include <termios.h>
#define _IOC_NONE 0U
#define _IOC_WRITE 1U
#define _IOC_READ 2U
#define _IOC_NRBITS 8
#define _IOC_TYPEBITS 8
#define _IOC_SIZEBITS 14
#define _IOC_DIRBITS 2
#define _IOC_NRSHIFT 0
#define _IOC_TYPESHIFT 8
#define _IOC_SIZESHIFT 16
#define _IOC_DIRSHIFT 30
#define _IOC(dir, type, nr, size) (((dir) << 30) | ((type) << 8) | (nr) | ((size) << 16))
#define _IO(type, nr) _IOC(_IOC_NONE, (type), (nr), 0)
#define _IOR(type, nr, size) _IOC(_IOC_READ, (type), (nr), sizeof(size))
#define _IOW(type, nr, size) _IOC(_IOC_WRITE, (type), (nr), sizeof(size))
#define _IOWR(type, nr, size) _IOC(_IOC_READ | _IOC_WRITE, (type), (nr), sizeof(size))
#define _IOC_DIR(nr) (((nr) >> 30) & 3)
#define _IOC_TYPE(nr) (((nr) >> 8) & 255)
#define _IOC_NR(nr) ((nr) & 255)
#define _IOC_SIZE(nr) (((nr) >> 16) & 16383)
struct winsize { unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel; };
#define TCGETS 0x5401
#define TCSETS 0x5402
#define TCSETSW 0x5403
#define TCSETSF 0x5404
#define TCGETA 0x5405
#define TCSETA 0x5406
#define TCSETAW 0x5407
#define TCSETAF 0x5408
#define TCSBRK 0x5409
#define TCXONC 0x540A
#define TCFLSH 0x540B
#define TIOCEXCL 0x540C
#define TIOCNXCL 0x540D
#define TIOCSCTTY 0x540E
#define TIOCGPGRP 0x540F
#define TIOCSPGRP 0x5410
#define TIOCOUTQ 0x5411
#define TIOCSTI 0x5412
#define TIOCGWINSZ 0x5413
#define TIOCSWINSZ 0x5414
#define TIOCMGET 0x5415
#define TIOCMBIS 0x5416
#define TIOCMBIC 0x5417
#define TIOCMSET 0x5418
#define TIOCM_LE 1
#define TIOCM_DTR 2
#define TIOCM_RTS 4
#define TIOCM_CTS 0x20
#define TIOCM_CAR 0x40
#define TIOCM_CD 0x40
#define TIOCM_RNG 0x80
#define TIOCM_DSR 0x100
#define TIOCINQ 0x541B
#define FIONREAD 0x541B
#define TIOCCONS 0x541D
#define TIOCPKT 0x5420
#define FIONBIO 0x5421
#define TIOCNOTTY 0x5422
#define TIOCSETD 0x5423
#define TIOCGETD 0x5424
#define TIOCSBRK 0x5427
#define TIOCCBRK 0x5428
#define TIOCGSID 0x5429
#define TIOCGPTN 0x80045430
#define TIOCSPTLCK 0x40045431
#define FIONCLEX 0x5450
#define FIOCLEX 0x5451
#define FIOASYNC 0x5452
#include <linux/sockios.h>
#define SIOCSIFNETMASK 0x891C
#define SIOCATMARK 0x8905
int ioctl(int, unsigned long, ...);
#endif
