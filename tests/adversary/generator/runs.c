/* A server of runs. Linked into a program, it runs the program's `main` once for each input, in a child of its own,
   and tells how each ended: a process that starts under sanitizers costs ten times a child that forks.

   Without INVDIFF_RUNS in the environment the program is as it would be alone. Else its standard input holds the
   inputs, each a length in decimal, a line feed and so many bytes, and on its standard output stands for each:
   "STATUS PRINTED COMPLAINED\n" (a wait status, -1 for a run that was late; two lengths), what the run printed, and
   what it complained of. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_PRINTED = 1 << 20, MOST_COMPLAINED = 1 << 16, MOST_ASKED = 1 << 20, PATIENCE = 10000, BROKEN = 99 };

static long milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void tell(const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t k = write(1, bytes, n);
        if (k <= 0)
            _exit(BROKEN);
        bytes += k;
        n -= (size_t)k;
    }
}

/* Reads to the end of a file, or until the time is over; what is past `most` stays there. */
static size_t gathered(int from, char *bytes, size_t most, long end)
{
    size_t n = 0;
    while (n < most) {
        struct pollfd asked = { from, POLLIN, 0 };
        long left = end - milliseconds();
        if (left <= 0 || poll(&asked, 1, (int)left) <= 0)
            break;
        ssize_t k = read(from, bytes + n, most - n);
        if (k <= 0)
            break;
        n += (size_t)k;
    }
    return n;
}

static int ended(pid_t child, long end)
{
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (milliseconds() >= end) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return -1;
        }
        usleep(200);
    }
    return status;
}

/* Is true in the child, where the program goes on. */
static int runs(const char *input, size_t length)
{
    static char printed[MOST_PRINTED], complained[MOST_COMPLAINED];
    int in[2], out[2];
    FILE *errors = tmpfile();
    if (errors == NULL || pipe(in) != 0 || pipe(out) != 0)
        _exit(BROKEN);
    pid_t child = fork();
    if (child == 0) {
        dup2(in[0], 0), dup2(out[1], 1), dup2(fileno(errors), 2);
        close(in[0]), close(in[1]), close(out[0]), close(out[1]), close(fileno(errors));
        signal(SIGPIPE, SIG_DFL);
        unsetenv("INVDIFF_RUNS");
        return 1;
    }
    close(in[0]), close(out[1]);
    /* A program that does not read closes the pipe early. */
    signal(SIGPIPE, SIG_IGN);
    if (child < 0 || (write(in[1], input, length) < 0 && length > 0))
        length = 0;
    close(in[1]);
    long end = milliseconds() + PATIENCE;
    size_t n = gathered(out[0], printed, sizeof printed, end);
    close(out[0]);
    int status = ended(child, end);
    lseek(fileno(errors), 0, SEEK_SET);
    ssize_t m = read(fileno(errors), complained, sizeof complained);
    char head[80];
    tell(head, (size_t)snprintf(head, sizeof head, "%d %zu %zd\n", status, n, m > 0 ? m : 0));
    tell(printed, n);
    tell(complained, m > 0 ? (size_t)m : 0);
    fclose(errors);
    return 0;
}

/* Before the program's own constructors. */
__attribute__((constructor(101))) static void serve(void)
{
    static char asked[MOST_ASKED];
    if (getenv("INVDIFF_RUNS") == NULL)
        return;
    size_t n = gathered(0, asked, sizeof asked - 1, milliseconds() + PATIENCE);
    for (char *at = asked; at < asked + n;) {
        size_t length = strtoul(at, &at, 10);
        if (runs(++at, length))
            return;
        at += length;
    }
    _exit(0);
}
