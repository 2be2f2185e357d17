/* A fit of an RFN step by step, with its sums as the loop has them: for tests that look inside. */
#ifndef RFN_PASS_H
#define RFN_PASS_H

#include "fixture.h"

#include "em/em.h"
#include "rfn/fit.h"
#include "rfn/rfn.h"

typedef struct rfn_steps {
    rb_shape shape;
    rb_sums sums;
    rfn_fit *fit;
} rfn_steps;

static inline void rfn_steps_new(rb_context *ctx, rb_problem problem, const rb_rfn_options *options,
                                 rfn_steps *steps) {
    void *state;
    problem.method = &rb_method_rfn;
    problem.own = problem.n_samples;
    assert_int_equal(rfn_start(ctx, &problem, options, NULL, &state), RB_OK);
    steps->shape = rb_shape_of(&problem, options);
    steps->fit = state;
    steps->sums = (rb_sums){
        .ctx = ctx, .method = &rb_method_rfn, .shape = &steps->shape, .state = state, .decay = 1};
}

static inline void rfn_steps_free(rfn_steps *steps) {
    rb_sums_free(&steps->sums);
    rfn_finish(steps->fit);
}

/* Sums of that kind are as if no sample had been added. */
static inline void rfn_steps_clear(rfn_steps *steps, rb_part_kind kind) {
    assert_int_equal(rb_sums_begin(&steps->sums, kind, 1, true, true), RB_OK);
}

static inline void rfn_steps_survey(rb_context *ctx, rfn_steps *steps, const rb_block *block) {
    rfn_steps_clear(steps, RB_PART_SURVEY);
    assert_int_equal(rfn_survey_block(ctx, steps->fit, block), RB_OK);
    assert_int_equal(rfn_survey_end(ctx, steps->fit), RB_OK);
}

#endif
