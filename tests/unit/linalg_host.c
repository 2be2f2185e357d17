/* The library is a guest: BLAS threads, locale, signals, environment and floating point mode of the
 * program are after each call as they were before it, and the bits do not depend on them. */
#include "fixture.h"
#include "skip.h"
#include <rarebit/io.h>

#include "linalg/linalg.h"

#include <cblas.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

extern char **environ;
int openblas_get_num_threads(void) __attribute__((weak));
void openblas_set_num_threads(int threads) __attribute__((weak));

enum { SAMPLES = 400, FEATURES = 300, UNITS = 150, SIZE = 300 };

struct host {
    int threads, rounding;
    char locale[64], environment[8192];
    struct sigaction actions[32];
    sigset_t mask;
};

static void look(struct host *host) {
    memset(host, 0, sizeof *host);
    host->threads = openblas_get_num_threads();
    host->rounding = fegetround();
    snprintf(host->locale, sizeof host->locale, "%s", setlocale(LC_ALL, NULL));
    assert_ptr_equal(uselocale((locale_t)0), LC_GLOBAL_LOCALE);
    for (char **e = environ; *e; e++) {
        size_t used = strlen(host->environment);
        snprintf(host->environment + used, sizeof host->environment - used, "%s\n", *e);
    }
    for (int s = 1; s < 32; s++)
        sigaction(s, NULL, &host->actions[s]);
    pthread_sigmask(SIG_BLOCK, NULL, &host->mask);
}

static void as_before(const struct host *before) {
    struct host now;
    look(&now);
    assert_int_equal(now.threads, before->threads);
    assert_int_equal(now.rounding, before->rounding);
    assert_string_equal(now.locale, before->locale);
    assert_string_equal(now.environment, before->environment);
    for (int s = 1; s < 32; s++) {
        assert_ptr_equal(now.actions[s].sa_handler, before->actions[s].sa_handler);
        assert_int_equal(now.actions[s].sa_flags, before->actions[s].sa_flags);
        assert_int_equal(sigismember(&now.mask, s), sigismember(&before->mask, s));
    }
}

/* A product of the host's own, as large as the BLAS takes two threads for. */
static double product(const double *values) {
    double *c = calloc(SIZE * SIZE, sizeof *c), sum = 0;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, SIZE, SIZE, SIZE, 1, values, FEATURES,
                values, FEATURES, 0, c, SIZE);
    for (int i = 0; i < SIZE * SIZE; i++)
        sum += c[i];
    free(c);
    return sum;
}

static rb_error in_between(const rb_progress *progress, void *user) {
    (void)progress;
    as_before(user);
    return 0;
}

/* Each public call that computes; the model's numbers and codes end in one array, to be freed. */
static double *use(rb_context *ctx, const double *values, const struct host *host, int64_t *count) {
    rb_rfn_options options = fixture_rfn(UNITS, RB_RFN_NORMALIZE_RMS);
    rb_fit_options fit = fixture_fit(3, RB_FLOAT32);
    rb_preprocess_options preprocess;
    rb_evaluation evaluation;
    rb_source *source = fixture_data(ctx, values, SAMPLES, FEATURES);
    as_before(host);
    rb_context_on_progress(ctx, in_between, (void *)host);
    rb_preprocess_options_default(&preprocess);
    rb_model *model = fixture_model(ctx, "rfn", &options, &fit, &preprocess, source, NULL);
    as_before(host);
    double *codes = fixture_codes(ctx, model, source);
    as_before(host);
    assert_ok(ctx, fixture_evaluate(ctx, model, source, &evaluation));
    as_before(host);
    int64_t loadings = (int64_t)FEATURES * UNITS, all = (int64_t)SAMPLES * UNITS;
    *count = loadings + all;
    double *numbers = calloc((size_t)*count, sizeof *numbers);
    memcpy(numbers, rb_model_array(model, "loadings", NULL, NULL),
           (size_t)loadings * sizeof *numbers);
    memcpy(numbers + loadings, codes, (size_t)all * sizeof *numbers);
    free(codes);
    rb_model_free(model);
    rb_source_free(source);
    return numbers;
}

static void the_host_stays_as_it_was(void **state) {
    (void)state;
    if (!openblas_set_num_threads) skip_without("this BLAS is not OpenBLAS", "libopenblas-dev");
    double *values = fixture_values(SAMPLES, FEATURES, 5, 1), *numbers[3];
    int64_t count;
    const int threads[3] = {2, 1, 3};
    for (int t = 0; t < 3; t++) {
        struct host host;
        rb_context *ctx;
        openblas_set_num_threads(threads[t]);
        fesetround(FE_TONEAREST);
        double before = product(values);
        look(&host);
        assert_int_equal(host.threads, threads[t]);
        assert_int_equal(rb_context_new(&ctx), RB_OK);
        rb_io_use(ctx);
        as_before(&host);
        assert_ok(ctx, rb_context_set_threads(ctx, 2));
        numbers[t] = use(ctx, values, &host, &count);
        assert_true(product(values) == before);
        free(numbers[t]);
        numbers[t] = use(ctx, values, &host, &count);
        rb_context_free(ctx);
        as_before(&host);
        assert_true(product(values) == before);
    }
    assert_memory_equal(numbers[0], numbers[1], (size_t)count * sizeof(double));
    assert_memory_equal(numbers[0], numbers[2], (size_t)count * sizeof(double));
    for (int t = 0; t < 3; t++)
        free(numbers[t]);
    free(values);
}

/* One call within another, and one that ends before one that began later. */
static void calls_are_counted(void **state) {
    (void)state;
    if (!openblas_set_num_threads) skip_without("this BLAS is not OpenBLAS", "libopenblas-dev");
    openblas_set_num_threads(2);
    int first = rb_blas_enter(), second = rb_blas_enter();
    assert_int_equal(openblas_get_num_threads(), 1);
    rb_blas_leave(first);
    assert_int_equal(openblas_get_num_threads(), 1);
    rb_blas_leave(second);
    assert_int_equal(openblas_get_num_threads(), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_host_stays_as_it_was),
        cmocka_unit_test(calls_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
