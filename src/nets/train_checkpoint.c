/* Checkpoints of a training: what an epoch takes from the one before it. */
#include "train.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define FORMAT "rarebit-training"
enum { VERSION = 1, VECTORS = 4, COUNTS = 5 };

/* The vectors that there are; how many. */
static int vectors(const deep_training *t, rb_kept list[VECTORS]) {
    const struct {
        const char *name;
        void *values;
    } all[VECTORS] = {{"parameters", t->net.values},
                      {"best", t->best},
                      {"first", t->first},
                      {"second", t->second}};
    int count = 0;
    for (int i = 0; i < VECTORS; i++) {
        if (all[i].values) {
            list[count++] = (rb_kept){.name = all[i].name,
                                      .role = RB_KEPT_PARAMETER,
                                      .type = (rb_kept_type)t->net.type,
                                      .rows = t->net.count,
                                      .columns = 1,
                                      .values = all[i].values};
        }
    }
    return count;
}

static const char *const count_names[COUNTS] = {"epochs", "steps", "best_epoch", "best_errors",
                                                "start"};

static rb_kept best_loss(deep_training *t) {
    return (rb_kept){.name = "best_loss",
                     .type = RB_KEPT_FLOAT64,
                     .rows = 1,
                     .columns = 1,
                     .values = &t->progress.best_loss};
}

/* ---- writing ---- */

static rb_error put_all(deep_training *t, rb_checkpoint_file *file) {
    const rb_checkpoint_store *store = t->ctx->checkpoints;
    rb_kept list[VECTORS], loss = best_loss(t);
    const deep_progress *p = &t->progress;
    const int64_t counts[COUNTS] = {p->epochs, p->steps, p->best_epoch, p->best_errors,
                                    t->start_checksum};
    int count = vectors(t, list);
    rb_error err = store->put_text(file, "format", FORMAT);
    err = err ? err : store->put_integer(file, "format_version", VERSION);
    for (int i = 0; !err && i < COUNTS; i++)
        err = store->put_integer(file, count_names[i], counts[i]);
    err = err ? err : store->put_model(file, "fit", t->model);
    err = err ? err : store->put_array(file, &loss);
    for (int i = 0; !err && i < count; i++)
        err = store->put_array(file, &list[i]);
    return err;
}

static rb_error read_every(rb_context *ctx, const char *text, double *every, bool *seconds) {
    bool good = rb_parse_seconds(text, every, seconds) && *every > 0;
    if (!good || (!*seconds && (*every != floor(*every) || *every > 1e15))) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "`checkpoint-every` is '%s', but must be a number of epochs, such as 10, or a "
            "time, such as 60s, 5m or 1h",
            text);
    }
    return RB_OK;
}

void deep_checkpoint_after(deep_training *t, bool now) {
    const rb_checkpoint_options *o = t->checkpoints;
    double every, present = rb_seconds();
    bool seconds;
    if (!o || !o->checkpoint || read_every(t->ctx, o->checkpoint_every, &every, &seconds)) return;
    bool due =
        seconds ? present - t->written >= every : fmod((double)t->progress.epochs, every) == 0;
    if (!due && !now) return;
    const rb_checkpoint_store *store = t->ctx->checkpoints;
    rb_checkpoint_file *file;
    rb_error err = store->create(t->ctx, o->checkpoint, t->lock != NULL, &file);
    if (!err) err = store->close(file, put_all(t, file));
    if (err) {
        rb_log(t->ctx, RB_LOG_WARNING, "no checkpoint after epoch %lld: %s; the training goes on",
               (long long)t->progress.epochs, rb_context_error(t->ctx));
    }
    t->written = present;
}

/* ---- reading ---- */

static rb_error damaged(const deep_training *t, const char *what) {
    return rb_fail(t->ctx, RB_ERROR_FORMAT, "%s: %s; the file is damaged",
                   t->checkpoints->checkpoint, what);
}

static rb_error check_format(deep_training *t, rb_checkpoint_file *file) {
    const rb_checkpoint_store *store = t->ctx->checkpoints;
    char *format = NULL;
    int64_t version = 0;
    rb_error err = store->get_text(file, "format", &format);
    if (!err && (!format || strcmp(format, FORMAT) != 0)) {
        err = rb_fail(t->ctx, RB_ERROR_FORMAT, "%s: not a checkpoint of a training",
                      t->checkpoints->checkpoint);
    }
    rb_free(format);
    err = err ? err : store->get_integer(file, "format_version", &version);
    if (!err && version != VERSION)
        err = rb_fail(
            t->ctx, RB_ERROR_FORMAT,
            "%s: the checkpoint has format version %lld, written by another version of rarebit",
            t->checkpoints->checkpoint, (long long)version);
    return err;
}

static rb_error other(const deep_training *t, const char *what, const char *before,
                      const char *now) {
    return rb_fail(t->ctx, RB_ERROR_ARGUMENT,
                   "the checkpoint %s is of another training, with %s '%s' instead of '%s'; "
                   "give the same, or another file",
                   t->checkpoints->checkpoint, what, before ? before : "", now);
}

/* Everything but the time that there is, and how many epochs are wanted where no rate depends on
 * that. */
static rb_error compare(const deep_training *t, const rb_model *before) {
    const rb_model *now = t->model;
    for (int64_t i = 0; i < now->n_attributes; i++) {
        const char *name = now->attributes[i].name, *value = now->attributes[i].value;
        const char *old = rb_model_attribute(before, name);
        bool may_differ = strcmp(name, "max-time") == 0 || strcmp(name, "patience") == 0 ||
                          (strcmp(name, "epochs") == 0 && t->options->schedule != DEEP_COSINE);
        if (!may_differ && (!old || strcmp(old, value) != 0)) return other(t, name, old, value);
    }
    return RB_OK;
}

static rb_error take_counts(deep_training *t, rb_checkpoint_file *file, const rb_model *before) {
    deep_progress *p = &t->progress;
    int64_t counts[COUNTS], n = t->train->source->n_samples;
    rb_error err = RB_OK;
    for (int i = 0; !err && i < COUNTS; i++)
        err = t->ctx->checkpoints->get_integer(file, count_names[i], &counts[i]);
    if (err) return err;
    if (counts[4] != t->start_checksum) return other(t, "the start", "another model", "this one");
    int64_t batches = (n + t->pass_rows - 1) / t->pass_rows;
    bool sound = counts[0] == before->iterations && counts[0] >= 1 && counts[1] >= 1 &&
                 counts[1] / batches <= counts[0] && counts[2] >= 0 && counts[2] < counts[0] &&
                 counts[3] >= 0 && counts[3] <= t->valid_labels.count;
    if (!sound) return damaged(t, "a count is impossible");
    *p = (deep_progress){counts[0], counts[1], counts[2], counts[3], 0};
    return RB_OK;
}

static rb_error take_vectors(deep_training *t, rb_checkpoint_file *file) {
    const rb_checkpoint_store *store = t->ctx->checkpoints;
    rb_kept list[VECTORS], loss = best_loss(t);
    int count = vectors(t, list);
    rb_error err = store->get_array(file, &loss);
    if (!err && !isfinite(t->progress.best_loss)) err = damaged(t, "the best loss is not finite");
    for (int i = 0; !err && i < count; i++) {
        err = store->get_array(file, &list[i]);
        for (int64_t e = 0; !err && e < t->net.count; e++)
            if (!isfinite(rb_get(t->net.type, list[i].values, e)))
                err = damaged(t, "a parameter is not finite");
    }
    return err;
}

static rb_error read_all(deep_training *t, rb_checkpoint_file *file) {
    rb_context *ctx = t->ctx;
    rb_model *before = NULL;
    rb_preprocess *p = rb_preprocess_copy(ctx, t->model->preprocess);
    rb_error err =
        p ? rb_model_new(ctx, t->model->method, t->net.type, p, &before) : RB_ERROR_MEMORY;
    err = err ? err : check_format(t, file);
    err = err ? err : ctx->checkpoints->get_model(file, "fit", before);
    err = err ? err : compare(t, before);
    err = err ? err : take_counts(t, file, before);
    err = err ? err : take_vectors(t, file);
    for (int64_t e = 0; !err && e < before->iterations; e++) {
        if (!isfinite(before->history[e].objective) || !isfinite(before->history[e].seconds))
            err = damaged(t, "an objective is not finite");
        err = err ? err : rb_model_add_history(ctx, t->model, before->history[e]);
    }
    rb_model_free(before);
    return err;
}

static rb_error go_on(deep_training *t) {
    rb_context *ctx = t->ctx;
    const char *path = t->checkpoints->checkpoint;
    rb_reading reading;
    rb_checkpoint_file *file;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = ctx->checkpoints->open(ctx, path, &file);
    if (!err) err = ctx->checkpoints->close(file, read_all(t, file));
    rb_reading_end(ctx);
    if (err == RB_ERROR_FORMAT) {
        rb_fail_prefix(ctx, "cannot resume from this checkpoint; use another name, or remove "
                            "it to begin anew: ");
    }
    if (!err) {
        rb_log(ctx, RB_LOG_INFO, "resuming from the checkpoint %s, after epoch %lld", path,
               (long long)t->progress.epochs);
    }
    return err;
}

rb_error deep_checkpoint_begin(deep_training *t) {
    const rb_checkpoint_options *o = t->checkpoints;
    double every;
    bool seconds;
    if (!o || !o->checkpoint) return RB_OK;
    if (!t->ctx->checkpoints) {
        return rb_fail(t->ctx, RB_ERROR_UNSUPPORTED,
                       "a checkpoint is a file, and this context keeps none; call rb_io_use of "
                       "librarebit-io for it first");
    }
    rb_error err = read_every(t->ctx, o->checkpoint_every, &every, &seconds);
    err = err ? err : t->ctx->checkpoints->lock(t->ctx, o->checkpoint, &t->lock);
    if (err) return err;
    t->written = t->began;
    bool there = access(o->checkpoint, F_OK) == 0 || errno != ENOENT;
    return there ? go_on(t) : RB_OK;
}

void deep_checkpoint_end(deep_training *t) {
    if (t->lock) t->ctx->checkpoints->unlock(t->lock);
    t->lock = NULL;
}
