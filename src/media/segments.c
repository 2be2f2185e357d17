/* Segments of sound files: options, and what can be wrong with the recordings. */
#include "media.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const rb_option table[] = {
    {"length", 0, RB_OPTION_TEXT, offsetof(rb_segments_options, length), "12.5ms", 0, 0, NULL,
     "TIME", "length of a segment: 12.5ms, 0.1s, or a number of values"},
    {"step", 0, RB_OPTION_TEXT, offsetof(rb_segments_options, step), "1", 0, 0, NULL, "TIME",
     "time from the start of one segment to the next, likewise"},
    {"peak", 0, RB_OPTION_NUMBER, offsetof(rb_segments_options, peak), "0", 0, FLT_MAX, NULL, "X",
     "multiply each recording so that its largest absolute value is X (0: as stored)"},
    {"trim-silence", 0, RB_OPTION_FLAG, offsetof(rb_segments_options, trim_silence), "false", 0, 0,
     NULL, NULL, "cut off silence at the beginning and end of each recording"},
    {"spectrogram", 0, RB_OPTION_FLAG, offsetof(rb_segments_options, spectrogram), "false", 0, 0,
     NULL, NULL,
     "give decibels per frequency band, above -80, in place of values; --length then defaults to "
     "one window and --step to one hop"},
    {"window", 0, RB_OPTION_TEXT, offsetof(rb_segments_options, window), "25ms", 0, 0, NULL, "TIME",
     "length of a frame of a spectrogram", .needs = "spectrogram"},
    {"hop", 0, RB_OPTION_TEXT, offsetof(rb_segments_options, hop), "10ms", 0, 0, NULL, "TIME",
     "time from the start of one frame to the next", .needs = "spectrogram"},
    {"bands", 0, RB_OPTION_INTEGER, offsetof(rb_segments_options, bands), "26", 1, 4096, NULL, "N",
     "number of frequency bands, equally wide on the mel scale", .needs = "spectrogram"},
    {0},
};

const rb_option_group *rb_segments_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Segments", table,
                                          sizeof(rb_segments_options), NULL};
    return &group;
}

/* ---- segments ---- */

/* How many values "12.5ms", "0.1s" or "200" are at a sampling rate. */
static rb_error parse_time(rb_context *ctx, const char *option, const char *text, int64_t rate,
                           int64_t *count) {
    const char *given = text ? text : "";
    double number = 0;
    const char *unit = rb_number_scan(given, given + strlen(given), &number);
    double a_unit = !unit                     ? 0
                    : strcmp(unit, "ms") == 0 ? (double)rate / 1000
                    : strcmp(unit, "s") == 0  ? (double)rate
                                              : *unit == '\0';
    double values = round(number * a_unit);
    bool broken = unit && *unit == '\0' && values != number;
    if (broken || !(values >= 1) || values > INT32_MAX) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`%s` is '%s', but must be a time such as 12.5ms or 0.1s, or a number of "
                       "values such as 200, of at least one value (%lld per second)",
                       option, given, (long long)rate);
    }
    *count = (int64_t)values;
    return RB_OK;
}

/* Reads a recording, makes it ready, and checks that it goes with the first one. */
static rb_error read_sound(rb_context *ctx, const char *const *paths, int64_t index,
                           const rb_segments_options *options, rb_sounds *sounds) {
    rb_sound *sound = &sounds->list[index];
    rb_error err = rb_sound_decode(ctx, paths[index], sound);
    if (err) return err;
    if (sound->rate != sounds->list[0].rate) {
        return rb_fail(
            ctx, RB_ERROR_DATA,
            "%s has %lld values per second, but %s has %lld; use recordings of one sampling rate",
            paths[index], (long long)sound->rate, paths[0], (long long)sounds->list[0].rate);
    }
    if (options->trim_silence) rb_sound_trim(sound);
    if (sound->count == 0 || (options->peak > 0 && !rb_sound_scale(sound, options->peak)))
        return rb_fail(ctx, RB_ERROR_DATA, "%s is silent: all its values are 0", paths[index]);
    return RB_OK;
}

static rb_error read_sounds(rb_context *ctx, const char *const *paths, int64_t n_paths,
                            const rb_segments_options *options, rb_sounds *sounds) {
    sounds->list = rb_alloc_zero(ctx, n_paths, sizeof *sounds->list);
    sounds->count = sounds->list ? n_paths : 0;
    rb_error err = sounds->list ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < n_paths; i++)
        err = read_sound(ctx, paths, i, options, sounds);
    return err;
}

/* The lengths of a segment and a step in values. */
typedef struct cutting {
    int64_t rate, length, step;
    rb_spectrogram_plan plan; /* of hop 0: none */
} cutting;

/* The sounds become spectrograms, and lengths those of their frames. */
static rb_error take_spectrograms(rb_context *ctx, rb_sounds *sounds, cutting *c) {
    const rb_spectrogram_plan *plan = &c->plan;
    if (c->length < plan->window) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`length` is %lld values, but must be at least one window, %lld",
                       (long long)c->length, (long long)plan->window);
    }
    if (c->step % plan->hop != 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`step` is %lld values, but must be a multiple of the hop, %lld",
                       (long long)c->step, (long long)plan->hop);
    }
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < sounds->count; i++)
        err = rb_sound_spectrogram(ctx, plan, &sounds->list[i]);
    int64_t frames = (c->length - plan->window) / plan->hop + 1;
    c->length = frames * plan->bands;
    c->step = c->step / plan->hop * plan->bands;
    if (!err) {
        rb_log(ctx, RB_LOG_INFO,
               "spectrograms of %lld x %lld, frames x bands, of %lld values per second",
               (long long)frames, (long long)plan->bands, (long long)c->rate);
    }
    return err;
}

static rb_error parse_cutting(rb_context *ctx, const rb_options *given,
                              const rb_segments_options *options, cutting *c) {
    bool length = !options->spectrogram || rb_options_is_set(given, "length");
    bool step = !options->spectrogram || rb_options_is_set(given, "step");
    rb_error err = RB_OK;
    if (options->spectrogram) {
        c->plan.bands = options->bands;
        err = parse_time(ctx, "window", options->window, c->rate, &c->plan.window);
        err = err ? err : parse_time(ctx, "hop", options->hop, c->rate, &c->plan.hop);
        c->length = c->plan.window;
        c->step = c->plan.hop;
    }
    if (!err && length) err = parse_time(ctx, "length", options->length, c->rate, &c->length);
    return err || !step ? err : parse_time(ctx, "step", options->step, c->rate, &c->step);
}

static rb_error check_lengths(rb_context *ctx, const char *const *paths, int64_t length,
                              const rb_sounds *sounds) {
    for (int64_t i = 0; i < sounds->count; i++) {
        if (sounds->list[i].count < length) {
            return rb_fail(ctx, RB_ERROR_ARGUMENT,
                           "%s: a segment of %lld values does not fit into a recording of %lld",
                           paths[i], (long long)length, (long long)sounds->list[i].count);
        }
    }
    return RB_OK;
}

rb_error rb_segments(rb_context *ctx, const char *const *paths, int64_t n_paths,
                     const rb_options *given, rb_source **source) {
    rb_segments_options options;
    rb_sounds sounds = {0};
    cutting c = {0};
    *source = NULL;
    rb_error err = rb_options_take(ctx, given, rb_segments_group(), &options);
    if (!err && n_paths < 1)
        err =
            rb_fail(ctx, RB_ERROR_ARGUMENT, "no recording to cut segments from; name one or more");
    err = err ? err : read_sounds(ctx, paths, n_paths, &options, &sounds);
    c.rate = err ? 0 : sounds.list[0].rate;
    err = err ? err : parse_cutting(ctx, given, &options, &c);
    err = err ? err : check_lengths(ctx, paths, c.length, &sounds);
    bool spectrogram = c.plan.hop > 0;
    if (!err && !spectrogram) {
        rb_log(ctx, RB_LOG_INFO, "segments of %lld values, every %lld, at %lld values per second",
               (long long)c.length, (long long)c.step, (long long)c.rate);
    }
    if (!err && spectrogram) err = take_spectrograms(ctx, &sounds, &c);
    if (err) {
        rb_sounds_clear(&sounds);
        return err;
    }
    return rb_segments_cut(ctx, c.length, c.step, &sounds, source);
}
