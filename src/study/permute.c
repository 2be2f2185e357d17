/* Modules against data in which nothing goes with anything: each feature keeps its values, in an
 * order of samples of its own.
 *
 * Of permutation b = 1 .. B and its living units u = 1 .. l_b let T_bu be the information of the
 * unit (rb_unit_information), and T_j that of unit j in the data. Then
 *     p_j      = (1 + sum_b #{u: T_bu >= T_j} / l_b) / (1 + B)
 *     family_j = (1 + #{b: max_u T_bu >= T_j}) / (1 + B)
 * The first is adjusted over the living units of the data (rb_false_discovery), for which it must
 * be of a unit that is known to live: of any unit it is the smaller the more of them die. The
 * second bounds the chance that any unit of data without structure is called (P. H. Westfall,
 * S. S. Young, "Resampling-based multiple testing", 1993, max-T in a single step); the observed
 * data count as one permutation, so that no p-value is 0 (B. Phipson, G. K. Smyth, "Permutation
 * p-values should never be zero", Stat. Appl. Genet. Mol. Biol. 9 (2010)).
 *
 * What is permuted are the values after what looks at whole samples (totals, log1p, centring), of
 * the features in use: these steps would undo each other else. Means, variances, and which
 * features are selected, are the same for every permutation.
 */
#include "consensus.h"

#include <rarebit/consensus.h>
#include <rarebit/significance.h>
#include <rarebit/version.h>

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NULL_REFIT, NULL_ENCODE };
enum { FEWEST = 19 }; /* permutations whose smallest p-value is 0.05 */
enum { BY_FAMILY, BY_DISCOVERY };

typedef struct permute_options {
    int64_t permutations;
    int null;
    double significant;
    int error_rate;
    int64_t seed;
    const char *checkpoint, *part;
} permute_options;

static const rb_option table[] = {
    {"permutations", 0, RB_OPTION_INTEGER, offsetof(permute_options, permutations), "0", 0, 1e9,
     NULL, "N",
     "how likely is as large an information by chance? Permute the samples of each feature N "
     "times",
     RB_OPTION_COMMON},
    {"null", 0, RB_OPTION_CHOICE, offsetof(permute_options, null), "refit", 0, 0, "refit|encode",
     "HOW",
     "fit to permuted data anew, as the model was fitted; or only encode them, for data that the "
     "model was not fitted to",
     .needs = "permutations"},
    {"significant", 0, RB_OPTION_NUMBER, offsetof(permute_options, significant), "0", 0, 1, NULL,
     "P", "keep the modules whose p-value is at most this (0: all)", RB_OPTION_COMMON,
     "permutations"},
    {"error-rate", 0, RB_OPTION_CHOICE, offsetof(permute_options, error_rate), "fwer", 0, 0,
     "fwer|fdr", "RATE", "family-wise error rate, or false discovery rate", .needs = "significant"},
    {"permutation-seed", 0, RB_OPTION_INTEGER, offsetof(permute_options, seed), "1", 0, 9e18, NULL,
     "N", "seed of the permutations", .needs = "permutations"},
    {"checkpoint", 0, RB_OPTION_TEXT, offsetof(permute_options, checkpoint), NULL, 0, 0, NULL,
     "FILE", "keep what each permutation gave; if FILE is there already, go on from it",
     .needs = "permutations"},
    {"part", 0, RB_OPTION_TEXT, offsetof(permute_options, part), NULL, 0, 0, NULL, "K/N",
     "only the K-th of N parts of the permutations, into the checkpoint: for several machines",
     .needs = "checkpoint"},
    {0},
};

const rb_option_group *rb_significance_group(void) {
    static const rb_option_group group = {sizeof(rb_option), "Significance", table,
                                          sizeof(permute_options), NULL};
    return &group;
}

/* A living unit of a permutation, and what it adds to a sum over permutations of their shares of
 * living units; then that sum, with all that come before. */
struct living {
    double information, share;
};

typedef struct study {
    permute_options options;
    const rb_model *model; /* encode: for samples as they are permuted */
    rb_options *fit;       /* refit: the options of the model */
    bool consensus;        /* refit: of as many fits, with what they have in common */
    rb_matrix *matrix;     /* what is permuted */
    int64_t units;         /* of a fit; of a consensus those that were not kept have nothing */
    int64_t width;         /* of a row of `null`: units that a permutation may have */
    double *null;          /* permutations x width: the information of each */
    struct living *largest, *living; /* of each permutation, and all, descending */
    int64_t n_living;
} study;

/* ---- permuted data ---- */

/* Places 0 .. n - 1 in random order, of which the first `count` are drawn, feature by feature. */
typedef struct shuffling {
    rb_stream stream;
    int64_t n;
    int32_t *pool;    /* n: 0, 1, .. between features */
    int32_t *swapped; /* n */
    int32_t *places;  /* n: the result */
} shuffling;

/* Fisher and Yates; what was swapped is swapped back, so that few values cost little. */
static void draw_places(shuffling *s, int64_t feature, int64_t count) {
    for (int64_t e = 0; e < count; e++) {
        uint64_t index = (uint64_t)feature * (uint64_t)s->n + (uint64_t)e;
        int64_t left = s->n - e, at = (int64_t)(rb_random_uniform(s->stream, index) * (double)left);
        int64_t other = e + (at < left ? at : left - 1);
        int32_t place = s->pool[other];
        s->pool[other] = s->pool[e];
        s->pool[e] = s->places[e] = place;
        s->swapped[e] = (int32_t)other;
    }
    for (int64_t e = count - 1; e >= 0; e--) {
        int32_t place = s->pool[e];
        s->pool[e] = s->pool[s->swapped[e]];
        s->pool[s->swapped[e]] = place;
    }
}

static rb_error permute_dense(rb_context *ctx, const rb_matrix *from, shuffling *s,
                              rb_matrix **to) {
    int64_t n = from->n_samples, m = from->n_features;
    rb_error err = rb_matrix_new_dense(ctx, from->type, n, m, to);
    for (int64_t k = 0; !err && k < m; k++) {
        draw_places(s, k, n);
        for (int64_t i = 0; i < n; i++) {
            double value = rb_get(from->type, from->values, i * m + k);
            rb_put(from->type, (void *)(*to)->values, s->places[i] * m + k, value);
        }
    }
    return err;
}

/* Features as rows, and samples as rows again, once each feature's entries have other samples. */
static rb_error permute_sparse(rb_context *ctx, const rb_matrix *from, shuffling *s,
                               rb_matrix **to) {
    int64_t n = from->n_samples, m = from->n_features, entries = from->starts[n] - from->starts[0];
    size_t size = rb_type_size(from->type);
    rb_scratch scratch = {.ctx = ctx};
    int64_t *by_feature = rb_take(&scratch, m + 1, sizeof *by_feature);
    int32_t *samples = rb_take(&scratch, entries, sizeof *samples);
    void *turned = rb_take(&scratch, entries, size);
    int64_t *starts = scratch.err ? NULL : rb_alloc(ctx, n + 1, sizeof *starts);
    int32_t *columns = starts ? rb_alloc(ctx, entries, sizeof *columns) : NULL;
    void *values = columns ? rb_alloc(ctx, entries, size) : NULL;
    if (values) {
        rb_csr v = {n, m, from->starts, from->columns, from->values, from->type};
        rb_csr_transpose(v, by_feature, samples, turned);
        for (int64_t k = 0; k < m; k++) {
            int64_t count = by_feature[k + 1] - by_feature[k];
            draw_places(s, k, count);
            memcpy(samples + by_feature[k], s->places, (size_t)count * sizeof *samples);
        }
        rb_csr_transpose((rb_csr){m, n, by_feature, samples, turned, from->type}, starts, columns,
                         values);
    }
    rb_error err = rb_scratch_end(&scratch);
    if (!err && values)
        return rb_matrix_own_csr(ctx, from->type, n, m, starts, columns, values, to);
    rb_free(starts);
    rb_free(columns);
    return err ? err : RB_ERROR_MEMORY;
}

rb_error rb_study_permute(rb_context *ctx, const rb_matrix *from, int64_t seed, int64_t permutation,
                          rb_matrix **to) {
    rb_scratch scratch = {.ctx = ctx};
    shuffling shuffle = {.stream = {(uint64_t)seed, RB_RANDOM_PERMUTE, (uint32_t)permutation},
                         .n = from->n_samples};
    shuffle.pool = rb_take(&scratch, shuffle.n, sizeof *shuffle.pool);
    shuffle.swapped = rb_take(&scratch, shuffle.n, sizeof *shuffle.swapped);
    shuffle.places = rb_take(&scratch, shuffle.n, sizeof *shuffle.places);
    if (!scratch.err) {
        for (int64_t i = 0; i < shuffle.n; i++)
            shuffle.pool[i] = (int32_t)i;
        scratch.err = (from->sparse ? permute_sparse : permute_dense)(ctx, from, &shuffle, to);
    }
    return rb_scratch_end(&scratch);
}

/* ---- a job ---- */

static rb_error measure(rb_context *ctx, const study *s, rb_source *source, rb_bytes *result) {
    rb_model *refitted = NULL;
    double *information = rb_alloc_zero(ctx, s->width, sizeof *information);
    *result = (rb_bytes){information, s->width * (int64_t)sizeof *information};
    rb_error err = !information   ? RB_ERROR_MEMORY
                   : !s->fit      ? RB_OK
                   : s->consensus ? rb_fit_consensus(ctx, s->fit, source, &refitted)
                                  : rb_fit(ctx, s->fit, source, NULL, &refitted);
    bool nothing = s->consensus && err == RB_ERROR_DATA; /* no unit that is stable enough */
    if (!err && refitted && rb_model_status(refitted) == RB_STATUS_STOPPED)
        err = RB_ERROR_STOPPED; /* half a fit is none */
    if (!err) err = rb_unit_information(ctx, refitted ? refitted : s->model, source, information);
    rb_model_free(refitted);
    return nothing ? RB_OK : err;
}

static rb_error do_permutation(rb_context *ctx, int64_t job, void *user, rb_bytes *result) {
    const study *s = user;
    rb_matrix *permuted = NULL;
    rb_source *source = NULL;
    rb_error err = rb_study_permute(ctx, s->matrix, s->options.seed, job, &permuted);
    err = err ? err : rb_source_from_matrix(ctx, permuted, &source);
    err = err ? err : measure(ctx, s, source, result);
    rb_source_free(source);
    rb_matrix_free(permuted);
    return err;
}

static rb_error take(rb_context *ctx, int64_t job, rb_bytes result, void *user) {
    study *s = user;
    if (result.size != s->width * (int64_t)sizeof(double))
        return rb_fail(ctx, RB_ERROR_FORMAT, "the checkpoint is damaged at permutation %lld",
                       (long long)job);
    memcpy(s->null + job * s->width, result.data, (size_t)result.size);
    return RB_OK;
}

/* ---- what is permuted ---- */

/* A feed as a source. */
static rb_error read_feed(rb_source *source, rb_context *ctx, int64_t first, int64_t count,
                          rb_matrix *view) {
    rb_block b;
    rb_error err = rb_feed_read(ctx, source->state, first, count, &b);
    if (err) return err;
    *view = (rb_matrix){.n_samples = count, .n_features = b.n_features, .sparse = b.sparse};
    view->type = b.sparse ? b.csr.type : b.dense.type;
    view->values = b.sparse ? b.csr.values : b.dense.data;
    view->row_stride = b.sparse ? 0 : b.dense.ld;
    view->column_stride = 1;
    view->starts = b.csr.starts;
    view->columns = b.csr.columns;
    return RB_OK;
}

/* Preprocessing that goes no further than to what is permuted. */
static rb_preprocess *first_half(rb_context *ctx, const rb_preprocess *p) {
    rb_preprocess *half = rb_preprocess_copy(ctx, p);
    for (int64_t k = 0; half && k < half->n_features; k++) {
        half->centre[k] = 0;
        half->scale[k] = 1;
    }
    return half;
}

/* And what is left to do from there. */
static rb_preprocess *second_half(rb_context *ctx, const rb_preprocess *p) {
    rb_preprocess *half = rb_preprocess_copy(ctx, p);
    if (!half) return NULL;
    rb_free(half->selected);
    rb_free(half->fill);
    rb_names_free(half->names);
    half->selected = NULL;
    half->fill = NULL;
    half->names = NULL;
    rb_regress_free(half->regress);
    half->regress = NULL;
    half->options.regress = NULL;
    half->n_input = half->n_features;
    half->options.totals = 0;
    half->options.log1p = false;
    half->options.centre_samples = RB_CENTRE_SAMPLES_NONE;
    return half;
}

static rb_error load(rb_context *ctx, study *s, const rb_preprocess *p, rb_source *source) {
    const rb_matrix *matrix = NULL;
    rb_feed *feed = NULL;
    rb_block block = {.sparse = source->sparse};
    rb_error err = rb_feed_new(ctx, p, source, s->model->type, &feed);
    /* what is taken out of sparse samples may leave them dense */
    if (!err && source->n_samples > 0) err = rb_feed_read(ctx, feed, 0, 1, &block);
    rb_source halfway = {.n_samples = source->n_samples,
                         .n_features = p->n_features,
                         .type = s->model->type,
                         .sparse = block.sparse,
                         .read = read_feed,
                         .state = feed};
    err = err ? err : rb_study_load(ctx, &halfway, &matrix, &s->matrix);
    rb_feed_free(feed);
    return err;
}

/* ---- the fit again ---- */

static rb_error check_data(rb_context *ctx, const rb_model *model, rb_source *source) {
    rb_preprocess *p = rb_preprocess_copy(ctx, model->preprocess);
    rb_error err = p ? rb_preprocess_renew(ctx, p, source) : RB_ERROR_MEMORY;
    const char *effects = rb_model_attribute(model, "regress_checksum");
    char now[16] = "";
    if (!err && effects) snprintf(now, sizeof now, "%08x", rb_regress_checksum(p->regress, source));
    bool other = effects && strcmp(effects, now) != 0;
    if (!err && (other || p->checksum != model->preprocess->checksum)) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "the model was not fitted to these data, as permutations with `null=refit` "
                      "need; give `null=encode`");
    }
    rb_preprocess_free(p);
    return err;
}

/* Codes of data that a model was fitted to carry more than those of data that it was not. */
static void warn_of_encode(rb_context *ctx, const rb_model *model, rb_source *source) {
    rb_preprocess *p = rb_preprocess_copy(ctx, model->preprocess);
    if (p && !rb_preprocess_renew(ctx, p, source) && p->checksum == model->preprocess->checksum) {
        rb_log(ctx, RB_LOG_WARNING,
               "the p-values are too small, also of noise: the model was fitted to these data, and "
               "with `null=encode` the permuted ones are not fitted");
    }
    rb_preprocess_free(p);
}

/* What options alone do not make again. */
static rb_error check_model(rb_context *ctx, const rb_model *model) {
    bool consensus = rb_model_attribute(model, "consensus_models");
    char name[64];
    if (rb_model_attribute(model, "start_checksum") && !consensus) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "the model was fitted from another model, so that it cannot be fitted again "
                       "from its options; fit it in one go");
    }
    for (const rb_option *row = model->method->options; row->name; row++) {
        snprintf(name, sizeof name, "%s_checksum", row->name);
        if (rb_model_attribute(model, name)) {
            return rb_fail(
                ctx, RB_ERROR_UNSUPPORTED,
                "the model was fitted with `%s` from a file, so that it cannot be fitted "
                "again from its options; give `null=encode`",
                row->name);
        }
    }
    return !consensus || rb_model_attribute(model, RB_CONSENSUS_OF_RESTARTS)
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                         "the model is a consensus of models that were there before, which cannot "
                         "be fitted again from its options: the stability of its units says which "
                         "are more than chance; or let a fit with consensus make them, or take "
                         "data that it was not fitted to with `null=encode`");
}

/* What permuted data need no more, or cannot have twice. */
static const char *value_again(const rb_model *model, const rb_option *row) {
    const char *name = row->name;
    if (strcmp(name, "regress") == 0) return NULL;
    static const char *const done[] = {"totals", "top-variance", "max-time", NULL};
    return rb_among(done, name)         ? "0"
           : strcmp(name, "log1p") == 0 ? "false"
           : strcmp(name, "centre-samples") == 0 || strcmp(name, "drop") == 0
               ? "none"
               : rb_model_attribute(model, name);
}

/* A consensus may have fewer units than its fits, or more, up to those of all of them. */
static rb_error count_units(rb_context *ctx, study *s) {
    int64_t asked = rb_recorded_whole(s->model, "units", 0),
            fits = rb_recorded_whole(s->model, "consensus_models", 0);
    s->units = asked > s->units ? asked : s->units;
    if (!rb_multiply(s->units, fits, &s->width))
        return rb_fail(ctx, RB_ERROR_MEMORY, "there are too many units to be kept");
    return RB_OK;
}

/* ---- p-values ---- */

static int descending(const void *a, const void *b) {
    const struct living *x = a, *y = b;
    if (x->information != y->information) return x->information < y->information ? 1 : -1;
    return (x->share > y->share) - (x->share < y->share);
}

/* Sorts, and adds up the shares. */
static void order(struct living *list, int64_t count) {
    qsort(list, (size_t)count, sizeof *list, descending);
    for (int64_t u = 1; u < count; u++)
        list[u].share += list[u - 1].share;
}

/* Of the null only order statistics are used. */
static void sort_null(study *s) {
    int64_t b = s->options.permutations;
    for (int64_t i = 0; i < b; i++) {
        const double *row = s->null + i * s->width;
        int64_t first = s->n_living;
        s->largest[i] = (struct living){0, 1};
        for (int64_t u = 0; u < s->width; u++) {
            s->largest[i].information = fmax(s->largest[i].information, row[u]);
            if (row[u] > 0) s->living[s->n_living++].information = row[u];
        }
        for (int64_t u = first; u < s->n_living; u++)
            s->living[u].share = 1 / (double)(s->n_living - first);
    }
    order(s->largest, b);
    order(s->living, s->n_living);
}

/* The sum of the shares of those with at least that information. */
static double shares_from(const struct living *list, int64_t count, double information) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (list[middle].information >= information)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? list[low - 1].share : 0;
}

static rb_significance judge(const study *s, double information) {
    double b = (double)s->options.permutations;
    double larger = shares_from(s->largest, s->options.permutations, information);
    double share = shares_from(s->living, s->n_living, information);
    double p_family = (1 + larger) / (1 + b);
    return (rb_significance){.p = fmin((1 + share) / (1 + b), p_family), .p_family = p_family};
}

/* The false discovery rate is over all living units, also those that `best` left out. */
static rb_error judge_all(rb_context *ctx, study *s, const double *information,
                          rb_modules *modules) {
    rb_scratch scratch = {.ctx = ctx};
    double *log_p = rb_take(&scratch, s->units, sizeof *log_p);
    double *log_fdr = rb_take(&scratch, s->units, sizeof *log_fdr);
    s->living = rb_take(&scratch, s->options.permutations * s->width, sizeof *s->living);
    if (!scratch.err) sort_null(s);
    for (int64_t u = 0; !scratch.err && u < s->units; u++)
        log_p[u] = information[u] > 0 ? log(judge(s, information[u]).p) : NAN;
    if (!scratch.err) scratch.err = rb_false_discovery(ctx, log_p, true, s->units, 0, log_fdr);
    rb_significance *list = scratch.err ? NULL : rb_alloc(ctx, modules->tested, sizeof *list);
    for (int64_t r = 0; list && r < modules->tested; r++) {
        list[r] = judge(s, modules->list[r].information);
        list[r].fdr = exp(log_fdr[modules->list[r].unit]);
    }
    if (!scratch.err && !list) scratch.err = RB_ERROR_MEMORY;
    rb_free(list ? modules->significance : NULL);
    modules->significance = list ? list : modules->significance;
    return rb_scratch_end(&scratch);
}

/* What is called where nothing else is asked for. */
static double bound_of(const permute_options *options) {
    return options->significant > 0 ? options->significant : 0.05;
}

static bool is_significant(const permute_options *options, rb_significance s) {
    double value = options->error_rate == BY_FAMILY ? s.p_family : s.fdr;
    /* a rate that was a logarithm may be above itself in its last digit */
    return value <= bound_of(options) * (1 + 1e-12);
}

/* Of a consensus, whose units are as stable as was asked for: are they significant? */
static void compare_stability(rb_context *ctx, const study *s, const rb_modules *modules) {
    const char *stability = rb_model_attribute(s->model, RB_CONSENSUS_ATTRIBUTE "stability");
    const char *rate =
        s->options.error_rate == BY_FAMILY ? "family-wise p-value" : "false discovery rate";
    char units[256] = "";
    size_t used = 0;
    if (rb_modules_called(modules) == 0 || !stability) return;
    for (int64_t r = 0; r < rb_modules_called(modules) && used < sizeof units; r++) {
        if (is_significant(&s->options, modules->significance[r])) continue;
        int more = snprintf(units + used, sizeof units - used, "%s%lld", used ? ", " : "",
                            (long long)modules->list[r].unit);
        used += (size_t)(more > 0 ? more : 0);
    }
    if (used) {
        rb_log(ctx, RB_LOG_INFO,
               "unit %s: a stability of %s or more, but a %s above %g: most fits find it, but "
               "noise may give as much information",
               units, stability, rate, bound_of(&s->options));
    } else {
        rb_log(ctx, RB_LOG_INFO, "stability and significance agree on all %lld modules",
               (long long)rb_modules_called(modules));
    }
}

static void keep_significant(rb_context *ctx, const permute_options *options, rb_modules *modules) {
    int64_t before = rb_modules_called(modules);
    bool family = options->error_rate == BY_FAMILY;
    for (int64_t r = modules->tested - 1; r >= 0; r--)
        if (modules->notes[r].background || !is_significant(options, modules->significance[r]))
            rb_modules_remove(modules, r);
    rb_log(ctx, RB_LOG_INFO, "%lld of %lld modules have a %s of at most %g",
           (long long)modules->count, (long long)before,
           family ? "family-wise p-value" : "false discovery rate", options->significant);
}

/* ---- all of it ---- */

static rb_error check_options(rb_context *ctx, const permute_options *options) {
    double least = 1 / (1 + (double)options->permutations);
    if (options->significant == 0 || options->significant >= least) return RB_OK;
    return rb_fail(
        ctx, RB_ERROR_ARGUMENT,
        "`significant` is %g, but the smallest p-value of %lld permutations is %.2g; take "
        "`permutations=%.0f` or more",
        options->significant, (long long)options->permutations, least,
        ceil(1 / options->significant - 1));
}

static rb_error run_jobs(rb_context *ctx, study *s, bool *complete) {
    char key[256];
    uint32_t data = 0, model = 0;
    void *bytes = NULL;
    size_t size = 0;
    rb_crc32 crc;
    rb_error err = rb_matrix_checksum(ctx, s->matrix, &data);
    err = err ? err : rb_model_save_memory(ctx, s->model, &bytes, &size);
    if (err) return err;
    rb_crc32_prepare(&crc);
    model = rb_crc32_add(&crc, 0, bytes, size);
    rb_free_memory(bytes);
    snprintf(key, sizeof key, "permutations " RB_VERSION " %s %08lx %08lx seed=%lld",
             s->fit ? "refit" : "encode", (unsigned long)data, (unsigned long)model,
             (long long)s->options.seed);
    rb_jobs jobs = {.count = s->options.permutations,
                    .what = "permutation",
                    .key = key,
                    .run = do_permutation,
                    .take = take,
                    .user = s,
                    .journal = s->options.checkpoint,
                    .part = s->options.part};
    return rb_jobs_run(ctx, &jobs, complete);
}

/* With what is permuted in memory. */
static rb_error work(rb_context *ctx, study *s, const double *information, rb_modules *modules,
                     bool *complete) {
    rb_scratch scratch = {.ctx = ctx};
    int64_t count = 0;
    if (!rb_multiply(s->options.permutations, s->width, &count))
        return rb_fail(ctx, RB_ERROR_MEMORY, "there are too many permutations to be kept");
    s->null = rb_take(&scratch, count, sizeof *s->null);
    s->largest = rb_take(&scratch, s->options.permutations, sizeof *s->largest);
    if (!scratch.err) scratch.err = run_jobs(ctx, s, complete);
    if (!scratch.err && *complete) {
        scratch.err = judge_all(ctx, s, information, modules);
        if (!scratch.err) compare_stability(ctx, s, modules);
        if (!scratch.err && s->options.significant > 0) keep_significant(ctx, &s->options, modules);
    }
    return rb_scratch_end(&scratch);
}

/* With the model that permuted data are for. */
static rb_error begin(rb_context *ctx, study *s, rb_encoded *kept, rb_modules *modules,
                      bool *complete) {
    const rb_model *model = s->model;
    rb_preprocess *first = first_half(ctx, model->preprocess);
    rb_preprocess *second = first ? second_half(ctx, model->preprocess) : NULL;
    double *information = second ? rb_alloc_zero(ctx, s->units, sizeof *information) : NULL;
    rb_error err = information ? RB_OK : RB_ERROR_MEMORY;
    err = err ? err : rb_encoded_information(ctx, kept, information);
    err = err ? err : load(ctx, s, first, kept->source);
    rb_model permuted = *model; /* of the same arrays */
    permuted.preprocess = second;
    s->model = &permuted;
    err = err ? err : work(ctx, s, information, modules, complete);
    s->model = model;
    rb_free(information);
    rb_preprocess_free(first);
    rb_preprocess_free(second);
    return err;
}

rb_error rb_encoded_permute(rb_context *ctx, rb_encoded *kept, const rb_options *given,
                            rb_modules *modules, bool *complete) {
    const rb_model *model = kept->model;
    rb_source *source = kept->source;
    study s = {.model = model, .units = rb_model_units(model)};
    s.width = s.units;
    bool all = true;
    if (complete) *complete = true;
    rb_error err = rb_options_take(ctx, given, rb_significance_group(), &s.options);
    if (err || s.options.permutations == 0) return err;
    err = check_options(ctx, &s.options);
    if (!err && s.options.null == NULL_REFIT) {
        err = check_model(ctx, model);
        err = err ? err : check_data(ctx, model, source);
        err = err ? err : rb_options_recall(ctx, model, value_again, &s.fit);
        s.consensus = rb_model_attribute(model, "consensus_models");
        if (!err && s.consensus) err = count_units(ctx, &s);
    }
    if (!err && s.options.null == NULL_ENCODE) warn_of_encode(ctx, model, source);
    if (!err && s.options.permutations < FEWEST) {
        rb_log(ctx, RB_LOG_WARNING,
               "the smallest p-value of %lld permutations is %.2g, which says little; take "
               "`permutations=%d` or more",
               (long long)s.options.permutations, 1 / (1 + (double)s.options.permutations), FEWEST);
    }
    err = err ? err : begin(ctx, &s, kept, modules, &all);
    rb_options_free(s.fit);
    rb_matrix_free(s.matrix);
    if (complete) *complete = all;
    return err;
}

rb_error rb_modules_permute(rb_context *ctx, const rb_model *model, rb_source *source,
                            const rb_options *options, rb_modules *modules, bool *complete) {
    rb_encoded kept = {.model = model, .source = source, .most = 1};
    rb_error err = rb_encoded_permute(ctx, &kept, options, modules, complete);
    rb_encoded_clear(&kept);
    return err;
}

bool rb_modules_significance(const rb_modules *modules, int64_t rank,
                             rb_significance *significance) {
    bool there = modules->significance && rb_modules_get(modules, rank);
    if (there) *significance = modules->significance[rank];
    return there;
}
