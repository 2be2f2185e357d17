/* The rule that picks a number of units. How it was chosen: docs/measurements/select.md.
 *
 * Numbers are compared sample by sample: of the differences of two log-likelihoods of a sample that
 * was held out the mean counts, and its standard error over samples, which is far below that of
 * either likelihood. Samples that no number explains are left out. Of methods that know the mean of
 * samples alone the means of the folds take their place.
 *
 * Numbers that explain unseen samples nearly as well as the best one are good. Among these, fits
 * from different starts agree where each unit has something to find: the smallest good number whose
 * match is near the largest is picked. The range begins where most of the gain is reached, or with
 * the units that are no background, and ends with the largest number of units of a good fit that
 * other starts find again, or that is not clearly worse than the best.
 */
#include "select.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Shares of the gain of the best number over the smallest: what a good number may miss, and the
 * first of the range; by how much a match may be below the largest, and below what it means
 * nothing; standard errors by which a number is clearly worse, deviations by which a sample is;
 * the share of background units from which all are dense. */
static const double GAIN_GOOD = 0.03, GAIN_RANGE = 0.2, NEAR_MATCH = 0.05, LOW_MATCH = 0.5,
                    CLEARLY = 3, FAR = 6, DENSE = 0.75;

static double *row_of(const rb_selection *s, int64_t k) {
    return s->cells + k * SELECT_COLUMNS;
}

static const double *of_samples(const rb_selection *s, int64_t k) {
    return s->held_out + k * s->n_samples;
}

/* ---- samples that no number explains ---- */

static double median(double *values, int64_t n) {
    rb_sort_numbers(values, n);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* Those whose largest log-likelihood is far below that of most samples, in standard deviations by
 * the median of absolute deviations: one of them can outweigh what all others say of a number. */
static rb_error leave_out(rb_context *ctx, rb_selection *s) {
    int64_t n = s->n_samples;
    rb_scratch scratch = {.ctx = ctx};
    double *largest = rb_take(&scratch, n, sizeof *largest);
    double *sorted = rb_take(&scratch, n, sizeof *sorted);
    if (scratch.err) return rb_scratch_end(&scratch);
    for (int64_t i = 0; i < n; i++) {
        largest[i] = of_samples(s, 0)[i];
        for (int64_t k = 1; k < s->n_rows; k++)
            largest[i] = fmax(largest[i], of_samples(s, k)[i]);
        sorted[i] = largest[i];
    }
    double middle = median(sorted, n);
    for (int64_t i = 0; i < n; i++)
        sorted[i] = fabs(largest[i] - middle);
    double deviation = 1.4826 * median(sorted, n);
    for (int64_t i = 0; i < n; i++) {
        s->left_out[i] = deviation > 0 && largest[i] < middle - FAR * deviation;
        s->n_left_out += s->left_out[i];
        if (s->left_out[i]) s->last_left_out = i;
    }
    return rb_scratch_end(&scratch);
}

/* ---- comparing numbers ---- */

/* The mean of a row over the samples that count, and the standard error of its difference from
 * another. */
static double mean_of(const rb_selection *s, int64_t k) {
    double sum = 0;
    for (int64_t i = 0; i < s->n_samples; i++)
        sum += s->left_out[i] ? 0 : of_samples(s, k)[i];
    return sum / (double)(s->n_samples - s->n_left_out);
}

static double error_of(const rb_selection *s, int64_t a, int64_t b) {
    const double *x = of_samples(s, a), *y = of_samples(s, b);
    double squares = 0, n = (double)(s->n_samples - s->n_left_out);
    double known = s->means ? (double)s->folds : n; /* values that are not copies of each other */
    double mean = mean_of(s, a) - mean_of(s, b);
    for (int64_t i = 0; i < s->n_samples; i++)
        squares += s->left_out[i] ? 0 : pow(x[i] - y[i] - mean, 2);
    return sqrt(squares / n / fmax(known - 1, 1));
}

static double behind(const rb_selection *s, int64_t k, int64_t best) {
    return row_of(s, best)[SELECT_HELD_OUT] - row_of(s, k)[SELECT_HELD_OUT];
}

/* Is a row within the share of the gain, or one standard error, of the best? */
static bool is_good(const rb_selection *s, int64_t k, int64_t best, double share) {
    double gain = behind(s, 0, best);
    return behind(s, k, best) <= fmax(share * gain, row_of(s, k)[SELECT_HELD_OUT_SE]);
}

/* Not clearly worse than the best, and no worse than the smallest number. */
static bool is_possible(const rb_selection *s, int64_t k, int64_t best) {
    double error = row_of(s, k)[SELECT_HELD_OUT_SE];
    return behind(s, k, best) <= fmin(CLEARLY * error, behind(s, 0, best));
}

/* One restart cannot be compared with any. */
static double match_of(const rb_selection *s, int64_t k) {
    double match = row_of(s, k)[SELECT_MATCH];
    return isnan(match) ? 1 : match;
}

static int64_t find_best(const rb_selection *s) {
    int64_t best = 0;
    for (int64_t k = 0; k < s->n_rows; k++) {
        row_of(s, k)[SELECT_HELD_OUT] = mean_of(s, k);
        if (behind(s, best, k) > 0) best = k;
    }
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

/* Units of a row that are no cause of their own; not where nearly all are such: causes are dense
 * then. */
static int64_t background_of(const rb_selection *s, int64_t k) {
    double background = row_of(s, k)[SELECT_BACKGROUND];
    return background < DENSE * row_of(s, k)[SELECT_UNITS] ? (int64_t)round(background) : 0;
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
        if (is_possible(s, k, best) && row_of(s, k)[SELECT_UNITS] > (double)s->high)
            s->high = (int64_t)row_of(s, k)[SELECT_UNITS];
    }
}

/* ---- in a sentence ---- */

static void say(rb_selection *s, const char *format, ...) RB_PRINTF(2, 3);
static void say(rb_selection *s, const char *format, ...) {
    size_t used = strlen(s->reason);
    va_list list;
    va_start(list, format);
    vsnprintf(s->reason + used, sizeof s->reason - used, format, list);
    va_end(list);
}

static void say_range(rb_selection *s) {
    bool open = (double)s->high >= row_of(s, s->n_rows - 1)[SELECT_UNITS];
    say(s, "; from %lld to %s%lld are likely", (long long)s->low, open ? "at least " : "",
        (long long)s->high);
}

static void say_why(rb_selection *s, int64_t best, int64_t picked, double match) {
    long long units = (long long)s->units;
    if (s->n_rows == 1)
        say(s, "only %lld units were tried", units);
    else if (picked == best)
        say(s, "%lld units explain unseen samples best", units);
    else
        say(s, "%lld units explain unseen samples nearly as well as %lld, the best", units,
            (long long)row_of(s, best)[SELECT_UNITS]);
    if (s->restarts > 1)
        say(s, ", and come back from other starts with a match of %.2f", match_of(s, picked));
    if (match < LOW_MATCH)
        say(s, ": too low for units that are more than noise; there may be nothing to find, or too "
               "few samples");
    else if (s->low < s->high)
        say_range(s);
}

static void forget_likelihoods(rb_selection *s) {
    for (int64_t k = 0; k < s->n_rows; k++)
        row_of(s, k)[SELECT_HELD_OUT] = row_of(s, k)[SELECT_HELD_OUT_SE] = NAN;
}

rb_error rb_selection_choose(rb_context *ctx, rb_selection *s) {
    double match;
    if (s->folds == 0) {
        say(s, "no number is picked: without `folds` nothing says how well unseen samples are "
               "explained");
        return RB_OK;
    }
    if (isnan(mean_of(s, 0))) {
        say(s, "no number is picked: the method gives no log-likelihood of unseen samples; compare "
               "error and match");
        forget_likelihoods(s);
        return RB_OK;
    }
    rb_error err = s->means ? RB_OK : leave_out(ctx, s);
    if (err) return err;
    int64_t best = find_best(s), picked = pick(s, best, &match);
    if (s->n_rows > 1 && picked == s->n_rows - 1) {
        say(s,
            "no number is picked: unseen samples are explained better still by %lld units, the "
            "most that were tried; try more",
            (long long)row_of(s, picked)[SELECT_UNITS]);
    } else {
        s->units = (int64_t)row_of(s, picked)[SELECT_UNITS];
        find_range(s, best, picked);
        say_why(s, best, picked, match);
    }
    if (s->n_left_out == 1) {
        say(s, "; sample %lld does not count, for no number explains it",
            (long long)s->last_left_out + 1);
    } else if (s->n_left_out > 1) {
        say(s, "; %lld samples do not count, for no number explains them",
            (long long)s->n_left_out);
    }
    return RB_OK;
}
