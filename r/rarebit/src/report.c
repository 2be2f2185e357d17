/* What a model says of data: modules, the classes, sets of features and covariates that they go
 * with, metrics; and the page of it. */
#include "binding.h"

#include "calls.h"

typedef struct asked {
    rb_document document;
    rb_feature_sets *sets;
    rb_covariates *labels, *covariates, *blocks;
} asked;

static void clear_asked(void *object) {
    asked *a = object;
    rb_document_clear(&a->document);
    rb_feature_sets_free(a->sets);
    rb_covariates_free(a->labels);
    rb_covariates_free(a->covariates);
    rb_covariates_free(a->blocks);
}

/* A named list of numbers or texts, one a sample; NULL or empty: none. */
static void take_covariates(SEXP list, rb_covariates **to) {
    if (Rf_xlength(list) == 0) return;
    const char **names = names_of(list, COVARIATES_NEED_NAMES);
    R_xlen_t n = XLENGTH(VECTOR_ELT(list, 0));
    check(rb_covariates_new(context(), n, to));
    for (R_xlen_t i = 0; i < XLENGTH(list); i++) {
        SEXP values = VECTOR_ELT(list, i);
        const char **groups = TYPEOF(values) == STRSXP ? texts_of(values) : NULL;
        if (XLENGTH(values) != n) refuse("covariates, labels and blocks have a value a sample");
        if (!groups && TYPEOF(values) != REALSXP) refuse("a covariate is numbers or texts");
        check(groups ? rb_covariates_add_groups(context(), *to, names[i], groups)
                     : rb_covariates_add_numbers(context(), *to, names[i], REAL(values)));
    }
}

/* A named list of names of features, or names of GMT files; NULL: none. */
static void take_sets(SEXP sets, rb_feature_sets **to) {
    if (sets == R_NilValue) return;
    const char **paths = TYPEOF(sets) == STRSXP ? texts_of(sets) : NULL;
    const char **names = paths ? NULL : names_of(sets, "sets need names: give a named list");
    if (paths) need("io");
    check(rb_feature_sets_new(context(), to));
    for (R_xlen_t i = 0; i < XLENGTH(sets); i++) {
        SEXP features = paths ? R_NilValue : VECTOR_ELT(sets, i);
        check(paths ? read_sets(paths[i], *to)
                    : rb_feature_sets_add(context(), *to, names[i], texts_of(features),
                                          XLENGTH(features)));
    }
}

/* The parts that were asked for; the others are NULL. */
static SEXP tables(const asked *a) {
    static const char *const names[] = {"modules",      "classes", "best_units",
                                        "unit_classes", "sets",    "covariates"};
    const bool there[] = {true, a->labels, a->labels, a->labels, a->sets, a->covariates};
    SEXP list = PROTECT(named_list(names, 6));
    for (int part = RB_DOCUMENT_MODULES; part <= RB_DOCUMENT_COVARIATES; part++) {
        if (!there[part]) continue;
        const rb_table table = rb_document_table(&a->document, (rb_document_part)part);
        SET_VECTOR_ELT(list, part, table_to(&table));
    }
    UNPROTECT(1);
    return list;
}

/* asks: labels, covariates, sets, blocks, page, title; each may be NULL. */
SEXP binding_report(SEXP model, SEXP data, SEXP options, SEXP asks, SEXP threads) {
    static const char *const names[] = {"tables", "metrics"};
    SEXP page = VECTOR_ELT(asks, 4), title = VECTOR_ELT(asks, 5);
    const char *path = page == R_NilValue ? NULL : text_of(page);
    const char *called = title == R_NilValue ? NULL : text_of(title);
    asked *a;
    SEXP holder = PROTECT(hold(sizeof *a, clear_asked, &a));
    rb_document *d = &a->document;
    if (path) need("io");
    *d = (rb_document){.size = sizeof *d, .with_metrics = true, .with_codes = path != NULL};
    take_covariates(VECTOR_ELT(asks, 0), &a->labels);
    take_covariates(VECTOR_ELT(asks, 1), &a->covariates);
    take_sets(VECTOR_ELT(asks, 2), &a->sets);
    take_covariates(VECTOR_ELT(asks, 3), &a->blocks);
    d->model = model_of(model);
    d->source = data_of(data)->source;
    d->options = options_of(options)->options;
    d->labels = a->labels;
    d->covariates = a->covariates;
    d->sets = a->sets;
    d->blocks = a->blocks;
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_document_make(context(), d);
    call_end(&frame);
    check(err);
    if (!d->complete) { /* other parts are missing */
        let_go(holder);
        UNPROTECT(1);
        return R_NilValue;
    }
    if (path) check(write_page(d, called, path));
    SEXP answer = PROTECT(named_list(names, 2));
    SET_VECTOR_ELT(answer, 0, tables(a));
    SET_VECTOR_ELT(answer, 1, metrics_to(d->metrics));
    let_go(holder);
    UNPROTECT(2);
    return answer;
}
