/* What units tell of normal scores: against loops for the definition; and what is spare by it. */
#include "members_test.h"

/* The normal quantile of a share, by halves of erfc. */
static double quantile(double share) {
    double low = -9, high = 9;
    for (int step = 0; step < 100; step++) {
        double middle = (low + high) / 2;
        if (0.5 * erfc(-middle / sqrt(2)) < share)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Mean of the quantiles over the ranks that equal values share. */
static double score(const example *e, int64_t i, int64_t k) {
    int64_t below = 0, equal = 0;
    double sum = 0;
    for (int64_t o = 0; o < N; o++) {
        below += e->values[o * M + k] < e->values[i * M + k];
        equal += e->values[o * M + k] == e->values[i * M + k];
    }
    for (int64_t r = below; r < below + equal; r++)
        sum += quantile(((double)r + 0.625) / (N + 0.25));
    return sum / (double)equal;
}

static double power_sum(const double *x, int64_t count, int64_t stride, int power) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += pow(x[i * stride], power);
    return sum;
}

static double numbers_of(const double *x, int64_t count, int64_t stride) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += fabs(x[i * stride]);
    return sum * sum / power_sum(x, count, stride, 2);
}

/* By the formulas of src/modules/scores.c. */
static double share_by_definition(const example *e, const bool *own, int j, bool recurring) {
    double b[M] = {0}, sum = 0, mean = power_sum(e->codes + j, N, L, 1) / N, squares = 0;
    for (int64_t k = 0; k < M; k++)
        if (own[k * PLANTED + j]) b[k] = e->loadings[k * L + j] / sqrt(e->noise[k]);
    for (int64_t i = 0; i < N; i++) {
        double t = 0, all = 0, z = e->codes[i * L + j] - mean;
        for (int64_t k = 0; k < M; k++) {
            double y = score(e, i, k);
            t += b[k] * y / sqrt(power_sum(b, M, 1, 2));
            all += y * y;
        }
        sum += z * t / sqrt(fmax((all - t * t) / M, 1));
        squares += z * z;
    }
    double rows = numbers_of(e->codes + j, N, L), columns = numbers_of(b, M, 1);
    double noise = pow(sqrt(rows) + sqrt(columns), 2) + 2 * rows * log(N / rows) +
                   2 * columns * log(M / columns);
    double fit =
        fmin(log(N * M) / 24, 0.6) *
        pow(sqrt(2 * rows * (1 + log(N / rows))) + sqrt(2 * columns * log(M / columns)), 2);
    double limit = recurring ? 0.75 * noise : fmax(0.75 * noise, fit);
    return sum > 0 ? sum * sum / squares / limit : 0;
}

static rb_powers powers_of(const example *e, int j) {
    rb_powers p = {0};
    for (int64_t i = 0; i < N; i++)
        rb_powers_add(&p, fabs(e->codes[i * L + j]));
    return p;
}

static rb_error note(void *scores, const rb_block *block, const rb_matrix *codes) {
    (void)codes;
    return rb_scores_note(scores, block);
}

static rb_error add(void *scores, const rb_block *block, const rb_matrix *codes) {
    return rb_scores_add(ctx, scores, block, codes);
}

/* Dense and sparse, of values of which a seventh are tied. */
static void by_definition(void **state) {
    (void)state;
    static example e;
    for (int trial = 0; trial < 4; trial++) {
        bool own[M * PLANTED];
        int64_t index[PLANTED] = {0, 1, 2};
        double rms[PLANTED] = {1, 1, 1};
        make_example(&e, (uint64_t)trial + 70);
        e.sparse = trial % 2;
        for (int64_t i = 0; i < N * L; i++)
            e.codes[i] = fmax(e.codes[i], 0);
        for (int64_t k = 0; k < M * PLANTED; k++)
            own[k] = k / PLANTED / 10 == k % PLANTED || k % 17 == 0;
        rb_refit *refit;
        rb_scores *scores;
        rb_block block = block_of(&e, 0, N);
        rb_matrix *codes;
        rb_tested_units units = {PLANTED, index, rms, 1};
        rb_modules_input input = input_of(&e);
        input.recurring = trial / 2;
        assert_int_equal(rb_matrix_dense(ctx, RB_FLOAT64, N, L, e.codes, L, 1, &codes), RB_OK);
        assert_int_equal(rb_refit_new(ctx, M, L, 0, &refit), RB_OK);
        assert_int_equal(rb_refit_add(ctx, refit, &block, codes), RB_OK);
        assert_int_equal(rb_scores_new(ctx, refit, &units, &scores), RB_OK);
        assert_int_equal(walk_blocks(&e, ctx, note, scores), RB_OK);
        assert_int_equal(rb_scores_begin(ctx, scores, &input, own), RB_OK);
        assert_int_equal(walk_blocks(&e, ctx, add, scores), RB_OK);
        for (int j = 0; j < PLANTED; j++) {
            rb_powers z = powers_of(&e, j);
            double share = rb_scores_share(scores, j, &z);
            assert_true(share > 0);
            assert_true(fabs(share / share_by_definition(&e, own, j, trial / 2) - 1) < 1e-6);
        }
        rb_scores_free(scores);
        rb_refit_free(refit);
        rb_matrix_free(codes);
    }
}

/* Modules of values however skewed are modules, and units of noise are spare. */
static void skewed_values(void **state) {
    (void)state;
    static example e;
    for (int planted = 0; planted <= 1; planted++) {
        make_example(&e, 33);
        e.sparse_codes = true;
        rb_draws draws = {.stream = {.seed = 330}};
        for (int64_t at = 0; at < N * M; at++)
            e.values[at] = exp(planted ? e.values[at] / 2 : rb_draw_normal(&draws));
        for (int64_t at = 0; at < N * L; at++)
            if (e.codes[at] < 1) e.codes[at] = 0;
        for (int64_t at = 0; at < M * L && planted; at++)
            e.loadings[at] /= 3;
        rb_modules *modules = modules_of(&e, 0.1);
        assert_int_equal(rb_modules_called(modules), planted ? PLANTED : 0);
        rb_modules_free(modules);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_definition),
                                       cmocka_unit_test(skewed_values)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
