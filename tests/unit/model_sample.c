/* Samples drawn from models have the distribution that the model says, on the scale of the data:
 * moments of many, frequencies of causes; the same bits for any number of threads. */
#include "factors_test.h"
#include <rarebit/deep.h>

#include <rarebit/sample.h>

enum { N = 200, M = 6, UNITS = 3, MANY = 40000 };

static int setup(void **state) {
    double *values = fixture_values(N, M, UNITS, 5);
    *state = fixture_problem(values, N, M);
    return 0;
}

static rb_error try_sample(rb_context *ctx, const rb_model *model, rb_source *of, const char *text,
                           double *rows) {
    rb_options *options;
    assert_ok(ctx, rb_options_new(ctx, NULL, &options));
    assert_ok(ctx, rb_options_add(ctx, options, rb_sample_group()));
    assert_ok(ctx, rb_options_set_all(ctx, options, "%s", text));
    rb_error err =
        rb_sample_into(ctx, model, of, options, RB_FLOAT64, rows, rb_model_features(model), 1);
    rb_options_free(options);
    return err;
}

static double *sample(rb_context *ctx, const rb_model *model, rb_source *of, const char *text) {
    double *rows = calloc((size_t)(MANY * rb_model_features(model)), sizeof *rows);
    assert_ok(ctx, try_sample(ctx, model, of, text, rows));
    return rows;
}

static double mean_of(const double *rows, int64_t n, int64_t m, int64_t k) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += rows[i * m + k] / (double)n;
    return sum;
}

static double product_of(const double *rows, int64_t n, int64_t m, int64_t k, int64_t l,
                         const double *around) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (rows[i * m + k] - around[k]) * (rows[i * m + l] - around[l]) / (double)n;
    return sum;
}

/* Within five standard errors of products of normal numbers, times `wide` for heavier tails. */
static void assert_moments(const double *rows, const double *mean, const double *c, double wide) {
    for (int k = 0; k < M; k++) {
        double limit = 5 * wide * sqrt(c[k * M + k] / MANY);
        double middle = mean_of(rows, MANY, M, k);
        if (!(fabs(middle - mean[k]) <= limit))
            fail_msg("the mean of feature %d is %g, not %g within %g", k, middle, mean[k], limit);
        for (int l = 0; l <= k; l++) {
            double spread = c[k * M + k] * c[l * M + l] + c[k * M + l] * c[k * M + l];
            double got = product_of(rows, MANY, M, k, l, mean);
            if (!(fabs(got - c[k * M + l]) <= 5 * wide * sqrt(spread / MANY)))
                fail_msg("second moment %d, %d is %g, not %g", k, l, got, c[k * M + l]);
        }
    }
}

/* W S W' + factor^2 Psi */
static void covariance(const rb_model *model, const double *s, double factor, double *c) {
    const double *w = fixture_array(model, "loadings"), *noise = fixture_array(model, "noise");
    for (int k = 0; k < M; k++) {
        for (int l = 0; l < M; l++) {
            c[k * M + l] = k == l ? factor * factor * noise[k] : 0;
            for (int i = 0; i < UNITS; i++)
                for (int j = 0; j < UNITS; j++)
                    c[k * M + l] += w[k * UNITS + i] * s[i * UNITS + j] * w[l * UNITS + j];
        }
    }
}

static void means(const struct fixture_problem *p, double *mean) {
    for (int k = 0; k < M; k++)
        mean[k] = mean_of(p->values, N, M, k);
}

/* W W' + Psi around the mean of the data, with any noise; Laplacian factors have variance 1 too,
 * those of fabia 0.8813, by quadrature of its prior. */
static void by_the_prior(void **state) {
    struct fixture_problem *p = *state;
    static const struct {
        const char *method, *options;
        double variance, wide;
    } cases[] = {{"rfn", "normalize=none", 1, 1}, {"fa", "solver=em", 1, 1},
                 {"fa", "normalize=rms", -1, 1},  {"sfa", "", 1, 1},
                 {"fa-laplace", "", 1, 2},        {"fabia", "normalize=none", 0.8813299, 2}};
    double mean[M], c[M * M], s[UNITS * UNITS];
    means(p, mean);
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        char text[160];
        snprintf(text, sizeof text,
                 "units=3 iterations=20 centre=mean scale=none precision=float64 %s",
                 cases[t].options);
        rb_model *model = compare_fit(p->ctx, cases[t].method, text, p->source);
        const double *scale = rb_model_array(model, "scale", NULL, NULL);
        for (int j = 0; j < UNITS * UNITS; j++)
            s[j] = j % (UNITS + 1)         ? 0
                   : cases[t].variance > 0 ? cases[t].variance
                                           : 1 / (scale[j / UNITS] * scale[j / UNITS]);
        for (int half = 0; half < 2; half++) {
            double *rows =
                sample(p->ctx, model, NULL, half ? "count=40000 noise=0.5" : "count=40000 seed=3");
            covariance(model, s, half ? 0.5 : 1, c);
            assert_moments(rows, mean, c, cases[t].wide);
            free(rows);
        }
        rb_model_free(model);
    }
}

/* (D^2 + W' Psi^-1 W)^-1 by Gauss and Jordan; D: what codes of the prior were divided by. */
static void posterior_covariance(const rb_model *model, const double *scale, double *sigma) {
    const double *w = fixture_array(model, "loadings"), *noise = fixture_array(model, "noise");
    double a[UNITS][2 * UNITS] = {{0}};
    for (int i = 0; i < UNITS; i++) {
        a[i][UNITS + i] = 1;
        for (int j = 0; j < UNITS; j++) {
            a[i][j] = i == j ? scale[i] * scale[i] : 0;
            for (int k = 0; k < M; k++)
                a[i][j] += w[k * UNITS + i] * w[k * UNITS + j] / noise[k];
        }
    }
    for (int i = 0; i < UNITS; i++) {
        double pivot = a[i][i];
        for (int j = 0; j < 2 * UNITS; j++)
            a[i][j] /= pivot;
        for (int r = 0; r < UNITS; r++) {
            double factor = r == i ? 0 : a[r][i];
            for (int j = 0; j < 2 * UNITS; j++)
                a[r][j] -= factor * a[i][j];
        }
    }
    for (int i = 0; i < UNITS; i++)
        for (int j = 0; j < UNITS; j++)
            sigma[i * UNITS + j] = a[i][UNITS + j];
}

/* C = W S W' + Psi with S = 1/n sum mu mu' + Sigma: what the M-step compares with the data. */
static void by_the_codes(void **state) {
    struct fixture_problem *p = *state;
    static const char *const cases[][2] = {
        {"rfn", "iterations=20 normalize=none centre=mean"},
        {"fa", "iterations=20 normalize=none"},
        {"fa", "solver=em iterations=1 normalize=rms"}, /* far from a mean square of 1 by itself */
    };
    static const double ones[UNITS] = {1, 1, 1};
    for (int t = 0; t < 3; t++) {
        double mean[M], middle[M], c[M * M], s[UNITS * UNITS], code[UNITS] = {0};
        char text[96];
        snprintf(text, sizeof text, "units=3 precision=float64 %s", cases[t][1]);
        rb_model *model = compare_fit(p->ctx, cases[t][0], text, p->source);
        double *codes = fixture_codes(p->ctx, model, p->source);
        const double *w = fixture_array(model, "loadings");
        posterior_covariance(model, t < 2 ? ones : fixture_array(model, "scale"), s);
        for (int i = 0; i < UNITS; i++) {
            code[i] = mean_of(codes, N, UNITS, i);
            for (int j = 0; j < UNITS; j++)
                s[i * UNITS + j] += product_of(codes, N, UNITS, i, j, (double[UNITS]){0});
        }
        covariance(model, s, 1, c);
        means(p, mean);
        for (int k = 0; k < M; k++) {
            middle[k] = mean[k];
            for (int j = 0; j < UNITS; j++)
                middle[k] += w[k * UNITS + j] * code[j];
        }
        double *rows = sample(p->ctx, model, p->source, "count=40000");
        for (int k = 0; k < M; k++) {
            assert_true(fabs(mean_of(rows, MANY, M, k) - middle[k]) <=
                        5 * sqrt(c[k * M + k] / MANY));
            for (int l = 0; l < M; l++) {
                double spread = c[k * M + k] * c[l * M + l] + c[k * M + l] * c[k * M + l];
                assert_true(fabs(product_of(rows, MANY, M, k, l, mean) - c[k * M + l]) <=
                            5 * sqrt(spread / MANY));
            }
        }
        free(rows);
        free(codes);
        rb_model_free(model);
    }
}

/* A D A' + s^2 (I - A A') */
static void of_pca(void **state) {
    struct fixture_problem *p = *state;
    double mean[M], c[M * M];
    rb_model *model = compare_fit(p->ctx, "pca", "units=3 precision=float64", p->source);
    const double *a = fixture_array(model, "loadings"), *d = fixture_array(model, "variance");
    double noise = fixture_array(model, "noise")[0];
    for (int k = 0; k < M; k++)
        for (int l = 0; l < M; l++) {
            c[k * M + l] = k == l ? noise : 0;
            for (int j = 0; j < UNITS; j++)
                c[k * M + l] += a[k * UNITS + j] * a[l * UNITS + j] * (d[j] - noise);
        }
    means(p, mean);
    double *rows = sample(p->ctx, model, NULL, "count=40000");
    assert_moments(rows, mean, c, 1);
    free(rows);
    rb_model_free(model);
}

/* Units of data: what was scaled is scaled back, logarithms are undone. */
static void preprocessing_is_undone(void **state) {
    struct fixture_problem *p = *state;
    double *positive = calloc(N * M, sizeof *positive);
    for (int e = 0; e < N * M; e++)
        positive[e] = expm1(fabs(p->values[e]) / 10) * (e % M + 1);
    rb_source *source = fixture_data(p->ctx, positive, N, M);
    rb_model *model =
        compare_fit(p->ctx, "pca", "units=3 log1p=true scale=sd precision=float64", source);
    double *rows = sample(p->ctx, model, NULL, "count=40000");
    for (int k = 0; k < M; k++) {
        double mean = 0, square = 0, of_data = 0, square_of_data = 0;
        for (int i = 0; i < MANY; i++) {
            mean += log1p(rows[i * M + k]) / MANY;
            square += pow(log1p(rows[i * M + k]), 2) / MANY;
        }
        for (int i = 0; i < N; i++) {
            of_data += log1p(positive[i * M + k]) / N;
            square_of_data += pow(log1p(positive[i * M + k]), 2) / N;
        }
        assert_close(mean, of_data, 0.02);
        assert_close(sqrt(square - mean * mean) / sqrt(square_of_data - of_data * of_data), 1,
                     0.15);
    }
    free(rows);
    rb_model_free(model);
    rb_source_free(source);
    free(positive);
}

/* ---- binary causes: each state as often as the prior says, without noise ---- */

static double field(const rb_model *model, int state, int k) {
    const double *w = fixture_array(model, "loadings");
    bool max = strcmp(rb_model_method(model), "mca") == 0;
    double sum = 0;
    for (int j = 0; j < UNITS; j++) {
        double value = state >> j & 1 ? w[k * UNITS + j] : 0;
        sum = max ? fmax(sum, value) : sum + value;
    }
    return sum;
}

static int state_of(const rb_model *model, const double *row) {
    int best = 0;
    double least = INFINITY;
    for (int s = 0; s < 1 << UNITS; s++) {
        double error = 0;
        for (int k = 0; k < M; k++)
            error += pow(row[k] - field(model, s, k), 2);
        best = error < least ? s : best;
        least = fmin(least, error);
    }
    assert_true(least < 1e-8);
    return best;
}

static void assert_frequency(int64_t count, int64_t n, double p) {
    double limit = 5 * sqrt(p * (1 - p) / (double)n);
    if (!(fabs((double)count / (double)n - p) <= limit))
        fail_msg("a state has frequency %g, not %g", (double)count / (double)n, p);
}

static rb_model *fit_bars(rb_context *ctx, const char *method, const char *more, rb_source **source,
                          rb_matrix **matrix, double **values) {
    rb_draws draws = {{9, RB_RANDOM_SIMULATE, 0}, 0};
    *values = calloc(N * M, sizeof **values);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < UNITS; j++) {
            bool on = rb_draw_uniform(&draws) < 0.2 * (j + 1);
            for (int k = 2 * j; k < 2 * j + 2; k++)
                (*values)[i * M + k] = (on ? 5 : 0) + fabs(0.3 * rb_draw_normal(&draws));
        }
    *source = fixture_source(ctx, *values, N, M, matrix);
    char text[200];
    snprintf(text, sizeof text, "units=3 candidates=3 seed=1 iterations=40 precision=float64 %s",
             more);
    return compare_fit(ctx, method, text, *source);
}

static void causes_by_the_prior(void **state) {
    struct fixture_problem *p = *state;
    static const struct {
        const char *method, *options;
    } cases[] = {{"linca", "max-active=3 prior-per-cause=true"},
                 {"nmf-et", "max-active=2 learn-prior=true"},
                 {"mca", "max-active=3 prior=0.3"},
                 {"linca", "count=2"}};
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        rb_source *source;
        rb_matrix *matrix;
        double *values;
        rb_model *model =
            fit_bars(p->ctx, cases[t].method, cases[t].options, &source, &matrix, &values);
        int64_t counts[1 << UNITS] = {0}, priors;
        const double *prior = rb_model_array(model, "prior", &priors, NULL);
        double *rows = sample(p->ctx, model, NULL, "count=40000 noise=0");
        for (int i = 0; i < MANY; i++)
            counts[state_of(model, rows + i * M)]++;
        for (int s = 0; s < 1 << UNITS; s++) {
            double probability = 1;
            int active = 0;
            for (int j = 0; j < UNITS; j++) {
                double pi = prior[priors > 1 ? j : 0];
                active += s >> j & 1;
                probability *= s >> j & 1 ? pi : 1 - pi;
            }
            if (strcmp(cases[t].options, "count=2") == 0) probability = active == 2 ? 1 / 3. : 0;
            assert_frequency(counts[s], MANY, probability);
        }
        free(rows);
        /* Of given samples: as often as their posteriors say. */
        rows = sample(p->ctx, model, source, "count=40000 noise=0");
        double *codes = fixture_codes(p->ctx, model, source);
        int64_t on[UNITS] = {0};
        for (int i = 0; i < MANY; i++)
            for (int j = 0; j < UNITS; j++)
                on[j] += state_of(model, rows + i * M) >> j & 1;
        for (int j = 0; j < UNITS; j++) {
            double expected = mean_of(codes, N, UNITS, j);
            assert_true(fabs((double)on[j] / MANY - expected) < 5 * sqrt(0.25 / MANY));
        }
        free(codes);
        free(rows);
        /* Noise of the model's standard deviation, or a half of it. */
        double sigma = fixture_array(model, "sigma")[0];
        for (int half = 0; half < 2; half++) {
            double *bare = sample(p->ctx, model, NULL, "count=40000 noise=0"), squares = 0;
            rows = sample(p->ctx, model, NULL, half ? "count=40000 noise=0.5" : "count=40000");
            for (int e = 0; e < MANY * M; e++)
                squares += pow(rows[e] - bare[e], 2) / (MANY * M);
            assert_close(sqrt(squares) / sigma, half ? 0.5 : 1, 0.01);
            free(bare);
            free(rows);
        }
        rb_model_free(model);
        rb_source_free(source);
        rb_matrix_free(matrix);
        free(values);
    }
}

/* Fewer samples than there are, of data of several blocks: each has noise of its own. */
static void noise_of_some_of_many(void **state) {
    enum { ROWS = 1500, COLUMNS = 3000, SOME = 800 };
    struct fixture_problem *p = *state;
    double *values = fixture_values(ROWS, COLUMNS, 2, 3);
    double *noisy = calloc((size_t)SOME * COLUMNS, sizeof *noisy);
    double *bare = calloc((size_t)SOME * COLUMNS, sizeof *bare);
    rb_source *source = fixture_data(p->ctx, values, ROWS, COLUMNS);
    rb_model *model = compare_fit(p->ctx, "pca", "units=2 seed=1 precision=float64", source);
    assert_ok(p->ctx, try_sample(p->ctx, model, source, "count=800", noisy));
    assert_ok(p->ctx, try_sample(p->ctx, model, source, "count=800 noise=0", bare));
    for (int i = 0; i < SOME; i++)
        for (int other = 0; other < i; other++) {
            double a = noisy[i * COLUMNS] - bare[i * COLUMNS];
            double b = noisy[other * COLUMNS] - bare[other * COLUMNS];
            assert_true(fabs(a - b) > 1e-11 * fabs(a));
        }
    rb_model_free(model);
    rb_source_free(source);
    free(values);
    free(noisy);
    free(bare);
}

/* Means of samples are those of causes with their values: by the prior, and of given samples. */
static void causes_of_values(void **state) {
    struct fixture_problem *p = *state;
    rb_source *source;
    rb_matrix *matrix;
    double *values;
    rb_model *model =
        fit_bars(p->ctx, "linca", "values=0,1,2 learn-prior=true", &source, &matrix, &values);
    const double *shares = fixture_array(model, "value_prior"),
                 *w = fixture_array(model, "loadings");
    double *codes = fixture_codes(p->ctx, model, source);
    for (int given = 0; given < 2; given++) {
        double *rows = sample(p->ctx, model, given ? source : NULL, "count=40000 noise=0");
        for (int k = 0; k < M; k++) {
            double wanted = 0, bound = 0;
            for (int j = 0; j < UNITS; j++) {
                double mean = given ? mean_of(codes, N, UNITS, j) : shares[0] + 2 * shares[1];
                wanted += mean * w[k * UNITS + j];
                bound += fabs(w[k * UNITS + j]);
            }
            assert_true(fabs(mean_of(rows, MANY, M, k) - wanted) < 5 * bound / sqrt(MANY));
        }
        free(rows);
    }
    free(codes);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
    free(values);
}

/* Mean and variance of Poisson noise are the superposition. */
static void poisson_noise(void **state) {
    struct fixture_problem *p = *state;
    rb_source *source;
    rb_matrix *matrix;
    double *values;
    static const char *const methods[] = {"nmf-et", "nmf"};
    for (int t = 0; t < 2; t++) {
        rb_model *model = t == 0 ? fit_bars(p->ctx, "nmf-et", "noise=poisson max-active=3", &source,
                                            &matrix, &values)
                                 : NULL;
        if (t == 1) {
            model = fit_bars(p->ctx, "linca", "", &source, &matrix, &values);
            rb_model_free(model);
            model = compare_fit(p->ctx, methods[t],
                                "units=3 loss=kullback-leibler precision=float64 seed=1", source);
        }
        rb_source *of = t == 0 ? NULL : source;
        double *bare = sample(p->ctx, model, of, "count=40000 noise=0");
        double *rows = sample(p->ctx, model, of, "count=40000"), difference = 0, squares = 0,
               rate = 0;
        for (int e = 0; e < MANY * M; e++) {
            assert_true(rows[e] >= 0 && rows[e] == floor(rows[e]));
            rate += bare[e] / (MANY * M);
            difference += (rows[e] - bare[e]) / (MANY * M);
            squares += pow(rows[e] - bare[e], 2) / (MANY * M);
        }
        assert_true(fabs(difference) < 5 * sqrt(rate / (MANY * M)));
        assert_close(squares / rate, 1, 0.02);
        assert_error(p->ctx, try_sample(p->ctx, model, of, "count=10 noise=0.5", rows),
                     RB_ERROR_ARGUMENT, "Poisson noise has no standard");
        free(bare);
        free(rows);
        rb_model_free(model);
        rb_source_free(source);
        rb_matrix_free(matrix);
        free(values);
    }
}

/* ---- others ---- */

static void clusters_by_their_shares(void **state) {
    struct fixture_problem *p = *state;
    rb_model *model = compare_fit(p->ctx, "kmeans", "units=3 precision=float64 seed=1", p->source);
    double *codes = fixture_codes(p->ctx, model, p->source), mean[M];
    double *rows = sample(p->ctx, model, NULL, "count=40000 noise=0");
    const double *w = fixture_array(model, "loadings");
    means(p, mean);
    for (int j = 0; j < UNITS; j++) {
        int64_t count = 0;
        for (int i = 0; i < MANY; i++)
            count += fabs(rows[i * M] - mean[0] - w[j]) < 1e-9;
        assert_frequency(count, MANY, mean_of(codes, N, UNITS, j));
    }
    free(rows);
    free(codes);
    rb_model_free(model);
}

/* p(v) by enumeration of a small machine with binary units. */
static void gibbs_reaches_the_distribution(void **state) {
    enum { V = 4, H = 2, CHAINS = 8000 };
    rb_context *ctx = ((struct fixture_problem *)*state)->ctx;
    double values[60 * V], *rows = calloc(CHAINS * V, sizeof *rows), total = 0, p[1 << V];
    for (int i = 0; i < 60; i++)
        for (int k = 0; k < V; k++)
            values[i * V + k] = i % 3 == 0 ? k < 2 : i % 3 == 1 ? k == 3 : 1;
    rb_source *source = fixture_data(ctx, values, 60, V);
    rb_model *model = compare_fit(
        ctx, "rbm",
        "units=2 visible=binary eta=0.05 batch-size=10 iterations=300 seed=4 preset=none", source);
    const double *w = fixture_array(model, "loadings"), *b = fixture_array(model, "hidden_bias"),
                 *c = fixture_array(model, "visible_bias");
    for (int v = 0; v < 1 << V; v++) {
        double log_p = 0;
        for (int k = 0; k < V; k++)
            log_p += v >> k & 1 ? c[k] : 0;
        for (int j = 0; j < H; j++) {
            double a = b[j];
            for (int k = 0; k < V; k++)
                a += v >> k & 1 ? w[k * H + j] : 0;
            log_p += log1p(exp(a));
        }
        total += p[v] = exp(log_p);
    }
    assert_ok(ctx, try_sample(ctx, model, NULL, "count=8000 steps=150", rows));
    for (int v = 0; v < 1 << V; v++) {
        int64_t count = 0;
        for (int i = 0; i < CHAINS; i++) {
            int got = 0;
            for (int k = 0; k < V; k++)
                got |= (rows[i * V + k] > 0.5) << k;
            count += got == v;
        }
        assert_frequency(count, CHAINS, p[v] / total);
    }
    rb_model_free(model);
    rb_source_free(source);
    free(rows);
}

/* The same bits on any number of threads; more samples begin with the same ones. */
static void the_same_bits(void **state) {
    struct fixture_problem *p = *state;
    static const char *const methods[] = {"rfn", "linca", "pca", "fabia", "kmeans", "rbm"};
    rb_context *other = fixture_context();
    assert_ok(other, rb_context_set_threads(other, 3));
    for (size_t t = 0; t < sizeof methods / sizeof *methods; t++) {
        rb_model *model = compare_fit(p->ctx, methods[t], "units=3 iterations=5 seed=1", p->source);
        double *rows = sample(p->ctx, model, NULL, "count=3000");
        double *same = sample(other, model, NULL, "count=3000"),
               *few = sample(other, model, NULL, "count=20");
        assert_memory_equal(rows, same, 3000 * M * sizeof *rows);
        if (strcmp(methods[t], "rbm") != 0) /* products of other shapes round differently */
            for (int e = 0; e < 20 * M; e++)
                assert_close(few[e], rows[e], 1e-5);
        free(few);
        free(same);
        same = sample(other, model, p->source, "count=350");
        free(rows);
        rows = sample(p->ctx, model, p->source, "count=350");
        assert_memory_equal(rows, same, 350 * M * sizeof *rows);
        free(rows);
        free(same);
        rb_model_free(model);
    }
    rb_context_free(other);
}

/* Of few among many samples those spread evenly, as with all of them read. */
static void few_of_many(void **state) {
    struct fixture_problem *p = *state;
    double few[10 * M], *all;
    rb_model *model = compare_fit(p->ctx, "pca", "units=3 precision=float64", p->source);
    all = sample(p->ctx, model, p->source, "noise=0");
    assert_ok(p->ctx, try_sample(p->ctx, model, p->source, "count=10 noise=0", few));
    for (int i = 0; i < 10; i++)
        for (int k = 0; k < M; k++)
            assert_close(few[i * M + k], all[i * 20 * M + k], 1e-12);
    assert_ok(p->ctx, try_sample(p->ctx, model, p->source, "count=100 noise=0", all + N * M));
    for (int i = 0; i < 100; i++)
        for (int k = 0; k < M; k++)
            assert_close(all[(N + i) * M + k], all[i * 2 * M + k], 1e-12);
    free(all);
    rb_model_free(model);
}

static void refused(void **state) {
    struct fixture_problem *p = *state;
    static const struct {
        const char *method, *options, *words;
    } cases[] = {{"ica", "", "codes have no distribution"},
                 {"dae", "", "not a distribution"},
                 {"fa-jeffreys", "", "is improper"},
                 {"pca", "steps=10", "samples of pca, which are drawn without a chain"}};
    double rows[100 * M];
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        rb_model *model = compare_fit(p->ctx, cases[t].method, "units=3", p->source);
        assert_true(try_sample(p->ctx, model, NULL, cases[t].options, rows) != RB_OK);
        if (!strstr(rb_context_error(p->ctx), cases[t].words))
            fail_msg("'%s' lacks '%s'", rb_context_error(p->ctx), cases[t].words);
        rb_model_free(model);
    }
    rb_source *source;
    rb_matrix *matrix;
    double *values;
    rb_model_free(fit_bars(p->ctx, "linca", "", &source, &matrix, &values));
    rb_model *model = compare_fit(p->ctx, "nmf", "units=3", source);
    assert_error(p->ctx, try_sample(p->ctx, model, NULL, "", rows), RB_ERROR_UNSUPPORTED,
                 "no prior for its codes");
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_the_prior),
        cmocka_unit_test(by_the_codes),
        cmocka_unit_test(of_pca),
        cmocka_unit_test(preprocessing_is_undone),
        cmocka_unit_test(causes_by_the_prior),
        cmocka_unit_test(noise_of_some_of_many),
        cmocka_unit_test(causes_of_values),
        cmocka_unit_test(poisson_noise),
        cmocka_unit_test(clusters_by_their_shares),
        cmocka_unit_test(gibbs_reaches_the_distribution),
        cmocka_unit_test(the_same_bits),
        cmocka_unit_test(few_of_many),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, setup, fixture_teardown);
}
