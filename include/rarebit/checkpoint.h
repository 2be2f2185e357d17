/* Checkpoints of fits, and journals of calls that make many fits. */
#pragma once

#include <rarebit/context.h>

/* Lets the fits of this context keep checkpoints (rarebit/fit.h). */
RB_API void rb_io_use(rb_context *context);

/* What a checkpoint says of the fit that it belongs to. */
typedef struct rb_checkpoint_info {
    size_t size; /* sizeof(rb_checkpoint_info), set by the caller; new fields come at the end */
    int64_t seed;
    int64_t restart;   /* from 0 */
    int64_t iteration; /* done in that restart */
} rb_checkpoint_info;

/* Looks into a checkpoint. *there is false, and nothing wrong, when there is no such file.
 * RB_ERROR_ARGUMENT (the size of info is not set), RB_ERROR_FILE, RB_ERROR_FORMAT (it is something
 * else, or damaged). */
RB_API rb_error rb_checkpoint_read(rb_context *context, const char *path, bool *there,
                                   rb_checkpoint_info *info);

/* Puts the results of several files, which calls with part made (rarebit/select.h), into one, from
 * which the call without part goes on; count: of all there are to be, found: of those in it. A
 * result that is in several is taken once; damaged ones are left out, with a warning.
 * RB_ERROR_FILE, RB_ERROR_FORMAT (one is no such file), RB_ERROR_ARGUMENT (one is of another
 * call). */
RB_API rb_error rb_journal_merge(rb_context *context, const char *const *paths, int n_paths,
                                 const char *path, int64_t *found, int64_t *count);
