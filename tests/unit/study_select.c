/* How many units: the numbers to try, the rule on tables made by hand, and a fit of all that. */
#include "fixture.h"
#include "study/select.h"

#include <string.h>
#include <unistd.h>

enum { N = 120, M = 60, CAUSES = 4 };

struct world {
    rb_context *ctx;
    double *values;
    rb_matrix *matrix;
    rb_source *source;
    rb_options *options;
};

static int setup(void **state) {
    struct world *w = calloc(1, sizeof *w);
    rb_bicluster_plan plan = rb_plan_fabia(N, M);
    rb_matrix *made;
    rb_modules *planted;
    w->ctx = fixture_context();
    plan.groups[0].count = CAUSES;
    plan.noise_sd = 1;
    plan.seed = 4;
    assert_ok(w->ctx, rb_generate_biclusters(w->ctx, &plan, &made, &planted));
    w->values = calloc((size_t)N * M, sizeof *w->values);
    for (int64_t e = 0; e < N * M; e++)
        w->values[e] = rb_matrix_at(made, e / M, e % M);
    rb_modules_free(planted);
    rb_matrix_free(made);
    w->source = fixture_source(w->ctx, w->values, N, M, &w->matrix);
    assert_ok(w->ctx, rb_select_options(w->ctx, "rfn", &w->options));
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options,
                                         "units=1:6 restarts=3 folds=3 iterations=120 seed=3"));
    *state = w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    rb_options_free(w->options);
    rb_source_free(w->source);
    rb_matrix_free(w->matrix);
    rb_context_free(w->ctx);
    free(w->values);
    free(w);
    return 0;
}

static rb_selection *select_units(struct world *w) {
    rb_selection *s;
    assert_ok(w->ctx, rb_select(w->ctx, w->options, w->source, &s));
    return s;
}

static void finds_the_planted_number(void **state) {
    struct world *w = *state;
    int64_t units, low, high;
    rb_selection *s = select_units(w);
    const char *why = rb_selection_choice(s, &units, &low, &high);
    assert_int_equal(rb_selection_rows(s), 6);
    assert_int_equal(s->fits, 3); /* each fold is left out once */
    assert_true(low <= CAUSES && CAUSES <= high);
    assert_int_equal(units, CAUSES);
    assert_non_null(strstr(why, "4 units are stable"));
    assert_int_equal(rb_selection_get(s, rb_selection_row(s), "stable"), CAUSES);
    assert_true(rb_selection_get(s, CAUSES, "match") > 0.8);
    assert_true(rb_selection_get(s, CAUSES, "shared") > 0.5);
    assert_true(rb_selection_get(s, 0, "held_out") < rb_selection_get(s, 3, "held_out") - 1);
    assert_true(rb_selection_get(s, 0, "held_out_error") >
                rb_selection_get(s, 3, "held_out_error"));
    assert_true(rb_selection_get(s, 0, "entry_error") > rb_selection_get(s, 4, "entry_error"));
    assert_true(rb_selection_get(s, 4, "entry_error") < 0.6);
    assert_true(isnan(rb_selection_get(s, 6, "match")) && isnan(rb_selection_get(s, 0, "nothing")));
    rb_selection_free(s);
}

static void gives_the_same_bits_on_any_threads(void **state) {
    struct world *w = *state;
    rb_selection *one = select_units(w);
    assert_ok(w->ctx, rb_context_set_threads(w->ctx, 3));
    rb_selection *three = select_units(w);
    const char *name;
    for (int64_t c = 0; (name = rb_selection_name(one, c)); c++) {
        for (int64_t r = 0; r < 6; r++) {
            double a = rb_selection_get(one, r, name), b = rb_selection_get(three, r, name);
            assert_memory_equal(&a, &b, sizeof a);
        }
    }
    rb_selection_free(one);
    rb_selection_free(three);
}

/* Units whose codes are small are units all the same. */
static void the_scale_of_codes_does_not_matter(void **state) {
    struct world *w = *state;
    double match[2];
    for (int small = 0; small < 2; small++) {
        for (int64_t e = 0; small && e < N * M; e++)
            w->values[e] /= 1 << 12;
        rb_options_free(w->options);
        assert_ok(w->ctx, rb_select_options(w->ctx, "pca", &w->options));
        assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options,
                                             "units=3 restarts=2 folds=3 solver=randomized"));
        rb_selection *s = select_units(w);
        match[small] = rb_selection_get(s, 0, "match");
        rb_selection_free(s);
    }
    assert_true(match[0] > 0.3);
    assert_close(match[1], match[0], 1e-3);
}

/* Fits with the same codes match wholly, also where one sample outweighs all. */
static void the_same_codes_match_wholly(void **state) {
    struct world *w = *state;
    for (int64_t e = 0; e < N * M; e++)
        w->values[e] = (e < M ? 50 : e / M % 5) * (double)(1 + e % M % 3);
    rb_options_free(w->options);
    assert_ok(w->ctx, rb_select_options(w->ctx, "pca", &w->options));
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options,
                                         "units=1 restarts=2 folds=3 solver=randomized"));
    rb_selection *s = select_units(w);
    assert_close(rb_selection_get(s, 0, "match"), 1, 1e-4);
    rb_selection_free(s);
}

/* Codes of both signs are neither spare nor background, however they are skewed. */
static void signed_codes_have_no_role(void **state) {
    struct world *w = *state;
    select_plan plan = {0};
    rb_bytes made;
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options, "units=4 activation=tanh"));
    assert_ok(w->ctx, rb_select_plan(w->ctx, w->options, w->source, &plan));
    assert_ok(w->ctx, rb_select_do(w->ctx, 0, &plan, &made));
    const double *role = rb_select_arrays_of(&plan, made.data).role;
    for (int j = 0; j < 4; j++)
        assert_true(role[j] == RB_UNIT_MODULE);
    rb_free(made.data);
    rb_select_plan_clear(&plan);
}

/* What is held out is not seen: folds of noise are explained worse the more units there are. */
static void more_units_explain_unseen_noise_worse(void **state) {
    struct world *w = *state;
    rb_draws draws = {{9, RB_RANDOM_SIMULATE, 0}, 0};
    for (int64_t e = 0; e < N * M; e++)
        w->values[e] = rb_draw_normal(&draws);
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options, "units=1,12 preset=paper"));
    rb_selection *s = select_units(w);
    assert_true(rb_selection_get(s, 1, "held_out") < rb_selection_get(s, 0, "held_out"));
    int64_t units, low, high;
    assert_non_null(strstr(rb_selection_choice(s, &units, &low, &high), "nothing is stable"));
    assert_int_equal(units, 0);
    rb_selection_free(s);
}

/* Where each sample depends on the one before, its neighbours are held out with it. */
static void neighbours_are_held_out_together(void **state) {
    struct world *w = *state;
    rb_draws draws = {{9, RB_RANDOM_SIMULATE, 0}, 0};
    select_plan plan = {0};
    int64_t units, low, high, ends = 0;
    for (int64_t e = 0; e < N * M; e++)
        w->values[e] = (e < M ? 0 : 0.9 * w->values[e - M]) + 0.44 * rb_draw_normal(&draws);
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options, "units=10 restarts=6"));
    assert_ok(w->ctx, rb_select_plan(w->ctx, w->options, w->source, &plan));
    for (int64_t i = 0; i < N; i++)
        ends += plan.fold_of[i] != plan.fold_of[(i + 1) % N];
    assert_int_equal(ends, 3);
    assert_memory_not_equal(plan.fold_of, plan.fold_of + N, N * sizeof *plan.fold_of);
    rb_select_plan_clear(&plan);
    rb_selection *s = select_units(w);
    assert_non_null(strstr(rb_selection_choice(s, &units, &low, &high), "3 runs of samples"));
    assert_int_equal(units, 0); /* several where folds are drawn at random */
    rb_selection_free(s);
}

/* Samples sorted by class do not, and each class is in each fold. */
static void classes_are_held_out_in_part(void **state) {
    struct world *w = *state;
    rb_draws draws = {{9, RB_RANDOM_SIMULATE, 0}, 0};
    select_plan plan = {0};
    double means[4 * M];
    for (int64_t e = 0; e < 4 * M; e++)
        means[e] = rb_draw_normal(&draws);
    for (int64_t e = 0; e < N * M; e++)
        w->values[e] = means[e / (N / 4 * M) * M + e % M] + rb_draw_normal(&draws);
    assert_ok(w->ctx, rb_select_plan(w->ctx, w->options, w->source, &plan));
    assert_false(plan.serial);
    for (int64_t first = 0; first < N; first += N / 4)
        for (int64_t fold = 0; fold < 3; fold++) {
            int64_t count = 0;
            for (int64_t i = first; i < first + N / 4; i++)
                count += plan.fold_of[i] == fold;
            assert_true(count > 1);
        }
    rb_select_plan_clear(&plan);
}

/* Each sample's is that of the sample alone, also where values are missing. */
static void check_likelihoods(struct world *w, const char *method, const char *options) {
    enum { COMPARED = 20 };
    double likelihoods[N], sum = 0;
    rb_options *fit;
    rb_model *model;
    rb_metrics *metrics;
    assert_ok(w->ctx, rb_options_new(w->ctx, method, &fit));
    assert_ok(w->ctx, rb_options_set_all(w->ctx, fit, "%s", options));
    assert_ok(w->ctx, rb_fit(w->ctx, fit, w->source, NULL, &model));
    assert_ok(w->ctx, rb_evaluate_samples(w->ctx, model, w->source, likelihoods, &metrics));
    for (int64_t i = 0; i < N; i++)
        sum += likelihoods[i];
    double all = rb_metrics_get(metrics, "log_likelihood") * N;
    assert_close(sum, all, 1e-5 * fabs(all));
    rb_metrics_free(metrics);
    for (int64_t i = 0; i < COMPARED; i++) {
        rb_matrix one = rb_matrix_part(w->matrix, i, 1);
        rb_source source;
        rb_source_of_matrix(&one, &source);
        assert_ok(w->ctx, rb_evaluate(w->ctx, model, &source, &metrics));
        double alone = rb_metrics_get(metrics, "log_likelihood");
        assert_close(likelihoods[i], alone, 1e-4 * fabs(alone));
        rb_metrics_free(metrics);
    }
    rb_model_free(model);
    rb_options_free(fit);
}

static void tells_the_likelihood_of_each_sample(void **state) {
    struct world *w = *state;
    check_likelihoods(w, "rfn", "units=4 iterations=50");
    check_likelihoods(w, "rfn", "units=4 iterations=50 noise=full psi-min=0.1");
    check_likelihoods(w, "rfn", "units=4 iterations=50 prior-mean=0.5");
    check_likelihoods(w, "linca", "units=4 iterations=10");
    check_likelihoods(w, "pca", "units=4");
    check_likelihoods(w, "ica", "units=4 iterations=30");
    check_likelihoods(w, "fa", "units=4 iterations=30");
    check_likelihoods(w, "sfa", "units=4 iterations=30");
    for (int64_t e = 0; e < N * M; e += 7)
        w->values[e] = NAN;
    check_likelihoods(w, "rfn", "units=4 iterations=50 missing=model");
}

static void counts_units_beyond_noise(void **state) {
    struct world *w = *state;
    const char *name = NULL;
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options,
                                         "units=2,5 restarts=2 folds=2 permutations=19"));
    rb_selection *s = select_units(w);
    for (int64_t c = 0; rb_selection_name(s, c); c++)
        name = rb_selection_name(s, c);
    assert_string_equal(name, "beyond_noise");
    assert_close(rb_selection_get(s, 0, "beyond_noise"), 2, 1e-12);
    assert_true(rb_selection_get(s, 1, "beyond_noise") >= CAUSES);
    rb_selection_free(s);
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options, "permutations=0"));
    s = select_units(w);
    for (int64_t c = 0; rb_selection_name(s, c); c++)
        assert_string_not_equal(rb_selection_name(s, c), "beyond_noise");
    assert_true(isnan(rb_selection_get(s, 0, "beyond_noise")));
    rb_selection_free(s);
}

/* Of data without structure a unit may be called in one of twenty fits; ten sets are drawn. */
static void noise_is_not_beyond_noise(void **state) {
    struct world *w = *state;
    enum { SETS = 10 };
    double called = 0;
    assert_ok(w->ctx,
              rb_options_set_all(w->ctx, w->options,
                                 "units=4 restarts=1 folds=0 iterations=30 permutations=19"));
    for (int set = 0; set < SETS; set++) {
        rb_draws draws = {{(uint64_t)set + 20, RB_RANDOM_SIMULATE, 0}, 0};
        for (int64_t e = 0; e < N * M; e++)
            w->values[e] = rb_draw_normal(&draws);
        rb_selection *s = select_units(w);
        called += rb_selection_get(s, 0, "beyond_noise") > 0;
        rb_selection_free(s);
    }
    assert_true(called <= 3); /* of ten at 0.05 each: more has a chance of 0.001 */
}

static void does_without_folds_or_pairs(void **state) {
    struct world *w = *state;
    int64_t units, low, high;
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options, "folds=0 restarts=1 units=2,4"));
    rb_selection *s = select_units(w);
    assert_non_null(strstr(rb_selection_choice(s, &units, &low, &high), "needs two fits"));
    assert_int_equal(units, 0);
    assert_int_equal(rb_selection_row(s), -1);
    assert_true(isnan(rb_selection_get(s, 0, "match")) && isnan(rb_selection_get(s, 0, "stable")));
    rb_selection_free(s);
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options, "restarts=3 units=6,8"));
    s = select_units(w);
    assert_non_null(strstr(rb_selection_choice(s, &units, &low, &high), "are stable"));
    assert_true(isnan(rb_selection_get(s, 0, "held_out")));
    rb_selection_free(s);
}

static void fits_sparse_data_as_dense(void **state) {
    struct world *w = *state;
    rb_source *source = fixture_sparse_data(w->ctx, w->values, N, M);
    rb_selection *s, *dense = select_units(w);
    assert_ok(w->ctx, rb_select(w->ctx, w->options, source, &s));
    for (int64_t r = 0; r < 3; r++) {
        assert_close(rb_selection_get(s, r, "held_out"), rb_selection_get(dense, r, "held_out"),
                     1e-3);
    }
    rb_selection_free(s);
    rb_selection_free(dense);
    rb_source_free(source);
}

static void refuses(struct world *w, const char *options, const char *says) {
    rb_selection *s;
    assert_ok(w->ctx, rb_options_set_all(w->ctx, w->options, "%s", options));
    assert_error(w->ctx, rb_select(w->ctx, w->options, w->source, &s), RB_ERROR_ARGUMENT, says);
    assert_null(s);
}

static void refuses_what_is_wrong(void **state) {
    struct world *w = *state;
    const char *const wrong[] = {"0:5",   "5:2", "2:",           ":", "a", "2,,3", "2,3,", "-1",
                                 "2:9:0", "2;3", "1:99999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[64];
        snprintf(text, sizeof text, "units=%s", wrong[i]);
        refuses(w, text, "but must be numbers above 0");
    }
    refuses(w, "units=2:3 folds=1", "`folds` is 1, but must be 0 or from 2 to the 120 samples");
    refuses(w, "folds=121", "`folds` is 121");
    refuses(w, "folds=3 permutations=18", "`permutations` is 18, but must be 0 or at least 19");
    refuses(w, "permutations=0 units=2,5462 restarts=2 folds=3",
            "3 fits of 5462 units have 16386 units together, but at most 16384 can be compared");
    refuses(w, "units=1000000000 restarts=1000000 folds=0", "1000000000000000 units together");
    refuses(w, "units=2 restarts=3 folds=0 part=1/2", "part");
}

/* The mean over samples of one alone, also where a method's models have causes. */
static void held_out_is_of_a_sample(void **state) {
    struct world *w = *state;
    static const char *const methods[] = {"linca", "ssc"};
    for (int i = 0; i < 2; i++) {
        rb_options *options;
        rb_selection *s;
        rb_metrics *metrics;
        double likelihoods[N], mean = 0;
        const char *text = "iterations=5 candidates=3 max-active=2 seed=3";
        assert_ok(w->ctx, rb_select_options(w->ctx, methods[i], &options));
        assert_ok(w->ctx,
                  rb_options_set_all(w->ctx, options, "units=4 restarts=1 folds=3 %s", text));
        assert_ok(w->ctx, rb_select(w->ctx, options, w->source, &s));
        rb_model *model =
            fixture_text_model(w->ctx, methods[i], w->source, NULL, "units=4 %s", text);
        assert_ok(w->ctx, rb_evaluate_samples(w->ctx, model, w->source, likelihoods, &metrics));
        for (int k = 0; k < N; k++)
            mean += likelihoods[k] / N;
        assert_close(rb_selection_get(s, 0, "held_out"), mean, 0.3);
        rb_metrics_free(metrics);
        rb_model_free(model);
        rb_selection_free(s);
        rb_options_free(options);
    }
}

static double entry_error(struct world *w) {
    rb_options *options;
    rb_selection *s;
    assert_ok(w->ctx, rb_select_options(w->ctx, "rfn", &options));
    assert_ok(w->ctx, rb_options_set_all(w->ctx, options,
                                         "units=4 restarts=1 folds=3 iterations=20 seed=3"));
    assert_ok(w->ctx, rb_select(w->ctx, options, w->source, &s));
    double error = rb_selection_get(s, 0, "entry_error");
    rb_selection_free(s);
    rb_options_free(options);
    return error;
}

/* Errors of entries are compared with the mean of their feature, wherever that is. */
static void entries_may_be_far_from_zero(void **state) {
    struct world *w = *state;
    double before = entry_error(w);
    assert_true(before > 0.1);
    for (int64_t i = 0; i < N; i++)
        w->values[i * M] += 64, w->values[i * M + M - 1] -= 64;
    assert_close(entry_error(w), before, 0.01);
    for (int64_t i = 0; i < N; i++)
        w->values[i * M] -= 64, w->values[i * M + M - 1] += 64;
}

/* ---- stable units, of fits made by hand ---- */

/* Unit 0 is a module, 1 background, 2 of one feature, 3 another in each fit, 4 of one sample,
 * 5 spare. */
static rb_bytes make(struct world *w, const select_plan *plan, int64_t fit, float sign) {
    enum { UNITS = 6 };
    select_outcome shape = {.units = UNITS, .living = UNITS, .features = M};
    int64_t size = rb_select_arrays_of(plan, &shape).size;
    select_outcome *o = rb_alloc_zero(w->ctx, size, 1);
    *o = shape;
    select_arrays a = rb_select_arrays_of(plan, o);
    for (int64_t j = 0; j < UNITS; j++) {
        int64_t at = j == 3 ? 60 + 10 * fit : 10 * j, place = j == 3 ? 44 + 4 * fit : 8 * j;
        int64_t samples = j == 4 ? 1 : 4, features = j == 2 ? 1 : 4;
        for (int64_t i = 0; i < samples; i++)
            a.codes[j * N + at + i] = sign / sqrtf((float)samples);
        for (int64_t k = 0; k < features; k++)
            a.loadings[j * M + place + k] = sign / sqrtf((float)features);
    }
    a.role[1] = RB_UNIT_BACKGROUND;
    a.role[5] = RB_UNIT_SPARE;
    return (rb_bytes){o, size};
}

static void take_made(struct world *w, select_plan *plan, int64_t fit, float sign) {
    assert_ok(w->ctx, rb_selection_take(w->ctx, fit, make(w, plan, fit, sign), plan));
}

/* A checkpoint that is not ours: the second of two fits has loadings, the first has none. */
static void fits_of_other_shapes_are_refused(void **state) {
    struct world *w = *state;
    int64_t units[] = {6};
    select_plan plan = {.units = units, .n_rows = 1, .fits = 2, .per_row = 2};
    plan.matrix = w->matrix;
    assert_ok(w->ctx, rb_selection_new(w->ctx, &plan, &plan.selection));
    for (int64_t fit = 0; fit < 2; fit++) {
        rb_bytes made = make(w, &plan, fit, 1);
        select_outcome *o = made.data;
        if (fit == 0) o->features = 0;
        made.size = rb_select_arrays_of(&plan, o).size;
        rb_error err = rb_selection_take(w->ctx, fit, made, &plan);
        assert_int_equal(err, fit == 0 ? RB_OK : RB_ERROR_FORMAT);
        if (fit == 1) rb_free(made.data);
    }
    assert_string_equal(rb_context_error(w->ctx),
                        "the checkpoint is damaged: a result is not that of a fit");
    rb_free(plan.selection->models[0].data);
    rb_selection_free(plan.selection);
}

static void counts_what_recurs(void **state) {
    struct world *w = *state;
    int64_t units[] = {6};
    select_plan plan = {.units = units, .n_rows = 1, .fits = 3, .per_row = 3};
    plan.matrix = w->matrix;
    assert_ok(w->ctx, rb_selection_new(w->ctx, &plan, &plan.selection));
    for (int64_t fit = 0; fit < 3; fit++)
        take_made(w, &plan, fit, 1);
    assert_int_equal(rb_selection_get(plan.selection, 0, "stable"), 1);
    assert_close(rb_selection_get(plan.selection, 0, "background"), 1, 1e-12);
    assert_close(rb_selection_get(plan.selection, 0, "match"), 3.0 / 4, 1e-6);
    for (int64_t fit = 0; fit < 3; fit++)
        rb_free(plan.selection->models[fit].data);
    rb_selection_free(plan.selection);
}

/* A unit is stable whose mean similarity to its like in the fits, itself included, is 0.85. */
static void stable_is_a_mean_similarity(void **state) {
    struct world *w = *state;
    int64_t units[] = {6};
    for (int stable = 0; stable < 2; stable++) {
        const float cosine = stable ? 0.79F : 0.77F; /* of loadings in two of three fits */
        select_plan plan = {.units = units, .n_rows = 1, .fits = 3, .per_row = 3};
        plan.matrix = w->matrix;
        assert_ok(w->ctx, rb_selection_new(w->ctx, &plan, &plan.selection));
        for (int64_t fit = 0; fit < 3; fit++) {
            rb_bytes made = make(w, &plan, fit, 1);
            float *loadings = rb_select_arrays_of(&plan, made.data).loadings;
            for (int k = 0; fit > 0 && k < 4; k++)
                loadings[k] *= cosine;
            if (fit > 0) loadings[40 + fit] = sqrtf(1 - cosine * cosine);
            assert_ok(w->ctx, rb_selection_take(w->ctx, fit, made, &plan));
        }
        assert_int_equal(rb_selection_get(plan.selection, 0, "stable"), stable);
        for (int64_t fit = 0; fit < 3; fit++)
            rb_free(plan.selection->models[fit].data);
        rb_selection_free(plan.selection);
    }
}

/* Where codes have signs, fits that differ in them alone are alike. */
static void signs_of_units_say_nothing(void **state) {
    struct world *w = *state;
    int64_t units[] = {6};
    for (int signs = 0; signs < 2; signs++) {
        select_plan plan = {.units = units, .n_rows = 1, .fits = 2, .per_row = 2, .signs = signs};
        plan.matrix = w->matrix;
        assert_ok(w->ctx, rb_selection_new(w->ctx, &plan, &plan.selection));
        for (int64_t fit = 0; fit < 2; fit++)
            take_made(w, &plan, fit, fit ? -1 : 1);
        double match = rb_selection_get(plan.selection, 0, "match");
        assert_true(signs ? fabs(match - 3.0 / 4) < 1e-6 : match < 0.1);
        for (int64_t fit = 0; fit < 2; fit++)
            rb_free(plan.selection->models[fit].data);
        rb_selection_free(plan.selection);
    }
}

/* ---- the rule, on tables made by hand ---- */

enum { ROWS = 5, SAMPLES = 12 };

/* Rows of 1 .. 5 units. */
static rb_selection *table(const double *held_out, const double *stable) {
    rb_selection *s = calloc(1, sizeof *s);
    s->n_rows = ROWS;
    s->folds = 4;
    s->n_samples = SAMPLES;
    s->fits = 4;
    s->row = -1;
    s->cells = calloc(ROWS * SELECT_COLUMNS, sizeof *s->cells);
    s->held_out = calloc(ROWS * SAMPLES, sizeof *s->held_out);
    s->left_out = calloc(SAMPLES, sizeof *s->left_out);
    for (int k = 0; k < ROWS; k++) {
        double *row = s->cells + k * SELECT_COLUMNS;
        row[SELECT_UNITS] = k + 1;
        row[SELECT_STABLE] = stable[k];
        for (int i = 0; i < SAMPLES; i++)
            s->held_out[k * SAMPLES + i] = held_out[k] + 5 * i + 0.01 * ((i * (k + 1)) % 3 - 1);
    }
    return s;
}

static void free_table(rb_selection *s) {
    free(s->cells);
    free(s->held_out);
    free(s->left_out);
    free(s);
}

static const double plateau[] = {-100, -60, -20, -19.9, -20.2}, two[] = {1, 2, 2, 2, 2};

/* The samples differ by far more than numbers do, which differ in each sample alike. */
static void compares_samples_with_themselves(void **state) {
    struct world *w = *state;
    rb_selection *s = table(plateau, two);
    assert_ok(w->ctx, rb_selection_choose(w->ctx, NULL, s));
    for (int k = 0; k < ROWS; k++)
        assert_true(s->cells[k * SELECT_COLUMNS + SELECT_HELD_OUT_SE] < 0.01);
    free_table(s);
}

/* The standard error of a mean difference, n - 1 in it; n: folds, if only their means are known. */
static void errors_are_of_means(void **state) {
    struct world *w = *state;
    for (int means = 0; means < 2; means++) {
        rb_selection *s = table((double[]){-100, -60, -20, -10, -30}, two);
        double mean = 0, squares = 0;
        s->means = means;
        for (int i = 0; i < SAMPLES; i++)
            s->held_out[2 * SAMPLES + i] += 2 * ((i * 5) % 7);
        assert_ok(w->ctx, rb_selection_choose(w->ctx, NULL, s));
        assert_int_equal(s->n_left_out, 0);
        const double *x = s->held_out + 2 * SAMPLES, *y = s->held_out + 3 * SAMPLES;
        for (int i = 0; i < SAMPLES; i++)
            mean += (x[i] - y[i]) / SAMPLES;
        for (int i = 0; i < SAMPLES; i++)
            squares += pow(x[i] - y[i] - mean, 2);
        assert_close(s->cells[2 * SELECT_COLUMNS + SELECT_HELD_OUT_SE],
                     sqrt(squares / SAMPLES / ((means ? 4 : SAMPLES) - 1)), 1e-9);
        free_table(s);
    }
}

/* A sample is left out beyond 6 standard deviations: 1.4826 times the median of the distances. */
static void far_is_in_standard_deviations(void **state) {
    struct world *w = *state;
    for (int far = 0; far < 2; far++) {
        rb_selection *s = table(plateau, two);
        for (int e = 0; e < ROWS * SAMPLES; e++) /* median 0, of the distances 2 */
            s->held_out[e] = 2 * (e % SAMPLES % 3 - 1);
        for (int k = 0; k < ROWS; k++)
            s->held_out[k * SAMPLES] = -6 * 1.4826 * 2 * (far ? 1.01 : 0.99);
        assert_ok(w->ctx, rb_selection_choose(w->ctx, NULL, s));
        assert_int_equal(s->n_left_out, far);
        free_table(s);
    }
}

static void one_bad_sample_decides_nothing(void **state) {
    struct world *w = *state;
    rb_selection *s = table(plateau, two);
    for (int k = 0; k < ROWS; k++)
        s->held_out[k * SAMPLES + 6] = -1e4 * (k + 1);
    assert_ok(w->ctx, rb_selection_choose(w->ctx, NULL, s));
    assert_true(s->cells[SELECT_HELD_OUT] > -200);
    assert_close(s->cells[3 * SELECT_COLUMNS + SELECT_HELD_OUT_SE], 0, 0);
    assert_non_null(strstr(s->reason, "leave out sample 6 (counted from 0), which no number"));
    free_table(s);
}

static void names_some_of_many_bad_samples(void **state) {
    struct world *w = *state;
    char texts[30][8];
    const char *names[30];
    static const float zeros[30];
    const rb_matrix x = {30, 1, RB_FLOAT32, false, zeros, 1, 1};
    rb_source *source;
    rb_selection *s = calloc(1, sizeof *s);
    double held_out[30] = {0}, cells[SELECT_COLUMNS] = {5, 2};
    bool left_out[30] = {0};
    for (int i = 0; i < 30; i++)
        held_out[i] = i < 7 ? -1000 : i % 3;
    *s = (rb_selection){.n_rows = 1, .folds = 3, .fits = 3, .cells = cells, .n_samples = 30};
    s->held_out = held_out;
    s->left_out = left_out;
    assert_ok(w->ctx, rb_selection_choose(w->ctx, NULL, s));
    assert_non_null(strstr(s->reason, "samples 0, 1, 2, 3, 4 and 2 more (counted from 0), which"));
    for (int i = 0; i < 30; i++) {
        snprintf(texts[i], sizeof texts[i], "cell%d", i);
        names[i] = texts[i];
    }
    *s->reason = 0;
    s->n_left_out = 0;
    assert_ok(w->ctx, rb_source_from_matrix(w->ctx, &x, &source));
    assert_ok(w->ctx, rb_source_set_sample_names(w->ctx, source, names, 30));
    assert_ok(w->ctx, rb_selection_choose(w->ctx, source, s));
    assert_non_null(strstr(s->reason, "samples cell0, cell1, cell2, cell3, cell4 and 2 more, "));
    rb_source_free(source);
    free(s);
}

/* Of 1 .. 5 units those from 2.5 on count: the median of what is stable there. */
static void check_rule(rb_context *ctx, const double *stable, const int64_t expected[4],
                       const char *says) {
    rb_selection *s = table(plateau, stable);
    assert_ok(ctx, rb_selection_choose(ctx, NULL, s));
    assert_int_equal(s->units, expected[0]);
    assert_int_equal(s->low, expected[1]);
    assert_int_equal(s->high, expected[2]);
    assert_int_equal(s->row, expected[3]);
    assert_non_null(strstr(s->reason, says));
    free_table(s);
}

static void picks_by_the_rule(void **state) {
    struct world *w = *state;
    check_rule(w->ctx, two, (int64_t[]){2, 2, 2, 2}, "2 units are stable: they recur");
    check_rule(w->ctx, (double[]){0, 0, 2, 1, 1}, (int64_t[]){1, 1, 2, 3},
               "1 unit is stable: it recurs");
    check_rule(w->ctx, (double[]){0, 0, 2, 1, 1}, (int64_t[]){1, 1, 2, 3},
               "1 to 2 by the number of units offered");
    check_rule(w->ctx, (double[]){1, 1, 0, 0, 1}, (int64_t[]){0, 0, 1, -1}, "nothing is stable");
    check_rule(w->ctx, (double[]){1, 1, 2, 3, 3}, (int64_t[]){3, 2, 3, 3},
               "others may be missing: try more than 5 units");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_planted_number),
        cmocka_unit_test(gives_the_same_bits_on_any_threads),
        cmocka_unit_test(the_scale_of_codes_does_not_matter),
        cmocka_unit_test(the_same_codes_match_wholly),
        cmocka_unit_test(signed_codes_have_no_role),
        cmocka_unit_test(neighbours_are_held_out_together),
        cmocka_unit_test(classes_are_held_out_in_part),
        cmocka_unit_test(more_units_explain_unseen_noise_worse),
        cmocka_unit_test(does_without_folds_or_pairs),
        cmocka_unit_test(fits_sparse_data_as_dense),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(compares_samples_with_themselves),
        cmocka_unit_test(counts_what_recurs),
        cmocka_unit_test(stable_is_a_mean_similarity),
        cmocka_unit_test(fits_of_other_shapes_are_refused),
        cmocka_unit_test(signs_of_units_say_nothing),
        cmocka_unit_test(names_some_of_many_bad_samples),
        cmocka_unit_test(one_bad_sample_decides_nothing),
        cmocka_unit_test(tells_the_likelihood_of_each_sample),
        cmocka_unit_test(counts_units_beyond_noise),
        cmocka_unit_test(noise_is_not_beyond_noise),
        cmocka_unit_test(picks_by_the_rule),
        cmocka_unit_test(held_out_is_of_a_sample),
        cmocka_unit_test(entries_may_be_far_from_zero),
        cmocka_unit_test(errors_are_of_means),
        cmocka_unit_test(far_is_in_standard_deviations),
    };
    return run_each(tests, sizeof tests / sizeof *tests, setup, teardown);
}
