/* Using a model: codes, reconstructions and metrics of samples, block by block. */
#include "use.h"

#include <math.h>
#include <string.h>

/* Samples in a block: large enough for fast products, whatever the shape. */
enum { BLOCK_CELLS = 1 << 21 };

/* What blocks, as read and preprocessed, and what is made of them take, roughly. */
enum { BLOCK_BYTES = 1 << 26 };

/* The most values that a sample has on its way, also between the layers of a stack. */
static int64_t find_widest(const rb_model *model) {
    int64_t widest = rb_model_features(model), units = rb_model_units(model);
    widest = widest > units ? widest : units;
    for (int64_t i = 0; rb_method_has_top(model->method) && i < model->n_arrays; i++) {
        const rb_array *array = &model->arrays[i];
        const char *last = strrchr(array->name, '.');
        bool loads = last && strcmp(last, ".loadings") == 0;
        widest = loads && array->columns > widest ? array->columns : widest;
    }
    return widest;
}

static int64_t choose_block_samples(const rb_model *model, int64_t n_samples) {
    return rb_block_size(BLOCK_CELLS, find_widest(model), n_samples);
}

void rb_coder_clear(rb_coder *coder) {
    if (coder->own) rb_method_coder_free(coder->model->method, coder->own);
    rb_feed_free(coder->feed);
    rb_dense_free(&coder->codes);
    rb_dense_free(&coder->rows);
    rb_source_free(coder->codes_below);
    rb_model_free(coder->top);
    *coder = (rb_coder){.model = coder->model};
}

rb_error rb_coder_prepare(rb_context *ctx, rb_coder *coder, const rb_model *model,
                          int64_t n_samples, bool rebuild) {
    *coder = (rb_coder){.model = model,
                        .threads = rb_context_threads(ctx),
                        .block_samples = choose_block_samples(model, n_samples)};
    int64_t samples = coder->block_samples;
    rb_error err = rb_blas_need_memory(ctx, BLOCK_BYTES);
    err = err ? err : rb_method_coder_new(ctx, model, samples, &coder->own);
    err = err ? err : rb_dense_new(ctx, model->type, samples, rb_model_units(model), &coder->codes);
    return err || !rebuild
               ? err
               : rb_dense_new(ctx, model->type, samples, rb_model_features(model), &coder->rows);
}

/* rows = codes loadings' */
static rb_error add_loadings(rb_context *ctx, rb_coder *coder, int64_t count) {
    const rb_model *model = coder->model;
    int64_t m = rb_model_features(model), units = rb_model_units(model);
    rb_dense loadings;
    rb_error err = rb_dense_new(ctx, model->type, m, units, &loadings);
    err = err ? err : rb_model_take_array(ctx, model, "loadings", loadings);
    if (!err) {
        rb_gemm_parallel(ctx, 1, rb_dense_rows(coder->codes, 0, count), RB_PLAIN, loadings,
                         RB_TRANSPOSED, 0, rb_dense_rows(coder->rows, 0, count));
    }
    rb_dense_free(&loadings);
    return err;
}

rb_error rb_coder_decode(rb_context *ctx, rb_coder *coder, int64_t count) {
    const rb_method *method = coder->model->method;
    return method->decode
               ? method->decode(ctx, coder->own, count, coder->codes.data, coder->rows.data)
               : add_loadings(ctx, coder, count);
}

/* Preprocessed samples as the model expects them. */
static rb_error rebuild(rb_context *ctx, rb_coder *coder, const rb_block *block) {
    const rb_method *method = coder->model->method;
    void *codes = coder->codes.data, *rows = coder->rows.data;
    if (method->rebuild) return method->rebuild(ctx, coder->own, block, rows);
    rb_error err = method->encode(ctx, coder->own, block, codes);
    return err ? err : rb_coder_decode(ctx, coder, block->n_samples);
}

rb_error rb_coder_check(rb_context *ctx, int64_t first, rb_dense rows, const char *what) {
    for (int64_t i = 0; i < rows.rows; i++) {
        for (int64_t j = 0; j < rows.cols; j++) {
            if (!isfinite(rb_get(rows.type, rb_dense_row(rows, i), j))) {
                bool small = rows.type == RB_FLOAT32;
                return rb_fail(
                    ctx, RB_ERROR_NUMERIC,
                    "the %s of sample %lld (counted from %d) exceed the range of %s, or are "
                    "undefined, in column %lld; %s",
                    what, (long long)rb_nth(ctx, first + i), ctx->first,
                    small ? "float32" : "float64", (long long)rb_nth(ctx, j),
                    small ? "fit with `precision=float64`, or divide the data by a constant"
                          : "divide the data by a constant");
            }
        }
    }
    return RB_OK;
}

/* Codes of samples of the feed, or the samples rebuilt from them where there are rows for these:
 * valid until the next call. */
rb_error rb_coder_block(rb_context *ctx, rb_coder *coder, int64_t first, int64_t count,
                        rb_matrix *view) {
    const rb_method *method = coder->model->method;
    bool rebuilds = coder->rows.data != NULL;
    rb_dense rows = rb_dense_rows(rebuilds ? coder->rows : coder->codes, 0, count);
    rb_block *block = &coder->block;
    rb_error err = rb_feed_read(ctx, coder->feed, first, count, block);
    if (!err && coder->below && method->non_negative) err = rb_below_add(ctx, coder->below, block);
    if (!err && coder->given)
        rb_dense_copy(rb_dense_rows(*coder->given, first, count), rows);
    else if (!err && !rebuilds)
        err = method->encode(ctx, coder->own, block, rows.data);
    else if (!err && (err = rebuild(ctx, coder, block)) == RB_OK)
        rb_feed_inverse(coder->feed, rows);
    if (!err && coder->keeps) rb_feed_keep(coder->feed, rows);
    *view = rb_matrix_of(rows);
    return err ? err : rb_coder_check(ctx, first, rows, rebuilds ? "rebuilt values" : "codes");
}

rb_error rb_give_rows(rb_context *ctx, rb_rows_fn fn, void *user, int64_t first,
                      const rb_matrix *rows) {
    int64_t failures = ctx->failures;
    rb_error err = fn(user, first, rows);
    if (err && ctx->failures == failures)
        rb_fail(ctx, err, "the program stopped taking rows at sample %lld", (long long)first);
    return err;
}

rb_error rb_coder_run(rb_context *ctx, rb_coder *coder, int64_t first, int64_t end, rb_rows_fn fn,
                      void *user) {
    int64_t size = coder->block_samples;
    rb_error err = RB_OK;
    for (; !err && first < end; first += size) {
        rb_matrix view;
        err = rb_coder_block(ctx, coder, first, rb_smaller(end - first, size), &view);
        err = err ? err : rb_give_rows(ctx, fn, user, first, &view);
    }
    return err;
}

rb_error rb_coder_start_blocks(rb_context *ctx, rb_coder *coder, const rb_model *model,
                               rb_source *source, bool rebuild) {
    rb_error err = rb_coder_prepare(ctx, coder, model, source->n_samples, rebuild);
    return err ? err : rb_feed_new(ctx, model->preprocess, source, model->type, &coder->feed);
}

rb_error rb_coder_start(rb_context *ctx, rb_coder *coder, const rb_model *model,
                        rb_source *source) {
    *coder = (rb_coder){.model = model};
    if (!rb_method_has_top(model->method))
        return rb_coder_start_blocks(ctx, coder, model, source, false);
    rb_model *top = NULL;
    rb_source *codes = NULL;
    rb_error err = model->method->top(ctx, model, source, &top, &codes);
    if (err) return err;
    err = rb_coder_start_blocks(ctx, coder, top, codes, false);
    coder->top = top;
    coder->codes_below = codes;
    return err;
}

rb_error rb_encode_runs(rb_context *ctx, const rb_model *model, rb_source *source, int64_t runs,
                        int64_t each, rb_rows_fn fn, void *user) {
    rb_coder coder;
    rb_error err = rb_coder_start(ctx, &coder, model, source);
    for (int64_t run = 0; !err && run < runs; run++) {
        int64_t first = source->n_samples / runs * run;
        err = rb_coder_run(ctx, &coder, first, first + each, fn, user);
    }
    rb_coder_clear(&coder);
    return err;
}

enum use { CODES, REBUILT, IMPUTED };

static rb_error walk(rb_context *ctx, const rb_model *model, rb_source *source, rb_rows_fn fn,
                     void *user, enum use use) {
    rb_coder coder;
    rb_below below = {0};
    rb_error err = use == CODES ? rb_coder_start(ctx, &coder, model, source)
                                : rb_coder_start_blocks(ctx, &coder, model, source, true);
    coder.keeps = use == IMPUTED;
    coder.below = &below;
    err = rb_coder_walk(ctx, &coder, err, source->n_samples, false, fn, user);
    if (!err) rb_method_tell_below(ctx, model->method, &below, model->preprocess, source);
    rb_coder_clear(&coder);
    return err;
}

rb_error rb_encode(rb_context *ctx, const rb_model *model, rb_source *source, rb_rows_fn fn,
                   void *user) {
    return walk(ctx, model, source, fn, user, CODES);
}

rb_error rb_reconstruct(rb_context *ctx, const rb_model *model, rb_source *source, rb_rows_fn fn,
                        void *user) {
    return walk(ctx, model, source, fn, user, REBUILT);
}

rb_error rb_impute(rb_context *ctx, const rb_model *model, rb_source *source, rb_rows_fn fn,
                   void *user) {
    return walk(ctx, model, source, fn, user, IMPUTED);
}

rb_error rb_copy_rows(void *user, int64_t first, const rb_matrix *rows) {
    rb_matrix_copy(rows, first, user);
    return RB_OK;
}

rb_error rb_encode_into(rb_context *ctx, const rb_model *model, rb_source *source, rb_type type,
                        void *codes, int64_t row_stride, int64_t column_stride) {
    rb_target to = {type, codes, row_stride, column_stride};
    rb_error err = rb_check_type(ctx, type);
    return err ? err : walk(ctx, model, source, rb_copy_rows, &to, CODES);
}

rb_error rb_reconstruct_into(rb_context *ctx, const rb_model *model, rb_source *source,
                             rb_type type, void *rows, int64_t row_stride, int64_t column_stride) {
    rb_target to = {type, rows, row_stride, column_stride};
    rb_error err = rb_check_type(ctx, type);
    return err ? err : walk(ctx, model, source, rb_copy_rows, &to, REBUILT);
}

/* ---- samples from codes alone ---- */

static rb_error check_codes(rb_context *ctx, const rb_model *model, const rb_matrix *codes) {
    int64_t units = rb_model_units(model);
    if (codes->n_features == units) return RB_OK;
    return rb_fail(ctx, RB_ERROR_DATA, "the codes are of %lld units, but the model has %lld",
                   (long long)codes->n_features, (long long)units);
}

/* Samples of so many codes, from the first on: into the rows of the coder. */
static rb_error decode_block(rb_context *ctx, rb_coder *coder, const rb_matrix *codes,
                             int64_t first, int64_t count) {
    const rb_matrix part = rb_matrix_part(codes, first, count);
    rb_dense to = coder->codes, rows = rb_dense_rows(coder->rows, 0, count);
    rb_matrix_copy(&part, 0, &(rb_target){to.type, to.data, to.ld, 1});
    rb_error err = rb_coder_check(ctx, first, rb_dense_rows(to, 0, count), "codes");
    if (err) return err;
    err = rb_coder_decode(ctx, coder, count);
    if (err) return err;
    rb_preprocess_inverse(coder->model->preprocess, rows);
    return rb_coder_check(ctx, first, rows, "rebuilt values");
}

rb_error rb_decode_into(rb_context *ctx, const rb_model *model, const rb_matrix *codes,
                        rb_type type, void *rows, int64_t row_stride, int64_t column_stride) {
    rb_target to = {type, rows, row_stride, column_stride};
    rb_coder coder = {0};
    int64_t n = codes->n_samples;
    rb_error err = rb_check_type(ctx, type);
    err = err ? err : check_codes(ctx, model, codes);
    if (err) return err;
    err = rb_coder_prepare(ctx, &coder, model, n, true);
    int64_t size = coder.block_samples;
    for (int64_t first = 0; !err && first < n; first += size) {
        int64_t count = rb_smaller(n - first, size);
        err = rb_check_stop(ctx);
        err = err ? err : decode_block(ctx, &coder, codes, first, count);
        const rb_matrix view = rb_matrix_of(rb_dense_rows(coder.rows, 0, count));
        if (!err) rb_matrix_copy(&view, first, &to);
    }
    rb_coder_clear(&coder);
    return err;
}

/* ---- coders ---- */

rb_error rb_coder_open(rb_context *ctx, const rb_model *model, rb_coder **out) {
    rb_coder *coder = rb_alloc(ctx, 1, sizeof *coder);
    rb_error err = coder ? rb_coder_prepare(ctx, coder, model, INT64_MAX, false) : RB_ERROR_MEMORY;
    if (err) rb_coder_free(coder);
    *out = err ? NULL : coder;
    return err;
}

void rb_coder_free(rb_coder *coder) {
    if (coder) {
        rb_coder_clear(coder);
        rb_free(coder);
    }
}

/* The feed for a matrix: the one that is there, unless names are to be matched or the shape is
 * another. */
static rb_error bind(rb_context *ctx, rb_coder *coder, const rb_matrix *rows) {
    const rb_source *last = &coder->samples;
    bool same = coder->feed && !last->feature_names && !rows->feature_names &&
                last->n_features == rows->n_features && last->type == rows->type &&
                last->sparse == rows->sparse;
    rb_source_of_matrix(rows, &coder->samples);
    if (same) {
        rb_feed_forget(coder->feed);
        return RB_OK;
    }
    rb_feed_free(coder->feed);
    coder->feed = NULL;
    return rb_feed_new(ctx, coder->model->preprocess, &coder->samples, coder->model->type,
                       &coder->feed);
}

/* Layers have blocks of their own. */
static rb_error encode_many(rb_context *ctx, const rb_model *model, const rb_matrix *rows,
                            rb_target *to) {
    rb_source source;
    rb_source_of_matrix(rows, &source);
    return rb_encode_runs(ctx, model, &source, 1, rows->n_samples, rb_copy_rows, to);
}

rb_error rb_coder_encode(rb_context *ctx, rb_coder *coder, const rb_matrix *rows, rb_type type,
                         void *codes, int64_t row_stride, int64_t column_stride) {
    rb_target to = {type, codes, row_stride, column_stride};
    rb_error err = rb_check_type(ctx, type);
    if (err) return err;
    if (rb_method_has_top(coder->model->method) && rows->n_samples > coder->block_samples)
        return encode_many(ctx, coder->model, rows, &to);
    if (coder->threads != rb_context_threads(ctx) || !coder->own) { /* each has memory of its own */
        const rb_model *model = coder->model;
        rb_coder_clear(coder);
        err = rb_coder_prepare(ctx, coder, model, INT64_MAX, false);
    }
    err = err ? err : bind(ctx, coder, rows);
    return err ? err : rb_coder_run(ctx, coder, 0, rows->n_samples, rb_copy_rows, &to);
}

/* ---- what codes and rebuilt samples tell of any method ---- */

struct measuring {
    rb_coder coder;
    rb_below *below;
    rb_metrics *metrics;
    rb_dense row; /* a sample; empty: the method measures itself, and only data are looked at */
    double squares, values; /* of the data: their sum, how many are there */
    double errors, zeros;   /* sum of squared errors, codes that are 0 */
};

rb_error rb_metrics_encode(rb_context *ctx, rb_metrics *metrics, void *coder, const rb_block *block,
                           void *codes) {
    rb_encoded *kept = metrics->encoded;
    int64_t n = block->n_samples, units = rb_model_units(kept->model);
    rb_dense made = {codes, n, units, units, kept->model->type};
    const rb_matrix view = rb_matrix_of(made);
    rb_error err = RB_OK;
    if (kept->codes.data) {
        rb_dense_copy(rb_dense_rows(kept->codes, block->first, n), made);
    } else {
        err = kept->model->method->encode(ctx, coder, block, codes);
        err = err ? err : rb_coder_check(ctx, block->first, made, "codes");
    }
    metrics->n_encoded += n;
    if (!err && !kept->walked && kept->also) err = kept->also(kept->also_user, block, &view);
    return err ? err : rb_tally_add(metrics->tally, block->first, &view);
}

rb_error rb_metrics_add(rb_context *ctx, rb_metrics *metrics, rb_adding *adding, bool encodes) {
    rb_encoded *kept = metrics->encoded;
    rb_total *end = adding->totals;
    while (end->values)
        end++;
    if (encodes && !kept->walked && kept->also_adds.values) *end++ = kept->also_adds;
    if (encodes) rb_tally_totals(metrics->tally, end);
    rb_error err = rb_feed_add(ctx, adding, metrics->likelihoods != NULL);
    if (!err && encodes) metrics->n_encoded = rb_feed_samples(adding->feed);
    return err;
}

static rb_error measure_block(rb_context *ctx, struct measuring *to, const rb_block *block) {
    rb_coder *coder = &to->coder;
    const rb_method *method = coder->model->method;
    rb_error err = rb_metrics_encode(ctx, to->metrics, coder->own, block, coder->codes.data);
    err = err               ? err
          : method->rebuild ? method->rebuild(ctx, coder->own, block, coder->rows.data)
                            : rb_coder_decode(ctx, coder, block->n_samples);
    for (int64_t i = 0; !err && i < block->n_samples; i++) {
        rb_block_rows(block, i, to->row);
        for (int64_t k = 0; k < to->row.cols; k++) {
            double d = rb_dense_get(to->row, 0, k) - rb_dense_get(coder->rows, i, k);
            to->errors += isnan(d) ? 0 : d * d;
        }
        for (int64_t j = 0; j < coder->codes.cols; j++)
            to->zeros += rb_dense_get(coder->codes, i, j) == 0;
    }
    return err;
}

static rb_error look_at_block(rb_context *ctx, void *user, const rb_block *block) {
    struct measuring *to = user;
    int64_t values = 0;
    rb_error err = RB_OK;
    to->squares += rb_block_squares(block, &values);
    to->values += (double)values;
    if (to->coder.model->method->non_negative) err = rb_below_add(ctx, to->below, block);
    return err || !to->row.data ? err : measure_block(ctx, to, block);
}

static rb_error measure_all(rb_context *ctx, struct measuring *to, rb_feed *feed) {
    rb_adding all = {.feed = feed,
                     .block_samples = to->coder.block_samples,
                     .fn = look_at_block,
                     .user = to,
                     .totals = {{&to->squares, 1, RB_KEPT_FLOAT64},
                                {&to->values, 1, RB_KEPT_FLOAT64},
                                {&to->errors, 1, RB_KEPT_FLOAT64},
                                {&to->zeros, 1, RB_KEPT_FLOAT64}}};
    rb_error err = rb_metrics_add(ctx, to->metrics, &all, to->row.data != NULL);
    if (!err) rb_below_join(ctx, to->below);
    return err;
}

/* What the method has not measured, and the share of the squares of the data that the model
 * accounts for. */
static rb_error measure(rb_context *ctx, const rb_model *model, rb_feed *feed, rb_below *below,
                        rb_metrics *metrics) {
    int64_t n = rb_feed_samples(feed);
    struct measuring to = {
        .coder = {.model = model, .block_samples = choose_block_samples(model, n)},
        .below = below,
        .metrics = metrics};
    rb_error err = RB_OK;
    if (!model->method->evaluate) {
        err = rb_coder_prepare(ctx, &to.coder, model, n, true);
        err = err ? err : rb_dense_new(ctx, model->type, 1, rb_model_features(model), &to.row);
    }
    err = err ? err : measure_all(ctx, &to, feed);
    if (!err && to.row.data)
        rb_metrics_rebuilt(metrics, to.zeros / ((double)n * (double)rb_model_units(model)),
                           to.errors, to.values);
    if (to.squares > 0) {
        double mean = rb_metrics_get(metrics, "mean_squared_error");
        rb_metrics_set(metrics, "variance_explained", 1 - mean * to.values / to.squares);
    }
    rb_dense_free(&to.row);
    rb_coder_clear(&to.coder);
    return err;
}

/* ---- metrics ---- */

/* Where a metric stands, or would stand as the next one. */
static int find_metric(const rb_metrics *metrics, const char *name) {
    int i = 0;
    while (i < metrics->count && strcmp(metrics->list[i].name, name) != 0)
        i++;
    return i;
}

void rb_metrics_set(rb_metrics *metrics, const char *name, double value) {
    int i = find_metric(metrics, name);
    if (i < (int)(sizeof metrics->list / sizeof *metrics->list)) {
        metrics->list[i].name = name;
        metrics->list[i].value = value;
        metrics->count += i == metrics->count;
    }
}

void rb_metrics_rebuilt(rb_metrics *metrics, double sparseness, double squares, double values) {
    rb_metrics_set(metrics, "sparseness", sparseness);
    rb_metrics_set(metrics, "reconstruction_error", sqrt(squares));
    rb_metrics_set(metrics, "mean_squared_error", squares / values);
}

double rb_metrics_get(const rb_metrics *metrics, const char *name) {
    int i = find_metric(metrics, name);
    return i < metrics->count ? metrics->list[i].value : NAN;
}

const char *rb_metrics_name(const rb_metrics *metrics, int64_t index) {
    return index >= 0 && index < metrics->count ? metrics->list[index].name : NULL;
}

void rb_metrics_free(rb_metrics *metrics) {
    rb_free(metrics);
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

/* What looks at codes, and was given none by the method. */
static rb_error look(rb_context *ctx, rb_encoded *kept, rb_code_tally *tally) {
    bool all = kept->codes.data || (kept->also && !kept->walked);
    return all ? rb_encoded_rows(ctx, kept, rb_tally_add, tally)
               : rb_tally_walk(ctx, kept->model, kept->source, tally);
}

static rb_error measure_with(rb_context *ctx, rb_encoded *kept, rb_feed *feed,
                             rb_metrics *metrics) {
    const rb_model *model = kept->model;
    rb_below below = {0};
    rb_error err =
        model->method->evaluate ? model->method->evaluate(ctx, model, feed, metrics) : RB_OK;
    err = err ? err : measure(ctx, model, feed, &below, metrics);
    if (!err && metrics->n_encoded == 0) err = look(ctx, kept, metrics->tally);
    if (!err) rb_method_tell_below(ctx, model->method, &below, model->preprocess, kept->source);
    return err;
}

static rb_error evaluate(rb_context *ctx, rb_encoded *kept, rb_metrics *metrics) {
    const rb_model *model = kept->model;
    rb_feed *feed = NULL;
    rb_code_check check;
    rb_code_tally tally;
    rb_error err = rb_blas_need_memory(ctx, BLOCK_BYTES);
    err = err ? err : rb_feed_new(ctx, model->preprocess, kept->source, model->type, &feed);
    if (err) return err;
    rb_metrics_set(metrics, "samples", (double)rb_source_samples(kept->source));
    rb_metrics_set(metrics, "features", (double)rb_model_features(model));
    rb_metrics_set(metrics, "units", (double)rb_model_units(model));
    rb_metrics_set(metrics, "dead_units", (double)rb_model_dead(model));
    metrics->encoded = kept;
    metrics->tally = &tally;
    err = rb_tally_begin(ctx, model, rb_source_samples(kept->source), &check, &tally);
    err = rb_tally_end(&tally, model, err ? err : measure_with(ctx, kept, feed, metrics));
    metrics->encoded = NULL;
    metrics->tally = NULL;
    if (!err) {
        set_check(&check, metrics);
        rb_model_warn(ctx, model, &check);
    }
    rb_feed_free(feed);
    return err;
}

rb_error rb_evaluate_encoded(rb_context *ctx, rb_encoded *kept, double *likelihoods,
                             rb_metrics **metrics) {
    *metrics = NULL;
    rb_metrics *measured = rb_alloc_zero(ctx, 1, sizeof *measured);
    const double n = (double)rb_source_samples(kept->source);
    if (measured) measured->likelihoods = likelihoods;
    ctx->agreed = RB_OK; /* of what came before */
    rb_error err = rb_comm_agree(ctx, measured ? RB_OK : RB_ERROR_MEMORY);
    err = err ? err : rb_comm_same(ctx, 1, &n, NULL);
    if (!err && n == 0) err = rb_fail(ctx, RB_ERROR_DATA, "there are no samples to evaluate");
    err = rb_comm_agree(ctx, err ? err : evaluate(ctx, kept, measured));
    if (err) rb_metrics_free(measured);
    *metrics = err ? NULL : measured;
    return err;
}

rb_error rb_evaluate_samples(rb_context *ctx, const rb_model *model, rb_source *source,
                             double *likelihoods, rb_metrics **metrics) {
    rb_encoded kept = {.model = model, .source = source};
    for (int64_t i = 0; likelihoods && i < source->n_samples; i++)
        likelihoods[i] = NAN;
    return rb_evaluate_encoded(ctx, &kept, likelihoods, metrics);
}

rb_error rb_evaluate(rb_context *ctx, const rb_model *model, rb_source *source,
                     rb_metrics **metrics) {
    return rb_evaluate_samples(ctx, model, source, NULL, metrics);
}
