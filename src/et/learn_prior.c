/* Learning the prior: the exact update of a truncated model. */
#include "fit.h"

#include <math.h>

/* <|s|> of a Bernoulli(pi)^H prior given at most gamma active causes: B(pi) / A(pi). */
static double mean_active(int64_t units, int64_t max_active, double prior) {
    double h = (double)units, odds = log(prior) - log1p(-prior), mass = 0, sum = 0;
    double highest = -HUGE_VAL;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k <= max_active && k <= units; k++) {
            double size = (double)k;
            double weight = lgamma(h + 1) - lgamma(size + 1) - lgamma(h - size + 1) + size * odds;
            if (pass == 0) {
                highest = fmax(highest, weight);
            } else {
                mass += exp(weight - highest);
                sum += size * exp(weight - highest);
            }
        }
    }
    return sum / mass;
}

double et_learn_prior(int64_t units, int64_t max_active, double active) {
    /* mean_active rises with the prior. */
    double low = 1e-5, high = 1 - 1e-5;
    if (mean_active(units, max_active, low) >= active) {
        return low;
    }
    if (mean_active(units, max_active, high) <= active) {
        return high;
    }
    while (high - low > 1e-15 * high) {
        double middle = (low + high) / 2;
        if (middle <= low || middle >= high) {
            break;
        }
        if (mean_active(units, max_active, middle) < active) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return (low + high) / 2;
}
