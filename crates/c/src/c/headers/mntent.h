#ifndef __INVDIFF_MNTENT_H
#define __INVDIFF_MNTENT_H
#include <stdio.h>
struct mntent { char *mnt_fsname, *mnt_dir, *mnt_type, *mnt_opts; int mnt_freq, mnt_passno; };
#define MOUNTED "/etc/mtab"
#define MNTTAB "/etc/fstab"
FILE *setmntent(const char *, const char *);
struct mntent *getmntent(FILE *);
struct mntent *getmntent_r(FILE *restrict, struct mntent *restrict, char *restrict, int);
int addmntent(FILE *restrict, const struct mntent *restrict);
int endmntent(FILE *);
char *hasmntopt(const struct mntent *, const char *);
#endif
