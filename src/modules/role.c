/* What a unit is whose codes are 0 or above and should mostly be 0.
 *
 * Of its codes z_i and its loadings in units of noise, b_k = w_k / psi_k^(1/2):
 *   background   the skewness of the z_i is below 0, or below 1/2 and more than 60 % are not 0:
 *                what centring leaves in the samples that are in no module. With the rule test
 *                also mirrors (modules_units.c)
 *   spare        it tells less than a tenth of what noise alone may:
 *                    (sum z^2 - max z^2) (sum b^2 - max b^2) <= 1/10 min(1, m / 100) B,
 *                    B = (n_z^(1/2) + n_b^(1/2))^2 + 2 n_z log(n / n_z) + 2 n_b log(m / n_b)
 *                where n_z = (sum z^2)^2 / sum z^4 is how many samples have most of it, and n_b how
 *                many features. B is what the best block of so many samples and features of white
 *                noise has: the square of the largest singular value of one block, and the number
 *                of blocks to choose from. What one sample or one feature has by itself is shared
 *                with nothing. The tenth is for codes and loadings that are drawn towards 0,
 *                and for small modules. Fewer than 100 features are drawn further: units of noise
 *                have at most 0.05 of B at 50, 0.02 at 25.
 *                So is one of a single sample: with 0.95 of sum z^2.
 *   module       neither
 * With the rule test normal scores decide what else is spare (scores.c).
 */
#include "modules.h"

#include <math.h>

static const double SPARE = 0.1, FEW_FEATURES = 100, SINGLE = 0.95;
static const double FITTED = 24, MOST_FITTED = 0.6;

void rb_powers_add(rb_powers *p, double size) {
    double square = size * size;
    p->active += size != 0;
    p->size += size;
    p->square += square;
    p->cube += square * size;
    p->fourth += square * square;
    p->largest = fmax(p->largest, square);
}

/* Do more than this share of the n samples have the unit, with codes of less than this skewness? */
static bool is_broad(const rb_powers *z, double n, double share, double skewness) {
    double mean = z->size / n, variance = z->square / n - mean * mean;
    double third = z->cube / n - 3 * mean * z->square / n + 2 * mean * mean * mean;
    return z->active > share * n && third < skewness * variance * sqrt(variance);
}

static bool is_background(const rb_powers *z, double n) {
    return is_broad(z, n, 0, 0) || is_broad(z, n, 0.6, 0.5);
}

bool rb_may_mirror(const rb_powers *codes, int64_t n_samples) {
    return is_broad(codes, (double)n_samples, 0.4, 2);
}

/* How many numbers have most of the sum of squares. */
static double number_of(const rb_powers *p) {
    return p->fourth > 0 ? p->square * p->square / p->fourth : 0;
}

/* log of how many choices of `some` there are among `all`, about. */
static double choices(double some, double all) {
    return some > 0 ? some * log(all / some) : 0;
}

double rb_block_of_noise(double rows, int64_t n_samples, double columns, int64_t n_features) {
    return pow(sqrt(rows) + sqrt(columns), 2) + 2 * choices(rows, (double)n_samples) +
           2 * choices(columns, (double)n_features);
}

double rb_fit_of_noise(double rows, int64_t n_samples, double columns, int64_t n_features) {
    double of_samples = 2 * rows + 2 * choices(rows, (double)n_samples);
    double share = fmin(log((double)n_samples * (double)n_features) / FITTED, MOST_FITTED);
    return share * pow(sqrt(of_samples) + sqrt(2 * choices(columns, (double)n_features)), 2);
}

bool rb_is_single(const rb_powers *codes) {
    return codes->largest > SINGLE * codes->square;
}

rb_unit_role rb_role_of(const rb_powers *codes, int64_t n_samples, const rb_powers *loadings,
                        int64_t n_features) {
    if (is_background(codes, (double)n_samples)) return RB_UNIT_BACKGROUND;
    double shared = (codes->square - codes->largest) * (loadings->square - loadings->largest);
    double most = SPARE * fmin(1, (double)n_features / FEW_FEATURES) *
                  rb_block_of_noise(number_of(codes), n_samples, number_of(loadings), n_features);
    bool module = shared > 0 && shared > most && !rb_is_single(codes);
    return module ? RB_UNIT_MODULE : RB_UNIT_SPARE;
}
