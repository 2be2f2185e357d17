/* Full noise covariance: theorems 5 and 6 of the paper at fixed points, the guarantee, the least
 * eigenvalue, decay to diagonal noise, sparse data, warm starts. */
#include "fixture.h"

enum { N = 40, MAX_M = 12, MAX_L = 16 };

struct setting {
    rb_context *ctx;
    double *values;
    rb_matrix *matrix;
    rb_source *source;
    rb_rfn_options rfn;
    rb_fit_options fit;
    int64_t m;
};

static void begin(struct setting *s, int64_t m, int64_t l, int64_t iterations) {
    *s = (struct setting){.ctx = fixture_context(), .values = fixture_values(N, m, 3, 17), .m = m};
    s->source = fixture_source(s->ctx, s->values, N, m, &s->matrix);
    s->rfn = fixture_rfn(l, RB_RFN_NORMALIZE_RMS);
    s->rfn.estep = RB_RFN_ESTEP_CYCLIC;
    s->rfn.estep_tolerance = 1e-12;
    s->rfn.noise = RB_RFN_PSI_FULL;
    s->fit = fixture_fit(iterations, RB_FLOAT64);
}

static void end(struct setting *s) {
    rb_source_free(s->source);
    rb_matrix_free(s->matrix);
    free(s->values);
    rb_context_free(s->ctx);
}

static rb_model *fit(struct setting *s, const rb_model *start) {
    return fixture_model(s->ctx, "rfn", &s->rfn, &s->fit, NULL, s->source, start);
}

static const double *array(const rb_model *model, const char *name) {
    return rb_model_array(model, name, NULL, NULL);
}

/* Both forms of Psi, both feasible sets and E-steps, fewer and more units than features, noise at
 * its bound and not: F never falls. */
static void objective_never_falls(void **state) {
    (void)state;
    static const double etas[] = {0.1, 0.5, 1};
    for (int index = 0; index < 48; index++) {
        struct setting s;
        begin(&s, MAX_M, index & 1 ? MAX_L : 5, 200);
        s.rfn.normalize = index & 2 ? RB_RFN_NORMALIZE_NONE : RB_RFN_NORMALIZE_RMS;
        s.rfn.estep = index & 4 ? RB_RFN_ESTEP_GRADIENT : RB_RFN_ESTEP_CYCLIC;
        s.rfn.psi_update = index & 8 ? RB_RFN_PSI_NEW : RB_RFN_PSI_OLD;
        s.rfn.eta = etas[index / 16];
        s.rfn.psi_min = index % 5 < 2 ? 0.3 : 0.01;
        rb_model *model = fit(&s, NULL);
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

/* Moments of a model's own codes, by definition. */
struct moments {
    double c[MAX_M * MAX_M], errors[MAX_M * MAX_M]; /* C, (1/n) sum of eps eps' */
    double s[MAX_L * MAX_L], u[MAX_M * MAX_L];
    double sigma[MAX_L * MAX_L], psi[MAX_M * MAX_M];
    double wsw[MAX_M * MAX_M], pkp[MAX_M * MAX_M]; /* W S W', Psi (W W' + Psi)^-1 Psi */
};

static void invert(double *a, int64_t n) {
    for (int64_t p = 0; p < n; p++) {
        double pivot = a[p * n + p];
        a[p * n + p] = 1;
        for (int64_t j = 0; j < n; j++)
            a[p * n + j] /= pivot;
        for (int64_t i = 0; i < n; i++) {
            double factor = a[i * n + p];
            for (int64_t j = 0; i != p && j < n; j++)
                a[i * n + j] = (j == p ? 0 : a[i * n + j]) - factor * a[p * n + j];
        }
    }
}

/* out (rows x cols) = a b' with inner columns each. */
static void product(const double *a, const double *b, int64_t rows, int64_t cols, int64_t inner,
                    double *out) {
    for (int64_t e = 0; e < rows * cols; e++) {
        out[e] = 0;
        for (int64_t c = 0; c < inner; c++)
            out[e] += a[e / cols * inner + c] * b[e % cols * inner + c];
    }
}

static void measure(struct setting *s, const rb_model *model, struct moments *x) {
    int64_t m = s->m, l = s->rfn.units;
    const double *w = array(model, "loadings"), *full = array(model, "noise_covariance");
    double *mu = fixture_codes(s->ctx, model, s->source);
    double v[MAX_M], eps[MAX_M], inverse[MAX_M * MAX_M], ws[MAX_M * MAX_L], part[MAX_M * MAX_M];
    memset(x, 0, sizeof *x);
    for (int64_t e = 0; e < m * m; e++)
        x->psi[e] = full ? full[e] : e / m == e % m ? array(model, "noise")[e / m] : 0;
    for (int64_t i = 0; i < N; i++) {
        for (int64_t k = 0; k < m; k++) {
            v[k] = eps[k] = s->values[i * m + k] - model->preprocess->centre[k];
            for (int64_t j = 0; j < l; j++)
                eps[k] -= w[k * l + j] * mu[i * l + j];
        }
        for (int64_t e = 0; e < m * m; e++) {
            x->c[e] += v[e / m] * v[e % m] / N;
            x->errors[e] += eps[e / m] * eps[e % m] / N;
        }
        for (int64_t e = 0; e < m * l; e++)
            x->u[e] += v[e / l] * mu[i * l + e % l] / N;
        for (int64_t e = 0; e < l * l; e++)
            x->s[e] += mu[i * l + e / l] * mu[i * l + e % l] / N;
    }
    /* Sigma = (I + W' Psi^-1 W)^-1, K^-1 */
    memcpy(inverse, x->psi, sizeof inverse);
    invert(inverse, m);
    for (int64_t e = 0; e < l * l; e++) {
        x->sigma[e] = e / l == e % l;
        for (int64_t k = 0; k < m * m; k++)
            x->sigma[e] += w[k / m * l + e / l] * inverse[k] * w[k % m * l + e % l];
    }
    invert(x->sigma, l);
    for (int64_t e = 0; e < l * l; e++)
        x->s[e] += x->sigma[e];
    product(w, x->s, m, l, l, ws);
    product(ws, w, m, m, l, x->wsw);
    product(w, w, m, m, l, inverse);
    for (int64_t e = 0; e < m * m; e++)
        inverse[e] += x->psi[e];
    invert(inverse, m);
    product(x->psi, inverse, m, m, m, part);
    product(part, x->psi, m, m, m, x->pkp);
    free(mu);
}

static double trace(const double *a, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++)
        sum += a[k * n + k];
    return sum;
}

/* What both theorems say of a fixed point: W = U S^-1, W S W' = U W', and
 * Tr Psi = (1/n) sum |eps|^2 + |W Sigma^1/2|^2 (eqs 24, 28, 40, 43). */
static void assert_fixed_point(const struct setting *s, const rb_model *model,
                               const struct moments *x, double tolerance) {
    int64_t m = s->m, l = s->rfn.units;
    const double *w = array(model, "loadings");
    double ws[MAX_M * MAX_L], spread = 0;
    product(w, x->s, m, l, l, ws);
    for (int64_t e = 0; e < m * l; e++)
        assert_close(ws[e], x->u[e], tolerance);
    for (int64_t e = 0; e < l * l; e++)
        for (int64_t k = 0; k < m; k++)
            spread += w[k * l + e / l] * x->sigma[e] * w[k * l + e % l];
    assert_close(trace(x->psi, m), trace(x->errors, m) + spread, tolerance);
}

/* Theorem 6: C = Psi + W S W', (1/n) sum of eps eps' = Psi (W W' + Psi)^-1 Psi (eqs 45, 51). */
static void theorem_6(void **state) {
    (void)state;
    struct setting s;
    struct moments x;
    rb_evaluation e;
    begin(&s, 5, 2, 30000);
    s.rfn.eta = 1;
    s.rfn.psi_min = 1e-6;
    rb_model *model = fit(&s, NULL);
    measure(&s, model, &x);
    assert_fixed_point(&s, model, &x, 1e-6);
    for (int64_t k = 0; k < 25; k++) {
        assert_close(x.psi[k] + x.wsw[k], x.c[k], 1e-6);
        assert_close(x.errors[k], x.pkp[k], 1e-6);
    }
    assert_ok(s.ctx, fixture_evaluate(s.ctx, model, s.source, &e));
    assert_true(e.covariance_error < 1e-5);
    rb_model_free(model);
    end(&s);
}

/* Theorem 5, diagonal noise: diag C = diag(Psi + W S W'); C - Psi - W S W' = (1/n) sum eps eps' -
 * Psi (W W' + Psi)^-1 Psi (eq. 41); and the bound of eq. 39. */
static void theorem_5(void **state) {
    (void)state;
    struct setting s;
    struct moments x;
    double k_inverse[25];
    begin(&s, 5, 2, 30000);
    s.rfn.noise = RB_RFN_PSI_DIAGONAL;
    s.rfn.eta = 1;
    s.rfn.psi_min = 1e-6;
    rb_model *model = fit(&s, NULL);
    const double *w = array(model, "loadings");
    measure(&s, model, &x);
    assert_fixed_point(&s, model, &x, 1e-6);
    for (int64_t k = 0; k < 25; k++) {
        assert_close(x.c[k] - x.psi[k] - x.wsw[k], x.errors[k] - x.pkp[k], 1e-6);
        if (k / 5 == k % 5) assert_close(x.psi[k] + x.wsw[k], x.c[k], 1e-6);
        k_inverse[k] = x.psi[k];
        for (int64_t j = 0; j < 2; j++)
            k_inverse[k] += w[k / 5 * 2 + j] * w[k % 5 * 2 + j];
    }
    invert(k_inverse, 5);
    double psi = trace(x.psi, 5);
    assert_close(trace(x.errors, 5), trace(x.pkp, 5), 1e-6);
    assert_true(trace(x.errors, 5) <= trace(k_inverse, 5) * psi * psi);
    rb_model_free(model);
    end(&s);
}

/* More features than samples can tell apart: the noise would be singular without its bound. */
static void eigenvalues_stay_above(void **state) {
    (void)state;
    struct setting s;
    begin(&s, MAX_M, 4, 300);
    s.rfn.psi_min = 0.2;
    s.rfn.eta = 1;
    rb_model *model = fit(&s, NULL);
    double smallest;
    rb_dense psi = {(double *)array(model, "noise_covariance"), MAX_M, MAX_M, MAX_M, RB_FLOAT64};
    assert_ok(s.ctx, rb_smallest_eigenvalue(s.ctx, psi, &smallest));
    assert_close(smallest, 0.2, 1e-9);
    for (int64_t k = 0; k < MAX_M; k++)
        assert_true(array(model, "noise")[k] == rb_dense_get(psi, k, k));
    rb_model_free(model);
    end(&s);
}

/* Loadings that begin far too large leave errors far above the data. */
static void eigenvalues_stay_below(void **state) {
    (void)state;
    struct setting s;
    struct moments x;
    begin(&s, MAX_M, 4, 1);
    s.rfn.weight_init = 100;
    s.rfn.eta = 1;
    rb_model *model = fit(&s, NULL);
    measure(&s, model, &x);
    double largest, bound;
    rb_dense psi = {(double *)array(model, "noise_covariance"), MAX_M, MAX_M, MAX_M, RB_FLOAT64};
    rb_dense c = {x.c, MAX_M, MAX_M, MAX_M, RB_FLOAT64};
    assert_ok(s.ctx, rb_largest_eigenvalue(s.ctx, c, &bound));
    assert_ok(s.ctx, rb_largest_eigenvalue(s.ctx, psi, &largest));
    assert_true(largest <= 1.03 * bound && largest > 0.9 * bound); /* each from above */
    rb_model_free(model);
    end(&s);
}

/* Noise that loses all its covariances after each M-step is diagonal noise. */
static void decays_to_diagonal(void **state) {
    (void)state;
    struct setting s;
    begin(&s, 8, 3, 60);
    s.rfn.noise_decay = 1;
    rb_model *full = fit(&s, NULL);
    s.rfn.noise_decay = 0;
    s.rfn.noise = RB_RFN_PSI_DIAGONAL;
    rb_model *diagonal = fit(&s, NULL);
    for (int64_t e = 0; e < 8 * 3; e++)
        assert_close(array(full, "loadings")[e], array(diagonal, "loadings")[e], 1e-8);
    for (int64_t e = 0; e < 8 * 8; e++)
        assert_close(array(full, "noise_covariance")[e],
                     e / 8 == e % 8 ? array(diagonal, "noise")[e / 8] : 0, 1e-8);
    rb_model_free(full);
    rb_model_free(diagonal);
    end(&s);
}

/* Sparse rows give what dense ones do. */
static void sparse_data(void **state) {
    (void)state;
    struct setting s;
    begin(&s, 6, 3, 40);
    for (int e = 0; e < N * 6; e++)
        s.values[e] = fabs(s.values[e]) < 0.5 ? 0 : s.values[e];
    rb_model *dense = fit(&s, NULL), *sparse;
    rb_source_free(s.source);
    rb_matrix_free(s.matrix);
    s.source = fixture_sparse(s.ctx, s.values, N, 6, &s.matrix);
    sparse = fit(&s, NULL);
    for (int64_t e = 0; e < 36; e++) {
        assert_close(array(sparse, "noise_covariance")[e], array(dense, "noise_covariance")[e],
                     1e-9);
    }
    rb_model_free(dense);
    rb_model_free(sparse);
    end(&s);
}

/* A fit of 20 iterations is one of 8 and, from its model, 12; diagonal noise can become full. */
static void warm_starts(void **state) {
    (void)state;
    struct setting s;
    begin(&s, 7, 3, 20);
    s.rfn.estep = RB_RFN_ESTEP_NEWTON;
    rb_model *all = fit(&s, NULL);
    s.fit.iterations = 8;
    rb_model *half = fit(&s, NULL);
    s.fit.iterations = 12;
    rb_model *rest = fit(&s, half);
    assert_memory_equal(array(all, "noise_covariance"), array(rest, "noise_covariance"),
                        49 * sizeof(double));
    s.rfn.noise = RB_RFN_PSI_DIAGONAL;
    fixture_refused(s.ctx, "rfn", &s.rfn, &s.fit, NULL, s.source, half, RB_ERROR_ARGUMENT,
                    "has full noise");
    rb_model *diagonal = fit(&s, NULL);
    s.rfn.noise = RB_RFN_PSI_FULL;
    rb_model *after = fit(&s, diagonal);
    assert_true(array(after, "noise_covariance")[1] != 0);
    rb_model_free(all);
    rb_model_free(half);
    rb_model_free(rest);
    rb_model_free(diagonal);
    rb_model_free(after);
    end(&s);
}

static void refused(void **state) {
    (void)state;
    struct setting s;
    rb_model *none;
    begin(&s, 5, 2, 3);
    s.rfn.mstep = RB_RFN_MSTEP_GRADIENT;
    assert_int_equal(
        rb_fit(s.ctx, fixture_options(s.ctx, "rfn", &s.rfn, &s.fit, NULL), s.source, NULL, &none),
        RB_ERROR_ARGUMENT);
    s.rfn.mstep = RB_RFN_MSTEP_NEWTON;
    s.rfn.noise = RB_RFN_PSI_DIAGONAL;
    s.rfn.noise_decay = 0.1;
    fixture_refused(s.ctx, "rfn", &s.rfn, &s.fit, NULL, s.source, NULL, RB_ERROR_ARGUMENT,
                    "`noise-decay` is 0.1");
    end(&s);
}

/* Also where eigenvalues are raised, and in evaluating. */
static void memory_may_end_anywhere(void **state) {
    (void)state;
    struct setting s;
    begin(&s, MAX_M, MAX_L, 2);
    s.rfn.psi_min = 0.3;
    s.rfn.eta = 1;
    const rb_options *options = fixture_options(s.ctx, "rfn", &s.rfn, &s.fit, NULL);
    rb_model *model = fixture_model_at_last(s.ctx, options, s.source, 0);
    fixture_evaluate_at_last(s.ctx, model, s.source);
    rb_model_free(model);
    end(&s);
}

/* Of a damaged model: another shape is refused before memory is taken for all features. */
static void covariances_of_other_shapes(void **state) {
    (void)state;
    struct setting s;
    static double codes[N * 3];
    int64_t allowed[2] = {0};
    begin(&s, MAX_M, 3, 2);
    s.rfn.noise = RB_RFN_PSI_DIAGONAL;
    for (int i = 0; i < 2; i++) {
        int64_t m = i == 0 ? 1 : MAX_M;
        rb_model *model = fit(&s, NULL);
        double *covariance = rb_model_add_array(s.ctx, model, "noise_covariance", m, m);
        rb_error err = RB_ERROR_MEMORY;
        for (int64_t e = 0; e < m * m; e++)
            covariance[e] = (double)e; /* not symmetric */
        for (; err == RB_ERROR_MEMORY; allowed[i]++) {
            s.ctx->allocations_left = allowed[i];
            err = rb_encode_into(s.ctx, model, s.source, RB_FLOAT64, codes, 3, 1);
        }
        s.ctx->allocations_left = -1;
        assert_int_equal(err, RB_ERROR_FORMAT);
        rb_model_free(model);
    }
    assert_true(allowed[0] < allowed[1]);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(covariances_of_other_shapes),
        cmocka_unit_test(objective_never_falls),
        cmocka_unit_test(theorem_6),
        cmocka_unit_test(theorem_5),
        cmocka_unit_test(eigenvalues_stay_above),
        cmocka_unit_test(eigenvalues_stay_below),
        cmocka_unit_test(decays_to_diagonal),
        cmocka_unit_test(sparse_data),
        cmocka_unit_test(warm_starts),
        cmocka_unit_test(refused),
        cmocka_unit_test(memory_may_end_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
