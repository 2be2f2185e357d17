/* The unit that marks a class: AUC against all pairs of samples, overlaps with modules,
 * and a class of one in a hundred that the largest class hides from modules. */
#include "../context.h"
#include "modules/modules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Classes of samples; names "0", "1", ... */
static rb_classes labels_of(const int64_t *class_of, int64_t n, int64_t n_classes) {
    static const char *const text[] = {"0", "1", "2", "3"};
    rb_names *names = rb_names_copy(ctx, text, n_classes);
    rb_classes labels = {.n_samples = n, .n_classes = n_classes, .text = names};
    labels.class_of = rb_alloc(ctx, n, sizeof *labels.class_of);
    assert_non_null(labels.class_of);
    assert_non_null(names);
    labels.names = (const char *const *)names->text;
    for (int64_t i = 0; i < n; i++) {
        labels.class_of[i] = class_of[i];
        labels.n_labelled += class_of[i] >= 0;
    }
    return labels;
}

/* Every pair of a sample of the class and one of another: larger 1, equal 1/2. */
static double auc_by_pairs(const float *codes, const int64_t *class_of, int64_t n, int64_t c) {
    double won = 0, pairs = 0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++) {
            if (class_of[i] == c && class_of[j] != c) {
                won += codes[i] > codes[j] ? 1 : codes[i] == codes[j] ? 0.5 : 0;
                pairs++;
            }
        }
    }
    return won / pairs;
}

/* Modules of units 0, 1, ... that hold every second of n samples. */
static rb_modules *every_second(int64_t units, int64_t n) {
    rb_modules *modules;
    assert_int_equal(rb_modules_new(ctx, units, &modules), RB_OK);
    for (int64_t u = 0; u < units; u++) {
        rb_module *m = &modules->list[u];
        m->unit = u;
        m->samples = rb_alloc(ctx, n, sizeof *m->samples);
        assert_non_null(m->samples);
        for (int64_t i = 0; i < n; i += 2)
            m->samples[m->n_samples++] = (rb_member){i, 1};
    }
    return modules;
}

/* The unit that marks a class. */
typedef struct class_unit {
    int64_t class_size, unit, overlap;
    double auc;
} class_unit;

static rb_error find_units(const rb_classes *labels, const rb_modules *modules,
                           const rb_matrix *codes, class_unit *best) {
    rb_group_aucs aucs = {.size = sizeof aucs};
    rb_covariates *table;
    rb_error err = rb_covariates_new(ctx, labels->n_samples, &table);
    err = err ? err : rb_covariates_add_classes(ctx, table, "class", labels);
    err = err ? err : rb_covariates_auc(ctx, table, 0, codes, &aucs);
    err = err ? err : rb_covariates_overlap(ctx, table, 0, modules, &aucs);
    for (int64_t c = 0; !err && c < aucs.n_groups; c++) {
        const rb_group_auc *row = aucs.rows + c * aucs.n_units + aucs.best[c];
        best[c] = (class_unit){row->group_size, aucs.best[c], row->overlap, row->auc};
    }
    rb_group_aucs_clear(&aucs);
    rb_covariates_free(table);
    return err;
}

/* By codes of units x labelled samples; the others have some that must not count. */
static rb_error class_units(const rb_classes *labels, const rb_modules *modules, int64_t units,
                            const float *codes, class_unit *best) {
    int64_t n = labels->n_samples, at = 0, left = ctx->allocations_left;
    float *values = calloc((size_t)(n * units), sizeof *values);
    rb_matrix *matrix;
    assert_non_null(values);
    for (int64_t i = 0; i < n; i++) {
        bool labelled = labels->class_of[i] >= 0;
        for (int64_t u = 0; u < units; u++)
            values[i * units + u] = labelled ? codes[u * labels->n_labelled + at] : -9;
        at += labelled;
    }
    ctx->allocations_left = -1;
    assert_int_equal(rb_matrix_dense(ctx, RB_FLOAT32, n, units, values, units, 1, &matrix), RB_OK);
    ctx->allocations_left = left;
    rb_error err = find_units(labels, modules, matrix, best);
    rb_matrix_free(matrix);
    free(values);
    return err;
}

/* Codes of few different values, so that most are equal to others; with and without signs. */
static void best_units_by_all_pairs(void **state) {
    (void)state;
    enum { N = 60, UNITS = 7, CLASSES = 4 };
    rb_draws draws = {.stream = {.seed = 4}};
    for (int trial = 0; trial < 20; trial++) {
        float codes[UNITS * N];
        int64_t class_of[N];
        bool signs = trial % 2;
        for (int64_t i = 0; i < N; i++)
            class_of[i] = i < CLASSES ? i : (int64_t)(rb_draw_uniform(&draws) * CLASSES);
        for (int64_t u = 0; u < UNITS; u++) {
            for (int64_t i = 0; i < N; i++) {
                double value = rb_draw_normal(&draws) + (class_of[i] == u % CLASSES) * (trial % 3);
                value = floor(2 * value);
                codes[u * N + i] = (float)(signs ? value : fmax(value, 0));
            }
        }
        rb_classes labels = labels_of(class_of, N, CLASSES);
        class_unit best[CLASSES];
        rb_modules *modules = every_second(UNITS, N);
        assert_int_equal(class_units(&labels, modules, UNITS, codes, best), RB_OK);
        rb_modules_free(modules);
        for (int64_t c = 0; c < CLASSES; c++) {
            double largest = -1;
            for (int64_t u = 0; u < UNITS; u++) {
                double auc = auc_by_pairs(codes + u * N, class_of, N, c);
                largest = fmax(largest, signs ? fabs(auc - 0.5) : auc);
            }
            const float *unit = codes + best[c].unit * N;
            double auc = auc_by_pairs(unit, class_of, N, c);
            assert_true(fabs(best[c].auc - auc) < 1e-12);
            assert_true(fabs((signs ? fabs(auc - 0.5) : auc) - largest) < 1e-12);
            int64_t within = 0;
            for (int64_t i = 0; i < N; i += 2) /* the module of each unit */
                within += class_of[i] == c;
            assert_int_equal(best[c].overlap, within);
        }
        rb_classes_clear(&labels);
    }
}

/* Samples without a class do not count: the codes are those of the others. One class alone has
 * nothing to be told from. */
static void samples_without_a_class(void **state) {
    (void)state;
    const int64_t class_of[] = {0, -1, 1, 0, -1, 1}, alone[] = {0, -1, 0, 0, -1, 0};
    const float codes[] = {3, 1, 2, 1};
    class_unit best[2];
    rb_classes labels = labels_of(class_of, 6, 2);
    rb_modules *modules = every_second(1, 6), *none = every_second(0, 6);
    assert_int_equal(class_units(&labels, modules, 1, codes, best), RB_OK);
    assert_true(best[0].unit == 0 && best[0].auc == 1 && best[0].overlap == 1);
    assert_true(best[1].unit == 0 && best[1].auc == 0 && best[1].overlap == 1); /* lowest */
    assert_int_equal(best[1].class_size, 2);
    rb_classes_clear(&labels);
    labels = labels_of(class_of, 6, 2);
    assert_int_equal(class_units(&labels, none, 1, codes, best), RB_OK);
    assert_int_equal(best[0].overlap, -1); /* the unit has no module */
    rb_classes_clear(&labels);
    labels = labels_of(alone, 6, 1);
    best[0].unit = -5;
    assert_int_equal(class_units(&labels, modules, 1, codes, best), RB_OK);
    assert_int_equal(best[0].unit, -5); /* untouched: nothing is tested */
    rb_classes_clear(&labels);
    modules->list[0].samples[0].index = 6;
    labels = labels_of(class_of, 6, 2);
    assert_int_equal(class_units(&labels, modules, 1, codes, best), RB_ERROR_DATA);
    rb_classes_clear(&labels);
    rb_modules_free(none);
    rb_modules_free(modules);
}

/* Where both sides of a unit are modules, the AUC says which one a class is counted in. */
static void overlaps_of_both_sides(void **state) {
    (void)state;
    const int64_t class_of[] = {0, 0, 1, 1, 0, 1};
    const float codes[] = {3, 2, -3, -2, -1, 1};
    for (int swapped = 0; swapped < 2; swapped++) {
        class_unit best[2];
        rb_modules *modules = every_second(2, 6);
        rb_classes labels = labels_of(class_of, 6, 2);
        for (int r = 0; r < 2; r++) {
            bool negative = r != swapped;
            rb_module *m = &modules->list[r];
            m->unit = 0;
            m->n_samples = 2;
            m->samples[0] = (rb_member){negative ? 2 : 0, negative ? -1 : 1};
            m->samples[1] = (rb_member){negative ? 4 : 5, negative ? -1 : 1};
        }
        assert_int_equal(class_units(&labels, modules, 1, codes, best), RB_OK);
        assert_true(best[0].auc > 0.5 && best[0].overlap == 1); /* sample 0, not 4 */
        assert_true(best[1].auc < 0.5 && best[1].overlap == 1); /* sample 2, not 5 */
        modules->list[swapped].samples[0].index = 1;
        modules->list[swapped].samples[1].index = 4;
        assert_int_equal(class_units(&labels, modules, 1, codes, best), RB_OK);
        assert_int_equal(best[0].overlap, 2);
        rb_classes_clear(&labels);
        rb_modules_free(modules);
    }
}

/* ---- a rare class ---- */

enum { SAMPLES = 5000, RARE = 50, RARE_UNITS = 3 };

/* Unit 1 is above 2 in the rare class alone, class 1, but above 0 in half of class 0 too. */
static float rare_code(int64_t sample, int64_t unit) {
    bool rare = sample % (SAMPLES / RARE) == 0;
    float noise = (float)(sample % 97) / 97;
    if (unit == 1) return rare ? 2 + noise : sample % 2 ? noise + 0.01F : 0;
    return sample % 3 == unit ? 1 + noise : 0;
}

static rb_error walk_rare(void *state, rb_context *c, rb_rows_fn fn, void *user) {
    rb_matrix *rows;
    assert_int_equal(
        rb_matrix_dense(c, RB_FLOAT32, SAMPLES, RARE_UNITS, state, RARE_UNITS, 1, &rows), RB_OK);
    int stop = fn(user, 0, rows);
    rb_matrix_free(rows);
    return stop ? RB_ERROR_MEMORY : RB_OK;
}

static void a_rare_class_is_found(void **state) {
    (void)state;
    static float by_sample[SAMPLES * RARE_UNITS], by_unit[SAMPLES * RARE_UNITS];
    static int64_t class_of[SAMPLES];
    const double loadings[RARE_UNITS] = {1, 1, 1}, noise[] = {1};
    for (int64_t i = 0; i < SAMPLES; i++) {
        class_of[i] = i % (SAMPLES / RARE) == 0 ? 1 : i % 2 ? 0 : 2;
        for (int64_t u = 0; u < RARE_UNITS; u++)
            by_sample[i * RARE_UNITS + u] = by_unit[u * SAMPLES + i] = rare_code(i, u);
    }
    rb_modules_input input = {.n_features = 1,
                              .n_units = RARE_UNITS,
                              .loadings = loadings,
                              .noise = noise,
                              .sparse_codes = true,
                              .walk = walk_rare,
                              .state = by_sample};
    rb_modules *modules;
    assert_int_equal(rb_modules_extract(ctx, &input, fixture_rule(), &modules), RB_OK);
    assert_string_equal(rb_modules_rule(modules), "nonzero");
    int64_t rare_in_module = 0, others_in_module = 0;
    for (int64_t r = 0; r < rb_modules_count(modules); r++) {
        const rb_module *m = rb_modules_get(modules, r);
        for (int64_t d = 0; m->unit == 1 && d < m->n_samples; d++) {
            rare_in_module += class_of[m->samples[d].index] == 1;
            others_in_module += class_of[m->samples[d].index] == 0;
        }
    }
    double log_factorial[SAMPLES + 1];
    for (int i = 0; i <= SAMPLES; i++)
        log_factorial[i] = lgamma(i + 1);
    /* The module of unit 1 is more enriched for the large class. */
    int64_t drawn = rare_in_module + others_in_module;
    assert_true(
        rb_log_hypergeometric_tail(log_factorial, SAMPLES, SAMPLES / 2, drawn, others_in_module) <
        rb_log_hypergeometric_tail(log_factorial, SAMPLES, RARE, drawn, rare_in_module));
    rb_classes labels = labels_of(class_of, SAMPLES, 3);
    class_unit best[3];
    assert_int_equal(class_units(&labels, modules, RARE_UNITS, by_unit, best), RB_OK);
    assert_int_equal(best[1].unit, 1);
    assert_true(best[1].auc == 1);
    assert_int_equal(best[1].overlap, RARE);
    rb_classes_clear(&labels);
    rb_modules_free(modules);
}

static void no_memory(void **state) {
    (void)state;
    const int64_t class_of[] = {0, 1};
    const float codes[] = {1, 0};
    class_unit best[2];
    rb_classes labels = labels_of(class_of, 2, 2);
    rb_modules *modules = every_second(1, 2);
    rb_error err = RB_ERROR_MEMORY;
    int64_t n = 0;
    for (; allow_allocations(ctx, n, err); n++)
        err = class_units(&labels, modules, 1, codes, best);
    assert_true(n > 3);
    rb_modules_free(modules);
    rb_classes_clear(&labels);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_units_by_all_pairs),
        cmocka_unit_test(samples_without_a_class),
        cmocka_unit_test(overlaps_of_both_sides),
        cmocka_unit_test(a_rare_class_is_found),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
