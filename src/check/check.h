/* What a look at data collects, and who says what of it; private to src/check.
 *
 * walk.c looks at every value once and keeps a part of the samples; kind.c says what
 * the values are, names.c what the names are, structure.c how samples of the part lie
 * to each other; say.c makes sentences of it, and advice.c a fit. */
#pragma once

#include "modules/modules.h"
#include <rarebit/check.h>

/* What is known of the values of a sample, or of a feature. */
typedef struct rb_tally {
    int64_t present, missing, nonzeros; /* present: zeros that are not stored, too */
    double shift, sum, squares;         /* of value - shift */
    double low, high;                   /* infinite while nothing is present */
    uint64_t hash;                      /* of the values that are not 0, with their places */
} rb_tally;

double rb_tally_mean(const rb_tally *t); /* NaN: no value */
double rb_tally_sd(const rb_tally *t);   /* 1/n */

/* The least value of all, or the largest: how often, and the one next to it. */
typedef struct rb_extreme {
    double value, next;
    int64_t count;
} rb_extreme;

typedef enum rb_kind {
    RB_KIND_NONE = 0,
    RB_KIND_COUNTS,
    RB_KIND_SCALED,
    RB_KIND_LOG_COUNTS,
    RB_KIND_LOG,
    RB_KIND_INTENSITIES,
    RB_KIND_MEASURES,
    RB_KIND_PIXELS,
    RB_KIND_BINARY,
    RB_KIND_FRACTIONS,
    RB_KIND_Z,
    RB_KIND_STANDARDISED,
    RB_KIND_CENTRED,
    RB_KIND_REAL
} rb_kind;

/* What the names of samples, or of features, look like. */
typedef struct rb_naming {
    bool there;
    int64_t genes; /* those that look like genes by themselves */
    bool are_genes;
    int64_t repeated, empty;
    const char *example, *repeated_example; /* a gene; a name that stands more than once */
} rb_naming;

enum {
    RB_CHECK_COMPONENTS = 40,
    RB_CHECK_LED = 3,
    RB_CHECK_GROUPS = 20,
    RB_CHECK_SHOWN = 3,
    RB_CHECK_TOTALS_SPREAD = 2
};

/* Samples that stand out, the farthest first; places among those looked at. */
typedef struct rb_outliers {
    int64_t count, shown[RB_CHECK_SHOWN];
    double z[RB_CHECK_SHOWN];
} rb_outliers;

typedef struct rb_look {
    int64_t units; /* of the fit that is advised; 0: as many as seem right */
    uint64_t seed;
    rb_context *ctx;
    rb_source *source;
    rb_scratch scratch;
    int64_t n, looked, stretches; /* samples; those looked at, in so many stretches */
    int64_t m;                    /* features */
    int64_t dropped;              /* samples looked at of one value, which say nothing */
    rb_tally *samples, *features; /* looked; m */
    int64_t values, missing, infinite, nonzeros, whole; /* whole: numbers without a fraction */
    int64_t infinite_sample, infinite_feature;          /* the first */
    rb_extreme low, high;
    bool range_lost; /* values are too large or too small to compute with */
    int distinct;    /* values that differ, up to 3 */
    double seen[2];
    rb_kind kind;
    bool log1p, totals;         /* what the values want */
    double total, total_spread; /* of the samples: median; 0.95 quantile over 0.05 quantile */
    rb_naming row, column;
    double row_share, column_share; /* of the variance that is between rows, and columns */
    bool across, may_be_across;
    /* the part: some of the samples looked at that are not dropped, and of the features, dense */
    int64_t part_n, part_kept, part_m;     /* part_kept: samples, while the walk adds them */
    int64_t part_used;                     /* of the features, those that differ among samples */
    int64_t part_step;                     /* 1: all samples in order; 2: pairs of neighbours */
    int64_t *part_samples, *part_features; /* part_samples: places among those looked at */
    double *part;                          /* part_n x part_m */
    double quantiles[5];                   /* of the values: 0.01, 0.25, 0.5, 0.75, 0.99 */
    double kurtosis;   /* median over features that are mostly not 0, in excess */
    double sd_spread;  /* of features: 0.95 quantile over 0.05 quantile */
    int64_t widest;    /* the feature of the largest standard deviation, of values as they are */
    double widest_sds; /* in those of the median feature */
    bool one_value;    /* nearly all of it is that of one value */
    double components[RB_CHECK_COMPONENTS]; /* shares of the variance */
    int64_t n_components, above_chance;
    int level_component; /* of the first few, what goes most with the means of samples */
    double level_correlation, level_sign; /* of it, with them; the share of features whose loadings
                                             have the sign of most */
    double *scores;                       /* part_n x RB_CHECK_LED */
    /* found */
    int64_t same_samples, same_features, near_samples;
    int64_t same[2], same_feature[2], near[2]; /* the first pair of each */
    rb_outliers by_total, alone;
    int64_t break_at; /* place in the part; -1: none */
    int break_component;
    double break_share;
    rb_neighbours neighbours;
    int64_t n_groups; /* by names; 0: none that differ */
    char groups[RB_CHECK_SHOWN][32];
    const char *group_where; /* "begin", "end" */
    double group_share;
    int group_component;
} rb_look;

/* Place among all samples of the j-th that was looked at. */
int64_t rb_look_sample(const rb_look *look, int64_t j);
/* Is it of one value, as empty ones are, so that the advised fit leaves it out? Pictures stay. */
bool rb_look_drops(const rb_look *look, int64_t j);
/* How many of all samples stay, by those that were looked at; of pixels all. */
int64_t rb_look_kept(const rb_look *look);
bool rb_is_picture(const rb_source *source); /* kind.c */

rb_error rb_look_walk(rb_look *look, int64_t max_samples); /* walk.c */
void rb_look_find_kind(rb_look *look);                     /* kind.c */
const char *rb_kind_name(rb_kind kind);
rb_error rb_look_names(rb_look *look);       /* names.c */
rb_error rb_look_orient(rb_look *look);      /* orient.c */
rb_error rb_look_find_groups(rb_look *look); /* groups.c */
rb_error rb_look_structure(rb_look *look);   /* structure.c */
/* Is one of the first components a level that all features of a sample share? */
bool rb_look_shares_level(const rb_look *look);
rb_error rb_look_find_same(rb_look *look); /* same.c */

/* Ranks of the samples of the part by their scores, into a ranking that was begun for them. */
rb_error rb_look_rank(const rb_look *look, int component, rb_ranking *ranking);

void rb_outliers_add(rb_outliers *found, int64_t place, double z);
/* |value - median| in units of 1.4826 MAD: values beyond `limit`, by place. */
rb_error rb_find_outliers(rb_look *look, const double *values, const int64_t *places, int64_t count,
                          double limit, rb_outliers *found);
rb_error rb_find_widest(rb_look *look);

struct rb_check {
    rb_context *ctx;
    rb_error err; /* the first of what follows */
    rb_finding *findings;
    int64_t n_findings, findings_held;
    rb_advice *advice;
    int64_t n_advice, advice_held;
    const char *method, *kind; /* constants */
    char *method_reason;
    bool across;
    int64_t looked;
};

void rb_check_say(const rb_look *look, rb_check *check);    /* say.c */
void rb_check_advise(const rb_look *look, rb_check *check); /* advice.c */
void rb_check_find(rb_check *check, const char *name, rb_severity severity, double value,
                   const char *format, ...) RB_PRINTF(5, 6);
void rb_check_add(rb_check *check, const char *option, const char *value, const char *format, ...)
    RB_PRINTF(4, 5);
