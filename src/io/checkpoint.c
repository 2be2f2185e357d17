/* Checkpoints as HDF5 files; docs/howto/fitting.md.
 *
 *   /        which fit it is: format, method, shape of the data, restart, seed, start
 *   fit/     the model so far: its attributes (options, checksum of the data) and history
 *   state/   the arrays that an iteration takes from the one before (rb_method.keep); none before
 *            the first iteration of a restart
 *   best/    the best model of the restarts before, if any
 */
#include "hdf5_base.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

static rb_error open_file(rb_context *ctx, const char *path, rb_h5 **file) {
    return rb_h5_open(ctx, path, RB_H5_OWN, file);
}

static rb_error put_text(rb_h5 *file, const char *name, const char *text) {
    return rb_h5_set_text(file, "/", name, text);
}

static rb_error put_integer(rb_h5 *file, const char *name, int64_t value) {
    return rb_h5_set_integer(file, "/", name, value);
}

static rb_error get_text(rb_h5 *file, const char *name, char **text) {
    *text = NULL;
    return rb_h5_has_attribute(file, "/", name) ? rb_h5_get_text(file, "/", name, text) : RB_OK;
}

static rb_error get_integer(rb_h5 *file, const char *name, int64_t *value) {
    return rb_h5_get_integer(file, "/", name, value);
}

/* ---- arrays of the state ---- */

static rb_error move_array(rb_h5 *file, const rb_kept *array, bool reading) {
    char path[256];
    int64_t count = rb_kept_count(array);
    snprintf(path, sizeof path, "state/%s", array->name);
    if (array->type == RB_KEPT_INTEGER || array->type == RB_KEPT_FLAG) { /* a flag is a byte */
        hid_t type = array->type == RB_KEPT_FLAG ? H5T_NATIVE_INT8 : H5T_NATIVE_INT64;
        return reading ? rb_h5_get_numbers(file, path, count, type, array->values)
                       : rb_h5_put(file, path, 1, &count, H5T_STD_I64LE, type, array->values);
    }
    rb_dense dense = rb_kept_dense(array);
    const rb_matrix view = rb_matrix_of(dense);
    return reading ? rb_h5_get_dense(file, path, dense) : rb_h5_put_matrix(file, path, &view);
}

static rb_error put_array(rb_h5 *file, const rb_kept *array) {
    rb_error err = rb_h5_has(file, "state") ? RB_OK : rb_h5_put_group(file, "state");
    return err ? err : move_array(file, array, false);
}

static rb_error get_array(rb_h5 *file, const rb_kept *array) {
    rb_error err = move_array(file, array, true);
    signed char *flags = array->type == RB_KEPT_FLAG ? array->values : NULL;
    for (int64_t i = 0; !err && flags && i < rb_kept_count(array); i++)
        flags[i] = flags[i] != 0;
    return err;
}

/* ---- the store ---- */

static const rb_checkpoint_store store = {
    .lock = rb_lock_take,
    .unlock = rb_lock_release,
    .open = open_file,
    .create = rb_h5_begin,
    .close = rb_h5_end,
    .put_text = put_text,
    .put_integer = put_integer,
    .put_array = put_array,
    .put_model = rb_model_put,
    .get_text = get_text,
    .get_integer = get_integer,
    .get_array = get_array,
    .has_model = rb_h5_has,
    .get_model = rb_model_get,
    .journals = &rb_journals,
};

void rb_io_use(rb_context *ctx) {
    ctx->checkpoints = &store;
}

rb_error rb_checkpoint_read(rb_context *ctx, const char *path, bool *there,
                            rb_checkpoint_info *info) {
    const rb_checkpoint_store *before = ctx->checkpoints;
    rb_error err = rb_size_check(ctx, "the rb_checkpoint_info", info->size, sizeof *info);
    if (err) return err;
    *info = (rb_checkpoint_info){.size = sizeof *info};
    *there = access(path, F_OK) == 0 || errno != ENOENT;
    if (!*there) return RB_OK;
    ctx->checkpoints = &store;
    rb_checkpoint_head head;
    err = rb_checkpoint_look(ctx, path, &head);
    ctx->checkpoints = before;
    if (!err) *info = (rb_checkpoint_info){info->size, head.seed, head.restart, head.iteration};
    return err;
}
