/* The kernels of one instruction set. This file is compiled once for each (cmake/Kernels.cmake)
 * with RB_ISA = ref, avx2 or avx512. Sums run in lanes of a vector in a fixed order: the compiler
 * is never allowed to reorder them, so a kernel gives the same bits wherever it runs. */
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define JOIN_OF(a, b) a##b
#define JOIN(a, b) JOIN_OF(a, b)

/* Values of a and b in turn, from the i-th on, as many of both as the name says: compilers make
 * a single instruction of such a vector. */
#define PAIRS_2(a, b, i) a[i], b[i]
#define PAIRS_4(a, b, i) PAIRS_2(a, b, i), PAIRS_2(a, b, (i) + 1)
#define PAIRS_8(a, b, i) PAIRS_4(a, b, i), PAIRS_4(a, b, (i) + 2)
#define PAIRS_16(a, b, i) PAIRS_8(a, b, i), PAIRS_8(a, b, (i) + 4)

/* Bytes of a vector register, and all values of one from two others. */
#if defined(__AVX512F__)
enum { VECTOR_BYTES = 64 };
#define PAIRS_float PAIRS_16
#define PAIRS_double PAIRS_8
#elif defined(__AVX2__)
enum { VECTOR_BYTES = 32 };
#define PAIRS_float PAIRS_8
#define PAIRS_double PAIRS_4
#else
enum { VECTOR_BYTES = 16 };
#define PAIRS_float PAIRS_4
#define PAIRS_double PAIRS_2
#endif

/* Products that are faster here than in a BLAS, which copies its operands first: those whose rows
 * have at most so many bytes, and those that have at most so many rows. */
#if defined(__AVX512F__)
enum { FEW_BYTES = 320, FEW_ROWS = 96 };
#elif defined(__AVX2__)
enum { FEW_BYTES = 128, FEW_ROWS = 96 };
#else
enum { FEW_BYTES = 0, FEW_ROWS = 0 };
#endif

static inline bool is_intel(void) {
#if defined(__AVX2__)
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}

/* Sums in float32 are handed on to float64 after this many values. */
enum { RUN = 4096 };

#define REAL float
#define NAME(name) name##_float
#include "kernels.inc"
#undef REAL
#undef NAME

#define REAL double
#define NAME(name) name##_double
#include "kernels.inc"
#undef REAL
#undef NAME

#include "random.inc"
#include "sweep.inc"

extern const struct rb_kernels JOIN(rb_kernels_, RB_ISA);
const struct rb_kernels JOIN(rb_kernels_, RB_ISA) = {
    .name = TEXT(RB_ISA),
    .of = {{dot_float,         axpy_float,       add_products_float, shift_scale_float,
            rectify_float,     add_rows_float,   step_row_float,     settle_row_float,
            move_row_float,    compress_float,   csr_float,          csr_cross_float,
            mirror_float,      widen_float,      narrow_float,       standardize_float,
            replace_row_float, add_floats_float, drop_row_float,     add_squares_float,
            split_row_float,   fill_row_float,   descend_float,      descend_one_float,
            scale_float,       shrink_float,     few_float,          transpose_float},
           {dot_double,         axpy_double,       add_products_double, shift_scale_double,
            rectify_double,     add_rows_double,   step_row_double,     settle_row_double,
            move_row_double,    compress_double,   csr_double,          csr_cross_double,
            mirror_double,      widen_double,      narrow_double,       standardize_double,
            replace_row_double, add_floats_double, drop_row_double,     add_squares_double,
            split_row_double,   fill_row_double,   descend_double,      descend_one_double,
            scale_double,       shrink_double,     few_double,          transpose_double}},
    .few_bytes = FEW_BYTES,
    .few_rows = FEW_ROWS,
    .sweep = sweep,
    .random_row = random_row,
    .normal_row = normal_row,
};
