/* Models in memory: named arrays, attributes, preprocessing and the history of the fit. */
#include "model.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

rb_error rb_model_new(rb_context *ctx, const rb_method *method, rb_type type,
                      rb_preprocess *preprocess, rb_model **model) {
    *model = rb_alloc(ctx, 1, sizeof **model);
    if (!*model) {
        rb_preprocess_free(preprocess);
        return RB_ERROR_MEMORY;
    }
    **model = (rb_model){.method = method, .type = type, .preprocess = preprocess};
    return RB_OK;
}

void rb_model_free(rb_model *model) {
    if (!model) return;
    for (int64_t i = 0; i < model->n_arrays; i++) {
        rb_free(model->arrays[i].name);
        rb_free(model->arrays[i].values);
    }
    for (int64_t i = 0; i < model->n_attributes; i++) {
        rb_free(model->attributes[i].name);
        rb_free(model->attributes[i].value);
    }
    rb_free(model->arrays);
    rb_free(model->attributes);
    rb_free(model->history);
    rb_preprocess_free(model->preprocess);
    rb_free(model);
}

/* A list with memory for one entry more: as many as a power of two, at least 16, so that no field
 * needs to say how many. NULL: none can be had. */
static void *with_one_more(rb_context *ctx, void *list, int64_t count, size_t size) {
    bool full = count == 0 || (count >= 16 && (count & (count - 1)) == 0);
    return full ? rb_grow(ctx, list, count, count < 16 ? 16 : 2 * count, size) : list;
}

/* ---- arrays ---- */

static const rb_array *find_array(const rb_model *model, const char *name) {
    for (int64_t i = 0; i < model->n_arrays; i++)
        if (strcmp(model->arrays[i].name, name) == 0) return &model->arrays[i];
    return NULL;
}

/* Appends an array of zeros; NULL when memory is out, and the model is as before. */
static double *append_array(rb_context *ctx, rb_model *model, const char *name, int64_t rows,
                            int64_t columns, int64_t cells) {
    rb_array *arrays = with_one_more(ctx, model->arrays, model->n_arrays, sizeof *arrays);
    if (!arrays) return NULL;
    model->arrays = arrays;
    rb_array added = {rb_copy_text(ctx, name), rows, columns, NULL};
    added.values = added.name ? rb_alloc_zero(ctx, cells, sizeof *added.values) : NULL;
    if (added.values)
        arrays[model->n_arrays++] = added;
    else
        rb_free(added.name);
    return added.values;
}

double *rb_model_add_array(rb_context *ctx, rb_model *model, const char *name, int64_t rows,
                           int64_t columns) {
    int64_t cells;
    if (rows < 0 || columns < 0 || !rb_multiply(rows, columns, &cells)) {
        rb_fail(ctx, RB_ERROR_ARGUMENT, "the array '%s' cannot be %lld x %lld", name,
                (long long)rows, (long long)columns);
        return NULL;
    }
    const rb_array *old = find_array(model, name);
    if (!old) return append_array(ctx, model, name, rows, columns, cells);
    if (old->rows != rows || old->columns != columns) {
        rb_fail(ctx, RB_ERROR_ARGUMENT, "the array '%s' is %lld x %lld already, not %lld x %lld",
                name, (long long)old->rows, (long long)old->columns, (long long)rows,
                (long long)columns);
        return NULL;
    }
    return old->values;
}

rb_error rb_model_need_array(rb_context *ctx, const rb_model *model, const char *name, int64_t rows,
                             int64_t columns, const double **values) {
    *values = NULL;
    const rb_array *array = find_array(model, name);
    if (!array) return rb_fail(ctx, RB_ERROR_FORMAT, "the model has no array '%s'", name);
    if ((rows >= 0 && array->rows != rows) || (columns >= 0 && array->columns != columns)) {
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "the array '%s' of the model is %lld x %lld, but %lld x %lld is needed",
                       name, (long long)array->rows, (long long)array->columns,
                       (long long)(rows < 0 ? array->rows : rows),
                       (long long)(columns < 0 ? array->columns : columns));
    }
    double max = model->type == RB_FLOAT32 ? (double)FLT_MAX : DBL_MAX;
    for (int64_t i = 0; i < array->rows * array->columns; i++) {
        if (!(fabs(array->values[i]) <= max)) {
            return rb_fail(ctx, RB_ERROR_FORMAT,
                           "the array '%s' of the model has %g at row %lld, column %lld (counted "
                           "from 0), which the model's precision cannot hold",
                           name, array->values[i], (long long)(i / array->columns),
                           (long long)(i % array->columns));
        }
    }
    *values = array->values;
    return RB_OK;
}

rb_error rb_model_take_array(rb_context *ctx, const rb_model *model, const char *name,
                             rb_dense to) {
    const double *values;
    rb_error err = rb_model_need_array(ctx, model, name, to.rows, to.cols, &values);
    if (!err) rb_dense_copy((rb_dense){(void *)values, to.rows, to.cols, to.cols, RB_FLOAT64}, to);
    return err;
}

rb_error rb_model_put_array(rb_context *ctx, rb_model *model, const char *name, rb_dense values) {
    double *to = rb_model_add_array(ctx, model, name, values.rows, values.cols);
    if (!to) return RB_ERROR_MEMORY;
    rb_dense_copy(values, (rb_dense){to, values.rows, values.cols, values.cols, RB_FLOAT64});
    return RB_OK;
}

const double *rb_model_array(const rb_model *model, const char *name, int64_t *rows,
                             int64_t *columns) {
    static const rb_array none = {0};
    const rb_array *found = find_array(model, name), *array = found ? found : &none;
    if (rows) *rows = array->rows;
    if (columns) *columns = array->columns;
    return array->values;
}

const char *rb_model_array_name(const rb_model *model, int64_t index) {
    return index >= 0 && index < model->n_arrays ? model->arrays[index].name : NULL;
}

/* ---- attributes ---- */

static rb_attribute *find_attribute(const rb_model *model, const char *name) {
    for (int64_t i = 0; i < model->n_attributes; i++)
        if (strcmp(model->attributes[i].name, name) == 0) return &model->attributes[i];
    return NULL;
}

const char *rb_model_attribute(const rb_model *model, const char *name) {
    const rb_attribute *attribute = find_attribute(model, name);
    return attribute ? attribute->value : NULL;
}

const char *rb_model_attribute_name(const rb_model *model, int64_t index) {
    return index >= 0 && index < model->n_attributes ? model->attributes[index].name : NULL;
}

rb_error rb_model_set_attribute(rb_context *ctx, rb_model *model, const char *name,
                                const char *value) {
    rb_attribute *old = find_attribute(model, name), *list;
    char *copy = rb_copy_text(ctx, value), *own_name = NULL;
    if (copy && old) {
        rb_free(old->value);
        old->value = copy;
        return RB_OK;
    }
    list = with_one_more(ctx, model->attributes, model->n_attributes, sizeof *list);
    model->attributes = list ? list : model->attributes;
    if (!copy || !list || !(own_name = rb_copy_text(ctx, name))) {
        rb_free(copy);
        return RB_ERROR_MEMORY;
    }
    list[model->n_attributes++] = (rb_attribute){own_name, copy};
    return RB_OK;
}

rb_error rb_model_put_traffic(rb_context *ctx, rb_model *model, double once, double all) {
    double each = (all - once) / (double)(model->iterations + 1);
    char text[64];
    snprintf(text, sizeof text, "%.3g MB once, %.3g MB per iteration", once * 1e-6, each * 1e-6);
    return rb_model_set_attribute(ctx, model, "device_traffic", text);
}

rb_error rb_model_record_options(rb_context *ctx, rb_model *model, const rb_option *table,
                                 const void *options) {
    rb_error err = RB_OK;
    for (const rb_option *row = table; !err && row->name; row++) {
        char scratch[RB_ROW_TEXT];
        err = rb_model_set_attribute(ctx, model, row->name, rb_row_text(row, options, scratch));
    }
    return err;
}

rb_error rb_model_recorded(rb_context *ctx, const rb_model *model, const rb_option *table,
                           const char *const *names, void *options) {
    rb_rows_default(table, options);
    for (; *names; names++) {
        const char *text = rb_model_attribute(model, *names);
        if (text && rb_rows_set(ctx, table, options, *names, text)) {
            rb_fail_prefix(ctx, "the model is damaged: ");
            return RB_ERROR_FORMAT;
        }
    }
    return RB_OK;
}

/* ---- history ---- */

rb_error rb_model_add_history(rb_context *ctx, rb_model *model, rb_history entry) {
    rb_history *history = with_one_more(ctx, model->history, model->iterations, sizeof *history);
    if (!history) return RB_ERROR_MEMORY;
    history[model->iterations++] = entry;
    model->history = history;
    return RB_OK;
}

int64_t rb_model_iterations(const rb_model *model) {
    return model->iterations;
}

rb_error rb_model_history(const rb_model *model, int64_t iteration, double *objective,
                          double *estep_objective, double *seconds) {
    if (iteration < 0 || iteration >= model->iterations) return RB_ERROR_ARGUMENT;
    const rb_history *entry = &model->history[iteration];
    const double values[] = {entry->objective, entry->estep_objective, entry->seconds};
    double *const wanted[] = {objective, estep_objective, seconds};
    for (int i = 0; i < 3; i++)
        if (wanted[i]) *wanted[i] = values[i];
    return RB_OK;
}

rb_error rb_model_metric(const rb_model *model, int64_t iteration, const char *name,
                         double *value) {
    const char *const *names = model->method->metric_names;
    for (int f = 0; names && names[f]; f++) {
        if (iteration >= 0 && iteration < model->iterations && strcmp(names[f], name) == 0) {
            *value = model->history[iteration].metrics[f];
            return RB_OK;
        }
    }
    return RB_ERROR_ARGUMENT;
}

/* ---- what a model is ---- */

const char *rb_model_method(const rb_model *model) {
    return model->method->name;
}

int64_t rb_model_features(const rb_model *model) {
    return model->preprocess->n_features;
}

int64_t rb_model_inputs(const rb_model *model) {
    return model->preprocess->n_input;
}

int64_t rb_model_units(const rb_model *model) {
    const rb_array *loadings = find_array(model, "loadings");
    return loadings ? loadings->columns : 0;
}

int64_t rb_model_dead(const rb_model *model) {
    const rb_array *dead = find_array(model, "dead");
    int64_t units = rb_model_units(model), count = 0;
    for (int64_t j = 0; dead && j < units && j < dead->rows * dead->columns; j++)
        count += dead->values[j] != 0;
    return count;
}

rb_status rb_model_status(const rb_model *model) {
    return model->status;
}

int64_t rb_model_feature_index(const rb_model *model, int64_t feature) {
    const rb_preprocess *p = model->preprocess;
    bool used = feature >= 0 && feature < p->n_features;
    return !used ? -1 : p->selected ? p->selected[feature] : feature;
}

rb_error rb_model_starts(rb_context *ctx, const rb_model *start, int64_t units, int64_t features) {
    if (rb_model_units(start) == units && rb_model_features(start) == features) return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "the model to start from has %lld units and %lld features, but the fit has %lld "
                   "and %lld",
                   (long long)rb_model_units(start), (long long)rb_model_features(start),
                   (long long)units, (long long)features);
}

const char *rb_model_feature_name(const rb_model *model, int64_t feature) {
    const rb_names *names = model->preprocess->names;
    return names && feature >= 0 && feature < names->count ? names->text[feature] : NULL;
}

/* ---- preprocessing ---- */

/* A copy of count values; NULL of NULL, and with *done false where memory is out. */
static void *copy_of(rb_context *ctx, const void *from, int64_t count, size_t size, bool *done) {
    void *to = from && *done ? rb_copy(ctx, from, count, size) : NULL;
    *done = *done && (to || !from);
    return to;
}

rb_preprocess *rb_preprocess_copy(rb_context *ctx, const rb_preprocess *p) {
    int64_t n = p->n_features;
    bool done = true;
    rb_preprocess *copy = copy_of(ctx, p, 1, sizeof *p, &done);
    if (!copy) return NULL;
    copy->names = NULL;
    copy->regress = NULL;
    copy->options.regress = NULL;
    copy->moments = NULL; /* models know of no data */
    copy->selected = copy_of(ctx, p->selected, n, sizeof *p->selected, &done);
    copy->centre = copy_of(ctx, p->centre, n, sizeof *p->centre, &done);
    copy->scale = copy_of(ctx, p->scale, n, sizeof *p->scale, &done);
    copy->fill = copy_of(ctx, p->fill, n, sizeof *p->fill, &done);
    if (p->names && done) {
        copy->names = rb_names_copy(ctx, (const char *const *)p->names->text, p->names->count);
        done = copy->names != NULL;
    }
    if (p->regress && done) {
        copy->regress = rb_regress_copy(ctx, p->regress, n);
        copy->options.regress = copy->regress ? copy->regress->text : NULL;
        done = copy->regress != NULL;
    }
    if (!done) rb_preprocess_free(copy);
    return done ? copy : NULL;
}

rb_error rb_model_omit_missing(rb_context *ctx, rb_model *model) {
    rb_preprocess *p = model->preprocess;
    if (!model->method->missing) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the method '%s' needs all values and cannot leave missing ones out; fit "
                       "again with `missing=mean` or `missing=median`",
                       model->method->name);
    }
    rb_error err = rb_model_set_attribute(ctx, model, "missing", "omit");
    if (!err) {
        p->options.missing = RB_MISSING_OMIT;
        rb_free(p->fill);
        p->fill = NULL;
    }
    return err;
}
