/* Codes of samples that lack values: those of the features that they have (patterns.c).
 *
 * newton: mu_j = max(0, mu_p,j) / scale_j with mu_p = P_o^-1 Q_o. With multipliers: the minimum of
 *     1/2 mu' (P_o + diag tau) mu - Q_o mu   over mu >= 0
 * by an active set (linalg/active.c), in float64. The multipliers are those of all training data;
 * for a sample with so few values that P_o + diag tau is not positive definite, those below 0 are
 * left out.
 */
#include "lacking.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { PATTERN_CELLS = 1 << 21, MIN_PATTERNS = 16 };

void rfn_lacking_free(rfn_lacking *f) {
    if (f) {
        rb_scratch_end(&f->scratch);
        rb_free(f);
    }
}

/* Patterns whose matrices are there at once. */
static int64_t patterns_at_once(int64_t samples, int64_t m, int64_t l) {
    int64_t wide = rfn_packed(l) > m ? rfn_packed(l) : m, count = PATTERN_CELLS / wide;
    count = count < MIN_PATTERNS ? MIN_PATTERNS : count;
    return count < samples ? count : samples;
}

static rb_error allocate(rb_type type, int64_t samples, rfn_lacking *f) {
    rb_dense w = f->coder->parameters.loadings;
    rb_scratch *s = &f->scratch;
    int64_t m = w.rows, l = w.cols, patterns = patterns_at_once(samples, m, l);
    rb_dense_take(s, type, m, l, &f->weighted);
    rb_dense_take(s, type, samples, l, &f->linear);
    rb_dense_take(s, type, patterns, m, &f->masks);
    rb_dense_take(s, type, patterns, rfn_packed(l), &f->precisions);
    rb_dense_take(s, type, patterns, rfn_packed(l), &f->covariances);
    f->log_dets = rb_take(s, patterns, sizeof *f->log_dets);
    f->order = rb_take(s, samples, sizeof *f->order);
    f->pattern = rb_take(s, samples, sizeof *f->pattern);
    f->squares = rb_take(s, rb_context_threads(s->ctx), (size_t)(l * (l + 2)) * sizeof *f->squares);
    rfn_pattern_work_take(s, type, m, l, &f->work);
    rfn_piece_take(s, type, samples, m, &f->piece);
    if (f->multipliers) f->active = rb_active_take(s, l);
    return s->err;
}

rb_error rfn_lacking_new(rb_context *ctx, const rb_model *model, int64_t block_samples,
                         const rfn_coder *coder, rfn_lacking **out) {
    *out = NULL;
    if (!rb_missing_stays(&model->preprocess->options)) return RB_OK;
    rfn_lacking *f = *out = rb_alloc_zero(ctx, 1, sizeof *f);
    if (!f) return RB_ERROR_MEMORY;
    f->scratch.ctx = ctx;
    f->coder = coder;
    f->multipliers = rb_model_array(model, "multipliers", NULL, NULL);
    f->dead = coder->exact ? coder->exact->dead : NULL;
    rb_error err = allocate(model->type, block_samples, f);
    if (!err) rfn_weigh(ctx, &coder->parameters, f->weighted);
    return err;
}

rb_error rfn_lacking_take(rb_context *ctx, rfn_lacking *f, const rb_block *block,
                          int64_t *samples) {
    *samples = 0;
    f->block = rfn_piece_load(ctx, block, 0, block->n_samples, true, &f->piece);
    for (int64_t i = 0; i < block->n_samples; i++)
        *samples += f->block.lacking[i] > 0;
    if (*samples == 0) return RB_OK;
    if (rfn_psi_is_full(&f->coder->parameters.full)) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "a model with full noise cannot have missing values; fill them, or fit with "
                       "`noise=diagonal`");
    }
    f->linear = rb_dense_rows(f->linear, 0, block->n_samples);
    rfn_linear_part(ctx, &f->coder->parameters.prior, f->block.rows, f->weighted, f->linear);
    return RB_OK;
}

/* ---- patterns, some at a time ---- */

/* Samples that lack values, or all, by what they lack. */
static int64_t sort_samples(rfn_lacking *f, bool all) {
    int64_t count = 0;
    for (int64_t i = 0; i < f->block.rows.rows; i++) {
        if (!all && f->block.lacking[i] == 0) continue;
        rfn_keyed *to = &f->order[count++];
        memcpy(to->key, f->block.keys[i], sizeof to->key);
        to->sample = i;
    }
    rfn_sort_keyed(f->order, count);
    return count;
}

struct using {
    rb_context *ctx;
    rfn_lacking *f;
    int64_t first;
    rb_dense out;
    double *log_dets, *traces;
    atomic_bool failed;
};

/* The matrices of as many patterns as there is room for, from a place of the order on; how many
 * samples have them. */
static int64_t make_patterns(rb_context *ctx, rfn_lacking *f, int64_t first, int64_t count,
                             int64_t *patterns) {
    int64_t at = first;
    *patterns = 0;
    for (; at < count; at++) {
        bool is_new = at == first || rfn_key_begins(f->order, at);
        if (is_new && *patterns == f->masks.rows) break;
        if (is_new) {
            rb_dense_copy(rb_dense_rows(f->block.there, f->order[at].sample, 1),
                          rb_dense_rows(f->masks, (*patterns)++, 1));
        }
        f->pattern[at] = *patterns - 1;
    }
    rfn_precisions(ctx, &f->coder->parameters, rb_dense_rows(f->masks, 0, *patterns), &f->work,
                   rb_dense_rows(f->precisions, 0, *patterns));
    return at - first;
}

/* ---- codes ---- */

/* P + diag tau of a pattern, dead units apart, or without the multipliers below 0. */
static void set_hessian(const rfn_lacking *f, int64_t pattern, bool above, rb_dense h) {
    rfn_unpack(f->precisions, pattern, h.rows, true, h.data, h.rows);
    double *values = h.data;
    for (int64_t j = 0; f->multipliers && j < h.rows; j++) {
        double tau = f->multipliers[j];
        values[j * h.rows + j] += above && tau < 0 ? 0 : tau;
    }
    for (int64_t j = 0; f->dead && j < h.rows; j++)
        for (int64_t c = 0; f->dead[j] && c < h.rows; c++)
            values[j * h.rows + c] = values[c * h.rows + j] = c == j;
}

/* A sample's minimum without bounds, into x. */
static bool solve(const rfn_lacking *f, int64_t pattern, bool above, rb_dense h, const double *q,
                  double *x) {
    set_hessian(f, pattern, above, h);
    memcpy(x, q, (size_t)h.rows * sizeof *x);
    return rb_solve_small(h.rows, h.data, 1, x);
}

static void encode_sample(void *arg, int64_t index, int worker) {
    struct using *u = arg;
    rfn_lacking *f = u->f;
    int64_t l = u->out.cols, at = u->first + index, i = f->order[at].sample;
    double *square = f->squares + worker * l * (l + 2), *x = square + l * l, *q = x + l;
    rb_dense h = {square, l, l, l, RB_FLOAT64};
    for (int64_t j = 0; j < l; j++)
        q[j] = f->dead && f->dead[j] ? 0 : rb_dense_get(f->linear, i, j);
    bool above = !solve(f, f->pattern[at], false, h, q, x);
    if (above && !solve(f, f->pattern[at], true, h, q, x)) u->failed = true;
    if (f->multipliers && !u->failed) {
        rb_active *active = &f->active[worker];
        for (int64_t j = 0; j < l; j++) {
            active->x[j] = fmax(0, x[j]);
            active->linear[j] = q[j];
        }
        set_hessian(f, f->pattern[at], above, h);
        rb_active_solve(h, active);
        x = active->x;
    }
    for (int64_t j = 0; j < l; j++)
        rb_dense_set(u->out, i, j, x[j]);
}

static rb_error check_definite(rb_context *ctx, const struct using *u) {
    return u->failed ? rb_fail(ctx, RB_ERROR_NUMERIC,
                               "the posterior precision of a sample with missing values is not "
                               "positive definite: the model is damaged, or the precision of the "
                               "fit too small")
                     : RB_OK;
}

/* What newton makes of a mean. */
static void activate(rb_context *ctx, const rfn_lacking *f, rb_dense row) {
    const rfn_coder *c = f->coder;
    rfn_activate(ctx, &c->options, row, NULL, c->task_sum, c->task_largest);
    rfn_scale_codes(ctx, c, row);
}

rb_error rfn_lacking_encode(rb_context *ctx, rfn_lacking *f, rb_dense codes) {
    int64_t count = sort_samples(f, false), patterns;
    struct using u = {.ctx = ctx, .f = f, .out = codes};
    rb_error err = RB_OK;
    for (int64_t done = 0; !err && u.first < count; u.first += done) {
        done = make_patterns(ctx, f, u.first, count, &patterns);
        rb_parallel(ctx, done, encode_sample, &u);
        err = check_definite(ctx, &u);
        err = err ? err : rb_check_stop(ctx);
    }
    for (int64_t i = 0; !err && !f->multipliers && i < count; i++)
        activate(ctx, f, rb_dense_rows(codes, f->order[i].sample, 1));
    return err;
}

/* ---- means ---- */

/* <M^-1, Sigma> of a packed Sigma. */
static double trace_of(const rfn_prior *prior, rb_dense covariances, int64_t pattern, int64_t l) {
    double sum = 0;
    for (int64_t j = 0, at = 0; j < l; j++)
        for (int64_t c = 0; c <= j; c++, at++) {
            double m = prior->precision.rows > 0 ? rb_dense_get(prior->precision, j, c) : j == c;
            sum += (j == c ? 1 : 2) * m * rb_dense_get(covariances, pattern, at);
        }
    return sum;
}

static void find_mean(void *arg, int64_t index, int worker) {
    struct using *u = arg;
    rfn_lacking *f = u->f;
    int64_t l = u->out.cols, at = u->first + index, i = f->order[at].sample;
    double *square = f->squares + worker * l * (l + 2), *x = square + l * l;
    rfn_unpack(f->precisions, f->pattern[at], l, false, square, l);
    for (int64_t j = 0; j < l; j++)
        x[j] = rb_dense_get(f->linear, i, j);
    if (!rb_solve_small(l, square, 1, x)) u->failed = true;
    for (int64_t j = 0; j < l; j++)
        rb_dense_set(u->out, i, j, x[j]);
    u->log_dets[i] = f->log_dets[f->pattern[at]];
    u->traces[i] = trace_of(&f->coder->parameters.prior, f->covariances, f->pattern[at], l);
}

rb_error rfn_lacking_means(rb_context *ctx, rfn_lacking *f, rb_dense means, double *log_dets,
                           double *traces) {
    int64_t count = sort_samples(f, true), patterns;
    struct using u = {.ctx = ctx, .f = f, .out = means, .log_dets = log_dets, .traces = traces};
    rb_error err = RB_OK;
    for (int64_t done = 0; !err && u.first < count; u.first += done) {
        done = make_patterns(ctx, f, u.first, count, &patterns);
        err = rfn_covariances(ctx, rb_dense_rows(f->precisions, 0, patterns), &f->work,
                              rb_dense_rows(f->covariances, 0, patterns), f->log_dets);
        if (!err) rb_parallel(ctx, done, find_mean, &u);
        err = err ? err : check_definite(ctx, &u);
        err = err ? err : rb_check_stop(ctx);
    }
    return err;
}
