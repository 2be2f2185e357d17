/* How many units: fits of every number, from several starts and without parts of the data.
 *
 * For each number of units there are as many jobs as restarts, whose models are compared on all
 * data, as many as folds, whose models meet samples that they were not fitted to, and as many as
 * permutations, whose models have only noise to find.
 */
#include "select.h"

#include <rarebit/version.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LEFT_OUT = 0.05; /* of the values of samples that were not fitted */
enum { FEWEST = 19 };                /* permutations whose smallest p-value is 0.05 */
enum { SAMPLES_COMPARED = 2000, FOLD_RESTARTS = 3 }; /* one bad start would spoil a fold */

static const rb_option table[] = {
    {"units", 'k', RB_OPTION_TEXT, offsetof(select_options, units), "2:20", 0, 0, NULL, "LOW:HIGH",
     "the numbers of units to try: 2:20, 2:50:4 (every fourth), or 5,10,20", RB_OPTION_COMMON},
    {"restarts", 0, RB_OPTION_INTEGER, offsetof(select_options, restarts), "10", 1, 1e6, NULL, "N",
     "fits of each number, from different starts", RB_OPTION_COMMON},
    {"folds", 0, RB_OPTION_INTEGER, offsetof(select_options, folds), "5", 0, 1e6, NULL, "N",
     "hold out each of N parts of the samples in turn (0: none)", RB_OPTION_COMMON},
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

static rb_error not_units(rb_context *ctx, const char *text) {
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "`units` is '%s', but must be numbers above 0 like 2:20, 2:50:4 or 5,10,20",
                   text);
}

enum { MAX_NUMBERS = 100000 };

/* "2:20" or "2:50:4"; 0: it is none. */
static int64_t parse_range(const char *text, int64_t *units) {
    long long low, high, step = 1;
    int used = 0, used_by_step = 0;
    int64_t count = 0;
    int found = sscanf(text, "%lld:%lld%n:%lld%n", &low, &high, &used, &step, &used_by_step);
    bool whole = found >= 2 && !text[found == 3 ? used_by_step : used];
    if (!whole || low < 1 || high < low || step < 1 || (high - low) / step >= MAX_NUMBERS) return 0;
    for (long long k = low; k <= high; k += step)
        units[count++] = k;
    return count;
}

/* "5,10,20"; 0: it is none. */
static int64_t parse_list(const char *text, int64_t *units) {
    int64_t count = 0;
    for (bool more = true; more; text++) {
        long long one;
        int used;
        if (count == MAX_NUMBERS || sscanf(text, "%lld%n", &one, &used) != 1 || one < 1) return 0;
        units[count++] = one;
        text += used;
        more = *text == ',';
        if (*text && !more) return 0;
    }
    return count;
}

/* Ascending and each once; freed by rb_free. */
static rb_error parse_units(rb_context *ctx, const char *text, int64_t **units, int64_t *count) {
    *units = rb_alloc(ctx, MAX_NUMBERS, sizeof **units);
    if (!*units) return RB_ERROR_MEMORY;
    *count = strchr(text, ':') ? parse_range(text, *units) : parse_list(text, *units);
    if (*count == 0) return not_units(ctx, text);
    rb_sort_integers(*units, *count);
    int64_t kept = 1;
    for (int64_t i = 1; i < *count; i++)
        if ((*units)[i] != (*units)[kept - 1]) (*units)[kept++] = (*units)[i];
    *count = kept;
    return RB_OK;
}

/* ---- a job ---- */

/* One fit, of the best of so many starts. */
struct fit {
    int64_t units, restarts, seed;
    bool again; /* not the first of its number: what begins with no random number begins at random,
                   as restarts of a fit do */
};

static bool may_begin_at_random(const rb_method *method) {
    const rb_option *row = rb_rows_find(method->options, "start");
    return row && row->kind == RB_OPTION_CHOICE && strstr(row->choices, "random");
}

static rb_error fit_options(rb_context *ctx, const select_plan *plan, struct fit at,
                            rb_options **options) {
    rb_error err = rb_options_new(ctx, plan->options->method->name, options);
    err = err ? err : rb_options_set_as(ctx, plan->options, *options);
    err = err ? err : rb_options_unset(ctx, *options, "checkpoint");
    err = err ? err : rb_options_set_integer(ctx, *options, "units", at.units);
    err = err ? err : rb_options_set_integer(ctx, *options, "restarts", at.restarts);
    if (!err && at.again && may_begin_at_random(plan->options->method))
        err = rb_options_set(ctx, *options, "start", "random");
    return err ? err : rb_options_set_integer(ctx, *options, "seed", at.seed);
}

static rb_error fit(rb_context *ctx, const select_plan *plan, const rb_matrix *matrix,
                    struct fit at, rb_model **model) {
    rb_source source;
    rb_options *options = NULL;
    *model = NULL;
    rb_source_of_matrix(matrix, &source);
    rb_error err = fit_options(ctx, plan, at, &options);
    err = err ? err : rb_fit(ctx, options, &source, NULL, model);
    if (!err && rb_model_status(*model) == RB_STATUS_STOPPED)
        err = RB_ERROR_STOPPED; /* half a fit is none */
    rb_options_free(options);
    return err;
}

/* Codes of the samples that are compared: a row per living unit, of mean 0 and length 1. */
static rb_error take_codes(rb_context *ctx, const select_plan *plan, const rb_model *model,
                           rb_bytes *result) {
    int64_t n = plan->compared->n_samples, l = rb_model_units(model);
    rb_source source;
    rb_source_of_matrix(plan->compared, &source);
    select_outcome *o = rb_alloc_zero(ctx, (int64_t)sizeof *o + n * l * (int64_t)sizeof(float), 1);
    if (!o) return RB_ERROR_MEMORY;
    *result = (rb_bytes){o, (int64_t)sizeof *o};
    float *codes = (float *)(o + 1);
    rb_error err = rb_encode_into(ctx, model, &source, RB_FLOAT32, codes, 1, n);
    for (int64_t j = 0; !err && j < l; j++) {
        double sum = 0, squares = 0;
        int64_t active = 0;
        const float *from = codes + j * n;
        float *to = codes + o->living * n;
        for (int64_t i = 0; i < n; i++) {
            sum += (double)from[i];
            active += from[i] != 0;
        }
        for (int64_t i = 0; i < n; i++)
            squares += pow((double)from[i] - sum / (double)n, 2);
        for (int64_t i = 0; squares > 0 && i < n; i++)
            to[i] = (float)(((double)from[i] - sum / (double)n) / sqrt(squares));
        o->living += squares > 0;
        o->background += squares > 0 && 2 * active > n;
    }
    result->size += o->living * n * (int64_t)sizeof(float);
    return err;
}

/* Adds the information of each unit behind what is there. */
static rb_error add_information(rb_context *ctx, const select_plan *plan, const rb_model *model,
                                rb_bytes *result) {
    int64_t units = rb_model_units(model), size = units * (int64_t)sizeof(double);
    rb_scratch scratch = {.ctx = ctx};
    rb_source source;
    rb_source_of_matrix(plan->matrix, &source);
    double *information = rb_take(&scratch, units, sizeof *information);
    if (!scratch.err) scratch.err = rb_unit_information(ctx, model, &source, information);
    char *grown =
        scratch.err ? NULL : rb_grow(ctx, result->data, result->size, result->size + size, 1);
    if (!scratch.err && !grown) scratch.err = RB_ERROR_MEMORY;
    if (!scratch.err) {
        memcpy(grown + result->size, information, (size_t)size);
        *result = (rb_bytes){grown, result->size + size};
    }
    return rb_scratch_end(&scratch);
}

static rb_error do_restart(rb_context *ctx, const select_plan *plan, struct fit at,
                           rb_bytes *result) {
    rb_model *model;
    rb_source compared;
    rb_code_check check = {0};
    rb_error err = fit(ctx, plan, plan->matrix, at, &model);
    rb_source_of_matrix(plan->compared, &compared);
    err = err ? err : take_codes(ctx, plan, model, result);
    err = err ? err : rb_model_check(ctx, model, &compared, &check);
    if (!err) {
        select_outcome *o = result->data;
        rb_model_history(model, rb_model_iterations(model) - 1, &o->objective, NULL, NULL);
        o->duplicates = check.samples ? (double)check.duplicates : NAN;
        o->background = check.samples ? o->background : NAN;
        o->empty = check.samples ? (double)check.empty / (double)check.samples : NAN;
    }
    if (!err && plan->chosen.permutations > 0) err = add_information(ctx, plan, model, result);
    rb_model_free(model);
    return err;
}

/* The samples of a fold, or all others, ascending. */
static int64_t pick(const select_plan *plan, int64_t fold, bool held_out, int64_t *samples) {
    int64_t count = 0;
    for (int64_t i = 0; i < plan->matrix->n_samples; i++)
        if ((plan->fold_of[i] == fold) == held_out) samples[count++] = i;
    return count;
}

/* ---- entries that are left out ---- */

/* Single values of samples that were not fitted, predicted from the rest of each sample: the sum of
 * squared errors over that about the means of the samples that were. */
typedef struct entries {
    const rb_matrix *fitted, *held_out;
    double *means;  /* of the features */
    char *left_out; /* per value of held_out */
    double errors, squares;
} entries;

static rb_error add_errors(void *user, int64_t first, const rb_matrix *rows) {
    entries *e = user;
    int64_t m = rows->n_features;
    for (int64_t i = 0; i < rows->n_samples; i++) {
        for (int64_t k = 0; k < m; k++) {
            if (!e->left_out[(first + i) * m + k]) continue;
            double value = rb_matrix_at(e->held_out, first + i, k);
            e->errors += pow(value - rb_matrix_at(rows, i, k), 2);
            e->squares += pow(value - e->means[k], 2);
        }
    }
    return RB_OK;
}

/* Chooses the entries, which become NaN in the copy; none that is missing anyway. */
static void leave_out(const select_plan *plan, entries *e, int64_t fold, double *copy) {
    int64_t n = e->held_out->n_samples, m = e->held_out->n_features;
    rb_stream stream = {(uint64_t)plan->seed, RB_RANDOM_ENTRIES, (uint32_t)fold};
    for (int64_t k = 0; k < m; k++) {
        double count = 0;
        for (int64_t i = 0; i < e->fitted->n_samples; i++) {
            double value = rb_matrix_at(e->fitted, i, k);
            count += !isnan(value);
            e->means[k] += isnan(value) ? 0 : value;
        }
        e->means[k] /= fmax(count, 1);
    }
    for (int64_t i = 0; i < n * m; i++) {
        copy[i] = rb_matrix_at(e->held_out, i / m, i % m);
        e->left_out[i] = !isnan(copy[i]) && rb_random_uniform(stream, (uint64_t)i) < LEFT_OUT;
        if (e->left_out[i]) copy[i] = NAN;
    }
}

/* NaN: sparse data, or a method that needs all values. */
static rb_error measure_entries(rb_context *ctx, const select_plan *plan, rb_model *model,
                                int64_t fold, entries e, double *error) {
    int64_t n = e.held_out->n_samples, m = e.held_out->n_features;
    *error = NAN;
    if (e.held_out->sparse || rb_model_omit_missing(ctx, model)) return RB_OK;
    rb_scratch scratch = {.ctx = ctx};
    double *copy = rb_take(&scratch, n * m, sizeof *copy);
    e.means = rb_take(&scratch, m, sizeof *e.means);
    e.left_out = rb_take(&scratch, n * m, 1);
    if (!scratch.err) {
        const rb_matrix view = {n, m, RB_FLOAT64, false, copy, m, 1};
        rb_source source;
        leave_out(plan, &e, fold, copy);
        rb_source_of_matrix(&view, &source);
        scratch.err = rb_reconstruct(ctx, model, &source, add_errors, &e);
        *error = e.squares > 0 ? e.errors / e.squares : NAN;
    }
    return rb_scratch_end(&scratch);
}

static rb_error do_fold(rb_context *ctx, const select_plan *plan, struct fit at, int64_t fold,
                        rb_bytes *result) {
    rb_matrix *fitted = NULL, *held_out = NULL;
    rb_model *model = NULL;
    rb_metrics *metrics = NULL;
    int64_t *samples = rb_alloc(ctx, plan->matrix->n_samples, sizeof *samples);
    int64_t count = samples ? pick(plan, fold, true, samples) : 0;
    int64_t size = (int64_t)sizeof(select_outcome) + count * (int64_t)sizeof(double);
    select_outcome *o = rb_alloc_zero(ctx, size, 1);
    rb_error err = samples && o ? RB_OK : RB_ERROR_MEMORY;
    *result = (rb_bytes){o, size};
    if (!err)
        err = rb_study_rows(ctx, plan->matrix, samples, pick(plan, fold, false, samples), &fitted);
    err = err ? err : fit(ctx, plan, fitted, at, &model);
    if (!err) {
        o->held_out_samples = pick(plan, fold, true, samples);
        err = rb_study_rows(ctx, plan->matrix, samples, count, &held_out);
    }
    if (!err) {
        rb_source source;
        rb_source_of_matrix(held_out, &source);
        err = rb_evaluate_samples(ctx, model, &source, (double *)(o + 1), &metrics);
    }
    if (!err) {
        o->held_out = rb_metrics_get(metrics, "log_likelihood");
        if (isnan(o->held_out)) o->held_out = rb_metrics_get(metrics, "log_likelihood_bound");
        o->held_out_error = rb_metrics_get(metrics, "mean_squared_error");
        err = measure_entries(ctx, plan, model, fold,
                              (entries){.fitted = fitted, .held_out = held_out}, &o->entry_error);
    }
    rb_metrics_free(metrics);
    rb_model_free(model);
    rb_matrix_free(fitted);
    rb_matrix_free(held_out);
    rb_free(samples);
    return err;
}

static rb_error do_permutation(rb_context *ctx, const select_plan *plan, struct fit at,
                               int64_t permutation, rb_bytes *result) {
    rb_matrix *permuted = NULL;
    rb_model *model = NULL;
    rb_source source;
    rb_scratch scratch = {.ctx = ctx};
    double *information = rb_take(&scratch, at.units, sizeof *information);
    double *largest = rb_alloc_zero(ctx, 1, sizeof *largest);
    *result = (rb_bytes){largest, sizeof *largest};
    rb_error err = largest ? scratch.err : RB_ERROR_MEMORY;
    err = err ? err : rb_study_permute(ctx, plan->matrix, plan->seed, permutation, &permuted);
    err = err ? err : fit(ctx, plan, permuted, at, &model);
    if (!err) {
        rb_source_of_matrix(permuted, &source);
        err = rb_unit_information(ctx, model, &source, information);
    }
    for (int64_t u = 0; !err && u < at.units; u++)
        *largest = fmax(*largest, information[u]);
    rb_model_free(model);
    rb_matrix_free(permuted);
    rb_error end = rb_scratch_end(&scratch);
    return err ? err : end;
}

static int64_t starts_of_fold(const select_plan *plan) {
    return plan->chosen.restarts < FOLD_RESTARTS ? plan->chosen.restarts : FOLD_RESTARTS;
}

static double cost_of(int64_t job, const void *user) {
    const select_plan *plan = user;
    int64_t units = plan->units[job / plan->per_row];
    int64_t fold = job % plan->per_row - plan->chosen.restarts;
    bool best_of = fold >= 0 && fold < plan->chosen.folds;
    return (double)(units * (best_of ? starts_of_fold(plan) : 1));
}

static rb_error do_job(rb_context *ctx, int64_t job, void *user, rb_bytes *result) {
    const select_plan *plan = user;
    int64_t restart = job % plan->per_row, fold = restart - plan->chosen.restarts;
    int64_t permutation = fold - plan->chosen.folds;
    struct fit at = {plan->units[job / plan->per_row], 1, plan->seed, false};
    if (fold < 0) {
        at.seed += restart;
        at.again = restart > 0;
        return do_restart(ctx, plan, at, result);
    }
    if (permutation < 0) {
        at.restarts = starts_of_fold(plan);
        return do_fold(ctx, plan, at, fold, result);
    }
    at.seed += permutation;
    return do_permutation(ctx, plan, at, permutation, result);
}

/* ---- the plan ---- */

/* Each sample gets a fold; all folds have as many, but for one. */
static rb_error draw_folds(rb_context *ctx, select_plan *plan) {
    int64_t n = plan->matrix->n_samples, folds = plan->chosen.folds;
    rb_draws draws = {.stream = {(uint64_t)plan->seed, RB_RANDOM_FOLDS, 0}};
    int64_t *order = rb_alloc(ctx, n, sizeof *order);
    plan->fold_of = rb_alloc(ctx, n, sizeof *plan->fold_of);
    if (!order || !plan->fold_of) {
        rb_free(order);
        return RB_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t j = rb_draw_integer(&draws, 0, i);
        order[i] = order[j];
        order[j] = i;
    }
    for (int64_t i = 0; i < n; i++)
        plan->fold_of[order[i]] = folds > 0 ? i % folds : -1;
    rb_free(order);
    return RB_OK;
}

/* All samples, or so many spread over them. */
static rb_error choose_compared(rb_context *ctx, select_plan *plan) {
    int64_t n = plan->matrix->n_samples, samples[SAMPLES_COMPARED];
    plan->compared = plan->matrix;
    if (n <= SAMPLES_COMPARED) return RB_OK;
    for (int64_t i = 0; i < SAMPLES_COMPARED; i++)
        samples[i] = i * n / SAMPLES_COMPARED;
    rb_error err = rb_study_rows(ctx, plan->matrix, samples, SAMPLES_COMPARED, &plan->compared_own);
    plan->compared = plan->compared_own;
    return err;
}

static rb_error check_plan(rb_context *ctx, const select_plan *plan) {
    int64_t n = plan->matrix->n_samples, folds = plan->chosen.folds;
    if (folds == 1 || folds > n) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`folds` is %lld, but must be 0 or from 2 to the %lld samples",
                       (long long)folds, (long long)n);
    }
    return RB_OK;
}

static rb_error check_permutations(rb_context *ctx, const select_plan *plan) {
    char totals[32] = "";
    long long permutations = plan->chosen.permutations;
    if (permutations == 0) return RB_OK;
    rb_options_get(plan->options, "totals", totals, sizeof totals);
    if (permutations < FEWEST) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "`permutations` is %lld, but must be 0 or at least %d, which can show a chance "
            "of 0.05",
            permutations, FEWEST);
    }
    return strtod(totals, NULL) == 0
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                         "permutations and totals cannot go together: samples of permuted data "
                         "have other totals; divide by them before, or ask 'modules' of a model");
}

/* The options that matter here, without those of the tool. */
static rb_error take_options(rb_context *ctx, const rb_options *options, select_plan *plan) {
    struct fit any = {1, 1, 1, false};
    rb_options *fit = NULL;
    if (!options || !options->method) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the options are those of no method; rb_select_options takes its name");
    }
    rb_error err = rb_select_options(ctx, options->method->name, &plan->options);
    err = err ? err : rb_options_set_as(ctx, options, plan->options);
    err = err ? err : rb_options_take(ctx, plan->options, &group, &plan->chosen);
    err = err ? err : check_permutations(ctx, plan);
    err = err ? err : parse_units(ctx, plan->chosen.units, &plan->units, &plan->n_rows);
    if (!err && plan->n_rows > 0) any.units = plan->units[0];
    err = err ? err : fit_options(ctx, plan, any, &fit);
    err = err ? err : rb_options_check(ctx, fit, NULL);
    rb_options_free(fit);
    return err;
}

static rb_error make_plan(rb_context *ctx, const rb_options *options, rb_source *source,
                          select_plan *plan) {
    char seed[32];
    rb_error err = take_options(ctx, options, plan);
    err = err ? err : rb_study_load(ctx, source, &plan->matrix, &plan->own);
    err = err ? err : check_plan(ctx, plan);
    if (err) return err;
    rb_options_get(plan->options, "seed", seed, sizeof seed);
    plan->seed = strtoll(seed, NULL, 10);
    plan->per_row = plan->chosen.restarts + plan->chosen.folds + plan->chosen.permutations;
    err = draw_folds(ctx, plan);
    return err ? err : choose_compared(ctx, plan);
}

static void plan_clear(select_plan *plan) {
    rb_options_free(plan->options);
    rb_free(plan->units);
    rb_free(plan->fold_of);
    rb_matrix_free(plan->own);
    rb_matrix_free(plan->compared_own);
}

/* ---- all of it ---- */

rb_error rb_select_check(rb_context *ctx, const rb_options *options) {
    select_plan plan = {0};
    rb_error err = take_options(ctx, options, &plan);
    plan_clear(&plan);
    return err;
}

rb_error rb_select(rb_context *ctx, const rb_options *options, rb_source *source,
                   rb_selection **selection) {
    select_plan plan = {0};
    char *key = NULL;
    bool complete = false;
    *selection = NULL;
    rb_error err = make_plan(ctx, options, source, &plan);
    err = err ? err : rb_study_key(ctx, "select", plan.options, &group, source, plan.matrix, &key);
    err = err ? err : rb_selection_new(ctx, &plan, selection);
    if (!err) {
        rb_jobs jobs = {.count = plan.n_rows * plan.per_row,
                        .what = "fit",
                        .key = key,
                        .run = do_job,
                        .take = rb_selection_take,
                        .cost = cost_of,
                        .user = &plan,
                        .journal = rb_options_text(plan.options, "checkpoint"),
                        .part = plan.chosen.part};
        plan.selection = *selection;
        err = rb_jobs_run(ctx, &jobs, &complete);
    }
    err = err || !complete ? err : rb_selection_choose(ctx, *selection);
    if (err || !complete) {
        rb_selection_free(*selection);
        *selection = NULL;
    }
    rb_free(key);
    plan_clear(&plan);
    return err;
}
