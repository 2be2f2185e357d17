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

typedef struct rfn_quadratic {
    rb_dense hessian; /* P, or P + diag tau; l x l, full */
    rb_dense linear;  /* Q', l x n */
    bool normalized;  /* each unit's mean square is 1; or only mu >= 0 */
    const bool *dead; /* l: units whose codes are kept at 0; NULL: none */
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

/* The residual rows of `count` units from `first`, into work->residual. */
void rfn_residual(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes, int64_t first,
                  int64_t count, rfn_work *work);

/* feasible.c: row <- the nearest feasible point of x + factor y; row is neither. false: nothing
 * was positive, and on the normalised set the largest value was taken (degenerate.c). */
bool rfn_feasible(rb_context *ctx, bool normalized, rb_type type, int64_t n, double factor,
                  const void *x, const void *y, void *row);
/* Where x + factor y is largest; the first of ties. */
int64_t rfn_largest(rb_type type, int64_t n, double factor, const void *x, const void *y);

/* One step of an E-step from feasible codes; `change` is the largest change of a code.
 *
 * cyclic.c: exact minimisation over one unit after the other. Never raises O on either set. */
void rfn_cyclic(rb_context *ctx, const rfn_quadratic *problem, rb_dense codes, rfn_work *work,
                double *change);
/* gradient.c: projected gradient step of length 0.999 / e_max. Never raises O on either set. next:
 * l x n, becomes the codes. */
void rfn_gradient(rb_context *ctx, const rfn_quadratic *problem, double e_max, rb_dense *codes,
                  rb_dense *next, rfn_work *work, double *change);

/* ---- E-steps that try candidates ----
 *
 * All but grg and haug-arora try points of the double projection of S9.5.3 (eq. 209),
 *     P(mu + gamma (P(mu + lambda D) - mu)),
 * and differ in the direction D and in the order of lambda and gamma. A candidate replaces the
 * codes when it lowers O by more than `rfn_search.bar` asks; else the codes stay, so that O never
 * rises whatever the direction. */

typedef enum rfn_toward { RFN_NOWHERE, RFN_POSTERIOR_MEANS, RFN_ELSEWHERE } rfn_toward;

typedef struct rfn_reduced rfn_reduced; /* scratch of the reduced E-step */

typedef struct rfn_search {
    const rfn_quadratic *problem;
    rfn_work *work;
    rb_dense sigma;         /* P^-1, l x l */
    double e_max;           /* the largest eigenvalue of P, from above */
    rb_dense codes, next;   /* feasible ones and a candidate; l x n, as are the following */
    rb_dense gradient;      /* (mu P - Q)' of the codes */
    rb_dense direction;     /* D' */
    rb_dense gradient_step; /* of the cascade: the codes of that step */
    rfn_toward toward;      /* which direction that is */
    rfn_reduced *reduced;   /* NULL unless that E-step is asked for */
    bool spares;            /* of the cascade: nothing that costs much and will hardly win */
    double change;          /* (n/2) O of the candidate less that of the codes */
    double bar;             /* candidates are taken whose change is below this; 0: any decrease */
} rfn_search;

/* Tries are halved this often at most: a step of 1/64 is the shortest. */
enum { RFN_HALVINGS = 6 };

/* The gradient of the codes. To be called when codes or problem have changed. */
void rfn_search_begin(rb_context *ctx, rfn_search *search);
/* next = P(mu + gamma (P(mu + lambda D) - mu)); search->change of what is in next; both: is it
 * better than the bar? */
void rfn_search_move(rb_context *ctx, rfn_search *search, rb_dense direction, double lambda,
                     double gamma);
void rfn_search_measure(rb_context *ctx, rfn_search *search);
bool rfn_search_try(rb_context *ctx, rfn_search *search, rb_dense direction, double lambda,
                    double gamma);

/* Will no step below `at_step` be better than the bar? By the parabola through 0 and the changes at
 * twice the step and at the step. NaN: no step was tried before. */
bool rfn_search_is_hopeless(double at_twice, double at_step, double bar);

/* Each returns whether search->next is better than the bar.
 *
 * anneal.c: P(mu_p), then towards it with gamma, lambda or both halved until it is better. */
void rfn_aim_at_means(rb_context *ctx, rfn_search *search); /* D = mu_p - mu */
bool rfn_try_newton(rb_context *ctx, rfn_search *search);
bool rfn_anneal_gamma(rb_context *ctx, rfn_search *search);
bool rfn_anneal_lambda(rb_context *ctx, rfn_search *search);
bool rfn_anneal_both(rb_context *ctx, rfn_search *search);
/* reduced.c: a Newton step of each sample in the units that are free to move. */
rb_error rfn_reduced_new(rb_context *ctx, int64_t units, int64_t samples, rfn_reduced **reduced);
void rfn_reduced_free(rfn_reduced *reduced);
bool rfn_try_reduced(rb_context *ctx, rfn_search *search);
/* grg.c, rosen.c, haug_arora.c: along the sphere of each unit; on the rectified set, where there is
 * no sphere, the gradient step. */
bool rfn_try_grg(rb_context *ctx, rfn_search *search);
bool rfn_try_rosen(rb_context *ctx, rfn_search *search);
bool rfn_try_haug_arora(rb_context *ctx, rfn_search *search);
/* search.c: the step of the gradient E-step. */
bool rfn_try_gradient(rb_context *ctx, rfn_search *search);

/* cascade.c */
/* Steps for which a stage is still left out, and how many it was the last time. */
typedef struct rfn_cascade {
    int64_t left_out[RB_RFN_STAGES], wait[RB_RFN_STAGES];
} rfn_cascade;

/* Runs the stages first to last until one is good enough, which moves search->codes; returns it.
 * any: whatever lowers O is good enough; else, from newton to gradient, what lowers it at least as
 * much as a gradient step. */
rb_rfn_stage rfn_cascade_step(rb_context *ctx, rfn_cascade *cascade, rfn_search *search,
                              rb_rfn_stage first, rb_rfn_stage last, bool any);

/* tangent.c: search->direction becomes minus the gradient on the tangent space of the sphere of
 * each unit, 0 where it points out of mu >= 0. Returns the step to the least O along it. */
double rfn_aim_along_tangent(rb_context *ctx, rfn_search *search);

/* optimality.c: the multipliers tau_j = mean_i mu_ij (Q - mu P)_ij of the units (0 without
 * normalising), and the KKT residual max |mu - P(mu - (mu P - Q) / e_max)| / max |mu|. */
void rfn_optimality(rb_context *ctx, const rfn_quadratic *problem, double e_max, rb_dense codes,
                    rfn_work *work, double *multipliers, double *residual);
/* P becomes P + diag tau; dead units are cut off from the others and get this diagonal. */
void rfn_add_multipliers(rb_dense p, const double *multipliers, const bool *dead, double diagonal);

#endif
