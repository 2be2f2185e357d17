/* Stacks: the bits of the layers one after the other, in memory and in every form of a model; what
 * a damaged one does. */
#include "fixture.h"

#include <rarebit/stack.h>

enum { N = 400, M = 20, FIRST = 9, SECOND = 5 };

static int setup(void **state) {
    *state = fixture_problem(fixture_values(N, M, 4, 7), N, M);
    return 0;
}

static rb_options *options_of(rb_context *ctx, const char *method, const char *units) {
    rb_options *options;
    assert_ok(ctx, rb_stack_options(ctx, method, &options));
    assert_ok(ctx, rb_options_set(ctx, options, "units", units));
    assert_ok(ctx, rb_options_set(ctx, options, "iterations", "12"));
    return options;
}

static rb_model *fit_stack(struct fixture_problem *s, const char *units) {
    rb_options *options = options_of(s->ctx, "rfn", units);
    rb_model *stack;
    assert_ok(s->ctx, rb_stack_fit(s->ctx, options, s->source, &stack));
    rb_options_free(options);
    return stack;
}

static rb_model *fit_in(struct fixture_problem *s, rb_source *source, const char *units,
                        const char *precision) {
    return fixture_text_model(s->ctx, "rfn", source, NULL, "units=%s iterations=12 precision=%s",
                              units, precision);
}

static rb_model *fit_plain(struct fixture_problem *s, rb_source *source, const char *units) {
    return fit_in(s, source, units, "float32");
}

static void assert_same_codes(struct fixture_problem *s, const rb_model *a, const rb_model *b) {
    double *x = fixture_codes(s->ctx, a, s->source), *y = fixture_codes(s->ctx, b, s->source);
    assert_int_equal(rb_model_units(a), rb_model_units(b));
    assert_memory_equal(x, y, (size_t)(N * rb_model_units(a)) * sizeof *x);
    free(x);
    free(y);
}

static void one_layer_is_the_plain_fit(void **state) {
    struct fixture_problem *s = *state;
    rb_model *stack = fit_stack(s, "9"), *plain = fit_plain(s, s->source, "9"), *layer;
    assert_int_equal(rb_stack_layers(stack), 1);
    assert_int_equal(rb_stack_layers(plain), 0);
    fixture_same_array(stack, plain, "loadings");
    assert_same_codes(s, stack, plain);
    assert_ok(s->ctx, rb_stack_layer(s->ctx, stack, 1, &layer));
    for (int64_t i = 0; rb_model_array_name(plain, i); i++)
        fixture_same_array(layer, plain, rb_model_array_name(plain, i));
    for (int64_t i = 0; rb_model_attribute_name(plain, i); i++) {
        const char *name = rb_model_attribute_name(plain, i);
        assert_string_equal(rb_model_attribute(layer, name), rb_model_attribute(plain, name));
    }
    assert_int_equal(rb_model_iterations(layer), 12);
    double kkt, again;
    assert_ok(s->ctx, rb_model_metric(plain, 11, "kkt_residual", &kkt));
    assert_ok(s->ctx, rb_model_metric(layer, 11, "kkt_residual", &again));
    assert_memory_equal(&kkt, &again, sizeof kkt); /* perhaps NaN */
    rb_model_free(layer);
    rb_model_free(plain);
    rb_model_free(stack);
}

/* Layers fitted and used by hand, through matrices of codes. */
static void codes_are_those_of_the_layers(void **state) {
    struct fixture_problem *s = *state;
    rb_model *stack = fit_stack(s, "9,5"), *first = fit_plain(s, s->source, "9");
    float codes[N * FIRST], top[N * SECOND], got[N * SECOND];
    rb_matrix *matrix;
    rb_source *source;
    assert_ok(s->ctx, rb_encode_into(s->ctx, first, s->source, RB_FLOAT32, codes, FIRST, 1));
    assert_ok(s->ctx, rb_matrix_dense(s->ctx, RB_FLOAT32, N, FIRST, codes, FIRST, 1, &matrix));
    assert_ok(s->ctx, rb_source_from_matrix(s->ctx, matrix, &source));
    rb_model *second = fit_plain(s, source, "5");
    assert_ok(s->ctx, rb_encode_into(s->ctx, second, source, RB_FLOAT32, top, SECOND, 1));
    assert_ok(s->ctx, rb_encode_into(s->ctx, stack, s->source, RB_FLOAT32, got, SECOND, 1));
    assert_memory_equal(top, got, sizeof top);

    rb_coder *coder;
    assert_ok(s->ctx, rb_coder_open(s->ctx, stack, &coder));
    assert_ok(s->ctx, rb_coder_encode(s->ctx, coder, rb_source_memory(s->source), RB_FLOAT32, got,
                                      SECOND, 1));
    assert_memory_equal(top, got, sizeof top);
    rb_coder_free(coder);

    const rb_model *both[] = {first, second};
    rb_model *made;
    assert_ok(s->ctx, rb_stack_new(s->ctx, both, 2, &made));
    fixture_same_array(made, stack, "loadings");
    fixture_same_array(made, stack, "layer2.scale");
    assert_same_codes(s, made, stack);
    const rb_model *wrong[] = {second, first};
    rb_model *none;
    assert_int_equal(rb_stack_new(s->ctx, wrong, 2, &none), RB_ERROR_ARGUMENT);
    assert_null(none);
    const rb_model *nested[] = {first, stack};
    assert_int_equal(rb_stack_new(s->ctx, nested, 2, &none), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_stack_new(s->ctx, both, 0, &none), RB_ERROR_ARGUMENT);
    rb_model_free(made);
    rb_model_free(second);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_model_free(first);
    rb_model_free(stack);
}

/* Down through layers of either precision, as through each by hand. */
static void layers_may_differ_in_precision(void **state) {
    struct fixture_problem *s = *state;
    static const char *const precisions[] = {"float32", "float64"};
    for (int lower = 0; lower < 2; lower++) {
        rb_model *first = fit_in(s, s->source, "9", precisions[lower]), *stack;
        double codes[N * FIRST], top[N * SECOND], below[N * FIRST], rows[N * M], got[N * M];
        rb_matrix *encoded, *decoded;
        assert_ok(s->ctx, rb_encode_into(s->ctx, first, s->source, RB_FLOAT64, codes, FIRST, 1));
        rb_source *source = fixture_data(s->ctx, codes, N, FIRST);
        rb_model *second = fit_in(s, source, "5", precisions[1 - lower]);
        assert_ok(s->ctx, rb_encode_into(s->ctx, second, source, RB_FLOAT64, top, SECOND, 1));
        assert_ok(s->ctx, rb_matrix_dense(s->ctx, RB_FLOAT64, N, SECOND, top, SECOND, 1, &encoded));
        assert_ok(s->ctx, rb_decode_into(s->ctx, second, encoded, RB_FLOAT64, below, FIRST, 1));
        assert_ok(s->ctx, rb_matrix_dense(s->ctx, RB_FLOAT64, N, FIRST, below, FIRST, 1, &decoded));
        assert_ok(s->ctx, rb_decode_into(s->ctx, first, decoded, RB_FLOAT64, rows, M, 1));
        assert_ok(s->ctx, rb_stack_new(s->ctx, (const rb_model *[]){first, second}, 2, &stack));
        assert_ok(s->ctx, rb_decode_into(s->ctx, stack, encoded, RB_FLOAT64, got, M, 1));
        for (int e = 0; e < N * M; e++)
            assert_close(got[e], rows[e], 1e-4);
        rb_matrix_free(decoded);
        rb_matrix_free(encoded);
        rb_source_free(source);
        rb_model_free(stack);
        rb_model_free(second);
        rb_model_free(first);
    }
}

/* loadings = W1 S2 W2, S2: what the second layer divides its input by. */
static void loadings_are_the_projection(void **state) {
    struct fixture_problem *s = *state;
    rb_options *options = options_of(s->ctx, "rfn", "9,5");
    rb_model *stack;
    assert_ok(s->ctx, rb_options_set(s->ctx, options, "scale", "none,sd"));
    assert_ok(s->ctx, rb_stack_fit(s->ctx, options, s->source, &stack));
    const double *p = rb_model_array(stack, "loadings", NULL, NULL);
    const double *w1 = rb_model_array(stack, "layer1.loadings", NULL, NULL);
    const double *w2 = rb_model_array(stack, "layer2.loadings", NULL, NULL);
    const double *by = rb_model_array(stack, "layer2.input_scale", NULL, NULL);
    assert_true(by[0] != 1);
    for (int64_t k = 0; k < M; k++) {
        for (int64_t j = 0; j < SECOND; j++) {
            double sum = 0;
            for (int64_t i = 0; i < FIRST; i++)
                sum += w1[k * FIRST + i] * by[i] * w2[i * SECOND + j];
            assert_close(p[k * SECOND + j], sum, 1e-12);
        }
    }
    rb_model_free(stack);
    rb_options_free(options);
}

/* Codes that are computed anew for each pass, and by more threads, change nothing. */
static void streaming_and_threads_change_nothing(void **state) {
    struct fixture_problem *s = *state;
    rb_model *kept = fit_stack(s, "9,7,5"), *streamed;
    rb_options *options = options_of(s->ctx, "rfn", "9,7,5");
    assert_ok(s->ctx, rb_options_set(s->ctx, options, "codes-memory", "0"));
    assert_ok(s->ctx, rb_context_set_threads(s->ctx, 3));
    assert_ok(s->ctx, rb_stack_fit(s->ctx, options, s->source, &streamed));
    fixture_same_array(kept, streamed, "loadings");
    fixture_same_array(kept, streamed, "layer3.noise");
    assert_same_codes(s, kept, streamed);
    rb_model_free(streamed);
    rb_model_free(kept);
    rb_options_free(options);
}

static void every_form_keeps_it(void **state) {
    struct fixture_problem *s = *state;
    rb_model *stack = fit_stack(s, "9,5"), *back, *cut, *first;
    void *bytes;
    size_t size;
    assert_ok(s->ctx, rb_model_save_memory(s->ctx, stack, &bytes, &size));
    assert_ok(s->ctx, rb_model_load_memory(s->ctx, bytes, size, &back));
    assert_string_equal(rb_model_method(back), "stack");
    assert_same_codes(s, stack, back);
    double rows[N * M], again[N * M];
    assert_ok(s->ctx, rb_reconstruct_into(s->ctx, stack, s->source, RB_FLOAT64, rows, M, 1));
    assert_ok(s->ctx, rb_reconstruct_into(s->ctx, back, s->source, RB_FLOAT64, again, M, 1));
    assert_memory_equal(rows, again, sizeof rows);
    float top[N * SECOND]; /* from codes alone, too */
    rb_matrix *codes;
    assert_ok(s->ctx, rb_encode_into(s->ctx, stack, s->source, RB_FLOAT32, top, SECOND, 1));
    assert_ok(s->ctx, rb_matrix_dense(s->ctx, RB_FLOAT32, N, SECOND, top, SECOND, 1, &codes));
    assert_ok(s->ctx, rb_decode_into(s->ctx, stack, codes, RB_FLOAT64, again, M, 1));
    assert_memory_equal(rows, again, sizeof rows);
    rb_matrix_free(codes);
    assert_ok(s->ctx, rb_stack_cut(s->ctx, back, 1, &cut));
    assert_ok(s->ctx, rb_stack_layer(s->ctx, stack, 1, &first));
    assert_string_equal(rb_model_method(cut), "rfn");
    assert_same_codes(s, cut, first);
    rb_model_free(cut);
    rb_model_free(first);
    assert_ok(s->ctx, rb_stack_cut(s->ctx, back, 2, &cut));
    assert_same_codes(s, cut, stack);
    rb_model_free(cut);
    assert_int_equal(rb_stack_cut(s->ctx, back, 3, &cut), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_stack_layer(s->ctx, back, 0, &cut), RB_ERROR_ARGUMENT);
    assert_null(cut);
    rb_metrics *metrics;
    assert_ok(s->ctx, rb_evaluate(s->ctx, stack, s->source, &metrics));
    assert_true(rb_metrics_get(metrics, "variance_explained") > 0.2);
    rb_metrics_free(metrics);
    rb_free_memory(bytes);
    rb_model_free(back);
    rb_model_free(stack);
}

/* Every byte of the text parts of a stack may be another: it is refused, or used without harm. */
static void damaged_ones_are_refused(void **state) {
    static const char *const changes[][2] = {
        {"layers", "0"},          {"layers", "3"},          {"layers", "-1"},
        {"layers", "x"},          {"layer1.method", "x"},   {"layer2.method", "stack"},
        {"layer2.status", "x"},   {"layer1.type", "int"},   {"layer2.type", "float64"},
        {"layer1.method", "pca"}, {"layer2.method", "ica"}, {"layer2.centre", "nowhere"}};
    struct fixture_problem *s = *state;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        rb_model *stack = fit_stack(s, "9,5");
        float codes[N * SECOND];
        rb_coder *coder;
        assert_ok(s->ctx, rb_model_set_attribute(s->ctx, stack, changes[i][0], changes[i][1]));
        rb_error err = rb_encode_into(s->ctx, stack, s->source, RB_FLOAT32, codes, SECOND, 1);
        if (err != RB_ERROR_FORMAT)
            fail_msg("%s = %s gives %s", changes[i][0], changes[i][1], rb_error_name(err));
        assert_int_equal(rb_coder_open(s->ctx, stack, &coder), RB_ERROR_FORMAT);
        rb_model_free(stack);
    }
}

static void arrays_that_are_damaged_are_refused(void **state) {
    struct fixture_problem *s = *state;
    rb_model *whole = fit_stack(s, "9,5");
    for (int64_t a = 0; rb_model_array_name(whole, a); a++) {
        rb_model *stack = fit_stack(s, "9,5");
        rb_array *array = &stack->arrays[a];
        float codes[N * SECOND];
        array->rows = array->rows > 1 ? array->rows - 1 : 0;
        rb_error err = rb_encode_into(s->ctx, stack, s->source, RB_FLOAT32, codes, SECOND, 1);
        assert_true(err == RB_OK || err == RB_ERROR_FORMAT);
        array->rows++;
        rb_model_free(stack);
    }
    rb_model_free(whole);
}

static rb_error stop_in_second(const rb_progress *progress, void *user) {
    int *seen = user;
    bool second = strncmp(progress->what, "layer 2 of 3, iteration", 23) == 0;
    *seen += second;
    return second && progress->iteration == 4 ? RB_ERROR_INTERRUPTED : RB_OK;
}

static void a_stop_gives_the_layers_so_far(void **state) {
    struct fixture_problem *s = *state;
    rb_options *options = options_of(s->ctx, "rfn", "9,7,5");
    rb_model *stack, *layer;
    int seen = 0;
    rb_context_on_progress(s->ctx, stop_in_second, &seen);
    assert_ok(s->ctx, rb_stack_fit(s->ctx, options, s->source, &stack));
    rb_context_on_progress(s->ctx, NULL, NULL);
    assert_int_equal(seen, 4);
    assert_int_equal(rb_stack_layers(stack), 2);
    assert_int_equal(rb_model_status(stack), RB_STATUS_STOPPED);
    assert_ok(s->ctx, rb_stack_layer(s->ctx, stack, 2, &layer));
    assert_int_equal(rb_model_iterations(layer), 4);
    rb_model_free(layer);
    rb_model_free(stack);
    rb_options_free(options);
}

/* Codes of a layer that is not done are not what those above are fitted to. */
static void a_layer_out_of_time_is_the_last(void **state) {
    struct fixture_problem *s = *state;
    rb_options *options = options_of(s->ctx, "rfn", "9,7,5");
    rb_model *stack;
    assert_ok(s->ctx, rb_options_set(s->ctx, options, "max-time", "1e-9"));
    assert_ok(s->ctx, rb_stack_fit(s->ctx, options, s->source, &stack));
    assert_int_equal(rb_stack_layers(stack), 1);
    assert_int_equal(rb_model_status(stack), RB_STATUS_TIME);
    rb_model_free(stack);
    assert_ok(s->ctx, rb_options_set(s->ctx, options, "max-time", "0,1e-9,0"));
    assert_ok(s->ctx, rb_stack_fit(s->ctx, options, s->source, &stack));
    assert_int_equal(rb_stack_layers(stack), 2);
    assert_int_equal(rb_model_status(stack), RB_STATUS_TIME);
    rb_model_free(stack);
    rb_options_free(options);
}

static void loadings_are_numbers(void **state) {
    static const char *const names[] = {"loadings", "layer1.loadings", "layer2.loadings"};
    struct fixture_problem *s = *state;
    for (int i = 0; i < 3; i++) {
        rb_model *stack = fit_stack(s, "9,5");
        float codes[N * SECOND];
        rb_coder *coder;
        ((double *)rb_model_array(stack, names[i], NULL, NULL))[3] = NAN;
        assert_error(s->ctx, rb_encode_into(s->ctx, stack, s->source, RB_FLOAT32, codes, SECOND, 1),
                     RB_ERROR_FORMAT, "nan at row 0, column 3");
        assert_int_equal(rb_coder_open(s->ctx, stack, &coder), RB_ERROR_FORMAT);
        rb_model_free(stack);
    }
}

/* Wherever memory ends, the context is as it was: once there is some, all methods come. */
static void methods_are_known_all_or_none(void **state) {
    (void)state;
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t n = 0; err; n++) {
        rb_context *ctx;
        assert_ok(NULL, rb_context_new(&ctx));
        ctx->allocations_left = n;
        err = rb_nets_use(ctx);
        assert_true(err == RB_OK || err == RB_ERROR_MEMORY);
        assert_int_equal(!rb_find_method(ctx, "dae"), err != RB_OK);
        ctx->allocations_left = -1;
        assert_ok(ctx, rb_nets_use(ctx));
        assert_true(rb_find_method(ctx, "dae") && rb_find_method(ctx, "rbm"));
        assert_non_null(rb_find_made(ctx, "stack"));
        rb_context_free(ctx);
    }
}

static void no_layers_are_refused(void **state) {
    struct fixture_problem *s = *state;
    const rb_model *layers[2] = {NULL, NULL};
    rb_model *stack;
    assert_int_equal(rb_stack_new(s->ctx, NULL, 1, &stack), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_stack_new(s->ctx, layers, 2, &stack), RB_ERROR_ARGUMENT);
    assert_string_equal(rb_context_error(s->ctx), "layer 1 is NULL, no model");
}

static void options_are_checked(void **state) {
    static const char *const wrong[][2] = {{"units", "9,0"},       {"units", "9,"},
                                           {"units", ",9"},        {"eta", "0.1,x"},
                                           {"centre", "mean,top"}, {"trace", "true,perhaps"}};
    struct fixture_problem *s = *state;
    rb_options *options = options_of(s->ctx, "rfn", "9,5"), *plain;
    char text[64];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char before[64];
        rb_options_get(options, wrong[i][0], before, sizeof before);
        assert_int_equal(rb_options_set(s->ctx, options, wrong[i][0], wrong[i][1]),
                         RB_ERROR_ARGUMENT);
        rb_options_get(options, wrong[i][0], text, sizeof text);
        assert_string_equal(text, before);
    }
    assert_ok(s->ctx, rb_options_set(s->ctx, options, "eta", "0.1,0.2,0.3"));
    assert_int_equal(rb_stack_check(s->ctx, options), RB_ERROR_ARGUMENT);
    assert_string_equal(
        rb_context_error(s->ctx),
        "units has 2 values and eta has 3; give one for each layer, or one for all");
    assert_ok(s->ctx, rb_options_set(s->ctx, options, "eta", "0.1"));
    assert_ok(s->ctx, rb_stack_check(s->ctx, options));
    assert_ok(s->ctx, rb_options_set(s->ctx, options, "log1p", "true,false"));
    assert_int_equal(rb_stack_check(s->ctx, options), RB_ERROR_ARGUMENT);
    rb_model *model;
    assert_int_equal(rb_fit(s->ctx, options, s->source, NULL, &model), RB_ERROR_ARGUMENT);
    assert_ok(s->ctx, rb_options_new(s->ctx, "rfn", &plain));
    assert_int_equal(rb_options_set(s->ctx, plain, "units", "9,5"), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_stack_check(s->ctx, plain), RB_ERROR_ARGUMENT);
    rb_options_free(plain);
    assert_int_equal(rb_options_new(s->ctx, "stack", &plain), RB_ERROR_ARGUMENT);
    rb_options_free(options);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_layer_is_the_plain_fit),
        cmocka_unit_test(codes_are_those_of_the_layers),
        cmocka_unit_test(layers_may_differ_in_precision),
        cmocka_unit_test(loadings_are_the_projection),
        cmocka_unit_test(streaming_and_threads_change_nothing),
        cmocka_unit_test(every_form_keeps_it),
        cmocka_unit_test(damaged_ones_are_refused),
        cmocka_unit_test(arrays_that_are_damaged_are_refused),
        cmocka_unit_test(a_stop_gives_the_layers_so_far),
        cmocka_unit_test(a_layer_out_of_time_is_the_last),
        cmocka_unit_test(loadings_are_numbers),
        cmocka_unit_test(methods_are_known_all_or_none),
        cmocka_unit_test(no_layers_are_refused),
        cmocka_unit_test(options_are_checked),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, fixture_teardown);
}
