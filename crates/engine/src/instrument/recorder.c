/* Puts records of calls at the end of a trace, for git invdiff discover --run. It asks the system alone: no header, no
   function of the library, no errno, and nothing that stays open. A trace that is gone is not made again. Names of its
   own are all that it uses, as it may stand behind macros of others. */
#ifndef INVDIFF_RECORDER_@
#define INVDIFF_RECORDER_@
#ifdef INVDIFF_RECORDER_@
#endif
__extension__ typedef unsigned long long invdiff_u64_@;
__extension__ typedef signed long long invdiff_s64_@;
typedef unsigned int invdiff_u32_@;
typedef signed int invdiff_s32_@;
typedef unsigned short invdiff_u16_@;
typedef signed short invdiff_s16_@;
typedef unsigned char invdiff_u8_@;
typedef signed char invdiff_s8_@;
static const char invdiff_trace_@[] = @TRACE@;

/* 0: openat, 1: close, 2: lseek, 3: write. */
static __attribute__((__unused__)) long invdiff_ask_@(int invdiff_what, long invdiff_a, long invdiff_b, long invdiff_c)
{
#if defined(__linux__) && defined(__x86_64__) && !defined(__ILP32__)
    static const long invdiff_numbers[] = {257, 3, 8, 1};
    long invdiff_answer;
    __asm__ __volatile__("syscall"
                         : "=a"(invdiff_answer)
                         : "0"(invdiff_numbers[invdiff_what]), "D"(invdiff_a), "S"(invdiff_b), "d"(invdiff_c)
                         : "rcx", "r11", "memory");
    return invdiff_answer;
#elif defined(__linux__) && defined(__aarch64__) && !defined(__ILP32__)
    static const long invdiff_numbers[] = {56, 57, 62, 64};
    register long invdiff_number __asm__("x8") = invdiff_numbers[invdiff_what];
    register long invdiff_first __asm__("x0") = invdiff_a;
    register long invdiff_second __asm__("x1") = invdiff_b;
    register long invdiff_third __asm__("x2") = invdiff_c;
    __asm__ __volatile__("svc #0"
                         : "+r"(invdiff_first)
                         : "r"(invdiff_number), "r"(invdiff_second), "r"(invdiff_third)
                         : "memory");
    return invdiff_first;
#else
    (void)invdiff_what;
    (void)invdiff_a;
    (void)invdiff_b;
    (void)invdiff_c;
    return -1;
#endif
}

static __attribute__((__unused__)) void invdiff_put_@(const char *invdiff_text, long invdiff_length)
{
    /* The folder that the process is in does not matter; to write, at the end, and not for programs that it starts. */
    long invdiff_file = invdiff_ask_@(0, -100L, (long)invdiff_trace_@, 02002001L);
    if (invdiff_file < 0)
        return;
    if (invdiff_ask_@(2, invdiff_file, 0L, 2L) < @BYTES@)
        (void)invdiff_ask_@(3, invdiff_file, (long)invdiff_text, invdiff_length);
    (void)invdiff_ask_@(1, invdiff_file, 0L, 0L);
}

/* Volatile: compilers make calls of strlen and the like of such loops. */
static __attribute__((__unused__)) char *invdiff_copy_@(char *invdiff_to, const volatile char *invdiff_text)
{
    while (*invdiff_text)
        *invdiff_to++ = *invdiff_text++;
    return invdiff_to;
}

static __attribute__((__unused__)) char *invdiff_number_@(char *invdiff_to, invdiff_u64_@ invdiff_value,
                                                          int invdiff_is_signed)
{
    char invdiff_digits[24];
    int invdiff_count = 0;
    if (invdiff_is_signed && invdiff_value >> 63) {
        *invdiff_to++ = '-';
        invdiff_value = 0U - invdiff_value;
    }
    do {
        invdiff_digits[invdiff_count++] = (char)('0' + (int)(invdiff_value % 10U));
        invdiff_value /= 10U;
    } while (invdiff_value);
    while (invdiff_count)
        *invdiff_to++ = invdiff_digits[--invdiff_count];
    return invdiff_to;
}

/* Whether one more call is recorded. The one behind the last says that there were more. */
static __attribute__((__unused__)) int invdiff_more_@(unsigned long *invdiff_count, const char *invdiff_over,
                                                      long invdiff_length)
{
    unsigned long invdiff_nth;
    if (__atomic_load_n(invdiff_count, __ATOMIC_RELAXED) > @CALLS@)
        return 0;
    invdiff_nth = __atomic_add_fetch(invdiff_count, 1UL, __ATOMIC_RELAXED);
    if (invdiff_nth == @CALLS@ + 1UL)
        invdiff_put_@(invdiff_over, invdiff_length);
    return invdiff_nth <= @CALLS@;
}
@FUNCTIONS@#endif
