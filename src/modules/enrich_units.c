/* How well each unit marks each class of samples.
 *
 * For a class of K among N labelled samples and a unit, AUC is the probability that a sample of the
 * class has the larger code of two samples, one in the class and one not; equal codes count half.
 * With midranks r (from 1, equal codes share the mean of their ranks)
 *     AUC = (sum of r over the class - K (K + 1) / 2) / (K (N - K)),
 * the statistic of Mann and Whitney (ranks.c). It does not depend on the scale of the codes. Where
 * codes have signs, a unit may mark a class by either end: the distance of AUC from 1/2 decides
 * which unit does it best.
 */
#include "modules.h"

#include <math.h>
#include <string.h>

/* What is computed for one unit after the other. */
typedef struct marking {
    const rb_labels *labels;
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
    memset(m->rank_sum, 0, (size_t)m->labels->classes->count * sizeof *m->rank_sum);
    for (int64_t i = 0; i < n; i++)
        m->rank_sum[m->class_of[i]] += m->ranking.ranks[i];
}

/* How well an AUC marks a class; largest is best. */
static double merit(const marking *m, double auc) {
    return m->signs ? fabs(auc - 0.5) : auc - 0.5;
}

static rb_error test_class(marking *m, int64_t unit, int64_t c, rb_group_auc *row) {
    int64_t size = m->class_size[c];
    *row = (rb_group_auc){.unit = unit, .group = c, .group_size = size, .auc = NAN, .overlap = -1};
    row->log10_p_value = NAN;
    if (size == m->labels->n_labelled) return RB_OK;
    row->auc = rb_ranking_auc(&m->ranking, size, m->rank_sum[c]);
    return rb_ranking_test(&m->ranking, size, m->rank_sum[c], &row->log10_p_value);
}

static rb_error mark(marking *m, const rb_matrix *codes, rb_group_auc *rows, int64_t *best) {
    rb_error err = RB_OK;
    int64_t n_units = codes->n_features;
    for (int64_t u = 0; u < n_units && !err; u++) {
        err = rb_check_stop(m->ranking.ctx);
        rank_unit(m, codes, u);
        for (int64_t c = 0; c < m->labels->classes->count && !err; c++) {
            rb_group_auc *of_class = rows + c * n_units;
            err = test_class(m, u, c, &of_class[u]);
            double auc = of_class[u].auc;
            if (isfinite(auc) && (best[c] < 0 || merit(m, auc) > merit(m, of_class[best[c]].auc)))
                best[c] = u;
        }
    }
    return err;
}

/* Classes by number in the order of labelled samples, and how large each is. */
static void count_classes(marking *m, int64_t *best) {
    const rb_labels *labels = m->labels;
    int64_t n_classes = labels->classes->count, at = 0;
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
static bool has_signs(const rb_labels *labels, const rb_matrix *codes) {
    for (int64_t i = 0; i < labels->n_samples; i++)
        for (int64_t u = 0; labels->class_of[i] >= 0 && u < codes->n_features; u++)
            if ((float)rb_matrix_at(codes, i, u) < 0) return true;
    return false;
}

rb_error rb_class_aucs(rb_context *ctx, const rb_labels *labels, const rb_matrix *codes,
                       rb_group_auc *rows, int64_t *best) {
    int64_t n = labels->n_labelled, n_classes = labels->classes->count;
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

rb_error rb_class_overlaps(rb_context *ctx, const rb_labels *labels, const rb_modules *modules,
                           int64_t n_units, rb_group_auc *rows) {
    int64_t n_classes = labels->classes->count;
    rb_error err = rb_modules_check_samples(ctx, modules, labels->n_samples);
    rb_scratch scratch = {.ctx = ctx, .err = err};
    int64_t *common = rb_take(&scratch, n_classes, sizeof *common);
    for (int64_t r = 0; r < modules->count && !scratch.err; r++) {
        const rb_module *m = &modules->list[r];
        bool negative = m->n_samples > 0 && m->samples[0].weight < 0;
        if (m->unit < 0 || m->unit >= n_units) continue;
        (void)rb_count_classes(labels, m, common);
        for (int64_t c = 0; c < n_classes; c++) {
            rb_group_auc *row = &rows[c * n_units + m->unit];
            if (row->overlap < 0 || negative == (row->auc < 0.5)) row->overlap = common[c];
        }
    }
    return rb_scratch_end(&scratch);
}
