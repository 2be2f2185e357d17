/* Units that are found again: planted ones are, others are not, and noise is by chance alone. */
#include "fixture.h"

#include "modules/modules.h"

enum { M = 60, UNITS = 5 };

/* A model with these loadings, features x units; `names` or NULL. */
static rb_model *model_of(rb_context *ctx, int64_t m, int64_t units, const double *loadings,
                          const char *const *names) {
    rb_preprocess *p = rb_alloc_zero(ctx, 1, sizeof *p);
    rb_model *model;
    rb_rows_default(rb_preprocess_group.rows, &p->options);
    p->n_input = p->n_features = m;
    p->centre = rb_alloc_zero(ctx, m, sizeof(double));
    p->scale = rb_alloc(ctx, m, sizeof(double));
    for (int64_t k = 0; k < m; k++)
        p->scale[k] = 1;
    if (names) p->names = rb_names_copy(ctx, names, m);
    assert_ok(ctx, rb_model_new(ctx, rb_find_method(ctx, "rfn"), RB_FLOAT64, p, &model));
    double *to = rb_model_add_array(ctx, model, "loadings", m, units);
    memcpy(to, loadings, (size_t)(m * units) * sizeof *to);
    return model;
}

static void draw(uint64_t seed, int64_t count, double *values) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 0}, 0};
    for (int64_t e = 0; e < count; e++)
        values[e] = rb_draw_uniform(&draws) < 0.3 ? rb_draw_normal(&draws) : 0;
}

static rb_replication compare(rb_context *ctx, const rb_model *a, const rb_model *b,
                              int64_t permutations) {
    rb_replication r = {.size = sizeof r};
    rb_replication_options o = {permutations, 1, RB_SIGNS_AUTO};
    assert_ok(ctx, rb_compare_models(ctx, a, b, fixture_of(rb_replication_group(), &o), &r));
    return r;
}

/* Units 0, 1, 2 are those of the other model 2, 0, 1 with noise; unit 3 is reversed there, unit 4
 * is dead. */
static void planted(void **state) {
    rb_context *ctx = *state;
    double a[M * UNITS], b[M * UNITS], noise[M * UNITS];
    draw(1, M * UNITS, a);
    draw(2, M * UNITS, b);
    draw(3, M * UNITS, noise);
    for (int k = 0; k < M; k++) {
        a[k * UNITS + 4] = 0;
        for (int j = 0; j < 3; j++)
            b[k * UNITS + (j + 2) % 3] = a[k * UNITS + j] + 0.5 * noise[k * UNITS + j];
        b[k * UNITS + 3] = -a[k * UNITS + 3];
    }
    rb_model *first = model_of(ctx, M, UNITS, a, NULL), *second = model_of(ctx, M, UNITS, b, NULL);
    rb_replication r = compare(ctx, first, second, 199);
    assert_int_equal(r.n_features, M);
    assert_false(r.by_name || r.no_signs);
    for (int j = 0; j < 3; j++) {
        int other = (j + 2) % 3;
        double expected = rb_correlation(M, a + j, UNITS, b + other, UNITS);
        assert_int_equal(r.units[j].partner, other);
        assert_int_equal(r.units[j].best, other);
        assert_close(r.units[j].best_correlation, expected, 1e-12);
        assert_true(r.units[j].p_value == 1.0 / 200 && r.units[j].p_value_family <= 0.01);
        assert_true(r.units[j].q_value <= 0.01);
    }
    assert_true(r.units[3].p_value > 0.05);
    assert_int_equal(r.units[4].best, -1);
    assert_int_equal(r.units[4].partner, -1);
    assert_true(isnan(r.units[4].p_value) && isnan(r.units[4].q_value));
    rb_replication_clear(&r);

    rb_replication_options o = {199, 1, RB_SIGNS_IGNORE};
    r = (rb_replication){.size = sizeof r};
    assert_ok(ctx,
              rb_compare_models(ctx, first, second, fixture_of(rb_replication_group(), &o), &r));
    assert_int_equal(r.units[3].best, 3);
    assert_close(r.units[3].best_correlation, -1, 1e-12);
    assert_true(r.no_signs && r.units[3].p_value == 1.0 / 200);
    rb_replication_clear(&r);
    rb_model_free(first);
    rb_model_free(second);
}

/* A dead unit keeps loadings, but is in no sample: it is not tested, and no unit's partner. */
static void dead_units(void **state) {
    rb_context *ctx = *state;
    double a[M * UNITS];
    draw(1, M * UNITS, a);
    rb_model *first = model_of(ctx, M, UNITS, a, NULL), *second = model_of(ctx, M, UNITS, a, NULL);
    rb_model_add_array(ctx, first, "dead", UNITS, 1)[1] = 1;
    rb_model_add_array(ctx, second, "dead", UNITS, 1)[3] = 1;
    rb_replication r = compare(ctx, first, second, 199);
    for (int j = 0; j < UNITS; j++) {
        bool tested = j != 1 && r.units[j].partner == j;
        assert_int_equal(tested, j != 1 && j != 3);
        assert_int_equal(isnan(r.units[j].p_value), j == 1 || r.units[j].partner < 0);
        assert_true(r.units[j].partner != 3 && r.units[j].best != 3);
    }
    assert_int_equal(r.units[1].best, -1);
    assert_true(isnan(r.units[1].best_correlation));
    assert_int_equal(r.units[1].partner, -1);
    assert_int_equal(rb_replication_found(&r), UNITS - 2);
    rb_replication_clear(&r);
    rb_model_free(first);
    rb_model_free(second);
}

/* Two units of the first model are like one of the second: the p-value is that of the partner,
 * which the second of them has no like in. A third one is left without a partner, and without p. */
static void chances_are_of_partners(void **state) {
    rb_context *ctx = *state;
    double a[M * 3], b[M * 2], noise[M * 3];
    draw(1, M * 2, b);
    draw(3, M * 3, noise);
    for (int k = 0; k < M; k++) {
        a[k * 3] = b[k * 2] + 0.1 * noise[k * 3];
        a[k * 3 + 1] = b[k * 2] + 0.5 * noise[k * 3 + 1];
        a[k * 3 + 2] = noise[k * 3 + 2];
    }
    rb_model *first = model_of(ctx, M, 3, a, NULL), *second = model_of(ctx, M, 2, b, NULL);
    rb_replication r = compare(ctx, first, second, 199);
    assert_true(r.units[0].partner == 0 && r.units[0].p_value == 1.0 / 200);
    assert_true(r.units[1].best == 0 && r.units[1].best_correlation > 0.8);
    int without = r.units[1].partner < 0 ? 1 : 2, other = 3 - without;
    assert_true(r.units[without].partner == -1 && isnan(r.units[without].p_value));
    assert_true(isnan(r.units[without].partner_correlation));
    assert_true(r.units[other].partner == 1 && r.units[other].partner_correlation < 0.4);
    assert_true(r.units[other].p_value > 0.05);
    rb_replication_clear(&r);
    rb_model_free(first);
    rb_model_free(second);
    /* without the third one the second has the partner that is nothing like it */
    double two[M * 2];
    for (int k = 0; k < M; k++)
        memcpy(two + 2 * k, a + 3 * k, 2 * sizeof *two);
    first = model_of(ctx, M, 2, two, NULL);
    second = model_of(ctx, M, 2, b, NULL);
    r = compare(ctx, first, second, 199);
    assert_true(r.units[1].best == 0 && r.units[1].partner == 1);
    assert_true(r.units[1].p_value > 0.05 && r.units[1].q_value > 0.05);
    rb_replication_clear(&r);
    rb_model_free(first);
    rb_model_free(second);
}

/* By name, in any order, with features that only one has, and one whose name stands twice. Any
 * number of threads: the same. */
static void names(void **state) {
    rb_context *ctx = *state;
    double a[M * UNITS], b[M * UNITS];
    char text[M][8];
    const char *forward[M], *backward[M];
    draw(1, M * UNITS, a);
    for (int k = 0; k < M; k++) {
        snprintf(text[k], sizeof text[k], "G%d", k);
        forward[k] = text[k];
        backward[M - 1 - k] = k == 7 ? "only here" : k == 9 ? "G8" : text[k];
        memcpy(b + (M - 1 - k) * UNITS, a + k * UNITS, UNITS * sizeof *a);
    }
    rb_model *first = model_of(ctx, M, UNITS, a, forward),
             *second = model_of(ctx, M, UNITS, b, backward);
    rb_replication r = compare(ctx, first, second, 99);
    assert_true(r.by_name);
    assert_int_equal(r.n_features, M - 3); /* 7, 8 and 9 */
    for (int j = 0; j < UNITS; j++) {
        assert_int_equal(r.units[j].partner, j);
        assert_close(r.units[j].partner_correlation, 1, 1e-12);
    }
    assert_ok(ctx, rb_context_set_threads(ctx, 3));
    rb_replication again = compare(ctx, first, second, 99);
    assert_memory_equal(r.units, again.units, UNITS * sizeof *r.units);
    rb_replication_clear(&again);
    rb_replication_clear(&r);
    rb_model_free(second);

    double few[9 * UNITS] = {1};
    second = model_of(ctx, 9, UNITS, few, NULL);
    r = (rb_replication){.size = sizeof r};
    assert_error(ctx, rb_compare_models(ctx, first, second, NULL, &r), RB_ERROR_DATA,
                 "60 and 9 features");
    assert_null(r.units);
    rb_model_free(second);
    rb_model_free(first);
}

/* Chances of noise, which every permutation decides: the same for any number of threads. */
static void threads_do_not_matter(void **state) {
    enum { FEATURES = 12, MANY = 10 };
    rb_context *ctx = *state;
    double a[FEATURES * MANY], b[FEATURES * MANY];
    draw(21, FEATURES * MANY, a);
    draw(22, FEATURES * MANY, b);
    rb_model *first = model_of(ctx, FEATURES, MANY, a, NULL),
             *second = model_of(ctx, FEATURES, MANY, b, NULL);
    rb_replication one = compare(ctx, first, second, 1999);
    assert_ok(ctx, rb_context_set_threads(ctx, 4));
    rb_replication four = compare(ctx, first, second, 1999);
    assert_memory_equal(one.units, four.units, MANY * sizeof *one.units);
    rb_replication_clear(&one);
    rb_replication_clear(&four);
    rb_model_free(first);
    rb_model_free(second);
}

/* 95 % of the trials of a rate lie within that. */
static bool plausible(int64_t hits, int64_t trials, double rate) {
    double low, high;
    rb_success_interval(hits, trials, &low, &high);
    return low <= rate + 0.01 && high >= rate - 0.01;
}

/* Unrelated models: p at most 0.1 in a tenth, any unit family-wise in a tenth. */
static void noise_of_models(void **state) {
    enum { PAIRS = 300 };
    rb_context *ctx = *state;
    int64_t single = 0, family = 0, falsely = 0;
    for (int pair = 0; pair < PAIRS; pair++) {
        double a[M * UNITS], b[M * UNITS];
        draw(1000 + 2 * pair, M * UNITS, a);
        draw(1001 + 2 * pair, M * UNITS, b);
        rb_model *first = model_of(ctx, M, UNITS, a, NULL),
                 *second = model_of(ctx, M, UNITS, b, NULL);
        rb_replication r = compare(ctx, first, second, 99);
        bool any = false, rate = false;
        single += r.units[0].p_value <= 0.1;
        for (int j = 0; j < UNITS; j++) {
            any = any || r.units[j].p_value_family <= 0.1;
            rate = rate || r.units[j].q_value <= 0.1;
        }
        family += any;
        falsely += rate;
        rb_replication_clear(&r);
        rb_model_free(first);
        rb_model_free(second);
    }
    print_message("of %d: %lld single, %lld family-wise, %lld by the rate, at 0.1\n", PAIRS,
                  (long long)single, (long long)family, (long long)falsely);
    assert_true(plausible(single, PAIRS, 0.1));
    assert_true(plausible(family, PAIRS, 0.1));
    assert_true(falsely <= PAIRS * 0.16);
}

/* ---- cohorts ---- */

enum { N = 120, FEATURES = 24, CAUSES = 3 };

/* Each cause moves eight features of a fifth of the samples; `lacking`: the last one moves none. */
static void fill(uint64_t seed, bool lacking, double strength, double *values) {
    rb_draws draws = {{seed, RB_RANDOM_SIMULATE, 1}, 0};
    for (int i = 0; i < N; i++) {
        bool active[CAUSES];
        for (int c = 0; c < CAUSES; c++)
            active[c] = rb_draw_uniform(&draws) < 0.2 && !(lacking && c == CAUSES - 1);
        for (int k = 0; k < FEATURES; k++)
            values[i * FEATURES + k] = strength * active[k / 8] + rb_draw_normal(&draws);
    }
}

static rb_model *fit(rb_context *ctx, rb_source *source, int units) {
    return fixture_text_model(ctx, "rfn", source, NULL, "units=%d iterations=100 seed=1", units);
}

static rb_cohorts cohorts_of(rb_context *ctx, const rb_model *model, rb_source *a, rb_source *b,
                             int64_t permutations) {
    rb_cohorts r = {.size = sizeof r};
    rb_replication_options o = {permutations, 1, RB_SIGNS_AUTO};
    assert_ok(ctx,
              rb_compare_cohorts(ctx, model, a, b, fixture_of(rb_replication_group(), &o), &r));
    return r;
}

/* The unit with the largest loadings on the features of a cause. */
static int64_t unit_of(const rb_model *model, int cause) {
    int64_t units = rb_model_units(model), best = 0;
    const double *loadings = rb_model_array(model, "loadings", NULL, NULL);
    double most = -1;
    for (int64_t j = 0; j < units; j++) {
        double sum = 0;
        for (int k = 8 * cause; k < 8 * cause + 8; k++)
            sum += fabs(loadings[k * units + j]);
        best = sum > most ? j : best;
        most = fmax(sum, most);
    }
    return best;
}

/* Without unit j the error of the codes grows by what is said to be explained. */
static void assert_explained(rb_context *ctx, const rb_model *model, rb_source *source,
                             const double *values, const rb_cohorts *r, int cohort) {
    int64_t q = rb_model_units(model);
    double *codes = fixture_codes(ctx, model, source), squares = 0;
    const double *w = rb_model_array(model, "loadings", NULL, NULL);
    for (int64_t j = -1; j < q; j++) {
        static double all;
        double error = 0;
        int64_t active = 0;
        squares = 0;
        for (int i = 0; i < N; i++) {
            active += j >= 0 && codes[i * q + j] != 0;
            for (int k = 0; k < FEATURES; k++) {
                double x = values[i * FEATURES + k] - model->preprocess->centre[k];
                squares += x * x;
                for (int64_t l = 0; l < q; l++)
                    x -= l == j ? 0 : codes[i * q + l] * w[k * q + l];
                error += x * x;
            }
        }
        all = j < 0 ? error : all;
        if (j < 0) continue;
        assert_close(r->units[j].in[cohort].explained, (error - all) / squares, 1e-5);
        assert_close(r->units[j].in[cohort].active, (double)active / N, 1e-12);
    }
    free(codes);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *values, int k) {
    double column[N];
    for (int i = 0; i < N; i++)
        column[i] = values[i * FEATURES + k];
    qsort(column, N, sizeof *column, by_size);
    return (column[(N - 1) / 2] + column[N / 2]) / 2;
}

/* The loadings of least squares: of each feature on all codes and a constant, with RESTING more
 * samples that have its median and no code. */
static void regress(rb_context *ctx, const rb_model *model, rb_source *source, const double *values,
                    double profile[CAUSES][FEATURES]) {
    enum { TERMS = CAUSES + 1, RESTING = 20 };
    double *codes = fixture_codes(ctx, model, source);
    double squares[TERMS * TERMS] = {0}, products[FEATURES * TERMS] = {0};
    for (int i = 0; i < N; i++) {
        double x[TERMS] = {codes[i * CAUSES], codes[i * CAUSES + 1], codes[i * CAUSES + 2], 1};
        for (int s = 0; s < TERMS; s++) {
            for (int t = 0; t < TERMS; t++)
                squares[s * TERMS + t] += x[s] * x[t];
            for (int k = 0; k < FEATURES; k++)
                products[k * TERMS + s] += x[s] * values[i * FEATURES + k];
        }
    }
    squares[TERMS * TERMS - 1] += RESTING;
    for (int k = 0; k < FEATURES; k++)
        products[k * TERMS + CAUSES] += RESTING * median(values, k);
    assert_true(rb_solve_small(TERMS, squares, FEATURES, products));
    for (int j = 0; j < CAUSES; j++)
        for (int k = 0; k < FEATURES; k++)
            profile[j][k] = products[k * TERMS + j];
    free(codes);
}

/* A cohort of large means, which the constant takes, since they are not those of the fit. */
static void correlations_are_of_regressions(void **state) {
    rb_context *ctx = *state;
    double values[2][N * FEATURES], profile[2][CAUSES][FEATURES];
    rb_source *sources[2];
    rb_matrix *matrices[2];
    for (int c = 0; c < 2; c++) {
        fill(1 + (uint64_t)c, false, 3, values[c]);
        for (int e = 0; c && e < N * FEATURES; e++)
            values[c][e] += 0.1 * (e % FEATURES % 8);
        sources[c] = fixture_source(ctx, values[c], N, FEATURES, &matrices[c]);
    }
    rb_model *model = fit(ctx, sources[0], CAUSES);
    rb_cohorts r = cohorts_of(ctx, model, sources[0], sources[1], 9);
    const double *w = fixture_array(model, "loadings");
    for (int c = 0; c < 2; c++)
        regress(ctx, model, sources[c], values[c], profile[c]);
    for (int j = 0; j < CAUSES; j++) {
        for (int c = 0; c < 2; c++)
            assert_close(r.units[j].in[c].correlation,
                         rb_correlation(FEATURES, w + j, CAUSES, profile[c][j], 1), 1e-4);
        assert_close(r.units[j].correlation,
                     rb_correlation(FEATURES, profile[0][j], 1, profile[1][j], 1), 1e-4);
    }
    rb_cohorts_clear(&r);
    rb_model_free(model);
    for (int c = 0; c < 2; c++) {
        rb_source_free(sources[c]);
        rb_matrix_free(matrices[c]);
    }
}

static void two_cohorts(void **state) {
    rb_context *ctx = *state;
    double train[N * FEATURES], other[N * FEATURES];
    rb_matrix *matrices[2];
    fill(1, false, 3, train);
    fill(2, true, 3, other);
    rb_source *a = fixture_source(ctx, train, N, FEATURES, &matrices[0]),
              *b = fixture_source(ctx, other, N, FEATURES, &matrices[1]);
    rb_model *model = fit(ctx, a, CAUSES);
    rb_cohorts r = cohorts_of(ctx, model, a, b, 99);
    assert_explained(ctx, model, a, train, &r, 0);
    assert_explained(ctx, model, b, other, &r, 1);
    for (int c = 0; c < CAUSES; c++) {
        int64_t j = unit_of(model, c);
        assert_true(r.units[j].in[0].p_value == 0.01 && r.units[j].in[0].correlation > 0.9);
        if (c < CAUSES - 1) {
            assert_true(r.units[j].in[1].p_value == 0.01 &&
                        r.units[j].in[1].p_value_family <= 0.02);
            assert_true(r.units[j].in[1].correlation > 0.9 && r.units[j].correlation > 0.9);
        } else {
            assert_true(r.units[j].in[1].p_value > 0.05);
        }
    }
    assert_ok(ctx, rb_context_set_threads(ctx, 3));
    rb_cohorts again = cohorts_of(ctx, model, a, b, 99);
    assert_memory_equal(r.units, again.units, CAUSES * sizeof *r.units);
    rb_cohorts_clear(&again);
    rb_cohorts_clear(&r);

    rb_replication_options o = {9, 1, RB_SIGNS_KEEP};
    r = (rb_cohorts){.size = sizeof r};
    assert_int_equal(
        rb_compare_cohorts(ctx, model, a, b, fixture_of(rb_replication_group(), &o), &r),
        RB_ERROR_ARGUMENT);
    assert_null(r.units);
    rb_model_free(model);
    rb_source_free(a);
    rb_source_free(b);
    rb_matrix_free(matrices[0]);
    rb_matrix_free(matrices[1]);
}

/* Cohorts of noise, for a model of something. */
static void noise_of_cohorts(void **state) {
    enum { COHORTS = 160 };
    rb_context *ctx = *state;
    double train[N * FEATURES];
    fill(1, false, 3, train);
    rb_source *a = fixture_data(ctx, train, N, FEATURES);
    rb_model *model = fit(ctx, a, CAUSES);
    int64_t single = 0, family = 0;
    for (int c = 0; c < COHORTS; c += 2) {
        double noise[2][N * FEATURES];
        rb_matrix *matrices[2];
        rb_source *sources[2];
        for (int i = 0; i < 2; i++) {
            fill(100 + (uint64_t)(c + i), false, 0, noise[i]);
            sources[i] = fixture_source(ctx, noise[i], N, FEATURES, &matrices[i]);
        }
        rb_cohorts r = cohorts_of(ctx, model, sources[0], sources[1], 59);
        for (int i = 0; i < 2; i++) {
            bool any = false;
            single += r.units[0].in[i].p_value <= 0.1;
            for (int j = 0; j < CAUSES; j++)
                any = any || r.units[j].in[i].p_value_family <= 0.1;
            family += any;
            rb_source_free(sources[i]);
            rb_matrix_free(matrices[i]);
        }
        rb_cohorts_clear(&r);
    }
    print_message("of %d: %lld single, %lld family-wise, at 0.1\n", COHORTS, (long long)single,
                  (long long)family);
    assert_true(plausible(single, COHORTS, 0.1));
    assert_true(plausible(family, COHORTS, 0.1));
    rb_model_free(model);
    rb_source_free(a);
}

/* Against a count by hand, whichever permutation comes first. */
static void chances(void **state) {
    rb_context *ctx = *state;
    double observed[] = {3, 0.5, NAN}, permuted[] = {1, 0, 9, 2, 1, 9, 3, 0.25, 9, 0, 0.75, 9};
    double rows[3][3], twice[24]; /* p, family-wise, q */
    const rb_chance_rows to = {rows[0], sizeof rows[0], 3};
    memcpy(twice, permuted, sizeof permuted);
    memcpy(twice + 12, permuted, sizeof permuted);
    for (int first = 0; first < 4; first++) {
        rb_chances c = {4, observed, twice + 3 * first};
        assert_ok(ctx, rb_chances_find(ctx, &c, &to));
        assert_close(rows[0][0], 2.0 / 5, 1e-15);
        assert_close(rows[1][0], 3.0 / 5, 1e-15);
        assert_close(rows[0][2], 3.0 / 5, 1e-15);
        assert_close(rows[1][2], 3.0 / 5, 1e-15);
        /* Unit 0: 3 is 1.03 sd above 1.8; unit 1: 0, on its own mean. Largest of the permutations:
         * -0.69, 1.41, 1.03, 0.71. */
        assert_close(rows[0][1], 3.0 / 5, 1e-15);
        assert_close(rows[1][1], 4.0 / 5, 1e-15);
        for (int n = 0; n < 3; n++)
            assert_true(isnan(rows[2][n]));
    }
}

/* Every allocation fails once, and nothing is left. */
static void allocations(void **state) {
    rb_context *ctx = *state;
    double a[M * UNITS], train[N * FEATURES];
    draw(1, M * UNITS, a);
    fill(1, false, 3, train);
    rb_source *source = fixture_data(ctx, train, N, FEATURES);
    rb_model *model = model_of(ctx, M, UNITS, a, NULL), *fitted = fit(ctx, source, CAUSES);
    rb_replication_options o = {3, 1, RB_SIGNS_AUTO};
    const rb_options *options = fixture_of(rb_replication_group(), &o);
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t failing = 0; allow_allocations(ctx, failing, err); failing++) {
        rb_replication r = {.size = sizeof r};
        err = rb_compare_models(ctx, model, model, options, &r);
        assert_true(err ? err == RB_ERROR_MEMORY && !r.units : r.units != NULL);
        rb_replication_clear(&r);
    }
    err = RB_ERROR_MEMORY;
    for (int64_t failing = 0; allow_allocations(ctx, failing, err); failing++) {
        rb_cohorts r = {.size = sizeof r};
        err = rb_compare_cohorts(ctx, fitted, source, source, options, &r);
        assert_true(err ? err == RB_ERROR_MEMORY && !r.units : r.units != NULL);
        rb_cohorts_clear(&r);
    }
    rb_model_free(model);
    rb_model_free(fitted);
    rb_source_free(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chances),
        cmocka_unit_test(planted),
        cmocka_unit_test(dead_units),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(chances_are_of_partners),
        cmocka_unit_test(names),
        cmocka_unit_test(noise_of_models),
        cmocka_unit_test(correlations_are_of_regressions),
        cmocka_unit_test(two_cohorts),
        cmocka_unit_test(noise_of_cohorts),
        cmocka_unit_test(allocations),
    };
    return fixture_run(tests, sizeof tests / sizeof *tests);
}
