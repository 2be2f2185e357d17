/* Inner loops of the E-step, compiled once for each instruction set. Private to src/et.
 *
 * All samples have the same tree of states, so ET_LANES of them are walked side by side: the value
 * of state s of lane l lies at [s * ET_LANES + l]. A lane's results do not depend on the other
 * lanes. */
#ifndef RB_ET_KERNELS_H
#define RB_ET_KERNELS_H

#include "base/base.h"

enum { ET_LANES = 8, ET_BAND = 64, ET_STRIDES = 32, ET_FEW = 32 };

/* Active causes in a state, at most: a tree of more has too many states. */
enum { ET_MAX_ACTIVE = 32 };

/* An item is a candidate at one of its V values: item k is candidate k / V; no state has two of one
 * candidate. State 0 has no active cause. The children of a state have one more item, of a higher
 * candidate; they lie side by side: that with item k is child[s] + k, from k = first[s] on. States
 * with few causes come first, so that those below `inner` may have children and those from `inner`
 * on have none. */
typedef struct et_tree {
    int candidates, max_active;
    int items; /* candidates * V */
    int64_t count, inner;
    int32_t *last;   /* the item that was added last; -1 for state 0 */
    int32_t *first;  /* the lowest item that may be added */
    int32_t *parent; /* -1 for state 0 */
    int32_t *size;   /* active causes */
    int64_t *child;  /* inner states only */
} et_tree;

/* A cause of a state in MCA: R, R^a, and the sums of A and A y, n values each. */
typedef struct et_soft_cause {
    const double *powers, *roots;
    double *weights, *products;
} et_soft_cause;

typedef struct et_soft {
    double exponent; /* a */
    bool coarse;     /* powers to 1e-6 */
} et_soft;

typedef struct et_kernels {
    const char *name;
    /* Energies of fields that add up: c = H' energies of the items alone, g = H' x H' (scaled
     * Gram matrix, row below column), work = inner x H'; all in lanes, for H' items.
     *   e(s + k) = e(s) + f_s[k],   f_0 = c,   f_{s+k} = f_s - g_k */
    void (*energies)(const et_tree *tree, const double *c, const double *g, double *work,
                     double *energy);
    /* The largest energy of each lane and the first state that has it. */
    void (*largest)(int64_t count, const double *energy, double *best, int64_t *state);
    /* energy <- exp(energy - shift), their sum, and the sum of product with the energy, each by
     * lanes, for n energies in memory for whole lanes: what is beyond n becomes 0. */
    void (*exponentials)(int64_t n, const double *shift, double *energy, double *total,
                         double *product);
    void (*scale)(int64_t count, const double *factor, double *energy); /* of each lane */
    /* From probabilities of the states to moments, by suffix sums from the leaves to the root:
     * mean[k] = <s_k>, and pairs[j * H' + k] = <s_j s_k> for j < k unless NULL. Overwrites q; work
     * has inner x H'. All in lanes. */
    void (*moments)(const et_tree *tree, double *q, double *work, double *mean, double *pairs);
    /* out = max(a, b), unless out is NULL; returns sum_d max (2 y - max). */
    double (*maximum)(int64_t n, const double *a, const double *b, const double *y, double *out);
    /* A state of `size` causes in MCA: with sum = q (sum_k powers_k)^-a adds roots_k sum to
     * weights_k and that times y to products_k, wherever there (NULL: everywhere) is 1 and not 0. n
     * is at most ET_BAND. */
    void (*responsibilities)(int64_t n, int size, const et_soft_cause *causes, et_soft soft,
                             double q, const double *y, const double *there);
    double (*dot)(int64_t n, const double *x, const double *y);
    double (*sum)(int64_t n, const double *x);
    /* The first of the largest values above *best, which it becomes; -1 when there is none. */
    int64_t (*above)(int64_t n, const double *x, double *best);
    /* The indices of values among which the `count` largest are, ascending, and mostly few more:
     * those that reach the count-th largest of the largest of x[l], x[l + S], ... for l below S
     * = ET_STRIDES at most. out has n + ET_LANES places; count is at most ET_STRIDES / 2, and n
     * at least ET_STRIDES. -1: they could not be told, because values are minus infinity. */
    int64_t (*shortlist)(int64_t n, const double *x, int64_t count, int32_t *out);
    /* The `count` largest of x[list[0]], ... x[list[n - 1]], n at most ET_FEW, in the order of the
     * list; of equals the first. A list of NULL: 0 .. n - 1. */
    void (*largest_of)(int64_t n, const int32_t *list, const double *x, int64_t count,
                       int32_t *out);
    /* weights += q there (NULL: 1 everywhere); products += q y, y being 0 where it is not there. */
    void (*add_weighted)(int64_t n, double q, const double *y, const double *there, double *weights,
                         double *products);
    /* sums += x */
    void (*add)(int64_t n, const float *x, double *sums);
    /* out = scale value (b - value square / 2) + logit */
    void (*singles)(int64_t n, double scale, double value, const double *b, const double *square,
                    const double *logit, double *out);
} et_kernels;

/* Those of the context's instruction set. */
const et_kernels *et_kernels_of(const rb_context *ctx);

#endif
