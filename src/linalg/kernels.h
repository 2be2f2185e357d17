/* The tables of kernels: one for each instruction set, filled by isa/kernels_isa.c. Private. */
#ifndef RB_LINALG_KERNELS_H
#define RB_LINALG_KERNELS_H

#include "linalg/linalg.h"

/* Of one type; every pointer is to values of that type unless it says double. */
struct rb_type_kernels {
    double (*dot)(int64_t n, const void *x, const void *y);
    void (*axpy)(int64_t n, double alpha, const void *x, void *y);
    void (*shift_scale)(int64_t n, const void *x, const void *shift, const void *factor, void *out);
    void (*rectify)(int64_t rows, int64_t cols, int64_t ld, void *x, const void *bias, double *sum,
                    double *largest);
    double (*step_row)(int64_t n, double factor, const void *x, const void *y, void *out);
    bool (*settle_row)(int64_t n, double factor, void *target, void *codes, void *largest);
    void (*mstep_row)(int64_t n, double eta, const void *u, const void *z, const void *t, void *w,
                      double sums[3]);
    /* OUT (+)= V B for rows first .. first + count - 1 of V. */
    void (*csr)(rb_csr v, int64_t first, int64_t count, rb_dense b, bool add, rb_dense out);
    /* Upper triangle <- lower triangle. */
    void (*mirror)(int64_t n, void *a, int64_t ld);
    void (*widen)(int64_t n, const void *x, double *out);
    void (*narrow)(int64_t n, double factor, const double *x, void *out);
    void (*replace_row)(int64_t n, const uint32_t *words, uint32_t threshold, const void *low,
                        const void *high, const void *x, void *out);
    void (*add_floats)(int64_t n, double factor, const float *floats, const void *x, void *out);
    void (*drop_row)(int64_t n, const uint32_t *words, uint32_t threshold, void *x, double *sum,
                     double *squares);
};

struct rb_kernels {
    const char *name;
    struct rb_type_kernels of[2]; /* by rb_type */
    /* Turns the lower triangle of a positive definite matrix into that of minus its inverse, in
     * place. a has rows and ld rounded up to RB_SWEEP_PAD, zeros in the padding; the upper triangle
     * is overwritten with nothing of use. work: 2 * RB_SWEEP_PAD * ld values. Returns -1, or the
     * first row whose pivot is not positive and finite. */
    int64_t (*sweep)(int64_t n, double *a, int64_t ld, double *work, double *log_det);
    void (*random_row)(uint64_t key, uint64_t row, int64_t n, uint32_t *words);
    void (*normal_row)(uint64_t key, uint64_t row, int64_t n, float *values);
};

enum { RB_SWEEP_PAD = 8 };

/* The best that this processor can run; and those of a context. */
const struct rb_kernels *rb_kernels_best(void);
const struct rb_kernels *rb_kernels_of(const rb_context *ctx);

#endif
