/* Data with planted causes. */
#include "binding.h"

#include <string.h>

#include "calls.h"

typedef struct simulated {
    rb_matrix *matrices[3];
    rb_modules *truth;
} simulated;

static void clear_simulated(void *object) {
    simulated *s = object;
    for (int i = 0; i < 3; i++)
        rb_matrix_free(s->matrices[i]);
    rb_modules_free(s->truth);
}

static SEXP matrix_to(const rb_matrix *matrix) {
    int64_t n = rb_matrix_samples(matrix), m = rb_matrix_features(matrix);
    SEXP values = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)m));
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < m; k++)
            REAL(values)[i + k * n] = rb_matrix_at(matrix, i, k);
    UNPROTECT(1);
    return values;
}

/* Which samples, or features, are in each module: modules x so many. */
static SEXP members(const rb_modules *truth, bool samples, int64_t count) {
    int64_t modules = rb_modules_count(truth);
    SEXP in = PROTECT(Rf_allocMatrix(LGLSXP, (int)modules, (int)count));
    memset(LOGICAL(in), 0, (size_t)(modules * count) * sizeof(int));
    for (int64_t r = 0; r < modules; r++) {
        const rb_module *m = rb_modules_get(truth, r);
        const rb_member *list = samples ? m->samples : m->features;
        for (int64_t i = 0; i < (samples ? m->n_samples : m->n_features); i++)
            LOGICAL(in)[r + list[i].index * modules] = TRUE;
    }
    UNPROTECT(1);
    return in;
}

/* what: "biclusters", "cells" or "bars". */
SEXP binding_simulate(SEXP what, SEXP options) {
    static const char *const planted[] = {"x", "samples", "features"};
    static const char *const drawn[] = {"x", "fields", "states"};
    const rb_options *wanted = options_of(options)->options;
    bool bars = !strcmp(text_of(what), "bars"), cells = !strcmp(text_of(what), "cells");
    simulated *s;
    SEXP holder = PROTECT(hold(sizeof *s, clear_simulated, &s));
    rb_matrix **made = s->matrices;
    check(bars    ? rb_simulate_bars(context(), wanted, &made[0], &made[1], &made[2])
          : cells ? rb_simulate_cells(context(), wanted, &made[0], &s->truth)
                  : rb_simulate_biclusters(context(), wanted, &made[0], &s->truth));
    SEXP answer = PROTECT(named_list(bars ? drawn : planted, 3));
    SET_VECTOR_ELT(answer, 0, matrix_to(made[0]));
    for (int i = 1; i < 3; i++)
        SET_VECTOR_ELT(
            answer, i,
            bars ? matrix_to(made[i])
                 : members(s->truth, i == 1,
                           i == 1 ? rb_matrix_samples(made[0]) : rb_matrix_features(made[0])));
    let_go(holder);
    UNPROTECT(2);
    return answer;
}
