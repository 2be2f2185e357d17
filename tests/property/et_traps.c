/* Expectation truncation: what goes wrong when it is done carelessly. One test a trap. */
#include "et_fixture.h"

#include <stdio.h>

static struct setting usual(int m) {
    return (struct setting){.method = models[m].method,
                            .noise = models[m].noise,
                            .n = 12,
                            .d = 9,
                            .h = 6,
                            .candidates = 4,
                            .max_active = 3,
                            .temperature = 1,
                            .singletons = 1,
                            .seed = 31};
}

/* Samples so far from every state that all exponentials underflow unless they are shifted. */
static void far_samples_have_finite_evidence(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < 3; m++) {
        struct setting c = usual(m);
        struct fitted f;
        begin_setting(ctx, &c, &f);
        for (int i = 0; i < c.n * c.d; i++)
            f.y[i] += 1e4;
        run_estep(ctx, &f);
        for (int i = 0; i < c.n; i++) {
            double sum = results_of(f.state)->active[i];
            assert_true(results_of(f.state)->evidence[i] < -1e7);
            assert_true(isfinite(results_of(f.state)->evidence[i]) && sum >= 0 &&
                        sum <= c.max_active);
        }
        end_setting(&f);
    }
}

/* With an offset of 1000 energies differ by sums that cancel: a fit in float32 computes them in
 * float64 all the same. The numbers are such that float32 holds them. */
static void energies_are_float64(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < 3; m++) {
        struct setting c = usual(m);
        struct fitted f;
        begin_setting(ctx, &c, &f);
        rb_dense w = f.state->parameters.fields;
        float narrow[MAX_N * MAX_D];
        for (int i = 0; i < c.n * c.d; i++) {
            narrow[i] = (float)(round(16 * f.y[i]) / 16 + 1000);
            f.y[i] = narrow[i];
        }
        for (int i = 0; i < c.h * c.d; i++) {
            double *value = (double *)w.data + i;
            *value = round(16 * *value) / 16 + (i < c.d ? 1000 : 0);
        }
        run_estep(ctx, &f);
        double wide[MAX_N];
        memcpy(wide, results_of(f.state)->evidence, sizeof(double) * (size_t)c.n);
        f.block.dense = (rb_dense){narrow, c.n, c.d, c.d, RB_FLOAT32};
        et_setup setup = engine_of(f.state)->setup;
        et_engine *engine;
        et_results results;
        setup.type = RB_FLOAT32;
        assert_ok(ctx, et_engine_new(ctx, &setup, &engine));
        assert_ok(ctx, et_results_new(ctx, engine, c.n, ET_KEEP_MEANS, &results));
        et_prepare(ctx, engine, &f.state->parameters, engine_of(f.state)->beta,
                   engine_of(f.state)->beta_prior);
        memset(results.used, true, (size_t)c.n);
        et_posteriors(ctx, engine, &f.block, false, &results);
        for (int i = 0; i < c.n; i++)
            assert_close(results.evidence[i], wide[i], 1e-9);
        rb_scratch_end(&results.memory);
        et_engine_free(engine);
        end_setting(&f);
    }
}

/* A cause that is never active has a row of zeros in Q: it keeps its field, the others solve. Two
 * that are always active together make Q singular: the ridge decides, and W stays finite. */
static void singular_moments_solve(void **state) {
    rb_context *ctx = *state;
    struct setting c = usual(0);
    struct fitted f;
    begin_setting(ctx, &c, &f);
    run_estep(ctx, &f);
    et_sums *m = &f.state->sums;
    rb_dense w = f.state->parameters.fields;
    double kept[MAX_D];
    memcpy(kept, rb_dense_row(w, 2), sizeof(double) * (size_t)c.d);
    for (int h = 0; h < c.h; h++) {
        rb_dense_set(m->second, 2, h, 0);
        rb_dense_set(m->second, h, 2, 0);
    }
    for (int d = 0; d < c.d; d++) {
        rb_dense_set(m->products, 2, d, 0);
        rb_dense_set(m->products, 4, d, rb_dense_get(m->products, 3, d));
    }
    for (int h = 0; h < c.h; h++) /* causes 3 and 4 are one */
        rb_dense_set(m->second, 4, h, rb_dense_get(m->second, 3, h));
    for (int h = 0; h < c.h; h++)
        rb_dense_set(m->second, h, 4, rb_dense_get(m->second, h, 3));
    assert_ok(ctx,
              et_mstep_solve(ctx, &f.state->plan.setup, m, &f.state->work, &f.state->parameters));
    assert_memory_equal(kept, rb_dense_row(w, 2), sizeof(double) * (size_t)c.d);
    for (int h = 0; h < c.h; h++) { /* Q W = P */
        for (int d = 0; h != 2 && d < c.d; d++) {
            double sum = 0;
            for (int j = 0; j < c.h; j++)
                sum += rb_dense_get(m->second, h, j) * rb_dense_get(w, j, d);
            assert_close(sum, rb_dense_get(m->products, h, d), 1e-5);
        }
    }
    end_setting(&f);
}

/* More candidates or active causes than there are causes: as many as there are. */
static void limits_are_clipped(void **state) {
    rb_context *ctx = *state;
    struct setting c = usual(1), whole = c;
    struct fitted f, all;
    c.candidates = 50;
    c.max_active = 40;
    whole.candidates = whole.max_active = c.h;
    begin_setting(ctx, &c, &f);
    begin_setting(ctx, &whole, &all);
    run_estep(ctx, &f);
    run_estep(ctx, &all);
    assert_int_equal(engine_of(f.state)->trees[0].count, 1 << c.h);
    assert_true(f.state->sums.evidence == all.state->sums.evidence);
    end_setting(&f);
    end_setting(&all);
}

static void note_warning(rb_log_level level, const char *message, void *user) {
    if (level == RB_LOG_WARNING) snprintf(user, 200, "%s", message);
}

/* What was asked for and cannot be had is said; what nobody asked for is not. */
static void clipping_is_said(void **state) {
    static const struct {
        int candidates, max_active;
        const char *warning;
    } cases[] = {
        {9, 3, "`candidates` is 9, but there are only 6 units; all are used"},
        {4, 5, "`max-active` is 5, but there are only 4 candidates; at most so many are active"},
        {6, 6, ""},
        {2, 3, ""}}; /* 3 is the default */
    rb_context *ctx = *state;
    char heard[200];
    rb_context_on_log(ctx, note_warning, heard);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct setting c = usual(0);
        struct fitted f;
        c.candidates = cases[i].candidates;
        c.max_active = cases[i].max_active;
        heard[0] = 0;
        begin_setting(ctx, &c, &f);
        assert_string_equal(heard, cases[i].warning);
        end_setting(&f);
    }
}

/* The number of states is known before anything is allocated for them. */
static void too_many_states_are_refused(void **state) {
    rb_context *ctx = *state;
    ctx->allocations_left = 0;
    assert_int_equal(et_tree_check(ctx, 60, 30, 1), RB_ERROR_ARGUMENT);
    assert_int_equal(et_tree_check(ctx, 1000000000, 1000000000, 1), RB_ERROR_ARGUMENT);
    struct setting c = usual(0);
    rb_et_options options;
    et_engine *engine;
    rb_et_options_default(&options);
    options.units = 1000000000;
    options.max_active_limit = 999999999;
    rb_problem problem = {.method = &rb_method_linca, .n_features = c.d, .type = RB_FLOAT64};
    et_setup setup = et_setup_of(&problem, &options);
    assert_ok(ctx, et_setup_check(ctx, &setup, &options));
    assert_int_equal(et_engine_new(ctx, &setup, &engine), RB_ERROR_ARGUMENT);
    assert_null(engine);
    ctx->allocations_left = -1;
}

/* One sample, equal samples, samples of zeros: every model runs, from the data alone. */
static void degenerate_data_run(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        for (int kind = 0; kind < 3; kind++) {
            double y[5 * 4];
            for (int i = 0; i < 20; i++)
                y[i] = kind == 2 ? 0 : i % 4;
            rb_source *source = fixture_data(ctx, y, kind == 0 ? 1 : 5, 4);
            rb_et_options options;
            rb_et_options_default(&options);
            options.units = 3;
            options.noise = models[m].noise;
            rb_fit_options fit = fixture_fit(30, RB_FLOAT64);
            rb_model *model =
                fixture_model(ctx, models[m].method, &options, &fit, NULL, source, NULL);
            rb_model_free(model);
            rb_source_free(source);
        }
    }
}

/* A field of zeros is the last candidate, whatever is asked; equal scores go to the lower index;
 * the list ascends. */
static void selection_is_in_order(void **state) {
    int32_t list[3], few[6 + ET_LANES];
    double best[6];
    const double scores[] = {1, 5, -HUGE_VAL, 5, 5, 1}, low[] = {-HUGE_VAL, -7, -HUGE_VAL, -9};
    et_select(et_kernels_of(NULL), scores, 6, 3, best, few, list);
    assert_int_equal(list[0], 1);
    assert_int_equal(list[1], 3);
    assert_int_equal(list[2], 4);
    et_select(et_kernels_of(NULL), scores, 6, 2, best, few, list);
    assert_int_equal(list[0], 1);
    assert_int_equal(list[1], 3);
    et_select(et_kernels_of(NULL), low, 4, 3, best, few, list);
    assert_int_equal(list[0], 0);
    assert_int_equal(list[1], 1);
    assert_int_equal(list[2], 3);
    rb_context *ctx = *state;
    for (int selection = RB_ET_SELECT_JOINT; selection <= RB_ET_SELECT_BOUND; selection++) {
        struct setting c = usual(1);
        struct fitted f;
        double got[MAX_H], b[MAX_H] = {0};
        begin_setting(ctx, &c, &f);
        rb_dense_zero(rb_dense_rows(f.state->parameters.fields, 2, 1));
        et_prepare(ctx, engine_of(f.state), &f.state->parameters, 1, 1);
        engine_of(f.state)->setup.selection = selection;
        et_sample sample = {.n = c.d, .y = f.y, .b = b, .square = engine_of(f.state)->square};
        et_scores(engine_of(f.state), &engine_of(f.state)->scratch[0], &sample, got);
        assert_true(got[2] == -HUGE_VAL && got[0] > -HUGE_VAL);
        end_setting(&f);
    }
}

/* Among many causes only those that may be among the best are compared: the choice is the same.
 * Scores are coarse, so that many are equal. */
static void check_selection(const et_kernels *kernels) {
    enum { MAX = 400, COUNT = 40 };
    rb_draws draws = {{8, RB_RANDOM_SIMULATE, 0}, 0};
    for (int trial = 0; trial < 300; trial++) {
        double scores[MAX], best[MAX];
        int32_t list[COUNT], few[MAX + ET_LANES];
        bool all = trial % 5 == 0; /* or nearly all, of few more than there are strides */
        int64_t units = rb_draw_integer(&draws, all ? 33 : 20, all ? COUNT : MAX);
        int64_t most = rb_smaller(units, trial % 2 ? 16 : COUNT);
        int64_t count = rb_draw_integer(&draws, all ? 33 : 1, all ? units : most);
        for (int64_t h = 0; h < units; h++) {
            scores[h] = trial % 3 == 0 && h % 32 > 9 ? -HUGE_VAL
                        : all && h >= 32             ? -1e3
                                                     : floor(20 * rb_draw_normal(&draws));
        }
        et_select(kernels, scores, units, count, best, few, list);
        for (int64_t k = 0; k < count; k++) {
            int64_t before = 0; /* how many come first: larger, or equal and lower */
            for (int64_t h = 0; h < units; h++) {
                before +=
                    scores[h] > scores[list[k]] || (scores[h] == scores[list[k]] && h < list[k]);
            }
            assert_true(before < count);
            assert_true(k == 0 || list[k] > list[k - 1]);
        }
    }
}

/* By the kernels for every processor that this one can do. */
static void many_causes_are_selected_alike(void **state) {
    static const char *const names[] = {"ref", "avx2", "avx512"};
    (void)state;
    for (int k = 0; k < 3; k++) {
        rb_context *ctx = fixture_context();
        if (rb_context_set_kernels(ctx, names[k]) == RB_OK) check_selection(et_kernels_of(ctx));
        rb_context_free(ctx);
    }
}

/* N_cut goes down evenly to floor(f N A) and never below one; the samples of largest evidence stay,
 * of equals the first. */
static void cut_is_gradual(void **state) {
    (void)state;
    const et_schedule s = {.iterations = 30};
    assert_int_equal(et_cut_size(&s, 19, 100, 0.5), 100);
    assert_int_equal(et_cut_size(&s, 20, 100, 0.5), 95);
    assert_int_equal(et_cut_size(&s, 24, 100, 0.5), 75);
    assert_int_equal(et_cut_size(&s, 29, 100, 0.5), 50);
    assert_int_equal(et_cut_size(&s, 29, 100, 0), 1);
    assert_int_equal(et_cut_size(&s, 29, 100, 3), 100);
    /* Of mca only once it is cold, but not in the last tenth alone. */
    et_schedule late = {.iterations = 30, .start = 9, .end = 1, .late_cut = true};
    assert_int_equal(et_cut_size(&late, 23, 100, 0.5), 100);
    assert_int_equal(et_cut_size(&late, 24, 100, 0.5), 92);
    assert_int_equal(et_cut_size(&late, 29, 100, 0.5), 50);
    late.temperature = (et_knots){2, {0, 0.4}, {9, 1}};
    assert_int_equal(et_cut_size(&late, 19, 100, 0.5), 100);
    assert_int_equal(et_cut_size(&late, 20, 100, 0.5), 95);
    late.temperature = (et_knots){2, {0, 1}, {9, 1}};
    assert_int_equal(et_cut_size(&late, 26, 100, 0.5), 100);
    assert_int_equal(et_cut_size(&late, 27, 100, 0.5), 83);
    const double evidence[] = {2, 9, 4, 4, 4, -1};
    double work[6];
    int used = 0;
    et_cut cut = et_cut_find(evidence, 0, 6, 3, work);
    for (int i = 0; i < 6; i++) {
        bool expected = i == 1 || i == 2 || i == 3;
        assert_int_equal(et_cut_uses(cut, evidence[i], i), expected);
        used += expected;
    }
    assert_int_equal(used, 3);
}

/* The usual schedule is hot for a tenth, linear to eight tenths, then cold; knots say another one.
 * Before the end nothing is learned, and only from then on may a fit stop. */
static void schedules_are_piecewise_linear(void **state) {
    rb_context *ctx = *state;
    et_schedule s = {.iterations = 100, .end = 1}, same = s;
    assert_ok(ctx, et_schedule_parse(ctx, "13:1", &s));
    assert_ok(ctx, et_schedule_parse(ctx, "0=13,0.1=13,0.8=1", &same));
    assert_true(et_temperature(&s, 0) == 13 && et_temperature(&s, 10) == 13);
    near(et_temperature(&s, 45), 7, "half way");
    assert_true(et_temperature(&s, 80) == 1 && et_temperature(&s, 99) == 1);
    assert_true(!et_schedule_ended(&s, 79) && et_schedule_ended(&s, 80));
    for (int64_t t = 0; t < 100; t++) {
        near(et_temperature(&same, t), et_temperature(&s, t), "the same by knots");
        assert_int_equal(et_schedule_ended(&same, t), et_schedule_ended(&s, t));
    }
    assert_ok(ctx, et_schedule_parse(ctx, "0=1", &same));
    assert_true(et_temperature(&same, 0) == 1 && et_schedule_ended(&same, 0));
    /* From where it stays so. */
    static const struct {
        const char *text;
        int64_t ended, quiet;
    } courses[] = {
        {"1:1", 0, 80}, {"1", 0, 80}, {"0=13,0.5=1,0.9=1", 50, 90}, {"0=1,0.3=5,0.6=1", 60, 60}};
    for (size_t i = 0; i < sizeof courses / sizeof *courses; i++) {
        et_schedule c = {.iterations = 100, .end = 1};
        assert_ok(ctx, et_schedule_parse(ctx, courses[i].text, &c));
        for (int64_t t = 0; t < 100; t++) {
            assert_int_equal(et_schedule_ended(&c, t), t >= courses[i].ended);
            assert_int_equal(et_noise_ended(&c, t), t >= courses[i].quiet);
        }
    }
    static const char *const wrong[] = {"1:13",     "0.5",      "13:",      "x",
                                        "0=13,",    "0.1=13",   "0=13,0=1", "0=13,0.5=0.9",
                                        "0=13,2=1", "0=13;1=1", "0=13x"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(et_schedule_parse(ctx, wrong[i], &same), RB_ERROR_ARGUMENT);
}

/* Noise and cut follow their lines too, and stay at the last value; the E-step after the last
 * iteration uses all samples. */
static void courses_are_followed(void **state) {
    rb_context *ctx = *state;
    et_schedule s = {.iterations = 100};
    assert_ok(ctx, et_knots_parse(ctx, "cut-schedule", "0=1,0.5=1,0.75=0.2", 0, 1, &s.cut));
    assert_int_equal(et_cut_size(&s, 0, 40, 0), 40);
    assert_int_equal(et_cut_size(&s, 50, 40, 0), 40);
    assert_int_equal(et_cut_size(&s, 65, 40, 0), 21); /* 1 - 0.8 * 0.6 = 0.52 */
    assert_int_equal(et_cut_size(&s, 80, 40, 0), 8);
    assert_int_equal(et_cut_size(&s, 100, 40, 0), 40);
    assert_ok(ctx, et_knots_parse(ctx, "cut-schedule", "0=0", 0, 1, &s.cut));
    assert_int_equal(et_cut_size(&s, 3, 40, 0), 1);
    assert_error(ctx, et_knots_parse(ctx, "cut-schedule", "0=1,0.5=1.1", 0, 1, &s.cut),
                 RB_ERROR_ARGUMENT, "`cut-schedule` is '0=1,0.5=1.1'");
    static const double expected[] = {0.4, 0.4, 0.3, 0.2, 0.2};
    for (int t = 0; t < 5; t++) {
        struct setting c = usual(0);
        struct fitted plain, noisy;
        begin_setting(ctx, &c, &plain);
        begin_setting(ctx, &c, &noisy);
        plain.state->progress.iteration = noisy.state->progress.iteration = t;
        plain.state->plan.schedule.iterations = noisy.state->plan.schedule.iterations = 5;
        assert_ok(ctx, et_knots_parse(ctx, "weight-noise-schedule", "0=0.4,0.2=0.4,0.6=0.2", 0, 9,
                                      &noisy.state->plan.schedule.noise));
        run_estep(ctx, &plain);
        run_estep(ctx, &noisy);
        assert_ok(ctx, et_mstep(ctx, plain.state));
        assert_ok(ctx, et_mstep(ctx, noisy.state));
        rb_stream stream = {.seed = (uint64_t)noisy.fit.seed, .purpose = RB_RANDOM_FIELD_NOISE};
        near(rb_dense_get(noisy.state->parameters.fields, 2, 4) -
                 rb_dense_get(plain.state->parameters.fields, 2, 4),
             expected[t] * rb_random_normal(stream, (uint64_t)((t * c.h + 2) * c.d + 4)), "noise");
        end_setting(&plain);
        end_setting(&noisy);
    }
}

/* The sums after a cut are those of the samples in use alone. */
static void cut_leaves_samples_out(void **state) {
    rb_context *ctx = *state;
    for (int m = 0; m < MODELS; m++) {
        struct setting c = usual(m);
        struct fitted f;
        begin_setting(ctx, &c, &f);
        run_estep(ctx, &f);
        double evidence[MAX_N];
        memcpy(evidence, results_of(f.state)->evidence, sizeof(double) * (size_t)c.n);
        f.options.cut_factor = f.state->plan.options.cut_factor =
            0.5 / et_prior_mass(&f.state->plan.setup, &f.state->parameters, c.max_active);
        f.state->plan.schedule.iterations = 3; /* the last of three: all of the cut */
        f.state->progress.iteration = 2;
        run_estep(ctx, &f);
        int n_used = 0;
        double min = HUGE_VAL, max_unused = -HUGE_VAL, sum = 0;
        for (int i = 0; i < c.n; i++) {
            bool used = results_of(f.state)->used[i];
            n_used += used;
            min = used ? fmin(min, evidence[i]) : min;
            max_unused = used ? max_unused : fmax(max_unused, evidence[i]);
            sum += used ? evidence[i] : 0;
        }
        assert_int_equal(n_used, f.state->sums.used);
        assert_int_equal(n_used, c.n / 2);
        assert_true(min > max_unused);
        near(f.state->sums.evidence, sum, "evidence of the samples in use");
        end_setting(&f);
    }
}

/* The noise on field h at feature d in iteration t is draw (t H + h) D + d of its stream. */
static void noise_is_drawn_in_order(void **state) {
    rb_context *ctx = *state;
    struct setting c = usual(0);
    struct fitted plain, noisy;
    begin_setting(ctx, &c, &plain);
    begin_setting(ctx, &c, &noisy);
    plain.state->progress.iteration = noisy.state->progress.iteration = 3;
    plain.state->plan.schedule.iterations = noisy.state->plan.schedule.iterations = 100;
    noisy.state->plan.noise = 0.3;
    run_estep(ctx, &plain);
    run_estep(ctx, &noisy);
    assert_ok(ctx, et_mstep(ctx, plain.state));
    assert_ok(ctx, et_mstep(ctx, noisy.state));
    rb_stream stream = {.seed = (uint64_t)noisy.fit.seed, .purpose = RB_RANDOM_FIELD_NOISE};
    for (int h = 0; h < c.h; h++) {
        for (int d = 0; d < c.d; d++) {
            double draw = rb_random_normal(stream, (uint64_t)((3 * c.h + h) * c.d + d));
            near(rb_dense_get(noisy.state->parameters.fields, h, d) -
                     rb_dense_get(plain.state->parameters.fields, h, d),
                 0.3 * draw, "noise");
        }
    }
    end_setting(&plain);
    end_setting(&noisy);
}

/* A field that multiplications have brought near the least number there is can grow again: P / (Q
 * W) alone would be infinite. */
static void vanished_fields_may_grow(void **state) {
    rb_context *ctx = *state;
    struct setting c = usual(1);
    struct fitted f;
    begin_setting(ctx, &c, &f);
    run_estep(ctx, &f);
    rb_dense w = f.state->parameters.fields;
    for (int h = 0; h < c.h; h++)
        rb_dense_set(w, h, 3, 1e-310);
    assert_ok(ctx, et_mstep_multiplicative(ctx, &f.state->plan.setup, &f.state->sums,
                                           &f.state->work, &f.state->parameters));
    double sum = 0;
    for (int h = 0; h < c.h; h++) {
        assert_true(isfinite(rb_dense_get(w, h, 3)));
        sum += rb_dense_get(w, h, 3);
    }
    assert_true(sum > 0.1);
    end_setting(&f);
}

/* MCA: a field without responsibility stays; so does one whose dimension no field covers. */
static void fields_without_responsibility_stay(void **state) {
    rb_context *ctx = *state;
    struct setting c = usual(2);
    struct fitted f;
    begin_setting(ctx, &c, &f);
    run_estep(ctx, &f);
    rb_dense_zero(rb_dense_rows(f.state->sums.weights, 1, 1));
    double kept = rb_dense_get(f.state->parameters.fields, 1, 5);
    assert_ok(ctx, et_mstep_shares(ctx, &f.state->plan.setup, &f.state->sums, &f.state->work,
                                   &f.state->parameters));
    assert_true(rb_dense_get(f.state->parameters.fields, 1, 5) == kept);
    end_setting(&f);
}

/* Below 1e-4 a rate counts as 1e-4, so that a count where no field is has a finite evidence; what
 * is below 0 is an error that says where. */
static void poisson_takes_counts(void **state) {
    rb_context *ctx = *state;
    for (int m = 3; m < MODELS; m++) {
        struct setting c = usual(m);
        struct fitted f;
        begin_setting(ctx, &c, &f);
        rb_dense_zero(f.state->parameters.fields);
        run_estep(ctx, &f);
        assert_true(isfinite(f.state->sums.evidence));
        f.y[2 * c.d + 3] = -1;
        assert_error(ctx, et_survey_block(ctx, f.state, &f.block), RB_ERROR_DATA,
                     "sample 2, feature 3 (counted from 0)");
        end_setting(&f);
    }
}

/* The prior that is learned is that of the truncated model: E[|s|] given |s| <= gamma is what was
 * seen, for all causes alike or for each. */
static void learned_priors_are_of_the_truncated_model(void **state) {
    (void)state;
    enum { H = 8, GAMMA = 3 };
    double wanted[H], prior[H], got[H] = {0}, mass = 0;
    for (int h = 0; h < H; h++) {
        wanted[h] = 0.05 + 0.03 * h;
        prior[h] = 0.3;
    }
    et_learn_priors(H, GAMMA, wanted, prior);
    for (int s = 0; s < 1 << H; s++) {
        double p = 1;
        int size = 0;
        for (int h = 0; h < H; h++) {
            p *= s >> h & 1 ? prior[h] : 1 - prior[h];
            size += s >> h & 1;
        }
        mass += size <= GAMMA ? p : 0;
        for (int h = 0; h < H; h++)
            got[h] += size <= GAMMA && (s >> h & 1) ? p : 0;
    }
    for (int h = 0; h < H; h++)
        near(got[h] / mass, wanted[h], "mean of a cause");
    assert_true(et_learn_prior(H, GAMMA, 0) == 1e-5);
    assert_true(et_learn_prior(H, GAMMA, GAMMA) == 1 - 1e-5);
    double same = et_learn_prior(H, GAMMA, 1.25);
    for (int h = 0; h < H; h++)
        wanted[h] = 1.25 / H;
    et_learn_priors(H, GAMMA, wanted, prior);
    near(prior[3], same, "equal priors");
}

/* Memory that is refused leaves nothing behind and says so. */
static void memory_may_be_refused(void **state) {
    rb_context *ctx = *state;
    double y[6 * 4] = {1, 2, 0, 4, 2, 1, 3, 3, 5};
    rb_source *source = fixture_data(ctx, y, 6, 4);
    for (int m = 0; m < MODELS; m++) {
        rb_et_options options;
        rb_et_options_default(&options);
        options.units = 3;
        options.noise = models[m].noise;
        rb_fit_options fit = fixture_fit(3, RB_FLOAT64);
        rb_model *model = fixture_model_at_last(
            ctx, fixture_options(ctx, models[m].method, &options, &fit, NULL), source, 0);
        fixture_evaluate_at_last(ctx, model, source);
        rb_model_free(model);
    }
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(far_samples_have_finite_evidence),
        cmocka_unit_test(energies_are_float64),
        cmocka_unit_test(singular_moments_solve),
        cmocka_unit_test(limits_are_clipped),
        cmocka_unit_test(clipping_is_said),
        cmocka_unit_test(too_many_states_are_refused),
        cmocka_unit_test(degenerate_data_run),
        cmocka_unit_test(selection_is_in_order),
        cmocka_unit_test(many_causes_are_selected_alike),
        cmocka_unit_test(cut_is_gradual),
        cmocka_unit_test(schedules_are_piecewise_linear),
        cmocka_unit_test(courses_are_followed),
        cmocka_unit_test(cut_leaves_samples_out),
        cmocka_unit_test(noise_is_drawn_in_order),
        cmocka_unit_test(fields_without_responsibility_stay),
        cmocka_unit_test(vanished_fields_may_grow),
        cmocka_unit_test(poisson_takes_counts),
        cmocka_unit_test(learned_priors_are_of_the_truncated_model),
        cmocka_unit_test(memory_may_be_refused),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
