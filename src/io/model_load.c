/* Loading a model. A file may be damaged or made by somebody else: everything is checked. */
#include "io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What every function here needs. */
struct loading {
    rb_context *ctx;
    rb_h5 *file;
    const char *path;
    const char *group; /* before the paths of arrays, attributes and history: "" or "name/" */
};

static rb_error damaged(const struct loading *in, const char *what) {
    return rb_fail(in->ctx, RB_ERROR_FORMAT, "%s: %s; the file is damaged", in->path, what);
}

/* ---- the head ---- */

/* Is it a model, of a format we know? */
static rb_error check_format(const struct loading *in) {
    char *format = NULL;
    int64_t version;
    rb_error err = RB_OK;
    if (rb_h5_has_attribute(in->file, "/", "format")) {
        err = rb_h5_get_text(in->file, "/", "format", &format);
    }
    if (!err && (!format || strcmp(format, RB_STORE_FORMAT) != 0)) {
        err = rb_fail(in->ctx, RB_ERROR_FORMAT, "%s: is no model of rarebit, though an HDF5 file",
                      in->path);
    }
    rb_free(format);
    if (!err) {
        err = rb_h5_get_integer(in->file, "/", "format_version", &version);
    }
    if (!err && version > RB_STORE_VERSION) {
        return rb_fail(in->ctx, RB_ERROR_FORMAT,
                       "%s: the model has format version %lld, made by a newer version of rarebit; "
                       "update rarebit",
                       in->path, (long long)version);
    }
    if (!err && version < 1) {
        return damaged(in, "the format version is below 1");
    }
    return err;
}

/* The index of the attribute of an object among words. */
static rb_error get_word(const struct loading *in, const char *object, const char *name,
                         const char *const *words, int n_words, int *index) {
    char *text;
    *index = -1;
    rb_error err = rb_h5_get_text(in->file, object, name, &text);
    for (int i = 0; !err && i < n_words; i++) {
        if (strcmp(text, words[i]) == 0) {
            *index = i;
        }
    }
    if (!err && *index < 0) {
        err = rb_fail(in->ctx, RB_ERROR_FORMAT,
                      "%s: the attribute '%s' is '%s', which is none of its words", in->path, name,
                      text);
    }
    rb_free(text);
    return err;
}

static rb_error get_method(const struct loading *in, const rb_method **method) {
    char *name;
    rb_error err = rb_h5_get_text(in->file, "/", "method", &name);
    if (err) {
        return err;
    }
    *method = rb_find_method(in->ctx, name);
    if (!*method) {
        err = rb_fail(in->ctx, RB_ERROR_FORMAT,
                      "%s: the model is of method '%s', which this program does not have", in->path,
                      name);
    }
    rb_free(name);
    return err;
}

/* ---- preprocessing ---- */

static rb_error get_preprocess_option(const struct loading *in, const rb_option *row,
                                      rb_preprocess_options *options) {
    char *value;
    rb_error err = rb_h5_get_text(in->file, "preprocess", row->name, &value);
    if (err) {
        return err;
    }
    if (rb_rows_set(in->ctx, rb_preprocess_group.rows, options, row->name, value)) {
        rb_fail_prefix(in->ctx, "%s: preprocessing: ", in->path);
        err = RB_ERROR_FORMAT;
    }
    rb_free(value);
    return err;
}

/* An option that the file does not know has its default: later options keep old models as they
 * were. */
static rb_error get_preprocess_options(const struct loading *in, rb_preprocess_options *options) {
    rb_error err = RB_OK;
    rb_rows_default(rb_preprocess_group.rows, options);
    for (const rb_option *row = rb_preprocess_group.rows; !err && row->name; row++) {
        if (rb_h5_has_attribute(in->file, "preprocess", row->name)) {
            err = get_preprocess_option(in, row, options);
        }
    }
    return err;
}

static rb_error get_preprocess_counts(const struct loading *in, rb_preprocess *p) {
    int64_t checksum = 0;
    rb_error err = rb_h5_get_integer(in->file, "preprocess", "n_input", &p->n_input);
    if (!err) {
        err = rb_h5_get_integer(in->file, "preprocess", "n_features", &p->n_features);
    }
    if (!err) {
        err = rb_h5_get_integer(in->file, "preprocess", "n_filled", &p->n_filled);
    }
    if (!err) {
        err = rb_h5_get_integer(in->file, "preprocess", "checksum", &checksum);
    }
    if (!err && (p->n_features < 0 || p->n_features > p->n_input || p->n_filled < 0 ||
                 checksum < 0 || checksum > UINT32_MAX)) {
        err = damaged(in, "a count of the preprocessing is impossible");
    }
    p->checksum = (uint32_t)checksum;
    return err;
}

/* A vector of n_features finite numbers. The shape is compared before memory is asked for. */
static rb_error get_vector(const struct loading *in, const char *path, int64_t count,
                           double **values) {
    int64_t rows, columns;
    rb_error err = rb_h5_get_shape(in->file, path, &rows, &columns);
    if (!err && (rows != count || columns >= 0)) {
        err = rb_fail(in->ctx, RB_ERROR_FORMAT, "%s: '%s' must be a vector of %lld numbers",
                      in->path, path, (long long)count);
    }
    if (err) {
        return err;
    }
    *values = rb_alloc(in->ctx, count, sizeof **values);
    if (!*values) {
        return RB_ERROR_MEMORY;
    }
    err = rb_h5_get_values(in->file, path, count, *values);
    for (int64_t k = 0; !err && k < count; k++) {
        if (!isfinite((*values)[k])) {
            err = rb_fail(in->ctx, RB_ERROR_FORMAT, "%s: number %lld of '%s' is not finite",
                          in->path, (long long)k + 1, path);
        }
    }
    return err;
}

static rb_error get_selected(const struct loading *in, rb_preprocess *p) {
    int64_t rows, columns;
    if (!rb_h5_has(in->file, "preprocess/selected")) {
        return p->n_features == p->n_input ? RB_OK
                                           : damaged(in, "the selection of features is missing");
    }
    rb_error err = rb_h5_get_shape(in->file, "preprocess/selected", &rows, &columns);
    if (!err && (rows != p->n_features || columns >= 0)) {
        err = damaged(in, "the selection of features has the wrong length");
    }
    if (err) {
        return err;
    }
    p->selected = rb_alloc(in->ctx, rows, sizeof *p->selected);
    if (!p->selected) {
        return RB_ERROR_MEMORY;
    }
    err = rb_h5_get_integers(in->file, "preprocess/selected", rows, p->selected);
    for (int64_t k = 0; !err && k < rows; k++) {
        int64_t min = k == 0 ? 0 : p->selected[k - 1] + 1;
        if (p->selected[k] < min || p->selected[k] >= p->n_input) {
            err = damaged(in, "the selected features do not ascend within the input");
        }
    }
    return err;
}

static rb_error get_fill(const struct loading *in, rb_preprocess *p) {
    bool fills = p->options.missing != RB_MISSING_OMIT;
    if (fills && rb_h5_has(in->file, "preprocess/fill")) {
        return get_vector(in, "preprocess/fill", p->n_features, &p->fill);
    }
    return !fills || p->options.missing == RB_MISSING_REFUSE
               ? RB_OK
               : damaged(in, "the fillings of missing values are missing");
}

static rb_error get_scale(const struct loading *in, rb_preprocess *p) {
    rb_error err = get_vector(in, "preprocess/scale", p->n_features, &p->scale);
    for (int64_t k = 0; !err && k < p->n_features; k++) {
        if (p->scale[k] <= 0) {
            err = damaged(in, "a scale of the preprocessing is not above 0");
        }
    }
    return err;
}

static rb_error get_feature_names(const struct loading *in, rb_preprocess *p) {
    if (!rb_h5_has(in->file, "features/names")) {
        return RB_OK;
    }
    rb_error err = rb_h5_get_texts(in->file, "features/names", &p->names);
    if (!err && p->names->count != p->n_features) {
        err = rb_fail(in->ctx, RB_ERROR_FORMAT, "%s: there are %lld names for %lld features",
                      in->path, (long long)p->names->count, (long long)p->n_features);
    }
    return err;
}

static rb_error get_preprocess(const struct loading *in, rb_preprocess *p) {
    rb_error err = get_preprocess_options(in, &p->options);
    if (!err) {
        err = get_preprocess_counts(in, p);
    }
    if (!err) {
        err = get_selected(in, p);
    }
    if (!err) {
        err = get_vector(in, "preprocess/centre", p->n_features, &p->centre);
    }
    if (!err) {
        err = get_scale(in, p);
    }
    if (!err) {
        err = get_fill(in, p);
    }
    if (!err) {
        err = get_feature_names(in, p);
    }
    return err;
}

/* ---- arrays, attributes, history ---- */

/* Far more arrays or attributes than any method has: each is compared with those before it. */
enum { MAX_NAMES = 1000 };

static rb_error check_count(const struct loading *in, const rb_names *names, const char *what) {
    return names->count <= MAX_NAMES
               ? RB_OK
               : rb_fail(in->ctx, RB_ERROR_FORMAT,
                         "%s: there are %lld %s, but a model has %d at most; the file is damaged",
                         in->path, (long long)names->count, what, MAX_NAMES);
}

static rb_error get_array(const struct loading *in, const char *name, rb_model *model) {
    char path[4200];
    int64_t rows, columns;
    snprintf(path, sizeof path, "%sarrays/%s", in->group, name);
    rb_error err = rb_h5_get_shape(in->file, path, &rows, &columns);
    if (!err && columns < 0) {
        err = damaged(in, "an array has not two dimensions");
    }
    if (!err && strcmp(name, "loadings") == 0 && rows != model->preprocess->n_features) {
        err = damaged(in, "the loadings have not one row a feature");
    }
    if (err) {
        return err;
    }
    double *values = rb_model_add_array(in->ctx, model, name, rows, columns);
    return values ? rb_h5_get_values(in->file, path, rows * columns, values) : RB_ERROR_MEMORY;
}

static rb_error get_arrays(const struct loading *in, rb_model *model) {
    rb_names *names;
    char path[256];
    snprintf(path, sizeof path, "%sarrays", in->group);
    rb_error err = rb_h5_list(in->file, path, &names);
    if (!err) {
        err = check_count(in, names, "arrays");
    }
    for (int64_t i = 0; !err && i < names->count; i++) {
        err = get_array(in, names->text[i], model);
    }
    rb_names_free(names);
    return err;
}

static rb_error get_attributes(const struct loading *in, rb_model *model) {
    rb_names *names;
    char path[256];
    snprintf(path, sizeof path, "%sattributes", in->group);
    rb_error err = rb_h5_list_attributes(in->file, path, &names);
    if (!err) {
        err = check_count(in, names, "attributes");
    }
    for (int64_t i = 0; !err && i < names->count; i++) {
        char *value;
        err = rb_h5_get_text(in->file, path, names->text[i], &value);
        if (!err) {
            err = rb_model_set_attribute(in->ctx, model, names->text[i], value);
        }
        rb_free(value);
    }
    rb_names_free(names);
    return err;
}

/* Reads one column; NaN in every entry where a figure is not there. */
static rb_error get_history_column(const struct loading *in, const char *path, size_t offset,
                                   rb_model *model) {
    bool there = rb_h5_has(in->file, path);
    double *column = rb_alloc(in->ctx, model->iterations, sizeof *column);
    rb_error err = column ? RB_OK : RB_ERROR_MEMORY;
    if (!err && there) {
        err = rb_h5_get_values(in->file, path, model->iterations, column);
    }
    for (int64_t t = 0; !err && t < model->iterations; t++) {
        *(double *)((char *)&model->history[t] + offset) = there ? column[t] : NAN;
    }
    rb_free(column);
    return err;
}

static rb_error get_history(const struct loading *in, rb_model *model) {
    int64_t count, none;
    char path[256];
    snprintf(path, sizeof path, "%shistory/objective", in->group);
    rb_error err = rb_h5_get_shape(in->file, path, &count, &none);
    if (!err && none >= 0) {
        err = damaged(in, "the history is no vector");
    }
    for (int64_t t = 0; !err && t < count; t++) {
        err = rb_model_add_history(in->ctx, model, (rb_history){0});
    }
    rb_store_column column;
    for (int c = 0; !err && (column = rb_store_column_of(model->method, c)).name; c++) {
        snprintf(path, sizeof path, "%shistory/%s", in->group, column.name);
        if (c < RB_STORE_COLUMNS && !rb_h5_has(in->file, path)) {
            return damaged(in, "a column of the history is missing");
        }
        err = get_history_column(in, path, column.offset, model);
    }
    return err;
}

/* ---- the whole ---- */

/* An empty model with the preprocessing of the file. */
static rb_error begin_model(const struct loading *in, rb_model **model) {
    const rb_method *method = NULL;
    int type = 0, status = 0;
    rb_error err = check_format(in);
    if (!err) {
        err = get_method(in, &method);
    }
    if (!err) {
        err = get_word(in, "/", "precision", rb_store_precisions, 2, &type);
    }
    if (!err) {
        err = get_word(in, "/", "status", rb_store_statuses, RB_STORE_STATUSES, &status);
    }
    if (err) {
        return err;
    }
    rb_preprocess *p = rb_alloc_zero(in->ctx, 1, sizeof *p);
    if (!p) {
        return RB_ERROR_MEMORY;
    }
    err = get_preprocess(in, p);
    if (!err && !rb_method_takes(method, &p->options)) {
        err = damaged(in, "missing values are left out, but its method needs all values");
    }
    if (err) {
        rb_preprocess_free(p);
        return err;
    }
    err = rb_model_new(in->ctx, method, (rb_type)type, p, model);
    if (!err) {
        (*model)->status = (rb_status)status;
    }
    return err;
}

/* What stands in the group. */
static rb_error get_contents(const struct loading *in, rb_model *model) {
    rb_error err = get_arrays(in, model);
    if (!err) {
        err = get_attributes(in, model);
    }
    return err ? err : get_history(in, model);
}

rb_error rb_model_get(rb_context *ctx, rb_h5 *file, const char *path, const char *group,
                      rb_model *model) {
    char inside[128];
    snprintf(inside, sizeof inside, "%s/", group);
    struct loading in = {ctx, file, path, inside};
    int status;
    rb_error err = get_word(&in, group, "status", rb_store_statuses, RB_STORE_STATUSES, &status);
    if (!err) {
        model->status = (rb_status)status;
        err = get_contents(&in, model);
    }
    return err;
}

static rb_error get_model(const struct loading *in, rb_model **model) {
    rb_error err = begin_model(in, model);
    return err ? err : get_contents(in, *model);
}

rb_error rb_model_load(rb_context *ctx, const char *path, rb_model **model) {
    struct loading in = {ctx, NULL, path, ""};
    rb_reading reading;
    *model = NULL;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_h5_open(ctx, path, RB_H5_OWN, &in.file);
    if (!err) {
        err = get_model(&in, model);
        rb_error unread = rb_h5_close(in.file);
        err = unread ? unread : err;
    }
    rb_reading_end(ctx);
    if (err) {
        rb_model_free(*model);
        *model = NULL;
    }
    return err;
}
