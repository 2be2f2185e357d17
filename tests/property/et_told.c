/* What a fit of expectation truncation tells of its iterations is what its model has, and a fit
 * goes on from a model as it would have gone on by itself. */
#include "../unit/factors_test.h"

enum { N = 150, D = 8, H = 4 };

/* Superpositions of four overlapping fields, each at one of two strengths. */
static int setup(void **state) {
    rb_draws draws = {{17, RB_RANDOM_SIMULATE, 0}, 0};
    double *values = calloc(N * D, sizeof *values);
    for (int i = 0; i < N; i++) {
        for (int h = 0; h < H; h++) {
            double u = rb_draw_uniform(&draws), strength = u < 0.2 ? 1 : u < 0.35 ? 2 : 0;
            for (int d = 2 * h; d < 2 * h + 3; d++)
                values[i * D + d % D] += 3 * strength;
        }
        for (int d = 0; d < D; d++)
            values[i * D + d] += 0.5 * rb_draw_normal(&draws);
    }
    *state = fixture_problem(values, N, D);
    return 0;
}

static rb_model *fit(const struct fixture_problem *p, const char *method, const char *text,
                     const rb_model *start) {
    rb_model *model;
    assert_ok(p->ctx, compare_try(p->ctx, method, text, p->source, start, &model));
    return model;
}

static double metric(const rb_model *model, int64_t iteration, const char *name) {
    double value = 0;
    assert_int_equal(rb_model_metric(model, iteration, name, &value), RB_OK);
    return value;
}

/* Temperature, noise and mean prior of the last iteration. */
static void metrics_are_of_the_model(void **state) {
    const struct fixture_problem *p = *state;
    static const char *const methods[] = {"ssc", "linca"};
    double temperatures[30];
    for (int i = 0; i < 2; i++) {
        rb_model *model =
            fit(p, methods[i],
                i ? "units=4 iterations=30 seed=1 trace=true learn-sigma=true learn-prior=true "
                    "prior-per-cause=true temperature=3"
                  : "units=4 iterations=30 seed=1 temperature=3",
                NULL);
        const double *prior = fixture_array(model, "prior"), *dead = fixture_array(model, "dead");
        double mean = 0;
        for (int h = 0; h < H; h++) {
            mean += prior[h] / H;
            assert_true(dead[h] == 0);
        }
        for (int t = 0; t < 30; t++) { /* one schedule */
            double now = metric(model, t, "temperature");
            assert_true(i == 0 || now == temperatures[t]);
            temperatures[t] = now;
        }
        assert_close(metric(model, 29, "temperature"), 1, 1e-12);
        assert_close(metric(model, 0, "temperature"), 3, 1e-12);
        assert_close(metric(model, 29, "sigma"), fixture_array(model, "sigma")[0], 1e-12);
        assert_close(metric(model, 29, "prior"), mean, 1e-12);
        if (i == 1) {
            int64_t rows, columns;
            const double *trace = rb_model_array(model, "trace", &rows, &columns);
            static const char *const names[] = {"temperature", "samples_used", "candidate_hits"};
            assert_int_equal(rows, 30);
            assert_int_equal(columns, 3);
            for (int e = 0; e < 90; e++)
                assert_close(trace[e], metric(model, e / 3, names[e % 3]), 1e-12);
            for (int t = 0; t < 30; t++) /* a share */
                assert_true(trace[3 * t + 2] > 0 && trace[3 * t + 2] <= 1);
        }
        if (i == 1) {
            int64_t kept, one, traced;
            const double *quality = rb_model_array(model, "trace_quality", &kept, &traced);
            assert_int_equal(kept, 30);
            assert_in_range(traced, 1, N);
            for (int64_t e = 0; e < kept * traced; e++) /* what candidates have of all */
                assert_true(quality[e] > 0 && quality[e] < 1 + 1e-9);
            const double *at = rb_model_array(model, "trace_fields_at", &kept, &one);
            assert_int_equal(kept, 10);
            for (int k = 0; k < 10; k++) /* evenly, from the first to the last */
                assert_true(at[k] == k * 29 / 9);
        }
        rb_model_free(model);
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A fit begins at 0.52 c^2 / sigma^2, c the 99th percentile of |y| within 1 %, but never below the
 * end; from a model it begins cold. */
static void begins_at_its_temperature(void **state) {
    const struct fixture_problem *p = *state;
    double sizes[N * D];
    for (int e = 0; e < N * D; e++)
        sizes[e] = fabs(p->values[e]);
    qsort(sizes, N * D, sizeof *sizes, by_size);
    double c = sizes[N * D * 99 / 100];
    for (int sigma = 1; sigma <= 100; sigma *= 10) {
        char text[96];
        snprintf(text, sizeof text, "units=4 iterations=3 seed=1 sigma=%d", sigma);
        rb_model *model = fit(p, "linca", text, NULL);
        double start = fmax(1, 0.52 * pow(c / sigma, 2));
        assert_close(metric(model, 0, "temperature"), start, 0.03);
        rb_model *next = fit(p, "linca", text, model);
        assert_close(metric(next, 0, "temperature"), 1, 1e-12);
        rb_model_free(next);
        rb_model_free(model);
    }
}

/* Loadings after three iterations with options as text. */
static const double *after_three(const struct fixture_problem *p, const char *method,
                                 const char *text, rb_model **model) {
    char all[512];
    snprintf(all, sizeof all, "units=8 seed=2 iterations=3 precision=float64 %s", text);
    *model = fit(p, method, all, NULL);
    return fixture_array(*model, "loadings");
}

/* What options leave open follows from the mean and the standard deviation of the data and from the
 * mean size of an active cause, and is the same when it is given. */
static void defaults_follow_from_the_data(void **state) {
    const struct fixture_problem *p = *state;
    static const struct {
        const char *method, *more;
        double sigma, size; /* in standard deviations; of an active cause */
    } cases[] = {{"linca", "learn-sigma=true temperature=3:1", 0.5, 1},
                 {"linca", "learn-sigma=true temperature=3:1 values=0,1,2", 0.5, 1.5},
                 {"nmf-et", "learn-sigma=true temperature=3:1 values=0,1,2", 0.5, 1.5},
                 {"mca", "learn-sigma=true temperature=3:1 values=0,1,2", 1, 1.5},
                 {"ssc", "", 0.5, 1}};
    double mean = 0, square = 0;
    for (int e = 0; e < N * D; e++)
        p->values[e] = fabs(p->values[e]);
    for (int e = 0; e < N * D; e++) {
        mean += p->values[e] / (N * D);
        square += p->values[e] * p->values[e] / (N * D);
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        bool ssc = strcmp(cases[c].method, "ssc") == 0, by_mean = c == 2 || c == 3;
        double sd = sqrt(ssc ? square : square - mean * mean), size = cases[c].size;
        double middle = by_mean ? mean / size : 0, noise = (by_mean ? mean / 80 : sd / 120) / size;
        char text[400], start[160] = "temperature=18.72:1"; /* 0.52 (3 sd / sigma)^2 */
        if (!ssc) {
            snprintf(start, sizeof start, "%s init-mean=%.17g init-sd=%.17g", cases[c].more, middle,
                     (by_mean ? middle : sd / size) / 3);
        }
        snprintf(text, sizeof text, "%s prior=0.25 sigma=%.17g weight-noise=%.17g", start,
                 cases[c].sigma * sd, noise);
        rb_model *open, *given;
        const double *x = after_three(p, cases[c].method, cases[c].more, &open);
        const double *y = after_three(p, cases[c].method, text, &given);
        for (int e = 0; e < D * 8; e++)
            assert_close(x[e], y[e], 1e-7);
        rb_model_free(open);
        rb_model_free(given);
    }
}

/* Five iterations and one more are six, also where the shares of values are not alike. */
static void goes_on_from_a_model(void **state) {
    const struct fixture_problem *p = *state;
    const char *const text = "units=4 exact=true values=0,1,2 value-prior=0.2,0.1 seed=2 sigma=1 "
                             "temperature=1 weight-noise=0 cut-factor=1e9 precision=float64 "
                             "iterations=";
    char five[256], six[256], one[256];
    snprintf(five, sizeof five, "%s5", text);
    snprintf(six, sizeof six, "%s6", text);
    snprintf(one, sizeof one,
             "units=4 exact=true values=0,1,2 sigma=1 weight-noise=0 cut-factor=1e9 "
             "temperature=1 precision=float64 iterations=1");
    rb_model *first = fit(p, "linca", five, NULL);
    rb_model *whole = fit(p, "linca", six, NULL), *parts = fit(p, "linca", one, first);
    const double *w = fixture_array(whole, "loadings"), *x = fixture_array(parts, "loadings");
    for (int e = 0; e < D * H; e++)
        assert_close(x[e], w[e], 1e-9);
    for (int a = 0; a < 2; a++)
        assert_close(fixture_array(parts, "value_prior")[a], fixture_array(whole, "value_prior")[a],
                     1e-12);
    rb_model_free(first);
    rb_model_free(whole);
    rb_model_free(parts);
}

/* A model with a share of values, a prior or a noise of 0 is refused. */
static void shares_are_above_zero(void **state) {
    const struct fixture_problem *p = *state;
    static const char *const names[] = {"value_prior", "prior", "sigma"};
    for (int a = 0; a < 3; a++) {
        rb_model *model =
                     fit(p, "linca", "units=4 exact=true values=0,1,2 iterations=2 seed=1", NULL),
                 *next;
        double codes[N * H];
        assert_ok(p->ctx, rb_encode_into(p->ctx, model, p->source, RB_FLOAT64, codes, H, 1));
        ((double *)fixture_array(model, names[a]))[0] = 0;
        assert_int_equal(rb_encode_into(p->ctx, model, p->source, RB_FLOAT64, codes, H, 1),
                         RB_ERROR_FORMAT);
        assert_int_equal(compare_try(p->ctx, "linca",
                                     "units=4 exact=true values=0,1,2 iterations=1", p->source,
                                     model, &next),
                         RB_ERROR_FORMAT);
        rb_model_free(model);
    }
}

static rb_error go_on(const struct fixture_problem *p, const rb_model *model, const char *values) {
    char text[96];
    rb_model *next;
    snprintf(text, sizeof text, "units=4 exact=true values=%s iterations=1", values);
    rb_error err = compare_try(p->ctx, "linca", text, p->source, model, &next);
    if (!err) rb_model_free(next);
    return err;
}

/* A fit goes on with the values and a prior below 1 that the model to start from has. */
static void starts_have_the_values(void **state) {
    const struct fixture_problem *p = *state;
    rb_model *model = fit(p, "linca", "units=4 exact=true values=0,1,2 iterations=2 seed=1", NULL);
    assert_int_equal(go_on(p, model, "0,1,2"), RB_OK);
    assert_int_equal(go_on(p, model, "0,1,3"), RB_ERROR_ARGUMENT);
    ((double *)fixture_array(model, "prior"))[0] = 1;
    assert_int_equal(go_on(p, model, "0,1,2"), RB_ERROR_FORMAT);
    rb_model_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(metrics_are_of_the_model),
                                       cmocka_unit_test(begins_at_its_temperature),
                                       cmocka_unit_test(starts_have_the_values),
                                       cmocka_unit_test(shares_are_above_zero),
                                       cmocka_unit_test(goes_on_from_a_model),
                                       cmocka_unit_test(defaults_follow_from_the_data)};
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
