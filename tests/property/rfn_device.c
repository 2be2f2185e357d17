/* Whole fits on a device of OpenCL and on the processor: the same models, the same bits from run to
 * run, and a sentence for what a device does not do. pocl is enough: a device on the processor. */
#include "fixture.h"
#include "skip.h"
#include <rarebit/cl.h>

struct device_case {
    const char *name;
    int64_t n, m, units;
    int64_t iterations;
    bool newton;
    int normalize;
    double prior_mean, variance, sparse_loadings;
    int64_t newton_iterations;
};

static const struct device_case cases[] = {
    {.name = "newton", .n = 300, .m = 12, .units = 5, .newton = true},
    {.name = "newton, factored", .n = 30, .m = 70, .units = 6, .newton = true},
    {.name = "newton, more units", .n = 80, .m = 6, .units = 11, .newton = true},
    {.name = "newton, dead units", .n = 200, .m = 10, .units = 8, .newton = true, .prior_mean = -6},
    {.name = "newton, sd",
     .n = 150,
     .m = 10,
     .units = 4,
     .newton = true,
     .normalize = RB_RFN_NORMALIZE_SD},
    {.name = "newton, slices", .n = 5000, .m = 7, .units = 4, .newton = true, .iterations = 5},
    {.name = "cyclic", .n = 300, .m = 12, .units = 5},
    {.name = "cyclic, two groups", .n = 300, .m = 90, .units = 70, .iterations = 6},
    {.name = "cyclic, not normalised",
     .n = 150,
     .m = 10,
     .units = 4,
     .normalize = RB_RFN_NORMALIZE_NONE},
    {.name = "cyclic, prior", .n = 150, .m = 10, .units = 4, .prior_mean = -0.3, .variance = 2},
    {.name = "cyclic, dead units", .n = 200, .m = 10, .units = 8, .prior_mean = -6},
    {.name = "cyclic, sparse loadings",
     .n = 200,
     .m = 12,
     .units = 6,
     .sparse_loadings = 1.5,
     .prior_mean = -0.2,
     .iterations = 90},
    {.name = "cyclic, slices", .n = 5000, .m = 7, .units = 4, .iterations = 5},
    {.name = "newton, then cyclic", .n = 200, .m = 10, .units = 4, .newton_iterations = 5},
};
enum { CASES = sizeof cases / sizeof *cases };

static rb_device *device;

static rb_model *fit_case(rb_context *ctx, const struct device_case *c, rb_source *source) {
    rb_rfn_options options = fixture_rfn(c->units, c->normalize);
    rb_fit_options fit = fixture_fit(c->iterations ? c->iterations : 20, RB_FLOAT32);
    options.prior_mean.value = c->prior_mean;
    options.prior_covariance.value = c->variance > 0 ? c->variance : 1;
    options.sparse_loadings = c->sparse_loadings;
    options.estep = c->newton ? RB_RFN_ESTEP_NEWTON : RB_RFN_ESTEP_CYCLIC;
    options.newton_iterations = c->newton_iterations;
    rb_model *model;
    assert_ok(ctx,
              rb_fit(ctx, fixture_options(ctx, "rfn", &options, &fit, NULL), source, NULL, &model));
    return model;
}

static void assert_same(const struct device_case *c, const char *name, const rb_model *model,
                        const rb_model *other, double tolerance) {
    int64_t rows, columns;
    const double *x = rb_model_array(model, name, &rows, &columns);
    const double *y = fixture_array(other, name);
    for (int64_t e = 0; e < rows * columns; e++) {
        if (!(fabs(x[e] - y[e]) <= tolerance * fmax(1, fabs(x[e])))) {
            fail_msg("%s: %s %lld is %.9g on the processor, and %.9g on the device", c->name, name,
                     (long long)e, x[e], y[e]);
        }
    }
}

static void need_device(void) {
    char message[RB_DEVICE_MESSAGE];
    if (device) return;
    if (rb_cl_count() == 0) skip_without("no device of OpenCL", "pocl-opencl-icd");
    if (rb_cl_open(-1, &device, message)) fail_msg("%s", message);
}

static void device_agrees(void **state) {
    (void)state;
    need_device();
    for (int i = 0; i < CASES; i++) {
        const struct device_case *c = &cases[i];
        struct fixture_problem *p = fixture_problem(fixture_values(c->n, c->m, 3, 21), c->n, c->m);
        rb_model *cpu = fit_case(p->ctx, c, p->source);
        assert_ok(p->ctx, rb_context_set_device(p->ctx, device));
        rb_model *cl = fit_case(p->ctx, c, p->source), *again = fit_case(p->ctx, c, p->source);
        static const char *const names[] = {"loadings", "noise", "scale", "dead"};
        for (int a = 0; a < 4; a++) {
            assert_same(c, names[a], cpu, cl, 1e-4);
            assert_same(c, names[a], cl, again, 0);
        }
        assert_string_equal(rb_model_attribute(cl, "device"), device->name);
        if (!c->newton) assert_same(c, "multipliers", cpu, cl, 1e-3);
        rb_model_free(cpu);
        rb_model_free(cl);
        rb_model_free(again);
        fixture_teardown((void **)&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_agrees),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rb_cl_close(device);
    return failed;
}
