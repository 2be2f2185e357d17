/* How many units are stable. */
#include "binding.h"

#include "calls.h"

typedef struct selected {
    rb_selection *found;
} selected;

static void clear_selected(void *object) {
    rb_selection_free(((selected *)object)->found);
}

static SEXP columns(const rb_selection *found) {
    const char *names[32];
    int count = 0, rows = (int)rb_selection_rows(found);
    while (count < 32 && (names[count] = rb_selection_name(found, count)))
        count++;
    SEXP list = PROTECT(named_list(names, count));
    for (int c = 0; c < count; c++) {
        SEXP values = Rf_allocVector(REALSXP, rows);
        SET_VECTOR_ELT(list, c, values);
        for (int i = 0; i < rows; i++)
            REAL(values)[i] = rb_selection_get(found, i, names[c]);
    }
    UNPROTECT(1);
    return list;
}

SEXP binding_select(SEXP options, SEXP data, SEXP threads, SEXP each) {
    static const char *const names[] = {"table", "units", "low", "high", "summary"};
    const rb_options *wanted = options_of(options)->options;
    rb_source *source = data_of(data)->source;
    selected *s;
    SEXP holder = PROTECT(hold(sizeof *s, clear_selected, &s));
    call_frame frame;
    call_begin(&frame, Rf_asInteger(threads), each);
    rb_error err = rb_select(context(), wanted, source, &s->found);
    call_end(&frame);
    check(err);
    if (!s->found) { /* other parts are missing */
        let_go(holder);
        UNPROTECT(1);
        return R_NilValue;
    }
    int64_t numbers[3];
    SEXP answer = PROTECT(named_list(names, 5));
    SET_VECTOR_ELT(answer, 0, columns(s->found));
    SET_VECTOR_ELT(answer, 4,
                   text_to(rb_selection_choice(s->found, &numbers[0], &numbers[1], &numbers[2])));
    for (int i = 0; i < 3; i++)
        SET_VECTOR_ELT(answer, i + 1, Rf_ScalarInteger((int)numbers[i]));
    let_go(holder);
    UNPROTECT(2);
    return answer;
}
