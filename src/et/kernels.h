/* Inner loops of the E-step, compiled once for each instruction set. Private to src/et.
 *
 * All samples have the same tree of states, so ET_LANES of them are walked side by side: the value
 * of state s of lane l lies at [s * ET_LANES + l]. A lane's results do not depend on the other
 * lanes. */
#ifndef RB_ET_KERNELS_H
#define RB_ET_KERNELS_H

#include "base/base.h"

enum { ET_LANES = 8, ET_BAND = 64, ET_STRIDES = 32 };

/* State 0 has no active cause. The children of a state have one more, of a higher index; they lie
 * side by side: that with candidate k is child[s] + k. States with few causes come first, so that
 * those below `inner` may have children and those from `inner` on have none. */
typedef struct et_tree {
    int candidates, max_active;
    int64_t count, inner;
    int32_t *last;   /* the candidate that was added last; -1 for state 0 */
    int32_t *parent; /* -1 for state 0 */
    int32_t *size;   /* active causes */
    int64_t *child;  /* inner states only */
} et_tree;

typedef struct et_kernels {
    const char *name;
    /* Energies of fields that add up: c = H' energies of the candidates alone, g = H' x H' (scaled
     * Gram matrix, row below column), work = inner x H'; all in lanes.
     *   e(s + k) = e(s) + f_s[k],   f_0 = c,   f_{s+k} = f_s - g_k */
    void (*energies)(const et_tree *tree, const double *c, const double *g, double *work,
                     double *energy);
    /* The largest energy of each lane and the first state that has it. */
    void (*largest)(int64_t count, const double *energy, double *best, int64_t *state);
    /* energy <- exp(energy - shift), their sum, and the sum of product with the energy. */
    void (*exponentials)(int64_t count, const double *shift, double *energy, double *total,
                         double *product);
    /* The same for n energies of one sample; scaled: energy *= factor. */
    void (*exponentials_one)(int64_t n, double shift, double *energy, double *total,
                             double *product);
    void (*scale)(int64_t count, const double *factor, double *energy);
    /* From probabilities of the states to moments, by suffix sums from the leaves to the root:
     * mean[k] = <s_k>, and pairs[j * H' + k] = <s_j s_k> for j < k unless NULL. Overwrites q; work
     * has inner x H'. All in lanes. */
    void (*moments)(const et_tree *tree, double *q, double *work, double *mean, double *pairs);
    /* out = max(a, b); returns sum_d out (2 y - out). */
    double (*maximum)(int64_t n, const double *a, const double *b, const double *y, double *out);
    /* A state of `size` causes in MCA: with sum = q (sum_k powers_k)^-a adds roots_k sum to
     * weights_k and that times y to products_k, wherever there (NULL: everywhere) is 1 and not 0. n
     * is at most ET_BAND. coarse: to 1e-6. */
    void (*responsibilities)(int64_t n, int size, bool coarse, double q, double a,
                             const double *const *powers, const double *const *roots,
                             const double *y, const double *there, double *const *weights,
                             double *const *products);
    double (*dot)(int64_t n, const double *x, const double *y);
    double (*sum)(int64_t n, const double *x);
    /* The first of the largest values above *best, which it becomes; -1 when there is none. */
    int64_t (*above)(int64_t n, const double *x, double *best);
    /* The largest of x[l], x[l + ET_STRIDES], ...; -1e308 where there is none above it. */
    void (*strides)(int64_t n, const double *x, double *largest);
    /* The indices of values of at least `least`, ascending; out has n + 1 places. */
    int64_t (*collect)(int64_t n, const double *x, double least, int32_t *out);
    /* out = scale (b - square / 2) + logit */
    void (*singles)(int64_t n, double scale, const double *b, const double *square,
                    const double *logit, double *out);
} et_kernels;

/* Those of the context's instruction set. */
const et_kernels *et_kernels_of(const rb_context *ctx);

#endif
