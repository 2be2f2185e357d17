/* Consensus: what many fits of the same data share, as one model: docs/howto/consensus.md. */
#pragma once

#include <rarebit/model.h>

/* The options of a consensus, for rb_options_add. Their rows say what they are. */
RB_API const rb_option_group *rb_consensus_group(void);

/* The consensus of count models, at least 2, of one method, of the same features and preprocessing:
 * units of all models are clustered, and the clusters that enough models have become the units of
 * an ordinary model, the most stable first. Besides what every model of its method has it has the
 * arrays
 *   stability          units x 1: the mean over the models of the similarity of the unit most like
 *                      it, 0 for a model that has none: the share of the models that have the unit.
 *                      Each unit of a model counts for one unit of the consensus
 *   dropped_stability  of clusters that were not kept, and at least two models have, descending
 * and the attributes consensus_models, consensus_stability and consensus_similarity.
 *
 * source   the data of the fits, for codes: of more than 4096 samples as many, spread over them.
 *          NULL: units are compared by their loadings alone, and `refit` must not be set
 * options  of rb_consensus_group; NULL: the defaults
 * model    the result; free with rb_model_free; NULL on failure
 *
 * Same models, same bits, for any number of threads. RB_ERROR_ARGUMENT (fewer than two models, of
 * different methods, features or preprocessing; an option), RB_ERROR_UNSUPPORTED (models with a
 * prior covariance), RB_ERROR_DATA (no unit is stable enough), RB_ERROR_MEMORY, and the errors of
 * rb_encode and rb_fit. */
RB_API rb_error rb_consensus(rb_context *context, const rb_model *const *models, int64_t count,
                             rb_source *source, const rb_options *options, rb_model **model);

/* Fits `restarts` times (20 where that is not set), one fit a thread, and gives the consensus of
 * all of them. The data are held in memory.
 *
 * options  from rb_options_new with the name of the method, and perhaps of rb_consensus_group. With
 *          `checkpoint` each fit is kept in that file once it is made, and the same call goes on
 *          from there. max-time must not be set
 *
 * A progress callback is told of fits: its `what` is "fit". When the program asks to stop, by it or
 * by rb_context_stop, and two fits or more are done, the model is the consensus of these, of status
 * RB_STATUS_STOPPED and without a refit; with fewer it is RB_ERROR_STOPPED. RB_ERROR_UNSUPPORTED:
 * `refit`, and a method that no fit can start from a model of; other errors are those of rb_fit and
 * rb_consensus. */
RB_API rb_error rb_fit_consensus(rb_context *context, const rb_options *options, rb_source *source,
                                 rb_model **model);
