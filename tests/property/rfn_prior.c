/* A prior N(xi, M) with xi != 0 and M != I: the guarantee, exact codes, warm starts, refusals. */
#include "fixture.h"
#include <rarebit/io.h>

#include <stdio.h>
#include <unistd.h>

enum { N = 40, M = 12, MAX = 20 };

struct setting {
    rb_context *ctx;
    double *values;
    rb_source *source;
    double mean[MAX], covariance[MAX * MAX];
    rb_matrix *mean_matrix, *covariance_matrix;
};

/* xi from -0.7 up, M with correlations that fall off from unit to unit. */
static void begin(struct setting *s, int64_t l) {
    *s = (struct setting){.ctx = fixture_context(), .values = fixture_values(N, M, 4, 7)};
    s->source = fixture_data(s->ctx, s->values, N, M);
    for (int64_t j = 0; j < l; j++) {
        s->mean[j] = -0.7 + 0.1 * (double)(j % 5);
        for (int64_t c = 0; c < l; c++) {
            s->covariance[j * l + c] =
                (1 + 0.2 * (double)(j + c)) * pow(0.4, fabs((double)(j - c)));
        }
    }
    assert_ok(s->ctx, rb_matrix_dense(s->ctx, RB_FLOAT64, l, 1, s->mean, 1, 1, &s->mean_matrix));
    assert_ok(s->ctx, rb_matrix_dense(s->ctx, RB_FLOAT64, l, l, s->covariance, l, 1,
                                      &s->covariance_matrix));
}

static void end(struct setting *s) {
    rb_matrix_free(s->mean_matrix);
    rb_matrix_free(s->covariance_matrix);
    rb_source_free(s->source);
    free(s->values);
    rb_context_free(s->ctx);
}

static rb_rfn_options options_of(const struct setting *s, int64_t l, int normalize) {
    rb_rfn_options options = fixture_rfn(l, normalize);
    options.estep = RB_RFN_ESTEP_CYCLIC;
    options.estep_tolerance = 1e-10;
    options.prior_mean.matrix = s->mean_matrix;
    options.prior_covariance.matrix = s->covariance_matrix;
    return options;
}

static rb_model *fit(struct setting *s, const rb_rfn_options *options, int64_t iterations,
                     const rb_model *start) {
    rb_fit_options run = fixture_fit(iterations, RB_FLOAT64);
    return fixture_model(s->ctx, "rfn", options, &run, NULL, s->source, start);
}

/* Both feasible sets, both E-steps, fewer and more units than features; the last objective is that
 * of the definition too (tests/property/rfn_equations.c). */
static void objective_never_falls(void **state) {
    (void)state;
    static const int64_t units[] = {5, M, MAX};
    for (int index = 0; index < 12; index++) {
        struct setting s;
        int64_t l = units[index % 3];
        begin(&s, l);
        int normalize = index / 3 % 2 ? RB_RFN_NORMALIZE_NONE : RB_RFN_NORMALIZE_RMS;
        rb_rfn_options options = options_of(&s, l, normalize);
        options.estep = index / 6 ? RB_RFN_ESTEP_GRADIENT : RB_RFN_ESTEP_CYCLIC;
        rb_model *model = fit(&s, &options, 300, NULL);
        double before = -INFINITY, now, o, seconds;
        for (int64_t t = 1; t < rb_model_iterations(model); t++) {
            rb_model_history(model, t, &now, &o, &seconds);
            if (!(now >= before - 1e-10 * fabs(before))) {
                fail_msg("case %d, iteration %d: F fell from %.15g to %.15g", index, (int)t, before,
                         now);
            }
            before = now;
        }
        rb_model_free(model);
        end(&s);
    }
}

/* Codes of the model are those of the fit: mean square 1 in every unit that lives. */
static void codes_come_back(void **state) {
    (void)state;
    struct setting s;
    begin(&s, 6);
    rb_rfn_options options = options_of(&s, 6, RB_RFN_NORMALIZE_RMS);
    rb_model *model = fit(&s, &options, 100, NULL);
    assert_true(*rb_model_array(model, "certificate", NULL, NULL) > 0);
    const double *dead = rb_model_array(model, "dead", NULL, NULL);
    double *codes = fixture_codes(s.ctx, model, s.source);
    for (int j = 0; j < 6; j++) {
        double squares = 0;
        for (int i = 0; i < N; i++)
            squares += codes[i * 6 + j] * codes[i * 6 + j] / N;
        assert_close(squares, dead[j] ? 0 : 1, 1e-7);
    }
    free(codes);
    rb_model_free(model);
    end(&s);
}

/* A model keeps its prior, in a file too, and a warm start goes on with it. */
static void prior_stays_with_the_model(void **state) {
    (void)state;
    struct setting s;
    begin(&s, 5);
    rb_rfn_options options = options_of(&s, 5, RB_RFN_NORMALIZE_RMS);
    options.estep = RB_RFN_ESTEP_NEWTON;
    rb_model *all = fit(&s, &options, 20, NULL), *half = fit(&s, &options, 8, NULL), *back;
    char path[] = "/tmp/rarebit-prior-XXXXXX";
    close(mkstemp(path));
    assert_ok(s.ctx, rb_model_save(s.ctx, half, path));
    assert_ok(s.ctx, rb_model_load(s.ctx, path, &back));
    remove(path);
    rb_rfn_options_default(&options);
    options.estep = RB_RFN_ESTEP_NEWTON;
    options.sparse_loadings = 0;
    options.psi_min = 0.01;
    options.units = 5;
    options.eta = 0.5;
    rb_model *rest = fit(&s, &options, 12, back);
    int64_t rows, columns;
    const double *m = rb_model_array(rest, "prior_covariance", &rows, &columns);
    assert_true(rows == 5 && columns == 5);
    assert_memory_equal(m, s.covariance, 25 * sizeof *m);
    assert_memory_equal(rb_model_array(rest, "prior_mean", NULL, NULL), s.mean, 5 * sizeof *m);
    const double *a = rb_model_array(all, "loadings", NULL, NULL);
    const double *b = rb_model_array(rest, "loadings", NULL, NULL);
    assert_memory_equal(a, b, 5 * M * sizeof *a);
    rb_model_free(all);
    rb_model_free(half);
    rb_model_free(back);
    rb_model_free(rest);
    end(&s);
}

static void assert_refused(struct setting *s, const rb_rfn_options *options, rb_error expected,
                           const char *words) {
    rb_fit_options run = fixture_fit(2, RB_FLOAT64);
    fixture_refused(s->ctx, "rfn", options, &run, NULL, s->source, NULL, expected, words);
}

static void no_priors(void **state) {
    (void)state;
    struct setting s;
    begin(&s, 5);
    rb_rfn_options options = options_of(&s, 5, RB_RFN_NORMALIZE_RMS);
    options.units = 4;
    assert_refused(&s, &options, RB_ERROR_ARGUMENT, "`prior-mean` is 5 x 1");
    options.prior_mean.matrix = NULL;
    assert_refused(&s, &options, RB_ERROR_ARGUMENT, "`prior-covariance` is 5 x 5");
    options.units = 5;
    s.covariance[1] = 7;
    assert_refused(&s, &options, RB_ERROR_ARGUMENT, "`prior-covariance` is not symmetric");
    s.covariance[1] = s.covariance[5] = 70;
    assert_refused(&s, &options, RB_ERROR_ARGUMENT,
                   "`prior-covariance`: a matrix of 5 rows is not");
    s.covariance[1] = NAN;
    assert_refused(&s, &options, RB_ERROR_ARGUMENT, "missing or infinite, at row 0, column 1");
    end(&s);
}

/* More units than features: every buffer of a general prior is there. */
static void memory_may_end_anywhere(void **state) {
    (void)state;
    struct setting s;
    begin(&s, MAX);
    rb_rfn_options options = options_of(&s, MAX, RB_RFN_NORMALIZE_RMS);
    rb_fit_options run = fixture_fit(1, RB_FLOAT64);
    const rb_options *all = fixture_options(s.ctx, "rfn", &options, &run, NULL);
    rb_model_free(fixture_model_at_last(s.ctx, all, s.source, 0));
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objective_never_falls),      cmocka_unit_test(codes_come_back),
        cmocka_unit_test(prior_stays_with_the_model), cmocka_unit_test(no_priors),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
