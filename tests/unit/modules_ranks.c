/* Sums of ranks against every choice of the marked numbers: exact where it says so, near where one
 * value is that of most, and far better there than a normal sum. */
#include "../context.h"
#include "modules/modules.h"

/* The two-sided p-value by all choices of `size` among n: bits of a mask. */
static double by_choices(const double *ranks, int n, int size, double sum) {
    double larger = 0, smaller = 0, all = 0;
    for (uint32_t mask = 0; mask < 1U << n; mask++) {
        if (__builtin_popcount(mask) != size) continue;
        double of_mask = 0;
        for (int i = 0; i < n; i++)
            of_mask += mask >> i & 1 ? ranks[i] : 0;
        larger += of_mask >= sum - 1e-9;
        smaller += of_mask <= sum + 1e-9;
        all++;
    }
    return fmin(1, 2 * fmin(larger, smaller) / all);
}

static double test_sum(rb_ranking *r, int size, double sum) {
    double log_p;
    assert_ok(ctx, rb_ranking_test(r, size, sum, &log_p));
    return exp(log_p);
}

/* No two numbers are equal: every sum, of few marked ones and of all but few. */
static void exact_without_ties(void **state) {
    (void)state;
    enum { N = 13 };
    rb_ranking r;
    double values[N];
    for (int i = 0; i < N; i++)
        values[i] = (i * 5 % N) - 3.5;
    assert_ok(ctx, rb_ranking_begin(ctx, &r, N));
    rb_ranking_set(&r, values, N);
    for (int size = 1; size < N; size++) {
        int least = size * (size + 1) / 2;
        for (int sum = least; sum <= least + size * (N - size); sum++) {
            double p = by_choices(r.ranks, N, size, sum);
            assert_close(test_sum(&r, size, sum), p, 1e-12);
        }
    }
    rb_ranking_clear(&r);
}

/* The same numbers in a shorter list: nothing of the longer one is left. */
static void lists_of_other_lengths(void **state) {
    (void)state;
    const double values[] = {5, 1, 4, 2, 3};
    rb_ranking r;
    assert_ok(ctx, rb_ranking_begin(ctx, &r, 5));
    for (int n = 5; n >= 3; n--) {
        rb_ranking_set(&r, values, n);
        assert_close(test_sum(&r, 2, 3), by_choices(r.ranks, n, 2, 3), 1e-12);
    }
    rb_ranking_clear(&r);
}

/* 17 of 20 numbers are 0: whatever the sum, the p-value is within a half of that of all choices.
 * That of a normal sum is wrong by more than a factor of 3. */
static void one_value_is_most(void **state) {
    (void)state;
    enum { N = 20, SIZE = 5 };
    const double others[] = {-2, 1, 2};
    double values[N] = {0}, worst = 0, far = 0;
    rb_ranking r;
    for (int i = 0; i < 3; i++)
        values[6 * i] = others[i];
    assert_ok(ctx, rb_ranking_begin(ctx, &r, N));
    rb_ranking_set(&r, values, N);
    assert_int_equal(r.most.count, 17);
    assert_int_equal(r.below.count, 1);
    for (int of = 0; of < 8; of++) { /* which of the three are marked; the rest are zeros */
        double sum = 0, k = SIZE, zeros = SIZE - __builtin_popcount((unsigned)of);
        for (int i = 0; i < 3; i++)
            sum += of >> i & 1 ? r.ranks[6 * i] : 0;
        sum += zeros * r.most.mean;
        double p = by_choices(r.ranks, N, SIZE, sum), got = test_sum(&r, SIZE, sum);
        double variance = k * (N - k) / 12 * (N + 1 - r.ties / (N * (N - 1)));
        double z = fmax(0, fabs(sum - k * (N + 1) / 2) - 0.5) / sqrt(variance);
        double normal = fmin(1, 2 * exp(rb_log_normal_tail(z)));
        worst = fmax(worst, fabs(log(got / p)));
        far = fmax(far, fabs(log(normal / p)));
    }
    if (worst > log(1.5) || far < log(3)) fail_msg("off by %g, normal %g", exp(worst), exp(far));
    rb_ranking_clear(&r);
}

/* Many of either kind, with ties and without: a normal sum, corrected by 1/2 for continuity. */
static void many_are_normal(void **state) {
    (void)state;
    enum { N = 40, SIZE = 18 };
    double values[N];
    for (int tied = 0; tied < 2; tied++) {
        rb_ranking r;
        double ties = 0;
        for (int i = 0; i < N; i++)
            values[i] = tied ? i / 4 : i;
        for (int i = 0; tied && i < N / 4; i++)
            ties += 4 * 4 * 4 - 4;
        assert_ok(ctx, rb_ranking_begin(ctx, &r, N));
        rb_ranking_set(&r, values, N);
        double variance = SIZE * (N - SIZE) / 12.0 * (N + 1 - ties / (N * (N - 1.0)));
        for (int off = -60; off <= 60; off += 15) {
            double z = (fmax(fabs((double)off), 0.5) - 0.5) / sqrt(variance);
            double got = test_sum(&r, SIZE, 0.5 * SIZE * (N + 1) + off);
            assert_close(got, erfc(z / sqrt(2)), 1e-9);
        }
        rb_ranking_clear(&r);
    }
}

/* 12 / (n (n + 1)) sum n_g (mean rank_g - (n + 1) / 2)^2 less ties, with groups of one and of none;
 * chi-square with one degree of freedom less than there are groups. */
static void groups_are_compared_by_the_formula(void **state) {
    (void)state;
    enum { N = 11, GROUPS = 4 };
    static const double values[N] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
    static const int group[N] = {0, 0, 0, 0, 2, 2, 2, 2, 2, 2, 3}; /* none of 1, one of 3 */
    double sums[GROUPS] = {0}, counts[GROUPS] = {0}, between = 0, log_p;
    rb_ranking r;
    assert_ok(ctx, rb_ranking_begin(ctx, &r, N));
    rb_ranking_set(&r, values, N);
    for (int i = 0; i < N; i++) {
        double rank = 0.5;
        for (int j = 0; j < N; j++)
            rank += values[j] < values[i] ? 1 : values[j] == values[i] ? 0.5 : 0;
        sums[group[i]] += rank;
        counts[group[i]]++;
    }
    for (int g = 0; g < GROUPS; g++)
        between += counts[g] > 0 ? pow(sums[g] - counts[g] * (N + 1) / 2, 2) / counts[g] : 0;
    double ties = 2 * (8 - 2) + (27 - 3); /* of 1, 3 and 5 */
    double h = 12.0 / (N * (N + 1)) * between / (1 - ties / (N * N * N - N));
    assert_close(rb_ranking_groups(&r, GROUPS, sums, counts, &log_p), h, 1e-12);
    assert_close(log_p, -h / 2, 1e-12);
    rb_ranking_clear(&r);
}

static void nothing_to_compare(void **state) {
    (void)state;
    const double equal[] = {2, 2, 2}, values[] = {1, 2, 3};
    rb_ranking r;
    assert_ok(ctx, rb_ranking_begin(ctx, &r, 3));
    rb_ranking_set(&r, equal, 3);
    assert_true(isnan(test_sum(&r, 1, 2)));
    rb_ranking_set(&r, values, 3);
    assert_true(isnan(test_sum(&r, 0, 0)) && isnan(test_sum(&r, 3, 6)));
    assert_true(rb_ranking_auc(&r, 1, 3) == 1 && rb_ranking_auc(&r, 1, 1) == 0);
    rb_ranking_clear(&r);
}

static void no_memory(void **state) {
    (void)state;
    const double values[] = {1, 2, 3, 4};
    rb_error err = RB_ERROR_MEMORY;
    int64_t n = 0;
    for (; allow_allocations(ctx, n, err); n++) {
        rb_ranking r;
        double log_p;
        err = rb_ranking_begin(ctx, &r, 4);
        if (err) continue;
        rb_ranking_set(&r, values, 4);
        err = rb_ranking_test(&r, 2, 3, &log_p);
        rb_ranking_clear(&r);
    }
    assert_int_equal(n, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_without_ties),
        cmocka_unit_test(lists_of_other_lengths),
        cmocka_unit_test(one_value_is_most),
        cmocka_unit_test(nothing_to_compare),
        cmocka_unit_test(groups_are_compared_by_the_formula),
        cmocka_unit_test(many_are_normal),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
