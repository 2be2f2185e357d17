/* What a method says of its iterations: that it is at its end, and which passes read the data. */
#include "em/em.h"
#include "fixture.h"
#include <rarebit/method.h>

enum { N = 5, M = 3, END = 4 };

struct toy {
    double *loadings, *count; /* a parameter; samples of the pass */
    int64_t msteps;
};
#define ARRAY(field, dim)                                                                          \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct toy, field), .type = RB_KEPT_FLOAT64,            \
        .rows = (dim)                                                                              \
    }
static const rb_field parameters[] = {ARRAY(loadings, RB_DIM_FEATURES), {0}};
static const rb_field progress[] = {{.name = "msteps",
                                     .offset = offsetof(struct toy, msteps),
                                     .place = RB_FIELD_INLINE,
                                     .type = RB_KEPT_INTEGER,
                                     .max = END},
                                    {0}};
static const rb_field sums[] = {ARRAY(count, RB_DIM_ONE), {0}};
static const rb_part parts[] = {{RB_PART_PARAMETERS, parameters, 0},
                                {RB_PART_PROGRESS, progress, 0},
                                {RB_PART_SUMS, sums, 0},
                                {0}};

/* Every block has a place and a shape, also where it has no values. */
static rb_error add_block(rb_context *ctx, void *state, const struct rb_block *block) {
    struct toy *toy = state;
    (void)ctx;
    assert_int_equal(rb_block_features(block), M);
    assert_int_equal(rb_block_first(block), *toy->count);
    *toy->count += (double)rb_block_samples(block);
    return RB_OK;
}

static rb_error mstep(rb_context *ctx, void *state) {
    struct toy *toy = state;
    (void)ctx;
    assert_int_equal(*toy->count, N);
    for (int k = 0; k < M; k++)
        toy->loadings[k] = 1;
    toy->msteps++;
    return RB_OK;
}

static void objective(void *state, double *value, double *estep) {
    const struct toy *toy = state;
    *value = (double)toy->msteps; /* always rises: nothing but `done` ends the fit */
    *estep = NAN;
}

static bool done(const void *state) {
    return ((const struct toy *)state)->msteps >= END;
}

static bool reads(const void *state) {
    return ((const struct toy *)state)->msteps == 0;
}

static rb_error encode(rb_context *ctx, void *model, const struct rb_block *block, void *codes) {
    (void)ctx;
    for (int64_t i = 0; i < rb_block_samples(block); i++)
        rb_put(rb_model_type(model), codes, i, 0);
    return RB_OK;
}

static const rb_option no_options[] = {{0}};

static rb_method toy_method(void) {
    return (rb_method){.size = sizeof(rb_method),
                       .name = "toy",
                       .title = "a toy",
                       .options = no_options,
                       .code_name = "X_toy",
                       .centre = RB_CENTRE_NONE,
                       .parts = parts,
                       .state_size = sizeof(struct toy),
                       .block = add_block,
                       .mstep = mstep,
                       .objective = objective,
                       .encode = encode};
}

static rb_error count_rows(void *user, int64_t first, int64_t count, void *rows) {
    int64_t *read = user;
    *read += count;
    for (int64_t e = 0; e < count * M; e++)
        ((float *)rows)[e] = (float)(first * M + e + 1);
    return RB_OK;
}

/* Fits by the method; returns the samples that were read for it, the preprocessing's apart. */
static int64_t fit(const rb_method *method, int64_t *iterations, rb_status *status) {
    rb_context *ctx;
    rb_source *source;
    rb_options *options;
    rb_model *model;
    int64_t read = 0;
    assert_int_equal(rb_context_new(&ctx), RB_OK);
    assert_ok(ctx, rb_context_add_method(ctx, method));
    assert_ok(ctx, rb_source_from_callback(ctx, RB_FLOAT32, N, M, count_rows, &read, &source));
    assert_ok(ctx, rb_options_new(ctx, "toy", &options));
    assert_ok(ctx, rb_options_set_integer(ctx, options, "iterations", 9));
    assert_ok(ctx, rb_options_set(ctx, options, "cache", "0"));
    assert_ok(ctx, rb_fit(ctx, options, source, NULL, &model));
    *iterations = rb_model_iterations(model);
    *status = rb_model_status(model);
    rb_model_free(model);
    rb_options_free(options);
    rb_source_free(source);
    rb_context_free(ctx);
    return read;
}

static void the_fit_ends_when_the_method_is_done(void **state) {
    (void)state;
    rb_method method = toy_method();
    int64_t iterations;
    rb_status status;
    fit(&method, &iterations, &status);
    assert_int_equal(iterations, 9);
    assert_int_equal(status, RB_STATUS_ITERATIONS);
    method.done = done;
    fit(&method, &iterations, &status);
    assert_int_equal(iterations, END);
    assert_int_equal(status, RB_STATUS_CONVERGED);
}

static void passes_that_do_not_read_leave_the_data_alone(void **state) {
    (void)state;
    rb_method method = toy_method();
    int64_t iterations;
    rb_status status;
    method.done = done;
    int64_t every = fit(&method, &iterations, &status);
    method.reads = reads;
    int64_t once = fit(&method, &iterations, &status);
    assert_int_equal(iterations, END);
    assert_int_equal(every - once, END * N); /* all E-steps, the last one too, but the first */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fit_ends_when_the_method_is_done),
        cmocka_unit_test(passes_that_do_not_read_leave_the_data_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
