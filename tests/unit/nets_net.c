/* Nets: gradients against differences for every kind of output and noise, layers that models hand
 * over, steps of the optimisers, and what scores say. */
#include "fixture.h"

#include <rarebit/stack.h>

#include "nets/train.h"

#include <sys/mman.h>
#include <unistd.h>

enum { N = 11, M = 6, OUT = 3 };

static rb_context *ctx;
static double *values;

static int set_up(void **state) {
    (void)state;
    ctx = fixture_context();
    values = fixture_values(N, M, 2, 5);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(values);
    rb_context_free(ctx);
    return 0;
}

/* ---- gradients ---- */

struct problem {
    deep_net net;
    deep_pass pass;
    deep_noise noise;
    deep_target target;
    rb_block block;
    double *gradient;
    int64_t class_of[N], samples[N];
    double targets[N * OUT], weights[N];
};

static void begin(struct problem *p, deep_outputs outputs, double masking, double dropout) {
    rb_draws draws = {{3, RB_RANDOM_SIMULATE, 0}, 0};
    *p = (struct problem){
        .net = {.type = RB_FLOAT64, .outputs = outputs, .layers = 3, .sizes = {M, 7, 5, OUT}}};
    assert_ok(ctx, deep_net_lay_out(ctx, &p->net));
    p->net.values = calloc((size_t)p->net.count, sizeof(double));
    p->gradient = calloc((size_t)p->net.count, sizeof(double));
    for (int64_t i = 0; i < p->net.count; i++)
        ((double *)p->net.values)[i] = 0.5 * rb_draw_normal(&draws);
    assert_ok(ctx, deep_pass_new(ctx, &p->net, N, true, &p->pass));
    p->noise = (deep_noise){.masking = masking, .dropout = dropout, .mask_key = 7};
    for (int k = 0; k < p->net.layers; k++)
        p->noise.drop_keys[k] = 100 + (uint64_t)k;
    for (int64_t i = 0; i < N; i++) {
        p->samples[i] = 3 * i;
        p->class_of[i] = i == 4 ? -1 : i % OUT;
        p->weights[i] = 0.5 + (double)(i % 3);
        for (int j = 0; j < OUT; j++)
            p->targets[i * OUT + j] = outputs == DEEP_LINEAR ? (double)(i - j) : (i + j) % 3 * 0.5;
    }
    p->target = (deep_target){.class_of = outputs == DEEP_SOFTMAX ? p->class_of : NULL,
                              .values = outputs == DEEP_SOFTMAX ? NULL : p->targets,
                              .weights = p->weights,
                              .samples = p->samples};
    p->block = (rb_block){.n_samples = N, .n_features = M, .dense = {values, N, M, M, RB_FLOAT64}};
}

static void end(struct problem *p) {
    deep_pass_free(&p->pass);
    free(p->net.values);
    free(p->gradient);
}

/* The loss, and in `gradient` its derivatives where that is not NULL. */
static double loss(struct problem *p, double *gradient) {
    rb_block x;
    assert_ok(ctx, deep_net_input(ctx, &p->pass, &p->block, &p->noise, p->samples, &x));
    rb_dense y = deep_net_forward(ctx, &p->net, &x, &p->noise, p->samples, &p->pass);
    double sum = deep_net_loss(&p->net, y, &p->target, 1);
    if (gradient) deep_net_backward(ctx, &p->net, &x, &p->noise, &p->pass, gradient);
    return sum;
}

static void assert_gradient(struct problem *p) {
    const double step = 1e-6;
    double *w = p->net.values;
    int64_t moved = 0;
    loss(p, p->gradient);
    for (int64_t i = 0; i < p->net.count; i++) {
        double was = w[i];
        w[i] = was + step;
        double above = loss(p, NULL);
        w[i] = was - step;
        double below = loss(p, NULL);
        w[i] = was;
        assert_close(p->gradient[i], (above - below) / (2 * step), 1e-5);
        moved += p->gradient[i] != 0;
    }
    assert_true(moved > p->net.count / 3);
}

/* Of all weights and biases: softmax, logistic and linear outputs, with and without noise. */
static void gradients_are_differences(void **state) {
    (void)state;
    for (int outputs = DEEP_SOFTMAX; outputs <= DEEP_LINEAR; outputs++) {
        for (int noise = 0; noise < 4; noise++) {
            struct problem p;
            begin(&p, (deep_outputs)outputs, noise & 1 ? 0.3 : 0, noise & 2 ? 0.4 : 0);
            assert_gradient(&p);
            end(&p);
        }
    }
}

/* Sparse samples, with a shift, are the same as dense ones. */
static void sparse_samples_give_the_same(void **state) {
    (void)state;
    double dense[N * M], stored[N * M], shift[M] = {0.5, 0, -1, 2, 0, 0.25};
    int64_t starts[N + 1] = {0}, count = 0;
    int32_t columns[N * M];
    for (int64_t i = 0; i < N; i++) {
        for (int k = 0; k < M; k++) {
            bool there = (i + k) % 3 == 0;
            dense[i * M + k] = (there ? values[i * M + k] : 0) - shift[k];
            if (!there) continue;
            columns[count] = k;
            stored[count++] = values[i * M + k];
        }
        starts[i + 1] = count;
    }
    for (int masked = 0; masked < 2; masked++) {
        struct problem a, b;
        begin(&a, DEEP_SOFTMAX, masked ? 0.3 : 0, 0.2);
        begin(&b, DEEP_SOFTMAX, masked ? 0.3 : 0, 0.2);
        a.block.dense.data = dense;
        b.block.sparse = true;
        b.block.csr = (rb_csr){N, M, starts, columns, stored, RB_FLOAT64};
        b.block.shift = shift;
        assert_close(loss(&a, a.gradient), loss(&b, b.gradient), 1e-14);
        for (int64_t i = 0; i < a.net.count; i++)
            assert_close(a.gradient[i], b.gradient[i], 1e-13);
        end(&a);
        end(&b);
    }
}

/* Of wide samples with few entries, which are multiplied without their zeros, in both types. */
static void few_entries_give_the_same(void **state) {
    (void)state;
    enum { WIDE = 300, UNITS = 7 };
    double shift[WIDE], dense[N * WIDE] = {0}, stored[N * WIDE];
    float narrow[N * WIDE], narrow_stored[N * WIDE];
    int64_t starts[N + 1] = {0}, count = 0;
    int32_t columns[N * WIDE];
    for (int64_t i = 0; i < N; i++) {
        for (int32_t k = 0; k < WIDE; k++) {
            bool there = i != 3 && (k + 7 * i) % 60 == 0; /* sample 3 has none */
            shift[k] = k % 5 == 0 ? 0 : 0.01 * k;
            if (!there) continue;
            dense[i * WIDE + k] = stored[count] = 0.5 + (double)((i + k) % 4);
            columns[count++] = k;
        }
        starts[i + 1] = count;
    }
    for (int64_t i = 0; i <= N; i++)
        starts[i] += 11; /* as of rows of a larger matrix, whose entries begin at the first */
    for (int c = 0; c < 8; c++) {
        rb_type type = c & 1 ? RB_FLOAT32 : RB_FLOAT64;
        bool masked = c & 2, shifted = c & 4;
        struct problem p[2];
        rb_block input;
        rb_draws draws = {{3, RB_RANDOM_SIMULATE, 0}, 0};
        for (int s = 0; s < 2; s++) {
            begin(&p[s], DEEP_SOFTMAX, masked ? 0.4 : 0, 0.2);
            end(&p[s]);
            p[s].net = (deep_net){.type = type, .layers = 2, .sizes = {WIDE, UNITS, OUT}};
            assert_ok(ctx, deep_net_lay_out(ctx, &p[s].net));
            p[s].net.values = calloc((size_t)p[s].net.count, sizeof(double));
            p[s].gradient = calloc((size_t)p[s].net.count, sizeof(double));
            assert_ok(ctx, deep_pass_new(ctx, &p[s].net, N, true, &p[s].pass));
        }
        for (int64_t i = 0; i < p[0].net.count; i++) {
            double w = 0.3 * rb_draw_normal(&draws);
            rb_put(type, p[0].net.values, i, w);
            rb_put(type, p[1].net.values, i, w);
        }
        for (int64_t i = 0; i < N * WIDE; i++)
            narrow[i] = (float)(dense[i] - (shifted ? shift[i % WIDE] : 0));
        for (int64_t e = 0; e < count; e++)
            narrow_stored[e] = (float)stored[e];
        double wide[N * WIDE];
        for (int64_t i = 0; i < N * WIDE; i++)
            wide[i] = dense[i] - (shifted ? shift[i % WIDE] : 0);
        bool single = type == RB_FLOAT32;
        rb_block of_dense = {.n_samples = N,
                             .n_features = WIDE,
                             .dense = {single ? (void *)narrow : wide, N, WIDE, WIDE, type}};
        rb_block of_sparse = {
            .n_samples = N,
            .n_features = WIDE,
            .sparse = true,
            .csr = {N, WIDE, starts, columns, single ? (void *)narrow_stored : stored, type},
            .shift = shifted ? shift : NULL};
        p[0].block = of_dense;
        p[1].block = of_sparse;
        assert_ok(ctx,
                  deep_net_input(ctx, &p[1].pass, &of_sparse, &p[1].noise, p[1].samples, &input));
        assert_int_equal(input.sparse, !(masked && shifted));
        double near = single ? 1e-5 : 1e-13;
        assert_close(loss(&p[0], p[0].gradient), loss(&p[1], p[1].gradient), near);
        for (int64_t i = 0; i < p[0].net.count; i++) {
            double a = rb_get(type, p[0].gradient, i), b = rb_get(type, p[1].gradient, i);
            assert_true(fabs(a - b) <= near * (1 + fabs(a)));
        }
        end(&p[0]);
        end(&p[1]);
    }
}

/* Units are multiplied four at a time; of fewer, nothing is read beyond their weights, which end
 * where memory does. */
static void few_units_are_enough(void **state) {
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(memory != MAP_FAILED);
    assert_int_equal(mprotect(memory + page, page, PROT_NONE), 0);
    int64_t starts[N + 1] = {0};
    int32_t columns[N * M];
    for (int e = 0; e < N * M; e++) {
        columns[e] = e % M;
        starts[e / M + 1] = e + 1;
    }
    rb_block x = {.n_samples = N,
                  .n_features = M,
                  .sparse = true,
                  .csr = {N, M, starts, columns, values, RB_FLOAT64}};
    for (int64_t units = 1; units <= 5; units++) {
        double z[N * 5], *w = (double *)(void *)(memory + page) - units * M;
        for (int64_t e = 0; e < units * M; e++)
            w[e] = (double)(e % 7) - 2;
        deep_sparse_forward(ctx, &x, NULL, (rb_dense){w, units, M, M, RB_FLOAT64},
                            (rb_dense){z, N, units, units, RB_FLOAT64});
        for (int64_t e = 0; e < N * units; e++) {
            double sum = 0;
            for (int k = 0; k < M; k++)
                sum += values[e / units * M + k] * w[e % units * M + k];
            assert_close(z[e], sum, 1e-12);
        }
    }
    munmap(memory, 2 * page);
}

/* sum_i delta_i (x_i - shift), also of deltas that are 0, 1 and -1. */
static void gradients_of_sparse_samples_are_sums(void **state) {
    (void)state;
    double delta[N], shift[M], g[M];
    int64_t starts[N + 1] = {0};
    int32_t columns[N * M];
    for (int e = 0; e < N * M; e++) {
        columns[e] = e % M;
        starts[e / M + 1] = e + 1;
        delta[e / M] = e / M % 3 - 1;
        shift[e % M] = 0.5 * (e % M);
    }
    rb_block x = {.n_samples = N,
                  .n_features = M,
                  .sparse = true,
                  .csr = {N, M, starts, columns, values, RB_FLOAT64}};
    deep_sparse_gradient(ctx, &x, shift, (rb_dense){delta, N, 1, 1, RB_FLOAT64},
                         (rb_dense){g, 1, M, M, RB_FLOAT64});
    for (int k = 0; k < M; k++) {
        double sum = 0;
        for (int i = 0; i < N; i++)
            sum += delta[i] * (values[i * M + k] - shift[k]);
        assert_close(g[k], sum, 1e-12);
    }
}

/* Dropout keeps the mean of what units give, and its share of them. */
static void dropout_keeps_means(void **state) {
    (void)state;
    enum { ROWS = 400, UNITS = 96 };
    double *row = calloc(UNITS, sizeof *row), sum = 0;
    uint32_t words[128];
    int64_t zeros = 0;
    for (int64_t i = 0; i < ROWS; i++) {
        for (int j = 0; j < UNITS; j++)
            row[j] = 1;
        rb_kernels_of(ctx)->random_row(9, (uint64_t)i, UNITS, words);
        deep_drop((rb_dense){row, 1, UNITS, UNITS, RB_FLOAT64}, words, (uint32_t)(0.25 * 0x1p32),
                  1 / 0.75);
        for (int j = 0; j < UNITS; j++) {
            sum += row[j];
            zeros += row[j] == 0;
        }
    }
    assert_true(fabs(sum / (ROWS * UNITS) - 1) < 0.02);
    assert_true(fabs((double)zeros / (ROWS * UNITS) - 0.25) < 0.01);
    free(row);
}

/* ---- steps ---- */

/* Each optimiser against its equations, written down once more for one number. */
static void steps_are_as_defined(void **state) {
    (void)state;
    double g = 0.7, w = 2, v = 0.3, m = -0.1, s = 0.04, decay = 0.01, slope = g + decay * w;
    deep_step step = {.rate = 0.1,
                      .momentum = 0.9,
                      .decay = decay,
                      .beta1 = 0.9,
                      .beta2 = 0.999,
                      .correction1 = 1 - 0.9,
                      .correction2 = 1 - 0.999,
                      .epsilon = 1e-8};
    double a = w, b = v;
    deep_step_sgd(RB_FLOAT64, 1, &step, &g, NULL, &a);
    assert_close(a, w - 0.1 * slope, 1e-15);
    a = w;
    deep_step_sgd(RB_FLOAT64, 1, &step, &g, &b, &a);
    assert_close(b, 0.9 * v + slope, 1e-15);
    assert_close(a, w - 0.1 * (0.9 * v + slope), 1e-15);
    a = w;
    b = v;
    step.nesterov = true;
    deep_step_sgd(RB_FLOAT64, 1, &step, &g, &b, &a);
    assert_close(a, w - 0.1 * (slope + 0.9 * (0.9 * v + slope)), 1e-15);
    a = w;
    double first = m, second = s;
    deep_step_adam(RB_FLOAT64, 1, &step, &g, &first, &second, &a);
    double m1 = 0.9 * m + 0.1 * slope, s1 = 0.999 * s + 0.001 * slope * slope;
    assert_close(first, m1, 1e-15);
    assert_close(second, s1, 1e-15);
    assert_close(a, w - 0.1 * (m1 / 0.1) / (sqrt(s1 / 0.001) + 1e-8), 1e-13);
    float gf = 0.7F, wf = 2, vf = 0.3F;
    step.nesterov = false;
    deep_step_sgd(RB_FLOAT32, 1, &step, &gf, &vf, &wf);
    assert_close((double)wf, w - 0.1 * (0.9 * v + slope), 1e-6);
}

/* Adam's moments, divided by 1 - beta^steps each, of a net with one weight and a bias. */
static void adam_corrects_by_its_steps(void **state) {
    (void)state;
    enum { MOST = 64 };
    double gradient[MOST] = {0}, numbers[MOST] = {0}, first[MOST] = {0}, second[MOST] = {0};
    double expected[2] = {0}, m[2] = {0}, s[2] = {0};
    deep_train_options o = {.optimizer = DEEP_ADAM};
    deep_training t = {.ctx = ctx,
                       .options = &o,
                       .net = {.type = RB_FLOAT64, .layers = 1, .sizes = {1, 1}, .values = numbers},
                       .gradient = gradient,
                       .first = first,
                       .second = second};
    assert_ok(ctx, deep_net_lay_out(ctx, &t.net));
    assert_in_range(t.net.count, 2, MOST);
    const int64_t places[] = {t.net.weights[0], t.net.biases[0]};
    for (int step = 1; step <= 3; step++) {
        for (int e = 0; e < 2; e++) {
            double g = gradient[places[e]] = e ? -0.8 : 0.3 * step;
            m[e] = 0.9 * m[e] + 0.1 * g;
            s[e] = 0.999 * s[e] + 0.001 * g * g;
            expected[e] -=
                0.1 * m[e] / (1 - pow(0.9, step)) / (sqrt(s[e] / (1 - pow(0.999, step))) + 1e-8);
        }
        deep_train_step(&t, 0.1);
        assert_int_equal(t.progress.steps, step);
        for (int e = 0; e < 2; e++)
            assert_close(numbers[places[e]], expected[e], 1e-13);
    }
}

static void rates_fall_as_asked(void **state) {
    (void)state;
    deep_train_options o = {.rate = 0.1, .rate_decay = 0.5, .rate_step = 3, .epochs = 10};
    assert_close(deep_rate(&o, 7), 0.1, 1e-15);
    o.schedule = DEEP_STEPS;
    assert_close(deep_rate(&o, 2), 0.1, 1e-15);
    assert_close(deep_rate(&o, 3), 0.05, 1e-15);
    assert_close(deep_rate(&o, 8), 0.025, 1e-15);
    o.schedule = DEEP_EXPONENTIAL;
    assert_close(deep_rate(&o, 3), 0.0125, 1e-15);
    o.schedule = DEEP_COSINE;
    assert_close(deep_rate(&o, 0), 0.1, 1e-15);
    assert_close(deep_rate(&o, 5), 0.05, 1e-15);
}

/* ---- layers of models ---- */

/* Those of an rfn are its codes; of a dae too. */
static void layers_give_the_codes_of_the_model(void **state) {
    (void)state;
    static const char *const methods[] = {"rfn", "dae"};
    static const char *const options_of[] = {"units=4 iterations=20 preset=paper precision=float64",
                                             "units=4 iterations=20 precision=float64"};
    for (int i = 0; i < 2; i++) {
        rb_options *options;
        rb_model *model;
        double codes[N * 4];
        deep_layers layers = {0};
        rb_source *source = fixture_data(ctx, values, N, M);
        assert_ok(ctx, rb_options_new(ctx, methods[i], &options));
        assert_ok(ctx, rb_options_set_all(ctx, options, "%s", options_of[i]));
        assert_ok(ctx, rb_fit(ctx, options, source, NULL, &model));
        assert_ok(ctx, rb_encode_into(ctx, model, source, RB_FLOAT64, codes, 4, 1));
        assert_ok(ctx, deep_layers_of_model(ctx, model, DEEP_POSTERIOR, &layers));
        assert_int_equal(layers.count, 1);
        const deep_layer *layer = &layers.list[0];
        const rb_preprocess *p = model->preprocess;
        int positive = 0;
        for (int64_t s = 0; s < N; s++) {
            for (int64_t j = 0; j < 4; j++) {
                double sum = layer->bias[j];
                for (int64_t k = 0; k < M; k++) {
                    double x = ((float)values[s * M + k] - p->centre[k]) / p->scale[k];
                    sum += layer->weights[j * M + k] * x;
                }
                assert_close(fmax(0, sum), codes[s * 4 + j], 1e-6);
                positive += sum > 0;
            }
        }
        assert_true(positive > 0);
        deep_layers_free(&layers);
        rb_model_free(model);
        rb_options_free(options);
        rb_source_free(source);
    }
}

/* Layer by layer those of a stack, whatever the layers subtract from the codes below them. */
static void layers_give_the_codes_of_a_stack(void **state) {
    (void)state;
    rb_options *options;
    rb_model *stack;
    double codes[N * 3];
    deep_layers layers = {0};
    rb_source *source = fixture_data(ctx, values, N, M);
    assert_ok(ctx, rb_stack_options(ctx, "rfn", &options));
    assert_ok(ctx, rb_options_set_all(ctx, options,
                                      "units=5,3 iterations=20 preset=paper "
                                      "prior-mean=-0.4 precision=float64 scale=sd"));
    assert_ok(ctx, rb_stack_fit(ctx, options, source, &stack));
    assert_ok(ctx, rb_encode_into(ctx, stack, source, RB_FLOAT64, codes, 3, 1));
    assert_ok(ctx, deep_layers_of_model(ctx, stack, DEEP_POSTERIOR, &layers));
    assert_int_equal(layers.count, 2);
    const rb_preprocess *p = stack->preprocess;
    for (int64_t s = 0; s < N; s++) {
        double at[M], next[M];
        for (int64_t k = 0; k < M; k++)
            at[k] = (values[s * M + k] - p->centre[k]) / p->scale[k];
        for (int l = 0; l < 2; l++) {
            const deep_layer *layer = &layers.list[l];
            for (int64_t j = 0; j < layer->out; j++) {
                next[j] = layer->bias[j];
                for (int64_t k = 0; k < layer->in; k++)
                    next[j] += layer->weights[j * layer->in + k] * at[k];
            }
            for (int64_t j = 0; j < layer->out; j++)
                at[j] = fmax(0, next[j]);
        }
        for (int j = 0; j < 3; j++)
            assert_close(at[j], codes[s * 3 + j], 1e-6);
    }
    deep_layers_free(&layers);
    rb_model_free(stack);
    rb_options_free(options);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(sparse_samples_give_the_same),
        cmocka_unit_test(few_entries_give_the_same),
        cmocka_unit_test(few_units_are_enough),
        cmocka_unit_test(gradients_of_sparse_samples_are_sums),
        cmocka_unit_test(dropout_keeps_means),
        cmocka_unit_test(steps_are_as_defined),
        cmocka_unit_test(adam_corrects_by_its_steps),
        cmocka_unit_test(rates_fall_as_asked),
        cmocka_unit_test(layers_give_the_codes_of_the_model),
        cmocka_unit_test(layers_give_the_codes_of_a_stack),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
