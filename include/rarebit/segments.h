/* Segments: short pieces of sounds as samples. */
#pragma once

#include <rarebit/matrix.h>
#include <rarebit/options.h>

/* The options of rb_segments, for rb_options_add. Their rows say what they are. */
RB_API const rb_option_group *rb_segments_group(void);

/* Cuts every recording into overlapping segments, one per sample (float32), recording by
 * recording. A recording is WAV, AIFF, AU, FLAC or what else libsndfile reads, plain or gzip;
 * its values are in -1 .. 1 as stored, several channels become their mean, and all recordings
 * have the same sampling rate. Silence is what begins or ends a recording 40 dB below its
 * loudest 10 ms. The source keeps the recordings in memory and cuts as it is read.
 *
 * A spectrogram has bands equally wide on the mel scale up to half the sampling rate (triangles;
 * Davis and Mermelstein 1980) of frames under a Hann window, in decibels above -80, and 0 below,
 * where a sine of amplitude 1 is at 0; features are frame by frame.
 *
 * NULL options: the defaults. Errors: RB_ERROR_UNSUPPORTED where the library was built without
 * libsndfile; a file cannot be read, is no sound, has another rate or is
 * shorter than a segment; a recording that is 0 throughout is to be scaled or trimmed; lengths and
 * bands that do not go together. */
RB_API rb_error rb_segments(rb_context *context, const char *const *paths, int64_t n_paths,
                            const rb_options *options, rb_source **source);

/* The version of libsndfile; "" where the library was built without it. */
RB_API const char *rb_segments_sndfile(void);
