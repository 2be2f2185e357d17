/* Fitting a stack: greedily, layer by layer, each to the codes of the one below.
 *
 * G. Hinton, R. Salakhutdinov, "Reducing the dimensionality of data with neural networks", Science
 * 2006; Y. Bengio et al., "Greedy layer-wise training of deep networks", NIPS 2007; for RFNs see
 * D.-A. Clevert et al., "Rectified factor networks", NIPS 2015, section "RFN pretraining for deep
 * nets".
 */
#include "stack.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct stack_options {
    double codes_memory;
} stack_options;

static const rb_option table[] = {
    {"codes-memory", 0, RB_OPTION_NUMBER, offsetof(stack_options, codes_memory), "2000", 0, 1e9,
     NULL, "MB",
     "keep the codes of layers in memory while those above are fitted, up to this many megabytes; "
     "beyond that they are computed whenever needed"},
    {0},
};

static const rb_option_group group = {sizeof(rb_option), "Stack", table, sizeof(stack_options),
                                      NULL};

rb_error rb_stack_options(rb_context *ctx, const char *method, rb_options **options) {
    rb_error err = rb_options_new(ctx, method, options);
    if (!err && !method) err = rb_fail(ctx, RB_ERROR_ARGUMENT, "a stack needs a method");
    err = err ? err : rb_options_add(ctx, *options, &group);
    if (err) {
        rb_options_free(*options);
        *options = NULL;
    } else {
        rb_options_take_lists(*options);
    }
    return err;
}

/* ---- the options of a layer ---- */

/* What is done to data alone. */
static const char *const of_data[] = {"missing",        "totals",       "log1p",
                                      "centre-samples", "top-variance", "drop",
                                      "drop-samples",   "regress",      NULL};

static rb_error count_layers(rb_context *ctx, const rb_options *options, int64_t *count) {
    rb_error err = rb_options_items(ctx, options, count);
    for (const char *const *name = of_data; !err && *name && *count > 1; name++) {
        char text[256];
        rb_options_get(options, *name, text, sizeof text);
        bool words = strcmp(*name, "regress") == 0 || strncmp(*name, "drop", 4) == 0;
        if (!words && strchr(text, ',')) {
            err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                          "`%s` is '%s', but it is about the data, which the first layer alone "
                          "sees; give one value",
                          *name, text);
        }
    }
    if (!err && *count > RB_STACK_LAYERS_MAX) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "there are options for %lld layers, but a stack has at most %d",
                      (long long)*count, RB_STACK_LAYERS_MAX);
    }
    return err;
}

/* Each layer has a checkpoint of its own. */
static rb_error set_checkpoint(rb_context *ctx, int64_t k, rb_options *options) {
    const char *path = rb_options_text(options, "checkpoint");
    if (!path) return RB_OK;
    size_t size = strlen(path) + 32;
    char *own = rb_alloc(ctx, (int64_t)size, 1);
    if (!own) return RB_ERROR_MEMORY;
    snprintf(own, size, "%s.layer%lld", path, (long long)k);
    rb_error err = rb_options_set(ctx, options, "checkpoint", own);
    rb_free(own);
    return err;
}

/* Of layer k, from 1. */
static rb_error layer_options(rb_context *ctx, const rb_options *from, int64_t k,
                              rb_options **options) {
    rb_option row;
    rb_error err = rb_options_new(ctx, from->method->name, options);
    for (int64_t i = 0; !err && !rb_options_row(*options, i, &row, sizeof row); i++)
        if (k == 1 || !rb_among(of_data, row.name))
            err = rb_options_set_item(ctx, from, row.name, k - 1, *options);
    err = err ? err : set_checkpoint(ctx, k, *options);
    if (err) {
        rb_options_free(*options);
        *options = NULL;
    }
    return err;
}

static rb_error is_of_stack(rb_context *ctx, const rb_options *options) {
    return options && options->method && rb_options_fields(options, &group)
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_ARGUMENT,
                         "the options are those of no stack; rb_stack_options makes them");
}

static void name_layer(rb_context *ctx, int64_t k, int64_t count) {
    if (count > 1) rb_fail_prefix(ctx, "layer %lld: ", (long long)k);
}

rb_error rb_stack_check(rb_context *ctx, const rb_options *options) {
    int64_t count = 0;
    rb_error err = is_of_stack(ctx, options);
    err = err ? err : count_layers(ctx, options, &count);
    for (int64_t k = 1; !err && k <= count; k++) {
        rb_options *own;
        err = layer_options(ctx, options, k, &own);
        err = err ? err : rb_options_check(ctx, own, NULL);
        if (err) name_layer(ctx, k, count);
        rb_options_free(own);
    }
    return err;
}

/* What layer k needs, and its units in place of the features of `below`. */
static rb_error layer_memory(rb_context *ctx, const rb_options *options, int64_t k,
                             rb_source *below, double *fit, double *codes) {
    rb_options *own;
    int64_t bytes = 0;
    char units[32] = "", precision[32] = "";
    rb_error err = layer_options(ctx, options, k, &own);
    err = err ? err : rb_fit_memory(ctx, own, below, &bytes);
    if (!err) {
        rb_options_get(own, "units", units, sizeof units);
        rb_options_get(own, "precision", precision, sizeof precision);
        below->type = strcmp(precision, "float64") == 0 ? RB_FLOAT64 : RB_FLOAT32;
        below->n_features = strtoll(units, NULL, 10);
        below->sparse = false;
        *fit = (double)bytes;
        *codes = (double)below->n_samples * (double)below->n_features *
                 (double)rb_type_size(below->type);
    }
    rb_options_free(own);
    return err;
}

rb_error rb_stack_memory(rb_context *ctx, const rb_options *options, const rb_source *source,
                         int64_t *bytes) {
    *bytes = 0;
    int64_t count = 0;
    double most = 0, kept = 0, fit, codes;
    rb_error err = rb_stack_check(ctx, options);
    err = err ? err : count_layers(ctx, options, &count);
    if (err) return err;
    const stack_options *own = rb_options_fields(options, &group);
    rb_source below = {.n_samples = source->n_samples,
                       .n_features = source->n_features,
                       .type = source->type,
                       .sparse = source->sparse};
    for (int64_t k = 1; !err && k <= count; k++) {
        err = layer_memory(ctx, options, k, &below, &fit, &codes);
        if (err) break;
        most = kept + fit > most ? kept + fit : most;
        if (k < count && kept + codes <= own->codes_memory * 1e6) kept += codes;
    }
    if (!err) *bytes = most < 0x1p62 ? (int64_t)most : INT64_MAX;
    return err;
}

/* ---- the fit ---- */

/* What is told of a layer goes to whom the program has named, with the layer's number. */
typedef struct teller {
    rb_context *ctx;
    rb_progress_fn on_progress;
    rb_log_fn on_log;
    void *progress_user, *log_user;
    int64_t layer, count;
} teller;

static rb_error tell_progress(const rb_progress *progress, void *user) {
    const teller *t = user;
    char what[64];
    rb_progress named = *progress;
    snprintf(what, sizeof what, "layer %lld of %lld, %s", (long long)t->layer, (long long)t->count,
             progress->what);
    if (t->count > 1) named.what = what;
    return t->on_progress(&named, t->progress_user);
}

static void tell_log(rb_log_level level, const char *message, void *user) {
    const teller *t = user;
    char text[1024];
    if (t->count > 1) snprintf(text, sizeof text, "layer %lld: %s", (long long)t->layer, message);
    t->on_log(level, t->count > 1 ? text : message, t->log_user);
}

static void begin_telling(rb_context *ctx, teller *t) {
    *t = (teller){ctx, ctx->on_progress, ctx->on_log, ctx->progress_user, ctx->log_user, 0, 0};
    if (t->on_progress) rb_context_on_progress(ctx, tell_progress, t);
    if (t->on_log) rb_context_on_log(ctx, tell_log, t);
}

static void end_telling(const teller *t) {
    rb_context_on_progress(t->ctx, t->on_progress, t->progress_user);
    rb_context_on_log(t->ctx, t->on_log, t->log_user);
}

typedef struct stack_fit {
    const rb_options *options;
    int64_t count; /* that are asked for */
    stack_layers layers;
    rb_source *samples;
    rb_source *codes[RB_STACK_LAYERS_MAX]; /* of each layer, for the next one */
    double left;                           /* bytes of codes that may be kept */
    teller teller;
    bool ended;   /* no further layer is begun */
    bool stopped; /* before the first iteration of a layer */
} stack_fit;

/* The codes of the layer that was fitted last, for the next one. */
static rb_error give_codes(rb_context *ctx, stack_fit *f) {
    int64_t k = f->layers.count - 1;
    const rb_model *model = f->layers.list[k];
    rb_source *below = k > 0 ? f->codes[k - 1] : f->samples;
    double bytes = (double)rb_source_samples(below) * (double)rb_model_units(model) *
                   (double)rb_type_size(model->type);
    bool keep = bytes <= f->left;
    if (keep) f->left -= bytes;
    return rb_source_of_codes(ctx, model, below, keep, &f->codes[k]);
}

static rb_error fit_layer(rb_context *ctx, stack_fit *f) {
    int64_t k = f->layers.count;
    rb_source *source = k > 0 ? f->codes[k - 1] : f->samples;
    rb_options *options;
    rb_model *model = NULL;
    f->teller.layer = k + 1;
    rb_error err = layer_options(ctx, f->options, k + 1, &options);
    err = err ? err : rb_fit(ctx, options, source, NULL, &model);
    rb_options_free(options);
    if (err == RB_ERROR_STOPPED && k > 0) { /* the layers below are a result */
        f->ended = f->stopped = true;
        return RB_OK;
    }
    if (err) {
        name_layer(ctx, k + 1, f->count);
        return err;
    }
    f->layers.list[f->layers.count++] = model;
    rb_status status = rb_model_status(model);
    f->ended = status == RB_STATUS_STOPPED || status == RB_STATUS_TIME;
    return RB_OK;
}

static rb_error fit_layers(rb_context *ctx, stack_fit *f, rb_model **stack) {
    rb_error err = RB_OK;
    while (!err && !f->ended && f->layers.count < f->count) {
        err = f->layers.count > 0 ? give_codes(ctx, f) : RB_OK;
        err = err ? err : fit_layer(ctx, f);
    }
    err = err ? err
              : rb_stack_new(ctx, (const rb_model *const *)f->layers.list, f->layers.count, stack);
    if (!err && f->stopped) (*stack)->status = RB_STATUS_STOPPED;
    return err;
}

rb_error rb_stack_fit(rb_context *ctx, const rb_options *options, rb_source *source,
                      rb_model **stack) {
    *stack = NULL;
    rb_error err = rb_stack_check(ctx, options);
    if (err) return err;
    const stack_options *own = rb_options_fields(options, &group);
    stack_fit f = {.options = options, .samples = source, .left = own->codes_memory * 1e6};
    err = count_layers(ctx, options, &f.count);
    begin_telling(ctx, &f.teller);
    f.teller.count = f.count;
    err = err ? err : fit_layers(ctx, &f, stack);
    end_telling(&f.teller);
    for (int64_t k = f.count - 1; k >= 0; k--)
        rb_source_free(f.codes[k]);
    stack_layers_free(&f.layers);
    return err;
}
