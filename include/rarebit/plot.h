/* Pictures: .png or .svg by the suffix of the path. */
#pragma once

#include <rarebit/modules.h>
#include <rarebit/sample.h>
#include <rarebit/select.h>

/* The version of cairo, which draws. */
RB_API const char *rb_plot_cairo(void);

/* The options of plots, for rb_options_add. Their rows say what they are. */
RB_API const rb_option_group *rb_plot_group(void);

/* The pictures: options may be NULL; the file appears whole or not at all. The same input, and the
 * same provenance (rb_context_set_provenance), gives the same PNG. RB_ERROR_ARGUMENT for another
 * suffix or an option outside its range, RB_ERROR_FILE,
 * RB_ERROR_MEMORY, and what encoding the samples may give. */

/* Can a picture be drawn under this name? RB_ERROR_ARGUMENT for another suffix. Nothing is
 * written. */
RB_API rb_error rb_plot_check(rb_context *context, const char *path);

/* Objective (and E-step objective where traced; of rarebit/et.h log-likelihood, free energy and
 * temperature) over the iterations. RB_ERROR_DATA for a model
 * without a history. */
RB_API rb_error rb_plot_history(rb_context *context, const rb_model *model,
                                const rb_options *options, const char *path);

/* Codes as a heat map: samples x units. With labels the samples are ordered by class, within a
 * class by their strongest unit; without, they keep their order. More samples than rows of pixels
 * are averaged. Codes above the 99.5th percentile of those that are not 0 share the darkest colour.
 */
RB_API rb_error rb_plot_codes(rb_context *context, const rb_model *model, rb_source *source,
                              const rb_options *options, const char *path);

/* A unit: a strip of its codes over the samples, below it a strip of the values of each of its
 * features of largest loading, as the model sees them (preprocessed), each strip on a scale of its
 * own. Samples stand by class, in its colour, within a class by code, the largest first; more than
 * 1000 are averaged with their neighbours. Options besides those of plots: those of
 * rb_plot_unit_group. RB_ERROR_ARGUMENT without the option unit, or for one that the model has not;
 * RB_ERROR_DATA for a unit whose loadings are all 0; RB_ERROR_UNSUPPORTED for a model without
 * loadings of each feature. */
RB_API rb_error rb_plot_unit(rb_context *context, const rb_model *model, rb_source *source,
                             const rb_options *options, const char *path);
/*   unit       which, counted from 0; must be set
 *   features   how many are shown at most */
RB_API const rb_option_group *rb_plot_unit_group(void);

/* Loadings as a grid of images, one per unit with its number, row by row; the option shape is
 * needed. Each is scaled to its own largest absolute value: grey is 0, or with three channels
 * the middle of each; where no loading of the model is negative, black is 0. A shape of one
 * length gives curves around a line at 0 instead. Options besides those of plots: those of
 * rb_plot_filters_group. */
RB_API rb_error rb_plot_filters(rb_context *context, const rb_model *model,
                                const rb_options *options, const char *path);
/* The same of samples, features x units: what each unit answers most (rb_layers_maximise of
 * rarebit/deep.h), in place of the loadings. */
RB_API rb_error rb_plot_answers(rb_context *context, const rb_model *model, const double *samples,
                                const rb_options *options, const char *path);
/*   best   draw only so many units, those with the largest sum of squared loadings, the largest
 *          first; 0: all */
RB_API const rb_option_group *rb_plot_filters_group(void);

/* The first samples of a source, what the model makes of them, and as many samples drawn from it,
 * as images or curves by the option shape, all on one scale: grey is 0 where some value of the data
 * is below it, else black. Options besides those of plots: those of rb_sample_group, count 0 being
 * 20, and those of rb_plot_samples_group. Errors are also those of rb_reconstruct, rb_sample. */
RB_API rb_error rb_plot_samples(rb_context *context, const rb_model *model, rb_source *source,
                                const rb_options *options, const char *path);
/*   codes   prior, or data: drawn from the codes of the samples that are shown */
RB_API const rb_option_group *rb_plot_samples_group(void);

/* Fields of a traced fit over time: a row of images for each of some
 * iterations, whose numbers (from 1) are at the left; without a trace the final fields alone, which
 * a log message says. RB_ERROR_DATA for a method that keeps no fields (rb_trace_arrays). */
RB_API rb_error rb_plot_fields(rb_context *context, const rb_model *model,
                               const rb_options *options, const char *path);

/* Q of the traced samples over the iterations, one line each: the share of a
 * sample's evidence that is in the states looked at. RB_ERROR_DATA for a model without them. */
RB_API rb_error rb_plot_quality(rb_context *context, const rb_model *model,
                                const rb_options *options, const char *path);

/* Log evidences of n samples, sorted from the largest, and the `used` that the fit kept to the left
 * of a line (the data cut); used is 0 or n: no line. states: which causes were active in each
 * sample, n samples x causes, 0 where one was not, else 1, or a whole value of it (as
 * rb_simulate_bars gives them): a sample becomes a point in the colour of how many were, and
 * RB_ERROR_DATA says when they are of other samples or have other values; NULL: not known. */
RB_API rb_error rb_plot_evidence(rb_context *context, const double *evidence, int64_t n,
                                 int64_t used, rb_source *states, const rb_options *options,
                                 const char *path);

/* The data as a heat map, features x samples, ordered by module and the modules framed. Shown is
 * what the model sees (preprocessed), each feature at mean 0 and standard deviation 1, cut at 2.5.
 * A sample or feature of several modules stands with the one in which its weight is largest,
 * relative to the root mean square of that module's weights; a module that would be left with none
 * takes some of its own back. Of a large module the members of largest weight are shown. A module
 * that cannot be shown is named below the title and in a log message. */
RB_API rb_error rb_plot_modules(rb_context *context, const rb_model *model, rb_source *source,
                                const rb_modules *modules, const rb_options *options,
                                const char *path);

/* What unseen samples and other starts say of each number of units, the one that was picked and the
 * range of those that are likely. */
RB_API rb_error rb_plot_selection(rb_context *context, const rb_selection *selection,
                                  const rb_options *options, const char *path);
