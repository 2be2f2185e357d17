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

/* What is known of a unit after the first pass. */
typedef struct unit {
    int64_t index;
    double signal; /* W_j' Psi^-1 W_j */
    double weight; /* |W_j|^2 */
    double code;   /* |mu_j|^2 */
    double rms;    /* of its codes */
    double information;
} unit;

/* Members of one side of a module while they are collected. */
typedef struct roll {
    rb_member *members;
    int64_t count, capacity;
} roll;

typedef struct extraction {
    rb_context *ctx;
    const rb_modules_input *input;
    const rb_modules_options *options;
    rb_rule rule;
    unit *units; /* ranked once the first pass is done */
    int64_t n_samples;
    bool negative; /* is any code below 0? */
    double above;  /* the weight rule: the loading above which a feature belongs */
    rb_modules *modules;
    roll *rolls; /* the samples of each module */
} extraction;

/* ---- 1. the first pass ---- */

static void start_units(extraction *e) {
    const rb_modules_input *input = e->input;
    for (int64_t k = 0; k < input->n_features; k++) {
        for (int64_t j = 0; j < input->n_units; j++) {
            double w = input->loadings[k * input->n_units + j];
            e->units[j].weight += w * w;
            e->units[j].signal += w * w / input->noise[k];
        }
    }
}

static rb_error survey_rows(void *user, int64_t first, const rb_matrix *rows) {
    extraction *e = user;
    for (int64_t i = 0; i < rows->n_samples; i++) {
        for (int64_t j = 0; j < e->input->n_units; j++) {
            unit *u = &e->units[j];
            double mu = rb_matrix_at(rows, i, j);
            if (mu != 0) {
                u->code += mu * mu;
                u->information += 0.5 * log1p(mu * mu * u->signal);
                e->negative |= mu < 0;
            }
        }
    }
    e->n_samples = first + rows->n_samples;
    return RB_OK;
}

/* ---- 2. ranks ---- */

/* Units without any code come last. */
static int by_information(const void *a, const void *b) {
    const unit *x = a, *y = b;
    if ((x->code > 0) != (y->code > 0)) return x->code > 0 ? -1 : 1;
    if (x->information != y->information) return x->information > y->information ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Empty modules of the best units with any code. */
static rb_error rank_units(extraction *e) {
    int64_t n = e->input->n_units, count = 0, best = e->options->best;
    double sum = 0, cells = (double)e->n_samples * (double)e->input->n_features * (double)n;
    for (int64_t j = 0; j < n; j++) {
        unit *u = &e->units[j];
        u->index = j;
        u->rms = sqrt(u->code / (double)e->n_samples);
        sum += u->weight * u->code;
        count += u->code > 0;
    }
    bool by_threshold = e->rule.kind != RB_RULE_TOP && e->rule.kind != RB_RULE_MASS;
    e->above = by_threshold ? sqrt(sum / cells) / e->options->feature_threshold : 0;
    if (count < n) {
        rb_log(e->ctx, RB_LOG_INFO, "%lld of %lld units are active in no sample and have no module",
               (long long)(n - count), (long long)n);
    }
    qsort(e->units, (size_t)n, sizeof *e->units, by_information);
    count = best > 0 && best < count ? best : count;
    rb_error err = rb_modules_new(e->ctx, count, &e->modules);
    for (int64_t r = 0; r < count && !err; r++) {
        e->modules->list[r].unit = e->units[r].index;
        e->modules->list[r].information = e->units[r].information;
    }
    return err;
}

/* ---- 3. members ---- */

/* Adds a member; with top:N the roll is cut to the N largest whenever it holds twice as many. */
static rb_error roll_add(const extraction *e, roll *r, int64_t index, double weight) {
    if (e->rule.kind == RB_RULE_TOP && r->count / 2 >= e->rule.top) {
        rb_members_sort(r->members, r->count);
        r->count = e->rule.top;
    }
    rb_member *members = rb_reserve(e->ctx, r->members, r->count, 1, &r->capacity, sizeof *members);
    if (!members) return RB_ERROR_MEMORY;
    r->members = members;
    r->members[r->count++] = (rb_member){index, weight};
    return RB_OK;
}

/* Hands the members over, sorted and cut. */
static void roll_finish(const extraction *e, const roll *r, rb_member **members, int64_t *count) {
    rb_members_sort(r->members, r->count);
    *members = r->members;
    *count = rb_rule_cut(&e->rule, r->members, r->count);
}

static bool belongs(const extraction *e, double mu, double z) {
    return e->rule.kind == RB_RULE_ACTIVE  ? mu > 0.5
           : e->rule.kind == RB_RULE_FABIA ? fabs(z) > e->options->sample_threshold
                                           : fabs(z) > 0;
}

static rb_error gather_rows(void *user, int64_t first, const rb_matrix *rows) {
    const extraction *e = user;
    rb_error err = RB_OK;
    for (int64_t i = 0; i < rows->n_samples; i++) {
        for (int64_t r = 0; r < e->modules->count && !err; r++) {
            const unit *u = &e->units[r];
            double mu = rb_matrix_at(rows, i, u->index), z = mu / u->rms;
            err = belongs(e, mu, z) ? roll_add(e, &e->rolls[r], first + i, z) : RB_OK;
        }
    }
    return err;
}

static rb_error gather_features(const extraction *e, int64_t rank) {
    const rb_modules_input *input = e->input;
    rb_module *m = &e->modules->list[rank];
    roll r = {0};
    rb_error err = RB_OK;
    for (int64_t k = 0; k < input->n_features && !err; k++) {
        double l = input->loadings[k * input->n_units + m->unit] * e->units[rank].rms;
        err = fabs(l) > e->above ? roll_add(e, &r, k, l) : RB_OK;
    }
    roll_finish(e, &r, &m->features, &m->n_features);
    return err;
}

static rb_error gather(extraction *e) {
    e->rolls = rb_alloc_zero(e->ctx, e->modules->count, sizeof *e->rolls);
    rb_error err = RB_ERROR_MEMORY;
    if (e->rolls) err = e->input->walk(e->input->state, e->ctx, gather_rows, e);
    for (int64_t r = 0; e->rolls && r < e->modules->count; r++) {
        rb_module *m = &e->modules->list[r];
        roll_finish(e, &e->rolls[r], &m->samples, &m->n_samples);
        err = err ? err : gather_features(e, r);
    }
    rb_free(e->rolls);
    return err;
}

/* ---- all of it ---- */

/* The rule that suits the codes and loadings. */
static const char *choose_rule(const extraction *e) {
    const char *rule = "nonzero", *reason = "no code is negative";
    if (e->input->probabilities) {
        rule = "active";
        reason = "codes are probabilities of binary causes";
    } else if (e->input->sparse_loadings || e->negative) {
        rule = "fabia";
        reason = e->input->sparse_loadings ? "the loadings are sparse" : "codes have signs";
    }
    rb_log(e->ctx, RB_LOG_INFO, "rule %s, since %s", rule, reason);
    return rule;
}

/* A threshold that the rule does not look at is refused. */
static rb_error read_rule(rb_context *ctx, const rb_modules_options *options, const char *text,
                          rb_rule *rule) {
    rb_error err = rb_rule_parse(ctx, text, rule);
    if (err) return err;
    bool cuts = rule->kind == RB_RULE_TOP || rule->kind == RB_RULE_MASS;
    bool idle_sample = options->sample_threshold != 0.5 && rule->kind != RB_RULE_FABIA;
    if (idle_sample || (cuts && options->feature_threshold != 0.7)) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "%s is given, but does nothing with the rule %s; leave it out, or give "
                      "rule=fabia",
                      idle_sample ? "sample-threshold" : "feature-threshold", text);
    }
    return err;
}

static rb_error extract(extraction *e) {
    const char *text = e->options->rule;
    start_units(e);
    rb_error err = e->input->walk(e->input->state, e->ctx, survey_rows, e);
    if (err) return err;
    text = text ? text : choose_rule(e);
    err = read_rule(e->ctx, e->options, text, &e->rule);
    err = err ? err : rank_units(e);
    if (err) return err;
    e->modules->rule = rb_copy_text(e->ctx, text);
    return e->modules->rule ? gather(e) : RB_ERROR_MEMORY;
}

/* The rule that was asked for, before the work. */
static rb_error check_rule(rb_context *ctx, const rb_modules_input *input,
                           const rb_modules_options *options) {
    const char *text = options->rule;
    rb_rule rule;
    rb_error err = text ? read_rule(ctx, options, text, &rule) : RB_OK;
    if (!err && text && rule.kind == RB_RULE_ACTIVE && !input->probabilities) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "rule 'active' is for models of binary causes, whose codes are "
                      "probabilities; choose nonzero, fabia, top:N or mass:F");
    }
    return err;
}

rb_error rb_modules_extract(rb_context *ctx, const rb_modules_input *input,
                            const rb_modules_options *options, rb_modules **modules) {
    extraction e = {.ctx = ctx, .input = input, .options = options};
    *modules = NULL;
    rb_error err = rb_rows_check(ctx, rb_modules_group()->rows, options);
    err = err ? err : check_rule(ctx, input, options);
    if (err) return err;
    e.units = rb_alloc_zero(ctx, input->n_units, sizeof *e.units);
    err = e.units ? extract(&e) : RB_ERROR_MEMORY;
    rb_free(e.units);
    if (err) {
        rb_modules_free(e.modules);
        return err;
    }
    *modules = e.modules;
    return RB_OK;
}
