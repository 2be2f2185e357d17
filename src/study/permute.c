/* Modules against data in which nothing is sparse, of two kinds (nulls.c), each of which lets
 * through what the other one keeps:
 *     features permuted   nothing goes with anything; the statistic is what modules are ranked by:
 *                         where the rule `test` suits the model their score, else the information
 *     samples rotated     features keep their correlations; the statistic is how far from normal
 *                         samples are along the loadings of a unit (shapes.c)
 *
 * Of null data b = 1 .. B of a kind and their living units u = 1 .. l_b let T_bu be the statistic,
 * and T_j that of unit j in the data. Then
 *     p_j      = (1 + sum_b #{u: T_bu >= T_j} / l_b) / (1 + B)
 *     family_j = (1 + #{b: max_u T_bu >= T_j}) / (1 + B)
 * and of the two kinds the larger ones count. The first is adjusted over the living units of the
 * data (rb_false_discovery), for which it must be of a unit that is known to live: of any unit it
 * is the smaller the more of them die. The second bounds the chance that any unit of data without
 * structure is called (P. H. Westfall, S. S. Young, "Resampling-based multiple testing", 1993,
 * max-T in a single step); the observed data count as one permutation, so that no p-value is 0
 * (B. Phipson, G. K. Smyth, "Permutation p-values should never be zero", Stat. Appl. Genet. Mol.
 * Biol. 9 (2010)).
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
     "how likely is such a unit by chance? Fit N data sets with permuted features, and N with "
     "rotated samples",
     RB_OPTION_COMMON},
    {"null", 0, RB_OPTION_CHOICE, offsetof(permute_options, null), "refit", 0, 0, "refit|encode",
     "HOW",
     "fit these data sets anew, as the model was fitted; or only encode them, for data that the "
     "model was not fitted to",
     .needs = "permutations"},
    {"significant", 0, RB_OPTION_NUMBER, offsetof(permute_options, significant), "0", 0, 1, NULL,
     "P", "keep the modules whose p-value is at most this (0: all)", RB_OPTION_COMMON,
     "permutations"},
    {"error-rate", 0, RB_OPTION_CHOICE, offsetof(permute_options, error_rate), "fwer", 0, 0,
     "fwer|fdr", "RATE", "family-wise error rate, or false discovery rate", .needs = "significant"},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(permute_options, seed), "1", 0, 9e18, NULL, "N",
     "seed of the permuted and rotated data", .needs = "permutations"},
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

/* A living unit of null data, and what it adds to a sum over these of their shares of living
 * units; then that sum, with all that come before. */
struct living {
    double value, share;
};

enum { PERMUTED, ROTATED, KINDS };

/* A kind of null: the largest statistic of each data set, and all, descending. */
typedef struct tail {
    struct living *largest, *living;
    int64_t n_living;
} tail;

typedef struct study {
    permute_options options;
    const rb_model *model; /* encode: for samples as they are permuted */
    rb_options *fit;       /* refit: the options of the model */
    rb_matrix *matrix;     /* what is permuted */
    const rb_covariates *given;
    rb_blocks blocks;      /* none: samples are exchanged */
    rb_matrix *folded;     /* blocks in place of samples; NULL: there are none */
    rb_rotation *rotation; /* NULL: features are permuted alone */
    int64_t kinds;
    bool scored;        /* by the score of the rule test; else by the information of units */
    const char *tested; /* with what is not */
    int64_t units;      /* that a permutation may have, and the model */
    int64_t done;       /* permutations; fewer than asked for: the program asked to stop */
    double *null;       /* done x kinds x units: the statistic of each, DEAD of none */
    tail tails[KINDS];
} study;

/* ---- a job ---- */

static const double DEAD = -INFINITY;

/* Modules by a rule; NULL: by that which suits the model. */
static rb_error find_by(rb_context *ctx, const rb_model *model, rb_source *source, const char *rule,
                        rb_modules **modules) {
    rb_options *options = NULL;
    rb_error err = rb_options_new(ctx, NULL, &options);
    err = err ? err : rb_options_add(ctx, options, rb_modules_group());
    if (!err && rule) err = rb_options_set(ctx, options, "rule", rule);
    err = err ? err : rb_modules_find(ctx, model, source, options, modules);
    rb_options_free(options);
    return err;
}

/* The largest score of the sides of each unit that lives. */
static void note_scores(const rb_modules *modules, double *values) {
    for (int64_t r = 0; r < modules->count; r++) {
        double *value = &values[modules->list[r].unit];
        *value = fmax(*value, modules->notes[r].score);
    }
}

/* Units without information are dead. */
static void mark_dead(double *values, int64_t units) {
    for (int64_t u = 0; u < units; u++)
        if (values[u] <= 0) values[u] = DEAD;
}

/* Of a consensus one of its fits is made again: its units are means of theirs. `values`: DEAD. */
static rb_error measure(rb_context *ctx, const study *s, int kind, const rb_matrix *data,
                        double *values) {
    rb_model *refitted = NULL;
    rb_source *source = NULL;
    rb_error err = rb_source_from_matrix(ctx, data, &source);
    if (!err && s->fit)
        err = rb_is_consensus(s->model) ? rb_fit_restart(ctx, s->fit, source, 0, &refitted)
                                        : rb_fit(ctx, s->fit, source, NULL, &refitted);
    if (!err && refitted && rb_model_status(refitted) == RB_STATUS_STOPPED)
        err = RB_ERROR_STOPPED; /* half a fit is none */
    const rb_model *model = refitted ? refitted : s->model;
    rb_modules *modules = NULL;
    if (!err && kind == PERMUTED && s->scored) {
        err = find_by(ctx, model, source, "test", &modules);
        if (!err) note_scores(modules, values);
    } else if (!err && kind == PERMUTED) {
        err = rb_unit_information(ctx, model, source, values);
        mark_dead(values, rb_model_units(model));
    }
    if (!err && kind == ROTATED) err = rb_unit_shapes(ctx, model, data, &s->blocks, values);
    rb_modules_free(modules);
    rb_model_free(refitted);
    rb_source_free(source);
    return err;
}

/* Rows of which are exchanged: samples, or blocks of them. */
static const rb_matrix *exchanged(const study *s) {
    return s->folded ? s->folded : s->matrix;
}

static rb_error do_permutation(rb_context *ctx, int64_t job, void *user, rb_bytes *result) {
    const study *s = user;
    int64_t count = s->kinds * s->units;
    double *values = rb_alloc(ctx, count, sizeof *values);
    rb_error err = values ? RB_OK : RB_ERROR_MEMORY;
    *result = (rb_bytes){values, count * (int64_t)sizeof *values};
    for (int64_t i = 0; !err && i < count; i++)
        values[i] = DEAD;
    for (int kind = 0; !err && kind < s->kinds; kind++) {
        rb_matrix *data = NULL;
        err = kind == ROTATED ? rb_study_rotate(ctx, s->rotation, s->options.seed, job, &data)
                              : rb_study_permute(ctx, exchanged(s), s->matrix->n_features,
                                                 s->options.seed, job, &data);
        if (!err && s->folded) err = rb_blocks_unfold(ctx, &s->blocks, &data);
        err = err ? err : measure(ctx, s, kind, data, values + kind * s->units);
        rb_matrix_free(data);
    }
    return err;
}

static rb_error take(rb_context *ctx, int64_t job, rb_bytes result, void *user) {
    study *s = user;
    if (result.size != s->kinds * s->units * (int64_t)sizeof(double))
        return rb_fail(ctx, RB_ERROR_FORMAT, "the checkpoint is damaged at permutation %lld",
                       (long long)job);
    memcpy(s->null + s->done++ * s->kinds * s->units, result.data, (size_t)result.size);
    return RB_OK;
}

/* ---- p-values ---- */

static int descending(const void *a, const void *b) {
    const struct living *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    return (x->share > y->share) - (x->share < y->share);
}

/* Sorts, and adds up the shares. */
static void order(struct living *list, int64_t count) {
    qsort(list, (size_t)count, sizeof *list, descending);
    for (int64_t u = 1; u < count; u++)
        list[u].share += list[u - 1].share;
}

/* Of a null only order statistics are used. */
static void sort_null(study *s, int kind) {
    tail *t = &s->tails[kind];
    for (int64_t i = 0; i < s->done; i++) {
        const double *row = s->null + (i * s->kinds + kind) * s->units;
        int64_t first = t->n_living;
        t->largest[i] = (struct living){DEAD, 1};
        for (int64_t u = 0; u < s->units; u++) {
            t->largest[i].value = fmax(t->largest[i].value, row[u]);
            if (row[u] > DEAD) t->living[t->n_living++].value = row[u];
        }
        for (int64_t u = first; u < t->n_living; u++)
            t->living[u].share = 1 / (double)(t->n_living - first);
    }
    order(t->largest, s->done);
    order(t->living, t->n_living);
}

/* The sum of the shares of those with at least that value. */
static double shares_from(const struct living *list, int64_t count, double value) {
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (list[middle].value >= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? list[low - 1].share : 0;
}

/* Of a unit with its statistics in the data, of one kind after the other. */
static rb_significance judge(const study *s, const double *values, int64_t unit) {
    double b = (double)s->done;
    rb_significance worst = {0};
    for (int kind = 0; kind < s->kinds; kind++) {
        double value = values[kind * s->units + unit];
        double larger = shares_from(s->tails[kind].largest, s->done, value);
        double share = shares_from(s->tails[kind].living, s->tails[kind].n_living, value);
        double p_family = (1 + larger) / (1 + b);
        worst.p_family = fmax(worst.p_family, p_family);
        if (kind == PERMUTED) worst.p_permuted = p_family;
        worst.p = fmax(worst.p, fmin((1 + share) / (1 + b), p_family));
    }
    return worst;
}

/* The false discovery rate is over all living units, also those that `best` left out. */
static rb_error judge_all(rb_context *ctx, study *s, const double *values, rb_modules *modules) {
    rb_scratch scratch = {.ctx = ctx};
    double *log_p = rb_take(&scratch, s->units, sizeof *log_p);
    double *log_fdr = rb_take(&scratch, s->units, sizeof *log_fdr);
    for (int kind = 0; kind < s->kinds; kind++) {
        tail *t = &s->tails[kind];
        t->largest = rb_take(&scratch, s->done, sizeof *t->largest);
        t->living = rb_take(&scratch, s->done * s->units, sizeof *t->living);
        if (!scratch.err) sort_null(s, kind);
    }
    for (int64_t u = 0; !scratch.err && u < s->units; u++)
        log_p[u] = values[u] > DEAD ? log(judge(s, values, u).p) : NAN;
    if (!scratch.err) scratch.err = rb_false_discovery(ctx, log_p, true, s->units, 0, log_fdr);
    rb_significance *list = scratch.err ? NULL : rb_alloc(ctx, modules->tested, sizeof *list);
    for (int64_t r = 0; list && r < modules->tested; r++) {
        int64_t unit = modules->list[r].unit;
        list[r] = judge(s, values, unit);
        list[r].fdr = exp(log_fdr[unit]);
    }
    char *nulls = list ? rb_copy_text(ctx, s->tested) : NULL;
    if (!scratch.err && !nulls) scratch.err = RB_ERROR_MEMORY;
    rb_free(nulls ? modules->significance : list);
    rb_free(nulls ? modules->nulls : NULL);
    modules->significance = nulls ? list : modules->significance;
    modules->nulls = nulls ? nulls : modules->nulls;
    modules->permutations = nulls ? s->done : modules->permutations;
    return rb_scratch_end(&scratch);
}

/* So many permutations can have p-values as small as is asked for. */
static double needed(const permute_options *options) {
    return options->significant > 0 ? ceil(1 / options->significant - 1) : 1;
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

/* Modules, for rb_modules_say. */
struct picked {
    const permute_options *options;
    const rb_significance *list;
};

static bool is_not_significant(const void *user, int64_t rank, char note[16]) {
    (void)note;
    const struct picked *p = user;
    return !is_significant(p->options, p->list[rank]);
}

/* More than independent features, but not than correlated normal ones. */
static bool is_gradient(const void *user, int64_t rank, char note[16]) {
    (void)note;
    const struct picked *p = user;
    double bound = bound_of(p->options);
    return p->list[rank].p_permuted <= bound && p->list[rank].p_family > bound;
}

/* Of a consensus, whose units are as stable as was asked for: are they significant? */
static void compare_stability(rb_context *ctx, const study *s, const rb_modules *modules) {
    const char *stability = rb_model_attribute(s->model, RB_CONSENSUS_ATTRIBUTE "stability");
    const char *rate =
        s->options.error_rate == BY_FAMILY ? "family-wise p-value" : "false discovery rate";
    const struct picked all = {&s->options, modules->significance};
    char units[512];
    if (rb_modules_called(modules) == 0 || !stability) return;
    if (rb_modules_say(ctx, modules, is_not_significant, &all, units, sizeof units)) {
        rb_log(ctx, RB_LOG_INFO,
               "%s: a stability of %s or more, but a %s above %g: most fits find it, but noise may "
               "be like it",
               units, stability, rate, bound_of(&s->options));
    } else {
        rb_log(ctx, RB_LOG_INFO, "stability and significance agree on all %lld modules",
               (long long)rb_modules_called(modules));
    }
}

static void tell_gradients(rb_context *ctx, const study *s, const rb_modules *modules) {
    const struct picked all = {&s->options, modules->significance};
    char units[512];
    if (s->kinds < KINDS || !rb_modules_say(ctx, modules, is_gradient, &all, units, sizeof units))
        return;
    rb_log(ctx, RB_LOG_INFO,
           "%s: the features go together, but the samples need not be a group: it may be a "
           "gradient, or what samples differ in throughout, such as depth",
           units);
}

/* A unit that tells more than this data's noise is not spare, whatever white noise may tell. But
 * what one sample or one feature has by itself is no module. */
static void promote_significant(const permute_options *options, rb_modules *modules) {
    for (int64_t r = rb_modules_called(modules); r < modules->count; r++) {
        const rb_module *m = &modules->list[r];
        if (modules->notes[r].role == RB_UNIT_SPARE && m->n_samples > 1 && m->n_features > 1 &&
            is_significant(options, modules->significance[r]))
            rb_modules_promote(modules, r);
    }
}

/* With many living units even the least p-value may be too large for one module alone. */
static void tell_of_few(rb_context *ctx, const study *s, const double *values) {
    double living = 0, most = 1 / s->options.significant;
    for (int64_t u = 0; u < s->units; u++)
        living += values[u] > DEAD;
    double together = ceil(living * most / (1 + (double)s->done) - 1e-9);
    if (together <= 1) return;
    rb_log(ctx, RB_LOG_WARNING,
           "with %lld permutations a false discovery rate of %g takes at least %.0f of the %.0f "
           "living units together; for a single one use `permutations=%.0f`",
           (long long)s->done, s->options.significant, together, living,
           ceil(living * most - 1 - 1e-9));
}

/* After a stop there may be too few permutations to tell. */
static void keep_significant(rb_context *ctx, const study *s, const double *values,
                             rb_modules *modules) {
    const permute_options *options = &s->options;
    int64_t before = rb_modules_called(modules);
    bool family = options->error_rate == BY_FAMILY;
    if ((double)s->done < needed(options)) {
        rb_log(ctx, RB_LOG_WARNING,
               "these permutations are too few for `significant` %g, which takes %.0f: all modules "
               "are kept",
               options->significant, needed(options));
        return;
    }
    for (int64_t r = modules->tested - 1; r >= 0; r--)
        if (modules->notes[r].role >= RB_UNIT_SPARE ||
            !is_significant(options, modules->significance[r]))
            rb_modules_remove(modules, r);
    rb_log(ctx, RB_LOG_INFO, "%lld of %lld modules have a %s of at most %g",
           (long long)modules->count, (long long)before,
           family ? "family-wise p-value" : "false discovery rate", options->significant);
    if (!family && modules->count < before) tell_of_few(ctx, s, values);
}

/* ---- all of it ---- */

static rb_error check_options(rb_context *ctx, const permute_options *options) {
    double least = 1 / (1 + (double)options->permutations);
    if (options->significant == 0 || options->significant >= least) return RB_OK;
    return rb_fail(
        ctx, RB_ERROR_ARGUMENT,
        "`significant` is %g, but the smallest p-value of %lld permutations is %.2g; take "
        "`permutations=%.0f` or more",
        options->significant, (long long)options->permutations, least, needed(options));
}

static rb_error run_jobs(rb_context *ctx, study *s, bool *complete) {
    char key[256];
    uint32_t data = 0, model = 0, blocks = 0;
    void *bytes = NULL;
    size_t size = 0;
    rb_crc32 crc;
    rb_error err = rb_matrix_checksum(ctx, s->matrix, &data);
    err = err ? err : rb_model_save_memory(ctx, s->model, &bytes, &size);
    if (err) return err;
    rb_crc32_prepare(&crc);
    model = rb_crc32_add(&crc, 0, bytes, size);
    rb_free_memory(bytes);
    if (s->folded)
        blocks = rb_crc32_add(&crc, 0, s->blocks.order,
                              (size_t)s->matrix->n_samples * sizeof *s->blocks.order);
    snprintf(key, sizeof key, "permutations " RB_VERSION " %s %lld %08lx %08lx %08lx seed=%lld",
             s->fit ? "refit" : "encode", (long long)s->kinds, (unsigned long)data,
             (unsigned long)model, (unsigned long)blocks, (long long)s->options.seed);
    rb_jobs jobs = {.count = s->options.permutations,
                    .what = "permutation",
                    .key = key,
                    .run = do_permutation,
                    .take = take,
                    .user = s,
                    .journal = s->options.checkpoint,
                    .part = s->options.part,
                    /* of those in a checkpoint none is lost */
                    .enough = s->options.checkpoint ? 0 : 1};
    return rb_jobs_run(ctx, &jobs, complete);
}

/* Why samples are not rotated; or NULL. */
static const char *why_no_rotation(const study *s) {
    const rb_matrix *x = exchanged(s);
    if (s->model->method->non_negative) return "the method takes no values below 0";
    const char *flaw = rb_rotation_flaw(x);
    bool below = s->model->preprocess->options.centre != RB_CENTRE_NONE;
    for (int64_t i = 0; !flaw && !below && i < x->n_samples * x->n_features; i++)
        below = rb_get(x->type, x->values, i) < 0;
    return flaw || below ? flaw : "the data are neither centred nor below 0";
}

static const char both_kinds[] =
    "tested is whether a module is more than independent features (permuted) and more than "
    "correlated normal ones (samples rotated); p is the larger of both chances. Not tested is "
    "whether samples depend on each other";
static const char both_of_blocks[] =
    "tested is whether a module is more than independent features (blocks of samples permuted) and "
    "more than correlated normal ones (blocks rotated); p is the larger of both chances. Samples "
    "of "
    "a block may depend on each other";
static const char one_kind[] =
    "tested is only whether a module is more than independent features (permuted), which any "
    "correlated ones are. Not tested is whether samples depend on each other";
static const char one_of_blocks[] =
    "tested is only whether a module is more than independent features (blocks of samples "
    "permuted), which any correlated ones are. Samples of a block may depend on each other";

/* Makes ready for what can be tested, and says what that is. */
static rb_error choose_nulls(rb_context *ctx, study *s, double *values) {
    const char *flaw = why_no_rotation(s);
    s->kinds = flaw ? 1 : KINDS;
    s->tested =
        s->folded ? (flaw ? one_of_blocks : both_of_blocks) : (flaw ? one_kind : both_kinds);
    rb_error err = s->folded ? RB_OK : rb_neighbours_warn(ctx, s->model->preprocess, s->matrix);
    if (err) return err;
    rb_log(ctx, flaw ? RB_LOG_WARNING : RB_LOG_INFO, "%s%s%s", flaw ? flaw : "",
           flaw ? ", so that samples are not rotated: " : "", s->tested);
    if (flaw) return RB_OK;
    err = rb_unit_shapes(ctx, s->model, s->matrix, &s->blocks, values + ROTATED * s->units);
    return err ? err : rb_rotation_new(ctx, exchanged(s), &s->rotation);
}

/* In place of the information of the units of the data, their scores; not where null data may have
 * too many units for the test, and not of blocks, each of which makes a small module in null data,
 * too, of few features that agree well. */
static rb_error take_scores(rb_context *ctx, study *s, double *values) {
    rb_context *quiet = NULL;
    rb_source *source = NULL;
    rb_modules *modules = NULL;
    rb_error err = rb_context_child(ctx, &quiet);
    err = err ? err : rb_source_from_matrix(ctx, s->matrix, &source);
    if (!err) {
        err = find_by(quiet, s->model, source, NULL, &modules);
        if (err) rb_fail(ctx, err, "%s", rb_context_error(quiet));
    }
    s->scored = !err && strcmp(modules->rule, "test") == 0;
    for (int64_t u = 0; s->scored && u < s->units; u++)
        values[u] = DEAD;
    if (s->scored) note_scores(modules, values);
    rb_modules_free(modules);
    rb_source_free(source);
    rb_context_free(quiet);
    return err;
}

/* The permutations that were done when the program asked to stop are fewer, but as good. */
static void tell_of_stop(rb_context *ctx, const study *s) {
    rb_context_clear_stop(ctx);
    rb_log(
        ctx, RB_LOG_WARNING,
        "stopped after %lld of %lld permutations: the p-values are of these, and cannot be below "
        "%.2g",
        (long long)s->done, (long long)s->options.permutations, 1 / (1 + (double)s->done));
}

/* With what is permuted in memory. */
static rb_error work(rb_context *ctx, study *s, double *values, rb_modules *modules,
                     bool *complete) {
    rb_scratch scratch = {.ctx = ctx};
    int64_t count = 0;
    if (s->given) scratch.err = rb_blocks_of(ctx, s->given, s->matrix->n_samples, &s->blocks);
    if (!scratch.err && s->given)
        scratch.err = rb_blocks_fold(ctx, &s->blocks, s->matrix, &s->folded);
    if (!scratch.err && !s->given && s->matrix->n_samples >= s->units + 2)
        scratch.err = take_scores(ctx, s, values);
    if (!scratch.err) scratch.err = choose_nulls(ctx, s, values);
    if (!scratch.err && !rb_multiply(s->options.permutations, s->kinds * s->units, &count))
        scratch.err = rb_fail(ctx, RB_ERROR_MEMORY, "there are too many permutations to be kept");
    s->null = rb_take(&scratch, count, sizeof *s->null);
    if (!scratch.err) scratch.err = run_jobs(ctx, s, complete);
    modules->stopped = !scratch.err && !*complete && s->done > 0;
    if (modules->stopped) tell_of_stop(ctx, s);
    *complete |= modules->stopped;
    if (!scratch.err && *complete) {
        scratch.err = judge_all(ctx, s, values, modules);
        if (!scratch.err) promote_significant(&s->options, modules);
        if (!scratch.err) compare_stability(ctx, s, modules);
        if (!scratch.err) tell_gradients(ctx, s, modules);
        if (!scratch.err && s->options.significant > 0) keep_significant(ctx, s, values, modules);
    }
    rb_rotation_free(s->rotation);
    rb_matrix_free(s->folded);
    rb_blocks_clear(&s->blocks);
    return rb_scratch_end(&scratch);
}

/* With the model that permuted data are for. */
static rb_error begin(rb_context *ctx, study *s, rb_encoded *kept, rb_modules *modules,
                      bool *complete) {
    const rb_model *model = s->model;
    rb_halfway halfway = {0};
    double *values = rb_alloc_zero(ctx, KINDS * s->units, sizeof *values);
    rb_error err = values ? RB_OK : RB_ERROR_MEMORY;
    err = err ? err : rb_encoded_information(ctx, kept, values);
    if (!err) mark_dead(values, s->units);
    err = err ? err : rb_halfway_begin(ctx, model, kept->source, &halfway);
    s->model = &halfway.model;
    s->matrix = halfway.matrix;
    err = err ? err : work(ctx, s, values, modules, complete);
    s->model = model;
    rb_free(values);
    rb_halfway_end(&halfway);
    return err;
}

/* The samples of the fit, where it left out some. */
static rb_error take_fitted(rb_context *ctx, const rb_model *model, const rb_covariates *blocks,
                            rb_source **source, rb_source **thin) {
    rb_error err =
        rb_source_thin(ctx, rb_model_attribute(model, "drop-samples"), false, source, thin);
    if (err || !*thin || !blocks) return err;
    return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                   "blocks need all samples, but the fit left out some with `drop-samples`; remove "
                   "them from the data, or fit all");
}

rb_error rb_encoded_permute(rb_context *ctx, rb_encoded *kept, const rb_options *given,
                            const rb_covariates *blocks, rb_modules *modules, bool *complete) {
    const rb_model *model = kept->model;
    rb_source *source = kept->source, *thin = NULL;
    study s = {.model = model, .given = blocks, .units = rb_model_units(model)};
    bool all = true;
    if (complete) *complete = true;
    rb_error err = rb_options_take(ctx, given, rb_significance_group(), &s.options);
    if (err || s.options.permutations == 0) return err;
    err = check_options(ctx, &s.options);
    if (!err && s.options.null == NULL_REFIT) {
        err = take_fitted(ctx, model, blocks, &source, &thin);
        err = err ? err : rb_again_options(ctx, model, source, &s.fit);
        int64_t asked = rb_recorded_whole(model, "units", 0); /* a consensus may have fewer */
        s.units = asked > s.units ? asked : s.units;
    }
    if (!err && s.options.null == NULL_ENCODE) rb_again_warn(ctx, model, source);
    if (!err && s.options.permutations < FEWEST) {
        rb_log(ctx, RB_LOG_WARNING,
               "the smallest p-value of %lld permutations is %.2g, which says little; take "
               "`permutations=%d` or more",
               (long long)s.options.permutations, 1 / (1 + (double)s.options.permutations), FEWEST);
    }
    rb_encoded some = {.model = model, .source = source, .most = RB_KEPT_BYTES};
    err = err ? err : begin(ctx, &s, thin ? &some : kept, modules, &all);
    rb_encoded_clear(&some);
    rb_source_free(thin);
    rb_options_free(s.fit);
    if (complete) *complete = all;
    return err;
}

rb_error rb_modules_permute(rb_context *ctx, const rb_model *model, rb_source *source,
                            const rb_options *options, const rb_covariates *blocks,
                            rb_modules *modules, bool *complete) {
    rb_encoded kept = {.model = model, .source = source, .most = 1};
    rb_error err = rb_encoded_permute(ctx, &kept, options, blocks, modules, complete);
    rb_encoded_clear(&kept);
    if (modules->stopped) rb_context_stop(ctx);
    return err;
}

bool rb_modules_significance(const rb_modules *modules, int64_t rank,
                             rb_significance *significance) {
    bool there = modules->significance && rb_modules_get(modules, rank);
    if (there) *significance = modules->significance[rank];
    return there;
}
