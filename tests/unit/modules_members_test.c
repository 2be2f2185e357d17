/* Members by a test: against least squares by elimination, with a few loops for every definition;
 * dense and sparse samples; what the test cannot do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../options.h"
#include "modules/members.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 60, M = 40, L = 4, PLANTED = 3, BLOCK = 17 };

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

static rb_context *ctx;

static void make_graded(example *e, uint64_t seed, double graded) {
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

static void make_example(example *e, uint64_t seed) {
    make_graded(e, seed, 0);
}

static rb_block block_of(example *e, int64_t first, int64_t count) {
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

static rb_error walk_blocks(void *state, rb_context *c, rb_block_fn fn, void *user) {
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

static rb_error codes_only(void *user, const rb_block *block, const rb_matrix *codes) {
    const struct plain *p = user;
    return p->fn(p->user, block->first, codes);
}

static rb_error walk(void *state, rb_context *c, rb_rows_fn fn, void *user) {
    struct plain p = {fn, user};
    return walk_blocks(state, c, codes_only, &p);
}

static rb_modules_input input_of(example *e) {
    return (rb_modules_input){.n_features = M,
                              .n_units = L,
                              .loadings = e->loadings,
                              .noise = e->noise,
                              .sparse_codes = e->sparse_codes,
                              .walk = walk,
                              .walk_blocks = walk_blocks,
                              .state = e};
}

static rb_error extract(example *e, double level, rb_modules **modules) {
    rb_modules_options options = *fixture_rule();
    rb_modules_input input = input_of(e);
    options.rule = "test";
    options.level = level;
    return rb_modules_extract(ctx, &input, &options, modules);
}

static rb_modules *modules_of(example *e, double level) {
    rb_modules *modules;
    if (extract(e, level, &modules)) fail_msg("%s", rb_context_error(ctx));
    return modules;
}

/* ---- by definition ---- */

/* Inverse of a (n x n), by elimination with the identity beside it. */
static void invert(int n, double *a, double *inverse) {
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

static double rms_of(const example *e, int64_t unit) {
    double sum = 0;
    for (int64_t i = 0; i < N; i++)
        sum += e->codes[i * L + unit] * e->codes[i * L + unit];
    return sqrt(sum / N);
}

/* sum z^2 / sum |z|: the size of the codes of those that have the unit. */
static double size_of(const example *e, int64_t unit) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < N; i++) {
        double z = e->codes[i * L + unit] / rms_of(e, unit);
        sum += fabs(z);
        squares += z * z;
    }
    return squares / sum;
}

/* A design of the living units' z and a constant. */
static double design(const example *e, int64_t i, int column) {
    return column < PLANTED ? e->codes[i * L + column] / rms_of(e, column) : 1;
}

static double one_tail(double t) {
    double both = exp(rb_log_student_tail(t, N - PLANTED - 1));
    return t > 0 ? both / 2 : 1 - both / 2;
}

/* Loadings, their variances and p values of the features of each unit, features x PLANTED. */
static void test_features(const example *e, double effect, double *loadings, double *variances,
                          double *p) {
    enum { Q = PLANTED + 1 };
    double gram[Q * Q] = {0}, inverse[Q * Q];
    for (int a = 0; a < Q; a++)
        for (int b = 0; b < Q; b++)
            for (int64_t i = 0; i < N; i++)
                gram[a * Q + b] += design(e, i, a) * design(e, i, b);
    invert(Q, gram, inverse);
    for (int64_t k = 0; k < M; k++) {
        double right[Q] = {0}, b[Q] = {0}, rest = 0;
        for (int a = 0; a < Q; a++)
            for (int64_t i = 0; i < N; i++)
                right[a] += design(e, i, a) * e->values[i * M + k];
        for (int a = 0; a < Q; a++)
            for (int c = 0; c < Q; c++)
                b[a] += inverse[a * Q + c] * right[c];
        for (int64_t i = 0; i < N; i++) {
            double error = e->values[i * M + k];
            for (int a = 0; a < Q; a++)
                error -= b[a] * design(e, i, a);
            rest += error * error;
        }
        for (int j = 0; j < PLANTED; j++) {
            double variance = inverse[j * Q + j] * rest / (N - Q), deviation = sqrt(variance);
            loadings[k * PLANTED + j] = b[j];
            variances[k * PLANTED + j] = variance;
            p[k * PLANTED + j] = one_tail((fabs(b[j]) - effect) / deviation) +
                                 one_tail((fabs(b[j]) + effect) / deviation);
        }
    }
}

/* The size of a typical entry of a living unit's part. */
static double root_of(const example *e) {
    double sum = 0;
    for (int64_t j = 0; j < PLANTED; j++)
        for (int64_t k = 0; k < M; k++)
            sum += pow(e->loadings[k * L + j] * rms_of(e, j), 2) * N;
    return sqrt(sum / ((double)N * M * PLANTED));
}

/* Is p among the k smallest of its unit, where the k-th is at most k level / M, for any k? */
static bool found(const double *p, int64_t k, int j, double level) {
    for (int64_t c = 0; c < M; c++) {
        int64_t rank = 0;
        for (int64_t d = 0; d < M; d++)
            rank += p[d * PLANTED + j] <= p[c * PLANTED + j];
        bool passes = p[c * PLANTED + j] <= level * (double)rank / M;
        if (passes && p[k * PLANTED + j] <= p[c * PLANTED + j]) return true;
    }
    return false;
}

static double normal_density(double b, double variance) {
    return exp(-b * b / (2 * variance)) / sqrt(2 * M_PI * variance);
}

/* EM for two groups of one unit's loadings: the probability of those that belong. */
static void part_in_two(const double *b, const double *variances, int j, double *inside) {
    double square = 0, error = 0, share = 0.1;
    for (int64_t k = 0; k < M; k++) {
        square += b[k * PLANTED + j] * b[k * PLANTED + j] / M;
        error += variances[k * PLANTED + j] / M;
    }
    double small = 0.1 * error, large = 10 * fmax(square - error, error);
    for (int step = 0; step < 100; step++) {
        double count = 0, sums[2] = {0}, before = share;
        for (int64_t k = 0; k < M; k++) {
            double x = b[k * PLANTED + j], s = variances[k * PLANTED + j];
            double in = share * normal_density(x, s + large);
            double out = (1 - share) * normal_density(x, s + small);
            inside[k] = in / (in + out);
            count += inside[k];
            for (int group = 0; group < 2; group++) { /* E(effect^2 | b, group) */
                double of = group ? large : small, mean = of / (of + s) * x;
                sums[group] +=
                    (group ? inside[k] : 1 - inside[k]) * (mean * mean + of * s / (of + s));
            }
        }
        share = fmin(fmax(count / M, 1e-4), 0.9);
        small = sums[0] / (M - count);
        large = fmax(sums[1] / count, small);
        if (fabs(share - before) < 1e-4 * before) break;
    }
}

static double deviation_of(const example *e, int unit) {
    double a[PLANTED * PLANTED], inverse[PLANTED * PLANTED];
    for (int i = 0; i < PLANTED; i++) {
        for (int j = 0; j < PLANTED; j++) {
            double sum = i == j;
            for (int64_t k = 0; k < M; k++)
                sum += e->loadings[k * L + i] * rms_of(e, i) * e->loadings[k * L + j] *
                       rms_of(e, j) / e->noise[k];
            a[i * PLANTED + j] = sum;
        }
    }
    invert(PLANTED, a, inverse);
    return sqrt(inverse[unit * PLANTED + unit]);
}

static bool has(const rb_member *members, int64_t count, int64_t index) {
    bool is = false;
    for (int64_t d = 0; d < count; d++)
        is = is || members[d].index == index;
    return is;
}

/* The first test, with the codes of the model. */
static void first_test(example *e, double level, rb_membership out) {
    int64_t index[PLANTED] = {0, 1, 2};
    double rms[PLANTED];
    rb_refit *refit;
    for (int j = 0; j < PLANTED; j++)
        rms[j] = rms_of(e, j);
    rb_tested_units units = {PLANTED, index, rms, root_of(e)};
    rb_block block = block_of(e, 0, N);
    rb_matrix *codes;
    assert_int_equal(rb_matrix_dense(ctx, RB_FLOAT64, N, L, e->codes, L, 1, &codes), RB_OK);
    assert_int_equal(rb_refit_new(ctx, M, L, &refit), RB_OK);
    assert_int_equal(rb_refit_add(ctx, refit, &block, codes), RB_OK);
    assert_int_equal(rb_refit_features(ctx, refit, &units, level, &out), RB_OK);
    rb_refit_free(refit);
    rb_matrix_free(codes);
}

static void as_defined(void **state) {
    (void)state;
    static example e;
    double b[M * PLANTED], variances[M * PLANTED], p[M * PLANTED], inside[M];
    bool sure[M * PLANTED], belongs[M * PLANTED];
    for (int trial = 0; trial < 8; trial++) {
        double level = trial % 2 ? 0.3 : 0.1;
        make_graded(&e, (uint64_t)trial + 1, trial < 4 ? 0 : 0.1);
        e.sparse = trial / 2 % 2;
        double effect = 0.7 * root_of(&e);
        test_features(&e, effect, b, variances, p);
        first_test(&e, level, (rb_membership){sure, belongs});
        for (int j = 0; j < PLANTED; j++) {
            part_in_two(b, variances, j, inside);
            for (int64_t k = 0; k < M; k++) {
                int64_t at = k * PLANTED + j;
                bool apart = fabs(b[at]) > effect && inside[k] >= 1 - level;
                assert_int_equal(sure[at], found(p, k, j, level));
                assert_int_equal(belongs[at], sure[at] || apart);
            }
        }
        rb_modules *modules = modules_of(&e, level);
        assert_int_equal(rb_modules_count(modules), PLANTED);
        assert_string_equal(rb_modules_rule(modules), "test");
        for (int64_t r = 0; r < PLANTED; r++) {
            const rb_module *m = rb_modules_get(modules, r);
            int j = (int)m->unit;
            for (int64_t i = 0; i < N; i++) {
                double z = e.codes[i * L + j] / rms_of(&e, j);
                double above = z - 0.15 * size_of(&e, j);
                bool in = z != 0 && exp(rb_log_normal_tail(above / deviation_of(&e, j))) <= level;
                assert_int_equal(has(m->samples, m->n_samples, i), in);
            }
            assert_in_range(m->n_features, 3, 13); /* of ten planted */
        }
        rb_modules_free(modules);
    }
}

/* Where noise is so large that a feature may seem to have either sign, both tails count. */
static void both_tails_count(void **state) {
    (void)state;
    static example e;
    double b[M * PLANTED], variances[M * PLANTED], p[M * PLANTED];
    bool sure[M * PLANTED];
    for (uint64_t seed = 1; seed <= 12; seed++) {
        rb_draws draws = {.stream = {.seed = 100 + seed}};
        make_example(&e, seed);
        for (int64_t c = 0; c < N * M; c++)
            e.values[c] += 12 * rb_draw_normal(&draws);
        test_features(&e, 0.7 * root_of(&e), b, variances, p);
        first_test(&e, 0.49, (rb_membership){sure, NULL});
        for (int64_t at = 0; at < M * PLANTED; at++)
            assert_int_equal(sure[at], found(p, at / PLANTED, at % PLANTED, 0.49));
    }
}

/* A unit that every
 * sample has, but no feature for sure, comes last, however much it tells of samples. */
static void every_sample_is_no_module(void **state) {
    (void)state;
    static example e;
    make_example(&e, 8);
    rb_draws draws = {.stream = {.seed = 80}};
    for (int64_t i = 0; i < N; i++)
        e.codes[i * L + 3] = 3 + 0.2 * rb_draw_normal(&draws);
    for (int64_t k = 0; k < M; k++)
        e.loadings[k * L + 3] = k % 2 ? 1 : -1;
    rb_modules *modules = modules_of(&e, 0.1);
    double most = 0;
    assert_int_equal(rb_modules_count(modules), L);
    for (int64_t r = 0; r < L; r++) {
        const rb_module *m = rb_modules_get(modules, r);
        assert_int_equal(m->unit == 3, r == L - 1);
        if (r == L - 1) assert_true(m->information > most);
        most = fmax(most, m->information);
    }
    rb_modules_free(modules);
}

static void measure_in(example *e, double scale) {
    for (int64_t c = 0; c < N * M; c++) {
        e->values[c] *= scale;
        e->entries[c] *= scale;
    }
    for (int64_t c = 0; c < M * L; c++)
        e->loadings[c] *= scale;
    for (int64_t k = 0; k < M; k++)
        e->noise[k] *= scale * scale;
}

/* Data in millivolts have the members that they have in kilovolts. */
static void units_of_measure(void **state) {
    (void)state;
    static example e;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        make_example(&e, seed);
        rb_modules *here = modules_of(&e, 0.1);
        measure_in(&e, 0x1p-20);
        rb_modules *there = modules_of(&e, 0.1);
        for (int64_t r = 0; r < PLANTED; r++) {
            const rb_module *a = rb_modules_get(here, r), *b = rb_modules_get(there, r);
            assert_int_equal(a->unit, b->unit);
            assert_int_equal(a->n_samples, b->n_samples);
            assert_int_equal(a->n_features, b->n_features);
        }
        rb_modules_free(here);
        rb_modules_free(there);
    }
}

/* A larger level admits more. */
static void levels_are_nested(void **state) {
    (void)state;
    static example e;
    make_example(&e, 3);
    int64_t before = 0;
    for (double level = 1e-12; level < 0.5; level *= 30) {
        rb_modules *modules = modules_of(&e, level);
        int64_t members = 0;
        for (int64_t r = 0; r < PLANTED; r++) {
            const rb_module *m = rb_modules_get(modules, r);
            members += m->n_samples + m->n_features;
        }
        assert_true(members >= before);
        before = members;
        rb_modules_free(modules);
    }
}

/* Many units of few different codes: G has no inverse of its own. */
static void equal_units(uint64_t seed) {
    enum { UNITS = 24 };
    rb_draws draws = {.stream = {.seed = seed}};
    static double codes[N * UNITS], values[N * M];
    int64_t index[UNITS];
    double rms[UNITS];
    rb_refit *refit;
    bool sure[M * UNITS], belongs[M * UNITS];
    rb_membership out = {sure, belongs};
    for (int64_t i = 0; i < N; i++) {
        for (int64_t k = 0; k < M; k++)
            values[i * M + k] = rb_draw_normal(&draws);
        for (int64_t j = 0; j < UNITS; j++) {
            double code = j < 3 ? rb_draw_uniform(&draws) : codes[i * UNITS + j % 3];
            codes[i * UNITS + j] = (float)(code * (1 + 1e-7 * rb_draw_uniform(&draws)));
        }
    }
    for (int64_t j = 0; j < UNITS; j++) {
        index[j] = j;
        rms[j] = 1;
    }
    rb_block block = {.n_samples = N, .n_features = M, .dense = {values, N, M, M, RB_FLOAT64}};
    rb_matrix *matrix;
    assert_int_equal(rb_matrix_dense(ctx, RB_FLOAT64, N, UNITS, codes, UNITS, 1, &matrix), RB_OK);
    assert_int_equal(rb_refit_new(ctx, M, UNITS, &refit), RB_OK);
    assert_int_equal(rb_refit_add(ctx, refit, &block, matrix), RB_OK);
    rb_tested_units units = {UNITS, index, rms, 0.1};
    if (rb_refit_features(ctx, refit, &units, 0.1, &out)) fail_msg("%s", rb_context_error(ctx));
    for (int64_t e = 0; e < M * UNITS; e++)
        assert_false(belongs[e]);
    rb_refit_free(refit);
    rb_matrix_free(matrix);
}

static void many_equal_units(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        equal_units(seed);
}

/* The same unit twice: neither can be told from the other, so neither has features. */
static void doubled_unit(void **state) {
    (void)state;
    static example e;
    make_example(&e, 4);
    for (int64_t i = 0; i < N; i++)
        e.codes[i * L + 3] = e.codes[i * L + 2];
    for (int64_t k = 0; k < M; k++)
        e.loadings[k * L + 3] = e.loadings[k * L + 2];
    rb_modules *modules = modules_of(&e, 0.1);
    assert_int_equal(rb_modules_count(modules), L);
    for (int64_t r = 0; r < L; r++) {
        const rb_module *m = rb_modules_get(modules, r);
        assert_int_equal(m->n_features > 0, m->unit < 2);
    }
    rb_modules_free(modules);
}

/* ---- codes found anew ---- */

/* What the codes of a sample minimise. */
static double cost(const double *b, const double *psi, const double *v, const double *z) {
    double sum = 0;
    for (int64_t k = 0; k < M; k++) {
        double rest = v[k];
        for (int j = 0; j < PLANTED; j++)
            rest -= b[k * PLANTED + j] * z[j];
        sum += rest * rest / psi[k] / 2;
    }
    for (int j = 0; j < PLANTED; j++)
        sum += z[j] * z[j] / 2;
    return sum;
}

/* Each feature by its own units, with a constant: their loadings, noise, and the sample left. */
static void fit_own(const example *e, const bool *own, double *b, double *psi, double *constant) {
    enum { Q = PLANTED + 1 };
    for (int64_t k = 0; k < M; k++) {
        int column[Q], q = 0;
        double gram[Q * Q] = {0}, inverse[Q * Q], right[Q] = {0}, beta[Q] = {0};
        for (int j = 0; j < Q; j++)
            if (j == PLANTED || own[k * PLANTED + j]) column[q++] = j;
        for (int64_t i = 0; i < N; i++)
            for (int a = 0; a < q; a++) {
                right[a] += design(e, i, column[a]) * e->values[i * M + k];
                for (int c = 0; c < q; c++)
                    gram[a * q + c] += design(e, i, column[a]) * design(e, i, column[c]);
            }
        invert(q, gram, inverse);
        psi[k] = 0;
        for (int a = 0; a < q; a++)
            for (int c = 0; c < q; c++)
                beta[a] += inverse[a * q + c] * right[c];
        for (int64_t i = 0; i < N; i++) {
            double rest = e->values[i * M + k];
            for (int a = 0; a < q; a++)
                rest -= beta[a] * design(e, i, column[a]);
            psi[k] += rest * rest / (N - q);
        }
        for (int a = 0; a < q; a++)
            (column[a] == PLANTED ? &constant[k] : &b[k * PLANTED + column[a]])[0] = beta[a];
    }
}

static void catch_codes(double *codes, const rb_refit *refit) {
    for (int64_t i = 0; i < N; i++)
        for (int j = 0; j < PLANTED; j++)
            codes[i * PLANTED + j] = rb_dense_get(refit->codes, i, j);
}

/* Of a unit with its features, and of its samples, each in the other's noise: the smaller one. */
static double information_anew(const double *b, const double *psi, const double *z, const bool *own,
                               int j, bool *of_samples) {
    double features = 0, samples = 0, precision = 0, squares = 0;
    for (int64_t k = 0; k < M; k++)
        precision += b[k * PLANTED + j] * b[k * PLANTED + j] / psi[k];
    for (int64_t i = 0; i < N; i++) {
        double square = z[i * PLANTED + j] * z[i * PLANTED + j];
        squares += square;
        samples += 0.5 * log(1 + square * precision);
    }
    for (int64_t k = 0; k < M; k++)
        if (own[k * PLANTED + j])
            features += 0.5 * log(1 + b[k * PLANTED + j] * b[k * PLANTED + j] * squares / psi[k]);
    *of_samples |= samples < features;
    return fmin(features, samples);
}

/* Codes that are found anew are the best ones, whether they may be below 0 or not; and what they
 * tell. */
static void codes_anew(void **state) {
    (void)state;
    static example e;
    bool of_samples = false;
    for (int trial = 0; trial < 4; trial++) {
        bool nonnegative = trial % 2, own[M * PLANTED];
        double b[M * PLANTED] = {0}, psi[M], constant[M], rms[PLANTED], z[N * PLANTED];
        int64_t index[PLANTED] = {0, 1, 2};
        make_example(&e, (uint64_t)trial + 40);
        e.sparse = trial / 2;
        for (int64_t i = 3; i < N; i++) { /* unit 2 has few samples, which decide */
            for (int64_t c = e.starts[i]; c < e.starts[i + 1]; c++) {
                int64_t k = e.columns[c];
                e.entries[c] -= e.codes[i * L + 2] * e.loadings[k * L + 2];
                e.values[i * M + k] = e.entries[c];
            }
            e.codes[i * L + 2] = 0;
        }
        for (int64_t k = 0; k < M * PLANTED; k++)
            own[k] = k / PLANTED / 10 == k % PLANTED || k % 17 == 0;
        for (int j = 0; j < PLANTED; j++)
            rms[j] = rms_of(&e, j);
        rb_refit *first, *second;
        rb_block block = block_of(&e, 0, N);
        rb_matrix *codes;
        rb_tested_units units = {PLANTED, index, rms, 1};
        assert_int_equal(rb_matrix_dense(ctx, RB_FLOAT64, N, L, e.codes, L, 1, &codes), RB_OK);
        assert_int_equal(rb_refit_new(ctx, M, L, &first), RB_OK);
        assert_int_equal(rb_refit_add(ctx, first, &block, codes), RB_OK);
        assert_int_equal(rb_refit_recode(ctx, first, &units, own, nonnegative, &second), RB_OK);
        assert_int_equal(rb_refit_add(ctx, second, &block, codes), RB_OK);
        catch_codes(z, second);
        fit_own(&e, own, b, psi, constant);
        for (int64_t i = 0; i < N; i++) {
            double v[M];
            for (int64_t k = 0; k < M; k++)
                v[k] = e.values[i * M + k] - constant[k];
            double best = cost(b, psi, v, z + i * PLANTED);
            for (int j = 0; j < PLANTED; j++)
                for (int side = -1; side <= 1; side += 2) {
                    double moved[PLANTED];
                    memcpy(moved, z + i * PLANTED, sizeof moved);
                    moved[j] += 1e-3 * side;
                    if (nonnegative && moved[j] < 0) continue;
                    assert_true(cost(b, psi, v, moved) > best);
                }
        }
        for (int j = 0; j < PLANTED; j++) {
            double told = information_anew(b, psi, z, own, j, &of_samples);
            assert_true(fabs(rb_recoded_information(second, &units, j, own) / told - 1) < 1e-4);
        }
        rb_refit_free(first);
        rb_refit_free(second);
        rb_matrix_free(codes);
    }
    assert_true(of_samples);
}

/* Codes that are far from the truth: features are lost by them, and found by codes that are found
 * anew. */
static void poor_codes(void **state) {
    (void)state;
    static example e;
    bool sure[M * PLANTED];
    int64_t before = 0, after = 0;
    make_example(&e, 21);
    rb_draws draws = {.stream = {.seed = 210}};
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < PLANTED; j++)
            e.codes[i * L + j] *= 0.2 + 1.6 * rb_draw_uniform(&draws);
    first_test(&e, 0.1, (rb_membership){.sure = sure});
    for (int64_t k = 0; k < M * PLANTED; k++)
        before += sure[k] && k / PLANTED / 10 == k % PLANTED;
    rb_modules *modules = modules_of(&e, 0.1);
    for (int64_t r = 0; r < PLANTED; r++) {
        const rb_module *m = rb_modules_get(modules, r);
        for (int64_t d = 0; d < m->n_features; d++) {
            assert_int_equal(m->features[d].index / 10, m->unit);
            after++;
        }
    }
    assert_true(before < 25);
    assert_true(after >= 29); /* of thirty */
    rb_modules_free(modules);
}

static void what_cannot_be_tested(void **state) {
    (void)state;
    static example e;
    rb_modules *modules;
    make_example(&e, 5);
    e.n_samples = PLANTED + 1;
    assert_int_equal(extract(&e, 0.1, &modules), RB_ERROR_ARGUMENT);
    assert_null(modules);
    assert_non_null(strstr(rb_context_error(ctx), "needs at least 5 samples for 3 units"));
    e.n_samples = N;
    e.values[5 * M + 9] = NAN;
    assert_int_equal(extract(&e, 0.1, &modules), RB_ERROR_DATA);
    assert_non_null(strstr(rb_context_error(ctx), "but feature 9 (counted from 0) has missing"));
    assert_int_equal(extract(&e, 0, &modules), RB_ERROR_ARGUMENT);
    assert_int_equal(extract(&e, 0.6, &modules), RB_ERROR_ARGUMENT);
}

/* No sample is active: no module, and nothing to test. */
static void all_dead(void **state) {
    (void)state;
    static example e;
    make_example(&e, 6);
    memset(e.codes, 0, sizeof e.codes);
    rb_modules *modules = modules_of(&e, 0.1);
    assert_int_equal(rb_modules_count(modules), 0);
    rb_modules_free(modules);
}

/* Any allocation fails: an error, and nothing leaks. */
static void out_of_memory(void **state) {
    (void)state;
    static example e;
    make_example(&e, 7);
    rb_modules *modules = NULL;
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t left = 0; err; left++) {
        ctx->allocations_left = left;
        err = extract(&e, 0.1, &modules);
        assert_true(err == RB_OK || err == RB_ERROR_MEMORY);
        assert_int_equal(modules != NULL, err == RB_OK);
        assert_true(left < 1000);
    }
    ctx->allocations_left = -1;
    rb_modules_free(modules);
}

static int set_up(void **state) {
    (void)state;
    return rb_context_new(&ctx);
}

static int tear_down(void **state) {
    (void)state;
    rb_context_free(ctx);
    return 0;
}

/* Two units that tell no more than noise, in samples that are so many apart: how many count? */
static int64_t modules_of_two(int64_t apart) {
    example e;
    make_example(&e, 3);
    memset(e.codes, 0, sizeof e.codes);
    for (int64_t i = 0; i < N / 5; i++) {
        e.codes[i * L] = 1;
        e.codes[(i + apart) * L + 1] = i % 2 ? 0.5 : 1.5;
    }
    for (int64_t at = 0; at < M * L; at++)
        e.loadings[at] = at < 10 * L && at % L < 2 ? 0.15 : 0;
    e.sparse_codes = true;
    rb_modules *modules = modules_of(&e, 0.1);
    int64_t called = rb_modules_called(modules);
    rb_modules_free(modules);
    return called;
}

/* Spare are units that tell too little, also together; of those that share a module one stays. */
static void one_of_alike_stays(void **state) {
    (void)state;
    assert_int_equal(modules_of_two(N / 2), 0);
    assert_int_equal(modules_of_two(0), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_defined),
        cmocka_unit_test(both_tails_count),
        cmocka_unit_test(levels_are_nested),
        cmocka_unit_test(codes_anew),
        cmocka_unit_test(poor_codes),
        cmocka_unit_test(doubled_unit),
        cmocka_unit_test(what_cannot_be_tested),
        cmocka_unit_test(all_dead),
        cmocka_unit_test(many_equal_units),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(every_sample_is_no_module),
        cmocka_unit_test(units_of_measure),
        cmocka_unit_test(one_of_alike_stays),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
