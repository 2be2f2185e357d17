/* Independent component analysis by FastICA.
 *
 * References: A. Hyvarinen, "Fast and robust fixed-point algorithms for independent component
 * analysis", IEEE Trans. Neural Networks 10, 1999; A. Hyvarinen, E. Oja, "Independent component
 * analysis: algorithms and applications", Neural Networks 13, 2000: section 4.2.3 has the contrast,
 * 6.1 the step, 6.2 both ways to keep units apart.
 *
 *   Z  n x k  whitened samples, Z = V P Lambda^-1/2 (pca_solve.c)
 *   W  k x k  rotation, a row for each unit
 *   y_j = Z w_j  codes
 *   w_j <- mean of z g(y_j) - mean of g'(y_j) w_j
 *   symmetric   W <- (W W')^-1/2 W
 *   deflation   unit by unit: w_j without what it has of those before, |w_j| <- 1
 *   contrast    sum over units of (mean of G(y_j) - E G(v))^2, v normal
 *
 * The first iteration finds the principal directions, by as many passes as they need, and whitens;
 * the whitened samples stay in memory, and no further pass reads the data.
 */
#include "contrast.h"
#include "pca.h"

#include <math.h>
#include <stddef.h>

enum { SYMMETRIC, DEFLATION };
enum { UNIT_ITERATIONS = 200, PCA_PASSES = 12, TASK_SAMPLES = 512 };

typedef struct rb_ica_options {
    pca_options base;
    int algorithm, contrast;
    double rotation_tolerance;
} rb_ica_options;

static const rb_option rows[] = {
    {"units", 'k', RB_OPTION_INTEGER, offsetof(rb_ica_options, base.units), "10", 1, 1e9, NULL, "N",
     "number of components, and of the principal directions they are found in", RB_OPTION_COMMON},
    {"algorithm", 0, RB_OPTION_CHOICE, offsetof(rb_ica_options, algorithm), "symmetric", 0, 0,
     "symmetric|deflation", "HOW",
     "find all components at once (symmetric), or one after the other (deflation), one per "
     "iteration"},
    {"contrast", 0, RB_OPTION_CHOICE, offsetof(rb_ica_options, contrast), "logcosh", 0, 0,
     "logcosh|exp|cube", "NAME",
     "contrast: logcosh suits most data, exp sparse sources, cube (kurtosis) is sensitive to "
     "outliers"},
    {"rotation-tolerance", 0, RB_OPTION_NUMBER, offsetof(rb_ica_options, rotation_tolerance),
     "1e-4", 0, 1, NULL, "T",
     "stop when 1 - cosine between each component and its previous value falls below this"},
    {"solver", 0, RB_OPTION_CHOICE, offsetof(rb_ica_options, base.solver), "auto", 0, 0,
     "auto|exact|randomized", "HOW", "solver of the principal directions, as in pca"},
    {0},
};

static const rb_option_rule rules[] = {{"algorithm=deflation", "iterations=10000"}, {0}};

enum { FIND_DIRECTIONS, WHITEN, ROTATE };

typedef struct ica_fit {
    pca_fit pca;
    rb_ica_options options;
    rb_dense rotation; /* W, float64 */
    rb_dense whitened; /* Z */
    int64_t stage, alive;
    int64_t pca_passes, unit, unit_iterations;
    double explained; /* by the directions of the pass before */
    double *contrasts;
    rb_dense product; /* sum of g(y_j) z */
    double *slopes, *values;
    rb_dense filter, y, turn;
    double *task_slopes, *task_values;
    float *task_scratch;
} ica_fit;

enum { ICA_SAMPLES = PCA_NEXT, ICA_BLOCK, ICA_TASKS, ICA_SCRATCH };

static const rb_field parameter_fields[] = {
    {"rotation", offsetof(ica_fit, rotation), RB_FIELD_DENSE, RB_KEPT_FLOAT64, RB_DIM_UNITS,
     RB_DIM_UNITS, RB_KEPT_PARAMETER},
    {0},
};
static const rb_field code_fields[] = {
    {"whitened", offsetof(ica_fit, whitened), RB_FIELD_DENSE, RB_KEPT_WORKING, ICA_SAMPLES,
     RB_DIM_UNITS},
    {0},
};
static const rb_field progress_fields[] = {
    {"stage", offsetof(ica_fit, stage), RB_FIELD_INLINE, RB_KEPT_INTEGER, .max = ROTATE},
    {"pca_passes", offsetof(ica_fit, pca_passes), RB_FIELD_INLINE, RB_KEPT_INTEGER,
     .max = PCA_PASSES},
    {"unit", offsetof(ica_fit, unit), RB_FIELD_INLINE, RB_KEPT_INTEGER, .max = INT32_MAX},
    {"unit_iterations", offsetof(ica_fit, unit_iterations), RB_FIELD_INLINE, RB_KEPT_INTEGER,
     .max = UNIT_ITERATIONS},
    {"contrasts", offsetof(ica_fit, contrasts), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RB_DIM_UNITS},
    {"ica_done", offsetof(ica_fit, pca.base.done), RB_FIELD_INLINE, RB_KEPT_FLAG, .max = 1},
    {0},
};
static const rb_field sum_fields[] = {
    {"product", offsetof(ica_fit, product), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_UNITS,
     RB_DIM_UNITS},
    {"slopes", offsetof(ica_fit, slopes), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RB_DIM_UNITS},
    {"contrast_sums", offsetof(ica_fit, values), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RB_DIM_UNITS},
    {0},
};
static const rb_field scratch_fields[] = {
    {"filter", offsetof(ica_fit, filter), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_FEATURES,
     RB_DIM_UNITS},
    {"y", offsetof(ica_fit, y), RB_FIELD_DENSE, RB_KEPT_WORKING, ICA_BLOCK, RB_DIM_UNITS},
    {"turn", offsetof(ica_fit, turn), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_UNITS, RB_DIM_UNITS},
    {"task_slopes", offsetof(ica_fit, task_slopes), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ICA_TASKS,
     RB_DIM_UNITS},
    {"task_values", offsetof(ica_fit, task_values), RB_FIELD_POINTER, RB_KEPT_FLOAT64, ICA_TASKS,
     RB_DIM_UNITS},
    {"task_scratch", offsetof(ica_fit, task_scratch), RB_FIELD_POINTER, RB_KEPT_FLOAT32,
     ICA_SCRATCH, RB_DIM_UNITS},
    {0},
};

static const rb_part parts[] = {
    {RB_PART_PARAMETERS, pca_parameter_fields, 0},
    {RB_PART_PARAMETERS, parameter_fields, 0},
    {RB_PART_CODES, code_fields, 0},
    {RB_PART_PROGRESS, pca_progress_fields, 0},
    {RB_PART_PROGRESS, progress_fields, 0},
    {RB_PART_SURVEY, factors_survey_fields, 0},
    {RB_PART_SUMS, pca_sum_fields, 0},
    {RB_PART_SUMS, sum_fields, 0},
    {RB_PART_SCRATCH, pca_scratch_fields, 0},
    {RB_PART_SCRATCH, scratch_fields, 0},
    {0},
};

static void shape(const rb_problem *problem, const void *options, rb_shape *shape) {
    pca_shape(problem, options, shape);
    shape->dims[ICA_SAMPLES] = problem->own;
    shape->dims[ICA_BLOCK] = problem->block_samples;
    shape->dims[ICA_TASKS] = factors_tasks(problem->block_samples, TASK_SAMPLES);
    shape->dims[ICA_SCRATCH] = 2 * factors_tasks(problem->block_samples, TASK_SAMPLES);
}

static rb_error start(rb_context *ctx, const rb_problem *problem, const void *options,
                      const rb_model *from, void **made) {
    (void)from; /* refused */
    ica_fit *s = *made;
    s->options = *(const rb_ica_options *)options;
    return pca_start(ctx, problem, options, &s->pca);
}

/* ---- small matrices, float64 ---- */

static double *row_of(const ica_fit *s, int64_t j) {
    return rb_dense_row(s->rotation, j);
}

static double product_of(const ica_fit *s, const double *x, const double *y) {
    double sum = 0;
    for (int64_t i = 0; i < s->alive; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Takes off w what it has of the first `count` rows, and gives it unit length; twice, for where
 * little is left. A w of which nothing is left becomes what there is of a unit vector. */
static void take_off(const ica_fit *s, int64_t count, double *w) {
    for (int64_t t = 0; t < 2; t++) {
        for (int64_t j = 0; j < count; j++) {
            double part = product_of(s, row_of(s, j), w);
            for (int64_t i = 0; i < s->alive; i++)
                w[i] -= part * row_of(s, j)[i];
        }
        double norm = sqrt(product_of(s, w, w));
        for (int64_t i = 0; norm > 0 && i < s->alive; i++)
            w[i] /= norm;
    }
}

/* W <- (W W')^-1/2 W of the living part. */
static rb_error make_orthogonal(rb_context *ctx, ica_fit *s) {
    rb_scratch scratch = {.ctx = ctx};
    int64_t k = s->alive;
    rb_dense w = rb_dense_part(s->rotation, 0, k, 0, k), old = {0}, gram = {0}, root = {0};
    rb_dense_take(&scratch, RB_FLOAT64, k, k, &old);
    rb_dense_take(&scratch, RB_FLOAT64, k, k, &gram);
    rb_dense_take(&scratch, RB_FLOAT64, k, k, &root);
    if (!scratch.err) {
        rb_gemm(1, w, RB_PLAIN, w, RB_TRANSPOSED, 0, gram);
        scratch.err = rb_inverse_root(ctx, gram, 1e-15, root);
    }
    if (!scratch.err) {
        rb_dense_copy(w, old);
        rb_gemm(1, root, RB_PLAIN, old, RB_PLAIN, 0, w);
    }
    return rb_scratch_end(&scratch);
}

/* ---- between the passes ---- */

static int64_t count_alive(const pca_fit *pca) {
    int64_t alive = 0;
    while (alive < pca->plan.units && pca->values[alive] > 0)
        alive++;
    return alive;
}

/* Directions are found: the filter that whitens, and a rotation to begin with. */
static rb_error begin_whitening(rb_context *ctx, ica_fit *s) {
    const rb_problem *p = &s->pca.base.problem;
    rb_draws draws = {
        .stream = {(uint64_t)p->fit->seed, RB_RANDOM_COMPARE, (uint32_t)p->restart + (1u << 31)}};
    s->alive = count_alive(&s->pca);
    for (int64_t k = 0; k < s->filter.rows; k++) {
        for (int64_t j = 0; j < s->filter.cols; j++) {
            double factor = j < s->alive ? 1 / sqrt(s->pca.values[j]) : 0;
            rb_dense_set(s->filter, k, j, factor * rb_dense_get(s->pca.directions, k, j));
        }
    }
    rb_dense_zero(s->rotation);
    for (int64_t j = 0; j < s->alive; j++) {
        for (int64_t i = 0; i < s->alive; i++)
            row_of(s, j)[i] = rb_draw_normal(&draws);
        take_off(s, j, row_of(s, j));
    }
    s->stage = WHITEN;
    s->pca.base.done = s->alive == 0;
    return s->options.algorithm == SYMMETRIC && s->alive > 0 ? make_orthogonal(ctx, s) : RB_OK;
}

/* After a pass for directions: are they good enough? */
static bool directions_found(ica_fit *s) {
    double before = s->explained;
    s->explained = pca_explained(&s->pca);
    s->pca_passes++;
    return s->pca.found || s->pca_passes >= PCA_PASSES ||
           (s->pca_passes > 1 && s->explained - before < 1e-4 * s->explained);
}

static rb_error begin(rb_context *ctx, void *made) {
    ica_fit *s = made;
    if (s->pca.base.last) return RB_OK;
    if (s->stage == FIND_DIRECTIONS) return pca_begin(ctx, &s->pca);
    s->alive = count_alive(&s->pca);
    for (int64_t j = 0; j < s->turn.rows; j++)
        for (int64_t i = 0; i < s->turn.cols; i++)
            rb_dense_set(s->turn, i, j, row_of(s, j)[i]);
    return RB_OK;
}

static rb_error end(rb_context *ctx, void *made, bool *again) {
    ica_fit *s = made;
    *again = false;
    if (s->pca.base.last || s->stage == ROTATE) return RB_OK;
    *again = true;
    if (s->stage == WHITEN) {
        s->stage = ROTATE;
        return RB_OK;
    }
    bool more = false;
    rb_error err = pca_end(ctx, &s->pca, &more);
    err = err || more ? err : pca_mstep(ctx, &s->pca);
    return err || more || !directions_found(s) ? err : begin_whitening(ctx, s);
}

/* ---- a block ---- */

struct pass {
    ica_fit *s;
    rb_dense y;
};

static void task(void *arg, int64_t index, int worker) {
    const struct pass *p = arg;
    ica_fit *s = p->s;
    int64_t k = s->pca.plan.units;
    (void)worker;
    for (int64_t j = 0; j < k; j++)
        s->task_slopes[index * k + j] = s->task_values[index * k + j] = 0;
    ica_apply((ica_contrast)s->options.contrast, factors_task_rows(p->y, index, TASK_SAMPLES),
              s->task_scratch + 2 * index * k, s->task_slopes + index * k,
              s->task_values + index * k);
}

static rb_error rotate_block(rb_context *ctx, ica_fit *s, const rb_block *block) {
    bool one = s->options.algorithm == DEFLATION;
    int64_t first = one ? s->unit : 0, count = one ? 1 : s->alive, k = s->pca.plan.units;
    rb_dense z = rb_dense_rows(s->whitened, block->own, block->n_samples);
    rb_dense y = rb_dense_part(s->y, 0, block->n_samples, first, count);
    if (first + count > s->alive)
        return rb_fail(ctx, RB_ERROR_FORMAT,
                       "the checkpoint is damaged: its components do not fit the data");
    rb_gemm_parallel(ctx, 1, z, RB_PLAIN, rb_dense_part(s->turn, 0, k, first, count), RB_PLAIN, 0,
                     y);
    int64_t tasks = factors_tasks(y.rows, TASK_SAMPLES);
    rb_parallel(ctx, tasks, task, &(struct pass){s, y});
    for (int64_t t = 0; t < tasks; t++) {
        for (int64_t j = 0; j < count; j++) {
            s->slopes[first + j] += s->task_slopes[t * k + j];
            s->values[first + j] += s->task_values[t * k + j];
        }
    }
    rb_gemm_parallel(ctx, 1, y, RB_TRANSPOSED, z, RB_PLAIN, 1,
                     rb_dense_rows(s->product, first, count));
    return RB_OK;
}

static rb_error block(rb_context *ctx, void *made, const rb_block *block) {
    ica_fit *s = made;
    if (s->pca.base.last || (s->stage != FIND_DIRECTIONS && s->alive == 0)) return RB_OK;
    if (s->stage == FIND_DIRECTIONS) return pca_block(ctx, &s->pca, block);
    if (s->stage == WHITEN) {
        return factors_project(ctx, block, s->filter,
                               rb_dense_rows(s->whitened, block->own, block->n_samples));
    }
    return rotate_block(ctx, s, block);
}

/* ---- a step ---- */

/* w <- mean of z g(y) - mean of g'(y) w, for row j. */
static void move(const ica_fit *s, int64_t j, double *w) {
    double n = (double)s->pca.base.problem.n_samples, slope = s->slopes[j] / n;
    for (int64_t i = 0; i < s->alive; i++)
        w[i] = rb_dense_get(s->product, j, i) / n - slope * w[i];
}

/* The sign of w is that of `old`; how far from 1 their cosine is. */
static double compare_with(const ica_fit *s, const double *old, double *w) {
    double cosine = product_of(s, old, w);
    for (int64_t i = 0; cosine < 0 && i < s->alive; i++)
        w[i] = -w[i];
    return fabs(1 - fabs(cosine));
}

static rb_error step_all(rb_context *ctx, ica_fit *s, rb_dense old) {
    double change = 0;
    for (int64_t j = 0; j < s->alive; j++)
        move(s, j, row_of(s, j));
    rb_error err = make_orthogonal(ctx, s);
    for (int64_t j = 0; !err && j < s->alive; j++)
        change = fmax(change, compare_with(s, rb_dense_row(old, j), row_of(s, j)));
    s->pca.base.done = change < s->options.rotation_tolerance;
    return err;
}

static void step_one(ica_fit *s, rb_dense old) {
    double *w = row_of(s, s->unit);
    move(s, s->unit, w);
    take_off(s, s->unit, w);
    double change = compare_with(s, rb_dense_row(old, s->unit), w);
    s->unit_iterations++;
    if (change < s->options.rotation_tolerance || s->unit_iterations >= UNIT_ITERATIONS) {
        s->unit_iterations = 0;
        s->unit++;
        if (s->unit < s->alive) take_off(s, s->unit, row_of(s, s->unit));
    }
    s->pca.base.done = s->unit >= s->alive;
}

static rb_error mstep(rb_context *ctx, void *made) {
    ica_fit *s = made;
    double n = (double)s->pca.base.problem.n_samples;
    bool one = s->options.algorithm == DEFLATION;
    rb_dense old;
    s->pca.base.objective = 0;
    if (s->alive == 0) return RB_OK;
    rb_error err = rb_dense_new(ctx, RB_FLOAT64, s->rotation.rows, s->rotation.cols, &old);
    if (err) return err;
    rb_dense_copy(s->rotation, old);
    for (int64_t j = 0; j < s->alive; j++) {
        double d = s->values[j] / n - ica_normal((ica_contrast)s->options.contrast);
        if (!one || j == s->unit) s->contrasts[j] = d * d;
        s->pca.base.objective += s->contrasts[j];
    }
    if (one)
        step_one(s, old);
    else
        err = step_all(ctx, s, old);
    rb_dense_free(&old);
    return err;
}

static bool reads(const void *made) {
    const ica_fit *s = made;
    return !s->pca.base.last && s->stage != ROTATE;
}

/* ---- the model ---- */

/* Units by how much of the samples they explain: sum over p of lambda_p W_jp^2, descending. */
static void rank(const ica_fit *s, double *power, int64_t *order) {
    for (int64_t j = 0; j < s->pca.plan.units; j++) {
        power[j] = 0;
        for (int64_t i = 0; i < s->alive; i++)
            power[j] += s->pca.values[i] * row_of(s, j)[i] * row_of(s, j)[i];
        int64_t at = j;
        for (; at > 0 && power[order[at - 1]] < power[j]; at--)
            order[at] = order[at - 1];
        order[at] = j;
    }
}

/* A = P Lambda^1/2 W' */
static rb_error store(rb_context *ctx, void *made, rb_model *model) {
    ica_fit *s = made;
    rb_scratch scratch = {.ctx = ctx};
    int64_t m = s->pca.base.problem.n_features, k = s->pca.plan.units;
    rb_dense scaled = {0}, turn = {0}, loadings = {0};
    double *power = rb_take(&scratch, k, sizeof *power);
    int64_t *order = rb_take(&scratch, k, sizeof *order);
    rb_dense_take(&scratch, RB_FLOAT64, m, k, &scaled);
    rb_dense_take(&scratch, RB_FLOAT64, k, k, &turn);
    rb_dense_take(&scratch, RB_FLOAT64, m, k, &loadings);
    if (scratch.err) return rb_scratch_end(&scratch);
    for (int64_t j = s->unit; s->options.algorithm == DEFLATION && j < s->alive; j++)
        take_off(s, j, row_of(s, j));
    rank(s, power, order);
    for (int64_t j = 0; j < k; j++)
        for (int64_t i = 0; i < s->alive; i++)
            rb_dense_set(turn, i, j, sqrt(s->pca.values[i]) * row_of(s, order[j])[i]);
    rb_dense_copy(s->pca.directions, scaled);
    rb_gemm_parallel(ctx, 1, scaled, RB_PLAIN, turn, RB_PLAIN, 0, loadings);
    scratch.err =
        factors_linear_store(ctx, model, loadings, NULL, pca_noise(&s->pca), pca_total(&s->pca));
    return rb_scratch_end(&scratch);
}

const rb_method rb_method_ica = {
    .size = sizeof(rb_method),
    .name = "ica",
    .title = "independent component analysis",
    .purpose = "independent sources that were mixed",
    .options_size = sizeof(rb_ica_options),
    .code_name = "X_ica",
    .options = rows,
    .rules = rules,
    .resolve = pca_resolve,
    .units = factors_units,
    .block_samples = pca_block_samples,
    .parts = parts,
    .shape = shape,
    .state_size = sizeof(ica_fit),
    .start = start,
    .finish = pca_finish,
    .survey = factors_survey,
    .begin = begin,
    .block = block,
    .end = end,
    .mstep = mstep,
    .objective = factors_objective,
    .last = factors_last,
    .done = factors_done,
    .reads = reads,
    .no_start = true,
    .store = store,
    .coder_new = factors_linear_new,
    .coder_free = factors_coder_free,
    .encode = factors_linear_encode,
    .evaluate = factors_linear_evaluate,
    .arrays = factors_linear_arrays,
    .no_samples = "its codes have no distribution",
    .spreads = factors_spread,
};
