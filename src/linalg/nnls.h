/* Non-negative least squares of many samples that share a matrix: each minimises
 *     1/2 x'Gx - q'x   over x >= 0.
 * A unit without G_jj above 0 stays as it is. On the calling thread. */
#ifndef RB_LINALG_NNLS_H
#define RB_LINALG_NNLS_H

#include "linalg.h"

/* ---- many samples, by sweeps over the units: nnls.c ---- */

typedef struct rb_nnls {
    rb_context *ctx;
    rb_dense gram;            /* G: units x units, full, rows without gaps */
    rb_dense tiles;           /* a row a worker */
    int64_t *orders;          /* of the units in sweeps, one after the other */
    struct rb_active *active; /* of each worker; or NULL */
} rb_nnls;

/* Where samples are: rows of units, or columns. */
typedef struct rb_nnls_samples {
    rb_dense linear, codes; /* q and x */
    bool across;            /* samples are columns */
    const int64_t *which;   /* count: these; NULL: the first ones */
    int64_t count;
} rb_nnls_samples;

/* For so many units, with arrays of the scratch; active: samples for which sweeps take too long
 * are solved by an active set, else they are left as they were. */
void rb_nnls_new(rb_scratch *scratch, rb_type type, int64_t units, bool active, rb_nnls *out);

/* Rows get better by sweeps: at most so many, until one gains less than `share` of the first. */
void rb_nnls_descend(const rb_nnls *s, int64_t sweeps, double share, rb_dense linear,
                     rb_dense codes, int worker);

/* Codes come as near to the minimum as `tolerance` times the largest code of a sample, or as
 * rounding lets them. */
void rb_nnls_solve(const rb_nnls *s, double tolerance, const rb_nnls_samples *samples, int worker);

/* By how much the last sweep changed codes, at most, and what share that was of the one before.
 * Zeros before the first. */
typedef struct rb_course {
    double change, share;
} rb_course;
/* How far codes may be from where they go, after one more sweep: the sum of the changes to come, if
 * these go on to shrink as they did in the slower of the last two. */
double rb_still_to_go(rb_course *course, double change);
/* Is a sample as near as `tolerance`, or does it not get nearer for rounding? */
bool rb_nnls_has_come(const rb_nnls *s, double tolerance, rb_course *course, double change,
                      double largest);

/* ---- one sample, by an active set: active.c ---- */

typedef struct rb_active {
    double *x, *linear, *target, *matrix; /* x and q of all units */
    int64_t *support, count;              /* units that may be positive */
    int64_t max;                          /* so many at once */
} rb_active;

rb_active *rb_active_take(rb_scratch *scratch, int64_t units); /* for each worker */
/* From the x that is there to the minimum. */
void rb_active_solve(rb_dense gram, rb_active *active);

#endif
