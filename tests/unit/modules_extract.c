/* Modules from codes and loadings: the rules and the ranking against their definitions, cell by
 * cell. */
#include "../errors.h"
#include "../options.h"
#include "modules/modules.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 40, M = 13, L = 6, BLOCK = 7 };

/* A model in arrays: codes[N x L], and how they are handed on. */
typedef struct example {
    double codes[N * L], loadings[M * L], noise[M];
    float small_codes[N * L];
    rb_type type;
    int walks;
} example;

static rb_context *new_context(void) {
    rb_context *ctx;
    assert_int_equal(rb_context_create(&ctx), RB_OK);
    return ctx;
}

/* Hands the codes on in blocks of BLOCK samples. */
static rb_error walk(void *state, rb_context *ctx, rb_rows_fn fn, void *user) {
    example *e = state;
    e->walks++;
    for (int64_t first = 0; first < N; first += BLOCK) {
        int64_t count = N - first < BLOCK ? N - first : BLOCK;
        const void *values = e->type == RB_FLOAT32 ? (const void *)(e->small_codes + first * L)
                                                   : (const void *)(e->codes + first * L);
        rb_matrix *rows;
        rb_error err = rb_matrix_dense(ctx, e->type, count, L, values, L, 1, &rows);
        if (err) return err;
        err = fn(user, first, rows);
        rb_matrix_free(rows);
        if (err) return err;
    }
    return RB_OK;
}

static rb_modules_input input_of(example *e) {
    return (rb_modules_input){.n_features = M,
                              .n_units = L,
                              .loadings = e->loadings,
                              .noise = e->noise,
                              .sparse_codes = true,
                              .walk = walk,
                              .state = e};
}

/* Random codes, half of them 0; unit 4 is dead; units differ in scale. Values are floats. */
static void make_example(example *e, uint64_t seed, bool with_signs) {
    rb_draws draws = {.stream = {.seed = seed}};
    memset(e, 0, sizeof *e);
    for (int64_t i = 0; i < N * L; i++) {
        double value = (1 + (double)(i % L)) * rb_draw_normal(&draws);
        value = i % L == 4 ? 0 : with_signs && fabs(value) > 0.5 ? value : fmax(value, 0);
        e->small_codes[i] = (float)value;
        e->codes[i] = e->small_codes[i];
    }
    for (int64_t k = 0; k < M * L; k++)
        e->loadings[k] = k % 5 ? rb_draw_normal(&draws) : 0;
    for (int64_t k = 0; k < M; k++)
        e->noise[k] = 0.1 + rb_draw_uniform(&draws);
    e->type = RB_FLOAT64;
}

static double rms_of(const example *e, int64_t unit) {
    double sum = 0;
    for (int64_t i = 0; i < N; i++)
        sum += e->codes[i * L + unit] * e->codes[i * L + unit];
    return sqrt(sum / N);
}

static double z_of(const example *e, int64_t sample, int64_t unit) {
    double rms = rms_of(e, unit);
    return rms > 0 ? e->codes[sample * L + unit] / rms : 0;
}

static double l_of(const example *e, int64_t feature, int64_t unit) {
    return e->loadings[feature * L + unit] * rms_of(e, unit);
}

/* sum_i 1/2 log(1 + z_ij^2 l_j' Psi^-1 l_j) */
static double information_of(const example *e, int64_t unit) {
    double signal = 0, sum = 0;
    for (int64_t k = 0; k < M; k++)
        signal += l_of(e, k, unit) * l_of(e, k, unit) / e->noise[k];
    for (int64_t i = 0; i < N; i++)
        sum += 0.5 * log(1 + z_of(e, i, unit) * z_of(e, i, unit) * signal);
    return sum;
}

/* sqrt(sum_j |l_j|^2 |z_j|^2 / (n m k)) / threshold */
static double feature_bound(const example *e, double threshold) {
    double sum = 0;
    for (int64_t j = 0; j < L; j++) {
        double l = 0, z = 0;
        for (int64_t k = 0; k < M; k++)
            l += l_of(e, k, j) * l_of(e, k, j);
        for (int64_t i = 0; i < N; i++)
            z += z_of(e, i, j) * z_of(e, i, j);
        sum += l * z;
    }
    return sqrt(sum / ((double)N * M * L)) / threshold;
}

static void note_log(rb_log_level level, const char *message, void *told) {
    (void)level;
    if (strncmp(message, "members by the rule ", 20) == 0) snprintf(told, 256, "%s", message);
}

static rb_modules *extract(rb_context *ctx, example *e, const char *rule, int64_t best) {
    rb_modules_options options;
    rb_modules *modules;
    fixture_default(rb_modules_group(), &options);
    options.rule = rule;
    options.best = best;
    rb_modules_input input = input_of(e);
    assert_int_equal(rb_modules_extract(ctx, &input, &options, &modules), RB_OK);
    return modules;
}

static const rb_member *member(const rb_member *members, int64_t count, int64_t index) {
    for (int64_t d = 0; d < count; d++)
        if (members[d].index == index) return &members[d];
    return NULL;
}

/* Is exactly each index with |value(index)| > bound a member, with that weight, in order of
 * weight? */
static void assert_above(const example *e, double (*value)(const example *, int64_t, int64_t),
                         int64_t unit, int64_t n, double bound, const rb_member *members,
                         int64_t count) {
    int64_t expected = 0;
    for (int64_t i = 0; i < n; i++) {
        double v = value(e, i, unit);
        const rb_member *found = member(members, count, i);
        assert_int_equal(found != NULL, fabs(v) > bound);
        assert_true(!found || fabs(found->weight - v) <= 1e-12 * fabs(v));
        expected += found != NULL;
    }
    assert_int_equal(count, expected);
    for (int64_t d = 1; d < count; d++)
        assert_true(fabs(members[d - 1].weight) >= fabs(members[d].weight));
}

/* Of the prevailing side: that of the larger sum of cubes. */
static double sign_of_side(const example *e, int64_t unit) {
    double sum = 0;
    for (int64_t i = 0; i < N; i++)
        sum += pow(z_of(e, i, unit), 3);
    return sum < 0 ? -1 : 1;
}

/* Of its samples. */
static double prevailing_z(const example *e, int64_t sample, int64_t unit) {
    double z = z_of(e, sample, unit);
    return z * sign_of_side(e, unit) > 0 ? z : 0;
}

/* Above 0 where the feature is up in them. */
static double turned_l(const example *e, int64_t feature, int64_t unit) {
    return l_of(e, feature, unit) * sign_of_side(e, unit);
}

/* nonzero and fabia, for codes without and with signs, from float64 and float32 codes. */
static void threshold_rules(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    example e;
    for (int with_signs = 0; with_signs < 2; with_signs++) {
        for (int type = 0; type < 2; type++) {
            make_example(&e, 1, with_signs);
            e.type = type ? RB_FLOAT64 : RB_FLOAT32;
            for (int rule = 0; rule < 3; rule++) {
                const char *const words[] = {"nonzero", "fabia", NULL};
                rb_modules *modules = extract(ctx, &e, words[rule], 0);
                bool nonzero = rule == 0 || (rule == 2 && !with_signs);
                assert_int_equal(rb_modules_count(modules), L - 1);
                for (int64_t r = 0; r < L - 1; r++) {
                    const rb_module *m = rb_modules_get(modules, r);
                    assert_above(&e, nonzero ? z_of : prevailing_z, m->unit, N, nonzero ? 0 : 0.5,
                                 m->samples, m->n_samples);
                    assert_above(&e, nonzero ? l_of : turned_l, m->unit, M, feature_bound(&e, 0.7),
                                 m->features, m->n_features);
                }
                rb_modules_free(modules);
            }
            assert_int_equal(e.walks, 6);
        }
    }
    rb_context_free(ctx);
}

/* Of unit 0 the 12 positive codes are large and the negative ones small; of unit 1 both sides have
 * 4 large codes, the negative ones larger; the others have no codes. */
static void make_sides(example *e, double sign) {
    memset(e, 0, sizeof *e);
    for (int64_t i = 0; i < N; i++) {
        double small = 0.1 + 0.001 * (double)i;
        e->codes[i * L] = sign * (i < 12 ? 2 + small : -small);
        e->codes[i * L + 1] = sign * (i < 4   ? 2 + small
                                      : i < 8 ? -3 - small
                                      : i % 2 ? -small
                                              : small);
    }
    for (int64_t k = 0; k < M; k++) {
        e->loadings[k * L] = k < 6 ? 1 : 0;
        e->loadings[k * L + 1] = k < 6 ? 0 : 1;
        e->noise[k] = 1;
    }
    e->type = RB_FLOAT64;
}

static void one_side_at_a_time(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    example e;
    for (int reversed = 0; reversed < 2; reversed++) {
        make_sides(&e, reversed ? -1 : 1);
        rb_modules *modules = extract(ctx, &e, "fabia", 0);
        assert_int_equal(rb_modules_count(modules), 3); /* one of unit 0, both of unit 1 */
        int others = 0;
        for (int64_t r = 0; r < 3; r++) {
            const rb_module *m = rb_modules_get(modules, r);
            bool other = rb_modules_other_side(modules, r);
            int64_t first = m->unit == 1 && !other ? 4 : 0, count = m->unit == 0 ? 12 : 4;
            assert_int_equal(m->n_samples, count);
            for (int64_t i = first; i < first + count; i++)
                assert_non_null(member(m->samples, m->n_samples, i));
            if (r > 0)
                assert_true(rb_modules_score(modules, r - 1) >= rb_modules_score(modules, r));
            assert_int_equal(m->features[0].weight > 0, m->samples[0].weight > 0);
            if (other) assert_int_equal(m->unit, 1);
            others += other;
        }
        assert_int_equal(others, 1);
        rb_modules_free(modules);
        modules = extract(ctx, &e, "fabia", 2);
        assert_int_equal(rb_modules_count(modules), 2);
        assert_false(rb_modules_other_side(modules, 0) || rb_modules_other_side(modules, 1));
        rb_modules_free(modules);
        modules = extract(ctx, &e, "nonzero", 0); /* a rule that asks for no side */
        assert_int_equal(rb_modules_count(modules), 2);
        assert_int_equal(rb_modules_get(modules, 0)->n_samples, N);
        rb_modules_free(modules);
    }
    rb_context_free(ctx);
}

/* Codes that should be mostly 0: one that most samples have, less where a module is, is background.
 * It comes last, whatever it tells, and only where the method promises such codes. */
static void background_comes_last(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    example e;
    make_sides(&e, 1);
    for (int trial = 0; trial < 4; trial++) {
        bool promised = trial / 2, weak = trial % 2;
        rb_modules *modules;
        rb_modules_input input = input_of(&e);
        for (int64_t i = 0; i < N; i++) {
            e.codes[i * L] = i < 8 ? 1 : 0;
            e.codes[i * L + 1] = i < 8 ? 0 : (weak ? 0.01 : 9) * (1 + 0.001 * (double)i);
        }
        input.sparse_codes = promised;
        assert_int_equal(rb_modules_extract(ctx, &input, fixture_rule(), &modules), RB_OK);
        assert_int_equal(rb_modules_count(modules), 2);
        assert_int_equal(rb_modules_get(modules, 0)->unit, promised || weak ? 0 : 1);
        assert_int_equal(rb_modules_called(modules), promised ? 1 : 2);
        rb_modules_free(modules);
    }
    rb_context_free(ctx);
}

/* The rule that is taken when none is given follows codes and loadings, is told and recorded; the
 * one that is given is recorded. */
static void rule_by_default(void **state) {
    (void)state;
    static const struct {
        bool signs, sparse, probabilities, chances;
        const char *rule;
    } cases[] = {{false, false, false, false, "nonzero"}, {true, false, false, false, "fabia"},
                 {false, true, false, false, "fabia"},    {true, true, false, false, "fabia"},
                 {false, false, true, false, "active"},   {false, false, false, true, "active"}};
    rb_context *ctx = new_context();
    char told[256] = "";
    rb_context_on_log(ctx, note_log, told);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        example e;
        rb_modules *modules;
        make_example(&e, 1, cases[c].signs);
        rb_modules_input input = input_of(&e);
        input.sparse_loadings = cases[c].sparse;
        input.probabilities = cases[c].probabilities;
        input.chances = cases[c].chances;
        assert_int_equal(rb_modules_extract(ctx, &input, fixture_rule(), &modules), RB_OK);
        assert_string_equal(rb_modules_rule(modules), cases[c].rule);
        assert_non_null(strstr(told, cases[c].rule));
        rb_modules_free(modules);
        modules = extract(ctx, &e, "mass:0.5", 0);
        assert_string_equal(rb_modules_rule(modules), "mass:0.5");
        rb_modules_free(modules);
    }
    rb_context_free(ctx);
}

/* Where samples have codes of several units it says little that one is not 0, unless the method's
 * codes are sparse by themselves. A cluster is one unit for each sample. */
static void shared_codes_want_another_rule(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    for (int c = 0; c < 4; c++) {
        example e;
        rb_modules *modules;
        make_example(&e, 1, false);
        for (int i = 0; i < N * L; i++)
            e.codes[i] = i % L == i / L % 3 || (c % 2 && i % L == 3 && i / L == 7) ? 1 + i % 5 : 0;
        rb_modules_input input = input_of(&e);
        input.sparse_codes = c / 2;
        assert_int_equal(rb_modules_extract(ctx, &input, fixture_rule(), &modules), RB_OK);
        assert_string_equal(rb_modules_rule(modules), c == 1 ? "fabia" : "nonzero");
        rb_modules_free(modules);
    }
    rb_context_free(ctx);
}

/* active: the codes themselves are above 1/2, whatever their scale; features as for the others. */
static void active_rule(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    example e;
    rb_modules_options options = {"active", 0.5, 0.7, 0, 0};
    rb_modules *modules;
    make_example(&e, 5, false);
    for (int64_t i = 0; i < N * L; i++)
        e.codes[i] = fmin(e.codes[i] / 4, 1);
    rb_modules_input input = input_of(&e);
    assert_error(ctx, rb_modules_extract(ctx, &input, &options, &modules), RB_ERROR_ARGUMENT,
                 "rule 'active' needs codes that are probabilities");
    input.probabilities = true;
    assert_int_equal(rb_modules_extract(ctx, &input, &options, &modules), RB_OK);
    for (int64_t r = 0; r < rb_modules_count(modules); r++) {
        const rb_module *m = rb_modules_get(modules, r);
        int64_t active = 0;
        for (int64_t i = 0; i < N; i++) {
            bool is = e.codes[i * L + m->unit] > 0.5;
            assert_int_equal(member(m->samples, m->n_samples, i) != NULL, is);
            active += is;
        }
        assert_int_equal(m->n_samples, active);
        assert_above(&e, l_of, m->unit, M, feature_bound(&e, 0.7), m->features, m->n_features);
    }
    assert_int_equal(rb_modules_count(modules), L - 1);
    rb_modules_free(modules);
    rb_context_free(ctx);
}

/* Both thresholds are the caller's. */
static void own_thresholds(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    example e;
    make_example(&e, 3, false);
    rb_modules_input input = input_of(&e);
    rb_modules_options options = {"fabia", 1.1, 0.4, 0, 0};
    rb_modules *modules;
    assert_int_equal(rb_modules_extract(ctx, &input, &options, &modules), RB_OK);
    for (int64_t r = 0; r < L - 1; r++) {
        const rb_module *m = rb_modules_get(modules, r);
        assert_above(&e, z_of, m->unit, N, 1.1, m->samples, m->n_samples);
        assert_above(&e, l_of, m->unit, M, feature_bound(&e, 0.4), m->features, m->n_features);
    }
    rb_modules_free(modules);
    rb_context_free(ctx);
}

/* Of method fabia by its prior's variances. */
static void information_of_fabia(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    static const double scale[L] = {0.5, 1, 2, 0.1, 1, 3};
    double information[L];
    example e;
    make_example(&e, 4, true);
    rb_modules_input input = input_of(&e);
    input.scale = scale;
    assert_int_equal(rb_information_of(ctx, &input, information), RB_OK);
    for (int64_t j = 0; j < L; j++) {
        double signal = 0, sum = 0;
        for (int64_t k = 0; k < M; k++)
            signal += pow(e.loadings[k * L + j] / scale[j], 2) / e.noise[k];
        for (int64_t i = 0; i < N; i++)
            sum += 0.5 * log(1 + fmin(1, fabs(e.codes[i * L + j] * scale[j])) * signal);
        assert_true(fabs(information[j] - sum) <= 1e-10 * sum);
    }
    rb_context_free(ctx);
}

static void count_dead(rb_log_level level, const char *message, void *dead) {
    int64_t units;
    (void)level;
    if (strstr(message, " no sample"))
        assert_int_equal(sscanf(message, "%" SCNd64 " of %" SCNd64, (int64_t *)dead, &units), 2);
}

/* Largest information first, as defined; --best keeps the first ones unchanged; dead units have
 * none. */
static void ranked_by_information(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    example e;
    int64_t dead = 0;
    make_example(&e, 2, false);
    rb_context_on_log(ctx, count_dead, &dead);
    rb_modules *all = extract(ctx, &e, "nonzero", 0), *best = extract(ctx, &e, "nonzero", 2);
    assert_int_equal(rb_modules_count(best), 2);
    assert_int_equal(dead, 1);
    for (int64_t r = 0; r < L - 1; r++) {
        const rb_module *m = rb_modules_get(all, r);
        double expected = information_of(&e, m->unit);
        assert_int_not_equal(m->unit, 4);
        assert_true(fabs(m->information - expected) < 1e-10 * expected);
        if (r > 0) assert_true(m->information <= rb_modules_get(all, r - 1)->information);
        if (r < 2) {
            const rb_module *kept = rb_modules_get(best, r);
            assert_int_equal(kept->unit, m->unit);
            assert_int_equal(kept->n_samples, m->n_samples);
            assert_memory_equal(kept->samples, m->samples,
                                (size_t)m->n_samples * sizeof *m->samples);
        }
    }
    assert_null(rb_modules_get(all, L - 1));
    assert_null(rb_modules_get(all, -1));
    rb_modules_free(all);
    rb_modules_free(best);
    rb_context_free(ctx);
}

/* top:N keeps the N largest: as many as there are, all at least as large as those left out. */
static void top_rule(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    example e;
    make_example(&e, 5, true);
    const char *const words[] = {"top:1", "top:3", "top:12", "top:1000000000000000000"};
    const int64_t tops[] = {1, 3, 12, 1000000000000000000};
    for (int w = 0; w < 4; w++) {
        rb_modules *top = extract(ctx, &e, words[w], 0), *all = extract(ctx, &e, "mass:1", 0);
        for (int64_t r = 0; r < L - 1; r++) {
            const rb_module *a = rb_modules_get(all, r), *m = rb_modules_get(top, r);
            int64_t samples = a->n_samples < tops[w] ? a->n_samples : tops[w];
            int64_t features = a->n_features < tops[w] ? a->n_features : tops[w];
            assert_above(&e, z_of, a->unit, N, 0, a->samples, a->n_samples);
            assert_above(&e, l_of, a->unit, M, 0, a->features, a->n_features);
            assert_int_equal(m->n_samples, samples);
            assert_int_equal(m->n_features, features);
            assert_memory_equal(m->samples, a->samples, (size_t)samples * sizeof *m->samples);
            assert_memory_equal(m->features, a->features, (size_t)features * sizeof *m->features);
        }
        rb_modules_free(top);
        rb_modules_free(all);
    }
    rb_context_free(ctx);
}

/* Share of the sum of squares of all non-zero z of a unit that the first `count` members hold. */
static double share_of(const rb_module *m, int64_t count) {
    double sum = 0;
    for (int64_t d = 0; d < count; d++)
        sum += m->samples[d].weight * m->samples[d].weight;
    return sum / N; /* the mean square of z is 1 */
}

/* mass:F keeps the fewest that hold share F. */
static void mass_rule(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    example e;
    make_example(&e, 6, false);
    rb_modules *modules = extract(ctx, &e, "mass:0.8", 0);
    for (int64_t r = 0; r < L - 1; r++) {
        const rb_module *m = rb_modules_get(modules, r);
        double smallest = fabs(m->samples[m->n_samples - 1].weight);
        assert_true(share_of(m, m->n_samples) >= 0.8);
        assert_true(share_of(m, m->n_samples - 1) < 0.8);
        for (int64_t i = 0; i < N; i++) {
            assert_true(member(m->samples, m->n_samples, i) ||
                        fabs(z_of(&e, i, m->unit)) <= smallest);
        }
    }
    rb_modules_free(modules);
    rb_context_free(ctx);
}

/* Units in another order give the same modules, with the units' new numbers. */
static void permuted_units(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    example e, turned;
    make_example(&e, 7, false);
    turned = e;
    for (int64_t c = 0; c < N * L; c++)
        turned.codes[c / L * L + (c % L + 2) % L] = e.codes[c];
    for (int64_t c = 0; c < M * L; c++)
        turned.loadings[c / L * L + (c % L + 2) % L] = e.loadings[c];
    rb_modules *a = extract(ctx, &e, "fabia", 0), *b = extract(ctx, &turned, "fabia", 0);
    for (int64_t r = 0; r < L - 1; r++) {
        const rb_module *x = rb_modules_get(a, r), *y = rb_modules_get(b, r);
        assert_int_equal((x->unit + 2) % L, y->unit);
        assert_true(x->information == y->information);
        assert_int_equal(x->n_samples, y->n_samples);
        assert_int_equal(x->n_features, y->n_features);
        assert_memory_equal(x->samples, y->samples, (size_t)x->n_samples * sizeof *x->samples);
        assert_memory_equal(x->features, y->features, (size_t)x->n_features * sizeof *x->features);
    }
    rb_modules_free(a);
    rb_modules_free(b);
    rb_context_free(ctx);
}

/* Codes times c and loadings divided by c are the same model: nothing changes but rounding. */
static void scale_of_codes_does_not_matter(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    example e, scaled;
    make_example(&e, 8, false);
    scaled = e;
    for (int64_t c = 0; c < N * L; c++)
        scaled.codes[c] *= 4;
    for (int64_t c = 0; c < M * L; c++)
        scaled.loadings[c] /= 4;
    rb_modules *a = extract(ctx, &e, "fabia", 0), *b = extract(ctx, &scaled, "fabia", 0);
    for (int64_t r = 0; r < L - 1; r++) {
        const rb_module *x = rb_modules_get(a, r), *y = rb_modules_get(b, r);
        assert_int_equal(x->unit, y->unit);
        assert_int_equal(x->n_samples, y->n_samples);
        assert_int_equal(x->n_features, y->n_features);
    }
    rb_modules_free(a);
    rb_modules_free(b);
    rb_context_free(ctx);
}

static void wrong_rules(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    const char *const words[] = {"",          "non",       "top",    "top:",
                                 "top:0",     "top:-1",    "top:3x", "top:99999999999999999999",
                                 "mass:0",    "mass:1.01", "mass:",  "mass:nan",
                                 "mass:0.5%", "fabia:1",   "top: 3", "active:1"};
    example e;
    make_example(&e, 1, false);
    rb_modules_input input = input_of(&e);
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        rb_modules_options options = {words[w], 0.5, 0.7, 0, 0};
        rb_modules *modules;
        assert_error(ctx, rb_modules_extract(ctx, &input, &options, &modules), RB_ERROR_ARGUMENT,
                     "`rule` is '");
        assert_null(modules);
    }
    assert_int_equal(e.walks, 0);
    rb_modules_options negative = {"fabia", -1, 0.7, 0, 0}, zero = {"fabia", 0.5, 0, 0, 0};
    rb_modules *modules;
    assert_error(ctx, rb_modules_extract(ctx, &input, &negative, &modules), RB_ERROR_ARGUMENT,
                 "sample-threshold");
    assert_error(ctx, rb_modules_extract(ctx, &input, &zero, &modules), RB_ERROR_ARGUMENT,
                 "feature-threshold");
    rb_context_free(ctx);
}

/* A threshold that the rule does not look at is refused. */
static void idle_thresholds(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    static const char *const rules[] = {"nonzero", "fabia", "top:2", "mass:0.5"};
    example e;
    make_example(&e, 1, false);
    rb_modules_input input = input_of(&e);
    for (int r = 0; r < 4; r++) {
        rb_modules_options features = {rules[r], 0.5, 0.9, 0, 0},
                           samples = {rules[r], 0.4, 0.7, 0, 0};
        rb_modules *modules = NULL;
        rb_error err = rb_modules_extract(ctx, &input, &features, &modules);
        assert_int_equal(err, r < 2 ? RB_OK : RB_ERROR_ARGUMENT);
        if (err)
            assert_non_null(
                strstr(rb_context_error(ctx), "`feature-threshold` does nothing with the rule"));
        rb_modules_free(modules);
        modules = NULL;
        err = rb_modules_extract(ctx, &input, &samples, &modules);
        assert_int_equal(err, r == 1 ? RB_OK : RB_ERROR_ARGUMENT);
        if (err)
            assert_non_null(
                strstr(rb_context_error(ctx), "`sample-threshold` does nothing with the rule"));
        rb_modules_free(modules);
    }
    rb_context_free(ctx);
}

static void no_memory(void **state) {
    (void)state;
    rb_context *ctx = new_context();
    example e;
    make_example(&e, 1, false);
    rb_modules_input input = input_of(&e);
    const char *const words[] = {"nonzero", "top:2"};
    for (int w = 0; w < 2; w++) {
        rb_error err = RB_ERROR_MEMORY;
        for (int64_t n = 0; allow_allocations(ctx, n, err); n++) {
            rb_modules_options options = {words[w], 0.5, 0.7, 0, 0};
            rb_modules *modules;
            err = rb_modules_extract(ctx, &input, &options, &modules);
            if (err) {
                assert_null(modules);
                assert_non_null(strstr(rb_context_error(ctx), "memory"));
            } else {
                assert_true(n > 20);
                rb_modules_free(modules);
            }
        }
    }
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threshold_rules),
        cmocka_unit_test(one_side_at_a_time),
        cmocka_unit_test(background_comes_last),
        cmocka_unit_test(rule_by_default),
        cmocka_unit_test(shared_codes_want_another_rule),
        cmocka_unit_test(active_rule),
        cmocka_unit_test(own_thresholds),
        cmocka_unit_test(information_of_fabia),
        cmocka_unit_test(ranked_by_information),
        cmocka_unit_test(top_rule),
        cmocka_unit_test(mass_rule),
        cmocka_unit_test(permuted_units),
        cmocka_unit_test(scale_of_codes_does_not_matter),
        cmocka_unit_test(wrong_rules),
        cmocka_unit_test(idle_thresholds),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
