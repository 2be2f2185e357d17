/* Codes of factor models: the mean of the posterior of the factors.
 *
 * Normal factors (D. Rubin, D. Thayer, "EM algorithms for ML factor analysis", Psychometrika 47,
 * 1982), by Woodbury's identity, so that nothing of features x features is needed:
 *
 *     Sigma = (I + W' Psi^-1 W)^-1,   mu_i = Sigma W' Psi^-1 v_i
 *
 * Other priors are bounded from below by normal ones with a variance xi of each factor of each
 * sample (M. Girolami, "A variational method for learning sparse and overcomplete representations",
 * Neural Computation 13, 2001; J. Palmer, D. Wipf, K. Kreutz-Delgado, B. Rao, "Variational EM
 * algorithms for non-Gaussian latent variable models", NIPS 18, 2006). For s = z^2 and -ln p(z)
 * concave in s, its tangent at s0 gives
 *
 *     Laplace   p(z) = exp(-sqrt(2) |z|) / sqrt(2)  >=  exp(-xi - z^2 / (2 xi)) / sqrt(2),
 *                                                       best at xi = sqrt(s0 / 2)
 *     Jeffreys  p(z) = 1 / |z|  >=  exp(1/2 - z^2 / (2 xi)) / sqrt(xi),     best at xi = s0
 *     FABIA     p(z) = exp(-|z|) / C up to |z| = 1, exp(-(z^2 + 1) / 2) / C beyond
 *                    >=  exp(-xi / 2 - z^2 / (2 xi)) / C for xi <= 1, best at min(1, sqrt(s0))
 *
 * The last is what variances of at most 1 come to, which FABIA has (S. Hochreiter et al., "FABIA:
 * factor analysis for bicluster acquisition", Bioinformatics 26, 2010), as sqrt(s0 + 0.001),
 *
 * so that Sigma_i = (Xi_i^-1 + W' Psi^-1 W)^-1, and then xi from s0 = E z^2 = mu^2 + Sigma_jj; the
 * bound of ln p(v) never falls. Jeffreys' go to 0 ever more slowly so; new samples end with
 * `ascend`. With R = Xi^1/2 and A = I + R G R no xi need be inverted, and it
 * may be 0: Sigma = R A^-1 R, ln |W Xi W' + Psi| = ln |Psi| + ln |A|.
 */
#include "fa.h"

#include <math.h>
#include <string.h>

static const double LN_2PI = 1.8378770664093454836, LN_2 = 0.69314718055994530942;

/* Below it a factor is not there; its square is still a number. */
static const double SMALLEST = 1e-100;
/* What FABIA adds to E z^2. */
static const double LEAST_SQUARE = 1e-3;
/* ln C of FABIA's prior, C = 2 - 2/e + sqrt(2 pi / e) erfc(1 / sqrt(2)). */
static const double LN_FABIA = 0.557707204870235;
/* Variances that change by no more than this share of the largest have settled. */
static const double SETTLED = 1e-8;

void fa_posterior_new(rb_scratch *scratch, rb_type type, int64_t m, int64_t l, fa_prior prior,
                      fa_posterior *p) {
    *p = (fa_posterior){.prior = prior};
    rb_dense_take(scratch, type, m, l, &p->weighted);
    rb_dense_take(scratch, type, l, l, &p->gram);
    if (prior != FACTORS_NORMAL) {
        p->wide = rb_take(scratch, l * l, sizeof *p->wide);
        return;
    }
    rb_dense_take(scratch, type, l, l, &p->sigma);
    rb_dense_take(scratch, type, m, l, &p->filter);
    if (!scratch->err) scratch->err = rb_spd_new(scratch->ctx, type, l, &p->factor);
}

static rb_error set_normal(rb_context *ctx, fa_posterior *p) {
    int64_t l = p->gram.rows;
    for (int64_t j = 0; j < l; j++)
        rb_dense_set(p->gram, j, j, rb_dense_get(p->gram, j, j) + 1);
    rb_error err = rb_spd_factor(ctx, p->factor, p->gram);
    if (err) {
        rb_fail_prefix(ctx, "the matrix I + W' Psi^-1 W: ");
        return err;
    }
    p->log_det = rb_spd_log_det(p->factor);
    rb_spd_inverse(ctx, p->factor, p->sigma);
    rb_gemm_parallel(ctx, 1, p->weighted, RB_PLAIN, p->sigma, RB_PLAIN, 0, p->filter);
    for (int64_t j = 0; j < l; j++)
        rb_dense_set(p->gram, j, j, rb_dense_get(p->gram, j, j) - 1);
    return RB_OK;
}

rb_error fa_posterior_set(rb_context *ctx, rb_dense loadings, const double *noise,
                          fa_posterior *p) {
    int64_t l = loadings.cols;
    p->noise_log_det = 0;
    rb_dense_zero(p->weighted);
    for (int64_t k = 0; k < loadings.rows; k++) {
        rb_axpy(ctx, loadings.type, l, 1 / noise[k], rb_dense_row(loadings, k),
                rb_dense_row(p->weighted, k));
        p->noise_log_det += log(noise[k]);
    }
    rb_gemm_lower(ctx, 1, loadings, RB_TRANSPOSED, p->weighted, RB_PLAIN, 0, p->gram);
    rb_dense_mirror(p->gram);
    if (p->prior == FACTORS_NORMAL) return set_normal(ctx, p);
    rb_dense_copy(p->gram, (rb_dense){p->wide, l, l, l, RB_FLOAT64});
    return RB_OK;
}

/* ---- one sample ---- */

enum { LINEAR = 4 }; /* rows that a thread has: q, R, R q, A^-1 R q */

void fa_work_new(rb_scratch *scratch, int64_t l, bool spread, fa_work *w) {
    int64_t ld = (l + RB_SWEEP_PAD - 1) / RB_SWEEP_PAD * RB_SWEEP_PAD;
    *w = (fa_work){.l = l, .ld = ld, .threads = rb_context_threads(scratch->ctx)};
    w->squares = rb_take(scratch, w->threads * (ld + RB_SWEEP_PAD) * ld, sizeof *w->squares);
    w->linear = rb_take(scratch, w->threads * LINEAR * l, sizeof *w->linear);
    w->values = rb_take(scratch, FACTORS_PARTS, sizeof *w->values);
    if (spread) w->spread = rb_take(scratch, FACTORS_PARTS * l * l, sizeof *w->spread);
}

/* What a thread has while it works on a sample. */
struct sample {
    const fa_posterior *posterior;
    const struct rb_kernels *kernels;
    int64_t l, ld;
    double *a, *scratch; /* A, then -A^-1: lower triangle */
    double *q, *root;    /* W' Psi^-1 v; R */
    double *scaled, *mu; /* R q; A^-1 R q */
    double *xi;
    double log_det; /* ln |A| */
};

static const struct rb_type_kernels *kernels_of(const struct sample *s) {
    return &s->kernels->of[RB_FLOAT64];
}

/* A^-1; false where a number is beyond all bounds. */
static bool invert(struct sample *s) {
    memset(s->a, 0, (size_t)(s->ld * s->ld) * sizeof *s->a);
    for (int64_t i = 0; i < s->l; i++) {
        double *row = s->a + i * s->ld;
        const double *gram = s->posterior->wide + i * s->l;
        kernels_of(s)->add_products(i + 1, s->root[i], s->root, gram, row);
        row[i] += 1;
    }
    return s->kernels->sweep(s->l, s->a, s->ld, s->scratch, &s->log_det) < 0;
}

/* mu = R A^-1 R q, in place of q's row `code`; by the lower triangle of A^-1. */
static void find_code(const struct sample *s, rb_dense codes, int64_t row) {
    for (int64_t i = 0; i < s->l; i++) {
        const double *a = s->a + i * s->ld;
        double scaled = s->root[i] * s->q[i];
        s->scaled[i] = scaled;
        s->mu[i] = -kernels_of(s)->dot(i + 1, a, s->scaled);
        kernels_of(s)->axpy(i, -scaled, a, s->mu);
    }
    for (int64_t i = 0; i < s->l; i++)
        rb_dense_set(codes, row, i, s->root[i] * s->mu[i]);
}

static double best_variance(const fa_posterior *p, double square) {
    if (p->prior == FACTORS_FABIA) return fmin(1, sqrt(square + LEAST_SQUARE));
    double xi = p->prior == FACTORS_LAPLACE ? sqrt(square / 2) : square;
    return fmax(xi, SMALLEST);
}

/* E z_j^2 */
static double square_of(const struct sample *s, rb_dense codes, int64_t row, int64_t j) {
    double code = rb_dense_get(codes, row, j);
    return code * code - s->root[j] * s->root[j] * s->a[j * s->ld + j];
}

/* The next variances; did any change? */
static bool move_variances(const struct sample *s, rb_dense codes, int64_t row) {
    double largest = 0, change = 0;
    for (int64_t j = 0; j < s->l; j++) {
        double xi = best_variance(s->posterior, square_of(s, codes, row, j));
        change = fmax(change, fabs(xi - s->xi[j]));
        largest = fmax(largest, xi);
        s->xi[j] = xi;
    }
    return change > SETTLED * largest;
}

/* ln |Sigma| / 2 + sum_j E ln p~(z_j). Sigma was of the variances before, root^2. */
static double fit_value(const struct sample *s, rb_dense codes, int64_t row) {
    double value = -s->log_det / 2;
    for (int64_t j = 0; j < s->l; j++) {
        double xi = s->xi[j], ratio = square_of(s, codes, row, j) / (2 * xi);
        if (s->posterior->prior == FACTORS_LAPLACE)
            value += log(s->root[j]) - LN_2 / 2 - xi - ratio;
        else if (s->posterior->prior == FACTORS_FABIA)
            value += log(s->root[j]) - LN_FABIA - xi / 2 - ratio;
        else
            value += log(s->root[j] / sqrt(xi)) + 0.5 - ratio;
    }
    return value;
}

/* ln N(v; 0, W Xi W' + Psi) without the parts that are the same for all factors, and what the
 * bound of the prior adds. */
static double bound_value(const struct sample *s, rb_dense codes, int64_t row) {
    double value = -s->log_det / 2;
    for (int64_t j = 0; j < s->l; j++) {
        double xi = s->root[j] * s->root[j];
        value += s->q[j] * rb_dense_get(codes, row, j) / 2;
        if (s->posterior->prior == FACTORS_LAPLACE)
            value += (LN_2PI - LN_2 + log(xi)) / 2 - xi;
        else if (s->posterior->prior == FACTORS_FABIA)
            value += (LN_2PI + log(xi) - xi) / 2 - LN_FABIA;
        else
            value += (LN_2PI + 1) / 2;
    }
    return value;
}

static void add_spread(const struct sample *s, double *spread) {
    for (int64_t i = 0; i < s->l; i++)
        kernels_of(s)->add_products(i + 1, -s->root[i], s->root, s->a + i * s->ld,
                                    spread + i * s->l);
}

/* Moves xi_j by d in K = W Xi W' + Psi: B = W' K^-1 W (in A's place) and b = W' K^-1 v follow. */
static void move_variance(struct sample *s, int64_t j, double d) {
    double *b = s->scaled, *column = s->mu;
    memcpy(column, s->a + j * s->ld, (size_t)s->l * sizeof *column);
    double rate = d / (1 + d * column[j]);
    kernels_of(s)->axpy(s->l, -rate * b[j], column, b);
    for (int64_t i = 0; i < s->l; i++)
        kernels_of(s)->axpy(s->l, -rate * column[i], column, s->a + i * s->ld);
    s->xi[j] += d;
}

/* Jeffreys: the bound of ln p(v) is ln N(v; 0, K) but for a constant, and with s and q what B_jj
 * and b_j are without unit j its maximum over xi_j is at (q^2 - s) / s^2, or 0 (M. Tipping, A.
 * Faul, "Fast marginal likelihood maximisation for sparse Bayesian models", AISTATS 2003). One unit
 * after the other, until they settle. */
static void ascend(struct sample *s) {
    enum { SWEEPS = 1000 };
    double change = INFINITY, largest = 0;
    for (int64_t i = 0; i < s->l; i++)
        memcpy(s->a + i * s->ld, s->posterior->wide + i * s->l, (size_t)s->l * sizeof *s->a);
    memcpy(s->scaled, s->q, (size_t)s->l * sizeof *s->q);
    for (int64_t j = 0; j < s->l; j++) {
        double xi = s->xi[j];
        s->xi[j] = 0;
        move_variance(s, j, xi);
    }
    for (int64_t sweep = 0; sweep < SWEEPS && change > SETTLED * largest; sweep++) {
        change = largest = 0;
        for (int64_t j = 0; j < s->l; j++) {
            double rest = 1 - s->xi[j] * s->a[j * s->ld + j];
            double own = s->a[j * s->ld + j] / rest, linear = s->scaled[j] / rest;
            double xi = linear * linear > own ? (linear * linear - own) / (own * own) : 0;
            if (!(rest > 0) || !isfinite(xi)) continue; /* beyond what numbers tell */
            change = fmax(change, fabs(xi - s->xi[j]));
            largest = fmax(largest, xi);
            move_variance(s, j, xi - s->xi[j]);
        }
    }
}

/* Code, A^-1 and so on by the variances. */
static bool find_posterior(struct sample *s, rb_dense codes, int64_t row) {
    for (int64_t j = 0; j < s->l; j++)
        s->root[j] = sqrt(s->xi[j]);
    if (!invert(s)) return false;
    find_code(s, codes, row);
    return true;
}

static bool infer_sample(struct sample *s, const fa_pass *pass, int64_t row, int64_t part) {
    bool moves = true;
    s->xi = pass->variances + row * s->l;
    for (int64_t j = 0; j < s->l; j++)
        s->q[j] = rb_dense_get(pass->codes, row, j);
    for (int64_t step = 0; step < pass->steps && moves; step++) {
        if (!find_posterior(s, pass->codes, row)) return false;
        moves = move_variances(s, pass->codes, row);
    }
    if (moves && !pass->fit && s->posterior->prior == FACTORS_JEFFREYS) {
        ascend(s);
        if (!find_posterior(s, pass->codes, row)) return false;
    }
    double value = pass->fit ? fit_value(s, pass->codes, row) : bound_value(s, pass->codes, row);
    pass->work->values[part] += value;
    if (pass->spread) add_spread(s, pass->work->spread + part * s->l * s->l);
    return true;
}

/* ---- a block ---- */

struct task {
    rb_context *ctx;
    const fa_pass *pass;
    struct bands parts;
};

static void infer_part(void *arg, int64_t part, int worker) {
    const struct task *t = arg;
    const fa_work *w = t->pass->work;
    struct sample s = {.posterior = t->pass->posterior,
                       .kernels = rb_kernels_of(t->ctx),
                       .l = w->l,
                       .ld = w->ld,
                       .a = w->squares + worker * (w->ld + RB_SWEEP_PAD) * w->ld,
                       .q = w->linear + worker * LINEAR * w->l};
    s.scratch = s.a + w->ld * w->ld;
    s.root = s.q + w->l;
    s.scaled = s.root + w->l;
    s.mu = s.scaled + w->l;
    int64_t first = rb_band_start(t->parts, part), count = rb_band_size(t->parts, part);
    w->values[part] = 0;
    for (int64_t e = 0; t->pass->spread && e < w->l * w->l; e++)
        w->spread[part * w->l * w->l + e] = 0;
    for (int64_t i = first; i < first + count; i++)
        if (!infer_sample(&s, t->pass, i, part)) w->values[part] = NAN;
}

rb_error fa_infer(rb_context *ctx, const fa_pass *pass) {
    const fa_work *w = pass->work;
    struct task task = {ctx, pass, rb_cut(pass->codes.rows, FACTORS_PARTS)};
    rb_error err = rb_parallel_or_stop(ctx, task.parts.count, infer_part, &task);
    for (int64_t part = 0; !err && part < task.parts.count; part++) {
        *pass->value += w->values[part];
        for (int64_t e = 0; pass->spread && e < w->l * w->l; e++)
            pass->spread[e] += w->spread[part * w->l * w->l + e];
        if (isnan(w->values[part]))
            err = rb_fail(ctx, RB_ERROR_NUMERIC,
                          "the codes of a sample overflow; divide the data by a constant");
    }
    return err;
}
