/* Fitting the preprocessing: a pass for means, variances and effects of covariates, and passes over
 * groups of features where a median or quartile is wanted. Where effects are taken out, all
 * statistics are those of what is left. */
#include "data.h"
#include "rows.h"

#include <math.h>
#include <string.h>

enum { COLUMN_BYTES = 1 << 26, GATHER_TASKS = 32 };

struct feature {
    rb_moments moments; /* those that are filled among them, in the end */
    double fill, median, quartile_range;
};

/* Everything a fit needs while it runs. */
struct fitting {
    rb_preprocess *p;
    rb_source *source;
    struct feature *features; /* of the input */
    bool fills;
    uint64_t *hashes;        /* of the features; NULL: equal ones stay */
    bool *dropped;           /* NULL: none is */
    rb_regress_fit *effects; /* NULL: none are taken out */
    rb_ties ties;            /* where the centre is to be chosen */
    /* Of values that are neither scaled to totals nor logarithms: */
    bool not_counts; /* one is below 0, or no whole number */
    double largest, sum;
};

void rb_preprocess_free(rb_preprocess *p) {
    if (p) {
        rb_free(p->selected);
        rb_free(p->centre);
        rb_free(p->scale);
        rb_free(p->fill);
        rb_free(p->moments);
        rb_names_free(p->names);
        rb_regress_free(p->regress);
        rb_free(p);
    }
}

/* The message about a value that cannot be used; `value` is as it stood in the data. */
rb_error rb_fail_value(rb_context *ctx, const rb_preprocess_options *options,
                       const rb_source *source, int64_t sample, int64_t feature, double value,
                       bool fitted) {
    const char *name = rb_source_sample_name(source, sample);
    const char *feature_name = rb_source_feature_name(source, feature);
    const char *what = isnan(value) && fitted
                           ? "is missing (NaN), and the model fills none; leave it out with "
                             "`missing=model`, or fit again with `missing=mean` or `missing=median`"
                       : isnan(value)
                           ? "is missing (NaN); fill it with `missing=mean` or `missing=median`, "
                             "or use `missing=model` where the method can leave it out"
                       : isinf(value) ? "is infinite; remove it from the data"
                       : rb_value_fits(options, value)
                           ? "is too large for the precision of the fit; scale the data or choose "
                             "precision=float64"
                       : options->totals > 0 ? "is below 0, which `totals` does not allow"
                                             : "is at most -1, which `log1p` does not allow";
    const char *path = rb_source_place(source, &sample);
    return rb_fail(ctx, RB_ERROR_DATA, "%s%ssample %lld%s%s%s, feature %lld%s%s%s%s %s",
                   path ? path : "", path ? ": " : "", (long long)rb_nth(ctx, sample),
                   name ? " (" : "", name ? name : "", name ? ")" : "",
                   (long long)rb_nth(ctx, feature), feature_name ? " (" : "",
                   feature_name ? feature_name : "", feature_name ? ")" : "",
                   rb_counted(ctx, name && feature_name), what);
}

/* ---- the pass for means, variances, missing values and the checksum ---- */

static void look_for_counts(struct fitting *f, const rb_matrix *rows) {
    const double *values = rows->values;
    for (int64_t e = 0; e < rb_matrix_stored(rows) && !f->not_counts; e++) {
        double x = values[e];
        f->not_counts = !(x >= 0 && x == floor(x));
        f->largest = fmax(f->largest, x);
        f->sum += x;
    }
}

static void add_rows(rb_context *ctx, void *user, const rb_matrix *rows, int64_t first) {
    struct fitting *f = user;
    look_for_counts(f, rows);
    if (f->hashes) rb_hash_features(ctx, rows, first, f->hashes);
    if (f->ties.values) rb_ties_add(&f->ties, rows, first);
    if (f->effects) rb_regress_fit_add(ctx, f->effects, rows, first);
    rb_moments_add(ctx, f->p->moments, rows);
}

/* Counts of genes or words differ by orders of magnitude, and what is centred is then all theirs
 * that are large. Pictures of 8 bits are whole numbers, too. */
static void remark_on_counts(rb_context *ctx, const struct fitting *f) {
    const rb_preprocess_options *o = &f->p->options;
    double mean = f->sum / (double)f->source->n_samples / (double)f->p->n_input;
    if (!f->not_counts && f->largest > 255 && f->largest > 5 * mean && o->totals == 0 &&
        !o->log1p && o->centre != RB_CENTRE_NONE) {
        rb_log(ctx, RB_LOG_INFO,
               "all values are whole numbers from 0 to %g, %.3g on average; if they are counts, "
               "use `totals=10k` `log1p=true`",
               f->largest, mean);
    }
}

static rb_error survey(rb_context *ctx, struct fitting *f) {
    rb_preprocess *p = f->p;
    rb_pass pass = {.source = f->source,
                    .options = &p->options,
                    .checksum = &p->checksum,
                    .stored = &p->n_stored,
                    .collect = add_rows,
                    .user = f};
    p->moments = rb_alloc_zero(ctx, p->n_input, sizeof *p->moments);
    rb_error err = p->moments ? RB_OK : RB_ERROR_MEMORY;
    bool chooses = p->options.centre == RB_CENTRE_AUTO;
    if (!err && chooses)
        err = rb_ties_begin(ctx, &f->ties, f->source->n_samples, f->source->n_features);
    err = err ? err : rb_pass_run(ctx, &pass);
    if (!err && chooses) p->options.centre = rb_ties_choose(ctx, &f->ties);
    rb_free(f->ties.values);
    if (!err) p->n_filled = rb_moments_end(p->moments, p->n_input, f->source->n_samples);
    for (int64_t k = 0; !err && k < p->n_input; k++)
        f->features[k].moments = p->moments[k];
    if (!err) remark_on_counts(ctx, f);
    if (!err && f->dropped)
        err = rb_drop_choose(ctx, p->options.drop, p->moments, f->hashes, p->n_input, f->dropped);
    if (!err && f->effects)
        err = rb_regress_fit_solve(ctx, f->effects, &f->features->moments, sizeof *f->features);
    if (f->effects) { /* of what is left the blocks tell */
        rb_free(p->moments);
        p->moments = NULL;
    }
    return err;
}

/* ---- passes for quantiles ---- */

/* Some features of all samples: columns[width x n], NaN where missing. */
struct gathering {
    struct fitting *f;
    const rb_matrix *rows;
    int64_t first_row, first, width, n;
    double *columns;
};

static void gather_some(void *arg, int64_t index, int worker) {
    const struct gathering *g = arg;
    int64_t share = (g->rows->n_samples + GATHER_TASKS - 1) / GATHER_TASKS;
    int64_t end = (index + 1) * share;
    (void)worker;
    for (int64_t i = index * share; i < end && i < g->rows->n_samples; i++) {
        rb_row row = rb_row_of(g->rows, i);
        double *to = g->columns + g->first_row + i;
        for (int64_t e = rb_row_from(&row, g->first); e < row.count; e++) {
            int64_t k = (row.columns ? row.columns[e] : e) - g->first;
            if (k >= g->width) break;
            to[k * g->n] = row.values[e];
        }
    }
}

static void gather(rb_context *ctx, void *user, const rb_matrix *rows, int64_t first) {
    struct gathering *g = user;
    g->rows = rows;
    g->first_row = first;
    rb_parallel(ctx, GATHER_TASKS, gather_some, g);
}

/* Median and quartiles of one feature; missing values are filled on the way, or left out. */
static void column_quantiles(const struct fitting *f, struct feature *feature, double *column,
                             int64_t n) {
    int64_t there = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isnan(column[i])) column[there++] = column[i];
    if (f->p->options.missing == RB_MISSING_MEDIAN)
        feature->fill = there ? rb_quantile_in(column, there, 0.5) : 0;
    for (; f->fills && there < n; there++)
        column[there] = feature->fill;
    feature->median = there ? rb_quantile_in(column, there, 0.5) : 0;
    if (there && f->p->options.scale == RB_SCALE_IQR)
        feature->quartile_range =
            rb_quantile_in(column, there, 0.75) - rb_quantile_in(column, there, 0.25);
}

static void take_quantiles(void *arg, int64_t index, int worker) {
    const struct gathering *g = arg;
    int64_t k = g->first + index;
    double *column = g->columns + index * g->n;
    (void)worker;
    for (int64_t i = 0; g->f->effects && i < g->n; i++)
        column[i] -= rb_regress_fit_effect(g->f->effects, i, k);
    column_quantiles(g->f, &g->f->features[k], column, g->n);
}

int64_t rb_preprocess_memory(const rb_preprocess_options *options, int64_t n_samples,
                             int64_t n_features) {
    bool medians = options->centre == RB_CENTRE_MEDIAN || options->centre == RB_CENTRE_AUTO;
    double columns = (double)n_samples * (double)n_features * sizeof(double);
    return medians ? (int64_t)fmin(columns, COLUMN_BYTES) : 0;
}

static rb_error find_quantiles(rb_context *ctx, struct fitting *f) {
    int64_t n = f->source->n_samples, m = f->p->n_input;
    int64_t width = COLUMN_BYTES / (int64_t)sizeof(double) / n;
    width = width < 1 ? 1 : width > m ? m : width;
    struct gathering g = {.f = f, .width = width, .n = n};
    g.columns = rb_alloc(ctx, width * n, sizeof *g.columns);
    rb_pass pass = {.source = f->source, .options = &f->p->options, .collect = gather, .user = &g};
    rb_error err = g.columns ? RB_OK : RB_ERROR_MEMORY;
    for (; !err && g.first < m; g.first += g.width) {
        g.width = rb_smaller(m - g.first, width);
        if (f->source->sparse) memset(g.columns, 0, (size_t)(g.width * n) * sizeof *g.columns);
        err = rb_pass_run(ctx, &pass);
        /* Medians of all samples take their time. */
        err = err ? err : rb_parallel_or_stop(ctx, g.width, take_quantiles, &g);
    }
    rb_free(g.columns);
    return err;
}

static double variance(const struct fitting *f, int64_t k) {
    const rb_moments *m = &f->features[k].moments;
    return m->count ? m->squares / (double)m->count : 0;
}

/* Chooses the features of largest variance (ties: the first) among those that are not dropped, in
 * their own order. */
static rb_error select_features(rb_context *ctx, struct fitting *f) {
    rb_preprocess *p = f->p;
    int64_t wanted = p->options.top_variance, kept = p->n_input;
    for (int64_t k = 0; f->dropped && k < p->n_input; k++)
        kept -= f->dropped[k];
    wanted = wanted == 0 || wanted > kept ? kept : wanted;
    p->n_features = p->n_input;
    if (wanted == p->n_input) return RB_OK;
    double *variances = rb_alloc(ctx, p->n_input, sizeof *variances);
    p->selected = rb_alloc(ctx, wanted, sizeof *p->selected);
    if (!variances || !p->selected) {
        rb_free(variances);
        return RB_ERROR_MEMORY;
    }
    for (int64_t k = 0; k < p->n_input; k++)
        variances[k] = f->dropped && f->dropped[k] ? -1 : variance(f, k);
    rb_sort_numbers(variances, p->n_input);
    double min = variances[p->n_input - wanted];
    int64_t ties = 0, taken = 0;
    for (int64_t i = p->n_input - wanted; i < p->n_input && variances[i] == min; i++)
        ties++;
    for (int64_t k = 0; k < p->n_input; k++) {
        bool dropped = f->dropped && f->dropped[k];
        if (!dropped && (variance(f, k) > min || (variance(f, k) == min && ties-- > 0)))
            p->selected[taken++] = k;
    }
    p->n_features = taken;
    rb_free(variances);
    return RB_OK;
}

static double chosen_scale(const struct fitting *f, int64_t k) {
    int scale = f->p->options.scale;
    double chosen = scale == RB_SCALE_SD    ? sqrt(variance(f, k))
                    : scale == RB_SCALE_IQR ? f->features[k].quartile_range
                                            : 1;
    return chosen > 0 ? chosen : 1;
}

/* Fills the arrays of the features in use. */
static rb_error choose_parameters(rb_context *ctx, struct fitting *f) {
    rb_preprocess *p = f->p;
    p->centre = rb_alloc_zero(ctx, p->n_features, sizeof *p->centre);
    p->scale = rb_alloc(ctx, p->n_features, sizeof *p->scale);
    p->fill = f->fills ? rb_alloc(ctx, p->n_features, sizeof *p->fill) : NULL;
    if (!p->centre || !p->scale || (f->fills && !p->fill)) return RB_ERROR_MEMORY;
    for (int64_t j = 0; j < p->n_features; j++) {
        int64_t k = p->selected ? p->selected[j] : j;
        const struct feature *feature = &f->features[k];
        p->scale[j] = chosen_scale(f, k);
        if (p->options.centre != RB_CENTRE_NONE) {
            p->centre[j] =
                p->options.centre == RB_CENTRE_MEDIAN ? feature->median : feature->moments.mean;
        }
        if (p->fill) p->fill[j] = feature->fill;
    }
    return RB_OK;
}

/* Those of the features in use. */
static rb_error keep_coefficients(rb_context *ctx, struct fitting *f) {
    rb_preprocess *p = f->p;
    if (!f->effects) return RB_OK;
    int64_t q = p->regress->n_columns;
    double *kept = rb_alloc(ctx, p->n_features * q, sizeof *kept);
    if (!kept) return RB_ERROR_MEMORY;
    for (int64_t j = 0; j < p->n_features; j++) {
        int64_t k = p->selected ? p->selected[j] : j;
        memcpy(kept + j * q, f->effects->coefficients + k * q, (size_t)q * sizeof *kept);
    }
    p->regress->coefficients = kept;
    return RB_OK;
}

static rb_error keep_names(rb_context *ctx, struct fitting *f) {
    rb_preprocess *p = f->p;
    if (!f->source->feature_names) return RB_OK;
    const char **text = rb_alloc(ctx, p->n_features, sizeof *text);
    if (!text) return RB_ERROR_MEMORY;
    for (int64_t j = 0; j < p->n_features; j++)
        text[j] = f->source->feature_names->text[p->selected ? p->selected[j] : j];
    p->names = rb_names_copy(ctx, text, p->n_features);
    rb_free(text);
    return p->names ? RB_OK : RB_ERROR_MEMORY;
}

/* Names are what new data and labels are matched by. */
static rb_error check_names(rb_context *ctx, const rb_source *source) {
    rb_error err = rb_names_warn_repeated(ctx, source->feature_names, "feature names",
                                          "in data with other columns the first of each is used");
    return err ? err
               : rb_names_warn_repeated(ctx, source->sample_names, "sample names",
                                        "a label applies to all samples of its name");
}

/* Of samples that do not differ centring leaves nothing. */
static rb_error check_variation(rb_context *ctx, const struct fitting *f) {
    if (f->p->options.centre == RB_CENTRE_NONE) return RB_OK;
    bool varies = false;
    for (int64_t k = 0; k < f->p->n_input; k++) {
        varies = varies || variance(f, k) > 0;
        if (!isfinite(variance(f, k))) {
            return rb_fail(ctx, RB_ERROR_DATA,
                           "feature %lld (counted from %d) has values too large for a variance; "
                           "divide all values by one number",
                           (long long)rb_nth(ctx, k), ctx->first);
        }
    }
    if (varies) return RB_OK;
    return rb_fail(ctx, RB_ERROR_DATA,
                   f->effects ? "all %lld samples are the same once the effects of the covariates "
                                "are removed; there is nothing to explain"
                              : "all %lld samples are the same; there is nothing to explain",
                   (long long)f->source->n_samples);
}

static void warn_of_empty(rb_context *ctx, const struct fitting *f) {
    int64_t empty = 0, first = -1;
    for (int64_t k = 0; k < f->p->n_input; k++) {
        if (f->features[k].moments.count == 0) {
            first = first < 0 ? k : first;
            empty++;
        }
    }
    if (empty > 0) {
        const char *name = rb_source_feature_name(f->source, first);
        rb_log(ctx, RB_LOG_WARNING,
               "%lld features have no value at all and are set to 0; the first is feature "
               "%lld%s%s%s%s",
               (long long)empty, (long long)rb_nth(ctx, first), name ? " (" : "", name ? name : "",
               name ? ")" : "", rb_counted(ctx, name));
    }
}

static void tell_missing(rb_context *ctx, const rb_preprocess *p) {
    long long count = p->n_filled;
    if (count && rb_missing_stays(&p->options)) {
        rb_log(ctx, RB_LOG_INFO, "%lld missing values are left out", count);
    } else if (count) {
        rb_log(ctx, RB_LOG_INFO, "%lld missing values were filled with the %s of their feature",
               count, p->options.missing == RB_MISSING_MEAN ? "mean" : "median");
    }
}

static rb_error run(rb_context *ctx, struct fitting *f) {
    const rb_preprocess_options *options = &f->p->options;
    int64_t m = f->p->n_input;
    f->fills = options->missing == RB_MISSING_MEAN || options->missing == RB_MISSING_MEDIAN;
    f->features = rb_alloc_zero(ctx, m, sizeof *f->features);
    if (options->drop) f->dropped = rb_alloc_zero(ctx, m, sizeof *f->dropped);
    if (options->drop > RB_DROP_CONSTANT) f->hashes = rb_alloc_zero(ctx, m, sizeof *f->hashes);
    bool held = f->features && (!options->drop || f->dropped) &&
                (options->drop <= RB_DROP_CONSTANT || f->hashes);
    rb_error err = held ? survey(ctx, f) : RB_ERROR_MEMORY;
    for (int64_t k = 0; !err && k < m; k++)
        f->features[k].fill = f->features[k].moments.mean;
    if (!err && (options->centre == RB_CENTRE_MEDIAN || options->scale == RB_SCALE_IQR ||
                 options->missing == RB_MISSING_MEDIAN))
        err = find_quantiles(ctx, f);
    if (!err && f->fills) warn_of_empty(ctx, f);
    for (int64_t k = 0; !err && f->fills && k < m; k++) {
        rb_moments *moments = &f->features[k].moments;
        rb_moments_join(moments, moments->missing, f->features[k].fill, 0);
    }
    err = err ? err : check_variation(ctx, f);
    err = err ? err : select_features(ctx, f);
    err = err ? err : choose_parameters(ctx, f);
    err = err ? err : keep_coefficients(ctx, f);
    err = err ? err : keep_names(ctx, f);
    err = err ? err : check_names(ctx, f->source);
    if (!err) tell_missing(ctx, f->p);
    return err;
}

/* Where the options ask for it. The text is that of the terms from here on. */
static rb_error begin_effects(rb_context *ctx, struct fitting *f, rb_regress_fit *effects) {
    rb_preprocess *p = f->p;
    const char *text = p->options.regress;
    p->options.regress = NULL;
    rb_error err = text && *text ? rb_regress_new(ctx, text, f->source, &p->regress) : RB_OK;
    if (err || !p->regress) return err;
    p->options.regress = p->regress->text;
    f->effects = effects;
    return rb_regress_fit_begin(ctx, p->regress, f->source, &p->options, effects);
}

rb_error rb_preprocess_fit(rb_context *ctx, const rb_preprocess_options *options, rb_source *source,
                           rb_preprocess **out) {
    *out = NULL;
    rb_preprocess_options chosen;
    rb_rows_default(rb_preprocess_group.rows, &chosen);
    chosen = options ? *options : chosen;
    rb_error err = rb_rows_check(ctx, rb_preprocess_group.rows, &chosen);
    if (err) return err;
    if (source->n_samples == 0 || source->n_features == 0) {
        return rb_fail(ctx, RB_ERROR_DATA, "there is nothing to fit: %lld samples x %lld features",
                       (long long)source->n_samples, (long long)source->n_features);
    }
    if (source->n_samples == 1 && chosen.centre != RB_CENTRE_NONE) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "centring needs at least 2 samples, but the data have 1 sample of %lld "
                       "features; is the file transposed?",
                       (long long)source->n_features);
    }
    err = rb_check_levels(ctx, &chosen, source);
    if (err) return err;
    rb_preprocess *p = rb_alloc_zero(ctx, 1, sizeof *p);
    if (!p) return RB_ERROR_MEMORY;
    p->options = chosen;
    p->n_input = source->n_features;
    struct fitting f = {.p = p, .source = source};
    rb_regress_fit effects = {0};
    err = begin_effects(ctx, &f, &effects);
    err = err ? err : run(ctx, &f);
    if (f.effects) rb_regress_fit_end(&effects);
    rb_free(f.features);
    rb_free(f.hashes);
    rb_free(f.dropped);
    if (err) rb_preprocess_free(p);
    *out = err ? NULL : p;
    return err;
}
