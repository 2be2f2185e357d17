/* Sentences about what was found. Every aspect has one, also where nothing is wrong. */
#include "check.h"

#include <math.h>
#include <stdio.h>

enum { FEW = 10, SOME = 30, WHO = 80 };
static const double heavy = 20, deep = 10, wide_scale = 100, missing_much = 0.2,
                    few_outliers = 0.02;

static double percent(double part, double whole) {
    return whole > 0 ? 100 * part / whole : 0;
}

static const char *plural(int64_t count) {
    return count == 1 ? "" : "s";
}

/* "'A12'", or "sample 12 (from 0)". */
static const char *quote(const rb_look *look, const char *name, const char *what, int64_t index,
                         char *text) {
    if (name)
        snprintf(text, WHO, "'%.60s'", name);
    else
        snprintf(text, WHO, "%s %lld (from %d)", what, (long long)rb_nth(look->ctx, index),
                 look->ctx->first);
    return text;
}

/* Of the j-th sample that was looked at. */
static const char *sample(const rb_look *look, int64_t j, char *text) {
    int64_t i = rb_look_sample(look, j);
    return quote(look, rb_source_sample_name(look->source, i), "sample", i, text);
}

static const char *feature(const rb_look *look, int64_t k, char *text) {
    return quote(look, rb_source_feature_name(look->source, k), "feature", k, text);
}

/* ---- what it is ---- */

static void say_kind(const rb_look *look, rb_check *check) {
    static const char *const words[] = {
        [RB_KIND_NONE] = "no values",
        [RB_KIND_COUNTS] = "counts: whole numbers",
        [RB_KIND_SCALED] = "counts scaled per sample (as CPM or TPM), not logarithms",
        [RB_KIND_LOG_COUNTS] = "logarithms of 1 + counts, scaled per sample",
        [RB_KIND_LOG] = "non-negative, on a scale like that of logarithms",
        [RB_KIND_INTENSITIES] =
            "non-negative with a wide range, not logarithms: intensities or amounts",
        [RB_KIND_MEASURES] =
            "non-negative, with a size that differs by feature: different units of measurement?",
        [RB_KIND_PIXELS] = "grey values of images",
        [RB_KIND_BINARY] = "only 0 and 1",
        [RB_KIND_FRACTIONS] = "fractions, between 0 and 1",
        [RB_KIND_Z] = "z-scores: each feature has mean 0 and standard deviation 1",
        [RB_KIND_STANDARDISED] =
            "standardised by sample: each sample has mean 0 and standard deviation 1",
        [RB_KIND_CENTRED] = "centred: each feature has mean 0",
        [RB_KIND_REAL] = "numbers of both signs, as log ratios are",
    };
    double all = (double)look->values, zeros = percent(all - (double)look->nonzeros, all);
    rb_check_find(check, "kind", RB_SEVERITY_FINE, zeros,
                  "the values are %s; from %.6g to %.6g, %.3g %% zeros, %s", words[look->kind],
                  look->low.value, look->high.value, zeros,
                  look->source->sparse ? "stored sparse" : "stored dense");
}

static void say_looked(const rb_look *look, rb_check *check) {
    if (look->looked < look->n)
        rb_check_find(check, "looked-at", RB_SEVERITY_NOTE, (double)look->looked,
                      "the data are large: %lld of %lld samples were examined, in %lld "
                      "stretches spread over the file; numbers refer to these",
                      (long long)look->looked, (long long)look->n, (long long)look->stretches);
}

static void say_unusable(const rb_look *look, rb_check *check) {
    char who[WHO], which[WHO];
    if (look->infinite > 0) {
        const char *name = rb_source_sample_name(look->source, look->infinite_sample);
        rb_check_find(check, "infinite", RB_SEVERITY_PROBLEM, (double)look->infinite,
                      "%lld value%s infinite, the first in %s, %s: a fit refuses them; look "
                      "for a division by 0 or a logarithm of 0",
                      (long long)look->infinite, look->infinite == 1 ? " is" : "s are",
                      quote(look, name, "sample", look->infinite_sample, who),
                      feature(look, look->infinite_feature, which));
    } else if (look->values == 0) {
        rb_check_find(check, "empty", RB_SEVERITY_PROBLEM, 0,
                      "there are no values in %lld samples x %lld features", (long long)look->n,
                      (long long)look->m);
    } else if (look->range_lost) {
        rb_check_find(
            check, "range", RB_SEVERITY_PROBLEM, look->high.value,
            "values from %.3g to %.3g are too large or too small to compute with: rescale them",
            look->low.value, look->high.value);
    }
}

static void say_orientation(const rb_look *look, rb_check *check) {
    const rb_naming *row = &look->row, *column = &look->column;
    if (look->across)
        rb_check_find(check, "orientation", RB_SEVERITY_PROBLEM, (double)row->genes,
                      "rows are named like genes ('%.60s'), columns are not: the table is "
                      "transposed, and rows would be taken for samples",
                      row->example);
    else if (look->may_be_across)
        rb_check_find(
            check, "orientation", RB_SEVERITY_NOTE, look->row_share,
            "rows differ more in level than columns (%.2g against %.2g of the variance) and are "
            "more numerous: are they features? Rows are taken for samples; turn the table by "
            "`transpose=true`, or back by `transpose=false`",
            look->row_share, look->column_share);
    else if (column->are_genes && !row->are_genes)
        rb_check_find(check, "orientation", RB_SEVERITY_FINE, (double)column->genes,
                      "rows are samples: columns are named like genes ('%.60s')", column->example);
    else
        rb_check_find(check, "orientation", RB_SEVERITY_FINE, NAN,
                      "rows are taken for samples; nothing suggests otherwise");
}

static void say_names_of(const rb_look *look, rb_check *check, const rb_naming *naming,
                         const char *what, const char *name) {
    if (!naming->there)
        rb_check_find(check, name, RB_SEVERITY_FINE, NAN,
                      "%ss have no names; results count them from %d", what, look->ctx->first);
    else if (naming->repeated > 0)
        rb_check_find(check, name, RB_SEVERITY_NOTE, (double)naming->repeated,
                      "%lld name%s of %ss occur%s more than once, such as '%.60s': they "
                      "cannot be told apart by name later",
                      (long long)naming->repeated, plural(naming->repeated), what,
                      naming->repeated == 1 ? "s" : "", naming->repeated_example);
    else if (naming->empty > 0)
        rb_check_find(check, name, RB_SEVERITY_NOTE, (double)naming->empty, "%lld %s%s no name",
                      (long long)naming->empty, what, naming->empty == 1 ? " has" : "s have");
    else
        rb_check_find(check, name, RB_SEVERITY_FINE, 0, "%ss have unique names", what);
}

static void say_names(const rb_look *look, rb_check *check) {
    say_names_of(look, check, &look->row, "sample", "sample-names");
    say_names_of(look, check, &look->column, "feature", "feature-names");
}

/* ---- how many ---- */

static void say_features(const rb_look *look, rb_check *check) {
    if (look->m == 1)
        rb_check_find(check, "few-features", RB_SEVERITY_PROBLEM, 1,
                      "there is only 1 feature: hidden causes are what features have in common");
}

static void say_size(const rb_look *look, rb_check *check) {
    bool picture = look->kind == RB_KIND_PIXELS;
    int64_t n = rb_look_kept(look);
    const char *which = n == look->n ? ""
                        : n == 1     ? " that is not constant"
                                     : " that are not constant";
    if (n == 0) return; /* which is said */
    if (n < SOME)
        rb_check_find(check, "few-samples", n < FEW ? RB_SEVERITY_PROBLEM : RB_SEVERITY_NOTE,
                      (double)n, "%lld sample%s%s %s: %s", (long long)n, n == 1 ? "" : "s", which,
                      n == 1 ? "is there" : "are few",
                      n == 1 && picture ? "an image is one sample; cut it into patches"
                      : n < FEW         ? "hidden causes cannot be told from chance"
                                        : "only strong causes shared by several of them can be "
                                          "found, and seeds will differ");
    else
        rb_check_find(check, "few-samples", RB_SEVERITY_FINE, (double)n,
                      "%lld samples%s are enough to begin with", (long long)n, which);
}

/* ---- missing values ---- */

/* The tally with the largest share of missing values; all_missing: how many have no value. */
static int64_t most_missing(const rb_tally *tallies, int64_t count, int64_t *all_missing) {
    int64_t most = 0;
    *all_missing = 0;
    for (int64_t i = 0; i < count; i++) {
        most = tallies[i].missing > tallies[most].missing ? i : most;
        *all_missing += tallies[i].missing > 0 && tallies[i].present == 0;
    }
    return most;
}

static double missing_percent(const rb_tally *t) {
    return percent((double)t->missing, (double)(t->missing + t->present));
}

static void say_missing(const rb_look *look, rb_check *check) {
    if (look->missing == 0) {
        rb_check_find(check, "missing", RB_SEVERITY_FINE, 0, "no value is missing");
        return;
    }
    char who[WHO], which[WHO];
    int64_t lost_samples, lost_features;
    int64_t j = most_missing(look->samples, look->looked, &lost_samples);
    int64_t k = most_missing(look->features, look->m, &lost_features);
    double share = (double)look->missing / (double)(look->missing + look->values);
    rb_check_find(check, "missing", share > missing_much ? RB_SEVERITY_PROBLEM : RB_SEVERITY_NOTE,
                  share, "%.3g %% of the values are missing; most in %s (%.3g %%) and %s (%.3g %%)",
                  100 * share, feature(look, k, which), missing_percent(&look->features[k]),
                  sample(look, j, who), missing_percent(&look->samples[j]));
    if (lost_features > 0) {
        rb_check_find(check, "features-without-values", RB_SEVERITY_PROBLEM, (double)lost_features,
                      "%lld feature%s no values, such as %s: remove them from the file",
                      (long long)lost_features, lost_features == 1 ? " has" : "s have", which);
    }
    if (lost_samples > 0) {
        rb_check_find(check, "samples-without-values", RB_SEVERITY_PROBLEM, (double)lost_samples,
                      "%lld sample%s no values, such as %s: "
                      "`drop-samples=constant` leaves them out",
                      (long long)lost_samples, lost_samples == 1 ? " has" : "s have", who);
    }
}

/* -999 far from all others. */
static bool is_stand_in(const rb_look *look, const rb_extreme *e, double sign) {
    static const double words[] = {99, 999, 9999, 99999, 999999};
    double spread = fabs(sign < 0 ? look->high.value - e->next : e->next - look->low.value);
    bool word = sign < 0 && e->value == -9;
    for (size_t w = 0; w < sizeof words / sizeof *words; w++)
        word |= e->value == sign * words[w];
    return word && isfinite(e->next) && fabs(e->value - e->next) > 3 * spread && look->distinct > 2;
}

static void say_stand_ins(const rb_look *look, rb_check *check) {
    const rb_extreme *e = is_stand_in(look, &look->low, -1)   ? &look->low
                          : is_stand_in(look, &look->high, 1) ? &look->high
                                                              : NULL;
    if (e)
        rb_check_find(check, "stand-in", RB_SEVERITY_PROBLEM, e->value,
                      "%lld value%s %g, far from all others: it seems to mark missing values; "
                      "for text files name it with `missing-words`",
                      (long long)e->count, e->count == 1 ? " is" : "s are", e->value);
}

/* ---- constant and equal ---- */

typedef struct constants {
    int64_t count, zero, first;
} constants;

static constants find_constant(const rb_tally *tallies, int64_t count) {
    constants c = {0, 0, -1};
    for (int64_t i = 0; i < count; i++) {
        const rb_tally *t = &tallies[i];
        if (t->present == 0 || t->low < t->high) continue;
        if (c.count++ == 0) c.first = i;
        c.zero += t->low == 0;
    }
    return c;
}

static void say_constant(const rb_look *look, rb_check *check) {
    char text[WHO], zero[64] = "";
    constants f = find_constant(look->features, look->m);
    if (f.zero > 0) snprintf(zero, sizeof zero, ", %lld of them 0", (long long)f.zero);
    constants r = find_constant(look->samples, look->looked);
    if (f.count > 0 && look->looked > 1) {
        rb_check_find(check, "constant-features",
                      f.count == look->m ? RB_SEVERITY_PROBLEM : RB_SEVERITY_NOTE, (double)f.count,
                      "%lld of %lld features %s the same in all samples%s, such as %s: they carry "
                      "no information but cost time; `drop=constant` leaves them out",
                      (long long)f.count, (long long)look->m, f.count == 1 ? "is" : "are", zero,
                      feature(look, f.first, text));
    }
    if (r.count > 0 && look->m > 1) {
        rb_check_find(check, "constant-samples", RB_SEVERITY_PROBLEM, (double)r.count,
                      "%lld sample%s one value throughout, such as %s (%lld are 0 "
                      "throughout): empty or not measured; `drop-samples=constant` leaves "
                      "them out",
                      (long long)r.count, r.count == 1 ? " has" : "s have",
                      sample(look, r.first, text), (long long)r.zero);
    }
}

static void say_same(const rb_look *look, rb_check *check) {
    char one[WHO], other[WHO];
    if (look->same_samples > 0) {
        rb_check_find(
            check, "duplicate-samples", RB_SEVERITY_PROBLEM, (double)look->same_samples,
            "%lld sample%s the same values as another one, such as %s and %s: a fit would find a "
            "cause for them, and held-out samples would not be new; "
            "`drop-samples=duplicates` keeps the first of each",
            (long long)look->same_samples, look->same_samples == 1 ? " has" : "s have",
            sample(look, look->same[0], one), sample(look, look->same[1], other));
    } else { /* of constant ones something else is said */
        int64_t constant = find_constant(look->samples, look->looked).count;
        if (look->looked - constant > 1)
            rb_check_find(check, "duplicate-samples", RB_SEVERITY_FINE, 0,
                          "no two samples are the same");
    }
    if (look->near_samples > 0) {
        rb_check_find(check, "near-duplicates", RB_SEVERITY_NOTE, (double)look->near_samples,
                      "%lld of %lld samples %s nearly the same as another one (correlation "
                      "above 0.999 of standardised features), such as %s and %s: replicates?",
                      (long long)look->near_samples, (long long)look->part_n,
                      look->near_samples == 1 ? "is" : "are", sample(look, look->near[0], one),
                      sample(look, look->near[1], other));
    }
    if (look->same_features > 0) {
        rb_check_find(
            check, "duplicate-features", RB_SEVERITY_NOTE, (double)look->same_features,
            "%lld feature%s the same values as another one, such as %s and %s: they count "
            "twice; `drop=duplicates` keeps the first of each",
            (long long)look->same_features, look->same_features == 1 ? " has" : "s have",
            feature(look, look->same_feature[0], one), feature(look, look->same_feature[1], other));
    }
}

/* ---- samples that stand out ---- */

/* "'A1', 'A2', 'A3', ..." */
enum { LIST = RB_CHECK_SHOWN * (WHO + 4) + 8 };
static const char *list_samples(const rb_look *look, const rb_outliers *o, char list[LIST]) {
    size_t used = 0;
    char who[WHO];
    for (int64_t i = 0; i < o->count && i < RB_CHECK_SHOWN; i++)
        used += (size_t)snprintf(list + used, LIST - used, "%s%s", i ? ", " : "",
                                 sample(look, o->shown[i], who));
    if (o->count > RB_CHECK_SHOWN) snprintf(list + used, LIST - used, ", ...");
    return list;
}

/* More than a few are no outliers: the samples are of several kinds. */
static bool are_few(const rb_outliers *o, int64_t samples) {
    return o->count > 0 && (double)o->count <= fmax(1, few_outliers * (double)samples);
}

static void say_outliers(const rb_look *look, rb_check *check) {
    const rb_outliers *total = &look->by_total, *alone = &look->alone;
    bool odd = are_few(total, look->looked), far = alone->count > 0;
    char list[LIST];
    if (far) {
        rb_check_find(check, "outliers", RB_SEVERITY_NOTE, (double)alone->count,
                      "%lld sample%s far from all others: %s (leverage %.2g of 1 on the principal "
                      "components); a fit may spend a unit on each",
                      (long long)alone->count, alone->count == 1 ? " is" : "s are",
                      list_samples(look, alone, list), alone->z[0]);
    }
    if (odd) {
        rb_check_find(
            check, "odd-totals", RB_SEVERITY_NOTE, (double)total->count,
            "%lld sample%s from the others in the mean of %s values: %s (%.3g robust standard "
            "deviations); measured differently?",
            (long long)total->count, total->count == 1 ? " differs" : "s differ",
            total->count == 1 ? "its" : "their", list_samples(look, total, list), total->z[0]);
    }
    if (!odd && !far)
        rb_check_find(check, "outliers", RB_SEVERITY_FINE, 0, "no sample is far from all others");
}

/* ---- scales ---- */

/* Where all others are alike. */
static void say_widest(const rb_look *look, rb_check *check) {
    char who[WHO];
    if (look->log1p || look->sd_spread > wide_scale || !(look->widest_sds > wide_scale)) return;
    rb_check_find(check, "wide-feature", RB_SEVERITY_NOTE, look->widest_sds,
                  "the standard deviation of %s is %.3g times the median one%s",
                  feature(look, look->widest, who), look->widest_sds,
                  look->one_value ? ", by one value: a wrong one?"
                                  : ": another unit of measurement?");
}

static void say_scales(const rb_look *look, rb_check *check) {
    bool counted = look->kind == RB_KIND_COUNTS && look->total > 0;
    const char *words =
        look->total_spread > deep
            ? "; those of less than a third of the median may make modules by themselves: leave "
              "them out, and make totals equal"
        : look->totals ? ": unless totals are made equal, depth is the first cause found"
                       : "";
    if (counted) {
        rb_check_find(
            check, "library-sizes", look->totals ? RB_SEVERITY_NOTE : RB_SEVERITY_FINE,
            look->total_spread,
            "the median total of a sample is %.6g counts; 90 %% of the samples lie within a factor "
            "of %.3g%s",
            look->total, look->total_spread, words);
    }
    if (look->sd_spread > 0) {
        bool wide = look->sd_spread > wide_scale;
        rb_check_find(check, "scales", wide ? RB_SEVERITY_NOTE : RB_SEVERITY_FINE, look->sd_spread,
                      "standard deviations of features%s lie within a factor of %.3g%s",
                      look->log1p ? ", of logarithms," : "", look->sd_spread,
                      wide ? ": different units of measurement?" : "");
    }
    if (look->kurtosis > heavy) {
        rb_check_find(check, "tails", RB_SEVERITY_NOTE, look->kurtosis,
                      "features have heavy tails (median excess kurtosis %.3g): a few large "
                      "values dominate; should they be logarithms?",
                      look->kurtosis);
    }
}

/* ---- blocks ---- */

static void say_neighbours(const rb_look *look, rb_check *check) {
    const rb_neighbours *found = &look->neighbours;
    char text[512];
    if (found->unlike)
        rb_print(text, sizeof text,
                 "samples next to each other in the file are less alike than others (mean cosine "
                 "%.2g; of others %.2g): do two batches alternate? A batch would be found as a "
                 "cause",
                 found->next, found->others);
    else if (found->alike)
        rb_neighbours_say(found, text, sizeof text);
    else
        return; /* say_break does */
    rb_check_find(check, "neighbours", RB_SEVERITY_NOTE, found->next, "%s", text);
}

static void say_break(const rb_look *look, rb_check *check) {
    const rb_neighbours *found = &look->neighbours;
    char last[WHO], next[WHO];
    if (look->break_at < 0 || found->serial) { /* any cut parts a series */
        rb_check_find(
            check, "blocks", RB_SEVERITY_FINE, 0, "the order of the samples has no break%s",
            found->alike || found->unlike ? "" : ", and neighbours are no more alike than others");
        return;
    }
    rb_check_find(
        check, "blocks", RB_SEVERITY_NOTE, look->break_share,
        "samples up to %s differ from those from %s on (%.2g of the variance of principal "
        "component %d): sorted by class, or two batches? A batch would be found as a cause",
        sample(look, look->part_samples[look->break_at - 1], last),
        sample(look, look->part_samples[look->break_at], next), look->break_share,
        look->break_component + 1);
}

static void say_groups(const rb_look *look, rb_check *check) {
    char list[RB_CHECK_SHOWN * 40] = "";
    size_t used = 0;
    if (look->n_groups == 0) return;
    for (int64_t g = 0; g < look->n_groups && g < RB_CHECK_SHOWN; g++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s'%s'", g ? ", " : "",
                                 look->groups[g]);
    rb_check_find(check, "name-groups", RB_SEVERITY_NOTE, look->group_share,
                  "names %s with %lld groups (%s%s) that differ (%.2g of the variance of "
                  "principal component %d): classes or batches?",
                  look->group_where, (long long)look->n_groups, list,
                  look->n_groups > RB_CHECK_SHOWN ? ", ..." : "", look->group_share,
                  look->group_component + 1);
}

static void say_components(const rb_look *look, rb_check *check) {
    bool all = look->above_chance == RB_CHECK_COMPONENTS;
    if (look->n_components > 0 && look->above_chance == 0)
        rb_check_find(check, "structure", RB_SEVERITY_PROBLEM, 0,
                      "no principal component is larger than in data with permuted "
                      "features: what features share, if anything, is hidden in noise, or is in "
                      "few samples");
    else if (look->n_components > 0)
        rb_check_find(check, "structure", RB_SEVERITY_FINE, (double)look->above_chance,
                      "%lld%s principal component%s larger than in data with permuted features; "
                      "the first explains %.3g %% of the variance",
                      (long long)look->above_chance, all ? " or more" : "",
                      look->above_chance == 1 ? " is" : "s are", 100 * look->components[0]);
}

static void say_level(const rb_look *look, rb_check *check) {
    if (look->above_chance == 0) return;
    if (!rb_look_shares_level(look))
        rb_check_find(check, "sample-level", RB_SEVERITY_FINE, look->level_correlation,
                      "no level that all features share dominates");
    else
        rb_check_find(check, "sample-level", RB_SEVERITY_PROBLEM, look->level_correlation,
                      "principal component %d is the level of the samples (correlation %.2g with "
                      "their means; %.3g %% of the features rise together), with %.3g %% of the "
                      "variance: a fit would find brightness, depth or a plate effect as a cause; "
                      "%s",
                      look->level_component + 1, look->level_correlation, 100 * look->level_sign,
                      100 * look->components[look->level_component],
                      look->source->sparse ? "convert the data to a dense format, then set "
                                             "`centre-samples` to median"
                                           : "set `centre-samples` to median");
}

void rb_check_say(const rb_look *look, rb_check *check) {
    static void (*const usable[])(const rb_look *look, rb_check *check) = {
        say_kind,     say_orientation, say_stand_ins, say_missing,  say_same,   say_constant,
        say_outliers, say_components,  say_level,     say_widest,   say_scales, say_groups,
        say_break,    say_neighbours,  say_size,      say_features, say_names,  say_looked};
    bool possible = look->values > 0 && look->infinite == 0 && !look->range_lost;
    say_unusable(look, check);
    for (size_t i = 0; possible && i < sizeof usable / sizeof *usable; i++)
        usable[i](look, check);
}
