/* The prior of a truncated model: how much of it the states looked at have, and its exact
 * update. */
#include "fit.h"

#include <math.h>

double et_log_choose(int64_t units, int64_t count) {
    double h = (double)units, k = (double)count;
    int sign; /* lgamma would write it to a global variable */
    return lgamma_r(h + 1, &sign) - lgamma_r(k + 1, &sign) - lgamma_r(h - k + 1, &sign);
}

enum { MAX = 64 }; /* active causes, at most */

/* sums[k], k = 0 .. count - 1: the sum over all sets of k causes of the products of join_h of those
 * in the set and stay_h of the others. */
static void add_cause(double join, double stay, int64_t count, double *sums) {
    for (int64_t k = count - 1; k > 0; k--)
        sums[k] = sums[k] * stay + sums[k - 1] * join;
    sums[0] *= stay;
}

/* ---- mass ---- */

/* Of causes with priors of their own: how many are active, cause after cause. */
static double unequal_mass(const double *priors, int64_t units, int64_t max_active) {
    double chance[MAX + 1] = {1}, sum = 0;
    int64_t max = rb_smaller(max_active, MAX);
    for (int64_t h = 0; h < units; h++)
        add_cause(priors[h], 1 - priors[h], max + 1, chance);
    for (int64_t k = 0; k <= max; k++)
        sum += chance[k];
    return sum;
}

double et_prior_mass(const et_setup *setup, const et_parameters *p, int64_t max_active) {
    double prior = p->prior[0], sum = 0;
    bool equal = true;
    if (setup->fixed_count) return 1;
    for (int64_t h = 0; h < setup->units; h++)
        equal = equal && p->prior[h] == prior;
    for (int64_t k = 0; equal && k <= max_active; k++) {
        double size = (double)k, rest = (double)(setup->units - k);
        sum += exp(et_log_choose(setup->units, k) + size * log(prior) + rest * log1p(-prior));
    }
    return fmin(equal ? sum : unequal_mass(p->prior, setup->units, max_active), 1);
}

/* ---- learning ---- */

/* <|s|> of a Bernoulli(pi)^H prior given at most gamma active causes: B(pi) / A(pi). */
static double mean_active(int64_t units, int64_t max_active, double prior) {
    double odds = log(prior) - log1p(-prior), mass = 0, sum = 0;
    double highest = -HUGE_VAL;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k <= max_active && k <= units; k++) {
            double size = (double)k;
            double weight = et_log_choose(units, k) + size * odds;
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
    if (mean_active(units, max_active, low) >= active) return low;
    if (mean_active(units, max_active, high) <= active) return high;
    while (high - low > 1e-15 * high) {
        double middle = (low + high) / 2;
        bool below = mean_active(units, max_active, middle) < active;
        low = below ? middle : low;
        high = below ? high : middle;
    }
    return (low + high) / 2;
}

/* Which value an active cause has does not depend on how many are active: the shares are those of
 * the sums. */
void et_learn_shares(const et_setup *setup, bool each, const double *sums, double *shares) {
    const double min = 1e-5;
    int64_t units = setup->units;
    for (int64_t h = 0; h < units; h++) {
        double value[ET_MAX_VALUES] = {0}, total = 0, all = 0;
        for (int a = 0; a < setup->values.count; a++) {
            for (int64_t j = each ? h : 0; j < (each ? h + 1 : units); j++)
                value[a] += sums[a * units + j];
            total += value[a];
        }
        for (int a = 0; a < setup->values.count; a++)
            all += value[a] = total > 0 ? fmax(value[a] / total, min) : shares[a * units + h];
        for (int a = 0; a < setup->values.count; a++)
            shares[a * units + h] = value[a] / all;
    }
}

/* Cause after cause, the others as they are, until nothing changes: the mean is a monotone function
 * of the odds that can be turned round. */
void et_learn_priors(int64_t units, int64_t max_active, const double *active, double *prior) {
    enum { STEPS = 60 };
    int64_t count = rb_smaller(max_active, MAX) + 1;
    double change = 1;
    for (int step = 0; step < STEPS && change > 1e-13; step++) {
        change = 0;
        for (int64_t h = 0; h < units; h++) {
            double sums[MAX + 1] = {1}, with = 0, without = 0, odds = prior[h] / (1 - prior[h]);
            for (int64_t j = 0; j < units; j++)
                if (j != h) add_cause(prior[j] / (1 - prior[j]), 1, count, sums);
            for (int64_t k = 0; k < count; k++) {
                without += sums[k];
                with += k + 1 < count ? odds * sums[k] : 0;
            }
            /* E = with / (with + without): the odds that give the wanted mean, the others fixed. */
            double wanted = fmin(fmax(active[h], 1e-12), 1 - 1e-12);
            odds *= wanted / (1 - wanted) * without / with;
            double next = fmin(fmax(odds / (1 + odds), 1e-5), 1 - 1e-5);
            change = fmax(change, fabs(next - prior[h]));
            prior[h] = next;
        }
    }
}
