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
    double rest_sd;      /* sd of the entries outside of a bicluster: 0.01 (set I) or 0.5 (set II) */
    int64_t samples;     /* 0: as the generator's paper has it (100) */
    int64_t features;    /* 0: as the generator's paper has it (100; FABIA 1000) */
    double noise;        /* sd of the noise; below 0: as the data set has it */
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

#ifdef __cplusplus
}
#endif
#endif
