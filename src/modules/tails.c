/* Tails of distributions, as natural logarithms: a probability too small for a double has one.
 *
 * Each is within 1e-10 of the probability, relatively, down to where a double ends, and its
 * logarithm beyond. Sources: M. Abramowitz, I. Stegun, "Handbook of Mathematical Functions" (1964),
 * 6.5.29 and 6.5.31 (incomplete gamma function), 26.2.14 (normal), 26.5.8 (incomplete beta
 * function), 26.7.1 (Student's t); continued fractions are evaluated from the front by the method
 * of Lentz, as W. Thompson, A. Barnett, "Coulomb and Bessel functions of complex arguments and
 * order", J. Comput. Phys. 64 (1986) have it.
 */
#include "modules.h"

#include <float.h>
#include <math.h>

enum { STEPS = 1000000 }; /* a bound; the fractions need some times the root of their parameter */

static double log_gamma(double x) {
    int sign; /* lgamma would write it to a global variable */
    return lgamma_r(x, &sign);
}

/* log(1 - e^x), x at most 0. */
static double log_complement(double x) {
    return x > -0.7 ? log(-expm1(x)) : log1p(-exp(x));
}

/* ---- continued fractions, b0 + a1 / (b1 + a2 / (b2 + ...)) ---- */

typedef struct fraction {
    double value, up, down; /* so far; ratios of neighbouring numerators, denominators */
    bool done;
} fraction;

static double off_zero(double x) {
    return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

static fraction begin_fraction(double b0) {
    double start = off_zero(b0);
    return (fraction){start, start, 0, false};
}

static void go_on(fraction *f, double a, double b) {
    f->down = 1 / off_zero(b + a * f->down);
    f->up = off_zero(b + a / f->up);
    double factor = f->up * f->down;
    f->value *= factor;
    f->done = fabs(factor - 1) < 1e-15;
}

/* ---- normal ---- */

double rb_log_normal_tail(double z) {
    if (z < 0) return log1p(-0.5 * erfc(-z / sqrt(2)));
    if (z < 30) return log(0.5 * erfc(z / sqrt(2)));
    /* 26.2.14: the tail is the density times 1 / (z + 1 / (z + 2 / (z + ...))) */
    fraction f = begin_fraction(z);
    for (int k = 1; k < STEPS && !f.done && isfinite(z); k++)
        go_on(&f, k, z);
    return -0.5 * z * z - 0.5 * log(2 * M_PI) - log(f.value);
}

/* ---- chi-square: the incomplete gamma function of a = degrees / 2, x / 2 ---- */

/* log of x^a e^-x / Gamma(a). For large a the three are large and nearly cancel: then by the series
 * of Stirling, with what is left of a log(x / a) - (x - a). */
static double log_gamma_front(double a, double x) {
    if (a < 20) return a * log(x) - x - log_gamma(a);
    double inverse = 1 / (a * a), u = (x - a) / a;
    double rest = (1.0 / 12 - inverse * (1.0 / 360 - inverse * (1.0 / 1260 - inverse / 1680))) / a;
    return a * (log1p(u) - u) + 0.5 * log(a / (2 * M_PI)) - rest;
}

double rb_log_chi_square_tail(double chi_square, double degrees) {
    double a = 0.5 * degrees, x = 0.5 * chi_square;
    if (isnan(x) || !(degrees > 0)) return NAN;
    if (x <= 0) return 0;
    if (isinf(x)) return -INFINITY;
    double front = log_gamma_front(a, x);
    if (x < a + 1) { /* 6.5.29: what lies below is a series */
        double term = 1 / a, sum = term;
        for (int k = 1; k < STEPS && term > sum * 1e-17; k++) {
            term *= x / (a + k);
            sum += term;
        }
        double below = front + log(sum);
        return below < 0 ? log_complement(below) : -INFINITY;
    }
    fraction f = begin_fraction(x + 1 - a); /* 6.5.31, its even part */
    for (int k = 1; k < STEPS && !f.done; k++)
        go_on(&f, -k * (k - a), x + 2 * k + 1 - a);
    return front - log(f.value);
}

/* ---- Student's t: the incomplete beta function I_x(a, b) ---- */

/* log of Gamma(a + 1/2) / (Gamma(a) Gamma(1/2)), which is 1 / B(a, 1/2); for large a by its
 * asymptotic series, since the two would nearly cancel. */
static double log_inverse_beta(double a) {
    double log_root = 0.5 * log(M_PI);
    if (a < 30) return log_gamma(a + 0.5) - log_gamma(a) - log_root;
    double inverse = 1 / (a * a);
    double series = 1.0 / 8 - inverse * (1.0 / 192 - inverse * (1.0 / 640 - inverse * 17 / 14336));
    return 0.5 * log(a) - series / a - log_root;
}

/* 26.5.8: what I_x(a, b) is times x^-a (1 - x)^-b a B(a, b). */
static double beta_fraction(double a, double b, double x) {
    fraction f = begin_fraction(1);
    go_on(&f, -(a + b) * x / (a + 1), 1);
    for (int k = 1; k < STEPS && !f.done; k++) {
        go_on(&f, k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k)), 1);
        go_on(&f, -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1)), 1);
    }
    return 1 / f.value;
}

double rb_log_student_tail(double t, double degrees) {
    double a = 0.5 * degrees, b = 0.5, square = t * t / degrees;
    if (isnan(square) || !(degrees > 0)) return NAN;
    if (square == 0) return 0;
    if (isinf(t)) return -INFINITY;
    if (isinf(square)) /* x is too small for a double, its power alone is left */
        return a * (log(degrees) - 2 * log(fabs(t))) + log_inverse_beta(a) - log(a);
    double x = 1 / (1 + square), y = square / (1 + square); /* x + y = 1 */
    double front = -a * log1p(square) + b * log(y) + log_inverse_beta(a);
    if (x < (a + 1) / (a + b + 2)) return front - log(a) + log(beta_fraction(a, b, x));
    double below = front - log(b) + log(beta_fraction(b, a, y));
    return below < 0 ? log_complement(below) : -INFINITY;
}
