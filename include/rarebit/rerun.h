/* Fits again what a model says, and compares: do the bits agree?
 *
 * A model records all options that its fit went by, the seed, the version of the library, its
 * kernels and the BLAS, and checksums of the data, of the model that it was started from and of
 * files of numbers that options name. The same data on the same kind of processor, with the same
 * version, give the same bits; another processor, BLAS or version may round differently.
 */
#pragma once

#include <rarebit/model.h>

/* The options that the fit of a model went by, in a handle of its method; free with
 * rb_options_free. One that names a file of numbers has its name: who reads the file hands it to
 * rb_options_set_matrix. Those of checkpoints, and max-time, are not among them: bits do not depend
 * on them. RB_ERROR_ARGUMENT: the model was made by a version that had other options, or by a
 * method that the context does not know. RB_ERROR_UNSUPPORTED: a stack or a net. */
RB_API rb_error rb_model_options(rb_context *context, const rb_model *model, rb_options **options);

/* Fits again with such options.
 *
 * options  from rb_model_options; NULL: those, unless the model has options that name files
 * source   the data of the fit: RB_ERROR_DATA where the checksum of its values is another one
 * start    the model that the fit was started from, or NULL: there is none. RB_ERROR_ARGUMENT where
 *          there is one and should not be, where it is missing or another one; likewise for the
 *          numbers of an option
 * again    the result; free with rb_model_free; NULL on failure
 *
 * A fit that was stopped, by the program or the clock, is stopped after as many iterations. Errors
 * are else those of rb_fit. */
RB_API rb_error rb_rerun(rb_context *context, const rb_model *model, const rb_options *options,
                         rb_source *source, const rb_model *start, rb_model **again);

/* What two models have of one name. */
typedef struct rb_model_difference {
    size_t size;      /* sizeof(rb_model_difference), set by the caller */
    const char *name; /* of an array, or of a column of the history; valid as long as the models */
    bool history;
    bool same; /* the same shape and the same bits */
    /* The largest absolute difference over the largest absolute value of the first model; INFINITY
     * where shapes differ, one model has none of the name, or one value of two is none. */
    double difference;
} rb_model_difference;

/* Compares the index-th of all arrays and columns of the history, the seconds apart; false past the
 * last. */
RB_API bool rb_model_compare(const rb_model *a, const rb_model *b, int64_t index,
                             rb_model_difference *difference);
