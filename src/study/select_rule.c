/* The rule that picks a number of units. How it was chosen: docs/measurements/select.md.
 *
 * Units are stable that come back in most fits of a number, though each fit begins elsewhere and
 * lacks other samples (select_table.c). Too few units offered have to share what is there; from
 * enough on the number of stable ones hardly moves. So the numbers from half of the largest on
 * count, and the median of what is stable in them is picked.
 *
 * Held-out figures are compared sample by sample: of the differences of two log-likelihoods of a
 * sample the mean counts, and its standard error over samples, which is far below that of either
 * likelihood. Samples that no number explains are left out. Of methods that know the mean of
 * samples alone the means of the folds take their place.
 */
#include "select.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const double FAR = 6; /* deviations from which on a sample is left out */
enum { LISTED = 5 };         /* of the samples that are */
enum { FEW_SAMPLES = 30 };   /* a unit of a fifth of them is lost where a third is left out */

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

static void compare_rows(const rb_selection *s) {
    int64_t best = 0;
    for (int64_t k = 0; k < s->n_rows; k++) {
        row_of(s, k)[SELECT_HELD_OUT] = mean_of(s, k);
        if (row_of(s, k)[SELECT_HELD_OUT] > row_of(s, best)[SELECT_HELD_OUT]) best = k;
    }
    for (int64_t k = 0; k < s->n_rows; k++)
        row_of(s, k)[SELECT_HELD_OUT_SE] = error_of(s, k, best);
}

/* ---- how many are stable ---- */

static bool counts(const rb_selection *s, int64_t k) {
    return 2 * row_of(s, k)[SELECT_UNITS] >= row_of(s, s->n_rows - 1)[SELECT_UNITS];
}

/* The median, the larger of two; the first row that has it is the one to fit. */
static rb_error find_number(rb_context *ctx, rb_selection *s) {
    int64_t count = 0;
    rb_scratch scratch = {.ctx = ctx};
    double *stable = rb_take(&scratch, s->n_rows, sizeof *stable);
    if (scratch.err) return rb_scratch_end(&scratch);
    for (int64_t k = 0; k < s->n_rows; k++)
        if (counts(s, k)) stable[count++] = row_of(s, k)[SELECT_STABLE];
    rb_sort_numbers(stable, count);
    s->low = (int64_t)stable[0];
    s->units = (int64_t)stable[count / 2];
    s->high = (int64_t)stable[count - 1];
    for (int64_t k = s->n_rows - 1; k >= 0; k--)
        if (s->units > 0 && counts(s, k) && row_of(s, k)[SELECT_STABLE] == stable[count / 2])
            s->row = k;
    return rb_scratch_end(&scratch);
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

static void say_number(rb_selection *s) {
    long long units = (long long)s->units, most = (long long)row_of(s, s->n_rows - 1)[SELECT_UNITS];
    if (units == 0)
        say(s, "nothing is stable: no unit recurs from other starts");
    else if (units == 1)
        say(s, "1 unit is stable: it recurs from other starts");
    else
        say(s, "%lld units are stable: they recur from other starts", units);
    if (s->folds > 0)
        say(s, " and without one of %lld %s", (long long)s->folds,
            s->serial ? "runs of samples (each resembles the next one)" : "parts of the samples");
    if (units == 0 && s->most_stable > 0)
        say(s, "; the largest stability is %.2f, and 0.85 counts", s->most_stable);
    if (units == 0 && s->folds > 0 && s->n_samples < FEW_SAMPLES)
        say(s, "; of %lld samples too few may be left: try a fit with `consensus`",
            (long long)s->n_samples);
    if (s->low < s->high) {
        say(s, "; %lld to %lld by the number of units offered", (long long)s->low,
            (long long)s->high);
    }
    int64_t row = s->row < 0 ? s->n_rows - 1 : s->row;
    double beyond = floor(row_of(s, row)[SELECT_BEYOND_NOISE] + 0.5); /* NaN: not asked for */
    if (s->folds > 0 && beyond > (double)units)
        say(s, "; %.0f are beyond noise: a fit with `consensus` takes all samples", beyond);
    if (2 * units > most) say(s, "; others may be missing: try more than %lld units", most);
}

static void say_left_out(rb_context *ctx, const rb_source *source, rb_selection *s) {
    const char *name = source ? rb_source_sample_name(source, 0) : NULL;
    int64_t listed = 0;
    if (s->n_left_out == 0) return;
    say(s, "; held-out figures leave out %s ", s->n_left_out == 1 ? "sample" : "samples");
    for (int64_t i = 0; i < s->n_samples && listed < LISTED; i++)
        if (s->left_out[i]) {
            say(s, "%s", listed++ ? ", " : "");
            if (name)
                say(s, "%.40s", rb_source_sample_name(source, i));
            else
                say(s, "%lld", (long long)rb_nth(ctx, i));
        }
    if (s->n_left_out > LISTED) say(s, " and %lld more", (long long)s->n_left_out - LISTED);
    say(s, "%s, which no number explains", rb_counted(ctx, name));
}

rb_error rb_selection_choose(rb_context *ctx, const rb_source *source, rb_selection *s) {
    rb_error err = RB_OK;
    if (s->folds == 0 || isnan(mean_of(s, 0))) {
        for (int64_t k = 0; k < s->n_rows; k++)
            row_of(s, k)[SELECT_HELD_OUT] = row_of(s, k)[SELECT_HELD_OUT_SE] = NAN;
    } else {
        err = s->means ? RB_OK : leave_out(ctx, s);
        compare_rows(s);
    }
    if (s->fits > 1) {
        err = err ? err : find_number(ctx, s);
        say_number(s);
    } else {
        say(s, "no number is picked: stability needs two fits of each number; raise `restarts`");
    }
    say_left_out(ctx, source, s);
    return err;
}
