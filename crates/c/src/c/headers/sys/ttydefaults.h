#ifndef __INVDIFF_SYS_TTYDEFAULTS_H
#define __INVDIFF_SYS_TTYDEFAULTS_H
#define CTRL(x) ((x) & 037)
#endif
