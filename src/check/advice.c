/* The fit to begin with. docs/howto/check.md has the rules. */
#include "check.h"

#include <stdio.h>

enum { MIN_UNITS = 2, FEW_UNITS = 10, MAX_UNITS = 40, MANY_FEATURES = 10000, KEPT_FEATURES = 5000 };
static const double wide_scale = 100, missing_many = 0.05;

/* A quarter more than the principal components above chance; but small causes show in none. */
static void advise_units(const rb_look *look, rb_check *check) {
    char text[32];
    if (look->units > 0) {
        snprintf(text, sizeof text, "%lld", (long long)look->units);
        rb_check_add(check, "units", text, "as asked for");
        return;
    }
    int64_t found = look->above_chance, more = (5 * found + 3) / 4;
    int64_t least = rb_smaller(FEW_UNITS, look->m), by_samples = rb_look_kept(look) / 5;
    int64_t wanted = more < least ? least : more, k = rb_smaller(wanted, MAX_UNITS);
    char at_least[48] = "", at_most[64] = "";
    if (more < least) snprintf(at_least, sizeof at_least, ", and at least %lld", (long long)least);
    if (k < wanted) snprintf(at_most, sizeof at_most, ", and at most %d", MAX_UNITS);
    if (by_samples < k) {
        k = by_samples < MIN_UNITS ? MIN_UNITS : by_samples;
        snprintf(at_most, sizeof at_most, ", but of so few samples %lld", (long long)k);
    }
    snprintf(text, sizeof text, "%lld", (long long)k);
    rb_check_add(check, "units", text,
                 "a start: a quarter more than the principal components above chance, "
                 "%lld%s%s; surplus units are removed",
                 (long long)found, at_least, at_most);
}

static const char *which_of(bool constant, bool same) {
    return !same ? "constant" : !constant ? "duplicates" : "duplicates,constant";
}

/* Of pictures every pixel is needed. */
static void advise_drop(const rb_look *look, rb_check *check) {
    bool constant = false, same = look->same_features > 0;
    for (int64_t k = 0; k < look->m && !constant; k++)
        constant = look->features[k].low == look->features[k].high;
    if (look->kind == RB_KIND_PIXELS || !(constant || same)) return;
    rb_check_add(check, "drop", which_of(constant, same), "%s%s%s",
                 constant ? "constant features carry no information" : "",
                 constant && same ? ", and " : "", same ? "equal features count once" : "");
}

static void advise_drop_samples(const rb_look *look, rb_check *check) {
    bool constant = look->dropped > 0, same = look->same_samples > 0;
    if (look->kind == RB_KIND_PIXELS || !(constant || same)) return;
    rb_check_add(check, "drop-samples", which_of(constant, same), "%s%s%s",
                 constant ? "constant samples are empty or were not measured" : "",
                 constant && same ? ", and " : "", same ? "equal samples count once" : "");
}

static void advise_values(const rb_look *look, rb_check *check) {
    char text[32];
    if (look->totals) {
        rb_check_add(check, "totals", "median",
                     "samples differ in depth by a factor of %.3g; all get their median total",
                     look->total_spread);
    }
    if (look->log1p) {
        rb_check_add(check, "log1p", "true",
                     look->kind == RB_KIND_INTENSITIES
                         ? "the values are not logarithms and span orders of magnitude"
                         : "the variance of log counts depends little on their mean");
    }
    if (rb_look_shares_level(look) && !look->source->sparse) {
        rb_check_add(check, "centre-samples", "median",
                     "a level that all features of a sample share is not a cause");
    }
    advise_drop(look, check);
    advise_drop_samples(look, check);
    if (look->m > MANY_FEATURES && look->log1p) {
        snprintf(text, sizeof text, "%d", KEPT_FEATURES);
        rb_check_add(check, "top-variance", text,
                     "most of the %lld features vary little but cost time", (long long)look->m);
    }
    if (look->sd_spread > wide_scale) {
        rb_check_add(check, "scale", "sd",
                     "standard deviations of features differ by a factor of %.3g", look->sd_spread);
    }
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

static void advise_missing(const rb_look *look, bool binary, rb_check *check) {
    double share = (double)look->missing / (double)(look->missing + look->values);
    bool many = !binary && share > missing_many;
    rb_check_add(check, "missing",
                 binary ? "omit"
                 : many ? "model"
                        : "mean",
                 binary ? "missing values are left out"
                 : many ? "many values are missing: the model integrates over them"
                        : "missing values become the mean of their feature");
}

void rb_check_advise(const rb_look *look, rb_check *check) {
    bool binary = look->kind == RB_KIND_BINARY;
    const rb_method *method =
        rb_method_advised(look->ctx, binary ? RB_ADVISED_BINARY : RB_ADVISED_NUMBERS);
    if (!method || !possible(look)) return;
    check->method = method->name;
    check->method_reason = rb_copy_text(look->ctx, method->advised_why);
    if (!check->method_reason) check->err = RB_ERROR_MEMORY;
    advise_units(look, check);
    advise_values(look, check);
    if (look->missing > 0) advise_missing(look, binary, check);
    rb_check_add(check, "seed", "1", "the same numbers in every run");
}
