/* Tables of results, as columns. */
#include "binding.h"

static double number_of(const rb_value *v) {
    return v->kind == RB_VALUE_INTEGER ? (double)v->integer : v->kind ? v->number : NA_REAL;
}

static SEXP column(const rb_table *table, const rb_table_column *of) {
    int n = (int)table->n_rows;
    SEXP values = PROTECT(Rf_allocVector(of->kind == RB_VALUE_TEXT ? STRSXP : REALSXP, n));
    for (int i = 0; i < n; i++) {
        rb_value v = rb_table_value(table, i, of);
        if (of->kind == RB_VALUE_TEXT)
            SET_STRING_ELT(values, i, v.kind && v.text ? Rf_mkCharCE(v.text, CE_UTF8) : NA_STRING);
        else
            REAL(values)[i] = number_of(&v);
    }
    UNPROTECT(1);
    return values;
}

SEXP table_to(const rb_table *table) {
    const char *names[32];
    int count = 0;
    for (const rb_table_column *c = table->columns; c->key && count < 32; c++)
        if (c->kind <= RB_VALUE_TEXT && rb_table_find(table, c->key)) names[count++] = c->key;
    SEXP list = PROTECT(named_list(names, count));
    for (int i = 0; i < count; i++)
        SET_VECTOR_ELT(list, i, column(table, rb_table_find(table, names[i])));
    UNPROTECT(1);
    return list;
}

SEXP metrics_to(const rb_metrics *metrics) {
    int n = 0;
    while (rb_metrics_name(metrics, n))
        n++;
    SEXP values = PROTECT(Rf_allocVector(REALSXP, n)), names = PROTECT(Rf_allocVector(STRSXP, n));
    for (int i = 0; i < n; i++) {
        SET_STRING_ELT(names, i, Rf_mkChar(rb_metrics_name(metrics, i)));
        REAL(values)[i] = rb_metrics_get(metrics, rb_metrics_name(metrics, i));
    }
    Rf_setAttrib(values, R_NamesSymbol, names);
    UNPROTECT(2);
    return values;
}
