/* What a net begins with: layers of models, their lengths, units without loadings. */
#include "nets_test.h"

#include "model/model.h"
#include <rarebit/stack.h>

#include <math.h>

/* From the codes of an rfn, from a net as it is, and with a layer on top. */
static void starts_from_models(void **state) {
    (void)state;
    rb_model *net, *again, *taller,
        *rfn = fixture_text_model(ctx, "rfn", train.labelled.source, NULL, "units=6 iterations=30");
    rb_options *options = options_of("epochs=20"), *more;
    assert_ok(ctx, rb_options_unset(ctx, options, "layers"));
    assert_ok(ctx, rb_finetune(ctx, options, rfn, &train.labelled, NULL, &net));
    int64_t rows, cols;
    assert_non_null(rb_model_array(net, "weights1", &rows, &cols));
    assert_int_equal(rows, 6);
    assert_int_equal(cols, M);
    /* A rate of nearly nothing leaves a net as it is, outputs and all. */
    assert_ok(ctx, rb_options_set_all(ctx, options, "rate=1e-30 epochs=1"));
    assert_ok(ctx, rb_finetune(ctx, options, net, &train.labelled, NULL, &again));
    assert_close(score(again, &valid.labelled), score(net, &valid.labelled), 1e-15);
    more = options_of("epochs=2 layers=5");
    assert_ok(ctx, rb_finetune(ctx, more, net, &train.labelled, NULL, &taller));
    assert_non_null(rb_model_array(taller, "weights3", &rows, &cols));
    assert_int_equal(cols, 5);
    rb_model *models[] = {rfn, net, again, taller};
    for (int i = 0; i < 4; i++)
        rb_model_free(models[i]);
    rb_options_free(options);
    rb_options_free(more);
}

static rb_source *codes_of(const rb_model *model, double *codes) {
    rb_source *source = train.labelled.source;
    int64_t l = rb_model_units(model);
    assert_ok(ctx, rb_encode_into(ctx, model, source, RB_FLOAT64, codes, l, 1));
    return fixture_data(ctx, codes, rb_source_samples(source), l);
}

/* In a stack a net gives its layers but the output; so no other layer can stand on it. */
static void nets_are_last_in_stacks(void **state) {
    (void)state;
    static double codes[2][6 * 1000];
    rb_model *net, *above, *stack, *none, *started;
    rb_options *options = options_of("epochs=2 layers=5,4"),
               *plain = options_of("epochs=1 rate=1e-30");
    assert_ok(ctx, rb_options_unset(ctx, plain, "layers"));
    rb_model *rfn =
        fixture_text_model(ctx, "rfn", train.labelled.source, NULL, "units=6 iterations=30");
    assert_ok(ctx, rb_finetune(ctx, options, NULL, &train.labelled, NULL, &net));
    rb_source *of_rfn = codes_of(rfn, codes[0]), *of_net = codes_of(net, codes[1]);
    rb_labelled coded = train.labelled;
    coded.source = of_rfn;
    assert_ok(ctx, rb_finetune(ctx, options, NULL, &coded, NULL, &above));
    assert_ok(ctx, rb_stack_new(ctx, (const rb_model *[]){rfn, above}, 2, &stack));
    assert_ok(ctx, rb_finetune(ctx, plain, stack, &train.labelled, NULL, &started));
    int64_t rows, cols;
    assert_non_null(rb_model_array(started, "weights2", &rows, &cols));
    assert_int_equal(rows, 5);
    assert_int_equal(cols, 6);
    /* What it takes off the codes below is in the first of its layers alone. */
    for (int j = 0; j < 4; j++)
        assert_close(fixture_array(started, "bias3")[j], fixture_array(above, "bias2")[j], 1e-7);
    rb_model_free(stack);
    rb_model *top = fixture_text_model(ctx, "rfn", of_net, NULL, "units=2 iterations=5");
    assert_ok(ctx, rb_stack_new(ctx, (const rb_model *[]){net, top}, 2, &stack));
    assert_error(ctx, rb_finetune(ctx, plain, stack, &train.labelled, NULL, &none),
                 RB_ERROR_UNSUPPORTED, "layer 1 of the stack is a net");
    rb_model *models[] = {rfn, net, above, stack, started, top};
    for (int i = 0; i < 6; i++)
        rb_model_free(models[i]);
    rb_source_free(of_rfn);
    rb_source_free(of_net);
    rb_options_free(options);
    rb_options_free(plain);
}

/* Of a damaged stack: a layer that takes other features than the one below has units. */
static void layers_of_stacks_fit(void **state) {
    (void)state;
    static const char *const arrays[] = {"layer2.input_centre", "layer2.input_scale",
                                         "layer2.loadings", "layer2.noise"};
    rb_options *options, *plain = options_of("epochs=2");
    rb_model *stack, *none;
    assert_ok(ctx, rb_options_unset(ctx, plain, "layers"));
    assert_ok(ctx, rb_stack_options(ctx, "rfn", &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "units=6,4 iterations=10 seed=1"));
    assert_ok(ctx, rb_stack_fit(ctx, options, train.labelled.source, &stack));
    for (int i = 0; i < 4; i++)
        for (int64_t a = 0; a < stack->n_arrays; a++)
            stack->arrays[a].rows -= strcmp(stack->arrays[a].name, arrays[i]) == 0;
    assert_error(ctx, rb_finetune(ctx, plain, stack, &train.labelled, NULL, &none), RB_ERROR_FORMAT,
                 "layer 2 of the stack has other features");
    rb_model_free(stack);
    rb_options_free(options);
    rb_options_free(plain);
}

static double length_of(const double *row, int64_t count) {
    double squares = 0;
    for (int64_t i = 0; i < count; i++)
        squares += row[i] * row[i];
    return sqrt(squares);
}

/* With filter=rescaled every unit gives its code times a number above 0, in the layers above the
 * first too, and has weights as long as random ones. */
static void rescaled_units_give_codes(void **state) {
    (void)state;
    enum { UNITS = 5 };
    rb_options *options;
    rb_model *stack, *nets[2];
    assert_ok(ctx, rb_stack_options(ctx, "rfn", &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "units=5,5 iterations=30 seed=1"));
    assert_ok(ctx, rb_stack_fit(ctx, options, train.labelled.source, &stack));
    rb_options_free(options);
    for (int i = 0; i < 2; i++) {
        options = options_of("epochs=1 rate=1e-30 precision=float64");
        assert_ok(ctx, rb_options_unset(ctx, options, "layers"));
        assert_ok(ctx, rb_options_set(ctx, options, "filter", i ? "rescaled" : "posterior"));
        assert_ok(ctx, rb_finetune(ctx, options, stack, &train.labelled, NULL, &nets[i]));
        rb_options_free(options);
    }
    double times[2][UNITS];
    for (int k = 0; k < 2; k++) {
        const char *weights = k ? "weights2" : "weights1", *bias = k ? "bias2" : "bias1";
        int64_t in = k ? UNITS : M;
        const double *w = rb_model_array(nets[0], weights, NULL, NULL);
        const double *v = rb_model_array(nets[1], weights, NULL, NULL);
        const double *b = rb_model_array(nets[0], bias, NULL, NULL);
        const double *c = rb_model_array(nets[1], bias, NULL, NULL);
        for (int64_t j = 0; j < UNITS; j++, w += in, v += in) {
            assert_close(length_of(v, in), sqrt(2), 1e-9);
            times[k][j] = v[0] * (k ? times[0][0] : 1) / w[0];
            assert_true(times[k][j] > 0);
            for (int64_t i = 0; i < in; i++)
                assert_close(v[i] * (k ? times[0][i] : 1), times[k][j] * w[i],
                             1e-9 * (1 + fabs(times[k][j] * w[i])));
            assert_close(c[j], times[k][j] * b[j], 1e-9 * (1 + fabs(c[j])));
        }
    }
    rb_model_free(stack);
    rb_model_free(nets[0]);
    rb_model_free(nets[1]);
}

/* Units that have lost their loadings would never learn: they begin at random. */
static void dead_units_begin_at_random(void **state) {
    (void)state;
    const char *filters[] = {"plain", "rescaled"};
    rb_model *net,
        *rfn = fixture_text_model(ctx, "rfn", train.labelled.source, NULL,
                                  "units=6 iterations=60 seed=1 sparse-loadings=1e6 prior-mean=1");
    assert_true(length_of(rb_model_array(rfn, "loadings", NULL, NULL), 6 * M) == 0);
    for (int i = 0; i < 2; i++) {
        rb_options *options = options_of("epochs=1 rate=1e-30");
        assert_ok(ctx, rb_options_unset(ctx, options, "layers"));
        assert_ok(ctx, rb_options_set(ctx, options, "filter", filters[i]));
        assert_ok(ctx, rb_finetune(ctx, options, rfn, &train.labelled, NULL, &net));
        const double *w = rb_model_array(net, "weights1", NULL, NULL);
        double squares = pow(length_of(w, 6 * M), 2) / 6;
        assert_true(squares > 1 && squares < 3);
        assert_true(length_of(rb_model_array(net, "bias1", NULL, NULL), 6) < 1e-20);
        for (int j = 1; j < 6; j++)
            assert_true(w[0] != w[j * M]);
        rb_model_free(net);
        rb_options_free(options);
    }
    rb_model_free(rfn);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_from_models),         cmocka_unit_test(nets_are_last_in_stacks),
        cmocka_unit_test(layers_of_stacks_fit),       cmocka_unit_test(rescaled_units_give_codes),
        cmocka_unit_test(dead_units_begin_at_random),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
