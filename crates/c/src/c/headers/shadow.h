#ifndef __INVDIFF_SHADOW_H
#define __INVDIFF_SHADOW_H
struct spwd {
    char *sp_namp, *sp_pwdp;
    long sp_lstchg, sp_min, sp_max, sp_warn, sp_inact, sp_expire;
    unsigned long sp_flag;
};
struct spwd *getspnam(const char *);
#endif
