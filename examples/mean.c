/* A method of one's own, added to the library from outside: one unit, whose loadings are the mean
 * sample. A sample's code is how often the mean is in it, by least squares. */
#include <rarebit/io.h>
#include <rarebit/method.h>
#include <rarebit/rarebit.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct mean_options {
    double floor; /* means of a smaller size become 0 */
};

static const rb_option option_table[] = {
    {"floor", 0, RB_OPTION_NUMBER, offsetof(struct mean_options, floor), "0", 0, 1e300, NULL,
     "SIZE", "means of a smaller size become 0", RB_OPTION_COMMON, NULL, NULL},
    {0},
};

/* ---- fitting ---- */

struct state {
    rb_problem problem;
    struct mean_options options;
    double *mean, *row;
    double squares; /* of all values, a sample */
};

static int64_t units(const void *options) {
    (void)options;
    return 1;
}

static int64_t block_samples(const rb_problem *problem, const void *options) {
    (void)options;
    return problem->n_samples < 1000 ? problem->n_samples : 1000;
}

static int64_t memory(const rb_problem *problem, const void *options) {
    (void)options;
    return 2 * problem->n_features * (int64_t)sizeof(double);
}

static void finish(void *state) {
    struct state *s = state;
    if (s) {
        free(s->mean);
        free(s->row);
        free(s);
    }
}

static rb_error start(rb_context *context, const rb_problem *problem, const void *options,
                      const rb_model *from, void **state) {
    (void)from; /* no matter where it starts, one step arrives */
    struct state *s = calloc(1, sizeof *s);
    size_t features = (size_t)problem->n_features;
    if (s) {
        s->problem = *problem;
        s->options = *(const struct mean_options *)options;
        s->mean = calloc(features, sizeof *s->mean);
        s->row = calloc(features, sizeof *s->row);
    }
    if (!s || !s->mean || !s->row) {
        finish(s);
        return rb_context_fail(context, RB_ERROR_MEMORY, "memory is out");
    }
    *state = s;
    return RB_OK;
}

static rb_error survey(rb_context *context, void *state, const struct rb_block *block) {
    (void)context;
    struct state *s = state;
    for (int64_t i = 0; i < rb_block_samples(block); i++) {
        rb_block_values(block, i, 1, s->row);
        for (int64_t k = 0; k < s->problem.n_features; k++) {
            s->squares += s->row[k] * s->row[k] / (double)s->problem.n_samples;
        }
    }
    return RB_OK;
}

static rb_error begin(rb_context *context, void *state) {
    (void)context;
    struct state *s = state;
    for (int64_t k = 0; k < s->problem.n_features; k++) {
        s->mean[k] = 0;
    }
    return RB_OK;
}

static rb_error add_block(rb_context *context, void *state, const struct rb_block *block) {
    (void)context;
    struct state *s = state;
    for (int64_t i = 0; i < rb_block_samples(block); i++) {
        rb_block_values(block, i, 1, s->row);
        for (int64_t k = 0; k < s->problem.n_features; k++) {
            s->mean[k] += s->row[k] / (double)s->problem.n_samples;
        }
    }
    return RB_OK;
}

static rb_error end(rb_context *context, void *state, bool *again) {
    (void)context;
    (void)state;
    *again = false;
    return RB_OK;
}

static rb_error mstep(rb_context *context, void *state) {
    (void)context;
    struct state *s = state;
    for (int64_t k = 0; k < s->problem.n_features; k++) {
        s->mean[k] = fabs(s->mean[k]) < s->options.floor ? 0 : s->mean[k];
    }
    return RB_OK;
}

/* Minus the mean |v - mean|^2. */
static void objective(void *state, double *value, double *estep) {
    const struct state *s = state;
    double squares = 0;
    for (int64_t k = 0; k < s->problem.n_features; k++) {
        squares += s->mean[k] * s->mean[k];
    }
    *value = squares - s->squares;
    *estep = NAN;
}

static rb_error store(rb_context *context, void *state, rb_model *model) {
    const struct state *s = state;
    double *loadings = rb_model_add_array(context, model, "loadings", s->problem.n_features, 1);
    for (int64_t k = 0; loadings && k < s->problem.n_features; k++) {
        loadings[k] = s->mean[k];
    }
    return loadings ? RB_OK : RB_ERROR_MEMORY;
}

/* ---- using a model ---- */

struct coder {
    const double *mean;
    double *row, squares;
    int64_t features;
    rb_type type;
};

static void coder_free(void *coder) {
    if (coder) {
        free(((struct coder *)coder)->row);
        free(coder);
    }
}

static rb_error coder_new(rb_context *context, const rb_model *model, int64_t most, void **coder) {
    (void)most;
    struct coder *c = calloc(1, sizeof *c);
    double *row = calloc((size_t)rb_model_features(model), sizeof *row);
    if (!c || !row) {
        free(row);
        free(c);
        return rb_context_fail(context, RB_ERROR_MEMORY, "memory is out");
    }
    *c = (struct coder){rb_model_array(model, "loadings", NULL, NULL), row, 0,
                        rb_model_features(model), rb_model_type(model)};
    for (int64_t k = 0; k < c->features; k++) {
        c->squares += c->mean[k] * c->mean[k];
    }
    *coder = c;
    return RB_OK;
}

static void put(rb_type type, void *values, int64_t at, double value) {
    if (type == RB_FLOAT32) {
        ((float *)values)[at] = (float)value;
    } else {
        ((double *)values)[at] = value;
    }
}

static double get(rb_type type, const void *values, int64_t at) {
    return type == RB_FLOAT32 ? (double)((const float *)values)[at] : ((const double *)values)[at];
}

static double code_of(const struct coder *c) {
    double product = 0;
    for (int64_t k = 0; k < c->features; k++) {
        product += c->row[k] * c->mean[k];
    }
    return c->squares > 0 ? product / c->squares : 0;
}

static rb_error encode(rb_context *context, void *coder, const struct rb_block *block,
                       void *codes) {
    (void)context;
    struct coder *c = coder;
    for (int64_t i = 0; i < rb_block_samples(block); i++) {
        rb_block_values(block, i, 1, c->row);
        put(c->type, codes, i, code_of(c));
    }
    return RB_OK;
}

static rb_error decode(rb_context *context, void *coder, int64_t n_samples, const void *codes,
                       void *rows) {
    (void)context;
    const struct coder *c = coder;
    for (int64_t i = 0; i < n_samples; i++) {
        for (int64_t k = 0; k < c->features; k++) {
            put(c->type, rows, i * c->features + k, get(c->type, codes, i) * c->mean[k]);
        }
    }
    return RB_OK;
}

static rb_error evaluate(rb_context *context, const rb_model *model, struct rb_feed *feed,
                         rb_metrics *metrics) {
    void *coder;
    double squares = 0;
    rb_error err = coder_new(context, model, 1, &coder);
    if (err) {
        return err;
    }
    struct coder *c = coder;
    int64_t n = rb_feed_samples(feed);
    for (int64_t i = 0; !err && i < n; i++) {
        err = rb_feed_values(context, feed, i, 1, c->row);
        double code = err ? 0 : code_of(c);
        for (int64_t k = 0; !err && k < c->features; k++) {
            squares += (c->row[k] - code * c->mean[k]) * (c->row[k] - code * c->mean[k]);
        }
    }
    rb_metrics_set(metrics, "reconstruction_error", sqrt(squares));
    rb_metrics_set(metrics, "mean_squared_error", squares / ((double)n * (double)c->features));
    coder_free(coder);
    return err;
}

static const rb_method mean_method = {
    .size = sizeof(rb_method),
    .name = "mean",
    .title = "mean sample",
    .options = option_table,
    .options_size = sizeof(struct mean_options),
    .code_name = "X_mean",
    .centre = RB_CENTRE_NONE,
    .units = units,
    .block_samples = block_samples,
    .memory = memory,
    .start = start,
    .finish = finish,
    .survey = survey,
    .begin = begin,
    .block = add_block,
    .end = end,
    .mstep = mstep,
    .objective = objective,
    .store = store,
    .coder_new = coder_new,
    .coder_free = coder_free,
    .encode = encode,
    .decode = decode,
    .evaluate = evaluate,
};

/* ---- the program ---- */

static rb_error print_codes(void *user, int64_t first, const rb_matrix *rows) {
    (void)user;
    for (int64_t i = 0; i < rb_matrix_samples(rows); i++) {
        printf("sample %lld: %g\n", (long long)(first + i), rb_matrix_at(rows, i, 0));
    }
    return RB_OK;
}

/* Fits, saves, loads, encodes and measures; `path` is where the model goes. */
static rb_error demonstrate(rb_context *context, rb_source *source, const char *path) {
    rb_model *model = NULL, *loaded = NULL;
    rb_metrics *metrics = NULL;
    rb_options *options = NULL;
    rb_error err = rb_context_add_method(context, &mean_method);
    if (!err) {
        err = rb_options_new(context, "mean", &options);
    }
    if (!err) {
        err = rb_options_set_all(context, options, "iterations=2");
    }
    if (!err) {
        err = rb_fit(context, options, source, NULL, &model);
    }
    if (!err) {
        err = rb_model_save(context, model, path);
    }
    if (!err) {
        err = rb_model_load(context, path, &loaded);
    }
    if (!err) {
        err = rb_encode(context, loaded, source, print_codes, NULL);
    }
    if (!err) {
        err = rb_evaluate(context, loaded, source, &metrics);
    }
    if (!err) {
        const double *mean = rb_model_array(loaded, "loadings", NULL, NULL);
        printf("mean: %g %g\n", mean[0], mean[1]);
        printf("mean squared error: %g\n", rb_metrics_get(metrics, "mean_squared_error"));
    }
    rb_metrics_free(metrics);
    rb_options_free(options);
    rb_model_free(model);
    rb_model_free(loaded);
    return err;
}

int main(int argc, char **argv) {
    static const double values[] = {1, 2, 2, 4, 3, 6}; /* three samples of two features */
    rb_context *context = NULL;
    rb_matrix *matrix = NULL;
    rb_source *source = NULL;
    rb_error err = rb_context_new(&context);
    if (!err) {
        err = rb_matrix_dense(context, RB_FLOAT64, 3, 2, values, 2, 1, &matrix);
    }
    if (!err) {
        err = rb_source_from_matrix(context, matrix, &source);
    }
    if (!err) {
        err = demonstrate(context, source, argc > 1 ? argv[1] : "mean.h5");
    }
    if (err) {
        fprintf(stderr, "%s\n", context ? rb_context_error(context) : rb_error_name(err));
    }
    rb_source_free(source);
    rb_matrix_free(matrix);
    rb_context_free(context);
    return err != RB_OK;
}
