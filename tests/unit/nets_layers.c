/* Layers as numbers: what they compute by hand is what the model says, written and read back they
 * are the same, and numbers that do not fit are refused. */
#include "fixture.h"
#include "nets/files/layers_file.h"
#include <rarebit/deep.h>

#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { N = 40, M = 6, OUT = 2 };

static rb_context *ctx;
static double *values;
static rb_source *source;

static int set_up(void **state) {
    (void)state;
    ctx = fixture_context();
    values = fixture_values(N, M, 2, 5);
    source = fixture_data(ctx, values, N, M);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rb_source_free(source);
    free(values);
    rb_context_free(ctx);
    return 0;
}

static rb_model *net_of(const char *units) {
    rb_options *options;
    rb_model *net;
    int64_t class_of[N];
    for (int i = 0; i < N; i++)
        class_of[i] = values[(ptrdiff_t)i * M] > 0.5;
    rb_labelled train = {
        .size = sizeof train, .source = source, .n_classes = OUT, .class_of = class_of};
    assert_ok(ctx, rb_finetune_options_new(ctx, &options));
    assert_ok(ctx, rb_options_set(ctx, options, "layers", units));
    assert_ok(ctx, rb_options_set(ctx, options, "precision", "float64"));
    assert_ok(ctx, rb_options_set(ctx, options, "epochs", "3"));
    assert_ok(ctx, rb_finetune(ctx, options, NULL, &train, NULL, &net));
    rb_options_free(options);
    return net;
}

static rb_model *make_net(void) {
    return net_of("5,4");
}

static rb_model *make_rfn(const char *estep) {
    return fixture_text_model(ctx, "rfn", source, NULL,
                              "units=3 estep=%s iterations=5 precision=float64", estep);
}

/* The outputs of sample i. */
static void compute(const rb_model *model, const rb_layers *layers, int i, double *to) {
    double below[16];
    for (int k = 0; k < M; k++)
        below[k] = (values[i * M + k] - model->preprocess->centre[k]) / model->preprocess->scale[k];
    for (int64_t l = 0; l < rb_layers_count(layers); l++) {
        int64_t out, in;
        const double *w = rb_layers_weights(layers, l, &out, &in), *b = rb_layers_bias(layers, l);
        for (int64_t j = 0; j < out; j++) {
            to[j] = b[j];
            for (int64_t k = 0; k < in; k++)
                to[j] += w[j * in + k] * below[k];
            if (strcmp(rb_layers_activation(layers, l), "rectify") == 0) to[j] = fmax(0, to[j]);
        }
        for (int64_t j = 0; j < out; j++)
            below[j] = to[j];
    }
}

static void they_are_the_model(void **state) {
    (void)state;
    rb_model *net = make_net(), *rfn = make_rfn("newton");
    rb_layers *layers;
    double said[N * 3], mine[16];
    assert_ok(ctx, rb_layers_new(ctx, rfn, NULL, &layers));
    assert_int_equal(rb_layers_count(layers), 1);
    assert_ok(ctx, rb_encode_into(ctx, rfn, source, RB_FLOAT64, said, 3, 1));
    for (int i = 0; i < N; i++) {
        compute(rfn, layers, i, mine);
        for (int j = 0; j < 3; j++)
            assert_close(mine[j], said[i * 3 + j], 1e-9);
    }
    rb_layers_free(layers);
    assert_ok(ctx, rb_layers_new(ctx, net, NULL, &layers));
    assert_int_equal(rb_layers_count(layers), 3);
    assert_string_equal(rb_layers_activation(layers, 2), "softmax");
    assert_null(rb_layers_weights(layers, 3, NULL, NULL));
    assert_null(rb_layers_activation(layers, -1));
    assert_ok(ctx, rb_encode_into(ctx, net, source, RB_FLOAT64, said, OUT, 1));
    for (int i = 0; i < N; i++) {
        compute(net, layers, i, mine);
        double sum = exp(mine[0]) + exp(mine[1]);
        assert_close(exp(mine[0]) / sum, said[(ptrdiff_t)i * OUT], 1e-9);
    }
    rb_layers_free(layers);
    rb_model_free(net);
    rb_model_free(rfn);
}

static void files_come_back(void **state) {
    (void)state;
    static const char *const suffixes[] = {"npz", "onnx"};
    rb_model *net = make_net(), *back;
    rb_layers *layers;
    double before[N * OUT], after[N * OUT];
    assert_ok(ctx, rb_encode_into(ctx, net, source, RB_FLOAT64, before, OUT, 1));
    assert_ok(ctx, rb_layers_new(ctx, net, NULL, &layers));
    for (int i = 0; i < 2; i++) {
        char path[64];
        snprintf(path, sizeof path, "/tmp/rarebit-layers-%ld.%s", (long)getpid(), suffixes[i]);
        assert_ok(ctx, rb_layers_write(ctx, net, layers, path));
        assert_ok(ctx, rb_net_read(ctx, path, net, &back));
        assert_ok(ctx, rb_encode_into(ctx, back, source, RB_FLOAT64, after, OUT, 1));
        assert_memory_equal(before, after, sizeof before);
        assert_int_equal(rb_model_iterations(back), 0);
        rb_model_free(back);
        unlink(path);
    }
    assert_int_equal(rb_layers_path_check(ctx, "net.h5"), RB_ERROR_ARGUMENT);
    rb_layers_free(layers);
    rb_model_free(net);
}

/* A file is of a net whose samples are prepared in the same way. */
static void preparation_is_compared(void **state) {
    (void)state;
    rb_model *net = make_net(), *back;
    rb_layers *layers;
    char path[64];
    snprintf(path, sizeof path, "/tmp/rarebit-layers-%ld.npz", (long)getpid());
    assert_ok(ctx, rb_layers_new(ctx, net, NULL, &layers));
    net->preprocess->options.totals = 0.5;
    assert_ok(ctx, rb_layers_write(ctx, net, layers, path));
    assert_ok(ctx, rb_net_read(ctx, path, net, &back));
    rb_model_free(back);
    for (int other = 0; other < 2; other++) {
        net->preprocess->options.totals = other ? 0.25 : 0;
        assert_int_equal(rb_net_read(ctx, path, net, &back), RB_ERROR_DATA);
    }
    unlink(path);
    rb_layers_free(layers);
    rb_model_free(net);
}

/* The last one of a field of a message, as bytes or a number. */
static rb_field_walk last_of(rb_span bytes, int field) {
    rb_field_walk walk = {.left = bytes}, last = {.damaged = true};
    while (rb_field_next(&walk))
        last = walk.field == field ? walk : last;
    assert_false(last.damaged);
    return last;
}

/* Input and output of a graph have as many columns as there are features, and outputs: the last
 * dimension of value.type.tensor_type.shape, as a number. */
static void graphs_tell_their_shapes(void **state) {
    (void)state;
    static const int path_to[] = {2, 1, 2, 1}, ends[] = {11, 12}; /* input, output */
    static char bytes[1 << 16];
    rb_model *net = make_net();
    rb_layers *layers;
    char path[64];
    snprintf(path, sizeof path, "/tmp/rarebit-layers-%ld.onnx", (long)getpid());
    assert_ok(ctx, rb_layers_new(ctx, net, NULL, &layers));
    assert_ok(ctx, rb_layers_write(ctx, net, layers, path));
    FILE *file = fopen(path, "rb");
    rb_span model = {(const void *)bytes, (int64_t)fread(bytes, 1, sizeof bytes, file)};
    assert_int_equal(fclose(file), 0);
    for (int end = 0; end < 2; end++) {
        rb_span at = last_of(last_of(model, 7).bytes, ends[end]).bytes;
        for (int i = 0; i < 4; i++)
            at = last_of(at, path_to[i]).bytes;
        rb_field_walk columns = last_of(at, 1);
        assert_int_equal(columns.wire, 0);
        assert_int_equal(columns.integer, end ? OUT : M);
    }
    unlink(path);
    rb_layers_free(layers);
    rb_model_free(net);
}

/* Other programs store inputs x outputs: "transB" of the first layer becomes 0 in the file. */
static void weights_may_be_turned_around(void **state) {
    (void)state;
    static char bytes[1 << 16];
    rb_model *net = net_of("6,4"), *back;
    rb_layers *layers, *turned;
    char path[64];
    snprintf(path, sizeof path, "/tmp/rarebit-layers-%ld.onnx", (long)getpid());
    assert_ok(ctx, rb_layers_new(ctx, net, NULL, &layers));
    assert_ok(ctx, rb_layers_write(ctx, net, layers, path));
    FILE *file = fopen(path, "r+b");
    size_t count = fread(bytes, 1, sizeof bytes, file);
    char *name = memmem(bytes, count, "transB", 6);
    assert_non_null(name);
    char *value = memmem(name, 16, "\x18\x01", 2); /* field 3, an integer: 1 */
    assert_non_null(value);
    value[1] = 0;
    rewind(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
    assert_ok(ctx, rb_net_read(ctx, path, net, &back));
    assert_ok(ctx, rb_layers_new(ctx, back, NULL, &turned));
    const double *was = rb_layers_weights(layers, 0, NULL, NULL);
    const double *is = rb_layers_weights(turned, 0, NULL, NULL);
    for (int e = 0; e < M * M; e++)
        assert_true(is[e] == was[e % M * M + e / M]);
    unlink(path);
    rb_layers_free(layers);
    rb_layers_free(turned);
    rb_model_free(back);
    rb_model_free(net);
}

static void others_are_refused(void **state) {
    (void)state;
    rb_model *net = make_net(), *cyclic = make_rfn("cyclic"), *changed;
    rb_layers *layers;
    double w1[5 * M] = {0}, w2[20] = {0}, w3[8] = {0}, b[8] = {0};
    const double *weights[] = {w1, w2, w3}, *bias[] = {b, b, b};
    assert_int_equal(rb_layers_new(ctx, net, "plain", &layers), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_layers_new(ctx, cyclic, "other", &layers), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_net_replace(ctx, cyclic, 3, weights, bias, &changed), RB_ERROR_ARGUMENT);
    assert_int_equal(rb_net_replace(ctx, net, 2, weights, bias, &changed), RB_ERROR_ARGUMENT);
    assert_ok(ctx, rb_net_replace(ctx, net, 3, weights, bias, &changed));
    rb_model_free(changed);
    w2[3] = INFINITY;
    assert_int_equal(rb_net_replace(ctx, net, 3, weights, bias, &changed), RB_ERROR_DATA);
    assert_null(changed);
    rb_model_free(net);
    rb_model_free(cyclic);
}

/* z of each output at x; by hand. */
static double answer(const rb_layers *layers, int64_t unit, const double *x) {
    double below[16], above[16] = {0};
    int64_t out, in;
    memcpy(below, x, M * sizeof *x);
    for (int64_t l = 0; l < rb_layers_count(layers); l++) {
        const double *w = rb_layers_weights(layers, l, &out, &in), *b = rb_layers_bias(layers, l);
        for (int64_t j = 0; j < out; j++) {
            above[j] = b[j];
            for (int64_t k = 0; k < in; k++)
                above[j] += w[j * in + k] * below[k];
        }
        for (int64_t j = 0; j < out; j++)
            below[j] = fmax(0, above[j]);
    }
    return above[unit];
}

/* Of one layer it is the covariance times the weights; of a net no one of many samples of that
 * length, near and far, is answered more. */
static void maxima_are_largest(void **state) {
    (void)state;
    rb_model *net = make_net(), *rfn = make_rfn("newton");
    rb_draws draws = {{9, RB_RANDOM_SIMULATE, 0}, 0};
    rb_layers *layers;
    double samples[M * 3], x[M], best[M];
    assert_ok(ctx, rb_layers_new(ctx, rfn, NULL, &layers));
    assert_ok(ctx, rb_layers_maximise(ctx, layers, samples));
    /* x = (W W' + Psi) w, times a number. */
    const double *loadings = rb_model_array(rfn, "loadings", NULL, NULL);
    const double *noise = rb_model_array(rfn, "noise", NULL, NULL);
    for (int j = 0; j < 3; j++) {
        const double *w = rb_layers_weights(layers, 0, NULL, NULL) + (ptrdiff_t)j * M;
        double both = 0, of_x = 0, of_s = 0;
        for (int k = 0; k < M; k++) {
            x[k] = noise[k] * w[k];
            for (int i = 0; i < M; i++)
                for (int c = 0; c < 3; c++)
                    x[k] += loadings[k * 3 + c] * loadings[i * 3 + c] * w[i];
            both += x[k] * samples[k * 3 + j];
            of_x += x[k] * x[k];
            of_s += samples[k * 3 + j] * samples[k * 3 + j];
        }
        assert_close(both, sqrt(of_x * of_s), 1e-9);
    }
    rb_layers_free(layers);
    assert_ok(ctx, rb_layers_new(ctx, net, NULL, &layers));
    assert_ok(ctx, rb_layers_maximise(ctx, layers, samples));
    for (int j = 0; j < OUT; j++) {
        double squares = 0;
        for (int k = 0; k < M; k++) {
            best[k] = samples[k * OUT + j];
            squares += best[k] * best[k];
        }
        assert_close(squares, M, 1e-9);
        double reached = answer(layers, j, best);
        for (int i = 0; i < 20000; i++) {
            double length = 0, share = i % 2 ? 1 : 0.1;
            for (int k = 0; k < M; k++) {
                x[k] = (1 - share) * best[k] + share * rb_draw_normal(&draws);
                length += x[k] * x[k];
            }
            for (int k = 0; k < M; k++)
                x[k] *= sqrt(M / length);
            assert_true(answer(layers, j, x) <= reached + 1e-3 * fabs(reached));
        }
    }
    rb_layers_free(layers);
    rb_model_free(net);
    rb_model_free(rfn);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_the_model),           cmocka_unit_test(files_come_back),
        cmocka_unit_test(maxima_are_largest),           cmocka_unit_test(graphs_tell_their_shapes),
        cmocka_unit_test(weights_may_be_turned_around), cmocka_unit_test(preparation_is_compared),
        cmocka_unit_test(others_are_refused),
    };
    return run_each(tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
