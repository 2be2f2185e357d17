/* The rule that picks a number of units from the table; docs/select.md has how it was chosen.
 *
 * Numbers that explain unseen samples nearly as well as the best one are good. Among these, fits
 * from different starts agree where each unit has something to find: the smallest good number whose
 * match is near the largest is picked. The range begins where most of the gain is reached, or with
 * the units that are no background, and ends with the largest number of units of a good fit that
 * other starts find again.
 */
#include "select.h"

#include <math.h>
#include <stdio.h>

/* Shares of the gain of the best number over the worst: what a good number may miss, and the first
 * of the range; by how much a match may be below the largest; matches that mean nothing below. */
static const double GAIN_GOOD = 0.03, GAIN_RANGE = 0.2, NEAR_MATCH = 0.05, LOW_MATCH = 0.5;

static double *row_of(const rb_selection *s, int64_t k) {
    return s->cells + k * SELECT_COLUMNS;
}

/* The standard error of the difference of two rows, over folds. */
static double error_of(const rb_selection *s, int64_t a, int64_t b) {
    const double *x = s->held_out + a * s->folds, *y = s->held_out + b * s->folds;
    double sum = 0, squares = 0, n = (double)s->folds;
    for (int64_t f = 0; f < s->folds; f++)
        sum += x[f] - y[f];
    for (int64_t f = 0; f < s->folds; f++)
        squares += pow(x[f] - y[f] - sum / n, 2);
    return sqrt(squares / (n - 1) / n);
}

/* Is a row within the share of the gain, or one standard error, of the best? */
static bool is_good(const rb_selection *s, int64_t k, int64_t best, double share) {
    double worst = row_of(s, 0)[SELECT_HELD_OUT], top = row_of(s, best)[SELECT_HELD_OUT];
    for (int64_t i = 1; i < s->n_rows; i++)
        worst = fmin(worst, row_of(s, i)[SELECT_HELD_OUT]);
    double behind = top - row_of(s, k)[SELECT_HELD_OUT];
    return behind <= fmax(share * (top - worst), row_of(s, k)[SELECT_HELD_OUT_SE]);
}

/* One restart cannot be compared with any. */
static double match_of(const rb_selection *s, int64_t k) {
    double match = row_of(s, k)[SELECT_MATCH];
    return isnan(match) ? 1 : match;
}

static int64_t find_best(const rb_selection *s) {
    int64_t best = 0;
    for (int64_t k = 1; k < s->n_rows; k++)
        if (row_of(s, k)[SELECT_HELD_OUT] > row_of(s, best)[SELECT_HELD_OUT]) best = k;
    for (int64_t k = 0; k < s->n_rows; k++)
        row_of(s, k)[SELECT_HELD_OUT_SE] = error_of(s, k, best);
    return best;
}

/* The row that is picked; *match is the largest of the good ones. */
static int64_t pick(const rb_selection *s, int64_t best, double *match) {
    int64_t picked = best;
    *match = 0;
    for (int64_t k = 0; k < s->n_rows; k++)
        if (is_good(s, k, best, GAIN_GOOD)) *match = fmax(*match, match_of(s, k));
    for (int64_t k = s->n_rows - 1; k >= 0; k--)
        if (is_good(s, k, best, GAIN_GOOD) && match_of(s, k) >= *match - NEAR_MATCH) picked = k;
    return picked;
}

/* Units of a row that are no cause of their own. */
static int64_t background_of(const rb_selection *s, int64_t k) {
    double background = row_of(s, k)[SELECT_BACKGROUND];
    return isnan(background) ? 0 : (int64_t)round(background);
}

static void find_range(rb_selection *s, int64_t best, int64_t picked) {
    int64_t low = picked;
    while (low > 0 && is_good(s, low - 1, best, GAIN_RANGE))
        low--;
    s->low = (int64_t)row_of(s, low)[SELECT_UNITS];
    if (s->units - background_of(s, picked) < s->low) s->low = s->units - background_of(s, picked);
    s->high = s->units;
    for (int64_t k = picked; k < s->n_rows; k++) {
        double found = round(row_of(s, k)[SELECT_USED] * match_of(s, k));
        if (is_good(s, k, best, GAIN_GOOD) && found > (double)s->high) s->high = (int64_t)found;
    }
}

rb_error rb_selection_choose(rb_context *ctx, rb_selection *s) {
    double match;
    (void)ctx;
    if (s->folds == 0) {
        snprintf(s->reason, sizeof s->reason,
                 "no number is picked: without folds nothing says how well unseen samples are "
                 "explained");
        return RB_OK;
    }
    int64_t best = find_best(s), picked = pick(s, best, &match), last = s->n_rows - 1;
    long long units = (long long)row_of(s, picked)[SELECT_UNITS];
    if (s->n_rows > 1 && picked == last) {
        snprintf(s->reason, sizeof s->reason,
                 "no number is picked: unseen samples are explained better still by %lld units, "
                 "the most that were tried; try more",
                 units);
        return RB_OK;
    }
    s->units = units;
    find_range(s, best, picked);
    char back[96] = "";
    if (s->restarts > 1) {
        snprintf(back, sizeof back, ", and come back from other starts with a match of %.2f",
                 match_of(s, picked));
    }
    int used = 0;
    if (s->n_rows == 1) {
        used = snprintf(s->reason, sizeof s->reason, "only %lld units were tried%s", units, back);
    } else if (picked == best) {
        used = snprintf(s->reason, sizeof s->reason, "%lld units explain unseen samples best%s",
                        units, back);
    } else {
        used = snprintf(s->reason, sizeof s->reason,
                        "%lld units explain unseen samples nearly as well as %lld, the best%s",
                        units, (long long)row_of(s, best)[SELECT_UNITS], back);
    }
    if (match < LOW_MATCH) {
        snprintf(s->reason + used, sizeof s->reason - (size_t)used,
                 ": too low for units that are more than noise; there may be nothing to find, or "
                 "too few samples");
    } else if (s->low < s->high) {
        long long background = background_of(s, picked);
        used += snprintf(s->reason + used, sizeof s->reason - (size_t)used,
                         "; from %lld to %lld are likely", (long long)s->low, (long long)s->high);
        if (background > 0) {
            snprintf(s->reason + used, sizeof s->reason - (size_t)used,
                     ", for %lld of them %s active in most samples, as a background", background,
                     background == 1 ? "is" : "are");
        }
    }
    return RB_OK;
}
