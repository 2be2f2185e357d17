/* Loops over the numbers of a net, for both types.
 *
 * Momentum: B. T. Polyak, 1964; that of Nesterov in the form of I. Sutskever et al., "On the
 * importance of initialization and momentum in deep learning", 2013, with the parameters where the
 * gradient is taken. Adam: D. P. Kingma, J. Ba, "Adam: a method for stochastic optimization", 2015,
 * algorithm 1. */
#include "net.h"

#include <math.h>

#define JOIN(name, type) name##_##type
#define NUMBER float
#define ROOT sqrtf
#define NAME(name) JOIN(name, float)
#include "net_loops.inc"
#undef NUMBER
#undef ROOT
#undef NAME
#define NUMBER double
#define ROOT sqrt
#define NAME(name) JOIN(name, double)
#include "net_loops.inc"

void deep_add_bias(rb_dense x, rb_dense bias, bool rectify) {
    for (int64_t i = 0; i < x.rows; i++)
        if (x.type == RB_FLOAT32)
            add_bias_float(x.cols, rectify, bias.data, rb_dense_row(x, i));
        else
            add_bias_double(x.cols, rectify, bias.data, rb_dense_row(x, i));
}

void deep_drop(rb_dense row, const uint32_t *words, uint32_t threshold, double factor) {
    if (row.type == RB_FLOAT32)
        drop_float(row.cols, words, threshold, (float)factor, row.data);
    else
        drop_double(row.cols, words, threshold, factor, row.data);
}

void deep_back(rb_dense delta, rb_dense codes, double factor) {
    for (int64_t i = 0; i < delta.rows; i++)
        if (delta.type == RB_FLOAT32)
            back_float(delta.cols, (float)factor, rb_dense_row(codes, i), rb_dense_row(delta, i));
        else
            back_double(delta.cols, factor, rb_dense_row(codes, i), rb_dense_row(delta, i));
}

void deep_step_sgd(rb_type type, int64_t count, const deep_step *step, const void *gradient,
                   void *velocity, void *values) {
    if (type == RB_FLOAT32)
        sgd_float(count, step, gradient, velocity, values);
    else
        sgd_double(count, step, gradient, velocity, values);
}

void deep_step_adam(rb_type type, int64_t count, const deep_step *step, const void *gradient,
                    void *first, void *second, void *values) {
    if (type == RB_FLOAT32)
        adam_float(count, step, gradient, first, second, values);
    else
        adam_double(count, step, gradient, first, second, values);
}

void deep_gather(rb_type type, int64_t n, const int32_t *columns, const void *values,
                 const void *const units[DEEP_SPARSE_UNITS], double sums[DEEP_SPARSE_UNITS]) {
    if (type == RB_FLOAT32)
        gather_float(n, columns, values, units, sums);
    else
        gather_double(n, columns, values, units, sums);
}

void deep_scatter(rb_type type, int64_t n, double factor, const int32_t *columns,
                  const void *values, void *row) {
    if (type == RB_FLOAT32)
        scatter_float(n, (float)factor, columns, values, row);
    else
        scatter_double(n, factor, columns, values, row);
}
