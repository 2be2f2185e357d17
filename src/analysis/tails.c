/* Tails of distributions: the chance of a value above x.
 *
 * Normal: erfc. Student's t by the regularised incomplete beta function,
 *     P(T > t) = 1/2 I_x(nu / 2, 1/2),  x = nu / (nu + t^2),  t >= 0
 * (Abramowitz, Stegun, Handbook of mathematical functions, 26.7.1 and 26.5.8), whose continued
 * fraction is evaluated from its head by the method of Lentz (Applied Optics 15, 1976).
 */
#include "analysis.h"

#include <float.h>
#include <math.h>

static double log_gamma(double x) {
    int sign; /* lgamma would write it to a global variable */
    return lgamma_r(x, &sign);
}

/* The d-th coefficient of the continued fraction of I_x(a, b), d from 1. */
static double coefficient(double a, double b, double x, int d) {
    double m = d / 2; /* rounded down */
    return d % 2 ? -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
                 : m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
}

/* 1 / (1 + d_1 / (1 + d_2 / (1 + ...))), for x < (a + 1) / (a + b + 2), where it converges fast. */
static double fraction(double a, double b, double x) {
    enum { STEPS = 10000 };
    double value = 1, above = 1, below = 0, change = 0;
    for (int d = 1; d <= STEPS && fabs(change - 1) > 4 * DBL_EPSILON; d++) {
        double c = coefficient(a, b, x, d);
        below = 1 + c * below;
        below = 1 / (below == 0 ? DBL_MIN : below);
        above = 1 + c / above;
        above = above == 0 ? DBL_MIN : above;
        change = above * below;
        value *= change;
    }
    return 1 / value;
}

/* log of x^a (1 - x)^b / (a B(a, b)) */
static double log_front(double a, double b, double x, double rest) {
    return a * log(x) + b * log(rest) + log_gamma(a + b) - log_gamma(a) - log_gamma(b) - log(a);
}

double rb_tail_normal(double z) {
    return 0.5 * erfc(z * M_SQRT1_2);
}

double rb_tail_t(double t, double freedom) {
    if (isnan(t) || t == 0) return isnan(t) ? t : 0.5;
    double a = freedom / 2, b = 0.5, sum = freedom + t * t, x = freedom / sum, rest = t * t / sum;
    if (!(x > 0)) return t > 0 ? 0 : 1;
    double beta = x < (a + 1) / (a + b + 2)
                      ? exp(log_front(a, b, x, rest)) * fraction(a, b, x)
                      : 1 - exp(log_front(b, a, rest, x)) * fraction(b, a, rest);
    return t > 0 ? 0.5 * beta : 1 - 0.5 * beta;
}
