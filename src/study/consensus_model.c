/* An ordinary model of units that come from several.
 *
 * Loadings, and what else a model says of each unit, come from the unit that stands for a cluster,
 * or are means over its units; what holds for all units, such as noise variances, is the mean over
 * the models. What says how good a fit was is left out: nobody has fitted these units together.
 */
#include "consensus.h"

#include <stdio.h>
#include <string.h>

typedef struct merging {
    rb_context *ctx;
    const rb_model *const *models;
    int64_t n_models;
    const rb_clusters *clusters;
    int64_t kept;
    bool mean;
    rb_model *merged;
} merging;

/* ---- arrays ---- */

/* An array with a row or a column for each unit of its model: of rows x units, or units x 1, where
 * it is no matrix. */
static rb_error take_units(const merging *m, const char *name, bool matrix, int64_t rows) {
    double *to =
        rb_model_add_array(m->ctx, m->merged, name, matrix ? rows : m->kept, matrix ? m->kept : 1);
    rb_error err = to ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t c = 0; c < m->kept && !err; c++) {
        const rb_cluster *cluster = &m->clusters->list[c];
        int64_t count = m->mean ? cluster->count : 1;
        for (int64_t i = 0; i < count && !err; i++) {
            const rb_unit *unit = &m->clusters->members[cluster->first + i];
            const rb_model *model = m->models[unit->model];
            int64_t l = rb_model_units(model);
            const double *from;
            err =
                rb_model_need_array(m->ctx, model, name, matrix ? rows : l, matrix ? l : 1, &from);
            double share = (matrix && unit->flipped ? -1 : 1) / (double)count;
            for (int64_t k = 0; k < rows && !err; k++)
                to[k * m->kept + c] += share * from[k * l + unit->index];
        }
    }
    return err;
}

/* An array that says the same of all units. */
static rb_error take_mean(const merging *m, const char *name, int64_t rows, int64_t columns) {
    double *to = rb_model_add_array(m->ctx, m->merged, name, rows, columns);
    rb_error err = to ? RB_OK : RB_ERROR_MEMORY;
    for (int64_t i = 0; i < m->n_models && !err; i++) {
        const double *from;
        err = rb_model_need_array(m->ctx, m->models[i], name, rows, columns, &from);
        for (int64_t k = 0; k < rows * columns && !err; k++)
            to[k] += from[k] / (double)m->n_models;
    }
    return err;
}

/* What the method does not tell is left out. */
static rb_error take_array(const merging *m, const rb_model *base, const char *name) {
    int64_t rows, columns, l = rb_model_units(base);
    rb_array_of of = rb_array_belongs(base, name);
    rb_model_array(base, name, &rows, &columns);
    if (of == RB_ARRAY_COLUMN_EACH && columns == l) return take_units(m, name, true, rows);
    if (of == RB_ARRAY_ROW_EACH && rows == l && columns == 1) return take_units(m, name, false, 1);
    return of ? take_mean(m, name, rows, columns) : RB_OK;
}

/* ---- the model ---- */

static rb_error copy_attributes(const merging *m, const rb_model *base) {
    static const char *const of_one_fit[] = {
        "best_restart", "best_iteration",         "estep_wins", "command_line",
        "units",        RB_CONSENSUS_OF_RESTARTS, NULL};
    char units[32];
    rb_error err = RB_OK;
    for (int64_t i = 0; i < base->n_attributes && !err; i++) {
        const rb_attribute *a = &base->attributes[i];
        if (!rb_among(of_one_fit, a->name))
            err = rb_model_set_attribute(m->ctx, m->merged, a->name, a->value);
    }
    snprintf(units, sizeof units, "%lld", (long long)m->kept);
    return err ? err : rb_model_set_attribute(m->ctx, m->merged, "units", units);
}

/* Vectors of as many entries as there are units, in methods that the library does not know, may be
 * anything. */
static rb_error check_known(const merging *m, const rb_model *base) {
    if (rb_modules_possible(base)) return RB_OK;
    return rb_fail(m->ctx, RB_ERROR_UNSUPPORTED,
                   "models of method '%s' lack loadings or noise variances and cannot be merged",
                   rb_model_method(base));
}

static rb_error fill(const merging *m, const rb_model *base) {
    rb_error err = copy_attributes(m, base);
    for (int64_t i = 0; i < base->n_arrays && !err; i++)
        err = take_array(m, base, base->arrays[i].name);
    return err;
}

rb_error rb_consensus_merge(rb_context *ctx, const rb_model *const *models, int64_t count,
                            const rb_clusters *clusters, int64_t kept, bool mean,
                            rb_model **merged) {
    merging m = {ctx, models, count, clusters, kept, mean, NULL};
    const rb_model *base = models[clusters->members[0].model];
    *merged = NULL;
    rb_error err = check_known(&m, base);
    if (err) return err;
    rb_preprocess *copy = rb_preprocess_copy(ctx, base->preprocess);
    if (!copy) return RB_ERROR_MEMORY;
    err = rb_model_new(ctx, base->method, base->type, copy, &m.merged);
    err = err ? err : fill(&m, base);
    if (err)
        rb_model_free(m.merged);
    else
        *merged = m.merged;
    return err;
}

/* ---- fitted again ---- */

/* Options of the fits that a short fit from a model goes by as well. */
static bool goes_on(const rb_method *method, const char *name) {
    static const char *const others[] = {"preset",
                                         "units",
                                         "iterations",
                                         "restarts",
                                         "newton-iterations",
                                         "tolerance",
                                         "patience",
                                         "max-time",
                                         "parameter-tolerance",
                                         "steer-iterations",
                                         "accelerate",
                                         "trace",
                                         "accept",
                                         "target-sparseness",
                                         "eta-schedule",
                                         "eta-every",
                                         "eta-factor",
                                         NULL};
    const char *const *start = method->start_options;
    return !rb_among(others, name) && !(start && rb_among(start, name));
}

static rb_error set_rows(rb_context *ctx, const rb_model *model, const rb_option *row,
                         rb_options *options) {
    rb_error err = RB_OK;
    for (; !err && row->name; row++) {
        const char *value = rb_model_attribute(model, row->name);
        bool differs = value && (!row->fallback || strcmp(value, row->fallback) != 0);
        if (differs && *value && row->kind != RB_OPTION_VALUES && goes_on(model->method, row->name))
            err = rb_options_set(ctx, options, row->name, value);
    }
    return err;
}

rb_error rb_consensus_check_refit(rb_context *ctx, const rb_method *method, int64_t iterations) {
    if (iterations == 0 || rb_method_takes_start(method)) return RB_OK;
    return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                   "`refit` is %lld, but the method '%s' cannot start from a model; "
                   "leave it out",
                   (long long)iterations, method->name);
}

rb_error rb_consensus_refit(rb_context *ctx, rb_source *source, int64_t iterations,
                            rb_model **model) {
    rb_options *options = NULL;
    rb_model *fitted = NULL;
    rb_error err = rb_options_new(ctx, rb_model_method(*model), &options);
    err = err ? err : set_rows(ctx, *model, (*model)->method->options, options);
    err = err ? err : set_rows(ctx, *model, rb_fit_group.rows, options);
    err = err ? err : rb_options_set_integer(ctx, options, "iterations", iterations);
    err = err ? err : rb_fit(ctx, options, source, *model, &fitted);
    rb_options_free(options);
    if (!err) {
        rb_model_free(*model);
        *model = fitted;
    }
    return err;
}
