/* A model of one's own in the framework of expectation truncation: noisy-OR on binary data.
 *
 * Each active cause h switches feature d on with probability W_hd, independently: the superposition
 * of active fields is 1 - prod (1 - W_hd), and y_d is 1 with that probability. */
#include <math.h>
#include <rarebit/method.h>
#include <rarebit/rarebit.h>
#include <stdio.h>

static void superpose(void *user, int64_t n, const double *wbar, const double *field, double *out) {
    (void)user;
    for (int64_t d = 0; d < n; d++)
        out[d] = 1 - (1 - wbar[d]) * (1 - field[d]);
}

static double log_likelihood(void *user, int64_t n, const double *y, const double *wbar,
                             double sigma) {
    double sum = 0;
    (void)user;
    (void)sigma;
    for (int64_t d = 0; d < n; d++)
        sum += y[d] > 0 ? log(wbar[d]) : log1p(-wbar[d]);
    return sum;
}

/* An EM step with "cause h switched feature d on" as hidden as the causes: given y_d = 1 its
 * probability is W_hd / wbar_d. */
static void share(void *user, int64_t n, const double *y, const double *wbar, const double *field,
                  double q, rb_et_shares sums) {
    (void)user;
    for (int64_t d = 0; d < n; d++) {
        sums.up[d] += y[d] > 0 ? q * field[d] / wbar[d] : 0;
        sums.down[d] += q;
    }
}

static const char *refuse(void *user, double value) {
    (void)user;
    return value == 0 || value == 1 ? NULL : "is neither 0 nor 1";
}

static const rb_et_model noisy_or = {
    .size = sizeof(rb_et_model),
    .name = "noisy-or",
    .title = "noisy-OR",
    .code_name = "X_noisy_or",
    .min = 1e-3,
    .max = 1 - 1e-3,
    .empty = 1e-3, /* features are rarely on without a cause */
    .end_temperature = 1,
    .superpose = superpose,
    .log_likelihood = log_likelihood,
    .share = share,
    .refuse = refuse,
};

/* Four features each for three causes; a feature of an active cause is on nine times of ten. */
enum { SAMPLES = 300, FEATURES = 12, CAUSES = 3 };

static double uniform(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state / 4294967296.0;
}

static void make_data(float *values) {
    uint32_t random = 1;
    for (int i = 0; i < SAMPLES; i++) {
        for (int c = 0; c < CAUSES; c++) {
            bool active = uniform(&random) < 0.4;
            for (int d = 0; d < 4; d++) {
                bool on = uniform(&random) < 0.9;
                values[i * FEATURES + c * 4 + d] = active && on;
            }
        }
    }
}

int main(void) {
    static float values[SAMPLES * FEATURES];
    rb_context *ctx;
    rb_matrix *matrix = NULL;
    rb_source *source = NULL;
    rb_model *model = NULL;
    rb_method method = {.size = sizeof method};
    rb_options *options = NULL;
    if (rb_context_new(&ctx)) return 1;
    make_data(values);
    rb_et_method(&noisy_or, &method);
    rb_error err = rb_context_add_method(ctx, &method);
    if (!err) err = rb_options_new(ctx, "noisy-or", &options);
    if (!err)
        err = rb_options_set_all(ctx, options, "units=%d prior=0.4 iterations=100 seed=1", CAUSES);
    if (!err)
        err = rb_matrix_dense(ctx, RB_FLOAT32, SAMPLES, FEATURES, values, FEATURES, 1, &matrix);
    if (!err) err = rb_source_from_matrix(ctx, matrix, &source);
    if (!err) err = rb_fit(ctx, options, source, NULL, &model);
    if (!err) {
        const double *fields = rb_model_array(model, "loadings", NULL, NULL);
        for (int h = 0; h < CAUSES; h++)
            for (int d = 0; d < FEATURES; d++)
                printf("%5.2f%s", fields[d * CAUSES + h], d + 1 < FEATURES ? " " : "\n");
    } else {
        fprintf(stderr, "%s\n", rb_context_error(ctx));
    }
    rb_options_free(options);
    rb_model_free(model);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_context_free(ctx);
    return err != RB_OK;
}
