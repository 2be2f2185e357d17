/* Non-negative matrix factorisation.
 *
 *   V   n x m   samples              V ~ H W', nothing below 0
 *   H   n x k   codes                G = W'W,  S = H'H
 *   W   m x k   loadings
 *
 * Frobenius: |V - H W'|^2. hals (A. Cichocki, A.-H. Phan 2009: nnls.c) takes one unit after the
 * other to its best values, for the codes with P = V W and G, for the loadings with V'H and S;
 * multiplicative (D. Lee, H. Seung, "Algorithms for non-negative matrix factorization", NIPS 13,
 * 2001, theorem 1) is
 *     H <- H * P / (H G)          W <- W * V'H / (W S)        * and / entry by entry.
 * Either repeats a step `sweeps` times with the same product with the data, which is what costs.
 * The error comes from what the products leave: |V|^2 - 2 <V'H, W> + <W S, W>.
 *
 * One pass over the data an iteration: codes of a block are improved, V'H and S added up; then the
 * loadings. Codes of all samples stay in memory.
 */
#include "nmf.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

/* ---- options ---- */

const rb_option nmf_option_rows[] = {
    {"units", 'k', RB_OPTION_INTEGER, offsetof(nmf_options, units), "10", 1, 1e9, NULL, "N",
     "number of units", RB_OPTION_COMMON},
    {"loss", 0, RB_OPTION_CHOICE, offsetof(nmf_options, loss), "frobenius", 0, 0,
     "frobenius|kullback-leibler", "NAME",
     "loss: squared error, or the divergence of Kullback and Leibler, for counts",
     RB_OPTION_COMMON},
    {"solver", 0, RB_OPTION_CHOICE, offsetof(nmf_options, solver), "hals", 0, 0,
     "hals|multiplicative", "HOW",
     "hals updates one unit after the other; multiplicative, by the rules of Lee and Seung, needs "
     "many more iterations and is required by --loss kullback-leibler"},
    {"start", 0, RB_OPTION_CHOICE, offsetof(nmf_options, start), "auto", 0, 0,
     "auto|nndsvda|nndsvd|random", "HOW",
     "initial values of the first fit (restarts are random): nndsvd from singular vectors, nndsvda "
     "with the mean of the data in place of zeros. auto is nndsvd for hals where there are enough "
     "singular vectors, otherwise random"},
    {"sweeps", 0, RB_OPTION_INTEGER, offsetof(nmf_options, sweeps), "4", 1, 1e6, NULL, "N",
     "updates of codes and loadings per iteration, at most (1: as published)", RB_OPTION_RESEARCH,
     .needs = "loss=frobenius"},
    {0},
};

/* What further iterations would change: docs/howto/fitting.md. Those of the other solver are too
 * small to tell an end. */
const rb_option_rule nmf_option_rules[] = {
    {"loss=kullback-leibler", "solver=multiplicative"},
    {"solver=hals", "tolerance=1e-6"},
    {0},
};

static const char *const start_options[] = {"start", NULL};

/* ---- arrays ---- */

enum {
    FEATURES = RB_DIM_FEATURES,
    UNITS = RB_DIM_UNITS,
    SAMPLES = PCA_NEXT,
    BLOCK,        /* samples in one */
    WORKED,       /* rows of work */
    RATIOS,       /* rows of ratios */
    RATIO_VALUES, /* columns of them */
    TASKS,
    SIDES /* units that begin with singular vectors */
};

static const rb_field parameter_fields[] = {
    {"loadings", offsetof(nmf_fit, loadings), RB_FIELD_DENSE, RB_KEPT_WORKING, FEATURES, UNITS,
     RB_KEPT_PARAMETER, .max = INFINITY},
    {"noise", offsetof(nmf_fit, noise), RB_FIELD_POINTER, RB_KEPT_FLOAT64, FEATURES,
     .role = RB_KEPT_REPORTED},
    {"mean_squares", offsetof(nmf_fit, mean_squares), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS,
     .role = RB_KEPT_REPORTED},
    {0},
};

static const rb_field code_fields[] = {
    {"codes", offsetof(nmf_fit, codes), RB_FIELD_DENSE, RB_KEPT_WORKING, SAMPLES, UNITS,
     RB_KEPT_CODES},
    {0},
};

static const rb_field progress_fields[] = {
    {"iteration", offsetof(nmf_fit, iteration), RB_FIELD_INLINE, RB_KEPT_INTEGER,
     .role = RB_KEPT_MSTEPS},
    {0},
};

static const rb_field sum_fields[] = {
    {"products", offsetof(nmf_fit, products), RB_FIELD_DENSE, RB_KEPT_WORKING, FEATURES, UNITS},
    {"second", offsetof(nmf_fit, second), RB_FIELD_DENSE, RB_KEPT_WORKING, UNITS, UNITS},
    {"totals", offsetof(nmf_fit, totals), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS},
    {"divergence", offsetof(nmf_fit, divergence), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {"above", offsetof(nmf_fit, above), RB_FIELD_POINTER, RB_KEPT_FLOAT64, SIDES},
    {"below", offsetof(nmf_fit, below), RB_FIELD_POINTER, RB_KEPT_FLOAT64, SIDES},
    {"sum", offsetof(nmf_fit, sum), RB_FIELD_INLINE, RB_KEPT_FLOAT64},
    {0},
};

static const rb_field scratch_fields[] = {
    {"linear", offsetof(nmf_fit, linear), RB_FIELD_DENSE, RB_KEPT_WORKING, BLOCK, UNITS},
    {"work", offsetof(nmf_fit, work), RB_FIELD_DENSE, RB_KEPT_WORKING, WORKED, UNITS},
    {"ratios", offsetof(nmf_fit, ratios), RB_FIELD_DENSE, RB_KEPT_WORKING, RATIOS, RATIO_VALUES},
    {"task_divergences", offsetof(nmf_fit, task_divergences), RB_FIELD_POINTER, RB_KEPT_FLOAT64,
     TASKS},
    {"column_sums", offsetof(nmf_fit, column_sums), RB_FIELD_POINTER, RB_KEPT_FLOAT64, UNITS},
    {0},
};

static const rb_part parts[] = {
    {RB_PART_PARAMETERS, parameter_fields, 0},
    {RB_PART_CODES, code_fields, 0},
    {RB_PART_PROGRESS, progress_fields, 0},
    {RB_PART_SURVEY, factors_survey_fields, 0},
    {RB_PART_SUMS, sum_fields, 0},
    {RB_PART_SCRATCH, scratch_fields, 0},
    {RB_PART_SUMS, pca_sum_fields, offsetof(nmf_fit, pca)},
    {RB_PART_SCRATCH, pca_parameter_fields, offsetof(nmf_fit, pca)}, /* all within an iteration */
    {RB_PART_SCRATCH, pca_progress_fields, offsetof(nmf_fit, pca)},
    {RB_PART_SCRATCH, pca_scratch_fields, offsetof(nmf_fit, pca)},
    {0},
};

/* What auto is here. */
static void resolve(rb_problem *problem, void *options) {
    nmf_options *o = options;
    bool fits = o->solver == NMF_HALS && nmf_start_fits(problem, o->units);
    if (o->start == NMF_AUTO) o->start = fits ? NMF_NNDSVD : NMF_RANDOM;
}

static void shape(const rb_problem *problem, const void *options, rb_shape *shape) {
    const nmf_options *o = options;
    if (o->start != NMF_RANDOM) {
        pca_shape(problem, &(pca_options){o->units, PCA_RANDOMIZED}, shape);
        shape->dims[SIDES] = o->units;
    }
    int64_t m = problem->n_features, most = problem->block_samples;
    bool ratios = o->loss == NMF_KULLBACK_LEIBLER && !problem->sparse;
    shape->dims[FEATURES] = m;
    shape->dims[UNITS] = o->units;
    shape->dims[SAMPLES] = problem->own;
    shape->dims[BLOCK] = most;
    shape->dims[WORKED] = m > most ? m : most;
    shape->dims[RATIOS] = ratios ? most : 0;
    shape->dims[RATIO_VALUES] = m;
    shape->dims[TASKS] = block_tasks(most).count;
}

/* ---- the start ---- */

static rb_error load_loadings(rb_context *ctx, const rb_model *start, rb_dense w) {
    const double *values;
    rb_error err = rb_model_need_array(ctx, start, "loadings", w.rows, w.cols, &values);
    if (!err) rb_dense_copy((rb_dense){(void *)values, w.rows, w.cols, w.cols, RB_FLOAT64}, w);
    for (int64_t e = 0; !err && e < w.rows * w.cols; e++) {
        if (!(values[e] >= 0)) {
            err = rb_fail(ctx, RB_ERROR_FORMAT,
                          "the model to start from has a loading that is below 0 or not a number");
        }
    }
    return err;
}

/* Rules that multiply need something to begin with; how much does not matter. */
static void fill_codes(rb_dense codes) {
    for (int64_t i = 0; i < codes.rows; i++)
        for (int64_t j = 0; j < codes.cols; j++)
            rb_dense_set(codes, i, j, 1);
}

static rb_error start(rb_context *ctx, const rb_problem *problem, const void *options,
                      const rb_model *before, void **state) {
    nmf_fit *fit = *state;
    fit->base.problem = *problem;
    fit->options = *(const nmf_options *)options;
    fit->warm = before != NULL;
    if (fit->options.loss == NMF_KULLBACK_LEIBLER && fit->options.solver == NMF_HALS) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`solver=hals` needs `loss=frobenius`; use `solver=multiplicative` with "
                       "`loss=kullback-leibler`");
    }
    if (fit->options.start == NMF_NNDSVD && fit->options.solver == NMF_MULTIPLICATIVE) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`start=nndsvd` has zeros, which `solver=multiplicative` never changes; use "
                       "`start=nndsvda`");
    }
    fit->own = (rb_scratch){.ctx = ctx};
    rb_nnls_new(&fit->own, problem->type, fit->options.units, false, &fit->codes_by);
    rb_nnls_new(&fit->own, problem->type, fit->options.units, false, &fit->loadings_by);
    rb_error err = fit->own.err;
    if (!err && before) err = load_loadings(ctx, before, fit->loadings);
    if (!err && !before && problem->restart == 0 && fit->options.start != NMF_RANDOM)
        err = nmf_start_new(ctx, problem, fit);
    if (fit->options.solver == NMF_MULTIPLICATIVE) fill_codes(fit->codes);
    return err;
}

static void finish(void *state) {
    nmf_fit *fit = state;
    if (!fit) return;
    (void)rb_scratch_end(&fit->own);
    pca_finish(&fit->pca);
    rb_free(fit->ratio_values.data);
}

/* Loadings between 0 and the size of the feature: codes find their scale in the first step. */
static rb_error survey_end(rb_context *ctx, void *state) {
    nmf_fit *fit = state;
    rb_dense w = fit->loadings;
    rb_stream stream = {.seed = (uint64_t)fit->base.problem.fit->seed,
                        .purpose = RB_RANDOM_COMPARE,
                        .restart = (uint32_t)fit->base.problem.restart};
    double sum = 0;
    for (int64_t k = 0; k < w.rows; k++)
        sum += fit->base.squares[k];
    if (!(sum > 0))
        return rb_fail(ctx, RB_ERROR_DATA, "every value of the data is 0; there is nothing to fit");
    for (int64_t k = 0; !fit->warm && k < w.rows; k++) {
        double size = sqrt(fit->base.squares[k] / (double)fit->base.problem.n_samples);
        for (int64_t j = 0; j < w.cols; j++)
            rb_dense_set(w, k, j, size * rb_random_uniform(stream, (uint64_t)(k * w.cols + j)));
    }
    return RB_OK;
}

/* ---- values below 0 ---- */

static bool any_below(rb_type type, int64_t count, const void *values) {
    bool below = false;
    for (int64_t e = 0; e < count; e++)
        below |= rb_get(type, values, e) < 0;
    return below;
}

static bool has_below(const rb_block *block) {
    rb_dense v = block->dense;
    rb_csr s = block->csr;
    bool below = false;
    for (int64_t i = 0; !block->sparse && i < v.rows && !below; i++)
        below = any_below(v.type, v.cols, rb_dense_row(v, i));
    for (int64_t k = 0; block->sparse && block->shift && k < block->n_features; k++)
        below |= block->shift[k] != 0;
    return below || (block->sparse && any_below(s.type, s.starts[s.rows] - s.starts[0], s.values));
}

rb_error nmf_check_values(rb_context *ctx, const rb_block *block) {
    if (!has_below(block)) return RB_OK;
    for (int64_t i = 0; i < block->n_samples; i++) {
        for (int64_t k = 0; k < block->n_features; k++) {
            double value = rb_block_at(block, i, k);
            if (value < 0) {
                return rb_fail(ctx, RB_ERROR_DATA,
                               "sample %lld, feature %lld (counted from %d, of those in use) is "
                               "%g, but nmf takes no values below 0; use `centre=none` if only "
                               "centring makes them, else fit rfn",
                               (long long)rb_nth(ctx, block->first + i), (long long)rb_nth(ctx, k),
                               ctx->first, value);
            }
        }
    }
    return RB_OK;
}

/* ---- Frobenius ---- */

/* X <- X * P / Z, with Z = X G. What is next to nothing becomes 0, for small numbers are slow. */
static void multiply_rows(rb_dense rows, rb_dense linear, rb_dense products) {
    const double nothing = 1e-30;
    for (int64_t i = 0; i < rows.rows; i++) {
        void *row = rb_dense_row(rows, i);
        const void *up = rb_dense_row(linear, i), *down = rb_dense_row(products, i);
        if (rows.type == RB_FLOAT32) {
            float *x = row;
            const float *p = up, *z = down, least = (float)nothing;
            for (int64_t j = 0; j < rows.cols; j++) {
                float value = x[j] * (z[j] > least ? p[j] / z[j] : 1);
                x[j] = value < least ? 0 : value;
            }
        } else {
            double *x = row;
            const double *p = up, *z = down;
            for (int64_t j = 0; j < rows.cols; j++) {
                double value = x[j] * (z[j] > nothing ? p[j] / z[j] : 1);
                x[j] = value < nothing ? 0 : value;
            }
        }
    }
}

/* Rows of codes with W'W, or of loadings with H'H. */
static void improve(const nmf_fit *fit, const rb_nnls *by, rb_dense linear, rb_dense rows,
                    rb_dense work, int worker) {
    const double enough = 0.01;
    bool first = fit->iteration == 0 && by == &fit->codes_by;
    int64_t sweeps = fit->options.sweeps;
    if (fit->options.solver == NMF_HALS) {
        rb_nnls_descend(by, first ? 10 * sweeps : sweeps, sweeps > 1 ? enough : 0, linear, rows,
                        worker);
        return;
    }
    for (int64_t t = 0; t < sweeps; t++) {
        rb_gemm(1, rows, RB_PLAIN, by->gram, RB_PLAIN, 0, work);
        multiply_rows(rows, linear, work);
    }
}

struct pass {
    rb_context *ctx;
    const nmf_fit *fit;
    const rb_block *block;
    rb_dense codes; /* of the block */
};

static void improve_codes(void *arg, int64_t task, int worker) {
    const struct pass *p = arg;
    int64_t first;
    rb_dense codes = block_task_rows(p->codes, task, &first);
    rb_dense linear = rb_dense_rows(p->fit->linear, first, codes.rows);
    rb_block_project(p->ctx, p->block, first, p->fit->loadings, linear);
    improve(p->fit, &p->fit->codes_by, linear, codes,
            rb_dense_rows(p->fit->work, first, codes.rows), worker);
}

static void improve_loadings(void *arg, int64_t task, int worker) {
    const struct pass *p = arg;
    const nmf_fit *fit = p->fit;
    int64_t first;
    rb_dense w = block_task_rows(fit->loadings, task, &first);
    improve(fit, &fit->loadings_by, rb_dense_rows(fit->products, first, w.rows), w,
            rb_dense_rows(fit->work, first, w.rows), worker);
}

/* What is left of each feature: (|v_k|^2 - 2 <u_k, w_k> + <w_k S, w_k>) / n; all of them together
 * are minus the objective. */
static void find_errors(rb_context *ctx, nmf_fit *fit) {
    rb_dense w = fit->loadings, s = fit->loadings_by.gram;
    rb_dense z = rb_dense_rows(fit->work, 0, w.rows);
    double n = (double)fit->base.problem.n_samples, sum = 0;
    rb_gemm_parallel(ctx, 1, w, RB_PLAIN, s, RB_PLAIN, 0, z);
    for (int64_t k = 0; k < w.rows; k++) {
        const void *row = rb_dense_row(w, k);
        double error = fit->base.squares[k] + rb_dot(ctx, w.type, w.cols, rb_dense_row(z, k), row) -
                       2 * rb_dot(ctx, w.type, w.cols, rb_dense_row(fit->products, k), row);
        sum += error / n;
        fit->noise[k] = fmax(error / n, 0);
    }
    fit->base.objective = sum > 0 ? -sum : 0;
}

static void take_second(nmf_fit *fit) {
    rb_dense s = fit->loadings_by.gram;
    rb_dense_copy(fit->second, s);
    rb_dense_mirror(s);
    for (int64_t j = 0; j < s.rows; j++)
        fit->mean_squares[j] = rb_dense_get(s, j, j) / (double)fit->base.problem.n_samples;
}

/* ---- an iteration ---- */

static rb_error begin(rb_context *ctx, void *state) {
    nmf_fit *fit = state;
    rb_dense w = fit->loadings, gram = fit->codes_by.gram;
    if (fit->iteration > 0) fit->stage = NMF_ITERATE; /* of a checkpoint */
    if (fit->stage == NMF_FIND_DIRECTIONS) return pca_begin(ctx, &fit->pca);
    if (fit->stage != NMF_ITERATE) return RB_OK;
    if (fit->options.loss == NMF_KULLBACK_LEIBLER) {
        nmf_divergence_begin(fit);
        return RB_OK;
    }
    rb_gemm_lower(ctx, 1, w, RB_TRANSPOSED, w, RB_PLAIN, 0, gram);
    rb_dense_mirror(gram);
    return RB_OK;
}

static rb_error block(rb_context *ctx, void *state, const rb_block *block) {
    nmf_fit *fit = state;
    rb_error err = fit->checked ? RB_OK : nmf_check_values(ctx, block);
    if (err) return err;
    if (fit->stage != NMF_ITERATE) return nmf_start_block(ctx, fit, block);
    if (fit->options.loss == NMF_KULLBACK_LEIBLER) return nmf_divergence_block(ctx, fit, block);
    rb_dense codes = rb_dense_rows(fit->codes, block->own, block->n_samples);
    rb_parallel(ctx, block_tasks(codes.rows).count, improve_codes,
                &(struct pass){ctx, fit, block, codes});
    return factors_add_moments(ctx, block, codes, fit->products, fit->second);
}

/* After the last E-step: what is left with the codes that it found. */
static rb_error end(rb_context *ctx, void *state, bool *again) {
    nmf_fit *fit = state;
    fit->checked = true;
    *again = fit->stage != NMF_ITERATE;
    if (*again) return nmf_start_end(ctx, fit);
    take_second(fit);
    if (fit->base.last && fit->options.loss == NMF_FROBENIUS) find_errors(ctx, fit);
    return RB_OK;
}

static rb_error mstep(rb_context *ctx, void *state) {
    nmf_fit *fit = state;
    if (fit->options.loss == NMF_KULLBACK_LEIBLER) {
        nmf_divergence_mstep(fit);
    } else {
        rb_parallel(ctx, block_tasks(fit->loadings.rows).count, improve_loadings,
                    &(struct pass){.ctx = ctx, .fit = fit});
        find_errors(ctx, fit);
    }
    fit->iteration++;
    return RB_OK;
}

/* The error is what is left of large numbers: of data far from 0 their rounding may be more. */
static void tell_rounding(rb_context *ctx, const nmf_fit *fit) {
    double size = 0, left = fabs(fit->base.objective);
    for (int64_t k = 0; k < fit->loadings.rows; k++)
        size += fit->base.squares[k] / (double)fit->base.problem.n_samples;
    if (fit->base.problem.type != RB_FLOAT32 || fit->options.loss != NMF_FROBENIUS ||
        FLT_EPSILON * size <= 0.1 * left)
        return;
    rb_log(ctx, RB_LOG_WARNING,
           "objective and noise variances are inexact: the residual of each sample is %.1g of its "
           "square, and float32 rounds to %.1g; use `precision=float64`, or subtract the smallest "
           "value of each feature first",
           left / size, FLT_EPSILON);
}

/* Codes have mean square 1 in the model: loadings are then of the size that units have in data. A
 * unit that is in no sample is dead. */
static rb_error store(rb_context *ctx, void *state, rb_model *model) {
    const nmf_fit *fit = state;
    rb_dense w = fit->loadings;
    double *loadings = rb_model_add_array(ctx, model, "loadings", w.rows, w.cols);
    double *noise = loadings ? rb_model_add_array(ctx, model, "noise", w.rows, 1) : NULL;
    double *dead = noise ? rb_model_add_array(ctx, model, "dead", w.cols, 1) : NULL;
    if (!dead) return RB_ERROR_MEMORY;
    for (int64_t j = 0; j < w.cols; j++) {
        double scale = sqrt(fit->mean_squares[j]), squares = 0;
        for (int64_t k = 0; k < w.rows; k++) {
            double value = scale * rb_dense_get(w, k, j);
            loadings[k * w.cols + j] = value;
            squares += value * value;
        }
        dead[j] = !(squares > 0);
    }
    for (int64_t k = 0; k < w.rows; k++)
        noise[k] = fit->noise[k];
    tell_rounding(ctx, fit);
    return RB_OK;
}

const rb_method rb_method_nmf = {
    .size = sizeof(rb_method),
    .name = "nmf",
    .title = "non-negative matrix factorisation",
    .purpose = "additive parts of counts, spectra or images",
    .options = nmf_option_rows,
    .options_size = sizeof(nmf_options),
    .rules = nmf_option_rules,
    .start_options = start_options,
    .code_name = "X_nmf",
    .centre = RB_CENTRE_NONE,
    .resolve = resolve,
    .units = factors_units,
    .block_samples = factors_block_samples,
    .parts = parts,
    .shape = shape,
    .state_size = sizeof(nmf_fit),
    .start = start,
    .finish = finish,
    .survey = factors_survey,
    .survey_end = survey_end,
    .begin = begin,
    .block = block,
    .end = end,
    .mstep = mstep,
    .objective = factors_objective,
    .last = factors_last,
    .store = store,
    .coder_new = nmf_coder_new,
    .coder_free = factors_coder_free,
    .encode = nmf_encode,
    .emit = nmf_emit,
    .spreads = factors_spread,
};
