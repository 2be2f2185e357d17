/* What rb_evaluate and rb_fit say of codes that are not as sparse as they should be. */
#include "../fixture.h"

#include <stdio.h>

enum { N = 40, M = 12 };

struct log {
    char text[4096];
};

static void note(rb_log_level level, const char *message, void *user) {
    struct log *log = user;
    if (level == RB_LOG_WARNING) {
        size_t used = strlen(log->text);
        snprintf(log->text + used, sizeof log->text - used, "%s\n", message);
    }
}

/* Blocks of 10 samples, each with 3 features of its own; the last block is all but 0. */
static double *block_values(void) {
    double *values = fixture_values(N, M, 0, 1);
    for (int64_t i = 0; i < N; i++) {
        for (int64_t k = 0; k < M; k++) {
            bool own = k / 3 == i / 10 && i < 30;
            values[i * M + k] = 0.01 * values[i * M + k] + (own ? 5 : 0);
        }
    }
    return values;
}

struct setting {
    rb_context *ctx;
    double *values;
    rb_source *source;
    struct log log;
};

static void begin(struct setting *s) {
    *s = (struct setting){.ctx = fixture_context(), .values = block_values()};
    s->source = fixture_data(s->ctx, s->values, N, M);
    rb_context_on_log(s->ctx, note, &s->log);
}

static void end(struct setting *s) {
    rb_source_free(s->source);
    free(s->values);
    rb_context_free(s->ctx);
}

/* A model of the paper's kind, whose loadings and scales the tests then set. */
static rb_model *plain_model(struct setting *s, int64_t units) {
    rb_rfn_options options = fixture_rfn(units, RB_RFN_NORMALIZE_NONE);
    rb_fit_options fit = fixture_fit(1, RB_FLOAT64);
    rb_preprocess_options preprocess;
    rb_preprocess_options_default(&preprocess);
    preprocess.centre = RB_CENTRE_NONE;
    return fixture_model(s->ctx, "rfn", &options, &fit, &preprocess, s->source, NULL);
}

static double *array_of(rb_model *model, const char *name) {
    return (double *)rb_model_array(model, name, NULL, NULL);
}

/* unit_of[k]: the unit whose loading of feature k is 1; below 0: none. */
static void set_loadings(rb_model *model, const int *unit_of, double value) {
    int64_t l = rb_model_units(model);
    double *w = array_of(model, "loadings"), *noise = array_of(model, "noise");
    for (int64_t k = 0; k < M; k++) {
        noise[k] = 0.01;
        for (int64_t j = 0; j < l; j++)
            w[k * l + j] = unit_of[k] == j ? value : 0;
    }
}

static rb_evaluation evaluate(struct setting *s, rb_model *model) {
    rb_evaluation e;
    s->log.text[0] = '\0';
    assert_ok(s->ctx, fixture_evaluate(s->ctx, model, s->source, &e));
    return e;
}

static void says(const struct setting *s, const char *words) {
    if (!strstr(s->log.text, words)) fail_msg("'%s' is not in: %s", words, s->log.text);
}

static void samples_without_a_unit(void **state) {
    (void)state;
    static const int own[M] = {0, 0, 0, 1, 1, 1, 2, 2, 2, -1, -1, -1};
    struct setting s;
    begin(&s);
    for (int i = 30 * M; i < N * M; i++)
        s.values[i] = -1; /* no loading explains them with a code above 0 */
    rb_model *model = plain_model(&s, 3);
    set_loadings(model, own, 1);
    rb_evaluation e = evaluate(&s, model);
    assert_int_equal(e.codes.samples, N);
    assert_int_equal(e.codes.empty, 10);
    says(&s, "25 % of the samples have no active unit");
    rb_model_free(model);
    end(&s);
}

static void units_that_are_all_dead(void **state) {
    (void)state;
    struct setting s;
    begin(&s);
    for (int i = 0; i < N * M; i++)
        s.values[i] = 0;
    rb_model *model =
        fixture_text_model(s.ctx, "linca", s.source, NULL, "units=3 iterations=20 seed=1");
    says(&s, "every unit is dead");
    rb_model_free(model);
    end(&s);
}

static void samples_with_all_units(void **state) {
    (void)state;
    static const int own[M] = {0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5};
    struct setting s;
    begin(&s);
    for (int i = 0; i < N * M; i++)
        s.values[i] = i / M < 20 ? 3 : s.values[i];
    rb_model *model = plain_model(&s, 6);
    set_loadings(model, own, 1);
    rb_evaluation e = evaluate(&s, model);
    assert_true(e.codes.full >= 20);
    says(&s, "of the samples nine in ten units");
    rb_model_free(model);
    end(&s);
}

static void units_that_are_the_same(void **state) {
    (void)state;
    static const int own[M] = {0, 0, 0, 1, 1, 1, -1, -1, -1, -1, -1, -1};
    struct setting s;
    begin(&s);
    rb_model *model = plain_model(&s, 3);
    set_loadings(model, own, 1);
    double *w = array_of(model, "loadings");
    for (int64_t k = 0; k < M; k++)
        w[k * 3 + 2] = w[k * 3 + 1];
    rb_evaluation e = evaluate(&s, model);
    assert_int_equal(e.codes.duplicates, 1);
    assert_int_equal(e.codes.duplicate[0], 1);
    assert_int_equal(e.codes.duplicate[1], 2);
    says(&s, "1 unit is nearly the same as another one (the first: 1 and 2)");
    rb_model_free(model);
    end(&s);
}

/* Samples that lie in blocks, one unit each: nothing to say. */
static void nothing_wrong(void **state) {
    (void)state;
    static const int own[M] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
    struct setting s;
    begin(&s);
    for (int64_t i = 30; i < N; i++)
        for (int64_t k = 9; k < M; k++)
            s.values[i * M + k] = 5;
    rb_model *model = plain_model(&s, 4);
    set_loadings(model, own, 1);
    rb_evaluation e = evaluate(&s, model);
    assert_int_equal(e.codes.empty + e.codes.full + e.codes.duplicates, 0);
    assert_string_equal(s.log.text, "");
    rb_model_free(model);
    end(&s);
}

/* The objective of newton on these data leaves its best far behind. */
static void an_end_below_the_best(void **state) {
    (void)state;
    struct setting s;
    begin(&s);
    rb_model *model = plain_model(&s, 2);
    assert_ok(s.ctx, rb_model_set_attribute(s.ctx, model, "best_iteration", "1"));
    evaluate(&s, model);
    says(&s, "below the");
    rb_model_free(model);
    end(&s);
}

/* Of many samples a part is looked at, spread over all. */
static void many_samples_are_sampled(void **state) {
    (void)state;
    enum { MANY = 50000 };
    struct setting s;
    begin(&s);
    double *values = calloc((size_t)MANY * M, sizeof *values);
    for (int64_t i = 0; i < MANY; i++)
        for (int64_t k = 0; k < M; k++)
            values[i * M + k] = i % 4 == 0 ? -1 : k / 6 == i % 2 ? 5 : 0;
    static const int own[M] = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1};
    rb_model *model = plain_model(&s, 2);
    set_loadings(model, own, 1);
    rb_source *source = fixture_data(s.ctx, values, MANY, M);
    rb_evaluation e;
    assert_ok(s.ctx, fixture_evaluate(s.ctx, model, source, &e));
    assert_true(e.codes.samples <= 20000 && e.codes.samples > 15000);
    assert_close((double)e.codes.empty / (double)e.codes.samples, 0.25, 0.01);
    rb_source_free(source);
    free(values);
    rb_model_free(model);
    end(&s);
}

/* Codes that overflow are an error, and no figures are made of them. */
static void codes_that_overflow(void **state) {
    (void)state;
    struct setting s;
    begin(&s);
    for (int64_t e = 0; e < N * M; e++)
        s.values[e] *= 1e-3; /* so that codes are large */
    for (int method = 0; method < 2; method++) {
        rb_metrics *metrics;
        double *large = block_values();
        for (int64_t e = 0; e < N * M; e++)
            large[e] *= 6.5e37;
        rb_source *source = fixture_data(s.ctx, large, N, M);
        rb_model *model =
            fixture_text_model(s.ctx, method ? "pca" : "rfn", s.source, NULL, "units=2 seed=1");
        assert_error(s.ctx, rb_evaluate(s.ctx, model, source, &metrics), RB_ERROR_NUMERIC,
                     "the codes of sample ");
        assert_null(metrics);
        rb_model_free(model);
        rb_source_free(source);
        free(large);
    }
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_that_overflow),     cmocka_unit_test(units_that_are_all_dead),
        cmocka_unit_test(samples_without_a_unit),  cmocka_unit_test(samples_with_all_units),
        cmocka_unit_test(units_that_are_the_same), cmocka_unit_test(nothing_wrong),
        cmocka_unit_test(an_end_below_the_best),   cmocka_unit_test(many_samples_are_sampled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
