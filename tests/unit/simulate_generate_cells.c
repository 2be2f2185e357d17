/* Counts of cells: moments against the model's, who is planted, shares of types. */
#include "fixture.h"

#include "data/data.h"
#include "simulate/simulate.h"

#include <math.h>

static rb_cells_plan plan_of(int64_t n, int64_t m) {
    return (rb_cells_plan){.n_samples = n,
                           .n_features = m,
                           .shares = {0.8, 0.195, 0.005},
                           .n_types = 3,
                           .counts = 3000,
                           .probability = 0.2,
                           .location = 1,
                           .scale = 0.3,
                           .seed = 5};
}

/* Cells have whole counts, as many as the plan says; types their shares, a rare one at least one
 * cell. */
static void counts_and_types(void **state) {
    rb_context *ctx = *state;
    rb_cells_plan plan = plan_of(200, 300);
    rb_matrix *matrix;
    rb_modules *planted;
    double total = 0;
    assert_ok(ctx, rb_generate_cells(ctx, &plan, &matrix, &planted));
    const double *counts = matrix->values;
    for (int64_t e = 0; e < 200 * 300; e++) {
        assert_true(counts[e] >= 0 && counts[e] == floor(counts[e]));
        total += counts[e];
    }
    assert_true(fabs(total / 200 - 3000) < 5 * 3000 * 0.3 / sqrt(200));
    assert_int_equal(planted->count, 3);
    assert_int_equal(planted->list[0].n_samples, 160);
    assert_int_equal(planted->list[1].n_samples, 39);
    assert_int_equal(planted->list[2].n_samples, 1);
    rb_modules_free(planted);
    rb_matrix_free(matrix);
}

static double mean_in(const rb_matrix *matrix, const rb_module *cells, int64_t gene) {
    double sum = 0;
    for (int64_t i = 0; i < cells->n_samples; i++)
        sum += rb_matrix_at(matrix, cells->samples[i].index, gene);
    return sum / (double)cells->n_samples;
}

/* The genes of a type are more in its cells: the mean over them, factor e on average. */
static void genes_of_a_type(void **state) {
    rb_context *ctx = *state;
    rb_cells_plan plan = plan_of(400, 300);
    rb_matrix *matrix;
    rb_modules *planted;
    assert_ok(ctx, rb_generate_cells(ctx, &plan, &matrix, &planted));
    const rb_module *type = &planted->list[1];
    double own = 0, others = 0;
    for (int64_t k = 0; k < type->n_features; k++) {
        own += mean_in(matrix, type, type->features[k].index);
        others += mean_in(matrix, &planted->list[0], type->features[k].index);
    }
    assert_in_range(type->n_features, 10, 60); /* 300 * 0.2 / 2 = 30 expected */
    assert_true(own > 1.5 * others);
    rb_modules_free(planted);
    rb_matrix_free(matrix);
}

/* No allocation that fails leaves anything behind. */
static void no_memory(void **state) {
    rb_context *ctx = *state;
    rb_cells_plan plan = plan_of(5, 6);
    rb_matrix *matrix;
    rb_modules *planted;
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t k = 0; err == RB_ERROR_MEMORY && k < 100; k++) {
        ctx->allocations_left = k;
        err = rb_generate_cells(ctx, &plan, &matrix, &planted);
        ctx->allocations_left = -1;
        if (err) assert_true(!matrix && !planted);
    }
    assert_int_equal(err, RB_OK);
    rb_modules_free(planted);
    rb_matrix_free(matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_and_types),
        cmocka_unit_test(genes_of_a_type),
        cmocka_unit_test(no_memory),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
