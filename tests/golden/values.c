/* Golden cases of causes with several values: one iteration in float64, computed by a program that
 * enumerates states (values.py). Tolerance 1e-9. */
#include "et_fixture.h"

#include <glob.h>
#include <jansson.h>
#include <stdio.h>

static const json_t *member(const json_t *root, const char *name) {
    const json_t *value = json_object_get(root, name);
    if (!value) fail_msg("there is no %s", name);
    return value;
}

static double number(const json_t *root, const char *name) {
    return json_number_value(member(root, name));
}

static double at(const json_t *list, int64_t i) {
    const json_t *value = json_array_get(list, (size_t)i);
    assert_non_null(value);
    return json_number_value(value);
}

static double at2(const json_t *root, const char *name, int64_t i, int64_t j) {
    return at(json_array_get(member(root, name), (size_t)i), j);
}

/* "0,1,2.5" */
static void write_values(const json_t *values, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "0");
    for (size_t a = 0; a < json_array_size(values); a++)
        used += (size_t)snprintf(text + used, size - used, ",%g", at(values, (int64_t)a));
}

static rb_et_options options_of(const json_t *root, const char *values) {
    rb_et_options options;
    rb_et_options_default(&options);
    options.units = (int64_t)number(root, "H");
    options.candidates = (int64_t)number(root, "Hprime");
    options.max_active = (int64_t)number(root, "gamma");
    options.values = values;
    options.learn_prior = true;
    options.weight_noise = 0;
    options.cut_factor = 1e9;
    bool poisson = strcmp(json_string_value(member(root, "noise")), "poisson") == 0;
    options.noise = poisson ? RB_ET_POISSON : RB_ET_GAUSSIAN;
    options.learn_sigma = !poisson;
    return options;
}

static void set_parameters(const json_t *root, et_parameters *p) {
    int64_t values = (int64_t)json_array_size(member(root, "values")), units = p->fields.rows;
    p->sigma = number(root, "sigma");
    for (int64_t h = 0; h < units; h++) {
        p->prior[h] = 0;
        for (int64_t a = 0; a < values; a++)
            p->prior[h] += at2(root, "value_prior", a, h);
        for (int64_t a = 0; a < values; a++)
            p->shares[a * units + h] = at2(root, "value_prior", a, h) / p->prior[h];
        for (int64_t d = 0; d < p->fields.cols; d++)
            rb_dense_set(p->fields, h, d, at2(root, "W", h, d));
    }
}

static void check_case(rb_context *ctx, const json_t *root) {
    const json_t *out = member(root, "out");
    char values[64];
    write_values(member(root, "values"), values, sizeof values);
    struct fitted f = {.fit = fixture_fit(1, RB_FLOAT64), .options = options_of(root, values)};
    int64_t n = (int64_t)number(root, "N"), d = (int64_t)number(root, "D");
    f.y = calloc((size_t)(n * d), sizeof *f.y);
    for (int64_t i = 0; i < n * d; i++)
        f.y[i] = at2(root, "Y", i / d, i % d);
    f.block = (rb_block){.n_samples = n, .n_features = d, .dense = {f.y, n, d, d, RB_FLOAT64}};
    rb_problem problem = {.n_samples = n,
                          .own = n,
                          .n_features = d,
                          .type = RB_FLOAT64,
                          .block_samples = n,
                          .fit = &f.fit,
                          .method = method_of(json_string_value(member(root, "model"))),
                          .engine = &et_engine_cpu};
    void *state;
    assert_ok(ctx, et_start(ctx, &problem, &f.options, NULL, &state));
    f.state = state;
    assert_ok(ctx, et_survey_block(ctx, f.state, &f.block));
    assert_ok(ctx, et_survey_end(ctx, f.state));
    et_parameters *p = &f.state->parameters;
    set_parameters(root, p);
    f.state->plan.schedule.start = f.state->plan.schedule.end = 1 / number(root, "beta");
    f.state->progress.iteration = 1;
    run_estep(ctx, &f);
    const et_results *r = results_of(f.state);
    for (int64_t i = 0; i < n; i++) {
        near(r->evidence[i], at(member(out, "log_evidence"), i), "log evidence");
        for (int64_t h = 0; h < p->fields.rows; h++)
            near(rb_dense_get(r->mean, i, h), at2(out, "mean_s", i, h), "mean");
    }
    assert_ok(ctx, et_mstep(ctx, f.state));
    near(p->sigma, number(out, "sigma_new"), "sigma");
    for (int64_t h = 0; h < p->fields.rows; h++)
        for (int64_t k = 0; k < d; k++)
            near(rb_dense_get(p->fields, h, k), at2(out, "W_new", h, k), "field");
    for (int64_t a = 0; a < f.state->plan.setup.values.count; a++)
        near(p->prior[0] * p->shares[a * p->fields.rows], at(member(out, "value_prior_new"), a),
             "prior of a value");
    end_setting(&f);
}

static void golden_cases(void **state) {
    (void)state;
    glob_t found;
    rb_context *ctx = fixture_context();
    assert_int_equal(glob(TEST_DATA "/golden/values/*.json", 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 12);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        print_message("%s\n", strrchr(found.gl_pathv[i], '/') + 1);
        json_t *root = json_load_file(found.gl_pathv[i], 0, NULL);
        assert_non_null(root);
        check_case(ctx, root);
        json_decref(root);
    }
    globfree(&found);
    rb_context_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
