/* What an iteration takes from the one before: parameters, and the codes of E-steps that go on from
 * them. Whatever else an iteration comes to rely on belongs into this list: checkpoints are made of
 * it, and tests/property/checkpoint.c compares fits that were interrupted with those that were not.
 */
#include "state.h"

static rb_kept dense(const char *name, rb_dense values) {
    return (rb_kept){name,       (rb_kept_type)values.type, values.rows, values.cols, values.ld,
                     values.data};
}

static rb_kept vector(const char *name, rb_kept_type type, int64_t count, void *values) {
    return (rb_kept){name, type, count, 1, 1, values};
}

rb_error rfn_keep(void *state, rb_kept_fn fn, void *user) {
    rfn_state *st = state;
    rfn_parameters *p = &st->parameters;
    int64_t m = st->problem.n_features, l = st->options.units;
    bool held = st->options.estep != RB_RFN_ESTEP_NEWTON;
    const rb_kept arrays[] = {
        dense("loadings", p->loadings),
        vector("noise", RB_KEPT_FLOAT64, m, p->noise),
        vector("prior_mean", RB_KEPT_FLOAT64, l, p->prior.mean),
        vector("prior_linear", RB_KEPT_FLOAT64, l, p->prior.linear),
        vector("iteration", RB_KEPT_INTEGER, 1, &st->iteration),
        dense("codes", st->held.codes),
        vector("has_codes", RB_KEPT_FLAG, 1, &st->held.filled),
    };
    int count = sizeof arrays / sizeof *arrays, of_held = 2;
    rb_error err = RB_OK;
    for (int i = 0; !err && i < (held ? count : count - of_held); i++) {
        err = fn(user, &arrays[i]);
    }
    return err;
}
