/* Codes of units against covariates, over the n samples that have a value.
 *
 * Numbers: Spearman's rho, the correlation of the ranks (equal numbers share the mean of theirs).
 * t = rho sqrt((n - 2) / (1 - rho^2)) has about Student's distribution with n - 2 degrees of
 * freedom (M. Kendall, "Rank correlation methods", 1948). For n up to EXACT all orders of the
 * ranks are counted. Of n! orders at least those count that only exchange equal numbers: no
 * p-value is smaller than their share.
 *
 * Groups: H of Kruskal and Wallis (ranks.c).
 *
 * Explained is eta^2 = SS_between / SS_total of the codes themselves; adjusted it is epsilon^2 of
 * T. Kelley, "An unbiased correlation ratio measure", PNAS 21 (1935),
 *     1 - (SS_within / (n - groups)) / (SS_total / (n - 1)).
 * For numbers SS_between is that of the straight line, with groups = 2: r^2, and adjusted r^2.
 */
#include "modules.h"

#include <math.h>

enum { EXACT = 8 };

/* What is tested at the moment. */
typedef struct sampling {
    rb_context *ctx;
    int64_t n_samples;
    double *codes; /* n_samples: of the unit */
    int64_t n;     /* of these, samples that have a value of the covariate */
    double *x;     /* n codes */
    double *y;     /* n numbers */
    int64_t *group;
    int64_t n_groups;    /* of the covariate */
    rb_ranking of_codes; /* their ranks */
    rb_ranking of_numbers;
    double *rank_sum, *sum, *count; /* of each group */
} sampling;

/* ---- numbers ---- */

/* The next order of n entries by B. Heap's algorithm (1963), whose place in it is `state`, zeros at
 * first; false after the last one. */
static bool next_order(double *entries, int64_t *state, int64_t n) {
    int64_t i = 1;
    while (i < n && state[i] >= i)
        state[i++] = 0;
    if (i >= n) return false;
    int64_t other = i % 2 ? state[i] : 0;
    double swapped = entries[other];
    entries[other] = entries[i];
    entries[i] = swapped;
    state[i]++;
    return true;
}

/* The share of the orders of b that correlate with a as much as the given one does. */
static double share_of_orders(const double *a, const double *b, int64_t n) {
    double order[EXACT], mean = 0.5 * (double)(n + 1); /* of ranks */
    int64_t state[EXACT] = {0};
    double observed = 0, extreme = 0, orders = 0;
    for (int64_t i = 0; i < n; i++) {
        order[i] = b[i];
        observed += a[i] * (b[i] - mean);
    }
    do {
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            sum += a[i] * (order[i] - mean);
        extreme += fabs(sum) >= fabs(observed) - 1e-6; /* sums of quarters */
        orders++;
    } while (next_order(order, state, n));
    return extreme / orders;
}

/* The logarithm of the share of all orders that only exchange equal numbers. */
static double log_least(const rb_ranking *r) {
    double sum = -r->log_factorial[r->n];
    for (int64_t first = 0, end; first < r->n; first = end) {
        end = first + 1;
        while (end < r->n && r->order[end].value == r->order[first].value)
            end++;
        sum += r->log_factorial[end - first];
    }
    return sum;
}

static double spearman_log_p(const sampling *s, double rho) {
    const double *a = s->of_codes.ranks, *b = s->of_numbers.ranks;
    if (s->n <= EXACT) return log(share_of_orders(a, b, s->n));
    double t = rho * sqrt((double)(s->n - 2) / (1 - rho * rho));
    double least = fmax(log_least(&s->of_codes), log_least(&s->of_numbers));
    return fmax(rb_log_student_tail(t, (double)(s->n - 2)), least);
}

/* The share of the variance, and without what chance gives to so many groups. */
static void explain(const sampling *s, double explained, int64_t groups, rb_covariate_test *test) {
    double n = (double)s->n;
    test->explained = explained;
    test->explained_adjusted =
        s->n > groups ? 1 - (1 - explained) * (n - 1) / (n - (double)groups) : NAN;
}

static void test_numbers(sampling *s, rb_covariate_test *test) {
    rb_ranking_set(&s->of_codes, s->x, s->n);
    rb_ranking_set(&s->of_numbers, s->y, s->n);
    bool varies = s->of_codes.most.count < s->n && s->of_numbers.most.count < s->n;
    if (s->n < 3 || !varies) return;
    double r = rb_correlation(s->n, s->x, 1, s->y, 1);
    test->statistic = rb_correlation(s->n, s->of_codes.ranks, 1, s->of_numbers.ranks, 1);
    test->log10_p_value = spearman_log_p(s, test->statistic);
    explain(s, r * r, 2, test);
}

/* ---- groups ---- */

/* Sums by group; how many groups there are among the samples at hand. */
static int64_t sum_groups(sampling *s) {
    int64_t there = 0;
    for (int64_t g = 0; g < s->n_groups; g++)
        s->rank_sum[g] = s->sum[g] = s->count[g] = 0;
    for (int64_t i = 0; i < s->n; i++) {
        int64_t g = s->group[i];
        there += s->count[g] == 0;
        s->count[g]++;
        s->rank_sum[g] += s->of_codes.ranks[i];
        s->sum[g] += s->x[i];
    }
    return there;
}

static void test_groups(sampling *s, rb_covariate_test *test) {
    rb_ranking_set(&s->of_codes, s->x, s->n);
    int64_t groups = test->groups = sum_groups(s);
    bool varies = s->of_codes.most.count < s->n && groups > 1;
    if (s->n < 3 || !varies || groups == s->n) return;
    double between = 0, mean = 0, total = 0;
    for (int64_t i = 0; i < s->n; i++)
        mean += s->x[i] / (double)s->n;
    for (int64_t i = 0; i < s->n; i++)
        total += (s->x[i] - mean) * (s->x[i] - mean);
    for (int64_t g = 0; g < s->n_groups; g++) {
        double code = s->count[g] > 0 ? s->sum[g] / s->count[g] - mean : 0;
        between += s->count[g] * code * code;
    }
    test->statistic =
        rb_ranking_groups(&s->of_codes, s->n_groups, s->rank_sum, s->count, &test->log10_p_value);
    explain(s, total > 0 ? fmin(1, between / total) : NAN, groups, test);
}

/* ---- all of it ---- */

static void take_samples(sampling *s, const rb_covariate *c) {
    s->n = 0;
    s->n_groups = c->values ? 0 : c->groups.n_classes;
    for (int64_t i = 0; i < s->n_samples; i++) {
        if (c->values ? isnan(c->values[i]) : c->groups.class_of[i] < 0) continue;
        s->x[s->n] = s->codes[i];
        s->y[s->n] = c->values ? c->values[i] : 0;
        s->group[s->n++] = c->values ? 0 : c->groups.class_of[i];
    }
}

static void test_pair(sampling *s, const rb_covariate *c, rb_covariate_test *test) {
    take_samples(s, c);
    test->samples = s->n;
    test->statistic = test->log10_p_value = NAN;
    test->explained = test->explained_adjusted = NAN;
    (c->values ? test_numbers : test_groups)(s, test);
}

rb_error rb_codes_check(rb_context *ctx, const rb_covariates *table, const rb_matrix *codes) {
    if (codes->sparse || codes->n_samples != table->n_samples) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the codes must be dense and of %lld samples, as the covariates are",
                       (long long)table->n_samples);
    }
    for (int64_t i = 0; i < codes->n_samples; i++) {
        for (int64_t u = 0; u < codes->n_features; u++) {
            if (!isfinite(rb_matrix_at(codes, i, u))) {
                return rb_fail(ctx, RB_ERROR_DATA,
                               "the code of unit %lld in sample %lld (counted from %d) is not "
                               "finite",
                               (long long)rb_nth(ctx, u), (long long)rb_nth(ctx, i), ctx->first);
            }
        }
    }
    return RB_OK;
}

static rb_error adjust(rb_context *ctx, rb_covariate_tests *tests) {
    const rb_chance_rows rows = {&tests->rows->p_value, sizeof *tests->rows, tests->n_rows};
    for (int64_t i = 0; i < tests->n_rows; i++)
        tests->n_tests += !isnan(tests->rows[i].log10_p_value);
    return rb_chances_adjust(ctx, &rows, 0);
}

static rb_error test_all(sampling *s, const rb_covariates *table, const rb_matrix *codes,
                         rb_covariate_tests *tests) {
    rb_error err = RB_OK;
    int64_t n_units = codes->n_features;
    for (int64_t u = 0; u < n_units && !err; u++) {
        err = rb_check_stop(s->ctx);
        for (int64_t i = 0; i < s->n_samples; i++)
            s->codes[i] = rb_matrix_at(codes, i, u);
        for (int64_t c = 0; c < table->count && !err; c++) {
            rb_covariate_test *row = &tests->rows[c * n_units + u];
            *row = (rb_covariate_test){.unit = u, .covariate = c};
            test_pair(s, rb_covariates_column(table, c), row);
        }
    }
    return err ? err : adjust(s->ctx, tests);
}

static int64_t most_groups(const rb_covariates *table) {
    int64_t most = 0;
    for (int64_t c = 0; c < table->count; c++) {
        int64_t groups = rb_covariates_groups(table, c);
        most = groups > most ? groups : most;
    }
    return most;
}

rb_error rb_covariates_test(rb_context *ctx, const rb_covariates *table, const rb_matrix *codes,
                            rb_covariate_tests *tests) {
    int64_t n = table->n_samples, groups = most_groups(table);
    rb_error err = rb_size_check(ctx, "the tests", tests->size, sizeof *tests);
    if (err) return err;
    *tests = (rb_covariate_tests){.size = sizeof *tests};
    err = rb_codes_check(ctx, table, codes);
    if (err) return err;
    rb_scratch scratch = {.ctx = ctx};
    sampling s = {.ctx = ctx, .n_samples = n};
    s.codes = rb_take(&scratch, n, sizeof *s.codes);
    s.x = rb_take(&scratch, n, sizeof *s.x);
    s.y = rb_take(&scratch, n, sizeof *s.y);
    s.group = rb_take(&scratch, n, sizeof *s.group);
    s.rank_sum = rb_take(&scratch, groups, sizeof *s.rank_sum);
    s.sum = rb_take(&scratch, groups, sizeof *s.sum);
    s.count = rb_take(&scratch, groups, sizeof *s.count);
    tests->n_rows = table->count * codes->n_features;
    tests->rows = scratch.err ? NULL : rb_alloc(ctx, tests->n_rows, sizeof *tests->rows);
    err = tests->rows ? rb_ranking_begin(ctx, &s.of_codes, n) : RB_ERROR_MEMORY;
    err = err ? err : rb_ranking_begin(ctx, &s.of_numbers, n);
    scratch.err = err ? err : test_all(&s, table, codes, tests);
    rb_ranking_clear(&s.of_codes);
    rb_ranking_clear(&s.of_numbers);
    err = rb_scratch_end(&scratch);
    if (err) rb_covariate_tests_clear(tests);
    return err;
}

void rb_covariate_tests_clear(rb_covariate_tests *tests) {
    rb_free(tests->rows);
    *tests = (rb_covariate_tests){.size = tests->size};
}
