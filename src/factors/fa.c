/* Fitting factor models by EM (D. Rubin, D. Thayer, "EM algorithms for ML factor analysis",
 * Psychometrika 47, 1982; Z. Ghahramani, G. Hinton, "The EM algorithm for mixtures of factor
 * analyzers", technical report CRG-TR-96-1, Toronto 1996).
 *
 *     U = 1/n sum v_i mu_i',   S = 1/n sum (mu_i mu_i' + Sigma_i),   c_k = 1/n sum v_ik^2
 *     W <- U S^-1,   psi_k <- max(psi_min,k, c_k - 2 w_k'u_k + w_k'S w_k)
 *
 * and where loadings are to be sparse w_kj <- sign(w_kj) max(0, |w_kj| - decay sd_k) in between,
 * sd_k the standard deviation of the feature: the decay of a Laplacian prior (D. Clevert, A. Mayr,
 * T. Unterthiner, S. Hochreiter, "Rectified factor networks", NIPS 2015, Alg. S8), whose strength
 * is not that of a fixed prior: no objective is promised to rise then. Start and bounds follow the
 * standard deviations of the features, so that a fit is the same, but for units of measurement, for
 * data that are scaled feature by feature.
 *
 * FABIA (S. Hochreiter et al., "FABIA: factor analysis for bicluster acquisition", Bioinformatics
 * 26, 2010) moves loadings by alpha psi_k, psi_k of the M-step before, has psi_k = c_k - w_k'u_k,
 * which is the above where no loading was moved, and adds 0.001 / n to the diagonal of S. Its
 * authors' program divides each feature by the root of its interquartile range; here start, alpha
 * and bounds are multiplied accordingly. No objective is promised to rise.
 *
 * The objective is the bound of the mean log-likelihood,
 *
 *     -1/2 (m ln 2 pi + ln |Psi| + sum_k q_k / psi_k) + 1/n sum (ln |Sigma_i| / 2 + E ln p~(z_i))
 *     + l/2 (1 + ln 2 pi),   q_k = c_k - 2 w_k'u_k + w_k'S w_k
 *
 * with the loadings and noise variances of the M-step and the posterior before it. */
#include "fa.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

static const double LN_2PI = 1.8378770664093454836;

/* FABIA's noise variance at the start, and what it adds to sums of E z^2. */
static const double FABIA_NOISE = 0.2, FABIA_LEAST = 1e-3;

/* Of a feature that is always the same, for which any noise variance is too large. */
static double variance_of(const factors *fa, int64_t k) {
    return fa->second[k] > 0 ? fa->second[k] : 1;
}

/* FABIA's numbers are for features that are divided by the root of their interquartile range, which
 * is so many standard deviations of normal ones; those of the others for variance 1. */
static const double QUARTILES = 1.349;

static double size_of(const factors *fa, int64_t k) {
    double sd = sqrt(variance_of(fa, k));
    return fa->prior == FACTORS_FABIA ? sqrt(QUARTILES * sd) : sd;
}

double fa_noise_min(const factors *fa, int64_t k) {
    const double least = 1e-12; /* what sums of squares leave of nothing */
    double size = size_of(fa, k);
    return fmax(fa->options.noise_min * size * size, least * variance_of(fa, k));
}

/* ---- memory ---- */

static const rb_field parameters_fields[] = {
    {"loadings", offsetof(factors, loadings), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_FEATURES,
     RB_DIM_UNITS, RB_KEPT_PARAMETER},
    {"noise", offsetof(factors, noise), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RB_DIM_FEATURES, 0,
     RB_KEPT_POSITIVE, DBL_MIN, DBL_MAX},
    {0},
};
static const rb_field codes_fields[] = {
    {"variances", offsetof(factors, variances), RB_FIELD_POINTER, RB_KEPT_FLOAT64, FACTORS_OWN,
     FACTORS_SPARSE, RB_KEPT_OTHER, 0, DBL_MAX},
    {0},
};
static const rb_field progress_fields[] = {
    {"scale", offsetof(factors, scale), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RB_DIM_UNITS, 0,
     RB_KEPT_OTHER, 0, DBL_MAX},
    {"settled", offsetof(factors, base.done), RB_FIELD_INLINE, RB_KEPT_FLAG},
    {"subspace", offsetof(factors, subspace), RB_FIELD_DENSE, RB_KEPT_FLOAT64, FACTORS_SUBSPACE,
     RB_DIM_FEATURES},
    {"nearby", offsetof(factors, nearby), RB_FIELD_INLINE, RB_KEPT_FLAG},
    {0},
};
static const rb_field survey_fields[] = {
    {"second", offsetof(factors, second), RB_FIELD_POINTER, RB_KEPT_FLOAT64, RB_DIM_FEATURES,
     .sum = RB_SUM_SQUARES},
    {"products", offsetof(factors, products), RB_FIELD_DENSE, RB_KEPT_WORKING, FACTORS_COVARIANCE,
     FACTORS_COVARIANCE},
    {0},
};
static const rb_field sums_fields[] = {
    {"u", offsetof(factors, sums.u), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_FEATURES,
     RB_DIM_UNITS},
    {"s", offsetof(factors, sums.s), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_UNITS, RB_DIM_UNITS},
    {"spread", offsetof(factors, sums.spread), RB_FIELD_POINTER, RB_KEPT_FLOAT64, FACTORS_SPARSE,
     FACTORS_SPARSE},
    {"value", offsetof(factors, sums.value), RB_FIELD_INLINE, RB_KEPT_FLOAT64, RB_DIM_ONE},
    {0},
};
static const rb_field scratch_fields[] = {
    {"codes", offsetof(factors, codes), RB_FIELD_DENSE, RB_KEPT_WORKING, FACTORS_BLOCK,
     RB_DIM_UNITS},
    {"moment", offsetof(factors, moment), RB_FIELD_DENSE, RB_KEPT_WORKING, RB_DIM_FEATURES,
     RB_DIM_UNITS},
    {"root", offsetof(factors, root), RB_FIELD_DENSE, RB_KEPT_FLOAT64, FACTORS_RANK,
     RB_DIM_FEATURES},
    {"wide", offsetof(factors, wide), RB_FIELD_DENSE, RB_KEPT_FLOAT64, FACTORS_WIDE, FACTORS_WIDE},
    {0},
};
static const rb_part parts[] = {
    {RB_PART_PARAMETERS, parameters_fields, 0},
    {RB_PART_CODES, codes_fields, 0},
    {RB_PART_PROGRESS, progress_fields, 0},
    {RB_PART_SURVEY, survey_fields, 0},
    {RB_PART_SUMS, sums_fields, 0},
    {RB_PART_SCRATCH, scratch_fields, 0},
    {0},
};

static fa_prior prior_of(const rb_problem *problem) {
    return *(const fa_prior *)problem->method->own;
}

/* Larger covariances cost more than passes over the data do. */
static bool is_fixed(const rb_problem *problem, const fa_options *options) {
    enum { MAX_FEATURES = 1024 };
    if (options->solver != FACTORS_AUTO) return options->solver == FACTORS_FIXED_POINT;
    return problem->method->project && problem->n_features <= MAX_FEATURES &&
           problem->fit->accelerate == RB_ACCELERATE_NONE;
}

static void shape(const rb_problem *problem, const void *options, rb_shape *shape) {
    const fa_options *o = options;
    bool fixed = is_fixed(problem, o), sparse = prior_of(problem) != FACTORS_NORMAL;
    shape->dims[RB_DIM_ONE] = 1;
    shape->dims[RB_DIM_FEATURES] = problem->n_features;
    shape->dims[RB_DIM_UNITS] = o->units;
    shape->dims[FACTORS_OWN] = sparse ? problem->own : 0;
    shape->dims[FACTORS_BLOCK] = fixed ? 0 : problem->block_samples;
    shape->dims[FACTORS_COVARIANCE] = fixed ? problem->n_features : 0;
    shape->dims[FACTORS_RANK] =
        fixed && problem->n_samples < problem->n_features ? problem->n_samples : 0;
    shape->dims[FACTORS_SPARSE] = sparse ? o->units : 0;
    shape->dims[FACTORS_SUBSPACE] = fixed ? fa_subspace(problem, o->units) : 0;
    shape->dims[FACTORS_WIDE] = shape->dims[FACTORS_SUBSPACE] > 0 ? problem->n_features : 0;
}

static void finish(void *state) {
    factors *fa = state;
    if (!fa) return;
    rb_spd_free(fa->posterior.factor);
    (void)rb_scratch_end(&fa->own);
    rb_csr_memory_free(&fa->columns);
}

/* ---- the start ---- */

/* Loadings of a model belong to codes that it may have scaled. */
static rb_error take_start(rb_context *ctx, const rb_model *model, factors *fa) {
    int64_t m = fa->loadings.rows, l = fa->loadings.cols;
    const double *loadings, *noise, *scale;
    rb_error err = rb_model_need_array(ctx, model, "loadings", m, l, &loadings);
    err = err ? err : rb_model_need_array(ctx, model, "noise", m, 1, &noise);
    err = err ? err : rb_model_need_array(ctx, model, "scale", l, 1, &scale);
    for (int64_t k = 0; !err && k < m; k++) {
        fa->noise[k] = noise[k];
        for (int64_t j = 0; j < l; j++)
            rb_dense_set(fa->loadings, k, j, loadings[k * l + j] / scale[j]);
    }
    return err;
}

static rb_error start(rb_context *ctx, const rb_problem *problem, const void *options,
                      const rb_model *start, void **state) {
    factors *fa = *state;
    fa->base.problem = *problem;
    fa->options = *(const fa_options *)options;
    fa->prior = prior_of(problem);
    fa->fixed = is_fixed(problem, &fa->options);
    fa->warm = start != NULL;
    if (fa->fixed && problem->fit->accelerate != RB_ACCELERATE_NONE) {
        return rb_fail(ctx, RB_ERROR_ARGUMENT,
                       "`accelerate` needs `solver=em`; leave out one of `accelerate` and "
                       "`solver=fixed-point`");
    }
    int64_t l = fa->options.units;
    for (int64_t e = 0; fa->prior != FACTORS_NORMAL && e < problem->own * l; e++)
        fa->variances[e] = 1;
    fa->own = (rb_scratch){.ctx = ctx};
    fa_posterior_new(&fa->own, problem->type, problem->n_features, l, fa->prior, &fa->posterior);
    if (fa->prior != FACTORS_NORMAL) fa_work_new(&fa->own, l, true, &fa->work);
    return fa->own.err || !start ? fa->own.err : take_start(ctx, start, fa);
}

static rb_error survey(rb_context *ctx, void *state, const rb_block *block) {
    factors *fa = state;
    rb_block_feature_squares(ctx, block, fa->second);
    return fa->fixed ? factors_add_second(ctx, &fa->columns, block, fa->products) : RB_OK;
}

static rb_error survey_end(rb_context *ctx, void *state) {
    factors *fa = state;
    int64_t m = fa->loadings.rows, l = fa->loadings.cols;
    rb_stream stream = {(uint64_t)fa->base.problem.fit->seed, RB_RANDOM_LOADINGS,
                        (uint32_t)fa->base.problem.restart};
    for (int64_t k = 0; k < m; k++)
        fa->second[k] /= (double)fa->base.problem.n_samples;
    for (int64_t k = 0; !fa->warm && k < m; k++) {
        double size = size_of(fa, k), sd = fa->second[k] > 0 ? size * fa->options.weight_init : 0;
        fa->noise[k] = fa->prior == FACTORS_FABIA ? FABIA_NOISE * size * size : variance_of(fa, k);
        for (int64_t j = 0; j < l; j++)
            rb_dense_set(fa->loadings, k, j, sd * rb_random_normal(stream, (uint64_t)(k * l + j)));
    }
    for (int64_t k = 0; k < m; k++)
        fa->noise[k] = fmax(fa->noise[k], fa_noise_min(fa, k));
    if (fa->fixed) rb_dense_mirror(fa->products);
    if (fa->wide.rows > 0) rb_dense_copy(fa->products, fa->wide);
    return fa->root.rows > 0 ? fa_root(ctx, fa) : RB_OK;
}

/* ---- the E-step ---- */

static bool reads(const void *state) {
    return !((const factors *)state)->fixed;
}

static rb_error begin(rb_context *ctx, void *state) {
    factors *fa = state;
    return fa->fixed ? RB_OK : fa_posterior_set(ctx, fa->loadings, fa->noise, &fa->posterior);
}

static rb_error block(rb_context *ctx, void *state, const rb_block *block) {
    factors *fa = state;
    if (fa->fixed) return RB_OK;
    bool normal = fa->prior == FACTORS_NORMAL;
    rb_dense mu = rb_dense_rows(fa->codes, 0, block->n_samples);
    rb_error err =
        factors_project(ctx, block, normal ? fa->posterior.filter : fa->posterior.weighted, mu);
    if (!err && !normal) {
        fa_pass pass = {.posterior = &fa->posterior,
                        .work = &fa->work,
                        .codes = mu,
                        .variances = fa->variances + block->own * mu.cols,
                        .steps = 1,
                        .fit = true,
                        .spread = fa->sums.spread,
                        .value = &fa->sums.value};
        err = fa_infer(ctx, &pass);
    }
    return err ? err : factors_add_moments(ctx, block, mu, fa->sums.u, fa->sums.s);
}

/* ln |Sigma_i| / 2 + E ln p(z_i) of normal factors, which is the same for all samples but for S. */
static double normal_value(const factors *fa) {
    double value = -fa->posterior.log_det / 2;
    int64_t l = fa->loadings.cols;
    for (int64_t j = 0; j < l; j++)
        value -= (LN_2PI + rb_dense_get(fa->sums.s, j, j)) / 2;
    return value;
}

/* Sums become U and S, and the scale of the codes is noted. */
static rb_error end(rb_context *ctx, void *state, bool *again) {
    factors *fa = state;
    rb_dense u = fa->sums.u, s = fa->sums.s;
    bool normal = fa->prior == FACTORS_NORMAL;
    double n = (double)fa->base.problem.n_samples;
    (void)ctx;
    *again = false;
    if (fa->fixed) return RB_OK;
    for (int64_t e = 0; e < u.rows * u.cols; e++)
        rb_put(u.type, u.data, e, rb_get(u.type, u.data, e) / n);
    for (int64_t i = 0; i < s.rows; i++) {
        fa->scale[i] = sqrt(rb_dense_get(s, i, i) / n);
        for (int64_t j = 0; j <= i; j++) {
            double spread = normal ? rb_dense_get(fa->posterior.sigma, i, j)
                                   : fa->sums.spread[i * s.cols + j] / n;
            double least = fa->prior == FACTORS_FABIA && i == j ? FABIA_LEAST / n : 0;
            rb_dense_set(s, i, j, rb_dense_get(s, i, j) / n + spread + least);
        }
    }
    rb_dense_mirror(s);
    fa->sums.value = normal ? normal_value(fa) : fa->sums.value / n;
    return RB_OK;
}

/* ---- the M-step ---- */

enum { TASK_ROWS = 64 };

struct rows {
    factors *fa;
    rb_spd *factor;
};

static double decay_of(const factors *fa, int64_t k) {
    double share = fa->options.weight_decay;
    return fa->prior == FACTORS_FABIA ? share * fa->noise[k] / size_of(fa, k)
                                      : share * sqrt(fa->second[k]);
}

static void shrink(rb_dense w, int64_t row, double by) {
    for (int64_t j = 0; by > 0 && j < w.cols; j++) {
        double value = rb_dense_get(w, row, j), rest = fmax(fabs(value) - by, 0);
        rb_dense_set(w, row, j, value < 0 ? -rest : rest);
    }
}

static void solve_rows(void *arg, int64_t task, int worker) {
    const struct rows *t = arg;
    factors *fa = t->fa;
    rb_dense w = factors_task_rows(fa->loadings, task, TASK_ROWS);
    (void)worker;
    rb_spd_solve_right(t->factor, factors_task_rows(fa->sums.u, task, TASK_ROWS), w);
    for (int64_t i = 0; i < w.rows; i++)
        shrink(w, i, decay_of(fa, task * TASK_ROWS + i));
}

/* Noise variances, and the objective. */
static void set_noise(rb_context *ctx, factors *fa) {
    rb_dense w = fa->loadings, work = fa->moment;
    double value = fa->sums.value + (double)w.cols * (1 + LN_2PI) / 2;
    rb_gemm_parallel(ctx, 1, w, RB_PLAIN, fa->sums.s, RB_PLAIN, 0, work);
    for (int64_t k = 0; k < w.rows; k++) {
        const void *row = rb_dense_row(w, k);
        double cross = rb_dot(ctx, w.type, w.cols, rb_dense_row(fa->sums.u, k), row);
        double error =
            fa->second[k] - 2 * cross + rb_dot(ctx, w.type, w.cols, rb_dense_row(work, k), row);
        double noise = fa->prior == FACTORS_FABIA ? fa->second[k] - cross : error;
        fa->noise[k] = fmax(noise, fa_noise_min(fa, k));
        value -= (LN_2PI + log(fa->noise[k]) + error / fa->noise[k]) / 2;
    }
    fa->base.objective = value;
}

static rb_error mstep(rb_context *ctx, void *state) {
    factors *fa = state;
    if (fa->fixed) return fa_fixed_point(ctx, fa);
    struct rows rows = {.fa = fa};
    int64_t tasks = factors_tasks(fa->loadings.rows, TASK_ROWS);
    rb_error err = rb_spd_new(ctx, fa->base.problem.type, fa->loadings.cols, &rows.factor);
    if (!err && (err = rb_spd_factor_moments(ctx, rows.factor, fa->sums.s)) != RB_OK)
        rb_fail_prefix(ctx, "the second moments of the factors: ");
    if (!err) {
        rb_parallel(ctx, tasks, solve_rows, &rows);
        set_noise(ctx, fa);
    }
    rb_spd_free(rows.factor);
    return err;
}

/* ---- the model ---- */

static rb_error store(rb_context *ctx, void *state, rb_model *model) {
    const factors *fa = state;
    int64_t m = fa->loadings.rows, l = fa->loadings.cols;
    double *loadings = rb_model_add_array(ctx, model, "loadings", m, l);
    double *noise = rb_model_add_array(ctx, model, "noise", m, 1);
    double *scale = rb_model_add_array(ctx, model, "scale", l, 1);
    double *dead = rb_model_add_array(ctx, model, "dead", l, 1);
    if (!loadings || !noise || !scale || !dead) return RB_ERROR_MEMORY;
    for (int64_t j = 0; j < l; j++) {
        bool silent = !(fa->scale[j] > 0);
        dead[j] = silent;
        scale[j] = silent || !fa->options.normalize ? 1 : fa->scale[j];
    }
    for (int64_t k = 0; k < m; k++) {
        noise[k] = fa->noise[k];
        for (int64_t j = 0; j < l; j++)
            loadings[k * l + j] = rb_dense_get(fa->loadings, k, j) * scale[j];
    }
    return RB_OK;
}

/* ---- the methods: what they share, and in which options they differ ---- */

static const fa_prior normal = FACTORS_NORMAL, laplace = FACTORS_LAPLACE,
                      jeffreys = FACTORS_JEFFREYS, fabia = FACTORS_FABIA;

#define FIELD(name) offsetof(fa_options, name)

/* Rows of all tables. */
#define UNITS                                                                                      \
    {                                                                                              \
        "units", 'k', RB_OPTION_INTEGER, FIELD(units), "10", 1, 1e9, NULL, "N",                    \
            "number of hidden units (factors)", RB_OPTION_COMMON                                   \
    }
#define NOISE                                                                                      \
    {                                                                                              \
        "noise-min", 0, RB_OPTION_NUMBER, FIELD(noise_min), "1e-4", 0, 1, NULL, "SHARE",           \
            "smallest noise variance of a feature, as a share of its variance"                     \
    }
#define NORMALIZE(value)                                                                           \
    {                                                                                              \
        "normalize", 0, RB_OPTION_CHOICE, FIELD(normalize), value, 0, 0, "none|rms", "HOW",        \
            "scale of each unit's codes and loadings: none, or "                                   \
            "codes of mean square 1"                                                               \
    }
#define START                                                                                      \
    {                                                                                              \
        "weight-init", 0, RB_OPTION_NUMBER, FIELD(weight_init), "0.2", DBL_MIN, DBL_MAX, NULL,     \
            "SD",                                                                                  \
            "standard deviation of the initial loadings, in standard deviations of the "           \
            "feature",                                                                             \
            RB_OPTION_RESEARCH                                                                     \
    }

static const rb_option fa_rows[] = {
    UNITS,
    {"solver", 0, RB_OPTION_CHOICE, FIELD(solver), "auto", 0, 0, "auto|em|fixed-point", "HOW",
     "em passes over the data in each iteration and never lowers the likelihood; fixed-point "
     "converges faster, with one pass and a matrix of features x features; auto is fixed-point up "
     "to 1024 features"},
    NOISE,
    NORMALIZE("none"),
    START,
    {0},
};
static const rb_option sfa_rows[] = {
    UNITS,
    {"weight-decay", 0, RB_OPTION_NUMBER, FIELD(weight_decay), "5e-5", 0, 1, NULL, "SHARE",
     "move every loading towards 0 in each M-step, by this share of its feature's standard "
     "deviation"},
    NOISE,
    NORMALIZE("none"),
    START,
    {0},
};
static const rb_option variational_rows[] = {
    UNITS, NOISE, NORMALIZE("none"), START, {0},
};
/* FABIA's numbers: of features that are divided by the root of their interquartile range. */
static const rb_option fabia_rows[] = {
    UNITS,
    {"weight-decay", 0, RB_OPTION_NUMBER, FIELD(weight_decay), "0.01", 0, 1, NULL, "ALPHA",
     "move every loading towards 0 after each M-step, by this times the noise variance of its "
     "feature; meant for features divided by the root of their interquartile range"},
    {"noise-min", 0, RB_OPTION_NUMBER, FIELD(noise_min), "1e-3", 0, 1, NULL, "VARIANCE",
     "smallest noise variance of a feature"},
    NORMALIZE("rms"),
    {"weight-init", 0, RB_OPTION_NUMBER, FIELD(weight_init), "1", DBL_MIN, DBL_MAX, NULL, "SD",
     "standard deviation of the initial loadings", RB_OPTION_RESEARCH},
    {0},
};

/* FABIA's objective rests for hundreds of iterations before modules are found, and may fall: what
 * tells the end is that the parameters rest. */
static const rb_option_rule fabia_rules[] = {
    {"units", "iterations=2000"},
    {"units", "parameter-tolerance=5e-4"},
    {0},
};

static const char *const start_options[] = {"weight-init", NULL};

/* Parameters were moved, and noise variances, in logarithms, may have gone too low. */
static void project(rb_context *ctx, void *state) {
    factors *fa = state;
    (void)ctx;
    for (int64_t k = 0; k < fa->loadings.rows; k++)
        fa->noise[k] = fmax(fa->noise[k], fa_noise_min(fa, k));
}

#define SHARED                                                                                     \
    .size = sizeof(rb_method), .options_size = sizeof(fa_options), .start_options = start_options, \
    .units = factors_units, .block_samples = factors_block_samples, .parts = parts,                \
    .shape = shape, .state_size = sizeof(factors), .start = start, .finish = finish,               \
    .survey_end = survey_end, .begin = begin, .block = block, .end = end, .mstep = mstep,          \
    .objective = factors_objective, .store = store, .coder_new = fa_coder_new,                     \
    .coder_free = fa_coder_free, .encode = fa_encode, .evaluate = fa_evaluate, .survey = survey,   \
    .draw = fa_draw, .spreads = factors_spread

const rb_method rb_method_fa = {
    .name = "fa",
    .title = "factor analysis (maximum likelihood)",
    .purpose = "correlated features with noise of their own",
    .code_name = "X_fa",
    .own = &normal,
    .options = fa_rows,
    .reads = reads,
    .done = factors_done,
    .project = project,
    SHARED,
};

const rb_method rb_method_sfa = {
    .name = "sfa",
    .title = "factor analysis with sparse loadings",
    .purpose = "factors of a few features each",
    .code_name = "X_sfa",
    .own = &normal,
    .options = sfa_rows,
    SHARED,
};

const rb_method rb_method_fa_laplace = {
    .name = "fa-laplace",
    .title = "factor analysis with Laplacian factors (variational EM)",
    .purpose = "factors that are small in most samples",
    .code_name = "X_fa_laplace",
    .own = &laplace,
    .options = variational_rows,
    SHARED,
};

const rb_method rb_method_fa_jeffreys = {
    .name = "fa-jeffreys",
    .title = "factor analysis with factors of Jeffreys' prior (variational EM)",
    .purpose = "the same, without a scale to choose",
    .code_name = "X_fa_jeffreys",
    .own = &jeffreys,
    .options = variational_rows,
    SHARED,
};

const rb_method rb_method_fabia = {
    .name = "fabia",
    .title = "factor analysis for bicluster acquisition",
    .purpose = "biclusters: few samples and few features per factor",
    .code_name = "X_fabia",
    .own = &fabia,
    .options = fabia_rows,
    .rules = fabia_rules,
    .code_scale = "scale",
    SHARED,
};
