/* Units that follow the level of the samples: what all features of a sample share. Their codes go
 * with the means of the samples, and three quarters of all features have loadings of one sign.
 * Codes of a large module go with the means, too, but it has not so many features.
 *
 * And units that follow their depth, where samples are scaled to one total: codes go with the
 * logarithms of the totals that they had. Fewer features of shallow samples are above 0, which no
 * total mends; but samples of one kind may be deeper than others, too.
 */
#include "modules.h"

#include <math.h>
#include <stdio.h>

enum { MIN_SAMPLES = 10, MIN_FEATURES = 20 };
static const double OF_LEVEL = 0.8, OF_DEPTH = 0.5;

/* Codes beside a number of each sample: sums of what there is, of it, of its square; and for each
 * unit of codes, of their squares, of codes times the number. */
static int64_t sums_of(const rb_levels *l) {
    return 3 + 3 * l->n_units;
}

static void add(const rb_levels *l, double number, const rb_matrix *codes, int64_t i,
                double *sums) {
    sums[0]++;
    sums[1] += number;
    sums[2] += number * number;
    for (int64_t u = 0; u < l->n_units; u++) {
        double code = rb_matrix_at(codes, i, u), *of_unit = sums + 3 + 3 * u;
        of_unit[0] += code;
        of_unit[1] += code * code;
        of_unit[2] += code * number;
    }
}

/* The correlation of a unit's codes with the numbers; 0: one of them does not vary. */
static double correlation_of(const double *sums, int64_t u) {
    const double *of_unit = sums + 3 + 3 * u;
    double together = sums[0] * of_unit[2] - of_unit[0] * sums[1];
    double squares =
        (sums[0] * sums[2] - sums[1] * sums[1]) * (sums[0] * of_unit[1] - of_unit[0] * of_unit[0]);
    return squares > 0 ? together / sqrt(squares) : 0;
}

static double mean_of(const rb_dense row) {
    double sum = 0;
    int64_t there = 0;
    for (int64_t k = 0; k < row.cols; k++) {
        double value = rb_dense_get(row, 0, k);
        sum += isnan(value) ? 0 : value;
        there += !isnan(value);
    }
    return there ? sum / (double)there : 0;
}

rb_error rb_levels_add(void *user, const rb_block *block, const rb_matrix *codes) {
    rb_levels *l = user;
    for (int64_t i = 0; i < block->n_samples; i++) {
        if (l->of_level) {
            rb_block_rows(block, i, l->row);
            add(l, mean_of(l->row), codes, i, l->of_level);
        }
        if (l->of_depth && block->lost && block->lost[i].total > 0)
            add(l, log(block->lost[i].total), codes, i, l->of_depth);
    }
    return RB_OK;
}

/* With loadings of one sign, of at least a quarter of the usual size. */
static bool has_most_features(const rb_model *model, int64_t u) {
    int64_t m = 0, l = 0, up = 0, down = 0;
    const double *loadings = rb_model_array(model, "loadings", &m, &l);
    double squares = 0;
    if (!loadings) return true;
    for (int64_t k = 0; k < m; k++)
        squares += loadings[k * l + u] * loadings[k * l + u];
    double least = sqrt(squares / (double)m) / 4;
    for (int64_t k = 0; k < m; k++) {
        up += loadings[k * l + u] > least;
        down += loadings[k * l + u] < -least;
    }
    return 4 * (up > down ? up : down) >= 3 * m;
}

static void tell_level(rb_context *ctx, const rb_levels *l, rb_metrics *metrics) {
    int64_t count = 0;
    bool enough = l->of_level && l->of_level[0] >= MIN_SAMPLES;
    for (int64_t u = 0; enough && u < l->n_units; u++)
        count += fabs(correlation_of(l->of_level, u)) > OF_LEVEL && has_most_features(l->model, u);
    if (metrics) rb_metrics_set(metrics, "units_of_level", (double)count);
    if (count > 0) {
        rb_log(ctx, RB_LOG_WARNING,
               "%lld of %lld units follow%s the level of the samples (correlation above %g with "
               "their means): %s",
               (long long)count, (long long)l->n_units, count == 1 ? "s" : "", OF_LEVEL,
               l->sparse ? "convert the data to a dense format, then fit with `centre-samples` set "
                           "to median to remove it"
                         : "fit with `centre-samples` set to median to remove it");
    }
}

/* Of centred data samples are rotated, so that permutations say what is depth. */
static void tell_depth(rb_context *ctx, const rb_levels *l) {
    enum { LONGEST = 40 };
    char units[512] = "";
    size_t used = 0;
    int64_t count = 0;
    bool enough = l->of_depth && l->of_depth[0] >= MIN_SAMPLES;
    for (int64_t u = 0; enough && u < l->n_units; u++) {
        double correlation = correlation_of(l->of_depth, u);
        if (!(fabs(correlation) > OF_DEPTH)) continue;
        count++;
        if (used + LONGEST > sizeof units) continue;
        used += (size_t)snprintf(units + used, LONGEST, "%s%lld (%.2f)", used ? ", " : "",
                                 (long long)rb_nth(ctx, u), correlation);
    }
    if (count > 0) {
        rb_log(ctx, RB_LOG_INFO,
               "unit%s %s%s: codes go with the depth of the samples (correlation with the "
               "logarithms of totals); a kind of samples may be deep, or it is depth alone%s",
               count == 1 ? "" : "s", units, used + LONGEST > sizeof units ? ", ..." : "",
               rb_model_is_centred(l->model) && !l->tested ? ": `permutations=19` tells" : "");
    }
}

void rb_levels_tell(rb_context *ctx, const rb_levels *l, rb_metrics *metrics) {
    tell_level(ctx, l, metrics);
    tell_depth(ctx, l);
}

rb_error rb_levels_begin(rb_context *ctx, const rb_model *model, rb_levels *l) {
    const rb_preprocess *p = model->preprocess;
    *l = (rb_levels){.model = model, .n_units = rb_model_units(model), .scratch.ctx = ctx};
    bool level = p->n_features >= MIN_FEATURES && p->options.centre != RB_CENTRE_NONE &&
                 p->options.centre_samples == RB_CENTRE_SAMPLES_NONE;
    bool depth = p->options.totals > 0;
    if (!level && !depth) return RB_OK;
    int64_t count = 2 * sums_of(l);
    double *sums = rb_take(&l->scratch, count, sizeof *sums);
    l->sums = (rb_total){sums, count, RB_KEPT_FLOAT64};
    l->of_level = level ? sums : NULL;
    l->of_depth = depth && sums ? sums + sums_of(l) : NULL;
    rb_dense_take(&l->scratch, model->type, 1, p->n_features, &l->row);
    return l->scratch.err;
}

rb_error rb_levels_end(rb_levels *l) {
    return rb_scratch_end(&l->scratch);
}
