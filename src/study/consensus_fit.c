/* Restarts for a consensus: one fit a thread, and the models of all of them. */
#include "consensus.h"

#include <rarebit/consensus.h>

#include <stdio.h>
#include <string.h>

enum { RESTARTS = 20, FEWEST = 2 };

typedef struct study {
    const rb_options *options;
    rb_consensus_options consensus;
    const rb_matrix *matrix;
    const rb_source *given; /* has the covariates of the samples, and their files */
    int64_t restarts;
    rb_model **models; /* of the restarts that were done, in their order */
    int64_t done;
    bool first_ones; /* the restarts that were done are the first */
} study;

/* The data in memory, with the covariates that are bound to them. */
static rb_error open_matrix(rb_context *ctx, const study *s, rb_source **source) {
    rb_error err = rb_source_from_matrix(ctx, s->matrix, source);
    if (err) return err;
    (*source)->covariates = s->given->covariates;
    (*source)->covariates_first = s->given->covariates_first;
    (*source)->of = s->given;
    return RB_OK;
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
    rb_model **model = &s->models[s->done];
    rb_error err = rb_model_load_memory(ctx, result.data, (size_t)result.size, model);
    s->first_ones = s->first_ones && job == s->done;
    s->done += !err;
    return err;
}

static rb_error check(rb_context *ctx, study *s) {
    const rb_options *options = s->options;
    if (!options || !options->method) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the options belong to no method; give one to rb_options_new");
    }
    const rb_fit_options *fit = rb_options_fields(options, &rb_fit_group);
    s->restarts = rb_options_is_set(options, "restarts") ? fit->restarts : RESTARTS;
    if (s->restarts < FEWEST) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`restarts` is %lld, but a consensus needs at least two fits; 20 are better",
                       (long long)s->restarts);
    }
    if (fit->max_time > 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`max-time` cannot be used with a consensus, which needs complete fits; "
                       "leave it out, and use `checkpoint` to resume later");
    }
    rb_error err = rb_options_take(ctx, options, rb_consensus_group(), &s->consensus);
    err = err ? err : rb_consensus_check_refit(ctx, options->method, s->consensus.refit);
    return err ? err : rb_options_check(ctx, options, NULL);
}

/* *complete is false when the program asked to stop; there are some models then. */
static rb_error fit_all(rb_context *ctx, study *s, bool *complete) {
    const rb_checkpoint_options *checkpoint = rb_options_fields(s->options, &rb_checkpoint_group);
    char *key = NULL;
    rb_error err = rb_study_key(ctx, "consensus", s->options, NULL, s->given, s->matrix, &key);
    rb_jobs jobs = {.count = s->restarts,
                    .what = "fit",
                    .key = key,
                    .run = fit_one,
                    .take = take,
                    .user = s,
                    .journal = checkpoint->checkpoint,
                    .enough = FEWEST};
    err = err ? err : rb_jobs_run(ctx, &jobs, complete);
    rb_free(key);
    return err;
}

/* The record says how the model was made: best of nothing, of so many restarts with the options of
 * the fits, also where it has fewer units or was fitted again. */
static rb_error record(rb_context *ctx, const study *s, rb_model *model) {
    char text[32];
    rb_option row;
    int64_t restarts = s->first_ones ? s->done : s->restarts;
    snprintf(text, sizeof text, "%lld", (long long)restarts);
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && !rb_options_row(s->options, i, &row, sizeof row); i++) {
        const char *value = rb_model_attribute(s->models[0], row.name);
        if (value) err = rb_model_set_attribute(ctx, model, row.name, value);
    }
    err = err ? err : rb_model_set_attribute(ctx, model, "restarts", text);
    const char *which = s->first_ones ? "true" : RB_CONSENSUS_OF_SOME;
    return err ? err : rb_model_set_attribute(ctx, model, RB_CONSENSUS_OF_RESTARTS, which);
}

static rb_error merge(rb_context *ctx, study *s, rb_source *source, rb_model **model) {
    rb_error err = rb_consensus_make(ctx, (const rb_model *const *)s->models, s->done, source,
                                     &s->consensus, model);
    return err ? err : record(ctx, s, *model);
}

/* Of the fits that were done when the program asked to stop, without another fit. */
static rb_error merge_some(rb_context *ctx, study *s, rb_source *source, rb_model **model) {
    s->consensus.refit = 0;
    rb_context_clear_stop(ctx);
    rb_error err = merge(ctx, s, source, model);
    rb_context_stop(ctx);
    if (err == RB_ERROR_DATA) {
        rb_fail_prefix(ctx, "stopped after %lld of %lld fits: ", (long long)s->done,
                       (long long)s->restarts);
    }
    if (!err) (*model)->status = RB_STATUS_STOPPED;
    return err;
}

static rb_error find(rb_context *ctx, study *s, rb_model **model) {
    rb_source *source = NULL;
    bool complete;
    rb_error err = open_matrix(ctx, s, &source);
    err = err ? err : fit_all(ctx, s, &complete);
    bool whole = !err && complete;
    if (whole) err = merge(ctx, s, source, model);
    if (whole ? err == RB_ERROR_STOPPED : !err) err = merge_some(ctx, s, source, model);
    rb_source_free(source);
    return err;
}

rb_error rb_fit_consensus(rb_context *ctx, const rb_options *options, rb_source *source,
                          rb_model **model) {
    rb_matrix *owned = NULL;
    rb_source *thin = NULL;
    study s = {.options = options, .first_ones = true};
    *model = NULL;
    rb_error err = check(ctx, &s);
    err = err ? err : rb_fit_thin(ctx, options, false, &source, &thin);
    err = err ? err : rb_source_tell_same(ctx, source, false);
    s.given = source;
    err = err ? err : rb_study_load(ctx, source, &s.matrix, &owned);
    if (!err) {
        s.models = rb_alloc_zero(ctx, s.restarts, sizeof(rb_model *));
        err = s.models ? find(ctx, &s, model) : RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < s.done; i++)
        rb_model_free(s.models[i]);
    rb_free(s.models);
    rb_matrix_free(owned);
    rb_source_free(thin);
    if (err) {
        rb_model_free(*model);
        *model = NULL;
    }
    return err;
}
