/* A look at the data as a model sees them: chosen samples and features, standardised. */
#pragma once

#include <rarebit/modules.h>

typedef struct rb_view {
    size_t size;             /* sizeof(rb_view), set by the caller */
    const int64_t *samples;  /* n_samples rows of the source, ascending */
    const int64_t *features; /* n_features, of those in use, in any order */
    int64_t n_samples, n_features;
    float *values; /* the caller's, n_features x n_samples */
} rb_view;

/* Fills the values: preprocessed as the model does it, and each feature then at mean 0 and standard
 * deviation 1 (1/n) over all samples of the source, not only those of the view; a constant feature
 * is 0, a value that is missing and left out NaN. Reads the source once, block by block. Errors are
 * those of rb_encode, and RB_ERROR_ARGUMENT: the view is of another size, its samples do not
 * ascend, or there is no such sample or feature. */
RB_API rb_error rb_view_fill(rb_context *context, const rb_model *model, rb_source *source,
                             rb_view *view);

/* ---- heat maps of modules ---- */

/* At most so many of each kind. */
typedef struct rb_map_size {
    int64_t members, others, features;
} rb_map_size;

/* What the heat map of a module shows: its heaviest samples, then others, spread over the data; and
 * its heaviest features, positive weights first. */
typedef struct rb_module_map {
    int64_t n_members, n_samples, n_features; /* members are the first of the samples */
    int64_t *samples, *features;
    float *values; /* n_features x n_samples, as of rb_view_fill */
} rb_module_map;

/* A map for each module, by one walk over the source; freed with rb_module_maps_free. Errors are
 * those of rb_view_fill, and RB_ERROR_DATA: a module holds a sample that is not there. */
RB_API rb_error rb_module_maps(rb_context *context, const rb_model *model, rb_source *source,
                               const rb_modules *modules, const rb_map_size *most,
                               rb_module_map **maps);
RB_API void rb_module_maps_free(rb_module_map *maps, int64_t count); /* NULL is accepted */
