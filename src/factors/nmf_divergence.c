/* Non-negative matrix factorisation by the divergence of Kullback and Leibler,
 *     D(V || Y) = sum V log(V / Y) - V + Y,   Y = H W',
 * with the rules of Lee and Seung (2001, theorem 2):
 *     H <- H * (V / Y) W / (column sums of W)      W <- W * (V / Y)'H / (column sums of H).
 * The objective is that of the codes of the iteration and the loadings before its M-step: after it
 * would take another product. Values of 0 need no Y, whose sum is that of <sum of H, sum of W>.
 *
 * A value that no unit reaches (Y = 0) is left out: no unit that is there can explain it.
 *
 * Codes of new samples: Newton's method for one unit after the other (C.-J. Hsieh, I. Dhillon,
 * "Fast coordinate descent methods with variable selection for non-negative matrix factorization",
 * KDD 2011, section 4), until they are stationary.
 */
#include "nmf.h"

#include <math.h>

struct pass {
    rb_context *ctx;
    nmf_fit *fit;
    const rb_block *block;
    rb_dense codes;
    rb_csr ratios; /* of a sparse block: as its values lie */
};

void nmf_divergence_begin(nmf_fit *fit) {
    rb_dense w = fit->loadings;
    for (int64_t j = 0; j < w.cols; j++)
        fit->column_sums[j] = 0;
    for (int64_t k = 0; k < w.rows; k++)
        for (int64_t j = 0; j < w.cols; j++)
            fit->column_sums[j] += rb_dense_get(w, k, j);
}

/* V / Y, and V log(V / Y) - V where `sum` is asked for. */
static double ratio_of(double value, double y, double *sum) {
    const double least = 1e-30;
    if (!(value > 0 && y > least)) return 0;
    if (sum) *sum += value * log(value / y) - value;
    return value / y;
}

/* Rows hold Y and become V / Y. */
static void divide_rows(rb_dense v, rb_dense rows, double *sum) {
    for (int64_t i = 0; i < rows.rows; i++) {
        const void *values = rb_dense_row(v, i);
        void *row = rb_dense_row(rows, i);
        for (int64_t k = 0; k < rows.cols; k++) {
            double value = rb_get(v.type, values, k);
            double y = value > 0 ? rb_get(rows.type, row, k) : 0;
            rb_put(rows.type, row, k, ratio_of(value, y, sum));
        }
    }
}

static void divide_entries(const struct pass *p, int64_t first, rb_dense codes, double *sum) {
    rb_csr v = p->block->csr;
    rb_dense w = p->fit->loadings;
    void *ratios = (void *)p->ratios.values;
    for (int64_t i = 0; i < codes.rows; i++) {
        const void *row = rb_dense_row(codes, i);
        int64_t end = v.starts[first + i + 1] - v.starts[0];
        for (int64_t e = v.starts[first + i] - v.starts[0]; e < end; e++) {
            double y = rb_dot(p->ctx, w.type, w.cols, row, rb_dense_row(w, v.columns[e]));
            rb_put(v.type, ratios, e, ratio_of(rb_get(v.type, v.values, e), y, sum));
        }
    }
}

/* The ratios of samples, with the codes as they are. */
static void find_ratios(const struct pass *p, int64_t first, rb_dense codes, double *sum) {
    if (p->block->sparse) {
        divide_entries(p, first, codes, sum);
        return;
    }
    rb_dense rows = rb_dense_rows(p->fit->ratios, first, codes.rows);
    rb_gemm(1, codes, RB_PLAIN, p->fit->loadings, RB_TRANSPOSED, 0, rows);
    divide_rows(rb_dense_rows(p->block->dense, first, codes.rows), rows, sum);
}

/* The block with its ratios in place of its values. */
static rb_block with_ratios(const struct pass *p) {
    rb_block block = *p->block;
    if (block.sparse)
        block.csr = p->ratios;
    else
        block.dense = rb_dense_rows(p->fit->ratios, 0, block.n_samples);
    return block;
}

/* Small numbers are slow: what is next to nothing becomes 0. */
static double times_ratio(double value, double up, double down) {
    const double nothing = 1e-30;
    value *= down > nothing ? up / down : 1;
    return value < nothing ? 0 : value;
}

static void multiply(const nmf_fit *fit, rb_dense linear, rb_dense codes) {
    for (int64_t i = 0; i < codes.rows; i++) {
        void *row = rb_dense_row(codes, i);
        for (int64_t j = 0; j < codes.cols; j++) {
            double code = rb_get(codes.type, row, j), up = rb_dense_get(linear, i, j);
            rb_put(codes.type, row, j, times_ratio(code, up, fit->column_sums[j]));
        }
    }
}

static void improve_codes(void *arg, int64_t task, int worker) {
    const struct pass *p = arg;
    nmf_fit *fit = p->fit;
    int64_t first;
    rb_dense codes = block_task_rows(p->codes, task, &first);
    rb_dense linear = rb_dense_rows(fit->linear, first, codes.rows);
    rb_block ratios = with_ratios(p);
    double sum = 0;
    (void)worker;
    find_ratios(p, first, codes, NULL);
    rb_block_project(p->ctx, &ratios, first, fit->loadings, linear);
    multiply(fit, linear, codes);
    find_ratios(p, first, codes, &sum);
    for (int64_t i = 0; i < codes.rows; i++)
        for (int64_t j = 0; j < codes.cols; j++)
            sum += rb_dense_get(codes, i, j) * fit->column_sums[j];
    fit->task_divergences[task] = sum;
}

rb_error nmf_divergence_block(rb_context *ctx, nmf_fit *fit, const rb_block *block) {
    rb_dense codes = rb_dense_rows(fit->codes, block->own, block->n_samples);
    struct pass p = {ctx, fit, block, codes, block->csr};
    int64_t tasks = block_tasks(codes.rows).count;
    if (block->sparse) {
        int64_t entries = block->csr.starts[block->n_samples] - block->csr.starts[0];
        rb_error err =
            rb_buffer_hold(ctx, &fit->ratio_values, entries, rb_type_size(block->csr.type));
        if (err) return err;
        p.ratios.values = fit->ratio_values.data;
    }
    rb_parallel(ctx, tasks, improve_codes, &p);
    for (int64_t t = 0; t < tasks; t++)
        fit->divergence += fit->task_divergences[t];
    for (int64_t i = 0; i < codes.rows; i++)
        for (int64_t j = 0; j < codes.cols; j++)
            fit->totals[j] += rb_dense_get(codes, i, j);
    rb_gemm_lower(ctx, 1, codes, RB_TRANSPOSED, codes, RB_PLAIN, 1, fit->second);
    rb_block ratios = with_ratios(&p);
    return factors_add_cross(ctx, &ratios, codes, fit->products);
}

/* The variance of a count is its expectation: the mean of Y. */
void nmf_divergence_mstep(nmf_fit *fit) {
    rb_dense w = fit->loadings;
    double n = (double)fit->base.problem.n_samples;
    fit->base.objective = -fit->divergence / n;
    for (int64_t k = 0; k < w.rows; k++) {
        fit->noise[k] = 0;
        for (int64_t j = 0; j < w.cols; j++) {
            double total = fit->totals[j], up = rb_dense_get(fit->products, k, j);
            double value = times_ratio(rb_dense_get(w, k, j), up, total);
            rb_dense_set(w, k, j, value);
            fit->noise[k] += value * total / n;
        }
    }
}

/* ---- codes of a new sample ---- */

struct counts {
    const struct nmf_counts *sample;
    const double *w; /* of the unit at hand */
    double *y;
    double sum; /* of w */
};

/* First and second derivative of the unit whose code is moved by `step`. */
static double slope(const struct counts *c, double step, double *curvature) {
    double first = c->sum, second = 0;
    for (int64_t e = 0; e < c->sample->count; e++) {
        double w = c->w[c->sample->features[e]];
        if (w <= 0) continue;
        double y = c->y[e] + step * w, share = y > 0 ? w / y : INFINITY;
        first -= c->sample->values[e] * share;
        second += c->sample->values[e] * share * share;
    }
    *curvature = second;
    return first;
}

/* The best code of a unit, given the others. From below Newton's steps rise to it, for the
 * derivative is concave; a step too far down is met by a tenth. */
static double best_code(const struct counts *c, double code) {
    enum { STEPS = 50 };
    double x = code, second, first = slope(c, -code, &second);
    if (first >= 0) return 0; /* at 0 already */
    if (x <= 0 && !isfinite(first)) x = 1e-3;
    for (int step = 0; step < STEPS; step++) {
        first = slope(c, x - code, &second);
        if (!(second > 0)) break;
        double next = x - first / second;
        next = next > 0.1 * x ? next : 0.1 * x;
        bool near = fabs(next - x) <= 1e-12 * next;
        x = next;
        if (near) break;
    }
    return x;
}

/* Values that a unit reaches; the others become 0, and codes begin with the right sum. */
static void begin_counts(const struct nmf_counts *sample, rb_dense w, const double *sums,
                         struct counts *c, double *values, double *codes) {
    double total = 0, all = 0;
    for (int64_t e = 0; e < sample->count; e++) {
        double reach = 0;
        for (int64_t j = 0; j < w.rows; j++)
            reach += ((const double *)rb_dense_row(w, j))[sample->features[e]];
        c->y[e] = reach;
        values[e] = reach > 0 ? sample->values[e] : 0;
        total += values[e];
    }
    for (int64_t j = 0; j < w.rows; j++)
        all += sums[j];
    double code = all > 0 ? total / all : 0;
    for (int64_t j = 0; j < w.rows; j++)
        codes[j] = sums[j] > 0 ? code : 0;
    for (int64_t e = 0; e < sample->count; e++)
        c->y[e] *= code;
}

void nmf_divergence_solve(const struct nmf_counts *sample, rb_dense w, const double *sums,
                          double *work, double *codes) {
    enum { SWEEPS = 2000 };
    const double tolerance = 1e-7;
    struct nmf_counts reached = {sample->count, sample->features, work + sample->count};
    struct counts c = {.sample = &reached, .y = work};
    begin_counts(sample, w, sums, &c, work + sample->count, codes);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double moved = 0, size = 0;
        for (int64_t j = 0; j < w.rows; j++) {
            if (!(sums[j] > 0)) continue;
            c.w = rb_dense_row(w, j);
            c.sum = sums[j];
            double old = codes[j];
            codes[j] = best_code(&c, old);
            for (int64_t e = 0; e < sample->count && codes[j] != old; e++)
                c.y[e] = fmax(c.y[e] + (codes[j] - old) * c.w[sample->features[e]], 0);
            moved = fmax(moved, fabs(codes[j] - old) * sums[j]);
            size += codes[j] * sums[j];
        }
        if (!(moved > tolerance * size)) return;
    }
}
