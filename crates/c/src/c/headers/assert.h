/* No include guard: NDEBUG is read anew at every inclusion (C11 7.2). */
#ifndef __INVDIFF_ASSERT_H
#define __INVDIFF_ASSERT_H
/* The text alone, no line number: moving an assertion must not change the program's meaning. */
_Noreturn void __invdiff_assert_fail(const char *);
/* Does nothing; the text of what is compiled out is known by it. */
void __invdiff_assert_off(const char *);
#endif
#undef assert
#ifdef NDEBUG
#define assert(e) __invdiff_assert_off(#e)
#else
#define assert(e) ((e) ? (void)0 : __invdiff_assert_fail(#e))
#endif
#undef static_assert
#define static_assert _Static_assert
