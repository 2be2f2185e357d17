/* What the steps of a consensus hand on to each other. Private to src/study. */
#pragma once

#include "study.h"

typedef enum rb_representative { RB_MEDOID = 0, RB_MEAN } rb_representative;

typedef struct rb_consensus_options {
    double stability, similarity;
    int representative; /* rb_representative */
    int64_t refit;
} rb_consensus_options;

/* Before the names of its options in what a model records; and the attribute that says that the
 * fits were its own restarts. */
#define RB_CONSENSUS_ATTRIBUTE "consensus_"
#define RB_CONSENSUS_OF_RESTARTS "consensus_of_restarts"
/* Its value where the program asked to stop, and the restarts that were done were not the first. */
#define RB_CONSENSUS_OF_SOME "some"

static inline bool rb_is_consensus(const rb_model *model) {
    return rb_model_attribute(model, "consensus_models") != NULL;
}

/* The options that fit a model again to null data (again.c). RB_ERROR_ARGUMENT, _UNSUPPORTED: these
 * are not its data, or options alone do not make it. And a warning where these are the data that it
 * was fitted to, but null data are only encoded. */
rb_error rb_again_options(rb_context *ctx, const rb_model *model, rb_source *source,
                          rb_options **options);
void rb_again_warn(rb_context *ctx, const rb_model *model, rb_source *source);

enum { RB_COMPARED_UNITS = 16384 }; /* of all models together: no more can be compared */

/* A unit of one of the models. */
typedef struct rb_unit {
    int64_t model, index;
    bool flipped; /* of a cluster whose medoid has the opposite sign */
} rb_unit;

/* The vectors of units, a row of length 1 each, model by model. */
typedef struct rb_unit_vectors {
    rb_dense loadings, codes; /* codes of no rows: only loadings are compared */
    rb_unit *units;
    int64_t count;
    bool signs; /* codes have both signs: a unit that is turned over is the same */
} rb_unit_vectors;

/* Units of several models that are the same one. */
typedef struct rb_cluster {
    double stability; /* share of the models that have it, each by how similar its unit is */
    int64_t first;    /* of its members */
    int64_t count;    /* of them, and of the models that have one */
} rb_cluster;

typedef struct rb_clusters {
    rb_cluster *list; /* the most stable first */
    int64_t count;
    rb_unit *members; /* cluster by cluster, in each the medoid first */
    int64_t n_members;
} rb_clusters;

/* consensus.c: rb_consensus with its options as fields. */
rb_error rb_consensus_make(rb_context *ctx, const rb_model *const *models, int64_t count,
                           rb_source *source, const rb_consensus_options *options,
                           rb_model **model);
/* Clusters of the living units. Cleared with rb_clusters_clear, also on failure. */
rb_error rb_clusters_find(rb_context *ctx, const rb_model *const *models, int64_t count,
                          rb_source *source, double similarity, rb_clusters *clusters);
/* Of so many samples codes are compared: all, or 4096 spread over them; and these, a row a unit. */
int64_t rb_units_samples(int64_t n_samples);
rb_error rb_units_encode(rb_context *ctx, const rb_model *model, rb_source *source, rb_dense codes);
/* Clusters of vectors of n_models models; cleared likewise. */
rb_error rb_clusters_of(rb_context *ctx, const rb_unit_vectors *vectors, int64_t n_models,
                        double similarity, rb_clusters *clusters);
void rb_clusters_clear(rb_clusters *clusters);

/* rerun.c: the options of a fit as its model recorded them; no preset changes what is set. Values
 * are those that a function gives, none for NULL; *options also after a failure. */
typedef const char *(*rb_value_again_fn)(const rb_model *model, const rb_option *row);
rb_error rb_options_recall(rb_context *ctx, const rb_model *model, rb_value_again_fn value_of,
                           rb_options **options);
int64_t rb_recorded_whole(const rb_model *model, const char *name, int64_t fallback);
/* consensus_model.c: the model of the first `kept` clusters, not fitted again. */
rb_error rb_consensus_merge(rb_context *ctx, const rb_model *const *models, int64_t count,
                            const rb_clusters *clusters, int64_t kept, bool mean,
                            rb_model **merged);
/* Refuses iterations of a fit from a model (0: none) with a method that has no such fit. */
rb_error rb_consensus_check_refit(rb_context *ctx, const rb_method *method, int64_t iterations);
/* A fit of so many iterations that begins there; *model is replaced. */
rb_error rb_consensus_refit(rb_context *ctx, rb_source *source, int64_t iterations,
                            rb_model **model);
