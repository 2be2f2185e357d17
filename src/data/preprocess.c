/* Fitting the preprocessing: a pass for means, variances and effects of covariates, and passes over
 * groups of features where a median or quartile is wanted. Where effects are taken out, all
 * statistics are those of what is left. */
#include "data.h"
#include "rows.h"

#include <math.h>
#include <string.h>

/* Everything a fit needs while it runs. */
struct fitting {
    rb_preprocess *p;
    rb_source *source;
    rb_share share;
    rb_tree tree;        /* of moments */
    rb_moments *moments; /* of the input; those that are filled among them, in the end */
    rb_quantiles *quantiles;
    bool fills;
    uint64_t *hashes;        /* of the features; NULL: equal ones stay */
    bool *dropped;           /* NULL: none is */
    rb_regress_fit *effects; /* NULL: none are taken out */
    rb_ties ties;            /* where the centre is to be chosen */
    /* Of values that are neither scaled to totals nor logarithms: */
    bool not_counts; /* one is below 0, or no whole number */
    double largest;
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

/* Of a whole number below 2^52 nothing is lost where float64 knows no fractions. */
static inline bool is_count(double x, double *largest) {
    const double whole = (double)((int64_t)1 << 52);
    *largest = x > *largest ? x : *largest;
    return (x >= 0) & (x + whole - whole == x);
}

static void look_for_counts(struct fitting *f, const rb_matrix *rows) {
    enum { LANES = 4 }; /* the maximum of one would wait for the one before */
    const double *values = rows->values;
    int64_t count = f->not_counts ? 0 : rb_matrix_stored(rows), others = 0, e = 0;
    double largest[LANES] = {0};
    for (; e + LANES <= count; e += LANES)
        for (int k = 0; k < LANES; k++)
            others += !is_count(values[e + k], &largest[k]);
    for (; e < count; e++)
        others += !is_count(values[e], &largest[0]);
    f->not_counts = f->not_counts || others > 0;
    for (int k = 0; k < LANES; k++)
        f->largest = fmax(f->largest, largest[k]);
}

static void add_rows(rb_context *ctx, void *user, const rb_matrix *rows, int64_t first) {
    struct fitting *f = user;
    look_for_counts(f, rows);
    if (f->hashes) rb_hash_features(ctx, rows, first, f->hashes);
    if (f->ties.values) rb_ties_add(&f->ties, rows, first);
    if (f->effects) rb_regress_fit_add(ctx, f->effects, rows, first);
    rb_moments_add(ctx, rb_tree_next(&f->tree), rows);
}

/* What else the pass has found becomes that of all samples. */
static void join_shares(rb_context *ctx, struct fitting *f) {
    double most[] = {f->not_counts, f->largest};
    rb_comm_max(ctx, 2, most);
    f->not_counts = most[0] > 0;
    f->largest = most[1];
    if (f->hashes)
        rb_comm_combine(ctx, f->hashes, f->p->n_input, sizeof *f->hashes, rb_join_hashes);
    if (f->ties.values) rb_comm_add(ctx, f->ties.rows * f->ties.columns, f->ties.values);
}

/* Counts of genes or words differ by orders of magnitude, and what is centred is then all theirs
 * that are large. Grades, and pictures of 8 bits, are whole numbers, too. */
static void remark_on_counts(rb_context *ctx, const struct fitting *f) {
    enum { GRADES = 20, WHITE = 255 };
    const rb_preprocess_options *o = &f->p->options;
    double mean = 0;
    for (int64_t k = 0; k < f->p->n_input; k++)
        mean += f->moments[k].mean / (double)f->p->n_input;
    bool may_be = !f->not_counts && f->largest > GRADES && f->largest != WHITE;
    if (may_be && f->largest > 5 * mean && o->totals == 0 && !o->log1p &&
        o->centre != RB_CENTRE_NONE) {
        rb_log(ctx, RB_LOG_INFO,
               "all values are whole numbers from 0 to %g, %.3g on average; if they are counts, "
               "use `totals=median` `log1p=true`",
               f->largest, mean);
    }
}

/* The pass over all samples. */
static rb_error survey(rb_context *ctx, struct fitting *f) {
    rb_pass pass = {.source = f->source,
                    .share = &f->share,
                    .trees = {&f->tree, f->effects ? &f->effects->tree : NULL},
                    .options = &f->p->options,
                    .checksum = &f->p->checksum,
                    .stored = &f->p->n_stored,
                    .collect = add_rows,
                    .user = f};
    rb_moments_begin(ctx, &f->tree, f->p->n_input);
    rb_error err = rb_pass_run(ctx, &pass);
    if (!err && f->share.together) join_shares(ctx, f);
    f->p->moments = rb_moments_take(&f->tree);
    rb_tree_free(&f->tree);
    return err;
}

/* What it tells. */
static rb_error look_at_survey(rb_context *ctx, struct fitting *f) {
    rb_preprocess *p = f->p;
    rb_error err = RB_OK;
    if (f->ties.values) p->options.centre = rb_ties_choose(ctx, &f->ties);
    p->n_filled = rb_moments_end(p->moments, p->n_input, f->source->n_samples);
    memcpy(f->moments, p->moments, (size_t)p->n_input * sizeof *f->moments);
    remark_on_counts(ctx, f);
    if (f->dropped)
        err = rb_drop_choose(ctx, p->options.drop, p->moments, f->hashes, p->n_input, f->dropped);
    err = rb_share_agree(ctx, &f->share, err);
    if (!err && f->effects) {
        err = rb_regress_fit_solve(ctx, f->effects, f->moments);
        rb_free(p->moments); /* of what is left the blocks tell */
        p->moments = NULL;
    }
    return err;
}

/* ---- what is chosen ---- */

static double variance(const struct fitting *f, int64_t k) {
    const rb_moments *m = &f->moments[k];
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
                    : scale == RB_SCALE_IQR ? f->quantiles[k].quartile_range
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
        p->scale[j] = chosen_scale(f, k);
        if (p->options.centre != RB_CENTRE_NONE) {
            p->centre[j] =
                p->options.centre == RB_CENTRE_MEDIAN ? f->quantiles[k].median : f->moments[k].mean;
        }
        if (p->fill) p->fill[j] = f->quantiles[k].fill;
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
        if (f->moments[k].count == 0) {
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

/* Memory for what the samples tell. */
static rb_error hold(rb_context *ctx, struct fitting *f) {
    const rb_preprocess_options *options = &f->p->options;
    int64_t m = f->p->n_input;
    f->moments = rb_alloc_zero(ctx, m, sizeof *f->moments);
    f->quantiles = rb_alloc_zero(ctx, m, sizeof *f->quantiles);
    if (options->drop) f->dropped = rb_alloc_zero(ctx, m, sizeof *f->dropped);
    if (options->drop > RB_DROP_CONSTANT) f->hashes = rb_alloc_zero(ctx, m, sizeof *f->hashes);
    bool held = f->moments && f->quantiles && (!options->drop || f->dropped) &&
                (options->drop <= RB_DROP_CONSTANT || f->hashes);
    if (held && options->centre == RB_CENTRE_AUTO)
        return rb_ties_begin(ctx, &f->ties, f->source->n_samples, m);
    return held ? RB_OK : RB_ERROR_MEMORY;
}

static void let_go(struct fitting *f) {
    if (f->effects) rb_regress_fit_end(f->effects);
    rb_free(f->ties.values);
    rb_free(f->moments);
    rb_free(f->quantiles);
    rb_free(f->hashes);
    rb_free(f->dropped);
}

static rb_error find_quantiles(rb_context *ctx, struct fitting *f) {
    const rb_preprocess_options *o = &f->p->options;
    bool wanted = o->centre == RB_CENTRE_MEDIAN || o->scale == RB_SCALE_IQR ||
                  o->missing == RB_MISSING_MEDIAN;
    for (int64_t k = 0; k < f->p->n_input; k++)
        f->quantiles[k].fill = f->moments[k].mean;
    return wanted ? rb_quantiles_find(ctx, f->source, &f->share, o, f->effects, f->quantiles)
                  : RB_OK;
}

static rb_error run(rb_context *ctx, struct fitting *f) {
    const rb_preprocess_options *options = &f->p->options;
    f->fills = options->missing == RB_MISSING_MEAN || options->missing == RB_MISSING_MEDIAN;
    rb_error err = survey(ctx, f);
    err = err ? err : look_at_survey(ctx, f);
    err = err ? err : find_quantiles(ctx, f);
    if (!err && f->fills) warn_of_empty(ctx, f);
    for (int64_t k = 0; !err && f->fills && k < f->p->n_input; k++)
        rb_moments_join(&f->moments[k], f->moments[k].missing, f->quantiles[k].fill, 0);
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
    return rb_regress_fit_begin(ctx, p->regress, f->source, &f->share, &p->options, effects);
}

/* totals=median becomes a number. */
static rb_error find_totals(rb_context *ctx, rb_source *source, const rb_share *share,
                            double *totals) {
    if (!isinf(*totals)) return RB_OK;
    rb_error err = rb_median_total(ctx, source, share, totals);
    if (err) return err;
    if (*totals == 0) {
        return rb_fail(
            ctx, RB_ERROR_DATA,
            "`totals` is 'median', but no sample has a finite total above 0; leave it out");
    }
    rb_log(ctx, RB_LOG_INFO, "totals: the median, %.10g", *totals);
    return RB_OK;
}

/* What is wrong before a sample is read. */
static rb_error check(rb_context *ctx, const rb_preprocess_options *options,
                      const rb_source *source) {
    rb_error err = rb_rows_check(ctx, rb_preprocess_group.rows, options);
    if (err) return err;
    if (source->n_samples == 0 || source->n_features == 0) {
        return rb_fail(ctx, RB_ERROR_DATA, "there is nothing to fit: %lld samples x %lld features",
                       (long long)source->n_samples, (long long)source->n_features);
    }
    if (source->n_samples == 1 && options->centre != RB_CENTRE_NONE) {
        return rb_fail(ctx, RB_ERROR_DATA,
                       "centring needs at least 2 samples, but the data have 1 sample of %lld "
                       "features; is the file transposed?",
                       (long long)source->n_features);
    }
    return rb_check_levels(ctx, options, source);
}

static rb_error fit(rb_context *ctx, const rb_preprocess_options *options, rb_source *source,
                    bool together, rb_preprocess **out) {
    rb_preprocess_options chosen;
    rb_rows_default(rb_preprocess_group.rows, &chosen);
    chosen = options ? *options : chosen;
    *out = NULL;
    rb_error err = check(ctx, &chosen, source);
    if (err) return err;
    const rb_share share = rb_share_of(ctx, source, together);
    err = find_totals(ctx, source, &share, &chosen.totals);
    if (err) return err;
    rb_preprocess *p = rb_alloc_zero(ctx, 1, sizeof *p);
    struct fitting f = {.p = p, .source = source, .share = share};
    rb_regress_fit effects = {0};
    if (p) {
        p->options = chosen;
        p->n_input = source->n_features;
        err = begin_effects(ctx, &f, &effects);
        err = err ? err : hold(ctx, &f);
    }
    err = rb_share_agree(ctx, &f.share, p ? err : RB_ERROR_MEMORY);
    err = err ? err : run(ctx, &f);
    let_go(&f);
    if (err) rb_preprocess_free(p);
    *out = err ? NULL : p;
    return err;
}

rb_error rb_preprocess_fit(rb_context *ctx, const rb_preprocess_options *options, rb_source *source,
                           rb_preprocess **out) {
    return fit(ctx, options, source, false, out);
}

rb_error rb_preprocess_fit_together(rb_context *ctx, const rb_preprocess_options *options,
                                    rb_source *source, rb_preprocess **out) {
    return fit(ctx, options, source, true, out);
}
