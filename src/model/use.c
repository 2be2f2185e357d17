/* Using a model: codes, reconstructions and figures of samples, block by block. */
#include "model.h"

#include <math.h>
#include <string.h>

/* Samples in a block: large enough for fast products, whatever the shape. */
enum { BLOCK_CELLS = 1 << 21, LEAST_SAMPLES = 64 };

/* What blocks, as read and preprocessed, and what is made of them take, roughly. */
enum { BLOCK_BYTES = 1 << 26 };

/* What a walk over the samples needs. */
struct use {
    const rb_model *model;
    rb_feed *feed;
    void *coder;
    int64_t block_samples;
    rb_dense codes; /* block_samples x units */
    rb_dense rows;  /* block_samples x features, when samples are rebuilt */
    rb_below below;
    rb_rows_fn fn;
    void *user;
};

static int64_t choose_block_samples(const rb_model *model, int64_t n_samples) {
    int64_t widest = rb_model_features(model);
    widest = widest > rb_model_units(model) ? widest : rb_model_units(model);
    int64_t samples = BLOCK_CELLS / (widest > 0 ? widest : 1);
    samples = samples < LEAST_SAMPLES ? LEAST_SAMPLES : samples;
    return samples < n_samples ? samples : n_samples;
}

static void use_clear(struct use *use) {
    if (use->coder) {
        use->model->method->coder_free(use->coder);
    }
    rb_feed_free(use->feed);
    rb_dense_free(&use->codes);
    rb_dense_free(&use->rows);
}

static rb_error use_start(rb_context *ctx, struct use *use, const rb_model *model,
                          rb_source *source, bool rebuild) {
    *use = (struct use){.model = model,
                        .block_samples = choose_block_samples(model, source->n_samples)};
    rb_error err = rb_blas_need_room(ctx, BLOCK_BYTES);
    if (!err) {
        err = rb_feed_new(ctx, model->preprocess, source, model->type, &use->feed);
    }
    if (!err) {
        err = model->method->coder_new(ctx, model, use->block_samples, &use->coder);
    }
    if (!err) {
        err =
            rb_dense_new(ctx, model->type, use->block_samples, rb_model_units(model), &use->codes);
    }
    if (!err && rebuild) {
        err = rb_dense_new(ctx, model->type, use->block_samples, rb_model_features(model),
                           &use->rows);
    }
    return err;
}

/* Gives rows to the program. */
static rb_error hand_over(rb_context *ctx, const struct use *use, int64_t first, rb_dense rows) {
    rb_matrix view = {.n_samples = rows.rows,
                      .n_features = rows.cols,
                      .type = rows.type,
                      .values = rows.data,
                      .row_stride = rows.ld,
                      .column_stride = 1};
    if (use->fn(use->user, first, &view)) {
        return rb_fail(ctx, RB_ERROR_INTERRUPTED, "the program stopped taking rows at sample %lld",
                       (long long)first);
    }
    return RB_OK;
}

/* Samples as the model expects them, on the scale of the data. */
static rb_error rebuild_block(rb_context *ctx, struct use *use, const rb_block *block) {
    const rb_method *method = use->model->method;
    rb_error err;
    if (method->rebuild) {
        err = method->rebuild(ctx, use->coder, block, use->rows.data);
    } else {
        err = method->encode(ctx, use->coder, block, use->codes.data);
        if (!err) {
            err =
                method->decode(ctx, use->coder, block->n_samples, use->codes.data, use->rows.data);
        }
    }
    if (!err) {
        rb_feed_undo(use->feed, rb_dense_rows(use->rows, 0, block->n_samples));
    }
    return err;
}

static bool is_finite(rb_dense rows, int64_t i, int64_t j) {
    const void *row = rb_dense_row(rows, i);
    return rows.type == RB_FLOAT32 ? isfinite(((const float *)row)[j])
                                   : isfinite(((const double *)row)[j]);
}

/* What overflows on the way must not be written without a word. */
static rb_error check_finite(rb_context *ctx, int64_t first, rb_dense rows, const char *what) {
    for (int64_t i = 0; i < rows.rows; i++) {
        for (int64_t j = 0; j < rows.cols; j++) {
            if (!is_finite(rows, i, j)) {
                bool small = rows.type == RB_FLOAT32;
                return rb_fail(
                    ctx, RB_ERROR_NUMERIC,
                    "the %s of sample %lld (counted from 0) are beyond what %s can hold, or not "
                    "defined, in column %lld: %s",
                    what, (long long)(first + i), small ? "float32" : "float64", (long long)j,
                    small ? "fit with --precision float64, or divide the data by a constant"
                          : "divide the data by a constant");
            }
        }
    }
    return RB_OK;
}

static rb_error use_block(rb_context *ctx, struct use *use, int64_t first, int64_t count,
                          bool rebuild) {
    rb_block block;
    rb_error err = rb_feed_read(ctx, use->feed, first, count, &block);
    if (!err && use->model->method->non_negative) {
        err = rb_below_add(ctx, &use->below, &block);
    }
    if (!err) {
        err = rebuild ? rebuild_block(ctx, use, &block)
                      : use->model->method->encode(ctx, use->coder, &block, use->codes.data);
    }
    rb_dense rows = rb_dense_rows(rebuild ? use->rows : use->codes, 0, count);
    if (!err) {
        err = check_finite(ctx, first, rows, rebuild ? "rebuilt values" : "codes");
    }
    return err ? err : hand_over(ctx, use, first, rows);
}

/* Samples first .. end - 1, block by block. */
static rb_error use_run(rb_context *ctx, struct use *use, int64_t first, int64_t end,
                        bool rebuild) {
    int64_t size = use->block_samples;
    rb_error err = RB_OK;
    for (; !err && first < end; first += size) {
        err = use_block(ctx, use, first, end - first < size ? end - first : size, rebuild);
    }
    return err;
}

rb_error rb_encode_runs(rb_context *ctx, const rb_model *model, rb_source *source, int64_t runs,
                        int64_t each, rb_rows_fn fn, void *user) {
    struct use use;
    rb_error err = use_start(ctx, &use, model, source, false);
    use.fn = fn;
    use.user = user;
    for (int64_t run = 0; !err && run < runs; run++) {
        int64_t first = source->n_samples / runs * run;
        err = use_run(ctx, &use, first, first + each, false);
    }
    use_clear(&use);
    return err;
}

static rb_error walk(rb_context *ctx, const rb_model *model, rb_source *source, rb_rows_fn fn,
                     void *user, bool rebuild) {
    struct use use;
    rb_error err = use_start(ctx, &use, model, source, rebuild);
    use.fn = fn;
    use.user = user;
    if (!err) {
        err = use_run(ctx, &use, 0, source->n_samples, rebuild);
    }
    if (!err) {
        rb_below_tell(ctx, &use.below, model->preprocess, source, model->method->name);
    }
    use_clear(&use);
    return err;
}

rb_error rb_encode(rb_context *ctx, const rb_model *model, rb_source *source, rb_rows_fn fn,
                   void *user) {
    return walk(ctx, model, source, fn, user, false);
}

rb_error rb_reconstruct(rb_context *ctx, const rb_model *model, rb_source *source, rb_rows_fn fn,
                        void *user) {
    return walk(ctx, model, source, fn, user, true);
}

/* The share of the squares of the data that the model accounts for, from its mean squared error. */
static rb_error explain(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_below *below,
                        rb_metrics *metrics) {
    int64_t n = rb_feed_samples(feed), size = choose_block_samples(model, n);
    double squares = 0, cells = 0;
    rb_error err = RB_OK;
    for (int64_t first = 0; !err && first < n; first += size) {
        rb_block block;
        err = rb_feed_read(ctx, feed, first, n - first < size ? n - first : size, &block);
        int64_t values = 0;
        squares += err ? 0 : rb_block_squares(&block, &values);
        cells += (double)values;
        if (!err && model->method->non_negative) {
            err = rb_below_add(ctx, below, &block);
        }
    }
    if (squares > 0) {
        double mean = rb_metrics_get(metrics, "mean_squared_error");
        rb_metrics_set(metrics, "variance_explained", 1 - mean * cells / squares);
    }
    return err;
}

/* ---- metrics ---- */

void rb_metrics_set(rb_metrics *metrics, const char *name, double value) {
    int i = 0;
    while (i < metrics->count && strcmp(metrics->list[i].name, name) != 0) {
        i++;
    }
    if (i < (int)(sizeof metrics->list / sizeof *metrics->list)) {
        metrics->list[i].name = name;
        metrics->list[i].value = value;
        metrics->count += i == metrics->count;
    }
}

double rb_metrics_get(const rb_metrics *metrics, const char *name) {
    for (int i = 0; i < metrics->count; i++) {
        if (strcmp(metrics->list[i].name, name) == 0) {
            return metrics->list[i].value;
        }
    }
    return NAN;
}

const char *rb_metrics_name(const rb_metrics *metrics, int64_t index) {
    return index >= 0 && index < metrics->count ? metrics->list[index].name : NULL;
}

void rb_metrics_free(rb_metrics *metrics) {
    rb_free(metrics);
}

static void set_shape(const rb_model *model, int64_t n_samples, rb_metrics *metrics) {
    int64_t known = 0, count = 0;
    const double *dead = rb_model_array(model, "dead", &known, NULL);
    for (int64_t j = 0; dead && j < known && j < rb_model_units(model); j++) {
        count += dead[j] != 0;
    }
    rb_metrics_set(metrics, "samples", (double)n_samples);
    rb_metrics_set(metrics, "features", (double)rb_model_features(model));
    rb_metrics_set(metrics, "units", (double)rb_model_units(model));
    rb_metrics_set(metrics, "dead_units", (double)count);
}

static void set_check(const rb_code_check *check, rb_metrics *metrics) {
    double samples = (double)check->samples;
    if (check->samples > 0) {
        rb_metrics_set(metrics, "samples_checked", samples);
        rb_metrics_set(metrics, "samples_without_unit", (double)check->empty / samples);
        rb_metrics_set(metrics, "samples_with_nearly_all_units", (double)check->full / samples);
        rb_metrics_set(metrics, "duplicated_units", (double)check->duplicates);
    }
}

static rb_error evaluate(rb_context *ctx, const rb_model *model, rb_source *source,
                         rb_metrics *metrics) {
    rb_feed *feed;
    rb_below below = {0};
    rb_code_check check;
    rb_error err = rb_model_check(ctx, model, source, &check);
    err = err ? err : rb_blas_need_room(ctx, BLOCK_BYTES);
    err = err ? err : rb_feed_new(ctx, model->preprocess, source, model->type, &feed);
    if (err) {
        return err;
    }
    set_shape(model, source->n_samples, metrics);
    err = model->method->evaluate(ctx, model, feed, metrics);
    err = err ? err : explain(ctx, model, feed, &below, metrics);
    if (!err) {
        rb_below_tell(ctx, &below, model->preprocess, source, model->method->name);
        set_check(&check, metrics);
        rb_model_warn(ctx, model, &check);
    }
    rb_feed_free(feed);
    return err;
}

rb_error rb_evaluate(rb_context *ctx, const rb_model *model, rb_source *source,
                     rb_metrics **metrics) {
    *metrics = NULL;
    if (source->n_samples == 0) {
        return rb_fail(ctx, RB_ERROR_DATA, "there are no samples to evaluate");
    }
    rb_metrics *measured = rb_alloc_zero(ctx, 1, sizeof *measured);
    rb_error err = measured ? evaluate(ctx, model, source, measured) : RB_ERROR_MEMORY;
    if (err) {
        rb_metrics_free(measured);
        measured = NULL;
    }
    *metrics = measured;
    return err;
}
