/* Modules of a fitted model: the same for any number of threads, streamed or in memory, and for
 * samples in another order; planted modules are found better than by chance. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../options.h"
#include "modules/modules.h"

#include <rarebit/rarebit.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 100, FEATURES = 100, UNITS = 20 };

/* A data set with its truth, and a model of it. */
typedef struct fitted {
    rb_context *ctx;
    rb_matrix *matrix;
    rb_modules *truth;
    rb_source *source;
    rb_model *model;
} fitted;

static void fit(fitted *f, int64_t seed) {
    rb_biclusters_options o;
    rb_rfn_options rfn;
    rb_fit_options options;
    fixture_default(rb_biclusters_group(), &o);
    o.dataset = "D4";
    o.seed = seed;
    rb_rfn_options_default(&rfn);
    fixture_preset("paper", &rfn, NULL);
    rfn.units = UNITS;
    rb_fit_options_default(&options);
    options.iterations = 100;
    options.seed = seed;
    options.precision = RB_FLOAT64;
    assert_int_equal(rb_context_new(&f->ctx), RB_OK);
    assert_int_equal(rb_simulate_biclusters(f->ctx, fixture_of(rb_biclusters_group(), &o),
                                            &f->matrix, &f->truth),
                     RB_OK);
    assert_int_equal(rb_source_from_matrix(f->ctx, f->matrix, &f->source), RB_OK);
    assert_int_equal(rb_fit(f->ctx, fixture_options(f->ctx, "rfn", &rfn, &options, NULL), f->source,
                            NULL, &f->model),
                     RB_OK);
}

static void clear(fitted *f) {
    rb_model_free(f->model);
    rb_source_free(f->source);
    rb_modules_free(f->truth);
    rb_matrix_free(f->matrix);
    rb_context_free(f->ctx);
}

static rb_modules *find(fitted *f, rb_source *source, const char *rule) {
    rb_modules_options options;
    rb_modules *modules;
    fixture_default(rb_modules_group(), &options);
    options.rule = rule;
    assert_int_equal(rb_modules_find(f->ctx, f->model, source,
                                     fixture_of(rb_modules_group(), &options), &modules),
                     RB_OK);
    return modules;
}

static void assert_same(const rb_modules *a, const rb_modules *b) {
    assert_int_equal(a->count, b->count);
    for (int64_t r = 0; r < a->count; r++) {
        const rb_module *x = &a->list[r], *y = &b->list[r];
        assert_int_equal(x->unit, y->unit);
        assert_true(x->information == y->information);
        assert_int_equal(x->n_samples, y->n_samples);
        assert_int_equal(x->n_features, y->n_features);
        assert_memory_equal(x->samples, y->samples, (size_t)x->n_samples * sizeof *x->samples);
        assert_memory_equal(x->features, y->features, (size_t)x->n_features * sizeof *x->features);
    }
}

/* Codes of a model as one array. */
static rb_error keep_rows(void *user, int64_t first, const rb_matrix *rows) {
    double *codes = user;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++)
        for (int64_t j = 0; j < UNITS; j++)
            codes[(first + i) * UNITS + j] = rb_matrix_at(rows, i, j);
    return RB_OK;
}

/* The nonzero rule holds exactly the codes of rb_encode that are not 0, each on unit mean
 * square. */
static void members_are_active_samples(void **state) {
    (void)state;
    fitted f;
    fit(&f, 1);
    double codes[SAMPLES * UNITS];
    assert_int_equal(rb_encode(f.ctx, f.model, f.source, keep_rows, codes), RB_OK);
    rb_modules *modules = find(&f, f.source, NULL);
    int64_t members = 0, active = 0;
    for (int64_t r = 0; r < modules->count; r++) {
        const rb_module *m = &modules->list[r];
        double squares = 0, scale = 0;
        for (int64_t d = 0; d < m->n_samples; d++) {
            double code = codes[m->samples[d].index * UNITS + m->unit];
            scale = d ? scale : code / m->samples[d].weight;
            assert_true(code > 0);
            assert_true(fabs(code / m->samples[d].weight - scale) < 1e-12 * scale);
            squares += m->samples[d].weight * m->samples[d].weight / SAMPLES;
        }
        assert_true(fabs(squares - 1) < 1e-12);
        members += m->n_samples;
    }
    for (int64_t c = 0; c < SAMPLES * UNITS; c++)
        active += codes[c] != 0;
    assert_int_equal(members, active);
    rb_modules_free(modules);
    clear(&f);
}

static rb_error give_rows(void *user, int64_t first, int64_t count, void *rows) {
    const rb_matrix *matrix = user;
    for (int64_t c = 0; c < count * FEATURES; c++)
        ((double *)rows)[c] = rb_matrix_at(matrix, first + c / FEATURES, c % FEATURES);
    return RB_OK;
}

static void threads_and_streams(void **state) {
    (void)state;
    fitted f;
    fit(&f, 2);
    rb_modules *expected = find(&f, f.source, "fabia");
    rb_source *stream;
    assert_int_equal(
        rb_source_from_callback(f.ctx, RB_FLOAT64, SAMPLES, FEATURES, give_rows, f.matrix, &stream),
        RB_OK);
    for (int threads = 1; threads <= 3; threads++) {
        assert_int_equal(rb_context_set_threads(f.ctx, threads), RB_OK);
        rb_modules *modules = find(&f, f.source, "fabia"), *streamed = find(&f, stream, "fabia");
        assert_same(modules, expected);
        assert_same(streamed, expected);
        rb_modules_free(modules);
        rb_modules_free(streamed);
    }
    rb_source_free(stream);
    rb_modules_free(expected);
    clear(&f);
}

static rb_error give_rows_backwards(void *user, int64_t first, int64_t count, void *rows) {
    for (int64_t i = 0; i < count; i++)
        give_rows(user, SAMPLES - 1 - (first + i), 1, (double *)rows + i * FEATURES);
    return RB_OK;
}

/* Samples in reverse order: the same modules with the samples' new numbers. */
static void samples_in_another_order(void **state) {
    (void)state;
    fitted f;
    fit(&f, 3);
    rb_source *backwards;
    assert_int_equal(rb_source_from_callback(f.ctx, RB_FLOAT64, SAMPLES, FEATURES,
                                             give_rows_backwards, f.matrix, &backwards),
                     RB_OK);
    rb_modules *a = find(&f, f.source, "mass:0.9"), *b = find(&f, backwards, "mass:0.9");
    assert_int_equal(a->count, b->count);
    for (int64_t r = 0; r < a->count; r++) {
        const rb_module *x = &a->list[r], *y = &b->list[r];
        assert_int_equal(x->unit, y->unit);
        assert_true(fabs(x->information - y->information) < 1e-9 * x->information);
        assert_int_equal(x->n_samples, y->n_samples);
        assert_int_equal(x->n_features, y->n_features);
        for (int64_t d = 0; d < x->n_samples; d++)
            assert_int_equal(x->samples[d].index, SAMPLES - 1 - y->samples[d].index);
    }
    rb_modules_free(a);
    rb_modules_free(b);
    rb_source_free(backwards);
    clear(&f);
}

static double score(rb_context *ctx, const rb_modules *found, const rb_modules *truth) {
    rb_match match = {.size = sizeof match};
    assert_int_equal(rb_modules_match(ctx, found, truth, &match), RB_OK);
    double value = match.consensus_score;
    rb_match_clear(&match);
    return value;
}

/* Over six data sets the modules agree with their own truth more than with that of another seed. */
static void planted_modules_are_found(void **state) {
    (void)state;
    double own = 0, other = 0;
    fitted f, g;
    for (int64_t seed = 1; seed <= 6; seed++) {
        fit(&f, seed);
        fit(&g, seed + 100);
        rb_modules *modules = find(&f, f.source, "fabia");
        own += score(f.ctx, modules, f.truth) / 6;
        other += score(f.ctx, modules, g.truth) / 6;
        rb_modules_free(modules);
        clear(&f);
        clear(&g);
    }
    print_message("consensus score: own truth %.3f, another %.3f\n", own, other);
    assert_true(own > 1.3 * other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_active_samples),
        cmocka_unit_test(threads_and_streams),
        cmocka_unit_test(samples_in_another_order),
        cmocka_unit_test(planted_modules_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
