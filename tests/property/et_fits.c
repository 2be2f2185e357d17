/* Expectation truncation as a whole: exact EM never lowers the likelihood, gradients, shards,
 * permutations, scaling, threads. */
#include "et_fixture.h"

/* ---- exact EM ---- */

static rb_model *fit_values(rb_context *ctx, const char *method, const rb_et_options *options,
                            const rb_fit_options *fit, const double *y, int64_t n, int64_t d) {
    rb_source *source = fixture_data(ctx, y, n, d);
    rb_model *model = fixture_model(ctx, method, options, fit, NULL, source, NULL);
    rb_source_free(source);
    return model;
}

/* Samples of a setting: fields drawn, then superposed with noise. */
static double *draw_values(rb_context *ctx, struct setting c) {
    struct fitted f;
    begin_setting(ctx, &c, &f);
    double *y = f.y;
    et_finish(f.state);
    return y;
}

/* H' = gamma = H, temperature 1, no noise on the fields, no cut: linca (26), NMF by multiplication
 * (27) also on data with negative values, and NMF with Poisson noise. Sigma and prior are learned
 * too. */
static void exact_em_never_lowers_the_likelihood(void **state) {
    rb_context *ctx = *state;
    static const struct {
        const char *method;
        int noise, mstep;
    } kinds[] = {{"linca", RB_ET_GAUSSIAN, 0},
                 {"nmf-et", RB_ET_GAUSSIAN, RB_ET_MSTEP_MULTIPLICATIVE},
                 {"nmf-et", RB_ET_POISSON, 0}};
    for (int k = 0; k < 3; k++) {
        for (int seed = 0; seed < 8; seed++) {
            struct setting c = {.method = kinds[k].method,
                                .noise = kinds[k].noise,
                                .n = 60,
                                .d = 8,
                                .h = 5,
                                .temperature = 1,
                                .seed = (uint64_t)seed};
            double *y = draw_values(ctx, c);
            rb_et_options options;
            rb_et_options_default(&options);
            rb_fit_options fit = fixture_fit(40, RB_FLOAT64);
            options.units = c.h;
            options.exact = true;
            options.noise = kinds[k].noise;
            options.mstep = kinds[k].mstep;
            options.temperature = "1:1";
            options.weight_noise = 0;
            options.cut_factor = 1e9;
            options.learn_prior = true;
            if (kinds[k].noise == RB_ET_GAUSSIAN) {
                options.sigma = 1;
                options.learn_sigma = true;
            }
            fit.seed = seed;
            rb_model *model = fit_values(ctx, c.method, &options, &fit, y, c.n, c.d);
            double before = -HUGE_VAL, now;
            for (int64_t t = 0; t < rb_model_iterations(model); t++) {
                assert_ok(ctx, rb_model_history(model, t, &now, NULL, NULL));
                if (now < before - 1e-9 * fabs(before)) {
                    fail_msg("%s %d, seed %d: %.15g after %.15g in iteration %d", c.method,
                             kinds[k].noise, seed, now, before, (int)t);
                }
                before = now;
            }
            rb_model_free(model);
            free(y);
        }
    }
}

/* ---- gradients ---- */

static double free_energy(rb_context *ctx, struct fitted *f) {
    run_estep(ctx, f);
    return (double)f->state->sums.used *
           (f->state->estep.free_energy +
            log(et_prior_mass(&f->state->plan.setup, &f->state->parameters,
                              f->state->plan.setup.widest_active)));
}

/* The derivative of the truncated free energy by differences; `value` stays what it was. */
static double difference(rb_context *ctx, struct fitted *f, double *value) {
    const double step = 1e-5 * fmax(1, fabs(*value));
    double old = *value;
    *value = old + step;
    double up = free_energy(ctx, f);
    *value = old - step;
    double down = free_energy(ctx, f);
    *value = old;
    return (up - down) / (2 * step);
}

static void close_to(double got, double expected) {
    if (!(fabs(got - expected) <= 2e-6 * fmax(10, fabs(expected))))
        fail_msg("derivative %.12g, expected %.12g", got, expected);
}

/* Linear Gaussian: dF/dW = beta / sigma^2 (P - Q W); Poisson: beta (up / W - down). In sigma:
 * beta residual / sigma^3 - D N / sigma. In pi_h: beta_p (<s_h> - N pi_h) / (pi_h (1 - pi_h)). All
 * causes are candidates, so that the states do not change. */
static void gradients_are_differences(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        struct setting c = {.method = models[m].method,
                            .noise = models[m].noise,
                            .n = 11,
                            .d = 6,
                            .h = 5,
                            .candidates = 5,
                            .max_active = 3,
                            .temperature = 1.7,
                            .anneal_prior = true,
                            .unequal = true,
                            .singletons = 1,
                            .seed = 4};
        struct fitted f;
        begin_setting(ctx, &c, &f);
        et_parameters *p = &f.state->parameters;
        bool poisson = c.noise == RB_ET_POISSON;
        double beta = 1 / c.temperature;
        for (int h = 0; h < c.h; h++) {
            double pi = p->prior[h], got = difference(ctx, &f, &p->prior[h]);
            run_estep(ctx, &f);
            close_to(got, beta * (f.state->sums.causes[h] - c.n * pi) / (pi * (1 - pi)));
        }
        if (!poisson) {
            double sigma = p->sigma, got = difference(ctx, &f, &p->sigma);
            run_estep(ctx, &f);
            close_to(got, beta * f.state->sums.residual / pow(sigma, 3) - c.d * c.n / sigma);
        }
        for (int h = 0; !(f.state->plan.setup.model.summing == &et_sum_max) && h < c.h; h++) {
            for (int d = 0; d < c.d; d++) {
                double *w = (double *)rb_dense_row(p->fields, h) + d;
                double got = difference(ctx, &f, w), expected;
                run_estep(ctx, &f);
                const et_sums *moments = &f.state->sums;
                expected = rb_dense_get(moments->products, h, d);
                if (poisson) expected = expected / *w - rb_dense_get(moments->weights, h, d);
                for (int j = 0; !poisson && j < c.h; j++)
                    expected -= rb_dense_get(moments->second, h, j) * rb_dense_get(p->fields, j, d);
                close_to(got, beta / (poisson ? 1 : p->sigma * p->sigma) * expected);
            }
        }
        end_setting(&f);
    }
}

/* ---- shards, permutations, scaling ---- */

static struct setting middle(int m) {
    return (struct setting){.method = models[m].method,
                            .noise = models[m].noise,
                            .n = 14,
                            .d = 9,
                            .h = 8,
                            .candidates = 5,
                            .max_active = 3,
                            .temperature = 1.3,
                            .singletons = 1,
                            .seed = 21};
}

/* Sums over two halves add up to the sums over all. */
static void shards_add_up(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        struct setting c = middle(m);
        struct fitted f;
        begin_setting(ctx, &c, &f);
        run_estep(ctx, &f);
        const et_sums *sums = &f.state->sums;
        double products = rb_dense_get(sums->products, 3, 4), evidence = sums->evidence;
        double active = sums->active, first_product = 0, first_evidence = 0, first_active = 0;
        rb_block whole = f.block;
        for (int half = 0; half < 2; half++) {
            f.block.n_samples = half ? 9 : 5;
            f.block.dense = rb_dense_rows(whole.dense, half ? 5 : 0, f.block.n_samples);
            run_estep(ctx, &f);
            first_product += rb_dense_get(sums->products, 3, 4);
            first_evidence += sums->evidence;
            first_active += sums->active;
        }
        assert_close(first_product, products, 1e-12);
        assert_close(first_evidence, evidence, 1e-12);
        assert_close(first_active, active, 1e-12);
        end_setting(&f);
    }
}

/* Causes in reverse order: the same evidence, reversed means and reversed new fields. Samples in
 * reverse order: reversed evidence. Twice y, W and sigma: the same posterior. */
static void order_and_scale_do_not_matter(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        struct setting c = middle(m);
        struct fitted a, b;
        begin_setting(ctx, &c, &a);
        begin_setting(ctx, &c, &b);
        rb_dense from = a.state->parameters.fields, to = b.state->parameters.fields;
        for (int h = 0; h < c.h; h++) {
            memcpy(rb_dense_row(to, h), rb_dense_row(from, c.h - 1 - h),
                   sizeof(double) * (size_t)c.d);
        }
        for (int i = 0; i < c.n; i++)
            memcpy(b.y + i * c.d, a.y + (c.n - 1 - i) * c.d, sizeof(double) * (size_t)c.d);
        run_estep(ctx, &a);
        run_estep(ctx, &b);
        for (int i = 0; i < c.n; i++) {
            near(results_of(b.state)->evidence[i], results_of(a.state)->evidence[c.n - 1 - i],
                 "evidence");
            for (int h = 0; h < c.h; h++) {
                near(rb_dense_get(results_of(b.state)->mean, i, h),
                     rb_dense_get(results_of(a.state)->mean, c.n - 1 - i, c.h - 1 - h), "mean");
            }
        }
        double mean = rb_dense_get(results_of(a.state)->mean, 2, 3);
        assert_ok(ctx, et_mstep(ctx, a.state));
        assert_ok(ctx, et_mstep(ctx, b.state));
        for (int h = 0; h < c.h; h++)
            for (int d = 0; d < c.d; d++)
                assert_close(rb_dense_get(to, h, d), rb_dense_get(from, c.h - 1 - h, d), 1e-8);
        end_setting(&a);
        end_setting(&b);
        begin_setting(ctx, &c, &a);
        for (int i = 0; c.noise == RB_ET_GAUSSIAN && i < c.n * c.d; i++)
            a.y[i] *= 2;
        for (int i = 0; c.noise == RB_ET_GAUSSIAN && i < c.h * c.d; i++)
            ((double *)a.state->parameters.fields.data)[i] *= 2;
        a.state->parameters.sigma *= c.noise == RB_ET_GAUSSIAN ? 2 : 1;
        run_estep(ctx, &a);
        near(rb_dense_get(results_of(a.state)->mean, 2, 3), mean, "mean of scaled data");
        end_setting(&a);
    }
}

/* ---- threads ---- */

static void threads_do_not_change_a_bit(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    for (int m = 0; m < MODELS; m++) {
        double *first = NULL, *y = NULL;
        for (int t = 0; t < 4; t++) {
            rb_context *ctx = fixture_context();
            assert_ok(ctx, rb_context_set_threads(ctx, threads[t]));
            enum { N = 300, D = 70, H = 70 };
            if (!y) {
                rb_draws draws = {{3, RB_RANDOM_SIMULATE, 0}, 0};
                y = calloc(N * D, sizeof *y);
                for (int i = 0; i < N * D; i++)
                    y[i] = floor(8 * rb_draw_uniform(&draws) * rb_draw_uniform(&draws));
            }
            rb_et_options options;
            rb_et_options_default(&options);
            options.units = H;
            options.noise = models[m].noise;
            rb_fit_options fit = fixture_fit(5, m % 2 ? RB_FLOAT64 : RB_FLOAT32);
            fit.seed = 1;
            rb_model *model = fit_values(ctx, models[m].method, &options, &fit, y, N, D);
            const double *fields = rb_model_array(model, "loadings", NULL, NULL);
            if (!first) {
                first = malloc(sizeof(double) * D * H);
                memcpy(first, fields, sizeof(double) * D * H);
            }
            assert_memory_equal(first, fields, sizeof(double) * D * H);
            rb_model_free(model);
            rb_context_free(ctx);
        }
        free(first);
        free(y);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_em_never_lowers_the_likelihood),
                                       cmocka_unit_test(gradients_are_differences),
                                       cmocka_unit_test(shards_add_up),
                                       cmocka_unit_test(order_and_scale_do_not_matter),
                                       cmocka_unit_test(threads_do_not_change_a_bit)};
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
