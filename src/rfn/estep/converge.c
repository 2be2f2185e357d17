/* Codes come to rest after the last iteration: by cyclic sweeps, whatever the E-step: they need by
 * far the fewest products.
 *
 * Most samples are at rest soon. The others go there on their own, with the multipliers as they
 * are: sweeps over these few, in the cache, cost far less than those over all, which then put right
 * what that has moved. On the rectified set there is nothing to put right.
 */
#include "rfn/fit.h"

#include <math.h>

/* Sweeps at most; and how long the best of them may lie back, before and after changes are so small
 * that only rounding may be left of them. */
enum { MAX_SWEEPS = 2000, PATIENCE = 50, SHORT_PATIENCE = 6 };
static const double small_change = 3e-6; /* of the largest code, in float32 */
static const double slow = 0.5;          /* from one sweep to the next, in the order of the units */

/* Not more samples than this go on alone, for the multipliers are to stand still; and not more
 * often than this, for there may be some that never come. */
static const double few = 0.5;
enum { SETTLES = 10 };

void rfn_sweep(rb_context *ctx, rfn_persistent *p, rb_dense codes, int64_t turn, double *change) {
    if (p->device) {
        rfn_device_sweep(p->device, p, change);
        return;
    }
    rfn_cyclic(ctx, &p->problem, codes, turn, change != NULL, &p->work);
    if (change) *change = rfn_largest_change(ctx, codes, &p->work);
}

/* Units without a positive code are dead: their codes become and stay 0. */
static void deactivate(rfn_persistent *p, rb_dense codes) {
    for (int64_t j = 0; j < codes.rows; j++) {
        if (p->problem.normalized && !p->work.alive[j] && !p->dead[j]) {
            p->dead[j] = true;
            rfn_clear_codes(p->device, codes, j);
        }
    }
}

static double largest_code(rb_context *ctx, const rfn_persistent *p, rb_dense codes) {
    double max = p->device ? rfn_device_largest_code(p->device) : 0;
    for (int64_t j = 0; !p->device && j < codes.rows; j++) {
        const void *row = rb_dense_row(codes, j);
        for (int64_t i = 0; i < codes.cols; i++)
            max = fmax(max, rb_get(codes.type, row, i));
    }
    rb_comm_max(ctx, 1, &max);
    return max;
}

/* ---- samples on their own ---- */

struct alone {
    const rfn_persistent *p;
    rb_dense codes;
    double limit; /* samples whose codes changed by more are not at rest */
    rb_nnls by;   /* P + diag tau */
    int settles;  /* so far */
};

static bool is_left(const struct alone *a, int64_t i) {
    return rb_dense_get(a->p->work.changes, 0, i) > a->limit;
}

static void settle_slice(void *arg, int64_t slice, int worker) {
    const struct alone *a = arg;
    const rfn_slices *slices = &a->p->work.slices;
    int64_t which[RFN_SLICE], count = 0;
    for (int64_t i = slices->first[slice]; i < slices->first[slice + 1]; i++)
        if (is_left(a, i)) which[count++] = i;
    rb_nnls_samples samples = {a->p->problem.linear, a->codes, true, which, count};
    if (count > 0) rb_nnls_solve(&a->by, a->p->setup->options.estep_tolerance, &samples, worker);
}

/* After a sweep. False: none is left, or too many. */
static bool settle(rb_context *ctx, struct alone *a) {
    const rfn_persistent *p = a->p;
    int64_t left = 0;
    for (int64_t i = 0; i < a->codes.cols; i++)
        left += is_left(a, i);
    rb_comm_count(ctx, 1, &left);
    if (left == 0 || a->settles == SETTLES) return false;
    if (p->problem.normalized && (double)left > few * (double)p->work.slices.all) return false;
    a->settles++;
    rb_dense_copy(p->problem.hessian, a->by.gram);
    rfn_add_multipliers(a->by.gram, p->work.pulls, p->dead, 0);
    rb_parallel_or_stop(ctx, p->work.slices.count, settle_slice, a); /* the next sweep sees it */
    return true;
}

/* ---- all together ---- */

static void converge(rb_context *ctx, rfn_persistent *p, rb_dense codes, double scale,
                     struct alone *alone) {
    double best = INFINITY, change = INFINITY;
    double tolerance = p->setup->options.estep_tolerance;
    double rounds = codes.type == RB_FLOAT32 ? small_change * scale : 0;
    rb_course course = {0};
    bool turns = false;        /* sweeps have orders of their own */
    double settled = INFINITY; /* the change before samples went on alone */
    for (int64_t sweep = 0, at = 0;
         sweep < MAX_SWEEPS && sweep - at < (best > rounds ? PATIENCE : SHORT_PATIENCE) &&
         !rb_stops(ctx);
         sweep++) {
        double before = change;
        rfn_sweep(ctx, p, codes, turns ? sweep : 0, &change);
        turns = turns || change > slow * before;
        if (p->device && rfn_device_end(p->device)) break;
        deactivate(p, codes);
        if (change > settled) { /* that moved the multipliers too far */
            alone = NULL;
            best = settled = INFINITY;
        }
        if (change < (best > rounds ? 1 : 0.9) * best) {
            best = change;
            at = sweep;
        }
        if (rb_at_rest(codes.type, codes.rows, tolerance, &course, change, scale)) break;
        if (alone && settle(ctx, alone)) {
            if (settled == INFINITY) course = (rb_course){0}; /* all that follows is smaller */
            settled = change;
        }
    }
    if (!turns || p->device || rb_stops(ctx)) return;
    rfn_sweep(ctx, p, codes, 0, &change); /* long steps leave more to rounding */
    deactivate(p, codes);
}

rb_error rfn_converge(rb_context *ctx, rfn_persistent *p, rb_dense codes) {
    rb_scratch scratch = {.ctx = ctx};
    double scale = largest_code(ctx, p, codes);
    struct alone alone = {
        .p = p, .codes = codes, .limit = p->setup->options.estep_tolerance * scale / 4};
    bool separate = !p->device && !p->missing.on;
    if (separate) rb_nnls_new(&scratch, codes.type, codes.rows, !p->problem.normalized, &alone.by);
    rb_error err = rb_comm_agree(ctx, scratch.err);
    if (!err) converge(ctx, p, codes, scale, separate ? &alone : NULL);
    rb_scratch_end(&scratch);
    return err;
}
