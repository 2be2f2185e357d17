/* How well each unit marks each group of a covariate, such as a class of samples.
 *
 * For a group of K among N labelled samples and a unit, AUC is the probability that a sample of the
 * group has the larger code of two samples, one in the group and one not; equal codes count half.
 * With midranks r (from 1, equal codes share the mean of their ranks)
 *     AUC = (sum of r over the group - K (K + 1) / 2) / (K (N - K)),
 * the statistic of Mann and Whitney (ranks.c). It does not depend on the scale of the codes. Where
 * codes have signs, a unit may mark a group by either end: the distance of AUC from 1/2 decides
 * which unit does it best.
 */
#include "modules.h"

#include <math.h>
#include <string.h>

/* What is computed for one unit after the other. */
typedef struct marking {
    const rb_classes *labels;
    bool signs;          /* is any code below 0? */
    int64_t *class_of;   /* of the labelled samples, in order */
    int64_t *class_size; /* of each class */
    double *rank_sum;    /* of each class */
    double *values;      /* codes of the unit at hand */
    rb_ranking ranking;  /* of these */
} marking;

/* In float32, as codes may differ by rounding alone. */
static void rank_unit(marking *m, const rb_matrix *codes, int64_t unit) {
    int64_t n = 0;
    for (int64_t i = 0; i < m->labels->n_samples; i++)
        if (m->labels->class_of[i] >= 0) m->values[n++] = (float)rb_matrix_at(codes, i, unit);
    rb_ranking_set(&m->ranking, m->values, n);
    memset(m->rank_sum, 0, (size_t)m->labels->n_classes * sizeof *m->rank_sum);
    for (int64_t i = 0; i < n; i++)
        m->rank_sum[m->class_of[i]] += m->ranking.ranks[i];
}

/* How well an AUC marks a class; largest is best. */
static double merit(const marking *m, double auc) {
    return m->signs ? fabs(auc - 0.5) : auc - 0.5;
}

static rb_error test_class(marking *m, int64_t unit, int64_t c, rb_group_auc *row) {
    int64_t size = m->class_size[c];
    *row = (rb_group_auc){.unit = unit, .group = c, .group_size = size, .overlap = -1};
    row->auc = rb_ranking_auc(&m->ranking, size, m->rank_sum[c]);
    return rb_ranking_test(&m->ranking, size, m->rank_sum[c], &row->log10_p_value);
}

static rb_error mark(marking *m, const rb_matrix *codes, rb_group_auc *rows, int64_t *best) {
    rb_error err = RB_OK;
    int64_t n_units = codes->n_features;
    for (int64_t u = 0; u < n_units && !err; u++) {
        err = rb_check_stop(m->ranking.ctx);
        rank_unit(m, codes, u);
        for (int64_t c = 0; c < m->labels->n_classes && !err; c++) {
            rb_group_auc *of_class = rows + c * n_units;
            err = test_class(m, u, c, &of_class[u]);
            if (best[c] < 0 || merit(m, of_class[u].auc) > merit(m, of_class[best[c]].auc))
                best[c] = u;
        }
    }
    return err;
}

/* Classes by number in the order of labelled samples, and how large each is. */
static void count_classes(marking *m, int64_t *best) {
    const rb_classes *labels = m->labels;
    int64_t n_classes = labels->n_classes, at = 0;
    for (int64_t i = 0; i < labels->n_samples; i++) {
        if (labels->class_of[i] >= 0) {
            m->class_of[at++] = labels->class_of[i];
            m->class_size[labels->class_of[i]]++;
        }
    }
    for (int64_t c = 0; c < n_classes; c++)
        best[c] = -1;
}

/* Is any code of a sample with a class below 0? */
static bool has_signs(const rb_classes *labels, const rb_matrix *codes) {
    for (int64_t i = 0; i < labels->n_samples; i++)
        for (int64_t u = 0; labels->class_of[i] >= 0 && u < codes->n_features; u++)
            if ((float)rb_matrix_at(codes, i, u) < 0) return true;
    return false;
}

static rb_error find_aucs(rb_context *ctx, const rb_classes *labels, const rb_matrix *codes,
                          rb_group_auc *rows, int64_t *best) {
    int64_t n = labels->n_labelled, n_classes = labels->n_classes;
    rb_scratch scratch = {.ctx = ctx};
    marking m = {.labels = labels, .signs = has_signs(labels, codes)};
    m.class_of = rb_take(&scratch, n, sizeof *m.class_of);
    m.class_size = rb_take(&scratch, n_classes, sizeof *m.class_size);
    m.rank_sum = rb_take(&scratch, n_classes, sizeof *m.rank_sum);
    m.values = rb_take(&scratch, n, sizeof *m.values);
    if (!scratch.err) scratch.err = rb_ranking_begin(ctx, &m.ranking, n);
    if (!scratch.err) {
        count_classes(&m, best);
        scratch.err = mark(&m, codes, rows, best);
        rb_ranking_clear(&m.ranking);
    }
    return rb_scratch_end(&scratch);
}

static rb_error check_groups(rb_context *ctx, const rb_covariates *table, int64_t covariate) {
    const rb_covariate *c = rb_covariates_column(table, covariate);
    if (c && !c->values) return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT, "covariate %lld is %s", (long long)covariate,
                   c ? "numbers, not groups" : "not there");
}

rb_error rb_covariates_auc(rb_context *ctx, const rb_covariates *table, int64_t covariate,
                           const rb_matrix *codes, rb_group_aucs *aucs) {
    rb_error err = rb_size_check(ctx, "the table of AUC", aucs->size, sizeof *aucs);
    if (err) return err;
    *aucs = (rb_group_aucs){.size = sizeof *aucs};
    err = check_groups(ctx, table, covariate);
    err = err ? err : rb_codes_check(ctx, table, codes);
    if (err) return err;
    const rb_classes *labels = &rb_covariates_column(table, covariate)->groups;
    aucs->n_units = codes->n_features;
    aucs->n_samples = labels->n_labelled;
    if (!rb_classes_differ(ctx, labels)) return RB_OK;
    aucs->n_groups = labels->n_classes;
    int64_t count = aucs->n_groups * aucs->n_units;
    aucs->rows = rb_alloc_zero(ctx, count, sizeof *aucs->rows);
    aucs->best = rb_alloc(ctx, aucs->n_groups, sizeof *aucs->best);
    err = aucs->rows && aucs->best ? RB_OK : RB_ERROR_MEMORY;
    err = err ? err : find_aucs(ctx, labels, codes, aucs->rows, aucs->best);
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
    if (err || !aucs->rows) return err;
    const rb_classes *labels = &rb_covariates_column(table, covariate)->groups;
    rb_scratch scratch = {.ctx = ctx};
    scratch.err = rb_modules_check_samples(ctx, modules, labels->n_samples);
    int64_t *common = rb_take(&scratch, labels->n_classes, sizeof *common);
    for (int64_t r = 0; r < modules->tested && !scratch.err; r++) {
        const rb_module *m = &modules->list[r];
        bool negative = m->n_samples > 0 && m->samples[0].weight < 0;
        if (m->unit < 0 || m->unit >= aucs->n_units) continue;
        (void)rb_count_classes(labels, m, common);
        for (int64_t c = 0; c < labels->n_classes; c++) {
            rb_group_auc *row = &aucs->rows[c * aucs->n_units + m->unit];
            if (row->overlap < 0 || negative == (row->auc < 0.5)) row->overlap = common[c];
        }
    }
    return rb_scratch_end(&scratch);
}

void rb_group_aucs_clear(rb_group_aucs *aucs) {
    rb_free(aucs->rows);
    rb_free(aucs->best);
    *aucs = (rb_group_aucs){.size = aucs->size};
}
