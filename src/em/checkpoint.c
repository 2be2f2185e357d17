/* Writing checkpoints: all that a fit needs to go on, in one HDF5 file that appears whole or not at
 * all. resume.c reads it.
 *
 *   /        which fit it is: format, method, shape of the data, restart, seed, start
 *   fit/     the model so far: its attributes (options, checksum of the data) and history
 *   state/   the arrays that an iteration takes from the one before (rb_method.keep); none before
 *            the first iteration of a restart
 *   best/    the best model of the restarts before, if any
 */
#include "em.h"
#include "io/io.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static rb_error read_every(rb_context *ctx, const char *text, rb_checkpoint *checkpoint) {
    double number = 0;
    bool is_time = false;
    bool good = rb_parse_seconds(text, &number, &is_time) && number > 0;
    if (!good || (!is_time && (number != floor(number) || number > 1e15))) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "checkpoint-every is '%s', but must be a number of iterations, such as 100, "
                       "or a time, such as 60s, 5m or 1h",
                       text);
    }
    checkpoint->every_seconds = is_time ? number : 0;
    checkpoint->every_iterations = is_time ? 0 : (int64_t)number;
    return RB_OK;
}

rb_error rb_checkpoint_begin(rb_context *ctx, const rb_checkpoint_options *options, rb_run *run) {
    if (!options || !options->checkpoint) {
        return RB_OK;
    }
    if (!run->method->keep) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "the method '%s' cannot go on from a checkpoint; leave it out",
                       run->method->name);
    }
    rb_checkpoint *checkpoint = &run->checkpoint;
    rb_error err = read_every(ctx, options->checkpoint_every, checkpoint);
    err = err ? err : rb_lock_take(ctx, options->checkpoint, &checkpoint->lock);
    if (err) {
        return err;
    }
    checkpoint->path = options->checkpoint;
    checkpoint->written = rb_seconds();
    checkpoint->found = access(checkpoint->path, F_OK) == 0 || errno != ENOENT;
    return RB_OK;
}

void rb_checkpoint_end(rb_run *run) {
    rb_lock_release(run->checkpoint.lock);
}

/* ---- what a file holds ---- */

int64_t rb_start_checksum(const rb_model *start) {
    uint32_t sum = 0;
    for (int64_t i = 0; start && i < start->n_arrays; i++) {
        const rb_array *array = &start->arrays[i];
        sum = (uint32_t)crc32_z(sum, (const Bytef *)array->values,
                                (z_size_t)(array->rows * array->columns) * sizeof *array->values);
    }
    return start ? (int64_t)sum + 1 : 0;
}

static rb_error put_head(rb_h5 *file, const rb_run *run) {
    const rb_problem *problem = &run->problem;
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"format_version", RB_CHECKPOINT_VERSION}, {"samples", problem->n_samples},
        {"features", problem->n_features},         {"sparse", problem->sparse},
        {"start", rb_start_checksum(run->start)},  {"restart", problem->restart},
        {"iteration", run->model->iterations},     {"seed", problem->fit->seed},
    };
    rb_error err = rb_h5_set_text(file, "/", "format", RB_CHECKPOINT_FORMAT);
    if (!err) {
        err = rb_h5_set_text(file, "/", "method", run->method->name);
    }
    for (size_t i = 0; !err && i < sizeof numbers / sizeof *numbers; i++) {
        err = rb_h5_set_integer(file, "/", numbers[i].name, numbers[i].value);
    }
    return err;
}

struct writing {
    rb_context *ctx;
    rb_h5 *file;
};

static rb_error put_flags(const struct writing *out, const char *path, int64_t count,
                          const bool *flags) {
    int64_t *numbers = rb_alloc(out->ctx, count, sizeof *numbers);
    if (!numbers) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < count; i++) {
        numbers[i] = flags[i];
    }
    rb_error err = rb_h5_put_integers(out->file, path, count, numbers);
    rb_free(numbers);
    return err;
}

static rb_error put_array(void *user, const rb_kept *array) {
    const struct writing *out = user;
    int64_t count = array->rows * array->columns;
    char path[256];
    snprintf(path, sizeof path, "state/%s", array->name);
    switch (array->type) {
    case RB_KEPT_FLOAT32:
    case RB_KEPT_FLOAT64:
        return rb_h5_put_dense(out->file, path,
                               (rb_dense){array->values, array->rows, array->columns, array->stride,
                                          (rb_type)array->type});
    case RB_KEPT_INTEGER:
        return rb_h5_put_integers(out->file, path, count, array->values);
    case RB_KEPT_FLAG:
        return put_flags(out, path, count, array->values);
    }
    return RB_OK;
}

static rb_error put_all(rb_context *ctx, rb_h5 *file, rb_run *run, void *state) {
    struct writing out = {ctx, file};
    rb_error err = put_head(file, run);
    if (!err) {
        err = rb_model_put(ctx, file, "fit", run->model);
    }
    if (!err && state) {
        err = rb_h5_put_group(file, "state");
    }
    if (!err && state) {
        err = rb_run_keep(run, state, put_array, &out);
    }
    return err || !run->best ? err : rb_model_put(ctx, file, "best", run->best);
}

/* ---- writing it ---- */

static rb_error write_file(rb_context *ctx, rb_run *run, void *state) {
    const char *path = run->checkpoint.path;
    rb_output output;
    rb_h5 *file;
    rb_error err = run->checkpoint.lock ? rb_output_begin_again(ctx, path, &output)
                                        : rb_output_begin(ctx, path, &output);
    if (err) {
        return err;
    }
    err = rb_h5_create(ctx, output.path, path, RB_H5_OWN, &file);
    if (!err) {
        err = put_all(ctx, file, run, state);
        rb_error unfinished = rb_h5_close(file);
        err = err ? err : unfinished;
    }
    if (err) {
        rb_output_abandon(&output);
        return err;
    }
    return rb_output_commit(ctx, &output);
}

static bool is_due(const rb_run *run) {
    const rb_checkpoint *checkpoint = &run->checkpoint;
    if (checkpoint->every_iterations > 0) {
        return run->model->iterations % checkpoint->every_iterations == 0;
    }
    return rb_seconds() - checkpoint->written >= checkpoint->every_seconds;
}

void rb_checkpoint_after(rb_context *ctx, rb_run *run, void *state, bool now) {
    rb_checkpoint *checkpoint = &run->checkpoint;
    if (!checkpoint->path || checkpoint->current || !(now || is_due(run))) {
        return;
    }
    checkpoint->current = !write_file(ctx, run, state);
    if (!checkpoint->current) {
        rb_log(ctx, RB_LOG_WARNING, "no checkpoint after iteration %lld: %s; the fit goes on",
               (long long)run->model->iterations, rb_context_error(ctx));
    }
    checkpoint->written = rb_seconds();
}
