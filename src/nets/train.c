/* rb_finetune: minibatches against the gradient, and the best net by the validation samples.
 *
 * Random numbers are functions of seed, epoch and sample: neither threads nor an interruption
 * change them. Weights begin as normal numbers with variance 2 / inputs below rectified units
 * (K. He et al., "Delving deep into rectifiers", 2015), 1 / inputs below the outputs; biases as 0.
 */
#include "train.h"

#include <rarebit/version.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VALID_ROWS = 1024 };

static size_t vector_bytes(const deep_training *t) {
    return (size_t)t->net.count * rb_type_size(t->net.type);
}

/* ---- the net to begin with ---- */

static rb_draws draws_of(const deep_training *t, int k) {
    return (rb_draws){.stream = {(uint64_t)t->options->seed, RB_RANDOM_NET_START, (uint32_t)k}};
}

static void draw_layer(deep_training *t, int k) {
    rb_dense w = deep_net_weights(&t->net, t->net.values, k);
    bool last = k == t->net.layers - 1;
    double sd = sqrt((last ? 1 : 2) / (double)(w.cols > 0 ? w.cols : 1));
    rb_draws draws = draws_of(t, k);
    for (int64_t j = 0; j < w.rows; j++)
        for (int64_t i = 0; i < w.cols; i++)
            rb_dense_set(w, j, i, sd * rb_draw_normal(&draws));
}

/* Is the start a net whose outputs are those that are wanted? Then they are taken too. */
static bool same_outputs(const deep_training *t, const rb_model *start, const char *names) {
    const char *before = start ? rb_model_attribute(start, "classes") : NULL;
    const char *kind = start ? rb_net_outputs(start) : NULL;
    int hidden = 0;
    int64_t sizes[DEEP_SIZES_MAX];
    if (!kind || deep_read_layers(t->ctx, t->options->layers, &hidden, sizes) || hidden > 0)
        return false;
    return strcmp(kind, deep_outputs_names[t->options->outputs]) == 0 &&
           rb_model_units(start) == t->net.sizes[t->net.layers] && !before == !names &&
           (!names || strcmp(before, names) == 0);
}

/* Weights for samples of a size become weights for those of a size of 1, and directions as long as
 * random weights; the layer above divides by what outputs were multiplied by where it shall. A
 * unit whose weights are all 0 would never learn: it begins at random. */
static void fit_layer(deep_training *t, const deep_layers *from, int k) {
    const deep_layer *layer = &from->list[k];
    int64_t in = layer->in, out = layer->out;
    double size = k == 0 ? t->input_size : 1;
    rb_draws draws = draws_of(t, k);
    for (int64_t j = 0; j < out; j++) {
        double *w = layer->weights + j * in, squares = 0, times = size;
        for (int64_t i = 0; i < in; i++)
            squares += w[i] * w[i];
        if (layer->directions && squares > 0) times = sqrt(2 / squares);
        bool random = layer->directions && squares == 0;
        layer->bias[j] *= random ? 0 : times / size;
        for (int64_t i = 0; i < in; i++)
            w[i] = random ? sqrt(2 / (double)in) * rb_draw_normal(&draws) : w[i] * times;
        for (int64_t i = 0; layer->undone && k + 1 < from->count && i < layer[1].out; i++)
            layer[1].weights[i * out + j] /= times / size;
    }
}

static void copy_layers(deep_training *t, const deep_layers *from) {
    for (int k = 0; k < from->count; k++) {
        const deep_layer *layer = &from->list[k];
        rb_dense w = {layer->weights, layer->out, layer->in, layer->in, RB_FLOAT64};
        rb_dense b = {layer->bias, 1, layer->out, layer->out, RB_FLOAT64};
        fit_layer(t, from, k);
        rb_dense_copy(w, deep_net_weights(&t->net, t->net.values, k));
        rb_dense_copy(b, deep_net_bias(&t->net, t->net.values, k));
    }
}

static rb_error copy_outputs(deep_training *t, const rb_model *start) {
    deep_net from;
    int k = t->net.layers - 1;
    rb_error err = deep_net_load(t->ctx, start, &from);
    if (err) return err;
    rb_dense_copy(deep_net_weights(&from, from.values, k),
                  deep_net_weights(&t->net, t->net.values, k));
    rb_dense_copy(deep_net_bias(&from, from.values, k), deep_net_bias(&t->net, t->net.values, k));
    rb_free(from.values);
    return RB_OK;
}

static rb_error size_net(deep_training *t, const deep_layers *from, int64_t features,
                         int64_t outputs) {
    int hidden;
    int64_t sizes[DEEP_SIZES_MAX];
    rb_error err = deep_read_layers(t->ctx, t->options->layers, &hidden, sizes);
    if (!err && from->count + hidden >= DEEP_LAYERS_MAX)
        err = rb_fail(t->ctx, RB_ERROR_ARGUMENT, "the net would have more than %d layers",
                      DEEP_LAYERS_MAX);
    if (err) return err;
    t->net = (deep_net){.type = (rb_type)t->options->precision,
                        .outputs = (deep_outputs)t->options->outputs};
    t->net.sizes[0] = features;
    for (int k = 0; k < from->count; k++)
        t->net.sizes[++t->net.layers] = from->list[k].out;
    for (int k = 0; k < hidden; k++)
        t->net.sizes[++t->net.layers] = sizes[k];
    t->net.sizes[++t->net.layers] = outputs;
    if (t->net.layers == 1 && t->options->dropout > 0) {
        return rb_fail(
            t->ctx, RB_ERROR_ARGUMENT,
            "`dropout` is given, but does nothing: the net has no hidden layer; leave it "
            "out, or ask for layers");
    }
    return deep_net_lay_out(t->ctx, &t->net);
}

static rb_error take_vectors(deep_training *t) {
    size_t size = rb_type_size(t->net.type);
    int64_t count = t->net.count;
    bool adam = t->options->optimizer == DEEP_ADAM;
    bool moves = adam || t->options->optimizer == DEEP_NESTEROV || t->options->momentum > 0;
    t->net.values = rb_alloc_zero(t->ctx, count, size);
    t->gradient = t->net.values ? rb_alloc_zero(t->ctx, count, size) : NULL;
    t->best = t->gradient ? rb_alloc_zero(t->ctx, count, size) : NULL;
    t->first = t->best && moves ? rb_alloc_zero(t->ctx, count, size) : NULL;
    t->second = t->first && adam ? rb_alloc_zero(t->ctx, count, size) : NULL;
    return !t->best || (moves && !t->first) || (adam && !t->second) ? RB_ERROR_MEMORY : RB_OK;
}

static rb_error begin_net(deep_training *t, const rb_model *start, int64_t outputs) {
    deep_layers from = {0};
    rb_error err =
        start ? deep_layers_of_model(t->ctx, start, (deep_filter)t->options->filter, &from) : RB_OK;
    err = err ? err : size_net(t, &from, t->model->preprocess->n_features, outputs);
    err = err ? err : take_vectors(t);
    const char *names = rb_model_attribute(t->model, "classes");
    bool whole = !err && same_outputs(t, start, names);
    for (int k = from.count; !err && k < t->net.layers - whole; k++)
        draw_layer(t, k);
    if (!err) copy_layers(t, &from);
    if (!err && whole) err = copy_outputs(t, start);
    deep_layers_free(&from);
    return err;
}

/* ---- preprocessing and what the model records ---- */

static rb_error check_preprocess(rb_context *ctx, const rb_options *options) {
    for (const rb_option *row = rb_preprocess_group.rows; row->name; row++)
        if (rb_options_is_set(options, row->name)) return rb_refuse_preprocess(ctx, row->name);
    return RB_OK;
}

/* Steps suit inputs of a size of 1: the preprocessing divides by the size that they have, and the
 * lowest weights are multiplied by it. A net has that already. */
static rb_error normalise(deep_training *t, const rb_model *start) {
    rb_preprocess *p = t->model->preprocess;
    rb_error err = RB_OK;
    t->input_size = 1;
    if (!start || !rb_net_outputs(start))
        err = deep_input_size(t->ctx, p, t->train->source, &t->input_size);
    for (int64_t k = 0; !err && k < p->n_features; k++)
        p->scale[k] *= t->input_size;
    return err;
}

static rb_error make_preprocess(deep_training *t, const rb_options *options, const rb_model *start,
                                rb_preprocess **p) {
    rb_context *ctx = t->ctx;
    if (start) {
        rb_error err = check_preprocess(ctx, options);
        if (err) return err;
        *p = rb_preprocess_copy(ctx, start->preprocess);
        return *p ? rb_preprocess_renew(ctx, *p, t->train->source, false) : RB_ERROR_MEMORY;
    }
    rb_preprocess_options wanted =
        *(const rb_preprocess_options *)rb_options_fields(options, &rb_preprocess_group);
    if (wanted.centre == RB_CENTRE_AUTO) wanted.centre = RB_CENTRE_MEAN;
    return rb_preprocess_fit(ctx, &wanted, t->train->source, p);
}

static rb_error record_number(deep_training *t, const char *name, const char *format,
                              int64_t value) {
    char text[32];
    snprintf(text, sizeof text, format, (long long)value);
    return rb_model_set_attribute(t->ctx, t->model, name, text);
}

/* CRC-32 of what the samples are to give. */
static int64_t labels_checksum(const deep_labels *labels, int64_t outputs) {
    rb_crc32 crc;
    rb_crc32_prepare(&crc);
    if (labels->class_of)
        return rb_crc32_add(&crc, 0, labels->class_of, (size_t)labels->count * sizeof(int64_t));
    return rb_crc32_add(&crc, 0, labels->values,
                        (size_t)(labels->count * outputs) * sizeof(double));
}

static rb_error record(deep_training *t, const rb_model *start) {
    rb_context *ctx = t->ctx;
    const rb_preprocess *p = t->model->preprocess;
    rb_error err = rb_model_record_options(ctx, t->model, deep_train_rows, t->options);
    err = err ? err : rb_model_record_options(ctx, t->model, rb_preprocess_group.rows, &p->options);
    err = err ? err : rb_model_set_attribute(ctx, t->model, "program_version", RB_VERSION);
    err = err ? err
              : rb_model_set_attribute(ctx, t->model, "start",
                                       start ? rb_model_method(start) : "none");
    err = err ? err : record_number(t, "data_checksum", "%08llx", p->checksum);
    err = err ? err : record_number(t, "data_samples", "%lld", t->train->source->n_samples);
    if (!err && start) {
        t->start_checksum = (int64_t)rb_model_checksum(start) + 1;
        err = record_number(t, "start_checksum", "%08llx", t->start_checksum - 1);
    }
    if (!err && t->valid) {
        uint32_t valid;
        err = rb_source_checksum(ctx, t->valid->source, &valid);
        err = err ? err : record_number(t, "valid_checksum", "%08llx", valid);
    }
    return err;
}

static rb_error record_labels(deep_training *t) {
    int64_t outputs = t->net.sizes[t->net.layers];
    rb_error err =
        record_number(t, "labels_checksum", "%08llx", labels_checksum(&t->labels, outputs));
    if (!err && t->valid) {
        err = record_number(t, "valid_labels_checksum", "%08llx",
                            labels_checksum(&t->valid_labels, outputs));
        err = err ? err : record_number(t, "valid_samples", "%lld", t->valid_labels.count);
    }
    return err;
}

/* ---- an epoch ---- */

static deep_noise noise_of(const deep_training *t, int64_t epoch) {
    const deep_train_options *o = t->options;
    rb_stream stream = {(uint64_t)o->seed, RB_RANDOM_NET_MASK, 0};
    deep_noise noise = {.masking = o->masking, .dropout = o->dropout};
    noise.mask_key = rb_random_key(stream, (uint64_t)epoch);
    stream.purpose = RB_RANDOM_NET_DROP;
    for (int k = 0; k < t->net.layers; k++) {
        stream.restart = (uint32_t)k;
        noise.drop_keys[k] = rb_random_key(stream, (uint64_t)epoch);
    }
    return noise;
}

static void shuffle(deep_training *t, int64_t epoch) {
    rb_stream stream = {(uint64_t)t->options->seed, RB_RANDOM_NET_ORDER, 0};
    stream.seed = rb_random_key(stream, (uint64_t)epoch);
    rb_source_shuffle(t->shuffled, stream);
    rb_feed_forget(t->feed);
}

/* Fills the labels of the rows of a batch; how many of them count. */
static int64_t take_batch(deep_training *t, int64_t count, deep_target *target) {
    int64_t labelled = 0, outputs = t->net.sizes[t->net.layers];
    for (int64_t i = 0; i < count; i++) {
        int64_t sample = t->shuffled->order[i];
        int64_t c = t->labels.class_of ? t->labels.class_of[sample] : 0;
        t->batch_samples[i] = sample;
        t->batch_class[i] = c;
        t->batch_weights[i] = c >= 0 && t->class_weights ? t->class_weights[c] : 1;
        labelled += c >= 0;
        if (t->labels.values) {
            memcpy(t->batch_values + i * outputs, t->labels.values + sample * outputs,
                   (size_t)outputs * sizeof(double));
        }
    }
    *target = (deep_target){.class_of = t->labels.class_of ? t->batch_class : NULL,
                            .values = t->labels.values ? t->batch_values : NULL,
                            .weights = t->batch_weights,
                            .samples = t->batch_samples};
    return labelled;
}

/* Is the most probable output another one than the class? */
static bool errs(rb_dense outputs, int64_t row, int64_t class_of) {
    for (int64_t j = 0; j < outputs.cols; j++) {
        double y = rb_dense_get(outputs, row, j), right = rb_dense_get(outputs, row, class_of);
        if (j < class_of ? !(y < right) : !(y <= right)) return true;
    }
    return false;
}

/* What is added up over an epoch, or over the validation samples. */
struct tally {
    double loss;
    int64_t errors, labelled;
};

static void count_errors(rb_dense y, const int64_t *class_of, struct tally *tally) {
    for (int64_t i = 0; class_of && i < y.rows; i++)
        tally->errors += class_of[i] >= 0 && errs(y, i, class_of[i]);
}

static rb_error train_batch(deep_training *t, int64_t first, int64_t count, double rate,
                            const deep_noise *noise, struct tally *tally) {
    rb_block block, x;
    deep_target target;
    rb_error err = rb_feed_read(t->ctx, t->feed, first, count, &block);
    if (err) return err;
    int64_t labelled = take_batch(t, count, &target);
    if (labelled == 0) return RB_OK;
    err = deep_net_input(t->ctx, &t->pass, &block, noise, t->batch_samples, &x);
    if (err) return err;
    rb_dense y = deep_net_forward(t->ctx, &t->net, &x, noise, t->batch_samples, &t->pass);
    count_errors(y, target.class_of, tally);
    tally->loss += deep_net_loss(&t->net, y, &target, 1 / (double)labelled);
    tally->labelled += labelled;
    deep_net_backward(t->ctx, &t->net, &x, noise, &t->pass, t->gradient);
    deep_train_step(t, rate);
    return RB_OK;
}

static rb_error train_epoch(deep_training *t, int64_t epoch, struct tally *tally) {
    int64_t n = t->train->source->n_samples, batch = t->pass_rows;
    double rate = deep_rate(t->options, epoch);
    deep_noise noise = noise_of(t, epoch);
    rb_error err = RB_OK;
    shuffle(t, epoch);
    for (int64_t first = 0; !err && first < n; first += batch) {
        int64_t count = n - first < batch ? n - first : batch;
        err = train_batch(t, first, count, rate, &noise, tally);
    }
    if (!err && !isfinite(tally->loss + rb_get(t->net.type, t->net.values, 0))) {
        err = rb_fail(t->ctx, RB_ERROR_NUMERIC,
                      "the loss became infinite in epoch %lld; take a smaller `rate`",
                      (long long)epoch + 1);
    }
    return err;
}

static rb_error validate(deep_training *t, struct tally *tally) {
    static const deep_noise none = {0};
    int64_t outputs = t->net.sizes[t->net.layers];
    int64_t rows = t->pass.rows < VALID_ROWS ? t->pass.rows : VALID_ROWS;
    rb_block block = {0}, x;
    rb_error err = RB_OK;
    while (rb_feed_next(t->ctx, t->valid_feed, rows, &block, &err)) {
        int64_t first = block.first;
        err = deep_net_input(t->ctx, &t->pass, &block, &none, NULL, &x);
        if (err) break;
        rb_dense y = deep_net_forward(t->ctx, &t->net, &x, &none, NULL, &t->pass);
        const int64_t *class_of = t->valid_labels.class_of;
        const double *values = t->valid_labels.values;
        count_errors(y, class_of ? class_of + first : NULL, tally);
        for (int64_t i = 0; i < y.rows; i++) {
            tally->loss += deep_net_sample_loss(&t->net, y, i, class_of ? class_of[first + i] : 0,
                                                values ? values + (first + i) * outputs : NULL);
        }
    }
    tally->labelled = t->valid_labels.labelled;
    return err;
}

/* ---- after an epoch ---- */

/* Fewer errors on the validation samples, or as many with a smaller loss; of values the loss.
 * Without such samples the last net is the best one. */
static void keep_best(deep_training *t, const struct tally *valid) {
    deep_progress *p = &t->progress;
    bool better = p->best_epoch < 0 || !t->valid || valid->errors < p->best_errors ||
                  (valid->errors == p->best_errors && valid->loss < p->best_loss);
    if (!better) return;
    memcpy(t->best, t->net.values, vector_bytes(t));
    p->best_epoch = p->epochs - 1;
    p->best_errors = valid->errors;
    p->best_loss = valid->loss;
}

static double share(int64_t part, int64_t of) {
    return of > 0 ? (double)part / (double)of : NAN;
}

static rb_error add_history(deep_training *t, int64_t epoch, const struct tally *train,
                            const struct tally *valid, double seconds) {
    bool classes = t->labels.class_of != NULL;
    rb_history entry = {.objective = -train->loss / (double)train->labelled,
                        .estep_objective = NAN,
                        .seconds = seconds};
    for (int f = 0; f < RB_METRICS_MAX; f++)
        entry.metrics[f] = NAN;
    entry.metrics[0] = classes ? share(train->errors, train->labelled) : NAN;
    if (t->valid) {
        entry.metrics[1] = valid->loss / (double)valid->labelled;
        entry.metrics[2] = classes ? share(valid->errors, valid->labelled) : NAN;
    }
    entry.metrics[3] = deep_rate(t->options, epoch);
    return rb_model_add_history(t->ctx, t->model, entry);
}

static rb_error tell(deep_training *t, int64_t made) {
    rb_context *ctx = t->ctx;
    if (!ctx->on_progress) return RB_OK;
    const rb_history *entry = &t->model->history[t->model->iterations - 1];
    double elapsed = rb_seconds() - t->began;
    int64_t left = t->options->epochs - t->progress.epochs;
    rb_progress progress = {.what = "epoch",
                            .iteration = t->progress.epochs,
                            .iterations = t->options->epochs,
                            .objective = entry->objective,
                            .estep_objective = NAN,
                            .seconds = entry->seconds,
                            .elapsed = elapsed,
                            .remaining = elapsed / (double)made * (double)left,
                            .metric_names = t->model->method->metric_names,
                            .metrics = entry->metrics};
    if (t->options->max_time > 0)
        progress.remaining = fmin(progress.remaining, fmax(0, t->options->max_time - elapsed));
    int64_t failures = ctx->failures;
    rb_error err = ctx->on_progress(&progress, ctx->progress_user);
    return err && err != RB_ERROR_INTERRUPTED && ctx->failures == failures
               ? rb_fail(ctx, err, "the progress callback gave %s", rb_error_name(err))
               : err;
}

static bool is_patient(const deep_training *t) {
    int64_t patience = t->valid ? t->options->patience : 0;
    return patience == 0 || t->progress.epochs - 1 - t->progress.best_epoch < patience;
}

/* Trains until a rule ends it; RB_OK with the status set. */
static rb_error epochs(deep_training *t) {
    deep_progress *p = &t->progress;
    rb_error err = RB_OK;
    rb_status status = RB_STATUS_ITERATIONS;
    for (int64_t made = 1; p->epochs < t->options->epochs; made++) {
        double began = rb_seconds();
        struct tally train = {0}, valid = {0};
        if (!is_patient(t)) {
            status = RB_STATUS_PATIENCE;
            break;
        }
        err = train_epoch(t, p->epochs, &train);
        if (!err && t->valid) err = validate(t, &valid);
        if (err) break;
        p->epochs++;
        keep_best(t, &valid);
        err = add_history(t, p->epochs - 1, &train, &valid, rb_seconds() - began);
        if (err) return err;
        err = tell(t, made);
        bool late = t->options->max_time > 0 && rb_seconds() - t->began >= t->options->max_time;
        bool ends = err || late || !is_patient(t) || p->epochs == t->options->epochs;
        deep_checkpoint_after(t, ends);
        if (err || late) {
            status = RB_STATUS_TIME;
            break;
        }
    }
    if ((err == RB_ERROR_STOPPED || err == RB_ERROR_INTERRUPTED) && p->epochs > 0) {
        err = RB_OK;
        status = RB_STATUS_STOPPED;
    }
    if (err == RB_OK && status == RB_STATUS_ITERATIONS && !is_patient(t))
        status = RB_STATUS_PATIENCE;
    t->model->status = status;
    return err;
}

/* ---- all of it ---- */

static rb_error open_feeds(deep_training *t) {
    const rb_preprocess *p = t->model->preprocess;
    int64_t n = t->train->source->n_samples, outputs = t->net.sizes[t->net.layers];
    t->pass_rows = t->options->batch_size < n ? t->options->batch_size : n;
    int64_t rows = t->pass_rows;
    if (t->valid && rows < VALID_ROWS)
        rows = t->valid_labels.count < VALID_ROWS ? t->valid_labels.count : VALID_ROWS;
    rows = rows < t->pass_rows ? t->pass_rows : rows;
    rb_error err = rb_source_shuffled(t->ctx, t->train->source, &t->shuffled);
    err = err ? err : rb_feed_new(t->ctx, p, t->shuffled, t->net.type, &t->feed);
    if (!err && t->valid)
        err = rb_feed_new(t->ctx, p, t->valid->source, t->net.type, &t->valid_feed);
    err = err ? err : deep_pass_new(t->ctx, &t->net, rows, true, &t->pass);
    if (err) return err;
    t->batch_class = rb_alloc(t->ctx, t->pass_rows, sizeof *t->batch_class);
    t->batch_samples = t->batch_class ? rb_alloc(t->ctx, t->pass_rows, sizeof(int64_t)) : NULL;
    t->batch_weights = t->batch_samples ? rb_alloc(t->ctx, t->pass_rows, sizeof(double)) : NULL;
    t->batch_values =
        t->batch_weights ? rb_alloc(t->ctx, t->pass_rows, (size_t)outputs * sizeof(double)) : NULL;
    return t->batch_values ? RB_OK : RB_ERROR_MEMORY;
}

static rb_error take_labels(deep_training *t, int64_t outputs) {
    deep_outputs kind = (deep_outputs)t->options->outputs;
    const char *names = rb_model_attribute(t->model, "classes");
    rb_error err = deep_labels_take(t->ctx, "the training samples", kind, outputs, names, t->train,
                                    &t->labels);
    if (!err && t->valid) {
        err = deep_labels_take(t->ctx, "the validation samples", kind, outputs, names, t->valid,
                               &t->valid_labels);
    }
    if (!err && kind == DEEP_SOFTMAX) {
        err = deep_class_weights(t->ctx, t->options->class_weights, names, outputs, &t->labels,
                                 &t->class_weights);
    }
    return err;
}

static rb_error run(deep_training *t, const rb_options *options, const rb_model *start) {
    rb_context *ctx = t->ctx;
    rb_preprocess *p = NULL;
    bool classes = t->options->outputs == DEEP_SOFTMAX;
    int64_t outputs = classes ? t->train->n_classes : t->train->n_values;
    rb_error err = make_preprocess(t, options, start, &p);
    if (err) {
        rb_preprocess_free(p);
        return err;
    }
    err = rb_model_new(ctx, &rb_method_net, (rb_type)t->options->precision, p, &t->model);
    err = err ? err : normalise(t, start);
    if (!err && classes) err = deep_names_store(ctx, t->model, outputs, t->train->names);
    err = err ? err : take_labels(t, outputs);
    err = err ? err : record(t, start);
    err = err ? err : rb_blas_need_memory(ctx, 1 << 26);
    err = err ? err : begin_net(t, start, outputs);
    err = err ? err : record_labels(t);
    err = err ? err : open_feeds(t);
    err = err ? err : deep_checkpoint_begin(t);
    err = err ? err : epochs(t);
    if (err) return err;
    memcpy(t->net.values, t->best, vector_bytes(t));
    err = record_number(t, "best_epoch", "%lld", t->progress.best_epoch + 1);
    return err ? err : deep_net_store(ctx, &t->net, t->model);
}

static void clear(deep_training *t) {
    void *const memory[] = {t->net.values,   t->gradient,      t->best,        t->first,
                            t->second,       t->class_weights, t->batch_class, t->batch_samples,
                            t->batch_values, t->batch_weights};
    deep_checkpoint_end(t);
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        rb_free(memory[i]);
    deep_pass_free(&t->pass);
    rb_feed_free(t->feed);
    rb_feed_free(t->valid_feed);
    rb_source_free(t->shuffled);
    deep_labels_free(&t->labels);
    deep_labels_free(&t->valid_labels);
}

rb_error rb_finetune(rb_context *ctx, const rb_options *options, const rb_model *start,
                     const rb_labelled *train, const rb_labelled *valid, rb_model **net) {
    rb_options *chosen = NULL;
    *net = NULL;
    if (!rb_options_fields(options, &deep_train_group)) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the options are not those of a training; take rb_finetune_options_new");
    }
    rb_error err = deep_labelled_check(ctx, "the training samples", train);
    if (!err && valid) err = deep_labelled_check(ctx, "the validation samples", valid);
    err = err ? err : deep_train_ready(ctx, options, start, train, valid, &chosen);
    if (err) return err;
    deep_training t = {.ctx = ctx,
                       .options = rb_options_fields(chosen, &deep_train_group),
                       .checkpoints = rb_options_fields(chosen, &deep_checkpoint_group),
                       .train = train,
                       .valid = valid,
                       .progress = {.best_epoch = -1},
                       .began = rb_seconds()};
    err = run(&t, options, start);
    clear(&t);
    rb_options_free(chosen);
    if (err)
        rb_model_free(t.model);
    else
        *net = t.model;
    return err == RB_ERROR_MEMORY && rb_asked_to_stop(ctx) ? rb_check_stop(ctx) : err;
}
