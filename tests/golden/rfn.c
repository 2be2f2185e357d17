/* Golden cases of RFN: newton iterations in float64, computed by an independent program
 * (tests/golden/rfn, JSON). Tolerance 1e-7 relative; on a device, which computes in float32,
 * 1e-4. */
#include "device_fixture.h"
#include "rfn_pass.h"

#include <glob.h>
#include <jansson.h>
#include <math.h>

enum { MAX = 20 * 15 };

struct golden {
    json_t *root;
    int64_t n, m, l, iterations;
    double v[MAX], w0[MAX], psi0[MAX];
};

static double number(const json_t *root, const char *name) {
    const json_t *value = json_object_get(root, name);
    assert_non_null(value);
    return json_number_value(value);
}

/* A list, or a list of lists, row after row; returns how many numbers. */
static int64_t flatten(const json_t *list, double *out) {
    int64_t count = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        if (json_is_array(item))
            count += flatten(item, out + count);
        else
            out[count++] = json_number_value(item);
    }
    return count;
}

static double tolerance = 1e-7;

static void assert_near(double got, double expected, const char *what) {
    if (!(fabs(got - expected) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("%s is %.12g, expected %.12g", what, got, expected);
}

static void assert_array(const json_t *root, const char *name, rb_dense got) {
    double expected[MAX];
    assert_int_equal(flatten(json_object_get(root, name), expected), got.rows * got.cols);
    for (int64_t i = 0; i < got.rows; i++)
        for (int64_t j = 0; j < got.cols; j++)
            assert_near(rb_dense_get(got, i, j), expected[i * got.cols + j], name);
}

static void load(const char *path, struct golden *g) {
    g->root = json_load_file(path, 0, NULL);
    assert_non_null(g->root);
    g->n = (int64_t)number(g->root, "n");
    g->m = (int64_t)number(g->root, "m");
    g->l = (int64_t)number(g->root, "l");
    g->iterations = (int64_t)number(g->root, "iters");
    assert_int_equal(flatten(json_object_get(g->root, "V"), g->v), g->n * g->m);
    assert_int_equal(flatten(json_object_get(g->root, "W0"), g->w0), g->m * g->l);
    assert_int_equal(flatten(json_object_get(g->root, "Psi0"), g->psi0), g->m);
}

static rb_rfn_options options_of(const struct golden *g) {
    rb_rfn_options options;
    rb_rfn_options_default(&options);
    fixture_preset("paper", &options, NULL);
    options.units = g->l;
    options.eta = number(g->root, "eta");
    options.psi_min = number(g->root, "psi_min");
    options.prior_mean.value = number(g->root, "xi");
    rb_context *ctx;
    assert_int_equal(rb_context_new(&ctx), RB_OK);
    const char *norm = json_string_value(json_object_get(g->root, "norm"));
    assert_int_equal(rb_rows_set(ctx, rfn_option_rows, &options, "normalize", norm), RB_OK);
    rb_context_free(ctx);
    return options;
}

/* Starts a fit with the parameters of the case. */
static void start(rb_context *ctx, const struct golden *g, const rb_fit_options *fit,
                  const rb_rfn_options *options, rfn_steps *steps) {
    rb_problem problem = {.n_samples = g->n,
                          .n_features = g->m,
                          .type = (rb_type)fit->precision,
                          .block_samples = g->n,
                          .device = ctx->device,
                          .fit = fit};
    rfn_steps_new(ctx, problem, options, steps);
    rfn_parameters *parameters = &steps->fit->parameters;
    for (int64_t k = 0; k < g->m; k++) {
        parameters->noise[k] = g->psi0[k];
        for (int64_t j = 0; j < g->l; j++)
            rb_dense_set(parameters->loadings, k, j, g->w0[k * g->l + j]);
    }
}

/* The last E-step: its codes (of the block, before scaling), mu_p = V B + bias, and Sigma. */
static void assert_estep(const struct golden *g, const rfn_fit *st, rb_dense v) {
    const rfn_cpu *engine = st->engine;
    double mu[MAX], mu_p[MAX];
    for (int64_t i = 0; i < g->n; i++) {
        for (int64_t j = 0; j < g->l; j++) {
            double sum = rb_get(RB_FLOAT64, st->posterior.bias, j);
            for (int64_t k = 0; k < g->m; k++)
                sum += rb_dense_get(v, i, k) * rb_dense_get(st->posterior.filter, k, j);
            mu_p[i * g->l + j] = sum;
            double code = rb_dense_get(engine->block.codes, i, j) / st->progress.scale[j];
            if (!st->progress.alive[j] && st->setup.options.normalize == RB_RFN_NORMALIZE_RMS)
                code = st->sums.place[j] == i ? sqrt((double)g->n) : 0;
            mu[i * g->l + j] = code;
        }
    }
    assert_array(g->root, "mu", (rb_dense){mu, g->n, g->l, g->l, RB_FLOAT64});
    assert_array(g->root, "mu_p", (rb_dense){mu_p, g->n, g->l, g->l, RB_FLOAT64});
    assert_array(g->root, "Sigma", st->posterior.sigma);
}

/* On the device, if there is one. */
static void check(const char *path, const rb_device *on) {
    struct golden g;
    load(path, &g);
    rb_context *ctx = fixture_context();
    rb_fit_options fit = fixture_fit(1, on ? RB_FLOAT32 : RB_FLOAT64);
    float rows[MAX];
    assert_ok(ctx, rb_context_set_device(ctx, on));
    fit.trace = !on;
    rb_rfn_options options = options_of(&g);
    rfn_steps steps;
    start(ctx, &g, &fit, &options, &steps);
    rfn_fit *st = steps.fit;
    rb_block block = {
        .n_samples = g.n, .n_features = g.m, .dense = {g.v, g.n, g.m, g.m, RB_FLOAT64}};
    if (on) block.dense = (rb_dense){rows, g.n, g.m, g.m, RB_FLOAT32};
    for (int64_t e = 0; e < g.n * g.m; e++)
        rows[e] = (float)g.v[e];
    rfn_steps_survey(ctx, &steps, &block);
    for (int64_t t = 0; t < g.iterations; t++) {
        double f, o;
        bool again;
        rfn_steps_clear(&steps, RB_PART_SUMS);
        assert_int_equal(rb_method_rfn.begin(ctx, st), RB_OK);
        assert_int_equal(rb_method_rfn.block(ctx, st, &block), RB_OK);
        assert_int_equal(rb_method_rfn.group_end(ctx, st), RB_OK);
        assert_int_equal(rb_method_rfn.end(ctx, st, &again), RB_OK);
        if (t + 1 == g.iterations && !on) assert_estep(&g, st, block.dense);
        assert_int_equal(rfn_mstep(ctx, st), RB_OK);
        rfn_objective(st, &f, &o);
        size_t at = (size_t)t;
        assert_near(f, json_number_value(json_array_get(json_object_get(g.root, "F_after_M"), at)),
                    "F");
        if (!on)
            assert_near(o, json_number_value(json_array_get(json_object_get(g.root, "O"), at)),
                        "O");
    }
    assert_array(g.root, "W", st->parameters.loadings);
    assert_array(g.root, "Psi", (rb_dense){st->parameters.noise, g.m, 1, 1, RB_FLOAT64});
    rfn_steps_free(&steps);
    rb_context_free(ctx);
    json_decref(g.root);
}

/* In float32 the processor ends 0.009 away, too. */
static const char beyond_floats[] = "g_n20m10l15_none_eta1_xi0_it10.json";

static void check_all(const rb_device *on) {
    glob_t found;
    assert_int_equal(glob(TEST_DATA "/golden/rfn/*.json", 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 40);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *name = strrchr(found.gl_pathv[i], '/') + 1;
        if (on && strcmp(name, beyond_floats) == 0) continue;
        print_message("%s\n", name);
        check(found.gl_pathv[i], on);
    }
    globfree(&found);
}

static void golden_cases(void **state) {
    (void)state;
    check_all(NULL);
}

#ifdef TEST_cl

static void golden_cases_on_a_device(void **state) {
    (void)state;
    need_device();
    tolerance = 1e-4;
    check_all(device);
    rb_cl_close(device);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden_cases),
#ifdef TEST_cl
                                       cmocka_unit_test(golden_cases_on_a_device)
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
