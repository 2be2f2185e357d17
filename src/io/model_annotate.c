/* The results of a model in an AnnData file: codes, loadings, and with which settings. */
#include "io.h"

#include <string.h>

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
                         "`key` is '%s', but must be a name of at most %d characters without '/', "
                         "such as X_cells",
                         *key, LONGEST);
}

rb_error rb_model_annotate_check(rb_context *ctx, const rb_model *model, const char *key,
                                 const char *h5ad) {
    rb_error err = choose_key(ctx, model, &key);
    return err ? err : rb_anndata_check_new(ctx, h5ad, key);
}

rb_error rb_model_annotate_as(rb_context *ctx, const rb_model *model, const rb_matrix *codes,
                              const char *key, const char *h5ad_in, const char *h5ad_out) {
    rb_anndata_results results = {model, .codes = codes, .units = rb_model_units(model)};
    rb_error err = choose_key(ctx, model, &key);
    results.key = key;
    err = err ? err
              : rb_model_need_array(ctx, model, "loadings", model->preprocess->n_features,
                                    results.units, &results.loadings);
    if (!err && codes->n_features != results.units) {
        err =
            rb_fail(ctx, RB_ERROR_ARGUMENT, "the codes have %lld columns, but the model %lld units",
                    (long long)codes->n_features, (long long)results.units);
    }
    return err ? err : rb_anndata_add(ctx, h5ad_in, h5ad_out, &results);
}
