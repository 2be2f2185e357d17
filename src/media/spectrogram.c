/* Spectrograms of sounds: how loud each band of frequencies is, frame by frame.
 *
 * A frame is a window of W values times Hann's weights w; its power at frequency f_k = k rate / W
 *     P_k = |2 / sum w  sum_t w_t x_t exp(-2 pi i k t / W)|^2,   k = 0 .. W / 2,
 * so that a sine of amplitude 1 has power 1. A band sums it, with weights of a triangle from the
 * middle of the band before to that of the band after; the middles are equally far from each other
 * in mel = 2595 log10(1 + f / 700) (S. Davis, P. Mermelstein, IEEE Trans. ASSP 28, 1980), from 0 to
 * rate / 2. Its value is how many decibels that is above -80, and 0 below.
 *
 * The transform is a product with a matrix of cosines and sines, which the BLAS makes: a window has
 * some hundred values, and no library for it is needed.
 */
#include "media.h"

#include <math.h>
#include <string.h>

enum { FRAMES = 512, FLOOR = 80 };

typedef struct spectra {
    int64_t frequencies;
    rb_dense waves;           /* window x 2 frequencies: cosines, then sines */
    rb_dense bands;           /* frequencies x bands */
    rb_dense frames;          /* FRAMES x window */
    rb_dense products, power; /* FRAMES x 2 frequencies, x frequencies */
    rb_dense energy;          /* FRAMES x bands */
} spectra;

static double mel(double frequency) {
    return 2595 * log10(1 + frequency / 700);
}

static void fill_waves(int64_t window, spectra *s) {
    const double turn = 2 * M_PI;
    double sum = 0;
    for (int64_t t = 0; t < window; t++)
        sum += 1 - cos(turn * ((double)t + 0.5) / (double)window);
    for (int64_t t = 0; t < window; t++) {
        double weight = 2 * (1 - cos(turn * ((double)t + 0.5) / (double)window)) / sum;
        for (int64_t k = 0; k < s->frequencies; k++) {
            double angle = turn * (double)(t * k % window) / (double)window;
            rb_dense_set(s->waves, t, k, weight * cos(angle));
            rb_dense_set(s->waves, t, s->frequencies + k, weight * sin(angle));
        }
    }
}

/* false: there is a band without a frequency. */
static bool fill_bands(const rb_spectrogram_plan *plan, int64_t rate, spectra *s) {
    double step = mel((double)rate / 2) / (double)(plan->bands + 1);
    for (int64_t b = 0; b < plan->bands; b++) {
        double sum = 0;
        for (int64_t k = 0; k < s->frequencies; k++) {
            double at = mel((double)k * (double)rate / (double)plan->window) / step;
            double weight = fmax(0, 1 - fabs(at - (double)(b + 1)));
            rb_dense_set(s->bands, k, b, weight);
            sum += weight;
        }
        if (!(sum > 0)) return false;
    }
    return true;
}

static rb_error prepare(rb_context *ctx, const rb_spectrogram_plan *plan, int64_t rate,
                        rb_scratch *scratch, spectra *s) {
    int64_t window = plan->window, count = s->frequencies = window / 2 + 1;
    rb_dense_take(scratch, RB_FLOAT64, window, 2 * count, &s->waves);
    rb_dense_take(scratch, RB_FLOAT64, count, plan->bands, &s->bands);
    rb_dense_take(scratch, RB_FLOAT64, FRAMES, window, &s->frames);
    rb_dense_take(scratch, RB_FLOAT64, FRAMES, 2 * count, &s->products);
    rb_dense_take(scratch, RB_FLOAT64, FRAMES, count, &s->power);
    rb_dense_take(scratch, RB_FLOAT64, FRAMES, plan->bands, &s->energy);
    if (scratch->err) return scratch->err;
    fill_waves(window, s);
    if (fill_bands(plan, rate, s)) return RB_OK;
    return rb_fail(
        ctx, RB_ERROR_ARGUMENT,
        "`bands` is %lld, but a band would have none of the %lld frequencies of a window "
        "of %lld values; give fewer bands, or a longer window",
        (long long)plan->bands, (long long)count, (long long)window);
}

/* Frames first .. first + count - 1 of a sound to the energy of their bands. */
static void transform(const rb_spectrogram_plan *plan, const rb_sound *sound, int64_t first,
                      int64_t count, const spectra *s) {
    rb_dense frames = rb_dense_rows(s->frames, 0, count), power = rb_dense_rows(s->power, 0, count);
    rb_dense products = rb_dense_rows(s->products, 0, count);
    for (int64_t i = 0; i < count; i++)
        for (int64_t t = 0; t < plan->window; t++)
            rb_dense_set(frames, i, t, (double)sound->values[(first + i) * plan->hop + t]);
    rb_gemm(1, frames, RB_PLAIN, s->waves, RB_PLAIN, 0, products);
    for (int64_t i = 0; i < count; i++) {
        const double *p = rb_dense_row(products, i);
        for (int64_t k = 0; k < s->frequencies; k++) {
            double imaginary = p[s->frequencies + k];
            rb_dense_set(power, i, k, p[k] * p[k] + imaginary * imaginary);
        }
    }
    rb_gemm(1, power, RB_PLAIN, s->bands, RB_PLAIN, 0, rb_dense_rows(s->energy, 0, count));
}

rb_error rb_sound_spectrogram(rb_context *ctx, const rb_spectrogram_plan *plan, rb_sound *sound) {
    int64_t frames = (sound->count - plan->window) / plan->hop + 1;
    rb_scratch scratch = {.ctx = ctx};
    spectra s = {0};
    float *values = rb_alloc(ctx, frames * plan->bands, sizeof *values);
    rb_error err = values ? prepare(ctx, plan, sound->rate, &scratch, &s) : RB_ERROR_MEMORY;
    for (int64_t first = 0; !err && first < frames; first += FRAMES) {
        int64_t count = frames - first < FRAMES ? frames - first : FRAMES;
        transform(plan, sound, first, count, &s);
        for (int64_t i = 0; i < count; i++)
            for (int64_t b = 0; b < plan->bands; b++)
                values[(first + i) * plan->bands + b] =
                    (float)fmax(0, FLOOR + 10 * log10(rb_dense_get(s.energy, i, b)));
        err = rb_check_stop(ctx);
    }
    rb_scratch_end(&scratch);
    if (err) {
        rb_free(values);
        return err;
    }
    rb_free(sound->values);
    *sound = (rb_sound){.rate = sound->rate, .count = frames * plan->bands, .values = values};
    return RB_OK;
}
