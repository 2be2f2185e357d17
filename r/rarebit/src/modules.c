/* Modules, as lists; samples, features and units count from 1. */
#include "binding.h"

#include "calls.h"

static SEXP members(const rb_member *list, int64_t n) {
    static const char *const names[] = {"index", "weight"};
    SEXP frame = PROTECT(named_list(names, 2));
    SEXP index = Rf_allocVector(INTSXP, n);
    SET_VECTOR_ELT(frame, 0, index);
    SEXP weight = Rf_allocVector(REALSXP, n);
    SET_VECTOR_ELT(frame, 1, weight);
    for (int64_t i = 0; i < n; i++) {
        INTEGER(index)[i] = (int)list[i].index + 1;
        REAL(weight)[i] = list[i].weight;
    }
    UNPROTECT(1);
    return frame;
}

static SEXP module_list(const rb_modules *modules, int64_t rank) {
    static const char *const names[] = {"unit",     "information", "stability", "samples",
                                        "features", "score",       "role"};
    const rb_module *module = rb_modules_get(modules, rank);
    SEXP list = PROTECT(named_list(names, 7));
    SET_VECTOR_ELT(list, 0, Rf_ScalarInteger((int)module->unit + 1));
    SET_VECTOR_ELT(list, 1, Rf_ScalarReal(module->information));
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal(module->stability));
    SET_VECTOR_ELT(list, 3, members(module->samples, module->n_samples));
    SET_VECTOR_ELT(list, 4, members(module->features, module->n_features));
    SET_VECTOR_ELT(list, 5, Rf_ScalarReal(rb_modules_score(modules, rank)));
    const rb_table table = rb_modules_table(modules);
    SET_VECTOR_ELT(list, 6,
                   text_to(rb_table_value(&table, rank, rb_table_find(&table, "role")).text));
    UNPROTECT(1);
    return list;
}

void binding_free_modules(SEXP holder) {
    rb_modules_free(R_ExternalPtrAddr(holder));
    R_ClearExternalPtr(holder);
}

SEXP binding_modules(SEXP pointer, SEXP data, SEXP options, SEXP threads) {
    static const char *const names[] = {"rule", "modules"};
    rb_modules *found = NULL;
    const rb_model *model = model_of(pointer);
    rb_source *source = data_of(data)->source;
    const rb_options *wanted = options_of(options)->options;
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_modules_find(context(), model, source, wanted, &found);
    call_end(&frame);
    SEXP holder = PROTECT(R_MakeExternalPtr(found, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(holder, binding_free_modules, TRUE);
    check(err);
    int n = (int)rb_modules_count(found);
    SEXP answer = PROTECT(named_list(names, 2));
    SET_VECTOR_ELT(answer, 0, text_to(rb_modules_rule(found)));
    SEXP list = Rf_allocVector(VECSXP, n);
    SET_VECTOR_ELT(answer, 1, list);
    for (int i = 0; i < n; i++)
        SET_VECTOR_ELT(list, i, module_list(found, i));
    binding_free_modules(holder);
    UNPROTECT(2);
    return answer;
}
