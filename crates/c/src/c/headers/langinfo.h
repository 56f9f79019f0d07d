#ifndef __INVDIFF_LANGINFO_H
#define __INVDIFF_LANGINFO_H
#include <locale.h>
typedef int nl_item;
char *nl_langinfo(nl_item);
char *nl_langinfo_l(nl_item, locale_t);
#define CODESET 14
#define RADIXCHAR 65536
#define THOUSEP 65537
#define D_T_FMT 131112
#define D_FMT 131113
#define T_FMT 131114
#define T_FMT_AMPM 131115
#define AM_STR 131110
#define PM_STR 131111
#define DAY_1 131079
#define ABDAY_1 131072
#define MON_1 131098
#define ABMON_1 131086
#define YESEXPR 327680
#define NOEXPR 327681
#define CRNCYSTR 262159
#endif
