/* Kernels: each kind against the definition, on lengths around every unrolling. */
#include "linalg_test.h"

static const char *const names[] = {"ref", "avx2", "avx512"};
static const int64_t lengths[] = {0, 1, 3, 15, 16, 17, 63, 64, 65, 100, 129, 4096, 4099, 10000};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

typedef void (*check_fn)(rb_context *ctx, rb_type type, int64_t n);

/* Runs a check for every kind that this processor has, both types and all lengths. */
static void everywhere(check_fn check) {
    rb_context *ctx = test_context(1);
    for (int c = 0; c < 2 * 3 * LENGTHS; c++)
        if (rb_context_set_kernels(ctx, names[c / 2 % 3]) == RB_OK)
            check(ctx, (rb_type)(c & 1), lengths[c / 6]);
    rb_context_free(ctx);
}

static double at(rb_dense x, int64_t j) {
    return rb_dense_get(x, 0, j);
}

static void check_dot(rb_context *ctx, rb_type type, int64_t n) {
    rb_dense x = test_random(ctx, type, 1, n, 1, 1), y = test_random(ctx, type, 1, n, 1, 2);
    double expected = 0;
    for (int64_t j = 0; j < n; j++)
        expected += at(x, j) * at(y, j);
    assert_near(rb_dot(ctx, type, n, x.data, y.data), expected, test_tolerance(type, n));
    rb_dense_free(&x);
    rb_dense_free(&y);
}

static void dot_is_the_sum_of_products(void **state) {
    (void)state;
    everywhere(check_dot);
}

/* A million ones sum up exactly: float32 alone would stop growing in lanes of 2^24. */
static void dot_keeps_long_sums(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    int64_t n = 20000000;
    float *x = rb_alloc(ctx, n, sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++)
        x[i] = 1;
    for (int k = 0; k < 3; k++)
        if (rb_context_set_kernels(ctx, names[k]) == RB_OK)
            assert_true(rb_dot(ctx, RB_FLOAT32, n, x, x) == (double)n);
    rb_free(x);
    rb_context_free(ctx);
}

static void check_axpy(rb_context *ctx, rb_type type, int64_t n) {
    rb_dense x = test_random(ctx, type, 1, n, 1, 1), y = test_random(ctx, type, 1, n, 1, 2);
    rb_dense old = test_random(ctx, type, 1, n, 1, 2);
    rb_axpy(ctx, type, n, -0.75, x.data, y.data);
    for (int64_t j = 0; j < n; j++)
        assert_near(at(y, j), at(old, j) - 0.75 * at(x, j), test_tolerance(type, 1));
    rb_kernels_of(ctx)->of[type].add_products(n, 0.5, x.data, old.data, y.data);
    for (int64_t j = 0; j < n; j++) {
        double before = at(old, j) - 0.75 * at(x, j);
        assert_near(at(y, j), before + 0.5 * at(x, j) * at(old, j), test_tolerance(type, 2));
    }
    assert_true(isnan(at(y, n)));
    rb_dense_free(&x);
    rb_dense_free(&y);
    rb_dense_free(&old);
}

static void check_add_rows(rb_context *ctx, rb_type type, int64_t n) {
    enum { ROWS = 5 };
    static const double factors[ROWS] = {0.5, -2, 0, 0.25, 1};
    rb_dense x = test_random(ctx, type, ROWS, n, 3, 1), y = test_random(ctx, type, 1, n, 1, 2);
    rb_dense old = test_random(ctx, type, 1, n, 1, 2);
    rb_kernels_of(ctx)->of[type].add_rows(n, ROWS, factors, x.data, x.ld, y.data);
    for (int64_t j = 0; j < n; j++) {
        double expected = at(old, j);
        for (int64_t k = 0; k < ROWS; k++)
            expected += factors[k] * rb_dense_get(x, k, j);
        assert_near(at(y, j), expected, test_tolerance(type, ROWS));
    }
    rb_dense_free(&x);
    rb_dense_free(&y);
    rb_dense_free(&old);
}

static void add_rows_adds_multiples(void **state) {
    (void)state;
    everywhere(check_add_rows);
}

static void axpy_adds_a_multiple(void **state) {
    (void)state;
    everywhere(check_axpy);
}

/* G of a descent: symmetric, positive definite but for rows of zeros. */
static double descent_product(rb_dense a, int64_t units, int64_t j, int64_t l) {
    if (j % 7 == 3 || l % 7 == 3) return 0;
    double between = rb_dense_get(a, j > l ? j : l, j > l ? l : j);
    return j == l ? 2 * sqrt((double)units) + 3 : between;
}

/* NaN is not 0. */
static void check_compress(rb_context *ctx, rb_type type, int64_t n) {
    rb_dense x = test_random(ctx, type, 1, n, 1, 1), values = test_zeros(ctx, type, 1, n);
    int32_t *columns = rb_alloc(ctx, n, sizeof *columns);
    for (int64_t j = 0; j < n; j++)
        if (j % 5 != 2) rb_dense_set(x, 0, j, j % 7 == 3 ? NAN : 0);
    int64_t count = rb_kernels_of(ctx)->of[type].compress(n, 3, x.data, columns, values.data);
    int64_t e = 0;
    for (int64_t j = 0; j < n; j++) {
        if (at(x, j) == 0) continue;
        assert_true(e < count && columns[e] == j);
        assert_true(isnan(at(x, j)) ? isnan(at(values, e))
                                    : fabs(at(values, e) - 3 * at(x, j)) < 1e-5);
        e++;
    }
    assert_int_equal(e, count);
    rb_free(columns);
    rb_dense_free(&x);
    rb_dense_free(&values);
}

static void compress_lists_what_is_not_0(void **state) {
    (void)state;
    everywhere(check_compress);
}

/* Rounded once, to the bit; and one value that is not finite, or too large for the type, shows. */
static void check_standardize(rb_context *ctx, rb_type type, int64_t n) {
    rb_dense x = test_random(ctx, RB_FLOAT64, 3, n, 0, 1);
    rb_dense out = test_zeros(ctx, type, 1, n + 1);
    double *centre = rb_dense_row(x, 1), *scale = rb_dense_row(x, 2);
    bool (*standardize)(int64_t, const double *, const double *, const double *, void *) =
        rb_kernels_of(ctx)->of[type].standardize;
    for (int64_t j = 0; j < n; j++)
        scale[j] = 0.1 + fabs(scale[j]);
    assert_true(standardize(n, x.data, centre, scale, out.data));
    for (int64_t j = 0; j < n; j++) {
        double expected = (at(x, j) - centre[j]) / scale[j];
        assert_true(at(out, j) == (type == RB_FLOAT32 ? (double)(float)expected : expected));
    }
    double wrong[] = {NAN, INFINITY, -INFINITY, type == RB_FLOAT32 ? 1e300 : 1.7e308};
    for (int w = 0; n > 0 && w < 4; w++) {
        int64_t place = w * (n - 1) / 3;
        double before = at(x, place), divisor = scale[place];
        rb_dense_set(x, 0, place, wrong[w]);
        scale[place] = 0.5;
        assert_false(standardize(n, x.data, centre, scale, out.data));
        assert_false(isfinite(at(out, place)));
        scale[place] = divisor;
        rb_dense_set(x, 0, place, before);
    }
    assert_true(at(out, n) == 0);
    rb_dense_free(&x);
    rb_dense_free(&out);
}

static void standardize_rounds_once(void **state) {
    (void)state;
    everywhere(check_standardize);
}

/* A sweep, in some order and by long steps, against the definition, one sample after the other. */
static void check_descend(rb_context *ctx, rb_type type, int64_t n) {
    enum { T = RB_DESCENT_SAMPLES, MOST = 65 };
    int64_t units = n < MOST ? n : MOST;
    rb_dense a = test_random(ctx, type, units + 1, units + 1, 0, 1);
    rb_dense g = test_zeros(ctx, type, 1, units * units + 1);
    rb_dense p = test_random(ctx, type, 1, units * T + 1, 0, 2);
    rb_dense x = test_zeros(ctx, type, 1, units * T + 1);
    rb_dense expected = test_zeros(ctx, type, 1, units * T + 1);
    rb_dense rows = test_zeros(ctx, type, RB_DESCENT_UNITS, units);
    rb_dense told = test_random(ctx, type, 3, T, 0, 3);
    int64_t order[MOST];
    double gains = 0, change[T] = {0}, largest[T] = {0};
    for (int64_t e = 0; e < units; e++)
        order[e] = units % 5 ? (5 * e + 2) % units : units - 1 - e;
    for (int64_t e = 0; e < units * units; e++)
        rb_dense_set(g, 0, e, descent_product(a, units, e / units, e % units));
    for (int64_t e = 0; e < units * T; e++) {
        rb_dense_set(x, 0, e, fabs(at(p, (7 * e + 1) % (units * T))));
        rb_dense_set(expected, 0, e, at(x, e));
    }
    rb_descent d = {
        units,    g.data, p.data, x.data, told.data, rb_dense_row(told, 1), rb_dense_row(told, 2),
        rows.data};
    for (int64_t i = 0; i < T; i++)
        rb_dense_set(told, 0, i, 1 + 0.1 * (double)(i % 4));
    double gain = rb_kernels_of(ctx)->of[type].descend(&d, order);
    for (int64_t e = 0; e < units * T; e++) {
        int64_t i = e / units, j = order[e % units];
        double own = at(g, j * units + j), sum = at(p, j * T + i), old = at(expected, j * T + i);
        for (int64_t l = 0; l < units; l++)
            sum -= at(g, j * units + l) * at(expected, l * T + i);
        double now = own > 0 ? fmax(0, old + at(told, i) * sum / own) : old;
        assert_near(at(x, j * T + i), now, 10 * test_tolerance(type, units));
        rb_dense_set(expected, 0, j * T + i, now);
        gains += own / 2 * (now - old) * (now - old);
        change[i] = fmax(change[i], fabs(now - old));
        largest[i] = own > 0 ? fmax(largest[i], now) : largest[i];
    }
    for (int64_t i = 0; i < T; i++) {
        assert_near(rb_dense_get(told, 1, i), change[i], 10 * test_tolerance(type, units));
        assert_near(rb_dense_get(told, 2, i), largest[i], 10 * test_tolerance(type, units));
    }
    assert_near(gain, gains, 1e-4 * gains);
    rb_dense_free(&a);
    rb_dense_free(&g);
    rb_dense_free(&p);
    rb_dense_free(&x);
    rb_dense_free(&expected);
    rb_dense_free(&rows);
    rb_dense_free(&told);
}

static void descend_is_a_sweep(void **state) {
    (void)state;
    everywhere(check_descend);
}

static void check_shift_scale(rb_context *ctx, rb_type type, int64_t n) {
    rb_dense x = test_random(ctx, type, 1, n, 1, 1), shift = test_random(ctx, type, 1, n, 1, 2);
    rb_dense factor = test_random(ctx, type, 1, n, 1, 3), out = test_zeros(ctx, type, 1, n + 1);
    rb_shift_scale(ctx, type, n, x.data, shift.data, factor.data, out.data);
    for (int64_t j = 0; j < n; j++)
        assert_near(at(out, j), (at(x, j) - at(shift, j)) * at(factor, j), test_tolerance(type, 1));
    rb_shift_scale(ctx, type, n, x.data, shift.data, NULL, out.data);
    for (int64_t j = 0; j < n; j++)
        assert_near(at(out, j), at(x, j) - at(shift, j), test_tolerance(type, 1));
    assert_true(at(out, n) == 0);
    rb_dense_free(&x);
    rb_dense_free(&shift);
    rb_dense_free(&factor);
    rb_dense_free(&out);
}

static void shift_scale_centres_and_scales(void **state) {
    (void)state;
    everywhere(check_shift_scale);
}

static void check_add_squares(rb_context *ctx, rb_type type, int64_t n) {
    rb_dense x = test_random(ctx, type, 1, n, 1, 1),
             pivot = test_random(ctx, RB_FLOAT64, 1, n, 1, 2);
    rb_dense sums = test_zeros(ctx, RB_FLOAT64, 2, n + 1);
    double *sum = rb_dense_row(sums, 0), *squares = rb_dense_row(sums, 1);
    for (int round = 0; round < 2; round++)
        rb_kernels_of(ctx)->of[type].add_squares(n, x.data, pivot.data, sum, squares);
    for (int64_t j = 0; j < n; j++) {
        double difference = at(x, j) - at(pivot, j);
        assert_near(sum[j], 2 * difference, 1e-12);
        assert_near(squares[j], 2 * difference * difference, 1e-12);
    }
    assert_true(sum[n] == 0 && squares[n] == 0);
    rb_dense_free(&x);
    rb_dense_free(&pivot);
    rb_dense_free(&sums);
}

static void add_squares_adds_what_differs(void **state) {
    (void)state;
    everywhere(check_add_squares);
}

static void check_rectify(rb_context *ctx, rb_type type, int64_t n) {
    for (int with = 0; with < 2; with++) {
        int64_t rows = n < 1000 ? 21 : 3;
        rb_dense x = test_random(ctx, type, rows, n, 1, 1),
                 old = test_random(ctx, type, rows, n, 1, 1);
        rb_dense bias = test_random(ctx, type, 1, n, 1, 2),
                 sums = test_zeros(ctx, RB_FLOAT64, 2, n);
        double *sum = rb_dense_row(sums, 0), *largest = rb_dense_row(sums, 1);
        rb_rectify(ctx, x, with ? bias.data : NULL, sum, largest);
        for (int64_t j = 0; j < n; j++) {
            double total = 0, max = -INFINITY;
            for (int64_t i = 0; i < rows; i++) {
                double value = rb_dense_get(old, i, j) + (with ? at(bias, j) : 0);
                assert_near(rb_dense_get(x, i, j), value > 0 ? value : 0, test_tolerance(type, 1));
                total += rb_dense_get(x, i, j);
                max = value > max ? value : max;
            }
            assert_near(sum[j], total, 1e-12);
            assert_near(largest[j], max, test_tolerance(type, 1));
        }
        rb_dense *all[] = {&x, &old, &bias, &sums};
        for (int i = 0; i < 4; i++)
            rb_dense_free(all[i]);
    }
}

static void rectify_keeps_what_is_positive(void **state) {
    (void)state;
    everywhere(check_rectify);
}

static void check_nan(rb_context *ctx, rb_type type, int64_t n) {
    rb_dense x = test_random(ctx, type, 2, n, 1, 1), sums = test_zeros(ctx, RB_FLOAT64, 2, n);
    for (int64_t j = 0; j < n; j++)
        rb_dense_set(x, j % 2, j, NAN);
    rb_rectify(ctx, x, NULL, rb_dense_row(sums, 0), rb_dense_row(sums, 1));
    for (int64_t j = 0; j < n; j++) {
        assert_true(isnan(rb_dense_get(x, j % 2, j)));
        assert_true(isnan(rb_dense_get(sums, 0, j)));
    }
    rb_dense_free(&x);
    rb_dense_free(&sums);
}

static void rectify_does_not_hide_nan(void **state) {
    (void)state;
    everywhere(check_nan);
}

static void check_move(rb_context *ctx, rb_type type, int64_t n) {
    rb_dense u = test_random(ctx, type, 1, n, 1, 1), z = test_random(ctx, type, 1, n, 1, 2);
    rb_dense t = test_random(ctx, type, 1, n, 1, 3), w = test_random(ctx, type, 1, n, 1, 4);
    rb_dense old = test_random(ctx, type, 1, n, 1, 4);
    double sums[3], expected[3] = {0};
    rb_kernels_of(ctx)->of[type].move_row(n, 0.1, u.data, z.data, t.data, w.data, sums);
    for (int64_t j = 0; j < n; j++) {
        expected[0] += at(u, j) * at(old, j);
        expected[1] += at(z, j) * at(old, j);
        expected[2] += at(u, j) * at(t, j);
        assert_near(at(w, j), 0.9 * at(old, j) + 0.1 * at(t, j), test_tolerance(type, 1));
    }
    for (int i = 0; i < 3; i++)
        assert_near(sums[i], expected[i], test_tolerance(type, n));
    assert_true(isnan(at(w, n)));
    rb_dense *all[] = {&u, &z, &t, &w, &old};
    for (int i = 0; i < 5; i++)
        rb_dense_free(all[i]);
}

static void move_row_moves_and_sums(void **state) {
    (void)state;
    everywhere(check_move);
}

static void kernels_are_chosen_by_name(void **state) {
    (void)state;
    rb_context *ctx = test_context(1);
    assert_int_equal(rb_context_set_kernels(ctx, "ref"), RB_OK);
    assert_string_equal(rb_build_info(ctx, "kernels"), "ref");
    assert_error(ctx, rb_context_set_kernels(ctx, "abacus"), RB_ERROR_ARGUMENT, "abacus");
    assert_string_equal(rb_build_info(ctx, "kernels"), "ref");
    assert_string_equal(rb_version(), RB_VERSION);
    assert_non_null(rb_build_info(ctx, "compiler"));
    assert_non_null(rb_build_info(ctx, "blas"));
    assert_non_null(rb_build_info(ctx, "blas_core"));
    assert_non_null(rb_build_info(ctx, "blas_advice"));
    assert_null(rb_build_info(ctx, "abacus"));
    rb_context_free(ctx);
}

/* The row of random words is the one of base, position by position. */
static void check_random_row(rb_context *ctx, rb_type type, int64_t n) {
    (void)type;
    uint64_t row = UINT64_C(0x100000000) * 5 + (uint64_t)n, key = UINT64_C(0x123456789abcdef0);
    uint32_t *words = rb_alloc(ctx, n + RB_RANDOM_RUN, sizeof *words);
    rb_kernels_of(ctx)->random_row(key, row, n, words);
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(words[i], rb_random_word(key, row, (uint64_t)i));
    rb_free(words);
}

static void random_rows(void **state) {
    (void)state;
    everywhere(check_random_row);
}

/* Box and Muller in float64, from the words of both positions of a pair. */
static double normal_of(uint64_t key, uint64_t row, int64_t position) {
    enum { LANES = RB_RANDOM_RUN / 4 };
    int64_t half = position % (2 * LANES), first = position - half + half % LANES;
    uint32_t one = rb_random_word(key, row, (uint64_t)first);
    uint32_t two = rb_random_word(key, row, (uint64_t)(first + LANES));
    double radius = sqrt(-2 * log(((one >> 1) + 0.5) * 0x1p-31));
    double part = ((two & 0x3FFFFFFF) - 0x1p29) * 0x1p-30;
    double angle = M_PI_2 * ((two >> 30) + part);
    return radius * (half < LANES ? cos(angle) : sin(angle));
}

static void check_normal_row(rb_context *ctx, rb_type type, int64_t n) {
    (void)type;
    float *values = rb_alloc(ctx, n + RB_RANDOM_RUN, sizeof *values);
    rb_kernels_of(ctx)->normal_row(77, (uint64_t)n, n, values);
    for (int64_t i = 0; i < n; i++)
        assert_near((double)values[i], normal_of(77, (uint64_t)n, i), 2e-5);
    rb_free(values);
}

/* Moments of two million: standard errors are 0.0007, 0.001, 0.0035; neighbours and rows that
 * follow each other are uncorrelated. */
static void normal_rows(void **state) {
    (void)state;
    everywhere(check_normal_row);
    enum { ROWS = 2000, COLUMNS = 1000 };
    rb_context *ctx = test_context(1);
    float *rows = rb_alloc(ctx, (ROWS + 1) * (COLUMNS + RB_RANDOM_RUN), sizeof *rows);
    double sum[6] = {0};
    for (int64_t i = 0; i <= ROWS; i++)
        rb_kernels_of(ctx)->normal_row(5, (uint64_t)i, COLUMNS, rows + i * COLUMNS);
    for (int64_t e = 0; e < ROWS * COLUMNS; e++) {
        double x = (double)rows[e];
        sum[0] += x;
        sum[1] += x * x;
        sum[2] += x * x * x * x;
        sum[3] += x * (double)rows[e + 1];
        sum[4] += x * (double)rows[e + COLUMNS];
        sum[5] += x * (double)rows[e + RB_RANDOM_RUN / 4];
    }
    static const double expected[] = {0, 1, 3, 0, 0, 0},
                        errors[] = {7e-4, 1e-3, 7e-3, 7e-4, 7e-4, 7e-4};
    for (int i = 0; i < 6; i++)
        assert_near(sum[i] / (ROWS * COLUMNS), expected[i], 5 * errors[i]);
    rb_free(rows);
    rb_context_free(ctx);
}

static void check_noise_rows(rb_context *ctx, rb_type type, int64_t n) {
    const uint32_t threshold = UINT32_C(0x40000000);
    rb_dense x = test_random(ctx, type, 1, n, 1, 1), low = test_random(ctx, type, 1, n, 1, 2);
    rb_dense high = test_random(ctx, type, 1, n, 1, 3), out = test_zeros(ctx, type, 1, n + 1);
    uint32_t *words = rb_alloc(ctx, n + RB_RANDOM_RUN, sizeof *words);
    float *floats = rb_alloc(ctx, n + RB_RANDOM_RUN, sizeof *floats);
    double *sum = rb_alloc_zero(ctx, n, sizeof *sum), *squares = rb_alloc_zero(ctx, n, sizeof *sum);
    rb_kernels_of(ctx)->random_row(3, 4, n, words);
    rb_kernels_of(ctx)->normal_row(3, 4, n, floats);
    rb_kernels_of(ctx)->of[type].replace_row(n, words, threshold, low.data, high.data, x.data,
                                             out.data);
    for (int64_t i = 0; i < n; i++) {
        double other = at(words[i] < threshold / 2 ? low : high, i);
        assert_true(at(out, i) == (words[i] < threshold ? other : at(x, i)));
    }
    rb_kernels_of(ctx)->of[type].replace_row(n, words, threshold, NULL, NULL, x.data, out.data);
    for (int64_t i = 0; i < n; i++)
        assert_true(at(out, i) == (words[i] < threshold ? 0 : at(x, i)));
    rb_kernels_of(ctx)->of[type].add_floats(n, 0.75, floats, x.data, out.data);
    for (int64_t i = 0; i < n; i++)
        assert_near(at(out, i), at(x, i) + 0.75 * (double)floats[i], test_tolerance(type, 1));
    assert_true(at(out, n) == 0);
    rb_dense_copy(x, rb_dense_part(out, 0, 1, 0, n));
    rb_kernels_of(ctx)->of[type].scale(n, 0.75, x.data, out.data);
    for (int64_t i = 0; i < n; i++)
        assert_near(at(out, i), 0.75 * at(x, i), test_tolerance(type, 1));
    rb_kernels_of(ctx)->of[type].shrink(n, 0.25, out.data);
    for (int64_t i = 0; i < n; i++) {
        double size = fmax(fabs(0.75 * at(x, i)) - 0.25, 0);
        assert_near(at(out, i), at(x, i) < 0 ? -size : size, test_tolerance(type, 1));
    }
    assert_true(at(out, n) == 0);
    rb_dense_copy(x, rb_dense_part(out, 0, 1, 0, n));
    rb_kernels_of(ctx)->of[type].drop_row(n, words, threshold, out.data, sum, squares);
    for (int64_t i = 0; i < n; i++) {
        assert_true(at(out, i) == (words[i] < threshold ? 0 : at(x, i)));
        assert_true(sum[i] == at(out, i));
        assert_near(squares[i], at(x, i) * at(x, i), 1e-12);
    }
    rb_free(words);
    rb_free(floats);
    rb_free(sum);
    rb_free(squares);
    rb_dense_free(&x);
    rb_dense_free(&low);
    rb_dense_free(&high);
    rb_dense_free(&out);
}

static void noise_rows(void **state) {
    (void)state;
    everywhere(check_noise_rows);
}

static void check_missing_rows(rb_context *ctx, rb_type type, int64_t n) {
    rb_dense x = test_random(ctx, type, 1, n, 1, 1), y = test_random(ctx, type, 1, n, 1, 2);
    rb_dense there = test_zeros(ctx, type, 1, n + 1), out = test_zeros(ctx, type, 1, n + 1);
    double *squares = rb_alloc_zero(ctx, n, sizeof *squares);
    rb_dense_copy(x, rb_dense_part(out, 0, 1, 0, n));
    for (int64_t i = 0; i < n; i += 3)
        rb_dense_set(out, 0, i, NAN);
    rb_kernels_of(ctx)->of[type].split_row(n, out.data, there.data);
    for (int64_t i = 0; i < n; i++) {
        assert_true(at(there, i) == (i % 3 != 0));
        assert_true(at(out, i) == (i % 3 ? at(x, i) : 0));
    }
    rb_kernels_of(ctx)->of[type].fill_row(n, there.data, y.data, out.data, squares);
    for (int64_t i = 0; i < n; i++) {
        assert_true(at(out, i) == at(i % 3 ? x : y, i));
        assert_near(squares[i], i % 3 ? 0 : at(y, i) * at(y, i), 1e-12);
    }
    assert_true(at(there, n) == 0 && at(out, n) == 0);
    rb_free(squares);
    rb_dense_free(&x);
    rb_dense_free(&y);
    rb_dense_free(&there);
    rb_dense_free(&out);
}

static void missing_rows(void **state) {
    (void)state;
    everywhere(check_missing_rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_rows),
        cmocka_unit_test(normal_rows),
        cmocka_unit_test(noise_rows),
        cmocka_unit_test(missing_rows),
        cmocka_unit_test(dot_is_the_sum_of_products),
        cmocka_unit_test(dot_keeps_long_sums),
        cmocka_unit_test(add_rows_adds_multiples),
        cmocka_unit_test(axpy_adds_a_multiple),
        cmocka_unit_test(compress_lists_what_is_not_0),
        cmocka_unit_test(standardize_rounds_once),
        cmocka_unit_test(descend_is_a_sweep),
        cmocka_unit_test(shift_scale_centres_and_scales),
        cmocka_unit_test(add_squares_adds_what_differs),
        cmocka_unit_test(rectify_keeps_what_is_positive),
        cmocka_unit_test(rectify_does_not_hide_nan),
        cmocka_unit_test(move_row_moves_and_sums),
        cmocka_unit_test(kernels_are_chosen_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
