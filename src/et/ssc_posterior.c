/* Spike and slab sparse coding: the posterior of a sample, truncated to states of few active causes
 * among a few candidates (and each cause alone), with the strengths integrated out.
 *
 * Of a state s with active causes S, b = W'y, G = W'W, v = sigma^2 / beta and R = diag(psi):
 *
 *     y | s ~ N(W_S mu_S, v I + W_S R^2 W_S')
 *     A = I + R G_S R / v,    r = b_S - G_S mu_S
 *     log p(y | s) = -D/2 log(2 pi v) - |y|^2 / (2 v) + (mu'b - mu'G mu / 2) / v
 *                    + (R r / v)' A^-1 (R r / v) / 2 - log|A| / 2
 *     z | s, y ~ N(kappa, C),   kappa = mu + R A^-1 R r / v,   C = R A^-1 R
 *
 * by Woodbury's identity, so that nothing of features is needed but b and G, and psi may be 0: then
 * it is LinCA with fields mu_h W_h. A grows by a row with each cause on the way down the tree of
 * states, and so does its Cholesky factor. J. Sheikh, J. Shelton, J. Luecke, "A truncated EM
 * approach for spike-and-slab sparse coding", JMLR 15 (2014), have the same model with a full
 * covariance of the slab; M. Titsias, M. Lazaro-Gredilla, "Spike and slab variational inference for
 * multi-task and multiple kernel learning", NIPS 24 (2011), a factored posterior instead of the
 * truncated one. */
#include "ssc.h"

#include <math.h>
#include <string.h>

enum { MAX = ET_MAX_ACTIVE };

/* Below it a state adds nothing to moments. */
static const double NOTHING = 1e-14;

typedef struct ssc_scratch {
    rb_dense y, b;          /* ET_TASK_SAMPLES x D, x H */
    double *single, *work;  /* H, H */
    int32_t *few;           /* H + ET_LANES */
    double *energy;         /* of the states */
    double *cross, *shared; /* H' x H': psi_i G_ij psi_j / v; psi_i G_ij mu_j / v */
    double *linear, *lone;  /* H': psi_i b_i / v; mu_i b_i / v - mu_i^2 G_ii / (2 v) */
    double factor[MAX][MAX], right[MAX + 1][MAX]; /* L; R r / v of the state of each depth */
    int path[MAX];                                /* its candidates */
} ssc_scratch;

/* ---- memory ---- */

static void take_scratch(ssc_engine *e, ssc_scratch *s) {
    rb_scratch *m = &e->memory;
    int64_t c = e->tree.candidates;
    rb_dense_take(m, RB_FLOAT64, ET_TASK_SAMPLES, e->n_features, &s->y);
    rb_dense_take(m, RB_FLOAT64, ET_TASK_SAMPLES, e->units, &s->b);
    s->single = rb_take(m, e->units, sizeof(double));
    s->work = rb_take(m, e->units, sizeof(double));
    s->few = rb_take(m, e->units + ET_LANES, sizeof *s->few);
    s->energy = rb_take(m, e->tree.count, sizeof(double));
    s->cross = rb_take(m, c, (size_t)c * sizeof(double));
    s->shared = rb_take(m, c, (size_t)c * sizeof(double));
    s->linear = rb_take(m, c, sizeof(double));
    s->lone = rb_take(m, c, sizeof(double));
}

static int64_t candidates_of(const ssc_options *o) {
    enum { USUAL = 8 };
    return o->exact ? o->units : rb_smaller(o->candidates ? o->candidates : USUAL, o->units);
}

static int64_t active_of(const ssc_options *o) {
    return rb_smaller(o->exact ? o->units : o->max_active, candidates_of(o));
}

static rb_error allocate(rb_context *ctx, const ssc_options *o, ssc_engine *e) {
    rb_scratch *m = &e->memory;
    m->ctx = ctx;
    int64_t workers = rb_context_threads(ctx);
    et_tree_new(m, candidates_of(o), active_of(o), 1, &e->tree);
    e->logit = rb_take(m, e->units, sizeof(double));
    rb_dense_take(m, RB_FLOAT64, e->units, e->units, &e->gram);
    e->scratch = rb_take(m, workers, sizeof *e->scratch);
    for (int64_t i = 0; !m->err && i < workers; i++)
        take_scratch(e, &e->scratch[i]);
    return m->err;
}

rb_error ssc_engine_new(rb_context *ctx, int64_t features, rb_type type, const ssc_options *o,
                        ssc_engine **out) {
    *out = NULL;
    enum { MAX_EXACT = 16 };
    if (o->exact && o->units > MAX_EXACT) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "exact uses all 2^%lld states of each sample; it needs at most %d units",
                       (long long)o->units, (int)MAX_EXACT);
    }
    rb_error err = et_tree_check(ctx, candidates_of(o), active_of(o), 1);
    if (!err && active_of(o) > MAX)
        err =
            rb_fail(ctx, RB_ERROR_ARGUMENT, "at most %d causes can be active in a state", (int)MAX);
    if (err) return err;
    ssc_engine *e = rb_alloc_zero(ctx, 1, sizeof *e);
    if (!e) return RB_ERROR_MEMORY;
    e->units = o->units;
    e->n_features = features;
    e->type = type;
    e->kernels = et_kernels_of(ctx);
    err = allocate(ctx, o, e);
    if (err) ssc_engine_free(e);
    *out = err ? NULL : e;
    return err;
}

void ssc_engine_free(ssc_engine *e) {
    if (e) {
        rb_scratch_end(&e->memory);
        rb_free(e);
    }
}

double ssc_results_bytes(const ssc_options *o) {
    double c = (double)candidates_of(o), h = (double)o->units;
    return 8 * (3 * h + c * c + c + 4);
}

rb_error ssc_results_new(rb_context *ctx, const ssc_engine *e, int64_t capacity, ssc_results *r) {
    int64_t h = e->units, c = e->tree.candidates;
    *r = (ssc_results){.memory = {.ctx = ctx}, .capacity = capacity};
    rb_scratch *m = &r->memory;
    rb_dense_take(m, e->type, capacity, h, &r->mean);
    rb_dense_take(m, RB_FLOAT64, capacity, h, &r->spikes);
    rb_dense_take(m, RB_FLOAT64, capacity, h, &r->squares);
    rb_dense_take(m, RB_FLOAT64, capacity, c * c, &r->pairs);
    r->candidates = rb_take(m, capacity, (size_t)c * sizeof *r->candidates);
    r->evidence = rb_take(m, capacity, sizeof(double));
    r->norm = rb_take(m, capacity, sizeof(double));
    return m->err;
}

/* ---- what is computed once for all samples ---- */

void ssc_prepare(rb_context *ctx, ssc_engine *e, const ssc_parameters *p, double beta) {
    rb_dense w = p->base.fields;
    e->parameters = p;
    e->variance = p->base.sigma * p->base.sigma / beta;
    e->constant = -(double)e->n_features / 2 * log(2 * M_PI * e->variance);
    for (int64_t h = 0; h < e->units; h++) {
        e->logit[h] = log(p->base.prior[h]) - log1p(-p->base.prior[h]);
        e->constant += log1p(-p->base.prior[h]);
    }
    rb_gemm_lower(ctx, 1, w, RB_PLAIN, w, RB_TRANSPOSED, 0, e->gram);
    rb_dense_mirror(e->gram);
}

/* ---- a cause alone ---- */

typedef struct lone {
    double energy, mean, variance; /* of z */
} lone;

static lone alone(const ssc_engine *e, int64_t h, double b) {
    const ssc_parameters *p = e->parameters;
    double g = rb_dense_get(e->gram, h, h), mu = p->mean[h], psi = p->sd[h], v = e->variance;
    double a = 1 + psi * psi * g / v, r = psi * (b - g * mu) / v;
    return (lone){e->logit[h] + (mu * b - mu * mu * g / 2) / v + r * r / a / 2 - log(a) / 2,
                  mu + psi * r / a, psi * psi / a};
}

/* ---- states of the candidates ---- */

static void prepare_candidates(const ssc_engine *e, ssc_scratch *s, const double *b,
                               const int32_t *list) {
    const ssc_parameters *p = e->parameters;
    int64_t count = e->tree.candidates;
    double v = e->variance;
    for (int64_t i = 0; i < count; i++) {
        int64_t h = list[i];
        const double *g = rb_dense_row(e->gram, h);
        double mu = p->mean[h], psi = p->sd[h];
        for (int64_t j = 0; j < count; j++) {
            s->cross[i * count + j] = psi * g[list[j]] * p->sd[list[j]] / v;
            s->shared[i * count + j] = psi * g[list[j]] * p->mean[list[j]] / v;
        }
        s->linear[i] = psi * b[h] / v;
        s->lone[i] = (mu * b[h] - mu * mu * g[h] / 2) / v;
    }
}

/* A state on the way down. */
typedef struct node {
    int size;
    double rest; /* its energy without the quadratic form: prior, mu'b - mu'G mu / 2, log|A| */
} node;

/* Takes candidate k into the state of the path: a row of L, and R r / v of all. */
static node grow(const ssc_engine *e, ssc_scratch *s, const int32_t *list, node from, int k) {
    const ssc_parameters *p = e->parameters;
    int64_t count = e->tree.candidates;
    int n = from.size;
    double *row = s->factor[n], *right = s->right[n + 1], rest = s->cross[k * count + k] + 1;
    double between = 0;
    s->path[n] = k;
    for (int i = 0; i < n; i++) {
        int other = s->path[i];
        double left = s->cross[k * count + other];
        for (int j = 0; j < i; j++)
            left -= row[j] * s->factor[i][j];
        row[i] = left / s->factor[i][i];
        rest -= row[i] * row[i];
        between += rb_dense_get(e->gram, list[k], list[other]) * p->mean[list[other]];
        right[i] = s->right[n][i] - s->shared[other * count + k];
    }
    row[n] = sqrt(fmax(rest, 1)); /* A - I is positive semidefinite */
    right[n] = s->linear[k] - s->shared[k * count + k];
    for (int i = 0; i < n; i++)
        right[n] -= s->shared[k * count + s->path[i]];
    double mu = p->mean[list[k]];
    return (node){n + 1, from.rest + e->logit[list[k]] + s->lone[k] - mu * between / e->variance -
                             log(row[n])};
}

/* t = L^-1 R r / v; returns half its square. */
static double forward(const ssc_scratch *s, int size, double *t) {
    double sum = 0;
    for (int i = 0; i < size; i++) {
        t[i] = s->right[size][i];
        for (int j = 0; j < i; j++)
            t[i] -= s->factor[i][j] * t[j];
        t[i] /= s->factor[i][i];
        sum += t[i] * t[i];
    }
    return sum / 2;
}

/* x = L'^-1 x */
static void backward(const ssc_scratch *s, int size, double *x) {
    for (int i = size - 1; i >= 0; i--) {
        for (int j = i + 1; j < size; j++)
            x[i] -= s->factor[j][i] * x[j];
        x[i] /= s->factor[i][i];
    }
}

static void find_energies(const ssc_engine *e, ssc_scratch *s, const int32_t *list, int64_t state,
                          node from) {
    const et_tree *tree = &e->tree;
    double t[MAX];
    for (int k = tree->last[state] + 1; k < tree->candidates; k++) {
        int64_t child = tree->child[state] + k;
        node next = grow(e, s, list, from, k);
        s->energy[child] = next.rest + forward(s, next.size, t);
        if (child < tree->inner) find_energies(e, s, list, child, next);
    }
}

/* Where moments of a sample go. */
typedef struct moments {
    double *mean, *spikes, *squares, *pairs;
} moments;

/* Adds those of a state of probability q. */
static void add_state(const ssc_engine *e, const ssc_scratch *s, const int32_t *list, int size,
                      double q, const moments *to) {
    const ssc_parameters *p = e->parameters;
    double kappa[MAX], inverse[MAX];
    (void)forward(s, size, kappa);
    backward(s, size, kappa);
    for (int i = 0; i < size; i++) {
        int64_t h = list[s->path[i]];
        kappa[i] = p->mean[h] + p->sd[h] * kappa[i];
    }
    for (int i = 0; i < size; i++) {
        int64_t h = list[s->path[i]], count = e->tree.candidates;
        to->mean[h] += q * kappa[i];
        to->spikes[h] += q;
        for (int j = 0; j < size; j++) { /* column i of A^-1 */
            inverse[j] = j == i;
            for (int l = i; l < j; l++)
                inverse[j] -= s->factor[j][l] * inverse[l];
            inverse[j] /= s->factor[j][j];
        }
        backward(s, size, inverse);
        to->squares[h] += q * (kappa[i] * kappa[i] + p->sd[h] * p->sd[h] * inverse[i]);
        for (int j = i + 1; j < size; j++) { /* candidates ascend along the path */
            double c = p->sd[h] * p->sd[list[s->path[j]]] * inverse[j];
            to->pairs[s->path[i] * count + s->path[j]] += q * (kappa[i] * kappa[j] + c);
        }
    }
}

/* Those of two causes or more; energies are probabilities by now. */
static void add_states(const ssc_engine *e, ssc_scratch *s, const int32_t *list, int64_t state,
                       node from, const moments *to) {
    const et_tree *tree = &e->tree;
    for (int k = tree->last[state] + 1; k < tree->candidates; k++) {
        int64_t child = tree->child[state] + k;
        bool adds = s->energy[child] > NOTHING && from.size > 0;
        if (!adds && child >= tree->inner) continue;
        node next = grow(e, s, list, from, k);
        if (adds) add_state(e, s, list, next.size, s->energy[child], to);
        if (child < tree->inner) add_states(e, s, list, child, next, to);
    }
}

/* ---- a sample ---- */

/* Energies become probabilities; singles have those of causes alone, also of candidates. Returns
 * the log of the sum. */
static double normalise(const ssc_engine *e, ssc_scratch *s) {
    const et_tree *tree = &e->tree;
    double highest = 0, total = 0;
    s->energy[0] = 0;
    for (int64_t i = 0; i < tree->count; i++)
        highest = fmax(highest, s->energy[i]);
    for (int64_t h = 0; h < e->units; h++)
        highest = fmax(highest, s->single[h]);
    for (int i = 0; i < tree->candidates; i++) /* which stand in singles */
        s->energy[tree->child[0] + i] = -HUGE_VAL;
    for (int64_t i = 0; i < tree->count; i++)
        total += s->energy[i] = exp(s->energy[i] - highest);
    for (int64_t h = 0; h < e->units; h++)
        total += s->single[h] = exp(s->single[h] - highest);
    for (int64_t i = 0; i < tree->count; i++)
        s->energy[i] /= total;
    for (int64_t h = 0; h < e->units; h++)
        s->single[h] /= total;
    return highest + log(total);
}

static void find_posterior(const ssc_engine *e, ssc_scratch *s, const double *b, ssc_results *r,
                           int64_t i) {
    int32_t *list = r->candidates + i * e->tree.candidates;
    moments to = {s->work, rb_dense_row(r->spikes, i), rb_dense_row(r->squares, i),
                  rb_dense_row(r->pairs, i)};
    for (int64_t h = 0; h < e->units; h++)
        s->single[h] = alone(e, h, b[h]).energy;
    et_select(e->kernels, s->single, e->units, e->tree.candidates, s->work, s->few, list);
    prepare_candidates(e, s, b, list);
    find_energies(e, s, list, 0, (node){0, 0});
    r->evidence[i] = e->constant - r->norm[i] / (2 * e->variance) + normalise(e, s);
    memset(to.pairs, 0, (size_t)r->pairs.cols * sizeof *to.pairs);
    for (int64_t h = 0; h < e->units; h++) {
        lone z = alone(e, h, b[h]);
        to.spikes[h] = s->single[h];
        to.mean[h] = s->single[h] * z.mean;
        to.squares[h] = s->single[h] * (z.mean * z.mean + z.variance);
    }
    add_states(e, s, list, 0, (node){0, 0}, &to);
    rb_dense_copy((rb_dense){to.mean, 1, e->units, e->units, RB_FLOAT64},
                  rb_dense_rows(r->mean, i, 1));
}

struct pass {
    const rb_context *ctx;
    const ssc_engine *engine;
    const rb_block *block;
    ssc_results *results;
};

static void posterior_task(void *arg, int64_t task, int worker) {
    const struct pass *pass = arg;
    const ssc_engine *e = pass->engine;
    ssc_scratch *s = &e->scratch[worker];
    int64_t first = task * ET_TASK_SAMPLES;
    int64_t count = rb_smaller(ET_TASK_SAMPLES, pass->block->n_samples - first);
    rb_dense y = rb_dense_rows(s->y, 0, count), b = rb_dense_rows(s->b, 0, count);
    rb_block_rows(pass->block, first, y);
    rb_gemm(1, y, RB_PLAIN, e->parameters->base.fields, RB_TRANSPOSED, 0, b);
    for (int64_t i = 0; i < count && !rb_asked_to_stop(pass->ctx); i++) {
        const double *row = rb_dense_row(y, i);
        pass->results->norm[first + i] = e->kernels->dot(e->n_features, row, row);
        find_posterior(e, s, rb_dense_row(b, i), pass->results, first + i);
    }
}

rb_error ssc_posteriors(rb_context *ctx, const ssc_engine *e, const rb_block *block,
                        ssc_results *r) {
    struct pass pass = {ctx, e, block, r};
    int64_t tasks = (block->n_samples + ET_TASK_SAMPLES - 1) / ET_TASK_SAMPLES;
    return rb_parallel_or_stop(ctx, tasks, posterior_task, &pass);
}
