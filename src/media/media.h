/* The face of src/media: samples cut out of pictures and sounds, and pictures without noise. */
#ifndef RB_MEDIA_H
#define RB_MEDIA_H

#include "io/io.h"
#include <rarebit/denoise.h>
#include <rarebit/patches.h>
#include <rarebit/segments.h>

/* The options of patches.h, segments.h and denoise.h. */
typedef struct rb_patches_options {
    const char *size;
    int64_t count;
    const char *scale;
    int64_t seed;
    const char *pictures;
    int64_t channels;
    int contrast, whiten; /* rb_contrast; 1: zca */
    double epsilon;
} rb_patches_options;

typedef struct rb_segments_options {
    const char *length, *step;
    double peak;
    bool trim_silence;
    bool spectrogram;
    const char *window, *hop;
    int64_t bands;
} rb_segments_options;

typedef struct rb_denoise_options {
    const char *size, *scale, *truth;
} rb_denoise_options;

/* ---- patches (patches_cut.c) ---- */

/* Several of them, each of which owns its values. */
typedef struct rb_images {
    rb_image *list;
    int64_t count;
} rb_images;
void rb_images_clear(rb_images *images);

typedef struct rb_patches_plan {
    int64_t size[2]; /* height x width of a patch; no image is smaller */
    int64_t count;   /* at least 1 */
    bool all;        /* every place, in order, instead of `count` at random */
    bool scaled;     /* linearly, so that the values of all patches span low .. high */
    double low, high;
    uint64_t seed;
} rb_patches_plan;

/* In how many places of all images a patch can lie. */
int64_t rb_patch_places(const rb_images *images, int64_t height, int64_t width);

/* Patches at different places, one per sample, float32: height x width x channels features, as
 * in an image. Every choice and order of the places is equally likely; more patches begin with
 * the same ones, unless they are scaled. All images have the same number of channels, and at
 * least `count` places. Takes over the images (also on failure). RB_ERROR_DATA: all values are
 * equal and cannot be scaled. */
rb_error rb_patches_cut(rb_context *ctx, const rb_patches_plan *plan, rb_images *images,
                        rb_source **source);

/* ---- whitening of patches (whiten.c) ---- */

typedef enum rb_contrast { RB_CONTRAST_NONE, RB_CONTRAST_GLOBAL, RB_CONTRAST_LOCAL } rb_contrast;

/* What is done to a patch q of height x width x channels: with local contrast (q - its mean) /
 * sqrt(its variance + constant), with global the same to each whole picture before; then
 * matrix (q - centre). */
typedef struct rb_whitening {
    int64_t height, width, channels;
    rb_contrast contrast;
    double constant;
    double *centre;    /* height x width x channels */
    double *matrix;    /* its square, row-major */
    uint32_t checksum; /* of the patches that it was made with, as it left them; 0: not known */
} rb_whitening;

/* 10 / 255^2 of the square of the range of all values: where contrast is divided by. */
double rb_contrast_constant(const rb_images *images);
/* Of each picture, in place. */
void rb_images_contrast(rb_images *images, double constant);
/* Zero centre and the identity; to be freed with rb_whitening_drop. RB_ERROR_MEMORY. */
rb_error rb_whitening_new(rb_context *ctx, int64_t height, int64_t width, int64_t channels,
                          rb_whitening **whitening);
void rb_whitening_drop(rb_whitening *whitening); /* NULL is accepted */
/* By the mean and covariance of patches whose contrast is left alone: ZCA,
 * (Cov + epsilon trace(Cov) / features I)^-1/2. Reads the patches once. */
rb_error rb_whitening_fit(rb_context *ctx, rb_source *patches, double epsilon,
                          rb_whitening *whitening);
/* The patches as they are afterwards; takes over the source (also on failure), and keeps a copy of
 * the whitening. */
rb_error rb_whitening_apply(rb_context *ctx, const rb_whitening *whitening, rb_source *patches,
                            rb_source **source);
/* The kernel with which weights' (what becomes of q) is kernel' q + what is added to the bias; of
 * local contrast as if the variance were 1 already. */
void rb_whitening_fold(const rb_whitening *whitening, const double *weights, double *kernel,
                       double *bias);

/* A recording of one channel: so many values per second, each in -1 .. 1 in most files. */
typedef struct rb_sound {
    int64_t rate, count;
    float *values; /* rb_free */
} rb_sound;

/* Several of them, each of which owns its values. */
typedef struct rb_sounds {
    rb_sound *list;
    int64_t count;
} rb_sounds;
void rb_sounds_clear(rb_sounds *sounds);

/* Cuts the silent beginning and the silent end off: whole pieces of 10 ms whose mean square is less
 * than 1e-4 of that of the loudest (40 dB below it). Nothing is left of a sound that is 0. */
void rb_sound_trim(rb_sound *sound);
/* Multiplies so that the largest absolute value becomes `peak`; false for a sound that is 0. */
bool rb_sound_scale(rb_sound *sound, double peak);

/* Frames of `window` values, `hop` apart, as decibels in so many bands of frequencies (mel). */
typedef struct rb_spectrogram_plan {
    int64_t window, hop, bands;
} rb_spectrogram_plan;
/* Replaces the values of a sound, of a window at least, by the bands of its frames, frame by frame
 * (spectrogram.c); unchanged on failure. RB_ERROR_ARGUMENT: more bands than the window has
 * frequencies for. */
rb_error rb_sound_spectrogram(rb_context *ctx, const rb_spectrogram_plan *plan, rb_sound *sound);

/* Every segment of `length` values, one per sample, float32, that begins a multiple of `step`
 * values behind the beginning of its sound; sound by sound. No sound is shorter than a segment.
 * Takes over the sounds (also on failure). */
rb_error rb_segments_cut(rb_context *ctx, int64_t length, int64_t step, rb_sounds *sounds,
                         rb_source **source);

/* What the options of patches ask for. */
rb_error rb_patches_plan_of(rb_context *ctx, const rb_patches_options *options,
                            rb_patches_plan *plan);

/* Reads a recording; several channels become their mean. On failure sound->values is NULL
 * (sndfile.c). */
rb_error rb_sound_decode(rb_context *ctx, const char *path, rb_sound *sound);

#endif
