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
    rb_dense precisions; /* of each: the lower triangle of P, row by row */
    int32_t *of;         /* n: which one a sample has */
    double *curvature;   /* l: the largest P_jj */
} rfn_patterns;

/* Units whose residuals are computed by one product, at most; samples that are one task. Fixed:
 * results must not depend on the number of threads. */
enum { RFN_UNITS_AT_ONCE = 96, RFN_SLICE = 1024, RFN_BOUNDS = (1 << RB_TREE_DEPTH_MAX) + 1 };

typedef struct rfn_quadratic {
    rb_dense hessian;             /* P, or P + diag tau; l x l, full */
    rb_dense linear;              /* Q', l x n */
    bool normalized;              /* each unit's mean square is 1; or only mu >= 0 */
    const bool *dead;             /* l: units whose codes are kept at 0; NULL: none */
    const rfn_patterns *patterns; /* of samples that lack values; NULL: P is that of all samples */
    rb_csr listed;                /* what of P is not 0, where that is little; or zeros */
} rfn_quadratic;

/* Samples in slices, each a task; none has samples of two groups, so that a group is cut in the
 * same way whichever process has it. */
typedef struct rfn_slices {
    int64_t all;                  /* samples of all processes */
    int64_t place;                /* of the first one here among them */
    int64_t groups;               /* here */
    int64_t bounds[RFN_BOUNDS];   /* the first sample of each, and the end */
    int64_t of_group[RFN_BOUNDS]; /* the first slice of each, and the end */
    int64_t count, *first;        /* sample of each slice, and the end */
} rfn_slices;

/* Scratch of the E-steps. */
typedef struct rfn_work {
    int64_t at_once;   /* units whose residuals are computed by one product; 2 at least */
    rb_dense residual; /* at_once x n: (mu P - Q)' of these units, in cyclic.c also other rows */
    rb_dense rows;     /* of P, for these units */
    int64_t *units;    /* 0 .. l - 1 */
    int64_t *order;    /* l: of the units in a sweep */
    rb_dense aimed;    /* 1 x n: what the codes of the unit at hand become, but for a factor */
    rb_dense changes;  /* 1 x n: the largest change of each sample's codes in a cyclic step */
    double *squares;   /* a slice of samples each */
    double *pulls;     /* l: the multipliers of the units, as the last sweep had them */
    double *parts;     /* at_once x groups: sums of squares */
    double *sums;      /* at_once: over all samples */
    bool *alive;       /* l: in the last step something of the unit was positive; normalised set */
    rb_csr_memory listed; /* of the problem */
    rfn_slices slices;
} rfn_work;

/* For so many samples; problem NULL: they are one group. */
rb_error rfn_work_new(rb_context *ctx, rb_type type, int64_t units, int64_t samples,
                      const rb_problem *problem, rfn_work *work);
void rfn_work_free(rfn_work *work);
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
static inline int64_t rfn_units_from(const rfn_work *work, int64_t l, int64_t first) {
    return l - first < work->at_once ? l - first : work->at_once;
}

static inline void rfn_swap(rb_dense *a, rb_dense *b) {
    rb_dense other = *a;
    *a = *b;
    *b = other;
}

/* The rows of (mu P)' and of (mu P - Q)' of some units, as many as `out` has, at_once at most.
 * Where samples have a P of their own, both are (mu P - Q)'. */
void rfn_product(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes,
                 const int64_t *units, rfn_work *work, rb_dense out);
void rfn_residual(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes,
                  const int64_t *units, rfn_work *work, rb_dense out);

/* Lists what of P is not 0, where products are faster then; and the memory that it takes. */
rb_error rfn_list_hessian(rb_context *ctx, rfn_quadratic *problem, rfn_work *work);
double rfn_list_bytes(rb_type type, int64_t units);

/* A B into C, of B and C those columns that are samples; beta: what of C stays. */
void rfn_product_over_samples(rb_context *ctx, const rfn_slices *slices, rb_dense a, rb_dense b,
                              double beta, rb_dense c);

/* outs <- the nearest feasible points of rows + factor steps: a unit a row, at most
 * work->at_once, samples of this process. Where nothing of a unit is positive, on the
 * normalised set, the largest value of all samples is taken (dead.c), unless it is dead already. */
void rfn_feasible_units(rb_context *ctx, bool normalized, double factor, rb_dense rows,
                        rb_dense steps, rb_dense outs, const bool *dead, rfn_work *work);
/* The same of one unit, on the calling thread, where there is one process. false: nothing was
 * positive. */
bool rfn_feasible(rb_context *ctx, const rfn_slices *slices, bool normalized, double factor,
                  rb_dense row, const void *step, void *out);
/* Where row + factor step is largest in all samples, the first of ties: at which sample of this
 * process, or -1. */
int64_t rfn_largest(rb_context *ctx, const rfn_slices *slices, double factor, rb_dense row,
                    const void *step);
/* Of a unit without a positive value that one takes all. out may be the row, or the step. */
void rfn_take_largest(rb_context *ctx, const rfn_slices *slices, double factor, rb_dense row,
                      const void *step, rb_dense out);

/* One step of an E-step from feasible codes.
 *
 * cyclic.c: exact minimisation over one unit after the other. Never raises O on either set. turn 0:
 * units in their order; else in one that is drawn for this turn, and by longer steps, which get
 * to the minimum sooner. marks: work->changes gets the largest change of each sample's codes. */
void rfn_cyclic(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes, int64_t turn,
                bool marks, rfn_work *work);
/* After a step that marks: the largest change, of all processes. */
double rfn_largest_change(rb_context *ctx, rb_dense codes, const rfn_work *work);
/* gradient.c: projected gradient step of length 0.999 / e_max. Never raises O on either set. next:
 * l x n, becomes the codes; `change` is the largest change of one. */
void rfn_gradient(rb_context *ctx, const rfn_quadratic *problem, double e_max, rb_dense *codes,
                  rb_dense *next, rfn_work *work, double *change);

/* gradient.c: the multipliers tau_j = mean_i mu_ij (Q - mu P)_ij of the units (0 without
 * normalising), and the KKT residual max |mu - P(mu - (mu P - Q) / e_max)| / max |mu|. */
void rfn_optimality(rb_context *ctx, const rfn_quadratic *problem, double e_max, rb_dense codes,
                    rfn_work *work, double *multipliers, double *residual);
/* P becomes P + diag tau; dead units are cut off from the others and get this diagonal. */
void rfn_add_multipliers(rb_dense p, const double *multipliers, const bool *dead, double diagonal);

#endif
