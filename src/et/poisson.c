/* Poisson noise: log p(y | wbar) = sum_d y log wbar - wbar - log y!. */
#include "engine.h"

#include <math.h>

double et_poisson_log_likelihood(void *user, int64_t n, const double *y, const double *wbar,
                                 double sigma) {
    double sum = 0;
    (void)user;
    (void)sigma;
    for (int64_t d = 0; d < n; d++) {
        double rate = fmax(wbar[d], et_least_rate);
        sum += y[d] * log(rate) - rate;
    }
    return sum;
}

double et_poisson_constant(void *user, int64_t n, const double *y) {
    double sum = 0;
    (void)user;
    int sign;
    for (int64_t d = 0; d < n; d++) {
        sum -= lgamma_r(y[d] + 1, &sign);
    }
    return sum;
}

const char *et_poisson_refuse(void *user, double value) {
    (void)user;
    return value < 0 ? "is below 0, but Poisson noise is for counts" : NULL;
}
