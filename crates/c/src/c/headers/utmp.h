#ifndef __INVDIFF_UTMP_H
#define __INVDIFF_UTMP_H
#include <sys/types.h>
#include <sys/_time.h>
#define UT_LINESIZE 32
#define UT_NAMESIZE 32
#define UT_HOSTSIZE 256
#define EMPTY 0
#define RUN_LVL 1
#define BOOT_TIME 2
#define INIT_PROCESS 5
#define LOGIN_PROCESS 6
#define USER_PROCESS 7
#define DEAD_PROCESS 8
struct exit_status { short e_termination, e_exit; };
struct utmp {
    short ut_type;
    pid_t ut_pid;
    char ut_line[32], ut_id[4], ut_user[32], ut_host[256];
    struct exit_status ut_exit;
    int ut_session;
    struct { int tv_sec, tv_usec; } ut_tv;
    int ut_addr_v6[4];
    char __reserved[20];
};
#define ut_name ut_user
#define ut_time ut_tv.tv_sec
struct utmp *getutent(void);
struct utmp *getutid(const struct utmp *);
struct utmp *getutline(const struct utmp *);
struct utmp *pututline(const struct utmp *);
void setutent(void);
void endutent(void);
int utmpname(const char *);
void updwtmp(const char *, const struct utmp *);
#endif
