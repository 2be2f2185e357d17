/* The projection of the E-step is the nearest feasible point (Theorem 12), degenerate case
 * included. */
#include "fixture.h"
#include "rfn_pass.h"

enum { N = 4, M = 3 };

/* One pass of the E-step whose posterior means are `means` (N x 1): with l = 1, W = 0 the filter is
 * put in by hand: features are chosen so that V B gives them. */
static void codes_of(const double means[N], double codes[N], bool *dead, double *scale) {
    rb_context *ctx = fixture_context();
    rb_fit_options fit = fixture_fit(1, RB_FLOAT64);
    rb_rfn_options options = fixture_rfn(1, RB_RFN_NORMALIZE_RMS);
    rb_problem problem = {
        .n_samples = N, .n_features = M, .type = RB_FLOAT64, .block_samples = N, .fit = &fit};
    rfn_steps steps;
    rfn_steps_new(ctx, problem, &options, &steps);
    rfn_fit *st = steps.fit;
    double v[N * M] = {0};
    for (int i = 0; i < N; i++)
        v[i * M] = means[i];
    rb_block block = {.n_samples = N, .n_features = M, .dense = {v, N, M, M, RB_FLOAT64}};
    bool again;
    rfn_steps_clear(&steps, RB_PART_SUMS);
    assert_ok(ctx, rb_method_rfn.begin(ctx, st));
    rb_dense_zero(st->posterior.filter);
    rb_dense_set(st->posterior.filter, 0, 0, 1);
    assert_ok(ctx, rb_method_rfn.block(ctx, st, &block));
    assert_ok(ctx, rb_method_rfn.end(ctx, st, &again));
    *dead = !st->progress.alive[0];
    *scale = st->progress.scale[0];
    for (int i = 0; i < N; i++) {
        codes[i] =
            rb_dense_get(((const rfn_cpu *)st->engine)->block.codes, i, 0) / st->progress.scale[0];
        if (*dead) codes[i] = st->sums.place[0] == i ? sqrt(N) : 0;
    }
    /* The moments are those of these codes. */
    double u = 0, a = 0;
    for (int i = 0; i < N; i++) {
        u += v[i * M] * codes[i] / N;
        a += codes[i] * codes[i] / N;
    }
    assert_close(rb_dense_get(st->moments.u, 0, 0), u, 1e-12);
    assert_close(rb_dense_get(st->moments.s, 0, 0) - rb_dense_get(st->posterior.sigma, 0, 0), a,
                 1e-12);
    rfn_steps_free(&steps);
    rb_context_free(ctx);
}

static double distance(const double a[N], const double b[N]) {
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

/* No feasible point of a fine grid on the sphere's non-negative part is nearer. */
static void assert_nearest(const double means[N], const double codes[N]) {
    enum { STEPS = 24 };
    double best = distance(means, codes), quarter = M_PI / 2 / STEPS;
    for (int a = 0; a <= STEPS; a++) {
        for (int b = 0; b <= STEPS; b++) {
            for (int c = 0; c <= STEPS; c++) {
                double point[N] = {cos(a * quarter), sin(a * quarter) * cos(b * quarter),
                                   sin(a * quarter) * sin(b * quarter) * cos(c * quarter),
                                   sin(a * quarter) * sin(b * quarter) * sin(c * quarter)};
                for (int i = 0; i < N; i++)
                    point[i] *= sqrt(N);
                assert_true(distance(means, point) >= best - 1e-12);
            }
        }
    }
}

static void nearest_point(void **state) {
    (void)state;
    rb_draws draws = {{7, RB_RANDOM_SIMULATE, 0}, 0};
    int degenerate = 0;
    for (int trial = 0; trial < 60; trial++) {
        double means[N], codes[N], scale;
        bool dead, any = false;
        for (int i = 0; i < N; i++) {
            means[i] = rb_draw_normal(&draws) - (trial % 3 == 0 ? 2.5 : 0);
            any = any || means[i] > 0;
        }
        codes_of(means, codes, &dead, &scale);
        assert_int_equal(dead, !any);
        degenerate += dead;
        assert_nearest(means, codes);
    }
    assert_true(degenerate >= 10);
}

static void ties_take_the_first(void **state) {
    (void)state;
    const double means[N] = {-2, -1, -1, -3};
    double codes[N], scale;
    bool dead;
    codes_of(means, codes, &dead, &scale);
    assert_true(dead);
    assert_true(codes[1] == 2 && codes[0] == 0 && codes[2] == 0 && codes[3] == 0);
}

/* An M-step from moments that are no numbers says of which feature. */
static void lost_numbers_are_told(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    rb_fit_options fit = fixture_fit(1, RB_FLOAT64);
    rb_rfn_options options = fixture_rfn(1, RB_RFN_NORMALIZE_RMS);
    rb_problem problem = {
        .n_samples = N, .n_features = M, .type = RB_FLOAT64, .block_samples = N, .fit = &fit};
    for (int k = 0; k < M; k++) {
        rfn_steps steps;
        rfn_steps_new(ctx, problem, &options, &steps);
        rb_dense_set(steps.fit->moments.s, 0, 0, 1);
        rb_dense_set(steps.fit->moments.u, k, 0, NAN);
        assert_int_equal(rb_method_rfn.mstep(ctx, steps.fit), RB_ERROR_NUMERIC);
        char feature[32];
        snprintf(feature, sizeof feature, "of feature %d became", k);
        assert_non_null(strstr(rb_context_error(ctx), feature));
        rfn_steps_free(&steps);
    }
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_point),
        cmocka_unit_test(ties_take_the_first),
        cmocka_unit_test(lost_numbers_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
