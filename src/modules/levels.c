/* Units that follow the level of the samples: what all features of a sample share. Their codes go
 * with the means of the samples, and three quarters of all features have loadings of one sign.
 * Codes of a large module go with the means, too, but it has not so many features.
 *
 * And modules of shallow or of deep samples, where these are scaled to one total: by the ranks of
 * the totals that they had. Fewer features of shallow samples are above 0, which no total mends;
 * but samples of one kind may be deeper than others, too.
 */
#include "modules.h"

#include <math.h>
#include <stdio.h>

enum { MIN_SAMPLES = 10, MIN_FEATURES = 20 };
static const double FOLLOWS = 0.8, DEEP = 0.8;

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

static void add_level(rb_levels *l, const rb_block *block, const rb_matrix *codes, int64_t i) {
    rb_block_rows(block, i, l->row);
    double mean = mean_of(l->row);
    l->of_means[0]++;
    l->of_means[1] += mean;
    l->of_means[2] += mean * mean;
    for (int64_t u = 0; u < l->n_units; u++) {
        double code = rb_matrix_at(codes, i, u);
        l->codes[u] += code;
        l->code_squares[u] += code * code;
        l->both[u] += code * mean;
    }
}

rb_error rb_levels_add(void *user, const rb_block *block, const rb_matrix *codes) {
    rb_levels *l = user;
    for (int64_t i = 0; i < block->n_samples; i++) {
        if (l->of_means) add_level(l, block, codes, i);
        if (l->totals && block->lost) l->totals[block->first + i] = block->lost[i].total;
    }
    return RB_OK;
}

/* The correlation of a unit's codes with the means; 0: one of them does not vary. */
static double correlation_of(const rb_levels *l, int64_t u) {
    double n = l->of_means[0], sum = l->of_means[1], squares = l->of_means[2];
    double together = n * l->both[u] - l->codes[u] * sum;
    squares = (n * squares - sum * sum) * (n * l->code_squares[u] - l->codes[u] * l->codes[u]);
    return squares > 0 ? together / sqrt(squares) : 0;
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
    bool enough = l->of_means && l->of_means[0] >= MIN_SAMPLES;
    for (int64_t u = 0; enough && u < l->n_units; u++)
        count += fabs(correlation_of(l, u)) > FOLLOWS && has_most_features(l->model, u);
    if (metrics) rb_metrics_set(metrics, "units_of_level", (double)count);
    if (count > 0) {
        rb_log(ctx, RB_LOG_WARNING,
               "%lld of %lld units follow%s the level of the samples (correlation above %g with "
               "their means): %s",
               (long long)count, (long long)l->n_units, count == 1 ? "s" : "", FOLLOWS,
               l->sparse ? "convert the data to a dense format, then fit with `centre-samples` set "
                           "to median to remove it"
                         : "fit with `centre-samples` set to median to remove it");
    }
}

struct depth {
    const rb_levels *levels;
    const rb_modules *modules;
    rb_ranking totals;
    int64_t empty; /* samples, which come first */
};

/* The chance that a member has a larger total than another sample, of those that are not empty. */
static bool is_of_depth(const void *user, int64_t rank, char note[16]) {
    const struct depth *d = user;
    const rb_module *m = &d->modules->list[rank];
    double members = 0, sum = 0, others = (double)(d->levels->n_samples - d->empty);
    for (int64_t i = 0; i < m->n_samples; i++) {
        int64_t at = m->samples[i].index;
        if (d->levels->totals[at] == 0) continue;
        sum += d->totals.ranks[at] - (double)d->empty - ++members;
    }
    double auc = sum / (members * (others - members)); /* NaN: there are no others */
    snprintf(note, 16, " (%.2f)", auc);
    return members >= MIN_SAMPLES && (auc >= DEEP || auc <= 1 - DEEP);
}

static rb_error tell_depth(rb_context *ctx, const rb_levels *l, const rb_modules *modules) {
    char units[512];
    struct depth d = {.levels = l, .modules = modules};
    rb_error err = rb_ranking_begin(ctx, &d.totals, l->n_samples);
    if (err) return err;
    rb_ranking_set(&d.totals, l->totals, l->n_samples);
    for (int64_t i = 0; i < l->n_samples; i++)
        d.empty += l->totals[i] == 0;
    if (rb_modules_say(ctx, modules, is_of_depth, &d, units, sizeof units)) {
        rb_log(ctx, RB_LOG_INFO,
               "%s: the samples are shallow or deep (AUC of their totals): a kind of samples, a "
               "module that raises totals, or depth alone%s",
               units,
               l->rotates && modules->permutations == 0
                   ? "; `permutations=19` tells, unless totals differ tenfold"
                   : "");
    }
    rb_ranking_clear(&d.totals);
    return RB_OK;
}

rb_error rb_levels_tell(rb_context *ctx, const rb_levels *l, const rb_modules *modules,
                        rb_metrics *metrics) {
    tell_level(ctx, l, metrics);
    return l->totals && modules ? tell_depth(ctx, l, modules) : RB_OK;
}

rb_error rb_levels_begin(rb_context *ctx, const rb_model *model, int64_t n_samples, rb_levels *l) {
    const rb_preprocess *p = model->preprocess;
    *l = (rb_levels){.model = model,
                     .n_units = rb_model_units(model),
                     .n_samples = n_samples,
                     .scratch.ctx = ctx};
    bool level = p->n_features >= MIN_FEATURES && p->options.centre != RB_CENTRE_NONE &&
                 p->options.centre_samples == RB_CENTRE_SAMPLES_NONE;
    if (p->options.totals > 0 && n_samples > 0)
        l->totals = rb_take(&l->scratch, n_samples, sizeof *l->totals);
    if (!level || l->scratch.err) return l->scratch.err;
    l->of_means = rb_take(&l->scratch, 3 + 3 * l->n_units, sizeof *l->of_means);
    l->sums = (rb_total){l->of_means, 3 + 3 * l->n_units, RB_KEPT_FLOAT64};
    if (l->of_means) {
        l->codes = l->of_means + 3;
        l->code_squares = l->codes + l->n_units;
        l->both = l->code_squares + l->n_units;
    }
    rb_dense_take(&l->scratch, model->type, 1, p->n_features, &l->row);
    return l->scratch.err;
}

rb_error rb_levels_end(rb_levels *l) {
    return rb_scratch_end(&l->scratch);
}
