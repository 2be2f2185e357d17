/* Principal directions: eigenvectors of C = V'V / n, V the preprocessed samples (n x m).
 *
 * exact       C by one pass, and its largest eigenvectors. Where features outnumber samples, those
 *             of V V' / n, and by a second pass V'u / sqrt(n lambda).
 * randomized  A pass gives C Q for a block Q of orthonormal directions, 10 more than units or a
 *             few, random at first (N. Halko, P. Martinsson, J. Tropp, "Finding structure with
 *             randomness", SIAM Review 53, 2011). The blocks so far are a basis B, with C B; its
 *             Ritz vectors X = B E, B'C B E = E Theta, are the directions, and the residuals
 *             C X - X Theta the next block: what is explored is a block Krylov space (C. Musco,
 *             C. Musco, "Randomized block Krylov methods", NIPS 2015). A full basis is replaced by
 *             its best Ritz vectors, a block of them (thick restart: K. Wu, H. Simon, SIAM J.
 *             Matrix Anal. Appl. 22, 2000), and since these stay within it no Ritz value falls.
 *
 * Sums are of the working type; small matrices are float64.
 */
#include "pca.h"

#include <math.h>
#include <stddef.h>

const rb_field pca_parameter_fields[] = {
    {"directions", offsetof(pca_fit, directions), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_FEATURES,
     RB_DIM_UNITS, RB_KEPT_PARAMETER},
    {"values", offsetof(pca_fit, values), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RB_DIM_UNITS},
    {0},
};

const rb_field pca_sum_fields[] = {
    {"second", offsetof(pca_fit, second), RB_FIELD_DENSE, RB_KEPT_WORKING, PCA_SIDE, PCA_SIDE},
    {"cross", offsetof(pca_fit, cross), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_FEATURES,
     PCA_WIDTH},
    {0},
};

const rb_field pca_progress_fields[] = {
    {"basis", offsetof(pca_fit, basis), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_FEATURES,
     PCA_BASIS},
    {"image", offsetof(pca_fit, image), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_FEATURES,
     PCA_BASIS},
    {"next", offsetof(pca_fit, next), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_FEATURES, PCA_WIDTH},
    {"small", offsetof(pca_fit, small), RB_FIELD_POINTER, RB_KEPT_FLOAT64, PCA_BASIS, PCA_BASIS},
    {"used", offsetof(pca_fit, used), RB_FIELD_INLINE, RB_KEPT_INTEGER, .max = INT32_MAX},
    {"next_width", offsetof(pca_fit, next_width), RB_FIELD_INLINE, RB_KEPT_INTEGER,
     .max = INT32_MAX},
    {"pca_done", offsetof(pca_fit, found), RB_FIELD_INLINE, RB_KEPT_FLAG, .max = 1},
    {0},
};

const rb_field pca_scratch_fields[] = {
    {"rows", offsetof(pca_fit, rows), RB_FIELD_DENSE, RB_KEPT_WORKING, PCA_BLOCK, PCA_WIDTH},
    {"turned", offsetof(pca_fit, turned), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_FEATURES,
     PCA_WIDTH},
    {0},
};

/* ---- the plan ---- */

/* Up to 1000 features, or samples whose values fit into a block of 256 MB, exact directions cost
 * about as much as random ones. */
static bool is_small(const rb_problem *p) {
    enum { SIDE = 1000, CELLS = 1 << 26 };
    bool one_block = p->sparse || p->n_features <= CELLS / (p->n_samples + 1);
    return p->n_features <= SIDE || (p->n_samples <= SIDE && one_block);
}

static pca_plan plan_of(const rb_problem *problem, const void *options) {
    const pca_options *o = options;
    enum { MORE = 10, LANES = 16, BLOCKS = 4, FEWER = 2, CELLS = 1 << 26 };
    int64_t n = problem->n_samples, m = problem->n_features;
    pca_plan plan = {.units = o->units};
    plan.exact = o->solver == PCA_EXACT || (o->solver == PCA_AUTO && is_small(problem));
    plan.by_samples = plan.exact && n < m;
    int64_t wide = (o->units + MORE + LANES - 1) / LANES * LANES; /* for kernels on sparse rows */
    wide = wide < m ? wide : m;
    plan.width = plan.by_samples ? o->units : plan.exact ? 0 : wide;
    int64_t blocks = m * wide > CELLS / BLOCKS ? FEWER : BLOCKS;
    plan.capacity = plan.exact ? 0 : blocks * wide;
    return plan;
}

void pca_resolve(rb_problem *problem, void *options) {
    ((pca_options *)options)->solver = plan_of(problem, options).exact ? PCA_EXACT : PCA_RANDOMIZED;
}

int64_t pca_block_samples(const rb_problem *problem, const void *options) {
    pca_plan plan = plan_of(problem, options);
    return plan.by_samples ? problem->n_samples : factors_block_of(problem, plan.width);
}

void pca_shape(const rb_problem *problem, const void *options, rb_shape *shape) {
    pca_plan plan = plan_of(problem, options);
    shape->dims[RB_DIM_FEATURES] = problem->n_features;
    shape->dims[RB_DIM_UNITS] = plan.units;
    shape->dims[PCA_SIDE] = !plan.exact       ? 0
                            : plan.by_samples ? problem->n_samples
                                              : problem->n_features;
    shape->dims[PCA_WIDTH] = plan.width;
    shape->dims[PCA_BASIS] = plan.capacity;
    shape->dims[PCA_BLOCK] = problem->block_samples;
}

rb_error pca_start(rb_context *ctx, const rb_problem *problem, const pca_options *options,
                   pca_fit *pca) {
    int64_t n = problem->n_samples, m = problem->n_features, most = n < m ? n : m;
    pca->base.problem = *problem;
    pca->plan = plan_of(problem, options);
    if (options->units > most) {
        return rb_fail(
            ctx, RB_ERROR_ARGUMENT,
            "`units` is %lld, but %lld samples of %lld features have at most %lld directions",
            (long long)options->units, (long long)n, (long long)m, (long long)most);
    }
    return RB_OK;
}

void pca_finish(void *pca) {
    if (pca) rb_csr_memory_free(&((pca_fit *)pca)->columns);
}

/* ---- the passes ---- */

static rb_dense columns_of(rb_dense a, int64_t first, int64_t count) {
    return rb_dense_part(a, 0, a.rows, first, count);
}

/* The first block of directions. */
static rb_error draw(rb_context *ctx, pca_fit *pca) {
    const rb_problem *p = &pca->base.problem;
    rb_stream stream = {(uint64_t)p->fit->seed, RB_RANDOM_COMPARE, (uint32_t)p->restart};
    uint64_t key = rb_random_key(stream, 0);
    int64_t width = pca->plan.width;
    float *normal = rb_alloc(ctx, width + RB_RANDOM_RUN, sizeof *normal);
    if (!normal) return RB_ERROR_MEMORY;
    for (int64_t k = 0; k < p->n_features; k++) {
        rb_kernels_of(ctx)->normal_row(key, (uint64_t)k, width, normal);
        for (int64_t j = 0; j < width; j++)
            rb_dense_set(pca->next, k, j, (double)normal[j]);
    }
    rb_free(normal);
    pca->next_width = width;
    return factors_orthonormalize(ctx, pca->next);
}

rb_error pca_begin(rb_context *ctx, void *state) {
    pca_fit *pca = state;
    int64_t width = pca->plan.width, capacity = pca->plan.capacity;
    if (pca->plan.exact || pca->base.last) return RB_OK;
    if (pca->used == 0 && pca->next_width == 0) return draw(ctx, pca);
    return pca->next_width > 0 && pca->next_width <= width && pca->used + width <= capacity
               ? RB_OK
               : rb_fail(ctx, RB_ERROR_FORMAT,
                         "the checkpoint is damaged: its directions have another shape");
}

rb_error pca_block(rb_context *ctx, void *state, const rb_block *block) {
    pca_fit *pca = state;
    const pca_plan *plan = &pca->plan;
    rb_dense rows = rb_dense_rows(pca->rows, 0, plan->width > 0 ? block->n_samples : 0);
    if (pca->base.last) return RB_OK;
    if (plan->by_samples && !pca->turns)
        return factors_gram(ctx, &pca->columns, block, pca->second);
    if (plan->exact && !plan->by_samples)
        return factors_add_second(ctx, &pca->columns, block, pca->second);
    int64_t width = plan->by_samples ? plan->width : pca->next_width;
    rows = columns_of(rows, 0, width);
    rb_error err = plan->by_samples
                       ? RB_OK /* rows are the eigenvectors */
                       : factors_project(ctx, block, columns_of(pca->next, 0, width), rows);
    return err ? err : factors_add_cross(ctx, block, rows, columns_of(pca->cross, 0, width));
}

/* ---- exact ---- */

/* Values at which rounding begins are 0. */
static void cut_rank(pca_fit *pca) {
    double least = pca->base.problem.type == RB_FLOAT32 ? 1e-6 : 1e-13;
    for (int64_t j = 0; j < pca->plan.units; j++)
        if (!(pca->values[j] > least * pca->values[0])) pca->values[j] = 0;
}

/* Columns become those of the eigenvectors, which are rows. */
static void set_columns(rb_dense vectors, rb_dense columns) {
    for (int64_t j = 0; j < columns.cols; j++)
        for (int64_t k = 0; k < columns.rows; k++)
            rb_dense_set(columns, k, j, rb_dense_get(vectors, j, k));
}

/* The eigenvectors of the second moments as columns of `to`, and their values. */
static rb_error find_vectors(rb_context *ctx, pca_fit *pca, rb_dense to) {
    rb_dense vectors;
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, pca->plan.units, pca->second.rows, &vectors);
    err = err ? err
              : rb_largest_eigenvectors(ctx, pca->second, pca->plan.units, pca->values, vectors);
    if (!err) {
        for (int64_t j = 0; j < pca->plan.units; j++)
            pca->values[j] /= (double)pca->base.problem.n_samples;
        cut_rank(pca);
        set_columns(vectors, to);
    }
    rb_dense_free(&vectors);
    return err;
}

rb_error pca_end(rb_context *ctx, void *state, bool *again) {
    pca_fit *pca = state;
    *again = false;
    if (!pca->plan.by_samples || pca->base.last) return RB_OK;
    pca->turns = *again = !pca->turns;
    return *again ? find_vectors(ctx, pca, pca->rows) : RB_OK;
}

/* A column of zeros where there is no variance. */
static void clear_dead(pca_fit *pca) {
    for (int64_t j = 0; j < pca->plan.units; j++)
        if (pca->values[j] == 0) rb_dense_zero(columns_of(pca->directions, j, 1));
}

static rb_error exact_mstep(rb_context *ctx, pca_fit *pca) {
    rb_dense w = pca->directions;
    pca->found = true;
    if (!pca->plan.by_samples) {
        rb_error err = find_vectors(ctx, pca, w);
        if (!err) clear_dead(pca);
        return err;
    }
    int64_t alive = 0;
    for (int64_t j = 0; j < w.cols; j++) {
        double factor =
            pca->values[j] > 0 ? 1 / sqrt(pca->values[j] * (double)pca->base.problem.n_samples) : 0;
        for (int64_t k = 0; k < w.rows; k++)
            rb_dense_set(w, k, j, factor * rb_dense_get(pca->cross, k, j));
        alive += factor > 0;
    }
    return alive > 0 ? factors_orthonormalize(ctx, columns_of(w, 0, alive)) : RB_OK;
}

/* ---- randomized ---- */

static double *small_at(const pca_fit *pca, int64_t i, int64_t j) {
    return &pca->small[i * pca->plan.capacity + j];
}

/* What a step needs besides: matrices of the basis' size at most. */
struct step {
    rb_context *ctx;
    pca_fit *pca;
    int64_t count;    /* Ritz vectors that are looked at */
    rb_dense product; /* capacity x width, working type */
    rb_dense vectors; /* width x used, float64 */
    double *ritz;
};

/* The new block, and C times it, join the basis; small = basis' C basis grows. */
static void append(struct step *s) {
    pca_fit *pca = s->pca;
    int64_t old = pca->used, width = pca->next_width, used = old + width;
    double n = (double)pca->base.problem.n_samples;
    rb_dense image = columns_of(pca->image, old, width);
    rb_dense_copy(columns_of(pca->next, 0, width), columns_of(pca->basis, old, width));
    for (int64_t k = 0; k < image.rows; k++)
        for (int64_t j = 0; j < width; j++)
            rb_dense_set(image, k, j, rb_dense_get(pca->cross, k, j) / n);
    rb_dense product = rb_dense_part(s->product, 0, used, 0, width);
    rb_gemm_parallel(s->ctx, 1, columns_of(pca->basis, 0, used), RB_TRANSPOSED, image, RB_PLAIN, 0,
                     product);
    for (int64_t i = 0; i < used; i++)
        for (int64_t j = 0; j < width; j++)
            *small_at(pca, old + j, i) = *small_at(pca, i, old + j) = rb_dense_get(product, i, j);
    pca->used = used;
}

/* Ritz values and vectors; turned = X. */
static rb_error find_ritz(struct step *s) {
    pca_fit *pca = s->pca;
    int64_t used = pca->used, capacity = pca->plan.capacity;
    rb_dense small = {pca->small, used, used, capacity, RB_FLOAT64};
    s->count = used < pca->plan.width ? used : pca->plan.width;
    rb_error err = rb_dense_new(s->ctx, RB_FLOAT64, s->count, used, &s->vectors);
    err = err ? err : rb_largest_eigenvectors(s->ctx, small, s->count, s->ritz, s->vectors);
    if (err) return err;
    rb_dense turn = rb_dense_part(s->product, 0, used, 0, s->count);
    set_columns(s->vectors, turn);
    rb_gemm_parallel(s->ctx, 1, columns_of(pca->basis, 0, used), RB_PLAIN, turn, RB_PLAIN, 0,
                     columns_of(pca->turned, 0, s->count));
    rb_gemm_parallel(s->ctx, 1, columns_of(pca->image, 0, used), RB_PLAIN, turn, RB_PLAIN, 0,
                     columns_of(pca->next, 0, s->count));
    return RB_OK;
}

static void take_results(struct step *s) {
    pca_fit *pca = s->pca;
    int64_t k = pca->plan.units < s->count ? pca->plan.units : s->count;
    rb_dense_zero(pca->directions);
    rb_dense_copy(columns_of(pca->turned, 0, k), columns_of(pca->directions, 0, k));
    for (int64_t j = 0; j < pca->plan.units; j++)
        pca->values[j] = j < k ? s->ritz[j] : 0;
    cut_rank(pca);
    clear_dead(pca);
}

/* A basis without room for another block: the Ritz vectors stand for it. next = C X. */
static void restart_if_full(struct step *s) {
    pca_fit *pca = s->pca;
    if (pca->used + pca->plan.width <= pca->plan.capacity) return;
    rb_dense_copy(columns_of(pca->turned, 0, s->count), columns_of(pca->basis, 0, s->count));
    rb_dense_copy(columns_of(pca->next, 0, s->count), columns_of(pca->image, 0, s->count));
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t j = 0; j < s->count; j++)
            *small_at(pca, i, j) = i == j ? s->ritz[i] : 0;
    pca->used = s->count;
}

/* next = C X - X Theta, columns of unit length; 0 where nothing is left but rounding. */
static bool find_residuals(struct step *s) {
    pca_fit *pca = s->pca;
    double least = (pca->base.problem.type == RB_FLOAT32 ? 3e-6 : 1e-13) * s->ritz[0];
    bool left = false;
    double *squares = s->vectors.data; /* no longer needed */
    for (int64_t j = 0; j < s->count; j++)
        squares[j] = 0;
    for (int64_t k = 0; k < pca->next.rows; k++) {
        for (int64_t j = 0; j < s->count; j++) {
            double r = rb_dense_get(pca->next, k, j) - s->ritz[j] * rb_dense_get(pca->turned, k, j);
            rb_dense_set(pca->next, k, j, r);
            squares[j] += r * r;
        }
    }
    for (int64_t j = 0; j < s->count; j++) {
        bool counts = sqrt(squares[j]) > least;
        squares[j] = counts ? 1 / sqrt(squares[j]) : 0;
        left = left || counts;
    }
    for (int64_t k = 0; k < pca->next.rows; k++)
        for (int64_t j = 0; j < s->count; j++)
            rb_dense_set(pca->next, k, j, squares[j] * rb_dense_get(pca->next, k, j));
    return left;
}

/* An orthonormal basis of the residuals without what the basis has, of as many columns as they
 * have independent ones. */
static rb_error orthogonalize(struct step *s) {
    pca_fit *pca = s->pca;
    rb_scratch scratch = {.ctx = s->ctx};
    int64_t count = s->count, kept = 0;
    rb_dense next = columns_of(pca->next, 0, count), basis = columns_of(pca->basis, 0, pca->used);
    rb_dense product = rb_dense_part(s->product, 0, pca->used, 0, count);
    rb_dense gram = {0}, vectors = {0}, turn = {0};
    double *values = rb_take(&scratch, count, sizeof *values);
    rb_dense_take(&scratch, next.type, count, count, &gram);
    rb_dense_take(&scratch, RB_FLOAT64, count, count, &vectors);
    rb_dense_take(&scratch, next.type, count, count, &turn);
    if (scratch.err) return rb_scratch_end(&scratch);
    rb_gemm_parallel(s->ctx, 1, basis, RB_TRANSPOSED, next, RB_PLAIN, 0, product);
    rb_gemm_parallel(s->ctx, -1, basis, RB_PLAIN, product, RB_PLAIN, 1, next);
    rb_gemm_lower(s->ctx, 1, next, RB_TRANSPOSED, next, RB_PLAIN, 0, gram);
    scratch.err = rb_largest_eigenvectors(s->ctx, gram, count, values, vectors);
    if (!scratch.err) {
        double least = next.type == RB_FLOAT32 ? 1e-4 : 1e-10;
        while (kept < count && values[kept] > least)
            kept++;
        for (int64_t i = 0; i < count; i++)
            for (int64_t j = 0; j < kept; j++)
                rb_dense_set(turn, i, j, rb_dense_get(vectors, j, i) / sqrt(values[j]));
        rb_dense_copy(next, columns_of(pca->turned, 0, count));
        next = columns_of(pca->next, 0, kept);
        rb_gemm_parallel(s->ctx, 1, columns_of(pca->turned, 0, count), RB_PLAIN,
                         columns_of(turn, 0, kept), RB_PLAIN, 0, next);
        pca->next_width = kept;
        pca->found = kept == 0;
        if (kept > 0) scratch.err = factors_orthonormalize(s->ctx, next);
    }
    return rb_scratch_end(&scratch);
}

static rb_error randomized_mstep(rb_context *ctx, pca_fit *pca) {
    struct step s = {.ctx = ctx, .pca = pca};
    rb_scratch scratch = {.ctx = ctx};
    s.ritz = rb_take(&scratch, pca->plan.width, sizeof *s.ritz);
    rb_dense_take(&scratch, pca->base.problem.type, pca->plan.capacity, pca->plan.width,
                  &s.product);
    rb_error err = scratch.err;
    if (!err) {
        append(&s);
        err = find_ritz(&s);
    }
    if (!err) {
        take_results(&s);
        restart_if_full(&s);
        pca->found = pca->used >= pca->base.problem.n_features || !find_residuals(&s);
        err = pca->found ? RB_OK : orthogonalize(&s);
    }
    rb_dense_free(&s.vectors);
    (void)rb_scratch_end(&scratch);
    return err;
}

rb_error pca_mstep(rb_context *ctx, void *pca) {
    return ((pca_fit *)pca)->plan.exact ? exact_mstep(ctx, pca) : randomized_mstep(ctx, pca);
}

/* ---- what came out ---- */

double pca_total(const pca_fit *pca) {
    double sum = 0;
    for (int64_t k = 0; k < pca->base.problem.n_features; k++)
        sum += pca->base.squares[k];
    return sum / (double)pca->base.problem.n_samples;
}

static double sum_of_values(const pca_fit *pca) {
    double sum = 0;
    for (int64_t j = 0; j < pca->plan.units; j++)
        sum += pca->values[j];
    return sum;
}

double pca_explained(const pca_fit *pca) {
    double total = pca_total(pca);
    return total > 0 ? sum_of_values(pca) / total : 0;
}

/* Tipping and Bishop 1999, eq. 8: the mean of the values that are left. */
double pca_noise(const pca_fit *pca) {
    int64_t m = pca->base.problem.n_features, alive = 0;
    for (int64_t j = 0; j < pca->plan.units; j++)
        alive += pca->values[j] > 0;
    double total = pca_total(pca), left = fmax(total - sum_of_values(pca), 0);
    double least = (pca->base.problem.type == RB_FLOAT32 ? 1e-7 : 1e-14) * total / (double)m;
    return fmax(alive < m ? left / (double)(m - alive) : 0, least);
}
