/* Loading a model. A file may be damaged or made by somebody else: everything is checked. */
#include "hdf5_base.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static rb_error damaged(const rb_h5 *file, const char *what) {
    return rb_h5_fail(file, RB_ERROR_FORMAT, "%s; the file is damaged", what);
}

/* ---- the head ---- */

/* Is it a model, of a format we know? */
static rb_error check_format(rb_h5 *file) {
    char *format = NULL;
    int64_t version;
    rb_error err = RB_OK;
    if (rb_h5_has_attribute(file, "/", "format"))
        err = rb_h5_get_text(file, "/", "format", &format);
    if (!err && (!format || strcmp(format, RB_STORE_FORMAT) != 0))
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "is an HDF5 file, but not a model of rarebit");
    rb_free(format);
    err = err ? err : rb_h5_get_integer(file, "/", "format_version", &version);
    if (!err && version > RB_STORE_VERSION) {
        return rb_h5_fail(file, RB_ERROR_FORMAT,
                          "the model has format version %lld, made by a newer version of rarebit; "
                          "update rarebit",
                          (long long)version);
    }
    return err || version >= 1 ? err : damaged(file, "the format version is below 1");
}

/* The index of the attribute of an object among words. */
static rb_error get_word(rb_h5 *file, const char *object, const char *name,
                         const char *const *words, int n_words, int *index) {
    char *text;
    *index = -1;
    rb_error err = rb_h5_get_text(file, object, name, &text);
    if (!err && (*index = rb_store_word(words, n_words, text)) < 0) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "the attribute '%s' is '%s', which is unknown",
                         name, text);
    }
    rb_free(text);
    return err;
}

/* An empty model as the head says. */
static rb_error begin_model(rb_h5 *file, rb_model **model) {
    int type = 0, status = 0;
    char *method = NULL;
    rb_error err = check_format(file);
    err = err ? err : get_word(file, "/", "precision", rb_store_precisions, 2, &type);
    err = err ? err : get_word(file, "/", "status", rb_store_statuses, RB_STORE_STATUSES, &status);
    err = err ? err : rb_h5_get_text(file, "/", "method", &method);
    err = err ? err : rb_model_begin(file->ctx, method, type, status, model);
    if (err == RB_ERROR_FORMAT && method) rb_fail_prefix(file->ctx, "%s: ", file->shown);
    rb_free(method);
    return err;
}

/* ---- preprocessing ---- */

/* An option that the file does not know has its default: later options keep old models as they
 * were. */
static rb_error get_preprocess_options(rb_h5 *file, rb_preprocess_options *options) {
    const rb_option *rows = rb_preprocess_group.rows;
    rb_error err = RB_OK;
    rb_rows_default(rows, options);
    for (const rb_option *row = rows; !err && row->name; row++) {
        char *value = NULL;
        if (row->kind != RB_OPTION_TEXT && rb_h5_has_attribute(file, "preprocess", row->name))
            err = rb_h5_get_text(file, "preprocess", row->name, &value);
        if (value && rb_rows_set(file->ctx, rows, options, row->name, value)) {
            rb_fail_prefix(file->ctx, "%s: preprocessing: ", file->shown);
            err = RB_ERROR_FORMAT;
        }
        rb_free(value);
    }
    return err;
}

static rb_error get_preprocess_counts(rb_h5 *file, rb_preprocess *p) {
    int64_t checksum = 0;
    rb_error err = rb_h5_get_integer(file, "preprocess", "n_input", &p->n_input);
    err = err ? err : rb_h5_get_integer(file, "preprocess", "n_features", &p->n_features);
    err = err ? err : rb_h5_get_integer(file, "preprocess", "n_filled", &p->n_filled);
    err = err ? err : rb_h5_get_integer(file, "preprocess", "checksum", &checksum);
    if (!err && (p->n_features < 0 || p->n_features > p->n_input || p->n_filled < 0 ||
                 checksum < 0 || checksum > UINT32_MAX))
        err = damaged(file, "a count of the preprocessing is impossible");
    p->checksum = (uint32_t)checksum;
    return err;
}

/* A vector of finite numbers. The shape is compared before memory is asked for. */
static rb_error get_vector(rb_h5 *file, const char *path, int64_t count, double **values) {
    int64_t rows, columns;
    rb_error err = rb_h5_get_shape(file, path, &rows, &columns);
    if (!err && (rows != count || columns >= 0)) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "'%s' must be a vector of %lld numbers", path,
                         (long long)count);
    }
    if (err) return err;
    *values = rb_alloc(file->ctx, count, sizeof **values);
    err = *values ? rb_h5_get_values(file, path, count, *values) : RB_ERROR_MEMORY;
    for (int64_t k = 0; !err && k < count; k++) {
        if (!isfinite((*values)[k])) {
            err = rb_h5_fail(file, RB_ERROR_FORMAT, "number %lld of '%s' is not finite",
                             (long long)k + 1, path);
        }
    }
    return err;
}

static rb_error get_selected(rb_h5 *file, rb_preprocess *p) {
    const char *path = "preprocess/selected";
    int64_t rows, columns;
    rb_error err = rb_h5_get_shape(file, path, &rows, &columns);
    if (err || rows != p->n_features || columns >= 0)
        return err ? err : damaged(file, "the selection of features has the wrong length");
    p->selected = rb_alloc(file->ctx, rows, sizeof *p->selected);
    return p->selected ? rb_h5_get_integers(file, path, rows, p->selected) : RB_ERROR_MEMORY;
}

/* How many levels each term has; all of them are in one list. */
static rb_error get_levels(rb_h5 *file, rb_regress *r, const int64_t *counts) {
    rb_names *levels = NULL;
    int64_t next = 0;
    rb_error err = RB_OK;
    if (rb_h5_has(file, "preprocess/regress/levels"))
        err = rb_h5_get_texts(file, "preprocess/regress/levels", &levels);
    for (int64_t t = 0; !err && t < r->n_terms; t++) {
        int64_t left = levels ? levels->count - next : 0;
        if (counts[t] < 0 || counts[t] > left) {
            err = damaged(file, "a covariate has another number of levels than it states");
        } else if (counts[t] > 0) {
            r->terms[t].levels =
                rb_names_copy(file->ctx, (const char *const *)levels->text + next, counts[t]);
            err = r->terms[t].levels ? RB_OK : RB_ERROR_MEMORY;
            next += counts[t];
        }
    }
    rb_names_free(levels);
    return err;
}

static rb_error get_terms(rb_h5 *file, rb_regress *r) {
    const char *path = "preprocess/regress/levels_of";
    int64_t counts[RB_COVARIATES_MAX], rows = 0, columns;
    rb_names *names = NULL;
    rb_error err = rb_h5_get_texts(file, "preprocess/regress/names", &names);
    err = err ? err : rb_h5_get_shape(file, path, &rows, &columns);
    if (!err && (rows != names->count || columns >= 0 || rows > RB_COVARIATES_MAX))
        err = damaged(file, "the covariates do not have one number of levels each");
    err = err ? err : rb_h5_get_integers(file, path, rows, counts);
    for (int64_t t = 0; !err && t < rows; t++) {
        r->terms[r->n_terms++].name = rb_copy_text(file->ctx, names->text[t]);
        err = r->terms[t].name ? RB_OK : RB_ERROR_MEMORY;
    }
    rb_names_free(names);
    err = err ? err : get_levels(file, r, counts);
    return err ? err : rb_regress_complete(file->ctx, r);
}

static rb_error get_regress(rb_h5 *file, rb_preprocess *p) {
    const char *path = "preprocess/regress/coefficients";
    rb_regress *r = p->regress = rb_alloc_zero(file->ctx, 1, sizeof *r);
    int64_t rows = 0, columns = 0;
    rb_error err = r ? get_terms(file, r) : RB_ERROR_MEMORY;
    err = err ? err : get_vector(file, "preprocess/regress/means", r->n_columns, &r->means);
    err = err ? err : rb_h5_get_shape(file, path, &rows, &columns);
    if (!err && (rows != p->n_features || columns != r->n_columns))
        err = damaged(file, "the effects of covariates have the wrong shape");
    if (err) return err;
    p->options.regress = r->text;
    r->coefficients = rb_alloc(file->ctx, rows * columns, sizeof *r->coefficients);
    return r->coefficients ? rb_h5_get_values(file, path, rows * columns, r->coefficients)
                           : RB_ERROR_MEMORY;
}

static rb_error get_preprocess(rb_h5 *file, rb_preprocess *p) {
    rb_error err = get_preprocess_options(file, &p->options);
    err = err ? err : get_preprocess_counts(file, p);
    if (!err && rb_h5_has(file, "preprocess/selected")) err = get_selected(file, p);
    err = err ? err : get_vector(file, "preprocess/centre", p->n_features, &p->centre);
    err = err ? err : get_vector(file, "preprocess/scale", p->n_features, &p->scale);
    if (!err && !rb_missing_stays(&p->options) && rb_h5_has(file, "preprocess/fill"))
        err = get_vector(file, "preprocess/fill", p->n_features, &p->fill);
    if (!err && rb_h5_has(file, "preprocess/regress")) err = get_regress(file, p);
    if (!err && rb_h5_has(file, "features/names"))
        err = rb_h5_get_texts(file, "features/names", &p->names);
    if (!err && p->names && p->names->count != p->n_features) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT, "there are %lld names for %lld features",
                         (long long)p->names->count, (long long)p->n_features);
    }
    return err;
}

/* ---- arrays, attributes, history; `group` stands before the paths: "" or "name/" ---- */

/* Far more arrays or attributes than any method has: each is compared with those before it. */
enum { MAX_NAMES = 1000 };

static rb_error get_array(rb_h5 *file, const char *group, const char *name, rb_model *model) {
    char path[4200];
    int64_t rows, columns;
    snprintf(path, sizeof path, "%s/%s", group, name);
    rb_error err = rb_h5_get_shape(file, path, &rows, &columns);
    if (!err && columns < 0) err = damaged(file, "an array does not have two dimensions");
    if (!err && strcmp(name, "loadings") == 0 && rows != model->preprocess->n_features)
        err = damaged(file, "the loadings do not have one row per feature");
    if (err) return err;
    double *values = rb_model_add_array(file->ctx, model, name, rows, columns);
    return values ? rb_h5_get_values(file, path, rows * columns, values) : RB_ERROR_MEMORY;
}

static rb_error get_attribute(rb_h5 *file, const char *group, const char *name, rb_model *model) {
    char *value;
    rb_error err = rb_h5_get_text(file, group, name, &value);
    err = err ? err : rb_model_set_attribute(file->ctx, model, name, value);
    rb_free(value);
    return err;
}

/* All arrays or all attributes. */
static rb_error get_all(rb_h5 *file, const char *group, bool arrays, rb_model *model) {
    rb_names *names = NULL;
    char path[256];
    const char *what = arrays ? "arrays" : "attributes";
    snprintf(path, sizeof path, "%s%s", group, what);
    rb_error err = (arrays ? rb_h5_list : rb_h5_list_attributes)(file, path, &names);
    if (!err && names->count > MAX_NAMES) {
        err = rb_h5_fail(file, RB_ERROR_FORMAT,
                         "there are %lld %s, but a model has at most %d; the file is damaged",
                         (long long)names->count, what, MAX_NAMES);
    }
    for (int64_t i = 0; !err && i < names->count; i++)
        err = (arrays ? get_array : get_attribute)(file, path, names->text[i], model);
    rb_names_free(names);
    return err;
}

static rb_error get_history_column(rb_h5 *file, const char *path, size_t offset, rb_model *model) {
    double *column = rb_alloc(file->ctx, model->iterations, sizeof *column);
    rb_error err =
        column ? rb_h5_get_values(file, path, model->iterations, column) : RB_ERROR_MEMORY;
    for (int64_t t = 0; !err && t < model->iterations; t++)
        *(double *)((char *)&model->history[t] + offset) = column[t];
    rb_free(column);
    return err;
}

static rb_error get_history(rb_h5 *file, const char *group, rb_model *model) {
    int64_t count, none;
    char path[256];
    snprintf(path, sizeof path, "%shistory/objective", group);
    rb_error err = rb_h5_get_shape(file, path, &count, &none);
    if (!err && none >= 0) err = damaged(file, "the history is not a vector");
    err = err ? err : rb_model_empty_history(file->ctx, model, count);
    rb_store_column column;
    for (int c = 0; !err && (column = rb_store_column_of(model->method, c)).name; c++) {
        snprintf(path, sizeof path, "%shistory/%s", group, column.name);
        if (rb_h5_has(file, path))
            err = get_history_column(file, path, column.offset, model);
        else if (c < RB_STORE_COLUMNS)
            err = damaged(file, "a column of the history is missing");
    }
    return err;
}

static rb_error get_contents(rb_h5 *file, const char *group, rb_model *model) {
    rb_error err = get_all(file, group, true, model);
    err = err ? err : get_all(file, group, false, model);
    return err ? err : get_history(file, group, model);
}

rb_error rb_model_get(rb_h5 *file, const char *group, rb_model *model) {
    char inside[128];
    int status;
    snprintf(inside, sizeof inside, "%s/", group);
    rb_error err = get_word(file, group, "status", rb_store_statuses, RB_STORE_STATUSES, &status);
    if (err) return err;
    model->status = (rb_status)status;
    return get_contents(file, inside, model);
}

/* ---- the whole ---- */

static rb_error get_model(rb_h5 *file, rb_model **model) {
    rb_error err = begin_model(file, model);
    err = err ? err : get_preprocess(file, (*model)->preprocess);
    if (err) return err;
    const char *flaw = rb_model_flaw(*model);
    return flaw ? damaged(file, flaw) : get_contents(file, "", *model);
}

rb_error rb_model_load(rb_context *ctx, const char *path, rb_model **model) {
    rb_h5 *file;
    rb_reading reading;
    *model = NULL;
    rb_reading_begin(ctx, &reading, path);
    rb_error err = rb_h5_open(ctx, path, RB_H5_OWN, &file);
    bool summed = !err && file->summed;
    err = err ? err : rb_h5_end(file, get_model(file, model));
    rb_reading_end(ctx);
    if (err) {
        rb_model_free(*model);
        *model = NULL;
    } else if (!summed) {
        char from[4200];
        snprintf(from, sizeof from, "%s: ", path);
        rb_model_no_checksum(ctx, from);
    }
    return err;
}
