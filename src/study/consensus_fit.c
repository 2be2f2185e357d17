/* Restarts for a consensus: one fit a thread, and the models of all of them. */
#include "consensus.h"

#include <rarebit/consensus.h>

#include <stdio.h>
#include <string.h>

enum { RESTARTS = 20 };

typedef struct study {
    const rb_options *options;
    const rb_matrix *matrix;
    const rb_source *given; /* has the covariates of the samples */
    rb_model **models;      /* one per restart */
} study;

/* ---- a job ---- */

/* The data in memory, with the covariates that are bound to them. */
static rb_error open_matrix(rb_context *ctx, const study *s, rb_source **source) {
    rb_error err = rb_source_from_matrix(ctx, s->matrix, source);
    if (!err) {
        (*source)->covariates = s->given->covariates;
        (*source)->covariates_first = s->given->covariates_first;
    }
    return err;
}

static rb_error fit_one(rb_context *ctx, int64_t job, void *user, rb_bytes *result) {
    const study *s = user;
    rb_source *source = NULL;
    rb_model *model = NULL;
    size_t size = 0;
    rb_error err = open_matrix(ctx, s, &source);
    err = err ? err : rb_fit_restart(ctx, s->options, source, job, &model);
    if (!err && model->status == RB_STATUS_STOPPED) err = RB_ERROR_STOPPED; /* half a fit is none */
    err = err ? err : rb_model_save_memory(ctx, model, &result->data, &size);
    result->size = (int64_t)size;
    rb_model_free(model);
    rb_source_free(source);
    return err;
}

static rb_error take(rb_context *ctx, int64_t job, rb_bytes result, void *user) {
    study *s = user;
    return rb_model_load_memory(ctx, result.data, (size_t)result.size, &s->models[job]);
}

/* ---- all of them ---- */

static rb_error check(rb_context *ctx, const rb_options *options, int64_t *restarts) {
    if (!options || !options->method) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the options are those of no method; rb_options_new takes its name");
    }
    const rb_fit_options *fit = rb_options_fields(options, &rb_fit_group);
    *restarts = rb_options_is_set(options, "restarts") ? fit->restarts : RESTARTS;
    if (*restarts < 2) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "restarts is %lld, but a consensus needs two fits at least, better 20",
                       (long long)*restarts);
    }
    if (fit->max_time > 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "max-time cannot be given with a consensus, whose fits must all be whole; "
                       "leave it out, and give checkpoint to go on another time");
    }
    return rb_options_check(ctx, options, NULL);
}

static rb_error fit_all(rb_context *ctx, study *s, int64_t restarts) {
    const rb_checkpoint_options *checkpoint = rb_options_fields(s->options, &rb_checkpoint_group);
    char *key = NULL;
    bool complete;
    rb_error err = rb_study_key(ctx, "consensus", s->options, NULL, s->given, s->matrix, &key);
    rb_jobs jobs = {.count = restarts,
                    .what = "fit",
                    .key = key,
                    .run = fit_one,
                    .take = take,
                    .user = s,
                    .journal = checkpoint->checkpoint};
    err = err ? err : rb_jobs_run(ctx, &jobs, &complete);
    rb_free(key);
    return err;
}

/* The record says how the model was made: best of nothing, of so many restarts with the options of
 * the fits, also where it has fewer units or was fitted again. */
static rb_error record(rb_context *ctx, const study *s, int64_t restarts, rb_model *model) {
    char text[32];
    rb_option row;
    snprintf(text, sizeof text, "%lld", (long long)restarts);
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && !rb_options_row(s->options, i, &row, sizeof row); i++) {
        const char *value = rb_model_attribute(s->models[0], row.name);
        if (value) err = rb_model_set_attribute(ctx, model, row.name, value);
    }
    err = err ? err : rb_model_set_attribute(ctx, model, "restarts", text);
    return err ? err : rb_model_set_attribute(ctx, model, RB_CONSENSUS_OF_RESTARTS, "true");
}

static rb_error find(rb_context *ctx, study *s, int64_t restarts, rb_model **model) {
    rb_source *source = NULL;
    rb_error err = open_matrix(ctx, s, &source);
    err = err ? err : fit_all(ctx, s, restarts);
    if (!err) {
        err = rb_consensus(ctx, (const rb_model *const *)s->models, restarts, source, s->options,
                           model);
    }
    err = err ? err : record(ctx, s, restarts, *model);
    rb_source_free(source);
    return err;
}

rb_error rb_fit_consensus(rb_context *ctx, const rb_options *options, rb_source *source,
                          rb_model **model) {
    int64_t restarts = 0;
    rb_matrix *owned = NULL;
    study s = {.options = options, .given = source};
    *model = NULL;
    rb_error err = check(ctx, options, &restarts);
    err = err ? err : rb_study_load(ctx, source, &s.matrix, &owned);
    if (!err) {
        s.models = rb_alloc_zero(ctx, restarts, sizeof(rb_model *));
        err = s.models ? find(ctx, &s, restarts, model) : RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; s.models && i < restarts; i++)
        rb_model_free(s.models[i]);
    rb_free(s.models);
    rb_matrix_free(owned);
    if (err) {
        rb_model_free(*model);
        *model = NULL;
    }
    return err;
}
