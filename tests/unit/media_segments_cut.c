/* Segments: each is a piece of its sound, every place that the step allows comes once; what silence
 * is; scaling. */
#include "../context.h"
#include "media/media.h"

#include <math.h>
#include <string.h>

enum { SOUND = 1000 };

static rb_sound make_sound(int64_t rate, int64_t count) {
    rb_sound sound = {rate, count, rb_alloc_zero(ctx, count, sizeof(float))};
    assert_non_null(sound.values);
    return sound;
}

/* Value t of sound i is 1000 i + t. */
static rb_sounds make_sounds(const int64_t *counts, int64_t n) {
    rb_sounds sounds = {rb_alloc_zero(ctx, n, sizeof *sounds.list), n};
    assert_non_null(sounds.list);
    for (int64_t i = 0; i < n; i++) {
        sounds.list[i] = make_sound(8000, counts[i]);
        for (int64_t t = 0; t < counts[i]; t++)
            sounds.list[i].values[t] = (float)(i * SOUND + t);
    }
    return sounds;
}

static const int64_t counts[4] = {9, 4, 5, 12};

/* In order, for steps that overlap, that touch and that leave gaps; blocks of any size give the
 * same samples. */
static void segments_are_pieces(void **state) {
    (void)state;
    for (int64_t step = 1; step <= 6; step++) {
        for (int64_t block = 1; block <= 30; block += 7) {
            rb_sounds sounds = make_sounds(counts, 4);
            rb_source *source;
            assert_int_equal(rb_segments_cut(ctx, 4, step, &sounds, &source), RB_OK);
            assert_null(sounds.list);
            assert_int_equal(source->n_features, 4);
            int64_t sample = 0, n = source->n_samples;
            rb_matrix view = {0};
            for (int64_t i = 0; i < 4; i++) {
                for (int64_t from = 0; from + 4 <= counts[i]; from += step, sample++) {
                    if (sample % block == 0) {
                        int64_t rows = n - sample < block ? n - sample : block;
                        assert_int_equal(source->read(source, ctx, sample, rows, &view), RB_OK);
                    }
                    const float *row = (const float *)view.values + sample % block * 4;
                    for (int64_t d = 0; d < 4; d++)
                        assert_true(row[d] == (float)(i * SOUND + from + d));
                }
            }
            assert_int_equal(sample, n);
            rb_source_free(source);
        }
    }
}

/* At 1000 values per second a piece has 10: pieces before the first and behind the last that is not
 * 40 dB below the loudest go, those between stay, however silent. */
static void silence_is_trimmed(void **state) {
    (void)state;
    rb_sound sound = make_sound(1000, 75);
    for (int64_t t = 0; t < 75; t++)
        sound.values[t] = 0.0099F; /* 40.1 dB below 1 */
    for (int64_t t = 20; t < 30; t++)
        sound.values[t] = t % 2 ? 1 : -1;
    sound.values[55] = 0.033F; /* a mean square of 1.9e-4 in its piece */
    sound.values[56] = 0;
    rb_sound_trim(&sound);
    assert_int_equal(sound.count, 40);
    assert_true(sound.values[0] == -1 && sound.values[9] == 1);
    assert_true(sound.values[20] == 0.0099F && sound.values[35] == 0.033F);
    rb_free(sound.values);
}

/* The last piece may be short, the whole sound may be shorter than one. */
static void short_sounds_are_trimmed(void **state) {
    (void)state;
    for (int64_t count = 1; count < 25; count++) {
        rb_sound sound = make_sound(1000, count);
        rb_sound_trim(&sound);
        assert_int_equal(sound.count, 0);
        sound.count = count;
        sound.values[count - 1] = -0.5F;
        rb_sound_trim(&sound);
        assert_int_equal(sound.count, (count - 1) % 10 + 1);
        assert_true(sound.values[sound.count - 1] == -0.5F);
        rb_free(sound.values);
    }
    rb_sound slow = make_sound(50, 3); /* fewer than a value in 10 ms */
    slow.values[1] = 1;
    rb_sound_trim(&slow);
    assert_int_equal(slow.count, 1);
    rb_free(slow.values);
}

static void scaling(void **state) {
    (void)state;
    rb_sound sound = make_sound(8000, 3);
    assert_false(rb_sound_scale(&sound, 5));
    sound.values[0] = 0.1F;
    sound.values[2] = -0.3F;
    assert_true(rb_sound_scale(&sound, 5));
    assert_true(sound.values[2] == -5 && sound.values[1] == 0);
    assert_true(fabsf(sound.values[0] - 5.0F / 3) < 1e-6F);
    rb_free(sound.values);
}

static void no_memory(void **state) {
    (void)state;
    rb_error err = RB_ERROR_MEMORY;
    int64_t n;
    for (n = 0; err; n++) {
        rb_sounds sounds = make_sounds(counts, 4);
        rb_source *source;
        ctx->allocations_left = n;
        err = rb_segments_cut(ctx, 4, 1, &sounds, &source);
        ctx->allocations_left = -1;
        assert_true(err ? err == RB_ERROR_MEMORY && !source : source != NULL);
        assert_null(sounds.list);
        rb_source_free(source);
    }
    assert_true(n > 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_are_pieces),
        cmocka_unit_test(silence_is_trimmed),
        cmocka_unit_test(short_sounds_are_trimmed),
        cmocka_unit_test(scaling),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
