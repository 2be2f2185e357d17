/* How many units: fits of several numbers, each from another start and without a part of the data.
 *
 * Units that come back in spite of both are stable. The samples that a fit did not see say how well
 * unseen ones are explained.
 */
#include "select.h"
#include "consensus.h"

#include <rarebit/version.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEWEST = 19 }; /* permutations whose smallest p-value is 0.05 */

static const rb_option table[] = {
    {"units", 'k', RB_OPTION_TEXT, offsetof(select_options, units), "10:20:5", 0, 0, NULL,
     "LOW:HIGH", "the numbers of units to try: 2:20, 2:50:4 (every fourth), or 5,10,20",
     RB_OPTION_COMMON},
    {"restarts", 0, RB_OPTION_INTEGER, offsetof(select_options, restarts), "6", 1, 1e6, NULL, "N",
     "fits of each number, from different starts; a multiple of --folds", RB_OPTION_COMMON},
    {"folds", 0, RB_OPTION_INTEGER, offsetof(select_options, folds), "3", 0, 1e6, NULL, "N",
     "each fit holds out one of N parts of the samples, in turn (0: none)", RB_OPTION_COMMON},
    {"permutations", 0, RB_OPTION_INTEGER, offsetof(select_options, permutations), "0", 0, 1e6,
     NULL, "N",
     "how many units are beyond noise? Fit each number to N sets of permuted data too (19 or more; "
     "0: do not ask)"},
    {"part", 0, RB_OPTION_TEXT, offsetof(select_options, part), NULL, 0, 0, NULL, "K/N",
     "do only the K-th of N equal parts, for several machines; 'rarebit merge' puts their "
     "checkpoints together",
     .needs = "checkpoint"},
    {0},
};

static const rb_option_group group = {sizeof(rb_option), "Number of units", table,
                                      sizeof(select_options), NULL};

rb_error rb_select_options(rb_context *ctx, const char *method, rb_options **options) {
    static const char *const others[] = {"units",    "restarts", "checkpoint-every",
                                         "max-time", "regress",  NULL};
    rb_error err = rb_options_new(ctx, method, options);
    for (int i = 0; !err && others[i]; i++)
        rb_options_hide(*options, others[i]);
    err = err ? err : rb_options_add(ctx, *options, &group);
    if (err) {
        rb_options_free(*options);
        *options = NULL;
    }
    return err;
}

/* ---- the numbers to try ---- */

enum { MAX_NUMBERS = 100000 };

static bool take_mark(const char **text, char mark) {
    bool there = **text == mark;
    *text += there;
    return there;
}

static bool take_number(const char **text, long long *value) {
    int used;
    if (sscanf(*text, "%lld%n", value, &used) != 1) return false;
    *text += used;
    return true;
}

/* "2:20", "2:50:4", "5,10,20", and lists of ranges; 0: it is none. */
static int64_t parse(const char *text, int64_t *units) {
    int64_t count = 0;
    do {
        long long low, high, step = 1;
        if (!take_number(&text, &low)) return 0;
        high = low;
        if (take_mark(&text, ':') && !take_number(&text, &high)) return 0;
        if (take_mark(&text, ':') && !take_number(&text, &step)) return 0;
        if (low < 1 || high < low || step < 1) return 0;
        const long long more = (high - low) / step;
        if (more >= MAX_NUMBERS - count) return 0;
        for (long long i = 0; i <= more; i++) /* nothing beyond high, where numbers may end */
            units[count++] = low + i * step;
    } while (take_mark(&text, ','));
    return *text ? 0 : count;
}

/* Ascending and each once; freed by rb_free. */
static rb_error parse_units(rb_context *ctx, const char *text, int64_t **units, int64_t *count) {
    *units = rb_alloc(ctx, MAX_NUMBERS, sizeof **units);
    if (!*units) return RB_ERROR_MEMORY;
    *count = parse(text, *units);
    if (*count == 0) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`units` is '%s', but must be numbers above 0 like 2:20, 2:50:4 or 5,10,20",
                       text);
    }
    rb_sort_integers(*units, *count);
    int64_t kept = 1;
    for (int64_t i = 1; i < *count; i++)
        if ((*units)[i] != (*units)[kept - 1]) (*units)[kept++] = (*units)[i];
    *count = kept;
    return RB_OK;
}

/* ---- the plan ---- */

/* Where each sample resembles the next one a fold drawn at random has hardly a sample that the fit
 * does not know by its neighbours. */
static rb_error look_at_order(rb_context *ctx, select_plan *plan) {
    rb_preprocess *p = NULL;
    rb_source source;
    rb_neighbours found = {0};
    rb_source_of_matrix(plan->matrix, &source);
    source.of = plan->given;
    rb_error err =
        rb_preprocess_fit(ctx, rb_options_fields(plan->options, &rb_preprocess_group), &source, &p);
    err = err ? err : rb_neighbours_look(ctx, p, &source, &found);
    rb_preprocess_free(p);
    plan->serial = found.serial;
    return err;
}

/* The order in which samples are dealt to folds: any, or that of the data from a sample on. */
static void draw_order(const select_plan *plan, int64_t partition, int64_t *order) {
    int64_t n = plan->matrix->n_samples;
    rb_draws draws = {.stream = {(uint64_t)plan->seed, RB_RANDOM_FOLDS, (uint32_t)partition}};
    int64_t first = plan->serial ? rb_draw_integer(&draws, 0, n - 1) : 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t j = plan->serial ? i : rb_draw_integer(&draws, 0, i);
        order[i] = order[j];
        order[j] = (first + i) % n;
    }
}

/* Each sample gets a fold in each partition; all folds have as many, but for one. */
static rb_error draw_folds(rb_context *ctx, select_plan *plan) {
    int64_t n = plan->matrix->n_samples, folds = plan->chosen.folds;
    int64_t partitions = folds > 0 ? plan->fits / folds : 0;
    rb_scratch scratch = {.ctx = ctx};
    int64_t *order = rb_take(&scratch, n, sizeof *order);
    plan->fold_of = rb_alloc(ctx, partitions * n, sizeof *plan->fold_of);
    if (!plan->fold_of) scratch.err = RB_ERROR_MEMORY;
    for (int64_t p = 0; !scratch.err && p < partitions; p++) {
        draw_order(plan, p, order);
        for (int64_t i = 0; i < n; i++)
            plan->fold_of[p * n + order[i]] = plan->serial ? i * folds / n : i % folds;
    }
    return rb_scratch_end(&scratch);
}

bool rb_select_holds_out(const select_plan *plan, int64_t fit, int64_t sample) {
    int64_t folds = plan->chosen.folds, n = plan->matrix->n_samples;
    return folds > 0 && plan->fold_of[fit / folds * n + sample] == fit % folds;
}

static rb_error check_permutations(rb_context *ctx, const select_plan *plan) {
    char totals[32] = "";
    long long permutations = plan->chosen.permutations;
    if (permutations == 0) return RB_OK;
    rb_options_get(plan->options, "totals", totals, sizeof totals);
    if (permutations < FEWEST) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "`permutations` is %lld, but must be 0 or at least %d, with which p-values reach "
            "0.05",
            permutations, FEWEST);
    }
    return strcmp(totals, "median") != 0 && strtod(totals, NULL) == 0
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                         "`permutations` cannot be used with `totals`, since permuted samples have "
                         "other totals; leave one of them out, or permute for 'modules'");
}

/* Each fold is left out as often; and the units of all fits of a number are compared. */
static rb_error count_fits(rb_context *ctx, select_plan *plan) {
    int64_t folds = plan->chosen.folds, most = plan->units[plan->n_rows - 1];
    plan->fits = plan->chosen.restarts;
    if (folds > 0) plan->fits = (plan->fits + folds - 1) / folds * folds;
    plan->per_row = plan->fits + plan->chosen.permutations;
    if (plan->fits == 1 || most <= RB_COMPARED_UNITS / plan->fits) return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "%lld fits of %lld units have %lld units together, but at most %d can be "
                   "compared; take smaller `units` or `restarts`",
                   (long long)plan->fits, (long long)most, (long long)(plan->fits * most),
                   RB_COMPARED_UNITS);
}

/* The options that matter here, without those of the tool. */
static rb_error take_options(rb_context *ctx, const rb_options *options, select_plan *plan) {
    rb_options *fit = NULL;
    if (!options || !options->method) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the options belong to no method; give one to rb_select_options");
    }
    rb_error err = rb_select_options(ctx, options->method->name, &plan->options);
    plan->signs = !options->method->sparser;
    err = err ? err : rb_options_set_as(ctx, options, plan->options);
    err = err ? err : rb_options_take(ctx, plan->options, &group, &plan->chosen);
    err = err ? err : check_permutations(ctx, plan);
    err = err ? err : parse_units(ctx, plan->chosen.units, &plan->units, &plan->n_rows);
    err = err ? err : rb_select_fit_options(ctx, plan, plan->units[0], &fit);
    err = err ? err : rb_options_check(ctx, fit, NULL);
    rb_options_free(fit);
    return err ? err : count_fits(ctx, plan);
}

rb_error rb_select_plan(rb_context *ctx, const rb_options *options, rb_source *source,
                        select_plan *plan) {
    char seed[32];
    rb_error err = take_options(ctx, options, plan);
    err = err ? err : rb_fit_thin(ctx, plan->options, false, &source, &plan->thin);
    err = err ? err : rb_study_load(ctx, source, &plan->matrix, &plan->own);
    if (err) return err;
    plan->given = source;
    int64_t n = plan->matrix->n_samples, folds = plan->chosen.folds;
    if (folds == 1 || folds > n) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`folds` is %lld, but must be 0 or from 2 to the %lld samples",
                       (long long)folds, (long long)n);
    }
    rb_options_get(plan->options, "seed", seed, sizeof seed);
    plan->seed = strtoll(seed, NULL, 10);
    err = folds > 0 ? look_at_order(ctx, plan) : RB_OK;
    return err ? err : draw_folds(ctx, plan);
}

void rb_select_plan_clear(select_plan *plan) {
    rb_options_free(plan->options);
    rb_free(plan->units);
    rb_free(plan->fold_of);
    rb_matrix_free(plan->own);
    rb_source_free(plan->thin);
}

/* ---- all of it ---- */

static double cost_of(int64_t job, const void *user) {
    const select_plan *plan = user;
    int64_t row = job / plan->per_row;
    return (double)plan->units[row];
}

rb_error rb_select_check(rb_context *ctx, const rb_options *options) {
    select_plan plan = {0};
    rb_error err = take_options(ctx, options, &plan);
    rb_select_plan_clear(&plan);
    return err;
}

/* Of which data the table is, as a report asks for. */
static rb_error name_data(rb_context *ctx, rb_source *source, rb_selection *s) {
    uint32_t checksum;
    rb_error err = rb_source_checksum(ctx, source, &checksum);
    if (!err) snprintf(s->data, sizeof s->data, "crc32 %08" PRIx32, checksum);
    return err;
}

rb_error rb_select(rb_context *ctx, const rb_options *options, rb_source *source,
                   rb_selection **selection) {
    select_plan plan = {0};
    char *key = NULL;
    bool complete = false;
    *selection = NULL;
    rb_error err = rb_select_plan(ctx, options, source, &plan);
    err = err ? err : rb_study_key(ctx, "select", plan.options, &group, source, plan.matrix, &key);
    err = err ? err : rb_selection_new(ctx, &plan, selection);
    if (!err) {
        rb_jobs jobs = {.count = plan.n_rows * plan.per_row,
                        .what = "fit",
                        .key = key,
                        .run = rb_select_do,
                        .take = rb_selection_take,
                        .cost = cost_of,
                        .user = &plan,
                        .journal = rb_options_text(plan.options, "checkpoint"),
                        .part = plan.chosen.part,
                        .group = plan.per_row};
        plan.selection = *selection;
        err = rb_jobs_run(ctx, &jobs, &complete);
    }
    if (!err && complete) {
        err = rb_selection_choose(ctx, plan.thin ? plan.thin : source, *selection);
        err = err ? err : name_data(ctx, source, *selection);
    }
    if (err || !complete) {
        rb_selection_free(*selection);
        *selection = NULL;
    }
    rb_free(key);
    rb_select_plan_clear(&plan);
    return err;
}
