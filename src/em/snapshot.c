/* A copy of all that an iteration takes from the one before: a fit that is stopped in the middle of
 * an iteration, when parameters and codes belong to different ones, goes back to it. */
#include "em.h"

#include <string.h>

struct walk {
    char *bytes; /* of the snapshot; NULL: they are only counted */
    int64_t count;
    bool saves; /* else restores */
    bool away;  /* a device has the codes */
};

static rb_error each_array(void *user, const rb_kept *array) {
    struct walk *walk = user;
    if (walk->away && array->role == RB_KEPT_CODES) return RB_OK;
    size_t bytes = (size_t)rb_kept_count(array) * rb_kept_size(array->type);
    if (walk->bytes) {
        char *here = walk->bytes + walk->count;
        memcpy(walk->saves ? here : array->values, walk->saves ? array->values : here, bytes);
    }
    walk->count += (int64_t)bytes;
    return RB_OK;
}

/* What acceleration and stopping rules remember is of use to a checkpoint only. */
static int64_t walk_arrays(rb_run *run, bool saves) {
    struct walk walk = {
        .bytes = run->snapshot.bytes, .saves = saves, .away = run->problem.device != NULL};
    if (run->checkpoint.path)
        (void)rb_run_keep(run, false, each_array, &walk);
    else
        (void)rb_parts_keep(run->method, &run->shape, run->state, each_array, &walk);
    return walk.count;
}

rb_error rb_snapshot_new(rb_context *ctx, rb_run *run) {
    run->snapshot = (rb_snapshot){0};
    if (!run->method->parts) return RB_OK;
    run->snapshot.bytes = rb_alloc(ctx, walk_arrays(run, true), 1);
    return run->snapshot.bytes ? RB_OK : RB_ERROR_MEMORY;
}

void rb_snapshot_free(rb_run *run) {
    rb_free(run->snapshot.bytes);
    run->snapshot = (rb_snapshot){0};
}

void rb_snapshot_take(rb_run *run) {
    if (run->snapshot.bytes) {
        walk_arrays(run, true);
        run->snapshot.taken =
            !rb_method_device(run->sums.ctx, &run->problem, run->state, RB_DEVICE_SAVE);
    }
}

bool rb_snapshot_go_back(rb_run *run) {
    if (run->snapshot.taken) walk_arrays(run, false);
    return run->snapshot.taken &&
           !rb_method_device(run->sums.ctx, &run->problem, run->state, RB_DEVICE_RESTORE);
}
