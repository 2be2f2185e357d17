/* The cascade: one way after the other to better codes, until one is good enough (Clevert et al.
 * 2015, Alg. S3 and S9.5.3). The other E-steps that try candidates are parts of it.
 *
 * The paper takes whatever lowers O. With that rule tiny steps win nearly always, and F ends lower
 * than with gradient steps alone. A candidate is therefore good enough when it lowers O at least as
 * much as a gradient step does, and where none is, the gradient step is taken: so O falls, on
 * either set, as it does with gradient steps.
 *
 * A stage that was not good enough is left out for a while, twice as long each time, since a
 * stage that fails costs more than it could win.
 */
#include "paper.h"

static const struct {
    const char *name;
    bool (*run)(rfn_search *search);
} stages[RB_RFN_STAGES] = {
    [RB_RFN_STAGE_NONE] = {"none", NULL},
    [RB_RFN_STAGE_NEWTON] = {"newton", rfn_try_newton},
    [RB_RFN_STAGE_GAMMA] = {"gamma", rfn_anneal_gamma},
    [RB_RFN_STAGE_LAMBDA] = {"lambda", rfn_anneal_lambda},
    [RB_RFN_STAGE_BOTH] = {"both", rfn_anneal_both},
    [RB_RFN_STAGE_REDUCED] = {"reduced", rfn_try_reduced},
    [RB_RFN_STAGE_GRG] = {"grg", rfn_try_grg},
    [RB_RFN_STAGE_ROSEN] = {"rosen", rfn_try_rosen},
    [RB_RFN_STAGE_HAUG_ARORA] = {"haug-arora", rfn_try_haug_arora},
    [RB_RFN_STAGE_GRADIENT] = {"gradient", rfn_try_gradient},
};

enum { FIRST_WAIT = 4, LONGEST_WAIT = 64 };

const char *rb_rfn_stage_name(int stage) {
    return stage >= 0 && stage < RB_RFN_STAGES ? stages[stage].name : NULL;
}

static void learn(rfn_cascade *c, rb_rfn_stage stage, bool won) {
    int64_t *wait = &c->wait[stage];
    *wait = won ? 0 : *wait == 0 ? FIRST_WAIT : *wait < LONGEST_WAIT ? 2 * *wait : LONGEST_WAIT;
    c->left_out[stage] = *wait;
}

rb_rfn_stage rfn_cascade_step(rb_context *ctx, rfn_cascade *c, rfn_search *s, rb_rfn_stage first,
                              rb_rfn_stage last, bool any) {
    bool beats_gradient = !any && first < last && last == RB_RFN_STAGE_GRADIENT;
    rb_rfn_stage won = RB_RFN_STAGE_NONE;
    rfn_search_begin(ctx, s);
    s->bar = 0;
    s->spares = beats_gradient;
    if (beats_gradient && rfn_try_gradient(s)) {
        s->bar = s->change;
        rfn_swap(&s->next, &s->gradient_step);
        won = RB_RFN_STAGE_GRADIENT;
    }
    for (rb_rfn_stage stage = first; stage <= last && !rb_asked_to_stop(ctx); stage++) {
        if (beats_gradient && (stage == RB_RFN_STAGE_GRADIENT || c->left_out[stage]-- > 0))
            continue; /* it was tried above, or has to wait */
        bool good = stages[stage].run(s);
        learn(c, stage, good);
        if (good) {
            rfn_swap(&s->codes, &s->next);
            return stage;
        }
    }
    if (won == RB_RFN_STAGE_GRADIENT) rfn_swap(&s->codes, &s->gradient_step);
    return won;
}
