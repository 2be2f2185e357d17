/* A look at data: planted matrices of every kind are seen as what they are, what is wrong with
 * them is told, and clean ones are told to be clean. */
#include "context.h"

#include "data/data.h"
#include <rarebit/check.h>

enum { N = 120, M = 60 };

/* ---- looking ---- */

/* A matrix, and what was found in it. */
typedef struct seen {
    rb_matrix *matrix;
    rb_source *source;
    rb_check *check;
} seen;

static seen look_at(rb_matrix *matrix, const char *samples) {
    seen s = {.matrix = matrix};
    rb_options *options;
    assert_ok(ctx, rb_options_new(ctx, NULL, &options));
    assert_ok(ctx, rb_options_add(ctx, options, rb_check_group()));
    if (samples) assert_ok(ctx, rb_options_set(ctx, options, "samples", samples));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &s.source));
    assert_ok(ctx, rb_check_run(ctx, s.source, options, &s.check));
    rb_options_free(options);
    return s;
}

static seen look(const double *values, int64_t n, int64_t m) {
    rb_matrix *matrix;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, n, m, values, m, 1, &matrix));
    return look_at(matrix, NULL);
}

static void end(seen *s) {
    rb_check_free(s->check);
    rb_source_free(s->source);
    rb_matrix_free(s->matrix);
}

static const rb_finding *find(const seen *s, const char *name) {
    const rb_finding *f;
    for (int64_t i = 0; (f = rb_check_finding(s->check, i)); i++)
        if (strcmp(f->name, name) == 0) return f;
    return NULL;
}

static void assert_found(const seen *s, const char *name, rb_severity severity, double value) {
    const rb_finding *f = find(s, name);
    if (!f) fail_msg("nothing was said of %s", name);
    if (f->severity != severity) fail_msg("%s: severity %d: %s", name, f->severity, f->sentence);
    if (!isnan(value)) assert_close(f->value, value, 1e-9);
}

static const char *advice(const seen *s, const char *option) {
    const rb_advice *a;
    for (int64_t i = 0; (a = rb_check_advice(s->check, i)); i++)
        if (strcmp(a->option, option) == 0) return a->value;
    return NULL;
}

static void assert_advice(const seen *s, const char *option, const char *value) {
    const char *given = advice(s, option);
    if (!given != !value || (value && strcmp(given, value) != 0))
        fail_msg("%s is advised as %s, not %s", option, given ? given : "nothing",
                 value ? value : "nothing");
}

/* Nothing but what is named is worth knowing. */
static void assert_clean(const seen *s, const char *but) {
    const rb_finding *f;
    for (int64_t i = 0; (f = rb_check_finding(s->check, i)); i++)
        if (f->severity != RB_SEVERITY_FINE && (!but || strcmp(f->name, but) != 0))
            fail_msg("%s: %s", f->name, f->sentence);
}

static void assert_kind(const double *values, int64_t n, int64_t m, const char *kind) {
    seen s = look(values, n, m);
    assert_string_equal(rb_check_kind(s.check), kind);
    end(&s);
}

/* ---- planted matrices ---- */

/* exp of causes and noise: positive amounts whose features differ in size. */
static double *make_amounts(int64_t n, int64_t m, uint64_t seed) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 9}, 0};
    double *values = fixture_values(n, m, 3, seed);
    for (int64_t k = 0; k < m; k++) {
        double level = 4 + 1.5 * rb_draw_normal(&draws);
        for (int64_t i = 0; i < n; i++)
            values[i * m + k] = exp(level + 0.3 * values[i * m + k]);
    }
    return values;
}

/* Whole numbers of mean 0.1 and 2 of the amounts, at a depth of each sample. */
static double *make_counts(int64_t n, int64_t m, double depth_sd, uint64_t seed) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 7}, 0};
    double *values = make_amounts(n, m, seed);
    for (int64_t i = 0; i < n; i++) {
        double depth = 0.05 * exp(depth_sd * rb_draw_normal(&draws));
        for (int64_t k = 0; k < m; k++) {
            double mean = values[i * m + k] * depth;
            double drawn = mean + sqrt(mean) * rb_draw_normal(&draws);
            values[i * m + k] = drawn > 0 ? floor(drawn + 0.5) : 0;
        }
    }
    return values;
}

static void scale_rows(double *values, int64_t n, int64_t m, double total) {
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t k = 0; k < m; k++)
            sum += values[i * m + k];
        for (int64_t k = 0; k < m; k++)
            values[i * m + k] *= total / sum;
    }
}

/* lines of `count` values, `step` apart, get mean 0 and, if asked, standard deviation 1. */
static void standardise(double *values, int64_t lines, int64_t line_step, int64_t count,
                        int64_t step, bool sd) {
    for (int64_t l = 0; l < lines; l++) {
        double *line = values + l * line_step, sum = 0, squares = 0;
        for (int64_t e = 0; e < count; e++)
            sum += line[e * step];
        for (int64_t e = 0; e < count; e++)
            squares += pow(line[e * step] - sum / (double)count, 2);
        for (int64_t e = 0; e < count; e++)
            line[e * step] =
                (line[e * step] - sum / (double)count) / (sd ? sqrt(squares / (double)count) : 1);
    }
}

static void every(double *values, int64_t count, double (*f)(double x)) {
    for (int64_t e = 0; e < count; e++)
        values[e] = f(values[e]);
}

static double log_two(double x) {
    return log2(1 + x);
}

static double is_positive(double x) {
    return x > 0;
}

static double squash(double x) {
    return 1 / (1 + exp(-x));
}

static double as_pixel(double x) {
    return fmin(255, floor(x));
}

/* ---- kinds ---- */

static void test_kinds_of_counts(void **state) {
    (void)state;
    double *counts = make_counts(N, M, 0.1, 1);
    assert_kind(counts, N, M, "counts");
    double *logs = make_counts(N, M, 0.1, 1);
    every(logs, N * M, log_two);
    assert_kind(logs, N, M, "log counts");
    scale_rows(counts, N, M, 1e4);
    assert_kind(counts, N, M, "scaled counts");
    every(counts, N * M, log1p);
    assert_kind(counts, N, M, "log counts");
    every(counts, N * M, is_positive);
    assert_kind(counts, N, M, "binary");
    free(counts);
    free(logs);
}

static void test_kinds_of_numbers(void **state) {
    (void)state;
    double *values = make_amounts(N, M, 2);
    assert_kind(values, N, M, "intensities");
    every(values, N * M, as_pixel);
    assert_kind(values, N, M, "pixels");
    free(values);
    values = make_amounts(N, M, 2);
    every(values, N * M, log1p);
    assert_kind(values, N, M, "log");
    every(values, N * M, squash);
    assert_kind(values, N, M, "fractions");
    free(values);
    values = fixture_values(N, M, 3, 2);
    assert_kind(values, N, M, "real");
    standardise(values, M, 1, N, M, false);
    assert_kind(values, N, M, "centred");
    standardise(values, M, 1, N, M, true);
    assert_kind(values, N, M, "z-scores");
    standardise(values, N, M, M, 1, true);
    assert_kind(values, N, M, "standardised samples");
    free(values);
}

/* Measurements in units of their own: their scales are told, and evened out. */
static void test_scales(void **state) {
    (void)state;
    rb_draws draws = {{5, RB_RANDOM_SIMULATE, 0}, 0};
    double *values = fixture_values(N, M, 3, 3);
    for (int64_t e = 0; e < N * M; e++)
        values[e] = (20 + values[e]) * pow(10, (double)(e % M % 7) - 3);
    seen s = look(values, N, M);
    assert_string_equal(rb_check_kind(s.check), "measures");
    assert_found(&s, "scales", RB_SEVERITY_NOTE, NAN);
    assert_advice(&s, "scale", "sd");
    assert_advice(&s, "log1p", NULL);
    end(&s);
    for (int64_t e = 0; e < N * M; e++) /* amounts, in units of their own */
        values[e] = exp(rb_draw_normal(&draws)) * pow(10, (double)(e % M % 7) - 3);
    s = look(values, N, M);
    assert_string_equal(rb_check_kind(s.check), "measures");
    end(&s);
    for (int64_t e = 0; e < N * M; e++)
        values[e] = pow(rb_draw_normal(&draws), 9);
    s = look(values, N, M);
    assert_found(&s, "tails", RB_SEVERITY_NOTE, NAN);
    end(&s);
    free(values);
}

static void test_counts_want_totals_and_logarithms(void **state) {
    (void)state;
    double *values = make_counts(N, M, 0.8, 4);
    seen s = look(values, N, M);
    assert_found(&s, "library-sizes", RB_SEVERITY_NOTE, NAN);
    assert_non_null(strstr(find(&s, "library-sizes")->sentence, "by themselves: leave them out"));
    assert_advice(&s, "totals", "median");
    assert_advice(&s, "log1p", "true");
    assert_string_equal(rb_check_method(s.check), "rfn");
    end(&s);
    free(values);
    values = make_counts(N, M, 0.01, 4);
    scale_rows(values, N, M, 100);
    every(values, N * M, log1p);
    s = look(values, N, M);
    assert_null(find(&s, "library-sizes"));
    assert_advice(&s, "totals", NULL);
    assert_advice(&s, "log1p", NULL);
    end(&s);
    every(values, N * M, is_positive);
    s = look(values, N, M);
    assert_string_equal(rb_check_method(s.check), "nmf-et");
    end(&s);
    free(values);
}

/* ---- names and orientation ---- */

static char **make_names(int64_t count, const char *format) {
    char **names = calloc((size_t)count, sizeof *names);
    for (int64_t i = 0; i < count; i++) {
        names[i] = malloc(64);
        snprintf(names[i], 64, format, (int)i);
    }
    return names;
}

static void free_names(char **names, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

static seen look_named(const double *values, int64_t n, int64_t m, const char *row,
                       const char *column) {
    rb_matrix *matrix;
    char **rows = make_names(n, row), **columns = make_names(m, column);
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, n, m, values, m, 1, &matrix));
    assert_ok(ctx, rb_matrix_set_sample_names(ctx, matrix, (const char *const *)rows, n));
    assert_ok(ctx, rb_matrix_set_feature_names(ctx, matrix, (const char *const *)columns, m));
    free_names(rows, n);
    free_names(columns, m);
    return look_at(matrix, NULL);
}

static void test_orientation_by_names(void **state) {
    (void)state;
    static const char *const genes[] = {"ENSG00000%06d.2", "ENSMUSG%011d", "%d_at",   "AFFX-%d_st",
                                        "Rpl%da",          "ZNF%d",        "NM_%06d", "ILMN_%d"};
    static const char *const samples[] = {"S%02d", "patient %d", "GSM%d", "AAAC%dT-1", "TCGA-%d"};
    double *values = fixture_values(N, M, 3, 6);
    for (size_t g = 0; g < sizeof genes / sizeof *genes; g++) {
        const char *sample = samples[g % (sizeof samples / sizeof *samples)];
        seen s = look_named(values, N, M, genes[g], sample);
        assert_true(rb_check_across(s.check));
        assert_found(&s, "orientation", RB_SEVERITY_PROBLEM, NAN);
        end(&s);
        s = look_named(values, N, M, sample, genes[g]);
        assert_false(rb_check_across(s.check));
        assert_clean(&s, NULL);
        end(&s);
    }
    seen s = look_named(values, N, M, "S%d", "x%d");
    assert_false(rb_check_across(s.check));
    assert_clean(&s, NULL);
    end(&s);
    s = look_named(values, N, M, "S", "g%d");
    assert_found(&s, "sample-names", RB_SEVERITY_NOTE, N - 1);
    end(&s);
    free(values);
}

/* Without names levels that differ by row are worth knowing, and no more. */
static void test_orientation_by_levels(void **state) {
    (void)state;
    double *values = fixture_values(300, 40, 2, 7);
    for (int64_t e = 0; e < 300 * 40; e++)
        values[e] += 20 * sin((double)(e / 40));
    seen s = look(values, 300, 40);
    assert_found(&s, "orientation", RB_SEVERITY_NOTE, NAN);
    assert_false(rb_check_across(s.check));
    end(&s);
    free(values);
}

/* ---- what is wrong with samples and features ---- */

static void test_missing(void **state) {
    (void)state;
    double *values = fixture_values(N, M, 3, 8);
    for (int64_t i = 0; i < N; i += 2)
        values[i * M + 5] = NAN;
    seen s = look(values, N, M);
    assert_found(&s, "missing", RB_SEVERITY_NOTE, 0.5 / M);
    assert_non_null(strstr(find(&s, "missing")->sentence, "feature 5 (from 0) (50 %)"));
    assert_advice(&s, "missing", "mean");
    end(&s);
    for (int64_t i = 0; i < N; i++)
        values[i * M + 5] = NAN;
    for (int64_t k = 0; k < M; k++)
        values[7 * M + k] = NAN;
    s = look(values, N, M);
    assert_found(&s, "features-without-values", RB_SEVERITY_PROBLEM, 1);
    assert_found(&s, "samples-without-values", RB_SEVERITY_PROBLEM, 1);
    assert_null(rb_check_method(s.check));
    end(&s);
    free(values);
}

/* More than 5 % missing ask for a model of them. */
static void test_many_missing(void **state) {
    (void)state;
    for (int more = 0; more < 2; more++) {
        double *values = fixture_values(N, M, 3, 8);
        for (int64_t e = 0; e < N * M / 20 + more; e++)
            values[19 * e] = NAN;
        seen s = look(values, N, M);
        assert_advice(&s, "missing", more ? "model" : "mean");
        end(&s);
        free(values);
    }
}

static void test_stand_ins(void **state) {
    (void)state;
    static const double words[] = {-9, -99, -999, -9999, 99999};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        double *values = fixture_values(N, M, 0, 9);
        for (int64_t e = 0; e < N * M; e++)
            values[e] /= 4; /* within 1 of 0 */
        for (int64_t e = 3; e < N * M; e += 50)
            values[e] = words[w];
        seen s = look(values, N, M);
        assert_found(&s, "stand-in", RB_SEVERITY_PROBLEM, words[w]);
        end(&s);
        free(values);
    }
}

static void test_nothing_can_be_fitted(void **state) {
    (void)state;
    static const double spoilers[] = {INFINITY, -INFINITY, 1e200, 0};
    static const char *const names[] = {"infinite", "infinite", "range", "range"};
    for (int i = 0; i < 4; i++) {
        double *values = fixture_values(N, M, 3, 10);
        for (int64_t e = 0; i == 3 && e < N * M; e++)
            values[e] *= 1e-22;
        values[7 * M + 3] = spoilers[i];
        seen s = look(values, N, M);
        assert_found(&s, names[i], RB_SEVERITY_PROBLEM, NAN);
        assert_null(rb_check_method(s.check));
        assert_int_equal(rb_check_advice_count(s.check), 0);
        end(&s);
        free(values);
    }
    double *values = calloc(N * M, sizeof *values);
    seen s = look(values, N, M);
    assert_found(&s, "constant-features", RB_SEVERITY_PROBLEM, M);
    assert_null(rb_check_method(s.check));
    end(&s);
    for (int64_t e = 0; e < N * M; e++)
        values[e] = NAN;
    s = look(values, N, M);
    assert_string_equal(rb_check_kind(s.check), "none");
    assert_found(&s, "empty", RB_SEVERITY_PROBLEM, 0);
    end(&s);
    free(values);
}

static void test_same(void **state) {
    (void)state;
    rb_draws draws = {{11, RB_RANDOM_SIMULATE, 0}, 0};
    double *values = fixture_values(N, M, 3, 11);
    memcpy(values + 50 * M, values + 20 * M, M * sizeof *values);
    memcpy(values + 9 * M, values + 20 * M, M * sizeof *values);
    for (int64_t k = 0; k < M; k++)
        values[70 * M + k] = values[30 * M + k] + 0.001 * rb_draw_normal(&draws);
    for (int64_t i = 0; i < N; i++) {
        values[i * M + 8] = values[i * M + 2];
        values[i * M + 10] = 4;
        values[i * M + 11] = 0;
    }
    seen s = look(values, N, M);
    assert_found(&s, "duplicate-samples", RB_SEVERITY_PROBLEM, 2);
    assert_non_null(strstr(find(&s, "duplicate-samples")->sentence,
                           "sample 9 (from 0) and sample 20 (from 0)"));
    assert_found(&s, "near-duplicates", RB_SEVERITY_NOTE, 1);
    assert_found(&s, "duplicate-features", RB_SEVERITY_NOTE, 1);
    assert_found(&s, "constant-features", RB_SEVERITY_NOTE, 2);
    end(&s);
    for (int64_t k = 0; k < M; k++)
        values[99 * M + k] = 0;
    s = look(values, N, M);
    assert_found(&s, "constant-samples", RB_SEVERITY_PROBLEM, 1);
    end(&s);
    s = look(values, 2, M); /* of which two are enough */
    assert_found(&s, "constant-features", RB_SEVERITY_NOTE, 2);
    end(&s);
    free(values);
}

static void test_outliers(void **state) {
    (void)state;
    rb_draws draws = {{12, RB_RANDOM_SIMULATE, 0}, 0};
    double *values = fixture_values(N, M, 3, 12);
    for (int64_t k = 0; k < M; k++)
        values[33 * M + k] += 20 * rb_draw_normal(&draws);
    seen s = look(values, N, M);
    assert_found(&s, "outliers", RB_SEVERITY_NOTE, 1);
    assert_non_null(strstr(find(&s, "outliers")->sentence, "sample 33 (from 0)"));
    end(&s);
    free(values);
    values = make_counts(N, M, 0.1, 12);
    for (int64_t k = 0; k < M; k++)
        values[44 * M + k] = floor(values[44 * M + k] / 30);
    values[44 * M] = 1;
    s = look(values, N, M);
    assert_found(&s, "odd-totals", RB_SEVERITY_NOTE, 1);
    end(&s);
    free(values);
}

/* A shift of a third of the features, from sample 70 on, and by what names say. */
static void test_blocks(void **state) {
    (void)state;
    double *values = fixture_values(N, M, 3, 13);
    for (int64_t e = 70 * M; e < N * M; e++)
        values[e] += e % M % 3 == 0 ? 4 : 0;
    seen s = look(values, N, M);
    assert_found(&s, "blocks", RB_SEVERITY_NOTE, NAN);
    assert_non_null(strstr(find(&s, "blocks")->sentence, "sample 69 (from 0)"));
    end(&s);
    free(values);
    values = fixture_values(N, M, 3, 13);
    for (int64_t e = 0; e < N * M; e++)
        values[e] += e / M % 2 == 0 && e % M % 3 == 0 ? 4 : 0;
    for (int form = 0; form < 3; form++) {
        rb_matrix *matrix;
        char **names = make_names(N, "cell%d_b");
        for (int i = 0; i < N; i++) {
            if (form == 0) snprintf(names[i], 64, "cell%d_b%d", i, i % 2);
            if (form == 1) snprintf(names[i], 64, "b%d-%d", i % 2, i);
            if (form == 2) snprintf(names[i], 64, "%c%d", 'A' + i % 2, i);
        }
        assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, M, values, M, 1, &matrix));
        assert_ok(ctx, rb_matrix_set_sample_names(ctx, matrix, (const char *const *)names, N));
        free_names(names, N);
        s = look_at(matrix, NULL);
        assert_found(&s, "name-groups", RB_SEVERITY_NOTE, NAN);
        assert_found(&s, "blocks", RB_SEVERITY_FINE, 0);
        end(&s);
    }
    free(values);
}

static void test_few_samples(void **state) {
    (void)state;
    double *values = fixture_values(N, M, 3, 14);
    static const int64_t counts[] = {1, 2, 3, 9, 12, 29};
    for (int i = 0; i < 6; i++) {
        seen s = look(values, counts[i], M);
        assert_found(&s, "few-samples", counts[i] < 10 ? RB_SEVERITY_PROBLEM : RB_SEVERITY_NOTE,
                     (double)counts[i]);
        if (counts[i] > 1) assert_advice(&s, "units", counts[i] < 29 ? "2" : "5");
        end(&s);
    }
    free(values);
}

/* Small causes show in no component: ten units, where there are as many features. */
static void test_few_units(void **state) {
    (void)state;
    for (int few = 0; few < 2; few++) {
        int64_t m = few ? 3 : 30;
        double *values = fixture_values(200, m, 0, 15);
        seen s = look(values, 200, m);
        assert_advice(&s, "units", few ? "3" : "10");
        end(&s);
        free(values);
    }
}

/* ---- how it looks ---- */

static rb_matrix *as_sparse(const double *values, int64_t n, int64_t m) {
    int64_t *starts = rb_alloc(ctx, n + 1, sizeof *starts), stored = 0;
    int32_t *columns = rb_alloc(ctx, n * m, sizeof *columns);
    double *kept = rb_alloc(ctx, n * m, sizeof *kept);
    for (int64_t e = 0; e < n * m; e++) {
        if (e % m == 0) starts[e / m] = stored;
        if (values[e] == 0) continue;
        columns[stored] = (int32_t)(e % m);
        kept[stored++] = values[e];
    }
    starts[n] = stored;
    rb_matrix *matrix;
    assert_ok(ctx, rb_matrix_own_csr(ctx, RB_FLOAT64, n, m, starts, columns, kept, &matrix));
    return matrix;
}

static void assert_same(const seen *a, const seen *b, const char *but) {
    assert_int_equal(rb_check_count(a->check), rb_check_count(b->check));
    const rb_finding *f;
    for (int64_t i = 0; (f = rb_check_finding(a->check, i)); i++) {
        const rb_finding *g = rb_check_finding(b->check, i);
        if (!but || strcmp(f->name, but) != 0) assert_string_equal(f->sentence, g->sentence);
    }
}

static void test_sparse_is_as_dense(void **state) {
    (void)state;
    double *values = make_counts(N, M, 0.6, 15);
    memcpy(values + 50 * M, values + 20 * M, M * sizeof *values);
    for (int64_t i = 0; i < N; i++)
        values[i * M + 11] = 0;
    seen dense = look(values, N, M), sparse = look_at(as_sparse(values, N, M), NULL);
    assert_found(&sparse, "constant-features", RB_SEVERITY_NOTE, 1);
    assert_same(&dense, &sparse, "kind"); /* which says how they are stored */
    end(&dense);
    end(&sparse);
    free(values);
}

static void test_threads_do_not_matter(void **state) {
    (void)state;
    double *values = fixture_values(600, 500, 5, 16);
    assert_ok(ctx, rb_context_set_threads(ctx, 1));
    seen one = look(values, 600, 500);
    assert_ok(ctx, rb_context_set_threads(ctx, 4));
    seen four = look(values, 600, 500);
    assert_same(&one, &four, NULL);
    end(&one);
    end(&four);
    free(values);
}

/* Some samples of many: said, spread over all, and enough to see what they are. */
static void test_stretches(void **state) {
    (void)state;
    double *values = make_counts(3000, 30, 0.5, 17);
    for (int64_t k = 0; k < 30; k++)
        values[2999 * 30 + k] = 1e6; /* the last one is seen */
    static const char *const samples[] = {"1", "2", "63", "64", "65", "1000", "2999"};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        rb_matrix *matrix;
        assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 3000, 30, values, 30, 1, &matrix));
        seen s = look_at(matrix, samples[i]);
        assert_int_equal(rb_check_samples(s.check), atoi(samples[i]));
        assert_found(&s, "looked-at", RB_SEVERITY_NOTE, atof(samples[i]));
        end(&s);
    }
    free(values);
}

/* ---- no false alarm, and the number of units ---- */

static void test_clean_data_are_clean(void **state) {
    (void)state;
    static const int64_t shapes[][2] = {{60, 30}, {100, 400}, {300, 60}, {40, 800}};
    int of_noise = 0;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        const int64_t *shape = shapes[seed % 4];
        double *values = fixture_values(shape[0], shape[1], seed % 2 ? 4 : 0, seed);
        seen s = look(values, shape[0], shape[1]);
        assert_clean(&s, seed % 2 ? NULL : "structure");
        if (seed % 2 == 0) of_noise += find(&s, "structure")->severity == RB_SEVERITY_FINE;
        end(&s);
        free(values);
    }
    assert_true(of_noise <= 3); /* of 50 */
}

static void test_planted_biclusters_are_clean(void **state) {
    (void)state;
    for (int64_t seed = 1; seed <= 10; seed++) {
        rb_matrix *matrix;
        rb_modules *planted;
        rb_options *options;
        assert_ok(ctx, rb_options_new(ctx, NULL, &options));
        assert_ok(ctx, rb_options_add(ctx, options, rb_biclusters_group()));
        assert_ok(ctx, rb_options_set_all(ctx, options, "generator=fabia seed=%d", (int)seed));
        assert_ok(ctx, rb_simulate_biclusters(ctx, options, &matrix, &planted));
        seen s = look_at(matrix, NULL);
        assert_clean(&s, NULL);
        int units = atoi(advice(&s, "units")); /* 10 are planted */
        if (units < 9 || units > 14) fail_msg("seed %d: %d units", (int)seed, units);
        end(&s);
        rb_modules_free(planted);
        rb_options_free(options);
    }
}

/* ---- failures ---- */

static void test_no_memory(void **state) {
    (void)state;
    double *values = make_counts(N, M, 0.8, 18);
    rb_matrix *matrix;
    rb_source *source;
    char **names = make_names(N, "%d-a");
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, N, M, values, M, 1, &matrix));
    assert_ok(ctx, rb_matrix_set_sample_names(ctx, matrix, (const char *const *)names, N));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; allow_allocations(ctx, n, err); n++) {
        rb_check *check;
        err = rb_check_run(ctx, source, NULL, &check);
        assert_true(!err == (check != NULL));
        rb_check_free(check);
    }
    assert_true(n > 50);
    free_names(names, N);
    rb_source_free(source);
    rb_matrix_free(matrix);
    free(values);
}

/* Breaks off behind sample 200. */
static rb_error read_some(void *user, int64_t first, int64_t count, void *rows) {
    memset(rows, 0, (size_t)(count * 2000) * sizeof(double));
    return first + count > 200 ? rb_context_fail(user, RB_ERROR_FILE, "the wire was cut") : RB_OK;
}

static void test_reading_errors_stay(void **state) {
    (void)state;
    rb_source *source;
    rb_check *check;
    assert_ok(ctx, rb_source_from_callback(ctx, RB_FLOAT64, 1000, 2000, read_some, ctx, &source));
    assert_int_equal(rb_check_run(ctx, source, NULL, &check), RB_ERROR_FILE);
    assert_string_equal(rb_context_error(ctx), "the wire was cut");
    assert_null(check);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds_of_counts),
        cmocka_unit_test(test_kinds_of_numbers),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_counts_want_totals_and_logarithms),
        cmocka_unit_test(test_orientation_by_names),
        cmocka_unit_test(test_orientation_by_levels),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_stand_ins),
        cmocka_unit_test(test_nothing_can_be_fitted),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_outliers),
        cmocka_unit_test(test_many_missing),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_few_samples),
        cmocka_unit_test(test_few_units),
        cmocka_unit_test(test_sparse_is_as_dense),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_stretches),
        cmocka_unit_test(test_clean_data_are_clean),
        cmocka_unit_test(test_planted_biclusters_are_clean),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_reading_errors_stay),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
