/* Codes against covariates: what statistics are by their definitions, missing values left out, and
 * where there is nothing to test. tests/differential/statistics.py has scipy's numbers. */
#include "../context.h"
#include "modules/modules.h"

static rb_matrix *codes_of(const double *values, int64_t n, int64_t units) {
    rb_matrix *codes;
    assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, n, units, values, units, 1, &codes));
    return codes;
}

static rb_covariates *table_of(int64_t n) {
    rb_covariates *table;
    assert_ok(ctx, rb_covariates_new(ctx, n, &table));
    return table;
}

/* The tests of one covariate against one unit. */
static rb_covariate_test test_one(const rb_covariates *table, const double *code, int64_t n) {
    rb_covariate_tests tests = {.size = sizeof tests};
    rb_matrix *codes = codes_of(code, n, 1);
    assert_ok(ctx, rb_covariates_test(ctx, table, codes, &tests));
    rb_covariate_test row = tests.rows[0];
    rb_covariate_tests_clear(&tests);
    rb_matrix_free(codes);
    return row;
}

static rb_covariate_test test_numbers(const double *code, const double *values, int64_t n) {
    rb_covariates *table = table_of(n);
    assert_ok(ctx, rb_covariates_add_numbers(ctx, table, "x", values));
    rb_covariate_test row = test_one(table, code, n);
    rb_covariates_free(table);
    return row;
}

static rb_covariate_test test_groups(const double *code, const char *const *groups, int64_t n) {
    rb_covariates *table = table_of(n);
    assert_ok(ctx, rb_covariates_add_groups(ctx, table, "x", groups));
    rb_covariate_test row = test_one(table, code, n);
    rb_covariates_free(table);
    return row;
}

/* ---- numbers ---- */

static double sum_of_products(const double *a, const int *order, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * (order[i] + 1);
    return sum;
}

/* Of few samples all orders are counted: rho = 1 - 6 sum d^2 / (n^3 - n) for each of 5! = 120. */
static void few_samples_are_exact(void **state) {
    (void)state;
    enum { N = 5 };
    static const double code[N] = {0.1, 0.4, 0.2, 0.9, 0.5}, rank[N] = {1, 3, 2, 5, 4};
    int orders[120][N], count = 0;
    for (int c = 0; c < 3125; c++) {
        int order[N], used = 0;
        for (int i = 0, rest = c; i < N; i++, rest /= N)
            used |= 1 << (order[i] = rest % N);
        if (used == 31) memcpy(orders[count++], order, sizeof order);
    }
    assert_int_equal(count, 120);
    for (int o = 0; o < 120; o++) {
        double values[N], mean = 9 * N, squares = 0;
        int extreme = 0;
        for (int i = 0; i < N; i++) {
            values[i] = orders[o][i];
            squares += pow(rank[i] - orders[o][i] - 1, 2);
        }
        for (int other = 0; other < 120; other++)
            extreme += fabs(sum_of_products(rank, orders[other], N) - mean) >=
                       fabs(sum_of_products(rank, orders[o], N) - mean);
        rb_covariate_test row = test_numbers(code, values, N);
        assert_close(row.statistic, 1 - 6 * squares / (N * N * N - N), 1e-12);
        assert_close(row.p_value, extreme / 120.0, 1e-12);
    }
}

/* No p-value is below the share of the orders that keep all ranks: not 0 where rho is 1. */
static void a_perfect_correlation(void **state) {
    (void)state;
    enum { N = 12 };
    double code[N], values[N];
    for (int i = 0; i < N; i++) {
        code[i] = i * i;
        values[i] = -i;
    }
    rb_covariate_test row = test_numbers(code, values, N);
    assert_close(row.statistic, -1, 1e-12);
    assert_close(row.log10_p_value, -lgamma(N + 1) / log(10), 1e-12);
    assert_true(row.explained > 0.9 && row.explained < 1);
    for (int i = 0; i < N; i++)
        values[i] = i < N / 2; /* 12! / (6! 6!) different orders */
    row = test_numbers(values, values, N);
    assert_close(row.log10_p_value, -log10(924), 1e-12);
    assert_close(row.explained, 1, 1e-12);
}

/* ---- groups ---- */

/* H, and the shares of an analysis of variance, by their definitions. */
static void groups_by_definition(void **state) {
    (void)state;
    static const double code[] = {0, 0, 1, 3, 0, 2, 5, 4}; /* ranks 2 2 4 6 2 5 8 7 */
    static const char *const group[] = {"a", "a", "a", "b", "b", "c", "c", "c"};
    double h = 12.0 / (8 * 9) * (8 * 8 / 3.0 + 8 * 8 / 2.0 + 20 * 20 / 3.0) - 3 * 9;
    h /= 1 - 24.0 / (512 - 8);
    double mean = 15 / 8.0, total = 55 - 8 * mean * mean;
    double within = (1 - 3 * pow(1 / 3.0, 2)) + 4.5 + (45 - 3 * pow(11 / 3.0, 2));
    rb_covariate_test row = test_groups(code, group, 8);
    assert_int_equal(row.groups, 3);
    assert_int_equal(row.samples, 8);
    assert_close(row.statistic, h, 1e-12);
    assert_close(row.p_value, exp(-h / 2), 1e-12); /* two degrees of freedom */
    assert_close(row.explained, 1 - within / total, 1e-12);
    assert_close(row.explained_adjusted, 1 - (within / 5) / (total / 7), 1e-12);
}

/* ---- missing values, nothing to test ---- */

static void missing_values_are_left_out(void **state) {
    (void)state;
    static const double code[] = {3, 1, 9, 2, 7, 5, 4}, few[] = {3, 1, 2, 5, 4};
    static const double values[] = {1, 2, NAN, 5, NAN, 4, 9}, of_few[] = {1, 2, 5, 4, 9};
    static const char *const groups[] = {"a", "b", NULL, "a", "", "b", "b"};
    static const char *const groups_of_few[] = {"a", "b", "a", "b", "b"};
    rb_covariate_test row = test_numbers(code, values, 7), other = test_numbers(few, of_few, 5);
    assert_int_equal(row.samples, 5);
    assert_true(row.statistic == other.statistic && row.p_value == other.p_value);
    row = test_groups(code, groups, 7);
    other = test_groups(few, groups_of_few, 5);
    assert_int_equal(row.samples, 5);
    assert_true(row.statistic == other.statistic && row.explained == other.explained);
}

static void assert_nothing(rb_covariate_test row) {
    assert_true(isnan(row.statistic) && isnan(row.p_value) && isnan(row.fdr));
    assert_true(isnan(row.explained) && isnan(row.explained_adjusted));
}

static void nothing_to_test(void **state) {
    (void)state;
    static const double equal[] = {2, 2, 2, 2}, code[] = {1, 2, 3, 4};
    static const double two[] = {1, NAN, 2, NAN};
    static const char *const one[] = {"a", "a", "a", "a"}, *const all[] = {"a", "b", "c", "d"};
    static const char *const pairs[] = {"a", "a", "b", "b"};
    assert_nothing(test_numbers(equal, code, 4));
    assert_nothing(test_numbers(code, equal, 4));
    assert_nothing(test_numbers(code, two, 4));
    assert_nothing(test_groups(code, one, 4));
    assert_nothing(test_groups(code, all, 4));
    assert_nothing(test_groups(equal, pairs, 4));
    assert_true(test_groups(code, pairs, 4).p_value < 0.2);
}

/* Rows are units of the first covariate, of the second; the family is those with a p-value. */
static void a_family(void **state) {
    (void)state;
    static const double codes[] = {1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 9, 0}; /* 6 x 2: one is dead */
    static const double age[] = {1, 2, 3, 4, 6, 5}, weight[] = {5, 1, 2, 2, 7, 1};
    rb_covariates *table = table_of(6);
    rb_covariate_tests tests = {.size = sizeof tests};
    rb_matrix *matrix = codes_of(codes, 6, 2);
    assert_ok(ctx, rb_covariates_add_numbers(ctx, table, "age", age));
    assert_ok(ctx, rb_covariates_add_numbers(ctx, table, "weight", weight));
    assert_ok(ctx, rb_covariates_test(ctx, table, matrix, &tests));
    assert_int_equal(tests.n_rows, 4);
    assert_int_equal(tests.n_tests, 2);
    assert_true(tests.rows[2].unit == 0 && tests.rows[2].covariate == 1);
    assert_close(tests.rows[0].fdr, 2 * tests.rows[0].p_value, 1e-12);
    assert_close(tests.rows[2].fdr, tests.rows[2].p_value, 1e-12);
    assert_nothing(tests.rows[1]);
    rb_covariate_tests_clear(&tests);
    rb_matrix_free(matrix);
    rb_covariates_free(table);
}

/* ---- the table, classes ---- */

static void what_is_in_the_table(void **state) {
    (void)state;
    static const double values[] = {1, NAN, 3};
    static const char *const groups[] = {"b", "", "a"};
    const double infinite[] = {1, INFINITY, 2};
    rb_covariates *table = table_of(3);
    assert_ok(ctx, rb_covariates_add_numbers(ctx, table, "x", values));
    assert_ok(ctx, rb_covariates_add_groups(ctx, table, "g", groups));
    assert_int_equal(rb_covariates_add_numbers(ctx, table, "y", infinite), RB_ERROR_DATA);
    assert_int_equal(rb_covariates_count(table), 2);
    assert_string_equal(rb_covariates_name(table, 1), "g");
    assert_null(rb_covariates_name(table, 2));
    assert_int_equal(rb_covariates_missing(table, 0), 1);
    assert_int_equal(rb_covariates_groups(table, 0), 0);
    assert_int_equal(rb_covariates_groups(table, 1), 2);
    assert_string_equal(rb_covariates_group(table, 1, 0), "a");
    assert_null(rb_covariates_group(table, 1, 2));
    assert_null(rb_covariates_group(table, 0, 0));
    rb_covariates_free(table);
}

static void auc_of_groups(void **state) {
    (void)state;
    static const double values[] = {5, 1, 0, 2, 4, 1, 3, 9}; /* 4 x 2 */
    static const char *const groups[] = {"b", "", "a", "a"};
    rb_covariates *table = table_of(4);
    rb_group_aucs aucs = {.size = sizeof aucs};
    rb_matrix *codes = codes_of(values, 4, 2);
    assert_ok(ctx, rb_covariates_add_groups(ctx, table, "g", groups));
    assert_ok(ctx, rb_covariates_add_numbers(ctx, table, "x", values));
    assert_ok(ctx, rb_covariates_auc(ctx, table, 0, codes, &aucs));
    assert_true(aucs.n_groups == 2 && aucs.n_units == 2 && aucs.n_samples == 3);
    const rb_group_auc *a = aucs.rows, *b = aucs.rows + 2;
    assert_true(a[0].auc == 0 && a[1].auc == 0.75 && b[0].auc == 1 && b[1].auc == 0.25);
    assert_true(a[0].group_size == 2 && b[0].group_size == 1);
    assert_true(aucs.best[0] == 1 && aucs.best[1] == 0);
    assert_close(b[0].p_value, 2 / 3.0, 1e-12); /* exact: the first of three */
    rb_group_aucs_clear(&aucs);
    assert_int_equal(rb_covariates_auc(ctx, table, 1, codes, &aucs), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_covariates_auc(ctx, table, 2, codes, &aucs), RB_ERROR_ARGUMENT);
    rb_matrix_free(codes);
    rb_covariates_free(table);
}

/* ---- what a p-value says ---- */

/* The share of p-values of at most a level lies in the binomial interval of 4 standard
 * deviations. */
static void assert_share(const char *what, int64_t below, int64_t count, double level) {
    double share = (double)below / (double)count, sd = sqrt(level * (1 - level) / (double)count);
    if (fabs(share - level) > 4 * sd) fail_msg("%s: %g of p-values below %g", what, share, level);
}

/* Covariates that have nothing to do with the codes, of which two thirds are 0. */
static void p_values_are_calibrated(void **state) {
    (void)state;
    enum { N = 90, UNITS = 60, COLUMNS = 60 };
    static const char *const names[] = {"a", "b", "c"};
    static const double levels[] = {0.2, 0.05, 0.01};
    double *codes = calloc((size_t)N * UNITS, sizeof *codes), values[N];
    const char *groups[N];
    rb_draws draws = {.stream = {.seed = 11}};
    rb_covariates *table = table_of(N);
    rb_covariate_tests tests = {.size = sizeof tests};
    int64_t below[3][3] = {{0}}, count[3] = {0};
    for (int64_t e = 0; e < (int64_t)N * UNITS; e++)
        codes[e] = fmax(0, rb_draw_normal(&draws) - 0.4);
    rb_matrix *matrix = codes_of(codes, N, UNITS);
    for (int c = 0; c < 2 * COLUMNS; c++) {
        for (int i = 0; i < N; i++) {
            values[i] = rb_draw_normal(&draws);
            groups[i] = names[rb_draw_integer(&draws, 0, 2)];
        }
        assert_ok(ctx, c < COLUMNS ? rb_covariates_add_numbers(ctx, table, "x", values)
                                   : rb_covariates_add_groups(ctx, table, "g", groups));
    }
    assert_ok(ctx, rb_covariates_test(ctx, table, matrix, &tests));
    double adjusted = 0;
    for (int64_t r = 0; r < tests.n_rows; r++) {
        int kind = tests.rows[r].covariate >= COLUMNS;
        count[kind]++;
        adjusted += tests.rows[r].explained_adjusted / (double)tests.n_rows;
        for (int l = 0; l < 3; l++)
            below[kind][l] += tests.rows[r].p_value <= levels[l];
    }
    for (int c = COLUMNS; c < 2 * COLUMNS; c++) {
        rb_group_aucs aucs = {.size = sizeof aucs};
        assert_ok(ctx, rb_covariates_auc(ctx, table, c, matrix, &aucs));
        for (int64_t u = 0; u < UNITS; u++) { /* of one group: those of others go with it */
            count[2]++;
            for (int l = 0; l < 3; l++)
                below[2][l] += aucs.rows[u].p_value <= levels[l];
        }
        rb_group_aucs_clear(&aucs);
    }
    for (int l = 0; l < 3; l++) {
        assert_share("Spearman", below[0][l], count[0], levels[l]);
        assert_share("Kruskal and Wallis", below[1][l], count[1], levels[l]);
        assert_share("AUC", below[2][l], count[2], levels[l]);
    }
    assert_true(fabs(adjusted) < 0.002); /* what chance explains is taken off */
    rb_covariate_tests_clear(&tests);
    rb_matrix_free(matrix);
    rb_covariates_free(table);
    free(codes);
}

static void wrong_codes(void **state) {
    (void)state;
    const double values[] = {1, 2, NAN, 4};
    rb_covariates *table = table_of(4), *other = table_of(3);
    rb_covariate_tests tests = {.size = sizeof tests};
    rb_matrix *codes = codes_of(values, 4, 1);
    assert_int_equal(rb_covariates_test(ctx, table, codes, &tests), RB_ERROR_DATA);
    assert_int_equal(rb_covariates_test(ctx, other, codes, &tests), RB_ERROR_ARGUMENT);
    tests.size--;
    assert_int_equal(rb_covariates_test(ctx, table, codes, &tests), RB_ERROR_ARGUMENT);
    rb_matrix_free(codes);
    rb_covariates_free(table);
    rb_covariates_free(other);
}

static void no_memory(void **state) {
    (void)state;
    static const double values[] = {1, 2, 3, 4, 5, 7, 8, 6};
    static const char *const groups[] = {"a", "b", "a", "b"};
    rb_error err = RB_ERROR_MEMORY;
    int64_t n = 0;
    rb_matrix *codes = codes_of(values, 4, 2);
    for (; allow_allocations(ctx, n, err); n++) {
        rb_covariates *table = NULL;
        rb_covariate_tests tests = {.size = sizeof tests};
        rb_group_aucs aucs = {.size = sizeof aucs};
        err = rb_covariates_new(ctx, 4, &table);
        err = err ? err : rb_covariates_add_groups(ctx, table, "g", groups);
        err = err ? err : rb_covariates_add_numbers(ctx, table, "x", values);
        err = err ? err : rb_covariates_test(ctx, table, codes, &tests);
        err = err ? err : rb_covariates_auc(ctx, table, 0, codes, &aucs);
        rb_covariate_tests_clear(&tests);
        rb_group_aucs_clear(&aucs);
        rb_covariates_free(table);
    }
    assert_true(n > 30);
    rb_matrix_free(codes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_samples_are_exact),
        cmocka_unit_test(a_perfect_correlation),
        cmocka_unit_test(groups_by_definition),
        cmocka_unit_test(missing_values_are_left_out),
        cmocka_unit_test(nothing_to_test),
        cmocka_unit_test(a_family),
        cmocka_unit_test(what_is_in_the_table),
        cmocka_unit_test(auc_of_groups),
        cmocka_unit_test(p_values_are_calibrated),
        cmocka_unit_test(wrong_codes),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
