/* How well each unit marks each group of a covariate (enrich_units.c has the statistic). */
#include "modules.h"

#include <math.h>

static rb_error check_groups(rb_context *ctx, const rb_covariates *table, int64_t covariate) {
    const rb_covariate *c = rb_covariates_column(table, covariate);
    if (c && !c->values) return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT, "covariate %lld is %s", (long long)covariate,
                   c ? "numbers, and not groups" : "not there");
}

rb_error rb_covariates_auc(rb_context *ctx, const rb_covariates *table, int64_t covariate,
                           const rb_matrix *codes, rb_group_aucs *aucs) {
    rb_error err = rb_size_check(ctx, "the table of AUC", aucs->size, sizeof *aucs);
    if (err) return err;
    *aucs = (rb_group_aucs){.size = sizeof *aucs};
    err = check_groups(ctx, table, covariate);
    err = err ? err : rb_codes_check(ctx, table, codes);
    if (err) return err;
    const rb_labels *labels = &rb_covariates_column(table, covariate)->groups;
    aucs->n_groups = labels->classes->count;
    aucs->n_units = codes->n_features;
    aucs->n_samples = labels->n_labelled;
    int64_t count = aucs->n_groups * aucs->n_units;
    aucs->rows = rb_alloc_zero(ctx, count, sizeof *aucs->rows);
    aucs->best = rb_alloc(ctx, aucs->n_groups, sizeof *aucs->best);
    err = aucs->rows && aucs->best ? RB_OK : RB_ERROR_MEMORY;
    err = err ? err : rb_class_aucs(ctx, labels, codes, aucs->rows, aucs->best);
    if (!err) {
        const rb_chance_rows rows = {&aucs->rows->p_value, sizeof *aucs->rows, count};
        err = rb_chances_adjust(ctx, &rows, 0);
    }
    if (err) rb_group_aucs_clear(aucs);
    return err;
}

rb_error rb_covariates_overlap(rb_context *ctx, const rb_covariates *table, int64_t covariate,
                               const rb_modules *modules, rb_group_aucs *aucs) {
    rb_error err = check_groups(ctx, table, covariate);
    if (err) return err;
    const rb_labels *labels = &rb_covariates_column(table, covariate)->groups;
    return rb_class_overlaps(ctx, labels, modules, aucs->n_units, aucs->rows);
}

void rb_group_aucs_clear(rb_group_aucs *aucs) {
    rb_free(aucs->rows);
    rb_free(aucs->best);
    *aucs = (rb_group_aucs){.size = aucs->size};
}
