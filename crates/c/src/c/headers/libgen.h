#ifndef __INVDIFF_LIBGEN_H
#define __INVDIFF_LIBGEN_H
char *dirname(char *);
/* One function by its name in the source; string.h declares another of that name. */
#ifndef __INVDIFF_BASENAME
#define __INVDIFF_BASENAME
char *basename(char *);
#endif
#endif
