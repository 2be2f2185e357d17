/* Segments of sounds: every window of a length, as overlapping as the step makes them. */
#include "media.h"

#include <math.h>
#include <string.h>

typedef struct segments {
    rb_sounds sounds;
    int64_t length, step;
    int64_t
        *first; /* sounds.count + 1: which sample a sound begins with; then how many there are */
} segments;

void rb_sounds_clear(rb_sounds *sounds) {
    for (int64_t i = 0; i < sounds->count; i++)
        rb_free(sounds->list[i].values);
    rb_free(sounds->list);
    *sounds = (rb_sounds){0};
}

/* ---- loudness ---- */

/* The mean square of a piece; the last one may be shorter. */
static double loudness(const rb_sound *sound, int64_t size, int64_t piece) {
    int64_t from = piece * size;
    int64_t to = from + size < sound->count ? from + size : sound->count;
    double squares = 0;
    for (int64_t i = from; i < to; i++)
        squares += (double)sound->values[i] * (double)sound->values[i];
    return squares / (double)(to - from);
}

void rb_sound_trim(rb_sound *sound) {
    const double silent = 1e-4;
    int64_t size = sound->rate / 100 > 0 ? sound->rate / 100 : 1;
    int64_t pieces = (sound->count + size - 1) / size, begin = 0, end = pieces;
    double loudest = 0;
    for (int64_t p = 0; p < pieces; p++)
        loudest = fmax(loudest, loudness(sound, size, p));
    if (!(loudest > 0)) {
        sound->count = 0;
        return;
    }
    while (loudness(sound, size, begin) < silent * loudest)
        begin++;
    while (loudness(sound, size, end - 1) < silent * loudest)
        end--;
    int64_t from = begin * size, to = end * size < sound->count ? end * size : sound->count;
    memmove(sound->values, sound->values + from, (size_t)(to - from) * sizeof *sound->values);
    sound->count = to - from;
}

bool rb_sound_scale(rb_sound *sound, double peak) {
    double largest = 0;
    for (int64_t i = 0; i < sound->count; i++)
        largest = fmax(largest, fabs((double)sound->values[i]));
    for (int64_t i = 0; i < sound->count && largest > 0; i++)
        sound->values[i] = (float)((double)sound->values[i] / largest * peak);
    return largest > 0;
}

/* ---- cutting ---- */

static rb_error fill(void *user, int64_t first, int64_t count, void *rows) {
    const segments *s = user;
    int64_t index = 0; /* of the sound that a sample is cut out of */
    for (int64_t i = 0; i < count; i++) {
        while (first + i >= s->first[index + 1])
            index++;
        int64_t from = (first + i - s->first[index]) * s->step;
        memcpy((float *)rows + i * s->length, s->sounds.list[index].values + from,
               (size_t)s->length * sizeof(float));
    }
    return RB_OK;
}

static void release(void *user) {
    segments *s = user;
    rb_sounds_clear(&s->sounds);
    rb_free(s->first);
    rb_free(s);
}

rb_error rb_segments_cut(rb_context *ctx, int64_t length, int64_t step, rb_sounds *sounds,
                         rb_source **source) {
    *source = NULL;
    segments *s = rb_alloc_zero(ctx, 1, sizeof *s);
    if (!s) {
        rb_sounds_clear(sounds);
        return RB_ERROR_MEMORY;
    }
    *s = (segments){.sounds = *sounds, .length = length, .step = step};
    *sounds = (rb_sounds){0};
    s->first = rb_alloc(ctx, s->sounds.count + 1, sizeof *s->first);
    if (!s->first) {
        release(s);
        return RB_ERROR_MEMORY;
    }
    s->first[0] = 0;
    for (int64_t i = 0; i < s->sounds.count; i++)
        s->first[i + 1] = s->first[i] + (s->sounds.list[i].count - length) / step + 1;
    return rb_source_own_callback(ctx, RB_FLOAT32, s->first[s->sounds.count], length, fill, s,
                                  release, source);
}
