/* Whole fits on a device of OpenCL and on the processor: the same models, the same bits from run to
 * run, and a sentence for what a device does not do. pocl is enough: a device on the processor. */
#include "device_fixture.h"

#ifdef TEST_cl

struct device_case {
    const char *name;
    int64_t n, m, units;
    int64_t iterations;
    bool newton;
    int normalize;
    double prior_mean, variance, sparse_loadings;
    int64_t newton_iterations;
    double dropout, masking;
    int64_t batch, restarts;
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
    {.name = "cyclic, codes that come slowly", .n = 120, .m = 6, .units = 14, .iterations = 8},
    {.name = "cyclic, restarts", .n = 100, .m = 12, .units = 3, .restarts = 3},
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
    {.name = "newton, products", .n = 300, .m = 600, .units = 530, .newton = true, .iterations = 3},
    {.name = "newton, solutions",
     .n = 300,
     .m = 530,
     .units = 560,
     .newton = true,
     .iterations = 3},
    {.name = "cyclic, solutions", .n = 300, .m = 530, .units = 560, .iterations = 3},
    {.name = "newton, dropout", .n = 300, .m = 12, .units = 80, .newton = true, .dropout = 0.3},
    {.name = "newton, masking", .n = 300, .m = 90, .units = 5, .newton = true, .masking = 0.3},
    {.name = "newton, both",
     .n = 200,
     .m = 70,
     .units = 66,
     .newton = true,
     .dropout = 0.2,
     .masking = 0.1},
    {.name = "batches", .n = 300, .m = 12, .units = 5, .newton = true, .batch = 80},
    {.name = "batches, dead units",
     .n = 200,
     .m = 10,
     .units = 8,
     .newton = true,
     .prior_mean = -6,
     .batch = 50},
    {.name = "batches, random",
     .n = 200,
     .m = 70,
     .units = 66,
     .newton = true,
     .dropout = 0.2,
     .masking = 0.1,
     .batch = 90,
     .iterations = 5},
    {.name = "newton, then cyclic", .n = 200, .m = 10, .units = 4, .newton_iterations = 5},
};
enum { CASES = sizeof cases / sizeof *cases };

static rb_model *fit_case(rb_context *ctx, const void *which, rb_source *source) {
    const struct device_case *c = which;
    rb_rfn_options options = fixture_rfn(c->units, c->normalize);
    rb_fit_options fit = fixture_fit(c->iterations ? c->iterations : 20, RB_FLOAT32);
    fit.batch_size = c->batch;
    fit.restarts = c->restarts ? c->restarts : 1;
    options.prior_mean.value = c->prior_mean;
    options.prior_covariance.value = c->variance > 0 ? c->variance : 1;
    options.sparse_loadings = c->sparse_loadings;
    options.estep = c->newton ? RB_RFN_ESTEP_NEWTON : RB_RFN_ESTEP_CYCLIC;
    options.newton_iterations = c->newton_iterations;
    options.dropout = c->dropout;
    if (c->masking > 0 && c->dropout > 0) options.dropout_place = RB_RFN_DROPOUT_AFTER;
    options.input_noise = c->masking > 0 ? RB_RFN_NOISE_MASKING : RB_RFN_NOISE_NONE;
    options.input_noise_level = c->masking;
    return fixture_model(ctx, "rfn", &options, &fit, NULL, source, NULL);
}

static void assert_same(const struct device_case *c, const char *name, const rb_model *model,
                        const rb_model *other, double tolerance) {
    assert_same_array(c->name, name, model, other, tolerance);
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

/* ---- samples that do not fit ---- */

static rb_error open_if_it_streams(const rb_device *of, const rb_device_shape *shape,
                                   rb_device_work **work) {
    rb_error err = device->open(of, shape, work);
    return shape->streams ? err : RB_ERROR_MEMORY;
}

/* Two blocks, of which one goes up while the other one is worked on. */
static void samples_stream(void **state) {
    (void)state;
    static const struct device_case kinds[] = {
        {.name = "streams", .n = 20001, .m = 7, .units = 4, .newton = true, .iterations = 5},
        {.name = "streams, dead units",
         .n = 20001,
         .m = 7,
         .units = 4,
         .newton = true,
         .iterations = 3,
         .prior_mean = -6},
        {.name = "streams, random",
         .n = 20001,
         .m = 7,
         .units = 4,
         .newton = true,
         .iterations = 3,
         .dropout = 0.2,
         .masking = 0.1}};
    need_device();
    rb_device small = *device;
    small.open = open_if_it_streams;
    for (int i = 0; i < 3; i++) {
        const struct device_case *c = &kinds[i];
        struct fixture_problem *p = fixture_problem(fixture_values(c->n, c->m, 3, 21), c->n, c->m);
        assert_ok(p->ctx, rb_context_set_device(p->ctx, device));
        rb_model *kept = fit_case(p->ctx, c, p->source);
        assert_ok(p->ctx, rb_context_set_device(p->ctx, &small));
        rb_model *model = fit_case(p->ctx, c, p->source), *again = fit_case(p->ctx, c, p->source);
        assert_non_null(strstr(rb_model_attribute(model, "device_traffic"), "0 MB once"));
        assert_same(c, "loadings", kept, model, 1e-4);
        assert_same(c, "dead", kept, model, 0);
        assert_same(c, "loadings", model, again, 0);
        rb_model_free(kept);
        rb_model_free(model);
        rb_model_free(again);
        fixture_teardown((void **)&p);
    }
}

/* ---- codes ---- */

static void encode(struct fixture_problem *p, const rb_model *model, float *codes) {
    int64_t l = rb_model_units(model);
    assert_ok(p->ctx, rb_encode_into(p->ctx, model, p->source, RB_FLOAT32, codes, l, 1));
}

/* Of new samples, those of the processor but for rounding, and the same bits each time. */
static void codes_agree(void **state) {
    (void)state;
    static float here[32768], there[32768], again[32768];
    need_device();
    for (int i = 0; i < CASES; i++) {
        const struct device_case *c = &cases[i];
        if (c->m > 100) continue;
        struct fixture_problem *p = fixture_problem(fixture_values(c->n, c->m, 3, 21), c->n, c->m);
        struct fixture_problem *other =
            fixture_problem(fixture_values(c->n, c->m, 3, 22), c->n, c->m);
        rb_model *model = fit_case(p->ctx, c, p->source);
        double largest = 1e-6; /* codes may all be 0 */
        encode(other, model, here);
        assert_ok(other->ctx, rb_context_set_device(other->ctx, device));
        encode(other, model, there);
        encode(other, model, again);
        for (int64_t e = 0; e < c->n * c->units; e++)
            largest = fmax(largest, (double)here[e]);
        for (int64_t e = 0; e < c->n * c->units; e++) {
            double apart = fabs((double)here[e] - (double)there[e]) / largest;
            if (!(apart < 2e-5)) /* both end near, not at, the minimum */
                fail_msg("%s: code %lld is %.9g on the processor, and %.9g on the device", c->name,
                         (long long)e, (double)here[e], (double)there[e]);
        }
        assert_memory_equal(there, again, (size_t)(c->n * c->units) * sizeof *there);
        rb_model_free(model);
        fixture_teardown((void **)&p);
        fixture_teardown((void **)&other);
    }
}

static void codes_refused(void **state) {
    (void)state;
    need_device();
    struct fixture_problem *p = fixture_problem(fixture_values(60, 8, 2, 3), 60, 8);
    static const char *const refused[][3] = {
        {"rfn", "precision=float64", "of float64"},
        {"rfn", "activation=tanh estep=newton", "activation=rectify"},
        {"pca", "", "'pca' does not run on a device"},
        {"rfn", "missing=model", "missing values"}};
    float codes[60 * 2];
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        assert_ok(p->ctx, rb_context_set_device(p->ctx, NULL));
        p->values[3] = 1;
        rb_model *model =
            fixture_text_model(p->ctx, refused[i][0], p->source, NULL, "units=2 %s", refused[i][1]);
        assert_ok(p->ctx, rb_context_set_device(p->ctx, device));
        p->values[3] = NAN;
        assert_error(p->ctx, rb_encode_into(p->ctx, model, p->source, RB_FLOAT32, codes, 2, 1),
                     RB_ERROR_UNSUPPORTED, refused[i][2]);
        rb_model_free(model);
    }
    fixture_teardown((void **)&p);
}

/* Samples of sparse data go up in pieces, with their zeros. */
static void device_takes_sparse_data(void **state) {
    (void)state;
    enum { N = 600, M = 12 };
    static const struct device_case kinds[] = {
        {.name = "sparse, newton", .units = 5, .newton = true},
        {.name = "sparse, dead units", .units = 8, .newton = true, .prior_mean = -6},
        {.name = "sparse, cyclic", .units = 5}};
    double *values = fixture_values(N, M, 3, 21);
    for (int64_t e = 0; e < (int64_t)N * M; e++)
        values[e] = values[e] > 0.5 ? values[e] : 0;
    need_device();
    rb_context *ctx = fixture_context();
    rb_source *source = fixture_sparse_data(ctx, values, N, M);
    for (int i = 0; i < 3; i++) {
        assert_ok(ctx, rb_context_set_device(ctx, NULL));
        rb_model *cpu = fit_case(ctx, &kinds[i], source);
        assert_ok(ctx, rb_context_set_device(ctx, device));
        rb_model *cl = fit_case(ctx, &kinds[i], source);
        assert_same(&kinds[i], "loadings", cpu, cl, 1e-4);
        assert_same(&kinds[i], "noise", cpu, cl, 1e-4);
        rb_model_free(cpu);
        rb_model_free(cl);
    }
    rb_source_free(source);
    rb_context_free(ctx);
    free(values);
}

/* ---- products and solutions ---- */

static float number(int e) {
    return (float)((e * 7919) % 101) / 101 - 0.4F;
}

static void products_are_right(void **state) {
    (void)state;
    enum { ROWS = 17, COLUMNS = 23, INNER = 11, LD = 30 };
    float a[LD * LD], b[LD * LD], c[LD * LD], expected[LD * LD];
    const rb_device_shape shape = {sizeof shape, 40, LD, LD, false, false};
    rb_device_work *work;
    need_device();
    assert_int_equal(device->open(device, &shape, &work), RB_OK);
    for (int kind = 0; kind < 8; kind++) {
        bool a_across = kind & 1, b_across = kind & 2;
        float beta = kind & 4 ? 0.5F : 0;
        for (int e = 0; e < LD * LD; e++) {
            a[e] = number(e);
            b[e] = number(3 * e + 1);
            c[e] = expected[e] = number(5 * e + 2);
        }
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < COLUMNS; j++) {
                double sum = 0;
                for (int k = 0; k < INNER; k++)
                    sum += (double)(a_across ? a[k * LD + i] : a[i * LD + k]) *
                           (double)(b_across ? b[j * LD + k] : b[k * LD + j]);
                expected[i * LD + j] = (float)(2 * sum) + beta * expected[i * LD + j];
            }
        }
        const rb_device_product product = {ROWS, COLUMNS, INNER, 2,  beta,     a,       b,
                                           c,    LD,      LD,    LD, a_across, b_across};
        assert_int_equal(device->product(work, &product), RB_OK);
        for (int e = 0; e < LD * LD; e++)
            assert_close((double)c[e], (double)expected[e], 1e-5);
    }
    device->close(work);
}

/* An operand that is kept moves once, also where it was a solution; and again when it is let go. */
static void kept_matrices_move_once(void **state) {
    (void)state;
    enum { SIZE = 6 };
    float unit[SIZE * SIZE] = {0}, b[SIZE * SIZE], x[SIZE * SIZE], c[SIZE * SIZE];
    const rb_device_shape shape = {
        .size = sizeof shape, .samples = 9, .features = SIZE, .units = SIZE};
    const double moves = sizeof b;
    rb_device_work *work;
    need_device();
    for (int e = 0; e < SIZE * SIZE; e++) {
        unit[e] = e % (SIZE + 1) == 0;
        b[e] = number(e);
    }
    const rb_device_product product = {SIZE, SIZE, SIZE, 1,    0,    b,    x,
                                       c,    SIZE, SIZE, SIZE, true, false};
    assert_int_equal(device->open(device, &shape, &work), RB_OK);
    for (int round = 0; round < 2; round++) {
        double before = work->bytes;
        assert_int_equal(device->keep(work, NULL), RB_OK);
        assert_int_equal(device->keep(work, b), RB_OK);
        assert_int_equal(device->keep(work, x), RB_OK);
        assert_int_equal(device->solve(work, unit, SIZE, 2, true, b, x, SIZE), RB_OK);
        assert_true(work->bytes - before == 3 * moves); /* L, B and X */
        before = work->bytes;
        assert_int_equal(device->product(work, &product), RB_OK);
        assert_int_equal(device->product(work, &product), RB_OK);
        assert_true(work->bytes - before == 3 * moves); /* B, C and C */
        for (int e = 0; e < SIZE * SIZE; e++) {
            double sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += (double)b[k * SIZE + e / SIZE] * (double)x[k * SIZE + e % SIZE];
            assert_close((double)c[e], sum, 1e-5);
            assert_close((double)x[e], (double)b[e], 1e-6);
        }
        for (int e = 0; e < SIZE * SIZE; e++)
            b[e] = 2 * number(e + 1);
    }
    device->close(work);
}

/* L of three blocks, the last one shorter; B is (L L') X and X (L L'). */
static void solutions_are_right(void **state) {
    (void)state;
    enum { SIZE = 21, BLOCK = 8, OTHERS = 5 };
    double l[SIZE][SIZE] = {0}, a[SIZE][SIZE] = {0};
    float kept[SIZE * SIZE] = {0}, b[SIZE * OTHERS], x[SIZE * OTHERS];
    const rb_device_shape shape = {sizeof shape, 40, SIZE, SIZE, false, false};
    rb_device_work *work;
    need_device();
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j <= i; j++)
            l[i][j] = i == j ? 2 : 0.2 * (double)number(i * SIZE + j);
    for (int i = 0; i < SIZE; i++)
        for (int j = 0; j < SIZE; j++)
            for (int k = 0; k < SIZE; k++)
                a[i][j] += l[i][k] * l[j][k];
    for (int i = 0; i < SIZE; i++) {
        for (int j = 0; j <= i; j++) { /* of a block on the diagonal the inverse, by columns */
            double sum = i == j;
            for (int k = j; i / BLOCK == j / BLOCK && k < i; k++)
                sum -= l[i][k] * (double)kept[k * SIZE + j];
            kept[i * SIZE + j] = (float)(i / BLOCK == j / BLOCK ? sum / l[i][i] : l[i][j]);
        }
    }
    assert_int_equal(device->open(device, &shape, &work), RB_OK);
    for (int left = 0; left < 2; left++) {
        for (int e = 0; e < SIZE * OTHERS; e++) {
            int at = left ? e / OTHERS : e % SIZE, other = left ? e % OTHERS : e / SIZE;
            double sum = 0;
            for (int k = 0; k < SIZE; k++)
                sum += a[at][k] * (double)number(k * OTHERS + other);
            b[e] = (float)sum;
        }
        assert_int_equal(device->solve(work, kept, SIZE, BLOCK, left, b, x, OTHERS), RB_OK);
        for (int e = 0; e < SIZE * OTHERS; e++) {
            int at = left ? e / OTHERS : e % SIZE, other = left ? e % OTHERS : e / SIZE;
            assert_close((double)x[e], (double)number(at * OTHERS + other), 1e-5);
        }
    }
    device->close(work);
}

/* ---- what it does not do ---- */

static void refuses(rb_context *ctx, rb_source *source, const char *method, const char *settings,
                    const char *names) {
    rb_options *options;
    rb_model *model;
    assert_ok(ctx, rb_options_new(ctx, method, &options));
    assert_ok(ctx, rb_options_set_all(ctx, options, "%s", settings));
    assert_error(ctx, rb_fit(ctx, options, source, NULL, &model), RB_ERROR_UNSUPPORTED, names);
    assert_null(model);
    rb_options_free(options);
}

static void device_refuses(void **state) {
    (void)state;
    static const char *const cases_refused[][2] = {
        {"precision=float64", "precision=float64"},
        {"estep=gradient", "estep"},
        {"noise=full", "noise=diagonal"},
        {"input-noise=gaussian input-noise-level=0.1 estep=newton", "input-noise=masking"},
        {"activation=tanh estep=newton", "activation=rectify"},
        {"trace=true", "trace"},
        {"accelerate=squarem sparse-loadings=0", "accelerate"},
        {"preset=sparse", "steer-iterations"},
    };
    need_device();
    struct fixture_problem *p = fixture_problem(fixture_values(60, 8, 2, 3), 60, 8);
    assert_ok(p->ctx, rb_context_set_device(p->ctx, device));
    for (size_t i = 0; i < sizeof cases_refused / sizeof *cases_refused; i++)
        refuses(p->ctx, p->source, "rfn", cases_refused[i][0], cases_refused[i][1]);
    refuses(p->ctx, p->source, "pca", "", "'pca' does not run on a device");
    p->values[3] = NAN;
    refuses(p->ctx, p->source, "rfn", "missing=model", "missing=mean");
    fixture_teardown((void **)&p);
}

/* ---- faults ---- */

static rb_error lose(rb_device_work *work, float *u, float *s) {
    (void)u;
    (void)s;
    snprintf(work->message, sizeof work->message, "the device was lost");
    return RB_ERROR_UNSUPPORTED;
}

static rb_error lose_product(rb_device_work *work, const rb_device_product *product) {
    (void)product;
    return lose(work, NULL, NULL);
}

/* The parameters of these are large enough for products on the device. */
static void a_product_may_fail(void **state) {
    (void)state;
    need_device();
    rb_device lost = *device;
    lost.product = lose_product;
    struct fixture_problem *p = fixture_problem(fixture_values(100, 600, 3, 21), 100, 600);
    rb_rfn_options options = fixture_rfn(530, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(2, RB_FLOAT32);
    assert_ok(p->ctx, rb_context_set_device(p->ctx, &lost));
    fixture_refused(p->ctx, "rfn", &options, &fit, NULL, p->source, NULL, RB_ERROR_UNSUPPORTED,
                    "the device was lost");
    fixture_teardown((void **)&p);
}

static void faults_are_sentences(void **state) {
    (void)state;
    char message[RB_DEVICE_MESSAGE];
    rb_device *none, lost;
    rb_device_work *work = NULL;
    need_device();
    const rb_device_shape large = {sizeof large, 1 << 30, 10000, 1000, true, true};
    assert_int_equal(device->open(device, &large, &work), RB_ERROR_MEMORY);
    assert_non_null(strstr(work->message, "GB"));
    device->close(work);
    assert_int_equal(rb_cl_open("cl:99", &none, message), RB_ERROR_UNSUPPORTED);
    assert_null(none);
    assert_non_null(strstr(message, "there is no device cl:99"));
    static const char *const wrong[] = {"", "gpu", "cl:", "cl:x", "cl:1x", "cl:-1"};
    for (int i = 0; i < 6; i++) {
        assert_int_equal(rb_cl_open(wrong[i], &none, message), RB_ERROR_ARGUMENT);
        assert_non_null(strstr(message, "must be cl"));
    }
    lost = *device;
    lost.moments = lose;
    struct fixture_problem *p = fixture_problem(fixture_values(60, 8, 2, 3), 60, 8);
    assert_ok(p->ctx, rb_context_set_device(p->ctx, &lost));
    rb_rfn_options options = fixture_rfn(3, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(3, RB_FLOAT32);
    fixture_refused(p->ctx, "rfn", &options, &fit, NULL, p->source, NULL, RB_ERROR_UNSUPPORTED,
                    device->name);
    assert_non_null(strstr(rb_context_error(p->ctx), "lost"));
    lost.size--;
    assert_int_equal(rb_context_set_device(p->ctx, &lost), RB_ERROR_ARGUMENT);
    fixture_teardown((void **)&p);
}

/* ---- checkpoints ---- */

static void checkpoints_go_on_elsewhere(void **state) {
    (void)state;
    need_device();
    for (int i = 0; i < CASES; i++) {
        const struct device_case *c = &cases[i];
        if (c->n > 300 || c->m > 20) continue;
        struct fixture_problem *p = fixture_problem(fixture_values(c->n, c->m, 3, 21), c->n, c->m);
        rb_model *cpu = fit_case(p->ctx, c, p->source);
        rb_model *on_cpu = fit_on(p, c, fit_case, device, NULL);
        rb_model *on_device = fit_on(p, c, fit_case, NULL, device);
        rb_model *same = fit_on(p, c, fit_case, device, device);
        assert_ok(p->ctx, rb_context_set_device(p->ctx, device));
        rb_model *cl = fit_case(p->ctx, c, p->source);
        assert_same(c, "loadings", cpu, on_cpu, 1e-4);
        assert_same(c, "loadings", cpu, on_device, 1e-4);
        assert_same(c, "loadings", cl, same, 0);
        rb_model *const models[] = {cpu, on_cpu, on_device, same, cl};
        for (int m = 0; m < 5; m++)
            rb_model_free(models[m]);
        fixture_teardown((void **)&p);
    }
}

/* Of batches, too, what was added up here goes on there; sparse samples are shifted there alone. */
static void checkpoints_of_sparse_data(void **state) {
    (void)state;
    enum { N = 300, M = 12 };
    static const struct device_case c = {
        .name = "sparse batches", .units = 5, .newton = true, .batch = 80};
    double *values = fixture_values(N, M, 3, 21);
    for (int64_t e = 0; e < (int64_t)N * M; e++)
        values[e] = values[e] > 0.5 ? values[e] : 0;
    need_device();
    struct fixture_problem p = {.ctx = fixture_context()};
    rb_matrix *matrix;
    p.source = fixture_sparse(p.ctx, values, N, M, &matrix);
    rb_model *cpu = fit_case(p.ctx, &c, p.source);
    rb_model *on_cpu = fit_on(&p, &c, fit_case, device, NULL);
    rb_model *on_device = fit_on(&p, &c, fit_case, NULL, device);
    assert_same(&c, "loadings", cpu, on_cpu, 1e-4);
    assert_same(&c, "loadings", cpu, on_device, 1e-4);
    rb_model *const models[] = {cpu, on_cpu, on_device};
    for (int m = 0; m < 3; m++)
        rb_model_free(models[m]);
    rb_source_free(p.source);
    rb_matrix_free(matrix);
    rb_context_free(p.ctx);
    free(values);
}

/* Once the samples are there no more moves in an iteration than parameters and P, which go up, and
 * sums, and what is told of units; and for a sweep of the last E-step two flags a unit. */
static void samples_go_up_once(void **state) {
    (void)state;
    static const struct device_case kinds[] = {
        {.name = "traffic", .n = 3000, .m = 20, .units = 5, .newton = true},
        {.name = "traffic, cyclic", .n = 3000, .m = 20, .units = 5}};
    enum { ITERATIONS = 21, MAX_SWEEPS = 2000 };
    need_device();
    for (int i = 0; i < 2; i++) {
        const struct device_case *c = &kinds[i];
        struct fixture_problem *p = fixture_problem(fixture_values(c->n, c->m, 3, 21), c->n, c->m);
        double m = (double)c->m, l = (double)c->units, once, each;
        double sweeps = c->newton ? 0 : MAX_SWEEPS * (2 * l + 4) / ITERATIONS;
        assert_ok(p->ctx, rb_context_set_device(p->ctx, device));
        rb_model *model = fit_case(p->ctx, c, p->source);
        const char *traffic = rb_model_attribute(model, "device_traffic");
        assert_int_equal(sscanf(traffic, "%lf MB once, %lf MB", &once, &each), 2);
        assert_close(once, 3000 * 20 * 4e-6, 1e-2);
        assert_true(each <= 1e-6 * (4 * (2 * m * l + 2 * l * l + 16 * l) + sweeps));
        rb_model_free(model);
        fixture_teardown((void **)&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(device_agrees),
        cmocka_unit_test(samples_stream),
        cmocka_unit_test(codes_agree),
        cmocka_unit_test(codes_refused),
        cmocka_unit_test(products_are_right),
        cmocka_unit_test(solutions_are_right),
        cmocka_unit_test(kept_matrices_move_once),
        cmocka_unit_test(device_refuses),
        cmocka_unit_test(device_takes_sparse_data),
        cmocka_unit_test(faults_are_sentences),
        cmocka_unit_test(a_product_may_fail),
        cmocka_unit_test(checkpoints_go_on_elsewhere),
        cmocka_unit_test(checkpoints_of_sparse_data),
        cmocka_unit_test(samples_go_up_once),
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
