/* What follows runs the code above in a child process and judges how it ended. It is the same in every test. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

struct invdiff_end {
    const char *how;      /* return, exit, abort, signal, fuel, undefined */
    int code;             /* exit status, -1: any */
    const char *out;      /* standard output */
    unsigned long size;   /* its bytes */
};

struct invdiff_plan {
    const char *input;    /* standard input */
    unsigned long size;
    char *const *argv;    /* 0: as this program's */
    struct invdiff_end ends[2];
};

static const struct invdiff_plan invdiff_plan;
static FILE *invdiff_record;
static int invdiff_as[2] = {1, 1};

/* Calls of what the source does not define, a line each. */
static char invdiff_calls[4096] = "\n";

static __attribute__((unused)) void invdiff_note(const char *format, ...)
{
    unsigned long used = strlen(invdiff_calls);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(invdiff_calls + used, sizeof invdiff_calls - used, format, arguments);
    va_end(arguments);
}

static __attribute__((unused)) int invdiff_called(const char *line)
{
    return strstr(invdiff_calls, line) != 0;
}

/* What the calls of undefined functions give; 0 where nothing is said of one. */
static struct { const char *name; int nth; long long value; long double real; } invdiff_given[64];
static int invdiff_gifts, invdiff_is_set_up;
static void invdiff_set_up(void);

static __attribute__((unused)) void invdiff_give(const char *name, int nth, long long value, long double real)
{
    if (invdiff_gifts < 64) {
        invdiff_given[invdiff_gifts].name = name;
        invdiff_given[invdiff_gifts].nth = nth;
        invdiff_given[invdiff_gifts].value = value;
        invdiff_given[invdiff_gifts++].real = real;
    }
}

/* The number of what a call gives, -1 where that is 0. */
static __attribute__((unused)) int invdiff_gift(const char *name, int nth)
{
    int i;
    if (!invdiff_is_set_up++)
        invdiff_set_up();
    for (i = 0; i < invdiff_gifts; i++)
        if (!strcmp(invdiff_given[i].name, name) && invdiff_given[i].nth == nth)
            return i;
    return -1;
}

static __attribute__((unused)) long long invdiff_value(const char *name, int nth)
{
    int i = invdiff_gift(name, nth);
    return i < 0 ? 0 : invdiff_given[i].value;
}

static __attribute__((unused)) long double invdiff_real(const char *name, int nth)
{
    int i = invdiff_gift(name, nth);
    return i < 0 ? 0 : invdiff_given[i].real;
}

static void invdiff_judge_value(int as_old, int as_new)
{
    invdiff_as[0] &= as_old;
    invdiff_as[1] &= as_new;
}

static int invdiff_same(long double a, long double b)
{
    return a != a ? b != b : a == b && !__builtin_signbit(a) == !__builtin_signbit(b);
}

static void invdiff_put(char *object, unsigned long at, unsigned long long value, unsigned long bytes)
{
    memcpy(object + at, &value, bytes);
}

static void invdiff_put_bits(char *object, unsigned long at, unsigned long bytes, unsigned first, unsigned width,
                             unsigned long long value)
{
    unsigned long long unit = 0, mask = width < 64 ? (1ULL << width) - 1 : ~0ULL;
    memcpy(&unit, object + at, bytes);
    unit = (unit & ~(mask << first)) | (value & mask) << first;
    memcpy(object + at, &unit, bytes);
}

static void invdiff_put_float(char *object, unsigned long at, float value)
{
    memcpy(object + at, &value, sizeof value);
}

static void invdiff_put_double(char *object, unsigned long at, double value)
{
    memcpy(object + at, &value, sizeof value);
}

static void invdiff_put_long_double(char *object, unsigned long at, long double value)
{
    memcpy(object + at, &value, 10);
}

static void invdiff_put_pointer(char *object, unsigned long at, const void *value)
{
    memcpy(object + at, &value, sizeof value);
}

/* In the child. */
static void invdiff_redirect(FILE *out)
{
    FILE *in = tmpfile();
    if (!in || fwrite(invdiff_plan.input, 1, invdiff_plan.size, in) != invdiff_plan.size || fflush(in))
        _exit(125);
    lseek(fileno(in), 0, SEEK_SET);
    dup2(fileno(in), 0);
    dup2(fileno(out), 1);
    alarm(10);
}

static char *invdiff_content(FILE *file, unsigned long *size)
{
    char *text;
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    text = calloc(1, *size + 1);
    if (!text || fread(text, 1, *size, file) != *size)
        _exit(3);
    return text;
}

static int invdiff_is(const struct invdiff_end *end, const char *how, int code, const char *out, unsigned long size)
{
    return !strcmp(end->how, how) && (end->code < 0 || end->code == code) && end->size == size
        && !memcmp(end->out, out, size);
}

/* In the parent: the exit status of the test. */
static int invdiff_judge(FILE *out, int status)
{
    unsigned long size, noted, i;
    char *text = invdiff_content(out, &size), *notes = invdiff_content(invdiff_record, &noted);
    const char *how = WIFEXITED(status) ? "exit" : "signal", *mark = strstr(notes, "returned\n");
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1, as[2], as_old, as_new;
    if (mark)
        how = "return", as_old = mark[9] == '1', as_new = mark[10] == '1';
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)
        how = "abort";
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
        how = "fuel";
    for (i = 0; i < 2; i++) {
        as[i] = invdiff_is(&invdiff_plan.ends[i], how, code, text, size);
        if (mark)
            as[i] = as[i] && (i ? as_new : as_old);
    }
    /* Whatever an undefined run does is as good as anything else. */
    for (i = 0; i < 2; i++)
        if (!strcmp(invdiff_plan.ends[i].how, "undefined"))
            as[i] = !as[1 - i];
    printf("ended by: %s\n", how);
    if (!mark && code >= 0)
        printf("exit status: %d\n", code);
    printf("%.*s", mark ? (int)(mark - notes) : (int)noted, notes);
    printf("standard output: %lu bytes\n", size);
    fwrite(text, 1, size, stdout);
    if (size && text[size - 1] != '\n')
        putchar('\n');
    printf("behaves as: %s\n", as[0] && !as[1] ? "old" : as[1] && !as[0] ? "new" : "neither");
    fflush(stdout);
    return as[0] && !as[1] ? 0 : as[1] && !as[0] ? 1 : 2;
}

#ifdef INVDIFF_PROGRAM
/* Before `main`, which runs in the child. */
__attribute__((constructor)) static void invdiff_start(void)
{
    int status;
    pid_t child;
    FILE *out;
    if (getenv("INVDIFF_CHILD"))
        return;
    out = tmpfile();
    invdiff_record = tmpfile();
    if (!out || !invdiff_record || (child = fork()) < 0)
        _exit(3);
    if (!child) {
        invdiff_redirect(out);
        if (!invdiff_plan.argv)
            return;
        setenv("INVDIFF_CHILD", "1", 1);
        execv("/proc/self/exe", invdiff_plan.argv);
        _exit(125);
    }
    if (waitpid(child, &status, 0) < 0)
        _exit(3);
    _exit(invdiff_judge(out, status));
}
#else
static void invdiff_run(void);

int main(void)
{
    int status;
    pid_t child;
    FILE *out = tmpfile();
    invdiff_record = tmpfile();
    if (!out || !invdiff_record || (child = fork()) < 0)
        return 3;
    if (!child) {
        invdiff_redirect(out);
        invdiff_run();
        fflush(stdout);
        fprintf(invdiff_record, "returned\n%d%d", invdiff_as[0], invdiff_as[1]);
        fflush(invdiff_record);
        _exit(0);
    }
    if (waitpid(child, &status, 0) < 0)
        return 3;
    return invdiff_judge(out, status);
}
#endif
