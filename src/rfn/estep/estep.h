/* E-steps that never raise their objective. Private to src/rfn.
 *
 * The problem, for all samples at once (Clevert et al. 2015, eq. 3 and S9): minimise
 *     (n/2) O = 1/2 tr mu P mu' - tr mu Q' + constant
 * over the feasible codes mu. Its gradient mu P - Q needs no inverse.
 *
 * Here codes lie transposed, a unit a row: a unit's codes of all samples are next to each other,
 * which is what normalising them and minimising over one unit need.
 *
 * Once the program has asked to stop (rb_context_stop) all of these end early, with codes that are
 * of no use: the caller looks, by rb_check_stop.
 */
#ifndef RB_RFN_ESTEP_H
#define RB_RFN_ESTEP_H

#include "rfn/posterior.h"
#include <rarebit/rfn.h>

/* Samples that lack values have a P of their own, which those that lack the same values share. */
typedef struct rfn_patterns {
    rb_dense precisions;     /* of each: the lower triangle of P, row by row */
    const int32_t *of;       /* n: which one a sample has */
    const double *curvature; /* l: the largest P_jj */
} rfn_patterns;

typedef struct rfn_quadratic {
    rb_dense hessian;             /* P, or P + diag tau; l x l, full */
    rb_dense linear;              /* Q', l x n */
    bool normalized;              /* each unit's mean square is 1; or only mu >= 0 */
    const bool *dead;             /* l: units whose codes are kept at 0; NULL: none */
    const rfn_patterns *patterns; /* of samples that lack values; NULL: P is that of all samples */
} rfn_quadratic;

/* Scratch of the E-steps. */
typedef struct rfn_work {
    rb_dense residual; /* (mu P - Q)' of RFN_UNITS_AT_ONCE units, x n */
    rb_dense moved;    /* of the same shape */
    void *target;      /* n */
    void *changes;     /* n: the largest change of each sample's codes in a cyclic step */
    double *squares;   /* a slice of samples each */
    bool *alive;       /* l: in the last step something of the unit was positive; normalised set */
} rfn_work;

/* Units whose residuals are computed by one product; samples that are one task. Fixed: results must
 * not depend on the number of threads. */
enum { RFN_UNITS_AT_ONCE = 96, RFN_SLICE = 2048 };

rb_error rfn_work_new(rb_context *ctx, rb_type type, int64_t units, int64_t samples,
                      rfn_work *work);
void rfn_work_free(rfn_work *work);
/* Bytes of it. */
double rfn_work_bytes(rb_type type, int64_t units, int64_t samples);

/* How far O bends in the codes of a unit, at most. */
static inline double rfn_curvature(const rfn_quadratic *problem, int64_t unit) {
    return problem->patterns ? problem->patterns->curvature[unit]
                             : rb_dense_get(problem->hessian, unit, unit);
}

/* P_jc of sample i. */
static inline double rfn_curvature_of(const rfn_patterns *patterns, int64_t i, int64_t j,
                                      int64_t c) {
    int64_t at = j > c ? j * (j + 1) / 2 + c : c * (c + 1) / 2 + j;
    return rb_dense_get(patterns->precisions, patterns->of[i], at);
}

static inline bool rfn_is_dead(const rfn_quadratic *problem, int64_t unit) {
    return problem->dead && problem->dead[unit];
}

/* Of a dead unit the row becomes 0. */
static inline bool rfn_clears_dead(const rfn_quadratic *problem, int64_t unit, rb_dense rows) {
    bool dead = rfn_is_dead(problem, unit);
    if (dead) rb_dense_zero(rb_dense_rows(rows, unit, 1));
    return dead;
}

/* Of the l units, how many are worked on at once from `first` on. */
static inline int64_t rfn_units_from(int64_t l, int64_t first) {
    return l - first < RFN_UNITS_AT_ONCE ? l - first : RFN_UNITS_AT_ONCE;
}

static inline void rfn_swap(rb_dense *a, rb_dense *b) {
    rb_dense other = *a;
    *a = *b;
    *b = other;
}

/* The residual rows of some units from `first` on, as many as are worked on at once or fewer, into
 * work->residual. */
void rfn_residual(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes, int64_t first,
                  int64_t count, rfn_work *work);

/* out <- the nearest feasible point of row + factor step (n each), to which it may point. false:
 * nothing was positive, and on the normalised set the largest value was taken (dead.c). */
bool rfn_feasible(rb_context *ctx, bool normalized, double factor, rb_dense row, const void *step,
                  void *out);
/* Where row + factor step is largest; the first of ties. */
int64_t rfn_largest(rb_dense row, double factor, const void *step);

/* One step of an E-step from feasible codes; `change` is the largest change of a code, or NULL.
 *
 * cyclic.c: exact minimisation over one unit after the other. Never raises O on either set. */
void rfn_cyclic(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes, rfn_work *work,
                double *change);
/* gradient.c: projected gradient step of length 0.999 / e_max. Never raises O on either set. next:
 * l x n, becomes the codes. */
void rfn_gradient(rb_context *ctx, const rfn_quadratic *problem, double e_max, rb_dense *codes,
                  rb_dense *next, rfn_work *work, double *change);

/* gradient.c: the multipliers tau_j = mean_i mu_ij (Q - mu P)_ij of the units (0 without
 * normalising), and the KKT residual max |mu - P(mu - (mu P - Q) / e_max)| / max |mu|. */
void rfn_optimality(rb_context *ctx, const rfn_quadratic *problem, double e_max, rb_dense codes,
                    rfn_work *work, double *multipliers, double *residual);
/* P becomes P + diag tau; dead units are cut off from the others and get this diagonal. */
void rfn_add_multipliers(rb_dense p, const double *multipliers, const bool *dead, double diagonal);

#endif
