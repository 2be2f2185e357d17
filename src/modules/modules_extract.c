/* From codes and loadings to modules.
 *
 * Symbols: mu (n x l) codes, W (m x l) loadings, psi (m) noise variances.
 *   rms_j = sqrt(1/n sum_i mu_ij^2),  z_ij = mu_ij / rms_j,  l_kj = W_kj rms_j,  so z l' = mu W'.
 *   information of unit j:  sum_i 1/2 log(1 + z_ij^2 l_j' Psi^-1 l_j), in nats; of method fabia
 *                           with its prior's variance min(1, |mu_ij|), mu and W before they are
 *                           scaled, for z_ij^2
 *   weight rule:            feature k belongs to unit j when
 *                           |l_kj| > sqrt(sum_j |l_j|^2 |z_j|^2 / (n m l)) / feature_threshold
 *   fabia rule:             sample i belongs when |z_ij| > sample_threshold, features by the weight
 *                           rule
 *   nonzero rule:           sample i belongs when z_ij is not 0, features by the weight rule
 *   active rule:            sample i belongs when mu_ij > 1/2, the probability that a binary cause
 *                           is active, or where causes have other values, when |mu_ij| is above
 *                           half of the least of them; features by the weight rule
 *   test rule:              members_test.c
 *   top and mass:           the largest z_ij and l_kj, cut by rb_rule_cut
 *   sides:                  by the rules fabia, active and test the samples of a module have codes
 *                           of one sign. The prevailing side of a unit is that of the larger
 *                           sum_i |z_ij|^3. The other one is a module of its own where its n codes
 *                           have heavier tails than half a normal distribution, by two standard
 *                           errors:
 *                               n sum z^2 / (sum |z|)^2 > pi / 2 + 1.67 / sqrt(n)
 *                           Loadings of a negative side are turned over: above 0 a feature is up.
 *   spare, background:      role.c, of units whose codes are to be mostly 0
 *   one module, mirrors:    modules_units.c, by the test. A module has the samples of all its units
 *                           where codes are not negative
 * S. Hochreiter et al., "FABIA: factor analysis for bicluster acquisition", Bioinformatics 26
 * (2010), doi:10.1093/bioinformatics/btq227 has the information content and the fabia rule.
 *
 * 1. One pass over the codes: |mu_j|^2 and the information of every unit. Both, and the threshold
 * of the weight rule, are the same for (z, l) as for (mu, W), so rms need not be known before.
 * 2. Units are ranked by information; a unit whose codes are all 0 has no module. The test knows
 * the features F of a unit beforehand, and has what its codes tell of their loadings, too, as
 * samples and features change places,
 *     sum_k in F 1/2 log(1 + sum_i z_ij^2 l_kj^2 / psi_k),
 * and ranks by the smaller of the two, with the codes and loadings of members_recode.c: a unit that
 * nearly all samples have, such as that of the features' means, may have much information without a
 * single feature of its own. It takes two more passes. Of this a side has its share of
 * sum_i |z_ij|^3. Spare units come behind modules, and background last.
 * 3. A second pass collects the members; tests need those of modules that are not shown, too.
 * Memory is O(l + members), 2 kB a feature for the test, and the codes, where they are kept
 * (model/encoded.c). `mass` keeps every
 * non-zero code until it can cut, `top` at most twice what it asks.
 */
#include "extraction.h"

#include <math.h>
#include <stdlib.h>

/* With as few the test still finds planted modules better (docs/measurements/modules.md). With
 * fewer hardly any code is surely large, and it leaves most samples out. */
enum { TEST_FEATURES = 25, FEW_FEATURES = 100 };

/* What becomes a module: a unit, or one side of it. */
typedef struct reading {
    int64_t rank; /* of the unit */
    int side;
    rb_module_note note;
    int64_t lead; /* the reading that has its samples, too; or -1 */
} reading;

/* Samples or features of a module while they are collected. */
typedef struct roll {
    rb_member *members;
    int64_t count, capacity;
} roll;

/* ---- 1. the first pass ---- */

static void start_units(extraction *e) {
    const rb_modules_input *input = e->input;
    for (int64_t k = 0; k < input->n_features; k++) {
        for (int64_t j = 0; j < input->n_units; j++) {
            double w = input->loadings[k * input->n_units + j];
            e->units[j].weight += w * w;
            rb_powers_add(&e->units[j].loadings, fabs(w) / sqrt(input->noise[k]));
        }
    }
}

/* What the variance of a factor is taken to be where it has this code. */
static double factor_variance(const rb_modules_input *input, int64_t j, double mu) {
    if (!input->scale) return mu * mu;
    return fmin(fabs(mu), 1 / input->scale[j]) / input->scale[j];
}

static void add_code(unit *u, double mu, double information) {
    rb_powers_add(&u->halves[mu < 0 ? NEGATIVE : POSITIVE], fabs(mu));
    u->code += mu * mu;
    u->information += information;
}

static rb_error survey_rows(void *user, int64_t first, const rb_matrix *rows) {
    extraction *e = user;
    for (int64_t i = 0; i < rows->n_samples; i++) {
        for (int64_t j = 0; j < e->input->n_units; j++) {
            unit *u = &e->units[j];
            double mu = rb_matrix_at(rows, i, j);
            if (mu != 0) {
                add_code(u, mu, 0.5 * log1p(factor_variance(e->input, j, mu) * u->loadings.square));
                e->negative |= mu < 0;
                e->nonzero++;
            }
        }
    }
    e->n_samples = first + rows->n_samples;
    return RB_OK;
}

static rb_error survey_block(void *user, const rb_block *block, const rb_matrix *codes) {
    extraction *e = user;
    rb_error err = survey_rows(e, block->first, codes);
    return err ? err : rb_refit_add(e->ctx, e->refit, block, codes);
}

/* With sums for the test where it may be asked for. */
static rb_error survey(extraction *e, bool test) {
    const rb_modules_input *input = e->input;
    start_units(e);
    if (!test) return input->walk(input->state, e->ctx, survey_rows, e);
    rb_error err =
        rb_refit_new(e->ctx, input->n_features, input->n_units, input->resting, &e->refit);
    return err ? err : input->walk_blocks(input->state, e->ctx, survey_block, e);
}

/* ---- 2. ranks ---- */

static void rank_units(extraction *e) {
    int64_t n = e->input->n_units, count = 0;
    double sum = 0, cells = (double)e->n_samples * (double)e->input->n_features * (double)n;
    for (int64_t j = 0; j < n; j++) {
        unit *u = &e->units[j];
        u->index = j;
        u->lead = -1;
        u->rms = sqrt(u->code / (double)e->n_samples);
        u->worth = u->information;
        sum += u->weight * u->code;
        count += u->code > 0;
    }
    bool by_threshold = e->rule.kind != RB_RULE_TOP && e->rule.kind != RB_RULE_MASS;
    e->living = count;
    e->above = by_threshold ? sqrt(sum / cells) / e->options->feature_threshold : 0;
    if (count < n) {
        rb_log(e->ctx, RB_LOG_INFO, "%lld of %lld units are active in no sample and have no module",
               (long long)(n - count), (long long)n);
    }
    qsort(e->units, (size_t)n, sizeof *e->units, rb_by_worth);
}

/* Does a side of a unit stand by itself? */
static bool stands(const rb_powers *h) {
    double n = h->active;
    return n * h->square > (M_PI / 2 + 1.67 / sqrt(n)) * h->size * h->size;
}

/* What is no module last, and else the largest score first. */
static int by_score(const void *a, const void *b) {
    const reading *x = a, *y = b;
    int last = (x->note.role >= RB_UNIT_SPARE ? (int)x->note.role : 0) -
               (y->note.role >= RB_UNIT_SPARE ? (int)y->note.role : 0);
    if (last != 0) return last;
    if (x->note.score != y->note.score) return x->note.score > y->note.score ? -1 : 1;
    if (x->rank != y->rank) return x->rank > y->rank ? 1 : -1;
    return (int)x->note.role - (int)y->note.role;
}

static reading read_side(const unit *u, int64_t rank, int side, rb_unit_role role) {
    double share = u->halves[side].cube / (u->halves[POSITIVE].cube + u->halves[NEGATIVE].cube);
    return (reading){rank, side, {.score = u->worth * share, .role = role}};
}

/* The modules that the living units give, ranked; how many. readings: twice as many. */
static int64_t read_units(const extraction *e, reading *readings) {
    rb_rule_kind kind = e->rule.kind;
    bool sided =
        e->negative && (kind == RB_RULE_TEST || kind == RB_RULE_FABIA || kind == RB_RULE_ACTIVE);
    int64_t count = 0;
    for (int64_t r = 0; r < e->living; r++) {
        const unit *u = &e->units[r];
        int side = u->halves[NEGATIVE].cube > u->halves[POSITIVE].cube ? NEGATIVE : POSITIVE;
        rb_unit_role role = rb_role_among(e, u);
        reading whole = {r, BOTH, {.score = u->worth, .role = role}};
        readings[count++] = sided ? read_side(u, r, side, role) : whole;
        if (sided && u->lead < 0 && stands(&u->halves[!side]))
            readings[count++] = read_side(u, r, !side, RB_UNIT_OTHER_SIDE);
    }
    qsort(readings, (size_t)count, sizeof *readings, by_score);
    return count;
}

/* The module that has the samples of a spare unit, too: that of its lead, or of the lead of that,
 * where codes have no signs and the more of one goes with the more of the other. Modules come
 * first, so that they have their own samples before. */
static int64_t lead_of(const extraction *e, int64_t r) {
    const unit *u = &e->units[e->readings[r].rank], *lead = u;
    int64_t to = r;
    if (e->negative || u->lead < 0 || e->readings[r].note.role != RB_UNIT_SPARE) return -1;
    while (lead->lead >= 0) {
        for (to = 0; e->units[e->readings[to].rank].index != lead->lead;)
            to++;
        lead = &e->units[e->readings[to].rank];
    }
    bool joins = e->readings[to].note.role == RB_UNIT_MODULE &&
                 rb_refit_correlation(e->refit, u->index, lead->index) >= 0;
    return joins ? to : -1;
}

/* Empty modules, ranked. */
static rb_error rank_modules(extraction *e) {
    e->readings = rb_take(&e->memory, 2 * e->living, sizeof *e->readings);
    if (!e->readings) return e->memory.err;
    int64_t count = read_units(e, e->readings);
    rb_error err = rb_modules_new(e->ctx, count, &e->modules);
    for (int64_t r = 0; r < count && !err; r++) {
        const unit *u = &e->units[e->readings[r].rank];
        e->modules->list[r].unit = u->index;
        e->modules->list[r].information = u->information;
        e->modules->notes[r] = e->readings[r].note;
        e->readings[r].lead = lead_of(e, r);
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

static bool is_active(const extraction *e, double mu) {
    return fabs(mu) > (e->input->halfway > 0 ? e->input->halfway : 0.5);
}

static bool belongs(const extraction *e, double mu, double z) {
    return e->rule.kind == RB_RULE_ACTIVE  ? is_active(e, mu)
           : e->rule.kind == RB_RULE_FABIA ? fabs(z) > e->options->sample_threshold
                                           : fabs(z) > 0;
}

static bool sample_passes(const extraction *e, const unit *u, double mu, double z) {
    if (e->input->probabilities) return is_active(e, mu);
    const rb_powers *h = &u->halves[mu < 0 ? NEGATIVE : POSITIVE];
    double size = h->square / h->size / u->rms;
    return mu != 0 && rb_sample_belongs(z, size, e->deviations[u->column], e->level);
}

/* A sample of several units of a module counts once, with the largest code. */
static rb_error join_lead(const extraction *e, int64_t lead, int64_t index, double weight) {
    roll *r = &e->rolls[lead];
    rb_member *last = r->count > 0 ? &r->members[r->count - 1] : NULL;
    if (!last || last->index != index) return roll_add(e, r, index, weight);
    last->weight = fmax(last->weight, weight);
    return RB_OK;
}

static rb_error gather_rows(void *user, int64_t first, const rb_matrix *rows) {
    const extraction *e = user;
    rb_error err = RB_OK;
    for (int64_t i = 0; i < rows->n_samples; i++) {
        for (int64_t r = 0; r < e->modules->count && !err; r++) {
            const reading *read = &e->readings[r];
            const unit *u = &e->units[read->rank];
            double mu = rb_matrix_at(rows, i, u->index), z = mu / u->rms;
            bool here = read->side == BOTH || (read->side == NEGATIVE) == (mu < 0);
            bool in = here && (e->rule.kind == RB_RULE_TEST ? sample_passes(e, u, mu, z)
                                                            : belongs(e, mu, z));
            err = in ? roll_add(e, &e->rolls[r], first + i, z) : RB_OK;
            if (in && !err && read->lead >= 0) err = join_lead(e, read->lead, first + i, z);
        }
    }
    return err;
}

static rb_error gather_features(const extraction *e, int64_t rank) {
    const rb_modules_input *input = e->input;
    rb_module *m = &e->modules->list[rank];
    const unit *u = &e->units[e->readings[rank].rank];
    double turned = e->readings[rank].side == NEGATIVE ? -u->rms : u->rms;
    roll r = {0};
    rb_error err = RB_OK;
    for (int64_t k = 0; k < input->n_features && !err; k++) {
        double l = input->loadings[k * input->n_units + m->unit] * turned;
        bool in =
            e->features ? l != 0 && e->features[k * e->tested + u->column] : fabs(l) > e->above;
        err = in ? roll_add(e, &r, k, l) : RB_OK;
    }
    roll_finish(e, &r, &m->features, &m->n_features);
    return err;
}

static rb_error gather(extraction *e) {
    e->rolls = rb_take(&e->memory, e->modules->count, sizeof *e->rolls);
    rb_error err = e->memory.err;
    err = err ? err : e->input->walk(e->input->state, e->ctx, gather_rows, e);
    for (int64_t r = 0; e->rolls && r < e->modules->count; r++) {
        rb_module *m = &e->modules->list[r];
        roll_finish(e, &e->rolls[r], &m->samples, &m->n_samples);
        err = err ? err : gather_features(e, r);
    }
    for (int64_t r = e->modules->count - 1; r >= 0 && !err; r--)
        if (e->modules->notes[r].role == RB_UNIT_OTHER_SIDE && e->modules->list[r].n_samples == 0)
            rb_modules_remove(e->modules, r);
    if (e->options->best > 0 && e->options->best < e->modules->count)
        e->modules->count = e->options->best;
    return err;
}

/* ---- all of it ---- */

/* Does an option ask for the rules that have thresholds? */
static bool has_thresholds(const rb_modules_options *options) {
    return options->sample_threshold != 0.5 || options->feature_threshold != 0.7;
}

/* Enough features for the test; whether it can be made is known after the first pass. */
static bool may_test(const extraction *e) {
    bool open = !e->options->rule && !has_thresholds(e->options) && !e->input->probabilities;
    return e->rule.kind == RB_RULE_TEST || (open && e->input->n_features >= TEST_FEATURES);
}

static int64_t count_living(const extraction *e) {
    int64_t living = 0;
    for (int64_t j = 0; j < e->input->n_units; j++)
        living += e->units[j].code > 0;
    return living;
}

/* Why the rule test cannot be made; or NULL. */
static const char *why_no_test(const extraction *e) {
    if (has_thresholds(e->options)) return "a threshold is given";
    if (!e->refit) return "there are few features";
    if (rb_refit_freedom(e->refit, count_living(e)) <= 0) return "there are few samples";
    return rb_refit_complete(e->refit) ? NULL : "values are missing";
}

/* Why codes other than 0 say little of who belongs; or NULL. */
static const char *why_not_nonzero(const extraction *e) {
    bool shared = !e->input->sparse_codes && e->nonzero > e->n_samples;
    return e->input->sparse_loadings ? "the loadings are sparse"
           : e->negative             ? "codes have signs"
           : e->input->chances       ? "codes are probabilities"
           : shared                  ? "samples have codes of several units"
                                     : NULL;
}

/* The rule that suits the codes and loadings. */
static const char *choose_rule(const extraction *e) {
    const char *rule = "nonzero", *reason = why_not_nonzero(e);
    const char *no_test = NULL;
    bool halves = e->input->chances && !has_thresholds(e->options);
    if (e->input->probabilities) {
        rule = "active";
        reason = e->input->valued ? "codes are means of the values of causes"
                                  : "codes are probabilities of binary causes";
    } else if (reason) {
        no_test = why_no_test(e);
        rule = !no_test ? "test" : halves ? "active" : "fabia";
    } else {
        reason = "no code is negative";
    }
    rb_log(e->ctx, RB_LOG_INFO, "members by the rule %s, since %s%s%s", rule, reason,
           no_test ? " and " : "", no_test ? no_test : "");
    return rule;
}

/* The option that is given, but that the rule does not look at; or NULL. */
static const char *idle_option(const rb_modules_options *options, const rb_rule *rule,
                               const char **instead) {
    rb_rule_kind kind = rule->kind;
    bool weighs = kind == RB_RULE_NONZERO || kind == RB_RULE_FABIA || kind == RB_RULE_ACTIVE;
    *instead = "fabia";
    if (options->sample_threshold != 0.5 && kind != RB_RULE_FABIA) return "sample-threshold";
    if (options->feature_threshold != 0.7 && !weighs) return "feature-threshold";
    *instead = "test";
    return options->level != 0 && kind != RB_RULE_TEST ? "level" : NULL;
}

/* A threshold that the rule does not look at is refused. */
static rb_error read_rule(rb_context *ctx, const rb_modules_options *options, const char *text,
                          rb_rule *rule) {
    const char *instead;
    rb_error err = rb_rule_parse(ctx, text, rule);
    const char *idle = err ? NULL : idle_option(options, rule, &instead);
    if (idle) {
        err = rb_fail(ctx, RB_ERROR_ARGUMENT,
                      "`%s` does nothing with the rule %s; leave it out, or give `rule=%s`", idle,
                      text, instead);
    }
    return err;
}

static rb_error extract(extraction *e) {
    const char *text = e->options->rule;
    rb_error err = survey(e, may_test(e));
    if (err) return err;
    text = text ? text : choose_rule(e);
    err = read_rule(e->ctx, e->options, text, &e->rule);
    if (!err) rank_units(e);
    if (!err && e->rule.kind == RB_RULE_TEST && e->living > 0) err = rb_test_units(e);
    err = err ? err : rank_modules(e);
    if (err) return err;
    e->modules->rule = rb_copy_text(e->ctx, text);
    return e->modules->rule ? gather(e) : RB_ERROR_MEMORY;
}

/* The rule that was asked for, before the work. */
static rb_error check_rule(extraction *e) {
    const char *text = e->options->rule;
    rb_error err = text ? read_rule(e->ctx, e->options, text, &e->rule) : RB_OK;
    bool chances = e->input->probabilities || e->input->chances;
    if (!err && text && e->rule.kind == RB_RULE_ACTIVE && !chances) {
        err = rb_fail(e->ctx, RB_ERROR_ARGUMENT,
                      "rule 'active' needs codes that are probabilities, of binary causes or "
                      "units; choose nonzero, fabia, test, top:N or mass:F");
    }
    return err;
}

rb_error rb_information_of(rb_context *ctx, const rb_modules_input *input, double *information) {
    extraction e = {.ctx = ctx, .memory.ctx = ctx, .input = input};
    e.units = rb_take(&e.memory, input->n_units, sizeof *e.units);
    rb_error err = e.units ? survey(&e, false) : e.memory.err;
    for (int64_t j = 0; !err && j < input->n_units; j++)
        information[j] = e.units[j].information;
    rb_scratch_end(&e.memory);
    return err;
}

rb_error rb_modules_extract(rb_context *ctx, const rb_modules_input *input,
                            const rb_modules_options *options, rb_modules **modules) {
    double level = input->n_features < FEW_FEATURES ? 0.2 : 0.1;
    extraction e = {.ctx = ctx,
                    .memory.ctx = ctx,
                    .input = input,
                    .options = options,
                    .level = options->level > 0 ? options->level : level};
    *modules = NULL;
    rb_error err = rb_rows_check(ctx, rb_modules_group()->rows, options);
    err = err ? err : check_rule(&e);
    if (err) return err;
    e.units = rb_take(&e.memory, input->n_units, sizeof *e.units);
    err = e.units ? extract(&e) : e.memory.err;
    rb_refit_free(e.refit);
    rb_refit_free(e.recoded);
    rb_scratch_end(&e.memory);
    if (err) {
        rb_modules_free(e.modules);
        return err;
    }
    *modules = e.modules;
    return RB_OK;
}
