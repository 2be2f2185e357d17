/* Pictures without their noise: every patch rebuilt by a model, overlapping ones averaged. */
#pragma once

#include <rarebit/model.h>

/* The options of denoising, for rb_options_add. Their rows say what they are. */
RB_API const rb_option_group *rb_denoise_group(void);

typedef struct rb_denoising {
    size_t size; /* sizeof(rb_denoising), set by the caller */
    int64_t height, width, channels, patches;
    /* Peak signal-to-noise ratio in dB, 10 log10(peak^2 / mean squared error), of the picture and
     * of the result against the truth; peak is the largest value of the truth's file, or the range
     * of an array. NaN without a truth. */
    double psnr_before, psnr_after;
} rb_denoising;

/* Rebuilds (rb_reconstruct) the patch at every place of a picture, takes for each pixel the mean
 * of all patches over it, and writes the result to `output`, a .png, .pgm, .ppm (values
 * rounded and kept between 0 and the largest that the picture's file can hold) or .npy. The picture
 * is PNG, PGM, PPM, or .npy of height x width (x channels). result may be NULL. Errors: what
 * rb_patches and rb_reconstruct may give; RB_ERROR_ARGUMENT for a result of another size, an output
 * that cannot hold the picture, and when height x width x channels of a patch are not the features
 * of the model; RB_ERROR_DATA when the truth has another shape; RB_ERROR_FILE. */
RB_API rb_error rb_denoise(rb_context *context, const rb_model *model, const char *picture,
                           const rb_options *options, const char *output, rb_denoising *result);
