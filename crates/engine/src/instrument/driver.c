/* What follows runs the code above in a child process and judges how it ended. It is the same in every test. It
 * includes no header, and has functions of the library by their symbols: the code above may mean anything by
 * their names. */
extern void *invdiff_calloc(unsigned long, unsigned long) INVDIFF_SYMBOL("calloc");
extern void *invdiff_tmpfile(void) INVDIFF_SYMBOL("tmpfile");
extern int invdiff_fileno(void *) INVDIFF_SYMBOL("fileno");
extern int invdiff_fflush(void *) INVDIFF_SYMBOL("fflush");
extern long invdiff_lseek(int, long, int) INVDIFF_SYMBOL("lseek");
extern long invdiff_pread(int, void *, unsigned long, long) INVDIFF_SYMBOL("pread");
extern long invdiff_pwrite(int, const void *, unsigned long, long) INVDIFF_SYMBOL("pwrite");
extern int invdiff_dup2(int, int) INVDIFF_SYMBOL("dup2");
extern int invdiff_dprintf(int, const char *, ...) INVDIFF_SYMBOL("dprintf");
extern int invdiff_vsnprintf(char *, unsigned long, const char *, __builtin_va_list) INVDIFF_SYMBOL("vsnprintf");
extern int invdiff_fork(void) INVDIFF_SYMBOL("fork");
extern int invdiff_waitpid(int, int *, int) INVDIFF_SYMBOL("waitpid");
extern unsigned invdiff_alarm(unsigned) INVDIFF_SYMBOL("alarm");
extern char *invdiff_getenv(const char *) INVDIFF_SYMBOL("getenv");
extern int invdiff_setenv(const char *, const char *, int) INVDIFF_SYMBOL("setenv");
extern int invdiff_execv(const char *, char *const *) INVDIFF_SYMBOL("execv");
extern void invdiff_exit(int) INVDIFF_SYMBOL("exit");
extern void invdiff_leave(int) INVDIFF_SYMBOL("_exit");

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
static int invdiff_record;
static int invdiff_as[2] = {1, 1};

static unsigned long invdiff_length(const char *text)
{
    unsigned long n = 0;
    while (text[n])
        n++;
    return n;
}

static int invdiff_equal(const void *a, const void *b, unsigned long size)
{
    while (size--)
        if (((const char *)a)[size] != ((const char *)b)[size])
            return 0;
    return 1;
}

static int invdiff_same_text(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

/* Whether a text begins with another somewhere; where. */
static const char *invdiff_find(const char *text, const char *part)
{
    unsigned long size = invdiff_length(part);
    for (; invdiff_length(text) >= size; text++)
        if (invdiff_equal(text, part, size))
            return text;
    return 0;
}

/* Whether the first bytes of an array are a text and zeros behind it. */
static __attribute__((unused)) int invdiff_holds(const char *array, unsigned long size, const char *text,
                                                 unsigned long length)
{
    unsigned long i;
    for (i = 0; i < size; i++)
        if (array[i] != (i < length ? text[i] : 0))
            return 0;
    return 1;
}

static __attribute__((unused)) void invdiff_copy(char *to, const void *from, unsigned long size)
{
    while (size--)
        to[size] = ((const char *)from)[size];
}

static __attribute__((unused)) void invdiff_clear(char *to, unsigned long size)
{
    while (size--)
        to[size] = 0;
}

/* Calls of what the source does not define, a line each. */
static char invdiff_calls[4096] = "\n";

static __attribute__((unused)) void invdiff_note(const char *format, ...)
{
    unsigned long used = invdiff_length(invdiff_calls);
    __builtin_va_list arguments;
    __builtin_va_start(arguments, format);
    invdiff_vsnprintf(invdiff_calls + used, sizeof invdiff_calls - used, format, arguments);
    __builtin_va_end(arguments);
}

static __attribute__((unused)) int invdiff_called(const char *line)
{
    return invdiff_find(invdiff_calls, line) != 0;
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
        if (invdiff_same_text(invdiff_given[i].name, name) && invdiff_given[i].nth == nth)
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
    invdiff_copy(object + at, &value, bytes);
}

static void invdiff_put_bits(char *object, unsigned long at, unsigned long bytes, unsigned first, unsigned width,
                             unsigned long long value)
{
    unsigned long long unit = 0, mask = width < 64 ? (1ULL << width) - 1 : ~0ULL;
    invdiff_copy((char *)&unit, object + at, bytes);
    unit = (unit & ~(mask << first)) | (value & mask) << first;
    invdiff_copy(object + at, &unit, bytes);
}

static void invdiff_put_float(char *object, unsigned long at, float value)
{
    invdiff_copy(object + at, &value, sizeof value);
}

static void invdiff_put_double(char *object, unsigned long at, double value)
{
    invdiff_copy(object + at, &value, sizeof value);
}

static void invdiff_put_long_double(char *object, unsigned long at, long double value)
{
    invdiff_copy(object + at, &value, 10);
}

static void invdiff_put_pointer(char *object, unsigned long at, const void *value)
{
    invdiff_copy(object + at, &value, sizeof value);
}

static int invdiff_temporary(void)
{
    void *file = invdiff_tmpfile();
    if (!file)
        invdiff_leave(3);
    return invdiff_fileno(file);
}

/* In the child. */
static void invdiff_redirect(int out)
{
    int in = invdiff_temporary();
    if (invdiff_pwrite(in, invdiff_plan.input, invdiff_plan.size, 0) != (long)invdiff_plan.size)
        invdiff_leave(125);
    invdiff_dup2(in, 0);
    invdiff_dup2(out, 1);
    invdiff_alarm(4);
}

static char *invdiff_content(int file, unsigned long *size)
{
    char *text;
    *size = invdiff_lseek(file, 0, 2);
    text = invdiff_calloc(1, *size + 1);
    if (!text || invdiff_pread(file, text, *size, 0) != (long)*size)
        invdiff_leave(3);
    return text;
}

static void invdiff_print(const char *text, unsigned long size)
{
    unsigned long i, part;
    for (i = 0; i < size; i += part) {
        part = invdiff_length(text + i);
        part = part < size - i ? part : size - i;
        if (part)
            invdiff_dprintf(1, "%.*s", (int)part, text + i);
        else
            invdiff_dprintf(1, "%c", 0), part = 1;
    }
}

static int invdiff_is(const struct invdiff_end *end, const char *how, int code, const char *out, unsigned long size)
{
    return invdiff_same_text(end->how, how) && (end->code < 0 || end->code == code) && end->size == size
        && invdiff_equal(end->out, out, size);
}

/* In the parent: the exit status of the test. */
static int invdiff_judge(int out, int status)
{
    unsigned long size, noted, i;
    char *text = invdiff_content(out, &size), *notes = invdiff_content(invdiff_record, &noted);
    int signal = status & 127, code = signal ? -1 : status >> 8 & 255, as[2], as_old, as_new;
    const char *how = signal ? "signal" : "exit", *mark = invdiff_find(notes, "returned\n");
    if (mark)
        how = "return", as_old = mark[9] == '1', as_new = mark[10] == '1';
    else if (signal == 6)
        how = "abort";
    else if (signal == 14)
        how = "fuel";
    for (i = 0; i < 2; i++) {
        as[i] = invdiff_is(&invdiff_plan.ends[i], how, code, text, size);
        if (mark)
            as[i] = as[i] && (i ? as_new : as_old);
    }
    /* Whatever an undefined run does is as good as anything else; one without end may exhaust the stack. */
    for (i = 0; i < 2; i++) {
        if (invdiff_same_text(invdiff_plan.ends[i].how, "undefined"))
            as[i] = !as[1 - i];
        if (invdiff_same_text(invdiff_plan.ends[i].how, "fuel"))
            as[i] = !as[1 - i] && code != 0;
    }
    invdiff_dprintf(1, "ended by: %s\n", how);
    if (!mark && code >= 0)
        invdiff_dprintf(1, "exit status: %d\n", code);
    invdiff_print(notes, mark ? mark - notes : noted);
    invdiff_dprintf(1, "standard output: %lu bytes\n", size);
    invdiff_print(text, size);
    if (size && text[size - 1] != '\n')
        invdiff_dprintf(1, "\n");
    invdiff_dprintf(1, "behaves as: %s\n", as[0] && !as[1] ? "old" : as[1] && !as[0] ? "new" : "neither");
    return as[0] && !as[1] ? 0 : as[1] && !as[0] ? 1 : 2;
}

#ifndef INVDIFF_PROGRAM
static void invdiff_run(void);
#endif

/* The test's exit status; -1: this is the child, and the program is to run. */
static int invdiff_test(void)
{
    int status, child, out = invdiff_temporary();
    invdiff_record = invdiff_temporary();
    child = invdiff_fork();
    if (child < 0)
        return 3;
    if (child)
        return invdiff_waitpid(child, &status, 0) < 0 ? 3 : invdiff_judge(out, status);
    invdiff_redirect(out);
#ifdef INVDIFF_PROGRAM
    if (!invdiff_plan.argv)
        return -1;
    invdiff_setenv("INVDIFF_CHILD", "1", 1);
    invdiff_execv("/proc/self/exe", invdiff_plan.argv);
    invdiff_leave(125);
#else
    invdiff_run();
    invdiff_fflush(0);
    invdiff_dprintf(invdiff_record, "returned\n%d%d", invdiff_as[0], invdiff_as[1]);
    invdiff_leave(0);
#endif
    return -1;
}

#ifdef INVDIFF_HAS_MAIN
/* Before `main`, behind what else runs there. */
__attribute__((constructor)) static void invdiff_start(void)
{
    int status = invdiff_getenv("INVDIFF_CHILD") ? -1 : invdiff_test();
    if (status >= 0)
        invdiff_leave(status);
}
#else
int main(void)
{
    return invdiff_test();
}
#endif
