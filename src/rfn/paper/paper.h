/* E-steps of the paper that try candidates. Private to src/rfn.
 *
 * All but grg and haug-arora try points of the double projection of S9.5.3 (eq. 209),
 *     P(mu + gamma (P(mu + lambda D) - mu)),
 * and differ in the direction D and in the order of lambda and gamma. A candidate replaces the
 * codes when it lowers O by more than `rfn_search.bar` asks; else the codes stay, so that O never
 * rises whatever the direction. */
#ifndef RB_RFN_PAPER_H
#define RB_RFN_PAPER_H

#include "rfn/estep/estep.h"

typedef struct rfn_reduced rfn_reduced; /* scratch of the reduced E-step */

typedef struct rfn_search {
    rb_context *ctx;
    const rfn_quadratic *problem;
    rfn_work *work;
    rb_dense sigma;         /* P^-1, l x l */
    double e_max;           /* the largest eigenvalue of P, from above */
    rb_dense codes, next;   /* feasible ones and a candidate; l x n, as are the following */
    rb_dense gradient;      /* (mu P - Q)' of the codes */
    rb_dense direction;     /* D' */
    rb_dense gradient_step; /* of the cascade: the codes of that step */
    bool toward_means;      /* D = mu_p - mu, or another direction */
    rfn_reduced *reduced;   /* NULL unless that E-step is asked for */
    bool spares;            /* of the cascade: nothing that costs much and will hardly win */
    double change;          /* (n/2) O of the candidate less that of the codes */
    int64_t tries;          /* of rfn_search_gradient, all together */
    double bar;             /* candidates are taken whose change is below this; 0: any decrease */
    /* What tasks are told and tell: the step, the units at hand, sums of each. */
    rb_dense along;
    double lambda, gamma;
    int64_t first;
    double sums[2][RFN_UNITS_AT_ONCE];
} rfn_search;

/* The gradient of the codes. To be called when codes or problem have changed. */
void rfn_search_begin(rb_context *ctx, rfn_search *search);
/* next = P(mu + gamma (P(mu + lambda D) - mu)); search->change of what is in next, and is it better
 * than the bar? Both. */
void rfn_search_move(rfn_search *search, rb_dense direction, double lambda, double gamma);
bool rfn_search_measure(rfn_search *search);
bool rfn_search_try(rfn_search *search, rb_dense direction, double lambda, double gamma);
/* The same with search->direction and gamma 1. */
bool rfn_search_along(rfn_search *search, double lambda);

/* Tries a step above 0, its half and so on until one is good enough. gives_up: or until no shorter
 * one will be, as far as the last two tell. */
enum { RFN_TRIES = 7 }; /* to a step of 1/64, the shortest */
bool rfn_search_halve(rfn_search *search, bool (*try)(rfn_search *search, double step), double step,
                      int tries, bool gives_up);

/* Each returns whether search->next is better than the bar.
 *
 * anneal.c: P(mu_p), then towards it with gamma, lambda or both halved until it is better. */
void rfn_aim_at_means(rfn_search *search); /* D = mu_p - mu */
bool rfn_try_newton(rfn_search *search);
bool rfn_anneal_gamma(rfn_search *search);
bool rfn_anneal_lambda(rfn_search *search);
bool rfn_anneal_both(rfn_search *search);
/* reduced.c: a Newton step of each sample in the units that are free to move. */
rb_error rfn_reduced_new(rb_context *ctx, int64_t units, int64_t samples, rfn_reduced **reduced);
void rfn_reduced_free(rfn_reduced *reduced);
bool rfn_try_reduced(rfn_search *search);
/* grg.c, tangent.c: along the sphere of each unit; on the rectified set, where there is
 * no sphere, the gradient step. */
bool rfn_try_grg(rfn_search *search);
bool rfn_try_rosen(rfn_search *search);
bool rfn_try_haug_arora(rfn_search *search);
/* search.c: the step of the gradient E-step; and that of the first length 1, beta, beta^2, ... that
 * lowers (n/2) O by alpha / length times the square of the step (S9.5.1, eq. 199), or the former
 * where none above it does. */
bool rfn_try_gradient(rfn_search *search);
bool rfn_search_gradient(rfn_search *search, double beta);

/* ---- cascade.c ---- */

/* Steps for which a stage is still left out, and how many it was the last time. */
typedef struct rfn_cascade {
    int64_t left_out[RB_RFN_STAGES], wait[RB_RFN_STAGES];
} rfn_cascade;

/* Runs the stages first to last until one is good enough, which moves search->codes; returns it.
 * any: whatever lowers O is good enough; else, from newton to gradient, what lowers it at least as
 * much as a gradient step. */
rb_rfn_stage rfn_cascade_step(rb_context *ctx, rfn_cascade *cascade, rfn_search *search,
                              rb_rfn_stage first, rb_rfn_stage last, bool any);

#endif
