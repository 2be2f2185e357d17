/* Going on from a checkpoint: is it of this fit, and what does it hold? A file may be damaged or
 * made by somebody else: everything is checked. checkpoint.c writes it. */
#include "em.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct reading {
    rb_context *ctx;
    const char *path;
    rb_checkpoint_file *file;
    rb_run *run; /* NULL: whoever it is of */
    rb_checkpoint_head head;
    rb_model *before; /* the fit as it was: attributes and history */
    rb_model *best;   /* of the restarts before */
};

static rb_error damaged(const struct reading *in, const char *what) {
    return rb_fail(in->ctx, RB_ERROR_FORMAT, "%s: %s; the file is damaged", in->path, what);
}

/* Opens the checkpoint and calls `look`; a message about the file tells what to do. */
static rb_error look_into(struct reading *in, rb_error (*look)(struct reading *in)) {
    rb_context *ctx = in->ctx;
    rb_reading reading;
    rb_reading_begin(ctx, &reading, in->path);
    rb_error err = ctx->checkpoints->open(ctx, in->path, &in->file);
    if (!err) err = ctx->checkpoints->close(in->file, look(in));
    rb_reading_end(ctx);
    if (err == RB_ERROR_FORMAT) {
        rb_fail_prefix(ctx, "cannot resume from this file; give another name, or remove the "
                            "checkpoint to start anew: ");
    }
    return err;
}

/* ---- the head ---- */

static rb_error check_format(const struct reading *in) {
    const rb_checkpoint_store *store = in->ctx->checkpoints;
    char *format = NULL;
    int64_t version = 0;
    rb_error err = store->get_text(in->file, "format", &format);
    if (!err && (!format || strcmp(format, RB_CHECKPOINT_FORMAT) != 0))
        err = rb_fail(in->ctx, RB_ERROR_FORMAT, "%s: not a checkpoint of rarebit", in->path);
    rb_free(format);
    err = err ? err : store->get_integer(in->file, "format_version", &version);
    if (!err && version != RB_CHECKPOINT_VERSION) {
        err = rb_fail(in->ctx, RB_ERROR_FORMAT,
                      "%s: the checkpoint has format version %lld, of another version of rarebit",
                      in->path, (long long)version);
    }
    return err;
}

static rb_error get_head(struct reading *in) {
    int64_t *values = (int64_t *)&in->head;
    rb_error err = check_format(in);
    for (int i = 0; !err && rb_head_names[i]; i++)
        err = in->ctx->checkpoints->get_integer(in->file, rb_head_names[i], &values[i]);
    if (!err && (in->head.restart < 0 || in->head.iteration < 0))
        err = damaged(in, "a count is below 0");
    return err;
}

rb_error rb_checkpoint_look(rb_context *ctx, const char *path, rb_checkpoint_head *head) {
    struct reading in = {.ctx = ctx, .path = path};
    rb_error err = look_into(&in, get_head);
    *head = in.head;
    return err;
}

/* ---- is it of this fit? ---- */

static rb_error other_fit(const struct reading *in, const char *what, const char *before,
                          const char *now) {
    return rb_fail(in->ctx, RB_ERROR_ARGUMENT,
                   "the checkpoint %s is of another fit, where %s is '%s' instead of '%s'; use the "
                   "same, or another file",
                   in->path, what, before ? before : "", now);
}

static rb_error compare_method(const struct reading *in) {
    const char *now = in->run->method->name;
    char *method = NULL;
    rb_error err = in->ctx->checkpoints->get_text(in->file, "method", &method);
    if (!err && (!method || strcmp(method, now) != 0))
        err = other_fit(in, "the method", method, now);
    rb_free(method);
    return err;
}

static rb_error compare_heads(const struct reading *in) {
    const rb_checkpoint_head *head = &in->head, now = rb_head_of(in->run);
    if (head->samples != now.samples || head->features != now.features ||
        (head->sparse != 0) != (now.sparse != 0)) {
        return rb_fail(in->ctx, RB_ERROR_ARGUMENT,
                       "the checkpoint %s is of a fit to other data: %lld samples x %lld features, "
                       "%s; use the same, or another file",
                       in->path, (long long)head->samples, (long long)head->features,
                       head->sparse ? "sparse" : "dense");
    }
    if (head->start != now.start) {
        return rb_fail(in->ctx, RB_ERROR_ARGUMENT,
                       "the checkpoint %s is of a fit that started %s; start from the same, or use "
                       "another file",
                       in->path, head->start ? "from another model" : "from no model");
    }
    return RB_OK;
}

/* Every option but the time that there is, the checksums of the data, the version of the program.
 * Of batches other processes make others, which the model then says. */
static rb_error compare_attributes(const struct reading *in, const rb_model *before) {
    const rb_model *now = in->run->model;
    for (int64_t i = 0; i < now->n_attributes; i++) {
        const char *name = now->attributes[i].name, *value = now->attributes[i].value;
        const char *old = rb_model_attribute(before, name);
        static const char *const others[] = {"max-time", "best_restart", "processes", NULL};
        bool may_differ = rb_among(others, name);
        if (!may_differ && (!old || strcmp(old, value) != 0))
            return other_fit(in, name, old, value);
    }
    return RB_OK;
}

/* ---- is it sound? ---- */

static rb_error check_history(const struct reading *in, const rb_model *model) {
    if (model->iterations > in->run->problem.fit->iterations)
        return damaged(in, "there are more iterations than were asked for");
    for (int64_t t = 0; t < model->iterations; t++)
        if (!isfinite(model->history[t].objective) || !isfinite(model->history[t].seconds))
            return damaged(in, "an objective is not finite");
    return RB_OK;
}

/* A model that can be used: its arrays are finite, but for those that only report, and its method
 * takes them. */
static rb_error check_best(const struct reading *in) {
    const rb_run *run = in->run;
    const rb_model *model = in->best;
    void *coder = NULL;
    for (int64_t i = 0; i < model->n_arrays; i++) {
        const rb_array *array = &model->arrays[i];
        bool reports = strncmp(array->name, "trace", 5) == 0;
        for (int64_t e = 0; !reports && e < array->rows * array->columns; e++)
            if (!isfinite(array->values[e]))
                return damaged(in, "a number of the best model is not finite");
    }
    if (rb_model_units(model) != rb_method_units(run->method, run->options))
        return damaged(in, "the best model has another number of units");
    rb_error err = rb_method_coder_new(in->ctx, model, 1, &coder);
    if (err) {
        rb_fail_prefix(in->ctx, "%s: the best model: ", in->path);
        return err == RB_ERROR_MEMORY ? err : RB_ERROR_FORMAT;
    }
    rb_method_coder_free(run->method, coder);
    return RB_OK;
}

/* ---- which restart, and the best before it ---- */

/* Reads a model into one that is like that of the run. */
static rb_error get_model(struct reading *in, const char *group, rb_model **model) {
    const rb_run *run = in->run;
    rb_preprocess *copy = rb_preprocess_copy(in->ctx, run->preprocess);
    rb_error err =
        copy ? rb_model_new(in->ctx, run->method, run->problem.type, copy, model) : RB_ERROR_MEMORY;
    err = err ? err : in->ctx->checkpoints->get_model(in->file, group, *model);
    return err ? err : compare_attributes(in, *model);
}

/* The whole of the file but its state, and the best model. */
static rb_error read_identity(struct reading *in) {
    rb_error err = get_head(in);
    err = err ? err : compare_method(in);
    err = err ? err : compare_heads(in);
    err = err ? err : get_model(in, "fit", &in->before);
    if (!err && in->head.restart >= in->run->problem.fit->restarts)
        err = damaged(in, "there are more restarts than were asked for");
    if (!err && in->head.iteration != in->before->iterations)
        err = damaged(in, "the history has another number of iterations");
    return err ? err : check_history(in, in->before);
}

static rb_error read_restart(struct reading *in) {
    rb_error err = read_identity(in);
    bool there = !err && in->ctx->checkpoints->has_model(in->file, "best");
    if (!err && there != (in->head.restart > 0)) err = damaged(in, "the best model is missing");
    if (err || !there) return err;
    err = get_model(in, "best", &in->best);
    if (!err && in->best->iterations == 0) err = damaged(in, "the best model has no history");
    err = err ? err : check_history(in, in->best);
    return err ? err : check_best(in);
}

rb_error rb_resume_restart(rb_context *ctx, rb_run *run, int64_t *restart, rb_model **best) {
    struct reading in = {.ctx = ctx, .path = run->checkpoint.path, .run = run};
    rb_error err = look_into(&in, read_restart);
    rb_model_free(in.before);
    if (err) {
        rb_model_free(in.best);
        in.best = NULL;
    }
    *restart = err ? 0 : in.head.restart;
    *best = in.best;
    return err;
}

/* ---- the state ---- */

/* Acceleration goes on after an E-step that failed: there may be fewer M-steps than iterations. */
static bool is_count_of_msteps(const struct reading *in, int64_t count) {
    const rb_problem *problem = &in->run->problem;
    int64_t batch = problem->batch_samples, n = problem->n_samples;
    int64_t an_iteration = batch > 0 ? (n + batch - 1) / batch : 1;
    int64_t all = in->before->iterations * an_iteration;
    bool accelerated = problem->fit->accelerate != RB_ACCELERATE_NONE;
    return accelerated ? count >= 0 && count <= all : count == all;
}

/* Could an iteration have given the value? */
static bool is_sound(const struct reading *in, const rb_kept *array, double value) {
    if (array->role == RB_KEPT_REPORTED || array->type == RB_KEPT_FLAG) return true;
    if (array->role == RB_KEPT_MSTEPS)
        return is_count_of_msteps(in, *(const int64_t *)array->values);
    bool ranges = array->min != 0 || array->max != 0;
    return (array->role != RB_KEPT_POSITIVE || value > 0) &&
           (ranges ? value >= array->min && value <= array->max : isfinite(value));
}

static rb_error get_whole(const struct reading *in, const rb_kept *array) {
    rb_error err = in->ctx->checkpoints->get_array(in->file, array);
    for (int64_t i = 0; !err && i < rb_kept_count(array); i++) {
        double value = array->type == RB_KEPT_FLAG ? 0
                       : array->type == RB_KEPT_INTEGER
                           ? (double)((const int64_t *)array->values)[i]
                           : rb_get((rb_type)array->type, array->values, i);
        if (!is_sound(in, array, value)) {
            err = rb_fail(
                in->ctx, RB_ERROR_FORMAT,
                "%s: '%s' has the value %.6g, which no iteration produces; the file is damaged",
                in->path, array->name, value);
        }
    }
    return err;
}

static rb_error get_array(void *user, const rb_kept *array) {
    const struct reading *in = user;
    if (!rb_is_shared(in->run, array)) return get_whole(in, array);
    rb_kept whole = *array;
    whole.values = rb_alloc(in->ctx, rb_kept_count(array), rb_kept_size(array->type));
    rb_error err = whole.values ? get_whole(in, &whole) : RB_ERROR_MEMORY;
    if (!err) rb_take_own(in->run, &whole);
    rb_free(whole.values);
    return err;
}

/* In batches each number of processes gives other codes: the model names all that it had. */
static rb_error name_processes(const struct reading *in) {
    const char *old = rb_model_attribute(in->before, "processes");
    const char *now = rb_model_attribute(in->run->model, "processes");
    char text[256], listed[256], one[32];
    if (!in->run->shuffled || in->before->iterations == 0 || (!old && !now)) return RB_OK;
    old = old ? old : "1";
    now = now ? now : "1";
    snprintf(listed, sizeof listed, ",%s,", old);
    snprintf(one, sizeof one, ",%s,", now);
    bool again = strstr(listed, one) != NULL;
    snprintf(text, sizeof text, "%s%s%s", old, again ? "" : ",", again ? "" : now);
    return rb_model_set_attribute(in->ctx, in->run->model, "processes", text);
}

static rb_error read_state(struct reading *in) {
    rb_run *run = in->run;
    rb_error err = read_identity(in);
    if (!err && in->head.restart != run->problem.restart)
        err = damaged(in, "it was changed while it was read");
    if (!err && in->before->iterations > 0) err = rb_run_keep(run, true, get_array, in);
    err = err ? err : rb_method_device(in->ctx, &run->problem, run->state, RB_DEVICE_SEND);
    for (int64_t t = 0; !err && t < in->before->iterations; t++)
        err = rb_model_add_history(in->ctx, run->model, in->before->history[t]);
    return err ? err : name_processes(in);
}

rb_error rb_resume_state(rb_context *ctx, rb_run *run) {
    if (!run->checkpoint.found) return RB_OK;
    struct reading in = {.ctx = ctx, .path = run->checkpoint.path, .run = run};
    rb_error err = look_into(&in, read_state);
    rb_model_free(in.before);
    if (err) return err;
    int64_t iterations = run->model->iterations;
    run->checkpoint.found = false;
    run->skipped = run->problem.restart * run->problem.fit->iterations + iterations;
    rb_log(ctx, RB_LOG_INFO, "resuming from the checkpoint %s, after iteration %lld",
           run->checkpoint.path, (long long)iterations);
    return RB_OK;
}
