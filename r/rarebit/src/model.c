/* Models: fits, and what is done with them. */
#include "binding.h"

#include <rarebit/states.h>
#include <rarebit/view.h>

#include <string.h>

#include "calls.h"

SEXP model_by(rb_error (*make)(const fit_call *, rb_model **), const fit_call *call, SEXP threads,
              SEXP each) {
    SEXP pointer = PROTECT(object_new(IS_MODEL, R_NilValue));
    model_object *made = object_of(IS_MODEL, pointer);
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), each);
    rb_error err = make(call, &made->model);
    call_end(&frame);
    check(err);
    UNPROTECT(1);
    return pointer;
}

static rb_error fit(const fit_call *call, rb_model **model) {
    return rb_fit(context(), call->options, call->source, call->start, model);
}

SEXP binding_fit(SEXP options, SEXP data, SEXP start, SEXP threads, SEXP each) {
    fit_call call = {options_of(options)->options, data_of(data)->source,
                     start == R_NilValue ? NULL : model_of(start), NULL, NULL};
    return model_by(fit, &call, threads, each);
}

static rb_error fit_consensus(const fit_call *call, rb_model **model) {
    return rb_fit_consensus(context(), call->options, call->source, model);
}

/* The consensus of many fits. */
SEXP binding_consensus(SEXP options, SEXP data, SEXP threads, SEXP each) {
    fit_call call = {options_of(options)->options, data_of(data)->source, NULL, NULL, NULL};
    return model_by(fit_consensus, &call, threads, each);
}

/* ---- models as bytes ---- */

SEXP binding_model_bytes(SEXP pointer) {
    void *bytes = NULL;
    size_t size = 0;
    const rb_model *model = model_of(pointer);
    check(rb_model_save_memory(context(), model, &bytes, &size));
    SEXP holder = PROTECT(R_MakeExternalPtr(bytes, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(holder, binding_free_bytes, TRUE);
    SEXP raw = PROTECT(Rf_allocVector(RAWSXP, (R_xlen_t)size));
    memcpy(RAW(raw), bytes, size);
    binding_free_bytes(holder);
    UNPROTECT(2);
    return raw;
}

void binding_free_bytes(SEXP holder) {
    rb_free_memory(R_ExternalPtrAddr(holder));
    R_ClearExternalPtr(holder);
}

SEXP binding_model_of_bytes(SEXP raw) {
    SEXP pointer = PROTECT(object_new(IS_MODEL, R_NilValue));
    model_object *made = object_of(IS_MODEL, pointer);
    if (TYPEOF(raw) != RAWSXP) refuse("a model is raw bytes");
    check(rb_model_load_memory(context(), RAW(raw), (size_t)XLENGTH(raw), &made->model));
    UNPROTECT(1);
    return pointer;
}

/* The samples of the fit stay with the model in this session, and saveRDS leaves them out. */
SEXP binding_keep(SEXP pointer, SEXP data) {
    model_object *object = object_of(IS_MODEL, pointer);
    if (object->data) R_ReleaseObject(object->data);
    object->data = NULL;
    R_PreserveObject(data);
    object->data = data;
    return R_NilValue;
}

SEXP binding_kept(SEXP pointer) {
    model_object *object = object_of(IS_MODEL, pointer);
    return object->data ? object->data : R_NilValue;
}

SEXP binding_is_there(SEXP pointer) {
    return Rf_ScalarLogical(TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrAddr(pointer) != NULL);
}

/* ---- what is in a model ---- */

static SEXP feature_names(const rb_model *model) {
    int64_t m = rb_model_features(model);
    if (m == 0 || !rb_model_feature_name(model, 0)) return R_NilValue;
    SEXP names = PROTECT(Rf_allocVector(STRSXP, m));
    for (int64_t k = 0; k < m; k++)
        SET_STRING_ELT(names, k, Rf_mkCharCE(rb_model_feature_name(model, k), CE_UTF8));
    UNPROTECT(1);
    return names;
}

/* feature_index: columns of the training data, from 1. */
SEXP binding_model_info(SEXP pointer) {
    static const char *const names[] = {"method",        "features",      "units",
                                        "status",        "precision",     "iterations",
                                        "feature_names", "feature_index", "inputs"};
    const rb_model *model = model_of(pointer);
    int64_t m = rb_model_features(model);
    SEXP list = PROTECT(named_list(names, 9));
    SET_VECTOR_ELT(list, 0, text_to(rb_model_method(model)));
    SET_VECTOR_ELT(list, 1, Rf_ScalarInteger((int)m));
    SET_VECTOR_ELT(list, 2, Rf_ScalarInteger((int)rb_model_units(model)));
    SET_VECTOR_ELT(list, 3, text_to(rb_status_name(rb_model_status(model))));
    SET_VECTOR_ELT(list, 4, text_to(rb_model_type(model) == RB_FLOAT32 ? "float32" : "float64"));
    SET_VECTOR_ELT(list, 5, Rf_ScalarInteger((int)rb_model_iterations(model)));
    SET_VECTOR_ELT(list, 6, feature_names(model));
    SEXP index = Rf_allocVector(INTSXP, m);
    SET_VECTOR_ELT(list, 7, index);
    for (int64_t k = 0; k < m; k++)
        INTEGER(index)[k] = (int)rb_model_feature_index(model, k) + 1;
    SET_VECTOR_ELT(list, 8, Rf_ScalarInteger((int)rb_model_inputs(model)));
    UNPROTECT(1);
    return list;
}

/* An array as a matrix; NULL: there is none of that name. */
SEXP binding_model_array(SEXP pointer, SEXP name) {
    int64_t rows, columns;
    const double *values = rb_model_array(model_of(pointer), text_of(name), &rows, &columns);
    if (!values) return R_NilValue;
    SEXP matrix = PROTECT(Rf_allocMatrix(REALSXP, (int)rows, (int)columns));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            REAL(matrix)[i + j * rows] = values[i * columns + j];
    UNPROTECT(1);
    return matrix;
}

static SEXP listed(const rb_model *model, const char *(*name)(const rb_model *, int64_t)) {
    int n = 0;
    while (name(model, n))
        n++;
    SEXP names = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++)
        SET_STRING_ELT(names, i, Rf_mkCharCE(name(model, i), CE_UTF8));
    UNPROTECT(1);
    return names;
}

SEXP binding_model_array_names(SEXP pointer) {
    return listed(model_of(pointer), rb_model_array_name);
}

SEXP binding_model_attributes(SEXP pointer) {
    const rb_model *model = model_of(pointer);
    SEXP names = PROTECT(listed(model, rb_model_attribute_name));
    SEXP values = PROTECT(Rf_allocVector(STRSXP, XLENGTH(names)));
    for (R_xlen_t i = 0; i < XLENGTH(names); i++) {
        const char *value = rb_model_attribute(model, rb_model_attribute_name(model, i));
        SET_STRING_ELT(values, i, Rf_mkCharCE(value ? value : "", CE_UTF8));
    }
    Rf_setAttrib(values, R_NamesSymbol, names);
    UNPROTECT(2);
    return values;
}

SEXP binding_set_attribute(SEXP pointer, SEXP name, SEXP value) {
    rb_model *model = model_of(pointer);
    const char *key = text_of(name), *text = text_of(value);
    check(rb_model_set_attribute(context(), model, key, text));
    return R_NilValue;
}

/* Objective, E-step objective and seconds of each iteration: a matrix of three columns. */
SEXP binding_model_history(SEXP pointer) {
    const rb_model *model = model_of(pointer);
    int n = (int)rb_model_iterations(model);
    SEXP history = PROTECT(Rf_allocMatrix(REALSXP, n, 3));
    double *to = REAL(history);
    for (int t = 0; t < n; t++)
        check(rb_model_history(model, t, to + t, to + n + t, to + 2 * n + t));
    UNPROTECT(1);
    return history;
}

/* ---- what a model makes of samples ---- */

typedef rb_error into_fn(rb_context *, const rb_model *, rb_source *, rb_type, void *, int64_t,
                         int64_t);

static SEXP rows_of(into_fn *into, int64_t columns, SEXP pointer, SEXP data, SEXP threads) {
    const rb_model *model = model_of(pointer);
    rb_source *source = data_of(data)->source;
    int64_t n = rb_source_samples(source);
    SEXP rows = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)columns));
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = into(context(), model, source, RB_FLOAT64, REAL(rows), 1, n);
    call_end(&frame);
    check(err);
    UNPROTECT(1);
    return rows;
}

SEXP binding_encode(SEXP pointer, SEXP data, SEXP threads) {
    return rows_of(rb_encode_into, rb_model_units(model_of(pointer)), pointer, data, threads);
}

SEXP binding_reconstruct(SEXP pointer, SEXP data, SEXP threads) {
    return rows_of(rb_reconstruct_into, rb_model_features(model_of(pointer)), pointer, data,
                   threads);
}

static rb_error sample_options(int64_t count, double noise, double seed, rb_options **options) {
    rb_error err = rb_options_new(context(), NULL, options);
    err = err ? err : rb_options_add(context(), *options, rb_sample_group());
    err = err ? err : rb_options_set_integer(context(), *options, "count", count);
    err = err ? err : rb_options_set_number(context(), *options, "noise", noise);
    return err ? err : rb_options_set_integer(context(), *options, "seed", (int64_t)seed);
}

/* data: NULL, or samples from whose codes new ones are drawn. */
SEXP binding_sample(SEXP pointer, SEXP data, SEXP count, SEXP noise, SEXP seed, SEXP threads) {
    const rb_model *model = model_of(pointer);
    rb_source *source = Rf_isNull(data) ? NULL : data_of(data)->source;
    rb_options *options = NULL;
    int64_t n = Rf_asInteger(count);
    SEXP rows = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)rb_model_features(model)));
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = sample_options(n, Rf_asReal(noise), Rf_asReal(seed), &options);
    if (!err) err = rb_sample_into(context(), model, source, options, RB_FLOAT64, REAL(rows), 1, n);
    rb_options_free(options);
    call_end(&frame);
    check(err);
    UNPROTECT(1);
    return rows;
}

SEXP binding_evaluate(SEXP pointer, SEXP data, SEXP threads) {
    rb_metrics *metrics = NULL;
    const rb_model *model = model_of(pointer);
    rb_source *source = data_of(data)->source;
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_evaluate(context(), model, source, &metrics);
    call_end(&frame);
    SEXP holder = PROTECT(R_MakeExternalPtr(metrics, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(holder, binding_free_metrics, TRUE);
    check(err);
    SEXP values = PROTECT(metrics_to(metrics));
    binding_free_metrics(holder);
    UNPROTECT(2);
    return values;
}

void binding_free_metrics(SEXP holder) {
    rb_metrics_free(R_ExternalPtrAddr(holder));
    R_ClearExternalPtr(holder);
}

typedef struct states {
    int64_t n;
    double *evidence, *values; /* samples; samples x causes, or NULL */
} states;

static rb_error keep_state(void *user, const rb_state *state) {
    const states *s = user;
    s->evidence[state->sample] = state->log_evidence;
    for (int64_t k = 0; s->values && k < state->count; k++)
        s->values[state->sample + state->causes[k] * s->n] = state->values[k];
    return RB_OK;
}

/* Of each sample the log evidence, by the states that expectation truncation looks at; or the most
 * probable of these, samples x causes, with the evidence as an attribute. */
SEXP binding_states(SEXP pointer, SEXP data, SEXP values, SEXP threads) {
    const rb_model *model = model_of(pointer);
    rb_source *source = data_of(data)->source;
    int64_t n = rb_source_samples(source);
    SEXP evidence = PROTECT(Rf_allocVector(REALSXP, n)), found = R_NilValue;
    states s = {n, REAL(evidence), NULL};
    if (Rf_asLogical(values)) {
        found = Rf_allocMatrix(REALSXP, (int)n, (int)rb_model_units(model));
        s.values = REAL(found);
        memset(s.values, 0, (size_t)XLENGTH(found) * sizeof *s.values);
    }
    PROTECT(found);
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_states(context(), model, source, keep_state, &s);
    call_end(&frame);
    check(err);
    if (s.values) Rf_setAttrib(found, Rf_install("log_evidence"), evidence);
    UNPROTECT(2);
    return s.values ? found : evidence;
}

/* features: of those in use, from 1. Features x all samples, standardised. */
SEXP binding_view(SEXP pointer, SEXP data, SEXP features) {
    const rb_model *model = model_of(pointer);
    rb_source *source = data_of(data)->source;
    int64_t n = rb_source_samples(source), m = XLENGTH(features);
    int64_t *samples = (int64_t *)R_alloc((size_t)(n + m), sizeof *samples), *chosen = samples + n;
    float *values = (float *)R_alloc((size_t)(n * m), sizeof *values);
    for (int64_t i = 0; i < n; i++)
        samples[i] = i;
    for (int64_t k = 0; k < m; k++)
        chosen[k] = INTEGER(features)[k] - 1;
    rb_view view = {sizeof view, samples, chosen, n, m, values};
    call_frame frame;
    call_begin(&frame, rb_context_threads(context()), R_NilValue);
    rb_error err = rb_view_fill(context(), model, source, &view);
    call_end(&frame);
    check(err);
    SEXP rows = PROTECT(Rf_allocMatrix(REALSXP, (int)m, (int)n));
    for (int64_t k = 0; k < m; k++)
        for (int64_t i = 0; i < n; i++)
            REAL(rows)[k + i * m] = (double)values[k * n + i];
    UNPROTECT(1);
    return rows;
}
