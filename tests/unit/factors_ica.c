/* ica: planted independent components come back; codes have variance 1 and are uncorrelated. */
#include "factors/contrast.h"
#include "fixture.h"

enum { N = 4000, M = 12, UNITS = 4 };

struct problem {
    rb_context *ctx;
    double *values, *planted; /* N x M; N x UNITS, each with mean about 0 */
    rb_source *source;
};

/* Laplacian, uniform, exponential and binary components, mixed. */
static int setup(void **state) {
    struct problem *p = calloc(1, sizeof *p);
    rb_draws draws = {{3, RB_RANDOM_SIMULATE, 0}, 0};
    double mixing[UNITS][M];
    p->ctx = fixture_context();
    p->values = calloc(N * M, sizeof *p->values);
    p->planted = calloc(N * UNITS, sizeof *p->planted);
    for (int e = 0; e < UNITS * M; e++)
        mixing[e / M][e % M] = rb_draw_normal(&draws);
    for (int i = 0; i < N; i++) {
        double *s = p->planted + (ptrdiff_t)i * UNITS, u = rb_draw_uniform(&draws) + 1e-9;
        s[0] = (rb_draw_uniform(&draws) < 0.5 ? 1 : -1) * log(u);
        s[1] = rb_draw_uniform(&draws) - 0.5;
        s[2] = -log(rb_draw_uniform(&draws) + 1e-9) - 1;
        s[3] = rb_draw_uniform(&draws) < 0.5 ? 1 : -1;
        for (int k = 0; k < M; k++) {
            for (int j = 0; j < UNITS; j++)
                p->values[i * M + k] += s[j] * mixing[j][k];
            p->values[i * M + k] += 0.05 * rb_draw_normal(&draws) + 3;
        }
    }
    p->source = fixture_data(p->ctx, p->values, N, M);
    *state = p;
    return 0;
}

static int teardown(void **state) {
    struct problem *p = *state;
    rb_source_free(p->source);
    free(p->values);
    free(p->planted);
    rb_context_free(p->ctx);
    free(p);
    return 0;
}

static rb_model *fit(struct problem *p, const char *text) {
    return fixture_text_model(p->ctx, "ica", p->source, NULL, "units=%d seed=1 %s", UNITS, text);
}

static double correlation(const double *x, const double *y) {
    double xx = 0, yy = 0, xy = 0, mx = 0, my = 0;
    for (int i = 0; i < N; i++) {
        mx += x[i * UNITS] / N;
        my += y[i * UNITS] / N;
    }
    for (int i = 0; i < N; i++) {
        double a = x[i * UNITS] - mx, b = y[i * UNITS] - my;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    return xy / sqrt(xx * yy);
}

static void planted_components_come_back(void **state) {
    struct problem *p = *state;
    static const char *const ways[] = {
        "",
        "contrast=exp",
        "contrast=cube",
        "algorithm=deflation",
        "algorithm=deflation contrast=exp",
        "algorithm=deflation contrast=cube",
        "precision=float64",
        "precision=float64 contrast=exp algorithm=deflation",
        "solver=randomized",
    };
    for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
        rb_model *model = fit(p, ways[way]);
        double *codes = fixture_codes(p->ctx, model, p->source);
        assert_int_equal(rb_model_status(model), RB_STATUS_CONVERGED);
        for (int j = 0; j < UNITS; j++) {
            double best = 0, square = 0;
            for (int l = 0; l < UNITS; l++)
                best = fmax(best, fabs(correlation(p->planted + j, codes + l)));
            for (int i = 0; i < N; i++)
                square += codes[i * UNITS + j] * codes[i * UNITS + j] / N;
            if (best < 0.98) fail_msg("%s: component %d has %g", ways[way], j, best);
            assert_close(square, 1, 1e-3);
            for (int l = 0; l < j; l++)
                assert_true(fabs(correlation(codes + j, codes + l)) < 1e-3);
        }
        free(codes);
        rb_model_free(model);
    }
}

/* Turned units span what principal directions span, and are as likely. */
static void span_is_that_of_pca(void **state) {
    struct problem *p = *state;
    rb_model *pca = fixture_text_model(p->ctx, "pca", p->source, NULL, "units=%d", UNITS);
    rb_model *ica = fit(p, "");
    rb_metrics *a, *b;
    assert_ok(p->ctx, rb_evaluate(p->ctx, pca, p->source, &a));
    assert_ok(p->ctx, rb_evaluate(p->ctx, ica, p->source, &b));
    assert_close(rb_metrics_get(a, "variance_explained"), rb_metrics_get(b, "variance_explained"),
                 1e-5);
    assert_close(rb_metrics_get(a, "log_likelihood"), rb_metrics_get(b, "log_likelihood"), 1e-3);
    rb_metrics_free(a);
    rb_metrics_free(b);
    rb_model_free(pca);
    rb_model_free(ica);
}

/* g and g' are the derivatives of G, in both types; those of float32 are near those of float64. */
/* A component explains the squares of its loadings of all that varies, for its codes have variance
 * 1. */
static void components_explain_their_share(void **state) {
    struct problem *p = *state;
    rb_model *model = fit(p, "precision=float64");
    const double *w = fixture_array(model, "loadings"), *share = fixture_array(model, "explained");
    double total = 0, mean[M] = {0};
    for (int e = 0; e < N * M; e++)
        mean[e % M] += p->values[e] / N;
    for (int e = 0; e < N * M; e++)
        total += pow(p->values[e] - mean[e % M], 2) / N;
    for (int j = 0; j < UNITS; j++) {
        double squares = 0;
        for (int k = 0; k < M; k++)
            squares += w[k * UNITS + j] * w[k * UNITS + j];
        assert_close(share[j], squares / total, 1e-9);
        assert_true(j == 0 || share[j] <= share[j - 1]); /* the largest first */
    }
    rb_model_free(model);
}

static void contrasts_and_their_derivatives(void **state) {
    (void)state;
    const double h = 1e-4;
    for (int c = ICA_LOGCOSH; c <= ICA_CUBE; c++) {
        for (double y = -6; y <= 6; y += 0.37) {
            double g[3], slope[3], value[3];
            float scratch[2];
            for (int k = 0; k < 3; k++) {
                g[k] = y + (k - 1) * h;
                slope[k] = value[k] = 0;
                ica_apply((ica_contrast)c, (rb_dense){&g[k], 1, 1, 1, RB_FLOAT64}, scratch,
                          &slope[k], &value[k]);
            }
            assert_close(g[1], (value[2] - value[0]) / (2 * h), 1e-6);
            assert_close(slope[1], (g[2] - g[0]) / (2 * h), 1e-6);
            float narrow = (float)y;
            double narrow_slope = 0, narrow_value = 0;
            ica_apply((ica_contrast)c, (rb_dense){&narrow, 1, 1, 1, RB_FLOAT32}, scratch,
                      &narrow_slope, &narrow_value);
            assert_close((double)narrow, g[1], 2e-6);
            assert_close(narrow_slope, slope[1], 2e-6);
            assert_close(narrow_value, value[1], 2e-6);
        }
    }
}

/* The expectations of G under the normal distribution, by a fine sum. */
static void normal_expectations(void **state) {
    (void)state;
    for (int c = ICA_LOGCOSH; c <= ICA_CUBE; c++) {
        double sum = 0, h = 1e-3;
        float scratch[2];
        for (double v = -12; v <= 12; v += h) {
            double y = v, slope = 0, value = 0;
            ica_apply((ica_contrast)c, (rb_dense){&y, 1, 1, 1, RB_FLOAT64}, scratch, &slope,
                      &value);
            sum += h * value * exp(-v * v / 2) / sqrt(2 * acos(-1));
        }
        assert_close(ica_normal((ica_contrast)c), sum, 1e-9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(planted_components_come_back, setup, teardown),
        cmocka_unit_test_setup_teardown(span_is_that_of_pca, setup, teardown),
        cmocka_unit_test_setup_teardown(components_explain_their_share, setup, teardown),
        cmocka_unit_test(contrasts_and_their_derivatives),
        cmocka_unit_test(normal_expectations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
