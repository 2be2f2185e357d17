/* From codes and loadings to modules.
 *
 * Symbols: mu (n x l) codes, W (m x l) loadings, psi (m) noise variances.
 *   rms_j = sqrt(1/n sum_i mu_ij^2),  z_ij = mu_ij / rms_j,  l_kj = W_kj rms_j,  so z l' = mu W'.
 *   information of unit j:  sum_i 1/2 log(1 + z_ij^2 l_j' Psi^-1 l_j), in nats
 *   weight rule:            feature k belongs to unit j when
 *                           |l_kj| > sqrt(sum_j |l_j|^2 |z_j|^2 / (n m l)) / feature_threshold
 *   fabia rule:             sample i belongs when |z_ij| > sample_threshold, features by the
 *                           weight rule
 *   nonzero rule:           sample i belongs when z_ij is not 0, features by the weight rule
 *   active rule:            sample i belongs when mu_ij > 1/2, the probability that a binary cause
 *                           is active; features by the weight rule
 *   top and mass:           the largest z_ij and l_kj, cut by rb_rule_cut
 * S. Hochreiter et al., "FABIA: factor analysis for bicluster acquisition", Bioinformatics 26
 * (2010), doi:10.1093/bioinformatics/btq227 has the information content and the fabia rule.
 *
 * 1. One pass over the codes: |mu_j|^2 and the information of every unit. Both, and the threshold
 * of the weight rule, are the same for (z, l) as for (mu, W), so rms need not be known before.
 * 2. Units are ranked by information, the best are kept; a unit whose codes are all 0 has no
 * module.
 * 3. A second pass collects the members of the units that are kept. Memory is O(l + members): the
 * codes are never kept. `mass` keeps every non-zero code until it can cut, `top` at most twice what
 * it asks.
 */
#include "analysis.h"

#include <math.h>
#include <stdlib.h>

static double code_at(const rb_matrix *rows, int64_t sample, int64_t unit) {
    int64_t at = sample * rows->row_stride + unit * rows->column_stride;
    return rb_get(rows->type, rows->values, at);
}

/* ---- 1. the first pass ---- */

/* One value of each array a unit. */
typedef struct survey {
    int64_t n_samples, n_units;
    double *signal; /* W_j' Psi^-1 W_j */
    double *weight; /* |W_j|^2 */
    double *code;   /* |mu_j|^2 */
    double *information;
    bool negative; /* is any code below 0? */
} survey;

static void survey_clear(survey *s) {
    rb_free(s->signal);
    rb_free(s->weight);
    rb_free(s->code);
    rb_free(s->information);
}

static rb_error survey_start(rb_context *ctx, const rb_modules_input *input, survey *s) {
    int64_t l = input->n_units;
    *s = (survey){.n_units = l};
    s->signal = rb_alloc_zero(ctx, l, sizeof(double));
    s->weight = rb_alloc_zero(ctx, l, sizeof(double));
    s->code = rb_alloc_zero(ctx, l, sizeof(double));
    s->information = rb_alloc_zero(ctx, l, sizeof(double));
    if (!s->signal || !s->weight || !s->code || !s->information) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t k = 0; k < input->n_features; k++) {
        for (int64_t j = 0; j < l; j++) {
            double w = input->loadings[k * l + j];
            s->weight[j] += w * w;
            s->signal[j] += w * w / input->noise[k];
        }
    }
    return RB_OK;
}

static rb_error survey_rows(void *user, int64_t first, const rb_matrix *rows) {
    survey *s = user;
    for (int64_t i = 0; i < rows->n_samples; i++) {
        for (int64_t j = 0; j < s->n_units; j++) {
            double mu = code_at(rows, i, j);
            if (mu != 0) {
                s->code[j] += mu * mu;
                s->information[j] += 0.5 * log1p(mu * mu * s->signal[j]);
                s->negative |= mu < 0;
            }
        }
    }
    s->n_samples = first + rows->n_samples;
    return RB_OK;
}

/* ---- 2. ranks ---- */

typedef struct ranked {
    double information;
    int64_t unit;
} ranked;

static int by_information(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->information != y->information) {
        return x->information > y->information ? -1 : 1;
    }
    return (x->unit > y->unit) - (x->unit < y->unit);
}

/* Empty modules of the best units with any code, ranked. */
static rb_error rank_units(rb_context *ctx, const survey *s, int64_t best, rb_modules **modules) {
    ranked *order = rb_alloc(ctx, s->n_units, sizeof *order);
    if (!order) {
        return RB_ERROR_MEMORY;
    }
    int64_t count = 0;
    for (int64_t j = 0; j < s->n_units; j++) {
        if (s->code[j] > 0) {
            order[count++] = (ranked){s->information[j], j};
        }
    }
    if (count < s->n_units) {
        rb_log(ctx, RB_LOG_INFO, "%lld of %lld units are active in no sample and have no module",
               (long long)(s->n_units - count), (long long)s->n_units);
    }
    qsort(order, (size_t)count, sizeof *order, by_information);
    count = best > 0 && best < count ? best : count;
    rb_error err = rb_modules_new(ctx, count, modules);
    for (int64_t r = 0; r < count && !err; r++) {
        (*modules)->list[r].unit = order[r].unit;
        (*modules)->list[r].information = order[r].information;
    }
    rb_free(order);
    return err;
}

/* ---- 3. members ---- */

/* Members of one side of a module while they are collected. */
typedef struct roll {
    rb_member *members;
    int64_t count, capacity;
} roll;

/* Adds a member; with top:N the roll is cut to the N largest whenever it holds twice as many. */
static rb_error roll_add(rb_context *ctx, const rb_rule *rule, roll *r, int64_t index,
                         double weight) {
    if (rule->kind == RB_RULE_TOP && r->count / 2 >= rule->top) {
        rb_members_sort(r->members, r->count);
        r->count = rule->top;
    }
    if (r->count == r->capacity) {
        int64_t capacity = r->capacity ? 2 * r->capacity : 16;
        rb_member *members = rb_grow(ctx, r->members, r->count, capacity, sizeof *members);
        if (!members) {
            return RB_ERROR_MEMORY;
        }
        r->members = members;
        r->capacity = capacity;
    }
    r->members[r->count++] = (rb_member){index, weight};
    return RB_OK;
}

/* Hands the members over, sorted and cut. */
static void roll_finish(const rb_rule *rule, roll *r, rb_member **members, int64_t *count) {
    rb_members_sort(r->members, r->count);
    *members = r->members;
    *count = rb_rule_cut(rule, r->members, r->count);
    *r = (roll){0};
}

typedef struct gathering {
    rb_context *ctx;
    const rb_rule *rule;
    const rb_modules *modules;
    const double *rms; /* of each module's unit */
    roll *rolls;       /* the samples of each module */
    double sample_threshold;
} gathering;

static bool belongs(const gathering *g, double mu, double z) {
    switch (g->rule->kind) {
    case RB_RULE_FABIA:
        return fabs(z) > g->sample_threshold;
    case RB_RULE_ACTIVE:
        return mu > 0.5;
    case RB_RULE_NONZERO:
    case RB_RULE_TOP:
    case RB_RULE_MASS:
        break;
    }
    return fabs(z) > 0;
}

static rb_error gather_rows(void *user, int64_t first, const rb_matrix *rows) {
    gathering *g = user;
    for (int64_t i = 0; i < rows->n_samples; i++) {
        for (int64_t r = 0; r < g->modules->count; r++) {
            double mu = code_at(rows, i, g->modules->list[r].unit), z = mu / g->rms[r];
            rb_error err =
                belongs(g, mu, z) ? roll_add(g->ctx, g->rule, &g->rolls[r], first + i, z) : RB_OK;
            if (err) {
                return err;
            }
        }
    }
    return RB_OK;
}

static rb_error gather_samples(rb_context *ctx, const rb_modules_input *input, const rb_rule *rule,
                               double threshold, const double *rms, rb_modules *modules) {
    roll *rolls = rb_alloc_zero(ctx, modules->count, sizeof *rolls);
    if (!rolls) {
        return RB_ERROR_MEMORY;
    }
    gathering g = {ctx, rule, modules, rms, rolls, threshold};
    rb_error err = input->walk(input->state, ctx, gather_rows, &g);
    for (int64_t r = 0; r < modules->count; r++) {
        roll_finish(rule, &rolls[r], &modules->list[r].samples, &modules->list[r].n_samples);
    }
    rb_free(rolls);
    return err;
}

/* The loading above which a feature belongs. */
static double weight_threshold(const survey *s, const rb_modules_input *input, double divisor) {
    double sum = 0;
    for (int64_t j = 0; j < s->n_units; j++) {
        sum += s->weight[j] * s->code[j];
    }
    double cells = (double)s->n_samples * (double)input->n_features * (double)s->n_units;
    return sqrt(sum / cells) / divisor;
}

static rb_error gather_features(rb_context *ctx, const rb_modules_input *input, const rb_rule *rule,
                                double above, double rms, rb_module *m) {
    roll r = {0};
    rb_error err = RB_OK;
    for (int64_t k = 0; k < input->n_features && !err; k++) {
        double l = input->loadings[k * input->n_units + m->unit] * rms;
        if (fabs(l) > above) {
            err = roll_add(ctx, rule, &r, k, l);
        }
    }
    roll_finish(rule, &r, &m->features, &m->n_features);
    return err;
}

static rb_error gather(rb_context *ctx, const rb_modules_input *input, const survey *s,
                       const rb_modules_options *options, const rb_rule *rule,
                       rb_modules *modules) {
    double *rms = rb_alloc(ctx, modules->count, sizeof *rms);
    if (!rms) {
        return RB_ERROR_MEMORY;
    }
    for (int64_t r = 0; r < modules->count; r++) {
        rms[r] = sqrt(s->code[modules->list[r].unit] / (double)s->n_samples);
    }
    bool by_threshold = rule->kind != RB_RULE_TOP && rule->kind != RB_RULE_MASS;
    double above = by_threshold ? weight_threshold(s, input, options->feature_threshold) : 0;
    rb_error err = gather_samples(ctx, input, rule, options->sample_threshold, rms, modules);
    for (int64_t r = 0; r < modules->count && !err; r++) {
        err = gather_features(ctx, input, rule, above, rms[r], &modules->list[r]);
    }
    rb_free(rms);
    return err;
}

/* ---- all of it ---- */

/* The rule that suits the codes and loadings. */
static const char *choose_rule(rb_context *ctx, const rb_modules_input *input, const survey *s) {
    const char *rule = "nonzero", *reason = "no code is negative";
    if (input->probabilities) {
        rule = "active";
        reason = "codes are probabilities of binary causes";
    } else if (input->sparse_loadings) {
        rule = "fabia";
        reason = "the loadings are sparse";
    } else if (s->negative) {
        rule = "fabia";
        reason = "codes have signs";
    }
    rb_log(ctx, RB_LOG_INFO, "rule %s, since %s", rule, reason);
    return rule;
}

static rb_error extract(rb_context *ctx, const rb_modules_input *input, survey *s,
                        const rb_modules_options *options, rb_modules **modules) {
    rb_rule rule;
    const char *text = options->rule;
    rb_error err = survey_start(ctx, input, s);
    err = err ? err : input->walk(input->state, ctx, survey_rows, s);
    if (!err) {
        text = text ? text : choose_rule(ctx, input, s);
        err = rb_rule_parse(ctx, text, &rule);
    }
    err = err ? err : rank_units(ctx, s, options->best, modules);
    if (err) {
        return err;
    }
    (*modules)->rule = rb_copy_text(ctx, text);
    err = (*modules)->rule ? gather(ctx, input, s, options, &rule, *modules) : RB_ERROR_MEMORY;
    if (err) {
        rb_modules_free(*modules);
        *modules = NULL;
    }
    return err;
}

/* The rule that was asked for, before the work. */
static rb_error check_rule(rb_context *ctx, const rb_modules_input *input, const char *text) {
    rb_rule rule;
    rb_error err = text ? rb_rule_parse(ctx, text, &rule) : RB_OK;
    if (!err && text && rule.kind == RB_RULE_ACTIVE && !input->probabilities) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "rule 'active' is for models of binary causes, whose codes are "
                      "probabilities; choose nonzero, fabia, top:N or mass:F");
    }
    return err;
}

rb_error rb_modules_extract(rb_context *ctx, const rb_modules_input *input,
                            const rb_modules_options *options, rb_modules **modules) {
    survey s;
    *modules = NULL;
    rb_error err = rb_rows_check(ctx, rb_modules_group()->rows, options);
    err = err ? err : check_rule(ctx, input, options->rule);
    if (err) {
        return err;
    }
    err = extract(ctx, input, &s, options, modules);
    survey_clear(&s);
    return err;
}
