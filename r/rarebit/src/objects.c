/* External pointers to what the library makes, and values of R as the library wants them. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {"rarebit data", "rarebit options", "rarebit model"};

static void data_free(void *object) {
    data_object *d = object;
    rb_source_free(d->source);
    rb_matrix_free(d->matrix);
    free(d->starts);
}

static void options_free(void *object) {
    options_object *o = object;
    rb_options_free(o->options);
    for (int i = 0; i < o->n_values; i++)
        rb_matrix_free(o->values[i]);
    free(o->values);
}

static void model_free(void *object) {
    model_object *m = object;
    rb_model_free(m->model);
    if (m->data) R_ReleaseObject(m->data);
}

static void finalize(SEXP pointer) {
    static void (*const frees[])(void *) = {data_free, options_free, model_free};
    void *object = R_ExternalPtrAddr(pointer);
    if (!object) return;
    for (int kind = 0; kind < 3; kind++)
        if (R_ExternalPtrTag(pointer) == Rf_install(kind_names[kind])) frees[kind](object);
    free(object);
    R_ClearExternalPtr(pointer);
}

SEXP object_new(object_kind kind, SEXP keep) {
    static const size_t sizes[] = {sizeof(data_object), sizeof(options_object),
                                   sizeof(model_object)};
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, Rf_install(kind_names[kind]), keep));
    R_RegisterCFinalizerEx(pointer, finalize, TRUE);
    void *object = calloc(1, sizes[kind]);
    if (!object) refuse("out of memory");
    R_SetExternalPtrAddr(pointer, object);
    UNPROTECT(1);
    return pointer;
}

void *object_of(object_kind kind, SEXP pointer) {
    void *object = NULL;
    if (TYPEOF(pointer) == EXTPTRSXP && R_ExternalPtrTag(pointer) == Rf_install(kind_names[kind]))
        object = R_ExternalPtrAddr(pointer);
    if (!object)
        Rf_errorcall(R_NilValue, "this object is not %s of this session", kind_names[kind]);
    return object;
}

typedef struct held {
    void *object;
    void (*clear)(void *);
} held;

void let_go(SEXP holder) {
    held *h = R_ExternalPtrAddr(holder);
    if (!h) return;
    if (h->object) h->clear(h->object);
    free(h->object);
    free(h);
    R_ClearExternalPtr(holder);
}

SEXP hold(size_t size, void (*clear)(void *), void *to) {
    SEXP holder = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(holder, let_go, TRUE);
    held *h = calloc(1, sizeof *h);
    void *object = h ? calloc(1, size) : NULL;
    if (h) *h = (held){object, clear};
    R_SetExternalPtrAddr(holder, h);
    if (!object) refuse("out of memory");
    memcpy(to, &object, sizeof object);
    UNPROTECT(1);
    return holder;
}

const char *text_named(SEXP string, const char *name) {
    if (TYPEOF(string) != STRSXP || XLENGTH(string) != 1 || STRING_ELT(string, 0) == NA_STRING)
        Rf_errorcall(R_NilValue, "%s is one text", name);
    return Rf_translateCharUTF8(STRING_ELT(string, 0));
}

const char **texts_of(SEXP strings) {
    if (strings == R_NilValue) return NULL;
    if (TYPEOF(strings) != STRSXP) refuse("texts are wanted");
    R_xlen_t n = XLENGTH(strings);
    const char **texts = (const char **)R_alloc((size_t)n + 1, sizeof *texts);
    for (R_xlen_t i = 0; i < n; i++) {
        SEXP text = STRING_ELT(strings, i);
        texts[i] = text == NA_STRING ? "" : Rf_translateCharUTF8(text);
    }
    return texts;
}

const char **names_of(SEXP list, const char *sentence) {
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < XLENGTH(list); i++)
        if (names == R_NilValue || STRING_ELT(names, i) == NA_STRING ||
            !*CHAR(STRING_ELT(names, i)))
            refuse(sentence);
    return texts_of(names);
}

SEXP text_to(const char *text) {
    return Rf_ScalarString(text ? Rf_mkCharCE(text, CE_UTF8) : NA_STRING);
}

SEXP named_list(const char *const *names, int n) {
    SEXP list = PROTECT(Rf_allocVector(VECSXP, n)), keys = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++)
        SET_STRING_ELT(keys, i, Rf_mkChar(names[i]));
    Rf_setAttrib(list, R_NamesSymbol, keys);
    UNPROTECT(2);
    return list;
}
