/* The structs behind options, for tests: what handles hold, given to calls that take handles. */
#ifndef TEST_OPTIONS_H
#define TEST_OPTIONS_H

#include "em/em.h"
#include "et/et.h"
#include "model/model.h"
#include "modules/modules.h"
#include "rfn/options.h"
#include "simulate/simulate.h"
#include <rarebit/rarebit.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Structs of options instead of a handle: valid until as many calls later as there are slots. */
static inline rb_options *fixture_slot(void) {
    static _Thread_local rb_options slots[8];
    static _Thread_local int next;
    rb_options *options = &slots[next++ % 8];
    *options = (rb_options){0};
    return options;
}

static inline void fixture_part(rb_options *options, const rb_option_group *key,
                                rb_option_group group, const void *fields) {
    options->parts[options->n_parts++] = (rb_option_part){key, group, (void *)fields, NULL};
}

/* The struct of a group; NULL: the defaults. */
static inline const rb_options *fixture_of(const rb_option_group *group, const void *fields) {
    rb_options *options = fixture_slot();
    if (fields) fixture_part(options, group, *group, fields);
    return options;
}

/* The checkpoint of the fits that follow; NULL: none. */
static _Thread_local const rb_checkpoint_options *fixture_checkpoint;
/* What they keep of samples, likewise. */
static _Thread_local const rb_memory_options *fixture_memory;

/* The structs of a fit; NULL: the defaults. */
static inline const rb_options *fixture_options(rb_context *ctx, const char *method,
                                                const void *own, const rb_fit_options *fit,
                                                const rb_preprocess_options *preprocess) {
    static _Thread_local rb_fit_options usual;
    static _Thread_local rb_preprocess_options as_usual;
    static _Thread_local rb_checkpoint_options none;
    static _Thread_local char defaults[1024];
    rb_options *options = fixture_slot();
    options->method = rb_find_method(ctx, method);
    rb_option_group group = rb_method_group(options->method);
    if (group.bytes > sizeof defaults) abort();
    rb_rows_default(rb_fit_group.rows, &usual);
    rb_rows_default(rb_preprocess_group.rows, &as_usual);
    if (options->method->centre == RB_CENTRE_AUTO)
        as_usual.centre = RB_CENTRE_MEAN; /* as the equations that tests compare with have it */
    rb_rows_default(rb_checkpoint_group.rows, &none);
    memset(defaults, 0, sizeof defaults);
    rb_rows_default(group.rows, defaults);
    fixture_part(options, NULL, group, own ? own : defaults);
    fixture_part(options, &rb_fit_group, rb_fit_group, fit ? fit : &usual);
    fixture_part(options, &rb_checkpoint_group, rb_checkpoint_group,
                 fixture_checkpoint ? fixture_checkpoint : &none);
    if (fixture_memory) fixture_part(options, &rb_memory_group, rb_memory_group, fixture_memory);
    fixture_part(options, &rb_preprocess_group, rb_preprocess_group,
                 preprocess ? preprocess : &as_usual);
    return options;
}

static inline void rb_rfn_options_default(void *fields) {
    rb_rows_default(rfn_option_rows, fields);
}

static inline void rb_et_options_default(void *fields) {
    rb_rows_default(et_option_rows, fields);
}

static inline void rb_preprocess_options_default(void *fields) {
    rb_rows_default(rb_preprocess_group.rows, fields);
}

/* The defaults of a group. */
static inline void fixture_default(const rb_option_group *group, void *fields) {
    rb_rows_default(group->rows, fields);
}

/* The default rule of modules. */
static inline const rb_modules_options *fixture_rule(void) {
    static _Thread_local rb_modules_options options;
    rb_rows_default(rb_modules_group()->rows, &options);
    return &options;
}

static inline void fixture_row(const rb_option *row, const void *fields, char *text, size_t size) {
    char scratch[RB_ROW_TEXT];
    snprintf(text, size, "%s", rb_row_text(row, fields, scratch));
}

/* The metrics of a model as a struct. */
typedef struct rb_evaluation {
    double samples, features, units, dead_units, causes_used, exact_samples, sparseness,
        reconstruction_error, covariance_error, objective, log_likelihood, estep_objective, energy,
        divergence, variance_explained, kkt_residual, certificate, mean_squared_error, samples_used,
        quality, truncation, candidate_hits;
    rb_code_check codes;
} rb_evaluation;

static inline rb_error fixture_evaluate(rb_context *ctx, const rb_model *model, rb_source *source,
                                        rb_evaluation *e) {
    static const char *const names[] = {"samples",
                                        "features",
                                        "units",
                                        "dead_units",
                                        "causes_used",
                                        "exact_samples",
                                        "sparseness",
                                        "reconstruction_error",
                                        "covariance_error",
                                        "objective",
                                        "log_likelihood",
                                        "estep_objective",
                                        "energy",
                                        "divergence",
                                        "variance_explained",
                                        "kkt_residual",
                                        "certificate",
                                        "mean_squared_error",
                                        "samples_used",
                                        "quality",
                                        "truncation",
                                        "candidate_hits"};
    rb_metrics *metrics;
    rb_error err = rb_evaluate(ctx, model, source, &metrics);
    *e = (rb_evaluation){0};
    for (size_t i = 0; !err && i < sizeof names / sizeof *names; i++)
        (&e->samples)[i] = rb_metrics_get(metrics, names[i]);
    rb_metrics_free(metrics);
    return err ? err : rb_model_check(ctx, model, source, &e->codes);
}

static inline void rb_fit_options_default(rb_fit_options *options) {
    *options = (rb_fit_options){0};
    rb_rows_default(rb_fit_group.rows, options);
}

/* What a preset makes of options, of which nothing else is set; fit may be NULL. */
static inline void fixture_preset(const char *preset, rb_rfn_options *options,
                                  rb_fit_options *fit) {
    rb_context *ctx;
    rb_options *handle, *ready;
    if (rb_context_new(&ctx) || rb_options_new(ctx, "rfn", &handle) ||
        rb_options_set(ctx, handle, "preset", preset) ||
        rb_options_ready(ctx, handle, NULL, &ready))
        abort();
    int64_t units = options->units;
    *options = *(const rb_rfn_options *)ready->parts[0].fields;
    options->units = units;
    if (fit) *fit = *(const rb_fit_options *)rb_options_fields(ready, &rb_fit_group);
    rb_options_free(ready);
    rb_options_free(handle);
    rb_context_free(ctx);
}

#endif
