/* What the values are: from their signs, fractions, extremes, means and standard deviations.
 *
 * Logarithms. The rule of GEO2R (NCBI GEO, its R script): values are not logarithms when their 0.99
 * quantile is above 100, or when they span more than 50 and the lower quartile is above 0.
 *
 * Logarithms of counts. With x = log(1 + c s) and the same s throughout a sample, (b^x - 1) of its
 * values are whole multiples of the least one where that is a count of 1, whatever s. */
#include "check.h"

#include <math.h>

enum { QUANTILE_VALUES = 1 << 16, MIN_RATIOS = 20, FEW_FEATURES = 100 };
static const double tolerance = 0.05, agree = 0.8, near_equal = 0.01, amount_times = 2,
                    unit_times = 1000;

const char *rb_kind_name(rb_kind kind) {
    static const char *const names[] = {
        "none",     "counts", "scaled counts", "log counts", "log",      "intensities",
        "measures", "pixels", "binary",        "fractions",  "z-scores", "standardised samples",
        "centred",  "real"};
    return names[kind];
}

/* ---- quantiles ---- */

static void find_quantiles(rb_look *look) {
    static const double shares[] = {0.01, 0.25, 0.5, 0.75, 0.99};
    int64_t cells = look->part_n * look->part_m, step = cells / QUANTILE_VALUES + 1, count = 0;
    step += cells > QUANTILE_VALUES && look->part_m % step == 0; /* not always the same features */
    double *values = rb_take(&look->scratch, cells / step + 1, sizeof *values);
    for (int64_t c = 0; values && c < cells; c += step)
        if (isfinite(look->part[c])) values[count++] = look->part[c];
    if (!values) return;
    rb_sort_numbers(values, count);
    for (int q = 0; q < 5; q++)
        look->quantiles[q] = rb_quantile_of(values, count, shares[q]);
}

/* ---- counts in disguise ---- */

/* log_base 0: the value itself. */
static double undo_log(double x, double log_base) {
    return log_base > 0 ? expm1(x * log_base) : x;
}

/* Are the values of each sample whole multiples of its least one? */
static bool are_multiples(const rb_look *look, double log_base) {
    int64_t ratios = 0, whole = 0;
    for (int64_t i = 0; i < look->part_n; i++) {
        const double *row = look->part + i * look->part_m;
        double least = INFINITY;
        for (int64_t k = 0; k < look->part_m; k++)
            least = row[k] > 0 && row[k] < least ? row[k] : least;
        for (int64_t k = 0; k < look->part_m; k++) {
            double ratio = undo_log(row[k], log_base) / undo_log(least, log_base);
            if (!(ratio > 1.5 && ratio < 8.5)) continue;
            ratios++;
            whole += fabs(ratio - round(ratio)) <= tolerance;
        }
    }
    return ratios >= MIN_RATIOS && (double)whole >= agree * (double)ratios;
}

static bool equal_totals(const rb_look *look) {
    double low = INFINITY, high = -INFINITY;
    for (int64_t j = 0; j < look->looked; j++) {
        double total = rb_tally_mean(&look->samples[j]) * (double)look->samples[j].present;
        if (rb_look_drops(look, j)) continue;
        low = fmin(low, total);
        high = fmax(high, total);
    }
    return look->looked > 1 && low > 0 && high - low <= near_equal * high;
}

/* ---- means and standard deviations ---- */

/* Have nine tenths of the tallies that vary the mean 0, and the standard deviation 1 if asked? */
static bool are_standard(const rb_tally *tallies, int64_t count, bool sd_too) {
    int64_t varying = 0, standard = 0;
    for (int64_t i = 0; i < count; i++) {
        double sd = rb_tally_sd(&tallies[i]), mean = rb_tally_mean(&tallies[i]);
        double n = (double)tallies[i].present, unbiased = n > 1 ? sd * sqrt(n / (n - 1)) : 0;
        if (!(sd > 0) || n < 3) continue;
        bool fits = fabs(mean) <= near_equal * sd;
        bool one = fabs(sd - 1) <= near_equal || fabs(unbiased - 1) <= near_equal;
        varying++;
        standard += fits && (one || !sd_too);
    }
    return varying > 2 && (double)standard >= 0.9 * (double)varying;
}

static rb_kind kind_with_signs(const rb_look *look) {
    if (are_standard(look->features, look->m, true)) return RB_KIND_Z;
    if (are_standard(look->samples, look->looked, true)) return RB_KIND_STANDARDISED;
    return are_standard(look->features, look->m, false) ? RB_KIND_CENTRED : RB_KIND_REAL;
}

bool rb_is_picture(const rb_source *source) {
    static const char *const formats[] = {"idx", "image", NULL};
    return source->format && rb_among(formats, source->format);
}

/* GEO2R's rule. */
static bool are_logarithms(const rb_look *look) {
    bool wide = look->high.value - look->low.value > 50 && look->quantiles[1] > 0;
    return look->quantiles[4] <= 100 && !wide;
}

/* Does a feature reach several times its mean, as amounts do? Else the values differ because they
 * are of different things. */
static bool vary_by_times(const rb_look *look) {
    int64_t varying = 0, far = 0;
    for (int64_t k = 0; k < look->m; k++) {
        const rb_tally *t = &look->features[k];
        varying += t->low < t->high;
        far += t->low < t->high && t->high >= amount_times * rb_tally_mean(t);
    }
    return 2 * far >= varying;
}

/* Few features of very different size: amounts of one kind of thing are many, or alike. */
static bool own_units(rb_look *look) {
    double *sds = rb_take(&look->scratch, look->m, sizeof *sds);
    int64_t count = 0;
    for (int64_t k = 0; sds && k < look->m; k++)
        if (rb_tally_sd(&look->features[k]) > 0) sds[count++] = rb_tally_sd(&look->features[k]);
    if (count == 0) return false;
    rb_sort_numbers(sds, count);
    return look->m < FEW_FEATURES &&
           rb_quantile_of(sds, count, 0.95) > unit_times * rb_quantile_of(sds, count, 0.05);
}

static rb_kind kind_of(rb_look *look) {
    bool whole = look->whole == look->values;
    if (look->values == 0) return RB_KIND_NONE;
    if (whole && look->distinct <= 2 && look->low.value >= 0 && look->high.value <= 1)
        return RB_KIND_BINARY;
    if (look->low.value < 0) return kind_with_signs(look);
    if (rb_is_picture(look->source) || (whole && look->high.value == 255)) return RB_KIND_PIXELS;
    if (whole) return RB_KIND_COUNTS;
    if (look->high.value <= 1) return RB_KIND_FRACTIONS;
    if (are_multiples(look, 1) || are_multiples(look, log(2))) return RB_KIND_LOG_COUNTS;
    if (are_multiples(look, 0) || (equal_totals(look) && look->high.value > 50))
        return RB_KIND_SCALED;
    if (are_logarithms(look)) return RB_KIND_LOG;
    return vary_by_times(look) && !own_units(look) ? RB_KIND_INTENSITIES : RB_KIND_MEASURES;
}

/* ---- what they want ---- */

/* The median of the samples' totals, and whether they differ twofold. */
static void find_totals(rb_look *look) {
    double *totals = rb_take(&look->scratch, look->looked, sizeof *totals);
    int64_t count = 0;
    for (int64_t j = 0; totals && j < look->looked; j++) {
        double total = rb_tally_mean(&look->samples[j]) * (double)look->samples[j].present;
        if (total > 0 && !rb_look_drops(look, j)) totals[count++] = total;
    }
    if (count == 0) return;
    rb_sort_numbers(totals, count);
    look->total = rb_quantile_of(totals, count, 0.5);
    double low = rb_quantile_of(totals, count, 0.05), high = rb_quantile_of(totals, count, 0.95);
    look->total_spread = high / low;
    look->totals = look->kind == RB_KIND_COUNTS && look->total_spread > RB_CHECK_TOTALS_SPREAD;
}

void rb_look_find_kind(rb_look *look) {
    find_quantiles(look);
    if (look->scratch.err) return;
    look->kind = kind_of(look);
    look->log1p = look->kind == RB_KIND_COUNTS || look->kind == RB_KIND_SCALED ||
                  look->kind == RB_KIND_INTENSITIES;
    find_totals(look);
}
