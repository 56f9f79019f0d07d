//! Every row of the table of library functions ([`library::rows`]) against the C library of the machine.
//!
//! A table says how each function is called. One C program is made of it, which calls every function on every tuple of
//! arguments and prints what is to be seen of a call: the bits of the result, `errno`, which bytes behind the
//! arguments changed or whether any others did, and whether something was printed or read. A function that asks
//! nothing of the outside is called three times: with the same arguments, and with other bytes behind those that the
//! row says it does not read. The test holds the row against that.
//!
//! No call is undefined, and no standard stream or device fails: what the rows say of those is not tried. Neither is
//! what a row denies of the outside (`world`), of which a call shows nothing.
//!
//! `cargo test --test oracle library_rows -- --nocapture` says how much was called.

use crate::support::tier;
use git_invdiff::ir::eval::{Assignment, Value, evaluate};
use git_invdiff::ir::library::{self, ResultIs, Row};
use git_invdiff::ir::{Const, Leaf, Sort, Term, TermId, TermPool};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

/// Rows that no call is made of, and why.
const NOT_CALLED: [(&str, &str); 5] = [
    ("alloca", "is a macro"),
    ("va_start", "is a macro"),
    ("va_copy", "is a macro"),
    ("va_arg", "is a macro"),
    ("va_end", "is a macro"),
];

/// Functions without a result.
const VOID: &str = "bzero free rewind perror clearerr srand srandom";

/// Functions of numbers: their names, the array of [`HEAD`] that has the arguments, and how many they take.
const NUMERIC: [(&str, &str, usize); 12] = [
    ("fabs sqrt floor ceil trunc round rint nearbyint", "doubles", 1),
    ("fabsf sqrtf floorf ceilf truncf roundf rintf", "floats", 1),
    ("fabsl sqrtl floorl ceill truncl roundl rintl nearbyintl", "extended", 1),
    ("sin cos tan asin acos atan sinh cosh tanh exp exp2 log log2 log10 cbrt", "doubles", 1),
    ("sinf cosf expf logf", "floats", 1),
    ("sinl cosl atanl expl logl", "extended", 1),
    ("fmod fmin fmax copysign pow hypot atan2", "doubles", 2),
    ("fmodf fminf fmaxf copysignf powf", "floats", 2),
    ("fmodl fminl fmaxl copysignl powl", "extended", 2),
    ("abs", "ints", 1),
    ("labs llabs", "longs", 1),
    (
        "isdigit isupper islower tolower toupper isalpha isalnum isspace isblank ispunct isprint isxdigit iscntrl isgraph",
        "characters",
        1,
    ),
];

/// Functions of bytes: their names, what is declared before, and the arguments. `T` is a text in memory, `B` so many
/// bytes, `V` a value of a type; `list` holds 42, `"text"` and `L"\x100"`.
const BYTES: &[(&str, &str, &str)] = &[
    ("printf", "", r#"T("%d %s %p\n") | 5 | T("x") | B(4)"#),
    ("printf", "", r#"T("")"#),
    ("puts", "", r#"T("abc")"#),
    ("putchar", "", "65"),
    ("putchar", "", "-1"),
    ("scanf", "", r#"T("%d %3s") | V(int, 7) | B(4)"#),
    ("scanf", "", r#"T("x%d") | V(int, 7)"#),
    ("getchar", "", ""),
    ("strlen atoi atol atoll atof", "", r#"T("")"#),
    ("strlen atoi atol atoll", "", r#"T("-2147483648")"#),
    ("strlen atoi atol atoll atof", "", r#"T(" +12ab")"#),
    ("strlen atof", "", r#"T("-1.5e3x")"#),
    ("strlen atof", "", r#"T("inf")"#),
    ("atof", "", r#"T("1e-310")"#),
    ("strcmp strcasecmp strcoll strstr strcasestr strspn strcspn strpbrk", "", r#"T("") | T("")"#),
    ("strcmp strcasecmp strcoll strstr strcasestr strspn strcspn strpbrk", "", r#"T("aBcAbC") | T("bc")"#),
    ("strcmp strcasecmp strcoll strstr strcasestr strspn strcspn strpbrk", "", r#"T("abc") | T("abd")"#),
    ("strcmp strcasecmp strcoll strstr strcasestr strspn strcspn strpbrk", "", r#"T("\377") | T("\1")"#),
    ("strncmp strncasecmp", "", r#"T("abC") | T("abd") | 2ul"#),
    ("strncmp strncasecmp memcmp", "", r#"T("abC") | T("abc") | 4ul"#),
    ("strncmp strncasecmp memcmp", "", r#"T("a") | T("b") | 0ul"#),
    ("strnlen", "", r#"T("abc") | 2ul"#),
    ("strnlen", "", r#"T("abc") | (size_t)-1"#),
    ("strchr strrchr", "", r#"T("abcabc") | 'b'"#),
    ("strchr strrchr", "", r#"T("abc") | 0"#),
    ("strchr strrchr", "", r#"T("abc") | -1"#),
    ("memchr memrchr", "", r#"T("abcabc") | 'b' | 6ul"#),
    ("memchr memrchr", "", r#"T("abc") | 'z' | 3ul"#),
    ("memchr memrchr", "", r#"T("abc") | 'a' | 0ul"#),
    ("strtol strtoll strtoul strtoull", "", r#"T(" -42x") | V(char *, 0) | 10"#),
    ("strtol strtoll strtoul strtoull", "", r#"T("0x") | V(char *, 0) | 0"#),
    ("strtol strtoll strtoul strtoull", "", r#"T("99999999999999999999") | V(char *, 0) | 10"#),
    ("strtol strtoll strtoul strtoull", "", r#"T("no") | V(char *, 0) | 10"#),
    ("strtol strtoll strtoul strtoull", "", r#"T("12") | (char **)0 | 16"#),
    ("strtod strtof strtold", "", r#"T(" -0x1.8p1z") | V(char *, 0)"#),
    ("strtod strtof strtold", "", r#"T("1e99999") | V(char *, 0)"#),
    ("strtod strtof strtold", "", r#"T("-1e-99999") | V(char *, 0)"#),
    ("strtod strtof strtold", "", r#"T("nan(1)") | V(char *, 0)"#),
    ("strtod strtof strtold", "", r#"T(".") | (char **)0"#),
    ("memcpy memmove", "", r#"B(8) | T("abcd") | 5ul"#),
    ("memcpy memmove", "", r#"B(8) | T("abcd") | 0ul"#),
    ("memmove", r#"char *b = T("abcdefgh")"#, "b + 1 | b | 8ul"),
    ("memset", "", "B(8) | 'x' | 7ul"),
    ("memset", "", "B(8) | -1 | 8ul"),
    ("memset", "", "B(8) | 1 | 0ul"),
    ("bzero", "", "B(8) | 8ul"),
    ("strcpy", "", r#"B(8) | T("abc")"#),
    ("strcpy", "", r#"B(1) | T("")"#),
    ("strncpy", "", r#"B(8) | T("abc") | 8ul"#),
    ("strncpy", "", r#"B(8) | T("abcdef") | 3ul"#),
    ("strncpy", "", r#"B(8) | T("abc") | 0ul"#),
    ("strcat", "", r#"T("ab\0....") | T("cde")"#),
    ("strncat", "", r#"T("ab\0....") | T("cdefghi") | 3ul"#),
    ("strncat", "", r#"T("ab\0....") | T("c") | 0ul"#),
    ("sprintf", "", r#"B(16) | T("%d-%s") | -7 | T("abc")"#),
    ("snprintf", "", r#"B(4) | 4ul | T("%s%5.2f") | T("abc") | 1.5"#),
    ("snprintf", "", r#"(char *)0 | 0ul | T("%d") | 12345"#),
    ("sprintf", "", r#"B(16) | T("%ls") | L"\x100""#),
    ("snprintf", "", r#"(char *)0 | 0ul | T("%ls") | L"\x100""#),
    ("vsprintf", "", r#"B(16) | T("%d-%s") | list"#),
    ("vsnprintf", "", r#"B(4) | 4ul | T("%d-%s") | list"#),
    ("vsprintf", "", r#"B(16) | T("%d%s%ls") | list"#),
    ("vsnprintf", "", r#"(char *)0 | 0ul | T("%d%s%ls") | list"#),
    ("sscanf __isoc99_sscanf", "", r#"T("12 abc x") | T("%d %3s %lf") | V(int, 7) | B(4) | V(double, 7)"#),
    ("sscanf __isoc99_sscanf", "", r#"T("\377") | T("%lc") | V(wchar_t, 7)"#),
    ("sscanf __isoc99_sscanf", "", r#"T("") | T("%d") | V(int, 7)"#),
    ("__errno_location", "", ""),
];

/// Functions of the outside: their names, what is done before, the arguments, and what is done behind with the
/// result `r`. There is a file `file` that holds `text`; `f` is a stream of it, and `fd` its descriptor.
const OUTSIDE: &[(&str, &str, &str, &str)] = &[
    ("malloc", "", "8ul", "free(r)"),
    ("malloc", "", "(size_t)PTRDIFF_MAX", "free(r)"),
    ("calloc", "", "2ul | 4ul", "free(r)"),
    ("calloc", "", "(size_t)-1 | 2ul", "free(r)"),
    ("free", "", "malloc(8)", ""),
    ("free", "", "(void *)0", ""),
    ("free", "", "malloc(1 << 24)", ""),
    ("realloc", "", "malloc(8) | 1ul << 20", "free(r)"),
    ("realloc", "", "(void *)0 | 8ul", "free(r)"),
    ("strdup", "", r#"T("abc")"#, "free(r)"),
    ("strndup", "", r#"T("abc") | 2ul"#, "free(r)"),
    ("fopen", "", r#"T("file") | T("r")"#, "fclose(r)"),
    ("fopen", "", r#"T("none") | T("r")"#, ""),
    ("fdopen", "", r#"dup(fd) | T("r")"#, "fclose(r)"),
    ("fdopen", "", r#"-1 | T("r")"#, ""),
    ("freopen", r#"FILE *g = fopen("file", "r")"#, r#"T("file") | T("r+") | g"#, "fclose(r)"),
    ("fclose", "", r#"fopen("file", "r")"#, ""),
    ("fflush", "", "f", ""),
    ("fflush", "", "(FILE *)0", ""),
    ("fprintf", "", r#"f | T("%d %s") | 1 | T("x")"#, ""),
    ("vfprintf", "", r#"f | T("%d %s") | list"#, ""),
    ("vprintf", "", r#"T("%d %s") | list"#, ""),
    ("dprintf", "", r#"fd | T("%d %s") | 1 | T("x")"#, ""),
    ("fputs", "", r#"T("abc") | f"#, ""),
    ("fputc putc", "", "65 | f", ""),
    ("fwrite", "", r#"T("abc") | 1ul | 3ul | f"#, ""),
    ("fread", "", "B(8) | 1ul | 8ul | f", ""),
    ("fgets", "", "B(8) | 8 | f", ""),
    ("fgets", "fgetc(f), fgetc(f), fgetc(f), fgetc(f)", "B(8) | 8 | f", ""),
    ("fgetc getc ftell ftello fileno feof ferror", "", "f", ""),
    ("feof ferror", "while (fgetc(f) != EOF) {}", "f", ""),
    ("rewind clearerr", "", "f", ""),
    ("ungetc", "fgetc(f)", "'x' | f", ""),
    ("fscanf", "", r#"f | T("%3s") | B(4)"#, ""),
    ("fseek fseeko", "", "f | 1l | SEEK_SET", ""),
    ("fseek fseeko", "", "f | -1l | SEEK_SET", ""),
    ("perror", "", r#"T("abc")"#, ""),
    ("read", "", "fd | B(8) | 8ul", ""),
    ("read", "", "-1 | B(8) | 8ul", ""),
    ("write", "", r#"fd | T("abc") | 3ul"#, ""),
    ("close", "", "dup(fd)", ""),
    ("close fsync isatty dup", "", "-1", ""),
    ("open", "", r#"T("file") | O_RDONLY"#, "close(r)"),
    ("open", "", r#"T("none") | O_RDONLY"#, ""),
    ("creat", "", r#"T("made") | 0600"#, "close(r)"),
    ("lseek", "", "fd | 1l | SEEK_SET", ""),
    ("ftruncate", "", "fd | 2l", ""),
    ("truncate", "", r#"T("file") | 2l"#, ""),
    ("fsync isatty", "", "fd", ""),
    ("dup", "", "fd", "close(r)"),
    ("unlink remove", r#"symlink("file", "made")"#, r#"T("made")"#, ""),
    ("unlink remove rmdir chdir", "", r#"T("none")"#, ""),
    ("rename", r#"symlink("file", "made")"#, r#"T("made") | T("other")"#, ""),
    ("mkdir", "", r#"T("folder") | 0700"#, ""),
    ("rmdir", r#"mkdir("folder", 0700)"#, r#"T("folder")"#, ""),
    ("chdir", "", r#"T(".")"#, ""),
    ("chmod", "", r#"T("file") | 0600"#, ""),
    ("access", "", r#"T("file") | R_OK"#, ""),
    ("access", "", r#"T("none") | R_OK"#, ""),
    ("stat lstat", "", r#"T("file") | V(struct stat, 0)"#, ""),
    ("stat lstat", "", r#"T("none") | V(struct stat, 0)"#, ""),
    ("fstat", "", "fd | V(struct stat, 0)", ""),
    ("utime", "", r#"T("file") | (struct utimbuf *)0"#, ""),
    ("utime", "", r#"T("file") | V(struct utimbuf, 1, 2)"#, ""),
    ("ioctl", "", "fd | FIONREAD | V(int, -1)", ""),
    ("fcntl", "", "fd | F_GETFL", ""),
    ("fcntl", "", "fd | F_GETLK | V(struct flock, F_WRLCK)", ""),
    ("tcgetattr", "", "fd | V(struct termios, 0)", ""),
    ("tcsetattr", "", "fd | TCSANOW | V(struct termios, 0)", ""),
    ("time", "", "V(time_t, 0)", ""),
    ("time", "", "(time_t *)0", ""),
    ("clock getpid getppid getuid geteuid rand random", "", "", ""),
    ("gettimeofday", "", "V(struct timeval, 0) | V(struct timezone, 0)", ""),
    ("usleep sleep", "", "0u", ""),
    ("nanosleep", "", "V(struct timespec, 0, 0) | V(struct timespec, 1, 1)", ""),
    ("nanosleep", "", "V(struct timespec, 0, -1) | V(struct timespec, 1, 1)", ""),
    ("clock_gettime", "", "CLOCK_REALTIME | V(struct timespec, 0)", ""),
    ("clock_gettime", "", "999 | V(struct timespec, 0)", ""),
    ("dup2", "", "fd | 100", "close(r)"),
    ("pipe", "", "B(8)", "close(((int *)a0)[0]), close(((int *)a0)[1])"),
    ("poll", "", "V(struct pollfd, fd, POLLIN) | 1ul | 0", ""),
    (
        "select",
        "fd_set s; FD_ZERO(&s); FD_SET(fd, &s)",
        "fd + 1 | put(&s, sizeof s) | put(&s, sizeof s) | put(&s, sizeof s) | V(struct timeval, 0)",
        "",
    ),
    ("pread", "", "fd | B(8) | 2ul | 1l", ""),
    ("pwrite", "", r#"fd | T("abc") | 3ul | 1l"#, ""),
    ("link symlink", "", r#"T("file") | T("made")"#, ""),
    ("readlink", r#"symlink("file", "made")"#, r#"T("made") | B(8) | 8ul"#, ""),
    ("readlink", "", r#"T("file") | B(8) | 8ul"#, ""),
    ("chown", "", r#"T("file") | (uid_t)-1 | (gid_t)-1"#, ""),
    ("fchmod", "", "fd | 0600", ""),
    ("umask", "", "022", ""),
    ("mkstemp", "", r#"T("madeXXXXXX")"#, "close(r), unlink(a0)"),
    ("mkstemp", "", r#"T("made")"#, ""),
    ("setenv", "", r#"T("NAME") | T("value") | 1"#, ""),
    ("setenv", "", r#"T("NA=ME") | T("value") | 1"#, ""),
    ("unsetenv", "", r#"T("NAME")"#, ""),
    ("socket", "", "AF_UNIX | SOCK_STREAM | 0", "close(r)"),
    ("socket", "", "-1 | 0 | 0", ""),
    ("bind", "int s = socket(AF_UNIX, SOCK_STREAM, 0)", "s | ADDRESS | (socklen_t)110", "close(s)"),
    ("listen", "int s = listening(0)", "s | 1", "close(s)"),
    (
        "connect",
        "int s = listening(1), t = socket(AF_UNIX, SOCK_STREAM, 0)",
        "t | ADDRESS | (socklen_t)110",
        "close(s), close(t)",
    ),
    (
        "accept",
        "int s = listening(1), t = connected()",
        "s | V(struct sockaddr_un, 0) | V(socklen_t, 110)",
        "close(r), close(s), close(t)",
    ),
    ("shutdown", "int p[2]; PAIR(p)", "p[0] | SHUT_WR", "close(p[0]), close(p[1])"),
    ("send", "int p[2]; PAIR(p)", r#"p[0] | T("abc") | 3ul | 0"#, "close(p[0]), close(p[1])"),
    ("recv", "int p[2]; PAIR(p)", "p[0] | B(8) | 8ul | 0", "close(p[0]), close(p[1])"),
    (
        "sendto",
        "int p[2]; PAIR(p)",
        r#"p[0] | T("abc") | 3ul | 0 | (struct sockaddr *)0 | (socklen_t)0"#,
        "close(p[0]), close(p[1])",
    ),
    (
        "recvfrom",
        "int p[2]; PAIR(p)",
        "p[0] | B(8) | 8ul | 0 | V(struct sockaddr_un, 0) | V(socklen_t, 110)",
        "close(p[0]), close(p[1])",
    ),
    (
        "setsockopt",
        "int p[2]; PAIR(p)",
        "p[0] | SOL_SOCKET | SO_KEEPALIVE | V(int, 1) | (socklen_t)4",
        "close(p[0]), close(p[1])",
    ),
    (
        "getsockopt",
        "int p[2]; PAIR(p)",
        "p[0] | SOL_SOCKET | SO_TYPE | V(int, -1) | V(socklen_t, 4)",
        "close(p[0]), close(p[1])",
    ),
    ("signal", "", "SIGUSR1 | SIG_IGN", ""),
    ("signal", "", "SIGKILL | SIG_IGN", ""),
    ("atexit", "", "nothing", ""),
    ("sigaction", "", "SIGUSR2 | V(struct sigaction, 0) | V(struct sigaction, 0)", ""),
    ("sigprocmask", "", "SIG_BLOCK | V(sigset_t, 0) | V(sigset_t, 0)", ""),
    ("sigemptyset sigfillset", "", "V(sigset_t, 1)", ""),
    ("sigaddset", "", "V(sigset_t, 0) | SIGUSR1", ""),
    ("sigaddset", "", "V(sigset_t, 0) | -1", ""),
    ("mktime", "", "V(struct tm, .tm_mday = 40, .tm_year = 100)", ""),
    ("mktime", "", "V(struct tm, .tm_mon = INT_MAX, .tm_year = INT_MAX)", ""),
    ("strftime", "", r#"B(16) | 16ul | T("%Y-%m-%d") | V(struct tm, .tm_mday = 4, .tm_year = 100)"#, ""),
    ("strftime", "", r#"B(4) | 4ul | T("%Y-%m-%d") | V(struct tm, .tm_mday = 4, .tm_year = 100)"#, ""),
    ("srand srandom", "", "1u", ""),
];

/// Before the calls: where arguments are, and what is told of a call.
const HEAD: &str = r#"#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>
int __isoc99_sscanf(const char *, const char *, ...);

#define FINITE(m) 0.0##m, -0.0##m, 1.0##m, -1.0##m, 0.5##m, -0.5##m, 1.5##m, 2.5##m, -2.5##m, 3.7##m, 1e-20##m, -3.0##m, \
    0.49999997##m, 89.0##m, -104.0##m, 8388609.0##m, 1e22##m
static const double doubles[] = {FINITE(), NAN, INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, DBL_MIN, 0x1p-1074, -0x1p-1074,
    1e-310, 0.49999999999999994, 4503599627370497.5, 710.0, -746.0, 1024.0, -1080.0};
static const float floats[] = {FINITE(f), NAN, INFINITY, -INFINITY, FLT_MAX, -FLT_MAX, FLT_MIN, 0x1p-149f, -0x1p-149f};
static const long double extended[] = {FINITE(l), NAN, INFINITY, -INFINITY, LDBL_MAX, -LDBL_MAX, LDBL_MIN,
    0x1p-16445l, -0x1p-16445l, 9223372036854775807.5l, 11357.0l, -11400.0l};
static const int ints[] = {0, 1, -1, 7, INT_MAX, -INT_MAX};
static const long longs[] = {0, 1, -1, 7, INT_MIN, LONG_MAX, -LONG_MAX};
static const int characters[] = {-1, 0, 8, 9, 10, 13, 14, 31, 32, 33, 47, 48, 57, 58, 64, 65, 70, 71, 90, 91, 95, 96, 97,
    102, 103, 122, 123, 126, 127, 128, 160, 192, 224, 255};
#define EACH(i, of) for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)

/* All that arguments point to, with bytes between that no call may touch. */
enum { ROOM = 8192, GAP = 48 };
static _Alignas(16) unsigned char room[ROOM], before[ROOM], after[ROOM], first_before[ROOM], first_after[ROOM];
static struct { size_t at, size; unsigned args; } objects[8];
static size_t n_objects, used;
static FILE *facts;
static char arguments[512], result[64], first_result[64];
static off_t printed[2], at_input[2];
static int first_error, is_same, is_unread;

static void *put(const void *bytes, size_t size)
{
    size_t at = (used + GAP + 15) / 16 * 16;
    if (n_objects == 8 || at + size + GAP > ROOM)
        abort();
    objects[n_objects].at = at;
    objects[n_objects].size = size;
    objects[n_objects++].args = 0;
    memcpy(room + at, bytes, size);
    used = at + size;
    return room + at;
}
#define T(text) ((char *)put(text, sizeof text))
#define B(size) ((void *)put((char[size]){[0 ... size - 1] = '?'}, size))
#define V(type, ...) ((type *)put(&(type){__VA_ARGS__}, sizeof(type)))

static void tell_float(char *to, float x) { unsigned b; memcpy(&b, &x, 4); sprintf(to, " f32:%x", b); }
static void tell_double(char *to, double x) { unsigned long b; memcpy(&b, &x, 8); sprintf(to, " f64:%lx", b); }
static void tell_extended(char *to, long double x)
{
    unsigned long low, high = 0;
    memcpy(&low, &x, 8);
    memcpy(&high, (char *)&x + 8, 2);
    sprintf(to, " f80:%lx%016lx", high, low);
}
static void tell_int(char *to, unsigned x) { sprintf(to, " bv32:%x", x); }
static void tell_long(char *to, unsigned long x) { sprintf(to, " bv64:%lx", x); }
static void tell_pointer(char *to, const void *x) { tell_long(to, (uintptr_t)x); }
#define TELL(to, x) _Generic((x), float: tell_float, double: tell_double, long double: tell_extended, \
    int: tell_int, unsigned: tell_int, long: tell_long, unsigned long: tell_long, long long: tell_long, \
    unsigned long long: tell_long, default: tell_pointer)(to + strlen(to), x)

static void belongs(int k, uintptr_t p)
{
    for (size_t i = 0; i < n_objects; i++)
        if (p - (uintptr_t)(room + objects[i].at) <= objects[i].size)
            objects[i].args |= 1u << k;
}
static void no_pointer(int k, ...) {}
static void pointer(int k, const void *p) { belongs(k, (uintptr_t)p); }
#define ARGUMENT(k, x) (TELL(arguments, x), _Generic((x), float: no_pointer, double: no_pointer, \
    long double: no_pointer, int: no_pointer, unsigned: no_pointer, long: no_pointer, unsigned long: no_pointer, \
    long long: no_pointer, unsigned long long: no_pointer, default: pointer)(k, x))

static off_t size_of(int fd) { struct stat s; fstat(fd, &s); return s.st_size; }

static void begin(void)
{
    memset(room, 0xC5, ROOM);
    used = n_objects = 0;
    arguments[0] = result[0] = 0;
    rewind(stdin);
}
/* Of what the row says is not read the third run has other bytes. */
static void start(int run, unsigned reads)
{
    for (size_t i = 0; run == 2 && i < n_objects; i++)
        for (size_t k = 0; !(objects[i].args & reads) && k < objects[i].size; k++)
            room[objects[i].at + k] ^= 0xFF;
    memcpy(before, room, ROOM);
    fflush(stdout);
    printed[0] = size_of(1);
    printed[1] = size_of(2);
    at_input[0] = lseek(0, 0, SEEK_CUR);
    at_input[1] = ftell(stdin);
}
static void first_run(int error)
{
    memcpy(first_before, before, ROOM);
    memcpy(first_after, after, ROOM);
    strcpy(first_result, result);
    first_error = error;
    is_same = is_unread = 1;
}
static void tell(const char *name, int error)
{
    int prints, reads, apart = 1;
    fflush(stdout);
    prints = size_of(1) != printed[0] || size_of(2) != printed[1];
    reads = lseek(0, 0, SEEK_CUR) != at_input[0] || ftell(stdin) != at_input[1];
    for (size_t at = 0, i = 0; at < ROOM; at++) {
        while (i < n_objects && at >= objects[i].at + objects[i].size)
            i++;
        if ((i == n_objects || at < objects[i].at) && before[at] != after[at])
            apart = 0;
    }
    fprintf(facts, "%s\t%s\t%s\t%d\t%d%d%d%d%d\t", name, arguments, result, first_error, prints, reads, apart, is_same,
            is_unread);
    for (size_t i = 0; i < n_objects; i++) {
        unsigned char *old = first_before + objects[i].at, *new = first_after + objects[i].at;
        unsigned long head = 0;
        memcpy(&head, new, objects[i].size < 8 ? objects[i].size : 8);
        fprintf(facts, " %lx:%zx:%x:%x:%lx", (unsigned long)(room + objects[i].at), objects[i].size, objects[i].args,
                memcmp(old, new, objects[i].size) != 0, head);
    }
    fprintf(facts, "\n");
}
static void finish(int run, int last, const char *name, int error)
{
    memcpy(after, room, ROOM);
    if (run == 0)
        first_run(error);
    int same = error == first_error && strcmp(result, first_result) == 0;
    if (run == 1)
        is_same = same && memcmp(after, first_after, ROOM) == 0;
    for (size_t at = 0; run == 2 && at < ROOM; at++)
        same &= first_before[at] == first_after[at] || after[at] == first_after[at];
    if (run == 2)
        is_unread = same;
    if (run == last)
        tell(name, error);
}

static void nothing(void) {}
#define ADDRESS V(struct sockaddr_un, AF_UNIX, "made")
#define PAIR(p) socketpair(AF_UNIX, SOCK_STREAM, 0, p), write(p[1], "text", 4)
static int listening(int ready)
{
    struct sockaddr_un address = {AF_UNIX, "made"};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    bind(s, (struct sockaddr *)&address, sizeof address);
    if (ready)
        listen(s, 1);
    return s;
}
static int connected(void)
{
    struct sockaddr_un address = {AF_UNIX, "made"};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    connect(s, (struct sockaddr *)&address, sizeof address);
    return s;
}
static FILE *fresh(void)
{
    unlink("made");
    unlink("other");
    rmdir("folder");
    FILE *f = fopen("file", "w+");
    fputs("text", f);
    rewind(f);
    return f;
}
"#;

/// A call of a function, as C.
struct Call<'a> {
    row: &'static Row,
    /// Around all runs.
    each: &'a str,
    before: &'a str,
    args: Vec<&'a str>,
    behind: &'a str,
    is_outside: bool,
}

impl Call<'_> {
    /// The call as the function `case_n`.
    fn write(&self, n: usize, text: &mut String) {
        let Call { row, each, before, args, behind, is_outside } = self;
        let (name, names) =
            (row.name, (0..args.len()).map(|k| format!("a{k}")).collect::<Vec<_>>().join(", "));
        let reads = (0..args.len()).filter(|k| row.reads_arg(*k)).fold(0, |bits, k| bits | 1 << k);
        let last = if asks_outside(row) { 0 } else { 2 };
        let (opened, closed) = match is_outside {
            true => ("FILE *f = fresh(); int fd = fileno(f);", "fclose(f);"),
            false => ("", ""),
        };
        let _ = writeln!(
            text,
            "static void case_{n}(int count, ...) {{\n{each}\nfor (int run = 0; run <= {last}; run++) {{"
        );
        let _ = writeln!(text, "va_list list; va_start(list, count); begin(); {opened} {before};");
        for (k, argument) in args.iter().enumerate() {
            let _ = writeln!(text, "__auto_type a{k} = {argument}; ARGUMENT({k}, a{k});");
        }
        // In parentheses a name is no macro's.
        let called = format!("({name})({names}); int error = errno;");
        let _ = match VOID.split(' ').any(|v| v == name) {
            true => writeln!(text, "start(run, {reads}); errno = 0; {called}"),
            false => {
                writeln!(text, "start(run, {reads}); errno = 0; __auto_type r = {called} TELL(result, r);")
            }
        };
        let _ = writeln!(
            text,
            "finish(run, {last}, \"{name}\", error); {behind}; {closed} va_end(list);\n}}\n}}"
        );
    }
}

/// Whether a second call need not do the same.
fn asks_outside(row: &Row) -> bool {
    row.world || row.stdin || row.asks_streams
}

fn arguments(text: &str) -> Vec<&str> {
    text.split(" | ").filter(|a| !a.is_empty()).collect()
}

/// The whole program. Panics where a name has no row.
fn program() -> String {
    let row = |name: &str| {
        library::rows().iter().find(|r| r.name == name).unwrap_or_else(|| panic!("no row: {name}"))
    };
    let (mut text, mut n) = (HEAD.to_owned(), 0);
    let mut add = |names: &str, each: &str, [before, args, behind]: [&str; 3], is_outside: bool| {
        for name in names.split(' ') {
            let args = arguments(args);
            Call { row: row(name), each, before, args, behind, is_outside }.write(n, &mut text);
            n += 1;
        }
    };
    for (names, array, arity) in NUMERIC {
        let (each, args) = match arity {
            1 => (format!("EACH(i, {array})"), format!("{array}[i]")),
            _ => (format!("EACH(i, {array}) EACH(j, {array})"), format!("{array}[i] | {array}[j]")),
        };
        add(names, &each, ["", &args, ""], false);
    }
    for (names, before, args) in BYTES {
        add(names, "", [before, args, ""], false);
    }
    for (names, before, args, behind) in OUTSIDE {
        add(names, "", [before, args, behind], true);
    }
    text.push_str("int main(int count, char **paths) {\nalarm(60);\nfacts = fopen(paths[1], \"w\");\n");
    text.push_str("setvbuf(facts, 0, _IOLBF, BUFSIZ);\nfprintf(facts, \"%lx\\n\", (unsigned long)&errno);\n");
    for k in 0..n {
        let _ = writeln!(text, "case_{k}(0, 42, \"text\", L\"\\x100\");");
    }
    text.push_str("}\n");
    text
}

/// Bytes behind arguments.
struct Behind {
    range: std::ops::Range<u64>,
    /// Bits: arguments that point to them.
    args: u32,
    changed: bool,
    /// The first eight of them after the call.
    head: u64,
}

/// What was seen of a call.
struct Seen<'a> {
    name: &'a str,
    args: Vec<Const>,
    result: Option<Const>,
    errno: i32,
    prints: bool,
    reads: bool,
    /// Nothing changed but behind arguments.
    is_apart: bool,
    /// A second call did the same.
    is_same: bool,
    /// Bytes that the row says are not read made no difference.
    is_unread: bool,
    behind: Vec<Behind>,
}

fn hexadecimal(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// A value as the program tells of it: its sort and its bits.
fn constant(text: &str) -> Const {
    let (sort, bits) = text.split_once(':').unwrap_or_else(|| panic!("no value: {text}"));
    let sort = match sort {
        "f32" => Sort::F32,
        "f64" => Sort::F64,
        "f80" => Sort::F80,
        "bv32" => Sort::Bv(32),
        _ => Sort::Bv(64),
    };
    let bits = u128::from_str_radix(bits, 16).unwrap_or_else(|e| panic!("{text}: {e}"));
    Const::from_bits(sort, bits).unwrap_or_else(|| panic!("no value: {text}"))
}

fn seen(line: &str) -> Seen<'_> {
    let fields: Vec<&str> = line.split('\t').collect();
    let &[name, args, result, errno, flags, behind] = fields.as_slice() else { panic!("six fields: {line}") };
    let flags: Vec<bool> = flags.bytes().map(|b| b == b'1').collect();
    let &[prints, reads, is_apart, is_same, is_unread] = flags.as_slice() else {
        panic!("five flags: {line}")
    };
    let object = |text: &str| {
        let numbers: Vec<u64> = text.split(':').map(hexadecimal).collect();
        let &[at, size, args, changed, head] = numbers.as_slice() else { panic!("five numbers: {line}") };
        Behind { range: at..at + size, args: args as u32, changed: changed != 0, head }
    };
    Seen {
        name,
        args: args.split_whitespace().map(constant).collect(),
        result: result.split_whitespace().next().map(constant),
        errno: errno.parse().unwrap_or_else(|e| panic!("{line}: {e}")),
        prints,
        reads,
        is_apart,
        is_same,
        is_unread,
        behind: behind.split_whitespace().map(object).collect(),
    }
}

/// Holds the result against the term that the row gives; `errno_at` is where `errno` is.
fn check_term(
    f: fn(&mut TermPool, &[TermId]) -> Option<TermId>,
    s: &Seen,
    errno_at: u64,
) -> Result<(), String> {
    let mut pool = TermPool::new();
    let args: Vec<TermId> = s.args.iter().map(|c| pool.constant(*c)).collect();
    let term = f(&mut pool, &args).ok_or("no term")?;
    let real = s.result.ok_or("no result")?;
    if let Term::Leaf(Leaf::SymbolAddr { symbol, .. }) = pool.get(term) {
        let is_it = &**symbol == library::ERRNO && real == Const::bv(64, errno_at.into());
        return if is_it { Ok(()) } else { Err(format!("is {real:?}, not the address of {symbol}")) };
    }
    let value = match evaluate(&pool, &[term], &Assignment::new()).pop() {
        Some(Ok(Value::Const(value))) => value,
        other => return Err(format!("the term has no value: {other:?}")),
    };
    // What does not fold is open: of an integer all but whether it is zero, of a float the sign.
    let is_open = pool.as_const(term).is_none();
    let magnitude = |c: Const| c.to_bits() & Const::mask(c.sort().bits().unwrap_or(1) - 1);
    let agrees = match (is_open, value.sort().is_float()) {
        (false, _) => value == real,
        (true, true) => value.sort() == real.sort() && magnitude(value) == magnitude(real),
        (true, false) => value.sort() == real.sort() && (value.to_bits() == 0) == (real.to_bits() == 0),
    };
    if agrees { Ok(()) } else { Err(format!("is {real:?}, and the term says {value:?}")) }
}

/// What a row says that was seen to be otherwise.
fn contradictions(row: &Row, s: &Seen, errno_at: u64) -> Vec<String> {
    let mut found = Vec::new();
    let mut claim = |holds: bool, what: &str| {
        if !holds {
            found.push(what.to_owned());
        }
    };
    claim(row.errno || s.errno == 0, &format!("left errno {}", std::io::Error::from_raw_os_error(s.errno)));
    claim(row.out || !s.prints, "printed");
    claim(row.stdin || !s.reads, "read standard input");
    claim(s.is_apart, "wrote where no argument points to");
    let arguments_of =
        |b: &Behind| (0..s.args.len()).filter(move |k| b.args >> k & 1 == 1).collect::<Vec<_>>();
    for b in &s.behind {
        let by = arguments_of(b);
        let writes = by.iter().any(|k| row.writes_arg(*k));
        claim(!b.changed || writes, &format!("wrote through argument {by:?}"));
        // What is stored is a pointer into what was read.
        let is_pointer = || {
            let is_read = |o: &&Behind| arguments_of(o).iter().any(|k| row.reads_arg(*k));
            s.behind.iter().filter(is_read).any(|o| o.range.contains(&b.head) || o.range.end == b.head)
        };
        claim(
            !row.stores_pointer || !b.changed || is_pointer(),
            "stored what is no pointer into what it read",
        );
    }
    if !asks_outside(row) {
        claim(s.is_same, "did something else when called again");
        claim(s.is_unread, "read through an argument that it does not read");
    }
    if let ResultIs::Term(f) = row.result
        && let Err(why) = check_term(f, s, errno_at)
    {
        claim(false, &why);
    }
    found
}

/// Compiles the program and runs it in an empty folder; returns what it told.
fn run(folder: &Path) -> String {
    let [source, binary, facts, work] = ["rows.c", "rows", "facts", "work"].map(|name| folder.join(name));
    std::fs::write(&source, program()).expect("the folder is there");
    std::fs::create_dir(&work).expect("the folder is there");
    // No function is one that the compiler knows.
    let flags = ["-w", "-std=gnu17", "-O0", "-fno-builtin", "-o"];
    let compiled = invdiff_testing::compiler().args(flags).arg(&binary).arg(&source).arg("-lm").output();
    let compiled = compiled.expect("there is a compiler");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let file = |name: &str| File::create(folder.join(name)).expect("the folder is there");
    std::fs::write(folder.join("in"), "12 abc\nline\n").expect("the folder is there");
    let status = Command::new(&binary)
        .arg(&facts)
        .current_dir(&work)
        .env_clear()
        .env("TZ", "UTC")
        .stdin(File::open(folder.join("in")).expect("it was written"))
        .stdout(Stdio::from(file("out")))
        .stderr(Stdio::from(file("err")))
        .status()
        .expect("it runs");
    let told = std::fs::read_to_string(&facts).expect("it told something");
    assert!(status.success(), "{status} behind {:?}", told.lines().last());
    told
}

#[test]
fn rows_are_what_the_library_does() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        tier::skipped("glibc", "no C library of GNU on x86-64");
        return;
    }
    if !tier::has_compiler() {
        return;
    }
    let folder = invdiff_testing::scratch();
    let told = run(folder.path());
    let mut lines = told.lines();
    let errno_at = hexadecimal(lines.next().expect("where errno is"));
    let mut called: BTreeSet<&str> = BTreeSet::new();
    let mut wrong: BTreeMap<(&str, String), (usize, Vec<Const>)> = BTreeMap::new();
    let mut calls = 0;
    for s in lines.map(seen) {
        let row = library::row(s.name).unwrap_or_else(|| panic!("no row: {}", s.name));
        calls += 1;
        called.insert(row.name);
        for what in contradictions(row, &s, errno_at) {
            wrong.entry((row.name, what)).or_insert_with(|| (0, s.args.clone())).0 += 1;
        }
    }
    println!("{} rows called, {calls} calls, {} rows not called", called.len(), NOT_CALLED.len());
    let left_out: BTreeSet<&str> = NOT_CALLED.iter().map(|(name, _)| *name).collect();
    for row in library::rows() {
        let is_one = called.contains(row.name) != left_out.contains(row.name);
        assert!(is_one, "{}: neither called nor left out, or both", row.name);
    }
    let unknown: Vec<&&str> =
        left_out.iter().filter(|name| library::rows().iter().all(|r| r.name != **name)).collect();
    assert!(unknown.is_empty(), "left out, and no rows: {unknown:?}");
    let wrong: Vec<String> = wrong
        .iter()
        .map(|((name, what), (times, args))| format!("{name}{args:?} {what} ({times} calls)"))
        .collect();
    assert!(wrong.is_empty(), "rows that are wrong:\n{}", wrong.join("\n"));
}
