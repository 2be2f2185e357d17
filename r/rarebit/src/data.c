/* Data: views of R's matrices, which are not copied, and files. */
#include "binding.h"

#include <stdlib.h>
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
        refuse("x is not a matrix of numbers");
    int64_t rows = INTEGER(dim)[0], cols = INTEGER(dim)[1];
    return columns ? rb_matrix_dense(context(), RB_FLOAT64, cols, rows, REAL(x), rows, 1, matrix)
                   : rb_matrix_dense(context(), RB_FLOAT64, rows, cols, REAL(x), 1, rows, matrix);
}

/* A dgCMatrix is list(p, i, x, dim) with columns that are compressed. Where they are the samples it
 * is compressed rows to the library, else compressed columns: neither is copied but for p. */
static rb_error view_sparse(SEXP list, bool columns, data_object *data) {
    SEXP p = element(list, "p"), i = element(list, "i"), x = element(list, "x");
    SEXP dim = element(list, "dim");
    if (TYPEOF(p) != INTSXP || TYPEOF(i) != INTSXP || TYPEOF(x) != REALSXP ||
        TYPEOF(dim) != INTSXP || XLENGTH(dim) != 2 || XLENGTH(i) != XLENGTH(x) ||
        XLENGTH(p) != (R_xlen_t)INTEGER(dim)[1] + 1 || INTEGER(p)[XLENGTH(p) - 1] > XLENGTH(x))
        refuse("x is not a valid sparse matrix");
    int n = INTEGER(dim)[0], m = INTEGER(dim)[1];
    if (columns)
        return rb_matrix_csr32(context(), RB_FLOAT64, m, n, INTEGER(p), INTEGER(i), REAL(x),
                               &data->matrix);
    data->starts = malloc(((size_t)m + 1) * sizeof *data->starts);
    if (!data->starts) refuse("out of memory");
    for (int k = 0; k <= m; k++)
        data->starts[k] = INTEGER(p)[k];
    return rb_source_from_csc(context(), RB_FLOAT64, n, m, data->starts, INTEGER(i), REAL(x),
                              &data->source);
}

static rb_error set_names(rb_source *source, SEXP sample_names, SEXP feature_names) {
    const char **samples = texts_of(sample_names), **features = texts_of(feature_names);
    rb_error err = RB_OK;
    if (samples)
        err = rb_source_set_sample_names(context(), source, samples, XLENGTH(sample_names));
    if (err || !features) return err;
    return rb_source_set_feature_names(context(), source, features, XLENGTH(feature_names));
}

/* x: a matrix of doubles, or list(p, i, x, dim). columns: those of the matrix are samples. */
SEXP binding_data(SEXP x, SEXP columns, SEXP sample_names, SEXP feature_names) {
    SEXP pointer = PROTECT(object_new(IS_DATA, x));
    data_object *data = data_of(pointer);
    bool by_column = Rf_asLogical(columns);
    rb_error err = TYPEOF(x) == VECSXP ? view_sparse(x, by_column, data)
                                       : view_dense(x, by_column, &data->matrix);
    if (!err && !data->source) err = rb_source_from_matrix(context(), data->matrix, &data->source);
    check(err ? err : set_names(data->source, sample_names, feature_names));
    UNPROTECT(1);
    return pointer;
}

/* ---- blocks that R gives ---- */

typedef struct block {
    const data_object *data;
    int64_t first, count;
    double *rows;
    rb_error err;
} block;

/* May jump. The function gives features x samples, whose columns are rows to the library. */
static void fetch(void *user) {
    block *b = user;
    SEXP first = PROTECT(Rf_ScalarReal((double)b->first + 1));
    SEXP count = PROTECT(Rf_ScalarReal((double)b->count));
    SEXP call = PROTECT(Rf_lang3(b->data->read, first, count));
    SEXP values = PROTECT(Rf_eval(call, R_GlobalEnv));
    int64_t wanted = b->count * rb_source_features(b->data->source);
    if (TYPEOF(values) == REALSXP && XLENGTH(values) == wanted)
        memcpy(b->rows, REAL(values), (size_t)wanted * sizeof *b->rows);
    else
        b->err = rb_context_fail(context(), RB_ERROR_DATA, "a block of x has another size");
    UNPROTECT(4);
}

static rb_error read_block(void *user, int64_t first, int64_t count, void *rows) {
    block b = {user, first, count, rows, RB_OK};
    rb_error err = in_r(fetch, &b);
    return err ? err : b.err;
}

/* read: a function of the first sample, from 1, and how many. dim: samples, features. */
SEXP binding_blocks(SEXP read, SEXP dim, SEXP sample_names, SEXP feature_names) {
    SEXP pointer = PROTECT(object_new(IS_DATA, read));
    data_object *data = data_of(pointer);
    int64_t n = INTEGER(dim)[0], m = INTEGER(dim)[1];
    data->read = read;
    rb_error err =
        rb_source_from_callback(context(), RB_FLOAT64, n, m, read_block, data, &data->source);
    check(err ? err : set_names(data->source, sample_names, feature_names));
    UNPROTECT(1);
    return pointer;
}

/* The first samples of data. */
SEXP binding_first(SEXP pointer, SEXP count) {
    SEXP part = PROTECT(object_new(IS_DATA, pointer));
    data_object *data = data_of(part);
    check(rb_source_slice(context(), data_of(pointer)->source, 0, Rf_asInteger(count),
                          &data->source));
    UNPROTECT(1);
    return part;
}

/* Binds covariates: a named list of numbers or texts, one a sample. */
SEXP binding_covariates(SEXP pointer, SEXP covariates) {
    rb_source *source = data_of(pointer)->source;
    const char **names = names_of(covariates, COVARIATES_NEED_NAMES);
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

static SEXP listed(const rb_source *source, int64_t n,
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
    SET_VECTOR_ELT(list, 2, listed(source, n, rb_source_sample_name));
    SET_VECTOR_ELT(list, 3, listed(source, m, rb_source_feature_name));
    SET_VECTOR_ELT(list, 4, Rf_ScalarLogical(rb_source_sparse(source)));
    UNPROTECT(1);
    return list;
}

/* All samples as a dense matrix. */
SEXP binding_read(SEXP pointer) {
    rb_source *source = data_of(pointer)->source;
    int64_t n = rb_source_samples(source), m = rb_source_features(source);
    SEXP rows = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)m));
    call_frame frame;
    call_begin(&frame, rb_context_threads(context()), R_NilValue);
    rb_error err = rb_source_read_into(context(), source, RB_FLOAT64, REAL(rows), 1, n);
    call_end(&frame);
    check(err);
    UNPROTECT(1);
    return rows;
}
