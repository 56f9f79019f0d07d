#ifndef __INVDIFF_SYS_CDEFS_H
#define __INVDIFF_SYS_CDEFS_H
#define __BEGIN_DECLS
#define __END_DECLS
#define __THROW
#define __THROWNL
#define __nonnull(params)
#define __wur
#define __P(args) args
#define __PMT(args) args
#define __CONCAT(x, y) x##y
#define __STRING(x) #x
#define __ptr_t void *
#define __attribute_malloc__
#define __attribute_pure__
#define __attribute_const__
#define __attribute_used__
#define __attribute_noinline__
#define __attribute_deprecated__
#define __always_inline inline
#define __glibc_likely(c) (c)
#define __glibc_unlikely(c) (c)
#define __restrict_arr
#define __flexarr []
#define __bos(p) __builtin_object_size(p, 1)
#define __bos0(p) __builtin_object_size(p, 0)
#endif
