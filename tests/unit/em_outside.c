/* A method from outside of the library starts from a model, whatever its options are called. */
#include "fixture.h"
#include <rarebit/method.h>

enum { N = 4, M = 2, MAX = 5 };

/* Parameters go half of the way to the mean sample in each iteration. */
struct half {
    double *loadings, *total;
    int64_t units;
};
#define ARRAY(field, dim, other)                                                                   \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct half, field), .type = RB_KEPT_FLOAT64,           \
        .rows = (dim), .columns = (other)                                                          \
    }
static const rb_field parameters[] = {ARRAY(loadings, RB_DIM_FEATURES, RB_DIM_UNITS), {0}};
static const rb_field sums[] = {ARRAY(total, RB_DIM_FEATURES, RB_DIM_ONE), {0}};
static const rb_part parts[] = {{RB_PART_PARAMETERS, parameters, 0}, {RB_PART_SUMS, sums, 0}, {0}};

struct options {
    int64_t clusters;
};
static const rb_option rows[] = {{.name = "clusters",
                                  .kind = RB_OPTION_INTEGER,
                                  .offset = offsetof(struct options, clusters),
                                  .minimum = 1,
                                  .maximum = MAX,
                                  .fallback = "1",
                                  .help = "how many"},
                                 {0}};

static int64_t clusters_of(const void *options) {
    return ((const struct options *)options)->clusters;
}

static rb_error add_block(rb_context *ctx, void *state, const struct rb_block *block) {
    struct half *s = state;
    (void)ctx;
    for (int64_t i = 0; i < rb_block_samples(block) * M; i++)
        s->total[i % M] += rb_block_at(block, i / M, i % M);
    return RB_OK;
}

/* The first unit alone moves; where nobody has said how many there are it is the only one. */
static rb_error mstep(rb_context *ctx, void *state) {
    struct half *s = state;
    (void)ctx;
    for (int64_t k = 0; k < M; k++) {
        double *first = &s->loadings[s->units ? k * s->units : k];
        *first = (*first + s->total[k] / N) / 2;
    }
    return RB_OK;
}

static void objective(void *state, double *value, double *estep) {
    *value = ((const struct half *)state)->loadings[0];
    *estep = NAN;
}

static rb_error start(rb_context *ctx, const rb_problem *problem, const void *options,
                      const rb_model *model, void **state) {
    struct half *s = *state;
    int64_t m, units;
    (void)ctx;
    (void)problem;
    s->units = clusters_of(options);
    if (!model) return RB_OK;
    const double *loadings = rb_model_array(model, "loadings", &m, &units);
    memcpy(s->loadings, loadings, (size_t)(m * units) * sizeof *loadings);
    return RB_OK;
}

static rb_error encode(rb_context *ctx, void *model, const struct rb_block *block, void *codes) {
    (void)ctx;
    for (int64_t i = 0; i < rb_block_samples(block) * rb_model_units(model); i++)
        rb_put(rb_model_type(model), codes, i, 0);
    return RB_OK;
}

static rb_method half_method(void) {
    return (rb_method){.size = sizeof(rb_method),
                       .name = "half",
                       .title = "half of the way",
                       .options = rows,
                       .options_size = sizeof(struct options),
                       .code_name = "X_half",
                       .centre = RB_CENTRE_NONE,
                       .units = clusters_of,
                       .parts = parts,
                       .state_size = sizeof(struct half),
                       .start = start,
                       .block = add_block,
                       .mstep = mstep,
                       .objective = objective,
                       .encode = encode};
}

/* An iteration from nothing, then one from the model of the first. */
static rb_model *fit_twice(rb_context *ctx, const rb_method *method, rb_options *options,
                           rb_source *source) {
    static const double once[M] = {4, 8}, twice[M] = {6, 12};
    rb_model *first, *second;
    assert_ok(ctx, rb_fit(ctx, options, source, NULL, &first));
    assert_ok(ctx, rb_fit(ctx, options, source, first, &second));
    int64_t units = rb_model_units(first);
    assert_string_equal(rb_model_method(first), method->name);
    for (int k = 0; k < M; k++) {
        assert_true(rb_model_array(first, "loadings", NULL, NULL)[units * k] == once[k]);
        assert_true(rb_model_array(second, "loadings", NULL, NULL)[units * k] == twice[k]);
    }
    rb_model_free(second);
    return first;
}

static rb_source *new_source(rb_context *ctx) {
    static const double values[N * M] = {8, 16, 8, 16, 8, 16, 8, 16};
    return fixture_data(ctx, values, N, M);
}

static void units_by_another_name(void **state) {
    rb_context *ctx = *state;
    rb_model *second;
    rb_options *options;
    rb_method method = half_method();
    rb_source *source = new_source(ctx);
    assert_ok(ctx, rb_context_add_method(ctx, &method));
    assert_ok(ctx, rb_options_new(ctx, "half", &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "clusters=3 iterations=1"));
    rb_model *first = fit_twice(ctx, &method, options, source);
    assert_ok(ctx, rb_options_set(ctx, options, "clusters", "2"));
    assert_int_equal(rb_fit(ctx, options, source, first, &second), RB_ERROR_ARGUMENT);
    assert_string_equal(rb_context_error(ctx),
                        "the options ask for 2 units, but the model to start from has 3; ask for "
                        "3");
    rb_model_free(first);
    rb_options_free(options);
    rb_source_free(source);
}

/* Without a function of the method the library takes the parameters out of the model. */
static void nothing_but_arrays(void **state) {
    static const rb_option no_options[] = {{0}};
    rb_context *ctx = *state;
    rb_options *options;
    rb_method method = half_method();
    rb_source *source = new_source(ctx);
    method.start = NULL;
    method.units = NULL;
    method.options = no_options;
    method.options_size = 0;
    assert_ok(ctx, rb_context_add_method(ctx, &method));
    assert_ok(ctx, rb_options_new(ctx, "half", &options));
    assert_ok(ctx, rb_options_set(ctx, options, "iterations", "1"));
    rb_model_free(fit_twice(ctx, &method, options, source));
    rb_options_free(options);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(units_by_another_name, fixture_enter, fixture_leave),
        cmocka_unit_test_setup_teardown(nothing_but_arrays, fixture_enter, fixture_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
