/* Samples scaled to the median of their totals. */
#include "fixture.h"

#include "data/data.h"

enum { N = 6, M = 4 };

static const double table[N * M] = {1, 0, 5, 2, 3, 0, 5, 8, 2, 7,  5, 4,
                                    9, 0, 5, 1, 4, 1, 5, 0, 6, 12, 5, 3};

/* The median total of the first n samples above 0, from a full sort. */
static double median_total(const double *values, int64_t n) {
    double totals[N];
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        totals[count] = 0;
        for (int64_t k = 0; k < M; k++)
            totals[count] += isnan(values[i * M + k]) ? 0 : values[i * M + k];
        count += totals[count] > 0;
    }
    rb_sort_numbers(totals, count);
    return (totals[(count - 1) / 2] + totals[count / 2]) / 2;
}

/* totals=median is the median, and from then on as that number: of odd and even numbers of samples,
 * dense and sparse, with a sample without counts, and with missing values. */
static void median_of_totals(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    for (int code = 0; code < 2 * 2 * 2 * 2; code++) {
        double values[N * M];
        int64_t n = N - code % 2;
        rb_matrix *matrix;
        memcpy(values, table, sizeof table);
        if (code / 2 % 2) memset(values + M, 0, M * sizeof *values);
        if (code / 4 % 2) values[2 * M] = values[3 * M + 3] = NAN;
        rb_source *source =
            (code / 8 ? fixture_sparse : fixture_source)(ctx, values, n, M, &matrix);
        rb_preprocess_options o;
        rb_preprocess *p, *q;
        rb_preprocess_options_default(&o);
        o.missing = code / 4 % 2 ? RB_MISSING_MEDIAN : RB_MISSING_REFUSE;
        o.log1p = true;
        o.centre = RB_CENTRE_MEAN;
        assert_ok(ctx, rb_rows_set(ctx, rb_preprocess_group.rows, &o, "totals", "median"));
        assert_ok(ctx, rb_preprocess_fit(ctx, &o, source, &p));
        o.totals = median_total(values, n);
        assert_true(p->options.totals == o.totals);
        assert_ok(ctx, rb_preprocess_fit(ctx, &o, source, &q));
        assert_memory_equal(p->centre, q->centre, M * sizeof *p->centre);
        assert_memory_equal(p->moments, q->moments, M * sizeof *p->moments);
        rb_preprocess_free(p);
        rb_preprocess_free(q);
        rb_source_free(source);
        rb_matrix_free(matrix);
    }
    rb_context_free(ctx);
}

/* What is no median says so; the word is read and written like a number. */
static void no_median_of_totals(void **state) {
    (void)state;
    rb_context *ctx = fixture_context();
    const rb_option *rows = rb_preprocess_group.rows;
    double none[N * M] = {0};
    char text[64];
    rb_matrix *matrix;
    rb_preprocess *p;
    rb_source *source = fixture_source(ctx, none, N, M, &matrix);
    rb_preprocess_options o;
    rb_preprocess_options_default(&o);
    o.centre = RB_CENTRE_NONE;
    for (int i = 0; i < 3; i++) {
        const char *const others[] = {"mean", "inf", "-1"};
        assert_int_equal(rb_rows_set(ctx, rows, &o, "totals", others[i]), RB_ERROR_ARGUMENT);
        assert_non_null(strstr(rb_context_error(ctx), "must be a number of at least 0, or median"));
    }
    assert_ok(ctx, rb_rows_set(ctx, rows, &o, "totals", "median"));
    fixture_row(rb_rows_find(rows, "totals"), &o, text, sizeof text);
    assert_string_equal(text, "median");
    assert_int_equal(rb_preprocess_fit(ctx, &o, source, &p), RB_ERROR_DATA);
    assert_non_null(strstr(rb_context_error(ctx), "no sample has a finite total above 0"));
    for (int e = 0; e < N * M; e++)
        none[e] = 1e308;
    assert_int_equal(rb_preprocess_fit(ctx, &o, source, &p), RB_ERROR_DATA);
    assert_non_null(strstr(rb_context_error(ctx), "no sample has a finite total above 0"));
    memset(none, 0, sizeof none);
    none[3] = INFINITY;
    assert_int_equal(rb_preprocess_fit(ctx, &o, source, &p), RB_ERROR_DATA);
    assert_non_null(
        strstr(rb_context_error(ctx), "sample 0, feature 3 (counted from 0) is infinite"));
    none[3] = 7;
    none[2] = -1;
    assert_int_equal(rb_preprocess_fit(ctx, &o, source, &p), RB_ERROR_DATA);
    assert_non_null(
        strstr(rb_context_error(ctx), "feature 2 (counted from 0) is below 0, which `totals`"));
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_of_totals),
        cmocka_unit_test(no_median_of_totals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
