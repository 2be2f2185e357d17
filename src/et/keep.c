/* What an iteration takes from the one before: checkpoints are made of it. */
#include "fit.h"

static rb_kept numbers(const char *name, rb_kept_role role, int64_t rows, int64_t columns,
                       double *values) {
    return (rb_kept){name, role, RB_KEPT_FLOAT64, rows, columns, columns, values};
}

static rb_kept integers(const char *name, int64_t count, int64_t *values) {
    return (rb_kept){name, RB_KEPT_OTHER, RB_KEPT_INTEGER, count, 1, 1, values};
}

static rb_error each(const rb_kept *arrays, size_t count, rb_kept_fn fn, void *user) {
    rb_error err = RB_OK;
    for (size_t i = 0; !err && i < count; i++) {
        err = fn(user, &arrays[i]);
    }
    return err;
}

static rb_error keep_trace(et_state *st, rb_kept_fn fn, void *user) {
    et_trace *t = &st->trace;
    int64_t iterations = st->problem.fit->iterations;
    int64_t cells = st->options.units * st->problem.n_features;
    const rb_kept arrays[] = {
        numbers("trace", RB_KEPT_OTHER, iterations, ET_TRACE_FIGURES, t->figures),
        numbers("trace_quality", RB_KEPT_OTHER, iterations, t->count, t->quality),
        numbers("trace_fields", RB_KEPT_OTHER, ET_TRACE_FIELDS, cells, t->fields),
        integers("trace_fields_at", ET_TRACE_FIELDS, t->at),
        integers("trace_fields_count", 1, &t->kept),
    };
    return each(arrays, sizeof arrays / sizeof *arrays, fn, user);
}

rb_error et_kept_arrays(void *state, rb_kept_fn fn, void *user) {
    et_state *st = state;
    et_parameters *p = &st->engine->parameters;
    const rb_kept arrays[] = {
        {"fields", RB_KEPT_PARAMETER, RB_KEPT_FLOAT64, p->fields.rows, p->fields.cols, p->fields.ld,
         p->fields.data},
        numbers("sigma", RB_KEPT_POSITIVE, 1, 1, &p->sigma),
        numbers("prior", RB_KEPT_POSITIVE, p->fields.rows, 1, p->prior),
        integers("iteration", 1, &st->iteration),
        integers("samples_used", 1, &st->last_used),
    };
    rb_error err = each(arrays, sizeof arrays / sizeof *arrays, fn, user);
    return err || !st->trace.figures ? err : keep_trace(st, fn, user);
}
