/* The results of a model in an AnnData file: codes, loadings, and with which settings. */
#include "io.h"

#include <string.h>

enum { OWN_SETTINGS = 2 };

static bool listed(const char *const *names, int64_t count, const char *name) {
    for (int64_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* What the model itself knows, then the attributes; each name once, since a fit records its
 * precision too. Returns their number. */
static int64_t list_settings(const rb_model *model, const char **names, const char **values) {
    names[0] = "method";
    values[0] = model->method->name;
    names[1] = "precision";
    values[1] = model->type == RB_FLOAT32 ? "float32" : "float64";
    int64_t count = OWN_SETTINGS;
    for (int64_t i = 0; i < model->n_attributes; i++) {
        if (!listed(names, OWN_SETTINGS, model->attributes[i].name)) {
            names[count] = model->attributes[i].name;
            values[count] = model->attributes[i].value;
            count++;
        }
    }
    return count;
}

/* A name in an HDF5 file, and what is left of it without "X_". */
static rb_error choose_key(rb_context *ctx, const rb_model *model, const char **key) {
    enum { LONGEST = 200 };
    if (!*key) {
        *key = model->method->code_name;
        return RB_OK;
    }
    const char *rest = *key + (strncmp(*key, "X_", 2) == 0 ? 2 : 0);
    return *rest && *rest != '.' && !strchr(*key, '/') && strlen(*key) <= LONGEST
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_ARGUMENT,
                         "key is '%s', but must be a name of at most %d characters without '/', "
                         "such as X_cells",
                         *key, LONGEST);
}

rb_error rb_model_annotate_check(rb_context *ctx, const rb_model *model, const char *key,
                                 const char *h5ad) {
    rb_error err = choose_key(ctx, model, &key);
    return err ? err : rb_anndata_check_new(ctx, h5ad, key);
}

rb_error rb_model_annotate(rb_context *ctx, const rb_model *model, const rb_matrix *codes,
                           const char *h5ad_in, const char *h5ad_out) {
    return rb_model_annotate_as(ctx, model, codes, NULL, h5ad_in, h5ad_out);
}

rb_error rb_model_annotate_as(rb_context *ctx, const rb_model *model, const rb_matrix *codes,
                              const char *key, const char *h5ad_in, const char *h5ad_out) {
    const rb_preprocess *p = model->preprocess;
    int64_t max_settings = OWN_SETTINGS + model->n_attributes;
    rb_anndata_results results = {.codes = codes,
                                  .n_features = p->n_features,
                                  .units = rb_model_units(model),
                                  .names = p->names,
                                  .n_input = p->n_input,
                                  .selected = p->selected};
    rb_error err = choose_key(ctx, model, &key);
    results.code_name = key;
    if (!err) {
        err = rb_model_need_array(ctx, model, "loadings", p->n_features, results.units,
                                  &results.loadings);
    }
    if (!err && codes->n_features != results.units) {
        err =
            rb_fail(ctx, RB_ERROR_ARGUMENT, "the codes have %lld columns, but the model %lld units",
                    (long long)codes->n_features, (long long)results.units);
    }
    if (err) {
        return err;
    }
    const char **names = rb_alloc(ctx, max_settings, sizeof *names);
    const char **values = rb_alloc(ctx, max_settings, sizeof *values);
    if (names && values) {
        results.n_settings = list_settings(model, names, values);
        results.setting_names = names;
        results.setting_values = values;
        err = rb_anndata_add(ctx, h5ad_in, h5ad_out, &results);
    } else {
        err = RB_ERROR_MEMORY;
    }
    rb_free(names);
    rb_free(values);
    return err;
}
