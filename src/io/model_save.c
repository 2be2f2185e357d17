/* Saving a model. The same fit gives the same bytes, but for the seconds in its history. */
#include "hdf5_base.h"

#include <math.h>
#include <stdio.h>

static rb_error put_head(rb_h5 *file, const rb_model *model) {
    const char *precision = rb_store_precisions[model->type];
    int version = model->preprocess->regress ? RB_STORE_VERSION : RB_STORE_PLAIN_VERSION;
    rb_error err = rb_h5_set_integer(file, "/", "format_version", version);
    err = err ? err : rb_h5_set_text(file, "/", "format", RB_STORE_FORMAT);
    err = err ? err : rb_h5_set_text(file, "/", "program_version", RB_VERSION);
    err = err ? err : rb_h5_set_text(file, "/", "method", model->method->name);
    err = err ? err : rb_h5_set_text(file, "/", "precision", precision);
    return err ? err : rb_h5_set_text(file, "/", "status", rb_store_statuses[model->status]);
}

/* In all that follows `group` stands before the paths: "" or "name/". */
static const char *within(const char *group, const char *name, char *path, size_t size) {
    snprintf(path, size, "%s%s", group, name);
    return path;
}

static rb_error put_arrays(rb_h5 *file, const char *group, const rb_model *model) {
    char path[256];
    rb_error err = rb_h5_put_group(file, within(group, "arrays", path, sizeof path));
    for (int64_t i = 0; !err && i < model->n_arrays; i++) {
        const rb_array *array = &model->arrays[i];
        int length = snprintf(path, sizeof path, "%sarrays/%s", group, array->name);
        if (length >= (int)sizeof path) {
            return rb_fail(file->ctx, RB_ERROR_ARGUMENT, "the name of the array '%s' is too long",
                           array->name);
        }
        err = rb_h5_put_values(file, path, array->rows, array->columns, array->values);
    }
    return err;
}

static rb_error put_attributes(rb_h5 *file, const char *group, const rb_model *model) {
    char path[256];
    rb_error err = rb_h5_put_group(file, within(group, "attributes", path, sizeof path));
    for (int64_t i = 0; !err && i < model->n_attributes; i++)
        err = rb_h5_set_text(file, path, model->attributes[i].name, model->attributes[i].value);
    return err;
}

/* Of each term its name and how many levels it has; all levels in a row. */
static rb_error put_regress(rb_h5 *file, const rb_regress *r, int64_t n_features) {
    const char *names[RB_COVARIATES_MAX];
    int64_t counts[RB_COVARIATES_MAX], n_levels = 0;
    for (int64_t t = 0; t < r->n_terms; t++) {
        names[t] = r->terms[t].name;
        counts[t] = r->terms[t].levels ? r->terms[t].levels->count : 0;
        n_levels += counts[t];
    }
    const char **levels = rb_alloc(file->ctx, n_levels, sizeof *levels);
    for (int64_t t = 0, next = 0; levels && t < r->n_terms; t++)
        for (int64_t l = 0; l < counts[t]; l++)
            levels[next++] = r->terms[t].levels->text[l];
    rb_error err = levels ? rb_h5_put_group(file, "preprocess/regress") : RB_ERROR_MEMORY;
    err = err ? err : rb_h5_put_texts(file, "preprocess/regress/names", r->n_terms, names);
    err = err ? err : rb_h5_put_integers(file, "preprocess/regress/levels_of", r->n_terms, counts);
    if (!err && n_levels > 0)
        err = rb_h5_put_texts(file, "preprocess/regress/levels", n_levels, levels);
    err =
        err ? err : rb_h5_put_values(file, "preprocess/regress/means", r->n_columns, -1, r->means);
    rb_free(levels);
    return err ? err
               : rb_h5_put_values(file, "preprocess/regress/coefficients", n_features, r->n_columns,
                                  r->coefficients);
}

static rb_error put_preprocess(rb_h5 *file, const rb_preprocess *p) {
    const char *group = "preprocess";
    int64_t n = p->n_features;
    rb_error err = rb_h5_put_group(file, group);
    for (const rb_option *row = rb_preprocess_group.rows; !err && row->name; row++) {
        char scratch[RB_ROW_TEXT];
        if (row->kind != RB_OPTION_TEXT)
            err = rb_h5_set_text(file, group, row->name, rb_row_text(row, &p->options, scratch));
    }
    err = err ? err : rb_h5_set_integer(file, group, "n_input", p->n_input);
    err = err ? err : rb_h5_set_integer(file, group, "n_features", n);
    err = err ? err : rb_h5_set_integer(file, group, "n_filled", p->n_filled);
    err = err ? err : rb_h5_set_integer(file, group, "checksum", p->checksum);
    if (!err && p->selected) err = rb_h5_put_integers(file, "preprocess/selected", n, p->selected);
    err = err ? err : rb_h5_put_values(file, "preprocess/centre", n, -1, p->centre);
    err = err ? err : rb_h5_put_values(file, "preprocess/scale", n, -1, p->scale);
    if (!err && p->fill) err = rb_h5_put_values(file, "preprocess/fill", n, -1, p->fill);
    return err || !p->regress ? err : put_regress(file, p->regress, n);
}

static rb_error put_features(rb_h5 *file, const rb_names *names) {
    rb_error err = rb_h5_put_group(file, "features");
    return err || !names ? err : rb_h5_put_names(file, "features/names", names);
}

/* One column of the history, unless it is of a metric that was computed in no iteration. */
static rb_error put_history_column(rb_h5 *file, const char *path, const rb_model *model,
                                   rb_store_column from, bool always) {
    double *column = rb_alloc(file->ctx, model->iterations, sizeof *column);
    if (!column) return RB_ERROR_MEMORY;
    for (int64_t t = 0; t < model->iterations; t++) {
        column[t] = *(const double *)((const char *)&model->history[t] + from.offset);
        always = always || isfinite(column[t]);
    }
    rb_error err = always ? rb_h5_put_values(file, path, model->iterations, -1, column) : RB_OK;
    rb_free(column);
    return err;
}

static rb_error put_history(rb_h5 *file, const char *group, const rb_model *model) {
    char path[256];
    rb_error err = rb_h5_put_group(file, within(group, "history", path, sizeof path));
    rb_store_column column;
    for (int c = 0; !err && (column = rb_store_column_of(model->method, c)).name; c++) {
        snprintf(path, sizeof path, "%shistory/%s", group, column.name);
        err = put_history_column(file, path, model, column, c < RB_STORE_COLUMNS);
    }
    return err;
}

rb_error rb_model_put(rb_h5 *file, const char *group, const rb_model *model) {
    char inside[128];
    snprintf(inside, sizeof inside, "%s/", group);
    rb_error err = rb_h5_put_group(file, group);
    err = err ? err : rb_h5_set_text(file, group, "status", rb_store_statuses[model->status]);
    err = err ? err : put_arrays(file, inside, model);
    err = err ? err : put_attributes(file, inside, model);
    return err ? err : put_history(file, inside, model);
}

static rb_error put_model(rb_h5 *file, const rb_model *model) {
    rb_error err = put_head(file, model);
    err = err ? err : put_arrays(file, "", model);
    err = err ? err : put_attributes(file, "", model);
    err = err ? err : put_preprocess(file, model->preprocess);
    err = err ? err : put_features(file, model->preprocess->names);
    return err ? err : put_history(file, "", model);
}

rb_error rb_model_save(rb_context *ctx, const rb_model *model, const char *path) {
    rb_h5 *file;
    rb_phase before = rb_phase_begin(ctx, RB_PHASE_STORING);
    rb_error err = rb_h5_begin(ctx, path, false, &file);
    err = err ? err : rb_h5_end(file, put_model(file, model));
    rb_phase_end(ctx, before);
    return err;
}
