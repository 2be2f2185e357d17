/* Weight decay, momentum, activations, dropout and input noise: fits against the definitions,
 * sample by sample. */
#include "../options.h"
#include "rfn_pass.h"
#include "rfn_reference.h"

enum { N = 120, M = 9, UNITS = 4, ITERATIONS = 5 };

static rb_rfn_options base(void) {
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    options.weight_init = 0.3;
    return options;
}

static bool below(uint64_t key, int64_t row, int64_t position, double share) {
    return rb_random_word(key, (uint64_t)row, (uint64_t)position) < (uint32_t)(share * 0x1p32);
}

/* The least (or largest) centred value of a feature. */
static double extreme(const reference *r, int64_t feature, bool min) {
    double max = -INFINITY;
    for (int64_t i = 0; i < r->n; i++)
        max = fmax(max, (min ? -1 : 1) * r->v[i * r->m + feature]);
    return min ? -max : max;
}

static double corrupt(const reference *r, int64_t sample, int64_t feature) {
    double x = r->v[sample * r->m + feature], level = r->options.input_noise_level;
    if (r->options.input_noise == RB_RFN_NOISE_GAUSSIAN) {
        float normals[RB_RANDOM_RUN]; /* M is below */
        rb_kernels_best()->normal_row(r->noise_key, (uint64_t)sample, r->m, normals);
        return x + level * (double)normals[feature];
    }
    if (!below(r->noise_key, sample, feature, level)) return x;
    return r->options.input_noise == RB_RFN_NOISE_MASKING
               ? 0
               : extreme(r, feature, below(r->noise_key, sample, feature, level / 2));
}

static bool dropped(const reference *r, int64_t sample, int64_t unit) {
    return below(r->dropout_key, sample, unit, r->options.dropout);
}

static void set_random(reference *r, uint64_t pass) {
    r->corrupt = r->options.input_noise != RB_RFN_NOISE_NONE ? corrupt : NULL;
    r->dropped = r->options.dropout > 0 ? dropped : NULL;
    r->noise_key = rb_random_key((rb_stream){1, RB_RANDOM_INPUT_NOISE, 0}, pass);
    r->dropout_key = rb_random_key((rb_stream){1, RB_RANDOM_DROPOUT, 0}, pass);
}

/* The same iterations by the library and by the reference, of so many samples. */
static void agree_on(const rb_rfn_options *options, int64_t n) {
    rb_context *ctx = fixture_context();
    double *values = fixture_values(n, M, 3, 21);
    rb_source *source = fixture_data(ctx, values, n, M);
    rb_fit_options fit = fixture_fit(ITERATIONS, RB_FLOAT64);
    rb_model *model = fixture_model(ctx, "rfn", options, &fit, NULL, source, NULL);
    reference r = reference_new(values, n, M, options);
    for (uint64_t t = 0; t < ITERATIONS; t++) {
        set_random(&r, t);
        reference_estep(&r, NULL, n, 0, false);
        reference_mstep(&r, options->eta, options->eta);
    }
    reference_compare(&r, model, 1e-9);

    /* New samples are encoded by activation and stored scale. */
    double *codes = fixture_codes(ctx, model, source), *sigma = reference_zeros(UNITS * UNITS);
    reference_sigma(&r, sigma);
    for (int64_t e = 0; e < n * UNITS; e++) {
        double code = reference_code(&r, sigma, e / UNITS, e % UNITS, true);
        assert_close(codes[e], code / r.scale[e % UNITS], 1e-8);
    }
    free(sigma);
    free(codes);
    free(values);
    reference_free(&r);
    rb_model_free(model);
    rb_source_free(source);
    rb_context_free(ctx);
}

static void agree(const rb_rfn_options *options) {
    agree_on(options, N);
}

static void plain(void **state) {
    (void)state;
    rb_rfn_options options = base();
    agree(&options);
    options.normalize = RB_RFN_NORMALIZE_SD;
    agree(&options);
}

/* Algorithm S2: W between -rho and rho. */
static void uniform_start(void **state) {
    (void)state;
    rb_rfn_options options = base();
    options.weight_start = RB_RFN_START_UNIFORM;
    agree(&options);
}

/* Eq. 121; a start far below the noise makes precisions that would fall below 0. */
static void newton_in_the_precision(void **state) {
    (void)state;
    rb_rfn_options options = base();
    options.psi_step = RB_RFN_PSI_STEP_PRECISION;
    options.eta = options.eta_psi = 0.1;
    agree(&options);
    options.psi_init = 0.011;
    agree(&options);
}

/* Algorithm S8. */
static void weight_decay(void **state) {
    (void)state;
    rb_rfn_options options = base();
    options.weight_decay = 0.03;
    agree(&options);
    options.weight_decay_laplace = 0.02;
    agree(&options);
    options.weight_decay = 0;
    agree(&options);
}

static void momentum(void **state) {
    (void)state;
    rb_rfn_options options = base();
    options.eta = 0.2;
    options.momentum = 0.7;
    agree(&options);
    options.weight_decay = 0.01;
    agree(&options);
}

static void activations(void **state) {
    (void)state;
    for (int a = RB_RFN_ACTIVATION_RECTIFY; a <= RB_RFN_ACTIVATION_TANH; a++) {
        rb_rfn_options options = base();
        options.activation = a;
        options.activation_threshold = 0.3;
        options.activation_slope = a == RB_RFN_ACTIVATION_LEAKY ? 0.1 : options.activation_slope;
        agree(&options);
        options.normalize = RB_RFN_NORMALIZE_NONE;
        agree(&options);
        options.normalize = RB_RFN_NORMALIZE_SD;
        agree(&options);
    }
}

/* Algorithm S9, and the scaling first. */
static void dropout(void **state) {
    (void)state;
    for (int normalize = RB_RFN_NORMALIZE_RMS; normalize <= RB_RFN_NORMALIZE_NONE; normalize++) {
        for (int place = RB_RFN_DROPOUT_BEFORE; place <= RB_RFN_DROPOUT_AFTER; place++) {
            rb_rfn_options options = base();
            options.normalize = normalize;
            options.dropout = 0.4;
            options.dropout_place = place;
            agree(&options);
            agree_on(&options, 5 * N); /* of several tasks */
        }
    }
}

/* mu_p from samples with noise, V'mu from clean ones. */
static void input_noise(void **state) {
    (void)state;
    for (int kind = RB_RFN_NOISE_MASKING; kind <= RB_RFN_NOISE_GAUSSIAN; kind++) {
        rb_rfn_options options = base();
        options.input_noise = kind;
        options.input_noise_level = kind == RB_RFN_NOISE_GAUSSIAN ? 1.5 : 0.3; /* sd, or a share */
        agree(&options);
        options.dropout = 0.2;
        agree(&options);
    }
}

/* A fit of many tasks; trace or not must not matter. */
static rb_model *fit_noisy(int kind, int threads, bool trace) {
    enum { MANY = 1300 };
    rb_context *ctx = fixture_context();
    double *values = fixture_values(MANY, M, 3, 24);
    rb_source *source = fixture_data(ctx, values, MANY, M);
    rb_rfn_options options = base();
    rb_fit_options fit = fixture_fit(ITERATIONS, RB_FLOAT32);
    options.input_noise = kind;
    options.input_noise_level = 0.25;
    options.dropout = 0.5;
    fit.trace = trace;
    assert_ok(ctx, rb_context_set_threads(ctx, threads));
    rb_model *model = fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
    free(values);
    rb_source_free(source);
    rb_context_free(ctx);
    return model;
}

/* The same bits for any number of threads, and whether or not the E-step objective is traced. */
static void threads(void **state) {
    (void)state;
    for (int kind = RB_RFN_NOISE_MASKING; kind <= RB_RFN_NOISE_GAUSSIAN; kind++) {
        rb_model *one = fit_noisy(kind, 1, false);
        for (int t = 2; t <= 4; t++) {
            rb_model *many = fit_noisy(kind, t, t == 4);
            fixture_same_array(one, many, "loadings");
            rb_model_free(many);
        }
        rb_model_free(one);
    }
}

/* Iterations by hand over blocks of so many samples. */
static double *by_blocks(int64_t block_samples) {
    rb_context *ctx = fixture_context();
    rb_rfn_options options = base();
    rb_fit_options fit = fixture_fit(ITERATIONS, RB_FLOAT64);
    double *values = fixture_values(N, M, 3, 25), *loadings = reference_zeros(M * UNITS);
    options.input_noise = RB_RFN_NOISE_GAUSSIAN;
    options.input_noise_level = 0.5;
    options.dropout = 0.3;
    rb_problem problem = {.n_samples = N,
                          .n_features = M,
                          .type = RB_FLOAT64,
                          .block_samples = block_samples,
                          .fit = &fit};
    const rb_method *rfn = &rb_method_rfn;
    rfn_steps steps;
    rfn_steps_new(ctx, problem, &options, &steps);
    void *fit_state = steps.fit;
    for (int t = -1; t < ITERATIONS; t++) { /* -1: the survey */
        bool again;
        rfn_steps_clear(&steps, t < 0 ? RB_PART_SURVEY : RB_PART_SUMS);
        assert_ok(ctx, t < 0 ? RB_OK : rfn->begin(ctx, fit_state));
        for (int64_t first = 0; first < N; first += block_samples) {
            int64_t left = N - first, count = left < block_samples ? left : block_samples;
            rb_block block = {.first = first, .own = first, .n_samples = count, .n_features = M};
            block.dense = (rb_dense){values + first * M, count, M, M, RB_FLOAT64};
            assert_ok(ctx, (t < 0 ? rfn->survey : rfn->block)(ctx, fit_state, &block));
        }
        assert_ok(ctx, t < 0 ? rfn->survey_end(ctx, fit_state) : rfn->end(ctx, fit_state, &again));
        assert_ok(ctx, t < 0 ? RB_OK : rfn->mstep(ctx, fit_state));
    }
    rb_dense w = steps.fit->parameters.loadings;
    rb_dense_copy(w, (rb_dense){loadings, M, UNITS, UNITS, RB_FLOAT64});
    rfn_steps_free(&steps);
    free(values);
    rb_context_free(ctx);
    return loadings;
}

/* How samples are cut into blocks changes no random number: rounding only. */
static void blocks(void **state) {
    (void)state;
    double *one = by_blocks(N), *many = by_blocks(32);
    for (int e = 0; e < M * UNITS; e++)
        assert_close(many[e], one[e], 1e-10);
    free(one);
    free(many);
}

/* Every value stored: hiding stored values before centring, which turns them into minus the mean.
 */
static double hide(const reference *r, int64_t sample, int64_t feature) {
    bool hidden = below(r->noise_key, sample, feature, r->options.input_noise_level);
    return hidden ? r->scale[r->l + feature] : r->v[sample * r->m + feature];
}

static void sparse_masking(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 3, 26);
    int64_t starts[N + 1];
    int32_t *columns = calloc(N * M, sizeof *columns);
    rb_matrix *matrix;
    rb_source *source;
    rb_rfn_options options = base();
    rb_fit_options fit = fixture_fit(ITERATIONS, RB_FLOAT64);
    for (int64_t e = 0; e < N * M; e++) {
        columns[e] = (int32_t)(e % M);
        starts[e / M] = e / M * M;
    }
    starts[N] = N * M;
    options.input_noise = RB_RFN_NOISE_MASKING;
    options.input_noise_level = 0.3;
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, N, M, starts, columns, values, &matrix));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_model *model = fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
    reference r = reference_new(values, N, M, &options);
    r.scale = realloc(r.scale, (UNITS + M) * sizeof *r.scale);
    for (int64_t k = 0; k < M; k++)
        r.scale[UNITS + k] = r.v[k] - values[k]; /* minus the mean */
    for (uint64_t t = 0; t < ITERATIONS; t++) {
        set_random(&r, t);
        r.corrupt = hide;
        reference_estep(&r, NULL, N, 0, false);
        reference_mstep(&r, options.eta, options.eta);
    }
    reference_compare(&r, model, 1e-9);
    rb_model_free(model);

    options.input_noise = RB_RFN_NOISE_GAUSSIAN;
    fixture_refused(ctx, "rfn", &options, &fit, NULL, source, NULL, RB_ERROR_ARGUMENT, "masking");
    reference_free(&r);
    rb_source_free(source);
    rb_matrix_free(matrix);
    free(columns);
    free(values);
}

/* Every allocation fails once: no leak, no model. */
static void allocations(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 3, 27);
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_rfn_options options = base();
    rb_fit_options fit = fixture_fit(2, RB_FLOAT64);
    options.input_noise = RB_RFN_NOISE_SALT_AND_PEPPER;
    options.input_noise_level = 0.25;
    options.dropout = 0.5;
    options.momentum = 0.5;
    const rb_options *all = fixture_options(ctx, "rfn", &options, &fit, NULL);
    rb_model_free(fixture_model_at_last(ctx, all, source, 0));
    free(values);
    rb_source_free(source);
}

/* The recorded F is that of the loadings after decay: -E - KL by their definitions. */
static void objective_after_decay(void **state) {
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 3, 22);
    rb_source *source = fixture_data(ctx, values, N, M);
    rb_rfn_options options = base();
    rb_fit_options fit = fixture_fit(1, RB_FLOAT64);
    options.weight_decay = 0.2;
    options.weight_decay_laplace = 0.05;
    options.momentum = 0.5;
    rb_model *model = fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
    reference r = reference_new(values, N, M, &options);
    double *sigma = reference_zeros(UNITS * UNITS), *precision = reference_zeros(UNITS * UNITS);
    reference_sigma(&r, sigma);
    reference_estep(&r, NULL, N, 0, false);
    reference_mstep(&r, options.eta, options.eta);
    /* F = -E - KL, with S = A + Sigma of the E-step and the new W and Psi. */
    double f = -0.5 * M * log(2 * M_PI) + UNITS / 2.0;
    memcpy(precision, sigma, UNITS * UNITS * sizeof *sigma);
    for (int64_t p = 0; p < UNITS; p++) { /* log |Sigma| by elimination */
        f += 0.5 * log(precision[p * UNITS + p]);
        for (int64_t i = p + 1; i < UNITS; i++) {
            double factor = precision[i * UNITS + p] / precision[p * UNITS + p];
            for (int64_t j = p; j < UNITS; j++)
                precision[i * UNITS + j] -= factor * precision[p * UNITS + j];
        }
    }
    for (int64_t j = 0; j < UNITS; j++) {
        double square = r.a[j * UNITS + j] / (N * r.scale[j] * r.scale[j]);
        f -= 0.5 * (sigma[j * UNITS + j] + square);
    }
    for (int64_t k = 0; k < M; k++) {
        double error = r.second[k];
        for (int64_t j = 0; j < UNITS; j++) {
            double w = r.w[k * UNITS + j];
            error -= 2 * w * r.u[k * UNITS + j] / (N * r.scale[j]);
            for (int64_t b = 0; b < UNITS; b++) {
                double s =
                    sigma[j * UNITS + b] + r.a[j * UNITS + b] / (N * r.scale[j] * r.scale[b]);
                error += w * s * r.w[k * UNITS + b];
            }
        }
        f -= 0.5 * (log(r.psi[k]) + error / r.psi[k]);
    }
    double recorded;
    rb_model_history(model, 0, &recorded, NULL, NULL);
    assert_close(recorded, f, 1e-9);
    free(sigma);
    free(precision);
    free(values);
    reference_free(&r);
    rb_model_free(model);
    rb_source_free(source);
}

static void assert_refused(rb_context *ctx, rb_source *source, const char *name,
                           const char *value) {
    rb_rfn_options options = base();
    rb_fit_options fit = fixture_fit(2, RB_FLOAT64);
    assert_ok(ctx, rb_rows_set(ctx, rfn_option_rows, &options, name, value));
    options.input_noise_level = options.input_noise ? 0.2 : 0;
    options.estep = RB_RFN_ESTEP_CYCLIC;
    fixture_refused(ctx, "rfn", &options, &fit, NULL, source, NULL, RB_ERROR_ARGUMENT, name);
    options.estep = RB_RFN_ESTEP_NEWTON;
    rb_model_free(fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL));
}

/* What would break a guaranteed E-step is refused with its name. */
static void only_newton(void **state) {
    static const char *const refused[][2] = {
        {"activation", "leaky"}, {"activation", "tanh"}, {"activation-threshold", "0.5"},
        {"momentum", "0.5"},     {"dropout", "0.1"},     {"input-noise", "masking"}};
    rb_context *ctx = *state;
    double *values = fixture_values(N, M, 3, 23);
    rb_source *source = fixture_data(ctx, values, N, M);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_refused(ctx, source, refused[i][0], refused[i][1]);
    /* A kind without a level, a level without a kind, a share of all. */
    for (int i = 0; i < 3; i++) {
        rb_rfn_options options = base();
        rb_model *model;
        options.input_noise = i == 1 ? RB_RFN_NOISE_NONE : RB_RFN_NOISE_MASKING;
        options.input_noise_level = i == 0 ? 0 : 1;
        assert_int_equal(
            rb_fit(ctx, fixture_options(ctx, "rfn", &options, NULL, NULL), source, NULL, &model),
            RB_ERROR_ARGUMENT);
    }
    free(values);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uniform_start),  cmocka_unit_test(newton_in_the_precision),
        cmocka_unit_test(plain),          cmocka_unit_test(weight_decay),
        cmocka_unit_test(momentum),       cmocka_unit_test(activations),
        cmocka_unit_test(only_newton),    cmocka_unit_test(objective_after_decay),
        cmocka_unit_test(dropout),        cmocka_unit_test(input_noise),
        cmocka_unit_test(threads),        cmocka_unit_test(blocks),
        cmocka_unit_test(sparse_masking), cmocka_unit_test(allocations),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
