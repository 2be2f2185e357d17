/* Checkpoints as HDF5 files; docs/checkpoints.md.
 *
 *   /        which fit it is: format, method, shape of the data, restart, seed, start
 *   fit/     the model so far: its attributes (options, checksum of the data) and history
 *   state/   the arrays that an iteration takes from the one before (rb_method.keep); none before
 *            the first iteration of a restart
 *   best/    the best model of the restarts before, if any
 */
#include "io.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

struct rb_checkpoint_file {
    rb_context *ctx;
    const char *path;
    rb_h5 *h5;
    rb_output output; /* of a file that is written; path NULL: it is read */
};

/* ---- opening and closing ---- */

static rb_error new_file(rb_context *ctx, const char *path, rb_checkpoint_file **file) {
    *file = rb_alloc_zero(ctx, 1, sizeof **file);
    if (!*file) {
        return RB_ERROR_MEMORY;
    }
    (*file)->ctx = ctx;
    (*file)->path = path;
    return RB_OK;
}

static rb_error open_file(rb_context *ctx, const char *path, rb_checkpoint_file **file) {
    rb_error err = new_file(ctx, path, file);
    err = err ? err : rb_h5_open(ctx, path, RB_H5_OWN, &(*file)->h5);
    if (err) {
        rb_free(*file);
    }
    return err;
}

static rb_error create_file(rb_context *ctx, const char *path, bool locked,
                            rb_checkpoint_file **file) {
    rb_error err = new_file(ctx, path, file);
    if (err) {
        return err;
    }
    rb_output *output = &(*file)->output;
    err = locked ? rb_output_begin_again(ctx, path, output) : rb_output_begin(ctx, path, output);
    if (!err) {
        err = rb_h5_create(ctx, output->path, path, RB_H5_OWN, &(*file)->h5);
        if (err) {
            rb_output_abandon(output);
        }
    }
    if (err) {
        rb_free(*file);
    }
    return err;
}

static rb_error close_file(rb_checkpoint_file *file, rb_error err) {
    rb_error unfinished = rb_h5_close(file->h5);
    if (!file->output.path) {
        err = unfinished ? unfinished : err;
    } else if (err || unfinished) {
        rb_output_abandon(&file->output);
        err = err ? err : unfinished;
    } else {
        err = rb_output_commit(file->ctx, &file->output);
    }
    rb_free(file);
    return err;
}

/* ---- what a file holds ---- */

static rb_error put_text(rb_checkpoint_file *file, const char *name, const char *text) {
    return rb_h5_set_text(file->h5, "/", name, text);
}

static rb_error put_integer(rb_checkpoint_file *file, const char *name, int64_t value) {
    return rb_h5_set_integer(file->h5, "/", name, value);
}

static rb_error get_text(rb_checkpoint_file *file, const char *name, char **text) {
    *text = NULL;
    return rb_h5_has_attribute(file->h5, "/", name) ? rb_h5_get_text(file->h5, "/", name, text)
                                                    : RB_OK;
}

static rb_error get_integer(rb_checkpoint_file *file, const char *name, int64_t *value) {
    return rb_h5_get_integer(file->h5, "/", name, value);
}

static rb_error put_model(rb_checkpoint_file *file, const char *group, const rb_model *model) {
    return rb_model_put(file->ctx, file->h5, group, model);
}

static bool has_model(rb_checkpoint_file *file, const char *group) {
    return rb_h5_has(file->h5, group);
}

static rb_error get_model(rb_checkpoint_file *file, const char *group, rb_model *model) {
    return rb_model_get(file->ctx, file->h5, file->path, group, model);
}

/* ---- arrays of the state ---- */

static const char *place_of(const rb_kept *array, char path[256]) {
    snprintf(path, 256, "state/%s", array->name);
    return path;
}

/* Flags are integers in the file. */
static rb_error as_integers(rb_checkpoint_file *file, const char *path, const rb_kept *array,
                            bool reading) {
    int64_t count = array->rows * array->columns;
    bool *flags = array->values;
    int64_t *numbers = rb_alloc(file->ctx, count, sizeof *numbers);
    if (!numbers) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; !reading && i < count; i++) {
        numbers[i] = flags[i];
    }
    rb_error err = reading ? rb_h5_get_integers(file->h5, path, count, numbers)
                           : rb_h5_put_integers(file->h5, path, count, numbers);
    for (int64_t i = 0; reading && !err && i < count; i++) {
        flags[i] = numbers[i] != 0;
    }
    rb_free(numbers);
    return err;
}

static rb_dense dense_of(const rb_kept *array) {
    return (rb_dense){array->values, array->rows, array->columns, array->stride,
                      (rb_type)array->type};
}

static rb_error put_array(rb_checkpoint_file *file, const rb_kept *array) {
    char path[256];
    int64_t count = array->rows * array->columns;
    rb_error err = rb_h5_has(file->h5, "state") ? RB_OK : rb_h5_put_group(file->h5, "state");
    if (err) {
        return err;
    }
    place_of(array, path);
    switch (array->type) {
    case RB_KEPT_INTEGER:
        return rb_h5_put_integers(file->h5, path, count, array->values);
    case RB_KEPT_FLAG:
        return as_integers(file, path, array, false);
    default:
        return rb_h5_put_dense(file->h5, path, dense_of(array));
    }
}

static rb_error get_array(rb_checkpoint_file *file, const rb_kept *array) {
    char path[256];
    place_of(array, path);
    switch (array->type) {
    case RB_KEPT_INTEGER:
        return rb_h5_get_integers(file->h5, path, array->rows * array->columns, array->values);
    case RB_KEPT_FLAG:
        return as_integers(file, path, array, true);
    default:
        return rb_h5_get_dense(file->h5, path, dense_of(array));
    }
}

/* ---- the store ---- */

static const rb_checkpoint_store store = {
    .lock = rb_lock_take,
    .unlock = rb_lock_release,
    .open = open_file,
    .create = create_file,
    .close = close_file,
    .put_text = put_text,
    .put_integer = put_integer,
    .put_array = put_array,
    .put_model = put_model,
    .get_text = get_text,
    .get_integer = get_integer,
    .get_array = get_array,
    .has_model = has_model,
    .get_model = get_model,
};

void rb_io_use(rb_context *ctx) {
    ctx->checkpoints = &store;
}

rb_error rb_checkpoint_read(rb_context *ctx, const char *path, bool *there,
                            rb_checkpoint_info *info) {
    const rb_checkpoint_store *before = ctx->checkpoints;
    *info = (rb_checkpoint_info){0};
    *there = access(path, F_OK) == 0 || errno != ENOENT;
    if (!*there) {
        return RB_OK;
    }
    ctx->checkpoints = &store;
    rb_error err = rb_checkpoint_look(ctx, path, &info->seed, &info->restart, &info->iteration);
    ctx->checkpoints = before;
    return err;
}
