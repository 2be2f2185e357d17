/* Which method for these data: every one that takes them, on one scale.
 *
 * Each method is fitted as `select` fits a number of units: without a fold of the samples each
 * time, the same for all methods, from a seed of its own. These fits say how well samples that were
 * left out are rebuilt, how well single values of them are predicted, and how alike the fits are.
 * Fits of all samples say how many modules there are, and how well units mark known classes.
 */
#include "select.h"

#include <rarebit/methods.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct methods_options {
    const char *methods;
    int64_t units, folds, seeds, seed;
    int drop_samples;
} methods_options;

static const rb_option rows[] = {
    {"methods", 0, RB_OPTION_TEXT, offsetof(methods_options, methods), NULL, 0, 0, NULL, "NAMES",
     "only these methods, by commas; otherwise all but slow ones", RB_OPTION_COMMON},
    {"units", 'k', RB_OPTION_INTEGER, offsetof(methods_options, units), "10", 1, 1e9, NULL, "N",
     "number of units of each method", RB_OPTION_COMMON},
    {"folds", 0, RB_OPTION_INTEGER, offsetof(methods_options, folds), "5", 0, 1e6, NULL, "N",
     "fits that each hold out one of N parts of the samples (0: none)", RB_OPTION_COMMON},
    {"seeds", 0, RB_OPTION_INTEGER, offsetof(methods_options, seeds), "3", 1, 1e6, NULL, "N",
     "fits to all samples, from different starts", RB_OPTION_COMMON},
    {"seed", 0, RB_OPTION_INTEGER, offsetof(methods_options, seed), "1", 0, 1e15, NULL, "N",
     "the first seed", RB_OPTION_COMMON},
    {"drop-samples", 0, RB_OPTION_CHOICE, offsetof(methods_options, drop_samples), "none", 0, 0,
     "none|constant|duplicates|duplicates,constant|constant,duplicates", "WHICH",
     "fit without samples of one value throughout, and all but the first of equal samples; modules "
     "and classes are of all"},
    {0},
};

static const rb_option_group group = {sizeof(rb_option), "Methods", rows, sizeof(methods_options),
                                      NULL};

rb_error rb_methods_options(rb_context *ctx, rb_options **options) {
    rb_error err = rb_options_new(ctx, NULL, options);
    err = err ? err : rb_options_add(ctx, *options, &group);
    err = err ? err : rb_options_add(ctx, *options, &rb_preprocess_group);
    if (!err) {
        rb_options_hide(*options, "regress");
        return RB_OK;
    }
    rb_options_free(*options);
    *options = NULL;
    return err;
}

/* ---- what is found ---- */

enum { HELD_OUT, ENTRIES, ERRORS };

/* A method, its fits, and what they say. */
typedef struct candidate {
    const rb_method *method;
    select_plan plan;
    double *errors[ERRORS]; /* of each fit that holds samples out */
    double error[ERRORS], error_se[ERRORS], match, match_sd, modules, auc, auc_se, seconds;
    double auc_squares, auc_variance; /* means over seeds */
    double gain, gain_squares;        /* of entries, as of a fit (select.h); sums */
    int good;                         /* by so many figures it is among the best */
    rb_error err;                     /* that it had before any fit */
    char why[512];                    /* it is left out; "": it is not */
} candidate;

struct rb_method_comparison {
    candidate *all;        /* those that are left out come last */
    int64_t count, n_rows; /* n_rows: those that are not */
    double *errors;        /* of all candidates */
    char summary[8192];
};

typedef struct study {
    methods_options chosen;
    rb_options *options; /* of the caller, and missing values filled */
    rb_source source;    /* of the matrix */
    const rb_matrix *matrix;
    rb_source seen;  /* the samples that fits see */
    rb_source *thin; /* the same without those that are dropped; NULL: none is */
    const rb_matrix *fitted;
    const rb_covariates *labels;
    int64_t fits, per_method; /* with samples held out, or for the match; and with all samples */
    rb_method_comparison *found;
} study;

void rb_method_comparison_free(rb_method_comparison *c) {
    if (!c) return;
    for (int64_t i = 0; i < c->count; i++) {
        rb_selection_free(c->all[i].plan.selection);
        rb_select_plan_clear(&c->all[i].plan);
    }
    rb_free(c->all);
    rb_free(c->errors);
    rb_free(c);
}

static rb_value method_name(const rb_table *table, int64_t row, const rb_table_column *column) {
    const candidate *all = table->rows;
    return (rb_value){.kind = column->kind, .text = all[row].method->name};
}

rb_table rb_method_comparison_table(const rb_method_comparison *c) {
    static const rb_table_column columns[] = {
        {"method", "method", NULL, "as in rarebit fit", RB_VALUE_TEXT, .value = method_name},
        {"held_out_error", "held out", "%.4g",
         "mean squared error of samples left out, preprocessed, rebuilt from their codes",
         RB_VALUE_NUMBER, offsetof(candidate, error[HELD_OUT]), .optional = true},
        {"held_out_se", "+-", "%.2g", "standard error of its difference from the smallest",
         RB_VALUE_NUMBER, offsetof(candidate, error_se[HELD_OUT]), .optional = true},
        {"entry_error", "entries", "%.4f",
         "squared errors of a fifth of their values, predicted a twentieth at a time from the rest "
         "of the sample, as a share of those of the mean of the feature",
         RB_VALUE_NUMBER, offsetof(candidate, error[ENTRIES]), .optional = true},
        {"entry_se", "+-", "%.4f", "standard error of its difference from the smallest",
         RB_VALUE_NUMBER, offsetof(candidate, error_se[ENTRIES]), .optional = true},
        {"match", "match", "%.3f",
         "correlation of the codes of two fits, units paired, whatever the sign; mean over pairs "
         "of fits of other seeds and samples",
         RB_VALUE_NUMBER, offsetof(candidate, match), .optional = true},
        {"match_sd", "+-", "%.3f", "standard deviation over the pairs", RB_VALUE_NUMBER,
         offsetof(candidate, match_sd), .optional = true},
        {"modules", "modules", "%.1f", "modules that count; mean over seeds", RB_VALUE_NUMBER,
         offsetof(candidate, modules)},
        {"auc", "classes", "%.3f",
         "AUC of the unit that marks a class best, by either sign; mean over classes and seeds",
         RB_VALUE_NUMBER, offsetof(candidate, auc), .optional = true},
        {"auc_se", "+-", "%.3f", "standard error over seeds and samples", RB_VALUE_NUMBER,
         offsetof(candidate, auc_se), .optional = true},
        {"seconds", "seconds", "%.2f", "of a fit with one thread", RB_VALUE_NUMBER,
         offsetof(candidate, seconds)},
        {0},
    };
    return (rb_table){"methods", columns, c->n_rows, c->all, sizeof *c->all, c};
}

const char *rb_method_comparison_summary(const rb_method_comparison *c) {
    return c->summary;
}

/* ---- which methods ---- */

static rb_error add_methods(rb_context *ctx, const char *names, rb_method_comparison *c) {
    char name[64];
    int64_t most = 1;
    for (const char *n = names; n && *n; n++)
        most += *n == ',';
    while (!names && rb_context_method(ctx, most))
        most++;
    c->all = rb_alloc_zero(ctx, most, sizeof *c->all);
    if (!c->all) return RB_ERROR_MEMORY;
    for (int64_t i = 0; !names && i < most; i++) {
        const rb_method *method = rb_context_method(ctx, i);
        if (!rb_method_is_slow(method)) c->all[c->count++].method = method;
    }
    for (const char *n = names; n; n = n[strcspn(n, ",")] ? n + strcspn(n, ",") + 1 : NULL) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(n, ","), n);
        c->all[c->count].method = rb_find_method(ctx, name);
        if (!c->all[c->count++].method)
            return rb_fail(ctx, RB_ERROR_ARGUMENT, "`methods` has '%s', which is no method", name);
    }
    return RB_OK;
}

/* What says that a method does not take these data, and nothing else is wrong. */
static bool is_of_method(rb_error err) {
    return err == RB_ERROR_ARGUMENT || err == RB_ERROR_DATA || err == RB_ERROR_NUMERIC ||
           err == RB_ERROR_UNSUPPORTED;
}

static bool has_below(const rb_matrix *matrix) {
    for (int64_t i = 0; i < matrix->n_samples; i++)
        for (int64_t k = 0; k < matrix->n_features; k++)
            if (rb_matrix_at(matrix, i, k) < 0) return true;
    return false;
}

static rb_error make_candidate(rb_context *ctx, study *s, candidate *c) {
    rb_options *options = NULL;
    if (c->method->non_negative && has_below(s->fitted)) {
        snprintf(c->why, sizeof c->why, "explains no values below 0");
        return RB_OK;
    }
    rb_error err = rb_select_options(ctx, c->method->name, &options);
    err = err ? err : rb_options_set_as(ctx, s->options, options);
    err = err ? err
              : rb_options_set_all(
                    ctx, options, "units=%lld restarts=%lld folds=%lld seed=%lld drop-samples=none",
                    (long long)s->chosen.units, (long long)s->fits, (long long)s->chosen.folds,
                    (long long)s->chosen.seed);
    err = err ? err : rb_select_plan(ctx, options, &s->seen, &c->plan);
    rb_options_free(options);
    if (is_of_method(err)) {
        c->err = err;
        snprintf(c->why, sizeof c->why, "%s", rb_context_error(ctx));
        return RB_OK;
    }
    return err ? err : rb_selection_new(ctx, &c->plan, &c->plan.selection);
}

/* What is wrong with data or preprocessing is wrong for all methods. Values that are left out on
 * purpose are filled. */
static rb_error check_data(rb_context *ctx, study *s) {
    rb_preprocess *p = NULL;
    rb_error err =
        rb_preprocess_fit(ctx, rb_options_fields(s->options, &rb_preprocess_group), &s->seen, &p);
    rb_preprocess_free(p);
    if (err || rb_options_is_set(s->options, "missing")) return err;
    return rb_options_set(ctx, s->options, "missing", "mean");
}

static rb_error check_labels(rb_context *ctx, const study *s) {
    int64_t n = s->matrix->n_samples;
    if (!s->labels || (s->labels->n_samples == n && rb_covariates_groups(s->labels, 0) > 0))
        return RB_OK;
    return rb_fail(ctx, RB_ERROR_ARGUMENT,
                   "the labels are not a class for each of the %lld samples", (long long)n);
}

static rb_error take_samples(rb_context *ctx, study *s, rb_matrix **own) {
    rb_source *source = &s->source;
    rb_error err = rb_fit_thin(ctx, s->options, false, &source, &s->thin);
    err = err ? err : rb_study_load(ctx, source, &s->fitted, own);
    if (!err) rb_source_of_matrix(s->fitted, &s->seen);
    s->seen.of = source;
    return err;
}

static rb_error begin(rb_context *ctx, const rb_options *options, study *s, rb_matrix **own) {
    rb_error err = rb_methods_options(ctx, &s->options);
    if (!err && options) err = rb_options_set_as(ctx, options, s->options);
    err = err ? err : rb_options_take(ctx, s->options, &group, &s->chosen);
    err = err ? err : take_samples(ctx, s, own);
    err = err ? err : add_methods(ctx, s->chosen.methods, s->found);
    err = err ? err : check_labels(ctx, s);
    err = err ? err : check_data(ctx, s);
    s->fits = s->chosen.folds > 0 ? s->chosen.folds : s->chosen.seeds;
    s->per_method = s->fits + s->chosen.seeds;
    rb_method_comparison *f = s->found;
    if (!err) f->errors = rb_alloc_zero(ctx, f->count * ERRORS * s->fits, sizeof *f->errors);
    if (!err && !f->errors) err = RB_ERROR_MEMORY;
    for (int64_t i = 0; !err && i < f->count; i++) {
        for (int e = 0; e < ERRORS; e++)
            f->all[i].errors[e] = f->errors + (i * ERRORS + e) * s->fits;
        err = make_candidate(ctx, s, &f->all[i]);
    }
    return err;
}

/* ---- fits of all samples ---- */

typedef struct whole {
    double seconds, modules, auc, auc_variance;
} whole;

/* J. A. Hanley, B. J. McNeil, Radiology 143 (1982), of so many samples of a class and others. */
static double auc_variance(double auc, double of_class, double others) {
    double both = auc / (2 - auc), other = 2 * auc * auc / (1 + auc), square = auc * auc;
    return (auc * (1 - auc) + (of_class - 1) * (both - square) + (others - 1) * (other - square)) /
           (of_class * others);
}

/* The mean over classes of the AUC of the unit that is farthest from 1/2. */
static void measure_classes(const rb_group_aucs *a, whole *w) {
    double groups = (double)a->n_groups;
    w->auc = w->auc_variance = groups > 0 ? 0 : NAN;
    for (int64_t g = 0; g < a->n_groups; g++) {
        const rb_group_auc *units = a->rows + g * a->n_units;
        double best = 0.5, size = (double)units->group_size;
        for (int64_t j = 0; j < a->n_units; j++)
            best = fmax(best, fmax(units[j].auc, 1 - units[j].auc));
        w->auc += best / groups;
        w->auc_variance +=
            auc_variance(best, size, (double)a->n_samples - size) / (groups * groups);
    }
}

static rb_error do_whole(rb_context *ctx, const study *s, const candidate *c, int64_t fit,
                         rb_bytes *result) {
    whole *w = result->data = rb_alloc_zero(ctx, 1, sizeof *w);
    rb_model *model = NULL;
    rb_source source = s->source;
    double began = rb_seconds();
    result->size = sizeof *w;
    if (!w) return RB_ERROR_MEMORY;
    rb_error err = rb_select_fit(ctx, &c->plan, s->fitted, s->chosen.units, fit, &model);
    rb_document d = {.size = sizeof d, .model = model, .source = &source, .labels = s->labels};
    w->seconds = rb_seconds() - began;
    err = err ? err : rb_document_make(ctx, &d);
    if (!err) {
        w->modules = (double)rb_modules_called(d.modules);
        measure_classes(&d.aucs, w);
    }
    rb_document_clear(&d);
    rb_model_free(model);
    return err;
}

/* ---- jobs ---- */

/* A result of size 0 is a sentence: the method is left out. */
static rb_error run(rb_context *ctx, int64_t job, void *user, rb_bytes *result) {
    const study *s = user;
    const candidate *c = &s->found->all[job / s->per_method];
    int64_t which = job % s->per_method;
    rb_error err = *c->why           ? RB_ERROR_UNSUPPORTED
                   : which < s->fits ? rb_select_do(ctx, which, (void *)&c->plan, result)
                                     : do_whole(ctx, s, c, which - s->fits, result);
    if (!is_of_method(err)) return err;
    rb_free(result->data);
    *result = (rb_bytes){rb_copy_text(ctx, *c->why ? c->why : rb_context_error(ctx)), 0};
    return result->data ? RB_OK : RB_ERROR_MEMORY;
}

static rb_error take(rb_context *ctx, int64_t job, rb_bytes result, void *user) {
    const study *s = user;
    candidate *c = &s->found->all[job / s->per_method];
    int64_t which = job % s->per_method;
    double share = 1 / (double)s->chosen.seeds;
    if (result.size == 0) snprintf(c->why, sizeof c->why, "%s", (const char *)result.data);
    if (*c->why) return RB_OK;
    if (which < s->fits) {
        const select_outcome *o = result.data;
        c->errors[HELD_OUT][which] = s->chosen.folds > 0 ? o->held_out_error : NAN;
        c->errors[ENTRIES][which] = s->chosen.folds > 0 ? o->entry_error : NAN;
        c->gain += o->gain;
        c->gain_squares += o->gain_squares;
        return rb_selection_take(ctx, which, result, &c->plan);
    }
    const whole *w = result.data;
    c->seconds += share * w->seconds;
    c->modules += share * w->modules;
    c->auc += share * w->auc;
    c->auc_squares += share * w->auc * w->auc;
    c->auc_variance += share * w->auc_variance;
    return RB_OK;
}

/* ---- rows ---- */

/* Mean errors, and the standard errors of differences from the smallest over the same fits. */
static void compare_errors(const study *s, int which) {
    rb_method_comparison *f = s->found;
    const candidate *best = f->all;
    double n = (double)s->fits;
    for (int64_t i = 0; i < f->n_rows; i++) {
        candidate *c = &f->all[i];
        for (int64_t k = 0; k < s->fits; k++)
            c->error[which] += c->errors[which][k] / n;
        best = c->error[which] < best->error[which] ? c : best;
    }
    for (int64_t i = 0; i < f->n_rows; i++) {
        candidate *c = &f->all[i];
        double mean = c->error[which] - best->error[which], squares = 0;
        for (int64_t k = 0; k < s->fits; k++)
            squares += pow(c->errors[which][k] - best->errors[which][k] - mean, 2);
        c->error_se[which] = n > 1 ? sqrt(squares / (n - 1) / n) : NAN;
    }
}

/* Those that are left out go behind the others. */
static void part(rb_method_comparison *f) {
    for (int64_t i = 0; i < f->count; i++) {
        candidate at = f->all[i];
        if (*at.why) continue;
        memmove(&f->all[f->n_rows + 1], &f->all[f->n_rows],
                (size_t)(i - f->n_rows) * sizeof *f->all);
        f->all[f->n_rows++] = at;
    }
}

static rb_error make_rows(rb_context *ctx, const study *s) {
    rb_method_comparison *f = s->found;
    part(f);
    compare_errors(s, HELD_OUT);
    compare_errors(s, ENTRIES);
    for (int64_t i = 0; i < f->n_rows; i++) {
        candidate *c = &f->all[i];
        double varied = fmax(0, c->auc_squares - c->auc * c->auc);
        c->match = c->plan.selection->cells[SELECT_MATCH];
        c->match_sd = s->fits > 1 ? c->plan.selection->match_sd : NAN;
        c->auc_se = isnan(c->auc) ? NAN : sqrt(varied + c->auc_variance);
    }
    return f->n_rows > 0
               ? RB_OK
               : rb_fail(ctx, f->all[0].err ? f->all[0].err : RB_ERROR_DATA, "%s", f->all[0].why);
}

/* ---- what it means ---- */

/* A figure by which methods are compared; those within `times` spreads of the best are as good. */
typedef struct figure {
    const char *use;
    size_t value, spread;
    double sign, times; /* sign: -1 where less is better */
} figure;

static double number_at(const candidate *c, size_t offset) {
    return *(const double *)(const void *)((const char *)c + offset);
}

static double behind(const figure *f, const candidate *c, const candidate *other) {
    return f->sign * (number_at(other, f->value) - number_at(c, f->value));
}

RB_PRINTF(2, 3) static void say(rb_method_comparison *c, const char *format, ...) {
    size_t used = strlen(c->summary);
    va_list list;
    va_start(list, format);
    vsnprintf(c->summary + used, sizeof c->summary - used, format, list);
    va_end(list);
}

/* Names the best by a figure and those as good; false: it was not measured. */
static bool tell(rb_method_comparison *c, const figure *f) {
    const candidate *best = c->all;
    int64_t near = 0;
    for (int64_t i = 0; i < c->n_rows; i++)
        best = behind(f, best, &c->all[i]) > 0 ? &c->all[i] : best;
    if (isnan(number_at(best, f->value))) return false;
    say(c, "%s take %s", f->use, best->method->name);
    for (candidate *at = c->all; at < c->all + c->n_rows; at++) {
        double spread = fmax(number_at(best, f->spread), number_at(at, f->spread));
        bool good = at == best || behind(f, at, best) <= f->times * spread;
        at->good += good;
        if (good && at != best)
            say(c, "%s%s", near++ ? ", " : " (as good within the spread: ", at->method->name);
    }
    say(c, near ? "). " : ". ");
    return true;
}

/* Is no method better at values that are left out than the mean or median of their feature, by as
 * much as the best of many is by chance? */
static bool none_predicts(const rb_method_comparison *c) {
    static const double sure = 2; /* standard errors */
    bool measured = false;
    for (int64_t i = 0; i < c->n_rows; i++) {
        const candidate *at = &c->all[i];
        if (at->gain > sure * sqrt(at->gain_squares)) return false;
        measured |= !isnan(at->error[ENTRIES]);
    }
    return measured;
}

static void tell_of_all(rb_method_comparison *c, int figures) {
    int64_t named = 0;
    for (int64_t i = 0; figures > 1 && i < c->n_rows; i++) {
        if (c->all[i].good < figures) continue;
        say(c, "%s%s", named++ ? ", " : "Among the best in all of these: ", c->all[i].method->name);
    }
    if (figures > 1) say(c, named ? ". " : "No method is among the best in all of these. ");
}

static void summarise(rb_context *ctx, rb_method_comparison *c, bool all) {
    static const figure figures[] = {
        {"To predict values that are left out", offsetof(candidate, error[ENTRIES]),
         offsetof(candidate, error_se[ENTRIES]), -1, 2},
        {"To rebuild samples that are left out", offsetof(candidate, error[HELD_OUT]),
         offsetof(candidate, error_se[HELD_OUT]), -1, 2},
        {"For units that recur", offsetof(candidate, match), offsetof(candidate, match_sd), 1, 1},
        {"To mark the classes", offsetof(candidate, auc), offsetof(candidate, auc_se), 1, 1}};
    char slow[256];
    int told = 0;
    bool nothing = none_predicts(c); /* whose units recur, too */
    if (nothing)
        say(c, "No method predicts values that are left out better than the mean of their feature "
               "does: there may be nothing to find. ");
    else
        told = tell(c, &figures[0]) || tell(c, &figures[1]); /* where data are sparse */
    if (!nothing) told += tell(c, &figures[2]);
    told += tell(c, &figures[3]);
    tell_of_all(c, told);
    for (int64_t i = c->n_rows; i < c->count; i++)
        say(c, "Left out: %s: %s. ", c->all[i].method->name, c->all[i].why);
    rb_method_names(ctx, rb_method_is_slow, ", ", slow, sizeof slow);
    if (all) say(c, "Slow methods were not tried: %s. ", slow);
    if (*c->summary) c->summary[strlen(c->summary) - 1] = 0;
}

rb_error rb_methods_compare(rb_context *ctx, const rb_options *options, rb_source *source,
                            const rb_covariates *labels, rb_method_comparison **comparison) {
    rb_matrix *own = NULL, *some = NULL;
    bool complete;
    study s = {.labels = labels};
    *comparison = NULL;
    s.found = rb_alloc_zero(ctx, 1, sizeof *s.found);
    rb_error err = s.found ? rb_study_load(ctx, source, &s.matrix, &own) : RB_ERROR_MEMORY;
    if (!err) rb_source_of_matrix(s.matrix, &s.source);
    s.source.of = source;
    err = err ? err : begin(ctx, options, &s, &some);
    if (!err) {
        rb_jobs jobs = {.count = s.found->count * s.per_method,
                        .what = "fit",
                        .run = run,
                        .take = take,
                        .user = &s};
        err = rb_jobs_run(ctx, &jobs, &complete);
    }
    err = err ? err : make_rows(ctx, &s);
    if (!err) summarise(ctx, s.found, !s.chosen.methods);
    if (err) rb_method_comparison_free(s.found);
    *comparison = err ? NULL : s.found;
    rb_options_free(s.options);
    rb_source_free(s.thin);
    rb_matrix_free(some);
    rb_matrix_free(own);
    return err;
}
