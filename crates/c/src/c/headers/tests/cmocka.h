/* What tests ask of cmocka: each macro a call of a function of its name. */
#ifndef _INVDIFF_CMOCKA_H
#define _INVDIFF_CMOCKA_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
struct CMUnitTest {
  const char *name;
  void (*test_func)(void **state);
  int (*setup_func)(void **state);
  int (*teardown_func)(void **state);
  void *initial_state;
};
typedef uintmax_t LargestIntegralType;
typedef void (*CMUnitTestFunction)(void **state);
typedef int (*CMFixtureFunction)(void **state);
typedef int (*CheckParameterValue)(const uintmax_t value, const uintmax_t check_value_data);
void assert_true(uintmax_t);
#define assert_true(p0) (assert_true)((uintmax_t)(p0))
void assert_false(uintmax_t);
#define assert_false(p0) (assert_false)((uintmax_t)(p0))
void assert_null(const void *);
#define assert_null(p0) (assert_null)((const void *)(p0))
void assert_non_null(const void *);
#define assert_non_null(p0) (assert_non_null)((const void *)(p0))
void assert_non_null_msg(const void *, const char *);
#define assert_non_null_msg(p0, p1) (assert_non_null_msg)((const void *)(p0), (const char *)(p1))
void assert_null_msg(const void *, const char *);
#define assert_null_msg(p0, p1) (assert_null_msg)((const void *)(p0), (const char *)(p1))
void assert_return_code(uintmax_t, int);
#define assert_return_code(p0, p1) (assert_return_code)((uintmax_t)(p0), (int)(p1))
void assert_int_equal(intmax_t, intmax_t);
#define assert_int_equal(p0, p1) (assert_int_equal)((intmax_t)(p0), (intmax_t)(p1))
void assert_uint_equal(uintmax_t, uintmax_t);
#define assert_uint_equal(p0, p1) (assert_uint_equal)((uintmax_t)(p0), (uintmax_t)(p1))
void assert_ptr_equal(const void *, const void *);
#define assert_ptr_equal(p0, p1) (assert_ptr_equal)((const void *)(p0), (const void *)(p1))
void assert_string_equal(const char *, const char *);
#define assert_string_equal(p0, p1) (assert_string_equal)((const char *)(p0), (const char *)(p1))
void assert_memory_equal(const void *, const void *, size_t);
#define assert_memory_equal(p0, p1, p2) (assert_memory_equal)((const void *)(p0), (const void *)(p1), (size_t)(p2))
void assert_ptr_equal_msg(const void *, const void *, const char *);
#define assert_ptr_equal_msg(p0, p1, p2) (assert_ptr_equal_msg)((const void *)(p0), (const void *)(p1), (const char *)(p2))
void assert_float_equal(float, float, float);
#define assert_float_equal(p0, p1, p2) (assert_float_equal)((float)(p0), (float)(p1), (float)(p2))
void assert_double_equal(double, double, double);
#define assert_double_equal(p0, p1, p2) (assert_double_equal)((double)(p0), (double)(p1), (double)(p2))
void assert_int_not_equal(intmax_t, intmax_t);
#define assert_int_not_equal(p0, p1) (assert_int_not_equal)((intmax_t)(p0), (intmax_t)(p1))
void assert_uint_not_equal(uintmax_t, uintmax_t);
#define assert_uint_not_equal(p0, p1) (assert_uint_not_equal)((uintmax_t)(p0), (uintmax_t)(p1))
void assert_ptr_not_equal(const void *, const void *);
#define assert_ptr_not_equal(p0, p1) (assert_ptr_not_equal)((const void *)(p0), (const void *)(p1))
void assert_string_not_equal(const char *, const char *);
#define assert_string_not_equal(p0, p1) (assert_string_not_equal)((const char *)(p0), (const char *)(p1))
void assert_memory_not_equal(const void *, const void *, size_t);
#define assert_memory_not_equal(p0, p1, p2) (assert_memory_not_equal)((const void *)(p0), (const void *)(p1), (size_t)(p2))
void assert_ptr_not_equal_msg(const void *, const void *, const char *);
#define assert_ptr_not_equal_msg(p0, p1, p2) (assert_ptr_not_equal_msg)((const void *)(p0), (const void *)(p1), (const char *)(p2))
void assert_float_not_equal(float, float, float);
#define assert_float_not_equal(p0, p1, p2) (assert_float_not_equal)((float)(p0), (float)(p1), (float)(p2))
void assert_double_not_equal(double, double, double);
#define assert_double_not_equal(p0, p1, p2) (assert_double_not_equal)((double)(p0), (double)(p1), (double)(p2))
void assert_in_range(uintmax_t, uintmax_t, uintmax_t);
#define assert_in_range(p0, p1, p2) (assert_in_range)((uintmax_t)(p0), (uintmax_t)(p1), (uintmax_t)(p2))
void assert_in_set(uintmax_t, const uintmax_t *, size_t);
#define assert_in_set(p0, p1, p2) (assert_in_set)((uintmax_t)(p0), (const uintmax_t *)(p1), (size_t)(p2))
void assert_not_in_range(uintmax_t, uintmax_t, uintmax_t);
#define assert_not_in_range(p0, p1, p2) (assert_not_in_range)((uintmax_t)(p0), (uintmax_t)(p1), (uintmax_t)(p2))
void assert_not_in_set(uintmax_t, const uintmax_t *, size_t);
#define assert_not_in_set(p0, p1, p2) (assert_not_in_set)((uintmax_t)(p0), (const uintmax_t *)(p1), (size_t)(p2))
void assert_int_in_range(intmax_t, intmax_t, intmax_t);
#define assert_int_in_range(p0, p1, p2) (assert_int_in_range)((intmax_t)(p0), (intmax_t)(p1), (intmax_t)(p2))
void assert_int_in_set(intmax_t, const intmax_t *, size_t);
#define assert_int_in_set(p0, p1, p2) (assert_int_in_set)((intmax_t)(p0), (const intmax_t *)(p1), (size_t)(p2))
void assert_int_not_in_range(intmax_t, intmax_t, intmax_t);
#define assert_int_not_in_range(p0, p1, p2) (assert_int_not_in_range)((intmax_t)(p0), (intmax_t)(p1), (intmax_t)(p2))
void assert_int_not_in_set(intmax_t, const intmax_t *, size_t);
#define assert_int_not_in_set(p0, p1, p2) (assert_int_not_in_set)((intmax_t)(p0), (const intmax_t *)(p1), (size_t)(p2))
void assert_uint_in_range(uintmax_t, uintmax_t, uintmax_t);
#define assert_uint_in_range(p0, p1, p2) (assert_uint_in_range)((uintmax_t)(p0), (uintmax_t)(p1), (uintmax_t)(p2))
void assert_uint_in_set(uintmax_t, const uintmax_t *, size_t);
#define assert_uint_in_set(p0, p1, p2) (assert_uint_in_set)((uintmax_t)(p0), (const uintmax_t *)(p1), (size_t)(p2))
void assert_uint_not_in_range(uintmax_t, uintmax_t, uintmax_t);
#define assert_uint_not_in_range(p0, p1, p2) (assert_uint_not_in_range)((uintmax_t)(p0), (uintmax_t)(p1), (uintmax_t)(p2))
void assert_uint_not_in_set(uintmax_t, const uintmax_t *, size_t);
#define assert_uint_not_in_set(p0, p1, p2) (assert_uint_not_in_set)((uintmax_t)(p0), (const uintmax_t *)(p1), (size_t)(p2))
void will_return(const char *, uintmax_t);
#define will_return(p0, p1) (will_return)(#p0, (uintmax_t)(p1))
void will_return_always(const char *, uintmax_t);
#define will_return_always(p0, p1) (will_return_always)(#p0, (uintmax_t)(p1))
void will_return_maybe(const char *, uintmax_t);
#define will_return_maybe(p0, p1) (will_return_maybe)(#p0, (uintmax_t)(p1))
void will_return_count(const char *, uintmax_t, int);
#define will_return_count(p0, p1, p2) (will_return_count)(#p0, (uintmax_t)(p1), (int)(p2))
void check_expected(uintmax_t);
#define check_expected(p0) (check_expected)((uintmax_t)(p0))
void will_return_int(const char *, intmax_t);
#define will_return_int(p0, p1) (will_return_int)(#p0, (intmax_t)(p1))
void will_return_int_always(const char *, intmax_t);
#define will_return_int_always(p0, p1) (will_return_int_always)(#p0, (intmax_t)(p1))
void will_return_int_maybe(const char *, intmax_t);
#define will_return_int_maybe(p0, p1) (will_return_int_maybe)(#p0, (intmax_t)(p1))
void will_return_int_count(const char *, intmax_t, int);
#define will_return_int_count(p0, p1, p2) (will_return_int_count)(#p0, (intmax_t)(p1), (int)(p2))
void check_expected_int(intmax_t);
#define check_expected_int(p0) (check_expected_int)((intmax_t)(p0))
intmax_t mock_int(void);
void will_return_uint(const char *, uintmax_t);
#define will_return_uint(p0, p1) (will_return_uint)(#p0, (uintmax_t)(p1))
void will_return_uint_always(const char *, uintmax_t);
#define will_return_uint_always(p0, p1) (will_return_uint_always)(#p0, (uintmax_t)(p1))
void will_return_uint_maybe(const char *, uintmax_t);
#define will_return_uint_maybe(p0, p1) (will_return_uint_maybe)(#p0, (uintmax_t)(p1))
void will_return_uint_count(const char *, uintmax_t, int);
#define will_return_uint_count(p0, p1, p2) (will_return_uint_count)(#p0, (uintmax_t)(p1), (int)(p2))
void check_expected_uint(uintmax_t);
#define check_expected_uint(p0) (check_expected_uint)((uintmax_t)(p0))
uintmax_t mock_uint(void);
void will_return_ptr(const char *, const void *);
#define will_return_ptr(p0, p1) (will_return_ptr)(#p0, (const void *)(p1))
void will_return_ptr_always(const char *, const void *);
#define will_return_ptr_always(p0, p1) (will_return_ptr_always)(#p0, (const void *)(p1))
void will_return_ptr_maybe(const char *, const void *);
#define will_return_ptr_maybe(p0, p1) (will_return_ptr_maybe)(#p0, (const void *)(p1))
void will_return_ptr_count(const char *, const void *, int);
#define will_return_ptr_count(p0, p1, p2) (will_return_ptr_count)(#p0, (const void *)(p1), (int)(p2))
void check_expected_ptr(const void *);
#define check_expected_ptr(p0) (check_expected_ptr)((const void *)(p0))
const void * mock_ptr(void);
void will_return_float(const char *, double);
#define will_return_float(p0, p1) (will_return_float)(#p0, (double)(p1))
void will_return_float_always(const char *, double);
#define will_return_float_always(p0, p1) (will_return_float_always)(#p0, (double)(p1))
void will_return_float_maybe(const char *, double);
#define will_return_float_maybe(p0, p1) (will_return_float_maybe)(#p0, (double)(p1))
void will_return_float_count(const char *, double, int);
#define will_return_float_count(p0, p1, p2) (will_return_float_count)(#p0, (double)(p1), (int)(p2))
void check_expected_float(double);
#define check_expected_float(p0) (check_expected_float)((double)(p0))
double mock_float(void);
uintmax_t mock(void);
#define mock_type(type) ((type)mock())
#define mock_ptr_type(type) ((type)(uintptr_t)mock())
#define mock_ptr_type_checked(type, name) ((type)(uintptr_t)mock())
void expect_value(const char *, const char *, uintmax_t);
#define expect_value(p0, p1, p2) (expect_value)(#p0, #p1, (uintmax_t)(p2))
void expect_value_count(const char *, const char *, uintmax_t, int);
#define expect_value_count(p0, p1, p2, p3) (expect_value_count)(#p0, #p1, (uintmax_t)(p2), (int)(p3))
void expect_int_value(const char *, const char *, intmax_t);
#define expect_int_value(p0, p1, p2) (expect_int_value)(#p0, #p1, (intmax_t)(p2))
void expect_int_value_count(const char *, const char *, intmax_t, int);
#define expect_int_value_count(p0, p1, p2, p3) (expect_int_value_count)(#p0, #p1, (intmax_t)(p2), (int)(p3))
void expect_uint_value(const char *, const char *, uintmax_t);
#define expect_uint_value(p0, p1, p2) (expect_uint_value)(#p0, #p1, (uintmax_t)(p2))
void expect_uint_value_count(const char *, const char *, uintmax_t, int);
#define expect_uint_value_count(p0, p1, p2, p3) (expect_uint_value_count)(#p0, #p1, (uintmax_t)(p2), (int)(p3))
void expect_not_value(const char *, const char *, uintmax_t);
#define expect_not_value(p0, p1, p2) (expect_not_value)(#p0, #p1, (uintmax_t)(p2))
void expect_not_value_count(const char *, const char *, uintmax_t, int);
#define expect_not_value_count(p0, p1, p2, p3) (expect_not_value_count)(#p0, #p1, (uintmax_t)(p2), (int)(p3))
void expect_int_not_value(const char *, const char *, intmax_t);
#define expect_int_not_value(p0, p1, p2) (expect_int_not_value)(#p0, #p1, (intmax_t)(p2))
void expect_int_not_value_count(const char *, const char *, intmax_t, int);
#define expect_int_not_value_count(p0, p1, p2, p3) (expect_int_not_value_count)(#p0, #p1, (intmax_t)(p2), (int)(p3))
void expect_uint_not_value(const char *, const char *, uintmax_t);
#define expect_uint_not_value(p0, p1, p2) (expect_uint_not_value)(#p0, #p1, (uintmax_t)(p2))
void expect_uint_not_value_count(const char *, const char *, uintmax_t, int);
#define expect_uint_not_value_count(p0, p1, p2, p3) (expect_uint_not_value_count)(#p0, #p1, (uintmax_t)(p2), (int)(p3))
void expect_in_range(const char *, const char *, uintmax_t, uintmax_t);
#define expect_in_range(p0, p1, p2, p3) (expect_in_range)(#p0, #p1, (uintmax_t)(p2), (uintmax_t)(p3))
void expect_in_range_count(const char *, const char *, uintmax_t, uintmax_t, int);
#define expect_in_range_count(p0, p1, p2, p3, p4) (expect_in_range_count)(#p0, #p1, (uintmax_t)(p2), (uintmax_t)(p3), (int)(p4))
void expect_int_in_range(const char *, const char *, intmax_t, intmax_t);
#define expect_int_in_range(p0, p1, p2, p3) (expect_int_in_range)(#p0, #p1, (intmax_t)(p2), (intmax_t)(p3))
void expect_int_in_range_count(const char *, const char *, intmax_t, intmax_t, int);
#define expect_int_in_range_count(p0, p1, p2, p3, p4) (expect_int_in_range_count)(#p0, #p1, (intmax_t)(p2), (intmax_t)(p3), (int)(p4))
void expect_uint_in_range(const char *, const char *, uintmax_t, uintmax_t);
#define expect_uint_in_range(p0, p1, p2, p3) (expect_uint_in_range)(#p0, #p1, (uintmax_t)(p2), (uintmax_t)(p3))
void expect_uint_in_range_count(const char *, const char *, uintmax_t, uintmax_t, int);
#define expect_uint_in_range_count(p0, p1, p2, p3, p4) (expect_uint_in_range_count)(#p0, #p1, (uintmax_t)(p2), (uintmax_t)(p3), (int)(p4))
void expect_not_in_range(const char *, const char *, uintmax_t, uintmax_t);
#define expect_not_in_range(p0, p1, p2, p3) (expect_not_in_range)(#p0, #p1, (uintmax_t)(p2), (uintmax_t)(p3))
void expect_not_in_range_count(const char *, const char *, uintmax_t, uintmax_t, int);
#define expect_not_in_range_count(p0, p1, p2, p3, p4) (expect_not_in_range_count)(#p0, #p1, (uintmax_t)(p2), (uintmax_t)(p3), (int)(p4))
void expect_int_not_in_range(const char *, const char *, intmax_t, intmax_t);
#define expect_int_not_in_range(p0, p1, p2, p3) (expect_int_not_in_range)(#p0, #p1, (intmax_t)(p2), (intmax_t)(p3))
void expect_int_not_in_range_count(const char *, const char *, intmax_t, intmax_t, int);
#define expect_int_not_in_range_count(p0, p1, p2, p3, p4) (expect_int_not_in_range_count)(#p0, #p1, (intmax_t)(p2), (intmax_t)(p3), (int)(p4))
void expect_uint_not_in_range(const char *, const char *, uintmax_t, uintmax_t);
#define expect_uint_not_in_range(p0, p1, p2, p3) (expect_uint_not_in_range)(#p0, #p1, (uintmax_t)(p2), (uintmax_t)(p3))
void expect_uint_not_in_range_count(const char *, const char *, uintmax_t, uintmax_t, int);
#define expect_uint_not_in_range_count(p0, p1, p2, p3, p4) (expect_uint_not_in_range_count)(#p0, #p1, (uintmax_t)(p2), (uintmax_t)(p3), (int)(p4))
void expect_in_set(const char *, const char *, const uintmax_t *);
#define expect_in_set(f, p, s) (expect_in_set)(#f, #p, s)
void expect_not_in_set(const char *, const char *, const uintmax_t *);
#define expect_not_in_set(f, p, s) (expect_not_in_set)(#f, #p, s)
void expect_string(const char *, const char *, const char *);
#define expect_string(p0, p1, p2) (expect_string)(#p0, #p1, (const char *)(p2))
void expect_string_count(const char *, const char *, const char *, int);
#define expect_string_count(p0, p1, p2, p3) (expect_string_count)(#p0, #p1, (const char *)(p2), (int)(p3))
void expect_not_string(const char *, const char *, const char *);
#define expect_not_string(p0, p1, p2) (expect_not_string)(#p0, #p1, (const char *)(p2))
void expect_not_string_count(const char *, const char *, const char *, int);
#define expect_not_string_count(p0, p1, p2, p3) (expect_not_string_count)(#p0, #p1, (const char *)(p2), (int)(p3))
void expect_memory(const char *, const char *, const void *, size_t);
#define expect_memory(p0, p1, p2, p3) (expect_memory)(#p0, #p1, (const void *)(p2), (size_t)(p3))
void expect_memory_count(const char *, const char *, const void *, size_t, int);
#define expect_memory_count(p0, p1, p2, p3, p4) (expect_memory_count)(#p0, #p1, (const void *)(p2), (size_t)(p3), (int)(p4))
void expect_not_memory(const char *, const char *, const void *, size_t);
#define expect_not_memory(p0, p1, p2, p3) (expect_not_memory)(#p0, #p1, (const void *)(p2), (size_t)(p3))
void expect_not_memory_count(const char *, const char *, const void *, size_t, int);
#define expect_not_memory_count(p0, p1, p2, p3, p4) (expect_not_memory_count)(#p0, #p1, (const void *)(p2), (size_t)(p3), (int)(p4))
void expect_any(const char *, const char *);
#define expect_any(p0, p1) (expect_any)(#p0, #p1)
void expect_any_count(const char *, const char *, int);
#define expect_any_count(p0, p1, p2) (expect_any_count)(#p0, #p1, (int)(p2))
void expect_any_always(const char *, const char *);
#define expect_any_always(p0, p1) (expect_any_always)(#p0, #p1)
void expect_check(const char *, const char *, CheckParameterValue, const void *);
#define expect_check(p0, p1, p2, p3) (expect_check)(#p0, #p1, (CheckParameterValue)(p2), (const void *)(p3))
void expect_function_call(const char *);
#define expect_function_call(p0) (expect_function_call)(#p0)
void expect_function_calls(const char *, int);
#define expect_function_calls(p0, p1) (expect_function_calls)(#p0, (int)(p1))
void expect_function_call_any(const char *);
#define expect_function_call_any(p0) (expect_function_call_any)(#p0)
void ignore_function_calls(const char *);
#define ignore_function_calls(p0) (ignore_function_calls)(#p0)
void function_called(void);
void fail(void) __attribute__((noreturn));
void fail_msg(const char *format, ...) __attribute__((noreturn));
void skip(void) __attribute__((noreturn));
void print_message(const char *format, ...);
void print_error(const char *format, ...);
#define cmocka_unit_test(f) {#f, f, NULL, NULL, NULL}
#define cmocka_unit_test_setup(f, setup) {#f, f, setup, NULL, NULL}
#define cmocka_unit_test_teardown(f, teardown) {#f, f, NULL, teardown, NULL}
#define cmocka_unit_test_setup_teardown(f, setup, teardown) {#f, f, setup, teardown, NULL}
#define cmocka_unit_test_prestate(f, state) {#f, f, NULL, NULL, state}
#define cmocka_unit_test_prestate_setup_teardown(f, setup, teardown, state) {#f, f, setup, teardown, state}
int _cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
                            CMFixtureFunction teardown);
#define cmocka_run_group_tests(tests, setup, teardown) \
  _cmocka_run_group_tests(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
  _cmocka_run_group_tests(name, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
enum cm_message_output { CM_OUTPUT_STANDARD = 1, CM_OUTPUT_STDOUT = 1, CM_OUTPUT_SUBUNIT = 2, CM_OUTPUT_TAP = 4, CM_OUTPUT_XML = 8 };
void cmocka_set_message_output(enum cm_message_output output);
void cmocka_set_test_filter(const char *pattern);
void cmocka_set_skip_filter(const char *pattern);
void *_test_malloc(size_t size, const char *file, int line);
void *_test_calloc(size_t n, size_t size, const char *file, int line);
void *_test_realloc(void *p, size_t size, const char *file, int line);
void _test_free(void *p, const char *file, int line);
#define test_malloc(size) _test_malloc(size, __FILE__, __LINE__)
#define test_calloc(n, size) _test_calloc(n, size, __FILE__, __LINE__)
#define test_realloc(p, size) _test_realloc(p, size, __FILE__, __LINE__)
#define test_free(p) _test_free(p, __FILE__, __LINE__)
void mock_assert(int result, const char *expression, const char *file, int line);
void expect_assert_failure_begin(void);
#define expect_assert_failure(call) (expect_assert_failure_begin(), (void)(call))
#endif
