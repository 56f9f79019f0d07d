/* What tests ask of Check: each macro a call of a function of its name. */
#ifndef _INVDIFF_CHECK_H
#define _INVDIFF_CHECK_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
typedef struct TCase TCase;
typedef struct Suite Suite;
typedef struct SRunner SRunner;
typedef struct TestResult TestResult;
typedef void (*TFun)(int);
typedef void (*SFun)(void);
enum print_output { CK_SILENT, CK_MINIMAL, CK_NORMAL, CK_VERBOSE, CK_ENV, CK_SUBUNIT, CK_LAST };
enum fork_status { CK_FORK_GETENV, CK_FORK, CK_NOFORK };
enum test_result { CK_TEST_RESULT_INVALID = -1, CK_PASS, CK_FAILURE, CK_ERROR };
#define START_TEST(name) static void name(int _i)
#define END_TEST
Suite *suite_create(const char *name);
void suite_add_tcase(Suite *s, TCase *tc);
TCase *tcase_create(const char *name);
void tcase_add_test(TCase *tc, TFun f);
void tcase_add_test_raise_signal(TCase *tc, TFun f, int signal);
void tcase_add_exit_test(TCase *tc, TFun f, int expected);
void tcase_add_loop_test(TCase *tc, TFun f, int first, int end);
void tcase_add_unchecked_fixture(TCase *tc, SFun setup, SFun teardown);
void tcase_add_checked_fixture(TCase *tc, SFun setup, SFun teardown);
void tcase_set_timeout(TCase *tc, double timeout);
void tcase_set_tags(TCase *tc, const char *tags);
const char *tcase_name(void);
SRunner *srunner_create(Suite *s);
void srunner_add_suite(SRunner *sr, Suite *s);
void srunner_free(SRunner *sr);
void srunner_run_all(SRunner *sr, enum print_output mode);
void srunner_run(SRunner *sr, const char *suite, const char *tcase, enum print_output mode);
int srunner_ntests_failed(SRunner *sr);
int srunner_ntests_run(SRunner *sr);
void srunner_set_log(SRunner *sr, const char *name);
void srunner_set_xml(SRunner *sr, const char *name);
void srunner_set_tap(SRunner *sr, const char *name);
void srunner_set_fork_status(SRunner *sr, enum fork_status status);
enum fork_status srunner_fork_status(SRunner *sr);
void srunner_print(SRunner *sr, enum print_output mode);
void mark_point(void);
pid_t check_fork(void);
void check_waitpid_and_exit(pid_t pid);
void check_set_max_msg_size(size_t size);
void ck_abort(void) __attribute__((noreturn));
void ck_abort_msg(const char *format, ...) __attribute__((noreturn));
void ck_assert(intmax_t expression);
#define ck_assert(p0) (ck_assert)((p0) ? 1 : 0)
void ck_assert_msg(intmax_t expression, ...);
#define ck_assert_msg(p0, ...) (ck_assert_msg)((p0) ? 1 : 0, ## __VA_ARGS__)
void fail_unless(intmax_t expression, ...);
#define fail_unless(p0, ...) (fail_unless)((p0) ? 1 : 0, ## __VA_ARGS__)
void fail_if(intmax_t expression, ...);
#define fail_if(p0, ...) (fail_if)((p0) ? 1 : 0, ## __VA_ARGS__)
void fail(const char *format, ...) __attribute__((noreturn));
void ck_assert_int_eq(intmax_t, intmax_t);
#define ck_assert_int_eq(p0, p1) (ck_assert_int_eq)((intmax_t)(p0), (intmax_t)(p1))
void ck_assert_int_ne(intmax_t, intmax_t);
#define ck_assert_int_ne(p0, p1) (ck_assert_int_ne)((intmax_t)(p0), (intmax_t)(p1))
void ck_assert_int_lt(intmax_t, intmax_t);
#define ck_assert_int_lt(p0, p1) (ck_assert_int_lt)((intmax_t)(p0), (intmax_t)(p1))
void ck_assert_int_le(intmax_t, intmax_t);
#define ck_assert_int_le(p0, p1) (ck_assert_int_le)((intmax_t)(p0), (intmax_t)(p1))
void ck_assert_int_gt(intmax_t, intmax_t);
#define ck_assert_int_gt(p0, p1) (ck_assert_int_gt)((intmax_t)(p0), (intmax_t)(p1))
void ck_assert_int_ge(intmax_t, intmax_t);
#define ck_assert_int_ge(p0, p1) (ck_assert_int_ge)((intmax_t)(p0), (intmax_t)(p1))
void ck_assert_uint_eq(uintmax_t, uintmax_t);
#define ck_assert_uint_eq(p0, p1) (ck_assert_uint_eq)((uintmax_t)(p0), (uintmax_t)(p1))
void ck_assert_uint_ne(uintmax_t, uintmax_t);
#define ck_assert_uint_ne(p0, p1) (ck_assert_uint_ne)((uintmax_t)(p0), (uintmax_t)(p1))
void ck_assert_uint_lt(uintmax_t, uintmax_t);
#define ck_assert_uint_lt(p0, p1) (ck_assert_uint_lt)((uintmax_t)(p0), (uintmax_t)(p1))
void ck_assert_uint_le(uintmax_t, uintmax_t);
#define ck_assert_uint_le(p0, p1) (ck_assert_uint_le)((uintmax_t)(p0), (uintmax_t)(p1))
void ck_assert_uint_gt(uintmax_t, uintmax_t);
#define ck_assert_uint_gt(p0, p1) (ck_assert_uint_gt)((uintmax_t)(p0), (uintmax_t)(p1))
void ck_assert_uint_ge(uintmax_t, uintmax_t);
#define ck_assert_uint_ge(p0, p1) (ck_assert_uint_ge)((uintmax_t)(p0), (uintmax_t)(p1))
void ck_assert_float_eq(float, float);
#define ck_assert_float_eq(p0, p1) (ck_assert_float_eq)((float)(p0), (float)(p1))
void ck_assert_float_ne(float, float);
#define ck_assert_float_ne(p0, p1) (ck_assert_float_ne)((float)(p0), (float)(p1))
void ck_assert_float_lt(float, float);
#define ck_assert_float_lt(p0, p1) (ck_assert_float_lt)((float)(p0), (float)(p1))
void ck_assert_float_le(float, float);
#define ck_assert_float_le(p0, p1) (ck_assert_float_le)((float)(p0), (float)(p1))
void ck_assert_float_gt(float, float);
#define ck_assert_float_gt(p0, p1) (ck_assert_float_gt)((float)(p0), (float)(p1))
void ck_assert_float_ge(float, float);
#define ck_assert_float_ge(p0, p1) (ck_assert_float_ge)((float)(p0), (float)(p1))
void ck_assert_double_eq(double, double);
#define ck_assert_double_eq(p0, p1) (ck_assert_double_eq)((double)(p0), (double)(p1))
void ck_assert_double_ne(double, double);
#define ck_assert_double_ne(p0, p1) (ck_assert_double_ne)((double)(p0), (double)(p1))
void ck_assert_double_lt(double, double);
#define ck_assert_double_lt(p0, p1) (ck_assert_double_lt)((double)(p0), (double)(p1))
void ck_assert_double_le(double, double);
#define ck_assert_double_le(p0, p1) (ck_assert_double_le)((double)(p0), (double)(p1))
void ck_assert_double_gt(double, double);
#define ck_assert_double_gt(p0, p1) (ck_assert_double_gt)((double)(p0), (double)(p1))
void ck_assert_double_ge(double, double);
#define ck_assert_double_ge(p0, p1) (ck_assert_double_ge)((double)(p0), (double)(p1))
void ck_assert_ldouble_eq(long double, long double);
#define ck_assert_ldouble_eq(p0, p1) (ck_assert_ldouble_eq)((long double)(p0), (long double)(p1))
void ck_assert_ldouble_ne(long double, long double);
#define ck_assert_ldouble_ne(p0, p1) (ck_assert_ldouble_ne)((long double)(p0), (long double)(p1))
void ck_assert_ldouble_lt(long double, long double);
#define ck_assert_ldouble_lt(p0, p1) (ck_assert_ldouble_lt)((long double)(p0), (long double)(p1))
void ck_assert_ldouble_le(long double, long double);
#define ck_assert_ldouble_le(p0, p1) (ck_assert_ldouble_le)((long double)(p0), (long double)(p1))
void ck_assert_ldouble_gt(long double, long double);
#define ck_assert_ldouble_gt(p0, p1) (ck_assert_ldouble_gt)((long double)(p0), (long double)(p1))
void ck_assert_ldouble_ge(long double, long double);
#define ck_assert_ldouble_ge(p0, p1) (ck_assert_ldouble_ge)((long double)(p0), (long double)(p1))
void ck_assert_float_eq_tol(float, float, float);
#define ck_assert_float_eq_tol(p0, p1, p2) (ck_assert_float_eq_tol)((float)(p0), (float)(p1), (float)(p2))
void ck_assert_float_ne_tol(float, float, float);
#define ck_assert_float_ne_tol(p0, p1, p2) (ck_assert_float_ne_tol)((float)(p0), (float)(p1), (float)(p2))
void ck_assert_float_ge_tol(float, float, float);
#define ck_assert_float_ge_tol(p0, p1, p2) (ck_assert_float_ge_tol)((float)(p0), (float)(p1), (float)(p2))
void ck_assert_float_le_tol(float, float, float);
#define ck_assert_float_le_tol(p0, p1, p2) (ck_assert_float_le_tol)((float)(p0), (float)(p1), (float)(p2))
void ck_assert_float_finite(float);
#define ck_assert_float_finite(p0) (ck_assert_float_finite)((float)(p0))
void ck_assert_float_infinite(float);
#define ck_assert_float_infinite(p0) (ck_assert_float_infinite)((float)(p0))
void ck_assert_float_nan(float);
#define ck_assert_float_nan(p0) (ck_assert_float_nan)((float)(p0))
void ck_assert_float_nonnan(float);
#define ck_assert_float_nonnan(p0) (ck_assert_float_nonnan)((float)(p0))
void ck_assert_double_eq_tol(double, double, double);
#define ck_assert_double_eq_tol(p0, p1, p2) (ck_assert_double_eq_tol)((double)(p0), (double)(p1), (double)(p2))
void ck_assert_double_ne_tol(double, double, double);
#define ck_assert_double_ne_tol(p0, p1, p2) (ck_assert_double_ne_tol)((double)(p0), (double)(p1), (double)(p2))
void ck_assert_double_ge_tol(double, double, double);
#define ck_assert_double_ge_tol(p0, p1, p2) (ck_assert_double_ge_tol)((double)(p0), (double)(p1), (double)(p2))
void ck_assert_double_le_tol(double, double, double);
#define ck_assert_double_le_tol(p0, p1, p2) (ck_assert_double_le_tol)((double)(p0), (double)(p1), (double)(p2))
void ck_assert_double_finite(double);
#define ck_assert_double_finite(p0) (ck_assert_double_finite)((double)(p0))
void ck_assert_double_infinite(double);
#define ck_assert_double_infinite(p0) (ck_assert_double_infinite)((double)(p0))
void ck_assert_double_nan(double);
#define ck_assert_double_nan(p0) (ck_assert_double_nan)((double)(p0))
void ck_assert_double_nonnan(double);
#define ck_assert_double_nonnan(p0) (ck_assert_double_nonnan)((double)(p0))
void ck_assert_ldouble_eq_tol(long double, long double, long double);
#define ck_assert_ldouble_eq_tol(p0, p1, p2) (ck_assert_ldouble_eq_tol)((long double)(p0), (long double)(p1), (long double)(p2))
void ck_assert_ldouble_ne_tol(long double, long double, long double);
#define ck_assert_ldouble_ne_tol(p0, p1, p2) (ck_assert_ldouble_ne_tol)((long double)(p0), (long double)(p1), (long double)(p2))
void ck_assert_ldouble_ge_tol(long double, long double, long double);
#define ck_assert_ldouble_ge_tol(p0, p1, p2) (ck_assert_ldouble_ge_tol)((long double)(p0), (long double)(p1), (long double)(p2))
void ck_assert_ldouble_le_tol(long double, long double, long double);
#define ck_assert_ldouble_le_tol(p0, p1, p2) (ck_assert_ldouble_le_tol)((long double)(p0), (long double)(p1), (long double)(p2))
void ck_assert_ldouble_finite(long double);
#define ck_assert_ldouble_finite(p0) (ck_assert_ldouble_finite)((long double)(p0))
void ck_assert_ldouble_infinite(long double);
#define ck_assert_ldouble_infinite(p0) (ck_assert_ldouble_infinite)((long double)(p0))
void ck_assert_ldouble_nan(long double);
#define ck_assert_ldouble_nan(p0) (ck_assert_ldouble_nan)((long double)(p0))
void ck_assert_ldouble_nonnan(long double);
#define ck_assert_ldouble_nonnan(p0) (ck_assert_ldouble_nonnan)((long double)(p0))
void ck_assert_str_eq(const char *, const char *);
#define ck_assert_str_eq(p0, p1) (ck_assert_str_eq)((const char *)(p0), (const char *)(p1))
void ck_assert_mem_eq(const void *, const void *, size_t);
#define ck_assert_mem_eq(p0, p1, p2) (ck_assert_mem_eq)((const void *)(p0), (const void *)(p1), (size_t)(p2))
void ck_assert_str_ne(const char *, const char *);
#define ck_assert_str_ne(p0, p1) (ck_assert_str_ne)((const char *)(p0), (const char *)(p1))
void ck_assert_mem_ne(const void *, const void *, size_t);
#define ck_assert_mem_ne(p0, p1, p2) (ck_assert_mem_ne)((const void *)(p0), (const void *)(p1), (size_t)(p2))
void ck_assert_str_lt(const char *, const char *);
#define ck_assert_str_lt(p0, p1) (ck_assert_str_lt)((const char *)(p0), (const char *)(p1))
void ck_assert_mem_lt(const void *, const void *, size_t);
#define ck_assert_mem_lt(p0, p1, p2) (ck_assert_mem_lt)((const void *)(p0), (const void *)(p1), (size_t)(p2))
void ck_assert_str_le(const char *, const char *);
#define ck_assert_str_le(p0, p1) (ck_assert_str_le)((const char *)(p0), (const char *)(p1))
void ck_assert_mem_le(const void *, const void *, size_t);
#define ck_assert_mem_le(p0, p1, p2) (ck_assert_mem_le)((const void *)(p0), (const void *)(p1), (size_t)(p2))
void ck_assert_str_gt(const char *, const char *);
#define ck_assert_str_gt(p0, p1) (ck_assert_str_gt)((const char *)(p0), (const char *)(p1))
void ck_assert_mem_gt(const void *, const void *, size_t);
#define ck_assert_mem_gt(p0, p1, p2) (ck_assert_mem_gt)((const void *)(p0), (const void *)(p1), (size_t)(p2))
void ck_assert_str_ge(const char *, const char *);
#define ck_assert_str_ge(p0, p1) (ck_assert_str_ge)((const char *)(p0), (const char *)(p1))
void ck_assert_mem_ge(const void *, const void *, size_t);
#define ck_assert_mem_ge(p0, p1, p2) (ck_assert_mem_ge)((const void *)(p0), (const void *)(p1), (size_t)(p2))
void ck_assert_pstr_eq(const char *, const char *);
#define ck_assert_pstr_eq(p0, p1) (ck_assert_pstr_eq)((const char *)(p0), (const char *)(p1))
void ck_assert_ptr_eq(const void *, const void *);
#define ck_assert_ptr_eq(p0, p1) (ck_assert_ptr_eq)((const void *)(p0), (const void *)(p1))
void ck_assert_pstr_ne(const char *, const char *);
#define ck_assert_pstr_ne(p0, p1) (ck_assert_pstr_ne)((const char *)(p0), (const char *)(p1))
void ck_assert_ptr_ne(const void *, const void *);
#define ck_assert_ptr_ne(p0, p1) (ck_assert_ptr_ne)((const void *)(p0), (const void *)(p1))
void ck_assert_ptr_null(const void *);
#define ck_assert_ptr_null(p0) (ck_assert_ptr_null)((const void *)(p0))
void ck_assert_ptr_nonnull(const void *);
#define ck_assert_ptr_nonnull(p0) (ck_assert_ptr_nonnull)((const void *)(p0))
#endif
