/* Models: what a fit leaves, and what is done with it. Files of models: rarebit/model_file.h.
 *
 * A model is named arrays and attributes, the preprocessing, the names of the features, the history
 * of the fit.
 */
#pragma once

#include <rarebit/fit.h>

/* Frees a model; NULL is accepted. */
RB_API void rb_model_free(rb_model *model);

/* A model as bytes, to be kept by the program in a form of its own; they say the same as the file,
 * on any machine. rb_free_memory frees them. RB_ERROR_MEMORY. */
RB_API rb_error rb_model_save_memory(rb_context *context, const rb_model *model, void **bytes,
                                     size_t *size);
RB_API void rb_free_memory(void *bytes); /* NULL is accepted */

/* The model of such bytes, which are not kept and need not be aligned. They may come from anybody:
 * RB_ERROR_FORMAT (not a model, damaged, of a newer version, of an unknown method). They have a
 * checksum, by which any damaged byte is noticed; that those of an earlier version have none is
 * said in the log. */
RB_API rb_error rb_model_load_memory(rb_context *context, const void *bytes, size_t size,
                                     rb_model **model);

/* The name of its method, such as "rfn". Valid as long as the model. */
RB_API const char *rb_model_method(const rb_model *model);
RB_API int64_t rb_model_features(const rb_model *model); /* after preprocessing: those in use */
RB_API int64_t rb_model_inputs(const rb_model *model);   /* before: those of the training data */
RB_API int64_t rb_model_units(const rb_model *model);
RB_API rb_type rb_model_type(const rb_model *model); /* its precision: that of its codes */
RB_API rb_status rb_model_status(const rb_model *model);

/* The column in the training data, from 0, of feature k of those in use; -1: there is no such
 * feature. Differs from k when preprocessing selected features. */
RB_API int64_t rb_model_feature_index(const rb_model *model, int64_t feature);

/* The name of feature k of those in use, or NULL when the training data had no names. */
RB_API const char *rb_model_feature_name(const rb_model *model, int64_t feature);

/* An array by name: float64, row-major, rows x columns (a vector has one column). Valid as long as
 * the model. NULL when there is none of that name; rows and columns may be NULL. */
RB_API const double *rb_model_array(const rb_model *model, const char *name, int64_t *rows,
                                    int64_t *columns);
/* Name of the index-th array, NULL past the last. */
RB_API const char *rb_model_array_name(const rb_model *model, int64_t index);

/* An attribute as text ("eta" -> "0.1", "seed", "program_version", "command_line",
 * "data_checksum"); NULL when there is none. */
RB_API const char *rb_model_attribute(const rb_model *model, const char *name);
/* Name of the index-th attribute, NULL past the last. */
RB_API const char *rb_model_attribute_name(const rb_model *model, int64_t index);
RB_API rb_error rb_model_set_attribute(rb_context *context, rb_model *model, const char *name,
                                       const char *value);

/* The history: iterations done, and for iteration t (from 0) the objective, the E-step objective
 * (NaN when not traced) and its seconds; any of the three may be NULL. RB_ERROR_ARGUMENT when there
 * is no such iteration. */
RB_API int64_t rb_model_iterations(const rb_model *model);
RB_API rb_error rb_model_history(const rb_model *model, int64_t iteration, double *objective,
                                 double *estep_objective, double *seconds);

/* The iteration, from 1, from which on the fit shrank loadings: the objective may fall there, since
 * it does not count what shrinking is for. 0: none. */
RB_API int64_t rb_model_shrinks_from(const rb_model *model);

/* From here on values that are missing (NaN) in the samples that the model is given are integrated
 * out, whatever the fit did with them: RB_MISSING_OMIT, RB_MISSING_MODEL. RB_ERROR_ARGUMENT when
 * its method needs all values; those of rarebit/rfn.h and rarebit/et.h do not. */
RB_API rb_error rb_model_omit_missing(rb_context *context, rb_model *model);

/* A further figure of the method for iteration t, by name: kkt_residual, estep_stage and prior_mean
 * of "rfn" (rfn.h). RB_ERROR_ARGUMENT when t is out of range or the method has no such figure; NaN
 * where it was not computed, as in models made before there were metrics. */
RB_API rb_error rb_model_metric(const rb_model *model, int64_t iteration, const char *name,
                                double *value);

/* Takes a block of rows of a result, in order: rows are samples first .. first + count - 1 and
 * valid during the call. What it returns other than RB_OK ends the call. */
typedef rb_error (*rb_rows_fn)(void *user, int64_t first, const rb_matrix *rows);

/* Codes of new samples (units of the model, float of its precision). Features are matched by
 * name when model and source both have names; missing and extra ones are reported as a log
 * message. Reads the source once. RB_ERROR_DATA (a value is infinite, missing and neither filled
 * nor left out, or one that the preprocessing of the model cannot take; other features),
 * RB_ERROR_FORMAT (an array of the model is missing or of another shape), RB_ERROR_FILE and
 * RB_ERROR_FORMAT (the source cannot be read), what fn returned, RB_ERROR_NUMERIC (numbers of the
 * model that no fit gives). */
RB_API rb_error rb_encode(rb_context *context, const rb_model *model, rb_source *source,
                          rb_rows_fn fn, void *user);

/* Samples rebuilt from their codes, on the scale of the data before preprocessing (centring and
 * scaling undone; log1p undone; sample totals restored). Reads the source once; errors are those of
 * rb_encode. */
RB_API rb_error rb_reconstruct(rb_context *context, const rb_model *model, rb_source *source,
                               rb_rows_fn fn, void *user);

/* The same with all values that are there as they are, to the precision of the model: only those
 * that are missing (NaN) are taken from the rebuilt samples. */
RB_API rb_error rb_impute(rb_context *context, const rb_model *model, rb_source *source,
                          rb_rows_fn fn, void *user);

/* Codes and rebuilt samples into the caller's memory: value (i, k) becomes codes[i * row_stride +
 * k * column_stride], of that type, for every sample i and unit k, or feature k; strides are
 * counted in values. What was made before an error stays there. */
RB_API rb_error rb_encode_into(rb_context *context, const rb_model *model, rb_source *source,
                               rb_type type, void *codes, int64_t row_stride,
                               int64_t column_stride);
RB_API rb_error rb_reconstruct_into(rb_context *context, const rb_model *model, rb_source *source,
                                    rb_type type, void *rows, int64_t row_stride,
                                    int64_t column_stride);

/* Samples that a model makes of codes (units of the model, any numbers), on the scale of the data
 * before preprocessing: as rb_reconstruct_into, of samples of which nothing else is known. Where
 * totals were scaled they are those of the option, and where effects of covariates were taken out
 * samples are those of average covariates. Where codes do not say all, as of mca, it is the
 * superposition of the fields, each as far as its cause is active. RB_ERROR_DATA (codes of another
 * number of units), RB_ERROR_NUMERIC (codes, or samples, that are not finite), RB_ERROR_FORMAT (an
 * array of the model is missing). */
RB_API rb_error rb_decode_into(rb_context *context, const rb_model *model, const rb_matrix *codes,
                               rb_type type, void *rows, int64_t row_stride, int64_t column_stride);

/* Encodes samples that come one by one, or a few at a time: what is computed from the model alone
 * is computed once. It keeps the model, which must outlive it. On a device it keeps the context,
 * too: give it no other one. One thread at a time. A model that was fitted with regress needs
 * covariates, which rows of a matrix have not: rb_coder_encode refuses it with RB_ERROR_DATA; take
 * rb_encode. */
typedef struct rb_coder rb_coder;
RB_API rb_error rb_coder_open(rb_context *context, const rb_model *model, rb_coder **coder);
RB_API void rb_coder_free(rb_coder *coder); /* NULL is accepted */

/* Codes of the samples of a matrix, as of rb_encode_into: the same bits for the same samples in
 * one call, else the same up to the rounding of products and the tolerance of the E-step.
 * Features of a matrix without names are those of the model, or those of its training data, by
 * position; of one with names they are matched in every call, which takes longer than a few
 * samples do. Nothing is said in the log of values below 0. Errors are those of rb_encode. */
RB_API rb_error rb_coder_encode(rb_context *context, rb_coder *coder, const rb_matrix *rows,
                                rb_type type, void *codes, int64_t row_stride,
                                int64_t column_stride);

/* What rb_evaluate measures: numbers by name, of which a method gives those that it has. V is the
 * preprocessed data, mu the codes.
 *   samples, features, units
 *   dead_units            units that no training sample activated
 *   sparseness            SP: share of exact zeros in mu
 *   reconstruction_error  ER: Frobenius norm of V - what rb_reconstruct makes of V: mu W', or where
 *                         causes do not add up the mean of their superposition. Both preprocessed;
 *                         values that are missing are left out
 *   covariance_error      CO: Frobenius norm of C - Psi - W S W', 1/n
 *   objective             F = log_likelihood - estep_objective / 2
 *   log_likelihood        mean over samples of log p(v): of rfn log N(v; W xi, W W' + Psi)
 *   estep_objective       O
 *   energy                E; F = -E - KL
 *   divergence            KL of the codes' distribution from the prior
 *   mean_squared_error    reconstruction_error^2 / values of V that are there
 *   variance_explained    1 - n m mean_squared_error / |V|_F^2
 *   kkt_residual, certificate   of the codes of the fit, as the model has them (rarebit/rfn.h)
 * of methods whose codes should mostly be 0, of all samples or of 20 000 spread over them
 *   samples_checked
 *   samples_without_unit  share of them without an active unit
 *   samples_with_nearly_all_units   share with at least 9 in 10 of the living units active; 0 for
 *                         fewer than 5 living units
 *   duplicated_units      whose codes and loadings are those of an earlier one: cosines above 0.95
 * and of models of rarebit/et.h, the last four for up to 20 units
 *   causes_used           causes in the most probable state of a sample
 *   samples_used          N_cut: training samples that the last M-step of the fit used
 *   quality               mean share Q of the evidence over all states that was looked at
 *   truncation            mean of -log Q, the KL divergence from the exact posterior
 *   candidate_hits        share of sum_h p(s_h = 1 | v) that is of candidates
 *   exact_samples         over which the last three are means */
typedef struct rb_metrics rb_metrics;

/* The value of a metric; NaN where there is none of that name, or it is not defined. */
RB_API double rb_metrics_get(const rb_metrics *metrics, const char *name);
/* The name of the index-th metric, NULL past the last. Valid as long as the metrics. */
RB_API const char *rb_metrics_name(const rb_metrics *metrics, int64_t index);
RB_API void rb_metrics_free(rb_metrics *metrics); /* NULL is accepted */

/* How people are told of a metric: what it is called, and means; label NULL: programs alone are. */
typedef struct rb_metric_row {
    const char *name, *label, *meaning;
    bool detail; /* a figure for research */
} rb_metric_row;
/* The metrics of every model, then those of each method that the context knows; NULL past the
 * last. */
RB_API const rb_metric_row *rb_metric_row_of(const rb_context *context, int64_t index);

/* Measures a model on the samples of a source. The same samples as in the fit give the metrics of
 * the fit. For rfn the source is read twice, and once more for every 2^24 / features features
 * beyond the first so many (10 000 features: 7 times), so that no matrix of features x features is
 * kept; for the methods of rarebit/et.h once. Errors are those of rb_encode, and
 * RB_ERROR_DATA when there are no samples; then *metrics is NULL. Free with rb_metrics_free. */
RB_API rb_error rb_evaluate(rb_context *context, const rb_model *model, rb_source *source,
                            rb_metrics **metrics);
