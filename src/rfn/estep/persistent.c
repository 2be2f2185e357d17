/* E-steps that go on from the codes of the iteration before: these stay in memory, and so does Q,
 * 2 n l values together; gradient has another n l, and E-steps that try candidates 4.
 *
 * Two passes over the samples: the first collects Q = V Psi^-1 W + xi; then the codes are improved;
 * the second adds up the moments. The first iteration has no codes yet and takes mu = P(mu_p).
 */
#include "rfn/fit.h"

#include <stddef.h>

const rb_field rfn_persistent_fields[] = {
    {"quadratic", offsetof(rfn_persistent, problem.hessian), RB_FIELD_DENSE, RB_KEPT_WORKING,
     RFN_PERSISTENT, RFN_UNITS},
    {"linear", offsetof(rfn_persistent, problem.linear), RB_FIELD_DENSE, RB_KEPT_WORKING,
     RFN_PERSISTENT, RFN_COLLECTED},
    {"next", offsetof(rfn_persistent, search.next), RB_FIELD_DENSE, RB_KEPT_WORKING, RFN_PERSISTENT,
     RFN_STEPPED},
    {"gradient", offsetof(rfn_persistent, search.gradient), RB_FIELD_DENSE, RB_KEPT_WORKING,
     RFN_PERSISTENT, RFN_TRIED},
    {"direction", offsetof(rfn_persistent, search.direction), RB_FIELD_DENSE, RB_KEPT_WORKING,
     RFN_PERSISTENT, RFN_TRIED},
    {"gradient_step", offsetof(rfn_persistent, search.gradient_step), RB_FIELD_DENSE,
     RB_KEPT_WORKING, RFN_PERSISTENT, RFN_TRIED},
    {"persistent_dead", offsetof(rfn_persistent, dead), RB_FIELD_POINTER, RB_KEPT_FLAG,
     RFN_PERSISTENT},
    {0},
};

static const rb_part block_parts[] = {{RB_PART_SCRATCH, rfn_block_fields, 0}, {0}};

/* Of a process without samples: an array of units that has no columns is none by its table. */
static void keep_rows(int64_t units, rb_type type, rb_dense *array) {
    if (array->rows == 0) *array = (rb_dense){NULL, units, 0, 0, type};
}

rb_error rfn_persistent_new(rb_context *ctx, const rfn_setup *setup, const rb_shape *shape,
                            rfn_codes *codes, rfn_persistent *p) {
    int64_t l = shape->dims[RFN_UNITS], n = shape->dims[RFN_SAMPLES];
    rb_error err = rfn_work_new(ctx, shape->type, l, n, &setup->problem, &p->work);
    err = err ? err : rb_parts_new(ctx, block_parts, shape, &p->block);
    if (!err && shape->dims[RFN_TRIED] > 0) err = rfn_reduced_new(ctx, l, n, &p->search.reduced);
    p->block.codes = rb_dense_spare(p->block.codes, l);
    if (n == 0) {
        keep_rows(l, shape->type, &codes->values);
        keep_rows(l, shape->type, &p->problem.linear);
        keep_rows(l, shape->type, &p->search.next);
        keep_rows(p->work.at_once, shape->type, &p->work.residual);
    }
    p->setup = setup;
    p->problem.normalized = setup->options.normalize == RB_RFN_NORMALIZE_RMS;
    p->problem.dead = p->dead;
    p->problem.patterns = setup->problem.missing ? &p->missing.patterns : NULL;
    p->search.problem = &p->problem;
    p->search.work = &p->work;
    return err;
}

void rfn_persistent_free(rfn_persistent *p) {
    rfn_missing_free(&p->missing);
    rfn_work_free(&p->work);
    rb_parts_free(block_parts, &p->block);
    rfn_reduced_free(p->search.reduced);
    rfn_listed_free(&p->listed);
}

double rfn_persistent_bytes(const rb_problem *problem, const rb_shape *shape) {
    int64_t l = shape->dims[RFN_UNITS];
    double bytes = rb_parts_bytes(block_parts, shape, 0) +
                   rfn_work_bytes(shape->type, l, shape->dims[RFN_SAMPLES]);
    if (problem->device || problem->missing) return bytes;
    if (!problem->sparse) bytes += rfn_listed_bytes(shape->type, problem->n_features, l);
    return bytes + rfn_list_bytes(shape->type, l);
}

rb_error rfn_persistent_begin(rb_context *ctx, rfn_persistent *p, const rfn_parameters *parameters,
                              const rfn_posterior *posterior, rb_dense weighted) {
    p->parameters = parameters;
    p->posterior = posterior;
    p->weighted = weighted;
    rfn_hessian(ctx, parameters, weighted, p->problem.hessian);
    rfn_weigh(ctx, parameters, weighted);
    rfn_missing_begin(&p->missing);
    if (p->missing.on || p->device) return RB_OK;
    rfn_offset(ctx, p->setup->problem.shift, weighted, posterior->linear, p->block.offset);
    rb_error err = rfn_list_weights(ctx, p);
    return err ? err : rfn_list_hessian(ctx, &p->problem, &p->work);
}

/* ---- passes ---- */

struct pass {
    rb_context *ctx;
    rfn_persistent *p;
    const rb_block *block;
    rb_dense codes; /* over all samples */
};

/* The samples of a task as rows of the block's codes, and as columns of a matrix over all samples.
 */
static rb_dense rows_of(const struct pass *pass, int64_t task) {
    return rfn_task_rows(rb_dense_rows(pass->p->block.codes, 0, pass->block->n_samples), task);
}

static rb_dense columns_of(const struct pass *pass, rb_dense all, int64_t task) {
    const rb_block *block = pass->block;
    return rfn_task_columns(rb_dense_part(all, 0, all.rows, block->own, block->n_samples), task);
}

static void collect(void *arg, int64_t task, int worker) {
    const struct pass *pass = arg;
    rfn_collect_linear(pass->ctx, pass->p, pass->block,
                       rfn_task_first(pass->block->n_samples, task), worker, rows_of(pass, task),
                       columns_of(pass, pass->p->problem.linear, task));
}

static void hand_over(void *arg, int64_t task, int worker) {
    (void)worker;
    const struct pass *pass = arg;
    const rfn_block_work *work = &pass->p->block;
    rb_dense rows = rows_of(pass, task);
    int64_t at = task * rows.cols;
    rb_dense_transpose(columns_of(pass, pass->codes, task), rows);
    rb_rectify(pass->ctx, rows, NULL, work->task_sum + at, work->task_largest + at);
}

rb_error rfn_persistent_block(rb_context *ctx, rfn_persistent *p, const rb_block *block,
                              const rfn_codes *codes, rfn_sums *sums) {
    struct pass pass = {ctx, p, block, codes->values};
    int64_t tasks = rfn_tasks(block->n_samples).count;
    if (p->adds_moments) {
        rb_parallel(ctx, tasks, hand_over, &pass);
        rfn_add_tasks(&p->block, tasks, sums);
        if (p->missing.on)
            return rfn_missing_add(ctx, &p->missing, p->parameters, block, p->block.codes, sums);
        return rfn_add_moments(ctx, &p->block, block, sums);
    }
    if (p->missing.on) {
        rb_dense means = p->wants_means ? codes->values : (rb_dense){0};
        rb_error err = rfn_missing_collect(ctx, &p->missing, p->parameters, block, p->weighted,
                                           p->problem.linear, means);
        sums->constant += p->missing.constant;
        p->missing.constant = 0;
        return err;
    }
    rb_parallel(ctx, tasks, collect, &pass);
    return RB_OK;
}

/* ---- what follows from the moments ---- */

/* <mu_p, Q> / n = <Sigma, Q'Q> / n; and what the P of samples that lack values are less than P. */
double rfn_constant_part(rb_context *ctx, const rfn_persistent *p, rb_dense scratch) {
    double n = (double)p->setup->problem.n_samples;
    if (p->missing.on) return p->missing.constant / n + p->missing.expected;
    const rfn_slices *slices = &p->work.slices;
    double parts[RFN_BOUNDS], sum;
    for (int64_t g = 0; g < slices->groups; g++) {
        int64_t first = slices->bounds[g];
        rb_dense q = rb_dense_part(p->problem.linear, 0, p->problem.linear.rows, first,
                                   slices->bounds[g + 1] - first);
        rb_gemm_lower(ctx, 1, q, RB_PLAIN, q, RB_TRANSPOSED, 0, scratch);
        parts[g] = rfn_product_of_lower(ctx, p->posterior->sigma, scratch);
    }
    rb_add_groups(ctx, 1, slices->groups, parts, &sum);
    return sum / n;
}

struct multipliers {
    rb_context *ctx;
    const rfn_persistent *p;
    const rfn_moments *moments;
    double *tau;
    struct bands bands; /* of units */
};

static void find_multipliers(void *arg, int64_t index, int worker) {
    (void)worker;
    const struct multipliers *m = arg;
    rb_dense hessian = m->p->problem.hessian, weighted = m->p->weighted;
    rb_dense s = m->moments->s, u = m->moments->u;
    int64_t first = rb_band_start(m->bands, index), end = first + rb_band_size(m->bands, index);
    for (int64_t j = first; j < end; j++) {
        m->tau[j] = 1 + m->p->parameters->prior.linear[j] * m->moments->mean[j] -
                    rb_dot(m->ctx, s.type, s.cols, rb_dense_row(hessian, j), rb_dense_row(s, j));
    }
    for (int64_t k = 0; k < u.rows; k++)
        for (int64_t j = first; j < end; j++)
            m->tau[j] += rb_dense_get(weighted, k, j) * rb_dense_get(u, k, j);
}

/* With U = V'mu / n, S = mu'mu / n + Sigma and Q = V Psi^-1 W + M^-1 xi
 *     tau_j = mean_i mu_ij (Q - mu P)_ij = (W' Psi^-1 U)_jj + (M^-1 xi)_j mean_j - (P S)_jj + 1
 * since P Sigma is the identity. Without normalisation there are none: they stay 0. */
void rfn_find_multipliers(rb_context *ctx, const rfn_persistent *p, const rfn_moments *moments,
                          rfn_codes *codes) {
    struct multipliers m = {ctx, p, moments, codes->multipliers,
                            rb_cut(moments->s.rows, RFN_BANDS)};
    if (p->problem.normalized) rb_parallel(ctx, m.bands.count, find_multipliers, &m);
}

/* ---- codes that were moved ---- */

void rfn_project_codes(rb_context *ctx, rfn_persistent *p, rfn_codes *codes) {
    for (int64_t first = 0; first < codes->values.rows; first += p->work.at_once) {
        int64_t count = rfn_units_from(&p->work, codes->values.rows, first);
        rfn_feasible_again(ctx, p, rb_dense_rows(codes->values, first, count));
    }
    p->adds_moments = false; /* an E-step that failed may have ended between its passes */
}

void rfn_feasible_again(rb_context *ctx, rfn_persistent *p, rb_dense codes) {
    rb_dense copy = rb_dense_part(p->work.residual, 0, codes.rows, 0, codes.cols);
    rb_dense_copy(codes, copy);
    rfn_feasible_units(ctx, p->problem.normalized, 0, copy, copy, codes, NULL, &p->work);
}
