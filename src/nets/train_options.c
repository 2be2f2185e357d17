/* The options of training. */
#include "train.h"

#include <rarebit/stack.h>

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define FIELD(name) offsetof(deep_train_options, name)

const rb_option deep_train_rows[] = {
    {"layers", 0, RB_OPTION_TEXT, FIELD(layers), NULL, 0, 0, NULL, "N,N,...",
     "sizes of the random hidden layers above START", RB_OPTION_COMMON},
    {"filter", 0, RB_OPTION_CHOICE, FIELD(filter), "plain", 0, 0, "posterior|plain|rescaled", "HOW",
     "how rfn becomes a layer: its codes (posterior), the directions of W' without a bias (plain), "
     "or its codes with weights rescaled to the length of random ones (rescaled)"},
    {"outputs", 0, RB_OPTION_CHOICE, FIELD(outputs), "softmax", 0, 0, "softmax|logistic|linear",
     "KIND", "softmax: one of several classes; logistic: yes or no per target; linear: any values",
     RB_OPTION_COMMON},
    {"epochs", 0, RB_OPTION_INTEGER, FIELD(epochs), "100", 1, 1e9, NULL, "N",
     "maximum number of passes over the training samples", RB_OPTION_COMMON},
    {"patience", 0, RB_OPTION_INTEGER, FIELD(patience), "10", 0, 1e9, NULL, "N",
     "stop when the validation error has not improved for N epochs (0: never); the best net is "
     "kept"},
    {"batch-size", 0, RB_OPTION_INTEGER, FIELD(batch_size), "128", 1, 1e6, NULL, "N",
     "samples per step, shuffled in each epoch"},
    {"optimizer", 0, RB_OPTION_CHOICE, FIELD(optimizer), "nesterov", 0, 0, "sgd|nesterov|adam",
     "NAME", "sgd with momentum, nesterov's momentum, or adam"},
    {"rate", 0, RB_OPTION_NUMBER, FIELD(rate), "0.01", DBL_MIN, 1e6, NULL, "RATE",
     "learning rate; adam: 0.001", RB_OPTION_COMMON},
    {"momentum", 0, RB_OPTION_NUMBER, FIELD(momentum), "0.9", 0, 1, NULL, "SHARE",
     "momentum of sgd and nesterov"},
    {"schedule", 0, RB_OPTION_CHOICE, FIELD(schedule), "constant", 0, 0,
     "constant|step|exponential|cosine", "HOW",
     "schedule of the rate: constant, times --rate-decay every --rate-step epochs, times "
     "--rate-decay every epoch, or a cosine to 0 at the last of --epochs"},
    {"rate-decay", 0, RB_OPTION_NUMBER, FIELD(rate_decay), "0.9", DBL_MIN, 1, NULL, "FACTOR",
     "factor of --schedule step and exponential", .needs = "schedule"},
    {"rate-step", 0, RB_OPTION_INTEGER, FIELD(rate_step), "10", 1, 1e9, NULL, "N",
     "epochs between two steps of --schedule step", .needs = "schedule=step"},
    {"dropout", 0, RB_OPTION_NUMBER, FIELD(dropout), "0", 0, 0.99, NULL, "SHARE",
     "probability that a hidden unit is dropped for a sample", RB_OPTION_COMMON},
    {"masking", 0, RB_OPTION_NUMBER, FIELD(masking), "0", 0, 0.99, NULL, "SHARE",
     "share of the input values set to 0 while training, after preprocessing"},
    {"weight-decay", 0, RB_OPTION_NUMBER, FIELD(weight_decay), "0", 0, 1e6, NULL, "FACTOR",
     "weight decay: adds half of this times the squared weights, without biases, to the loss"},
    {"class-weights", 0, RB_OPTION_TEXT, FIELD(class_weights), NULL, 0, 0, NULL, "WEIGHTS",
     "balanced: each class counts the same; or A=2,B=1: weights of classes, 1 where not given"},
    {"max-time", 0, RB_OPTION_SECONDS, FIELD(max_time), "0", 0, 1e15, NULL, "TIME",
     "stop after this time: 90s, 5m, 2h (0: never)"},
    {"seed", 0, RB_OPTION_INTEGER, FIELD(seed), "1", 0, 9e18, NULL, "N",
     "seed of the random numbers", RB_OPTION_COMMON},
    {"precision", 0, RB_OPTION_CHOICE, FIELD(precision), "float32", 0, 0, "float32|float64", "TYPE",
     "numbers and products"},
    {0},
};

const rb_option_group deep_train_group = {sizeof(rb_option), "Training", deep_train_rows,
                                          sizeof(deep_train_options), NULL};

static const rb_option checkpoint_rows[] = {
    {"checkpoint", 0, RB_OPTION_TEXT, offsetof(rb_checkpoint_options, checkpoint), NULL, 0, 0, NULL,
     "FILE", "save the state of the training here; resume from FILE if it exists"},
    {"checkpoint-every", 0, RB_OPTION_TEXT, offsetof(rb_checkpoint_options, checkpoint_every),
     "60s", 0, 0, NULL, "N|TIME", "save after N epochs (10) or after a time (60s, 5m, 1h)",
     .needs = "checkpoint"},
    {0},
};

const rb_option_group deep_checkpoint_group = {sizeof(rb_option), "Checkpoints", checkpoint_rows,
                                               sizeof(rb_checkpoint_options), NULL};

rb_error rb_finetune_options_new(rb_context *ctx, rb_options **options) {
    const rb_option_group *groups[] = {&deep_train_group, &deep_checkpoint_group,
                                       &rb_preprocess_group};
    rb_error err = rb_options_new(ctx, NULL, options);
    for (size_t g = 0; !err && g < sizeof groups / sizeof *groups; g++)
        err = rb_options_add(ctx, *options, groups[g]);
    if (err) {
        rb_options_free(*options);
        *options = NULL;
    }
    return err;
}

/* ---- what contradicts, or does nothing ---- */

/* Is some layer made of the posterior mean of a factor model? */
static bool has_filter(const rb_context *ctx, const rb_model *start) {
    if (!start || rb_method_rectifies(start->method)) return start != NULL;
    for (int64_t k = 1; k <= rb_stack_layers(start); k++) {
        char name[64];
        snprintf(name, sizeof name, "layer%lld.method", (long long)k);
        const char *text = rb_model_attribute(start, name);
        const rb_method *method = text ? rb_find_method(ctx, text) : NULL;
        if (method && rb_method_rectifies(method)) return true;
    }
    return false;
}

static rb_error check_idle(rb_context *ctx, const rb_options *options, const deep_train_options *o,
                           const rb_model *start, const rb_labelled *valid) {
    const struct {
        bool idle;
        const char *name, *why;
    } rows[] = {
        {!valid, "patience", "there are no validation samples to stop by"},
        {o->optimizer == DEEP_ADAM, "momentum", "adam has moments of its own"},
        {o->schedule == DEEP_COSINE, "rate-decay", "the cosine has no factor"},
        {!has_filter(ctx, start), "filter", "the start has no posterior"},
        {o->outputs != DEEP_SOFTMAX, "class-weights", "the outputs are not classes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].idle && rb_options_is_set(options, rows[i].name)) {
            return rb_fail(ctx, RB_ERROR_ARGUMENT, "`%s` does nothing: %s; leave it out",
                           rows[i].name, rows[i].why);
        }
    }
    if (o->momentum >= 1)
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "`momentum` is %g, but must be below 1",
                       o->momentum);
    return RB_OK;
}

static rb_error check_outputs(rb_context *ctx, const deep_train_options *o,
                              const rb_labelled *train) {
    bool classes = o->outputs == DEEP_SOFTMAX;
    int64_t outputs = classes ? train->n_classes : train->n_values;
    if (outputs < 1 || outputs > INT32_MAX)
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "the training samples have no %s",
                       classes ? "classes" : "target values");
    if (classes && outputs == 1)
        return rb_fail(ctx, RB_ERROR_DATA,
                       "the training samples have one class; a net needs at least two");
    return RB_OK;
}

rb_error deep_train_ready(rb_context *ctx, const rb_options *options, const rb_model *start,
                          const rb_labelled *train, const rb_labelled *valid, rb_options **ready) {
    rb_error err = rb_options_ready(ctx, options, NULL, ready);
    if (err) return err;
    const deep_train_options *o = rb_options_fields(*ready, &deep_train_group);
    err = check_idle(ctx, options, o, start, valid);
    err = err ? err : check_outputs(ctx, o, train);
    if (err) {
        rb_options_free(*ready);
        *ready = NULL;
    }
    return err;
}

rb_error deep_read_layers(rb_context *ctx, const char *text, int *count, int64_t *sizes) {
    const char *end = text ? text + strlen(text) : NULL;
    *count = 0;
    while (text && *text) {
        double value = 0;
        const char *next = rb_number_scan(text, end, &value);
        bool whole = next && value >= 1 && value <= INT32_MAX && value == (double)(int64_t)value;
        if (!whole || (*next && *next != ',') || (*next == ',' && !next[1]) ||
            *count == DEEP_LAYERS_MAX - 1) {
            return rb_fail(
                ctx, RB_ERROR_ARGUMENT,
                "`layers` is '%s', but must be up to %d whole numbers, such as 1024,1024", text,
                DEEP_LAYERS_MAX - 1);
        }
        sizes[(*count)++] = (int64_t)value;
        text = *next ? next + 1 : next;
    }
    return RB_OK;
}

/* ---- weights of classes ---- */

static rb_error read_weights(rb_context *ctx, const char *text, const char *names,
                             int64_t n_classes, double *weights) {
    for (int64_t c = 0; c < n_classes; c++)
        weights[c] = NAN; /* not given */
    while (*text) {
        size_t length = strcspn(text, ",");
        const char *end = text + length, *equals = end;
        double value = 0;
        int64_t found = -1, size;
        while (equals > text && *equals != '=')
            equals--;
        for (int64_t c = 0; c < n_classes; c++) {
            char number[32];
            rb_print(number, sizeof number, "%lld", (long long)c);
            const char *name = names ? deep_name_at(names, c, &size) : number;
            if (!names) size = (int64_t)strlen(number);
            if (name && size == equals - text && memcmp(name, text, (size_t)size) == 0) found = c;
        }
        const char *stop = equals < end ? rb_number_scan(equals + 1, end, &value) : NULL;
        if (found < 0 || stop != end || !(value >= 0 && value <= 1e12)) {
            return rb_fail(ctx, RB_ERROR_ARGUMENT,
                           "`class-weights` has '%.*s', but must be 'balanced', or weights of at "
                           "least 0 for classes of the training samples, such as A=2,B=1",
                           (int)length, text);
        }
        if (!isnan(weights[found])) {
            return rb_fail(ctx, RB_ERROR_ARGUMENT, "`class-weights` has '%.*s' twice; give it once",
                           (int)(equals - text), text);
        }
        weights[found] = value;
        text = *end ? end + 1 : end;
    }
    for (int64_t c = 0; c < n_classes; c++)
        if (isnan(weights[c])) weights[c] = 1;
    return RB_OK;
}

rb_error deep_class_weights(rb_context *ctx, const char *text, const char *names, int64_t n_classes,
                            const deep_labels *labels, double **out) {
    *out = NULL;
    if (!text) return RB_OK;
    bool balanced = strcmp(text, "balanced") == 0;
    double *weights = rb_alloc(ctx, n_classes, sizeof *weights), sum = 0;
    int64_t *counts = rb_alloc_zero(ctx, n_classes, sizeof *counts);
    rb_error err = weights && counts ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < labels->count; i++)
        if (labels->class_of[i] >= 0) counts[labels->class_of[i]]++;
    for (int64_t c = 0; !err && c < n_classes; c++)
        weights[c] = balanced && counts[c] > 0 ? 1 / (double)counts[c] : 1;
    if (!err && !balanced) err = read_weights(ctx, text, names, n_classes, weights);
    for (int64_t c = 0; !err && c < n_classes; c++)
        sum += weights[c] * (double)counts[c];
    if (!err && !(sum > 0)) {
        err =
            rb_fail(ctx, RB_ERROR_ARGUMENT, "`class-weights` is 0 for every class of the samples");
    }
    for (int64_t c = 0; !err && c < n_classes; c++)
        weights[c] *= (double)labels->labelled / sum;
    rb_free(counts);
    if (err)
        rb_free(weights);
    else
        *out = weights;
    return err;
}
