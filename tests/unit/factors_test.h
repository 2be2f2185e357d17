/* Fits of the methods in src/factors to small data. */
#ifndef COMPARE_TEST_H
#define COMPARE_TEST_H

#include "fixture.h"

/* Fits a method with options as text. */
static inline rb_error compare_try(rb_context *ctx, const char *method, const char *text,
                                   rb_source *source, const rb_model *start, rb_model **model) {
    rb_options *options = NULL;
    assert_ok(ctx, rb_options_new(ctx, method, &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "%s", text));
    rb_error err = rb_fit(ctx, options, source, start, model);
    rb_options_free(options);
    return err;
}

static inline rb_model *compare_fit(rb_context *ctx, const char *method, const char *text,
                                    rb_source *source) {
    return fixture_text_model(ctx, method, source, NULL, "%s", text);
}

/* Fits and codes samples after each allocation of that has failed once. */
static inline void compare_without_memory(rb_context *ctx, const char *method, const char *text,
                                          rb_source *source) {
    rb_options *options = NULL;
    rb_error err = RB_ERROR_MEMORY;
    assert_ok(ctx, rb_options_new(ctx, method, &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "%s", text));
    rb_model *model = fixture_model_at_last(ctx, options, source, 20);
    int64_t units = rb_model_units(model);
    double *codes = calloc((size_t)(rb_source_samples(source) * units), sizeof *codes);
    for (int64_t n = 0; allow_allocations(ctx, n, err); n++)
        err = rb_encode_into(ctx, model, source, RB_FLOAT64, codes, units, 1);
    free(codes);
    rb_model_free(model);
    rb_options_free(options);
}

static inline double compare_objective(const rb_model *model, int64_t t) {
    double value, estep, seconds;
    assert_int_equal(rb_model_history(model, t, &value, &estep, &seconds), RB_OK);
    return value;
}

static inline double compare_last(const rb_model *model) {
    return compare_objective(model, rb_model_iterations(model) - 1);
}

/* No iteration lowers the objective by more than a share of `size`. */
static inline void assert_rises(const rb_model *model, double size) {
    for (int64_t t = 1; t < rb_model_iterations(model); t++) {
        double now = compare_objective(model, t), before = compare_objective(model, t - 1);
        if (!(now >= before - 1e-12 * size))
            fail_msg("iteration %d: %.17g after %.17g", (int)t + 1, now, before);
    }
}

/* The same samples on demand. */
struct compare_rows {
    const double *values;
    int64_t m;
};

static inline rb_error compare_give(void *user, int64_t first, int64_t count, void *rows) {
    const struct compare_rows *r = user;
    memcpy(rows, r->values + first * r->m, (size_t)(count * r->m) * sizeof(double));
    return RB_OK;
}

#endif
