/* The results of a model in an AnnData file: codes, loadings, and with which settings. */
#include "io/io.h"
#include "model.h"

/* The attributes as lists of names and values, after what the model itself knows. */
enum { OWN_SETTINGS = 2 };

static void list_settings(const rb_model *model, const char **names, const char **values) {
    names[0] = "method";
    values[0] = model->method->name;
    names[1] = "precision";
    values[1] = model->type == RB_FLOAT32 ? "float32" : "float64";
    int64_t count = OWN_SETTINGS;
    for (int64_t i = 0; i < model->n_attributes; i++) {
        names[count] = model->attributes[i].name;
        values[count] = model->attributes[i].value;
        count++;
    }
}

rb_error rb_model_annotate(rb_context *ctx, const rb_model *model, const rb_matrix *codes,
                           const char *h5ad_in, const char *h5ad_out) {
    const rb_preprocess *p = model->preprocess;
    int64_t n_settings = OWN_SETTINGS + model->n_attributes;
    rb_anndata_results results = {.code_name = model->method->code_name,
                                  .codes = codes,
                                  .n_features = p->n_features,
                                  .units = rb_model_units(model),
                                  .names = p->names,
                                  .n_input = p->n_input,
                                  .selected = p->selected,
                                  .n_settings = n_settings};
    rb_error err = rb_model_need_array(ctx, model, "loadings", p->n_features, results.units,
                                       &results.loadings);
    if (!err && codes->n_features != results.units) {
        err =
            rb_fail(ctx, RB_ERROR_ARGUMENT, "the codes have %lld columns, but the model %lld units",
                    (long long)codes->n_features, (long long)results.units);
    }
    if (err) {
        return err;
    }
    const char **names = rb_alloc(ctx, n_settings, sizeof *names);
    const char **values = rb_alloc(ctx, n_settings, sizeof *values);
    if (names && values) {
        list_settings(model, names, values);
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
