/* Units by the rule test: who belongs to them (members_test.c), which of them are one module, and
 * which are none.
 *
 *   one module   units whose codes correlate by more than 0.8: the most informative one is tested
 *                for all. And units of the same features: more than two thirds of what either has,
 *                with the same signs, and codes that correlate by 0.2 or more
 *   spare        what is left of these, and by normal scores (scores.c)
 *   background   role.c; and a mirror: its features are down but for one, or one in ten, at least
 *                half are up in modules that rank before it, of which one has twice as many; more
 *                than 40 % of the samples have it, and the skewness of its codes is below 2
 */
#include "extraction.h"

#include <math.h>
#include <stdlib.h>

/* Units without any code come last. */
int rb_by_worth(const void *a, const void *b) {
    const unit *x = a, *y = b;
    if ((x->code > 0) != (y->code > 0)) return x->code > 0 ? -1 : 1;
    if (x->worth != y->worth) return x->worth > y->worth ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* ---- roles ---- */

/* By itself. */
static rb_unit_role role_of(const extraction *e, const unit *u) {
    if (!e->input->sparse_codes || e->negative) return RB_UNIT_MODULE;
    return rb_role_of(&u->halves[POSITIVE], e->n_samples, &u->loadings, e->input->n_features);
}

rb_unit_role rb_role_among(const extraction *e, const unit *u) {
    rb_unit_role role = role_of(e, u);
    bool single = rb_is_single(&u->halves[POSITIVE]);
    if (e->scored && role != RB_UNIT_BACKGROUND)
        role = u->share > 1 && !single ? RB_UNIT_MODULE : RB_UNIT_SPARE;
    if (u->mirrors) return RB_UNIT_BACKGROUND;
    return u->lead >= 0 && role == RB_UNIT_MODULE ? RB_UNIT_SPARE : role;
}

/* ---- the test ---- */

/* Few features on another scale must not decide for all, nor one wrong value: a feature counts for
 * at most MOST times the variance of the median one. */
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

/* Are there enough samples to fit each feature to the codes of the living units? */
static rb_error check_freedom(const extraction *e) {
    if (rb_refit_freedom(e->refit, e->living) > 0) return RB_OK;
    return rb_fail(e->ctx, RB_ERROR_ARGUMENT,
                   "the rule test needs at least %lld samples for %lld units, but there are %lld; "
                   "choose another `rule`",
                   (long long)e->living + 2, (long long)e->living, (long long)e->n_samples);
}

static bool has_feature(const extraction *e, const unit *u, int64_t k) {
    return e->features[k * e->tested + u->column];
}

static double loading_of(const extraction *e, const unit *u, int64_t k) {
    return e->input->loadings[k * e->input->n_units + u->index];
}

/* The information of a unit's codes about the loadings of its features. */
static double information_of_features(const extraction *e, const unit *u) {
    const rb_modules_input *input = e->input;
    double sum = 0;
    for (int64_t k = 0; k < input->n_features; k++) {
        double w = loading_of(e, u, k);
        if (has_feature(e, u, k)) sum += 0.5 * log1p(w * w * u->code / input->noise[k]);
    }
    return sum;
}

/* Binary causes: by the codes of the model, which say what is on. */
static rb_error test_causes(extraction *e, const rb_tested_units *units) {
    rb_membership found = {.sure = e->features};
    rb_error err = rb_refit_features(e->ctx, e->refit, units, e->level, &found);
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
    err = err ? err : rb_refit_features(e->ctx, e->recoded, &again, e->level, &second);
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
        if (u->lead >= 0 || role_of(e, u) == RB_UNIT_BACKGROUND) continue;
        if (fabs(rb_refit_correlation(e->refit, e->units[r].index, u->index)) > ALIKE) return u;
    }
    return NULL;
}

/* Have they the same features, and the more of one the more of the other? */
static bool is_same_module(const extraction *e, const unit *a, const unit *b) {
    const double going_together = 0.2;
    int64_t both = 0, either = 0;
    if (rb_refit_correlation(e->refit, a->index, b->index) < going_together) return false;
    for (int64_t k = 0; k < e->input->n_features; k++) {
        bool in_a = has_feature(e, a, k), in_b = has_feature(e, b, k);
        both += in_a && in_b && loading_of(e, a, k) * loading_of(e, b, k) > 0;
        either += in_a || in_b;
    }
    return 3 * both > 2 * either;
}

/* Has a module so many features, one of which is down in u? */
static bool is_larger(const extraction *e, const unit *module, const unit *u, int64_t features) {
    int64_t size = 0, shared = 0;
    for (int64_t k = 0; k < e->input->n_features; k++) {
        double w = has_feature(e, module, k) ? loading_of(e, module, k) : 0;
        size += w != 0;
        shared += w > 0 && has_feature(e, u, k) && loading_of(e, u, k) < 0;
    }
    return size >= features && shared > 0;
}

/* up: features that are up in one of the modules, which rank before. */
static bool is_mirror(const extraction *e, const unit *u, unit *const *modules, int64_t count,
                      const bool *up) {
    int64_t features = 0, down = 0, told = 0;
    if (!e->input->sparse_codes || !rb_may_mirror(&u->halves[POSITIVE], e->n_samples)) return false;
    for (int64_t k = 0; k < e->input->n_features; k++) {
        double w = has_feature(e, u, k) ? loading_of(e, u, k) : 0;
        features += w != 0;
        down += w < 0;
        told += w < 0 && up[k];
    }
    int64_t others = features / 10 > 1 ? features / 10 : 1;
    bool larger = false;
    if (features == 0 || down < features - others || 2 * told < features) return false;
    for (int64_t t = 0; t < count && !larger; t++)
        larger = is_larger(e, modules[t], u, 2 * features);
    return larger;
}

/* What is said by modules that rank before. What many samples have in different strength may have
 * several units, one for the strong ones; what centring leaves in the samples of no module is a
 * mirror of these. */
static rb_error find_repeats(extraction *e) {
    rb_scratch scratch = {.ctx = e->ctx};
    unit **modules = rb_take(&scratch, e->living, sizeof *modules);
    bool *up = rb_take(&scratch, e->input->n_features, sizeof *up);
    int64_t count = 0;
    for (int64_t r = 0; !scratch.err && r < e->living; r++) {
        unit *u = &e->units[r];
        if (rb_role_among(e, u) != RB_UNIT_MODULE) continue;
        for (int64_t t = 0; t < count && u->lead < 0; t++)
            if (is_same_module(e, modules[t], u)) u->lead = modules[t]->index;
        u->mirrors = u->lead < 0 && is_mirror(e, u, modules, count, up);
        if (u->lead >= 0 || u->mirrors) continue;
        modules[count++] = u;
        for (int64_t k = 0; k < e->input->n_features; k++)
            up[k] = up[k] || (has_feature(e, u, k) && loading_of(e, u, k) > 0);
    }
    return rb_scratch_end(&scratch);
}

/* Who belongs by the test. Where units have nearly the same codes their parts of a feature cannot
 * be told apart: the most informative one is tested, and its features are theirs, too. A unit that
 * all samples have, but hardly a feature, is no module: it comes last. */
rb_error rb_test_units(extraction *e) {
    rb_scratch scratch = {.ctx = e->ctx, .err = check_freedom(e)};
    if (!scratch.err) scratch.err = find_root(e);
    int64_t *index = rb_take(&scratch, e->living, sizeof *index);
    double *rms = rb_take(&scratch, e->living, sizeof *rms);
    for (int64_t r = 0; !scratch.err && r < e->living; r++) {
        unit *u = &e->units[r];
        const unit *alike = first_alike(e, r);
        if (alike) u->lead = alike->index;
        u->column = alike ? alike->column : e->tested;
        if (alike) continue;
        index[e->tested] = u->index;
        rms[e->tested++] = u->rms;
    }
    e->features = rb_take(&e->memory, e->input->n_features * e->tested, sizeof *e->features);
    e->deviations = rb_take(&e->memory, e->tested, sizeof *e->deviations);
    rb_error err = scratch.err ? scratch.err : e->memory.err;
    rb_tested_units units = {e->tested, index, rms, e->root};
    if (!err) err = e->input->probabilities ? test_causes(e, &units) : test_recoded(e, &units);
    err = err ? err : rb_posterior_deviations(e->ctx, e->input, &units, e->deviations);
    if (!err) qsort(e->units, (size_t)e->living, sizeof *e->units, rb_by_worth);
    if (!err && !e->negative) err = find_repeats(e);
    (void)rb_scratch_end(&scratch);
    return err;
}
