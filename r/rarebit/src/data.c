/* Data: views of R's matrices, which are not copied, and files. */
#include "binding.h"

#include <string.h>

#include "calls.h"

static SEXP element(SEXP list, const char *name) {
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t i = 0; i < XLENGTH(list); i++)
        if (!strcmp(CHAR(STRING_ELT(names, i)), name)) return VECTOR_ELT(list, i);
    return R_NilValue;
}

/* R keeps columns: where they are samples, a sample is contiguous. */
static rb_error view_dense(SEXP x, bool columns, rb_matrix **matrix) {
    SEXP dim = Rf_getAttrib(x, R_DimSymbol);
    if (TYPEOF(x) != REALSXP || TYPEOF(dim) != INTSXP || XLENGTH(dim) != 2)
        refuse("x is no matrix of numbers");
    int64_t rows = INTEGER(dim)[0], cols = INTEGER(dim)[1];
    return columns ? rb_matrix_dense(context(), RB_FLOAT64, cols, rows, REAL(x), rows, 1, matrix)
                   : rb_matrix_dense(context(), RB_FLOAT64, rows, cols, REAL(x), 1, rows, matrix);
}

/* Compressed samples: starts p, features i, values x; dim is samples x features. */
static rb_error view_sparse(SEXP list, rb_matrix **matrix) {
    SEXP p = element(list, "p"), i = element(list, "i"), x = element(list, "x");
    SEXP dim = element(list, "dim");
    if (TYPEOF(p) != INTSXP || TYPEOF(i) != INTSXP || TYPEOF(x) != REALSXP ||
        TYPEOF(dim) != INTSXP || XLENGTH(dim) != 2 || XLENGTH(i) != XLENGTH(x) ||
        XLENGTH(p) != (R_xlen_t)INTEGER(dim)[0] + 1 || INTEGER(p)[INTEGER(dim)[0]] > XLENGTH(x))
        refuse("x is no sound sparse matrix");
    return rb_matrix_csr32(context(), RB_FLOAT64, INTEGER(dim)[0], INTEGER(dim)[1], INTEGER(p),
                           INTEGER(i), REAL(x), matrix);
}

/* x: a matrix of doubles, or list(p, i, x, dim). columns: those of the matrix are samples. */
SEXP binding_data(SEXP x, SEXP columns, SEXP sample_names, SEXP feature_names) {
    SEXP pointer = PROTECT(object_new(IS_DATA, x));
    data_object *data = data_of(pointer);
    const char **samples = texts_of(sample_names), **features = texts_of(feature_names);
    rb_error err = TYPEOF(x) == VECSXP ? view_sparse(x, &data->matrix)
                                       : view_dense(x, Rf_asLogical(columns), &data->matrix);
    if (!err && samples)
        err = rb_matrix_set_sample_names(context(), data->matrix, samples, XLENGTH(sample_names));
    if (!err && features)
        err =
            rb_matrix_set_feature_names(context(), data->matrix, features, XLENGTH(feature_names));
    if (!err) err = rb_source_from_matrix(context(), data->matrix, &data->source);
    check(err);
    UNPROTECT(1);
    return pointer;
}

/* The transpose of compressed columns: compressed rows, as list(p, i, x, dim). */
SEXP binding_transpose(SEXP p, SEXP i, SEXP x, SEXP dim) {
    static const char *const names[] = {"p", "i", "x", "dim"};
    int rows = INTEGER(dim)[0], columns = INTEGER(dim)[1];
    R_xlen_t n = XLENGTH(x);
    if (XLENGTH(p) != (R_xlen_t)columns + 1 || XLENGTH(i) != n || INTEGER(p)[columns] != n)
        refuse("x is no sound sparse matrix");
    SEXP list = PROTECT(named_list(names, 4));
    SEXP starts = Rf_allocVector(INTSXP, (R_xlen_t)rows + 1);
    SET_VECTOR_ELT(list, 0, starts);
    SEXP features = Rf_allocVector(INTSXP, n);
    SET_VECTOR_ELT(list, 1, features);
    SEXP values = Rf_allocVector(REALSXP, n);
    SET_VECTOR_ELT(list, 2, values);
    SET_VECTOR_ELT(list, 3, dim);
    int *start = INTEGER(starts), *next = (int *)R_alloc((size_t)rows + 1, sizeof *next);
    for (int r = 0; r <= rows; r++)
        start[r] = 0;
    for (R_xlen_t e = 0; e < n; e++) {
        if (INTEGER(i)[e] < 0 || INTEGER(i)[e] >= rows) refuse("x is no sound sparse matrix");
        start[INTEGER(i)[e] + 1]++;
    }
    for (int r = 0; r < rows; r++) {
        next[r] = start[r];
        start[r + 1] += start[r];
    }
    for (int c = 0; c < columns; c++) {
        for (int e = INTEGER(p)[c]; e < INTEGER(p)[c + 1]; e++) {
            int to = next[INTEGER(i)[e]]++;
            INTEGER(features)[to] = c;
            REAL(values)[to] = REAL(x)[e];
        }
    }
    UNPROTECT(1);
    return list;
}

/* Binds covariates: a named list of numbers or texts, one a sample. */
SEXP binding_covariates(SEXP pointer, SEXP covariates) {
    rb_source *source = data_of(pointer)->source;
    const char **names = texts_of(Rf_getAttrib(covariates, R_NamesSymbol));
    for (R_xlen_t i = 0; i < XLENGTH(covariates); i++) {
        SEXP values = VECTOR_ELT(covariates, i);
        const char **groups = TYPEOF(values) == STRSXP ? texts_of(values) : NULL;
        if (!groups && TYPEOF(values) != REALSXP) refuse("a covariate is numbers or texts");
        check(groups ? rb_source_set_groups(context(), source, names[i], groups, XLENGTH(values))
                     : rb_source_set_numbers(context(), source, names[i], REAL(values),
                                             XLENGTH(values)));
    }
    return R_NilValue;
}

static SEXP names_of(const rb_source *source, int64_t n,
                     const char *(*name)(const rb_source *, int64_t)) {
    if (n == 0 || !name(source, 0)) return R_NilValue;
    SEXP names = PROTECT(Rf_allocVector(STRSXP, n));
    for (int64_t i = 0; i < n; i++)
        SET_STRING_ELT(names, i, Rf_mkCharCE(name(source, i), CE_UTF8));
    UNPROTECT(1);
    return names;
}

/* Shape, names and whether the data are sparse. */
SEXP binding_data_info(SEXP pointer) {
    static const char *const names[] = {"samples", "features", "sample_names", "feature_names",
                                        "sparse"};
    const rb_source *source = data_of(pointer)->source;
    SEXP list = PROTECT(named_list(names, 5));
    int64_t n = rb_source_samples(source), m = rb_source_features(source);
    SET_VECTOR_ELT(list, 0, Rf_ScalarReal((double)n));
    SET_VECTOR_ELT(list, 1, Rf_ScalarReal((double)m));
    SET_VECTOR_ELT(list, 2, names_of(source, n, rb_source_sample_name));
    SET_VECTOR_ELT(list, 3, names_of(source, m, rb_source_feature_name));
    SET_VECTOR_ELT(list, 4, Rf_ScalarLogical(rb_source_sparse(source)));
    UNPROTECT(1);
    return list;
}

/* All samples as a dense matrix. */
SEXP binding_read(SEXP pointer) {
    rb_source *source = data_of(pointer)->source;
    int64_t n = rb_source_samples(source), m = rb_source_features(source);
    SEXP rows = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)m));
    call_begin(rb_context_threads(context()), R_NilValue);
    rb_error err = rb_source_read_into(context(), source, RB_FLOAT64, REAL(rows), 1, n);
    call_end();
    check(err);
    UNPROTECT(1);
    return rows;
}
