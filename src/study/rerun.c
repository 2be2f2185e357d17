/* A fit once more, from what its model records; and two models compared bit by bit. */
#include "consensus.h"

#include <rarebit/consensus.h>
#include <rarebit/rerun.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the options that a model records ---- */

/* A consensus may be fitted again from itself, which is part of making it. */
static bool is_warm(const rb_model *model) {
    return rb_model_attribute(model, "start_checksum") != NULL && !rb_is_consensus(model);
}

/* What is set again: a fit that starts from a model takes its preprocessing, and refuses what would
 * be ignored. */
static const char *value_again(const rb_model *model, const rb_option *row) {
    const char *value = rb_model_attribute(model, row->name);
    if (!value || strcmp(row->name, "max-time") == 0) return NULL;
    if (!is_warm(model)) return value;
    bool left_out = rb_rows_find(rb_preprocess_group.rows, row->name)
                        ? strcmp(row->name, "missing") != 0 || strcmp(value, "omit") != 0
                        : rb_among(model->method->start_options, row->name);
    return left_out ? NULL : value;
}

/* Did the clock or the program end the fit? */
static bool was_cut(const rb_model *model) {
    return model->status == RB_STATUS_TIME || model->status == RB_STATUS_STOPPED;
}

int64_t rb_recorded_whole(const rb_model *model, const char *name, int64_t fallback) {
    const char *text = rb_model_attribute(model, name);
    return text ? strtoll(text, NULL, 10) : fallback;
}

static int64_t best_restart(const rb_model *model) {
    return rb_recorded_whole(model, "best_restart", 0);
}

static rb_error recall_consensus(rb_context *ctx, const rb_model *model, rb_options *options) {
    const rb_option_group *group = rb_consensus_group();
    rb_error err = rb_options_add(ctx, options, group);
    for (const rb_option *row = group->rows; row->name && !err; row++) {
        char name[64];
        snprintf(name, sizeof name, RB_CONSENSUS_ATTRIBUTE "%s", row->name);
        const char *value = rb_model_attribute(model, name);
        if (value) err = rb_options_set(ctx, options, row->name, value);
    }
    return err;
}

rb_error rb_options_recall(rb_context *ctx, const rb_model *model, rb_value_again_fn value_of,
                           rb_options **options) {
    const rb_option *row;
    *options = NULL;
    rb_error err = rb_options_new(ctx, model->method->name, options);
    for (int t = 0; (row = rb_recorded_rows(model->method, t)) != NULL; t++) {
        for (; !err && row->name; row++) {
            const char *value = value_of(model, row);
            bool there = rb_options_get(*options, row->name, NULL, 0) >= 0;
            if (there && value && *value) err = rb_options_set(ctx, *options, row->name, value);
        }
    }
    if (!err && rb_is_consensus(model)) err = recall_consensus(ctx, model, *options);
    if (!err) rb_options_unset_idle(*options);
    return err;
}

rb_error rb_model_options(rb_context *ctx, const rb_model *model, rb_options **options) {
    *options = NULL;
    if (!model->method->mstep)
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "a %s is not fitted by one set of options; give the commands that made it "
                       "again",
                       model->method->name);
    rb_error err = rb_options_recall(ctx, model, value_again, options);
    /* Restarts after the best one were not whole, or not better. */
    if (!err && was_cut(model) && !rb_is_consensus(model))
        err = rb_options_set_integer(ctx, *options, "restarts", best_restart(model) + 1);
    if (!err) return RB_OK;
    rb_fail_prefix(ctx, "the options of the model cannot be set: ");
    rb_options_free(*options);
    *options = NULL;
    return err;
}

/* ---- are all that it depends on the same? ---- */

static rb_error check_sum(rb_context *ctx, const rb_model *model, const char *attribute,
                          uint32_t sum, const char *what) {
    const char *before = rb_model_attribute(model, attribute);
    char now[16];
    snprintf(now, sizeof now, "%08lx", (unsigned long)sum);
    if (!before || strcmp(before, now) == 0) return RB_OK;
    return rb_fail(ctx, RB_ERROR_DATA,
                   "%s not those of the fit: their checksum is %s instead of %s", what, now,
                   before);
}

static rb_error check_data(rb_context *ctx, const rb_model *model, rb_source *source) {
    int64_t n = rb_recorded_whole(model, "data_samples", source->n_samples);
    int64_t m = model->preprocess->n_input;
    if (n != source->n_samples || (m != source->n_features && !is_warm(model))) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "the data are not those of the fit: %lld samples x %lld features instead of "
                       "%lld x %lld",
                       (long long)source->n_samples, (long long)source->n_features, (long long)n,
                       (long long)m);
    }
    uint32_t sum = 0;
    const rb_regress *effects = model->preprocess->regress;
    rb_error err = rb_source_checksum(ctx, source, &sum);
    err = err ? err : check_sum(ctx, model, "data_checksum", sum, "the data are");
    if (err || !effects || !source->covariates) return err;
    return check_sum(ctx, model, "regress_checksum", rb_regress_checksum(effects, source),
                     "the covariates are");
}

static rb_error check_start(rb_context *ctx, const rb_model *model, const rb_model *start) {
    if (is_warm(model) && !start) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the fit started from another model; give that model too");
    }
    if (start && !is_warm(model))
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "the fit was not started from a model");
    return start ? check_sum(ctx, model, "start_checksum", rb_model_checksum(start),
                             "the arrays of the model to start from are")
                 : RB_OK;
}

/* The numbers that options were given in files. */
static rb_error check_values(rb_context *ctx, const rb_model *model, const rb_options *options) {
    const rb_option_part *own = &options->parts[0];
    rb_error err = RB_OK;
    for (const rb_option *row = own->group.rows; !err && row->name; row++) {
        const void *field = (const char *)own->fields + row->offset;
        const rb_matrix *matrix =
            row->kind == RB_OPTION_VALUES ? ((const rb_values *)field)->matrix : NULL;
        char name[64], what[96];
        uint32_t sum;
        if (!matrix) continue;
        snprintf(name, sizeof name, "%s_checksum", row->name);
        snprintf(what, sizeof what, "the numbers of %s are", row->name);
        err = rb_matrix_checksum(ctx, matrix, &sum);
        err = err ? err : check_sum(ctx, model, name, sum, what);
    }
    return err;
}

/* ---- the fit ---- */

/* Where a fit that was stopped ends again, and who listens. */
struct stopping {
    rb_context *ctx;
    const rb_model *model;
    int64_t last; /* iteration, over all restarts; 0: this one was not cut */
    bool reached;
    rb_progress_fn next;
    void *user;
};

/* Stopped by the clock a fit makes a last E-step, stopped by the program it does not. */
static rb_error on_progress(const rb_progress *progress, void *user) {
    struct stopping *s = user;
    rb_error err = s->next ? s->next(progress, s->user) : RB_OK;
    if (err || progress->iteration != s->last) return err;
    s->reached = true;
    if (s->model->status == RB_STATUS_TIME) return RB_ERROR_INTERRUPTED;
    rb_context_stop(s->ctx);
    return RB_OK;
}

static struct stopping find_end(rb_context *ctx, const rb_model *model, const rb_options *options) {
    const rb_fit_options *fit = rb_options_fields(options, &rb_fit_group);
    struct stopping s = {ctx, model, 0, false, ctx->on_progress, ctx->progress_user};
    if (was_cut(model) && model->iterations < fit->iterations)
        s.last = best_restart(model) * fit->iterations + model->iterations;
    return s;
}

static rb_error fit_again(rb_context *ctx, const rb_model *model, const rb_options *options,
                          rb_source *source, const rb_model *start, rb_model **again) {
    struct stopping s = find_end(ctx, model, options);
    rb_context_on_progress(ctx, on_progress, &s);
    rb_error err = rb_fit(ctx, options, source, start, again);
    rb_context_on_progress(ctx, s.next, s.user);
    if (s.reached && model->status == RB_STATUS_STOPPED) rb_context_clear_stop(ctx);
    if (!err && was_cut(model)) (*again)->status = model->status;
    return err;
}

/* What other models were merged into has no fit of its own. */
static rb_error check_consensus(rb_context *ctx, const rb_model *model) {
    const char *of = rb_model_attribute(model, RB_CONSENSUS_OF_RESTARTS);
    if (!rb_is_consensus(model) || (of && strcmp(of, RB_CONSENSUS_OF_SOME) != 0)) return RB_OK;
    if (of) {
        return rb_fail(
            ctx, RB_ERROR_UNSUPPORTED,
            "the model is a consensus of the %s fits that were complete when it was stopped, "
            "which are not the first of %s; fit it again to the end",
            rb_model_attribute(model, "consensus_models"), rb_model_attribute(model, "restarts"));
    }
    const char *line = rb_model_attribute(model, "command_line");
    return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                   "the model is a consensus of %s other models, which rerun does not have; rerun "
                   "each of them, then repeat the command that merged them%s%s",
                   rb_model_attribute(model, "consensus_models"), line ? ": " : "",
                   line ? line : "");
}

rb_error rb_rerun(rb_context *ctx, const rb_model *model, const rb_options *options,
                  rb_source *source, const rb_model *start, rb_model **again) {
    rb_options *own = NULL;
    rb_source *thin = NULL;
    *again = NULL;
    rb_error err = check_consensus(ctx, model);
    if (err) return err;
    err = options ? RB_OK : rb_model_options(ctx, model, &own);
    const rb_options *used = options ? options : own;
    err = err ? err : check_start(ctx, model, start);
    err = err ? err : check_values(ctx, model, used);
    err = err ? err : rb_fit_thin(ctx, used, false, &source, &thin);
    err = err ? err : check_data(ctx, model, source);
    if (!err) {
        err = rb_is_consensus(model) ? rb_fit_consensus(ctx, used, source, again)
                                     : fit_again(ctx, model, used, source, start, again);
    }
    rb_source_free(thin);
    rb_options_free(own);
    return err;
}

/* ---- comparing ---- */

/* Numbers of one name: count of them, `stride` apart; NULL: there are none. */
struct column {
    const double *values;
    int64_t rows, columns, stride;
};

static struct column array_of(const rb_model *model, const char *name) {
    struct column c = {.stride = 1};
    c.values = rb_model_array(model, name, &c.rows, &c.columns);
    return c;
}

static struct column history_of(const rb_model *model, size_t offset) {
    int64_t stride = sizeof(rb_history) / sizeof(double);
    const char *history = (const char *)model->history;
    const double *values = history ? (const double *)(const void *)(history + offset) : NULL;
    return (struct column){values, model->iterations, 1, stride};
}

static void compare(struct column a, struct column b, rb_model_difference *d) {
    bool alike = a.rows == b.rows && a.columns == b.columns && !a.values == !b.values;
    double largest = 0, difference = 0;
    d->same = alike;
    for (int64_t e = 0; alike && e < a.rows * a.columns; e++) {
        double x = a.values[e * a.stride], y = b.values[e * b.stride];
        uint64_t bits_x, bits_y;
        memcpy(&bits_x, &x, sizeof x);
        memcpy(&bits_y, &y, sizeof y);
        bool same = bits_x == bits_y || (isnan(x) && isnan(y));
        d->same = d->same && same;
        largest = fmax(largest, fabs(x));
        if (!same) difference = isnan(x - y) ? INFINITY : fmax(difference, fabs(x - y));
    }
    d->difference = !alike ? INFINITY : difference == 0 ? 0 : difference / largest;
}

/* The name of the index-th array of both; *index becomes what is left of it past the last. */
static const char *array_name(const rb_model *a, const rb_model *b, int64_t *index) {
    if (*index < a->n_arrays) return a->arrays[*index].name;
    *index -= a->n_arrays;
    for (int64_t i = 0; i < b->n_arrays; i++)
        if (!rb_model_array(a, b->arrays[i].name, NULL, NULL) && (*index)-- == 0)
            return b->arrays[i].name;
    return NULL;
}

bool rb_model_compare(const rb_model *a, const rb_model *b, int64_t index,
                      rb_model_difference *difference) {
    rb_model_difference d = {.size = sizeof d};
    if (index < 0 || difference->size != sizeof d) return false;
    d.name = array_name(a, b, &index);
    if (d.name) {
        compare(array_of(a, d.name), array_of(b, d.name), &d);
    } else {
        /* The third column is seconds. */
        rb_store_column column = rb_store_column_of(a->method, (int)index + (index > 1));
        d.name = column.name;
        d.history = true;
        if (d.name) compare(history_of(a, column.offset), history_of(b, column.offset), &d);
    }
    *difference = d;
    return d.name != NULL;
}
