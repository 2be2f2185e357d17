/* A document of a model on data: the samples are encoded once for all that it says. */
#include "study.h"

#include <rarebit/document.h>

#include <math.h>
#include <string.h>

/* The classes of modules, and how well units tell them. */
static rb_error test_classes(rb_context *ctx, rb_document *d, const rb_matrix *codes) {
    const rb_covariate *classes = rb_covariates_column(d->labels, 0);
    if (!classes || classes->values)
        return rb_fail(ctx, RB_ERROR_ARGUMENT, "the labels of a document must be groups");
    rb_error err = rb_modules_enrichment(ctx, d->modules, &classes->groups, &d->classes);
    if (err || d->classes.n_classes < 2) return err;
    err = rb_covariates_auc(ctx, d->labels, 0, codes, &d->aucs);
    return err ? err : rb_covariates_overlap(ctx, d->labels, 0, d->modules, &d->aucs);
}

/* What needs all codes. */
static rb_error test_codes(rb_context *ctx, rb_document *d, rb_encoded *kept) {
    const rb_matrix codes = rb_matrix_of(kept->codes);
    rb_error err = d->labels ? test_classes(ctx, d, &codes) : RB_OK;
    if (!err && d->covariates)
        err = rb_covariates_test(ctx, d->covariates, &codes, &d->covariate_tests);
    if (err || !d->with_codes) return err;
    err = rb_matrix_dense(ctx, codes.type, codes.n_samples, codes.n_features, codes.values,
                          codes.row_stride, 1, &d->codes);
    if (!err) {
        d->values = kept->codes.data;
        kept->codes.data = NULL;
    }
    return err;
}

/* Modules, and metrics, of which the walk of the modules has the codes. */
static rb_error make_parts(rb_context *ctx, rb_document *d, rb_encoded *kept) {
    bool needs_codes = d->labels || d->covariates || d->with_codes;
    kept->most = needs_codes ? INT64_MAX : RB_KEPT_BYTES;
    rb_error err = rb_encoded_modules(ctx, kept, d->options, &d->modules);
    err =
        err ? err : rb_encoded_permute(ctx, kept, d->options, d->blocks, d->modules, &d->complete);
    if (err || !d->complete) return err;
    if (d->with_metrics) err = rb_evaluate_encoded(ctx, kept, NULL, &d->metrics);
    if (!err && d->sets)
        err = rb_modules_test_sets(ctx, d->modules, d->model, d->sets, d->options, &d->set_tests);
    return err || !needs_codes ? err : test_codes(ctx, d, kept);
}

/* What the level of the samples does is looked at on the way. */
static rb_error make(rb_context *ctx, rb_document *d, rb_encoded *kept) {
    rb_levels levels = {0};
    int64_t n = rb_source_samples(kept->source);
    rb_error err = rb_levels_begin(ctx, d->model, d->only_metrics ? 0 : n, &levels);
    levels.sparse = kept->source->sparse;
    levels.rotates = rb_model_is_centred(d->model) &&
                     rb_rotation_fits(levels.sparse, n, rb_model_features(d->model));
    if (levels.of_means || levels.totals) {
        kept->also = rb_levels_add;
        kept->also_user = &levels;
        kept->also_adds = levels.sums;
    }
    if (!err && d->only_metrics) err = rb_evaluate_encoded(ctx, kept, NULL, &d->metrics);
    if (!err && !d->only_metrics) err = make_parts(ctx, d, kept);
    if (!err && (d->metrics || d->complete))
        err = rb_levels_tell(ctx, &levels, d->modules, d->metrics);
    kept->also = NULL;
    kept->also_user = NULL;
    rb_error end = rb_levels_end(&levels);
    return err ? err : end;
}

const char *rb_document_class(const rb_document *d, int64_t rank, double *auc) {
    *auc = NAN;
    if (rank >= d->classes.n_rows || d->modules->notes[rank].role == RB_UNIT_BACKGROUND)
        return NULL;
    const rb_enrichment_row *row = &d->classes.rows[rank];
    const rb_module *m = rb_modules_get(d->modules, rank);
    bool negative = m->n_samples > 0 && m->samples[0].weight < 0;
    double best = NAN;
    for (int64_t g = 0; row->class_name && g < d->aucs.n_groups; g++)
        if (strcmp(rb_covariates_group(d->labels, 0, g), row->class_name) == 0)
            best = d->aucs.rows[g * d->aucs.n_units + m->unit].auc;
    best = negative ? 1 - best : best;
    bool bears = row->class_name && row->log10_p_value_adjusted <= log10(0.05) && best > 0.5 &&
                 row->precision >= 0.25;
    if (bears) *auc = best;
    return bears ? row->class_name : NULL;
}

/* Labels and covariates have a row for each sample. */
static rb_error check_count(rb_context *ctx, const rb_document *d, const rb_covariates *table,
                            const char *what) {
    int64_t count = rb_source_samples(d->source);
    if (!table || table->n_samples == count) return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT, "there are %lld samples, but %s for %lld",
                   (long long)count, what, (long long)table->n_samples);
}

rb_error rb_document_make(rb_context *ctx, rb_document *d) {
    rb_error err = rb_size_check(ctx, "the document", d->size, sizeof *d);
    err = err ? err : check_count(ctx, d, d->labels, "labels");
    err = err ? err : check_count(ctx, d, d->covariates, "covariates");
    if (err) return err;
    rb_encoded kept = {.model = d->model, .source = d->source};
    d->set_tests.size = sizeof d->set_tests;
    d->classes.size = sizeof d->classes;
    d->aucs.size = sizeof d->aucs;
    d->covariate_tests.size = sizeof d->covariate_tests;
    err = make(ctx, d, &kept);
    rb_encoded_clear(&kept);
    if (d->modules && d->modules->stopped) rb_context_stop(ctx);
    if (err) rb_document_clear(d);
    return err;
}

void rb_document_clear(rb_document *d) {
    rb_modules_free(d->modules);
    rb_set_tests_clear(&d->set_tests);
    rb_enrichment_clear(&d->classes);
    rb_group_aucs_clear(&d->aucs);
    rb_covariate_tests_clear(&d->covariate_tests);
    rb_metrics_free(d->metrics);
    rb_matrix_free(d->codes);
    rb_free(d->values);
    d->modules = NULL;
    d->metrics = NULL;
    d->codes = NULL;
    d->values = NULL;
    d->complete = false;
}
