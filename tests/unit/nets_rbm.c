/* Restricted Boltzmann machines: the free energy is that of all states of the units, the positive
 * phase its gradient, and CD-1 has the expectation of one step of Gibbs sampling. */
#include "nets_fixture.h"

#include "context.h"

enum { N = 23, M = 6, UNITS = 10, STATES = 1 << UNITS };

static void fill_values(int visible, int64_t n, double *values) {
    rb_draws draws = {{4, RB_RANDOM_SIMULATE, 0}, 0};
    for (int64_t e = 0; e < n * M; e++)
        values[e] = visible == NET_BINARY ? rb_draw_uniform(&draws) < 0.5 : rb_draw_normal(&draws);
}

/* A fit of n samples with parameters of some size. */
static void begin(int visible, int64_t units, int64_t n, double *values, struct net_fixture *f) {
    net_options options = net_fixture_options(&rb_method_rbm, units);
    options.visible = visible;
    net_fixture_begin(ctx, &rb_method_rbm, options, n, M, values, f);
    net_fixture_draw(f->fit->parameters.loadings, 0.8, 21);
    net_fixture_draw(f->fit->parameters.hidden_bias, 0.5, 22);
    net_fixture_draw(f->fit->parameters.visible_bias, 0.5, 23);
}

static double logistic(double a) {
    return 1 / (1 + exp(-a));
}

/* The energy as it is defined, of a state of the units. */
static double energy(const net_arrays *p, int visible, const double *v, int state) {
    double sum = 0;
    for (int64_t k = 0; k < p->loadings.rows; k++) {
        double c = rb_dense_get(p->visible_bias, k, 0);
        sum += visible == NET_BINARY ? -c * v[k] : (v[k] - c) * (v[k] - c) / 2;
        for (int64_t j = 0; j < p->loadings.cols; j++)
            sum -= (state >> j & 1) * v[k] * rb_dense_get(p->loadings, k, j);
    }
    for (int64_t j = 0; j < p->loadings.cols; j++)
        sum -= (state >> j & 1) * rb_dense_get(p->hidden_bias, j, 0);
    return sum;
}

/* Minus the logarithm of the sum over all states of the units. */
static double enumerated(const net_arrays *p, int visible, const double *v) {
    double sum = 0;
    for (int s = 0; s < 1 << p->loadings.cols; s++)
        sum += exp(-energy(p, visible, v, s));
    return -log(sum);
}

static double enumerated_all(const struct net_fixture *f, const double *values) {
    double sum = 0;
    for (int64_t i = 0; i < f->problem.n_samples; i++)
        sum += enumerated(&f->fit->parameters, f->options.visible, values + i * M);
    return sum;
}

/* What evaluate says of a model is that sum, of samples as they are preprocessed. */
static void the_free_energy_is_that_of_all_states(void **state) {
    (void)state;
    static const char *const kinds[] = {"gaussian", "binary"};
    for (int visible = NET_GAUSSIAN; visible <= NET_BINARY; visible++) {
        double values[N * M], sum = 0;
        rb_options *options;
        rb_model *model;
        rb_metrics *metrics;
        net_arrays p;
        fill_values(visible, N, values);
        rb_source *source = fixture_data(ctx, values, N, M);
        assert_ok(ctx, rb_options_new(ctx, "rbm", &options));
        assert_ok(ctx, rb_options_set_all(ctx, options,
                                          "units=10 iterations=50 eta=0.2 seed=1 visible=%s "
                                          "batch-size=5 precision=float64",
                                          kinds[visible]));
        assert_ok(ctx, rb_fit(ctx, options, source, NULL, &model));
        assert_ok(ctx, rb_evaluate(ctx, model, source, &metrics));
        p.loadings = (rb_dense){(void *)rb_model_array(model, "loadings", NULL, NULL), M, UNITS,
                                UNITS, RB_FLOAT64};
        p.hidden_bias = (rb_dense){(void *)rb_model_array(model, "hidden_bias", NULL, NULL), UNITS,
                                   1, 1, RB_FLOAT64};
        p.visible_bias = (rb_dense){(void *)rb_model_array(model, "visible_bias", NULL, NULL), M, 1,
                                    1, RB_FLOAT64};
        for (int64_t i = 0; i < N; i++) {
            double v[M];
            for (int64_t k = 0; k < M; k++)
                v[k] = values[i * M + k] - model->preprocess->centre[k];
            sum += enumerated(&p, visible, v) / N;
        }
        assert_close(rb_metrics_get(metrics, "free_energy"), sum, 1e-10);
        rb_metrics_free(metrics);
        rb_model_free(model);
        rb_options_free(options);
        rb_source_free(source);
    }
}

/* The positive phase of a parameter, which is what the sums are less the negative one: v' is in
 * `rebuilt` after a block, and p(h | v') in `codes`. */
static double positive_phase(const struct net_fixture *f, int64_t k, int64_t j) {
    const net_work *work = &f->fit->work;
    double sum = -rb_dense_get(f->fit->sums.gradients.loadings, k, j);
    for (int64_t i = 0; i < f->problem.n_samples; i++)
        sum += rb_dense_get(work->rebuilt, i, k) * rb_dense_get(work->codes, i, j);
    return sum;
}

static double slope(const struct net_fixture *f, const double *values, rb_dense a, int64_t i,
                    int64_t j) {
    const double step = 1e-5;
    double was = rb_dense_get(a, i, j);
    rb_dense_set(a, i, j, was + step);
    double above = enumerated_all(f, values);
    rb_dense_set(a, i, j, was - step);
    double below = enumerated_all(f, values);
    rb_dense_set(a, i, j, was);
    return (above - below) / (2 * step);
}

/* <v p'> = -dF/dW: of the enumerated free energy by differences. */
static void the_positive_phase_is_the_gradient_of_the_free_energy(void **state) {
    (void)state;
    for (int visible = NET_GAUSSIAN; visible <= NET_BINARY; visible++) {
        double values[N * M];
        struct net_fixture f;
        fill_values(visible, N, values);
        begin(visible, UNITS, N, values, &f);
        net_fixture_sums(ctx, &f);
        for (int64_t e = 0; e < M * UNITS; e += 7) {
            int64_t k = e / UNITS, j = e % UNITS;
            assert_close(positive_phase(&f, k, j),
                         -slope(&f, values, f.fit->parameters.loadings, k, j), 1e-6);
        }
        net_fixture_end(&f);
    }
}

/* ---- CD-1 in expectation ---- */

enum { FEW = 3, MANY = 40000 };

struct step {
    double loadings[M][FEW], hidden[FEW], visible[M];
};

/* One step of Gibbs sampling from v by all states of the units, and of binary features. */
static struct step expected(const net_arrays *p, const double *v) {
    struct step e = {{{0}}, {0}, {0}};
    double up[FEW];
    for (int j = 0; j < FEW; j++) {
        up[j] = rb_dense_get(p->hidden_bias, j, 0);
        for (int k = 0; k < M; k++)
            up[j] += v[k] * rb_dense_get(p->loadings, k, j);
    }
    for (int s = 0; s < 1 << FEW; s++) {
        double share = 1, mean[M];
        for (int j = 0; j < FEW; j++)
            share *= s >> j & 1 ? logistic(up[j]) : 1 - logistic(up[j]);
        for (int k = 0; k < M; k++) {
            mean[k] = rb_dense_get(p->visible_bias, k, 0);
            for (int j = 0; j < FEW; j++)
                mean[k] += (s >> j & 1) * rb_dense_get(p->loadings, k, j);
            mean[k] = logistic(mean[k]);
        }
        for (int t = 0; t < 1 << M; t++) {
            double part = share;
            for (int k = 0; k < M; k++)
                part *= t >> k & 1 ? mean[k] : 1 - mean[k];
            for (int j = 0; j < FEW; j++) {
                double a = rb_dense_get(p->hidden_bias, j, 0);
                for (int k = 0; k < M; k++)
                    a += (t >> k & 1) * rb_dense_get(p->loadings, k, j);
                e.hidden[j] += part * logistic(a);
                for (int k = 0; k < M; k++)
                    e.loadings[k][j] += part * (t >> k & 1) * logistic(a);
            }
            for (int k = 0; k < M; k++)
                e.visible[k] += part * (t >> k & 1);
        }
    }
    for (int j = 0; j < FEW; j++) {
        e.hidden[j] -= logistic(up[j]);
        for (int k = 0; k < M; k++)
            e.loadings[k][j] -= v[k] * logistic(up[j]);
    }
    for (int k = 0; k < M; k++)
        e.visible[k] -= v[k];
    return e;
}

/* Means of values between -1 and 1. */
static void assert_mean(double sum, double mean) {
    assert_true(fabs(sum / MANY - mean) < 4.5 * 0.5 / sqrt(MANY));
}

static void binary_statistics_are_those_of_a_gibbs_step(void **state) {
    (void)state;
    static double values[MANY * M];
    static const double v[M] = {1, 0, 0, 1, 1, 0};
    struct net_fixture f;
    for (int i = 0; i < MANY * M; i++)
        values[i] = v[i % M];
    begin(NET_BINARY, FEW, MANY, values, &f);
    net_fixture_sums(ctx, &f);
    const net_arrays *g = &f.fit->sums.gradients;
    struct step e = expected(&f.fit->parameters, v);
    for (int k = 0; k < M; k++) {
        for (int j = 0; j < FEW; j++)
            assert_mean(rb_dense_get(g->loadings, k, j), e.loadings[k][j]);
        assert_mean(rb_dense_get(g->visible_bias, k, 0), e.visible[k]);
    }
    for (int j = 0; j < FEW; j++)
        assert_mean(rb_dense_get(g->hidden_bias, j, 0), e.hidden[j]);
    net_fixture_end(&f);
}

/* v' has the mean W p + c, and variance 1 around W h + c. */
static void gaussian_samples_are_drawn_around_their_mean(void **state) {
    (void)state;
    static double values[MANY * M];
    static const double v[M] = {1, -0.5, 0, 0.3, 1, -2};
    struct net_fixture f;
    for (int i = 0; i < MANY * M; i++)
        values[i] = v[i % M];
    begin(NET_GAUSSIAN, FEW, MANY, values, &f);
    net_fixture_sums(ctx, &f);
    const net_arrays *p = &f.fit->parameters;
    for (int k = 0; k < M; k++) {
        double mean = rb_dense_get(p->visible_bias, k, 0), spread = 1, sum = 0, squares = 0;
        for (int j = 0; j < FEW; j++) {
            double a = rb_dense_get(p->hidden_bias, j, 0), w = rb_dense_get(p->loadings, k, j);
            for (int i = 0; i < M; i++)
                a += v[i] * rb_dense_get(p->loadings, i, j);
            mean += w * logistic(a);
            spread += w * w * logistic(a) * (1 - logistic(a));
        }
        for (int i = 0; i < MANY; i++) {
            double d = rb_dense_get(f.fit->work.rebuilt, i, k) - mean;
            sum += d;
            squares += d * d;
        }
        assert_true(fabs(sum / MANY) < 4.5 * sqrt(spread / MANY));
        assert_close(squares / MANY, spread, 0.04);
    }
    net_fixture_end(&f);
}

/* ---- whole fits ---- */

static void learning_lowers_the_error(void **state) {
    (void)state;
    rb_evaluation e;
    double *values = fixture_values(200, 12, 3, 6);
    rb_source *source = fixture_data(ctx, values, 200, 12);
    rb_model *model = fixture_text_model(ctx, "rbm", source, NULL,
                                         "units=8 batch-size=20 iterations=100 seed=2 scale=sd");
    assert_ok(ctx, fixture_evaluate(ctx, model, source, &e));
    assert_true(model->history[99].objective > 0.7 * model->history[0].objective);
    assert_true(e.variance_explained > 0.4);
    rb_model_free(model);
    rb_source_free(source);
    free(values);
}

/* Values that are no probabilities are named. */
static void binary_takes_values_from_0_to_1(void **state) {
    (void)state;
    double values[N * M];
    rb_options *options;
    rb_model *model;
    fill_values(NET_BINARY, N, values);
    values[2 * M + 1] = 1.5;
    rb_source *source = fixture_data(ctx, values, N, M);
    assert_ok(ctx, rb_options_new(ctx, "rbm", &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "visible=binary iterations=1 batch-size=5"));
    assert_error(ctx, rb_fit(ctx, options, source, NULL, &model), RB_ERROR_DATA,
                 "sample 2, feature 1");
    rb_options_free(options);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_free_energy_is_that_of_all_states),
        cmocka_unit_test(the_positive_phase_is_the_gradient_of_the_free_energy),
        cmocka_unit_test(binary_statistics_are_those_of_a_gibbs_step),
        cmocka_unit_test(gaussian_samples_are_drawn_around_their_mean),
        cmocka_unit_test(learning_lowers_the_error),
        cmocka_unit_test(binary_takes_values_from_0_to_1),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
