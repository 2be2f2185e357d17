/* Codes that are found anew from the features that belong: against a few loops for the formulas. */
#include "members_test.h"

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
        gram[q * q - 1] += RESTING; /* the constant comes last */
        invert(q, gram, inverse);
        for (int a = 0; a < q; a++)
            for (int c = 0; c < q; c++)
                beta[a] += inverse[a * q + c] * right[c];
        psi[k] = RESTING * pow(beta[q - 1], 2) / (N - q);
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
        assert_int_equal(rb_refit_new(ctx, M, L, RESTING, &first), RB_OK);
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(codes_anew), cmocka_unit_test(poor_codes)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
