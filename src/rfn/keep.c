/* What an iteration takes from the one before: parameters, the codes of E-steps that go on from
 * them, and running moments of batches. Whatever else an iteration comes to rely on belongs into
 * this list: checkpoints are made of it, and tests/property/checkpoint.c compares fits that were
 * interrupted with those that were not.
 */
#include "state.h"

#include <float.h>
#include <math.h>

static rb_kept dense(const char *name, rb_dense values) {
    return (rb_kept){.name = name,
                     .type = (rb_kept_type)values.type,
                     .rows = values.rows,
                     .columns = values.cols,
                     .stride = values.ld,
                     .values = values.data};
}

static rb_kept vector(const char *name, rb_kept_type type, int64_t count, void *values) {
    return (rb_kept){
        .name = name, .type = type, .rows = count, .columns = 1, .stride = 1, .values = values};
}

static rb_kept as(rb_kept_role role, rb_kept array) {
    array.role = role;
    return array;
}

static rb_kept within(double least, double most, rb_kept array) {
    array.least = least;
    array.most = most;
    return array;
}

rb_error rfn_keep(void *state, rb_kept_fn fn, void *user) {
    rfn_state *st = state;
    rfn_parameters *p = &st->parameters;
    int64_t m = st->problem.n_features, l = st->options.units;
    rfn_steering *steering = &st->steering;
    rfn_cascade *cascade = &st->held.cascade;
    bool held = st->options.estep != RB_RFN_ESTEP_NEWTON, steers = rfn_steers(&st->options);
    bool tries = rfn_tries_candidates(st), full = rfn_psi_is_full(&p->full);
    bool batches = rfn_in_batches(st);
    bool shrinks = st->options.sparse_loadings > 0, drops = batches && st->options.dropout > 0;
    const struct {
        bool kept;
        rb_kept array;
    } all[] = {
        {true, as(RB_KEPT_PARAMETER, dense("loadings", p->loadings))},
        {true, as(RB_KEPT_POSITIVE, vector("noise", RB_KEPT_FLOAT64, m, p->noise))},
        {full, as(RB_KEPT_PARAMETER, dense("noise_covariance", p->full.covariance))},
        {true, vector("prior_mean", RB_KEPT_FLOAT64, l, p->prior.mean)},
        {true, vector("prior_linear", RB_KEPT_FLOAT64, l, p->prior.linear)},
        {true, as(RB_KEPT_MSTEPS, vector("iteration", RB_KEPT_INTEGER, 1, &st->iteration))},
        {true, within(DBL_MIN, DBL_MAX, vector("scale", RB_KEPT_FLOAT64, l, st->units.scale))},
        {true, vector("alive", RB_KEPT_FLAG, l, st->units.alive)},
        {shrinks, within(0, 1, vector("prior_share", RB_KEPT_FLOAT64, 1, &st->prior_share))},
        {shrinks, vector("prior_stays", RB_KEPT_FLAG, 1, &st->prior_stays)},
        {shrinks, within(1, 4, vector("shrink_factor", RB_KEPT_FLOAT64, 1, &st->shrink_factor))},
        {held, as(RB_KEPT_CODES, dense("codes", st->held.search.codes))},
        {held, vector("has_codes", RB_KEPT_FLAG, 1, &st->held.filled)},
        {held, vector("multipliers", RB_KEPT_FLOAT64, l, st->held.multipliers)},
        {tries, within(0, INT32_MAX,
                       vector("left_out", RB_KEPT_INTEGER, RB_RFN_STAGES, cascade->left_out))},
        {tries,
         within(0, INT32_MAX, vector("wait", RB_KEPT_INTEGER, RB_RFN_STAGES, cascade->wait))},
        {steers, vector("steering_rho", RB_KEPT_FLOAT64, 1, &steering->rho)},
        {steers, vector("steering_target", RB_KEPT_FLOAT64, 1, &steering->target)},
        {steers, vector("steering_before", RB_KEPT_FLOAT64, 1, &steering->before)},
        {steers,
         within(0, INFINITY, vector("steering_ceiling", RB_KEPT_FLOAT64, 1, &steering->ceiling))},
        {steers,
         within(0, (double)l, vector("steering_lonely", RB_KEPT_INTEGER, 1, &steering->lonely))},
        {st->options.momentum > 0, dense("velocity", st->velocity)},
        {batches, dense("sum_u", st->sum_u)},
        {batches, dense("sum_s", st->sum_s)},
        {batches, vector("sum_codes", RB_KEPT_FLOAT64, l, st->units.sum)},
        {batches, vector("weight", RB_KEPT_FLOAT64, 1, &st->weight)},
        {batches, vector("gain", RB_KEPT_FLOAT64, 1, &st->gain)},
        {drops, vector("dropout_sum", RB_KEPT_FLOAT64, l, st->dropout.sum)},
        {drops, vector("dropout_squares", RB_KEPT_FLOAT64, l, st->dropout.squares)},
    };
    rb_error err = RB_OK;
    for (size_t i = 0; !err && i < sizeof all / sizeof *all; i++) {
        err = all[i].kept ? fn(user, &all[i].array) : RB_OK;
    }
    return err;
}
