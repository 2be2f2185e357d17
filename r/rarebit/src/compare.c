/* Methods on one scale, as columns. */
#include "binding.h"

#include <stdlib.h>
#include <string.h>

#include "calls.h"

/* What is held while values of R are made of it. */
typedef struct compared {
    rb_covariates *labels;
    rb_method_comparison *found;
} compared;

static void free_compared(SEXP holder) {
    compared *c = R_ExternalPtrAddr(holder);
    if (!c) return;
    rb_covariates_free(c->labels);
    rb_method_comparison_free(c->found);
    free(c);
    R_ClearExternalPtr(holder);
}

static SEXP column(const rb_table *table, const rb_table_column *of) {
    int n = (int)table->n_rows;
    SEXP values = PROTECT(Rf_allocVector(of->kind == RB_VALUE_TEXT ? STRSXP : REALSXP, n));
    for (int i = 0; i < n; i++) {
        rb_value v = rb_table_value(table, i, of);
        if (of->kind == RB_VALUE_TEXT)
            SET_STRING_ELT(values, i, Rf_mkCharCE(v.text, CE_UTF8));
        else
            REAL(values)[i] = v.kind ? v.number : NA_REAL;
    }
    UNPROTECT(1);
    return values;
}

static SEXP columns(const rb_table *table) {
    const char *names[32];
    int count = 0;
    for (const rb_table_column *c = table->columns; c->key && count < 32; c++)
        if (rb_table_find(table, c->key)) names[count++] = c->key;
    SEXP list = PROTECT(named_list(names, count));
    for (int i = 0; i < count; i++)
        SET_VECTOR_ELT(list, i, column(table, rb_table_find(table, names[i])));
    UNPROTECT(1);
    return list;
}

SEXP binding_compare(SEXP data, SEXP labels, SEXP options, SEXP threads) {
    static const char *const names[] = {"table", "summary"};
    rb_source *source = data_of(data)->source;
    const rb_options *wanted = options_of(options)->options;
    const char **classes = texts_of(labels);
    compared *c = calloc(1, sizeof *c);
    if (!c) refuse("out of memory");
    SEXP holder = PROTECT(R_MakeExternalPtr(c, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(holder, free_compared, TRUE);
    if (classes) {
        check(rb_covariates_new(context(), XLENGTH(labels), &c->labels));
        check(rb_covariates_add_groups(context(), c->labels, "class", classes));
    }
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_methods_compare(context(), wanted, source, c->labels, &c->found);
    call_end(&frame);
    check(err);
    const rb_table table = rb_method_comparison_table(c->found);
    SEXP answer = PROTECT(named_list(names, 2));
    SET_VECTOR_ELT(answer, 0, columns(&table));
    const char *summary = rb_method_comparison_summary(c->found);
    char *spelt = R_alloc(2 * strlen(summary) + 1, 1);
    spell(summary, spelt);
    SET_VECTOR_ELT(answer, 1, text_to(spelt));
    free_compared(holder);
    UNPROTECT(2);
    return answer;
}
