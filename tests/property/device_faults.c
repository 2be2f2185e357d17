/* A device that fails: from the n-th call on it is lost, or has no memory left, or its driver does
 * not compile. The fit ends with one sentence that names the device, gives back what it took, and
 * its checkpoint goes on on the processor.
 *
 * The functions of OpenCL below are found before those of its library, by librarebit-cl as by
 * CLBlast: a program's own functions are, where a library that it links asks for them. */
#include "device_fixture.h"

#ifdef TEST_cl

#pragma GCC visibility push(default)
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#pragma GCC visibility pop
#include <dlfcn.h>
#include <limits.h>

static int calls, last_good, buffers;

/* The function of the library; and may this call still be made? */
static void *real(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

static bool is_lost(void) {
    return ++calls > last_good;
}

static cl_int fault = CL_DEVICE_NOT_AVAILABLE;
static bool compiles = true;

#pragma GCC visibility push(default)

cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host,
                      cl_int *code) {
    cl_mem (*function)(cl_context, cl_mem_flags, size_t, void *, cl_int *);
    *(void **)&function = real("clCreateBuffer");
    if (is_lost()) {
        *code = fault;
        return NULL;
    }
    buffers++;
    return function(context, flags, size, host, code);
}

cl_int clReleaseMemObject(cl_mem buffer) {
    cl_int (*function)(cl_mem);
    *(void **)&function = real("clReleaseMemObject");
    buffers--;
    return function(buffer);
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *code) {
    cl_kernel (*function)(cl_program, const char *, cl_int *);
    *(void **)&function = real("clCreateKernel");
    if (!is_lost()) return function(program, name, code);
    *code = fault;
    return NULL;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint waits, const cl_event *events, cl_event *event) {
    cl_int (*function)(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                       const size_t *, cl_uint, const cl_event *, cl_event *);
    *(void **)&function = real("clEnqueueNDRangeKernel");
    return is_lost()
               ? fault
               : function(queue, kernel, dimensions, offset, global, local, waits, events, event);
}

cl_int clEnqueueReadBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset,
                           size_t size, void *to, cl_uint waits, const cl_event *events,
                           cl_event *event) {
    cl_int (*function)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint,
                       const cl_event *, cl_event *);
    *(void **)&function = real("clEnqueueReadBuffer");
    return is_lost() ? fault
                     : function(queue, buffer, blocks, offset, size, to, waits, events, event);
}

cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset,
                            size_t size, const void *from, cl_uint waits, const cl_event *events,
                            cl_event *event) {
    cl_int (*function)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint,
                       const cl_event *, cl_event *);
    *(void **)&function = real("clEnqueueWriteBuffer");
    return is_lost() ? fault
                     : function(queue, buffer, blocks, offset, size, from, waits, events, event);
}

cl_int clFinish(cl_command_queue queue) {
    cl_int (*function)(cl_command_queue);
    *(void **)&function = real("clFinish");
    return is_lost() ? fault : function(queue);
}

cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *flags, void (*done)(cl_program, void *), void *user) {
    cl_int (*function)(cl_program, cl_uint, const cl_device_id *, const char *,
                       void (*)(cl_program, void *), void *);
    *(void **)&function = real("clBuildProgram");
    return compiles ? function(program, count, devices, flags, done, user)
                    : CL_BUILD_PROGRAM_FAILURE;
}

#pragma GCC visibility pop

static const char *const cases[][2] = {{"rfn", "preset=paper units=3 iterations=8"},
                                       {"rfn", "units=3 iterations=8"},
                                       {"linca", "units=4 iterations=8"},
                                       {"mca", "units=4 iterations=8"}};
enum { CASES = 4, N = 60, M = 8 };

static struct fixture_problem *problem_of(int i) {
    double *values = fixture_values(N, M, 2, 3);
    for (int e = 0; i == 3 && e < N * M; e++)
        values[e] = fabs(values[e]);
    return fixture_problem(values, N, M);
}

/* By `on`, from its n-th call on lost; NULL: the message is in the context. */
static rb_model *fit(struct fixture_problem *p, int i, const rb_device *on, int good,
                     const char *checkpoint) {
    rb_options *options;
    rb_model *model;
    assert_ok(p->ctx, rb_context_set_device(p->ctx, on));
    assert_ok(p->ctx, rb_options_new(p->ctx, cases[i][0], &options));
    assert_ok(p->ctx, rb_options_set_all(p->ctx, options, "%s seed=1", cases[i][1]));
    if (checkpoint)
        assert_ok(p->ctx, rb_options_set_all(p->ctx, options, "checkpoint=%s checkpoint-every=1",
                                             checkpoint));
    calls = 0;
    last_good = good;
    rb_error err = rb_fit(p->ctx, options, p->source, NULL, &model);
    last_good = INT_MAX;
    assert_true(!err == (model != NULL));
    bool memory = fault == CL_MEM_OBJECT_ALLOCATION_FAILURE;
    assert_true(!err || err == (memory ? RB_ERROR_MEMORY : RB_ERROR_UNSUPPORTED));
    rb_options_free(options);
    return model;
}

static void a_lost_device_is_a_sentence(void **state) {
    (void)state;
    enum { TIMES = 40 };
    last_good = INT_MAX;
    need_device();
    for (int i = 0; i < CASES; i++) {
        struct fixture_problem *p = problem_of(i);
        rb_model_free(fit(p, i, device, INT_MAX, NULL));
        int all = calls, there = buffers;
        assert_true(all > TIMES);
        for (int good = 0; good < all; good += good < TIMES / 2 ? 1 : 1 + 2 * all / TIMES) {
            rb_model *model = fit(p, i, device, good, NULL);
            const char *message = rb_context_error(p->ctx);
            if (model || !strstr(message, device->name) || !strstr(message, "the device was lost"))
                fail_msg("%s, %d of %d calls: %s", cases[i][1], good, all, message);
            assert_int_equal(buffers, there);
        }
        fixture_teardown((void **)&p);
    }
}

static void its_checkpoint_goes_on(void **state) {
    (void)state;
    need_device();
    for (int i = 0; i < CASES; i++) {
        struct fixture_problem *p = problem_of(i);
        char path[] = "/tmp/rarebit-lost-XXXXXX";
        rb_model_free(fit(p, i, device, INT_MAX, NULL));
        int good = calls / 2;
        rb_model *cpu = fit(p, i, NULL, INT_MAX, NULL);
        close(mkstemp(path));
        remove(path);
        assert_null(fit(p, i, device, good, path));
        assert_int_equal(access(path, R_OK), 0);
        rb_model *model = fit(p, i, NULL, INT_MAX, path);
        assert_non_null(model);
        assert_same_array(cases[i][1], "loadings", cpu, model, 1e-4);
        rb_model_free(cpu);
        rb_model_free(model);
        remove(path);
        fixture_teardown((void **)&p);
    }
}

static void memory_may_run_out(void **state) {
    (void)state;
    need_device();
    fault = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    for (int i = 0; i < CASES; i++) {
        struct fixture_problem *p = problem_of(i);
        int there = buffers;
        for (int good = 0; good < 12; good++) {
            assert_null(fit(p, i, device, good, NULL));
            assert_non_null(strstr(rb_context_error(p->ctx), "take fewer samples or units"));
            assert_int_equal(buffers, there);
        }
        fixture_teardown((void **)&p);
    }
    fault = CL_DEVICE_NOT_AVAILABLE;
}

static void kernels_may_not_compile(void **state) {
    (void)state;
    rb_device *none;
    char message[RB_DEVICE_MESSAGE];
    need_device();
    compiles = false;
    assert_int_equal(rb_cl_open("cl", &none, message), RB_ERROR_UNSUPPORTED);
    compiles = true;
    assert_null(none);
    if (!strstr(message, device->name) || !strstr(message, "does not compile the kernels"))
        fail_msg("%s", message);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_device_is_a_sentence), cmocka_unit_test(its_checkpoint_goes_on),
        cmocka_unit_test(memory_may_run_out), cmocka_unit_test(kernels_may_not_compile)};
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
