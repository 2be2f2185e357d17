/* Methods on one scale, as columns. */
#include "binding.h"

#include <string.h>

#include "calls.h"

/* What is held while values of R are made of it. */
typedef struct compared {
    rb_covariates *labels;
    rb_method_comparison *found;
} compared;

static void clear_compared(void *object) {
    compared *c = object;
    rb_covariates_free(c->labels);
    rb_method_comparison_free(c->found);
}

SEXP binding_compare(SEXP data, SEXP labels, SEXP options, SEXP threads) {
    static const char *const names[] = {"table", "summary"};
    rb_source *source = data_of(data)->source;
    const rb_options *wanted = options_of(options)->options;
    const char **classes = texts_of(labels);
    compared *c;
    SEXP holder = PROTECT(hold(sizeof *c, clear_compared, &c));
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
    SET_VECTOR_ELT(answer, 0, table_to(&table));
    const char *summary = rb_method_comparison_summary(c->found);
    char *spelt = R_alloc(2 * strlen(summary) + 1, 1);
    spell(summary, spelt);
    SET_VECTOR_ELT(answer, 1, text_to(spelt));
    let_go(holder);
    UNPROTECT(2);
    return answer;
}
