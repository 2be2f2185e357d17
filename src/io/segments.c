/* Segments of sound files: options, reading the recordings, and what can be wrong with them. */
#include "sound.h"

#include <rarebit/segments.h>

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const rb_option table[] = {
    {"length", 0, RB_OPTION_TEXT, offsetof(rb_segments_options, length), "12.5ms", 0, 0, NULL,
     "TIME", "length of a segment: 12.5ms, 0.1s, or a number of values"},
    {"step", 0, RB_OPTION_TEXT, offsetof(rb_segments_options, step), "1", 0, 0, NULL, "TIME",
     "from the start of one segment to that of the next, likewise"},
    {"peak", 0, RB_OPTION_NUMBER, offsetof(rb_segments_options, peak), "0", 0, FLT_MAX, NULL, "X",
     "multiply each recording so that its largest absolute value is X (0: as stored)"},
    {"trim-silence", 0, RB_OPTION_FLAG, offsetof(rb_segments_options, trim_silence), "false", 0, 0,
     NULL, NULL, "cut the silent beginning and end of each recording off"},
    {0},
};

const rb_option_group *rb_segments_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Segments", table,
                                          sizeof(rb_segments_options), NULL};
    return &group;
}

/* Values of one unit of time: "ms", "s", or "", a value; 0 for anything else. */
static double unit_values(const char *unit, int64_t rate) {
    if (strcmp(unit, "ms") == 0) {
        return (double)rate / 1000;
    }
    if (strcmp(unit, "s") == 0) {
        return (double)rate;
    }
    return *unit == '\0' ? 1 : 0;
}

/* How many values "12.5ms", "0.1s" or "200" are at a sampling rate. */
static rb_error parse_time(rb_context *ctx, const char *option, const char *text, int64_t rate,
                           int64_t *count) {
    const char *given = text ? text : "";
    double number = 0;
    const char *unit = rb_number_scan(given, given + strlen(given), &number);
    double values = unit ? round(number * unit_values(unit, rate)) : 0;
    bool broken = unit && *unit == '\0' && values != number;
    if (broken || !(values >= 1) || values > INT32_MAX) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "%s is '%s', but must be a time such as 12.5ms or 0.1s, or a number of "
                       "values such as 200, and at least one value long (here %lld a second)",
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
    if (err) {
        return err;
    }
    if (sound->rate != sounds->list[0].rate) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "%s has %lld values a second, but %s has %lld: give recordings of one "
                       "sampling rate",
                       paths[index], (long long)sound->rate, paths[0],
                       (long long)sounds->list[0].rate);
    }
    if (options->trim_silence) {
        rb_sound_trim(sound);
    }
    bool silent = sound->count == 0;
    if (options->peak > 0 && !silent) {
        silent = !rb_sound_scale(sound, options->peak);
    }
    if (silent) {
        return rb_fail(ctx, RB_ERROR_DATA, "%s is silent: all its values are 0", paths[index]);
    }
    return RB_OK;
}

static rb_error read_sounds(rb_context *ctx, const char *const *paths, int64_t n_paths,
                            const rb_segments_options *options, rb_sounds *sounds) {
    sounds->list = rb_alloc_zero(ctx, n_paths, sizeof *sounds->list);
    if (!sounds->list) {
        return RB_ERROR_MEMORY;
    }
    sounds->count = n_paths;
    for (int64_t i = 0; i < n_paths; i++) {
        rb_error err = read_sound(ctx, paths, i, options, sounds);
        if (err) {
            return err;
        }
    }
    return RB_OK;
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
    rb_segments_options chosen, *options = &chosen;
    rb_sounds sounds = {0};
    int64_t length = 0, step = 0;
    *source = NULL;
    rb_error err = rb_options_take(ctx, given, rb_segments_group(), options);
    if (!err && n_paths < 1) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT, "there is no recording to cut segments out of");
    }
    if (!err) {
        err = read_sounds(ctx, paths, n_paths, options, &sounds);
    }
    if (!err) {
        err = parse_time(ctx, "length", options->length, sounds.list[0].rate, &length);
    }
    if (!err) {
        err = parse_time(ctx, "step", options->step, sounds.list[0].rate, &step);
    }
    if (!err) {
        err = check_lengths(ctx, paths, length, &sounds);
    }
    if (err) {
        rb_sounds_clear(&sounds);
        return err;
    }
    rb_log(ctx, RB_LOG_INFO, "segments of %lld values, every %lld, at %lld values a second",
           (long long)length, (long long)step, (long long)sounds.list[0].rate);
    return rb_segments_cut(ctx, length, step, &sounds, source);
}
