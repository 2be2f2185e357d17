/* Factors that are drawn from the priors of factor models have the distribution functions of these,
 * by quadrature of the densities. */
#include "fixture.h"

#include <rarebit/sample.h>

enum { N = 60, M = 4, MANY = 20000, POINTS = 4, STEPS = 1000 };

static int setup(void **state) {
    *state = fixture_problem(fixture_values(N, M, 1, 3), N, M);
    return 0;
}

/* ---- densities of |z|, but for their sum ---- */

static double normal(double z) {
    return exp(-z * z / 2);
}

static double laplace(double z) {
    return exp(-sqrt(2) * z);
}

static double fabia(double z) {
    return z < 1 ? exp(-z) : exp(-(z * z + 1) / 2);
}

/* By the rule of the midpoint. */
static double integral(double (*density)(double z), double to) {
    double sum = 0;
    for (int s = 0; s < STEPS; s++)
        sum += density(to * (s + 0.5) / STEPS) * to / STEPS;
    return sum;
}

/* ---- */

/* Samples of a fit of one unit, without noise and mean: z w'. */
static double *draw(rb_context *ctx, rb_source *source, const char *method, rb_model **model) {
    double *rows = calloc((size_t)MANY * M, sizeof *rows);
    rb_options *options;
    *model =
        fixture_text_model(ctx, method, source, NULL, "units=1 iterations=5 seed=1 centre=none");
    assert_ok(ctx, rb_options_new(ctx, NULL, &options));
    assert_ok(ctx, rb_options_add(ctx, options, rb_sample_group()));
    assert_ok(ctx, rb_options_set_all(ctx, options, "count=%d noise=0", MANY));
    assert_ok(ctx, rb_sample_into(ctx, *model, NULL, options, RB_FLOAT64, rows, M, 1));
    rb_options_free(options);
    return rows;
}

/* Within five standard errors of a share. */
static void assert_share(int64_t count, double share) {
    double limit = 5 * sqrt(share * (1 - share) / MANY), got = (double)count / MANY;
    if (!(fabs(got - share) <= limit)) fail_msg("%g is not %g within %g", got, share, limit);
}

static void factors_have_their_priors(void **state) {
    const struct fixture_problem *p = *state;
    static const struct {
        const char *method;
        double (*density)(double z);
    } priors[] = {{"fa", normal}, {"fa-laplace", laplace}, {"fabia", fabia}};
    static const double at[POINTS] = {0.3, 0.9, 1.4, 2.2};
    for (int t = 0; t < 3; t++) {
        rb_model *model;
        double *rows = draw(p->ctx, p->source, priors[t].method, &model);
        double w = fixture_array(model, "loadings")[0] / fixture_array(model, "scale")[0];
        double all = integral(priors[t].density, 20);
        int64_t below[POINTS] = {0}, negative = 0;
        for (int i = 0; i < MANY; i++) {
            double z = rows[i * M] / w;
            negative += z < 0;
            for (int e = 0; e < POINTS; e++)
                below[e] += fabs(z) < at[e];
        }
        assert_share(negative, 0.5);
        for (int e = 0; e < POINTS; e++)
            assert_share(below[e], integral(priors[t].density, at[e]) / all);
        free(rows);
        rb_model_free(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(factors_have_their_priors)};
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
