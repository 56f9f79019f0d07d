#ifndef __INVDIFF_BITSTRING_H
#define __INVDIFF_BITSTRING_H
#include <stdlib.h>
#include <string.h>
typedef unsigned char bitstr_t;
#define bitstr_size(nbits) (((nbits) + 7) >> 3)
#define bit_alloc(nbits) ((bitstr_t *)calloc((size_t)bitstr_size(nbits), sizeof(bitstr_t)))
#define bit_decl(name, nbits) ((name)[bitstr_size(nbits)])
#define bit_test(name, bit) ((name)[(bit) >> 3] & (1 << ((bit) & 7)))
#define bit_set(name, bit) ((name)[(bit) >> 3] |= (1 << ((bit) & 7)))
#define bit_clear(name, bit) ((name)[(bit) >> 3] &= ~(1 << ((bit) & 7)))
#define bit_nset(name, start, stop) \
    do { \
        for (int __bit = (start); __bit <= (stop); __bit++) \
            bit_set(name, __bit); \
    } while (0)
#define bit_nclear(name, start, stop) \
    do { \
        for (int __bit = (start); __bit <= (stop); __bit++) \
            bit_clear(name, __bit); \
    } while (0)
#define bit_ffs(name, nbits, value) \
    do { \
        *(value) = -1; \
        for (int __bit = 0; __bit < (nbits); __bit++) \
            if (bit_test(name, __bit)) { \
                *(value) = __bit; \
                break; \
            } \
    } while (0)
#define bit_ffc(name, nbits, value) \
    do { \
        *(value) = -1; \
        for (int __bit = 0; __bit < (nbits); __bit++) \
            if (!bit_test(name, __bit)) { \
                *(value) = __bit; \
                break; \
            } \
    } while (0)
#endif
