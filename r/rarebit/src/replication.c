/* Which units are found again: in another model, in two cohorts, in the same fit. */
#include "binding.h"

#include "calls.h"

typedef struct replicated {
    rb_replication models;
    rb_cohorts cohorts;
    rb_model *again;
} replicated;

static void clear_replicated(void *object) {
    replicated *r = object;
    rb_replication_clear(&r->models);
    rb_cohorts_clear(&r->cohorts);
    rb_model_free(r->again);
}

static SEXP begin(replicated **r) {
    SEXP holder = hold(sizeof **r, clear_replicated, r);
    (*r)->models.size = sizeof(*r)->models;
    (*r)->cohorts.size = sizeof(*r)->cohorts;
    return holder;
}

SEXP binding_compare_models(SEXP first, SEXP second, SEXP options, SEXP threads) {
    static const char *const names[] = {"table", "found", "features", "by_name", "same_data"};
    const rb_model *a = model_of(first), *b = model_of(second);
    const rb_options *wanted = options_of(options)->options;
    replicated *r;
    SEXP holder = PROTECT(begin(&r));
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_compare_models(context(), a, b, wanted, &r->models);
    call_end(&frame);
    check(err);
    const rb_table table = rb_replication_table(&r->models);
    SEXP answer = PROTECT(named_list(names, 5));
    SET_VECTOR_ELT(answer, 0, table_to(&table));
    SET_VECTOR_ELT(answer, 1, Rf_ScalarInteger((int)rb_replication_found(&r->models)));
    SET_VECTOR_ELT(answer, 2, Rf_ScalarInteger((int)r->models.n_features));
    SET_VECTOR_ELT(answer, 3, Rf_ScalarLogical(r->models.by_name));
    SET_VECTOR_ELT(answer, 4, Rf_ScalarLogical(r->models.same_data));
    let_go(holder);
    UNPROTECT(2);
    return answer;
}

SEXP binding_compare_cohorts(SEXP model, SEXP first, SEXP second, SEXP options, SEXP threads) {
    static const char *const names[] = {"table", "found"};
    rb_source *x = data_of(first)->source, *y = data_of(second)->source;
    const rb_model *of = model_of(model);
    const rb_options *wanted = options_of(options)->options;
    replicated *r;
    SEXP holder = PROTECT(begin(&r));
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_compare_cohorts(context(), of, x, y, wanted, &r->cohorts);
    call_end(&frame);
    check(err);
    const rb_table table = rb_cohorts_table(&r->cohorts);
    SEXP answer = PROTECT(named_list(names, 2));
    SET_VECTOR_ELT(answer, 0, table_to(&table));
    SET_VECTOR_ELT(answer, 1, Rf_ScalarInteger((int)rb_cohorts_found(&r->cohorts)));
    let_go(holder);
    UNPROTECT(2);
    return answer;
}

/* Name, of what, the same bits, the difference: of each array and column of the history. */
static SEXP differences(const rb_model *a, const rb_model *b) {
    static const char *const names[] = {"name", "of", "same", "difference"};
    static const SEXPTYPE types[] = {STRSXP, STRSXP, LGLSXP, REALSXP};
    rb_model_difference d = {.size = sizeof d};
    int n = 0;
    while (rb_model_compare(a, b, n, &d))
        n++;
    SEXP list = PROTECT(named_list(names, 4));
    for (int k = 0; k < 4; k++)
        SET_VECTOR_ELT(list, k, Rf_allocVector(types[k], n));
    for (int i = 0; i < n; i++) {
        rb_model_compare(a, b, i, &d);
        SET_STRING_ELT(VECTOR_ELT(list, 0), i, Rf_mkCharCE(d.name, CE_UTF8));
        SET_STRING_ELT(VECTOR_ELT(list, 1), i, Rf_mkChar(d.history ? "history" : "arrays"));
        LOGICAL(VECTOR_ELT(list, 2))[i] = d.same;
        REAL(VECTOR_ELT(list, 3))[i] = d.difference;
    }
    UNPROTECT(1);
    return list;
}

SEXP binding_rerun(SEXP model, SEXP data, SEXP start, SEXP threads) {
    const rb_model *of = model_of(model), *from = start == R_NilValue ? NULL : model_of(start);
    rb_source *source = data_of(data)->source;
    replicated *r;
    SEXP holder = PROTECT(begin(&r));
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_rerun(context(), of, NULL, source, from, &r->again);
    call_end(&frame);
    check(err);
    SEXP answer = PROTECT(differences(of, r->again));
    let_go(holder);
    UNPROTECT(2);
    return answer;
}
