/* What units tell of normal scores, in which every feature is as if it were normal.
 *
 * A few samples and features whose values are large by chance recur as a unit in every fit where
 * values are skewed. They do not stand out among ranks. So a unit with codes z over n samples and
 * loadings b_k = w_k / psi_k^(1/2) of its features, one of m, must tell more there than noise may:
 *     T = sum_i (z_i - mean z) t_i / max(v_i, 1)^(1/2) / (sum_i (z_i - mean z)^2)^(1/2)
 *     t_i = sum_k b_k y_ik / |b|,  v_i = (sum_k y_ik^2 - t_i^2) / m
 *     T > 0,  T^2 > 3/4 B,  r = (sum z)^2 / sum z^2,  c = (sum |b|)^2 / sum b^2
 * B (role.c) is what the best block of r samples and c features of white noise has. z and b are the
 * best ones of other values, so units of noise have less: with 3/4 at most one consensus of noise
 * in twenty has a module (docs/measurements/modules.md). Scores have no long tails; so r counts
 * more samples than (sum z^2)^2 / sum z^4 does. v_i is the noise of a sample.
 *
 * In a single fit, whose units need not recur, samples and features are chosen for each other:
 * there T^2 > f S, too, where S is about what Chevet's inequality allows, and f what fits of noise
 * have of it, the more the larger the data:
 *     S = ((2 r + 2 r log(n / r))^(1/2) + (2 c log(m / c))^(1/2))^2,  f = min(log(n m) / 24, 0.6)
 *
 * y_ik is the mean of the normal quantiles of (r - 3/8) / (s + 1/4) over the ranks r that equal
 * values share (G. Blom, "Statistical estimates and transformed beta-variables", 1958). A mean has
 * no longer tails than what it is of: for the largest of many sums, ties are no worse than normal.
 * The ranks are those among s samples, at most 512 and spread evenly; a value between two of them
 * has their mean. */
#include "members.h"

#include <math.h>
#include <stdlib.h>

enum { REFERENCE = 512, TILE = 256 };
static const double OF_NOISE = 0.75;

struct rb_scores {
    rb_scratch memory;
    int64_t n_samples, n_features, n_units; /* units: those that are tested */
    int64_t size, taken;                    /* of the reference */
    float *reference;                       /* n_features x size, each row sorted */
    double *middle;                         /* of each feature: the score of its median there */
    double *below;                          /* of each rank: the quantiles before it, summed */
    const int64_t *index;                   /* of the units in the model */
    double *means;                          /* of their codes */
    bool recurring;                         /* the units, in many fits */
    rb_dense loadings;                      /* b / |b|, features x units */
    rb_powers *of_loadings;
    double *sums;          /* of each unit: of (z - mean z) t / v^(1/2) */
    rb_dense rows, values; /* a tile, as the block has it and as float64, then scores */
    rb_dense parts;        /* t, samples x units */
    rb_dense squares;      /* sum_k y^2, samples x 1 */
};

void rb_scores_free(rb_scores *s) {
    if (s) rb_scratch_end(&s->memory);
    rb_free(s);
}

/* The normal quantile of a share, by halves. */
static double normal_quantile(double share) {
    double low = -9, high = 9;
    for (int step = 0; step < 60; step++) {
        double middle = (low + high) / 2;
        *(0.5 * erfc(-middle / sqrt(2)) < share ? &low : &high) = middle;
    }
    return low;
}

rb_error rb_scores_new(rb_context *ctx, const rb_refit *refit, const rb_tested_units *units,
                       rb_scores **out) {
    rb_scores *s = *out = rb_alloc_zero(ctx, 1, sizeof *s);
    int64_t n_samples = refit->n_samples, n_features = refit->products.rows;
    if (!s) return RB_ERROR_MEMORY;
    rb_scratch *m = &s->memory;
    *s = (rb_scores){.memory.ctx = ctx, .n_samples = n_samples, .n_features = n_features};
    s->n_units = units->count;
    s->index = units->index;
    s->size = n_samples < REFERENCE ? n_samples : REFERENCE;
    s->reference = rb_take(m, n_features * s->size, sizeof *s->reference);
    s->middle = rb_take(m, n_features, sizeof *s->middle);
    s->below = rb_take(m, s->size + 1, sizeof *s->below);
    s->means = rb_take(m, s->n_units, sizeof *s->means);
    s->of_loadings = rb_take(m, s->n_units, sizeof *s->of_loadings);
    s->sums = rb_take(m, s->n_units, sizeof *s->sums);
    rb_dense_take(m, RB_FLOAT64, n_features, s->n_units, &s->loadings);
    rb_dense_take(m, RB_FLOAT64, TILE, n_features, &s->values);
    rb_dense_take(m, RB_FLOAT64, TILE, s->n_units, &s->parts);
    rb_dense_take(m, RB_FLOAT64, TILE, 1, &s->squares);
    for (int64_t r = 0; !m->err && r < s->size; r++)
        s->below[r + 1] =
            s->below[r] + normal_quantile(((double)r + 0.625) / ((double)s->size + 0.25));
    for (int64_t j = 0; !m->err && j < s->n_units; j++)
        s->means[j] = refit->code_sums[s->index[j]] / (double)n_samples;
    return m->err;
}

/* ---- the reference ---- */

static rb_error take_rows(rb_scores *s, const rb_block *block, int64_t row, int64_t count) {
    rb_type type = block->sparse ? block->csr.type : block->dense.type;
    if (!s->rows.data) rb_dense_take(&s->memory, type, TILE, s->n_features, &s->rows);
    if (s->memory.err) return s->memory.err;
    rb_block_rows(block, row, rb_dense_rows(s->rows, 0, count));
    rb_dense_copy(rb_dense_rows(s->rows, 0, count), rb_dense_rows(s->values, 0, count));
    return RB_OK;
}

rb_error rb_scores_note(rb_scores *s, const rb_block *block) {
    for (int64_t i = 0; i < block->n_samples; i++) {
        int64_t at = block->first + i;
        if (at * s->size / s->n_samples == (at + 1) * s->size / s->n_samples) continue;
        rb_error err = take_rows(s, block, i, 1);
        if (err) return err;
        for (int64_t k = 0; k < s->n_features; k++)
            s->reference[k * s->size + s->taken] = (float)rb_dense_get(s->values, 0, k);
        s->taken++;
    }
    return RB_OK;
}

static int by_value(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* How many values of a sorted row are below x, or at most x. */
static int64_t count_below(const float *row, int64_t count, float x, bool at_most) {
    int64_t low = 0;
    while (low < count) {
        int64_t middle = (low + count) / 2;
        bool below = at_most ? row[middle] <= x : row[middle] < x;
        *(below ? &low : &count) = below ? middle + 1 : middle;
    }
    return low;
}

static double look_up(const rb_scores *s, const float *row, float x) {
    int64_t low = count_below(row, s->size, x, false), high = count_below(row, s->size, x, true);
    if (low == high) { /* between two */
        low -= low > 0;
        high += high < s->size;
    }
    return (s->below[high] - s->below[low]) / (double)(high - low);
}

static void sort_feature(void *arg, int64_t k, int worker) {
    (void)worker;
    const rb_scores *s = arg;
    float *row = s->reference + k * s->size;
    qsort(row, (size_t)s->size, sizeof *row, by_value);
    s->middle[k] = look_up(s, row, row[s->size / 2]);
}

rb_error rb_scores_begin(rb_context *ctx, rb_scores *s, const rb_modules_input *input,
                         const bool *belongs) {
    s->recurring = input->recurring;
    for (int64_t j = 0; j < s->n_units; j++) {
        rb_powers *p = &s->of_loadings[j];
        for (int64_t k = 0; k < s->n_features; k++) {
            if (!belongs[k * s->n_units + j]) continue;
            double w = input->loadings[k * input->n_units + s->index[j]];
            double b = w / sqrt(input->noise[k]);
            rb_powers_add(p, fabs(b));
            rb_dense_set(s->loadings, k, j, b);
        }
        for (int64_t k = 0; k < s->n_features && p->square > 0; k++)
            rb_dense_set(s->loadings, k, j, rb_dense_get(s->loadings, k, j) / sqrt(p->square));
    }
    return rb_parallel_or_stop(ctx, s->n_features, sort_feature, s);
}

/* ---- scores ---- */

/* The median is what most values of sparse features are. */
static double score_of(const rb_scores *s, int64_t k, float x) {
    const float *row = s->reference + k * s->size;
    return x == row[s->size / 2] ? s->middle[k] : look_up(s, row, x);
}

static void score_sample(void *arg, int64_t i, int worker) {
    (void)worker;
    const rb_scores *s = arg;
    double *row = rb_dense_row(s->values, i), squares = 0;
    for (int64_t k = 0; k < s->n_features; k++) {
        row[k] = score_of(s, k, (float)row[k]);
        squares += row[k] * row[k];
    }
    rb_dense_set(s->squares, i, 0, squares);
}

static void add_sample(rb_scores *s, int64_t i, const rb_matrix *codes, int64_t row) {
    for (int64_t j = 0; j < s->n_units; j++) {
        double t = rb_dense_get(s->parts, i, j), z = rb_matrix_at(codes, row, s->index[j]);
        double noise = (rb_dense_get(s->squares, i, 0) - t * t) / (double)s->n_features;
        s->sums[j] += (z - s->means[j]) * t / sqrt(fmax(noise, 1));
    }
}

rb_error rb_scores_add(rb_context *ctx, rb_scores *s, const rb_block *block,
                       const rb_matrix *codes) {
    rb_error err = RB_OK;
    for (int64_t row = 0; !err && row < block->n_samples; row += TILE) {
        int64_t left = block->n_samples - row, count = left < TILE ? left : TILE;
        err = take_rows(s, block, row, count);
        err = err ? err : rb_parallel_or_stop(ctx, count, score_sample, s);
        if (err) return err;
        rb_gemm_parallel(ctx, 1, rb_dense_rows(s->values, 0, count), RB_PLAIN, s->loadings,
                         RB_PLAIN, 0, rb_dense_rows(s->parts, 0, count));
        for (int64_t i = 0; i < count; i++)
            add_sample(s, i, codes, row + i);
    }
    return err;
}

/* How many numbers have most of the sum of sizes. */
static double number_of(const rb_powers *p) {
    return p->square > 0 ? p->size * p->size / p->square : 0;
}

double rb_scores_share(const rb_scores *s, int64_t j, const rb_powers *z) {
    const rb_powers *b = &s->of_loadings[j];
    double squares = z->square - z->size * z->size / (double)s->n_samples;
    if (!(s->sums[j] > 0 && squares > 0)) return 0;
    double r = number_of(z), c = number_of(b);
    double noise = OF_NOISE * rb_block_of_noise(r, s->n_samples, c, s->n_features);
    if (!s->recurring) noise = fmax(noise, rb_fit_of_noise(r, s->n_samples, c, s->n_features));
    return s->sums[j] * s->sums[j] / squares / noise;
}
