#ifndef __INVDIFF_CRYPT_H
#define __INVDIFF_CRYPT_H
char *crypt(const char *, const char *);
struct crypt_data { char __opaque[32768]; };
char *crypt_r(const char *, const char *, struct crypt_data *);
#endif
