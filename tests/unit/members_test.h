/* What the tests of members share: samples of planted causes, and loops for the definitions. */
#ifndef RB_TESTS_MEMBERS_TEST_H
#define RB_TESTS_MEMBERS_TEST_H

#include "../context.h"
#include "modules/members.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* RESTING: samples that least squares take besides, of which values and codes are all 0. */
enum { N = 60, M = 40, L = 4, PLANTED = 3, BLOCK = 17, RESTING = N / 5 };

/* Samples of PLANTED causes, each in two of five samples and on ten features, whose loadings
 * decrease where they are graded; unit 3 is dead. */
typedef struct example {
    double values[N * M], codes[N * L], loadings[M * L], noise[M];
    int64_t starts[N + 1];
    int32_t columns[N * M];
    double entries[N * M];
    int64_t n_samples;
    bool sparse, sparse_codes;
} example;

static inline void make_graded(example *e, uint64_t seed, double graded) {
    rb_draws draws = {.stream = {.seed = seed}};
    memset(e, 0, sizeof *e);
    e->n_samples = N;
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < PLANTED; j++)
            e->codes[i * L + j] = rb_draw_uniform(&draws) < 0.4
                                      ? 1 + rb_draw_uniform(&draws)
                                      : fmax(0, 0.3 * rb_draw_normal(&draws));
    for (int64_t k = 0; k < M; k++) {
        e->noise[k] = 0.5 + rb_draw_uniform(&draws);
        for (int64_t j = 0; j < PLANTED; j++)
            e->loadings[k * L + j] = k / 10 == j
                                         ? (k % 2 ? 2 : -2) * (1 - graded * (double)(k % 10))
                                         : 0.05 * (double)(1 + k % 3);
    }
    for (int64_t i = 0; i < N; i++) {
        e->starts[i + 1] = e->starts[i];
        for (int64_t k = 0; k < M; k++) {
            double v = 0.5 + sqrt(e->noise[k]) * rb_draw_normal(&draws);
            for (int64_t j = 0; j < PLANTED; j++)
                v += e->codes[i * L + j] * e->loadings[k * L + j];
            v = (k + i) % 7 ? v : 0;
            e->values[i * M + k] = v;
            if (v == 0) continue;
            e->columns[e->starts[i + 1]] = (int32_t)k;
            e->entries[e->starts[i + 1]++] = v;
        }
    }
}

static inline void make_example(example *e, uint64_t seed) {
    make_graded(e, seed, 0);
}

static inline rb_block block_of(example *e, int64_t first, int64_t count) {
    rb_block block = {.first = first, .n_samples = count, .n_features = M, .sparse = e->sparse};
    if (e->sparse) {
        int64_t at = e->starts[first];
        block.csr =
            (rb_csr){count, M, e->starts + first, e->columns + at, e->entries + at, RB_FLOAT64};
    } else {
        block.dense = (rb_dense){e->values + first * M, count, M, M, RB_FLOAT64};
    }
    return block;
}

static inline rb_error walk_blocks(void *state, rb_context *c, rb_block_fn fn, void *user) {
    example *e = state;
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < e->n_samples; first += BLOCK) {
        int64_t left = e->n_samples - first, count = left < BLOCK ? left : BLOCK;
        rb_block block = block_of(e, first, count);
        rb_matrix *codes;
        err = rb_matrix_dense(c, RB_FLOAT64, count, L, e->codes + first * L, L, 1, &codes);
        if (err) return err;
        err = fn(user, &block, codes);
        rb_matrix_free(codes);
    }
    return err;
}

struct plain {
    rb_rows_fn fn;
    void *user;
};

static inline rb_error codes_only(void *user, const rb_block *block, const rb_matrix *codes) {
    const struct plain *p = user;
    return p->fn(p->user, block->first, codes);
}

static inline rb_error walk(void *state, rb_context *c, rb_rows_fn fn, void *user) {
    struct plain p = {fn, user};
    return walk_blocks(state, c, codes_only, &p);
}

static inline rb_modules_input input_of(example *e) {
    return (rb_modules_input){.n_features = M,
                              .n_units = L,
                              .loadings = e->loadings,
                              .noise = e->noise,
                              .sparse_codes = e->sparse_codes,
                              .resting = RESTING,
                              .walk = walk,
                              .walk_blocks = walk_blocks,
                              .state = e};
}

static inline rb_error extract(example *e, double level, rb_modules **modules) {
    rb_modules_options options = *fixture_rule();
    rb_modules_input input = input_of(e);
    options.rule = "test";
    options.level = level;
    return rb_modules_extract(ctx, &input, &options, modules);
}

static inline rb_modules *modules_of(example *e, double level) {
    rb_modules *modules;
    if (extract(e, level, &modules)) fail_msg("%s", rb_context_error(ctx));
    return modules;
}

/* ---- by definition ---- */

/* Inverse of a (n x n), by elimination with the identity beside it. */
static inline void invert(int n, double *a, double *inverse) {
    for (int i = 0; i < n * n; i++)
        inverse[i] = i % (n + 1) == 0;
    for (int p = 0; p < n; p++) {
        double pivot = a[p * n + p];
        for (int c = 0; c < n; c++) {
            a[p * n + c] /= pivot;
            inverse[p * n + c] /= pivot;
        }
        for (int r = 0; r < n; r++) {
            double factor = r == p ? 0 : a[r * n + p];
            for (int c = 0; c < n; c++) {
                a[r * n + c] -= factor * a[p * n + c];
                inverse[r * n + c] -= factor * inverse[p * n + c];
            }
        }
    }
}

static inline double rms_of(const example *e, int64_t unit) {
    double sum = 0;
    for (int64_t i = 0; i < N; i++)
        sum += e->codes[i * L + unit] * e->codes[i * L + unit];
    return sqrt(sum / N);
}

/* sum z^2 / sum |z|: the size of the codes of those that have the unit. */
static inline double size_of(const example *e, int64_t unit) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < N; i++) {
        double z = e->codes[i * L + unit] / rms_of(e, unit);
        sum += fabs(z);
        squares += z * z;
    }
    return squares / sum;
}

/* A design of the living units' z and a constant. */
static inline double design(const example *e, int64_t i, int column) {
    return column < PLANTED ? e->codes[i * L + column] / rms_of(e, column) : 1;
}

/* The size of a typical entry of a living unit's part. */
static inline double root_of(const example *e) {
    double sum = 0;
    for (int64_t j = 0; j < PLANTED; j++)
        for (int64_t k = 0; k < M; k++)
            sum += pow(e->loadings[k * L + j] * rms_of(e, j), 2) * N;
    return sqrt(sum / ((double)N * M * PLANTED));
}

/* The first test, with the codes of the model. */
static inline void first_test(example *e, double level, rb_membership out) {
    int64_t index[PLANTED] = {0, 1, 2};
    double rms[PLANTED];
    rb_refit *refit;
    for (int j = 0; j < PLANTED; j++)
        rms[j] = rms_of(e, j);
    rb_tested_units units = {PLANTED, index, rms, root_of(e)};
    rb_block block = block_of(e, 0, N);
    rb_matrix *codes;
    assert_int_equal(rb_matrix_dense(ctx, RB_FLOAT64, N, L, e->codes, L, 1, &codes), RB_OK);
    assert_int_equal(rb_refit_new(ctx, M, L, RESTING, &refit), RB_OK);
    assert_int_equal(rb_refit_add(ctx, refit, &block, codes), RB_OK);
    assert_int_equal(rb_refit_features(ctx, refit, &units, level, &out), RB_OK);
    rb_refit_free(refit);
    rb_matrix_free(codes);
}

#endif
