/* What acceleration asks of an RFN: feasible parameters and codes after they were moved (Clevert et
 * al. 2015, the projection of Theorem 1 for codes), and whether iterations keep the guarantee. */
#include "state.h"

#include <math.h>

rb_error rfn_check_acceleration(rb_context *ctx, const rb_problem *problem,
                                const rb_rfn_options *options) {
    if (problem->fit->accelerate == RB_ACCELERATE_NONE) {
        return RB_OK;
    }
    if (options->estep == RB_RFN_ESTEP_NEWTON) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the E-step newton may lower the objective, so that a fit with it cannot be "
                       "accelerated: take estep cyclic or gradient");
    }
    const struct {
        bool given;
        const char *name;
    } others[] = {{options->noise != RB_RFN_PSI_DIAGONAL, "noise full"},
                  {options->sparse_loadings > 0, "sparse-loadings"},
                  {options->weight_decay > 0, "weight-decay"},
                  {options->weight_decay_laplace > 0, "weight-decay-laplace"},
                  {options->dropout > 0, "dropout"},
                  {options->input_noise != 0, "input-noise"},
                  {options->momentum > 0, "momentum"},
                  {options->activation != 0, "activation"},
                  {options->activation_threshold > 0, "activation-threshold"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (others[i].given) {
            return rb_fail(
                ctx, RB_ERROR_ARGUMENT,
                "a fit with %s cannot be accelerated: leave out accelerate, or take %s 0 or "
                "none",
                others[i].name, others[i].name);
        }
    }
    return RB_OK;
}

bool rfn_steady(const void *state) {
    const rfn_state *st = state;
    return rfn_holds_codes(st) && st->held.filled && rfn_may_stop(st);
}

struct moved {
    rb_context *ctx;
    rfn_state *st;
    int64_t first;
};

static void project_unit(void *arg, int64_t unit, int worker) {
    (void)worker;
    const struct moved *moved = arg;
    rfn_held *held = &moved->st->held;
    void *code = rb_dense_row(held->search.codes, moved->first + unit);
    void *copy = rb_dense_row(held->work.residual, unit);
    rb_dense_copy(rb_dense_rows(held->search.codes, moved->first + unit, 1),
                  rb_dense_rows(held->work.residual, unit, 1));
    rfn_feasible(moved->ctx, held->problem.normalized, held->search.codes.type,
                 held->search.codes.cols, 0, copy, copy, code);
}

void rfn_settle(rb_context *ctx, void *state) {
    rfn_state *st = state;
    rb_dense w = st->parameters.loadings;
    double bound = st->options.weight_max;
    struct moved moved = {ctx, st, 0};
    for (int64_t k = 0; k < w.rows; k++) {
        double noise = fmax(st->parameters.noise[k], rfn_noise_floor(st, k));
        st->parameters.noise[k] = fmin(noise, st->noise_max);
        for (int64_t j = 0; bound > 0 && j < w.cols; j++) {
            rb_dense_set(w, k, j, fmax(-bound, fmin(bound, rb_dense_get(w, k, j))));
        }
    }
    for (; moved.first < st->held.search.codes.rows; moved.first += RFN_UNITS_AT_ONCE) {
        int64_t left = st->held.search.codes.rows - moved.first;
        rb_parallel(ctx, left < RFN_UNITS_AT_ONCE ? left : RFN_UNITS_AT_ONCE, project_unit, &moved);
    }
    st->held.adds_moments = false; /* an E-step that failed may have ended between its passes */
}
