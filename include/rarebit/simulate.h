/* Data with planted causes, for experiments and tests. */
#ifndef RAREBIT_SIMULATE_H
#define RAREBIT_SIMULATE_H

#include <rarebit/matrix.h>
#include <rarebit/modules.h>
#include <rarebit/options.h>

#ifdef __cplusplus
extern "C" {
#endif

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

/* The option table of rb_biclusters_options. */
RB_API const rb_option *rb_biclusters_option_table(void);
RB_API void rb_biclusters_options_default(rb_biclusters_options *options);

/* Makes a float64 matrix that owns its numbers, not centred, and the planted modules, all weights 1
 * (truth may be NULL). NULL options: the defaults. Biclusters hold the papers' shares of the
 * samples and features, whatever their numbers. The same options give the same bits on every
 * machine of the same kind. */
RB_API rb_error rb_simulate_biclusters(rb_context *context, const rb_biclusters_options *options,
                                       rb_matrix **matrix, rb_modules **truth);

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

/* The option table of rb_bars_options. */
RB_API const rb_option *rb_bars_option_table(void);
RB_API void rb_bars_options_default(rb_bars_options *options);

/* Makes the data of a bars test: float64 matrices that own their numbers. matrix: samples x pixels,
 * row by row of the picture; fields: bars x pixels, what each bar alone adds, the horizontal bars
 * from top to bottom and then the vertical ones from left to right; states: samples x bars, 1 where
 * the bar is in the sample. fields and states may be NULL. NULL options: the defaults. A sample
 * depends on the seed and its number alone: more samples go on where fewer end, and another noise
 * leaves the bars as they are. */
RB_API rb_error rb_simulate_bars(rb_context *context, const rb_bars_options *options,
                                 rb_matrix **matrix, rb_matrix **fields, rb_matrix **states);

#ifdef __cplusplus
}
#endif
#endif
