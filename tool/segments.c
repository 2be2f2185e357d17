/* rarebit segments: short pieces of sounds. */
#include "tool.h"

static int run(invocation *call) {
    rb_source *source = NULL;
    rb_error err =
        rb_segments(call->ctx, call->arguments, call->n_arguments, call->options, &source);
    int status = err ? report_failure(call->ctx, err)
                     : write_source(call, source, option_text(call, "output"));
    if (!status) {
        report("%lld segments of %lld values, from %d recording%s in %s",
               (long long)rb_source_samples(source), (long long)rb_source_features(source),
               call->n_arguments, call->n_arguments == 1 ? "" : "s",
               output_shown(option_text(call, "output")));
    }
    rb_source_free(source);
    return status;
}

const command segments_command = {
    .words = "segments",
    .summary = "cut overlapping segments from sounds",
    .description =
        "Every recording is cut into segments of one length; one segment is one sample. Values "
        "are between -1 and 1 as stored; --peak makes recordings of different loudness alike. "
        "Several channels become their mean. Silence, for --trim-silence, is what begins or ends "
        "a recording 40 dB below its loudest 10 ms.",
    .arguments = {{"WAV...", "WAV, AIFF, AU, FLAC and what else libsndfile reads", false}},
    .output = "FILE",
    .groups = {rb_segments_group, matrix_output_group, general_group},
    .examples = {{"All segments of 12.5 ms, recordings from -5 to 5",
                  "segments *.wav --length 12.5ms --step 1 --peak 5 --trim-silence -o S.npy"},
                 {"Every tenth of a second, without overlap",
                  "segments song.flac --length 0.1s --step 0.1s -o S.npy"},
                 {"Spectrograms: ten frames of 26 bands, every 50 ms",
                  "segments *.wav --spectrogram --length 115ms --step 50ms -o S.npy"}},
    .check_output = rb_writer_check,
    .run = run,
};
