/* Exact codes of a model with multipliers are the minimum of each sample's problem, by its
 * conditions, also where P + diag tau is ill-conditioned: more units than samples. */
#include "../unit/factors_test.h"

#include "rfn/coder.h"

enum { N = 60, M = 60, UNITS = 90 };

static rb_model *fit(rb_context *ctx, rb_source *source) {
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options run = fixture_fit(400, RB_FLOAT64);
    options.eta = 0.1;
    options.estep = RB_RFN_ESTEP_CYCLIC;
    options.newton_iterations = 300;
    options.prior_mean.value = -1;
    return fixture_model(ctx, "rfn", &options, &run, NULL, source, NULL);
}

static const double *array(const rb_model *model, const char *name) {
    return rb_model_array(model, name, NULL, NULL);
}

/* H = P + diag tau and q = W' Psi^-1 v + xi by definition. */
static void problem_of(const rb_model *model, const double *v, double *h, double *q) {
    const double *w = array(model, "loadings"), *psi = array(model, "noise");
    for (int a = 0; a < UNITS; a++) {
        q[a] = array(model, "prior_mean")[a];
        for (int k = 0; k < M; k++)
            q[a] += w[k * UNITS + a] * (v[k] - model->preprocess->centre[k]) / psi[k];
        for (int b = 0; b < UNITS; b++) {
            double sum = a == b ? 1 + array(model, "multipliers")[a] : 0;
            for (int k = 0; k < M; k++)
                sum += w[k * UNITS + a] * w[k * UNITS + b] / psi[k];
            h[a * UNITS + b] = sum;
        }
    }
}

/* Codes within `tolerance` of the largest code of a sample from the minimum: then derivatives are
 * as near to 0 where codes are positive, and to not below 0 elsewhere, as H carries the distance.
 * Returns the mean squares of the units. */
static const double *check_codes(rb_context *ctx, const rb_model *model, const rb_matrix *matrix,
                                 rb_source *source, double tolerance) {
    static double h[UNITS * UNITS], q[UNITS], v[M], squares[UNITS];
    double *codes = fixture_codes(ctx, model, source);
    memset(squares, 0, sizeof squares);
    for (int i = 0; i < N; i++) {
        const double *mu = codes + i * UNITS;
        double largest = 0;
        for (int k = 0; k < M; k++)
            v[k] = rb_matrix_at(matrix, i, k);
        for (int a = 0; a < UNITS; a++) {
            largest = fmax(largest, mu[a]);
            squares[a] += mu[a] * mu[a] / N;
        }
        problem_of(model, v, h, q);
        for (int a = 0; a < UNITS; a++) {
            double derivative = -q[a], sum = 0;
            for (int b = 0; b < UNITS; b++) {
                derivative += h[a * UNITS + b] * mu[b];
                sum += fabs(h[a * UNITS + b]);
            }
            double bound = tolerance * largest * sum;
            if (mu[a] > 0 ? fabs(derivative) > bound : derivative < -bound) {
                fail_msg("sample %d, unit %d: code %g, derivative %g, bound %g", i, a, mu[a],
                         derivative, bound);
            }
        }
    }
    free(codes);
    return squares;
}

/* The minimum, as near as was asked for, also where sweeps would take thousands; and the codes of
 * the fit come back, with mean square 1. */
static void codes_are_exact(void **state) {
    rb_context *ctx = *state;
    rb_matrix *matrix;
    rb_biclusters_options data;
    fixture_default(rb_biclusters_group(), &data);
    data.dataset = "D4";
    data.rest_sd = 0.5;
    data.samples = N;
    data.features = M;
    rb_source *source;
    assert_ok(ctx,
              rb_simulate_biclusters(ctx, fixture_of(rb_biclusters_group(), &data), &matrix, NULL));
    assert_ok(ctx, rb_source_from_matrix(ctx, matrix, &source));
    rb_model *model = fit(ctx, source);
    assert_true(*array(model, "certificate") > 0.01);
    static const char *const tolerances[] = {"1e-3", "1e-6", "1e-12"};
    for (int t = 0; t < 3; t++) {
        assert_ok(ctx, rb_model_set_attribute(ctx, model, "estep-tolerance", tolerances[t]));
        double tolerance = strtod(tolerances[t], NULL);
        const double *squares = check_codes(ctx, model, matrix, source, tolerance);
        for (int a = 0; a < UNITS; a++)
            assert_close(squares[a], array(model, "dead")[a] != 0 ? 0 : 1, 1e-4 + 30 * tolerance);
    }
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
}

/* As near for samples that are far smaller: their codes are smaller alike. */
static void codes_scale_with_samples(void **state) {
    enum { FEW = 8, ROWS = 40, COLUMNS = 12 };
    rb_context *ctx = *state;
    double *values = fixture_values(ROWS, COLUMNS, 3, 6), *codes[2];
    rb_source *source = fixture_data(ctx, values, ROWS, COLUMNS);
    rb_model *model = compare_fit(ctx, "rfn",
                                  "units=8 preset=paper estep=cyclic centre=none iterations=30 "
                                  "precision=float64 estep-tolerance=1e-9 seed=1",
                                  source);
    for (int small = 0; small < 2; small++) {
        for (int e = 0; small && e < ROWS * COLUMNS; e++)
            values[e] /= 1 << 20;
        codes[small] = fixture_codes(ctx, model, source);
    }
    for (int e = 0; e < ROWS * FEW; e++)
        assert_close(codes[1][e] * (1 << 20), codes[0][e], 1e-7);
    free(codes[0]);
    free(codes[1]);
    rb_model_free(model);
    rb_source_free(source);
    free(values);
}

/* A sample alone, and a few, have the codes that they have among many, of a model with a prior and
 * centred data. */
static void few_samples_are_as_among_many(void **state) {
    enum { ROWS = 40, COLUMNS = 12, MOST = 5, FOUND = 8 };
    rb_context *ctx = *state;
    double *values = fixture_values(ROWS, COLUMNS, 3, 6);
    rb_source *source = fixture_data(ctx, values, ROWS, COLUMNS);
    rb_model *model = compare_fit(ctx, "rfn",
                                  "units=8 preset=paper estep=cyclic prior-mean=-0.5 iterations=30 "
                                  "precision=float64 estep-tolerance=1e-9 seed=1",
                                  source);
    double *all = fixture_codes(ctx, model, source);
    for (int count = 1; count <= MOST; count++) {
        rb_source *few = fixture_data(ctx, values + 3 * COLUMNS, count, COLUMNS);
        double *codes = fixture_codes(ctx, model, few);
        for (int e = 0; e < count * FOUND; e++)
            assert_close(codes[e], all[3 * FOUND + e], 1e-6);
        free(codes);
        rb_source_free(few);
    }
    free(all);
    rb_model_free(model);
    rb_source_free(source);
    free(values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_exact),
        cmocka_unit_test(codes_scale_with_samples),
        cmocka_unit_test(few_samples_are_as_among_many),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
