/* Stopping rules. What they know of the iterations before is part of a checkpoint, so that a fit
 * that goes on from one stops where it would have stopped. */
#include "em.h"

#include <math.h>

static bool converged(double tolerance, double before, double now) {
    return tolerance > 0 && fabs(now - before) < tolerance * fabs(now);
}

rb_error rb_stopping_begin(rb_context *ctx, rb_run *run) {
    rb_stopping *s = &run->stopping;
    *s = (rb_stopping){.best = -INFINITY, .change = INFINITY};
    if (run->problem.fit->parameter_tolerance == 0) return RB_OK;
    if (!run->method->parts) {
        return rb_fail(
            ctx, RB_ERROR_UNSUPPORTED,
            "the method '%s' does not list its parameters; leave `parameter-tolerance` at 0",
            run->method->name);
    }
    return rb_moving_new(ctx, run, false, 1, &s->parameters);
}

bool rb_may_stop(const rb_run *run) {
    return !run->method->may_stop || run->method->may_stop(run->state);
}

void rb_stopping_after(rb_run *run, double objective) {
    rb_stopping *s = &run->stopping;
    bool rises = objective > s->best + run->problem.fit->tolerance * fabs(s->best);
    run->made++;
    s->change = rb_moving_change(&s->parameters);
    if (!rb_may_stop(run)) { /* objectives are yet to be comparable */
        s->best = -INFINITY;
        s->idle = 0;
    } else if (rises || !isfinite(s->best)) {
        s->best = objective;
        s->idle = 0;
    } else {
        s->idle++;
    }
}

bool rb_stopping_asks(const rb_run *run, rb_status *status) {
    const rb_fit_options *fit = run->problem.fit;
    const rb_stopping *s = &run->stopping;
    const rb_history *history = run->model->history;
    int64_t done = run->model->iterations;
    /* An iteration that acceleration has thrown away changes nothing, and says nothing. */
    bool looks = rb_may_stop(run) && !run->accelerator.rejected;
    *status = RB_STATUS_ITERATIONS;
    if (done >= 1 && rb_method_done(run->method, run->state))
        *status = RB_STATUS_CONVERGED;
    else if (done >= 1 && looks && s->change < fit->parameter_tolerance)
        *status = RB_STATUS_PARAMETERS;
    else if (fit->patience > 0 && s->idle >= fit->patience)
        *status = RB_STATUS_PATIENCE;
    else if (done > 1 && looks && fit->patience == 0 &&
             converged(fit->tolerance, history[done - 2].objective, history[done - 1].objective))
        *status = RB_STATUS_CONVERGED;
    else if (done < fit->iterations && done > 0 && run->made > 0 && fit->max_time > 0 &&
             run->elapsed >= fit->max_time)
        *status = RB_STATUS_TIME;
    return *status != RB_STATUS_ITERATIONS || done >= fit->iterations;
}
