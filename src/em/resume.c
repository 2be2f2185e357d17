/* Going on from a checkpoint: is it of this fit, and what does it hold? A file may be damaged or
 * made by somebody else: everything is checked. checkpoint.c writes it. */
#include "em.h"

#include <math.h>
#include <string.h>

/* ---- the head ---- */

struct head {
    int64_t samples, features, sparse, start, restart, iteration, seed;
};

static rb_error check_format(rb_context *ctx, rb_checkpoint_file *file, const char *path) {
    char *format = NULL;
    int64_t version = 0;
    rb_error err = ctx->checkpoints->get_text(file, "format", &format);
    if (!err && (!format || strcmp(format, RB_CHECKPOINT_FORMAT) != 0)) {
        err = rb_fail(ctx, RB_ERROR_FORMAT, "%s: is no checkpoint of rarebit", path);
    }
    rb_free(format);
    if (!err) {
        err = ctx->checkpoints->get_integer(file, "format_version", &version);
    }
    if (!err && version != RB_CHECKPOINT_VERSION) {
        err = rb_fail(ctx, RB_ERROR_FORMAT,
                      "%s: the checkpoint has format version %lld, made by another version of "
                      "rarebit",
                      path, (long long)version);
    }
    return err;
}

static rb_error get_head(rb_context *ctx, rb_checkpoint_file *file, const char *path,
                         struct head *head) {
    const struct {
        const char *name;
        int64_t *value;
    } numbers[] = {
        {"samples", &head->samples},     {"features", &head->features}, {"sparse", &head->sparse},
        {"start", &head->start},         {"restart", &head->restart},   {"seed", &head->seed},
        {"iteration", &head->iteration},
    };
    rb_error err = check_format(ctx, file, path);
    for (size_t i = 0; !err && i < sizeof numbers / sizeof *numbers; i++) {
        err = ctx->checkpoints->get_integer(file, numbers[i].name, numbers[i].value);
    }
    if (!err && (head->restart < 0 || head->iteration < 0)) {
        err = rb_fail(ctx, RB_ERROR_FORMAT, "%s: a count is below 0; the file is damaged", path);
    }
    return err;
}

/* Opens the checkpoint, hands it to `look`, closes it; a message about the file tells what to do.
 */
static rb_error look_into(rb_context *ctx, const char *path,
                          rb_error (*look)(rb_context *ctx, rb_checkpoint_file *file, void *user),
                          void *user) {
    rb_checkpoint_file *file;
    rb_reading reading;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = ctx->checkpoints->open(ctx, path, &file);
    if (!err) {
        err = ctx->checkpoints->close(file, look(ctx, file, user));
    }
    rb_reading_end(ctx);
    if (err == RB_ERROR_FORMAT) {
        rb_fail_prefix(ctx, "cannot go on from this checkpoint; take another name, or if it is "
                            "one remove it to begin anew: ");
    }
    return err;
}

struct reading_head {
    const char *path;
    struct head head;
};

static rb_error read_head(rb_context *ctx, rb_checkpoint_file *file, void *user) {
    struct reading_head *in = user;
    return get_head(ctx, file, in->path, &in->head);
}

rb_error rb_checkpoint_look(rb_context *ctx, const char *path, int64_t *seed, int64_t *restart,
                            int64_t *iteration) {
    struct reading_head in = {.path = path};
    rb_error err = look_into(ctx, path, read_head, &in);
    if (!err) {
        *seed = in.head.seed;
        *restart = in.head.restart;
        *iteration = in.head.iteration;
    }
    return err;
}

/* ---- is it of this fit? ---- */

static rb_error other_fit(rb_context *ctx, const rb_run *run, const char *what, const char *before,
                          const char *now) {
    return rb_fail(
        ctx, RB_ERROR_ARGUMENT,
        "the checkpoint %s is of another fit, where %s is '%s' instead of '%s'; take the "
        "same, or another file",
        run->checkpoint.path, what, before ? before : "", now ? now : "");
}

static rb_error compare_heads(rb_context *ctx, const rb_run *run, const struct head *head) {
    const rb_problem *problem = &run->problem;
    if (head->samples != problem->n_samples || head->features != problem->n_features ||
        (head->sparse != 0) != problem->sparse) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the checkpoint %s is of a fit to other data: %lld samples x %lld features, "
                       "%s; take the same, or another file",
                       run->checkpoint.path, (long long)head->samples, (long long)head->features,
                       head->sparse ? "sparse" : "dense");
    }
    if (head->start != rb_start_checksum(run->start)) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "the checkpoint %s is of a fit that started %s; start from the same, or take "
            "another file",
            run->checkpoint.path, head->start ? "from another model" : "from no model");
    }
    return RB_OK;
}

/* Every option but the time that there is, the checksums of the data, the version of the program.
 */
static rb_error compare_attributes(rb_context *ctx, const rb_run *run, const rb_model *before) {
    const rb_model *now = run->model;
    for (int64_t i = 0; i < now->n_attributes; i++) {
        const char *name = now->attributes[i].name, *value = now->attributes[i].value;
        const char *old = rb_model_attribute(before, name);
        if (strcmp(name, "max-time") == 0 || strcmp(name, "best_restart") == 0) {
            continue;
        }
        if (!old || strcmp(old, value) != 0) {
            return other_fit(ctx, run, name, old, value);
        }
    }
    return RB_OK;
}

/* ---- is it sound? ---- */

static rb_error damaged(rb_context *ctx, const rb_run *run, const char *what) {
    return rb_fail(ctx, RB_ERROR_FORMAT, "%s: %s; the file is damaged", run->checkpoint.path, what);
}

static rb_error check_history(rb_context *ctx, const rb_run *run, const rb_model *model) {
    if (model->iterations > run->problem.fit->iterations) {
        return damaged(ctx, run, "there are more iterations than were asked for");
    }
    for (int64_t t = 0; t < model->iterations; t++) {
        if (!isfinite(model->history[t].objective) || !isfinite(model->history[t].seconds)) {
            return damaged(ctx, run, "an objective is not finite");
        }
    }
    return RB_OK;
}

/* What traced fits report may be NaN. */
static bool is_reported(const rb_array *array) {
    return strncmp(array->name, "trace", 5) == 0;
}

/* A model that can be used: its arrays are finite, and its method takes them. */
static rb_error check_model(rb_context *ctx, const rb_run *run, const rb_model *model) {
    void *coder = NULL;
    for (int64_t i = 0; i < model->n_arrays; i++) {
        const rb_array *array = &model->arrays[i];
        for (int64_t e = 0; !is_reported(array) && e < array->rows * array->columns; e++) {
            if (!isfinite(array->values[e])) {
                return damaged(ctx, run, "a number of the best model is not finite");
            }
        }
    }
    if (rb_model_units(model) != rb_method_units(run->method, run->options)) {
        return damaged(ctx, run, "the best model has another number of units");
    }
    rb_error err = rb_method_coder_new(ctx, model, 1, &coder);
    if (err) {
        rb_fail_prefix(ctx, "%s: the best model: ", run->checkpoint.path);
        return err == RB_ERROR_MEMORY ? err : RB_ERROR_FORMAT;
    }
    rb_method_coder_free(run->method, coder);
    return RB_OK;
}

/* ---- which restart, and the best before it ---- */

/* An empty model like that of the run. */
static rb_error empty_model(rb_context *ctx, const rb_run *run, rb_model **model) {
    rb_preprocess *copy = rb_preprocess_copy(ctx, run->model->preprocess);
    *model = NULL;
    return copy ? rb_model_new(ctx, run->method, run->problem.type, copy, model) : RB_ERROR_MEMORY;
}

struct reading {
    rb_run *run;
    struct head head;
    rb_model *before; /* the fit as it was: attributes and history */
    rb_model *best;
    void *state;
};

static rb_error read_best(rb_context *ctx, rb_checkpoint_file *file, struct reading *in) {
    const rb_run *run = in->run;
    bool there = ctx->checkpoints->has_model(file, "best");
    if (there != (in->head.restart > 0)) {
        return damaged(ctx, run, "the best model is not there when it should be");
    }
    if (!there) {
        return RB_OK;
    }
    rb_error err = empty_model(ctx, run, &in->best);
    if (!err) {
        err = ctx->checkpoints->get_model(file, "best", in->best);
    }
    if (!err && in->best->iterations == 0) {
        err = damaged(ctx, run, "the best model has no history");
    }
    if (!err) {
        err = check_history(ctx, run, in->best);
    }
    if (!err) {
        err = compare_attributes(ctx, run, in->best);
    }
    return err ? err : check_model(ctx, run, in->best);
}

/* The whole of the file but its state. */
static rb_error read_identity(rb_context *ctx, rb_checkpoint_file *file, struct reading *in) {
    const rb_run *run = in->run;
    const char *path = run->checkpoint.path;
    char *method = NULL;
    rb_error err = get_head(ctx, file, path, &in->head);
    if (!err) {
        err = ctx->checkpoints->get_text(file, "method", &method);
    }
    if (!err && (!method || strcmp(method, run->method->name) != 0)) {
        err = other_fit(ctx, run, "the method", method, run->method->name);
    }
    rb_free(method);
    if (!err) {
        err = compare_heads(ctx, run, &in->head);
    }
    if (!err) {
        err = ctx->checkpoints->get_model(file, "fit", in->before);
    }
    if (!err) {
        err = compare_attributes(ctx, run, in->before);
    }
    if (!err && in->head.restart >= run->problem.fit->restarts) {
        err = damaged(ctx, run, "there are more restarts than were asked for");
    }
    if (!err && in->head.iteration != in->before->iterations) {
        err = damaged(ctx, run, "the history has another number of iterations");
    }
    return err ? err : check_history(ctx, run, in->before);
}

/* Calls look_into with an empty model for the fit as it was. */
static rb_error look_at_fit(rb_context *ctx, struct reading *in,
                            rb_error (*look)(rb_context *ctx, rb_checkpoint_file *file,
                                             void *user)) {
    rb_error err = empty_model(ctx, in->run, &in->before);
    if (!err) {
        err = look_into(ctx, in->run->checkpoint.path, look, in);
    }
    return err;
}

static rb_error read_restart(rb_context *ctx, rb_checkpoint_file *file, void *user) {
    rb_error err = read_identity(ctx, file, user);
    return err ? err : read_best(ctx, file, user);
}

rb_error rb_resume_restart(rb_context *ctx, rb_run *run, int64_t *restart, rb_model **best) {
    struct reading in = {.run = run};
    *restart = 0;
    *best = NULL;
    rb_error err = look_at_fit(ctx, &in, read_restart);
    rb_model_free(in.before);
    if (err) {
        rb_model_free(in.best);
        return err;
    }
    *restart = in.head.restart;
    *best = in.best;
    return RB_OK;
}

/* ---- the state ---- */

struct filling {
    rb_context *ctx;
    rb_checkpoint_file *file;
    const rb_run *run;
    int64_t iterations;
};

/* Acceleration goes on after an E-step that failed: there may be fewer M-steps than iterations. */
static bool is_count_of_msteps(const struct filling *in, int64_t count) {
    const rb_problem *problem = &in->run->problem;
    int64_t batch = problem->batch_samples, n = problem->n_samples;
    int64_t an_iteration = batch > 0 ? (n + batch - 1) / batch : 1;
    int64_t all = in->iterations * an_iteration;
    bool accelerated = problem->fit->accelerate != RB_ACCELERATE_NONE;
    return accelerated ? count >= 0 && count <= all : count == all;
}

/* Could an iteration have given the value? */
static bool is_sound(const struct filling *in, const rb_kept *array, double value) {
    switch (array->role) {
    case RB_KEPT_REPORTED:
        return true;
    case RB_KEPT_MSTEPS:
        return is_count_of_msteps(in, *(const int64_t *)array->values);
    case RB_KEPT_POSITIVE:
        if (!(value > 0)) {
            return false;
        }
        break;
    default:
        break;
    }
    return array->min == 0 && array->max == 0 ? isfinite(value)
                                              : value >= array->min && value <= array->max;
}

static rb_error check_values(const struct filling *in, const rb_kept *array) {
    for (int64_t i = 0; array->type != RB_KEPT_FLAG && i < array->rows; i++) {
        for (int64_t k = 0; k < array->columns; k++) {
            int64_t at = i * array->stride + k;
            double value = array->type == RB_KEPT_FLOAT32 ? ((const float *)array->values)[at]
                           : array->type == RB_KEPT_FLOAT64
                               ? ((const double *)array->values)[at]
                               : (double)((const int64_t *)array->values)[at];
            if (!is_sound(in, array, value)) {
                return rb_fail(in->ctx, RB_ERROR_FORMAT,
                               "%s: '%s' has the value %.6g, which no iteration gives; the file is "
                               "damaged",
                               in->run->checkpoint.path, array->name, value);
            }
        }
    }
    return RB_OK;
}

static rb_error get_array(void *user, const rb_kept *array) {
    const struct filling *in = user;
    rb_error err = in->ctx->checkpoints->get_array(in->file, array);
    return err ? err : check_values(in, array);
}

static rb_error read_state(rb_context *ctx, rb_checkpoint_file *file, void *user) {
    struct reading *in = user;
    rb_run *run = in->run;
    rb_error err = read_identity(ctx, file, in);
    if (!err && in->head.restart != run->problem.restart) {
        err = damaged(ctx, run, "it was changed while it was read");
    }
    struct filling filling = {ctx, file, run, in->before->iterations};
    if (!err && filling.iterations > 0) {
        err = rb_run_keep(run, in->state, get_array, &filling);
    }
    for (int64_t t = 0; !err && t < in->before->iterations; t++) {
        err = rb_model_add_history(ctx, run->model, in->before->history[t]);
    }
    return err;
}

rb_error rb_resume_state(rb_context *ctx, rb_run *run, void *state) {
    if (!run->checkpoint.found) {
        return RB_OK;
    }
    struct reading in = {.run = run, .state = state};
    rb_error err = look_at_fit(ctx, &in, read_state);
    rb_model_free(in.before);
    if (err) {
        return err;
    }
    int64_t iterations = run->model->iterations;
    run->checkpoint.found = false;
    run->skipped = run->problem.restart * run->problem.fit->iterations + iterations;
    rb_log(ctx, RB_LOG_INFO, "going on from the checkpoint %s, after iteration %lld",
           run->checkpoint.path, (long long)iterations);
    return RB_OK;
}
