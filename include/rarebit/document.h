/* What a model says of data, as one document: modules and their significance, the classes, sets of
 * features and covariates that they go with, metrics. Its tables say what each column means. */
#pragma once

#include <rarebit/covariates.h>
#include <rarebit/enrichment.h>
#include <rarebit/table.h>

typedef struct rb_document {
    size_t size; /* sizeof(rb_document), set by the caller */

    /* What is asked. All of it must outlive the document; NULL and false: not asked. */
    const rb_model *model;
    rb_source *source;
    const rb_options *options; /* of modules, significance and sets; NULL: the defaults */
    const rb_feature_sets *sets;
    const rb_covariates *labels; /* its first covariate are the classes */
    const rb_covariates *covariates;
    bool with_codes;
    /* Those of rb_evaluate and units_of_level: how many units follow the level of the samples, as a
     * common brightness. Their codes correlate by more than 0.8 with the means of the preprocessed
     * samples, which is warned of; 0 without a look where features are not centred or samples are,
     * of fewer than 20 features or of fewer than 10 samples. */
    bool with_metrics, only_metrics; /* the latter besides: no modules, nor what belongs to them */

    /* What is found. */
    rb_modules *modules;
    bool complete; /* false: `part` was given, and other parts are missing; nothing else is there */
    rb_set_tests set_tests;
    rb_enrichment classes; /* of each module */
    rb_group_aucs aucs;    /* of each unit and class */
    rb_covariate_tests covariate_tests;
    rb_metrics *metrics;
    rb_matrix *codes; /* samples x units */
    void *values;     /* of the codes */

    /* Asked: with permutations whole blocks of samples are exchanged, the groups of its first
     * covariate, which must be of one size; NULL: samples. */
    const rb_covariates *blocks;
} rb_document;

/* Finds what is asked, in the order of the fields. The samples are encoded once: their codes are
 * kept while the document is made where they take at most 1 GiB, or where labels, covariates or
 * with_codes need them all; else each of two passes makes them. Methods whose metrics need more of
 * the posterior than codes, those of rarebit/et.h and factor analyses, pass through the samples
 * once more.
 *
 * document is to be cleared with rb_document_clear, also when it was not filled. Errors are those
 * of rb_modules_find, rb_modules_permute, rb_modules_test_sets, rb_covariates_auc,
 * rb_covariates_test and rb_evaluate. */
RB_API rb_error rb_document_make(rb_context *context, rb_document *document);
RB_API void rb_document_clear(rb_document *document); /* what was asked stays */

/* The class that a module goes with: the one that is most enriched, where the adjusted p-value is
 * at most 0.05 and the codes of the unit tell it better than by chance, *auc on the side of the
 * module. NULL: none, and NaN. */
RB_API const char *rb_document_class(const rb_document *document, int64_t rank, double *auc);

typedef enum rb_document_part {
    RB_DOCUMENT_MODULES = 0,
    RB_DOCUMENT_CLASSES,      /* of each module */
    RB_DOCUMENT_BEST_UNITS,   /* of each class */
    RB_DOCUMENT_UNIT_CLASSES, /* every unit and class */
    RB_DOCUMENT_SETS,
    RB_DOCUMENT_COVARIATES
} rb_document_part;

/* A part as a table, without rows where it was not asked; valid as long as the document. */
RB_API rb_table rb_document_table(const rb_document *document, rb_document_part part);
