/* A method of one's own, added to the library from outside: one unit, whose loadings are the mean
 * sample. A code says how often the mean is in a sample, by least squares. Usage: mean MODEL.h5 */
#include <math.h>
#include <rarebit/io.h>
#include <rarebit/method.h>
#include <stdio.h>

/* The memory of a fit; the library makes it, zeroes the sums, and stores the parameters. */
struct state {
    double *loadings;                /* the parameters: a value per feature */
    double *total, *squares, *count; /* sums: per feature, of all squares, of samples */
    int64_t m;
};
#define VALUES(field, dim)                                                                         \
    {                                                                                              \
        .name = #field, .offset = offsetof(struct state, field), .type = RB_KEPT_FLOAT64,          \
        .rows = (dim)                                                                              \
    }
static const rb_field parameters[] = {VALUES(loadings, RB_DIM_FEATURES), {0}};
static const rb_field sums[] = {
    VALUES(total, RB_DIM_FEATURES), VALUES(squares, RB_DIM_ONE), VALUES(count, RB_DIM_ONE), {0}};
static const rb_part parts[] = {{RB_PART_PARAMETERS, parameters, 0}, {RB_PART_SUMS, sums, 0}, {0}};

static rb_error add_block(rb_context *context, void *state, const struct rb_block *block) {
    struct state *s = state;
    (void)context;
    s->m = rb_block_features(block);
    *s->count += (double)rb_block_samples(block);
    for (int64_t i = 0; i < rb_block_samples(block) * s->m; i++) {
        double value = rb_block_at(block, i / s->m, i % s->m);
        s->total[i % s->m] += value;
        *s->squares += value * value;
    }
    return RB_OK;
}

static rb_error mstep(rb_context *context, void *state) {
    struct state *s = state;
    (void)context;
    for (int64_t k = 0; k < s->m; k++)
        s->loadings[k] = s->total[k] / *s->count;
    return RB_OK;
}

static void objective(void *state, double *value, double *estep) {
    const struct state *s = state;
    *value = -*s->squares / *s->count; /* minus the mean |v - mean|^2 */
    for (int64_t k = 0; k < s->m; k++)
        *value += s->loadings[k] * s->loadings[k];
    *estep = NAN;
}

static rb_error encode(rb_context *context, void *model, const struct rb_block *block,
                       void *codes) {
    const double *mean = rb_model_array(model, "loadings", NULL, NULL);
    (void)context;
    for (int64_t i = 0; i < rb_block_samples(block); i++) {
        double product = 0, squares = 0;
        for (int64_t k = 0; k < rb_block_features(block); k++) {
            product += mean[k] * rb_block_at(block, i, k);
            squares += mean[k] * mean[k];
        }
        rb_put(rb_model_type(model), codes, i, squares > 0 ? product / squares : 0);
    }
    return RB_OK;
}

static const rb_option no_options[] = {{0}};
static const rb_method method = {.size = sizeof(rb_method),
                                 .name = "mean",
                                 .title = "mean sample",
                                 .options = no_options,
                                 .code_name = "X_mean",
                                 .centre = RB_CENTRE_NONE,
                                 .parts = parts,
                                 .state_size = sizeof(struct state),
                                 .block = add_block,
                                 .mstep = mstep,
                                 .objective = objective,
                                 .encode = encode};

int main(int argc, char **argv) {
    static const double values[] = {1, 2, 2, 4, 3, 6}; /* three samples of two features */
    double codes[3];
    rb_context *ctx;
    rb_matrix *matrix = NULL;
    rb_source *source = NULL;
    rb_model *model = NULL, *loaded = NULL;
    rb_options *options = NULL;
    rb_metrics *metrics = NULL;
    if (argc != 2 || rb_context_new(&ctx)) return 1;
    rb_error err = rb_context_add_method(ctx, &method);
    err = err ? err : rb_matrix_dense(ctx, RB_FLOAT64, 3, 2, values, 2, 1, &matrix);
    err = err ? err : rb_source_from_matrix(ctx, matrix, &source);
    err = err ? err : rb_options_new(ctx, "mean", &options);
    err = err ? err : rb_fit(ctx, options, source, NULL, &model);
    err = err ? err : rb_model_save(ctx, model, argv[1]);
    err = err ? err : rb_model_load(ctx, argv[1], &loaded);
    err = err ? err : rb_encode_into(ctx, loaded, source, RB_FLOAT64, codes, 1, 1);
    err = err ? err : rb_evaluate(ctx, loaded, source, &metrics);
    fputs(rb_context_error(ctx), stderr);
    if (!err) {
        const double *mean = rb_model_array(loaded, "loadings", NULL, NULL);
        printf("codes: %g %g %g\nmean: %g %g\nmean squared error: %g\n", codes[0], codes[1],
               codes[2], mean[0], mean[1], rb_metrics_get(metrics, "mean_squared_error"));
    }
    rb_metrics_free(metrics);
    rb_options_free(options);
    rb_model_free(model);
    rb_model_free(loaded);
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_context_free(ctx);
    return err != RB_OK;
}
