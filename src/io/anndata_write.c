/* Writing AnnData: its encodings (version 0.8 of its on-disk layout), results added to a
 * file, and copies of one. */
#include "hdf5_place.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- encodings ---- */

rb_error rb_h5_encode(rb_h5 *file, const char *path, const char *type, const char *version) {
    rb_error err = rb_h5_set_text(file, path, "encoding-type", type);
    return err ? err : rb_h5_set_text(file, path, "encoding-version", version);
}

rb_error rb_h5_put_dict(rb_h5 *file, const char *path) {
    rb_error err = rb_h5_put_group(file, path);
    return err ? err : rb_h5_encode(file, path, "dict", "0.1.0");
}

/* A table without columns: only its index. */
static rb_error put_index(rb_h5 *file, const char *table, const rb_names *names) {
    char path[32];
    snprintf(path, sizeof path, "%s/_index", table);
    hid_t text = rb_h5_text_type(H5T_VARIABLE);
    rb_error err = rb_h5_put_group(file, table);
    err = err ? err : rb_h5_encode(file, table, "dataframe", "0.2.0");
    err = err ? err : rb_h5_set_text(file, table, "_index", "_index");
    err = err ? err : rb_h5_set_attribute(file, table, "column-order", text, text, NULL);
    err = err ? err : rb_h5_put_names(file, path, names);
    rb_h5_drop(text);
    return err ? err : rb_h5_encode(file, path, "string-array", "0.2.0");
}

rb_error rb_h5_put_anndata(rb_h5 *file, const rb_names *samples, const rb_names *features) {
    static const char *const dicts[] = {"layers", "obsm", "obsp", "uns", "varm", "varp"};
    rb_error err = rb_h5_encode(file, "/", "anndata", "0.1.0");
    err = err ? err : put_index(file, "obs", samples);
    err = err ? err : put_index(file, "var", features);
    for (size_t i = 0; !err && i < sizeof dicts / sizeof *dicts; i++)
        err = rb_h5_put_dict(file, dicts[i]);
    return err;
}

/* ---- which variables have loadings ---- */

/* Where feature k was in the training data. */
static int64_t position(const rb_preprocess *p, int64_t k) {
    return p->selected ? p->selected[k] : k;
}

/* First the features whose name stands where it stood in the training data, then the others, by
 * their names. */
static rb_error match_names(rb_h5 *file, const rb_preprocess *p, const rb_names *var,
                            int64_t *feature_of) {
    int64_t n = p->n_features;
    bool *placed = rb_alloc_zero(file->ctx, n, sizeof *placed);
    rb_named *sorted = rb_names_sort(file->ctx, p->names);
    bool done = placed && sorted;
    for (int64_t k = 0; done && k < n; k++) {
        int64_t v = position(p, k);
        placed[k] = v < var->count && strcmp(var->text[v], p->names->text[k]) == 0;
        if (placed[k]) feature_of[v] = k;
    }
    for (int64_t v = 0; done && v < var->count; v++) {
        const char *text = var->text[v];
        int64_t e = feature_of[v] < 0 ? rb_names_find(sorted, n, text) : -1;
        for (; e >= 0 && e < n && strcmp(sorted[e].text, text) == 0 && feature_of[v] < 0; e++)
            feature_of[v] = placed[sorted[e].index] ? -1 : sorted[e].index;
    }
    rb_free(placed);
    rb_free(sorted);
    return done ? RB_OK : RB_ERROR_MEMORY;
}

/* Without names the variables must be those of the training data, or those in use. */
static rb_error match_positions(rb_h5 *file, const rb_preprocess *p, int64_t n_var,
                                int64_t *feature_of) {
    bool in_use = n_var == p->n_features;
    if (!in_use && n_var != p->n_input) {
        return rb_h5_fail(file, RB_ERROR_DATA,
                          "has %lld variables, but the model, which knows no names, was fitted to "
                          "%lld",
                          (long long)n_var, (long long)p->n_input);
    }
    for (int64_t k = 0; k < p->n_features; k++)
        feature_of[in_use ? k : position(p, k)] = k;
    return RB_OK;
}

/* feature_of[v]: the feature that variable v is, or -1. */
static rb_error match_features(rb_h5 *file, const rb_preprocess *p, const rb_names *var,
                               int64_t *feature_of) {
    for (int64_t v = 0; v < var->count; v++)
        feature_of[v] = -1;
    rb_error err = p->names ? match_names(file, p, var, feature_of)
                            : match_positions(file, p, var->count, feature_of);
    bool any = p->n_features == 0;
    for (int64_t v = 0; v < var->count; v++)
        any = any || feature_of[v] >= 0;
    return err || any ? err
                      : rb_h5_fail(file, RB_ERROR_DATA,
                                   "has none of the features of the model among its variables");
}

/* ---- adding results ---- */

static rb_error ensure_dict(rb_h5 *file, const char *path) {
    return rb_h5_is_group(file, path) ? RB_OK
           : rb_h5_has(file, path)    ? rb_h5_renew_table(file, path)
                                      : rb_h5_put_dict(file, path);
}

static rb_error put_codes(rb_h5 *file, const rb_anndata_results *results, int64_t n_samples) {
    char path[256];
    if (results->codes->n_samples != n_samples) {
        return rb_h5_fail(file, RB_ERROR_DATA, "has %lld observations, but there are codes of %lld",
                          (long long)n_samples, (long long)results->codes->n_samples);
    }
    snprintf(path, sizeof path, "obsm/%s", results->key);
    rb_error err = rb_h5_remove(file, path);
    err = err ? err : rb_h5_put_matrix(file, path, results->codes);
    return err ? err : rb_h5_encode(file, path, "array", "0.2.0");
}

static rb_error put_loadings(rb_h5 *file, const rb_anndata_results *results, const char *short_name,
                             const rb_names *var) {
    char path[256];
    int64_t units = results->units;
    snprintf(path, sizeof path, "varm/%s", short_name);
    int64_t *feature_of = rb_alloc(file->ctx, var->count, sizeof *feature_of);
    double *rows = rb_alloc_zero(file->ctx, var->count, (size_t)units * sizeof *rows);
    rb_error err = feature_of && rows
                       ? match_features(file, results->model->preprocess, var, feature_of)
                       : RB_ERROR_MEMORY;
    for (int64_t v = 0; !err && v < var->count; v++) {
        if (feature_of[v] >= 0) {
            memcpy(rows + v * units, results->loadings + feature_of[v] * units,
                   (size_t)units * sizeof *rows);
        }
    }
    err = err ? err : rb_h5_remove(file, path);
    err = err ? err : rb_h5_put_values(file, path, var->count, units, rows);
    err = err ? err : rb_h5_encode(file, path, "array", "0.2.0");
    rb_free(feature_of);
    rb_free(rows);
    return err;
}

static rb_error put_setting(rb_h5 *file, const char *group, const char *name, const char *value) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", group, name);
    rb_error err = rb_h5_put_text(file, path, value);
    return err ? err : rb_h5_encode(file, path, "string", "0.2.0");
}

/* What the model itself knows, then the attributes; each name once, since a fit records its
 * precision too. */
static rb_error put_settings(rb_h5 *file, const rb_model *model, const char *short_name) {
    char group[512];
    snprintf(group, sizeof group, "uns/%s", short_name);
    rb_error err = rb_h5_remove(file, group);
    err = err ? err : rb_h5_put_dict(file, group);
    snprintf(group, sizeof group, "uns/%s/settings", short_name);
    err = err ? err : rb_h5_put_dict(file, group);
    err = err ? err : put_setting(file, group, "method", model->method->name);
    err = err ? err : put_setting(file, group, "precision", rb_store_precisions[model->type]);
    for (int64_t i = 0; !err && i < model->n_attributes; i++) {
        const rb_attribute *attribute = &model->attributes[i];
        if (strcmp(attribute->name, "method") != 0 && strcmp(attribute->name, "precision") != 0)
            err = put_setting(file, group, attribute->name, attribute->value);
    }
    return err;
}

/* Of a consensus: in how many of its models each unit is. */
static rb_error put_stability(rb_h5 *file, const rb_model *model, const char *short_name) {
    char path[256];
    int64_t rows = 0, columns = 0;
    const double *stability = rb_model_array(model, "stability", &rows, &columns);
    if (!stability || columns != 1) return RB_OK;
    snprintf(path, sizeof path, "uns/%s/stability", short_name);
    rb_error err = rb_h5_put_values(file, path, rows, -1, stability);
    return err ? err : rb_h5_encode(file, path, "array", "0.2.0");
}

/* The model as bytes: with them the file alone is enough to encode other samples. */
static rb_error put_model(rb_h5 *file, const rb_model *model, const char *short_name) {
    char path[256];
    void *bytes = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "uns/%s/model", short_name);
    rb_error err = rb_model_save_memory(file->ctx, model, &bytes, &size);
    int64_t count = (int64_t)size;
    err = err ? err : rb_h5_put(file, path, 1, &count, H5T_STD_U8LE, H5T_NATIVE_UCHAR, bytes);
    err = err ? err : rb_h5_encode(file, path, "array", "0.2.0");
    rb_free_memory(bytes);
    return err;
}

/* Of loadings and settings: "rfn" for codes "X_rfn". */
static const char *shorten(const char *key) {
    return key + (strncmp(key, "X_", 2) == 0 ? 2 : 0);
}

/* Where codes, loadings and settings go. */
static const char *const groups[] = {"obsm", "varm", "uns"};

static rb_error check_new(rb_h5 *file, const char *key) {
    for (int i = 0; i < 3; i++) {
        char path[256];
        const char *name = i == 0 ? key : shorten(key);
        snprintf(path, sizeof path, "%s/%s", groups[i], name);
        if (rb_h5_has(file, path)) {
            return rb_h5_fail(file, RB_ERROR_ARGUMENT,
                              "has %s['%s'] already; give another `key`, or replace it with "
                              "`overwrite`",
                              groups[i], name);
        }
    }
    return RB_OK;
}

rb_error rb_anndata_check_new(rb_context *ctx, const char *path, const char *key) {
    rb_h5 *file;
    rb_error err = rb_h5_open(ctx, path, RB_H5_SHARED, &file);
    return err ? err : rb_h5_end(file, check_new(file, key));
}

static rb_error add_results(rb_h5 *file, const void *arg) {
    const rb_anndata_results *results = arg;
    const char *short_name = shorten(results->key);
    rb_names *obs = NULL, *var = NULL;
    rb_context *ctx = file->ctx;
    rb_reading reading;
    if (!rb_h5_is_anndata(file))
        return rb_h5_fail(file, RB_ERROR_FORMAT, "is no AnnData file: it has no obs and var");
    rb_reading_begin(ctx, &reading, file->shown);
    rb_error err = rb_h5_anndata_index(file, "obs", &obs);
    err = err ? err : rb_h5_anndata_index(file, "var", &var);
    rb_reading_end(ctx);
    for (int i = 0; !err && i < 3; i++)
        err = ensure_dict(file, groups[i]);
    err = err ? err : put_codes(file, results, obs->count);
    err = err ? err : put_loadings(file, results, short_name, var);
    err = err ? err : put_settings(file, results->model, short_name);
    err = err ? err : put_stability(file, results->model, short_name);
    err = err ? err : put_model(file, results->model, short_name);
    rb_names_free(obs);
    rb_names_free(var);
    return err;
}

/* ---- the copy ---- */

static rb_error copy_file(rb_context *ctx, const char *input, const char *path) {
    char bytes[1 << 16];
    FILE *from = fopen(input, "rb"), *to = from ? fopen(path, "wb") : NULL;
    size_t count = 1;
    bool done = to != NULL;
    while (done && count > 0) {
        count = fread(bytes, 1, sizeof bytes, from);
        done = !ferror(from) && fwrite(bytes, 1, count, to) == count;
    }
    int reason = errno;
    if (from) fclose(from);
    if (to && fclose(to) != 0 && done) {
        done = false;
        reason = errno;
    }
    return done ? RB_OK
                : rb_fail(ctx, RB_ERROR_FILE, "%s: cannot be copied: %s", input, strerror(reason));
}

/* Puts a layer in the place of X; NULL: X stays. */
static rb_error replace_matrix(rb_h5 *file, const void *arg) {
    const char *dataset = arg;
    if (!rb_h5_is_anndata(file))
        return rb_h5_fail(file, RB_ERROR_UNSUPPORTED, "is no AnnData file");
    const char *path = dataset ? dataset + strspn(dataset, "/") : "X";
    if (strcmp(path, "X") == 0) return RB_OK;
    if (strncmp(path, "layers/", 7) != 0)
        return rb_h5_fail(file, RB_ERROR_UNSUPPORTED, "'%s' is no layer", path);
    if (!rb_h5_has(file, path))
        return rb_h5_fail(file, RB_ERROR_FORMAT, "there is no '%s' in the file", path);
    rb_error err = rb_h5_remove(file, "X");
    if (!err && H5Ocopy(file->id, path, file->id, "X", H5P_DEFAULT, H5P_DEFAULT) < 0)
        err = rb_h5_broken(file, RB_ERROR_FILE, "cannot copy", path);
    return err;
}

/* Changes a copy of a file that appears whole or not at all. */
static rb_error edit_copy(rb_context *ctx, const char *input, const char *output_name,
                          rb_error (*edit)(rb_h5 *file, const void *arg), const void *arg) {
    rb_staged *output;
    rb_h5 *file;
    rb_error err = rb_staged_begin(ctx, output_name, &output);
    if (err) return err;
    err = copy_file(ctx, input, output->path);
    err = err ? err : rb_h5_edit(ctx, output->path, input, RB_H5_SHARED, &file);
    err = err ? err : rb_h5_end(file, edit(file, arg));
    return rb_staged_end(ctx, err, output);
}

rb_error rb_anndata_copy(rb_context *ctx, const char *input, const char *dataset,
                         const char *output) {
    return edit_copy(ctx, input, output, replace_matrix, dataset);
}

rb_error rb_anndata_add(rb_context *ctx, const char *input, const char *output,
                        const rb_anndata_results *results) {
    return edit_copy(ctx, input, output, add_results, results);
}
