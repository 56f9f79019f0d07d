#ifndef __INVDIFF_ERROR_H
#define __INVDIFF_ERROR_H
void error(int, int, const char *, ...);
void error_at_line(int, int, const char *, unsigned, const char *, ...);
extern unsigned error_message_count;
extern int error_one_per_line;
extern void (*error_print_progname)(void);
#endif
