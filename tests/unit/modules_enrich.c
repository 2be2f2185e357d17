/* Modules against classes: the p-value by counting all draws, the rows by counting samples. */
#include "../errors.h"
#include "io/io.h"
#include "modules/modules.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rb_member *members_of(rb_context *ctx, const int64_t *indices, int64_t count) {
    rb_member *members = rb_alloc(ctx, count, sizeof *members);
    for (int64_t d = 0; members && d < count; d++)
        members[d] = (rb_member){indices[d], 1};
    return members;
}

static char path[] = "/tmp/rarebit-enrich-XXXXXX";

static rb_context *new_context(void) {
    rb_context *ctx;
    assert_int_equal(rb_context_create(&ctx), RB_OK);
    return ctx;
}

static void put_file(const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The modules and the classes of the file. */
static rb_error compare(rb_context *ctx, const rb_modules *modules, rb_source *source,
                        rb_enrichment *e) {
    rb_classes classes = {.size = sizeof classes};
    rb_error err = rb_classes_read(ctx, path, source, &classes);
    err = err ? err : rb_modules_enrichment(ctx, modules, &classes, e);
    rb_classes_clear(&classes);
    return err;
}

/* Samples named a, b, c, ...; their numbers do not matter. */
static rb_source *named_source(rb_context *ctx, int64_t n) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    rb_matrix *matrix;
    rb_source *source;
    assert_int_equal(rb_matrix_new_dense(ctx, RB_FLOAT64, n, 1, &matrix), RB_OK);
    assert_int_equal(rb_matrix_set_sample_names(ctx, matrix, names, n), RB_OK);
    assert_int_equal(rb_source_own_matrix(ctx, matrix, &source), RB_OK);
    return source;
}

static rb_modules *modules_of(rb_context *ctx, int64_t count, const int64_t (*samples)[4],
                              const int64_t *sizes) {
    rb_modules *modules;
    assert_int_equal(rb_modules_new(ctx, count, &modules), RB_OK);
    for (int64_t r = 0; r < count; r++) {
        modules->list[r].samples = members_of(ctx, samples[r], sizes[r]);
        modules->list[r].n_samples = sizes[r];
    }
    return modules;
}

static void fill_log_factorials(double *table, int n) {
    for (int i = 0; i <= n; i++)
        table[i] = lgamma(i + 1);
}

/* P(X >= overlap) over all ways to draw from up to 10, the first `marked` of which are marked. */
static void tail_by_enumeration(void **state) {
    (void)state;
    double log_factorial[11];
    fill_log_factorials(log_factorial, 10);
    for (int population = 1; population <= 10; population++) {
        for (int marked = 0; marked <= population; marked++) {
            double draws[11] = {0}, hits[11][11] = {{0}};
            for (unsigned set = 0; set < 1U << population; set++) {
                int drawn = __builtin_popcount(set);
                draws[drawn]++;
                hits[drawn][__builtin_popcount(set & ((1U << marked) - 1))]++;
            }
            for (int drawn = 0; drawn <= population; drawn++) {
                double expected = 0;
                for (int overlap = population; overlap >= 0; overlap--) {
                    expected += hits[drawn][overlap] / draws[drawn];
                    double tail = exp(rb_log_hypergeometric_tail(log_factorial, population, marked,
                                                                 drawn, overlap));
                    assert_true(fabs(tail - expected) < 1e-12);
                }
            }
        }
    }
}

/* Far tails keep their logarithm where the p-value itself is 0: 1000 of 1000 marked ones drawn out
 * of 100000 leave one way, 1 / C(100000, 1000). */
static void far_tail(void **state) {
    (void)state;
    enum { POPULATION = 100000 };
    double *log_factorial = malloc((POPULATION + 1) * sizeof *log_factorial);
    fill_log_factorials(log_factorial, POPULATION);
    double log_p = rb_log_hypergeometric_tail(log_factorial, POPULATION, 1000, 1000, 1000);
    double expected = lgamma(1001) + lgamma(99001) - lgamma(100001);
    assert_true(expected < -5000);
    assert_true(fabs(log_p - expected) < 1e-9 * fabs(expected));
    free(log_factorial);
}

/* Ten samples, h has no class, i is not in the file, z is not in the data. Module 0 = all B's and
 * one A. */
static void rows_are_counts(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    put_file(
        "cell\tclass\tcluster\nz\tB\t1\na\tA\t1\nb\tA\t2\nc\tA\t\nd\tB\t2\ne\tB\t\nf\tB\t3\ng\tC "
        "1\t3\r\nh\t\t4\n\nj\tC 1\t4\n");
    rb_source *source = named_source(ctx, 10);
    const int64_t samples[][4] = {{3, 0, 5, 4}, {7, 8}, {6, 9, 7}, {0}};
    const int64_t sizes[] = {4, 2, 3, 0};
    rb_modules *modules = modules_of(ctx, 4, samples, sizes);
    rb_enrichment e = {.size = sizeof e};
    assert_int_equal(compare(ctx, modules, source, &e), RB_OK);
    assert_int_equal(e.n_rows, 4);
    assert_int_equal(e.n_labelled, 8);
    assert_int_equal(e.n_classes, 3);
    const rb_enrichment_row *row = &e.rows[0];
    assert_int_equal(row->module, 0);
    assert_string_equal(row->class_name, "B");
    assert_int_equal(row->module_size, 4);
    assert_int_equal(row->class_size, 3);
    assert_int_equal(row->overlap, 3);
    assert_true(row->precision == 0.75 && row->recall == 1 && row->jaccard == 0.75);
    assert_true(fabs(row->f1 - 6.0 / 7) < 1e-15);
    /* all three B's among 4 of 8: C(5, 1) / C(8, 4); 4 modules x 3 classes are looked at */
    assert_true(fabs(row->log10_p_value - log10(5.0 / 70)) < 1e-12);
    assert_true(fabs(row->log10_p_value_adjusted - log10(12 * 5.0 / 70)) < 1e-12);
    assert_null(e.rows[1].class_name); /* h and i: no sample with a class */
    assert_int_equal(e.rows[1].module_size, 0);
    assert_string_equal(e.rows[2].class_name, "C 1");
    assert_int_equal(e.rows[2].module_size, 2); /* h has no class */
    assert_true(fabs(e.rows[2].log10_p_value - log10(1.0 / 28)) < 1e-12);
    assert_true(e.rows[2].log10_p_value_adjusted < 0);
    assert_null(e.rows[3].class_name);
    rb_enrichment_clear(&e);
    assert_null(e.rows);
    rb_modules_free(modules);
    rb_source_free(source);
    rb_context_free(ctx);
}

/* A module of all samples is enriched for nothing: p-value 1, adjusted no more than 1. */
static void everything_is_enriched_for_nothing(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    put_file("cell\tclass\na\tA\nb\tA\nc\tB\nd\tB\n");
    rb_source *source = named_source(ctx, 4);
    const int64_t samples[][4] = {{0, 1, 2, 3}};
    const int64_t sizes[] = {4};
    rb_modules *modules = modules_of(ctx, 1, samples, sizes);
    rb_enrichment e = {.size = sizeof e};
    assert_int_equal(compare(ctx, modules, source, &e), RB_OK);
    assert_true(e.rows[0].log10_p_value == 0 && e.rows[0].log10_p_value_adjusted == 0);
    rb_enrichment_clear(&e);
    rb_modules_free(modules);
    rb_source_free(source);
    rb_context_free(ctx);
}

static void modules_of_other_data(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    rb_source *source = named_source(ctx, 3);
    const int64_t samples[][4] = {{3}};
    const int64_t sizes[] = {1};
    rb_modules *modules = modules_of(ctx, 1, samples, sizes);
    rb_enrichment e = {.size = sizeof e};
    modules->list[0].unit = 6;
    put_file("name\tclass\na\tA\n");
    assert_error(ctx, compare(ctx, modules, source, &e), RB_ERROR_DATA,
                 "the module of unit 6 holds sample 3");
    rb_modules_free(modules);
    rb_source_free(source);
    rb_context_free(ctx);
}

static void no_memory(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    put_file("cell\tclass\na\tA\nb\tA\nc\tB\nd\tB\n");
    rb_source *source = named_source(ctx, 4);
    const int64_t samples[][4] = {{0, 1, 2, 3}};
    const int64_t sizes[] = {4};
    rb_modules *modules = modules_of(ctx, 1, samples, sizes);
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
        rb_enrichment e = {.size = sizeof e};
        err = compare(ctx, modules, source, &e);
        if (err) {
            assert_null(e.rows);
            assert_null(e.text);
        } else {
            assert_true(n > 10);
            rb_enrichment_clear(&e);
        }
    }
    rb_modules_free(modules);
    rb_source_free(source);
    rb_context_free(ctx);
}

static int make_file(void **state) {
    (void)state;
    int file = mkstemp(path);
    return file < 0 ? -1 : close(file);
}

static int remove_file(void **state) {
    (void)state;
    return unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tail_by_enumeration),
        cmocka_unit_test(far_tail),
        cmocka_unit_test(rows_are_counts),
        cmocka_unit_test(everything_is_enriched_for_nothing),
        cmocka_unit_test(modules_of_other_data),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
