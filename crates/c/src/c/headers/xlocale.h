#ifndef __INVDIFF_XLOCALE_H
#define __INVDIFF_XLOCALE_H
#include <locale.h>
#endif
