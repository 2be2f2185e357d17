/* k-means: the objective never falls and is the mean squared distance; centres are means and
 * samples with the nearest; tiny problems have the best partition; no centre is without samples;
 * sparse, streamed and threaded fits are those of dense data in memory. */
#include "factors_test.h"

enum { N = 300, D = 6 };

static rb_context *ctx;
static double values[N * D];
static rb_source *source;

static int set_up(void **state) {
    rb_draws draws = {.stream = {.seed = 5, .purpose = RB_RANDOM_SIMULATE}};
    (void)state;
    ctx = fixture_context();
    for (int i = 0; i < N; i++)
        for (int k = 0; k < D; k++)
            values[i * D + k] = 3 * ((i * 7 + i % 5 * k) % 4) + rb_draw_normal(&draws);
    source = fixture_data(ctx, values, N, D);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rb_source_free(source);
    rb_context_free(ctx);
    return 0;
}

static double square(double x) {
    return x * x;
}

static rb_model *fit(int units, const char *more, rb_source *from) {
    char text[200];
    snprintf(text, sizeof text, "units=%d precision=float64 %s", units, more);
    return compare_fit(ctx, "kmeans", text, from);
}

static void objectives_never_fall(void **state) {
    (void)state;
    for (int units = 1; units <= 41; units += 4) {
        rb_model *model = fit(units, "", source);
        assert_rises(model, 100);
        assert_int_equal(rb_model_status(model), RB_STATUS_CONVERGED);
        rb_model_free(model);
    }
}

/* At the end each centre is the mean of the samples that have its code, which is the nearest one of
 * each, and the objective is minus the mean squared distance. */
static void centres_are_means_of_the_nearest(void **state) {
    (void)state;
    enum { K = 7 };
    rb_model *model = fit(K, "centre=none", source);
    const double *c = rb_model_array(model, "loadings", NULL, NULL);
    const double *noise = rb_model_array(model, "noise", NULL, NULL);
    double *codes = fixture_codes(ctx, model, source), sums[K * D] = {0}, counts[K] = {0};
    double total = 0, left[D] = {0};
    for (int i = 0; i < N; i++) {
        double least = INFINITY, own = 0;
        for (int j = 0; j < K; j++) {
            double sum = 0, code = codes[i * K + j];
            for (int k = 0; k < D; k++)
                sum += square(values[i * D + k] - c[k * K + j]);
            least = fmin(least, sum);
            own += code * sum;
            assert_true(code == 0 || code == 1);
            counts[j] += code;
            for (int k = 0; k < D; k++) {
                sums[j * D + k] += code * values[i * D + k];
                left[k] += code * square(values[i * D + k] - c[k * K + j]) / N;
            }
        }
        assert_close(own, least, 1e-12);
        total += least;
    }
    for (int j = 0; j < K; j++)
        for (int k = 0; k < D; k++)
            assert_close(c[k * K + j], sums[j * D + k] / counts[j], 1e-12);
    for (int k = 0; k < D; k++)
        assert_close(noise[k], left[k], 1e-9);
    assert_close(compare_last(model), -total / N, 1e-9);
    free(codes);
    rb_model_free(model);
}

/* The least sum of squared distances of all partitions into three, of eight samples of two values.
 */
static double best_partition(const double *x, int n) {
    double best = INFINITY;
    int count = 1;
    for (int i = 0; i < n; i++)
        count *= 3;
    for (int p = 0; p < count; p++) {
        double sums[3][2] = {{0}}, counts[3] = {0}, total = 0;
        for (int i = 0, rest = p; i < n; i++, rest /= 3) {
            counts[rest % 3]++;
            for (int k = 0; k < 2; k++)
                sums[rest % 3][k] += x[2 * i + k];
        }
        for (int i = 0, rest = p; i < n; i++, rest /= 3)
            for (int k = 0; k < 2; k++)
                total += square(x[2 * i + k] - sums[rest % 3][k] / counts[rest % 3]);
        best = fmin(best, total);
    }
    return best;
}

static void restarts_find_the_best_partition(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        rb_draws draws = {.stream = {.seed = seed, .purpose = RB_RANDOM_SIMULATE}};
        double x[16];
        for (int e = 0; e < 16; e++)
            x[e] = rb_draw_normal(&draws);
        rb_source *from = fixture_data(ctx, x, 8, 2);
        rb_model *model = fit(3, "restarts=30", from);
        assert_close(-8 * compare_last(model), best_partition(x, 8), 1e-9);
        rb_model_free(model);
        rb_source_free(from);
    }
}

/* The start draws samples far apart: of groups that lie far apart it takes one each. */
static void starts_are_spread(void **state) {
    (void)state;
    double x[200];
    for (int i = 0; i < 100; i++) {
        x[2 * i] = 1000 * (i % 10);
        x[2 * i + 1] = i % 7;
    }
    rb_source *from = fixture_data(ctx, x, 100, 2);
    for (int seed = 1; seed <= 20; seed++) {
        char more[64];
        snprintf(more, sizeof more, "seed=%d", seed);
        rb_model *model = fit(10, more, from);
        assert_true(compare_last(model) > -7);
        rb_model_free(model);
    }
    rb_source_free(from);
}

/* Two centres at the same place, from a model: one of them would have no sample. */
static void empty_centres_take_the_farthest(void **state) {
    (void)state;
    rb_model *two = fit(2, "", source), *start = NULL, *three = NULL;
    rb_model *model = fit(3, "iterations=1", source);
    double *loadings = (double *)rb_model_array(model, "loadings", NULL, NULL);
    for (int k = 0; k < D; k++)
        loadings[3 * k + 2] = loadings[3 * k + 1];
    assert_ok(
        ctx, compare_try(ctx, "kmeans", "precision=float64 iterations=100", source, model, &three));
    double *codes = fixture_codes(ctx, three, source), counts[3] = {0};
    for (int i = 0; i < N * 3; i++)
        counts[i % 3] += codes[i];
    for (int j = 0; j < 3; j++)
        assert_true(counts[j] > 0);
    assert_rises(three, 100);
    assert_true(compare_last(three) > compare_last(two));
    free(codes);
    rb_model_free(start);
    rb_model_free(two);
    rb_model_free(three);
    rb_model_free(model);
}

/* Fewer different samples than centres: the others stay dead. */
static void equal_samples(void **state) {
    (void)state;
    double x[20];
    for (int e = 0; e < 20; e++)
        x[e] = e / 2 % 2;
    rb_source *from = fixture_data(ctx, x, 10, 2);
    rb_model *model = fit(4, "", from);
    assert_close(compare_last(model), 0, 1e-12);
    assert_int_equal(rb_model_dead(model), 2);
    rb_model_free(model);
    rb_source_free(from);
}

static void sparse_is_dense(void **state) {
    (void)state;
    double holes[N * D];
    for (int e = 0; e < N * D; e++)
        holes[e] = e >= D && values[e] < 2 ? 0 : values[e]; /* the first sample has all */
    rb_source *dense = fixture_data(ctx, holes, N, D);
    rb_source *sparse = fixture_sparse_data(ctx, holes, N, D);
    const char *const centres[] = {"centre=mean", "centre=none"};
    for (int c = 0; c < 2; c++) {
        rb_model *a = fit(5, centres[c], dense), *b = fit(5, centres[c], sparse);
        assert_int_equal(rb_model_iterations(a), rb_model_iterations(b));
        for (int64_t t = 0; t < rb_model_iterations(a); t++)
            assert_close(compare_objective(a, t), compare_objective(b, t), 1e-9);
        double *x = fixture_codes(ctx, a, dense), *y = fixture_codes(ctx, a, sparse);
        assert_memory_equal(x, y, N * 5 * sizeof *x);
        rb_evaluation of_dense, of_sparse;
        assert_ok(ctx, fixture_evaluate(ctx, a, dense, &of_dense));
        assert_ok(ctx, fixture_evaluate(ctx, a, sparse, &of_sparse));
        assert_close(of_dense.mean_squared_error, of_sparse.mean_squared_error, 1e-9);
        assert_close(of_dense.variance_explained, of_sparse.variance_explained, 1e-9);
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
    enum { MANY = 40000 };
    double *many = calloc((size_t)MANY * D, sizeof *many);
    for (int64_t e = 0; e < (int64_t)MANY * D; e++)
        many[e] = values[e % (N * D)] * (1 + (double)(e % 11) / 11);
    struct compare_rows given = {many, D};
    rb_source *memory = fixture_data(ctx, many, MANY, D), *stream;
    assert_ok(ctx,
              rb_source_from_callback(ctx, RB_FLOAT64, MANY, D, compare_give, &given, &stream));
    rb_model *one = fit(6, "iterations=8", memory);
    assert_int_equal(rb_context_set_threads(ctx, 3), RB_OK);
    rb_model *other = fit(6, "iterations=8", stream);
    assert_int_equal(rb_context_set_threads(ctx, 1), RB_OK);
    fixture_same_array(one, other, "loadings");
    fixture_same_array(one, other, "noise");
    assert_rises(one, 1000);
    rb_model_free(one);
    rb_model_free(other);
    rb_source_free(stream);
    rb_source_free(memory);
    free(many);
}

static void refuses_more_centres_than_samples(void **state) {
    (void)state;
    rb_model *model = NULL;
    assert_error(ctx, compare_try(ctx, "kmeans", "units=301", source, NULL, &model),
                 RB_ERROR_ARGUMENT, "`units` is 301");
}

static void no_memory(void **state) {
    (void)state;
    compare_without_memory(ctx, "kmeans", "units=3 iterations=2", source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objectives_never_fall),
        cmocka_unit_test(centres_are_means_of_the_nearest),
        cmocka_unit_test(restarts_find_the_best_partition),
        cmocka_unit_test(starts_are_spread),
        cmocka_unit_test(empty_centres_take_the_farthest),
        cmocka_unit_test(equal_samples),
        cmocka_unit_test(sparse_is_dense),
        cmocka_unit_test(streams_and_threads_do_not_matter),
        cmocka_unit_test(refuses_more_centres_than_samples),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
