/* Expectation truncation: what its options promise of a fit as a whole. */
#include "et_fixture.h"

enum { N = 600, CAUSES = 5, D = 2 * CAUSES };

/* Cause h lights features 2 h and 2 h + 1; noise of sd 1. Either each with a probability of its
 * own, or `count` of them at a time. active[i * CAUSES + h] says which. */
static void draw(double *y, bool *active, int count) {
    rb_draws draws = {{12, RB_RANDOM_SIMULATE, 2}, 0};
    for (int i = 0; i < N; i++) {
        bool *on = active + i * CAUSES;
        for (int h = 0; h < CAUSES; h++)
            on[h] = !count && rb_draw_uniform(&draws) < 0.08 + 0.08 * h;
        for (int left = count; left > 0;) {
            int64_t h = rb_draw_integer(&draws, 0, CAUSES - 1);
            left -= !on[h];
            on[h] = true;
        }
        for (int d = 0; d < D; d++)
            y[i * D + d] = 10 * on[d / 2] + rb_draw_normal(&draws);
    }
}

struct data {
    double y[N * D];
    bool active[N * CAUSES];
    rb_source *source;
};

static struct data *make(rb_context *ctx, int count) {
    struct data *data = calloc(1, sizeof *data);
    draw(data->y, data->active, count);
    data->source = fixture_data(ctx, data->y, N, D);
    return data;
}

static void discard(struct data *data) {
    rb_source_free(data->source);
    free(data);
}

static rb_et_options usual(void) {
    rb_et_options options;
    rb_et_options_default(&options);
    options.units = CAUSES;
    return options;
}

/* Which unit has the field of cause h; its values are near 10 there and near 0 elsewhere. */
static int unit_of(const rb_model *model, int cause) {
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    for (int h = 0; h < CAUSES; h++) {
        double error = 0;
        for (int d = 0; d < D; d++)
            error += fabs(w[d * CAUSES + h] - 10 * (d / 2 == cause)) / D;
        if (error < 0.5) return h;
    }
    fail_msg("no unit has found cause %d", cause);
    return -1;
}

/* A prior of each cause is learned as often as it is active. */
static void priors_per_cause_are_frequencies(void **state) {
    rb_context *ctx = *state;
    struct data *data = make(ctx, 0);
    for (int m = 1; m < 3; m++) {
        rb_et_options options = usual();
        rb_fit_options fit = fixture_fit(100, RB_FLOAT64);
        options.prior_per_cause = true;
        options.max_active = CAUSES;
        rb_model *model =
            fixture_model(ctx, models[m].method, &options, &fit, NULL, data->source, NULL);
        int64_t priors;
        const double *prior = rb_model_array(model, "prior", &priors, NULL);
        assert_int_equal(priors, CAUSES);
        for (int h = 0; h < CAUSES; h++) {
            double frequency = 0;
            for (int i = 0; i < N; i++)
                frequency += (double)data->active[i * CAUSES + h] / N;
            assert_close(prior[unit_of(model, h)], frequency, 0.01);
        }
        rb_model_free(model);
    }
    discard(data);
}

static rb_error check_counts(void *user, int64_t first, const rb_matrix *rows) {
    const double *wanted = user;
    (void)first;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++) {
        double sum = 0;
        for (int h = 0; h < CAUSES; h++)
            sum += rb_matrix_at(rows, i, h);
        assert_close(sum, *wanted, 1e-9);
    }
    return RB_OK;
}

/* With a fixed count every sample has so many causes, and they are found. */
static void fixed_counts_are_kept(void **state) {
    rb_context *ctx = *state;
    struct data *data = make(ctx, 2);
    for (int m = 1; m < 3; m++) {
        rb_et_options options = usual();
        rb_fit_options fit = fixture_fit(100, RB_FLOAT64);
        double count = 2;
        options.count = 2;
        rb_model *model =
            fixture_model(ctx, models[m].method, &options, &fit, NULL, data->source, NULL);
        assert_ok(ctx, rb_encode(ctx, model, data->source, check_counts, &count));
        for (int h = 0; h < CAUSES; h++)
            unit_of(model, h);
        rb_model_free(model);
    }
    discard(data);
}

static void fixed_counts_have_no_prior(void **state) {
    rb_context *ctx = *state;
    struct data *data = make(ctx, 2);
    rb_et_options options = usual();
    rb_fit_options fit = fixture_fit(1, RB_FLOAT64);
    options.count = 2;
    options.prior = 0.3;
    fixture_refused(ctx, "linca", &options, &fit, NULL, data->source, NULL, RB_ERROR_ARGUMENT,
                    "`prior` does nothing");
    discard(data);
}

/* A settled objective ends a fit only once the end temperature is reached. */
static void early_stops_wait_for_the_end_temperature(void **state) {
    rb_context *ctx = *state;
    struct data *data = make(ctx, 0);
    static const struct {
        const char *temperature;
        int min;
    } cases[] = {{"13:1", 40}, {"0=13,0.5=1", 25}, {"0=1", 2}};
    for (int k = 0; k < 3; k++) {
        rb_et_options options = usual();
        rb_fit_options fit = fixture_fit(50, RB_FLOAT64);
        options.temperature = cases[k].temperature;
        fit.tolerance = 0.9; /* settled at once */
        rb_model *model = fixture_model(ctx, "nmf-et", &options, &fit, NULL, data->source, NULL);
        assert_int_equal(rb_model_status(model), RB_STATUS_CONVERGED);
        assert_int_equal(rb_model_iterations(model), cases[k].min);
        rb_model_free(model);
    }
    discard(data);
}

/* A warm start goes on where the model stands: cold and without noise, ten iterations and ten more
 * are twenty, bit for bit. Sigma and prior are learned in all of them. */
static void warm_starts_go_on(void **state) {
    rb_context *ctx = *state;
    struct data *data = make(ctx, 0);
    for (int m = 0; m < MODELS; m++) {
        rb_model *half, *whole, *more;
        rb_et_options options = usual();
        rb_fit_options fit = fixture_fit(20, RB_FLOAT64);
        if (models[m].noise == RB_ET_POISSON)
            for (int e = 0; e < N * D; e++)
                data->y[e] = round(fabs(data->y[e]));
        options.noise = models[m].noise;
        bool soft = m == 2 || m == 4; /* mca */
        options.temperature = soft ? "0=1.05" : "0=1";
        options.weight_noise = 0;
        options.cut_factor = 1e9;
        options.learn_prior = true;
        whole = fixture_model(ctx, models[m].method, &options, &fit, NULL, data->source, NULL);
        fit.iterations = 10;
        options.temperature = soft ? "1.05" : "1:1"; /* another way to say it */
        half = fixture_model(ctx, models[m].method, &options, &fit, NULL, data->source, NULL);
        options.temperature = NULL; /* a warm start is cold */
        options.weight_noise = -1;  /* a warm start has none */
        more = fixture_model(ctx, models[m].method, &options, &fit, NULL, data->source, half);
        static const char *const arrays[] = {"loadings", "sigma", "prior"};
        for (int a = 0; a < 3; a++) {
            int64_t rows, columns;
            const double *x = rb_model_array(whole, arrays[a], &rows, &columns);
            assert_memory_equal(x, rb_model_array(more, arrays[a], NULL, NULL),
                                sizeof *x * (size_t)(rows * columns));
        }
        rb_model_free(more);
        rb_model_free(whole);
        rb_model_free(half);
    }
    discard(data);
}

/* Left alone, a warm start is cold and without noise: the fields of a settled fit stay where they
 * are. */
static void warm_starts_are_cold(void **state) {
    rb_context *ctx = *state;
    struct data *data = make(ctx, 0);
    rb_model *first, *second;
    rb_et_options options = usual();
    rb_fit_options fit = fixture_fit(100, RB_FLOAT64);
    options.sigma = 1;
    options.cut_factor = 1e9;
    first = fixture_model(ctx, "nmf-et", &options, &fit, NULL, data->source, NULL);
    fit.iterations = 5;
    second = fixture_model(ctx, "nmf-et", &options, &fit, NULL, data->source, first);
    const double *a = rb_model_array(first, "loadings", NULL, NULL);
    const double *b = rb_model_array(second, "loadings", NULL, NULL);
    for (int e = 0; e < D * CAUSES; e++)
        assert_close(a[e], b[e], 1e-6);
    rb_model_free(first);
    rb_model_free(second);
    discard(data);
}

/* As printed, with fewer candidates than causes. */
static rb_model *fit_as_printed(rb_context *ctx, const struct data *data, const char *method,
                                int singletons, int negative) {
    rb_et_options options = usual();
    rb_fit_options fit = fixture_fit(30, RB_FLOAT64);
    options.as_printed = true;
    options.candidates = 2;
    options.max_active = 2;
    options.singletons = singletons;
    options.negative = negative;
    return fixture_model(ctx, method, &options, &fit, NULL, data->source, NULL);
}

static bool same_fields(const rb_model *a, const rb_model *b) {
    const double *x = rb_model_array(a, "loadings", NULL, NULL);
    return memcmp(x, rb_model_array(b, "loadings", NULL, NULL), sizeof *x * D * CAUSES) == 0;
}

static int fields_at(const rb_model *model, double value) {
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    int count = 0;
    for (int e = 0; e < D * CAUSES; e++)
        count += w[e] == value;
    return count;
}

/* As printed negative fields are clamped, as section 4.1 of the paper has it, and reflected on
 * demand. Noise lasts to the end, so that about half of what is 0 in truth would be negative. */
static void negative_fields_are_clamped_or_reflected(void **state) {
    rb_context *ctx = *state;
    struct data *data = make(ctx, 0);
    static const struct {
        const char *method;
        double min;
    } cases[] = {{"nmf-et", 0}, {"mca", 1e-4}};
    for (int k = 0; k < 2; k++) {
        rb_model *clamped =
            fit_as_printed(ctx, data, cases[k].method, RB_ET_YES, RB_ET_NEGATIVE_CLAMP);
        rb_model *reflected =
            fit_as_printed(ctx, data, cases[k].method, RB_ET_YES, RB_ET_NEGATIVE_REFLECT);
        assert_true(fields_at(clamped, cases[k].min) >= D * CAUSES / 10);
        assert_int_equal(fields_at(reflected, cases[k].min), 0);
        rb_model_free(clamped);
        rb_model_free(reflected);
    }
    discard(data);
}

/* As printed single causes are looked at for MCA alone, unless they are asked for or not. */
static void singletons_can_be_chosen_as_printed(void **state) {
    rb_context *ctx = *state;
    struct data *data = make(ctx, 0);
    static const char *const methods[] = {"linca", "nmf-et", "mca"};
    for (int m = 0; m < 3; m++) {
        rb_model *fits[3];
        for (int s = 0; s < 3; s++)
            fits[s] = fit_as_printed(ctx, data, methods[m], s, RB_ET_NEGATIVE_CLAMP);
        bool mca = strcmp(methods[m], "mca") == 0;
        assert_int_equal(same_fields(fits[RB_ET_AUTO], fits[RB_ET_YES]), mca);
        assert_int_equal(same_fields(fits[RB_ET_AUTO], fits[RB_ET_NO]), !mca);
        for (int s = 0; s < 3; s++)
            rb_model_free(fits[s]);
    }
    discard(data);
}

/* With room for more active causes than max-active there are two more candidates for each, as far
 * as candidates-limit and units allow, and never more active causes than candidates. */
static void samples_are_widened_within_the_limits(void **state) {
    (void)state;
    enum { UNITS = 12, CANDIDATES = 5, ACTIVE = 3 };
    rb_problem problem = {.method = &rb_method_mca, .n_features = 9, .type = RB_FLOAT64};
    for (int limit = 0; limit <= UNITS; limit += 4) {
        for (int most = 0; most <= UNITS; most++) {
            rb_et_options options;
            rb_et_options_default(&options);
            options.units = UNITS;
            options.candidates = CANDIDATES;
            options.max_active = ACTIVE;
            options.max_active_limit = most;
            options.candidates_limit = limit;
            et_setup setup = et_setup_of(&problem, &options);
            int candidates = CANDIDATES, active = ACTIVE;
            for (; active < most; active++)
                for (int two = 0; two < 2; two++)
                    candidates += candidates < (limit ? limit : UNITS);
            assert_int_equal(setup.max_candidates, candidates);
            assert_int_equal(setup.widest_active, active < candidates ? active : candidates);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priors_per_cause_are_frequencies),
        cmocka_unit_test(fixed_counts_are_kept),
        cmocka_unit_test(fixed_counts_have_no_prior),
        cmocka_unit_test(early_stops_wait_for_the_end_temperature),
        cmocka_unit_test(warm_starts_go_on),
        cmocka_unit_test(warm_starts_are_cold),
        cmocka_unit_test(negative_fields_are_clamped_or_reflected),
        cmocka_unit_test(singletons_can_be_chosen_as_printed),
        cmocka_unit_test(samples_are_widened_within_the_limits),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
