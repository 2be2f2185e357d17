/* Patches of images, segments of sounds, and images without their noise. */
#include "binding.h"

#include "calls.h"

#ifdef RAREBIT_MEDIA
#include <rarebit/denoise.h>
#include <rarebit/patches.h>
#include <rarebit/segments.h>
#ifdef RAREBIT_NETS
#include <rarebit/deep.h>
#endif

#include <string.h>

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

#ifdef RAREBIT_NETS
/* A rectified layer as kernels of a convolution. whitening: NULL, or a file of cut_patches. */
SEXP binding_kernels(SEXP model, SEXP filter, SEXP size, SEXP whitening, SEXP path) {
    const rb_model *of = model_of(model);
    const char *how = filter == R_NilValue ? NULL : text_of(filter), *shape = text_of(size);
    const char *from = whitening == R_NilValue ? NULL : text_of(whitening), *to = text_of(path);
    rb_layers *layers = NULL;
    rb_whitening *done = NULL;
    check(rb_layers_new(context(), of, how, &layers));
    bool one = rb_layers_count(layers) == 1 && !strcmp(rb_layers_activation(layers, 0), "rectify");
    rb_unit_weights layer = {.bias = rb_layers_bias(layers, 0)};
    layer.weights = rb_layers_weights(layers, 0, &layer.units, NULL);
    rb_error err = from ? rb_whitening_read(context(), from, &done) : RB_OK;
    if (!err && one) err = rb_kernels_write(context(), of, &layer, shape, done, to);
    rb_whitening_free(done);
    rb_layers_free(layers);
    check(err);
    if (!one) refuse("kernels are made of a model of one rectified layer");
    return R_NilValue;
}
#endif
#else
const bool has_media = false;
#endif
