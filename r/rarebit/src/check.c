/* A look at data before a fit. */
#include "binding.h"

#include <string.h>

#include "calls.h"

typedef struct looked {
    rb_check *check;
} looked;

static void clear_looked(void *object) {
    rb_check_free(((looked *)object)->check);
}

/* As R spells options. */
static SEXP spelt(const char *text) {
    if (!text) return Rf_mkChar("");
    char *to = R_alloc(2 * strlen(text) + 1, 1);
    spell(text, to);
    return Rf_mkCharCE(to, CE_UTF8);
}

static SEXP findings(const rb_check *c) {
    static const char *const names[] = {"name", "severity", "value", "sentence"};
    static const char *const severities[] = {"fine", "note", "problem"};
    int n = (int)rb_check_count(c);
    SEXP list = PROTECT(named_list(names, 4));
    for (int k = 0; k < 4; k++)
        SET_VECTOR_ELT(list, k, Rf_allocVector(k == 2 ? REALSXP : STRSXP, n));
    for (int i = 0; i < n; i++) {
        const rb_finding *f = rb_check_finding(c, i);
        SET_STRING_ELT(VECTOR_ELT(list, 0), i, Rf_mkChar(f->name));
        SET_STRING_ELT(VECTOR_ELT(list, 1), i, Rf_mkChar(severities[f->severity]));
        REAL(VECTOR_ELT(list, 2))[i] = f->value;
        SET_STRING_ELT(VECTOR_ELT(list, 3), i, spelt(f->sentence));
    }
    UNPROTECT(1);
    return list;
}

static SEXP advice(const rb_check *c) {
    static const char *const names[] = {"option", "value", "reason"};
    int n = (int)rb_check_advice_count(c);
    SEXP list = PROTECT(named_list(names, 3));
    for (int k = 0; k < 3; k++)
        SET_VECTOR_ELT(list, k, Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++) {
        const rb_advice *a = rb_check_advice(c, i);
        SET_STRING_ELT(VECTOR_ELT(list, 0), i, Rf_mkChar(a->option));
        SET_STRING_ELT(VECTOR_ELT(list, 1), i, Rf_mkChar(a->value));
        SET_STRING_ELT(VECTOR_ELT(list, 2), i, spelt(a->reason));
    }
    UNPROTECT(1);
    return list;
}

SEXP binding_check(SEXP data, SEXP options, SEXP threads) {
    static const char *const names[] = {"kind", "across", "method", "reason", "findings", "advice"};
    rb_source *source = data_of(data)->source;
    const rb_options *wanted = options_of(options)->options;
    looked *l;
    SEXP holder = PROTECT(hold(sizeof *l, clear_looked, &l));
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_check_run(context(), source, wanted, &l->check);
    call_end(&frame);
    check(err);
    SEXP answer = PROTECT(named_list(names, 6));
    SET_VECTOR_ELT(answer, 0, text_to(rb_check_kind(l->check)));
    SET_VECTOR_ELT(answer, 1, Rf_ScalarLogical(rb_check_across(l->check)));
    SET_VECTOR_ELT(answer, 2, text_to(rb_check_method(l->check)));
    SET_VECTOR_ELT(answer, 3, Rf_ScalarString(spelt(rb_check_method_reason(l->check))));
    SET_VECTOR_ELT(answer, 4, findings(l->check));
    SET_VECTOR_ELT(answer, 5, advice(l->check));
    let_go(holder);
    UNPROTECT(2);
    return answer;
}
