/* Outliers of a list of numbers: distances from the median in standard deviations of a normal
 * distribution, by the median of absolute ones. Kinds of few numbers; a walk over some samples. */
#include "factors_test.h"

#include "check/check.h"

static void distances_are_in_standard_deviations(void **state) {
    rb_context *ctx = *state;
    const double values[] = {10, 12, 11, 9, 8, 20, 10.5}; /* median 10.5, of the distances 1.5 */
    const int64_t places[] = {3, 5, 7, 9, 11, 13, 15};
    rb_look one = {.ctx = ctx};
    const double rounded[] = {1e6, 1e6 + 1e-5, 1e6 - 1e-5, 1e6, 1e6 + 1e-5, 1e6, 1e6 + 1};
    rb_outliers none = {0};
    assert_ok(ctx, rb_find_outliers(&one, rounded, places, 7, 5, &none));
    assert_int_equal(none.count, 0); /* all are the same but for rounding */
    for (int beyond = 0; beyond < 2; beyond++) {
        rb_outliers found = {0};
        double limit = 9.5 / (1.4826 * 1.5) * (beyond ? 0.999 : 1.001);
        assert_ok(ctx, rb_find_outliers(&one, values, places, 7, limit, &found));
        assert_int_equal(found.count, beyond);
        if (beyond) {
            assert_int_equal(found.shown[0], 13);
            assert_close(found.z[0], 9.5 / (1.4826 * 1.5), 1e-12);
        }
    }
}

/* z-scores of few samples, by the standard deviation of n or of n - 1 of them. */
static void z_scores_are_seen_by_either_deviation(void **state) {
    enum { FEW = 6, WIDE = 9 };
    rb_context *ctx = *state;
    for (int less = 0; less < 3; less++) {
        double *values = fixture_values(FEW, WIDE, 2, 4);
        for (int k = 0; k < WIDE; k++) {
            double mean = 0, square = 0;
            for (int i = 0; i < FEW; i++)
                mean += values[i * WIDE + k] / FEW;
            for (int i = 0; i < FEW; i++)
                square += pow(values[i * WIDE + k] - mean, 2) / (FEW - less);
            for (int i = 0; i < FEW; i++)
                values[i * WIDE + k] = (values[i * WIDE + k] - mean) / sqrt(square);
        }
        rb_check *check;
        rb_source *source = fixture_data(ctx, values, FEW, WIDE);
        assert_ok(ctx, rb_check_run(ctx, source, NULL, &check));
        assert_string_equal(rb_check_kind(check), less < 2 ? "z-scores" : "centred");
        rb_check_free(check);
        rb_source_free(source);
        free(values);
    }
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What is told of features by its definition: the median of the excess kurtoses of those that are
 * mostly not 0, and how far standard deviations lie apart but for the outermost twentieths. */
static void shapes_of_features_are_as_defined(void **state) {
    enum { MANY = 200, WIDE = 21 };
    rb_context *ctx = *state;
    rb_draws draws = {{8, RB_RANDOM_SIMULATE, 0}, 0};
    static double values[MANY * WIDE];
    double kurtoses[WIDE], sds[WIDE];
    for (int k = 0; k < WIDE; k++) {
        double sum = 0, squares = 0, fourth = 0, scale = exp(rb_draw_normal(&draws));
        for (int i = 0; i < MANY; i++) {
            double x = k == 0 && i % 5 ? 0 : scale * pow(rb_draw_normal(&draws), 5);
            values[i * WIDE + k] = x;
            sum += x;
        }
        for (int i = 0; i < MANY; i++) {
            double square = pow(values[i * WIDE + k] - sum / MANY, 2);
            squares += square;
            fourth += square * square;
        }
        kurtoses[k] = MANY * fourth / (squares * squares) - 3;
        sds[k] = sqrt(squares / MANY);
    }
    qsort(kurtoses + 1, WIDE - 1, sizeof *kurtoses, by_size); /* without the first, mostly 0 */
    qsort(sds, WIDE, sizeof *sds, by_size);
    rb_check *check;
    rb_source *source = fixture_data(ctx, values, MANY, WIDE);
    assert_ok(ctx, rb_check_run(ctx, source, NULL, &check));
    int found = 0;
    const rb_finding *f;
    for (int64_t i = 0; (f = rb_check_finding(check, i)); i++) {
        bool tails = strcmp(f->name, "tails") == 0, scales = strcmp(f->name, "scales") == 0;
        found += tails + scales;
        if (tails) assert_close(f->value, (kurtoses[10] + kurtoses[11]) / 2, 1e-9);
        if (scales) assert_close(f->value, sds[WIDE - 2] / sds[1], 1e-9);
    }
    assert_int_equal(found, 2);
    rb_check_free(check);
    rb_source_free(source);
}

/* Names that end with up to 20 groups are looked at, with more they are not. */
static void twenty_groups_are_the_most(void **state) {
    enum { MANY = 120, WIDE = 60 };
    rb_context *ctx = *state;
    double *values = fixture_values(MANY, WIDE, 3, 13);
    for (int e = 0; e < MANY * WIDE; e++)
        values[e] += e / WIDE % 2 == 0 && e % 3 == 0 ? 4 : 0;
    for (int groups = 20; groups <= 21; groups++) {
        static char text[MANY][16];
        const char *names[MANY];
        for (int i = 0; i < MANY; i++) {
            snprintf(text[i], sizeof *text, "c%d_b%d", i, i > 117 ? groups - 1 : i % 20);
            names[i] = text[i];
        }
        rb_matrix *matrix;
        rb_check *check;
        rb_source *source;
        assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, MANY, WIDE, values, WIDE, 1, &matrix));
        assert_ok(ctx, rb_matrix_set_sample_names(ctx, matrix, names, MANY));
        assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
        assert_ok(ctx, rb_check_run(ctx, source, NULL, &check));
        bool found = false;
        const rb_finding *f;
        for (int64_t i = 0; (f = rb_check_finding(check, i)); i++)
            found |= strcmp(f->name, "name-groups") == 0;
        assert_int_equal(found, groups == 20);
        rb_check_free(check);
        rb_source_free(source);
        rb_matrix_free(matrix);
    }
    free(values);
}

/* Names are of genes where three in a hundred look like symbols. */
static void few_symbols_are_no_genes(void **state) {
    (void)state;
    enum { MANY = 200 };
    static const char *const symbols[] = {"BCL2",  "TRIM5", "CASP3", "CASP8",
                                          "ITGA4", "TRIM8", "BCL6"};
    static double values[2 * MANY];
    static char names[MANY][8];
    const char *list[MANY];
    for (int some = 4; some <= 7; some += 3) {
        rb_context *ctx = fixture_context();
        rb_source *source = fixture_data(ctx, values, 2, MANY);
        for (int k = 0; k < MANY; k++) {
            snprintf(names[k], sizeof names[k], "x%d", k);
            list[k] = k < some ? symbols[k] : names[k];
        }
        assert_ok(ctx, rb_source_set_feature_names(ctx, source, list, MANY));
        rb_look look = {.ctx = ctx, .source = source, .scratch.ctx = ctx, .n = 2, .m = MANY};
        assert_ok(ctx, rb_look_names(&look));
        assert_int_equal(look.column.genes, some);
        assert_int_equal(look.column.are_genes, some == 7);
        assert_ok(ctx, rb_scratch_end(&look.scratch));
        rb_source_free(source);
        rb_context_free(ctx);
    }
}

/* A single sample has a total; its spread is 1. */
static void one_sample_has_a_total(void **state) {
    enum { WIDE = 30 };
    rb_context *ctx = *state;
    double values[WIDE], total = 0;
    for (int k = 0; k < WIDE; k++)
        total += values[k] = k % 7;
    rb_source *source = fixture_data(ctx, values, 1, WIDE);
    rb_look look = {.ctx = ctx, .source = source, .scratch.ctx = ctx, .n = 1, .m = WIDE};
    assert_ok(ctx, rb_look_walk(&look, 0));
    rb_look_find_kind(&look);
    assert_int_equal(look.kind, RB_KIND_COUNTS);
    assert_close(look.total, total, 1e-12);
    assert_close(look.total_spread, 1, 1e-12);
    assert_ok(ctx, rb_scratch_end(&look.scratch));
    rb_source_free(source);
}

/* A look at some of the samples finds the same in compressed rows as in dense ones. */
static void sparse_samples_are_looked_at_like_dense_ones(void **state) {
    enum { MANY = 90, WIDE = 7, SOME = 20 };
    rb_context *ctx = *state;
    double *values = fixture_values(MANY, WIDE, 2, 4);
    for (int e = 0; e < MANY * WIDE; e++)
        values[e] = e % 3 ? round(values[e]) + 0.0 : 0;
    rb_source *source = fixture_data(ctx, values, MANY, WIDE);
    rb_matrix *compressed;
    rb_source *sparse = fixture_sparse(ctx, values, MANY, WIDE, &compressed);
    rb_look looks[] = {{.ctx = ctx, .source = source, .scratch.ctx = ctx, .n = MANY, .m = WIDE},
                       {.ctx = ctx, .source = sparse, .scratch.ctx = ctx, .n = MANY, .m = WIDE}};
    for (int i = 0; i < 2; i++)
        assert_ok(ctx, rb_look_walk(&looks[i], SOME));
    assert_int_equal(looks[0].looked, SOME);
    for (int64_t j = 0; j < SOME; j++) {
        const double *row = values + rb_look_sample(&looks[0], j) * WIDE;
        double sum = 0;
        for (int k = 0; k < WIDE; k++)
            sum += row[k] / WIDE;
        for (int i = 0; i < 2; i++)
            assert_close(rb_tally_mean(&looks[i].samples[j]), sum, 1e-12);
        assert_int_equal(looks[0].samples[j].hash, looks[1].samples[j].hash);
    }
    for (int64_t k = 0; k < WIDE; k++)
        assert_close(rb_tally_sd(&looks[1].features[k]), rb_tally_sd(&looks[0].features[k]), 1e-12);
    assert_memory_equal(looks[0].part, looks[1].part, SOME * WIDE * sizeof *looks[0].part);
    assert_int_equal(looks[0].values, looks[1].values);
    for (int i = 0; i < 2; i++)
        assert_ok(ctx, rb_scratch_end(&looks[i].scratch));
    rb_source_free(sparse);
    rb_matrix_free(compressed);
    rb_source_free(source);
    free(values);
}

/* Values are multiples of the least one of a sample when ratios are whole to within 0.05. */
static void multiples_are_nearly_whole(void **state) {
    enum { MANY = 100, FEATURES = 50 };
    rb_context *ctx = *state;
    double *values = calloc(MANY * FEATURES, sizeof *values);
    for (int whole = 0; whole < 2; whole++) {
        rb_draws draws = {{1, RB_RANDOM_SIMULATE, 8}, 0};
        for (int e = 0; e < MANY * FEATURES; e++) {
            double count = 1 + floor(-1.5 * log(1 - rb_draw_uniform(&draws)));
            double error = (whole ? 0.02 : 0.03) * (rb_draw_uniform(&draws) - 0.5);
            values[e] = count * (37 + (double)(e / FEATURES)) * (1 + error);
        }
        rb_source *source = fixture_data(ctx, values, MANY, FEATURES);
        rb_check *check;
        assert_ok(ctx, rb_check_run(ctx, source, NULL, &check));
        assert_string_equal(rb_check_kind(check), whole ? "scaled counts" : "intensities");
        rb_check_free(check);
        rb_source_free(source);
    }
    free(values);
}

/* One feature on another scale, and one wrong value, among others that are alike. */
enum { N = 60, M = 30 };

static void says_wide(double *values, const char *feature, const char *why) {
    rb_check *check;
    rb_context *ctx = fixture_context();
    rb_source *source = fixture_data(ctx, values, N, M);
    const rb_finding *f, *found = NULL;
    assert_ok(ctx, rb_check_run(ctx, source, NULL, &check));
    for (int64_t i = 0; (f = rb_check_finding(check, i)); i++)
        if (strcmp(f->name, "wide-feature") == 0) found = f;
    assert_int_equal(found != NULL, feature != NULL);
    if (found && !(strstr(found->sentence, feature) && strstr(found->sentence, why)))
        fail_msg("%s", found->sentence);
    rb_check_free(check);
    rb_source_free(source);
    rb_context_free(ctx);
}

static void a_feature_on_another_scale(void **state) {
    (void)state;
    double *values = fixture_values(N, M, 3, 3);
    says_wide(values, NULL, NULL);
    for (int64_t i = 0; i < N; i++)
        values[i * M + 7] *= 1000;
    says_wide(values, "feature 7 (from 0)", "unit of measurement");
    for (int64_t i = 0; i < N; i++)
        values[i * M + 7] /= 1000;
    values[5 * M + 9] = 1e5;
    says_wide(values, "feature 9 (from 0)", "by one value: a wrong one?");
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_in_standard_deviations),
        cmocka_unit_test(z_scores_are_seen_by_either_deviation),
        cmocka_unit_test(multiples_are_nearly_whole),
        cmocka_unit_test(one_sample_has_a_total),
        cmocka_unit_test(few_symbols_are_no_genes),
        cmocka_unit_test(shapes_of_features_are_as_defined),
        cmocka_unit_test(a_feature_on_another_scale),
        cmocka_unit_test(twenty_groups_are_the_most),
        cmocka_unit_test(sparse_samples_are_looked_at_like_dense_ones)};
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
