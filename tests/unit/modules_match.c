/* The consensus score against a count of cells in a table. */
#include "../errors.h"
#include "modules/modules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 12, FEATURES = 9, LARGEST = 5 };

static rb_member *members_of(rb_context *ctx, const int64_t *indices, int64_t count) {
    rb_member *members = rb_alloc(ctx, count, sizeof *members);
    for (int64_t d = 0; members && d < count; d++)
        members[d] = (rb_member){indices[d], 1};
    return members;
}

static rb_context *new_context(void) {
    rb_context *ctx;
    assert_int_equal(rb_context_create(&ctx), RB_OK);
    return ctx;
}

static int64_t draw_members(rb_context *ctx, rb_draws *draws, int64_t n, rb_member **members) {
    int64_t count = 0;
    *members = rb_alloc(ctx, n, sizeof **members);
    assert_non_null(*members);
    for (int64_t i = 0; i < n; i++)
        if (rb_draw_uniform(draws) < 0.4)
            (*members)[count++] = (rb_member){i, rb_draw_normal(draws)};
    rb_members_sort(*members, count); /* by weight: indices do not ascend */
    return count;
}

static rb_modules *random_modules(rb_context *ctx, rb_draws *draws, int64_t count) {
    rb_modules *modules;
    assert_int_equal(rb_modules_new(ctx, count, &modules), RB_OK);
    for (int64_t r = 0; r < count; r++) {
        rb_module *m = &modules->list[r];
        m->n_samples = draw_members(ctx, draws, SAMPLES, &m->samples);
        m->n_features = draw_members(ctx, draws, FEATURES, &m->features);
    }
    return modules;
}

static void fill_cells(const rb_module *m, bool cells[SAMPLES][FEATURES]) {
    for (int64_t i = 0; i < m->n_samples; i++)
        for (int64_t k = 0; k < m->n_features; k++)
            cells[m->samples[i].index][m->features[k].index] = true;
}

static double jaccard(const rb_module *a, const rb_module *b) {
    bool x[SAMPLES][FEATURES] = {{false}}, y[SAMPLES][FEATURES] = {{false}};
    int both = 0, either = 0;
    fill_cells(a, x);
    fill_cells(b, y);
    for (int i = 0; i < SAMPLES; i++) {
        for (int k = 0; k < FEATURES; k++) {
            both += x[i][k] && y[i][k];
            either += x[i][k] || y[i][k];
        }
    }
    return either ? (double)both / either : 0;
}

/* The largest sum of indices over all ways to pair truth `t` and on with found ones not yet
 * taken. */
static double best_sum(const rb_modules *found, const rb_modules *truth, int64_t t,
                       unsigned taken) {
    if (t == truth->count) return 0;
    double best = best_sum(found, truth, t + 1, taken);
    for (int64_t f = 0; f < found->count; f++) {
        if (!(taken & 1U << f)) {
            double here = jaccard(&found->list[f], &truth->list[t]);
            best = fmax(best, here + best_sum(found, truth, t + 1, taken | 1U << f));
        }
    }
    return best;
}

/* Of the modules of a, the largest index with one of b. */
static double mean_largest(const rb_modules *a, const rb_modules *b) {
    double sum = 0;
    for (int64_t i = 0; i < a->count; i++) {
        double largest = 0;
        for (int64_t j = 0; j < b->count; j++)
            largest = fmax(largest, jaccard(&a->list[i], &b->list[j]));
        sum += largest / (double)a->count;
    }
    return sum;
}

/* Score, overlaps and partners agree with cells counted one by one. */
static void score_by_brute_force(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_draws draws = {.stream = {.seed = 4}};
    for (int64_t n_found = 0; n_found <= LARGEST; n_found++) {
        for (int64_t n_truth = 1; n_truth <= LARGEST; n_truth++) {
            rb_modules *found = random_modules(ctx, &draws, n_found);
            rb_modules *truth = random_modules(ctx, &draws, n_truth);
            rb_match match = {.size = sizeof match};
            assert_int_equal(rb_modules_match(ctx, found, truth, &match), RB_OK);
            int64_t larger = n_found > n_truth ? n_found : n_truth;
            double best = best_sum(found, truth, 0, 0), sum = 0;
            assert_true(fabs(match.consensus_score - best / (double)larger) < 1e-12);
            assert_true(fabs(match.recovery - mean_largest(truth, found)) < 1e-12);
            assert_true(fabs(match.relevance - mean_largest(found, truth)) < 1e-12);
            assert_int_equal(match.n_truth, n_truth);
            for (int64_t t = 0; t < n_truth; t++) {
                int64_t f = match.partner[t];
                double here = f < 0 ? 0 : jaccard(&found->list[f], &truth->list[t]);
                assert_true(fabs(match.overlap[t] - here) < 1e-12);
                sum += match.overlap[t];
            }
            assert_true(fabs(sum - best) < 1e-12);
            rb_match_clear(&match);
            rb_modules_free(found);
            rb_modules_free(truth);
        }
    }
    rb_context_free(ctx);
}

/* Modules agree with themselves in any order: score 1, and each has itself as its partner. */
static void itself_in_another_order(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_draws draws = {.stream = {.seed = 9}};
    rb_modules *truth = random_modules(ctx, &draws, 4);
    rb_module turned[4];
    for (int r = 0; r < 4; r++)
        turned[r] = truth->list[(r + 1) % 4];
    rb_modules found = {.list = turned, .count = 4};
    rb_match match = {.size = sizeof match};
    assert_int_equal(rb_modules_match(ctx, &found, truth, &match), RB_OK);
    assert_true(match.consensus_score == 1);
    for (int t = 0; t < 4; t++) {
        assert_int_equal(match.partner[t], (t + 3) % 4);
        assert_true(match.overlap[t] == 1);
    }
    rb_match_clear(&match);
    rb_modules_free(truth);
    rb_context_free(ctx);
}

static rb_modules *one_module(rb_context *ctx, int64_t sample, int64_t n_samples) {
    rb_modules *modules;
    assert_int_equal(rb_modules_new(ctx, 1, &modules), RB_OK);
    modules->list[0].samples = members_of(ctx, &sample, n_samples);
    modules->list[0].features = members_of(ctx, &sample, 1);
    modules->list[0].n_samples = n_samples;
    modules->list[0].n_features = 1;
    return modules;
}

/* Nothing in common: score 0 and no partner, also where both are empty; huge indices cost
 * nothing. */
static void nothing_in_common(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    for (int64_t size = 0; size < 2; size++) {
        rb_modules *found = one_module(ctx, INT64_MAX, size), *truth = one_module(ctx, 3, size);
        rb_match match = {.size = sizeof match};
        assert_int_equal(rb_modules_match(ctx, found, truth, &match), RB_OK);
        assert_true(match.consensus_score == 0 && match.overlap[0] == 0);
        assert_int_equal(match.partner[0], -1);
        rb_match_clear(&match);
        rb_modules_free(found);
        rb_modules_free(truth);
    }
    rb_context_free(ctx);
}

/* Features are compared by their column in the data: of columns 2, 5 and 7 in use the second is
 * column 5. What the data do not have is refused. */
static void columns_and_sizes(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    int64_t columns[] = {2, 5, 7};
    rb_modules *found = one_module(ctx, 1, 1), *truth = one_module(ctx, 1, 1);
    found->column_of = rb_alloc(ctx, 3, sizeof *columns);
    memcpy(found->column_of, columns, sizeof columns);
    rb_match match = {.size = sizeof match};
    assert_int_equal(rb_modules_match(ctx, found, truth, &match), RB_OK);
    assert_true(match.consensus_score == 0);
    rb_match_clear(&match);
    truth->list[0].features[0].index = 5;
    assert_int_equal(rb_modules_match(ctx, found, truth, &match), RB_OK);
    assert_true(match.consensus_score == 1);
    rb_match_clear(&match);
    found->n_samples = 2;
    found->n_features = 5;
    assert_error(ctx, rb_modules_match(ctx, found, truth, &match), RB_ERROR_DATA,
                 "module 0 of the truth holds feature 5");
    rb_match_clear(&match);
    found->n_features = 6;
    found->n_samples = 1;
    assert_error(ctx, rb_modules_match(ctx, found, truth, &match), RB_ERROR_DATA,
                 "module 0 of the truth holds sample 1");
    rb_match_clear(&match);
    rb_modules_free(found);
    rb_modules_free(truth);
    rb_context_free(ctx);
}

static void no_memory(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_draws draws = {.stream = {.seed = 1}};
    rb_modules *found = random_modules(ctx, &draws, 3), *truth = random_modules(ctx, &draws, 2);
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
        rb_match match = {.size = sizeof match};
        err = rb_modules_match(ctx, found, truth, &match);
        if (err) {
            assert_null(match.overlap);
            assert_null(match.partner);
        } else {
            assert_true(n > 15);
            rb_match_clear(&match);
        }
    }
    rb_modules_free(found);
    rb_modules_free(truth);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(score_by_brute_force),
        cmocka_unit_test(itself_in_another_order),
        cmocka_unit_test(nothing_in_common),
        cmocka_unit_test(columns_and_sizes),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
