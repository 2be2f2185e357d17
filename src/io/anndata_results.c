/* The results of a model in an AnnData file: codes, loadings, and with which settings. */
#include "hdf5_place.h"

#include <stdio.h>
#include <string.h>

/* Where codes, loadings and settings go, and under which name. */
static const char *const groups[] = {"obsm", "varm", "uns"};
enum { CODES, LOADINGS, SETTINGS, PLACES, LONGEST_KEY = 200, PLACE = LONGEST_KEY + 16 };

typedef struct results {
    const rb_model *model;
    const rb_matrix *codes; /* observations x units */
    const double *loadings; /* features x units */
    int64_t units;
    char place[PLACES][PLACE]; /* "obsm/X_rfn", "varm/rfn", "uns/rfn" */
} results;

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
                          "has %lld variables, but the model was fitted to %lld and has no names "
                          "to match them by",
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

static rb_error put_codes(rb_h5 *file, const results *r, int64_t n_samples) {
    if (r->codes->n_samples != n_samples) {
        return rb_h5_fail(file, RB_ERROR_DATA,
                          "has %lld observations, but the codes have %lld rows",
                          (long long)n_samples, (long long)r->codes->n_samples);
    }
    rb_error err = rb_h5_remove(file, r->place[CODES]);
    err = err ? err : rb_h5_put_matrix(file, r->place[CODES], r->codes);
    return err ? err : rb_h5_encode(file, r->place[CODES], "array", "0.2.0");
}

static rb_error put_loadings(rb_h5 *file, const results *r, const rb_names *var) {
    int64_t units = r->units;
    int64_t *feature_of = rb_alloc(file->ctx, var->count, sizeof *feature_of);
    double *rows = rb_alloc_zero(file->ctx, var->count, (size_t)units * sizeof *rows);
    rb_error err = feature_of && rows ? match_features(file, r->model->preprocess, var, feature_of)
                                      : RB_ERROR_MEMORY;
    for (int64_t v = 0; !err && v < var->count; v++) {
        if (feature_of[v] >= 0) {
            memcpy(rows + v * units, r->loadings + feature_of[v] * units,
                   (size_t)units * sizeof *rows);
        }
    }
    err = err ? err : rb_h5_remove(file, r->place[LOADINGS]);
    err = err ? err : rb_h5_put_values(file, r->place[LOADINGS], var->count, units, rows);
    err = err ? err : rb_h5_encode(file, r->place[LOADINGS], "array", "0.2.0");
    rb_free(feature_of);
    rb_free(rows);
    return err;
}

static const char *below(const results *r, const char *name, char path[RB_H5_PATH]) {
    snprintf(path, RB_H5_PATH, "%s/%s", r->place[SETTINGS], name);
    return path;
}

static rb_error put_setting(rb_h5 *file, const char *settings, const char *name,
                            const char *value) {
    char path[RB_H5_LONG_PATH];
    snprintf(path, sizeof path, "%s/%s", settings, name);
    rb_error err = rb_h5_put_text(file, path, value);
    return err ? err : rb_h5_encode(file, path, "string", "0.2.0");
}

/* What the model itself knows, then the attributes; each name once, since a fit records its
 * precision too. */
static rb_error put_settings(rb_h5 *file, const results *r) {
    char path[RB_H5_PATH];
    const rb_model *model = r->model;
    rb_error err = rb_h5_remove(file, r->place[SETTINGS]);
    err = err ? err : rb_h5_put_dict(file, r->place[SETTINGS]);
    err = err ? err : rb_h5_put_dict(file, below(r, "params", path));
    err = err ? err : put_setting(file, path, "method", model->method->name);
    err = err ? err : put_setting(file, path, "precision", rb_store_precisions[model->type]);
    for (int64_t i = 0; !err && i < model->n_attributes; i++) {
        const rb_attribute *attribute = &model->attributes[i];
        if (strcmp(attribute->name, "method") != 0 && strcmp(attribute->name, "precision") != 0)
            err = put_setting(file, path, attribute->name, attribute->value);
    }
    return err;
}

/* Of a consensus: in how many of its models each unit is. */
static rb_error put_stability(rb_h5 *file, const results *r) {
    char path[RB_H5_PATH];
    int64_t rows = 0, columns = 0;
    const double *stability = rb_model_array(r->model, "stability", &rows, &columns);
    if (!stability || columns != 1) return RB_OK;
    rb_error err = rb_h5_put_values(file, below(r, "stability", path), rows, -1, stability);
    return err ? err : rb_h5_encode(file, path, "array", "0.2.0");
}

/* The model as bytes: with them the file alone is enough to encode other samples. */
static rb_error put_model(rb_h5 *file, const results *r) {
    char path[RB_H5_PATH];
    void *bytes = NULL;
    size_t size = 0;
    rb_error err = rb_model_save_memory(file->ctx, r->model, &bytes, &size);
    int64_t count = (int64_t)size;
    err = err ? err
              : rb_h5_put(file, below(r, "model", path), 1, &count, H5T_STD_U8LE, H5T_NATIVE_UCHAR,
                          bytes);
    err = err ? err : rb_h5_encode(file, path, "array", "0.2.0");
    rb_free_memory(bytes);
    return err;
}

static rb_error add_results(rb_h5 *file, const void *arg) {
    const results *r = arg;
    rb_names *obs = NULL, *var = NULL;
    rb_context *ctx = file->ctx;
    rb_reading reading;
    if (!rb_h5_is_anndata(file))
        return rb_h5_fail(file, RB_ERROR_FORMAT, "is not an AnnData file: it has no obs and var");
    rb_reading_begin(ctx, &reading, file->shown);
    rb_error err = rb_h5_anndata_index(file, "obs", &obs);
    err = err ? err : rb_h5_anndata_index(file, "var", &var);
    rb_reading_end(ctx);
    for (int i = 0; !err && i < PLACES; i++)
        err = ensure_dict(file, groups[i]);
    err = err ? err : put_codes(file, r, obs->count);
    err = err ? err : put_loadings(file, r, var);
    err = err ? err : put_settings(file, r);
    err = err ? err : put_stability(file, r);
    err = err ? err : put_model(file, r);
    rb_names_free(obs);
    rb_names_free(var);
    return err;
}

/* ---- under which name ---- */

static rb_error choose_places(rb_context *ctx, const rb_model *model, const char *key, results *r) {
    *r = (results){.model = model};
    if (!key) key = model->method->code_name;
    const char *rest = key + (strncmp(key, "X_", 2) == 0 ? 2 : 0);
    if (!*rest || *rest == '.' || strchr(key, '/') || strlen(key) > LONGEST_KEY) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`key` is '%s', but must be a name of at most %d characters without '/', "
                       "such as X_cells",
                       key, LONGEST_KEY);
    }
    for (int i = 0; i < PLACES; i++)
        snprintf(r->place[i], PLACE, "%s/%s", groups[i], i == CODES ? key : rest);
    return RB_OK;
}

static rb_error check_new(rb_h5 *file, const results *r) {
    for (int i = 0; i < PLACES; i++) {
        if (rb_h5_has(file, r->place[i])) {
            return rb_h5_fail(file, RB_ERROR_ARGUMENT,
                              "has %s['%s'] already; give another `key`, or replace it with "
                              "`overwrite`",
                              groups[i], r->place[i] + strlen(groups[i]) + 1);
        }
    }
    return RB_OK;
}

rb_error rb_model_annotate_check(rb_context *ctx, const rb_model *model, const char *key,
                                 const char *h5ad) {
    rb_h5 *file;
    results r;
    rb_error err = choose_places(ctx, model, key, &r);
    err = err ? err : rb_h5_open(ctx, h5ad, RB_H5_SHARED, &file);
    return err ? err : rb_h5_end(file, check_new(file, &r));
}

rb_error rb_model_annotate_as(rb_context *ctx, const rb_model *model, const rb_matrix *codes,
                              const char *key, const char *h5ad_in, const char *h5ad_out) {
    results r;
    rb_error err = choose_places(ctx, model, key, &r);
    if (err) return err;
    r.codes = codes;
    r.units = rb_model_units(model);
    err = rb_model_need_array(ctx, model, "loadings", model->preprocess->n_features, r.units,
                              &r.loadings);
    if (!err && codes->n_features != r.units) {
        err =
            rb_fail(ctx, RB_ERROR_ARGUMENT, "the codes have %lld columns, but the model %lld units",
                    (long long)codes->n_features, (long long)r.units);
    }
    return err ? err : rb_h5_edit_copy(ctx, h5ad_in, h5ad_out, add_results, &r);
}
