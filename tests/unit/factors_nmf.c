/* Non-negative matrix factorisation: no iteration makes the error larger, whatever the algorithm
 * and the loss; the fit is stationary at its end; codes are the best ones; sparse, streamed and
 * threaded fits are those of dense data in memory. */
#include "factors_test.h"

enum { N = 60, D = 14 };

static const char *const ways[] = {"solver=hals", "solver=hals sweeps=1", "solver=multiplicative",
                                   "solver=multiplicative sweeps=1", "loss=kullback-leibler"};
enum { WAYS = sizeof ways / sizeof *ways, FIRST_DIVERGENCE = 4 };

static rb_context *ctx;
static double values[N * D];
static rb_source *source;

/* Sums of three fields that share features, and noise. */
static void make_values(double noise, double *to) {
    rb_draws draws = {.stream = {.seed = 3, .purpose = RB_RANDOM_SIMULATE}};
    for (int i = 0; i < N; i++) {
        double code[3];
        for (int h = 0; h < 3; h++)
            code[h] = rb_draw_uniform(&draws) < 0.4 ? 0 : rb_draw_uniform(&draws);
        for (int d = 0; d < D; d++) {
            double sum = 0;
            for (int h = 0; h < 3; h++)
                sum += d >= 4 * h - 1 && d < 4 * h + 5 ? code[h] * (1 + (d + h) % 3) : 0;
            to[i * D + d] = sum + noise * rb_draw_uniform(&draws);
        }
    }
}

static int set_up(void **state) {
    (void)state;
    ctx = fixture_context();
    make_values(1, values);
    source = fixture_data(ctx, values, N, D);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rb_source_free(source);
    rb_context_free(ctx);
    return 0;
}

static double squares_of(const double *x, int64_t count) {
    double sum = 0;
    for (int64_t e = 0; e < count; e++)
        sum += x[e] * x[e];
    return sum;
}

static rb_model *fit(const char *way, int units, int iterations, rb_source *from) {
    char text[200];
    snprintf(text, sizeof text, "%s units=%d iterations=%d tolerance=0 precision=float64", way,
             units, iterations);
    return compare_fit(ctx, "nmf", text, from);
}

static void objectives_never_fall(void **state) {
    (void)state;
    for (int w = 0; w < WAYS; w++) {
        for (int units = 1; units <= 16; units += 5) {
            rb_model *model = fit(ways[w], units, 60, source);
            assert_rises(model, squares_of(values, N * D) / N);
            rb_model_free(model);
        }
    }
}

/* Values of W H' for a sample. */
static double rebuilt(const rb_model *model, const double *codes, int64_t i, int64_t k) {
    int64_t units = rb_model_units(model);
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    double sum = 0;
    for (int64_t j = 0; j < units; j++)
        sum += codes[i * units + j] * w[k * units + j];
    return sum;
}

static void the_objective_is_the_error(void **state) {
    (void)state;
    for (int w = 0; w < WAYS; w++) {
        rb_model *model = fit(ways[w], 3, 400, source);
        double *codes = fixture_codes(ctx, model, source), sum = 0;
        for (int64_t i = 0; i < N; i++) {
            for (int64_t k = 0; k < D; k++) {
                double v = values[i * D + k], y = rebuilt(model, codes, i, k);
                sum +=
                    w < FIRST_DIVERGENCE ? (v - y) * (v - y) : (v > 0 ? v * log(v / y) : 0) - v + y;
            }
        }
        assert_close(-sum / N, compare_last(model), 2e-3);
        free(codes);
        rb_model_free(model);
    }
}

static void types_agree(void **state) {
    (void)state;
    for (int w = 0; w < WAYS; w++) {
        char text[200];
        snprintf(text, sizeof text, "%s units=3 iterations=60 precision=float32", ways[w]);
        rb_model *wide = fit(ways[w], 3, 60, source),
                 *narrow = compare_fit(ctx, "nmf", text, source);
        assert_close(compare_last(narrow), compare_last(wide), 1e-3);
        rb_model_free(wide);
        rb_model_free(narrow);
    }
}

/* Where a code is positive its derivative is 0, and at 0 it does not point down; the same for
 * loadings after a long fit. */
static void check_stationary(bool divergence, double value, double slope, double size, double to) {
    if (fabs(slope) > to * size && !(value <= to && slope > 0))
        fail_msg("%s: %g with a slope of %g of %g", divergence ? "divergence" : "squares", value,
                 slope, size);
}

static void fits_are_stationary(void **state) {
    (void)state;
    for (int w = 0; w < WAYS; w++) {
        bool divergence = w >= FIRST_DIVERGENCE;
        rb_model *model = fit(ways[w], 3, 5000, source);
        const double *loadings = rb_model_array(model, "loadings", NULL, NULL);
        double *codes = fixture_codes(ctx, model, source), left[N * D], size = 0;
        for (int64_t i = 0; i < N; i++) {
            for (int64_t k = 0; k < D; k++) {
                double v = values[i * D + k], y = rebuilt(model, codes, i, k);
                left[i * D + k] = divergence ? 1 - (v > 0 ? v / y : 0) : y - v;
                size = fmax(size, divergence ? 1 : v);
            }
        }
        for (int64_t i = 0; i < N; i++) {
            for (int64_t j = 0; j < 3; j++) {
                double slope = 0;
                for (int64_t k = 0; k < D; k++)
                    slope += left[i * D + k] * loadings[k * 3 + j];
                check_stationary(divergence, codes[i * 3 + j], slope, size * D, 1e-6);
            }
        }
        for (int64_t k = 0; k < D; k++) {
            for (int64_t j = 0; j < 3; j++) {
                double slope = 0;
                for (int64_t i = 0; i < N; i++)
                    slope += left[i * D + k] * codes[i * 3 + j];
                check_stationary(divergence, loadings[k * 3 + j], slope, size * N, 1e-3);
            }
        }
        free(codes);
        rb_model_free(model);
    }
}

static void a_product_is_found(void **state) {
    (void)state;
    double exact[N * D];
    make_values(0, exact);
    rb_source *from = fixture_data(ctx, exact, N, D);
    double all = squares_of(exact, N * D) / N;
    rb_model *three = fit("solver=hals", 3, 2000, from);
    rb_model *two = fit("solver=hals", 2, 2000, from);
    assert_true(-compare_last(three) < 1e-6 * all);
    assert_true(-compare_last(two) > 1e-2 * all);
    rb_model_free(three);
    rb_model_free(two);
    rb_source_free(from);
}

/* The best factor of rank one, whose error follows from the largest singular value. */
static void one_unit_is_the_first_singular_vector(void **state) {
    (void)state;
    static const double few[] = {1, 2, 3, 2, 4, 7};
    double a = 14, b = 31, c = 69; /* V V' */
    double largest = (a + c) / 2 + sqrt((a - c) * (a - c) / 4 + b * b);
    rb_source *from = fixture_data(ctx, few, 2, 3);
    for (int w = 0; w < FIRST_DIVERGENCE; w++) {
        rb_model *model = fit(ways[w], 1, 300, from);
        assert_close(-compare_last(model), (a + c - largest) / 2, 1e-12);
        rb_model_free(model);
    }
    rb_source_free(from);
}

/* Of every set of units that may be positive the least squares solution; the best that has nothing
 * below 0. Units 2. */
static double best_of_two(const double *w, const double *v) {
    double g[3] = {0}, p[2] = {0}, best = 0; /* minus p'x + x'Gx / 2 */
    for (int64_t k = 0; k < D; k++) {
        g[0] += w[2 * k] * w[2 * k];
        g[1] += w[2 * k] * w[2 * k + 1];
        g[2] += w[2 * k + 1] * w[2 * k + 1];
        p[0] += w[2 * k] * v[k];
        p[1] += w[2 * k + 1] * v[k];
    }
    if (p[0] > 0) best = fmin(best, -p[0] * p[0] / g[0] / 2);
    if (p[1] > 0) best = fmin(best, -p[1] * p[1] / g[2] / 2);
    double det = g[0] * g[2] - g[1] * g[1];
    double x = (g[2] * p[0] - g[1] * p[1]) / det, y = (g[0] * p[1] - g[1] * p[0]) / det;
    if (x > 0 && y > 0) best = fmin(best, -(p[0] * x + p[1] * y) / 2);
    return best;
}

static void codes_are_the_best(void **state) {
    (void)state;
    rb_model *model = fit("solver=hals", 2, 20, source);
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    double *codes = fixture_codes(ctx, model, source);
    for (int64_t i = 0; i < N; i++) {
        double error = 0, all = squares_of(values + i * D, D);
        for (int64_t k = 0; k < D; k++) {
            double d = values[i * D + k] - rebuilt(model, codes, i, k);
            error += d * d;
        }
        assert_true(codes[2 * i] >= 0 && codes[2 * i + 1] >= 0);
        assert_close((error - all) / 2, best_of_two(w, values + i * D), 1e-9);
    }
    free(codes);
    rb_model_free(model);
}

/* More units than features, two of them alike: the matrix is singular. */
static void codes_of_too_many_units(void **state) {
    (void)state;
    rb_model *model = fit("solver=hals", 20, 30, source);
    rb_metrics *metrics;
    assert_ok(ctx, rb_evaluate(ctx, model, source, &metrics));
    assert_true(rb_metrics_get(metrics, "mean_squared_error") * D <=
                -compare_last(model) * (1 + 1e-6) + 1e-9 * squares_of(values, N * D) / N);
    rb_metrics_free(metrics);
    rb_model_free(model);
}

static void sparse_is_dense(void **state) {
    (void)state;
    double holes[N * D];
    for (int e = 0; e < N * D; e++)
        holes[e] = values[e] < 1 ? 0 : values[e];
    rb_source *dense = fixture_data(ctx, holes, N, D);
    rb_source *sparse = fixture_sparse_data(ctx, holes, N, D);
    for (int w = 0; w < WAYS; w++) {
        rb_model *a = fit(ways[w], 3, 40, dense), *b = fit(ways[w], 3, 40, sparse);
        for (int64_t t = 0; t < 40; t++)
            assert_close(compare_objective(a, t), compare_objective(b, t), 1e-9);
        double *x = fixture_codes(ctx, a, dense), *y = fixture_codes(ctx, a, sparse);
        for (int64_t e = 0; e < N * 3; e++)
            assert_close(x[e], y[e], 1e-6);
        free(x);
        free(y);
        rb_model_free(a);
        rb_model_free(b);
    }
    rb_source_free(sparse);
    rb_source_free(dense);
}

static void streams_and_threads_do_not_matter(void **state) {
    (void)state;
    enum { MANY = 5000 };
    double *many = calloc(MANY * D, sizeof *many);
    for (int64_t e = 0; e < MANY * D; e++)
        many[e] = values[e % (N * D)] * (1 + (double)(e % 7) / 7);
    struct compare_rows given = {many, D};
    rb_source *memory = fixture_data(ctx, many, MANY, D), *stream;
    assert_ok(ctx,
              rb_source_from_callback(ctx, RB_FLOAT64, MANY, D, compare_give, &given, &stream));
    static const char *const starts[] = {"start=random", "start=nndsvd", "start=nndsvda",
                                         "loss=kullback-leibler start=nndsvda"};
    enum { STARTS = sizeof starts / sizeof *starts };
    for (int w = 0; w < WAYS + STARTS; w++) {
        const char *way = w < WAYS ? ways[w] : starts[w - WAYS];
        rb_model *one = fit(way, 4, 5, memory);
        for (int threads = 2; threads <= 3; threads++) {
            assert_int_equal(rb_context_set_threads(ctx, threads), RB_OK);
            rb_model *other = fit(way, 4, 5, stream);
            fixture_same_array(one, other, "loadings");
            fixture_same_array(one, other, "noise");
            rb_model_free(other);
        }
        assert_int_equal(rb_context_set_threads(ctx, 1), RB_OK);
        rb_model_free(one);
    }
    rb_source_free(stream);
    rb_source_free(memory);
    free(many);
}

/* ---- the start ---- */

enum { P = 7, Q = 4 };
static const double small[P * Q] = {1, 2, 0, 4, 3, 1, 5, 0, 0, 2, 2, 7, 6, 1,
                                    0, 1, 2, 8, 1, 0, 3, 3, 1, 2, 0, 5, 1, 6};

/* Eigenvectors of V'V as columns, by Jacobi's rotations; their values on the diagonal. */
static void find_directions(double c[Q][Q], double x[Q][Q]) {
    for (int a = 0; a < Q; a++) {
        for (int b = 0; b < Q; b++) {
            x[a][b] = a == b;
            c[a][b] = 0;
            for (int i = 0; i < P; i++)
                c[a][b] += small[i * Q + a] * small[i * Q + b];
        }
    }
    for (int turn = 0; turn < 50 * Q * Q; turn++) {
        int a = turn / Q % Q, b = turn % Q;
        if (a >= b || c[a][b] == 0) continue;
        double angle = atan2(2 * c[a][b], c[b][b] - c[a][a]) / 2, u = cos(angle), v = sin(angle);
        for (int k = 0; k < Q; k++) {
            double p = c[k][a], q = c[k][b], r = x[k][a], s = x[k][b];
            c[k][a] = u * p - v * q, c[k][b] = v * p + u * q;
            x[k][a] = u * r - v * s, x[k][b] = v * r + u * s;
        }
        for (int k = 0; k < Q; k++) {
            double p = c[a][k], q = c[b][k];
            c[a][k] = u * p - v * q, c[b][k] = v * p + u * q;
        }
    }
}

static double side_length(const double *x, int count, double sign) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += pow(fmax(sign * x[i], 0), 2);
    return sqrt(sum);
}

/* A unit as Boutsidis and Gallopoulos have it: u and v become its codes and loadings. */
static void take_sides(double value, double *u, double *v, double fill) {
    double up = side_length(u, P, 1) * side_length(v, Q, 1);
    double down = side_length(u, P, -1) * side_length(v, Q, -1), sign = up > down ? 1 : -1;
    double size = sqrt(value * fmax(up, down));
    double of_u = side_length(u, P, sign), of_v = side_length(v, Q, sign);
    for (int i = 0; i < P; i++)
        u[i] = sign * u[i] > 0 ? size * sign * u[i] / of_u : fill;
    for (int k = 0; k < Q; k++)
        v[k] = sign * v[k] > 0 ? size * sign * v[k] / of_v : fill;
}

enum { UNITS = 3 };

static void make_start(double fill, double h[UNITS][P], double w[UNITS][Q]) {
    double c[Q][Q], x[Q][Q];
    find_directions(c, x);
    for (int j = 0; j < UNITS; j++) {
        int best = 0;
        for (int k = 1; k < Q; k++)
            best = c[k][k] > c[best][best] ? k : best;
        double value = sqrt(c[best][best]);
        c[best][best] = -1;
        for (int k = 0; k < Q; k++)
            w[j][k] = x[k][best];
        for (int i = 0; i < P; i++) {
            h[j][i] = 0;
            for (int k = 0; k < Q; k++)
                h[j][i] += small[i * Q + k] * w[j][k] / value;
        }
        take_sides(value, h[j], w[j], fill);
    }
}

/* One rule for one factor, rows of `x` with the sums of the other one `y`: codes with V, loadings
 * with V'. */
static void improve(bool hals, int rows, int cols, const double *v, int step, int stride, double *x,
                    const double *y) {
    for (int i = 0; i < rows; i++) {
        double old[UNITS];
        for (int j = 0; j < UNITS; j++)
            old[j] = x[j * rows + i];
        for (int j = 0; j < UNITS; j++) {
            double p = 0, z = 0, square = 0;
            for (int k = 0; k < cols; k++) {
                double sum = 0;
                for (int l = 0; l < UNITS; l++)
                    sum += (hals ? x[l * rows + i] : old[l]) * y[l * cols + k];
                p += v[i * step + k * stride] * y[j * cols + k];
                z += sum * y[j * cols + k];
                square += y[j * cols + k] * y[j * cols + k];
            }
            x[j * rows + i] = hals ? fmax(0, x[j * rows + i] + (p - z) / square) : old[j] * p / z;
        }
    }
}

/* After an iteration loadings are those that the definition leads to, but for their length. */
static void the_start_is_the_definition(void **state) {
    (void)state;
    rb_source *from = fixture_data(ctx, small, P, Q);
    double mean = 0, h[UNITS][P], w[UNITS][Q];
    for (int e = 0; e < P * Q; e++)
        mean += small[e] / (P * Q);
    for (int hals = 0; hals < 2; hals++) {
        make_start(hals ? 0 : mean, h, w);
        for (int sweep = 0; sweep < (hals ? 10 : 1); sweep++)
            improve(hals, P, Q, small, Q, 1, h[0], w[0]);
        improve(hals, Q, P, small, 1, Q, w[0], h[0]);
        rb_model *model = fit(hals ? "solver=hals start=nndsvd sweeps=1"
                                   : "solver=multiplicative start=nndsvda sweeps=1",
                              UNITS, 1, from);
        const double *found = rb_model_array(model, "loadings", NULL, NULL);
        for (int j = 0; j < UNITS; j++) {
            double own = side_length(w[j], Q, 1), its = 0;
            for (int k = 0; k < Q; k++)
                its += found[k * UNITS + j] * found[k * UNITS + j];
            for (int k = 0; k < Q; k++)
                assert_close(found[k * UNITS + j] / sqrt(its), w[j][k] / own, 1e-9);
        }
        rb_model_free(model);
    }
    rb_source_free(from);
}

/* Where there are parts to be found, singular vectors are no worse a start than random numbers. */
static void starts_by_vectors_are_good(void **state) {
    (void)state;
    double exact[N * D];
    make_values(0, exact);
    rb_source *from = fixture_data(ctx, exact, N, D);
    for (int iterations = 1; iterations <= 30; iterations += 29) {
        rb_model *random = fit("start=random", 3, iterations, from);
        rb_model *vectors = fit("start=nndsvd", 3, iterations, from);
        rb_model *filled = fit("start=nndsvda", 3, iterations, from);
        assert_true(compare_last(vectors) >= compare_last(random));
        assert_true(compare_last(filled) >= compare_last(random));
        rb_model_free(random);
        rb_model_free(vectors);
        rb_model_free(filled);
    }
    rb_source_free(from);
}

/* The first fit is by vectors, the next ones are at random: the best is the best of both. */
static void restarts_are_random(void **state) {
    (void)state;
    rb_model *many = fit("start=nndsvd restarts=4", 6, 4, source);
    rb_model *random = fit("start=random restarts=4", 6, 4, source);
    rb_model *vectors = fit("start=nndsvd", 6, 4, source);
    assert_true(compare_last(many) >= compare_last(vectors));
    if (strcmp(rb_model_attribute(many, "best_restart"), "0") != 0 &&
        strcmp(rb_model_attribute(random, "best_restart"), "0") != 0)
        fixture_same_array(many, random, "loadings");
    rb_model_free(many);
    rb_model_free(random);
    rb_model_free(vectors);
}

/* Codes have mean square 1, and what is left of a feature is its noise. */
static void models_have_a_scale(void **state) {
    (void)state;
    rb_model *model = fit("solver=hals", 3, 500, source);
    const double *noise = rb_model_array(model, "noise", NULL, NULL);
    double *codes = fixture_codes(ctx, model, source);
    for (int64_t j = 0; j < 3; j++) {
        double sum = 0;
        for (int64_t i = 0; i < N; i++)
            sum += codes[i * 3 + j] * codes[i * 3 + j] / N;
        assert_close(sum, 1, 1e-3);
    }
    for (int64_t k = 0; k < D; k++) {
        double sum = 0;
        for (int64_t i = 0; i < N; i++)
            sum += pow(values[i * D + k] - rebuilt(model, codes, i, k), 2) / N;
        assert_close(noise[k], sum, 1e-3);
    }
    free(codes);
    rb_model_free(model);
}

/* Features and samples that are 0 stay so and divide nothing by 0. */
static void zeros(void **state) {
    (void)state;
    static const double few[] = {0, 0, 0, 1, 0, 2}, none[] = {0, 0, 0, 0};
    rb_matrix *rows;
    rb_source *from = fixture_source(ctx, few, 2, 3, &rows);
    for (int w = 0; w < WAYS; w++) {
        rb_model *model = fit(ways[w], 2, 300, from);
        double *codes = fixture_codes(ctx, model, from);
        for (int64_t k = 0; k < 3; k++) {
            assert_close(rebuilt(model, codes, 0, k), 0, 1e-9);
            assert_close(rebuilt(model, codes, 1, k), few[3 + k], 1e-6);
        }
        free(codes);
        rb_model_free(model);
    }
    rb_source_free(from);
    rb_matrix_free(rows);
    from = fixture_source(ctx, none, 2, 2, &rows);
    rb_model *model = NULL;
    assert_int_equal(compare_try(ctx, "nmf", "units=1", from, NULL, &model), RB_ERROR_DATA);
    rb_source_free(from);
    rb_matrix_free(rows);
}

static void assert_refuses(rb_error code, const char *options, rb_source *from, const char *words) {
    rb_model *model = NULL;
    assert_error(ctx, compare_try(ctx, "nmf", options, from, NULL, &model), code, words);
    assert_null(model);
}

static void refusals(void **state) {
    (void)state;
    double below[N * D];
    memcpy(below, values, sizeof below);
    below[5 * D + 3] = -1;
    rb_source *from = fixture_data(ctx, below, N, D);
    rb_source *sparse = fixture_sparse_data(ctx, below, N, D);
    assert_refuses(RB_ERROR_DATA, "", from, "sample 5, feature 3");
    assert_refuses(RB_ERROR_DATA, "", sparse, "sample 5, feature 3");
    assert_refuses(RB_ERROR_DATA, "centre=mean", source, "centre=none");
    assert_refuses(RB_ERROR_ARGUMENT, "loss=kullback-leibler solver=hals", source,
                   "multiplicative");
    assert_refuses(RB_ERROR_ARGUMENT, "units=15 start=nndsvd", source, "singular vectors");
    assert_refuses(RB_ERROR_ARGUMENT, "start=nndsvd solver=multiplicative", source, "nndsvda");
    rb_model *model = fit("solver=hals", 2, 3, source);
    double codes[N * 2];
    assert_int_equal(rb_encode_into(ctx, model, from, RB_FLOAT64, codes, 2, 1), RB_ERROR_DATA);
    rb_model_free(model);
    rb_source_free(sparse);
    rb_source_free(from);
}

static void count_rounding(rb_log_level level, const char *message, void *user) {
    *(int *)user += level == RB_LOG_WARNING && strstr(message, "float32 rounds") != NULL;
}

/* What is left of data far from 0 is lost in float32: it is said, and the objective is not above
 * 0. */
static void tells_of_rounding(void **state) {
    (void)state;
    static double far[N * D];
    for (int c = 0; c < N * D; c++)
        far[c] = values[c] + 1e6;
    rb_source *from = fixture_data(ctx, far, N, D);
    int told[2] = {0, 0};
    for (int p = 0; p < 2; p++) {
        rb_context_on_log(ctx, count_rounding, &told[p]);
        rb_model *model = compare_fit(ctx, "nmf",
                                      p ? "units=2 iterations=20 precision=float64"
                                        : "units=2 iterations=20 precision=float32",
                                      from);
        for (int64_t t = 0; t < rb_model_iterations(model); t++) {
            double objective;
            rb_model_history(model, t, &objective, NULL, NULL);
            assert_true(objective <= 0);
        }
        rb_model_free(model);
    }
    rb_context_on_log(ctx, NULL, NULL);
    assert_int_equal(told[0], 1);
    assert_int_equal(told[1], 0);
    rb_source_free(from);
}

/* A fit goes on from a model: no worse than it. */
static void starts_from_a_model(void **state) {
    (void)state;
    for (int w = 0; w < FIRST_DIVERGENCE; w++) {
        rb_model *first = fit(ways[w], 3, 300, source), *second = NULL;
        char text[200];
        snprintf(text, sizeof text, "%s iterations=100 precision=float64", ways[w]);
        assert_ok(ctx, compare_try(ctx, "nmf", text, source, first, &second));
        assert_true(compare_last(second) >= compare_last(first) * (1 + 1e-3));
        rb_model_free(first);
        rb_model_free(second);
    }
}

/* A fit without options ends by itself, where many more iterations explain no more. */
static void stops_when_nothing_changes(void **state) {
    (void)state;
    rb_model *stopped = compare_fit(ctx, "nmf", "units=3 iterations=2000", source);
    rb_model *longest = fit("solver=hals", 3, 2000, source);
    assert_int_equal(rb_model_status(stopped), RB_STATUS_CONVERGED);
    assert_true(rb_model_iterations(stopped) < 2000);
    assert_close(compare_last(stopped), compare_last(longest), 1e-3);
    rb_model_free(stopped);
    rb_model_free(longest);
}

static void no_memory(void **state) {
    (void)state;
    for (int w = 0; w < WAYS; w += WAYS - 1) {
        char text[200];
        snprintf(text, sizeof text, "%s units=2 iterations=2", ways[w]);
        compare_without_memory(ctx, "nmf", text, source);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objectives_never_fall),
        cmocka_unit_test(types_agree),
        cmocka_unit_test(the_objective_is_the_error),
        cmocka_unit_test(fits_are_stationary),
        cmocka_unit_test(a_product_is_found),
        cmocka_unit_test(one_unit_is_the_first_singular_vector),
        cmocka_unit_test(codes_are_the_best),
        cmocka_unit_test(codes_of_too_many_units),
        cmocka_unit_test(sparse_is_dense),
        cmocka_unit_test(streams_and_threads_do_not_matter),
        cmocka_unit_test(the_start_is_the_definition),
        cmocka_unit_test(starts_by_vectors_are_good),
        cmocka_unit_test(restarts_are_random),
        cmocka_unit_test(models_have_a_scale),
        cmocka_unit_test(zeros),
        cmocka_unit_test(refusals),
        cmocka_unit_test(starts_from_a_model),
        cmocka_unit_test(stops_when_nothing_changes),
        cmocka_unit_test(tells_of_rounding),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
