/* The structs behind the option groups of modules, simulations and denoising. */
#ifndef ANALYSIS_OPTIONS_H
#define ANALYSIS_OPTIONS_H

#include <rarebit/options.h>

typedef struct rb_modules_options {
    const char *rule; /* "nonzero", "fabia", "active", "top:N", "mass:F"; NULL: "active" for binary
                         causes, "fabia" for sparse loadings and for codes with signs, else
                         "nonzero" */
    double sample_threshold;  /* fabia rule: a sample belongs when |z| is above it */
    double feature_threshold; /* nonzero, fabia and active rules: a divisor; larger admits more */
    int64_t best;             /* keep this many modules of largest information content; 0: all */
} rb_modules_options;

typedef enum rb_generator { RB_GENERATOR_RFN = 0, RB_GENERATOR_FABIA } rb_generator;

typedef struct rb_biclusters_options {
    int generator;       /* rb_generator: the RFN paper's D1-D9, or FABIA's makeFabiaData */
    const char *dataset; /* "D1".."D9" (RFN generator) */
    double rest_sd;   /* sd of the entries outside of a bicluster: 0.01 (set I) or 0.5 (set II) */
    int64_t samples;  /* 0: as the generator's paper has it (100) */
    int64_t features; /* 0: as the generator's paper has it (100; FABIA 1000) */
    double noise;     /* sd of the noise; below 0: as the data set has it */
    int64_t seed;
} rb_biclusters_options;

/* How bars look and cross: value each and summed; value each, the largest counts; every second bar
 * (the 2nd, 4th, ...) with -value, summed. */
typedef enum rb_bar_style { RB_BARS_LINEAR = 0, RB_BARS_MAX, RB_BARS_SIGNED } rb_bar_style;

typedef struct rb_bars_options {
    int style;          /* rb_bar_style */
    int64_t size;       /* pictures are size x size pixels */
    int64_t width;      /* of a bar, in pixels; from 2 on, neighbours overlap */
    int64_t bars;       /* 0, or 2 (size - width + 1): there are no others */
    double value;       /* of a bar's pixels; the others are 0 */
    double probability; /* of each bar to be in a sample, independently */
    double noise;       /* sd of the Gaussian noise of each pixel */
    int64_t samples;
    int64_t seed;
} rb_bars_options;

#endif
