/* Runtime of the oracle's drivers: inputs, and calls that may go wrong.

   Everything lives behind one pointer, for the data of the whole executable is put back before each
   run: globals and static locals. What the sanitizer of undefined behaviour finds is a trap; the one of
   addresses reports and goes on. */

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum { IVD_OK, IVD_UNDEFINED, IVD_SLOW, IVD_ENDED, IVD_ARENA = 1 << 18, IVD_OBJECTS = 128, IVD_FACTS = 4096, IVD_SKIPPED = 512 };

struct ivd_object {
    int key;
    char *at;
    uint64_t size, count;
};

struct ivd_run {
    uint64_t status;
    /* Facts that could not be evaluated without something undefined; the last bit is for all beyond. */
    uint64_t undefined;
};

struct ivd_state {
    sigjmp_buf out;
    volatile int armed, why, ticks;
    volatile int hit, bad;
    int tame, object_count, constant_count, earlier_count;
    uint64_t random, used;
    char *arena, *image;
    struct ivd_object objects[IVD_OBJECTS];
    int64_t earlier[16];
    const int64_t *constants;
    struct ivd_run run;
    int is_sanitized, only_tame;
    FILE *rows, *report;
    long failed[IVD_FACTS], held[IVD_FACTS], unjudged[IVD_FACTS], broken[IVD_FACTS];
    int function;
    long index;
    /* Runs, by function and index (-1: all), that damaged a driver, and the one that goes on, for the one who starts us. */
    long skipped[IVD_SKIPPED][2], skipped_count;
    volatile long *progress;
};

static struct ivd_state *ivd;

extern char __data_start[], _end[];

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define IVD_PLAIN __attribute__((no_sanitize_address, no_sanitize_undefined, noinline))
#else
#define __asan_poison_memory_region(p, n) ((void)0)
#define __asan_unpoison_memory_region(p, n) ((void)0)
#define IVD_PLAIN __attribute__((noinline))
#endif

void __asan_on_error(void) { ivd->hit = 1; }

static void ivd_leave(int why);

/* Ours instead of the library's: a bad access ends the run, and a report would take a millisecond. */
#define IVD_ACCESS(name, ...)                                                                                \
    void __asan_report_##name##_noabort(__VA_ARGS__)                                                         \
    {                                                                                                        \
        ivd->hit = 1;                                                                                        \
        ivd_leave(IVD_UNDEFINED);                                                                            \
    }
#define IVD_ACCESSES(n) IVD_ACCESS(load##n, uintptr_t at) IVD_ACCESS(store##n, uintptr_t at)
IVD_ACCESSES(1)
IVD_ACCESSES(2)
IVD_ACCESSES(4)
IVD_ACCESSES(8)
IVD_ACCESSES(16)
IVD_ACCESS(load_n, uintptr_t at, uintptr_t size)
IVD_ACCESS(store_n, uintptr_t at, uintptr_t size)
const char *__asan_default_options(void)
{
    return "halt_on_error=0:handle_segv=0:handle_sigfpe=0:handle_sigbus=0:handle_abort=0:handle_sigill=0:"
           "detect_leaks=0:suppress_equal_pcs=0:print_legend=0:fast_unwind_on_fatal=1:symbolize=0:"
           "malloc_context_size=0:quarantine_size_mb=1:detect_stack_use_after_return=0:allocator_may_return_null=1";
}

static IVD_PLAIN void ivd_copy(char *to, const char *from, uint64_t n)
{
    volatile uint64_t *t = (volatile uint64_t *)to;
    const volatile uint64_t *f = (const volatile uint64_t *)from;
    for (uint64_t i = 0; i < n / 8; i++)
        t[i] = f[i];
}

static void ivd_leave(int why)
{
    if (!ivd->armed)
        return;
    ivd->armed = 0;
    ivd->why = why;
    siglongjmp(ivd->out, 1);
}

static void ivd_signal(int number)
{
    if (number == SIGVTALRM) {
        /* Not out of the sanitizer's report, which holds locks. */
        if (ivd->ticks++ >= (ivd->hit ? 200 : 2))
            ivd_leave(IVD_SLOW);
        return;
    }
    ivd_leave(IVD_UNDEFINED);
    signal(number, SIG_DFL);
    raise(number);
}

void __wrap_exit(int code)
{
    ivd_leave(IVD_ENDED);
    _exit(code);
}
void __wrap_abort(void)
{
    ivd_leave(IVD_ENDED);
    _exit(134);
}

/* An assertion is one of ours: the first run that each fails in is told. */
void __wrap___assert_fail(const char *text, const char *file, unsigned line, const char *function)
{
    if (ivd->broken[line % IVD_FACTS]++ == 0)
        fprintf(ivd->report, "asserts %ld %s: %s\n", ivd->index, function, text);
    __wrap_abort();
}

/* Memory may run out, in wild runs. */
static int ivd_is_refused(void);
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__wrap_malloc(size_t n) { return ivd_is_refused() ? NULL : __real_malloc(n); }
void *__wrap_calloc(size_t n, size_t m) { return ivd_is_refused() ? NULL : __real_calloc(n, m); }
void *__wrap_realloc(void *p, size_t n) { return ivd_is_refused() ? NULL : __real_realloc(p, n); }

/* Runs a statement that may not come back; tells whether it did. */
#define IVD_TRY(statement)                                                                                   \
    ({                                                                                                       \
        volatile int ivd_done = 0;                                                                           \
        if (!sigsetjmp(ivd->out, 0)) {                                                                       \
            ivd->armed = 1;                                                                                  \
            statement;                                                                                       \
            ivd->armed = 0;                                                                                  \
            ivd_done = 1;                                                                                    \
        }                                                                                                    \
        ivd_done;                                                                                            \
    })

static uint64_t ivd_next(void)
{
    uint64_t z = ivd->random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t ivd_below(uint64_t n) { return n ? ivd_next() % n : 0; }

static int ivd_is_refused(void) { return ivd && ivd->armed && !ivd->tame && ivd_below(8) == 0; }

static int64_t ivd_plain_int(void)
{
    int64_t near = (int64_t)ivd_below(3) - 1;
    /* Sums without a sign: where signed ones are checked, one at the end of the type would end the driver. */
    switch (ivd_below(10)) {
    case 0: case 1: case 2: return (int64_t)ivd_below(24) - 6;
    case 3: return (int64_t)ivd_below(600) - 150;
    case 4: return (int64_t)(((uint64_t)1 << ivd_below(64)) + (uint64_t)near);
    case 5: return -(int64_t)((uint64_t)1 << ivd_below(33)) + near;
    case 6: case 7:
        if (ivd_below(2))
            near = 0;
        if (ivd->earlier_count)
            return (int64_t)((uint64_t)ivd->earlier[ivd_below(ivd->earlier_count)] + near);
        return near;
    case 8:
        if (ivd->constant_count)
            return (int64_t)((uint64_t)ivd->constants[ivd_below(ivd->constant_count)] + near);
        return near;
    default: {
        uint64_t by = ivd_below(64);
        return (int64_t)(ivd_next() >> by);
    }
    }
}

static int64_t ivd_int(void)
{
    int64_t v = ivd_plain_int();
    if (ivd->earlier_count < 16)
        ivd->earlier[ivd->earlier_count++] = v;
    else
        ivd->earlier[ivd_below(16)] = v;
    return v;
}

static double ivd_float(void)
{
    static const double edges[] = {0.0, -0.0, 1.0, -1.0, 0.5, 100.0, 1e10, -1e10, 1e308, -1e308, 5e-324,
        1e-310, 3.4e38, 1e-40, 0.1, 2147483647.0, -2147483648.0, 9.3e18, INFINITY, -INFINITY, NAN};
    switch (ivd_below(6)) {
    case 0: return edges[ivd_below(sizeof edges / sizeof *edges)];
    case 1: return (double)ivd_int();
    case 2: case 3: return (double)((int64_t)ivd_below(400) - 200) / 4;
    case 4: return ((double)ivd_next() / 1e19 - 0.5) * 300;
    default: {
        uint64_t bits = ivd_next();
        double d;
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    }
}

static void ivd_register(int key, void *at, uint64_t size, uint64_t count)
{
    if (ivd->object_count < IVD_OBJECTS)
        ivd->objects[ivd->object_count++] = (struct ivd_object){key, at, size, count};
}

/* Bytes before each object that nothing may touch: an index that leaves its array should not come to
   another object, where no sanitizer sees that it has left. */
enum { IVD_GAP = 1024 };

static void *ivd_room(uint64_t bytes)
{
    if (ivd->used + 2 * IVD_GAP + bytes + 64 > IVD_ARENA)
        return NULL;
    char *at = ivd->arena + ivd->used + IVD_GAP;
    ivd->used += IVD_GAP + (bytes + 15) / 16 * 16;
    __asan_unpoison_memory_region(at, bytes);
    memset(at, 0, bytes);
    return at;
}

/* A pointer to objects of this size: none, an earlier one of its type (only in wild runs), or a new
   one, which the caller fills. */
static void *ivd_pointer(int key, uint64_t size, uint64_t *fresh, int nested)
{
    static const int counts[] = {1, 4, 8, 16, 16};
    *fresh = 0;
    if (ivd_below(12) == 0 || nested && ivd_below(3) == 0)
        return NULL;
    if (!ivd->tame && ivd_below(3) == 0) {
        for (int tries = 0; tries < 4 && ivd->object_count; tries++) {
            struct ivd_object *o = &ivd->objects[ivd_below(ivd->object_count)];
            if (o->key == key)
                return o->at + (ivd_below(3) ? 0 : ivd_below(o->count)) * size;
        }
    }
    uint64_t count = nested ? 1 : counts[ivd_below(5)];
    char *at = ivd_room(size * count);
    if (at) {
        ivd_register(key, at, size, count);
        *fresh = count;
    }
    return at;
}

static void *ivd_text(int key)
{
    static const char letters[] = "ab  01 29z\t-+A";
    uint64_t fresh, size = 1 + ivd_below(20);
    if (ivd_below(12) == 0)
        return NULL;
    if (!ivd->tame && ivd_below(4) == 0) {
        void *other = ivd_pointer(key, 1, &fresh, 0);
        if (!fresh)
            return other;
    }
    char *at = ivd_room(size);
    if (at) {
        ivd_register(key, at, 1, size);
        for (uint64_t i = 0; i + 1 < size; i++)
            at[i] = ivd_below(16) ? letters[ivd_below(sizeof letters - 1)] : (char)ivd_next();
    }
    return at;
}

/* Makes the run's state anew: the data of the executable, the objects, the numbers. */
static void ivd_begin(void)
{
    ivd_copy(__data_start, ivd->image, _end - __data_start);
    __asan_poison_memory_region(ivd->arena, ivd->used);
    ivd->used = 0;
    ivd->object_count = ivd->earlier_count = 0;
    ivd->tame = ivd->index % 2 == 0;
    ivd->random = (uint64_t)ivd->function * 0x100000001b3u ^ (uint64_t)ivd->index * 0x9e3779b1u;
    ivd->hit = ivd->bad = ivd->ticks = 0;
}

static int ivd_same(double a, double b)
{
    return a != a ? b != b : a == b && !signbit(a) == !signbit(b);
}

#define IVD_IS_FLOAT(e) (__builtin_classify_type(e) == 8)
/* Identity: a NaN is itself, and zeros have signs. */
#define IVD_SAME(a, b)                                                                                       \
    (IVD_IS_FLOAT(a) || IVD_IS_FLOAT(b)                                                                      \
         ? ivd_same(__builtin_choose_expr(__builtin_classify_type(a) == 5, 0.0, a),                          \
                    __builtin_choose_expr(__builtin_classify_type(b) == 5, 0.0, b))                          \
         : (a) == (b))

/* A value of the entry; where there was none, the fact is not judged. */
#define IVD_OLD(k) (*(ivd_has_##k ? &ivd_old_##k : (ivd->bad = 1, &ivd_old_##k)))

static void ivd_judge(int fact, int bit, int came_back, int holds)
{
    uint64_t mask = (uint64_t)1 << (bit < 63 ? bit : 63);
    if (!came_back || ivd->bad || ivd->hit) {
        if (ivd->is_sanitized)
            ivd->run.undefined |= mask;
        ivd->unjudged[fact]++;
    } else if (!ivd->is_sanitized && ivd->run.undefined & mask) {
        ivd->unjudged[fact]++;
    } else if (holds) {
        ivd->held[fact]++;
    } else if (ivd->failed[fact]++ == 0) {
        fprintf(ivd->report, "fails %d %ld\n", fact, ivd->index);
    }
}

#define IVD_FACT(number, bit, tame_only, e)                                                                  \
    do {                                                                                                     \
        volatile int ivd_holds = 1;                                                                          \
        ivd->hit = ivd->bad = 0;                                                                             \
        if (!(tame_only) || ivd->tame) {                                                                     \
            int ivd_back = IVD_TRY(ivd_holds = !!(e));                                                       \
            ivd_judge(number, bit, ivd_back, ivd_holds);                                                     \
        }                                                                                                    \
    } while (0)

typedef void ivd_case(void);

/* What a program reads in one run. */
struct ivd_input {
    const char *text;
    uint64_t length;
    int tame;
};

static void ivd_feed(const struct ivd_input *input)
{
    ivd->tame = input->tame;
    stdin = input->length ? fmemopen((void *)input->text, input->length, "r") : fopen("/dev/null", "r");
}

/* Memory that wild writes hardly get to: what lies around it cannot be written. */
static void *ivd_apart(uint64_t bytes)
{
    enum { GUARD = 1 << 24 };
    uint64_t whole = (bytes + 4095) / 4096 * 4096;
    char *at = mmap(NULL, whole + 2 * GUARD, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED || mprotect(at + GUARD, whole, PROT_READ | PROT_WRITE))
        _exit(5);
    return at + GUARD;
}

/* Reads which runs to skip, and has the one that goes on known outside. */
static void ivd_watch(void)
{
    FILE *skipped = fopen("skipped", "r");
    while (skipped && ivd->skipped_count < IVD_SKIPPED
           && fscanf(skipped, "%ld %ld", &ivd->skipped[ivd->skipped_count][0], &ivd->skipped[ivd->skipped_count][1]) == 2)
        ivd->skipped_count++;
    if (skipped)
        fclose(skipped);
    int file = open("progress", O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 2 * sizeof(long)))
        _exit(6);
    ivd->progress = mmap(NULL, 2 * sizeof(long), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (ivd->progress == MAP_FAILED)
        _exit(6);
    close(file);
}

static int ivd_is_skipped(void)
{
    for (long k = 0; k < ivd->skipped_count; k++)
        if (ivd->skipped[k][0] == ivd->function && (ivd->skipped[k][1] == ivd->index || ivd->skipped[k][1] < 0))
            return 1;
    return 0;
}

/* Arguments: runs of each function, how many of them are made, file of what became of them (written by
   the sanitized build, read by others), file of facts that fail, and optionally one for states. */
static int ivd_main(int argc, char **argv, ivd_case *const *cases, int functions, const int64_t *constants, int constant_count)
{
    /* `t100`: of the first 100 runs those that are tame. */
    int only_tame = argv[2][0] == 't';
    long runs = atol(argv[1]), made = atol(argv[2] + only_tame);
    ivd = ivd_apart(sizeof *ivd);
    ivd_watch();
    ivd->arena = aligned_alloc(64, IVD_ARENA);
    __asan_poison_memory_region(ivd->arena, IVD_ARENA);
#ifdef __SANITIZE_ADDRESS__
    ivd->is_sanitized = 1;
#endif
    ivd->report = fopen(argv[4], "w");
    ivd->rows = argc > 5 ? fopen(argv[5], "wb") : NULL;
    ivd->constants = constants;
    ivd->constant_count = constant_count;
    FILE *log = fopen(argv[3], ivd->is_sanitized ? "wb" : "rb");
    if (!ivd->report || !log)
        _exit(3);
    char *stack = malloc(1 << 16);
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = 1 << 16}, NULL);
    struct sigaction action = {.sa_handler = ivd_signal, .sa_flags = SA_NODEFER | SA_ONSTACK};
    int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGVTALRM};
    for (int i = 0; i < 6; i++)
        sigaction(signals[i], &action, NULL);
    setitimer(ITIMER_VIRTUAL, &(struct itimerval){{0, 5000}, {0, 5000}}, NULL);
    freopen("/dev/null", "w", stdout);
    freopen("/dev/null", "w", stderr);
    freopen("/dev/null", "r", stdin);
    ivd->image = malloc(_end - __data_start + 8);
    ivd_copy(ivd->image, __data_start, _end - __data_start);
    for (int f = 0; f < functions; f++) {
        long slow = 0, crashes = 0;
        for (long i = 0; i < runs; i++) {
            ivd->function = f;
            ivd->index = i;
            ivd->run = (struct ivd_run){IVD_OK, 0};
            if (!ivd->is_sanitized && fread(&ivd->run, sizeof ivd->run, 1, log) != 1)
                _exit(4);
            if (slow > 100)
                ivd->run.status = IVD_SLOW;
            if (ivd_is_skipped())
                ivd->run.status = IVD_UNDEFINED;
            if (ivd->run.status == IVD_OK && i < made) {
                ivd->progress[0] = f;
                ivd->progress[1] = i;
                ivd_begin();
                ivd->only_tame = only_tame;
                cases[f]();
                /* The program does nothing undefined here: facts that are looked at do. */
                if (!ivd->is_sanitized && ivd->run.status == IVD_UNDEFINED && crashes++ == 0)
                    fprintf(ivd->report, "undefined run %ld of case %d\n", i, f);
            }
            slow += ivd->run.status == IVD_SLOW;
            if (ivd->is_sanitized)
                fwrite(&ivd->run, sizeof ivd->run, 1, log);
        }
    }
    for (int k = 0; k < IVD_FACTS; k++)
        if (ivd->held[k] || ivd->failed[k] || ivd->unjudged[k])
            fprintf(ivd->report, "judged %d %ld %ld %ld\n", k, ivd->held[k], ivd->failed[k], ivd->unjudged[k]);
    fclose(ivd->report);
    fclose(log);
    if (ivd->rows)
        fclose(ivd->rows);
    _exit(0);
}
