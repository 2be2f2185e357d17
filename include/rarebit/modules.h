/* Modules (biclusters): per unit the samples and features that belong to it. */
#pragma once

#include <rarebit/model.h>

/* The options of modules, for rb_options_add. Their rows say what they are. */
RB_API const rb_option_group *rb_modules_group(void);

/* One member of a module: index from 0, weight with its sign. Sorted by |weight|, largest first.
 * Weights of samples are codes scaled to mean square 1 over the samples, those of features the
 * loadings on the matching scale. */
typedef struct rb_member {
    int64_t index;
    double weight;
} rb_member;

typedef struct rb_module {
    int64_t unit;       /* the unit of the model */
    double information; /* of the unit: sum over samples of 1/2 log(1 + z^2 l' Psi^-1 l), in nats */
    rb_member *samples;
    int64_t n_samples;
    rb_member *features; /* features in use; rb_model_feature_index has the column */
    int64_t n_features;
    double stability; /* share of the models of a consensus that have the unit, each by how similar
                         its unit is; 0: of no consensus (rarebit/consensus.h) */
} rb_module;

typedef struct rb_modules rb_modules; /* docs/howto/modules.md, "Order and number" */

/* Finds the modules of a model in the samples of a source; docs/howto/modules.md has the rules. The
 * samples are encoded once, and codes of up to 1 GiB kept meanwhile; more are made a second time.
 * NULL options: the defaults. A unit whose codes are all 0 has no module. RB_ERROR_ARGUMENT (an
 * option; too few samples for the rule test), RB_ERROR_DATA (missing values, which that rule cannot
 * take), RB_ERROR_UNSUPPORTED for a model without loadings or noise. A rule that was not given is
 * told in a log message. */
RB_API rb_error rb_modules_find(rb_context *context, const rb_model *model, rb_source *source,
                                const rb_options *options, rb_modules **modules);
/* Has the model what rb_modules_find needs: loadings, and a noise variance for each feature or one
 * that its method gives? */
RB_API bool rb_modules_possible(const rb_model *model);
RB_API void rb_modules_free(rb_modules *modules);
RB_API int64_t rb_modules_count(const rb_modules *modules);
/* NULL when rank is not 0 .. count - 1. */
RB_API const rb_module *rb_modules_get(const rb_modules *modules, int64_t rank);
/* What modules are ranked by, largest first, in nats (docs/howto/modules.md, "Order and number").
 * 0: no such rank, or modules that were read. */
RB_API double rb_modules_score(const rb_modules *modules, int64_t rank);
/* Is it the other side of a unit? By the rules fabia, active and test the samples of a module have
 * codes of one sign, that of the side that prevails. Where the other side stands by itself it is a
 * module more of the same unit, "unit3-". */
RB_API bool rb_modules_other_side(const rb_modules *modules, int64_t rank);
/* So many of them are modules. What comes behind is spare, no more than noise may give, or
 * background, which centring leaves in the samples that are in no module; neither counts for
 * `significant` nor for rb_modules_match. */
RB_API int64_t rb_modules_called(const rb_modules *modules);
/* The rule that found the members, as in the options; valid as long as the modules. NULL for
 * modules that were read. */
RB_API const char *rb_modules_rule(const rb_modules *modules);
/* What the p-values of rb_modules_permute test and what not, as a sentence, likewise; NULL: nothing
 * was tested. */
RB_API const char *rb_modules_tested(const rb_modules *modules);

/* How found modules agree with the truth, by the Jaccard index of their cells (sample, feature).
 * consensus_score: optimal one-to-one assignment, sum divided by the larger number of the two
 * (FABIA). recovery: mean over the true modules of the largest index with a found one; relevance:
 * mean over the found modules of the largest index with a true one (Prelic et al. 2006). */
typedef struct rb_match {
    size_t size; /* sizeof(rb_match), set by the caller */
    double consensus_score;
    double *overlap;  /* n_truth: Jaccard index of each true module with its partner */
    int64_t *partner; /* n_truth: rank of the found module, or -1 */
    int64_t n_truth;
    double recovery, relevance;
} rb_match;

/* Compares; features by their column in the data. match begins as {.size = sizeof match} and is to
 * be cleared with rb_match_clear, also when it was not filled. RB_ERROR_ARGUMENT: another size;
 * RB_ERROR_DATA when the truth holds a sample or feature that the data of the found modules do not
 * have; no other but RB_ERROR_MEMORY. */
RB_API rb_error rb_modules_match(rb_context *context, const rb_modules *found,
                                 const rb_modules *truth, rb_match *match);
RB_API void rb_match_clear(rb_match *match);

/* The class of each sample (rb_classes_read in rarebit/annotations.h). */
typedef struct rb_classes {
    size_t size; /* sizeof(rb_classes), set by the caller */
    int64_t n_samples, n_classes;
    int64_t *class_of;        /* n_samples, from 0; -1: none */
    const char *const *names; /* n_classes, in alphabetical order */
    void *text;               /* what the names point into */
    int64_t n_labelled;       /* samples with a class */
    int64_t *places; /* n_classes: of each, its place among all classes of the table that they were
                        read from, also those of other samples; plots colour by it. NULL: its own */
} rb_classes;
/* The place of a class; -1: none. */
RB_API int64_t rb_classes_place(const rb_classes *classes, int64_t class_index);
RB_API void rb_classes_clear(rb_classes *classes);

/* How a module agrees with the class of samples (cell types, say) for which it is most enriched:
 * the one of smallest p-value. Samples without a class do not count. */
typedef struct rb_enrichment_row {
    int64_t module;                /* rank, from 0 */
    const char *class_name;        /* NULL when no sample of the module has a class */
    int64_t module_size;           /* samples of the module */
    int64_t class_size;            /* samples of the class */
    int64_t overlap;               /* samples in both */
    double precision;              /* overlap / module_size */
    double recall;                 /* overlap / class_size */
    double f1;                     /* harmonic mean of the two */
    double jaccard;                /* overlap / samples in either */
    double log10_p_value;          /* P(an overlap at least this large by chance), hypergeometric */
    double log10_p_value_adjusted; /* times the number of modules and of classes (Bonferroni) */
} rb_enrichment_row;

typedef struct rb_enrichment {
    size_t size;             /* sizeof(rb_enrichment), set by the caller */
    rb_enrichment_row *rows; /* one per module, in their order; none where there is one class */
    int64_t n_rows;
    int64_t n_labelled; /* samples of the source with a class */
    int64_t n_classes;
    void *text; /* what class_name points into */
} rb_enrichment;

/* Compares modules with classes of the samples that they are of; rb_covariates_auc says which unit
 * marks a class best. RB_ERROR_DATA: a module holds a sample that has no place among the classes;
 * RB_ERROR_ARGUMENT: the enrichment is of another size, which the caller sets. Free with
 * rb_enrichment_clear. */
RB_API rb_error rb_modules_enrichment(rb_context *context, const rb_modules *modules,
                                      const rb_classes *classes, rb_enrichment *enrichment);
RB_API void rb_enrichment_clear(rb_enrichment *enrichment);
