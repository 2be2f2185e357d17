/* Codes of new samples by fa-jeffreys are those that the steps of its variances go to. */
#include "fixture.h"

enum { N = 200, M = 12, UNITS = 2, TRIED = 20 };

static int setup(void **state) {
    *state = fixture_problem(fixture_values(N, M, 3, 1), N, M);
    return 0;
}

/* mu = (Xi^-1 + G)^-1 q after so many steps xi <- mu^2 + Sigma_jj from 1, with R = Xi^1/2 and A = I
 * + R G R. */
static void take_steps(double g[2][2], const double q[2], double mu[2]) {
    enum { STEPS = 200000 };
    double xi[2] = {1, 1};
    for (int step = 0; step < STEPS; step++) {
        double r[2] = {sqrt(xi[0]), sqrt(xi[1])};
        double a = 1 + xi[0] * g[0][0], b = r[0] * r[1] * g[0][1], d = 1 + xi[1] * g[1][1];
        double det = a * d - b * b;
        mu[0] = r[0] * (d * r[0] * q[0] - b * r[1] * q[1]) / det;
        mu[1] = r[1] * (a * r[1] * q[1] - b * r[0] * q[0]) / det;
        xi[0] = mu[0] * mu[0] + xi[0] * d / det;
        xi[1] = mu[1] * mu[1] + xi[1] * a / det;
    }
}

static void codes_settle(void **state) {
    struct fixture_problem *p = *state;
    rb_options *options;
    rb_model *model;
    double codes[N * UNITS], g[2][2] = {{0}};
    assert_ok(p->ctx, rb_options_new(p->ctx, "fa-jeffreys", &options));
    assert_ok(p->ctx, rb_options_set_all(p->ctx, options,
                                         "units=%d seed=1 precision=float64 centre=none "
                                         "iterations=30 normalize=none",
                                         UNITS));
    assert_ok(p->ctx, rb_fit(p->ctx, options, p->source, NULL, &model));
    assert_ok(p->ctx, rb_encode_into(p->ctx, model, p->source, RB_FLOAT64, codes, UNITS, 1));
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    const double *noise = rb_model_array(model, "noise", NULL, NULL);
    for (int k = 0; k < M; k++)
        for (int e = 0; e < 4; e++)
            g[e / 2][e % 2] += w[k * UNITS + e / 2] * w[k * UNITS + e % 2] / noise[k];
    for (int i = 0; i < TRIED; i++) {
        double q[2] = {0}, mu[2];
        for (int e = 0; e < M * UNITS; e++)
            q[e % UNITS] += w[e] * p->values[i * M + e / UNITS] / noise[e / UNITS];
        take_steps(g, q, mu);
        for (int j = 0; j < UNITS; j++)
            assert_float_equal(codes[i * UNITS + j], mu[j], 1e-3);
    }
    rb_model_free(model);
    rb_options_free(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(codes_settle)};
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
