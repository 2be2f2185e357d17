/* Members by a test: against least squares by elimination, with a few loops for every definition;
 * dense and sparse samples; what the test cannot do. */
#include "members_test.h"

static double one_tail(double t) {
    double both = exp(rb_log_student_tail(t, N - PLANTED - 1));
    return t > 0 ? both / 2 : 1 - both / 2;
}

/* Loadings, their variances and p values of the features of each unit, features x PLANTED. */
static void test_features(const example *e, double effect, double *loadings, double *variances,
                          double *p) {
    enum { Q = PLANTED + 1 };
    double gram[Q * Q] = {[Q * Q - 1] = RESTING}, inverse[Q * Q];
    for (int a = 0; a < Q; a++)
        for (int b = 0; b < Q; b++)
            for (int64_t i = 0; i < N; i++)
                gram[a * Q + b] += design(e, i, a) * design(e, i, b);
    invert(Q, gram, inverse);
    for (int64_t k = 0; k < M; k++) {
        double right[Q] = {0}, b[Q] = {0};
        for (int a = 0; a < Q; a++)
            for (int64_t i = 0; i < N; i++)
                right[a] += design(e, i, a) * e->values[i * M + k];
        for (int a = 0; a < Q; a++)
            for (int c = 0; c < Q; c++)
                b[a] += inverse[a * Q + c] * right[c];
        double rest = RESTING * pow(b[PLANTED], 2);
        for (int64_t i = 0; i < N; i++) {
            double error = e->values[i * M + k];
            for (int a = 0; a < Q; a++)
                error -= b[a] * design(e, i, a);
            rest += error * error;
        }
        for (int j = 0; j < PLANTED; j++) {
            double variance = inverse[j * Q + j] * rest / (N - Q), deviation = sqrt(variance);
            loadings[k * PLANTED + j] = b[j];
            variances[k * PLANTED + j] = variance;
            p[k * PLANTED + j] = one_tail((fabs(b[j]) - effect) / deviation) +
                                 one_tail((fabs(b[j]) + effect) / deviation);
        }
    }
}

/* Is p among the k smallest of its unit, where the k-th is at most k level / M, for any k? */
static bool found(const double *p, int64_t k, int j, double level) {
    for (int64_t c = 0; c < M; c++) {
        int64_t rank = 0;
        for (int64_t d = 0; d < M; d++)
            rank += p[d * PLANTED + j] <= p[c * PLANTED + j];
        bool passes = p[c * PLANTED + j] <= level * (double)rank / M;
        if (passes && p[k * PLANTED + j] <= p[c * PLANTED + j]) return true;
    }
    return false;
}

static double normal_density(double b, double variance) {
    return exp(-b * b / (2 * variance)) / sqrt(2 * M_PI * variance);
}

/* EM for two groups of one unit's loadings: the probability of those that belong. */
static void part_in_two(const double *b, const double *variances, int j, double *inside) {
    double square = 0, error = 0, share = 0.1;
    for (int64_t k = 0; k < M; k++) {
        square += b[k * PLANTED + j] * b[k * PLANTED + j] / M;
        error += variances[k * PLANTED + j] / M;
    }
    double small = 0.1 * error, large = 10 * fmax(square - error, error);
    for (int step = 0; step < 100; step++) {
        double count = 0, sums[2] = {0}, before = share;
        for (int64_t k = 0; k < M; k++) {
            double x = b[k * PLANTED + j], s = variances[k * PLANTED + j];
            double in = share * normal_density(x, s + large);
            double out = (1 - share) * normal_density(x, s + small);
            inside[k] = in / (in + out);
            count += inside[k];
            for (int group = 0; group < 2; group++) { /* E(effect^2 | b, group) */
                double of = group ? large : small, mean = of / (of + s) * x;
                sums[group] +=
                    (group ? inside[k] : 1 - inside[k]) * (mean * mean + of * s / (of + s));
            }
        }
        share = fmin(fmax(count / M, 1e-4), 0.9);
        small = sums[0] / (M - count);
        large = fmax(sums[1] / count, small);
        if (fabs(share - before) < 1e-4 * before) break;
    }
}

static double deviation_of(const example *e, int unit) {
    double a[PLANTED * PLANTED], inverse[PLANTED * PLANTED];
    for (int i = 0; i < PLANTED; i++) {
        for (int j = 0; j < PLANTED; j++) {
            double sum = i == j;
            for (int64_t k = 0; k < M; k++)
                sum += e->loadings[k * L + i] * rms_of(e, i) * e->loadings[k * L + j] *
                       rms_of(e, j) / e->noise[k];
            a[i * PLANTED + j] = sum;
        }
    }
    invert(PLANTED, a, inverse);
    return sqrt(inverse[unit * PLANTED + unit]);
}

static bool has(const rb_member *members, int64_t count, int64_t index) {
    bool is = false;
    for (int64_t d = 0; d < count; d++)
        is = is || members[d].index == index;
    return is;
}

static void as_defined(void **state) {
    (void)state;
    static example e;
    double b[M * PLANTED], variances[M * PLANTED], p[M * PLANTED], inside[M];
    bool sure[M * PLANTED], belongs[M * PLANTED];
    for (int trial = 0; trial < 8; trial++) {
        double level = trial % 2 ? 0.3 : 0.1;
        make_graded(&e, (uint64_t)trial + 1, trial < 4 ? 0 : 0.1);
        e.sparse = trial / 2 % 2;
        double effect = 0.7 * root_of(&e);
        test_features(&e, effect, b, variances, p);
        first_test(&e, level, (rb_membership){sure, belongs});
        for (int j = 0; j < PLANTED; j++) {
            part_in_two(b, variances, j, inside);
            for (int64_t k = 0; k < M; k++) {
                int64_t at = k * PLANTED + j;
                bool apart = fabs(b[at]) > effect && inside[k] >= 1 - level;
                assert_int_equal(sure[at], found(p, k, j, level));
                assert_int_equal(belongs[at], sure[at] || apart);
            }
        }
        rb_modules *modules = modules_of(&e, level);
        assert_int_equal(rb_modules_count(modules), PLANTED);
        assert_string_equal(rb_modules_rule(modules), "test");
        for (int64_t r = 0; r < PLANTED; r++) {
            const rb_module *m = rb_modules_get(modules, r);
            int j = (int)m->unit;
            for (int64_t i = 0; i < N; i++) {
                double z = e.codes[i * L + j] / rms_of(&e, j);
                double above = z - 0.15 * size_of(&e, j);
                bool in = z != 0 && exp(rb_log_normal_tail(above / deviation_of(&e, j))) <= level;
                assert_int_equal(has(m->samples, m->n_samples, i), in);
            }
            assert_in_range(m->n_features, 3, 13); /* of ten planted */
        }
        rb_modules_free(modules);
    }
}

/* Where noise is so large that a feature may seem to have either sign, both tails count. */
static void both_tails_count(void **state) {
    (void)state;
    static example e;
    double b[M * PLANTED], variances[M * PLANTED], p[M * PLANTED];
    bool sure[M * PLANTED];
    for (uint64_t seed = 1; seed <= 12; seed++) {
        rb_draws draws = {.stream = {.seed = 100 + seed}};
        make_example(&e, seed);
        for (int64_t c = 0; c < N * M; c++)
            e.values[c] += 12 * rb_draw_normal(&draws);
        test_features(&e, 0.7 * root_of(&e), b, variances, p);
        first_test(&e, 0.49, (rb_membership){sure, NULL});
        for (int64_t at = 0; at < M * PLANTED; at++)
            assert_int_equal(sure[at], found(p, at / PLANTED, at % PLANTED, 0.49));
    }
}

/* A unit that every
 * sample has, but no feature for sure, comes last, however much it tells of samples. */
static void every_sample_is_no_module(void **state) {
    (void)state;
    static example e;
    make_example(&e, 8);
    rb_draws draws = {.stream = {.seed = 80}};
    for (int64_t i = 0; i < N; i++)
        e.codes[i * L + 3] = 3 + 0.2 * rb_draw_normal(&draws);
    for (int64_t k = 0; k < M; k++)
        e.loadings[k * L + 3] = k % 2 ? 1 : -1;
    rb_modules *modules = modules_of(&e, 0.1);
    double most = 0;
    assert_int_equal(rb_modules_count(modules), L);
    for (int64_t r = 0; r < L; r++) {
        const rb_module *m = rb_modules_get(modules, r);
        assert_int_equal(m->unit == 3, r == L - 1);
        if (r == L - 1) assert_true(m->information > most);
        most = fmax(most, m->information);
    }
    rb_modules_free(modules);
}

/* Groups that share all samples among them: their codes and the constant hardly differ. */
static void groups_of_all_samples(void **state) {
    (void)state;
    static example e;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        rb_draws draws = {.stream = {.seed = 900 + seed}};
        make_example(&e, seed);
        for (int64_t i = 0; i < N; i++) {
            int64_t group = i % PLANTED;
            for (int64_t j = 0; j < PLANTED; j++)
                e.codes[i * L + j] = j == group ? 1 + 0.03 * rb_draw_normal(&draws) : 0;
            for (int64_t k = 0; k < M; k++)
                e.values[i * M + k] =
                    e.loadings[k * L + group] * (k / 10 == group) + 0.7 * rb_draw_normal(&draws);
        }
        rb_modules *modules = modules_of(&e, 0.1);
        for (int64_t r = 0; r < PLANTED; r++) {
            const rb_module *m = rb_modules_get(modules, r);
            int64_t own = 0;
            for (int64_t f = 0; f < m->n_features; f++)
                own += m->features[f].index / 10 == m->unit;
            assert_true(own >= 9 && m->n_features <= own + 1);
            assert_int_equal(m->n_samples, N / PLANTED);
        }
        rb_modules_free(modules);
    }
}

static void measure_in(example *e, double scale) {
    for (int64_t c = 0; c < N * M; c++) {
        e->values[c] *= scale;
        e->entries[c] *= scale;
    }
    for (int64_t c = 0; c < M * L; c++)
        e->loadings[c] *= scale;
    for (int64_t k = 0; k < M; k++)
        e->noise[k] *= scale * scale;
}

/* Data in millivolts have the members that they have in kilovolts. */
static void units_of_measure(void **state) {
    (void)state;
    static example e;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        make_example(&e, seed);
        rb_modules *here = modules_of(&e, 0.1);
        measure_in(&e, 0x1p-20);
        rb_modules *there = modules_of(&e, 0.1);
        for (int64_t r = 0; r < PLANTED; r++) {
            const rb_module *a = rb_modules_get(here, r), *b = rb_modules_get(there, r);
            assert_int_equal(a->unit, b->unit);
            assert_int_equal(a->n_samples, b->n_samples);
            assert_int_equal(a->n_features, b->n_features);
        }
        rb_modules_free(here);
        rb_modules_free(there);
    }
}

/* A feature of no module on a scale of its own: most members stay. */
static void one_feature_does_not_decide(void **state) {
    (void)state;
    example e;
    for (double scale = 1; scale < 1e7; scale *= 1e3) {
        enum { WIDE = PLANTED * 10 };
        make_example(&e, 5);
        for (int64_t i = 0; i < N; i++)
            e.values[i * M + WIDE] *= scale;
        for (int64_t j = 0; j < PLANTED; j++)
            e.loadings[WIDE * L + j] *= scale;
        e.noise[WIDE] *= scale * scale;
        rb_modules *modules = modules_of(&e, 0.1);
        assert_int_equal(rb_modules_count(modules), PLANTED);
        for (int64_t r = 0; r < PLANTED; r++) {
            const rb_module *m = rb_modules_get(modules, r);
            int64_t own = 0;
            for (int64_t f = 0; f < m->n_features; f++)
                own += m->features[f].index / 10 == m->unit;
            assert_true(own >= 6);
        }
        rb_modules_free(modules);
    }
}

/* A larger level admits more. */
static void levels_are_nested(void **state) {
    (void)state;
    static example e;
    make_example(&e, 3);
    int64_t before = 0;
    for (double level = 1e-12; level < 0.5; level *= 30) {
        rb_modules *modules = modules_of(&e, level);
        int64_t members = 0;
        for (int64_t r = 0; r < PLANTED; r++) {
            const rb_module *m = rb_modules_get(modules, r);
            members += m->n_samples + m->n_features;
        }
        assert_true(members >= before);
        before = members;
        rb_modules_free(modules);
    }
}

/* Many units of few different codes: G has no inverse of its own. */
static void equal_units(uint64_t seed) {
    enum { UNITS = 24 };
    rb_draws draws = {.stream = {.seed = seed}};
    static double codes[N * UNITS], values[N * M];
    int64_t index[UNITS];
    double rms[UNITS];
    rb_refit *refit;
    bool sure[M * UNITS], belongs[M * UNITS];
    rb_membership out = {sure, belongs};
    for (int64_t i = 0; i < N; i++) {
        for (int64_t k = 0; k < M; k++)
            values[i * M + k] = rb_draw_normal(&draws);
        for (int64_t j = 0; j < UNITS; j++) {
            double code = j < 3 ? rb_draw_uniform(&draws) : codes[i * UNITS + j % 3];
            codes[i * UNITS + j] = (float)(code * (1 + 1e-7 * rb_draw_uniform(&draws)));
        }
    }
    for (int64_t j = 0; j < UNITS; j++) {
        index[j] = j;
        rms[j] = 1;
    }
    rb_block block = {.n_samples = N, .n_features = M, .dense = {values, N, M, M, RB_FLOAT64}};
    rb_matrix *matrix;
    assert_int_equal(rb_matrix_dense(ctx, RB_FLOAT64, N, UNITS, codes, UNITS, 1, &matrix), RB_OK);
    assert_int_equal(rb_refit_new(ctx, M, UNITS, 0, &refit), RB_OK);
    assert_int_equal(rb_refit_add(ctx, refit, &block, matrix), RB_OK);
    rb_tested_units units = {UNITS, index, rms, 0.1};
    if (rb_refit_features(ctx, refit, &units, 0.1, &out)) fail_msg("%s", rb_context_error(ctx));
    for (int64_t e = 0; e < M * UNITS; e++)
        assert_false(belongs[e]);
    rb_refit_free(refit);
    rb_matrix_free(matrix);
}

static void many_equal_units(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++)
        equal_units(seed);
}

/* The same unit twice: neither can be told from the other, so both have its features. */
static void doubled_unit(void **state) {
    (void)state;
    static example e;
    make_example(&e, 4);
    for (int64_t i = 0; i < N; i++)
        e.codes[i * L + 3] = e.codes[i * L + 2];
    for (int64_t k = 0; k < M; k++)
        e.loadings[k * L + 3] = e.loadings[k * L + 2];
    rb_modules *modules = modules_of(&e, 0.1);
    assert_int_equal(rb_modules_count(modules), L);
    for (int64_t r = 0; r < L; r++) {
        const rb_module *m = rb_modules_get(modules, r);
        assert_in_range(m->n_features, 9, 11);
    }
    rb_modules_free(modules);
}

static int64_t members_at(example *e, double level) {
    rb_modules *modules;
    int64_t count = 0;
    assert_int_equal(extract(e, level, &modules), RB_OK);
    for (int64_t r = 0; r < rb_modules_count(modules); r++)
        count += rb_modules_get(modules, r)->n_features + rb_modules_get(modules, r)->n_samples;
    rb_modules_free(modules);
    return count;
}

static void few_features_take_more(void **state) {
    (void)state;
    static example e;
    make_example(&e, 5);
    assert_true(M < 100);
    assert_int_equal(members_at(&e, 0), members_at(&e, 0.2));
    assert_true(members_at(&e, 0) > members_at(&e, 0.1));
}

static void what_cannot_be_tested(void **state) {
    (void)state;
    static example e;
    rb_modules *modules;
    make_example(&e, 5);
    e.n_samples = PLANTED + 1;
    assert_error(ctx, extract(&e, 0.1, &modules), RB_ERROR_ARGUMENT,
                 "needs at least 5 samples for 3 units");
    assert_null(modules);
    e.n_samples = N;
    e.values[5 * M + 9] = NAN;
    assert_error(ctx, extract(&e, 0.1, &modules), RB_ERROR_DATA,
                 "but feature 9 (counted from 0) has missing");
    assert_int_equal(extract(&e, -0.1, &modules), RB_ERROR_ARGUMENT);
    assert_int_equal(extract(&e, 0.6, &modules), RB_ERROR_ARGUMENT);
}

/* No sample is active: no module, and nothing to test. */
static void all_dead(void **state) {
    (void)state;
    static example e;
    make_example(&e, 6);
    memset(e.codes, 0, sizeof e.codes);
    rb_modules *modules = modules_of(&e, 0.1);
    assert_int_equal(rb_modules_count(modules), 0);
    rb_modules_free(modules);
}

/* Any allocation fails: an error, and nothing leaks. */
static void out_of_memory(void **state) {
    (void)state;
    static example e;
    make_example(&e, 7);
    rb_modules *modules = NULL;
    rb_error err = RB_ERROR_MEMORY;
    for (int64_t left = 0; allow_allocations(ctx, left, err); left++) {
        err = extract(&e, 0.1, &modules);
        assert_int_equal(modules != NULL, err == RB_OK);
        assert_true(left < 1000);
    }
    rb_modules_free(modules);
}

/* Two units in samples that are so many apart, of which the first are a module in noise; each has
 * loadings that tell no more than noise, of features that are not all the same. */
static rb_modules *modules_of_two(int64_t apart) {
    static example e;
    make_example(&e, 3);
    memset(e.codes, 0, sizeof e.codes);
    rb_draws draws = {.stream = {.seed = 31}};
    for (int64_t i = 0; i < N; i++)
        for (int64_t k = 0; k < M; k++)
            e.values[i * M + k] = rb_draw_normal(&draws) + (i < N / 5 && k < 12 ? 3 : 0);
    for (int64_t i = 0; i < N / 5; i++) {
        e.codes[i * L] = 1;
        e.codes[(i + apart) * L + 1] = i % 2 ? 0.6 : 1.4;
    }
    for (int64_t k = 0; k < M; k++)
        for (int64_t j = 0; j < L; j++)
            e.loadings[k * L + j] = j == 0 && k < 8 ? 0.11 : j == 1 && k >= 4 && k < 12 ? 0.1 : 0;
    e.sparse_codes = true;
    return modules_of(&e, 0.1);
}

/* No sample is in a module twice. */
static void assert_distinct(const rb_modules *modules) {
    for (int64_t r = 0; r < rb_modules_count(modules); r++) {
        const rb_module *m = rb_modules_get(modules, r);
        bool in[N] = {false};
        for (int64_t d = 0; d < m->n_samples; d++) {
            assert_false(in[m->samples[d].index]);
            in[m->samples[d].index] = true;
        }
    }
}

/* Units of noise, of which the later ones have the codes of the first ones, a little changed: they
 * are spare, and some are leads of others. */
static void twins_of_noise(void **state) {
    (void)state;
    static example e;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        rb_draws draws = {.stream = {.seed = seed}};
        make_example(&e, seed);
        for (int64_t i = 0; i < N; i++) {
            for (int64_t j = 0; j < L; j++) {
                double code = fmax(0, rb_draw_normal(&draws)), before = e.codes[i * L + j / 2];
                e.codes[i * L + j] = j < 2 ? code : before * (1 + 0.1 * code);
            }
            for (int64_t k = 0; k < M; k++)
                e.values[i * M + k] = rb_draw_normal(&draws);
        }
        for (int64_t k = 0; k < M * L; k++)
            e.loadings[k] = 0.1 * rb_draw_normal(&draws);
        e.sparse_codes = true;
        rb_modules *modules = modules_of(&e, 0.1);
        assert_distinct(modules);
        rb_modules_free(modules);
    }
}

/* Of units that share a module one stays, and its features are both's. */
static void one_of_alike_stays(void **state) {
    (void)state;
    for (int64_t apart = 0; apart <= N / 2; apart += N / 2) {
        rb_modules *modules = modules_of_two(apart);
        assert_int_equal(rb_modules_called(modules), 1);
        const rb_module *first = rb_modules_get(modules, 0), *other = rb_modules_get(modules, 1);
        assert_int_equal(first->unit, 0);
        assert_int_equal(first->n_samples, N / 5);
        assert_int_equal(first->n_features, 8);
        assert_int_equal(other->n_features, apart ? 0 : 8);
        rb_modules_free(modules);
    }
}

/* A module in the first N / 5 samples: one unit has the first three quarters of them, one the last,
 * and the half that is strong has both. The units have so many features of their own. */
static rb_modules *modules_of_parts(int64_t apart) {
    enum { SAMPLES = N / 5, FEATURES = 12 };
    static example e;
    make_example(&e, 3);
    memset(e.codes, 0, sizeof e.codes);
    memset(e.loadings, 0, sizeof e.loadings);
    rb_draws draws = {.stream = {.seed = 32}};
    for (int64_t i = 0; i < SAMPLES; i++) {
        e.codes[i * L] = i < SAMPLES * 3 / 4;
        e.codes[i * L + 1] = i >= SAMPLES / 4;
    }
    for (int64_t k = 0; k < FEATURES; k++) {
        e.loadings[k * L] = 3;
        e.loadings[(k + apart) * L + 1] = 3;
    }
    for (int64_t i = 0; i < N; i++) {
        for (int64_t k = 0; k < M; k++) {
            e.values[i * M + k] = 0.3 * rb_draw_normal(&draws);
            for (int64_t j = 0; j < 2; j++)
                e.values[i * M + k] += e.codes[i * L + j] * e.loadings[k * L + j];
        }
    }
    e.sparse_codes = true;
    return modules_of(&e, 0.1);
}

static void units_of_the_same_features_are_one_module(void **state) {
    (void)state;
    rb_modules *modules = modules_of_parts(0);
    assert_int_equal(rb_modules_called(modules), 1);
    assert_distinct(modules);
    const rb_module *whole = rb_modules_get(modules, 0), *part = rb_modules_get(modules, 1);
    assert_int_equal(whole->n_samples, N / 5);
    assert_int_equal(whole->n_features, 12);
    assert_int_equal(part->n_samples, N * 3 / 20);
    rb_modules_free(modules);
    modules = modules_of_parts(4);
    assert_int_equal(rb_modules_called(modules), 2);
    rb_modules_free(modules);
}

/* Two modules of 12 samples and 16 features each, and a unit of 33 of the other samples, to
 * different degrees: with some features of both, or others, up or down. */
static rb_modules *modules_of_rest(int64_t feature, int64_t count, double loading) {
    static example e;
    make_example(&e, 3);
    memset(e.codes, 0, sizeof e.codes);
    memset(e.loadings, 0, sizeof e.loadings);
    for (int64_t i = 0; i < 24; i++)
        e.codes[i * L + i / 12] = 2;
    for (int64_t i = 24; i < 57; i++)
        e.codes[i * L + 2] = 0.2 + pow((double)(i - 24) / 32, 2);
    for (int64_t k = 0; k < 32; k++)
        e.loadings[k * L + k / 16] = 4;
    for (int64_t k = feature; k < feature + count; k++)
        e.loadings[k * L + 2] = loading;
    rb_draws draws = {.stream = {.seed = 33}};
    for (int64_t i = 0; i < N; i++) {
        for (int64_t k = 0; k < M; k++) {
            e.values[i * M + k] = 0.3 * rb_draw_normal(&draws);
            for (int64_t j = 0; j < PLANTED; j++)
                e.values[i * M + k] += e.codes[i * L + j] * e.loadings[k * L + j];
        }
    }
    e.sparse_codes = true;
    return modules_of(&e, 0.1);
}

static void a_mirror_is_background(void **state) {
    (void)state;
    const struct {
        int64_t feature, count;
        double loading;
        bool mirrors;
    } cases[] = {{12, 8, -4, true}, {12, 8, 4, false}, {32, 8, -4, false}, {8, 16, -4, false}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        rb_modules *modules = modules_of_rest(cases[c].feature, cases[c].count, cases[c].loading);
        assert_int_equal(rb_modules_count(modules), 3);
        assert_int_equal(modules->notes[2].role == RB_UNIT_BACKGROUND, cases[c].mirrors);
        if (cases[c].mirrors) assert_int_equal(rb_modules_get(modules, 2)->unit, 2);
        rb_modules_free(modules);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_defined),
        cmocka_unit_test(both_tails_count),
        cmocka_unit_test(levels_are_nested),
        cmocka_unit_test(doubled_unit),
        cmocka_unit_test(few_features_take_more),
        cmocka_unit_test(what_cannot_be_tested),
        cmocka_unit_test(all_dead),
        cmocka_unit_test(many_equal_units),
        cmocka_unit_test(out_of_memory),
        cmocka_unit_test(every_sample_is_no_module),
        cmocka_unit_test(groups_of_all_samples),
        cmocka_unit_test(units_of_measure),
        cmocka_unit_test(one_feature_does_not_decide),
        cmocka_unit_test(twins_of_noise),
        cmocka_unit_test(one_of_alike_stays),
        cmocka_unit_test(units_of_the_same_features_are_one_module),
        cmocka_unit_test(a_mirror_is_background),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
