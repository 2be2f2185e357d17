/* A. Hyvarinen, E. Oja, "Independent component analysis: algorithms and applications", Neural
 * Networks 13, 2000, sections 4.2.3 and 6.1; cube is kurtosis, section 4.2.1:
 *
 *   logcosh  G = log cosh y        g = tanh y           g' = 1 - tanh^2 y
 *   exp      G = -exp(-y^2 / 2)    g = y exp(-y^2 / 2)  g' = (1 - y^2) exp(-y^2 / 2)
 *   cube     G = y^4 / 4           g = y^3              g' = 3 y^2
 *
 * In float32 exponentials are polynomials, the same on every processor, so that compilers can make
 * vectors of them.
 */
#include "contrast.h"

#include <math.h>
#include <string.h>

/* exp(x) for x <= 0, to 2e-7 of itself; below -80 as at -80. */
static inline float exp_below(float x) {
    const float log2e = 1.44269504f, high = 0.693359375f, low = -2.12194440e-4f;
    x = x > -80 ? x : -80;
    int n = (int)(x * log2e - 0.5f);
    float whole = (float)n, r = x - whole * high - whole * low, power;
    float sum =
        1 + r * (1 + r * (1.f / 2 + r * (1.f / 6 + r * (1.f / 24 + r * (1.f / 120 + r / 720)))));
    int bits = (n + 127) * (1 << 23);
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

/* log(1 + t) for t in 0 .. 1: 2 atanh(t / (2 + t)). */
static inline float log_above(float t) {
    float s = t / (2 + t), q = s * s;
    return 2 * s *
           (1 + q * (1.f / 3 +
                     q * (1.f / 5 + q * (1.f / 7 + q * (1.f / 9 + q * (1.f / 11 + q / 13))))));
}

static void logcosh_row(int64_t n, float *restrict y, float *restrict slopes,
                        float *restrict values) {
    const float log2 = 0.69314718f;
    for (int64_t j = 0; j < n; j++) {
        float size = fabsf(y[j]), t = exp_below(-2 * size), tanh = (1 - t) / (1 + t);
        values[j] += size + log_above(t) - log2;
        slopes[j] += 1 - tanh * tanh;
        y[j] = copysignf(tanh, y[j]);
    }
}

static void exp_row(int64_t n, float *restrict y, float *restrict slopes, float *restrict values) {
    for (int64_t j = 0; j < n; j++) {
        float square = y[j] * y[j], e = exp_below(-square / 2);
        values[j] -= e;
        slopes[j] += (1 - square) * e;
        y[j] *= e;
    }
}

static void cube_row(int64_t n, float *restrict y, float *restrict slopes, float *restrict values) {
    for (int64_t j = 0; j < n; j++) {
        float square = y[j] * y[j];
        values[j] += square * square / 4;
        slopes[j] += 3 * square;
        y[j] *= square;
    }
}

static void wide_row(ica_contrast contrast, int64_t n, double *y, double *slopes, double *values) {
    for (int64_t j = 0; j < n; j++) {
        double square = y[j] * y[j], size = fabs(y[j]);
        double t = contrast == ICA_CUBE ? 0 : exp(contrast == ICA_EXP ? -square / 2 : -2 * size);
        switch (contrast) {
        case ICA_LOGCOSH:
            values[j] += size + log1p(t) - log(2);
            slopes[j] += 4 * t / ((1 + t) * (1 + t));
            y[j] = copysign((1 - t) / (1 + t), y[j]);
            break;
        case ICA_EXP:
            values[j] -= t;
            slopes[j] += (1 - square) * t;
            y[j] *= t;
            break;
        case ICA_CUBE:
            values[j] += square * square / 4;
            slopes[j] += 3 * square;
            y[j] *= square;
            break;
        }
    }
}

void ica_apply(ica_contrast contrast, rb_dense y, float *scratch, double *slopes, double *values) {
    float *slope = scratch, *value = scratch + y.cols;
    memset(scratch, 0, 2 * (size_t)y.cols * sizeof *scratch);
    for (int64_t i = 0; i < y.rows; i++) {
        void *row = rb_dense_row(y, i);
        if (y.type == RB_FLOAT64)
            wide_row(contrast, y.cols, row, slopes, values);
        else if (contrast == ICA_LOGCOSH)
            logcosh_row(y.cols, row, slope, value);
        else if (contrast == ICA_EXP)
            exp_row(y.cols, row, slope, value);
        else
            cube_row(y.cols, row, slope, value);
    }
    for (int64_t j = 0; y.type == RB_FLOAT32 && j < y.cols; j++) {
        slopes[j] += (double)slope[j];
        values[j] += (double)value[j];
    }
}

double ica_normal(ica_contrast contrast) {
    return contrast == ICA_LOGCOSH ? 0.374567207491438 : contrast == ICA_EXP ? -sqrt(0.5) : 0.75;
}
