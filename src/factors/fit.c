/* What fits and coders of this room have in common. */
#include "factors.h"

#include <math.h>
#include <stddef.h>

int64_t factors_units(const void *options) {
    return *(const int64_t *)options;
}

int64_t factors_block_of(const rb_problem *problem, int64_t widest) {
    enum { CELLS = 1 << 22, MIN = 1024, MAX = 1 << 14 };
    if (!problem->sparse && problem->n_features > widest) widest = problem->n_features;
    int64_t n = problem->n_samples, max = CELLS / (widest > 0 ? widest : 1);
    max = max < MIN ? MIN : max > MAX ? MAX : max;
    return n > 0 ? rb_cut(n, (n + max - 1) / max).size : 0;
}

int64_t factors_block_samples(const rb_problem *problem, const void *options) {
    return factors_block_of(problem, factors_units(options));
}

void factors_objective(void *state, double *objective, double *estep_objective) {
    *objective = ((factors_fit *)state)->objective;
    *estep_objective = NAN;
}

bool factors_done(const void *state) {
    return ((const factors_fit *)state)->done;
}

void factors_last(void *state) {
    ((factors_fit *)state)->last = true;
}

rb_error factors_spread(rb_context *ctx, const rb_problem *problem, const void *options) {
    (void)ctx, (void)problem, (void)options;
    return RB_OK;
}

const rb_field factors_survey_fields[] = {
    {"squares", offsetof(factors_fit, squares), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RB_DIM_FEATURES,
     .sum = RB_SUM_SQUARES},
    {0},
};

rb_error factors_survey(rb_context *ctx, void *state, const rb_block *block) {
    rb_block_feature_squares(ctx, block, ((factors_fit *)state)->squares);
    return RB_OK;
}

void *factors_coder_begin(rb_context *ctx, size_t size, void **coder) {
    rb_scratch *own = *coder = rb_alloc_zero(ctx, 1, size);
    if (own) own->ctx = ctx;
    return own;
}

void factors_coder_free(void *coder) {
    if (coder) (void)rb_scratch_end(coder);
    rb_free(coder);
}

rb_error factors_coder_end(void **coder) {
    rb_error err = ((rb_scratch *)*coder)->err;
    if (err) {
        factors_coder_free(*coder);
        *coder = NULL;
    }
    return err;
}
