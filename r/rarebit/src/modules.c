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

/* A named number of each chance; NULL: nothing was permuted. */
static SEXP significance(const rb_modules *modules, int64_t rank) {
    static const char *const names[] = {"p", "p_family", "p_permuted", "fdr"};
    rb_significance s;
    if (!rb_modules_significance(modules, rank, &s)) return R_NilValue;
    SEXP list = PROTECT(named_list(names, 4));
    const double values[] = {s.p, s.p_family, s.p_permuted, s.fdr};
    for (int i = 0; i < 4; i++)
        SET_VECTOR_ELT(list, i, Rf_ScalarReal(values[i]));
    UNPROTECT(1);
    return list;
}

static SEXP module_list(const rb_modules *modules, int64_t rank) {
    static const char *const names[] = {"unit",     "information", "stability", "samples",
                                        "features", "score",       "role",      "significance"};
    const rb_module *module = rb_modules_get(modules, rank);
    SEXP list = PROTECT(named_list(names, 8));
    SET_VECTOR_ELT(list, 0, Rf_ScalarInteger((int)module->unit + 1));
    SET_VECTOR_ELT(list, 1, Rf_ScalarReal(module->information));
    SET_VECTOR_ELT(list, 2, Rf_ScalarReal(module->stability));
    SET_VECTOR_ELT(list, 3, members(module->samples, module->n_samples));
    SET_VECTOR_ELT(list, 4, members(module->features, module->n_features));
    SET_VECTOR_ELT(list, 5, Rf_ScalarReal(rb_modules_score(modules, rank)));
    const rb_table table = rb_modules_table(modules);
    SET_VECTOR_ELT(list, 6,
                   text_to(rb_table_value(&table, rank, rb_table_find(&table, "role")).text));
    SET_VECTOR_ELT(list, 7, significance(modules, rank));
    UNPROTECT(1);
    return list;
}

/* What is held while values of R are made of it. */
typedef struct finding {
    rb_covariates *blocks;
    rb_modules *found;
} finding;

static void clear_finding(void *object) {
    finding *f = object;
    rb_covariates_free(f->blocks);
    rb_modules_free(f->found);
}

static rb_error set_blocks(finding *f, SEXP blocks) {
    const char **groups = texts_of(blocks);
    if (!groups) return RB_OK;
    rb_error err = rb_covariates_new(context(), XLENGTH(blocks), &f->blocks);
    return err ? err : rb_covariates_add_groups(context(), f->blocks, "block", groups);
}

SEXP binding_modules(SEXP pointer, SEXP data, SEXP options, SEXP blocks, SEXP threads) {
    static const char *const names[] = {"rule", "modules", "tested"};
    finding *f;
    SEXP holder = PROTECT(hold(sizeof *f, clear_finding, &f));
    check(set_blocks(f, blocks));
    const rb_model *model = model_of(pointer);
    rb_source *source = data_of(data)->source;
    const rb_options *wanted = options_of(options)->options;
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), R_NilValue);
    rb_error err = rb_modules_find(context(), model, source, wanted, &f->found);
    if (!err) err = rb_modules_permute(context(), model, source, wanted, f->blocks, f->found, NULL);
    call_end(&frame);
    check(err);
    int n = (int)rb_modules_count(f->found);
    SEXP answer = PROTECT(named_list(names, 3));
    SET_VECTOR_ELT(answer, 0, text_to(rb_modules_rule(f->found)));
    SEXP list = Rf_allocVector(VECSXP, n);
    SET_VECTOR_ELT(answer, 1, list);
    for (int i = 0; i < n; i++)
        SET_VECTOR_ELT(list, i, module_list(f->found, i));
    SET_VECTOR_ELT(answer, 2, text_to(rb_modules_tested(f->found)));
    let_go(holder);
    UNPROTECT(2);
    return answer;
}
