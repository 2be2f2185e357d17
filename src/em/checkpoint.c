/* Writing checkpoints: all that a fit needs to go on, in one file that appears whole or not at all.
 * A store of the context writes it (librarebit-io: HDF5); resume.c reads it. */
#include "em.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static rb_error read_every(rb_context *ctx, const char *text, rb_checkpoint *checkpoint) {
    double number = 0;
    bool is_time = false;
    bool good = rb_parse_seconds(text, &number, &is_time) && number > 0;
    if (!good || (!is_time && (number != floor(number) || number > 1e15))) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "`checkpoint-every` is '%s', but must be a number of iterations, such as 100, "
            "or a time, such as 60s, 5m or 1h",
            text);
    }
    checkpoint->every_seconds = is_time ? number : 0;
    checkpoint->every_iterations = is_time ? 0 : (int64_t)number;
    return RB_OK;
}

rb_error rb_checkpoint_begin(rb_context *ctx, const rb_checkpoint_options *options, rb_run *run) {
    if (!options || !options->checkpoint) return RB_OK;
    if (!run->method->parts) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "the method '%s' cannot resume from a checkpoint; leave it out",
                       run->method->name);
    }
    if (!ctx->checkpoints) {
        return rb_fail(
            ctx, RB_ERROR_UNSUPPORTED,
            "this context cannot write checkpoint files; call rb_io_use of librarebit-io first");
    }
    rb_checkpoint *checkpoint = &run->checkpoint;
    checkpoint->store = ctx->checkpoints;
    rb_error err = read_every(ctx, options->checkpoint_every, checkpoint);
    if (!err && rb_rank(ctx) == 0)
        err = checkpoint->store->lock(ctx, options->checkpoint, &checkpoint->lock);
    err = rb_comm_agree(ctx, err);
    if (err) return err;
    checkpoint->path = options->checkpoint;
    bool here = access(checkpoint->path, F_OK) == 0 || errno != ENOENT;
    checkpoint->found = here;
    rb_comm_broadcast(ctx, 0, &checkpoint->found, sizeof checkpoint->found);
    return here == checkpoint->found
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_FILE,
                         "the checkpoint %s is there for some processes alone; put it where all "
                         "see the same",
                         checkpoint->path);
}

void rb_checkpoint_end(rb_run *run) {
    if (run->checkpoint.lock) run->checkpoint.store->unlock(run->checkpoint.lock);
}

/* ---- what a file holds ---- */

const char *const rb_head_names[] = {"samples", "features",  "sparse", "start",
                                     "restart", "iteration", "seed",   NULL};

uint32_t rb_model_checksum(const rb_model *start) {
    uint32_t sum = 0;
    rb_crc32 crc;
    rb_crc32_prepare(&crc);
    for (int64_t i = 0; i < start->n_arrays; i++) {
        const rb_array *array = &start->arrays[i];
        sum = rb_crc32_add(&crc, sum, array->values,
                           (size_t)(array->rows * array->columns) * sizeof *array->values);
    }
    return sum;
}

rb_checkpoint_head rb_head_of(const rb_run *run) {
    const rb_problem *problem = &run->problem;
    return (rb_checkpoint_head){.samples = problem->n_samples,
                                .features = problem->n_features,
                                .sparse = problem->sparse,
                                .start =
                                    run->start ? (int64_t)rb_model_checksum(run->start) + 1 : 0,
                                .restart = problem->restart,
                                .iteration = run->model->iterations,
                                .seed = problem->fit->seed};
}

static rb_error put_head(const rb_run *run) {
    const rb_checkpoint *out = &run->checkpoint;
    const rb_checkpoint_head head = rb_head_of(run);
    const int64_t *values = (const int64_t *)&head;
    rb_error err = out->store->put_text(out->file, "format", RB_CHECKPOINT_FORMAT);
    err = err ? err : out->store->put_text(out->file, "method", run->method->name);
    err = err ? err : out->store->put_integer(out->file, "format_version", RB_CHECKPOINT_VERSION);
    for (int i = 0; !err && rb_head_names[i]; i++)
        err = out->store->put_integer(out->file, rb_head_names[i], values[i]);
    return err;
}

/* The first process writes; codes of the others come to it. */
struct writing {
    rb_run *run;
    rb_error err;
};

static rb_error put_array(void *user, const rb_kept *array) {
    struct writing *w = user;
    const rb_checkpoint *out = &w->run->checkpoint;
    rb_context *ctx = w->run->sums.ctx;
    rb_kept whole = *array;
    bool shared = rb_is_shared(w->run, array);
    rb_error err = shared ? rb_gather(ctx, w->run, &whole) : RB_OK;
    ctx->agreed = RB_OK; /* the first one alone goes on with it */
    if (rb_rank(ctx) == 0 && !w->err) w->err = err ? err : out->store->put_array(out->file, &whole);
    if (shared) rb_free(whole.values);
    return RB_OK; /* the others wait for the rest */
}

static rb_error put_all(rb_run *run) {
    rb_checkpoint *out = &run->checkpoint;
    bool writes = rb_rank(run->sums.ctx) == 0;
    struct writing w = {
        run, rb_method_device(run->sums.ctx, &run->problem, run->state, RB_DEVICE_FETCH)};
    if (!w.err && writes) w.err = put_head(run);
    if (!w.err && writes) w.err = out->store->put_model(out->file, "fit", run->model);
    if (run->model->iterations > 0) (void)rb_run_keep(run, true, put_array, &w);
    return w.err || !writes || !run->best ? w.err
                                          : out->store->put_model(out->file, "best", run->best);
}

/* ---- writing it ---- */

static rb_error write_file(rb_context *ctx, rb_run *run) {
    rb_checkpoint *out = &run->checkpoint;
    bool writes = rb_rank(ctx) == 0;
    rb_error err =
        writes ? out->store->create(ctx, out->path, out->lock != NULL, &out->file) : RB_OK;
    err = rb_comm_agree(ctx, err);
    if (err) return err;
    err = put_all(run);
    return rb_comm_agree(ctx, writes ? out->store->close(out->file, err) : err);
}

/* By the clock of the first process. */
static bool is_due(rb_context *ctx, const rb_run *run) {
    const rb_checkpoint *checkpoint = &run->checkpoint;
    if (checkpoint->every_iterations > 0)
        return run->model->iterations % checkpoint->every_iterations == 0;
    bool due = run->elapsed - checkpoint->written >= checkpoint->every_seconds;
    rb_comm_broadcast(ctx, 0, &due, sizeof due);
    return due;
}

void rb_checkpoint_after(rb_context *ctx, rb_run *run, bool now) {
    rb_checkpoint *checkpoint = &run->checkpoint;
    if (!checkpoint->path || checkpoint->current || !(now || is_due(ctx, run))) return;
    checkpoint->current = !write_file(ctx, run);
    ctx->agreed = RB_OK;
    if (!checkpoint->current) {
        rb_log(ctx, RB_LOG_WARNING, "no checkpoint after iteration %lld: %s; the fit continues",
               (long long)run->model->iterations, rb_context_error(ctx));
    }
    checkpoint->written = rb_seconds() - run->began;
}
