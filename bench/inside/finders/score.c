/* What a fit has found, against what is to be found. */
#include "../../options.h"
#include "../agreement.h"
#include "finders.h"
#include "modules/modules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- modules ---- */

/* Modules of samples alone: with the feature that classes have. */
static rb_error samples_only(rb_context *ctx, rb_modules *modules) {
    for (int64_t r = 0; r < modules->count; r++) {
        rb_module *m = &modules->list[r];
        rb_free(m->features);
        m->features = rb_alloc(ctx, 1, sizeof *m->features);
        if (!m->features) return RB_ERROR_MEMORY;
        m->features[0] = (rb_member){0, 1};
        m->n_features = 1;
    }
    return RB_OK;
}

/* best 0: all; of them those that are more than noise where there are permutations. */
static rb_error match_best(rb_context *ctx, const struct trial *t, const rb_model *model,
                           const struct sample_set *set, int64_t best, int64_t permutations,
                           rb_match *match, rb_modules **found) {
    rb_options *options =
        bench_options(ctx, NULL, rb_modules_group(), "%s best=%lld",
                      t->reading ? t->reading : t->finder->reading, (long long)best);
    rb_options *noise =
        bench_options(ctx, NULL, rb_significance_group(), "permutations=%lld significant=%g",
                      (long long)permutations, permutations ? 0.05 : 0.0);
    rb_error err = rb_modules_find(ctx, model, set->source, options, found);
    if (!err && permutations)
        err = rb_modules_permute(ctx, model, set->source, noise, NULL, *found, NULL);
    if (!err) set_join(set, *found);
    if (!err && set->class_of) err = samples_only(ctx, *found);
    err = err ? err : rb_modules_match(ctx, *found, set->truth, match);
    rb_options_free(options);
    rb_options_free(noise);
    return err;
}

/* The largest index of a module with the smallest class. */
static rb_error find_rarest(rb_context *ctx, rb_modules *found, const rb_modules *truth,
                            double *index) {
    rb_modules rarest = {.list = truth->list, .count = 1};
    rb_match match = {.size = sizeof match};
    for (int64_t c = 1; c < truth->count; c++)
        if (truth->list[c].n_samples < rarest.list->n_samples) rarest.list = &truth->list[c];
    rb_error err = rb_modules_match(ctx, found, &rarest, &match);
    *index = match.recovery;
    rb_match_clear(&match);
    return err;
}

static rb_error score_modules(rb_context *ctx, const struct trial *t, const rb_model *model,
                              const struct sample_set *set, double *values) {
    rb_match told = {.size = sizeof told}, all = {.size = sizeof all};
    rb_modules *best = NULL, *every = NULL;
    rb_error err = match_best(ctx, t, model, set, rb_modules_count(set->truth), 0, &told, &best);
    err = err ? err : match_best(ctx, t, model, set, 0, 0, &all, &every);
    if (!err) {
        values[TOLD] = told.consensus_score;
        values[RECOVERY] = told.recovery;
        values[RELEVANCE] = told.relevance;
        values[ALL] = all.consensus_score;
    }
    if (!err && set->class_of) err = find_rarest(ctx, every, set->truth, &values[RAREST]);
    rb_match_clear(&told);
    rb_match_clear(&all);
    rb_modules_free(best);
    rb_modules_free(every);
    return err;
}

static rb_error score_real(rb_context *ctx, const struct trial *t, const rb_model *model,
                           const struct sample_set *set, double *score) {
    rb_match match = {.size = sizeof match};
    rb_modules *real = NULL;
    rb_error err = match_best(ctx, t, model, set, 0, t->permutations, &match, &real);
    if (!err) *score = match.consensus_score;
    rb_match_clear(&match);
    rb_modules_free(real);
    return err;
}

/* ---- clusters ---- */

static double pairs(double n) {
    return n * (n - 1) / 2;
}

/* L. Hubert, P. Arabie, "Comparing partitions", Journal of Classification 2, 1985. */
static double adjusted_rand(const int64_t *a, const int64_t *b, int64_t n, int64_t n_a,
                            int64_t n_b) {
    double *table = calloc((size_t)((n_a + 1) * (n_b + 1)), sizeof *table);
    double both = 0, of_a = 0, of_b = 0;
    int64_t row = n_b + 1, count = 0;
    for (int64_t i = 0; i < n && table; i++) {
        if (a[i] < 0) continue;
        table[a[i] * row + b[i]]++;
        table[a[i] * row + n_b]++;
        table[n_a * row + b[i]]++;
        count++;
    }
    for (int64_t e = 0; e < n_a * row && table; e++)
        *(e % row < n_b ? &both : &of_a) += pairs(table[e]);
    for (int64_t j = 0; j < n_b && table; j++)
        of_b += pairs(table[n_a * row + j]);
    free(table);
    double expected = of_a * of_b / pairs((double)count), most = (of_a + of_b) / 2;
    return most > expected ? (both - expected) / (most - expected) : 0;
}

/* The unit of each sample whose code is largest, in units of its root mean square. */
static rb_error largest_units(rb_context *ctx, const rb_model *model, rb_source *source,
                              int64_t *unit_of) {
    int64_t n = rb_source_samples(source), l = rb_model_units(model);
    rb_scratch scratch = {.ctx = ctx};
    double *codes = rb_take(&scratch, n * l, sizeof *codes);
    double *squares = rb_take(&scratch, l, sizeof *squares);
    if (!scratch.err) scratch.err = rb_encode_into(ctx, model, source, RB_FLOAT64, codes, l, 1);
    for (int64_t e = 0; e < n * l && !scratch.err; e++)
        squares[e % l] += codes[e] * codes[e];
    for (int64_t i = 0; i < n && !scratch.err; i++) {
        double best = -1;
        for (int64_t j = 0; j < l; j++) {
            double size = squares[j] > 0 ? fabs(codes[i * l + j]) / sqrt(squares[j]) : 0;
            if (size > best) unit_of[i] = j;
            best = fmax(best, size);
        }
    }
    return rb_scratch_end(&scratch);
}

static rb_error score_clusters(rb_context *ctx, const rb_model *model, const struct sample_set *set,
                               double *rand) {
    int64_t n = rb_source_samples(set->source);
    rb_scratch scratch = {.ctx = ctx};
    int64_t *unit_of = rb_take(&scratch, n, sizeof *unit_of);
    if (!scratch.err) scratch.err = largest_units(ctx, model, set->source, unit_of);
    if (!scratch.err)
        *rand = adjusted_rand(set->class_of, unit_of, n, rb_modules_count(set->truth),
                              rb_model_units(model));
    return rb_scratch_end(&scratch);
}

/* ---- a fit ---- */

static rb_error fit(rb_context *ctx, const struct trial *t, int64_t seed,
                    const struct sample_set *set, rb_model **model) {
    int64_t units = t->times ? t->times * rb_modules_count(set->truth) : t->kind->units;
    rb_options *options = bench_options(
        ctx, t->finder->fit, NULL, "%s %s units=%lld seed=%lld", t->finder->options,
        t->kind->preprocessing ? t->kind->preprocessing : "", (long long)units, (long long)seed);
    rb_error err = t->finder->consensus ? rb_fit_consensus(ctx, options, set->source, model)
                                        : rb_fit(ctx, options, set->source, NULL, model);
    rb_options_free(options);
    return err;
}

/* How far a fit from another seed has the same codes. */
static rb_error score_seeds(rb_context *ctx, const struct trial *t, const struct sample_set *set,
                            const rb_model *model, double *match) {
    const int64_t other = 1000;
    rb_model *again = NULL;
    rb_error err = fit(ctx, t, t->seed + other, set, &again);
    if (!err) {
        bench_codes a = bench_codes_of(ctx, model, set->source);
        bench_codes b = bench_codes_of(ctx, again, set->source);
        *match = bench_match(ctx, &a, &b, rb_source_samples(set->source));
        free(a.values);
        free(b.values);
    }
    rb_model_free(again);
    return err;
}

rb_error finder_measure(rb_context *ctx, const struct trial *t, const struct sample_set *set,
                        double *values) {
    rb_model *model = NULL;
    for (int k = 0; k < MEASURES; k++)
        values[k] = NAN;
    double began = rb_seconds();
    rb_error err = fit(ctx, t, t->seed, set, &model);
    if (err == RB_ERROR_DATA) return RB_OK; /* not for such data: NMF of values below 0 */
    if (!err) values[SECONDS] = rb_seconds() - began;
    err = err ? err : score_modules(ctx, t, model, set, values);
    if (!err && t->permutations) err = score_real(ctx, t, model, set, &values[REAL]);
    if (!err && set->class_of) err = score_clusters(ctx, model, set, &values[RAND]);
    if (!err && t->kind->folder) err = score_seeds(ctx, t, set, model, &values[MATCH]);
    rb_model_free(model);
    return err;
}
