/* Patches of images, segments of sounds, and images without their noise. */
#include "binding.h"

#include "calls.h"

#ifdef RAREBIT_MEDIA
#include <rarebit/denoise.h>
#include <rarebit/patches.h>
#include <rarebit/segments.h>

const bool has_media = true;

/* whitening: NULL, or a file for what contrast and whiten did. */
SEXP binding_patches(SEXP files, SEXP options, SEXP whitening) {
    SEXP pointer = PROTECT(object_new(IS_DATA, options));
    const char **paths = texts_of(files);
    const char *to = whitening == R_NilValue ? NULL : text_of(whitening);
    const rb_options *wanted = options_of(options)->options;
    rb_whitening *done = NULL;
    call_frame frame;
    call_begin(&frame, rb_context_threads(context()), R_NilValue);
    rb_error err = rb_patches_whitened(context(), paths, XLENGTH(files), wanted,
                                       &data_of(pointer)->source, &done);
    if (!err && to) err = rb_whitening_write(context(), done, to);
    rb_whitening_free(done);
    call_end(&frame);
    check(err);
    UNPROTECT(1);
    return pointer;
}

SEXP binding_segments(SEXP files, SEXP options) {
    SEXP pointer = PROTECT(object_new(IS_DATA, options));
    const char **paths = texts_of(files);
    const rb_options *wanted = options_of(options)->options;
    check(rb_segments(context(), paths, XLENGTH(files), wanted, &data_of(pointer)->source));
    UNPROTECT(1);
    return pointer;
}

SEXP binding_denoise(SEXP model, SEXP image, SEXP options, SEXP output, SEXP threads) {
    const rb_model *of = model_of(model);
    const rb_options *wanted = options_of(options)->options;
    const char *from = text_of(image), *to = text_of(output);
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_denoise(context(), of, from, wanted, to, NULL);
    call_end(&frame);
    check(err);
    return R_NilValue;
}
#else
const bool has_media = false;
#endif
