/* Planted data: sizes, members and moments are what the papers say. */
#include "../errors.h"
#include "simulate/simulate.h"

#include <math.h>
#include <string.h>

static rb_context *new_context(void) {
    rb_context *ctx;
    assert_int_equal(rb_context_create(&ctx), RB_OK);
    return ctx;
}

static void generate(rb_context *ctx, const rb_bicluster_plan *plan, rb_matrix **matrix,
                     rb_modules **planted) {
    assert_int_equal(rb_generate_biclusters(ctx, plan, matrix, planted), RB_OK);
}

/* Ascending, different, within 0 .. n - 1. */
static void assert_members(const rb_member *members, int64_t count, int64_t n) {
    for (int64_t d = 0; d < count; d++) {
        assert_true(members[d].index >= 0 && members[d].index < n);
        assert_true(d == 0 || members[d - 1].index < members[d].index);
    }
}

static void assert_between(int64_t value, int64_t low, int64_t high) {
    assert_true(value >= low && value <= high);
}

/* D1-D9: (large, small) = (10, 10), (15, 5), (5, 15); noise 1, 5, 10; sizes 20-30 and 3-8 with
 * every end reached over many seeds. */
static void rfn_sizes(void **state) {
    (void)state;
    static const int64_t large[] = {10, 10, 10, 15, 15, 15, 5, 5, 5};
    static const double noise[] = {1, 5, 10, 1, 5, 10, 1, 5, 10};
    rb_context *ctx = new_context();
    int64_t seen[101] = {0};
    for (int dataset = 1; dataset <= 9; dataset++) {
        for (uint64_t seed = 0; seed < 10; seed++) {
            rb_matrix *m;
            rb_modules *planted;
            rb_bicluster_plan plan = rb_plan_rfn(dataset, 0.01, 100, 100);
            plan.seed = seed;
            assert_true(plan.noise_sd == noise[dataset - 1]);
            generate(ctx, &plan, &m, &planted);
            assert_int_equal(planted->count, 20);
            for (int64_t b = 0; b < planted->count; b++) {
                const rb_module *c = &planted->list[b];
                bool is_large = b < large[dataset - 1];
                assert_between(c->n_samples, is_large ? 20 : 3, is_large ? 30 : 8);
                assert_between(c->n_features, is_large ? 20 : 3, is_large ? 30 : 8);
                assert_members(c->samples, c->n_samples, 100);
                assert_members(c->features, c->n_features, 100);
                seen[c->n_samples]++;
            }
            rb_modules_free(planted);
            rb_matrix_free(m);
        }
    }
    assert_true(seen[3] && seen[8] && seen[20] && seen[30]);
    rb_context_free(ctx);
}

/* Every sample belongs equally often: 4000 sets of 5 of 20, with and without replacement; counts
 * within 5 standard deviations of their mean. */
static void members_are_uniform(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    for (int replacement = 0; replacement < 2; replacement++) {
        rb_matrix *m;
        rb_modules *planted;
        rb_bicluster_plan plan = {.n_samples = 20,
                                  .n_features = 1,
                                  .groups = {{4000, 5, 5, 1, 1}},
                                  .replacement = replacement,
                                  .seed = 3};
        double count[20] = {0}, total = 0;
        generate(ctx, &plan, &m, &planted);
        for (int64_t b = 0; b < planted->count; b++) {
            for (int64_t d = 0; d < planted->list[b].n_samples; d++) {
                count[planted->list[b].samples[d].index]++;
                total++;
            }
        }
        /* With replacement a set of 5 draws holds 20 (1 - 0.95^5) = 4.524 different ones on
         * average. */
        assert_true(fabs(total / 4000 - (replacement ? 4.524 : 5)) < 0.05);
        for (int i = 0; i < 20; i++) {
            double share = total / 20 / 4000, sd = sqrt(4000 * share * (1 - share));
            assert_true(fabs(count[i] - 4000 * share) < 5 * sd);
        }
        rb_modules_free(planted);
        rb_matrix_free(m);
    }
    rb_context_free(ctx);
}

/* One bicluster, no noise, a constant feature vector: the entries of V are those of the sample
 * vector, with the law's mean and standard deviation inside and outside. */
static void entries_follow_the_law(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_matrix *m;
    rb_modules *planted;
    rb_bicluster_plan plan = {.n_samples = 20000,
                              .n_features = 1,
                              .groups = {{1, 10000, 10000, 1, 1}},
                              .sample_law = {.rest_sd = 0.5, .mean = 2, .sd = 1.5},
                              .feature_law = {.mean = 1},
                              .seed = 5};
    for (int sign = 0; sign < 2; sign++) {
        plan.sample_law.random_sign = sign;
        generate(ctx, &plan, &m, &planted);
        double sum[2] = {0}, squares[2] = {0};
        int64_t next = 0, negative = 0;
        for (int64_t i = 0; i < 20000; i++) {
            bool inside = next < 10000 && planted->list[0].samples[next].index == i;
            double v = rb_matrix_at(m, i, 0);
            sum[inside] += v;
            squares[inside] += v * v;
            negative += inside && v < 0;
            next += inside;
        }
        assert_int_equal(next, 10000);
        assert_true(fabs(sum[0] / 10000) < 5 * 0.5 / 100);
        assert_true(fabs(squares[0] / 10000 - 0.25) < 5 * 0.25 * sqrt(2) / 100);
        /* E x^2 = 4 + 2.25; its sd is sqrt(2 * 2.25^2 + 4 * 4 * 2.25) = 6.79. */
        assert_true(fabs(sum[1] / 10000 - (sign ? 0 : 2)) < 5 * 2.5 / 100);
        assert_true(fabs(squares[1] / 10000 - 6.25) < 5 * 6.79 / 100);
        /* P(N(2, 1.5^2) < 0) = 0.0912; with random sign 0.5. */
        assert_true(fabs((double)negative / 10000 - (sign ? 0.5 : 0.0912)) < 5 * 0.5 / 100);
        rb_modules_free(planted);
        rb_matrix_free(m);
    }
    rb_context_free(ctx);
}

/* V is the sum over biclusters plus noise: with nothing planted only noise of its sd is left, and
 * with the same seed the noise of two sd's differs by their ratio. */
static void noise_has_its_sd(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_matrix *m, *double_noise;
    rb_modules *planted;
    rb_bicluster_plan plan = {.n_samples = 200, .n_features = 100, .noise_sd = 3, .seed = 2};
    generate(ctx, &plan, &m, &planted);
    rb_modules_free(planted);
    plan.noise_sd = 6;
    generate(ctx, &plan, &double_noise, &planted);
    rb_modules_free(planted);
    double sum = 0, squares = 0;
    for (int64_t c = 0; c < 20000; c++) {
        double v = rb_matrix_at(m, c / 100, c % 100);
        sum += v;
        squares += v * v;
        assert_true(fabs(rb_matrix_at(double_noise, c / 100, c % 100) - 2 * v) < 1e-12);
    }
    assert_true(fabs(sum / 20000) < 5 * 3 / sqrt(20000));
    assert_true(fabs(squares / 20000 - 9) < 5 * 9 * sqrt(2 / 20000.0));
    rb_matrix_free(m);
    rb_matrix_free(double_noise);
    rb_context_free(ctx);
}

/* The mean square of the entries of D1 over 40 seeds, in set I and II. A vector's entry has mean P
 * and mean square 2 P + (1 - P) rest^2, where P is the chance to belong; entries of two vectors are
 * independent. */
static void rfn_second_moment(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    for (int set = 0; set < 2; set++) {
        double rest = set ? 0.5 : 0.01, squares = 0;
        for (uint64_t seed = 0; seed < 40; seed++) {
            rb_matrix *m;
            rb_modules *planted;
            rb_bicluster_plan plan = rb_plan_rfn(1, rest, 100, 100);
            plan.seed = seed;
            generate(ctx, &plan, &m, &planted);
            for (int64_t c = 0; c < 10000; c++) {
                double v = rb_matrix_at(m, c / 100, c % 100);
                squares += v * v / 40 / 10000;
            }
            rb_modules_free(planted);
            rb_matrix_free(m);
        }
        double large = 0.25, small = 0.055, mean = 10 * (large * large + small * small);
        double a = large * 2 + (1 - large) * rest * rest;
        double b = small * 2 + (1 - small) * rest * rest;
        double variance = 10 * (a * a - pow(large, 4)) + 10 * (b * b - pow(small, 4));
        assert_true(fabs(squares / (variance + mean * mean + 1) - 1) < 0.05);
    }
    rb_context_free(ctx);
}

/* FABIA: 10 biclusters of 5-24 samples and 10-209 features before doubles are dropped; noise 3. */
static void fabia_sizes(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    double samples = 0, features = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        rb_matrix *m;
        rb_modules *planted;
        rb_bicluster_plan plan = rb_plan_fabia(100, 1000);
        plan.seed = seed;
        assert_true(plan.noise_sd == 3);
        assert_int_equal(plan.groups[0].max_samples, 24);
        assert_int_equal(plan.groups[0].max_features, 209);
        generate(ctx, &plan, &m, &planted);
        assert_int_equal(planted->count, 10);
        for (int64_t b = 0; b < 10; b++) {
            const rb_module *c = &planted->list[b];
            assert_between(c->n_samples, 1, 24);
            assert_between(c->n_features, 1, 209);
            assert_members(c->samples, c->n_samples, 100);
            assert_members(c->features, c->n_features, 1000);
            samples += (double)c->n_samples / 200;
            features += (double)c->n_features / 200;
        }
        rb_modules_free(planted);
        rb_matrix_free(m);
    }
    /* Mean over s = 5 .. 24 of 100 (1 - 0.99^s) = 13.42, over f of 1000 (1 - 0.999^f) = 102.3; the
     * sd's of one bicluster are below 6 and 58, those of the mean of 200 below 0.43 and 4.1. */
    assert_true(fabs(samples - 13.42) < 5 * 0.43);
    assert_true(fabs(features - 102.3) < 5 * 4.1);
    rb_context_free(ctx);
}

/* The same seed gives the same bits, another one others; sizes follow the shape down to one
 * sample. */
static void seed_and_shape(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_matrix *m[3];
    rb_modules *planted;
    for (int r = 0; r < 3; r++) {
        rb_bicluster_plan plan = rb_plan_rfn(5, 0.5, 60, 40);
        plan.seed = r == 2;
        generate(ctx, &plan, &m[r], &planted);
        for (int64_t b = 0; b < 15; b++) {
            assert_between(planted->list[b].n_samples, 12, 18);
            assert_between(planted->list[b].n_features, 8, 12);
        }
        rb_modules_free(planted);
    }
    size_t bytes = 60 * 40 * sizeof(double);
    assert_memory_equal(m[0]->values, m[1]->values, bytes);
    assert_true(memcmp(m[0]->values, m[2]->values, bytes) != 0);
    for (int r = 0; r < 3; r++)
        rb_matrix_free(m[r]);
    rb_bicluster_plan tiny[] = {rb_plan_rfn(1, 0.01, 1, 1), rb_plan_fabia(1, 1)};
    for (int r = 0; r < 2; r++) {
        generate(ctx, &tiny[r], &m[0], &planted);
        assert_int_equal(planted->list[0].n_samples, 1);
        rb_modules_free(planted);
        rb_matrix_free(m[0]);
    }
    rb_context_free(ctx);
}

static void no_memory(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_bicluster_plan plan = rb_plan_rfn(1, 0.01, 30, 20);
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
        rb_matrix *m;
        rb_modules *planted;
        err = rb_generate_biclusters(ctx, &plan, &m, &planted);
        if (err) {
            assert_null(m);
            assert_null(planted);
        } else {
            assert_true(n > 40);
            rb_modules_free(planted);
            rb_matrix_free(m);
        }
    }
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rfn_sizes),        cmocka_unit_test(members_are_uniform),
        cmocka_unit_test(noise_has_its_sd), cmocka_unit_test(entries_follow_the_law),
        cmocka_unit_test(fabia_sizes),      cmocka_unit_test(rfn_second_moment),
        cmocka_unit_test(seed_and_shape),   cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
