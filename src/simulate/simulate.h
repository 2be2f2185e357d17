/* The face of src/simulate: generators of data with planted causes. */
#pragma once

#include "modules/modules.h"
#include <rarebit/simulate.h>

#pragma GCC visibility push(default) /* for the libraries above: cmake/Libraries.cmake */

/* How the entries of one vector of a bicluster are drawn. */
typedef struct rb_vector_law {
    double rest_sd;   /* entries that do not belong: N(0, rest_sd^2) */
    double mean, sd;  /* those that belong: N(mean, sd^2) */
    bool random_sign; /* and their sign is flipped with probability 1/2 */
} rb_vector_law;

/* Biclusters of one size: how many, and how many samples and features each is given, uniformly,
 * ends included. */
typedef struct rb_bicluster_group {
    int64_t count;
    int64_t min_samples, max_samples;
    int64_t min_features, max_features;
} rb_bicluster_group;

/* Data as a sum over biclusters of (sample vector)(feature vector)', or on its members of (sample
 * vector) 1' + 1 (feature vector)', and noise N(0, noise_sd^2). */
typedef struct rb_bicluster_plan {
    int64_t n_samples, n_features; /* at least 1 */
    rb_bicluster_group groups[2];
    rb_vector_law sample_law, feature_law;
    bool replacement; /* members are drawn with replacement: a bicluster may be smaller */
    bool additive;    /* the second form; what rest_sd says is left out */
    bool disjoint;    /* no sample and no feature has two biclusters: late ones may be smaller */
    double noise_sd;
    uint64_t seed;
} rb_bicluster_plan;

/* The RFN paper's data set D1 .. D9 (1 .. 9), and the FABIA paper's data. Sizes of biclusters are
 * shares of samples and features; with the papers' shapes they are the papers' sizes. */
rb_bicluster_plan rb_plan_rfn(int dataset, double rest_sd, int64_t n_samples, int64_t n_features);
rb_bicluster_plan rb_plan_fabia(int64_t n_samples, int64_t n_features);

/* What comparisons of biclustering methods plant: generate_biclusters.c. */
typedef enum rb_pattern {
    RB_PATTERN_CONSTANT = 0,
    RB_PATTERN_SHIFT,
    RB_PATTERN_SCALE,
    RB_PATTERN_PLAID
} rb_pattern;
rb_bicluster_plan rb_plan_pattern(rb_pattern pattern, int64_t n_samples, int64_t n_features);

/* Makes the float64 matrix and what is planted in it, members ascending; nothing is left behind on
 * failure. */
rb_error rb_generate_biclusters(rb_context *ctx, const rb_bicluster_plan *plan, rb_matrix **matrix,
                                rb_modules **planted);

/* Pictures of size x size pixels with bars, `width` pixels wide, across the whole picture. */
typedef struct rb_bars_plan {
    int64_t size, width; /* 1 <= width <= size */
    double value;        /* of a bar's pixels; the others are 0 */
    bool maximum;        /* where bars cross: the largest value, else their sum */
    bool signs;          /* every second bar has -value */
    double probability;  /* of each bar, independently */
    double noise_sd;
    int64_t n_samples;
    uint64_t seed;
    int64_t heights; /* from 2 on: a bar in a sample has 1 .. heights times the value, all as
                      * likely */
} rb_bars_plan;

/* 2 (size - width + 1). */
int64_t rb_bars_count(int64_t size, int64_t width);

/* Makes float64 matrices: the bars alone, bars x pixels; which of them are in which sample, samples
 * x bars, 0 or a height; the samples, samples x pixels. Nothing is left behind on failure. */
rb_error rb_generate_bars(rb_context *ctx, const rb_bars_plan *plan, rb_matrix **matrix,
                          rb_matrix **fields, rb_matrix **states);

/* Counts of cells of several types, some of them rare: generate_cells.c. */
enum { RB_CELL_TYPES_MAX = 64 };
typedef struct rb_cells_plan {
    int64_t n_samples, n_features;
    double shares[RB_CELL_TYPES_MAX]; /* of the cells; the first has what the others leave */
    int n_types;
    double counts;                       /* of a cell, on average */
    double probability, location, scale; /* that a gene differs; of the logarithm of its factor */
    uint64_t seed;
} rb_cells_plan;
/* Makes float64 counts and a module for each type: its cells, and the genes of which it has more.
 * Nothing is left behind on failure. */
rb_error rb_generate_cells(rb_context *ctx, const rb_cells_plan *plan, rb_matrix **matrix,
                           rb_modules **planted);

/* ---- the structs behind the option groups: the rows say more ---- */

/* From RB_GENERATOR_PATTERNS on the patterns, in their order. */
typedef enum rb_generator {
    RB_GENERATOR_RFN = 0,
    RB_GENERATOR_FABIA,
    RB_GENERATOR_PATTERNS
} rb_generator;

typedef struct rb_biclusters_options {
    int generator; /* rb_generator */
    const char *dataset;
    double rest_sd;
    int64_t samples, features; /* 0: as the generator's paper has it */
    double noise;              /* below 0: as the data set has it */
    int64_t seed;
} rb_biclusters_options;

typedef struct rb_cells_options {
    int64_t samples, features, seed;
    const char *types;
    double counts, probability, location, scale;
} rb_cells_options;

typedef enum rb_bar_style { RB_BARS_LINEAR = 0, RB_BARS_MAX, RB_BARS_SIGNED } rb_bar_style;

typedef struct rb_bars_options {
    rb_bars_plan plan; /* but maximum and signs, which the style says */
    int style;         /* rb_bar_style */
    int64_t bars;      /* 0, or 2 (size - width + 1): there are no others */
} rb_bars_options;

#pragma GCC visibility pop
