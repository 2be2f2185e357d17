/* Models in memory: named arrays, attributes, preprocessing and the history of the fit. */
#include "model.h"

#include <float.h>
#include <math.h>
#include <string.h>

rb_error rb_model_new(rb_context *ctx, const rb_method *method, rb_type type,
                      rb_preprocess *preprocess, rb_model **model) {
    *model = rb_alloc_zero(ctx, 1, sizeof **model);
    if (!*model) {
        rb_preprocess_free(preprocess);
        return RB_ERROR_MEMORY;
    }
    (*model)->method = method;
    (*model)->type = type;
    (*model)->preprocess = preprocess;
    return RB_OK;
}

void rb_model_free(rb_model *model) {
    if (!model) {
        return;
    }
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

/* ---- arrays ---- */

static const rb_array *find_array(const rb_model *model, const char *name) {
    for (int64_t i = 0; i < model->n_arrays; i++) {
        if (strcmp(model->arrays[i].name, name) == 0) {
            return &model->arrays[i];
        }
    }
    return NULL;
}

/* Appends an array of zeros; NULL when memory is out, and the model is as before. */
static double *append_array(rb_context *ctx, rb_model *model, const char *name, int64_t rows,
                            int64_t columns, int64_t cells) {
    rb_array added = {rb_copy_text(ctx, name), rows, columns, NULL};
    added.values = added.name ? rb_alloc_zero(ctx, cells, sizeof *added.values) : NULL;
    rb_array *arrays = NULL;
    if (added.values) {
        arrays = rb_grow(ctx, model->arrays, model->n_arrays, model->n_arrays + 1, sizeof *arrays);
    }
    if (!arrays) {
        rb_free(added.name);
        rb_free(added.values);
        return NULL;
    }
    arrays[model->n_arrays++] = added;
    model->arrays = arrays;
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
    if (!old) {
        return append_array(ctx, model, name, rows, columns, cells);
    }
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
    if (!array) {
        return rb_fail(ctx, RB_ERROR_FORMAT, "the model has no array '%s'", name);
    }
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
                           "from 0), which is no number of the model's precision",
                           name, array->values[i], (long long)(i / array->columns),
                           (long long)(i % array->columns));
        }
    }
    *values = array->values;
    return RB_OK;
}

const double *rb_model_array(const rb_model *model, const char *name, int64_t *rows,
                             int64_t *columns) {
    const rb_array *array = find_array(model, name);
    if (rows) {
        *rows = array ? array->rows : 0;
    }
    if (columns) {
        *columns = array ? array->columns : 0;
    }
    return array ? array->values : NULL;
}

const char *rb_model_array_name(const rb_model *model, int64_t index) {
    return index >= 0 && index < model->n_arrays ? model->arrays[index].name : NULL;
}

/* ---- attributes ---- */

static rb_attribute *find_attribute(const rb_model *model, const char *name) {
    for (int64_t i = 0; i < model->n_attributes; i++) {
        if (strcmp(model->attributes[i].name, name) == 0) {
            return &model->attributes[i];
        }
    }
    return NULL;
}

const char *rb_model_attribute(const rb_model *model, const char *name) {
    const rb_attribute *attribute = find_attribute(model, name);
    return attribute ? attribute->value : NULL;
}

const char *rb_model_attribute_name(const rb_model *model, int64_t index) {
    return index >= 0 && index < model->n_attributes ? model->attributes[index].name : NULL;
}

/* Appends an attribute, taking over its value (also on failure: then it is freed). */
static rb_error append_attribute(rb_context *ctx, rb_model *model, const char *name, char *value) {
    char *copy = rb_copy_text(ctx, name);
    rb_attribute *attributes = NULL;
    if (copy) {
        attributes = rb_grow(ctx, model->attributes, model->n_attributes, model->n_attributes + 1,
                             sizeof *attributes);
    }
    if (!attributes) {
        rb_free(copy);
        rb_free(value);
        return RB_ERROR_MEMORY;
    }
    attributes[model->n_attributes++] = (rb_attribute){copy, value};
    model->attributes = attributes;
    return RB_OK;
}

rb_error rb_model_set_attribute(rb_context *ctx, rb_model *model, const char *name,
                                const char *value) {
    char *copy = rb_copy_text(ctx, value);
    if (!copy) {
        return RB_ERROR_MEMORY;
    }
    rb_attribute *old = find_attribute(model, name);
    if (!old) {
        return append_attribute(ctx, model, name, copy);
    }
    rb_free(old->value);
    old->value = copy;
    return RB_OK;
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

/* ---- history ---- */

/* The history has memory for a power of two of entries, at least 16: no field needs to say how
 * many. */
static bool history_is_full(int64_t count) {
    return count == 0 || (count >= 16 && (count & (count - 1)) == 0);
}

rb_error rb_model_add_history(rb_context *ctx, rb_model *model, rb_history entry) {
    int64_t count = model->iterations;
    if (history_is_full(count)) {
        rb_history *history =
            rb_grow(ctx, model->history, count, count < 16 ? 16 : 2 * count, sizeof *history);
        if (!history) {
            return RB_ERROR_MEMORY;
        }
        model->history = history;
    }
    model->history[count] = entry;
    model->iterations = count + 1;
    return RB_OK;
}

int64_t rb_model_iterations(const rb_model *model) {
    return model->iterations;
}

rb_error rb_model_history(const rb_model *model, int64_t iteration, double *objective,
                          double *estep_objective, double *seconds) {
    if (iteration < 0 || iteration >= model->iterations) {
        return RB_ERROR_ARGUMENT;
    }
    const rb_history *entry = &model->history[iteration];
    if (objective) {
        *objective = entry->objective;
    }
    if (estep_objective) {
        *estep_objective = entry->estep_objective;
    }
    if (seconds) {
        *seconds = entry->seconds;
    }
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

int64_t rb_model_units(const rb_model *model) {
    const rb_array *loadings = find_array(model, "loadings");
    return loadings ? loadings->columns : 0;
}

rb_status rb_model_status(const rb_model *model) {
    return model->status;
}

int64_t rb_model_feature_index(const rb_model *model, int64_t feature) {
    const rb_preprocess *p = model->preprocess;
    bool used = feature >= 0 && feature < p->n_features;
    return !used ? -1 : p->selected ? p->selected[feature] : feature;
}

const char *rb_model_feature_name(const rb_model *model, int64_t feature) {
    const rb_names *names = model->preprocess->names;
    return names && feature >= 0 && feature < names->count ? names->text[feature] : NULL;
}

rb_error rb_model_omit_missing(rb_context *ctx, rb_model *model) {
    rb_preprocess *p = model->preprocess;
    if (!model->method->missing) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "values cannot be left out of samples for a model of method '%s', which needs "
            "all of them; fit again with missing=mean or missing=median",
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
