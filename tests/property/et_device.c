/* Expectation truncation on a device of OpenCL and on the processor: the same models, the same
 * bits from run to run, and a sentence for what a device does not do. */
#include "device_fixture.h"

#ifdef TEST_cl

struct et_case {
    const char *method;
    int64_t n, m, units;
    const char *options;
    int64_t iterations;
};

/* The last ones: sums in slices, several of the products; more units than items of a group. */
static const struct et_case cases[] = {
    {"linca", 200, 12, 6, "", 20},
    {"linca", 200, 12, 1, "sigma=1", 20},
    {"linca", 150, 10, 7, "candidates=4 max-active=2 singletons=no", 20},
    {"linca", 150, 10, 7, "learn-prior=true singletons=yes", 20},
    {"linca", 150, 10, 6, "prior-per-cause=true temperature=4:1", 20},
    {"linca", 150, 10, 6, "count=2", 20},
    {"linca", 150, 10, 5, "exact=true sigma=1", 20},
    {"linca", 150, 10, 6, "restarts=2 candidates=3", 20},
    {"nmf-et", 200, 12, 6, "", 20},
    {"nmf-et", 150, 10, 7, "candidates=4 anneal-prior=no learn-prior=true", 20},
    {"nmf-et", 150, 10, 6, "mstep=multiplicative negative=reflect", 20},
    {"mca", 200, 12, 6, "", 20},
    {"mca", 150, 10, 7, "candidates=4 max-active=4 learn-prior=true", 20},
    {"mca", 150, 10, 7, "prior-per-cause=true singletons=no", 20},
    {"mca", 150, 10, 6, "count=2", 20},
    {"nmf-et", 33000, 6, 4, "candidates=3", 1},
    {"mca", 33000, 6, 4, "candidates=3", 1},
    {"linca", 100, 20, 300, "sigma=1", 3},
};
enum { CASES = sizeof cases / sizeof *cases };

static double *values_of(const struct et_case *c, uint32_t seed) {
    double *values = fixture_values(c->n, c->m, 3, seed);
    for (int64_t e = 0; strcmp(c->method, "linca") != 0 && e < c->n * c->m; e++)
        values[e] = fabs(values[e]);
    return values;
}

static struct fixture_problem *problem_of(const struct et_case *c) {
    return fixture_problem(values_of(c, 21), c->n, c->m);
}

static rb_model *fit_case(rb_context *ctx, const void *which, rb_source *source) {
    const struct et_case *c = which;
    rb_options *options;
    rb_model *model;
    assert_ok(ctx, rb_options_new(ctx, c->method, &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "units=%d iterations=%d seed=3 %s",
                                      (int)c->units, (int)c->iterations, c->options));
    if (fixture_checkpoint)
        assert_ok(ctx, rb_options_set_all(ctx, options, "checkpoint=%s checkpoint-every=%s",
                                          fixture_checkpoint->checkpoint,
                                          fixture_checkpoint->checkpoint_every));
    assert_ok(ctx, rb_fit(ctx, options, source, NULL, &model));
    rb_options_free(options);
    return model;
}

static const char *name_of(const struct et_case *c) {
    static char name[128];
    snprintf(name, sizeof name, "%s %s", c->method, c->options);
    return name;
}

static void device_agrees(void **state) {
    (void)state;
    static const char *const names[] = {"loadings", "sigma", "prior",
                                        "dead",     "used",  "log_likelihood"};
    need_device();
    for (int i = 0; i < CASES; i++) {
        const struct et_case *c = &cases[i];
        struct fixture_problem *p = problem_of(c);
        rb_model *cpu = fit_case(p->ctx, c, p->source);
        assert_ok(p->ctx, rb_context_set_device(p->ctx, device));
        rb_model *cl = fit_case(p->ctx, c, p->source), *again = fit_case(p->ctx, c, p->source);
        for (int a = 0; a < 6; a++) {
            assert_same_array(name_of(c), names[a], cpu, cl, 1e-4);
            assert_same_array(name_of(c), names[a], cl, again, 0);
        }
        assert_string_equal(rb_model_attribute(cl, "device"), device->name);
        rb_model_free(cpu);
        rb_model_free(cl);
        rb_model_free(again);
        fixture_teardown((void **)&p);
    }
}

/* ---- codes ---- */

static void encode(struct fixture_problem *p, const rb_model *model, float *codes) {
    int64_t l = rb_model_units(model);
    assert_ok(p->ctx, rb_encode_into(p->ctx, model, p->source, RB_FLOAT32, codes, l, 1));
}

/* Of new samples: those of the processor but for rounding, with the same support, and the same bits
 * each time. */
static void codes_agree(void **state) {
    (void)state;
    static float here[30000], there[30000], again[30000];
    need_device();
    for (int i = 0; i < CASES; i++) {
        const struct et_case *c = &cases[i];
        if (c->n > 300) continue;
        struct fixture_problem *p = problem_of(c);
        struct fixture_problem *other = fixture_problem(values_of(c, 22), c->n, c->m);
        rb_model *model = fit_case(p->ctx, c, p->source);
        encode(other, model, here);
        assert_ok(other->ctx, rb_context_set_device(other->ctx, device));
        encode(other, model, there);
        encode(other, model, again);
        for (int64_t e = 0; e < c->n * c->units; e++) {
            double a = (double)here[e], b = (double)there[e];
            if (!(fabs(a - b) < 1e-4) || (a == 0 && b > 1e-6) || (b == 0 && a > 1e-6))
                fail_msg("%s: code %lld is %.9g on the processor, and %.9g on the device",
                         name_of(c), (long long)e, a, b);
        }
        assert_memory_equal(there, again, (size_t)(c->n * c->units) * sizeof *there);
        rb_model_free(model);
        fixture_teardown((void **)&p);
        fixture_teardown((void **)&other);
    }
}

/* ---- samples that do not fit ---- */

static rb_error open_if_it_streams(const rb_device *of, const rb_device_shape *shape,
                                   rb_device_work **work) {
    rb_error err = device->open(of, shape, work);
    return shape->streams ? err : RB_ERROR_MEMORY;
}

/* Three blocks, of which one goes up while the one before is worked on. */
static void samples_stream(void **state) {
    (void)state;
    static const struct et_case kinds[] = {{"nmf-et", 33001, 6, 4, "candidates=3", 2},
                                           {"mca", 33001, 6, 4, "candidates=3", 2}};
    need_device();
    rb_device small = *device;
    small.open = open_if_it_streams;
    for (int i = 0; i < 2; i++) {
        const struct et_case *c = &kinds[i];
        struct fixture_problem *p = problem_of(c);
        assert_ok(p->ctx, rb_context_set_device(p->ctx, device));
        rb_model *kept = fit_case(p->ctx, c, p->source);
        assert_ok(p->ctx, rb_context_set_device(p->ctx, &small));
        rb_model *model = fit_case(p->ctx, c, p->source), *again = fit_case(p->ctx, c, p->source);
        assert_non_null(strstr(rb_model_attribute(model, "device_traffic"), "0 MB once"));
        assert_same_array(name_of(c), "loadings", kept, model, 1e-4);
        assert_same_array(name_of(c), "log_likelihood", kept, model, 1e-4);
        assert_same_array(name_of(c), "loadings", model, again, 0);
        rb_model_free(kept);
        rb_model_free(model);
        rb_model_free(again);
        fixture_teardown((void **)&p);
    }
}

/* Once the samples are there: parameters go up; sums come down, and two numbers per sample. */
static void samples_go_up_once(void **state) {
    (void)state;
    static const struct et_case kinds[] = {{"linca", 3000, 20, 5, "sigma=1 cut-factor=0.5", 20},
                                           {"mca", 3000, 20, 5, "sigma=1 cut-factor=0.5", 20}};
    need_device();
    for (int i = 0; i < 2; i++) {
        const struct et_case *c = &kinds[i];
        struct fixture_problem *p = problem_of(c);
        double n = (double)c->n, m = (double)c->m, l = (double)c->units, once, each;
        assert_ok(p->ctx, rb_context_set_device(p->ctx, device));
        rb_model *model = fit_case(p->ctx, c, p->source);
        const char *traffic = rb_model_attribute(model, "device_traffic");
        assert_int_equal(sscanf(traffic, "%lf MB once, %lf MB", &once, &each), 2);
        assert_close(once, 3000 * 20 * 4e-6, 1e-2);
        assert_true(each <= 1e-6 * (4 * (3 * m * l + 2 * l * l + 6 * l) + 9 * n));
        rb_model_free(model);
        fixture_teardown((void **)&p);
    }
}

/* ---- what it does not do ---- */

static void device_refuses(void **state) {
    (void)state;
    static const char *const refused[][3] = {
        {"linca", "precision=float64", "precision=float64"},
        {"linca", "missing=omit", "missing=mean"},
        {"linca", "trace=true", "trace"},
        {"nmf-et", "noise=poisson", "Gaussian noise"},
        {"linca", "values=0,1,2", "values"},
        {"linca", "selection=cosine", "selection=joint"},
        {"mca", "as-printed=true", "selection=joint"},
        {"linca", "region=1", "region"},
        {"linca", "max-active-limit=4", "max-active-limit"},
        {"linca", "units=70 candidates=65 max-active=1", "64 candidates"},
        {"ssc", "", "'ssc' does not run on a device"},
    };
    need_device();
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct fixture_problem *p = fixture_problem(fixture_values(60, 8, 2, 3), 60, 8);
        for (int e = 0; e < 60 * 8; e++)
            p->values[e] = fabs(p->values[e]);
        if (strstr(refused[i][1], "missing")) p->values[3] = NAN;
        rb_options *options;
        rb_model *model;
        assert_ok(p->ctx, rb_context_set_device(p->ctx, device));
        assert_ok(p->ctx, rb_options_new(p->ctx, refused[i][0], &options));
        assert_ok(p->ctx, rb_options_set_all(p->ctx, options, "%s", refused[i][1]));
        assert_error(p->ctx, rb_fit(p->ctx, options, p->source, NULL, &model), RB_ERROR_UNSUPPORTED,
                     refused[i][2]);
        assert_null(model);
        rb_options_free(options);
        fixture_teardown((void **)&p);
    }
}

/* Values that float32 does not hold are told as on the processor. */
static void evidence_must_be_finite(void **state) {
    (void)state;
    const struct et_case c = {"linca", 60, 8, 2, "", 3};
    need_device();
    struct fixture_problem *p = problem_of(&c);
    rb_options *options;
    rb_model *model;
    for (int64_t e = 0; e < c.n * c.m; e++)
        p->values[e] *= 1e25;
    assert_ok(p->ctx, rb_context_set_device(p->ctx, device));
    assert_ok(p->ctx, rb_options_new(p->ctx, "linca", &options));
    assert_error(p->ctx, rb_fit(p->ctx, options, p->source, NULL, &model), RB_ERROR_NUMERIC,
                 "scale the data");
    rb_options_free(options);
    fixture_teardown((void **)&p);
}

/* ---- checkpoints ---- */

static void checkpoints_go_on_elsewhere(void **state) {
    (void)state;
    need_device();
    for (int i = 0; i < CASES; i += 4) {
        if (cases[i].n > 300) continue;
        const struct et_case *c = &cases[i];
        struct fixture_problem *p = problem_of(c);
        rb_model *cpu = fit_case(p->ctx, c, p->source);
        rb_model *on_cpu = fit_on(p, c, fit_case, device, NULL);
        rb_model *on_device = fit_on(p, c, fit_case, NULL, device);
        rb_model *same = fit_on(p, c, fit_case, device, device);
        assert_ok(p->ctx, rb_context_set_device(p->ctx, device));
        rb_model *cl = fit_case(p->ctx, c, p->source);
        assert_same_array(name_of(c), "loadings", cpu, on_cpu, 1e-4);
        assert_same_array(name_of(c), "loadings", cpu, on_device, 1e-4);
        assert_same_array(name_of(c), "loadings", cl, same, 0);
        rb_model *const models[] = {cpu, on_cpu, on_device, same, cl};
        for (int m = 0; m < 5; m++)
            rb_model_free(models[m]);
        fixture_teardown((void **)&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_agrees),
        cmocka_unit_test(codes_agree),
        cmocka_unit_test(samples_stream),
        cmocka_unit_test(samples_go_up_once),
        cmocka_unit_test(device_refuses),
        cmocka_unit_test(evidence_must_be_finite),
        cmocka_unit_test(checkpoints_go_on_elsewhere),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rb_cl_close(device);
    return failed;
}

#else

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(is_not_built)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
