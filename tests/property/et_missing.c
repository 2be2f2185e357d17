/* Expectation truncation of data with missing values: they are left out of every sum. (et_sums.c
 * compares the sums with enumeration.) */
#include "et_fixture.h"

enum { D = 9 };

static struct setting usual(int m) {
    return (struct setting){.method = models[m].method,
                            .noise = models[m].noise,
                            .n = 14,
                            .d = D,
                            .h = 6,
                            .candidates = 4,
                            .max_active = 3,
                            .temperature = 1.3,
                            .singletons = 1,
                            .missing = 0.3,
                            .seed = 77};
}

/* ---- the E-step ---- */

/* A sample that lacks values is one of fewer features: the same candidates, posterior, evidence. */
static void check_sample(rb_context *ctx, const struct setting *c, const struct fitted *f, int i) {
    const et_engine *from = engine_of(f->state);
    const double *row = f->y + i * c->d;
    double y[D];
    int there[D], n = 0;
    for (int d = 0; d < c->d; d++) {
        if (!isnan(row[d])) {
            y[n] = row[d];
            there[n++] = d;
        }
    }
    if (n == 0) return;
    et_setup setup = from->setup;
    et_engine *engine;
    et_results results;
    et_parameters p = {.sigma = from->parameters->sigma};
    double fields[MAX_H * D], prior[MAX_H];
    p.fields = (rb_dense){fields, c->h, n, n, RB_FLOAT64};
    p.prior = prior;
    setup.n_features = n;
    setup.missing = false;
    assert_ok(ctx, et_engine_new(ctx, &setup, &engine));
    assert_ok(ctx, et_results_new(ctx, engine, 1, ET_KEEP_MEANS, &results));
    for (int h = 0; h < c->h; h++) {
        p.prior[h] = from->parameters->prior[h];
        for (int d = 0; d < n; d++) {
            double value = rb_dense_get(from->parameters->fields, h, there[d]);
            rb_dense_set(p.fields, h, d, value);
        }
    }
    et_prepare(ctx, engine, &p, from->beta, from->beta_prior);
    rb_block block = {.n_samples = 1, .n_features = n, .dense = {y, 1, n, n, RB_FLOAT64}};
    results.used[0] = true;
    et_posteriors(ctx, engine, &block, false, &results);
    const et_results *got = results_of(f->state);
    near(got->evidence[i], results.evidence[0], "evidence");
    assert_int_equal(got->there[i], n);
    for (int k = 0; k < c->candidates; k++)
        assert_int_equal(got->candidates[i * c->candidates + k], results.candidates[k]);
    for (int h = 0; h < c->h; h++)
        near(rb_dense_get(got->mean, i, h), rb_dense_get(results.mean, 0, h), "mean");
    rb_scratch_end(&results.memory);
    et_engine_free(engine);
}

static void samples_are_those_of_fewer_features(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        for (int selection = RB_ET_SELECT_JOINT; selection <= RB_ET_SELECT_EXACT; selection++) {
            struct setting c = usual(m);
            struct fitted f;
            if (selection == RB_ET_SELECT_BOUND && m == 0) continue;
            c.unequal = selection == RB_ET_SELECT_EXACT;
            begin_setting(ctx, &c, &f);
            engine_of(f.state)->setup.selection = selection;
            run_estep(ctx, &f);
            for (int i = 0; i < c.n; i++)
                check_sample(ctx, &c, &f, i);
            end_setting(&f);
        }
    }
}

/* The cut orders samples by log evidence less what the number of their values adds to it. */
static void cut_does_not_count_values(void **state) {
    rb_context *ctx = *state;
    struct setting c = usual(0);
    struct fitted f;
    begin_setting(ctx, &c, &f);
    run_estep(ctx, &f);
    const et_engine *engine = engine_of(f.state);
    double variance = engine->parameters->sigma * engine->parameters->sigma;
    for (int i = 0; i < c.n; i++) {
        double values = (double)results_of(f.state)->there[i];
        near(f.state->work.evidence[i],
             results_of(f.state)->evidence[i] +
                 values / 2 * log(2 * M_PI * variance / engine->beta),
             "what is ranked");
    }
    end_setting(&f);
}

/* ---- the M-step ---- */

/* (26): for each feature, the fields minimise the expected squared error over the samples in which
 * it is there, so its gradient Q W - P is zero; a feature that nobody has keeps its fields. And
 * sigma^2 is that error a value. */
static void fields_solve_each_feature(void **state) {
    rb_context *ctx = *state;
    struct setting c = usual(0);
    struct fitted f;
    c.n = 16;
    begin_setting(ctx, &c, &f);
    run_estep(ctx, &f);
    et_fit *st = f.state;
    rb_dense w = st->parameters.fields;
    double kept[MAX_H], error = st->sums.squares;
    for (int h = 0; h < c.h; h++)
        kept[h] = rb_dense_get(w, h, D - 1);
    assert_ok(ctx, et_mstep_solve(ctx, &st->plan.setup, &st->sums, &st->work, &st->parameters));
    for (int d = 0; d < c.d; d++) {
        et_missing_second(&st->sums, d);
        for (int h = 0; h < c.h; h++) {
            double sum = 0, p = rb_dense_get(st->sums.products, h, d);
            for (int j = 0; j < c.h; j++)
                sum += rb_dense_get(st->sums.second, h, j) * rb_dense_get(w, j, d);
            assert_close(sum, p, 1e-8);
            error += rb_dense_get(w, h, d) * (sum - 2 * p);
        }
    }
    for (int h = 0; h < c.h; h++)
        assert_true(kept[h] == rb_dense_get(w, h, D - 1));
    int values = 0;
    for (int i = 0; i < c.n * c.d; i++)
        values += !isnan(f.y[i]);
    assert_true(st->sums.values == values);
    near(et_linear_variance(ctx, &st->sums, w, st->work.target), error / values, "sigma^2");
    end_setting(&f);
}

/* Without memory for a Q of each feature, missing values take what the fields let expect: the sums
 * are those of states in which y_d is there, and <s_h Wbar_d(s)> where it is not. */
static void expected_values_stand_in(void **state) {
    rb_context *ctx = *state;
    struct setting c = usual(0);
    struct fitted f;
    c.candidates = c.max_active = c.h;
    begin_setting(ctx, &c, &f);
    et_fit *st = f.state;
    rb_dense_free(&st->sums.pairs);
    st->shape.dims[ET_PAIRS] = 0;
    run_estep(ctx, &f);
    double wanted[MAX_H * D] = {0};
    for (int i = 0; i < c.n; i++) {
        for (int h = 0; h < c.h; h++) {
            double mean = rb_dense_get(results_of(st)->mean, i, h);
            for (int d = 0; d < c.d; d++) {
                double y = f.y[i * c.d + d], *sum = &wanted[h * D + d];
                *sum += isnan(y) ? mean * rb_dense_get(st->parameters.fields, h, d) : mean * y;
                for (int j = 0; isnan(y) && j < c.h; j++) {
                    const double *pairs = results_of(st)->pairs + (int64_t)i * c.h * c.h;
                    double both = j < h ? pairs[j * c.h + h] : j > h ? pairs[h * c.h + j] : 0;
                    *sum += both * rb_dense_get(st->parameters.fields, j, d);
                }
            }
        }
    }
    for (int h = 0; h < c.h; h++)
        for (int d = 0; d < c.d; d++)
            near(rb_dense_get(st->sums.products, h, d), wanted[h * D + d], "products");
    end_setting(&f);
}

/* H' = gamma = H, temperature 1, no noise on the fields, no cut: the likelihood of what is there
 * never falls, by a Q for each feature or by expected values. */
static void exact_em_never_lowers_the_likelihood(void **state) {
    rb_context *ctx = *state;
    static const struct {
        int model, mstep;
        bool expected;
    } kinds[] = {{0, RB_ET_MSTEP_SOLVE, false},
                 {0, RB_ET_MSTEP_SOLVE, true},
                 {1, RB_ET_MSTEP_MULTIPLICATIVE, false},
                 {1, RB_ET_MSTEP_MULTIPLICATIVE, true},
                 {3, RB_ET_MSTEP_SOLVE, false}};
    for (int k = 0; k < 5; k++) {
        for (int seed = 0; seed < 5; seed++) {
            struct setting c = usual(kinds[k].model);
            struct fitted f;
            c.temperature = 1;
            c.n = MAX_N;
            c.h = c.candidates = c.max_active = 4;
            c.seed = (uint64_t)seed;
            begin_setting(ctx, &c, &f);
            et_fit *st = f.state;
            if (kinds[k].mstep == RB_ET_MSTEP_MULTIPLICATIVE)
                st->plan.setup.model.mstep = et_mstep_multiplicative;
            if (kinds[k].expected) {
                rb_dense_free(&st->sums.pairs);
                st->shape.dims[ET_PAIRS] = 0;
            }
            rb_dense w = st->parameters.fields;
            for (int e = 0; e < c.h * c.d; e++) /* away from where the data were made */
                ((double *)w.data)[e] = 0.3 + e % 5;
            double before = -HUGE_VAL;
            for (int t = 0; t < 30; t++) {
                run_estep(ctx, &f);
                double now = st->estep.mean_evidence;
                if (!(now >= before - 1e-9 * fabs(before)))
                    fail_msg("kind %d, seed %d: %.12g after %.12g", k, seed, now, before);
                before = now;
                assert_ok(ctx, et_mstep(ctx, st));
            }
            end_setting(&f);
        }
    }
}

/* ---- fits ---- */

enum { N = 300, SIDE = 3, BARS = 2 * SIDE };

/* Superposed bars of a 3 x 3 picture with noise, a share of the values missing. */
static void draw_bars(double *y, bool max, double missing) {
    rb_draws draws = {{4, RB_RANDOM_SIMULATE, 3}, 0};
    for (int i = 0; i < N; i++) {
        double *row = y + i * SIDE * SIDE;
        bool active[BARS];
        for (int b = 0; b < BARS; b++)
            active[b] = rb_draw_uniform(&draws) < 0.25;
        for (int d = 0; d < SIDE * SIDE; d++) {
            bool line = active[d / SIDE], column = active[SIDE + d % SIDE];
            row[d] = max ? 10 * (line || column) : 10 * (line + column);
            row[d] = fabs(round(row[d] + rb_draw_normal(&draws)));
            if (rb_draw_uniform(&draws) < missing) row[d] = NAN;
        }
    }
}

static rb_model *fit_bars(rb_context *ctx, int m, double *y, bool sparse, int missing) {
    enum { CELLS = N * SIDE * SIDE };
    rb_matrix *matrix;
    rb_source *source;
    int64_t starts[N + 1];
    static int32_t columns[CELLS];
    for (int e = 0; e < CELLS; e++) {
        starts[e / (SIDE * SIDE)] = e - e % (SIDE * SIDE);
        columns[e] = e % (SIDE * SIDE);
    }
    starts[N] = CELLS;
    assert_ok(
        ctx, sparse ? rb_matrix_csr(ctx, RB_FLOAT64, N, SIDE * SIDE, starts, columns, y, &matrix)
                    : rb_matrix_dense(ctx, RB_FLOAT64, N, SIDE * SIDE, y, SIDE * SIDE, 1, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_et_options options;
    rb_preprocess_options preprocess;
    rb_et_options_default(&options);
    rb_preprocess_options_default(&preprocess);
    options.units = BARS;
    options.noise = models[m].noise;
    options.prior = 0.25;
    options.sigma = models[m].noise == RB_ET_POISSON ? 0 : 1;
    preprocess.missing = missing;
    rb_fit_options fit = fixture_fit(100, RB_FLOAT32);
    rb_model *model =
        fixture_model(ctx, models[m].method, &options, &fit, &preprocess, source, NULL);
    rb_evaluation evaluation;
    assert_ok(ctx, fixture_evaluate(ctx, model, source, &evaluation));
    double values = 0, squares = 0;
    for (int e = 0; e < CELLS; e++) {
        values += !isnan(y[e]);
        squares += isnan(y[e]) ? 0 : y[e] * y[e];
    }
    assert_close(evaluation.variance_explained,
                 1 - evaluation.mean_squared_error * values / squares, 1e-6);
    rb_source_free(source);
    rb_matrix_free(matrix);
    return model;
}

/* Every bar is found by nmf-et although a fifth of the values is missing (tests/cli/et.sh: by all
 * three); the same bits for any number of threads, and from a sparse matrix. */
static void bars_are_found(void **state) {
    (void)state;
    static double y[N * SIDE * SIDE];
    for (int m = 0; m < MODELS; m++) {
        rb_context *ctx = fixture_context();
        draw_bars(y, models[m].method[0] == 'm', 0.2);
        assert_ok(ctx, rb_context_set_threads(ctx, 1));
        rb_model *model = fit_bars(ctx, m, y, false, RB_MISSING_OMIT);
        rb_model *sparse = fit_bars(ctx, m, y, true, RB_MISSING_OMIT);
        assert_ok(ctx, rb_context_set_threads(ctx, 3));
        rb_model *threads = fit_bars(ctx, m, y, false, RB_MISSING_OMIT);
        fixture_same_array(model, sparse, "loadings");
        fixture_same_array(model, threads, "loadings");
        const double *w = rb_model_array(model, "loadings", NULL, NULL);
        for (int bar = 0; bar < BARS && m == 1; bar++) { /* of nmf-et */
            double best = HUGE_VAL;
            for (int h = 0; h < BARS; h++) {
                double error = 0;
                for (int d = 0; d < SIDE * SIDE; d++) {
                    bool on = bar < SIDE ? d / SIDE == bar : d % SIDE == bar - SIDE;
                    error += fabs(w[d * BARS + h] - 10 * on) / (SIDE * SIDE);
                }
                best = fmin(best, error);
            }
            if (best > 1) fail_msg("model %d: bar %d differs by %g", m, bar, best);
        }
        rb_model_free(model);
        rb_model_free(sparse);
        rb_model_free(threads);
        rb_context_free(ctx);
    }
}

/* Where nothing is missing the option changes no bit. */
static void complete_data_are_as_ever(void **state) {
    static double y[N * SIDE * SIDE];
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        draw_bars(y, models[m].method[0] == 'm', 0);
        rb_model *with = fit_bars(ctx, m, y, false, RB_MISSING_OMIT);
        rb_model *without = fit_bars(ctx, m, y, false, RB_MISSING_REFUSE);
        fixture_same_array(with, without, "loadings");
        rb_model_free(with);
        rb_model_free(without);
    }
}

/* ---- refusals ---- */

static rb_error take_rows(void *user, int64_t first, const rb_matrix *rows) {
    double *sum = user;
    (void)first;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++)
        for (int64_t k = 0; k < rb_matrix_features(rows); k++)
            *sum += rb_matrix_at(rows, i, k);
    return RB_OK;
}

/* A model of complete data refuses a missing value until it is told to leave it out; what is
 * rebuilt has all values. */
static void models_are_told(void **state) {
    rb_context *ctx = *state;
    double y[8 * 3], sum = 0;
    for (int i = 0; i < 24; i++)
        y[i] = 1 + i % 5;
    rb_source *source = fixture_data(ctx, y, 8, 3);
    rb_fit_options fit = fixture_fit(5, RB_FLOAT64);
    rb_model *model, *rfn;
    model = fixture_model(ctx, "nmf-et", NULL, &fit, NULL, source, NULL);
    rfn = fixture_model(ctx, "rfn", NULL, &fit, NULL, source, NULL);
    y[4] = NAN;
    assert_error(ctx, rb_encode(ctx, model, source, take_rows, &sum), RB_ERROR_DATA,
                 "sample 1, feature 1");
    assert_non_null(strstr(rb_context_error(ctx), "missing=model"));
    assert_ok(ctx, rb_model_omit_missing(ctx, rfn));
    assert_ok(ctx, rb_model_omit_missing(ctx, model));
    assert_ok(ctx, rb_encode(ctx, model, source, take_rows, &sum));
    assert_ok(ctx, rb_reconstruct(ctx, model, source, take_rows, &sum));
    assert_true(isfinite(sum));
    rb_preprocess_options omit;
    rb_preprocess_options_default(&omit);
    omit.missing = RB_MISSING_OMIT;
    rb_model *none;
    for (int i = 0; i < 24; i++)
        y[i] = NAN;
    assert_int_equal(
        rb_fit(ctx, fixture_options(ctx, "mca", NULL, &fit, &omit), source, NULL, &none),
        RB_ERROR_DATA);
    assert_null(none);
    rb_model_free(model);
    rb_model_free(rfn);
    rb_source_free(source);
}

/* The moments of all pairs of causes take 8 H (H - 1) / 2 D bytes: at most 2^28 of them. */
static void moments_are_within_their_memory(void **state) {
    (void)state;
    for (int64_t h = 2; h <= 64; h++) {
        int64_t pairs = h * (h - 1) / 2, most = ((int64_t)1 << 28) / (8 * pairs);
        assert_int_equal(et_missing_pairs(h, most), pairs);
        assert_int_equal(et_missing_pairs(h, most + 1), 0);
    }
    assert_int_equal(et_missing_pairs(1, 1 << 30), 1);
}

/* Memory that is refused leaves nothing behind and says so. */
static void memory_may_be_refused(void **state) {
    rb_context *ctx = *state;
    double y[6 * 4] = {1, 2, NAN, 4, 2, 1, 3, 3, 5};
    rb_source *source = fixture_data(ctx, y, 6, 4);
    rb_preprocess_options omit;
    rb_preprocess_options_default(&omit);
    omit.missing = RB_MISSING_OMIT;
    for (int m = 0; m < MODELS; m++) {
        rb_et_options options;
        rb_et_options_default(&options);
        options.units = 3;
        options.max_active = 1;
        options.max_active_limit = 2;
        options.noise = models[m].noise;
        rb_fit_options fit = fixture_fit(2, RB_FLOAT64);
        rb_model *model = fixture_model_at_last(
            ctx, fixture_options(ctx, models[m].method, &options, &fit, &omit), source, 0);
        fixture_evaluate_at_last(ctx, model, source);
        rb_model_free(model);
    }
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_those_of_fewer_features),
        cmocka_unit_test(cut_does_not_count_values),
        cmocka_unit_test(fields_solve_each_feature),
        cmocka_unit_test(expected_values_stand_in),
        cmocka_unit_test(exact_em_never_lowers_the_likelihood),
        cmocka_unit_test(bars_are_found),
        cmocka_unit_test(complete_data_are_as_ever),
        cmocka_unit_test(models_are_told),
        cmocka_unit_test(moments_are_within_their_memory),
        cmocka_unit_test(memory_may_be_refused),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
