/* rb_fit: options, preprocessing, restarts. */
#include "em.h"

#include <rarebit/version.h>

#include <stdio.h>
#include <string.h>

/* The options as they will be used: in a copy, of which `own` is the method's struct. */
struct chosen {
    rb_options *options;
    const rb_method *method;
    void *own;
    const rb_fit_options *fit;
    const rb_preprocess_options *preprocess;
};

static rb_error choose(rb_context *ctx, const rb_options *options, const rb_model *start,
                       struct chosen *chosen) {
    *chosen = (struct chosen){.method = options ? options->method : NULL};
    if (!chosen->method) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the options are those of no method; rb_options_new takes its name");
    }
    const char *const *but = start ? chosen->method->start_options : NULL;
    rb_error err = rb_options_ready(ctx, options, but, &chosen->options);
    if (!err) {
        chosen->own = chosen->options->parts[0].fields;
        chosen->fit = rb_options_fields(chosen->options, &rb_fit_group);
        chosen->preprocess = rb_options_fields(chosen->options, &rb_preprocess_group);
    }
    return err;
}

/* Also settles what options leave to the problem. */
static rb_problem describe(rb_context *ctx, struct chosen *chosen, int64_t n_samples,
                           int64_t n_features, bool sparse) {
    rb_problem problem = {
        .n_samples = n_samples,
        .own = n_samples,
        .n_features = n_features,
        .type = (rb_type)chosen->fit->precision,
        .decay = 1,
        .sparse = sparse,
        .fit = chosen->fit,
        .method = chosen->method,
    };
    int64_t batch = chosen->fit->batch_size;
    problem.batch_samples = batch > 0 && batch < n_samples ? batch : n_samples;
    if (chosen->method->resolve) {
        chosen->method->resolve(&problem, chosen->own);
    }
    problem.engine = rb_engine_find(chosen->method, ctx->engine);
    problem.block_samples = rb_method_block_samples(&problem, chosen->own);
    return problem;
}

/* Are the values a matrix, whose name does not say whether it is the same? */
static bool is_matrix(const rb_option *row, const void *options) {
    return row->kind == RB_OPTION_VALUES &&
           ((const rb_values *)((const char *)options + row->offset))->matrix;
}

/* A warm start takes its parameters from a model: what would be ignored is refused. */
static rb_error check_start(rb_context *ctx, const struct chosen *chosen, const rb_model *start) {
    const rb_method *method = chosen->method;
    if (start->method != method) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the model to start from is of method '%s', but '%s' is to be fitted",
                       start->method->name, method->name);
    }
    if (chosen->fit->restarts > 1) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "restarts is %lld, but every fit that starts from a model is the same; "
                       "leave it at 1",
                       (long long)chosen->fit->restarts);
    }
    for (const char *const *name = method->start_options; name && *name; name++) {
        const rb_option *row = rb_rows_find(method->options, *name);
        const char *before = rb_model_attribute(start, *name);
        char scratch[RB_ROW_TEXT];
        const char *value = rb_row_text(row, chosen->own, scratch);
        bool same = before && strcmp(value, before) == 0 && !is_matrix(row, chosen->own);
        if (strcmp(value, row->fallback) != 0 && !same) {
            return rb_fail(ctx, RB_ERROR_ARGUMENT,
                           "%s is '%s', but is not used by a fit that starts from a model; leave "
                           "it out",
                           *name, value);
        }
    }
    return RB_OK;
}

/* The options about the start are those of the model that was started from. */
static rb_error record_start(rb_context *ctx, rb_model *model, const rb_model *start) {
    rb_error err = RB_OK;
    const char *const *name = start ? model->method->start_options : NULL;
    for (; !err && name && *name; name++) {
        const char *value = rb_model_attribute(start, *name);
        err = value ? rb_model_set_attribute(ctx, model, *name, value) : RB_OK;
    }
    return err;
}

/* Which numbers a file held that an option names: the name alone does not say it. */
static rb_error record_values(rb_context *ctx, rb_model *model, const rb_option *table,
                              const void *options) {
    rb_error err = RB_OK;
    for (const rb_option *row = table; !err && row->name; row++) {
        if (is_matrix(row, options)) {
            const rb_values *values =
                (const rb_values *)(const void *)((const char *)options + row->offset);
            uint32_t checksum;
            char name[64], text[16];
            err = rb_matrix_checksum(ctx, values->matrix, &checksum);
            snprintf(name, sizeof name, "%s_checksum", row->name);
            snprintf(text, sizeof text, "%08x", checksum);
            err = err ? err : rb_model_set_attribute(ctx, model, name, text);
        }
    }
    return err;
}

/* Records how the model was made. */
static rb_error record(rb_context *ctx, rb_model *model, const struct chosen *chosen,
                       const rb_run *run, int64_t restart) {
    char text[32];
    rb_error err = rb_model_record_options(ctx, model, rb_fit_group.rows, chosen->fit);
    if (!err) {
        err = rb_model_record_options(ctx, model, chosen->method->options, run->options);
    }
    if (!err) {
        err = record_values(ctx, model, chosen->method->options, run->options);
    }
    if (!err) {
        err = record_start(ctx, model, run->start);
    }
    if (!err) {
        err = rb_model_record_options(ctx, model, rb_preprocess_group.rows,
                                      &model->preprocess->options);
    }
    if (!err) {
        snprintf(text, sizeof text, "%08x", model->preprocess->checksum);
        err = rb_model_set_attribute(ctx, model, "data_checksum", text);
    }
    if (!err) {
        snprintf(text, sizeof text, "%lld", (long long)run->problem.n_samples);
        err = rb_model_set_attribute(ctx, model, "data_samples", text);
    }
    if (!err) {
        snprintf(text, sizeof text, "%lld", (long long)restart);
        err = rb_model_set_attribute(ctx, model, "best_restart", text);
    }
    if (!err) {
        err = rb_model_set_attribute(ctx, model, "program_version", RB_VERSION);
    }
    return err;
}

static double last_objective(const rb_model *model) {
    return model->history[model->iterations - 1].objective;
}

/* The model of a restart, which records how it is made. */
static rb_error new_model(rb_context *ctx, const struct chosen *chosen, rb_run *run,
                          const rb_preprocess *preprocess, int64_t restart) {
    rb_preprocess *copy = rb_preprocess_copy(ctx, preprocess);
    if (!copy) {
        return RB_ERROR_MEMORY;
    }
    run->problem.restart = restart;
    rb_error err = rb_model_new(ctx, chosen->method, run->problem.type, copy, &run->model);
    if (!err && (err = record(ctx, run->model, chosen, run, restart)) != RB_OK) {
        rb_model_free(run->model);
    }
    return err;
}

/* Where a checkpoint that is there stands. */
static rb_error resume(rb_context *ctx, const struct chosen *chosen, rb_run *run,
                       const rb_preprocess *preprocess, int64_t *restart, rb_model **best) {
    *restart = 0;
    *best = NULL;
    if (!run->checkpoint.found) {
        return RB_OK;
    }
    rb_error err = new_model(ctx, chosen, run, preprocess, 0);
    if (err) {
        return err;
    }
    err = rb_resume_restart(ctx, run, restart, best);
    rb_model_free(run->model);
    return err;
}

/* Fits once for each restart; *best keeps the model of the largest objective. */
static rb_error restarts(rb_context *ctx, const struct chosen *chosen, rb_run *run,
                         const rb_preprocess *preprocess, rb_model **best) {
    bool stopped = false;
    int64_t first;
    rb_error unread = resume(ctx, chosen, run, preprocess, &first, best);
    if (unread) {
        return unread;
    }
    for (int64_t r = first; r < chosen->fit->restarts && !stopped; r++) {
        rb_error err = new_model(ctx, chosen, run, preprocess, r);
        if (err) {
            return err;
        }
        run->best = *best;
        err = rb_run_loop(ctx, run);
        if (err) {
            rb_model_free(run->model);
        }
        if (err == RB_ERROR_STOPPED && *best) {
            (*best)->status = RB_STATUS_STOPPED;
            return RB_OK;
        }
        if (err) {
            return err;
        }
        rb_status status = run->model->status;
        stopped = status == RB_STATUS_STOPPED || status == RB_STATUS_TIME;
        bool comparable = !stopped || run->settles;
        if (!*best || (comparable && last_objective(run->model) > last_objective(*best))) {
            rb_model *worse = *best;
            *best = run->model;
            run->model = worse;
        }
        rb_model_free(run->model);
        if (stopped) {
            (*best)->status = status;
        }
    }
    return RB_OK;
}

/* Says what is wrong with a fit that went to its end, to programs that listen. */
static void look_back(rb_context *ctx, const rb_model *model, rb_source *source) {
    rb_code_check check;
    bool ended = model->status != RB_STATUS_STOPPED && model->status != RB_STATUS_TIME;
    if (ctx->on_log && ended && !rb_model_check(ctx, model, source, &check)) {
        rb_model_warn(ctx, model, &check);
    }
}

/* Before a long fit rather than after it. */
static void remark_on_units(rb_context *ctx, const rb_problem *problem, const void *options) {
    const rb_method *method = problem->method;
    int64_t n = problem->n_samples, m = problem->n_features;
    int64_t units = method->sparser ? rb_method_units(method, options) : 0;
    if (units > (n < m ? n : m)) {
        rb_log(ctx, RB_LOG_INFO,
               "there are %lld units, more than the %lld %s: fewer could explain as much",
               (long long)units, (long long)(n < m ? n : m), n < m ? "samples" : "features");
    }
}

static rb_error fit_source(rb_context *ctx, struct chosen *chosen, const rb_preprocess *preprocess,
                           bool trusted, rb_source *source, const rb_model *start,
                           rb_model **model) {
    rb_feed *feed;
    rb_run run = {
        .method = chosen->method,
        .options = chosen->own,
        .problem = describe(ctx, chosen, source->n_samples, preprocess->n_features, source->sparse),
        .source = source,
        .start = start,
        .began = rb_seconds()};
    run.problem.missing =
        preprocess->options.missing == RB_MISSING_OMIT && preprocess->n_filled > 0;
    run.shape = rb_shape_of(&run.problem, run.options);
    rb_error err = rb_batches_begin(ctx, &run, source);
    if (err) {
        return err;
    }
    err =
        rb_feed_new(ctx, preprocess, run.shuffled ? run.shuffled : source, run.problem.type, &feed);
    if (err) {
        rb_source_free(run.shuffled);
        return err;
    }
    if (trusted) {
        rb_feed_trust(feed);
    }
    run.feed = feed;
    err = rb_checkpoint_begin(ctx, rb_options_fields(chosen->options, &rb_checkpoint_group), &run);
    if (!err) {
        remark_on_units(ctx, &run.problem, chosen->own);
        err = restarts(ctx, chosen, &run, preprocess, model);
        rb_checkpoint_end(&run);
    }
    rb_feed_free(feed);
    rb_source_free(run.shuffled);
    if (!err && run.settles) { /* codes of a fit that has hardly begun would only say that */
        look_back(ctx, *model, source);
    }
    if (err) {
        rb_model_free(*model);
        *model = NULL;
    }
    return err;
}

/* Not every method can do without some of the values. */
static rb_error check_missing(rb_context *ctx, const rb_method *method,
                              const rb_preprocess_options *options) {
    return rb_method_takes(method, options)
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_ARGUMENT,
                         "missing is 'omit', but %s needs all values; choose mean or median",
                         method->name);
}

/* The preprocessing of the model to start from, for the data at hand. */
static rb_error take_preprocess(rb_context *ctx, const rb_model *start, rb_source *source,
                                rb_preprocess **taken) {
    if (source->n_samples == 0) {
        return rb_fail(ctx, RB_ERROR_DATA, "there is nothing to fit: no samples");
    }
    *taken = rb_preprocess_copy(ctx, start->preprocess);
    return *taken ? rb_preprocess_renew(ctx, *taken, source) : RB_ERROR_MEMORY;
}

/* With a model to start from its preprocessing is taken: options would do nothing, but that missing
 * values can be left out. */
static rb_error check_preprocess(rb_context *ctx, const struct chosen *chosen) {
    const rb_option *rows = rb_preprocess_group.rows;
    for (const rb_option *row = rows; row->name; row++) {
        char scratch[RB_ROW_TEXT];
        const char *value = rb_row_text(row, chosen->preprocess, scratch);
        bool omits = strcmp(row->name, "missing") == 0 && strcmp(value, "omit") == 0;
        bool other = strcmp(value, row->fallback) != 0;
        if (other && !omits && rb_options_is_set(chosen->options, row->name)) {
            return rb_fail(ctx, RB_ERROR_ARGUMENT,
                           "%s cannot be given with a model to start from, whose preprocessing is "
                           "taken; leave it out",
                           row->name);
        }
    }
    return RB_OK;
}

static rb_error check(rb_context *ctx, const struct chosen *chosen, const rb_model *start) {
    rb_error err = check_missing(ctx, chosen->method,
                                 start ? &start->preprocess->options : chosen->preprocess);
    if (!err && start) {
        err = check_start(ctx, chosen, start);
        err = err ? err : check_preprocess(ctx, chosen);
    }
    return err;
}

rb_error rb_options_check(rb_context *ctx, const rb_options *options, const rb_model *start) {
    struct chosen chosen;
    rb_error err = choose(ctx, options, start, &chosen);
    err = err ? err : check(ctx, &chosen, start);
    rb_options_free(chosen.options);
    return err;
}

static rb_error fit_chosen(rb_context *ctx, struct chosen *chosen, rb_source *source,
                           const rb_model *start, rb_model **model) {
    rb_preprocess *fitted = NULL;
    rb_preprocess_options wanted = *chosen->preprocess;
    if (wanted.centre == RB_CENTRE_AUTO) {
        wanted.centre = chosen->method->centre;
    }
    rb_error err = check(ctx, chosen, start);
    if (!err) {
        err = start ? take_preprocess(ctx, start, source, &fitted)
                    : rb_preprocess_fit(ctx, &wanted, source, &fitted);
    }
    if (!err) {
        err = fit_source(ctx, chosen, fitted, !start, source, start, model);
    }
    rb_preprocess_free(fitted);
    return err == RB_ERROR_MEMORY && rb_asked_to_stop(ctx) ? rb_check_stop(ctx) : err;
}

rb_error rb_fit(rb_context *ctx, const rb_options *options, rb_source *source,
                const rb_model *start, rb_model **model) {
    *model = NULL;
    struct chosen chosen;
    rb_error err = choose(ctx, options, start, &chosen);
    err = err ? err : fit_chosen(ctx, &chosen, source, start, model);
    rb_options_free(chosen.options);
    return err;
}

rb_error rb_fit_memory(rb_context *ctx, const rb_options *options, const rb_source *source,
                       int64_t *bytes) {
    *bytes = 0;
    struct chosen chosen;
    rb_error err = choose(ctx, options, NULL, &chosen);
    if (!err) {
        rb_problem problem =
            describe(ctx, &chosen, source->n_samples, source->n_features, source->sparse);
        *bytes = rb_method_memory(&problem, chosen.own);
    }
    rb_options_free(chosen.options);
    return err;
}
