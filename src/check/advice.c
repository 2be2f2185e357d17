/* The fit to begin with. docs/howto/check.md has the rules. */
#include "check.h"

#include <math.h>
#include <stdio.h>

enum { MIN_UNITS = 2, MAX_UNITS = 40, MANY_FEATURES = 10000, KEPT_FEATURES = 5000 };
static const double wide_scale = 100, missing_many = 0.05;

/* Two digits of it: 4312 becomes 4300. */
static double rounded(double value) {
    double step = pow(10, floor(log10(value)) - 1);
    return value >= 10 ? round(value / step) * step : value;
}

/* A quarter more than the principal components above chance. */
static rb_error advise_units(const rb_look *look, rb_check *check) {
    char text[32];
    if (look->units > 0) {
        snprintf(text, sizeof text, "%lld", (long long)look->units);
        return rb_check_add(look->ctx, check, "units", text, "as asked for");
    }
    int64_t few = look->n / 5, most = few < MAX_UNITS ? few : MAX_UNITS;
    int64_t found = look->above_chance, k = (5 * found + 3) / 4;
    most = most < MIN_UNITS ? MIN_UNITS : most;
    const char *bound = k < MIN_UNITS       ? ", and at least 2"
                        : k <= most         ? ""
                        : most == MAX_UNITS ? ", and at most 40"
                                            : ", and at most one for every five samples";
    k = k < MIN_UNITS ? MIN_UNITS : k > most ? most : k;
    snprintf(text, sizeof text, "%lld", (long long)k);
    return rb_check_add(look->ctx, check, "units", text,
                        "a start: a quarter more than the principal components above chance, "
                        "%lld%s; surplus units are removed",
                        (long long)found, bound);
}

static const char *which_of(bool constant, bool same) {
    return !same ? "constant" : !constant ? "duplicates" : "duplicates,constant";
}

/* Of pictures every pixel is needed. */
static rb_error advise_drop(const rb_look *look, rb_check *check) {
    bool constant = false, same = look->same_features > 0;
    for (int64_t k = 0; k < look->m && !constant; k++)
        constant = look->features[k].low == look->features[k].high;
    if (look->kind == RB_KIND_PIXELS || !(constant || same)) return RB_OK;
    return rb_check_add(look->ctx, check, "drop", which_of(constant, same), "%s%s%s",
                        constant ? "constant features carry no information" : "",
                        constant && same ? ", and " : "", same ? "equal features count once" : "");
}

static rb_error advise_drop_samples(const rb_look *look, rb_check *check) {
    bool constant = false, same = look->same_samples > 0;
    for (int64_t j = 0; j < look->looked && !constant; j++)
        constant = !(look->samples[j].low < look->samples[j].high);
    if (look->kind == RB_KIND_PIXELS || look->m < 2 || !(constant || same)) return RB_OK;
    return rb_check_add(look->ctx, check, "drop-samples", which_of(constant, same), "%s%s%s",
                        constant ? "constant samples are empty or were not measured" : "",
                        constant && same ? ", and " : "", same ? "equal samples count once" : "");
}

static rb_error advise_values(const rb_look *look, rb_check *check) {
    char text[32];
    rb_error err = RB_OK;
    if (look->totals) {
        rb_print(text, sizeof text, "%.10g", rounded(look->total));
        err =
            rb_check_add(look->ctx, check, "totals", text,
                         "samples differ in depth by a factor of %.3g; this is their median total",
                         look->total_spread);
    }
    if (!err && look->log1p) {
        err = rb_check_add(look->ctx, check, "log1p", "true",
                           look->kind == RB_KIND_INTENSITIES
                               ? "the values are not logarithms and span orders of magnitude"
                               : "the variance of log counts depends little on their mean");
    }
    if (!err && rb_look_shares_level(look) && !look->source->sparse) {
        err = rb_check_add(look->ctx, check, "centre-samples", "median",
                           "a level that all features of a sample share is not a cause");
    }
    if (!err) err = advise_drop(look, check);
    if (!err) err = advise_drop_samples(look, check);
    if (!err && look->m > MANY_FEATURES && look->log1p) {
        snprintf(text, sizeof text, "%d", KEPT_FEATURES);
        err =
            rb_check_add(look->ctx, check, "top-variance", text,
                         "most of the %lld features vary little but cost time", (long long)look->m);
    }
    if (!err && look->sd_spread > wide_scale) {
        err = rb_check_add(look->ctx, check, "scale", "sd",
                           "standard deviations of features differ by a factor of %.3g",
                           look->sd_spread);
    }
    return err;
}

static bool all_lost(const rb_tally *tallies, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (tallies[i].present == 0) return true;
    return false;
}

/* Can anything be fitted as the data are? */
static bool possible(const rb_look *look) {
    return look->values > 0 && look->infinite == 0 && !look->range_lost && look->n > 1 &&
           look->m > 1 && look->part_used > 0 && !all_lost(look->features, look->m);
}

static rb_error advise_missing(const rb_look *look, bool binary, rb_check *check) {
    double share = (double)look->missing / (double)(look->missing + look->values);
    bool many = !binary && share > missing_many;
    return rb_check_add(look->ctx, check, "missing",
                        binary ? "omit"
                        : many ? "model"
                               : "mean",
                        binary ? "missing values are left out"
                        : many ? "many values are missing: the model integrates over them"
                               : "missing values become the mean of their feature");
}

rb_error rb_check_advise(const rb_look *look, rb_check *check) {
    bool binary = look->kind == RB_KIND_BINARY;
    const rb_method *method =
        rb_method_advised(look->ctx, binary ? RB_ADVISED_BINARY : RB_ADVISED_NUMBERS);
    if (!method || !possible(look)) return RB_OK;
    check->method = method->name;
    check->method_reason = rb_copy_text(look->ctx, method->advised_why);
    rb_error err = check->method_reason ? advise_units(look, check) : RB_ERROR_MEMORY;
    err = err ? err : advise_values(look, check);
    if (!err && look->missing > 0) err = advise_missing(look, binary, check);
    if (!err) err = rb_check_add(look->ctx, check, "seed", "1", "the same numbers in every run");
    return err;
}
