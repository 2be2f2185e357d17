/* How well each unit marks each group of a covariate (enrich_units.c has the statistic). */
#include "modules.h"

#include <math.h>

/* Units x samples with a group. */
static void take_codes(const rb_labels *labels, const rb_matrix *codes, float *taken) {
    for (int64_t i = 0, at = 0; i < labels->n_samples; i++) {
        if (labels->class_of[i] < 0) continue;
        for (int64_t u = 0; u < codes->n_features; u++)
            taken[u * labels->n_labelled + at] = (float)rb_matrix_at(codes, i, u);
        at++;
    }
}

static rb_error adjust(rb_context *ctx, rb_group_aucs *aucs) {
    int64_t count = aucs->n_groups * aucs->n_units;
    rb_scratch scratch = {.ctx = ctx};
    double *log_p = rb_take(&scratch, count, sizeof *log_p);
    double *log_fdr = rb_take(&scratch, count, sizeof *log_fdr);
    for (int64_t i = 0; i < count && !scratch.err; i++)
        log_p[i] = aucs->rows[i].log10_p_value;
    if (!scratch.err) scratch.err = rb_false_discovery(ctx, log_p, count, 0, log_fdr);
    for (int64_t i = 0; i < count && !scratch.err; i++) {
        rb_group_auc *row = &aucs->rows[i];
        row->p_value = exp(log_p[i]);
        row->log10_p_value = log_p[i] / log(10);
        row->fdr = exp(log_fdr[i]);
        row->log10_fdr = log_fdr[i] / log(10);
    }
    return rb_scratch_end(&scratch);
}

static rb_error check_groups(rb_context *ctx, const rb_covariates *table, int64_t covariate) {
    const rb_covariate *c = rb_covariates_column(table, covariate);
    if (c && !c->values) return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT, "covariate %lld is %s", (long long)covariate,
                   c ? "numbers, and not groups" : "not there");
}

rb_error rb_covariates_auc(rb_context *ctx, const rb_covariates *table, int64_t covariate,
                           const rb_matrix *codes, rb_group_aucs *aucs) {
    int64_t cells;
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
    if (!rb_multiply(labels->n_labelled, aucs->n_units, &cells))
        return rb_fail(ctx, RB_ERROR_MEMORY, "the codes do not fit into memory");
    aucs->rows = rb_alloc_zero(ctx, aucs->n_groups * aucs->n_units, sizeof *aucs->rows);
    aucs->best = rb_alloc(ctx, aucs->n_groups, sizeof *aucs->best);
    float *taken = rb_alloc(ctx, cells, sizeof *taken);
    err = aucs->rows && aucs->best && taken ? RB_OK : RB_ERROR_MEMORY;
    if (!err) {
        take_codes(labels, codes, taken);
        err = rb_class_aucs(ctx, labels, aucs->n_units, taken, aucs->rows, aucs->best);
    }
    rb_free(taken);
    err = err ? err : adjust(ctx, aucs);
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
