/* The memory of a fit, described: what is here is allocated, added up, counted and kept in
 * checkpoints by the library (include/rarebit/method.h). */
#include "fit.h"

#include <float.h>
#include <stddef.h>

/* ---- parameters: the bounds of fields depend on the model ---- */

#define FIELDS                                                                                     \
    "fields", offsetof(et_parameters, fields), RB_FIELD_DENSE, RB_KEPT_FLOAT64, ET_UNITS,          \
        ET_FEATURES, RB_KEPT_PARAMETER
static const rb_field any[] = {{FIELDS}, {0}};
static const rb_field not_negative[] = {{FIELDS, 0, DBL_MAX}, {0}};
static const rb_field positive[] = {{FIELDS, 1e-4, DBL_MAX}, {0}};

static const rb_field noise_and_prior[] = {
    {"sigma", offsetof(et_parameters, sigma), RB_FIELD_INLINE, RB_KEPT_FLOAT64,
     .role = RB_KEPT_POSITIVE},
    {"prior", offsetof(et_parameters, prior), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_UNITS, 0,
     RB_KEPT_POSITIVE, 0, 1},
    {"value_shares", offsetof(et_parameters, shares), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_VALUED,
     0, RB_KEPT_POSITIVE, 0, 1},
    {0},
};

/* ---- the rest ---- */

static const rb_field progress[] = {
    {"iteration", offsetof(et_progress, iteration), RB_FIELD_INLINE, RB_KEPT_INTEGER,
     .role = RB_KEPT_MSTEPS},
    {"samples_used", offsetof(et_progress, last_used), RB_FIELD_INLINE, RB_KEPT_INTEGER,
     .max = 1e18},
    {"in_map", offsetof(et_progress, in_map), RB_FIELD_POINTER, RB_KEPT_FLAG, ET_UNITS},
    {"log_likelihood", offsetof(et_progress, log_likelihood), RB_FIELD_INLINE, RB_KEPT_FLOAT64, 0,
     0, RB_KEPT_REPORTED},
    {0},
};

static const rb_field trace[] = {
    {"trace", offsetof(et_trace, metrics), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_TRACED_ITERATIONS,
     ET_TRACED_METRICS, RB_KEPT_REPORTED},
    {"trace_quality", offsetof(et_trace, quality), RB_FIELD_POINTER, RB_KEPT_FLOAT64,
     ET_TRACED_ITERATIONS, ET_TRACED_SAMPLES, RB_KEPT_REPORTED},
    {"trace_fields", offsetof(et_trace, fields), RB_FIELD_POINTER, RB_KEPT_FLOAT64,
     ET_TRACED_FIELDS, ET_TRACED_CELLS, RB_KEPT_REPORTED},
    {"trace_fields_at", offsetof(et_trace, at), RB_FIELD_INLINE, RB_KEPT_INTEGER, ET_TRACED_FIELDS,
     0, .max = 1e9},
    {"trace_fields_count", offsetof(et_trace, kept), RB_FIELD_INLINE, RB_KEPT_INTEGER, ET_TRACED,
     .max = ET_TRACE_FIELDS},
    {0},
};

static const rb_field survey[] = {
    {"survey_count", offsetof(et_survey, count), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"survey_sum", offsetof(et_survey, sum), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"survey_squares", offsetof(et_survey, squares), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"survey_bins", offsetof(et_survey, bins), RB_FIELD_POINTER, RB_KEPT_INTEGER, ET_BINS},
    {"survey_sums", offsetof(et_survey, sums), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_SKETCHED},
    {"survey_sketch", offsetof(et_survey, sketch), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_SKETCHED,
     ET_SKETCH},
    {0},
};

static const rb_field sums[] = {
    {"all_evidence", offsetof(et_sums, all_evidence), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"in_map_now", offsetof(et_sums, in_map), RB_FIELD_POINTER, RB_KEPT_FLAG, ET_UNITS,
     .sum = RB_SUM_OR},
    {"hits", offsetof(et_sums, hits), RB_FIELD_INLINE, RB_KEPT_FLOAT64, ET_TRACED},
    {"marginals", offsetof(et_sums, marginals), RB_FIELD_INLINE, RB_KEPT_FLOAT64, ET_TRACED},
    {"quality", offsetof(et_sums, quality), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_TRACED_SAMPLES,
     0},
    {"used", offsetof(et_sums, used), RB_FIELD_INLINE, RB_KEPT_INTEGER},
    {"values", offsetof(et_sums, values), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"squares", offsetof(et_sums, squares), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"active", offsetof(et_sums, active), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"causes", offsetof(et_sums, causes), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_ITEMS},
    {"residual", offsetof(et_sums, residual), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"evidence", offsetof(et_sums, evidence), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"products", offsetof(et_sums, products), RB_FIELD_DENSE, RB_KEPT_FLOAT64, ET_PRODUCTS,
     ET_FEATURES},
    {"second", offsetof(et_sums, second), RB_FIELD_DENSE, RB_KEPT_FLOAT64, ET_SECOND, ET_SECOND},
    {"weights", offsetof(et_sums, weights), RB_FIELD_DENSE, RB_KEPT_FLOAT64, ET_WEIGHTS,
     ET_FEATURES},
    {"pairs", offsetof(et_sums, pairs), RB_FIELD_DENSE, RB_KEPT_FLOAT64, ET_PAIRS, ET_FEATURES},
    {"set_weights", offsetof(et_sums, set_weights), RB_FIELD_DENSE, RB_KEPT_FLOAT64, ET_SETS,
     ET_FEATURES},
    {"set_products", offsetof(et_sums, set_products), RB_FIELD_DENSE, RB_KEPT_FLOAT64, ET_SETS,
     ET_FEATURES},
    {0},
};

static const rb_field work[] = {
    {"ranks", offsetof(et_work, evidence), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_OWN},
    {"sorted", offsetof(et_work, sorted), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_OWN},
    {"mean_active", offsetof(et_work, active), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_UNITS},
    {"target", offsetof(et_work, target), RB_FIELD_DENSE, RB_KEPT_FLOAT64, ET_UNITS, ET_FEATURES},
    {"row", offsetof(et_work, row), RB_FIELD_DENSE, RB_KEPT_FLOAT64, RB_DIM_ONE, ET_FEATURES},
    {"sketch", offsetof(et_work, sketch), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_SKETCHED,
     ET_SKETCH},
    {"block_means", offsetof(et_work, means), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_MEANS},
    {"block_counts", offsetof(et_work, counts), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ET_MEANS},
    {"system", offsetof(et_work, system), RB_FIELD_DENSE, RB_KEPT_FLOAT64, ET_SECOND, ET_SECOND},
    {"inverse", offsetof(et_work, inverse), RB_FIELD_DENSE, RB_KEPT_FLOAT64, ET_SECOND, ET_SECOND},
    {0},
};

/* What all models have, after their fields. */
#define SHARED                                                                                     \
    {RB_PART_PARAMETERS, noise_and_prior, offsetof(et_fit, parameters)},                           \
        {RB_PART_PROGRESS, progress, offsetof(et_fit, progress)},                                  \
        {RB_PART_PROGRESS, trace, offsetof(et_fit, trace)},                                        \
        {RB_PART_SURVEY, survey, offsetof(et_fit, survey)},                                        \
        {RB_PART_SUMS, sums, offsetof(et_fit, sums)},                                              \
        {RB_PART_SCRATCH, work, offsetof(et_fit, work)}, {                                         \
        0                                                                                          \
    }

const rb_part et_parts_any[] = {
    {RB_PART_PARAMETERS, any, offsetof(et_fit, parameters)},
    SHARED,
};
const rb_part et_parts_not_negative[] = {
    {RB_PART_PARAMETERS, not_negative, offsetof(et_fit, parameters)},
    SHARED,
};
const rb_part et_parts_positive[] = {
    {RB_PART_PARAMETERS, positive, offsetof(et_fit, parameters)},
    SHARED,
};

void et_shape(const rb_problem *problem, const void *options, rb_shape *shape) {
    const rb_et_options *o = options;
    et_setup setup = et_setup_of(problem, o);
    const et_summing *summing = setup.model.summing;
    int64_t h = o->units, d = problem->n_features, *dims = shape->dims;
    bool linear = summing->keep == ET_KEEP_PAIRS, missing = problem->missing;
    dims[ET_UNITS] = h;
    dims[ET_FEATURES] = d;
    dims[ET_OWN] = problem->own;
    dims[ET_BINS] = ET_SURVEY_BINS;
    dims[ET_SKETCH] = et_critical_columns(problem, &setup, o);
    dims[ET_SKETCHED] = dims[ET_SKETCH] > 0 ? d : 0;
    dims[ET_MEANS] = missing ? dims[ET_SKETCHED] : 0;
    dims[ET_SECOND] = linear ? h : 0;
    dims[ET_ITEMS] = setup.items;
    dims[ET_VALUED] = setup.values.count > 1 ? setup.items : 0;
    dims[ET_PRODUCTS] = linear ? h : setup.items;
    dims[ET_WEIGHTS] = summing->weights || missing ? setup.items : 0;
    dims[ET_PAIRS] = linear && missing ? et_missing_pairs(h, d) : 0;
    dims[ET_SETS] = summing->sets ? et_sets_count(&setup, problem->n_samples) : 0;
    if (problem->fit->trace) {
        dims[ET_TRACED] = 1;
        dims[ET_TRACED_ITERATIONS] = problem->fit->iterations;
        dims[ET_TRACED_SAMPLES] = et_trace_samples(problem, &setup);
        dims[ET_TRACED_FIELDS] = ET_TRACE_FIELDS;
        dims[ET_TRACED_CELLS] = h * d;
        dims[ET_TRACED_METRICS] = ET_TRACE_METRICS;
    }
}
