/* What tests of devices need: one of OpenCL, opened once. pocl is enough: a device on the
 * processor. */
#ifndef DEVICE_FIXTURE_H
#define DEVICE_FIXTURE_H

#include "fixture.h"
#include "skip.h"
#include <rarebit/cl.h>
#include <rarebit/io.h>

#include <stdio.h>
#include <unistd.h>

#ifdef TEST_cl

static rb_device *device;

static inline void need_device(void) {
    char message[RB_DEVICE_MESSAGE];
    if (device) return;
    if (rb_cl_count() == 0) skip_without("no device of OpenCL", "pocl-opencl-icd");
    if (rb_cl_open("cl", &device, message)) fail_msg("%s", message);
}

/* Values of both models differ by at most that share of the largest one, or of 1. */
static inline void assert_same_array(const char *what, const char *name, const rb_model *model,
                                     const rb_model *other, double tolerance) {
    int64_t rows, columns;
    const double *x = rb_model_array(model, name, &rows, &columns);
    const double *y = fixture_array(other, name);
    double largest = 1;
    for (int64_t e = 0; e < rows * columns; e++)
        largest = fmax(largest, fabs(x[e]));
    for (int64_t e = 0; e < rows * columns; e++) {
        if (!(fabs(x[e] - y[e]) <= tolerance * largest)) {
            fail_msg("%s: %s %lld is %.9g on the processor, and %.9g on the device", what, name,
                     (long long)e, x[e], y[e]);
        }
    }
}

static inline rb_error stop_at_five(const rb_progress *progress, void *user) {
    (void)user;
    return progress->iteration == 5 ? RB_ERROR_INTERRUPTED : RB_OK;
}

/* A fit by fit_there that stops after five iterations here and goes on there. */
static inline rb_model *fit_on(struct fixture_problem *p, const void *c,
                               rb_model *(*fit)(rb_context *, const void *, rb_source *),
                               const rb_device *here, const rb_device *there) {
    char path[] = "/tmp/rarebit-device-XXXXXX";
    rb_checkpoint_options checkpoint = {path, "1000000"};
    close(mkstemp(path));
    remove(path);
    fixture_checkpoint = &checkpoint;
    assert_ok(p->ctx, rb_context_set_device(p->ctx, here));
    rb_context_on_progress(p->ctx, stop_at_five, NULL);
    rb_model_free(fit(p->ctx, c, p->source));
    rb_context_on_progress(p->ctx, NULL, NULL);
    assert_ok(p->ctx, rb_context_set_device(p->ctx, there));
    rb_model *model = fit(p->ctx, c, p->source);
    fixture_checkpoint = NULL;
    remove(path);
    return model;
}

#else

static inline void is_not_built(void **state) {
    (void)state;
    skip_without("built without librarebit-cl",
                 "ocl-icd-opencl-dev libclblast-dev pocl-opencl-icd");
}

#endif
#endif
