/* Acceleration of iterations x <- G(x) that never lower the objective F.
 *
 * squarem (Varadhan, Roland 2008, scheme S3): from x0, x1 = G(x0), x2 = G(x1)
 *     r = x1 - x0,  v = x2 - 2 x1 + x0,  a = -|r| / |v|,  y = x0 - 2 a r + a^2 v
 * and the next x0 is y. With a = -1, y is x2; a goes no further than a bound, which grows fourfold
 * when it is reached, and shrinks so when y is rejected.
 *
 * nesterov (Nesterov 1983; restarts as O'Donoghue, Candes 2015): with x the last point and x' the
 * one before, the next iteration begins at x + s / (s + 3) (x - x'), s its number since the start
 * or the last restart.
 *
 * The safeguard of both: an iteration that began at an extrapolated point and has a lower F than
 * the one before, or fails, is thrown away. The state goes back to the last good point, from where
 * a plain iteration follows. So F never falls, if G does not lower it.
 */
#include "em.h"

#include <math.h>

/* Points of either. */
enum { LAST = 0, FIRST_POINT = 0, SECOND_POINT = 1, GOOD_POINT = 2 };
static const double growth = 4;

rb_error rb_accelerate_begin(rb_context *ctx, rb_run *run) {
    int kind = run->problem.fit->accelerate;
    rb_accelerator *a = &run->accelerator;
    *a = (rb_accelerator){.kind = kind, .longest = growth};
    if (kind == RB_ACCELERATE_NONE) return RB_OK;
    if (!run->method->project || !run->method->parts) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "the method '%s' cannot be accelerated; leave out `accelerate`",
                       run->method->name);
    }
    int points = kind == RB_ACCELERATE_SQUAREM ? 3 : 1;
    return rb_moving_new(ctx, run, true, points, &a->moving);
}

/* ---- squarem: steps is 0 at x0, 1 at x1, 2 at x2 ---- */

static void first_difference(int64_t n, double (*points)[RB_MOVING_CHUNK], double *x, double step) {
    (void)step;
    for (int64_t i = 0; i < n; i++)
        x[i] = points[SECOND_POINT][i] - points[FIRST_POINT][i];
}

static void second_difference(int64_t n, double (*points)[RB_MOVING_CHUNK], double *x,
                              double step) {
    (void)step;
    for (int64_t i = 0; i < n; i++) {
        x[i] -= points[SECOND_POINT][i];
        x[i] -= points[SECOND_POINT][i] - points[FIRST_POINT][i];
    }
}

static void squared_step(int64_t n, double (*points)[RB_MOVING_CHUNK], double *x, double step) {
    for (int64_t i = 0; i < n; i++) {
        double r = points[SECOND_POINT][i] - points[FIRST_POINT][i];
        double v = x[i] - points[SECOND_POINT][i] - r;
        x[i] = points[FIRST_POINT][i] + step * (2 * r + step * v);
    }
}

static bool squarem_before(rb_accelerator *a) {
    rb_moving *m = &a->moving;
    if (a->steps < 2) {
        rb_moving_save(m, a->steps == 0 ? FIRST_POINT : SECOND_POINT);
        return false;
    }
    double r = rb_moving_map(m, first_difference, 0, -1);
    double v = rb_moving_map(m, second_difference, 0, -1);
    double step = v > 0 ? fmax(sqrt(r / v), 1) : 1;
    a->at_longest = step >= a->longest;
    rb_moving_map(m, squared_step, fmin(step, a->longest), GOOD_POINT);
    return true;
}

/* ---- nesterov ---- */

static void onwards(int64_t n, double (*points)[RB_MOVING_CHUNK], double *x, double step) {
    for (int64_t i = 0; i < n; i++)
        x[i] += step * (x[i] - points[LAST][i]);
}

static bool nesterov_before(rb_accelerator *a) {
    double s = (double)a->steps;
    if (a->steps == 0) {
        rb_moving_save(&a->moving, LAST);
        return false;
    }
    rb_moving_map(&a->moving, onwards, s / (s + 3), LAST);
    return true;
}

/* ---- both ---- */

void rb_accelerate_before(rb_context *ctx, rb_run *run) {
    rb_accelerator *a = &run->accelerator;
    const rb_method *method = run->method;
    bool squarem = a->kind == RB_ACCELERATE_SQUAREM;
    /* The first iteration may have to make what the next ones move. */
    a->waits = a->kind == RB_ACCELERATE_NONE || run->model->iterations == 0 ||
               (method->steady && !method->steady(run->state));
    a->extrapolated = !a->waits && (squarem ? squarem_before(a) : nesterov_before(a));
    if (a->extrapolated) run->method->project(ctx, run->state);
    if (a->extrapolated && squarem) /* the next x0 is where it lies after that */
        rb_moving_save(&a->moving, FIRST_POINT);
}

static void accept(rb_accelerator *a) {
    bool squared = a->extrapolated && a->kind == RB_ACCELERATE_SQUAREM;
    if (squared && a->at_longest) a->longest *= growth;
    a->steps = a->waits ? 0 : squared ? 1 : a->steps + 1;
    a->rejected = false;
}

rb_error rb_accelerate_after(rb_context *ctx, rb_run *run, rb_error err, rb_history *entry) {
    rb_accelerator *a = &run->accelerator;
    bool failed = err == RB_ERROR_NUMERIC;
    const rb_history *before =
        a->extrapolated ? &run->model->history[run->model->iterations - 1] : NULL;
    if (!before || (!failed && (err || entry->objective >= before->objective))) {
        accept(a);
        return err;
    }
    bool squarem = a->kind == RB_ACCELERATE_SQUAREM;
    rb_moving_restore(&a->moving, squarem ? GOOD_POINT : LAST);
    if (failed) /* in the middle of something */
        run->method->project(ctx, run->state);
    if (squarem && a->at_longest) a->longest = fmax(a->longest / growth, 1);
    a->rejected = true;
    a->steps = 0;
    entry->objective = before->objective;
    entry->estep_objective = before->estep_objective;
    return RB_OK;
}
