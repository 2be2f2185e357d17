/* What an iteration takes from the one before: checkpoints are made of it. */
#include "fit.h"

#include <float.h>
#include <math.h>

static rb_kept numbers(const char *name, rb_kept_role role, int64_t rows, int64_t columns,
                       double *values) {
    return (rb_kept){name, role, RB_KEPT_FLOAT64, rows, columns, columns, values, 0, 0};
}

/* They are 0 to `most`. */
static rb_kept integers(const char *name, int64_t count, int64_t *values, int64_t most) {
    return (rb_kept){.name = name,
                     .type = RB_KEPT_INTEGER,
                     .rows = count,
                     .columns = 1,
                     .stride = 1,
                     .values = values,
                     .most = (double)most};
}

static rb_kept within(double least, double most, rb_kept array) {
    array.least = fmax(least, -DBL_MAX);
    array.most = fmin(most, DBL_MAX);
    return array;
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
        numbers("trace", RB_KEPT_REPORTED, iterations, ET_TRACE_FIGURES, t->figures),
        numbers("trace_quality", RB_KEPT_REPORTED, iterations, t->count, t->quality),
        numbers("trace_fields", RB_KEPT_REPORTED, ET_TRACE_FIELDS, cells, t->fields),
        integers("trace_fields_at", ET_TRACE_FIELDS, t->at, iterations),
        integers("trace_fields_count", 1, &t->kept, ET_TRACE_FIELDS),
    };
    return each(arrays, sizeof arrays / sizeof *arrays, fn, user);
}

rb_error et_kept_arrays(void *state, rb_kept_fn fn, void *user) {
    et_state *st = state;
    et_parameters *p = &st->engine->parameters;
    rb_dense fields = p->fields;
    rb_kept all_fields = {.name = "fields",
                          .role = RB_KEPT_PARAMETER,
                          .type = RB_KEPT_FLOAT64,
                          .rows = fields.rows,
                          .columns = fields.cols,
                          .stride = fields.ld,
                          .values = fields.data};
    rb_kept in_map = {.name = "in_map",
                      .type = RB_KEPT_FLAG,
                      .rows = fields.rows,
                      .columns = 1,
                      .stride = 1,
                      .values = st->in_map};
    rb_kept msteps = integers("iteration", 1, &st->iteration, 0);
    msteps.role = RB_KEPT_MSTEPS;
    const rb_kept arrays[] = {
        within(st->model->least, st->model->most, all_fields),
        numbers("sigma", RB_KEPT_POSITIVE, 1, 1, &p->sigma),
        within(0, 1, numbers("prior", RB_KEPT_POSITIVE, fields.rows, 1, p->prior)),
        msteps,
        integers("samples_used", 1, &st->last_used, st->problem.n_samples),
        in_map,
        numbers("log_likelihood", RB_KEPT_REPORTED, 1, 1, &st->log_likelihood),
    };
    rb_error err = each(arrays, sizeof arrays / sizeof *arrays, fn, user);
    return err || !st->trace.figures ? err : keep_trace(st, fn, user);
}
