/* The newton E-step as its equations stand, sample by sample in float64: what tests compare the
 * fast engine with. It shares neither posterior nor products with it.
 *
 *     P = M^-1 + W' Psi^-1 W,  mu_p = P^-1 (W' Psi^-1 v + M^-1 xi),  mu = max(0, mu_p)
 */
#include "engine.h"

#include <math.h>
#include <stddef.h>

typedef struct reference {
    rfn_setup setup;
    double *weighted;               /* Psi^-1 W, m x l */
    double *precision, *covariance; /* P, P^-1, l x l */
    const double *linear;           /* M^-1 xi, l */
    double *v, *means;              /* of a sample: m, l */
    void *row, *codes;              /* the same of the type */
    double *u, *s, *raw, *sum;      /* sums that wait: m x l, l x l, l x l, l */
    double weight;
} reference;

static const rb_field fields[] = {
    {"weighted", offsetof(reference, weighted), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_FEATURES,
     RFN_UNITS},
    {"covariance", offsetof(reference, covariance), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_UNITS,
     RFN_UNITS},
    {"precision", offsetof(reference, precision), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_UNITS,
     RFN_UNITS},
    {"v", offsetof(reference, v), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_FEATURES},
    {"means", offsetof(reference, means), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_UNITS},
    {"row", offsetof(reference, row), RB_FIELD_POINTER, RB_KEPT_WORKING, RFN_FEATURES},
    {"codes", offsetof(reference, codes), RB_FIELD_POINTER, RB_KEPT_WORKING, RFN_UNITS},
    {"u", offsetof(reference, u), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_FEATURES, RFN_UNITS},
    {"s", offsetof(reference, s), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_UNITS, RFN_UNITS},
    {"raw", offsetof(reference, raw), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_UNITS, RFN_UNITS},
    {"sum", offsetof(reference, sum), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RFN_UNITS},
    {0},
};
static const rb_part parts[] = {{RB_PART_SCRATCH, fields, 0}, {0}};

static void close_engine(void *engine) {
    if (engine) {
        rb_parts_free(parts, engine);
        rb_free(engine);
    }
}

static rb_error open_engine(rb_context *ctx, const rb_problem *problem, const void *options,
                            void **engine) {
    const rb_rfn_options *rfn = options;
    if (rfn->dropout > 0 || rfn->input_noise != RB_RFN_NOISE_NONE ||
        rfn->noise == RB_RFN_PSI_FULL || !rfn_activation_projects(rfn)) {
        return rb_fail(ctx, RB_ERROR_UNSUPPORTED,
                       "the reference engine has no dropout, input-noise, noise full, and no "
                       "activation but rectify");
    }
    rb_shape shape = rfn_plain_shape(problem->type, problem->n_features, rfn->units);
    reference *r = rb_alloc_zero(ctx, 1, sizeof *r);
    rb_error err = r ? rb_parts_new(ctx, parts, &shape, r) : RB_ERROR_MEMORY;
    if (err) {
        close_engine(r);
        return err;
    }
    r->setup = (rfn_setup){*problem, *rfn, false};
    *engine = r;
    return RB_OK;
}

static rb_error set_parameters(rb_context *ctx, void *engine, const void *parameters) {
    (void)ctx;
    reference *r = engine;
    const rfn_parameters *p = ((const rfn_given *)parameters)->parameters;
    int64_t m = p->loadings.rows, l = p->loadings.cols;
    bool plain = rfn_prior_is_plain(&p->prior);
    for (int64_t e = 0; e < m * l; e++) {
        r->weighted[e] = rb_dense_get(p->loadings, e / l, e % l) / p->noise[e / l];
    }
    for (int64_t e = 0; e < l * l; e++) {
        double sum = plain ? e / l == e % l : rb_dense_get(p->prior.precision, e / l, e % l);
        for (int64_t k = 0; k < m; k++) {
            sum += rb_dense_get(p->loadings, k, e / l) * r->weighted[k * l + e % l];
        }
        r->precision[e] = sum;
        r->covariance[e] = e / l == e % l;
    }
    rb_solve_small(l, r->precision, l, r->covariance);
    r->linear = p->prior.linear;
    return RB_OK;
}

static void find_means(reference *r, int64_t m, int64_t l) {
    for (int64_t j = 0; j < l; j++) {
        r->means[j] = 0;
        for (int64_t c = 0; c < l; c++) {
            double q = r->linear[c];
            for (int64_t k = 0; k < m; k++) {
                q += r->weighted[k * l + c] * r->v[k];
            }
            r->means[j] += r->covariance[j * l + c] * q;
        }
    }
}

/* Adds a sample; codes of other units than rectified ones are not needed. */
static void add_sample(reference *r, const double *shift, double gain) {
    int64_t m = r->setup.problem.n_features, l = r->setup.options.units;
    for (int64_t j = 0; j < l; j++) {
        double code = fmax(0, r->means[j]);
        rb_put(r->setup.problem.type, r->codes, j, code);
        r->sum[j] += gain * code;
        for (int64_t k = 0; k < m; k++) { /* the sample as it is stored */
            r->u[k * l + j] += gain * (r->v[k] + (shift ? shift[k] : 0)) * code;
        }
        for (int64_t c = 0; c <= j; c++) {
            r->s[j * l + c] += gain * code * fmax(0, r->means[c]);
            r->raw[j * l + c] += r->means[j] * r->means[c];
        }
    }
}

static rb_error add_block(rb_context *ctx, void *engine, const rb_block *block, void *to) {
    reference *r = engine;
    rfn_sums *sums = to;
    int64_t m = block->n_features, l = r->setup.options.units;
    rb_type type = r->setup.problem.type;
    rb_error err = RB_OK;
    for (int64_t i = 0; !err && i < block->n_samples; i++) {
        rb_block_rows(block, i, (rb_dense){r->row, 1, m, m, type});
        for (int64_t k = 0; k < m; k++) {
            r->v[k] = rb_get(type, r->row, k);
        }
        find_means(r, m, l);
        add_sample(r, block->sparse ? block->shift : NULL, sums->gain);
        r->weight += sums->gain;
        for (int64_t j = 0; !err && j < l; j++) {
            sums->active[j] = sums->active[j] || r->means[j] > 0;
            if (!sums->active[j] && r->means[j] > sums->largest[j]) {
                err = rfn_take_candidate(ctx, sums, j, r->means[j], block, i, r->codes);
            }
        }
    }
    return err;
}

/* Adds what waits, and sets it to 0. */
static void add_values(double *values, rb_dense to) {
    for (int64_t e = 0; e < to.rows * to.cols; e++) {
        int64_t i = e / to.cols, j = e % to.cols;
        rb_dense_set(to, i, j, rb_dense_get(to, i, j) + values[e]);
        values[e] = 0;
    }
}

static rb_error hand_over(rb_context *ctx, void *engine, void *to) {
    (void)ctx;
    reference *r = engine;
    rfn_sums *sums = to;
    int64_t l = sums->s.cols;
    add_values(r->u, sums->u);
    add_values(r->s, sums->s);
    add_values(r->raw, sums->raw);
    add_values(r->sum, (rb_dense){sums->codes, 1, l, l, RB_FLOAT64});
    sums->weight += r->weight;
    r->weight = 0;
    return RB_OK;
}

const rb_engine rfn_engine_reference = {"reference",    open_engine, close_engine,
                                        set_parameters, add_block,   hand_over};
