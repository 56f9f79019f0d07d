#ifndef __INVDIFF_SYS_PERSONALITY_H
#define __INVDIFF_SYS_PERSONALITY_H
#define ADDR_NO_RANDOMIZE 0x0040000
int personality(unsigned long);
#endif
