/* With a guaranteed E-step F never falls (Clevert et al. 2015, Theorems 2, 4; the first iteration
 * has no codes to go on from); and the model gives the converged codes back, one sample or all. */
#include "fixture.h"

static rb_model *fit(rb_context *ctx, rb_source *source, const rb_rfn_options *options,
                     int64_t iterations, int precision) {
    rb_fit_options run = fixture_fit(iterations, precision);
    return fixture_model(ctx, "rfn", options, &run, NULL, source, NULL);
}

static int falls(const rb_model *model, double tolerance) {
    double before, now, o, seconds;
    int count = 0;
    rb_model_history(model, 1, &before, &o, &seconds);
    for (int64_t t = 2; t < rb_model_iterations(model); t++) {
        rb_model_history(model, t, &now, &o, &seconds);
        count += now < before - tolerance * fabs(before);
        before = now;
    }
    return count;
}

static rb_matrix *data_set(rb_context *ctx, const char *name) {
    rb_biclusters_options options;
    fixture_default(rb_biclusters_group(), &options);
    options.dataset = name;
    rb_matrix *matrix;
    assert_ok(ctx, rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &options), &matrix,
                                          NULL));
    return matrix;
}

struct grid {
    int estep, normalize, precision;
    int64_t units;
    double eta;
};

enum { ESTEPS = RB_RFN_ESTEP_CASCADE - RB_RFN_ESTEP_GRADIENT + 1, CELLS = 9 * ESTEPS };

/* Each E-step meets every number of units with every step, and each of them with either way to
 * normalise, on one of the two data sets or the other. At a step of 0.01 nothing falls so soon. */
static struct grid cell(int data, int index) {
    static const int64_t units[] = {50, 100, 150};
    static const double etas[] = {0.1, 0.5, 1};
    int rest = index / ESTEPS;
    return (struct grid){RB_RFN_ESTEP_GRADIENT + index % ESTEPS,
                         (rest + data) % 2 ? RB_RFN_NORMALIZE_NONE : RB_RFN_NORMALIZE_RMS,
                         rest / 2 % 2 ? RB_FLOAT32 : RB_FLOAT64, units[rest % 3], etas[rest / 3]};
}

/* Rounding: 1e-10 of F in float64, 1e-4 in float32, whose moments have 7 digits. */
static void objective_never_falls(void **state) {
    rb_context *ctx = *state;
    for (int d = 0; d < 2; d++) {
        rb_matrix *matrix = data_set(ctx, d ? "D3" : "D1");
        rb_source *source;
        assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
        for (int index = 0; index < CELLS; index++) {
            struct grid g = cell(d, index);
            rb_rfn_options options = fixture_rfn(g.units, g.normalize);
            options.estep = g.estep;
            options.estep_tolerance = 1e-2;
            options.accept =
                d && g.estep == RB_RFN_ESTEP_CASCADE ? RB_RFN_ACCEPT_ANY : RB_RFN_ACCEPT_GRADIENT;
            options.eta = g.eta;
            int64_t iterations = g.units == 50 ? 80 : 30; /* those of newton begin by then */
            rb_model *model = fit(ctx, source, &options, iterations, g.precision);
            int count = falls(model, g.precision == RB_FLOAT64 ? 1e-10 : 1e-4);
            if (count) {
                fail_msg("%d falls: estep %d, normalize %d, %d units, eta %g", count, g.estep,
                         g.normalize, (int)g.units, g.eta);
            }
            rb_model_free(model);
        }
        rb_source_free(source);
        rb_matrix_free(matrix);
    }
}

/* Nor where the length of gradient steps is searched for. */
static void neither_by_searched_steps(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix = data_set(ctx, "D1");
    rb_source *source;
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    for (int search = RB_RFN_LENGTH_HALF; search <= RB_RFN_LENGTH_TENTH; search++) {
        for (int normalize = 0; normalize < 2; normalize++) {
            rb_rfn_options options =
                fixture_rfn(50, normalize ? RB_RFN_NORMALIZE_RMS : RB_RFN_NORMALIZE_NONE);
            options.estep = RB_RFN_ESTEP_GRADIENT;
            options.gradient_search = search;
            options.eta = 0.5;
            rb_model *model = fit(ctx, source, &options, 100, RB_FLOAT64);
            assert_int_equal(falls(model, 1e-10), 0);
            rb_model_free(model);
        }
    }
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* The same of data of which only some values are stored, and with more features than samples. */
static void neither_on_sparse_data(void **state) {
    enum { ROWS = 40, COLUMNS = 100 };
    rb_context *ctx = *state;
    rb_matrix *dense = data_set(ctx, "D1"), *sparse;
    int64_t starts[ROWS + 1] = {0}, count = 0;
    static int32_t columns[ROWS * COLUMNS];
    static double values[ROWS * COLUMNS];
    for (int64_t i = 0; i < ROWS; i++) {
        for (int32_t k = 0; k < COLUMNS; k++) {
            values[count] = rb_matrix_at(dense, i, k);
            columns[count] = k;
            count += fabs(values[count]) > 1;
        }
        starts[i + 1] = count;
    }
    rb_source *source;
    assert_ok(ctx, rb_matrix_csr(ctx, RB_FLOAT64, ROWS, COLUMNS, starts, columns, values, &sparse));
    assert_ok(ctx, rb_source_from_matrix(ctx, sparse, &source));
    for (int estep = RB_RFN_ESTEP_GRADIENT; estep <= RB_RFN_ESTEP_CASCADE; estep++) {
        rb_rfn_options options = fixture_rfn(30, RB_RFN_NORMALIZE_RMS);
        options.estep = estep;
        options.eta = 0.5;
        rb_model *model = fit(ctx, source, &options, 100, RB_FLOAT64);
        assert_int_equal(falls(model, 1e-10), 0);
        rb_model_free(model);
    }
    rb_source_free(source);
    rb_matrix_free(sparse);
    rb_matrix_free(dense);
}

/* The newton E-step falls on these data: the test above can fail. */
static void newton_falls(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix = data_set(ctx, "D1");
    rb_source *source;
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_rfn_options options = fixture_rfn(50, RB_RFN_NORMALIZE_NONE);
    rb_model *model = fit(ctx, source, &options, 100, RB_FLOAT64);
    assert_in_range(falls(model, 1e-10), 20, 100);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

enum { N = 100, UNITS = 50 };

static rb_error take_codes(void *user, int64_t first, const rb_matrix *rows) {
    double *codes = user;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++)
        for (int64_t j = 0; j < UNITS; j++)
            codes[(first + i) * UNITS + j] = rb_matrix_at(rows, i, j);
    return RB_OK;
}

/* Encoding solves each sample alone: all at once, and each in a source of its own, give codes whose
 * mean square over the training data is 1 in every unit, as it was while training. */
static void codes_come_back(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix = data_set(ctx, "D1");
    rb_source *source;
    static double all[N * UNITS], alone[UNITS];
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    options.estep = RB_RFN_ESTEP_CYCLIC;
    options.estep_tolerance = 1e-10;
    rb_model *model = fit(ctx, source, &options, 60, RB_FLOAT64);
    const double *certificate = rb_model_array(model, "certificate", NULL, NULL);
    const double *residual = rb_model_array(model, "kkt_residual", NULL, NULL);
    assert_true(*certificate > 0 && *residual < 1e-9);
    assert_ok(ctx, rb_encode(ctx, model, source, take_codes, all));
    for (int j = 0; j < UNITS; j++) {
        double squares = 0;
        for (int i = 0; i < N; i++)
            squares += all[i * UNITS + j] * all[i * UNITS + j];
        assert_close(squares / N, 1, 1e-7);
    }
    for (int i = 0; i < N; i += 9) {
        double row[100];
        rb_matrix *one;
        rb_source *single;
        for (int k = 0; k < 100; k++)
            row[k] = rb_matrix_at(matrix, i, k);
        assert_ok(ctx, rb_matrix_dense(ctx, RB_FLOAT64, 1, 100, row, 100, 1, &one));
        assert_ok(ctx, rb_source_from_matrix(ctx, one, &single));
        assert_ok(ctx, rb_encode(ctx, model, single, take_codes, alone));
        for (int j = 0; j < UNITS; j++)
            assert_close(alone[j], all[i * UNITS + j], 1e-7);
        rb_source_free(single);
        rb_matrix_free(one);
    }
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* The tolerance is a share of the largest code, also where codes are tiny beside large loadings. */
static void tolerance_is_a_share(void **state) {
    enum { FEW = 60, FEATURES = 12 };
    rb_context *ctx = *state;
    double *values = fixture_values(FEW, FEATURES, 3, 4);
    rb_source *source = fixture_data(ctx, values, FEW, FEATURES);
    rb_rfn_options options = fixture_rfn(6, RB_RFN_NORMALIZE_NONE);
    options.estep = RB_RFN_ESTEP_CYCLIC;
    options.estep_tolerance = 1e-6;
    options.weight_init = 1e5;
    options.eta = 0.01;
    rb_model *model = fit(ctx, source, &options, 1, RB_FLOAT64);
    double *codes = fixture_codes(ctx, model, source), largest = 0;
    for (int64_t e = 0; e < FEW * 6; e++)
        largest = fmax(largest, codes[e]);
    assert_true(largest > 0 && largest < 1e-3);
    assert_true(*fixture_array(model, "kkt_residual") < 1e-6);
    free(codes);
    rb_model_free(model);
    rb_source_free(source);
    free(values);
}

static void sd_is_refused(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix = data_set(ctx, "D1");
    rb_source *source;
    rb_model *model;
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_rfn_options options = fixture_rfn(5, RB_RFN_NORMALIZE_SD);
    options.estep = RB_RFN_ESTEP_CYCLIC;
    assert_int_equal(
        rb_fit(ctx, fixture_options(ctx, "rfn", &options, NULL, NULL), source, NULL, &model),
        RB_ERROR_ARGUMENT);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objective_never_falls),  cmocka_unit_test(neither_by_searched_steps),
        cmocka_unit_test(neither_on_sparse_data), cmocka_unit_test(newton_falls),
        cmocka_unit_test(codes_come_back),        cmocka_unit_test(tolerance_is_a_share),
        cmocka_unit_test(sd_is_refused),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
