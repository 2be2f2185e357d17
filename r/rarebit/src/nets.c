/* Stacks of layers, and nets that are trained on what is known of samples. */
#include "binding.h"

#include "calls.h"

#ifdef RAREBIT_NETS
#include <rarebit/deep.h>
#include <rarebit/stack.h>

const bool has_nets = true;

SEXP binding_stack(SEXP options, SEXP data, SEXP threads, SEXP each) {
    SEXP pointer = PROTECT(object_new(IS_MODEL, R_NilValue));
    model_object *made = object_of(IS_MODEL, pointer);
    const rb_options *wanted = options_of(options)->options;
    rb_source *source = data_of(data)->source;
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), each);
    rb_error err = rb_stack_fit(context(), wanted, source, &made->model);
    call_end(&frame);
    check(err);
    UNPROTECT(1);
    return pointer;
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

/* start, valid: NULL or a model and labelled samples. */
SEXP binding_finetune(SEXP options, SEXP start, SEXP train, SEXP valid, SEXP threads, SEXP each) {
    SEXP pointer = PROTECT(object_new(IS_MODEL, R_NilValue));
    model_object *made = object_of(IS_MODEL, pointer);
    const rb_options *wanted = options_of(options)->options;
    const rb_model *from = start == R_NilValue ? NULL : model_of(start);
    rb_labelled samples, unseen;
    take_labelled(train, &samples);
    if (valid != R_NilValue) take_labelled(valid, &unseen);
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), each);
    rb_error err = rb_finetune(context(), wanted, from, &samples,
                               valid == R_NilValue ? NULL : &unseen, &made->model);
    call_end(&frame);
    check(err);
    UNPROTECT(1);
    return pointer;
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
