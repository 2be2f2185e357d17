/* Spectrograms: by the sums of the definition, and by tones. */
#include "../context.h"
#include "media/media.h"

#include <math.h>

enum { RATE = 8000, COUNT = 3000 };

static rb_sound tone(double frequency, double amplitude) {
    rb_sound sound = {RATE, COUNT, rb_alloc(ctx, COUNT, sizeof(float))};
    assert_non_null(sound.values);
    for (int t = 0; t < COUNT; t++)
        sound.values[t] = (float)(amplitude * sin(2 * M_PI * frequency * t / RATE));
    return sound;
}

static double mel(double frequency) {
    return 2595 * log10(1 + frequency / 700);
}

/* A band's energy in the frame that begins at `from`, term by term. */
static double energy(const rb_sound *sound, const rb_spectrogram_plan *plan, int64_t from,
                     int64_t band) {
    double sum = 0, weights = 0, step = mel(RATE / 2.0) / (double)(plan->bands + 1);
    double n = (double)plan->window;
    for (int64_t t = 0; t < plan->window; t++)
        weights += 0.5 - 0.5 * cos(2 * M_PI * ((double)t + 0.5) / n);
    for (int64_t k = 0; k <= plan->window / 2; k++) {
        double re = 0, im = 0;
        double triangle = fmax(0, 1 - fabs(mel((double)k * RATE / n) / step - (double)(band + 1)));
        for (int64_t t = 0; t < plan->window; t++) {
            double x = (0.5 - 0.5 * cos(2 * M_PI * ((double)t + 0.5) / n)) *
                       (double)sound->values[from + t];
            re += x * cos(2 * M_PI * (double)(k * t) / n);
            im -= x * sin(2 * M_PI * (double)(k * t) / n);
        }
        sum += triangle * 4 * (re * re + im * im) / (weights * weights);
    }
    return sum;
}

static void is_what_the_definition_says(void **state) {
    (void)state;
    const rb_spectrogram_plan plan = {150, 70, 9};
    rb_sound sound = tone(440, 0.3), before = tone(440, 0.3);
    for (int t = 0; t < COUNT; t++)
        before.values[t] = sound.values[t] += (float)(t * 7 % 11) / 50;
    assert_int_equal(rb_sound_spectrogram(ctx, &plan, &sound), RB_OK);
    int64_t frames = (COUNT - 150) / 70 + 1;
    assert_int_equal(sound.count, frames * plan.bands);
    for (int64_t i = 0; i < frames; i += 13) {
        for (int64_t b = 0; b < plan.bands; b++) {
            double wanted = fmax(0, 80 + 10 * log10(energy(&before, &plan, i * plan.hop, b)));
            assert_true(fabs((double)sound.values[i * plan.bands + b] - wanted) < 1e-4);
        }
    }
    rb_free(sound.values);
    rb_free(before.values);
}

/* A tone of amplitude 1 on a frequency of the window has its power of 1 there, and a quarter each
 * in the two beside it: about 80 in the band around it, 20 less at a tenth of it; silence is 0. */
static void a_tone_is_in_its_band(void **state) {
    (void)state;
    const rb_spectrogram_plan plan = {200, 80, 12};
    double levels[2];
    for (int i = 0; i < 2; i++) {
        rb_sound sound = tone(1000, i ? 0.1 : 1);
        assert_int_equal(rb_sound_spectrogram(ctx, &plan, &sound), RB_OK);
        int64_t loudest = 0;
        for (int64_t b = 1; b < plan.bands; b++)
            if (sound.values[b] > sound.values[loudest]) loudest = b;
        assert_int_equal(loudest, (int64_t)round(mel(1000) / mel(RATE / 2.0) * 13) - 1);
        levels[i] = (double)sound.values[loudest];
        rb_free(sound.values);
    }
    assert_true(levels[0] > 78 && levels[0] < 81.8); /* 10 log10 1.5 = 1.8 */
    assert_true(fabs(levels[0] - levels[1] - 20) < 0.01);
    rb_sound silence = tone(1000, 0);
    assert_int_equal(rb_sound_spectrogram(ctx, &plan, &silence), RB_OK);
    for (int64_t i = 0; i < silence.count; i++)
        assert_true(silence.values[i] == 0);
    rb_free(silence.values);
}

static void empty_bands_are_refused(void **state) {
    (void)state;
    const rb_spectrogram_plan plan = {20, 10, 30};
    rb_sound sound = tone(1000, 1);
    assert_int_equal(rb_sound_spectrogram(ctx, &plan, &sound), RB_ERROR_ARGUMENT);
    assert_int_equal(sound.count, COUNT);
    rb_free(sound.values);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_what_the_definition_says),
        cmocka_unit_test(a_tone_is_in_its_band),
        cmocka_unit_test(empty_bands_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
