/* The lowest layer on sparse samples, without the zeros: the value of a sample is x - s, with its
 * stored entries x and the shift s of the block.
 *
 *   Z = X W' - 1 (W s)'          for each unit and sample the weights of the entries alone
 *   G = D' X - (D'1) s'          the same weights, moved
 *
 * The weights of a unit lie together, as everywhere in a net; those of a few units fit into the
 * cache of a processor, where reading them out of order costs little. Each unit is one task's, and
 * adds up in the order of samples and entries: the same bits for any number of threads. */
#include "net.h"

#include <string.h>

enum {
    UNITS = DEEP_SPARSE_UNITS, /* that are done together */
    WORTH = 36                 /* an entry here takes the time of so many products of the BLAS */
};

bool deep_sparse_pays(const rb_block *block) {
    const rb_csr *x = &block->csr;
    int64_t entries = block->sparse ? x->starts[x->rows] - x->starts[0] : 0;
    return block->sparse && entries <= x->rows * x->cols / WORTH;
}

struct product {
    rb_context *ctx;
    const rb_block *x;
    const void *shift; /* of the net's type; NULL: none */
    rb_dense weights;  /* or their gradient; units x features */
    rb_dense rows;     /* samples x units */
};

static const void *values_at(const rb_csr *x, int64_t entry) {
    return (const char *)x->values + entry * (int64_t)rb_type_size(x->type);
}

static void forward_task(void *arg, int64_t task, int worker) {
    const struct product *p = arg;
    const rb_csr *x = &p->x->csr;
    rb_dense w = p->weights;
    int64_t first = task * UNITS, left = w.rows - first, count = left < UNITS ? left : UNITS;
    const void *of_unit[UNITS];
    double below[UNITS] = {0}, z[UNITS];
    (void)worker;
    for (int64_t r = 0; r < UNITS; r++) {
        of_unit[r] = rb_dense_row(w, first + (r < count ? r : 0));
        if (p->shift && r < count) below[r] = rb_dot(p->ctx, w.type, w.cols, p->shift, of_unit[r]);
    }
    for (int64_t i = 0; i < x->rows; i++) {
        int64_t begin = x->starts[i] - x->starts[0], n = x->starts[i + 1] - x->starts[i];
        deep_gather(w.type, n, x->columns + begin, values_at(x, begin), of_unit, z);
        for (int64_t r = 0; r < count; r++)
            rb_dense_set(p->rows, i, first + r, z[r] - below[r]);
    }
}

void deep_sparse_forward(rb_context *ctx, const rb_block *x, const void *shift, rb_dense weights,
                         rb_dense z) {
    struct product p = {ctx, x, shift, weights, z};
    rb_parallel(ctx, (weights.rows + UNITS - 1) / UNITS, forward_task, &p);
}

static void gradient_task(void *arg, int64_t unit, int worker) {
    const struct product *p = arg;
    const rb_csr *x = &p->x->csr;
    rb_dense g = rb_dense_rows(p->weights, unit, 1);
    double sum = 0;
    (void)worker;
    rb_dense_zero(g);
    for (int64_t i = 0; i < x->rows; i++) {
        int64_t begin = x->starts[i] - x->starts[0], n = x->starts[i + 1] - x->starts[i];
        double delta = rb_dense_get(p->rows, i, unit);
        if (delta == 0) continue; /* as of every unit that was not active */
        deep_scatter(g.type, n, delta, x->columns + begin, values_at(x, begin), g.data);
        sum += delta;
    }
    if (p->shift) rb_axpy(p->ctx, g.type, g.cols, -sum, p->shift, g.data);
}

void deep_sparse_gradient(rb_context *ctx, const rb_block *x, const void *shift, rb_dense delta,
                          rb_dense gradient) {
    struct product p = {ctx, x, shift, gradient, delta};
    rb_parallel(ctx, gradient.rows, gradient_task, &p);
}
