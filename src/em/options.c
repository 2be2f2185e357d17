/* The options of a fit: those of every method, and a handle with those of one. */
#include "em.h"

#include <float.h>
#include <stddef.h>
#include <string.h>

static const rb_option table[] = {
    {"iterations", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, iterations), "200", 1, 1e15, NULL,
     "N", "stop after N iterations", RB_OPTION_COMMON},
    {"tolerance", 0, RB_OPTION_NUMBER, offsetof(rb_fit_options, tolerance), "0", 0, 1, NULL,
     "SHARE", "stop when the relative change of the objective falls below this (0: never)"},
    {"patience", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, patience), "0", 0, 1e15, NULL, "N",
     "stop when the objective has not improved by --tolerance for N iterations (0: look at each "
     "change alone)"},
    {"parameter-tolerance", 0, RB_OPTION_NUMBER, offsetof(rb_fit_options, parameter_tolerance), "0",
     0, 1, NULL, "SHARE",
     "stop when the relative change of the parameters falls below this (0: never)"},
    {"max-time", 0, RB_OPTION_SECONDS, offsetof(rb_fit_options, max_time), "0", 0, 1e15, NULL,
     "TIME", "stop after this time: 90s, 5m, 2h (0: never)"},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, seed), "1", 0, 9e18, NULL, "N",
     "seed of the random numbers", RB_OPTION_COMMON},
    {"restarts", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, restarts), "1", 1, 1e6, NULL, "N",
     "number of starts; the fit with the best objective is kept", RB_OPTION_COMMON},
    {"precision", 0, RB_OPTION_CHOICE, offsetof(rb_fit_options, precision), "float32", 0, 0,
     "float32|float64", "TYPE", "precision of numbers and products; objectives are always float64"},
    {"batch-size", 0, RB_OPTION_INTEGER, offsetof(rb_fit_options, batch_size), "0", 0, 1e15, NULL,
     "N", "update the model after every N samples, shuffled in each iteration (0: after all)"},
    {"keep-order", 0, RB_OPTION_FLAG, offsetof(rb_fit_options, keep_order), "false", 0, 0, NULL,
     NULL, "take batches in the order of the data instead of shuffled", RB_OPTION_RESEARCH},
    {"trace", 0, RB_OPTION_FLAG, offsetof(rb_fit_options, trace), "false", 0, 0, NULL, NULL,
     "compute the E-step objective in every iteration", RB_OPTION_RESEARCH},
    {"accelerate", 0, RB_OPTION_CHOICE, offsetof(rb_fit_options, accelerate), "none", 0, 0,
     "none|squarem|nesterov", "HOW",
     "accelerate convergence; needs iterations that never lower the objective (--estep cyclic), "
     "works best with --eta 1"},
    {"drop-samples", 0, RB_OPTION_CHOICE, offsetof(rb_fit_options, drop_samples), "none", 0, 0,
     "none|constant|duplicates|duplicates,constant|constant,duplicates", "WHICH",
     "fit without samples of one value throughout, and all but the first of equal samples; later "
     "commands take all"},
    {0},
};

const rb_option_group rb_fit_group = {sizeof(rb_option), "Fit", table, sizeof(rb_fit_options),
                                      NULL};

static const rb_option checkpoint_table[] = {
    {"checkpoint", 0, RB_OPTION_TEXT, offsetof(rb_checkpoint_options, checkpoint), NULL, 0, 0, NULL,
     "FILE", "save the state of the fit here; resume from FILE if it exists", RB_OPTION_COMMON},
    {"checkpoint-every", 0, RB_OPTION_TEXT, offsetof(rb_checkpoint_options, checkpoint_every),
     "60s", 0, 0, NULL, "N|TIME", "save after N iterations (100) or after a time (60s, 5m, 1h)",
     .needs = "checkpoint"},
    {0},
};

const rb_option_group rb_checkpoint_group = {sizeof(rb_option), "Checkpoints", checkpoint_table,
                                             sizeof(rb_checkpoint_options), NULL};

static const rb_option memory_table[] = {
    {"cache", 0, RB_OPTION_TEXT, offsetof(rb_memory_options, cache), "auto", 0, 0, NULL, "SIZE",
     "keep preprocessed samples in memory up to this size, such as 2G (auto: a quarter of the free "
     "memory; 0: preprocess them in each pass); results are the same"},
    {0},
};

const rb_option_group rb_memory_group = {sizeof(rb_option), "Memory", memory_table,
                                         sizeof(rb_memory_options), NULL};

rb_error rb_cache_size(rb_context *ctx, const rb_memory_options *options, double *bytes) {
    const char *text = options ? options->cache : "auto";
    const rb_context *all = ctx->parent ? ctx->parent : ctx;
    int beside = ctx->parent ? rb_context_threads(all) : rb_ranks_here(ctx);
    *bytes = rb_memory_free() / 4 / beside;
    if (strcmp(text, "auto") == 0 || (rb_parse_number(text, bytes) && *bytes >= 0)) return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "`cache` is '%s', but must be auto or a number of bytes, such as 500M or 2G",
                   text);
}

const rb_option *rb_recorded_rows(const rb_method *method, int index) {
    const rb_option *const tables[] = {rb_fit_group.rows, method->options, rb_preprocess_group.rows,
                                       NULL};
    return tables[index];
}

/* A method does not offer what it would refuse whatever is set. */
static void hide_refused(rb_options *options, const rb_method *method) {
    if (!method->takes_batches) {
        rb_options_hide(options, "batch-size");
        rb_options_hide(options, "keep-order");
    }
    if (!method->project) rb_options_hide(options, "accelerate");
}

rb_error rb_options_new(rb_context *ctx, const char *name, rb_options **options) {
    *options = NULL;
    const rb_method *method = name ? rb_find_method(ctx, name) : NULL;
    if (name && !method) return rb_fail(ctx, RB_ERROR_ARGUMENT, "there is no method '%s'", name);
    rb_options *made = rb_alloc_zero(ctx, 1, sizeof *made);
    rb_error err = made ? RB_OK : RB_ERROR_MEMORY;
    if (!err && method) {
        rb_option_group own = rb_method_group(method);
        const rb_option_group *groups[] = {&own, &rb_fit_group, &rb_checkpoint_group,
                                           &rb_memory_group, &rb_preprocess_group};
        made->method = method;
        for (size_t g = 0; !err && g < sizeof groups / sizeof *groups; g++)
            err = rb_options_add_part(ctx, made, groups[g]);
    }
    if (err) {
        rb_options_free(made);
        return err;
    }
    if (method) {
        made->parts[0].key = NULL;
        hide_refused(made, method);
    }
    *options = made;
    return RB_OK;
}
