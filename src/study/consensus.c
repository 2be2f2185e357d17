/* The consensus of many fits: which units they have in common.
 *
 * Fits from different starts end in different optima, and a unit that stands for something in the
 * data is in most of them, while one that fits noise is in few: stability tells them apart, and how
 * many there are. The idea is that of N. Meinshausen and P. Buehlmann, "Stability selection",
 * J. R. Statist. Soc. B 72 (2010), with starts in place of subsamples, and of the clusters of
 * independent components in J. Himberg, A. Hyvaerinen, F. Esposito, "Validating the independent
 * components of neuroimaging time series via clustering and visualization", NeuroImage 22 (2004).
 *
 *   similarity of two units   the smaller of the cosines of their loadings and of their codes, the
 *                             codes less their mean; of their sizes where codes have signs and both
 *                             cosines the same one
 *   the same unit             in each model the one most similar to a unit, if its similarity
 *                             reaches `similarity`
 *   stability of a unit       1/M sum over the M models of the similarity of its same unit, 0 where
 *                             there is none: the share of the models that have the unit, each
 *                             counting by how similar its unit is
 *   clusters                  the most stable unit, the medoid, and the same ones make a cluster;
 *                             so on with the units that are left. Each unit counts once
 */
#include "consensus.h"

#include <rarebit/consensus.h>

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Codes of so many samples say enough of a cosine. */
enum { MAX_SAMPLES = 4096, RUNS = 16 };

static const rb_option rows[] = {
    {"stability", 0, RB_OPTION_NUMBER, offsetof(rb_consensus_options, stability), "0.85", DBL_MIN,
     1, NULL, "SHARE",
     "consensus: keep a unit when so large a share of the models has it, each counted by how "
     "similar its unit is",
     RB_OPTION_TUNING},
    {"similarity", 0, RB_OPTION_NUMBER, offsetof(rb_consensus_options, similarity), "0.5", DBL_MIN,
     1, NULL, "COSINE",
     "consensus: units of two models are the same when their loadings and codes are so similar",
     RB_OPTION_TUNING},
    {"representative", 0, RB_OPTION_CHOICE, offsetof(rb_consensus_options, representative),
     "medoid", 0, 0, "medoid|mean", "WHICH",
     "consensus: what stands for the units that are the same: the most stable one, or their mean",
     RB_OPTION_TUNING},
    {"refit", 0, RB_OPTION_INTEGER, offsetof(rb_consensus_options, refit), "0", 0, 1e9, NULL, "N",
     "consensus: go on from the units that are kept for so many iterations", RB_OPTION_TUNING},
    {0},
};

const rb_option_group *rb_consensus_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Consensus", rows,
                                          sizeof(rb_consensus_options), NULL};
    return &group;
}

/* ---- units as vectors of length 1 ---- */

/* Codes of one model: the sample at hand goes to a column of its units' rows. */
typedef struct taking {
    rb_dense codes;
    int64_t taken;
} taking;

static rb_error take_codes(void *user, int64_t first, const rb_matrix *samples) {
    taking *t = user;
    (void)first;
    for (int64_t i = 0; i < samples->n_samples; i++, t->taken++)
        for (int64_t j = 0; j < t->codes.rows; j++)
            rb_dense_set(t->codes, j, t->taken, rb_matrix_at(samples, i, j));
    return RB_OK;
}

int64_t rb_units_samples(int64_t n_samples) {
    return n_samples < MAX_SAMPLES ? n_samples : MAX_SAMPLES;
}

rb_error rb_units_encode(rb_context *ctx, const rb_model *model, rb_source *source,
                         rb_dense codes) {
    int64_t n = source->n_samples;
    bool all = n <= MAX_SAMPLES;
    taking t = {.codes = codes};
    return rb_encode_runs(ctx, model, source, all ? 1 : RUNS, all ? n : MAX_SAMPLES / RUNS,
                          take_codes, &t);
}

/* Adds the units of a model that have loadings, and codes that differ. */
static rb_error add_units(rb_context *ctx, const rb_model *model, int64_t number, rb_source *source,
                          rb_unit_vectors *v) {
    int64_t m = v->loadings.cols, l = rb_model_units(model), before = v->count;
    const double *loadings;
    rb_error err = rb_model_need_array(ctx, model, "loadings", m, l, &loadings);
    if (!err && source)
        err = rb_units_encode(ctx, model, source, rb_dense_rows(v->codes, before, l));
    for (int64_t j = 0; !err && j < l; j++) {
        int64_t to = v->count;
        rb_dense w = rb_dense_rows(v->loadings, to, 1), z = {0};
        for (int64_t k = 0; k < m; k++)
            rb_dense_set(w, 0, k, loadings[k * l + j]);
        bool lives = rb_normalise(m, w.data, 1, false);
        if (source) {
            z = rb_dense_rows(v->codes, to, 1);
            if (to != before + j) rb_dense_copy(rb_dense_rows(v->codes, before + j, 1), z);
            lives = rb_normalise(z.cols, z.data, 1, true) && lives;
        }
        if (lives) v->units[v->count++] = (rb_unit){number, j, false};
    }
    return err;
}

/* ---- similarities ---- */

/* Of two units, by the cosines of their loadings and codes. */
static double similarity_of(double loadings, double codes, bool signs) {
    double size = fmin(fabs(loadings), fabs(codes));
    return !signs ? fmin(loadings, codes) : loadings * codes > 0 ? size : -size;
}

/* Of all pairs of units, as a full matrix. */
static rb_error compare(rb_context *ctx, const rb_unit_vectors *v, rb_dense similarity) {
    rb_dense w = rb_dense_rows(v->loadings, 0, v->count), other = {0};
    rb_gemm_lower(ctx, 1, w, RB_PLAIN, w, RB_TRANSPOSED, 0, similarity);
    if (v->codes.rows > 0) {
        rb_error err = rb_dense_new(ctx, RB_FLOAT64, v->count, v->count, &other);
        if (err) return err;
        rb_dense z = rb_dense_rows(v->codes, 0, v->count);
        rb_gemm_lower(ctx, 1, z, RB_PLAIN, z, RB_TRANSPOSED, 0, other);
    }
    for (int64_t a = 0; a < v->count; a++) {
        double *row = rb_dense_row(similarity, a);
        const double *beside = other.data ? rb_dense_row(other, a) : row;
        for (int64_t b = 0; b <= a; b++)
            row[b] = similarity_of(row[b], beside[b], v->signs);
    }
    rb_dense_free(&other);
    rb_dense_mirror(similarity);
    return RB_OK;
}

/* ---- clusters ---- */

/* Units that are in a cluster, and those that are left. */
typedef struct listing {
    const rb_unit_vectors *v;
    rb_dense similarity;
    double bound;      /* of similarity: units are the same */
    double *stability; /* of each unit that is left, as a medoid; IN_CLUSTER: it is not left */
    int64_t *order;    /* the units in clusters, as the members of these */
} listing;

static const double IN_CLUSTER = -1;

static bool is_left(const listing *l, int64_t unit) {
    return l->stability[unit] >= 0;
}

/* The unit of a model that is the same as `unit`: of those left the most similar one; -1: none is.
 * The model's units begin at *first, and those of the next one where *first is then. */
static int64_t same_in_model(const listing *l, int64_t unit, int64_t *first) {
    const rb_unit *units = l->v->units;
    int64_t model = units[*first].model, best = -1;
    const double *row = rb_dense_row(l->similarity, unit);
    for (; *first < l->v->count && units[*first].model == model; ++*first)
        if (is_left(l, *first) && row[*first] >= l->bound && (best < 0 || row[*first] > row[best]))
            best = *first;
    return best;
}

static double stability_of(const listing *l, int64_t unit, int64_t n_models) {
    double sum = 0;
    for (int64_t first = 0; first < l->v->count;) {
        int64_t same = same_in_model(l, unit, &first);
        if (same >= 0) sum += fmin(rb_dense_get(l->similarity, unit, same), 1);
    }
    return sum / (double)n_models;
}

/* The most stable unit that is left; -1: there is none. */
static int64_t most_stable(const listing *l) {
    int64_t most = -1;
    for (int64_t i = 0; i < l->v->count; i++)
        if (is_left(l, i) && (most < 0 || l->stability[i] > l->stability[most])) most = i;
    return most;
}

static void add_member(listing *l, int64_t unit, int64_t medoid, rb_clusters *clusters) {
    rb_unit *to = &clusters->members[clusters->n_members];
    const double *x = rb_dense_row(l->v->loadings, unit), *y = rb_dense_row(l->v->loadings, medoid);
    double cosine = 0;
    for (int64_t k = 0; k < l->v->loadings.cols; k++)
        cosine += x[k] * y[k];
    *to = l->v->units[unit];
    to->flipped = cosine < 0;
    l->order[clusters->n_members++] = unit;
    clusters->list[clusters->count - 1].count++;
}

/* A cluster of the medoid and what is the same in the other models. */
static void add_cluster(listing *l, int64_t medoid, rb_clusters *clusters) {
    clusters->list[clusters->count++] =
        (rb_cluster){.stability = l->stability[medoid], .first = clusters->n_members};
    add_member(l, medoid, medoid, clusters);
    for (int64_t first = 0; first < l->v->count;) {
        bool own = l->v->units[first].model == l->v->units[medoid].model;
        int64_t same = same_in_model(l, medoid, &first);
        if (same >= 0 && !own) add_member(l, same, medoid, clusters);
    }
    const rb_cluster *c = &clusters->list[clusters->count - 1];
    for (int64_t i = c->first; i < clusters->n_members; i++)
        l->stability[l->order[i]] = IN_CLUSTER;
}

/* Has the last cluster a unit that is the same as this one? */
static bool has_lost(const listing *l, int64_t unit, const rb_clusters *clusters) {
    const rb_cluster *c = &clusters->list[clusters->count - 1];
    for (int64_t i = c->first; i < clusters->n_members; i++)
        if (rb_dense_get(l->similarity, unit, l->order[i]) >= l->bound) return true;
    return false;
}

static void list_clusters(listing *l, int64_t n_models, rb_clusters *clusters) {
    for (int64_t i = 0; i < l->v->count; i++)
        l->stability[i] = stability_of(l, i, n_models);
    for (int64_t medoid = most_stable(l); medoid >= 0; medoid = most_stable(l)) {
        add_cluster(l, medoid, clusters);
        for (int64_t i = 0; i < l->v->count; i++)
            if (is_left(l, i) && has_lost(l, i, clusters))
                l->stability[i] = stability_of(l, i, n_models);
    }
}

rb_error rb_clusters_of(rb_context *ctx, const rb_unit_vectors *v, int64_t n_models, double bound,
                        rb_clusters *clusters) {
    rb_scratch scratch = {.ctx = ctx};
    listing l = {.v = v, .bound = bound};
    rb_dense_take(&scratch, RB_FLOAT64, v->count, v->count, &l.similarity);
    l.stability = rb_take(&scratch, v->count, sizeof *l.stability);
    l.order = rb_take(&scratch, v->count, sizeof *l.order);
    clusters->list = rb_alloc_zero(ctx, v->count, sizeof *clusters->list);
    clusters->members = rb_alloc_zero(ctx, v->count, sizeof *clusters->members);
    if (!scratch.err && !(clusters->list && clusters->members)) scratch.err = RB_ERROR_MEMORY;
    if (!scratch.err) scratch.err = compare(ctx, v, l.similarity);
    if (!scratch.err) list_clusters(&l, n_models, clusters);
    return rb_scratch_end(&scratch);
}

rb_error rb_clusters_find(rb_context *ctx, const rb_model *const *models, int64_t count,
                          rb_source *source, double similarity, rb_clusters *clusters) {
    int64_t n_units = 0, m = rb_model_features(models[0]), n = source ? source->n_samples : 0;
    rb_scratch scratch = {.ctx = ctx};
    rb_unit_vectors v = {.signs = rb_has_signs(models[0])};
    *clusters = (rb_clusters){0};
    for (int64_t i = 0; i < count; i++)
        n_units += rb_model_units(models[i]);
    if (n_units > RB_COMPARED_UNITS) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the %lld models have %lld units together, but at most %d can be compared; "
                       "use fewer models",
                       (long long)count, (long long)n_units, RB_COMPARED_UNITS);
    }
    rb_dense_take(&scratch, RB_FLOAT64, n_units, m, &v.loadings);
    if (source) rb_dense_take(&scratch, RB_FLOAT64, n_units, rb_units_samples(n), &v.codes);
    v.units = rb_take(&scratch, n_units, sizeof *v.units);
    for (int64_t i = 0; i < count && !scratch.err; i++)
        scratch.err = add_units(ctx, models[i], i, source, &v);
    if (!scratch.err) scratch.err = rb_clusters_of(ctx, &v, count, similarity, clusters);
    return rb_scratch_end(&scratch);
}

void rb_clusters_clear(rb_clusters *clusters) {
    rb_free(clusters->list);
    rb_free(clusters->members);
    *clusters = (rb_clusters){0};
}

/* ---- what can be merged ---- */

static bool same_vector(const double *a, const double *b, int64_t count) {
    return a && b ? memcmp(a, b, (size_t)count * sizeof *a) == 0 : !a && !b;
}

/* Do two models see the same features in the same way? */
static bool same_features(const rb_preprocess *a, const rb_preprocess *b) {
    int64_t m = a->n_features;
    bool same = m == b->n_features && a->n_input == b->n_input && !a->names == !b->names &&
                !a->selected == !b->selected && same_vector(a->centre, b->centre, m) &&
                same_vector(a->scale, b->scale, m);
    for (int64_t k = 0; k < m && same && a->selected; k++)
        same = a->selected[k] == b->selected[k];
    for (int64_t k = 0; k < m && same && a->names; k++)
        same = strcmp(a->names->text[k], b->names->text[k]) == 0;
    return same;
}

/* Numbers that were made in the same way? */
static bool same_preprocessing(const rb_model *a, const rb_model *b) {
    for (const rb_option *row = rb_preprocess_group.rows; row->name; row++) {
        const char *x = rb_model_attribute(a, row->name), *y = rb_model_attribute(b, row->name);
        if (strcmp(x ? x : "", y ? y : "") != 0) return false;
    }
    return same_features(a->preprocess, b->preprocess);
}

/* A model must be of the same method and data as the first one. */
static rb_error check_beside_first(rb_context *ctx, const rb_model *const *models, int64_t i,
                                   int64_t count) {
    if (models[i]->method != models[0]->method) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "model %lld of the %lld is of method '%s', but the first is of '%s'",
                       (long long)i + 1, (long long)count, rb_model_method(models[i]),
                       rb_model_method(models[0]));
    }
    if (!same_preprocessing(models[i], models[0])) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "model %lld of the %lld has other features or other preprocessing than "
                       "the first; use fits of the same data",
                       (long long)i + 1, (long long)count);
    }
    const char *name;
    for (int64_t a = 0; (name = rb_model_array_name(models[i], a)); a++) {
        if (rb_array_belongs(models[i], name) == RB_ARRAY_JOINT) {
            return rb_fail(
                ctx, RB_ERROR_UNSUPPORTED,
                "model %lld of the %lld has the array '%s', which has no part for each unit; "
                "such models cannot be merged",
                (long long)i + 1, (long long)count, name);
        }
    }
    return RB_OK;
}

/* Equal models count as one each, which makes their units stable. */
static rb_error warn_of_same(rb_context *ctx, const rb_model *const *models, int64_t count) {
    uint32_t *checksums = rb_alloc(ctx, count, sizeof *checksums);
    if (!checksums) return RB_ERROR_MEMORY;
    int64_t first = 0, second = 0, others = 0;
    char more[64] = "";
    for (int64_t i = 0; i < count; i++) {
        checksums[i] = rb_model_checksum(models[i]);
        int64_t j = 0;
        while (j < i && checksums[j] != checksums[i])
            j++;
        if (j == i) continue;
        if (second > 0)
            others++;
        else
            first = j, second = i;
    }
    rb_free(checksums);
    if (others > 0) snprintf(more, sizeof more, ", and so are %lld more", (long long)others);
    if (second > 0) {
        rb_log(
            ctx, RB_LOG_WARNING,
            "models %lld and %lld are the same, counted from 1%s: units are stable by that alone",
            (long long)first + 1, (long long)second + 1, more);
    }
    return RB_OK;
}

static rb_error check(rb_context *ctx, const rb_model *const *models, int64_t count,
                      const rb_source *source, const rb_consensus_options *options) {
    if (count < 2) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "a consensus needs at least two models; there is %lld", (long long)count);
    }
    if (!source && options->refit > 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`refit` does nothing without `data`; leave it out, or give both");
    }
    rb_error err = rb_consensus_check_refit(ctx, models[0]->method, options->refit);
    for (int64_t i = 0; !err && i < count; i++)
        err = check_beside_first(ctx, models, i, count);
    return err ? err : warn_of_same(ctx, models, count);
}

/* ---- all of it ---- */

/* The options of the consensus, and of how many models it is. */
static rb_error record_options(rb_context *ctx, int64_t count, const rb_consensus_options *options,
                               rb_model *model) {
    char text[RB_ROW_TEXT], name[64];
    snprintf(text, sizeof text, "%lld", (long long)count);
    rb_error err = rb_model_set_attribute(ctx, model, "consensus_models", text);
    for (const rb_option *row = rb_consensus_group()->rows; row->name && !err; row++) {
        snprintf(name, sizeof name, RB_CONSENSUS_ATTRIBUTE "%s", row->name);
        err = rb_model_set_attribute(ctx, model, name, rb_row_text(row, options, text));
    }
    return err;
}

/* How stable each cluster is, kept or dropped. */
static rb_error record(rb_context *ctx, const rb_clusters *clusters, int64_t kept, int64_t count,
                       const rb_consensus_options *options, rb_model *model) {
    int64_t common = 0;
    for (int64_t c = kept; c < clusters->count; c++)
        common += clusters->list[c].count > 1;
    double *stability = rb_model_add_array(ctx, model, "stability", kept, 1);
    double *dropped = rb_model_add_array(ctx, model, "dropped_stability", common, 1);
    if (!stability || !dropped) return RB_ERROR_MEMORY;
    for (int64_t c = 0; c < kept; c++)
        stability[c] = clusters->list[c].stability;
    for (int64_t c = kept; c < clusters->count; c++)
        if (clusters->list[c].count > 1) *dropped++ = clusters->list[c].stability;
    return record_options(ctx, count, options, model);
}

/* How many clusters are stable enough; 0, and a message: none. A share that is said as 0.6 is one
 * of 12 in 20 too. */
static int64_t count_stable(rb_context *ctx, const rb_clusters *clusters, double stability) {
    int64_t kept = 0;
    while (kept < clusters->count && clusters->list[kept].stability >= stability - 1e-9)
        kept++;
    if (kept == 0) {
        rb_fail(
            ctx, RB_ERROR_DATA,
            "no unit has a stability of %.3g; the most stable one has %.3g: there may be nothing "
            "to find, or `stability` is too large",
            stability, clusters->count > 0 ? clusters->list[0].stability : 0.0);
    }
    return kept;
}

static rb_error merge(rb_context *ctx, const rb_model *const *models, int64_t count,
                      rb_source *source, const rb_consensus_options *options, rb_model **model) {
    rb_clusters clusters;
    rb_error err = rb_clusters_find(ctx, models, count, source, options->similarity, &clusters);
    int64_t kept = err ? 0 : count_stable(ctx, &clusters, options->stability);
    if (!err && kept == 0) err = RB_ERROR_DATA;
    if (!err) {
        err = rb_consensus_merge(ctx, models, count, &clusters, kept,
                                 options->representative == RB_MEAN, model);
    }
    if (!err && options->refit > 0) err = rb_consensus_refit(ctx, source, options->refit, model);
    err = err ? err : record(ctx, &clusters, kept, count, options, *model);
    rb_clusters_clear(&clusters);
    return err;
}

rb_error rb_consensus_make(rb_context *ctx, const rb_model *const *models, int64_t count,
                           rb_source *source, const rb_consensus_options *options,
                           rb_model **model) {
    *model = NULL;
    rb_error err = check(ctx, models, count, source, options);
    err = err ? err : merge(ctx, models, count, source, options, model);
    if (err) {
        rb_model_free(*model);
        *model = NULL;
    }
    return err;
}

rb_error rb_consensus(rb_context *ctx, const rb_model *const *models, int64_t count,
                      rb_source *source, const rb_options *given, rb_model **model) {
    rb_consensus_options options;
    *model = NULL;
    rb_error err = rb_options_take(ctx, given, rb_consensus_group(), &options);
    return err ? err : rb_consensus_make(ctx, models, count, source, &options, model);
}
