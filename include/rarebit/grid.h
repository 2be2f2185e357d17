/* Which settings of a training? A net for each point of a grid, chosen by validation samples. */
#pragma once

#include <rarebit/deep.h>

/* The points of a grid, and what came of each. It belongs to the caller. */
typedef struct rb_grid rb_grid;

/* Trains as rb_finetune does, once for each point, and keeps the net with the fewest errors on the
 * validation samples; of as many the one with the smaller loss, then the earlier point.
 *
 * options  from rb_finetune_options_new: what all points have. checkpoint names a file that keeps
 *          the scores of the points that are done, from which the same call goes on; max-time is
 *          refused
 * values   options and their values, "rate=0.1,0.01,0.001 masking=0,0.25": each of one with each of
 *          the others, the last one first. Options that are numbers, choices or flags
 * start    as of rb_finetune; only read
 * train, valid  likewise; valid must be there. They are read into memory once
 * grid     the result; NULL on failure
 *
 * Trainings run side by side, one per thread of the context, and each gives the bits of rb_finetune
 * with the options of its point. One whose loss becomes infinite is a point without scores.
 * RB_ERROR_ARGUMENT (values; no validation samples), RB_ERROR_NUMERIC (no point is left),
 * RB_ERROR_STOPPED (the program asked to stop: what is done is in the checkpoint), and those of
 * rb_finetune. */
RB_API rb_error rb_finetune_grid(rb_context *context, const rb_options *options, const char *values,
                                 const rb_model *start, const rb_labelled *train,
                                 const rb_labelled *valid, rb_grid **grid);
RB_API void rb_grid_free(rb_grid *grid); /* NULL is accepted */

/* What rb_finetune_grid refuses of `values` before any sample is read. */
RB_API rb_error rb_grid_check(rb_context *context, const rb_options *options, const char *values);

/* How many points there are. */
RB_API int64_t rb_grid_points(const rb_grid *grid);
/* "rate=0.1 masking=0"; NULL: there is no such point. Valid as long as the grid. */
RB_API const char *rb_grid_point(const rb_grid *grid, int64_t point);
/* epochs (all), best_epoch (whose net it is, from 1), valid_error (share of the samples; NaN of
 * outputs that are no classes), valid_loss. NaN: no such name or point, or its loss became
 * infinite. */
RB_API double rb_grid_get(const rb_grid *grid, int64_t point, const char *name);
/* The point that was chosen. */
RB_API int64_t rb_grid_best(const rb_grid *grid);
/* Its net, which belongs to the caller from now on (rb_model_free); NULL when asked again. */
RB_API rb_model *rb_grid_take(rb_grid *grid);
