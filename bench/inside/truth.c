/* A fit of one iteration makes a model, and its fields are overwritten. */
#include "truth.h"

#include "model/model.h"

rb_error truth_log_likelihood(rb_context *ctx, const rb_options *options, rb_source *source,
                              const rb_matrix *fields, double *log_likelihood) {
    rb_model *model = NULL;
    rb_metrics *metrics = NULL;
    int64_t causes = rb_matrix_samples(fields), features = rb_matrix_features(fields);
    rb_error err = rb_fit(ctx, options, source, NULL, &model);
    double *to = err ? NULL : rb_model_add_array(ctx, model, "loadings", features, causes);
    if (!err && !to) err = RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < features * causes; i++)
        to[i] = rb_matrix_at(fields, i % causes, i / causes);
    err = err ? err : rb_evaluate(ctx, model, source, &metrics);
    if (!err) *log_likelihood = rb_metrics_get(metrics, "log_likelihood");
    rb_metrics_free(metrics);
    rb_model_free(model);
    return err;
}
