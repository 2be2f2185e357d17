/* Which units of a model are found again: in another model, or in another cohort of samples.
 * docs/howto/replication.md has the equations. */
#pragma once

#include <rarebit/table.h>

/* The options, for rb_options_add:
 *   permutations  how many chances are counted in; p-values are multiples of 1 / (1 + permutations)
 *   seed          of the permutations
 *   signs         keep, ignore, auto: does a unit that has all its loadings reversed replicate? No,
 *                 yes, or no where codes have no signs (two models only) */
RB_API const rb_option_group *rb_replication_group(void);

/* ---- two models ---- */

/* A unit of the first model and those of the second that are like it. Correlations are of loadings
 * over the features that both models have. */
typedef struct rb_replicated_unit {
    int64_t
        partner; /* by the assignment of the largest sum of correlations; -1: none is left, or the
                        unit is dead */
    double partner_correlation; /* NaN without a partner */
    int64_t best;               /* living unit of the largest correlation; -1: the unit is dead */
    double best_correlation;    /* NaN: the unit is dead */
    /* The chance that the partner's correlation is as large with the features of the second model
     * permuted, and partners assigned anew: of this unit; of any unit (family-wise); and the false
     * discovery rate at which the unit is found again. NaN: there is no partner. */
    double p_value, p_value_family, q_value;
} rb_replicated_unit;

typedef struct rb_replication {
    size_t size; /* sizeof(rb_replication), set by the caller; new fields come at the end */
    int64_t n_units, n_others; /* units of the first and of the second model */
    int64_t n_features;        /* that both have */
    int64_t permutations;
    bool by_name;              /* features were matched by name, else by their columns */
    bool no_signs;             /* correlations were compared without their signs */
    rb_replicated_unit *units; /* n_units */
    bool same_data; /* both were fitted to the same samples: that a unit comes back says that fits
                       agree, also on noise, and is no replication */
} rb_replication;

/* Compares the units of two models, of any methods that have loadings. Features are matched by name
 * when both models have names, which are there once, else by their columns, which a log message
 * says. NULL options: the defaults. Clear the replication, which is not filled on failure.
 * RB_ERROR_DATA: fewer than 3 features are in both; RB_ERROR_FORMAT: a model without sound
 * loadings; RB_ERROR_ARGUMENT: options, the size. */
RB_API rb_error rb_compare_models(rb_context *context, const rb_model *first,
                                  const rb_model *second, const rb_options *options,
                                  rb_replication *replication);
RB_API void rb_replication_clear(rb_replication *replication);

/* ---- two cohorts ---- */

/* A unit of a model in the samples of a cohort. */
typedef struct rb_cohort_unit {
    double active;      /* the share of the samples in which the unit is active */
    double explained;   /* by how much the squared error would grow without the unit, as a share of
                         the squares of the preprocessed data; below 0: it would shrink */
    double correlation; /* of its loadings with those that least squares of the cohort on its codes
                           give, over the features that vary; NaN: there are none */
    /* The chance of as much explained variance in data whose features are permuted each by itself
     * and encoded again: of this unit, of any, and the false discovery rate. NaN: never active. */
    double p_value, p_value_family, q_value;
} rb_cohort_unit;

typedef struct rb_cohort_pair {
    rb_cohort_unit in[2];
    double correlation; /* of the least-squares loadings of the cohorts; NaN: there are none */
} rb_cohort_pair;

typedef struct rb_cohorts {
    size_t size; /* sizeof(rb_cohorts), set by the caller; new fields come at the end */
    int64_t n_units, permutations;
    int64_t n_samples[2];
    rb_cohort_pair *units; /* n_units */
} rb_cohorts;

/* Compares what the units of a model do in two cohorts, whose samples are preprocessed and encoded
 * as rb_encode does; nothing is fitted. Each cohort is kept in memory, preprocessed and dense,
 * twice. Clear the result, which is not filled on failure. RB_ERROR_UNSUPPORTED: values are missing
 * and left out; RB_ERROR_ARGUMENT: options (`signs` among them, which do nothing here), the size;
 * and the errors of rb_encode. */
RB_API rb_error rb_compare_cohorts(rb_context *context, const rb_model *model, rb_source *first,
                                   rb_source *second, const rb_options *options,
                                   rb_cohorts *cohorts);
RB_API void rb_cohorts_clear(rb_cohorts *cohorts);

/* How many units are found again: the false discovery rate is at most 0.05, and the most similar
 * unit is the partner; or the rate is at most 0.05 in both cohorts. */
RB_API int64_t rb_replication_found(const rb_replication *replication);
RB_API int64_t rb_cohorts_found(const rb_cohorts *cohorts);

/* Both as tables of units; valid as long as what they are of. */
RB_API rb_table rb_replication_table(const rb_replication *replication);
RB_API rb_table rb_cohorts_table(const rb_cohorts *cohorts);
