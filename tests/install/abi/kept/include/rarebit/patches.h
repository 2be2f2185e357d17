/* Patches: small pieces of pictures as samples. */
#ifndef RAREBIT_PATCHES_H
#define RAREBIT_PATCHES_H

#include <rarebit/matrix.h>
#include <rarebit/options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The options of rb_patches, for rb_options_add:
 *   size   "10x10": height x width of a patch in pixels
 *   count  of patches
 *   scale  "0:10": what the range of values of all patches becomes; not set: as stored
 *   seed   of the random places */
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

/* Reads a picture, as rb_patches does, as a matrix of height x width, float32; the channels of a
 * coloured one become their mean. Errors: the file cannot be read or is no picture; a value is
 * missing or infinite. */
RB_API rb_error rb_picture_matrix(rb_context *context, const char *path, rb_matrix **matrix);

#ifdef __cplusplus
}
#endif
#endif
