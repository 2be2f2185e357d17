/* Stacks of layers, and nets that are trained on what is known of samples. */
#include "binding.h"

#include "calls.h"

#ifdef RAREBIT_NETS
#include <rarebit/grid.h>
#include <rarebit/stack.h>

const bool has_nets = true;

static rb_error fit_stack(const fit_call *call, rb_model **model) {
    return rb_stack_fit(context(), call->options, call->source, model);
}

SEXP binding_stack(SEXP options, SEXP data, SEXP threads, SEXP each) {
    fit_call call = {options_of(options)->options, data_of(data)->source, NULL, NULL, NULL};
    return model_by(fit_stack, &call, threads, each);
}

/* list(data, classes, names, values): classes from 1, NA for none, or NULL; values: targets x
 * samples, or NULL. What is made lives until the call of R returns. */
static void take_labelled(SEXP list, rb_labelled *to) {
    SEXP classes = VECTOR_ELT(list, 1), values = VECTOR_ELT(list, 3);
    *to = (rb_labelled){.size = sizeof *to, .source = data_of(VECTOR_ELT(list, 0))->source};
    int64_t n = rb_source_samples(to->source);
    if (classes == R_NilValue) {
        to->values = REAL(values);
        to->n_values = XLENGTH(values) / (n ? n : 1);
        return;
    }
    int64_t *class_of = (int64_t *)R_alloc((size_t)n, sizeof *class_of);
    for (int64_t i = 0; i < n; i++)
        class_of[i] = INTEGER(classes)[i] == NA_INTEGER ? -1 : INTEGER(classes)[i] - 1;
    to->class_of = class_of;
    to->names = texts_of(VECTOR_ELT(list, 2));
    to->n_classes = XLENGTH(VECTOR_ELT(list, 2));
}

static rb_error finetune(const fit_call *call, rb_model **net) {
    return rb_finetune(context(), call->options, call->start, call->train, call->valid, net);
}

/* start, valid: NULL or a model and labelled samples. */
SEXP binding_finetune(SEXP options, SEXP start, SEXP train, SEXP valid, SEXP threads, SEXP each) {
    rb_labelled samples, unseen;
    take_labelled(train, &samples);
    if (valid != R_NilValue) take_labelled(valid, &unseen);
    fit_call call = {options_of(options)->options, NULL,
                     start == R_NilValue ? NULL : model_of(start), &samples,
                     valid == R_NilValue ? NULL : &unseen};
    return model_by(finetune, &call, threads, each);
}

/* ---- which settings ---- */

typedef struct tried {
    rb_grid *grid;
} tried;

static void clear_tried(void *object) {
    rb_grid_free(((tried *)object)->grid);
}

/* What each point gave, as columns. */
static SEXP points_of(const rb_grid *grid) {
    static const char *const names[] = {"point",       "epochs",     "best_epoch",
                                        "valid_error", "valid_loss", "chosen"};
    int n = (int)rb_grid_points(grid);
    SEXP list = PROTECT(named_list(names, 6)), points = Rf_allocVector(STRSXP, n);
    SET_VECTOR_ELT(list, 0, points);
    for (int c = 1; c < 5; c++)
        SET_VECTOR_ELT(list, c, Rf_allocVector(REALSXP, n));
    SEXP chosen = Rf_allocVector(LGLSXP, n);
    SET_VECTOR_ELT(list, 5, chosen);
    for (int i = 0; i < n; i++) {
        SET_STRING_ELT(points, i, Rf_mkCharCE(rb_grid_point(grid, i), CE_UTF8));
        for (int c = 1; c < 5; c++)
            REAL(VECTOR_ELT(list, c))[i] = rb_grid_get(grid, i, names[c]);
        LOGICAL(chosen)[i] = i == rb_grid_best(grid);
    }
    UNPROTECT(1);
    return list;
}

/* The net of the best point of `values`, "rate=0.1,0.01", and what all gave. */
SEXP binding_grid(SEXP options, SEXP values, SEXP start, SEXP train, SEXP valid, SEXP threads) {
    static const char *const names[] = {"net", "points"};
    const rb_options *wanted = options_of(options)->options;
    const rb_model *from = start == R_NilValue ? NULL : model_of(start);
    const char *grid = text_named(values, "grid");
    rb_labelled samples, unseen;
    take_labelled(train, &samples);
    if (valid != R_NilValue) take_labelled(valid, &unseen);
    tried *t;
    SEXP holder = PROTECT(hold(sizeof *t, clear_tried, &t));
    SEXP answer = PROTECT(named_list(names, 2)), net = object_new(IS_MODEL, R_NilValue);
    SET_VECTOR_ELT(answer, 0, net);
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_finetune_grid(context(), wanted, grid, from, &samples,
                                    valid == R_NilValue ? NULL : &unseen, &t->grid);
    call_end(&frame);
    check(err);
    SET_VECTOR_ELT(answer, 1, points_of(t->grid));
    ((model_object *)object_of(IS_MODEL, net))->model = rb_grid_take(t->grid);
    let_go(holder);
    UNPROTECT(2);
    return answer;
}

/* ---- what a net gives ---- */

static void clear_scores(void *scores) {
    rb_net_scores_clear(scores);
}

/* Of classes the table of what they were taken for, outputs x outputs, is the last. */
SEXP binding_score(SEXP pointer, SEXP samples, SEXP threads) {
    static const char *const names[] = {
        "samples",           "error_rate",         "low",      "high", "log_loss",
        "calibration_error", "mean_squared_error", "confusion"};
    const rb_model *net = model_of(pointer);
    rb_labelled labelled;
    take_labelled(samples, &labelled);
    rb_net_scores *found;
    SEXP holder = PROTECT(hold(sizeof *found, clear_scores, &found));
    found->size = sizeof *found;
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_net_score(context(), net, &labelled, found);
    call_end(&frame);
    check(err);
    const double numbers[] = {(double)found->samples,
                              found->error_rate,
                              found->low,
                              found->high,
                              found->log_loss,
                              found->calibration_error,
                              found->mean_squared_error};
    SEXP answer = PROTECT(named_list(names, 8));
    for (int i = 0; i < 7; i++)
        SET_VECTOR_ELT(answer, i, Rf_ScalarReal(numbers[i]));
    if (found->confusion) {
        int n = (int)found->n_outputs;
        SEXP table = Rf_allocMatrix(REALSXP, n, n);
        SET_VECTOR_ELT(answer, 7, table);
        for (int i = 0; i < n * n; i++)
            REAL(table)[i % n * n + i / n] = (double)found->confusion[i];
    }
    let_go(holder);
    UNPROTECT(2);
    return answer;
}

/* The names of a net's outputs; NULL: it is no net. An attribute says what they are. */
SEXP binding_outputs(SEXP pointer) {
    const rb_model *net = model_of(pointer);
    const char *kind = rb_net_outputs(net);
    if (!kind) return R_NilValue;
    int n = (int)rb_model_units(net);
    SEXP names = PROTECT(Rf_allocVector(STRSXP, n)), what = PROTECT(text_to(kind));
    for (int k = 0; k < n; k++) {
        char name[1000];
        rb_net_output_name(net, k, name, sizeof name);
        SET_STRING_ELT(names, k, Rf_mkCharCE(name, CE_UTF8));
    }
    Rf_setAttrib(names, Rf_install("kind"), what);
    UNPROTECT(2);
    return names;
}

#ifdef RAREBIT_IO
SEXP binding_export(SEXP model, SEXP filter, SEXP path) {
    const rb_model *of = model_of(model);
    const char *how = filter == R_NilValue ? NULL : text_of(filter), *to = text_of(path);
    rb_layers *layers = NULL;
    check(rb_layers_new(context(), of, how, &layers));
    rb_error err = rb_layers_write(context(), of, layers, to);
    rb_layers_free(layers);
    check(err);
    return R_NilValue;
}

SEXP binding_import(SEXP path, SEXP like) {
    SEXP pointer = PROTECT(object_new(IS_MODEL, R_NilValue));
    model_object *made = object_of(IS_MODEL, pointer);
    const rb_model *of = model_of(like);
    check(rb_net_read(context(), text_of(path), of, &made->model));
    UNPROTECT(1);
    return pointer;
}
#endif
#else
const bool has_nets = false;
#endif
