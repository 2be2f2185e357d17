/* Patches: small pieces of pictures as samples. */
#pragma once

#include <rarebit/model.h>
#include <rarebit/options.h>

/* The options of rb_patches, for rb_options_add. Their rows say what they are. */
RB_API const rb_option_group *rb_patches_group(void);

/* Cuts patches out of pictures at random places, no place twice: count samples of height x width x
 * channels features (float32; rows first, channels together), from all pictures together, a larger
 * one giving more. A picture is PNG, PGM, PPM, or .npy of height x width or height x width x
 * channels (at most 4); all have the same number of channels. The source keeps the pictures in
 * memory and cuts as it is read. NULL options: the defaults. The same options give the same
 * patches; more of them begin with the same places. Errors: a file cannot be read, is no picture or
 * smaller than a patch; a value is missing or infinite; there are fewer places than patches. */
RB_API rb_error rb_patches(rb_context *context, const char *const *paths, int64_t n_paths,
                           const rb_options *options, rb_source **source);

/* What was done to patches after they were cut: contrast, a mean that was subtracted, and a matrix.
 */
typedef struct rb_whitening rb_whitening;

/* The same, and what contrast and whiten did: *whitening is there without them as well, and then
 * does nothing. Besides: RB_ERROR_DATA (all patches are the same, and cannot be whitened),
 * RB_ERROR_ARGUMENT (scale with contrast or whiten; samples of another size than pictures). */
RB_API rb_error rb_patches_whitened(rb_context *context, const char *const *paths, int64_t n_paths,
                                    const rb_options *options, rb_source **source,
                                    rb_whitening **whitening);
RB_API void rb_whitening_free(rb_whitening *whitening); /* NULL is accepted */

/* As .npz: `matrix` (features x features) and `centre`, with which a patch q becomes
 * matrix (q - centre), after its contrast was changed; `shape` (height, width, channels), and
 * `contrast` (0 none, 1 of pictures, 2 of patches) with the `constant` added to their variance. The
 * file appears whole or not at all. */
RB_API rb_error rb_whitening_write(rb_context *context, const rb_whitening *whitening,
                                   const char *path);
/* Reads such a file, which may come from anybody. RB_ERROR_FORMAT, RB_ERROR_FILE. */
RB_API rb_error rb_whitening_read(rb_context *context, const char *path, rb_whitening **whitening);

/* A rectified layer on preprocessed samples of a model: units x its features in use, and biases. */
typedef struct rb_unit_weights {
    int64_t units;
    const double *weights, *bias;
} rb_unit_weights;

/* The layer of a model of patches as a convolution, to .npz: `kernels` (units x channels x height x
 * width) and `bias`. A picture, of which contrast global has been taken, is convolved with them (as
 * torch.nn.functional.conv2d does, without turning the kernel round), and gives for each patch what
 * the layer gives before it is rectified: what the model subtracts and divides by is folded in, and
 * the whitening (NULL: none). Of contrast local the mean of a patch is, its standard deviation
 * cannot be, which a warning says. The file appears whole or not at all. RB_ERROR_ARGUMENT (the
 * size is not that of the patches, whitened patches of another size), RB_ERROR_UNSUPPORTED (totals,
 * log1p, effects of covariates), RB_ERROR_FILE. */
RB_API rb_error rb_kernels_write(rb_context *context, const rb_model *model,
                                 const rb_unit_weights *layer, const char *size,
                                 const rb_whitening *whitening, const char *path);
