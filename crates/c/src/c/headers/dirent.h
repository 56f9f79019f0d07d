#ifndef __INVDIFF_DIRENT_H
#define __INVDIFF_DIRENT_H
#include <sys/types.h>
struct dirent {
    ino_t d_ino;
    off_t d_off;
    unsigned short d_reclen;
    unsigned char d_type;
    char d_name[256];
};
#define dirent64 dirent
#define readdir64 readdir
#define d_fileno d_ino
#define _DIRENT_HAVE_D_TYPE 1
#define _DIRENT_HAVE_D_RECLEN 1
#define DT_UNKNOWN 0
#define DT_FIFO 1
#define DT_CHR 2
#define DT_DIR 4
#define DT_BLK 6
#define DT_REG 8
#define DT_LNK 10
#define DT_SOCK 12
#define DT_WHT 14
#define IFTODT(m) (((m) & 0170000) >> 12)
#define DTTOIF(t) ((t) << 12)
#define MAXNAMLEN 255
typedef struct __dirstream DIR;
DIR *opendir(const char *);
DIR *fdopendir(int);
int closedir(DIR *);
struct dirent *readdir(DIR *);
int readdir_r(DIR *restrict, struct dirent *restrict, struct dirent **restrict);
void rewinddir(DIR *);
void seekdir(DIR *, long);
long telldir(DIR *);
int dirfd(DIR *);
int scandir(const char *restrict, struct dirent ***restrict, int (*)(const struct dirent *),
            int (*)(const struct dirent **, const struct dirent **));
int scandirat(int, const char *restrict, struct dirent ***restrict, int (*)(const struct dirent *),
              int (*)(const struct dirent **, const struct dirent **));
int alphasort(const struct dirent **, const struct dirent **);
int versionsort(const struct dirent **, const struct dirent **);
#endif
