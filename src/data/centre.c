/* Which centre suits the data: the median, or the mean where many values of a feature are equal.
 *
 * A module pulls the mean of its features towards its samples and leaves all others below it, which
 * costs a unit that stands for no module; the median stays where most samples are. Of counts and
 * sparse values it is their commonest one, or steps from one whole number to the next.
 *
 * Some samples and features, evenly spread, tell. The median takes a pass for each 64 MiB of
 * values: where those are many, the mean is taken, too. */
#include "rows.h"

#include <math.h>
#include <string.h>

enum { SAMPLES = 256, FEATURES = 1024 };
static const double most_equal = 0.2;
static const double most_values = 1 << 27; /* the median takes a pass for each 2^23 of them */

rb_error rb_ties_begin(rb_context *ctx, rb_ties *t, int64_t n_samples, int64_t n_features) {
    *t = (rb_ties){.n_samples = n_samples, .n_features = n_features};
    t->sample_step = (n_samples + SAMPLES - 1) / SAMPLES;
    t->feature_step = (n_features + FEATURES - 1) / FEATURES;
    t->rows = (n_samples + t->sample_step - 1) / t->sample_step;
    t->columns = (n_features + t->feature_step - 1) / t->feature_step;
    t->values = rb_alloc_zero(ctx, t->rows * t->columns, sizeof *t->values);
    return t->values ? RB_OK : RB_ERROR_MEMORY;
}

void rb_ties_add(rb_ties *t, const rb_matrix *rows, int64_t first) {
    int64_t ahead = (t->sample_step - first % t->sample_step) % t->sample_step;
    for (int64_t i = ahead; i < rows->n_samples; i += t->sample_step) {
        rb_row row = rb_row_of(rows, i);
        double *to = t->values + (first + i) / t->sample_step;
        for (int64_t e = 0; e < row.count; e++) {
            int64_t k = row.columns ? row.columns[e] : e;
            if (k % t->feature_step == 0) to[k / t->feature_step * t->rows] = row.values[e];
        }
    }
}

/* How often the commonest of at most SAMPLES numbers is among them. */
static int64_t most_often(const double *numbers, int64_t count) {
    enum { PLACES = 2 * SAMPLES, BITS = 9 };
    double number[PLACES] = {0};
    int64_t often[PLACES] = {0}, most = 0;
    for (int64_t i = 0; i < count; i++) {
        double x = numbers[i] + 0.0; /* no -0 */
        uint64_t bits;
        memcpy(&bits, &x, sizeof bits);
        uint64_t at = bits * 0x9E3779B97F4A7C15 >> (64 - BITS);
        while (often[at] > 0 && number[at] != x)
            at = (at + 1) % PLACES;
        number[at] = x;
        often[at]++;
        most = often[at] > most ? often[at] : most;
    }
    return most;
}

/* Of the other values of a feature, how many equal its commonest? Below 0: it does not vary. */
static double share_of(double *column, int64_t count) {
    int64_t there = 0;
    for (int64_t i = 0; i < count; i++)
        if (!isnan(column[i])) column[there++] = column[i];
    int64_t most = most_often(column, there);
    return most < there ? (double)(most - 1) / (double)(there - 1) : -1;
}

int rb_ties_choose(rb_context *ctx, rb_ties *t) {
    double sum = 0, counted = 0;
    for (int64_t k = 0; k < t->columns; k++) {
        double share = share_of(t->values + k * t->rows, t->rows);
        sum += fmax(share, 0);
        counted += share >= 0;
    }
    double equal = counted > 0 ? sum / counted : 1;
    bool ties = equal > most_equal;
    if (!ties && (double)t->n_samples * (double)t->n_features > most_values) {
        rb_log(ctx, RB_LOG_INFO,
               "centred by the mean, since medians of so many values take long; `centre=median` "
               "takes them");
        return RB_CENTRE_MEAN;
    }
    rb_log(ctx, RB_LOG_INFO,
           ties ? "centred by the mean, since %.0f %% of the values of a feature are equal"
                : "centred by the median, since few values of a feature are equal (%.0f %%)",
           100 * equal);
    return ties ? RB_CENTRE_MEAN : RB_CENTRE_MEDIAN;
}
