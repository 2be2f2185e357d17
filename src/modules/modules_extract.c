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
 *   spare, background:      role.c, of units whose codes are to be mostly 0; by the test scores.c
 *                           says what is spare
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
#include "modules.h"

#include <math.h>
#include <stdlib.h>

/* With as few the test still finds planted modules better (docs/measurements/modules.md). With
 * fewer hardly any code is surely large, and it leaves most samples out. */
enum { TEST_FEATURES = 25 };

enum { POSITIVE, NEGATIVE, BOTH };

/* What is known of a unit after the first pass. */
typedef struct unit {
    int64_t index;
    double weight;                 /* |W_j|^2 */
    double code;                   /* |mu_j|^2 */
    double rms;                    /* of its codes */
    rb_powers loadings, halves[2]; /* of Psi^-1/2 W_j, and of codes of either sign */
    double information;
    double worth;   /* what units are ranked by */
    double share;   /* by normal scores, over what noise may tell */
    int64_t column; /* of the tested units, which it is, or has nearly the codes of */
    bool twin;      /* it has */
} unit;

/* What becomes a module: a unit, or one side of it. */
typedef struct reading {
    int64_t rank; /* of the unit */
    int side;
    rb_module_note note;
} reading;

/* Samples or features of a module while they are collected. */
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
    bool negative;   /* is any code below 0? */
    int64_t nonzero; /* codes that are not 0 */
    double root;     /* the size of a typical entry of a living unit's part of the data */
    double above;    /* the weight rule: the loading above which a feature belongs */
    rb_modules *modules;
    reading *readings; /* of each module */
    roll *rolls;       /* and its samples */
    int64_t living;    /* units, the first ones */
    /* Of the test rule: */
    int64_t tested; /* units of these, which have codes of their own */
    rb_refit *refit, *recoded;
    rb_scores *scores;  /* while they are computed */
    bool scored;        /* units have shares by them */
    bool *features;     /* features x tested: who belongs */
    double *deviations; /* of the codes of each */
} extraction;

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

/* Units without any code come last. */
static int by_worth(const void *a, const void *b) {
    const unit *x = a, *y = b;
    if ((x->code > 0) != (y->code > 0)) return x->code > 0 ? -1 : 1;
    if (x->worth != y->worth) return x->worth > y->worth ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void rank_units(extraction *e) {
    int64_t n = e->input->n_units, count = 0;
    double sum = 0, cells = (double)e->n_samples * (double)e->input->n_features * (double)n;
    for (int64_t j = 0; j < n; j++) {
        unit *u = &e->units[j];
        u->index = j;
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
    qsort(e->units, (size_t)n, sizeof *e->units, by_worth);
}

/* Of the test rule, once units are ranked. Few features on another scale must not decide for all,
 * nor one wrong value: a feature counts for at most MOST times the variance of the median one. */
static rb_error find_root(extraction *e) {
    enum { MOST = 10 };
    const rb_modules_input *input = e->input;
    int64_t m = input->n_features;
    double n = (double)e->n_samples, sum = 0;
    double *variances = rb_alloc(e->ctx, m, sizeof *variances);
    if (!variances) return RB_ERROR_MEMORY;
    for (int64_t k = 0; k < m; k++)
        variances[k] = rb_refit_variance(e->refit, k);
    double median = rb_quantile_in(variances, m, 0.5);
    double most = median > 0 ? MOST * median * n : INFINITY;
    for (int64_t k = 0; k < m; k++) {
        double part = 0;
        for (int64_t j = 0; j < e->living; j++) {
            double w = input->loadings[k * input->n_units + e->units[j].index];
            part += w * w * e->units[j].code;
        }
        sum += fmin(part, most);
    }
    e->root = sqrt(sum / (n * (double)m * (double)e->living));
    rb_free(variances);
    return RB_OK;
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

/* By itself. */
static rb_unit_role role_of(const extraction *e, const unit *u) {
    if (!e->input->sparse_codes || e->negative) return RB_UNIT_MODULE;
    return rb_role_of(&u->halves[POSITIVE], e->n_samples, &u->loadings, e->input->n_features);
}

static rb_unit_role role_among(const extraction *e, const unit *u) {
    rb_unit_role role = role_of(e, u);
    bool single = rb_is_single(&u->halves[POSITIVE]);
    if (e->scored && role != RB_UNIT_BACKGROUND)
        role = u->share > 1 && !single ? RB_UNIT_MODULE : RB_UNIT_SPARE;
    return u->twin && role == RB_UNIT_MODULE ? RB_UNIT_SPARE : role;
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
        rb_unit_role role = role_among(e, u);
        reading whole = {r, BOTH, {.score = u->worth, .role = role}};
        readings[count++] = sided ? read_side(u, r, side, role) : whole;
        if (sided && !u->twin && stands(&u->halves[!side]))
            readings[count++] = read_side(u, r, !side, RB_UNIT_OTHER_SIDE);
    }
    qsort(readings, (size_t)count, sizeof *readings, by_score);
    return count;
}

/* Empty modules, ranked. */
static rb_error rank_modules(extraction *e) {
    e->readings = rb_alloc(e->ctx, 2 * e->living, sizeof *e->readings);
    if (!e->readings) return RB_ERROR_MEMORY;
    int64_t count = read_units(e, e->readings);
    rb_error err = rb_modules_new(e->ctx, count, &e->modules);
    for (int64_t r = 0; r < count && !err; r++) {
        const unit *u = &e->units[e->readings[r].rank];
        e->modules->list[r].unit = u->index;
        e->modules->list[r].information = u->information;
        e->modules->notes[r] = e->readings[r].note;
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
    return mu != 0 && rb_sample_belongs(z, size, e->deviations[u->column], e->options->level);
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
        }
    }
    return err;
}

static rb_error gather_features(const extraction *e, int64_t rank) {
    const rb_modules_input *input = e->input;
    rb_module *m = &e->modules->list[rank];
    const unit *u = &e->units[e->readings[rank].rank];
    roll r = {0};
    rb_error err = RB_OK;
    for (int64_t k = 0; k < input->n_features && !err; k++) {
        double l = input->loadings[k * input->n_units + m->unit] * u->rms;
        bool in =
            e->features ? l != 0 && e->features[k * e->tested + u->column] : fabs(l) > e->above;
        err = in ? roll_add(e, &r, k, l) : RB_OK;
    }
    roll_finish(e, &r, &m->features, &m->n_features);
    return err;
}

/* The information of a unit's codes about the loadings of its features. */
static double information_of_features(const extraction *e, const unit *u) {
    const rb_modules_input *input = e->input;
    double sum = 0;
    for (int64_t k = 0; k < input->n_features; k++) {
        double w = input->loadings[k * input->n_units + u->index];
        if (e->features[k * e->tested + u->column])
            sum += 0.5 * log1p(w * w * u->code / input->noise[k]);
    }
    return sum;
}

/* Binary causes: by the codes of the model, which say what is on. */
static rb_error test_causes(extraction *e, const rb_tested_units *units) {
    rb_membership found = {.sure = e->features};
    rb_error err = rb_refit_features(e->ctx, e->refit, units, e->options->level, &found);
    for (int64_t r = 0; !err && r < e->living; r++) {
        unit *u = &e->units[r];
        u->worth = fmin(u->information, information_of_features(e, u));
    }
    return err;
}

static rb_error add_block(void *user, const rb_block *block, const rb_matrix *codes) {
    extraction *e = user;
    rb_error err = e->scores ? rb_scores_note(e->scores, block) : RB_OK;
    return err ? err : rb_refit_add(e->ctx, e->recoded, block, codes);
}

static rb_error score_block(void *user, const rb_block *block, const rb_matrix *codes) {
    extraction *e = user;
    return rb_scores_add(e->ctx, e->scores, block, codes);
}

/* What the units tell of normal scores, once it is known who belongs. */
static rb_error score_units(extraction *e) {
    const rb_modules_input *input = e->input;
    rb_error err = rb_scores_begin(e->ctx, e->scores, input, e->features);
    err = err ? err : input->walk_blocks(input->state, e->ctx, score_block, e);
    for (int64_t r = 0; !err && r < e->living; r++) {
        unit *u = &e->units[r];
        u->share = rb_scores_share(e->scores, u->column, &u->halves[POSITIVE]);
    }
    e->scored = !err;
    return err;
}

/* By codes that are found anew from the features of which the codes of the model are sure; these
 * belong, too. The level of the first test is not the user's: a larger one must never take a member
 * away. */
static rb_error test_recoded(extraction *e, const rb_tested_units *units) {
    const double first_level = 0.1;
    const rb_modules_input *input = e->input;
    rb_scratch scratch = {.ctx = e->ctx};
    bool *sure = rb_take(&scratch, input->n_features * e->tested, sizeof *sure);
    bool *anew = rb_take(&scratch, input->n_features * e->tested, sizeof *anew);
    double *rms = rb_take(&scratch, e->tested, sizeof *rms);
    rb_membership first = {.sure = sure}, second = {.sure = anew, .belongs = e->features};
    rb_error err = scratch.err;
    err = err ? err : rb_refit_features(e->ctx, e->refit, units, first_level, &first);
    err = err ? err : rb_refit_recode(e->ctx, e->refit, units, sure, !e->negative, &e->recoded);
    if (!err && input->sparse_codes && !e->negative)
        err = rb_scores_new(e->ctx, e->refit, units, &e->scores);
    err = err ? err : input->walk_blocks(input->state, e->ctx, add_block, e);
    for (int64_t r = 0; !err && r < e->tested; r++) {
        rms[r] = rb_refit_rms(e->recoded, units->index[r]);
        if (!(rms[r] > 0)) rms[r] = 1; /* of codes that are all 0: no feature belongs */
    }
    rb_tested_units again = {e->tested, units->index, rms, units->root};
    err = err ? err : rb_refit_features(e->ctx, e->recoded, &again, e->options->level, &second);
    for (int64_t r = 0; !err && r < e->living; r++) {
        unit *u = &e->units[r];
        u->worth = rb_recoded_information(e->recoded, units, u->column, anew);
    }
    for (int64_t at = 0; !err && at < input->n_features * e->tested; at++)
        e->features[at] = e->features[at] || sure[at];
    if (!err && e->scores) err = score_units(e);
    rb_scores_free(e->scores);
    (void)rb_scratch_end(&scratch);
    return err;
}

/* The unit before that has nearly the codes of unit r, and is tested; background stands for none
 * but itself. */
static const unit *first_alike(const extraction *e, int64_t r) {
    static const double ALIKE = 0.8;
    for (int64_t t = 0; t < r; t++) {
        const unit *u = &e->units[t];
        if (u->twin || role_of(e, u) == RB_UNIT_BACKGROUND) continue;
        if (fabs(rb_refit_correlation(e->refit, e->units[r].index, u->index)) > ALIKE) return u;
    }
    return NULL;
}

/* Who belongs by the test. Where units have nearly the same codes their parts of a feature cannot
 * be told apart: the most informative one is tested, and its features are theirs, too. A unit that
 * all samples have, but hardly a feature, is no module: it comes last. */
static rb_error test_units(extraction *e) {
    rb_scratch scratch = {.ctx = e->ctx};
    int64_t *index = rb_take(&scratch, e->living, sizeof *index);
    double *rms = rb_take(&scratch, e->living, sizeof *rms);
    for (int64_t r = 0; !scratch.err && r < e->living; r++) {
        unit *u = &e->units[r];
        const unit *alike = first_alike(e, r);
        u->twin = alike != NULL;
        u->column = alike ? alike->column : e->tested;
        if (alike) continue;
        index[e->tested] = u->index;
        rms[e->tested++] = u->rms;
    }
    e->features = rb_alloc_zero(e->ctx, e->input->n_features * e->tested, sizeof *e->features);
    e->deviations = rb_alloc_zero(e->ctx, e->tested, sizeof *e->deviations);
    rb_error err = scratch.err || (e->features && e->deviations) ? scratch.err : RB_ERROR_MEMORY;
    rb_tested_units units = {e->tested, index, rms, e->root};
    if (!err) err = e->input->probabilities ? test_causes(e, &units) : test_recoded(e, &units);
    err = err ? err : rb_posterior_deviations(e->ctx, e->input, &units, e->deviations);
    if (!err) qsort(e->units, (size_t)e->living, sizeof *e->units, by_worth);
    (void)rb_scratch_end(&scratch);
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
    for (int64_t r = e->modules->count - 1; r >= 0 && !err; r--)
        if (e->modules->notes[r].role == RB_UNIT_OTHER_SIDE && e->modules->list[r].n_samples == 0)
            rb_modules_remove(e->modules, r);
    if (e->options->best > 0 && e->options->best < e->modules->count)
        e->modules->count = e->options->best;
    rb_free(e->rolls);
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
    rb_log(e->ctx, RB_LOG_INFO, "rule %s, since %s%s%s", rule, reason, no_test ? " and " : "",
           no_test ? no_test : "");
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
    return options->level != 0.1 && kind != RB_RULE_TEST ? "level" : NULL;
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

/* Are there enough samples to fit each feature to the codes of the living units? */
static rb_error check_freedom(const extraction *e) {
    if (rb_refit_freedom(e->refit, e->living) > 0) return RB_OK;
    return rb_fail(e->ctx, RB_ERROR_ARGUMENT,
                   "the rule test needs at least %lld samples for %lld units, but there are %lld; "
                   "choose another `rule`",
                   (long long)e->living + 2, (long long)e->living, (long long)e->n_samples);
}

static rb_error extract(extraction *e) {
    const char *text = e->options->rule;
    rb_error err = survey(e, may_test(e));
    if (err) return err;
    text = text ? text : choose_rule(e);
    err = read_rule(e->ctx, e->options, text, &e->rule);
    if (!err) rank_units(e);
    if (!err && e->rule.kind == RB_RULE_TEST && e->living > 0) {
        err = check_freedom(e);
        err = err ? err : find_root(e);
        err = err ? err : test_units(e);
    }
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
    extraction e = {.ctx = ctx, .input = input};
    e.units = rb_alloc_zero(ctx, input->n_units, sizeof *e.units);
    rb_error err = e.units ? survey(&e, false) : RB_ERROR_MEMORY;
    for (int64_t j = 0; !err && j < input->n_units; j++)
        information[j] = e.units[j].information;
    rb_free(e.units);
    return err;
}

rb_error rb_modules_extract(rb_context *ctx, const rb_modules_input *input,
                            const rb_modules_options *options, rb_modules **modules) {
    extraction e = {.ctx = ctx, .input = input, .options = options};
    *modules = NULL;
    rb_error err = rb_rows_check(ctx, rb_modules_group()->rows, options);
    err = err ? err : check_rule(&e);
    if (err) return err;
    e.units = rb_alloc_zero(ctx, input->n_units, sizeof *e.units);
    err = e.units ? extract(&e) : RB_ERROR_MEMORY;
    rb_free(e.units);
    rb_free(e.readings);
    rb_refit_free(e.refit);
    rb_refit_free(e.recoded);
    rb_free(e.features);
    rb_free(e.deviations);
    if (err) {
        rb_modules_free(e.modules);
        return err;
    }
    *modules = e.modules;
    return RB_OK;
}
