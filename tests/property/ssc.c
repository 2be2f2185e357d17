/* Spike and slab sparse coding: evidence and codes as by enumeration with D x D Gaussians, the
 * objective never falls where all states are looked at, truncated with all candidates it is the
 * same, the scale of units is fixed, bits depend neither on threads nor on where samples are. */
#include "../unit/factors_test.h"

enum { N = 150, D = 7, H = 4 };

/* Fields that overlap, strengths around 1.5. */
static int setup(void **state) {
    rb_draws draws = {{7, RB_RANDOM_SIMULATE, 0}, 0};
    double *values = calloc(N * D, sizeof *values);
    for (int i = 0; i < N; i++) {
        for (int h = 0; h < H; h++) {
            double strength = rb_draw_uniform(&draws) < 0.35 ? 1.5 + rb_draw_normal(&draws) : 0;
            for (int d = h; d < h + 4; d++)
                values[i * D + d] += strength * (d - h + 1);
        }
        for (int d = 0; d < D; d++)
            values[i * D + d] += 0.5 * rb_draw_normal(&draws);
    }
    *state = fixture_problem(values, N, D);
    return 0;
}

/* ---- by enumeration ---- */

/* Solves C x = v in place and returns log|C|, by Gauss elimination. */
static double eliminate(double c[D][D], double *x) {
    double log_det = 0;
    for (int i = 0; i < D; i++) {
        log_det += log(c[i][i]);
        for (int r = i + 1; r < D; r++) {
            double factor = c[r][i] / c[i][i];
            for (int k = i; k < D; k++)
                c[r][k] -= factor * c[i][k];
            x[r] -= factor * x[i];
        }
    }
    for (int i = D - 1; i >= 0; i--) {
        for (int k = i + 1; k < D; k++)
            x[i] -= c[i][k] * x[k];
        x[i] /= c[i][i];
    }
    return log_det;
}

/* log p(s, y) with y | s ~ N(W_S mu, sigma^2 I + W_S psi^2 W_S'), and E[s z | s, y] by E z + Cov(z,
 * y) Cov(y)^-1 (y - E y). */
static double joint(const rb_model *model, const double *y, int s, double *mean) {
    const double *w = fixture_array(model, "loadings"), *prior = fixture_array(model, "prior"),
                 *mu = fixture_array(model, "slab_mean"), *sd = fixture_array(model, "slab_sd");
    double c[D][D], x[D], centred[D], log_p = 0, sigma = fixture_array(model, "sigma")[0];
    for (int d = 0; d < D; d++) {
        centred[d] = y[d];
        for (int h = 0; h < H; h++)
            centred[d] -= s >> h & 1 ? w[d * H + h] * mu[h] : 0;
        x[d] = centred[d];
        for (int k = 0; k < D; k++) {
            c[d][k] = d == k ? sigma * sigma : 0;
            for (int h = 0; h < H; h++)
                c[d][k] += s >> h & 1 ? w[d * H + h] * w[k * H + h] * sd[h] * sd[h] : 0;
        }
    }
    log_p -= eliminate(c, x) / 2 + D * log(2 * M_PI) / 2;
    for (int d = 0; d < D; d++)
        log_p -= x[d] * centred[d] / 2;
    for (int h = 0; h < H; h++) {
        bool on = s >> h & 1;
        log_p += on ? log(prior[h]) : log1p(-prior[h]);
        mean[h] = on ? mu[h] : 0;
        for (int d = 0; on && d < D; d++)
            mean[h] += sd[h] * sd[h] * w[d * H + h] * x[d];
    }
    return log_p;
}

static double enumerate(const rb_model *model, const double *y, double *code) {
    double log_p[1 << H], means[1 << H][H], highest = -INFINITY, total = 0;
    for (int s = 0; s < 1 << H; s++)
        highest = fmax(highest, log_p[s] = joint(model, y, s, means[s]));
    for (int s = 0; s < 1 << H; s++)
        total += exp(log_p[s] - highest);
    for (int h = 0; h < H; h++) {
        code[h] = 0;
        for (int s = 0; s < 1 << H; s++)
            code[h] += exp(log_p[s] - highest) / total * means[s][h];
    }
    return highest + log(total);
}

static const char *const exact =
    "units=4 exact=true temperature=1 seed=2 precision=float64 tolerance=0 iterations=";

static rb_model *fit(const struct fixture_problem *p, int iterations, const char *more) {
    char text[300];
    snprintf(text, sizeof text, "%s%d %s", exact, iterations, more);
    return compare_fit(p->ctx, "ssc", text, p->source);
}

static void as_by_enumeration(void **state) {
    struct fixture_problem *p = *state;
    static const char *const more[] = {"", "slab-mean=zero", "sigma=0.1", "sigma=3"};
    for (int t = 0; t < 4; t++) {
        for (int iterations = 1; iterations <= 30; iterations += 29) {
            rb_model *model = fit(p, iterations, more[t]);
            double *codes = fixture_codes(p->ctx, model, p->source), sum = 0, code[H];
            double likelihoods[N], squares = 0;
            const double *w = fixture_array(model, "loadings");
            rb_metrics *metrics;
            assert_ok(p->ctx, rb_evaluate_samples(p->ctx, model, p->source, likelihoods, &metrics));
            for (int i = 0; i < N; i++) {
                double evidence = enumerate(model, p->values + i * D, code);
                assert_close(likelihoods[i], evidence, 1e-9);
                sum += evidence;
                for (int h = 0; h < H; h++)
                    assert_close(codes[i * H + h], code[h], 1e-8);
                for (int d = 0; d < D; d++) {
                    double rest = p->values[i * D + d];
                    for (int h = 0; h < H; h++)
                        rest -= w[d * H + h] * code[h];
                    squares += rest * rest;
                }
            }
            assert_close(rb_metrics_get(metrics, "mean_squared_error"), squares / (N * D), 1e-8);
            assert_close(fixture_array(model, "log_likelihood")[0], sum / N, 1e-9);
            assert_close(rb_metrics_get(metrics, "log_likelihood"), sum / N, 1e-9);
            rb_metrics_free(metrics);
            free(codes);
            rb_model_free(model);
        }
    }
}

/* The M-step sees the right moments: it never lowers what EM raises. */
static void never_falls(void **state) {
    struct fixture_problem *p = *state;
    static const char *const more[] = {"", "slab-mean=zero", "sigma=0.1", "sigma=3 prior=0.5"};
    for (int t = 0; t < 4; t++) {
        rb_model *model = fit(p, 60, more[t]);
        assert_rises(model, 1e4);
        assert_true(compare_last(model) > compare_objective(model, 0) + 10.0 / N);
        rb_model_free(model);
    }
}

/* Every derivative of the evidence is 0 where EM has come to rest: fields and slab, along the scale
 * that is fixed. */
static void rests_at_a_maximum(void **state) {
    struct fixture_problem *p = *state;
    rb_model *model = fit(p, 1500, "");
    double code[H], *w = (double *)fixture_array(model, "loadings"),
                    *mu = (double *)fixture_array(model, "slab_mean"),
                    *sd = (double *)fixture_array(model, "slab_sd"),
                    *sigma = (double *)fixture_array(model, "sigma"),
                    *prior = (double *)fixture_array(model, "prior");
    double *values[] = {w, w + 5, w + 17, mu, mu + 2, sd, sd + 3, sigma, prior + 1};
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
        double step = 1e-4, before = *values[v], sums[3] = {0};
        for (int side = -1; side <= 1; side++) {
            *values[v] = before + side * step;
            for (int i = 0; i < N; i++)
                sums[side + 1] += enumerate(model, p->values + i * D, code);
        }
        *values[v] = before;
        double slope = (sums[2] - sums[0]) / (2 * step);
        if (!(fabs(slope) < 0.05)) fail_msg("the slope of value %d is %g", (int)v, slope);
    }
    rb_model_free(model);
}

static void scale_is_fixed(void **state) {
    struct fixture_problem *p = *state;
    rb_model *model = fit(p, 30, "");
    for (int h = 0; h < H; h++) {
        double mean = fixture_array(model, "slab_mean")[h], sd = fixture_array(model, "slab_sd")[h];
        assert_close(mean * mean + sd * sd, 1, 1e-9);
        assert_true(mean >= 0);
    }
    rb_model_free(model);
}

/* All causes as candidates, all of them active at once: the same as exact; fewer: a lower bound. */
static void truncated(void **state) {
    struct fixture_problem *p = *state;
    rb_model *all = fit(p, 5, "");
    static const char *const usual = "units=4 temperature=1 seed=2 precision=float64 tolerance=0 "
                                     "iterations=5 candidates=4 max-active=4";
    rb_model *same = compare_fit(p->ctx, "ssc", usual, p->source), *few = NULL;
    fixture_same_array(all, same, "loadings");
    assert_close(compare_last(all), compare_last(same), 1e-12);
    few = fixture_text_model(p->ctx, "ssc", p->source, all,
                             "units=4 precision=float64 iterations=1 candidates=2 max-active=2");
    double evidence = fixture_array(all, "log_likelihood")[0], below = compare_objective(few, 0);
    assert_true(below < evidence && below > evidence - 2);
    rb_model_free(few);
    rb_model_free(same);
    rb_model_free(all);
}

/* Planted fields are found, with their strengths' mean, noise and prior. */
static void planted(void **state) {
    struct fixture_problem *p = *state;
    rb_model *model = compare_fit(
        p->ctx, "ssc", "units=4 exact=true seed=1 precision=float64 restarts=3", p->source);
    const double *w = fixture_array(model, "loadings");
    for (int h = 0; h < H; h++) {
        double best = 0;
        for (int j = 0; j < H; j++) {
            double product = 0, square = 0;
            for (int d = 0; d < D; d++) {
                product += d >= h && d < h + 4 ? w[d * H + j] * (d - h + 1) : 0;
                square += w[d * H + j] * w[d * H + j];
            }
            best = fmax(best, product / sqrt(30 * square));
        }
        if (!(best > 0.95)) fail_msg("cause %d is found with cosine %g", h, best);
    }
    assert_close(fixture_array(model, "sigma")[0], 0.5, 0.1);
    rb_model_free(model);
}

/* Around 0 either sign would do: fits from different starts must not differ by it. */
static void signs_are_settled(void **state) {
    struct fixture_problem *p = *state;
    for (int seed = 1; seed <= 4; seed++) {
        char text[100];
        snprintf(text, sizeof text, "units=4 exact=true slab-mean=zero iterations=60 seed=%d",
                 seed);
        rb_model *model = compare_fit(p->ctx, "ssc", text, p->source);
        const double *w = fixture_array(model, "loadings");
        for (int j = 0; j < H; j++) {
            double largest = 0;
            for (int d = 0; d < D; d++)
                largest = fabs(w[d * H + j]) > fabs(largest) ? w[d * H + j] : largest;
            assert_true(largest > 0);
        }
        rb_model_free(model);
    }
}

static void the_same_bits(void **state) {
    struct fixture_problem *p = *state;
    static const char *const text = "units=9 iterations=12 seed=1 max-active=2 candidates=4";
    rb_context *other = fixture_context();
    assert_ok(other, rb_context_set_threads(other, 3));
    rb_model *model = compare_fit(p->ctx, "ssc", text, p->source);
    rb_model *threads = compare_fit(other, "ssc", text, p->source);
    struct compare_rows rows = {p->values, D};
    rb_source *streamed;
    assert_ok(p->ctx,
              rb_source_from_callback(p->ctx, RB_FLOAT64, N, D, compare_give, &rows, &streamed));
    rb_model *stream = compare_fit(p->ctx, "ssc", text, streamed);
    static const char *const names[] = {"loadings", "sigma", "prior", "slab_mean", "slab_sd"};
    for (int i = 0; i < 5; i++) {
        fixture_same_array(model, threads, names[i]);
        fixture_same_array(model, stream, names[i]);
    }
    rb_source *sparse = fixture_sparse_data(p->ctx, p->values, N, D);
    rb_model *csr = compare_fit(p->ctx, "ssc", text, sparse);
    for (int i = 0; i < 9 * D; i++)
        assert_close(fixture_array(csr, "loadings")[i], fixture_array(model, "loadings")[i], 1e-3);
    rb_model_free(csr);
    rb_source_free(sparse);
    rb_model_free(stream);
    rb_model_free(threads);
    rb_model_free(model);
    rb_source_free(streamed);
    rb_context_free(other);
}

static void refused(void **state) {
    struct fixture_problem *p = *state;
    rb_model *model = NULL;
    assert_int_equal(compare_try(p->ctx, "ssc", "units=17 exact=true", p->source, NULL, &model),
                     RB_ERROR_ARGUMENT);
    assert_int_equal(compare_try(p->ctx, "ssc", "exact=true max-active=2", p->source, NULL, &model),
                     RB_ERROR_ARGUMENT);
    assert_int_equal(compare_try(p->ctx, "ssc", "temperature=0.5", p->source, NULL, &model),
                     RB_ERROR_ARGUMENT);
    assert_error(
        p->ctx,
        compare_try(p->ctx, "ssc", "units=90 candidates=90 max-active=9", p->source, NULL, &model),
        RB_ERROR_ARGUMENT, "lower `candidates` or `max-active`");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_by_enumeration),
        cmocka_unit_test(never_falls),
        cmocka_unit_test(rests_at_a_maximum),
        cmocka_unit_test(scale_is_fixed),
        cmocka_unit_test(signs_are_settled),
        cmocka_unit_test(truncated),
        cmocka_unit_test(planted),
        cmocka_unit_test(the_same_bits),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
