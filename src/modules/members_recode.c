/* Codes found anew from the features that belong to units.
 *
 * Symbols: those of members_test.c; F_j the features of unit j, l_k the units that feature k is of.
 *
 * Each feature is fitted by least squares to the codes z of its own units alone, with a constant
 * (rb_resting_samples):
 *     b_k = (Z_k'Z_k)^-1 Z_k'v_k,  a_k = mean v_k - b_k' mean z,
 *     psi_k = |v_k - Z_k b_k|^2 / (n - 1 - l_k)
 * from the sums that are there. Then z of a sample minimises
 *     1/2 sum_k (v_k - a_k - b_k'z)^2 / psi_k + 1/2 |z|^2,
 * z >= 0 where the model has no codes below 0, by sweeps over the units.
 * Units without features have no part in it and keep their codes.
 */
#include "members.h"

#include <float.h>
#include <math.h>

enum { SWEEPS = 50 };
/* Sweeps end when no code moves by more than this; codes have mean square 1. */
static const double SETTLED = 1e-6;
/* Of a feature that its units explain: the least noise, as a share of its variance; and what is
 * added to the diagonal of Z'Z, which may be singular. */
static const double LEAST_NOISE = 1e-6, RIDGE = 1e-6;

struct rb_recode {
    int64_t count;
    double *rms; /* of the codes before */
    bool nonnegative;
    bool *has;              /* has the unit features? */
    rb_dense loadings;      /* b, features x units */
    rb_dense weighted;      /* b / psi */
    rb_dense precision;     /* I + b' Psi^-1 b */
    double *constant;       /* sum_k a_k b_k / psi_k of each unit */
    double *information;    /* of the samples so far */
    double *noise;          /* psi */
    int64_t *units;         /* their indices in the model */
    rb_dense linear, sides; /* of a tile; of units in the order of `units` */
    rb_spd *factor;         /* of the precision, where codes have signs */
};

void rb_recode_end(rb_recode *r) {
    rb_dense_free(&r->linear);
    rb_dense_free(&r->sides);
    rb_spd_free(r->factor);
}

static rb_error recode_new(rb_scratch *m, int64_t features, int64_t count, rb_recode **out) {
    rb_recode *r = *out = rb_take(m, 1, sizeof *r);
    if (!r) return m->err;
    r->count = count;
    r->rms = rb_take(m, count, sizeof *r->rms);
    r->has = rb_take(m, count, sizeof *r->has);
    r->constant = rb_take(m, count, sizeof *r->constant);
    r->information = rb_take(m, count, sizeof *r->information);
    r->noise = rb_take(m, features, sizeof *r->noise);
    r->units = rb_take(m, count, sizeof *r->units);
    rb_dense_take(m, RB_FLOAT64, features, count, &r->loadings);
    rb_dense_take(m, RB_FLOAT64, features, count, &r->weighted);
    rb_dense_take(m, RB_FLOAT64, count, count, &r->precision);
    return m->err;
}

/* ---- loadings of features that belong ---- */

/* What a feature is fitted with: sums of its units. */
struct feature_fit {
    int64_t *own; /* its units */
    double *gram, *b;
};

/* b, psi and the constant of a feature. */
static void fit_feature(const rb_refit *first, rb_recode *r, const bool *belongs, int64_t k,
                        const struct feature_fit *f) {
    double n = rb_held_samples(first), mean = first->sums[k] / n;
    double square = first->squares[k] - first->sums[k] * mean, rest = square;
    int64_t own = 0;
    for (int64_t j = 0; j < r->count; j++)
        if (belongs[k * r->count + j]) f->own[own++] = j;
    for (int64_t a = 0; a < own; a++) {
        int64_t u = r->units[f->own[a]];
        f->b[a] = rb_centred_product(first, k, u) / r->rms[f->own[a]];
        for (int64_t c = 0; c <= a; c++)
            f->gram[a * own + c] = rb_centred_moment(first, u, r->units[f->own[c]]) /
                                       (r->rms[f->own[a]] * r->rms[f->own[c]]) +
                                   (a == c ? RIDGE * n : 0);
    }
    if (own && !rb_solve_small(own, f->gram, 1, f->b)) own = 0;
    for (int64_t a = 0; a < own; a++) {
        int64_t u = r->units[f->own[a]];
        rest -= f->b[a] * rb_centred_product(first, k, u) / r->rms[f->own[a]];
        mean -= f->b[a] * first->code_sums[u] / n / r->rms[f->own[a]];
        rb_dense_set(r->loadings, k, f->own[a], f->b[a]);
    }
    r->noise[k] = fmax(
        fmax(rest, LEAST_NOISE * square) / fmax((double)(first->n_samples - 1 - own), 1), DBL_MIN);
    for (int64_t a = 0; a < own; a++) {
        r->has[f->own[a]] = true;
        rb_dense_set(r->weighted, k, f->own[a], f->b[a] / r->noise[k]);
        r->constant[f->own[a]] += mean * f->b[a] / r->noise[k];
    }
}

static rb_error fit_features(rb_context *ctx, const rb_refit *first, rb_recode *r,
                             const bool *belongs) {
    rb_scratch scratch = {.ctx = ctx};
    struct feature_fit f = {.own = rb_take(&scratch, r->count, sizeof *f.own),
                            .gram = rb_take(&scratch, r->count * r->count, sizeof *f.gram),
                            .b = rb_take(&scratch, r->count, sizeof *f.b)};
    for (int64_t k = 0; !scratch.err && k < r->loadings.rows; k++)
        fit_feature(first, r, belongs, k, &f);
    return rb_scratch_end(&scratch);
}

rb_error rb_refit_recode(rb_context *ctx, const rb_refit *first, const rb_tested_units *units,
                         const bool *belongs, bool nonnegative, rb_refit **refit) {
    rb_error err =
        rb_refit_new(ctx, first->products.rows, first->products.cols, first->resting, refit);
    if (err) return err;
    err = recode_new(&(*refit)->memory, first->products.rows, units->count, &(*refit)->recode);
    rb_recode *r = (*refit)->recode;
    for (int64_t j = 0; !err && j < units->count; j++) {
        r->units[j] = units->index[j];
        r->rms[j] = units->rms[j];
    }
    err = err ? err : fit_features(ctx, first, r, belongs);
    if (!err) {
        r->nonnegative = nonnegative;
        rb_gemm_parallel(ctx, 1, r->loadings, RB_TRANSPOSED, r->weighted, RB_PLAIN, 0,
                         r->precision);
        for (int64_t j = 0; j < r->count; j++)
            rb_dense_set(r->precision, j, j, 1 + rb_dense_get(r->precision, j, j));
        if (!nonnegative) err = rb_spd_new(ctx, RB_FLOAT64, r->count, &r->factor);
        if (r->factor && !err) err = rb_spd_factor(ctx, r->factor, r->precision);
    }
    if (err) {
        rb_refit_free(*refit);
        *refit = NULL;
    }
    return err;
}

/* ---- codes ---- */

/* The code that is best for one unit, the others being what they are; how far it moved. */
static double move_code(const rb_recode *r, int64_t j, const double *linear, double *z) {
    const double *row = rb_dense_row(r->precision, j);
    double right = linear[j], before = z[j];
    for (int64_t c = 0; c < r->count; c++)
        right -= row[c] * z[c];
    z[j] = fmax(0, before + right / row[j]);
    return fabs(z[j] - before);
}

struct coding {
    rb_recode *recode;
    rb_dense linear, codes;
};

static void solve_sample(void *arg, int64_t i, int worker) {
    (void)worker;
    const struct coding *c = arg;
    double *z = rb_dense_row(c->codes, i), moved = INFINITY;
    for (int64_t j = 0; j < c->recode->count; j++)
        z[j] = 0;
    for (int step = 0; step < SWEEPS && moved > SETTLED; step++) {
        moved = 0;
        for (int64_t j = 0; j < c->recode->count; j++)
            moved = fmax(moved, move_code(c->recode, j, rb_dense_row(c->linear, i), z));
    }
}

static rb_error hold_tile(rb_context *ctx, rb_recode *r, int64_t rows) {
    if (r->linear.rows >= rows) return RB_OK;
    rb_dense_free(&r->linear);
    rb_dense_free(&r->sides);
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, rows, r->count, &r->linear);
    return err ? err : rb_dense_new(ctx, RB_FLOAT64, rows, r->count, &r->sides);
}

/* Into the columns of the model; what they tell of the samples. */
static void note_codes(rb_recode *r, rb_dense found, rb_dense codes) {
    for (int64_t i = 0; i < codes.rows; i++) {
        const double *z = rb_dense_row(found, i);
        double *row = rb_dense_row(codes, i);
        for (int64_t j = 0; j < r->count; j++) {
            if (!r->has[j]) continue;
            row[r->units[j]] = z[j];
            double signal = rb_dense_get(r->precision, j, j) - 1;
            r->information[j] += 0.5 * log1p(z[j] * z[j] * signal);
        }
    }
}

rb_error rb_recode_tile(rb_context *ctx, rb_recode *r, rb_dense values, rb_dense codes) {
    rb_error err = hold_tile(ctx, r, values.rows);
    if (err) return err;
    rb_dense linear = rb_dense_rows(r->linear, 0, values.rows);
    rb_dense found = rb_dense_rows(r->sides, 0, values.rows);
    rb_gemm_parallel(ctx, 1, values, RB_PLAIN, r->weighted, RB_PLAIN, 0, linear);
    for (int64_t i = 0; i < linear.rows; i++) {
        double *row = rb_dense_row(linear, i);
        for (int64_t j = 0; j < r->count; j++)
            row[j] -= r->constant[j];
    }
    struct coding coding = {r, linear, found};
    if (r->nonnegative)
        err = rb_parallel_or_stop(ctx, linear.rows, solve_sample, &coding);
    else
        rb_spd_solve_right(r->factor, linear, found);
    if (!err) note_codes(r, found, codes);
    return err;
}

/* ---- what they tell ---- */

double rb_recoded_information(const rb_refit *refit, const rb_tested_units *units, int64_t j,
                              const bool *sure) {
    const rb_recode *r = refit->recode;
    double sum = 0, squares = rb_dense_get(refit->moments, units->index[j], units->index[j]);
    for (int64_t k = 0; k < r->loadings.rows; k++) {
        double b = rb_dense_get(r->loadings, k, j);
        if (sure[k * r->count + j]) sum += 0.5 * log1p(b * b * squares / r->noise[k]);
    }
    return fmin(sum, r->information[j]);
}
