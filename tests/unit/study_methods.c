/* Which method: what a comparison of methods finds, leaves out and refuses. */
#include "fixture.h"
#include "study/select.h"

#include <rarebit/methods.h>

#include <string.h>

enum { N = 90, M = 40, CAUSES = 3 };

struct world {
    rb_context *ctx;
    double *values;
    rb_source *source;
    rb_options *options;
    rb_covariates *labels; /* samples of each of the causes, and others */
};

/* Each cause has a third of the samples less ten, and ten features. */
static int setup(void **state) {
    struct world *w = calloc(1, sizeof *w);
    rb_draws draws = {{5, RB_RANDOM_SIMULATE, 0}, 0};
    static const char *const names[CAUSES + 1] = {"a", "b", "c", "none"};
    const char *groups[N];
    w->ctx = fixture_context();
    w->values = calloc((size_t)N * M, sizeof *w->values);
    for (int64_t i = 0; i < N; i++) {
        int64_t cause = i % 30 < 20 ? i / 30 : CAUSES;
        double size = 2 + 2 * rb_draw_uniform(&draws);
        groups[i] = names[cause];
        for (int64_t k = 0; k < M; k++)
            w->values[i * M + k] =
                rb_draw_normal(&draws) + (k / 10 == cause ? k % 2 ? size : -size : 0);
    }
    for (int64_t i = 0; i < N; i++) /* nothing in the last ten features */
        for (int64_t k = CAUSES * 10; k < M; k++)
            w->values[i * M + k] = rb_draw_normal(&draws);
    w->source = fixture_data(w->ctx, w->values, N, M);
    assert_ok(w->ctx, rb_covariates_new(w->ctx, N, &w->labels));
    assert_ok(w->ctx, rb_covariates_add_groups(w->ctx, w->labels, "class", groups));
    assert_ok(w->ctx, rb_methods_options(w->ctx, &w->options));
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options, "units=4 folds=3 seeds=2"));
    *state = w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    rb_options_free(w->options);
    rb_covariates_free(w->labels);
    rb_source_free(w->source);
    rb_context_free(w->ctx);
    free(w->values);
    free(w);
    return 0;
}

static rb_method_comparison *compare(struct world *w) {
    rb_method_comparison *c;
    assert_ok(w->ctx, rb_methods_compare(w->ctx, w->options, w->source, w->labels, &c));
    return c;
}

static double cell(const rb_method_comparison *c, const char *method, const char *key) {
    rb_table table = rb_method_comparison_table(c);
    const rb_table_column *name = rb_table_find(&table, "method"),
                          *column = rb_table_find(&table, key);
    assert_non_null(column);
    for (int64_t r = 0; r < table.n_rows; r++)
        if (strcmp(rb_table_value(&table, r, name).text, method) == 0)
            return rb_table_value(&table, r, column).number;
    fail_msg("no row of %s", method);
    return NAN;
}

static void puts_methods_on_one_scale(void **state) {
    struct world *w = *state;
    assert_ok(w->ctx, rb_options_set(w->ctx, w->options, "methods", "kmeans,rfn,pca"));
    rb_method_comparison *c = compare(w);
    assert_int_equal(rb_method_comparison_table(c).n_rows, 3);
    /* Four directions keep more of a sample than one centre. */
    assert_true(cell(c, "pca", "held_out_error") < cell(c, "kmeans", "held_out_error"));
    assert_true(cell(c, "pca", "held_out_se") == 0);
    assert_true(cell(c, "kmeans", "held_out_se") > 0);
    /* A third of the squares is there to be predicted, of 30 of the 40 features. */
    for (int m = 0; m < 2; m++) {
        double error = cell(c, m ? "rfn" : "pca", "entry_error");
        assert_true(error > 0.4 && error < 0.9);
    }
    assert_true(cell(c, "rfn", "match") > 0.6 && cell(c, "rfn", "match") <= 1);
    assert_true(cell(c, "rfn", "modules") >= 3);
    assert_true(cell(c, "rfn", "auc") > 0.9 && cell(c, "kmeans", "auc") <= 1);
    assert_true(cell(c, "rfn", "auc_se") > 0 && cell(c, "rfn", "auc_se") < 0.1);
    assert_true(cell(c, "rfn", "seconds") > 0);
    rb_method_comparison_free(c);
}

static void gives_the_same_bits_on_any_threads(void **state) {
    struct world *w = *state;
    assert_ok(w->ctx, rb_options_set(w->ctx, w->options, "methods", "rfn,ica,fabia"));
    rb_method_comparison *found[2];
    for (int i = 0; i < 2; i++) {
        assert_ok(w->ctx, rb_context_set_threads(w->ctx, 1 + 2 * i));
        found[i] = compare(w);
    }
    rb_table a = rb_method_comparison_table(found[0]), b = rb_method_comparison_table(found[1]);
    for (const rb_table_column *column = a.columns; strcmp(column->key, "seconds") != 0; column++) {
        for (int64_t r = 0; r < 3; r++) {
            rb_value x = rb_table_value(&a, r, column), y = rb_table_value(&b, r, column);
            assert_memory_equal(&x.number, &y.number, sizeof x.number);
        }
    }
    assert_string_equal(rb_method_comparison_summary(found[0]),
                        rb_method_comparison_summary(found[1]));
    rb_method_comparison_free(found[0]);
    rb_method_comparison_free(found[1]);
}

static void does_without_folds(void **state) {
    struct world *w = *state;
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options, "methods=fabia,sfa folds=0 units=3"));
    rb_method_comparison *c = compare(w);
    assert_true(cell(c, "sfa", "match") > 0.5);
    rb_table table = rb_method_comparison_table(c);
    assert_null(rb_table_find(&table, "held_out_error"));
    assert_null(rb_table_find(&table, "entry_error"));
    assert_null(rb_table_find(&table, "no column"));
    assert_null(strstr(rb_method_comparison_summary(c), "left out"));
    rb_method_comparison_free(c);
}

static void says_what_is_left_out(void **state) {
    struct world *w = *state;
    assert_ok(w->ctx, rb_options_set(w->ctx, w->options, "methods", "nmf,pca,mca,rfn"));
    rb_method_comparison *c = compare(w);
    const char *text = rb_method_comparison_summary(c);
    assert_int_equal(rb_method_comparison_table(c).n_rows, 2);
    assert_true(cell(c, "pca", "match") > 0 && cell(c, "rfn", "match") > 0);
    assert_non_null(strstr(text, "Left out: nmf: "));
    assert_non_null(strstr(text, "takes no values below 0"));
    assert_non_null(strstr(text, "Left out: mca: explains no values below 0."));
    rb_method_comparison_free(c);
    for (int64_t e = 0; e < N * M; e++)
        w->values[e] = fabs(w->values[e]);
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options, "methods=nmf,pca"));
    c = compare(w);
    assert_int_equal(rb_method_comparison_table(c).n_rows, 2);
    assert_null(strstr(rb_method_comparison_summary(c), "Left out"));
    rb_method_comparison_free(c);
}

/* Of the methods in the table, how many are among the best in all of three figures: as near to the
 * best as spreads allow, two standard errors or one standard deviation. The name of the first. */
static int64_t best_in_all(const rb_method_comparison *c, const char **name) {
    static const struct {
        const char *value, *spread;
        double sign, times;
    } figures[] = {
        {"entry_error", "entry_se", -1, 2}, {"match", "match_sd", 1, 1}, {"auc", "auc_se", 1, 1}};
    static const char *const methods[] = {"kmeans", "pca", "ica"};
    int64_t count = 0;
    for (int m = 2; m >= 0; m--) {
        bool good = true;
        for (int f = 0; f < 3; f++) {
            int best = 0;
            double value[3], spread[3];
            for (int other = 0; other < 3; other++) {
                value[other] = figures[f].sign * cell(c, methods[other], figures[f].value);
                spread[other] = cell(c, methods[other], figures[f].spread);
                best = value[other] > value[best] ? other : best;
            }
            good = good && (m == best || value[best] - value[m] <=
                                             figures[f].times * fmax(spread[best], spread[m]));
        }
        count += good;
        *name = good ? methods[m] : *name;
    }
    return count;
}

static void sums_up_what_differences_mean(void **state) {
    struct world *w = *state;
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options, "methods=kmeans,pca,ica"));
    rb_method_comparison *c = compare(w);
    const char *text = rb_method_comparison_summary(c), *name = "";
    const char *all = strstr(text, "Among the best in all of these: ");
    int64_t count = best_in_all(c, &name);
    assert_non_null(strstr(text, "To predict values that are left out take "));
    assert_non_null(strstr(text, "For units that recur take "));
    assert_non_null(strstr(text, "To mark the classes take "));
    /* Both keep the same directions. */
    assert_non_null(strstr(text, "as good within the spread: "));
    assert_true(!all == !count);
    assert_true(!all == (strstr(text, "No method is among the best in all") != NULL));
    for (int64_t n = 1; n < count; n++)
        assert_non_null(all = strchr(all, ','));
    if (count == 1) assert_non_null(strstr(all, name));
    rb_method_comparison_free(c);
}

static void says_that_nothing_is_predicted(void **state) {
    struct world *w = *state;
    rb_draws draws = {{6, RB_RANDOM_SIMULATE, 0}, 0};
    rb_source_free(w->source);
    for (int64_t e = 0; e < N * M; e++)
        w->values[e] = rb_draw_normal(&draws);
    w->source = fixture_data(w->ctx, w->values, N, M);
    assert_ok(w->ctx, rb_options_set(w->ctx, w->options, "methods", "pca,rfn"));
    rb_method_comparison *c = compare(w);
    const char *text = rb_method_comparison_summary(c);
    assert_int_equal(strncmp(text, "No method predicts", 18), 0);
    assert_null(strstr(text, "To predict"));
    rb_method_comparison_free(c);
}

static void refused(struct world *w, const rb_covariates *labels, rb_error wanted,
                    const char *said) {
    rb_method_comparison *c;
    rb_error err = rb_methods_compare(w->ctx, w->options, w->source, labels, &c);
    assert_error(w->ctx, err, wanted, said);
    assert_null(c);
}

static void refuses(void **state) {
    struct world *w = *state;
    rb_covariates *other;
    assert_ok(w->ctx, rb_covariates_new(w->ctx, 2, &other));
    refused(w, other, RB_ERROR_ARGUMENT, "a class for each of the 90 samples");
    rb_covariates_free(other);
    assert_ok(w->ctx, rb_options_set(w->ctx, w->options, "methods", "pca,,rfn"));
    refused(w, NULL, RB_ERROR_ARGUMENT, "`methods` has ''");
    assert_ok(w->ctx, rb_options_set(w->ctx, w->options, "methods", "pca"));
    assert_ok(w->ctx, rb_options_set(w->ctx, w->options, "folds", "1"));
    refused(w, NULL, RB_ERROR_ARGUMENT, "`folds` is 1");
    w->values[3] = NAN;
    refused(w, NULL, RB_ERROR_DATA, "`missing=mean`");
    rb_context_stop(w->ctx);
    refused(w, NULL, RB_ERROR_STOPPED, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(puts_methods_on_one_scale),
        cmocka_unit_test(gives_the_same_bits_on_any_threads),
        cmocka_unit_test(does_without_folds),
        cmocka_unit_test(says_what_is_left_out),
        cmocka_unit_test(sums_up_what_differences_mean),
        cmocka_unit_test(says_that_nothing_is_predicted),
        cmocka_unit_test(refuses),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, teardown);
}
